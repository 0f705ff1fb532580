<?php

/**
 * Laravel's queue for the tests: one JSON object a line on standard input, one answer a line on
 * standard output, {"ok": ...} or {"error": "..."}. Payloads travel in base64. "work" runs
 * Laravel's Worker, and prints a line for each event. The process ends with that Worker.
 */

declare(strict_types=1);

use Illuminate\Bus\Dispatcher as Bus;
use Illuminate\Bus\Queueable;
use Illuminate\Container\Container;
use Illuminate\Contracts\Bus\Dispatcher as BusContract;
use Illuminate\Contracts\Container\Container as ContainerContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Events\Dispatcher as EventsContract;
use Illuminate\Contracts\Queue\Job;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Events\Dispatcher;
use Illuminate\Queue\Capsule\Manager;
use Illuminate\Queue\Events\JobExceptionOccurred;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Queue\Events\Looping;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\Jobs\RedisJob;
use Illuminate\Queue\RedisQueue;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;
use Illuminate\Redis\RedisManager;

// Laravel 8 is older than the deprecations of PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
require 'Illuminate/Queue/autoload.php';
require 'Illuminate/Redis/autoload.php';
require 'Illuminate/Events/autoload.php';
require 'Illuminate/Bus/autoload.php';
require 'Predis/autoload.php';

/** @param array<string, mixed> $line */
function say(array $line): void
{
    $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
    fwrite(STDOUT, json_encode($line, $flags) . "\n");
}

/** Does what the data of a job asks for: {"do": "succeed|throw|sleep|release", ...}. */
function perform(Job $job, mixed $data): void
{
    $do = is_array($data) ? ($data['do'] ?? 'succeed') : 'succeed';
    say([
        'ran' => $job->getJobId(),
        'data' => $data,
        'attempts' => $job->attempts(),
        'payload' => base64_encode($job->getRawBody()),
        'at' => microtime(true),
    ]);
    match ($do) {
        'throw' => throw new RuntimeException('as the data asked'),
        'sleep' => usleep((int) ($data['seconds'] * 1e6)),
        'release' => $job->attempts() < 2 ? $job->release($data['delay'] ?? 0) : null,
        default => null,
    };
}

/** The handler of jobs by name: Handler, or Handler@again. */
final class Handler
{
    public function fire(Job $job, mixed $data): void
    {
        perform($job, $data);
        if (!$job->isDeletedOrReleased()) {
            $job->delete();
        }
    }

    public function again(Job $job, mixed $data): void
    {
        $this->fire($job, $data);
    }
}

/** A job as an object. */
final class ShipOrder implements ShouldQueue
{
    use InteractsWithQueue;
    use Queueable;

    public ?int $tries = null;
    public ?int $timeout = null;
    public int|array|null $backoff = null;

    public function __construct(public mixed $data)
    {
    }

    public function handle(): void
    {
        perform($this->job, $this->data);
    }
}

final class ToStderr implements ExceptionHandler
{
    public function report(Throwable $e): void
    {
        fwrite(STDERR, get_class($e) . ": {$e->getMessage()} in {$e->getFile()}:{$e->getLine()}\n");
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

final class Peer
{
    private Manager $manager;
    private Dispatcher $events;
    private string $queue;
    /** @var array<int, RedisJob> */
    private array $taken = [];

    /** @param array<string, mixed> $request */
    private function connect(array $request): bool
    {
        $container = new Container();
        Container::setInstance($container);
        $container->instance(ContainerContract::class, $container);
        $this->manager = new Manager($container);
        $this->events = new Dispatcher($container);
        $this->queue = $request['queue'];
        $container->instance('events', $this->events);
        $container->instance(EventsContract::class, $this->events);
        $container->instance(ExceptionHandler::class, new ToStderr());
        $container->instance(BusContract::class, new Bus($container, fn () => $this->queue()));
        $server = ['host' => '127.0.0.1', 'port' => $request['port'], 'read_write_timeout' => 0];
        $options = ['prefix' => $request['prefix'] ?? ''];
        $container->instance('redis', new RedisManager($container, $request['client'], [
            'options' => $options,
            'default' => $server,
        ]));
        $this->manager->addConnection([
            'driver' => 'redis',
            'connection' => 'default',
            'queue' => $request['queue'],
            'retry_after' => $request['retry_after'] ?? 90,
            'block_for' => $request['block_for'] ?? null,
        ]);

        return true;
    }

    private function queue(): RedisQueue
    {
        return $this->manager->getConnection();
    }

    /** @param array<string, mixed> $request */
    private function job(array $request): string|ShipOrder
    {
        if (isset($request['job'])) {
            return $request['job'];
        }
        $job = new ShipOrder($request['data']);
        $job->tries = $request['tries'] ?? null;
        $job->timeout = $request['timeout'] ?? null;
        $job->backoff = $request['backoff'] ?? null;

        return $job;
    }

    /** @return array<string, mixed>|null */
    private function pop(): ?array
    {
        $job = $this->queue()->pop();
        if ($job === null) {
            return null;
        }
        $this->taken[] = $job;

        return [
            'handle' => array_key_last($this->taken),
            'payload' => base64_encode($job->getRawBody()),
            'reserved' => base64_encode($job->getReservedJob()),
            'attempts' => $job->attempts(),
            'id' => $job->getJobId(),
        ];
    }

    /** @param array<string, mixed> $request */
    private function push(array $request): mixed
    {
        $job = $this->job($request);
        $data = $request['data'] ?? '';
        $delay = $request['delay'] ?? null;

        return $delay === null
            ? $this->queue()->push($job, $data)
            : $this->queue()->later($delay, $job, $data);
    }

    /**
     * Pushes a job with the data {"number": PREFIX0}, {"number": PREFIX1} ... and prints each.
     *
     * @param array<string, mixed> $request
     */
    private function produce(array $request): int
    {
        mt_srand($request['seed']);
        for ($i = 0; $i < $request['count']; $i++) {
            $delay = mt_rand(0, $request['high']);
            $data = [
                'number' => $request['prefix'] . $i,
                'money' => 1.5,
                'none' => [],
                'url' => 'a/b',
            ];
            $delay === 0
                ? $this->queue()->push(Handler::class, $data)
                : $this->queue()->later($delay, Handler::class, $data);
            say(['pushed' => $data['number']]);
        }

        return $request['count'];
    }

    /** @param array<string, mixed> $request */
    private function work(array $request): never
    {
        $this->events->listen(JobFailed::class, fn (JobFailed $event) => say([
            'failed' => $event->job->getJobId(),
            'error' => get_class($event->exception),
        ]));
        $this->events->listen(JobExceptionOccurred::class, fn (JobExceptionOccurred $event) => say([
            'threw' => $event->job->getJobId(),
        ]));
        $this->events->listen(Looping::class, function (): void {
            $this->events->forget(Looping::class);
            say(['working' => true]);
        });
        $queues = $this->manager->getQueueManager();
        $worker = new Worker($queues, $this->events, new ToStderr(), fn (): bool => false);
        $options = new WorkerOptions(
            backoff: $request['backoff'] ?? 0,
            timeout: $request['timeout'] ?? 60,
            sleep: $request['sleep'] ?? 3,
            maxTries: $request['tries'] ?? 1,
            stopWhenEmpty: $request['stop_when_empty'] ?? false,
            maxJobs: $request['max_jobs'] ?? 0,
        );
        exit($worker->daemon('default', $this->queue, $options));
    }

    /** Debian's version of the package, without its own suffixes. */
    private static function version(): string
    {
        return preg_replace(
            '/[+-].*/',
            '',
            (string) shell_exec('dpkg-query -W -f \'${Version}\' php-illuminate-queue'),
        );
    }

    /** @param array<string, mixed> $request */
    public function answer(array $request): mixed
    {
        return match ($request['do']) {
            'version' => self::version(),
            'connect' => $this->connect($request),
            'push' => $this->push($request),
            'raw' => $this->queue()->pushRaw(base64_decode($request['payload'])),
            'bulk' => $this->queue()->bulk($request['jobs'], $request['data']),
            'pop' => $this->pop(),
            'delete' => $this->taken[$request['handle']]->delete(),
            'release' => $this->taken[$request['handle']]->release($request['delay']),
            'size' => $this->queue()->size(),
            'clear' => $this->queue()->clear(null),
            'produce' => $this->produce($request),
            'work' => $this->work($request),
        };
    }
}

$peer = new Peer();
while (($line = fgets(STDIN)) !== false) {
    try {
        say(['ok' => $peer->answer(json_decode($line, true, flags: JSON_THROW_ON_ERROR))]);
    } catch (Throwable $e) {
        say(['error' => get_class($e) . ": {$e->getMessage()}"]);
    }
}
