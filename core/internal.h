/*
 * The private map of the core, grouped by the stages a call passes:
 * loop/ -> queue/ -> request/ -> net/, embedded/ -> base/. Calls go down, never up.
 */
#ifndef DUEQ_INTERNAL_H
#define DUEQ_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "dueq.h"

/* ---- status.c: what went wrong, in words ------------------------------------------------------- */

/* Does what a server refused with pass by itself? */
enum dueq__passing {
    DUEQ__STAYS,  /* no */
    DUEQ__LASTS,  /* when somebody mends the server: only a call that waits goes on */
    DUEQ__PASSES, /* soon: the call is tried again until its deadline */
    DUEQ__MOVES   /* the same, on a new connection, if the server has served this client before */
};

struct dueq__error {
    dueq_status status;
    enum dueq__passing passing;
    char text[512]; /* never empty when status < 0 */
};

/*
 * Notes a failure and returns its status. A NULL format uses the status's own sentence. Parts of the text may come
 * from a server or an entry: what a terminal would obey is escaped.
 */
dueq_status dueq__fail(struct dueq__error *error, dueq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- clock.c ----------------------------------------------------------------------------------- */

int64_t dueq__monotonic_ms(void);
int64_t dueq__monotonic_us(void);
int64_t dueq__wall_ms(void);
#define DUEQ__NEVER INT64_MAX

/* ---- thread.c ---------------------------------------------------------------------------------- */

/* Starts a thread that gets no signals: these are for the program's own threads. 0 or an errno. */
int dueq__thread_start(pthread_t *thread, void *(*run)(void *), void *data);

/* ---- id.c: ids and stamps, ordered by time ----------------------------------------------------- */

#define DUEQ__ID_SIZE 22 /* base-62 digits of 128 bits */
#define DUEQ__INCARNATION_SIZE                                                                     \
    10 /* base-62 digits of 45 bits of milliseconds and 14 bits of order */

struct dueq__id_source {
    int64_t last_ms;
    uint64_t high, low; /* the last id */
    uint64_t last_incarnation;
};

void dueq__id_random(void *buffer, size_t size);
void dueq__id_next(struct dueq__id_source *source, char out[DUEQ__ID_SIZE]);
void dueq__incarnation_next(struct dueq__id_source *source, char out[DUEQ__INCARNATION_SIZE]);
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
    bool evicting; /* is accepted */
};

dueq_status dueq__url_parse(struct dueq__url *url, const char *text, struct dueq__error *error);
void dueq__url_clear(struct dueq__url *url);
/* The URL that dueq_open(NULL) uses: $DUEQ_URL or the default embedded server. Caller frees *url. */
dueq_status dueq__url_default(char **url, struct dueq__error *error);

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
    DUEQ__KEY_HIGH,
    DUEQ__KEY_LOW,
    DUEQ__KEY_TAKEN,
    DUEQ__KEY_RATES,
    DUEQ__KEY_REPLY, /* followed by the session: see call.c */
    DUEQ__KEY_LOCK,  /* these two by a lock's name: see lock.c */
    DUEQ__KEY_FREE,
    DUEQ__KEY_OWN, /* so many; from here on those of other systems' queues: foreign.c */
    DUEQ__KEY_DESTINATION = DUEQ__KEY_OWN,
    DUEQ__KEY_OFFERED,
    DUEQ__KEY_TIMEOUT,
    DUEQ__KEY_CHANNEL,
    DUEQ__KEY_PARKED,
    DUEQ__KEY_JOBS,
    DUEQ__KEY_LATER,
    DUEQ__KEY_RESERVED,
    DUEQ__KEY_NOTIFY,
    DUEQ__KEY_ASIDE,
    DUEQ__KEY_COUNT
};

extern const char *const dueq__key_suffix[DUEQ__KEY_OWN];
/* Which keys of another queue a script gets behind its own (core/scripts/lib/other.lua). */
#define DUEQ__OTHER_COUNT 11
extern const enum dueq__key dueq__key_other[DUEQ__OTHER_COUNT];
dueq_status dueq__name_check(const void *name, size_t size, struct dueq__error *error);
dueq_status dueq__id_check(dueq_bytes id, struct dueq__error *error);
/* The length of the well-formed UTF-8 sequence at `at` (RFC 3629), which has `left` bytes; 0 where there is none. */
size_t dueq__utf8_length(const unsigned char *at, size_t left);
/* Is it well-formed UTF-8, with or without control characters? */
bool dueq__utf8(const void *data, size_t size, bool control);
/*
 * Can it be an id, the name of a queue or of a header: 1 to 255 bytes of UTF-8 without control characters? By the
 * same rule as the scripts (core/scripts/lib/text.lua).
 */
bool dueq__is_text(dueq_bytes text);
/* Fills keys[] with one allocation (keys[0].data) of all the queue's own keys; false: out of memory. */
bool dueq__keys_make(dueq_bytes keys[DUEQ__KEY_COUNT], const void *name, size_t size);
/* The queue's name in its keys. */
dueq_bytes dueq__keys_name(const dueq_bytes keys[DUEQ__KEY_COUNT]);

#include "queue/message.h"

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
 * Looks whether the directory's server can be connected to, and starts it if need be, without waiting for
 * it. Called before each connect. PENDING: not yet, and error says why; call it again after a nap.
 */
dueq_status dueq__embedded_ensure(struct dueq__embedded *embedded, struct dueq__error *error);
#define DUEQ__EMBEDDED_NAP_MS 5
/* The socket's path after a successful ensure; NULL before. */
const char *dueq__embedded_path(const struct dueq__embedded *embedded);

/* ---- script.c ---------------------------------------------------------------------------------- */

struct dueq__script {
    const char *name;
    const char *sha1; /* 40 hexadecimal digits */
    const char *source;
    size_t size;
    size_t key_count;
    size_t few;                          /* how many of the keys are enough for its usual call */
    unsigned char keys[DUEQ__KEY_COUNT]; /* enum dueq__key, in the order of KEYS */
};

extern const struct dueq__script dueq__script_push, dueq__script_reserve, dueq__script_ack,
    dueq__script_retry, dueq__script_extend, dueq__script_bury, dueq__script_cancel,
    dueq__script_find, dueq__script_stats, dueq__script_recall, dueq__script_kick,
    dueq__script_reschedule, dueq__script_pause, dueq__script_resume, dueq__script_purge,
    dueq__script_release, dueq__script_ack_push, dueq__script_peek, dueq__script_kick_all,
    dueq__script_rates, dueq__script_lock, dueq__script_relock, dueq__script_unlock,
    dueq__script_remove;

static inline dueq_bytes dueq__text(const char *text) { return (dueq_bytes){text, strlen(text)}; }

#include "net/resp_write.h"
/* EVALSHA of a script on a queue's keys, all and another one's (NULL: none) or few; arguments follow. */
void dueq__script_write(struct dueq__resp *words, const struct dueq__script *script,
                        const dueq_bytes keys[DUEQ__KEY_COUNT],
                        const dueq_bytes other[DUEQ__KEY_COUNT]);
void dueq__script_few(struct dueq__resp *words, const struct dueq__script *script,
                      const dueq_bytes keys[DUEQ__KEY_COUNT]);

#include "net/net.h"

/* ---- resp_read.c ----------------------------------------------------------------------------------- */

/* Makes replies of bytes. One that announces more values than any answer has is refused before room is made. */
struct dueq__reader;
struct dueq__reader *dueq__reader_new(void); /* NULL: no memory */
void dueq__reader_free(struct dueq__reader *reader);
void dueq__reader_feed(struct dueq__reader *reader, const char *data, size_t size);
/* The next reply, which the caller owns (NULL: none yet). Returns NULL, or what is wrong with the bytes. */
const char *dueq__reader_take(struct dueq__reader *reader, struct dueq__reply **reply);
void dueq__reply_free(struct dueq__reply *reply);
bool dueq__reply_is_error(const struct dueq__reply *reply);
bool dueq__reply_is_nil(const struct dueq__reply *reply);
/* The class of an error reply; fills error. */
dueq_status dueq__reply_error(const struct dueq__reply *reply, struct dueq__error *error);
dueq_status dueq__reply_error_text(const char *text, struct dueq__error *error);
bool dueq__reply_is_noscript(const struct dueq__reply *reply);
size_t dueq__reply_count(const struct dueq__reply *reply); /* of an array; else 0 */
bool dueq__reply_bytes(const struct dueq__reply *reply, dueq_bytes *bytes); /* a string */
bool dueq__reply_number(const struct dueq__reply *reply,
                        int64_t *number); /* an integer, or its text */
/* An item of an array; nil where it has none, or is no array. */
const struct dueq__reply *dueq__reply_item(const struct dueq__reply *reply, size_t index);

#include "queue/result.h"

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
    DUEQ__ANSWER_PROBE,
    DUEQ__ANSWER_TRACK /* of what asks to be told of changes: invalidation.c */
};
#define DUEQ__MAX_ANSWERS (DUEQ_MAX_QUEUES + 16)

enum dueq__phase {
    DUEQ__PHASE_NONE,
    DUEQ__PHASE_RUNNING, /* a script is to be run on the command connection */
    DUEQ__PHASE_WAITING, /* a reserve waits for a message, or a lock for its turn */
    DUEQ__PHASE_ENDING,  /* it has its answer and leaves its wait */
    DUEQ__PHASE_FINAL
};

#include "queue/settle.h"
#include "request/wait.h"

/* The longest: a list's name in "dueq:{}:reply:", and a session with the number of a handle. */
#define DUEQ__REPLY_KEY_SIZE (DUEQ_MAX_NAME + 16 + 14 + DUEQ__ID_SIZE + 24)

struct dueq__call {
    enum dueq__phase phase;
    dueq_queue *queue;
    const struct dueq__script *script;
    dueq_bytes keys[DUEQ__KEY_COUNT];  /* the queue's, and those with an hour or a name */
    dueq_bytes other[DUEQ__KEY_COUNT]; /* another queue's, or none; one allocation; owned */
    char reply_key[DUEQ__REPLY_KEY_SIZE];
    char *lock;                        /* the keys of a lock; owned */
    struct dueq__resp head, arguments; /* the request: up to its keys, and behind them */
    struct dueq__settling settling;
    int64_t minute;
    uint64_t number; /* of this request in its session, for recall; 0: it changes nothing */
    bool changes;
    bool few;      /* it is sent with the script's few keys */
    bool sent;     /* on the connection as it is */
    bool doubtful; /* sent on a connection that was lost before the answer came */
    bool unsure;   /* and that connection may still be read by the server */
    unsigned losses, loads;
    unsigned unread; /* how often the connection was lost on a recall */
    unsigned others; /* how often it was sent again with another queue's keys */
    int64_t deadline_ms;
    int64_t patient_ms; /* until then it goes on over what passes */
    int64_t retry_ms;   /* not before this time */
    int64_t asked_ms;   /* when the request was sent last: the server ran it later */
    dueq_bytes *ids;    /* push: of the drafts, find: of the message, lock: the token; owned */
    dueq_state state;   /* peek: of the messages looked at */
    unsigned scans;     /* queues: so far */
    struct dueq__wait wait;
    dueq_status status;
    dueq_result *result;
    void (*decode)(dueq_client *client, const struct dueq__reply *reply);
};

/* descriptor.c: what dueq_descriptor() made, if it was called. */
struct dueq__descriptor {
    int epoll, timer;
    int watched[DUEQ_MAX_SOCKETS]; /* -1: none */
};

struct dueq_client {
    struct dueq__url url;
    char *address; /* as it was opened */
    struct dueq__descriptor descriptor;
    struct dueq__error error;
    pid_t pid;
    bool reached;    /* was connected before: a lost server is waited for, an absent one is not */
    bool no_unblock; /* the server does not permit CLIENT UNBLOCK: its own timeouts must serve */
    bool command_up, waiter_up; /* started, and not yet seen closed */
    unsigned failures;          /* to connect, in a row */
    bool served;                /* a call was answered: by a primary, which has its queues */
    int64_t refused_ms;         /* since when it refuses what passes; 0: it does not */
    bool warned;                /* and that was said */
    bool warns;                 /* warning has not been asked for */
    bool evicting_told;
    char warning[640];
    struct dueq__server server;
    int64_t stale_id; /* a lost connection that the server may still read a request from; 0: none */
    struct dueq__conn *command, *waiter;
    struct dueq__subscription subscription;
    struct dueq__embedded *embedded;
    struct dueq__id_source ids;
    char session[DUEQ__ID_SIZE + 1];
    char name[DUEQ__ID_SIZE + 6]; /* of the connections: dueq-SESSION */
    uint64_t number;
    unsigned turn; /* of the calls that ask several queues in turn */
    enum dueq__answer answers[DUEQ__MAX_ANSWERS];
    size_t answer_count;
    struct dueq__call call;
};

struct dueq_queue {
    dueq_client *client;
    const struct dueq__script *recall; /* tells what a call of it answered */
    dueq_bytes keys[DUEQ__KEY_COUNT];
    int64_t minute; /* of the last call that may have kept the history */
    /* The queue whose keys the next reserve needs too (">NAME" of reserve.lua); size 0: none. */
    char need[DUEQ_MAX_NAME];
    size_t need_size;
    unsigned plain; /* reserves in a row that gave at once all they were asked for, all plain */
};

void dueq__descriptor_init(struct dueq__descriptor *descriptor);
void dueq__descriptor_close(struct dueq__descriptor *descriptor);
/* Brings it up to what the client waits for now. */
void dueq__descriptor_sync(dueq_client *client);

/* client.c */
/* Opens another client of the same server, as dueq_open(). */
dueq_status dueq__client_twin(const dueq_client *client, dueq_client **twin);
/* After fork() the child's client drops the parent's connections; call first in every public call. */
void dueq__client_check_fork(dueq_client *client);

/*
 * An operation: begin (IN_USE if a call is under way), words (what the arguments of every request start
 * with), its own words, submit. Submit frees the words and returns PENDING or a failure.
 */
dueq_status dueq__call_begin(dueq_queue *queue, const struct dueq__script *script, bool changes);
/* The same for a command of the server's own, without a queue: the script has but a name. */
dueq_status dueq__call_begin_plain(dueq_client *client, const struct dueq__script *script);
void dueq__call_arguments(dueq_client *client, struct dueq__resp *words);
/* The same with the answer kept for keep_ms under a session of its own, which outlives the call. */
void dueq__call_arguments_as(dueq_client *client, struct dueq__resp *words, const char *session,
                             int64_t keep_ms);
/* The key under which what a session's last call on the queue answered is kept; written to `buffer`. */
dueq_bytes dueq__reply_key(const dueq_queue *queue, const char *session,
                           char buffer[DUEQ__REPLY_KEY_SIZE]);
dueq_status dueq__call_submit(dueq_client *client, struct dueq__resp *words);
/* Before submit: gives the request the keys of another queue (size 0: none); NO_MEMORY ends the call. */
dueq_status dueq__call_other(dueq_client *client, dueq_bytes name);
/* The script did nothing, because it needs the keys of that queue: sends the request again with them. */
void dueq__call_again(dueq_client *client, dueq_bytes name);
/* An answer came: a script that keeps the history has done so for this minute. */
void dueq__call_answered(dueq_client *client);
/* Between begin and the first submit: the reserve settles first. Frees the words. */
dueq_status dueq__call_settle(dueq_client *client, struct dueq__resp *words, size_t outcomes);
/* The words that go with the request behind its arguments; NULL: none. */
const struct dueq__resp *dueq__call_settlement(const struct dueq__call *call);
/* Is the call, under way or final, one of this queue's? */
bool dueq__call_uses(const dueq_queue *queue);
/* Makes the call final. A status < 0 has its text in client->error already. */
dueq_status dueq__call_finish(dueq_client *client, dueq_status status);
dueq_status dueq__call_no_memory(dueq_client *client);
/* Makes it final with a result and its status; NULL: with the error that was set instead of one. */
void dueq__call_answer(dueq_client *client, dueq_result *result, dueq_status status);
bool dueq__call_under_way(const dueq_client *client);
/* As dueq_poll_set(), with the longest wait in us (-1: no limit). */
size_t dueq__call_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                           int64_t *left_us);

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
bool dueq__command_send_resp(dueq_client *client, enum dueq__answer answer,
                             const struct dueq__resp *words);
/* Starts a connection; false: it cannot be, and the call is final, or it is tried again at retry_ms. */
bool dueq__command_connect(dueq_client *client, struct dueq__conn *conn);
/* Closes the command connection; the server may still read what was sent on it. */
void dueq__command_drop(dueq_client *client);
/* Ends the call: the server sent a reply that nothing asked for. */
void dueq__command_unasked(dueq_client *client);

/* ---- again.c: which failures are tried again ---------------------------------------------------- */

/* Sets when to try again after a failure. */
void dueq__again_later(dueq_client *client);
/* The server refused something: is it tried again? Then this sets when, and notes the trouble. */
bool dueq__again_refused(dueq_client *client, const struct dueq__error *error);
/* Is a lost connection's error one that trying again does not mend? */
bool dueq__again_hopeless(const dueq_client *client, dueq_status status);

/* ---- ops.c: what the operations share ---------------------------------------------------------- */

/* Begins a call on `count` items, whose answer is a digit for each, and starts its words. */
dueq_status dueq__ops_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                            struct dueq__resp *words);
/* The same for ids, and submits it. */
dueq_status dueq__ops_ids(dueq_queue *queue, const struct dueq__script *script,
                          const dueq_bytes *ids, size_t count);
dueq_status dueq__ops_check_count(dueq_queue *queue, const void *items, size_t count);
dueq_status dueq__ops_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                               int64_t most);
dueq_status dueq__ops_check_ticket(dueq_queue *queue, dueq_bytes ticket,
                                   struct dueq__ticket *parts);
dueq_status dueq__ops_check_state(dueq_queue *queue, dueq_state state);
/* Are they that many outcomes, as scripts answer them? */
bool dueq__ops_outcomes(dueq_bytes digits, size_t count);
/* The answer of a script that is not what it returns: fails the call. */
void dueq__ops_unexpected(dueq_client *client);
/* A due time as scripts take it: '0', '+ms' or '@ms'. */
#define DUEQ__DUE_SIZE 24
void dueq__ops_due(char out[DUEQ__DUE_SIZE], int64_t delay_ms, int64_t at_ms);
/* Waits for a submitted call and takes its result. */
dueq_status dueq__ops_run(dueq_queue *queue, dueq_status submitted, dueq_result **result);
dueq_status dueq__client_run(dueq_client *client, dueq_status submitted, dueq_result **result);

/* dueq_reserve_any_submit() with another default lease. */
dueq_status dueq__reserve_any_submit(dueq_queue *const *queues, size_t queue_count,
                                     dueq_order order, size_t count, int64_t timeout_ms,
                                     int64_t lease_ms, int64_t default_lease_ms);
dueq_status dueq__reserve_check_queues(dueq_queue *const *queues, size_t count, dueq_order order);
/* A text that is kept with a message, cut between characters. */
dueq_bytes dueq__lease_cut_text(dueq_bytes text);

#endif
