<?php

declare(strict_types=1);

namespace Dueq;

use DateInterval;
use DateTimeInterface;
use Dueq\Worker\Links;
use InvalidArgumentException;

/**
 * Tasks that run one after the other, made by Tasks::chain(). When the job of a link has ended
 * well, the worker acknowledges its message and pushes the next link in the same step.
 *
 *     $tasks->chain('charge', [17, 1250])
 *         ->then('pack', [17, 'payment' => Chain::PREVIOUS])
 *         ->then('ship', [Chain::PREVIOUS], queue: 'parcels')
 *         ->catch('refund', [17, Chain::FAILURE])
 *         ->push();
 *
 * Each method returns another object, and leaves this one as it is.
 *
 * @phpstan-import-type Draft from QueueInterface
 */
final class Chain
{
    /** An argument of a link: what the handler of the link before returns. */
    public const PREVIOUS = Gap::Previous;

    /**
     * An argument of catch(): which link failed, and how. An array: link (its number, from 1 on),
     * task, queue, id and error.
     */
    public const FAILURE = Gap::Failure;

    /** Bytes of the header. The rest of a message's headers is for its checkpoint and its steps. */
    private const MOST = 32768;

    /** @var list<string> the links behind the first one, as JSON */
    private array $rest = [];

    private string $catch = '';

    private string $catchQueue = '';

    /**
     * @internal Tasks::chain() makes chains
     * @param Draft $first
     */
    public function __construct(
        private readonly Tasks $tasks,
        private readonly array $first,
        private readonly string $queue,
    ) {
    }

    /**
     * Adds a link, of any queue and language. The parameters are those of Tasks::push(). The delay
     * counts from the end of the link before. An argument may be Chain::PREVIOUS.
     *
     * @param array<mixed> $arguments
     * @param mixed ...$options
     * @throws InvalidArgumentException|\JsonException as Tasks::push()
     */
    public function then(
        string $task,
        array $arguments = [],
        float|DateInterval|null $delay = null,
        float|int|DateTimeInterface|null $at = null,
        ?string $id = null,
        ?string $queue = null,
        mixed ...$options,
    ): self {
        [$link] = $this->link($task, $arguments, $delay, $at, $id, $queue, $options, Gap::Previous);
        $longer = clone $this;
        $longer->rest[] = $link;

        return $longer;
    }

    /**
     * Sets the task that is pushed when a link has failed for good, which ends the chain: its
     * message is dead, in its dead-letter queue, or deleted, or its time to live is over. The
     * parameters are those of Tasks::push(). An argument may be Chain::FAILURE.
     *
     * @param array<mixed> $arguments
     * @param mixed ...$options
     * @throws InvalidArgumentException|\JsonException as Tasks::push()
     */
    public function catch(
        string $task,
        array $arguments = [],
        float|DateInterval|null $delay = null,
        float|int|DateTimeInterface|null $at = null,
        ?string $id = null,
        ?string $queue = null,
        mixed ...$options,
    ): self {
        $caught = clone $this;
        [$caught->catch, $caught->catchQueue]
            = $this->link($task, $arguments, $delay, $at, $id, $queue, $options, Gap::Failure);

        return $caught;
    }

    /**
     * Pushes the first link, which has the others with it.
     *
     * @return string the id of the message
     * @throws Exception\TooLargeException as draft()
     * @throws Exception\DueqException as Queue::push()
     */
    public function push(): string
    {
        $queue = $this->tasks->queue($this->queue);
        $push = fn () => $queue->push(...$this->draft());

        return OpenTelemetry::send($queue, $push, $this->first['headers'] ?? []);
    }

    /**
     * The message of the chain, for Queue::pushMany() and as a successor for Message::ack().
     *
     * @return Draft
     * @throws Exception\TooLargeException if the links behind the first one, and the task of
     *     catch(), take more than 32,768 bytes, as they travel in a header
     */
    public function draft(): array
    {
        $header = Links::made(
            1,
            1 + count($this->rest),
            $this->first['headers']['task'] ?? '',
            $this->catchQueue,
            $this->catch,
            $this->rest,
        );
        if (strlen($header) > self::MOST) {
            throw new Exception\TooLargeException(
                'chain: the links behind the first one, and catch, take ' . strlen($header)
                    . ' bytes; ' . self::MOST . ' are allowed: push large values to a database or '
                    . 'a file, and give the links their keys',
            );
        }
        $draft = $this->first;
        $draft['headers'] = OpenTelemetry::headers(
            ($draft['headers'] ?? []) + [Links::CHAIN => $header],
        );

        return $draft;
    }

    /** @internal The queue of the first link. */
    public function queue(): string
    {
        return $this->queue;
    }

    /**
     * @param array<mixed> $arguments
     * @param array<int|string, mixed> $options
     * @return array{string, string} the link as JSON, and its queue
     */
    private function link(
        string $task,
        array $arguments,
        float|DateInterval|null $delay,
        float|int|DateTimeInterface|null $at,
        ?string $id,
        ?string $queue,
        array $options,
        Gap $gap,
    ): array {
        $gaps = [];
        foreach ($arguments as $place => $value) {
            if ($value instanceof Gap) {
                if ($value !== $gap) {
                    throw new InvalidArgumentException(
                        "chain: the task $task: here only Chain::" . strtoupper($gap->name)
                            . ' stands for an argument',
                    );
                }
                $gaps[] = $place;
                $arguments[$place] = null;
            }
        }
        $queue ??= $this->tasks->queueOf($task);
        $draft = $this->tasks->linkDraft($task, $arguments, $id, $options, $gaps)
            + ['delay' => $delay, 'at' => $at];
        if (isset($draft['batch'])) {
            throw new InvalidArgumentException(
                "chain: the task $task is in no batch: only the first link may be a member",
            );
        }

        return [Links::write($queue, $draft, $gaps), $queue];
    }
}
