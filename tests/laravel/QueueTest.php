<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use DateInterval;
use DateTimeImmutable;
use Dueq\State;
use Illuminate\Queue\Events\JobProcessing;
use Illuminate\Queue\Events\JobQueued;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Queue\Queue;

final class QueueTest extends LaravelTestCase
{
    /** What Laravel's own redis driver changes by decoding and encoding. */
    private const DELICATE = '{"uuid":"9b2ef2a6-0000-4000-8000-000000000001","displayName":"X",'
        . '"job":"X@fire","data":{"z":9223372036854775806,"float":1.0,'
        . '"precise":0.1234567890123456789,"list":[],"object":{},'
        . '"url":"http://x/y","a":"\u00e9 é \ud83d\ude00"},"attempts":0}';

    public function testPush(): void
    {
        $id = $this->queue()->push(new Act('first'));
        $message = $this->queue()->messages()->find($id);
        $this->assertSame($id, json_decode($message->body, true)['uuid']);
        $this->assertSame(State::Ready, $message->state);
        $this->assertNull($message->maxAttempts);
        $this->assertNull($message->maxCrashes);
    }

    public function testPushRawKeepsEveryByteOnEveryAttempt(): void
    {
        $id = $this->queue()->pushRaw(self::DELICATE);
        $this->assertSame('9b2ef2a6-0000-4000-8000-000000000001', $id);
        for ($attempt = 1; $attempt <= 3; $attempt++) {
            $job = $this->queue()->pop();
            $this->assertSame($id, $job->getJobId());
            $this->assertSame(self::DELICATE, $job->getRawBody());
            $this->assertSame($attempt, $job->attempts());
            $job->release();
        }
    }

    public function testPushRawOfALivingJobIsAnotherJob(): void
    {
        $first = $this->queue()->pushRaw(self::DELICATE);
        $second = $this->queue()->pushRaw(self::DELICATE);
        $this->assertNotSame($first, $second);
        $this->assertSame(2, $this->queue()->size());
    }

    public function testPushOn(): void
    {
        $this->queue()->pushOn('mails', 'Job@fire', ['to' => 'x']);
        $job = $this->queue()->pop('mails');
        $this->assertSame('mails', $job->getQueue());
        $this->assertSame('dueq', $job->getConnectionName());
        $this->assertSame(['to' => 'x'], $job->payload()['data']);
        $this->assertNull($this->queue()->pop());
    }

    public function testTheJobQueuedEventHasTheId(): void
    {
        $ids = [];
        $events = $this->app->container['events'];
        $events->listen(JobQueued::class, function (JobQueued $event) use (&$ids): void {
            $ids[] = $event->id;
        });
        $id = $this->queue()->push(new Act('first'));
        $this->assertSame([$id], $ids);
    }

    public function testLater(): void
    {
        $delays = [
            'seconds' => [fn () => 30, 30.0],
            'milliseconds' => [fn () => 30.25, 30.25],
            'text' => [fn () => '30', 30.0],
            'interval' => [fn () => new DateInterval('PT30S'), 30.0],
            'date' => [fn () => (new DateTimeImmutable())->modify('+30250 ms'), 30.25],
        ];
        foreach ($delays as $name => [$delay, $seconds]) {
            $before = microtime(true);
            $id = $this->queue()->later($delay(), new Act('later'));
            $after = microtime(true);
            $message = $this->queue()->messages()->find($id);
            $this->assertSame(State::Delayed, $message->state, $name);
            $this->assertGreaterThanOrEqual($before + $seconds - 0.001, $message->time, $name);
            $this->assertLessThanOrEqual($after + $seconds + 0.002, $message->time, $name);
            $this->assertNull($this->queue()->pop(), $name);
        }
    }

    public function testLaterOfWhatIsPastIsNow(): void
    {
        $past = new DateInterval('PT5S');
        $past->invert = 1;
        foreach ([-5, $past, new DateTimeImmutable('-5 seconds')] as $delay) {
            $this->queue()->laterOn('mails', $delay, new Act('past'));
        }
        for ($i = 0; $i < 3; $i++) {
            $this->queue()->pop('mails')->delete();
        }
        $this->assertSame(0, $this->queue()->size('mails'));
    }

    public function testBulk(): void
    {
        $jobs = array_map(fn ($number) => new Act("job $number"), range(1, 450));
        $jobs[449]->delay(60);
        $this->queue()->bulk($jobs, '', 'many');
        $this->assertSame(450, $this->queue()->size('many'));
        $this->assertSame(1, $this->queue()->messages('many')->stats()->delayed);
        $this->work('many');
        $this->work('many');
        $this->assertSame('job 1 1', Journal::read());
        $this->assertSame('job 2 1', Journal::read());
    }

    public function testBulkOfTheSameIdTwice(): void
    {
        Queue::createPayloadUsing(fn () => ['uuid' => '9b2ef2a6-0000-4000-8000-000000000001']);
        try {
            $this->queue()->bulk(['Job@fire', 'Job@fire']);
        } finally {
            Queue::createPayloadUsing(null);
        }
        $this->assertSame(2, $this->queue()->size());
    }

    public function testCounts(): void
    {
        $queue = $this->queue();
        $this->assertSame(0, $queue->size());
        $this->assertNull($queue->creationTimeOfOldestPendingJob());
        $before = time();
        $queue->push(new Act('reserved'));
        $job = $queue->pop();
        $queue->push(new Act('pending'));
        $queue->push(new Act('pending'));
        foreach (range(1, 3) as $ignored) {
            $queue->later(60, new Act('delayed'));
        }
        $this->assertSame(
            [6, 2, 3, 1],
            [$queue->size(), $queue->pendingSize(), $queue->delayedSize(), $queue->reservedSize()],
        );
        $this->assertSame(6, $queue->size('default'));
        $this->assertEqualsWithDelta($before, $queue->creationTimeOfOldestPendingJob(), 5);
        $queue->pushOn('other', new Act('pending'));
        $this->assertSame([7, 3, 3, 1], [
            $queue->totalSize(), $queue->totalPendingSize(),
            $queue->totalDelayedSize(), $queue->totalReservedSize(),
        ]);
        $this->assertSame([2, 1], [$queue->readyNow(), $queue->readyNow('other')]);
        $job->delete();
        $this->assertSame(0, $queue->reservedSize());
    }

    public function testListsOfJobs(): void
    {
        if (!class_exists(InspectedJob::class)) {
            $this->markTestSkipped('before Laravel 13 there are no lists of jobs');
        }
        $queue = $this->queue();
        $id = $queue->push(new Act('reserved'));
        $queue->pop()->release();
        $job = $queue->pop();
        $queue->push(new Act('pending'));
        $queue->pushRaw('not a job');
        $queue->laterOn('other', 60, new Act('delayed'));
        [$reserved] = $queue->reservedJobs()->all();
        $this->assertSame(
            [$id, 'default', Act::class, 2],
            [$reserved->uuid, $reserved->queue, $reserved->name, $reserved->attempts],
        );
        [$pending] = $queue->pendingJobs()->all();
        $this->assertSame(0, $pending->attempts);
        $counts = [$queue->delayedJobs()->count(), $queue->delayedJobs('other')->count()];
        $all = [
            $queue->allPendingJobs()->count(),
            $queue->allDelayedJobs()->count(),
            $queue->allReservedJobs()->count(),
        ];
        $this->assertSame([[0, 1], [1, 1, 1]], [$counts, $all]);
        $job->delete();
    }

    public function testClear(): void
    {
        $queue = $this->queue();
        $queue->push(new Act('reserved'));
        $job = $queue->pop();
        $queue->push(new Act('ready'));
        $queue->later(60, new Act('delayed'));
        $queue->pushOn('other', new Act('other'));
        $this->assertSame(3, $queue->clear('default'));
        $this->assertSame([0, 1], [$queue->size(), $queue->size('other')]);
        $job->delete();
        $this->assertSame([], $this->reported());
    }

    public function testClearUnderARunningJob(): void
    {
        foreach (['done', 'throw', 'release 5', 'fail'] as $act) {
            $this->app->container['events']->listen(
                JobProcessing::class,
                fn () => $this->queue()->clear('default'),
            );
            $this->queue()->push(new Act('a', $act));
            $this->work('default', maxTries: 2);
            $this->assertNotContains('Dueq\Exception\LeaseLostException', $this->reported(), $act);
            $this->assertSame(0, $this->queue()->size(), $act);
        }
    }

    public function testOverdueJobsComeInTheOrderOfTheirTimes(): void
    {
        foreach ([0.3, 0.1, 0.2] as $delay) {
            $this->queue()->later($delay, new Act("after $delay"));
        }
        $times = array_map(
            fn ($message) => $message->time,
            iterator_to_array($this->queue()->messages()->peek(State::Delayed), false),
        );
        while ($this->queue()->messages()->stats()->now <= max($times)) {
            usleep(10000);
        }
        foreach (['after 0.1', 'after 0.2', 'after 0.3'] as $name) {
            $this->work();
            $this->assertSame("$name 1", Journal::read());
        }
    }

    public function testJobsWhoseTimeIsPastWhenTheyArePushedAreInLineAtOnce(): void
    {
        $this->queue()->push(new Act('now'));
        foreach ([-5, -20, -10] as $delay) {
            $this->queue()->later($delay, new Act("at $delay"));
        }
        $lines = [];
        for ($i = 0; $i < 4; $i++) {
            $this->work();
            $lines[] = Journal::read();
        }
        $this->assertSame(['now 1', 'at -5 1', 'at -20 1', 'at -10 1'], $lines);
    }

    public function testAfterCommit(): void
    {
        $this->configure(['after_commit' => true]);
        $database = $this->app->container['db']->connection();
        $database->transaction(function (): void {
            $this->queue()->push(new Act('first'));
            $this->queue()->later(60, new Act('second'));
            $this->queue()->bulk([new Act('third'), new Act('fourth')]);
            $this->assertSame(0, $this->queue()->size());
        });
        $this->assertSame(4, $this->queue()->size());
        try {
            $database->transaction(function (): void {
                $this->queue()->push(new Act('never'));
                throw new \DomainException('rolled back');
            });
        } catch (\DomainException) {
        }
        $this->assertSame(4, $this->queue()->size());
    }

    public function testQueuesByEnum(): void
    {
        $this->queue()->push(new Act('first'), '', Names::Mails);
        $this->assertSame(1, $this->queue()->size('mails'));
        $this->assertNotNull($this->queue()->pop(Names::Mails));
    }

    public function testWhatIsNoJobIsSetAside(): void
    {
        $damaged = [
            'not JSON',
            '1',
            '[]',
            '{"data":[]}',
            '{"job":"X@fire"}',
            '{"job":"X@fire","data":' . str_repeat('[', 600) . str_repeat(']', 600) . '}',
        ];
        $ids = array_map(fn ($payload) => $this->queue()->pushRaw($payload), $damaged);
        $this->queue()->push(new Act('after'));
        $this->work();
        $this->assertSame('after 1', Journal::read());
        foreach ($ids as $number => $id) {
            $message = $this->queue()->messages()->find($id);
            $this->assertSame([State::Dead, $damaged[$number]], [$message->state, $message->body]);
            $this->assertSame('this is not the payload of a Laravel job', $message->error);
        }
    }

    public function testPayloadsOfOtherLanguages(): void
    {
        $payload = json_encode([
            'uuid' => 'u-1',
            'displayName' => Plain::class,
            'job' => Plain::class . '@fire',
            'data' => ['order' => 7],
        ]);
        (new \Dueq\Queue('default', $this->server->url()))->push($payload);
        $this->work();
        $this->assertSame('plain {"order":7}', Journal::read());
        $this->assertSame(0, $this->queue()->size());
    }
}

enum Names: string
{
    case Mails = 'mails';
}
