/*
 * Redisson's delayed queues. queue.c: open, close, size, clear. offer.c, transfer.c, take.c: the
 * calls of these names. query.c: poll, peek, remove, contains. values.c: results that have values.
 * codec.h: how values are written.
 */
#ifndef DUEQ_REDISSON_REDISSON_H
#define DUEQ_REDISSON_REDISSON_H

#include "../dueq_redisson.h"
#include "verbs/verbs.h"

enum { /* indexes of the queue's keys */
       DUEQ__REDISSON_DESTINATION = DUEQ__KEY_FIRST,
       DUEQ__REDISSON_OFFERED,
       DUEQ__REDISSON_TIMEOUT,
       DUEQ__REDISSON_CHANNEL,
       DUEQ__REDISSON_PARKED,
       DUEQ__REDISSON_QUARANTINE
};

struct dueq_redisson {
    dueq_queue queue;
    dueq_codec codec;
    dueq_layout layout;
    uint64_t serial; /* of this handle; no other handle of the client has it */
    /*
     * The session of this handle's takes. No other call has it, and so none overwrites the answer
     * that the server keeps for them.
     */
    char take_session[DUEQ__ID_SIZE + 24];
    /* The number of the first take since the last answer to one; 0: the last take was answered. */
    uint64_t first_unread;
};

extern const struct dueq__script dueq__script_redisson_offer, dueq__script_redisson_transfer,
    dueq__script_redisson_take, dueq__script_redisson_poll, dueq__script_redisson_peek,
    dueq__script_redisson_remove, dueq__script_redisson_contains, dueq__script_redisson_clear,
    dueq__script_redisson_size;

/* The queue whose call is under way. */
static inline dueq_redisson *dueq__redisson_of(const dueq_client *client) {
    return (dueq_redisson *)client->op->queue;
}

/*
 * Ends a call, or its wait, with the values of an answer: { now ms, us to wait (-1: until woken), a
 * digit for each value (0, or 1: packed in neither layout), the values }. An answer without values
 * has only the first two.
 */
void dueq__redisson_values(dueq_client *client, const struct dueq__reply *reply);

#endif
