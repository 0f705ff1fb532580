<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Client;
use Dueq\Exception\ConnectException;
use Dueq\Exception\DuplicateException;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;

/** Persistent clients in one long process. FpmTest tests them with requests. */
final class PersistentTest extends QueueTestCase
{
    /** Differs for each test, so that no test gets an idle connection of an earlier one. */
    private string $url;

    private static int $number = 0;

    protected function setUp(): void
    {
        parent::setUp();
        $this->url = $this->server->url('timeout=' . (2000 + ++self::$number) . 'ms');
    }

    private function persistent(string $name = 'q'): Queue
    {
        return new Queue($name, $this->url, persistent: true);
    }

    /** How many connections the server got while this ran. */
    private function made(callable $run): int
    {
        $before = $this->info('stats', 'total_connections_received');
        $run();
        return $this->info('stats', 'total_connections_received') - $before - 1;
    }

    private function info(string $section, string $name): int
    {
        preg_match("/^$name:(\d+)/m", $this->server->command('INFO', $section), $match);
        return (int) $match[1];
    }

    /** The ids of all connections of dueq. */
    private function connections(): array
    {
        $clients = $this->server->command('CLIENT', 'LIST');
        preg_match_all('/^id=(\d+) .* name=dueq-/m', $clients, $match);
        return $match[1];
    }

    /** Waits until the server has exactly $count connections more than $before. */
    private function awaitConnections(int $count, int $before): void
    {
        $this->await(fn () => count($this->connections()) - $before === $count);
    }

    public function test_its_connection_serves_one_object_after_the_other(): void
    {
        $push = fn (?bool $persistent) => (new Queue('q', $this->url, $persistent))->push('x');
        $run = fn (?bool $persistent) => $this->made(
            fn () => array_map($push, array_fill(0, 20, $persistent)),
        );
        $this->assertSame([20, 20, 1, 0], [$run(null), $run(false), $run(true), $run(true)]);
        $this->assertSame(80, $this->queue()->stats()->ready);
    }

    public function test_all_classes_share_a_persistent_connection(): void
    {
        $this->persistent()->push('x');
        $this->assertSame(0, $this->made(function () {
            (new Client($this->url, persistent: true))->queue('a')->push('x');
            (new Queues(['a', 'b'], $this->url, persistent: true))->reserve()->ack();
            (new LaravelQueue('l', $this->url, persistent: true))->push('Job');
            (new DelayedQueue('d', $this->url, Codec::String, persistent: true))->offer('x');
        }));
    }

    public function test_the_setting_is_the_default(): void
    {
        $this->assertSame('0', ini_get('dueq.persistent'));
        $before = ini_set('dueq.persistent', '1');
        try {
            $this->persistent()->push('x');
            $this->assertSame(0, $this->made(function () {
                (new Queue('q', $this->url))->push('x');
                Queue::names($this->url);
            }));
            $this->assertSame(
                1,
                $this->made(fn () => (new Queue('q', $this->url, persistent: false))->push('x')),
            );
        } finally {
            ini_set('dueq.persistent', $before);
        }
    }

    public function test_objects_at_the_same_time_share_it(): void
    {
        $before = count($this->connections());
        $all = array_map(fn ($number) => $this->persistent("q$number"), range(1, 10));
        $this->assertLessThanOrEqual(
            1,
            $this->made(fn () => array_map(fn ($queue) => $queue->push('x'), $all)),
        );
        $this->awaitConnections(1, $before);
        unset($all[3]);
        $all[4]->push('y');
        unset($all);
        $this->awaitConnections(1, $before);
    }

    public function test_a_restart_of_the_server_is_not_seen(): void
    {
        $server = new Server();
        $this->url = $server->url();
        foreach (range(1, 3) as $round) {
            $this->persistent()->push('before');
            $server->kill();
            $server->start();
            $begin = microtime(true);
            $this->persistent()->push('after');
            $this->assertLessThan(2.0, microtime(true) - $begin);
            $this->assertSame(1, $this->persistent()->stats()->ready);
        }
        $server->remove();
    }

    public function test_a_connection_that_the_server_closed_is_not_used(): void
    {
        $this->persistent()->push('first');
        $this->server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        $this->assertSame(1, $this->made(fn () => $this->persistent()->push('second')));
        $before = count($this->connections());
        $this->server->command('CONFIG', 'SET', 'timeout', '1');
        $this->await(fn () => count($this->connections()) < $before);
        $this->server->command('CONFIG', 'SET', 'timeout', '0');
        $this->persistent()->push('third');
        $this->assertSame(3, $this->queue()->stats()->pushed);
    }

    public function test_a_server_that_is_gone_is_told_at_once(): void
    {
        $server = new Server();
        $this->url = $server->url('timeout=10s');
        $this->persistent()->push('x');
        $server->kill();
        $begin = microtime(true);
        $this->assertThrows(ConnectException::class, fn () => $this->persistent()->push('x'));
        $this->assertLessThan(5.0, microtime(true) - $begin);
        $server->remove();
    }

    public function test_another_user_or_database_is_another_connection(): void
    {
        $server = new Server();
        $server->command('ACL', 'SETUSER', 'ann', 'on', '>one', '~*', '&*', '+@all');
        $server->command('ACL', 'SETUSER', 'bob', 'on', '>two', '~*', '&*', '+@all');
        $urls = [];
        foreach (['', 'ann:one@', 'bob:two@'] as $user) {
            foreach ([0, 1] as $database) {
                $urls[] = "unix://$user{$server->socket}?db=$database";
            }
        }
        foreach ([1, 2] as $round) {
            foreach ($urls as $number => $url) {
                (new Queue("q$number", $url, persistent: true))->push('x');
            }
        }
        $clients = $server->command('CLIENT', 'LIST', 'TYPE', 'normal');
        preg_match_all('/ db=(\d+) .* user=(\w+)/m', $clients, $match);
        $found = array_map(fn ($database, $user) => "$user $database", $match[1], $match[2]);
        $this->assertEqualsCanonicalizing(
            ['default 0', 'default 1', 'ann 0', 'ann 1', 'bob 0', 'bob 1'],
            array_slice($found, 0, 6),
        );
        foreach ($urls as $number => $url) {
            $this->assertSame(2, (new Queue("q$number", $url))->stats()->ready);
        }
        $this->assertSame(['q1', 'q3', 'q5'], Queue::names("unix://{$server->socket}?db=1"));
        $server->remove();
    }

    public function test_calls_under_way_and_waits_are_not_handed_on(): void
    {
        $before = count($this->connections());
        $delayed = fn () => new DelayedQueue('d', $this->url, Codec::String, persistent: true);
        $leave = [
            fn (Queue $queue) => $this->untilBlocked($pending = $queue->reserveStart()),
            fn (Queue $queue) => $queue->reserve(0.01),
            fn (Queue $queue) => $queue->consume()->poll(),
            fn (Queue $queue) => $queue->pusher()->push('x', delay: 60),
            fn (Queue $queue) => $queue->lock('l', 60),
            fn () => $delayed()->transfer(0.05),
            fn () => $delayed()->take(0.05),
            fn () => (new LaravelQueue('l', $this->url, persistent: true))->pop(0.05),
        ];
        foreach ($leave as $number => $call) {
            $call($this->persistent());
            $this->await(fn () => count($this->connections()) <= $before + 1);
            $this->persistent("r$number")->push('x');
            $this->assertSame('x', $this->persistent("r$number")->reserve()->body);
            $this->awaitConnections(1, $before);
        }
        $this->assertSame(0, $this->info('clients', 'blocked_clients'));
    }

    public function test_errors_and_warnings_are_not_handed_on(): void
    {
        $this->persistent()->push('x', id: 'one');
        $this->assertThrows(
            DuplicateException::class,
            fn () => $this->persistent()->push('x', id: 'one'),
        );
        $this->assertSame('two', $this->persistent()->push('x', id: 'two'));
        $this->assertThrows(
            \Dueq\Exception\NameException::class,
            fn () => new Queue("\n", $this->url, persistent: true),
        );
        $this->assertSame(2, $this->persistent()->stats()->ready);
    }

    public function test_fork_the_child_has_a_connection_of_its_own(): void
    {
        $this->persistent()->push('parent');
        foreach ([true, false] as $held) {
            $queue = $held ? $this->persistent() : null;
            $ids = $this->connections();
            $child = $this->inChild(function () {
                $this->persistent()->push('child');
                return $this->connections();
            });
            $this->assertCount(count($ids) + 1, $child);
            $this->assertSame(0, $this->made(fn () => $this->persistent()->push('parent again')));
            unset($queue);
        }
        $this->assertSame(5, $this->queue()->stats()->ready);
    }

    public function test_fork_the_end_of_a_child_leaves_the_parents_connection(): void
    {
        $url = var_export($this->url, true);
        [$code, $output] = $this->php(
            "function push(string \$body): void {
                (new Dueq\\Queue('q', $url, persistent: true))->push(\$body);
            }
            push('parent');
            foreach ([1, 2, 3] as \$number) {
                \$child = pcntl_fork();
                if (!\$child) { \$number === 1 || push('child'); exit(0); }
                pcntl_waitpid(\$child, \$status);
                push('parent');
            }
            echo pcntl_wexitstatus(\$status);"
        );
        $this->assertSame([0, '0'], [$code, $output]);
        $this->assertSame(6, $this->queue()->stats()->ready);
        $this->assertSame(3, $this->made(fn () => $this->php(
            "for (\$i = 0; \$i < 9; \$i++) {
                (new Dueq\\Queue('q', $url, persistent: true))->push('x');
            }
            for (\$i = 0; \$i < 2; \$i++) { (new Dueq\\Queue('q', $url))->push('x'); }"
        )));
    }

    public function test_fork_in_a_loop(): void
    {
        $queue = $this->persistent();
        $queue->pushMany(['1', '2', '3']);
        $this->logged(function () use ($queue) {
            foreach ($queue->consume(2, timeout: 0.0) as $message) {
                $this->assertSame('done', $this->inChild(function () use ($message) {
                    $this->persistent('done')->push($message->body);
                    $message->ack();
                    return 'done';
                }));
            }
        });
        $this->assertSame(
            [0, 0, 3],
            [$queue->stats()->ready, $queue->stats()->leased, $queue->stats()->acked],
        );
        $this->assertSame(3, $this->persistent('done')->stats()->ready);
    }

    public function test_idle_connections_are_limited(): void
    {
        $server = new Server();
        foreach (range(1, 40) as $seconds) {
            (new Queue('q', $server->url("timeout={$seconds}s"), persistent: true))->push('x');
        }
        $count = fn () => preg_match_all('/ name=dueq-/', $server->command('CLIENT', 'LIST'));
        $this->await(fn () => $count() === 16);
        $this->assertSame(16, $count());
        $server->remove();
    }

    public function test_without_a_url_nothing_is_persistent(): void
    {
        $home = sys_get_temp_dir() . '/dueq-home-' . bin2hex(random_bytes(6));
        mkdir("$home/a", 0700, true);
        mkdir("$home/b", 0700, true);
        [$code, $output] = $this->php(
            "foreach (['a', 'b', 'a'] as \$user) {
                putenv(\"XDG_STATE_HOME=$home/\$user\");
                \$queue = new Dueq\\Queue('q', persistent: true);
                echo \$user, \$queue->push('x') && \$queue->stats()->ready, ' ';
                unset(\$queue);
            }"
        );
        exec('rm -rf ' . escapeshellarg($home));
        $this->assertSame(0, $code, $output);
        $this->assertMatchesRegularExpression('/a1 .*b1 .*a\d /s', $output);
    }

    /** Under RoadRunner, Swoole and FrankenPHP's workers, one script serves many requests. */
    public function test_requests_of_one_script_that_goes_on(): void
    {
        $server = new Server();
        $this->url = $server->url();
        $count = fn () => preg_match_all('/ name=dueq-/', $server->command('CLIENT', 'LIST'));
        $requests = [
            fn ($n) => $this->persistent()->push("order $n"),
            fn () => $this->persistent('taken')->push('x', id: 'the same', delay: 60),
            fn ($n) => (new Client($this->url, persistent: true))->queue('mail')->push('failed')
                && throw new \LogicException("$n"),
            function () {
                foreach ($this->persistent()->consume(prefetch: 10, timeout: 0.0) as $message) {
                    $message->ack();
                    return;
                }
            },
            fn () => $this->persistent('never')->reserveStart(60.0)->poll(),
            fn () => $this->persistent()->reserve()?->release(),
        ];
        $serve = function (int $n) use ($requests): int {
            try {
                $requests[$n % 6]($n);
                return 0;
            } catch (DuplicateException | \LogicException $error) {
                return $error instanceof DuplicateException || $error->getMessage() === "$n"
                    ? 1
                    : 0;
            }
        };
        $failed = array_sum(array_map($serve, range(0, 299)));
        $server->kill();
        $server->start();
        $memory = memory_get_usage();
        $failed += array_sum(array_map($serve, range(0, 899)));
        $this->assertLessThan(64 * 1024, memory_get_usage() - $memory);
        $this->assertSame(99 + 299, $failed, 'each in its own request');
        $this->await(fn () => $count() === 1);
        $stats = $this->persistent()->stats();
        $this->assertSame(
            [150, 150, 0, 0],
            [$stats->pushed, $stats->acked, $stats->ready, $stats->leased],
        );
        $server->remove();
    }

    public function test_it_makes_no_leak(): void
    {
        $cycle = function (): void {
            $queue = $this->persistent();
            $queue->push('x', delay: 60);
            $queue->reserveStart(0.0)->poll();
        };
        for ($i = 0; $i < 50; $i++) {
            $cycle();
        }
        [$php, $all] = [memory_get_usage(), self::resident()];
        for ($i = 0; $i < 500; $i++) {
            $cycle();
        }
        $this->assertLessThan(64 * 1024, memory_get_usage() - $php);
        $this->assertLessThan(1024, self::resident() - $all, 'KiB resident');
    }
}
