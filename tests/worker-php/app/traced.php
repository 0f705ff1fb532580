<?php

declare(strict_types=1);

use App\Services;
use App\Telemetry;
use Dueq\Worker;
use OpenTelemetry\API\Trace\Span;

require_once __DIR__ . '/telemetry.php';

$telemetry = new Telemetry();
$worker = new Worker(container: $services = new Services());

return $worker->on('traced', function () use ($worker, $services): void {
    $services->journal->push(Span::getCurrent()->getContext()->getTraceId());
    $worker->push('back', queue: 'python');
});
