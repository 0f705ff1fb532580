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
use Dueq\Worker\Schedules;
use Dueq\Worker\Serializer;
use Dueq\Worker\Stop;
use Dueq\Worker\UnknownTask;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;
use Psr\Log\LoggerInterface;
use RuntimeException;
use Symfony\Component\Serializer\Normalizer\DenormalizerInterface;
use Symfony\Component\Serializer\Normalizer\NormalizerInterface;
use Throwable;

/**
 * The tasks of a worker, and their handlers. A bootstrap file returns this object, and
 * `vendor/bin/dueq-worker bootstrap.php` runs it:
 *
 *     return (new Dueq\Worker())
 *         ->discover(__DIR__ . '/src/Tasks')
 *         ->on(
 *             'send_receipt',
 *             function (int $order, bool $copy = false): void { ... },
 *             queue: 'mail',
 *         );
 */
final class Worker
{
    /** Pushes tasks, with the options that this worker gives them. */
    public readonly Tasks $tasks;

    /** @var array<string, Handler> by task */
    private array $handlers = [];

    /** @var array<string, Handler> by queue */
    private array $queueHandlers = [];

    /** @var list<(callable(Job, Closure(Job): mixed): mixed)|class-string> */
    private array $middleware = [];

    /** @var (callable(Job, Throwable): mixed)|class-string|null */
    private mixed $onExhausted = null;

    /** @var list<callable(): mixed> */
    private array $startHooks = [];

    /** @var list<callable(): mixed> */
    private array $stopHooks = [];

    /** @var list<string> */
    private array $folders = [];

    /**
     * @param Client|string|null $server a client, or the server's URL as for Queue::__construct()
     * @param ContainerInterface|null $container makes the handlers and the middleware that are
     *     given as class names; null: they are made without arguments
     * @param LoggerInterface|null $logger gets the log of jobs; null: lines on standard error
     * @param array<string, Serializer> $serializers by name, besides JSON
     * @param array<string, int> $partitions the number of partitions of each queue that has
     *     partitions, by the queue's name
     * @param string|null $name of the app, 1 to 64 characters without blanks and @: who has
     *     declared the schedules of its tasks. Each program has a name of its own
     * @param string|null $release which version of the program this is, as "v42" or a commit: 1 to
     *     64 characters without blanks and @; null: $DUEQ_RELEASE, else a digest of all its
     *     schedules. A release that was replaced does not declare schedules for an hour
     * @param (NormalizerInterface&DenormalizerInterface)|null $normalizer as for Tasks
     * @param array<string, string>|string|null $routes as for Tasks
     * @throws InvalidArgumentException for a wrong name or release
     * @throws Exception\DueqException for a URL that Client::__construct() refuses
     */
    public function __construct(
        #[\SensitiveParameter] Client|string|null $server = null,
        private readonly ?ContainerInterface $container = null,
        public readonly ?LoggerInterface $logger = null,
        array $serializers = [],
        array $partitions = [],
        private readonly ?string $name = null,
        private readonly ?string $release = null,
        (NormalizerInterface&DenormalizerInterface)|null $normalizer = null,
        array|string|null $routes = null,
    ) {
        $name === null || Schedules::checkLabel('name', $name);
        $release === null || Schedules::checkLabel('release', $release);
        $this->tasks = new Tasks($server, [], $serializers, $partitions, $normalizer, $routes);
    }

    /**
     * Sets the handler of a task. If the first parameter of the handler is a Dueq\Worker\Job, the
     * handler gets the job there, and the arguments of the task behind it.
     *
     * @param string $task as for Task::__construct(), like the parameters behind $handler
     * @param callable|class-string $handler called with the arguments of the task. A class: each
     *     job gets a new object, and its method __invoke() or handle() is called
     * @param class-string|list<class-string>|null $retryOn
     * @param class-string|list<class-string> $failOn
     * @param (callable(Job, Throwable): mixed)|class-string|null $onExhausted
     * @param mixed ...$options
     * @throws InvalidArgumentException if the task has a handler already, or as Task::__construct()
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
        ?string $cron = null,
        ?float $every = null,
        string $tz = 'UTC',
        CatchUp $catchup = CatchUp::Once,
        mixed ...$options,
    ): static {
        $known = new Task(
            $task,
            $queue,
            $timeout,
            $killAfter,
            $serializer,
            $retryOn,
            $failOn,
            $onExhausted,
            $cron,
            $every,
            $tz,
            $catchup,
            ...$options,
        );

        return $this->add($known, $handler);
    }

    /**
     * Makes classes with the attribute Task the handlers of their tasks.
     *
     * @param class-string ...$classes
     * @throws InvalidArgumentException for a class without the attribute, or a task that has a
     *     handler already
     */
    public function tasks(string ...$classes): static
    {
        foreach ($classes as $class) {
            $this->add(
                Task::of($class)
                    ?? throw new InvalidArgumentException("$class has no attribute Dueq\\Task"),
                $class,
            );
        }

        return $this;
    }

    /**
     * Makes the classes with the attribute Task in these folders the handlers of their tasks.
     * Composer's autoload must know the classes (psr-4 or classmap). Only files whose text contains
     * "Task" are loaded.
     *
     * @throws InvalidArgumentException for a folder that does not exist, or a task that has a
     *     handler already
     */
    public function discover(string ...$folders): static
    {
        foreach ($folders as $folder) {
            $this->folders[] = $folder;
            $this->tasks(...array_filter(
                ClassFinder::in($folder),
                fn ($class) => Task::of($class) !== null,
            ));
        }

        return $this;
    }

    /**
     * Sets the handler for messages of a queue that are not tasks. The handler gets the Job, and
     * reads its message. When the handler returns, the worker acknowledges the message. When the
     * handler throws, the worker retries the message. A message that the handler has settled itself
     * is left alone.
     *
     * @param (callable(Job): mixed)|class-string $handler as for on()
     * @param float|null $timeout as for Task::__construct(), like $killAfter
     * @throws InvalidArgumentException
     */
    public function onQueue(
        string $queue,
        callable|string $handler,
        ?float $timeout = null,
        ?float $killAfter = null,
    ): static {
        $this->queueHandlers[$queue] = new Handler(
            new Task($queue, $queue, $timeout, $killAfter),
            $handler,
            $this->container,
            $this->tasks->forms(),
        );

        return $this;
    }

    /**
     * Adds middleware, which runs around each job. The first that was added is the outermost.
     *
     * @param (callable(Job, Closure(Job): mixed): mixed)|class-string ...$middleware called with
     *     the job and a callable that runs the rest. A class: its method __invoke() or handle() is
     *     called
     */
    public function middleware(callable|string ...$middleware): static
    {
        array_push($this->middleware, ...array_values($middleware));

        return $this;
    }

    /**
     * Sets the hook that is called once when a job has failed for good: its attempts are exhausted,
     * retryOn or failOn of its task ended it, the worker killed its process after its time limit,
     * or the job called Job::fail(). The message is settled by then: it is dead, in its dead-letter
     * queue, or deleted. The hook is not called for messages that die by crashes or by their time
     * to live, nor for an unknown task.
     *
     * @param (callable(Job, Throwable): mixed)|class-string $hook called with the job and its
     *     error, which for Job::fail('text') is a Dueq\Worker\Decided with the text. A class: its
     *     method __invoke() or handle() is called. The worker logs what the hook throws
     * @throws InvalidArgumentException if $hook is neither a callable nor a class
     */
    public function onExhausted(callable|string $hook): static
    {
        if (!is_callable($hook) && !class_exists($hook)) {
            throw new InvalidArgumentException(
                "onExhausted is neither a callable nor a class: $hook",
            );
        }
        $this->onExhausted = $hook;

        return $this;
    }

    /**
     * Adds callables that each process calls once, before it takes messages, in the order in which
     * they were added. If one throws, the worker ends with the exit status 1.
     *
     * @param callable(): mixed ...$hooks
     */
    public function onStart(callable ...$hooks): static
    {
        array_push($this->startHooks, ...array_values($hooks));

        return $this;
    }

    /**
     * Adds callables that each process calls once, when its jobs have ended and it is about to end,
     * in the order in which they were added. The worker logs what they throw. They are not called
     * if the process is killed.
     *
     * @param callable(): mixed ...$hooks
     */
    public function onStop(callable ...$hooks): static
    {
        array_push($this->stopHooks, ...array_values($hooks));

        return $this;
    }

    /**
     * Pushes a task, as Tasks::push().
     *
     * @param array<mixed> $arguments
     * @return string the id of the message
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

    /**
     * @return list<string> the queues of the tasks and of the handlers, in the order in which they
     *     were added. A task with a route has two: in its own one messages of earlier pushes may
     *     wait
     */
    public function queues(): array
    {
        $tasks = array_map(
            fn (Handler $handler) => $handler->task,
            array_values($this->handlers),
        );

        return array_values(array_unique([
            ...array_map(fn (Task $task) => $this->tasks->queueOf($task->name), $tasks),
            ...array_column($tasks, 'queue'),
            ...array_map(strval(...), array_keys($this->queueHandlers)),
        ]));
    }

    /** @internal The names of all tasks that have a handler, each in a line; null: none has. */
    public function taskNames(): ?string
    {
        return $this->handlers === [] ? null : implode("\n", array_keys($this->handlers));
    }

    /** @internal The schedules of the tasks. */
    public function schedules(): Schedules
    {
        $tasks = array_map(
            fn (Handler $handler) => $handler->task,
            array_values($this->handlers),
        );

        return new Schedules(
            $this->tasks,
            $this->name,
            $this->release,
            array_values(array_filter($tasks, fn (Task $task) => $task->expression !== null)),
        );
    }

    /**
     * @internal Calls the hooks of onStart().
     * @throws RuntimeException if one throws
     */
    public function start(): void
    {
        foreach ($this->startHooks as $hook) {
            try {
                $hook();
            } catch (Throwable $error) {
                $text = $error::class . ": {$error->getMessage()}";
                throw new RuntimeException("onStart: the worker cannot start: $text", 0, $error);
            }
        }
    }

    /** @internal Calls the hooks of onStop(), and logs what they throw. */
    public function stop(LoggerInterface $logger): void
    {
        foreach ($this->stopHooks as $hook) {
            try {
                $hook();
            } catch (Throwable $error) {
                $text = 'onStop: ' . $error::class . ": {$error->getMessage()}";
                $logger->error($text, ['exception' => $error]);
            }
        }
    }

    /** @return list<string> the folders of discover() */
    public function folders(): array
    {
        return $this->folders;
    }

    /**
     * Makes the job of a message.
     *
     * @param (callable(): bool)|null $isStopping whether the worker is about to stop; null: it
     *     never is
     * @throws UnknownTask if this worker has no handler or no serializer for the message
     * @throws Throwable if the serializer cannot decode the body, or an argument is not of the type
     *     that the handler declares
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

        $arguments = $handler->arguments->read([...$args, ...$kwargs]);

        return new Job($message, $handler, $arguments, $isStopping, $this->tasks);
    }

    /** Runs a job with the middleware around it. settle() then settles its message. */
    public function run(Job $job): mixed
    {
        $next = fn (Job $job) => $job->returned($job->handler->call($job));
        foreach (array_reverse($this->middleware) as $around) {
            $called = is_callable($around) ? $around : Handler::made($around, $this->container);
            $next = fn (Job $job) => $called($job, $next);
        }

        $result = OpenTelemetry::process(
            $job->message,
            fn () => $job->run(fn () => $next($job)),
            $this->tasks->client()->url(),
        );
        $job->keepResult($result, $this->tasks->forms());

        return $result;
    }

    /**
     * @internal Settles the message of a job that has run, unless the consumer's loop does so.
     * @param Throwable|null $failure what run() threw; null: nothing
     * @return Decision|null how the message was settled; null: the consumer's loop settles it
     * @throws Exception\DueqException
     */
    public function settle(Job $job, ?Throwable $failure): ?Decision
    {
        $message = $job->message;
        if ($failure !== null || $job->decision()?->leavesMessage()) {
            $job->keepNews();
        }
        $decision = match (true) {
            $failure === null => $job->decision(),
            $failure instanceof Stop || $message->isSettled() => null,
            $job->handler->task->isFinal($failure) => new Decision(
                Settlement::Bury,
                null,
                $failure,
            ),
            // Settles the message here rather than in the loop: the hook needs to know whether this
            // was the last attempt.
            $this->hookOf($job) !== null && $message->attempt === $message->maxAttempts
                => new Decision(Settlement::Retry, null, $failure),
            default => null,
        };
        $decision?->settle($message, $this->tasks->client()->url());

        return $decision;
    }

    /** @internal Calls the hook of onExhausted(), and logs what the hook throws. */
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
        if ($task->expression !== null && $this->name === null) {
            throw new InvalidArgumentException(
                "the task {$task->name}: cron, every: the worker has no name, by which dueq "
                    . "schedule prune finds the schedules of an app: "
                    . "new Dueq\Worker(name: 'shop')",
            );
        }
        if (isset($this->handlers[$task->name])) {
            throw new InvalidArgumentException("the task {$task->name} has two handlers");
        }
        $known = new Handler($task, $handler, $this->container, $this->tasks->forms());
        if ($task->expression !== null && $known->arguments->areNeeded()) {
            throw new InvalidArgumentException(
                "the task {$task->name}: cron and every push the task without arguments, and its "
                    . 'handler needs some',
            );
        }
        $this->handlers[$task->name] = $known;
        $this->tasks->add($task);
        $this->tasks->takes($task->name, $known->arguments);

        return $this;
    }

    private function handlerOf(Message $message): Handler
    {
        $task = $message->headers['task'] ?? null;
        if ($task === null) {
            $queue = $this->tasks->wholeOf($message->queue);

            return $this->queueHandlers[$queue] ?? throw new UnknownTask(
                'the message has no header task, and the queue '
                    . "{$message->queue} has no handler here",
            );
        }
        $known = $this->handlers === [] ? 'none' : implode(', ', array_keys($this->handlers));

        return $this->handlers[$task]
            ?? throw new UnknownTask("there is no task $task here; there are: $known");
    }
}
