#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/*
 * The warnings of a consumer. What may happen while the program makes no call is kept for
 * dueq_consumer_warning(). What only a call finds becomes a warning of its client.
 */

/* Kept for the program */

void dueq__warnings_wake(const struct dueq__warnings *warnings) {
    if (warnings->wake)
        warnings->wake(warnings->wake_context);
}

/* Counts a message, and keeps the id of the first. */
static void note(struct dueq__warned_messages *list, dueq_bytes ticket) {
    struct dueq__ticket parts;
    if (list->count++ == 0 && dueq__ticket_read(ticket, &parts))
        snprintf(list->id, sizeof list->id, "%.*s", (int)parts.id.size,
                 (const char *)parts.id.data);
}

void dueq__warnings_add_lost(struct dueq__warnings *warnings, dueq_bytes ticket) {
    note(&warnings->lost, ticket);
    dueq__warnings_wake(warnings);
}

void dueq__warnings_add_late_ack(struct dueq__warnings *warnings, dueq_bytes ticket) {
    note(&warnings->late_acks, ticket);
    dueq__warnings_wake(warnings);
}

void dueq__leases_warn_server(struct dueq__leases *leases, const char *text) {
    pthread_mutex_lock(&leases->lock);
    snprintf(leases->warnings.server, sizeof leases->warnings.server, "%s", text);
    dueq__warnings_wake(&leases->warnings);
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_warn_lost(struct dueq__leases *leases) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        struct dueq__lease *lease = leases->items[i];
        if (!lease->warn_ms || now < lease->warn_ms)
            continue;
        lease->warn_ms = 0;
        lease->warned = lease->running && !lease->removed;
        if (lease->warned)
            dueq__warnings_add_lost(&leases->warnings, lease->ticket);
    }
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_warn_unsent_acks(struct dueq__leases *leases) {
    struct dueq__warnings *warnings = &leases->warnings;
    pthread_mutex_lock(&leases->lock);
    warnings->unsent_acks.count = 0;
    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i]->acked_ms && !leases->items[i]->removed)
            note(&warnings->unsent_acks, leases->items[i]->ticket);
    if (warnings->unsent_acks.count)
        dueq__warnings_wake(warnings);
    pthread_mutex_unlock(&leases->lock);
}

/* Writes a warning of the listed messages, and empties the list. False: the list is empty. */
static bool write_list(struct dueq__warned_messages *list, const char *title, const char *why,
                       char text[DUEQ_MAX_WARNING]) {
    char more[32] = "";
    if (!list->count)
        return false;
    if (list->count > 1)
        snprintf(more, sizeof more, " and %zu more", list->count - 1);
    snprintf(text, DUEQ_MAX_WARNING, "%s %s%s: %s", title, list->id, more, why);
    list->count = 0;
    return true;
}

bool dueq__leases_take_warning(struct dueq__leases *leases, char text[DUEQ_MAX_WARNING]) {
    struct dueq__warnings *warnings = &leases->warnings;
    pthread_mutex_lock(&leases->lock);
    bool any = *warnings->server;
    if (any) {
        memcpy(text, warnings->server, sizeof warnings->server);
        *warnings->server = '\0';
    } else {
        any = write_list(&warnings->lost, "lost: message",
                         "cancelled, or the lease ended and another consumer has it", text) ||
              write_list(&warnings->late_acks, "sent an ack again: message",
                         "not leased any more: the first ack took effect, or it was cancelled, or "
                         "another consumer has it",
                         text) ||
              write_list(&warnings->unsent_acks, "acks not sent:",
                         "these messages are delivered again when their leases end, unless the "
                         "heartbeat can send the acks before the consumer is closed",
                         text);
    }
    pthread_mutex_unlock(&leases->lock);
    return any;
}

int dueq_consumer_warning(dueq_consumer *consumer, char text[DUEQ_MAX_WARNING]) {
    return consumer->pid == getpid() && dueq__leases_take_warning(consumer->leases, text);
}

void dueq_consumer_on_warning(dueq_consumer *consumer, void (*wake)(void *context), void *context) {
    consumer->leases->warnings.wake = wake;
    consumer->leases->warnings.wake_context = context;
}

/* Warnings of the client */

void dueq__warn_concurrency(dueq_consumer *consumer) {
    size_t most = consumer->options.concurrency;
    if (!most || consumer->leases->running < most + (most > 1) || consumer->concurrency_warned)
        return;
    consumer->concurrency_warned = true;
    dueq_bytes name = dueq__keys_name(consumer->queues[0]->keys);
    dueq__client_warn(
        consumer->client,
        "%.*s: a consumer is asked for the next message, and has delivered %zu that nobody has "
        "settled. A message that is forgotten stays leased: end each by ack, retry or release, "
        "in Python by a with block. Where they are worked on at the same time, as in tasks, "
        "set the consumer's concurrency to their number",
        (int)name.size, (const char *)name.data, (size_t)consumer->leases->running);
}

void dueq__warn_dropped_retry(const dueq_consumer *consumer) {
    dueq_client *client = consumer->client;
    const struct dueq__lease *lease = consumer->retry.lease;
    dueq_bytes name = dueq__keys_name(consumer->queues[lease->queue]->keys);
    dueq__client_warn(
        client,
        "%.*s: a message has failed, and its node, which is away, does not know: it is delivered "
        "again when its lease ends: %.300s",
        (int)name.size, (const char *)name.data, client->error.text);
}
