<?php

declare(strict_types=1);

/*
 * The part of OpenTelemetry's API and SDK that dueq and its tests call, with the same names: Debian
 * has no package of OpenTelemetry. With DUEQ_TEST_OPENTELEMETRY=vendor/autoload.php the tests use
 * OpenTelemetry's own.
 */

namespace {
    require_once __DIR__ . '/opentelemetry_sdk.php';
}

namespace OpenTelemetry\Context {
    interface ContextInterface
    {
    }

    final class Context implements ContextInterface
    {
        private static ?self $current = null;

        public function __construct(public readonly array $values = [])
        {
        }

        public static function getRoot(): self
        {
            return new self();
        }

        public static function getCurrent(): self
        {
            return self::$current ??= self::getRoot();
        }

        /** @internal OpenTelemetry's own class has no such method */
        public function and(string $key, object $value): self
        {
            return new self([$key => $value] + $this->values);
        }

        public function activate(): object
        {
            [$before, self::$current] = [self::getCurrent(), $this];
            $back = function () use ($before): int {
                self::$current = $before;

                return 0;
            };

            return new class($back) {
                public function __construct(private readonly \Closure $back)
                {
                }

                public function detach(): int
                {
                    return ($this->back)();
                }
            };
        }
    }
}

namespace OpenTelemetry\API {
    use OpenTelemetry\API\Instrumentation\Configurator;
    use OpenTelemetry\Context\Context;

    final class Globals
    {
        private static ?Configurator $none = null;

        public static function tracerProvider(): object
        {
            return self::configurator()->tracers;
        }

        public static function meterProvider(): object
        {
            return self::configurator()->meters;
        }

        public static function propagator(): object
        {
            return self::configurator()->propagator;
        }

        private static function configurator(): Configurator
        {
            return Context::getCurrent()->values['configurator']
                ?? self::$none ??= Configurator::create();
        }
    }
}

namespace OpenTelemetry\API\Instrumentation {
    use OpenTelemetry\API\Trace\Propagation\TraceContextPropagator;
    use OpenTelemetry\Context\Context;
    use OpenTelemetry\SDK\Metrics\MeterProvider;
    use OpenTelemetry\SDK\Trace\TracerProvider;

    final class Configurator
    {
        public object $tracers;
        public object $meters;
        public object $propagator;

        public static function create(): self
        {
            $made = new self();
            [$made->tracers, $made->meters] = [new TracerProvider(), new MeterProvider()];
            $made->propagator = new TraceContextPropagator();

            return $made;
        }

        public function withTracerProvider(TracerProvider $provider): self
        {
            $this->tracers = $provider;

            return $this;
        }

        public function withMeterProvider(MeterProvider $provider): self
        {
            $this->meters = $provider;

            return $this;
        }

        public function withPropagator(TraceContextPropagator $propagator): self
        {
            return $this;
        }

        public function activate(): object
        {
            return Context::getCurrent()->and('configurator', $this)->activate();
        }
    }
}

namespace OpenTelemetry\API\Trace {
    use OpenTelemetry\Context\Context;
    use Throwable;

    final class SpanKind
    {
        public const KIND_CLIENT = 1;
        public const KIND_PRODUCER = 3;
        public const KIND_CONSUMER = 4;
    }

    final class StatusCode
    {
        public const STATUS_UNSET = 'Unset';
        public const STATUS_ERROR = 'Error';
    }

    interface SpanInterface
    {
    }

    final class SpanContext
    {
        public function __construct(
            public readonly string $traceId = '',
            public readonly string $spanId = '',
        ) {
        }

        public function isValid(): bool
        {
            return $this->traceId !== '';
        }

        public function getTraceId(): string
        {
            return $this->traceId;
        }

        public function getSpanId(): string
        {
            return $this->spanId;
        }
    }

    /** A span, its builder, and what is exported of it. */
    final class Span implements SpanInterface
    {
        private SpanContext $parent;
        private int $kind = 0;
        private array $attributes = [];
        private array $links = [];
        private array $events = [];
        private string $status = StatusCode::STATUS_UNSET;

        public function __construct(
            private readonly string $name,
            private SpanContext $context,
            private readonly ?object $exporter = null,
        ) {
        }

        public static function fromContext(Context $context): self
        {
            return $context->values['span'] ?? new self('', new SpanContext());
        }

        public static function getCurrent(): self
        {
            return self::fromContext(Context::getCurrent());
        }

        public function setParent(Context $context): self
        {
            $this->parent = self::fromContext($context)->context;

            return $this;
        }

        public function setSpanKind(int $kind): self
        {
            $this->kind = $kind;

            return $this;
        }

        public function setAttributes(array $attributes): self
        {
            $this->attributes = $attributes + $this->attributes;

            return $this;
        }

        public function setAttribute(string $key, mixed $value): self
        {
            return $this->setAttributes([$key => $value]);
        }

        public function addLink(SpanContext $context): self
        {
            $this->links[] = self::holder(['getSpanContext' => $context]);

            return $this;
        }

        public function startSpan(): self
        {
            if ($this->exporter !== null) {
                $trace = $this->parent->isValid()
                    ? $this->parent->traceId
                    : bin2hex(random_bytes(16));
                $this->context = new SpanContext($trace, bin2hex(random_bytes(8)));
            }

            return $this;
        }

        public function storeInContext(Context $context): Context
        {
            return $context->and('span', $this);
        }

        public function activate(): object
        {
            return $this->storeInContext(Context::getCurrent())->activate();
        }

        public function recordException(Throwable $exception): self
        {
            $this->events[] = self::holder(['getName' => 'exception']);

            return $this;
        }

        public function setStatus(string $code, ?string $description = null): self
        {
            $this->status = $code;

            return $this;
        }

        public function end(): void
        {
            $this->exporter?->export($this);
        }

        public function getContext(): SpanContext
        {
            return $this->context;
        }

        public function getName(): string
        {
            return $this->name;
        }

        public function getKind(): int
        {
            return $this->kind;
        }

        public function getTraceId(): string
        {
            return $this->context->traceId;
        }

        public function getSpanId(): string
        {
            return $this->context->spanId;
        }

        public function getParentSpanId(): string
        {
            return $this->parent->spanId;
        }

        public function getLinks(): array
        {
            return $this->links;
        }

        public function getEvents(): array
        {
            return $this->events;
        }

        public function getAttributes(): object
        {
            return self::holder(['toArray' => $this->attributes]);
        }

        public function getStatus(): object
        {
            return self::holder(['getCode' => $this->status]);
        }

        /** An object with methods that return these values. */
        public static function holder(array $values): object
        {
            return new class($values) {
                public function __construct(private readonly array $values)
                {
                }

                public function __call(string $name, array $arguments): mixed
                {
                    return $this->values[$name];
                }
            };
        }
    }
}

namespace OpenTelemetry\API\Trace\Propagation {
    use OpenTelemetry\API\Trace\Span;
    use OpenTelemetry\API\Trace\SpanContext;
    use OpenTelemetry\Context\Context;

    final class TraceContextPropagator
    {
        public static function getInstance(): self
        {
            return new self();
        }

        public function fields(): array
        {
            return ['traceparent', 'tracestate'];
        }

        public function inject(array &$carrier): void
        {
            $context = Span::getCurrent()->getContext();
            if ($context->isValid()) {
                $carrier['traceparent'] = "00-{$context->traceId}-{$context->spanId}-01";
            }
        }

        public function extract(array $carrier, ?object $getter, Context $context): Context
        {
            $parent = $carrier['traceparent'] ?? '';
            if (!preg_match('/^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/D', $parent, $found)) {
                return $context;
            }

            return (new Span('', new SpanContext($found[1], $found[2])))->storeInContext($context);
        }
    }
}

namespace OpenTelemetry\API\Metrics {
    interface CounterInterface
    {
    }

    interface HistogramInterface
    {
    }

    /** A counter or a histogram, with its points. */
    final class Instrument implements CounterInterface, HistogramInterface
    {
        public array $points = [];

        public function add(int $amount, array $attributes): void
        {
            $this->points[] = [$attributes, $amount];
        }

        public function record(float $seconds, array $attributes): void
        {
            $this->points[] = [$attributes, 1];
        }
    }
}
