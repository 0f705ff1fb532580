<?php

declare(strict_types=1);

namespace Dueq;

use Dueq\Exception\DuplicateException;
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
 *     OpenTelemetry::send($orders, fn () => $orders->push('pack it', headers: OpenTelemetry::headers()));
 *     $orders->consume()->work(fn ($message) => OpenTelemetry::process($message, fn () => pack($message->body)));
 */
final class OpenTelemetry
{
    private const ERROR = 'error.type';

    private const PORT = 6379;

    private const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

    /** Bytes that all headers of a message may have, with the sizes of each name and value. */
    private const MAX_HEADERS = 65535;

    /** @var WeakMap<object, array<string, CounterInterface|HistogramInterface>>|null by the provider of the meters */
    private static ?WeakMap $instruments = null;

    /** @var WeakMap<Message, ContextInterface>|null those of the spans of process() */
    private static ?WeakMap $contexts = null;

    private function __construct()
    {
    }

    /**
     * Runs a push, with a span around it.
     *
     * @template T of string|list<string|null>
     * @param Queue|string $queue to which, or its name
     * @param callable(): T $push pushes, with the headers of headers(), and returns what Queue::push() or pushMany() does
     * @param array<string, string> $headers those of the message that it has of itself
     * @param int $count how many messages it pushes
     * @return T what $push returns
     * @throws Throwable what $push throws
     */
    public static function send(Queue|string $queue, callable $push, array $headers = [], int $count = 1): string|array
    {
        if (!self::isOn()) {
            return $push();
        }
        [$name, $url] = is_string($queue) ? [$queue, null] : [$queue->name, $queue->url()];
        $about = self::about($name, 'send', 'send', $url);
        $own = Globals::propagator()->extract($headers, null, Context::getRoot());
        $kind = Span::fromContext($own)->getContext()->isValid() ? SpanKind::KIND_CLIENT : SpanKind::KIND_PRODUCER;
        $span = self::span($about, $kind, Context::getCurrent(), $own);
        if ($count > 1) {
            $span->setAttribute('messaging.batch.message_count', $count);
        }
        /**
         * @param array<string, string> $failure
         * @param string|list<string|null>|null $ids
         */
        $sent = function (array $failure, string|array|null $ids) use ($span, $about, $count): void {
            if (is_string($ids)) {
                $span->setAttribute('messaging.message.id', $ids);
            }
            $refused = is_array($ids) ? count(array_keys($ids, null, true)) : 0;
            $counter = self::counter('messaging.client.sent.messages', 'Number of messages producer attempted to send to the broker.');
            foreach ([[$count - $refused, $failure], [$refused, [self::ERROR => DuplicateException::class]]] as [$number, $error]) {
                if ($number > 0) {
                    $counter->add($number, $about + $error);
                }
            }
        };

        return self::within($span, Context::getCurrent(), $about, self::operationSeconds(), $push, $sent);
    }

    /**
     * Runs what is to be done for a message, with a span around it that goes on with the trace of the push.
     *
     * @template T
     * @param callable(): T $work
     * @param string|null $url of its server, as Client::url() has it; null: the span does not tell
     * @return T
     * @throws Throwable what $work throws
     */
    public static function process(Message $message, callable $work, ?string $url = null): mixed
    {
        if (!self::isOn()) {
            return $work();
        }
        $about = self::about($message->queue, 'process', 'process', $url);
        $here = Context::getCurrent();
        $isAlone = !self::isInSpan($here);
        $there = Globals::propagator()->extract($message->headers, null, $isAlone ? $here : Context::getRoot());
        $parent = $isAlone ? $there : $here;
        $span = self::span($about, SpanKind::KIND_CONSUMER, $parent, $there);
        $span->setAttribute('messaging.message.id', $message->id);
        $span->setAttribute('messaging.dueq.attempt', $message->attempt);
        if (isset($message->headers['task'])) {
            $span->setAttribute('messaging.dueq.task', $message->headers['task']);
        }
        self::counter('messaging.client.consumed.messages', 'Number of messages that were delivered to the application.')
            ->add(1, $about);
        self::$contexts ??= new WeakMap();
        self::$contexts[$message] = $span->storeInContext($parent);
        /** @param array<string, string> $failure */
        $done = function (array $failure) use ($span, $message): void {
            if ($failure !== [] && $message->attempt === $message->maxAttempts) {
                $span->setAttribute('messaging.dueq.dead', true);
            }
        };
        $seconds = self::histogram('messaging.process.duration', 'Duration of processing operation.');

        return self::within($span, $parent, $about, $seconds, $work, $done);
    }

    /**
     * Runs what settles a message, with a span around it. After process() it belongs to that one's span.
     *
     * @template T
     * @param callable(): T $settle
     * @param string|null $url as of process()
     * @return T
     * @throws Throwable what $settle throws
     */
    public static function settle(Message $message, Settlement $how, callable $settle, ?string $url = null): mixed
    {
        if (!self::isOn()) {
            return $settle();
        }
        $about = self::about($message->queue, $how->value, 'settle', $url);
        $parent = self::settlesIn($message);

        return self::within(self::settling($message, $about, $parent), $parent, $about, self::operationSeconds(), $settle);
    }

    /**
     * @internal Tells that a message is settled with its consumer's next request, unless it is already. The span has no
     *     duration: the outcome comes later.
     * @param string $url as of settle()
     */
    public static function settled(Message $message, Settlement $how, string $url): void
    {
        if (self::isOn() && !$message->isSettled()) {
            $about = self::about($message->queue, $how->value, 'settle', $url);
            self::settling($message, $about, self::settlesIn($message))->end();
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

    /**
     * The headers of a message that say in which context it was made, for another that takes its place.
     *
     * @return array<string, string>
     */
    public static function contextOf(Message $message): array
    {
        return self::isOn() ? array_intersect_key($message->headers, array_flip(Globals::propagator()->fields())) : [];
    }

    private static function isOn(): bool
    {
        return class_exists(Globals::class)
            && !(class_exists(Sdk::class) && Sdk::isInstrumentationDisabled('dueq'));
    }

    /** Where the span of a settlement belongs: to what runs, else to the work on the message, which is over. */
    private static function settlesIn(Message $message): ContextInterface
    {
        $here = Context::getCurrent();

        return self::isInSpan($here) ? $here : self::$contexts[$message] ?? $here;
    }

    /** @param array<string, string|int> $about */
    private static function settling(Message $message, array $about, ContextInterface $parent): SpanInterface
    {
        $made = Globals::propagator()->extract($message->headers, null, Context::getRoot());
        $span = self::span($about, SpanKind::KIND_CLIENT, $parent, $made);

        return $span->setAttribute('messaging.message.id', $message->id);
    }

    private static function isInSpan(ContextInterface $here): bool
    {
        return Span::fromContext($here)->getContext()->isValid();
    }

    /** @return array<string, string|int> what spans and metrics say of an operation */
    private static function about(string $queue, string $name, string $type, ?string $url): array
    {
        // No other queue's name ends in # and a number.
        $isPartition = preg_match('/^(.+)#(\d+)$/D', $queue, $found) === 1;

        return [
            'messaging.system' => 'dueq',
            'messaging.destination.name' => $isPartition ? $found[1] : $queue,
            'messaging.operation.type' => $type,
            'messaging.operation.name' => $name,
        ] + ($isPartition ? ['messaging.destination.partition.id' => $found[2]] : []) + self::server((string) $url);
    }

    /** @return array<string, string|int> the server that a URL names, if it is one */
    private static function server(string $url): array
    {
        if (preg_match('~^unix://(?:[^/?]*@)?(/[^?]+)~', $url, $found) === 1) {
            return ['server.address' => rawurldecode($found[1])];
        }
        if (preg_match('~^rediss?://(?:[^/?]*@)?(\[[^]]+]|[^:/?]+)(?::(\d+))?~', $url, $found) === 1) {
            return ['server.address' => trim($found[1], '[]'), 'server.port' => (int) ($found[2] ?? self::PORT)];
        }

        return [];
    }

    /**
     * Runs something inside of a span, which ends with it.
     *
     * @template T
     * @param array<string, string|int> $about
     * @param callable(): T $work
     * @param (callable(array<string, string>, T|null): void)|null $tell what is left to tell, with how it failed, if it
     *     did, and what it returned
     * @return T
     * @throws Throwable what $work throws
     */
    private static function within(
        SpanInterface $span,
        ContextInterface $parent,
        array $about,
        HistogramInterface $seconds,
        callable $work,
        ?callable $tell = null,
    ): mixed {
        $begun = hrtime(true);
        $scope = $span->storeInContext($parent)->activate();
        [$result, $error] = [null, null];
        try {
            return $result = $work();
        } catch (Throwable $error) {
            throw $error;
        } finally {
            $scope->detach();
            $failure = self::failure($span, $error);
            $tell !== null && $tell($failure, $result);
            $span->end();
            $seconds->record((hrtime(true) - $begun) / 1e9, $about + $failure);
        }
    }

    /**
     * @param array<string, string|int> $about
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

    private static function operationSeconds(): HistogramInterface
    {
        return self::histogram(
            'messaging.client.operation.duration',
            'Duration of messaging operation initiated by a producer or consumer client.',
        );
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
