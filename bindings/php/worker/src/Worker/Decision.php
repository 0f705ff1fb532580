<?php

declare(strict_types=1);

namespace Dueq\Worker;

use DateInterval;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Settlement;
use Throwable;

/**
 * How to settle the message of a job, where the consumer's own acknowledgement or retry does not
 * do.
 *
 * @internal
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class Decision
{
    /** Set by settle(): whether the attempts of the message are exhausted. */
    private bool $isExhausted = false;

    /** Set by settle(): how many successors were refused as duplicates. */
    private int $refused = 0;

    /**
     * @param float|DateInterval|null $delay until a retried or released message is due, in seconds;
     *     null: by the message's backoff for a retry, at once for a release
     * @param list<Draft> $successors pushed with an ack
     * @param string|null $to the queue of the successors; null: that of the message
     * @param string|null $result kept with an ack; null: none
     */
    public function __construct(
        private readonly Settlement $verb,
        private readonly float|DateInterval|null $delay = null,
        private readonly string|Throwable $error = '',
        private readonly array $successors = [],
        private readonly ?string $to = null,
        private readonly ?string $result = null,
    ) {
    }

    /**
     * @param string $url of the server, for OpenTelemetry
     * @throws \Dueq\Exception\DueqException
     */
    public function settle(Message $message, string $url): void
    {
        $text = $this->error instanceof Throwable
            ? $this->error::class . ": {$this->error->getMessage()}"
            : $this->error;
        $settle = match ($this->verb) {
            Settlement::Retry => fn () => $this->isExhausted = !$message->retry(
                $this->delay,
                $text,
            ),
            Settlement::Bury => fn () => $message->bury($text),
            Settlement::Release => fn () => $message->release($this->delay),
            Settlement::Ack => fn () => $this->refused = count(array_keys(
                $message->ack($this->successors, $this->to, result: $this->result),
                null,
                true,
            )),
        };
        OpenTelemetry::settle($message, $this->verb, $settle, $url);
    }

    /** Whether the message may stay in its queue. */
    public function leavesMessage(): bool
    {
        return $this->verb !== Settlement::Ack;
    }

    /** The error by which the job has failed for good; null: it has not failed for good. */
    public function finalError(): ?Throwable
    {
        if ($this->verb !== Settlement::Bury && !$this->isExhausted) {
            return null;
        }

        return $this->error instanceof Throwable ? $this->error : new Decided($this->error);
    }

    /** The words that the log puts behind "failed". */
    public function why(): string
    {
        return $this->isExhausted ? ', its attempts are exhausted' : ', and is not retried';
    }

    /**
     * The line of the log for a job that made this decision itself.
     *
     * @return array{string, string} the level and the text
     */
    public function told(float $seconds): array
    {
        $delay = $this->delay instanceof DateInterval ? self::seconds($this->delay) : $this->delay;
        $due = $delay === null ? ', due by its backoff' : ", due in $delay s";
        $error = $this->error instanceof Throwable
            ? $this->error::class . ": {$this->error->getMessage()}"
            : $this->error;
        $error = $error === '' ? '' : ": $error";
        $wish = sprintf("at the job's wish after %.3f s", $seconds);

        return match (true) {
            $this->verb === Settlement::Bury => ['warning', "failed $wish$error"],
            $this->isExhausted => ['warning', "failed $wish, its attempts are exhausted$error"],
            $this->verb === Settlement::Retry => ['info', "retried $wish$due$error"],
            $this->verb === Settlement::Release => ['info', "released $wish$due"],
            $this->successors === [] => ['info', sprintf('done in %.3f s', $seconds)],
            default => ['info', sprintf('done in %.3f s', $seconds)
                . '; successors: ' . count($this->successors)
                . ($this->refused > 0 ? ", of which duplicates: {$this->refused}" : '')],
        };
    }

    private static function seconds(DateInterval $interval): float
    {
        $now = new \DateTimeImmutable();

        return (float) $now->add($interval)->format('U.u') - (float) $now->format('U.u');
    }
}
