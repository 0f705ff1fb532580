<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Finding;
use RuntimeException;

/** What others broke is found and repaired. */
final class CheckTest extends QueueTestCase
{
    public function testFindsAndMends(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(['a', 'b', 'c']);
        $this->assertSame([], $queue->check());
        $this->server->command('DEL', 'dueq:{q}:ready');
        foreach ([false, true] as $repair) {
            [$finding] = $queue->check($repair);
            $this->assertInstanceOf(Finding::class, $finding);
            $this->assertSame('lost', $finding->kind);
            $this->assertSame('messages without a ticket', $finding->text);
            $this->assertTrue($finding->wrong);
            $this->assertSame(3, $finding->count);
            $this->assertSame($repair ? 3 : 0, $finding->repaired);
            $this->assertEqualsCanonicalizing($ids, $finding->examples);
        }
        $this->assertSame([], $queue->check());
        $this->assertCount(3, $queue->reserveMany(10));
    }

    public function testProgress(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 500, 'x'));
        $seen = [];
        $queue->check(progress: function (int $looked) use (&$seen): void {
            $seen[] = $looked;
        });
        $sorted = $seen;
        sort($sorted);
        $this->assertSame($sorted, $seen);
        $this->assertGreaterThanOrEqual(500, end($seen));
        $this->expectException(RuntimeException::class);
        $queue->check(progress: fn () => throw new RuntimeException('enough'));
    }

    public function testProgressMayUseTheQueue(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $this->server->command('DEL', 'dueq:{q}:ready');
        $found = $queue->check(progress: fn () => $queue->stats());
        $this->assertSame(['lost'], array_map(fn (Finding $f) => $f->kind, $found));
    }
}
