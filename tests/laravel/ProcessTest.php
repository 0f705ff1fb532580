<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\Tests\Server;
use Illuminate\Queue\QueueManager;

/** Workers as processes, which wait, are stopped, and are killed. */
final class ProcessTest extends LaravelTestCase
{
    public function testAnIdleWorkerWakesWithoutPolling(): void
    {
        $worker = $this->startWorker(['block_for' => 60]);
        $this->server->awaitBlocked();
        $before = $this->calls();
        $this->queue()->later(0.7, new Act('delayed'));
        $pushed = microtime(true);
        $this->assertSame('delayed 1', Journal::read());
        $this->assertGreaterThan(0.69, microtime(true) - $pushed);
        $this->assertLessThan(25, $this->calls() - $before);
        $this->queue()->push(new Act('now'));
        $pushed = microtime(true);
        $this->assertSame('now 1', Journal::read());
        $this->assertLessThan(5.0, microtime(true) - $pushed);
    }

    public function testASignalEndsTheWait(): void
    {
        $worker = $this->startWorker(['block_for' => 60], ['sleep' => 60]);
        $this->server->awaitBlocked();
        $start = microtime(true);
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
        $this->assertLessThan(20.0, microtime(true) - $start);
        // The worker left nothing behind that keeps a job from the next worker.
        $this->queue()->push(new Act('a'));
        $this->work();
        $this->assertSame('a 1', Journal::read());
    }

    public function testARestartIsObeyedBeforeTheNextJob(): void
    {
        $worker = $this->startWorker(['block_for' => 60], [], 'high,low');
        $this->server->awaitBlocked();
        $this->app->artisan('queue:restart');
        $this->queue()->pushOn('low', new Act('a'));
        $this->assertSame(0, $worker->wait());
        $this->assertSame(
            [1, 0],
            [$this->queue()->pendingSize('low'), $this->queue()->reservedSize('low')],
        );
        $this->assertSame(1, $this->queue()->pop('low')->attempts());
    }

    public function testAPauseIsObeyedBeforeTheNextJob(): void
    {
        if (!method_exists(QueueManager::class, 'pause')) {
            $this->markTestSkipped('this Laravel has no queue:pause');
        }
        $worker = $this->startWorker(['block_for' => 60], [], 'high,low');
        $this->server->awaitBlocked();
        $this->app->container['queue']->pause('dueq', 'low');
        $this->queue()->pushOn('low', new Act('low'));
        $this->queue()->pushOn('high', new Act('high'));
        $this->assertSame('high 1', Journal::read());
        $this->server->awaitBlocked();
        $this->assertSame(
            [1, 0],
            [$this->queue()->pendingSize('low'), $this->queue()->reservedSize('low')],
        );
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
    }

    public function testASignalLetsTheJobAtHandEnd(): void
    {
        $this->queue()->push(new Act('a', 'last 0.3'));
        $this->queue()->push(new Act('b'));
        $worker = $this->startWorker();
        $this->assertSame('a 1', Journal::read());
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
        $this->assertSame('a over', Journal::read());
        $this->assertSame([1, 0], [$this->queue()->pendingSize(), $this->queue()->reservedSize()]);
    }

    public function testTheJobOfAKilledWorkerComesBack(): void
    {
        $job = new Act('a', 'hang');
        $job->tries = 2;
        $this->queue()->push($job);
        $first = $this->startWorker(['lease' => 1]);
        $this->assertSame('a 1', Journal::read());
        $second = $this->startWorker();
        $first->signal(SIGKILL);
        $this->assertSame(-SIGKILL, $first->wait());
        $this->assertSame('a 2', Journal::read());
        $second->signal(SIGTERM);
        $this->assertSame(0, $second->wait());
        $this->assertSame(0, $this->queue()->size());
    }

    public function testTheJobOfAKilledWorkerFailsAfterItsTries(): void
    {
        $this->queue()->push(new Act('a', 'hang'));
        $first = $this->startWorker(['lease' => 1]);
        $this->assertSame('a 1', Journal::read());
        $first->signal(SIGKILL);
        $first->wait();
        $second = $this->startWorker();
        $this->assertStringContainsString('attempted too many times', Journal::read());
        $second->signal(SIGTERM);
        $second->wait();
        $this->assertCount(1, $this->app->failed());
        $this->assertSame(0, $this->queue()->size());
    }

    public function testAJobLongerThanItsLeaseRunsOnce(): void
    {
        $this->queue()->push(new Act('a', 'last 4'));
        $first = $this->startWorker(['lease' => 2]);
        $this->assertSame('a 1', Journal::read());
        $second = $this->startWorker(['lease' => 2]);
        $this->assertSame('a over', Journal::read());
        foreach ([$first, $second] as $worker) {
            $worker->signal(SIGTERM);
            $this->assertSame(0, $worker->wait());
        }
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame(1, $this->queue()->messages()->stats()->reserved);
    }

    public function testMaxRunEndsAJobsLease(): void
    {
        $job = new Act('a', 'hang');
        $job->tries = 2;
        $this->queue()->push($job);
        $first = $this->startWorker(['lease' => 1, 'max_run' => 0.5]);
        $this->assertSame('a 1', Journal::read());
        $second = $this->startWorker();
        $this->assertSame('a 2', Journal::read());
        $second->signal(SIGTERM);
        $second->wait();
        $first->signal(SIGKILL);
        $first->wait();
    }

    public function testATimeoutEndsTheWorkerAndTheJobComesBack(): void
    {
        $job = new Act('a', 'hang');
        $job->timeout = 1;
        $job->tries = 2;
        $this->queue()->push($job);
        $first = $this->startWorker(['lease' => 2]);
        $this->assertSame('a 1', Journal::read());
        $this->assertSame(-SIGKILL, $first->wait());
        $second = $this->startWorker();
        $this->assertSame('a 2', Journal::read());
        $second->signal(SIGTERM);
        $second->wait();
        $this->assertSame([], $this->app->failed());
    }

    public function testATimeoutOfTheLastTryFails(): void
    {
        $job = new Act('a', 'hang');
        $job->timeout = 1;
        $this->queue()->push($job);
        $worker = $this->startWorker();
        $this->assertSame('a 1', Journal::read());
        $this->assertSame(-SIGKILL, $worker->wait());
        $this->assertStringStartsWith('a failed: ', Journal::read());
        $this->assertCount(1, $this->app->failed());
        $this->assertSame(0, $this->queue()->size());
    }

    public function testFailOnTimeout(): void
    {
        $job = new Act('a', 'hang');
        $job->timeout = 1;
        $job->tries = 5;
        $job->failOnTimeout = true;
        $this->queue()->push($job);
        $worker = $this->startWorker();
        $this->assertSame('a 1', Journal::read());
        $this->assertSame(-SIGKILL, $worker->wait());
        $this->assertCount(1, $this->app->failed());
        $this->assertSame(0, $this->queue()->size());
    }

    public function testAStringJobThatIsNotDeletedComesBackToAWorkerThatWaits(): void
    {
        $this->queue()->push(Plain::class . '@forget');
        $worker = $this->startWorker(['lease' => 0.5, 'block_for' => 0], ['maxTries' => 0]);
        foreach ([1, 2, 3] as $attempt) {
            $this->assertSame("forgotten $attempt", Journal::read());
        }
        $worker->signal(SIGKILL);
    }

    public function testWorkersThatAreKilledLoseNothing(): void
    {
        $names = array_map(fn ($number) => "job $number", range(1, 120));
        $this->queue()->bulk(
            array_map(fn ($name) => new Act($name, ...array_fill(0, 9, 'last 0.01')), $names),
        );
        $workers = array_map(
            fn () => $this->startWorker(['lease' => 1], ['maxTries' => 0]),
            [1, 2, 3],
        );
        $done = [];
        for ($lines = 1; count($done) < count($names); $lines++) {
            $line = Journal::read();
            $this->assertNotNull($line);
            if (str_ends_with($line, ' over')) {
                $done[$line] = true;
            }
            if ($lines % 40 === 0) {
                // The worker may wait, work, or be about to settle its job.
                $workers[$lines / 40 % 3]->signal(SIGKILL);
                $workers[$lines / 40 % 3] = $this->startWorker(['lease' => 1], ['maxTries' => 0]);
            }
        }
        $this->assertCount(120, $done);
        // Some jobs that are done come back: their workers died before they acknowledged.
        for ($end = microtime(true) + 20; $this->queue()->size() > 0 && microtime(true) < $end;) {
            Journal::read(0.1);
        }
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame([], $this->app->failed());
    }

    public function testAWorkerOutlivesTheServer(): void
    {
        $worker = $this->startWorker();
        $this->server->awaitBlocked();
        $this->server->kill();
        $this->server->start();
        $this->queue()->push(new Act('a'));
        $this->assertSame('a 1', Journal::read(30.0));
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
    }

    public function testAJobThatEndsInAnOutageIsDoneAndHasNotFailed(): void
    {
        $server = new Server('--appendonly', 'yes', '--appendfsync', 'always');
        $entry = ['url' => $server->url('timeout=1s')];
        $this->configure(['url' => $server->url()]);
        Journal::open($server->url());
        $worker = $this->startWorker($entry, ['maxTries' => 1]);
        $this->queue()->push(new Act('a', 'quiet 0.3'));
        $this->assertSame('a 1', Journal::read());
        $server->kill();
        usleep(1800000); // its acknowledgement fails meanwhile
        $server->start();
        $queue = new \Dueq\Queue('default', $server->url());
        for ($end = microtime(true) + 30; $queue->stats()->acked === 0 && microtime(true) < $end;) {
            usleep(10000);
        }
        $this->assertSame([1, 1], [$queue->stats()->acked, $queue->stats()->reserved]);
        $this->queue()->push(new Act('b'));
        $this->assertSame('b 1', Journal::read(30.0));
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
        $this->assertSame([], $this->app->failed());
        $server->remove();
    }

    public function testAnExitInAHandlerIsACrash(): void
    {
        $worker = $this->startWorker();
        $this->queue()->push(new Act('a', 'exit'));
        $this->assertSame('a 1', Journal::read());
        $this->assertSame(0, $worker->wait());
        $message = (new \Dueq\Queue('default', $this->server->url()))->reserve(timeout: 5.0);
        $this->assertSame([1, 1], [$message?->crashes, $message?->attempt]);
    }

    public function testAnExitAfterAStopSignalIsNoCrash(): void
    {
        $worker = $this->startWorker();
        $this->queue()->push(new Act('a', 'leave 0.3'));
        $this->assertSame('a 1', Journal::read());
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
        $stats = (new \Dueq\Queue('default', $this->server->url()))->stats();
        $this->assertSame([1, 0], [$stats->delayed, $stats->leased]);
    }

    public function testTheFirstQueueGoesFirst(): void
    {
        foreach (['low', 'high', 'low', 'high'] as $number => $name) {
            $this->queue()->pushOn($name, new Act("$name$number"));
        }
        $worker = $this->startWorker(['block_for' => 0.2], ['stopWhenEmpty' => true], 'high,low');
        $this->assertSame(0, $worker->wait());
        $lines = [Journal::read(), Journal::read(), Journal::read(), Journal::read()];
        $this->assertSame(['high1 1', 'high3 1', 'low0 1', 'low2 1'], $lines);
    }

    public function testAWorkerWaitsForAllOfItsQueues(): void
    {
        $worker = $this->startWorker(['block_for' => 60], [], 'high,low');
        foreach (['low', 'high', 'low'] as $name) {
            $this->server->awaitBlocked();
            $pushed = microtime(true);
            $this->queue()->pushOn($name, new Act($name));
            $this->assertSame("$name 1", Journal::read());
            $this->assertLessThan(5.0, microtime(true) - $pushed);
        }
        $this->server->awaitBlocked();
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->wait());
        $this->assertSame([0, 0], [$this->queue()->size('high'), $this->queue()->size('low')]);
    }

    /** How many scripts and blocking commands the server has run. */
    private function calls(): int
    {
        $info = $this->server->command('INFO', 'commandstats');
        preg_match_all('/^cmdstat_(?:evalsha|bzpopmin):calls=(\d+)/m', $info, $found);

        return array_sum(array_map('intval', $found[1]));
    }
}
