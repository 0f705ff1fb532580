<?php

declare(strict_types=1);

namespace Dueq;

/** An argument of a chain's task that is not known when the chain is made: Chain has the names. */
enum Gap
{
    case Previous;

    case Failure;
}
