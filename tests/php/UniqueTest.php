<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\DuplicateException;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Replace;
use Dueq\State;

/** One message of an id: unique and replace. */
final class UniqueTest extends QueueTestCase
{
    public function test_unique_refuses_an_id_whose_message_is_gone(): void
    {
        $queue = $this->queue();
        foreach ([600, 600.0, new DateInterval('PT10M')] as $i => $unique) {
            $queue->push('first', id: "$i", unique: $unique);
            $queue->reserve()->ack();
            $this->assertThrows(
                DuplicateException::class,
                fn () => $queue->push('second', id: "$i"),
            );
            $this->assertSame([null], $queue->pushMany([['body' => 'third', 'id' => "$i"]]));
        }
        $queue->push('fourth', id: 'another');
        $this->assertSame(['fourth'], array_column($queue->reserveMany(10), 'body'));
    }

    public function test_replace_puts_a_message_in_place_of_the_old_one(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'one');
        $held = $queue->reserve();
        $this->assertSame('one', $queue->push('new', id: 'one', replace: Replace::Message));
        $this->assertThrows(LeaseLostException::class, fn () => $held->ack());
        $message = $queue->reserve();
        $this->assertSame(['new', 1, 1], [$message->body, $message->attempt, $message->deliveries]);
        $message->ack();
        $this->assertSame(
            'one',
            $queue->push('nothing to replace', id: 'one', replace: Replace::Message),
        );
    }

    public function test_replace_the_body_keeps_time_and_place(): void
    {
        $queue = $this->queue();
        $queue->pushMany([
            ['body' => 'old', 'id' => 'one'],
            'second',
            ['body' => 'x', 'id' => 'late', 'delay' => 600],
        ]);
        $before = $queue->find('late')->time;
        $this->assertSame(['one', 'late'], $queue->pushMany([
            ['body' => 'new', 'id' => 'one', 'replace' => Replace::Body],
            ['body' => 'y', 'id' => 'late', 'replace' => Replace::Body],
        ]));
        $this->assertSame(['new', 'second'], array_column($queue->reserveMany(10), 'body'));
        $late = $queue->find('late');
        $this->assertSame(['y', State::Delayed, $before], [$late->body, $late->state, $late->time]);
    }

    public function test_replace_false_refuses(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'one');
        $this->assertThrows(
            DuplicateException::class,
            fn () => $queue->push('new', id: 'one', replace: null),
        );
        $this->assertSame('old', $queue->find('one')->body);
    }

    public function test_unique_and_replace_out_of_range(): void
    {
        $queue = $this->queue();
        $bad = [
            ['unique' => 60], ['replace' => Replace::Message],
            ['replace' => Replace::Body], ['id' => 'a', 'unique' => -1],
            ['id' => 'a', 'unique' => NAN],
        ];
        foreach ($bad as $fields) {
            $this->assertThrows(InvalidException::class, fn () => $queue->push('x', ...$fields));
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->pushMany([['body' => 'x', ...$fields]]),
            );
        }
        $this->assertSame(0, $queue->stats()->pushed);
    }

    public function test_unique_and_replace_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        $bad = [
            ['unique', '60'], ['unique', false], ['replace', 1], ['replace', true],
            ['replace', 'body'], ['replace', State::Ready], ['replace', []],
        ];
        foreach ($bad as [$field, $value]) {
            $this->assertTypeError(
                "(\$$field)",
                fn () => $queue->push('x', ...['id' => 'a', $field => $value]),
            );
            $items = [['body' => 'x', 'id' => 'a', $field => $value]];
            $this->assertTypeError(
                "item 0: $field must be of type",
                fn () => $queue->pushMany($items),
            );
        }
    }
}
