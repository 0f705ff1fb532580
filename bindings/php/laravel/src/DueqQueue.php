<?php

declare(strict_types=1);

namespace Dueq\Laravel;

use BackedEnum;
use Dueq\Exception\DuplicateException;
use Dueq\Queue as Messages;
use Dueq\Queues;
use Illuminate\Contracts\Queue\ClearableQueue;
use Illuminate\Contracts\Queue\Queue as QueueContract;
use Illuminate\Queue\Attributes\Delay;
use Illuminate\Queue\Queue;
use UnitEnum;
use WeakReference;

/**
 * Laravel's queues on dueq: a job is a message whose body is its payload and whose id is the payload's
 * uuid. Its attempts are counted by dueq and judged by Laravel's worker alone: no limit of dueq's own is
 * set.
 */
class DueqQueue extends Queue implements QueueContract, ClearableQueue
{
    use Counts;

    /** Seconds: the longest time that dueq knows, as an end of a job's run that is none. */
    private const WITHOUT_END = 4102444800.0;

    /** That dueq waits for at a time. */
    private const MOST_QUEUES = 64;

    /** @var array<string, Messages> by name */
    private array $queues = [];

    /** @var array<string, Source> by the names of its queues */
    private array $sources = [];

    /** @var list<string> the queues that a worker is about to ask for */
    private array $watched = [];

    /** @var array<string, true> those that it does not ask for although they are its own */
    private array $skipped = [];

    /** @var list<string> dueq's names of those that it has asked for since */
    private array $asked = [];

    /** @var WeakReference<DueqJob>|null the job that was popped last */
    private ?WeakReference $latest = null;

    /** @var array<string, list<array<string, mixed>>>|null by queue, what bulk() gathers; null: it does not */
    private ?array $gathered = null;

    /**
     * @param string|null $url as Dueq\Queue::__construct()
     * @param string $default the name of the queue where a call names none
     * @param float $lease seconds until the job of a killed worker is with another
     * @param float|null $maxRun seconds for which a running job is kept; null: as long as its process lives
     * @param float $blockFor seconds that pop() waits for a job; 0: not at all, INF: without end
     * @param bool $dispatchAfterCommit whether jobs wait for the end of open database transactions
     */
    public function __construct(
        #[\SensitiveParameter] private readonly ?string $url,
        private readonly string $default,
        private readonly float $lease,
        private readonly ?float $maxRun,
        private readonly float $blockFor,
        bool $dispatchAfterCommit = false,
    ) {
        $this->dispatchAfterCommit = $dispatchAfterCommit;
    }

    public function push($job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data),
            $queue,
            null,
            fn ($payload, $queue) => $this->pushRaw($payload, $queue),
        );
    }

    public function later($delay, $job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data, $delay),
            $queue,
            $delay,
            fn ($payload, $queue, $delay) => $this->store($payload, $queue, Due::argument($delay)),
        );
    }

    /** Pushes a payload as it is, byte for byte. */
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
            $this->storeMany($this->open((string) $name), $drafts);
        }
    }

    /**
     * The next job; waits for it where the connection says block_for.
     *
     * A worker of several queues asks them one after the other. So that it misses nothing of one while it
     * waits for another, only its last question waits, for a job of any that it has asked for.
     */
    public function pop($queue = null, $index = 0)
    {
        $names = [$name = $this->getQueue($queue)];
        $timeout = $index === 0 ? $this->blockFor : 0.0;
        if (in_array($queue, $this->watched, true)) {
            $this->asked[] = $name;
            $rest = array_filter($this->watched, fn ($name) => !isset($this->skipped[$name]));
            $last = $queue === end($rest);
            $names = $last ? array_unique($this->asked) : $names;
            $timeout = $last ? $this->blockFor : 0.0;
        }
        $job = $this->take($this->source(array_values($names)), $timeout);
        if ($job !== null) {
            $this->watched = [];
            $this->latest = WeakReference::create($job);
        }

        return $job;
    }

    /**
     * A worker has done with the job that it had, and is about to ask for one of these queues, in this order.
     *
     * @param list<string> $queues
     */
    public function watch(array $queues): void
    {
        $this->latest?->get()?->giveBack();
        $this->watched = count($queues) <= self::MOST_QUEUES ? $queues : [];
        $this->asked = [];
    }

    /**
     * Takes all jobs away, also those that are being worked on.
     *
     * @return int how many
     */
    public function clear($queue)
    {
        $messages = $this->messages($queue);

        return $messages->purge('delayed') + $messages->purge('leased') + $messages->purge('ready');
    }

    /** The name of the queue in dueq. */
    public function getQueue($queue)
    {
        $name = match (true) {
            $queue instanceof BackedEnum => (string) $queue->value,
            $queue instanceof UnitEnum => $queue->name,
            default => (string) $queue,
        };
        $name = $name === '' ? $this->default : $name;

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
        if ($skips) {
            $this->skipped[$queue] = true;
        } else {
            unset($this->skipped[$queue]);
        }
    }

    private function take(Source $source, float $timeout): ?DueqJob
    {
        while ($message = $source->take($timeout)) {
            $job = new DueqJob($this->container, $source, $message, $this->lease, $this->connectionName);
            if ($job->isSound()) {
                return $job;
            }
            $job->setAside();
        }

        return null;
    }

    /** @param non-empty-list<string> $names */
    private function source(array $names): Source
    {
        return $this->sources[implode(',', $names)] ??= new Source(
            count($names) === 1 ? $this->open($names[0]) : new Queues($names, $this->url),
            $this->lease,
            $this->maxRun ?? self::WITHOUT_END,
        );
    }

    /** @return list<string> the names of all queues of the server that were ever used */
    private function names(): array
    {
        return Messages::names($this->url);
    }

    private function open(string $name): Messages
    {
        return $this->queues[$name] ??= new Messages($name, $this->url);
    }

    private function delayOf(object $job): mixed
    {
        return class_exists(Delay::class)
            ? $this->getAttributeValue($job, Delay::class, 'delay')
            : $job->delay ?? null;
    }

    /**
     * @param array<string, mixed> $due named arguments of push()
     * @return string the message's id
     */
    private function store(string $payload, $queue, array $due): string
    {
        $draft = ['body' => $payload, 'id' => self::uuid($payload), 'maxAttempts' => null, 'maxCrashes' => null] + $due;
        $messages = $this->messages($queue);
        if ($this->gathered === null) {
            return self::put($messages, $draft);
        }
        $draft['id'] ??= $messages->newId();
        $this->gathered[$this->getQueue($queue)][] = $draft;

        return $draft['id'];
    }

    /** @param list<array<string, mixed>> $drafts */
    private function storeMany(Messages $messages, array $drafts): void
    {
        foreach ($messages->pushMany($drafts) as $number => $id) {
            if ($id === null) {
                self::put($messages, ['id' => null] + $drafts[$number]);
            }
        }
    }

    /**
     * A payload may be pushed anew while the job that it is from still lives (a job that pushes its own
     * payload, an impatient queue:retry): then it is a message under another id, and none is lost.
     *
     * @param array<string, mixed> $draft
     */
    private static function put(Messages $messages, array $draft): string
    {
        try {
            return $messages->push(...$draft);
        } catch (DuplicateException) {
            return $messages->push(...['id' => null] + $draft);
        }
    }

    private static function uuid(string $payload): ?string
    {
        $uuid = json_decode($payload, true)['uuid'] ?? null;

        return is_string($uuid) && preg_match('/^[\x21-\x7e]{1,255}$/D', $uuid) ? $uuid : null;
    }
}
