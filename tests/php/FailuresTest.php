<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\InvalidException;
use Dueq\Failure;
use Dueq\FailureKind;

/** The failures of a queue: what failed, when, and which worker reported it. */
final class FailuresTest extends QueueTestCase
{
    public function test_no_failures(): void
    {
        $this->assertSame([], $this->queue()->failures());
        $this->assertSame([], $this->queue()->failures('x'));
        $this->assertSame([], $this->queue()->failures(null));
    }

    public function test_failures_have_all_that_is_known(): void
    {
        $queue = $this->queue();
        $id = $queue->push('a');
        $message = $queue->reserve();
        $message->retry(0, 'no such shop');
        $again = $queue->reserve();
        $again->bury('so');
        [$buried, $failed] = $queue->failures();
        $this->assertSame(
            [FailureKind::Failed, $id, $message->ticket, 1],
            [$failed->kind, $failed->id, $failed->ticket, $failed->delivery],
        );
        $this->assertSame(
            [FailureKind::Buried, $id, $again->ticket, 2],
            [$buried->kind, $buried->id, $buried->ticket, $buried->delivery],
        );
        $this->assertSame([gethostname(), getmypid()], [$failed->host, $failed->pid]);
        $this->assertSame(['no such shop', 'so'], [$failed->error, $buried->error]);
        $this->assertSame($message->created, $failed->created);
        $this->assertLessThanOrEqual($buried->time, $failed->time);
        $this->assertEqualsWithDelta(microtime(true), $failed->time, 20);
        $this->assertCount(2, $queue->failures($id));
        $this->assertSame([], $queue->failures('none'));
        $this->expectException(InvalidException::class);
        $queue->failures("\n");
    }

    public function test_a_crash_has_no_host_and_no_error(): void
    {
        $queue = $this->queue();
        $queue->push('a');
        $queue->reserve(lease: 0.001);
        $this->assertNotNull($queue->reserve(timeout: 20));
        [$crashed] = $queue->failures();
        $this->assertSame(
            [FailureKind::Crashed, null, null, ''],
            [$crashed->kind, $crashed->host, $crashed->pid, $crashed->error],
        );
    }

    public function test_failures_reads_all_pages(): void
    {
        $queue = $this->queue();
        for ($number = 0; $number < 450; $number++) {
            $at = min($number, 100);
            $this->server->command(
                'LPUSH',
                "dueq:{{$queue->name}}:failures",
                "$at failed\n0:x\n\n$number",
            );
        }
        $errors = array_map(fn (Failure $failure) => (int) $failure->error, $queue->failures());
        $this->assertSame(range(449, 0), $errors);
    }
}
