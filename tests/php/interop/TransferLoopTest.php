<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\ConnectException;
use Dueq\Exception\LayoutException;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;

/** Signals, ends and failures in waits and transfer loops of DelayedQueue and LaravelQueue. */
final class TransferLoopTest extends QueueTestCase
{
    private const CHANNEL = 'redisson_delay_queue_channel:{orders}';

    private const RAW = '{"job":"Raw","id":"i-1","attempts":0}';

    protected function tearDown(): void
    {
        pcntl_async_signals(false);
        pcntl_signal(SIGUSR1, SIG_DFL);
    }

    private function delayed(): DelayedQueue
    {
        return new DelayedQueue('orders', $this->server->url());
    }

    private function laravel(): LaravelQueue
    {
        return new LaravelQueue('default', $this->server->url());
    }

    private function awaitSubscribed(): void
    {
        $this->await(fn () => $this->server->command('PUBSUB', 'NUMSUB', self::CHANNEL)[1] === 1);
    }

    /** Counts the signals that this process handles. */
    private function countSignals(?int &$seen): void
    {
        $seen = 0;
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use (&$seen) {
            $seen++;
        });
    }

    /** Sends a signal to this process when it waits. */
    private function signalWhen(callable $await): int
    {
        $me = getmypid();
        return $this->besides(function () use ($me, $await) {
            $await();
            posix_kill($me, SIGUSR1);
        });
    }

    public function test_waits_end_at_a_signal_and_its_handler_runs(): void
    {
        $delayed = $this->delayed();
        $laravel = $this->laravel();
        $this->countSignals($seen);
        $blocked = fn () => $this->server->awaitBlocked();
        $some = fn () => usleep(300_000);
        $waits = [
            [fn () => $delayed->take(INF), $blocked],
            [fn () => $delayed->takeMany(5, INF), $blocked],
            [fn () => $delayed->transfer(INF)->moved, $this->awaitSubscribed(...)],
            [fn () => $laravel->pop(INF), $blocked], [fn () => $laravel->popMany(5, INF), $blocked],
            [fn () => $laravel->migrate(INF)->moved, $some],
        ];
        foreach ($waits as $i => [$wait, $await]) {
            $sender = $this->signalWhen($await);
            $this->assertContains($wait(), [null, [], 0]);
            $this->assertSame($i + 1, $seen);
            pcntl_waitpid($sender, $status);
        }
        $delayed->offer('after');
        $this->assertSame([1, 'after'], [$delayed->transfer()->moved, $delayed->take(0.0)]);
        $laravel->push('After');
        $this->assertSame('After', $laravel->pop()->name);
    }

    public function test_no_value_is_lost_to_a_signal(): void
    {
        $queue = new DelayedQueue('orders', $this->server->url(), Codec::Long);
        $this->countSignals($seen);
        $me = getmypid();
        $pusher = $this->besides(function () use ($me) {
            for ($i = 1; $i <= 300; $i++) {
                $this->server->command('RPUSH', 'orders', (string) $i);
                posix_kill($me, SIGUSR1);
            }
        });
        $taken = [];
        for ($end = microtime(true) + 60; count($taken) < 300 && microtime(true) < $end;) {
            array_push($taken, ...$queue->takeMany(3, 1.0));
        }
        $this->assertSame(range(1, 300), $taken);
        $this->assertGreaterThan(0, $seen);
        pcntl_waitpid($pusher, $status);
    }

    public function test_run_transfer_until_it_is_told(): void
    {
        $queue = $this->delayed();
        $queue->offerMany(range(1, 450));
        $calls = 0;
        $queue->runTransfer(function () use ($queue, &$calls) {
            $calls++;
            return count($queue) === 0;
        });
        $this->assertSame(450, $queue->size()->ready);
        $this->assertGreaterThan(3, $calls);
        $this->assertSame(0, $this->server->command('PUBSUB', 'NUMSUB', self::CHANNEL)[1]);
        $calls = 0;
        $this->assertNull($queue->runTransfer(function () use (&$calls) {
            return ++$calls;
        }));
        $this->assertSame(1, $calls);
    }

    public function test_run_transfer_moves_what_is_offered_meanwhile(): void
    {
        $queue = $this->delayed();
        $offerer = $this->besides(function () {
            $this->awaitSubscribed();
            $this->delayed()->offer('soon', delay: 0.3);
            $this->delayed()->offer('at once');
        });
        $queue->runTransfer(fn () => $queue->size()->ready === 2);
        $this->assertSame(['at once', 'soon'], $queue->takeMany(2));
        pcntl_waitpid($offerer, $status);
    }

    public function test_run_transfer_ends_by_what_is_thrown(): void
    {
        $queue = $this->delayed();
        foreach (['at once' => 1, 'while it waits' => 3] as $text => $calls) {
            try {
                $queue->runTransfer(function () use (&$calls, $text) {
                    --$calls > 0 || throw new \LogicException($text);
                });
                $this->fail('the exception is lost');
            } catch (\LogicException $e) {
                $this->assertSame($text, $e->getMessage());
            }
        }
        // The signal must come when the new queue has subscribed: the old one unsubscribes first.
        unset($queue);
        $this->await(fn () => $this->server->command('PUBSUB', 'NUMSUB', self::CHANNEL)[1] === 0);
        $queue = $this->delayed();
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, fn () => throw new \LogicException('from the handler'));
        $sender = $this->signalWhen($this->awaitSubscribed(...));
        try {
            $queue->runTransfer();
            $this->fail('the exception is lost');
        } catch (\LogicException $e) {
            $this->assertSame('from the handler', $e->getMessage());
        }
        pcntl_waitpid($sender, $status);
    }

    public function test_run_transfer_ends_at_a_failure_that_stays(): void
    {
        $elements = ["\x08ABCDEFGH" . pack('P', 1) . 'x', pack('e', 5) . pack('P', 1) . 'x'];
        foreach ($elements as $i => $element) {
            $this->server->command(
                'ZADD',
                'redisson_delay_queue_timeout:{orders}',
                (string) ($i + 1),
                $element,
            );
            $this->server->command('RPUSH', 'redisson_delay_queue:{orders}', $element);
        }
        $this->assertThrows(LayoutException::class, fn () => $this->delayed()->runTransfer());
    }

    public function test_run_transfer_goes_on_when_the_server_comes_back(): void
    {
        $server = new Server();
        $queue = new DelayedQueue('orders', $server->url('timeout=300ms'));
        $queue->offer('before');
        [$asked, $isBack, $end] = [0, false, microtime(true) + 30];
        $until = function () use ($server, $queue, &$asked, &$isBack, $end) {
            $asked++;
            $isNoticed = str_contains(file_get_contents(ini_get('error_log')), 'it is tried again');
            if ($asked === 3) {
                $server->kill();
            } elseif ($asked > 3 && !$isBack && ($isNoticed || microtime(true) > $end)) {
                $server->start();
                $queue->offer('after');
                $isBack = true;
            }
            return $isBack && $queue->size()->ready === 1;
        };
        $log = self::logged(fn () => $queue->runTransfer($until));
        $this->assertSame('after', $queue->take(0.0));
        $this->assertStringContainsString('timeout=300ms: it is tried again: ', $log);
        $server->remove();
    }

    public function test_run_transfer_stops_while_the_server_is_away(): void
    {
        $server = new Server();
        $queue = new DelayedQueue('orders', $server->url('timeout=300ms'));
        $asked = 0;
        self::logged(function () use ($server, $queue, &$asked) {
            $queue->runTransfer(function () use ($server, &$asked) {
                if (++$asked === 3) {
                    $server->kill();
                }
                return $asked === 5;
            });
        });
        $this->assertSame(5, $asked);
        $server->remove();
    }

    public function test_run_transfer_ends_where_the_server_was_never_reached(): void
    {
        $queue = new DelayedQueue('orders', 'unix:///nowhere/socket');
        $this->assertThrows(ConnectException::class, fn () => $queue->runTransfer());
    }

    public function test_run_transfer_logs_what_is_quarantined(): void
    {
        $this->server->command('ZADD', 'redisson_delay_queue_timeout:{orders}', '1', 'no layout');
        $this->server->command('RPUSH', 'redisson_delay_queue:{orders}', 'no layout');
        $queue = $this->delayed();
        $log = self::logged(
            fn () => $queue->runTransfer(fn () => $queue->size()->quarantined === 1),
        );
        $this->assertStringContainsString(
            'the transfer of orders: 1 damaged entries were quarantined',
            $log,
        );
    }

    public function test_run_transfer_of_a_queue_that_is_destroyed_meanwhile(): void
    {
        $queue = $this->delayed();
        $queue->offer('x');
        $calls = 0;
        $queue->runTransfer(function () use (&$queue, &$calls) {
            $queue?->destroy();
            $queue = null;
            return ++$calls === 3;
        });
        $this->assertSame(1, $this->delayed()->size()->ready);
    }

    public function test_run_transfer_of_a_child_that_forks_meanwhile(): void
    {
        $queue = $this->delayed();
        $queue->offer('x');
        $calls = 0;
        $child = null;
        $queue->runTransfer(function () use (&$calls, &$child) {
            if (++$calls === 3) {
                $child = pcntl_fork();
            }
            return $calls === 5;
        });
        if ($child === 0) {
            $this->delayed()->offer('from the child', delay: 60);
            posix_kill(getmypid(), SIGKILL);
        }
        pcntl_waitpid($child, $status);
        $this->assertSame(['x', 'from the child'], [$queue->take(0.0), $queue->poll()]);
    }

    public function test_run_migrate_wakes_who_waits(): void
    {
        $queue = $this->laravel();
        $queue->later(1, 'Due');
        $this->server->command('ZADD', 'queues:default:reserved', '1', self::RAW);
        $migrator = $this->besides(fn () => $this->laravel()->runMigrate());
        for ($i = 0; $i < 2; $i++) {
            $token = $this->server->send('BLPOP', 'queues:default:notify', '20');
            $this->assertNotFalse(fgets($token));
        }
        $this->await(fn () => $this->server->command('LLEN', 'queues:default') === 2);
        posix_kill($migrator, SIGKILL);
        pcntl_waitpid($migrator, $status);
    }

    public function test_run_migrate_until_it_is_told(): void
    {
        $queue = $this->laravel();
        $this->server->command('ZADD', 'queues:default:delayed', '1', self::RAW);
        $queue->runMigrate(fn () => $queue->size()->ready === 1);
        $this->assertSame(self::RAW, $queue->pop()->payload);
        $this->assertTypeError('#1 ($until)', fn () => $queue->runMigrate('no function'));
    }

    public function test_runs_and_waits_of_a_script_that_ends(): void
    {
        $url = var_export($this->server->url(), true);
        $ways = [
            'exit' => ['exit(3)', 3],
            'out of memory' => ['str_repeat("x", 1 << 30)', 255],
            'out of time' => [
                'set_time_limit(1) && array_map(function () { while (true); }, [1])',
                255,
            ],
        ];
        $runs = [
            "(new Dueq\\Redisson\\DelayedQueue('orders', $url))->runTransfer",
            "(new Dueq\\Laravel\\Queue('default', $url))->runMigrate",
        ];
        foreach ($ways as $way => [$end, $expected]) {
            foreach ($runs as $run) {
                [$code, $output] = $this->php(
                    "\$calls = 0;
                    $run(function () use (&\$calls) { if (++\$calls === 2) { $end; } });
                    echo 'not reached';",
                );
                $this->assertSame($expected, $code, "$way: $output");
                $this->assertStringNotContainsString('not reached', $output);
            }
        }
        [$code, $output] = $this->php(
            "\$queue = new Dueq\\Redisson\\DelayedQueue('orders', $url);
            \$queue->runTransfer(function () { for (\$i = 0; \$i < 5e7; \$i++); });",
            'max_execution_time=1',
        );
        $this->assertSame(255, $code, $output);
        $this->assertStringContainsString('Maximum execution time', $output);
    }

    public function test_a_value_that_memory_does_not_suffice_for_ends_the_script_only(): void
    {
        $url = var_export($this->server->url(), true);
        $queue = new DelayedQueue('orders', $this->server->url(), Codec::TypedJson);
        $queue->offer(array_fill(0, 100_000, 'x'));
        [$code, $output] = $this->php(
            "\$codec = Dueq\\Redisson\\Codec::TypedJson;
            \$queue = new Dueq\\Redisson\\DelayedQueue('orders', $url, \$codec);
            \$queue->size(); \$queue->peek(); echo 'not reached';",
            'memory_limit=2M',
        );
        $this->assertSame(255, $code, $output);
        $this->assertStringContainsString('Allowed memory size', $output);
        $this->assertCount(1, $queue);
    }
}
