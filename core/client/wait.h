/* An operation that may wait for one of several queues. */
#ifndef DUEQ_WAIT_H
#define DUEQ_WAIT_H

#include "../net/net.h"
#include "keys.h"

struct dueq__op;
struct dueq__watch;
struct dueq__wait_conn;
struct dueq__node;

/* What a wait is for. */
enum dueq__wait_kind {
    DUEQ__WAIT_MESSAGES,
    DUEQ__WAIT_ORDERED, /* messages, from no queue where one is leased; nothing is given on */
    /* Messages for a caller that holds others: none that has crashed, and it does not wait. */
    DUEQ__WAIT_TOP_UP,
    DUEQ__WAIT_LOCK
};

/*
 * How a call waits on a queue of another system, which has neither timekeeper nor wake token nor
 * probe: each who waits looks, and gives back what it took when it is abandoned. What is NULL is
 * not done.
 */
struct dueq__foreign_wait {
    /* Writes the blocking command but for its timeout. */
    void (*block)(const dueq_client *client, struct dueq__resp *words);
    /* Gives a token or item back that a block took. */
    void (*give_back)(dueq_client *client, const struct dueq__watch *watch);
    /*
     * What it is told meanwhile, on the client's subscription, and when that has something to do,
     * in ms.
     */
    void (*pump)(dueq_client *client);
    int64_t (*next_ms)(const dueq_client *client);
    /* Sends what goes right before a request, and takes its DUEQ__EXPECT_TRACK in. */
    void (*before_request)(dueq_client *client);
    void (*on_track_reply)(dueq_client *client, const struct dueq__reply *reply);
};

/*
 * The connection on which a foreign wait is told of changes; it stays subscribed when a call ends.
 */
struct dueq__subscription {
    struct dueq__conn conn;
    bool confirmed;     /* the server has confirmed the channel */
    unsigned refusals;  /* to tell of changes, in a row */
    dueq_bytes channel; /* it was asked for; owned */
    int64_t tracked_id; /* of the command connection, if its changes are told; 0: they are not */
};

/* What the server counts on this client for, about a queue. */
enum dueq__duty {
    DUEQ__DUTY_TOKEN = 1,     /* it took a token or item, and no request has told the server */
    DUEQ__DUTY_TIMEKEEPER = 2 /* it is to check in time, or has taken messages or a lock */
};

/* What the last request about a queue told. */
enum dueq__watch_state {
    DUEQ__WATCH_ANSWERED,       /* or the queue was not asked yet */
    DUEQ__WATCH_HELD_ELSEWHERE, /* another consumer holds what is to be settled first */
    DUEQ__WATCH_NODE_DOWN       /* its node cannot be asked now */
};

/* One of the queues that a call waits for: wait.c. */
struct dueq__watch {
    dueq_queue *queue;
    size_t queue_index;                /* in the caller's array */
    dueq_bytes wake_key;               /* the key of its wake token */
    struct dueq__wait_conn *wait_conn; /* that blocks on it; NULL: none yet */
    int64_t clock_offset_ms;           /* the server's clock less the monotonic one */
    int64_t next_check_us;             /* by the monotonic clock */
    bool needs_request;                /* a request about it is due */
    unsigned duties;                   /* a set of enum dueq__duty */
    enum dueq__watch_state state;
};

/* What the caller of an operation that may wait asks for. */
struct dueq__wait_terms {
    enum dueq__wait_kind kind;
    size_t count;       /* of messages, or of what else it takes or moves */
    int64_t timeout_ms; /* how long it waits: 0 not at all, DUEQ_FOREVER */
    int64_t lease_ms, default_lease_ms;
    bool with_lateness;    /* the answer says how late each message is */
    bool take_expired_now; /* ended leases are taken, also where the server was away */
    dueq_bytes wake_key;   /* the key of its only queue's wake token */
    const struct dueq__foreign_wait *foreign; /* NULL: its queues are ours */
    /*
     * Makes the request about watches[current]. keep_waiting: the operation goes on waiting when
     * there is nothing. had_duties: the request tells the server that this client has no duty now.
     */
    dueq_status (*request)(dueq_client *client, bool keep_waiting, bool had_duties);
    void (*decode)(dueq_client *client, const struct dueq__reply *reply);
    /*
     * Puts a command together that gives back what the server counts on this client for; or NULL.
     */
    void (*build_release)(dueq_client *client, const struct dueq__watch *watch,
                          struct dueq__resp *words);
};

struct dueq__wait {
    struct dueq__wait_terms terms;
    int64_t slack_us;            /* how much later than it was told it checks */
    struct dueq__watch *watches; /* in the order in which they are asked; owned; NULL: no wait */
    size_t watch_count;
    size_t current, requested_count; /* the one being asked; how many were asked at least once */
    bool told_duties;                /* the request under way tells of duties */
    int64_t server_now_ms,
        server_pause_us;  /* of the answer: the server's clock, and how long to wait */
    int64_t until_ms;     /* when it stops waiting; 0: it does not wait */
    int64_t end_ms;       /* when the call ends at the latest */
    int64_t probe_ms;     /* when to probe, or to give a probe up */
    unsigned probe_count; /* answered in this wait, and one more by chance */
    size_t quarantined;   /* entries that were quarantined during the wait */
};

/* wait.c */

/* Does it wait now, for its queues or for a probe's answer too? */
bool dueq__wait_is_idle(const struct dueq__op *op);

/*
 * Begins such a call on `count` queues; then dueq__wait_start(). All watches are of this queue
 * until the caller says otherwise.
 */
dueq_status dueq__wait_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             const struct dueq__wait_terms *terms);
/* Sends a request about watches[at]. */
dueq_status dueq__wait_request(dueq_client *client, size_t at);
/* Asks the first that is to be asked; where none is, it only waits. */
dueq_status dueq__wait_start(dueq_client *client);
/* This client took a wake token or item of the queue, or has lost one. */
void dueq__wait_take_token(struct dueq__watch *watch);
/* A request about its only queue is due. */
void dueq__wait_ask_again(dueq_client *client);
/* The answer brought nothing; check in pause_us (0 or more), or leave that to others (-1). */
void dueq__wait_found_nothing(dueq_client *client, int64_t now, int64_t pause_us);
/*
 * The node of the queue cannot be asked: goes on with the others. What was asked of it and not
 * answered is recalled when it can be asked again. False: there are no others, or it must be asked.
 */
bool dueq__wait_skip_down_node(dueq_client *client);
bool dueq__wait_all_nodes_down(const struct dueq__wait *wait);
/* The node can be asked again: so it is about the queues that were left out. */
void dueq__wait_on_node_back(dueq_client *client, const struct dueq__node *node);
/* Checks each of its queues by then at the latest, by the monotonic clock. */
void dueq__wait_check_by(dueq_client *client, int64_t check_us);
/* A connection that it waits on could not be had: it checks the queues now and then. */
void dueq__wait_fall_back_to_checks(dueq_client *client);
/* Such a connection was lost; was_on: with it perhaps what it was to tell. */
void dueq__wait_on_conn_lost(dueq_client *client, const struct dueq__conn *conn, bool was_on);
void dueq__wait_pump(dueq_client *client);
void dueq__wait_on_probe(dueq_client *client, const struct dueq__reply *reply);
/* When dueq__wait_pump() has something to do at the latest, by the monotonic clock. */
int64_t dueq__wait_next_us(const dueq_client *client);

/* When it checks next, by the monotonic clock. */
int64_t dueq__wait_next_check_us(const struct dueq__wait *wait);
/* Has it nothing to do but to block, and no check so soon that a block would be in the way? */
bool dueq__wait_may_block(const dueq_client *client);

/* wait_conn.c: the connections on which it waits */

void dueq__wait_conn_pump_all(dueq_client *client);
/* When dueq__wait_conn_pump_all(), or the repeat of an UNBLOCK, has something to do, in ms. */
int64_t dueq__wait_conn_next_ms(const dueq_client *client);
/* Is a blocking command under way on it? */
bool dueq__wait_conn_blocks(const struct dueq__wait_conn *wait_conn);
/* The number of connections that the call waits on, at least 1. */
size_t dueq__wait_conn_count(const dueq_client *client);
/* Has the server end a block; false: that could not be sent. */
bool dueq__wait_conn_unblock(dueq_client *client, struct dueq__wait_conn *wait_conn);
/* The answer to that. */
void dueq__wait_conn_on_unblock_reply(dueq_client *client, const struct dueq__node *node,
                                      const struct dueq__reply *reply);
/* Has the server end all blocks; those that it cannot end so are closed. Are there any left? */
bool dueq__wait_conn_unblock_all(dueq_client *client);
/* Repeats an UNBLOCK that had no effect. */
void dueq__wait_conn_unblock_again(dueq_client *client);
/* Ends a block the hard way. */
void dueq__wait_conn_close(dueq_client *client, struct dueq__wait_conn *wait_conn);
void dueq__wait_conn_close_blocked(dueq_client *client);
/* Gives up the connections to that node on which the call waits: the node is silent. */
void dueq__wait_conn_drop_node(dueq_client *client, const struct dueq__node *node);
/* From when on those that were lost may be made again, in ms. */
int64_t dueq__wait_conn_retry_ms(const dueq_client *client);
/* The call is over. */
void dueq__wait_conn_release_all(dueq_client *client);

/* wait_finish.c: how a wait ends */

/* The operation owns the result of its last answer. Adds up what was quarantined. */
void dueq__wait_keep_result(dueq_client *client, dueq_result *result);
/* The answer is this. NULL: it could not be made, and the error is set. */
void dueq__wait_finish_found(dueq_client *client, dueq_result *result);
/*
 * The answer is there, or there is none: ends the block, and what is owed to others.
 */
void dueq__wait_finish(dueq_client *client);
/* Gives leaving up at its end. */
void dueq__wait_finish_pump(dueq_client *client);
/* Gives a wait up: hands on what it may hold, as far as that goes without blocking. */
void dueq__wait_abandon(dueq_client *client);

#endif
