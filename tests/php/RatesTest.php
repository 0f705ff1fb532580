<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\InvalidException;
use Dueq\Rate;

/** What a queue did: rates, and the counts of stats. */
final class RatesTest extends QueueTestCase
{
    private const COUNTS = [
        'pushed', 'reserved', 'acked', 'retried', 'expired', 'died', 'cancelled',
    ];

    public function test_rates_of_a_queue_that_was_never_used(): void
    {
        foreach ($this->queue()->rates() as $rate) {
            $this->assertSame(0, $rate->pushed);
        }
        $this->assertNull($this->queue()->stats()->oldest);
    }

    public function test_rates_and_stats_count_what_happened(): void
    {
        $queue = $this->queue();
        $begin = $queue->stats()->now;
        $queue->pushMany(array_fill(0, 5, 'x'));
        [$a, $b, $c] = $queue->reserveMany(3);
        $a->ack();
        $b->retry();
        $c->bury();
        $queue->cancel($queue->push('y'));
        $wanted = [
            'pushed' => 6,
            'reserved' => 3,
            'acked' => 1,
            'retried' => 1,
            'expired' => 0,
            'died' => 1,
            'cancelled' => 1,
        ];
        $rates = $queue->rates();
        $this->assertContainsOnlyInstancesOf(Rate::class, $rates);
        $this->assertSame(array_keys($rates), range(0, count($rates) - 1));
        $stats = $queue->stats();
        foreach (self::COUNTS as $name) {
            // The minute may have changed meanwhile.
            $this->assertSame($wanted[$name], array_sum(array_column($rates, $name)), $name);
            $this->assertSame($wanted[$name], $stats->$name, $name);
        }
        $this->assertEqualsWithDelta($begin, $rates[count($rates) - 1]->start, 60);
        $this->assertGreaterThanOrEqual(0, $rates[0]->span);
        $this->assertEqualsWithDelta($stats->now, $stats->oldest, 60);
    }

    public function test_rates_of_minutes(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        foreach ([1, 2, 360] as $minutes) {
            $this->assertLessThanOrEqual($minutes, count($queue->rates($minutes)));
            $this->assertNotSame([], $queue->rates(minutes: $minutes));
        }
    }

    public function test_rates_out_of_range(): void
    {
        $queue = $this->queue();
        foreach ([0, -1, 361, PHP_INT_MIN, PHP_INT_MAX] as $minutes) {
            $this->assertThrows(InvalidException::class, fn () => $queue->rates($minutes));
        }
        $this->assertTypeError('($minutes)', fn () => $queue->rates('60'));
        foreach ([0, -1, 337, PHP_INT_MIN, PHP_INT_MAX] as $hours) {
            $this->assertThrows(InvalidException::class, fn () => $queue->rates(hours: $hours));
        }
        $this->assertThrows(InvalidException::class, fn () => $queue->rates(1, 1));
        $this->assertTypeError('($hours)', fn () => $queue->rates(hours: '24'));
    }

    public function test_rates_of_hours_and_what_was_measured(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $periods = [$queue->rates(null), $queue->rates(hours: 336), $queue->rates(hours: 1)];
        foreach ($periods as $rates) {
            $this->assertNotSame([], $rates);
            $this->assertSame(1, array_sum(array_column($rates, 'pushed')));
            foreach (['lateP50', 'lateP99', 'runP50', 'runP99'] as $name) {
                $this->assertNull($rates[0]->$name, $name);
            }
        }
    }
}
