<?php

declare(strict_types=1);

namespace Dueq;

use DateInterval;
use DateTimeInterface;
use Dueq\Worker\Json;
use Dueq\Worker\Serializer;
use InvalidArgumentException;

/**
 * Pushes tasks. It needs no worker: a web request pushes what a worker, in whatever language, runs by its name.
 *
 *     $tasks = new Dueq\Tasks();
 *     $tasks->push('send_receipt', [17, 'copy' => true], delay: 60.0, queue: 'mail');
 *     $tasks->push(SendReceipt::class, [17]);              // with the options of its attribute
 *
 * @phpstan-import-type Draft from QueueInterface
 */
final class Tasks
{
    /** Headers that make a message a task. */
    private const RESERVED = ['task', 'serializer', 'cursor'];

    private readonly Client $client;

    /** @var array<string, Task> by name, and by class */
    private array $known = [];

    /** @var array<string, Queue> */
    private array $queues = [];

    /** @var array<string, Serializer> */
    private readonly array $serializers;

    /**
     * @param Client|string|null $server the server's URL, as of Queue::__construct(), or a client of it
     * @param iterable<Task|class-string> $tasks those whose options are to be known by the task's name; a class
     *     that is pushed need not be named here
     * @param array<string, Serializer> $serializers by name, beside JSON
     * @param array<string, int> $partitions how many each queue has that has some, by its name
     */
    public function __construct(
        #[\SensitiveParameter] Client|string|null $server = null,
        iterable $tasks = [],
        array $serializers = [],
        public readonly array $partitions = [],
    ) {
        $this->client = $server instanceof Client ? $server : new Client($server);
        $this->serializers = $serializers;
        foreach ($tasks as $task) {
            $this->add($task instanceof Task ? $task : $this->taskOf($task));
        }
    }

    /** Makes the options of a task known: they are those of each push of it. */
    public function add(Task $task): void
    {
        $this->known[$task->name] = $task;
    }

    /**
     * Pushes a task.
     *
     * @param string $task its name, or a class that has the attribute Task
     * @param array<mixed> $arguments of its handler: values with integer keys by their order, those with text keys
     *     by their names. Values are what JSON has
     * @param float|DateInterval|null $delay as of Queue::push(), and so are $at and $id. A task that is unique and
     *     is pushed without an id gets one that is made of its name and its arguments
     * @param string|null $queue null: the task's
     * @param mixed ...$options over those of the task, as named arguments of Queue::push()
     * @return string the message's id
     * @throws InvalidArgumentException
     * @throws \JsonException when an argument is not what JSON has; it names the task and the argument
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
        $due = array_filter(['delay' => $delay, 'at' => $at], fn ($value) => $value !== null);
        $queue = $this->queue($queue ?? $known->queue);
        // The draft is made within, where its headers get the context of the span.
        $push = fn () => $queue->push(...$this->draft($task, $arguments, $id, ...$options), ...$due);

        return OpenTelemetry::send($queue, $push, ($options + $known->options)['headers'] ?? []);
    }

    /**
     * The message of a task, for Queue::pushMany() and for the successors of Message::ack(). It may be given a delay there.
     *
     * @param string $task as of push(), and so are the others
     * @param array<mixed> $arguments
     * @return Draft
     */
    public function draft(string $task, array $arguments = [], ?string $id = null, mixed ...$options): array
    {
        $task = $this->taskOf($task);
        Task::check($task->name, $options);
        $options += $task->options;
        $names = array_filter($arguments, is_string(...), ARRAY_FILTER_USE_KEY);
        $body = $this->encoded($task, array_values(array_diff_key($arguments, $names)), $names);
        if ($id === null && ($options['unique'] ?? null) !== null) {
            $id = "{$task->name}:" . substr(hash('sha256', $body), 0, 32);
        }
        $headers = ['task' => $task->name];
        if ($task->serializer !== null) {
            $headers['serializer'] = $task->serializer;
        }
        $given = $options['headers'] ?? [];
        if (array_intersect_key($given, array_flip(self::RESERVED)) !== []) {
            throw new InvalidArgumentException('the headers ' . implode(', ', self::RESERVED) . ' are for tasks alone');
        }
        $options['headers'] = OpenTelemetry::headers($headers + $given);

        /** @var Draft as check() and the class Task have seen the options */
        $draft = ['body' => $body, 'id' => $id] + $options;

        return $draft;
    }

    /** A queue of the server, with its partitions, for messages that are no tasks. */
    public function queue(string $name): Queue
    {
        return $this->queues[$name] ??= $this->client->queue($name, partitions: $this->partitions[$name] ?? null);
    }

    /**
     * @internal
     * @param non-empty-list<string> $queues one of partitions is alone
     * @param Order $order as of Dueq\Queues
     * @throws InvalidArgumentException
     */
    public function source(array $queues, Order $order = Order::Preference): Queue|Queues
    {
        foreach ($queues as $queue) {
            if (isset($this->partitions[$queue])) {
                return count(array_unique($queues)) === 1 ? $this->queue($queue) : throw new InvalidArgumentException(
                    "$queue has partitions, and needs a worker of its own: --queues $queue",
                );
            }
        }

        return $this->client->queues($queues, $order);
    }

    /** @internal The queue that a task is pushed to where none is named. */
    public function queueOf(string $task): string
    {
        return $this->taskOf($task)->queue;
    }

    /** @internal The name of a queue, also of that which a partition belongs to. */
    public function wholeOf(string $queue): string
    {
        $whole = substr($queue, 0, (int) strrpos($queue, '#'));

        return isset($this->partitions[$whole]) ? $whole : $queue;
    }

    /** The client of the server. */
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
        } catch (\JsonException $error) {
            foreach ([...$args, ...$kwargs] as $name => $value) {
                try {
                    Json::write($value);
                } catch (\JsonException $error) {
                    $name = is_int($name) ? 'argument ' . ($name + 1) : $name;
                    throw new \JsonException("the task {$task->name}, $name: {$error->getMessage()}", $error->getCode(), $error);
                }
            }
            throw $error;
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

        return $task;
    }
}
