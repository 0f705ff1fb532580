/* The channel on which the server tells a waiting call of changes: subscription.c. */
#ifndef DUEQ_SUBSCRIPTION_H
#define DUEQ_SUBSCRIPTION_H

#include "verbs/verbs.h"

struct dueq__channel {
    dueq_bytes name;
    /* True: a refused subscription ends the call. False: the call then looks at intervals. */
    bool needed;
    void (*on_message)(dueq_client *client, const struct dueq__reply *message);
};

/* After so many refusals in a row calls subscribe no more: the server, or a proxy, cannot do it. */
#define DUEQ__MAX_REFUSALS 3

/* Connects, subscribes, and passes what came on the channel to on_message(). Never blocks. */
void dueq__subscription_pump(dueq_client *client, const struct dueq__channel *channel);
/* When the pump must run next at the latest, in ms of the monotonic clock. */
int64_t dueq__subscription_next_ms(const dueq_client *client);

#endif
