<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Backoff;
use Dueq\Exception\InvalidException;
use Dueq\Exception\NameException;
use Dueq\Message;
use Dueq\State;

/** A message that is finished and followed by others in one step. */
final class AckPushTest extends QueueTestCase
{
    private function held(string $body = 'x'): Message
    {
        $queue = $this->queue();
        $queue->push($body);
        return $queue->reserve();
    }

    public function test_ack_returns_the_ids_of_successors_only(): void
    {
        $this->assertNull($this->held()->ack());
        $this->assertNull($this->held()->ack(push: null, to: null));
        $this->assertSame([], $this->held()->ack(push: []));
        $this->assertSame([], $this->held()->ack([], 'other'));
        $this->assertSame(4, $this->queue()->stats()->acked);
    }

    public function test_ack_pushes_to_its_own_queue(): void
    {
        $queue = $this->queue();
        $queue->push('existing', id: 'taken');
        $message = $queue->reserve();
        $queue->push('x');
        $ids = $queue->reserve()->ack(push: [
            'plain',
            ['body' => 'own', 'id' => 'own id', 'headers' => ['a' => 'b'], 'priority' => 1],
            ['body' => 'again', 'id' => 'taken'],
            ['body' => 'later', 'delay' => 60, 'backoff' => Backoff::fixed(5)],
        ]);
        $this->assertSame([0, 1, 2, 3], array_keys($ids));
        $this->assertSame(['own id', null], [$ids[1], $ids[2]]);
        $this->assertSame(['own', 'plain'], array_column($queue->reserveMany(10), 'body'));
        $this->assertSame(
            ['later', State::Delayed],
            [$queue->find($ids[3])->body, $queue->find($ids[3])->state],
        );
        $message->ack();
    }

    public function test_ack_pushes_to_another_queue(): void
    {
        [$other, $third] = [$this->queue('other'), $this->queue('third')];
        [$id] = $this->held()->ack(push: ['successor'], to: 'other');
        $message = $other->reserve();
        $this->assertSame(
            [$id, 'successor', 'other'],
            [$message->id, $message->body, $message->queue],
        );
        [$next] = $message->ack(['the next'], 'third');
        $this->assertSame($next, $third->reserve()->id);
        [$back] = $this->held()->ack(['its own by name'], 'q');
        $this->assertSame($back, $this->queue()->reserve()->id);
        $this->assertSame([0, 0], [$other->stats()->ready, $other->stats()->leased]);
    }

    public function test_ack_with_bad_successors_keeps_the_message(): void
    {
        $message = $this->held();
        $bad = [
            [['push' => [['body' => 'x', 'delay' => -1]]], InvalidException::class],
            [['push' => ['x', []]], InvalidException::class],
            [['push' => array_fill(0, 201, 'x')], InvalidException::class],
            [['to' => 'other'], InvalidException::class],
            [['push' => ['x'], 'to' => ''], NameException::class],
            [['push' => ['x'], 'to' => 'a{b'], NameException::class],
        ];
        foreach ($bad as [$arguments, $class]) {
            $this->assertThrows($class, fn () => $message->ack(...$arguments));
        }
        $this->assertCount(200, $message->ack(push: array_fill(0, 200, 'x')));
        $this->assertSame(
            [200, 1],
            [$this->queue()->stats()->ready, $this->queue()->stats()->acked],
        );
    }

    public function test_ack_pushes_after_the_queue_object_is_gone(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        unset($queue);
        gc_collect_cycles();
        $message->ack(push: ['successor'], to: 'other');
        unset($message);
        $this->assertSame('successor', $this->queue('other')->reserve()->body);
    }
}
