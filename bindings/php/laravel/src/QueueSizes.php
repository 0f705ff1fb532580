<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Dueq\Message;
use Dueq\State;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Support\Collection;

/**
 * Sizes and lists of queues. Laravel's "pending" is dueq's ready, and "reserved" its leased. Dead
 * messages are not counted. Laravel 8 uses only size(). Lists of jobs exist since Laravel 13.
 */
trait QueueSizes
{
    /** How many jobs are ready, delayed or leased. */
    public function size($queue = null)
    {
        $stats = $this->messages($queue)->stats();

        return $stats->ready + $stats->delayed + $stats->leased;
    }

    public function pendingSize($queue = null)
    {
        return $this->messages($queue)->stats()->ready;
    }

    /** As pendingSize(), under the name that Horizon's supervisors use. */
    public function readyNow($queue = null)
    {
        return $this->pendingSize($queue);
    }

    public function delayedSize($queue = null)
    {
        return $this->messages($queue)->stats()->delayed;
    }

    public function reservedSize($queue = null)
    {
        return $this->messages($queue)->stats()->leased;
    }

    /** When the first ready job was pushed, in seconds since 1970; null: no job is ready. */
    public function creationTimeOfOldestPendingJob($queue = null)
    {
        foreach ($this->messages($queue)->peek(State::Ready, 1) as $message) {
            return (int) $message->created;
        }

        return null;
    }

    /** The sum over all queues of the connection, like the other totals. */
    public function totalSize()
    {
        return $this->everywhere()->sum(fn (string $name) => $this->size($name));
    }

    public function totalPendingSize()
    {
        return $this->everywhere()->sum(fn (string $name) => $this->pendingSize($name));
    }

    public function totalDelayedSize()
    {
        return $this->everywhere()->sum(fn (string $name) => $this->delayedSize($name));
    }

    public function totalReservedSize()
    {
        return $this->everywhere()->sum(fn (string $name) => $this->reservedSize($name));
    }

    /** @return Collection<int, InspectedJob> */
    public function pendingJobs($queue = null): Collection
    {
        return $this->inspect($this->getQueue($queue), State::Ready);
    }

    /** @return Collection<int, InspectedJob> */
    public function delayedJobs($queue = null): Collection
    {
        return $this->inspect($this->getQueue($queue), State::Delayed);
    }

    /** @return Collection<int, InspectedJob> */
    public function reservedJobs($queue = null): Collection
    {
        return $this->inspect($this->getQueue($queue), State::Leased);
    }

    /** @return Collection<int, InspectedJob> */
    public function allPendingJobs(): Collection
    {
        return $this->everywhere()
            ->flatMap(fn (string $name) => $this->inspect($name, State::Ready));
    }

    /** @return Collection<int, InspectedJob> */
    public function allDelayedJobs(): Collection
    {
        return $this->everywhere()
            ->flatMap(fn (string $name) => $this->inspect($name, State::Delayed));
    }

    /** @return Collection<int, InspectedJob> */
    public function allReservedJobs(): Collection
    {
        return $this->everywhere()
            ->flatMap(fn (string $name) => $this->inspect($name, State::Leased));
    }

    /** @return Collection<int, string> the names of the queues */
    private function everywhere(): Collection
    {
        return new Collection($this->names());
    }

    /** @return Collection<int, InspectedJob> messages that are not jobs are left out */
    private function inspect(string $name, State $state): Collection
    {
        return (new Collection(iterator_to_array($this->open($name)->peek($state), false)))
            ->filter(fn (Message $message) => is_array(json_decode($message->body, true)))
            ->map(fn (Message $message) => InspectedJob::fromPayload(
                $message->body,
                $message->attempt + $message->crashes,
                $name,
            ))
            ->values();
    }
}
