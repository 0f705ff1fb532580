#include <stdlib.h>

#include "laravel.h"

/* The calls that do not read payloads. */

dueq_status dueq_laravel_open(dueq_client *client, const void *name, size_t size, dueq_bytes prefix,
                              dueq_laravel **queue) {
    static const struct dueq__foreign_key table[] = {
        {DUEQ__LARAVEL_JOBS, "", "", false},
        {DUEQ__LARAVEL_LATER, "", ":delayed", false},
        {DUEQ__LARAVEL_RESERVED, "", ":reserved", false},
        {DUEQ__LARAVEL_NOTIFY, "", ":notify", false},
        {DUEQ__LARAVEL_QUARANTINE, "dueq:", ":quarantine", true},
    };
    static const char between[] = "queues:";
    char list[DUEQ__MAX_LIST];
    *queue = NULL;
    dueq__client_check_fork(client);
    if (size == 0 || size > DUEQ_MAX_NAME || prefix.size > DUEQ_MAX_NAME - size)
        return dueq__fail(&client->error, DUEQ_NAME,
                          "the queue's name has %zu bytes and its prefix %zu; 1 to %d together are "
                          "allowed",
                          size, prefix.size, DUEQ_MAX_NAME);
    struct dueq_laravel *opened = malloc(sizeof *opened);
    if (!opened)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    char *at = list;
    if (prefix.size)
        memcpy(at, prefix.data, prefix.size);
    at += prefix.size;
    memcpy(at, between, sizeof between - 1);
    at += sizeof between - 1;
    memcpy(at, name, size);
    at += size;
    dueq_status status =
        dueq__foreign_open(&opened->queue, client, (dueq_bytes){list, (size_t)(at - list)}, table,
                           sizeof table / sizeof *table);
    if (status)
        free(opened);
    else
        *queue = opened;
    return status;
}

void dueq_laravel_close(dueq_laravel *queue) {
    if (!queue)
        return;
    dueq__foreign_close(&queue->queue);
    free(queue);
}

/* size, clear */

dueq_status dueq_laravel_size_submit(dueq_laravel *queue) {
    return dueq__foreign_size_submit(&queue->queue, &dueq__script_laravel_size);
}

dueq_status dueq_laravel_clear_submit(dueq_laravel *queue) {
    return dueq__foreign_clear_submit(&queue->queue, &dueq__script_laravel_clear);
}

/* delete, release */

static dueq_status check_reserved(dueq_queue *queue, const dueq_bytes *reserved, size_t count) {
    size_t total = 0;
    dueq_status status = dueq__arg_check_count(queue, reserved, count);
    for (size_t i = 0; !status && i < count; i++) {
        if (!reserved[i].data || reserved[i].size == 0)
            return dueq__fail(&queue->client->error, DUEQ_INVALID,
                              "not a reserved payload: it comes with the job that was popped");
        if (reserved[i].size > DUEQ_MAX_BODY - total)
            return dueq__fail(&queue->client->error, DUEQ_TOO_LARGE,
                              "the payloads of one call have more than %zu bytes", DUEQ_MAX_BODY);
        total += reserved[i].size;
    }
    return status;
}

static dueq_status submit_reserved(dueq_queue *queue, const dueq_bytes *reserved, size_t count,
                                   struct dueq__resp *words) {
    for (size_t i = 0; i < count; i++)
        dueq__resp_bytes(words, reserved[i].data, reserved[i].size);
    return dueq__op_submit(queue->client, words);
}

dueq_status dueq_laravel_delete_submit(dueq_laravel *queue, const dueq_bytes *reserved,
                                       size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->queue.client);
    dueq_status status = check_reserved(&queue->queue, reserved, count);
    if (!status)
        status =
            dueq__verb_begin_outcomes(&queue->queue, &dueq__script_laravel_delete, count, &words);
    return status ? status : submit_reserved(&queue->queue, reserved, count, &words);
}

dueq_status dueq_laravel_release_submit(dueq_laravel *queue, const dueq_bytes *reserved,
                                        size_t count, int64_t delay_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->queue.client);
    delay_ms = delay_ms < 0 ? 0 : delay_ms;
    dueq_status status = check_reserved(&queue->queue, reserved, count);
    if (!status)
        status = dueq__arg_check_ms(&queue->queue, "the delay", delay_ms, 0, DUEQ_MAX_TIME_MS);
    if (!status)
        status =
            dueq__verb_begin_outcomes(&queue->queue, &dueq__script_laravel_release, count, &words);
    if (status)
        return status;
    dueq__resp_number(&words, delay_ms);
    return submit_reserved(&queue->queue, reserved, count, &words);
}

/* The blocking forms */

dueq_status dueq_laravel_delete(dueq_laravel *queue, const dueq_bytes *reserved, size_t count,
                                dueq_result **result) {
    return dueq__verb_run(queue->queue.client, dueq_laravel_delete_submit(queue, reserved, count),
                          result);
}

dueq_status dueq_laravel_release(dueq_laravel *queue, const dueq_bytes *reserved, size_t count,
                                 int64_t delay_ms, dueq_result **result) {
    return dueq__verb_run(queue->queue.client,
                          dueq_laravel_release_submit(queue, reserved, count, delay_ms), result);
}

dueq_status dueq_laravel_size(dueq_laravel *queue, dueq_sizes *sizes) {
    return dueq__foreign_sized(&queue->queue, dueq_laravel_size_submit(queue), sizes);
}

dueq_status dueq_laravel_clear(dueq_laravel *queue, size_t *cleared) {
    return dueq__foreign_cleared(&queue->queue, dueq_laravel_clear_submit(queue), cleared);
}
