<?php

declare(strict_types=1);

namespace Dueq\Worker;

/** The timeout of the task is over. Unless the handler catches it, the job has failed. */
final class TimeLimitExceeded extends \RuntimeException
{
}
