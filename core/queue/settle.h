/*
 * One round trip of a consumer (reserve.c): what it holds is settled, and the next is reserved.
 */
#ifndef DUEQ_SETTLE_H
#define DUEQ_SETTLE_H

#include "../request/request.h"

/* What a consumer says of messages that it holds. */
struct dueq__settlement {
    const dueq_bytes *acks; /* tickets of finished ones */
    size_t ack_count;       /* 0 to DUEQ_MAX_BATCH */
    dueq_bytes retry;       /* the ticket of one to give back as failed; size 0: none */
    int64_t retry_delay_ms; /* as of dueq_retry() */
    dueq_bytes retry_error;
    /*
     * Gets the outcomes, a digit for each ack and then the retry, when they come: the reserve may wait for long. It is
     * called once, or not at all where what was settled is as the failure of the call says.
     */
    void (*settled)(void *owner, const char *outcomes, size_t count);
    void *owner;
};

/*
 * Submits a reserve that first settles messages of the queue, in the same request. settlement is borrowed
 * until it returns; NULL, or an empty one: none. count: 0 to DUEQ_MAX_BATCH; 0 settles only, and then waits
 * for nothing. default_lease_ms: of messages that have no lease of their own, where lease_ms is 0. The call
 * ends as a reserve does (with count 0: EMPTY).
 */
dueq_status dueq__reserve_settled_submit(dueq_queue *queue,
                                         const struct dueq__settlement *settlement, size_t count,
                                         int64_t timeout_ms, int64_t lease_ms,
                                         int64_t default_lease_ms);

#endif
