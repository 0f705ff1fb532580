#include <stdlib.h>

#include "partition.h"

/* A reserve from all partitions. */

struct partition_reserve {
    struct dueq__steps steps; /* first */
    struct dueq__reserve asked;
    size_t first;
};

static void ask(dueq_client *client, struct dueq__steps *steps) {
    struct partition_reserve *reserve = (struct partition_reserve *)(void *)steps;
    struct dueq__reserve *asked = &reserve->asked;
    struct dueq__partitions *partitions = dueq__partitions_of(steps->queue);
    asked->queue_count = dueq__partitions_range(partitions, &reserve->first);
    asked->queues = partitions->handles + reserve->first;
    steps->waits = true;
    bool open = true;
    for (size_t i = 0; open && i < asked->queue_count; i++)
        open = dueq__partitions_handle(partitions, reserve->first + i);
    dueq__steps_submitted(client, steps, open ? dueq__reserve_submit(asked) : DUEQ_NO_MEMORY);
}

static void reserved(dueq_client *client, struct dueq__steps *steps, dueq_status status,
                     dueq_result *result) {
    const struct partition_reserve *reserve = (struct partition_reserve *)(void *)steps;
    if (result)
        result->queue += reserve->first;
    dueq__steps_end(client, result, status);
}

dueq_status dueq__partition_reserve(dueq_queue *queue, const struct dueq__reserve *asked) {
    struct partition_reserve *reserve = malloc(sizeof *reserve);
    if (reserve) {
        *reserve = (struct partition_reserve){.steps = {.next = ask, .answered = reserved},
                                              .asked = *asked};
        reserve->asked.order = DUEQ_ROUND_ROBIN;
        reserve->asked.are_partitions = true;
    }
    return dueq__steps_begin(queue, (struct dueq__steps *)(void *)reserve);
}
