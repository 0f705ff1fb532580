<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use App\Telemetry;
use OpenTelemetry\API\Trace\StatusCode;
use RuntimeException;

require_once __DIR__ . '/../worker-php/app/telemetry.php';

/** Traces of Laravel's jobs, as an exporter gets them. */
final class OpenTelemetryTest extends LaravelTestCase
{
    private Telemetry $telemetry;

    protected function setUp(): void
    {
        parent::setUp();
        $this->telemetry = new Telemetry();
    }

    protected function tearDown(): void
    {
        $this->telemetry->end();
        parent::tearDown();
    }

    public function testAJobGoesOnWithTheTraceOfItsDispatch(): void
    {
        $id = $this->queue()->push(new Act('a'));
        $this->work();
        [$send, $process, $ack] = $this->spans('send', 'process', 'ack');
        $this->assertSame($send->getSpanId(), $process->getParentSpanId());
        $this->assertSame($send->getSpanId(), Telemetry::linked($process));
        $this->assertSame($process->getSpanId(), $ack->getParentSpanId());
        foreach ([$send, $process, $ack] as $span) {
            $about = $span->getAttributes()->toArray();
            $this->assertSame(
                [$id, $this->server->socket],
                [$about['messaging.message.id'], $about['server.address']],
            );
        }
        $this->assertSame(
            ['process' => 1],
            $this->telemetry->counts('messaging.client.consumed.messages'),
        );
    }

    public function testAJobThatFailsIsRetriedAndHasASpanForEachDelivery(): void
    {
        $job = new Act('a', 'throw', 'throw');
        $job->tries = 2;
        $this->queue()->later(0, $job);
        $this->work();
        $this->work();
        $send = $this->telemetry->span('send default');
        [$first, $second] = $this->telemetry->spans('process default');
        foreach ([$first, $second] as $span) {
            $this->assertSame($send->getSpanId(), Telemetry::linked($span));
            $this->assertSame(StatusCode::STATUS_ERROR, $span->getStatus()->getCode());
            $this->assertSame(
                RuntimeException::class,
                $span->getAttributes()->toArray()['error.type'],
            );
        }
        // Laravel stores the job as failed before it deletes the job.
        [$retry, $ack] = $this->spans('retry', 'ack');
        $this->assertSame(
            [$first->getSpanId(), $second->getSpanId()],
            [$retry->getParentSpanId(), $ack->getParentSpanId()],
        );
    }

    public function testJobsInBulkAreOfOneSpan(): void
    {
        $this->queue()->bulk([new Act('a'), new Act('b')]);
        $this->work();
        $this->work();
        $send = $this->telemetry->span('send default');
        $this->assertSame(2, $send->getAttributes()->toArray()['messaging.batch.message_count']);
        $linked = array_map(Telemetry::linked(...), $this->telemetry->spans('process default'));
        $this->assertSame([$send->getSpanId(), $send->getSpanId()], $linked);
    }

    /** @return list<object> */
    private function spans(string ...$names): array
    {
        return array_map(fn (string $name) => $this->telemetry->span("$name default"), $names);
    }
}
