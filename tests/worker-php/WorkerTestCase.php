<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Message;
use Dueq\Queue;
use Dueq\Tasks;
use Dueq\Tests\Server;
use PHPUnit\Framework\TestCase;

/** Tests that share a server, empty at first. The handlers of app/ write to the queue "journal". */
abstract class WorkerTestCase extends TestCase
{
    private static ?Server $shared = null;

    protected Server $server;

    protected Tasks $tasks;

    protected function setUp(): void
    {
        $this->server = self::$shared ??= new Server();
        $this->server->command('FLUSHALL');
        $this->tasks = new Tasks($this->server->url());
    }

    protected function start(string ...$options): Process
    {
        return $this->startWith('bootstrap.php', ...$options);
    }

    protected function startWith(string $bootstrap, string ...$options): Process
    {
        return Application::shared()->start($this->server, $bootstrap, ...$options);
    }

    protected function queue(string $name = 'default'): Queue
    {
        return $this->tasks->queue($name);
    }

    /** The next line of the journal. */
    protected function heard(): string
    {
        $message = $this->queue('journal')->reserve(timeout: 20.0);
        $this->assertInstanceOf(Message::class, $message, 'nothing came to the journal');
        $message->ack();

        return $message->body;
    }

    /** Waits until $found returns $expected. */
    protected function await(mixed $expected, callable $found): void
    {
        for (
            $end = microtime(true) + 20;
            $found() != $expected && microtime(true) < $end;
            usleep(10000)
        ) {
            // The next look follows.
        }
        $this->assertEquals($expected, $found());
    }

    /** Waits until nothing is left in a queue. */
    protected function awaitEmpty(string $queue = 'default'): void
    {
        $this->await([0, 0, 0, 0], function () use ($queue): array {
            $stats = $this->queue($queue)->stats();

            return [$stats->ready, $stats->delayed, $stats->leased, $stats->dead];
        });
    }

    /** What a program in Python prints. */
    protected function python(string $code): string
    {
        $environment = ['DUEQ_URL' => $this->server->url()] + getenv();
        $process = proc_open(
            ['python', '-c', $code],
            [['file', '/dev/null', 'r'], ['pipe', 'w'], STDERR],
            $pipes,
            null,
            $environment,
        );
        $read = stream_get_contents($pipes[1]);
        $this->assertSame(0, proc_close($process));

        return $read;
    }
}
