/*
 * What a consumer is made of: leases.c, the messages that it holds; prefetch.c, those that it has not delivered
 * yet; heartbeat.c, the thread that extends their leases, and tells the queues by presence.c who consumes; open.c, how it begins; consumer.c, the loop; partitions.c, its part of a queue of partitions. Beside it pusher.c, which needs none of these.
 */
#ifndef DUEQ_CONSUMER_H
#define DUEQ_CONSUMER_H

#include <pthread.h>

#include "../partition/partition.h"

/* How long an ack may wait for a request that takes it along. */
#define DUEQ__ACK_MS 200
/* How often acks are tried again while their node is away. */
#define DUEQ__LEFT_MS 1000
/* A prefetched message may be cancelled: after so long without an answer that it is held, the server is asked. */
#define DUEQ__SURE_MS 250

/* ---- leases.c: shared by the consumer's thread and its heartbeat's -------------------------------- */

struct dueq__lease {
    size_t queue;     /* its place among the consumer's */
    int64_t lease_ms; /* how long each lease is */
    int64_t since_ms; /* when it was delivered, or, prefetched, reserved */
    _Atomic int64_t
        end_ms; /* of the lease, by the monotonic clock; 0: the server said that it was lost */
    int64_t known_ms; /* when an answer said last that it is held */
    int64_t beat_ms;  /* when to extend it */
    int64_t stop_ms;  /* from then on it is not extended */
    int64_t acked_ms; /* since when an ack of it waits, or, put off, from when on; 0: none does */
    unsigned sending; /* requests under way with that ack, or a retry */
    bool again;       /* the ack is to be sent although one is under way */
    bool open;        /* delivered, and nobody has settled it */
    bool gone;        /* settled; freed when nobody uses it */
    bool lost;        /* so said all answers to such requests */
    bool unsure;     /* another call may have acknowledged it: an ack that finds it lost is right */
    bool told;       /* the program was warned that it was lost */
    int64_t tell_ms; /* when to warn that it was lost; 0: not */
    unsigned uses;   /* by whoever works with it outside of the lock */
    dueq_bytes ticket; /* behind it, in the same allocation */
};

/* Messages to tell of. */
struct dueq__told_list {
    size_t count;
    char id[DUEQ_MAX_ID + 1]; /* of the first */
};

/* What the program has not asked for yet; under the lock of the leases. */
struct dueq__told {
    char news[DUEQ_MAX_WARNING]; /* of the server; empty: none */
    struct dueq__told_list lost;
    struct dueq__told_list late;   /* whose second acks found them settled, or lost */
    struct dueq__told_list unsent; /* acks that a stop could not send */
    void (*wake)(void *context);
    void *wake_context;
};

struct dueq__leases {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is something to do before wake_ms */
    int64_t wake_ms;        /* when the heartbeat looks next */
    struct dueq__lease **items;
    size_t count, room;
    dueq_timings *timings; /* what was measured of each queue, and nobody has taken */
    size_t timings_count;
    size_t hint; /* where the next one that is asked for likely is */
    _Atomic size_t open;
    _Atomic size_t lost;
    _Atomic bool stopping;
    _Atomic bool ended; /* the heartbeat has */
    struct dueq__told told;
};

/* NULL: out of memory. */
struct dueq__leases *dueq__leases_new(void);
void dueq__leases_free(struct dueq__leases *leases);

/* Holds a message from now on, with one use. lease_ms: from start_ms on. NULL: out of memory. */
struct dueq__lease *dueq__leases_add(struct dueq__leases *leases, size_t queue, dueq_bytes ticket,
                                     int64_t start_ms, int64_t lease_ms, int64_t stop_ms);
/* Holds it no longer, with one use less. */
void dueq__leases_discard(struct dueq__leases *leases, struct dueq__lease *lease);
/*
 * Delivers it: from now on it is kept for max_run_ms. late_ms: how late it was when it was reserved; -1: it is not known.
 * False: its lease has ended, and the server has not said since that it is held: it is lost.
 */
bool dueq__leases_deliver(struct dueq__leases *leases, struct dueq__lease *lease,
                          int64_t max_run_ms, int64_t late_ms);
/* Acknowledges it with the next request; one that is not held any more is lost. */
void dueq__leases_ack(struct dueq__leases *leases, dueq_bytes ticket);
/* Sends the ack of a message whose ack by another client failed, or has taken effect. False: the message is not held. */
bool dueq__leases_keep_ack(struct dueq__leases *leases, dueq_bytes ticket);
/* Does nobody hold it any more? */
bool dueq__leases_has_lost(struct dueq__leases *leases, dueq_bytes ticket);
/* It is settled by somebody else. */
void dueq__leases_forget(struct dueq__leases *leases, dueq_bytes ticket);
/* Takes it for a retry, with one use; NULL: it is not held any more, and lost. */
struct dueq__lease *dueq__leases_retry(struct dueq__leases *leases, dueq_bytes ticket);
/* Marks the queues, of so many, of which it holds messages. */
void dueq__leases_mark(struct dueq__leases *leases, bool *held, size_t count);
/* Takes messages of one queue and one length of lease that are to be extended, with one use each. */
size_t dueq__leases_take_due(struct dueq__leases *leases, int64_t now_ms,
                             struct dueq__lease **taken, size_t most);
/*
 * Takes of a list, whose first is to be delivered, those with as long a lease as that, to be extended, with one
 * use each. None where the first is known to be held.
 */
size_t dueq__leases_take_unsure(struct dueq__leases *leases, struct dueq__lease *const *list,
                                size_t count, struct dueq__lease **taken);
/* Takes open messages of one queue to be given back, with one use each: whatever comes of that, they are gone. */
size_t dueq__leases_take_open(struct dueq__leases *leases, struct dueq__lease **taken, size_t most);
/* What became of one that was sent: OK, an outcome, or a failure (< 0: its ack waits on). One use less. */
void dueq__leases_settled(struct dueq__leases *leases, struct dueq__lease *lease,
                          dueq_status status);
/* What became of an extension that was asked for at start_ms. One use less. */
void dueq__leases_extended(struct dueq__leases *leases, struct dueq__lease *lease, int64_t start_ms,
                           dueq_status status);
/*
 * For the heartbeat: waits until there is something to do, or that time has come, which is `held_ms` where messages are
 * held; *come: it has. Where messages are held it returns after a moment at the latest. False: it is to end.
 */
bool dueq__leases_wait(struct dueq__leases *leases, int64_t at_ms, int64_t held_ms, bool *come);
void dueq__leases_stop(struct dueq__leases *leases);

/* ---- told.c: what the program learns while it makes no call --------------------------------------- */

/* Under the lock of the leases: the program is warned that this message was lost. */
void dueq__told_lost(struct dueq__told *told, dueq_bytes ticket);
/* Under that lock, too: it was not leased any more when its ack was sent again. */
void dueq__told_late(struct dueq__told *told, dueq_bytes ticket);
/* Has the program look. */
void dueq__told_wake(const struct dueq__told *told);
/* Tells the program what the server's state is. */
void dueq__leases_tell(struct dueq__leases *leases, const char *news);
/* Tells the program which acks a stop could not send. */
void dueq__leases_tell_unsent(struct dueq__leases *leases);
/* Warns of messages that were lost half a second ago, and that nobody has settled since. */
void dueq__leases_tell_lost(struct dueq__leases *leases);
/* As dueq_consumer_warning(). */
bool dueq__leases_warning(struct dueq__leases *leases, char text[DUEQ_MAX_WARNING]);

/* ---- acks.c: those that wait for a request that takes them along --------------------------------- */

/* Has it an ack that is to be sent? Under the lock. */
bool dueq__lease_ack_waits(const struct dueq__lease *lease);
/* Since when the oldest ack waits, and its queue; DUEQ__NEVER: there is none, and the queue stays as it is. */
int64_t dueq__leases_oldest_ack(struct dueq__leases *leases, size_t *queue);
/* Has the acks of that queue wait until then before they are sent. */
void dueq__leases_put_off(struct dueq__leases *leases, size_t queue, int64_t until_ms);
/*
 * For a stop: has the acks that the heartbeat is sending taken once more, and those that were put off at once. The answer
 * says that they are settled, by whichever of the two requests, without waiting for the heartbeat's.
 */
void dueq__leases_send_again(struct dueq__leases *leases);
/* Takes up to `most` of that queue's acks to be sent, with one use each. */
size_t dueq__leases_take_acked(struct dueq__leases *leases, size_t queue, int64_t until_ms,
                               struct dueq__lease **taken, size_t most);

/* ---- presence.c: who a consumer is and what it holds, as it tells the queues ----------------------- */

#define DUEQ__PRESENCE_NAME 128
#define DUEQ__PRESENCE_HOLDINGS 8192
#define DUEQ__PRESENCE_ROOM (DUEQ__PRESENCE_HOLDINGS + 3 * DUEQ__PRESENCE_NAME + 128)

struct dueq__presence {
    char session[DUEQ__ID_SIZE + 1];         /* the name that it is registered by */
    char names[3 * DUEQ__PRESENCE_NAME + 1]; /* lines */
    size_t slots;
    int64_t opened_ms;
};

/* But for the session. */
void dueq__presence_init(struct dueq__presence *presence, const dueq_consumer_options *options);
/*
 * Writes what to tell a queue, and returns its size. same: for the queue of each message the place that it counts as, which
 * is to be `queue`; NULL: the queues are partitions, of which all count.
 * holds: is set where there are messages.
 */
size_t dueq__presence_write(const struct dueq__presence *presence, struct dueq__leases *leases,
                            const size_t *same, size_t queue, char out[DUEQ__PRESENCE_ROOM],
                            bool *holds);

/* ---- consumer.c ---------------------------------------------------------------------------------- */

struct dueq__retry {
    struct dueq__lease *lease; /* NULL: none */
    int64_t delay_ms;
    char *error;
    size_t error_size;
};

/* The messages of one reserve, and how far they are delivered. */
struct dueq__batch {
    struct dueq__batch *after;
    dueq_result *result;
    size_t queue, next;
    struct dueq__lease *lease[]; /* of each message; NULL: without memory for it, it is not held */
};

enum dueq__step {
    DUEQ__STEP_NONE,
    DUEQ__STEP_SETTLE,
    DUEQ__STEP_RESERVE,
    DUEQ__STEP_EXTEND,
    DUEQ__STEP_RELEASE,
    DUEQ__STEP_ASSIGNMENT, /* renews the leases on partitions */
    DUEQ__STEP_LEAVE
};

struct dueq_consumer {
    dueq_client *client;
    dueq_queue **queues; /* of a queue of partitions: those */
    size_t queue_count;
    struct dueq__assignment *assignment; /* which of these are its own; NULL: all */
    int64_t until_ms;                    /* and till when it waits; 0: not again */
    _Atomic pthread_t thread;            /* whose it is */
    uint16_t asked[DUEQ_MAX_PARTITIONS]; /* those that are waited for */
    /* When to look at each partition that had nothing when it was asked, by the monotonic clock; 0: it is to be asked. */
    int64_t look_us[DUEQ_MAX_PARTITIONS];
    int64_t asked_ms; /* when all were */
    bool found;       /* the last wait did */
    dueq_consumer_options options;
    pid_t pid;
    struct dueq__leases *leases;
    struct dueq__presence presence;
    struct dueq__heartbeat *heartbeat; /* started with the first request */
    struct dueq__batch *first;         /* that of the message delivered last */
    size_t prefetched;                 /* messages that are not delivered yet */
    enum dueq__step step;
    bool disowned; /* a stop gives back what is open */
    bool warned;   /* that too much is open */
    int64_t timeout_ms;
    int64_t timed_ms;   /* when it asked last how late messages are */
    int64_t patient_ms; /* until when it goes on over what the server refuses for a while */
    int64_t settle_ms;  /* acks that have waited since then are sent before it reserves */
    size_t settling;    /* the queue whose acks and retry the request under way takes along */
    int64_t left_ms;    /* a node was away: acks for it are put off until then */
    bool stops;         /* they cannot be put off */
    struct dueq__retry retry;
    struct dueq__lease *sent[DUEQ_MAX_BATCH]; /* what the request under way settles, or extends */
    size_t sent_count;
    bool retry_sent;
};

/* ---- warnings.c ----------------------------------------------------------------------------------- */

/*
 * The next message is asked for. Warns once where that is more than the program works on at a time; one that works on one
 * after the other has settled the last by then.
 */
void dueq__warn_of_open(dueq_consumer *consumer);
/* The retry that was to be sent is given up, as that failed. */
void dueq__warn_of_retry(const dueq_consumer *consumer);

/* The lease of messages that have none, where the program says none. */
static inline int64_t dueq__consumer_lease_ms(const dueq_consumer *consumer) {
    return consumer->options.max_run_ms ? DUEQ_HEARTBEAT_LEASE_MS : DUEQ_DEFAULT_LEASE_MS;
}

/* Is it time to ask how late messages are? Then it is asked. */
bool dueq__consumer_times(dueq_consumer *consumer);

/*
 * After fork() the child's consumer begins anew: the messages are the parent's, and so is the thread that
 * works with the leases, which therefore stay as they are.
 */
dueq_status dueq__consumer_check_fork(dueq_consumer *consumer);

/* ---- settle.c: what the program has finished ------------------------------------------------------ */

/*
 * The queue that acks or a retry are to be sent for first; SIZE_MAX: none. Where a reserve is to be recalled, that comes
 * first, as the server keeps one answer for the session, and the heartbeat, which has its own, may send them.
 */
size_t dueq__settle_next(const dueq_consumer *consumer);
/* What the next request takes along for that queue; tickets: room for DUEQ_MAX_BATCH, which the settlement names. */
void dueq__settle_take(dueq_consumer *consumer, size_t queue, dueq_bytes *tickets,
                       struct dueq__settlement *settlement);
/* What became of what the request took along, as far as that is not known yet: its failure, or the outcomes. */
void dueq__settle_end(dueq_consumer *consumer, dueq_status status, const dueq_result *result,
                      int64_t asked_ms);
/* What was to be settled is left for later, but for a retry: its message comes again when its lease ends. */
void dueq__settle_leave(dueq_consumer *consumer);
void dueq__settle_drop_retry(dueq_consumer *consumer);

/* ---- partitions.c: where the queue has partitions ------------------------------------------------ */

/* These are the consumer's queues; they may have become more. */
dueq_status dueq__partitions_list(dueq_consumer *consumer);
/* Renews the leases on partitions, or ends them. */
dueq_status dueq__partitions_share(dueq_consumer *consumer, bool leaves);
/*
 * Reserves from its own partitions, but for those that it holds messages of, until it renews its leases. Where it has
 * none it waits for that, on the queue's own name, which gets no messages.
 */
dueq_status dueq__partitions_reserve(dueq_consumer *consumer);
/* Before that is taken: how it ended. */
void dueq__partitions_waited(dueq_consumer *consumer);
/* A message is settled: a wait of this thread's begins anew, with its partition. That of another goes on until it renews. */
void dueq__partitions_freed(dueq_consumer *consumer);

/* ---- prefetch.c: what was reserved and is not delivered yet ---------------------------------------- */

/* Owns what was reserved and asked for at asked_ms. */
dueq_status dueq__prefetch_take_over(dueq_consumer *consumer, dueq_result *result,
                                     int64_t asked_ms);
/* Is there one that can be delivered? Drops those before it that are lost. */
bool dueq__prefetch_has_next(dueq_consumer *consumer);
/* Delivers the next message; NULL: it was lost. It lives until the next call of one of these functions. */
const dueq_message *dueq__prefetch_deliver(dueq_consumer *consumer);
/* The batch that has the next one; NULL: all are delivered. */
const struct dueq__batch *dueq__prefetch_rest(dueq_consumer *consumer);
/* What is left of that was given back, or that was tried: at worst the leases end. */
void dueq__prefetch_drop_rest(dueq_consumer *consumer);
void dueq__prefetch_clear(dueq_consumer *consumer);

/* ---- heartbeat.c --------------------------------------------------------------------- */

/*
 * Starts the consumer's: a thread that extends its leases and registers it. It opens a client like the consumer's when it
 * needs it.
 */
dueq_status dueq__heartbeat_start(dueq_consumer *consumer);
/* Ends the thread and waits for that. */
void dueq__heartbeat_end(struct dueq__heartbeat *heartbeat);

#endif
