<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Thrown into a handler when the timeout of its task is over. The job fails, unless the handler
 * catches this exception.
 */
final class TimeLimitExceeded extends \RuntimeException
{
}
