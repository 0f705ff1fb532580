<?php

declare(strict_types=1);

/* What opentelemetry.php says, of the SDK. */

namespace OpenTelemetry\SDK\Trace {
    use OpenTelemetry\API\Trace\Span;
    use OpenTelemetry\API\Trace\SpanContext;

    final class TracerProvider
    {
        public function __construct(
            private readonly ?SpanProcessor\SimpleSpanProcessor $processor = null,
        ) {
        }

        public function getTracer(string $name, ?string $version = null): self
        {
            return $this;
        }

        public function spanBuilder(string $name): Span
        {
            return new Span($name, new SpanContext(), $this->processor?->exporter);
        }
    }
}

namespace OpenTelemetry\SDK\Trace\SpanProcessor {
    final class SimpleSpanProcessor
    {
        public function __construct(public readonly object $exporter)
        {
        }
    }
}

namespace OpenTelemetry\SDK\Trace\SpanExporter {
    final class InMemoryExporter
    {
        private array $spans = [];

        public function export(object $span): void
        {
            $this->spans[] = $span;
        }

        public function getSpans(): array
        {
            return $this->spans;
        }
    }
}

namespace OpenTelemetry\SDK\Metrics {
    use OpenTelemetry\API\Metrics\Instrument;
    use OpenTelemetry\API\Trace\Span;

    final class MeterProvider
    {
        /** @var array<string, Instrument> */
        public array $instruments = [];

        public static function builder(): self
        {
            return new self();
        }

        public function addReader(MetricReader\ExportingReader $reader): self
        {
            $reader->meters = $this;

            return $this;
        }

        public function build(): self
        {
            return $this;
        }

        public function getMeter(string $name): self
        {
            return $this;
        }

        public function createCounter(string $name, string $unit, string $description): Instrument
        {
            return $this->instruments[$name] ??= new Instrument();
        }

        public function createHistogram(
            string $name,
            string $unit,
            string $description,
            array $advisory,
        ): Instrument {
            return $this->createCounter($name, $unit, $description);
        }

        public function metrics(): array
        {
            $metrics = [];
            foreach ($this->instruments as $name => $instrument) {
                $points = array_map(fn (array $point) => (object) [
                    'attributes' => Span::holder(['toArray' => $point[0]]),
                    'value' => $point[1],
                ], $instrument->points);
                $metrics[] = (object) [
                    'name' => $name,
                    'data' => (object) ['dataPoints' => $points],
                ];
            }

            return $metrics;
        }
    }
}

namespace OpenTelemetry\SDK\Metrics\MetricReader {
    use OpenTelemetry\SDK\Metrics\MeterProvider;

    final class ExportingReader
    {
        public MeterProvider $meters;

        public function __construct(private readonly object $exporter)
        {
        }

        public function collect(): bool
        {
            $this->exporter->metrics = $this->meters->metrics();

            return true;
        }
    }
}

namespace OpenTelemetry\SDK\Metrics\MetricExporter {
    final class InMemoryExporter
    {
        public array $metrics = [];

        public function collect(): array
        {
            return $this->metrics;
        }
    }
}
