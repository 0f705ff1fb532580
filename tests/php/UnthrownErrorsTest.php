<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Client;
use Dueq\Exception\ConnectException;

/** Errors that no call throws: the listener, or the log, gets them. */
final class UnthrownErrorsTest extends QueueTestCase
{
    protected function tearDown(): void
    {
        Client::onNotice(null);
        parent::tearDown();
    }

    public function test_a_listener_hears_what_else_goes_to_the_log(): void
    {
        $heard = [];
        Client::onNotice(function (string $text) use (&$heard): void {
            $heard[] = $text;
        });
        $this->assertSame('', $this->evicting(fn () => null));
        $this->assertCount(1, $heard);
        $this->assertStringContainsString('the server evicts', $heard[0]);
        Client::onNotice(null);
        $this->assertStringContainsString('the server evicts', $this->evicting(fn () => null));
        $this->assertCount(1, $heard);
    }

    public function test_a_listener_may_use_the_client_and_throw(): void
    {
        $this->evicting(function ($queue): void {
            Client::onNotice(fn () => $queue->push('b'));
        });
        $this->expectExceptionMessage('heard');
        $this->evicting(fn () => Client::onNotice(fn () => throw new \DomainException('heard')));
    }

    public function test_a_listener_hears_also_where_calls_throw(): void
    {
        $heard = [];
        $logged = $this->logged(function () use (&$heard): void {
            $this->beingAway(function (string $text) use (&$heard): void {
                // An exception that the listener catches itself does not concern the call.
                $this->assertThrows(
                    \Dueq\Exception\NameException::class,
                    fn () => (new Client('unix:///nowhere'))->queue('{}'),
                );
                $heard[] = $text;
            }, $thrown);
            $this->assertInstanceOf(ConnectException::class, $thrown);
            $this->assertNull($thrown->getPrevious());
        });
        $this->assertCount(1, $heard);
        $this->assertStringContainsString('it is tried again', $heard[0]);
        $this->assertSame('', $logged);
    }

    public function test_a_listener_may_throw_where_a_call_throws(): void
    {
        $this->beingAway(fn () => throw new \DomainException('heard'), $thrown);
        $this->assertInstanceOf(\DomainException::class, $thrown);
        $this->assertInstanceOf(ConnectException::class, $thrown->getPrevious());
    }

    public function test_a_listener_hears_in_the_middle_of_a_loop(): void
    {
        $heard = null;
        $server = new Server();
        $consumer = (new Client($server->url('timeout=20s')))->queue('q')->consume();
        Client::onNotice(function (string $text) use ($server, $consumer, &$heard): void {
            $heard = $text;
            $server->start();
            $consumer->stop();
        });
        pcntl_async_signals(true);
        // A loop survives an outage only if it has reached the server: the alarm waits until then.
        pcntl_signal(SIGALRM, function () use ($server): void {
            if (str_contains($server->command('CLIENT', 'LIST'), 'flags=b')) {
                $server->kill();
            } else {
                pcntl_alarm(1);
            }
        });
        pcntl_alarm(1);
        $consumer->work(fn () => null);
        pcntl_signal(SIGALRM, SIG_DFL);
        $this->assertStringContainsString('it is tried again', $heard);
    }

    /** Pushes to a dead server until $listener is told. $thrown: what the last push threw. */
    private function beingAway(callable $listener, ?\Throwable &$thrown): void
    {
        $server = new Server();
        $queue = (new Client($server->url()))->queue('q');
        $server->kill();
        $told = false;
        Client::onNotice(function (string $text) use ($listener, &$told): void {
            $told = true;
            $listener($text);
        });
        for ($end = microtime(true) + 20; !$told && microtime(true) < $end; usleep(100000)) {
            try {
                $queue->push('x');
            } catch (\Throwable $thrown) {
                // The next push follows, or the caller gets $thrown.
            }
        }
        Client::onNotice(null);
        $server->remove();
    }

    /** Pushes to a server that evicts, and returns what was logged. */
    private function evicting(callable $before): string
    {
        $server = new Server('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
        $queue = (new Client($server->url()))->queue('q');
        $before($queue);

        return $this->logged(function () use ($queue): void {
            $queue->push('a');
            $this->assertSame('a', $queue->reserve()->body);
        });
    }

    public function test_a_text_is_escaped_as_the_core_escapes_it(): void
    {
        $this->assertSame(
            'a\x0a\x00b\x00\u009b\u202e\u2028ü\xff',
            Client::escape("a\n\0b\0\u{9b}\u{202e}\u{2028}ü\xff"),
        );
        $this->assertSame('', Client::escape(''));
        $this->assertSame('\x00', Client::escape("\0"));
    }
}
