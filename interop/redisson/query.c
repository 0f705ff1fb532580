#include "codec.h"
#include "redisson.h"

/* The calls on values that wait. */

static dueq_status begin(dueq_redisson *queue, const struct dueq__script *script, bool changes,
                         void (*decode)(dueq_client *client, const struct dueq__reply *reply),
                         struct dueq__resp *words) {
    dueq_status status = dueq__verb_begin(&queue->queue, script, changes, 1, decode, words);
    if (!status)
        dueq__resp_number(words, queue->layout);
    return status;
}

/* poll, peek */

static dueq_status submit_front(dueq_redisson *queue, const struct dueq__script *script,
                                bool changes, size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->queue.client);
    dueq_status status = dueq__arg_check_count(&queue->queue, queue, count);
    if (!status)
        status = begin(queue, script, changes, dueq__redisson_values, &words);
    if (status)
        return status;
    queue->queue.client->op->request.max_messages = count;
    dueq__resp_number(&words, (int64_t)count);
    return dueq__op_submit(queue->queue.client, &words);
}

dueq_status dueq_redisson_poll_submit(dueq_redisson *queue, size_t count) {
    return submit_front(queue, &dueq__script_redisson_poll, true, count);
}

dueq_status dueq_redisson_peek_submit(dueq_redisson *queue, size_t count) {
    return submit_front(queue, &dueq__script_redisson_peek, false, count);
}

/* remove, contains */

static void decode_found(dueq_client *client, const struct dueq__reply *reply) {
    int64_t status;
    if (!dueq__reply_number(reply, &status) || (status != DUEQ_OK && status != DUEQ_NOT_FOUND)) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq__op_finish(client, (dueq_status)status);
}

/*
 * Writes the value to look for, as dueq writes it; *size: its size. Behind it follows the same
 * value as Redisson writes it, if that is shorter, because Redisson leaves out null members.
 */
static dueq_status write_wanted(dueq_redisson *queue, const dueq_value *value,
                                struct dueq__strbuf *text, size_t *size) {
    struct dueq__error *error = &queue->queue.client->error;
    dueq_status status = dueq__codec_write(queue->codec, value, DUEQ__NULLS_STAY, text, error);
    *size = text->size;
    if (!status && value->kind == DUEQ_JSON)
        status = dueq__codec_write(queue->codec, value, DUEQ__NULLS_AS_JAVA, text, error);
    if (!status && text->size == 2 * *size)
        text->size = *size;
    if (!status && text->size > DUEQ_MAX_BODY)
        status = dueq__fail(error, DUEQ_TOO_LARGE, "a value of %zu bytes; at most %zu are allowed",
                            text->size, DUEQ_MAX_BODY);
    return status;
}

static dueq_status submit_found(dueq_redisson *queue, const struct dueq__script *script,
                                bool changes, const dueq_value *value) {
    dueq_client *client = queue->queue.client;
    struct dueq__strbuf text = {0};
    struct dueq__resp words;
    size_t size;
    dueq__client_check_fork(client);
    dueq_status status = write_wanted(queue, value, &text, &size);
    if (!status)
        status = begin(queue, script, changes, decode_found, &words);
    if (!status)
        dueq__resp_bytes(&words, text.data, size);
    if (!status && text.size > size)
        dueq__resp_bytes(&words, text.data + size, text.size - size);
    dueq__strbuf_free(&text);
    return status ? status : dueq__op_submit(client, &words);
}

dueq_status dueq_redisson_remove_submit(dueq_redisson *queue, const dueq_value *value) {
    return submit_found(queue, &dueq__script_redisson_remove, true, value);
}

dueq_status dueq_redisson_contains_submit(dueq_redisson *queue, const dueq_value *value) {
    return submit_found(queue, &dueq__script_redisson_contains, false, value);
}

/* The blocking forms */

dueq_status dueq_redisson_poll(dueq_redisson *queue, size_t count, dueq_result **result) {
    return dueq__verb_run(queue->queue.client, dueq_redisson_poll_submit(queue, count), result);
}

dueq_status dueq_redisson_peek(dueq_redisson *queue, size_t count, dueq_result **result) {
    return dueq__verb_run(queue->queue.client, dueq_redisson_peek_submit(queue, count), result);
}

dueq_status dueq_redisson_remove(dueq_redisson *queue, const dueq_value *value) {
    return dueq__verb_run(queue->queue.client, dueq_redisson_remove_submit(queue, value), NULL);
}

dueq_status dueq_redisson_contains(dueq_redisson *queue, const dueq_value *value) {
    return dueq__verb_run(queue->queue.client, dueq_redisson_contains_submit(queue, value), NULL);
}
