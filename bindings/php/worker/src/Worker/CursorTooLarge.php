<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Exception\TooLargeException;

/** A checkpoint, the steps and the progress of a job do not fit into the headers of its message. */
final class CursorTooLarge extends TooLargeException
{
}
