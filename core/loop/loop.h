/*
 * What a consumer is made of: leases.c, the messages that it holds; heartbeat.c, the thread that extends their
 * leases; consumer.c, the loop. Beside it pusher.c, which needs none of these.
 */
#ifndef DUEQ_LOOP_H
#define DUEQ_LOOP_H

#include <pthread.h>

#include "../queue/queue.h"

/* How long an ack may wait for a request that takes it along. */
#define DUEQ__ACK_MS 200
/* A prefetched message may be cancelled: after so long without an answer that it is held, the server is asked. */
#define DUEQ__SURE_MS 250

/* ---- leases.c: shared by the consumer's thread and its heartbeat's -------------------------------- */

struct dueq__lease {
    size_t queue;           /* its place among the consumer's */
    int64_t lease_ms;       /* how long each lease is */
    _Atomic int64_t end_ms; /* of the lease, by the monotonic clock; 0: it was lost */
    int64_t known_ms;       /* when an answer said last that it is held */
    int64_t beat_ms;        /* when to extend it */
    int64_t stop_ms;        /* from then on it is not extended */
    int64_t acked_ms;       /* since when an ack of it waits to be sent; 0: none does */
    unsigned sending;       /* requests under way with that ack, or a retry */
    bool again;             /* the ack is to be sent although one is under way */
    bool gone;              /* settled; freed when nobody uses it */
    bool lost;              /* so said all answers to such requests */
    unsigned uses;          /* by whoever works with it outside of the lock */
    dueq_bytes ticket;      /* behind it, in the same allocation */
};

struct dueq__leases {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is something to do before wake_ms */
    int64_t wake_ms;        /* when the heartbeat looks next */
    struct dueq__lease **items;
    size_t count, room;
    size_t hint; /* where the next one that is asked for likely is */
    _Atomic size_t lost;
    _Atomic bool stopping;
};

/* NULL: out of memory. */
struct dueq__leases *dueq__leases_new(void);
void dueq__leases_free(struct dueq__leases *leases);

/* Holds a message from now on, with one use. lease_ms: from start_ms on. NULL: out of memory. */
struct dueq__lease *dueq__leases_add(struct dueq__leases *leases, size_t queue, dueq_bytes ticket,
                                     int64_t start_ms, int64_t lease_ms, int64_t stop_ms);
/* Holds it no longer, with one use less. */
void dueq__leases_discard(struct dueq__leases *leases, struct dueq__lease *lease);
/* Delivers it: from now on it is kept for max_run_ms. False: its lease has ended, and it is lost. */
bool dueq__leases_deliver(struct dueq__leases *leases, struct dueq__lease *lease,
                          int64_t max_run_ms);
/* Acknowledges it with the next request; one that is not held any more is lost. */
void dueq__leases_ack(struct dueq__leases *leases, dueq_bytes ticket);
/* It is settled by somebody else. */
void dueq__leases_forget(struct dueq__leases *leases, dueq_bytes ticket);
/* Takes it for a retry, with one use; NULL: it is not held any more, and lost. */
struct dueq__lease *dueq__leases_retry(struct dueq__leases *leases, dueq_bytes ticket);
/* Since when the oldest ack waits, and its queue; DUEQ__NEVER: there is none, and the queue stays as it is. */
int64_t dueq__leases_oldest_ack(struct dueq__leases *leases, size_t *queue);
/*
 * For a stop: has the acks that the heartbeat is sending taken once more. The answer says that they are settled,
 * by whichever of the two requests, without waiting for the heartbeat's.
 */
void dueq__leases_send_again(struct dueq__leases *leases);
/* Takes up to `most` of that queue's acks to be sent, with one use each. */
size_t dueq__leases_take_acked(struct dueq__leases *leases, size_t queue, int64_t until_ms,
                               struct dueq__lease **taken, size_t most);
/* Takes messages of one queue and one length of lease that are to be extended, with one use each. */
size_t dueq__leases_take_due(struct dueq__leases *leases, int64_t now_ms,
                             struct dueq__lease **taken, size_t most);
/*
 * Takes of a list, whose first is to be delivered, those with as long a lease as that, to be extended, with one
 * use each. None where the first is known to be held.
 */
size_t dueq__leases_take_unsure(struct dueq__leases *leases, struct dueq__lease *const *list,
                                size_t count, struct dueq__lease **taken);
/* What became of one that was sent: OK, an outcome, or a failure (< 0: its ack waits on). One use less. */
void dueq__leases_settled(struct dueq__leases *leases, struct dueq__lease *lease,
                          dueq_status status);
/* What became of an extension that was asked for at start_ms. One use less. */
void dueq__leases_extended(struct dueq__leases *leases, struct dueq__lease *lease, int64_t start_ms,
                           dueq_status status);
/* For the heartbeat: waits until there is something to do; false: it is to end. */
bool dueq__leases_wait(struct dueq__leases *leases);
void dueq__leases_stop(struct dueq__leases *leases);

/* ---- heartbeat.c --------------------------------------------------------------------- */

struct dueq__heartbeat;

/* Starts a thread that extends these leases; it opens a client like this one when it needs it. */
dueq_status dueq__heartbeat_start(dueq_client *client, dueq_queue *const *queues,
                                  size_t queue_count, struct dueq__leases *leases,
                                  struct dueq__heartbeat **heartbeat);
/* Ends the thread and waits for that. */
void dueq__heartbeat_end(struct dueq__heartbeat *heartbeat);

#endif
