<?php

declare(strict_types=1);

namespace Elsewhere;

use Dueq\Queue;
use Dueq\Task;

/** Composer's class map names this file: its name is not the class's. */
#[Task('from_the_map')]
final class FromTheMap
{
    public function __construct(private readonly Queue $journal)
    {
    }

    public function handle(string $word): void
    {
        $this->journal->push("from the map: $word");
    }
}
