<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Message;
use PHPUnit\Framework\Attributes\DataProvider;

/** A consumer keeps its leases while its process lives, also if its handler is busy; no longer. */
final class HeartbeatTest extends QueueTestCase
{
    private const LEASE = 0.4;

    /** Starts a process that waits $seconds for a message. The queue's stats count what it took. */
    private function rival(float $seconds): int
    {
        return $this->besides(fn () => $this->queue()->reserve($seconds));
    }

    /** @return array<string, array{callable}> handlers that are busy for three leases */
    public static function busyHandlers(): array
    {
        return [
            'sleep' => [fn () => usleep((int) (3 * self::LEASE * 1e6))],
            'a busy loop' => [function () {
                for ($end = microtime(true) + 3 * self::LEASE; microtime(true) < $end;);
            }],
            'a call of C' => [fn () => hash_pbkdf2('sha256', 'x', 'y', 2_000_000)],
            'another process' => [fn () => shell_exec('sleep ' . 3 * self::LEASE)],
        ];
    }

    /** @dataProvider busyHandlers */
    #[DataProvider('busyHandlers')]
    public function test_a_busy_handler_keeps_its_messages(callable $busy): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2', '3']);
        $consumer = $queue->consume(3, self::LEASE, timeout: 0.0);
        $rival = 0;
        $deliveries = [];
        $consumer->work(function (Message $message) use ($busy, &$rival, &$deliveries) {
            $rival = $rival ?: $this->rival(3 * self::LEASE);
            $deliveries[] = "$message->body $message->deliveries";
            if ($message->body === '1') {
                for ($begin = microtime(true); microtime(true) < $begin + 3 * self::LEASE;) {
                    $busy();
                }
            }
        });
        pcntl_waitpid($rival, $status);
        $stats = $queue->stats();
        $this->assertSame(['1 1', '2 1', '3 1'], $deliveries);
        $this->assertSame(
            [3, 3, 0, 0],
            [$stats->reserved, $stats->acked, $stats->leased, $consumer->lost()],
        );
    }

    public function test_foreach_keeps_its_messages_too(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2']);
        $consumer = $queue->consume(2, self::LEASE, timeout: 0.0);
        foreach ($consumer as $message) {
            usleep((int) (2.5 * self::LEASE * 1e6));
            $message->ack();
        }
        $this->assertSame(
            [2, 2, 0],
            [$queue->stats()->reserved, $queue->stats()->acked, $consumer->lost()],
        );
    }

    public function test_a_stopped_process_loses_its_messages_to_another(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2']);
        [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $worker = $this->besides(function () use ($theirs) {
            $own = $this->queue();
            $consumer = $own->consume(2, self::LEASE, timeout: 0.0);
            $seen = [];
            $consumer->work(function (Message $message) use ($theirs, &$seen) {
                $seen[] = $message->body;
                fwrite($theirs, "begun\n");
                fgets($theirs);
            });
            fwrite($theirs, json_encode([$seen, $consumer->lost()]) . "\n");
        });
        $this->assertSame("begun\n", fgets($ours));
        posix_kill($worker, SIGSTOP);
        $taken = [$queue->reserve(10.0), $queue->reserve(10.0)];
        $this->assertSame(
            [['1', 1, 1], ['2', 1, 1]],
            array_map(
                fn ($message) => [$message->body, $message->crashes, $message->attempt],
                $taken,
            ),
        );
        posix_kill($worker, SIGCONT);
        fwrite($ours, "go on\n");
        $this->assertSame([['1'], 2], json_decode(fgets($ours)));
        pcntl_waitpid($worker, $status);
        $this->assertSame([true, true], $queue->ackMany($taken));
    }

    public function test_what_a_killed_process_held_is_with_another_within_ten_seconds(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2']);
        $worker = $this->besides(fn () => $this->queue()->consume(2)->work(fn () => sleep(60)));
        $this->await(fn () => $queue->stats()->leased === 2);
        usleep(3_000_000);
        $this->assertSame(2, $queue->stats()->leased);
        posix_kill($worker, SIGKILL);
        $begin = microtime(true);
        $bodies = [];
        foreach ($queue->consume() as $message) {
            $bodies[] = $message->body;
            $message->ack();
            if (count($bodies) === 2) {
                break;
            }
        }
        $this->assertLessThan(10.0, microtime(true) - $begin);
        $this->assertSame(['1', '2'], $bodies);
        pcntl_waitpid($worker, $status);
    }

    public function test_after_the_maximum_running_time_it_lets_go(): void
    {
        $queue = $this->queue();
        $queue->push('slow');
        $consumer = $queue->consume(1, self::LEASE, maxRun: 2 * self::LEASE, timeout: 0.0);
        $times = 0;
        $begin = microtime(true);
        $consumer->work(function () use ($queue, $begin, &$times) {
            $times++;
            $message = $queue->reserve(20.0);
            $this->assertSame(['slow', 1], [$message->body, $message->crashes]);
            $this->assertGreaterThan(1.9 * self::LEASE, microtime(true) - $begin);
            $message->ack();
        });
        $this->assertSame([1, 1], [$times, $consumer->lost()]);
        $this->assertSame([2, 1], [$queue->stats()->reserved, $queue->stats()->acked]);
    }

    public function test_without_a_heartbeat_the_lease_ends(): void
    {
        foreach ([null, 0] as $maxRun) {
            $queue = $this->queue();
            $this->server->command('FLUSHALL');
            $queue->push('x');
            $consumer = $queue->consume(1, self::LEASE, $maxRun, 0.0);
            $consumer->work(fn () => $queue->reserve(20.0)->ack());
            $this->assertSame([1, 1], [$consumer->lost(), $queue->stats()->acked]);
        }
    }

    public function test_signals_are_the_programs_and_not_the_heartbeats(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $worker = $this->inChild(function () use ($queue) {
            $seen = 0;
            pcntl_async_signals(true);
            pcntl_signal(SIGALRM, function () use (&$seen) {
                $seen++;
            });
            $consumer = $queue->consume(1, self::LEASE, timeout: 0.0);
            $consumer->work(function () use (&$seen) {
                for ($i = 0; $i < 200; $i++) {
                    posix_kill(getmypid(), SIGALRM);
                    usleep(1000);
                }
            });
            return [$seen, $consumer->lost()];
        });
        $this->assertSame(0, $worker[1]);
        $this->assertSame(200, $worker[0]);
    }

    public function test_an_idle_consumer_with_a_heartbeat_costs_nothing(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $this->server->command('CONFIG', 'RESETSTAT');
        $begin = getrusage();
        $queue->consume(5, timeout: 1.5)->work(fn () => null);
        $end = getrusage();
        $cpu = fn ($usage) => $usage['ru_utime.tv_sec'] * 1e6 + $usage['ru_utime.tv_usec']
            + $usage['ru_stime.tv_sec'] * 1e6 + $usage['ru_stime.tv_usec'];
        $this->assertLessThan(100_000, $cpu($end) - $cpu($begin));
        $info = $this->server->command('INFO', 'stats');
        preg_match('/^total_commands_processed:(\d+)/m', $info, $match);
        $this->assertLessThan(80, (int) $match[1], 'connections and scripts included');
    }

    public function test_fork_the_parents_heartbeat_goes_on_and_the_childs_is_its_own(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2']);
        $consumer = $queue->consume(1, self::LEASE, timeout: 0.0);
        $child = 0;
        $consumer->work(function (Message $message) use (&$child, $consumer) {
            if (!$child) {
                $child = $this->besides(function () use ($consumer) {
                    foreach ($this->queue()->consume(1, self::LEASE, timeout: 0.0) as $own) {
                        usleep((int) (3 * self::LEASE * 1e6));
                        $own->ack();
                    }
                });
                usleep((int) (4 * self::LEASE * 1e6));
            }
        });
        pcntl_waitpid($child, $status);
        $stats = $queue->stats();
        $this->assertSame(
            [2, 2, 0, 0],
            [$stats->reserved, $stats->acked, $stats->leased, $consumer->lost()],
        );
    }

    public function test_a_closed_consumer_leaves_no_thread(): void
    {
        $queue = $this->queue();
        $threads = fn () => count(glob('/proc/self/task/*'));
        $before = $threads();
        for ($i = 0; $i < 20; $i++) {
            $queue->push('x');
            $consumer = $queue->consume(timeout: 0.0);
            $consumer->work(fn () => $this->assertSame($before + 1, $threads()));
            unset($consumer);
        }
        $this->assertSame($before, $threads());
    }
}
