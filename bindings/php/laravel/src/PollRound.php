<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

/**
 * One turn of a worker's loop, in which it asks for its queues one after the other. So that it
 * misses nothing of one while it waits for another, only its last question takes jobs, of any queue
 * that it has asked for.
 */
final class PollRound
{
    /** That dueq waits for at a time. */
    private const MOST_QUEUES = 64;

    /** @var list<string> the queues that it is about to ask for, as the worker names them */
    private array $watched = [];

    /** @var array<string, true> those that it does not ask for although they are its own */
    private array $skipped = [];

    /**
     * @var array<string, string> those that it has asked for, as the driver names them, by the
     *     worker's names
     */
    private array $asked = [];

    /**
     * Whether its last question came so far. (Where the application has a popUsing() it may not.)
     */
    private bool $orderly = true;

    /** @param list<string> $queues in this order */
    public function begin(array $queues): void
    {
        $this->orderly = $this->orderly && $this->asked === [];
        $this->asked = [];
        $this->watched = count($queues) <= self::MOST_QUEUES ? $queues : [];
    }

    /** It has a job, or none. */
    public function end(): void
    {
        $this->watched = $this->asked = [];
    }

    public function skip(string $queue, bool $skips): void
    {
        if ($skips) {
            $this->skipped[$queue] = true;
        } else {
            unset($this->skipped[$queue]);
        }
    }

    public function watches(mixed $queue): bool
    {
        return in_array($queue, $this->watched, true);
    }

    /** The worker asks for this queue. Returns whether that is its last question. */
    public function ask(string $queue, string $name): bool
    {
        $this->asked[$queue] = $name;
        $rest = array_filter($this->watched, fn ($watched) => !isset($this->skipped[$watched]));

        return $queue === end($rest);
    }

    /** Whether questions before the last wait for it. */
    public function isOrderly(): bool
    {
        return $this->orderly;
    }

    /** @return array<string, string> as the driver names them, by the worker's names */
    public function asked(): array
    {
        return $this->asked;
    }
}
