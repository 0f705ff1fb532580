<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Client;
use Dueq\Exception\NameException;
use Dueq\Exception\UrlException;
use Dueq\Order;
use Dueq\Queue;
use Dueq\Queues;

/** Many queues on the connection of one client. */
final class ClientTest extends QueueTestCase
{
    public function test_its_queues_are_those_of_other_clients(): void
    {
        $client = new Client($this->server->url());
        $this->assertSame($this->queue()->url(), $client->url());
        $client->queue('a')->push('x');
        $this->assertSame('x', $this->queue('a')->reserve()->body);
        $this->queue('b')->push('y');
        $message = $client->queue('b')->reserve();
        $this->assertSame(['b', 'y'], [$message->queue, $message->body]);
        $message->ack();
        $this->assertSame(['a', 'b'], $client->names());
        $this->assertSame(0, $this->queue('b')->stats()->leased);
    }

    public function test_all_its_queues_have_one_connection(): void
    {
        $before = $this->connections();
        $client = new Client($this->server->url());
        $queues = [];
        foreach (range(1, 20) as $number) {
            $queues[] = $queue = $client->queue("q$number");
            $queue->push('x');
        }
        $queues[] = $several = $client->queues(['q1', 'q2']);
        $several->reserve()->ack();
        $this->assertCount(20, $client->names());
        $this->assertConnections($before + 1);
        unset($client, $queue, $several, $queues);
        $this->assertConnections($before);
    }

    public function test_the_connection_of_a_wait_serves_other_queues_after_it(): void
    {
        $client = new Client($this->server->url());
        $before = null;
        foreach (['a', 'b', 'c'] as $name) {
            $pending = $client->queue($name)->reserveStart();
            $this->untilBlocked($pending);
            $client->queue($name)->push("of $name");
            $this->loop([$pending]);
            $message = $pending->result();
            $this->assertSame([$name, "of $name"], [$message->queue, $message->body]);
            $message->ack();
            $before ??= $this->connections();
        }
        foreach ($client->queues(['d', 'e'])->consume(timeout: 0.0) as $ignored) {
            $this->fail('nothing was pushed');
        }
        $this->assertConnections($before);
    }

    public function test_queues_have_an_order(): void
    {
        $client = new Client($this->server->url());
        $queues = $client->queues(['a', 'b'], Order::RoundRobin);
        $this->assertInstanceOf(Queues::class, $queues);
        $this->assertSame([['a', 'b'], Order::RoundRobin], [$queues->names, $queues->order]);
        $this->assertSame(Order::Preference, $client->queues(['a'])->order);
    }

    public function test_a_queue_outlives_the_variable_of_its_client(): void
    {
        $queue = (new Client($this->server->url()))->queue('a');
        $this->assertInstanceOf(Queue::class, $queue);
        $queue->push('x');
        $this->assertSame('x', $queue->reserve()->body);
    }

    public function test_what_is_wrong(): void
    {
        $this->assertThrows(UrlException::class, fn () => new Client('http://host'));
        $client = new Client($this->server->url());
        $this->assertThrows(NameException::class, fn () => $client->queue('{a}'));
        $this->assertThrows(NameException::class, fn () => $client->queues(['a', "b\n"]));
        foreach ([[], ['a', 'a']] as $names) {
            $this->assertThrows(
                \Dueq\Exception\InvalidException::class,
                fn () => $client->queues($names),
            );
        }
        $this->assertTypeError('($order)', fn () => $client->queues(['a'], 'preference'));
        $this->assertError('constructed already', fn () => $client->__construct());
        $client->queue('a')->push('x');
        $this->assertSame(['a'], $client->names());
    }

    /** Waits for the server to see that a client has closed its connection. */
    private function assertConnections(int $expected): void
    {
        $end = microtime(true) + 10;
        while ($this->connections() !== $expected && microtime(true) < $end) {
            usleep(5000);
        }
        $this->assertSame($expected, $this->connections());
    }

    private function connections(): int
    {
        $info = $this->server->command('INFO', 'clients');
        preg_match('/^connected_clients:(\d+)/m', $info, $match);

        return (int) $match[1];
    }
}
