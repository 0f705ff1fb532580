<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Queue;
use Dueq\State;
use Dueq\Task;
use Dueq\Tasks;
use Dueq\Testing\Drain;
use Dueq\Testing\UsesDueq;
use Dueq\Tests\Server;
use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\Worker\UnknownTask;
use LogicException;
use PHPUnit\Framework\TestCase;
use RuntimeException;

final class TestingTest extends TestCase
{
    use UsesDueq;

    /** @var list<string> */
    private array $ran = [];

    public function testProgramUsesThePrivateServer(): void
    {
        (new Queue('orders'))->push('a');
        $this->assertSame('a', $this->dueqQueue('orders')->reserve()->body);
        $this->assertStringStartsWith('embedded:', $this->dueqUrl());
    }

    /** @depends testProgramUsesThePrivateServer */
    #[\PHPUnit\Framework\Attributes\Depends('testProgramUsesThePrivateServer')]
    public function testQueuesAreEmptyWhenATestBegins(): void
    {
        $this->assertSame([], Queue::names());
    }

    public function testDrainRunsTasksAndThoseThatTheyPush(): void
    {
        $worker = $this->worker();
        (new Tasks())->push('pack', [1]);
        (new Tasks())->push('pack', [2]);
        $this->assertSame(
            ['pack', 'pack', 'send', 'send'],
            array_column($this->drain($worker), 'task'),
        );
        $this->assertSame(['pack 1', 'pack 2', 'send 1', 'send 2'], $this->ran);
        $this->assertSame([], $this->drain($worker));
    }

    public function testTasksOfGroupsTakeTurns(): void
    {
        $worker = $this->worker();
        $groups = [1 => 'acme', 2 => 'acme', 3 => 'acme', 4 => 'globex', 5 => null];
        foreach ($groups as $number => $group) {
            $worker->push('send', [$number], group: $group);
        }
        $this->drain($worker);
        $this->assertSame(['send 1', 'send 4', 'send 5', 'send 2', 'send 3'], $this->ran);
    }

    public function testATaskMayHaveAGroup(): void
    {
        $tasks = new Tasks();
        $tasks->add(new Task('pack', group: 'acme'));
        $groups = fn (): array => array_column($this->dueqQueue('default')->groups(), 'name');
        $tasks->push('pack', [1]);
        $this->assertSame(['acme'], $groups());
        $tasks->push('pack', [2], group: 'globex');
        $this->assertSame(['acme', 'globex'], $groups());
    }

    public function testDrainRunsDelayedTasksIfAsked(): void
    {
        $worker = $this->worker();
        $worker->push('pack', [2], delay: 7200.0);
        $worker->push('pack', [1], delay: 3600.0);
        $worker->push('send', [0], queue: 'mail', delay: 60.0);
        $this->assertSame([], $this->drain($worker));
        $this->assertCount(5, $this->drain($worker, delayed: true));
        $this->assertSame(['send 0', 'pack 1', 'send 1', 'pack 2', 'send 2'], $this->ran);
    }

    public function testDrainThrowsWhatATaskThrows(): void
    {
        $worker = $this->worker();
        $id = $worker->push('fail');
        try {
            $this->drain($worker);
            $this->fail('it did not fail');
        } catch (RuntimeException $error) {
            $this->assertSame('no printer', $error->getMessage());
        }
        $message = $this->dueqQueue()->find($id);
        $this->assertSame(
            [State::Delayed, 'RuntimeException: no printer'],
            [$message->state, $message->error],
        );
    }

    public function testDrainEndsWhereTasksPushEachOtherWithoutEnd(): void
    {
        $worker = new Worker();
        $worker->on('again', fn () => $worker->push('again'));
        $worker->push('again');
        try {
            $this->drain($worker, most: 3);
            $this->fail('it went on');
        } catch (RuntimeException $error) {
            $this->assertSame(
                'more than 3 jobs: do the tasks push each other?',
                $error->getMessage(),
            );
        }
        $this->assertSame(1, $this->dueqQueue()->stats()->ready);
    }

    public function testDrainThrowsForATaskThatTheWorkerDoesNotKnow(): void
    {
        $worker = $this->worker();
        $worker->push('unheard_of');
        $this->expectException(UnknownTask::class);
        $this->drain($worker);
    }

    public function testDrainRunsMiddlewareAndFiresSchedules(): void
    {
        $worker = $this->worker()->middleware(function (Job $job, callable $next): mixed {
            $this->ran[] = "around {$job->task}";

            return $next($job);
        });
        $this->dueqQueue()->schedule('nightly', 'every 1s', $worker->tasks->draft('pack', [3]));
        // The drain runs the schedule's job only when the job is due.
        for (
            $end = microtime(true) + 20;
            $this->drain($worker) === [] && microtime(true) < $end;
            usleep(50000)
        ) {
            // The next drain follows.
        }
        $this->assertSame(
            ['around pack', 'pack 3', 'around send', 'send 3'],
            array_slice($this->ran, 0, 4),
        );
    }

    public function testWorkerOfAnotherServerIsRefused(): void
    {
        $production = new Server();
        $worker = (new Worker($production->url()))->on('pay', fn () => $this->ran[] = 'paid');
        $worker->push('pay');
        foreach ([null, 'redis://127.0.0.1:1'] as $server) {
            try {
                Drain::run($worker, server: $server);
                $this->fail('not refused');
            } catch (LogicException $error) {
                $this->assertStringContainsString(
                    "server is {$worker->tasks->client()->url()}",
                    $error->getMessage(),
                );
                $this->assertStringContainsString(
                    'own is ' . ($server ?? 'embedded:'),
                    $error->getMessage(),
                );
            }
        }
        $this->assertSame([], $this->ran);
        $this->assertCount(1, Drain::run($worker, server: $production->url()));
    }

    public function testNothingRunsWhereATestHasNoServerOfItsOwn(): void
    {
        $code = 'try { Dueq\Testing\Drain::run(new Dueq\Worker('
            . var_export($this->dueqUrl(), true)
            . ')); } '
            . 'catch (LogicException $error) { echo $error->getMessage(); }';
        $autoload = var_export(Application::shared()->folder . '/vendor/autoload.php', true);
        $command = [PHP_BINARY, '-r', "require $autoload; $code"];
        $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
        $said = stream_get_contents($pipes[1]);
        proc_close($process);
        $this->assertStringContainsString('and there is none: use the trait UsesDueq', $said);
    }

    private function worker(): Worker
    {
        $worker = new Worker();

        return $worker
            ->on('pack', function (int $order) use ($worker): void {
                $this->ran[] = "pack $order";
                $worker->push('send', [$order]);
            })
            ->on('send', function (int $order): void {
                $this->ran[] = "send $order";
            }, queue: 'mail')
            ->on('fail', fn () => throw new RuntimeException('no printer'));
    }
}
