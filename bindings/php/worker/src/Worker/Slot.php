<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * The parent's view of one of its processes, and of the process that replaces it.
 *
 * @internal
 */
final class Slot
{
    /** Seconds: a process that ends earlier than this counts as one that died at once. */
    private const AT_ONCE = 2.0;

    public ?int $pid = null;

    public ?Channel $channel = null;

    public float $started = 0.0;

    /** Whether any process of this slot has been ready. */
    public bool $wasReady = false;

    /** When the next process starts (seconds of hrtime()); INF: a process runs. */
    public float $startAt = 0.0;

    /** When the process is killed because its job has exceeded its time limit; INF: never. */
    public float $killAt = INF;

    /** Until when the process may answer with its backtrace; INF: none was asked for. */
    public float $traceUntil = INF;

    /** @var array<string, mixed>|null the event with which its job began */
    public ?array $job = null;

    public float $jobBegan = 0.0;

    /** Why the process ends, in its own words; null: it has not said so. */
    public ?string $why = null;

    /** Whether the parent expects the process to end. */
    public bool $isOver = false;

    /** @var list<UnsettledJob> jobs that the next process of this slot settles first */
    public array $unsettled = [];

    /** How many processes in a row have died at once. */
    private int $deaths = 0;

    public function __construct(public readonly int $number)
    {
    }

    public function begin(int $pid, Channel $channel): void
    {
        [$this->pid, $this->channel, $this->started] = [$pid, $channel, hrtime(true) / 1e9];
        [$this->why, $this->isOver, $this->unsettled, $this->startAt] = [null, false, [], INF];
    }

    /**
     * Called when the process of this slot has ended.
     *
     * @param float $longest the longest pause before the next process, in seconds
     * @return float the pause until the next process starts, in seconds
     */
    public function end(float $longest): float
    {
        $this->channel->close();
        $atOnce = !$this->isOver && hrtime(true) / 1e9 - $this->started < self::AT_ONCE;
        $this->deaths = $atOnce ? $this->deaths + 1 : 0;
        $pause = $atOnce ? min($longest, 2.0 ** ($this->deaths - 1)) : 0.0;
        [$this->pid, $this->channel, $this->job] = [null, null, null];
        [
            $this->killAt,
            $this->traceUntil,
            $this->startAt,
        ] = [INF, INF, hrtime(true) / 1e9 + $pause];

        return $pause;
    }

    /**
     * Kills the process. The next process of this slot settles the message of its job.
     *
     * @param string|null $error why the job has failed; null: the message is released
     */
    public function kill(?string $error): void
    {
        posix_kill($this->pid, SIGKILL);
        [$this->killAt, $this->isOver] = [INF, true];
        if ($this->job !== null) {
            $this->unsettled[] = new UnsettledJob(
                $this->job['queue'],
                $this->job['id'],
                $this->job['ticket'],
                $error,
            );
        }
    }

    /** For the log: what the process does, and since when. */
    public function __toString(): string
    {
        $now = hrtime(true) / 1e9;
        $what = match (true) {
            $this->pid === null => sprintf('starts in %.1f s', max(0.0, $this->startAt - $now)),
            $this->job !== null => sprintf(
                '%s of %s for %.1f s',
                $this->job['job'],
                $this->job['queue'],
                $now - $this->jobBegan,
            ),
            default => sprintf('without a job, started %.1f s ago', $now - $this->started),
        };

        return "worker {$this->number}"
            . ($this->pid === null ? '' : " (pid {$this->pid})")
            . ": $what";
    }
}
