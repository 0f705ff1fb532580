<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Thrown by Job::retry(), fail() and release(): it ends the handler, and the worker does with the message what was asked
 * for. An Error, which handlers that catch every Exception let pass.
 */
final class Decided extends \Error
{
}
