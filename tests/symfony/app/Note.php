<?php

declare(strict_types=1);

namespace App;

/** A message. Its handler writes $text to the journal, and does what $does says. */
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
