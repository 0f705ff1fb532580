<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception as E;
use Dueq\Queue;

/** Each failure has a class of its own, and the client goes on afterwards. */
final class ExceptionsTest extends QueueTestCase
{
    private ?Server $own = null;

    protected function tearDown(): void
    {
        $this->own?->remove();
        $this->own = null;
    }

    /** A server of this test's own, which it may break. */
    private function own(string ...$options): Server
    {
        return $this->own = new Server(...$options);
    }

    /** Sets an option for as long as the code runs. */
    private function with(string $option, string $value, string $after, callable $run): void
    {
        $this->assertSame('OK', $this->server->command('CONFIG', 'SET', $option, $value));
        try {
            $run();
        } finally {
            $this->server->command('CONFIG', 'SET', $option, $after);
        }
    }

    public function test_call_without_a_server(): void
    {
        $queue = new Queue('q', 'unix:///nonexistent/socket?timeout=300ms');
        $e = $this->assertThrows(E\ConnectException::class, fn () => $queue->push('x'));
        $this->assertTrue($e->isRetriable());
        $this->assertThrows(E\ConnectException::class, fn () => $queue->reserve(0.1));
        $this->assertThrows(E\ConnectException::class, fn () => $queue->stats());
        $this->assertThrows(E\ConnectException::class, fn () => $queue->ackMany(['1:x']));
    }

    public function test_call_after_the_server_has_restarted(): void
    {
        $server = $this->own();
        $queue = new Queue('q', $server->url());
        $queue->push('before');
        $server->kill();
        $server->start();
        $queue->push('after');
        $this->assertSame('after', $queue->reserve()->body);
    }

    public function test_reserve_waits_through_a_restart(): void
    {
        $server = $this->own();
        $queue = new Queue('q', $server->url());
        $queue->stats();
        $other = $this->besides(function () use ($server) {
            $server->awaitBlocked();
            posix_kill($server->pid(), SIGKILL);
        });
        $helper = $this->besides(function () use ($server, $other) {
            while (@stream_socket_client("unix://{$server->socket}") !== false) {
                usleep(5000);
            }
            $server->start();
            (new Queue('q', $server->url()))->push('back');
            file_put_contents(dirname($server->socket) . '/pid', (string) $server->pid());
        });
        try {
            $this->assertSame('back', $queue->reserve(20.0)->body);
        } finally {
            pcntl_waitpid($other, $status);
            pcntl_waitpid($helper, $status);
            posix_kill((int) file_get_contents(dirname($server->socket) . '/pid'), SIGKILL);
        }
    }

    public function test_push_to_a_paused_server_times_out(): void
    {
        $server = $this->own();
        $queue = new Queue('q', $server->url('timeout=300ms'));
        $queue->stats();
        posix_kill($server->pid(), SIGSTOP);
        $e = $this->assertThrows(E\TimeoutException::class, fn () => $queue->push('x', id: 'one'));
        $this->assertTrue($e->isRetriable());
        posix_kill($server->pid(), SIGCONT);
        $queue = new Queue('q', $server->url());
        try {
            $queue->push('x', id: 'one');
        } catch (E\DuplicateException) {
            // The first push has taken effect.
        }
        $this->assertSame(1, $queue->stats()->ready);
    }

    public function test_push_whose_server_dies_does_not_know_the_outcome(): void
    {
        $server = $this->own();
        $queue = new Queue('q', $server->url('timeout=2s'));
        $queue->stats();
        posix_kill($server->pid(), SIGSTOP);
        $killer = $this->besides(function () use ($server) {
            usleep(300000); // By then the push is sent. No other process can see when.
            posix_kill($server->pid(), SIGKILL);
        });
        $this->assertThrows(E\ClosedException::class, fn () => $queue->push('x'));
        pcntl_waitpid($killer, $status);
    }

    public function test_login_with_a_wrong_or_no_password(): void
    {
        $server = $this->own('--requirepass', 'secret');
        $this->assertThrows(
            E\AuthException::class,
            fn () => (new Queue('q', $server->url()))->stats(),
        );
        $wrong = new Queue('q', "unix://:wrong@{$server->socket}");
        $e = $this->assertThrows(E\AuthException::class, fn () => $wrong->stats());
        $this->assertStringNotContainsString('wrong@', $e->getMessage());
        $right = new Queue('q', "unix://:secret@{$server->socket}");
        $this->assertSame(0, $right->stats()->ready);
        $this->assertStringNotContainsString('secret', $right->url());
        $this->assertStringContainsString($server->socket, $right->url());
    }

    public function test_push_by_a_user_without_the_right(): void
    {
        $server = $this->own();
        $server->command('ACL', 'SETUSER', 'weak', 'on', '>pw', '~*', '+@all', '-evalsha', '-eval');
        $queue = new Queue('q', "unix://weak:pw@{$server->socket}");
        $this->assertThrows(E\DeniedException::class, fn () => $queue->push('x'));
    }

    public function test_select_a_database_that_is_not_there(): void
    {
        $queue = $this->queue('q', 'db=9999');
        $this->assertThrows(E\DatabaseException::class, fn () => $queue->push('x'));
    }

    public function test_push_while_the_server_loads(): void
    {
        $server = $this->own();
        $server->command('DEBUG', 'POPULATE', '60000', 'key', '100');
        $server->command('CONFIG', 'SET', 'loading-process-events-interval-bytes', '1024');
        $server->command('CONFIG', 'SET', 'key-load-delay', '100');
        $loading = $server->send('DEBUG', 'RELOAD');
        $queue = new Queue('q', $server->url('timeout=500ms'));
        do {
            $answer = $server->command('DBSIZE');
        } while (is_int($answer) && $answer >= 60000);
        $failures = [];
        for ($i = 0; $i < 5 && !in_array(E\LoadingException::class, $failures, true); $i++) {
            try {
                $queue->push('x');
                $this->fail('the server has loaded too soon');
            } catch (E\LoadingException | E\TimeoutException $e) {
                $failures[] = get_class($e); // Timeout: a try was under way at the deadline.
                $this->assertTrue($e->isRetriable());
            }
        }
        $this->assertContains(E\LoadingException::class, $failures);
        fclose($loading);
    }

    public function test_push_to_a_replica(): void
    {
        $server = $this->own();
        $server->command('REPLICAOF', '127.0.0.1', '1');
        $queue = new Queue('q', $server->url('timeout=500ms'));
        $e = $this->assertThrows(E\ReadonlyException::class, fn () => $queue->push('x'));
        $this->assertTrue($e->isRetriable());
    }

    public function test_push_to_a_full_server(): void
    {
        $queue = $this->queue();
        $queue->push('before');
        $this->with('maxmemory', '1', '0', function () use ($queue) {
            $this->assertThrows(E\FullException::class, fn () => $queue->push('x'));
        });
        $queue->push('after');
        $this->assertSame(2, $queue->stats()->ready);
    }

    public function test_push_while_a_script_runs(): void
    {
        $queue = $this->queue('q', 'timeout=500ms');
        $queue->stats();
        $this->with('lua-time-limit', '10', '5000', function () use ($queue) {
            $script = $this->server->send('EVAL', 'while true do end', '0');
            for ($end = microtime(true) + 20; microtime(true) < $end; usleep(5000)) {
                if (str_starts_with((string) $this->server->command('PING'), '-BUSY')) {
                    break;
                }
            }
            try {
                $this->assertThrows(E\BusyException::class, fn () => $queue->push('x'));
            } finally {
                $this->server->command('SCRIPT', 'KILL');
                fclose($script);
            }
        });
        $queue->push('after');
        $this->assertSame('after', $queue->reserve()->body);
    }

    public function test_server_that_evicts_is_logged_once(): void
    {
        $this->server->command('CONFIG', 'SET', 'maxmemory', '500mb');
        $this->server->command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
        try {
            $log = $this->logged(function () {
                foreach ([1, 2] as $_) {
                    $this->queue('q', 'timeout=9s')->push('x');
                }
            });
            $this->assertSame(1, substr_count($log, 'allkeys-lru'));
            $this->assertTrue($this->queue('q', 'timeout=9s')->stats()->evicting);
            $this->assertFalse($this->queue('q', 'evicting=accept')->stats()->evicting);
        } finally {
            $this->server->command('CONFIG', 'SET', 'maxmemory', '0');
            $this->server->command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
        }
    }

    public function test_reserve_outlives_a_planned_failover(): void
    {
        $queue = $this->queue('q', 'timeout=1s');
        $queue->push('served', delay: 60.0);
        $log = $this->logged(function () use ($queue) {
            $pending = $queue->reserveStart(timeout: 60.0);
            $this->untilBlocked($pending);
            $this->server->command('REPLICAOF', '127.0.0.1', '1');
            try {
                for ($end = microtime(true) + 2.5; microtime(true) < $end; usleep(5000)) {
                    $this->assertFalse($pending->poll());
                }
            } finally {
                $this->server->command('REPLICAOF', 'NO', 'ONE');
            }
            $queue->push('after');
            $this->await(fn () => $pending->poll());
            $this->assertSame('after', $pending->result()->body);
        });
        $this->assertSame(1, substr_count($log, 'READONLY'));
    }

    public function test_push_onto_a_key_of_another_type(): void
    {
        $this->server->command('SET', 'dueq:{q}:ready', 'not a list');
        $this->assertThrows(E\WrongTypeException::class, fn () => $this->queue()->push('x'));
    }

    public function test_find_a_damaged_entry(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x');
        $this->server->command('HSET', 'dueq:{q}:msg', $id, 'garbage');
        $this->assertThrows(E\CorruptException::class, fn () => $queue->find($id));
        $this->assertNull($queue->reserve());
        $this->assertSame(1, $queue->stats()->quarantined);
    }

    public function test_push_that_the_server_refuses(): void
    {
        $queue = $this->queue('q', 'timeout=500ms');
        $this->with('min-replicas-to-write', '3', '0', function () use ($queue) {
            $e = $this->assertThrows(E\UnavailableException::class, fn () => $queue->push('x'));
            $this->assertStringContainsString('NOREPLICAS', $e->getMessage());
        });
    }

    public function test_call_something_that_is_not_redis(): void
    {
        $path = sys_get_temp_dir() . '/dueq-php-' . bin2hex(random_bytes(6));
        $listener = stream_socket_server("unix://$path");
        $web = $this->besides(function () use ($listener) {
            while ($client = stream_socket_accept($listener, 20)) {
                fwrite($client, "HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        try {
            $queue = new Queue('q', "unix://$path?timeout=1s");
            $this->assertThrows(E\ProtocolException::class, fn () => $queue->push('x'));
        } finally {
            posix_kill($web, SIGKILL);
            pcntl_waitpid($web, $status);
            unlink($path);
        }
    }

    public function test_tls_with_a_missing_authority(): void
    {
        $listener = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($listener, false);
        $queue = new Queue('q', "rediss://$address?ca=/nonexistent/ca.pem&timeout=500ms");
        $e = $this->assertThrows(E\TlsException::class, fn () => $queue->push('x'));
        $this->assertStringContainsString('/nonexistent/ca.pem', $e->getMessage());
    }

    public function test_embedded_server_in_an_impossible_directory(): void
    {
        $queue = new Queue('q', 'embedded:/dev/null/nowhere');
        $this->assertThrows(E\EmbeddedException::class, fn () => $queue->push('x'));
    }

    public function test_push_after_the_scripts_were_flushed(): void
    {
        $queue = $this->queue();
        $queue->push('a');
        $this->server->command('SCRIPT', 'FLUSH');
        $queue->push('b');
        $this->assertSame(2, $queue->stats()->ready);
    }
}
