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
    DUEQ__ANSWER_PROOF,   /* may WAIT be sent on this connection? */
    DUEQ__ANSWER_DURABLE, /* of WAIT, behind a call */
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

/* Where what a call stores has to be before it is final. */
struct dueq__durable {
    dueq_durability asked;    /* with a timeout; no replicas and no disk: nowhere else */
    struct dueq__reply *held; /* the script's answer, until that of WAIT comes; owned */
    bool known;               /* the server has said where it is: */
    int64_t replicas, disks;
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
    bool gives_way; /* whoever makes it has others to make: it ends where its node is away */
    bool unsure;    /* it was sent on a lost connection that the server may still read */
    /* The number of a request that was sent on a lost connection, and had no answer; 0: none that changes anything. */
    uint64_t doubtful;
    unsigned losses, loads;
    unsigned unread; /* how often the connection was lost on a recall */
    int64_t deadline_ms;
    int64_t patient_ms; /* until then it goes on over what passes */
    int64_t retry_ms;   /* not before this time */
    int64_t asked_ms;   /* the server ran what it answers not before this time */
    dueq_bytes *ids;    /* push: of the drafts, find: of the message, lock: the token; owned */
    dueq_state state;   /* peek: of the messages looked at */
    unsigned scans;     /* queues: so far */
    int slot;           /* in a cluster, of the request's keys */
    size_t
        part; /* of a cluster, for a call without a queue: which of its primaries, by their first slots */
    bool
        asking; /* the request goes to a node that is importing the slot, which another one named */
    unsigned redirects; /* in a row */
    size_t first;       /* ack_push: where what it pushes begins among its items */
    struct dueq__durable durable;
    int64_t keep_ms; /* for how long its answer is kept */
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

/* After so long without an answer, or a connection, a node is slow: another one may have taken over. */
#define DUEQ__SLOW_MS 1000

/* node.c: one server that the client speaks to: the only one, or a node of a cluster. */
struct dueq__node {
    char host[DUEQ__HOST_ROOM];
    struct dueq__address address; /* as it announces itself; no host: where the URL leads */
    struct dueq__conn conn;       /* for requests */
    struct dueq__server server;
    enum dueq__answer answers[DUEQ__MAX_ANSWERS];
    size_t answer_count;
    int64_t stale_id; /* a lost connection that the server may still read a request from; 0: none */
    /* Since when it is connected to, over all tries, or an answer of a lost connection is missing; 0: it is connected. */
    int64_t begun_ms;
    int64_t tried_ms; /* the last of the tries */
    bool mapped;      /* it has slots, as far as is known */
    bool counted;     /* among the primaries, while they are counted */
    struct dueq__node *next;
};

/* block.c: a connection that blocks on the wake tokens of queues in one slot. It stays open when a call ends. */
struct dueq__waiter {
    struct dueq__conn conn;
    struct dueq__node *node;
    bool used; /* by the call under way */
    int slot;
    bool blocked;       /* a blocking command is under way */
    bool unblocking;    /* and CLIENT UNBLOCK was sent for it */
    bool strays;        /* it has ended one: a server that was paused answers that one again */
    int64_t unblock_ms; /* when to repeat that */
    int64_t until_ms;   /* a block that has not ended by then has no server any more */
    struct dueq__waiter *next;
};

struct dueq__cluster; /* route.c */

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
    struct dueq__sentinels sentinels; /* where the URL names them */
    struct dueq__conn *conns;         /* all of them */
    struct dueq__node *nodes;         /* owned; the first is there before any is known */
    struct dueq__node *node;          /* that the call is for, or the last one was */
    struct dueq__cluster *cluster;    /* NULL: it is one server */
    struct dueq__waiter *waiters;     /* owned */
    struct dueq__subscription subscription;
    struct dueq__embedded *embedded;
    struct dueq__id_source ids;
    char session[DUEQ__ID_SIZE + 1];
    char name[DUEQ__ID_SIZE + 6]; /* of the connections: dueq-SESSION */
    uint64_t number;
    unsigned turn; /* of the calls that ask several queues in turn */
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
struct dueq__pushed;

struct dueq__whole {
    dueq_status (*ask)(dueq_queue *queue, const struct dueq__asked *asked);
    dueq_status (*push)(dueq_queue *queue, const struct dueq__pushed *pushed);
    dueq_status (*reserve)(dueq_queue *queue, const struct dueq__reserve *asked);
    void (*close)(dueq_queue *queue);
};

/* A reserve whose answer did not come, and that a wait for several queues went on without: it is recalled first. */
struct dueq__doubt {
    uint64_t number; /* 0: there is none */
    size_t count;    /* what it asked for: only who asks for the same recalls it */
    int64_t lease_ms, default_lease_ms;
};

struct dueq_queue {
    dueq_client *client;
    int slot;                          /* in a cluster, of its keys */
    struct dueq__whole *whole;         /* its verbs, where it has partitions; NULL: it has none */
    bool is_part;                      /* of such a queue's */
    const struct dueq__script *recall; /* tells what a call of it answered */
    dueq_bytes keys[DUEQ__KEY_COUNT];
    dueq_durability durability; /* of pushes by this handle */
    int64_t durable_ms;         /* the longest that a call by it has waited for that */
    int64_t minute;             /* of the last call that may have kept the history */
    int64_t kept;               /* the minute in which an answer's expiry was set last */
    unsigned rare;   /* so many reserves more go to the script for what is rare at once */
    unsigned rarely; /* how many did so in a row */
    struct dueq__doubt doubt;
};

/* node.c */
/* Makes a connection one of the client's, and closes one that is so no longer. */
void dueq__client_add(dueq_client *client, struct dueq__conn *conn);
void dueq__client_remove(dueq_client *client, struct dueq__conn *conn);
/* The node of that address (NULL: where the URL leads), made if it is not known yet; NULL: out of memory. */
struct dueq__node *dueq__node_at(dueq_client *client, const struct dueq__address *address);
void dueq__node_free(dueq_client *client, struct dueq__node *node);
void dueq__waiter_free(dueq_client *client, struct dueq__waiter *waiter);
/* Starts a connection to a node; false: it cannot be, and the call is final, or it is tried again at retry_ms. */
bool dueq__node_connect(dueq_client *client, struct dueq__conn *conn, struct dueq__node *node);
/* Notes a try to connect to it, or that its connection was lost with an answer that is missing since then. */
void dueq__node_tried(struct dueq__node *node, int64_t since_ms);
/* Moves its connection on. */
void dueq__node_pump(dueq_client *client, struct dueq__node *node);
/* Is it being connected to, beside the call if need be? */
bool dueq__node_connects(const struct dueq__node *node);
/* Has it not been reached for so long that a wait for several queues goes on without it? */
bool dueq__node_away(const struct dueq__node *node);
/* Is that one of those that are known to have slots? */
bool dueq__node_any_away(const dueq_client *client);
/* Is such an answer of the node still to come? */
bool dueq__node_awaits(const struct dueq__node *node, enum dueq__answer answer);
/* Is one that the call waits for? */
bool dueq__node_awaits_call(const struct dueq__node *node);
/* Queues a command on its connection; false: there is none. */
bool dueq__node_send(struct dueq__node *node, enum dueq__answer answer, const dueq_bytes *words,
                     size_t count);
bool dueq__node_send_resp(struct dueq__node *node, enum dueq__answer answer,
                          const struct dueq__resp *words);
/* Closes its connection; the server may still read what was sent on it. */
void dueq__node_drop(dueq_client *client, struct dueq__node *node);

/* route.c: which node of a cluster a request goes to. Of a single server all of it is plain. */
enum dueq__redirection { DUEQ__REDIRECT_NONE, DUEQ__REDIRECT_MOVED, DUEQ__REDIRECT_ASK };

bool dueq__route_open(dueq_client *client); /* false: out of memory */
/* Forgets what is known. */
void dueq__route_close(dueq_client *client);
/* The node that has a queue; NULL: not known. */
struct dueq__node *dueq__route_node(const dueq_queue *queue);
/* The node that the call's request goes to; NULL: not known. */
struct dueq__node *dueq__route_target(const dueq_client *client);
/* Of a cluster the i-th of the primaries that are known, in the order of their first slots; NULL: there are not so many. */
struct dueq__node *dueq__route_primary(const dueq_client *client, size_t index);
/* Is there such a part of the cluster? See struct dueq__call. */
bool dueq__route_has(const dueq_client *client, size_t part);
/* Asks for the map if that is due, and sets client->node for the call; false: not known yet. */
bool dueq__route_pump(dueq_client *client);
/* Follows what an error of a node says of another one; NONE: it says nothing of use. */
enum dueq__redirection dueq__route_redirected(dueq_client *client, const struct dueq__node *node,
                                              const struct dueq__reply *reply);
/* A node was lost, or is none that takes writes: the map may have changed. */
void dueq__route_doubt(dueq_client *client);
/* When dueq__route_pump() has something to do at the latest, in ms, and what it waits for (NULL: nothing). */
int64_t dueq__route_next_ms(const dueq_client *client);
struct dueq__conn *dueq__route_conn(const dueq_client *client);

void dueq__descriptor_init(struct dueq__descriptor *descriptor);
void dueq__descriptor_close(struct dueq__descriptor *descriptor);
/* Makes it if it is not there yet; false: out of descriptors. */
bool dueq__descriptor_make(dueq_client *client);
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
/* As dueq_hasten(); patient: what the server refuses for a while is still tried again. */
void dueq__call_end_wait(dueq_client *client, bool patient);
/* Sets for each connection which events are wanted. Returns the longest wait in us (-1: no limit). */
int64_t dueq__call_want(dueq_client *client);
/* As dueq_poll_set(), with the longest wait in us (-1: no limit). */
size_t dueq__call_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                           int64_t *left_us);

/* ---- command.c: the command connection of a call ------------------------------------------------- */

/* Moves the call's requests and answers on as far as that goes without blocking. */
void dueq__command_pump(dueq_client *client);
/* Could it move on at once? (A wait may have made a request after the last pump.) */
bool dueq__command_ready(const dueq_client *client);
/* Ends the call: the server sent a reply that nothing asked for. */
void dueq__command_unasked(dueq_client *client);

/* ---- durable.c: on how many replicas and disks is what a call stored? ------------------------------ */

/* What counts: the most of what the handle's URL, the handle and `own` ask for, and how long to wait for it. */
dueq_durability dueq__durable_for(const dueq_queue *queue, const dueq_durability *own);
bool dueq__durable_asked(const struct dueq__call *call);
/* Has the server said that all is where it has to be? */
bool dueq__durable_enough(const struct dueq__call *call);
/* Is it still to be known whether the server takes what durable_wait() sends on this connection? */
bool dueq__durable_unproven(const dueq_client *client);
/* Asks for that; false: no memory. */
bool dueq__durable_prove(dueq_client *client);
void dueq__durable_proven(dueq_client *client);
/* Says what the server would need, in the place of its refusal. */
void dueq__durable_explain(dueq_client *client);
/* Sends WAIT or WAITAOF behind the request; true also where the call does not ask for it. */
bool dueq__durable_wait(dueq_client *client);
/* The script's answer has come; it is held, and where the request was not followed by WAIT, that is sent now. */
void dueq__durable_hold(dueq_client *client);
/* The server does not know the call any more, whose answer was held. */
void dueq__durable_drop(struct dueq__call *call);
/* The answer of WAIT has come. */
void dueq__durable_answered(dueq_client *client, const struct dueq__reply *reply);
/* Makes the call final with a failure; where its answer is held, with NOT_DURABLE. */
void dueq__durable_fail(dueq_client *client, dueq_status status);

/* ---- again.c: which failures are tried again ---------------------------------------------------- */

/* Sets when to try again after a failure, and notes why. */
void dueq__again_later(dueq_client *client, const char *why);
/* The server refused something: is it tried again? Then this sets when, and notes the trouble. */
bool dueq__again_refused(dueq_client *client, const struct dueq__error *error);
/* A call ends by a failure that may pass: the program may try again. */
void dueq__again_over(dueq_client *client);
/* Is the error of a lost connection one that trying again does not mend? */
bool dueq__again_hopeless(const dueq_client *client, const struct dueq__error *error);

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
