<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Exception\DueqException;
use Dueq\OpenTelemetry;
use Dueq\Tasks;
use Psr\Log\LoggerInterface;

/**
 * A message whose process was killed: another one settles it, so that others need not wait for the end of its lease.
 *
 * @internal
 */
final class Debt
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
    public function settle(Tasks $tasks, LoggerInterface $logger): void
    {
        try {
            $message = $tasks->queue($this->queue)->find($this->id);
            if ($message?->ticket !== $this->ticket) {
                return;
            }
            [$verb, $settle] = $this->error === null
                ? ['release', fn () => $message->release()]
                : ['retry', fn () => $message->retry(error: $this->error)];
            OpenTelemetry::settle($message, $verb, $settle, $tasks->client()->url());
        } catch (DueqException $error) {
            $logger->warning("the message {$this->id} of a killed process comes back when its lease ends", ['exception' => $error]);
        }
    }
}
