<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface;

if (interface_exists(KeepaliveReceiverInterface::class)) {
    /** @internal */
    interface Keepalive extends KeepaliveReceiverInterface
    {
    }
} else {
    /** @internal Symfony before 7.2 has no such interface */
    interface Keepalive
    {
    }
}
