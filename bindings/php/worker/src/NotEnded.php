<?php

declare(strict_types=1);

namespace Dueq;

use RuntimeException;

/** The job whose result was asked for has not ended. */
final class NotEnded extends RuntimeException
{
}
