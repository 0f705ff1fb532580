<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\CorruptException;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LayoutException;
use Dueq\Exception\NameException;
use Dueq\Exception\WrongTypeException;
use Dueq\Interop\Moved;
use Dueq\Interop\Sizes;
use Dueq\Redisson\Binary;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;
use Dueq\Redisson\Layout;
use Dueq\Redisson\Long;
use Dueq\Redisson\Unreadable;

final class DelayedQueueTest extends QueueTestCase
{
    private function delayed(
        Codec $codec = Codec::Kryo5,
        ?Layout $layout = null,
        string $name = 'orders',
    ): DelayedQueue {
        return new DelayedQueue($name, $this->server->url(), $codec, $layout);
    }

    /** @return list<string> the elements that wait, packed as they are */
    private function packed(string $name = 'orders'): array
    {
        return $this->server->command('LRANGE', "redisson_delay_queue:{{$name}}", '0', '-1');
    }

    /** An element as Redisson packs it. */
    private static function pack(string $value, Layout $layout = Layout::New): string
    {
        $id = $layout === Layout::New
            ? "\x08" . random_bytes(8)
            : pack('e', random_int(0, PHP_INT_MAX));
        return $id . pack('P', strlen($value)) . $value;
    }

    /** Offers an element as Redisson does. */
    private function offerAs(string $element, int $dueMs): void
    {
        $this->server->command(
            'ZADD',
            'redisson_delay_queue_timeout:{orders}',
            (string) $dueMs,
            $element,
        );
        $this->server->command('RPUSH', 'redisson_delay_queue:{orders}', $element);
    }

    private function now(): float
    {
        [$seconds, $microseconds] = $this->server->command('TIME');
        return $seconds + $microseconds / 1e6;
    }

    public function test_construct(): void
    {
        $queue = new DelayedQueue('orders', $this->server->url());
        $this->assertSame(
            ['orders', Codec::Kryo5, null],
            [$queue->destination, $queue->codec, $queue->layout],
        );
        $this->assertStringContainsString($this->server->socket, $queue->url());
        foreach (Codec::cases() as $codec) {
            $this->assertSame(
                [$codec, Layout::Old],
                [
                    $this->delayed($codec, Layout::Old)->codec,
                    $this->delayed($codec, Layout::Old)->layout,
                ],
            );
        }
        $this->assertTypeError(
            '($codec)',
            fn () => new DelayedQueue('orders', $this->server->url(), 'kryo5'),
        );
        $this->assertTypeError(
            '($layout)',
            fn () => new DelayedQueue('orders', $this->server->url(), layout: 'new'),
        );
        foreach (['', "a\nb", "\xff", str_repeat('x', 256)] as $name) {
            $this->assertThrows(NameException::class, fn () => $this->delayed(name: $name));
        }
    }

    public function test_offer_writes_as_redisson_does(): void
    {
        foreach ([[Layout::New, 17], [Layout::Old, 16]] as [$layout, $header]) {
            $this->server->command('FLUSHALL');
            $before = $this->now();
            $this->delayed(Codec::String, $layout)->offer('hello', delay: 60);
            [$element] = $this->packed();
            $this->assertSame(pack('P', 5) . 'hello', substr($element, $header - 8));
            $this->assertSame($header + 5, strlen($element));
            $due = (float) $this->server->command(
                'ZSCORE',
                'redisson_delay_queue_timeout:{orders}',
                $element,
            );
            $this->assertEqualsWithDelta($before + 60, $due / 1000, 5);
            $this->assertSame(floor($due), $due);
        }
    }

    public function test_offer_tells_those_who_transfer_when_the_earliest_changed(): void
    {
        $channel = 'redisson_delay_queue_channel:{orders}';
        $subscriber = $this->server->send('SUBSCRIBE', $channel);
        $this->await(fn () => $this->server->command('PUBSUB', 'NUMSUB', $channel)[1] === 1);
        $at = ceil($this->now()) + 100;
        $this->delayed()->offer('x', at: $at);
        for ($text = ''; !str_contains($text, sprintf('%d', $at * 1000)); $text .= $line) {
            $line = (string) fgets($subscriber);
            $line !== '' || $this->fail($text);
        }
        $this->assertStringContainsString('message', $text);
    }

    public function test_offer_to_a_destination_with_braces_of_its_own(): void
    {
        $queue = $this->delayed(Codec::String, null, '{shop}:orders');
        $queue->offer('x');
        $this->assertSame(1, $this->server->command('LLEN', 'redisson_delay_queue:{shop}:orders'));
        $this->assertSame(1, $queue->transfer()->moved);
        $this->assertSame(['x'], $this->server->command('LRANGE', '{shop}:orders', '0', '-1'));
    }

    public function test_offer_due_times(): void
    {
        $queue = $this->delayed();
        $now = $this->now();
        $times = [
            [30, ['delay' => 30]], [0.25, ['delay' => 0.25]],
            [3600, ['delay' => new DateInterval('PT1H')]],
            [100, ['at' => $now + 100]],
            [100, ['at' => new \DateTimeImmutable('@' . (int) ceil($now + 99))]], [0, []],
        ];
        foreach ($times as [$expected, $due]) {
            $queue->offer('x', ...$due);
            $this->assertEqualsWithDelta($now + $expected, $queue->size()->next, 5);
            $queue->clear();
        }
        $this->assertThrows(
            InvalidException::class,
            fn () => $queue->offer('x', delay: 1, at: $now),
        );
        $this->assertThrows(InvalidException::class, fn () => $queue->offer('x', delay: -1));
        $this->assertTypeError('#2 ($delay)', fn () => $queue->offer('x', delay: new \stdClass()));
        $this->assertTypeError('#3 ($at)', fn () => $queue->offer('x', at: new \stdClass()));
        $this->assertCount(0, $queue);
    }

    public function test_offer_many_of_more_than_a_step(): void
    {
        $queue = $this->delayed(Codec::Long);
        $queue->offerMany(range(1, 450), delay: 60);
        $this->assertCount(450, $queue);
        $this->assertSame(
            range(1, 450),
            [...$queue->pollMany(200), ...$queue->pollMany(200), ...$queue->pollMany(200)],
        );
        $queue->offerMany([]);
        $this->assertCount(0, $queue);
        $this->assertThrows(InvalidException::class, fn () => $queue->offerMany([1, 2, 'three']));
        $this->assertTypeError(
            'item 1: value must be',
            fn () => $queue->offerMany([1, fopen('php://memory', 'r')]),
        );
        $this->assertCount(0, $queue);
    }

    public function test_values_are_those_that_java_wrote(): void
    {
        $names = [
            'kryo5' => Codec::Kryo5,
            'bytearray' => Codec::Bytes,
            'string' => Codec::String,
            'long' => Codec::Long,
            'jsonjackson' => Codec::Jackson,
            'typedjson' => Codec::TypedJson,
            'jsonjackson3' => Codec::Jackson3,
            'typedjson3' => Codec::TypedJson3,
        ];
        $queues = array_map(fn ($codec) => $this->delayed($codec), $names);
        $cases = json_decode(
            file_get_contents(__DIR__ . '/../../golden/redisson_codecs.json'),
        )->cases;
        $this->assertGreaterThan(500, count($cases));
        foreach ($cases as $case) {
            $queue = $queues[$case->codec];
            $json = str_contains($case->codec, 'json');
            $plain = ['list' => $json, 'map' => $json, 'object' => false, 'bytes' => !$json];
            if (!($plain[$case->type] ?? true)) {
                continue;
            }
            $value = match ($case->type) {
                'double' => ['NaN' => NAN, 'Infinity' => INF, '-Infinity' => -INF][$case->value]
                    ?? (float) $case->value,
                'bytes' => hex2bin($case->value),
                default => $case->value,
            };
            $offered = match (true) {
                $case->type === 'long' => new Long($value),
                $case->type === 'bytes' && $case->codec === 'kryo5' => new Binary($value),
                default => $value,
            };
            if ($json && is_float($value) && !is_finite($value)) {
                $this->assertThrows(InvalidException::class, fn () => $queue->offer($value));
                continue;
            }
            $queue->offer($offered);
            $what = "$case->codec $case->type " . json_encode($case->value);
            $this->assertSame(
                var_export(self::read($value), true),
                var_export($queue->poll(), true),
                $what,
            );
            $queue->offer($case->codec === 'typedjson3' ? $offered : self::lean($offered));
            $this->assertSame($case->hex, bin2hex(substr($this->packed()[0], 17)), $what);
            $this->assertTrue($queue->contains($offered), $what);
            $this->assertTrue($queue->remove($offered), $what);
        }
    }

    /** The value as poll() returns it: objects are arrays. */
    private static function read(mixed $value): mixed
    {
        $value = $value instanceof \stdClass ? (array) $value : $value;
        return is_array($value) ? array_map(self::read(...), $value) : $value;
    }

    /** The value as most of Java's codecs write it: objects without the members that are null. */
    private static function lean(mixed $value): mixed
    {
        if ($value instanceof \stdClass) {
            return (object) array_map(
                self::lean(...),
                array_filter((array) $value, fn ($member) => $member !== null),
            );
        }
        return is_array($value) ? array_map(self::lean(...), $value) : $value;
    }

    public function test_values_of_several_kinds_are_read_back(): void
    {
        $values = [
            'kryo5' => ['text', 1, 1 << 40, true, false, null, 1.5],
            'bytes' => ["\0\xff", ''],
            'jackson' => [['a' => [1, 2.5, null, ['b' => 'x/y']]], [], 'text', 1 << 40],
            'typed json' => [[1, [2]], ['a' => 'é', 'b' => null, 'c' => ['d' => null]], null],
            'jackson3' => [
                ['a' => null, 'b' => [null, ['c' => null, '😀' => 1 << 40]]],
                '😀',
                1 << 40,
            ],
            'typed json3' => [
                ['a' => null, 'b' => [null, ['c' => null, '😀' => 1 << 40]]],
                '😀',
                1 << 40,
            ],
        ];
        foreach ($values as $codec => $list) {
            $queue = $this->delayed(Codec::from($codec));
            $queue->offerMany($list);
            $this->assertSame($list, $queue->pollMany(200), $codec);
        }
        $queue = $this->delayed(Codec::TypedJson);
        $queue->offer(new class () implements \JsonSerializable {
            public function jsonSerialize(): array
            {
                return ['by' => 'itself'];
            }
        });
        $this->assertSame(['by' => 'itself'], $queue->poll());
        $queue->offer(['long' => new Long(5)]);
        $this->assertSame(['long' => 5], $queue->poll());
        $this->server->command('RPUSH', 'orders', '[123456789012345678901234567890]');
        $this->assertSame(['123456789012345678901234567890'], $queue->take());
    }

    public function test_values_without_a_form_are_refused(): void
    {
        $loop = [];
        $loop['self'] = &$loop;
        $refused = [
            'kryo5' => ["\xff", [1], new \stdClass()],
            'string' => [1, null, "\xff", new Binary('x')],
            'long' => ['1', 1.0, true],
            'bytes' => [1, null],
            'jackson' => [new Binary('x'), ["\xff"], [INF], $loop],
            'typed json' => [[new Binary('x')]],
        ];
        foreach ($refused as $codec => $values) {
            $queue = $this->delayed(Codec::from($codec));
            foreach ($values as $value) {
                foreach (['offer', 'remove', 'contains'] as $method) {
                    $this->assertThrows(InvalidException::class, fn () => $queue->$method($value));
                }
            }
        }
        $values = [
            new \ArrayObject(),
            fopen('php://memory', 'r'),
            (new \ReflectionClass(Long::class))->newInstanceWithoutConstructor(),
        ];
        foreach ($values as $value) {
            $this->assertTypeError('#1 ($value) must be of type', fn () => $queue->offer($value));
        }
        $this->expectExceptionMessage('of its own');
        $queue->offer(new class () implements \JsonSerializable {
            public function jsonSerialize(): mixed
            {
                throw new \LogicException('of its own');
            }
        });
    }

    public function test_writing_json_leaves_the_program_s_last_error_alone(): void
    {
        json_decode('{');
        $before = json_last_error();
        $queue = $this->delayed(Codec::Jackson);
        $queue->offer([1]);
        $queue->poll();
        $this->assertSame($before, json_last_error());
        $this->assertNotSame(JSON_ERROR_NONE, $before);
    }

    public function test_a_serializer_may_change_another_value_meanwhile(): void
    {
        $queue = $this->delayed(Codec::Jackson);
        $text = str_repeat('before ', 100);
        $code = new class ($text, $queue) implements \JsonSerializable {
            public function __construct(private string &$text, private DelayedQueue $queue)
            {
            }

            public function jsonSerialize(): array
            {
                $this->text = str_repeat('after ', 100);
                $this->queue->offer('of its own', delay: 60);
                return [];
            }
        };
        $queue->offerMany([&$text, $code]);
        $this->assertSame(['of its own', str_repeat('before ', 100), []], $queue->pollMany(9));
    }

    public function test_a_queue_that_is_destroyed_meanwhile(): void
    {
        $queue = $this->delayed(Codec::Jackson);
        $code = new class ($queue) implements \JsonSerializable {
            public function __construct(private DelayedQueue $queue)
            {
            }

            public function jsonSerialize(): array
            {
                $this->queue->destroy();
                return [];
            }
        };
        $this->expectException(\Error::class);
        $this->expectExceptionMessage('has been destroyed');
        $queue->offer($code);
    }

    public function test_half_a_surrogate_pair_of_java_is_told(): void
    {
        $broken = [
            'kryo5' => "\x03\x82\xed\xa0\xbd",
            'jackson' => '"\uD83D"',
            'typed json3' => '["\uD83D"]',
        ];
        foreach ($broken as $codec => $raw) {
            $this->server->command('RPUSH', 'orders', $raw);
            $e = $this->assertThrows(
                CorruptException::class,
                fn () => $this->delayed(Codec::from($codec))->take(0.0),
            );
            $this->assertSame($raw, $e->raw);
            $this->assertStringContainsString('half of a surrogate pair', $e->getMessage());
        }
    }

    public function test_a_value_that_cannot_be_read(): void
    {
        $queue = $this->delayed();
        $raw = hex2bin('010050656572244f726465f20e4164e1');
        $this->server->command('RPUSH', 'orders', $raw, "\x03\x68\xe9");
        $e = $this->assertThrows(CorruptException::class, fn () => $queue->take(0.0));
        $this->assertSame($raw, $e->raw);
        $this->assertSame('hi', $queue->take(0.0));
        foreach (['peek', 'pollMany'] as $method) {
            if ($method === 'peek') {
                $this->offerAs(self::pack($raw), 1);
                $this->offerAs(self::pack("\x03\x68\xe9"), 2);
            }
            [$unreadable, $good] = $queue->$method(5);
            $this->assertInstanceOf(Unreadable::class, $unreadable);
            $this->assertSame([$raw, 'hi'], [$unreadable->raw, $good]);
            $this->assertStringContainsString('Peer$Order', $unreadable->reason);
        }
        $this->offerAs(self::pack($raw), 1);
        $this->assertSame(
            $raw,
            $this->assertThrows(CorruptException::class, fn () => $queue->poll())->raw,
        );
        $this->assertNull($queue->poll());
        $this->server->command('RPUSH', 'orders', $raw, "\x03\x68\xe9");
        [$unreadable, $good] = $queue->takeMany(5, 0.0);
        $this->assertSame([$raw, 'hi'], [$unreadable->raw, $good]);
    }

    public function test_transfer_moves_what_is_due_by_its_time(): void
    {
        $queue = $this->delayed(Codec::String);
        $this->offerAs(self::pack('second'), 20);
        $this->offerAs(self::pack('first'), 10);
        $queue->offer('later', delay: 60);
        $moved = $queue->transfer(most: 1);
        $this->assertInstanceOf(Moved::class, $moved);
        $this->assertSame([1, 0, 0.02], [$moved->moved, $moved->quarantined, $moved->next]);
        $moved = $queue->transfer();
        $this->assertSame([1, 0], [$moved->moved, $moved->quarantined]);
        $this->assertEqualsWithDelta($this->now() + 60, $moved->next, 5);
        $moved = $queue->transfer();
        $this->assertSame([0, 0, null], [$moved->moved, $moved->quarantined, $moved->next]);
        $this->assertSame(
            ['first', 'second'],
            $this->server->command('LRANGE', 'orders', '0', '-1'),
        );
        foreach ([0, 201, -1] as $most) {
            $this->assertThrows(InvalidException::class, fn () => $queue->transfer(0.0, $most));
        }
    }

    public function test_transfer_waits_for_the_first_that_is_due(): void
    {
        $queue = $this->delayed();
        $start = microtime(true);
        $this->assertSame(0, $queue->transfer(0.2)->moved);
        $this->assertGreaterThan(0.19, microtime(true) - $start);
        $queue->offer('x', delay: 0.3);
        $this->assertSame(1, $queue->transfer(20)->moved);
        $this->assertSame('x', $queue->take(0.0));
        $offerer = $this->besides(function () {
            $channel = 'redisson_delay_queue_channel:{orders}';
            $this->await(fn () => $this->server->command('PUBSUB', 'NUMSUB', $channel)[1] === 1);
            $this->delayed()->offer('by a message');
        });
        $start = microtime(true);
        $this->assertSame(1, $queue->transfer(INF)->moved);
        $this->assertLessThan(8, microtime(true) - $start, 'sooner than the safety re-check');
        $this->assertSame('by a message', $queue->take(0.0));
        pcntl_waitpid($offerer, $status);
    }

    public function test_transfer_quarantines_what_is_in_no_layout_and_logs_it(): void
    {
        $queue = $this->delayed(Codec::String);
        $this->offerAs('no layout', 1);
        $this->offerAs(self::pack('good'), 2);
        $log = self::logged(function () use ($queue, &$moved) {
            $moved = $queue->transfer();
        });
        $this->assertSame([1, 1], [$moved->moved, $moved->quarantined]);
        $this->assertStringContainsString('orders: 1 damaged entries were quarantined', $log);
        $this->assertSame(1, $queue->size()->quarantined);
        $this->assertSame('good', $queue->take(0.0));
        $this->assertSame('', self::logged(fn () => $queue->transfer()));
    }

    public function test_layouts_are_found_chosen_and_not_mixed(): void
    {
        $this->offerAs(self::pack('old', Layout::Old), 10);
        $found = $this->delayed(Codec::String);
        $found->offer('more');
        $this->assertSame(16 + 4, strlen($this->packed()[1]));
        $this->assertSame(['old', 'more'], $found->peek(9));
        $new = $this->delayed(Codec::String, Layout::New);
        $runs = [
            fn () => $new->offer('x'),
            fn () => $new->transfer(),
            fn () => $new->poll(),
            fn () => $new->peek(),
            fn () => $new->remove('old'),
            fn () => $new->contains('old'),
        ];
        foreach ($runs as $run) {
            $this->assertSame(-32, $this->assertThrows(LayoutException::class, $run)->getCode());
        }
        $this->assertSame(['old', 'more'], $found->pollMany(9));
        $new->offer('x');
        $this->assertSame('x', $new->poll());
    }

    public function test_take_waits_for_what_anybody_pushes(): void
    {
        $queue = $this->delayed(Codec::String);
        $start = microtime(true);
        $this->assertNull($queue->take(0.2));
        $this->assertGreaterThan(0.19, microtime(true) - $start);
        $this->assertSame([], $queue->takeMany(5, 0.0));
        $pusher = $this->besides(function () {
            $this->server->awaitBlocked();
            $this->server->command('RPUSH', 'orders', 'a', 'b', 'c');
        });
        $this->assertSame('a', $queue->take());
        pcntl_waitpid($pusher, $status);
        $this->assertSame(['b', 'c'], $queue->takeMany(200));
        $this->server->command('RPUSH', 'orders', 'd');
        $this->assertSame('d', $queue->take(new DateInterval('PT1S')));
        $this->assertThrows(InvalidException::class, fn () => $queue->take(-1));
        $this->assertThrows(InvalidException::class, fn () => $queue->takeMany(201, 0.0));
        $this->assertThrows(InvalidException::class, fn () => $queue->takeMany(0, 0.0));
        $this->assertTypeError('#1 ($timeout)', fn () => $queue->take(null));
    }

    public function test_lists_tell_a_null_from_no_value(): void
    {
        $queue = $this->delayed();
        $queue->offer(null);
        $this->assertSame([null], $queue->peek());
        $queue->transfer();
        $this->assertSame([null], $queue->takeMany(1, 0.0));
        $this->assertSame([], $queue->takeMany(1, 0.0));
    }

    public function test_poll_peek_remove_contains_clear(): void
    {
        $queue = $this->delayed();
        $queue->offer('a', delay: 60);
        $queue->offer('b', delay: 30);
        $queue->offer(5, delay: 30);
        $queue->offer(new Long(5), delay: 30);
        $this->assertSame(['a'], $queue->peek());
        $this->assertSame(['a', 'b', 5, 5], $queue->peek(200));
        $this->assertTrue($queue->contains('b'));
        $this->assertFalse($queue->contains('c'));
        $this->assertTrue($queue->remove(new Long(5)));
        $this->assertFalse($queue->remove(new Long(5)));
        $this->assertTrue($queue->contains(5));
        $this->assertTrue($queue->remove('b'));
        $this->assertSame('a', $queue->poll());
        $this->assertSame(1, count($queue));
        $this->assertSame(1, $queue->clear());
        $this->assertSame(0, $queue->clear());
        $this->assertNull($queue->poll());
        $this->assertSame([], $queue->peek());
        $this->assertSame([], $queue->pollMany(5));
    }

    public function test_size(): void
    {
        $queue = $this->delayed();
        $size = $queue->size();
        $this->assertInstanceOf(Sizes::class, $size);
        $this->assertSame(
            [0, 0, 0, 0, null],
            [$size->ready, $size->delayed, $size->reserved, $size->quarantined, $size->next],
        );
        $this->assertEqualsWithDelta($this->now(), $size->now, 5);
        $queue->offerMany([1, 2, 3]);
        $queue->transfer(most: 1);
        $size = $queue->size();
        $this->assertSame([1, 2], [$size->ready, $size->delayed]);
        $this->assertEqualsWithDelta($size->now, $size->next, 5);
    }

    public function test_destroy_closes_for_good(): void
    {
        $queue = $this->delayed();
        $queue->offer('kept', delay: 60);
        $before = count(glob('/proc/self/fd/*'));
        $queue->destroy();
        $this->assertLessThan($before, count(glob('/proc/self/fd/*')));
        $queue->destroy();
        $this->assertSame('orders', $queue->destination);
        $this->assertSame(1, count($this->delayed()));
        $this->expectException(\Error::class);
        $this->expectExceptionMessage('has been destroyed');
        $queue->size();
    }

    public function test_a_key_of_another_type(): void
    {
        $this->server->command('SET', 'orders', 'x');
        $queue = $this->delayed();
        $queue->offer('x');
        $this->assertThrows(WrongTypeException::class, fn () => $queue->transfer());
        $this->assertThrows(WrongTypeException::class, fn () => $queue->take(0.0));
        $this->assertSame(1, $this->server->command('LLEN', 'redisson_delay_queue:{orders}'));
    }

    public function test_a_server_that_is_gone_and_comes_back(): void
    {
        $server = new Server();
        $queue = new DelayedQueue('orders', $server->url('timeout=500ms'));
        $queue->offer('x', delay: 60);
        $server->kill();
        $this->assertTrue(
            $this->assertThrows(
                \Dueq\Exception\ConnectException::class,
                fn () => $queue->size(),
            )->isRetriable(),
        );
        $server->start();
        $queue->offer('y', delay: 60);
        $this->assertSame('y', $queue->poll());
        $server->remove();
    }

    public function test_fork_the_child_uses_the_queue_of_its_parent(): void
    {
        $queue = $this->delayed();
        $queue->offer('for the child');
        $queue->transfer();
        $this->assertSame('for the child', $this->inChild(fn () => $queue->take(1.0)));
        $queue->offer('for the parent');
        $this->assertSame(1, $queue->transfer()->moved);
        $this->assertSame('for the parent', $queue->take(0.0));
    }

    public function test_memory_stays_flat(): void
    {
        $url = $this->server->url();
        $loop = [];
        $loop['self'] = &$loop;
        $cycle = function () use ($url, $loop) {
            $queue = new DelayedQueue('orders', $url, Codec::Jackson);
            $queue->offer(['a' => [1, new Long(5)], 'b' => 'text']);
            $queue->offerMany(['x', new \stdClass(), 1 << 40], delay: 60);
            $queue->transfer();
            $queue->take(0.0);
            $this->server->command(
                'RPUSH',
                'orders',
                '["java.lang.Thing",5]',
                '["java.lang.Thing",5]',
            );
            $this->assertThrows(CorruptException::class, fn () => $queue->take(0.0));
            $queue->takeMany(5, 0.0);
            $queue->peek(5);
            $queue->contains('x');
            $queue->remove(['no' => 'such']);
            $queue->clear();
            foreach ([$loop, new Binary('x')] as $bad) {
                $this->assertThrows(InvalidException::class, fn () => $queue->offer($bad));
            }
            $queue->runTransfer(fn () => true);
            $this->server->command(
                'RPUSH',
                'orders',
                '["java.lang.Thing",5]',
                '["java.util.ArrayList",[5]]',
            );
            $unreadable = $queue->takeStart();
            $this->loop([$unreadable]);
            $this->assertThrows(CorruptException::class, fn () => $unreadable->result());
            $this->loop([$taken = $queue->takeStart(), $moved = $queue->transferStart(0.0)]);
            $this->assertSame([[5], 0], [$taken->result(), $moved->result()->moved]);
            $dropped = $queue->takeStart();
            $dropped->poll();
            $this->assertThrows(InvalidException::class, fn () => $queue->transferStart(0.0, 0));
            $queue->destroy();
        };
        for ($i = 0; $i < 100; $i++) {
            $cycle();
        }
        [$php, $all] = [memory_get_usage(), self::resident()];
        for ($i = 0; $i < 1000; $i++) {
            $cycle();
        }
        $this->assertLessThan(64 * 1024, memory_get_usage() - $php);
        $this->assertLessThan(1024, self::resident() - $all, 'KiB resident');
    }
}
