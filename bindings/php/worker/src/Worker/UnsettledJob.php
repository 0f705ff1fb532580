<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Exception\DueqException;
use Dueq\Settlement;
use Dueq\Worker;
use Psr\Log\LoggerInterface;

/**
 * The message of a job whose process was killed. Another process settles it, so that no consumer
 * has to wait for the end of its lease.
 *
 * @internal
 */
final class UnsettledJob
{
    /**
     * @param string|null $error why the job failed; null: the message is released, and no attempt
     * counts
     */
    public function __construct(
        private readonly string $queue,
        private readonly string $id,
        private readonly string $ticket,
        private readonly ?string $error,
    ) {
    }

    /** Settles the message. Does nothing if its lease has ended by now: that counts as a crash. */
    public function settle(Worker $worker, LoggerInterface $logger): void
    {
        try {
            $message = $worker->tasks->queue($this->queue)->find($this->id);
            if ($message?->ticket !== $this->ticket) {
                return;
            }
            $decision = $this->error === null
                ? new Decision(Settlement::Release, 0.0)
                : new Decision(Settlement::Retry, null, $this->error);
            $decision->settle($message, $worker->tasks->client()->url());
            if ($decision->finalError() !== null) {
                $worker->tellExhausted(
                    $worker->job($message),
                    new TimeLimitExceeded($this->error),
                    $logger,
                );
            }
        } catch (DueqException $error) {
            $logger->warning(
                "the message {$this->id} of a killed process comes back when its lease ends",
                ['exception' => $error],
            );
        }
    }
}
