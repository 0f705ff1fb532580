#include <stdio.h>
#include <string.h>

#include "consumer.h"

/* What a consumer's program learns while it works and calls nothing: for dueq_consumer_warning(). */

void dueq__told_wake(const struct dueq__told *told) {
    if (told->wake)
        told->wake(told->wake_context);
}

/* Counts a message; the first one is named. */
static void note(struct dueq__told_list *list, dueq_bytes ticket) {
    struct dueq__ticket parts;
    if (list->count++ == 0 && dueq__ticket_read(ticket, &parts))
        snprintf(list->id, sizeof list->id, "%.*s", (int)parts.id.size,
                 (const char *)parts.id.data);
}

void dueq__told_lost(struct dueq__told *told, dueq_bytes ticket) {
    note(&told->lost, ticket);
    dueq__told_wake(told);
}

void dueq__told_late(struct dueq__told *told, dueq_bytes ticket) {
    note(&told->late, ticket);
    dueq__told_wake(told);
}

void dueq__leases_tell(struct dueq__leases *leases, const char *news) {
    pthread_mutex_lock(&leases->lock);
    snprintf(leases->told.news, sizeof leases->told.news, "%s", news);
    dueq__told_wake(&leases->told);
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_tell_lost(struct dueq__leases *leases) {
    int64_t now = dueq__monotonic_ms();
    pthread_mutex_lock(&leases->lock);
    for (size_t i = 0; i < leases->count; i++) {
        struct dueq__lease *lease = leases->items[i];
        if (!lease->tell_ms || now < lease->tell_ms)
            continue;
        lease->tell_ms = 0;
        lease->told = lease->open && !lease->gone;
        if (lease->told)
            dueq__told_lost(&leases->told, lease->ticket);
    }
    pthread_mutex_unlock(&leases->lock);
}

void dueq__leases_tell_unsent(struct dueq__leases *leases) {
    struct dueq__told *told = &leases->told;
    pthread_mutex_lock(&leases->lock);
    told->unsent.count = 0;
    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i]->acked_ms && !leases->items[i]->gone)
            note(&told->unsent, leases->items[i]->ticket);
    if (told->unsent.count)
        dueq__told_wake(told);
    pthread_mutex_unlock(&leases->lock);
}

/* Writes a warning of the listed messages, and empties the list. */
static bool write_list(struct dueq__told_list *list, const char *title, const char *why,
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

bool dueq__leases_warning(struct dueq__leases *leases, char text[DUEQ_MAX_WARNING]) {
    struct dueq__told *told = &leases->told;
    pthread_mutex_lock(&leases->lock);
    bool any = *told->news;
    if (any) {
        memcpy(text, told->news, sizeof told->news);
        *told->news = '\0';
    } else {
        any = write_list(&told->lost, "lost: message",
                         "cancelled, or the lease ended and another consumer has it", text) ||
              write_list(&told->late, "sent an ack again: message",
                         "not leased any more: the first ack took effect, or it was cancelled, or "
                         "another consumer has it",
                         text) ||
              write_list(&told->unsent, "acks not sent:",
                         "these messages are delivered again when their leases end, unless the "
                         "heartbeat can send the acks before the consumer is closed",
                         text);
    }
    pthread_mutex_unlock(&leases->lock);
    return any;
}
