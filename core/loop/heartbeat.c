#include <stdlib.h>
#include <string.h>

#include "loop.h"

/*
 * The heartbeat: a thread that extends the leases of what a consumer holds, and sends notes of acks that
 * no request took along. It has a client of its own, which connects at the first extension, and touches
 * nothing but that and the hold.
 */

/* How soon it notices that it is to end, while the server does not answer. */
#define SLICE_MS 50

struct dueq__keeper {
    pthread_t thread;
    struct dueq__hold *hold;
    dueq_client *client;
    dueq_queue **queues; /* its own handles */
    size_t queue_count;
};

/* Runs a submitted call to its end; a failure also where the heartbeat is to end. */
static dueq_status run(struct dueq__keeper *keeper, dueq_status submitted, dueq_result **result) {
    dueq_status status = submitted;
    *result = NULL;
    while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED) {
        status = dueq_wait(keeper->client, SLICE_MS);
        if (status == DUEQ_PENDING && dueq__hold_stopping(keeper->hold)) {
            dueq_abandon(keeper->client);
            return DUEQ_CLOSED;
        }
    }
    return submitted == DUEQ_PENDING ? dueq_take(keeper->client, result) : submitted;
}

static void collect(struct dueq__held *const *taken, size_t count, dueq_bytes *tickets) {
    for (size_t i = 0; i < count; i++)
        tickets[i] = taken[i]->ticket;
}

static dueq_status outcome(const dueq_result *result, dueq_status status, size_t index) {
    return status < 0 ? status : dueq_result_status(result, index);
}

static void send_notes(struct dueq__keeper *keeper) {
    struct dueq__held *taken[DUEQ_MAX_BATCH];
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    dueq_result *result;
    int64_t until = dueq__monotonic_ms() - DUEQ__NOTE_MS;
    size_t queue;
    while ((queue = dueq__hold_noted_queue(keeper->hold, until)) != SIZE_MAX) {
        size_t count = dueq__hold_take_noted(keeper->hold, queue, until, taken, DUEQ_MAX_BATCH);
        collect(taken, count, tickets);
        dueq_status status =
            count ? run(keeper, dueq_ack_submit(keeper->queues[queue], tickets, count), &result)
                  : DUEQ_CLOSED;
        for (size_t i = 0; i < count; i++)
            dueq__hold_settled(keeper->hold, taken[i], outcome(result, status, i));
        if (count)
            dueq_result_free(result);
        if (status < 0)
            return;
    }
}

static void beat(struct dueq__keeper *keeper) {
    struct dueq__held *taken[DUEQ_MAX_BATCH];
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    dueq_result *result;
    size_t count;
    int64_t start = dueq__monotonic_ms();
    while ((count = dueq__hold_take_due(keeper->hold, start, taken, DUEQ_MAX_BATCH)) > 0) {
        collect(taken, count, tickets);
        dueq_status status = run(
            keeper,
            dueq_extend_submit(keeper->queues[taken[0]->queue], tickets, count, taken[0]->lease_ms),
            &result);
        for (size_t i = 0; i < count; i++)
            dueq__hold_extended(keeper->hold, taken[i], start, outcome(result, status, i));
        dueq_result_free(result);
        start = dueq__monotonic_ms();
    }
}

static void *keep(void *opaque) {
    struct dueq__keeper *keeper = opaque;
    while (dueq__hold_wait(keeper->hold)) {
        beat(keeper);
        send_notes(keeper);
    }
    return NULL;
}

static void release(struct dueq__keeper *keeper) {
    for (size_t i = 0; i < keeper->queue_count; i++)
        dueq_queue_close(keeper->queues[i]);
    free(keeper->queues);
    dueq_close(keeper->client);
    free(keeper);
}

dueq_status dueq__keeper_start(dueq_client *client, dueq_queue *const *queues, size_t queue_count,
                               struct dueq__hold *hold, struct dueq__keeper **keeper) {
    struct dueq__keeper *made = calloc(1, sizeof *made);
    *keeper = NULL;
    if (!made)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    made->hold = hold;
    made->queues = calloc(queue_count, sizeof(dueq_queue *));
    dueq_status status = made->queues ? dueq__client_twin(client, &made->client) : DUEQ_NO_MEMORY;
    while (!status && made->queue_count < queue_count) {
        dueq_bytes name = dueq__keys_name(queues[made->queue_count]->keys);
        status =
            dueq_queue_open(made->client, name.data, name.size, &made->queues[made->queue_count]);
        made->queue_count += !status;
    }
    if (!status && !dueq__thread_start(&made->thread, keep, made)) {
        *keeper = made;
        return DUEQ_OK;
    }
    release(made);
    return dueq__fail(&client->error, DUEQ_NO_MEMORY, "the heartbeat could not be started");
}

void dueq__keeper_end(struct dueq__keeper *keeper) {
    if (!keeper)
        return;
    dueq__hold_stop(keeper->hold);
    pthread_join(keeper->thread, NULL);
    release(keeper);
}
