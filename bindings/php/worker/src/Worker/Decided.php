<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Ends a handler: Job::retry(), fail() and release() throw it, and the worker then settles the
 * message as asked. It is an Error, so that handlers which catch every Exception let it pass.
 */
final class Decided extends \Error
{
}
