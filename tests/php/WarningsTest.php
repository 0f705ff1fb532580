<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Client;
use Dueq\Consumer;
use Dueq\Exception\ClosedException;
use Dueq\Exception\LeaseLostException;
use Dueq\Message;

/** A handler is told of an outage and of a lost lease. An ack during an outage is sent later. */
final class WarningsTest extends QueueTestCase
{
    private Server $durable;

    protected function setUp(): void
    {
        parent::setUp();
        $this->durable = new Server('--appendonly', 'yes', '--appendfsync', 'always');
    }

    protected function tearDown(): void
    {
        Client::onNotice(null);
        $this->durable->remove();
        parent::tearDown();
    }

    /** Waits as a handler that computes: without a call of dueq but those in $holds. */
    private function until(callable $holds): void
    {
        for ($end = microtime(true) + 30; !$holds();) {
            $this->assertLessThan($end, microtime(true));
        }
    }

    /** @return list<string> what the listener hears from now on */
    private function &notices(): array
    {
        static $heard;
        $heard = [];
        Client::onNotice(function (string $text) use (&$heard): void {
            $heard[] = $text;
        });

        return $heard;
    }

    private function take(\Dueq\Queue $queue, float $lease, ?Consumer &$consumer): Message
    {
        $queue->push('x');
        $consumer = $queue->consume(lease: $lease, timeout: 5.0);
        foreach ($consumer as $message) {
            return $message;
        }
        $this->fail('no message');
    }

    public function test_a_handler_that_computes_is_told_of_an_outage(): void
    {
        $heard = &$this->notices();
        $queue = (new Client($this->durable->url()))->queue('q');
        $queue->push('x');
        $consumer = $queue->consume(lease: 1.5, timeout: 0.0);
        $consumer->work(function (Message $message) use (&$heard): void {
            usleep(1000000); // the heartbeat is connected
            $this->durable->kill();
            $this->until(function () use (&$heard) {
                return str_contains(implode($heard), 'it is tried again');
            });
            $this->durable->start();
            $this->until(function () use (&$heard) {
                return str_contains(implode($heard), 'it answers again');
            });
            $this->assertFalse($message->lost);
        });
        $this->assertSame(1, $queue->stats()->acked);
    }

    public function test_a_handler_can_ask_whether_its_message_is_lost(): void
    {
        $heard = &$this->notices();
        $queue = $this->queue();
        $message = $this->take($queue, 0.5, $consumer);
        $this->assertFalse($message->lost);
        $this->assertTrue(isset($message->lost));
        $queue->cancel($message->id);
        $this->until(fn () => $message->lost);
        $this->until(function () use (&$heard, $message) {
            return str_contains(implode($heard), "lost: message {$message->id}: ");
        });
        $this->assertThrows(LeaseLostException::class, fn () => $message->checkpoint('half'));
        $this->assertThrows(LeaseLostException::class, fn () => $message->ack());
        $this->assertTrue($message->lost);
    }

    public function test_an_ack_in_an_outage_waits_and_is_kept(): void
    {
        $this->notices();
        $queue = (new Client($this->durable->url('timeout=3s')))->queue('q');
        $message = $this->take($queue, 6.0, $consumer);
        $this->durable->kill();
        $begin = microtime(true);
        $this->assertThrows(ClosedException::class, fn () => $message->ack());
        $this->assertGreaterThan(2.9, microtime(true) - $begin);
        $this->assertTrue($message->isSettled());
        $this->durable->start();
        $patient = (new Client($this->durable->url()))->queue('q');
        $this->until(fn () => $patient->stats()->acked === 1);
        $this->assertSame(0, $consumer->lost());
    }

    public function test_an_exit_counts_as_a_crash_where_that_is_asked_for(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x');
        $url = var_export($queue->url(), true);
        $name = var_export($queue->name, true);
        $this->php("\$consumer = (new Dueq\\Queue($name, $url))->consume(timeout: 5.0);"
            . '$consumer->countExits(); $consumer->work(fn () => exit(0));');
        $message = $queue->reserve(timeout: 20.0);
        $this->assertSame([$id, 1], [$message->id, $message->crashes]);
    }
}
