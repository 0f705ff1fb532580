<?php

declare(strict_types=1);

use App\Services;
use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\Worker\TimeLimitExceeded;

$worker = new Worker(container: $services = new Services());
$say = $services->journal->push(...);
// A signal ends a sleep of PHP's.
$last = function (float $seconds): void {
    for ($end = microtime(true) + $seconds; microtime(true) < $end; usleep(20000)) {
    }
};

return $worker
    ->discover(__DIR__ . '/src')
    ->on('say', fn (mixed ...$words) => $say(json_encode($words, JSON_PRESERVE_ZERO_FRACTION)))
    ->on('fail', function (Job $job, string $text, int $times = 100) use ($say): void {
        if ($job->message->attempt <= $times) {
            throw new DomainException($text);
        }
        $say("done at {$job->message->attempt}");
    }, backoff: 0.05)
    ->on('last', function (float $seconds, string $name = 'it') use ($say, $last): void {
        $say("$name begins");
        $last($seconds);
        $say("$name ends");
    })
    ->on('stubborn', function (float $seconds) use ($say): void {
        $say('begins');
        for ($end = microtime(true) + $seconds; microtime(true) < $end;) {
            try {
                usleep(20000);
            } catch (Throwable $error) {
                $say($error::class);
            }
        }
    })
    ->on('limited', function (bool $heeds) use ($say, $last): void {
        try {
            $last(60.0);
        } catch (TimeLimitExceeded $error) {
            $say('over');
            $heeds ? throw $error : $last(60.0);
        }
    }, timeout: 0.5, killAfter: 1.5, backoff: 3600.0)
    ->on('meet', function (string $mine, string $other) use ($worker, $say): void {
        $worker->tasks->queue($mine)->push('here');
        $worker->tasks->queue($other)->reserve(timeout: 20.0)?->ack();
        $say("$mine met $other");
    })
    ->on('die', function (int $signal) use ($say): void {
        $say((string) getmypid());
        posix_kill(getmypid(), $signal);
        usleep(1000000);
    })
    ->on('exit', function (Job $job) use ($say): void {
        $say("attempt {$job->message->attempt}");
        exit(0);
    })
    ->on('lose', function (Job $job) use ($say): void {
        $say('begins');
        for (
            $end = microtime(true) + 20.0;
            !$job->isLost() && microtime(true) < $end;
            usleep(20000)
        ) {
        }
    })
    ->on('pid', fn () => $say((string) getmypid()))
    ->on('eat', function (int $megabytes) use ($say): void {
        static $eaten = '';
        $eaten = str_repeat('x', $megabytes << 20);
        $say((string) getmypid());
    })
    ->on('unicorn', fn () => null, queue: 'rare', unique: 60.0)
    ->onQueue('plain', fn (Job $job) => $say("plain {$job->message->body}"));
