<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

/**
 * One round of a worker's loop, in which the worker asks for each of its queues. If each call
 * waited for its own queue, a job of another queue would have to wait. So only the last call of a
 * round waits, and takes jobs of all queues that the round has asked for.
 */
final class PollRound
{
    /** How many queues one call of dueq can wait for. */
    private const MOST_QUEUES = 64;

    /** @var list<string> the queues that the worker is about to ask for, by the worker's names */
    private array $watched = [];

    /**
     * @var array<string, true> queues of the worker that it does not ask for now, as they are
     *     paused
     */
    private array $skipped = [];

    /**
     * @var array<string, string> the queues that this round has asked for: the driver's names by
     *     the worker's names
     */
    private array $asked = [];

    /**
     * Whether each round so far came to its last call. An application that sets popUsing() may skip
     * it.
     */
    private bool $orderly = true;

    /** @param list<string> $queues the worker's queues, in the order in which it asks */
    public function begin(array $queues): void
    {
        $this->orderly = $this->orderly && $this->asked === [];
        $this->asked = [];
        $this->watched = count($queues) <= self::MOST_QUEUES ? $queues : [];
    }

    /** Ends the round: the worker has a job, or there is none. */
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

    /**
     * Records that the worker asks for a queue. Returns whether this is the last call of the round.
     */
    public function ask(string $queue, string $name): bool
    {
        $this->asked[$queue] = $name;
        $rest = array_filter($this->watched, fn ($watched) => !isset($this->skipped[$watched]));

        return $queue === end($rest);
    }

    /** Whether earlier calls of a round may leave the wait to the last one. */
    public function isOrderly(): bool
    {
        return $this->orderly;
    }

    /** @return array<string, string> the driver's names by the worker's names */
    public function asked(): array
    {
        return $this->asked;
    }
}
