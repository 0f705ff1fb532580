<?php

declare(strict_types=1);

namespace Dueq\Worker;

use DateInterval;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Settlement;
use Throwable;

/**
 * What is to be done with the message of a job, in place of an ack without successors.
 *
 * @internal
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class Decision
{
    /** Whether the attempts are exhausted, once it is settled. */
    private bool $isExhausted = false;

    /** How many of the successors were refused as duplicates, once it is settled. */
    private int $refused = 0;

    /**
     * @param float|DateInterval|null $delay null, of retry: by the message's backoff
     * @param list<Draft> $successors of ack
     * @param string|null $to their queue; null: that of the message
     */
    public function __construct(
        private readonly Settlement $verb,
        private readonly float|DateInterval|null $delay = null,
        private readonly string|Throwable $error = '',
        private readonly array $successors = [],
        private readonly ?string $to = null,
    ) {
    }

    /**
     * @param string $url of the server
     * @throws \Dueq\Exception\DueqException
     */
    public function settle(Message $message, string $url): void
    {
        $text = $this->error instanceof Throwable ? $this->error::class . ": {$this->error->getMessage()}" : $this->error;
        $settle = match ($this->verb) {
            Settlement::Retry => fn () => $this->isExhausted = !$message->retry($this->delay, $text),
            Settlement::Bury => fn () => $message->bury($text),
            Settlement::Release => fn () => $message->release($this->delay),
            Settlement::Ack => fn () => $this->refused = count(array_keys($message->ack($this->successors, $this->to), null, true)),
        };
        OpenTelemetry::settle($message, $this->verb, $settle, $url);
    }

    /** What the job has failed by for good; null: it has not. */
    public function finalError(): ?Throwable
    {
        if ($this->verb !== Settlement::Bury && !$this->isExhausted) {
            return null;
        }

        return $this->error instanceof Throwable ? $this->error : new Decided($this->error);
    }

    /** Why the job is not tried again, or '', as the log says it behind "failed". */
    public function why(): string
    {
        return $this->isExhausted ? ', its attempts are exhausted' : ', and is not retried';
    }

    /**
     * What the log says of a job that wished it.
     *
     * @return array{string, string} the level and the text
     */
    public function told(float $seconds): array
    {
        $delay = $this->delay instanceof DateInterval ? self::seconds($this->delay) : $this->delay;
        $due = $delay === null ? ', due by its backoff' : ", due in $delay s";
        $error = $this->error instanceof Throwable ? $this->error::class . ": {$this->error->getMessage()}" : $this->error;
        $error = $error === '' ? '' : ": $error";
        $wish = sprintf("at the job's wish after %.3f s", $seconds);

        return match (true) {
            $this->verb === Settlement::Bury => ['warning', "failed $wish$error"],
            $this->isExhausted => ['warning', "failed $wish, its attempts are exhausted$error"],
            $this->verb === Settlement::Retry => ['info', "retried $wish$due$error"],
            $this->verb === Settlement::Release => ['info', "released $wish$due"],
            default => ['info', sprintf('done in %.3f s; successors: %d', $seconds, count($this->successors))
                . ($this->refused > 0 ? ", of which duplicates: {$this->refused}" : '')],
        };
    }

    private static function seconds(DateInterval $interval): float
    {
        $now = new \DateTimeImmutable();

        return (float) $now->add($interval)->format('U.u') - (float) $now->format('U.u');
    }
}
