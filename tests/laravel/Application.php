<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\LaravelDriver\DueqServiceProvider;
use Illuminate\Bus\BusServiceProvider;
use Illuminate\Cache\CacheManager;
use Illuminate\Config\Repository;
use Illuminate\Console\Application as Console;
use Illuminate\Container\Container;
use Illuminate\Contracts\Cache\Repository as Cache;
use Illuminate\Contracts\Container\Container as ContainerContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Events\Dispatcher as DispatcherContract;
use Illuminate\Contracts\Queue\Factory;
use Illuminate\Database\Capsule\Manager as Database;
use Illuminate\Database\DatabaseManager;
use Illuminate\Database\DatabaseTransactionsManager;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Events\Dispatcher;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Queue\Console\ClearCommand;
use Illuminate\Queue\Console\ListFailedCommand;
use Illuminate\Queue\Console\MonitorCommand;
use Illuminate\Queue\Console\RestartCommand;
use Illuminate\Queue\Console\RetryCommand;
use Illuminate\Queue\Console\WorkCommand;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\QueueServiceProvider;
use Illuminate\Queue\Worker;

/** The parts of Laravel that its queues use, as an application. */
final class Application
{
    private const COMMANDS = [
        ClearCommand::class, ListFailedCommand::class,
        MonitorCommand::class, RestartCommand::class, RetryCommand::class,
        WorkCommand::class,
    ];

    public readonly Container $container;

    public readonly Handler $handler;

    private bool $writesDown = false;

    /**
     * @param string $database a file for failed jobs; the cache is in a folder beside it
     * @param array<string, array<string, mixed>> $connections of config/queue.php
     * @param array<string, mixed> $redis of config/database.php
     */
    public function __construct(
        string $database,
        array $connections,
        array $redis = [],
        string $environment = 'testing',
    ) {
        $this->container = $container = new Foundation($environment);
        $this->handler = new Handler();
        // Since Laravel 11 the command registers its listeners once in a process.
        method_exists(WorkCommand::class, 'flushState') && WorkCommand::flushState();
        Container::setInstance($container);
        $container->instance(ContainerContract::class, $container);
        $container->instance('config', new Repository([
            'app' => ['key' => 'base64:' . base64_encode(str_repeat('k', 32))],
            'cache' => [
                'default' => 'file',
                'stores' => ['file' => ['driver' => 'file', 'path' => "$database.cache"]],
            ],
            'database' => ['redis' => $redis],
            'queue' => [
                'default' => array_key_first($connections),
                'connections' => $connections,
                'failed' => [
                    'driver' => 'database-uuids',
                    'database' => 'default',
                    'table' => 'failed_jobs',
                ],
            ],
        ]));
        $events = new Dispatcher($container);
        $container->instance('events', $events);
        $container->instance(DispatcherContract::class, $events);
        $container->instance(ExceptionHandler::class, $this->handler);
        $container->instance('files', new Filesystem());
        $container->instance('cache', new CacheManager($container));
        $container->instance('db', $this->database($database));
        $container->bind(Cache::class, fn () => $container['cache']->store());
        $container->bind(Worker::class, 'queue.worker');
        $container->alias('queue', Factory::class);
        (new BusServiceProvider($container))->register();
        (new QueueServiceProvider($container))->register();
        $container->singleton('queue.worker', fn () => $this->bareWorker());
        $provider = new DueqServiceProvider($container);
        $provider->register();
        $provider->boot($events);
    }

    /** A worker as queue:work makes it. The application then stores failed jobs. */
    public function worker(): Worker
    {
        if (!$this->writesDown) {
            $this->writesDown = true;
            $this->container['events']->listen(JobFailed::class, function (JobFailed $event): void {
                $this->container['queue.failer']->log(
                    $event->connectionName,
                    $event->job->getQueue(),
                    $event->job->getRawBody(),
                    $event->exception,
                );
            });
        }

        return $this->container['queue.worker'];
    }

    /**
     * Runs a command of Laravel's.
     *
     * @param array<string, mixed> $arguments
     * @return string its output
     */
    public function artisan(string $command, array $arguments = []): string
    {
        $console = new Console($this->container, $this->container['events'], 'test');
        $console->resolveCommands(self::COMMANDS);
        // Since Laravel 9 commands are made when they are called.
        method_exists($console, 'setContainerCommandLoader')
            && $console->setContainerCommandLoader();
        $console->call($command, $arguments);

        return $console->output();
    }

    /** @return list<array<string, mixed>> the failed jobs, the latest first */
    public function failed(): array
    {
        return array_map(fn ($job) => (array) $job, $this->container['queue.failer']->all());
    }

    private function bareWorker(): Worker
    {
        $worker = new Worker(
            $this->container['queue'],
            $this->container['events'],
            $this->handler,
            fn () => false,
        );
        $worker->setCache($this->container['cache']->store());

        return $worker;
    }

    private function database(string $file): DatabaseManager
    {
        $database = new Database($this->container);
        $database->addConnection(['driver' => 'sqlite', 'database' => $file]);
        $connection = $database->getConnection();
        $transactions = new DatabaseTransactionsManager();
        $connection->setTransactionManager($transactions);
        $this->container->instance('db.transactions', $transactions);
        $schema = $connection->getSchemaBuilder();
        if (!$schema->hasTable('failed_jobs')) {
            $schema->create('failed_jobs', function (Blueprint $table): void {
                $table->id();
                $table->string('uuid')->unique();
                $table->text('connection');
                $table->text('queue');
                $table->longText('payload');
                $table->longText('exception');
                $table->timestamp('failed_at')->useCurrent();
            });
        }

        return $database->getDatabaseManager();
    }
}
