#include <stdio.h>

#include "queue.h"

/* What the operations share: each checks its arguments, puts its words together and submits. */

dueq_status dueq__ops_check_count(dueq_queue *queue, const void *items, size_t count) {
    if (count >= 1 && count <= DUEQ_MAX_BATCH && items)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "%zu items in one call; 1 to %d are allowed", count, DUEQ_MAX_BATCH);
}

dueq_status dueq__ops_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                               int64_t most) {
    if (ms >= least && ms <= most)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "%s is %lld ms; %lld to %lld are allowed", what, (long long)ms,
                      (long long)least, (long long)most);
}

dueq_status dueq__ops_check_wait(dueq_queue *queue, int64_t timeout_ms) {
    if (timeout_ms == DUEQ_FOREVER)
        return DUEQ_OK;
    return dueq__ops_check_ms(queue, "the wait", timeout_ms, 0, DUEQ_MAX_TIME_MS);
}

dueq_status dueq__ops_check_ticket(dueq_queue *queue, dueq_bytes ticket,
                                   struct dueq__ticket *parts) {
    if (ticket.data && dueq__ticket_read(ticket, parts))
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "not a ticket: tickets come with reserved messages");
}

dueq_status dueq__ops_check_state(dueq_queue *queue, dueq_state state) {
    if (state >= DUEQ_READY && state <= DUEQ_OUTBOX)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID, "%d is not a state", (int)state);
}

void dueq__ops_unexpected(dueq_client *client) {
    dueq__call_finish(client, dueq__fail(&client->error, DUEQ_PROTOCOL,
                                         "the server's answer to %s is not what the script returns",
                                         client->call.script->name));
}

/* Scripts answer one digit for each item: a status from 0 to 5, or 8. */
static bool is_outcome(char digit) { return (digit >= '0' && digit <= '5') || digit == '8'; }

bool dueq__ops_outcomes(dueq_bytes digits, size_t count) {
    bool good = digits.size == count;
    for (size_t i = 0; good && i < digits.size; i++)
        good = is_outcome(((const char *)digits.data)[i]);
    return good;
}

/* Ends the call with its outcomes. */
static void answer(dueq_client *client) {
    dueq_result *result = client->call.result;
    dueq__call_answer(client, result, result ? dueq__result_summary(result) : DUEQ_OK);
}

static void decode_outcomes(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__call *call = &client->call;
    dueq_bytes digits;
    int64_t number;
    char digit;
    if (dueq__reply_number(reply, &number) && !dueq__reply_bytes(reply, &digits) && number >= 0 &&
        number <= 9) {
        digit = (char)('0' + number);
        digits = (dueq_bytes){&digit, 1};
    } else if (!dueq__reply_bytes(reply, &digits)) {
        digits = (dueq_bytes){0};
    }
    bool relays = digits.size == call->wait.count + 1 && ((const char *)digits.data)[digits.size - 1] == '+';
    digits.size -= relays;
    if (!dueq__ops_outcomes(digits, call->wait.count)) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq_result *result = dueq__result_outcomes(digits, call->ids, &client->error);
    call->result = result;
    if (result && relays)
        dueq__relay(client, answer);
    else
        answer(client);
}

dueq_status dueq__ops_begin(dueq_queue *queue, const struct dueq__script *script, size_t count,
                            struct dueq__resp *words) {
    dueq_status status = dueq__call_begin(queue, script, true);
    if (status)
        return status;
    queue->client->call.wait.count = count;
    queue->client->call.decode = decode_outcomes;
    dueq__call_arguments(queue->client, words);
    return DUEQ_OK;
}

dueq_status dueq__ops_ids(dueq_queue *queue, const struct dueq__script *script,
                          const dueq_bytes *ids, size_t count) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_count(queue, ids, count);
    for (size_t i = 0; !status && i < count; i++)
        status = dueq__id_check(ids[i], &queue->client->error);
    if (!status)
        status = dueq__ops_begin(queue, script, count, &words);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        dueq__resp_bytes(&words, ids[i].data, ids[i].size);
    return dueq__call_submit(queue->client, &words);
}

void dueq__ops_due(char out[DUEQ__DUE_SIZE], int64_t delay_ms, int64_t at_ms) {
    if (at_ms)
        snprintf(out, DUEQ__DUE_SIZE, "@%lld", (long long)at_ms);
    else
        snprintf(out, DUEQ__DUE_SIZE, delay_ms ? "+%lld" : "0", (long long)delay_ms);
}

dueq_status dueq__client_run(dueq_client *client, dueq_status submitted, dueq_result **result) {
    if (result)
        *result = NULL;
    if (submitted != DUEQ_PENDING)
        return submitted;
    dueq_status status = dueq_wait(client, -1);
    return status == DUEQ_INTERRUPTED ? status : dueq_take(client, result);
}

dueq_status dueq__ops_run(dueq_queue *queue, dueq_status submitted, dueq_result **result) {
    return dueq__client_run(queue->client, submitted, result);
}
