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
#include "op.h"

/* Each server accepts a word of this size: proto-max-bulk-len cannot be set lower. */
#define DUEQ__LARGE (1 << 20)

struct dueq_client {
    struct dueq__url url;
    char *address;                 /* the URL with which the client was opened */
    struct dueq__loop *descriptor; /* poll.c: what dueq_descriptor() made; NULL: nothing */
    struct dueq__error error;
    pid_t pid;
    bool ever_connected; /* calls wait for a server that was lost, not for one never reached */
    bool no_unblock;     /* CLIENT ID or UNBLOCK is not permitted: blocks end by their timeouts */
    unsigned lost_conns; /* how many connections with requests, or with kept blocks, it has lost */
    unsigned failures;   /* in a row, since the last answer */
    int64_t first_failure_ms; /* when the first of `failures` was */
    int64_t last_failure_ms;  /* when a call last failed; 0: never */
    int64_t backoff_ms;       /* the pause between the last two tries */
    int64_t max_backoff_ms;   /* the most that backoff_ms may be; 0: as backoff.c says */
    int64_t reconnect_ms;     /* after an outage: waiting connections are not made before then */
    bool ever_answered;       /* a call was answered, so the address leads to a primary */
    int64_t outage_since_ms;  /* since then calls fail and are retried; 0: the server answers */
    bool in_outage_log;       /* outage_log.c counts this client as one without an answer */
    bool skips_untried;       /* the call skips a node that it has not tried itself */
    bool has_warning;         /* `warning` is new: dueq_warning() has not returned it */
    bool warn_default_url;    /* no URL was given, and no warning has said so yet */
    bool eviction_warned;
    char warning[DUEQ_MAX_WARNING];
    struct dueq__sentinels sentinels;   /* if the URL names sentinels */
    struct dueq__conn *conns;           /* all connections */
    struct dueq__node *nodes;           /* owned; dueq_open() makes one without an address */
    struct dueq__node *node;            /* the node of the call, or of the last call */
    struct dueq__cluster *cluster;      /* NULL: the URL names no cluster */
    struct dueq__wait_conn *wait_conns; /* owned */
    struct dueq__subscription subscription;
    struct dueq__embedded *embedded;
    struct dueq__id_source ids;
    char session[DUEQ__ID_SIZE + 1];
    char name[DUEQ__ID_SIZE + 6]; /* of the connections: dueq-SESSION */
    uint64_t last_request_number;
    uint64_t round_robin;      /* which queue the next call in round robin asks first */
    struct dueq__op *op;       /* the operation under way, or final; phase NONE: there is none */
    struct dueq__reply *reply; /* the reply that is read; a result that points into it owns it */
    /* The handle that was closed last, with its notes: the next open of its name uses it. */
    dueq_queue *cached_queue;
};

/* What a queue with partitions does in place of the ordinary verbs: partition/. */
struct dueq__fanout_request;
struct dueq__reserve;
struct dueq__push_request;
struct dueq__batch_request;

struct dueq__partitioned {
    dueq_status (*fanout)(dueq_queue *queue, const struct dueq__fanout_request *asked);
    dueq_status (*push)(dueq_queue *queue, const struct dueq__push_request *pushed);
    dueq_status (*batch)(dueq_queue *queue, const struct dueq__batch_request *asked);
    dueq_status (*reserve)(dueq_queue *queue, const struct dueq__reserve *asked);
    void (*close)(dueq_queue *queue);
};

/*
 * A reserve whose reply did not come while its caller waited for other queues as well. The next
 * reserve of that queue asks for this reply first.
 */
struct dueq__unanswered {
    uint64_t number; /* 0: there is none */
    /* Only a reserve with the same values recalls it: */
    size_t count; /* how many messages it asked for */
    int64_t lease_ms, default_lease_ms;
};

struct dueq_queue {
    dueq_client *client;
    int slot;                              /* in a cluster: of its keys */
    struct dueq__partitioned *partitioned; /* its verbs; NULL: it has no partitions */
    bool is_partition;                     /* it is a partition of another queue */
    const struct dueq__script *recall;     /* the script that tells the answer to a lost call */
    dueq_bytes keys[DUEQ__KEY_COUNT];
    dueq_durability durability;  /* of pushes by this handle */
    int64_t keep_ms;             /* of pushes by this handle: how long their ends are kept */
    int64_t max_durable_ms;      /* the longest time for durability that a call asked for */
    size_t preview_bytes;        /* the most bytes of a body in find and peek; 0: all */
    bool looks_only;             /* outcome ends no message */
    int64_t clock_offset_us;     /* the server's clock less the monotonic one */
    int64_t clock_read_us;       /* when that was read; 0: it was not read yet */
    int64_t clock_error_ms;      /* that difference is too small by this at most */
    int64_t history_minute;      /* in which a call last wrote the history */
    int64_t reply_expiry_minute; /* in which a call last set the expiry of its reply */
    unsigned full_left;          /* how many further reserves begin with reserve_full */
    unsigned full_streak;        /* what full_left was last set to; 0: the fast script did it all */
    unsigned noted_left;         /* how many further reserves use reserve_noted, not reserve */
    bool has_groups;        /* a reserve of groups answered the last reserve: they come first */
    bool has_limits;        /* acks of the queue may have to wake consumers, */
    int64_t limits_minute;  /* as the server said in this minute */
    size_t partition_count; /* of the queue of which this is a partition; 0: of none */
    struct dueq__unanswered unanswered;
};

/* client.c */
/*
 * Opens another client of the same URL. max_backoff_ms: its longest pause between tries; 0: as
 * backoff.c says. Returns as dueq_open(); the caller closes *twin.
 */
dueq_status dueq__client_twin(const dueq_client *client, int64_t max_backoff_ms,
                              dueq_client **twin);
/* True: the server has closed a connection. Reads nothing; no call may be under way. */
bool dueq__client_lost_conn(const dueq_client *client);
/* Sets the text that dueq_warning() returns next, in place of one that it has not returned. */
__attribute__((format(printf, 2, 3))) void dueq__client_warn(dueq_client *client,
                                                             const char *format, ...);
/* Closes the connection on which the server tells foreign waits of changes. */
void dueq__client_unsubscribe(dueq_client *client);
/*
 * Every public function calls this first: after fork() the child's client drops the parent's
 * connections.
 */
void dueq__client_check_fork(dueq_client *client);

/* command.c: the command connection of a call */

/* Sends and reads what it can without blocking. */
void dueq__command_pump(dueq_client *client);
/* True: the next pump can connect or send at once, as after a wait has made a request. */
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
int64_t dueq__op_want_events(dueq_client *client);
/* As dueq_poll_set(), with the longest wait in us (-1: no limit). */
size_t dueq__op_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                         int64_t *left_us);
/* Makes the descriptor, unless it exists; false: the process has no more. */
bool dueq__descriptor_make(dueq_client *client);
/* Makes the descriptor report the sockets and the time for which the client waits now. */
void dueq__descriptor_sync(dueq_client *client);

/* durable.c: a call waits until replicas and disks have what it stored */

bool dueq__durable_asked(const struct dueq__op *op);
/* True: the server has told as many replicas and disks as the call demands. */
bool dueq__durable_is_met(const struct dueq__op *op);
/* True: the call needs WAIT or WAITAOF, and this connection has not accepted that command yet. */
bool dueq__durable_support_unknown(const dueq_client *client);
/* Asks the server by a command that waits for nothing; false: out of memory. */
bool dueq__durable_check_support(dueq_client *client);
/* Replaces the error of a refusal by what the server needs for WAITAOF. */
void dueq__durable_explain_refusal(dueq_client *client);
/*
 * Sends WAIT or WAITAOF behind the request, if the call demands it and the script has run there:
 * else WAIT follows its answer. false: out of memory.
 */
bool dueq__durable_send_wait_early(dueq_client *client);
/*
 * The script's reply came: keeps it until the reply to WAIT comes. Sends WAIT now if no WAIT
 * followed the request.
 */
void dueq__durable_hold_reply(dueq_client *client);
/* Drops the script's reply: another server has taken over, and does not know the request. */
void dueq__durable_drop_reply(struct dueq__op *op);
/* The reply to WAIT came. */
void dueq__durable_on_wait_reply(dueq_client *client, const struct dueq__reply *reply);
/* Makes the call final with a failure; with NOT_DURABLE if the script has replied. */
void dueq__durable_fail(dueq_client *client, dueq_status status);

/* backoff.c: which failures are tried again */

/* After a failure: sets when to retry and, for a call that waits, until when. why: for warnings. */
void dueq__backoff_retry_later(dueq_client *client, const char *why);
/* The request got no answer before its deadline. True: the call goes on, as it waits. */
bool dueq__backoff_outlasts_request(const dueq_client *client);
/* The call begins to connect. In an outage a call that waits connects no longer than it waits. */
void dueq__backoff_on_connecting(dueq_client *client);
/* The call has connected: a call that waits gives its request the whole timeout of the URL. */
void dueq__backoff_on_connected(dueq_client *client);
/* The server has answered after failures. */
void dueq__backoff_reset(dueq_client *client);
/* The server refused a request. True: the call retries it; this sets when, and warns why. */
bool dueq__backoff_retry_refused(dueq_client *client, const struct dueq__error *error);
/* A call failed in a way that may pass: the program may call again. */
void dueq__backoff_on_call_failed(dueq_client *client);
/* True: no retry mends this error, by which a connection was lost. */
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
/*
 * The client is in no outage any longer. answered: since the server answers: one client of the
 * process warns that the outage is over. Else the client is closed, or used anew: another client
 * tells how the outage goes on.
 */
void dueq__outage_log_leave(dueq_client *client, bool answered);

#endif
