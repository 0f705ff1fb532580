<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Dueq\Client;
use Dueq\Consumer;
use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Queue;
use Dueq\State;
use Psr\Log\LoggerInterface;
use RuntimeException;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFairQueueStamp;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFifoStamp;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\LogicException;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\ListableReceiverInterface;
use Symfony\Component\Messenger\Transport\Receiver\MessageCountAwareInterface;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\SetupableTransportInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * A queue of dueq as a transport of Messenger.
 *
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class DueqTransport implements
    TransportInterface,
    ListableReceiverInterface,
    MessageCountAwareInterface,
    SetupableTransportInterface,
    Keepalive,
    Closeable
{
    /** The error of a dead letter that died by crashes, and so has no error of its own. */
    private const KILLED = 'Each worker that had the message was killed, or lost its lease.';

    /** The stamps of Amazon SQS that name a group. */
    private const GROUPS = [AmazonSqsFifoStamp::class, AmazonSqsFairQueueStamp::class];

    private Client $client;

    private Queue $queue;

    /**
     * @var array<string, Consumer> by the most messages of one take, and the seconds of its wait
     */
    private array $consumers = [];

    /** Whether the outage that still lasts was logged already. */
    private bool $isAway = false;

    /**
     * @internal DueqTransportFactory makes transports
     * @throws \Dueq\Exception\InvalidException for a wrong URL, or a wrong name of a queue
     */
    public function __construct(
        private readonly Settings $settings,
        private readonly SerializerInterface $serializer,
        private readonly LoggerInterface $logger,
    ) {
        $this->open();
    }

    /** The queue of dueq, for operations that Messenger does not have. */
    public function queue(): Queue
    {
        return $this->queue;
    }

    /**
     * Pushes a message. When Messenger sends a failed message again, for a retry or to a failure
     * transport on the same server, the new message replaces the failed one in one step: at every
     * moment exactly one of the two is stored.
     *
     * @throws TransportException
     */
    public function send(Envelope $envelope): Envelope
    {
        $encoded = $this->serializer->encode($envelope->withoutAll(TransportMessageIdStamp::class));
        $stamp = $envelope->last(DueqStamp::class) ?? new DueqStamp();
        $delivery = $envelope->last(DueqReceivedStamp::class)?->delivery;
        $isGivenBack = $delivery !== null && $delivery->isGivenBack($envelope);
        $from = $this->settings->deadLetter === null ? null : $this->settings->transport;
        $draft = MessageFormat::write($encoded, !$isGivenBack && $stamp->unique !== null, $from) + [
            'delay' => max(0, $envelope->last(DelayStamp::class)?->getDelay() ?? 0) / 1000,
            // Messenger counts retries itself.
            'maxAttempts' => null,
            'maxCrashes' => $this->settings->maxCrashes,
            'deadLetter' => $this->settings->deadLetter,
            'priority' => $isGivenBack ? $delivery->message->priority : $stamp->priority,
            'group' => $isGivenBack ? $delivery->message->group : self::group($envelope, $stamp),
        ];
        $id = $this->call(fn () => $isGivenBack
            ? $this->giveBack($delivery, $draft)
            : $this->push($draft + [
                'id' => $stamp->id,
                'ttl' => $stamp->ttl,
                'unique' => $stamp->unique,
                'replace' => $stamp->replace,
            ]));

        return $envelope->with(new TransportMessageIdStamp($id));
    }

    /**
     * Takes messages. Yields none while the server cannot be reached, so that the worker goes on.
     *
     * @param int|null $fetchSize how many messages at most, 1 to 200 (Symfony 8.1); null: the
     *     option fetch_size
     * @return iterable<Envelope>
     * @throws TransportException
     * @throws MessageDecodingFailedException for a message that cannot be decoded: it is then dead
     *     in its queue, with the reason
     */
    public function get(?int $fetchSize = null): iterable
    {
        $deliveries = $this->take(min(200, max(1, $fetchSize ?? $this->settings->fetchSize)));
        try {
            while (($delivery = array_shift($deliveries)) !== null) {
                yield $this->envelope($delivery);
            }
        } finally {
            // The worker stops. It gives back what it has not begun: these messages are the next
            // ones again, in the same order.
            foreach (array_reverse($deliveries) as $delivery) {
                $this->call(fn () => $delivery->release());
            }
        }
    }

    /** @throws TransportException */
    public function ack(Envelope $envelope): void
    {
        $this->call(fn () => self::delivery($envelope)->finish());
    }

    /**
     * Deletes a message that Messenger has rejected.
     *
     * @throws TransportException
     */
    public function reject(Envelope $envelope): void
    {
        $this->ack($envelope);
    }

    /**
     * Extends the lease of a message. The extension does so by itself, unless the option max_run
     * ends that.
     *
     * @param int|null $seconds from now on, the lease at least
     * @throws TransportException also when the message was cancelled, or another worker has it by
     *     now
     */
    public function keepalive(Envelope $envelope, ?int $seconds = null): void
    {
        $this->call(fn () => self::delivery($envelope)->keepalive((float) $seconds));
    }

    /** @throws TransportException */
    public function getMessageCount(): int
    {
        $stats = $this->call(fn () => $this->queue->stats());

        return $stats->ready + $stats->delayed;
    }

    /**
     * Reads messages: first the ready ones, then the delayed ones.
     *
     * @return iterable<Envelope>
     * @throws TransportException
     * @throws MessageDecodingFailedException
     */
    public function all(?int $limit = null): iterable
    {
        $left = $limit ?? PHP_INT_MAX;
        foreach ([State::Ready, State::Delayed] as $state) {
            $messages = $this->call(fn () => $this->queue->peek($state, min(100, max(1, $left))));
            for (
                $this->call(fn () => $messages->rewind());
                $left > 0 && $messages->valid();
                $this->call(fn () => $messages->next())
            ) {
                if (!$messages->current()->isSchedule()) {
                    yield $this->envelope($this->delivered($messages->current(), false));
                    $left--;
                }
            }
        }
    }

    /**
     * Finds a message in any state. Leases nothing.
     *
     * @throws TransportException
     * @throws MessageDecodingFailedException
     */
    public function find(mixed $id): ?Envelope
    {
        $message = $this->call(fn () => $this->queue->find((string) $id));

        return $message === null ? null : $this->envelope($this->delivered($message, false));
    }

    /**
     * Checks that the server answers. There is nothing to create.
     *
     * @throws TransportException
     */
    public function setup(): void
    {
        $this->call(fn () => $this->queue->stats());
    }

    /** Closes the connections. The next call makes new ones. */
    public function close(): void
    {
        $this->open();
    }

    private function open(): void
    {
        $this->consumers = [];
        $this->client = new Client($this->settings->url, $this->settings->persistent);
        $this->queue = $this->client->queue($this->settings->queue);
    }

    /**
     * The group of a message that is sent for the first time. The stamps of Amazon SQS, where an
     * application has these, name it too. Of both the stamp of FIFO queues counts, as in Messenger.
     */
    private static function group(Envelope $envelope, DueqStamp $stamp): ?string
    {
        $group = $stamp->group;
        foreach (self::GROUPS as $class) {
            $group ??= $envelope->last($class)?->getMessageGroupId();
        }

        return $group;
    }

    /** @param Draft $draft */
    private function giveBack(Delivery $delivery, array $draft): string
    {
        $draft['headers'] += OpenTelemetry::contextOf($delivery->message);

        return $delivery->replace($draft, $this->queue) ?? $this->push($draft);
    }

    /** @param Draft $draft */
    private function push(array $draft): string
    {
        $headers = $draft['headers'];
        $push = fn () => $this->queue->push(
            ...['headers' => OpenTelemetry::headers($headers)] + $draft,
        );

        return OpenTelemetry::send($this->queue, $push, $headers);
    }

    /**
     * @return list<Delivery>
     * @throws TransportException
     */
    private function take(int $most): array
    {
        try {
            $deliveries = $most > 1 || $this->settings->wait <= 0.0 ? $this->loop($most, 0.0) : [];
            if ($deliveries === [] && $this->settings->wait > 0.0) {
                $deliveries = $this->loop(1, $this->settings->wait);
            }
            $this->isAway = false;

            return $deliveries;
        } catch (DueqException $error) {
            if (!$error->isRetriable()) {
                $this->consumers = [];
                throw self::failure($error);
            }
            if (!$this->isAway) {
                $this->isAway = true;
                $this->logger->warning(
                    'The queue {queue} cannot be read, and is tried again: {error}',
                    ['queue' => $this->settings->queue, 'error' => $error->getMessage()],
                );
            }

            return [];
        }
    }

    /**
     * @return list<Delivery> up to $most messages: $wait seconds are for the first, the others must
     *     be ready then
     */
    private function loop(int $most, float $wait): array
    {
        $this->consumers["$most $wait"] ??= $this->queue->consume(
            prefetch: $most,
            lease: $this->settings->lease,
            maxRun: $this->settings->maxRun,
            timeout: $wait,
            concurrency: null,
        );
        $deliveries = [];
        foreach ($this->consumers["$most $wait"] as $message) {
            if ($message->isSchedule()) {
                $this->fire($message);
                continue;
            }
            $deliveries[] = $this->delivered($message, true);
            if (count($deliveries) === $most) {
                break;
            }
        }

        return $deliveries;
    }

    private function fire(Message $schedule): void
    {
        try {
            $schedule->fire();
        } catch (DueqException $error) {
            $schedule->retry(error: $error->getMessage());
            throw $error;
        }
    }

    private function delivered(Message $message, bool $isHeld): Delivery
    {
        return new Delivery($message, $this->queue, $isHeld, $this->settings->lease, $this->logger);
    }

    /** @throws MessageDecodingFailedException */
    private function envelope(Delivery $delivery): Envelope
    {
        $id = $delivery->message->id;
        try {
            $decoded = $this->serializer->decode(MessageFormat::read($delivery->message));
            $envelope = $delivery->envelope($this->failed($decoded, $delivery->message));
        } catch (MessageDecodingFailedException $error) {
            if ($delivery->isHeld) {
                $this->call(fn () => $delivery->bury($error->getMessage()));
            }
            throw new MessageDecodingFailedException(
                "The message $id of the queue {$this->settings->queue}: {$error->getMessage()}",
                0,
                $error,
            );
        }

        return $envelope->withoutAll(TransportMessageIdStamp::class)->with(
            new DueqReceivedStamp($delivery),
            new TransportMessageIdStamp($id),
        );
    }

    /**
     * Adds the stamps of a failure transport to a message that dueq itself moved here as a dead
     * letter.
     */
    private function failed(Envelope $decoded, Message $message): Envelope
    {
        $from = MessageFormat::from($message);
        if ($message->deadLetter !== $this->queue->name || $from === $this->settings->transport) {
            return $decoded;
        }
        if (
            class_exists(ErrorDetailsStamp::class)
            && $decoded->last(ErrorDetailsStamp::class) === null
        ) {
            $error = $message->error === '' ? self::KILLED : $message->error;
            $decoded = $decoded->with(new ErrorDetailsStamp(RuntimeException::class, 0, $error));
        }

        return $from === null || $decoded->last(SentToFailureTransportStamp::class) !== null
            ? $decoded
            : $decoded->with(new SentToFailureTransportStamp($from));
    }

    /** @throws LogicException */
    private static function delivery(Envelope $envelope): Delivery
    {
        return $envelope->last(DueqReceivedStamp::class)?->delivery
            ?? throw new LogicException(
                'The envelope has no DueqReceivedStamp: it does not come from a dueq transport.',
            );
    }

    /**
     * @template T
     * @param callable(): T $call
     * @return T
     * @throws TransportException
     */
    private function call(callable $call): mixed
    {
        try {
            return $call();
        } catch (DueqException $error) {
            throw self::failure($error);
        }
    }

    private static function failure(DueqException $error): TransportException
    {
        return new TransportException($error->getMessage(), $error->getCode(), $error);
    }
}
