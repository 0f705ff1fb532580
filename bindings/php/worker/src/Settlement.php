<?php

declare(strict_types=1);

namespace Dueq;

/** How the delivery of a message ends. */
enum Settlement: string
{
    case Ack = 'ack';

    case Retry = 'retry';

    case Release = 'release';

    case Bury = 'bury';
}
