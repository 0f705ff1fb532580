<?php

declare(strict_types=1);

namespace App;

use OpenTelemetry\API\Instrumentation\Configurator;
use OpenTelemetry\API\Trace\Propagation\TraceContextPropagator;
use OpenTelemetry\SDK\Metrics\MeterProvider;
use OpenTelemetry\SDK\Metrics\MetricExporter\InMemoryExporter as MetricExporter;
use OpenTelemetry\SDK\Metrics\MetricReader\ExportingReader;
use OpenTelemetry\SDK\Trace\SpanExporter\InMemoryExporter as SpanExporter;
use OpenTelemetry\SDK\Trace\SpanProcessor\SimpleSpanProcessor;
use OpenTelemetry\SDK\Trace\TracerProvider;
use PHPUnit\Framework\Assert;

require_once getenv('DUEQ_TEST_OPENTELEMETRY') ?: __DIR__ . '/opentelemetry.php';

/** What this process exports, until end(). */
final class Telemetry
{
    private readonly SpanExporter $spans;

    private readonly MetricExporter $metrics;

    private readonly ExportingReader $reader;

    private readonly object $scope;

    public function __construct()
    {
        $this->spans = new SpanExporter();
        $this->metrics = new MetricExporter();
        $this->reader = new ExportingReader($this->metrics);
        $this->scope = Configurator::create()
            ->withTracerProvider(new TracerProvider(new SimpleSpanProcessor($this->spans)))
            ->withMeterProvider(MeterProvider::builder()->addReader($this->reader)->build())
            ->withPropagator(TraceContextPropagator::getInstance())
            ->activate();
    }

    public function end(): void
    {
        $this->scope->detach();
    }

    /** @return list<object> spans of this name */
    public function spans(string $name): array
    {
        return array_values(
            array_filter($this->spans->getSpans(), fn (object $span) => $span->getName() === $name),
        );
    }

    public function span(string $name): object
    {
        $spans = $this->spans($name);
        Assert::assertCount(1, $spans, $name);

        return $spans[0];
    }

    /** The id of the one span that it links to. */
    public static function linked(object $span): string
    {
        Assert::assertCount(1, $span->getLinks());

        return $span->getLinks()[0]->getSpanContext()->getSpanId();
    }

    /** @return array<string, int> the metric's counts by operation and, if it failed, error */
    public function counts(string $name): array
    {
        $this->reader->collect();
        $counts = [];
        foreach ($this->metrics->collect() as $metric) {
            foreach ($metric->name === $name ? $metric->data->dataPoints : [] as $point) {
                $about = $point->attributes->toArray();
                $key = trim("{$about['messaging.operation.name']} " . ($about['error.type'] ?? ''));
                $counts[$key] = ($counts[$key] ?? 0) + ($point->count ?? $point->value);
            }
        }

        return $counts;
    }
}
