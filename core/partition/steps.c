#include <stdlib.h>

#include "partition.h"

/*
 * A call that is made of several, one after the other: the caller's is suspended, and they run in
 * its place.
 */

static struct dueq__steps *steps_of(const dueq_client *client) { return client->suspended->owner; }

void dueq__steps_end(dueq_client *client, dueq_result *result, dueq_status status) {
    dueq__op_finish_suspended(client, result, status);
}

/* A step is final. */
static void ended(dueq_client *client) {
    struct dueq__steps *steps = steps_of(client);
    dueq_status status = client->op->status;
    dueq_result *result = client->op->result;
    client->op->result = NULL;
    /* Also what is stored, and not where it is wanted, has a result. */
    if (status < 0 && !result)
        dueq__steps_end(client, NULL, status);
    else
        steps->answered(client, steps, status, result);
}

static void limit(dueq_client *client, struct dueq__steps *steps) {
    steps->deadline_ms += client->op->durable.wanted.timeout_ms;
    if (!steps->waits && steps->deadline_ms < client->op->retry.deadline_ms)
        client->op->retry.deadline_ms = steps->deadline_ms;
}

void dueq__steps_submitted(dueq_client *client, struct dueq__steps *steps, dueq_status status) {
    if (status != DUEQ_PENDING) {
        dueq__steps_end(client, NULL, status);
        return;
    }
    limit(client, steps);
    client->op->on_final = ended;
}

/* The number of partitions is known, or it is not the caller's. */
static void asked(dueq_client *client) {
    struct dueq__steps *steps = steps_of(client);
    if (client->op->status < 0)
        dueq__steps_end(client, NULL, client->op->status);
    else
        steps->next(client, steps);
}

dueq_status dueq__steps_begin(dueq_queue *queue, struct dueq__steps *steps) {
    static const struct dueq__script plain = {.name = "a call on partitions"};
    dueq_client *client = queue->client;
    if (!steps)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    dueq_status status = dueq__op_begin_plain(client, &plain);
    if (status) {
        free(steps);
        return status;
    }
    client->op->queue = queue;
    client->op->phase = DUEQ__PHASE_RUNNING;
    steps->queue = queue;
    steps->deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    if (!dueq__op_suspend(client, NULL, steps)) {
        free(steps);
        return dueq__op_no_memory(client);
    }
    if (dueq__partitions_stale(dueq__partitions_of(queue))) {
        dueq__steps_submitted(client, steps, dueq__assignment_ask_count(queue));
        if (client->suspended)
            client->op->on_final = asked;
    } else {
        steps->next(client, steps);
    }
    return dueq__op_under_way(client) ? DUEQ_PENDING : client->op->status;
}
