<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Message;
use Dueq\State;
use Dueq\Task;
use Dueq\Testing\Drain;
use Dueq\Worker;
use Dueq\Worker\Decided;
use Dueq\Worker\Job;
use InvalidArgumentException;
use JsonException;
use LogicException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;
use stdClass;

/** The verbs of a job, the failures that are retried, and the hook after the last attempt. */
final class DecisionTest extends WorkerTestCase
{
    public function testTheWorkerDoesWhatAJobAsksFor(): void
    {
        $decisions = ['retry', 'exhaust', 'fail', 'release', 'push', 'elsewhere', 'late', 'hush'];
        foreach ($decisions as $what) {
            $this->tasks->push(
                'decide',
                [$what],
                id: $what,
                queue: 'decide',
                maxAttempts: $what === 'exhaust' ? 1 : 3,
            );
        }
        $worker = $this->startWith('decisions.php', '--concurrency', '2');
        $said = array_map(fn () => $this->heard(), range(1, 10));
        sort($said);
        // A retried job stores no successor. Of two successors with one id, one is stored.
        $this->assertSame([
            'elsewhere at 1',
            'exhausted decide exhaust DomainException bank',
            'exhausted decide fail Dueq\Worker\Decided no such order',
            'exhausted decide hush Dueq\Worker\Decided hushed up',
            'hush at 1',
            'late',
            'push at 1',
            'retry at 2',
            'successor at 1',
            'successor at 1',
        ], $said);
        $this->await(
            [3, 1],
            fn () => [
                $this->queue('decide')->stats()->dead,
                $this->queue('decide')->stats()->delayed,
            ],
        );
        $this->assertSame(0, $worker->stop());
        $errors = array_map(
            fn (Message $message) => $message->error,
            iterator_to_array($this->queue('decide')->peek(State::Dead), false),
        );
        sort($errors);
        $this->assertSame(['DomainException: bank', 'hushed up', 'no such order'], $errors);
        [$released] = iterator_to_array($this->queue('decide')->peek(State::Delayed), false);
        $this->assertSame(
            ['release', 0, 1],
            [$released->id, $released->attempt, $released->deliveries],
        );
        $info = 'info +\[\d+\] decide';
        $warning = 'warning +\[\d+\] decide';
        $wish = "at the job's wish after 0\.\d+ s";
        foreach ([
            "$info retry retried $wish, due in 0\.01 s: not yet",
            "$warning exhaust failed $wish, its attempts are exhausted: DomainException: bank",
            "$warning fail failed $wish: no such order",
            "$info release released $wish, due in 3600 s",
            "$info push done in 0\.\d+ s; successors: 2, of which duplicates: 1",
            "$info elsewhere done in 0\.\d+ s; successors: 1",
            "$warning late ended after 0\.\d+ s, but its lease was lost before:"
                . ' it may run elsewhere',
            "$warning hush failed $wish: hushed up",
        ] as $line) {
            $this->assertMatchesRegularExpression("/ $line\n/", $worker->log());
        }
        $this->assertDoesNotMatchRegularExpression('/ error |Stack trace/', $worker->log());
    }

    public function testFailuresAreRetriedAsDeclaredAndTheHookIsCalledOnce(): void
    {
        foreach (['busy', 'away', 'other', 'stubborn', 'fail', 'stuck'] as $what) {
            $this->tasks->push(
                'choose',
                [$what],
                queue: 'decide',
                maxAttempts: $what === 'stuck' ? 1 : 2,
                backoff: 0.0,
            );
        }
        $this->tasks->push('own', ['own'], queue: 'decide', maxAttempts: 1);
        $worker = $this->startWith('decisions.php', '--concurrency', '2');
        $said = array_map(fn () => $this->heard(), range(1, 13));
        sort($said);
        $worker->awaitLog('/own \S{22}: onExhausted failed: LogicException: the hook fails/');
        $worker->awaitLog(
            "/choose \S{22}: onExhausted failed: LogicException: the job choose \S{22} has ended/",
        );
        $this->assertSame(0, $worker->stop());
        $killed = 'Dueq\Worker\TimeLimitExceeded its process was killed after 0.5 s';
        $this->assertSame([
            'away at 1',
            'busy at 1',
            'busy at 2',
            'exhausted choose away OverflowException away',
            'exhausted choose busy RuntimeException busy',
            'exhausted choose fail Dueq\Worker\Decided no such order',
            'exhausted choose other DomainException other',
            'exhausted choose stubborn DomainException stubborn',
            "exhausted choose stuck $killed",
            'fail at 1',
            'other at 1',
            'stubborn at 1',
            'stuck at 1',
        ], $said);
        $stats = $this->queue('decide')->stats();
        $this->assertSame([7, 0, 0], [$stats->dead, $stats->ready, $stats->delayed]);
        $this->assertMatchesRegularExpression(
            '/failed \(attempt 2 of 2\), its attempts are exhausted: RuntimeException: busy\n'
                . '    RuntimeException: busy in /',
            $worker->log(),
        );
        $this->assertMatchesRegularExpression(
            '/failed \(attempt 1 of 2\), and is not retried: OverflowException: away\n/',
            $worker->log(),
        );
    }

    public function testTheWorkerSaysOnceWhichQueuesNobodyPushedTo(): void
    {
        $this->tasks->push('decide', ['x'], queue: 'decide');
        $options = ['--concurrency', '2', '--queues', 'decide,dezide'];
        $worker = $this->startWith('decisions.php', ...$options);
        $worker->awaitReady();
        $worker->stop();
        $text = 'nothing was ever pushed to the queue dezide;'
            . ' dueq queues lists the queues of this server';
        $this->assertSame(
            [1, 1],
            [substr_count($worker->log(), $text), substr_count($worker->log(), 'nothing was ever')],
        );
    }

    public function testAJobRefusesWhatIsWrong(): void
    {
        $jobs = [];
        $worker = new Worker($this->server->url());
        $worker->on('a', function (Job $job) use (&$jobs): void {
            $jobs[] = $job;
            $calls = [
                fn () => $job->retry(-1.0),
                fn () => $job->release(NAN),
                fn () => $job->push('a', [NAN]),
                fn () => $job->push('a', maxRetries: 3),
            ];
            foreach ($calls as $call) {
                try {
                    $call();
                    $this->fail('it was taken');
                } catch (InvalidArgumentException|JsonException) {
                }
            }
            $job->push('b');
            try {
                $job->push('b', queue: 'other');
            } catch (InvalidArgumentException $error) {
                $this->assertSame(
                    'the successors of a job, and the next link of its chain, go to one queue: '
                        . 'default, not other',
                    $error->getMessage(),
                );
            }
        })->on('b', fn () => null);
        $worker->push('a');
        $ran = Drain::run($worker, server: $this->server->url());
        $this->assertSame(['a', 'b'], array_column($ran, 'task'));
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage('has ended: its message is settled');
        $jobs[0]->push('late');
    }

    public function testDrainSettlesAndTellsAsAWorkerDoes(): void
    {
        $told = [];
        $worker = (new Worker($this->server->url()))
            ->on('wish', fn (Job $job) => $job->fail('no'))
            ->on('fail', fn () => throw new RuntimeException('no'), failOn: RuntimeException::class)
            ->onExhausted(function (Job $job, \Throwable $error) use (&$told): void {
                $told[] = [$job->task, $error::class];
            });
        $worker->push('wish');
        $this->assertCount(1, Drain::run($worker, server: $this->server->url()));
        $worker->push('fail');
        try {
            Drain::run($worker, server: $this->server->url());
            $this->fail('it did not throw');
        } catch (RuntimeException $error) {
            $this->assertSame('no', $error->getMessage());
        }
        $this->assertSame([['wish', Decided::class], ['fail', RuntimeException::class]], $told);
        $this->assertSame(2, $this->queue()->stats()->dead);
    }

    /** @return iterable<string, array{mixed, string}> */
    public static function notOfJson(): iterable
    {
        yield 'no number' => [NAN, 'Inf and NaN cannot be JSON encoded'];
        yield 'no text' => ["\xff", 'Malformed UTF-8 characters, possibly incorrectly encoded'];
        yield 'an object' => [new Task('x'), 'JSON has no form for an object of Dueq\Task'];
        yield 'an object within' => [
            ['when' => [new \ArrayObject()]],
            'JSON has no form for an object of ArrayObject',
        ];
        yield 'a resource' => [STDERR, 'Type is not supported'];
    }

    /** @dataProvider notOfJson */
    #[DataProvider('notOfJson')]
    public function testAnArgumentThatJsonDoesNotHaveIsNamed(mixed $value, string $why): void
    {
        $calls = [
            ['argument 1', [$value]],
            ['argument 2', [1, $value]],
            ['page', [1, 'page' => $value]],
        ];
        foreach ($calls as [$name, $arguments]) {
            try {
                $this->tasks->push('take', $arguments);
                $this->fail('it was taken');
            } catch (JsonException $error) {
                $this->assertSame("the task take, $name: $why", $error->getMessage());
            }
        }
        $this->tasks->push('take', [new stdClass(), ['a' => [1 => 2]]]);
        $this->assertSame(1, $this->queue()->stats()->pushed);
    }

    public function testWrongOptionsOfATaskAreRefusedAtOnce(): void
    {
        $maxAttempts = 'maxAttempts, which counts the first run too';
        foreach ([
            "the task a has no option maxRetries; do you mean $maxAttempts?" => ['maxRetries' => 3],
            'the task a has no option tries; do you mean maxAttempts?' => ['tries' => 3],
            'the task a: retryOn and failOn name classes, and there is no class "No\\\\Such"' => [
                'retryOn' => ['No\Such'],
            ],
            'the task a: onExhausted is neither a callable nor a class' => [
                'onExhausted' => 'no_such',
            ],
        ] as $text => $options) {
            try {
                new Task('a', ...$options);
                $this->fail('it was taken');
            } catch (InvalidArgumentException $error) {
                $this->assertSame($text, $error->getMessage());
            }
        }
    }
}
