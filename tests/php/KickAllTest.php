<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateTimeImmutable;
use Dueq\Exception\InvalidException;
use Dueq\Exception\WrongTypeException;
use Dueq\Queue;
use Dueq\State;

final class KickAllTest extends QueueTestCase
{
    private function bury(Queue $queue, int $count, string $reason = 'no use'): void
    {
        for ($left = $count; $left > 0; $left -= 200) {
            $queue->pushMany(array_fill(0, min($left, 200), 'x'));
            foreach ($queue->reserveMany(200) as $message) {
                $message->bury($reason);
            }
        }
    }

    public function test_kick_all_gives_every_dead_message_back(): void
    {
        $queue = $this->queue();
        $this->assertSame(0, $queue->kickAll());
        $this->bury($queue, 420);
        $told = [];
        $this->assertSame(420, $queue->kickAll(progress: function (int $total) use (&$told) {
            $told[] = $total;
        }));
        $this->assertSame(420, end($told));
        $this->assertGreaterThan(1, count($told));
        $this->assertSame([420, 0], [$queue->stats()->ready, $queue->stats()->dead]);
        $this->assertSame(1, $queue->reserve()->attempt);
    }

    public function test_kick_all_of_an_error(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 3, 'Timeout: no answer');
        $this->bury($queue, 2, "a\0b");
        $this->assertSame(0, $queue->kickAll('timeout'));
        $this->assertSame(2, $queue->kickAll(error: "\0"));
        $this->assertSame(3, $queue->kickAll('Timeout'));
        $this->bury($queue, 1);
        $this->assertSame(6, $queue->kickAll(''));
    }

    public function test_kick_all_of_a_time(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 2);
        $time = (int) $queue->stats()->now;
        [$before, $after] = [$time - 600, $time + 600];
        foreach ([$after, $after + 0.5, new DateTimeImmutable("@$after")] as $since) {
            $this->assertSame(0, $queue->kickAll(since: $since));
        }
        foreach ([$before, $before + 0.5, new DateTimeImmutable("@$before"), 0] as $until) {
            $this->assertSame(0, $queue->kickAll(until: $until));
        }
        $this->assertSame(0, $queue->kickAll('other', $before, $after));
        $this->assertSame(2, $queue->kickAll(null, $before, $after, null));
    }

    public function test_kick_all_lets_progress_use_the_queue(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 300);
        $this->assertSame(300, $queue->kickAll(progress: function () use ($queue) {
            $queue->find('nobody');
            $queue->stats();
        }));
        $this->assertSame(0, $queue->stats()->dead);
    }

    public function test_kick_all_ends_where_progress_throws(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 500);
        $thrown = new \LogicException('enough');
        $first = 0;
        try {
            $queue->kickAll(progress: function (int $total) use ($thrown, &$first) {
                $first = $total;
                throw $thrown;
            });
            $this->fail('the exception is lost');
        } catch (\LogicException $e) {
            $this->assertSame($thrown, $e);
        }
        $this->assertSame([$first, 500 - $first], [$queue->stats()->ready, $queue->stats()->dead]);
        $this->assertSame(500 - $first, $queue->kickAll());
    }

    public function test_kick_all_throws_when_a_step_fails(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 300);
        $break = fn () => $this->server->command('RENAME', 'dueq:{q}:dead', 'aside')
            . $this->server->command('SET', 'dueq:{q}:dead', 'not a sorted set');
        $this->assertThrows(WrongTypeException::class, fn () => $queue->kickAll(progress: $break));
        $this->server->command('RENAME', 'aside', 'dueq:{q}:dead');
        $this->assertSame(300, $queue->stats()->ready + $queue->kickAll());
    }

    public function test_kick_all_out_of_range(): void
    {
        $queue = $this->queue();
        $this->bury($queue, 1);
        foreach (['since', 'until'] as $name) {
            foreach ([-1, NAN, INF, 1e12, new DateTimeImmutable('1969-12-31')] as $time) {
                $this->assertThrows(
                    InvalidException::class,
                    fn () => $queue->kickAll(...[$name => $time]),
                );
            }
            $this->assertTypeError(
                "(\$$name)",
                fn () => $queue->kickAll(...[$name => 'yesterday']),
            );
        }
        $this->assertTypeError('($error)', fn () => $queue->kickAll(7));
        $this->assertTypeError(
            '($progress)',
            fn () => $queue->kickAll(progress: 'no_such_function'),
        );
        $this->assertSame(1, $queue->stats()->dead);
    }

    public function test_kick_all_keeps_memory_flat(): void
    {
        $queue = $this->queue();
        $cycle = function () use ($queue) {
            $this->bury($queue, 1);
            $queue->kickAll('no use', 0, 4e9, fn () => null);
            $this->bury($queue, 1);
            try {
                $queue->kickAll(progress: fn () => throw new \LogicException());
            } catch (\LogicException) {
            }
            $queue->purge(State::Ready);
        };
        for ($i = 0; $i < 100; $i++) {
            $cycle();
        }
        $before = memory_get_usage();
        for ($i = 0; $i < 500; $i++) {
            $cycle();
        }
        $this->assertLessThan(16 * 1024, memory_get_usage() - $before);
    }
}
