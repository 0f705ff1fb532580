<?php

declare(strict_types=1);

namespace Dueq;

/** How a consumer settles a message. */
enum Settlement: string
{
    case Ack = 'ack';

    case Retry = 'retry';

    case Release = 'release';

    case Bury = 'bury';
}
