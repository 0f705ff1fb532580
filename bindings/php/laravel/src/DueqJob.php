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
 * A job that this process works on: a message of dueq, whose lease is extended until the job is
 * settled.
 */
class DueqJob extends Job implements JobContract
{
    private readonly int $process;

    private readonly string $id;

    private readonly string $body;

    private readonly int $attempts;

    /**
     * Whether the handler runs. Stays true when the handler calls exit(), as PHP then runs no
     * finally block.
     */
    private bool $firing = false;

    /** Whether fail() runs, which settles the message at its end. */
    private bool $failing = false;

    /** What the failed() method of the application's job threw. */
    private ?Throwable $thrown = null;

    /** @var mixed the decoded payload */
    private $decoded;

    /**
     * @param MessageSource $source the source of the message
     * @param Message|null $message null once it is settled or given up: its lease is extended while
     *     this reference exists
     * @param string $queue the name of the queue, without the connection's prefix
     * @param float $lease seconds after which a job is ready again that its handler neither deleted
     *     nor released
     * @param string $connectionName the connection's name in config/queue.php
     * @param Closure(): bool $isStopped whether a signal has told the worker to stop: then exit()
     *     is not a crash
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
     * Called when the worker has finished with the job. Laravel expects a string job to delete
     * itself. If such a job neither deleted nor released itself, it is ready again after a lease,
     * as with other drivers. In a forked child nothing happens: the job belongs to the parent.
     */
    public function giveBack(): void
    {
        if ($this->message !== null && $this->process === getmypid()) {
            try {
                if ($this->firing && !($this->isStopped)()) {
                    // The handler called exit(). Ending the lease now makes that count as a crash.
                    $this->settle(
                        Settlement::Release,
                        fn (Message $message) => $message->extend(0.001),
                    );
                } else {
                    $this->settle(
                        Settlement::Retry,
                        fn (Message $message) => $message->retry($this->lease),
                    );
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

    /**
     * How many deliveries the job has had, this one included: earlier ones failed, were released,
     * or ended with their workers.
     */
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
        $this->settle(
            Settlement::Retry,
            fn (Message $message) => $message->retry(DueTime::seconds($delay)),
        );
        $this->horizon->released($this);
    }

    /**
     * Deletes the job after Laravel has recorded it as failed, while Laravel itself deletes it
     * before. So a worker that dies in between loses nothing. If recording fails, the message
     * becomes dead in its queue, until kick() makes it ready again.
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
                $lost === null
                    ? $this->settle(Settlement::Ack, fn (Message $message) => $message->ack())
                    : $this->settle(
                        Settlement::Bury,
                        fn (Message $message) => $message->bury(
                            'not written down as failed: ' . $lost->getMessage(),
                        ),
                    );
            }
        }
    }

    /**
     * The message of dueq, for operations that Laravel does not have; null when the message is
     * settled.
     */
    public function getMessage(): ?Message
    {
        return $this->message;
    }

    /** Whether the payload is that of a Laravel job, which a worker can run. */
    public function isSound(): bool
    {
        return is_array($this->decoded) && is_string($this->decoded['job'] ?? null)
            && array_key_exists('data', $this->decoded);
    }

    /** Makes a message dead that is not a job, with the reason. */
    public function bury(): void
    {
        $this->settle(
            Settlement::Bury,
            fn (Message $message) => $message->bury('this is not the payload of a Laravel job'),
        );
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
     * Settles the message. If its lease was lost, another worker has it by now: nothing changes,
     * and the error is reported. If the message no longer exists, queue:clear deleted it or another
     * worker has done it: nothing is reported.
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
                // The consumer keeps the ack, and sends it when the server is back.
                $this->report($error);

                return;
            }
            // The message is ready again when its lease ends. Dropping the consumer stops the
            // heartbeat, which would extend the lease.
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
