<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Illuminate\Contracts\Queue\Job;

/** A handler of string jobs. */
final class Plain
{
    public function fire(Job $job, mixed $data): void
    {
        Journal::write('plain ' . json_encode($data));
        $job->delete();
    }

    public function forget(Job $job, mixed $data): void
    {
        Journal::write("forgotten {$job->attempts()}");
    }
}
