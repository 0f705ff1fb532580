/* A channel on which a call that waits is told of changes: subscription.c. */
#ifndef DUEQ_SUBSCRIPTION_H
#define DUEQ_SUBSCRIPTION_H

#include "verbs/verbs.h"

struct dueq__channel {
    dueq_bytes name;
    bool needed; /* a call fails where the server refuses it; else it looks now and then */
    void (*told)(dueq_client *client, const struct dueq__reply *message);
};

/* So many refusals in a row: the server, or what stands before it, does not do this. */
#define DUEQ__MAX_REFUSALS 3

/* Connects, subscribes and takes in what is told, as far as that goes without blocking. */
void dueq__subscription_pump(dueq_client *client, const struct dueq__channel *channel);
/* When the pump has something to do at the latest, in ms. */
int64_t dueq__subscription_next_ms(const dueq_client *client);

#endif
