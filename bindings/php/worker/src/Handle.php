<?php

declare(strict_types=1);

namespace Dueq;

use DateInterval;
use Dueq\Exception\NotFoundException;
use Dueq\Worker\Json;

/**
 * Asks for the result of a task that was pushed with `keep`:
 *
 *     $handle = $tasks->handle($tasks->push('total', [17], keep: 3600.0));
 *     $handle->result(timeout: 10.0);
 */
final class Handle
{
    /**
     * @internal Tasks::handle() makes it
     * @param list<string> $queues they are asked one after the other
     */
    public function __construct(
        public readonly string $id,
        private readonly Tasks $tasks,
        private readonly array $queues,
    ) {
    }

    /**
     * What the handler returned, as JSON has it: objects are arrays. null: it returned nothing.
     *
     * @param float|DateInterval $timeout how long to wait until the job has ended, in one blocking
     *     command; 0: not at all, INF: without end
     * @throws TaskFailed with the error of the job that failed, or the end of a message that was
     *     cancelled, purged, or expired
     * @throws NotEnded the job has not ended
     * @throws NotFoundException the queue does not know the message, or not any more
     * @throws Exception\DueqException
     */
    public function result(float|DateInterval $timeout = 0.0): mixed
    {
        $end = $this->end($timeout)
            ?? throw new NotEnded("the job {$this->id} has not ended");
        if ($end->outcome !== 'acked') {
            throw new TaskFailed($end);
        }

        return $end->hasResult ? Json::read($end->result) : null;
    }

    /** Asks the queue that knows the message. null: the message has not ended. */
    private function end(float|DateInterval $timeout): ?End
    {
        foreach (count($this->queues) === 1 ? [] : $this->queues as $name) {
            try {
                $end = $this->tasks->queue($name)->outcome($this->id);

                return $end ?? $this->tasks->queue($name)->outcome($this->id, $timeout);
            } catch (NotFoundException) {
                continue;
            }
        }

        return $this->tasks->queue($this->queues[0] ?? 'default')->outcome($this->id, $timeout);
    }
}
