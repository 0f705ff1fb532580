<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Closure;
use Dueq\Message;

/** One run of a task: a message that this process holds until the handler returns or throws. */
final class Job
{
    /** The task's name; null: the message is no task. */
    public readonly ?string $task;

    private mixed $cursor;

    private readonly ?Closure $isStopping;

    /**
     * @internal Worker::job() makes it
     * @param array<mixed> $arguments
     * @param (callable(): bool)|null $isStopping
     */
    public function __construct(
        public readonly Message $message,
        public readonly Handler $handler,
        public readonly array $arguments,
        ?callable $isStopping,
    ) {
        $this->task = $message->headers['task'] ?? null;
        $this->cursor = isset($message->headers['cursor']) ? Json::read($message->headers['cursor']) : null;
        $this->isStopping = $isStopping === null ? null : $isStopping(...);
    }

    /** What save() kept last, in this run or in one before; null: nothing. */
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
    public function save(mixed $cursor): void
    {
        $this->message->save(Json::write($cursor));
        $this->cursor = $cursor;
        if ($this->isStopping()) {
            throw new Stop('the worker stops');
        }
    }

    /** Whether another worker has the message, or it was cancelled, as far as is known: then save() throws. */
    public function isLost(): bool
    {
        return $this->message->lost;
    }

    /** Whether the worker is about to stop: the job has its grace to end. */
    public function isStopping(): bool
    {
        return $this->isStopping !== null && ($this->isStopping)();
    }

    public function __toString(): string
    {
        return ($this->task ?? "message of {$this->message->queue}") . " {$this->message->id}";
    }
}
