<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Stats;

/** The classes themselves: complete, final, and as the stub says. */
final class SurfaceTest extends QueueTestCase
{
    private const ROOT = __DIR__ . '/../..';

    public function test_arginfo_is_generated_from_the_stub_as_it_is(): void
    {
        $stub = file_get_contents(self::ROOT . '/bindings/php/dueq.stub.php');
        $arginfo = file_get_contents(self::ROOT . '/bindings/php/dueq_arginfo.h');
        $this->assertStringContainsString('Stub hash: ' . sha1(str_replace("\r\n", "\n", $stub)) . ' ', $arginfo);
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
            $class = 'Dueq\\Exception\\' . str_replace('_', '', ucwords(strtolower($name), '_')) . 'Exception';
            $this->assertTrue(is_subclass_of($class, DueqException::class), $class);
            $this->assertSame((bool) $retriable, (new $class('text', (int) $code))->isRetriable());
        }
        $this->assertTrue(is_subclass_of(DueqException::class, \RuntimeException::class));
    }

    public function test_objects_are_final_and_cannot_be_copied(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        foreach ([$queue, $queue->reserve(), $queue->stats()] as $object) {
            $this->assertTrue((new \ReflectionClass($object))->isFinal());
            $this->assertFails(fn () => serialize($object), \Exception::class);
            $this->assertFails(fn () => $object->added = 1, \Error::class);
        }
        $message = $queue->find($queue->push('y'));
        $this->assertFails(fn () => clone $queue, \Error::class);
        $this->assertFails(fn () => clone $message, \Error::class);
    }

    public function test_objects_are_read_only(): void
    {
        $queue = $this->queue();
        $queue->push('x', headers: ['a' => 'b']);
        $message = $queue->reserve();
        foreach ([$queue, $message, $queue->stats()] as $object) {
            foreach ((new \ReflectionObject($object))->getProperties() as $property) {
                $this->assertTrue($property->isReadOnly(), $property->name);
                $this->assertTrue($property->isInitialized($object), $property->name);
                $this->assertFails(function () use ($object, $property) {
                    $object->{$property->name} = $property->getValue($object);
                }, \Error::class);
            }
        }
        $this->assertFails(fn () => $message->headers['c'] = 'd', \Error::class);
        $this->assertSame(['a' => 'b'], $message->headers);
    }

    public function test_objects_come_from_their_makers_only(): void
    {
        $this->assertFails(fn () => new Message(), \Error::class);
        $this->assertFails(fn () => new Stats(), \Error::class);
        foreach ([Queue::class, Message::class] as $class) {
            $reflection = new \ReflectionClass($class);
            $this->assertFails(fn () => $reflection->newInstanceWithoutConstructor(), \ReflectionException::class);
        }
        $queue = $this->queue();
        $this->assertFails(fn () => $queue->__construct('other'), \Error::class);
        $this->assertSame('q', $queue->name);
    }

    public function test_the_url_does_not_show_in_a_trace(): void
    {
        try {
            new Queue('q', 'bad://user:secret@host');
            $this->fail('no exception');
        } catch (DueqException $e) {
            $this->assertStringNotContainsString('secret', (string) $e);
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
