<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use DateTimeImmutable;
use Dueq\Chain;
use Dueq\Exception\NotFoundException;
use Dueq\NotEnded;
use Dueq\TaskFailed;
use Dueq\Testing\Drain;
use Dueq\Worker;
use RuntimeException;

/** Results of tasks: what a worker keeps, and who asks for it. */
final class ResultTest extends WorkerTestCase
{
    private Worker $worker;

    protected function setUp(): void
    {
        parent::setUp();
        $this->worker = (new Worker($this->server->url()))
            ->on('total', fn (int ...$numbers) => array_sum($numbers), keep: 60.0)
            ->on('when', fn () => ['at' => new DateTimeImmutable('2026-11-28T10:00:00Z')])
            ->on('nothing', function (): void {
            })
            ->on('large', fn (int $size) => str_repeat('x', $size))
            ->on('object', fn () => fopen('php://memory', 'r'))
            ->on('fail', fn () => throw new RuntimeException('no luck'), maxAttempts: 1);
    }

    private function drain(): void
    {
        try {
            Drain::run($this->worker, server: $this->server->url());
        } catch (RuntimeException) {
            // What a job throws, after its message is settled.
        }
    }

    public function testAHandleTellsWhatTheHandlerReturned(): void
    {
        $total = $this->worker->tasks->handle($this->worker->push('total', [1, 2]));
        $when = $this->worker->push('when', [], keep: 60.0);
        $nothing = $this->worker->push('nothing', [], keep: 60.0);
        try {
            $total->result(timeout: 0.05);
            $this->fail('it has not ended');
        } catch (NotEnded $error) {
            $this->assertStringContainsString($total->id, $error->getMessage());
        }
        $this->drain();
        $this->assertSame(3, $total->result(timeout: 10.0));
        $this->assertSame(
            ['at' => '2026-11-28T10:00:00Z'],
            $this->tasks->result($when, queue: 'default'),
        );
        $this->assertNull($this->tasks->result($nothing, 1.0, 'default'));
    }

    public function testALinkOfAChainKeepsItsResult(): void
    {
        $id = $this->worker->tasks->chain('total', [1, 2], keep: 60.0)
            ->then('total', [Chain::PREVIOUS, 4], id: 'second', keep: 60.0)
            ->push();
        $this->drain();
        $this->assertSame(3, $this->worker->tasks->result($id));
        $this->assertSame(7, $this->worker->tasks->result('second'));
    }

    public function testAFailedJobTellsItsError(): void
    {
        $id = $this->worker->push('fail', [], keep: 60.0);
        $this->drain();
        try {
            $this->worker->tasks->result($id);
            $this->fail('the job has failed');
        } catch (TaskFailed $failed) {
            $this->assertSame('RuntimeException: no luck', $failed->error);
            $this->assertSame('dead', $failed->end->outcome);
        }
    }

    public function testAResultThatCannotBeKeptFailsTheJob(): void
    {
        foreach ([['large', [1048576], '1048576 are allowed'], ['object', [], 'JSON']] as $each) {
            [$task, $arguments, $text] = $each;
            $id = $this->worker->push($task, $arguments, keep: 60.0);
            $this->drain();
            try {
                $this->worker->tasks->result($id);
                $this->fail('there is no result');
            } catch (TaskFailed $failed) {
                $this->assertStringContainsString('cannot be kept', $failed->error);
            }
        }
    }

    public function testWithoutKeepNothingIsKnown(): void
    {
        $id = $this->worker->push('nothing');
        $this->drain();
        $this->expectException(NotFoundException::class);
        $this->worker->tasks->result($id);
    }

    public function testACancelledTaskHasNoResult(): void
    {
        $id = $this->worker->push('nothing', [], keep: 60.0);
        $this->queue()->cancel($id);
        $this->expectException(TaskFailed::class);
        $this->expectExceptionMessage('cancelled');
        $this->worker->tasks->result($id, 10.0);
    }
}
