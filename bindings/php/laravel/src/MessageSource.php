<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Dueq\Client;
use Dueq\Consumer;
use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queues;

/**
 * The source from which a worker takes messages: a consumer whose heartbeat extends the lease of
 * each message until it is settled, while this process lives.
 */
final class MessageSource
{
    /**
     * Seconds of one wait. A signal that arrives right before a wait does not interrupt the wait,
     * and is seen at its end.
     */
    private const SLICE = 0.25;

    private readonly Queues $queues;

    private ?Consumer $consumer = null;

    private bool $waited = false;

    /**
     * @param Client $client the client of the server
     * @param string $prefix the names of the queues on the server begin with this
     * @param non-empty-list<string> $names the names of the queues, without the prefix
     * @param float $lease seconds after which other workers get the messages of this process if it
     *     is killed
     * @param float $maxRun seconds after which the lease of a message is not extended any more
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
     * @param float $timeout how long to wait for one, in seconds; 0: not at all, INF: without end
     * @param callable(): bool $stopped whether the wait must end
     * @return Message|null null: no message came in time, or a signal arrived
     */
    public function take(float $timeout, callable $stopped): ?Message
    {
        $this->waited = false;
        try {
            return $timeout > 0.0 ? $this->await($timeout, $stopped) : $this->look();
        } catch (\Throwable $error) {
            // In an outage the consumer may hold acks that its heartbeat will send: so it is kept.
            if (!$error instanceof DueqException || !$error->isRetriable()) {
                $this->drop();
            }
            throw $error;
        }
    }

    /** The server's URL, without the password. */
    public function url(): string
    {
        return $this->client->url();
    }

    /** Whether take() had to wait for its last message. */
    public function hasWaited(): bool
    {
        return $this->waited;
    }

    /** The present state of a message; null: it does not exist any more. */
    public function find(Message $message): ?Message
    {
        return $this->client->queue($message->queue)->find($message->id);
    }

    /**
     * Drops the consumer: leases are not extended any more, and messages that are not settled come
     * back when their leases end.
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
     * Waits with stream_select(), as a signal ends this wait, but not the wait of a consumer's
     * loop.
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
            if (
                $left <= 0.0
                || $stopped()
                || !self::rest($consumer->stream(), min($left, self::SLICE))
            ) {
                // This process waits no longer: other workers must get the messages that come now.
                $consumer->stop();
                $this->drop();
                break;
            }
        }

        return $message;
    }

    /**
     * Waits until a stream is readable, for $seconds at most.
     *
     * @param resource $stream
     * @return bool false: a signal interrupted the wait
     */
    private static function rest($stream, float $seconds): bool
    {
        $read = [$stream];
        $none = null;

        return @stream_select($read, $none, $none, 0, (int) ceil($seconds * 1e6)) !== false;
    }
}
