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
         * @param int|null $maxAttempts deliveries before the message is dead, 65535 at most; null or 0:
         *     without limit
         * @param float|\DateInterval|null $lease a delivery's lease where the consumer names none;
         *     null: 30 seconds
         * @param string[] $headers text by name, UTF-8
         * @return string the message's id
         * @throws Exception\DuplicateException when a living message has this id already
         * @throws Exception\TooLargeException
         * @throws Exception\ClosedException when the connection broke and the outcome is not known:
         *     push again with the same id, which never makes a second message
         * @throws Exception\TimeoutException as ClosedException
         */
        public function push(
            string $body,
            float|\DateInterval|null $delay = null,
            float|int|\DateTimeInterface|null $at = null,
            ?string $id = null,
            ?int $maxAttempts = 5,
            float|\DateInterval|null $lease = null,
            array $headers = []
        ): string {}

        /**
         * Stores any number of messages, in steps of up to 1,000: a step is stored as a whole or not at
         * all. All messages are checked before the first is sent.
         *
         * @param array $messages each a body (string), or an array with the names of push()'s parameters as
         *     keys, of which only body is required; any number
         * @return list<string|null> in order, each message's id, or null where a living message has that
         *     id already
         * @throws Exception\DueqException as push(); steps before the failed one are stored
         */
        public function pushMany(array $messages): array {}

        /**
         * Takes the next ready message under a lease. Until the lease ends nobody else gets it; then it is
         * ready again. A paused queue hands nothing out; a wait goes on until it is resumed.
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
         * Takes up to $count ready messages, as reserve(). It waits for the first only.
         *
         * @param int $count 1 to 1,000
         * @return list<Message>
         */
        public function reserveMany(
            int $count,
            float|\DateInterval $timeout = 0.0,
            float|\DateInterval|null $lease = null
        ): array {}

        /**
         * Finishes messages: they are gone.
         *
         * @param array $messages messages of this queue, or tickets; any number
         * @return list<bool> in order, true for a finished one, false where the lease was lost
         */
        public function ackMany(array $messages): array {}

        /**
         * Takes a message back from whatever state it is in. Who holds it learns it by LeaseLostException.
         *
         * @return bool false: no message has this id
         */
        public function cancel(string $id): bool {}

        /**
         * Takes messages back, as cancel().
         *
         * @param string[] $ids any number
         * @return list<bool> in order
         */
        public function cancelMany(array $ids): array {}

        /** Looks a message up, in any state, without touching it. */
        public function find(string $id): ?Message {}

        /**
         * Gives a dead message back to be delivered at once, with as many attempts again as it had.
         *
         * @return bool false: no dead message has this id
         */
        public function kick(string $id): bool {}

        /**
         * Gives dead messages back, as kick().
         *
         * @param string[] $ids any number
         * @return list<bool> in order
         */
        public function kickMany(array $ids): array {}

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

        /**
         * Lets the queue hand nothing out, to any consumer, until it is resumed. Everything else works as
         * ever. Nothing changes where it is paused already.
         */
        public function pause(): void {}

        /** Ends a pause: consumers that wait wake. Nothing changes where the queue is not paused. */
        public function resume(): void {}

        /**
         * Takes all messages of one state away for good, in steps of up to 1,000, between which the server
         * serves others. Who holds a leased one learns it by LeaseLostException.
         *
         * @param string $state ready, delayed, leased or dead
         * @param callable|null $progress called after each step with the number of messages
         *     taken away so far; what it throws ends the purge there
         * @return int how many messages it took away
         * @throws Exception\DueqException those of the steps before are gone
         */
        public function purge(string $state, ?callable $progress = null): int {}

        /** Counts the queue. */
        public function stats(): Stats {}
    }

    /**
     * A message as reserve() and find() return it. It holds its queue.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Message
    {
        public readonly string $id;

        public readonly string $body;

        /** @var string[] text by name, in the producer's order */
        public readonly array $headers;

        /** This delivery; find(): the current one. ackMany() takes it. */
        public readonly string $ticket;

        /** Deliveries so far, this one included: 1 on the first. kick() does not set it back. */
        public readonly int $attempt;

        /** Deliveries since its push or last kick before the message is dead; null: without limit. */
        public readonly ?int $maxAttempts;

        /** ready, delayed, leased or dead, when the server answered. */
        public readonly string $state;

        /** When it is due (delayed), its lease ends (leased) or it died (dead); null when ready. */
        public readonly ?float $time;

        /** When it was pushed, by the producer's clock. */
        public readonly float $createdAt;

        /** The text of the last retry() or bury(); empty if there was none. */
        public readonly string $error;

        private function __construct() {}

        /**
         * Finishes the message: it is gone.
         *
         * @throws Exception\LeaseLostException
         */
        public function ack(): void {}

        /**
         * Gives the message back to be delivered again.
         *
         * @param float|\DateInterval $delay not before this long from now
         * @param string $error kept with the message, 4,096 bytes at most
         * @return bool false: its attempts are used up, and it is dead now
         * @throws Exception\LeaseLostException
         */
        public function retry(float|\DateInterval $delay = 0.0, string $error = ""): bool {}

        /**
         * Sets the end of the lease.
         *
         * @param float|\DateInterval $lease from now, more than 0
         * @throws Exception\LeaseLostException
         */
        public function extend(float|\DateInterval $lease): void {}

        /**
         * Sets the message aside as dead.
         *
         * @param string $reason kept with the message as its error, 4,096 bytes at most
         * @throws Exception\LeaseLostException
         */
        public function bury(string $reason = ""): void {}
    }

    /**
     * What a queue holds, counted by the server.
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

        /** Acknowledged since the queue exists. */
        public readonly int $acked;

        /** Cancelled since the queue exists. */
        public readonly int $cancelled;

        /** Purged since the queue exists. */
        public readonly int $purged;

        /** Entries set aside as damaged since the queue exists. */
        public readonly int $damaged;

        /** The next due time or end of a lease; null: none. */
        public readonly ?float $next;

        /** The server's clock when it counted. */
        public readonly float $now;

        /** Whether it hands nothing out until resume() is called. */
        public readonly bool $paused;

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

    /** A living message has this id already. Code 2. */
    class DuplicateException extends DueqException
    {
    }

    /** The lease has ended: the message belongs to somebody else or is gone. Code 4. */
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
}
