<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use App\Telemetry;
use DomainException;
use Dueq\Exception\DuplicateException;
use Dueq\Exception\LeaseLostException;
use Dueq\OpenTelemetry;
use Dueq\Settlement;
use Dueq\Worker;
use Dueq\Worker\Stop;
use OpenTelemetry\API\Trace\Span;
use OpenTelemetry\API\Trace\SpanKind;
use OpenTelemetry\API\Trace\StatusCode;

/** Traces and metrics, as an exporter gets them. */
final class OpenTelemetryTest extends WorkerTestCase
{
    /** A program in Python that works on a message, and prints the trace that it works in. */
    private const RECEIVES = <<<'END'
        import dueq, dueq.opentelemetry
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        dueq.opentelemetry.instrument(TracerProvider())
        with dueq.Queue("python").reserve(timeout=20):
            print(f"{trace.get_current_span().get_span_context().trace_id:032x}")
        END;

    private Telemetry $telemetry;

    private Worker $worker;

    protected function setUp(): void
    {
        parent::setUp();
        require_once Application::shared()->folder . '/telemetry.php';
        $this->telemetry = new Telemetry();
        $this->worker = new Worker($this->server->url());
    }

    protected function tearDown(): void
    {
        $this->telemetry->end();
    }

    public function testAJobGoesOnWithTheTraceOfItsPush(): void
    {
        $this->worker->on('pack', fn () => $this->worker->push('ship', queue: 'shipping'));
        $id = $this->worker->push('pack', id: 'order-7');
        $message = $this->queue()->reserve();
        $this->worker->run($this->worker->job($message));
        $send = $this->telemetry->span('send default');
        $process = $this->telemetry->span('process default');
        $successor = $this->telemetry->span('send shipping');
        $this->assertSame(["00-{$send->getTraceId()}-{$send->getSpanId()}", 'pack'], [
            substr($message->headers['traceparent'], 0, 52),
            $message->headers['task'],
        ]);
        $this->assertSame(
            [SpanKind::KIND_PRODUCER, SpanKind::KIND_CONSUMER],
            [$send->getKind(), $process->getKind()],
        );
        $this->assertSame($send->getSpanId(), $process->getParentSpanId());
        $this->assertSame(
            $send->getSpanId(),
            $process->getLinks()[0]->getSpanContext()->getSpanId(),
        );
        $this->assertSame($process->getSpanId(), $successor->getParentSpanId());
        $this->assertSame($send->getTraceId(), $successor->getTraceId());
        $about = [
            'messaging.system' => 'dueq',
            'messaging.destination.name' => 'default',
            'messaging.message.id' => $id,
            'server.address' => $this->server->socket,
        ];
        $this->assertEquals($about + [
            'messaging.operation.type' => 'send',
            'messaging.operation.name' => 'send',
        ], $send->getAttributes()->toArray());
        $this->assertEquals($about + [
            'messaging.operation.type' => 'process',
            'messaging.operation.name' => 'process',
            'messaging.dueq.attempt' => 1,
            'messaging.dueq.task' => 'pack',
        ], $process->getAttributes()->toArray());
        $this->assertSame(
            ['send' => 2],
            $this->telemetry->counts('messaging.client.sent.messages'),
        );
        $this->assertSame(
            ['send' => 2],
            $this->telemetry->counts('messaging.client.operation.duration'),
        );
        $this->assertSame(
            ['process' => 1],
            $this->telemetry->counts('messaging.client.consumed.messages'),
        );
        $this->assertSame(['process' => 1], $this->telemetry->counts('messaging.process.duration'));
        $this->assertFalse(Span::getCurrent()->getContext()->isValid());
    }

    public function testEachDeliveryHasASpanAndTheLastSaysThatItIsDead(): void
    {
        $this->worker->on(
            'fail',
            fn () => throw new DomainException('no luck'),
            maxAttempts: 2,
            backoff: 0.0,
        );
        $this->worker->push('fail');
        $this->queue()->consume(timeout: 0.5)->work(
            fn ($message) => $this->worker->run($this->worker->job($message)),
            fn () => null,
        );
        $this->assertSame(1, $this->queue()->stats()->dead);
        $spans = $this->telemetry->spans('process default');
        $this->assertCount(2, $spans);
        foreach ($spans as $i => $span) {
            $this->assertSame(StatusCode::STATUS_ERROR, $span->getStatus()->getCode());
            $this->assertSame('exception', $span->getEvents()[0]->getName());
            $this->assertSame(
                $this->telemetry->span('send default')->getSpanId(),
                $span->getLinks()[0]->getSpanContext()->getSpanId(),
            );
            $attributes = $span->getAttributes()->toArray();
            $this->assertSame([DomainException::class, $i === 1], [
                $attributes['error.type'],
                $attributes['messaging.dueq.dead'] ?? false,
            ]);
        }
        $this->assertSame(
            ['process DomainException' => 2],
            $this->telemetry->counts('messaging.process.duration'),
        );
    }

    public function testAJobThatIsReleasedHasNotFailed(): void
    {
        $this->worker->on('stops', fn () => throw new Stop('the worker stops'));
        $this->worker->push('stops');
        try {
            $this->worker->run($this->worker->job($this->queue()->reserve()));
            $this->fail();
        } catch (Stop) {
        }
        $this->assertSame(
            StatusCode::STATUS_UNSET,
            $this->telemetry->span('process default')->getStatus()->getCode(),
        );
    }

    public function testARefusedPushSaysWhy(): void
    {
        $this->worker->push('pack', id: 'order-7');
        try {
            $this->worker->push('pack', id: 'order-7');
            $this->fail();
        } catch (DuplicateException) {
        }
        $this->assertSame(
            ['send' => 1, 'send ' . DuplicateException::class => 1],
            $this->telemetry->counts('messaging.client.sent.messages'),
        );
    }

    public function testAChainGoesOnWithTheTraceOfItsPush(): void
    {
        $this->tasks->chain('charge', [17])->then('pack', [17])->push();
        $send = $this->telemetry->span('send default');
        $this->assertSame(SpanKind::KIND_PRODUCER, $send->getKind());
        $this->assertSame(
            "00-{$send->getTraceId()}-{$send->getSpanId()}",
            substr($this->queue()->reserve()->headers['traceparent'] ?? '', 0, 52),
        );
    }

    public function testManyArePushedInOneSpan(): void
    {
        $orders = $this->queue('orders');
        $push = fn () => $orders->pushMany([
            ['body' => 'a', 'id' => 'a', 'headers' => OpenTelemetry::headers()],
            ['body' => 'b', 'id' => 'a'],
            ['body' => 'c'],
        ]);
        $this->assertNull(OpenTelemetry::send($orders, $push, count: 3)[1]);
        $send = $this->telemetry->span('send orders');
        $this->assertSame(3, $send->getAttributes()->toArray()['messaging.batch.message_count']);
        $this->assertStringContainsString(
            $send->getSpanId(),
            $orders->find('a')->headers['traceparent'],
        );
        $this->assertSame(
            ['send' => 2, 'send ' . DuplicateException::class => 1],
            $this->telemetry->counts('messaging.client.sent.messages'),
        );
    }

    public function testASettlementBelongsToTheWork(): void
    {
        $this->worker->on('pack', fn () => null);
        $this->worker->push('pack');
        $message = $this->queue()->reserve();
        $this->worker->run($this->worker->job($message));
        OpenTelemetry::settle(
            $message,
            Settlement::Ack,
            fn () => $message->ack(),
            $this->server->url(),
        );
        try {
            OpenTelemetry::settle($message, Settlement::Bury, fn () => $message->bury());
            $this->fail();
        } catch (LeaseLostException) {
        }
        $ack = $this->telemetry->span('ack default');
        $this->assertSame(SpanKind::KIND_CLIENT, $ack->getKind());
        $this->assertSame(
            $this->telemetry->span('process default')->getSpanId(),
            $ack->getParentSpanId(),
        );
        $this->assertSame(
            $this->telemetry->span('send default')->getSpanId(),
            Telemetry::linked($ack),
        );
        $this->assertEquals([
            'messaging.system' => 'dueq',
            'messaging.destination.name' => 'default',
            'messaging.message.id' => $message->id,
            'messaging.operation.type' => 'settle',
            'messaging.operation.name' => 'ack',
            'server.address' => $this->server->socket,
        ], $ack->getAttributes()->toArray());
        $bury = $this->telemetry->span('bury default');
        $this->assertSame(StatusCode::STATUS_ERROR, $bury->getStatus()->getCode());
        $this->assertSame(
            ['send' => 1, 'ack' => 1, 'bury ' . LeaseLostException::class => 1],
            $this->telemetry->counts('messaging.client.operation.duration'),
        );
    }

    /** @return list<array{string, ?string, ?int}> */
    public static function servers(): array
    {
        return [
            ['redis://127.0.0.1', '127.0.0.1', 6379],
            ['rediss://shop:***@redis.example:7000/1?timeout=9s', 'redis.example', 7000],
            ['redis://shop:***@[2001:db8::3]:6380', '2001:db8::3', 6380],
            ['unix://shop:***@/run/my%20redis.sock?db=2', '/run/my redis.sock', null],
            ['embedded:/var/lib/shop', null, null],
            ['redis+sentinel://s1,s2/mymaster', null, null],
            ['redis+cluster://h1,h2:7000', null, null],
        ];
    }

    /** @dataProvider servers */
    #[\PHPUnit\Framework\Attributes\DataProvider('servers')]
    public function testTheServerIsThatOfTheUrl(string $url, ?string $address, ?int $port): void
    {
        $this->queue()->push('pack it');
        OpenTelemetry::process($this->queue()->reserve(), fn () => null, $url);
        $about = $this->telemetry->span('process default')->getAttributes()->toArray();
        $this->assertSame(
            [$address, $port],
            [$about['server.address'] ?? null, $about['server.port'] ?? null],
        );
    }

    public function testHeadersWithoutRoomAndThoseWithAContextStay(): void
    {
        $own = '00-' . str_repeat('1', 32) . '-' . str_repeat('2', 16) . '-01';
        $this->worker->push('pack', headers: ['traceparent' => $own]);
        $this->assertSame(
            ['task' => 'pack', 'traceparent' => $own],
            $this->queue()->reserve()->headers,
        );
        $send = $this->telemetry->span('send default');
        $this->assertSame(SpanKind::KIND_CLIENT, $send->getKind());
        $this->assertSame(str_repeat('2', 16), $send->getLinks()[0]->getSpanContext()->getSpanId());
        // Headers may have 65,535 bytes: x has 4 beside its value, task 11, and traceparent 69.
        foreach ([79 => false, 80 => true] as $room => $carries) {
            $this->worker->push('pack', headers: ['x' => str_repeat('y', 65535 - 4 - $room)]);
            $this->assertSame($carries, isset($this->queue()->reserve()->headers['traceparent']));
        }
    }

    public function testMessagesThatAreNoTasks(): void
    {
        $orders = $this->queue('orders#3');
        OpenTelemetry::send(
            $orders,
            fn () => $orders->push('pack it', headers: OpenTelemetry::headers(['by' => 'shop'])),
        );
        $message = $orders->reserve();
        $this->assertSame('done', OpenTelemetry::process($message, fn () => 'done'));
        $process = $this->telemetry->span('process orders');
        $this->assertSame(
            $this->telemetry->span('send orders')->getTraceId(),
            $process->getTraceId(),
        );
        $this->assertSame(
            '3',
            $process->getAttributes()->toArray()['messaging.destination.partition.id'],
        );
    }

    public function testAWorkersSettlementsBelongToItsWork(): void
    {
        $worker = $this->startWith('traced.php', '--concurrency', '1');
        foreach (['failing', 'settling', 'failing', 'settlements'] as $task) {
            $this->worker->push($task);
        }
        // A message that its handler settles is not among the worker's settlements.
        $this->assertSame('[[0,2],[]]', $this->heard());
        $this->worker->push('settlements');
        $this->assertSame('[[1,2],[]]', $this->heard());
        $this->assertSame(0, $worker->stop());
    }

    public function testAMessageKeepsItsTraceInEachLanguage(): void
    {
        $pushed = $this->python(<<<'END'
            import dueq, dueq.opentelemetry
            from opentelemetry.sdk.trace import TracerProvider
            provider = TracerProvider()
            dueq.opentelemetry.instrument(provider)
            with provider.get_tracer("web").start_as_current_span("web") as span:
                dueq.Queue("python").push("pack it")
            print(f"{span.get_span_context().trace_id:032x}")
            END);
        $message = $this->queue('python')->reserve();
        OpenTelemetry::process(
            $message,
            fn () => OpenTelemetry::settle($message, Settlement::Release, $message->release(...)),
        );
        $traces = array_map(
            fn (string $name) => $this->telemetry->span("$name python")->getTraceId(),
            ['process', 'release'],
        );
        $this->assertSame([trim($pushed), trim($pushed)], $traces);
        $this->assertSame($pushed, $this->python(self::RECEIVES));
    }

    public function testATraceCrossesTheLanguages(): void
    {
        $worker = $this->startWith('traced.php', '--concurrency', '1');
        $pushed = $this->python(<<<'END'
            import dueq, dueq.opentelemetry
            from opentelemetry import trace
            from opentelemetry.sdk.trace import TracerProvider
            provider = TracerProvider()
            dueq.opentelemetry.instrument(provider)
            app = dueq.App()
            @app.task
            def traced() -> None: ...
            with provider.get_tracer("web").start_as_current_span("web") as span:
                traced.push()
            print(f"{span.get_span_context().trace_id:032x}")
            END);
        $this->assertSame(trim($pushed), $this->heard());
        $this->assertSame($pushed, $this->python(self::RECEIVES));
        $this->assertSame(0, $worker->stop());
    }
}
