<?php

declare(strict_types=1);

namespace Dueq\Tests\Symfony;

use App\Note;
use Dueq\Client;
use Dueq\Exception\DuplicateException;
use Dueq\Replace;
use Dueq\State;
use Dueq\SymfonyMessenger\DueqStamp;
use Dueq\SymfonyMessenger\DueqReceivedStamp;
use Symfony\Component\Messenger\Exception\LogicException;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\BusNameStamp;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Transport\Serialization\Serializer;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

final class TransportTest extends SymfonyTestCase
{
    /** @return iterable<string, array{SerializerInterface}> */
    public static function serializers(): iterable
    {
        yield 'of PHP' => [new PhpSerializer()];
        yield 'of Symfony, JSON' => [Serializer::create()];
    }

    /** @dataProvider serializers */
    #[\PHPUnit\Framework\Attributes\DataProvider('serializers')]
    public function testSendsAndReceives(SerializerInterface $serializer): void
    {
        $transport = $this->transport([], $serializer);
        $sent = $transport->send(self::note('für 17 €')->with(new BusNameStamp('the.bus')));
        [$envelope] = self::got($transport);
        $this->assertEquals(new Note('für 17 €'), $envelope->getMessage());
        $this->assertSame('the.bus', $envelope->last(BusNameStamp::class)->getBusName());
        $id = $sent->last(TransportMessageIdStamp::class)->getId();
        $this->assertSame($id, $envelope->last(TransportMessageIdStamp::class)->getId());
        $this->assertSame([0, 0, 1, 0], $this->counts());
        $transport->ack($envelope);
        $this->assertSame([0, 0, 0, 0], $this->counts());
        $this->assertSame([], self::got($transport));
    }

    public function testBodyAndHeadersAreThoseOfTheSerializer(): void
    {
        $this->transport([], Serializer::create())->send(self::note());
        $message = $this->queue()->reserve();
        $this->assertSame('{"text":"a","does":""}', $message->body);
        $this->assertSame(
            ['type' => Note::class, 'Content-Type' => 'application/json'],
            $message->headers,
        );
    }

    public function testWhatAnyLanguagePushesIsReceived(): void
    {
        $this->queue()->push(
            '{"text": "from elsewhere", "does": ""}',
            headers: ['type' => Note::class],
        );
        $this->assertSame(
            ['from elsewhere'],
            self::texts(self::got($this->transport([], Serializer::create()))),
        );
    }

    /** @dataProvider serializers */
    #[\PHPUnit\Framework\Attributes\DataProvider('serializers')]
    public function testHeadersMayBeLarge(SerializerInterface $serializer): void
    {
        $transport = $this->transport([], $serializer);
        $transport->send(self::note()->with(new BusNameStamp(str_repeat('ü', 50000))));
        [$envelope] = self::got($transport);
        $this->assertSame(
            str_repeat('ü', 50000),
            $envelope->last(BusNameStamp::class)->getBusName(),
        );
        $this->assertSame('a', $envelope->getMessage()->text);
        $transport->ack($envelope);
    }

    public function testADelayedMessageIsNeverEarly(): void
    {
        $transport = $this->transport(['wait' => 10]);
        $begun = microtime(true);
        $transport->send(self::note()->with(new DelayStamp(300)));
        $this->assertSame([], self::got($this->transport()));
        $this->assertSame(1, $transport->getMessageCount());
        [$envelope] = self::got($transport);
        // The server counts whole milliseconds.
        $this->assertGreaterThanOrEqual(0.299, microtime(true) - $begun);
        $this->assertLessThan(8, microtime(true) - $begun, 'it wakes at the time');
        $transport->ack($envelope);
    }

    public function testFetchesUpToFetchSizeMessages(): void
    {
        $transport = $this->transport();
        foreach (['1', '2', '3', '4', '5'] as $text) {
            $transport->send(self::note($text));
        }
        $this->assertSame(['1', '2', '3'], self::texts($held = self::got($transport, 3)));
        $this->assertSame([2, 0, 3, 0], $this->counts());
        array_map($transport->ack(...), $held);
        $this->assertSame(['4', '5'], self::texts($held = self::got($transport, 3)));
        array_map($transport->ack(...), $held);
        $transport = $this->transport(['fetch_size' => 2]);
        $transport->send(self::note('6'));
        $transport->send(self::note('7'));
        foreach ($transport->get() as $envelope) {
            $held[] = $envelope;
        }
        $this->assertSame(['6', '7'], self::texts(array_slice($held, -2)));
    }

    public function testAJobThatAStoppedWorkerDidNotBeginIsNextAgain(): void
    {
        $transport = $this->transport();
        foreach (['1', '2', '3', '4'] as $text) {
            $transport->send(self::note($text));
        }
        foreach ($transport->get(3) as $envelope) {
            $transport->ack($envelope);
            break;
        }
        $this->assertSame([3, 0, 0, 0], $this->counts());
        $message = $this->queue()->reserve();
        $this->assertSame([1, 0], [$message->attempt, $message->crashes]);
        $message->release();
        $this->assertSame(['2', '3', '4'], self::texts(self::got($transport, 3)));
    }

    public function testAnUnsettledMessageComesBackWithoutACountedAttempt(): void
    {
        $transport = $this->transport(['lease' => 0.2, 'wait' => self::PATIENCE]);
        $transport->send(self::note());
        self::got($transport);
        $this->assertSame([0, 1, 0, 0], $this->counts());
        [$envelope] = self::got($transport);
        $message = $envelope->last(DueqReceivedStamp::class)->delivery->message;
        $this->assertSame([1, 0, 2], [$message->attempt, $message->crashes, $message->deliveries]);
        $transport->reject($envelope);
        $this->assertSame([0, 0, 0, 0], $this->counts());
    }

    public function testLeaseIsKeptWhileTheHandlerRuns(): void
    {
        $transport = $this->transport(['lease' => 0.3]);
        $transport->send(self::note());
        $held = self::got($transport);
        usleep(1000000);
        $this->assertSame([], self::got($this->transport()));
        $transport->ack($held[0]);
        $this->assertSame([0, 0, 0, 0], $this->counts());
        $this->assertSame([], $this->logger->lines);
    }

    public function testKeepaliveExtends(): void
    {
        $transport = $this->transport(['lease' => 5, 'max_run' => 0]);
        $transport->send(self::note());
        [$envelope] = self::got($transport);
        $transport->keepalive($envelope, 100);
        $id = $envelope->last(TransportMessageIdStamp::class)->getId();
        $this->assertGreaterThan(microtime(true) + 50, $this->queue()->find($id)->time);
        $this->assertSame(
            interface_exists(KeepaliveReceiverInterface::class),
            $transport instanceof KeepaliveReceiverInterface,
        );
        $this->queue()->cancel($id);
        $this->expectException(TransportException::class);
        $transport->keepalive($envelope, 100);
    }

    public function testACancelledMessageIsLoggedAndStopsNoWorker(): void
    {
        $transport = $this->transport();
        $transport->send(self::note());
        [$envelope] = self::got($transport);
        $this->queue()->purge(State::Leased);
        $transport->ack($envelope);
        $this->assertCount(1, $this->logger->lines);
        $this->assertStringContainsString(
            'was cancelled, or delivered to another worker',
            $this->logger->lines[0],
        );
    }

    public function testCrashedMessagesGoToTheDeadLetterQueue(): void
    {
        $transport = $this->transport([
            'lease' => 0.1,
            'max_run' => 0,
            'max_crashes' => 1,
            'dead_letter' => 'failed',
        ]);
        $transport->send(self::note());
        $held = self::got($transport);
        $failed = $this->transport(['queue' => 'failed']);
        $this->await(1, function () use ($failed): int {
            $this->queue()->reserve();

            return $failed->getMessageCount();
        });
        [$found] = iterator_to_array($failed->all());
        $this->assertSame('a', $found->getMessage()->text);
        $this->assertSame(
            'async',
            $found->last(SentToFailureTransportStamp::class)?->getOriginalReceiverName(),
        );
        $this->assertStringContainsString(
            'was killed',
            $found->last(ErrorDetailsStamp::class)?->getExceptionMessage(),
        );
        $this->assertCount(1, $held);
        // A handler fails, and Messenger retries in the failure transport: the stamps remain.
        [$again] = self::got($failed);
        $failed->send($again->with(new RedeliveryStamp(1)));
        $failed->reject($again);
        [$retried] = iterator_to_array($failed->all());
        $this->assertCount(1, $retried->all(SentToFailureTransportStamp::class));
        $this->assertSame([1, 0, 0, 0], $this->counts('failed'));
    }

    public function testWhatCannotBeDecodedIsDeadWithTheReason(): void
    {
        $transport = $this->transport();
        $this->queue()->push('no envelope', id: 'bad');
        $transport->send(self::note('good'));
        try {
            self::got($transport);
            $this->fail('it was decoded');
        } catch (MessageDecodingFailedException $error) {
            $this->assertStringStartsWith(
                'The message bad of the queue async: ',
                $error->getMessage(),
            );
        }
        $this->assertSame(State::Dead, $this->queue()->find('bad')->state);
        $this->assertStringContainsStringIgnoringCase('decode', $this->queue()->find('bad')->error);
        $this->assertSame(['good'], self::texts(self::got($transport)));
    }

    public function testPriorities(): void
    {
        $transport = $this->transport();
        foreach (['low' => -1, 'normal' => 0, 'high' => 1] as $text => $priority) {
            $transport->send(self::note($text)->with(new DueqStamp(priority: $priority)));
        }
        $this->assertSame(['high', 'normal', 'low'], self::texts(self::got($transport, 3)));
    }

    public function testIdsRefuseAndReplace(): void
    {
        $transport = $this->transport();
        $sent = $transport->send(self::note('old')->with(new DueqStamp(id: 'x')));
        $this->assertSame('x', $sent->last(TransportMessageIdStamp::class)->getId());
        try {
            $transport->send(self::note('second')->with(new DueqStamp(id: 'x')));
            $this->fail('it was stored');
        } catch (TransportException $error) {
            $this->assertInstanceOf(DuplicateException::class, $error->getPrevious());
        }
        $transport->send(
            self::note('new')->with(new DueqStamp(id: 'x', replace: Replace::Message)),
        );
        $this->assertSame(['new'], self::texts($transport->all()));
    }

    public function testListsCountsAndFinds(): void
    {
        $transport = $this->transport();
        $transport->send(
            self::note('later')->with(new DelayStamp(60000), new DueqStamp(id: 'later')),
        );
        foreach (['1', '2', '3'] as $text) {
            $transport->send(self::note($text));
        }
        $this->assertSame(4, $transport->getMessageCount());
        $this->assertSame(['1', '2', '3', 'later'], self::texts($transport->all()));
        $this->assertSame(['1', '2'], self::texts($transport->all(2)));
        $this->assertNull($transport->find('nobody'));
        $this->assertSame('later', $transport->find('later')->getMessage()->text);
        $this->assertSame([3, 1, 0, 0], $this->counts());
        $transport->reject($transport->find('later'));
        $this->assertSame([3, 0, 0, 0], $this->counts());
    }

    public function testScheduleOfTheQueuePushesItsJobs(): void
    {
        $body = (new PhpSerializer())->encode(self::note('each second'))['body'];
        $this->queue()->schedule('notes', 'every 1s', $body);
        $transport = $this->transport(['wait' => self::PATIENCE]);
        [$envelope] = self::got($transport);
        $this->assertSame('each second', $envelope->getMessage()->text);
        $this->assertMatchesRegularExpression(
            '/^notes:\d+$/',
            $envelope->last(TransportMessageIdStamp::class)->getId(),
        );
        $transport->ack($envelope);
        $this->assertSame(
            [],
            iterator_to_array($transport->all()),
            'the schedule is no message of the bus',
        );
    }

    public function testServerThatIsAwayIsToldOnceAndAwaited(): void
    {
        $transport = $this->transport();
        $transport->send(self::note());
        $notices = [];
        Client::onNotice(function (string $text) use (&$notices): void {
            $notices[] = $text;
        });
        $this->server->kill();
        try {
            $this->assertSame([], self::got($transport));
            $this->assertSame([], self::got($transport));
            $this->assertCount(1, $this->logger->lines);
            $this->assertStringContainsString(
                'cannot be read, and is tried again',
                $this->logger->lines[0],
            );
            try {
                $transport->setup();
                $this->fail('there is no server');
            } catch (TransportException $error) {
                $this->assertTrue($error->getPrevious()->isRetriable());
            }
        } finally {
            $this->server->start();
        }
        $transport->setup();
        $transport->send(self::note('b'));
        $this->assertSame(['b'], self::texts(self::got($transport)));
        Client::onNotice(null);
        $this->assertStringContainsString('it answers again', implode("\n", $notices));
    }

    public function testClosesAndGoesOn(): void
    {
        $transport = $this->transport(['wait' => 1]);
        $transport->send(self::note());
        $transport->close();
        $this->assertSame(['a'], self::texts(self::got($transport)));
    }

    public function testEnvelopesOfOthersAreRefused(): void
    {
        $this->expectException(LogicException::class);
        $this->transport()->ack(self::note());
    }
}
