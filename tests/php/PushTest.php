<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use DateTime;
use DateTimeImmutable;
use Dueq\Exception\DuplicateException;
use Dueq\Exception\InvalidException;
use Dueq\Exception\TooLargeException;
use Dueq\State;

final class PushTest extends QueueTestCase
{
    public function test_push_a_body_arrives_with_the_defaults(): void
    {
        $queue = $this->queue();
        $before = microtime(true);
        $id = $queue->push('hello');
        $message = $queue->reserve();
        $this->assertSame(22, strlen($id));
        $this->assertSame($id, $message->id);
        $this->assertSame('hello', $message->body);
        $this->assertSame(1, $message->attempt);
        $this->assertSame(16, $message->maxAttempts);
        $this->assertSame([], $message->headers);
        $this->assertSame(State::Leased, $message->state);
        $this->assertSame('', $message->error);
        $this->assertEqualsWithDelta($before + 30, $message->time, 5);
        $this->assertEqualsWithDelta($before, $message->created, 5);
    }

    public function test_push_any_bytes_come_back_unchanged(): void
    {
        $queue = $this->queue();
        $all = implode('', array_map('chr', range(0, 255)));
        $large = str_repeat($all, 64 * 1024 * 4); // 64 MiB
        foreach (['', "\0", $all, random_bytes(3 * 1024 * 1024), $large] as $body) {
            $queue->push($body);
            $message = $queue->reserve();
            $this->assertTrue($message->body === $body, strlen($body) . ' bytes');
            $message->ack();
        }
    }

    public function test_push_needs_the_size_of_the_body_once_more(): void
    {
        $queue = $this->queue();
        $queue->push('the first connects');
        $body = str_repeat('b', 64 * 1024 * 1024);
        $held = static function (string $name): int {
            preg_match("/^$name:\s+(\d+)/m", file_get_contents('/proc/self/status'), $found);
            return 1024 * (int) $found[1];
        };
        file_put_contents('/proc/self/clear_refs', '5'); // the peak counts from here: proc(5)
        $before = $held('VmRSS');
        $queue->push($body);
        $this->assertLessThan(1.2 * strlen($body), $held('VmHWM') - $before);
    }

    public function test_push_with_an_own_id_and_headers(): void
    {
        $queue = $this->queue();
        $headers = [
            'trace' => 'a b',
            '17' => 'a number',
            'leer' => '',
            'Überschrift' => "\u{1F4E6}",
        ];
        $this->assertSame('order 7', $queue->push('x', id: 'order 7', headers: $headers));
        $message = $queue->reserve();
        $this->assertSame('order 7', $message->id);
        $this->assertSame($headers, $message->headers);
    }

    public function test_push_a_living_id_again_is_a_duplicate(): void
    {
        $queue = $this->queue();
        $queue->push('first', id: 'one');
        $e = $this->assertThrows(
            DuplicateException::class,
            fn () => $queue->push('second', id: 'one'),
        );
        $this->assertSame(2, $e->getCode());
        $this->assertFalse($e->isRetriable());
        $this->assertSame('first', $queue->find('one')->body);
        $queue->reserve()->ack();
        $this->assertSame('one', $queue->push('third', id: 'one'));
    }

    public function test_push_with_a_delay_waits_in_the_server(): void
    {
        $queue = $this->queue();
        foreach ([60, 60.0, new DateInterval('PT1M')] as $delay) {
            $message = $queue->find($queue->push('x', delay: $delay));
            $this->assertSame(State::Delayed, $message->state);
            $this->assertEqualsWithDelta($queue->stats()->now + 60, $message->time, 5);
        }
        $this->assertNull($queue->reserve());
        $this->assertSame(3, $queue->stats()->delayed);
    }

    public function test_push_with_a_calendar_interval_counts_from_now(): void
    {
        $queue = $this->queue();
        $message = $queue->find($queue->push('x', delay: new DateInterval('P1M2D')));
        $due = (new DateTimeImmutable())->add(new DateInterval('P1M2D'))->getTimestamp();
        $this->assertEqualsWithDelta($due, $message->time, 5);
    }

    public function test_push_at_a_time_is_exact_to_the_millisecond(): void
    {
        $queue = $this->queue();
        $cases = [
            [4000000000, 4000000000.0],
            [4000000000.25, 4000000000.25],
            [new DateTimeImmutable('@4000000000.25'), 4000000000.25],
            [new DateTime('2096-10-02 09:06:40 +02:00'), 4000000000.0],
            [new DateTimeImmutable('@4000000000.000001'), 4000000000.001],
        ];
        foreach ($cases as [$at, $expected]) {
            $message = $queue->find($queue->push('x', at: $at));
            $this->assertSame(State::Delayed, $message->state);
            $this->assertEqualsWithDelta($expected, $message->time, 0.0005);
        }
    }

    public function test_push_at_a_past_time_is_ready(): void
    {
        $queue = $this->queue();
        foreach ([0, 1.5, new DateTimeImmutable('-1 hour')] as $at) {
            $id = $queue->push('x', at: $at);
            $this->assertSame(State::Ready, $queue->find($id)->state);
            $this->assertSame($id, $queue->reserve()->id);
        }
    }

    public function test_push_a_delayed_message_arrives_when_due(): void
    {
        $queue = $this->queue();
        $queue->push('late', delay: 0.3);
        $start = microtime(true);
        $this->assertSame('late', $queue->reserve(10.0)->body);
        $this->assertGreaterThan(0.29, microtime(true) - $start);
    }

    public function test_push_without_a_limit_of_attempts(): void
    {
        $queue = $this->queue();
        $queue->push('x', maxAttempts: null);
        $this->assertNull($queue->reserve()->maxAttempts);
        $queue->push('x', maxAttempts: 65535);
        $this->assertSame(65535, $queue->reserve()->maxAttempts);
    }

    public function test_push_with_a_limit_of_zero_says_what_is_meant(): void
    {
        $queue = $this->queue();
        $ones = ['maxAttempts' => 'no retry', 'maxCrashes' => 'no second delivery after one'];
        foreach ($ones as $name => $ofOne) {
            $said = "$name must not be 0: use null for no limit, 1 for $ofOne";
            $e = $this->assertThrows(
                InvalidException::class,
                fn () => $queue->push('x', ...[$name => 0]),
            );
            $this->assertSame($said, $e->getMessage());
            $e = $this->assertThrows(
                InvalidException::class,
                fn () => $queue->pushMany([['body' => 'x', $name => 0]])
            );
            $this->assertSame("item 0: $said", $e->getMessage());
        }
    }

    public function test_push_with_a_lease_sets_it_for_the_consumer(): void
    {
        $queue = $this->queue();
        foreach ([600, new DateInterval('PT10M')] as $lease) {
            $queue->push('x', lease: $lease);
            $message = $queue->reserve();
            $this->assertEqualsWithDelta($queue->stats()->now + 600, $message->time, 5);
        }
    }

    public function test_push_with_arguments_out_of_range(): void
    {
        $queue = $this->queue();
        $back = new DateInterval('PT1S');
        $back->invert = 1;
        $bad = [
            ['delay' => -0.001], ['delay' => NAN], ['delay' => INF],
            ['delay' => 1e30], ['delay' => $back],
            ['delay' => new DateInterval('P200Y')],
            ['at' => -1], ['at' => NAN], ['at' => 1e12],
            ['at' => new DateTimeImmutable('1969-12-31')],
            ['at' => new DateTimeImmutable('3000-01-01')], ['at' => 4000000000, 'delay' => 1.0],
            ['lease' => 0], ['lease' => -1.0], ['lease' => NAN],
            ['lease' => new DateInterval('PT0S')],
            ['maxAttempts' => 0], ['maxAttempts' => -1],
            ['maxAttempts' => 65536], ['maxAttempts' => PHP_INT_MAX],
            ['id' => ''], ['id' => "a\nb"], ['id' => "\xff"],
            ['headers' => ['' => 'x']], ['headers' => ["\xff" => 'x']],
        ];
        foreach ($bad as $arguments) {
            $e = $this->assertThrows(
                InvalidException::class,
                fn () => $queue->push('x', ...$arguments),
            );
            $this->assertSame(-1, $e->getCode());
        }
        $this->assertSame(0, $queue->stats()->ready + $queue->stats()->delayed);
    }

    public function test_push_with_arguments_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        $bad = [
            ['delay' => 'soon'], ['delay' => []], ['delay' => new DateTimeImmutable()],
            ['at' => 'tomorrow'], ['at' => new DateInterval('PT1S')], ['lease' => '1'],
            ['id' => 7], ['maxAttempts' => '5'], ['headers' => ['a' => 1]], ['headers' => 'x'],
        ];
        foreach ($bad as $arguments) {
            try {
                $queue->push('x', ...$arguments);
                $this->fail('no TypeError for ' . key($arguments));
            } catch (\TypeError $e) {
                $this->assertStringContainsString('($' . key($arguments) . ')', $e->getMessage());
            }
        }
    }

    public function test_push_more_than_the_server_accepts(): void
    {
        $queue = $this->queue();
        $this->server->command('CONFIG', 'SET', 'proto-max-bulk-len', '1mb');
        try {
            $this->assertThrows(
                TooLargeException::class,
                fn () => $queue->push(str_repeat('x', 2 << 20)),
            );
        } finally {
            $this->server->command('CONFIG', 'SET', 'proto-max-bulk-len', '512mb');
        }
        $queue->push('the client goes on');
        $this->assertSame('the client goes on', $queue->reserve()->body);
    }

    public function test_push_more_than_the_protocol_has_room_for(): void
    {
        $queue = $this->queue();
        $bad = [
            ['id' => str_repeat('x', 256)],
            ['headers' => [str_repeat('n', 256) => 'x']],
            ['headers' => ['n' => str_repeat('x', 65536)]],
        ];
        foreach ($bad as $arguments) {
            $this->assertThrows(
                TooLargeException::class,
                fn () => $queue->push('x', ...$arguments),
            );
        }
    }

    public function test_push_many_returns_the_ids_in_order(): void
    {
        $queue = $this->queue();
        $queue->push('old', id: 'taken');
        $ids = $queue->pushMany([
            'plain',
            ['body' => 'own', 'id' => 'own id', 'headers' => ['a' => 'b'], 'maxAttempts' => null],
            ['body' => 'again', 'id' => 'taken'],
            ['body' => 'later', 'delay' => 60, 'lease' => null, 'at' => null, 'id' => null],
            ['body' => 'at', 'at' => new DateTimeImmutable('@4000000000')],
        ]);
        $this->assertSame([0, 1, 2, 3, 4], array_keys($ids));
        $this->assertSame('own id', $ids[1]);
        $this->assertNull($ids[2]);
        $this->assertSame('plain', $queue->find($ids[0])->body);
        $this->assertSame(['a' => 'b'], $queue->find('own id')->headers);
        $this->assertNull($queue->find('own id')->maxAttempts);
        $this->assertSame(State::Delayed, $queue->find($ids[3])->state);
        $this->assertSame(4000000000.0, $queue->find($ids[4])->time);
    }

    public function test_push_many_takes_any_number(): void
    {
        $queue = $this->queue();
        $this->assertSame([], $queue->pushMany([]));
        $ids = $queue->pushMany(array_map('strval', range(1, 500)));
        $this->assertCount(500, array_unique($ids));
        $this->assertSame(500, $queue->stats()->ready);
        $this->assertSame(['1', '2', '3'], array_column($queue->reserveMany(3), 'body'));
    }

    public function test_push_many_with_a_bad_item_pushes_nothing(): void
    {
        $queue = $this->queue();
        $many = array_fill(0, 300, 'x');
        $items = [[], ['body' => 'x', 'when' => 1], ['x'], ['body' => 'x', 'delay' => -1]];
        foreach ($items as $item) {
            $e = $this->assertThrows(
                InvalidException::class,
                fn () => $queue->pushMany([...$many, $item]),
            );
            $this->assertStringContainsString('300', $e->getMessage());
        }
        $items = [
            7, null, ['body' => 7], ['body' => 'x', 'delay' => '1'],
            ['body' => 'x', 'headers' => 1],
        ];
        foreach ($items as $item) {
            try {
                $queue->pushMany([...$many, $item]);
                $this->fail('no TypeError');
            } catch (\TypeError $e) {
                $this->assertStringContainsString('300', $e->getMessage());
            }
        }
        $this->assertSame(0, $queue->stats()->ready);
    }

    public function test_push_many_refuses_what_is_one_message(): void
    {
        $queue = $this->queue();
        foreach ([['body' => 'x'], ['x', 'key' => 'y']] as $messages) {
            $e = $this->assertThrows(InvalidException::class, fn () => $queue->pushMany($messages));
            $this->assertSame(
                'messages must be a list, and has the key "' . array_key_last($messages) . '"',
                $e->getMessage(),
            );
        }
        $queue->push('x');
        $message = $queue->reserve();
        $this->assertThrows(InvalidException::class, fn () => $message->ack(push: ['body' => 'x']));
        $laravel = new \Dueq\Laravel\Queue('l', $this->server->url());
        $this->assertThrows(InvalidException::class, fn () => $laravel->pushMany(['job' => 'Job']));
        $redisson = new \Dueq\Redisson\DelayedQueue('d', $this->server->url());
        $this->assertThrows(InvalidException::class, fn () => $redisson->offerMany(['a' => 1]));
        $this->assertSame(
            [0, 1, 0, 0],
            [
                $queue->stats()->ready, $queue->stats()->leased,
                $laravel->size()->ready, $redisson->count(),
            ],
        );
        $this->assertCount(2, $queue->pushMany(array_filter(['x', '', 'y'])));
    }

    public function test_push_many_through_references(): void
    {
        $queue = $this->queue();
        $body = 'by reference';
        $item = ['body' => &$body];
        $messages = [&$item, &$body];
        $this->assertCount(2, $queue->pushMany($messages));
        $this->assertSame([$body, $body], array_column($queue->reserveMany(2), 'body'));
    }
}
