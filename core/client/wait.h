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
    DUEQ__WAIT_ORDERED, /* messages of a partition, and none while one of its messages is leased */
    /* Messages for a caller that has others: none that has crashed, and the call does not wait. */
    DUEQ__WAIT_TOP_UP,
    DUEQ__WAIT_LOCK,
    DUEQ__WAIT_END /* of a message; instead of a probe, the call asks again */
};

/*
 * How a call waits on a queue of another system, which has no timekeepers, wake tokens and probes.
 * Each call that waits checks the queue itself. A call that is abandoned gives back what it took. A
 * member that is NULL: the call does not do that.
 */
struct dueq__foreign_wait {
    /* Writes the blocking command without its timeout. */
    void (*block)(const dueq_client *client, struct dueq__resp *words);
    /* Gives a token or item back that a block took. */
    void (*give_back)(dueq_client *client, const struct dueq__watch *watch);
    /* Reads what the server tells on the client's subscription. next_ms: when to pump next. */
    void (*pump)(dueq_client *client);
    int64_t (*next_ms)(const dueq_client *client);
    /* Sends commands right before a request. on_track_reply gets their DUEQ__EXPECT_TRACK. */
    void (*before_request)(dueq_client *client);
    void (*on_track_reply)(dueq_client *client, const struct dueq__reply *reply);
};

/*
 * The connection on which the server tells a foreign wait of changes. It stays subscribed when a
 * call ends.
 */
struct dueq__subscription {
    struct dueq__conn conn;
    bool confirmed;     /* the server has confirmed the channel */
    unsigned refusals;  /* how often in a row the server has refused to tell of changes */
    dueq_bytes channel; /* the channel that was asked for; owned */
    /* The id of the command connection for which the server tracks keys; 0: it tracks none. */
    int64_t tracked_id;
};

/* What the server expects this client to do for a queue. */
enum dueq__duty {
    DUEQ__DUTY_TOKEN = 1, /* it took a token or item, and no request has told the server */
    /* It must check in time. Also after a reply with messages or a lock that it will not read. */
    DUEQ__DUTY_TIMEKEEPER = 2
};

/* place_ms of a client that has perhaps lost the wake token of the queue's next event. */
#define DUEQ__ANY_PLACE (-1)

/* What the last request about a queue told. */
enum dueq__watch_state {
    DUEQ__WATCH_ANSWERED,       /* or the queue was not asked yet */
    DUEQ__WATCH_HELD_ELSEWHERE, /* another consumer has a message that must be settled first */
    DUEQ__WATCH_NODE_DOWN       /* its node cannot be asked now */
};

/* One of the queues that a call waits for: wait.c. */
struct dueq__watch {
    dueq_queue *queue;
    size_t queue_index;                /* in the caller's array */
    dueq_bytes wake_key;               /* the key of its wake token */
    struct dueq__wait_conn *wait_conn; /* the connection that blocks for it; NULL: none yet */
    int64_t next_check_us;             /* when to check the queue, by the monotonic clock */
    bool needs_request;                /* a request about it is due */
    struct dueq__node *look_node; /* it must answer an EXISTS of wake keys; NULL: no node must */
    size_t look_count;            /* that EXISTS is of so many queues, of which this is the first */
    bool maybe_woken;             /* an EXISTS of this and other queues counted some tokens */
    unsigned duties;              /* a set of enum dueq__duty */
    /*
     * The event whose time it keeps by a wake token, by the server's clock, until a request tells
     * the server; DUEQ__ANY_PLACE: a token that was perhaps lost; 0: none.
     */
    int64_t place_ms;
    enum dueq__watch_state state;
};

/* What the caller of an operation that may wait asks for. */
struct dueq__wait_terms {
    enum dueq__wait_kind kind;
    size_t count;       /* how many messages, or other items, it takes or moves */
    int64_t timeout_ms; /* how long it waits; 0: it does not wait; DUEQ_FOREVER: without end */
    int64_t lease_ms, default_lease_ms;
    bool with_lateness;    /* the answer says how late each message is */
    bool take_expired_now; /* takes ended leases at once, also if the server was away before */
    bool looks;            /* it skips queues that had no message, unless they have wake tokens */
    int64_t probe_ms;      /* with `looks`: when to probe, from an earlier wait; 0: from none */
    unsigned probe_count;  /* with `looks`: from that wait */
    bool keeps_time;       /* its end gives no timekeeping back: its caller does, or waits again */
    /*
     * With messages, it leaves its blocks as they are, for the next wait of the same queues. No
     * other consumer may wait for these queues meanwhile: the block would take its wake token.
     */
    bool keeps_blocks;
    /* Messages that fell due may make the caller the timekeeper of its only queue: so it waits. */
    bool takes_time;
    dueq_bytes wake_key;                      /* of its only queue: the key of the wake token */
    const struct dueq__foreign_wait *foreign; /* NULL: its queues are dueq's own */
    /*
     * Makes a request about watches[current]. keep_waiting: if it has no message, the wait goes on.
     * had_duties: the request tells the server that this client has no duty any longer.
     */
    dueq_status (*request)(dueq_client *client, bool keep_waiting, bool had_duties);
    void (*decode)(dueq_client *client, const struct dueq__reply *reply);
    /*
     * Writes the command that gives back the timekeeping, or foreign items that nobody will read;
     * or NULL.
     */
    void (*build_release)(dueq_client *client, const struct dueq__watch *watch,
                          struct dueq__resp *words);
};

struct dueq__wait {
    struct dueq__wait_terms terms;
    int64_t slack_us;            /* it checks this much later than the server told */
    struct dueq__watch *watches; /* in the order in which they are asked; owned; NULL: no wait */
    size_t watch_count;
    /* The index of the queue that is asked; how many queues were asked at least once. */
    size_t current, requested_count;
    int64_t look_until_ms; /* when to give a look up; 0: none is under way */
    int64_t told_place_ms; /* the request under way tells the server of that place_ms */
    bool told_duties;      /* the request under way tells the server of duties */
    bool only_settles;     /* the request under way asks for no messages */
    /* The answer has messages. It made the caller the timekeeper, or others look in time. */
    bool took_time;
    int64_t server_now_ms, server_pause_us; /* the server's clock, and the pause, in the answer */
    int64_t until_ms;                       /* when it stops waiting; 0: it does not wait */
    int64_t end_ms;                         /* when the call ends at the latest */
    int64_t probe_ms;                       /* when to probe, or to give a probe up */
    unsigned probe_count; /* probes that were answered in this wait, and 0 or 1 at random */
    size_t quarantined;   /* entries that were quarantined during the wait */
};

/* wait.c */

/* True: it waits for its queues, perhaps also for the answer to a probe. */
bool dueq__wait_is_idle(const struct dueq__op *op);

/*
 * Begins an operation that may wait for `count` queues. All watches are for `queue`, until the
 * caller sets others. Then the caller calls dueq__wait_start().
 */
dueq_status dueq__wait_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                             const struct dueq__wait_terms *terms);
/* Sends a request about watches[at]. */
dueq_status dueq__wait_request(dueq_client *client, size_t at);
/* Looks for wake tokens, or asks the first queue that needs a request, or only waits. */
dueq_status dueq__wait_start(dueq_client *client);
/* Takes the answer to an EXISTS of a look. */
void dueq__wait_on_look(dueq_client *client, const struct dueq__node *node,
                        const struct dueq__reply *reply);
/* After the answer to a request that only settled: asks the queues. */
void dueq__wait_on_settled(dueq_client *client);
/* Notes that this client took a wake token or item of the queue, or may have lost one. */
void dueq__wait_take_token(struct dueq__watch *watch);
/*
 * Notes that this client took the wake token of the queue's next event, at_ms by the server's
 * clock. From then on the client keeps that time.
 */
void dueq__wait_take_time(dueq_client *client, struct dueq__watch *watch, int64_t at_ms);
/* Makes a request about its only queue due. */
void dueq__wait_ask_again(dueq_client *client);
/* Notes the server's clock, as the answer about the current queue told it. */
void dueq__wait_note_clock(dueq_client *client, int64_t server_us);
/* What the server's clock shows now, as far as an answer about the queue has told it. */
int64_t dueq__wait_server_ms(const dueq_queue *queue);
/*
 * The answer had nothing. now: the server's clock. pause_us: the queue is checked after this time;
 * -1: other consumers check it.
 */
void dueq__wait_found_nothing(dueq_client *client, int64_t now, int64_t pause_us);
/*
 * The node of the current queue cannot be asked: goes on with the other queues. A request without
 * an answer is recalled when the node can be asked again. False: there are no other queues, or this
 * one must be asked.
 */
bool dueq__wait_skip_down_node(dueq_client *client);
bool dueq__wait_all_nodes_down(const struct dueq__wait *wait);
/* The node can be asked again: its queues that were skipped need a request. */
void dueq__wait_on_node_back(dueq_client *client, const struct dueq__node *node);
/* Checks each of its queues by then at the latest, by the monotonic clock. */
void dueq__wait_check_by(dueq_client *client, int64_t check_us);
/* A waiting connection cannot be made: the call checks its queues within a second. */
void dueq__wait_fall_back_to_checks(dueq_client *client);
/* A waiting connection was lost. was_on: perhaps with something that the server told on it. */
void dueq__wait_on_conn_lost(dueq_client *client, const struct dueq__conn *conn, bool was_on);
void dueq__wait_pump(dueq_client *client);
void dueq__wait_on_probe(dueq_client *client, const struct dueq__reply *reply);
/* When dueq__wait_pump() has something to do at the latest, by the monotonic clock. */
int64_t dueq__wait_next_us(const dueq_client *client);

/* When it checks next, by the monotonic clock. */
int64_t dueq__wait_next_check_us(const struct dueq__wait *wait);
/* True: it has nothing to do but to block, and no check comes too soon for a block. */
bool dueq__wait_may_block(const dueq_client *client);

/* wait_conn.c: the connections on which it waits */

void dueq__wait_conn_pump_all(dueq_client *client);
/* When dueq__wait_conn_pump_all(), or the repeat of an UNBLOCK, has something to do, in ms. */
int64_t dueq__wait_conn_next_ms(const dueq_client *client);
/* True: a blocking command is under way on it. */
bool dueq__wait_conn_blocks(const struct dueq__wait_conn *wait_conn);
/* The number of connections that the call waits on, at least 1. */
size_t dueq__wait_conn_count(const dueq_client *client);
/* Asks the server to end a block; false: the command could not be sent. */
bool dueq__wait_conn_unblock(dueq_client *client, struct dueq__wait_conn *wait_conn);
/* Takes the answer to that command. */
void dueq__wait_conn_on_unblock_reply(dueq_client *client, const struct dueq__node *node,
                                      const struct dueq__reply *reply);
/*
 * Asks the server to end all blocks, and closes the connections for which it cannot ask. True:
 * blocks are left.
 */
bool dueq__wait_conn_unblock_all(dueq_client *client);
/* A call with messages ends: leaves blocks, if it may, for the next wait of the same queues. */
void dueq__wait_conn_keep(dueq_client *client);
/* Repeats an UNBLOCK that had no effect. */
void dueq__wait_conn_unblock_again(dueq_client *client);
/* Closes the connection, which ends its block. */
void dueq__wait_conn_close(dueq_client *client, struct dueq__wait_conn *wait_conn);
void dueq__wait_conn_close_blocked(dueq_client *client);
/* Closes the connections to a silent node on which the call waits. */
void dueq__wait_conn_drop_node(dueq_client *client, const struct dueq__node *node);
/* When lost connections may be made again, in ms. */
int64_t dueq__wait_conn_retry_ms(const dueq_client *client);
/* The call is over: it uses no connection any longer. */
void dueq__wait_conn_release_all(dueq_client *client);

/* wait_finish.c: how a wait ends */

/* Gives the operation the result of its last answer, and adds up the quarantined entries. */
void dueq__wait_keep_result(dueq_client *client, dueq_result *result);
/* Ends the wait with a result. NULL: the result could not be made, and the error is set. */
void dueq__wait_finish_found(dueq_client *client, dueq_result *result);
/* Ends the wait, with a result or without: ends blocks, gives tokens and timekeeping back. */
void dueq__wait_finish(dueq_client *client);
/* Gives the phase ENDING up at its deadline. */
void dueq__wait_finish_pump(dueq_client *client);
/* True: the server expects this client to do something. At its end: what its caller shall do. */
bool dueq__wait_has_duties(const struct dueq__wait *wait);
/* Gives a wait up: gives tokens and timekeeping back, without blocking. */
void dueq__wait_abandon(dueq_client *client);

#endif
