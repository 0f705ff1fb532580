<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Exception\TooLargeException;
use Dueq\Message;
use Dueq\State;

/** What the holder of a message does with it: ack, retry, release, extend, checkpoint, bury. */
final class SettleTest extends QueueTestCase
{
    private function lost(): Message
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve(lease: 0.001);
        $this->assertSame(2, $queue->reserve(10.0)->deliveries);
        return $message;
    }

    public function test_ack_finishes_the_message(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $queue->reserve()->ack();
        $this->assertSame(
            [0, 0, 1],
            [$queue->stats()->ready, $queue->stats()->leased, $queue->stats()->acked],
        );
    }

    public function test_a_message_says_whether_it_is_settled(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        foreach ([$queue->reserve(), $this->lost()] as $message) {
            $this->assertFalse($message->isSettled());
            try {
                $message->ack();
            } catch (LeaseLostException) {
                // Another worker has settled the message.
            }
            $this->assertTrue($message->isSettled());
        }
    }

    public function test_ack_twice_loses_the_lease(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        $message->ack();
        $e = $this->assertThrows(LeaseLostException::class, fn () => $message->ack());
        $this->assertSame(4, $e->getCode());
        $this->assertFalse($e->isRetriable());
    }

    public function test_ack_outlives_the_variable_of_the_queue(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        unset($queue);
        gc_collect_cycles();
        $message->ack();
        $this->assertSame(1, $this->queue()->stats()->acked);
    }

    public function test_every_verb_after_the_lease_is_lost(): void
    {
        $message = $this->lost();
        $this->assertThrows(LeaseLostException::class, fn () => $message->ack());
        $this->assertThrows(LeaseLostException::class, fn () => $message->ack(push: ['x']));
        $this->assertThrows(LeaseLostException::class, fn () => $message->retry());
        $this->assertThrows(LeaseLostException::class, fn () => $message->release());
        $this->assertThrows(LeaseLostException::class, fn () => $message->extend(10));
        $this->assertThrows(LeaseLostException::class, fn () => $message->bury());
        $this->assertSame(1, $this->queue()->stats()->leased);
    }

    public function test_ack_many_says_which_leases_were_lost(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b', 'c']);
        [$a, $b, $c] = $queue->reserveMany(3);
        $b->ack();
        $this->assertSame([true, false, true], $queue->ackMany([$a, 'k' => $b, $c->ticket]));
        $this->assertSame([], $queue->ackMany([]));
    }

    public function test_ack_many_takes_any_number(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 300, 'x'));
        $messages = [...$queue->reserveMany(200), ...$queue->reserveMany(200)];
        $this->assertSame(array_fill(0, 300, true), $queue->ackMany($messages));
    }

    public function test_ack_many_refuses_what_is_not_of_this_queue(): void
    {
        $queue = $this->queue();
        $other = $this->queue('other');
        $other->push('x');
        $foreign = $other->reserve();
        $this->assertThrows(InvalidException::class, fn () => $queue->ackMany([$foreign]));
        $queue->push('y');
        $this->assertSame(
            [true],
            $this->queue()->ackMany([$queue->reserve()]),
            'another object of the same queue',
        );
        foreach ([7, null, $queue] as $item) {
            try {
                $queue->ackMany([$item]);
                $this->fail('no TypeError');
            } catch (\TypeError $e) {
                $this->assertStringContainsString('Dueq\Message|string', $e->getMessage());
            }
        }
        $this->assertSame(1, $other->stats()->leased);
    }

    public function test_retry_gives_the_message_back(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $this->assertTrue($queue->reserve()->retry(0, 'no luck'));
        $message = $queue->reserve();
        $this->assertSame(2, $message->attempt);
        $this->assertSame('no luck', $queue->find($message->id)->error);
        $this->assertTrue($message->retry(new DateInterval('PT1M')));
        $this->assertSame(State::Delayed, $queue->find($message->id)->state);
        $this->assertEqualsWithDelta(
            $queue->stats()->now + 60,
            $queue->find($message->id)->time,
            5,
        );
    }

    public function test_retry_after_the_last_attempt_is_dead(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x', maxAttempts: 2);
        $this->assertTrue($queue->reserve()->retry(0));
        $this->assertFalse($queue->reserve()->retry(5.0, 'for good'));
        $dead = $queue->find($id);
        $this->assertSame([State::Dead, 'for good'], [$dead->state, $dead->error]);
        $this->assertSame(1, $queue->stats()->dead);
    }

    public function test_release_goes_to_the_front_and_does_not_count(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['first', 'second']);
        $queue->reserve()->release();
        $message = $queue->reserve();
        $this->assertSame(['first', 1, 0, 2],
            [$message->body, $message->attempt, $message->crashes, $message->deliveries]);
    }

    public function test_release_with_a_delay(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        foreach ([60, 60.0, new DateInterval('PT1M')] as $delay) {
            $message = $queue->reserve();
            $message->release($delay);
            $found = $queue->find($message->id);
            $this->assertSame(State::Delayed, $found->state);
            $this->assertEqualsWithDelta($queue->stats()->now + 60, $found->time, 5);
            $queue->reschedule($message->id);
        }
    }

    public function test_extend_sets_the_end_of_the_lease(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x');
        $message = $queue->reserve(lease: 5);
        foreach ([600, 300.5, new DateInterval('PT2H')] as $lease) {
            $message->extend($lease);
            $seconds = $lease instanceof DateInterval ? 7200 : $lease;
            $this->assertEqualsWithDelta(
                $queue->stats()->now + $seconds,
                $queue->find($id)->time,
                5,
            );
        }
        $message->ack();
    }

    public function test_checkpoint_shows_in_the_message(): void
    {
        $queue = $this->queue();
        foreach ([[], ['a' => '1']] as $headers) {
            $id = $queue->push('x', headers: $headers);
            $message = $queue->reserve();
            $before = $message->headers;
            $message->checkpoint('5');
            $message->checkpoint('käse');
            $this->assertSame($headers, $before);
            $this->assertSame([...$headers, 'cursor' => 'käse'], $message->headers);
            $this->assertSame($message->headers, $queue->find($id)->headers);
            $message->checkpoint('');
            $this->assertSame($headers, $message->headers);
            $message->checkpoint('6');
            $message->retry(0);
            $message = $queue->reserve();
            $this->assertSame([...$headers, 'cursor' => '6'], $message->headers);
            $message->ack();
            $this->assertThrows(LeaseLostException::class, fn () => $message->checkpoint('7'));
            $this->assertSame('6', $message->headers['cursor']);
        }
    }

    public function test_checkpoint_what_cannot_be_a_header(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        $this->assertThrows(
            TooLargeException::class,
            fn () => $message->checkpoint(str_repeat('x', 65527)),
        );
        $this->assertThrows(InvalidException::class, fn () => $message->checkpoint("\xff"));
        $this->assertSame([], $message->headers);
        $message->ack();
    }

    public function test_bury_makes_the_message_dead(): void
    {
        $queue = $this->queue();
        $id = $queue->push('x');
        $message = $queue->reserve();
        $message->bury(str_repeat('w', 5000));
        $dead = $queue->find($id);
        $this->assertSame(State::Dead, $dead->state);
        $this->assertSame(str_repeat('w', 4096), $dead->error);
        $this->assertEqualsWithDelta($queue->stats()->now, $dead->time, 5);
        $this->assertNull($queue->reserve());
    }

    public function test_retry_release_and_extend_with_arguments_out_of_range(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        foreach ([-1, NAN, INF] as $seconds) {
            $this->assertThrows(InvalidException::class, fn () => $message->retry($seconds));
            $this->assertThrows(InvalidException::class, fn () => $message->release($seconds));
            $this->assertThrows(InvalidException::class, fn () => $message->extend($seconds));
        }
        $this->assertThrows(InvalidException::class, fn () => $message->extend(0));
        $message->ack();
    }

    public function test_retry_release_and_extend_with_arguments_of_a_wrong_type(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        $bad = [
            fn () => $message->retry('soon'), fn () => $message->retry(error: null),
            fn () => $message->release(null),
            fn () => $message->extend(null), fn () => $message->bury(null),
            fn () => $message->ack(push: 'x'),
            fn () => $message->ack(push: [7]), fn () => $message->ack(push: ['x'], to: 7),
        ];
        foreach ($bad as $i => $run) {
            try {
                $run();
                $this->fail("no TypeError for $i");
            } catch (\TypeError $e) {
                $this->assertStringContainsString('must be of type', $e->getMessage());
            }
        }
        $message->ack();
    }
}
