#include <stdio.h>

#include "verbs.h"

/* On how many replicas and disks a call wants its messages, and the outcome if fewer have them. */

static void merge(dueq_durability *all, const dueq_durability *more) {
    if (more->replicas > all->replicas)
        all->replicas = more->replicas;
    all->disk |= more->disk;
    if (!all->timeout_ms)
        all->timeout_ms = more->timeout_ms;
}

dueq_durability dueq__durable_for(const dueq_queue *queue, const dueq_durability *own) {
    static const dueq_durability otherwise = {.timeout_ms = DUEQ_DEFAULT_DURABLE_MS};
    dueq_durability all = *own;
    merge(&all, &queue->durability);
    merge(&all, &queue->client->url.durability);
    merge(&all, &otherwise);
    return all.replicas || all.disk ? all : (dueq_durability){0};
}

static void describe_durability(const dueq_client *client, char *out, size_t room) {
    const struct dueq__durable *durable = &client->op->durable;
    const dueq_durability *asked = &durable->wanted;
    long long replicas = durable->replicas, limit = asked->timeout_ms;
    if (!durable->known)
        snprintf(out, room, "whether replicas or disks have it is not known%s%.300s",
                 client->error.text[0] ? ": " : "", client->error.text);
    else if (asked->disk && asked->replicas)
        snprintf(out, room,
                 "on disk at the server: %s, and on those of %lld of %d replicas, within %lld ms",
                 durable->disks ? "yes" : "no", replicas, asked->replicas, limit);
    else if (asked->disk)
        snprintf(out, room, "not on the server's disk within %lld ms", limit);
    else
        snprintf(out, room, "on %lld of %d replicas within %lld ms", replicas, asked->replicas,
                 limit);
}

dueq_status dueq__durable_status(dueq_client *client, dueq_result *result) {
    const struct dueq__op *op = client->op;
    const struct dueq__item *first = &result->items[result->first_pushed];
    dueq_status status = dueq__result_summary(result);
    if (!dueq__durable_asked(op))
        return status;
    result->replicas = (int)op->durable.replicas;
    result->disk = op->durable.disks > 0;
    bool stored = false;
    for (size_t i = result->first_pushed; i < result->count; i++)
        stored = stored || result->items[i].status >= 0;
    if (dueq__durable_is_met(op) || first->status == DUEQ_LEASE_LOST || !stored)
        return status;
    size_t size = first->id.size < 100 ? first->id.size : 100,
           more = result->count - result->first_pushed - 1;
    char where[400], others[48] = "";
    describe_durability(client, where, sizeof where);
    if (more)
        snprintf(others, sizeof others, " and %zu more", more);
    return dueq__fail(&client->error, DUEQ_NOT_DURABLE, "stored as %.*s%s; %s", (int)size,
                      (const char *)first->id.data, others, where);
}
