<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\InvalidException;

final class ReserveTest extends QueueTestCase
{
    public function test_reserve_an_empty_queue_returns_null(): void
    {
        $queue = $this->queue();
        $this->assertNull($queue->reserve());
        $this->assertSame([], $queue->reserveMany(10));
    }

    public function test_reserve_waits_for_its_timeout(): void
    {
        $queue = $this->queue();
        foreach ([0.3, new DateInterval('PT1S')] as $timeout) {
            $start = microtime(true);
            $this->assertNull($queue->reserve($timeout));
            $this->assertGreaterThan(0.29, microtime(true) - $start);
        }
    }

    public function test_reserve_that_waits_is_woken_by_a_push(): void
    {
        foreach ([20.0, INF] as $timeout) {
            $queue = $this->queue();
            $producer = $this->besides(function () {
                $this->server->awaitBlocked();
                $this->queue()->push('woken');
            });
            $start = microtime(true);
            $message = $queue->reserve($timeout);
            $this->assertSame('woken', $message->body);
            $this->assertLessThan(10, microtime(true) - $start);
            $message->ack();
            pcntl_waitpid($producer, $status);
        }
    }

    public function test_reserve_with_a_lease_of_its_own(): void
    {
        $queue = $this->queue();
        $queue->pushMany([['body' => 'a', 'lease' => 5], 'b']);
        $this->assertEqualsWithDelta(
            $queue->stats()->now + 600,
            $queue->reserve(lease: 600)->time,
            5,
        );
        $lease = new DateInterval('PT1H');
        $this->assertEqualsWithDelta(
            $queue->stats()->now + 3600,
            $queue->reserve(0, $lease)->time,
            5,
        );
    }

    public function test_reserve_a_message_whose_lease_has_ended(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $first = $queue->reserve(lease: 0.2);
        $second = $queue->reserve(10.0);
        $this->assertSame($first->id, $second->id);
        $this->assertSame([1, 0, 1], [$first->attempt, $first->crashes, $first->deliveries]);
        $this->assertSame([1, 1, 2], [$second->attempt, $second->crashes, $second->deliveries]);
        $this->assertNotSame($first->ticket, $second->ticket);
    }

    public function test_reserve_many_takes_what_there_is_in_order(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2', '3']);
        $this->assertSame(['1', '2'], array_column($queue->reserveMany(2), 'body'));
        $this->assertSame(['3'], array_column($queue->reserveMany(200, 10.0), 'body'));
    }

    public function test_reserve_with_arguments_out_of_range(): void
    {
        $queue = $this->queue();
        $queue->push('stays');
        foreach ([[-0.5], [NAN], [-INF], [1e30], [0.0, 0], [0.0, -1], [0.0, INF]] as $arguments) {
            $this->assertThrows(InvalidException::class, fn () => $queue->reserve(...$arguments));
        }
        foreach ([0, -1, 201, PHP_INT_MIN, PHP_INT_MAX] as $count) {
            $this->assertThrows(InvalidException::class, fn () => $queue->reserveMany($count));
        }
        $this->assertSame(1, $queue->stats()->ready);
    }

    public function test_reserve_with_arguments_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        foreach ([['1'], [null], [new \DateTimeImmutable()], [0.0, '1']] as $arguments) {
            try {
                $queue->reserve(...$arguments);
                $this->fail('no TypeError');
            } catch (\TypeError $e) {
                $this->assertStringContainsString(
                    'must be of type DateInterval|float',
                    $e->getMessage(),
                );
            }
        }
    }
}
