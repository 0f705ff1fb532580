<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\Exception\TooLargeException;
use Dueq\State;

/** The groups of jobs: onGroup(), and the property and the method messageGroup. */
final class GroupTest extends LaravelTestCase
{
    /** A job whose property names its group, as onGroup() sets it where Laravel has that. */
    private static function grouped(string $name, mixed $group, string ...$acts): Act
    {
        $job = new Act($name, ...$acts);
        if (method_exists($job, 'onGroup')) {
            $job->onGroup($group);
        } else {
            $job->messageGroup = $group;
        }

        return $job;
    }

    private function groupOf(string $id): ?string
    {
        return $this->queue()->messages()->find($id)->group;
    }

    /** @return list<string> the next lines of the journal, one for each job that is run */
    private function ran(int $count): array
    {
        $lines = [];
        for ($i = 0; $i < $count; $i++) {
            $this->work();
            $lines[] = Journal::read();
        }

        return $lines;
    }

    public function testGroupsTakeTurns(): void
    {
        $groups = ['a1' => 'acme', 'a2' => 'acme', 'a3' => 'acme', 'b1' => 'globex'];
        foreach ($groups as $name => $group) {
            $this->queue()->push(self::grouped($name, $group));
        }
        $this->queue()->push(new Act('none'));
        $this->assertSame(['a1 1', 'b1 1', 'none 1', 'a2 1', 'a3 1'], $this->ran(5));
    }

    public function testTheGroupIsThatOfTheJob(): void
    {
        $queue = $this->queue();
        $this->assertSame('acme', $this->groupOf($queue->push(self::grouped('x', 'acme'))));
        $this->assertSame('17', $this->groupOf($queue->push(self::grouped('x', 17))));
        $this->assertSame('later', $this->groupOf($queue->later(60, self::grouped('x', 'later'))));
        $this->assertSame('by method', $this->groupOf($queue->push(new Grouped('by method'))));
        $without = [self::grouped('x', null), self::grouped('x', ''), new Grouped(null)];
        foreach ([new Act('x'), ...$without] as $job) {
            $this->assertNull($this->groupOf($queue->push($job)));
        }
        $this->assertNull($this->groupOf($queue->push('Job@fire', ['messageGroup' => 'no'])));
        $this->assertNull($this->groupOf($queue->pushRaw('{"uuid":"u"}')));
    }

    public function testGroupsOfManyJobs(): void
    {
        $this->queue()->bulk([
            self::grouped('a1', 'acme'), self::grouped('a2', 'acme'), new Grouped('globex'),
        ]);
        $groups = $this->queue()->messages()->groups();
        $this->assertSame(
            [['acme', 2], ['globex', 1]],
            array_map(fn ($group) => [$group->name, $group->waiting], $groups),
        );
    }

    public function testReleasedJobsKeepTheirGroup(): void
    {
        $job = self::grouped('a', 'acme', 'release 0');
        $job->tries = 2;
        $id = $this->queue()->push($job);
        $this->work();
        $this->assertSame('acme', $this->groupOf($id));
        $this->assertSame(['a 1', 'a 2'], [Journal::read(), ...$this->ran(1)]);
    }

    public function testWhatQueueRetryAsksForKeepsTheGroup(): void
    {
        $queue = $this->queue();
        $job = self::grouped('a', 'acme');
        $queue->push($job);
        $taken = $queue->pop();
        $payload = $taken->getRawBody();
        $taken->delete();
        $options = $queue->getQueueableOptions($job, 'default', $payload);
        $this->assertSame(['MessageGroupId' => 'acme'], $options);
        $this->assertSame('acme', $this->groupOf($queue->pushRaw($payload, 'default', $options)));
        $this->assertSame([], $queue->getQueueableOptions(new Act('x'), 'default', $payload));
        $this->assertSame([], $queue->getQueueableOptions(null, 'default', $payload));
    }

    public function testAnEnumIsAGroup(): void
    {
        $id = $this->queue()->push(new Grouped(State::Dead));
        $this->assertSame('dead', $this->groupOf($id));
    }

    public function testAGroupOfTooManyBytesIsRefused(): void
    {
        $this->expectException(TooLargeException::class);
        $this->queue()->push(new Grouped(str_repeat('x', 129)));
    }
}
