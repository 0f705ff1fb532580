<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Exception\DueqException;
use Dueq\Settlement;
use Dueq\Worker;
use Psr\Log\LoggerInterface;

/**
 * A message whose process was killed: another one settles it, so that others need not wait for the end of its lease.
 *
 * @internal
 */
final class UnsettledJob
{
    /** @param string|null $error why it failed; null: it is released, and no attempt is counted */
    public function __construct(
        private readonly string $queue,
        private readonly string $id,
        private readonly string $ticket,
        private readonly ?string $error,
    ) {
    }

    /** Settles it. When its lease has ended before, that counts as a crash, and nothing is left to do. */
    public function settle(Worker $worker, LoggerInterface $logger): void
    {
        try {
            $message = $worker->tasks->queue($this->queue)->find($this->id);
            if ($message?->ticket !== $this->ticket) {
                return;
            }
            $decision = $this->error === null ? new Decision(Settlement::Release, 0.0) : new Decision(Settlement::Retry, null, $this->error);
            $decision->settle($message, $worker->tasks->client()->url());
            if ($decision->finalError() !== null) {
                $worker->tellExhausted($worker->job($message), new TimeLimitExceeded($this->error), $logger);
            }
        } catch (DueqException $error) {
            $logger->warning("the message {$this->id} of a killed process comes back when its lease ends", ['exception' => $error]);
        }
    }
}
