<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use DateInterval;
use Dueq\Replace;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/**
 * Sets options of the push of a message:
 *
 *     $bus->dispatch(new SendReceipt(17), [new DueqStamp(id: 'receipt-17', priority: 1)]);
 */
final class DueqStamp implements NonSendableStampInterface
{
    /**
     * The parameters are those of Dueq\Queue::push().
     *
     * @param string|null $id null: dueq makes an id. If a message of the queue has the id already,
     *     send() throws a TransportException whose previous exception is a
     *     Dueq\Exception\DuplicateException
     * @param int $priority 1 high, 0 normal, -1 low; retries keep it
     * @param float|DateInterval|null $ttl seconds within which the message must be delivered for
     *     the first time: after that it is dropped. null: no limit
     * @param float|DateInterval|null $unique seconds for which the id is refused, also when the
     *     message is done; null: only while the message exists
     * @param Replace|null $replace what the push replaces of a message that has the id; null: the
     *     push is refused
     * @param string|null $group the group with which the message takes turns; retries keep it. Not
     *     together with a priority. null: none
     */
    public function __construct(
        public readonly ?string $id = null,
        public readonly int $priority = 0,
        public readonly float|DateInterval|null $ttl = null,
        public readonly float|DateInterval|null $unique = null,
        public readonly ?Replace $replace = null,
        public readonly ?string $group = null,
    ) {
    }
}
