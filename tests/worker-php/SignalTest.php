<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

/** How a worker stops, and what it says when it is asked. */
final class SignalTest extends WorkerTestCase
{
    public function testAnIdleWorkerStopsAtOnce(): void
    {
        foreach ([SIGTERM, SIGINT] as $signal) {
            $worker = $this->start('--concurrency', '3');
            $worker->awaitReady();
            $start = microtime(true);
            $worker->signal($signal);
            $this->assertSame(0, $worker->wait());
            $this->assertLessThan(10.0, microtime(true) - $start);
        }
    }

    public function testAStopLetsTheJobEndAndReleasesWhatWasPrefetched(): void
    {
        $this->tasks->push('last', [0.7, 'first']);
        $this->tasks->push('last', [60.0, 'second']);
        $worker = $this->start('--prefetch', '5');
        $this->assertSame('first begins', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->assertSame('first ends', $this->heard());
        $this->assertSame([1, 0, 0], $this->counts());
        $message = $this->queue()->reserve();
        $this->assertSame([1, 0, ''], [$message->attempt, $message->crashes, $message->error]);
    }

    public function testAfterTheGraceAJobIsReleasedAndCountsNoAttempt(): void
    {
        $this->tasks->push('last', [60.0]);
        $worker = $this->start('--grace', '0.3');
        $this->assertSame('it begins', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->assertSame([1, 0, 0], $this->counts());
        $message = $this->queue()->reserve();
        $this->assertSame(
            [1, 0, 2, ''],
            [$message->attempt, $message->crashes, $message->deliveries, $message->error],
        );
        $this->assertStringContainsString(
            'released: the worker stops, and its grace is over',
            $worker->log(),
        );
        $this->assertSame([], $this->queue()->workers());
    }

    public function testAJobThatDoesNotStopIsKilledAndReleased(): void
    {
        $this->tasks->push('stubborn', [60.0]);
        $worker = $this->start('--grace', '0.1');
        $this->assertSame('begins', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->assertSame('Dueq\Worker\Stop', $this->heard());
        $this->assertSame([1, 0, 0], $this->counts());
        $message = $this->queue()->reserve();
        $this->assertSame([1, 0, ''], [$message->attempt, $message->crashes, $message->error]);
        $this->assertMatchesRegularExpression(
            '/stubborn \S+ of default for \d.\d s: killed, as it does not end/',
            $worker->log(),
        );
    }

    public function testASecondSignalAborts(): void
    {
        $this->tasks->push('last', [60.0]);
        $worker = $this->start();
        $this->assertSame('it begins', $this->heard());
        $stopping = fn (): array => array_map(
            fn ($one) => $one->stopping,
            array_values($this->queue()->workers()),
        );
        $this->await([false], $stopping);
        $this->assertContains('last', explode("\n", $this->queue()->workers()[0]->tasks));
        $worker->signal(SIGTERM);
        $worker->awaitLog('/stops: no new jobs, and 25 s for those that run/');
        $this->await([true], $stopping);
        $worker->signal(SIGINT);
        $this->assertSame(128 + SIGINT, $worker->wait());
        $this->assertSame([], $this->queue()->workers());
        $this->assertSame([1, 0, 0], $this->counts());
        $this->assertSame(1, $this->queue()->reserve()->attempt);
    }

    /** Ctrl-C in a terminal, and systemd, also signal the processes that run the jobs. */
    public function testASignalToAllProcessesIsOneStop(): void
    {
        $this->tasks->push('last', [0.7]);
        $worker = $this->start('--concurrency', '2');
        $this->assertSame('it begins', $this->heard());
        $children = file_get_contents("/proc/{$worker->pid}/task/{$worker->pid}/children");
        foreach (explode(' ', trim((string) $children)) as $child) {
            posix_kill((int) $child, SIGINT);
        }
        $worker->signal(SIGINT);
        $this->assertSame(0, $worker->wait());
        $this->assertSame('it ends', $this->heard());
        $this->assertSame([0, 0, 0], $this->counts());
        $this->assertStringNotContainsString('error', $worker->log());
    }

    public function testAQuietWorkerTakesNothingNew(): void
    {
        $worker = $this->start();
        $this->tasks->push('last', [0.5]);
        $this->assertSame('it begins', $this->heard());
        $worker->signal(SIGTSTP);
        $worker->awaitLog('/quiet: takes no new jobs/');
        $this->assertSame('it ends', $this->heard());
        $this->tasks->push('say', [1]);
        $this->await([1, 0, 0], fn () => $this->counts());
        $this->assertNull($this->queue('journal')->reserve(timeout: 1.5));
        $worker->signal(SIGCONT);
        $this->assertSame('[1]', $this->heard());
        $this->assertSame(0, $worker->stop());
    }

    public function testItSaysWhatEachProcessDoes(): void
    {
        $worker = $this->start('--concurrency', '2');
        $worker->awaitReady();
        $this->tasks->push('last', [60.0]);
        $this->assertSame('it begins', $this->heard());
        $worker->signal(SIGUSR1);
        $worker->awaitLog(
            '/worker \d \(pid \d+\): last \S{22} of default for \d+\.\d s\n'
                . '(    .*\n)*    #\d+ .*bootstrap.php\(\d+\)/',
        );
        $worker->awaitLog(
            '/worker \d \(pid \d+\): without a job, started \d+\.\d s ago\n'
                . '(    .*\n)*    #\d+ .*Consumer->work/',
        );
        $worker->signal(SIGTERM);
        $worker->signal(SIGINT);
        $worker->wait();
    }

    public function testTheChildrenOfAKilledParentEnd(): void
    {
        $worker = $this->start('--lease', '1');
        $this->tasks->push('last', [0.5, 'first']);
        $this->assertSame('first begins', $this->heard());
        $worker->signal(SIGKILL);
        $worker->wait();
        $this->tasks->push('last', [60.0, 'second']);
        $this->assertSame('first ends', $this->heard());
        $this->await([1, 0, 0], fn () => $this->counts());
        $this->assertNull($this->queue('journal')->reserve(timeout: 1.5));
    }

    public function testSystemdLearnsWhenItIsReadyAliveAndStopping(): void
    {
        $path = sys_get_temp_dir() . '/dueq-notify-' . bin2hex(random_bytes(6));
        $socket = stream_socket_server("udg://$path", $code, $text, STREAM_SERVER_BIND);
        stream_set_timeout($socket, 20);
        $environment = [
            'DUEQ_URL' => $this->server->url(),
            'NOTIFY_SOCKET' => $path,
            'WATCHDOG_USEC' => '400000',
        ];
        $worker = new Process(
            Application::shared()->folder,
            ['vendor/bin/dueq-worker', 'bootstrap.php'],
            $environment,
        );
        $heard = [];
        while (!in_array('WATCHDOG=1', $heard, true) || !in_array('READY=1', $heard, true)) {
            $heard[] = fread($socket, 1000);
        }
        $worker->signal(SIGTERM);
        while (end($heard) !== "STOPPING=1\nSTATUS=Waits for its jobs") {
            $heard[] = fread($socket, 1000);
        }
        unlink($path);
        $this->assertSame(0, $worker->wait());
        $this->assertCount(1, array_keys($heard, 'READY=1', true));
    }

    public function testALongJobSurvivesADeploy(): void
    {
        $worker = $this->startWith('walk.php');
        $this->tasks->push('walk');
        $this->assertSame('0', $this->heard());
        $this->assertSame('1', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->assertSame(
            [0, 0],
            [$this->queue()->stats()->retried, $this->queue()->stats()->leased],
        );
        $worker = $this->startWith('walk.php');
        for ($steps = [0, 1]; end($steps) < 30;) {
            $steps[] = (int) $this->heard();
        }
        $this->assertSame(range(0, 30), $steps);
        $this->awaitEmpty();
        $this->assertSame(0, $worker->stop());
        $this->assertSame(0, $this->queue()->stats()->retried);
    }

    /** @return list<int> ready, leased, dead */
    private function counts(): array
    {
        $stats = $this->queue()->stats();

        return [$stats->ready, $stats->leased, $stats->dead];
    }
}
