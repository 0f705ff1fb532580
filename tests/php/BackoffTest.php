<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use DateTimeImmutable;
use Dueq\Backoff;
use Dueq\BackoffKind;
use Dueq\Exception\InvalidException;
use Dueq\Jitter;
use Dueq\Queue;
use Dueq\State;

/** The delay of a retry() without a delay: the class Backoff, and what push() accepts. */
final class BackoffTest extends QueueTestCase
{
    /** @return list<int> the delays of the message's first retries in whole seconds */
    private function delays(Queue $queue, int $count, mixed $backoff): array
    {
        $id = $queue->push('x', maxAttempts: null, backoff: $backoff);
        $delays = [];
        while ($count--) {
            $this->assertTrue($queue->reserve()->retry());
            $found = $queue->find($id);
            $delays[] = $found->state === State::Delayed
                ? (int) round($found->time - $queue->stats()->now)
                : 0;
            $queue->reschedule($id);
        }
        $queue->cancel($id);
        return $delays;
    }

    /** @param list<int> $wanted */
    private function assertDelays(array $wanted, Queue $queue, mixed $backoff): void
    {
        foreach ($this->delays($queue, count($wanted), $backoff) as $n => $delay) {
            $this->assertEqualsWithDelta($wanted[$n], $delay, 5, "failure $n");
        }
    }

    public function test_retry_without_a_delay_goes_by_the_backoff(): void
    {
        $queue = $this->queue();
        $this->assertDelays([0, 0], $queue, 0);
        $this->assertDelays([0, 0], $queue, Backoff::fixed(0));
        $this->assertDelays([100, 100], $queue, 100);
        $this->assertDelays([100, 100], $queue, 100.0);
        $this->assertDelays([120, 120], $queue, new DateInterval('PT2M'));
        $this->assertDelays([0, 100, 3600, 3600], $queue, [0, 100.0, new DateInterval('PT1H')]);
        $this->assertDelays([100, 100], $queue, Backoff::fixed(100));
        $this->assertDelays([100, 200, 300], $queue, Backoff::linear(100));
        $this->assertDelays([100, 200, 250, 250], $queue, Backoff::linear(100, 250));
        $this->assertDelays([100, 200, 400, 800], $queue, Backoff::exponential(100));
        $this->assertDelays([100, 200, 300, 300], $queue, Backoff::exponential(100, cap: 300));
        $this->assertDelays([100, 50, 50], $queue, Backoff::list([100, 50]));
    }

    public function test_retry_without_a_backoff_goes_by_the_default(): void
    {
        $queue = $this->queue();
        foreach ($this->delays($queue, 15, null) as $n => $delay) {
            $most = min(2 ** $n, 3600);
            $this->assertGreaterThanOrEqual($most / 2 - 5, $delay, "failure $n");
            $this->assertLessThanOrEqual($most, $delay, "failure $n");
        }
        $this->assertSame(16, $queue->find($queue->push('x'))->maxAttempts);
    }

    public function test_retry_with_a_delay_does_not_ask_the_backoff(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', backoff: 3600);
        $this->assertTrue($queue->reserve()->retry(0));
        $this->assertSame(State::Ready, $queue->find($id)->state);
        $this->assertTrue($queue->reserve()->retry(delay: 60));
        $this->assertEqualsWithDelta($queue->stats()->now + 60, $queue->find($id)->time, 5);
        $queue->reschedule($id);
        $this->assertTrue($queue->reserve()->retry(null, 'by the backoff'));
        $this->assertEqualsWithDelta($queue->stats()->now + 3600, $queue->find($id)->time, 5);
    }

    public function test_jitter_stays_in_its_bounds(): void
    {
        $queue = $this->queue();
        $bounds = [[Jitter::None, 1000, 1000], [Jitter::Full, 0, 1000], [Jitter::Equal, 500, 1000]];
        foreach ($bounds as [$jitter, $least, $most]) {
            foreach ([Backoff::fixed(1000, $jitter), Backoff::list([1000], $jitter)] as $backoff) {
                $delays = $this->delays($queue, 20, $backoff);
                $this->assertGreaterThan($least - 5, min($delays));
                $this->assertLessThan($most + 5, max($delays));
                $this->assertSame($jitter === Jitter::None, max($delays) - min($delays) < 10);
            }
        }
    }

    public function test_push_many_takes_backoffs_of_every_kind(): void
    {
        $queue = $this->queue();
        $queue->pushMany([
            ['body' => '60', 'backoff' => 60],
            ['body' => '70', 'backoff' => [70.0, 1]],
            ['body' => '80', 'backoff' => Backoff::exponential(80, jitter: Jitter::None)],
            ['body' => '90', 'backoff' => new DateInterval('PT90S')],
        ]);
        foreach ($queue->reserveMany(4) as $message) {
            $message->retry();
            $time = $queue->find($message->id)->time;
            $this->assertEqualsWithDelta($queue->stats()->now + (int) $message->body, $time, 5);
        }
    }

    public function test_a_backoff_shows_what_it_was_made_of(): void
    {
        $show = fn (Backoff $b) => [$b->kind, $b->base, $b->cap, $b->delays, $b->jitter];
        $this->assertSame(
            [BackoffKind::Fixed, 1.5, null, [], Jitter::None],
            $show(Backoff::fixed(1.5)),
        );
        $this->assertSame(
            [BackoffKind::Fixed, 60.0, null, [], Jitter::Full],
            $show(Backoff::fixed(new DateInterval('PT1M'), Jitter::Full)),
        );
        $this->assertSame(
            [BackoffKind::Linear, 1.0, 9.0, [], Jitter::None],
            $show(Backoff::linear(1, 9)),
        );
        $this->assertSame(
            [BackoffKind::Exponential, 1.0, null, [], Jitter::Equal],
            $show(Backoff::exponential(base: 1, jitter: Jitter::Equal))
        );
        $this->assertSame(
            [BackoffKind::List, null, null, [0.0, 2.5], Jitter::None],
            $show(Backoff::list(['a' => 0, 'b' => 2.5])),
        );
        $this->assertEquals(Backoff::fixed(1), Backoff::fixed(1.0));
        $this->assertNotEquals(Backoff::fixed(1), Backoff::fixed(2));
    }

    public function test_a_backoff_is_used_again_and_outlives_its_messages(): void
    {
        $delay = 30;
        $delays = [&$delay, 600];
        $backoff = Backoff::list($delays);
        $delay = 9999;
        $queue = $this->queue();
        for ($i = 0; $i < 3; $i++) {
            $this->assertDelays([30, 600], $queue, $backoff);
        }
        unset($backoff);
        $this->assertSame(0, gc_collect_cycles());
    }

    public function test_a_backoff_out_of_range(): void
    {
        $queue = $this->queue();
        $back = new DateInterval('PT1S');
        $back->invert = 1;
        $made = [
            fn () => Backoff::fixed(-1), fn () => Backoff::fixed(NAN),
            fn () => Backoff::fixed($back),
            fn () => Backoff::linear(INF), fn () => Backoff::linear(1, -1),
            fn () => Backoff::linear(1, 0),
            fn () => Backoff::list([1, -1]),
        ];
        foreach ($made as $make) {
            $this->assertThrows(InvalidException::class, $make);
        }
        $pushed = [
            -1, NAN, 1e8, $back, [], [-1], [1e8], array_fill(0, 33, 1),
            Backoff::linear(0), Backoff::list([]),
            Backoff::list(array_fill(0, 33, 1)), Backoff::exponential(1e8), Backoff::linear(1, 1e8),
        ];
        foreach ($pushed as $backoff) {
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->push('x', backoff: $backoff),
            );
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->pushMany([['body' => 'x', 'backoff' => $backoff]])
            );
        }
        $this->assertSame(0, $queue->stats()->pushed);
        $queue->push('the longest list', backoff: array_fill(0, 32, 0));
        $queue->push('the longest delay', backoff: 4294967.295);
    }

    public function test_a_backoff_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        $bad = [
            '$delay' => fn () => Backoff::fixed(null), '$base' => fn () => Backoff::linear('1'),
            '$cap' => fn () => Backoff::exponential(1, '2'),
            '$jitter' => fn () => Backoff::fixed(1, null),
            '$delays' => fn () => Backoff::list([1, '2']),
            '$backoff' => fn () => $queue->push('x', backoff: '1'),
        ];
        foreach ($bad as $argument => $run) {
            $this->assertTypeError($argument, $run);
        }
        $runs = [
            fn () => Backoff::fixed(1, 'full'),
            fn () => Backoff::linear(1, 60, 'full'),
            fn () => Backoff::exponential(1, 60, 'full'),
            fn () => Backoff::list([1], 'full'),
        ];
        foreach ($runs as $run) {
            $this->assertTypeError('($jitter)', $run);
        }
        $backoffs = [true, new DateTimeImmutable(), new \stdClass(), ['1'], [null], [[1]]];
        foreach ($backoffs as $backoff) {
            $this->assertTypeError('$backoff', fn () => $queue->push('x', backoff: $backoff));
            $items = ['fine', ['body' => 'x', 'backoff' => $backoff]];
            $this->assertTypeError('item 1: backoff must be', fn () => $queue->pushMany($items));
        }
    }
}
