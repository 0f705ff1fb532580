<?php

declare(strict_types=1);

namespace Dueq\Tests\Symfony;

use Dueq\State;
use Dueq\SymfonyMessenger\DueqStamp;
use Dueq\SymfonyMessenger\DueqTransport;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;

/** The message that Messenger sends after a failure replaces the failed one, in one step. */
final class RetryTest extends SymfonyTestCase
{
    public function testRetryTakesThePlaceOfTheMessageUnderItsId(): void
    {
        $transport = $this->transport(['wait' => self::PATIENCE]);
        $transport->send(self::note()->with(new DueqStamp(id: 'x', priority: 1)));
        for ($retry = 1; $retry <= 12; $retry++) {
            [$envelope] = self::got($transport);
            $this->assertSame($retry - 1, RedeliveryStamp::getRetryCountFromEnvelope($envelope));
            $sent = $this->retried($transport, $envelope, $retry, 20);
            $this->assertSame('x', $sent->last(TransportMessageIdStamp::class)->getId());
            // If the worker died here, no message would be lost, and none would be doubled.
            $this->assertSame([0, 1, 0, 0], $this->counts());
            $transport->reject($envelope);
            $this->assertSame([0, 1, 0, 0], $this->counts());
        }
        $message = $this->queue()->reserve(timeout: self::PATIENCE);
        $this->assertSame(
            [1, 1, null],
            [$message->priority, $message->attempt, $message->maxAttempts],
        );
    }

    public function testTheRetryOfAMessageWithAUniqueIdGetsAnotherId(): void
    {
        $transport = $this->transport();
        $transport->send(self::note()->with(new DueqStamp(id: 'x', unique: 3600)));
        [$envelope] = self::got($transport);
        $sent = $this->retried($transport, $envelope, 1, 0);
        $transport->reject($envelope);
        [$again] = self::got($transport);
        $this->assertNotSame('x', $again->last(TransportMessageIdStamp::class)->getId());
        $this->assertSame(
            $sent->last(TransportMessageIdStamp::class)->getId(),
            $again->last(TransportMessageIdStamp::class)->getId(),
        );
    }

    public function testTheRetryOfACancelledMessageIsNotStored(): void
    {
        $transport = $this->transport();
        $transport->send(self::note());
        [$envelope] = self::got($transport);
        $this->queue()->purge(State::Leased);
        $this->retried($transport, $envelope, 1, 0);
        $transport->reject($envelope);
        $this->assertSame([0, 0, 0, 0], $this->counts());
        $this->assertCount(1, $this->logger->lines);
    }

    public function testAFailedMessageMovesToTheFailureTransport(): void
    {
        [$transport, $failed] = [$this->transport(), $this->transport(['queue' => 'failed'])];
        $transport->send(self::note());
        [$envelope] = self::got($transport);
        $this->failed($failed, $envelope);
        $this->assertSame([0, 0, 0, 0], $this->counts());
        $transport->reject($envelope);
        $this->await([1, 0, 0, 0], fn () => $this->counts('failed'));
        [$found] = iterator_to_array($failed->all());
        $this->assertSame(
            'async',
            $found->last(SentToFailureTransportStamp::class)->getOriginalReceiverName(),
        );
        // Does what messenger:failed:retry does when the message fails again.
        $id = $found->last(TransportMessageIdStamp::class)->getId();
        $this->retried($failed, $found, 1, 60000);
        $failed->reject($found);
        $this->assertSame([0, 1, 0, 0], $this->counts('failed'));
        $this->assertSame(1, RedeliveryStamp::getRetryCountFromEnvelope($failed->find($id)));
        $failed->ack($failed->find($id));
        $this->assertSame([0, 0, 0, 0], $this->counts('failed'));
    }

    public function testFailureTransportMayBeOnAnotherServer(): void
    {
        $other = new \Dueq\Tests\Server();
        $factory = new \Dueq\SymfonyMessenger\DueqTransportFactory();
        $failed = $factory->createTransport(
            "dueq+{$other->url()}",
            [],
            new \Symfony\Component\Messenger\Transport\Serialization\PhpSerializer(),
        );
        $transport = $this->transport();
        $transport->send(self::note());
        [$envelope] = self::got($transport);
        $this->failed($failed, $envelope);
        $this->assertSame([0, 0, 1, 0], $this->counts());
        $transport->reject($envelope);
        $this->assertSame([0, 0, 0, 0], $this->counts());
        $this->assertSame(['a'], self::texts($failed->all()));
    }

    public function testCopyForAnotherTransportLeavesTheMessageAlone(): void
    {
        [$transport, $audit] = [$this->transport(), $this->transport(['queue' => 'audit'])];
        $transport->send(self::note());
        [$envelope] = self::got($transport);
        $audit->send($envelope);
        $this->assertSame([0, 0, 1, 0], $this->counts());
        $this->assertSame([1, 0, 0, 0], $this->counts('audit'));
        $transport->ack($envelope);
    }

    /** As SendFailedMessageForRetryListener does it. */
    private function retried(
        DueqTransport $transport,
        Envelope $envelope,
        int $retry,
        int $delay,
    ): Envelope {
        return $transport->send(
            $envelope->with(new DelayStamp($delay), new RedeliveryStamp($retry)),
        );
    }

    /** As SendFailedMessageToFailureTransportListener does it. */
    private function failed(DueqTransport $transport, Envelope $envelope): void
    {
        $transport->send(
            $envelope->with(
                new SentToFailureTransportStamp('async'),
                new DelayStamp(0),
                new RedeliveryStamp(0),
            ),
        );
    }
}
