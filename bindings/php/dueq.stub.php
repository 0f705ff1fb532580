<?php

/**
 * The API of the extension dueq, and its documentation.
 *
 * Times are seconds, as float, or the date classes of PHP. Fractions of a millisecond are rounded
 * up, so that nothing is due early. Points in time are seconds since 1970-01-01 UTC by the server's
 * clock. A DateInterval is added to the present time, by the calendar.
 *
 * Every method that talks to the server ends within the timeout of the URL (10 seconds by default);
 * reserve() waits for its own timeout in addition. A method that fails throws a
 * Dueq\Exception\DueqException. An argument out of its range throws a
 * Dueq\Exception\InvalidException, and one of the wrong type a TypeError.
 *
 * @generate-class-entries
 */

namespace Dueq
{
    /** The state of a message. */
    enum State: string
    {
        /** The next reserve may deliver it. */
        case Ready = "ready";

        /** It is not due yet. */
        case Delayed = "delayed";

        /** It was delivered to a consumer, under a lease. */
        case Leased = "leased";

        /** It was buried, its attempts or crashes are used up, or it is damaged. */
        case Dead = "dead";

        /** It is on its way to another queue. */
        case Outbox = "outbox";
    }

    /** Which of several queues delivers when more than one has ready messages. */
    enum Order: string
    {
        /** Always the first of the list. */
        case Preference = "preference";

        /** Each in turn. */
        case RoundRobin = "round robin";
    }

    /** What a push replaces of an existing message that has its id. */
    enum Replace: string
    {
        /** The whole message: the old one is deleted, as by cancel(), and the new one is stored. */
        case Message = "message";

        /**
         * As Message, but the new message keeps the due time and the place of a ready or delayed
         * one.
         */
        case Body = "body";
    }

    /** How the delay of a retry grows with the failures n = 1, 2 ... of the message. */
    enum BackoffKind: string
    {
        /** It is always the same. */
        case Fixed = "fixed";

        /** base * n */
        case Linear = "linear";

        /** base * 2 ** (n - 1) */
        case Exponential = "exponential";

        /** The nth of a list, and the last one from then on. */
        case List = "list";
    }

    /** The random part of the delay of a retry, where d is the delay of the backoff. */
    enum Jitter: string
    {
        /** Exactly d. */
        case None = "none";

        /** From 0 to d. */
        case Full = "full";

        /** From d/2 to d. */
        case Equal = "equal";
    }

    /** Which jobs a schedule pushes for the times that passed while no consumer was running. */
    enum CatchUp: string
    {
        /** The schedule pushes one job, for the last missed time. */
        case Once = "once";

        /** As Once, but no job if the last missed time was more than a minute ago. */
        case Skip = "skip";

        /** The schedule pushes a job for each missed time, in order. */
        case All = "all";
    }

    /** The kind of a Failure. */
    enum FailureKind: string
    {
        /** The message was retried. */
        case Failed = "failed";

        /** Its lease ended. */
        case Crashed = "crashed";

        /** It was buried. */
        case Buried = "buried";

        /** Its attempts or crashes are used up, or it is damaged. */
        case Died = "died";
    }

    /**
     * The methods of a Client, for the types of a program whose tests use a substitute. Each of
     * these interfaces has all methods of its class. The class documents them.
     */
    interface ClientInterface
    {
        public function url(): string;

        public function queue(
            string $name,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?int $partitions = null,
            float|\DateInterval|null $keep = null
        ): QueueInterface;

        /** @param array<string> $names */
        public function queues(array $names, Order $order = Order::Preference): Queues;

        /** @return list<string> */
        public function names(): array;
    }

    /**
     * The methods of a Queue, see ClientInterface. A Draft is a message to push, with the names of
     * push()'s parameters as keys.
     *
     * @phpstan-type Draft array{
     *     body: string,
     *     delay?: int|float|\DateInterval|null,
     *     at?: int|float|\DateTimeInterface|null,
     *     id?: string|null,
     *     maxAttempts?: int|null,
     *     lease?: int|float|\DateInterval|null,
     *     headers?: array<string, string>,
     *     priority?: int,
     *     ttl?: int|float|\DateInterval|null,
     *     backoff?: int|float|array<int|float|\DateInterval>|Backoff|\DateInterval|null,
     *     maxCrashes?: int|null,
     *     drop?: bool,
     *     deadLetter?: string|null,
     *     unique?: int|float|\DateInterval|null,
     *     replace?: Replace|null,
     *     replicas?: int,
     *     disk?: bool,
     *     durableTimeout?: int|float|\DateInterval|null,
     *     key?: string|null,
     *     group?: string|null,
     *     keep?: int|float|\DateInterval|null,
     *     batch?: string|null
     * }
     * @extends \IteratorAggregate<int, MessageInterface>
     */
    interface QueueInterface extends \IteratorAggregate
    {
        public function partitionFor(string $key): Queue;

        public function url(): string;

        public function newId(): string;

        /**
         * @param array<string, string> $headers
         * @param float|array<int|float|\DateInterval>|Backoff|\DateInterval|null $backoff
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 16,
            float|\DateInterval|null $lease = null,
            array $headers = [],
            int $priority = 0,
            float|\DateInterval|null $ttl = null,
            float|array|Backoff|\DateInterval|null $backoff = null,
            ?int $maxCrashes = 5,
            bool $drop = false,
            ?string $deadLetter = null,
            float|\DateInterval|null $unique = null,
            ?Replace $replace = null,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?string $key = null,
            ?string $group = null,
            float|\DateInterval|null $keep = null,
            ?string $batch = null
        ): string;

        /**
         * @param array<int, string|Draft> $messages
         * @return list<string|null>
         */
        public function pushMany(array $messages): array;

        /** @param string|Draft $job */
        public function schedule(
            string $name,
            string $expression,
            string|array $job,
            string $zone = "UTC",
            CatchUp $catchup = CatchUp::Once,
            string $app = "",
            string $release = ""
        ): bool;

        public function pusher(int $most = 10000): PusherInterface;

        public function reserve(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): ?MessageInterface;

        /** @return Pending<MessageInterface> */
        public function reserveStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $lease = null
        ): Pending;

        /** @return list<MessageInterface> */
        public function reserveMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): array;

        public function consume(
            int $prefetch = 1,
            float|\DateInterval|null $lease = null,
            float|\DateInterval|null $maxRun = 3600.0,
            float|\DateInterval $timeout = INF,
            float|\DateInterval $slack = 0.0,
            ?int $concurrency = 1,
            ?string $tasks = null
        ): ConsumerInterface;

        /**
         * @param array<MessageInterface|string> $messages
         * @return list<bool>
         */
        public function ackMany(array $messages): array;

        public function find(string $id): ?MessageInterface;

        /** @return \Iterator<int, MessageInterface> */
        public function peek(State $state, int $page = 100): \Iterator;

        /** @param (callable(int): mixed)|null $progress */
        public function kickAll(
            ?string $error = null,
            float|int|\DateTimeInterface|null $since = null,
            float|int|\DateTimeInterface|null $until = null,
            ?callable $progress = null
        ): int;

        // Made from core/verbs.toml by core/verbs.py: the verbs of QueueInterface.

        public function kick(string $id): bool;

        /**
         * @param array<string> $ids
         * @return list<bool>
         */
        public function kickMany(array $ids): array;

        public function kill(string $id): bool;

        /**
         * @param array<string> $ids
         * @return list<bool>
         */
        public function killMany(array $ids): array;

        public function cancel(string $id): ?State;

        /**
         * @param array<string> $ids
         * @return list<State|null>
         */
        public function cancelMany(array $ids): array;

        public function reschedule(
            string $id,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): bool;

        public function pause(): void;

        public function resume(): void;

        public function hold(string $group, float|\DateInterval $duration): void;

        public function limit(
            int|null $concurrency = null,
            string|null $rate = null,
            int|null $burst = null,
            string|null $group = null,
            int|null $backlog = null,
            int|null $weight = null,
            string|null $order = null,
            int|null $eachGroupConcurrency = null,
            string|null $eachGroupRate = null,
            int|null $eachGroupBurst = null,
            int|null $eachGroupBacklog = null,
            bool $clear = false
        ): void;

        public function closeBatch(string $id): bool;

        // The end of what was made.

        /**
         * @param array<string, mixed>|string|null $then
         * @param array<string, mixed>|string|null $catch
         * @param array<string, mixed>|string|null $finally
         */
        public function openBatch(
            string $id,
            string|array|null $then = null,
            string|array|null $catch = null,
            string|array|null $finally = null,
            ?string $thenQueue = null,
            ?string $catchQueue = null,
            ?string $finallyQueue = null,
            float|\DateInterval $open = 86400.0,
            float|\DateInterval $keep = 86400.0
        ): bool;

        public function findBatch(string $id): ?BatchStatus;

        /** @return list<BatchStatus> */
        public function batches(): array;

        public function cancelBatch(string $id, ?string $batchQueue = null): int;

        /**
         * @param array<string|array<string, mixed>> $messages
         * @return list<string|null>
         */
        public function pushTo(string $queue, array $messages): array;

        /**
         * @param array<string>|string|null $deadLetter
         * @return list<string>
         */
        public function allow(array|string|null $deadLetter = null, bool $any = false): array;

        /** @param (callable(int): mixed)|null $progress */
        public function purge(State $state, ?callable $progress = null): int;

        /** @param (callable(int): mixed)|null $progress */
        public function purgeGroup(string $group, ?callable $progress = null): int;

        public function remove(bool $force = false): int;

        /**
         * @param (callable(int): mixed)|null $progress
         * @return list<Finding>
         */
        public function check(bool $repair = false, ?callable $progress = null): array;

        public function limits(): Limits;

        public function stats(): Stats;

        /** @return list<Rate> */
        public function rates(?int $minutes = null, ?int $hours = null): array;

        /** @return list<WorkerInfo> */
        public function workers(): array;

        /** @return list<Failure> */
        public function failures(?string $id = null): array;

        public function outcome(string $id, float|\DateInterval $timeout = 0.0): ?End;

        /** @return list<Group> */
        public function groups(int $most = 100): array;

        public function lock(
            string $name,
            float|\DateInterval $ttl,
            float|\DateInterval $timeout = 0.0
        ): ?LockInterface;
    }

    /**
     * The methods of a Consumer, see ClientInterface.
     *
     * @extends \IteratorAggregate<int, MessageInterface>
     */
    interface ConsumerInterface extends \IteratorAggregate
    {
        /**
         * @param callable(MessageInterface): mixed $handler
         * @param (callable(MessageInterface, \Throwable): mixed)|null $onError
         */
        public function work(callable $handler, ?callable $onError = null): void;

        public function stop(): void;

        public function poll(): ?MessageInterface;

        /** @return resource */
        public function stream();

        public function countExits(bool $count = true): void;

        public function lost(): int;
    }

    /**
     * The methods of a Message, see ClientInterface.
     *
     * An interface has no properties: a substitute for a Message declares the properties that the
     * program reads.
     *
     * @phpstan-import-type Draft from QueueInterface
     * @property-read string $queue
     * @property-read string $id
     * @property-read string $body
     * @property-read array<string, string> $headers
     * @property-read string $ticket
     * @property-read int $attempt
     * @property-read ?int $maxAttempts
     * @property-read int $crashes
     * @property-read ?int $maxCrashes
     * @property-read int $deliveries
     * @property-read int $priority
     * @property-read State $state
     * @property-read ?float $time
     * @property-read float $created
     * @property-read ?float $expires
     * @property-read string $error
     * @property-read bool $drop
     * @property-read ?string $deadLetter
     * @property-read bool $lost
     */
    interface MessageInterface
    {
        /**
         * @param array<int, string|Draft>|null $push
         * @return list<string|null>|null
         */
        public function ack(
            ?array $push = null,
            ?string $to = null,
            bool $wait = true,
            ?string $result = null
        ): ?array;

        public function isSchedule(): bool;

        public function isSettled(): bool;

        /** @return list<string> */
        public function fire(): array;

        public function checkpoint(string $cursor): void;

        // Made from core/verbs.toml by core/verbs.py: the verbs of MessageInterface.

        public function retry(float|\DateInterval|null $delay = null, string $error = ""): bool;

        public function release(float|\DateInterval $delay = 0.0): void;

        public function holdGroup(float|\DateInterval $duration): void;

        public function extend(float|\DateInterval $lease): void;

        public function bury(string $reason = ""): void;

        // The end of what was made.
    }

    /**
     * The methods of a Pusher, see ClientInterface.
     */
    interface PusherInterface
    {
        /**
         * @param array<string, string> $headers
         * @param float|array<int|float|\DateInterval>|Backoff|\DateInterval|null $backoff
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 16,
            float|\DateInterval|null $lease = null,
            array $headers = [],
            int $priority = 0,
            float|\DateInterval|null $ttl = null,
            float|array|Backoff|\DateInterval|null $backoff = null,
            ?int $maxCrashes = 5,
            bool $drop = false,
            ?string $deadLetter = null,
            float|\DateInterval|null $unique = null,
            ?Replace $replace = null,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?string $key = null,
            ?string $group = null,
            float|\DateInterval|null $keep = null,
            ?string $batch = null
        ): int;

        public function flush(): void;
    }

    /**
     * The methods of a Lock, see ClientInterface.
     *
     * @property-read string $name
     * @property-read string $token
     */
    interface LockInterface
    {
        public function extend(float|\DateInterval $ttl): void;

        public function release(): void;
    }

    /**
     * One server, for any number of queues on one connection. (A Queue or Queues from its own
     * constructor has a connection of its own.) A consumer, a pusher and a Pending use another one
     * while they exist; afterwards the next of them uses it.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Client implements ClientInterface
    {
        /**
         * It connects with the first call. The connections are closed when the client and all its
         * objects have been destroyed.
         *
         * @param string|null $url as Queue::__construct()
         * @param bool|null $persistent as Queue::__construct()
         * @throws Exception\UrlException
         */
        public function __construct(
            #[\SensitiveParameter] ?string $url = null,
            ?bool $persistent = null
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Opens a queue of this server. Nothing is sent.
         *
         * @param string $name as Queue::__construct()
         * @param int $replicas as Queue::__construct()
         * @param bool $disk as Queue::__construct()
         * @param float|\DateInterval|null $durableTimeout as Queue::__construct()
         * @param int|null $partitions as Queue::__construct()
         * @param float|\DateInterval|null $keep as Queue::__construct()
         * @throws Exception\NameException
         */
        public function queue(
            string $name,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?int $partitions = null,
            float|\DateInterval|null $keep = null
        ): Queue {}

        /**
         * Opens several queues of this server, to wait for messages of all of them at once. Nothing
         * is sent.
         *
         * @param array<string> $names as Queues::__construct()
         * @param Order $order as Queues::__construct()
         * @throws Exception\NameException
         */
        public function queues(array $names, Order $order = Order::Preference): Queues {}

        /**
         * Lists the queues of the server that were ever used, as Queue::names().
         *
         * @return list<string> sorted
         */
        public function names(): array {}

        /**
         * Sets the listener for warnings that no call of this process can throw: that a server is
         * away, how often it was tried, that it is back, that it may evict messages, and so on. By
         * default they go to PHP's log.
         *
         * @param (callable(string): mixed)|null $listener called with one line of text when PHP
         *     would call a signal handler: between two calls, or in a wait, which the warning then
         *     ends like a signal. null: PHP's log
         */
        public static function onNotice(?callable $listener): void {}

        /**
         * Makes a text safe for a line of a log or a terminal, as in the messages of exceptions:
         * control characters (C0 and C1), ends of lines and marks of direction become \xNN or
         * \uNNNN, bytes that are not UTF-8 become \xNN.
         *
         * @param string $text any bytes
         * @return string one line of UTF-8
         */
        public static function escape(string $text): string {}

        /**
         * Reads a duration as people write one in options and URLs: "250ms", "1.5s", "30m", "2h",
         * "7d", "1h30m"; a number without a unit is seconds.
         *
         * @return float|null seconds, to the millisecond; null: the text is not a duration
         */
        public static function duration(string $text): ?float {}
    }

    /**
     * A queue of one server. It keeps its connections while it exists. After a fork the child may
     * use it, too. `foreach ($queue as $message)` is a loop over consume().
     *
     * @phpstan-import-type Draft from QueueInterface
     * @implements \IteratorAggregate<int, Message>
     * @strict-properties
     * @not-serializable
     */
    final class Queue implements \IteratorAggregate, QueueInterface
    {
        /**
         * @var string
         * @cvalue DUEQ_VERSION
         */
        const VERSION = UNKNOWN;

        /** The name that the queue was opened with. */
        public readonly string $name;

        /**
         * Opens a queue. Nothing is connected until the first call.
         *
         * @param string $name 1 to 255 bytes of UTF-8 without braces and control characters
         * @param string|null $url redis://[user:password@]host[:port][/db], rediss://... (TLS),
         *     unix://[user:password@]/path/to/socket[?db=N] or embedded:DIR (a private server for
         *     the directory DIR); null: the environment's DUEQ_URL, and without it an embedded
         *     server
         * @param bool|null $persistent true: the connection outlives the request. The next object
         *     that this process opens with the same URL and $persistent uses the connection again,
         *     unless the server has closed it. Within a request all these objects share it. null:
         *     as dueq.persistent in php.ini, which is off by default. Without a URL (and DUEQ_URL)
         *     nothing is persistent
         * @param int $replicas of all pushes by this object, as push()
         * @param bool $disk of all pushes by this object, as push()
         * @param float|\DateInterval|null $durableTimeout of all pushes by this object, as push()
         * @param int|null $partitions 1 to 1024: this many ordinary queues, "NAME#0" and so on, are
         *     used as one, and may be on several nodes of a cluster. $key of a push chooses the
         *     partition. Consumers share the partitions, and deliver the messages of each in order,
         *     one after the other. The first call of any client stores the number; `dueq
         *     repartition` raises it. A message's $queue is the name of its partition. null: an
         *     ordinary queue
         * @param float|\DateInterval|null $keep for how long the ends of messages are kept that
         *     this object pushes: see outcome(). $keep of a push counts instead. null: they are not
         *     kept
         * @throws Exception\NameException
         * @throws Exception\UrlException
         */
        public function __construct(
            string $name,
            #[\SensitiveParameter] ?string $url = null,
            ?bool $persistent = null,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?int $partitions = null,
            float|\DateInterval|null $keep = null
        ) {}

        /**
         * The partition that contains the messages of a key, as a queue: for calls on one partition
         * alone, such as find(), cancel() or stats().
         */
        public function partitionFor(string $key): Queue {}

        /**
         * Lists the queues of a server that were ever used. It scans the names of all keys of the
         * server, a bounded number in each step.
         *
         * @param string|null $url as __construct()
         * @return list<string> sorted
         */
        public static function names(#[\SensitiveParameter] ?string $url = null): array {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Makes an id as push() does, for a push that needs to know it: 22 characters, in time
         * order.
         */
        public function newId(): string {}

        /**
         * Stores a message: ready, or delayed until it is due.
         *
         * @param string $body any bytes
         * @param float|\DateInterval|null $delay the message is due this long after the push; null:
         *     it is ready at once
         * @param float|int|\DateTimeInterface|null $at the message is due at this time by the
         *     server's clock; not together with a delay
         * @param string|null $id 1 to 255 bytes of UTF-8 without control characters; null: dueq
         *     makes one, of 22 characters
         * @param int|null $maxAttempts failures (retries) until the message is dead, 1 (no retry)
         *     to 65,535; null: no limit
         * @param float|\DateInterval|null $lease the lease of a delivery, if the consumer sets
         *     none; null: 30 seconds; for a consumer with a heartbeat 8
         * @param array<string, string> $headers names and values of text, 65,535 bytes in all
         * @param int $priority 1 high, 0 normal, -1 low: higher ones are delivered first
         * @param float|\DateInterval|null $ttl the message is deleted if it was not delivered
         *     within this time after the push, more than 0; null: never
         * @param float|array<int|float|\DateInterval>|Backoff|\DateInterval|null $backoff the delay
         *     of a retry without a delay: a duration (0: at once), a list of durations (for the
         *     first failure, the second ...; then always the last one) or a Backoff; null:
         *     exponential from 1 second to 1 hour with equal jitter, which with 16 attempts gives
         *     up after two to four hours
         * @param int|null $maxCrashes deliveries whose lease ended until the message is dead, 1 to
         *     65,535; null: no limit
         * @param bool $drop the message is deleted where it would become dead
         * @param string|null $deadLetter the queue to which the message moves where it would become
         *     dead; not together with drop; null: it stays in its queue
         * @param float|\DateInterval|null $unique with an id: other messages of this id are refused
         *     for this long after the push, also when the message is done; null: only while it is
         *     in the queue
         * @param Replace|null $replace with an id: what it replaces of a message in the queue that
         *     has the id; null: nothing, the push is refused
         * @param int $replicas the push waits until this many replicas of the server have received
         *     the message, 0 to 100. If too few do in time, the push fails, and the message is
         *     stored. The queue and the URL may ask for replicas and disk, too: the strictest
         *     demand counts
         * @param bool $disk the push also waits until the message is on the disks of the server and
         *     of the replicas
         * @param float|\DateInterval|null $durableTimeout how long the push waits for replicas and
         *     disks; null: as the queue and the URL say, else 2 seconds
         * @param string|null $key with partitions: messages of one key are in one partition, in
         *     their order. 1 to 255 bytes of UTF-8 without control characters; not in a queue with
         *     partitions whose messages have groups; null: the group decides, or else the id, if it
         *     is given; else any partition
         * @param string|null $group the group of the message, such as a customer: groups take
         *     turns, and within a group the order of the pushes holds. 1 to 128 bytes of UTF-8
         *     without control characters; not together with a priority or a key. With partitions: a
         *     group is in one partition, and no message of the queue has a key; null: it has no
         *     group; all such messages take turns as one group
         * @param float|\DateInterval|null $keep for how long the queue keeps the end of the
         *     message: how and when it ended, and its result. At most 49 days; null: as the queue
         *     says, else not at all
         * @param string|null $batch the id of the batch of this queue that counts how the message
         *     ends. All messages of a call are in the same batch, or in none; not together with
         *     replace; null: it is in no batch
         * @return string the message's id
         * @throws Exception\NotDurableException when the message is stored, but not on all the
         *     replicas and disks
         *     that were asked for
         * @throws Exception\DuplicateException when a message in the queue has this id, or the id
         *     is still
         *     unique
         * @throws Exception\TooLargeException
         * @throws Exception\ClosedException when the connection broke and the outcome is not known:
         *     push
         *     again with the same $id. The message is stored once while the first is in the queue
         *     and, with
         *     $unique, also when the first is done already
         * @throws Exception\TimeoutException as ClosedException
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 16,
            float|\DateInterval|null $lease = null,
            array $headers = [],
            int $priority = 0,
            float|\DateInterval|null $ttl = null,
            float|array|Backoff|\DateInterval|null $backoff = null,
            ?int $maxCrashes = 5,
            bool $drop = false,
            ?string $deadLetter = null,
            float|\DateInterval|null $unique = null,
            ?Replace $replace = null,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?string $key = null,
            ?string $group = null,
            float|\DateInterval|null $keep = null,
            ?string $batch = null
        ): string {}

        /**
         * Stores any number of messages, in batches of up to 200. Each batch is stored whole or not
         * at all. All messages are checked before the first is sent.
         *
         * @param array<int, string|Draft> $messages each a body, or an array with the names of
         *     push()'s parameters as keys, of which only body is required; any number
         * @return list<string|null> in order, each message's id, or null for a duplicate
         * @throws Exception\DueqException as push(); batches before the failed one are stored
         */
        public function pushMany(array $messages): array {}

        /**
         * Declares a schedule: at each of its times the queue gets a message like $job, with the id
         * "NAME:TIME" (milliseconds since 1970). The queue's consumers make the jobs, by
         * Message::fire(). A change that keeps expression and zone keeps the next time, too.
         *
         * @param string $name 1 to 200 bytes of UTF-8 without control characters. A schedule of
         *     this name is replaced from now on; cancel("schedule:NAME") removes it
         * @param string $expression five fields of cron, such as "30 9 * * mon-fri"; @hourly,
         *     @daily, @weekly, @monthly, @yearly; or "every 90s" (ms, s, m, h, d; at least 1s)
         * @param string|Draft $job a body, or a message as of pushMany(), without id, time, unique
         *     and replace
         * @param string $zone the time zone of the fields, as "Europe/Berlin"
         * @param CatchUp $catchup which jobs it pushes for times that passed while no consumer was
         *     running
         * @param string $app which program declares the schedule: dueq-worker sets it, and
         *     $release, for the schedules of its tasks
         * @param string $release the releases of the program, the latest first
         * @return bool false: the schedule is declared like that already
         */
        public function schedule(
            string $name,
            string $expression,
            string|array $job,
            string $zone = "UTC",
            CatchUp $catchup = CatchUp::Once,
            string $app = "",
            string $release = ""
        ): bool {}

        /**
         * The first time of a schedule after $after.
         *
         * @param string $expression as of schedule()
         * @param string $zone as of schedule()
         * @param float|\DateTimeInterface|null $after seconds since 1970; null: now, by this
         *     machine's clock: stats()->now is the server's
         * @return float|null seconds since 1970; null: there is none
         */
        public static function nextTime(
            string $expression,
            string $zone = "UTC",
            float|\DateTimeInterface|null $after = null
        ): ?float {}

        /**
         * Makes a pusher, which has many pushes in flight on connections of its own.
         *
         * @param int $most how many pushes may be in flight at a time, 1 to 1,000,000
         */
        public function pusher(int $most = 10000): Pusher {}

        /**
         * Reserves the next ready message. Until its lease ends, no other consumer gets the
         * message; then it is ready again. A paused queue delivers nothing: the call waits until
         * the queue is resumed.
         *
         * @param float|\DateInterval $timeout how long to wait for a message; 0: not at all; INF:
         *     without end
         * @param float|\DateInterval|null $lease after this time the message is delivered again,
         *     unless it was acknowledged, retried, released, buried or extended before; null: the
         *     message's own lease, else 30 seconds
         * @return Message|null null: no message came in time, or a signal ended the wait, so that
         *     its handler can run: call again to go on waiting. (Without pcntl_async_signals(true),
         *     a signal right before the wait does not end it: set a timeout then.)
         */
        public function reserve(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): ?Message {}

        /**
         * Starts a reserve() without waiting: for event loops and fibers. It uses connections of
         * its own. So any number may be in progress, and all other methods of this queue and its
         * messages work meanwhile, each with one short round trip.
         *
         * @param float|\DateInterval $timeout how long to wait for a message; 0: not at all; INF:
         *     without end
         * @param float|\DateInterval|null $lease after this time the message is delivered again,
         *     unless it was acknowledged, retried, released, buried or extended before; null: the
         *     message's own lease, else 30 seconds
         * @return Pending<Message>
         */
        public function reserveStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $lease = null
        ): Pending {}

        /**
         * Reserves up to $count ready messages, as reserve(). It waits only for the first.
         * A message that crashed comes alone; where messages over 1 MiB were pushed, 8 MiB come at
         * most, or one message.
         *
         * @param int $count how many messages at most, 1 to 200
         * @param float|\DateInterval $timeout how long to wait for a message; 0: not at all; INF:
         *     without end
         * @param float|\DateInterval|null $lease after this time the message is delivered again,
         *     unless it was acknowledged, retried, released, buried or extended before; null: the
         *     message's own lease, else 30 seconds
         * @return list<Message>
         */
        public function reserveMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): array {}

        /**
         * Makes a consumer: a loop over messages that costs one round trip for each batch, with a
         * heartbeat that extends the leases. It has connections of its own.
         *
         * @param int $prefetch how many messages are reserved at a time, 1 to 200
         * @param float|\DateInterval|null $lease after this time a message is ready again if the
         *     process is killed. Until then the heartbeat extends the lease, also while the program
         *     sleeps or computes; null: the message's own lease, else 8 seconds, or without a
         *     heartbeat 30
         * @param float|\DateInterval|null $maxRun how long after a message's delivery the heartbeat
         *     extends its lease; 0: there is no heartbeat; null: as 0
         * @param float|\DateInterval $timeout the loop ends when no message came for this long;
         *     INF: never
         * @param float|\DateInterval $slack 0 to 0.1 seconds, by which a message that falls due
         *     while the loop waits may be late: one request then reserves all messages that fell
         *     due meanwhile, up to the prefetch. No message is early, and slack delays no message
         *     that is pushed ready
         * @param int|null $concurrency how many messages the program works on at the same time. If
         *     more are unsettled when the loop goes on, a warning is logged, once: it shows a
         *     program that forgets to settle; null: no warning
         * @param string|null $tasks the names of the tasks that the program knows, each in a line,
         *     as a worker registers them: `doctor` then names tasks that no worker of the queue
         *     knows. More than 4,096 bytes are not registered; null: it does not say
         */
        public function consume(
            int $prefetch = 1,
            float|\DateInterval|null $lease = null,
            float|\DateInterval|null $maxRun = 3600.0,
            float|\DateInterval $timeout = INF,
            float|\DateInterval $slack = 0.0,
            ?int $concurrency = 1,
            ?string $tasks = null
        ): Consumer {}

        /** For foreach: consume() with its defaults. */
        public function getIterator(): Consumer {}

        /**
         * Acknowledges messages, which deletes them.
         *
         * @param array<MessageInterface|string> $messages messages of this queue, or tickets; any
         *     number
         * @return list<bool> in order, true for an acknowledged one, false if its lease was lost
         */
        public function ackMany(array $messages): array {}

        /** Finds a message by its id, in any state, without changing it. null: there is none. */
        public function find(string $id): ?Message {}

        /**
         * Reads all messages of one state without changing them: ready ones in the order of
         * delivery, the others by their time. The loop reads a page when it needs one. A message
         * that changes its place meanwhile may come twice or not at all. Damaged messages are left
         * out.
         *
         * @param int $page how many messages are read, and kept in memory, at a time, 1 to 200
         */
        public function peek(State $state, int $page = 100): Messages {}

        /**
         * Makes all dead messages ready again, as kick(), in steps of up to 200, between which the
         * server serves other clients.
         *
         * @param string|null $error only those whose error contains this text; null: all
         * @param float|int|\DateTimeInterface|null $since only those that died at this time of the
         *     server's clock or later
         * @param float|int|\DateTimeInterface|null $until only those that died before this time
         * @param (callable(int): mixed)|null $progress called after each step with the number of
         *     messages so far; an exception of it ends the work there
         * @return int how many messages it kicked
         * @throws Exception\DueqException the messages of the steps before are kicked
         */
        public function kickAll(
            ?string $error = null,
            float|int|\DateTimeInterface|null $since = null,
            float|int|\DateTimeInterface|null $until = null,
            ?callable $progress = null
        ): int {}

        // Made from core/verbs.toml by core/verbs.py: the verbs of Queue.

        /**
         * Makes a dead message ready again, with all its attempts.
         *
         * @return bool false: there is no dead message with this id
         */
        public function kick(string $id): bool {}

        /**
         * Does kick() with any number of messages.
         *
         * @param array<string> $ids
         * @return list<bool> in order
         */
        public function kickMany(array $ids): array {}

        /**
         * Makes a delayed message dead, whether a push or a retry delayed the message. The dead
         * message stays in this queue, whatever its policy says, until kick() makes it ready.
         *
         * @return bool false: there is no delayed message with this id
         */
        public function kill(string $id): bool {}

        /**
         * Does kill() with any number of messages.
         *
         * @param array<string> $ids
         * @return list<bool> in order
         */
        public function killMany(array $ids): array {}

        /**
         * Deletes a message in any state, and returns the state that it had.
         *
         * State::Leased means that a consumer has the message: its work may have begun, or may be
         * done. The consumer gets a LeaseLostException on its next call. A Consumer that has
         * prefetched the message learns of this within a quarter of a second, and does not deliver
         * it.
         *
         * @return State|null null: there is no message with this id
         */
        public function cancel(string $id): ?State {}

        /**
         * Cancels any number of messages, as cancel().
         *
         * @param array<string> $ids
         * @return list<State|null> in order
         */
        public function cancelMany(array $ids): array {}

        /**
         * Changes the due time of a delayed message.
         *
         * Without delay and at, the message is due now.
         *
         * @param float|\DateInterval|null $delay seconds from now
         * @param float|int|\DateTimeInterface|null $at a time by the server's clock: a
         *     DateTimeInterface, or seconds since 1970. Not together with delay
         * @return bool false: there is no delayed message with this id
         */
        public function reschedule(
            string $id,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): bool {}

        /**
         * Stops deliveries to all consumers until the queue is resumed. Everything else works:
         * pushes, and acknowledging leased messages. If it is paused already, nothing changes.
         */
        public function pause(): void {}

        /**
         * Ends a pause, and wakes waiting consumers. If the queue is not paused, nothing changes.
         */
        public function resume(): void {}

        /**
         * Holds a group: for so long no message of the group is delivered. Messages of it that are
         * leased stay so. A later hold of the group replaces an earlier one.
         *
         * @param string $group the name of the group
         * @param float|\DateInterval $duration for how many seconds; 0: the group is held no more
         */
        public function hold(string $group, float|\DateInterval $duration): void {}

        /**
         * Sets limits of the queue, of each of its groups, or of one $group. What is not given
         * stays as it is.
         *
         * The concurrency and the rate of the queue hold from the next delivery on, for all
         * consumers together. A message counts as leased, also while it is prefetched, until its
         * delivery ends; after the end of its lease, until it is delivered again. The rate counts
         * each delivery. In a queue with partitions each partition gets its part of a limit of the
         * queue, rounded up; a group is in one partition and has its limits there. A limit of one
         * group counts instead of that of each group. At most 1000 groups have limits of their own.
         * Producers need no right to set limits.
         *
         * @param int|null $concurrency how many messages may be leased at once; 0: no limit; null:
         *     as it is
         * @param string|null $rate how many are delivered in a second, minute or hour: "1000/s",
         *     "100/m", "20/h"; "none": no limit; null: as it is
         * @param int|null $burst how many the rate allows at once after a pause; 0: what it allows
         *     in 100 ms, at least 1; null: as it is
         * @param string|null $group the limits are those of this group; null: those of the queue
         * @param int|null $backlog how many messages of $group may wait before a push is refused;
         *     0: no limit; null: as it is
         * @param int|null $weight how many turns $group gets for one of a group without a weight, 1
         *     to 1000; 0: one; null: as it is
         * @param string|null $order "fair": several messages of a group at once; "fifo": one at a
         *     time; "strict": the next when the one before has ended for good; of a $group also
         *     "none": the queue's order; null: as it is
         * @param int|null $eachGroupConcurrency how many messages of each group may be leased at
         *     once; 0: no limit; null: as it is
         * @param string|null $eachGroupRate how many of each group are delivered in a time, as
         *     $rate
         * @param int|null $eachGroupBurst how many of each group its rate allows at once after a
         *     pause, as $burst
         * @param int|null $eachGroupBacklog how many messages of each group may wait before a push
         *     is refused; 0: no limit; null: as it is
         * @param bool $clear true: first removes all limits: those of the queue, of each group and
         *     of all single groups; with $group those of that group alone
         */
        public function limit(
            int|null $concurrency = null,
            string|null $rate = null,
            int|null $burst = null,
            string|null $group = null,
            int|null $backlog = null,
            int|null $weight = null,
            string|null $order = null,
            int|null $eachGroupConcurrency = null,
            string|null $eachGroupRate = null,
            int|null $eachGroupBurst = null,
            int|null $eachGroupBacklog = null,
            bool $clear = false
        ): void {}

        /**
         * Closes a batch: from now on only its members add members. When all members have ended, it
         * ends, and pushes its callbacks.
         *
         * @return bool false: there is no such batch
         */
        public function closeBatch(string $id): bool {}

        // The end of what was made.

        /**
         * Sets the list of queues to which dead messages of this queue may move by their own
         * deadLetter. Without arguments it changes nothing. A dead message whose deadLetter is not
         * in the list stays in the outbox, with the reason, until the list has that queue. ack(to:
         * ...) needs no entry.
         *
         * @param array<string>|string|null $deadLetter the queues, 1 to 200; a single name is one
         *     queue
         * @param bool $any true: removes the list
         * @return list<string> the names in the list, sorted; none: messages may go to any queue
         */
        public function allow(array|string|null $deadLetter = null, bool $any = false): array {}

        /**
         * Deletes all messages of one state, in steps of up to 200, between which the server serves
         * other clients. The consumer of a deleted leased message gets a LeaseLostException on its
         * next call.
         *
         * @param (callable(int): mixed)|null $progress called after each step with the number of
         *     messages deleted so far; what it throws ends the purge there
         * @return int how many messages it deleted
         * @throws Exception\DueqException the messages of the steps before are deleted
         */
        public function purge(State $state, ?callable $progress = null): int {}

        /**
         * Deletes the messages of one group that are ready or delayed, in steps of up to 200. Its
         * leased and dead messages stay.
         *
         * @param string $group the name of the group
         * @param (callable(int): mixed)|null $progress called after each step with the number of
         *     messages so far; an exception of it ends the work there
         * @return int how many messages it deleted
         * @throws Exception\DueqException the messages of the steps before are deleted
         */
        public function purgeGroup(string $group, ?callable $progress = null): int {}

        /**
         * Deletes the queue in one step: its messages, its counters and history, its list of
         * allowed queues (allow), and the ids that are still unique. A message that is pushed
         * afterwards creates the queue again, and so does a waiting consumer. Locks stay until they
         * end.
         *
         * @param bool $force also remove a queue that has batches that have not ended, or members
         *     of other queues' batches. Its batches end without callbacks. The other queues'
         *     batches count the members as dead
         * @return int how many messages it deleted
         * @throws Exception\DueqException without $force, the queue has such batches or members
         */
        public function remove(bool $force = false): int {}

        /**
         * Finds inconsistent entries: messages without a ticket, tickets without a message, keys of
         * another type and so on. Reads in small steps, while the queue is in use.
         *
         * @param bool $repair repairs what it finds, without losing a message
         * @param (callable(int): mixed)|null $progress called after each step with the number of
         *     entries read so far; what it throws ends the check there
         * @return list<Finding> one for each kind; the queue is sound if none of them is wrong
         */
        public function check(bool $repair = false, ?callable $progress = null): array {}

        /** Returns the limits of the queue, as they were set. */
        public function limits(): Limits {}

        /** Counts the queue's messages and events. */
        public function stats(): Stats {}

        /**
         * Counts the events of each of the last minutes, or hours, with an event.
         *
         * @param int|null $minutes 1 to 360; 60 where neither is given
         * @param int|null $hours 1 to 336
         * @return list<Rate> the latest first; the latest may not be over yet
         */
        public function rates(?int $minutes = null, ?int $hours = null): array {}

        /**
         * Lists the consumers that are registered with the queue, and the messages that each has.
         *
         * @return list<WorkerInfo> first those that have not registered for longest
         */
        public function workers(): array {}

        /**
         * Lists the failures in the queue: messages that were retried or buried, whose lease ended,
         * or that died, with the error and the process that reported it. The queue, or each of its
         * partitions, keeps the last 1000.
         *
         * @param string|null $id only failures of this message; null: all
         * @return list<Failure> the latest first
         */
        public function failures(?string $id = null): array {}

        /**
         * Tells how a message ended that was pushed with $keep. A dead message has ended, whether
         * it was pushed with $keep or not.
         *
         * @param string $id its id
         * @param float|\DateInterval $timeout how long to wait until it ends; 0: not at all, INF:
         *     without end. A message that was pushed without $keep is not waited for
         * @return End|null null: it has not ended, or a signal ended the wait, as for reserve()
         * @throws Exception\NotFoundException the queue does not know the message, or not any more
         */
        public function outcome(string $id, float|\DateInterval $timeout = 0.0): ?End {}

        /**
         * Opens a batch of this queue. It counts how its members end, each once, at its first end:
         * acknowledged, dead, cancelled, expired or purged. Messages become members by the option
         * `batch` of push(), or by pushTo(). The batch ends when it is closed and all members have
         * ended. A member that died, and is kicked later, changes nothing any more.
         *
         * @param string $id 1 to 128 bytes of UTF-8 without control characters
         * @param string|array<string, mixed>|null $then pushed when the batch ends and all members
         *     were acknowledged: a body, or a message as of pushMany()
         * @param string|array<string, mixed>|null $catch pushed when the first member dies
         * @param string|array<string, mixed>|null $finally pushed when the batch ends, however its
         *     members ended
         * @param string|null $thenQueue the queue that gets $then; null: this queue
         * @param string|null $catchQueue the queue that gets $catch; null: this queue
         * @param string|null $finallyQueue the queue that gets $finally; null: this queue
         * @param float|\DateInterval $open after this time the batch closes by itself
         * @param float|\DateInterval $keep for how long findBatch() finds the batch when it has
         *     ended
         * @return bool false: there is a batch of this id, which stays as it is
         */
        public function openBatch(
            string $id,
            string|array|null $then = null,
            string|array|null $catch = null,
            string|array|null $finally = null,
            ?string $thenQueue = null,
            ?string $catchQueue = null,
            ?string $finallyQueue = null,
            float|\DateInterval $open = 86400.0,
            float|\DateInterval $keep = 86400.0
        ): bool {}

        /**
         * Finds a batch.
         *
         * @return BatchStatus|null null: there is no such batch, or it ended longer ago than it is
         *     kept
         */
        public function findBatch(string $id): ?BatchStatus {}

        /**
         * Lists the batches of this queue that have not ended, in no order.
         *
         * @return list<BatchStatus>
         */
        public function batches(): array {}

        /**
         * Cancels the members of a batch that are ready or delayed in this queue.
         *
         * @param string|null $batchQueue the queue of the batch; null: this queue
         * @return int how many members it cancelled
         */
        public function cancelBatch(string $id, ?string $batchQueue = null): int {}

        /**
         * Stores members of a batch of this queue in another queue. If the other queue has a
         * message of a member's id, it refuses the member, which counts as cancelled.
         *
         * @param array<string|array<string, mixed>> $messages as of pushMany(), all with the same
         *     `batch`
         * @return list<string|null> their ids
         */
        public function pushTo(string $queue, array $messages): array {}

        /**
         * Lists the groups of which messages wait or are leased. The group without a name stands
         * for all messages without a group. A group whose turn changes meanwhile may come twice, or
         * not at all.
         *
         * @param int $most how many groups at most, from 1 on
         * @return list<Group> first the one that has the next turn, then the others in the order of
         *     their turns
         */
        public function groups(int $most = 100): array {}

        /**
         * Acquires a lock, which has one owner at a time. Each queue has its own locks.
         *
         * @param string $name 1 to 255 bytes of UTF-8 without control characters
         * @param float|\DateInterval $ttl it ends after this time, more than 0, unless it is
         *     extended or released before
         * @param float|\DateInterval $timeout how long to wait until it is free; 0: not at all,
         *     INF: without end
         * @return Lock|null null: another owner still has the lock after the wait, or a signal
         *     ended the wait, as for reserve()
         */
        public function lock(
            string $name,
            float|\DateInterval $ttl,
            float|\DateInterval $timeout = 0.0
        ): ?Lock {}
    }

    /**
     * Several queues of one server, to wait for messages of all of them at once. `foreach ($queues
     * as $message)` is a loop over consume().
     *
     * @implements \IteratorAggregate<int, Message>
     * @strict-properties
     * @not-serializable
     */
    final class Queues implements \IteratorAggregate
    {
        /** @var list<string> the names that the queues were opened with */
        public readonly array $names;

        public readonly Order $order;

        /**
         * Opens queues. Nothing is connected until the first call.
         *
         * @param array<string> $names 1 to 1,024 names of queues; with Order::RoundRobin a name may
         *     be listed several times, to begin more often
         * @param string|null $url as Queue::__construct()
         * @param Order $order from which queue to deliver when several have ready messages
         * @param bool|null $persistent as Queue::__construct()
         * @throws Exception\NameException
         * @throws Exception\UrlException
         */
        public function __construct(
            array $names,
            #[\SensitiveParameter] ?string $url = null,
            Order $order = Order::Preference,
            ?bool $persistent = null
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Reserves the next ready message of one of the queues, as Queue::reserve() does.
         * Message::$queue names the queue that had the message.
         *
         * @param float|\DateInterval $timeout how long to wait for a message; 0: not at all; INF:
         *     without end
         * @param float|\DateInterval|null $lease after this time the message is delivered again,
         *     unless it was acknowledged, retried, released, buried or extended before; null: the
         *     message's own lease, else 30 seconds
         * @return Message|null as Queue::reserve()
         */
        public function reserve(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): ?Message {}

        /**
         * Starts a reserve() and does not wait, as Queue::reserveStart().
         *
         * @param float|\DateInterval $timeout how long to wait for a message; 0: not at all; INF:
         *     without end
         * @param float|\DateInterval|null $lease after this time the message is delivered again,
         *     unless it was acknowledged, retried, released, buried or extended before; null: the
         *     message's own lease, else 30 seconds
         * @return Pending<Message>
         */
        public function reserveStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $lease = null
        ): Pending {}

        /** Creates a consumer of all of them, as Queue::consume(). */
        public function consume(
            int $prefetch = 1,
            float|\DateInterval|null $lease = null,
            float|\DateInterval|null $maxRun = 3600.0,
            float|\DateInterval $timeout = INF,
            float|\DateInterval $slack = 0.0,
            ?int $concurrency = 1,
            ?string $tasks = null
        ): Consumer {}

        /** For foreach: consume() with its defaults. */
        public function getIterator(): Consumer {}

        /**
         * Reserves up to $count ready messages, all of one queue, as reserve(). It waits only for
         * the first.
         * A message that crashed comes alone; where messages over 1 MiB were pushed, 8 MiB come at
         * most, or one message.
         *
         * @param int $count how many messages at most, 1 to 200
         * @param float|\DateInterval $timeout how long to wait for a message; 0: not at all; INF:
         *     without end
         * @param float|\DateInterval|null $lease after this time the message is delivered again,
         *     unless it was acknowledged, retried, released, buried or extended before; null: the
         *     message's own lease, else 30 seconds
         * @return list<Message>
         */
        public function reserveMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): array {}
    }

    /**
     * A loop over messages, from consume(). work() needs the fewest requests:
     *
     *     $queue->consume(prefetch: 10)->work(function (Dueq\Message $message) {
     *         ...                          // acknowledged at the end, retried when this throws
     *     });
     *
     * or a loop of your own, which settles each message by its methods:
     *
     *     foreach ($queue->consume() as $message) {
     *         ...
     *         $message->ack();
     *     }
     *
     * Signal handlers run while it waits (with pcntl_async_signals(true)), and it goes on waiting,
     * unless they call stop(), exit or throw. When a loop ends, messages that were reserved and not
     * delivered to the program are released. After a fork, the messages of the consumer stay with
     * the parent, and the child may begin a loop of its own. If a foreach goes on after the program
     * has dropped a message without settling it, PHP's log has a warning, once.
     *
     * @implements \IteratorAggregate<int, Message>
     * @strict-properties
     * @not-serializable
     */
    final class Consumer implements \IteratorAggregate, ConsumerInterface
    {
        private function __construct() {}

        /**
         * Calls the handler with each message until the loop ends. A message that the handler did
         * not settle by its methods is acknowledged when the handler returns, and retried with the
         * error's text when it throws; both are sent with the next request. lost() counts messages
         * whose lease was lost by then. When such a method threw and the handler returned, the
         * message is not acknowledged: PHP's log has a warning, and the message is delivered again
         * when its lease ends, unless that call took effect.
         *
         * exit() in the handler (or in a signal handler meanwhile) is no failure: the message is
         * released, so that it does not count as an attempt. A fatal error, such as of memory_limit
         * or max_execution_time, is one: the message is retried with its text when the request
         * ends. Both are so in a foreach too.
         *
         * @param callable(Message): mixed $handler
         * @param (callable(Message, \Throwable): mixed)|null $onError called with what the handler
         *     threw; then the message is retried, unless $onError has settled it, and the loop
         *     continues. null: the loop ends, and throws it
         * @throws Exception\DueqException
         */
        public function work(callable $handler, ?callable $onError = null): void {}

        /**
         * For foreach, one loop at a time.
         *
         * @return \Iterator<int, Message>
         */
        public function getIterator(): \Iterator {}

        /**
         * Ends the loop after the current message, or its wait. The loop cannot be started again.
         * Signal handlers may call it. After poll() it releases prefetched messages, which takes a
         * round trip or two.
         */
        public function stop(): void {}

        /**
         * For event loops and fibers, instead of a loop: the next message, without waiting. Call it
         * until it returns null, and again when stream() is readable. The message's own methods
         * settle it. The consumer's timeout does not apply.
         *
         * @return Message|null null: there is no message now, or the consumer was stopped
         * @throws Exception\DueqException when the server could not be reached: call it again later
         */
        public function poll(): ?Message {}

        /**
         * The stream to wait for after poll(), as Pending::stream(). Whenever it is readable, call
         * poll(): a message or a wake token may have arrived for this consumer.
         *
         * @return resource
         */
        public function stream() {}

        /**
         * Whether exit() in a handler of work() or foreach counts as a crash of its message, so
         * that maxCrashes ends a message that always exits. By default the message is released.
         * Worker commands count exits until they are told to stop.
         */
        public function countExits(bool $count = true): void {}

        /**
         * How many messages this consumer has lost before it could settle or deliver them: other
         * consumers took them after their leases had ended, or they were cancelled.
         */
        public function lost(): int {}
    }

    /**
     * The delay of a retry without a delay, by the failures n = 1, 2 ... of the message. Each delay
     * is at most 49 days; push() checks it.
     *
     * The jitter makes each delay d random, so that messages that failed together are not ready
     * again together.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Backoff
    {
        public readonly BackoffKind $kind;

        /** Seconds; null for a list. */
        public readonly ?float $base;

        /** The most that a delay grows to, in seconds; null: without limit. */
        public readonly ?float $cap;

        /** @var list<float> seconds; empty but for a list */
        public readonly array $delays;

        public readonly Jitter $jitter;

        private function __construct() {}

        /**
         * Always the same delay.
         *
         * @param float|\DateInterval $delay 0: at once
         */
        public static function fixed(
            float|\DateInterval $delay,
            Jitter $jitter = Jitter::None
        ): Backoff {}

        /**
         * $base * n.
         *
         * @param float|\DateInterval $base more than 0
         * @param float|\DateInterval|null $cap the most that a delay grows to, more than 0; null:
         *     without limit
         */
        public static function linear(
            float|\DateInterval $base,
            float|\DateInterval|null $cap = null,
            Jitter $jitter = Jitter::None
        ): Backoff {}

        /**
         * $base * 2 ** (n - 1).
         *
         * @param float|\DateInterval $base more than 0
         * @param float|\DateInterval|null $cap the most that a delay grows to, more than 0; null:
         *     without limit
         */
        public static function exponential(
            float|\DateInterval $base,
            float|\DateInterval|null $cap = null,
            Jitter $jitter = Jitter::None
        ): Backoff {}

        /**
         * The nth of the delays, and the last one from then on.
         *
         * @param array<int|float|\DateInterval> $delays 1 to 32, in seconds
         */
        public static function list(array $delays, Jitter $jitter = Jitter::None): Backoff {}
    }

    /**
     * A message, from reserve(), find() and peek().
     *
     * @property-read bool $lost whether the message is known to be lost: another consumer has it,
     *     or it was cancelled. A consumer's heartbeat learns this within a third of the lease. From
     *     then on each method that changes the message throws a LeaseLostException
     * @phpstan-import-type Draft from QueueInterface
     * @strict-properties
     * @not-serializable
     */
    final class Message implements MessageInterface
    {
        /** The name of its queue. */
        public readonly string $queue;

        // Made from core/results.toml by core/verbs.py: the fields of Message.

        /** The id, the same on every delivery. */
        public readonly string $id;

        /** The bytes that were pushed. */
        public readonly string $body;

        /**
         * @var array<string, string> The headers as they were pushed: texts by name, in the
         *     producer's order.
         */
        public readonly array $headers;

        /**
         * Names this delivery, for the calls that settle messages by their tickets; empty unless
         * leased.
         */
        public readonly string $ticket;

        /**
         * Failures since the push or the last kick and, while leased, this delivery: 1 for the
         * first.
         */
        public readonly int $attempt;

        /** How many failures make the message dead. null: no limit. */
        public readonly ?int $maxAttempts;

        /** Deliveries since the push or the last kick whose lease ended. */
        public readonly int $crashes;

        /** How many crashes make the message dead. null: no limit. */
        public readonly ?int $maxCrashes;

        /** All deliveries: this one, crashed and released ones, and those before a kick. */
        public readonly int $deliveries;

        /** 1 high, 0 normal, -1 low. */
        public readonly int $priority;

        /** The state when the server answered. */
        public readonly State $state;

        /**
         * When the message is due (delayed), its lease ends (leased), or it became dead (dead), by
         * the server's clock. null: it is ready.
         */
        public readonly ?float $time;

        /** When the message was pushed, by the producer's clock. */
        public readonly float $created;

        /** When the ttl ends, by the server's clock. null: never. */
        public readonly ?float $expires;

        /** The text of the last retry or bury; empty if there was none. */
        public readonly string $error;

        /** Whether the message is deleted where it would become dead. */
        public readonly bool $drop;

        /**
         * The queue to which the message moves where it would become dead. null: it stays in its
         * queue.
         */
        public readonly ?string $deadLetter;

        /** The group with which the message takes turns. null: it has none. */
        public readonly ?string $group;

        /**
         * How far the job of the message has come, from 0 to 1, as the job said. null: it said
         * nothing.
         */
        public readonly ?float $progress;

        /** What the job said with its progress; empty: nothing. */
        public readonly string $progressNote;

        /** For how long the end of the message is kept. null: it is not kept. */
        public readonly ?float $keep;

        /**
         * The batch that counts how the message ends. null: it is in no batch, or its end was
         * counted.
         */
        public readonly ?string $batch;

        /**
         * The queue of its batch; in a queue of partitions the name of a partition. null: its own.
         */
        public readonly ?string $batchQueue;

        // The end of what was made.

        private function __construct() {}

        /**
         * Acknowledges the message, which deletes it.
         *
         * @param array<int, string|Draft>|null $push successors, stored in the same step, as
         *     messages of pushMany(); up to
         *     200. If the lease was lost, none is stored
         * @param string|null $to the queue to push them to; null: the message's own
         * @param bool $wait false: the ack of a message of consume() goes with the loop's next
         *     request, within a quarter of a second, as acks of work() do. Where it finds the lease
         *     lost, nothing is thrown: Consumer::lost() counts the message. Any other ack is sent
         *     and answered now. Not with $push or $result
         * @param string|null $result up to 1 MiB, which the queue keeps with the message's end: see
         *     Queue::outcome(). If the message was pushed without $keep, it is dropped. A larger
         *     one throws a TooLargeException, and the message stays leased
         * @return list<string|null>|null with $push: in order, each successor's id, or null for a
         *     duplicate
         * @throws Exception\LeaseLostException
         */
        public function ack(
            ?array $push = null,
            ?string $to = null,
            bool $wait = true,
            ?string $result = null
        ): ?array {}

        /** Whether this is the message of a schedule, for fire(), and not a job. */
        public function isSchedule(): bool {}

        /**
         * Whether the message is settled, or a settling call was made: the end of a handler then
         * does nothing with it.
         */
        public function isSettled(): bool {}

        /**
         * Fires the schedule of this message: acknowledges the message and, in the same step,
         * pushes the jobs whose times have come and the schedule's next message. If the call fails,
         * retry() the message: it has no limit of attempts.
         *
         * @return list<string> the ids of the jobs
         * @throws Exception\LeaseLostException
         */
        public function fire(): array {}

        /**
         * Stores a text with the message while it is leased, as its header `cursor`: each further
         * delivery has it, so that a long job goes on from there.
         *
         * @param string $cursor UTF-8; it takes the place of an earlier one. All headers take
         *     65,535 bytes at most. Empty: it is removed
         * @throws Exception\LeaseLostException
         */
        public function checkpoint(string $cursor): void {}

        // Made from core/verbs.toml by core/verbs.py: the verbs of Message.

        /**
         * Ends the delivery as failed: the message is delivered again.
         *
         * Returns false if the attempts are exhausted: the message is then dead or, by its policy,
         * moves to its dead-letter queue or is deleted.
         *
         * @param float|\DateInterval|null $delay seconds until the message is due; 0: at once;
         *     null: by its backoff
         * @param string $error a text that is stored with the message, up to 4,096 bytes
         * @throws Exception\LeaseLostException
         */
        public function retry(float|\DateInterval|null $delay = null, string $error = ""): bool {}

        /**
         * Gives the message back to the queue: the delivery does not count as an attempt.
         *
         * @param float|\DateInterval $delay seconds until the message is due; 0: it is ready, and
         *     the next one to be delivered
         * @throws Exception\LeaseLostException
         */
        public function release(float|\DateInterval $delay = 0.0): void {}

        /**
         * Gives the message back to the queue, and holds its group: for so long no message of the
         * group is delivered. The delivery does not count as an attempt.
         *
         * @param float|\DateInterval $duration for how many seconds the group is held; 0: it is
         *     held no more
         * @throws Exception\LeaseLostException
         */
        public function holdGroup(float|\DateInterval $duration): void {}

        /**
         * Extends the lease: it ends $lease seconds from now.
         *
         * @throws Exception\LeaseLostException
         */
        public function extend(float|\DateInterval $lease): void {}

        /**
         * Makes the message dead, whatever attempts it has left. By its policy it moves to its
         * dead-letter queue or is deleted instead.
         *
         * @param string $reason a text that is stored as the message's error, up to 4,096 bytes
         * @throws Exception\LeaseLostException
         */
        public function bury(string $reason = ""): void {}

        // The end of what was made.
    }

    /**
     * The messages of peek(), by number from 0. A new loop fetches them again.
     *
     * @implements \Iterator<int, Message>
     * @strict-properties
     * @not-serializable
     */
    final class Messages implements \Iterator
    {
        private function __construct() {}

        /**
         * The current message of the loop; null behind the last one.
         *
         * @return Message
         */
        public function current(): mixed {}

        /**
         * The number of the current message; null behind the last one.
         *
         * @return int
         */
        public function key(): mixed {}

        public function next(): void {}

        public function rewind(): void {}

        public function valid(): bool {}
    }

    /**
     * A waiting call in progress, from reserveStart(), takeStart(), transferStart(), popStart() and
     * migrateStart(). An event loop watches its stream:
     *
     *     $pending = $queue->reserveStart();
     *     while (!$pending->poll()) {
     *         $read = [$pending->stream()];        // and whatever else the loop waits for
     *         stream_select($read, $write, $except, null);
     *     }
     *     $message = $pending->result();
     *
     * A fiber waits by suspending itself, for example with Revolt:
     *
     *     while (!$pending->poll()) {
     *         $suspension = EventLoop::getSuspension();
     *         $watcher = EventLoop::onReadable($pending->stream(), fn () => $suspension->resume());
     *         $suspension->suspend();
     *         EventLoop::cancel($watcher);
     *     }
     *
     * Its destructor cancels it. After a fork it belongs to the parent.
     *
     * @template-covariant T
     * @strict-properties
     * @not-serializable
     */
    final class Pending
    {
        private function __construct() {}

        /**
         * The stream to wait for: it is readable whenever poll() has something to do, also at its
         * timeout. Do not read from it. It need not be closed, but may be.
         *
         * @return resource
         */
        public function stream() {}

        /**
         * Advances the call without blocking. Call this whenever the stream is readable. It never
         * throws. (The first call may block while it finds a host's address or starts an embedded
         * server.)
         *
         * @return bool true: the call has ended, and result() has its result
         */
        public function poll(): bool {}

        /**
         * Returns what the waiting method would have returned, as reserve() of reserveStart(), or
         * throws what it would have thrown.
         *
         * @return T|null null if the waiting method would return null, or if the call was cancelled
         * @throws \Error before poll() has returned true
         */
        public function result(): mixed {}

        /**
         * Ends the wait, which takes a round trip or two. A message, value or job that has arrived
         * and that result() has not returned is released to the front of its queue; the delivery
         * does not count. Items that a transfer has moved stay moved. After result() this does
         * nothing.
         *
         * @throws Exception\DueqException when it is not known whether it was released: a message
         *     is ready again when its lease ends, a job after its time; a value may be lost
         */
        public function cancel(): void {}
    }

    /**
     * Pushes messages without waiting for each: hundreds of thousands of them in a second. They are
     * stored in order, none twice, each with an outcome of its own. A push is certainly stored when
     * flush() has returned, or has thrown without an error for it.
     *
     *     $pusher = $queue->pusher();
     *     foreach ($orders as $order) {
     *         $pusher->push($order->json());
     *     }
     *     $pusher->flush();                // throws if any failed
     *
     * Its destructor waits as flush() does, and warns of failures (E_WARNING). After a fork, the
     * pushes in flight belong to the parent.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Pusher implements PusherInterface
    {
        private function __construct() {}

        /**
         * Starts a push, as Queue::push(), and does not wait for it. It waits only while the most
         * allowed pushes are in flight.
         *
         * @param array<string, string> $headers
         * @param float|array<int|float|\DateInterval>|Backoff|\DateInterval|null $backoff
         * @return int its number: 0 for the first push of this object, then 1, 2 ...
         * @throws Exception\InvalidException where Queue::push() would: it has no number then
         * @throws Exception\TooLargeException
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 16,
            float|\DateInterval|null $lease = null,
            array $headers = [],
            int $priority = 0,
            float|\DateInterval|null $ttl = null,
            float|array|Backoff|\DateInterval|null $backoff = null,
            ?int $maxCrashes = 5,
            bool $drop = false,
            ?string $deadLetter = null,
            float|\DateInterval|null $unique = null,
            ?Replace $replace = null,
            int $replicas = 0,
            bool $disk = false,
            float|\DateInterval|null $durableTimeout = null,
            ?string $key = null,
            ?string $group = null,
            float|\DateInterval|null $keep = null,
            ?string $batch = null
        ): int {}

        /**
         * Waits until each started push is stored or has failed.
         *
         * @throws Exception\FlushException when pushes since the last flush() have failed; all
         *     others are stored
         */
        public function flush(): void {}
    }

    /**
     * A lock, from lock(). It ends by release() or after its time, not with this object.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Lock implements LockInterface
    {
        public readonly string $name;

        /** Identifies the owner. */
        public readonly string $token;

        private function __construct() {}

        /**
         * Extends the lock.
         *
         * @param float|\DateInterval $ttl the lock ends after this time from now, more than 0
         * @throws Exception\LeaseLostException
         */
        public function extend(float|\DateInterval $ttl): void {}

        /**
         * Releases the lock: the next waiting client acquires it.
         *
         * @throws Exception\LeaseLostException
         */
        public function release(): void {}
    }

    /**
     * The messages and events of a queue, counted by the server.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Stats
    {
        // Made from core/results.toml by core/verbs.py: the fields of Stats.

        /** Messages that can be delivered now. */
        public readonly int $ready;

        /** Messages that are due later. */
        public readonly int $delayed;

        /** Messages that are leased to a consumer. */
        public readonly int $leased;

        /** Messages that are dead: buried, killed, damaged, or out of attempts or crashes. */
        public readonly int $dead;

        /** Dead letters and successors on their way to other queues. */
        public readonly int $outbox;

        /** Why a message stays in the outbox: the other queue, and the error; empty: no error. */
        public readonly string $outboxError;

        /** Messages stored since the queue exists. */
        public readonly int $pushed;

        /** Deliveries since the queue exists. */
        public readonly int $reserved;

        /** Messages acknowledged since the queue exists. */
        public readonly int $acked;

        /** Retries since the queue exists. */
        public readonly int $retried;

        /** Messages whose ttl ended before their first delivery, since the queue exists. */
        public readonly int $expired;

        /**
         * Messages that became dead, moved to a dead-letter queue or were dropped, since the queue
         * exists.
         */
        public readonly int $died;

        /** Messages cancelled since the queue exists. */
        public readonly int $cancelled;

        /** Messages purged since the queue exists. */
        public readonly int $purged;

        /**
         * Entries quarantined, and messages that died because they were damaged, since the queue
         * exists.
         */
        public readonly int $quarantined;

        /** The next due time or end of a lease. null: there is none. */
        public readonly ?float $nextEvent;

        /**
         * Since when the oldest ready message has been ready. For a message that was delayed or
         * delivered before, this may be up to a minute too early. null: no message is ready.
         */
        public readonly ?float $oldest;

        /** The server's clock when it counted. */
        public readonly float $now;

        /** Whether deliveries are stopped until the queue is resumed. */
        public readonly bool $paused;

        /**
         * Which limit keeps ready messages waiting: concurrency or rate; or unreadable, if a limit
         * cannot be read; empty: none does.
         */
        public readonly string $atLimit;

        /**
         * Whether the server may delete messages when its memory is full, and the URL does not say
         * evicting=accept.
         */
        public readonly bool $evicting;

        /** Ends of messages that are kept. */
        public readonly int $ends;

        /** How many bytes the kept ends have, with their results. */
        public readonly int $endsBytes;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * The limits of one group, as they were set.
     *
     * @strict-properties
     * @not-serializable
     */
    final class GroupLimits
    {
        // Made from core/results.toml by core/verbs.py: the fields of GroupLimits.

        /** The name of the group. */
        public readonly string $name;

        /** How many of its messages may be leased at once. null: the limit of each group. */
        public readonly ?int $concurrency;

        /** How many of its messages are delivered in a time; empty: the rate of each group. */
        public readonly string $rate;

        /** How many the rate allows at once after a pause. null: the burst of each group. */
        public readonly ?int $burst;

        /**
         * How many of its messages may wait before a push is refused. null: the limit of each
         * group.
         */
        public readonly ?int $backlog;

        /** How many turns it gets for one turn of a group without a weight. null: one. */
        public readonly ?int $weight;

        /** In which order its messages begin: fair, fifo or strict; empty: the queue's. */
        public readonly string $order;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * The limits of a queue and of its groups, as they were set.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Limits
    {
        // Made from core/results.toml by core/verbs.py: the fields of Limits.

        /** How many messages may be leased at once. null: no limit. */
        public readonly ?int $concurrency;

        /** How many messages are delivered in a time, such as "1000/s"; empty: no limit. */
        public readonly string $rate;

        /** How many the rate allows at once after a pause. null: what the rate allows in 100 ms. */
        public readonly ?int $burst;

        /** How many messages of each group may be leased at once. null: no limit. */
        public readonly ?int $eachGroupConcurrency;

        /** How many of each group are delivered in a time; empty: no limit. */
        public readonly string $eachGroupRate;

        /**
         * How many of each group its rate allows at once after a pause. null: what the rate allows
         * in 100 ms.
         */
        public readonly ?int $eachGroupBurst;

        /** How many messages of each group may wait before a push is refused. null: no limit. */
        public readonly ?int $eachGroupBacklog;

        /** In which order messages of a group begin: fifo or strict; empty: fair. */
        public readonly string $order;

        /** @var list<GroupLimits> The groups that have limits of their own, by their names. */
        public readonly array $groups;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * The findings of one kind, from Queue::check().
     *
     * @strict-properties
     * @not-serializable
     */
    final class Finding
    {
        // Made from core/results.toml by core/verbs.py: the fields of Finding.

        /** One word for the kind, such as "lost" or "orphaned". */
        public readonly string $kind;

        /** What the kind means, such as "messages without a ticket". */
        public readonly string $text;

        /** Whether the finding is an inconsistency. If not, it is only worth knowing. */
        public readonly bool $wrong;

        /** How many entries were found. */
        public readonly int $count;

        /** How many of the entries that `count` counts this check repaired. */
        public readonly int $repaired;

        /**
         * @var list<string> Up to five ids, tickets, keys or texts, unescaped, each cut at 120
         *     bytes.
         */
        public readonly array $examples;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * The events of a queue in a span of time, usually a minute of the server's clock.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Rate
    {
        // Made from core/results.toml by core/verbs.py: the fields of Rate.

        /** The begin of the span. */
        public readonly float $start;

        /** The length of the span. */
        public readonly float $span;

        /** Messages stored. */
        public readonly int $pushed;

        /** Deliveries. */
        public readonly int $reserved;

        /** Messages acknowledged. */
        public readonly int $acked;

        /** Retries. */
        public readonly int $retried;

        /** Messages whose ttl ended before their first delivery. */
        public readonly int $expired;

        /** Messages that became dead, moved to a dead-letter queue or were dropped. */
        public readonly int $died;

        /** Messages cancelled. */
        public readonly int $cancelled;

        /**
         * The p50 of the times from when a message was ready, or due, until its delivery. null:
         * nothing was measured.
         */
        public readonly ?float $lateP50;

        /** The p99 of the same times. null: nothing was measured. */
        public readonly ?float $lateP99;

        /**
         * The p50 of the times from a delivery until its message was acknowledged, retried or
         * settled otherwise. null: nothing was measured.
         */
        public readonly ?float $runP50;

        /** The p99 of the same times. null: nothing was measured. */
        public readonly ?float $runP99;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * A consumer of a queue, with the state that it last registered. A consumer with a heartbeat
     * registers when it has existed for two seconds, then every ten seconds (every 25 while it has
     * no message). When it is closed, its registration is removed. Times are the server's, in
     * seconds since 1970.
     *
     * @strict-properties
     * @not-serializable
     */
    final class WorkerInfo
    {
        // Made from core/results.toml by core/verbs.py: the fields of WorkerInfo.

        /** The unique id of the consumer, 22 characters. */
        public readonly string $session;

        /** The host of its process. */
        public readonly string $host;

        /** The number of its process. */
        public readonly int $pid;

        /**
         * The language and its version, such as "python 3.12.4", "php 8.3.6", "dueq work" or "c".
         */
        public readonly string $program;

        /** The version of dueq. */
        public readonly string $version;

        /** How many messages the consumer works on at a time; 0: not known. */
        public readonly int $slots;

        /** When the consumer was opened. */
        public readonly float $since;

        /** When the consumer last registered. */
        public readonly float $seen;

        /** When the consumer becomes offline, unless it registers again. */
        public readonly float $until;

        /** The server's clock when it answered. */
        public readonly float $now;

        /**
         * Whether the consumer has not registered for about a minute, or longer if it has more than
         * 16 queues: its process was killed, or is cut off. It stays in the list for an hour.
         */
        public readonly bool $offline;

        /**
         * How many messages of this queue were leased to the consumer when it registered, with
         * prefetched ones.
         */
        public readonly int $leased;

        /** How many of the leased messages the program was working on. */
        public readonly int $running;

        /**
         * Whether the consumer was stopped: it takes no new message, and ends when its messages are
         * settled. An offline consumer that was stopped did not end in time: for example, a deploy
         * killed it. An offline consumer that was not stopped crashed, or is cut off.
         */
        public readonly bool $stopping;

        /**
         * @var list<Lease> The messages that the consumer had had for at least a second, in the
         *     order of their deliveries; at most 100.
         */
        public readonly array $leases;

        /**
         * The names of the tasks that its program knows, each in a line; empty: it does not say.
         */
        public readonly string $tasks;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * A message that is leased to a worker.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Lease
    {
        // Made from core/results.toml by core/verbs.py: the fields of Lease.

        /** The id of the message. */
        public readonly string $id;

        /** The ticket of the delivery. */
        public readonly string $ticket;

        /** The partition of the message. null: the queue has no partitions. */
        public readonly ?int $partition;

        /**
         * When the program began to work on the message, or when it was prefetched: by the server's
         * clock.
         */
        public readonly float $since;

        /** Whether the program has begun to work on the message. If not, it is prefetched. */
        public readonly bool $running;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * How a message ended that was pushed with `keep`. Times are in seconds since 1970.
     *
     * @strict-properties
     * @not-serializable
     */
    final class End
    {
        // Made from core/results.toml by core/verbs.py: the fields of End.

        /** The id of the message. */
        public readonly string $id;

        /** How it ended: acked, dead, cancelled, expired or purged. */
        public readonly string $outcome;

        /** When it ended, by the server's clock. */
        public readonly float $time;

        /** When the message was pushed, by the producer's clock. */
        public readonly float $created;

        /**
         * How long the message waited: from its push until its last delivery began, or until it
         * ended without one. null: not known.
         */
        public readonly ?float $waited;

        /** How long its last delivery ran. null: no delivery ended it, or it is not known. */
        public readonly ?float $ran;

        /** How many deliveries it had. */
        public readonly int $deliveries;

        /** The host of the process that ended it. null: not known. */
        public readonly ?string $host;

        /** The number of that process. null: not known. */
        public readonly ?int $pid;

        /** Whether it was acknowledged with a result. */
        public readonly bool $hasResult;

        /** The result; empty if it has none. */
        public readonly string $result;

        /** Of a dead message, the text of its last error; may be empty. */
        public readonly string $error;

        /** Until when the end is kept. null: as long as the dead message is in the queue. */
        public readonly ?float $until;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * A failure in a queue, which keeps the last 1000 failures. Times are in seconds since 1970.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Failure
    {
        // Made from core/results.toml by core/verbs.py: the fields of Failure.

        /**
         * When the message failed, by the server's clock. For a crash: when a reserve noticed the
         * crash.
         */
        public readonly float $time;

        /**
         * failed: the message was retried. crashed: its lease ended. buried: a consumer buried it.
         * died: its attempts or crashes are used up, or it is damaged.
         */
        public readonly FailureKind $kind;

        /** The id of the message. */
        public readonly string $id;

        /**
         * The ticket of the delivery. The worker that has the ticket in its `leases` had the
         * message.
         */
        public readonly string $ticket;

        /** The number of the delivery, from 1 on. */
        public readonly int $delivery;

        /** When the message was pushed, by the producer's clock. */
        public readonly float $created;

        /**
         * The host of the process that settled the message. null: no process did, as for a crash.
         */
        public readonly ?string $host;

        /** The number of that process. null: no process settled the message. */
        public readonly ?int $pid;

        /** The first 500 bytes of the error; may be empty. */
        public readonly string $error;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * A batch: how many members it has, and how they ended. Times are in seconds since 1970.
     *
     * @strict-properties
     * @not-serializable
     */
    final class BatchStatus
    {
        // Made from core/results.toml by core/verbs.py: the fields of BatchStatus.

        /** The id of the batch. */
        public readonly string $id;

        /**
         * open: it takes members; closed: only its members add members; ended: all members have
         * ended.
         */
        public readonly string $state;

        /** How many members it has. */
        public readonly int $pushed;

        /** How many of the members were acknowledged. */
        public readonly int $acked;

        /** How many died: the attempts or crashes were used up, or a consumer buried them. */
        public readonly int $dead;

        /** How many were cancelled, replaced, or refused by another queue. */
        public readonly int $cancelled;

        /** How many were not delivered in their time to live. */
        public readonly int $expired;

        /** How many were purged. */
        public readonly int $purged;

        /** How many members have not ended. */
        public readonly int $left;

        /** When it was opened. */
        public readonly float $opened;

        /** When an open batch closes by itself, or when it was closed. */
        public readonly float $closes;

        /** When it ended. null: it has not. */
        public readonly ?float $ended;

        /** The server's clock when it answered. */
        public readonly float $now;

        /**
         * The id of the message that is pushed if all members are acknowledged. Only find_batch
         * tells the callbacks, and only until the batch has ended. null: there is no such message.
         */
        public readonly ?string $thenId;

        /** The queue that gets that message. null: that of the batch. */
        public readonly ?string $thenQueue;

        /**
         * The id of the message that is pushed when the first member dies. null: there is no such
         * message.
         */
        public readonly ?string $catchId;

        /** The queue that gets that message. null: that of the batch. */
        public readonly ?string $catchQueue;

        /**
         * The id of the message that is pushed when the batch ends. null: there is no such message.
         */
        public readonly ?string $finallyId;

        /** The queue that gets that message. null: that of the batch. */
        public readonly ?string $finallyQueue;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * A group of messages, which takes turns with the others. Times are in seconds since 1970.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Group
    {
        // Made from core/results.toml by core/verbs.py: the fields of Group.

        /** The name of the group. null: these are all messages without a group. */
        public readonly ?string $name;

        /**
         * How many of its messages wait to be delivered. Cancelled ones count until their turn
         * comes, and delayed ones when they are due.
         */
        public readonly int $waiting;

        /**
         * When the message that is the group's next was pushed, by the producer's clock. null: no
         * message waits.
         */
        public readonly ?float $oldest;

        /**
         * How many of its messages are leased. null: not known, as more than 1,000 messages of the
         * queue are leased.
         */
        public readonly ?int $leased;

        /**
         * About how many of its messages were delivered in the last minute. null: not known, as the
         * queue has not had limits of groups for a minute, or more than 10,000 groups had
         * deliveries.
         */
        public readonly ?int $servedPerMinute;

        /** The server's clock when it answered. */
        public readonly float $now;

        /**
         * What keeps its messages waiting: concurrency or rate, its limits; order or hold; empty:
         * nothing does.
         */
        public readonly string $atLimit;

        /** Until when the group is held. null: it is not. */
        public readonly ?float $heldUntil;

        /**
         * If its order keeps its messages waiting: the id of the message that must end before the
         * next one begins. null: there is none, or it is not known.
         */
        public readonly ?string $holder;

        // The end of what was made.

        private function __construct() {}
    }
}

namespace Dueq\Redisson
{
    /** How values are encoded: the codec of the Redisson clients of the queue. */
    enum Codec: string
    {
        /** Redisson's default from 3.19 on. */
        case Kryo5 = "kryo5";

        /** ByteArrayCodec */
        case Bytes = "bytes";

        /** StringCodec */
        case String = "string";

        /** LongCodec */
        case Long = "long";

        /** JsonJacksonCodec */
        case Jackson = "jackson";

        /** TypedJsonJacksonCodec */
        case TypedJson = "typed json";

        /** JsonJackson3Codec */
        case Jackson3 = "jackson3";

        /** TypedJsonJackson3Codec */
        case TypedJson3 = "typed json3";
    }

    /** The format of waiting values. */
    enum Layout: string
    {
        /** That of Redisson 3.21.1 and later. */
        case New = "new";

        /** That of Redisson up to 3.21.0. */
        case Old = "old";
    }

    /**
     * A delayed queue of Redisson (RDelayedQueue), used together with Redisson: values are offered
     * with a delay, and a transfer, of Redisson or of runTransfer(), moves each to the destination
     * when it is due. The destination is a plain list that any client may take from.
     *
     * Values are null, bool, int (a Java Integer if it fits into 32 bits, else a Long), float
     * (Double), string (String: UTF-8; byte[] with Codec::Bytes), Long, Binary and, with the codecs
     * of Jackson, arrays, stdClass and JsonSerializable objects by json_encode(). They are read
     * back as plain values: JSON objects as arrays, integers beyond 64 bits as strings.
     *
     * @strict-properties
     * @not-serializable
     */
    final class DelayedQueue implements \Countable
    {
        /** The list's key, as it was opened. */
        public readonly string $destination;

        public readonly Codec $codec;

        /** null: that of the waiting values. */
        public readonly ?Layout $layout;

        /**
         * Opens the delayed queue of a destination. Nothing is connected until the first call.
         *
         * @param string $destination the list's key, as it is in the server: 1 to 255 bytes of
         *     UTF-8 without control characters
         * @param string|null $url as \Dueq\Queue::__construct()
         * @param Codec $codec how the values are encoded
         * @param Layout|null $layout the format of waiting values; null: that of the values that
         *     wait, or Layout::New if none waits
         * @param bool|null $persistent as \Dueq\Queue::__construct()
         * @throws \Dueq\Exception\NameException
         * @throws \Dueq\Exception\UrlException
         */
        public function __construct(
            string $destination,
            #[\SensitiveParameter] ?string $url = null,
            Codec $codec = Codec::Kryo5,
            ?Layout $layout = null,
            ?bool $persistent = null
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Offers a value, which is moved to the destination when it is due.
         *
         * @param mixed $value as described at the class; a value that the codec has no form for
         *     throws \Dueq\Exception\InvalidException
         * @param float|\DateInterval|null $delay due this long after the offer
         * @param float|int|\DateTimeInterface|null $at due at this time of the server's clock; not
         *     together with $delay
         * @throws \Dueq\Exception\LayoutException when elements of another layout, or of both,
         *     wait: so do transfer(), poll(), peek(), remove() and contains()
         */
        public function offer(
            mixed $value,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): void {}

        /**
         * Offers any number of values, in steps of up to 200: a step is stored as a whole or not at
         * all.
         *
         * @param array<mixed> $values each as of offer()
         * @param float|\DateInterval|null $delay of all of them
         * @param float|int|\DateTimeInterface|null $at of all of them
         * @throws \Dueq\Exception\DueqException steps before the failed one are stored
         */
        public function offerMany(
            array $values,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): void {}

        /**
         * Moves due values to the destination, in the order of their times. A damaged element is
         * quarantined, with a warning in PHP's log.
         *
         * @param float|\DateInterval $timeout how long to wait until a value is due; 0: not at all,
         *     INF: without end. A signal ends the wait, as with \Dueq\Queue::reserve()
         * @param int $most 1 to 200
         */
        public function transfer(
            float|\DateInterval $timeout = 0.0,
            int $most = 200
        ): \Dueq\Interop\Moved {}

        /**
         * Starts a transfer() and does not wait, as \Dueq\Queue::reserveStart(): result() of what
         * it returns is the Moved.
         *
         * @param float|\DateInterval $timeout as transfer()
         * @param int $most as transfer()
         * @return \Dueq\Pending<\Dueq\Interop\Moved>
         */
        public function transferStart(
            float|\DateInterval $timeout = INF,
            int $most = 200
        ): \Dueq\Pending {}

        /**
         * Transfers until it is stopped, on connections of its own: signal handlers and $until may
         * use this object. While the server is away it waits, and warns in PHP's log.
         *
         * @param (callable(): mixed)|null $until called after each step, and four times a second
         *     while nothing is due; the transfer stops when it returns true, or when it or a signal
         *     handler throws. null: only a signal handler stops it
         * @throws \Dueq\Exception\DueqException a failure that does not pass by itself, or a server
         *     that was never reached
         */
        public function runTransfer(?callable $until = null): void {}

        /**
         * Takes a value from the destination. There is no acknowledgement: it is not delivered
         * again. Java's null is null too.
         *
         * @param float|\DateInterval $timeout how long to wait for one; 0: not at all, INF: without
         *     end
         * @return mixed null after the wait, and as soon as a signal comes, as with
         *     \Dueq\Queue::reserve()
         * @throws \Dueq\Exception\CorruptException the value cannot be decoded; the property raw
         *     has its bytes
         */
        public function take(float|\DateInterval $timeout = INF): mixed {}

        /**
         * Starts a take() and does not wait, as \Dueq\Queue::reserveStart(). Its result() is the
         * value, or null if none came before the timeout.
         *
         * @param float|\DateInterval $timeout as take()
         * @return \Dueq\Pending<mixed>
         */
        public function takeStart(float|\DateInterval $timeout = INF): \Dueq\Pending {}

        /**
         * Takes up to $count values from the destination, as take(). It waits only for the first.
         *
         * @param int $count 1 to 200
         * @return list<mixed> with an Unreadable for each that cannot be decoded
         */
        public function takeMany(int $count, float|\DateInterval $timeout = INF): array {}

        /**
         * Takes the waiting value that was offered first, before it is due. It does not reach the
         * destination.
         *
         * @return mixed null: none waits
         * @throws \Dueq\Exception\CorruptException the value cannot be decoded; the property raw
         *     has its bytes
         */
        public function poll(): mixed {}

        /**
         * Takes up to $count values, as poll().
         *
         * @param int $count 1 to 200
         * @return list<mixed> with an Unreadable for each that cannot be read
         */
        public function pollMany(int $count): array {}

        /**
         * Reads up to $count waiting values, the first offered first, without changing them.
         *
         * @param int $count 1 to 200
         * @return list<mixed> with an Unreadable for each that cannot be read
         */
        public function peek(int $count = 1): array {}

        /**
         * Deletes the first offered of the waiting elements of this value. It reads all of them.
         *
         * An array with null members matches the element that dueq stores of it; if there is none,
         * the one that Redisson stores, without these members (except with Codec::TypedJson3).
         *
         * @return bool false: none has this value
         */
        public function remove(mixed $value): bool {}

        /** Whether an element of this value waits, as of remove(). It reads all of them. */
        public function contains(mixed $value): bool {}

        /** Counts the queue. */
        public function size(): \Dueq\Interop\Sizes {}

        /** How many values wait: size()->delayed. */
        public function count(): int {}

        /**
         * Deletes all values that wait; the destination stays.
         *
         * @return int how many they were
         */
        public function clear(): int {}

        /**
         * Ends the object for good, and its connections unless they are persistent. Connections of
         * a Pending end with that Pending. The queue in the server stays.
         */
        public function destroy(): void {}
    }

    /**
     * An integer that is always a java.lang.Long, even with a small value. In an array it becomes a
     * plain integer.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Long implements \JsonSerializable
    {
        public readonly int $value;

        public function __construct(int $value) {}

        public function jsonSerialize(): int {}
    }

    /**
     * Bytes that are a Java byte[]. JSON cannot express them, so an array cannot contain them.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Binary implements \JsonSerializable
    {
        public readonly string $bytes;

        public function __construct(string $bytes) {}

        /** @throws \Dueq\Exception\InvalidException always */
        public function jsonSerialize(): never {}
    }

    /**
     * Replaces a value in a list that the queue's codec cannot decode.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Unreadable
    {
        /** Its bytes in the server. */
        public readonly string $raw;

        /** The reason, as text. */
        public readonly string $reason;

        private function __construct() {}
    }
}

namespace Dueq\Laravel
{
    /**
     * A Redis queue of Laravel (5.5 to 13), used together with Laravel's own workers and producers.
     * Its times are whole seconds; parts of one are rounded up.
     *
     * @phpstan-type NamedJob array{
     *     job: string,
     *     data?: mixed,
     *     delay?: int|float|\DateInterval|null,
     *     at?: int|float|\DateTimeInterface|null,
     *     displayName?: string|null,
     *     maxTries?: int|null,
     *     maxExceptions?: int|null,
     *     timeout?: int|float|\DateInterval|null,
     *     backoff?: int|float|array<int|float|\DateInterval>|\DateInterval|null,
     *     retryUntil?: int|float|\DateTimeInterface|null,
     *     failOnTimeout?: bool
     * }
     * @phpstan-type RawJob array{
     *     payload: string,
     *     delay?: int|float|\DateInterval|null,
     *     at?: int|float|\DateTimeInterface|null
     * }
     * @phpstan-type ObjectJob array{
     *     commandName: string,
     *     command: string,
     *     delay?: int|float|\DateInterval|null,
     *     at?: int|float|\DateTimeInterface|null,
     *     displayName?: string|null,
     *     maxTries?: int|null,
     *     maxExceptions?: int|null,
     *     timeout?: int|float|\DateInterval|null,
     *     backoff?: int|float|array<int|float|\DateInterval>|\DateInterval|null,
     *     retryUntil?: int|float|\DateTimeInterface|null,
     *     failOnTimeout?: bool
     * }
     * @strict-properties
     * @not-serializable
     */
    final class Queue
    {
        public readonly string $name;

        public readonly string $prefix;

        /** How long a job is reserved, if pop() sets no other time. */
        public readonly float $retryAfter;

        /**
         * Opens a queue. Nothing is connected until the first call.
         *
         * @param string $name its name in Laravel, without "queues:"
         * @param string|null $url as \Dueq\Queue::__construct()
         * @param string $prefix the prefix of the keys of Laravel's Redis client, such as
         *     "shop_database_"; name and prefix have 255 bytes together at most
         * @param float|\DateInterval $retryAfter when a job that is not deleted is ready again;
         *     more than 0
         * @param bool|null $persistent as \Dueq\Queue::__construct()
         * @throws \Dueq\Exception\NameException
         * @throws \Dueq\Exception\UrlException
         */
        public function __construct(
            string $name = "default",
            #[\SensitiveParameter] ?string $url = null,
            string $prefix = "",
            float|\DateInterval $retryAfter = 90.0,
            ?bool $persistent = null
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Pushes a job by its name.
         *
         * @param string $job "Class@method", or "Class" for its method fire(): what the worker
         *     calls
         * @param mixed $data its argument, by json_encode(); null: "", as in Laravel's own push()
         * @param float|\DateInterval|null $delay due this long after the push
         * @param float|int|\DateTimeInterface|null $at due at this time of the server's clock; not
         *     together with $delay
         * @param string|null $displayName the name that people see; null: the job's class
         * @param int|null $maxTries 1 or more; null: the worker's setting
         * @param int|null $maxExceptions 1 or more; null: no limit
         * @param float|\DateInterval|null $timeout how long it may run; null: the worker's setting
         * @param float|array<int|float|\DateInterval>|\DateInterval|null $backoff the delay of each
         *     further try: one for all, or a list; null: the worker's setting
         * @param float|int|\DateTimeInterface|null $retryUntil no further try after this time
         * @param bool $failOnTimeout whether it fails for good when its timeout is over
         * @return string the job's uuid
         * @throws \Dueq\Exception\TooLargeException
         */
        public function push(
            string $job,
            mixed $data = null,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $displayName = null,
            ?int $maxTries = null,
            ?int $maxExceptions = null,
            float|\DateInterval|null $timeout = null,
            float|array|\DateInterval|null $backoff = null,
            float|int|\DateTimeInterface|null $retryUntil = null,
            bool $failOnTimeout = false
        ): string {}

        /**
         * Pushes a delayed job: push() with Laravel's order of arguments. A negative delay is 0.
         *
         * @param float|array<int|float|\DateInterval>|\DateInterval|null $backoff as push()
         */
        public function later(
            float|\DateInterval $delay,
            string $job,
            mixed $data = null,
            ?string $displayName = null,
            ?int $maxTries = null,
            ?int $maxExceptions = null,
            float|\DateInterval|null $timeout = null,
            float|array|\DateInterval|null $backoff = null,
            float|int|\DateTimeInterface|null $retryUntil = null,
            bool $failOnTimeout = false
        ): string {}

        /**
         * Pushes a complete payload, which is stored byte for byte.
         *
         * @param string $payload as Laravel writes it: one that a Laravel worker would lose (no
         *     JSON object, without job or attempts, nested too deep) is refused
         * @return string its uuid, else its id; "" if it has neither
         * @throws \Dueq\Exception\DuplicateException when a payload of the same bytes is delayed
         *     already
         */
        public function pushRaw(
            string $payload,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): string {}

        /**
         * Pushes a job object.
         *
         * @param string $commandName its class
         * @param string $command the output of serialize() for it, in UTF-8
         * @param float|array<int|float|\DateInterval>|\DateInterval|null $backoff as push()
         * @return string the job's uuid
         */
        public function pushObject(
            string $commandName,
            string $command,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $displayName = null,
            ?int $maxTries = null,
            ?int $maxExceptions = null,
            float|\DateInterval|null $timeout = null,
            float|array|\DateInterval|null $backoff = null,
            float|int|\DateTimeInterface|null $retryUntil = null,
            bool $failOnTimeout = false
        ): string {}

        /**
         * Pushes any number of jobs, in steps of up to 200: a step is stored as a whole or not at
         * all. All jobs are read before the first is sent.
         *
         * @param array<int, string|NamedJob|RawJob|ObjectJob> $jobs each a job's name, or an array
         *     with the names of the parameters of push(), pushRaw() or pushObject() as keys
         * @return list<string|null> in order, what these return, or null for a duplicate
         * @throws \Dueq\Exception\DueqException steps before the failed one are stored
         */
        public function pushMany(array $jobs): array {}

        /**
         * Pops the next job, reserved for this consumer: it is ready again after $retryAfter unless
         * it is deleted or released before. A payload that a Laravel worker would lose is
         * quarantined, with a warning in PHP's log.
         *
         * @param float|\DateInterval $timeout how long to wait for one; 0: not at all, INF: without
         *     end
         * @param float|\DateInterval|null $retryAfter null: the queue's
         * @return Job|null null after the wait, and as soon as a signal comes, as with
         *     Queue::reserve()
         */
        public function pop(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $retryAfter = null
        ): ?Job {}

        /**
         * Starts a pop() and does not wait, as \Dueq\Queue::reserveStart(): result() of what it
         * returns is the Job, or null.
         *
         * @param float|\DateInterval $timeout as pop()
         * @param float|\DateInterval|null $retryAfter as pop()
         * @return \Dueq\Pending<Job>
         */
        public function popStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $retryAfter = null
        ): \Dueq\Pending {}

        /**
         * Pops up to $count jobs, as pop(). It waits only for the first.
         *
         * @param int $count 1 to 200
         * @return list<Job>
         */
        public function popMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $retryAfter = null
        ): array {}

        /**
         * Deletes jobs that are done.
         *
         * @param array<Job|string> $jobs jobs of this queue, or their property reserved; any number
         * @return list<bool> in order, true for a deleted one, false if its time was over
         */
        public function deleteMany(array $jobs): array {}

        /** Counts the queue. */
        public function size(): \Dueq\Interop\Sizes {}

        /**
         * Deletes all jobs, reserved ones too.
         *
         * @return int how many they were
         */
        public function clear(): int {}

        /**
         * Moves delayed jobs that are due, and reserved jobs whose time is over, to the list that
         * workers pop from, and wakes waiting workers.
         *
         * @param float|\DateInterval $timeout how long to wait until a job is due; 0: not at all,
         *     INF: without end. A signal ends the wait, as with \Dueq\Queue::reserve()
         * @param int $most 1 to 200, of each of the two
         */
        public function migrate(
            float|\DateInterval $timeout = 0.0,
            int $most = 200
        ): \Dueq\Interop\Moved {}

        /**
         * Starts a migrate() and does not wait, as \Dueq\Queue::reserveStart(): result() of what it
         * returns is the Moved.
         *
         * @param float|\DateInterval $timeout as migrate()
         * @param int $most as migrate()
         * @return \Dueq\Pending<\Dueq\Interop\Moved>
         */
        public function migrateStart(
            float|\DateInterval $timeout = INF,
            int $most = 200
        ): \Dueq\Pending {}

        /**
         * Migrates until it is stopped, as \Dueq\Redisson\DelayedQueue::runTransfer(): idle Laravel
         * workers wake on time while it runs.
         *
         * @param (callable(): mixed)|null $until as runTransfer()
         * @throws \Dueq\Exception\DueqException as runTransfer()
         */
        public function runMigrate(?callable $until = null): void {}
    }

    /**
     * A job, from Queue::pop().
     *
     * @strict-properties
     * @not-serializable
     */
    final class Job
    {
        /** The payload as it was pushed, or as the last attempt left it. */
        public readonly string $payload;

        /**
         * ** Identifies this delivery, for deleteMany(): the payload with its number of attempts
         * raised. *
         */
        public readonly string $reserved;

        /** The payload's id. */
        public readonly ?string $id;

        /** The payload's uuid, from Laravel 7 on. */
        public readonly ?string $uuid;

        /** "Class@method", or "Class" for its method fire(). */
        public readonly string $name;

        /**
         * Its argument: objects as arrays, integers beyond 64 bits as strings; null if it is no
         * JSON.
         */
        public readonly mixed $data;

        /** The name that people see. */
        public readonly ?string $displayName;

        /** This one included: 1 on the first. */
        public readonly int $attempts;

        /** null: the payload has none. */
        public readonly ?int $maxTries;

        /** Seconds that it may take; null: the payload has none. */
        public readonly ?int $timeout;

        /** @var list<int> seconds before each further try; empty if the payload has none */
        public readonly array $backoff;

        /** No further try after this time; null: no end. */
        public readonly ?int $retryUntil;

        /** When it is ready again, unless it is deleted or released before. */
        public readonly float $until;

        private function __construct() {}

        /**
         * Deletes the job, which is done.
         *
         * @throws \Dueq\Exception\LeaseLostException its time was over
         */
        public function delete(): void {}

        /**
         * Gives the job back to be delivered again.
         *
         * @param float|\DateInterval $delay due after this time from now; negative: now
         * @throws \Dueq\Exception\LeaseLostException its time was over; nothing is changed
         */
        public function release(float|\DateInterval $delay = 0.0): void {}
    }
}

namespace Dueq\Interop
{
    /**
     * The result of a step of \Dueq\Redisson\DelayedQueue::transfer() or
     * \Dueq\Laravel\Queue::migrate().
     *
     * @strict-properties
     * @not-serializable
     */
    final class Moved
    {
        // Made from core/results.toml by core/verbs.py: the fields of Moved.

        /** How many items were moved. */
        public readonly int $moved;

        /** Damaged entries that were quarantined. */
        public readonly int $quarantined;

        /**
         * The next due time by the server's clock. null: nothing is delayed, or this step found
         * nothing due.
         */
        public readonly ?float $next;

        // The end of what was made.

        private function __construct() {}
    }

    /**
     * The items of a queue of another system, counted by the server.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Sizes
    {
        // Made from core/results.toml by core/verbs.py: the fields of Sizes.

        /** Items in the list from which consumers take. */
        public readonly int $ready;

        /** Items that are moved to that list when they are due. */
        public readonly int $delayed;

        /** Jobs that were popped and are not finished; 0 where the system does not know that. */
        public readonly int $reserved;

        /** Damaged entries in the quarantine. */
        public readonly int $quarantined;

        /** The next due time. null: nothing is delayed. */
        public readonly ?float $next;

        /** The server's clock when it counted. */
        public readonly float $now;

        // The end of what was made.

        private function __construct() {}
    }
}

namespace Dueq\Exception
{
    /**
     * All exceptions of dueq, for one catch. getCode() is the number of the status, the same in
     * every language. getMessage() says what happened and what to do. There are two kinds: an
     * InvalidException for an argument that the caller must correct, and a RuntimeException for a
     * correct call that failed.
     */
    interface DueqException extends \Throwable
    {
        /** Whether the same call may succeed later without a change by the caller. */
        public function isRetriable(): bool;
    }

    /** The call was correct, and failed. */
    class RuntimeException extends \RuntimeException implements DueqException
    {
        final public function isRetriable(): bool {}
    }

    /** An argument is out of its range. Code -1. */
    class InvalidException extends \InvalidArgumentException implements DueqException
    {
        /** @implementation-alias Dueq\Exception\RuntimeException::isRetriable */
        final public function isRetriable(): bool {}
    }

    /** Pushes of a Pusher have failed. The code is that of the first failure. */
    class FlushException extends RuntimeException
    {
        /**
         * The exceptions that Queue::push() would have thrown, by the number that push() returned.
         * Pushes of one batch share an exception.
         *
         * @var array<int, DueqException>
         */
        public array $failures = [];
    }

    /** A message in the queue has this id, or the id is still unique. Code 2. */
    class DuplicateException extends RuntimeException
    {
    }

    /**
     * The lease was lost: it ended and another consumer took the message, or the message was
     * finished, cancelled or purged. Of a lock: the lock has ended. Code 4.
     */
    class LeaseLostException extends RuntimeException
    {
    }

    /** The queue does not know how this message ended, or not any more. Code 3. */
    class NotFoundException extends RuntimeException
    {
    }

    /** Not a valid queue name. Code -2. */
    class NameException extends InvalidException
    {
    }

    /** Not a valid server URL. Code -3. */
    class UrlException extends InvalidException
    {
    }

    /** Larger than the protocol or the server accepts. Code -4. */
    class TooLargeException extends RuntimeException
    {
    }

    /** Out of memory. Code -5, retriable. */
    class NoMemoryException extends RuntimeException
    {
    }

    /** Another call of this client is in progress. Code -6, retriable. */
    class InUseException extends RuntimeException
    {
    }

    /** Cannot reach the server. Code -10, retriable. */
    class ConnectException extends RuntimeException
    {
    }

    /** The connection was lost and the outcome is not known. Code -11, retriable. */
    class ClosedException extends RuntimeException
    {
    }

    /** No answer before the deadline; the outcome is not known. Code -12, retriable. */
    class TimeoutException extends RuntimeException
    {
    }

    /** The TLS connection could not be made. Code -13. */
    class TlsException extends RuntimeException
    {
    }

    /** The embedded server could not be started. Code -14. */
    class EmbeddedException extends RuntimeException
    {
    }

    /** The server refuses the user or the password. Code -20. */
    class AuthException extends RuntimeException
    {
    }

    /** The server does not permit this user to run the command. Code -21. */
    class DeniedException extends RuntimeException
    {
    }

    /** The server does not have this database. Code -22. */
    class DatabaseException extends RuntimeException
    {
    }

    /** The server is still loading its data. Code -23, retriable. */
    class LoadingException extends RuntimeException
    {
    }

    /** The server is a read-only replica. Code -24, retriable. */
    class ReadonlyException extends RuntimeException
    {
    }

    /** The server is out of memory (maxmemory). Code -25, retriable. */
    class FullException extends RuntimeException
    {
    }

    /** The server is busy running a script. Code -26, retriable. */
    class BusyException extends RuntimeException
    {
    }

    /** A key of this queue has another type. Code -27. */
    class WrongTypeException extends RuntimeException
    {
    }

    /** An entry of this queue is damaged. Code -28. */
    class CorruptException extends RuntimeException
    {
        /**
         * The bytes of a value that was removed from its queue and cannot be decoded; null: the
         * value is still in the server.
         */
        public ?string $raw = null;
    }

    /** This server cannot run dueq. Code -29. */
    class UnsupportedException extends RuntimeException
    {
    }

    /** The server refused the command. Code -30. */
    class ServerException extends RuntimeException
    {
    }

    /** The answer is not in the Redis protocol. Code -31. */
    class ProtocolException extends RuntimeException
    {
    }

    /** The queue has another layout than this client knows. Code -32. */
    class LayoutException extends RuntimeException
    {
    }

    /** The server cannot run the command at the moment. Code -33. */
    class UnavailableException extends RuntimeException
    {
    }

    /**
     * As many messages of the group wait as its backlog allows (Queue::limit()): the message is not
     * stored. Push it again later. From ack() with successors: the message is not acknowledged.
     * Code -35.
     */
    class BacklogException extends RuntimeException
    {
        /**
         * The ids of the messages of the call, or of one batch of pushMany(). null: not stored.
         *
         * @var list<?string>
         */
        public array $ids = [];
    }

    /**
     * Messages are stored, but not on all the replicas and disks that the push asked for. Push one
     * again with its id: it is stored once, and a DuplicateException says that it is durable. Code
     * -34.
     */
    class NotDurableException extends RuntimeException
    {
        /**
         * The ids of the stored messages: those of one call, or of one batch of pushMany() or a
         * Pusher.
         *
         * @var list<string>
         */
        public array $ids = [];

        /** How many replicas are known to have the messages. */
        public int $replicas = 0;

        /** Whether the messages are known to be on the server's disk. */
        public bool $disk = false;
    }
}
