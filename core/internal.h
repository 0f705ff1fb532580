/*
 * The private map of the core, grouped by the stages a call passes:
 * operation (push.c, lease.c, manage.c, verb.c) -> call (call.c, wait.c, command.c) -> script (script.c) -> connection (conn.c, tls.c)
 * -> reply (reply.c) -> result (result.c). Calls go down, never up.
 */
#ifndef DUEQ_INTERNAL_H
#define DUEQ_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "dueq.h"

/* ---- status.c: what went wrong, in words ------------------------------------------------------- */

struct dueq__error {
    dueq_status status;
    char text[512]; /* never empty when status < 0 */
};

/* Notes a failure and returns its status. A NULL format uses the status's own sentence. */
dueq_status dueq__fail(struct dueq__error *error, dueq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- clock.c ----------------------------------------------------------------------------------- */

int64_t dueq__monotonic_ms(void);
int64_t dueq__wall_ms(void);
#define DUEQ__NEVER INT64_MAX

/* ---- id.c: ids and stamps, ordered by time ----------------------------------------------------- */

#define DUEQ__ID_SIZE 22    /* base-62 digits of 128 bits */
#define DUEQ__STAMP_SIZE 10 /* base-62 digits of 45 bits of milliseconds and 14 bits of order */

struct dueq__id_source {
    int64_t last_ms;
    uint64_t high, low; /* the last id */
    uint64_t last_stamp;
};

void dueq__id_random(void *buffer, size_t size);
void dueq__id_next(struct dueq__id_source *source, char out[DUEQ__ID_SIZE]);
void dueq__stamp_next(struct dueq__id_source *source, char out[DUEQ__STAMP_SIZE]);
/* The milliseconds in an id or a stamp; -1 if it is neither. */
int64_t dueq__id_time(const char *id, size_t size);

/* ---- url.c ------------------------------------------------------------------------------------- */

enum dueq__transport { DUEQ__TCP, DUEQ__TLS, DUEQ__UNIX, DUEQ__EMBEDDED };

struct dueq__url {
    enum dueq__transport transport;
    char *host;                              /* TCP, TLS; an IPv6 address without its brackets */
    char *path;                              /* UNIX: the socket; EMBEDDED: the directory */
    char *user, *password, *ca, *cert, *key; /* NULL where not given */
    char *shown;                             /* the URL without its password */
    int port;
    int db;
    int64_t timeout_ms;
};

dueq_status dueq__url_parse(struct dueq__url *url, const char *text, struct dueq__error *error);
void dueq__url_clear(struct dueq__url *url);
/* The URL that dueq_open(NULL) uses: $DUEQ_URL or the default embedded server. Caller frees. */
char *dueq__url_default(void);

/* ---- keys.c ------------------------------------------------------------------------------------ */

enum dueq__key {
    DUEQ__KEY_MSG,
    DUEQ__KEY_READY,
    DUEQ__KEY_DELAYED,
    DUEQ__KEY_LEASED,
    DUEQ__KEY_DEAD,
    DUEQ__KEY_WAKE,
    DUEQ__KEY_INFO,
    DUEQ__KEY_PAST,
    DUEQ__KEY_BAD,
    DUEQ__KEY_CALLS, /* followed by the hour: see call.c */
    DUEQ__KEY_COUNT
};

extern const char *const dueq__key_suffix[DUEQ__KEY_COUNT];
dueq_status dueq__name_check(const void *name, size_t size, struct dueq__error *error);
dueq_status dueq__id_check(dueq_bytes id, struct dueq__error *error);
/* Is it well-formed UTF-8, with or without control characters? */
bool dueq__utf8(const void *data, size_t size, bool control);
/* Fills keys[] with one allocation (keys[0].data) of all the queue's keys; false: out of memory. */
bool dueq__keys_make(dueq_bytes keys[DUEQ__KEY_COUNT], const void *name, size_t size);

/* ---- message.c: the envelope and the ticket ---------------------------------------------------- */

#define DUEQ__ENVELOPE_VERSION 0xD1
enum {                       /* flags of the envelope; docs/protocol.md has the layout */
       DUEQ__FLAG_STAMP = 1, /* the id was given: a stamp tells this push from an earlier one */
       DUEQ__FLAG_LEASE = 2,
       DUEQ__FLAG_HEADERS = 4
};
#define DUEQ__ENVELOPE_FIXED 4

struct dueq__ticket {
    uint32_t before;  /* deliveries that ended before this one */
    dueq_bytes stamp; /* empty for an id that the core made */
    dueq_bytes id;
};

dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error);
/* The size of a draft's envelope; checks the draft. stamp: NULL for an id that the core made. */
dueq_status dueq__envelope_size(const dueq_draft *draft, const char *stamp, size_t *size,
                                struct dueq__error *error);
void dueq__envelope_write(const dueq_draft *draft, const char *stamp, unsigned char *out);
/*
 * Reads an envelope into message (body, max_attempts, created_ms; headers when `headers` has room).
 * The number of headers comes back in message->header_count. False: damaged.
 */
bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room);
bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket);

/* ---- embedded.c: a private server for a directory ---------------------------------------------- */

struct dueq__embedded;

/*
 * Makes the handle for a directory; nothing is started. NULL: out of memory.
 * It belongs to one client; dueq__embedded_free() drops its share, and the server ends soon after the
 * last share in any process is gone. After fork() the child's copy is closed with its client and does
 * not end the parent's share.
 */
struct dueq__embedded *dueq__embedded_new(const char *directory);
void dueq__embedded_free(struct dueq__embedded *embedded);

/*
 * Sees to it that the directory's server runs and answers, and starts it if need be. Blocks, until
 * deadline_ms (dueq__monotonic_ms) at most. Called before each connect.
 */
dueq_status dueq__embedded_ensure(struct dueq__embedded *embedded, int64_t deadline_ms,
                                  struct dueq__error *error);
/* The socket's path after a successful ensure; NULL before. */
const char *dueq__embedded_path(const struct dueq__embedded *embedded);

/* ---- script.c ---------------------------------------------------------------------------------- */

struct dueq__script {
    const char *name;
    const char *sha1; /* 40 hexadecimal digits */
    const char *source;
    size_t size;
    size_t key_count;
    unsigned char keys[DUEQ__KEY_COUNT]; /* enum dueq__key, in the order of KEYS */
};

extern const struct dueq__script dueq__script_push, dueq__script_reserve, dueq__script_ack,
    dueq__script_retry, dueq__script_extend, dueq__script_bury, dueq__script_cancel,
    dueq__script_find, dueq__script_stats, dueq__script_recall, dueq__script_kick,
    dueq__script_reschedule, dueq__script_pause, dueq__script_resume, dueq__script_purge;

static inline dueq_bytes dueq__text(const char *text) { return (dueq_bytes){text, strlen(text)}; }

/* A command's words while they are put together. A failed allocation is remembered and told by send. */
struct dueq__words {
    const char **data;
    size_t *sizes;
    size_t count, room;
    struct dueq__number *numbers;
    bool failed;
};

struct dueq__number { /* a word of the list's own */
    struct dueq__number *next;
    char text[];
};

void dueq__words_init(struct dueq__words *words);
void dueq__words_bytes(struct dueq__words *words, const void *data, size_t size); /* borrowed */
void dueq__words_text(struct dueq__words *words, const char *text);               /* borrowed */
void dueq__words_number(struct dueq__words *words, int64_t number);               /* copied */
void dueq__words_free(struct dueq__words *words);
/* EVALSHA of a script on a queue's keys; the arguments follow. `calls` is the key of the hour. */
void dueq__script_words(struct dueq__words *words, const struct dueq__script *script,
                        const dueq_bytes keys[DUEQ__KEY_COUNT], dueq_bytes calls);

/* ---- tls.c: a filter between the socket's bytes and the protocol's ------------------------------ */

struct dueq__tls;

struct dueq__tls *dueq__tls_new(const struct dueq__url *url, struct dueq__error *error);
void dueq__tls_free(struct dueq__tls *tls);
/* Goes on with the handshake: 1 done, 0 wants more bytes, -1 failed (error is set). */
int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error);
bool dueq__tls_feed(struct dueq__tls *tls, const void *data,
                    size_t size);                                        /* bytes from the socket */
ssize_t dueq__tls_drain(struct dueq__tls *tls, void *data, size_t size); /* bytes for the socket */
ssize_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size);  /* plain; 0 none, -1 bad */
bool dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size); /* plain */

/* ---- conn.c ------------------------------------------------------------------------------------ */

enum dueq__conn_state {
    DUEQ__CONN_CLOSED,
    DUEQ__CONN_CONNECTING,
    DUEQ__CONN_TLS,
    DUEQ__CONN_LOGIN,
    DUEQ__CONN_READY
};

struct dueq__reply; /* a redisReply; reply.c alone looks inside */
struct dueq__conn;

/* url and name (shown by CLIENT LIST) are borrowed for its life. */
struct dueq__conn *dueq__conn_new(const struct dueq__url *url, const char *name);
void dueq__conn_free(struct dueq__conn *conn);
/* Begins to connect and log in. path: the socket where the URL does not say it (embedded), else NULL. */
void dueq__conn_start(struct dueq__conn *conn, const char *path);
void dueq__conn_close(struct dueq__conn *conn);
/* Reads, writes and moves the login on as far as that goes without blocking. */
void dueq__conn_pump(struct dueq__conn *conn);
enum dueq__conn_state dueq__conn_state(const struct dueq__conn *conn);
/* Why the connection closed. */
const struct dueq__error *dueq__conn_error(const struct dueq__conn *conn);
/* The server's number of this connection or, after it closed, of the one before; 0: not known. */
int64_t dueq__conn_id(const struct dueq__conn *conn);
/* Can a later connection recognise it, by number and name, in the server's list? */
bool dueq__conn_named(const struct dueq__conn *conn);
/* Queues a command in the out buffer; false: out of memory. */
bool dueq__conn_send(struct dueq__conn *conn, const struct dueq__words *words);
/* The command as bytes on the wire, for dueq__conn_send_raw; NULL: out of memory. Free with free(). */
char *dueq__conn_format(const struct dueq__words *words, size_t *size);
bool dueq__conn_send_raw(struct dueq__conn *conn, const void *data, size_t size);
/* The next reply, which the caller owns; NULL: none yet. */
struct dueq__reply *dueq__conn_reply(struct dueq__conn *conn);
/* For poll(): the descriptor (-1: none) and the events wanted. */
int dueq__conn_fd(const struct dueq__conn *conn);
short dueq__conn_events(const struct dueq__conn *conn);

/* ---- reply.c ----------------------------------------------------------------------------------- */

void dueq__reply_free(struct dueq__reply *reply);
bool dueq__reply_is_error(const struct dueq__reply *reply);
bool dueq__reply_is_nil(const struct dueq__reply *reply);
/* The class of an error reply; fills error. */
dueq_status dueq__reply_error(const struct dueq__reply *reply, struct dueq__error *error);
bool dueq__reply_is_noscript(const struct dueq__reply *reply);
size_t dueq__reply_count(const struct dueq__reply *reply); /* of an array; else 0 */
bool dueq__reply_bytes(const struct dueq__reply *reply, dueq_bytes *bytes); /* a string */
bool dueq__reply_number(const struct dueq__reply *reply,
                        int64_t *number); /* an integer, or its text */
const struct dueq__reply *dueq__reply_item(const struct dueq__reply *reply, size_t index);

/* ---- result.c ---------------------------------------------------------------------------------- */

/* Each makes a result, or NULL with error set. */

/* One outcome a digit; ids: NULL, or the drafts' ids. */
dueq_result *dueq__result_outcomes(dueq_bytes digits, const dueq_bytes *ids,
                                   struct dueq__error *error);
/* From the answer of reserve.lua to a call with this lease. */
dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   struct dueq__error *error);
/* From the answer of find.lua. */
dueq_result *dueq__result_found(const struct dueq__reply *reply, dueq_bytes id,
                                struct dueq__error *error);
/* From the answer of stats.lua. */
dueq_result *dueq__result_counted(const struct dueq__reply *reply, struct dueq__error *error);
dueq_result *dueq__result_purged(size_t purged, struct dueq__error *error);
void dueq__result_add_damaged(dueq_result *result, size_t damaged);
/* DUEQ_OK when every item is, else the first other outcome. */
dueq_status dueq__result_summary(const dueq_result *result);

/* ---- call.c: one call from submit to take ------------------------------------------------------- */

/* What the next reply on the command connection answers. */
enum dueq__answer {
    DUEQ__ANSWER_CALL,
    DUEQ__ANSWER_LOAD,
    DUEQ__ANSWER_RECALL,
    DUEQ__ANSWER_LIST, /* is the old connection still open? */
    DUEQ__ANSWER_KILL,
    DUEQ__ANSWER_UNBLOCK, /* from here on: the call does not wait for it */
    DUEQ__ANSWER_REWAKE,
    DUEQ__ANSWER_PROBE
};
#define DUEQ__MAX_ANSWERS 16

enum dueq__phase {
    DUEQ__PHASE_NONE,
    DUEQ__PHASE_RUNNING, /* a script is to be run on the command connection */
    DUEQ__PHASE_WAITING, /* a reserve waits for a message */
    DUEQ__PHASE_LEAVING, /* a reserve has its answer and leaves its wait */
    DUEQ__PHASE_FINAL
};

/* A reserve's wait: wait.c. */
struct dueq__wait {
    size_t count;
    int64_t lease_ms;
    int64_t until_ms;   /* the caller's patience; 0: it does not wait */
    int64_t look_ms;    /* with a claim: when to look */
    int64_t probe_ms;   /* when to probe, or to give a probe up */
    int64_t unblock_ms; /* when to repeat CLIENT UNBLOCK */
    int64_t ahead_ms;   /* the server's clock less the monotonic one */
    unsigned probes;    /* sent in this wait */
    bool probing;       /* and one is under way */
    bool claim;         /* the script counts on this consumer to look at look_ms */
    bool torch;         /* holds a wake marker that no reserve has declared yet */
    bool blocked;       /* BZPOPMIN is under way on the waiting connection */
    bool unblocking;    /* and CLIENT UNBLOCK was sent for it */
    size_t damaged;
};

struct dueq__call {
    enum dueq__phase phase;
    dueq_queue *queue;
    const struct dueq__script *script;
    char *request; /* the command as sent; owned */
    size_t request_size;
    char *calls; /* the hour's key; owned */
    size_t calls_size;
    int64_t hour;
    uint64_t number; /* of this request in its session, for recall; 0: it changes nothing */
    bool changes;
    bool sent;     /* on the connection as it is */
    bool doubtful; /* sent on a connection that was lost before the answer came */
    bool unsure;   /* and that connection may still be read by the server */
    unsigned losses, loads;
    int64_t deadline_ms;
    int64_t retry_ms; /* not before this time */
    dueq_bytes *ids;  /* push: of the drafts, find: of the message; one allocation; owned */
    struct dueq__wait wait;
    dueq_status status;
    dueq_result *result;
    void (*decode)(dueq_client *client, const struct dueq__reply *reply);
};

struct dueq_client {
    struct dueq__url url;
    struct dueq__error error;
    pid_t pid;
    bool reached;    /* was connected before: a lost server is waited for, an absent one is not */
    bool no_unblock; /* the server does not permit CLIENT UNBLOCK: its own timeouts must serve */
    bool command_up, waiter_up; /* started, and not yet seen closed */
    unsigned failures;          /* to connect, in a row */
    int64_t stale_id; /* a lost connection that the server may still read a request from; 0: none */
    struct dueq__conn *command, *waiter;
    struct dueq__embedded *embedded;
    struct dueq__id_source ids;
    char session[DUEQ__ID_SIZE + 1];
    char name[DUEQ__ID_SIZE + 6]; /* of the connections: dueq-SESSION */
    uint64_t number;
    enum dueq__answer answers[DUEQ__MAX_ANSWERS];
    size_t answer_count;
    struct dueq__call call;
};

struct dueq_queue {
    dueq_client *client;
    dueq_bytes keys[DUEQ__KEY_COUNT];
    int64_t hour; /* whose `calls` key is known to expire */
};

/* client.c */
/* After fork() the child's client drops the parent's connections; call first in every public call. */
void dueq__client_check_fork(dueq_client *client);

/*
 * An operation: begin (IN_USE if a call is under way), words (what every request starts with), its own
 * words, submit. Submit frees the words and returns PENDING or a failure.
 */
dueq_status dueq__call_begin(dueq_queue *queue, const struct dueq__script *script, bool changes);
void dueq__call_words(dueq_client *client, struct dueq__words *words);
dueq_status dueq__call_submit(dueq_client *client, struct dueq__words *words);
/* Makes the call final. A status < 0 has its text in client->error already. */
dueq_status dueq__call_finish(dueq_client *client, dueq_status status);
bool dueq__call_under_way(const dueq_client *client);

/* ---- command.c: the command connection of a call ------------------------------------------------- */

/* Moves the call's requests and answers on as far as that goes without blocking. */
void dueq__command_pump(dueq_client *client);
/* Could it move on at once? (A wait may have made a request after the last pump.) */
bool dueq__command_ready(const dueq_client *client);
/* Is such an answer still to come? */
bool dueq__command_awaits(const dueq_client *client, enum dueq__answer answer);
/* Queues a command on the command connection; false: there is none. */
bool dueq__command_send(dueq_client *client, enum dueq__answer answer, const dueq_bytes *words,
                        size_t count);
/* Starts a connection; false: it cannot be, and the call is final. */
bool dueq__command_connect(dueq_client *client, struct dueq__conn *conn);
/* Sets when to try again after a failure. */
void dueq__command_back_off(dueq_client *client);
/* Is a lost connection's error one that trying again does not mend? */
bool dueq__command_hopeless(const dueq_client *client, dueq_status status);
/* Closes the command connection; the server may still read what was sent on it. */
void dueq__command_drop(dueq_client *client);

/* ---- verb.c: what the operations share ---------------------------------------------------------- */

/* Begins a call on `count` items, whose answer is a digit for each, and starts its words. */
dueq_status dueq__verb_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             struct dueq__words *words);
/* The same for ids, and submits it. */
dueq_status dueq__verb_ids(dueq_queue *queue, const struct dueq__script *script,
                           const dueq_bytes *ids, size_t count);
dueq_status dueq__verb_check_count(dueq_queue *queue, const void *items, size_t count);
dueq_status dueq__verb_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                                int64_t most);
/* The answer of a script that is not what it returns: fails the call. */
void dueq__verb_unexpected(dueq_client *client);
/* A due time as scripts take it: '0', '+ms' or '@ms'. */
#define DUEQ__DUE_SIZE 24
void dueq__verb_due(char out[DUEQ__DUE_SIZE], int64_t delay_ms, int64_t at_ms);
/* Waits for a submitted call and takes its result. */
dueq_status dueq__verb_run(dueq_queue *queue, dueq_status submitted, dueq_result **result);

/* ---- wait.c: a reserve, which may wait ----------------------------------------------------------- */

/* Sends the reserve's next request; stay: it goes on waiting when there is nothing. */
dueq_status dueq__wait_request(dueq_client *client, bool stay);
void dueq__wait_decode(dueq_client *client, const struct dueq__reply *reply);
void dueq__wait_pump(dueq_client *client);
void dueq__wait_unblocked(dueq_client *client, const struct dueq__reply *reply);
void dueq__wait_probed(dueq_client *client, const struct dueq__reply *reply);
/* The longest time until dueq__wait_pump() has something to do. */
int64_t dueq__wait_next_ms(const dueq_client *client);
/* Ends the block where the call failed. */
void dueq__wait_forget(dueq_client *client);
/* Gives a wait up: hands on what it may hold, as far as that goes without blocking. */
void dueq__wait_abandon(dueq_client *client);

#endif
