<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\State;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\Events\Looping;
use Illuminate\Queue\Events\WorkerQueuePaused;
use Illuminate\Queue\MaxAttemptsExceededException;
use Illuminate\Queue\Worker;

final class WorkerTest extends LaravelTestCase
{
    public function testASuccess(): void
    {
        $this->queue()->push(new Act('a'));
        $this->work();
        $this->assertSame('a 1', Journal::read());
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame([], $this->reported());
    }

    public function testBackoffAndTries(): void
    {
        $job = new Act('a', 'throw', 'throw', 'throw');
        $job->tries = 3;
        $job->backoff = [10, 20];
        $id = $this->queue()->push($job);
        foreach ([1 => 10, 2 => 20] as $attempt => $delay) {
            $before = microtime(true);
            $this->work();
            $this->assertSame("a $attempt", Journal::read());
            $message = $this->queue()->messages()->find($id);
            $payload = $message->body;
            $this->assertSame(State::Delayed, $message->state);
            $this->assertEqualsWithDelta($before + $delay, $message->time, 5.0);
            $this->queue()->messages()->reschedule($id);
        }
        $this->work();
        $this->assertSame('a 3', Journal::read());
        $this->assertSame('a failed: thrown by a', Journal::read());
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame(0, $this->queue()->messages()->stats()->dead);
        [$failed] = $this->app->failed();
        $this->assertSame($payload, $failed['payload']);
        $this->assertSame(['dueq', 'default'], [$failed['connection'], $failed['queue']]);
        $this->assertStringContainsString('thrown by a', $failed['exception']);
    }

    public function testTheWorkersTriesAndBackoff(): void
    {
        $id = $this->queue()->push(new Act('a', 'throw', 'throw'));
        $this->work('default', maxTries: 2, backoff: 30);
        $this->assertSame(State::Delayed, $this->queue()->messages()->find($id)->state);
        $this->queue()->messages()->reschedule($id);
        $this->work('default', maxTries: 2, backoff: 30);
        $this->assertCount(1, $this->app->failed());
        $this->assertSame(0, $this->queue()->size());
    }

    public function testWithoutLimitOfTriesNothingIsBuried(): void
    {
        $id = $this->queue()->push(new Act('a', ...array_fill(0, 20, 'release 0')));
        for ($attempt = 1; $attempt <= 21; $attempt++) {
            $this->work('default', maxTries: 0);
            $this->assertSame("a $attempt", Journal::read());
        }
        $this->assertNull($this->queue()->messages()->find($id));
        $this->assertSame([], $this->app->failed());
    }

    public function testReleaseWithADelayCounts(): void
    {
        $id = $this->queue()->push(new Act('a', 'release 40'));
        $before = microtime(true);
        $this->work('default', maxTries: 0);
        $message = $this->queue()->messages()->find($id);
        $this->assertSame(State::Delayed, $message->state);
        $this->assertEqualsWithDelta($before + 40, $message->time, 5.0);
        $this->queue()->messages()->reschedule($id);
        $this->assertSame(2, $this->queue()->pop()->attempts());
    }

    public function testAJobThatFailsByItself(): void
    {
        $this->queue()->push(new Act('a', 'fail'));
        $this->work('default', maxTries: 5);
        $this->assertSame('a 1', Journal::read());
        $this->assertSame('a failed: failed by a', Journal::read());
        $this->assertCount(1, $this->app->failed());
        $this->assertSame(0, $this->queue()->size());
    }

    public function testRetryUntil(): void
    {
        $job = new Act('a', 'throw');
        $job->retryUntil = time() + 3600;
        $this->queue()->push($job);
        $this->work('default', maxTries: 1);
        $this->assertSame([], $this->app->failed());
        $this->assertSame(1, $this->queue()->size());

        $job->retryUntil = time() - 1;
        $this->queue()->clear('default');
        $this->queue()->push($job);
        $this->work('default', maxTries: 9);
        $this->assertSame(
            MaxAttemptsExceededException::class,
            get_class(end($this->app->handler->reported)),
        );
        $this->assertCount(1, $this->app->failed());
    }

    public function testMaxExceptions(): void
    {
        $job = new Act('a', 'throw', 'release 0', 'throw', 'throw');
        $job->maxExceptions = 2;
        $job->tries = 10;
        $this->queue()->push($job);
        $worker = $this->app->worker();
        foreach (range(1, 3) as $attempt) {
            $this->assertCount(0, $this->app->failed());
            $worker->runNextJob('dueq', 'default', self::options());
            $this->assertSame("a $attempt", Journal::read());
        }
        $this->assertCount(1, $this->app->failed());
    }

    public function testAFailedJobIsPushedAgain(): void
    {
        $this->queue()->push(new Act('a', 'throw'));
        $this->work();
        [$failed] = $this->app->failed();
        $this->queue()->pushRaw($failed['payload'], $failed['queue']);
        $job = $this->queue()->pop();
        $this->assertSame(1, $job->attempts());
        $this->assertSame($failed['id'], $job->getJobId());
    }

    public function testAFailedMethodThatThrows(): void
    {
        $job = new Act('a', 'throw');
        $job->failsToFail = true;
        $this->queue()->push($job);
        $this->work();
        $this->assertCount(1, $this->app->failed());
        $stats = $this->queue()->messages()->stats();
        $this->assertSame([0, 0], [$stats->leased, $stats->dead]);
    }

    public function testWhatCannotBeWrittenDownAsFailedIsDead(): void
    {
        $this->app->container['db']->connection()->getSchemaBuilder()->drop('failed_jobs');
        $id = $this->queue()->push(new Act('a', 'throw'));
        $this->work();
        $message = $this->queue()->messages()->find($id);
        $this->assertSame(State::Dead, $message->state);
        $this->assertStringStartsWith('not written down as failed: ', $message->error);
        $this->queue()->messages()->kick($id);
        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testTheJobIsHeldUntilItIsWrittenDown(): void
    {
        $leased = null;
        $this->app->container['events']->listen(JobFailed::class, function () use (&$leased): void {
            $leased = $this->queue()->messages()->stats()->leased;
        });
        $this->queue()->push(new Act('a', 'throw'));
        $this->work();
        $this->assertSame(1, $leased);
        $this->assertSame(0, $this->queue()->size());
    }

    public function testAStringJobThatIsNotDeletedComesBack(): void
    {
        $this->configure(['lease' => 20]);
        $id = $this->queue()->push(Plain::class . '@forget');
        $before = microtime(true);
        $this->work();
        $this->assertSame('forgotten 1', Journal::read());
        gc_collect_cycles();
        $message = $this->queue()->messages()->find($id);
        $this->assertSame(State::Delayed, $message->state);
        $this->assertEqualsWithDelta($before + 20, $message->time, 5.0);
    }

    public function testALostLeaseChangesNothing(): void
    {
        $id = $this->queue()->push(new Act('a'));
        $job = $this->queue()->pop();
        $messages = $this->queue()->messages();
        $messages->cancel($id);
        $messages->push($job->getRawBody(), id: $id);
        $job->release(60);
        $this->assertSame(['Dueq\Exception\LeaseLostException'], $this->reported());
        $this->assertSame(State::Ready, $messages->find($id)->state);

        $job = $this->queue()->pop();
        $messages->cancel($id);
        $messages->push($job->getRawBody(), id: $id);
        $job->fire();
        $this->assertSame(State::Ready, $messages->find($id)->state);
    }

    public function testASignalBeforeTheWaitEndsIt(): void
    {
        $this->configure(['block_for' => 30]);
        $this->app->container['events']->listen(
            Looping::class,
            fn () => posix_kill(getmypid(), SIGTERM),
        );
        $start = microtime(true);
        $this->app->worker()->daemon('dueq', 'high,low', self::options());
        $this->assertLessThan(15.0, microtime(true) - $start);
    }

    public function testAPopUsingChoosesItsQueues(): void
    {
        $this->queue()->pushOn('low', new Act('a'));
        $this->queue()->pushOn('low', new Act('b'));
        $worker = $this->app->worker()->setName('own');
        Worker::popUsing('own', fn ($pop) => $pop('low'));
        try {
            $worker->daemon('dueq', 'low,high', self::options(maxJobs: 2));
        } finally {
            Worker::popUsing('own', null);
        }
        $this->assertSame(['a 1', 'b 1'], [Journal::read(), Journal::read()]);
    }

    public function testAPausedQueueIsNotWaitedFor(): void
    {
        if (!class_exists(WorkerQueuePaused::class)) {
            $this->markTestSkipped(
                'before Laravel 13 a worker does not tell that a queue is paused',
            );
        }
        $this->configure(['block_for' => 0.2]);
        $this->app->container['queue']->pause('dueq', 'low');
        $this->queue()->pushOn('low', new Act('low'));
        $this->queue()->pushOn('high', new Act('high'));
        $start = microtime(true);
        $this->app->worker()->daemon('dueq', 'high,low', self::options(stopWhenEmpty: true));
        $this->assertGreaterThan(0.19, microtime(true) - $start);
        $this->assertSame('high 1', Journal::read());
        $this->assertSame([0, 1], [$this->queue()->size('high'), $this->queue()->size('low')]);
        $this->app->container['queue']->resume('dueq', 'low');
        $this->app->worker()->daemon('dueq', 'high,low', self::options(stopWhenEmpty: true));
        $this->assertSame('low 1', Journal::read());
    }

    public function testAChildProcessDoesNotReleaseTheJobOfItsParent(): void
    {
        $this->queue()->push(new Act('a'));
        $job = $this->queue()->pop();
        $pid = pcntl_fork();
        if ($pid === 0) {
            $job->__destruct();
            posix_kill(getmypid(), SIGKILL);
        }
        pcntl_waitpid($pid, $status);
        $this->assertSame(1, $this->queue()->reservedSize());
        $job->delete();
        $this->assertSame([], $this->reported());
    }
}
