<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\LaravelDriver\DueqQueue;
use Dueq\Tests\Server;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Queue\WorkerOptions;
use PHPUnit\Framework\TestCase;

/** Tests of an application on an empty server that all of them share. */
abstract class LaravelTestCase extends TestCase
{
    private static ?Server $shared = null;

    protected Server $server;

    protected Application $app;

    protected string $database;

    protected function setUp(): void
    {
        $this->server = self::$shared ??= new Server();
        $this->server->command('FLUSHALL');
        $this->database = tempnam(sys_get_temp_dir(), 'dueq-laravel-');
        Journal::open($this->server->url());
        $this->configure();
    }

    protected function tearDown(): void
    {
        unlink($this->database);
        (new Filesystem())->deleteDirectory("{$this->database}.cache");
    }

    /** @param array<string, mixed> $entry over the entry of config/queue.php */
    protected function configure(array $entry = []): void
    {
        $this->app = new Application($this->database, [
            'dueq' => $entry + ['driver' => 'dueq', 'url' => $this->server->url()],
        ]);
    }

    protected function queue(): DueqQueue
    {
        return $this->app->container['queue']->connection();
    }

    /** Runs the next job as queue:work --once does. */
    protected function work(string $queue = 'default', mixed ...$options): void
    {
        $this->app->worker()->runNextJob('dueq', $queue, self::options(...$options));
    }

    /**
     * The defaults of queue:work, without sleep. Sets properties: the names of the constructor's
     * parameters differ between versions of Laravel.
     */
    protected static function options(mixed ...$options): WorkerOptions
    {
        $made = new WorkerOptions();
        foreach ($options + ['sleep' => 0] as $name => $value) {
            $made->$name = $value;
        }

        return $made;
    }

    /**
     * @param array<string, mixed> $entry over that of config/queue.php
     * @param array<string, mixed> $options properties of WorkerOptions
     */
    protected function startWorker(
        array $entry = [],
        array $options = [],
        string $queue = 'default',
    ): WorkerProcess {
        $entry += ['driver' => 'dueq', 'url' => $this->server->url(), 'block_for' => 1];

        return new WorkerProcess($this->database, $entry, $options, $queue);
    }

    /** @return list<string> the classes of what the application reported */
    protected function reported(): array
    {
        return array_map(fn ($error) => get_class($error), $this->app->handler->reported);
    }
}
