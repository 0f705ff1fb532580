<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Illuminate\Contracts\Queue\ShouldQueue;

/** A job whose method names its group. */
final class Grouped implements ShouldQueue
{
    public function __construct(private mixed $group)
    {
    }

    public function messageGroup(): mixed
    {
        return $this->group;
    }

    public function handle(): void
    {
    }
}
