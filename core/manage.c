#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What is done to messages from outside, by id or state, and to the queue as a whole. */

dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    return dueq__verb_ids(queue, &dueq__script_cancel, ids, count);
}

dueq_status dueq_kick_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    return dueq__verb_ids(queue, &dueq__script_kick, ids, count);
}

dueq_status dueq_reschedule_submit(dueq_queue *queue, dueq_bytes id, int64_t delay_ms,
                                   int64_t at_ms) {
    struct dueq__words words;
    char due[DUEQ__DUE_SIZE];
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__id_check(id, &queue->client->error);
    if (!status)
        status = dueq__due_check(delay_ms, at_ms, &queue->client->error);
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_reschedule, 1, &words);
    if (status)
        return status;
    dueq__verb_due(due, delay_ms, at_ms);
    dueq__words_bytes(&words, id.data, id.size);
    dueq__words_text(&words, due);
    return dueq__call_submit(queue->client, &words);
}

/* A call without arguments. */
static dueq_status submit_plain(dueq_queue *queue, const struct dueq__script *script) {
    struct dueq__words words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__verb_begin(queue, script, 1, &words);
    return status ? status : dueq__call_submit(queue->client, &words);
}

dueq_status dueq_pause_submit(dueq_queue *queue) {
    return submit_plain(queue, &dueq__script_pause);
}

dueq_status dueq_resume_submit(dueq_queue *queue) {
    return submit_plain(queue, &dueq__script_resume);
}

/* ---- purge: "12", or "12 +" when there may be more ---- */

static void decode_purged(dueq_client *client, const struct dueq__reply *reply) {
    dueq_bytes text;
    size_t purged = 0, at = 0;
    if (dueq__reply_bytes(reply, &text))
        for (const char *c = text.data; at < text.size && c[at] >= '0' && c[at] <= '9'; at++)
            purged = purged * 10 + (size_t)(c[at] - '0');
    if (at == 0 || at > 9) {
        dueq__verb_unexpected(client);
        return;
    }
    client->call.queue->hour = client->call.hour;
    client->call.result = dueq__result_purged(purged, &client->error);
    if (!client->call.result)
        dueq__call_finish(client, client->error.status);
    else
        dueq__call_finish(client, at < text.size ? DUEQ_OK : DUEQ_EMPTY);
}

dueq_status dueq_purge_submit(dueq_queue *queue, dueq_state state, size_t most) {
    struct dueq__words words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__verb_check_count(queue, queue, most);
    if (!status && (state < DUEQ_READY || state > DUEQ_DEAD))
        status = dueq__fail(&queue->client->error, DUEQ_INVALID, "%d is not a state", (int)state);
    if (!status)
        status = dueq__verb_begin(queue, &dueq__script_purge, 1, &words);
    if (status)
        return status;
    queue->client->call.decode = decode_purged;
    dueq__words_number(&words, (int64_t)state);
    dueq__words_number(&words, (int64_t)most);
    return dueq__call_submit(queue->client, &words);
}

/* ---- Looking ---- */

static void decode_found(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__call *call = &client->call;
    if (dueq__reply_is_nil(reply)) {
        dueq__call_finish(client, DUEQ_NOT_FOUND);
        return;
    }
    call->result = dueq__result_found(reply, call->ids[0], &client->error);
    dueq__call_finish(client, call->result ? DUEQ_OK : client->error.status);
}

dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id) {
    dueq_client *client = queue->client;
    dueq__client_check_fork(client);
    dueq_status status = dueq__id_check(id, &client->error);
    if (!status)
        status = dueq__call_begin(queue, &dueq__script_find, false);
    if (status)
        return status;
    dueq_bytes *kept = malloc(sizeof *kept + id.size);
    if (!kept) {
        dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
        return dueq__call_finish(client, DUEQ_NO_MEMORY);
    }
    *kept = (dueq_bytes){memcpy(kept + 1, id.data, id.size), id.size};
    client->call.ids = kept;
    client->call.decode = decode_found;
    struct dueq__words words;
    dueq__call_words(client, &words);
    dueq__words_bytes(&words, id.data, id.size);
    return dueq__call_submit(client, &words);
}

static void decode_counted(dueq_client *client, const struct dueq__reply *reply) {
    client->call.result = dueq__result_counted(reply, &client->error);
    dueq__call_finish(client, client->call.result ? DUEQ_OK : client->error.status);
}

dueq_status dueq_stats_submit(dueq_queue *queue) {
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__call_begin(queue, &dueq__script_stats, false);
    if (status)
        return status;
    struct dueq__words words;
    queue->client->call.decode = decode_counted;
    dueq__call_words(queue->client, &words);
    return dueq__call_submit(queue->client, &words);
}

/* ---- Blocking ---- */

dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                        dueq_result **result) {
    return dueq__verb_run(queue, dueq_cancel_submit(queue, ids, count), result);
}

dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result) {
    return dueq__verb_run(queue, dueq_find_submit(queue, id), result);
}

dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts) {
    dueq_result *result;
    dueq_status status = dueq__verb_run(queue, dueq_stats_submit(queue), &result);
    if (counts && dueq_result_counts(result))
        *counts = *dueq_result_counts(result);
    dueq_result_free(result);
    return status;
}

dueq_status dueq_kick(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                      dueq_result **result) {
    return dueq__verb_run(queue, dueq_kick_submit(queue, ids, count), result);
}

dueq_status dueq_reschedule(dueq_queue *queue, dueq_bytes id, int64_t delay_ms, int64_t at_ms) {
    return dueq__verb_run(queue, dueq_reschedule_submit(queue, id, delay_ms, at_ms), NULL);
}

dueq_status dueq_pause(dueq_queue *queue) {
    return dueq__verb_run(queue, dueq_pause_submit(queue), NULL);
}

dueq_status dueq_resume(dueq_queue *queue) {
    return dueq__verb_run(queue, dueq_resume_submit(queue), NULL);
}

dueq_status dueq_purge(dueq_queue *queue, dueq_state state, size_t most, size_t *purged) {
    dueq_result *result;
    dueq_status status = dueq__verb_run(queue, dueq_purge_submit(queue, state, most), &result);
    if (purged)
        *purged = dueq_result_purged(result);
    dueq_result_free(result);
    return status;
}
