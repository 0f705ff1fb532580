<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\ClosedException;
use Dueq\Exception\ConnectException;
use Dueq\Exception\DueqException;
use Dueq\Exception\InvalidException;
use Dueq\Queues;

/** reserveStart() in event loops: a stream to wait for, and nothing that blocks. */
final class EventLoopTest extends QueueTestCase
{
    private static function cpu(): float
    {
        $usage = getrusage();
        return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']
            + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
    }

    public function test_many_queues_are_waited_for_in_one_loop(): void
    {
        $pending = [];
        foreach (range(1, 30) as $i) {
            $pending["q$i"] = $this->queue("q$i")->reserveStart();
        }
        $producer = $this->besides(function () {
            $this->server->awaitBlocked();
            foreach (range(30, 1) as $i) {
                $this->queue("q$i")->push("to q$i", delay: $i % 3 / 10);
            }
        });
        $this->loop($pending);
        pcntl_waitpid($producer, $status);
        foreach ($pending as $name => $one) {
            $message = $one->result();
            $this->assertSame(
                [$name, "to $name", 1],
                [$message->queue, $message->body, $message->attempt],
            );
            $message->ack();
        }
    }

    public function test_fibers_wait_on_two_queues_while_a_timer_ticks(): void
    {
        $got = [];
        $worker = function (string $name) use (&$got): void {
            $queue = $this->queue($name);
            for ($i = 0; $i < 3; $i++) {
                $pending = $queue->reserveStart();
                while (!$pending->poll()) {
                    \Fiber::suspend($pending->stream());
                }
                $message = $pending->result();
                $message->ack();
                $got[] = $message->body;
            }
        };
        foreach (['a', 'b'] as $name) {
            foreach (range(1, 3) as $i) {
                $this->queue($name)->push("$name$i", delay: $i * 0.2 + ($name === 'b' ? 0.1 : 0));
            }
        }
        $ticks = 0;
        $tick = microtime(true);
        $fibers = $streams = [];
        foreach (['a', 'b'] as $name) {
            $fibers[$name] = new \Fiber($worker);
            $streams[$name] = $fibers[$name]->start($name);
        }
        for ($end = microtime(true) + 20; $streams && microtime(true) < $end;) {
            [$read, $write, $except] = [$streams, [], []];
            stream_select(
                $read,
                $write,
                $except,
                0,
                max(0, (int) (($tick - microtime(true)) * 1e6)),
            );
            foreach ($read as $name => $stream) {
                $streams[$name] = $fibers[$name]->resume();
            }
            $streams = array_filter($streams);
            if (microtime(true) >= $tick) {
                $tick += 0.01;
                $ticks++;
            }
        }
        $this->assertSame(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'], $got);
        $this->assertGreaterThan(20, $ticks, 'something blocked');
    }

    public function test_all_other_methods_work_meanwhile(): void
    {
        $queue = $this->queue();
        $pending = [$queue->reserveStart(), $queue->reserveStart()];
        $this->assertSame([false, false], [$pending[0]->poll(), $pending[1]->poll()]);
        $queue->pushMany(['1', '2', '3']);
        $this->loop($pending);
        [$one, $other] = [$pending[0]->result(), $pending[1]->result()];
        $third = $queue->reserveStart();
        $one->retry(60);
        $other->ack(push: ['4']);
        $this->loop([$third]);
        $this->assertSame('3', $third->result()->body);
        $this->assertSame('4', $queue->reserve()->body);
        $this->assertSame([1, 2], [$queue->stats()->delayed, $queue->stats()->leased]);
    }

    public function test_several_queues_at_once(): void
    {
        $queues = new Queues(['a', 'b'], $this->server->url());
        $pending = $queues->reserveStart(lease: 600);
        $this->assertFalse($pending->poll());
        $this->queue('b')->push('x');
        $this->loop([$pending]);
        $message = $pending->result();
        $this->assertSame(['b', 'x'], [$message->queue, $message->body]);
        $this->assertEqualsWithDelta($this->queue('b')->stats()->now + 600, $message->time, 5);
        $message->ack();
        $this->assertSame(1, $this->queue('b')->stats()->acked);
    }

    public function test_a_message_that_is_due_later_comes_at_its_time(): void
    {
        $queue = $this->queue();
        $pending = $queue->reserveStart();
        $queue->push('x', delay: 0.4);
        $begin = microtime(true);
        $this->loop([$pending]);
        $this->assertGreaterThan(0.39, microtime(true) - $begin);
        $this->assertLessThan(5, microtime(true) - $begin);
        $this->assertSame('x', $pending->result()->body);
    }

    public function test_it_ends_after_its_timeout_and_the_result_stays(): void
    {
        $queue = $this->queue();
        foreach ([0.0, 0.3] as $timeout) {
            $begin = microtime(true);
            $pending = $queue->reserveStart($timeout);
            $this->loop([$pending]);
            $this->assertGreaterThan($timeout - 0.01, microtime(true) - $begin);
            $this->assertNull($pending->result());
            $this->assertTrue($pending->poll());
        }
        $queue->push('x');
        $pending = $queue->reserveStart();
        $this->loop([$pending]);
        $this->assertSame($pending->result(), $pending->result());
        $pending->cancel();
        $this->assertSame(1, $queue->stats()->leased);
    }

    public function test_there_is_no_result_before_the_end(): void
    {
        $pending = $this->queue()->reserveStart();
        try {
            $pending->result();
            $this->fail('no Error');
        } catch (\Error $e) {
            $this->assertStringContainsString('is in progress', $e->getMessage());
        }
    }

    public function test_arguments_out_of_range(): void
    {
        foreach ([[-0.5], [NAN], [0.0, 0], [0.0, INF]] as $arguments) {
            $this->assertThrows(
                InvalidException::class,
                fn () => $this->queue()->reserveStart(...$arguments),
            );
        }
        $this->assertTypeError('DateInterval|float', fn () => $this->queue()->reserveStart('1'));
    }

    public function test_cancel_while_it_waits(): void
    {
        $queue = $this->queue();
        $pending = $queue->reserveStart();
        $this->assertFalse($pending->poll());
        $pending->cancel();
        $this->assertTrue($pending->poll());
        $this->assertNull($pending->result());
        $pending->cancel();
        $queue->push('x');
        $this->assertSame(1, $queue->stats()->ready);
        $this->assertSame(1, $queue->reserve()->deliveries);
    }

    public function test_cancel_loses_nothing_whenever_it_comes(): void
    {
        $queue = $this->queue();
        foreach (['cancel', 'drop'] as $way) {
            for ($polls = 0; $polls < 12; $polls++) {
                $pending = $queue->reserveStart();
                $stream = $pending->stream();
                for ($i = 0; $i < 3; $i++) {
                    [$read, $write, $except] = [[$stream], [], []];
                    stream_select($read, $write, $except, 0, 2000) && $pending->poll();
                }
                $queue->push('x');
                for ($i = 0; $i < $polls && !$pending->poll(); $i++) {
                    [$read, $write, $except] = [[$stream], [], []];
                    stream_select($read, $write, $except, 0, 2000);
                }
                if ($way === 'cancel') {
                    $pending->cancel();
                    $this->assertNull($pending->result());
                }
                unset($pending);
                $stats = $queue->stats();
                $this->assertSame(
                    [1, 0],
                    [$stats->ready, $stats->leased],
                    "$way after $polls polls",
                );
                $message = $queue->reserve();
                $this->assertSame([1, 0], [$message->attempt, $message->crashes]);
                $message->ack();
            }
        }
    }

    public function test_a_lost_connection_is_made_again(): void
    {
        $queue = $this->queue();
        $pending = $queue->reserveStart();
        $this->loop([$pending], 0.1);
        foreach ([1, 2] as $time) {
            $this->server->awaitBlocked();
            $this->server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            $this->loop([$pending], 0.5);
        }
        $queue->push('x');
        $this->loop([$pending]);
        $this->assertSame('x', $pending->result()->body);
        $this->assertSame(1, $queue->stats()->leased);
    }

    public function test_a_server_that_was_killed_and_comes_back(): void
    {
        $server = new Server();
        $queue = new \Dueq\Queue('q', $server->url());
        $pending = $queue->reserveStart();
        $this->loop([$pending], 0.1);
        $server->awaitBlocked();
        $server->kill();
        $begin = self::cpu();
        $this->loop([$pending], 0.7);
        $this->assertLessThan(0.35, self::cpu() - $begin, 'it does not hammer');
        $this->assertFalse($pending->poll());
        $server->start();
        $producer = $this->besides(fn () => (new \Dueq\Queue('q', $server->url()))->push('x'));
        $this->loop([$pending]);
        $this->assertSame('x', $pending->result()->body);
        pcntl_waitpid($producer, $status);
        $server->remove();
    }

    public function test_a_server_that_was_killed_for_good(): void
    {
        $server = new Server();
        $queue = new \Dueq\Queue('q', $server->url('timeout=300ms'));
        $pending = $queue->reserveStart(1.0);
        $this->loop([$pending], 0.1);
        $server->kill();
        $this->loop([$pending]);
        foreach ([1, 2] as $time) {
            try {
                $pending->result();
                $this->fail('no exception');
            } catch (DueqException $e) {
                $this->assertTrue($e->isRetriable(), $e->getMessage());
            }
        }
        $refused = $queue->reserveStart(0.1);
        $this->loop([$refused]);
        $this->assertThrows(ConnectException::class, fn () => $refused->result());
        $server->remove();
    }

    public function test_an_idle_wait_costs_no_cpu(): void
    {
        foreach (range(1, 10) as $i) {
            $pending[] = $this->queue("q$i")->reserveStart();
        }
        $this->loop($pending, 0.3);
        $cpu = self::cpu();
        $wakes = $this->loop($pending, 1.5);
        $this->assertLessThan(0.1, self::cpu() - $cpu);
        $this->assertLessThan(10, $wakes);
    }

    public function test_stream_and_queue_are_closed_in_any_order(): void
    {
        $queue = $this->queue();
        $pending = $queue->reserveStart();
        fclose($pending->stream());
        $stream = $pending->stream();
        unset($queue);
        $this->queue()->push('x');
        $this->loop([$pending]);
        $this->assertSame('x', $pending->result()->body);
        $this->assertIsResource($pending->stream());
        $pending = $this->queue()->reserveStart();
        $kept = $pending->stream();
        $this->loop([$pending], 0.1);
        unset($pending);
        $this->queue()->push('y');
        [$read, $write, $except] = [[$stream, $kept], [], []];
        $this->assertSame(
            0,
            stream_select($read, $write, $except, 0, 200000),
            'an ended one is never readable',
        );
        $ended = $this->queue()->reserveStart(0.0);
        while (!$ended->poll()) {
            usleep(1000);
        }
        $ended->result()->ack();
        $this->assertError('has ended', fn () => $ended->stream());
    }

    public function test_connections_are_used_again(): void
    {
        $queue = $this->queue();
        for ($i = 0; $i < 50; $i++) {
            $pending = $queue->reserveStart();
            $queue->push('x');
            $this->loop([$pending]);
            $pending->result()->ack();
        }
        $info = $this->server->command('INFO', 'clients');
        preg_match('/^connected_clients:(\d+)/m', $info, $match);
        $this->assertLessThan(6, (int) $match[1]);
    }

    public function test_fork_the_child_leaves_it_alone(): void
    {
        $queue = $this->queue();
        $pending = $queue->reserveStart();
        $this->loop([$pending], 0.1);
        $this->server->awaitBlocked();
        $child = $this->inChild(function () use (&$pending, &$queue) {
            $ended = $pending->poll();
            try {
                $pending->result();
            } catch (ClosedException $e) {
                $own = $queue->reserveStart(0.0);
                $this->loop([$own]);
                return [$ended, $e->getMessage(), $own->result()];
            }
        });
        $this->assertSame([true, null], [$child[0], $child[2]]);
        $this->assertStringContainsString("belongs to the parent", $child[1]);
        $this->inChild(function () use (&$pending, &$queue) {
            unset($pending, $queue);
        });
        $queue->push('x');
        $this->loop([$pending]);
        $this->inChild(function () use (&$pending) {
            unset($pending);
        });
        $this->assertSame(1, $queue->stats()->leased);
        $this->assertSame('x', $pending->result()->body);
    }

    public function test_fork_a_child_that_lives_on_makes_no_busy_loop(): void
    {
        $queue = $this->queue();
        $pending = $queue->reserveStart();
        $this->loop([$pending], 0.1);
        $this->server->awaitBlocked();
        $child = $this->besides(fn () => sleep(60));
        $this->server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        $this->loop([$pending], 1.0);
        $cpu = self::cpu();
        $wakes = $this->loop([$pending], 1.0);
        posix_kill($child, SIGKILL);
        pcntl_waitpid($child, $status);
        $this->assertLessThan(10, $wakes);
        $this->assertLessThan(0.2, self::cpu() - $cpu);
        $queue->push('x');
        $this->loop([$pending]);
        $this->assertSame('x', $pending->result()->body);
    }
}
