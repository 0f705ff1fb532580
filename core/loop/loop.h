/*
 * What a consumer is made of: hold.c, the messages that it holds; hand.c, those that it has not handed
 * out yet; keeper.c, the heartbeat that keeps their leases; consumer.c, the loop. Above the calls: each uses the verbs. Included by those files only.
 */
#ifndef DUEQ_LOOP_H
#define DUEQ_LOOP_H

#include <pthread.h>

#include "../queue/queue.h"

/* How long a note of an ack may wait for a request that takes it along. */
#define DUEQ__NOTE_MS 200
/* A prefetched message may be cancelled: after so long without an answer that it is held, the server is asked. */
#define DUEQ__SURE_MS 250

/* ---- hold.c: shared by the consumer's thread and its heartbeat's -------------------------------- */

struct dueq__held {
    size_t queue;      /* its place among the consumer's */
    int64_t lease_ms;  /* how long each lease is */
    int64_t end_ms;    /* of the lease, by the monotonic clock; 0: it was lost */
    int64_t known_ms;  /* when an answer said last that it is held */
    int64_t beat_ms;   /* when to extend it */
    int64_t stop_ms;   /* from then on it is not extended */
    int64_t noted_ms;  /* since when an ack of it waits to be sent; 0: none does */
    unsigned sending;  /* requests under way with that ack, or a retry */
    bool again;        /* the ack is to be sent although one is under way */
    bool gone;         /* settled; freed when nobody uses it */
    bool lost;         /* so said all answers to such requests */
    unsigned uses;     /* by whoever works with it outside of the lock */
    dueq_bytes ticket; /* behind it, in the same allocation */
};

struct dueq__hold {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is something to do before wake_ms */
    int64_t wake_ms;        /* when the heartbeat looks next */
    struct dueq__held **items;
    size_t count, room;
    size_t hint; /* where the next one that is asked for likely is */
    size_t lost;
    bool stopping;
};

/* NULL: out of memory. */
struct dueq__hold *dueq__hold_new(void);
void dueq__hold_free(struct dueq__hold *hold);

/* Holds a message from now on, with one use. lease_ms: from start_ms on. False: out of memory. */
bool dueq__hold_add(struct dueq__hold *hold, size_t queue, dueq_bytes ticket, int64_t start_ms,
                    int64_t lease_ms, int64_t stop_ms, struct dueq__held **added);
/* One use less. */
void dueq__hold_drop(struct dueq__hold *hold, struct dueq__held *held);
bool dueq__hold_alive(struct dueq__hold *hold, const struct dueq__held *held);
/* Hands it out: from now on it is kept for max_run_ms. False: its lease has ended, and it is lost. */
bool dueq__hold_hand_out(struct dueq__hold *hold, struct dueq__held *held, int64_t max_run_ms);
/* Notes an ack of it; one that is not held any more is lost. */
void dueq__hold_note(struct dueq__hold *hold, dueq_bytes ticket);
/* It is settled by somebody else. */
void dueq__hold_forget(struct dueq__hold *hold, dueq_bytes ticket);
/* Takes it for a retry, with one use; NULL: it is not held any more, and lost. */
struct dueq__held *dueq__hold_retry(struct dueq__hold *hold, dueq_bytes ticket);
/* Since when the oldest note waits; DUEQ__NEVER: there is none. */
int64_t dueq__hold_oldest(struct dueq__hold *hold);
/* The queue of a note that was made until then; SIZE_MAX: there is none. */
size_t dueq__hold_noted_queue(struct dueq__hold *hold, int64_t until_ms);
/*
 * For a stop: has the acks that the heartbeat is sending taken once more. The answer says that they are settled,
 * by whichever of the two requests, without waiting for the heartbeat's.
 */
void dueq__hold_send_again(struct dueq__hold *hold);
/* Takes up to `most` of that queue's notes to be sent, with one use each. */
size_t dueq__hold_take_noted(struct dueq__hold *hold, size_t queue, int64_t until_ms,
                             struct dueq__held **taken, size_t most);
/* Takes messages of one queue and one length of lease that are to be extended, with one use each. */
size_t dueq__hold_take_due(struct dueq__hold *hold, int64_t now_ms, struct dueq__held **taken,
                           size_t most);
/*
 * Takes of a list, whose first is to be delivered, those with as long a lease as that, to be extended, with one
 * use each. None where the first is known to be held.
 */
size_t dueq__hold_take_unsure(struct dueq__hold *hold, struct dueq__held *const *list, size_t count,
                              struct dueq__held **taken);
/* What became of one that was sent: OK, an outcome, or a failure (< 0: its note stands). One use less. */
void dueq__hold_settled(struct dueq__hold *hold, struct dueq__held *held, dueq_status status);
/* What became of an extension that was asked for at start_ms. One use less. */
void dueq__hold_extended(struct dueq__hold *hold, struct dueq__held *held, int64_t start_ms,
                         dueq_status status);
/* For the heartbeat: waits until there is something to do; false: it is to end. */
bool dueq__hold_wait(struct dueq__hold *hold);
bool dueq__hold_stopping(struct dueq__hold *hold);
void dueq__hold_stop(struct dueq__hold *hold);
size_t dueq__hold_lost(struct dueq__hold *hold);

/* ---- hand.c: what was reserved and is not handed out yet ------------------------------------------ */

struct dueq__hand;

/* NULL: out of memory. Clear it, then free() it. */
struct dueq__hand *dueq__hand_new(void);
void dueq__hand_clear(struct dueq__hand *hand);
size_t dueq__hand_size(const struct dueq__hand *hand);
/* Holds what a reserve brought, which was asked for at asked_ms, and owns the result. False: out of memory. */
bool dueq__hand_take(struct dueq__hand *hand, struct dueq__hold *hold, dueq_result *result,
                     int64_t asked_ms, int64_t max_run_ms);
/* Is there one that can be handed out? Drops those before it that are lost. */
bool dueq__hand_has_next(struct dueq__hand *hand, struct dueq__hold *hold);
/* As dueq__hold_take_unsure(), of one request: there is a next one. */
size_t dueq__hand_take_unsure(const struct dueq__hand *hand, struct dueq__hold *hold,
                              struct dueq__held *taken[DUEQ_MAX_BATCH]);
/* Hands it out; NULL: it was lost. It lives until the next call of one of these functions. */
const dueq_message *dueq__hand_next(struct dueq__hand *hand, struct dueq__hold *hold,
                                    int64_t max_run_ms);
/* The queue of the message handed out last, or of the rest. */
size_t dueq__hand_queue(const struct dueq__hand *hand);
/* The tickets of what is left of one request; returns how many. */
size_t dueq__hand_rest(struct dueq__hand *hand, dueq_bytes tickets[DUEQ_MAX_BATCH]);
/* They were given back, or it was tried: at worst their leases end. */
void dueq__hand_drop_rest(struct dueq__hand *hand, struct dueq__hold *hold);

/* ---- keeper.c: the heartbeat --------------------------------------------------------------------- */

struct dueq__keeper;

/* Starts a thread that keeps what the hold has; it opens a client like this one when it needs it. */
dueq_status dueq__keeper_start(dueq_client *client, dueq_queue *const *queues, size_t queue_count,
                               struct dueq__hold *hold, struct dueq__keeper **keeper);
/* Ends the thread and waits for that. */
void dueq__keeper_end(struct dueq__keeper *keeper);

#endif
