<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Lock;

final class LockTest extends QueueTestCase
{
    /** How long the lock lasts, in seconds by the server. */
    private function left(Lock $lock): float
    {
        return $this->server->command('PTTL', "dueq:{q}:lock:$lock->name") / 1000;
    }

    public function test_lock_has_one_owner(): void
    {
        $queue = $this->queue();
        $lock = $queue->lock('nightly', 600);
        $this->assertInstanceOf(Lock::class, $lock);
        $this->assertSame('nightly', $lock->name);
        $this->assertNotSame('', $lock->token);
        $this->assertNull($queue->lock('nightly', 600));
        $this->assertNull($this->queue()->lock('nightly', 600, 0.05));
        $this->assertNotNull($queue->lock('another', 600));
        $this->assertNotNull($this->queue('other')->lock('nightly', 600));
        $lock->release();
        $this->assertNotSame($lock->token, $queue->lock('nightly', 600)->token);
    }

    public function test_lock_lasts_for_its_ttl(): void
    {
        $queue = $this->queue();
        foreach ([600, 600.0, new DateInterval('PT10M')] as $i => $ttl) {
            $lock = $queue->lock(name: "l$i", ttl: $ttl);
            $this->assertEqualsWithDelta(600, $this->left($lock), 5);
            $lock->extend(60);
            $this->assertEqualsWithDelta(60, $this->left($lock), 5);
            $lock->extend(new DateInterval('PT1H'));
            $this->assertEqualsWithDelta(3600, $this->left($lock), 5);
        }
    }

    public function test_lock_waits_until_it_is_released(): void
    {
        foreach ([20.0, new DateInterval('PT20S'), INF] as $timeout) {
            $queue = $this->queue();
            $held = $queue->lock('l', 600);
            $owner = $this->besides(function () use ($held) {
                $this->server->awaitBlocked();
                $held->release();
            });
            $begin = microtime(true);
            $lock = $queue->lock('l', 600, $timeout);
            $this->assertNotNull($lock);
            $this->assertLessThan(10, microtime(true) - $begin);
            $lock->release();
            pcntl_waitpid($owner, $status);
        }
    }

    public function test_lock_waits_for_the_end_of_its_owner(): void
    {
        $queue = $this->queue();
        $lost = $queue->lock('l', 0.2);
        $lock = $queue->lock('l', 600, 20);
        $this->assertNotNull($lock);
        $this->assertThrows(LeaseLostException::class, fn () => $lost->extend(60));
        $e = $this->assertThrows(LeaseLostException::class, fn () => $lost->release());
        $this->assertSame(4, $e->getCode());
        $this->assertStringContainsString('lock', $e->getMessage());
        $this->assertEqualsWithDelta(600, $this->left($lock), 5);
    }

    public function test_release_twice_loses_the_lock(): void
    {
        $lock = $this->queue()->lock('l', 600);
        $lock->release();
        $this->assertThrows(LeaseLostException::class, fn () => $lock->release());
        $this->assertThrows(LeaseLostException::class, fn () => $lock->extend(60));
    }

    public function test_lock_outlives_the_variable_of_the_queue(): void
    {
        $queue = $this->queue();
        $lock = $queue->lock('l', 600);
        unset($queue);
        gc_collect_cycles();
        $lock->extend(60);
        $this->assertNull($this->queue()->lock('l', 600));
        $lock->release();
        $this->assertNotNull($this->queue()->lock('l', 600));
    }

    public function test_lock_is_not_released_with_its_object(): void
    {
        $queue = $this->queue();
        $queue->lock('l', 600);
        $this->assertNull($queue->lock('l', 600));
        $lock = $queue->lock('in a child', 600);
        $this->inChild(function () use (&$lock) {
            unset($lock);
            return gc_collect_cycles();
        });
        $lock->release();
    }

    public function test_lock_is_released_by_a_child(): void
    {
        $lock = $this->queue()->lock('l', 600);
        $this->assertTrue($this->inChild(function () use ($lock) {
            $lock->release();
            return true;
        }));
        $this->assertThrows(LeaseLostException::class, fn () => $lock->release());
    }

    public function test_lock_with_any_name(): void
    {
        $queue = $this->queue();
        foreach ([str_repeat('x', 255), 'a b:{c}', "\u{1F4E6}", '0'] as $name) {
            $lock = $queue->lock($name, 60);
            $this->assertSame($name, $lock->name);
            $lock->release();
        }
    }

    public function test_lock_with_arguments_out_of_range(): void
    {
        $queue = $this->queue();
        $bad = [
            ['', 60], ["a\nb", 60], ["\xff", 60], ['l', 0],
            ['l', -1], ['l', NAN], ['l', INF], ['l', 60, -1],
            ['l', 60, NAN],
        ];
        foreach ($bad as $arguments) {
            $this->assertThrows(InvalidException::class, fn () => $queue->lock(...$arguments));
        }
        $lock = $queue->lock('l', 60);
        foreach ([0, -1, NAN, INF] as $ttl) {
            $this->assertThrows(InvalidException::class, fn () => $lock->extend($ttl));
        }
        $lock->release();
    }

    public function test_lock_with_arguments_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        $this->assertTypeError('($name)', fn () => $queue->lock(7, 60));
        $this->assertTypeError('($ttl)', fn () => $queue->lock('l', '60'));
        $this->assertTypeError('($ttl)', fn () => $queue->lock('l', null));
        $this->assertTypeError('($timeout)', fn () => $queue->lock('l', 60, null));
        $lock = $queue->lock('l', 60);
        $this->assertTypeError('($ttl)', fn () => $lock->extend('60'));
    }
}
