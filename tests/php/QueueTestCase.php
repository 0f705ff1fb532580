<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\DueqException;
use Dueq\Pending;
use Dueq\Queue;
use PHPUnit\Framework\TestCase;

/** Tests on an empty server that all of them share. */
abstract class QueueTestCase extends TestCase
{
    private static ?Server $shared = null;

    protected Server $server;

    protected function setUp(): void
    {
        $this->server = self::$shared ??= new Server();
        $this->server->command('FLUSHALL');
    }

    protected function queue(string $name = 'q', string $parameters = ''): Queue
    {
        return new Queue($name, $this->server->url($parameters));
    }

    /**
     * Runs what must throw exactly this class, and checks what every exception of dueq promises.
     *
     * @template T of DueqException
     * @param class-string<T> $class
     * @return T
     */
    protected function assertThrows(string $class, callable $run): DueqException
    {
        try {
            $run();
        } catch (DueqException $e) {
            $this->assertSame($class, get_class($e), $e->getMessage());
            $this->assertNotSame('', $e->getMessage());
            $this->assertNotSame(0, $e->getCode());
            return $e;
        }
        $this->fail("$class was not thrown");
    }

    /** Runs what must throw a TypeError that says this. */
    protected function assertTypeError(string $text, callable $run): void
    {
        try {
            $run();
        } catch (\TypeError $e) {
            $this->assertStringContainsString($text, $e->getMessage());
            return;
        }
        $this->fail("no TypeError with $text");
    }

    /** Runs what must throw an Error that says this. */
    protected function assertError(string $text, callable $run): void
    {
        try {
            $run();
        } catch (\Error $e) {
            $this->assertStringContainsString($text, $e->getMessage());
            return;
        }
        $this->fail("no Error with $text");
    }

    /** Polls until the wait sits in its blocking command. */
    protected function untilBlocked(Pending $pending): void
    {
        for ($blocked = 0; !$blocked; usleep(5000)) {
            $this->assertFalse($pending->poll());
            $blocked = preg_match(
                '/^blocked_clients:1/m',
                $this->server->command('INFO', 'clients'),
            );
        }
    }

    /**
     * Runs a loop of stream_select() until each of $waiting has ended, or $seconds are over.
     *
     * @param Pending[] $waiting
     * @return int how often a stream was readable
     */
    protected function loop(array $waiting, float $seconds = 20.0): int
    {
        $wakes = 0;
        $waiting = array_filter($waiting, fn ($pending) => !$pending->poll());
        for ($end = microtime(true) + $seconds; $waiting && ($left = $end - microtime(true)) > 0;) {
            $read = array_map(fn ($pending) => $pending->stream(), $waiting);
            [$write, $except] = [[], []];
            stream_select($read, $write, $except, (int) $left, (int) (fmod($left, 1) * 1e6));
            $wakes += count($read);
            foreach ($read as $key => $stream) {
                if ($waiting[$key]->poll()) {
                    unset($waiting[$key]);
                }
            }
        }
        return $wakes;
    }

    /** Waits until this holds. */
    protected function await(callable $condition, float $seconds = 20.0): void
    {
        for ($end = microtime(true) + $seconds; microtime(true) < $end; usleep(5000)) {
            if ($condition()) {
                return;
            }
        }
        $this->fail('it did not come to that');
    }

    /** Runs code, and returns what it made PHP log. */
    protected static function logged(callable $run): string
    {
        $file = tempnam(sys_get_temp_dir(), 'dueq-log-');
        $before = ini_set('error_log', $file);
        try {
            $run();
        } finally {
            ini_set('error_log', $before);
            $text = file_get_contents($file);
            unlink($file);
        }
        return $text;
    }

    /** Returns what $run returned in a child process, which ends without PHPUnit. */
    protected function inChild(callable $run): mixed
    {
        [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = pcntl_fork();
        if ($pid === 0) {
            fclose($ours);
            try {
                $result = $run();
            } catch (\Throwable $e) {
                $result = get_class($e) . ': ' . $e->getMessage();
            }
            unset($run);
            fwrite($theirs, serialize($result));
            posix_kill(getmypid(), SIGKILL);
        }
        fclose($theirs);
        $text = stream_get_contents($ours);
        pcntl_waitpid($pid, $status);
        return unserialize($text);
    }

    /** Starts a child that runs code beside the test; end with pcntl_waitpid(). */
    protected function besides(callable $run): int
    {
        $pid = pcntl_fork();
        if ($pid === 0) {
            try {
                $run();
            } finally {
                posix_kill(getmypid(), SIGKILL);
            }
        }
        return $pid;
    }

    /**
     * Runs code in a PHP process of its own with this extension.
     *
     * @return array{int, string} the exit code and what it printed
     */
    protected function php(string $code, string ...$settings): array
    {
        preg_match('~/\S*/dueq\.so~', file_get_contents('/proc/self/maps'), $match);
        $command = [PHP_BINARY, '-n', '-d', "extension=$match[0]", '-d', 'display_errors=stdout'];
        foreach ($settings as $setting) {
            array_push($command, '-d', $setting);
        }
        $process = proc_open(
            [...$command, '-r', $code],
            [1 => ['pipe', 'w'], 2 => ['redirect', 1]],
            $pipes,
        );
        $output = stream_get_contents($pipes[1]);
        return [proc_close($process), $output];
    }

    /** How much memory this process has, in KiB: that of C too. */
    protected static function resident(): int
    {
        preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents('/proc/self/status'), $match);
        return (int) $match[1];
    }
}
