<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\DueqException;
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

    /** Runs code in a child process and returns what it returned; the child ends without PHPUnit. */
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
}
