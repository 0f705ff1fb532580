/*
 * Redisson's delayed queues: queue.c opens, counts and clears them, offer.c, transfer.c and take.c do what
 * their names say, query.c finds values that wait, values.c makes results of values. codec.h: their bytes.
 */
#ifndef DUEQ_REDISSON_REDISSON_H
#define DUEQ_REDISSON_REDISSON_H

#include "../dueq_redisson.h"
#include "verbs/verbs.h"

enum { /* its keys: foreign.c makes them */
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
    uint64_t serial;                /* of this handle among the client's */
    char takes[DUEQ__ID_SIZE + 24]; /* the session of its takes, which no other call writes over */
    uint64_t unread; /* the number of the first take since which no answer came; 0: the last did */
};

extern const struct dueq__script dueq__script_redisson_offer, dueq__script_redisson_transfer,
    dueq__script_redisson_take, dueq__script_redisson_poll, dueq__script_redisson_peek,
    dueq__script_redisson_remove, dueq__script_redisson_contains, dueq__script_redisson_clear,
    dueq__script_redisson_size;

/* The one whose call is under way. */
static inline dueq_redisson *dueq__redisson_of(const dueq_client *client) {
    return (dueq_redisson *)client->call.queue;
}

/*
 * Ends a call, or its wait, with the values of an answer: { now ms, us to wait or -1, a digit for each
 * value (1: it was packed in neither layout), the values }, or the first two alone where there are none.
 */
void dueq__redisson_values(dueq_client *client, const struct dueq__reply *reply);

#endif
