<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use DateTimeImmutable;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Exception\TooLargeException;
use Dueq\Exception\WrongTypeException;
use Dueq\Order;
use Dueq\Queue;
use Dueq\State;

/** What is done to a queue from outside: kick, reschedule, pause, resume, purge, remove. */
final class ManageTest extends QueueTestCase
{
    /** @return list<string> ids of messages that are dead now; nothing else may be ready */
    private function bury(Queue $queue, int $count = 1): array
    {
        $ids = $queue->pushMany(array_fill(0, $count, 'x'));
        foreach ($queue->reserveMany($count) as $message) {
            $message->bury('no use');
        }
        return $ids;
    }

    /** @return array<string, string> the id of a message in each state */
    private function fill(Queue $queue): array
    {
        [$dead] = $this->bury($queue);
        $leased = $queue->push('leased');
        $queue->reserve();
        return [
            'dead' => $dead,
            'leased' => $leased,
            'delayed' => $queue->push('delayed', delay: 600),
            'ready' => $queue->push('ready'),
        ];
    }

    /** @param array{int, int, int, int} $wanted ready, delayed, leased, dead */
    private function assertCounts(array $wanted, Queue $queue): void
    {
        $stats = $queue->stats();
        $this->assertSame($wanted, [$stats->ready, $stats->delayed, $stats->leased, $stats->dead]);
    }

    /** Waits for a message. Another process runs $run once this process waits. */
    private function reserveBesides(Queue $queue, callable $run): string
    {
        $other = $this->besides(function () use ($run) {
            $this->server->awaitBlocked();
            $run($this->queue());
        });
        $begin = microtime(true);
        $message = $queue->reserve(30);
        pcntl_waitpid($other, $status);
        $this->assertNotNull($message);
        $this->assertLessThan(20, microtime(true) - $begin);
        return $message->body;
    }

    public function test_kick_gives_a_dead_message_its_attempts_again(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', maxAttempts: 2);
        foreach ([1, 3, 5] as $deliveries) {
            $message = $queue->reserve();
            $this->assertSame(
                [$id, 1, 2],
                [$message->id, $message->attempt, $message->maxAttempts],
            );
            $this->assertSame($deliveries, $message->deliveries);
            $this->assertTrue($message->retry(0, 'once'));
            $this->assertFalse($queue->reserve()->retry(error: 'twice'));
            $this->assertNull($queue->reserve());
            $this->assertSame(
                [State::Dead, 'twice'],
                [$queue->find($id)->state, $queue->find($id)->error],
            );
            $this->assertTrue($queue->kick($id));
            $this->assertFalse($queue->kick($id));
            $this->assertCounts([1, 0, 0, 0], $queue);
        }
        $queue->reserve()->ack();
        $this->assertSame(1, $queue->stats()->acked);
    }

    public function test_kick_in_other_states_is_false(): void
    {
        $queue = $this->queue();
        $ids = $this->fill($queue);
        $this->assertSame(
            [false, false, false, false],
            $queue->kickMany([$ids['ready'], $ids['delayed'], $ids['leased'], 'nobody']),
        );
        $this->assertCounts([1, 1, 1, 1], $queue);
    }

    public function test_kick_many_in_order_takes_any_number(): void
    {
        $queue = $this->queue();
        $ids = [...$this->bury($queue, 200), ...$this->bury($queue, 40)];
        $this->assertSame([], $queue->kickMany([]));
        $this->assertSame(
            [false, true, false],
            $queue->kickMany(['nobody', $ids[0], 'k' => $ids[0]]),
        );
        $this->assertSame(array_fill(0, 239, true), $queue->kickMany(array_slice($ids, 1)));
        $this->assertCounts([240, 0, 0, 0], $queue);
    }

    public function test_kick_wakes_who_waits(): void
    {
        $queue = $this->queue();
        [$id] = $this->bury($queue);
        $this->assertSame('x', $this->reserveBesides($queue, fn (Queue $same) => $same->kick($id)));
    }

    public function test_kick_and_reschedule_an_impossible_id(): void
    {
        $queue = $this->queue();
        $refused = [
            '' => InvalidException::class,
            str_repeat('x', 256) => TooLargeException::class,
        ];
        foreach ($refused as $id => $class) {
            $this->assertThrows($class, fn () => $queue->kick($id));
            $this->assertThrows($class, fn () => $queue->kickMany([$id]));
            $this->assertThrows($class, fn () => $queue->reschedule($id));
        }
        $this->expectException(\TypeError::class);
        $this->expectExceptionMessage('item 1: id must be of type string, int given');
        $queue->kickMany(['x', 7]);
    }

    public function test_reschedule_by_a_delay(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', delay: 600);
        foreach ([60, 120.5, new DateInterval('PT2H')] as $delay) {
            $this->assertTrue($queue->reschedule($id, $delay));
            $seconds = $delay instanceof DateInterval ? 7200 : $delay;
            $found = $queue->find($id);
            $this->assertSame(State::Delayed, $found->state);
            $this->assertEqualsWithDelta($queue->stats()->now + $seconds, $found->time, 5);
        }
        $this->assertCounts([0, 1, 0, 0], $queue);
    }

    public function test_reschedule_at_a_time(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', delay: 60);
        $time = (int) $queue->stats()->now + 600;
        foreach ([$time, $time + 0.25, new DateTimeImmutable("@$time")] as $at) {
            $this->assertTrue($queue->reschedule($id, at: $at));
            $wanted = $at instanceof DateTimeImmutable ? $time : $at;
            $this->assertEqualsWithDelta($wanted, $queue->find($id)->time, 0.0005);
        }
    }

    public function test_reschedule_to_now(): void
    {
        $queue = $this->queue();
        $past = new DateTimeImmutable('2001-01-01');
        $ways = [[], ['delay' => null, 'at' => null], ['delay' => 0], ['at' => $past], ['at' => 0]];
        foreach ($ways as $due) {
            $id = $queue->push('x', delay: 600);
            $this->assertTrue($queue->reschedule($id, ...$due));
            $this->assertFalse($queue->reschedule($id, 60));
            $message = $queue->reserve();
            $this->assertSame([$id, 1], [$message->id, $message->attempt]);
        }
    }

    public function test_reschedule_wakes_who_waits(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', delay: 600);
        $this->assertSame(
            'x',
            $this->reserveBesides($queue, fn (Queue $same) => $same->reschedule($id, 0.05)),
        );
    }

    public function test_reschedule_in_other_states_is_false(): void
    {
        $queue = $this->queue();
        $ids = $this->fill($queue);
        foreach ([$ids['ready'], $ids['leased'], $ids['dead'], 'nobody'] as $id) {
            $this->assertFalse($queue->reschedule($id, 60));
        }
        $this->assertCounts([1, 1, 1, 1], $queue);
    }

    public function test_reschedule_with_arguments_out_of_range(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', delay: 60);
        $before = $queue->stats()->nextEvent;
        foreach ([-1, NAN, INF, 1e12] as $seconds) {
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->reschedule($id, $seconds),
            );
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->reschedule($id, at: $seconds),
            );
        }
        $e = $this->assertThrows(InvalidException::class, fn () => $queue->reschedule($id, 1, 1));
        $this->assertStringContainsString('delay and at', $e->getMessage());
        foreach (['delay' => 2, 'at' => 3] as $name => $number) {
            try {
                $queue->reschedule($id, ...[$name => 'soon']);
                $this->fail('no TypeError');
            } catch (\TypeError $e) {
                $this->assertStringContainsString(
                    "Argument #$number (\$$name) must be",
                    $e->getMessage(),
                );
            }
        }
        $this->assertSame($before, $queue->stats()->nextEvent);
    }

    public function test_pause_hands_nothing_out(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(['a', 'b']);
        $held = $queue->reserve();
        $this->assertFalse($queue->stats()->paused);
        $queue->pause();
        $queue->pause();
        $this->assertTrue($queue->stats()->paused);
        $this->assertNull($queue->reserve());
        $this->assertSame([], $queue->reserveMany(10, 0.05));
        $this->assertTrue($held->retry(0));
        $queue->push('c');
        $this->assertSame(State::Ready, $queue->cancel($ids[1]));
        $this->assertNull($this->queue()->reserve());
        $this->assertCounts([2, 0, 0, 0], $queue);
        $queue->resume();
        $queue->resume();
        $this->assertFalse($queue->stats()->paused);
        $this->assertSame(
            ['a', 'c'],
            array_map(fn ($message) => $message->body, $queue->reserveMany(10)),
        );
    }

    public function test_pause_of_one_queue_leaves_the_others(): void
    {
        $this->queue()->pause();
        $other = $this->queue('other');
        $other->push('x');
        $this->assertSame('x', $other->reserve()->body);
        $this->assertFalse($other->stats()->paused);
    }

    public function test_resume_wakes_who_waits(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $queue->pause();
        $body = $this->reserveBesides($queue, function (Queue $same) {
            $same->push('y');
            $this->server->command('SET', 'still', (string) $same->stats()->ready);
            $same->resume();
        });
        $this->assertSame('x', $body);
        $this->assertSame('2', $this->server->command('GET', 'still'));
    }

    public function test_resume_hands_out_what_fell_due_meanwhile(): void
    {
        $queue = $this->queue();
        $queue->pause();
        $queue->push('x', delay: 0.05);
        $this->assertNull($queue->reserve(0.2));
        $queue->resume();
        $this->assertSame('x', $queue->reserve(10)->body);
    }

    public function test_purge_takes_one_state_only(): void
    {
        foreach ([State::Ready, State::Delayed, State::Leased, State::Dead] as $state) {
            $queue = $this->queue($state->value);
            $ids = $this->fill($queue);
            $this->assertSame(1, $queue->purge($state));
            $this->assertSame(0, $queue->purge($state));
            foreach ($ids as $name => $id) {
                $this->assertSame(
                    $name === $state->value,
                    $queue->find($id) === null,
                    "$name after {$state->value}",
                );
            }
            $this->assertSame(1, $queue->stats()->purged);
            $this->assertSame(0, $queue->stats()->{$state->value});
        }
    }

    public function test_a_second_settlement_says_that_this_program_has_settled_the_message(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        $message->ack();
        foreach (['ack', 'retry', 'bury', 'release'] as $again) {
            try {
                $message->$again();
                $this->fail("$again() was taken");
            } catch (LeaseLostException $error) {
                $this->assertSame(
                    'this program has settled the message already',
                    $error->getMessage(),
                );
            }
        }
        $this->assertFalse($message->lost);
    }

    public function test_purge_of_a_leased_message_loses_the_lease(): void
    {
        $queue = $this->queue();
        $queue->push('x', id: 'again');
        $message = $queue->reserve();
        $this->assertSame(1, $queue->purge(State::Leased));
        $this->assertThrows(LeaseLostException::class, fn () => $message->ack());
        $this->assertSame('again', $queue->push('y', id: 'again'));
    }

    public function test_purge_reports_its_progress(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 407, 'x'));
        $told = [];
        $this->assertSame(407, $queue->purge(State::Ready, function (int $total) use (&$told) {
            $told[] = $total;
            return ['what it returns', 'does not matter'];
        }));
        $this->assertSame([200, 400, 407], $told);
        $this->assertSame(407, $queue->stats()->purged);
    }

    public function test_purge_takes_any_callable(): void
    {
        $queue = $this->queue();
        $listener = new class () {
            /** @var list<array{string, int}> */
            public array $told = [];

            public function __call(string $name, array $arguments): void
            {
                $this->told[] = [$name, ...$arguments];
            }
        };
        foreach ([[$listener, 'steps'], $listener->steps(...)] as $progress) {
            $queue->pushMany(array_fill(0, 201, 'x'));
            $listener->told = [];
            $this->assertSame(201, $queue->purge(State::Ready, $progress));
            $this->assertSame([['steps', 200], ['steps', 201]], $listener->told);
        }
        $this->assertSame(0, $queue->purge(State::Ready, null));
        $this->expectException(\TypeError::class);
        $queue->purge(State::Ready, 'no_such_function');
    }

    public function test_purge_ends_where_progress_throws(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 500, 'x'));
        $thrown = new \LogicException('enough');
        try {
            $queue->purge(State::Ready, fn (int $total) => $total === 400 ? throw $thrown : null);
            $this->fail('the exception is lost');
        } catch (\LogicException $e) {
            $this->assertSame($thrown, $e);
        }
        $this->assertSame([100, 400], [$queue->stats()->ready, $queue->stats()->purged]);
        $this->assertSame('x', $queue->reserve()->body);
        $this->assertSame(99, $queue->purge(State::Ready));
    }

    public function test_purge_lets_progress_use_the_queue(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 201, ['body' => 'x', 'delay' => 600]));
        $bodies = [];
        $progress = function (int $total) use ($queue, &$bodies) {
            $queue->push("after $total");
            $bodies[] = $queue->reserve()->body;
            $queue->purge(State::Dead);
        };
        $this->assertSame(201, $queue->purge(State::Delayed, $progress));
        $this->assertSame(['after 200', 'after 201'], $bodies);
        $this->assertCounts([0, 0, 2, 0], $queue);
    }

    public function test_purge_throws_when_a_step_fails(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 300, 'x'));
        $told = [];
        $break = function (int $total) use (&$told) {
            $told[] = $total;
            $this->server->command('SET', 'dueq:{q}:attempts', 'not a hash');
        };
        $this->assertThrows(
            WrongTypeException::class,
            fn () => $queue->purge(State::Ready, $break),
        );
        $this->assertSame([200], $told);
        $this->server->command('DEL', 'dueq:{q}:attempts');
        $this->assertSame(100, $queue->purge(State::Ready));
    }

    public function test_remove_takes_all(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 400, 'x'));
        $held = $queue->reserve();
        $queue->push('y', delay: 600, id: 'y', unique: 600);
        $this->assertSame(401, $queue->remove());
        $this->assertSame(
            [],
            array_filter(
                $this->server->command('KEYS', '*'),
                fn ($key) => !str_contains($key, ':reply:'),
            ),
        );
        $this->assertSame([], Queue::names($queue->url()));
        $this->assertThrows(LeaseLostException::class, fn () => $held->ack());
        $this->assertSame(0, $queue->remove());
    }

    public function test_purge_of_no_state(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        foreach (['ready', '', 1, Order::Preference] as $state) {
            $this->assertTypeError('($state)', fn () => $queue->purge($state));
        }
        $this->assertCounts([1, 0, 0, 0], $queue);
    }

    public function test_purge_keeps_memory_flat(): void
    {
        $queue = $this->queue();
        $cycle = function () use ($queue) {
            $queue->push('x');
            $queue->purge(State::Ready, fn (int $total) => str_repeat('y', $total + 100));
            try {
                $queue->purge(State::Ready, fn () => throw new \LogicException());
            } catch (\LogicException) {
            }
        };
        for ($i = 0; $i < 100; $i++) {
            $cycle();
        }
        $before = memory_get_usage();
        for ($i = 0; $i < 1000; $i++) {
            $cycle();
        }
        $this->assertLessThan(16 * 1024, memory_get_usage() - $before);
    }

    public function test_stats_count_how_messages_left(): void
    {
        $queue = $this->queue();
        $this->fill($queue);
        $queue->push('held');
        $queue->reserve()->ack();
        $queue->cancelMany($queue->pushMany(['a', 'b']));
        $queue->purge(State::Ready);
        $queue->purge(State::Leased);
        $queue->purge(State::Dead);
        $stats = $queue->stats();
        $this->assertSame([1, 2, 3], [$stats->acked, $stats->cancelled, $stats->purged]);
        $this->assertSame(
            [0, 1, 0, 0, false],
            [$stats->ready, $stats->delayed, $stats->leased, $stats->dead, $stats->paused],
        );
    }
}
