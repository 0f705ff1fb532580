#include "partition.h"

/* An operation on the partitions of a queue. Each of its steps is a child, on one partition. */

dueq_status dueq__partition_begin(dueq_queue *queue, void *state, enum dueq__chooser chooser,
                                  dueq__on_final *begin) {
    static const struct dueq__script plain = {.name = "a call on partitions"};
    dueq_client *client = queue->client;
    dueq_status status = dueq__op_begin_steps(queue, &plain, state);
    if (status)
        return status;
    const struct dueq__partitions *partitions = dueq__partitions_of(queue);
    if (dueq__partitions_stale(partitions) || (chooser && !partitions->chooser)) {
        struct dueq__op *step = dueq__op_child(client, begin);
        status = step ? dueq__assignment_ask_count(queue, chooser) : DUEQ_NO_MEMORY;
        dueq__op_child_submitted(client, step, status);
    } else {
        begin(client, DUEQ_OK, NULL);
    }
    return dueq__op_under_way(client) ? DUEQ_PENDING : client->op->status;
}
