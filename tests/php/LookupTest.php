<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Exception\TooLargeException;
use Dueq\State;
use Dueq\Stats;

/** What works by id or on the whole queue: cancel, find, stats. */
final class LookupTest extends QueueTestCase
{
    public function test_cancel_from_every_state(): void
    {
        $queue = $this->queue();
        $dead = $queue->push('dead');
        $queue->reserve()->bury();
        $leased = $queue->push('leased');
        $holder = $queue->reserve();
        $ids = [$dead, $leased, $queue->push('ready'), $queue->push('delayed', delay: 60)];
        foreach ([State::Dead, State::Leased, State::Ready, State::Delayed] as $number => $state) {
            $id = $ids[$number];
            $this->assertSame($state, $queue->cancel($id));
            $this->assertNull($queue->cancel($id));
            $this->assertNull($queue->find($id));
        }
        $this->assertThrows(LeaseLostException::class, fn () => $holder->ack());
        $this->assertNull($queue->reserve());
    }

    public function test_cancel_many_in_order(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(array_fill(0, 1200, 'x'));
        $this->assertSame([], $queue->cancelMany([]));
        $this->assertSame(
            [null, State::Ready, null],
            $queue->cancelMany(['nobody', $ids[0], $ids[0]]),
        );
        $this->assertSame(
            array_fill(0, 1199, State::Ready),
            $queue->cancelMany(array_slice($ids, 1)),
        );
    }

    public function test_cancel_and_find_an_impossible_id(): void
    {
        $queue = $this->queue();
        $refused = [
            '' => InvalidException::class,
            str_repeat('x', 256) => TooLargeException::class,
        ];
        foreach ($refused as $id => $class) {
            $this->assertThrows($class, fn () => $queue->cancel($id));
            $this->assertThrows($class, fn () => $queue->cancelMany([$id]));
            $this->assertThrows($class, fn () => $queue->find($id));
        }
        $this->expectException(\TypeError::class);
        $queue->cancelMany([7]);
    }

    public function test_find_shows_each_state_without_touching_it(): void
    {
        $queue = $this->queue();
        $this->assertNull($queue->find('nobody'));
        $id = $queue->push('x', headers: ['a' => 'b']);
        for ($i = 0; $i < 2; $i++) {
            $found = $queue->find($id);
            $this->assertSame(
                [State::Ready, 0, null],
                [$found->state, $found->attempt, $found->time],
            );
            $this->assertSame(
                ['x', ['a' => 'b'], ''],
                [$found->body, $found->headers, $found->error],
            );
        }
        $queue->reserve();
        $this->assertSame(
            [State::Leased, 1],
            [$queue->find($id)->state, $queue->find($id)->attempt],
        );
    }

    public function test_find_gives_a_ticket_that_settles(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x');
        $queue->reserve();
        $queue->find($id)->ack();
        $this->assertSame(1, $queue->stats()->acked);
    }

    public function test_stats_count_every_state(): void
    {
        $queue = $this->queue();
        $empty = $queue->stats();
        $this->assertInstanceOf(Stats::class, $empty);
        $this->assertNull($empty->nextEvent);
        $queue->pushMany(['a', 'b', 'c', 'd', 'e', ['body' => 'f', 'delay' => 60]]);
        [$a, $b, $c] = $queue->reserveMany(3);
        $a->ack();
        $b->bury();
        $stats = $queue->stats();
        $this->assertSame(
            [2, 1, 1, 1, 1, 0],
            [
                $stats->ready, $stats->delayed, $stats->leased,
                $stats->dead, $stats->acked, $stats->quarantined,
            ],
        );
        $this->assertEqualsWithDelta(microtime(true), $stats->now, 5);
        $this->assertEqualsWithDelta($c->time, $stats->nextEvent, 0.0005);
    }
}
