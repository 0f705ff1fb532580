<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Illuminate\Contracts\Container\Container;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;

/**
 * Says whether a worker that has waited must not take a job: after a signal, queue:restart or
 * queue:pause.
 */
final class WorkerStop
{
    /** The cache key in which queue:restart stores the time of its call. */
    private const RESTART = 'illuminate:queue:restart';

    /**
     * The most stack frames between a worker's daemon() and this driver's pop(), with room for
     * later versions of Laravel.
     */
    private const DEEPEST_CALL = 20;

    private mixed $restart = null;

    private bool $begun = false;

    public function __construct(private readonly Container $app)
    {
    }

    /** Called when a worker begins a round of its loop. */
    public function begin(): void
    {
        if (!$this->begun) {
            $this->begun = true;
            $this->isRestarted();
        }
    }

    /** Whether a signal has told the worker to stop or to pause. */
    public function isStopped(): bool
    {
        return $this->isToEnd() || $this->worker()?->paused;
    }

    /**
     * Prevents the sleep of a worker that must stop. Such a worker would sleep for --sleep when it
     * gets no job, and the signal, which came before, does not end that sleep. Laravel gives no
     * access to the options of its worker. So they are taken from the call of daemon() on the
     * stack.
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
     * Whether the worker must leave a job, which came while it waited, to other workers.
     *
     * @param list<string> $queues the worker's names for the job's queue
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

    /** Whether queue:restart was called since the last call of this method. */
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
