<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Client;
use Dueq\Consumer;
use Dueq\Exception\DueqException;
use Dueq\Exception\LeaseLostException;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Settlement;
use Dueq\Worker;
use Psr\Log\LoggerInterface;
use RuntimeException;
use Throwable;

/**
 * A process of the worker. It runs jobs, one at a time, until it is told to stop, or a limit of the
 * options is reached.
 *
 * @internal
 */
final class Child
{
    /**
     * Seconds for which the consumer's loop waits for a message. Between two waits this process
     * looks whether it must end. With --watch or --max-time it looks more often.
     */
    private const LOOK = 10.0;

    private const LOOK_OFTEN = 1.0;

    /**
     * Seconds: the longest time that dueq accepts. The lease of a job is extended while its process
     * lives.
     */
    private const WITHOUT_END = 4102444800.0;

    /** Seconds between two attempts to reach a server that does not answer. */
    private const PAUSE = 1;

    private readonly float $started;

    private bool $isStopping;

    private ?Worker $worker = null;

    private LoggerInterface $logger;

    private ?Watch $watch = null;

    private ?Consumer $consumer = null;

    private ?Job $job = null;

    private int $done = 0;

    private bool $hasEnded = false;

    /**
     * @param int $number of the process in the log, from 1 on
     * @param Channel $parent carries events to the parent
     * @param int $parentId the parent's process id: this process ends when the parent is gone
     * @param list<UnsettledJob> $unsettled jobs of killed processes, which this process settles
     *     first
     * @param bool $isQuiet whether the process begins without taking messages
     * @param bool $settles whether the process only settles $unsettled, and then ends
     */
    public function __construct(
        private readonly Options $options,
        private readonly int $number,
        private readonly Channel $parent,
        private readonly int $parentId,
        private readonly array $unsettled,
        private bool $isQuiet,
        bool $settles,
    ) {
        $this->started = hrtime(true) / 1e9;
        $this->isStopping = $settles;
        $this->logger = new LineLogger($options->json);
    }

    /**
     * Runs jobs until the process must end.
     *
     * @param list<int> $blocked signals that the parent blocked until this process has installed
     *     its handlers
     * @return int the exit status of the process
     */
    public function run(array $blocked): int
    {
        $this->installHandlers();
        pcntl_sigprocmask(SIG_UNBLOCK, $blocked);
        register_shutdown_function(fn () => $this->hasEnded || $this->tellWhyItDies());
        $status = 0;
        try {
            $this->begin();
            $this->work();
            $this->worker?->stop($this->logger);
        } catch (Throwable $error) {
            $text = $error::class
                . ": {$error->getMessage()} in {$error->getFile()}:{$error->getLine()}";
            $this->parent->send(['is' => 'unable', 'text' => $text]);
            $status = 1;
        }
        $this->hasEnded = true;

        return $status;
    }

    /** @throws Throwable if the bootstrap file fails, or the server refuses for good */
    private function begin(): void
    {
        $this->show('starts');
        Client::onNotice($this->tellNotice(...));
        $worker = (static fn (string $file) => require $file)(realpath($this->options->bootstrap));
        if (!$worker instanceof Worker) {
            throw new RuntimeException("{$this->options->bootstrap} returns no Dueq\\Worker");
        }
        $this->logger = $worker->logger ?? $this->logger;
        $this->worker = $worker;
        $this->consumer = $this->consumer();
        $this->watch = $this->options->watch ? new Watch($worker->folders()) : null;
        $this->reach();
        $worker->start();
        foreach ($this->unsettled as $job) {
            $job->settle($worker, $this->logger);
        }
        if (!$this->isStopping) {
            $this->parent->send(['is' => 'ready']);
            $this->show($this->isQuiet ? 'quiet' : 'waits');
        }
    }

    /**
     * Waits until the server has answered for each queue, and the schedules are declared, or until
     * this process must end.
     *
     * @throws DueqException if the server refuses for good
     */
    private function reach(): void
    {
        while (!$this->isOver()) {
            try {
                $unused = [];
                foreach (array_unique($this->queues()) as $queue) {
                    $stats = $this->worker->tasks->queue($queue)->stats();
                    $existing = $stats->ready + $stats->delayed + $stats->leased + $stats->dead;
                    if ($stats->pushed + $existing === 0) {
                        $unused[] = $queue;
                    }
                }
                $this->worker->schedules()->declare($this->logger);
                $this->parent->send(['is' => 'reached', 'unused' => $unused]);

                return;
            } catch (DueqException $error) {
                $this->pauseAfter($error);
            }
        }
    }

    /**
     * Pauses before the next attempt. Logs nothing: dueq itself warns that the server is away, and
     * that it is back.
     *
     * @throws DueqException $error, if another attempt cannot succeed
     */
    private function pauseAfter(DueqException $error): void
    {
        if (!$error->isRetriable()) {
            throw $error;
        }
        $this->isStopping || sleep(self::PAUSE);
    }

    /** @throws DueqException if the server refuses for good */
    private function work(): void
    {
        while (!$this->isOver()) {
            if ($this->isQuiet) {
                sleep(1);
                continue;
            }
            try {
                $this->consumer ??= $this->consumer();
                $this->consumer->countExits();
                // A signal that arrived before this consumer existed could not stop it.
                if (!$this->isStopping && !$this->isQuiet) {
                    $this->consumer->work($this->handle(...), $this->fail(...));
                }
            } catch (DueqException $error) {
                $this->pauseAfter($error);
            }
        }
    }

    private function url(): string
    {
        return $this->worker->tasks->client()->url();
    }

    /** @return non-empty-list<string> */
    private function queues(): array
    {
        return $this->options->queues ?? ($this->worker->queues() ?: ['default']);
    }

    private function consumer(): Consumer
    {
        return $this->worker->tasks->source($this->queues(), $this->options->order)->consume(
            prefetch: $this->options->prefetch,
            lease: $this->options->lease,
            maxRun: self::WITHOUT_END,
            timeout: $this->options->watch || $this->options->maxTime !== null
                ? self::LOOK_OFTEN
                : self::LOOK,
            tasks: $this->worker->taskNames(),
        );
    }

    private function handle(Message $message): void
    {
        if (posix_getppid() !== $this->parentId) {
            $message->release();
            $this->endLoop();

            return;
        }
        try {
            if ($message->isSchedule()) {
                $message->fire();

                return;
            }
            $caught = Links::caught($message, $this->worker->tasks->forms());
            if ($caught !== null) {
                $caught[0]->settle($message, $this->url());
                $this->logger->warning($caught[1], self::context($message));

                return;
            }
            $job = $this->worker->job($message, fn (): bool => $this->isStopping);
            $begun = hrtime(true);
            $failure = null;
            try {
                $this->beginJob($job);
                $this->worker->run($job);
            } catch (Throwable $failure) {
            } finally {
                $this->endJob();
            }
            $decision = null;
            $isLost = false;
            try {
                $decision = $this->worker->settle($job, $failure);
            } catch (LeaseLostException) {
                $isLost = true;
                $failure = null;
            }
            $seconds = round((hrtime(true) - $begun) / 1e9, 6);
            $context = self::context($message) + ['seconds' => $seconds];
            if ($decision !== null) {
                if ($failure !== null) {
                    $this->tellFailure($message, $failure, $decision->why());
                } else {
                    [$level, $text] = $decision->told($seconds);
                    $this->logger->log($level, "$job $text", $context);
                }
                $final = $decision->finalError();
                $final === null || $this->worker->tellExhausted($job, $final, $this->logger);

                return;
            }
            if ($failure !== null) {
                throw $failure;
            }
            $isLost || OpenTelemetry::settled($message, Settlement::Ack, $this->url());
            if ($isLost || $job->isLost()) {
                $this->logger->warning(sprintf(
                    '%s ended after %.3f s, but its lease was lost before: it may run elsewhere',
                    $job,
                    $seconds,
                ), $context);
            } else {
                $this->logger->info(sprintf('%s done in %.3f s', $job, $seconds), $context);
            }
        } finally {
            $this->done++;
            if ($this->isOver()) {
                $this->endLoop();
            }
        }
    }

    /**
     * Called after a handler threw. A message that is not settled here is retried by the consumer:
     * by the message's backoff, with the error's text.
     */
    private function fail(Message $message, Throwable $error): void
    {
        $name = self::nameOf($message);
        try {
            if ($error instanceof Stop) {
                OpenTelemetry::settle(
                    $message,
                    Settlement::Release,
                    fn () => $message->release(),
                    $this->url(),
                );
                $this->logger->notice(
                    "$name released: {$error->getMessage()}",
                    self::context($message),
                );

                return;
            }
        } catch (DueqException $lost) {
            $error = $lost;
        }
        OpenTelemetry::settled($message, Settlement::Retry, $this->url());
        $this->tellFailure($message, $error, '');
    }

    /** @param string $why says that the job is not retried; '': it is retried */
    private function tellFailure(Message $message, Throwable $error, string $why): void
    {
        $name = self::nameOf($message);
        $attempt = $message->maxAttempts === null
            ? $message->attempt
            : "{$message->attempt} of {$message->maxAttempts}";
        $this->logger->error(
            "$name failed (attempt $attempt)$why: " . $error::class . ": {$error->getMessage()}",
            // The trace of an UnknownTask shows only this worker's own code.
            self::context($message) + ['attempt' => $message->attempt]
                + ($error instanceof UnknownTask ? [] : ['exception' => $error]),
        );
    }

    private function beginJob(Job $job): void
    {
        $message = $job->message;
        $task = $job->handler->task;
        $this->parent->send([
            'is' => 'begins',
            'job' => (string) $job,
            'queue' => $message->queue,
            'id' => $message->id,
            'ticket' => $message->ticket,
            'kill' => $task->killAfter,
        ]);
        $this->show((string) $job);
        $this->job = $job;
        if ($task->timeout !== null) {
            pcntl_alarm((int) ceil($task->timeout));
        }
    }

    private function endJob(): void
    {
        pcntl_alarm(0);
        $this->job = null;
        $this->show($this->isQuiet ? 'quiet' : 'waits');
        $this->parent->send(['is' => 'ends']);
    }

    /** Ends the consumer's loop after the current message. The next loop makes a new consumer. */
    private function endLoop(): void
    {
        $this->consumer?->countExits(false);
        $this->consumer?->stop();
        $this->consumer = null;
    }

    private function tellNotice(string $text): void
    {
        $this->parent->send(['is' => 'notice', 'text' => $text]);
    }

    /** Whether this process must end after the current job. Tells the parent why. */
    private function isOver(): bool
    {
        if ($this->isStopping) {
            return true;
        }
        $megabytes = memory_get_usage(true) / 1048576;
        $changed = $this->watch?->changed();
        $why = match (true) {
            posix_getppid() !== $this->parentId => 'its parent is gone',
            $this->done >= ($this->options->maxJobs ?? INF) => "{$this->done} jobs done",
            hrtime(true) / 1e9 - $this->started >= ($this->options->maxTime ?? INF)
                => 'its time is over',
            $megabytes > ($this->options->memory ?? INF) => sprintf(
                'its memory is %.1f MB',
                $megabytes,
            ),
            $changed !== null => "$changed has changed",
            default => null,
        };
        if ($why === null) {
            return false;
        }
        $this->parent->send(['is' => 'over', 'why' => $why]);

        return $this->isStopping = true;
    }

    private function installHandlers(): void
    {
        pcntl_async_signals(true);
        foreach ([
            SIGTERM => $this->stop(...),
            SIGINT => $this->stop(...),
            SIGUSR2 => $this->abort(...),
            SIGTSTP => fn () => $this->quiet(true),
            SIGCONT => fn () => $this->quiet(false),
            SIGUSR1 => fn () => $this->parent->send([
                'is' => 'trace',
                'text' => (new RuntimeException())->getTraceAsString(),
            ]),
            SIGALRM => $this->limit(...),
            // Programs that jobs start would inherit an ignored signal, but not a handler.
            SIGPIPE => fn () => null,
            SIGCHLD => SIG_DFL,
        ] as $signal => $handler) {
            pcntl_signal($signal, $handler, false);
        }
    }

    private function stop(): void
    {
        if (!$this->isStopping) {
            $this->isStopping = true;
            $this->parent->send(['is' => 'over', 'why' => 'it was told to stop']);
        }
        $this->endLoop();
    }

    private function quiet(bool $quiet): void
    {
        $this->isQuiet = $quiet;
        if ($quiet) {
            $this->endLoop();
        }
        if ($this->job === null) {
            $this->show($quiet ? 'quiet' : 'waits');
        }
    }

    /** @throws Stop into the handler of the job */
    private function abort(): void
    {
        $this->stop();
        if ($this->job !== null) {
            $this->job = null;
            throw new Stop('the worker stops, and its grace is over');
        }
    }

    /** @throws TimeLimitExceeded into the handler of the job */
    private function limit(): void
    {
        if ($this->job !== null) {
            throw new TimeLimitExceeded("{$this->job->handler->task->timeout} s are over");
        }
    }

    private function tellWhyItDies(): void
    {
        $error = error_get_last();
        $isFatal = in_array(
            $error['type'] ?? 0,
            [E_ERROR, E_PARSE, E_CORE_ERROR, E_COMPILE_ERROR, E_USER_ERROR, E_RECOVERABLE_ERROR],
            true,
        );
        $why = $isFatal
            ? "{$error['message']} in {$error['file']}:{$error['line']}"
            : 'exit() was called';
        $this->parent->send(['is' => 'dying', 'why' => $why]);
    }

    /** Shows the state of this process in ps and top. */
    private function show(string $what): void
    {
        @cli_set_process_title("dueq-worker {$this->number}: $what");
    }

    /** As Job::__toString(), but also for a message of which no job could be made. */
    private static function nameOf(Message $message): string
    {
        return ($message->headers['task'] ?? "message of {$message->queue}") . " {$message->id}";
    }

    /** @return array<string, mixed> which message a line of the log is about */
    private static function context(Message $message): array
    {
        return [
            'queue' => $message->queue,
            'task' => $message->headers['task'] ?? null,
            'id' => $message->id,
        ];
    }
}
