#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/*
 * The operations: each checks its arguments, puts the script's words together and submits. The
 * blocking verbs at the end are submit and wait.
 */

static dueq_status invalid(dueq_queue *queue, const char *text) {
    return dueq__fail(&queue->client->error, DUEQ_INVALID, "%s", text);
}

static dueq_status check_count(dueq_queue *queue, const void *items, size_t count) {
    if (count >= 1 && count <= DUEQ_MAX_BATCH && items)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "%zu items in one call; 1 to %d are allowed", count, DUEQ_MAX_BATCH);
}

static dueq_status check_ticket(dueq_queue *queue, dueq_bytes ticket, struct dueq__ticket *parts) {
    if (ticket.data && dueq__ticket_read(ticket, parts))
        return DUEQ_OK;
    return invalid(queue, "not a ticket: tickets come with reserved messages");
}

static dueq_status check_duration(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                                  int64_t most) {
    if (ms >= least && ms <= most)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "%s is %lld ms; %lld to %lld are allowed", what, (long long)ms,
                      (long long)least, (long long)most);
}

static dueq_status unexpected(dueq_client *client) {
    return dueq__fail(&client->error, DUEQ_PROTOCOL,
                      "the server's answer to %s is not what the script returns",
                      client->call.script->name);
}

/* Scripts answer one digit for each item: a status from 0 to 5. */
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
    bool good = digits.size == call->wait.count;
    for (size_t i = 0; good && i < digits.size; i++)
        good = ((const char *)digits.data)[i] >= '0' && ((const char *)digits.data)[i] <= '5';
    if (!good) {
        dueq__call_finish(client, unexpected(client));
        return;
    }
    call->queue->hour = call->hour;
    call->result = dueq__result_outcomes(digits, call->ids, &client->error);
    dueq__call_finish(client,
                      call->result ? dueq__result_summary(call->result) : client->error.status);
}

/* ---- push ---- */

/* The drafts as the script wants them; envelopes, due times and made ids share one allocation. */
struct pushed {
    size_t made; /* ids made here */
    bool simple; /* all ids made here, all due now */
    size_t total;
};

static dueq_status check_drafts(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                                struct pushed *pushed) {
    struct dueq__error *error = &queue->client->error;
    *pushed = (struct pushed){.simple = true};
    for (size_t i = 0; i < count; i++) {
        const dueq_draft *draft = &drafts[i];
        size_t size;
        dueq_status status = draft->id.size ? dueq__id_check(draft->id, error) : DUEQ_OK;
        if (!status)
            status = dueq__envelope_size(draft, draft->id.size ? "" : NULL, &size, error);
        if (status)
            return status;
        pushed->made += draft->id.size == 0;
        pushed->simple = pushed->simple && draft->id.size == 0 && !draft->at_ms && !draft->delay_ms;
        pushed->total += size;
    }
    if (pushed->total > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE,
                          "%zu messages with %zu bytes in one call; at most %zu bytes are allowed",
                          count, pushed->total, DUEQ_MAX_BODY);
    return DUEQ_OK;
}

#define DUE_SIZE 24

static void due_word(struct dueq__words *words, const dueq_draft *draft, char *buffer) {
    if (draft->at_ms)
        snprintf(buffer, DUE_SIZE, "@%lld", (long long)draft->at_ms);
    else
        snprintf(buffer, DUE_SIZE, draft->delay_ms ? "+%lld" : "0", (long long)draft->delay_ms);
    dueq__words_text(words, buffer);
}

dueq_status dueq_push_submit(dueq_queue *queue, const dueq_draft *drafts, size_t count) {
    dueq_client *client = queue->client;
    struct pushed pushed;
    dueq__client_check_fork(client);
    dueq_status status = check_count(queue, drafts, count);
    if (!status)
        status = check_drafts(queue, drafts, count, &pushed);
    if (!status)
        status = dueq__call_begin(queue, &dueq__script_push, true);
    if (status)
        return status;

    struct dueq__call *call = &client->call;
    size_t given = 0;
    for (size_t i = 0; i < count; i++)
        given += drafts[i].id.size;
    /* Ids for the result; then the envelopes and due words, which live until the request is made. */
    call->ids = malloc(count * sizeof *call->ids + pushed.made * DUEQ__ID_SIZE + given);
    unsigned char *scratch = malloc(pushed.total + count * DUE_SIZE);
    if (!call->ids || !scratch) {
        free(scratch);
        dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
        return dueq__call_finish(client, DUEQ_NO_MEMORY);
    }
    call->wait.count = count;
    call->decode = decode_outcomes;
    char *id_at = (char *)(call->ids + count);
    unsigned char *envelope = scratch;
    char *due = (char *)scratch + pushed.total;
    struct dueq__words words;
    dueq__call_words(client, &words);
    dueq__words_text(&words, pushed.simple ? "now" : "any");
    for (size_t i = 0; i < count; i++, due += DUE_SIZE) {
        const dueq_draft *draft = &drafts[i];
        char stamp[DUEQ__STAMP_SIZE];
        size_t size;
        bool made = draft->id.size == 0;
        if (made) {
            dueq__id_next(&client->ids, id_at);
            call->ids[i] = (dueq_bytes){id_at, DUEQ__ID_SIZE};
        } else {
            dueq__stamp_next(&client->ids, stamp);
            memcpy(id_at, draft->id.data, draft->id.size);
            call->ids[i] = (dueq_bytes){id_at, draft->id.size};
        }
        id_at += call->ids[i].size;
        dueq__envelope_size(draft, made ? NULL : stamp, &size, &client->error);
        dueq__envelope_write(draft, made ? NULL : stamp, envelope);
        dueq__words_bytes(&words, call->ids[i].data, call->ids[i].size);
        dueq__words_bytes(&words, envelope, size);
        if (!pushed.simple)
            due_word(&words, draft, due);
        envelope += size;
    }
    status = dueq__call_submit(client, &words);
    free(scratch);
    return status;
}

/* ---- reserve ---- */

dueq_status dueq_reserve_submit(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                int64_t lease_ms) {
    dueq__client_check_fork(queue->client);
    dueq_status status = check_count(queue, queue, count);
    if (!status)
        status = check_duration(queue, "the lease", lease_ms, 0, UINT32_MAX);
    if (!status && timeout_ms != DUEQ_FOREVER)
        status = check_duration(queue, "the wait", timeout_ms, 0, DUEQ_MAX_TIME_MS);
    if (!status)
        status = dueq__call_begin(queue, &dueq__script_reserve, true);
    if (status)
        return status;
    struct dueq__call *call = &queue->client->call;
    call->decode = dueq__wait_decode;
    call->wait.count = count;
    call->wait.lease_ms = lease_ms;
    if (timeout_ms)
        call->wait.until_ms = timeout_ms == DUEQ_FOREVER ? DUEQ__NEVER - DUEQ_MAX_TIME_MS
                                                         : dueq__monotonic_ms() + timeout_ms;
    return dueq__wait_request(queue->client, timeout_ms != 0);
}

/* ---- The verbs on tickets and ids ---- */

/* Begins a call on `count` items and starts its words. */
static dueq_status begin_items(dueq_queue *queue, const struct dueq__script *script, size_t count,
                               struct dueq__words *words) {
    dueq_status status = dueq__call_begin(queue, script, true);
    if (status)
        return status;
    queue->client->call.wait.count = count;
    queue->client->call.decode = decode_outcomes;
    dueq__call_words(queue->client, words);
    return DUEQ_OK;
}

dueq_status dueq_ack_submit(dueq_queue *queue, const dueq_bytes *tickets, size_t count) {
    struct dueq__words words;
    struct dueq__ticket parts;
    bool usual = true;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_count(queue, tickets, count);
    for (size_t i = 0; !status && i < count; i++) {
        status = check_ticket(queue, tickets[i], &parts);
        usual = usual && !status && parts.id.data == tickets[i].data;
    }
    if (!status)
        status = begin_items(queue, &dueq__script_ack, count, &words);
    if (status)
        return status;
    dueq__words_text(&words, usual ? "1" : "0");
    for (size_t i = 0; i < count; i++)
        dueq__words_bytes(&words, tickets[i].data, tickets[i].size);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_cancel_submit(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    struct dueq__words words;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_count(queue, ids, count);
    for (size_t i = 0; !status && i < count; i++)
        status = dueq__id_check(ids[i], &queue->client->error);
    if (!status)
        status = begin_items(queue, &dueq__script_cancel, count, &words);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        dueq__words_bytes(&words, ids[i].data, ids[i].size);
    return dueq__call_submit(queue->client, &words);
}

/* A text that is kept with a message, cut between characters. */
static dueq_bytes cut_text(dueq_bytes text) {
    if (text.size <= DUEQ_MAX_ERROR)
        return text;
    const char *bytes = text.data;
    text.size = DUEQ_MAX_ERROR;
    while (text.size > DUEQ_MAX_ERROR - 4 && ((unsigned char)bytes[text.size] & 0xC0) == 0x80)
        text.size--;
    return text;
}

dueq_status dueq_retry_submit(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms,
                              dueq_bytes error) {
    struct dueq__words words;
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_ticket(queue, ticket, &parts);
    if (!status)
        status = check_duration(queue, "the delay", delay_ms, 0, DUEQ_MAX_TIME_MS);
    if (!status)
        status = begin_items(queue, &dueq__script_retry, 1, &words);
    if (status)
        return status;
    error = cut_text(error);
    dueq__words_bytes(&words, ticket.data, ticket.size);
    dueq__words_number(&words, delay_ms);
    dueq__words_bytes(&words, error.data, error.size);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_extend_submit(dueq_queue *queue, dueq_bytes ticket, int64_t lease_ms) {
    struct dueq__words words;
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_ticket(queue, ticket, &parts);
    if (!status)
        status = check_duration(queue, "the lease", lease_ms, 1, UINT32_MAX);
    if (!status)
        status = begin_items(queue, &dueq__script_extend, 1, &words);
    if (status)
        return status;
    dueq__words_bytes(&words, ticket.data, ticket.size);
    dueq__words_number(&words, lease_ms);
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq_bury_submit(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    struct dueq__words words;
    struct dueq__ticket parts;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_ticket(queue, ticket, &parts);
    if (!status)
        status = begin_items(queue, &dueq__script_bury, 1, &words);
    if (status)
        return status;
    reason = cut_text(reason);
    dueq__words_bytes(&words, ticket.data, ticket.size);
    dueq__words_bytes(&words, reason.data, reason.size);
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

static dueq_status run(dueq_queue *queue, dueq_status submitted, dueq_result **result) {
    if (result)
        *result = NULL;
    if (submitted != DUEQ_PENDING)
        return submitted;
    dueq_status status = dueq_wait(queue->client, -1);
    return status == DUEQ_INTERRUPTED ? status : dueq_take(queue->client, result);
}

dueq_status dueq_push(dueq_queue *queue, const dueq_draft *drafts, size_t count,
                      dueq_result **result) {
    return run(queue, dueq_push_submit(queue, drafts, count), result);
}

dueq_status dueq_reserve(dueq_queue *queue, size_t count, int64_t timeout_ms, int64_t lease_ms,
                         dueq_result **result) {
    return run(queue, dueq_reserve_submit(queue, count, timeout_ms, lease_ms), result);
}

dueq_status dueq_ack(dueq_queue *queue, const dueq_bytes *tickets, size_t count,
                     dueq_result **result) {
    return run(queue, dueq_ack_submit(queue, tickets, count), result);
}

dueq_status dueq_retry(dueq_queue *queue, dueq_bytes ticket, int64_t delay_ms, dueq_bytes error) {
    return run(queue, dueq_retry_submit(queue, ticket, delay_ms, error), NULL);
}

dueq_status dueq_extend(dueq_queue *queue, dueq_bytes ticket, int64_t lease_ms) {
    return run(queue, dueq_extend_submit(queue, ticket, lease_ms), NULL);
}

dueq_status dueq_bury(dueq_queue *queue, dueq_bytes ticket, dueq_bytes reason) {
    return run(queue, dueq_bury_submit(queue, ticket, reason), NULL);
}

dueq_status dueq_cancel(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                        dueq_result **result) {
    return run(queue, dueq_cancel_submit(queue, ids, count), result);
}

dueq_status dueq_find(dueq_queue *queue, dueq_bytes id, dueq_result **result) {
    return run(queue, dueq_find_submit(queue, id), result);
}

dueq_status dueq_stats(dueq_queue *queue, dueq_counts *counts) {
    dueq_result *result;
    dueq_status status = run(queue, dueq_stats_submit(queue), &result);
    if (counts && dueq_result_counts(result))
        *counts = *dueq_result_counts(result);
    dueq_result_free(result);
    return status;
}
