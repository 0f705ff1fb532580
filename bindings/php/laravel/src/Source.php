<?php

declare(strict_types=1);

namespace Dueq\Laravel;

use Dueq\Consumer;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Queues;

/**
 * Where a worker takes messages from: a consumer whose heartbeat keeps each of them, for as long as
 * this process lives, until it is settled.
 */
final class Source
{
    private ?Consumer $consumer = null;

    /**
     * @param float $lease seconds until others get what this process held when it was killed
     * @param float $maxRun seconds after which a message is kept no longer
     */
    public function __construct(
        private readonly Queue|Queues $queues,
        private readonly float $lease,
        private readonly float $maxRun,
    ) {
    }

    /**
     * The next message.
     *
     * @param float $timeout seconds to wait for one; 0: not at all, INF: without end
     * @return Message|null null: none came in that time, or a signal came
     */
    public function take(float $timeout): ?Message
    {
        try {
            return $timeout > 0.0 ? $this->await($timeout) : $this->look();
        } catch (\Throwable $error) {
            $this->drop();
            throw $error;
        }
    }

    /** Keeps none of its messages any longer; those that are not settled come back when their leases end. */
    public function drop(): void
    {
        $this->consumer = null;
    }

    private function look(): ?Message
    {
        foreach ($this->consumer() as $message) {
            return $message;
        }

        return null;
    }

    private function consumer(): Consumer
    {
        return $this->consumer ??= $this->queues->consume(
            prefetch: 1,
            lease: $this->lease,
            maxRun: $this->maxRun,
            timeout: 0.0,
        );
    }

    /** Unlike a loop of the consumer, stream_select() ends when a signal comes. */
    private function await(float $timeout): ?Message
    {
        $consumer = $this->consumer();
        $end = hrtime(true) / 1e9 + $timeout;
        while (($message = $consumer->poll()) === null) {
            $left = $end - hrtime(true) / 1e9;
            if ($left <= 0.0 || !self::isReadable($consumer->stream(), $left)) {
                // Nobody looks any more: what comes now is for others.
                $consumer->stop();
                $this->drop();
                break;
            }
        }

        return $message;
    }

    /**
     * Waits until a stream is readable.
     *
     * @param resource $stream
     * @return bool false: a signal came, or it was not for that long
     */
    private static function isReadable($stream, float $timeout): bool
    {
        $read = [$stream];
        $none = null;
        $seconds = is_infinite($timeout) ? null : (int) $timeout;
        $micros = $seconds === null ? null : (int) ceil(($timeout - $seconds) * 1e6);

        return (bool) @stream_select($read, $none, $none, $seconds, $micros);
    }
}
