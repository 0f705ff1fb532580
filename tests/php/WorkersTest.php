<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Message;
use Dueq\WorkerInfo;

/** The workers of a queue, and the messages that each of them has leased. */
final class WorkersTest extends QueueTestCase
{
    private const TEXT = "17 2 5000 1 1\nhöst\nphp 8.3\n0.1.0\n";

    /** @return list<WorkerInfo> when there are any */
    private function awaited(): array
    {
        for ($end = microtime(true) + 30; microtime(true) < $end; usleep(50_000)) {
            if ($workers = $this->queue()->workers()) {
                return $workers;
            }
        }
        $this->fail('no worker has registered');
    }

    public function test_no_worker(): void
    {
        $this->assertSame([], $this->queue()->workers());
    }

    public function test_a_worker_that_works(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b', 'c']);
        $consumer = $queue->consume(2, timeout: 0.0, concurrency: 3, tasks: "charge\nship");
        $seen = null;
        $consumer->work(function (Message $message) use (&$seen, $consumer) {
            $seen ??= [$this->awaited(), $message->id, $message->ticket];
            $consumer->stop();
        });
        [[$worker], $id, $ticket] = $seen;
        $this->assertSame([gethostname(), getmypid()], [$worker->host, $worker->pid]);
        $this->assertSame('php ' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, $worker->program);
        $this->assertSame([phpversion('dueq'), 3], [$worker->version, $worker->slots]);
        $this->assertSame("charge\nship", $worker->tasks);
        $this->assertSame([2, 1, false], [$worker->leased, $worker->running, $worker->offline]);
        $this->assertLessThan($worker->seen, $worker->since);
        $this->assertLessThan($worker->until, $worker->now);
        [$first, $second] = $worker->leases;
        $this->assertSame(
            [$id, $ticket, true, null],
            [$first->id, $first->ticket, $first->running, $first->partition],
        );
        $this->assertFalse($second->running);
        $this->assertGreaterThanOrEqual($worker->since, $second->since);
        unset($consumer);
        $this->assertSame([], $queue->workers());
    }

    public function test_workers_of_what_others_wrote(): void
    {
        $queue = $this->queue();
        $key = "dueq:{{$queue->name}}:";
        $says = [
            'none' => '', 'cut' => '5 60000 17', 'bytes' => "5 60000 17 2 5 1 1\nh\xff\nc\n0\n",
            'ticket' => '5 60000 ' . self::TEXT . "1 1 0 none\n",
            'good' => '5 60000 ' . self::TEXT . "9 1 8 0:x\n",
        ];
        foreach ($says as $session => $text) {
            $this->server->command('ZADD', "{$key}consumers", '5', $session);
            $this->server->command('HSET', "{$key}described", $session, $text);
        }
        [$worker] = $queue->workers();
        $this->assertCount(1, $queue->workers());
        $this->assertSame(
            ['good', 'höst', true],
            [$worker->session, $worker->host, $worker->offline],
        );
        $this->assertSame([7, 'x'], [$worker->leases[0]->partition, $worker->leases[0]->id]);
    }

    public function test_workers_of_several_pages(): void
    {
        $queue = $this->queue();
        for ($i = 0; $i < 401; $i++) {
            $this->server->command('ZADD', "dueq:{{$queue->name}}:consumers", '5', "session-$i");
            $this->server->command(
                'HSET',
                "dueq:{{$queue->name}}:described",
                "session-$i",
                '5 60000 ' . self::TEXT,
            );
        }
        $this->assertCount(401, array_unique(array_column($queue->workers(), 'session')));
    }
}
