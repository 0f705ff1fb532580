#include <stdlib.h>

#include "loop.h"

/* A consumer of a queue of partitions: it reserves from those that it has leases on. */

dueq_status dueq__partitions_list(dueq_consumer *consumer) {
    struct dueq__parts *parts = dueq__parts_of(consumer->share->queue);
    if (consumer->queue_count == parts->count)
        return DUEQ_OK;
    for (size_t i = 0; i < parts->count; i++)
        if (!dueq__parts_get(parts, i))
            return DUEQ_NO_MEMORY;
    dueq_queue **list = calloc(parts->count, sizeof *list);
    if (!list)
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    memcpy(list, parts->part, parts->count * sizeof *list);
    free(consumer->queues);
    consumer->queues = list;
    consumer->queue_count = parts->count;
    if (!consumer->heartbeat)
        return DUEQ_OK;
    dueq__heartbeat_end(consumer->heartbeat);
    consumer->heartbeat = NULL;
    consumer->leases->stopping = false;
    return dueq__heartbeat_start(consumer->client, list, consumer->queue_count, consumer->leases,
                                 &consumer->heartbeat);
}

dueq_status dueq__partitions_share(dueq_consumer *consumer, bool leaves) {
    bool held[DUEQ_MAX_PARTITIONS];
    dueq__leases_mark(consumer->leases, held, consumer->queue_count);
    consumer->step = leaves ? DUEQ__STEP_LEAVE : DUEQ__STEP_SHARE;
    return dueq__share_submit(consumer->share, held, leaves);
}

dueq_status dueq__partitions_reserve(dueq_consumer *consumer) {
    const struct dueq__share *share = consumer->share;
    const struct dueq__parts *parts = dueq__parts_of(share->queue);
    dueq_queue *queues[DUEQ_MAX_PARTITIONS] = {parts->base};
    bool held[DUEQ_MAX_PARTITIONS];
    size_t count = 0;
    int64_t now = dueq__monotonic_ms();
    int64_t until = consumer->until_ms < share->renew_ms ? consumer->until_ms : share->renew_ms;
    dueq__leases_mark(consumer->leases, held, consumer->queue_count);
    for (size_t i = 0; i < share->count; i++) {
        if (held[share->own[i]])
            continue;
        consumer->asked[count] = share->own[i];
        queues[count++] = consumer->queues[share->own[i]];
    }
    consumer->step = DUEQ__STEP_RESERVE;
    return dueq__reserve_submit(
        &(struct dueq__reserve){.queues = queues,
                                .queue_count = count ? count : 1,
                                .order = DUEQ_ROUND_ROBIN,
                                .parts = true,
                                .ordered = true,
                                .count = consumer->options.prefetch,
                                .timeout_ms = until > now ? until - now : 0,
                                .lease_ms = consumer->options.lease_ms,
                                .default_lease_ms = dueq__consumer_lease_ms(consumer)});
}
