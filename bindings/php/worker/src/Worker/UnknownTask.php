<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Thrown for a message for which this worker has no handler or no serializer. The message is
 * retried, as another worker or a later version of this worker may have them.
 */
final class UnknownTask extends \RuntimeException
{
}
