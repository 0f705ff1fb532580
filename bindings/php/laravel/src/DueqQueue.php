<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use BackedEnum;
use Closure;
use Dueq\Client;
use Dueq\Exception\DuplicateException;
use Dueq\Message;
use Dueq\OpenTelemetry;
use Dueq\Queue as Messages;
use Dueq\State;
use Illuminate\Contracts\Queue\ClearableQueue;
use Illuminate\Contracts\Queue\Queue as QueueContract;
use Illuminate\Queue\Attributes\Delay;
use Illuminate\Queue\Queue;
use UnitEnum;
use WeakReference;

/**
 * Laravel's queues on dueq, over the connection of one client. A job is a message whose body is the
 * payload and whose id is the payload's uuid. dueq counts the attempts, and only Laravel's worker
 * judges them: messages are pushed without a limit of dueq's own.
 *
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
class DueqQueue extends Queue implements QueueContract, ClearableQueue
{
    use QueueSizes;

    /**
     * Seconds: the longest time that dueq accepts. It means that a running job is kept without a
     * limit.
     */
    private const WITHOUT_END = 4102444800.0;

    /** The source of the last jobs. It is kept, as a worker asks for the same queues again. */
    private ?MessageSource $source = null;

    private readonly PollRound $round;

    private ?WorkerStop $stop = null;

    /** @var WeakReference<DueqJob>|null the last job that pop() returned */
    private ?WeakReference $latest = null;

    /**
     * @var array<string, list<Draft>>|null the drafts that bulk() has gathered so far, by queue;
     *     null: bulk() does not run
     */
    private ?array $gathered = null;

    /**
     * @param Client $client the client of the server
     * @param string $prefix the names of the queues on the server begin with this
     * @param string $default the queue of calls that name none, without the prefix
     * @param float $lease seconds after which another worker gets the job of a killed worker
     * @param float|null $maxRun seconds for which the lease of a running job is extended; null: as
     *     long as its process lives
     * @param float $blockFor seconds for which pop() waits for a job; 0: not at all, INF: without
     *     end
     * @param bool $dispatchAfterCommit whether jobs are pushed only after open database
     *     transactions are committed
     */
    public function __construct(
        private readonly Client $client,
        private readonly string $prefix,
        private readonly string $default,
        private readonly float $lease,
        private readonly ?float $maxRun,
        private readonly float $blockFor,
        bool $dispatchAfterCommit = false,
    ) {
        $this->dispatchAfterCommit = $dispatchAfterCommit;
        $this->round = new PollRound();
    }

    public function push($job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            Horizon::prepare($this->createPayload($job, $this->getQueue($queue), $data), $job),
            $queue,
            null,
            fn ($payload, $queue) => $this->store($payload, $queue, $this->groupOf($job)),
        );
    }

    public function later($delay, $job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            Horizon::prepare(
                $this->createPayload($job, $this->getQueue($queue), $data, $delay),
                $job,
            ),
            $queue,
            $delay,
            fn ($payload, $queue, $delay) => $this->store(
                $payload,
                $queue,
                DueTime::argument($delay) + $this->groupOf($job),
            ),
        );
    }

    /**
     * Pushes a payload as it is, byte for byte.
     *
     * @param array<mixed> $options `MessageGroupId` is the group of the job, as for Laravel's
     *     driver of SQS
     */
    public function pushRaw($payload, $queue = null, array $options = [])
    {
        $group = $options['MessageGroupId'] ?? null;

        return $this->store($payload, $queue, $group === null ? [] : ['group' => (string) $group]);
    }

    /**
     * What pushRaw() needs to push a job again: queue:retry asks for it (since Laravel 12), so that
     * a job keeps its group.
     *
     * @param mixed $job
     * @param string|null $queue
     * @param string $payload
     * @param mixed $delay
     * @return array{MessageGroupId?: string}
     */
    public function getQueueableOptions($job, $queue, $payload, $delay = null): array
    {
        return array_filter(['MessageGroupId' => $this->groupOf($job)['group'] ?? null]);
    }

    /** Pushes jobs in batches of up to 200. Each batch is stored as a whole or not at all. */
    public function bulk($jobs, $data = '', $queue = null)
    {
        $this->gathered = [];
        try {
            foreach ((array) $jobs as $job) {
                $delay = is_object($job) ? $this->delayOf($job) : null;
                if ($delay === null) {
                    $this->push($job, $data, $queue);
                } else {
                    $this->later($delay, $job, $data, $queue);
                }
            }
            $gathered = $this->gathered;
        } finally {
            $this->gathered = null;
        }
        foreach ($gathered as $name => $drafts) {
            $this->storeMany((string) $name, $drafts);
        }
    }

    /**
     * Returns the next job, or null. Waits for a job as long as the connection's block_for says.
     */
    public function pop($queue = null, $index = 0)
    {
        $name = $this->getQueue($queue);
        $job = $this->round->watches($queue)
            ? $this->popForWorker($queue, $name)
            : $this->take([$name], $index === 0 ? $this->blockFor : 0.0);
        if ($job !== null) {
            $this->round->end();
            $this->latest = WeakReference::create($job);
            $this->horizon()->reserved($job);
        } else {
            $this->stop()->endWithoutSleep();
        }

        return $job;
    }

    /**
     * Called when a worker has finished with its job, and is about to ask for these queues, in this
     * order.
     *
     * @param list<string> $queues
     */
    public function watch(array $queues): void
    {
        $this->latest?->get()?->giveBack();
        $this->round->begin($queues);
        $this->stop()->begin();
    }

    /**
     * Deletes all jobs of a queue, also those that workers run: these workers go on to the end of
     * their jobs.
     *
     * @return int how many jobs were deleted
     */
    public function clear($queue = null)
    {
        $messages = $this->messages($queue);

        return $messages->purge(State::Delayed)
            + $messages->purge(State::Leased)
            + $messages->purge(State::Ready);
    }

    /**
     * The name of the queue, without the prefix. "{default}" is "default": Laravel's redis driver
     * needs the braces on a cluster.
     */
    public function getQueue($queue)
    {
        $name = match (true) {
            $queue instanceof BackedEnum => (string) $queue->value,
            $queue instanceof UnitEnum => $queue->name,
            default => (string) $queue,
        };
        $name = preg_replace('/^\{(.*)\}$/Ds', '$1', $name === '' ? $this->default : $name);

        // Since Laravel 13 an application can forward one queue to another.
        return method_exists($this, 'resolveQueue') ? $this->resolveQueue($name) : $name;
    }

    /**
     * The queue of dueq behind a queue of this connection, for operations that Laravel does not
     * have.
     */
    public function messages($queue = null): Messages
    {
        return $this->open($this->getQueue($queue));
    }

    /**
     * Called when queue:pause (since Laravel 13) makes the worker skip a queue, or when the worker
     * asks for the queue again.
     */
    public function skip(string $queue, bool $skips): void
    {
        $this->round->skip($queue, $skips);
    }

    /**
     * Laravel's worker calls pop() once for each of its queues, in order. The call for the last
     * queue waits, and takes a job of any of the queues. The calls before it return null at once.
     */
    private function popForWorker(string $queue, string $name): ?DueqJob
    {
        $last = $this->round->ask($queue, $name);
        if ($this->stop()->isStopped() || (!$last && $this->round->isOrderly())) {
            return null;
        }
        if (!$last) {
            return $this->take([$name], 0.0);
        }
        $asked = $this->round->asked();
        $this->round->end();

        return $this->take(array_values(array_unique($asked)), $this->blockFor, $asked);
    }

    /**
     * @param non-empty-list<string> $names names of the queues
     * @param array<string, string>|null $asked these names by the worker's own names for the
     *     queues; null: the caller is not a worker's loop
     */
    private function take(array $names, float $timeout, ?array $asked = null): ?DueqJob
    {
        $source = $this->source($names);
        $stopped = fn () => $asked !== null && $this->stop()->isStopped();
        while ($message = $source->take($timeout, $stopped)) {
            $name = $this->nameOf($message->queue);
            if (
                $asked !== null
                && $source->hasWaited()
                && $this->isRefused($message, array_keys($asked, $name, true))
            ) {
                return null;
            }
            $job = new DueqJob(
                $this->container,
                $source,
                $message,
                $name,
                $this->lease,
                $this->connectionName,
                $this->horizon(),
                fn () => $this->stop()->isStopped(),
            );
            if ($job->isSound()) {
                return $job;
            }
            $job->bury();
        }

        return null;
    }

    /**
     * Whether the worker must not run this message, as it was stopped while it waited. The message
     * is then released, and no attempt counts.
     *
     * @param list<string> $queues the worker's names for the message's queue
     */
    private function isRefused(Message $message, array $queues): bool
    {
        $refused = true;
        try {
            $refused = $this->stop()->refuse($this->connectionName, $queues);
        } finally {
            if ($refused) {
                $message->release();
            }
        }

        return $refused;
    }

    /** @param non-empty-list<string> $names */
    private function source(array $names): MessageSource
    {
        if ($this->source?->names !== $names) {
            $maxRun = $this->maxRun ?? self::WITHOUT_END;
            $this->source = new MessageSource(
                $this->client,
                $this->prefix,
                $names,
                $this->lease,
                $maxRun,
            );
        }

        return $this->source;
    }

    /**
     * @return list<string> the names, without the prefix, of all queues of this connection that
     *     were ever used
     */
    private function names(): array
    {
        $names = array_filter(
            $this->client->names(),
            fn ($name) => str_starts_with($name, $this->prefix),
        );

        return array_values(array_map(fn ($name) => $this->nameOf($name), $names));
    }

    /** Removes the prefix. */
    private function nameOf(string $opened): string
    {
        return substr($opened, strlen($this->prefix));
    }

    private function open(string $name): Messages
    {
        return $this->client->queue($this->prefix . $name);
    }

    private function stop(): WorkerStop
    {
        return $this->stop ??= new WorkerStop($this->container);
    }

    private function horizon(): Horizon
    {
        return new Horizon($this->container, (string) $this->connectionName);
    }

    private function delayOf(object $job): mixed
    {
        return class_exists(Delay::class)
            ? $this->getAttributeValue($job, Delay::class, 'delay')
            : $job->delay ?? null;
    }

    /**
     * The group of a job, from its property or its method `messageGroup`, as in Laravel's driver of
     * SQS. onGroup() sets the property (since Laravel 12).
     *
     * @param mixed $job
     * @return array{group?: string} named arguments for Dueq\Queue::push()
     */
    private function groupOf($job): array
    {
        // A closure cannot be asked for a property.
        if (!is_object($job) || $job instanceof Closure) {
            return [];
        }
        $group = $job->messageGroup
            ?? (method_exists($job, 'messageGroup') ? $job->messageGroup() : null);
        $name = match (true) {
            $group instanceof BackedEnum => (string) $group->value,
            $group instanceof UnitEnum => $group->name,
            default => (string) $group,
        };

        return $name === '' ? [] : ['group' => $name];
    }

    /**
     * @param array{delay?: float, at?: \DateTimeInterface, group?: string} $options named arguments
     *     for Dueq\Queue::push()
     * @return string the message's id
     */
    private function store(string $payload, $queue, array $options): string
    {
        $draft = [
            'body' => $payload,
            'id' => self::uuid($payload),
            'maxAttempts' => null,
            'maxCrashes' => null,
        ] + $options;
        $messages = $this->messages($queue);
        if ($this->gathered !== null) {
            $draft['id'] ??= $messages->newId();
            $this->gathered[$this->getQueue($queue)][] = $draft;

            return $draft['id'];
        }
        $name = $this->nameOf($messages->name);
        $this->horizon()->pending($name, $payload);
        $id = self::put($messages, $draft);
        $this->horizon()->pushed($name, $payload);

        return $id;
    }

    /** @param list<Draft> $drafts */
    private function storeMany(string $name, array $drafts): void
    {
        $messages = $this->open($name);
        foreach ($drafts as $draft) {
            $this->horizon()->pending($name, $draft['body']);
        }
        $push = fn () => $messages->pushMany(array_map(self::carrying(...), $drafts));
        foreach (OpenTelemetry::send($messages, $push, count: count($drafts)) as $number => $id) {
            if ($id === null) {
                self::put($messages, ['id' => null] + $drafts[$number]);
            }
            $this->horizon()->pushed($name, $drafts[$number]['body']);
        }
    }

    /**
     * Pushes a draft. A payload may be pushed again while its job still exists (a job that pushes
     * its own payload, an early queue:retry). Then the message gets another id, so that no job is
     * lost.
     *
     * @param Draft $draft
     */
    private static function put(Messages $messages, array $draft): string
    {
        try {
            return OpenTelemetry::send(
                $messages,
                fn () => $messages->push(...self::carrying($draft)),
            );
        } catch (DuplicateException) {
            return self::put($messages, ['id' => null] + $draft);
        }
    }

    /**
     * Adds the trace context of the current span.
     *
     * @param Draft $draft
     * @return Draft
     */
    private static function carrying(array $draft): array
    {
        return $draft + ['headers' => OpenTelemetry::headers()];
    }

    private static function uuid(string $payload): ?string
    {
        $uuid = json_decode($payload, true)['uuid'] ?? null;

        return is_string($uuid) && preg_match('/^[\x21-\x7e]{1,255}$/D', $uuid) ? $uuid : null;
    }
}
