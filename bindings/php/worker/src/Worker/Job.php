<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Closure;
use DateInterval;
use DateTimeInterface;
use Dueq\Chain;
use Dueq\Exception\DueqException;
use Dueq\Exception\TooLargeException;
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

    /** Seconds between two writes of the progress. */
    private const PROGRESS_EVERY = 1.0;

    private Cursor $kept;

    /** @var array<string, true> the names of the steps of this run */
    private array $steps = [];

    /** The latest progress, which may not be stored yet. */
    private string $progress;

    /** When the last progress was stored. */
    private float $toldAt = -INF;

    private ?Decision $decision = null;

    /** @var list<Draft> */
    private array $successors = [];

    private ?string $target;

    /** The chain of which the message is a link; null: it is none. */
    private readonly ?Links $chain;

    /** What the handler has returned. */
    private mixed $result = null;

    /** The result that the ack keeps; null: it keeps none. */
    private ?string $keptResult = null;

    /** @var list<Draft> the next link of the chain, when the job has ended well */
    private array $next = [];

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
        $this->kept = Cursor::read($message->headers['cursor'] ?? null);
        $this->progress = $this->kept->progress;
        $this->chain = Links::of($message);
        $next = $this->chain?->nextQueue;
        $this->target = $next === $this->tasks->wholeOf($message->queue) ? null : $next;
        $this->isStopping = $isStopping === null ? null : $isStopping(...);
    }

    /** The value of the last checkpoint(), in this run or an earlier one; null: there was none. */
    public function cursor(): mixed
    {
        return $this->kept->value();
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
     * @throws CursorTooLarge if the message has no room for it
     */
    public function checkpoint(mixed $cursor): void
    {
        $this->keep('checkpoint', $this->kept->withCheckpoint($cursor));
        $this->endIfStopping();
    }

    /**
     * Calls a function, and keeps what it returns with the message. When the job runs again, in any
     * process, the step returns the kept value, and does not call the function.
     *
     *     $payment = $job->step('charge', fn () => $bank->charge($order, $cents));
     *     $job->step('receipt', fn () => $mailer->send($order, $payment));
     *
     * @template T
     * @param string $name of the step, 1 to 255 bytes: a run has no second step of this name
     * @param callable(): T $function if the process is killed before the value is kept, the next
     *     run calls it again
     * @return T as JSON has it: an array for an object
     * @throws InvalidArgumentException for a name that the run has had
     * @throws Throwable what the function throws, and keeps nothing then; and as checkpoint()
     */
    public function step(string $name, callable $function): mixed
    {
        Cursor::checkStep($name);
        if (isset($this->steps[$name])) {
            throw new InvalidArgumentException(
                "step: this run of the job has had a step $name before: give each step a name of "
                    . 'its own, in a loop with its number',
            );
        }
        $this->steps[$name] = true;
        $kept = $this->kept->step($name);
        if ($kept !== []) {
            return $kept[0];
        }
        $step = Cursor::madeStep($name, $function());
        $this->keep("step $name", $this->kept->withStep($step));
        $this->endIfStopping();

        return $this->kept->step($name)[0] ?? null;
    }

    /**
     * Says how far the job has come. `dueq inspect`, the dashboard and Message::$progress show it.
     * At most one value a second is stored: a call within a second of the last write costs nothing.
     * The next write of the job stores the latest value, or the end of the job, unless that deletes
     * the message.
     *
     * @param float $share from 0 to 1; four decimal places are kept
     * @param string $note up to 255 bytes, in one line; longer ones are cut
     * @throws InvalidArgumentException for a wrong share
     * @throws \Dueq\Exception\LeaseLostException|CursorTooLarge as checkpoint()
     */
    public function progress(float $share, string $note = ''): void
    {
        $this->progress = Cursor::madeProgress($share, $note);
        $isDue = hrtime(true) / 1e9 - $this->toldAt >= self::PROGRESS_EVERY;
        if ($isDue && $this->progress !== $this->kept->progress) {
            $this->keep('progress', $this->kept);
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
        $queue ??= $this->tasks->queueOf($task);
        $due = Tasks::due(self::checked($delay), $at);
        $this->add(
            fn () => $this->tasks->draft($task, $arguments, $id, ...$options) + $due,
            $queue,
        );
    }

    /**
     * Pushes a chain as a successor, as push().
     *
     * @throws InvalidArgumentException for a second queue, or too many successors
     * @throws TooLargeException as Chain::draft()
     * @throws LogicException if the job has ended already
     */
    public function pushChain(Chain $chain): void
    {
        $this->refuseLate();
        $this->add($chain->draft(...), $chain->queue());
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
            $this->refuseNext();
            $returned = $handler();
            $this->endWell();

            return $returned;
        } catch (Decided $decided) {
            // A Decided of another job is a failure of this one.
            return $this->decision !== null ? null : throw $decided;
        } finally {
            $this->hasEnded = true;
        }
    }

    /** @internal Notes what the handler has returned. */
    public function returned(mixed $result): mixed
    {
        return $this->result = $result;
    }

    /** @internal Stores the latest progress at the end of a run whose message stays. */
    public function keepNews(): void
    {
        if ($this->progress === $this->kept->progress || $this->isLost()) {
            return;
        }
        try {
            $this->keep('progress', $this->kept);
        } catch (DueqException) {
            // The end of the run does not depend on it.
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
        $successors = [...$this->next, ...$this->successors];
        if ($this->decision === null && $successors !== []) {
            return new Decision(
                Settlement::Ack,
                successors: $successors,
                to: $this->target,
                result: $this->keptResult,
            );
        }
        if ($this->decision === null && $this->keptResult !== null) {
            return new Decision(Settlement::Ack, result: $this->keptResult);
        }

        return $this->decision;
    }

    /**
     * @internal Decides that the ack keeps the task's result. A result that cannot be kept fails
     *     the job for good, as another run would return the same.
     */
    public function keepResult(mixed $result, Forms $forms): void
    {
        $isKept = $this->task !== null && $this->message->keep !== null && $result !== null;
        if (!$isKept || $this->decision()?->leavesMessage()) {
            return;
        }
        try {
            $text = Json::write($forms->write($result));
            if (strlen($text) <= self::MOST_RESULT) {
                $this->keptResult = $text;
                return;
            }
            $this->decision = new Decision(
                Settlement::Bury,
                error: 'the result cannot be kept: it has ' . strlen($text) . ' bytes of JSON; '
                    . self::MOST_RESULT . ' are allowed',
            );
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

    /**
     * Throws before the handler runs if its result could not be handed on: the message names
     * another queue for the next link of its chain, and the list of targets does not have it.
     *
     * @throws InvalidArgumentException
     * @throws DueqException
     */
    private function refuseNext(): void
    {
        $next = $this->chain?->nextQueue;
        $own = $this->tasks->wholeOf($this->message->queue);
        if ($next === null || $next === $own) {
            return;
        }
        $allowed = $this->tasks->queue($own)->allow();
        if ($allowed !== [] && !in_array($next, $allowed, true)) {
            throw new InvalidArgumentException(
                "chain: the next link is for the queue $next, and the list of targets of $own does "
                    . 'not have it: dueq allow',
            );
        }
    }

    /**
     * Makes the next link of the chain.
     *
     * @throws \JsonException if it cannot have what the handler has returned
     */
    private function endWell(): void
    {
        $isOpen = $this->decision === null && !$this->message->isSettled();
        if ($isOpen && $this->chain?->nextQueue !== null) {
            $this->next = [$this->chain->following($this->result, $this->tasks->forms())];
        }
    }

    /**
     * @param callable(): Draft $make
     * @throws InvalidArgumentException
     */
    private function add(callable $make, string $queue): void
    {
        $own = $this->tasks->wholeOf($this->message->queue);
        $hasNext = $this->chain?->nextQueue !== null;
        if (($this->successors !== [] || $hasNext) && $queue !== ($this->target ?? $own)) {
            throw new InvalidArgumentException(
                'the successors of a job, and the next link of its chain, go to one queue: '
                    . ($this->target ?? $own)
                    . ", not $queue",
            );
        }
        $most = self::MOST - ($hasNext ? 1 : 0);
        if (count($this->successors) === $most) {
            throw new InvalidArgumentException("a job has at most $most successors");
        }
        $this->successors[] = $make();
        $this->target = $queue === $own ? null : $queue;
    }

    /**
     * Stores what the message keeps, with the latest progress.
     *
     * @param string $what the call, for errors
     * @throws \Dueq\Exception\DueqException
     */
    private function keep(string $what, Cursor $cursor): void
    {
        $cursor = $cursor->withProgress($this->progress);
        try {
            $this->message->checkpoint($cursor->text());
        } catch (TooLargeException $error) {
            throw new CursorTooLarge(
                "$what: a message keeps its headers, its checkpoint, the values of its steps and "
                    . 'its progress in 65535 bytes together: keep large values elsewhere, such as '
                    . "in a database, and their keys here ({$error->getMessage()})",
                $error->getCode(),
                $error,
            );
        }
        if ($cursor->progress !== $this->kept->progress) {
            $this->toldAt = hrtime(true) / 1e9;
        }
        $this->kept = $cursor;
    }

    /** @throws Stop */
    private function endIfStopping(): void
    {
        if ($this->isStopping()) {
            throw new Stop('the worker stops');
        }
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
