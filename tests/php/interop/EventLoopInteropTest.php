<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\ClosedException;
use Dueq\Exception\ConnectException;
use Dueq\Exception\CorruptException;
use Dueq\Exception\InvalidException;
use Dueq\Interop\Moved;
use Dueq\Laravel\Job as LaravelJob;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Pending;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;

/** Calls of DelayedQueue and LaravelQueue that do not wait, in event loops, as in EventLoopTest. */
final class EventLoopInteropTest extends QueueTestCase
{
    private const RAW = '{"uuid":"u-1","job":"Raw@run","data":[],"id":"i-1","attempts":0}';

    private function delayed(string $name = 'orders', Codec $codec = Codec::Kryo5): DelayedQueue
    {
        return new DelayedQueue($name, $this->server->url(), $codec);
    }

    private function laravel(string $name = 'default'): LaravelQueue
    {
        return new LaravelQueue($name, $this->server->url());
    }

    /** Runs the loop until the call has ended. Returns the call's result. */
    private function resultOf(Pending $pending): mixed
    {
        $this->loop([$pending]);
        return $pending->result();
    }

    /** Polls the call up to $times times, with a wait of up to 2 ms after each. */
    private function move(Pending $pending, int $times): void
    {
        $stream = $pending->stream();
        for ($i = 0; $i < $times && !$pending->poll(); $i++) {
            [$read, $write, $except] = [[$stream], [], []];
            stream_select($read, $write, $except, 0, 2000);
        }
    }

    public function test_all_kinds_wait_in_one_loop(): void
    {
        [$delayed, $default, $mail] = [$this->delayed(), $this->laravel(), $this->laravel('mail')];
        $pending = [
            $delayed->takeStart(), $delayed->transferStart(),
            $default->popStart(), $mail->migrateStart(),
            $this->queue()->reserveStart(),
        ];
        $this->assertSame(array_fill(0, 5, false), array_map(fn ($one) => $one->poll(), $pending));
        $delayed->offer('order 7', delay: 0.3);
        $default->push('Job', ['n' => 5]);
        $mail->later(1, 'Later');
        $this->queue()->push('x');
        $this->loop($pending);
        [$value, $moved, $job, $migrated, $message] = array_map(
            fn ($one) => $one->result(),
            $pending,
        );
        $this->assertSame('order 7', $value);
        $this->assertInstanceOf(Moved::class, $moved);
        $this->assertSame([1, 0, null], [$moved->moved, $moved->quarantined, $moved->next]);
        $this->assertInstanceOf(LaravelJob::class, $job);
        $this->assertSame(['Job', ['n' => 5], 1], [$job->name, $job->data, $job->attempts]);
        $this->assertSame(1, $migrated->moved);
        $this->assertSame('x', $message->body);
        $job->delete();
        $this->assertSame([0, 1], [$default->size()->reserved, $mail->size()->ready]);
    }

    public function test_fibers_offer_transfer_and_take(): void
    {
        $await = function (Pending $pending): mixed {
            while (!$pending->poll()) {
                \Fiber::suspend($pending->stream());
            }
            return $pending->result();
        };
        $got = [];
        $take = function () use ($await, &$got) {
            $queue = $this->delayed();
            while (count($got) < 3) {
                $got[] = $await($queue->takeStart());
            }
        };
        $transfer = function () use ($await, &$got) {
            $queue = $this->delayed();
            foreach (['c' => 0.6, 'b' => 0.4, 'a' => 0.2] as $value => $delay) {
                $queue->offer($value, $delay);
            }
            for ($moved = 0; $moved < 3;) {
                $moved += $await($queue->transferStart())->moved;
            }
        };
        $fibers = [new \Fiber($take), new \Fiber($transfer)];
        $streams = array_filter(array_map(fn ($fiber) => $fiber->start(), $fibers));
        for ($end = microtime(true) + 20; $streams && microtime(true) < $end;) {
            [$read, $write, $except] = [$streams, [], []];
            stream_select($read, $write, $except, 1);
            foreach (array_keys($read) as $i) {
                $streams[$i] = $fibers[$i]->resume();
            }
            $streams = array_filter($streams);
        }
        $this->assertSame(['a', 'b', 'c'], $got);
    }

    public function test_the_end_of_the_timeout(): void
    {
        [$delayed, $laravel] = [$this->delayed(), $this->laravel()];
        foreach ([0.0, 0.3] as $timeout) {
            $begin = microtime(true);
            $pending = [$delayed->takeStart($timeout), $laravel->popStart($timeout),
                $delayed->transferStart($timeout), $laravel->migrateStart($timeout)];
            $this->loop($pending);
            $this->assertGreaterThan($timeout - 0.01, microtime(true) - $begin);
            $this->assertSame([null, null], [$pending[0]->result(), $pending[1]->result()]);
            foreach ([$pending[2]->result(), $pending[3]->result()] as $moved) {
                $this->assertSame([0, 0, null], [$moved->moved, $moved->quarantined, $moved->next]);
            }
            $this->assertSame($pending[2]->result(), $pending[2]->result());
        }
    }

    public function test_parameters_are_those_of_the_method_that_waits(): void
    {
        [$delayed, $laravel] = [$this->delayed(codec: Codec::String), $this->laravel()];
        $delayed->offerMany(['a', 'b', 'c']);
        $this->assertSame(2, $this->resultOf($delayed->transferStart(0.0, 2))->moved);
        $laravel->push('Job');
        $job = $this->resultOf($laravel->popStart(retryAfter: 600));
        $this->assertEqualsWithDelta(microtime(true) + 600, $job->until, 5);
        $laravel->push('Job');
        $this->assertEqualsWithDelta(
            microtime(true) + 90,
            $this->resultOf($laravel->popStart())->until,
            5,
        );
        $invalid = [
            fn () => $delayed->takeStart(-1), fn () => $delayed->transferStart(NAN),
            fn () => $delayed->transferStart(0, 0),
            fn () => $delayed->transferStart(0, 201),
            fn () => $laravel->popStart(-1), fn () => $laravel->popStart(0, 0),
            fn () => $laravel->migrateStart(-1), fn () => $laravel->migrateStart(0, -1),
        ];
        foreach ($invalid as $run) {
            $this->assertThrows(InvalidException::class, $run);
        }
        $this->assertTypeError('#1 ($timeout)', fn () => $delayed->takeStart('1'));
        $this->assertTypeError('#2 ($most)', fn () => $laravel->migrateStart(0.0, '1'));
        $this->assertTypeError('#2 ($retryAfter)', fn () => $laravel->popStart(0.0, '1'));
        $this->assertIsString(
            $this->resultOf($delayed->takeStart(20)),
            'after failures on the same connection',
        );
    }

    public function test_a_null_is_a_value(): void
    {
        $queue = $this->delayed();
        $queue->offer(null);
        $queue->transfer();
        $pending = $queue->takeStart();
        $this->assertNull($this->resultOf($pending));
        $this->assertSame(0, $this->server->command('LLEN', 'orders'));
        $pending->cancel();
        $this->assertNull($pending->result());
        $this->assertSame(0, $this->server->command('LLEN', 'orders'));
    }

    public function test_a_value_that_cannot_be_read(): void
    {
        $raw = hex2bin('010050656572244f726465f20e4164e1');
        $this->server->command('RPUSH', 'orders', $raw);
        $queue = $this->delayed();
        $pending = $queue->takeStart();
        $this->loop([$pending]);
        foreach ([1, 2] as $time) {
            $e = $this->assertThrows(CorruptException::class, fn () => $pending->result());
            $this->assertSame($raw, $e->raw);
            $this->assertStringContainsString('Peer$Order', $e->getMessage());
            $queue->destroy();
        }
    }

    public function test_what_was_quarantined_is_logged(): void
    {
        $this->server->command('ZADD', 'redisson_delay_queue_timeout:{orders}', '1', 'no layout');
        $this->server->command('RPUSH', 'redisson_delay_queue:{orders}', 'no layout');
        $this->server->command('RPUSH', 'queues:default', 'no JSON');
        $started = [
            'orders' => $this->delayed()->transferStart(),
            'default' => $this->laravel()->popStart(0.0),
        ];
        foreach ($started as $name => $pending) {
            $log = self::logged(fn () => $this->resultOf($pending));
            $this->assertStringContainsString("$name: 1 damaged entries were quarantined", $log);
            $this->assertSame('', self::logged(fn () => $pending->result()));
        }
    }

    public function test_all_other_methods_work_meanwhile(): void
    {
        [$delayed, $laravel] = [$this->delayed(codec: Codec::String), $this->laravel()];
        $pending = [$delayed->takeStart(), $laravel->popStart(), $delayed->transferStart()];
        array_map(fn ($one) => $this->move($one, 5), $pending);
        $this->assertNull($delayed->take(0.1));
        $this->assertNull($laravel->pop(0.1));
        $delayed->offer('far', delay: 60);
        $this->assertSame([1, 0], [$delayed->size()->delayed, $delayed->transfer()->moved]);
        $this->assertSame('far', $delayed->poll());
        $laravel->pushMany(['A', 'B']);
        $this->loop([$pending[1]]);
        $names = [$pending[1]->result()->name, $laravel->pop()->name];
        sort($names);
        $this->assertSame(['A', 'B'], $names);
        $pending[1]->result()->release(60);
        $this->assertSame([1, 1], [$laravel->size()->delayed, $laravel->size()->reserved]);
        $delayed->offer('x');
        $this->loop([$pending[2], $pending[0]]);
        $this->assertSame([1, 'x'], [$pending[2]->result()->moved, $pending[0]->result()]);
    }

    public function test_a_take_loses_nothing_whenever_the_program_drops_it(): void
    {
        $queue = $this->delayed(codec: Codec::String);
        foreach (['cancel', 'drop'] as $way) {
            for ($polls = 0; $polls < 10; $polls++) {
                $pending = $queue->takeStart();
                $this->move($pending, 4);
                $this->server->command('RPUSH', 'orders', 'first', 'second');
                $this->move($pending, $polls);
                $this->giveUp($pending, $way);
                unset($pending);
                $this->assertSame(
                    ['first', 'second'],
                    $queue->takeMany(5, 0.0),
                    "$way after $polls polls",
                );
            }
        }
        $this->assertSame([], $this->server->command('KEYS', '*parked*'));
    }

    public function test_a_pop_loses_nothing_whenever_the_program_drops_it(): void
    {
        $queue = $this->laravel();
        foreach (['cancel', 'drop'] as $way) {
            for ($polls = 0; $polls < 10; $polls++) {
                $pending = $queue->popStart();
                $this->move($pending, 4);
                $queue->pushRaw(self::RAW);
                $this->move($pending, $polls);
                $this->giveUp($pending, $way);
                unset($pending);
                $size = $queue->size();
                $this->assertSame(
                    [1, 0],
                    [$size->ready, $size->reserved],
                    "$way after $polls polls",
                );
                $this->assertSame(
                    ['1'],
                    $this->server->command('LRANGE', 'queues:default:notify', '0', '-1'),
                );
                $job = $queue->pop();
                $this->assertSame([self::RAW, 1], [$job->payload, $job->attempts]);
                $job->delete();
            }
        }
    }

    private function giveUp(Pending $pending, string $way): void
    {
        if ($way === 'cancel') {
            $pending->cancel();
            $this->assertTrue($pending->poll());
            $this->assertNull($pending->result());
        }
    }

    public function test_a_dropped_call_gives_back_what_it_took(): void
    {
        [$delayed, $laravel] = [$this->delayed(codec: Codec::String), $this->laravel()];
        $this->server->command('RPUSH', 'orders', 'first', 'second');
        $laravel->push('First');
        $laravel->push('Second');
        $pending = [$delayed->takeStart(), $laravel->popStart()];
        $this->loop($pending);
        $this->assertSame(
            [1, 1],
            [$this->server->command('LLEN', 'orders'), $laravel->size()->reserved],
        );
        $pending[0]->cancel();
        unset($pending[1]);
        $this->assertSame(
            ['first', 'second'],
            $this->server->command('LRANGE', 'orders', '0', '-1'),
        );
        $this->assertSame(
            ['First', 'Second'],
            array_map(fn ($job) => $job->name, $laravel->popMany(5)),
        );
    }

    public function test_a_transfer_that_is_given_up(): void
    {
        [$delayed, $laravel] = [$this->delayed(codec: Codec::String), $this->laravel()];
        $waiting = [$delayed->transferStart(), $laravel->migrateStart()];
        array_map(fn ($one) => $this->move($one, 5), $waiting);
        $waiting[0]->cancel();
        $this->assertNull($waiting[0]->result());
        unset($waiting);
        $delayed->offer('x', delay: 0.2);
        $done = $delayed->transferStart();
        $this->loop([$done]);
        $done->cancel();
        $this->assertSame(['x'], $this->server->command('LRANGE', 'orders', '0', '-1'));
    }

    public function test_a_failure_to_give_back_is_thrown(): void
    {
        $server = new Server();
        $server->command('RPUSH', 'orders', 'x');
        $queue = new DelayedQueue('orders', $server->url('timeout=300ms'), Codec::String);
        $pending = $queue->takeStart();
        $this->loop([$pending]);
        $server->kill();
        $this->assertThrows(ConnectException::class, fn () => $pending->cancel());
        $this->assertNull($pending->result());
        $refused = $queue->takeStart(0.0);
        $this->assertThrows(ConnectException::class, fn () => $this->resultOf($refused));
        $server->remove();
    }

    public function test_a_lost_connection_is_made_again(): void
    {
        [$delayed, $laravel] = [$this->delayed(codec: Codec::String), $this->laravel()];
        $pending = [$delayed->takeStart(), $laravel->popStart(), $delayed->transferStart()];
        $this->loop($pending, 0.1);
        foreach ([1, 2] as $time) {
            $this->server->awaitBlocked();
            $this->server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            $this->server->command('CLIENT', 'KILL', 'TYPE', 'pubsub');
            $this->loop($pending, 0.5);
        }
        $laravel->push('Job');
        $delayed->offer('x', delay: 0.1);
        $this->loop($pending);
        $this->assertSame(
            ['x', 'Job', 1],
            [$pending[0]->result(), $pending[1]->result()->name, $pending[2]->result()->moved],
        );
    }

    public function test_a_call_outlives_its_queue(): void
    {
        [$destroyed, $dropped, $laravel] = [
            $this->delayed(codec: Codec::String),
            $this->delayed(codec: Codec::String),
            $this->laravel(),
        ];
        $pending = [$destroyed->takeStart(), $dropped->takeStart(), $laravel->popStart()];
        $before = count(glob('/proc/self/fd/*'));
        $destroyed->destroy();
        unset($dropped, $laravel);
        $this->loop($pending, 0.1);
        $this->server->command('RPUSH', 'orders', 'a', 'a');
        $this->laravel()->push('Job');
        $this->loop($pending);
        $this->assertSame(['a', 'a'], [$pending[0]->result(), $pending[1]->result()]);
        $pending[2]->result()->delete();
        unset($pending);
        $this->assertLessThan($before, count(glob('/proc/self/fd/*')));
        $this->assertError('has been destroyed', fn () => $destroyed->takeStart());
        $this->assertError('has been destroyed', fn () => $destroyed->transferStart());
    }

    public function test_connections_are_used_again(): void
    {
        [$delayed, $laravel] = [$this->delayed(codec: Codec::String), $this->laravel()];
        for ($i = 0; $i < 50; $i++) {
            $pending = [$delayed->takeStart(), $laravel->popStart()];
            $this->server->command('RPUSH', 'orders', 'x');
            $laravel->push('Job');
            $this->loop($pending);
            $pending[1]->result()->delete();
            $laravel->migrateStart()->poll();
        }
        $info = $this->server->command('INFO', 'clients');
        preg_match('/^connected_clients:(\d+)/m', $info, $match);
        $this->assertLessThan(20, (int) $match[1]);
    }

    public function test_fork_the_child_leaves_it_alone(): void
    {
        $queue = $this->delayed(codec: Codec::String);
        $pending = $queue->takeStart();
        $this->loop([$pending], 0.1);
        $this->server->awaitBlocked();
        $child = $this->inChild(function () use (&$pending, &$queue) {
            try {
                $pending->result();
            } catch (ClosedException $e) {
                $own = $queue->takeStart(0.0);
                return [$e->getMessage(), $this->resultOf($own)];
            }
        });
        $this->assertStringContainsString("belongs to the parent", $child[0]);
        $this->assertNull($child[1]);
        $this->inChild(function () use (&$pending, &$queue) {
            unset($pending, $queue);
        });
        $this->server->command('RPUSH', 'orders', 'x');
        $this->loop([$pending]);
        $this->inChild(function () use (&$pending) {
            unset($pending);
        });
        $this->assertSame('x', $pending->result());
        $this->assertSame(0, $this->server->command('LLEN', 'orders'));
    }

    public function test_the_document_s_loop_works_when_pasted(): void
    {
        preg_match_all(
            '/^```php\n(.*?)^```/ms',
            file_get_contents(__DIR__ . '/../../../docs/interop.md'),
            $blocks,
        );
        [, , $begin, $loop] = $blocks[1];
        putenv('DUEQ_URL=' . $this->server->url());
        try {
            [$code, $output] = $this->php($begin . $loop);
        } finally {
            putenv('DUEQ_URL');
        }
        $this->assertSame(0, $code, $output);
        $this->assertStringEndsWith("\ncancel order 21 unless it is paid\n", $output);
        $this->assertSame(
            [0, 0],
            [$this->laravel()->size()->ready, $this->laravel()->size()->reserved],
        );
    }
}
