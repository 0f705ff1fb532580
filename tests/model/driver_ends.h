/* What the driver in C does with kept ends and batches. */
#ifndef DRIVER_ENDS_H
#define DRIVER_ENDS_H

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "driver_json.h"
#include "dueq.h"
#include "dueq_ends.h"

static void add_number(json_object *object, const char *name, int64_t number) {
    json_object_object_add(object, name, json_object_new_int64(number));
}

static void add_flag(json_object *object, const char *name, int flag) {
    json_object_object_add(object, name, json_object_new_boolean(flag));
}

static json_object *shown_end(const dueq_end *end) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "outcome", json_object_new_string(end->outcome));
    add_number(object, "time_ms", end->time_ms);
    add_number(object, "until_ms", end->until_ms);
    add_number(object, "deliveries", end->deliveries);
    add_flag(object, "ran", end->ran_ms >= 0);
    add_flag(object, "is_by_known", end->host.size > 0);
    add_flag(object, "has_result", end->has_result);
    json_object_object_add(object, "result", string(end->result));
    json_object_object_add(object, "error", string(end->error));
    return object;
}

static dueq_status outcome(dueq_queue *queue, json_object *request, json_object *answer) {
    dueq_result *result;
    dueq_status status = dueq_outcome(queue, text(request, "id"), 0, &result);
    const dueq_end *end = dueq_result_end(result, 0);
    json_object_object_add(answer, "end", end ? shown_end(end) : NULL);
    dueq_result_free(result);
    return status;
}

/* The drafts of callbacks: at most three, and one of each name. */
static dueq_status open_batch(dueq_queue *queue, json_object *request) {
    dueq_batch_options options = DUEQ_BATCH;
    const dueq_draft **jobs[] = {&options.then_job, &options.catch_job, &options.finally_job};
    dueq_bytes *queues[] = {&options.then_queue, &options.catch_queue, &options.finally_queue};
    static const char *const called[] = {"then", "catch", "finally"};
    json_object *callbacks = json_object_object_get(request, "callbacks"), *row;
    json_object *rows = json_object_new_array();
    for (size_t i = 0; i < 3; i++)
        if (json_object_object_get_ex(callbacks, called[i], &row))
            json_object_array_add(rows, json_object_get(row));
    struct batch *batch = batch_of(rows);
    for (size_t i = 0, at = 0; i < 3; i++)
        if (json_object_object_get_ex(callbacks, called[i], &row)) {
            *jobs[i] = &batch->drafts[at++];
            *queues[i] = text(row, "queue");
        }
    options.id = text(request, "id");
    options.open_ms = number(request, "open_ms");
    options.keep_ms = number(request, "keep_ms");
    dueq_status status = dueq_open_batch(queue, &options);
    batch_free(batch);
    json_object_put(rows);
    return status;
}

static json_object *shown_batch(const dueq_batch *batch) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "state", string(batch->state));
    add_number(object, "pushed", batch->pushed);
    add_number(object, "acked", batch->acked);
    add_number(object, "dead", batch->dead);
    add_number(object, "cancelled", batch->cancelled);
    add_number(object, "expired", batch->expired);
    add_number(object, "purged", batch->purged);
    add_number(object, "left", batch->left);
    add_number(object, "opened_ms", batch->opened_ms);
    add_number(object, "closes_ms", batch->closes_ms);
    add_number(object, "ended_ms", batch->ended_ms);
    return object;
}

static dueq_status find_batch(dueq_queue *queue, json_object *request, json_object *answer) {
    dueq_result *result;
    dueq_status status = dueq_find_batch(queue, text(request, "id"), &result);
    const dueq_batch *batch = dueq_result_batch(result, 0);
    json_object_object_add(answer, "batch", batch ? shown_batch(batch) : NULL);
    dueq_result_free(result);
    return status;
}

static dueq_status cancel_batch(dueq_queue *queue, json_object *request, json_object *answer,
                                size_t page) {
    char room[512];
    dueq_bytes cursor = {NULL, 0};
    size_t cancelled = 0;
    dueq_status status;
    do {
        dueq_result *result;
        status = dueq_cancel_batch(queue, text(request, "id"), text(request, "of"), cursor, page,
                                   &result);
        cancelled += dueq_result_purged(result);
        dueq_bytes next = dueq_result_cursor(result);
        if (next.size)
            memcpy(room, next.data, next.size);
        cursor = (dueq_bytes){room, next.size};
        dueq_result_free(result);
    } while (!status && cursor.size);
    add_number(answer, "cancelled", (int64_t)cancelled);
    return status;
}

#endif
