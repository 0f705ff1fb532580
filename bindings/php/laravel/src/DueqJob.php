<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Closure;
use Dueq\Exception\DueqException;
use Dueq\Exception\LeaseLostException;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Settlement;
use Illuminate\Container\Container;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\Jobs\Job;
use Throwable;

/**
 * A job that this process works on: a message of dueq under a lease, which is kept until it is
 * settled.
 */
class DueqJob extends Job implements JobContract
{
    private readonly int $process;

    private readonly string $id;

    private readonly string $body;

    private readonly int $attempts;

    /**
     * Whether the handler runs. It stays so where the handler calls exit(), after which PHP runs no
     * finally.
     */
    private bool $firing = false;

    /** Whether fail() is under way, which settles it at its end. */
    private bool $failing = false;

    /** What the job's own failed() threw. */
    private ?Throwable $thrown = null;

    /** @var mixed the decoded payload */
    private $decoded;

    /**
     * @param MessageSource $source where the message was taken from
     * @param Message|null $message null from when it is settled or given up: whoever has it keeps
     *     its lease
     * @param string $queue its name, without the connection's prefix
     * @param float $lease seconds after which a job is ready again that its handler neither deleted
     *     nor released
     * @param string $connectionName as in config/queue.php
     * @param Closure(): bool $isStopped whether a signal has told the worker to end: then exit() is
     *     no crash
     */
    public function __construct(
        Container $container,
        private readonly MessageSource $source,
        private ?Message $message,
        string $queue,
        private readonly float $lease,
        $connectionName,
        private readonly Horizon $horizon,
        private readonly Closure $isStopped,
    ) {
        $this->process = getmypid();
        $this->id = $message->id;
        $this->body = $message->body;
        $this->attempts = $message->attempt + $message->crashes;
        $this->container = $container;
        $this->connectionName = $connectionName;
        $this->queue = $queue;
        $this->decoded = json_decode($message->body, true);
    }

    public function __destruct()
    {
        $this->giveBack();
    }

    /**
     * To be called when its worker has done with it. Laravel leaves it to string jobs to delete
     * themselves: one that did not, and was not released either, is ready again after a lease, as
     * with other drivers. In a forked child nothing happens: the job is its parent's.
     */
    public function giveBack(): void
    {
        if ($this->message !== null && $this->process === getmypid()) {
            try {
                if ($this->firing && !($this->isStopped)()) {
                    // Its lease ends now, which counts as a crash.
                    $this->settle(Settlement::Release, fn (Message $message) => $message->extend(0.001));
                } else {
                    $this->settle(Settlement::Retry, fn (Message $message) => $message->retry($this->lease));
                }
            } catch (DueqException $error) {
                $this->report($error);
            }
        }
    }

    public function fire()
    {
        $this->firing = true;
        try {
            OpenTelemetry::process($this->message, fn () => parent::fire(), $this->source->url());
        } finally {
            $this->firing = false;
        }
    }

    public function getJobId()
    {
        return $this->id;
    }

    public function getRawBody()
    {
        return $this->body;
    }

    public function payload()
    {
        return $this->decoded;
    }

    /** This delivery and all before it that failed, were released, or died with their workers. */
    public function attempts()
    {
        return $this->attempts;
    }

    public function delete()
    {
        parent::delete();
        if (!$this->failing) {
            $this->settle(Settlement::Ack, fn (Message $message) => $message->ack());
        }
        $this->horizon->deleted($this);
    }

    /** @param \DateTimeInterface|\DateInterval|float|int $delay seconds, or a date or interval */
    public function release($delay = 0)
    {
        parent::release($delay);
        $this->settle(Settlement::Retry, fn (Message $message) => $message->retry(DueTime::seconds($delay)));
        $this->horizon->released($this);
    }

    /**
     * Where Laravel deletes a job before it writes it down as failed, this one is gone after that:
     * a worker that dies in between loses nothing. If it could not be written down, the message is
     * dead in its queue, until kick() makes it ready again.
     */
    public function fail($e = null)
    {
        $this->failing = !$this->isDeleted();
        $this->thrown = null;
        $lost = null;
        try {
            parent::fail($e);
        } catch (Throwable $error) {
            $lost = $error === $this->thrown ? null : $error;
            throw $error;
        } finally {
            if ($this->failing && $this->isDeleted()) {
                $this->failing = false;
                $lost === null ? $this->settle(Settlement::Ack, fn (Message $message) => $message->ack()) : $this->settle(
                    Settlement::Bury,
                    fn (Message $message) => $message->bury('not written down as failed: ' . $lost->getMessage()),
                );
            }
        }
    }

    /** The message itself, for what Laravel has no words for; null when it is settled. */
    public function getMessage(): ?Message
    {
        return $this->message;
    }

    /** Whether a worker can do anything with it. */
    public function isSound(): bool
    {
        return is_array($this->decoded) && is_string($this->decoded['job'] ?? null)
            && array_key_exists('data', $this->decoded);
    }

    /** For what is no job: the message is dead in its queue, with the reason. */
    public function bury(): void
    {
        $this->settle(Settlement::Bury, fn (Message $message) => $message->bury('this is not the payload of a Laravel job'));
    }

    protected function failed($e)
    {
        try {
            parent::failed($e);
        } catch (Throwable $thrown) {
            $this->thrown = $thrown;
            throw $thrown;
        }
    }

    /**
     * Ends this delivery. One whose lease was lost is another worker's by now: nothing changes but
     * the log. One that is gone was taken away on purpose (queue:clear), or is done.
     *
     * @param callable(Message): mixed $settle
     */
    private function settle(Settlement $how, callable $settle): void
    {
        $message = $this->message;
        $this->message = null;
        if ($message === null) {
            return;
        }
        try {
            OpenTelemetry::settle($message, $how, fn () => $settle($message), $this->source->url());
        } catch (LeaseLostException $error) {
            if ($this->source->find($message) !== null) {
                $this->report($error);
            }
        } catch (DueqException $error) {
            if ($how === Settlement::Ack && $error->isRetriable()) {
                // Its consumer keeps the ack, and sends it when the server is back.
                $this->report($error);

                return;
            }
            // It is ready again when its lease ends; a heartbeat that went on would keep it from
            // that.
            $this->source->drop();
            throw $error;
        }
    }

    private function report(Throwable $error): void
    {
        if ($this->container->bound(ExceptionHandler::class)) {
            $this->container->make(ExceptionHandler::class)->report($error);
        }
    }
}
