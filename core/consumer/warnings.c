#include <stdio.h>
#include <unistd.h>

#include "consumer.h"

/* What a consumer says to its program that is no failure of a call. */

int dueq_consumer_warning(dueq_consumer *consumer, char text[DUEQ_MAX_WARNING]) {
    return consumer->pid == getpid() && dueq__leases_warning(consumer->leases, text);
}

void dueq_consumer_on_warning(dueq_consumer *consumer, void (*wake)(void *context), void *context) {
    consumer->leases->told.wake = wake;
    consumer->leases->told.wake_context = context;
}

void dueq__warn_of_open(dueq_consumer *consumer) {
    dueq_client *client = consumer->client;
    size_t most = consumer->options.concurrency;
    if (!most || consumer->leases->open < most + (most > 1) || consumer->warned)
        return;
    consumer->warned = client->has_warning = true;
    dueq_bytes name = dueq__keys_name(consumer->queues[0]->keys);
    snprintf(
        client->warning, sizeof client->warning,
        "%.*s: a consumer is asked for the next message, and has delivered %zu that nobody has "
        "settled. A message that is forgotten stays leased: end each by ack, retry or release, "
        "in Python by a with block. Where they are worked on at the same time, as in tasks, "
        "set the consumer's concurrency to their number",
        (int)name.size, (const char *)name.data, (size_t)consumer->leases->open);
}

void dueq__warn_of_retry(const dueq_consumer *consumer) {
    dueq_client *client = consumer->client;
    const struct dueq__lease *lease = consumer->retry.lease;
    dueq_bytes name = dueq__keys_name(consumer->queues[lease->queue]->keys);
    client->has_warning = true;
    snprintf(client->warning, sizeof client->warning,
             "%.*s: a message has failed, and its node, which is away, does not know: it is "
             "delivered again when "
             "its lease ends: %.300s",
             (int)name.size, (const char *)name.data, client->error.text);
}
