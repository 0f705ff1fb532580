<?php

declare(strict_types=1);

namespace Dueq\Tests\Symfony;

use Dueq\Exception\InvalidException;
use Dueq\SymfonyMessenger\DueqStamp;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFairQueueStamp;
use Symfony\Component\Messenger\Bridge\AmazonSqs\Transport\AmazonSqsFifoStamp;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\StampInterface;

/** The groups of messages: of DueqStamp, and of the stamps of Amazon SQS. */
final class GroupTest extends SymfonyTestCase
{
    private function send(string $text, StampInterface ...$stamps): void
    {
        $this->transport()->send(self::note($text)->with(...$stamps));
    }

    private function nextGroup(): ?string
    {
        $message = $this->queue()->reserve(timeout: self::PATIENCE);
        $message->ack();

        return $message->group;
    }

    public function testGroupsTakeTurns(): void
    {
        $groups = ['a1' => 'acme', 'a2' => 'acme', 'b1' => 'globex', 'none' => null];
        foreach ($groups as $text => $group) {
            $this->send($text, new DueqStamp(group: $group));
        }
        $texts = [];
        $transport = $this->transport();
        foreach ($groups as $group) {
            $envelopes = self::got($transport);
            $texts = [...$texts, ...self::texts($envelopes)];
            $transport->ack($envelopes[0]);
        }
        $this->assertSame(['a1', 'b1', 'none', 'a2'], $texts);
    }

    public function testTheStampsOfSqsNameTheGroup(): void
    {
        $this->send('x', new AmazonSqsFairQueueStamp('fair'));
        $this->assertSame('fair', $this->nextGroup());
        $this->send('x', new AmazonSqsFifoStamp('fifo'));
        $this->assertSame('fifo', $this->nextGroup());
        $this->send('x', new AmazonSqsFifoStamp('fifo'), new AmazonSqsFairQueueStamp('fair'));
        $this->assertSame('fifo', $this->nextGroup());
        $this->send('x', new AmazonSqsFifoStamp(), new AmazonSqsFairQueueStamp('fair'));
        $this->assertSame('fair', $this->nextGroup());
        $this->send('x', new DueqStamp(group: 'own'), new AmazonSqsFairQueueStamp('fair'));
        $this->assertSame('own', $this->nextGroup());
        $this->send('x', new DueqStamp(id: 'x'), new AmazonSqsFairQueueStamp('fair'));
        $this->assertSame('fair', $this->nextGroup());
        $this->send('x', new AmazonSqsFifoStamp());
        $this->assertNull($this->nextGroup());
    }

    public function testADelayedMessageKeepsItsGroup(): void
    {
        $this->send('x', new DueqStamp(group: 'acme'), new DelayStamp(10));
        $this->assertSame('acme', $this->nextGroup());
    }

    public function testARetryKeepsItsGroup(): void
    {
        $this->send('x', new AmazonSqsFairQueueStamp('acme'));
        $transport = $this->transport();
        [$envelope] = self::got($transport);
        $transport->send($envelope->with(new RedeliveryStamp(1)));
        $transport->reject($envelope);
        $this->assertSame('acme', $this->nextGroup());
    }

    public function testAGroupAndAPriorityAreRefused(): void
    {
        try {
            $this->send('x', new DueqStamp(priority: 1, group: 'acme'));
            $this->fail('nothing was refused');
        } catch (TransportException $error) {
            $this->assertInstanceOf(InvalidException::class, $error->getPrevious());
        }
    }
}
