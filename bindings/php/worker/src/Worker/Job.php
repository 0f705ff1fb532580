<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Closure;
use DateInterval;
use DateTimeInterface;
use Dueq\Message;
use Dueq\Settlement;
use Dueq\Tasks;
use InvalidArgumentException;
use LogicException;
use Throwable;

/**
 * One run of a task: a message that this process holds until the handler returns or throws.
 *
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class Job
{
    /** The task's name; null: the message is no task. */
    public readonly ?string $task;

    /** Successors that one ack may have. */
    private const MOST = 200;

    /** Seconds: without a pause a job that gives its message back would run again at once, and again. */
    private const PAUSE = 5.0;

    private mixed $cursor;

    private ?Decision $decision = null;

    /** @var list<Draft> */
    private array $successors = [];

    private ?string $target = null;

    private bool $hasEnded = false;

    /** @var (Closure(): bool)|null */
    private readonly ?Closure $isStopping;

    /**
     * @internal Worker::job() makes it
     * @param array<mixed> $arguments
     * @param (callable(): bool)|null $isStopping
     * @param Tasks $tasks of which its successors are
     */
    public function __construct(
        public readonly Message $message,
        public readonly Handler $handler,
        public readonly array $arguments,
        ?callable $isStopping,
        private readonly Tasks $tasks,
    ) {
        $this->task = $message->headers['task'] ?? null;
        $this->cursor = isset($message->headers['cursor']) ? Json::read($message->headers['cursor']) : null;
        $this->isStopping = $isStopping === null ? null : $isStopping(...);
    }

    /** The last checkpoint, of this run or of one before; null: there is none. */
    public function cursor(): mixed
    {
        return $this->cursor;
    }

    /**
     * Keeps where the job is, so that its next run, here or elsewhere, goes on there. It is the place where a long job
     * ends when the worker stops: the job is released then, and no failure is counted.
     *
     * @param mixed $cursor what JSON has
     * @throws Stop when the worker stops; let it pass
     * @throws \JsonException
     * @throws \Dueq\Exception\LeaseLostException
     */
    public function checkpoint(mixed $cursor): void
    {
        $this->message->checkpoint(Json::write($cursor));
        $this->cursor = $cursor;
        if ($this->isStopping()) {
            throw new Stop('the worker stops');
        }
    }

    /**
     * Ends the job as a failure that counts: the message is delivered again, unless its attempts are exhausted. The log
     * says that the job wished it, without a trace.
     *
     * @param float|DateInterval|null $delay until it is due; 0: at once; null: by its backoff
     * @param string|Throwable $error kept with the message, 4,096 bytes at most; of a Throwable, its class and text
     * @throws Decided let it pass. A handler that catches it and returns changes nothing; if it throws something else,
     *     the message is retried for that
     */
    public function retry(float|DateInterval|null $delay = null, string|Throwable $error = ''): never
    {
        $this->decide(new Decision(Settlement::Retry, self::checked($delay), $error), $error);
    }

    /**
     * Ends the job as failed for good: no attempt is left to it. Its message is dead or, by its policy, moves to its
     * dead-letter queue or is deleted.
     *
     * @param string|Throwable $reason as the error of retry()
     * @throws Decided as of retry()
     */
    public function fail(string|Throwable $reason = ''): never
    {
        $this->decide(new Decision(Settlement::Bury, null, $reason), $reason);
    }

    /**
     * Ends the job and gives its message back: the run counts as no attempt.
     *
     * @param float|DateInterval|null $delay until it is due; 0: at once; null: 5 seconds, or at once where the worker is
     *     about to stop
     * @throws Decided as of retry()
     */
    public function release(float|DateInterval|null $delay = null): never
    {
        $delay ??= $this->isStopping() ? 0.0 : self::PAUSE;
        $this->decide(new Decision(Settlement::Release, self::checked($delay)), 'released');
    }

    /**
     * Pushes a task, a successor, with the acknowledgement of this job's message, in one step: it is stored when the job
     * is done, and not where the job fails, is retried or released, or its lease was lost. A job has 200 successors at
     * most, all for one queue; a task for another queue is pushed by itself.
     *
     * @param string $task as of Tasks::push(), and so are the others
     * @param array<mixed> $arguments
     * @param mixed ...$options
     * @throws InvalidArgumentException
     */
    public function push(
        string $task,
        array $arguments = [],
        float|DateInterval|null $delay = null,
        float|int|DateTimeInterface|null $at = null,
        ?string $id = null,
        ?string $queue = null,
        mixed ...$options,
    ): void {
        $this->refuseLate();
        $own = $this->tasks->wholeOf($this->message->queue);
        $queue ??= $this->tasks->queueOf($task);
        if ($this->successors !== [] && $queue !== ($this->target ?? $own)) {
            throw new InvalidArgumentException(
                'the successors of a job go to one queue: ' . ($this->target ?? $own) . ", not $queue",
            );
        }
        if (count($this->successors) === self::MOST) {
            throw new InvalidArgumentException('a job has at most ' . self::MOST . ' successors');
        }
        $due = array_filter(['delay' => self::checked($delay), 'at' => $at], fn ($value) => $value !== null);
        $this->successors[] = $this->tasks->draft($task, $arguments, $id, ...$options) + $due;
        $this->target = $queue === $own ? null : $queue;
    }

    /** Whether another worker has the message, or it was cancelled, as far as is known. checkpoint() then throws. */
    public function isLost(): bool
    {
        return $this->message->lost;
    }

    /** Whether the worker is about to stop: the job has its grace to end. */
    public function isStopping(): bool
    {
        return $this->isStopping !== null && ($this->isStopping)();
    }

    /**
     * @internal Runs its handler.
     * @param callable(): mixed $handler
     * @throws Throwable what the handler throws, but for Decided
     */
    public function run(callable $handler): mixed
    {
        try {
            return $handler();
        } catch (Decided $decided) {
            // A Decided of another job is a failure of this one.
            return $this->decision !== null ? null : throw $decided;
        } finally {
            $this->hasEnded = true;
        }
    }

    /**
     * @internal
     * @return Decision|null null: its message is to be acknowledged
     */
    public function decision(): ?Decision
    {
        if ($this->decision === null && $this->successors !== []) {
            return new Decision(Settlement::Ack, successors: $this->successors, to: $this->target);
        }

        return $this->decision;
    }

    public function __toString(): string
    {
        return ($this->task ?? "message of {$this->message->queue}") . " {$this->message->id}";
    }

    private function decide(Decision $decision, string|Throwable $text): never
    {
        $this->refuseLate();
        $this->decision = $decision;
        throw new Decided($text instanceof Throwable ? $text->getMessage() : $text);
    }

    /** @throws LogicException */
    private function refuseLate(): void
    {
        if ($this->hasEnded) {
            throw new LogicException("the job $this has ended: its message is settled");
        }
    }

    /** @throws InvalidArgumentException */
    private static function checked(float|DateInterval|null $delay): float|DateInterval|null
    {
        if (is_float($delay) && !($delay >= 0.0 && $delay < INF)) {
            throw new InvalidArgumentException("delay: $delay is not a number of seconds from 0 on");
        }

        return $delay;
    }
}
