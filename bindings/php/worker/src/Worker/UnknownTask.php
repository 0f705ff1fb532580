<?php

declare(strict_types=1);

namespace Dueq\Worker;

/** This worker has nothing that could run the message: it is retried, as another worker, or a later version, may have. */
final class UnknownTask extends \RuntimeException
{
}
