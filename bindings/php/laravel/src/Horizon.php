<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Illuminate\Contracts\Container\Container;
use Illuminate\Contracts\Events\Dispatcher;
use Laravel\Horizon\Events\JobDeleted;
use Laravel\Horizon\Events\JobFailed;
use Laravel\Horizon\Events\JobPending;
use Laravel\Horizon\Events\JobPushed;
use Laravel\Horizon\Events\JobReleased;
use Laravel\Horizon\Events\JobReserved;
use Laravel\Horizon\JobPayload;
use Throwable;

/**
 * Tells Laravel Horizon, where the application has it, what becomes of jobs, as Horizon's own queue
 * does.
 */
final class Horizon
{
    public function __construct(private readonly Container $app, private readonly string $connection)
    {
    }

    /**
     * The payload of a new job with what Horizon shows of it: its type, its tags, when it was
     * pushed.
     */
    public static function prepare(string $payload, mixed $job): string
    {
        return class_exists(JobPayload::class) ? (new JobPayload($payload))->prepare($job)->value : $payload;
    }

    /**
     * Before it is pushed: so that no worker is sooner to tell of it (newer versions of Horizon).
     */
    public function pending(string $queue, string $payload): void
    {
        if (class_exists(JobPending::class)) {
            $this->tell($queue, $payload, fn () => new JobPending($payload));
        }
    }

    public function pushed(string $queue, string $payload): void
    {
        if (class_exists(JobPushed::class)) {
            $this->tell($queue, $payload, fn () => new JobPushed($payload));
        }
    }

    public function reserved(DueqJob $job): void
    {
        if (class_exists(JobReserved::class)) {
            $this->tell($job->getQueue(), $job->getRawBody(), fn () => new JobReserved($job->getRawBody()));
        }
    }

    public function released(DueqJob $job): void
    {
        if (class_exists(JobReleased::class)) {
            $this->tell($job->getQueue(), $job->getRawBody(), fn () => new JobReleased($job->getRawBody()));
        }
    }

    public function deleted(DueqJob $job): void
    {
        if (class_exists(JobDeleted::class)) {
            $this->tell($job->getQueue(), $job->getRawBody(), fn () => new JobDeleted($job, $job->getRawBody()));
        }
    }

    public function failed(DueqJob $job, ?Throwable $error): void
    {
        if (class_exists(JobFailed::class)) {
            $this->tell($job->getQueue(), $job->getRawBody(), fn () => new JobFailed($error, $job, $job->getRawBody()));
        }
    }

    /** @param callable(): object $event what Horizon could not read is none */
    private function tell(string $queue, string $payload, callable $event): void
    {
        $decoded = json_decode($payload, true);
        if (isset($decoded['uuid'], $decoded['displayName'])) {
            $this->app->make(Dispatcher::class)->dispatch($event()->connection($this->connection)->queue($queue));
        }
    }
}
