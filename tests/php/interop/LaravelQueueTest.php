<?php

declare(strict_types=1);

namespace Dueq\Tests;

use DateInterval;
use Dueq\Exception\DuplicateException;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Exception\NameException;
use Dueq\Exception\WrongTypeException;
use Dueq\Laravel\Job as LaravelJob;
use Dueq\Laravel\Queue as LaravelQueue;

final class LaravelQueueTest extends QueueTestCase
{
    private const RAW = '{"uuid":"u-1","job":"Raw@run","data":[],"id":"i-1","attempts":0}';

    private function laravel(
        string $name = 'default',
        string $prefix = '',
        float $retryAfter = 90.0,
    ): LaravelQueue {
        return new LaravelQueue($name, $this->server->url(), $prefix, $retryAfter);
    }

    /** @return list<string> the payloads that are in the list */
    private function payloads(string $key = 'queues:default'): array
    {
        return $this->server->command('LRANGE', $key, '0', '-1');
    }

    private function now(): float
    {
        [$seconds, $microseconds] = $this->server->command('TIME');
        return $seconds + $microseconds / 1e6;
    }

    public function test_construct(): void
    {
        $queue = new LaravelQueue(url: $this->server->url());
        $this->assertSame(
            ['default', '', 90.0],
            [$queue->name, $queue->prefix, $queue->retryAfter],
        );
        $queue = new LaravelQueue(
            '{mail}',
            $this->server->url(),
            'shop_',
            new DateInterval('PT5M'),
        );
        $this->assertSame(
            ['{mail}', 'shop_', 300.0],
            [$queue->name, $queue->prefix, $queue->retryAfter],
        );
        $this->assertStringContainsString($this->server->socket, $queue->url());
        $badNames = [
            ['', ''],
            ["a\n", ''],
            ["\xff", ''],
            ['a', "\0"],
            [str_repeat('n', 128), str_repeat('p', 128)],
        ];
        foreach ($badNames as $bad) {
            $this->assertThrows(NameException::class, fn () => $this->laravel(...$bad));
        }
        foreach ([0.0, -1.0, INF] as $retryAfter) {
            $this->assertThrows(
                InvalidException::class,
                fn () => $this->laravel(retryAfter: $retryAfter),
            );
        }
    }

    public function test_push_writes_a_payload_of_laravel(): void
    {
        $queue = $this->laravel(prefix: 'shop_database_');
        $id = $queue->push(
            'App\Jobs\Cancel@handle',
            ['id' => 17, 'price' => 1.0, 'tags' => [], 'more' => new \stdClass()],
        );
        [$text] = $this->payloads('shop_database_queues:default');
        $payload = json_decode($text, true);
        $this->assertSame($id, $payload['uuid']);
        $this->assertMatchesRegularExpression(
            '/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/',
            $id,
        );
        $this->assertMatchesRegularExpression('/^[0-9A-Za-z]{32}$/', $payload['id']);
        $this->assertEqualsWithDelta(time(), $payload['createdAt'], 5);
        unset($payload['uuid'], $payload['id'], $payload['createdAt']);
        $this->assertSame([
            'displayName' => 'App\Jobs\Cancel',
            'job' => 'App\Jobs\Cancel@handle',
            'maxTries' => null,
            'maxExceptions' => null, 'failOnTimeout' => false, 'backoff' => null, 'timeout' => null,
            'data' => ['id' => 17, 'price' => 1.0, 'tags' => [], 'more' => []], 'attempts' => 0,
        ], $payload);
        $this->assertStringContainsString('{"id":17,"price":1.0,"tags":[],"more":{}}', $text);
        $this->assertSame(['1'], $this->payloads('shop_database_queues:default:notify'));
    }

    public function test_push_with_all_options(): void
    {
        $queue = $this->laravel();
        $until = (int) $this->now() + 1000;
        $queue->push(
            'Job',
            'text',
            0,
            null,
            'shown',
            3,
            2,
            59.2,
            [10, new DateInterval('PT1M'), 1.5],
            $until,
            true,
        );
        $payload = json_decode($this->payloads()[0], true);
        $this->assertSame(
            ['shown', 3, 2, 60, '10,60,2', $until, true, 'text'],
            [
                $payload['displayName'], $payload['maxTries'],
                $payload['maxExceptions'], $payload['timeout'], $payload['backoff'],
                $payload['retryUntil'], $payload['failOnTimeout'], $payload['data'],
            ]
        );
        $job = $queue->pop();
        $this->assertSame(
            ['Job', 'shown', 3, 60, [10, 60, 2], $until, 'text'],
            [
                $job->name, $job->displayName, $job->maxTries,
                $job->timeout, $job->backoff, $job->retryUntil, $job->data,
            ]
        );
        $queue->push('Job', backoff: 0.5);
        $this->assertSame([1], $queue->pop()->backoff);
        $queue->push('Job', null, null, null, null, null, null, null, null, null, false);
        $job = $queue->pop();
        $this->assertSame(
            [[], null, null, null, ''],
            [$job->backoff, $job->maxTries, $job->timeout, $job->retryUntil, $job->data],
        );
    }

    public function test_push_what_is_refused(): void
    {
        $queue = $this->laravel();
        $loop = [];
        $loop['self'] = &$loop;
        $invalid = [
            fn () => $queue->push(''), fn () => $queue->push("Job\n"),
            fn () => $queue->push('Job', "\xff"),
            fn () => $queue->push('Job', $loop), fn () => $queue->push('Job', INF),
            fn () => $queue->push('Job', maxTries: -1),
            fn () => $queue->push('Job', maxTries: 0), fn () => $queue->push('Job', backoff: []),
            fn () => $queue->push('Job', maxExceptions: 1 << 32),
            fn () => $queue->push('Job', timeout: 0),
            fn () => $queue->push('Job', backoff: [-1]),
            fn () => $queue->push('Job', delay: 1, at: time()),
            fn () => $queue->push('Job', retryUntil: -1),
            fn () => $queue->push('Job', retryUntil: 0), fn () => $queue->pushObject('Class', ''),
            fn () => $queue->pushObject('Class', "\xff"), fn () => $queue->pushRaw('no JSON'),
            fn () => $queue->pushRaw('{"job":"x"}'), fn () => $queue->pushRaw('{"attempts":0}'),
            fn () => $queue->pushRaw(
                '{"job":"x","attempts":0,"data":'
                    . str_repeat('[', 600)
                    . str_repeat(']', 600)
                    . '}',
            ),
            fn () => $queue->pushMany(['Job', ['job' => 'Job', 'payload' => self::RAW]]),
            fn () => $queue->pushMany([[]]),
            fn () => $queue->pushMany([['jobs' => 'Job']]), fn () => $queue->pushMany([['Job']]),
        ];
        foreach ($invalid as $run) {
            $this->assertThrows(InvalidException::class, $run);
        }
        $this->assertTypeError('#3 ($delay)', fn () => $queue->push('Job', null, new \stdClass()));
        $this->assertTypeError(
            '#4 ($at)',
            fn () => $queue->push('Job', null, null, new \stdClass()),
        );
        $this->assertTypeError('#6 ($maxTries)', fn () => $queue->push('Job', maxTries: '3'));
        $this->assertTypeError(
            '#8 ($timeout)',
            fn () => $queue->push('Job', timeout: new \stdClass()),
        );
        $this->assertTypeError(
            '#9 ($backoff)',
            fn () => $queue->push('Job', backoff: new \stdClass()),
        );
        $this->assertTypeError(
            '#9 ($retryUntil)',
            fn () => $queue->later(1, 'Job', retryUntil: new \stdClass()),
        );
        $this->assertTypeError('#1 ($delay)', fn () => $queue->later(new \stdClass(), 'Job'));
        $this->assertTypeError('#2 ($delay)', fn () => $queue->pushRaw(self::RAW, new \stdClass()));
        $this->assertTypeError(
            'item 1: maxTries must be of type ?int',
            fn () => $queue->pushMany(['Job', ['job' => 'Job', 'maxTries' => '3']]),
        );
        $this->assertTypeError(
            'item 0: backoff must be',
            fn () => $queue->pushMany([['job' => 'Job', 'backoff' => new \stdClass()]]),
        );
        $this->assertTypeError(
            'item 0: job must be of type array|string',
            fn () => $queue->pushMany([1]),
        );
        $this->assertSame([], $this->payloads());
    }

    public function test_later_and_the_other_due_times(): void
    {
        $queue = $this->laravel();
        $now = $this->now();
        $queue->later(100, 'A', ['n' => 1]);
        $queue->later(new DateInterval('PT2M'), 'B');
        $queue->push('C', delay: 140);
        $queue->push('D', at: $now + 160);
        $queue->pushRaw(self::RAW, at: new \DateTimeImmutable('@' . ((int) $now + 180)));
        $queue->pushObject('E', 'O:1:"E":0:{}', delay: 200);
        $delayed = $this->server->command(
            'ZRANGE',
            'queues:default:delayed',
            '0',
            '-1',
            'WITHSCORES',
        );
        foreach ([100, 120, 140, 160, 180, 200] as $i => $delay) {
            $this->assertEqualsWithDelta($now + $delay, (float) $delayed[2 * $i + 1], 5);
            $this->assertMatchesRegularExpression('/^\d+$/', $delayed[2 * $i + 1]);
        }
        $this->assertSame(['n' => 1], json_decode($delayed[0], true)['data']);
        $this->assertSame(self::RAW, $delayed[8]);
        $this->assertSame([], $this->payloads());
    }

    public function test_later_and_release_of_what_is_past_is_now(): void
    {
        $queue = $this->laravel();
        $past = new DateInterval('PT5S');
        $past->invert = 1;
        foreach ([-5, -0.5, $past] as $delay) {
            $queue->later($delay, 'A');
            $job = $queue->pop();
            $this->assertSame(1, $job->attempts);
            $job->release($delay);
            $queue->pop()->delete();
        }
        $this->assertThrows(InvalidException::class, fn () => $queue->later(NAN, 'A'));
        $this->assertThrows(InvalidException::class, fn () => $queue->push('A', delay: -5.0));
    }

    public function test_push_raw_is_stored_byte_by_byte(): void
    {
        $queue = $this->laravel();
        $raw = '{"job":"x", "big":1234567890123456789,"one":1.0,"no":[],"none":{},"attempts":0,'
            . '"z":"\/é"}';
        $this->assertSame('', $queue->pushRaw($raw));
        $this->assertSame('u-1', $queue->pushRaw(self::RAW));
        $this->assertSame([$raw, self::RAW], $this->payloads());
        $job = $queue->pop();
        $this->assertSame(
            [$raw, null, null, null],
            [$job->payload, $job->id, $job->uuid, $job->displayName],
        );
        $job->release();
        $queue->pop();
        $again = $queue->pop();
        $this->assertSame(str_replace('"attempts":0', '"attempts":1', $raw), $again->payload);
        $this->assertSame(str_replace('"attempts":0', '"attempts":2', $raw), $again->reserved);
        $this->assertSame('u-1', $queue->pushRaw(self::RAW, 60));
        $this->assertThrows(DuplicateException::class, fn () => $queue->pushRaw(self::RAW, 60));
    }

    public function test_push_object(): void
    {
        $queue = $this->laravel();
        $id = $queue->pushObject(
            'App\Jobs\Ship',
            'O:13:"App\Jobs\Ship":1:{s:5:"order";i:17;}',
            maxTries: 2,
        );
        $job = $queue->pop();
        $this->assertSame(
            [$id, 'Illuminate\Queue\CallQueuedHandler@call', 'App\Jobs\Ship', 2],
            [$job->uuid, $job->name, $job->displayName, $job->maxTries]
        );
        $this->assertSame(
            [
                'commandName' => 'App\Jobs\Ship',
                'command' => 'O:13:"App\Jobs\Ship":1:{s:5:"order";i:17;}',
            ],
            $job->data
        );
    }

    public function test_push_many(): void
    {
        $queue = $this->laravel();
        $ids = $queue->pushMany([
            'First',
            ['job' => 'Second@run', 'data' => ['n' => 2], 'maxTries' => 4, 'backoff' => [1, 2]],
            ['payload' => self::RAW, 'delay' => 60], ['payload' => self::RAW, 'delay' => 60],
            [
                'commandName' => 'E',
                'command' => 'O:1:"E":0:{}',
                'at' => $this->now() + 60,
                'failOnTimeout' => true,
            ],
        ]);
        $this->assertSame(
            [true, true, 'u-1', null, true],
            [$ids[0] !== '', $ids[1] !== '', $ids[2], $ids[3], $ids[4] !== ''],
        );
        [$first, $second] = $queue->popMany(5);
        $this->assertSame(['First', $ids[0]], [$first->name, $first->uuid]);
        $this->assertSame(
            ['Second@run', ['n' => 2], 4, [1, 2]],
            [$second->name, $second->data, $second->maxTries, $second->backoff],
        );
        $this->assertSame(2, $queue->size()->delayed);
        $this->assertSame([], $queue->pushMany([]));
        $this->assertCount(450, array_unique($queue->pushMany(array_fill(0, 450, 'Job'))));
        $this->assertSame(450, $queue->size()->ready);
    }

    public function test_a_serializer_may_change_another_job_meanwhile(): void
    {
        $queue = $this->laravel();
        $name = str_repeat('Before', 20);
        $item = ['job' => &$name, 'data' => null];
        $item['data'] = new class ($name, $item) implements \JsonSerializable {
            public function __construct(private string &$name, private mixed &$item)
            {
            }

            public function jsonSerialize(): int
            {
                $this->name = str_repeat('After', 20);
                $this->item = null;
                return 7;
            }
        };
        $queue->pushMany([&$item]);
        $job = $queue->pop();
        $this->assertSame([str_repeat('Before', 20), 7], [$job->name, $job->data]);
    }

    public function test_pop_reserves(): void
    {
        $queue = $this->laravel(retryAfter: 300);
        $this->assertNull($queue->pop());
        $queue->push('Job', ['big' => PHP_INT_MAX]);
        $job = $queue->pop();
        $this->assertInstanceOf(LaravelJob::class, $job);
        $this->assertSame([1, ['big' => PHP_INT_MAX]], [$job->attempts, $job->data]);
        $this->assertEqualsWithDelta($this->now() + 300, $job->until, 5);
        $this->assertSame(
            [$job->reserved],
            $this->server->command('ZRANGE', 'queues:default:reserved', '0', '-1'),
        );
        $this->assertSame(json_decode($job->payload, true)['id'], $job->id);
        $queue->push('Job');
        $this->assertEqualsWithDelta($this->now() + 20, $queue->pop(0.0, 20)->until, 5);
        $this->assertThrows(InvalidException::class, fn () => $queue->pop(-1));
        $this->assertThrows(InvalidException::class, fn () => $queue->pop(0.0, 0.0));
        $this->assertTypeError('#1 ($timeout)', fn () => $queue->pop(new \stdClass()));
        $this->assertTypeError(
            '#3 ($retryAfter)',
            fn () => $queue->popMany(1, 0.0, new \stdClass()),
        );
    }

    public function test_pop_comes_back_after_its_time(): void
    {
        $queue = $this->laravel(retryAfter: 1);
        $queue->push('Job');
        $first = $queue->pop();
        $second = $queue->pop(20);
        $this->assertSame([1, 2, $first->id], [$first->attempts, $second->attempts, $second->id]);
        $this->assertThrows(LeaseLostException::class, fn () => $first->delete());
        $this->assertThrows(LeaseLostException::class, fn () => $first->release(5));
        $second->delete();
        $size = $queue->size();
        $this->assertSame([0, 0, 0], [$size->ready, $size->delayed, $size->reserved]);
    }

    public function test_pop_waits(): void
    {
        $queue = $this->laravel();
        $start = microtime(true);
        $this->assertNull($queue->pop(0.3));
        $this->assertGreaterThan(0.29, microtime(true) - $start);
        $pusher = $this->besides(function () {
            $this->server->awaitBlocked();
            $this->laravel()->push('Woken');
        });
        $this->assertSame('Woken', $queue->pop(INF)->name);
        pcntl_waitpid($pusher, $status);
        $queue->later(1, 'Due');
        $this->assertSame('Due', $queue->pop(20)->name);
    }

    public function test_pop_many(): void
    {
        $queue = $this->laravel();
        $queue->pushMany(array_map(fn ($n) => ['job' => 'Job', 'data' => $n], range(1, 5)));
        $this->assertSame([1, 2, 3], array_map(fn ($job) => $job->data, $queue->popMany(3)));
        $this->assertSame([4, 5], array_map(fn ($job) => $job->data, $queue->popMany(200, 5)));
        $this->assertSame([], $queue->popMany(1));
        foreach ([0, 201, -1] as $count) {
            $this->assertThrows(InvalidException::class, fn () => $queue->popMany($count));
        }
    }

    public function test_pop_quarantines_what_a_worker_would_lose_and_logs_it(): void
    {
        $queue = $this->laravel();
        $this->server->command('RPUSH', 'queues:default', 'no JSON', '{"job":"x"}', self::RAW);
        $log = self::logged(function () use ($queue, &$job) {
            $job = $queue->pop();
        });
        $this->assertSame(self::RAW, $job->payload);
        $this->assertStringContainsString('default: 2 damaged entries were quarantined', $log);
        $this->assertSame(2, $queue->size()->quarantined);
    }

    public function test_delete_and_release(): void
    {
        $queue = $this->laravel();
        $queue->push('Job');
        $job = $queue->pop();
        $job->release();
        $job = $queue->pop();
        $this->assertSame(2, $job->attempts);
        $job->release(60);
        $this->assertSame(1, $queue->size()->delayed);
        $this->assertThrows(LeaseLostException::class, fn () => $job->delete());
        $this->assertThrows(LeaseLostException::class, fn () => $job->release());
        $this->assertThrows(InvalidException::class, fn () => $job->release(NAN));
        $queue->push('Job');
        $job = $queue->pop();
        unset($queue);
        $job->delete();
        $this->assertSame(0, $this->laravel()->size()->reserved);
    }

    public function test_delete_many(): void
    {
        $queue = $this->laravel();
        $queue->pushMany(array_fill(0, 250, 'Job'));
        $jobs = [...$queue->popMany(200), ...$queue->popMany(200)];
        $jobs[0]->delete();
        $jobs[1] = $jobs[1]->reserved;
        $outcomes = $queue->deleteMany($jobs);
        $this->assertSame([false, ...array_fill(0, 249, true)], $outcomes);
        $this->assertSame(0, $queue->size()->reserved);
        $this->assertSame([false], $queue->deleteMany(['no such']));
        $this->assertSame([], $queue->deleteMany([]));
        $this->assertTypeError(
            'item 1: job must be of type Dueq\Laravel\Job|string',
            fn () => $queue->deleteMany(['x', 1]),
        );
        $other = $this->laravel('other');
        $other->push('Job');
        $job = $other->pop();
        $this->assertThrows(InvalidException::class, fn () => $queue->deleteMany([$job]));
        $this->assertSame([true], $this->laravel('other')->deleteMany([$job]));
    }

    public function test_size_and_clear(): void
    {
        $queue = $this->laravel();
        $queue->pushMany(['A', 'B', ['job' => 'C', 'delay' => 60]]);
        $queue->pop();
        $size = $queue->size();
        $this->assertSame(
            [1, 1, 1, 0],
            [$size->ready, $size->delayed, $size->reserved, $size->quarantined],
        );
        $this->assertEqualsWithDelta($size->now + 60, $size->next, 5);
        $this->assertSame(3, $queue->clear());
        $this->assertSame(0, $queue->clear());
        $this->assertNull($queue->size()->next);
    }

    public function test_migrate(): void
    {
        $queue = $this->laravel();
        $this->assertSame(0, $queue->migrate()->moved);
        $this->server->command('ZADD', 'queues:default:delayed', '1', self::RAW);
        $this->server->command(
            'ZADD',
            'queues:default:reserved',
            '1',
            str_replace('u-1', 'u-2', self::RAW),
        );
        $queue->later(1, 'Job');
        $moved = $queue->migrate();
        $this->assertSame([2, 0], [$moved->moved, $moved->quarantined]);
        $this->assertEqualsWithDelta($this->now() + 1, $moved->next, 5);
        $this->assertCount(2, $this->payloads('queues:default:notify'));
        $this->assertSame(1, $queue->migrate(20)->moved);
        $this->assertCount(3, $this->payloads('queues:default:notify'));
        $this->assertCount(3, $this->payloads());
        foreach ([0, 201] as $most) {
            $this->assertThrows(InvalidException::class, fn () => $queue->migrate(0.0, $most));
        }
    }

    public function test_a_key_of_another_type(): void
    {
        $this->server->command('SET', 'queues:default', 'x');
        $queue = $this->laravel();
        $runs = [fn () => $queue->push('Job'), fn () => $queue->pop(), fn () => $queue->size()];
        foreach ($runs as $run) {
            $this->assertThrows(WrongTypeException::class, $run);
        }
    }

    public function test_fork_the_child_uses_the_queue_of_its_parent(): void
    {
        $queue = $this->laravel();
        $queue->push('Job');
        $job = $queue->pop();
        $this->assertNull($this->inChild(fn () => $job->delete()));
        $this->assertThrows(LeaseLostException::class, fn () => $job->delete());
        $queue->push('After');
        $this->assertSame('After', $queue->pop()->name);
    }

    public function test_memory_stays_flat(): void
    {
        $url = $this->server->url();
        $cycle = function () use ($url) {
            $queue = new LaravelQueue('default', $url, 'p_');
            $queue->push('Job', ['a' => [1, 2]], displayName: 'shown', backoff: [1, 2]);
            $queue->pushMany([
                'A',
                ['payload' => self::RAW],
                ['job' => 'B', 'data' => 5, 'delay' => 60],
            ]);
            foreach ($queue->popMany(2) as $job) {
                $job->release();
            }
            [$first, $second] = $queue->popMany(5);
            $first->delete();
            $queue->deleteMany([$first, $second, 'x']);
            $this->assertThrows(LeaseLostException::class, fn () => $first->delete());
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->pushMany([['job' => 'J', 'data' => [1]], '']),
            );
            $this->assertThrows(
                InvalidException::class,
                fn () => $queue->push('J', [1], backoff: [1, -1]),
            );
            $queue->migrate();
            $queue->runMigrate(fn () => true);
            $queue->clear();
            $queue->push('Started');
            $this->loop([$popped = $queue->popStart(), $moved = $queue->migrateStart(0.0)]);
            $this->assertSame(['Started', 0], [$popped->result()->name, $moved->result()->moved]);
            $dropped = $queue->popStart();
            $dropped->poll();
            $queue->clear();
        };
        for ($i = 0; $i < 100; $i++) {
            $cycle();
        }
        [$php, $all] = [memory_get_usage(), self::resident()];
        for ($i = 0; $i < 1000; $i++) {
            $cycle();
        }
        $this->assertLessThan(64 * 1024, memory_get_usage() - $php);
        $this->assertLessThan(1024, self::resident() - $all, 'KiB resident');
    }
}
