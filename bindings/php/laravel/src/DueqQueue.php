<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use BackedEnum;
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
 * Laravel's queues on dueq, all on the connection of one client: a job is a message whose body is
 * its payload and whose id is the payload's uuid. Its attempts are counted by dueq and judged by
 * Laravel's worker alone: no limit of dueq's own is
 * set.
 *
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
class DueqQueue extends Queue implements QueueContract, ClearableQueue
{
    use QueueSizes;

    /** Seconds: the longest time that dueq knows, as an end of a job's run that is none. */
    private const WITHOUT_END = 4102444800.0;

    /** Where jobs were taken from last: a worker asks for the same queues again. */
    private ?MessageSource $source = null;

    private readonly PollRound $round;

    private ?WorkerStop $stop = null;

    /** @var WeakReference<DueqJob>|null the job that was popped last */
    private ?WeakReference $latest = null;

    /** @var array<string, list<Draft>>|null by queue, what bulk() gathers; null: it does not */
    private ?array $gathered = null;

    /**
     * @param Client $client of the server
     * @param string $prefix what the names of its queues begin with there
     * @param string $default the name of the queue where a call names none
     * @param float $lease seconds until the job of a killed worker is with another
     * @param float|null $maxRun seconds for which a running job is kept; null: as long as its
     *     process lives
     * @param float $blockFor seconds that pop() waits for a job; 0: not at all, INF: without end
     * @param bool $dispatchAfterCommit whether jobs wait for the end of open database transactions
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
            fn ($payload, $queue) => $this->pushRaw($payload, $queue),
        );
    }

    public function later($delay, $job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            Horizon::prepare($this->createPayload($job, $this->getQueue($queue), $data, $delay), $job),
            $queue,
            $delay,
            fn ($payload, $queue, $delay) => $this->store($payload, $queue, DueTime::argument($delay)),
        );
    }

    /**
     * Pushes a payload as it is, byte for byte.
     *
     * @param array<mixed> $options
     */
    public function pushRaw($payload, $queue = null, array $options = [])
    {
        return $this->store($payload, $queue, []);
    }

    /** Pushes jobs in steps of up to 200, each of which is stored as a whole or not at all. */
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

    /** The next job; waits for it where the connection says block_for. */
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
     * A worker has done with the job that it had, and is about to ask for one of these queues, in
     * this order.
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
     * Takes all jobs away, also those that are being worked on, which their workers end as ever.
     *
     * @return int how many
     */
    public function clear($queue = null)
    {
        $messages = $this->messages($queue);

        return $messages->purge(State::Delayed) + $messages->purge(State::Leased) + $messages->purge(State::Ready);
    }

    /**
     * The name of the queue, without the prefix. One in braces, as Laravel's redis driver needs it
     * on a cluster, is the same without them.
     */
    public function getQueue($queue)
    {
        $name = match (true) {
            $queue instanceof BackedEnum => (string) $queue->value,
            $queue instanceof UnitEnum => $queue->name,
            default => (string) $queue,
        };
        $name = preg_replace('/^\{(.*)\}$/Ds', '$1', $name === '' ? $this->default : $name);

        // Since Laravel 13 an application can forward queues.
        return method_exists($this, 'resolveQueue') ? $this->resolveQueue($name) : $name;
    }

    /** dueq's own queue behind a queue of this connection, for what Laravel has no words for. */
    public function messages($queue = null): Messages
    {
        return $this->open($this->getQueue($queue));
    }

    /** A worker asks for this queue no more (queue:pause, since Laravel 13), or does so again. */
    public function skip(string $queue, bool $skips): void
    {
        $this->round->skip($queue, $skips);
    }

    /** A question of a worker's turn, whose last one waits and the others need not look. */
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
     * @param non-empty-list<string> $names
     * @param array<string, string>|null $asked the same by a worker's names for them; null: no
     *     worker asks
     */
    private function take(array $names, float $timeout, ?array $asked = null): ?DueqJob
    {
        $source = $this->source($names);
        $stopped = fn () => $asked !== null && $this->stop()->isStopped();
        while ($message = $source->take($timeout, $stopped)) {
            $name = $this->nameOf($message->queue);
            if ($asked !== null && $source->hasWaited() && $this->isRefused($message, array_keys($asked, $name, true))) {
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
     * Whether the worker is not to have it: then it is as if it had not been taken.
     *
     * @param list<string> $queues the worker's names for its queue
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
            $this->source = new MessageSource($this->client, $this->prefix, $names, $this->lease, $maxRun);
        }

        return $this->source;
    }

    /** @return list<string> the names of all queues of this prefix that were ever used */
    private function names(): array
    {
        $names = array_filter($this->client->names(), fn ($name) => str_starts_with($name, $this->prefix));

        return array_values(array_map(fn ($name) => $this->nameOf($name), $names));
    }

    /** Without the prefix. */
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
     * @param array{delay?: float, at?: \DateTimeInterface} $due named arguments of push()
     * @return string the message's id
     */
    private function store(string $payload, $queue, array $due): string
    {
        $draft = ['body' => $payload, 'id' => self::uuid($payload), 'maxAttempts' => null, 'maxCrashes' => null] + $due;
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
     * A payload may be pushed anew while the job that it is from still lives (a job that pushes its
     * own payload, an impatient queue:retry): then it is a message under another id, and none is
     * lost.
     *
     * @param Draft $draft
     */
    private static function put(Messages $messages, array $draft): string
    {
        try {
            return OpenTelemetry::send($messages, fn () => $messages->push(...self::carrying($draft)));
        } catch (DuplicateException) {
            return self::put($messages, ['id' => null] + $draft);
        }
    }

    /**
     * With the context of the span around its push.
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
