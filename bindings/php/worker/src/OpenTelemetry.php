<?php

declare(strict_types=1);

namespace Dueq;

use Dueq\Worker\Stop;
use OpenTelemetry\API\Globals;
use OpenTelemetry\API\Metrics\CounterInterface;
use OpenTelemetry\API\Metrics\HistogramInterface;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\API\Trace\SpanInterface;
use OpenTelemetry\API\Trace\SpanKind;
use OpenTelemetry\API\Trace\StatusCode;
use OpenTelemetry\Context\Context;
use OpenTelemetry\Context\ContextInterface;
use OpenTelemetry\SDK\Sdk;
use Throwable;
use WeakMap;

/**
 * Traces and metrics by OpenTelemetry, with the names of its conventions for messaging. Tasks and workers have them by
 * themselves where open-telemetry/api is installed; elsewhere nothing of it is loaded. A message carries the context of
 * who pushed it in its headers; the span of its job, in whatever process and language, goes on with that trace.
 *
 * For messages that are no tasks:
 *
 *     OpenTelemetry::send('orders', fn () => $orders->push('pack it', headers: OpenTelemetry::headers()));
 *     $orders->consume()->work(fn ($message) => OpenTelemetry::process($message, fn () => pack($message->body)));
 */
final class OpenTelemetry
{
    private const ERROR = 'error.type';

    private const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

    /** Bytes that all headers of a message may have, with the sizes of each name and value. */
    private const MAX_HEADERS = 65535;

    /** @var WeakMap<object, array<string, CounterInterface|HistogramInterface>>|null by the provider of the meters */
    private static ?WeakMap $instruments = null;

    private function __construct()
    {
    }

    /**
     * Runs a push of one message, with a span around it.
     *
     * @param callable(): string $push pushes, with the headers of headers(), and returns the message's id
     * @param array<string, string> $headers those of the message that it has of itself
     * @return string what $push returns
     * @throws Throwable what $push throws
     */
    public static function send(string $queue, callable $push, array $headers = []): string
    {
        if (!self::isOn()) {
            return $push();
        }
        $about = self::about($queue, 'send');
        $own = Globals::propagator()->extract($headers, null, Context::getRoot());
        $kind = Span::fromContext($own)->getContext()->isValid() ? SpanKind::KIND_CLIENT : SpanKind::KIND_PRODUCER;
        $begun = hrtime(true);
        $span = self::span($about, $kind, Context::getCurrent(), $own);
        $scope = $span->activate();
        $error = null;
        try {
            $id = $push();
            $span->setAttribute('messaging.message.id', $id);

            return $id;
        } catch (Throwable $error) {
            throw $error;
        } finally {
            $scope->detach();
            $about += self::failure($span, $error);
            $span->end();
            self::counter('messaging.client.sent.messages', 'Number of messages producer attempted to send to the broker.')
                ->add(1, $about);
            self::histogram(
                'messaging.client.operation.duration',
                'Duration of messaging operation initiated by a producer or consumer client.',
            )->record((hrtime(true) - $begun) / 1e9, $about);
        }
    }

    /**
     * Runs what is to be done for a message, with a span around it that goes on with the trace of the push.
     *
     * @template T
     * @param callable(): T $work
     * @return T
     * @throws Throwable what $work throws
     */
    public static function process(Message $message, callable $work): mixed
    {
        if (!self::isOn()) {
            return $work();
        }
        $about = self::about($message->queue, 'process');
        $here = Context::getCurrent();
        $isAlone = !Span::fromContext($here)->getContext()->isValid();
        $there = Globals::propagator()->extract($message->headers, null, $isAlone ? $here : Context::getRoot());
        $parent = $isAlone ? $there : $here;
        $begun = hrtime(true);
        $span = self::span($about, SpanKind::KIND_CONSUMER, $parent, $there);
        $span->setAttribute('messaging.message.id', $message->id);
        $span->setAttribute('messaging.dueq.attempt', $message->attempt);
        if (isset($message->headers['task'])) {
            $span->setAttribute('messaging.dueq.task', $message->headers['task']);
        }
        self::counter('messaging.client.consumed.messages', 'Number of messages that were delivered to the application.')
            ->add(1, $about);
        $scope = $span->storeInContext($parent)->activate();
        $error = null;
        try {
            return $work();
        } catch (Throwable $error) {
            throw $error;
        } finally {
            $scope->detach();
            $about += self::failure($span, $error);
            if (isset($about[self::ERROR]) && $message->attempt === $message->maxAttempts) {
                $span->setAttribute('messaging.dueq.dead', true);
            }
            $span->end();
            self::histogram('messaging.process.duration', 'Duration of processing operation.')
                ->record((hrtime(true) - $begun) / 1e9, $about);
        }
    }

    /**
     * Headers with the context of the caller's span, for a message that is pushed in it. They stay as they are where
     * they have one already, where there is none, and where a message has no room for it.
     *
     * @param array<string, string> $headers
     * @return array<string, string>
     */
    public static function headers(array $headers = []): array
    {
        if (!self::isOn()) {
            return $headers;
        }
        $own = Globals::propagator()->extract($headers, null, Context::getRoot());
        if (Span::fromContext($own)->getContext()->isValid()) {
            return $headers;
        }
        $added = [];
        Globals::propagator()->inject($added);
        $all = $added + $headers;
        $size = strlen(implode('', array_keys($all)) . implode('', $all)) + 3 * count($all);

        return $size <= self::MAX_HEADERS ? $all : $headers;
    }

    private static function isOn(): bool
    {
        return class_exists(Globals::class)
            && !(class_exists(Sdk::class) && Sdk::isInstrumentationDisabled('dueq'));
    }

    /** @return array<string, string> what spans and metrics say of an operation */
    private static function about(string $queue, string $operation): array
    {
        // No other queue's name ends in # and a number.
        $isPartition = preg_match('/^(.+)#(\d+)$/D', $queue, $found) === 1;

        return [
            'messaging.system' => 'dueq',
            'messaging.destination.name' => $isPartition ? $found[1] : $queue,
            'messaging.operation.type' => $operation,
            'messaging.operation.name' => $operation,
        ] + ($isPartition ? ['messaging.destination.partition.id' => $found[2]] : []);
    }

    /**
     * @param array<string, string> $about
     * @param ContextInterface $made in which the message was made, if it has a span
     */
    private static function span(array $about, int $kind, ContextInterface $parent, ContextInterface $made): SpanInterface
    {
        $builder = Globals::tracerProvider()->getTracer('dueq', phpversion('dueq') ?: null)
            ->spanBuilder("{$about['messaging.operation.name']} {$about['messaging.destination.name']}")
            ->setParent($parent)
            ->setSpanKind($kind)
            ->setAttributes($about);
        $context = Span::fromContext($made)->getContext();

        return ($context->isValid() ? $builder->addLink($context) : $builder)->startSpan();
    }

    /** @return array<string, string> what metrics say of it */
    private static function failure(SpanInterface $span, ?Throwable $error): array
    {
        if ($error === null || $error instanceof Stop) {
            return [];
        }
        $span->recordException($error);
        $span->setStatus(StatusCode::STATUS_ERROR, $error->getMessage());
        $span->setAttribute(self::ERROR, $error::class);

        return [self::ERROR => $error::class];
    }

    private static function counter(string $name, string $description): CounterInterface
    {
        return self::instruments()[$name] ??= Globals::meterProvider()->getMeter('dueq')
            ->createCounter($name, '{message}', $description);
    }

    private static function histogram(string $name, string $description): HistogramInterface
    {
        return self::instruments()[$name] ??= Globals::meterProvider()->getMeter('dueq')
            ->createHistogram($name, 's', $description, ['ExplicitBucketBoundaries' => self::SECONDS]);
    }

    /** @return array<string, CounterInterface|HistogramInterface> kept, for what counts in them lives as long as they do */
    private static function &instruments(): array
    {
        self::$instruments ??= new WeakMap();
        $provider = Globals::meterProvider();
        self::$instruments[$provider] ??= [];

        return self::$instruments[$provider];
    }
}
