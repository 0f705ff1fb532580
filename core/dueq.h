/*
 * dueq: a reliable delayed message queue on Redis or Valkey.
 *
 * This header and those that it includes are the public contract of libdueq. First comes what every
 * program needs (status, client, queue, the blocking verbs), last what event loops need (submit,
 * pump, take). docs/reference.md has a glossary.
 *
 * Conventions
 * - A function that can fail returns a dueq_status. 0 is success. A positive status is an outcome
 *   that is no error, such as EMPTY or LEASE_LOST. A negative status is a failure:
 *   dueq_error_text() then says what happened and what to do.
 * - The library reads arguments during the call only, unless a comment says otherwise. A result
 *   belongs to the caller, who frees it by dueq_result_free(). All that it points to lives as long.
 * - It is safe to free or close NULL.
 * - Structs. A struct that begins with struct_size must start from its initializer, in an array
 *   each element: dueq_draft draft = DUEQ_DRAFT. So a program runs on libraries that are later than
 *   its header. Such a struct is INVALID without the initializer, and if the program sets a member
 *   that the library does not have. Structs without struct_size come from the library; the program
 *   reads them, and later libraries add members at their ends. Only dueq_bytes, dueq_header,
 *   dueq_durability, dueq_backoff, dueq_timing and dueq_value never change. See docs/c.md.
 * - Times and durations are whole milliseconds, and their names end with _ms. Points of time are
 *   milliseconds since 1970-01-01 UTC by the server's clock.
 * - A member or an argument that says whether something is so is 1 or 0.
 * - One thread at a time may use a client and its queues. After fork() the child may use them too:
 *   it drops the parent's connections, without a word to the server, and makes its own.
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

/*
 * A program that compiles the core into itself defines DUEQ_API empty, so that it exports nothing.
 */
#ifndef DUEQ_API
#define DUEQ_API __attribute__((visibility("default")))
#endif

/*
 * The table of statuses: X(code, NAME, retriable, text). retriable: 1 if the same call may succeed
 * later, without a change by the caller. The enum, dueq_status_name(), dueq_status_text(), the
 * constants of the scripts and the exception classes of the bindings are made from this table.
 */
#define DUEQ_STATUS_TABLE(X)                                                                       \
    X(0, OK, 0, "done")                                                                            \
    X(1, EMPTY, 1, "no message is ready")                                                          \
    X(2, DUPLICATE, 0, "the id is taken: a message in the queue has it, or it is still unique")    \
    X(3, NOT_FOUND, 0, "no message has this id")                                                   \
    X(4, LEASE_LOST, 0, "the lease was lost: another consumer has the message, or it is gone")     \
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
    X(-34, NOT_DURABLE, 1, "stored, but not on all the replicas and disks that were asked for")    \
    X(-35, BACKLOG, 1, "as many messages of the group wait as its backlog allows; push it later")

typedef enum dueq_status {
#define DUEQ_STATUS_ENUM(code, name, retriable, text) DUEQ_##name = (code),
    DUEQ_STATUS_TABLE(DUEQ_STATUS_ENUM)
#undef DUEQ_STATUS_ENUM
} dueq_status;

/* The name of a status without its prefix ("LEASE_LOST"), or "UNKNOWN". Static, never NULL. */
DUEQ_API const char *dueq_status_name(dueq_status status);

/* The text of a status in the table above. Static, never NULL. */
DUEQ_API const char *dueq_status_text(dueq_status status);

/* Returns 1 if the same call may succeed later, without a change by the caller; else 0. */
DUEQ_API int dueq_status_retriable(dueq_status status);

/* The version of the library that is loaded, in the form of DUEQ_VERSION. Static. */
DUEQ_API const char *dueq_version(void);

/*
 * Names files for a machine whose system has none. Those of the system come first, and those that
 * $SSL_CERT_FILE, $SSL_CERT_DIR and $TZDIR name. Call it once, before any other function: it is not
 * safe beside other threads. Both paths are copied.
 * ca:    a PEM file of CA certificates, for rediss:// without `ca`; NULL or "": none
 * zones: a folder of time zones, as /usr/share/zoneinfo is; NULL or "": none
 */
DUEQ_API void dueq_set_fallbacks(const char *ca, const char *zones);

/*
 * Limits and defaults. Names and texts are limited in bytes; _MS: milliseconds; others are numbers.
 */
enum {
    DUEQ_MAX_NAME = 255,           /* a queue's name */
    DUEQ_MAX_ID = 255,             /* a message's id */
    DUEQ_MAX_HEADERS = 65535,      /* all headers of a message, encoded */
    DUEQ_MAX_HEADER_NAME = 255,    /* a header's name */
    DUEQ_MAX_ERROR = 4096,         /* what retry and bury keep of an error's text */
    DUEQ_MAX_BATCH = 200,          /* items of a call */
    DUEQ_MAX_MAX_ATTEMPTS = 65535, /* the largest max_attempts */
    DUEQ_DEFAULT_ATTEMPTS = 16,    /* max_attempts of DUEQ_DRAFT */
    DUEQ_DEFAULT_CRASHES = 5,      /* max_crashes of DUEQ_DRAFT */
    DUEQ_NO_LIMIT = 0,             /* of max_attempts, max_crashes and a queue's concurrency */
    DUEQ_MAX_LIMIT = 1000000,      /* a concurrency, the number of a rate, a burst, a backlog */
    DUEQ_MAX_WEIGHT = 1000,        /* a group's weight */
    DUEQ_MAX_LIMITED = 1000,       /* groups of a queue that have limits of their own */
    /* DUEQ_BACKOFF_DEFAULT: exponential from base to cap, with equal jitter. */
    DUEQ_DEFAULT_BACKOFF_BASE_MS = 1000,
    DUEQ_DEFAULT_BACKOFF_CAP_MS = 3600000,
    DUEQ_MAX_BACKOFF_LIST = 32,     /* delays in a backoff's list */
    DUEQ_MAX_LOCK_NAME = 255,       /* a lock's name */
    DUEQ_MAX_SCHEDULE = 200,        /* a schedule's name */
    DUEQ_MAX_RELEASE = 1000,        /* a schedule's app, and its releases */
    DUEQ_MAX_QUEUES = 1024,         /* queues of a reserve_any or a consumer */
    DUEQ_MAX_PARTITIONS = 1024,     /* partitions of a queue */
    DUEQ_MAX_KEY = 255,             /* a message's key */
    DUEQ_MAX_GROUP = 128,           /* the name of a message's group */
    DUEQ_MAX_BATCH_ID = 128,        /* the id of a batch */
    DUEQ_MAX_RATES = 360,           /* minutes of history that a queue keeps */
    DUEQ_MAX_HOURS = 336,           /* hours of history that a queue keeps */
    DUEQ_TIMING_BUCKETS = 196,      /* buckets of a dueq_timing */
    DUEQ_DEFAULT_LEASE_MS = 30000,  /* a lease that neither message nor consumer names */
    DUEQ_HEARTBEAT_LEASE_MS = 8000, /* the same for a consumer with a heartbeat */
    DUEQ_MAX_RUN_MS = 3600000,      /* max_run_ms of DUEQ_CONSUMER */
    DUEQ_MAX_SLACK_MS = 100,        /* the largest slack_ms of a consumer */
    DUEQ_MAX_PUSHES = 10000,        /* pushes that a pusher holds, unless it is told how many */
    DUEQ_MAX_WORKER_LEASES = 100,   /* leased messages that a dueq_worker lists */
    DUEQ_MAX_WORKER_TASKS = 4096,   /* the names of tasks of a dueq_worker */
    DUEQ_MAX_FAILURES = 1000,       /* failures that a queue keeps */
    DUEQ_MAX_RESULT = 1048576,      /* the result of an ack */
    DUEQ_MAX_SOCKETS = 3,           /* descriptors that dueq_poll_set() fills in */
    DUEQ_MAX_REPLICAS = 100,        /* replicas that a push may wait for */
    DUEQ_MAX_DURABLE_MS = 86400000, /* how long a push may wait for replicas and disks */
    DUEQ_DEFAULT_DURABLE_MS = 2000, /* how long it waits for them by default */
    DUEQ_DEFAULT_TIMEOUT_MS = 10000 /* a client's timeout, unless the URL names one */
};
#define DUEQ_MAX_BODY                                                                              \
    ((size_t)512 * 1024 * 1024 - 128 * 1024)    /* a string in Redis has at most 512 MiB */
#define DUEQ_MAX_TIME_MS INT64_C(4102444800000) /* the latest time, 2100, and longest duration */
#define DUEQ_FOREVER (-1)                       /* timeout_ms: the call waits without end */
#define DUEQ_BY_POLICY (-1)                     /* a retry's delay_ms: by the message's backoff */
#define DUEQ_UNCHANGED (-1)                     /* of a queue's limits: it stays as it is */

/* Bytes that another object owns. */
typedef struct dueq_bytes {
    const void *data;
    size_t size;
} dueq_bytes;

/* Client: the connections to one server, or to one cluster, by one login */

typedef struct dueq_client dueq_client;

/*
 * Opens a client. It connects in its first call.
 *
 * url  redis://[user:password@]host[:port][/db]       port 6379, db 0
 *      rediss://...                                    by TLS; the server's name is verified
 *      unix://[user:password@]/path/to/socket[?db=N]
 *      embedded:DIR                                    a private server for the directory DIR, in
 *                                                      which only this user may write
 *      NULL: $DUEQ_URL. If that is not set: an embedded server in the user's state directory, and
 *      dueq_warning() says so; URL if the user has no home directory, or if $DUEQ_REQUIRE_URL is 1.
 *      Parameters (?name=value&...):
 *      timeout           how long a call may take: 500ms, 10s, 1m; a number without a unit: seconds
 *      db                the number of the database
 *      ca, cert, key     PEM files, for rediss
 *      evicting=accept   dueq_warning() does not say that the server may evict
 *      replicas, disk=1, durable_timeout   the dueq_durability of all pushes of the client
 *
 * *client belongs to the caller, also on failure, so that dueq_error_text() can be read. It is NULL
 * only if memory is out.
 * Errors: URL, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_open(const char *url, dueq_client **client);

/* Closes the connections and frees the client. Close its queues first. */
DUEQ_API void dueq_close(dueq_client *client);

/*
 * Prepares a client for its next user, for programs that keep clients in a pool. Abandons the call
 * under way, closes the connections of waits, and forgets errors and warnings. The connections for
 * calls and the queues stay open. Does not block.
 * Returns 1 if a connection for calls is open and can be used again; else 0: the next call makes
 * one.
 */
DUEQ_API int dueq_reset(dueq_client *client);

/*
 * Says in words why the last failed call of this client failed; "" if none failed. Valid until the
 * next call.
 */
DUEQ_API const char *dueq_error_text(const dueq_client *client);

/*
 * Copies a text for a terminal or a log. Control characters, line ends and marks of direction,
 * which another program may have put into ids, headers or bodies, become \xNN or \uNNNN; bytes that
 * are no UTF-8 become \xNN. The texts of errors are already in this form.
 * out:  receives the text with a NUL; a text that does not fit is cut.
 * room: bytes of `out`. 4 for each byte of the text, and 1, are enough.
 */
DUEQ_API void dueq_escape(char *out, size_t room, const char *text);

/*
 * Reads a duration in the form of options and URLs: "250ms", "1.5s", "30m", "2h", "7d", "1h30m". A
 * number without a unit is seconds.
 * Returns milliseconds, rounded; -1: the text is no duration, or it exceeds DUEQ_MAX_TIME_MS.
 */
DUEQ_API int64_t dueq_duration_ms(const char *text);

/*
 * Says what the operator should know although no call has failed:
 * - No URL was given, so this is an embedded server (said once in a process).
 * - The server may evict messages (said once in a process).
 * - The server has not answered for a second, or has refused for a second what the call tries again
 *   and again. This is repeated at growing intervals, with the time and the number of tries, until
 *   the server answers again, which is said too.
 * Of all clients of a process only one says each warning. Call it after dueq_open(), after each
 * call, and at intervals while a call waits.
 * Returns a text that is valid until the next call, or NULL: nothing new.
 */
DUEQ_API const char *dueq_warning(dueq_client *client);

/*
 * Tells the client that the program has reached its server by another client. If the server is then
 * away, calls of this client try again until their timeout, as if it had reached the server itself.
 */
DUEQ_API void dueq_reached(dueq_client *client);

/*
 * The client's URL without its password, for people and logs. The URL of an embedded server names
 * its directory. Valid as long as the client.
 */
DUEQ_API const char *dueq_client_url(const dueq_client *client);

/* The path of the embedded server's socket while the server runs, for other clients; else NULL. */
DUEQ_API const char *dueq_embedded_socket(const dueq_client *client);

/* Queue */

typedef struct dueq_queue dueq_queue;

/*
 * Opens a queue of the client's server. Nothing is sent.
 * name: 1 to DUEQ_MAX_NAME bytes of UTF-8 without braces and control characters.
 * *queue belongs to the caller, who closes it by dueq_queue_close() before the client.
 * Errors: NAME, NO_MEMORY; *queue is then NULL.
 */
DUEQ_API dueq_status dueq_queue_open(dueq_client *client, const void *name, size_t name_size,
                                     dueq_queue **queue);

/*
 * What a push waits for after the server has stored its messages. The URL, the queue's handle and a
 * draft may each ask for it. The most that one of them asks for counts.
 */
typedef struct dueq_durability {
    int replicas; /* how many must have received the messages: 0 to DUEQ_MAX_REPLICAS */
    /*
     * 1: the messages are in the append-only file (appendonly yes) on the disk of the server, and
     * of as many replicas as are asked for. Needs Redis 7.2 or Valkey. Else 0.
     */
    int disk;
    /*
     * How long the push waits for replicas and disks, 0 to DUEQ_MAX_DURABLE_MS. The longest time
     * of the drafts counts. If all are 0, the handle's counts, then the URL's, then
     * DUEQ_DEFAULT_DURABLE_MS.
     */
    int64_t timeout_ms;
} dueq_durability;

/* Sets the durability of all later pushes by this handle. Errors: INVALID. */
DUEQ_API dueq_status dueq_queue_durability(dueq_queue *queue, const dueq_durability *durability);

/*
 * Sets for how long the ends of messages are kept that this handle pushes later, up to UINT32_MAX.
 * A draft's own keep_ms counts instead. Errors: INVALID.
 */
DUEQ_API dueq_status dueq_queue_keep(dueq_queue *queue, int64_t keep_ms);

/*
 * From now on find and peek by this handle read at most `bytes` bytes of each body: the server cuts
 * it. dueq_message.body_size has the size of the whole body. 0, the default: bodies are whole.
 */
DUEQ_API void dueq_queue_preview(dueq_queue *queue, size_t bytes);

/*
 * From now on dueq_outcome() by this handle ends no message. If the time to live of a message is
 * over, and no other call has ended the message yet, the end says "expired", and its until_ms is 0.
 */
DUEQ_API void dueq_queue_look_only(dueq_queue *queue);

/* Frees the handle. The queue stays in the server. */
DUEQ_API void dueq_queue_close(dueq_queue *queue);

/* Queues with partitions */

/*
 * Opens a queue with partitions. Each partition is an ordinary queue: `name#0`, `name#1` ...
 * Nothing is sent.
 * name:  as for dueq_queue_open(), and short enough for the names of the partitions.
 * count: the number of partitions, 1 to DUEQ_MAX_PARTITIONS. The first call of any client stores it
 *        in the server. Later it can only be doubled, by dueq_repartition(). A client that was
 *        opened with the number before goes on with the new one within a second; with any other
 *        number its calls fail (INVALID).
 * key:   size 0: the handle is for all partitions; else for the partition with this key's messages,
 *        or with those of the group of this name.
 * *queue belongs to the caller, who closes it by dueq_queue_close() before the client.
 * Errors: NAME, INVALID, NO_MEMORY; *queue is then NULL.
 *
 * What verbs do by a handle for all partitions:
 * - reserve, find, peek, and a consumer: dueq_result_queue(), or the consumer's `queue`, is the
 *   number of the message's partition. To settle messages costs least by a handle of the partition,
 *   which dueq_partition_name() names.
 * - Verbs with ids or tickets ask one partition after the other. Verbs that count or delete add up
 *   the partitions. A page comes from one partition.
 * - push stores the messages of each partition in one step, but not those of several partitions.
 *   The first message with a key or a group decides for good which of both the queue takes. A push
 *   with the other fails (INVALID). A push by a handle of one key counts as one with this key.
 * - schedule: the schedule and its jobs are in the partition of the job's key or group, else of its
 *   id.
 * - ack_push, ack_push_result: all successors must go to one partition (else INVALID), that of
 *   their key or group, else of their id. Those with neither stay in the message's partition, if
 *   the target is the same queue.
 * - A batch is in one partition, its home, which its id chooses. Members in other partitions are as
 *   members in another queue: see dueq_push_to(). A callback without key, group and id comes to the
 *   home.
 * - fire is for one partition only (else INVALID).
 * - lock, relock and unlock are on the queue `name` itself.
 */
DUEQ_API dueq_status dueq_partitions_open(dueq_client *client, const void *name, size_t name_size,
                                          size_t count, dueq_bytes key, dueq_queue **queue);

/*
 * Takes one step to double the number of partitions, while the queue is in use. Call it every
 * second until *closed is 0. Another process may take the next step. When all is done, a step
 * changes nothing. A new partition is closed at first: it gathers messages, and opens when
 * consumers have delivered those that were pushed to the old partition before. The first step after
 * the doubling waits for longer than this client's timeout, so that no producer with the same
 * timeout still pushes by the old number.
 * queue:   a handle for all partitions, opened with the old or the new number.
 * to:      the new number, twice the old one, up to DUEQ_MAX_PARTITIONS.
 * *closed: how many new partitions are closed.
 * Errors: INVALID: the queue has neither `to` nor to / 2 partitions, or `to` is odd or too large.
 */
DUEQ_API dueq_status dueq_repartition(dueq_queue *queue, size_t to, size_t *closed);

/*
 * The partition of a key among `count` (1 or more): its CRC-32 (of zlib, as in PNG) modulo count.
 */
DUEQ_API size_t dueq_partition_for(dueq_bytes key, size_t count);

/*
 * Writes the name of a queue's partition, with a NUL, and returns its size in bytes. A name longer
 * than DUEQ_MAX_NAME is cut.
 */
DUEQ_API size_t dueq_partition_name(dueq_bytes queue, size_t partition,
                                    char name[DUEQ_MAX_NAME + 1]);

/* Messages */

/* A header: a name of 1 to DUEQ_MAX_HEADER_NAME bytes, and a value, both UTF-8. */
typedef struct dueq_header {
    dueq_bytes name;
    dueq_bytes value;
} dueq_header;

/* Ready messages of a higher priority are delivered before those of a lower one. */
typedef enum dueq_priority { DUEQ_LOW = -1, DUEQ_NORMAL = 0, DUEQ_HIGH = 1 } dueq_priority;

/* How the delay of a retry grows with the number n = 1, 2 ... of a message's failures. */
typedef enum dueq_backoff_kind {
    DUEQ_BACKOFF_DEFAULT = 0, /* EXPONENTIAL with DUEQ_DEFAULT_BACKOFF_..._MS and equal jitter */
    DUEQ_BACKOFF_FIXED = 1,   /* base_ms */
    DUEQ_BACKOFF_LINEAR = 2,  /* base_ms * n, at most cap_ms */
    DUEQ_BACKOFF_EXPONENTIAL = 3, /* base_ms * 2^(n-1), at most cap_ms */
    DUEQ_BACKOFF_LIST = 4         /* list_ms[n-1]; behind the end of the list, its last delay */
} dueq_backoff_kind;

/*
 * How a backoff's delay d varies at random, so that messages that failed together do not come back
 * together (names: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
 */
typedef enum dueq_jitter {
    DUEQ_JITTER_NONE = 0,
    DUEQ_JITTER_FULL = 1, /* from 0 to d */
    DUEQ_JITTER_EQUAL = 2 /* from d/2 to d */
} dueq_jitter;

/* The delays of retries by DUEQ_BY_POLICY. Members that the kind does not use are 0. */
typedef struct dueq_backoff {
    dueq_backoff_kind kind;
    dueq_jitter jitter;
    int64_t base_ms; /* up to UINT32_MAX; FIXED: 0: at once; LINEAR, EXPONENTIAL: 1 or more */
    int64_t cap_ms;  /* up to UINT32_MAX; 0: no cap */
    const int64_t *list_ms; /* each 0 to UINT32_MAX */
    size_t list_count;      /* 1 to DUEQ_MAX_BACKOFF_LIST */
} dueq_backoff;

/* What a push does if an existing message has the id. */
typedef enum dueq_replace {
    DUEQ_REFUSE = 0,  /* stores nothing; the item is DUPLICATE */
    DUEQ_REPLACE = 1, /* cancels the existing message, and stores the new one */
    /* The same, but a ready or delayed message of equal priority keeps time, place and attempts. */
    DUEQ_REPLACE_BODY = 2
} dueq_replace;

/* A message to push. Start from DUEQ_DRAFT, which has the defaults, and set what differs. */
typedef struct dueq_draft {
    size_t struct_size;
    dueq_bytes body; /* any bytes, up to DUEQ_MAX_BODY; may be empty */
    /* Made from core/options.toml by core/verbs.py: the options of a push. */
    /* Due this long after the push, 0 to DUEQ_MAX_TIME_MS; 0: now. */
    int64_t delay_ms;
    /* Due at this time of the server's clock; 0: delay_ms counts. */
    int64_t at_ms;
    /*
     * 1 to DUEQ_MAX_ID bytes of UTF-8 without control characters. Size 0: the client makes an id,
     * as dueq_new_id().
     */
    dueq_bytes id;
    /* Failures until the message dies: 1 to DUEQ_MAX_MAX_ATTEMPTS, or DUEQ_NO_LIMIT. */
    uint32_t max_attempts;
    /* The lease of a delivery, if the consumer sets none: up to UINT32_MAX; 0: the default. */
    int64_t lease_ms;
    const dueq_header *headers; /* may be NULL when header_count is 0 */
    size_t header_count;
    /* A message of a higher priority is delivered first. */
    dueq_priority priority;
    /*
     * Dropped if not delivered within this time after the push, up to DUEQ_MAX_TIME_MS; 0: never.
     */
    int64_t ttl_ms;
    /* The delay of a retry without a delay. */
    dueq_backoff backoff;
    /* Crashes until the message dies: 1 to DUEQ_MAX_MAX_ATTEMPTS, or DUEQ_NO_LIMIT. */
    uint32_t max_crashes;
    /* 1: the message is deleted when it dies, and dead_letter is empty; else 0. */
    int drop;
    /* The queue to which the message moves when it dies. Size 0: it stays in its queue, DEAD. */
    dueq_bytes dead_letter;
    /*
     * Only with an id: pushes of the id are refused for this time, also when the message is done.
     * Up to DUEQ_MAX_TIME_MS; 0: only while the message exists.
     */
    int64_t unique_ms;
    /* Only with an id. */
    dueq_replace replace;
    dueq_durability durability;
    /*
     * 1 to DUEQ_MAX_KEY bytes of UTF-8 without control characters: in a queue with partitions all
     * messages of a key go to one partition. Size 0: the group decides, or else the id, if the
     * caller chose one; else any partition. A queue takes keys or groups, as its first message with
     * either.
     */
    dueq_bytes key;
    /*
     * The group with which the message takes turns: 1 to DUEQ_MAX_GROUP bytes of UTF-8 without
     * control characters. Not together with a priority or a key. In a queue with partitions all
     * messages of a group go to one partition, and no message of the queue has a key. Size 0: the
     * message has none.
     */
    dueq_bytes group;
    /*
     * For how long the end of the message is kept, with its result: up to UINT32_MAX; 0: as
     * dueq_queue_keep() says, else not at all.
     */
    int64_t keep_ms;
    /*
     * The batch of this queue that the message becomes a member of (dueq_open_batch()): it counts
     * how the message ends. All drafts of a call have the same batch, or none. Not together with
     * `replace`; not in a queue with partitions. Size 0: the message is in no batch.
     */
    dueq_bytes batch;
    /* The end of what was made. */
} dueq_draft;

/* The defaults of a draft, as an initializer. */
/* Made from core/options.toml by core/verbs.py: the defaults of a draft. */
#define DUEQ_DRAFT                                                                                 \
    {.struct_size = sizeof(dueq_draft),                                                            \
     .max_attempts = DUEQ_DEFAULT_ATTEMPTS,                                                        \
     .max_crashes = DUEQ_DEFAULT_CRASHES}
/* The end of what was made. */

/* What a schedule does about times that passed before a consumer came to fire it. */
typedef enum dueq_catchup {
    DUEQ_CATCHUP_ONCE = 0, /* pushes one job, for the last of the times */
    DUEQ_CATCHUP_SKIP = 1, /* pushes none if the last time is more than a minute ago; else one */
    DUEQ_CATCHUP_ALL = 2   /* pushes a job for each time, in order */
} dueq_catchup;

/* A schedule: which job a queue gets, and when. Start from DUEQ_PLAN. */
typedef struct dueq_plan {
    size_t struct_size;
    dueq_bytes name; /* 1 to DUEQ_MAX_SCHEDULE bytes of UTF-8 without control characters */
    /*
     * Five fields of cron (minute, hour, day of the month, month, day of the week), or @hourly,
     * @daily, @weekly, @monthly, @yearly, or an interval: "every 90s", of ms, s, m, h and d, from
     * 1s to 366d.
     */
    dueq_bytes expression;
    dueq_bytes zone; /* such as "Europe/Berlin"; size 0: UTC */
    dueq_catchup catchup;
    const dueq_draft *job; /* without id, delay_ms, at_ms, unique_ms and replace */
    /*
     * Which program declares the schedule, and its releases, the latest first: for people, and for
     * programs that declare their schedules when they start. Each at most DUEQ_MAX_RELEASE bytes of
     * UTF-8 without control characters; size 0: none.
     */
    dueq_bytes app, release;
} dueq_plan;

#define DUEQ_PLAN {.struct_size = sizeof(dueq_plan)}

/* The state of a message. */
typedef enum dueq_state {
    DUEQ_READY = 1,   /* the next reserve may deliver it */
    DUEQ_DELAYED = 2, /* it waits for its due time */
    DUEQ_LEASED = 3,  /* it was delivered to a consumer, whose lease has not ended */
    DUEQ_DEAD = 4,    /* buried, killed or corrupt, or its attempts or crashes are used up */
    DUEQ_OUTBOX = 5   /* a relay will move it to another queue */
} dueq_state;

/* "ready", "delayed", "leased", "dead", "outbox"; "unknown" for anything else. Static. */
DUEQ_API const char *dueq_state_name(dueq_state state);

/* A message, as reserve, find and peek return it. All pointers live as long as the result. */
typedef struct dueq_message {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_message. */
    dueq_bytes id;   /* the id, the same on every delivery */
    dueq_bytes body; /* the bytes that were pushed */
    /* The headers as they were pushed: texts by name, in the producer's order. */
    const dueq_header *headers;
    size_t header_count;
    /*
     * Names this delivery, for the calls that settle messages by their tickets; empty unless
     * leased.
     */
    dueq_bytes ticket;
    /*
     * Failures since the push or the last kick and, while leased, this delivery: 1 for the first.
     */
    uint32_t attempt;
    uint32_t max_attempts; /* how many failures make the message dead; DUEQ_NO_LIMIT: no limit */
    uint32_t crashes;      /* deliveries since the push or the last kick whose lease ended */
    uint32_t max_crashes;  /* how many crashes make the message dead; DUEQ_NO_LIMIT: no limit */
    /* All deliveries: this one, crashed and released ones, and those before a kick. */
    uint32_t deliveries;
    dueq_priority priority; /* 1 high, 0 normal, -1 low */
    dueq_state state;       /* the state when the server answered */
    /*
     * When the message is due (delayed), its lease ends (leased), or it became dead (dead), by the
     * server's clock. 0: it is ready.
     */
    int64_t time_ms;
    int64_t created_ms; /* when the message was pushed, by the producer's clock */
    int64_t expires_ms; /* when the ttl ends, by the server's clock; 0: never */
    dueq_bytes error;   /* the text of the last retry or bury; empty if there was none */
    int drop;           /* whether the message is deleted where it would become dead */
    /*
     * The queue to which the message moves where it would become dead. Size 0: it stays in its
     * queue.
     */
    dueq_bytes dead_letter;
    dueq_bytes group; /* the group with which the message takes turns; Size 0: it has none */
    /*
     * How far the job of the message has come, from 0 to 1, as the job said. -1: it said nothing.
     */
    double progress;
    dueq_bytes progress_note; /* what the job said with its progress; empty: nothing */
    int64_t keep_ms;          /* for how long the end of the message is kept; 0: it is not kept */
    /*
     * The batch that counts how the message ends. Size 0: it is in no batch, or its end was
     * counted.
     */
    dueq_bytes batch;
    /* The queue of its batch; in a queue of partitions the name of a partition. Size 0: its own. */
    dueq_bytes batch_queue;
    /* The end of what was made. */
    size_t body_size; /* of the whole body; more than body.size if dueq_queue_preview() cut it */
    int64_t lease_ms; /* as in the draft */
    int64_t now_ms;   /* the server's clock when it answered */
} dueq_message;

/* What a queue has and did, counted by the server in O(1). Start from DUEQ_COUNTS. */
typedef struct dueq_counts {
    size_t struct_size;
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_counts. */
    int64_t ready;   /* messages that can be delivered now */
    int64_t delayed; /* messages that are due later */
    int64_t leased;  /* messages that are leased to a consumer */
    /* Messages that are dead: buried, killed, damaged, or out of attempts or crashes. */
    int64_t dead;
    int64_t outbox; /* dead letters and successors on their way to other queues */
    /* Why a message stays in the outbox: the other queue, and the error; empty: no error. */
    char outbox_error[256];
    int64_t pushed;   /* messages stored since the queue exists */
    int64_t reserved; /* deliveries since the queue exists */
    int64_t acked;    /* messages acknowledged since the queue exists */
    int64_t retried;  /* retries since the queue exists */
    /* Messages whose ttl ended before their first delivery, since the queue exists. */
    int64_t expired;
    /*
     * Messages that became dead, moved to a dead-letter queue or were dropped, since the queue
     * exists.
     */
    int64_t died;
    int64_t cancelled; /* messages cancelled since the queue exists */
    int64_t purged;    /* messages purged since the queue exists */
    /*
     * Entries quarantined, and messages that died because they were damaged, since the queue
     * exists.
     */
    int64_t quarantined;
    int64_t next_event_ms; /* the next due time or end of a lease; 0: there is none */
    /*
     * Since when the oldest ready message has been ready. For a message that was delayed or
     * delivered before, this may be up to a minute too early. 0: no message is ready.
     */
    int64_t oldest_ms;
    int64_t now_ms; /* the server's clock when it counted */
    int paused;     /* whether deliveries are stopped until the queue is resumed */
    /*
     * Which limit keeps ready messages waiting: concurrency or rate; or unreadable, if a limit
     * cannot be read; empty: none does.
     */
    char at_limit[256];
    /*
     * Whether the server may delete messages when its memory is full, and the URL does not say
     * evicting=accept.
     */
    int evicting;
    int64_t ends;       /* ends of messages that are kept */
    int64_t ends_bytes; /* how many bytes the kept ends have, with their results */
    /* The end of what was made. */
} dueq_counts;

#define DUEQ_COUNTS {.struct_size = sizeof(dueq_counts)}

#define DUEQ_MAX_EXAMPLES 5

/* What a check found, of one kind. All pointers live as long as the result. */
typedef struct dueq_finding {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_finding. */
    const char *kind; /* one word for the kind, such as "lost" or "orphaned" */
    const char *text; /* what the kind means, such as "messages without a ticket" */
    /* Whether the finding is an inconsistency. If not, it is only worth knowing. */
    int wrong;
    int64_t count;    /* how many entries were found */
    int64_t repaired; /* how many of the entries that `count` counts this check repaired */
    /* Up to five ids, tickets, keys or texts, unescaped, each cut at 120 bytes. */
    dueq_bytes examples[DUEQ_MAX_EXAMPLES];
    size_t example_count;
    /* The end of what was made. */
} dueq_finding;

#include "dueq_rates.h" /* what a queue did by the minute and by the hour */

/* A leased message of a dueq_worker. dueq_worker_lease() reads it. */
typedef struct dueq_lease {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_lease. */
    dueq_bytes id;     /* the id of the message */
    dueq_bytes ticket; /* the ticket of the delivery */
    int64_t partition; /* the partition of the message; -1: the queue has no partitions */
    /*
     * When the program began to work on the message, or when it was prefetched: by the server's
     * clock.
     */
    int64_t since_ms;
    /* Whether the program has begun to work on the message. If not, it is prefetched. */
    int running;
    /* The end of what was made. */
} dueq_lease;

/*
 * A registered consumer of a queue, as it was when it registered last. A consumer with a heartbeat
 * registers with each of its queues when it is two seconds old, then every ten seconds (every 25
 * while it has no messages), and leaves when it is closed. All pointers live as long as the result.
 */
typedef struct dueq_worker {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_worker. */
    dueq_bytes session; /* the unique id of the consumer, 22 characters */
    dueq_bytes host;    /* the host of its process */
    int64_t pid;        /* the number of its process */
    /* The language and its version, such as "python 3.12.4", "php 8.3.6", "dueq work" or "c". */
    dueq_bytes program;
    dueq_bytes version; /* the version of dueq */
    int64_t slots;      /* how many messages the consumer works on at a time; 0: not known */
    int64_t since_ms;   /* when the consumer was opened */
    int64_t seen_ms;    /* when the consumer last registered */
    int64_t until_ms;   /* when the consumer becomes offline, unless it registers again */
    int64_t now_ms;     /* the server's clock when it answered */
    /*
     * Whether the consumer has not registered for about a minute, or longer if it has more than 16
     * queues: its process was killed, or is cut off. It stays in the list for an hour.
     */
    int offline;
    /*
     * How many messages of this queue were leased to the consumer when it registered, with
     * prefetched ones.
     */
    int64_t leased;
    int64_t running; /* how many of the leased messages the program was working on */
    /*
     * Whether the consumer was stopped: it takes no new message, and ends when its messages are
     * settled. An offline consumer that was stopped did not end in time: for example, a deploy
     * killed it. An offline consumer that was not stopped crashed, or is cut off.
     */
    int stopping;
    /*
     * The messages that the consumer had had for at least a second, in the order of their
     * deliveries; at most 100.
     */
    const void *leases;
    size_t lease_count;
    /* The names of the tasks that its program knows, each in a line; empty: it does not say. */
    dueq_bytes tasks;
    /* The end of what was made. */
} dueq_worker;

/* One of `leases`. index: 0 to lease_count - 1; else NULL is returned. */
DUEQ_API const dueq_lease *dueq_worker_lease(const dueq_worker *worker, size_t index);

/* A group of messages, as dueq_groups() shows it. All pointers live as long as the result. */
typedef struct dueq_group {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_group. */
    dueq_bytes name; /* the name of the group; Size 0: these are all messages without a group */
    /*
     * How many of its messages wait to be delivered. Cancelled ones count until their turn comes,
     * and delayed ones when they are due.
     */
    int64_t waiting;
    /*
     * When the message that is the group's next was pushed, by the producer's clock. 0: no message
     * waits.
     */
    int64_t oldest_ms;
    /*
     * How many of its messages are leased. -1: not known, as more than 1,000 messages of the queue
     * are leased.
     */
    int64_t leased;
    /*
     * About how many of its messages were delivered in the last minute. -1: not known, as the queue
     * has not had limits of groups for a minute, or more than 10,000 groups had deliveries.
     */
    int64_t served_per_minute;
    int64_t now_ms; /* the server's clock when it answered */
    /*
     * What keeps its messages waiting: concurrency or rate, its limits; order or hold; empty:
     * nothing does.
     */
    dueq_bytes at_limit;
    int64_t held_until_ms; /* until when the group is held; 0: it is not */
    /*
     * If its order keeps its messages waiting: the id of the message that must end before the next
     * one begins. Size 0: there is none, or it is not known.
     */
    dueq_bytes holder;
    /* The end of what was made. */
} dueq_group;

/*
 * A batch, as dueq_find_batch() and dueq_batches() show it. All pointers live as long as the
 * result.
 */
typedef struct dueq_batch {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_batch. */
    dueq_bytes id; /* the id of the batch */
    /*
     * open: it takes members; closed: only its members add members; ended: all members have ended.
     */
    dueq_bytes state;
    int64_t pushed; /* how many members it has */
    int64_t acked;  /* how many of the members were acknowledged */
    /* How many died: the attempts or crashes were used up, or a consumer buried them. */
    int64_t dead;
    int64_t cancelled; /* how many were cancelled, replaced, or refused by another queue */
    int64_t expired;   /* how many were not delivered in their time to live */
    int64_t purged;    /* how many were purged */
    int64_t left;      /* how many members have not ended */
    int64_t opened_ms; /* when it was opened */
    int64_t closes_ms; /* when an open batch closes by itself, or when it was closed */
    int64_t ended_ms;  /* when it ended; 0: it has not */
    int64_t now_ms;    /* the server's clock when it answered */
    /*
     * The id of the message that is pushed if all members are acknowledged. Only find_batch tells
     * the callbacks, and only until the batch has ended. Size 0: there is no such message.
     */
    dueq_bytes then_id;
    dueq_bytes then_queue; /* the queue that gets that message; Size 0: that of the batch */
    /*
     * The id of the message that is pushed when the first member dies. Size 0: there is no such
     * message.
     */
    dueq_bytes catch_id;
    dueq_bytes catch_queue; /* the queue that gets that message; Size 0: that of the batch */
    /*
     * The id of the message that is pushed when the batch ends. Size 0: there is no such message.
     */
    dueq_bytes finally_id;
    dueq_bytes finally_queue; /* the queue that gets that message; Size 0: that of the batch */
    /* The end of what was made. */
} dueq_batch;

/* The limits of one group of a dueq_bounds, as they were set. dueq_bounds_group() reads it. */
typedef struct dueq_group_limits {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_group_limits. */
    dueq_bytes name; /* the name of the group */
    /* How many of its messages may be leased at once. 0: the limit of each group. */
    int64_t concurrency;
    /* How many of its messages are delivered in a time; empty: the rate of each group. */
    dueq_bytes rate;
    int64_t burst; /* how many the rate allows at once after a pause; 0: the burst of each group */
    /* How many of its messages may wait before a push is refused. 0: the limit of each group. */
    int64_t backlog;
    int64_t weight; /* how many turns it gets for one turn of a group without a weight; 0: one */
    /* In which order its messages begin: fair, fifo or strict; empty: the queue's. */
    dueq_bytes order;
    /* The end of what was made. */
} dueq_group_limits;

/* The limits of a queue, as they were set. All pointers live as long as the result. */
typedef struct dueq_bounds {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_bounds. */
    int64_t concurrency; /* how many messages may be leased at once; 0: no limit */
    /* How many messages are delivered in a time, such as "1000/s"; empty: no limit. */
    char rate[256];
    /* How many the rate allows at once after a pause. 0: what the rate allows in 100 ms. */
    int64_t burst;
    /* How many messages of each group may be leased at once. 0: no limit. */
    int64_t each_group_concurrency;
    char each_group_rate[256]; /* how many of each group are delivered in a time; empty: no limit */
    /*
     * How many of each group its rate allows at once after a pause. 0: what the rate allows in 100
     * ms.
     */
    int64_t each_group_burst;
    /* How many messages of each group may wait before a push is refused. 0: no limit. */
    int64_t each_group_backlog;
    char order[256]; /* in which order messages of a group begin: fifo or strict; empty: fair */
    /* The groups that have limits of their own, by their names. */
    const void *groups;
    size_t group_count;
    /* The end of what was made. */
} dueq_bounds;

/* One of `groups`. index: 0 to group_count - 1; else NULL is returned. */
DUEQ_API const dueq_group_limits *dueq_bounds_group(const dueq_bounds *limits, size_t index);

/*
 * What a queue of another system has; the headers in interop/ say which systems. Start from
 * DUEQ_SIZES.
 */
typedef struct dueq_sizes {
    size_t struct_size;
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_sizes. */
    int64_t ready;   /* items in the list from which consumers take */
    int64_t delayed; /* items that are moved to that list when they are due */
    /* Jobs that were popped and are not finished; 0 where the system does not know that. */
    int64_t reserved;
    int64_t quarantined; /* damaged entries in the quarantine */
    int64_t next_ms;     /* the next due time; 0: nothing is delayed */
    int64_t now_ms;      /* the server's clock when it counted */
    /* The end of what was made. */
} dueq_sizes;

#define DUEQ_SIZES {.struct_size = sizeof(dueq_sizes)}

/* What a call did that moves due items of such a queue. Start from DUEQ_MOVED. */
typedef struct dueq_moved {
    size_t struct_size;
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_moved. */
    size_t moved;       /* how many items were moved */
    size_t quarantined; /* damaged entries that were quarantined */
    /*
     * The next due time by the server's clock. 0: nothing is delayed, or this step found nothing
     * due.
     */
    int64_t next_ms;
    /* The end of what was made. */
} dueq_moved;

#define DUEQ_MOVED {.struct_size = sizeof(dueq_moved)}

/* Which dead messages a call is about. Start from DUEQ_FILTER, which means all dead messages. */
typedef struct dueq_filter {
    size_t struct_size;
    dueq_bytes error; /* the message's error contains these bytes; size 0: any error */
    /* The message died at since_ms or later, and before until_ms; 0: no such limit. */
    int64_t since_ms, until_ms;
} dueq_filter;

#define DUEQ_FILTER {.struct_size = sizeof(dueq_filter)}

/*
 * What dueq_limit() sets. Start from DUEQ_LIMIT, which leaves all limits as they are, and set what
 * changes. Of each number: 1 to its maximum; 0: there is no such limit from now on;
 * DUEQ_UNCHANGED: it stays as it is. Of each rate: "N/s", "N/m" or "N/h", N from 1 to
 * DUEQ_MAX_LIMIT: how many messages are delivered in a second, minute or hour; "none": there is no
 * rate from now on, and no burst; size 0: it stays as it is.
 */
typedef struct dueq_limit_options {
    size_t struct_size;
    /* How many messages of the queue, or of `group`, may be leased at once, to DUEQ_MAX_LIMIT. */
    int64_t concurrency;
    /* How many messages of the queue, or of `group`, are delivered in a time. */
    dueq_bytes rate;
    /*
     * How many of them the rate allows at once after a pause, to DUEQ_MAX_LIMIT; 0: what it allows
     * in 100 ms, at least 1.
     */
    int64_t burst;
    /*
     * The group that the limits above and the three below are of; data NULL: they are the queue's.
     */
    dueq_bytes group;
    /* How many messages of `group` may wait before a push is refused, to DUEQ_MAX_LIMIT. */
    int64_t backlog;
    /* How many turns `group` gets for one of a group without a weight, to DUEQ_MAX_WEIGHT. */
    int64_t weight;
    /*
     * In which order messages of `group`, or of each group that has no order of its own, begin.
     * "fair": in the order of the line, several at once; "fifo": one at a time, and the retry of a
     * failed one waits aside; "strict": the next one when the one before has ended for good.
     * "none": `group` has the queue's order from now on. Size 0: it stays as it is.
     */
    dueq_bytes order;
    /* The same of each group that has no such limit of its own. Not together with `group`. */
    int64_t each_group_concurrency;
    dueq_bytes each_group_rate;
    int64_t each_group_burst;
    int64_t each_group_backlog;
    /* Not 0: first all limits are removed, of the queue and of all groups; or those of `group`. */
    int64_t clear;
} dueq_limit_options;

#define DUEQ_LIMIT                                                                                 \
    {.struct_size = sizeof(dueq_limit_options),                                                    \
     .concurrency = DUEQ_UNCHANGED,                                                                \
     .burst = DUEQ_UNCHANGED,                                                                      \
     .backlog = DUEQ_UNCHANGED,                                                                    \
     .weight = DUEQ_UNCHANGED,                                                                     \
     .each_group_concurrency = DUEQ_UNCHANGED,                                                     \
     .each_group_burst = DUEQ_UNCHANGED,                                                           \
     .each_group_backlog = DUEQ_UNCHANGED}

/*
 * How dueq_open_batch() opens a batch. Start from DUEQ_BATCH, and set what differs. A callback is a
 * message that the batch pushes to its own queue, or to the queue that the callback's member names.
 * A callback has no key, and replaces no message. If that queue has a message of its id, the batch
 * does not push the callback.
 */
typedef struct dueq_batch_options {
    size_t struct_size;
    dueq_bytes id; /* 1 to DUEQ_MAX_BATCH_ID bytes of UTF-8 without control characters */
    /* Pushed when the batch ends and all members were acknowledged; NULL: nothing is pushed. */
    const dueq_draft *then_job;
    /* Pushed when the first member dies. */
    const dueq_draft *catch_job;
    /* Pushed when the batch ends, however its members ended. */
    const dueq_draft *finally_job;
    /* The names of the queues that get the callbacks; size 0: the batch's own. */
    dueq_bytes then_queue, catch_queue, finally_queue;
    /* After this time the batch closes by itself: 1 to DUEQ_MAX_TIME_MS. */
    int64_t open_ms;
    /* For how long dueq_find_batch() finds the batch when it has ended: up to DUEQ_MAX_TIME_MS. */
    int64_t keep_ms;
} dueq_batch_options;

#define DUEQ_BATCH                                                                                 \
    {.struct_size = sizeof(dueq_batch_options),                                                    \
     .open_ms = INT64_C(86400000),                                                                 \
     .keep_ms = INT64_C(86400000)}

/* Results */

/*
 * The answer of a call: an item for each draft, ticket, id or delivered message, in their order.
 * The functions below read it, and give NULL, 0 or size 0 for results of other verbs. All pointers
 * live until dueq_result_free(). index: 0 to dueq_result_count() - 1.
 */
typedef struct dueq_result dueq_result;

/* The number of items. NULL: 0. */
DUEQ_API size_t dueq_result_count(const dueq_result *result);
/* The outcome of an item. */
DUEQ_API dueq_status dueq_result_status(const dueq_result *result, size_t index);
/* cancel: the state that the message was in; 0: not found. */
DUEQ_API dueq_state dueq_result_state(const dueq_result *result, size_t index);
/* push: the draft's id; queues and allow: a queue's name; lock: the owner's token. */
DUEQ_API dueq_bytes dueq_result_id(const dueq_result *result, size_t index);
/* ack_push, fire: the index of the first item that is a pushed message. */
DUEQ_API size_t dueq_result_first(const dueq_result *result);
/* push, ack_push, fire: how many replicas have the messages, if the call asked for durability. */
DUEQ_API int dueq_result_replicas(const dueq_result *result);
/* push, ack_push, fire: 1 if the messages are on the server's disk, by its own word; else 0. */
DUEQ_API int dueq_result_disk(const dueq_result *result);
/* reserve, find, peek */
DUEQ_API const dueq_message *dueq_result_message(const dueq_result *result, size_t index);
/* stats */
DUEQ_API const dueq_counts *dueq_result_counts(const dueq_result *result);
/* limits */
DUEQ_API const dueq_bounds *dueq_result_limits(const dueq_result *result);
/* rates */
DUEQ_API const dueq_rate *dueq_result_rate(const dueq_result *result, size_t index);
DUEQ_API const dueq_timings *dueq_result_timings(const dueq_result *result);
/* workers */
DUEQ_API const dueq_worker *dueq_result_worker(const dueq_result *result, size_t index);
/* groups */
DUEQ_API const dueq_group *dueq_result_group(const dueq_result *result, size_t index);
/* find_batch, batches */
DUEQ_API const dueq_batch *dueq_result_batch(const dueq_result *result, size_t index);
/* check: what all its steps found so far, an item for each kind. */
DUEQ_API const dueq_finding *dueq_result_finding(const dueq_result *result, size_t index);
/* size, of queues of other systems */
DUEQ_API const dueq_sizes *dueq_result_sizes(const dueq_result *result);
/* transfer, migrate, of queues of other systems */
DUEQ_API const dueq_moved *dueq_result_moved(const dueq_result *result);
/*
 * purge, purge_group, remove: messages that were deleted; cancel_batch: members that were
 * cancelled; check: entries that were read.
 */
DUEQ_API size_t dueq_result_purged(const dueq_result *result);
/* kick_all: messages that were made ready. */
DUEQ_API size_t dueq_result_kicked(const dueq_result *result);
/*
 * peek, failures, workers, groups, kick_all, purge_group, queues, check: the cursor of the next
 * page; size 0: no more.
 */
DUEQ_API dueq_bytes dueq_result_cursor(const dueq_result *result);
/* reserve_any: the index of the messages' queue in `queues`. */
DUEQ_API size_t dueq_result_queue(const dueq_result *result);
/* reserve: entries that were quarantined. */
DUEQ_API size_t dueq_result_quarantined(const dueq_result *result);
DUEQ_API void dueq_result_free(dueq_result *result);
#include "dueq_ends.h"     /* how a message ended */
#include "dueq_failures.h" /* what failed */

/* The verbs, blocking */

/*
 * For all verbs:
 * - The return value is DUEQ_OK if all items are OK; else a failure, or the first outcome of an
 *   item that is not.
 * - `result` may be NULL if the caller wants only the return value. *result is NULL on failure,
 *   except NOT_DURABLE and BACKLOG.
 * - The call ends at the client's timeout at the latest; a push may then still wait for the time of
 *   its durability. If the connection is lost, the client connects again within this time. If the
 *   request was already sent, the client asks the server for its answer; the request never runs
 *   twice.
 * - A call that waits (timeout_ms is not 0) survives outages. It ends at its timeout_ms: during an
 *   outage with CONNECT, CLOSED or TIMEOUT. If a request is then without an answer, it ends up to
 *   the client's timeout later. If this client has never reached the server, it fails as other
 *   calls do.
 * - DUEQ_INTERRUPTED: a signal came, and the call is still under way. Run the signal handlers. Then
 *   call dueq_wait() and dueq_take(), or dueq_abandon().
 * - Common errors: CONNECT, CLOSED, TIMEOUT, TLS, EMBEDDED, AUTH, DENIED, DATABASE, LOADING,
 *   READONLY, FULL, BUSY, WRONG_TYPE, UNSUPPORTED, SERVER, PROTOCOL, NO_MEMORY, IN_USE, INVALID,
 *   UNAVAILABLE.
 */

/* Which of several queues a reserve asks first. */
typedef enum dueq_order {
    DUEQ_PREFERENCE = 0, /* always the first of the array */
    /*
     * The next of the array in each call of the client, in turn. A queue that the array has several
     * times is the first as often.
     */
    DUEQ_ROUND_ROBIN = 1
} dueq_order;

/* How messages are reserved. Start from DUEQ_RESERVE, and set what differs. */
typedef struct dueq_reserve_options {
    size_t struct_size;
    /* Made from core/options.toml by core/verbs.py: the options of reserve. */
    /* The most messages of a call: 1 to DUEQ_MAX_BATCH. */
    size_t count;
    /* Which of several queues it asks first. */
    dueq_order order;
    /*
     * How long the call waits for the first message: 0 (not at all) to DUEQ_MAX_TIME_MS, or
     * DUEQ_FOREVER. It waits in one blocking command, without polling.
     */
    int64_t timeout_ms;
    /*
     * The lease of each message, up to UINT32_MAX; 0: the message's own, else
     * DUEQ_DEFAULT_LEASE_MS. When a lease ends, the next reserve may take the message. A crash is
     * then counted, and the message is delivered alone.
     */
    int64_t lease_ms;
    /* The end of what was made. */
} dueq_reserve_options;

/* Made from core/options.toml by core/verbs.py: the defaults of a reserve. */
#define DUEQ_RESERVE {.struct_size = sizeof(dueq_reserve_options), .count = 1}
/* The end of what was made. */

#include "dueq_verbs.h" /* made from core/verbs.toml */

/* Consumers: reserve, work, acknowledge, and again */

/*
 * A loop over messages that costs one round trip for each batch: one request settles the messages
 * that are done and reserves the next. Messages that are reserved but not delivered to the program
 * yet are prefetched.
 *
 * The heartbeat is a thread with a connection of its own. It extends the leases of the consumer's
 * messages, whatever the program does meanwhile. So leases can be short, and the messages of a
 * killed process soon go to other consumers. It also registers the consumer with its queues
 * (dueq_worker). It extends the lease of a message for max_run_ms after the message was delivered,
 * or reserved while it is prefetched. Then the lease ends.
 *
 * While a consumer is in use, nothing else may make calls by the client of its queues. Functions
 * that any thread may call say so.
 */
typedef struct dueq_consumer dueq_consumer;

/* Start from DUEQ_CONSUMER, and set what differs. */
typedef struct dueq_consumer_options {
    size_t struct_size;
    /* Made from core/options.toml by core/verbs.py: the options of consume. */
    /* How many messages it reserves at a time: 1 to DUEQ_MAX_BATCH. */
    size_t prefetch;
    /*
     * The lease of each message: up to UINT32_MAX, with a heartbeat at least 50. 0: the message's
     * own, else DUEQ_HEARTBEAT_LEASE_MS, or without a heartbeat DUEQ_DEFAULT_LEASE_MS.
     */
    int64_t lease_ms;
    /*
     * How long after a message's delivery the heartbeat extends its lease: up to DUEQ_MAX_TIME_MS;
     * 0: there is no heartbeat.
     */
    int64_t max_run_ms;
    /*
     * 0 to DUEQ_MAX_SLACK_MS. A message that falls due while the consumer waits is delivered up to
     * this much later: one request takes all messages that fell due meanwhile. No message comes
     * early, and a message that is pushed ready comes at once.
     */
    int64_t slack_ms;
    /* Which of several queues it asks first. */
    dueq_order order;
    /*
     * How many messages the program works on at a time. 1: if the program asks for a message while
     * one is not settled, dueq_warning() says so once, because a forgotten message stays leased.
     * More: it does so while more than this many are not settled. 0: no warning.
     */
    size_t concurrency;
    /*
     * How a dueq_worker names the program, as "python 3.12.4": UTF-8, cut at 100 bytes. NULL: "c".
     */
    const char *program;
    /* The slots of the dueq_worker; 0: the concurrency. */
    size_t slots;
    /*
     * The names of the tasks that the program knows, for its dueq_worker: each in a line, in at
     * most DUEQ_MAX_WORKER_TASKS bytes. Longer, or size 0: the dueq_worker does not say them.
     */
    dueq_bytes tasks;
    /* The end of what was made. */
} dueq_consumer_options;

/* Made from core/options.toml by core/verbs.py: the defaults of a consumer. */
#define DUEQ_CONSUMER                                                                              \
    {.struct_size = sizeof(dueq_consumer_options),                                                 \
     .prefetch = 1,                                                                                \
     .max_run_ms = DUEQ_MAX_RUN_MS,                                                                \
     .concurrency = 1}
/* The end of what was made. */

/*
 * Opens a consumer. Nothing is sent.
 * queues: queue_count handles (1 to DUEQ_MAX_QUEUES) of one client, which outlive the consumer.
 * *consumer belongs to the caller (dueq_consumer_close).
 * Errors: INVALID, NO_MEMORY; *consumer is then NULL.
 */
DUEQ_API dueq_status dueq_consumer_open(dueq_queue *const *queues, size_t queue_count,
                                        const dueq_consumer_options *options,
                                        dueq_consumer **consumer);

/*
 * Delivers the next message, and sends the acks that wait.
 * timeout_ms: how long it waits for a message, as of dueq_reserve().
 * *message:   valid until the next call of this function or of stop; NULL if there is none.
 * *queue:     the index of the message's queue in `queues`; of a queue with partitions the number
 *             of the partition. May be NULL.
 *
 * A prefetched message is not delivered if another consumer has taken it because its lease ended,
 * or if it was cancelled a quarter of a second ago or earlier. To know that, the consumer first
 * extends the leases of a batch, in one request, if the server's last word on them is that old.
 * Returns OK, EMPTY, or a failure. After a failure prefetched messages stay prefetched, and acks
 * that were not sent go with the next call. After INTERRUPTED, call it again or stop.
 */
DUEQ_API dueq_status dueq_consumer_next(dueq_consumer *consumer, int64_t timeout_ms,
                                        const dueq_message **message, size_t *queue);

/*
 * Acknowledges a message. If no message is prefetched, dueq_consumer_next() sends the ack at once,
 * with its next request. Else the heartbeat sends the ack within a quarter of a second; without a
 * heartbeat the next call of dueq_consumer_next() sends it. dueq_consumer_lost() counts acks that
 * found the lease lost.
 * Errors: INVALID, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_consumer_ack(dueq_consumer *consumer, dueq_bytes ticket);

/*
 * Retries a message, as dueq_retry(), with the next request of dueq_consumer_next().
 * Errors: INVALID, NO_MEMORY; IN_USE: another retry waits for that request.
 */
DUEQ_API dueq_status dueq_consumer_retry(dueq_consumer *consumer, dueq_bytes ticket,
                                         int64_t delay_ms, dueq_bytes error);

/*
 * Call it when the program has settled a message by another call, or has tried to: the heartbeat
 * stops extending the lease. After a call whose outcome is not known, do not call
 * dueq_consumer_ack(): it could lose the message. If that call had no effect, the message is
 * delivered again when its lease ends. Any thread may call it.
 */
DUEQ_API void dueq_consumer_forget(dueq_consumer *consumer, dueq_bytes ticket);

/*
 * Sends the acks that wait, and releases prefetched messages, which counts no attempt. A request
 * under way, such as that of an interrupted next, ends soon. The consumer can be used again
 * afterwards.
 * Returns OK: all acks are settled, also those that the heartbeat was sending. After a failure the
 * remaining messages come back when their leases end. Each request ends at the client's timeout at
 * the latest.
 */
DUEQ_API dueq_status dueq_consumer_stop(dueq_consumer *consumer);

/*
 * Call it before the last stop, when the program no longer works on messages that were delivered
 * but not settled: from now on a stop releases these too, which counts no attempt.
 */
DUEQ_API void dueq_consumer_disown(dueq_consumer *consumer);

/*
 * For a program that ends while it works on a message. The heartbeat stops extending leases, tells
 * the queues that the consumer has left, and ends. This function does not wait for it: call it
 * again until it returns 1. That takes some round trips, or half a second if the server does not
 * answer. Afterwards the consumer can only be closed. Any thread may call it.
 * Returns 1 if the heartbeat has ended, or if there is none; else 0.
 */
DUEQ_API int dueq_consumer_leave(dueq_consumer *consumer);

/*
 * Call it when the program takes no further message, and ends when it has settled the running ones.
 * The heartbeat tells the queues so (dueq_worker.stopping). A consumer whose process is killed
 * after that counts as stopped, not as crashed. Any thread may call it.
 */
DUEQ_API void dueq_consumer_wind_down(dueq_consumer *consumer);

/*
 * Returns how many messages of the consumer were lost so far: another consumer had taken them, or
 * they had been cancelled, before this one delivered or acknowledged them.
 */
DUEQ_API size_t dueq_consumer_lost(const dueq_consumer *consumer);

/*
 * Returns 1 if a delivered message that is not settled yet was cancelled, or if another consumer
 * has taken it, as soon as the heartbeat knows; else 0. Any thread may call it.
 */
DUEQ_API int dueq_consumer_has_lost(dueq_consumer *consumer, dueq_bytes ticket);

/*
 * Call it when an ack of a message by another client than the consumer's has failed with `failure`.
 * If the failure is retriable, the consumer keeps the ack and the lease, and its heartbeat or its
 * next request sends the ack when the server is back. Any thread may call it.
 * Returns 1: the ack is kept, and the program must not settle the message again. 0: it is not kept.
 */
DUEQ_API int dueq_consumer_keep_ack(dueq_consumer *consumer, dueq_bytes ticket,
                                    dueq_status failure);

enum { DUEQ_MAX_WARNING = 640 };

/*
 * Takes the next warning for the operator that came while the program made no call: the heartbeat
 * found the server away, or back; a message was lost; a stop could not send an ack. See
 * dueq_warning().
 * text: receives the warning, with a NUL.
 * Returns 1, or 0: there is none. Any thread may call it.
 */
DUEQ_API int dueq_consumer_warning(dueq_consumer *consumer, char text[DUEQ_MAX_WARNING]);

/*
 * Sets a function that the consumer calls when it has a new warning, or when a message is lost.
 * Call this before the first request.
 * wake:    mostly runs in the heartbeat's thread, with a lock held. It may set a flag or write to a
 *          pipe, but must not call dueq.
 * context: the argument of `wake`; must live as long as the consumer.
 */
DUEQ_API void dueq_consumer_on_warning(dueq_consumer *consumer, void (*wake)(void *context),
                                       void *context);

/*
 * Ends the heartbeat and frees the consumer. Stop the consumer first; else its messages come back
 * only when their leases end.
 */
DUEQ_API void dueq_consumer_close(dueq_consumer *consumer);

/*
 * next and stop without blocking. submit returns OK: a message is prefetched; PENDING: wait for the
 * client's call (dueq_wait(), or dueq_pump() until it does not return PENDING); or a failure. After
 * OK, and when the call is final, call take. If take returns PENDING, another request was
 * submitted: wait and take again. stop_submit and stop_take do the same.
 */
DUEQ_API dueq_status dueq_consumer_submit(dueq_consumer *consumer, int64_t timeout_ms);
DUEQ_API dueq_status dueq_consumer_take(dueq_consumer *consumer, const dueq_message **message,
                                        size_t *queue);
DUEQ_API dueq_status dueq_consumer_stop_submit(dueq_consumer *consumer);
DUEQ_API dueq_status dueq_consumer_stop_take(dueq_consumer *consumer);

/* Pushers: many pushes in flight */

/*
 * Pushes without a wait for each answer. Pushes are sent in their order, in batches: while one
 * batch is under way, the pusher gathers the next. No push is stored twice or out of order. Each
 * has an outcome of its own, also after a lost connection. While a pusher is in use, nothing else
 * may make calls by the client of its queue.
 */
typedef struct dueq_pusher dueq_pusher;

/*
 * Opens a pusher. Nothing is sent.
 * most: how many pushes may be under way or gathered; 0: DUEQ_MAX_PUSHES.
 * *pusher belongs to the caller, who closes it by dueq_pusher_close() before the queue.
 * Errors: NO_MEMORY; *pusher is then NULL.
 */
DUEQ_API dueq_status dueq_pusher_open(dueq_queue *queue, size_t most, dueq_pusher **pusher);

/*
 * Pushes a copy of the draft.
 * Returns OK: the pusher has it; PENDING: `most` pushes are under way or gathered: wait for the
 * client's call (dueq_wait), call dueq_pusher_done(), and push again; or a failure of this draft
 * (INVALID, TOO_LARGE ...).
 */
DUEQ_API dueq_status dueq_pusher_push(dueq_pusher *pusher, const dueq_draft *draft);

/*
 * Continues the work without blocking. Returns how many of the oldest pushes are done; 0: none now.
 * *status: OK, or the failure that all these pushes met, which dueq_error_text() explains.
 * *result: on OK and NOT_DURABLE an item for each of the pushes, OK or DUPLICATE, with its id; the
 *          caller frees it. Else NULL.
 */
DUEQ_API size_t dueq_pusher_done(dueq_pusher *pusher, dueq_status *status, dueq_result **result);

/* Returns how many pushes the pusher has that dueq_pusher_done() has not returned yet. */
DUEQ_API size_t dueq_pusher_left(const dueq_pusher *pusher);

/*
 * Frees the pusher. Wait for all pushes before: gathered ones are dropped, and those under way may
 * still take effect.
 */
DUEQ_API void dueq_pusher_close(dueq_pusher *pusher);

/* Schedules */

/*
 * Finds the first time of a schedule after after_ms. Needs no client.
 * expression: as in dueq_plan.
 * zone:       read from the machine's time zone database ($TZDIR, /usr/share/zoneinfo), or from
 *             that of dueq_set_fallbacks(); size 0: UTC.
 * *next_ms:   the time; DUEQ_MAX_TIME_MS: there is none.
 * problem:    receives why the call failed, or "", with a NUL; 200 bytes are enough.
 * room:       bytes of `problem`.
 * Errors: INVALID.
 */
DUEQ_API dueq_status dueq_schedule_next(dueq_bytes expression, dueq_bytes zone, int64_t after_ms,
                                        int64_t *next_ms, char *problem, size_t room);

/* Returns 1 if the message is that of a schedule, for dueq_fire(); 0: it is a job. */
DUEQ_API int dueq_is_schedule(const dueq_message *message);

/*
 * Submits a push of the schedule's job, due now. The times of the schedule stay.
 * message: that of the schedule, of reserve or of find.
 */
DUEQ_API dueq_status dueq_schedule_run_submit(dueq_queue *queue, const dueq_message *message);

/* Ids */

/*
 * Makes an id, as push does for a draft without one: 128 bits, of which 48 are the milliseconds
 * since 1970, and the others are random but rise within a millisecond. They are written as 22
 * base-62 digits (0-9A-Za-z), so that ids sort by time.
 * buffer: receives the id with a NUL: at least 23 bytes.
 */
DUEQ_API void dueq_new_id(dueq_client *client, char *buffer);

/* The same without blocking: submit, pump, take */

/*
 * A client has one call at a time. Each dueq_VERB_submit() takes the arguments of its verb, copies
 * what it needs, and returns DUEQ_PENDING or a failure (IN_USE: a call is under way). Then repeat
 *     dueq_poll_set() -> poll (or any event loop) -> dueq_pump()
 * until dueq_pump() returns another status than PENDING. Then call dueq_take() once, also after a
 * failure.
 *
 * No function here blocks. A thread resolves a host name, one for each server at a time. It
 * ends by itself, also when the call has ended before. An embedded server starts while the call is
 * pumped. Only files are read in place: certificates, and those of an embedded server's directory.
 */

/*
 * Continues the call without blocking.
 * Returns PENDING while the call is under way; else its final status, that of the blocking verb,
 * until dueq_take().
 */
DUEQ_API dueq_status dueq_pump(dueq_client *client);

/*
 * Says what to wait for before the next dueq_pump().
 * set:         receives the descriptors and their events.
 * *timeout_ms: how long to wait at most; -1: no limit; 0: pump at once.
 * Returns the number of descriptors, 0 to DUEQ_MAX_SOCKETS.
 */
DUEQ_API size_t dueq_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                              int *timeout_ms);

/*
 * For event loops: one descriptor, which is readable when dueq_pump() has something to do, also
 * when a time has come. Call this after each submit; dueq_pump() keeps the descriptor up to date.
 * The client owns it, and it stays the same until dueq_close(). Only a child after fork() gets
 * another.
 * Returns -1 if the process is out of descriptors.
 */
DUEQ_API int dueq_descriptor(dueq_client *client);

/*
 * Ends the wait of a call as if its timeout had come. The call then ends soon, with the messages
 * that it has, or with EMPTY. Unlike after dueq_abandon(), no message stays leased without a
 * consumer that knows of it. Without a waiting call it does nothing.
 */
DUEQ_API void dueq_stop_wait(dueq_client *client);

/*
 * Pumps and polls until the call is final, the time is up, or a signal came.
 * at_most_ms: how long; -1: no limit.
 * Returns the final status; PENDING: the time is up; or INTERRUPTED.
 */
DUEQ_API dueq_status dueq_wait(dueq_client *client, int64_t at_most_ms);

/*
 * Ends a final call, and returns its status; PENDING: the call is still under way.
 * *result: the result, which the caller frees. NULL on failure, except NOT_DURABLE and BACKLOG, and
 *          if the verb has no result. `result` may be NULL.
 */
DUEQ_API dueq_status dueq_take(dueq_client *client, dueq_result **result);

/*
 * Gives up the call under way. The client can make another call at once. The request that was sent
 * may still take effect: messages that an abandoned reserve took come back when their leases end.
 */
DUEQ_API void dueq_abandon(dueq_client *client);

#ifdef __cplusplus
}
#endif

#endif
