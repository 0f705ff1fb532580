<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Dueq\Exception\DueqException;
use Dueq\Exception\LeaseLostException;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Queue;
use Dueq\Replace;
use Dueq\Settlement;
use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;

/**
 * A message in this program: leased to this process, or only found.
 *
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class Delivery
{
    /**
     * Stamps that Messenger adds when it sends a message again: to be retried, or to a failure
     * transport.
     */
    private const GIVEN_BACK = [RedeliveryStamp::class, SentToFailureTransportStamp::class];

    private readonly int $process;

    private bool $isSettled = false;

    /**
     * Whether handlers run. Stays true when a handler calls exit(), as PHP then runs no finally
     * block.
     */
    private bool $isRunning = false;

    /** @var list<object|null> */
    private array $stamps = [];

    /**
     * @internal the transport makes deliveries
     * @param bool $isHeld whether the message is leased to this process
     * @param float $lease seconds after which a message is ready again that the worker left
     *     unsettled
     */
    public function __construct(
        public readonly Message $message,
        private readonly Queue $queue,
        public readonly bool $isHeld,
        private readonly float $lease,
        private readonly LoggerInterface $logger,
    ) {
        $this->process = getmypid();
    }

    /**
     * Gives the message back that the worker left unsettled: a handler called exit(), a listener
     * refused the message, or the worker itself failed.
     */
    public function __destruct()
    {
        if ($this->isHeld && $this->process === getmypid()) {
            try {
                $this->isRunning ? $this->crash() : $this->release($this->lease);
            } catch (DueqException) {
                // The message is ready again when its lease ends.
            }
        }
    }

    /** @internal */
    public function envelope(Envelope $decoded): Envelope
    {
        $this->stamps = self::stamps($decoded);

        return $decoded;
    }

    /**
     * @internal Whether Messenger sends the message again: to be retried, or to a failure
     *     transport.
     */
    public function isGivenBack(Envelope $envelope): bool
    {
        return !$this->isSettled && self::stamps($envelope) !== $this->stamps;
    }

    /** @internal Deletes a message that is done or rejected. */
    public function finish(): void
    {
        try {
            $this->settle(
                Settlement::Ack,
                fn () => $this->isHeld
                    ? $this->message->ack()
                    : $this->queue->cancel($this->message->id),
            );
        } catch (DueqException $error) {
            if (!$this->isHeld || !$error->isRetriable()) {
                throw $error;
            }
            // The consumer keeps the ack, and sends it when the server is back.
            $this->isSettled = true;
            $this->logger->warning(
                'The message {id} of the queue {queue} is done, '
                    . 'which the server is told when it is back: {error}',
                [
                    'id' => $this->message->id,
                    'queue' => $this->message->queue,
                    'error' => $error->getMessage(),
                ],
            );
        }
    }

    /**
     * @internal Replaces this message by another one, in one step of the server.
     * @param Draft $draft as for Queue::push(), without an id
     * @return string|null the id of the new message; null: nothing was done, as one step cannot do
     *     it
     */
    public function replace(array $draft, Queue $to): ?string
    {
        if ($to->url() !== $this->queue->url()) {
            return null;
        }
        $stays = $to->name === $this->queue->name;
        // The queue refuses an id whose message exists, and an id that is still unique. The ack of
        // the old message, in the same step as the push, frees the id unless it is still unique.
        $keepsId = $stays && !MessageFormat::isUnique($this->message);
        $draft['id'] = $keepsId ? $this->message->id : $to->newId();
        $verb = $stays ? Settlement::Retry : Settlement::Bury;
        if ($this->isHeld) {
            $this->settle($verb, fn () => $this->message->ack([$draft], $stays ? null : $to->name));
        } elseif ($keepsId) {
            $this->settle($verb, fn () => $to->push(...['replace' => Replace::Message] + $draft));
        } else {
            return null;
        }

        return $draft['id'];
    }

    /** @internal Makes the message dead. */
    public function bury(string $reason): void
    {
        $this->settle(Settlement::Bury, fn () => $this->message->bury($reason));
    }

    /** @internal Gives the message back, without counting an attempt. */
    public function release(float $delay = 0.0): void
    {
        $this->settle(Settlement::Release, fn () => $this->message->release($delay));
    }

    /** @internal */
    public function keepalive(float $seconds): void
    {
        if ($this->isHeld && !$this->isSettled) {
            $this->message->extend(max($seconds, $this->lease));
        }
    }

    /**
     * @internal Runs the handlers of the message, within a span.
     * @template T
     * @param callable(): T $handle
     * @return T
     */
    public function process(callable $handle): mixed
    {
        $this->isRunning = true;
        try {
            return OpenTelemetry::process($this->message, $handle, $this->queue->url());
        } finally {
            $this->isRunning = false;
        }
    }

    /** Ends the lease now, so that a handler's exit() counts as a crash. */
    private function crash(): void
    {
        $this->settle(Settlement::Release, fn () => $this->message->extend(0.001));
    }

    /** @param callable(): mixed $how */
    private function settle(Settlement $verb, callable $how): void
    {
        if ($this->isSettled) {
            return;
        }
        try {
            OpenTelemetry::settle($this->message, $verb, $how, $this->queue->url());
        } catch (LeaseLostException $error) {
            $this->logger->warning(
                'The message {id} of the queue {queue} was cancelled, or delivered to another '
                    . 'worker, meanwhile: {error}',
                [
                    'id' => $this->message->id,
                    'queue' => $this->message->queue,
                    'error' => $error->getMessage(),
                ],
            );
        }
        $this->isSettled = true;
    }

    /** @return list<object|null> */
    private static function stamps(Envelope $envelope): array
    {
        return array_map(fn (string $class) => $envelope->last($class), self::GIVEN_BACK);
    }
}
