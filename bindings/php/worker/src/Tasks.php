<?php

declare(strict_types=1);

namespace Dueq;

use DateInterval;
use DateTimeInterface;
use Dueq\Worker\Arguments;
use Dueq\Worker\Forms;
use Dueq\Worker\Json;
use Dueq\Worker\Links;
use Dueq\Worker\Routes;
use Dueq\Worker\Serializer;
use InvalidArgumentException;
use Symfony\Component\Serializer\Normalizer\DenormalizerInterface;
use Symfony\Component\Serializer\Normalizer\NormalizerInterface;
use Throwable;

/**
 * Pushes tasks, as a web request does. A worker in any language runs each task by its name.
 *
 *     $tasks = new Dueq\Tasks();
 *     $tasks->push('send_receipt', [17, 'copy' => true], delay: 60.0, queue: 'mail');
 *     $tasks->push(SendReceipt::class, [17]);              // with the options of its attribute
 *
 * @phpstan-import-type Draft from QueueInterface
 */
final class Tasks
{
    /** Headers that a worker reads or writes: a push may not set them. */
    private const RESERVED = ['task', 'serializer', 'cursor', Links::CHAIN, Links::FAILED];

    private readonly Client $client;

    /** @var array<string, Task> by the task's name, and by the class that has the attribute */
    private array $known = [];

    /** @var array<string, Arguments> by the task's name: of those whose handler is known */
    private array $taken = [];

    private readonly Forms $forms;

    /** @var array<string, string> the queue of each task that is not to go to its own one */
    private readonly array $routes;

    /** @var array<string, Queue> */
    private array $queues = [];

    /** @var array<string, Serializer> */
    private readonly array $serializers;

    /**
     * @param Client|string|null $server a client, or the server's URL as for Queue::__construct()
     * @param iterable<Task|class-string> $tasks tasks whose options each push by the task's name
     *     gets. Classes that are pushed by their class name need not be listed
     * @param array<string, Serializer> $serializers by name, besides JSON
     * @param array<string, int> $partitions the number of partitions of each queue that has
     *     partitions, by the queue's name
     * @param (NormalizerInterface&DenormalizerInterface)|null $normalizer writes and reads the
     *     objects among the arguments, such as a Serializer of Symfony; null: dueq does so for
     *     classes whose constructor promotes every parameter to a property
     * @param array<string, string>|string|null $routes the queue of each task that is not to go to
     *     its own one: ['send_receipt' => 'mail'], or a file with this as JSON, or the URL of one
     *     (http, https). null: DUEQ_ROUTES names the file or the URL, if it is set. $queue of a
     *     push is stronger
     * @throws Exception\DueqException for a URL that Client::__construct() refuses
     * @throws InvalidArgumentException for a class without the attribute Task, or routes that
     *     cannot be read
     */
    public function __construct(
        #[\SensitiveParameter] Client|string|null $server = null,
        iterable $tasks = [],
        array $serializers = [],
        public readonly array $partitions = [],
        (NormalizerInterface&DenormalizerInterface)|null $normalizer = null,
        array|string|null $routes = null,
    ) {
        $this->routes = Routes::read($routes);
        $this->forms = new Forms($normalizer);
        $this->client = $server instanceof Client ? $server : new Client($server);
        $this->serializers = $serializers;
        foreach ($tasks as $task) {
            $this->add($task instanceof Task ? $task : $this->taskOf($task));
        }
    }

    /** Adds a task: each push of its name then has its options. */
    public function add(Task $task): void
    {
        $this->known[$task->name] = $task;
    }

    /**
     * Pushes a task.
     *
     * @param string $task its name, or a class that has the attribute Task
     * @param array<mixed> $arguments arguments of the handler: integer keys give them by position,
     *     text keys by name. Values are those that JSON can express, times, intervals, enums and
     *     objects (docs/internals/protocol.md, Arguments of tasks), or what the task's serializer
     *     takes. Where the handler is known, by $task as a class or in a Worker, they are checked
     * @param float|DateInterval|null $delay as for Queue::push(), in seconds
     * @param float|int|DateTimeInterface|null $at as for Queue::push()
     * @param string|null $id as for Queue::push(). A task with the option unique that is pushed
     *     without an id gets an id that is made of its name and its arguments
     * @param string|null $queue null: the queue of the routes, or else that of the task
     * @param mixed ...$options named arguments of Queue::push(), which replace the options of the
     *     task
     * @return string the id of the message
     * @throws InvalidArgumentException for an option that does not exist, a header that a worker
     *     sets, or an argument that the handler does not take
     * @throws \JsonException when JSON cannot express an argument; the text names the task and the
     *     argument
     * @throws Exception\DueqException as Queue::push()
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
        $known = $this->taskOf($task);
        $queue ??= $this->queueOf($task);
        $due = self::due($delay, $at);
        $queue = $this->queue($queue);
        // The draft is made within the span, so that its headers carry the span's context.
        $push = fn () => $queue->push(
            ...$this->draft($task, $arguments, $id, ...$options),
            ...$due,
        );

        return OpenTelemetry::send($queue, $push, ($options + $known->options)['headers'] ?? []);
    }

    /**
     * Makes the message of a task, for Queue::pushMany() and as a successor for Message::ack(). The
     * caller may add a delay.
     *
     * @param string $task as for push(), like the other parameters
     * @param array<mixed> $arguments
     * @return Draft
     * @throws InvalidArgumentException|\JsonException as push()
     */
    public function draft(
        string $task,
        array $arguments = [],
        ?string $id = null,
        mixed ...$options,
    ): array {
        return $this->linkDraft($task, $arguments, $id, $options, []);
    }

    /**
     * Begins a chain of tasks, which run one after the other: Chain has an example.
     *
     * @param string $task the first one, as for push(), like the other parameters
     * @param array<mixed> $arguments
     * @param mixed ...$options
     * @throws InvalidArgumentException|\JsonException as push()
     */
    public function chain(
        string $task,
        array $arguments = [],
        float|DateInterval|null $delay = null,
        float|int|DateTimeInterface|null $at = null,
        ?string $id = null,
        ?string $queue = null,
        mixed ...$options,
    ): Chain {
        // The chain adds the context of the span in which it is pushed.
        $first = $this->linkDraft($task, $arguments, $id, $options, [], false);
        $first += self::due($delay, $at);

        return new Chain($this, $first, $queue ?? $this->queueOf($task));
    }

    /**
     * @internal When a message is due, as options of its draft; null: the option is not given.
     * @return array{delay?: float|DateInterval, at?: float|int|DateTimeInterface}
     */
    public static function due(
        float|DateInterval|null $delay,
        float|int|DateTimeInterface|null $at,
    ): array {
        return array_filter(['delay' => $delay, 'at' => $at], fn ($value) => $value !== null);
    }

    /**
     * @internal As draft().
     * @param array<mixed> $arguments
     * @param array<int|string, mixed> $options
     * @param list<int|string> $gaps the places of arguments that are not known yet, and null here
     * @param bool $isTraced whether the headers carry the context of the caller's span
     * @return Draft
     * @throws InvalidArgumentException|\JsonException as push()
     */
    public function linkDraft(
        string $task,
        array $arguments,
        ?string $id,
        array $options,
        array $gaps,
        bool $isTraced = true,
    ): array {
        $task = $this->taskOf($task);
        Task::check($task->name, $options);
        $options += $task->options;
        $names = array_filter($arguments, is_string(...), ARRAY_FILTER_USE_KEY);
        $args = array_values(array_diff_key($arguments, $names));
        $body = $this->encoded($task, $args, $names);
        ($this->taken[$task->name] ?? null)?->check(
            [...$args, ...$names],
            fn () => array_diff_key(
                array_merge(...$this->serializer($task->serializer)->decode($body)),
                array_flip($gaps),
            ),
        );
        if ($gaps !== [] && ($task->serializer ?? 'json') !== 'json') {
            throw new InvalidArgumentException(
                "the task {$task->name}: only the serializer json has arguments that are not known",
            );
        }
        if ($id === null && ($options['unique'] ?? null) !== null) {
            if ($gaps !== []) {
                throw new InvalidArgumentException(
                    "the task {$task->name}: unique: not all arguments are known, so give it an id",
                );
            }
            $id = "{$task->name}:" . substr(hash('sha256', $body), 0, 32);
        }
        $headers = ['task' => $task->name];
        if ($task->serializer !== null) {
            $headers['serializer'] = $task->serializer;
        }
        $given = $options['headers'] ?? [];
        if (array_intersect_key($given, array_flip(self::RESERVED)) !== []) {
            throw new InvalidArgumentException(
                'a push cannot set the headers ' . implode(', ', self::RESERVED)
                    . ': the worker needs them',
            );
        }
        $headers += $given;
        $options['headers'] = $isTraced ? OpenTelemetry::headers($headers) : $headers;

        /** @var Draft check() and Task::__construct() have checked the options */
        $draft = ['body' => $body, 'id' => $id] + $options;

        return $draft;
    }

    /**
     * A handle of a task that was pushed with `keep`, by any program in any language.
     *
     * @param string $id the id of its message
     * @param string|null $queue the queue to which it was pushed; null: the queues of the known
     *     tasks are asked one after the other
     */
    public function handle(string $id, ?string $queue = null): Handle
    {
        $names = array_map(fn (Task $task) => $this->queueOf($task->name), $this->known);
        $all = array_unique([...array_values($names), ...array_column($this->known, 'queue')]);

        return new Handle($id, $this, $queue === null ? array_values($all) : [$queue]);
    }

    /**
     * The result of a task, as Handle::result().
     *
     * @throws TaskFailed|NotEnded|Exception\DueqException as Handle::result()
     */
    public function result(
        string $id,
        float|DateInterval $timeout = 0.0,
        ?string $queue = null,
    ): mixed {
        return $this->handle($id, $queue)->result($timeout);
    }

    /**
     * A queue of the server, with its partitions if it has some: for messages that are not tasks.
     */
    public function queue(string $name): Queue
    {
        return $this->queues[$name] ??= $this->client->queue(
            $name,
            partitions: $this->partitions[$name] ?? null,
        );
    }

    /**
     * @internal
     * @param non-empty-list<string> $queues a queue with partitions must be the only one
     * @param Order $order as for Dueq\Queues
     * @throws InvalidArgumentException
     */
    public function source(array $queues, Order $order = Order::Preference): Queue|Queues
    {
        foreach ($queues as $queue) {
            if (isset($this->partitions[$queue])) {
                return count(array_unique($queues)) === 1
                    ? $this->queue($queue)
                    : throw new InvalidArgumentException(
                        "$queue has partitions, and needs a worker of its own: --queues $queue",
                    );
            }
        }

        return $this->client->queues($queues, $order);
    }

    /** @internal The handler of a task is known: pushes of the task are checked. */
    public function takes(string $task, Arguments $arguments): void
    {
        $this->taken[$task] = $arguments;
    }

    /** @internal */
    public function forms(): Forms
    {
        return $this->forms;
    }

    /** @internal The queue to which a task is pushed by default. */
    public function queueOf(string $task): string
    {
        $known = $this->taskOf($task);

        return $this->routes[$known->name] ?? $known->queue;
    }

    /** @internal The name of the queue to which a partition belongs; any other name as it is. */
    public function wholeOf(string $queue): string
    {
        $whole = substr($queue, 0, (int) strrpos($queue, '#'));

        return isset($this->partitions[$whole]) ? $whole : $queue;
    }

    /** The client through which tasks are pushed. */
    public function client(): Client
    {
        return $this->client;
    }

    /**
     * @internal
     * @param string|null $name null: JSON
     * @throws InvalidArgumentException
     */
    public function serializer(?string $name): Serializer
    {
        $known = $this->serializers + ['json' => new Json()];

        return $known[$name ?? 'json'] ?? throw new InvalidArgumentException(
            "there is no serializer $name here; there are: " . implode(', ', array_keys($known)),
        );
    }

    /**
     * @param list<mixed> $args
     * @param array<string, mixed> $kwargs
     * @throws \JsonException
     */
    private function encoded(Task $task, array $args, array $kwargs): string
    {
        $serializer = $this->serializer($task->serializer);
        if (!$serializer instanceof Json) {
            return $serializer->encode($args, $kwargs);
        }
        try {
            return $serializer->encode($args, $kwargs);
        } catch (\JsonException) {
            // An argument is none of JSON's values.
            $written = [...$args, ...$kwargs];
            foreach ($written as $name => $value) {
                try {
                    $written[$name] = $this->forms->write($value);
                    Json::write($written[$name]);
                } catch (Throwable $error) {
                    $name = is_int($name) ? 'argument ' . ($name + 1) : $name;
                    throw new \JsonException(
                        "the task {$task->name}, $name: {$error->getMessage()}",
                        $error instanceof \JsonException ? $error->getCode() : 0,
                        $error,
                    );
                }
            }

            return $serializer->encode(
                array_slice($written, 0, count($args)),
                array_slice($written, count($args)),
            );
        }
    }

    private function taskOf(string $task): Task
    {
        return $this->known[$task] ??= $this->attributeOf($task) ?? new Task($task);
    }

    private function attributeOf(string $class): ?Task
    {
        $task = class_exists($class) ? Task::of($class) : null;
        if ($task === null && str_contains($class, '\\')) {
            throw new InvalidArgumentException("$class is no class with the attribute Dueq\\Task");
        }
        if ($task !== null) {
            $this->taken[$task->name] ??= new Arguments($task->name, $class, $this->forms);
        }

        return $task;
    }
}
