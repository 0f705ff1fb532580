<?php

/**
 * laravel.php dispatch | work: does the same as `SomeJob::dispatch()` and `php artisan queue:work`
 * in an application, but needs only the queue package of Laravel.
 */

declare(strict_types=1);

use Illuminate\Container\Container;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Events\Dispatcher;
use Illuminate\Queue\Capsule\Manager;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;
use Illuminate\Redis\RedisManager;

// Laravel 8 is older than the deprecations of PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Illuminate/Queue/autoload.php';
require 'Illuminate/Redis/autoload.php';
require 'Illuminate/Events/autoload.php';
require_once __DIR__ . '/CancelOrder.php';

final class Errors implements ExceptionHandler
{
    public function report(Throwable $e): void
    {
        fwrite(STDERR, "$e\n");
    }

    public function shouldReport(Throwable $e): bool
    {
        return true;
    }

    public function render($request, Throwable $e): never
    {
        throw $e;
    }

    public function renderForConsole($output, Throwable $e): void
    {
        $this->report($e);
    }
}

$container = new Container();
$container->instance('redis', new RedisManager($container, 'phpredis', [
    'default' => ['url' => getenv('REDIS_URL')],
]));
$manager = new Manager($container);
$manager->addConnection(
    [
        'driver' => 'redis',
        'connection' => 'default',
        'queue' => 'default',
        'retry_after' => 60,
        'block_for' => 5,
    ],
);

if ($argv[1] === 'dispatch') {
    $manager->getConnection()->later(2, 'App\Jobs\MailReceipt', ['order' => 18]);
    echo "Laravel dispatched a job\n";
} else {
    $worker = new Worker(
        $manager->getQueueManager(),
        new Dispatcher(),
        new Errors(),
        fn (): bool => false,
    );
    $worker->daemon('default', 'default', new WorkerOptions(sleep: 1, maxJobs: 1));
}
