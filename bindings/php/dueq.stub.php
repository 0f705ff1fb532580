<?php

/**
 * The API of the extension dueq, and its documentation.
 *
 * Times are seconds, as float, or the date classes of PHP. Parts of a millisecond are rounded up,
 * so that nothing is due early. Points of time are seconds since 1970-01-01 UTC by the server's
 * clock. A DateInterval is added to the present time (its months and days are those of the calendar).
 *
 * Every method that talks to the server ends at the timeout of the URL (10 seconds where it names
 * none) at the latest, reserve() after its own timeout in addition, and throws a subclass of
 * Dueq\Exception\DueqException for whatever it could not do. An argument out of its range throws
 * Dueq\Exception\InvalidException, one of the wrong type a TypeError.
 *
 * @generate-class-entries
 */

namespace Dueq
{
    /**
     * One server, for any number of queues on one connection. (A Queue or Queues made by its own
     * constructor has one for itself.) A consumer, a pusher and a Pending have another while they
     * exist; then the next one uses it.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Client
    {
        /**
         * Nothing is connected until the first call. The connections end with the client and all that was
         * made by it.
         *
         * @param string|null $url as Queue::__construct()
         * @throws Exception\UrlException
         */
        public function __construct(#[\SensitiveParameter] ?string $url = null) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Opens a queue of this server. Nothing is sent.
         *
         * @param string $name as Queue::__construct()
         * @throws Exception\NameException
         */
        public function queue(string $name): Queue {}

        /**
         * Opens several, to wait for messages of all of them at once. Nothing is sent.
         *
         * @param string[] $names as Queues::__construct()
         * @param string $order as Queues::__construct()
         * @throws Exception\NameException
         */
        public function queues(array $names, string $order = "preference"): Queues {}

        /**
         * Names the queues of the server that were ever used, as Queue::names().
         *
         * @return list<string> sorted
         */
        public function names(): array {}
    }

    /**
     * A queue of one server. It keeps its connections for its life; after a fork the child may go on
     * using it.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Queue
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
         *     unix://[user:password@]/path/to/socket[?db=N] or embedded:DIR (a private server for the
         *     directory DIR); null: the environment's DUEQ_URL, and without it an embedded server
         * @throws Exception\NameException
         * @throws Exception\UrlException
         */
        public function __construct(string $name, #[\SensitiveParameter] ?string $url = null) {}

        /**
         * Names the queues of a server that were ever used. It looks through the names of all of the
         * server's keys, a bounded number in each step.
         *
         * @param string|null $url as __construct()
         * @return list<string> sorted
         */
        public static function names(#[\SensitiveParameter] ?string $url = null): array {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /** Makes an id as push() does: 22 characters, ordered by time. */
        public function newId(): string {}

        /**
         * Stores a message: ready, or delayed until it is due.
         *
         * @param string $body any bytes
         * @param float|\DateInterval|null $delay not before this long after the push
         * @param float|int|\DateTimeInterface|null $at not before this time of the server's clock; not
         *     together with $delay
         * @param string|null $id 1 to 255 bytes of UTF-8; null: a new one
         * @param int|null $maxAttempts failures (retries) until the message is exhausted, 65535 at most;
         *     null or 0: without limit
         * @param float|\DateInterval|null $lease a delivery's lease where the consumer names none;
         *     null: 30 seconds
         * @param string[] $headers text by name, UTF-8
         * @param int $priority 1 high, 0 normal, -1 low: all of a higher one go before any of a lower
         *     one
         * @param float|\DateInterval|null $ttl not delivered later than this long after the push, more
         *     than 0; null: no end
         * @param float|array|Backoff|\DateInterval|null $backoff the delay of a retry that names none:
         *     always the same one, a list (for the first failure, the second ...; the last one from
         *     then on) or a Backoff; null: none
         * @param int|null $maxCrashes deliveries whose lease ends until the message is exhausted, 65535
         *     at most; null or 0: without limit
         * @param bool $drop a message that is exhausted or buried is deleted, and not kept as dead
         * @param string|null $deadLetter the queue to which it moves as a dead letter when it is exhausted
         *     or buried; null: it is dead in its own. Not together with $drop
         * @param float|\DateInterval|null $unique with $id: refuses others of that id for this long
         *     after the push, also when the message is gone; null: as long as it lives
         * @param bool|string $replace with $id, where a living message has it. false: this one is
         *     refused. true: the old one is gone as if cancelled, and this one takes its place. "body":
         *     the same, but one that is ready or delayed keeps its time and its place in the line
         * @return string the message's id
         * @throws Exception\DuplicateException when a living message has this id already, or it is still
         *     unique
         * @throws Exception\TooLargeException
         * @throws Exception\ClosedException when the connection broke and the outcome is not known: push
         *     again with the same $id, which makes no second message while the first lives. It may be done by
         *     then: $unique refuses the id for so long after the push, whatever became of the message
         * @throws Exception\TimeoutException as ClosedException
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 5,
            float|\DateInterval|null $lease = null,
            array $headers = [],
            int $priority = 0,
            float|\DateInterval|null $ttl = null,
            float|array|Backoff|\DateInterval|null $backoff = null,
            ?int $maxCrashes = 5,
            bool $drop = false,
            ?string $deadLetter = null,
            float|\DateInterval|null $unique = null,
            bool|string $replace = false
        ): string {}

        /**
         * Stores any number of messages, in steps of up to 200: a step is stored as a whole or not at
         * all. All messages are checked before the first is sent.
         *
         * @param array $messages each a body (string), or an array with the names of push()'s parameters as
         *     keys, of which only body is required; any number
         * @return list<string|null> in order, each message's id, or null for a duplicate
         * @throws Exception\DueqException as push(); steps before the failed one are stored
         */
        public function pushMany(array $messages): array {}

        /**
         * Makes a pusher, which has many pushes in flight on connections of its own.
         *
         * @param int $most how many pushes may be under way at a time, 1 to 1,000,000
         */
        public function pusher(int $most = 10000): Pusher {}

        /**
         * Takes the next ready message under a lease. Until the lease ends nobody else gets it; then it is
         * ready again. A paused queue delivers nothing; a wait goes on until it is resumed.
         *
         * @param float|\DateInterval $timeout how long to wait for one; 0: not at all, INF: for ever
         * @param float|\DateInterval|null $lease null: the message's own, else 30 seconds
         * @return Message|null null after the wait, and as soon as a signal comes, so that its handler
         *     runs: call again to go on waiting. (Without pcntl_async_signals(true), a signal in the
         *     instant before the wait does not end it: do not wait for ever then.)
         */
        public function reserve(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): ?Message {}

        /**
         * Starts a reserve() and does not wait: for event loops and fibers. It waits on connections of
         * its own, so that any number may be under way, and all other methods of this queue and its
         * messages work meanwhile: each is one short round trip.
         *
         * @param float|\DateInterval $timeout as reserve()
         * @param float|\DateInterval|null $lease as reserve()
         */
        public function reserveStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $lease = null
        ): Pending {}

        /**
         * Takes up to $count ready messages, as reserve(). It waits for the first only.
         *
         * @param int $count 1 to 200
         * @return list<Message>
         */
        public function reserveMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): array {}

        /**
         * Makes a consumer: a loop over messages that costs one round trip for each batch, with a
         * heartbeat that keeps their leases. It has connections of its own.
         *
         * @param int $prefetch how many messages it reserves at a time, 1 to 200
         * @param float|\DateInterval|null $lease null: the message's own, else 8 seconds (without a
         *     heartbeat: 30). The heartbeat extends it as long as this process lives, also while a
         *     handler sleeps or computes: so it is how soon others get what a killed process held
         * @param float|\DateInterval|null $maxRun how long after its delivery the heartbeat keeps a
         *     message; null or 0: there is no heartbeat
         * @param float|\DateInterval $timeout a loop ends when none came for that long; INF: never
         * @param float|\DateInterval $slack what falls due while the loop waits comes up to so many
         *     seconds late, 0 to 0.1, and with it, in one request, all that falls due meanwhile, up to
         *     $prefetch; never early. What is pushed ready comes at once
         */
        public function consume(
            int $prefetch = 1,
            float|\DateInterval|null $lease = null,
            float|\DateInterval|null $maxRun = 3600.0,
            float|\DateInterval $timeout = INF,
            float|\DateInterval $slack = 0.0
        ): Consumer {}

        /**
         * Acknowledges messages: they are deleted.
         *
         * @param array $messages messages of this queue, or tickets; any number
         * @return list<bool> in order, true for an acknowledged one, false where the lease was lost
         */
        public function ackMany(array $messages): array {}

        /**
         * Deletes a message, whatever its state. Of a leased one the work may have begun, or be done: the
         * current holder gets a LeaseLostException on its next call. A Consumer does not deliver a prefetched
         * message that was cancelled a quarter of a second or longer before.
         *
         * @return string|null the state that it was in: ready, delayed, leased or dead; null: no message has
         *     this id
         */
        public function cancel(string $id): ?string {}

        /**
         * Deletes messages, as cancel().
         *
         * @param string[] $ids any number
         * @return list<string|null> in order
         */
        public function cancelMany(array $ids): array {}

        /** Looks a message up, in any state, without touching it. */
        public function find(string $id): ?Message {}

        /**
         * Looks at all messages of one state without touching them: ready ones in the order of
         * delivery, the others by their time. They are fetched as the loop comes to them. What changes
         * its place meanwhile may be seen twice or not at all. Damaged ones are left out.
         *
         * @param string $state ready, delayed, leased, dead or outbox
         * @param int $page 1 to 200: how many are fetched, and kept in memory, at a time
         */
        public function peek(string $state, int $page = 100): Messages {}

        /**
         * Gives all dead messages back, as kick(), in steps of up to 200, between which the server
         * serves others.
         *
         * @param string|null $error only those whose error contains this text; null: all
         * @param float|int|\DateTimeInterface|null $since only those that died at this time of the
         *     server's clock or later
         * @param float|int|\DateTimeInterface|null $until only those that died before this time
         * @param callable|null $progress called after each step with the number of messages given back
         *     so far; what it throws ends the work there
         * @return int how many messages it gave back
         * @throws Exception\DueqException those of the steps before are given back
         */
        public function kickAll(
            ?string $error = null,
            float|int|\DateTimeInterface|null $since = null,
            float|int|\DateTimeInterface|null $until = null,
            ?callable $progress = null
        ): int {}

        /**
         * Gives a delayed message another due time; without $delay and $at it is due now.
         *
         * @param float|\DateInterval|null $delay not before this long from now
         * @param float|int|\DateTimeInterface|null $at not before this time of the server's clock; not
         *     together with $delay
         * @return bool false: no delayed message has this id
         */
        public function reschedule(
            string $id,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): bool {}

        // Made from core/verbs.toml by core/verbs.py.

        /**
         * Makes a dead message ready to be delivered at once, with as many attempts again as it had.
         *
         * @return bool false: there is no dead message with this id
         */
        public function kick(string $id): bool {}

        /**
         * Does kick() with any number of messages.
         *
         * @param string[] $ids
         * @return list<bool> in order
         */
        public function kickMany(array $ids): array {}

        /**
         * Makes a delayed message dead, also one that waits for its retry: it is kept here, whatever its
         * policy says, and not delivered until it is kicked.
         *
         * @return bool false: there is no delayed message with this id
         */
        public function kill(string $id): bool {}

        /**
         * Does kill() with any number of messages.
         *
         * @param string[] $ids
         * @return list<bool> in order
         */
        public function killMany(array $ids): array {}

        /**
         * Stops deliveries of the queue, to any consumer, until it is resumed. Everything else works as
         * ever: push, and what consumers do with the messages they hold. Nothing changes where it is paused
         * already.
         */
        public function pause(): void {}

        /**
         * Ends a pause; consumers that wait wake. Nothing changes where it is not paused.
         */
        public function resume(): void {}
        // The end of what was made.

        /**
         * Deletes all messages of one state, in steps of up to 200, between which the server serves
         * others. The current holder of a leased one gets a LeaseLostException on its next call.
         *
         * @param string $state ready, delayed, leased, dead or outbox
         * @param callable|null $progress called after each step with the number of messages deleted so
         *     far; what it throws ends the purge there
         * @return int how many messages it deleted
         * @throws Exception\DueqException those of the steps before are gone
         */
        public function purge(string $state, ?callable $progress = null): int {}

        /**
         * Deletes the queue with all that it has: its messages, its counters and history, and the ids
         * that are still unique; in steps as of purge(). A message that is pushed meanwhile is removed
         * too, or stays as a whole: then the queue is there again, as it is when a consumer waits at it. Its
         * locks stay until they end.
         *
         * @param callable|null $progress as of purge()
         * @return int how many messages it deleted
         * @throws Exception\DueqException those of the steps before are gone
         */
        public function remove(?callable $progress = null): int {}

        /**
         * Looks for what others broke: messages without a ticket, tickets without a message, keys of
         * another type and so on. It goes in small steps while the queue is in use.
         *
         * @param bool $repair mends what it finds, and loses no message
         * @param callable|null $progress called after each step with the number of entries looked at so
         *     far; what it throws ends the check there
         * @return list<Finding> one for each kind; nothing is broken where none of them is wrong
         */
        public function check(bool $repair = false, ?callable $progress = null): array {}

        /** Counts the queue. */
        public function stats(): Stats {}

        /**
         * What the queue did in each of the last minutes in which anything happened.
         *
         * @param int $minutes 1 to 360
         * @return list<Rate> the latest first, which is still running
         */
        public function rates(int $minutes = 60): array {}

        /**
         * Takes a lock, which has one owner at a time. Each queue has locks of its own.
         *
         * @param string $name 1 to 255 bytes of UTF-8 without control characters
         * @param float|\DateInterval $ttl how long it lasts, more than 0, unless it is extended or
         *     released before
         * @param float|\DateInterval $timeout how long to wait for its turn; 0: not at all, INF: for ever
         * @return Lock|null null: somebody else holds it, after the wait, and as soon as a signal comes,
         *     as with reserve()
         */
        public function lock(
            string $name,
            float|\DateInterval $ttl,
            float|\DateInterval $timeout = 0.0
        ): ?Lock {}
    }

    /**
     * Several queues of one server, to wait for messages of all of them at once.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Queues
    {
        /** @var list<string> the names that the queues were opened with */
        public readonly array $names;

        /** preference or round robin. */
        public readonly string $order;

        /**
         * Opens queues. Nothing is connected until the first call.
         *
         * @param string[] $names 1 to 64 different names of queues
         * @param string|null $url as Queue::__construct()
         * @param string $order which queue goes first where several have messages. "preference": that
         *     which comes first in $names, always. "round robin": in turn
         * @throws Exception\NameException
         * @throws Exception\UrlException
         */
        public function __construct(
            array $names,
            #[\SensitiveParameter] ?string $url = null,
            string $order = "preference"
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Takes the next ready message of these queues under a lease, as Queue::reserve(). It tells its
         * queue by Message::$queue.
         *
         * @param float|\DateInterval $timeout how long to wait for one; 0: not at all, INF: for ever
         * @param float|\DateInterval|null $lease null: the message's own, else 30 seconds
         * @return Message|null as Queue::reserve()
         */
        public function reserve(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): ?Message {}

        /**
         * Starts a reserve() and does not wait, as Queue::reserveStart().
         *
         * @param float|\DateInterval $timeout as Queue::reserve()
         * @param float|\DateInterval|null $lease as Queue::reserve()
         */
        public function reserveStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $lease = null
        ): Pending {}

        /** Makes a consumer of all of them, as Queue::consume(). */
        public function consume(
            int $prefetch = 1,
            float|\DateInterval|null $lease = null,
            float|\DateInterval|null $maxRun = 3600.0,
            float|\DateInterval $timeout = INF,
            float|\DateInterval $slack = 0.0
        ): Consumer {}

        /**
         * Takes up to $count ready messages, all of one queue, as reserve(). It waits for the first only.
         *
         * @param int $count 1 to 200
         * @return list<Message>
         */
        public function reserveMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): array {}
    }

    /**
     * A loop over messages, as consume() returns it. work() is the fast way:
     *
     *     $queue->consume(prefetch: 10)->work(function (Dueq\Message $message) {
     *         ...                          // acknowledged at the end, retried when this throws
     *     });
     *
     * or one's own loop, in which each message is settled by its methods:
     *
     *     foreach ($queue->consume() as $message) {
     *         ...
     *         $message->ack();
     *     }
     *
     * Signal handlers run while it waits (with pcntl_async_signals(true)). However a loop ends, what was
     * reserved and not delivered to the program is given back, and does not count. After a fork, what
     * it holds is the parent's, and the child may begin a loop of its own.
     *
     * @implements \IteratorAggregate<int, Message>
     * @strict-properties
     * @not-serializable
     */
    final class Consumer implements \IteratorAggregate
    {
        private function __construct() {}

        /**
         * Calls the handler with each message until the loop ends. What a handler did not settle by the
         * message's own methods is acknowledged when it returns, and retried with the error's text when it
         * throws; both go with the next request, not with one of their own. Whether the lease had been
         * lost by then, lost() tells. Where such a method threw, and the handler caught that and returned,
         * the message is not acknowledged either: PHP's log has a warning, and unless the call took effect
         * after all the message is delivered again when its lease ends.
         *
         * @param callable $handler called with a Message
         * @param callable|null $onError called with a Message and the \Throwable that the handler threw,
         *     before the message is retried, unless this settles it; then the loop goes on. null: the
         *     loop ends, and throws it
         * @throws Exception\DueqException
         */
        public function work(callable $handler, ?callable $onError = null): void {}

        /** For foreach, one loop at a time. */
        public function getIterator(): \Iterator {}

        /**
         * Ends the loop after the current message, or its wait, for good. Signal handlers may call it.
         * After poll() it gives back what it has prefetched, which takes a round trip or two.
         */
        public function stop(): void {}

        /**
         * For event loops and fibers, in the place of a loop: the next message, without waiting. Call it
         * until it returns null, and again when stream() is readable. The message's own methods settle
         * it. The consumer's timeout says nothing here.
         *
         * @return Message|null null: none for now, or it was stopped
         * @throws Exception\DueqException when the server could not be reached: call it again later
         */
        public function poll(): ?Message {}

        /**
         * What to wait for after poll(), as Pending::stream(). Keep calling poll() then: a message or a
         * wake-up may have come for this consumer.
         *
         * @return resource
         */
        public function stream() {}

        /**
         * How many messages were lost so far: their leases had ended, or they had been cancelled, before they
         * were settled, or delivered to the program.
         */
        public function lost(): int {}
    }

    /**
     * The delay of a retry that names none, by the failures n = 1, 2 ... of the message. Each delay is
     * at most 49 days; push() checks it.
     *
     * What chance does to each delay d, so that messages that failed together are not ready again together,
     * is its jitter: "none"; "full": anything from 0 to d; "equal": anything from d/2 to d.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Backoff
    {
        /** fixed, linear, exponential or list. */
        public readonly string $kind;

        /** Seconds; null for a list. */
        public readonly ?float $base;

        /** The most that a delay grows to, in seconds; null: without limit. */
        public readonly ?float $cap;

        /** @var list<float> seconds; empty but for a list */
        public readonly array $delays;

        /** none, full or equal. */
        public readonly string $jitter;

        private function __construct() {}

        /**
         * Always the same delay.
         *
         * @param float|\DateInterval $delay more than 0
         * @param string $jitter none, full or equal
         */
        public static function fixed(float|\DateInterval $delay, string $jitter = "none"): Backoff {}

        /**
         * $base * n.
         *
         * @param float|\DateInterval $base more than 0
         * @param float|\DateInterval|null $cap the most that a delay grows to, more than 0; null: without
         *     limit
         * @param string $jitter none, full or equal
         */
        public static function linear(
            float|\DateInterval $base,
            float|\DateInterval|null $cap = null,
            string $jitter = "none"
        ): Backoff {}

        /**
         * $base * 2 ** (n - 1).
         *
         * @param float|\DateInterval $base more than 0
         * @param float|\DateInterval|null $cap the most that a delay grows to, more than 0; null: without
         *     limit
         * @param string $jitter none, full or equal
         */
        public static function exponential(
            float|\DateInterval $base,
            float|\DateInterval|null $cap = null,
            string $jitter = "none"
        ): Backoff {}

        /**
         * The nth of the delays, and the last one from then on.
         *
         * @param array $delays 1 to 32, each seconds or a DateInterval
         * @param string $jitter none, full or equal
         */
        public static function list(array $delays, string $jitter = "none"): Backoff {}
    }

    /**
     * A message as reserve(), find() and peek() return it. It holds its queue.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Message
    {
        /** The name of the queue that it is from. */
        public readonly string $queue;

        public readonly string $id;

        public readonly string $body;

        /** @var string[] text by name, in the producer's order */
        public readonly array $headers;

        /** This delivery; find() and peek(): the current one, empty unless leased. ackMany() takes it. */
        public readonly string $ticket;

        /** Failures since its push or last kick and, when leased, this delivery: 1 on the first. */
        public readonly int $attempt;

        /** Failures until the message is exhausted; null: without limit. */
        public readonly ?int $maxAttempts;

        /** Deliveries since its push or last kick whose lease ended. */
        public readonly int $crashes;

        /** Crashes until the message is exhausted; null: without limit. */
        public readonly ?int $maxCrashes;

        /** All of them, this one included: also crashed and released ones, and those before a kick. */
        public readonly int $deliveries;

        /** 1 high, 0 normal, -1 low. */
        public readonly int $priority;

        /** ready, delayed, leased, dead or outbox, when the server answered. */
        public readonly string $state;

        /** When it is due (delayed), its lease ends (leased) or it died (dead); null when ready. */
        public readonly ?float $time;

        /** When it was pushed, by the producer's clock. */
        public readonly float $createdAt;

        /** When its time to live ends, by the server's clock; null: never. */
        public readonly ?float $expires;

        /** The text of the last retry() or bury(); empty if there was none. */
        public readonly string $error;

        /** Whether it is deleted when it is exhausted or buried, and not kept as dead. */
        public readonly bool $drop;

        /** The queue to which it moves as a dead letter; null: it is dead in its own. */
        public readonly ?string $deadLetter;

        private function __construct() {}

        /**
         * Acknowledges the message: it is deleted.
         *
         * @param array|null $push successors, stored in the same step, as messages of pushMany(); up to
         *     200. Where the lease was lost, none is stored
         * @param string|null $to the queue that these go to; null: the message's own
         * @return list<string|null>|null with $push: in order, each successor's id, or null for a
         *     duplicate
         * @throws Exception\LeaseLostException
         */
        public function ack(?array $push = null, ?string $to = null): ?array {}

        /**
         * Gives the message back to be delivered again.
         *
         * @param float|\DateInterval|null $delay not before this long from now; null: by its backoff, at
         *     once if it has none
         * @param string $error kept with the message, 4,096 bytes at most
         * @return bool false: its attempts are exhausted: it is dead or, by its policy, moved to its
         *     dead-letter queue or deleted
         * @throws Exception\LeaseLostException
         */
        public function retry(float|\DateInterval|null $delay = null, string $error = ""): bool {}

        /**
         * Gives the message back as if it had not been delivered: it does not count as an attempt.
         *
         * @param float|\DateInterval $delay not before this long from now; 0: now, at the front of the
         *     line
         * @throws Exception\LeaseLostException
         */
        public function release(float|\DateInterval $delay = 0.0): void {}

        /**
         * Sets the end of the lease.
         *
         * @param float|\DateInterval $lease from now, more than 0
         * @throws Exception\LeaseLostException
         */
        public function extend(float|\DateInterval $lease): void {}

        /**
         * Makes the message dead or, by its policy, moves it to its dead-letter queue or deletes it.
         *
         * @param string $reason kept with the message as its error, 4,096 bytes at most
         * @throws Exception\LeaseLostException
         */
        public function bury(string $reason = ""): void {}
    }

    /**
     * The messages that peek() looks at, by number from 0. A new loop fetches them anew.
     *
     * @implements \Iterator<int, Message>
     * @strict-properties
     * @not-serializable
     */
    final class Messages implements \Iterator
    {
        private function __construct() {}

        public function current(): ?Message {}

        public function key(): ?int {}

        public function next(): void {}

        public function rewind(): void {}

        public function valid(): bool {}
    }

    /**
     * A call that waits and is under way, as reserveStart(), takeStart(), transferStart(), popStart() and
     * migrateStart() return it. An event loop watches its stream:
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
     * One that is dropped is cancelled. After a fork it is the parent's.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Pending
    {
        private function __construct() {}

        /**
         * What to wait for: it is readable whenever poll() has something to do, its timeout included,
         * until the end. Do not read from it. It need not be closed; closing it does no harm.
         *
         * @return resource
         */
        public function stream() {}

        /**
         * Moves on as far as that goes without blocking; to be called whenever the stream is readable, as
         * a wake-up that came for this consumer may be meant for any. (Finding a host's address and starting an
         * embedded server may block, on the first call only.) It never throws.
         *
         * @return bool true at the end: result() has it
         */
        public function poll(): bool {}

        /**
         * What the method that waits would have returned, as reserve() of reserveStart(), or throws what it
         * would have thrown.
         *
         * @return mixed null when it was cancelled
         * @throws \Error before poll() has returned true
         */
        public function result(): mixed {}

        /**
         * Gives up waiting, which takes a round trip or two. A message, value or job that has come already,
         * and that result() has not returned, goes back to the front of its line, and the delivery does not
         * count. What a transfer has moved is moved. Nothing happens after result().
         *
         * @throws Exception\DueqException when it is not certain that it went back: a message will when its
         *     lease ends, a job after its time; a value may be lost
         */
        public function cancel(): void {}
    }

    /**
     * Pushes without waiting for each: hundreds of thousands of them in a second. They are stored in
     * their order, none twice, each with an outcome of its own. A push is certain when flush() has
     * returned without naming it.
     *
     *     $pusher = $queue->pusher();
     *     foreach ($orders as $order) {
     *         $pusher->push($order->json());
     *     }
     *     foreach ($pusher->flush() as $number => $error) { ... }
     *
     * Its destructor waits as flush() does, and warns of what failed. After a fork, the pushes that were
     * under way are the parent's.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Pusher
    {
        private function __construct() {}

        /**
         * Starts a push, as Queue::push(), and does not wait for it. It waits only when as many are under
         * way as may be.
         *
         * @return int its number: 0 for the first push of this object, then 1, 2 ...
         * @throws Exception\InvalidException where Queue::push() would: it has no number then
         * @throws Exception\TooLargeException
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 5,
            float|\DateInterval|null $lease = null,
            array $headers = [],
            int $priority = 0,
            float|\DateInterval|null $ttl = null,
            float|array|Backoff|\DateInterval|null $backoff = null,
            ?int $maxCrashes = 5,
            bool $drop = false,
            ?string $deadLetter = null,
            float|\DateInterval|null $unique = null,
            bool|string $replace = false
        ): int {}

        /**
         * Waits until each push that was started is stored or has failed.
         *
         * @return array<int, Exception\DueqException> by number, what Queue::push() would have thrown,
         *     of all pushes since the last flush() that failed. Those of one step share one
         */
        public function flush(): array {}
    }

    /**
     * A lock as lock() returns it. It holds its queue. It is not released by the end of this object, but
     * by release() or at the end of its time.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Lock
    {
        public readonly string $name;

        /** What tells its owner from others. */
        public readonly string $token;

        private function __construct() {}

        /**
         * Sets its end.
         *
         * @param float|\DateInterval $ttl from now, more than 0
         * @throws Exception\LeaseLostException
         */
        public function extend(float|\DateInterval $ttl): void {}

        /**
         * Gives it up: the next one who waits gets it.
         *
         * @throws Exception\LeaseLostException
         */
        public function release(): void {}
    }

    /**
     * What a queue holds and did, counted by the server.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Stats
    {
        public readonly int $ready;

        public readonly int $delayed;

        public readonly int $leased;

        public readonly int $dead;

        /** Dead letters and successors on their way to other queues. */
        public readonly int $outbox;

        /** Why a message stays in the outbox: its queue, and what that answered. Empty: none does. */
        public readonly string $outboxError;

        /** Stored since the queue exists. */
        public readonly int $pushed;

        /** Deliveries since the queue exists. */
        public readonly int $reserved;

        /** Acknowledged since the queue exists. */
        public readonly int $acked;

        /** Given back by retry() since the queue exists. */
        public readonly int $retried;

        /** Not delivered before their time to live ended, since the queue exists. */
        public readonly int $expired;

        /** Exhausted or buried (dead, moved or deleted, by their policies) since the queue exists. */
        public readonly int $died;

        /** Cancelled since the queue exists. */
        public readonly int $cancelled;

        /** Purged since the queue exists. */
        public readonly int $purged;

        /** Entries quarantined since the queue exists. */
        public readonly int $quarantined;

        /** The next due time or end of a lease; null: none. */
        public readonly ?float $next;

        /**
         * Since when the oldest ready message is ready: up to a minute too early for one that was delayed
         * or came back. null: none is ready.
         */
        public readonly ?float $oldest;

        /** The server's clock when it counted. */
        public readonly float $now;

        /** Whether it delivers nothing until resume() is called. */
        public readonly bool $paused;

        /** Whether the server may evict what it was given, unless the URL says evicting=accept. */
        public readonly bool $evicting;

        private function __construct() {}
    }

    /**
     * What a check found of one kind.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Finding
    {
        /** One word for it: "lost", "orphaned" and so on. */
        public readonly string $kind;

        /** The same for people: "messages without a ticket". */
        public readonly string $text;

        /** Whether it should not be. Else it is worth knowing. */
        public readonly bool $wrong;

        public readonly int $count;

        /** How many of them the check mended. */
        public readonly int $mended;

        /** @var list<string> up to five ids, tickets, keys or texts, each cut at 120 bytes */
        public readonly array $examples;

        private function __construct() {}
    }

    /**
     * What a queue did in a time, usually a minute of the server's clock.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Rate
    {
        /** When it began. */
        public readonly float $start;

        /** How long it is. */
        public readonly float $span;

        public readonly int $pushed;

        public readonly int $reserved;

        public readonly int $acked;

        public readonly int $retried;

        public readonly int $expired;

        public readonly int $died;

        public readonly int $cancelled;

        private function __construct() {}
    }
}

namespace Dueq\Redisson
{
    /**
     * A delayed queue of Redisson's (RDelayedQueue), spoken as Redisson does: values are offered with a
     * delay, and whoever transfers, a Redisson or runTransfer(), moves each to its destination when it is
     * due. The destination is a plain list that any client may take from.
     *
     * Values are null, bool, int (an Integer of Java's where it fits 32 bits, else a Long), float
     * (Double), string (String: UTF-8; byte[] with the codec "bytes"), Long, Binary and, with the codecs
     * of Jackson, arrays, stdClass and JsonSerializable objects by json_encode(). They are read back as
     * plain values: JSON objects as arrays, integers beyond 64 bits as strings.
     *
     * @strict-properties
     * @not-serializable
     */
    final class DelayedQueue implements \Countable
    {
        /** The list's key, as it was opened. */
        public readonly string $destination;

        /** kryo5, bytes, string, long, jackson, typed json, jackson3 or typed json3. */
        public readonly string $codec;

        /** new, old; null: as it is found. */
        public readonly ?string $layout;

        /**
         * Opens the delayed queue of a destination. Nothing is connected until the first call.
         *
         * @param string $destination the list's key, as it is in the server: 1 to 255 bytes of UTF-8 without
         *     control characters
         * @param string|null $url as \Dueq\Queue::__construct()
         * @param string $codec how the values are written, the codec of the Redisson that shares them:
         *     "kryo5" (Redisson's default from 3.19), "bytes" (ByteArrayCodec), "string" (StringCodec),
         *     "long" (LongCodec), "jackson" (JsonJacksonCodec), "typed json" (TypedJsonJacksonCodec),
         *     "jackson3" (JsonJackson3Codec) or "typed json3" (TypedJsonJackson3Codec)
         * @param string|null $layout how Redisson packs what waits: "new" (3.21.1 and later) or "old"; null:
         *     as those that wait, and as "new" where none do
         * @throws \Dueq\Exception\NameException
         * @throws \Dueq\Exception\UrlException
         */
        public function __construct(
            string $destination,
            #[\SensitiveParameter] ?string $url = null,
            string $codec = "kryo5",
            ?string $layout = null
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Offers a value: it goes to the destination when it is due.
         *
         * @param mixed $value as the class says; what the codec has no form for throws
         *     \Dueq\Exception\InvalidException
         * @param float|\DateInterval|null $delay not before this long after the offer
         * @param float|int|\DateTimeInterface|null $at not before this time of the server's clock; not
         *     together with $delay
         * @throws \Dueq\Exception\LayoutException where elements of another layout, or of both, wait: so do
         *     transfer(), poll(), peek(), remove() and contains()
         */
        public function offer(
            mixed $value,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null
        ): void {}

        /**
         * Offers any number of values, in steps of up to 200: a step is stored as a whole or not at all.
         *
         * @param array $values each as of offer()
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
         * Moves values that are due to the destination, in order of their times. An entry that is packed in
         * no known layout is quarantined, with a warning in PHP's log.
         *
         * @param float|\DateInterval $timeout how long to wait for the first that is due; 0: not at all,
         *     INF: for ever. A signal ends the wait, as with \Dueq\Queue::reserve()
         * @param int $most 1 to 200
         */
        public function transfer(float|\DateInterval $timeout = 0.0, int $most = 200): \Dueq\Interop\Moved {}

        /**
         * Starts a transfer() and does not wait, as \Dueq\Queue::reserveStart(): result() of what it returns is the
         * Moved.
         *
         * @param float|\DateInterval $timeout as transfer()
         * @param int $most as transfer()
         */
        public function transferStart(float|\DateInterval $timeout = INF, int $most = 200): \Dueq\Pending {}

        /**
         * Transfers until it is told to stop, on connections of its own: signal handlers and $until may use
         * this object. Where the server cannot be reached it says so in PHP's log and tries again.
         *
         * @param callable|null $until called after each step, and four times a second while nothing is due;
         *     it ends the work by returning true. What it or a signal handler throws ends it too. null:
         *     the latter alone
         * @throws \Dueq\Exception\DueqException what will not pass by itself
         */
        public function runTransfer(?callable $until = null): void {}

        /**
         * Takes a value from the destination. There is no acknowledgement: it is the caller's. What Redisson
         * wrote as null is null too.
         *
         * @param float|\DateInterval $timeout how long to wait for one; 0: not at all, INF: for ever
         * @return mixed null after the wait, and as soon as a signal comes, as with \Dueq\Queue::reserve()
         * @throws \Dueq\Exception\CorruptException what it took cannot be read: its property raw has it
         */
        public function take(float|\DateInterval $timeout = INF): mixed {}

        /**
         * Starts a take() and does not wait, as \Dueq\Queue::reserveStart(). result() of what it returns is the
         * value; null, too, where none came before the timeout.
         *
         * @param float|\DateInterval $timeout as take()
         */
        public function takeStart(float|\DateInterval $timeout = INF): \Dueq\Pending {}

        /**
         * Takes up to $count values from the destination, as take(). It waits for the first only.
         *
         * @param int $count 1 to 200
         * @return list<mixed> with an Unreadable for each that cannot be read
         */
        public function takeMany(int $count, float|\DateInterval $timeout = INF): array {}

        /**
         * Takes the value that was offered longest ago of those that wait, whatever its time: it never
         * reaches the destination.
         *
         * @return mixed null: none waits
         * @throws \Dueq\Exception\CorruptException what it took cannot be read: its property raw has it
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
         * Looks at up to $count values that wait, the longest offered first, without touching them.
         *
         * @param int $count 1 to 200
         * @return list<mixed> with an Unreadable for each that cannot be read
         */
        public function peek(int $count = 1): array {}

        /**
         * Deletes the longest offered element of this value, of those that wait. It looks through all.
         *
         * An array with null members finds what dueq offered of it; where there is none, what Redisson
         * wrote of such a map, which leaves these members out (but for the codec "typed json3").
         *
         * @return bool false: none has this value
         */
        public function remove(mixed $value): bool {}

        /** Does an element of this value wait, as remove() finds it? It looks through all. */
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
         * Closes its connections, for good; where it has a Pending, when that is gone too. What is in the
         * server stays.
         */
        public function destroy(): void {}
    }

    /**
     * An integer that is a java.lang.Long, however small it is. In an array it is a plain integer.
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
     * Bytes that are a byte[] of Java's. In an array they have no form.
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
     * Stands in a list for a value that the queue's codec cannot read.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Unreadable
    {
        /** As it is in the server. */
        public readonly string $raw;

        /** Why, for people. */
        public readonly string $reason;

        private function __construct() {}
    }
}

namespace Dueq\Laravel
{
    /**
     * A queue of Laravel's (5.5 to 13) on Redis, spoken as Laravel does: stock workers and producers share
     * it. Its times are whole seconds; parts of one are rounded up.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Queue
    {
        public readonly string $name;

        public readonly string $prefix;

        /** How long a job is reserved for where pop() names no other time. */
        public readonly float $retryAfter;

        /**
         * Opens a queue. Nothing is connected until the first call.
         *
         * @param string $name as Laravel names it, without "queues:"
         * @param string|null $url as \Dueq\Queue::__construct()
         * @param string $prefix what Laravel's Redis client puts in front of its keys, as
         *     "shop_database_"; name and prefix have 255 bytes together at most
         * @param float|\DateInterval $retryAfter when a job that is not deleted is ready again; more than 0
         * @throws \Dueq\Exception\NameException
         * @throws \Dueq\Exception\UrlException
         */
        public function __construct(
            string $name = "default",
            #[\SensitiveParameter] ?string $url = null,
            string $prefix = "",
            float|\DateInterval $retryAfter = 90.0
        ) {}

        /** Where the server is, without the password. */
        public function url(): string {}

        /**
         * Pushes a job by its name.
         *
         * @param string $job "Class@method", or "Class" for its method fire(): what the worker calls
         * @param mixed $data its argument, by json_encode(); null: "", as Laravel's own push() has it
         * @param float|\DateInterval|null $delay not before this long after the push
         * @param float|int|\DateTimeInterface|null $at not before this time of the server's clock; not
         *     together with $delay
         * @param string|null $displayName for people; null: the job's class
         * @param int|null $maxTries 1 or more; null: the worker's own
         * @param int|null $maxExceptions 1 or more; null: not limited
         * @param float|\DateInterval|null $timeout how long it may run; null: the worker's own
         * @param float|array|\DateInterval|null $backoff before each further try: one for all, or a list;
         *     null: the worker's own
         * @param float|int|\DateTimeInterface|null $retryUntil no further try after this time
         * @param bool $failOnTimeout whether it has failed when its timeout is over
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

        /** Pushes a job to be run later: push() in Laravel's order. A delay of less than 0 is none. */
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
         * Pushes a ready-made payload, which is stored as it is.
         *
         * @param string $payload as Laravel writes it: one that a stock worker would lose (no JSON object,
         *     without job or attempts, nested too deep) is refused
         * @return string its uuid, else its id; "" where it has neither
         * @throws \Dueq\Exception\DuplicateException when a delayed payload of exactly these bytes is there
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
         * @param string $command what serialize() made of it: UTF-8
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
         * Pushes any number of jobs, in steps of up to 200: a step is stored as a whole or not at all. All
         * jobs are read before the first is sent.
         *
         * @param array $jobs each a job's name (string), or an array with the names of the parameters of
         *     push(), pushRaw() or pushObject() as keys
         * @return list<string|null> in order, what these return, or null for a duplicate
         * @throws \Dueq\Exception\DueqException steps before the failed one are stored
         */
        public function pushMany(array $jobs): array {}

        /**
         * Takes the next job, reserved for this consumer: unless it is deleted or released before, it is
         * ready again when the time is over. A payload that a stock worker would lose is quarantined, with a
         * warning in PHP's log.
         *
         * @param float|\DateInterval $timeout how long to wait for one; 0: not at all, INF: for ever
         * @param float|\DateInterval|null $retryAfter null: the queue's
         * @return Job|null null after the wait, and as soon as a signal comes, as with
         *     Queue::reserve()
         */
        public function pop(
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $retryAfter = null
        ): ?Job {}

        /**
         * Starts a pop() and does not wait, as \Dueq\Queue::reserveStart(): result() of what it returns is the
         * Job, or null.
         *
         * @param float|\DateInterval $timeout as pop()
         * @param float|\DateInterval|null $retryAfter as pop()
         */
        public function popStart(
            float|\DateInterval $timeout = INF,
            float|\DateInterval|null $retryAfter = null
        ): \Dueq\Pending {}

        /**
         * Takes up to $count jobs, as pop(). It waits for the first only.
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
         * Deletes jobs: they are done.
         *
         * @param array $jobs jobs of this queue, or what their property reserved has; any number
         * @return list<bool> in order, true for a deleted one, false where it was not ours any more
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
         * Moves delayed jobs that are due, and reserved ones whose time is over, to where workers find them,
         * and wakes workers that wait.
         *
         * @param float|\DateInterval $timeout how long to wait for the first that is due; 0: not at all,
         *     INF: for ever. A signal ends the wait, as with \Dueq\Queue::reserve()
         * @param int $most 1 to 200, of each of the two
         */
        public function migrate(float|\DateInterval $timeout = 0.0, int $most = 200): \Dueq\Interop\Moved {}

        /**
         * Starts a migrate() and does not wait, as \Dueq\Queue::reserveStart(): result() of what it returns is the
         * Moved.
         *
         * @param float|\DateInterval $timeout as migrate()
         * @param int $most as migrate()
         */
        public function migrateStart(float|\DateInterval $timeout = INF, int $most = 200): \Dueq\Pending {}

        /**
         * Migrates until it is told to stop, as \Dueq\Redisson\DelayedQueue::runTransfer() does: idle stock
         * workers wake on time while it runs.
         *
         * @throws \Dueq\Exception\DueqException what will not pass by itself
         */
        public function runMigrate(?callable $until = null): void {}
    }

    /**
     * A job as Queue::pop() returns it. It holds its queue.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Job
    {
        /** As it was pushed, or as the last attempt left it. */
        public readonly string $payload;

        /** This delivery, which deleteMany() takes: the payload with its attempts raised. */
        public readonly string $reserved;

        /** The payload's id. */
        public readonly ?string $id;

        /** The payload's uuid, from Laravel 7 on. */
        public readonly ?string $uuid;

        /** "Class@method", or "Class" for its method fire(). */
        public readonly string $name;

        /** Its argument: objects as arrays, integers beyond 64 bits as strings; null where it is no JSON. */
        public readonly mixed $data;

        /** The name for people. */
        public readonly ?string $displayName;

        /** This one included: 1 on the first. */
        public readonly int $attempts;

        /** null: the payload names none. */
        public readonly ?int $maxTries;

        /** Seconds that it may take; null: the payload names none. */
        public readonly ?int $timeout;

        /** @var list<int> seconds before each further try; empty where the payload names none */
        public readonly array $backoff;

        /** No further try after this time; null: no end. */
        public readonly ?int $retryUntil;

        /** When it is ready again, unless it is deleted or released before. */
        public readonly float $until;

        private function __construct() {}

        /**
         * Deletes the job: it is done.
         *
         * @throws \Dueq\Exception\LeaseLostException it is not ours any more: its time was over
         */
        public function delete(): void {}

        /**
         * Gives the job back to be tried again.
         *
         * @param float|\DateInterval $delay not before this long from now; less than 0: now
         * @throws \Dueq\Exception\LeaseLostException it is not ours any more, and nothing is changed
         */
        public function release(float|\DateInterval $delay = 0.0): void {}
    }
}

namespace Dueq\Interop
{
    /**
     * What a step of \Dueq\Redisson\DelayedQueue::transfer() or \Dueq\Laravel\Queue::migrate() did.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Moved
    {
        public readonly int $moved;

        /** Entries quarantined, as nobody can read them. */
        public readonly int $quarantined;

        /** The next due time by the server's clock, where anything was moved; null: none. */
        public readonly ?float $next;

        private function __construct() {}
    }

    /**
     * What a queue of another system holds, counted by the server.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Sizes
    {
        /** In the list that is taken from. */
        public readonly int $ready;

        /** To go there when they are due. */
        public readonly int $delayed;

        /** Taken and not finished (Laravel). */
        public readonly int $reserved;

        /** Quarantined entries that are still there. */
        public readonly int $quarantined;

        /** The next due time; null: none. */
        public readonly ?float $next;

        /** The server's clock when it counted. */
        public readonly float $now;

        private function __construct() {}
    }
}

namespace Dueq\Exception
{
    /**
     * What every failure of dueq is. getCode() is the status's number, the same in every language, and
     * getMessage() says what happened and what to do.
     */
    class DueqException extends \RuntimeException
    {
        /** Whether the same call may succeed later without a change by the caller. */
        final public function isRetriable(): bool {}
    }

    /** A living message has this id already, or it is still unique. Code 2. */
    class DuplicateException extends DueqException
    {
    }

    /** The lease has ended: the message or the lock belongs to somebody else or is gone. Code 4. */
    class LeaseLostException extends DueqException
    {
    }

    /** An argument is out of its range. Code -1. */
    class InvalidException extends DueqException
    {
    }

    /** Not a valid queue name. Code -2. */
    class NameException extends DueqException
    {
    }

    /** Not a valid server URL. Code -3. */
    class UrlException extends DueqException
    {
    }

    /** Larger than the protocol or the server accepts. Code -4. */
    class TooLargeException extends DueqException
    {
    }

    /** Out of memory. Code -5, retriable. */
    class NoMemoryException extends DueqException
    {
    }

    /** This client has another call under way. Code -6, retriable. */
    class InUseException extends DueqException
    {
    }

    /** Cannot reach the server. Code -10, retriable. */
    class ConnectException extends DueqException
    {
    }

    /** The connection was lost and the outcome is not known. Code -11, retriable. */
    class ClosedException extends DueqException
    {
    }

    /** No answer before the deadline; the outcome is not known. Code -12, retriable. */
    class TimeoutException extends DueqException
    {
    }

    /** The TLS connection could not be made. Code -13. */
    class TlsException extends DueqException
    {
    }

    /** The embedded server could not be started. Code -14. */
    class EmbeddedException extends DueqException
    {
    }

    /** The server wants another user or password. Code -20. */
    class AuthException extends DueqException
    {
    }

    /** The server does not permit this user the command. Code -21. */
    class DeniedException extends DueqException
    {
    }

    /** The server does not have this database. Code -22. */
    class DatabaseException extends DueqException
    {
    }

    /** The server is still loading its data. Code -23, retriable. */
    class LoadingException extends DueqException
    {
    }

    /** The server is a read-only replica. Code -24, retriable. */
    class ReadonlyException extends DueqException
    {
    }

    /** The server is out of memory (maxmemory). Code -25, retriable. */
    class FullException extends DueqException
    {
    }

    /** The server is busy running a script. Code -26, retriable. */
    class BusyException extends DueqException
    {
    }

    /** A key of this queue holds something else. Code -27. */
    class WrongTypeException extends DueqException
    {
    }

    /** An entry of this queue is damaged. Code -28. */
    class CorruptException extends DueqException
    {
        /** What cannot be read, as it was taken from the server; null: it is still there. */
        public ?string $raw = null;
    }

    /** This server cannot run dueq. Code -29. */
    class UnsupportedException extends DueqException
    {
    }

    /** The server refused the command. Code -30. */
    class ServerException extends DueqException
    {
    }

    /** What answered does not speak the Redis protocol as expected. Code -31. */
    class ProtocolException extends DueqException
    {
    }

    /** Elements of another layout than the queue's wait here. Code -32. */
    class LayoutException extends DueqException
    {
    }

    /** The server cannot do it for now. Code -33. */
    class UnavailableException extends DueqException
    {
    }
}
