<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * The worker ends, and so does the job: its message is released and counts no attempt. An Error, which handlers that
 * catch every Exception let pass.
 */
final class Stop extends \Error
{
}
