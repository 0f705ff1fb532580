<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\InvalidException;
use Dueq\Exception\NameException;
use Dueq\Message;
use Dueq\Queue;
use Dueq\State;

/** What a message says about its own life: priority, ttl, crashes, and where it goes. */
final class PolicyTest extends QueueTestCase
{
    private function awaitTime(Queue $queue, float $time): void
    {
        for ($end = microtime(true) + 20; $queue->stats()->now <= $time; usleep(2000)) {
            $this->assertLessThan($end, microtime(true));
        }
    }

    /** Takes the message and lets its lease end. */
    private function crash(Queue $queue): Message
    {
        $message = $queue->reserve(10.0, 0.001);
        $this->awaitTime($queue, $message->time);
        return $message;
    }

    public function test_push_shows_its_policies(): void
    {
        $queue = $this->queue();
        $plain = $queue->find($queue->push('plain'));
        $this->assertSame(
            ['q', 0, 16, 0, 5, 0, 0, null, false, null],
            [
                $plain->queue, $plain->attempt, $plain->maxAttempts,
                $plain->crashes, $plain->maxCrashes, $plain->deliveries,
                $plain->priority, $plain->expires, $plain->drop, $plain->deadLetter,
            ]
        );
        $id = $queue->push(
            'all',
            delay: 60,
            priority: 1,
            ttl: new DateInterval('PT1H'),
            maxCrashes: 65535,
            deadLetter: 'the dead'
        );
        $all = $queue->find($id);
        $this->assertSame(
            [1, 65535, false, 'the dead'],
            [$all->priority, $all->maxCrashes, $all->drop, $all->deadLetter]
        );
        $this->assertEqualsWithDelta($queue->stats()->now + 3600, $all->expires, 5);
        $this->assertTrue($queue->find($queue->push('x', drop: true))->drop);
    }

    public function test_priority_goes_first(): void
    {
        $queue = $this->queue();
        foreach ([-1, 0, 1, -1, 0, 1] as $i => $priority) {
            $queue->push("$priority:$i", priority: $priority);
        }
        $queue->pushMany([
            ['body' => 'l', 'priority' => -1],
            'n',
            ['body' => 'h', 'priority' => 1],
        ]);
        $this->assertSame(
            ['1:2', '1:5', 'h', '0:1', '0:4', 'n', '-1:0', '-1:3', 'l'],
            array_column($queue->reserveMany(100), 'body')
        );
    }

    public function test_ttl_ends_a_message_that_waits(): void
    {
        $queue = $this->queue();
        $queue->push('gone', ttl: 0.001);
        $id = $queue->push('stays', ttl: 600);
        $this->awaitTime($queue, $queue->find($id)->expires - 600 + 0.001);
        $this->assertSame(['stays'], array_column($queue->reserveMany(10), 'body'));
        $this->assertSame([0, 1], [$queue->stats()->ready, $queue->stats()->expired]);
    }

    public function test_max_crashes_ends_a_message(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', maxCrashes: 2);
        foreach ([0, 1] as $crashes) {
            $message = $this->crash($queue);
            $this->assertSame(
                [1, $crashes, 2, $crashes + 1],
                [$message->attempt, $message->crashes, $message->maxCrashes, $message->deliveries]
            );
        }
        $this->assertNull($queue->reserve());
        $this->assertSame([State::Dead, 2], [$queue->find($id)->state, $queue->find($id)->crashes]);
        $this->assertSame(1, $queue->stats()->died);
    }

    public function test_max_crashes_without_limit(): void
    {
        $queue = $this->queue();
        $queue->push('x', maxCrashes: null);
        for ($i = 0; $i < 6; $i++) {
            $this->assertNull($this->crash($queue)->maxCrashes);
        }
    }

    public function test_drop_leaves_nothing_at_the_end(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany([
            ['body' => 'a', 'drop' => true],
            ['body' => 'b', 'drop' => true, 'maxAttempts' => 1],
        ]);
        $queue->reserve()->bury();
        $this->assertFalse($queue->reserve()->retry());
        $this->assertSame([null, null], array_map($queue->find(...), $ids));
        $this->assertSame([0, 2], [$queue->stats()->dead, $queue->stats()->died]);
    }

    public function test_dead_letter_takes_a_message_at_its_end(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'one', headers: ['a' => 'b'], deadLetter: 'letters');
        $queue->reserve()->bury('no use');
        $this->assertNull($queue->find('one'));
        $letter = $this->queue('letters')->reserve();
        $this->assertSame(
            ['letters', 'one', 'a', ['a' => 'b'], 1, 'no use'],
            [
                $letter->queue, $letter->id, $letter->body,
                $letter->headers, $letter->attempt, $letter->error,
            ]
        );
    }

    public function test_policies_out_of_range(): void
    {
        $queue = $this->queue();
        $bad = [
            ['priority' => 2], ['priority' => -2],
            ['priority' => PHP_INT_MAX], ['priority' => 1 << 32],
            ['ttl' => 0], ['ttl' => -1], ['ttl' => NAN],
            ['ttl' => INF], ['ttl' => new DateInterval('PT0S')],
            ['maxCrashes' => 0], ['maxCrashes' => -1],
            ['maxCrashes' => 65536], ['maxCrashes' => PHP_INT_MIN],
            ['deadLetter' => ''], ['drop' => true, 'deadLetter' => 'x'],
        ];
        foreach ($bad as $fields) {
            $this->assertThrows(InvalidException::class, fn () => $queue->push('x', ...$fields));
            $items = ['fine', ['body' => 'x', ...$fields]];
            $this->assertThrows(InvalidException::class, fn () => $queue->pushMany($items));
        }
        $this->assertThrows(NameException::class, fn () => $queue->push('x', deadLetter: 'a{b'));
        $this->assertSame(0, $queue->stats()->pushed);
    }

    public function test_policies_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        $bad = [
            ['priority', '1'], ['priority', null], ['priority', 1.0], ['ttl', '1'], ['ttl', true],
            ['maxCrashes', '5'], ['maxCrashes', false],
            ['drop', 1], ['drop', null], ['deadLetter', 7],
            ['deadLetter', true], ['deadLetter', $queue],
        ];
        foreach ($bad as [$field, $value]) {
            $this->assertTypeError("(\$$field)", fn () => $queue->push('x', ...[$field => $value]));
            $items = ['fine', ['body' => 'x', $field => $value]];
            $this->assertTypeError(
                "item 1: $field must be of type",
                fn () => $queue->pushMany($items),
            );
        }
    }

    public function test_push_many_with_null_for_what_may_be_null(): void
    {
        $queue = $this->queue();
        $null = ['ttl', 'backoff', 'maxCrashes', 'deadLetter', 'unique'];
        [$id] = $queue->pushMany([['body' => 'x', ...array_fill_keys($null, null)]]);
        $this->assertNull($queue->find($id)->maxCrashes);
        $this->assertSame('x', $queue->reserve()->body);
    }
}
