#include <stdlib.h>
#include <string.h>

#include "loop.h"

/*
 * The heartbeat: a thread that extends the leases of what a consumer holds, and sends acks that
 * no request took along. It has a client of its own, which connects at the first extension, and touches
 * nothing but that and the leases.
 */

/* How soon it notices that it is to end, while the server does not answer. */
#define SLICE_MS 50

struct dueq__heartbeat {
    pthread_t thread;
    struct dueq__leases *leases;
    dueq_client *client;
    dueq_queue **queues; /* its own handles */
    size_t queue_count;
};

/* Runs a submitted call to its end; a failure also where the heartbeat is to end. */
static dueq_status run(struct dueq__heartbeat *heartbeat, dueq_status submitted,
                       dueq_result **result) {
    dueq_status status = submitted;
    *result = NULL;
    heartbeat->client->call.gives_way = heartbeat->client->cluster && heartbeat->queue_count > 1;
    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_wait(heartbeat->client, SLICE_MS);
        if (status == DUEQ_PENDING && heartbeat->leases->stopping) {
            dueq_abandon(heartbeat->client);
            return DUEQ_CLOSED;
        }
    }
    return submitted == DUEQ_PENDING ? dueq_take(heartbeat->client, result) : submitted;
}

/* Extends the leases, or sends their acks. False: it failed. */
static bool request(struct dueq__heartbeat *heartbeat, struct dueq__lease *const *taken,
                    size_t count, bool extends) {
    dueq_queue *queue = heartbeat->queues[taken[0]->queue];
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    dueq_result *result;
    int64_t start = dueq__monotonic_ms();
    for (size_t i = 0; i < count; i++)
        tickets[i] = taken[i]->ticket;
    dueq_status status = run(heartbeat,
                             extends ? dueq_extend_submit(queue, tickets, count, taken[0]->lease_ms)
                                     : dueq_ack_submit(queue, tickets, count),
                             &result);
    for (size_t i = 0; i < count; i++) {
        dueq_status outcome = status < 0 ? status : dueq_result_status(result, i);
        if (extends)
            dueq__leases_extended(heartbeat->leases, taken[i], start, outcome);
        else
            dueq__leases_settled(heartbeat->leases, taken[i], outcome);
    }
    dueq_result_free(result);
    return status >= 0;
}

static void beat(struct dueq__heartbeat *heartbeat) {
    struct dueq__lease *taken[DUEQ_MAX_BATCH];
    size_t count, queue = 0;
    while ((count = dueq__leases_take_due(heartbeat->leases, dueq__monotonic_ms(), taken,
                                          DUEQ_MAX_BATCH)) > 0)
        request(heartbeat, taken, count, true);
    int64_t until = dueq__monotonic_ms() - DUEQ__ACK_MS;
    while (dueq__leases_oldest_ack(heartbeat->leases, &queue) <= until) {
        count = dueq__leases_take_acked(heartbeat->leases, queue, until, taken, DUEQ_MAX_BATCH);
        if (!count || !request(heartbeat, taken, count, false))
            return;
    }
}

static void *keep(void *opaque) {
    struct dueq__heartbeat *heartbeat = opaque;
    while (dueq__leases_wait(heartbeat->leases))
        beat(heartbeat);
    return NULL;
}

static void release(struct dueq__heartbeat *heartbeat) {
    for (size_t i = 0; i < heartbeat->queue_count; i++)
        dueq_queue_close(heartbeat->queues[i]);
    free(heartbeat->queues);
    dueq_close(heartbeat->client);
    free(heartbeat);
}

dueq_status dueq__heartbeat_start(dueq_client *client, dueq_queue *const *queues,
                                  size_t queue_count, struct dueq__leases *leases,
                                  struct dueq__heartbeat **heartbeat) {
    struct dueq__heartbeat *made = calloc(1, sizeof *made);
    *heartbeat = NULL;
    if (!made)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    made->leases = leases;
    made->queues = calloc(queue_count, sizeof(dueq_queue *));
    dueq_status status = made->queues ? dueq__client_twin(client, &made->client) : DUEQ_NO_MEMORY;
    while (!status && made->queue_count < queue_count) {
        dueq_bytes name = dueq__keys_name(queues[made->queue_count]->keys);
        status =
            dueq_queue_open(made->client, name.data, name.size, &made->queues[made->queue_count]);
        made->queue_count += !status;
    }
    if (!status && !dueq__thread_start(&made->thread, keep, made)) {
        *heartbeat = made;
        return DUEQ_OK;
    }
    release(made);
    return dueq__fail(&client->error, DUEQ_NO_MEMORY, "the heartbeat could not be started");
}

void dueq__heartbeat_end(struct dueq__heartbeat *heartbeat) {
    if (!heartbeat)
        return;
    dueq__leases_stop(heartbeat->leases);
    pthread_join(heartbeat->thread, NULL);
    release(heartbeat);
}
