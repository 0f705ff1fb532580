<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Tasks;
use Dueq\Testing\Drain;
use Dueq\Worker;
use Dueq\Worker\Job;

/** Workers on a queue of partitions. */
final class PartitionsTest extends WorkerTestCase
{
    private const KEYS = 10;

    private const EACH = 20;

    protected function setUp(): void
    {
        parent::setUp();
        $this->tasks = new Tasks($this->server->url(), partitions: ['keyed' => 8]);
    }

    public function testTwoWorkersShareThePartitionsAndOneIsKilled(): void
    {
        $options = ['keyed.php', '--concurrency', '2', '--lease', '1'];
        [$first, $second] = [$this->startWith(...$options), $this->startWith(...$options)];
        $this->await(
            [8, 4],
            fn () => [count($this->owners()), count(array_unique($this->owners()))],
        );
        $this->push(0);
        $heard = [$this->heard(), $this->heard()];
        $children = explode(
            ' ',
            trim((string) file_get_contents("/proc/{$first->pid}/task/{$first->pid}/children")),
        );
        foreach ([$first->pid, ...array_map(intval(...), $children)] as $process) {
            posix_kill($process, SIGKILL);
        }
        $this->push(self::EACH);
        $this->awaitEmpty('keyed');
        $this->assertCount(2, array_unique($this->owners()));
        $this->assertSame(0, $second->stop());
        $this->assertSame([], $this->owners());
        while (($message = $this->queue('journal')->reserve()) !== null) {
            $heard[] = $message->body;
        }
        $last = [];
        foreach ($heard as $line) {
            [$key, $number] = explode(' ', $line);
            $before = $last[$key] ?? -1;
            $this->assertContains((int) $number, [$before, $before + 1], $line);
            $last[$key] = (int) $number;
        }
        $this->assertSame(
            [self::KEYS, [2 * self::EACH - 1]],
            [count($last), array_values(array_unique($last))],
        );
    }

    public function testAMessageThatIsNoTaskGoesToTheHandlerOfTheWholeQueue(): void
    {
        $worker = $this->startWith('keyed.php');
        $this->queue('keyed')->push('a', key: 'customer-17');
        $this->assertSame('plain a keyed#7', $this->heard());
        $this->assertSame(0, $worker->stop());
    }

    public function testPartitionsNeedAWorkerOfTheirOwn(): void
    {
        $worker = $this->startWith('keyed.php', '--queues', 'keyed,other');
        $this->assertSame(1, $worker->wait());
        $this->assertStringContainsString(
            'keyed has partitions, and needs a worker of its own: --queues keyed',
            $worker->log(),
        );
    }

    public function testADrainRunsJobsInTheOrderOfTheirTimes(): void
    {
        $worker = (new Worker($this->server->url(), partitions: ['keyed' => 8]))
            ->on('step', fn (Job $job, int $number) => null, queue: 'keyed');
        $steps = [1 => ['a', 60.0], 2 => ['customer-17', 30.0], 3 => ['a', null]];
        foreach ($steps as $number => [$key, $delay]) {
            $worker->push('step', [$number], delay: $delay, key: $key);
        }
        $ran = Drain::run($worker, delayed: true, server: $this->server->url());
        $jobs = array_map(fn (Job $job) => [$job->message->queue, $job->arguments[0]], $ran);
        $this->assertSame([['keyed#3', 3], ['keyed#7', 2], ['keyed#3', 1]], $jobs);
    }

    /** Pushes EACH jobs for each key, numbered from $first on. */
    private function push(int $first): void
    {
        for ($number = $first; $number < $first + self::EACH; $number++) {
            $this->queue('keyed')->pushMany(array_map(
                fn (int $key) => $this->tasks->draft(
                    'step',
                    ["customer-$key", $number],
                    key: "customer-$key",
                ),
                range(1, self::KEYS),
            ));
        }
    }

    /** @return list<string> the owner of each partition that has one */
    private function owners(): array
    {
        $owners = $this->server->command(
            'HMGET',
            'dueq:{keyed}:partitions',
            ...array_map(strval(...), range(0, 7)),
        );

        return array_values(array_filter($owners, is_string(...)));
    }
}
