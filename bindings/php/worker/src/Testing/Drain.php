<?php

declare(strict_types=1);

namespace Dueq\Testing;

use Dueq\Client;
use Dueq\Message;
use Dueq\State;
use Dueq\Tasks;
use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\Worker\LineLogger;
use Dueq\Worker\Links;
use LogicException;
use RuntimeException;
use Throwable;

/** Runs tasks in the process of a test, without a worker process, for any test framework. */
final class Drain
{
    /**
     * Runs the tasks of a worker in this process until no message is ready. Tasks that these tasks
     * push run too. Middleware runs and messages are settled as in a worker. Time limits are not
     * enforced.
     *
     * @param list<string>|null $queues names of the queues, the first preferred; null: those of the
     *     worker
     * @param bool $delayed whether delayed tasks run too, in the order of their due times, without
     *     waiting. Messages of schedules stay, as each fire pushes the next one
     * @param int $most how many jobs may run: one more throws, as for tasks that push each other
     *     without end
     * @param string|null $server the URL of the test's own server; null: that of UsesDueq
     * @return list<Job> the jobs that ran, in order
     * @throws LogicException if the worker uses another server: a test must not run the tasks of
     *     production
     * @throws RuntimeException if more than $most jobs would run
     * @throws Throwable what a job throws, after its message is retried: a further drain with
     *     $delayed runs the job again
     */
    public static function run(
        Worker $worker,
        ?array $queues = null,
        bool $delayed = false,
        int $most = 1000,
        #[\SensitiveParameter] ?string $server = null,
    ): array {
        self::refuseOthers($worker->tasks->client()->url(), $server ?? PrivateServer::begun());
        $queues ??= $worker->queues() ?: ['default'];
        $consumer = $worker->tasks->source($queues)->consume(timeout: 0.0);
        $jobs = [];
        do {
            $consumer->work(function (Message $message) use ($worker, $most, &$jobs): void {
                if ($message->isSchedule()) {
                    $message->fire();

                    return;
                }
                $caught = Links::caught($message, $worker->tasks->forms());
                if ($caught !== null) {
                    $caught[0]->settle($message, $worker->tasks->client()->url());

                    return;
                }
                if (count($jobs) === $most) {
                    $message->release();
                    throw new RuntimeException(
                        "more than $most jobs: do the tasks push each other?",
                    );
                }
                $jobs[] = $job = $worker->job($message);
                $failure = null;
                try {
                    $worker->run($job);
                } catch (Throwable $failure) {
                }
                $final = $worker->settle($job, $failure)?->finalError();
                if ($final !== null) {
                    $worker->tellExhausted($job, $final, $worker->logger ?? new LineLogger());
                }
                if ($failure !== null) {
                    throw $failure;
                }
            });
        } while ($delayed && self::makeFirstDue($worker->tasks, $queues));

        return $jobs;
    }

    /** @throws LogicException */
    private static function refuseOthers(string $url, #[\SensitiveParameter] ?string $own): void
    {
        if ($own === null) {
            throw new LogicException(
                "Drain runs tasks on a test's own server only, and there is none: use the trait "
                    . 'UsesDueq, or name the server: Drain::run($worker, server: $url)',
            );
        }
        $own = (new Client($own))->url();
        if ($url !== $own) {
            throw new LogicException(
                "the worker's server is $url, and the test's own is $own: make the worker within "
                    . 'the test, without a URL, or name the server: '
                    . 'Drain::run($worker, server: $url)',
            );
        }
    }

    /**
     * @param list<string> $queues
     * @return bool false: no task is delayed
     */
    private static function makeFirstDue(Tasks $tasks, array $queues): bool
    {
        $first = null;
        foreach ($queues as $queue) {
            foreach ($tasks->queue($queue)->peek(State::Delayed) as $message) {
                if (!$message->isSchedule()) {
                    $first = $first === null || $message->time < $first->time ? $message : $first;
                    if (!isset($tasks->partitions[$queue])) {
                        break;
                    }
                }
            }
        }

        return $first !== null && $tasks->queue($first->queue)->reschedule($first->id);
    }
}
