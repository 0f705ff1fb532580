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
 * - Inputs are borrowed for the call. A result belongs to the caller and is one allocation with all
 *   that it points to; free it with dueq_result_free(). Freeing NULL is safe everywhere.
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
    X(2, DUPLICATE, 0, "a living message has this id already")                                     \
    X(3, NOT_FOUND, 0, "no message has this id")                                                   \
    X(4, LEASE_LOST, 0, "the lease has ended: the message belongs to somebody else or is gone")    \
    X(5, BURIED, 0, "the attempts are used up: the message is dead")                               \
    X(6, PENDING, 1, "the call is still under way")                                                \
    X(7, INTERRUPTED, 1, "a signal came; the call is still under way")                             \
    X(-1, INVALID, 0, "an argument is out of its range")                                           \
    X(-2, NAME, 0, "not a valid queue name")                                                       \
    X(-3, URL, 0, "not a valid server URL")                                                        \
    X(-4, TOO_LARGE, 0, "larger than the protocol or the server accepts")                          \
    X(-5, NO_MEMORY, 1, "out of memory")                                                           \
    X(-6, IN_USE, 1, "this client has another call under way")                                     \
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
    X(-27, WRONG_TYPE, 0, "a key of this queue holds something else")                              \
    X(-28, CORRUPT, 0, "an entry of this queue is damaged")                                        \
    X(-29, UNSUPPORTED, 0, "this server cannot run dueq")                                          \
    X(-30, SERVER, 0, "the server refused the command")                                            \
    X(-31, PROTOCOL, 0, "what answered does not speak the Redis protocol as expected")

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
    DUEQ_MAX_NAME = 255,            /* a queue's name */
    DUEQ_MAX_ID = 255,              /* a message's id */
    DUEQ_MAX_HEADERS = 65535,       /* all headers of a message, encoded */
    DUEQ_MAX_HEADER_NAME = 255,     /* one header's name */
    DUEQ_MAX_ERROR = 4096,          /* what retry and bury keep of an error's text */
    DUEQ_MAX_BATCH = 1000,          /* items of one call */
    DUEQ_MAX_MAX_ATTEMPTS = 65535,  /* the largest max_attempts */
    DUEQ_DEFAULT_ATTEMPTS = 5,      /* max_attempts where the producer names none */
    DUEQ_DEFAULT_LEASE_MS = 30000,  /* a lease where neither message nor consumer names one */
    DUEQ_DEFAULT_TIMEOUT_MS = 10000 /* a call's deadline where the URL names none */
};
#define DUEQ_MAX_BODY                                                                              \
    ((size_t)512 * 1024 * 1024 - 128 * 1024)    /* Redis: a string has 512 MiB at most */
#define DUEQ_MAX_TIME_MS INT64_C(4102444800000) /* longest duration, latest time: 2100 */
#define DUEQ_FOREVER (-1)                       /* a reserve's timeout_ms: no end */

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
 *      embedded:DIR                                    a private server for the directory DIR
 *      NULL: $DUEQ_URL, and without it an embedded server in the user's state directory.
 *      Parameters (?name=value&...): timeout (a call's deadline: 500ms, 10s, 1m; a bare number is
 *      seconds), db, ca, cert, key (PEM files for rediss).
 *
 * *client is set on failure too, so that dueq_error_text() can be asked; it is NULL only when memory
 * is out. Close it with dueq_close().
 * Errors: URL, NO_MEMORY.
 */
DUEQ_API dueq_status dueq_open(const char *url, dueq_client **client);

/* Closes the connections and frees the client. Its queues must be closed first. NULL is safe. */
DUEQ_API void dueq_close(dueq_client *client);

/* What the last failed call of this client met, in words; "" if none failed. Valid until the next call. */
DUEQ_API const char *dueq_error_text(const dueq_client *client);

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

/* Frees the queue's handle; the queue in the server stays. NULL is safe. */
DUEQ_API void dueq_queue_close(dueq_queue *queue);

/* ---- Messages ---------------------------------------------------------------------------------- */

/* One header: UTF-8 text. The name has 1 to DUEQ_MAX_HEADER_NAME bytes. */
typedef struct dueq_header {
    dueq_bytes name;
    dueq_bytes value;
} dueq_header;

/* A message to push. Start from DUEQ_DRAFT, which holds the defaults, and set what differs. */
typedef struct dueq_draft {
    dueq_bytes body;       /* any bytes, also none */
    dueq_bytes id;         /* 1 to DUEQ_MAX_ID bytes of UTF-8 without control characters;
                                    size 0: the core makes one (22 characters, ordered by time) */
    int64_t delay_ms;      /* not before this long after the push; 0: now */
    int64_t at_ms;         /* not before this time of the server's clock; 0: use delay_ms */
    uint32_t max_attempts; /* deliveries before the message is dead; 0: without limit */
    int64_t lease_ms;      /* a delivery's lease where the consumer names none; 0: the default */
    const dueq_header *headers; /* may be NULL when header_count is 0 */
    size_t header_count;
} dueq_draft;

/* The defaults of a draft, to initialise one with. */
#define DUEQ_DRAFT {{0, 0}, {0, 0}, 0, 0, DUEQ_DEFAULT_ATTEMPTS, 0, 0, 0}

/* Where a message is in its life. */
typedef enum dueq_state {
    DUEQ_READY = 1,   /* waits for a consumer */
    DUEQ_DELAYED = 2, /* waits for its due time */
    DUEQ_LEASED = 3,  /* a consumer holds it */
    DUEQ_DEAD = 4     /* buried, or its attempts are used up, or damaged */
} dueq_state;

/* "ready", "delayed", "leased", "dead"; "unknown" for anything else. Static. */
DUEQ_API const char *dueq_state_name(dueq_state state);

/* A message as reserve and find return it. All pointers live as long as the result. */
typedef struct dueq_message {
    dueq_bytes id;
    dueq_bytes ticket; /* this delivery, for ack, retry, extend, bury; find: empty unless leased */
    dueq_bytes body;
    const dueq_header *headers; /* in the producer's order; NULL when there are none */
    size_t header_count;
    uint32_t attempt;      /* deliveries so far, this one included: 1 on the first */
    uint32_t max_attempts; /* 0: without limit */
    dueq_state state;
    int64_t time_ms;    /* by state: delayed: due, leased: end of lease, dead: when it died,
                                   ready: 0 */
    int64_t created_ms; /* when it was pushed, by the producer's clock */
    int64_t lease_ms;   /* the lease that the message asks for; 0: none of its own */
    int64_t now_ms;     /* the server's clock when it answered */
    dueq_bytes error;   /* find: the text of the last retry or bury; else empty */
} dueq_message;

/* What a queue holds, counted by the server in O(1). */
typedef struct dueq_counts {
    int64_t ready, delayed, leased, dead; /* messages in each state */
    int64_t acked, cancelled, purged;     /* messages that left this way since the queue exists */
    int64_t damaged;                      /* entries set aside as damaged since the queue exists */
    int64_t next_ms;                      /* the next due time or end of a lease; 0: none */
    int64_t now_ms;                       /* the server's clock */
    int64_t paused;                       /* 1: it hands nothing out, else 0 */
} dueq_counts;

/* ---- Results ----------------------------------------------------------------------------------- */

/*
 * What a call answered: one item for each draft, ticket, id or delivered message, in order.
 * All pointers obtained from a result live until dueq_result_free().
 */
typedef struct dueq_result dueq_result;

DUEQ_API size_t dueq_result_count(const dueq_result *result); /* NULL: 0 */
DUEQ_API dueq_status dueq_result_status(const dueq_result *result,
                                        size_t index); /* that item's outcome */
DUEQ_API dueq_bytes dueq_result_id(const dueq_result *result,
                                   size_t index); /* push: that draft's id */
DUEQ_API const dueq_message *dueq_result_message(const dueq_result *result,
                                                 size_t index); /* reserve, find; else NULL */
DUEQ_API const dueq_counts *dueq_result_counts(const dueq_result *result); /* stats; else NULL */
DUEQ_API size_t dueq_result_purged(const dueq_result *result);  /* purge: messages taken away */
DUEQ_API size_t dueq_result_damaged(const dueq_result *result); /* reserve: entries set aside */
DUEQ_API void dueq_result_free(dueq_result *result);

/* ---- The verbs, blocking ----------------------------------------------------------------------- */

/*
 * For all of them:
 * - The return value is DUEQ_OK when every item is, else the first outcome that is not, or a failure.
 * - `result` may be NULL where the caller wants the return value alone. *result is NULL on failure.
 * - The call ends at the client's timeout (reserve: after its own timeout_ms in addition) at the
 *   latest. A lost connection is made again within that time, and a call whose request was sent before
 *   it was lost is recalled by the server, never run twice.
 * - On DUEQ_INTERRUPTED a signal has come and the call goes on: run the handlers, then dueq_wait() and
 *   dueq_take(), or dueq_abandon().
 * - Common errors: CONNECT, CLOSED, TIMEOUT, TLS, EMBEDDED, AUTH, DENIED, DATABASE, LOADING, READONLY,
 *   FULL, BUSY, WRONG_TYPE, UNSUPPORTED, SERVER, PROTOCOL, NO_MEMORY, IN_USE, INVALID.
 */

/*
 * Stores messages, all of a call in one step: READY, or DELAYED until they are due.
 * count: 1 to DUEQ_MAX_BATCH. Items: OK, or DUPLICATE when a living message has that id.
 * Errors: TOO_LARGE. Nothing is stored on failure, but for CLOSED and TIMEOUT, which do not know:
 * push again with the same id then.
 */
DUEQ_API dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                               dueq_result **result);

/*
 * Takes up to `count` (1 to DUEQ_MAX_BATCH) ready messages under a lease of lease_ms each (0: the
 * message's own, else DUEQ_DEFAULT_LEASE_MS). With none ready it waits up to timeout_ms (0: not at
 * all, DUEQ_FOREVER: without end) for the first, in one blocking command, without polling.
 * Returns EMPTY after the wait. A message whose lease ends comes back READY.
 */
DUEQ_API dueq_status dueq_reserve(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                  int64_t lease_ms, dueq_result **result);

/* Finishes messages: they are gone. Items: OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                              dueq_result **result);

/*
 * Gives a message back to be delivered again in delay_ms (0: now). `error` (may be empty; cut at
 * DUEQ_MAX_ERROR bytes) is kept with it.
 * Returns OK, BURIED when its attempts are used up and it is dead now, or LEASE_LOST.
 */
DUEQ_API dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                dueq_bytes error);

/* Sets the end of a lease to lease_ms (1 or more) from now. Returns OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_extend(dueq_queue *queue, dueq_bytes ticket, int64_t lease_ms);

/* Sets a message aside as DEAD, with a reason (as `error` of retry). Returns OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);

/*
 * Takes messages back from whatever state they are in. The holder of a leased one learns it by
 * LEASE_LOST. Items: OK or NOT_FOUND.
 */
DUEQ_API dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                                 dueq_result **result);

/* Looks a message up by its id, in any state, without touching it. Returns OK or NOT_FOUND. */
DUEQ_API dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result);

/*
 * Gives dead messages back to be delivered at once, with as many attempts again as they had.
 * Items: OK, or NOT_FOUND when there is no dead message of that id.
 */
DUEQ_API dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                               dueq_result **result);

/*
 * Gives a delayed message another due time: in delay_ms, or at at_ms where that is not 0 (as in a
 * draft); both 0: now. Returns OK, or NOT_FOUND when there is no delayed message of that id.
 */
DUEQ_API dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                     int64_t at_ms);

/*
 * A paused queue hands nothing out until it is resumed, and no wait ends by a message; all other verbs
 * work as ever. Waiting consumers wake when it is resumed. Both return OK also where nothing changes.
 */
DUEQ_API dueq_status dueq_pause(dueq_queue *queue);
DUEQ_API dueq_status dueq_resume(dueq_queue *queue);

/*
 * Takes up to `most` (1 to DUEQ_MAX_BATCH) messages of one state away for good, in one bounded step;
 * *purged (may be NULL) counts them. The holder of a leased one learns it by LEASE_LOST.
 * Returns OK when there may be more of that state, EMPTY when there are none: call again until then.
 */
DUEQ_API dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t most, size_t *purged);

/* Counts the queue. Never creates it. */
DUEQ_API dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts);

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
 * getaddrinfo() and the start of an embedded server are the two steps that may block.
 */
DUEQ_API dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count);
DUEQ_API dueq_status dueq_reserve_submit(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                         int64_t lease_ms);
DUEQ_API dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count);
DUEQ_API dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                                       dueq_bytes error);
DUEQ_API dueq_status dueq_extend_submit(dueq_queue *queue, dueq_bytes ticket, int64_t lease_ms);
DUEQ_API dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason);
DUEQ_API dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);
DUEQ_API dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id);
DUEQ_API dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count);
DUEQ_API dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                            int64_t at_ms);
DUEQ_API dueq_status dueq_pause_submit(dueq_queue *queue);
DUEQ_API dueq_status dueq_resume_submit(dueq_queue *queue);
DUEQ_API dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t most);
DUEQ_API dueq_status dueq_stats_submit(dueq_queue *queue);

/*
 * Moves the call on as far as it goes without blocking. Returns PENDING while it is under way, else
 * its final status (as the blocking verb's), which stays until dueq_take().
 */
DUEQ_API dueq_status dueq_pump(dueq_client *client);

/*
 * What to wait for before the next dueq_pump(): fills up to two descriptors with the events wanted,
 * returns how many, and sets *timeout_ms to the longest wait (-1: no limit; 0: pump at once).
 */
DUEQ_API size_t dueq_poll_set(dueq_client *client, struct pollfd set[2], int *timeout_ms);

/*
 * Pumps and polls until the call is final, `at_most_ms` have passed (-1: no limit) or a signal came.
 * Returns the final status, PENDING when the time is up, or INTERRUPTED.
 */
DUEQ_API dueq_status dueq_wait(dueq_client *client, int64_t at_most_ms);

/*
 * Ends a final call: returns its status and hands its result over in *result (NULL on failure, and
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
