#include <stdlib.h>

#include "queue.h"

/* What is asked and changes nothing. */

static dueq_status begin(dueq_queue *queue, const struct dueq__script *script,
                         void (*decode)(dueq_client *client, const struct dueq__reply *reply),
                         struct dueq__resp *words) {
    dueq_status status = dueq__call_begin(queue, script, false);
    if (status)
        return status;
    queue->client->call.decode = decode;
    dueq__call_arguments(queue->client, words);
    return DUEQ_OK;
}

/* ---- find ---- */

static void decode_found(dueq_client *client, const struct dueq__reply *reply) {
    if (dueq__reply_is_nil(reply))
        dueq__call_finish(client, DUEQ_NOT_FOUND);
    else
        dueq__call_answer(client, dueq__result_found(reply, client->call.ids[0], &client->error),
                          DUEQ_OK);
}

dueq_status dueq_find_submit(dueq_queue *queue, dueq_bytes id) {
    dueq_client *client = queue->client;
    struct dueq__resp words;
    dueq__client_check_fork(client);
    dueq_status status = dueq__id_check(id, &client->error);
    if (!status)
        status = begin(queue, &dueq__script_find, decode_found, &words);
    if (status)
        return status;
    dueq_bytes *kept = malloc(sizeof *kept + id.size);
    if (!kept) {
        dueq__resp_free(&words);
        return dueq__call_no_memory(client);
    }
    *kept = (dueq_bytes){memcpy(kept + 1, id.data, id.size), id.size};
    client->call.ids = kept;
    dueq__resp_bytes(&words, id.data, id.size);
    return dueq__call_submit(client, &words);
}

/* ---- stats ---- */

static void decode_counted(dueq_client *client, const struct dueq__reply *reply) {
    dueq__call_answer(client, dueq__result_counted(reply, client->server.evicts, &client->error),
                      DUEQ_OK);
}

dueq_status dueq_stats_submit(dueq_queue *queue) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = begin(queue, &dueq__script_stats, decode_counted, &words);
    return status ? status : dueq__call_submit(queue->client, &words);
}

/* ---- rates ---- */

static void decode_rated(dueq_client *client, const struct dueq__reply *reply) {
    dueq__call_answer(client, dueq__result_rated(reply, &client->error), DUEQ_OK);
}

dueq_status dueq_rates_submit(dueq_queue *queue, size_t minutes) {
    dueq_client *client = queue->client;
    struct dueq__resp words;
    dueq__client_check_fork(client);
    if (minutes < 1 || minutes > DUEQ_MAX_RATES)
        return dueq__fail(&client->error, DUEQ_INVALID, "%zu minutes; 1 to %d are allowed", minutes,
                          DUEQ_MAX_RATES);
    dueq_status status = begin(queue, &dueq__script_rates, decode_rated, &words);
    if (status)
        return status;
    dueq__resp_number(&words, (int64_t)minutes);
    return dueq__call_submit(client, &words);
}

/* ---- peek ---- */

static void decode_peeked(dueq_client *client, const struct dueq__reply *reply) {
    dueq__call_answer(client, dueq__result_peeked(reply, client->call.state, &client->error),
                      DUEQ_OK);
}

dueq_status dueq_peek_submit(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t most) {
    dueq_client *client = queue->client;
    struct dueq__resp words;
    dueq__client_check_fork(client);
    dueq_status status = dueq__ops_check_count(queue, queue, most);
    if (!status)
        status = dueq__ops_check_state(queue, state);
    if (!status)
        status = begin(queue, &dueq__script_peek, decode_peeked, &words);
    if (status)
        return status;
    client->call.state = state;
    dueq__resp_number(&words, (int64_t)state);
    dueq__resp_bytes(&words, cursor.data, cursor.size);
    dueq__resp_number(&words, (int64_t)most);
    return dueq__call_submit(client, &words);
}

/* ---- Blocking ---- */

dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result) {
    return dueq__ops_run(queue, dueq_find_submit(queue, id), result);
}

dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts) {
    dueq_result *result;
    dueq_status status = dueq__ops_run(queue, dueq_stats_submit(queue), &result);
    if (counts && dueq_result_counts(result))
        *counts = *dueq_result_counts(result);
    dueq_result_free(result);
    return status;
}

dueq_status dueq_rates(dueq_queue *queue, size_t minutes, dueq_result **result) {
    return dueq__ops_run(queue, dueq_rates_submit(queue, minutes), result);
}

dueq_status dueq_peek(dueq_queue *queue, dueq_state state, dueq_bytes cursor, size_t most,
                      dueq_result **result) {
    return dueq__ops_run(queue, dueq_peek_submit(queue, state, cursor, most), result);
}
