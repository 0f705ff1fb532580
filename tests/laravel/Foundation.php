<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Illuminate\Container\Container;

/** A container that answers what Laravel's commands ask of an application. */
final class Foundation extends Container
{
    public function __construct(private readonly string $environment)
    {
    }

    public function isDownForMaintenance(): bool
    {
        return false;
    }

    public function runningUnitTests(): bool
    {
        return true;
    }

    public function environment(string ...$names): bool|string
    {
        return $names === [] ? $this->environment : in_array($this->environment, $names, true);
    }
}
