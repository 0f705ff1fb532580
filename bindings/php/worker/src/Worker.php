<?php

declare(strict_types=1);

namespace Dueq;

use Closure;
use DateInterval;
use DateTimeInterface;
use Dueq\Worker\ClassFinder;
use Dueq\Worker\Decision;
use Dueq\Worker\Handler;
use Dueq\Worker\Job;
use Dueq\Worker\Serializer;
use Dueq\Worker\Stop;
use Dueq\Worker\UnknownTask;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;
use Psr\Log\LoggerInterface;
use Throwable;

/**
 * What a worker does: its tasks and their handlers. A bootstrap file returns one, and `vendor/bin/dueq-worker
 * bootstrap.php` runs it:
 *
 *     return (new Dueq\Worker())
 *         ->discover(__DIR__ . '/src/Tasks')
 *         ->on('send_receipt', function (int $order, bool $copy = false): void { ... }, queue: 'mail');
 */
final class Worker
{
    /** Pushes tasks, with the options that they have here. */
    public readonly Tasks $tasks;

    /** @var array<string, Handler> by task */
    private array $handlers = [];

    /** @var array<string, Handler> by queue */
    private array $queueHandlers = [];

    /** @var list<(callable(Job, Closure(Job): mixed): mixed)|class-string> */
    private array $middleware = [];

    /** @var (callable(Job, Throwable): mixed)|class-string|null */
    private mixed $onExhausted = null;

    /** @var list<string> */
    private array $folders = [];

    /**
     * @param Client|string|null $server the server's URL, as of Queue::__construct(), or a client of it
     * @param ContainerInterface|null $container makes the handlers and the middleware that are named by their
     *     class; null: they are made without arguments
     * @param LoggerInterface|null $logger gets what is said of jobs; null: lines on standard error
     * @param array<string, Serializer> $serializers by name, beside JSON
     * @param array<string, int> $partitions how many each queue has that has some, by its name
     */
    public function __construct(
        #[\SensitiveParameter] Client|string|null $server = null,
        private readonly ?ContainerInterface $container = null,
        public readonly ?LoggerInterface $logger = null,
        array $serializers = [],
        array $partitions = [],
    ) {
        $this->tasks = new Tasks($server, [], $serializers, $partitions);
    }

    /**
     * Names the handler of a task.
     *
     * A handler whose first parameter is a Dueq\Worker\Job gets the job there, and the arguments of the task behind it.
     *
     * @param string $task as of Task::__construct(), and so are the others
     * @param callable|class-string $handler called with the arguments; of a class, made anew for each job, the
     *     method __invoke() or handle()
     * @param class-string|list<class-string>|null $retryOn
     * @param class-string|list<class-string> $failOn
     * @param (callable(Job, Throwable): mixed)|class-string|null $onExhausted
     * @param mixed ...$options
     * @throws InvalidArgumentException
     */
    public function on(
        string $task,
        callable|string $handler,
        string $queue = 'default',
        ?float $timeout = null,
        ?float $killAfter = null,
        ?string $serializer = null,
        string|array|null $retryOn = null,
        string|array $failOn = [],
        callable|string|null $onExhausted = null,
        mixed ...$options,
    ): static {
        $known = new Task($task, $queue, $timeout, $killAfter, $serializer, $retryOn, $failOn, $onExhausted, ...$options);

        return $this->add($known, $handler);
    }

    /**
     * Names a class that has the attribute Task as the handler of its task.
     *
     * @param class-string ...$classes
     * @throws InvalidArgumentException
     */
    public function tasks(string ...$classes): static
    {
        foreach ($classes as $class) {
            $this->add(Task::of($class) ?? throw new InvalidArgumentException("$class has no attribute Dueq\\Task"), $class);
        }

        return $this;
    }

    /**
     * Finds the classes with the attribute Task in folders, as Composer's autoload knows their classes (psr-4,
     * classmap). Only files in which "Task" stands are loaded.
     *
     * @throws InvalidArgumentException
     */
    public function discover(string ...$folders): static
    {
        foreach ($folders as $folder) {
            $this->folders[] = $folder;
            $this->tasks(...array_filter(ClassFinder::in($folder), fn ($class) => Task::of($class) !== null));
        }

        return $this;
    }

    /**
     * Names the handler of a queue's messages that are no tasks: it is called with the Job, whose message it reads. The
     * message is acknowledged when it returns, and retried when it throws, unless it has settled it.
     *
     * @param (callable(Job): mixed)|class-string $handler as of on()
     * @param float|null $timeout as of Task::__construct(), and so is the other
     * @throws InvalidArgumentException
     */
    public function onQueue(string $queue, callable|string $handler, ?float $timeout = null, ?float $killAfter = null): static
    {
        $this->queueHandlers[$queue] = new Handler(new Task($queue, $queue, $timeout, $killAfter), $handler, $this->container);

        return $this;
    }

    /**
     * Runs something around each job: the first that is named is the outermost.
     *
     * @param (callable(Job, Closure(Job): mixed): mixed)|class-string ...$middleware called with the job and what runs the rest; of a class,
     *     the method __invoke() or handle()
     */
    public function middleware(callable|string ...$middleware): static
    {
        array_push($this->middleware, ...array_values($middleware));

        return $this;
    }

    /**
     * Names what is called once when a job has failed for good: its attempts are exhausted, retryOn or failOn of its task
     * ends it, its process was killed by its time limit, or it called Job::fail(). Its message is settled then; it is
     * dead, in its dead-letter queue or deleted. It is not called for a message that is dead by crashes or by its time to
     * live, nor for an unknown task.
     *
     * @param (callable(Job, Throwable): mixed)|class-string $hook called with what the job failed by; of a class, the method __invoke() or
     *     handle(). For Job::fail('text') that is a Dueq\Worker\Decided with the text. What it throws is logged
     */
    public function onExhausted(callable|string $hook): static
    {
        if (!is_callable($hook) && !class_exists($hook)) {
            throw new InvalidArgumentException("onExhausted is neither a callable nor a class: $hook");
        }
        $this->onExhausted = $hook;

        return $this;
    }

    /**
     * Pushes a task, as Tasks::push().
     *
     * @param array<mixed> $arguments
     */
    public function push(
        string $task,
        array $arguments = [],
        float|DateInterval|null $delay = null,
        float|int|DateTimeInterface|null $at = null,
        ?string $id = null,
        ?string $queue = null,
        mixed ...$options,
    ): string {
        return $this->tasks->push($task, $arguments, $delay, $at, $id, $queue, ...$options);
    }

    /** @return list<string> the queues of its tasks and handlers, in the order in which they were named */
    public function queues(): array
    {
        $queues = array_map(fn (Handler $handler) => $handler->task->queue, array_values($this->handlers));

        return array_values(array_unique([...$queues, ...array_map(strval(...), array_keys($this->queueHandlers))]));
    }

    /** @return list<string> the folders of discover() */
    public function folders(): array
    {
        return $this->folders;
    }

    /**
     * The job of a message.
     *
     * @param (callable(): bool)|null $isStopping whether the job is to end soon; null: never
     * @throws UnknownTask
     * @throws Throwable of the serializer
     */
    public function job(Message $message, ?callable $isStopping = null): Job
    {
        $handler = $this->handlerOf($message);
        if (!isset($message->headers['task'])) {
            return new Job($message, $handler, [], $isStopping, $this->tasks);
        }
        try {
            $serializer = $this->tasks->serializer($message->headers['serializer'] ?? null);
        } catch (InvalidArgumentException $error) {
            throw new UnknownTask("the task {$message->headers['task']}: {$error->getMessage()}");
        }
        [$args, $kwargs] = $serializer->decode($message->body);

        return new Job($message, $handler, [...$args, ...$kwargs], $isStopping, $this->tasks);
    }

    /** Runs a job with the middleware around it. What the job asked for is done by settle(). */
    public function run(Job $job): mixed
    {
        $next = $job->handler->call(...);
        foreach (array_reverse($this->middleware) as $around) {
            $called = is_callable($around) ? $around : Handler::made($around, $this->container);
            $next = fn (Job $job) => $called($job, $next);
        }

        return OpenTelemetry::process($job->message, fn () => $job->run(fn () => $next($job)), $this->tasks->client()->url());
    }

    /**
     * @internal Settles the message of a job that has run, where that is not left to the consumer's loop.
     * @param Throwable|null $failure what run() threw
     * @return Decision|null what was done; null: the loop does it
     * @throws Exception\DueqException
     */
    public function settle(Job $job, ?Throwable $failure): ?Decision
    {
        $message = $job->message;
        $decision = match (true) {
            $failure === null => $job->decision(),
            $failure instanceof Stop || $message->isSettled() => null,
            $job->handler->task->isFinal($failure) => new Decision(Settlement::Bury, null, $failure),
            // So that it is known whether this was the last attempt.
            $this->hookOf($job) !== null && $message->attempt === $message->maxAttempts => new Decision(Settlement::Retry, null, $failure),
            default => null,
        };
        $decision?->settle($message, $this->tasks->client()->url());

        return $decision;
    }

    /** @internal Calls what onExhausted() names. */
    public function tellExhausted(Job $job, Throwable $error, LoggerInterface $logger): void
    {
        $hook = $this->hookOf($job);
        if ($hook === null) {
            return;
        }
        try {
            $called = is_callable($hook) ? $hook : Handler::made($hook, $this->container);
            $called($job, $error);
        } catch (Throwable $failure) {
            $text = "$job: onExhausted failed: " . $failure::class . ": {$failure->getMessage()}";
            $logger->error($text, ['id' => $job->message->id, 'exception' => $failure]);
        }
    }

    /** @return (callable(Job, Throwable): mixed)|class-string|null */
    private function hookOf(Job $job): callable|string|null
    {
        return $job->handler->task->onExhausted ?? $this->onExhausted;
    }

    /** @param callable|class-string $handler */
    private function add(Task $task, callable|string $handler): static
    {
        if (isset($this->handlers[$task->name])) {
            throw new InvalidArgumentException("the task {$task->name} has two handlers");
        }
        $this->handlers[$task->name] = new Handler($task, $handler, $this->container);
        $this->tasks->add($task);

        return $this;
    }

    private function handlerOf(Message $message): Handler
    {
        $task = $message->headers['task'] ?? null;
        if ($task === null) {
            return $this->queueHandlers[$this->tasks->wholeOf($message->queue)] ?? throw new UnknownTask(
                "the message has no header task, and the queue {$message->queue} has no handler here",
            );
        }
        $known = $this->handlers === [] ? 'none' : implode(', ', array_keys($this->handlers));

        return $this->handlers[$task] ?? throw new UnknownTask("there is no task $task here; there are: $known");
    }
}
