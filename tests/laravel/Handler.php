<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Illuminate\Contracts\Debug\ExceptionHandler;
use Throwable;

/** Keeps what the application reports. */
final class Handler implements ExceptionHandler
{
    /** @var list<Throwable> */
    public array $reported = [];

    public function report(Throwable $e): void
    {
        $this->reported[] = $e;
    }

    public function shouldReport(Throwable $e): bool
    {
        return true;
    }

    public function render($request, Throwable $e): never
    {
        throw $e;
    }

    public function renderForConsole($output, Throwable $e): void
    {
        $this->report($e);
    }
}
