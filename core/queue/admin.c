#include "queue.h"

/* What is done to messages from outside, by id or state, and to the queue as a whole. */

/* Is it a digit for each item: a state, or 0? */
static bool are_states(dueq_bytes states, size_t count) {
    bool good = states.size == count;
    for (size_t i = 0; good && i < count; i++) {
        char state = ((const char *)states.data)[i];
        good = state >= '0' && state <= '0' + DUEQ_DEAD;
    }
    return good;
}

static void decode_cancelled(dueq_client *client, const struct dueq__reply *reply) {
    dueq_bytes states;
    if (!dueq__reply_bytes(reply, &states) || !are_states(states, client->call.wait.count)) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq_result *result = dueq__result_cancelled(states, &client->error);
    dueq__call_answer(client, result, result ? dueq__result_summary(result) : DUEQ_OK);
}

dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    dueq_status status = dueq__ops_ids(
        queue, count == 1 ? &dueq__script_cancel : &dueq__script_cancel_any, ids, count);
    if (status == DUEQ_PENDING)
        queue->client->call.decode = decode_cancelled;
    return status;
}

dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    return dueq__ops_ids(queue, &dueq__script_kick, ids, count);
}

dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                   int64_t at_ms) {
    struct dueq__resp words;
    char due[DUEQ__DUE_SIZE];
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__id_check(id, &queue->client->error);
    if (!status)
        status = dueq__due_check(delay_ms, at_ms, &queue->client->error);
    if (!status)
        status = dueq__ops_begin(queue, &dueq__script_reschedule, 1, &words);
    if (status)
        return status;
    dueq__ops_due(due, delay_ms, at_ms);
    dueq__resp_bytes(&words, id.data, id.size);
    dueq__resp_text(&words, due);
    return dueq__call_submit(queue->client, &words);
}

/* A call without arguments. */
static dueq_status submit_plain(dueq_queue *queue, const struct dueq__script *script) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_begin(queue, script, 1, &words);
    return status ? status : dueq__call_submit(queue->client, &words);
}

dueq_status dueq_pause_submit(dueq_queue *queue) {
    return submit_plain(queue, &dueq__script_pause);
}

dueq_status dueq_resume_submit(dueq_queue *queue) {
    return submit_plain(queue, &dueq__script_resume);
}

/* ---- purge, remove and kick_all: a number of messages, and whether there are more ---- */

/* Takes the number that a text begins with; false: there is none, or it is none of messages. */
static bool take_count(const struct dueq__reply *reply, size_t *count, dueq_bytes *rest) {
    dueq_bytes text;
    size_t at = 0;
    *count = 0;
    if (dueq__reply_bytes(reply, &text))
        for (const char *c = text.data; at < text.size && c[at] >= '0' && c[at] <= '9'; at++)
            *count = *count * 10 + (size_t)(c[at] - '0');
    if (at == 0 || at > 9)
        return false;
    *rest = (dueq_bytes){(const char *)text.data + at, text.size - at};
    return true;
}

/* "12", or "12 +" when there may be more. */
static void decode_purged(dueq_client *client, const struct dueq__reply *reply) {
    size_t purged;
    dueq_bytes rest;
    if (!take_count(reply, &purged, &rest)) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq__call_answer(client, dueq__result_purged(purged, &client->error),
                      rest.size ? DUEQ_OK : DUEQ_EMPTY);
}

/* Takes messages away; state 0: of any. */
static dueq_status submit_most(dueq_queue *queue, const struct dueq__script *script, int64_t state,
                               size_t most) {
    struct dueq__resp words;
    dueq_status status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_begin(queue, script, 1, &words);
    if (status)
        return status;
    queue->client->call.decode = decode_purged;
    if (state)
        dueq__resp_number(&words, state);
    dueq__resp_number(&words, (int64_t)most);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t most) {
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_state(queue, state);
    return status ? status : submit_most(queue, &dueq__script_purge, (int64_t)state, most);
}

dueq_status dueq_remove_submit(dueq_queue *queue, size_t most) {
    dueq__client_check_fork(queue->client);
    return submit_most(queue, &dueq__script_remove, 0, most);
}

/* "12 CURSOR"; an empty cursor: there is no more. */
static void decode_kicked(dueq_client *client, const struct dueq__reply *reply) {
    size_t kicked;
    dueq_bytes rest;
    if (!take_count(reply, &kicked, &rest) || !rest.size || *(const char *)rest.data != ' ') {
        dueq__ops_unexpected(client);
        return;
    }
    rest = (dueq_bytes){(const char *)rest.data + 1, rest.size - 1};
    dueq__call_answer(client, dueq__result_kicked(kicked, rest, &client->error), DUEQ_OK);
}

dueq_status dueq_kick_all_submit(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                                 size_t most) {
    static const dueq_filter all = {0};
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    filter = filter ? filter : &all;
    dueq_status status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_check_ms(queue, "the filter's first time", filter->from_ms, 0,
                                    DUEQ_MAX_TIME_MS);
    if (!status)
        status = dueq__ops_check_ms(queue, "the filter's last time", filter->until_ms, 0,
                                    DUEQ_MAX_TIME_MS);
    if (!status)
        status = dueq__ops_begin(queue, &dueq__script_kick_all, 1, &words);
    if (status)
        return status;
    queue->client->call.decode = decode_kicked;
    dueq__resp_bytes(&words, cursor.data, cursor.size);
    dueq__resp_number(&words, (int64_t)most);
    dueq__resp_bytes(&words, filter->error.data, filter->error.size);
    dueq__resp_number(&words, filter->from_ms);
    dueq__resp_number(&words, filter->until_ms);
    return dueq__call_submit(queue->client, &words);
}

/* ---- Blocking ---- */

dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                        dueq_result **result) {
    return dueq__ops_run(queue, dueq_cancel_submit(queue, ids, count), result);
}

dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                      dueq_result **result) {
    return dueq__ops_run(queue, dueq_kick_submit(queue, ids, count), result);
}

dueq_status dueq_kick_all(dueq_queue *queue, const dueq_filter *filter, dueq_bytes cursor,
                          size_t most, dueq_result **result) {
    return dueq__ops_run(queue, dueq_kick_all_submit(queue, filter, cursor, most), result);
}

dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms, int64_t at_ms) {
    return dueq__ops_run(queue, dueq_reschedule_submit(queue, id, delay_ms, at_ms), NULL);
}

dueq_status dueq_pause(dueq_queue *queue) {
    return dueq__ops_run(queue, dueq_pause_submit(queue), NULL);
}

dueq_status dueq_resume(dueq_queue *queue) {
    return dueq__ops_run(queue, dueq_resume_submit(queue), NULL);
}

/* The end of a step that takes messages away. */
static dueq_status run_most(dueq_queue *queue, dueq_status submitted, size_t *count) {
    dueq_result *result;
    dueq_status status = dueq__ops_run(queue, submitted, &result);
    if (count)
        *count = dueq_result_purged(result);
    dueq_result_free(result);
    return status;
}

dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t most, size_t *purged) {
    return run_most(queue, dueq_purge_submit(queue, state, most), purged);
}

dueq_status dueq_remove(dueq_queue *queue, size_t most, size_t *removed) {
    return run_most(queue, dueq_remove_submit(queue, most), removed);
}
