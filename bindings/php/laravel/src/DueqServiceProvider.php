<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\Events\Looping;
use Illuminate\Queue\Events\WorkerQueuePaused;
use Illuminate\Queue\Events\WorkerQueueResumed;
use Illuminate\Queue\QueueManager;
use Illuminate\Support\ServiceProvider;

/** Registers the queue driver "dueq". Laravel finds this class by package discovery. */
final class DueqServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->callAfterResolving('queue', function (QueueManager $manager): void {
            $manager->addConnector('dueq', fn () => new DueqConnector($this->app));
        });
    }

    public function boot(Dispatcher $events): void
    {
        $events->listen(Looping::class, function (Looping $event): void {
            $this->queue($event->connectionName)?->watch(explode(',', $event->queue));
        });
        $events->listen(WorkerQueuePaused::class, function (WorkerQueuePaused $event): void {
            $this->queue($event->connectionName)?->skip($event->queue, true);
        });
        $events->listen(WorkerQueueResumed::class, function (WorkerQueueResumed $event): void {
            $this->queue($event->connectionName)?->skip($event->queue, false);
        });
        // Horizon's own listener handles failed jobs of the redis driver only.
        $events->listen(JobFailed::class, function (JobFailed $event): void {
            if ($event->job instanceof DueqJob) {
                (new Horizon($this->app, $event->connectionName))->failed(
                    $event->job,
                    $event->exception,
                );
            }
        });
    }

    /** The connection of this name, or null if another driver serves it. */
    private function queue(string $connection): ?DueqQueue
    {
        $queue = $this->app->make('queue')->connection($connection);

        return $queue instanceof DueqQueue ? $queue : null;
    }
}
