#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer.h"

/* Opening a consumer: its options, and their limits. */

#define LEAST_LEASE_MS 50 /* the shortest lease that a heartbeat can keep */

/* Made from core/options.toml by core/verbs.py: the options of consume. */
static dueq_status check_options(const dueq_consumer_options *options, struct dueq__error *error) {
    const struct dueq__range ranges[] = {
        {"the prefetch", NULL, (int64_t)options->prefetch, 1, DUEQ_MAX_BATCH},
        {"the lease", " ms", options->lease_ms, 0, UINT32_MAX},
        {"the maximum running time", " ms", options->max_run_ms, 0, DUEQ_MAX_TIME_MS},
        {"the slack", " ms", options->slack_ms, 0, DUEQ_MAX_SLACK_MS}};
    return dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
}
/* The end of what was made. */

static dueq_status check(dueq_queue *queue, const dueq_consumer_options *options) {
    struct dueq__error *error = &queue->client->error;
    const struct dueq__range kept = {"the lease that a heartbeat keeps", " ms", options->lease_ms,
                                     LEAST_LEASE_MS, UINT32_MAX};
    bool keeps = options->max_run_ms && options->lease_ms;
    dueq_status status = keeps ? dueq__ranges_check(&kept, 1, error) : DUEQ_OK;
    return status ? status : check_options(options, error);
}

/* In round robin the program may list a queue several times. */
static void find_same(dueq_consumer *consumer) {
    for (size_t i = 0; i < consumer->queue_count; i++) {
        size_t first = consumer->options.order == DUEQ_ROUND_ROBIN ? 0 : i;
        dueq_bytes name = dueq__keys_name(consumer->queues[i]->keys);
        while (first < i &&
               !dueq__bytes_equal(dueq__keys_name(consumer->queues[first]->keys), name))
            first++;
        consumer->same[i] = first;
    }
}

dueq_status dueq_consumer_open(dueq_queue *const *queues, size_t queue_count,
                               const dueq_consumer_options *given, dueq_consumer **consumer) {
    dueq_consumer_options options;
    *consumer = NULL;
    if (!queues || !queue_count || !queues[0])
        return DUEQ_INVALID;
    dueq_client *client = queues[0]->client;
    dueq_status status = dueq__struct_check(given, &dueq__layout_consumer_options, &client->error);
    if (status)
        return status;
    dueq__struct_copy(&options, given, &dueq__layout_consumer_options);
    status = dueq__reserve_check_queues(queues, queue_count, options.order);
    if (!status)
        status = check(queues[0], &options);
    if (status)
        return status;
    dueq_consumer *made = malloc(sizeof *made);
    dueq_queue **kept = calloc(queue_count, sizeof *kept);
    size_t *same = calloc(queue_count, sizeof *same);
    struct dueq__leases *leases =
        dueq__leases_new(queues[0]->partitioned ? DUEQ_MAX_PARTITIONS : queue_count);
    if (!made || !kept || !same || !leases) {
        free(made);
        free(kept);
        free(same);
        dueq__leases_free(leases);
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    }
    memcpy(kept, queues, queue_count * sizeof *kept);
    *made = (dueq_consumer){.client = client,
                            .queues = kept,
                            .queue_count = queue_count,
                            .same = same,
                            .lost_conns = client->lost_conns,
                            .options = options,
                            .pid = getpid(),
                            .leases = leases};
    find_same(made);
    dueq__presence_init(&made->presence, &options);
    made->options.program = NULL;
    made->options.tasks = (dueq_bytes){0};
    *consumer = made;
    if (queues[0]->partitioned)
        status = dueq__assignment_new(queues[0], &made->assignment);
    if (made->assignment) {
        made->queue_count = 0;
        status = dueq__partitions_update(made);
    }
    if (status) {
        dueq_consumer_close(made);
        *consumer = NULL;
    }
    return status;
}
