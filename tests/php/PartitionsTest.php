<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\InvalidException;
use Dueq\Queue;
use Dueq\State;

/** Queues of partitions. */
final class PartitionsTest extends QueueTestCase
{
    private function orders(): Queue
    {
        return new Queue('orders', $this->server->url(), partitions: 8);
    }

    public function test_messages_of_a_key_are_in_one_partition_in_order(): void
    {
        $orders = $this->orders();
        foreach (['ordered', 'paid', 'sent'] as $step) {
            $orders->push($step, key: 'customer-17');
        }
        $seen = [];
        foreach ($orders->consume(timeout: 0.2) as $message) {
            $seen[] = [$message->queue, $message->body];
            $message->ack();
        }
        $this->assertSame(
            [['orders#7', 'ordered'], ['orders#7', 'paid'], ['orders#7', 'sent']],
            $seen,
        );
        $this->assertSame(3, $orders->stats()->acked);
    }

    public function test_groups_of_a_partition_take_turns(): void
    {
        $orders = $this->orders();
        $groups = ['a1' => 'a', 'a2' => 'a', 'x1' => 'x', 'c1' => 'customer-17'];
        foreach ($groups as $body => $group) {
            $orders->push($body, group: $group);
        }
        $waiting = [];
        foreach ($orders->groups() as $group) {
            $waiting[$group->name] = $group->waiting;
        }
        ksort($waiting);
        $this->assertSame(['a' => 2, 'customer-17' => 1, 'x' => 1], $waiting);
        $seen = [];
        foreach ($orders->consume(timeout: 0.2) as $message) {
            $seen[$message->queue][] = $message->body;
            $message->ack();
        }
        $this->assertSame(['a1', 'x1', 'a2'], $seen['orders#3']);
        $this->assertSame(['c1'], $seen['orders#7']);
        $this->expectException(InvalidException::class);
        $this->expectExceptionMessage("the messages of 'orders' have groups");
        $orders->push('k', key: 'a');
    }

    public function test_verbs_cover_all_partitions(): void
    {
        $orders = $this->orders();
        $orders->pushMany([
            ['body' => '1', 'key' => 'a', 'id' => 'one'],
            ['body' => '2', 'key' => 'customer-17', 'id' => 'two'],
        ]);
        $this->assertSame('orders#7', $orders->find('two')->queue);
        $this->assertNull($orders->find('three'));
        $this->assertSame(2, $orders->stats()->ready);
        $ids = [];
        foreach ($orders->peek(State::Ready, 1) as $message) {
            $ids[] = [$message->queue, $message->id];
        }
        sort($ids);
        $this->assertSame([['orders#3', 'one'], ['orders#7', 'two']], $ids);
        $messages = [$orders->reserve(), $orders->reserve()];
        $this->assertSame([true, true], $orders->ackMany($messages));
        $this->assertNull($orders->cancel('one'));
        $this->assertSame(['orders#3', 'orders#7'], Queue::names($this->server->url()));
    }

    public function test_messages_are_settled_in_their_partition(): void
    {
        $orders = $this->orders();
        $orders->push('1', key: 'a', id: 'one');
        $message = $orders->reserve();
        $message->extend(60);
        $message->release();
        $message = $orders->reserve();
        $message->retry(0);
        $this->assertSame(2, $orders->reserve()->attempt);
    }

    public function test_of_a_key_is_one_partition(): void
    {
        $orders = $this->orders();
        $orders->push('1', key: 'a', id: 'one');
        $this->assertNull($orders->partitionFor('customer-17')->cancel('one'));
        $this->assertSame(1, $orders->partitionFor('a')->stats()->ready);
        $this->assertSame('orders#3', $orders->partitionFor('a')->reserve()->queue);
    }

    public function test_pusher_and_pending_calls(): void
    {
        $orders = $this->orders();
        $pusher = $orders->pusher();
        for ($i = 0; $i < 100; $i++) {
            $pusher->push("$i", key: "k$i");
        }
        $pusher->flush();
        $this->assertSame(100, $orders->stats()->ready);
        $pending = $orders->reserveStart(1.0);
        while (!$pending->poll()) {
            $streams = [$pending->stream()];
            $none = [];
            stream_select($streams, $none, $none, 1);
        }
        $this->assertMatchesRegularExpression('/^orders#\d$/', $pending->result()->queue);
    }

    public function test_rates_and_check_cover_all_partitions(): void
    {
        $orders = $this->orders();
        $orders->pushMany([['body' => '1', 'key' => 'a'], ['body' => '2', 'key' => 'customer-17']]);
        $this->assertSame(2, array_sum(array_column($orders->rates(), 'pushed')));
        $this->assertSame([1, 1], [
            $this->server->command('DEL', 'dueq:{orders#3}:ready'),
            $this->server->command('DEL', 'dueq:{orders#7}:ready'),
        ]);
        $this->assertSame([2], array_column($orders->check(), 'count'));
    }

    public function test_successors_go_by_their_key_and_stay_without(): void
    {
        $orders = $this->orders();
        $orders->push('1', key: 'a');
        $seen = [];
        foreach ($orders->consume(timeout: 0.5) as $message) {
            $seen[] = [$message->queue, $message->body];
            match ($message->body) {
                '1' => $message->ack([['body' => '2', 'key' => 'customer-17']]),
                '2' => $message->ack([['body' => '3']]),
                default => $message->ack(),
            };
        }
        $this->assertSame([['orders#3', '1'], ['orders#7', '2'], ['orders#7', '3']], $seen);
    }

    public function test_what_is_refused(): void
    {
        $orders = $this->orders();
        foreach ([
            fn () => new Queue('orders', $this->server->url(), partitions: 0),
            fn () => new Queue('orders', $this->server->url(), partitions: 1025),
            fn () => $orders->partitionFor(''),
            fn () => $this->queue('plain')->partitionFor('a'),
            fn () => $this->queue('plain')->push('x', key: 'a'),
            fn () => $orders->push('x', key: ''),
            fn () => $orders->rates(0),
        ] as $call) {
            try {
                $call();
                $this->fail('it was not refused');
            } catch (InvalidException $e) {
                $this->assertNotSame('', $e->getMessage());
            }
        }
    }
}
