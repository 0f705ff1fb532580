<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Illuminate\Contracts\Container\Container;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;

/** Why a worker that waited takes no job: a signal, queue:restart, queue:pause. */
final class WorkerStop
{
    /** Where queue:restart writes when it was called. */
    private const RESTART = 'illuminate:queue:restart';

    /**
     * Calls between a worker's daemon() and the pop() of this driver, with room for those of later
     * versions.
     */
    private const DEEPEST_CALL = 20;

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
        return $this->isToEnd() || $this->worker()?->paused;
    }

    /**
     * A worker that a signal has told to end sleeps for --sleep all the same when it gets no job.
     * The signal came before that sleep, and does not end it. Laravel shows nobody the options of
     * its worker, so they are taken from its call on the stack.
     */
    public function endWithoutSleep(): void
    {
        if (!$this->isToEnd()) {
            return;
        }
        foreach (debug_backtrace(0, self::DEEPEST_CALL) as $call) {
            $options = $call['function'] === 'daemon' ? $call['args'][2] ?? null : null;
            if ($options instanceof WorkerOptions) {
                $options->sleep = 0;
            }
        }
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

    private function isToEnd(): bool
    {
        return (bool) $this->worker()?->shouldQuit;
    }

    private function worker(): ?Worker
    {
        $worker = $this->app->bound('queue.worker') && $this->app->resolved('queue.worker')
            ? $this->app->make('queue.worker')
            : null;

        return $worker instanceof Worker ? $worker : null;
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
