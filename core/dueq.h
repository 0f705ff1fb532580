/*
 * dueq: a reliable delayed message queue on Redis or Valkey.
 *
 * This header is the whole public contract of libdueq. It is ordered from what every program needs
 * (status, client, queue, the blocking verbs) to what event loops need (submit, pump, take).
 *
 * Conventions
 * - Every fallible function returns a dueq_status: 0 is success, > 0 an outcome that is not an error
 *   (nothing ready, lease lost ...), < 0 a failure. After a failure dueq_error_text() says what
 *   happened and what to do; it is never empty then.
 * - Inputs are borrowed for the call. A result belongs to the caller with all that it points to; free it
 *   with dueq_result_free(). Freeing NULL is safe everywhere.
 * - Times and durations are whole milliseconds and say so in their names (delay_ms). Points of time
 *   are milliseconds since 1970-01-01 UTC by the server's clock.
 * - A client and its queues belong to one thread at a time. After fork() the child may go on using
 *   them: it silently drops the parent's connections and makes its own.
 */
#ifndef DUEQ_H
#define DUEQ_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DUEQ_VERSION "0.1.0"

/* A program that compiles the core in defines it empty, to keep the symbols to itself. */
#ifndef DUEQ_API
#define DUEQ_API __attribute__((visibility("default")))
#endif

/*
 * The one table of statuses: X(code, NAME, retriable, text). `retriable` is 1 where the same call may
 * succeed later without a change by the caller. The enum, dueq_status_name() and dueq_status_text(),
 * the scripts' constants and the exception classes of the bindings are all made from it.
 */
#define DUEQ_STATUS_TABLE(X)                                                                       \
    X(0, OK, 0, "done")                                                                            \
    X(1, EMPTY, 1, "no message is ready")                                                          \
    X(2, DUPLICATE, 0, "the id is taken: a message in the queue has it, or it is still unique")    \
    X(3, NOT_FOUND, 0, "no message has this id")                                                   \
    X(4, LEASE_LOST, 0, "the lease was lost: another consumer has taken it, or it is gone")        \
    X(5, EXHAUSTED, 0, "the attempts are exhausted: the message is dead")                          \
    X(6, PENDING, 1, "the call is still in progress")                                              \
    X(7, INTERRUPTED, 1, "a signal came; the call is still in progress")                           \
    X(8, TAKEN, 1, "another owner holds the lock")                                                 \
    X(-1, INVALID, 0, "an argument is out of its range")                                           \
    X(-2, NAME, 0, "not a valid queue name")                                                       \
    X(-3, URL, 0, "not a valid server URL")                                                        \
    X(-4, TOO_LARGE, 0, "larger than the protocol or the server accepts")                          \
    X(-5, NO_MEMORY, 1, "out of memory")                                                           \
    X(-6, IN_USE, 1, "this client has another call in progress")                                   \
    X(-10, CONNECT, 1, "cannot reach the server")                                                  \
    X(-11, CLOSED, 1, "the connection was lost and the outcome is not known")                      \
    X(-12, TIMEOUT, 1, "no answer before the deadline; the outcome is not known")                  \
    X(-13, TLS, 0, "the TLS connection could not be made")                                         \
    X(-14, EMBEDDED, 0, "the embedded server could not be started")                                \
    X(-20, AUTH, 0, "the server wants another user or password")                                   \
    X(-21, DENIED, 0, "the server does not permit this user the command")                          \
    X(-22, DATABASE, 0, "the server does not have this database")                                  \
    X(-23, LOADING, 1, "the server is still loading its data")                                     \
    X(-24, READONLY, 1, "the server is a read-only replica")                                       \
    X(-25, FULL, 1, "the server is out of memory (maxmemory)")                                     \
    X(-26, BUSY, 1, "the server is busy running a script")                                         \
    X(-27, WRONG_TYPE, 0, "a key of this queue has another type")                                  \
    X(-28, CORRUPT, 0, "an entry of this queue is damaged")                                        \
    X(-29, UNSUPPORTED, 0, "this server cannot run dueq")                                          \
    X(-30, SERVER, 0, "the server refused the command")                                            \
    X(-31, PROTOCOL, 0, "the answer is not in the Redis protocol")                                 \
    X(-32, LAYOUT, 0, "the queue has another layout than this client knows")                       \
    X(-33, UNAVAILABLE, 1, "the server cannot do it for now")                                      \
    X(-34, NOT_DURABLE, 1, "stored, but not on all the replicas and disks that were asked for")

typedef enum dueq_status {
#define DUEQ_STATUS_ENUM(code, name, retriable, text) DUEQ_##name = (code),
    DUEQ_STATUS_TABLE(DUEQ_STATUS_ENUM)
#undef DUEQ_STATUS_ENUM
} dueq_status;

/* The name of a status without its prefix ("LEASE_LOST"), or "UNKNOWN". Static; never NULL. */
DUEQ_API const char *dueq_status_name(dueq_status status);

/* One sentence about a status. Static; never NULL. */
DUEQ_API const char *dueq_status_text(dueq_status status);

/* 1 if the same call may succeed later without a change by the caller, else 0. */
DUEQ_API int dueq_status_retriable(dueq_status status);

/* The version of the library that runs, as DUEQ_VERSION. Static. */
DUEQ_API const char *dueq_version(void);

/* Limits of the protocol, in bytes or milliseconds unless said otherwise. */
enum {
    DUEQ_MAX_NAME = 255,           /* a queue's name */
    DUEQ_MAX_ID = 255,             /* a message's id */
    DUEQ_MAX_HEADERS = 65535,      /* all headers of a message, encoded */
    DUEQ_MAX_HEADER_NAME = 255,    /* one header's name */
    DUEQ_MAX_ERROR = 4096,         /* what retry and bury keep of an error's text */
    DUEQ_MAX_BATCH = 200,          /* items of one call */
    DUEQ_MAX_MAX_ATTEMPTS = 65535, /* the largest max_attempts */
    DUEQ_DEFAULT_ATTEMPTS = 16,    /* max_attempts where the producer names none */
    DUEQ_DEFAULT_CRASHES = 5,      /* max_crashes where the producer names none */
    DUEQ_NO_LIMIT = 0,             /* of max_attempts and max_crashes */
    /* The backoff where the producer names none: exponential from base to cap, with equal jitter. */
    DUEQ_DEFAULT_BACKOFF_BASE_MS = 1000,
    DUEQ_DEFAULT_BACKOFF_CAP_MS = 3600000,
    DUEQ_MAX_BACKOFF_LIST = 32,     /* delays in a backoff's list */
    DUEQ_MAX_LOCK_NAME = 255,       /* a lock's name */
    DUEQ_MAX_SCHEDULE = 200,        /* a schedule's name */
    DUEQ_MAX_QUEUES = 64,           /* queues of one reserve_any */
    DUEQ_MAX_PARTITIONS = 1024,     /* of one queue */
    DUEQ_MAX_KEY = 255,             /* a message's key */
    DUEQ_MAX_RATES = 360,           /* minutes of history that are kept */
    DUEQ_MAX_HOURS = 336,           /* hours of history that are kept */
    DUEQ_TIMING_BUCKETS = 196,      /* sizes that measured times are counted by */
    DUEQ_DEFAULT_LEASE_MS = 30000,  /* a lease where neither message nor consumer names one */
    DUEQ_HEARTBEAT_LEASE_MS = 8000, /* the same where a heartbeat keeps it alive */
    DUEQ_MAX_RUN_MS = 3600000,      /* how long a heartbeat keeps a message, where nobody says */
    DUEQ_MAX_SLACK_MS = 100,        /* how late a consumer may let itself be */
    DUEQ_MAX_PUSHES = 10000,        /* pushes that a pusher takes over before the first is done */
    DUEQ_MAX_HOLDINGS = 100,        /* messages that a worker names as held */
    DUEQ_MAX_FAILURES = 1000,       /* failures that a queue keeps */
    DUEQ_MAX_SOCKETS = 3,           /* descriptors that dueq_poll_set() fills in */
    DUEQ_MAX_REPLICAS = 100,        /* replicas that a push waits for */
    DUEQ_MAX_DURABLE_MS = 86400000, /* how long it waits for them and for disks */
    DUEQ_DEFAULT_DURABLE_MS = 2000, /* the same where nobody says */
    DUEQ_DEFAULT_TIMEOUT_MS = 10000 /* a call's deadline where the URL names none */
};
#define DUEQ_MAX_BODY                                                                              \
    ((size_t)512 * 1024 * 1024 - 128 * 1024)    /* Redis: a string has 512 MiB at most */
#define DUEQ_MAX_TIME_MS INT64_C(4102444800000) /* longest duration, latest time: 2100 */
#define DUEQ_FOREVER (-1)                       /* a reserve's timeout_ms: no end */
#define DUEQ_BY_POLICY (-1)                     /* a retry's delay_ms: the message's backoff */

/* Bytes that somebody else owns. */
typedef struct dueq_bytes {
    const void *data;
    size_t size;
} dueq_bytes;

/* ---- Client: one server, one login, at most two connections ------------------------------------ */

typedef struct dueq_client dueq_client;

/*
 * Opens a client. Nothing is connected until the first call.
 *
 * url  redis://[user:password@]host[:port][/db]       port 6379, db 0
 *      rediss://...                                    the same by TLS, the peer's name verified
 *      unix://[user:password@]/path/to/socket[?db=N]
 *      embedded:DIR                                    a private server for the directory DIR, which
 *                                                      must be this user's and nobody else's to write in
 *      NULL: $DUEQ_URL, and without it an embedded server in the user's state directory, which
 *      dueq_warning() tells of (URL: the user has no home directory, or $DUEQ_REQUIRE_URL is 1).
 *      Parameters (?name=value&...): timeout (a call's deadline: 500ms, 10s, 1m; a bare number is
 *      seconds), db, ca, cert, key (PEM files for rediss), evicting=accept (dueq_warning() does not
 *      tell that the server may evict), replicas, disk=1 and durable_timeout (dueq_durability, of all
 *      pushes of the client).
 *
 * *client is set on failure too, so that dueq_error_text() can be asked; it is NULL only when memory
 * is out. Close it with dueq_close().
 * Errors: URL, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_open(const char *url, dueq_client **client);

/* Closes the connections and frees the client. Its queues must be closed first. NULL is safe. */
DUEQ_API void dueq_close(dueq_client *client);

/*
 * Makes the client as if it was just opened, but for the connection that its calls go on, for whoever keeps clients
 * for later: gives up the call under way, closes the connections of waits, forgets errors and warnings. Its queues
 * stay open. It waits for nothing.
 * Returns 1 if that connection is there and the server has not closed it; else 0, and the next call makes one.
 */
DUEQ_API int dueq_reset(dueq_client *client);

/* What the last failed call of this client met, in words; "" if none failed. Valid until the next call. */
DUEQ_API const char *dueq_error_text(const dueq_client *client);

/*
 * Copies a text for a terminal or a log, as the texts of errors are: control characters, ends of lines and marks
 * of direction, which others may have put into ids, headers or bodies, become \xNN or \uNNNN, and what is no
 * UTF-8 \xNN. out: `room` bytes, 4 for each of the text and 1 at most; it ends where the room does, with a NUL.
 */
DUEQ_API void dueq_escape(char *out, size_t room, const char *text);

/*
 * Reads a duration as people write one in options and URLs: "250ms", "1.5s", "30m", "2h", "7d", "1h30m"; a number
 * without a unit is seconds.
 * Returns milliseconds, the fraction rounded; -1: the text is none, or is longer than DUEQ_MAX_TIME_MS.
 */
DUEQ_API int64_t dueq_duration_ms(const char *text);

/*
 * Something that the operator should know although no call has failed: nobody named a server, so this is
 * the embedded one (once a process); the server may evict; or it has been away for a second, or has refused for
 * as long what the call under way goes on trying: that is said once, then now and then with how long and how
 * often, and when it answers again. NULL: nothing new. All clients of a process say these once; ask when the
 * client is open, after a call, and now and then while one waits. Valid until the next call.
 */
DUEQ_API const char *dueq_warning(dueq_client *client);

/*
 * The program has reached this client's server by another client. If the server is away, calls of this client wait for
 * their timeout, as if it had reached the server itself.
 */
DUEQ_API void dueq_reached(dueq_client *client);

/*
 * Where this client's server is: the URL without its password, as text for people and logs. For an
 * embedded server, whose socket exists after the first call only, it names the directory.
 */
DUEQ_API const char *dueq_client_url(const dueq_client *client);

/* The path of the embedded server's socket once it runs, for other clients of it; NULL otherwise. */
DUEQ_API const char *dueq_embedded_socket(const dueq_client *client);

/* ---- Queue ------------------------------------------------------------------------------------- */

typedef struct dueq_queue dueq_queue;

/*
 * Opens a queue of the client's server. Nothing is sent.
 * name: 1 to DUEQ_MAX_NAME bytes of UTF-8 without braces and control characters.
 * *queue belongs to the caller (dueq_queue_close) and must not outlive the client.
 * Errors: NAME, NO_MEMORY; *queue is NULL then.
 */
DUEQ_API dueq_status dueq_queue_open(dueq_client *client, const void *name, size_t name_size,
                                     dueq_queue **queue);

/*
 * Where what a push stores has to be before the push ends. The URL, the handle of the queue and a draft may each say so:
 * the most that any of them asks for counts.
 */
typedef struct dueq_durability {
    int replicas; /* so many replicas of the server have received it, 0 to DUEQ_MAX_REPLICAS */
    /*
     * 1: it is on the server's disk, and on those of the replicas, by their append-only files (appendonly yes). Needs
     * Redis 7.2 or Valkey.
     */
    int disk;
    /*
     * 0 to DUEQ_MAX_DURABLE_MS: how long the push waits for them, once the server has stored it. 0: the longest of the
     * drafts', else the handle's, else the URL's, else DUEQ_DEFAULT_DURABLE_MS.
     */
    int64_t timeout_ms;
} dueq_durability;

/* Of all pushes by this handle from now on. Errors: INVALID. */
DUEQ_API dueq_status dueq_queue_durability(dueq_queue *queue, const dueq_durability *durability);

/*
 * find and peek by this handle answer at most so many bytes of each body from now on, which the server cuts; 0, as at first:
 * all of it. dueq_message.body_size is the size of the whole body.
 */
DUEQ_API void dueq_queue_preview(dueq_queue *queue, size_t bytes);

/* Frees the queue's handle; the queue in the server stays. NULL is safe. */
DUEQ_API void dueq_queue_close(dueq_queue *queue);

/* ---- Queues of partitions ------------------------------------------------------------------------ */

/*
 * Opens a queue of `count` (1 to DUEQ_MAX_PARTITIONS) partitions as one. Each is an ordinary queue, `name#0` ... The
 * first call of any client stores their number in the server. Later it can only be doubled, by dueq_repartition();
 * a client that names the number of before goes on with the new one, within a second. A call with any other fails
 * (INVALID).
 * key: size 0: all partitions; else the one that has the messages of this key.
 *
 * Messages are those of their partition: dueq_result_queue() of reserve, find and peek, and `queue` of a consumer, are
 * its number, and a handle of its name, dueq_partition_name(), settles them at the least cost. Verbs on ids and tickets ask the partitions in
 * turn; those that count or take away add up; a page is of one partition. A schedule is in the partition of its job's key,
 * else of its id, and so are its jobs. Successors go to the partition of their key, else of their id, which is the same
 * for all (INVALID); those without both stay in the message's, where `queue` or `target` of the ack is this one. fire is
 * for one partition (INVALID). Locks are those of the queue `name`. A push is in one step in each partition.
 * *queue belongs to the caller (dueq_queue_close) and must not outlive the client.
 * Errors: NAME, INVALID, NO_MEMORY; *queue is NULL then.
 */
DUEQ_API dueq_status dueq_partitions_open(dueq_client *client, const void *name, size_t name_size,
                                          size_t count, dueq_bytes key, dueq_queue **queue);

/*
 * A step of doubling the number of partitions, from to / 2 to `to`, while the queue is in use; *closed: how many new ones
 * no consumer gets yet. Call it every second until that is 0. Another process may go on with it, and when it is done
 * nothing changes. Until a new partition is open, it gathers messages: those that were pushed to the old partition before
 * are delivered first, by consumers. The first step after the doubling waits for longer than this client's timeout, so
 * that no producer with this timeout pushes by the old number any more. The handle was opened with either number.
 * Errors: INVALID: the queue has neither number, or `to` is odd or more than DUEQ_MAX_PARTITIONS.
 */
DUEQ_API dueq_status dueq_repartition(dueq_queue *queue, size_t to, size_t *closed);

/* The partition of a key among `count` (1 or more): its CRC-32 (of zlib, as in PNG) modulo count. */
DUEQ_API size_t dueq_partition_for(dueq_bytes key, size_t count);

/* Writes the name of a queue's partition, with a NUL, and returns its size. It is cut at DUEQ_MAX_NAME. */
DUEQ_API size_t dueq_partition_name(dueq_bytes queue, size_t partition,
                                    char name[DUEQ_MAX_NAME + 1]);

/* ---- Messages ---------------------------------------------------------------------------------- */

/* One header: UTF-8 text. The name has 1 to DUEQ_MAX_HEADER_NAME bytes. */
typedef struct dueq_header {
    dueq_bytes name;
    dueq_bytes value;
} dueq_header;

/* Which ready messages go first: all of a higher priority before any of a lower one. */
typedef enum dueq_priority { DUEQ_LOW = -1, DUEQ_NORMAL = 0, DUEQ_HIGH = 1 } dueq_priority;

/* How the delay of a retry grows with the failures n = 1, 2 ... of a message. */
typedef enum dueq_backoff_kind {
    DUEQ_BACKOFF_DEFAULT =
        0,                   /* exponential, DUEQ_DEFAULT_BACKOFF_(BASE and CAP)_MS, equal jitter */
    DUEQ_BACKOFF_FIXED = 1,  /* base_ms; 0: at once */
    DUEQ_BACKOFF_LINEAR = 2, /* base_ms * n, at most cap_ms */
    DUEQ_BACKOFF_EXPONENTIAL = 3, /* base_ms * 2^(n-1), at most cap_ms */
    DUEQ_BACKOFF_LIST = 4         /* list_ms[n-1], and its last one from then on */
} dueq_backoff_kind;

/*
 * What chance does to a backoff's delay d, so that messages that failed together do not come back
 * together (the names are those of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 */
typedef enum dueq_jitter {
    DUEQ_JITTER_NONE = 0,
    DUEQ_JITTER_FULL = 1, /* anything from 0 to d */
    DUEQ_JITTER_EQUAL = 2 /* anything from d/2 to d */
} dueq_jitter;

/* The delay of a retry that names none. Each delay is 0 to UINT32_MAX ms. */
typedef struct dueq_backoff {
    dueq_backoff_kind kind;
    dueq_jitter jitter;
    int64_t base_ms;
    int64_t cap_ms;         /* 0: none */
    const int64_t *list_ms; /* LIST: 1 to DUEQ_MAX_BACKOFF_LIST delays */
    size_t list_count;
} dueq_backoff;

/* What a push does when a living message has its id. */
typedef enum dueq_replace {
    DUEQ_REFUSE = 0,      /* nothing: that draft's outcome is DUPLICATE */
    DUEQ_REPLACE = 1,     /* the old one is gone as if cancelled, this one takes its place */
    DUEQ_REPLACE_BODY = 2 /* the same, but one that is ready or delayed and has the same priority
                             keeps its time, place and attempts */
} dueq_replace;

/* A message to push. Start from DUEQ_DRAFT, which holds the defaults, and set what differs. */
typedef struct dueq_draft {
    dueq_bytes body; /* any bytes, also none */
    /*
     * 1 to DUEQ_MAX_ID bytes of UTF-8 without control characters; size 0: the core makes one (22 characters, ordered by
     * time)
     */
    dueq_bytes id;
    int64_t delay_ms;      /* not before this long after the push; 0: now */
    int64_t at_ms;         /* not before this time of the server's clock; 0: use delay_ms */
    uint32_t max_attempts; /* failures (retries) before the message is dead; or DUEQ_NO_LIMIT */
    int64_t lease_ms;      /* a delivery's lease where the consumer names none; 0: the default */
    const dueq_header *headers; /* may be NULL when header_count is 0 */
    size_t header_count;
    dueq_priority priority;
    uint32_t max_crashes;   /* leases that end before it is dead; or DUEQ_NO_LIMIT */
    int64_t ttl_ms;         /* not delivered later than this long after the push; 0: no end */
    dueq_backoff backoff;   /* the delay of a retry that names none */
    int drop;               /* 1: when it dies it is deleted */
    dueq_bytes dead_letter; /* the queue that it moves to when it dies; size 0: DEAD in its own */
    int64_t unique_ms; /* with an id: refuses others of that id this long, also when it is gone */
    dueq_replace replace; /* with an id */
    dueq_durability durability;
    /*
     * 1 to DUEQ_MAX_KEY bytes of UTF-8 without control characters, for a queue of partitions: messages of one key are
     * in one. Size 0: the id, if it is the caller's own, decides; else any.
     */
    dueq_bytes key;
} dueq_draft;

/* The defaults of a draft, to initialise one with. */
#define DUEQ_DRAFT {.max_attempts = DUEQ_DEFAULT_ATTEMPTS, .max_crashes = DUEQ_DEFAULT_CRASHES}

/* What becomes of the times of a schedule that nobody was there for. */
typedef enum dueq_catchup {
    DUEQ_CATCHUP_ONCE = 0, /* one job for all of them: the last */
    DUEQ_CATCHUP_SKIP = 1, /* none, where the last is over by more than a minute */
    DUEQ_CATCHUP_ALL = 2   /* a job for each, in order */
} dueq_catchup;

/* Which job a queue gets at which times. */
typedef struct dueq_plan {
    dueq_bytes name; /* 1 to DUEQ_MAX_SCHEDULE bytes of UTF-8 without control characters */
    /*
     * Five fields of cron (minute, hour, day of the month, month, day of the week), a nickname (@hourly, @daily,
     * @weekly, @monthly, @yearly), or "every 90s" (1s to 366d, of ms, s, m, h, d)
     */
    dueq_bytes expression;
    dueq_bytes zone; /* "Europe/Berlin"; size 0: UTC */
    dueq_catchup catchup;
    const dueq_draft *job; /* without an id, a time, unique_ms and replace */
} dueq_plan;

/* Where a message is in its life. */
typedef enum dueq_state {
    DUEQ_READY = 1,   /* waits for a consumer */
    DUEQ_DELAYED = 2, /* waits for its due time */
    DUEQ_LEASED = 3,  /* a consumer holds it */
    DUEQ_DEAD = 4,    /* buried, or its attempts are used up, or damaged */
    DUEQ_OUTBOX = 5   /* on its way to another queue, which a relay takes it to */
} dueq_state;

/* "ready", "delayed", "leased", "dead", "outbox"; "unknown" for anything else. Static. */
DUEQ_API const char *dueq_state_name(dueq_state state);

/* A message as reserve, find and peek return it. All pointers live as long as the result. */
typedef struct dueq_message {
    dueq_bytes id;
    dueq_bytes ticket; /* this delivery, for those who hold it; empty unless leased */
    dueq_bytes body;
    size_t body_size; /* of the whole body: more than body.size where dueq_queue_preview() cut it */
    const dueq_header *headers; /* in the producer's order; NULL when there are none */
    size_t header_count;
    uint32_t attempt;      /* failures so far and, when leased, this delivery: 1 on the first */
    uint32_t max_attempts; /* or DUEQ_NO_LIMIT */
    uint32_t crashes;      /* leases of it that ended */
    uint32_t max_crashes;  /* or DUEQ_NO_LIMIT */
    uint32_t deliveries;   /* all so far, this one included; also those that do not count */
    dueq_priority priority;
    dueq_state state;
    int64_t time_ms;    /* delayed: due, leased: end of lease, dead: when it died, ready: 0 */
    int64_t created_ms; /* when it was pushed, by the producer's clock */
    int64_t expires_ms; /* when its time to live ends, by the server's clock; 0: never */
    int64_t lease_ms;   /* the lease that the message asks for; 0: none of its own */
    int64_t now_ms;     /* the server's clock when it answered */
    dueq_bytes error;   /* the text of the last retry or bury; empty if there was none */
    int drop;           /* as in the draft */
    dueq_bytes dead_letter;
} dueq_message;

/* What a queue holds and did, counted by the server in O(1). */
typedef struct dueq_counts {
    int64_t ready, delayed, leased, dead, outbox; /* messages in each state */
    /* Since the queue exists: stored, given to consumers, finished, given back by retry, */
    int64_t pushed, reserved, acked, retried;
    /* not delivered before their time to live ended, at their end (dead, moved or dropped), */
    int64_t expired, died;
    int64_t cancelled, purged;
    int64_t quarantined;   /* entries quarantined since the queue exists */
    int64_t next_event_ms; /* the next due time or end of a lease; 0: none */
    /* Since when the oldest ready message is ready; 0: none. A minute early at most, if it was delayed or came back. */
    int64_t oldest_ms;
    int64_t now_ms;         /* the server's clock */
    int64_t paused;         /* 1: it delivers nothing, else 0 */
    int64_t evicting;       /* 1: the server may evict, as dueq_warning() says, else 0 */
    char outbox_error[256]; /* why it is not empty: "QUEUE: what it answered last"; "": no error */
} dueq_counts;

#define DUEQ_MAX_EXAMPLES 5

/* What a check found of one kind. All pointers live as long as the result. */
typedef struct dueq_finding {
    const char *kind; /* one word: lost, orphaned, ... (docs/protocol.md). Static */
    const char *text; /* the same for people: "messages without a ticket". Static */
    int wrong;        /* 1: it should not be; 0: it is worth knowing */
    int64_t count;
    int64_t repaired; /* of these so many, by this check */
    /* Ids, tickets, keys or texts, as they are, cut at 120 bytes. */
    dueq_bytes examples[DUEQ_MAX_EXAMPLES];
    size_t example_count;
} dueq_finding;

#include "dueq_rates.h" /* what a queue did by the minute and by the hour */

/* A message that a worker holds. */
typedef struct dueq_holding {
    dueq_bytes id, ticket;
    int64_t partition; /* that it is in; -1: the queue has none */
    int64_t since_ms;  /* since when its program works on it, or it is prefetched */
    int working;       /* 1: the former */
} dueq_holding;

/*
 * Who consumes a queue, as it said when it was seen last: a consumer with a heartbeat registers with each of its queues
 * when it has lived for two seconds, then every ten (25 while it holds nothing), and leaves when it is closed. All pointers live as long as the result.
 */
typedef struct dueq_worker {
    dueq_bytes session;                /* 22 characters, which no other consumer has */
    dueq_bytes host, program, version; /* of dueq_consumer_options; the version is dueq's */
    int64_t pid;
    int64_t slots;    /* how many messages it works on at a time; 0: it does not say */
    int64_t since_ms; /* when the consumer was opened */
    int64_t seen_ms;  /* when it registered last */
    int64_t until_ms; /* from then on it has lapsed: its process was killed, or is cut off */
    int64_t now_ms;   /* the server's clock when it answered */
    int64_t held;     /* how many messages of this queue it held, prefetched ones too, */
    int64_t working;  /* and how many of these its program worked on */
    int stopping;     /* 1: it takes no further message, and ends when it has settled these */
    /* Those that it had held for a second, in the order in which it got them; at most DUEQ_MAX_HOLDINGS. */
    const dueq_holding *holdings;
    size_t holding_count;
} dueq_worker;

/* What a queue of another system holds; the headers in interop/ say of which. */
typedef struct dueq_sizes {
    int64_t ready;       /* in the list that is taken from */
    int64_t delayed;     /* to go there when they are due */
    int64_t reserved;    /* taken and not finished, where the system knows that */
    int64_t quarantined; /* quarantined and still there */
    int64_t next_ms;     /* the next due time; 0: none */
    int64_t now_ms;      /* the server's clock */
} dueq_sizes;

/* What a step that moves due items of such a queue did. */
typedef struct dueq_moved {
    size_t moved;
    size_t quarantined; /* quarantined */
    int64_t next_ms;    /* the next due time, by the server's clock; 0: none */
} dueq_moved;

/* Which dead messages are meant. All zero: all of them. */
typedef struct dueq_filter {
    dueq_bytes error;           /* the error contains these bytes; size 0: any */
    int64_t since_ms, until_ms; /* died at or after, and before, these times; 0: open */
} dueq_filter;

/* ---- Results ----------------------------------------------------------------------------------- */

/*
 * What a call answered: one item for each draft, ticket, id or delivered message, in order.
 * All pointers obtained from a result live until dueq_result_free().
 */
typedef struct dueq_result dueq_result;

DUEQ_API size_t dueq_result_count(const dueq_result *result); /* NULL: 0 */
/* That item's outcome. */
DUEQ_API dueq_status dueq_result_status(const dueq_result *result, size_t index);
/* cancel: the state that the message was in; 0 where it was not found, and of other verbs. */
DUEQ_API dueq_state dueq_result_state(const dueq_result *result, size_t index);
/* push: that draft's id; queues: that queue's name; lock: the owner's token. */
DUEQ_API dueq_bytes dueq_result_id(const dueq_result *result, size_t index);
/* ack_push, fire: the place of the first message that was pushed; else 0. */
DUEQ_API size_t dueq_result_first(const dueq_result *result);
/* push, ack_push, fire: the replicas that have what was stored, as far as the server said; 0 where nobody asked. */
DUEQ_API int dueq_result_replicas(const dueq_result *result);
/* The same: 1 if the server said that it is on its disk, else 0. */
DUEQ_API int dueq_result_disk(const dueq_result *result);
/* reserve, find, peek; else NULL. */
DUEQ_API const dueq_message *dueq_result_message(const dueq_result *result, size_t index);
/* stats, and rates; else NULL. */
DUEQ_API const dueq_counts *dueq_result_counts(const dueq_result *result);
DUEQ_API const dueq_rate *dueq_result_rate(const dueq_result *result, size_t index);
DUEQ_API const dueq_timings *dueq_result_timings(const dueq_result *result);
/* workers; else NULL. */
DUEQ_API const dueq_worker *dueq_result_worker(const dueq_result *result, size_t index);
/* check: what it found so far, one item for each kind; else NULL. */
DUEQ_API const dueq_finding *dueq_result_finding(const dueq_result *result, size_t index);
/* size, and transfer and migrate, of the queues of other systems; else NULL. */
DUEQ_API const dueq_sizes *dueq_result_sizes(const dueq_result *result);
DUEQ_API const dueq_moved *dueq_result_moved(const dueq_result *result);
/* purge, remove: messages taken away; check: entries looked at. */
DUEQ_API size_t dueq_result_purged(const dueq_result *result);
DUEQ_API size_t dueq_result_kicked(const dueq_result *result); /* kick_all: messages given back */
/* peek, failures, workers, kick_all, queues, check: where the next page begins; size 0: this was the last. */
DUEQ_API dueq_bytes dueq_result_cursor(const dueq_result *result);
/* reserve_any: the queue that the messages are from, a place in `queues`. */
DUEQ_API size_t dueq_result_queue(const dueq_result *result);
DUEQ_API size_t
dueq_result_quarantined(const dueq_result *result); /* reserve: entries quarantined */
DUEQ_API void dueq_result_free(dueq_result *result);
#include "dueq_failures.h" /* what failed */

/* ---- The verbs, blocking ----------------------------------------------------------------------- */

/*
 * For all of them:
 * - The return value is DUEQ_OK when every item is, else the first outcome that is not, or a failure.
 * - `result` may be NULL where the caller wants the return value alone. *result is NULL on failure, but for NOT_DURABLE.
 * - The call ends at the client's timeout (push: after that of its durability in addition) at the latest. A lost connection
 *   is made again within that time, and a call whose request was sent before it was lost is recalled by the server, never
 *   run twice.
 * - A call that waits (timeout_ms is not 0) lives through an outage of any length. It ends at its timeout_ms: in an outage
 *   with CONNECT, CLOSED or TIMEOUT, and up to the client's timeout later where a request is still without an answer. Where
 *   this client has never reached the server, it fails as any other call.
 * - On DUEQ_INTERRUPTED a signal has come and the call goes on: run the handlers, then dueq_wait() and
 *   dueq_take(), or dueq_abandon().
 * - Common errors: CONNECT, CLOSED, TIMEOUT, TLS, EMBEDDED, AUTH, DENIED, DATABASE, LOADING, READONLY,
 *   FULL, BUSY, WRONG_TYPE, UNSUPPORTED, SERVER, PROTOCOL, NO_MEMORY, IN_USE, INVALID.
 */

/* Which of several queues a reserve looks at first. */
typedef enum dueq_order {
    DUEQ_PREFERENCE = 0, /* in the order of the array, always */
    /* In turn: each call of the client begins with the next. A queue may be named several times, and begins as often. */
    DUEQ_ROUND_ROBIN = 1
} dueq_order;

#include "dueq_verbs.h" /* made from core/verbs.toml */

/* ---- Consumers: reserve, work, acknowledge, and again -------------------------------------------- */

/*
 * A loop over messages that costs one round trip for each batch: it settles what was worked on and reserves the
 * next in one step. What it reserved and has not delivered yet is prefetched. Its heartbeat, a thread with a
 * connection of its own, extends the leases of all that it holds, whatever the program does meanwhile: so leases are
 * short, and what a killed process held is soon with another. It also tells the queues who consumes (dueq_worker). It keeps each message for max_run_ms after it was
 * delivered (or reserved, while it is prefetched) and then lets go.
 * A consumer uses its queues' client for itself: one call at a time, as ever.
 */
typedef struct dueq_consumer dueq_consumer;

typedef struct dueq_consumer_options {
    size_t prefetch;    /* how many it reserves at a time, as dueq_reserve(): 1 to DUEQ_MAX_BATCH */
    int64_t lease_ms;   /* 0: the message's own, else DUEQ_(HEARTBEAT or DEFAULT)_LEASE_MS */
    int64_t max_run_ms; /* 0: no heartbeat */
    dueq_order order;   /* of several queues */
    /*
     * 0 to DUEQ_MAX_SLACK_MS. What falls due while it waits comes up to so much later, and with it all that falls due
     * in the meantime, in one request: never early. What is pushed ready comes at once.
     */
    int64_t slack_ms;
    /*
     * How many messages the program works on at a time. 1: where it asks for the next while one that was delivered is
     * not settled, dueq_warning() says so, once: one that is forgotten stays leased. More: where more than so many are
     * not settled. 0: never.
     */
    size_t concurrency;
    /* What dueq_worker calls it, as "python 3.12.4": UTF-8 text, which is cut at 100 bytes. NULL: "c". Borrowed. */
    const char *program;
    size_t slots; /* of dueq_worker; 0: the concurrency */
} dueq_consumer_options;

#define DUEQ_CONSUMER {.prefetch = 1, .max_run_ms = DUEQ_MAX_RUN_MS, .concurrency = 1}

/* The queues (1 to DUEQ_MAX_QUEUES) are of one client and outlive the consumer. */
DUEQ_API dueq_status dueq_consumer_open(dueq_queue *const *queues, size_t queue_count,
                                        const dueq_consumer_options *options,
                                        dueq_consumer **consumer);

/*
 * The next message. Waits up to timeout_ms as reserve does, and sends the acks that wait. *message and its
 * place in `queues` (may be NULL) live until the next call of this function or of stop. A prefetched message
 * that another consumer has taken after its lease's end (the process was stopped) is not delivered, nor is one that
 * was cancelled a quarter of a second before, or earlier: where the last answer that it is held is that old, or its
 * lease has ended since, the messages that were prefetched with it are extended first, in one request.
 * Returns OK, EMPTY, or a failure: what is prefetched stays so, and acks that were not sent go with the next call.
 */
DUEQ_API dueq_status dueq_consumer_next(dueq_consumer *consumer, int64_t timeout_ms,
                                        const dueq_message **message, size_t *queue);

/*
 * Acknowledges a message. It is sent with the next request: by dueq_consumer_next() at once when
 * nothing is prefetched, else within a quarter of a second (without a heartbeat: by the next call of it).
 * Errors: INVALID, NO_MEMORY. Whether the lease had been lost by then, dueq_consumer_lost() counts.
 */
DUEQ_API dueq_status dueq_consumer_ack(dueq_consumer *consumer, dueq_bytes ticket);
/* The same of a message that is to be tried again: as dueq_retry(). At most one before each next(): IN_USE. */
DUEQ_API dueq_status dueq_consumer_retry(dueq_consumer *consumer, dueq_bytes ticket,
                                         int64_t delay_ms, dueq_bytes error);
/*
 * The holder has settled a message by another call, or has tried to: its lease is kept no longer. After a failure,
 * whose outcome may not be known, do this and not dueq_consumer_ack(), which could lose the message: if the call took
 * no effect, it is delivered again when its lease ends. Any thread may call it.
 */
DUEQ_API void dueq_consumer_forget(dueq_consumer *consumer, dueq_bytes ticket);

/*
 * Sends the acks that wait and gives what is prefetched back, uncounted. A request under way, as of a next() that
 * was interrupted, ends soon. OK: all acks are settled, also those that the heartbeat was just sending; each of its
 * requests ends at the client's timeout at the latest, and a failure says that the rest may come back by its leases.
 * The consumer can go on afterwards.
 */
DUEQ_API dueq_status dueq_consumer_stop(dueq_consumer *consumer);
/*
 * Nobody works on what is delivered and not settled any more: from now on a stop gives that back, too, uncounted.
 * For a consumer that is to be closed.
 */
DUEQ_API void dueq_consumer_disown(dueq_consumer *consumer);
/*
 * For a program that ends although a message is worked on: the heartbeat extends no lease any more, tells the queues
 * that the consumer is gone, and ends. Nobody waits: call it again until it returns 1, which takes some round trips, and
 * half a second where the server does not answer. Any thread may call it; the consumer can only be closed afterwards.
 * Returns 1 if the heartbeat has ended, or there is none; else 0.
 */
DUEQ_API int dueq_consumer_leave(dueq_consumer *consumer);

/*
 * The program takes no further message, and ends when it has settled those that it works on: the heartbeat tells the
 * queues so. Who is killed after that was stopping (dueq_worker), and has not crashed. Any thread may call it.
 */
DUEQ_API void dueq_consumer_wind_down(dueq_consumer *consumer);

/*
 * How many messages were lost so far: acknowledged or to be delivered after another consumer had taken them, or they had
 * been cancelled.
 */
DUEQ_API size_t dueq_consumer_lost(const dueq_consumer *consumer);

/*
 * Was a delivered message lost that is not settled yet? True as soon as the heartbeat knows: it was cancelled, or another
 * consumer has it. Any thread may ask.
 */
DUEQ_API int dueq_consumer_has_lost(dueq_consumer *consumer, dueq_bytes ticket);

/*
 * The program acknowledged a message by another client than the consumer's, and that call ended with `failure`. If the
 * failure may pass (an outage), the consumer keeps the ack and the lease, and its heartbeat or its next request sends the
 * ack when the server is back. Then this returns true, and the program must not settle the message again. False: nothing
 * is kept. Any thread may call it.
 */
DUEQ_API int dueq_consumer_keep_ack(dueq_consumer *consumer, dueq_bytes ticket,
                                    dueq_status failure);

enum { DUEQ_MAX_WARNING = 640 };

/*
 * The next warning for the operator that comes while the program makes no call, as dueq_warning(): the heartbeat found
 * the server away, or back; a message was lost; a stop could not send an ack. Writes a text that ends with NUL. False:
 * there is none. Any thread may ask.
 */
DUEQ_API int dueq_consumer_warning(dueq_consumer *consumer, char text[DUEQ_MAX_WARNING]);
/*
 * Call it before the first request. The consumer calls `wake` when it has a new warning, and when a message is lost. It
 * mostly does so in the heartbeat's thread, with a lock held: `wake` sets a flag or writes to a pipe, and calls nothing
 * of dueq. `context` must live as long as the consumer.
 */
DUEQ_API void dueq_consumer_on_warning(dueq_consumer *consumer, void (*wake)(void *context),
                                       void *context);

/* Ends the heartbeat and frees the consumer; stop it first, else what it holds comes back by its leases. */
DUEQ_API void dueq_consumer_close(dueq_consumer *consumer);

/*
 * Without blocking: submit returns OK when one is prefetched, PENDING when the client's call is to be waited
 * for, or a failure. After OK, or when that call is final, take; where it returns PENDING again, another
 * step was submitted. For stop the same, until stop_take returns something else than PENDING.
 */
DUEQ_API dueq_status dueq_consumer_submit(dueq_consumer *consumer, int64_t timeout_ms);
DUEQ_API dueq_status dueq_consumer_take(dueq_consumer *consumer, const dueq_message **message,
                                        size_t *queue);
DUEQ_API dueq_status dueq_consumer_stop_submit(dueq_consumer *consumer);
DUEQ_API dueq_status dueq_consumer_stop_take(dueq_consumer *consumer);

/* ---- Pushers: many pushes in flight --------------------------------------------------------------- */

/*
 * Takes pushes over without waiting for each. They go in their order, in batches: while one is under way
 * the next gathers. It uses its queue's client for itself. No push is stored twice or out of order; each
 * has an outcome of its own, also after a lost connection.
 */
typedef struct dueq_pusher dueq_pusher;

/* most: how many pushes may be under way or gathered (0: DUEQ_MAX_PUSHES). */
DUEQ_API dueq_status dueq_pusher_open(dueq_queue *queue, size_t most, dueq_pusher **pusher);

/*
 * Takes a copy of the draft over. Returns OK; PENDING when `most` are under way: wait for the client's
 * call (dueq_wait), dueq_pusher_done(), and again; or a failure of this draft (INVALID, TOO_LARGE ...).
 */
DUEQ_API dueq_status dueq_pusher_push(dueq_pusher *pusher, const dueq_draft *draft);

/*
 * Moves on without blocking, and returns how many of the oldest pushes are done
 * (0: none for now). *status: OK, and *result (the caller's) has an item for each, OK or DUPLICATE, with
 * its id; or the failure that all of them met, with dueq_error_text(), and for NOT_DURABLE the result too.
 */
DUEQ_API size_t dueq_pusher_done(dueq_pusher *pusher, dueq_status *status, dueq_result **result);

/* How many are taken over and not returned by dueq_pusher_done() yet. */
DUEQ_API size_t dueq_pusher_left(const dueq_pusher *pusher);

/* Frees it. What is under way may still take effect, what is gathered is dropped: wait for all before. */
DUEQ_API void dueq_pusher_close(dueq_pusher *pusher);

/* ---- Schedules ----------------------------------------------------------------------------------- */

/*
 * The first time of a schedule after after_ms; DUEQ_MAX_TIME_MS: there is none. zone: size 0: UTC; another one is read
 * from the machine's time zone database ($TZDIR, /usr/share/zoneinfo).
 * Errors: INVALID, and problem (room for `room` bytes, 200 are enough) says why; else it is "".
 */
DUEQ_API dueq_status dueq_schedule_next(dueq_bytes expression, dueq_bytes zone, int64_t after_ms,
                                        int64_t *next_ms, char *problem, size_t room);

/* 1 if the message is that of a schedule, for dueq_fire(), and no job; else 0. */
DUEQ_API int dueq_is_schedule(const dueq_message *message);

/* Pushes a job of the schedule whose message this is, also as of find, now: its times stay. */
DUEQ_API dueq_status dueq_schedule_run_submit(dueq_queue *queue, const dueq_message *message);

/* ---- Ids --------------------------------------------------------------------------------------- */

/*
 * Makes an id as push does: 128 bits, 48 of them the milliseconds since 1970, the others random but
 * rising within a millisecond, written as 22 base-62 digits (0-9A-Za-z), so that ids sort by time.
 * buffer: at least 23 bytes, NUL-terminated on return.
 */
DUEQ_API void dueq_new_id(dueq_client *client, char *buffer);

/* ---- The same without blocking: submit, pump, take --------------------------------------------- */

/*
 * A client carries one call at a time. Each dueq_VERB_submit() takes the arguments of its verb, copies
 * what it needs, and returns DUEQ_PENDING or a failure (IN_USE when a call is under way).
 * Then, until it returns something else than PENDING:
 *     dueq_poll_set() -> poll (or any event loop) -> dueq_pump()
 * and once dueq_take() for the result, also after a failure.
 * None of these waits for anything. A host's name is resolved in a thread, one for each server at a time,
 * which ends by itself also when nobody waits for it any more; an embedded server is started beside the
 * call. Files (certificates, those of an embedded server's directory) are read in place.
 */

/*
 * Moves the call on as far as it goes without blocking. Returns PENDING while it is under way, else
 * its final status (as the blocking verb's), which stays until dueq_take().
 */
DUEQ_API dueq_status dueq_pump(dueq_client *client);

/*
 * What to wait for before the next dueq_pump(): fills in descriptors with the events wanted, returns how
 * many, and sets *timeout_ms to the longest wait (-1: no limit; 0: pump at once).
 */
DUEQ_API size_t dueq_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                              int *timeout_ms);

/*
 * The same as one descriptor that is readable whenever dueq_pump() has something to do, its time
 * included: for event loops. Call it after each submit; dueq_pump() keeps it up. It stays the same until
 * the client is closed, but for a child after fork(), which gets its own. -1: out of descriptors.
 */
DUEQ_API int dueq_descriptor(dueq_client *client);

/*
 * Stops the wait of a call: the call goes on as if its timeout had come, and so ends soon, with what it has
 * got or EMPTY. Does nothing where no call waits. For a consumer that leaves: unlike after dueq_abandon(), no
 * message is leased that nobody knows of.
 */
DUEQ_API void dueq_stop_wait(dueq_client *client);

/*
 * Pumps and polls until the call is final, `at_most_ms` have passed (-1: no limit) or a signal came.
 * Returns the final status, PENDING when the time is up, or INTERRUPTED.
 */
DUEQ_API dueq_status dueq_wait(dueq_client *client, int64_t at_most_ms);

/*
 * Ends a final call: returns its status and its result in *result (NULL on failure, but for NOT_DURABLE, and
 * where a verb has none; `result` may be NULL). PENDING while the call is under way.
 */
DUEQ_API dueq_status dueq_take(dueq_client *client, dueq_result **result);

/*
 * Gives the call under way up. What was sent may still take effect: messages that an abandoned reserve
 * took come back when their leases end. The client can be used again at once.
 */
DUEQ_API void dueq_abandon(dueq_client *client);

#ifdef __cplusplus
}
#endif

#endif
