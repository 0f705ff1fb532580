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

/* All are asked so often at least, as a token may be lost with a consumer that was killed. */
#define ASK_MS 12000

/* Notes which it asks for; true: they are those of before. */
static bool choose(dueq_consumer *consumer, dueq_queue **queues, size_t *count) {
    const struct dueq__share *share = consumer->share;
    bool held[DUEQ_MAX_PARTITIONS], same = true;
    dueq__leases_mark(consumer->leases, held, consumer->queue_count);
    *count = 0;
    for (size_t i = 0; i < share->count; i++) {
        if (held[share->own[i]])
            continue;
        same = same && *count < consumer->asked_count && consumer->asked[*count] == share->own[i];
        consumer->asked[*count] = share->own[i];
        queues[(*count)++] = consumer->queues[share->own[i]];
    }
    same = same && *count == consumer->asked_count;
    consumer->asked_count = *count;
    return same;
}

dueq_status dueq__partitions_reserve(dueq_consumer *consumer) {
    const struct dueq__share *share = consumer->share;
    dueq_queue *queues[DUEQ_MAX_PARTITIONS] = {dueq__parts_of(share->queue)->base};
    size_t count;
    int64_t now = dueq__monotonic_ms();
    int64_t until = consumer->until_ms < share->renew_ms ? consumer->until_ms : share->renew_ms;
    bool same = choose(consumer, queues, &count);
    bool quiet = same && consumer->quiet && now < consumer->asked_ms + ASK_MS;
    if (!quiet)
        consumer->asked_ms = now;
    consumer->quiet = false;
    consumer->step = DUEQ__STEP_RESERVE;
    return dueq__reserve_submit(
        &(struct dueq__reserve){.queues = queues,
                                .queue_count = count ? count : 1,
                                .order = DUEQ_ROUND_ROBIN,
                                .parts = true,
                                .quiet = quiet,
                                .ordered = true,
                                .count = consumer->options.prefetch,
                                .timeout_ms = until > now ? until - now : 0,
                                .lease_ms = consumer->options.lease_ms,
                                .default_lease_ms = dueq__consumer_lease_ms(consumer)});
}

void dueq__partitions_waited(dueq_consumer *consumer) {
    const struct dueq__wait *wait = &consumer->client->call.wait;
    consumer->quiet = consumer->slice_ms && !wait->found && wait->begun == wait->watch_count;
    for (size_t i = 0; i < wait->watch_count; i++)
        consumer->quiet = consumer->quiet && !wait->watches[i].held;
}

void dueq__partitions_freed(dueq_consumer *consumer) {
    if (!consumer->share || !pthread_equal(consumer->thread, pthread_self()) ||
        consumer->step != DUEQ__STEP_RESERVE)
        return;
    consumer->slice_ms = 0;
    dueq__call_end_wait(consumer->client, true);
}
