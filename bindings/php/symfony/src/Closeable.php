<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\Messenger\Transport\CloseableTransportInterface;

if (interface_exists(CloseableTransportInterface::class)) {
    /** @internal */
    interface Closeable extends CloseableTransportInterface
    {
    }
} else {
    /** @internal Symfony before 7.3 has no such interface */
    interface Closeable
    {
    }
}
