<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Dueq\Client;
use Dueq\Consumer;
use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queues;

/**
 * Where a worker takes messages from: a consumer whose heartbeat keeps each of them, for as long as
 * this process lives, until it is settled.
 */
final class MessageSource
{
    /** Seconds: a signal that comes in the instant before a wait is seen after so long. */
    private const SLICE = 0.25;

    private readonly Queues $queues;

    private ?Consumer $consumer = null;

    private bool $waited = false;

    /**
     * @param Client $client of the server
     * @param string $prefix what the names of its queues begin with there
     * @param non-empty-list<string> $names of these queues, without that
     * @param float $lease seconds until others get what this process held when it was killed
     * @param float $maxRun seconds after which a message is kept no longer
     */
    public function __construct(
        private readonly Client $client,
        string $prefix,
        public readonly array $names,
        private readonly float $lease,
        private readonly float $maxRun,
    ) {
        $this->queues = $client->queues(array_map(fn ($name) => $prefix . $name, $names));
    }

    /**
     * The next message.
     *
     * @param float $timeout seconds to wait for one; 0: not at all, INF: without end
     * @param callable(): bool $stopped whether it is not to wait any longer
     * @return Message|null null: none came in that time, or a signal came
     */
    public function take(float $timeout, callable $stopped): ?Message
    {
        $this->waited = false;
        try {
            return $timeout > 0.0 ? $this->await($timeout, $stopped) : $this->look();
        } catch (\Throwable $error) {
            // In an outage it may keep acks, which its heartbeat sends.
            if (!$error instanceof DueqException || !$error->isRetriable()) {
                $this->drop();
            }
            throw $error;
        }
    }

    /** Where the server is, without the password. */
    public function url(): string
    {
        return $this->client->url();
    }

    /** Whether the last message was not there when it was asked for. */
    public function hasWaited(): bool
    {
        return $this->waited;
    }

    /** The message as it is now; null: it is gone. */
    public function find(Message $message): ?Message
    {
        return $this->client->queue($message->queue)->find($message->id);
    }

    /**
     * Keeps none of its messages any longer; those that are not settled come back when their leases
     * end.
     */
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

    /**
     * Unlike a loop of the consumer, stream_select() ends when a signal comes.
     *
     * @param callable(): bool $stopped
     */
    private function await(float $timeout, callable $stopped): ?Message
    {
        $consumer = $this->consumer();
        $end = hrtime(true) / 1e9 + $timeout;
        while (($message = $consumer->poll()) === null) {
            $this->waited = true;
            $left = $end - hrtime(true) / 1e9;
            if ($left <= 0.0 || $stopped() || !self::rest($consumer->stream(), min($left, self::SLICE))) {
                // Nobody looks any more: what comes now is for others.
                $consumer->stop();
                $this->drop();
                break;
            }
        }

        return $message;
    }

    /**
     * Waits until a stream is readable, but not for longer than this.
     *
     * @param resource $stream
     * @return bool false: a signal came
     */
    private static function rest($stream, float $seconds): bool
    {
        $read = [$stream];
        $none = null;

        return @stream_select($read, $none, $none, 0, (int) ceil($seconds * 1e6)) !== false;
    }
}
