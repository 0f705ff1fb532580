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
 * Raises the events by which Laravel Horizon follows jobs, as Horizon's own queue does. Does
 * nothing in an application without Horizon.
 */
final class Horizon
{
    public function __construct(
        private readonly Container $app,
        private readonly string $connection,
    ) {
    }

    /**
     * Adds the fields that Horizon shows to the payload of a new job: its type, its tags, the time
     * of its push.
     */
    public static function prepare(string $payload, mixed $job): string
    {
        return class_exists(JobPayload::class)
            ? (new JobPayload($payload))->prepare($job)->value
            : $payload;
    }

    /**
     * Raised before the push, so that Horizon hears of the job before a worker can take it (newer
     * versions of Horizon).
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
            $this->tell(
                $job->getQueue(),
                $job->getRawBody(),
                fn () => new JobReserved($job->getRawBody()),
            );
        }
    }

    public function released(DueqJob $job): void
    {
        if (class_exists(JobReleased::class)) {
            $this->tell(
                $job->getQueue(),
                $job->getRawBody(),
                fn () => new JobReleased($job->getRawBody()),
            );
        }
    }

    public function deleted(DueqJob $job): void
    {
        if (class_exists(JobDeleted::class)) {
            $this->tell(
                $job->getQueue(),
                $job->getRawBody(),
                fn () => new JobDeleted($job, $job->getRawBody()),
            );
        }
    }

    public function failed(DueqJob $job, ?Throwable $error): void
    {
        if (class_exists(JobFailed::class)) {
            $this->tell(
                $job->getQueue(),
                $job->getRawBody(),
                fn () => new JobFailed($error, $job, $job->getRawBody()),
            );
        }
    }

    /**
     * @param callable(): object $event makes the event. No event is raised for a payload that
     *     Horizon could not read
     */
    private function tell(string $queue, string $payload, callable $event): void
    {
        $decoded = json_decode($payload, true);
        if (isset($decoded['uuid'], $decoded['displayName'])) {
            $this->app->make(Dispatcher::class)
                ->dispatch($event()->connection($this->connection)->queue($queue));
        }
    }
}
