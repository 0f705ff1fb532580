<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Backoff;
use Dueq\BatchStatus;
use Dueq\Client;
use Dueq\Consumer;
use Dueq\End;
use Dueq\Exception\CorruptException;
use Dueq\Exception\DueqException;
use Dueq\Failure;
use Dueq\Group;
use Dueq\GroupLimits;
use Dueq\Finding;
use Dueq\Interop\Moved;
use Dueq\Interop\Sizes;
use Dueq\Laravel\Job as LaravelJob;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Lease;
use Dueq\Limits;
use Dueq\Lock;
use Dueq\Message;
use Dueq\MessageInterface;
use Dueq\Messages;
use Dueq\Pending;
use Dueq\Pusher;
use Dueq\Queue;
use Dueq\QueueInterface;
use Dueq\Queues;
use Dueq\Rate;
use Dueq\Redisson\Binary;
use Dueq\Redisson\DelayedQueue;
use Dueq\Redisson\Long;
use Dueq\Redisson\Unreadable;
use Dueq\State;
use Dueq\Stats;
use Dueq\WorkerInfo;

/** The classes themselves: complete, final, and as the stub says. */
final class StubTest extends QueueTestCase
{
    private const ROOT = __DIR__ . '/../..';

    /** Classes whose objects hold their properties only. */
    private const PLAIN = [
        Stats::class, Limits::class, GroupLimits::class, Rate::class, WorkerInfo::class,
        Lease::class, Failure::class, Group::class, Finding::class, Moved::class, Sizes::class,
        Long::class, Binary::class,
        Unreadable::class, End::class, BatchStatus::class,
    ];

    public function test_arginfo_is_generated_from_the_stub_as_it_is(): void
    {
        $stub = file_get_contents(self::ROOT . '/bindings/php/dueq.stub.php');
        $arginfo = file_get_contents(self::ROOT . '/bindings/php/dueq_arginfo.h');
        $this->assertStringContainsString(
            'Stub hash: ' . sha1(str_replace("\r\n", "\n", $stub)) . ' ',
            $arginfo,
        );
    }

    public function test_version_is_that_of_the_core(): void
    {
        preg_match('/#define DUEQ_VERSION "(.*)"/', self::header(), $match);
        $this->assertSame($match[1], Queue::VERSION);
        $this->assertSame($match[1], phpversion('dueq'));
    }

    public function test_every_failure_has_its_exception(): void
    {
        preg_match_all('/X\((-?\d+), ([A-Z_]+), ([01]),/', self::header(), $rows, PREG_SET_ORDER);
        $this->assertGreaterThan(25, count($rows));
        foreach ($rows as [, $code, $name, $retriable]) {
            if ((int) $code >= 0 && !in_array($name, ['DUPLICATE', 'LEASE_LOST'], true)) {
                continue;
            }
            $class = 'Dueq\\Exception\\'
                . str_replace('_', '', ucwords(strtolower($name), '_'))
                . 'Exception';
            $this->assertTrue(is_subclass_of($class, DueqException::class), $class);
            $this->assertSame((bool) $retriable, (new $class('text', (int) $code))->isRetriable());
        }
    }

    public function test_every_exception_has_a_parent_of_spl(): void
    {
        foreach ((new \ReflectionExtension('dueq'))->getClasses() as $name => $class) {
            if (str_starts_with($name, 'Dueq\\Exception\\') && !$class->isInterface()) {
                $invalid = $class->isSubclassOf(\InvalidArgumentException::class);
                $this->assertTrue($class->implementsInterface(DueqException::class), $name);
                $this->assertTrue(
                    $invalid || $class->isSubclassOf(\RuntimeException::class),
                    $name,
                );
                $ofArguments = ['InvalidException', 'NameException', 'UrlException'];
                $expected = in_array($class->getShortName(), $ofArguments, true);
                $this->assertSame($expected, $invalid, $name);
            }
        }
    }

    /** A test can give a program another Queue, as long as the program names the interface. */
    public function test_an_interface_has_all_methods_of_its_class(): void
    {
        $signatures = function (string $class): array {
            $methods = array_filter(
                (new \ReflectionClass($class))->getMethods(),
                fn ($method) => !$method->isStatic()
                    && $method->isPublic()
                    && !$method->isConstructor(),
            );
            $parameters = fn ($method) => array_map(strval(...), $method->getParameters());
            return array_combine(
                array_map(fn ($method) => $method->name, $methods),
                array_map($parameters, $methods),
            );
        };
        $classes = [
            Client::class, Queue::class, Consumer::class,
            Message::class, Pusher::class, Lock::class,
        ];
        foreach ($classes as $class) {
            $this->assertEquals($signatures($class), $signatures("{$class}Interface"), $class);
            $this->assertTrue(is_subclass_of($class, "{$class}Interface"), $class);
        }
    }

    public function test_mocks_of_the_interfaces(): void
    {
        $message = $this->createMock(MessageInterface::class);
        $message->expects($this->exactly(2))->method('ack');
        $queue = $this->createMock(QueueInterface::class);
        $queue->method('reserve')->willReturn($message);
        $queue->method('getIterator')->willReturn(new \ArrayIterator([$message]));
        $queue->expects($this->once())->method('push')->with('x', 5.0)->willReturn('id');
        $program = function (QueueInterface $queue): array {
            $queue->reserve()->ack();
            foreach ($queue as $number => $message) {
                $message->ack();
            }
            return [$queue->push('x', delay: 5.0), $number];
        };
        $this->assertSame(['id', 0], $program($queue));
        foreach (['Client', 'Consumer', 'Lock', 'Message', 'Pusher'] as $name) {
            $this->assertInstanceOf(
                "Dueq\\{$name}Interface",
                $this->createStub("Dueq\\{$name}Interface"),
            );
        }
    }

    private function limits(Queue $queue): Limits
    {
        $queue->limit(group: 'a', weight: 2);
        return $queue->limits();
    }

    /** @return list<object> one of each class */
    private function objects(): array
    {
        $queue = $this->queue();
        $queue->push('x', headers: ['a' => 'b']);
        $this->server->command('RPUSH', 'dueq:{q}:quarantine', 'x');
        $delayed = new DelayedQueue('d', $this->server->url());
        $this->server->command('RPUSH', 'd', 'no Kryo');
        $laravel = new LaravelQueue('l', $this->server->url());
        $laravel->push('Job');
        $objects = [
            $queue, $queue->reserve(), $queue->peek(State::Leased),
            $queue->stats(), $this->limits($queue), $queue->limits()->groups[0],
            $queue->rates()[0],
            $this->worker($queue), $this->worker($queue)->leases[0], $this->failure($queue),
            $this->group($queue), $queue->lock('l', 60), Backoff::list([1, 2]),
            new Queues(['a', 'b'], $this->server->url()),
            $queue->reserveStart(), $queue->pusher(),
            $queue->consume(), $delayed, $delayed->transfer(),
            $delayed->size(), new Long(5), new Binary('x'),
            $delayed->takeMany(1)[0], $laravel, $laravel->pop(),
            new Client($this->server->url()), $queue->check()[0],
            $this->end($queue), $this->batch($queue),
        ];
        $this->assertSame(
            [
                Queue::class, Message::class, Messages::class, Stats::class, Limits::class,
                GroupLimits::class, Rate::class, WorkerInfo::class, Lease::class, Failure::class,
                Group::class,
                Lock::class,
                Backoff::class, Queues::class, Pending::class, Pusher::class, Consumer::class,
                DelayedQueue::class,
                Moved::class, Sizes::class, Long::class, Binary::class, Unreadable::class,
                LaravelQueue::class, LaravelJob::class, Client::class, Finding::class,
                End::class, BatchStatus::class,
            ],
            array_map(get_class(...), $objects)
        );
        return $objects;
    }

    /** A worker that has described itself to the server. */
    private function worker(Queue $queue): WorkerInfo
    {
        $key = "dueq:{{$queue->name}}:";
        $says = "5 60000 17 2 5000 1 1\nhost\nphp 8.3\n0.1.0\n9 1 0 0:x\n";
        $this->server->command('ZADD', "{$key}consumers", '5', 'session');
        $this->server->command('HSET', "{$key}described", 'session', $says);
        return $queue->workers()[0];
    }

    private function failure(Queue $queue): Failure
    {
        $this->server->command(
            'LPUSH',
            "dueq:{{$queue->name}}:failures",
            "5 failed\n0:x\nhost 17\nwhy",
        );
        return $queue->failures()[0];
    }

    private function end(Queue $queue): End
    {
        $id = $queue->push('x', keep: 60);
        $queue->cancel($id);
        return $queue->outcome($id);
    }

    private function batch(Queue $queue): BatchStatus
    {
        $queue->openBatch('b');
        return $queue->findBatch('b');
    }

    private function group(Queue $queue): Group
    {
        $queue->push('x', group: 'acme');
        return $queue->groups()[0];
    }

    public function test_every_class_is_looked_at(): void
    {
        $classes = (new \ReflectionExtension('dueq'))->getClassNames();
        $classes = array_filter($classes, fn ($name) => class_exists($name) && !enum_exists($name)
            && !str_starts_with($name, 'Dueq\\Exception\\'));
        $seen = array_map(get_class(...), $this->objects());
        sort($classes);
        sort($seen);
        $this->assertSame($seen, $classes);
    }

    public function test_objects_are_final_and_cannot_be_copied(): void
    {
        foreach ($this->objects() as $object) {
            $this->assertTrue((new \ReflectionClass($object))->isFinal());
            $this->assertFails(fn () => serialize($object), \Exception::class);
            $this->assertFails(fn () => $object->added = 1, \Error::class);
            if (!in_array(get_class($object), self::PLAIN, true)) {
                $this->assertFails(fn () => clone $object, \Error::class);
            }
        }
    }

    public function test_objects_are_read_only(): void
    {
        $objects = $this->objects();
        foreach ($objects as $object) {
            foreach ((new \ReflectionObject($object))->getProperties() as $property) {
                $this->assertTrue($property->isReadOnly(), $property->name);
                $this->assertTrue($property->isInitialized($object), $property->name);
                $this->assertFails(function () use ($object, $property) {
                    $object->{$property->name} = $property->getValue($object);
                }, \Error::class);
            }
        }
        [, $message] = $objects;
        $this->assertFails(fn () => $message->headers['c'] = 'd', \Error::class);
        $this->assertSame(['a' => 'b'], $message->headers);
    }

    public function test_objects_come_from_their_makers_only(): void
    {
        $classes = [
            Message::class, Messages::class, Pending::class, Pusher::class, Consumer::class,
            Stats::class, Limits::class, GroupLimits::class, Rate::class, Lock::class,
            Finding::class, Backoff::class,
            LaravelJob::class, Moved::class, Sizes::class, Unreadable::class,
        ];
        foreach ($classes as $class) {
            $this->assertFails(fn () => new $class(), \Error::class);
        }
        foreach ($this->objects() as $object) {
            $class = get_class($object);
            if (in_array($class, self::PLAIN, true)) {
                continue;
            }
            $reflection = new \ReflectionClass($class);
            $this->assertFails(
                fn () => $reflection->newInstanceWithoutConstructor(),
                \ReflectionException::class,
            );
        }
        $queue = $this->queue();
        $this->assertFails(fn () => $queue->__construct('other'), \Error::class);
        $this->assertSame('q', $queue->name);
        $others = [
            new DelayedQueue('d', $this->server->url()),
            new LaravelQueue(url: $this->server->url()),
            new Long(5),
            new Binary('x'),
        ];
        foreach ($others as $other) {
            $this->assertFails(
                fn () => $other->__construct(...[$other instanceof Long ? 6 : 'other']),
                \Error::class,
            );
        }
        $this->assertSame(
            ['d', 'default', 5, 'x'],
            [$others[0]->destination, $others[1]->name, $others[2]->value, $others[3]->bytes],
        );
    }

    public function test_an_exception_of_corruption_has_what_cannot_be_read(): void
    {
        $this->assertNull((new CorruptException('text'))->raw);
        $this->assertSame(
            '?string',
            (string) (new \ReflectionProperty(CorruptException::class, 'raw'))->getType(),
        );
    }

    public function test_the_url_does_not_show_in_a_trace(): void
    {
        $url = 'bad://user:secret@host';
        $runs = [
            fn () => new Queue('q', $url),
            fn () => new Client($url),
            fn () => new Queues(['q'], $url),
            fn () => Queue::names($url),
            fn () => new DelayedQueue('q', $url),
            fn () => new LaravelQueue('q', $url),
        ];
        foreach ($runs as $run) {
            try {
                $run();
                $this->fail('no exception');
            } catch (DueqException $e) {
                $this->assertStringNotContainsString('secret', (string) $e);
            }
        }
    }

    public function test_new_id_is_ordered_and_unique(): void
    {
        $queue = $this->queue();
        $ids = array_map(fn () => $queue->newId(), range(1, 1000));
        $sorted = $ids;
        sort($sorted, SORT_STRING);
        $this->assertSame($sorted, $ids);
        $this->assertCount(1000, array_unique($ids));
        $this->assertSame($ids[0], $queue->push('x', id: $ids[0]));
    }

    private static function header(): string
    {
        return file_get_contents(self::ROOT . '/core/dueq.h');
    }

    private function assertFails(callable $run, string $class): void
    {
        try {
            $run();
        } catch (\Throwable $e) {
            $this->assertInstanceOf($class, $e, $e->getMessage());
            return;
        }
        $this->fail("$class was not thrown");
    }
}
