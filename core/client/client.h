/*
 * How a call goes from submit to its result over a client's connections, and how it waits for a
 * message or a lock.
 */
#ifndef DUEQ_CLIENT_H
#define DUEQ_CLIENT_H

#include "../embedded/embedded.h"
#include "../net/net.h"
#include "keys.h"
#include "node.h"
#include "wait.h"

/* Each server accepts a word of this size: proto-max-bulk-len cannot be set lower. */
#define DUEQ__LARGE (1 << 20)

/* call.c: one call from submit to take */

enum dueq__phase {
    DUEQ__PHASE_NONE,
    DUEQ__PHASE_RUNNING, /* the request is sent, or will be, on the command connection */
    DUEQ__PHASE_WAITING, /* a reserve waits for a message, or a lock for its turn */
    DUEQ__PHASE_ENDING,  /* the wait is over: its blocking commands end */
    DUEQ__PHASE_FINAL
};

/* What a reserve settles first: each of its requests carries these words until one was answered. */
struct dueq__settling {
    struct dueq__resp words;
    size_t count;    /* of outcomes; 0: the reserve settles nothing */
    bool plain_acks; /* all are acks of first deliveries */
    bool done;
    void (*on_settled)(void *owner, const char *outcomes, size_t count);
    void *owner;
};

/* How many replicas and disks must have what the call stored before the call is final. */
struct dueq__durable {
    dueq_durability wanted; /* with a timeout; no replicas and no disk: it need not be durable */
    struct dueq__reply *held_reply; /* the script's reply, until the reply to WAIT comes; owned */
    bool known;                     /* the server told these numbers: */
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
    char *lock_keys;                   /* of a lock; owned */
    struct dueq__resp head, arguments; /* the request: up to its keys, and behind them */
    struct dueq__settling settling;
    int64_t minute;
    uint64_t request_number; /* in its session, for recall; 0: the request changes nothing */
    bool changes;
    bool used_next_script; /* the script left the request to the next one, which runs it */
    bool at_most_once;     /* after a lost connection it fails rather than run twice */
    bool sent;             /* on the present connection */
    bool skip_down_node;   /* it ends where its node is down: its caller has calls to other nodes */
    bool may_run_late;     /* the server may still read it on a lost connection */
    /* The number of the request whose connection was lost before its reply; 0: there is none. */
    uint64_t unanswered;
    unsigned lost_conns, script_loads;
    /*
     * Recalls in a row after which the server closed the connection, although it had announced the
     * size of its reply: probably the reply exceeds the server's output buffer limit.
     */
    unsigned recalls_cut_off;
    bool recall_lost;     /* the next recall asks for the size of the answer first */
    bool recall_is_large; /* the server said so on this connection */
    int64_t deadline_ms;
    int64_t retry_until_ms; /* until then failures that may pass are retried */
    int64_t retry_ms;       /* not before this time */
    int64_t sent_ms;        /* the server ran the request at this time, or later */
    dueq_bytes *ids;        /* push: of the drafts, find: of the message, lock: the token; owned */
    dueq_state state;       /* peek: of the messages looked at */
    unsigned scan_count;    /* queues: scans so far */
    int slot;               /* in a cluster, of the request's keys */
    size_t primary_index;   /* of a call without a queue in a cluster: by their first slots */
    bool asking;            /* the request goes to a node that imports the slot, by ASK */
    unsigned redirects;     /* in a row */
    size_t pushed_from;     /* ack_push: the first of its items that is a push */
    struct dueq__durable durable;
    int64_t reply_ttl_ms; /* for how long the server keeps its answer */
    size_t max_messages;  /* in its answer; a page of other things counts as one */
    struct dueq__wait wait;
    dueq_status status;
    dueq_result *result;
    void (*decode)(dueq_client *client, const struct dueq__reply *reply);
    /*
     * Called when it is final, with what it was suspended for (dueq__call_suspend); NULL: it is
     * not.
     */
    void (*on_final)(dueq_client *client);
};

/* A call that is not final yet, while the client runs other calls on its behalf. */
struct dueq__suspended {
    struct dueq__call call;
    void (*resume)(dueq_client *client);
    void *owner;                   /* of the calls that run; freed with it */
    struct dueq__suspended *outer; /* it runs in the place of this call; NULL: none */
};

/* poll.c: what dueq_descriptor() made, if it was called. */
struct dueq__descriptor {
    int epoll, timer;
};

struct dueq_client {
    struct dueq__url url;
    char *address; /* as it was opened */
    struct dueq__descriptor descriptor;
    struct dueq__error error;
    pid_t pid;
    bool ever_connected; /* calls wait for a server that was lost, not for one never reached */
    bool no_unblock;   /* the server does not permit CLIENT UNBLOCK: its own timeouts must serve */
    unsigned failures; /* in a row, since the last answer */
    int64_t first_failure_ms; /* since the last answer */
    int64_t last_failure_ms;  /* ever; 0: none */
    int64_t backoff_ms;       /* the pause between the last two tries */
    int64_t max_backoff_ms;   /* the most that backoff_ms may be; 0: as backoff.c says */
    int64_t reconnect_ms;     /* after an outage: waiting connections are not made before then */
    bool ever_answered;       /* a call was answered: by a primary, which has its queues */
    int64_t outage_since_ms;  /* since then calls fail and are retried; 0: the server answers */
    bool in_outage_log;       /* outage_log.c counts this client as one without an answer */
    bool skips_untried;       /* the call skips a node that it has not tried itself */
    bool has_warning;         /* that nobody has asked for yet */
    bool warn_default_url;    /* no URL was given, and no warning has said so yet */
    bool eviction_warned;
    char warning[DUEQ_MAX_WARNING];
    struct dueq__sentinels sentinels;   /* where the URL names them */
    struct dueq__conn *conns;           /* all of them */
    struct dueq__node *nodes;           /* owned; the first is there before any is known */
    struct dueq__node *node;            /* that the call is for, or the last one was */
    struct dueq__cluster *cluster;      /* NULL: it is one server */
    struct dueq__wait_conn *wait_conns; /* owned */
    struct dueq__subscription subscription;
    struct dueq__embedded *embedded;
    struct dueq__id_source ids;
    char session[DUEQ__ID_SIZE + 1];
    char name[DUEQ__ID_SIZE + 6]; /* of the connections: dueq-SESSION */
    uint64_t last_request_number;
    unsigned round_robin; /* the next queue to begin with, of calls that ask several in turn */
    struct dueq__call call;
    struct dueq__reply *reply; /* that is decoded; a result that points into it takes it over */
    struct dueq__suspended *suspended; /* NULL: there is none */
    /* The queue closed last, which knows its session: the next open of its name takes it. */
    dueq_queue *cached_queue;
};

/* What a queue of partitions does in place of its verbs: partition/. */
struct dueq__fanout_request;
struct dueq__reserve;
struct dueq__push_request;

struct dueq__partitioned {
    dueq_status (*fanout)(dueq_queue *queue, const struct dueq__fanout_request *asked);
    dueq_status (*push)(dueq_queue *queue, const struct dueq__push_request *pushed);
    dueq_status (*reserve)(dueq_queue *queue, const struct dueq__reserve *asked);
    void (*close)(dueq_queue *queue);
};

/*
 * A reserve whose reply did not come while its caller waited for other queues as well. The next
 * reserve of that queue asks for this reply first.
 */
struct dueq__unanswered {
    uint64_t number; /* 0: there is none */
    size_t count;    /* messages asked for: only a reserve of the same values recalls it */
    int64_t lease_ms, default_lease_ms;
};

struct dueq_queue {
    dueq_client *client;
    int slot;                              /* in a cluster, of its keys */
    struct dueq__partitioned *partitioned; /* its verbs; NULL: it has no partitions */
    bool is_partition;                     /* of a queue of partitions */
    const struct dueq__script *recall;     /* tells what a call of it answered */
    dueq_bytes keys[DUEQ__KEY_COUNT];
    dueq_durability durability;  /* of pushes by this handle */
    int64_t max_durable_ms;      /* the longest time that a call of it has waited to be durable */
    size_t preview_bytes;        /* of a body that find and peek answer at most; 0: all */
    int64_t history_minute;      /* of the last call that may have kept the history */
    int64_t reply_expiry_minute; /* the minute in which an answer's expiry was set last */
    unsigned full_left;          /* so many reserves more go to reserve_full at once */
    unsigned full_streak;        /* how many did so in a row */
    struct dueq__unanswered unanswered;
};

/* client.c */
/* Opens another client of the same URL. Returns as dueq_open(); the caller closes *twin. */
dueq_status dueq__client_twin(const dueq_client *client, dueq_client **twin);
/*
 * Has the server closed a connection since the last call? Reads nothing; no call may be under way.
 */
bool dueq__client_lost_conn(const dueq_client *client);
/* Closes the connection on which the server tells foreign waits of changes. */
void dueq__client_unsubscribe(dueq_client *client);
/*
 * After fork() the child's client drops the parent's connections; call first in every public call.
 */
void dueq__client_check_fork(dueq_client *client);

/*
 * An operation: begin (IN_USE if a call is under way), words (what the arguments of every request
 * start with), its own words, submit. Submit frees the words and returns PENDING or a failure.
 */
dueq_status dueq__call_begin(dueq_queue *queue, const struct dueq__script *script, bool changes);
/* The same for a command of the server's own, without a queue: the script has but a name. */
dueq_status dueq__call_begin_plain(dueq_client *client, const struct dueq__script *script);
void dueq__call_arguments(dueq_client *client, struct dueq__resp *words);
/* The same for another session than the client's: the server keeps the reply for keep_ms. */
void dueq__call_arguments_for_session(dueq_client *client, struct dueq__resp *words,
                                      const char *session, int64_t keep_ms);
/* The key that keeps the reply to a session's last call on the queue; written to `buffer`. */
dueq_bytes dueq__reply_key(const dueq_queue *queue, const char *session,
                           char buffer[DUEQ__REPLY_KEY_SIZE]);
dueq_status dueq__call_submit(dueq_client *client, struct dueq__resp *words);
/* The script changed nothing and answered nil: has script->next run the same request. */
void dueq__call_use_next_script(dueq_client *client);
/* A reply came. Notes that the script wrote this minute's history, so that the next need not. */
void dueq__call_on_answer(dueq_client *client);

/*
 * The server keeps the reply. Its key's expiry suffices for the calls of the same minute, which
 * therefore do not set it again.
 */
void dueq__call_note_kept_reply(dueq_client *client);
/* Between begin and the first submit: the reserve settles first. Frees the words. */
dueq_status dueq__call_settle(dueq_client *client, struct dueq__resp *words, size_t outcomes);
/* The words that go with the request behind its arguments; NULL: none. */
const struct dueq__resp *dueq__call_settlement(const struct dueq__call *call);
/* Does it take messages? */
bool dueq__call_reserves(const struct dueq__call *call);
/* Is the call, under way or final, one of this queue's? */
bool dueq__call_uses_queue(const dueq_queue *queue);
/* Makes the call final. A status < 0 has its text in client->error already. */
dueq_status dueq__call_finish(dueq_client *client, dueq_status status);
dueq_status dueq__call_no_memory(dueq_client *client);
/* Makes it final with a result and its status; NULL: with the error that was set instead of one. */
void dueq__call_finish_result(dueq_client *client, dueq_result *result, dueq_status status);
/*
 * Suspends the call, so that the client can run other calls on its behalf. resume() is called when
 * the last of them is final. owner: one allocation, which is freed after resume().
 * False: out of memory; nothing changed.
 */
bool dueq__call_suspend(dueq_client *client, void (*resume)(dueq_client *client), void *owner);
void dueq__call_resume(dueq_client *client);
/* Makes the suspended call final. A status < 0 has its text in client->error already. */
void dueq__call_finish_suspended(dueq_client *client, dueq_result *result, dueq_status status);
/* Abandons the calls that run on behalf of a suspended call. */
void dueq__call_drop_suspended(dueq_client *client);
/* The minute that requests say they are sent in. */
int64_t dueq__call_minute(void);
bool dueq__call_under_way(const dueq_client *client);
/* As dueq_stop_wait(). keep_retrying: refusals that pass by themselves are still retried. */
void dueq__call_stop_wait(dueq_client *client, bool keep_retrying);

/* command.c: the command connection of a call */

/* Sends and reads what it can without blocking. */
void dueq__command_pump(dueq_client *client);
/* Can the next pump send at once? (A wait may have made a request after the last pump.) */
bool dueq__command_ready(const dueq_client *client);
/* Ends the call: the server sent a reply to no request. */
void dueq__command_unexpected_reply(dueq_client *client);

/* dispatch.c: what a reply means for the call */

/* Acts on a node's reply; expect: which request it answers. */
void dueq__dispatch(dueq_client *client, struct dueq__node *node, enum dueq__expect expect,
                    const struct dueq__reply *reply);

/* poll.c: what a call waits for */

/*
 * Sets for each connection which events are wanted. Returns the longest wait in us (-1: no limit).
 */
int64_t dueq__call_want_events(dueq_client *client);
/* As dueq_poll_set(), with the longest wait in us (-1: no limit). */
size_t dueq__call_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                           int64_t *left_us);
void dueq__descriptor_init(struct dueq__descriptor *descriptor);
void dueq__descriptor_close(struct dueq__descriptor *descriptor);
/* Makes the descriptors, unless they exist; false: the process has no more. */
bool dueq__descriptor_make(dueq_client *client);
/* Has them report the sockets and the time that the client waits for now. */
void dueq__descriptor_sync(dueq_client *client);

/* durable.c: on how many replicas and disks is what a call stored? */

/* The most that the URL, the handle and `own` demand, and how long the call waits for it. */
dueq_durability dueq__durable_for(const dueq_queue *queue, const dueq_durability *own);
bool dueq__durable_asked(const struct dueq__call *call);
/* Has the server told of as many replicas and disks as the call demands? */
bool dueq__durable_is_met(const struct dueq__call *call);
/* Is it unknown whether the server accepts WAIT or WAITAOF on this connection? */
bool dueq__durable_support_unknown(const dueq_client *client);
/* Finds out by a command that waits for nothing; false: out of memory. */
bool dueq__durable_check_support(dueq_client *client);
void dueq__durable_note_support(dueq_client *client);
/* Replaces the error of a refusal by what the server needs for WAITAOF. */
void dueq__durable_explain_refusal(dueq_client *client);
/* Sends WAIT or WAITAOF behind the request, if the call demands it; false: out of memory. */
bool dueq__durable_send_wait(dueq_client *client);
/*
 * The script's reply came: keeps it until the reply to WAIT comes. Sends WAIT now where no WAIT
 * followed the request.
 */
void dueq__durable_hold_reply(dueq_client *client);
/* The server does not know the request: another one took over without it. Drops its reply. */
void dueq__durable_drop_reply(struct dueq__call *call);
/* The reply to WAIT came. */
void dueq__durable_on_wait_reply(dueq_client *client, const struct dueq__reply *reply);
/* Makes the call final with a failure; with NOT_DURABLE where the script has replied. */
void dueq__durable_fail(dueq_client *client, dueq_status status);

/* backoff.c: which failures are tried again */

/* After a failure: sets when to retry and, for a call that waits, until when. why: for warnings. */
void dueq__backoff_retry_later(dueq_client *client, const char *why);
/* The request got no answer before its deadline: does the call, which waits, go on? */
bool dueq__backoff_outlasts_request(const dueq_client *client);
/* The call begins to connect. In an outage a call that waits connects no longer than it waits. */
void dueq__backoff_on_connecting(dueq_client *client);
/* The call has connected: a call that waits gives its request the whole timeout of the URL. */
void dueq__backoff_on_connected(dueq_client *client);
/* The server has answered after failures. */
void dueq__backoff_reset(dueq_client *client);
/* The server refused a request: is it retried? Then sets when, and has warnings tell why. */
bool dueq__backoff_retry_refused(dueq_client *client, const struct dueq__error *error);
/* A call failed in a way that may pass: the program may call again. */
void dueq__backoff_on_call_failed(dueq_client *client);
/* Was a connection lost by an error that no retry mends? */
bool dueq__backoff_is_fatal(const dueq_client *client, const struct dueq__error *error);

/* outage_log.c: warnings that all clients of a process have in common */

/* True once for each server of the process: the client warns that the server may evict keys. */
bool dueq__outage_log_eviction(const dueq_client *client);
/* A try failed: after a second of failures one client of the process warns. */
void dueq__outage_log_failure(dueq_client *client, const char *why);
/*
 * A call that is under way has had no answer since then: after a second that counts as a failure.
 * The heartbeat calls this while a call of its client is under way.
 */
void dueq__outage_log_silence(dueq_client *client, int64_t since_ms);
/* The server answers: after an outage one client of the process warns that it is over. */
void dueq__outage_log_answer(dueq_client *client);
/* The client is closed: another client tells how the outage goes on. */
void dueq__outage_log_leave(dueq_client *client);

#endif
