#include <stdlib.h>

#include "consumer.h"

/* A consumer of a queue with partitions. It reserves from the partitions on which it has leases. */

dueq_status dueq__partitions_update(dueq_consumer *consumer) {
    struct dueq__partitions *partitions = dueq__partitions_of(consumer->assignment->queue);
    if (consumer->queue_count == partitions->count)
        return DUEQ_OK;
    for (size_t i = 0; i < partitions->count; i++)
        if (!dueq__partitions_handle(partitions, i))
            return DUEQ_NO_MEMORY;
    dueq_queue **list = calloc(partitions->count, sizeof *list);
    if (!list)
        return dueq__fail(&consumer->client->error, DUEQ_NO_MEMORY, NULL);
    memcpy(list, partitions->handles, partitions->count * sizeof *list);
    free(consumer->queues);
    consumer->queues = list;
    consumer->queue_count = partitions->count;
    return DUEQ_OK;
}

/*
 * Marks the partitions of which the consumer has leased messages. It keeps these, and asks them for
 * more when it has settled those. Where messages have groups, it need not, and marks none.
 */
static void mark_held(dueq_consumer *consumer, bool held[DUEQ_MAX_PARTITIONS]) {
    const struct dueq__partitions *partitions = dueq__partitions_of(consumer->assignment->queue);
    if (partitions->chooser == DUEQ__CHOOSER_GROUP)
        memset(held, 0, DUEQ_MAX_PARTITIONS * sizeof *held);
    else
        dueq__leases_mark_queues(consumer->leases, held, consumer->queue_count);
}

dueq_status dueq__partitions_renew(dueq_consumer *consumer, bool leaves) {
    bool held[DUEQ_MAX_PARTITIONS];
    mark_held(consumer, held);
    /* Another consumer may get partitions of this one, and wait for their tokens. */
    dueq__wait_conn_end_kept(consumer->client);
    consumer->request = leaves ? DUEQ__REQUEST_LEAVE_PARTITIONS : DUEQ__REQUEST_RENEW_PARTITIONS;
    return dueq__assignment_submit(consumer->assignment, held, leaves);
}

/*
 * A consumer asks all its partitions at least this often: a wake token may be lost with a consumer
 * that was killed.
 */
#define ASK_ALL_MS 12000

/*
 * Chooses the partitions to reserve from, and when to ask each. A partition that had no message is
 * asked again when its next message is due: if a push comes before, its wake token stays there for
 * this consumer. But a consumer that always finds messages does not wait, and so takes no wake
 * tokens. So after messages were found, one partition in turn is asked at once.
 */
static size_t choose(dueq_consumer *consumer, dueq_queue **queues, struct dueq__known *known) {
    struct dueq__assignment *assignment = consumer->assignment;
    struct dueq__known *all = dueq__queues_lend(consumer, true);
    bool held[DUEQ_MAX_PARTITIONS];
    size_t count = 0;
    int64_t now = dueq__monotonic_ms();
    mark_held(consumer, held);
    if (assignment->changed || now >= consumer->asked_ms + ASK_ALL_MS) {
        dueq__queues_forget(consumer);
        consumer->asked_ms = now;
        assignment->changed = false;
    }
    for (size_t i = 0; i < assignment->own_count; i++) {
        size_t partition = assignment->own[i];
        if (held[partition]) {
            all[partition].empty = false;
            continue;
        }
        consumer->asked[count] = assignment->own[i];
        known[count] = all[partition];
        queues[count++] = consumer->queues[partition];
    }
    if (consumer->found && count)
        known[consumer->client->round_robin % count].empty = false;
    return count;
}

dueq_status dueq__partitions_reserve(dueq_consumer *consumer) {
    const struct dueq__assignment *assignment = consumer->assignment;
    dueq_queue *queues[DUEQ_MAX_PARTITIONS] = {dueq__partitions_of(assignment->queue)->base};
    struct dueq__known known[DUEQ_MAX_PARTITIONS] = {0};
    int64_t now = dueq__monotonic_ms();
    int64_t until =
        consumer->until_ms < assignment->renew_ms ? consumer->until_ms : assignment->renew_ms;
    size_t count = choose(consumer, queues, known);
    consumer->request = DUEQ__REQUEST_RESERVE;
    return dueq__reserve_submit(
        &(struct dueq__reserve){.queues = queues,
                                .queue_count = count ? count : 1,
                                .order = DUEQ_ROUND_ROBIN,
                                .are_partitions = true,
                                .terms.kind = DUEQ__WAIT_ORDERED,
                                .terms.keeps_blocks = true,
                                .terms.with_lateness = dueq__consumer_asks_lateness(consumer),
                                .known = until > now ? known : NULL,
                                .terms.count = consumer->options.prefetch,
                                .terms.timeout_ms = until > now ? until - now : 0,
                                .terms.lease_ms = consumer->options.lease_ms,
                                .terms.default_lease_ms = dueq__consumer_lease_ms(consumer),
                                .terms.take_expired_now = !consumer->options.max_run_ms});
}

void dueq__partitions_restart_wait(dueq_consumer *consumer) {
    if (!consumer->assignment || !pthread_equal(consumer->thread, pthread_self()) ||
        consumer->request != DUEQ__REQUEST_RESERVE)
        return;
    dueq__op_stop_wait(consumer->client, true);
}
