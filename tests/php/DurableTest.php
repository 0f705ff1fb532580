<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Client;
use Dueq\Exception\DuplicateException;
use Dueq\Exception\FlushException;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Exception\NotDurableException;
use Dueq\Queue;

/** Durable pushes: to a replica, which this server does not have, or to the server's disk. */
final class DurableTest extends QueueTestCase
{
    private const AT_MOST = 0.05;

    public function test_push_tells_its_id_and_is_stored_once(): void
    {
        $queue = $this->queue();
        $failure = $this->assertThrows(NotDurableException::class,
            fn () => $queue->push('a', replicas: 1, durableTimeout: self::AT_MOST));
        [$id] = $failure->ids;
        $this->assertSame("stored as $id; on 0 of 1 replicas within 50 ms", $failure->getMessage());
        $this->assertSame([-34, 0, false, true],
            [$failure->getCode(), $failure->replicas, $failure->disk, $failure->isRetriable()]);
        $this->assertSame('a', $queue->find($id)->body);
        $this->assertThrows(DuplicateException::class, fn () => $queue->push('a', id: $id));
        $this->assertSame(1, $queue->stats()->ready);
    }

    public function test_queue_client_and_url_ask_for_all_pushes(): void
    {
        $url = $this->server->url();
        $interval = new \DateInterval('PT0S');
        $interval->f = self::AT_MOST;
        $queues = [
            new Queue('q', $url, replicas: 1, durableTimeout: self::AT_MOST),
            (new Client($url))->queue('q', 1, false, $interval),
            $this->queue('q', 'replicas=1&durable_timeout=50ms'),
        ];
        foreach ($queues as $queue) {
            $this->assertThrows(NotDurableException::class, fn () => $queue->push('a'));
            $this->assertThrows(
                NotDurableException::class,
                fn () => $queue->push('a', replicas: 0),
            );
            $failure = $this->assertThrows(
                NotDurableException::class,
                fn () => $queue->pushMany(['a', ['body' => 'b']]),
            );
            $this->assertCount(2, $failure->ids);
        }
        $this->queue()->push('not so');
        $this->assertSame(13, $this->queue()->stats()->ready);
    }

    public function test_a_pusher_tells_the_ids_of_a_step(): void
    {
        $queue = new Queue('q', $this->server->url(), replicas: 1, durableTimeout: self::AT_MOST);
        $pusher = $queue->pusher();
        for ($i = 0; $i < 300; $i++) {
            $pusher->push('a', id: "id $i");
        }
        $failures = $this->assertThrows(FlushException::class, fn () => $pusher->flush())->failures;
        $this->assertCount(300, $failures);
        foreach ($failures as $number => $failure) {
            $this->assertInstanceOf(NotDurableException::class, $failure);
            $this->assertContains("id $number", $failure->ids);
        }
        $this->assertSame(300, $queue->stats()->ready);
    }

    public function test_ack_with_successors_settles_the_message(): void
    {
        $queue = $this->queue();
        $queue->push('a');
        $message = $queue->reserve();
        $failure = $this->assertThrows(
            NotDurableException::class,
            fn () => $message->ack([
                ['body' => 'b', 'id' => 'x', 'replicas' => 1, 'durableTimeout' => self::AT_MOST],
                'c',
            ]),
        );
        $this->assertSame('x', $failure->ids[0]);
        $this->assertCount(2, $failure->ids);
        $this->assertThrows(LeaseLostException::class, fn () => $message->ack());
        $stats = $queue->stats();
        $this->assertSame([2, 0, 1], [$stats->ready, $stats->leased, $stats->acked]);
    }

    public function test_what_is_out_of_range_is_named(): void
    {
        $queue = $this->queue();
        $url = $this->server->url();
        $this->assertStringContainsString(
            'replicas must be from 0 to 100',
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->push('a', replicas: 101),
            )->getMessage(),
        );
        $this->assertStringContainsString(
            'durableTimeout',
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->push('a', durableTimeout: 0),
            )->getMessage(),
        );
        $this->assertStringContainsString(
            'replicas',
            $this->assertThrows(
                InvalidException::class,
                fn () => new Queue('q', $url, replicas: -1),
            )->getMessage(),
        );
        $this->assertStringContainsString(
            'replicas',
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->pushMany([['body' => 'a', 'replicas' => -1]]),
            )->getMessage(),
        );
        $this->assertSame(0, $queue->stats()->pushed);
    }
}
