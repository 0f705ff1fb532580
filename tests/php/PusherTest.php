<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Backoff;
use Dueq\Exception\ClosedException;
use Dueq\Exception\ConnectException;
use Dueq\Exception\DuplicateException;
use Dueq\Exception\FlushException;
use Dueq\Exception\InvalidException;
use Dueq\Exception\TimeoutException;
use Dueq\Queue;
use Dueq\State;

/** pusher(): many pushes in flight, each with an outcome of its own. */
final class PusherTest extends QueueTestCase
{
    /** @return list<string> the bodies of all ready messages, in order */
    private function ready(Queue $queue): array
    {
        return array_map(
            fn ($message) => $message->body,
            iterator_to_array($queue->peek(State::Ready, 200)),
        );
    }

    public function test_pushes_are_stored_in_their_order(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher();
        $bodies = array_map(strval(...), range(0, 4999));
        foreach ($bodies as $i => $body) {
            $this->assertSame($i, $pusher->push($body));
        }
        $pusher->flush();
        $this->assertSame($bodies, $this->ready($queue));
        $this->assertSame(5000, $pusher->push('more'));
        $pusher->flush();
        $this->assertSame(5001, $queue->stats()->ready);
    }

    public function test_a_push_has_all_the_parameters_of_that_of_a_queue(): void
    {
        $parameters = fn ($class) => array_map(
            strval(...),
            (new \ReflectionMethod($class, 'push'))->getParameters(),
        );
        $this->assertSame($parameters(Queue::class), $parameters(\Dueq\Pusher::class));
        $queue = $this->queue();
        $pusher = $queue->pusher();
        $pusher->push(
            'x',
            id: 'i',
            delay: 60,
            headers: ['a' => 'b'],
            priority: 1,
            ttl: 120,
            maxAttempts: null,
            backoff: Backoff::linear(2),
            deadLetter: 'other',
            lease: 5,
        );
        $pusher->push('y', maxCrashes: 2);
        $pusher->flush();
        $message = $queue->find('i');
        $this->assertSame(
            ['x', ['a' => 'b'], 1, null, 'other', State::Delayed],
            [
                $message->body, $message->headers, $message->priority,
                $message->maxAttempts, $message->deadLetter, $message->state,
            ],
        );
        $this->assertSame('y', $queue->reserve()->body);
    }

    public function test_each_push_has_an_outcome_of_its_own(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher();
        $queue->push('first', id: 'taken');
        $numbers = [];
        foreach (range(0, 499) as $i) {
            $number = $pusher->push("$i", id: $i % 100 === 7 ? 'taken' : "id$i");
            $i % 100 === 7 && $numbers[] = $number;
        }
        $flushed = $this->assertThrows(FlushException::class, fn () => $pusher->flush());
        $failures = $flushed->failures;
        $this->assertSame(
            '5 pushes failed, the first: ' . $failures[7]->getMessage(),
            $flushed->getMessage(),
        );
        $this->assertSame(
            [$failures[7]->getCode(), false],
            [$flushed->getCode(), $flushed->isRetriable()],
        );
        $this->assertSame($numbers, array_keys($failures));
        $this->assertContainsOnlyInstancesOf(DuplicateException::class, $failures);
        $this->assertStringContainsString('the id is taken', $failures[7]->getMessage());
        $pusher->flush();
        $this->assertSame(496, $queue->stats()->ready);
    }

    public function test_a_draft_that_cannot_be_is_refused_at_once(): void
    {
        $pusher = $this->queue()->pusher();
        $this->assertSame(0, $pusher->push('x'));
        $this->assertThrows(InvalidException::class, fn () => $pusher->push('x', delay: -1));
        $this->assertThrows(InvalidException::class, fn () => $pusher->push('x', id: "line\n"));
        $this->assertTypeError('must be of type string', fn () => $pusher->push([]));
        $this->assertSame(1, $pusher->push('y'));
        $pusher->flush();
        $this->assertSame(['x', 'y'], $this->ready($this->queue()));
        foreach ([0, -1, 1000001] as $most) {
            $this->assertThrows(InvalidException::class, fn () => $this->queue()->pusher($most));
        }
    }

    public function test_a_push_waits_while_most_pushes_are_in_flight(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher(most: 300);
        $this->server->command('CLIENT', 'PAUSE', '1500', 'WRITE');
        $begin = microtime(true);
        foreach (range(1, 300) as $i) {
            $pusher->push('x');
        }
        $this->assertLessThan(1.4, microtime(true) - $begin, 'no push waits');
        $pusher->push('one more waits');
        $this->assertGreaterThan(1.4, microtime(true) - $begin);
        $pusher->flush();
        $this->assertSame(301, $queue->stats()->ready);
    }

    public function test_the_queue_can_be_used_meanwhile(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher();
        $other = $queue->pusher();
        foreach (range(1, 1000) as $i) {
            $pusher->push("$i");
            $other->push("$i");
            $i % 100 || $queue->push("$i");
        }
        $pusher->flush();
        $other->flush();
        $this->assertSame(2010, $queue->stats()->ready);
    }

    public function test_its_end_flushes(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher();
        foreach (range(1, 1000) as $i) {
            $pusher->push("$i");
        }
        unset($queue);
        unset($pusher);
        $this->assertSame(1000, $this->queue()->stats()->ready);
    }

    public function test_its_end_warns_of_failed_pushes(): void
    {
        $pusher = $this->queue()->pusher();
        foreach (range(1, 3) as $i) {
            $pusher->push("$i", id: 'same');
        }
        $warnings = [];
        set_error_handler(function ($level, $text) use (&$warnings) {
            $warnings[] = $text;
            return true;
        }, E_WARNING);
        unset($pusher);
        restore_error_handler();
        $this->assertCount(1, $warnings);
        $this->assertStringContainsString(
            '2 pushes of a Dueq\Pusher that was not flushed failed',
            $warnings[0],
        );
        $this->assertStringContainsString('the id is taken', $warnings[0]);
    }

    public function test_lost_connections_double_nothing(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher();
        foreach (range(0, 19999) as $i) {
            $pusher->push("$i");
            if ($i % 2000 === 1000) {
                $this->server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            }
        }
        $pusher->flush();
        $this->assertSame(array_map(strval(...), range(0, 19999)), $this->ready($queue));
    }

    public function test_all_pushes_fail_if_the_server_does_not_answer(): void
    {
        $server = new Server();
        $queue = new Queue('q', $server->url('timeout=300ms'));
        $pusher = $queue->pusher();
        $pusher->push('stored');
        $pusher->flush();
        $server->kill();
        foreach (range(1, 500) as $i) {
            $pusher->push('x');
        }
        $flushed = $this->assertThrows(FlushException::class, fn () => $pusher->flush());
        $this->assertTrue($flushed->isRetriable());
        $failures = $flushed->failures;
        $this->assertSame(range(1, 500), array_keys($failures));
        foreach ($failures as $failure) {
            $this->assertContains(
                get_class($failure),
                [ConnectException::class, ClosedException::class, TimeoutException::class],
            );
            $this->assertNotSame('', $failure->getMessage());
            $this->assertTrue($failure->isRetriable());
        }
        $server->start();
        $this->assertSame(501, $pusher->push('again'));
        $pusher->flush();
        $server->remove();
    }

    public function test_fork_pushes_in_flight_stay_with_the_parent(): void
    {
        $queue = $this->queue();
        $pusher = $queue->pusher();
        foreach (range(1, 500) as $i) {
            $pusher->push("$i");
        }
        $pusher->push('x', id: 'twice');
        $pusher->push('x', id: 'twice');
        $child = $this->inChild(function () use (&$pusher, &$queue) {
            $pusher->push("the child's");
            $pusher->flush();
            unset($pusher, $queue);
            return 'stored';
        });
        $this->assertSame('stored', $child);
        $this->inChild(function () use (&$pusher, &$queue) {
            unset($pusher, $queue);
        });
        $flushed = $this->assertThrows(FlushException::class, fn () => $pusher->flush());
        $this->assertSame([501], array_keys($flushed->failures));
        $this->assertStringStartsWith('1 push failed: the id is taken', $flushed->getMessage());
        $this->assertSame(502, $queue->stats()->ready);
    }

    public function test_an_exception_that_refers_to_it_makes_no_leak(): void
    {
        $make = function (): void {
            $pusher = $this->queue()->pusher();
            $flush = function ($held) {
                $held->push('x', id: 'same');
                $held->push('x', id: 'same');
                try {
                    $held->flush();
                } catch (FlushException $failed) {
                    return $failed;
                }
            };
            $flush($pusher);
            $held = (
                fn ($pusher) => $pusher->push('y', id: 'same') . $pusher->push('z', id: 'same')
            )($pusher);
            foreach (range(1, 400) as $i) {
                (fn ($pusher) => $pusher->push('y', id: 'same'))($pusher);
            }
        };
        set_error_handler(fn () => true, E_WARNING);
        $make();
        gc_collect_cycles();
        $before = memory_get_usage();
        for ($i = 0; $i < 20; $i++) {
            $make();
            gc_collect_cycles();
        }
        restore_error_handler();
        $this->assertLessThan(32 * 1024, memory_get_usage() - $before);
    }
}
