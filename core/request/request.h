/*
 * One call's way from submit to result, on a client's connections, and its wait for what is not there yet.
 */
#ifndef DUEQ_REQUEST_H
#define DUEQ_REQUEST_H

#include "../embedded/embedded.h"
#include "../net/net.h"
#include "keys.h"
#include "wait.h"

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
    DUEQ__ANSWER_TRACK /* of what a foreign wait sends before a request */
};
#define DUEQ__MAX_ANSWERS (DUEQ_MAX_PARTITIONS + 16)

enum dueq__phase {
    DUEQ__PHASE_NONE,
    DUEQ__PHASE_RUNNING, /* a script is to be run on the command connection */
    DUEQ__PHASE_WAITING, /* a reserve waits for a message, or a lock for its turn */
    DUEQ__PHASE_ENDING,  /* it has its answer and leaves its wait */
    DUEQ__PHASE_FINAL
};

/* What a reserve settles first: its words go with the requests until one has done it. */
struct dueq__settling {
    struct dueq__resp words;
    size_t count; /* of its outcomes; 0: there is no settlement */
    bool plain;   /* it only acknowledges first deliveries */
    bool done;
    void (*settled)(void *owner, const char *outcomes, size_t count);
    void *owner;
};

/* The longest: a list's name in "dueq:{}:reply:", and a session with the number of a handle. */
#define DUEQ__REPLY_KEY_SIZE (DUEQ_MAX_NAME + 16 + 14 + DUEQ__ID_SIZE + 24)

struct dueq__call {
    enum dueq__phase phase;
    dueq_queue *queue;
    const struct dueq__script *script;
    dueq_bytes keys[DUEQ__KEY_COUNT]; /* the queue's, and those with a session or a name */
    char reply_key[DUEQ__REPLY_KEY_SIZE];
    char *lock;                        /* the keys of a lock; owned */
    struct dueq__resp head, arguments; /* the request: up to its keys, and behind them */
    struct dueq__settling settling;
    int64_t minute;
    uint64_t number; /* of this request in its session, for recall; 0: it changes nothing */
    bool changes;
    bool passed; /* on, by a script that left it to another one */
    bool once;   /* it is not sent again while the server may still read it on a lost connection */
    bool sent;   /* on the connection as it is */
    bool doubtful; /* sent on a connection that was lost before the answer came */
    bool unsure;   /* and that connection may still be read by the server */
    unsigned losses, loads;
    unsigned unread; /* how often the connection was lost on a recall */
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
    /* Told when it is final, with what it was suspended for (dueq__call_suspend); NULL: nobody is. */
    void (*ended)(dueq_client *client);
};

/* A call that has its answer, and waits for others that the client runs in its place. */
struct dueq__suspended {
    struct dueq__call call;
    void (*resume)(dueq_client *client);
    void *owner; /* of the calls that run; freed with it */
    struct dueq__suspended
        *outer; /* the call that this one runs in the place of; NULL: it is the caller's */
};

/* descriptor.c: what dueq_descriptor() made, if it was called. */
struct dueq__descriptor {
    int epoll, timer;
};

struct dueq_client {
    struct dueq__url url;
    char *address; /* as it was opened */
    struct dueq__descriptor descriptor;
    struct dueq__error error;
    pid_t pid;
    bool reached;      /* was connected before: a lost server is waited for, an absent one is not */
    bool no_unblock;   /* the server does not permit CLIENT UNBLOCK: its own timeouts must serve */
    unsigned failures; /* to connect, in a row */
    bool served;       /* a call was answered: by a primary, which has its queues */
    int64_t refused_ms; /* since when it is tried again; 0: it is not */
    bool away;          /* and news.c knows */
    bool silent;        /* nobody asks it for warnings */
    bool warns;         /* warning has not been asked for */
    bool unnamed;       /* nobody named the server, and that was not said */
    bool evicting_told;
    char warning[640];
    struct dueq__server server;
    int64_t stale_id; /* a lost connection that the server may still read a request from; 0: none */
    struct dueq__conn
        conns[DUEQ_MAX_SOCKETS]; /* the command connection's, the waiter's, the subscription's */
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
    struct dueq__reply
        *reply; /* that is being decoded; a result that points into it takes it over */
    struct dueq__suspended *suspended; /* NULL: there is none */
    /* The queue that was closed last, with what it knows of the session: whoever opens it again has it. */
    dueq_queue *shelved;
};

/* What a queue of partitions does in place of its verbs: partition/. */
struct dueq__asked;
struct dueq__reserve;
struct dueq__whole {
    dueq_status (*ask)(dueq_queue *queue, const struct dueq__asked *asked);
    dueq_status (*push)(dueq_queue *queue, const dueq_draft *drafts, size_t count);
    dueq_status (*reserve)(dueq_queue *queue, const struct dueq__reserve *asked);
    void (*close)(dueq_queue *queue);
};

struct dueq_queue {
    dueq_client *client;
    struct dueq__whole *whole;         /* its verbs, where it has partitions; NULL: it has none */
    bool is_part;                      /* of such a queue's */
    const struct dueq__script *recall; /* tells what a call of it answered */
    dueq_bytes keys[DUEQ__KEY_COUNT];
    int64_t minute;  /* of the last call that may have kept the history */
    int64_t kept;    /* the minute in which an answer's expiry was set last */
    unsigned rare;   /* so many reserves more go to the script for what is rare at once */
    unsigned rarely; /* how many did so in a row */
};

void dueq__descriptor_init(struct dueq__descriptor *descriptor);
void dueq__descriptor_close(struct dueq__descriptor *descriptor);
/* Brings it up to what the client waits for now. */
void dueq__descriptor_sync(dueq_client *client);

/* client.c */
/* Opens another client of the same server, as dueq_open(), one that has no warnings. */
dueq_status dueq__client_twin(const dueq_client *client, dueq_client **twin);
/* Closes the connection that foreign waits are told on. */
void dueq__client_unsubscribe(dueq_client *client);
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
/* The script changed nothing and leaves the request to another one: sends it to that. */
void dueq__call_pass_on(dueq_client *client);
/* An answer came: a script that keeps the history has done so for this minute. */
void dueq__call_answered(dueq_client *client);

/* The answer is kept: until the minute is over the end of its key is late enough for further ones. */
void dueq__call_kept(dueq_client *client);
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
/*
 * Suspends a call that was answered, so that the client may run others, and goes on with it: resume() is called then.
 * owner: one allocation, which is freed afterwards. False: out of memory, and nothing was done.
 */
bool dueq__call_suspend(dueq_client *client, void (*resume)(dueq_client *client), void *owner);
void dueq__call_resume(dueq_client *client);
/* Ends the suspended call with this. A status < 0 has its text in client->error already. */
void dueq__call_return(dueq_client *client, dueq_result *result, dueq_status status);
/* Gives up what runs in a suspended call's place, if there is one. */
void dueq__call_unsuspend(dueq_client *client);
/* The minute that requests say they are sent in. */
int64_t dueq__call_minute(void);
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

/* Sets when to try again after a failure, and notes why. */
void dueq__again_later(dueq_client *client, const char *why);
/* The server refused something: is it tried again? Then this sets when, and notes the trouble. */
bool dueq__again_refused(dueq_client *client, const struct dueq__error *error);
/* Is a lost connection's error one that trying again does not mend? */
bool dueq__again_hopeless(const dueq_client *client, dueq_status status);

/* ---- news.c: warnings that all clients of a process have in common -------------------------------- */

/* Was it not said yet that this server may evict? */
bool dueq__news_evicting(const dueq_client *client);
/* The server is tried again: the client may have to warn of it. */
void dueq__news_failed(dueq_client *client, const char *why);
/* It answers: the client may have to say so. */
void dueq__news_answered(dueq_client *client);
/* The client is closed, whether it had an answer or not. */
void dueq__news_closed(dueq_client *client);

#endif
