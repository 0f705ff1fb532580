<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\InvalidException;
use Dueq\Exception\WrongTypeException;
use Dueq\Message;
use Dueq\Messages;
use Dueq\Order;
use Dueq\State;

final class PeekTest extends QueueTestCase
{
    /** @return list<string> */
    private function bodies(iterable $messages): array
    {
        return array_column(iterator_to_array($messages), 'body');
    }

    public function test_peek_shows_each_state_in_order_without_touching_it(): void
    {
        $queue = $this->queue();
        foreach (['d1', 'd2'] as $body) {
            $queue->push($body);
            $queue->reserve()->bury("why $body");
        }
        $queue->pushMany(['l1', 'l2']);
        $queue->reserve(lease: 600);
        $queue->reserve(lease: 60);
        $queue->pushMany([['body' => 'w1', 'delay' => 600], ['body' => 'w2', 'delay' => 60]]);
        $queue->pushMany([
            'n1', ['body' => 'low', 'priority' => -1], 'n2', ['body' => 'high', 'priority' => 1],
        ]);
        $before = $queue->stats();
        for ($i = 0; $i < 2; $i++) {
            $this->assertSame(
                ['high', 'n1', 'n2', 'low'],
                $this->bodies($queue->peek(State::Ready)),
            );
            $this->assertSame(['w2', 'w1'], $this->bodies($queue->peek(State::Delayed)));
            $this->assertSame(['l2', 'l1'], $this->bodies($queue->peek(State::Leased)));
            $this->assertSame(['d1', 'd2'], $this->bodies($queue->peek(State::Dead)));
        }
        foreach ($queue->peek(State::Dead) as $message) {
            $this->assertSame(
                [State::Dead, "why $message->body"],
                [$message->state, $message->error],
            );
        }
        foreach (['ready', 'delayed', 'leased', 'dead', 'reserved', 'pushed'] as $count) {
            $this->assertSame($before->$count, $queue->stats()->$count);
        }
    }

    public function test_peek_an_empty_queue(): void
    {
        $messages = $this->queue()->peek(State::Ready);
        $this->assertInstanceOf(Messages::class, $messages);
        $this->assertInstanceOf(\Iterator::class, $messages);
        foreach ($messages as $message) {
            $this->fail('there is none');
        }
        $this->assertFalse($messages->valid());
        $this->assertNull($messages->current());
        $this->assertNull($messages->key());
        $messages->next();
        $this->assertFalse($messages->valid());
    }

    public function test_peek_turns_pages(): void
    {
        $queue = $this->queue();
        $bodies = array_map('strval', range(1, 500));
        $queue->pushMany(
            array_map(fn ($body) => ['body' => $body, 'delay' => 600 + (int) $body], $bodies),
        );
        foreach ([100, 199, 200] as $page) {
            $this->assertSame($bodies, $this->bodies($queue->peek(State::Delayed, $page)));
            $this->assertSame(
                $bodies,
                $this->bodies($queue->peek(page: $page, state: State::Delayed)),
            );
        }
        $this->assertSame(
            array_keys($bodies),
            array_keys(iterator_to_array($queue->peek(State::Delayed))),
        );
        $queue->purge(State::Delayed);
        $queue->pushMany($bodies);
        $this->assertSame($bodies, $this->bodies($queue->peek(State::Ready, 7)));
    }

    public function test_peek_fetches_only_what_the_loop_comes_to(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(fn ($n) => ['body' => "$n", 'delay' => 600 + $n], range(1, 10)));
        $messages = $queue->peek(State::Delayed, 3);
        $seen = [];
        foreach ($messages as $message) {
            $seen[] = $message->body;
            if ($message->body === '3') {
                $queue->purge(State::Delayed);
            }
        }
        $this->assertSame(['1', '2', '3'], $seen);
    }

    public function test_peek_by_hand(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b', 'c']);
        $messages = $queue->peek(State::Ready, 2);
        $this->assertSame('a', $messages->current()->body);
        $this->assertSame(0, $messages->key());
        $messages->next();
        $messages->next();
        $this->assertSame(
            [2, 'c', true],
            [$messages->key(), $messages->current()->body, $messages->valid()],
        );
        $messages->next();
        $messages->next();
        $this->assertSame(
            [null, null, false],
            [$messages->key(), $messages->current(), $messages->valid()],
        );
        $messages = $queue->peek(State::Ready);
        $messages->next();
        $this->assertSame('b', $messages->current()->body);
    }

    public function test_peek_again_looks_anew(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b']);
        $messages = $queue->peek(State::Ready, 1);
        $this->assertSame(['a', 'b'], $this->bodies($messages));
        $queue->reserve()->ack();
        $queue->push('c');
        $this->assertSame(['b', 'c'], $this->bodies($messages));
        $messages->rewind();
        $this->assertSame([0, 'b'], [$messages->key(), $messages->current()->body]);
    }

    public function test_peek_lets_the_loop_use_the_queue(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(fn ($n) => ['body' => "$n", 'delay' => 600 + $n], range(1, 50)));
        $cancelled = 0;
        foreach ($queue->peek(State::Delayed, 7) as $message) {
            $inner = count($this->bodies($queue->peek(State::Delayed)));
            $this->assertSame(50 - $cancelled, $inner);
            $cancelled += (int) ($queue->cancel($message->id) === State::Delayed);
        }
        $this->assertSame([50, 0], [$cancelled, $queue->stats()->delayed]);
    }

    public function test_peek_at_a_leased_message_gives_a_ticket_that_settles(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $queue->reserve();
        foreach ($queue->peek(State::Leased) as $message) {
            $this->assertSame(['q', 1], [$message->queue, $message->deliveries]);
            $message->ack();
        }
        $this->assertSame(1, $queue->stats()->acked);
    }

    public function test_peek_leaves_damaged_messages_out(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(
            array_map(fn ($n) => ['body' => "$n", 'delay' => 600 + $n], range(1, 5)),
        );
        foreach ([0, 1, 3, 4] as $i) {
            $this->server->command('HSET', 'dueq:{q}:msg', $ids[$i], 'garbage');
        }
        foreach ([1, 2, 100] as $page) {
            $messages = iterator_to_array($queue->peek(State::Delayed, $page));
            $this->assertSame([0], array_keys($messages));
            $this->assertSame('3', $messages[0]->body);
        }
    }

    public function test_peek_outlives_the_variable_of_the_queue(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b']);
        $messages = $queue->peek(State::Ready, 1);
        unset($queue);
        gc_collect_cycles();
        $message = $messages->current();
        $this->assertSame(['a', 'b'], $this->bodies($messages));
        unset($messages);
        $this->assertNotNull($this->queue()->cancel($message->id));
        $this->assertThrows(\Dueq\Exception\InvalidException::class, fn () => $message->ack());
    }

    public function test_peek_throws_when_a_page_fails_and_goes_on_after(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b', 'c']);
        $messages = $queue->peek(State::Ready, 2);
        $messages->next();
        $this->server->command('SET', 'dueq:{q}:attempts', 'not a hash');
        $this->assertThrows(WrongTypeException::class, fn () => $messages->next());
        $this->assertThrows(
            WrongTypeException::class,
            fn () => $this->bodies($queue->peek(State::Ready)),
        );
        $this->server->command('DEL', 'dueq:{q}:attempts');
        $this->assertFalse($messages->valid());
        $messages->next();
        $this->assertSame([2, 'c'], [$messages->key(), $messages->current()->body]);
    }

    public function test_peek_out_of_range(): void
    {
        $queue = $this->queue();
        foreach ([0, -1, 201, PHP_INT_MAX] as $page) {
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->peek(State::Ready, $page),
            );
        }
        foreach (['ready', '', 1, Order::Preference] as $state) {
            $this->assertTypeError('($state)', fn () => $queue->peek($state));
        }
        $this->assertTypeError('($page)', fn () => $queue->peek(State::Ready, '10'));
    }
}
