<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** The message of dueq that an envelope was made of. */
final class DueqReceivedStamp implements NonSendableStampInterface
{
    /** @internal the transport makes it */
    public function __construct(public readonly Delivery $delivery)
    {
    }
}
