<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Ends a job because the worker stops: the worker releases the message, and counts no attempt. It
 * is an Error, so that handlers which catch every Exception let it pass.
 */
final class Stop extends \Error
{
}
