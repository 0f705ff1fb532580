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
    /** @internal before Symfony 7.3 */
    interface Closeable
    {
    }
}
