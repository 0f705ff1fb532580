/*
 * An operation of a client, from submit to take: its requests, its wait and its result.
 *
 * The way of a reserve, with the phases in capitals. Each other verb goes 1, 4, 5, 6, 7, 11.
 *
 *    1 verbs/reserve.c       dueq__reserve_submit()      checks, and begins the operation
 *    2 client/wait.c         dueq__wait_start()          takes the first queue
 *    3 verbs/reserve.c       request()                   writes the words about that queue
 *    4 client/op.c           dueq__op_submit()           RUNNING
 *    5 client/command.c      dueq__command_pump()        connects, sends, reads a reply
 *    6 client/dispatch.c     dueq__dispatch()            an error: again 5, or 11; an answer: 7
 *    7 verbs/reserve.c       decode()                    messages: 10; none: 8
 *    8 client/wait.c         dueq__wait_found_nothing()  the next queue: 3; after the last: WAITING
 *    9 client/wait_conn.c    dueq__wait_conn_pump_all()  blocks; a wake token, or a due time: 3
 *   10 client/wait_finish.c  dueq__wait_finish()         ENDING: ends the blocks, gives tokens back
 *   11 client/op.c           dueq__op_finish()           FINAL: the result is there to take
 *
 * dueq_pump() (client/call.c) runs 5 and 9, and goes on as long as there is something to do.
 */
#ifndef DUEQ_CLIENT_OP_H
#define DUEQ_CLIENT_OP_H

#include "../net/net.h"
#include "keys.h"
#include "result.h"
#include "wait.h"

/* The state of an operation, and of its wait if it may wait. */
enum dueq__phase {
    DUEQ__PHASE_NONE,
    DUEQ__PHASE_RUNNING, /* the request is sent, or will be; or a child runs */
    DUEQ__PHASE_WAITING, /* a reserve waits for a message, or a lock for its turn */
    DUEQ__PHASE_PROBING, /* it waits, and asks whether the server has forgotten it */
    DUEQ__PHASE_ENDING,  /* the wait is over: its blocking commands end */
    DUEQ__PHASE_FINAL
};

/* Room for the longest: a list's name in "dueq:{}:reply:", and a session with a handle's number. */
#define DUEQ__REPLY_KEY_SIZE (DUEQ_MAX_NAME + 16 + 14 + DUEQ__ID_SIZE + 24)

/* What the operation asks of the server now. A wait makes one request after the other. */
struct dueq__request {
    const struct dueq__script *script;
    dueq_bytes keys[DUEQ__KEY_COUNT]; /* the queue's; some end with a session or a lock's name */
    char reply_key[DUEQ__REPLY_KEY_SIZE];
    char *named_keys;                  /* the memory of keys that have a lock's name; owned */
    struct dueq__resp head, arguments; /* its words up to the keys, and the words behind them */
    uint64_t number; /* by which recall finds it in the session; 0: the request changes nothing */
    bool changes;
    bool at_most_once;     /* after a lost connection it fails rather than run twice */
    bool used_next_script; /* the script answered nil, so the next script runs the request */
    bool sent;             /* on the present connection, and not answered */
    int64_t sent_ms;       /* the server ran the request at this time, or later */
    int64_t minute;        /* in which its words were made: dueq__op_minute(); 0: it was recalled */
    int64_t reply_ttl_ms;  /* for how long the server keeps its answer */
    size_t max_messages;   /* in its answer; a page of other items counts as one */
    unsigned script_loads; /* since the last answer */
    int slot;              /* in a cluster: of the request's keys */
    size_t primary_index;  /* in a cluster, without a queue: see dueq__route_primary() */
    bool asking;           /* the request goes to a node that imports the slot, by ASK */
    unsigned redirects;    /* in a row */
};

/* What the client does not know about a request whose connection was lost. */
struct dueq__recall {
    /* The number of the request whose connection was lost before its reply; 0: there is none. */
    uint64_t unanswered;
    bool may_run_late; /* the server may still read it on a lost connection */
    bool was_lost;     /* a recall was lost: the next one asks for the size of the answer first */
    bool is_large;     /* the server said on this connection: DUEQ__LARGE bytes or more */
    unsigned lost_conns;
    /*
     * Recalls in a row after which the server closed the connection, although it had announced the
     * size of its reply: probably the reply exceeds the server's output buffer limit.
     */
    unsigned cut_off;
};

/* How long the operation goes on after failures. */
struct dueq__retries {
    int64_t deadline_ms; /* of the request; in phase ENDING: of the end */
    int64_t until_ms;    /* until then failures that may pass are retried; 0: they are not */
    int64_t next_ms;     /* nothing is sent before this time */
    bool skip_down_node; /* it ends if its node is down: its caller goes on with other nodes */
};

/* How many replicas and disks must have what the operation stored before it is final. */
struct dueq__durable {
    dueq_durability wanted; /* with a timeout; no replicas and no disk: it need not be durable */
    struct dueq__reply *held_reply; /* the script's reply, until the reply to WAIT comes; owned */
    bool known;                     /* the server told these numbers: */
    int64_t replicas, disks;
};

/*
 * What a reserve settles first. Each request about the settlement's queue carries these words,
 * until such a request is answered.
 */
struct dueq__settling {
    struct dueq__resp words;
    size_t count;    /* of outcomes; 0: the reserve settles nothing */
    bool plain_acks; /* all are acks of first deliveries */
    bool noted_acks; /* the end of one of the acknowledged messages is noted */
    size_t watch;    /* the index of the settlement's queue in the wait */
    bool done;
    void (*on_settled)(void *owner, const char *outcomes, size_t count);
    void *owner;
};

/* A parent's function, which gets the status and the result of its child, and owns the result. */
typedef void dueq__on_final(dueq_client *client, dueq_status status, dueq_result *result);

/*
 * A client has one operation of its caller, and uses it again for each call. The children of an
 * operation, which may have children as well, are allocated. client->op is the innermost operation.
 * An operation owns all that it points to, except its parent. A child is freed before on_final()
 * gets its result.
 */
struct dueq__op {
    enum dueq__phase phase;
    dueq_queue *queue; /* NULL: it is about the server */
    size_t item_count; /* how many messages it asks for, or how many tickets or ids it has */
    struct dueq__request request;
    struct dueq__recall recall;
    struct dueq__retries retry;
    struct dueq__durable durable;
    struct dueq__settling settling;
    struct dueq__wait wait;
    /* The state of its verb, in one allocation; owned. */
    void *verb;
    void (*decode)(dueq_client *client, const struct dueq__reply *reply);
    dueq_status status;
    dueq_result *result; /* owned, until it is taken */
    /*
     * The operation that waits for this one; NULL: this is the caller's own. on_final is called
     * with the parent as client->op.
     */
    struct dueq__op *parent;
    dueq__on_final *on_final;
};

/* What the caller of an operation wants of it beyond its verb's arguments. */
struct dueq__terms {
    int64_t retry_until_ms; /* until then failures that may pass are retried; 0: they are not */
    int64_t slack_ms;       /* a wait checks its queues this much later than the server told */
    int64_t at_most_ms;     /* it ends in so many ms; 0: with its timeout */
    bool skip_down_node;    /* in a cluster: it ends if its node is down */
};

/* op.c */

/*
 * A verb makes an operation in four steps. begin fails with IN_USE if a call is under way.
 * arguments writes the words with which each request starts. The verb adds its own words. submit
 * frees the words, and returns PENDING or a failure.
 */
dueq_status dueq__op_begin(dueq_queue *queue, const struct dueq__script *script, bool changes);
/* begin without a queue, for a plain command of the server: the script has only a name. */
dueq_status dueq__op_begin_plain(dueq_client *client, const struct dueq__script *script);
/*
 * begin for an operation whose steps are its children. state: that of its verb, one allocation,
 * which the operation owns; NULL: the caller had no memory, and the operation fails.
 */
dueq_status dueq__op_begin_steps(dueq_queue *queue, const struct dueq__script *script, void *state);
void dueq__op_arguments(dueq_client *client, struct dueq__resp *words);
/* arguments for another session than the client's: the server keeps the reply for keep_ms. */
void dueq__op_arguments_for_session(dueq_client *client, struct dueq__resp *words,
                                    const char *session, int64_t keep_ms);
/* The key that keeps the reply to a session's last call on the queue; written to `buffer`. */
dueq_bytes dueq__reply_key(const dueq_queue *queue, const char *session,
                           char buffer[DUEQ__REPLY_KEY_SIZE]);
dueq_status dueq__op_submit(dueq_client *client, struct dueq__resp *words);
/* Between submit and the first pump. */
void dueq__op_set_terms(dueq_client *client, const struct dueq__terms *terms);
/* The connection is lost: a request that was sent on it is recalled before it is sent again. */
void dueq__op_mark_unanswered(struct dueq__op *op);
/* The script changed nothing and answered nil: script->next runs the same request. */
void dueq__op_use_next_script(dueq_client *client);
/* A reply came: the script has written this minute's history, and the next request need not. */
void dueq__op_on_answer(dueq_client *client);

/*
 * Notes that the server keeps the reply. The expiry of its key is long enough for all calls of the
 * same minute, which therefore do not set it again.
 */
void dueq__op_note_kept_reply(dueq_client *client);
/* Between begin and the first submit: the reserve settles first. Frees the words. */
dueq_status dueq__op_settle(dueq_client *client, struct dueq__resp *words, size_t outcomes);
/* The words that go with the present request behind its arguments; NULL: none. */
const struct dueq__resp *dueq__op_settlement(const struct dueq__op *op);
/* True: the answer is that of a recall. */
bool dueq__op_was_recalled(const struct dueq__op *op);
/* True: the operation takes messages. */
bool dueq__op_reserves(const struct dueq__op *op);
/* True: an operation that may wait has found what it waits for. */
bool dueq__op_found(const struct dueq__op *op);
/* True: the call, under way or final, is about this queue. */
bool dueq__op_uses_queue(const dueq_queue *queue);
/* Makes the call final. A status < 0 has its text in client->error already. */
dueq_status dueq__op_finish(dueq_client *client, dueq_status status);
dueq_status dueq__op_no_memory(dueq_client *client);
/* Makes it final with a result and a status; result NULL: with the status of client->error. */
void dueq__op_finish_result(dueq_client *client, dueq_result *result, dueq_status status);
/* The same with a result, or without one (NULL), and any status. */
void dueq__op_end(dueq_client *client, dueq_result *result, dueq_status status);
/* Makes the state of its verb, all zero; NULL: out of memory. */
void *dueq__op_state(dueq_client *client, size_t size);
/* Frees all that the operation owns. Its phase is NONE then. */
void dueq__op_reset(dueq_client *client);

/*
 * Makes a child of client->op, which becomes client->op. The caller then submits a verb, and gives
 * its status to dueq__op_child_submitted(). NULL: out of memory.
 */
struct dueq__op *dueq__op_child(dueq_client *client, dueq__on_final *on_final);
/*
 * If the status is not PENDING, drops the child (NULL: there is none), and the parent ends with the
 * status. A child that does not wait has its parent's deadline, which grows by the child's time for
 * durability.
 */
void dueq__op_child_submitted(dueq_client *client, struct dueq__op *child, dueq_status status);
/* For on_final. True: the child has failed, without a result, and so the parent fails. */
bool dueq__op_child_failed(dueq_client *client, dueq_status status, const dueq_result *result);
/* If client->op is a final child, frees it and calls its on_final(). False: it is none. */
bool dueq__op_pass_on(dueq_client *client);
/* Abandons all children: client->op is the caller's own operation again. */
void dueq__op_drop_children(dueq_client *client);
/* The minute of the monotonic clock, from 1 on. */
int64_t dueq__op_minute(void);
bool dueq__op_under_way(const dueq_client *client);
/* As dueq_stop_wait(). keep_retrying: refusals that pass by themselves are still retried. */
void dueq__op_stop_wait(dueq_client *client, bool keep_retrying);

/* wait_conn.c: the blocks that a wait with keeps_blocks has left */

/* Asks the server to end them. The next wait reads their replies. */
void dueq__wait_conn_end_kept(dueq_client *client);
/* Closes their connections. queue: only those of that queue; NULL: all. */
void dueq__wait_conn_close_kept(dueq_client *client, const dueq_queue *queue);

#endif
