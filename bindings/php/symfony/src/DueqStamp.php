<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use DateInterval;
use Dueq\Replace;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/**
 * How a message is pushed:
 *
 *     $bus->dispatch(new SendReceipt(17), [new DueqStamp(id: 'receipt-17', priority: 1)]);
 */
final class DueqStamp implements NonSendableStampInterface
{
    /**
     * @param string|null $id as of Dueq\Queue::push(), and so are the others. While a message in
     *     the queue has it, send() throws a TransportException, whose previous one is a
     *     Dueq\Exception\DuplicateException
     * @param int $priority 1 high, 0 normal, -1 low; retries keep it
     * @param float|DateInterval|null $ttl seconds within which it is delivered for the first time,
     *     or never
     * @param float|DateInterval|null $unique seconds for which the id is refused, also when the
     *     message is done
     * @param Replace|null $replace what it replaces of a message in the queue that has the id
     */
    public function __construct(
        public readonly ?string $id = null,
        public readonly int $priority = 0,
        public readonly float|DateInterval|null $ttl = null,
        public readonly float|DateInterval|null $unique = null,
        public readonly ?Replace $replace = null,
    ) {
    }
}
