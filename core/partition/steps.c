#include <stdlib.h>

#include "partition.h"

/* An operation on the partitions of a queue: each of its steps is a child, about one of them. */

dueq_status dueq__partition_begin(dueq_queue *queue, void *state, dueq__on_final *begin) {
    static const struct dueq__script plain = {.name = "a call on partitions"};
    dueq_client *client = queue->client;
    if (!state)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    dueq_status status = dueq__op_begin_plain(client, &plain);
    if (status) {
        free(state);
        return status;
    }
    client->op->queue = queue;
    client->op->verb = state;
    client->op->phase = DUEQ__PHASE_RUNNING;
    client->op->retry.deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    if (dueq__partitions_stale(dueq__partitions_of(queue))) {
        struct dueq__op *step = dueq__op_child(client, begin);
        status = step ? dueq__assignment_ask_count(queue) : DUEQ_NO_MEMORY;
        dueq__op_child_submitted(client, step, status);
    } else {
        begin(client, DUEQ_OK, NULL);
    }
    return dueq__op_under_way(client) ? DUEQ_PENDING : client->op->status;
}
