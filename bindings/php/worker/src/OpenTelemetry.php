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
 * Traces and metrics by OpenTelemetry, with the names of its semantic conventions for messaging.
 * Tasks and workers use this class by themselves when open-telemetry/api is installed. Without that
 * package every method only runs the callable that it gets. Headers of a message carry the context
 * of the push. The span of the job, in any process and language, continues that trace.
 *
 * For messages that are not tasks:
 *
 *     OpenTelemetry::send(
 *         $orders,
 *         fn () => $orders->push('pack it', headers: OpenTelemetry::headers()),
 *     );
 *     $orders->consume()->work(
 *         fn ($message) => OpenTelemetry::process($message, fn () => pack($message->body)),
 *     );
 */
final class OpenTelemetry
{
    private const ERROR = 'error.type';

    private const PORT = 6379;

    private const SECONDS = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ];

    /**
     * The limit of dueq for all headers of a message together, in bytes: names, values and the
     * bytes that store their sizes.
     */
    private const MAX_HEADERS = 65535;

    /**
     * @var WeakMap<object, array<string, CounterInterface|HistogramInterface>>|null instruments by
     *     their name, for each meter provider
     */
    private static ?WeakMap $instruments = null;

    /**
     * @var WeakMap<Message, ContextInterface>|null the context of the span that process() began for
     *     the message
     */
    private static ?WeakMap $contexts = null;

    private function __construct()
    {
    }

    /**
     * Runs a push within a span.
     *
     * @template T of string|list<string|null>
     * @param Queue|string $queue the queue of the push, or its name. A name alone leaves the server
     *     out of the span
     * @param callable(): T $push pushes with the headers of headers(), and returns what
     *     Queue::push() or pushMany() returns
     * @param array<string, string> $headers headers that the caller gives the message: if they
     *     carry a context, the span links to it
     * @param int $count how many messages $push pushes
     * @return T what $push returns
     * @throws Throwable what $push throws
     */
    public static function send(
        Queue|string $queue,
        callable $push,
        array $headers = [],
        int $count = 1,
    ): string|array {
        if (!self::isOn()) {
            return $push();
        }
        [$name, $url] = is_string($queue) ? [$queue, null] : [$queue->name, $queue->url()];
        $about = self::about($name, 'send', 'send', $url);
        $own = Globals::propagator()->extract($headers, null, Context::getRoot());
        $kind = Span::fromContext($own)->getContext()->isValid()
            ? SpanKind::KIND_CLIENT
            : SpanKind::KIND_PRODUCER;
        $span = self::span($about, $kind, Context::getCurrent(), $own);
        if ($count > 1) {
            $span->setAttribute('messaging.batch.message_count', $count);
        }
        /**
         * @param array<string, string> $failure
         * @param string|list<string|null>|null $ids
         */
        $sent = function (
            array $failure,
            string|array|null $ids,
        ) use ($span, $about, $count): void {
            if (is_string($ids)) {
                $span->setAttribute('messaging.message.id', $ids);
            }
            $refused = is_array($ids) ? count(array_keys($ids, null, true)) : 0;
            $counter = self::counter(
                'messaging.client.sent.messages',
                'Number of messages producer attempted to send to the broker.',
            );
            foreach ([
                [$count - $refused, $failure],
                [$refused, [self::ERROR => DuplicateException::class]],
            ] as [$number, $error]) {
                if ($number > 0) {
                    $counter->add($number, $about + $error);
                }
            }
        };

        return self::within(
            $span,
            Context::getCurrent(),
            $about,
            self::operationSeconds(),
            $push,
            $sent,
        );
    }

    /**
     * Runs the work on a message within a span, which continues the trace of the push. If the
     * caller is in a span already, that span is the parent, and the new span links to the push.
     *
     * @template T
     * @param callable(): T $work
     * @param string|null $url of the server, as Client::url() returns it; null: the span does not
     *     name the server
     * @return T what $work returns
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
        $there = Globals::propagator()->extract(
            $message->headers,
            null,
            $isAlone ? $here : Context::getRoot(),
        );
        $parent = $isAlone ? $there : $here;
        $span = self::span($about, SpanKind::KIND_CONSUMER, $parent, $there);
        $span->setAttribute('messaging.message.id', $message->id);
        $span->setAttribute('messaging.dueq.attempt', $message->attempt);
        if (isset($message->headers['task'])) {
            $span->setAttribute('messaging.dueq.task', $message->headers['task']);
        }
        self::counter(
            'messaging.client.consumed.messages',
            'Number of messages that were delivered to the application.',
        )
            ->add(1, $about);
        self::$contexts ??= new WeakMap();
        self::$contexts[$message] = $span->storeInContext($parent);
        /** @param array<string, string> $failure */
        $done = function (array $failure) use ($span, $message): void {
            if ($failure !== [] && $message->attempt === $message->maxAttempts) {
                $span->setAttribute('messaging.dueq.dead', true);
            }
        };
        $seconds = self::histogram(
            'messaging.process.duration',
            'Duration of processing operation.',
        );

        return self::within($span, $parent, $about, $seconds, $work, $done);
    }

    /**
     * Settles a message within a span. Its parent is the caller's span; outside of any span, the
     * span that process() began for the message.
     *
     * @template T
     * @param Settlement $how the name of the operation in the span
     * @param callable(): T $settle settles the message
     * @param string|null $url as for process()
     * @return T what $settle returns
     * @throws Throwable what $settle throws
     */
    public static function settle(
        Message $message,
        Settlement $how,
        callable $settle,
        ?string $url = null,
    ): mixed {
        if (!self::isOn()) {
            return $settle();
        }
        $about = self::about($message->queue, $how->value, 'settle', $url);
        $parent = self::settlesIn($message);

        return self::within(
            self::settling($message, $about, $parent),
            $parent,
            $about,
            self::operationSeconds(),
            $settle,
        );
    }

    /**
     * @internal Records a settlement that the consumer will send with its next request. Does
     *     nothing for a message that is settled already. The span has no duration, as the outcome
     *     is not known yet.
     * @param string $url as for settle()
     */
    public static function settled(Message $message, Settlement $how, string $url): void
    {
        if (self::isOn() && !$message->isSettled()) {
            $about = self::about($message->queue, $how->value, 'settle', $url);
            self::settling($message, $about, self::settlesIn($message))->end();
        }
    }

    /**
     * Adds the context of the caller's span to the headers of a message that the caller is about to
     * push. Returns the headers unchanged if they carry a context already, if the caller is in no
     * span, or if the context does not fit into a message's headers.
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
     * The headers of a message that carry the context of its push: for a message that replaces this
     * one.
     *
     * @return array<string, string>
     */
    public static function contextOf(Message $message): array
    {
        return self::isOn()
            ? array_intersect_key($message->headers, array_flip(Globals::propagator()->fields()))
            : [];
    }

    private static function isOn(): bool
    {
        return class_exists(Globals::class)
            && !(class_exists(Sdk::class) && Sdk::isInstrumentationDisabled('dueq'));
    }

    /**
     * The parent of a settlement's span: the caller's span, or that of the work on the message,
     * which has ended.
     */
    private static function settlesIn(Message $message): ContextInterface
    {
        $here = Context::getCurrent();

        return self::isInSpan($here) ? $here : self::$contexts[$message] ?? $here;
    }

    /** @param array<string, string|int> $about */
    private static function settling(
        Message $message,
        array $about,
        ContextInterface $parent,
    ): SpanInterface {
        $made = Globals::propagator()->extract($message->headers, null, Context::getRoot());
        $span = self::span($about, SpanKind::KIND_CLIENT, $parent, $made);

        return $span->setAttribute('messaging.message.id', $message->id);
    }

    private static function isInSpan(ContextInterface $here): bool
    {
        return Span::fromContext($here)->getContext()->isValid();
    }

    /** @return array<string, string|int> attributes of an operation, for spans and metrics */
    private static function about(string $queue, string $name, string $type, ?string $url): array
    {
        // Only the name of a partition ends in # and a number.
        $isPartition = preg_match('/^(.+)#(\d+)$/D', $queue, $found) === 1;

        return [
            'messaging.system' => 'dueq',
            'messaging.destination.name' => $isPartition ? $found[1] : $queue,
            'messaging.operation.type' => $type,
            'messaging.operation.name' => $name,
        ] + ($isPartition ? ['messaging.destination.partition.id' => $found[2]] : [])
            + self::server((string) $url);
    }

    /**
     * @return array<string, string|int> attributes with the server's address; empty for a list of
     *     servers, and for an embedded server
     */
    private static function server(string $url): array
    {
        if (preg_match('~^unix://(?:[^/?]*@)?(/[^?]+)~', $url, $found) === 1) {
            return ['server.address' => rawurldecode($found[1])];
        }
        if (preg_match(
            '~^rediss?://(?:[^/?]*@)?(\[[^]]+]|[^:/?]+)(?::(\d+))?~',
            $url,
            $found,
        ) === 1) {
            return [
                'server.address' => trim($found[1], '[]'),
                'server.port' => (int) ($found[2] ?? self::PORT),
            ];
        }

        return [];
    }

    /**
     * Runs $work within a span, and ends the span.
     *
     * @template T
     * @param array<string, string|int> $about
     * @param callable(): T $work
     * @param (callable(array<string, string>, T|null): void)|null $tell called before the span
     *     ends, with the attributes of the failure (empty after success) and with the result (null
     *     after a failure)
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
     * @param ContextInterface $made the context of the message's push: if it has a span, the new
     *     span links to that
     */
    private static function span(
        array $about,
        int $kind,
        ContextInterface $parent,
        ContextInterface $made,
    ): SpanInterface {
        $builder = Globals::tracerProvider()->getTracer('dueq', phpversion('dueq') ?: null)
            ->spanBuilder(
                "{$about['messaging.operation.name']} {$about['messaging.destination.name']}",
            )
            ->setParent($parent)
            ->setSpanKind($kind)
            ->setAttributes($about);
        $context = Span::fromContext($made)->getContext();

        return ($context->isValid() ? $builder->addLink($context) : $builder)->startSpan();
    }

    /**
     * @return array<string, string> the attribute of a failure, for metrics; empty if $error is
     *     null
     */
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
            ->createHistogram(
                $name,
                's',
                $description,
                ['ExplicitBucketBoundaries' => self::SECONDS],
            );
    }

    /**
     * @return array<string, CounterInterface|HistogramInterface> by name. They are kept, as an
     *     instrument that is made anew counts from 0
     */
    private static function &instruments(): array
    {
        self::$instruments ??= new WeakMap();
        $provider = Globals::meterProvider();
        self::$instruments[$provider] ??= [];

        return self::$instruments[$provider];
    }
}
