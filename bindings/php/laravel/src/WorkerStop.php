<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Illuminate\Contracts\Container\Container;
use Illuminate\Queue\Worker;

/** Why a worker that waited takes no job: a signal, queue:restart, queue:pause. */
final class WorkerStop
{
    /** Where queue:restart writes when it was called. */
    private const RESTART = 'illuminate:queue:restart';

    private mixed $restart = null;

    private bool $begun = false;

    public function __construct(private readonly Container $app)
    {
    }

    /** The worker begins a turn. */
    public function begin(): void
    {
        if (!$this->begun) {
            $this->begun = true;
            $this->isRestarted();
        }
    }

    /** Whether a signal has told it to end, or to pause. */
    public function isStopped(): bool
    {
        $worker = $this->app->bound('queue.worker') && $this->app->resolved('queue.worker')
            ? $this->app->make('queue.worker')
            : null;

        return $worker instanceof Worker && ($worker->shouldQuit || $worker->paused);
    }

    /**
     * Whether a job that came when it had waited is for other workers.
     *
     * @param list<string> $queues the names under which it asked for the job's queue
     */
    public function refuse(string $connection, array $queues): bool
    {
        return $this->isStopped() || $this->isRestarted() || $this->isPaused($connection, $queues);
    }

    /** Whether queue:restart was called since the last time. */
    private function isRestarted(): bool
    {
        if (!(Worker::$restartable ?? true) || !$this->app->bound('cache')) {
            return false;
        }
        $before = $this->restart;
        $this->restart = $this->app->make('cache')->store()->get(self::RESTART);

        return $before !== $this->restart;
    }

    /** @param list<string> $queues */
    private function isPaused(string $connection, array $queues): bool
    {
        $manager = $this->app->make('queue');
        if (!(Worker::$pausable ?? true) || !method_exists($manager, 'isPaused')) {
            return false;
        }
        foreach ($queues as $queue) {
            if ($manager->isPaused($connection, $queue)) {
                return true;
            }
        }

        return false;
    }
}
