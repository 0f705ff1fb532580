<?php

declare(strict_types=1);

use App\Services;
use Dueq\Worker;
use Dueq\Worker\Job;

$say = (new Services())->journal->push(...);

return (new Worker(partitions: ['keyed' => 8]))
    ->on('step', function (string $key, int $number) use ($say): void {
        $say("$key $number " . getmypid());
        usleep(10000);
    }, queue: 'keyed')
    ->onQueue('keyed', fn (Job $job) => $say("plain {$job->message->body} {$job->message->queue}"));
