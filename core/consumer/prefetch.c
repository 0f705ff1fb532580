#include <stdlib.h>

#include "consumer.h"

/* The messages that are reserved and not delivered yet. */

static void drop_first(dueq_consumer *consumer) {
    struct dueq__batch *batch = consumer->first;
    consumer->first = batch->after;
    dueq_result_free(batch->result);
    free(batch);
}

void dueq__prefetch_clear(dueq_consumer *consumer) {
    while (consumer->first)
        drop_first(consumer);
    consumer->prefetched = 0;
}

dueq_status dueq__prefetch_add(dueq_consumer *consumer, dueq_result *result, int64_t asked_ms) {
    int64_t keep_until_ms = dueq__monotonic_ms() + consumer->options.max_run_ms;
    size_t count = dueq_result_count(result), held = 0;
    struct dueq__batch **last = &consumer->first;
    struct dueq__batch *batch = malloc(sizeof *batch + count * sizeof batch->lease[0]);
    if (!batch) {
        dueq_result_free(result);
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    }
    *batch = (struct dueq__batch){.result = result, .queue = dueq_result_queue(result)};
    for (size_t i = 0; i < count; i++) {
        const dueq_message *message = dueq_result_message(result, i);
        batch->lease[i] =
            dueq__leases_add(consumer->leases, batch->queue, message->ticket, asked_ms,
                             message->time_ms - message->now_ms, keep_until_ms);
        held += batch->lease[i] != NULL;
    }
    while (*last)
        last = &(*last)->after;
    *last = batch;
    consumer->prefetched += count;
    if (held < count)
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    return DUEQ_OK;
}

static bool is_delivered(const struct dueq__batch *batch) {
    return batch->next == dueq_result_count(batch->result);
}

const dueq_message *dueq__prefetch_deliver(dueq_consumer *consumer) {
    struct dueq__batch *batch = consumer->first;
    size_t at = batch->next++;
    consumer->prefetched--;
    return batch->lease[at] && dueq__leases_deliver(consumer->leases, batch->lease[at],
                                                    consumer->options.max_run_ms,
                                                    dueq__result_late_ms(batch->result, at))
               ? dueq_result_message(batch->result, at)
               : NULL;
}

bool dueq__prefetch_has_next(dueq_consumer *consumer) {
    while (consumer->prefetched) {
        const struct dueq__batch *batch = consumer->first;
        const struct dueq__lease *lease = is_delivered(batch) ? NULL : batch->lease[batch->next];
        if (is_delivered(batch))
            drop_first(consumer);
        else if (lease && lease->end_ms)
            return true;
        else
            dueq__prefetch_deliver(consumer);
    }
    return false;
}

const struct dueq__batch *dueq__prefetch_first_batch(dueq_consumer *consumer) {
    while (consumer->first && is_delivered(consumer->first))
        drop_first(consumer);
    return consumer->first;
}

void dueq__prefetch_drop_batch(dueq_consumer *consumer) {
    struct dueq__batch *batch = consumer->first;
    for (; !is_delivered(batch); batch->next++, consumer->prefetched--)
        if (batch->lease[batch->next])
            dueq__leases_discard(consumer->leases, batch->lease[batch->next]);
    drop_first(consumer);
}
