<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Psr\Log\LoggerInterface;

/**
 * The parent process. It starts processes and replaces them, passes signals on, and kills processes
 * that do not end in time. It loads no code of the application.
 *
 * @internal
 */
final class Supervisor
{
    /**
     * Seconds for which the parent waits at most. A signal that arrives right before a wait does
     * not interrupt the wait, and is seen at its end.
     */
    private const LOOK = 1.0;

    /**
     * Seconds that a process gets to end after it was told to abort, and to answer with a
     * backtrace.
     */
    private const PATIENCE = 2.0;

    /** Seconds within which equal warnings of several processes are logged once. */
    private const AT_ONCE = 5.0;

    /** The longest pause, in seconds, before a process that died at once is replaced. */
    private const LONGEST_PAUSE = 30.0;

    private const PAUSE_OF_WATCH = 1.0;

    /** @var list<Slot> */
    private array $slots;

    private readonly Notify $notify;

    private readonly int $pid;

    private bool $isReady = false;

    private bool $hasReached = false;

    private bool $isQuiet = false;

    private bool $isStopping = false;

    /** Whether the worker could not start. */
    private bool $isUnable = false;

    /** The signal that came as the second one and aborted the worker; null: none. */
    private ?int $abortedBy = null;

    private float $graceEnd = INF;

    /** When the processes that still run are killed; INF: not yet decided. */
    private float $abortEnd = INF;

    private float $nextSign = INF;

    /** @var array<string, float> when each warning was last logged, by its text without numbers */
    private array $notices = [];

    public function __construct(
        private readonly Options $options,
        private readonly LoggerInterface $logger,
    ) {
        $this->pid = getmypid();
        $this->notify = new Notify();
        $this->slots = array_map(
            fn (int $number) => new Slot($number),
            range(1, $options->concurrency),
        );
    }

    /**
     * Runs the processes until the worker is stopped.
     *
     * @return int the exit status of the command *
     */
    public function run(): int
    {
        if (!is_file($this->options->bootstrap)) {
            $this->logger->critical("there is no file {$this->options->bootstrap}");

            return 1;
        }
        $this->installHandlers();
        $this->nextSign = hrtime(true) / 1e9 + ($this->notify->watchdog ?? INF);
        while (!$this->isStopping || $this->running() !== []) {
            $this->startSlots();
            $this->wait();
            $this->readEvents();
            $this->reap();
            $this->keepTime();
        }
        $this->settle();

        return $this->isUnable ? 1 : ($this->abortedBy === null ? 0 : 128 + $this->abortedBy);
    }

    /** @return list<Slot> the slots with a process */
    private function running(): array
    {
        return array_values(array_filter($this->slots, fn (Slot $slot) => $slot->pid !== null));
    }

    // ---- Processes ----

    private function startSlots(): void
    {
        foreach ($this->slots as $slot) {
            if ($slot->pid === null && !$this->isStopping && hrtime(true) / 1e9 >= $slot->startAt) {
                $this->start($slot);
            }
        }
    }

    /**
     * @param bool $settles whether the process only settles the jobs of killed processes, and ends
     */
    private function start(Slot $slot, bool $settles = false): void
    {
        [$receives, $sends] = Channel::pair();
        $signals = [SIGTERM, SIGINT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2, SIGCHLD];
        // A signal that reaches the child before it has its own handlers must not run this
        // object's.
        pcntl_sigprocmask(SIG_BLOCK, $signals);
        $pid = pcntl_fork();
        if ($pid === 0) {
            $receives->close();
            foreach ($this->running() as $other) {
                $other->channel->close();
            }
            $child = new Child(
                $this->options,
                $slot->number,
                $sends,
                $this->pid,
                $slot->unsettled,
                $this->isQuiet,
                $settles,
            );
            exit($child->run($signals));
        }
        $sends->close();
        if ($pid > 0) {
            $slot->begin($pid, $receives);
        } else {
            $receives->close();
            $slot->startAt = hrtime(true) / 1e9 + self::PATIENCE;
            $this->logger->error("{$slot}: no process: " . pcntl_strerror(pcntl_get_last_error()));
        }
        pcntl_sigprocmask(SIG_UNBLOCK, $signals);
    }

    private function reap(): void
    {
        foreach ($this->running() as $slot) {
            if (pcntl_waitpid($slot->pid, $status, WNOHANG) === $slot->pid) {
                $this->hear($slot);
                $this->replace($slot, $status);
            }
        }
    }

    /**
     * Called when the process of a slot has ended: another one will start, unless the worker stops.
     */
    private function replace(Slot $slot, int $status): void
    {
        $text = "worker {$slot->number} (pid {$slot->pid}) "
            . (
                pcntl_wifsignaled($status)
                    ? 'was ended by the signal ' . pcntl_wtermsig($status)
                    : 'ended with ' . pcntl_wexitstatus($status)
            )
            . ($slot->job === null ? '' : " in {$slot->job['job']}")
            . ($slot->why === null ? '' : ": {$slot->why}");
        $isExpected = $slot->isOver || ($this->isStopping && $status === 0);
        $pause = $slot->end($this->options->watch ? self::PAUSE_OF_WATCH : self::LONGEST_PAUSE);
        if ($isExpected) {
            $this->isStopping || $this->logger->info($text);
        } elseif (!$slot->wasReady && !$this->isReady) {
            $this->unable($text);
        } else {
            $willPause = $pause > 0.0 && !$this->isStopping;
            $this->logger->error($text . ($willPause ? "; the next one starts in $pause s" : ''));
        }
    }

    /** Settles the jobs of processes that were killed while the worker stopped. */
    private function settle(): void
    {
        $left = array_filter($this->slots, fn (Slot $slot) => $slot->unsettled !== []);
        foreach ($left as $slot) {
            $this->start($slot, true);
        }
        foreach ($left as $slot) {
            if ($slot->pid !== null) {
                while (
                    pcntl_waitpid($slot->pid, $status) === -1
                    && pcntl_get_last_error() === PCNTL_EINTR
                ) {
                    // A signal interrupts waitpid(), and the process still runs: it ends by itself.
                }
            }
        }
    }

    // ---- Events ----

    private function wait(): void
    {
        $now = hrtime(true) / 1e9;
        $next = min($now + self::LOOK, $this->nextSign, $this->graceEnd, $this->abortEnd);
        $read = [];
        foreach ($this->slots as $slot) {
            $next = min(
                $next,
                $slot->killAt,
                $slot->traceUntil,
                $this->isStopping ? INF : $slot->startAt,
            );
            if ($slot->channel !== null) {
                $read[$slot->number] = $slot->channel->stream;
            }
        }
        $micros = (int) max(1, ceil(($next - $now) * 1e6));
        $none = null;
        if ($read === []) {
            usleep($micros);
        } else {
            @stream_select($read, $none, $none, intdiv($micros, 1000000), $micros % 1000000);
        }
    }

    private function readEvents(): void
    {
        foreach ($this->running() as $slot) {
            $this->hear($slot);
        }
    }

    private function hear(Slot $slot): void
    {
        foreach ($slot->channel->receive() as $event) {
            match ($event['is']) {
                'reached' => $this->reached($event['unused']),
                'ready' => $this->ready($slot),
                'begins' => $this->begins($slot, $event),
                'ends' => [$slot->job, $slot->killAt] = [null, INF],
                'notice' => $this->notice($event['text']),
                'over' => [$slot->isOver, $slot->why] = [true, $event['why']],
                'dying' => $slot->why = $event['why'],
                'unable' => $slot->why = $event['text'],
                'trace' => $this->trace($slot, $event['text']),
            };
        }
    }

    /**
     * Warns of queues to which nothing was ever pushed, as a mistyped name looks like an idle
     * queue. Warns once, when the worker starts.
     *
     * @param list<string> $unused the queues
     */
    private function reached(array $unused): void
    {
        foreach ($this->hasReached ? [] : $unused as $queue) {
            $this->logger->warning(
                "nothing was ever pushed to the queue $queue; "
                    . 'dueq queues lists the queues of this server',
            );
        }
        $this->hasReached = true;
    }

    private function ready(Slot $slot): void
    {
        $slot->wasReady = true;
        $left = array_filter($this->slots, fn (Slot $slot) => !$slot->wasReady);
        if (!$this->isReady && $left === []) {
            $this->isReady = true;
            $count = count($this->slots);
            $this->logger->notice(
                "ready: {$this->options->bootstrap}, $count "
                    . ($count === 1 ? 'process' : 'processes'),
            );
            $this->notify->tell('READY=1');
        }
    }

    /** @param array<string, mixed> $event */
    private function begins(Slot $slot, array $event): void
    {
        $slot->job = $event;
        $slot->jobBegan = hrtime(true) / 1e9;
        $slot->killAt = $slot->jobBegan + ($event['kill'] ?? INF);
    }

    private function unable(string $text): void
    {
        if (!$this->isUnable) {
            $this->isUnable = true;
            $this->logger->critical("cannot start: $text");
            $this->beginToStop();
        }
    }

    /**
     * Logs a warning of dueq in a process. When several processes warn of the same event, only the
     * first warning is logged.
     */
    private function notice(string $text): void
    {
        $now = hrtime(true) / 1e9;
        $this->notices = array_filter(
            $this->notices,
            fn (float $said) => $now - $said < self::AT_ONCE,
        );
        // The processes may have different errors for the same outage.
        $kind = preg_replace('/\d+|(?<=it is tried again).*/', '', $text);
        if (!isset($this->notices[$kind])) {
            $this->notices[$kind] = $now;
            $this->logger->warning($text);
            $this->notify->tell("STATUS=$text");
        }
    }

    private function trace(Slot $slot, string $text): void
    {
        $slot->traceUntil = INF;
        $this->logger->notice((string) $slot, ['trace' => $text]);
    }

    // ---- Time ----

    private function keepTime(): void
    {
        $now = hrtime(true) / 1e9;
        if ($now >= $this->graceEnd) {
            $this->logger->warning('the grace is over: what still runs is released');
            $this->abort();
        }
        foreach ($this->running() as $slot) {
            if ($now >= $slot->traceUntil) {
                $this->trace($slot, 'no answer: it is inside of a function of PHP');
            }
            if ($now >= min($slot->killAt, $this->abortEnd)) {
                $limit = $now >= $slot->killAt
                    ? "its process was killed after {$slot->job['kill']} s"
                    : null;
                $this->logger->error(
                    "$slot: killed, "
                        . ($limit === null ? 'as it does not end' : 'as its time is over'),
                );
                $slot->kill($limit);
            }
        }
        if ($now >= $this->abortEnd) {
            $this->abortEnd = INF;
        }
        if ($now >= $this->nextSign) {
            $this->nextSign = $now + $this->notify->watchdog;
            $this->notify->tell('WATCHDOG=1');
        }
    }

    // ---- Signals ----

    private function installHandlers(): void
    {
        pcntl_async_signals(true);
        foreach ([
            SIGTERM => $this->stop(...),
            SIGINT => $this->stop(...),
            SIGTSTP => fn () => $this->quiet(true),
            SIGCONT => fn () => $this->quiet(false),
            SIGUSR1 => $this->dump(...),
            // These signals only interrupt a wait.
            SIGCHLD => fn () => null,
            SIGUSR2 => fn () => null,
        ] as $signal => $handler) {
            pcntl_signal($signal, $handler, false);
        }
    }

    private function stop(int $signal): void
    {
        if (!$this->isStopping) {
            $this->logger->notice(
                "stops: no new jobs, and {$this->options->grace} s for those that run",
            );
            $this->beginToStop();
        } elseif (!$this->isUnable && $this->abortedBy === null) {
            $this->abortedBy = $signal;
            $this->logger->warning('aborts: what still runs is released');
            $this->abort();
        }
    }

    private function beginToStop(): void
    {
        $this->isStopping = true;
        $this->graceEnd = hrtime(true) / 1e9 + $this->options->grace;
        $this->notify->tell("STOPPING=1\nSTATUS=Waits for its jobs");
        $this->pass(SIGTERM);
    }

    private function abort(): void
    {
        $this->graceEnd = INF;
        $this->abortEnd = hrtime(true) / 1e9 + self::PATIENCE;
        $this->pass(SIGUSR2);
    }

    private function quiet(bool $quiet): void
    {
        if ($quiet !== $this->isQuiet) {
            $this->isQuiet = $quiet;
            $this->logger->notice($quiet ? 'quiet: takes no new jobs' : 'takes jobs again');
        }
        $this->pass($quiet ? SIGTSTP : SIGCONT);
    }

    private function dump(): void
    {
        foreach ($this->slots as $slot) {
            if ($slot->pid === null) {
                $this->logger->notice((string) $slot);
            } else {
                $slot->traceUntil = hrtime(true) / 1e9 + self::PATIENCE;
                posix_kill($slot->pid, SIGUSR1);
            }
        }
    }

    private function pass(int $signal): void
    {
        foreach ($this->running() as $slot) {
            posix_kill($slot->pid, $signal);
        }
    }
}
