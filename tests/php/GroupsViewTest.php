<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\InvalidException;
use Dueq\Exception\TooLargeException;
use Dueq\Group;
use Dueq\Queue;

/** groups() and purgeGroup(): what a queue shows and deletes of its groups. */
final class GroupsViewTest extends QueueTestCase
{
    /** @return list<?string> */
    private function names(Queue $queue, int $most = 100): array
    {
        return array_map(fn (Group $group) => $group->name, $queue->groups($most));
    }

    public function test_groups_have_all_that_is_known(): void
    {
        $queue = $this->queue();
        $this->assertSame([], $queue->groups());
        foreach (['a', 'b', 'a', null] as $name) {
            $queue->push('x', group: $name);
        }
        $queue->reserve();
        [$b, $none, $a] = $queue->groups();
        $this->assertSame(['b', 1, 0], [$b->name, $b->waiting, $b->leased]);
        $this->assertSame([null, 1, 0], [$none->name, $none->waiting, $none->leased]);
        $this->assertSame(['a', 1, 1], [$a->name, $a->waiting, $a->leased]);
        $this->assertEqualsWithDelta(microtime(true), $a->oldest, 5);
        $this->assertEqualsWithDelta(microtime(true), $a->now, 5);
        $queue->reserveMany(10);
        $this->assertNull($queue->groups()[0]->oldest);
    }

    public function test_groups_are_read_in_pages(): void
    {
        $queue = $this->queue();
        $names = array_map(fn (int $number) => sprintf('g%03d', $number), range(0, 449));
        $queue->pushMany(array_map(fn ($name) => ['body' => 'x', 'group' => $name], $names));
        $this->assertSame($names, $this->names($queue, 1000));
        $this->assertSame(array_slice($names, 0, 250), $this->names($queue, 250));
        $this->assertSame(array_slice($names, 0, 100), $this->names($queue));
        $this->assertSame(['g000'], $this->names($queue, 1));
    }

    public function test_groups_of_a_wrong_number(): void
    {
        $queue = $this->queue();
        foreach ([0, -1, PHP_INT_MIN] as $most) {
            $this->assertThrows(InvalidException::class, fn () => $queue->groups($most), '$most');
        }
    }

    public function test_purge_group_tells_its_progress(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 450, ['body' => 'x', 'group' => 'a']));
        $queue->pushMany(array_fill(0, 50, ['body' => 'y', 'group' => 'a', 'delay' => 60]));
        $queue->push('z', group: 'b');
        $told = [];
        $this->assertSame(500, $queue->purgeGroup('a', function (int $total) use (&$told, $queue) {
            $told[] = $total;
            $queue->stats();
        }));
        $this->assertSame(500, end($told));
        $this->assertGreaterThan(2, count($told));
        $this->assertSame(['b'], $this->names($queue));
        $this->assertSame([1, 0], [$queue->stats()->ready, $queue->stats()->delayed]);
    }

    public function test_purge_group_ends_where_progress_throws(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 450, ['body' => 'x', 'group' => 'a']));
        try {
            $queue->purgeGroup('a', fn () => throw new \LogicException('no'));
            $this->fail();
        } catch (\LogicException $error) {
            $this->assertSame('no', $error->getMessage());
        }
        $left = $queue->stats()->ready;
        $this->assertGreaterThan(0, $left);
        $this->assertSame($left, $queue->purgeGroup('a'));
    }

    public function test_purge_group_of_a_wrong_name(): void
    {
        $queue = $this->queue();
        $this->assertThrows(InvalidException::class, fn () => $queue->purgeGroup(''));
        $long = str_repeat('x', 129);
        $this->assertThrows(TooLargeException::class, fn () => $queue->purgeGroup($long));
    }
}
