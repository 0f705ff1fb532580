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
 * One run of a task: a message that is leased to this process until the handler returns or throws.
 *
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class Job
{
    /** The name of the task; null: the message is not a task. */
    public readonly ?string $task;

    /** How many successors one ack may have. */
    private const MOST = 200;

    /** How many bytes a result has at most: DUEQ_MAX_RESULT. */
    private const MOST_RESULT = 1048576;

    /**
     * Seconds until a released job is due. Without a pause a job that releases its message would
     * run again at once, in a loop.
     */
    private const PAUSE = 5.0;

    private mixed $cursor;

    private ?Decision $decision = null;

    /** @var list<Draft> */
    private array $successors = [];

    private ?string $target = null;

    /** @var array<string, mixed>|null null: the handler has begun */
    private ?array $provided = [];

    private bool $hasEnded = false;

    /** @var (Closure(): bool)|null */
    private readonly ?Closure $isStopping;

    /**
     * @internal Worker::job() makes jobs
     * @param array<mixed> $arguments
     * @param (callable(): bool)|null $isStopping
     * @param Tasks $tasks makes the successors
     */
    public function __construct(
        public readonly Message $message,
        public readonly Handler $handler,
        public readonly array $arguments,
        ?callable $isStopping,
        private readonly Tasks $tasks,
    ) {
        $this->task = $message->headers['task'] ?? null;
        $this->cursor = isset($message->headers['cursor'])
            ? Json::read($message->headers['cursor'])
            : null;
        $this->isStopping = $isStopping === null ? null : $isStopping(...);
    }

    /** The value of the last checkpoint(), in this run or an earlier one; null: there was none. */
    public function cursor(): mixed
    {
        return $this->cursor;
    }

    /**
     * Stores how far the job has come. The next run of the message, in any process, gets the value
     * from cursor(). A long job also ends here when the worker stops: the worker then releases the
     * message, and counts no failure.
     *
     * @param mixed $cursor any value that JSON can express
     * @throws Stop if the worker stops, after the value is stored; let it pass
     * @throws \JsonException if JSON cannot express the value
     * @throws \Dueq\Exception\LeaseLostException if another worker may have the message by now
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
     * Gives the handler arguments by name, such as a database connection. A middleware calls this
     * before $next(). A handler gets those for which it has a parameter. They replace arguments of
     * the message, and what was provided under the same name before.
     *
     *     $worker->middleware(function (Job $job, callable $next) use ($pool): mixed {
     *         $job->provide(db: $pool->connection());
     *
     *         return $next($job);
     *     });
     *
     * A parameter with the attribute Dueq\Provided can be given only so.
     *
     * @throws LogicException if the handler has begun
     * @throws InvalidArgumentException for a value without a name
     */
    public function provide(mixed ...$values): void
    {
        if ($this->provided === null) {
            throw new LogicException(
                "the handler of the job $this has begun: a middleware provides before \$next()",
            );
        }
        foreach ($values as $name => $value) {
            if (is_int($name)) {
                throw new InvalidArgumentException('provide: name each value, as in db: $db');
            }
            $this->provided[$name] = $value;
        }
    }

    /**
     * Ends the job as failed: the message is delivered again, unless its attempts are exhausted.
     * The log says that the job asked for this, without a trace.
     *
     * @param float|DateInterval|null $delay until the message is due, in seconds from 0 on; 0: at
     *     once; null: by its backoff
     * @param string|Throwable $error stored with the message, at most 4,096 bytes; of a Throwable
     *     its class and text
     * @throws Decided always; let it pass. If the handler catches it and returns, the decision
     *     still holds. If the handler then throws something else, the message is retried for that
     *     error
     * @throws InvalidArgumentException for a wrong delay
     * @throws LogicException if the job has ended already
     */
    public function retry(
        float|DateInterval|null $delay = null,
        string|Throwable $error = '',
    ): never {
        $this->decide(new Decision(Settlement::Retry, self::checked($delay), $error), $error);
    }

    /**
     * Ends the job as failed for good, whatever attempts it has left. The message becomes dead or,
     * by its policy, moves to its dead-letter queue or is deleted.
     *
     * @param string|Throwable $reason stored with the message, as for retry()
     * @throws Decided|LogicException as retry()
     */
    public function fail(string|Throwable $reason = ''): never
    {
        $this->decide(new Decision(Settlement::Bury, null, $reason), $reason);
    }

    /**
     * Ends the job and gives its message back to the queue. The run counts as no attempt.
     *
     * @param float|DateInterval|null $delay until the message is due, in seconds from 0 on; 0: at
     *     once; null: 5 s, or at once if the worker is about to stop
     * @throws Decided|InvalidArgumentException|LogicException as retry()
     */
    public function release(float|DateInterval|null $delay = null): never
    {
        $delay ??= $this->isStopping() ? 0.0 : self::PAUSE;
        $this->decide(new Decision(Settlement::Release, self::checked($delay)), 'released');
    }

    /**
     * Pushes a task as a successor: the acknowledgement of this job's message stores it, in one
     * step. Nothing is stored if the job fails, is retried or released, or has lost its lease. A
     * job has at most 200 successors, all for one queue. To push to another queue, use
     * Worker::push() or Tasks::push().
     *
     * @param string $task as for Tasks::push(), like the other parameters
     * @param array<mixed> $arguments
     * @param mixed ...$options
     * @throws InvalidArgumentException for a second queue, too many successors, or as Tasks::push()
     * @throws \JsonException as Tasks::push()
     * @throws LogicException if the job has ended already
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
                'the successors of a job go to one queue: '
                    . ($this->target ?? $own)
                    . ", not $queue",
            );
        }
        if (count($this->successors) === self::MOST) {
            throw new InvalidArgumentException('a job has at most ' . self::MOST . ' successors');
        }
        $due = array_filter(
            ['delay' => self::checked($delay), 'at' => $at],
            fn ($value) => $value !== null,
        );
        $this->successors[] = $this->tasks->draft($task, $arguments, $id, ...$options) + $due;
        $this->target = $queue === $own ? null : $queue;
    }

    /**
     * Whether this job is known to have lost its message: another worker has it, or it was
     * cancelled. checkpoint() then throws.
     */
    public function isLost(): bool
    {
        return $this->message->lost;
    }

    /**
     * Whether the worker is about to stop. A job that goes on is released when the grace of the
     * worker is over.
     */
    public function isStopping(): bool
    {
        return $this->isStopping !== null && ($this->isStopping)();
    }

    /**
     * @internal Runs the handler.
     * @param callable(): mixed $handler
     * @throws Throwable what the handler throws, except the Decided of this job
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
     * @return array<string, mixed> what was provided. The handler is about to begin
     */
    public function handOver(): array
    {
        [$given, $this->provided] = [$this->provided ?? [], null];

        return $given;
    }

    /**
     * @internal
     * @return Decision|null null: the message is acknowledged, without successors
     */
    public function decision(): ?Decision
    {
        if ($this->decision === null && $this->successors !== []) {
            return new Decision(Settlement::Ack, successors: $this->successors, to: $this->target);
        }

        return $this->decision;
    }

    /**
     * @internal Decides that the ack keeps the task's result. A result that cannot be kept fails
     *     the job for good, as another run would return the same.
     */
    public function keep(mixed $result, Forms $forms): void
    {
        $isKept = $this->task !== null && $this->message->keep !== null && $result !== null;
        if (!$isKept || $this->decision() !== null) {
            return;
        }
        try {
            $text = Json::write($forms->write($result));
            $this->decision = strlen($text) <= self::MOST_RESULT
                ? new Decision(Settlement::Ack, result: $text)
                : new Decision(Settlement::Bury, error: 'the result cannot be kept: it has '
                    . strlen($text) . ' bytes of JSON; ' . self::MOST_RESULT . ' are allowed');
        } catch (Throwable $error) {
            $this->decision = new Decision(
                Settlement::Bury,
                error: "the result cannot be kept: {$error->getMessage()}",
            );
        }
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
            throw new InvalidArgumentException(
                "delay: $delay is not a number of seconds from 0 on",
            );
        }

        return $delay;
    }
}
