#include <stdlib.h>

#include "partition.h"

/* A reserve from all partitions of a handle. */

struct partition_reserve {
    struct dueq__reserve asked;
    size_t first;
};

static void on_reserved(dueq_client *client, dueq_status status, dueq_result *result) {
    const struct partition_reserve *reserve = client->op->verb;
    if (result)
        result->queue += reserve->first;
    dueq__op_end(client, result, status);
}

static void begin(dueq_client *client, dueq_status status, dueq_result *result) {
    struct partition_reserve *reserve = client->op->verb;
    struct dueq__reserve *asked = &reserve->asked;
    struct dueq__partitions *partitions = dueq__partitions_of(client->op->queue);
    if (dueq__op_child_failed(client, status, result))
        return;
    asked->queue_count = dueq__partitions_range(partitions, &reserve->first);
    asked->queues = partitions->handles + reserve->first;
    struct dueq__op *step = dueq__op_child(client, on_reserved);
    bool open = step != NULL;
    for (size_t i = 0; open && i < asked->queue_count; i++)
        open = dueq__partitions_handle(partitions, reserve->first + i);
    dueq__op_child_submitted(client, step, open ? dueq__reserve_submit(asked) : DUEQ_NO_MEMORY);
}

dueq_status dueq__partition_reserve(dueq_queue *queue, const struct dueq__reserve *asked) {
    struct partition_reserve *reserve = malloc(sizeof *reserve);
    if (reserve) {
        *reserve = (struct partition_reserve){.asked = *asked};
        reserve->asked.order = DUEQ_ROUND_ROBIN;
        reserve->asked.are_partitions = true;
    }
    return dueq__partition_begin(queue, reserve, DUEQ__CHOOSER_NONE, begin);
}
