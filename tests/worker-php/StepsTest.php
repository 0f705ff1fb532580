<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Exception\LeaseLostException;
use Dueq\State;
use Dueq\Testing\Drain;
use Dueq\Worker;
use Dueq\Worker\Cursor;
use Dueq\Worker\CursorTooLarge;
use Dueq\Worker\Job;
use Dueq\Worker\Stop;
use InvalidArgumentException;
use JsonException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;
use stdClass;

/** Steps and progress of jobs: what a job keeps with its message for its next run. */
final class StepsTest extends WorkerTestCase
{
    /** @return iterable<string, array{list<list<mixed>>, string}> */
    public static function golden(): iterable
    {
        foreach (file(__DIR__ . '/../golden/cursors.tsv', FILE_IGNORE_NEW_LINES) as $line) {
            if ($line[0] !== '#') {
                [$name, $calls, $text] = explode("\t", $line);
                yield $name => [json_decode($calls), json_decode($text)];
            }
        }
    }

    /**
     * @dataProvider golden
     * @param list<list<mixed>> $calls
     */
    #[DataProvider('golden')]
    public function testACursorHasTheFormOfEveryLanguage(array $calls, string $text): void
    {
        $made = Cursor::read(null);
        $checkpoint = null;
        $steps = [];
        foreach ($calls as $call) {
            $made = match ($call[0]) {
                'checkpoint' => $made->withCheckpoint($call[1]),
                'progress' => $made->withProgress(Cursor::madeProgress($call[1], $call[2])),
                default => $made->withStep(Cursor::madeStep($call[1], $call[2])),
            };
        }
        $this->assertSame($text, $made->text());
        $read = Cursor::read($text);
        $this->assertEquals($made, $read);
        foreach ($calls as $call) {
            if ($call[0] === 'checkpoint') {
                $checkpoint = $call[1];
            } elseif ($call[0] === 'step') {
                $steps[$call[1]] = json_decode(json_encode($call[2]), true);
                $this->assertEquals([$steps[$call[1]]], $read->step($call[1]));
            }
        }
        $this->assertEquals(json_decode(json_encode($checkpoint), true), $read->value());
        $this->assertSame([], $read->step('another'));
    }

    public function testAStepIsNotDoneAgain(): void
    {
        $done = [];
        $got = [];
        $worker = $this->worker()->on('ship', function (Job $job) use (&$done, &$got): void {
            $once = function (string $what, mixed $value) use (&$done): mixed {
                $done[] = $what;

                return $value;
            };
            $got[] = $job->step('charge', fn () => $once('charge', (object) ['a' => 1]));
            $got[] = $job->step('nothing', fn () => $once('nothing', null));
            if ($job->message->attempt === 1) {
                throw new RuntimeException('no paper');
            }
            $got[] = $job->step('7', fn () => $once('print', new stdClass()));
        }, backoff: 0.0);
        $worker->push('ship');
        try {
            $this->drain($worker);
            $this->fail('it did not throw');
        } catch (RuntimeException $error) {
            $this->assertSame('no paper', $error->getMessage());
        }
        $this->drain($worker);
        $this->assertSame(['charge', 'nothing', 'print'], $done);
        // The value is what JSON has of it, in the first run too.
        $this->assertSame([['a' => 1], null, ['a' => 1], null, []], $got);
    }

    public function testCheckpointStepsAndProgressShareTheHeader(): void
    {
        $seen = [];
        $worker = $this->worker()->on('walk', function (Job $job) use (&$seen): void {
            $header = $job->message->headers['cursor'] ?? null;
            $seen[] = [$job->cursor(), $header, $job->message->progress];
            if ($job->message->attempt === 1) {
                $job->checkpoint(['row' => 1]);
                $job->step('charge', fn () => 17);
                $job->progress(0.25, 'row 1');
                $job->checkpoint(['row' => 2]);
                $job->retry(delay: 0.0);
            }
            $seen[] = $job->step('charge', fn () => 18);
        });
        $worker->push('walk');
        $this->drain($worker);
        $this->assertSame([
            [null, null, null],
            [['row' => 2], "dueq 0.25 row 1\n{\"row\":2}\n{\"charge\":17}", 0.25],
            17,
        ], $seen);
    }

    public function testWrongStepsAreRefused(): void
    {
        $worker = $this->worker()->on('ship', function (Job $job, string $what): void {
            match ($what) {
                'twice' => [$job->step('charge', fn () => 1), $job->step('charge', fn () => 2)],
                'unnamed' => $job->step('', fn () => 1),
                'long' => $job->step(str_repeat('x', 256), fn () => 1),
                'object' => $job->step('charge', fn () => $this),
                'share' => $job->progress(1.5),
                'nan' => $job->progress(NAN),
            };
        }, maxAttempts: 1);
        foreach (
            [
                'twice' => [InvalidArgumentException::class, 'has had a step charge before'],
                'unnamed' => [InvalidArgumentException::class, 'has 1 to 255 bytes of UTF-8'],
                'long' => [InvalidArgumentException::class, 'has 1 to 255 bytes of UTF-8'],
                'object' => [JsonException::class, 'step charge: what the function returned: '],
                'share' => [InvalidArgumentException::class, 'progress: 1.5 is not 0 to 1'],
                'nan' => [InvalidArgumentException::class, 'progress: NAN is not 0 to 1'],
            ] as $what => [$class, $text]
        ) {
            $worker->push('ship', [$what]);
            try {
                $this->drain($worker);
                $this->fail("$what did not throw");
            } catch (InvalidArgumentException | JsonException $error) {
                $this->assertInstanceOf($class, $error);
                $this->assertStringContainsString($text, $error->getMessage());
            }
        }
    }

    public function testAStepThatIsTooLargeSaysWhatToDo(): void
    {
        $said = null;
        $worker = $this->worker()->on('ship', function (Job $job) use (&$said): void {
            $job->step('small', fn () => 17);
            try {
                $job->step('report', fn () => str_repeat('x', 66000));
            } catch (CursorTooLarge $error) {
                $said = $error->getMessage();
            }
            $job->checkpoint(1);
            $this->assertSame("dueq\n1\n{\"small\":17}", $this->cursorOf($job));
        }, maxAttempts: 1);
        $worker->push('ship');
        $this->drain($worker);
        $this->assertStringStartsWith('step report: a message keeps its headers, ', $said);
        $this->assertStringContainsString('keep large values elsewhere', $said);
    }

    public function testAStepThrowsIfTheLeaseIsLost(): void
    {
        $done = 0;
        $worker = $this->worker()->on('ship', function (Job $job) use (&$done): void {
            $this->queue()->cancel($job->message->id);
            $job->step('charge', function () use (&$done): int {
                return ++$done;
            });
        });
        $worker->push('ship');
        try {
            $this->drain($worker);
            $this->fail('it did not throw');
        } catch (LeaseLostException) {
            $this->assertSame(1, $done);
        }
    }

    public function testAStepEndsTheRunOfAWorkerThatStops(): void
    {
        $worker = $this->worker()->on('ship', function (Job $job): void {
            $job->step('charge', fn () => 17);
            $this->fail('it did not stop');
        });
        $worker->push('ship');
        $message = $this->queue()->reserve();
        try {
            $worker->run($worker->job($message, fn () => true));
            $this->fail('it did not stop');
        } catch (Stop) {
            $this->assertSame("dueq\n\n{\"charge\":17}", $this->queue()->find($message->id)
                ->headers['cursor']);
        }
    }

    public function testProgressIsWrittenOnceASecond(): void
    {
        $shown = [];
        $look = function () use (&$shown): void {
            foreach ($this->queue()->peek(State::Leased) as $message) {
                $shown[] = [$message->progress, $message->progressNote];
            }
        };
        $worker = $this->worker()->on('ship', function (Job $job) use ($look): void {
            if ($job->message->attempt === 2) {
                $look();

                return;
            }
            $job->progress(0.1, 'page 1');
            $look();
            $job->progress(0.2, 'page 2');
            $look();
            $job->step('charge', fn () => 17);
            $look();
            $job->progress(0.3, "page\n3");
            usleep(1100000);
            $job->progress(0.4, 'page 4');
            $look();
            $job->progress(0.5, 'page 5');
            throw new RuntimeException('no paper');
        }, backoff: 0.0);
        $worker->push('ship');
        try {
            $this->drain($worker);
            $this->fail('it did not throw');
        } catch (RuntimeException) {
            $this->drain($worker);
        }
        $this->assertSame([
            [0.1, 'page 1'],
            [0.1, 'page 1'],
            [0.2, 'page 2'],
            [0.4, 'page 4'],
            [0.5, 'page 5'],
        ], $shown);
    }

    public function testAnotherProcessGoesOnBehindAKeptStep(): void
    {
        $this->tasks->push('ship', [17, true], queue: 'orders');
        $worker = $this->startWith('steps.php', '--lease', '1s');
        $said = array_map(fn () => $this->heard(), range(1, 4));
        $this->awaitEmpty('orders');
        $this->assertSame(0, $worker->stop());
        $this->assertSame(['charge 17', 'pack 17', 'pack 17', 'shipped 1700 parcel 17'], $said);
        $this->assertSame(1, $this->queue('orders')->stats()->acked);
    }

    public function testPythonGoesOnWherePhpDied(): void
    {
        $id = $this->tasks->push('ship', [17, true], queue: 'orders');
        $worker = $this->startWith('steps.php', '--lease', '1s', '--max-jobs', '1');
        $this->assertSame(['charge 17', 'pack 17'], [$this->heard(), $this->heard()]);
        $worker->signal(SIGKILL);
        $worker->wait();
        $this->assertSame(
            "dueq 0.5 charged\n\n{\"charge\":{\"payment\":1700}}",
            $this->queue('orders')->find($id)->headers['cursor'],
        );
        $said = $this->python(<<<'END'
            import os, dueq, dueq.testing, time
            app = dueq.App(os.environ["DUEQ_URL"])
            done = []
            @app.task(queue="orders")
            def ship(order, dies):
                job = dueq.current_job()
                payment = job.step("charge", print, "charged again")
                job.step("pack", dict, parcel=order)
                print(payment["payment"], job.message.headers["cursor"].split("\n"))
                done.append(order)
            while not done:
                dueq.testing.drain(app, server=app.url)
                time.sleep(0.05)
            END);
        $this->assertSame(
            "1700 ['dueq 0.5 charged', '', '{\"charge\":{\"payment\":1700}}', "
                . "'{\"pack\":{\"parcel\":17}}']\n",
            $said,
        );
    }

    public function testPhpGoesOnWherePythonFailed(): void
    {
        $this->python(<<<'END'
            import os, dueq
            from dueq.worker.runner import Run, Runner
            app = dueq.App(os.environ["DUEQ_URL"])
            @app.task(queue="orders")
            def ship(order, dies):
                job = dueq.current_job()
                job.checkpoint([1])
                job.step("charge", dict, payment=1700)
                job.retry(delay=0)
            ship.push(17, False)
            with app.queue("orders").reserve() as message:
                run = Run(app, message, lambda: False, Runner().run)
                run.in_thread().settle(message)
            END);
        $worker = $this->startWith('steps.php');
        $this->assertSame('pack 17', $this->heard());
        $this->assertSame('shipped 1700 parcel 17', $this->heard());
        $this->awaitEmpty('orders');
        $this->assertSame(0, $worker->stop());
    }

    private function worker(): Worker
    {
        return new Worker($this->server->url());
    }

    private function drain(Worker $worker): void
    {
        Drain::run($worker, server: $this->server->url());
    }

    private function cursorOf(Job $job): string
    {
        return $this->queue()->find($job->message->id)->headers['cursor'];
    }
}
