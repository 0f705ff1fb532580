<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\LaravelDriver\DueqQueue;
use Dueq\Queue;
use Dueq\Tests\Server;
use Illuminate\Queue\BeanstalkdQueue;
use Illuminate\Queue\DatabaseQueue;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Queue\RedisQueue;
use Illuminate\Queue\SqsQueue;

/** Queues share connections. Prefixes keep the applications on one server apart. */
final class SharingTest extends LaravelTestCase
{
    /** Methods of Laravel's drivers that concern their own storage, or their own jobs. */
    private const OWN = [
        '__construct', 'getRedis', 'getConnection', 'getDatabase',
        'getSqs', 'getPheanstalk', 'getQueueableOptions',
        'migrateExpiredJobs', 'release', 'deleteReserved', 'deleteAndRelease', 'deleteMessage',
    ];

    /** @var array<string, array<string, string>> two applications */
    private const TWO = [['prefix' => 'one:'], ['prefix' => 'two:']];

    public function testEveryPublicMethodOfLaravelsDriversIsThere(): void
    {
        $classes = [
            RedisQueue::class, DatabaseQueue::class, SqsQueue::class, BeanstalkdQueue::class,
        ];
        foreach ($classes as $class) {
            $methods = array_map(
                fn ($method) => $method->name,
                (new \ReflectionClass($class))->getMethods(\ReflectionMethod::IS_PUBLIC),
            );
            $missing = array_filter(
                $methods,
                fn ($name) => !method_exists(DueqQueue::class, $name),
            );
            $this->assertSame([], array_values(array_diff($missing, self::OWN)), $class);
        }
    }

    public function testAllQueuesHaveOneConnection(): void
    {
        $this->server = new Server();
        $this->configure();
        foreach (range(1, 20) as $number) {
            $this->queue()->pushOn("q$number", new Act("a$number"));
        }
        $this->assertSame(20, $this->queue()->totalSize());
        $this->assertSame(20, $this->queue()->totalPendingSize());
        $this->assertSame(1, $this->connections());
        $this->server->remove();
    }

    public function testAPersistentConnectionServesTheNextApplication(): void
    {
        $this->server = new Server();
        $made = function (?bool $persistent): int {
            $before = $this->made();
            foreach (range(1, 5) as $number) {
                $this->configure(['persistent' => $persistent]);
                $this->queue()->push(new Act("a$number"));
                unset($this->app);
                gc_collect_cycles();
            }
            return $this->made() - $before - 1;
        };
        $this->assertSame([5, 1], [$made(null), $made(true)]);
        $this->server->remove();
    }

    public function testAWorkerOfManyQueuesHasFewConnections(): void
    {
        $this->server = new Server();
        $this->configure();
        $names = implode(',', array_map(fn ($number) => "q$number", range(1, 20)));
        $this->queue()->pushOn('q19', new Act('low'));
        $this->queue()->pushOn('q3', new Act('high'));
        $this->app->worker()->daemon('dueq', $names, self::options(stopWhenEmpty: true));
        $this->assertSame(['high 1', 'low 1'], [Journal::read(), Journal::read()]);
        // One for all calls, one to take, and one to extend leases, which has had nothing to do.
        $this->assertLessThanOrEqual(3, $this->connections());
        $this->server->remove();
    }

    public function testApplicationsWithPrefixesDoNotMeet(): void
    {
        // A worker of an earlier test may still register with its queue in the shared server.
        $this->server = new Server();
        foreach (self::TWO as $number => $entry) {
            $this->configure($entry);
            $this->queue()->push(new Act("of $number"));
        }
        foreach (self::TWO as $number => $entry) {
            $this->configure($entry);
            $this->assertSame([1, 1], [$this->queue()->size(), $this->queue()->totalSize()]);
            $job = $this->queue()->pop();
            $this->assertSame('default', $job->getQueue());
            $job->fire();
            $this->assertSame("of $number 1", Journal::read());
            $this->assertNull($this->queue()->pop());
        }
        $names = Queue::names($this->server->url());
        $this->assertSame(['one:default', 'two:default'], $names);
        $this->server->remove();
    }

    public function testTotalsAndListsAreThoseOfThePrefix(): void
    {
        (new Queue('foreign', $this->server->url()))->pushMany(array_fill(0, 100, '{}'));
        $this->configure(['prefix' => 'one:']);
        $this->queue()->push(new Act('a'));
        $this->queue()->later(60, new Act('b'));
        $queue = $this->queue();
        $this->assertSame([2, 1, 1, 0], [
            $queue->totalSize(), $queue->totalPendingSize(),
            $queue->totalDelayedSize(), $queue->totalReservedSize(),
        ]);
        if (class_exists(InspectedJob::class)) {
            $this->assertSame(
                ['default'],
                $queue->allPendingJobs()->map(fn ($job) => $job->queue)->all(),
            );
        }
    }

    public function testAFailedJobGoesBackBehindThePrefix(): void
    {
        $this->configure(['prefix' => 'one:']);
        $id = $this->queue()->pushOn('mails', new Act('a', 'throw'));
        $this->work('mails');
        $this->assertSame('mails', $this->app->failed()[0]['queue']);
        $this->app->artisan('queue:retry', ['id' => [$id]]);
        $this->assertSame(1, $this->queue()->size('mails'));
        $this->assertSame('one:mails', $this->queue()->messages('mails')->name);
    }

    public function testBracesAroundANameAreNoPartOfIt(): void
    {
        $this->queue()->pushOn('{default}', new Act('a'));
        $this->assertSame([1, 1], [$this->queue()->size(), $this->queue()->size('{default}')]);
        $this->work('{default}');
        $this->assertSame('a 1', Journal::read());
        $this->app->worker()->daemon(
            'dueq',
            '{high},{default}',
            self::options(stopWhenEmpty: true),
        );
        $this->assertSame(0, $this->queue()->totalReservedSize());
    }

    /** How many connections the server has beside that which asks. */
    /** How many connections the server was asked for. */
    private function made(): int
    {
        $info = $this->server->command('INFO', 'stats');
        preg_match('/^total_connections_received:(\d+)/m', $info, $match);

        return (int) $match[1];
    }

    private function connections(): int
    {
        $info = $this->server->command('INFO', 'clients');
        preg_match('/^connected_clients:(\d+)/m', $info, $match);

        return (int) $match[1] - 1;
    }
}
