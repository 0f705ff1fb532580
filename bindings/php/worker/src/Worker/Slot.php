<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * What the parent knows of one of its processes.
 *
 * @internal
 */
final class Slot
{
    /** Seconds: a process that has not lived for so long has died at once. */
    private const AT_ONCE = 2.0;

    public ?int $pid = null;

    public ?Channel $channel = null;

    public float $started = 0.0;

    /** Whether it has ever been ready. */
    public bool $wasReady = false;

    /** When it is started; INF: not at all. */
    public float $startAt = 0.0;

    /** When it is killed, as its job has taken too long. */
    public float $killAt = INF;

    /** Until when it may answer with its backtrace. */
    public float $traceUntil = INF;

    /** @var array<string, mixed>|null the event with which its job began */
    public ?array $job = null;

    public float $jobBegan = 0.0;

    /** Why it ends, as it has told. */
    public ?string $why = null;

    /** Whether it ends as it should. */
    public bool $isOver = false;

    /** @var list<UnsettledJob> what its next process settles first */
    public array $unsettled = [];

    /** How often it has died at once, one after the other. */
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
     * Its process is gone.
     *
     * @param float $longest seconds that the next one waits at most
     * @return float after how many seconds it is to start
     */
    public function end(float $longest): float
    {
        $this->channel->close();
        $atOnce = !$this->isOver && hrtime(true) / 1e9 - $this->started < self::AT_ONCE;
        $this->deaths = $atOnce ? $this->deaths + 1 : 0;
        $pause = $atOnce ? min($longest, 2.0 ** ($this->deaths - 1)) : 0.0;
        [$this->pid, $this->channel, $this->job] = [null, null, null];
        [$this->killAt, $this->traceUntil, $this->startAt] = [INF, INF, hrtime(true) / 1e9 + $pause];

        return $pause;
    }

    /**
     * Kills it; the message of its job is for its next process to settle.
     *
     * @param string|null $error why the job has failed; null: it is released
     */
    public function kill(?string $error): void
    {
        posix_kill($this->pid, SIGKILL);
        [$this->killAt, $this->isOver] = [INF, true];
        if ($this->job !== null) {
            $this->unsettled[] = new UnsettledJob($this->job['queue'], $this->job['id'], $this->job['ticket'], $error);
        }
    }

    /** What it does, and since when. */
    public function __toString(): string
    {
        $now = hrtime(true) / 1e9;
        $what = match (true) {
            $this->pid === null => sprintf('starts in %.1f s', max(0.0, $this->startAt - $now)),
            $this->job !== null => sprintf('%s of %s for %.1f s', $this->job['job'], $this->job['queue'], $now - $this->jobBegan),
            default => sprintf('without a job, started %.1f s ago', $now - $this->started),
        };

        return "worker {$this->number}" . ($this->pid === null ? '' : " (pid {$this->pid})") . ": $what";
    }
}
