<?php

declare(strict_types=1);

use App\Services;
use App\Telemetry;
use Dueq\Worker;
use Dueq\Worker\Job;
use OpenTelemetry\API\Trace\Span;

require_once __DIR__ . '/telemetry.php';

$telemetry = new Telemetry();
$worker = new Worker(container: $services = new Services());

return $worker->on('traced', function () use ($worker, $services): void {
    $services->journal->push(Span::getCurrent()->getContext()->getTraceId());
    $worker->push('back', queue: 'python');
})->on('failing', function (): void {
    throw new DomainException('no luck');
}, maxAttempts: 1)->on('settling', function (Job $job): void {
    $job->message->bury('not wanted');
})->on('settlements', function () use ($telemetry, $services): void {
    $settled = array_map($telemetry->spans(...), ['ack default', 'retry default']);
    $parents = array_map(fn (object $span) => $span->getParentSpanId(), array_merge(...$settled));
    $worked = array_map(
        fn (object $span) => $span->getSpanId(),
        $telemetry->spans('process default'),
    );
    $services->journal->push(
        json_encode([array_map(count(...), $settled), array_diff($parents, $worked)]),
    );
});
