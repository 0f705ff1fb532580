#include <stdlib.h>

#include "verbs.h"

/*
 * Batches: opening one, and the answers of find_batch.lua and batches.lua. A batch counts the ends
 * of its members, and pushes its callbacks: core/scripts/lib/batch_counts.lua.
 */

enum { CALLBACKS = 3 };

/* A callback of a batch: the name in its key, the draft (NULL: none), and the queue's name. */
struct callback {
    const char *name;
    const dueq_draft *draft;
    dueq_bytes queue;
};

static dueq_status check_callback(dueq_queue *queue, const struct callback *callback) {
    struct dueq__error *error = &queue->client->error;
    dueq_status status = dueq__draft_check(callback->draft, false, error);
    /* In a queue with partitions it chooses that of the callback. */
    bool keyed = queue->is_partition || (queue->partitioned && !callback->queue.size);
    if (!status && callback->draft->key.size && !keyed)
        status =
            dueq__fail(error, DUEQ_INVALID, "a key chooses a partition, and a callback has none");
    if (!status && callback->draft->batch.size)
        status = dueq__fail(error, DUEQ_INVALID, "a callback is in no batch");
    if (!status && callback->draft->replace)
        status = dueq__fail(error, DUEQ_INVALID, "a callback replaces no message");
    if (!status && callback->queue.size)
        status = dueq__name_check(callback->queue.data, callback->queue.size, error);
    return status;
}

static dueq_status check_options(dueq_queue *queue, const dueq_batch_options *options) {
    struct dueq__error *error = &queue->client->error;
    const struct dueq__range ranges[] = {
        {"the time until the batch closes", " ms", options->open_ms, 1, DUEQ_MAX_TIME_MS},
        {"the time for which the batch is kept", " ms", options->keep_ms, 0, DUEQ_MAX_TIME_MS}};
    dueq_status status = dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
    return status ? status : dueq__arg_check_batch(queue, options->id);
}

/* Adds a callback as open_batch.lua takes it. Returns whether there is memory. */
static bool put_callback(dueq_client *client, const struct callback *callback,
                         struct dueq__resp *words) {
    const dueq_draft *draft = callback->draft;
    char entry[DUEQ__ID_SIZE], made[DUEQ__ID_SIZE];
    dueq__id_next(&client->ids, entry);
    dueq__resp_text(words, callback->name);
    dueq__resp_bytes(words, callback->queue.data, callback->queue.size);
    dueq__resp_bytes(words, entry, sizeof entry);
    if (!draft->id.size)
        dueq__id_next(&client->ids, made);
    dueq__push_put_draft(client, draft,
                         draft->id.size ? draft->id : (dueq_bytes){made, sizeof made}, words);
    return !words->failed;
}

static dueq_status submit(dueq_queue *queue, const dueq_batch_options *options,
                          const struct callback *callbacks) {
    struct dueq__resp words;
    char timer[DUEQ__ID_SIZE];
    dueq_client *client = queue->client;
    dueq_status status = dueq__verb_begin_outcomes(queue, &dueq__script_open_batch, 1, &words);
    if (status)
        return status;
    dueq__id_next(&client->ids, timer);
    dueq__arg_put(&words, &options->id, 1);
    dueq__resp_number(&words, options->open_ms);
    dueq__resp_number(&words, options->keep_ms);
    dueq__resp_bytes(&words, timer, sizeof timer);
    for (size_t i = 0; i < CALLBACKS; i++)
        if (callbacks[i].draft && !put_callback(client, &callbacks[i], &words))
            break;
    return dueq__op_submit(client, &words);
}

/* Opens the batch in one of the partitions, with the callbacks in the layout of this library. */
static dueq_status open_partitioned(dueq_queue *queue, dueq_batch_options *options,
                                    const struct callback *callbacks) {
    options->then_job = callbacks[0].draft;
    options->then_queue = callbacks[0].queue;
    options->catch_job = callbacks[1].draft;
    options->catch_queue = callbacks[1].queue;
    options->finally_job = callbacks[2].draft;
    options->finally_queue = callbacks[2].queue;
    return queue->partitioned->batch(queue, &(struct dueq__batch_request){.options = options});
}

dueq_status dueq_open_batch_submit(dueq_queue *queue, const dueq_batch_options *given) {
    struct dueq__error *error = &queue->client->error;
    dueq_batch_options options;
    struct dueq__given drafts[CALLBACKS] = {{0}};
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__struct_check(given, &dueq__layout_batch_options, error);
    if (status)
        return status;
    dueq__struct_copy(&options, given, &dueq__layout_batch_options);
    struct callback callbacks[CALLBACKS] = {
        {"then", options.then_job, options.then_queue},
        {"catch", options.catch_job, options.catch_queue},
        {"finally", options.finally_job, options.finally_queue}};
    status = check_options(queue, &options);
    for (size_t i = 0; !status && i < CALLBACKS; i++) {
        if (!callbacks[i].draft)
            continue;
        if (queue->partitioned &&
            dueq__bytes_equal(callbacks[i].queue, dueq__keys_name(queue->keys)))
            callbacks[i].queue = (dueq_bytes){0};
        status = dueq__given_read(&drafts[i], callbacks[i].draft, 1, &dueq__layout_draft, error);
        callbacks[i].draft = drafts[i].items;
        if (!status)
            status = check_callback(queue, &callbacks[i]);
    }
    if (!status && queue->partitioned)
        status = open_partitioned(queue, &options, callbacks);
    else if (!status)
        status = submit(queue, &options, callbacks);
    for (size_t i = 0; i < CALLBACKS; i++)
        free(drafts[i].copies);
    return status;
}

dueq_status dueq__arg_check_batch(dueq_queue *queue, dueq_bytes batch) {
    return dueq__text_check("the batch's id", batch, DUEQ_MAX_BATCH_ID, &queue->client->error);
}

/* Reading */

const struct dueq__item_type dueq__type_batch = {sizeof(dueq_batch)};

const dueq_batch *dueq_result_batch(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_batch, index);
}

enum { NOW, CURSOR, FIXED };
/* Behind the words of a batch that find_batch.lua finds are two for each callback. */
enum { ID, STATE, NUMBERS, EACH = 11, EACH_FOUND = EACH + 2 * CALLBACKS };

/* False: the words at this place of the reply are not those of lib/batch_row.lua. */
static bool read_batch(const struct dueq__reply *reply, size_t at, dueq_batch *batch) {
    static const char *const states[] = {"open", "closed", "ended"};
    int64_t *const numbers[] = {&batch->pushed,    &batch->acked,     &batch->dead,
                                &batch->cancelled, &batch->expired,   &batch->purged,
                                &batch->opened_ms, &batch->closes_ms, &batch->ended_ms};
    int64_t state;
    if (!dueq__reply_bytes(dueq__reply_item(reply, at + ID), &batch->id) ||
        !dueq__reply_number(dueq__reply_item(reply, at + STATE), &state) || state < 0 || state > 2)
        return false;
    batch->state = dueq__text(states[state]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!dueq__reply_number(dueq__reply_item(reply, at + NUMBERS + i), numbers[i]))
            return false;
    int64_t ended = batch->acked + batch->dead + batch->cancelled + batch->expired + batch->purged;
    batch->left = batch->pushed > ended ? batch->pushed - ended : 0;
    return true;
}

/* The texts of a damaged callback may be anything: then the batch has no texts of callbacks. */
static bool read_callbacks(const struct dueq__reply *reply, size_t at, dueq_batch *batch) {
    dueq_bytes *const ids[] = {&batch->then_id, &batch->catch_id, &batch->finally_id};
    dueq_bytes *const queues[] = {&batch->then_queue, &batch->catch_queue, &batch->finally_queue};
    for (size_t i = 0; i < CALLBACKS; i++) {
        if (!dueq__reply_bytes(dueq__reply_item(reply, at + 2 * i), ids[i]) ||
            !dueq__reply_bytes(dueq__reply_item(reply, at + 2 * i + 1), queues[i]))
            return false;
        if (!dueq__is_name(*ids[i]) || (queues[i]->size && !dueq__is_name(*queues[i])))
            *ids[i] = *queues[i] = (dueq_bytes){0};
    }
    return true;
}

dueq_result *dueq__result_batches(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    int64_t now_ms;
    dueq_bytes cursor;
    bool found = words == FIXED + EACH_FOUND;
    if (words < FIXED || (!found && (words - FIXED) % EACH != 0) ||
        !dueq__reply_number(dueq__reply_item(reply, NOW), &now_ms) ||
        !dueq__reply_bytes(dueq__reply_item(reply, CURSOR), &cursor))
        return dueq__result_malformed(NULL, error, "batches");
    size_t count = found ? 1 : (words - FIXED) / EACH;
    dueq_result *result = dueq__result_new(&dueq__type_batch, count, 0, error);
    if (!result)
        return NULL;
    result->cursor = cursor;
    for (size_t i = 0; i < count; i++) {
        dueq_batch *batch = result->items[i].value;
        batch->now_ms = now_ms;
        if (!read_batch(reply, FIXED + i * EACH, batch) ||
            (found && !read_callbacks(reply, FIXED + EACH, batch)))
            return dueq__result_malformed(result, error, "batches");
        result->items[i].id = batch->id;
    }
    return result;
}
