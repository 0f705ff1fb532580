<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** Carries the message of dueq from which the envelope was made. */
final class DueqReceivedStamp implements NonSendableStampInterface
{
    /** @internal the transport makes stamps */
    public function __construct(public readonly Delivery $delivery)
    {
    }
}
