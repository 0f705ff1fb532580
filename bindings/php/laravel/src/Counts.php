<?php

declare(strict_types=1);

namespace Dueq\Laravel;

use Dueq\Message;
use Dueq\Queue as Messages;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Support\Collection;

/**
 * What a queue holds, in Laravel's words: pending is dueq's ready, reserved its leased. Dead messages are
 * not counted. Laravel 8 asks for size() alone; lists of jobs there are since Laravel 13.
 */
trait Counts
{
    /** How many jobs are ready, delayed or being worked on. */
    public function size($queue = null)
    {
        $stats = $this->messages($queue)->stats();

        return $stats->ready + $stats->delayed + $stats->leased;
    }

    public function pendingSize($queue = null)
    {
        return $this->messages($queue)->stats()->ready;
    }

    public function delayedSize($queue = null)
    {
        return $this->messages($queue)->stats()->delayed;
    }

    public function reservedSize($queue = null)
    {
        return $this->messages($queue)->stats()->leased;
    }

    /** When the next job in line was pushed, in seconds since 1970; null: none is ready. */
    public function creationTimeOfOldestPendingJob($queue = null)
    {
        foreach ($this->messages($queue)->peek('ready', 1) as $message) {
            return (int) $message->createdAt;
        }

        return null;
    }

    /** Of all queues of the server, as the other totals and lists. */
    public function totalPendingSize()
    {
        return $this->everywhere()->sum(fn (Messages $messages) => $messages->stats()->ready);
    }

    public function totalDelayedSize()
    {
        return $this->everywhere()->sum(fn (Messages $messages) => $messages->stats()->delayed);
    }

    public function totalReservedSize()
    {
        return $this->everywhere()->sum(fn (Messages $messages) => $messages->stats()->leased);
    }

    /** @return Collection<int, InspectedJob> */
    public function pendingJobs($queue = null): Collection
    {
        return $this->inspect($this->messages($queue), 'ready');
    }

    /** @return Collection<int, InspectedJob> */
    public function delayedJobs($queue = null): Collection
    {
        return $this->inspect($this->messages($queue), 'delayed');
    }

    /** @return Collection<int, InspectedJob> */
    public function reservedJobs($queue = null): Collection
    {
        return $this->inspect($this->messages($queue), 'leased');
    }

    /** @return Collection<int, InspectedJob> */
    public function allPendingJobs(): Collection
    {
        return $this->everywhere()->flatMap(fn (Messages $messages) => $this->inspect($messages, 'ready'));
    }

    /** @return Collection<int, InspectedJob> */
    public function allDelayedJobs(): Collection
    {
        return $this->everywhere()->flatMap(fn (Messages $messages) => $this->inspect($messages, 'delayed'));
    }

    /** @return Collection<int, InspectedJob> */
    public function allReservedJobs(): Collection
    {
        return $this->everywhere()->flatMap(fn (Messages $messages) => $this->inspect($messages, 'leased'));
    }

    /** @return Collection<int, Messages> */
    private function everywhere(): Collection
    {
        return (new Collection($this->names()))->map(fn (string $name) => $this->open($name));
    }

    /** @return Collection<int, InspectedJob> what is no job is left out */
    private function inspect(Messages $messages, string $state): Collection
    {
        return (new Collection(iterator_to_array($messages->peek($state), false)))
            ->filter(fn (Message $message) => is_array(json_decode($message->body, true)))
            ->map(fn (Message $message) => InspectedJob::fromPayload(
                $message->body,
                $message->attempt + $message->crashes,
                $messages->name,
            ))
            ->values();
    }
}
