/* What is done with batches. */
#include "run.h"

/* The draft that a callback of the step is; NULL: the step has no such callback. */
static const dueq_draft *callback(struct run *run, json_object *step, const char *name) {
    size_t count;
    return field(step, name) ? drafts(run, field(step, name), &count) : NULL;
}

static dueq_bytes queue_of(struct run *run, json_object *step, const char *name) {
    dueq_bytes queue = bytes(run, step, name);
    if (queue.size)
        queue_named(run, queue);
    return queue;
}

static void do_open_batch(struct run *run, json_object *step) {
    dueq_batch_options options = DUEQ_BATCH;
    options.id = bytes(run, step, "id");
    options.then_job = callback(run, step, "then");
    options.catch_job = callback(run, step, "catch");
    options.finally_job = callback(run, step, "finally");
    options.then_queue = queue_of(run, step, "then_queue");
    options.catch_queue = queue_of(run, step, "catch_queue");
    options.finally_queue = queue_of(run, step, "finally_queue");
    options.open_ms = number(step, "open_ms", options.open_ms);
    options.keep_ms = number(step, "keep_ms", options.keep_ms);
    compare_status(run, field(step, "expect"), dueq_open_batch(run->queue, &options));
}

static void compare_batch(struct run *run, json_object *expected, const dueq_batch *from) {
    DUEQ_BATCH_FIELDS(COMPARE_FIELD)
    static const char *const names[] = {"opened_in_ms", "closes_in_ms", "ended_in_ms"};
    const int64_t times[] = {from->opened_ms, from->closes_ms, from->ended_ms};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (field(expected, names[i]) && !is_distance(run, field(expected, names[i]), times[i]))
            wrong(run, "%s is of %lld", names[i], (long long)times[i]);
}

static void do_find_batch(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    dueq_result *result;
    compare_status(run, expect, dueq_find_batch(run->queue, bytes(run, step, "id"), &result));
    if (dueq_result_batch(result, 0) && field(expect, "batch"))
        compare_batch(run, field(expect, "batch"), dueq_result_batch(result, 0));
    dueq_result_free(result);
}

/* All pages. The batches are in no order, and expected by their ids. */
static void do_batches(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *wanted = field(expect, "batches"), *seen;
    dueq_bytes cursor = {0};
    dueq_status status;
    seen = json_object_new_object();
    do {
        dueq_result *page;
        status = dueq_batches(run->queue, cursor, 3, &page);
        for (size_t i = 0; i < dueq_result_count(page); i++) {
            const dueq_batch *batch = dueq_result_batch(page, i);
            char id[DUEQ_MAX_BATCH_ID + 1];
            snprintf(id, sizeof id, "%.*s", (int)batch->id.size, (const char *)batch->id.data);
            json_object_object_add(seen, id, NULL);
            if (wanted && !field(wanted, id))
                wrong(run, "there is the batch %s", id);
            if (wanted)
                compare_batch(run, field(wanted, id), batch);
        }
        cursor = copy(run, dueq_result_cursor(page));
        dueq_result_free(page);
    } while (cursor.size);
    compare_status(run, expect, status);
    if (wanted && json_object_object_length(wanted) != json_object_object_length(seen))
        wrong(run, "there are %d batches", json_object_object_length(seen));
    json_object_put(seen);
}

static void do_push_to(struct run *run, json_object *step) {
    dueq_queue *target = queue_named(run, bytes(run, step, "to"));
    size_t count;
    dueq_draft *all = drafts(run, step, &count);
    dueq_result *result;
    compare_status(run, field(step, "expect"),
                   dueq_push_to(run->queue, target, all, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    if (result)
        remember_drafts(run, step, target, all, result, 0);
    dueq_result_free(result);
}

/* Until there are none left, a few at a time. */
static void do_cancel_batch(struct run *run, json_object *step) {
    enum { PAGE = 3 };
    json_object *expect = field(step, "expect");
    dueq_bytes id = bytes(run, step, "id"), home = bytes(run, step, "of"), cursor = {0};
    int64_t cancelled = 0;
    dueq_status status;
    do {
        dueq_result *page;
        status = dueq_cancel_batch(run->queue, id, home, cursor, PAGE, &page);
        cancelled += (int64_t)dueq_result_purged(page);
        cursor = copy(run, dueq_result_cursor(page));
        dueq_result_free(page);
    } while (cursor.size);
    compare_status(run, expect, status);
    if (field(expect, "cancelled"))
        compare_number(run, "the number of cancelled", field(expect, "cancelled"), cancelled);
}

const struct verb batch_verbs[] = {{"open_batch", do_open_batch},     {"find_batch", do_find_batch},
                                   {"batches", do_batches},           {"push_to", do_push_to},
                                   {"cancel_batch", do_cancel_batch}, {NULL, NULL}};
