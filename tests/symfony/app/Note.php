<?php

declare(strict_types=1);

namespace App;

/** A message: its handler writes the text down, and does what it says. */
final class Note
{
    /**
     * @param string $does "" nothing more; "fail" fails; "sleep" takes 3 seconds, "exit" ends the
     *     process, "quiet" lasts for a moment
     */
    public function __construct(public string $text, public string $does = '')
    {
    }
}
