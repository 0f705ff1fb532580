<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\InvalidException;
use Dueq\Exception\NameException;
use Dueq\Exception\UrlException;
use Dueq\Order;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\State;

/** Several queues in one wait, and the names of all. */
final class QueuesTest extends QueueTestCase
{
    /** @param list<string> $names */
    private function queues(array $names = ['a', 'b'], Order $order = Order::Preference): Queues
    {
        return new Queues($names, $this->server->url(), $order);
    }

    public function test_reserve_prefers_the_first_queue(): void
    {
        $this->queue('b')->pushMany(['b1', 'b2']);
        $this->queue('a')->pushMany(['a1', 'a2']);
        $queues = $this->queues();
        $taken = [];
        while ($message = $queues->reserve()) {
            $taken[] = [$message->queue, $message->body];
        }
        $this->assertSame([['a', 'a1'], ['a', 'a2'], ['b', 'b1'], ['b', 'b2']], $taken);
    }

    public function test_reserve_takes_turns(): void
    {
        foreach (['a', 'b', 'c'] as $name) {
            $this->queue($name)->pushMany(['1', '2']);
        }
        $queues = $this->queues(['a', 'b', 'c'], Order::RoundRobin);
        $taken = [];
        while ($message = $queues->reserve()) {
            $taken[] = $message->queue;
        }
        sort($taken);
        $this->assertSame(['a', 'a', 'b', 'b', 'c', 'c'], $taken);
        foreach (['a', 'b', 'c'] as $name) {
            $this->queue($name)->pushMany(['1', '2']);
        }
        $names = [$queues->reserve()->queue, $queues->reserve()->queue, $queues->reserve()->queue];
        sort($names);
        $this->assertSame(['a', 'b', 'c'], $names);
    }

    public function test_reserve_many_takes_from_one_queue(): void
    {
        $this->queue('b')->pushMany(['b1', 'b2', 'b3']);
        $queues = $this->queues();
        $this->assertSame([], $this->queues(['none', 'empty'])->reserveMany(5));
        $this->assertSame(['b1', 'b2'], array_column($queues->reserveMany(2), 'body'));
        $this->queue('a')->push('a1');
        $this->assertSame(['a1'], array_column($queues->reserveMany(200, 5.0), 'body'));
        $this->assertSame(['b3'], array_column($queues->reserveMany(5, lease: 60), 'body'));
    }

    public function test_reserve_waits_for_all_of_them(): void
    {
        foreach (['a', 'b', 'c'] as $i => $name) {
            $queues = $this->queues(['a', 'b', 'c']);
            $producer = $this->besides(function () use ($name) {
                $this->server->awaitBlocked();
                $this->queue($name)->push("to $name");
            });
            $begin = microtime(true);
            $message = $queues->reserve([20.0, INF, new DateInterval('PT20S')][$i]);
            $this->assertSame([$name, "to $name"], [$message->queue, $message->body]);
            $this->assertLessThan(10, microtime(true) - $begin);
            pcntl_waitpid($producer, $status);
        }
    }

    public function test_reserve_waits_for_its_timeout(): void
    {
        $begin = microtime(true);
        $this->assertNull($this->queues()->reserve(0.3));
        $this->assertGreaterThan(0.29, microtime(true) - $begin);
    }

    public function test_messages_are_settled_in_their_queues(): void
    {
        $queues = $this->queues();
        foreach (['ack', 'retry', 'release', 'bury'] as $verb) {
            $this->queue('a')->push($verb, backoff: 0);
            $this->queue('b')->push($verb, backoff: 0);
            [$a, $b] = [$queues->reserve(), $queues->reserve(lease: 60)];
            $b->extend(600);
            $until = $this->queue('b')->find($b->id)->time;
            $this->assertEqualsWithDelta($this->queue('b')->stats()->now + 600, $until, 5);
            $a->$verb();
            $b->$verb();
            foreach ([$a, $b] as $message) {
                $found = $this->queue($message->queue)->find($message->id);
                $wanted = [
                    'ack' => null,
                    'retry' => State::Ready,
                    'release' => State::Ready,
                    'bury' => State::Dead,
                ][$verb];
                $this->assertSame($wanted, $found?->state);
                $this->queue($message->queue)->purge(State::Ready);
            }
        }
    }

    public function test_messages_outlive_the_queues(): void
    {
        $queues = $this->queues();
        $this->queue('a')->push('x');
        $this->queue('b')->push('y');
        $messages = [$queues->reserve(), $queues->reserve()];
        unset($queues);
        $this->assertSame(0, gc_collect_cycles());
        $messages[0]->ack(push: ['z'], to: 'b');
        unset($messages[0]);
        $messages[1]->ack();
        $this->assertSame(
            [1, 1],
            [$this->queue('a')->stats()->acked, $this->queue('b')->stats()->acked],
        );
        $this->assertSame('z', $this->queue('b')->reserve()->body);
    }

    public function test_a_child_uses_the_queues_of_its_parent(): void
    {
        $queues = $this->queues();
        $this->queue('b')->push('for the child');
        $queues->reserve()->release();
        $this->assertSame('for the child', $this->inChild(function () use ($queues) {
            $message = $queues->reserve();
            $message->ack();
            return $message->body;
        }));
        $this->queue('a')->push('for the parent');
        $this->assertSame('for the parent', $queues->reserve()->body);
    }

    public function test_construct_shows_what_it_was_given(): void
    {
        $names = ['z', 'a', '17'];
        $given = ['x' => $names[0], $names[1], 9 => &$names[2]];
        $queues = new Queues(order: Order::RoundRobin, names: $given, url: $this->server->url());
        $names[2] = 'changed';
        $this->assertSame([['z', 'a', '17'], Order::RoundRobin], [$queues->names, $queues->order]);
        $this->assertSame(Order::Preference, $this->queues()->order);
        $this->assertStringContainsString($this->server->socket, $queues->url());
        $most = array_map('strval', range(1, 1024));
        $this->queue('1024')->push('the last');
        $this->assertSame('1024', $this->queues($most)->reserve(10.0)->queue);
    }

    public function test_construct_with_bad_names(): void
    {
        foreach ([[], ['a', 'b', 'a'], array_map('strval', range(1, 1025))] as $names) {
            $this->assertThrows(InvalidException::class, fn () => $this->queues($names));
        }
        $this->assertThrows(NameException::class, fn () => $this->queues(['a', 'b', 'c{']));
        $this->assertThrows(NameException::class, fn () => $this->queues(['']));
        $this->assertTypeError('($names)', fn () => $this->queues(['a', 7]));
        $this->assertTypeError('($names)', fn () => new Queues('a'));
        $this->assertThrows(UrlException::class, fn () => new Queues(['a'], 'nonsense'));
        foreach (['preference', '', null, State::Ready] as $order) {
            $this->assertTypeError(
                '($order)',
                fn () => new Queues(['a'], $this->server->url(), $order),
            );
        }
    }

    public function test_construct_twice(): void
    {
        $queues = $this->queues();
        try {
            $queues->__construct(['x']);
            $this->fail('no Error');
        } catch (\Error $e) {
            $this->assertStringContainsString('already', $e->getMessage());
        }
        $this->assertSame(['a', 'b'], $queues->names);
    }

    public function test_reserve_with_arguments_out_of_range(): void
    {
        $queues = $this->queues();
        foreach ([[-0.5], [NAN], [0.0, 0], [0.0, INF]] as $arguments) {
            $this->assertThrows(InvalidException::class, fn () => $queues->reserve(...$arguments));
        }
        foreach ([0, -1, 201, PHP_INT_MAX] as $count) {
            $this->assertThrows(InvalidException::class, fn () => $queues->reserveMany($count));
        }
        $this->assertTypeError('($timeout)', fn () => $queues->reserve('1'));
        $this->assertTypeError('($lease)', fn () => $queues->reserveMany(1, 0, '1'));
    }

    public function test_names_of_all_queues(): void
    {
        $url = $this->server->url();
        $this->assertSame([], Queue::names($url));
        foreach (['b', 'a', '17', "\u{1F4E6}", 'a:b', 'B'] as $name) {
            $this->queue($name)->push('x');
        }
        $this->server->command('SET', 'not a queue', 'x');
        $this->server->command('SET', 'dueq:{half', 'x');
        $this->assertSame(['17', 'B', 'a', 'a:b', 'b', "\u{1F4E6}"], Queue::names($url));
        $this->queue('a')->reserve()->ack();
        $this->assertContains('a', Queue::names($url));
    }

    public function test_names_of_many_queues(): void
    {
        $names = array_map(fn ($i) => sprintf('q%04d', $i), range(1, 2500));
        foreach ($names as $name) {
            $this->server->command('HSET', "dueq:{{$name}}:meta", 'pushed', '1');
        }
        $this->assertSame($names, Queue::names($this->server->url()));
    }

    public function test_names_of_a_server_that_is_not_there(): void
    {
        $this->assertThrows(UrlException::class, fn () => Queue::names('nonsense'));
        $this->assertThrows(
            \Dueq\Exception\ConnectException::class,
            fn () => Queue::names('unix:///nonexistent/socket?timeout=200ms')
        );
        $this->assertTypeError('($url)', fn () => Queue::names(7));
    }
}
