#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/*
 * Locks. A call takes a lock as it takes a message, and may wait. The owner has a token, an id that
 * the client made.
 */

static dueq_status check_name(dueq_queue *queue, dueq_bytes name) {
    return dueq__text_check("a lock's name", name, DUEQ_MAX_LOCK_NAME, &queue->client->error);
}

static dueq_status check_ttl(dueq_queue *queue, int64_t ttl_ms) {
    return dueq__arg_check_ms(queue, "the lock's time", ttl_ms, 1, DUEQ_MAX_TIME_MS);
}

/* Adds the lock's name to the keys of the operation. NO_MEMORY: the operation has ended. */
static dueq_status name_keys(dueq_client *client, dueq_bytes name) {
    struct dueq__request *request = &client->op->request;
    dueq_bytes *const keys[] = {&request->keys[DUEQ__KEY_LOCK],
                                &request->keys[DUEQ__KEY_LOCK_WAKE]};
    char *at = malloc(keys[0]->size + keys[1]->size + 2 * (1 + name.size) + 1);
    if (!at)
        return dueq__op_no_memory(client);
    request->named_keys = at;
    for (size_t i = 0; i < 2; i++) {
        int size = sprintf(at, "%.*s:%.*s", (int)keys[i]->size, (const char *)keys[i]->data,
                           (int)name.size, (const char *)name.data);
        *keys[i] = (dueq_bytes){at, (size_t)size};
        at += size;
    }
    return DUEQ_OK;
}

/* lock: the state of the operation is the token. */

static dueq_status request(dueq_client *client, bool keep_waiting, bool had_duties) {
    struct dueq__op *op = client->op;
    struct dueq__resp words;
    (void)keep_waiting;
    (void)had_duties;
    dueq__op_arguments(client, &words);
    dueq__resp_bytes(&words, op->verb, DUEQ__ID_SIZE);
    dueq__resp_number(&words, op->wait.terms.lease_ms);
    return dueq__op_submit(client, &words);
}

/* Gives up a lock whose token the caller will never get. */
static void build_release(dueq_client *client, const struct dueq__watch *watch,
                          struct dueq__resp *words) {
    (void)watch;
    dueq__script_write(words, &dueq__script_relock, client->op->request.keys);
    dueq__resp_number(words, (int64_t)++client->last_request_number);
    dueq__resp_number(words, client->url.timeout_ms);
    dueq__resp_text(words, "0");
    dueq__resp_bytes(words, client->op->verb, DUEQ__ID_SIZE);
    dueq__resp_text(words, "0");
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    int64_t now, pause;
    dueq_bytes token, own = {client->op->verb, DUEQ__ID_SIZE};
    size_t items = dueq__reply_count(reply);
    /* A recall answers the token alone. */
    bool got = dueq__reply_bytes(items == 5 ? dueq__reply_item(reply, 4) : reply, &token);
    if (got && dueq__bytes_equal(token, own)) {
        dueq__op_note_kept_reply(client);
        dueq__wait_finish_found(client,
                                dueq__result_outcomes(dueq__text("0"), &own, &client->error));
    } else if (items == 4 && dueq__reply_number(dueq__reply_item(reply, 0), &now) &&
               dueq__reply_number(dueq__reply_item(reply, 1), &pause) && pause >= 0) {
        dueq__wait_found_nothing(client, now,
                                 1000 * (pause < DUEQ_MAX_TIME_MS ? pause : DUEQ_MAX_TIME_MS));
    } else {
        dueq__answer_unexpected(client);
    }
}

dueq_status dueq_lock_submit(dueq_queue *queue, dueq_bytes name, int64_t ttl_ms,
                             int64_t timeout_ms) {
    dueq_client *client = queue->client;
    const struct dueq__wait_terms terms = {.kind = DUEQ__WAIT_LOCK,
                                           .timeout_ms = timeout_ms,
                                           .lease_ms = ttl_ms,
                                           .request = request,
                                           .decode = decode,
                                           .build_release = build_release};
    dueq__client_check_fork(client);
    dueq_status status = check_name(queue, name);
    if (!status)
        status = check_ttl(queue, ttl_ms);
    if (!status)
        status = dueq__arg_check_wait(queue, timeout_ms);
    if (!status)
        status = dueq__wait_begin(queue, &dueq__script_lock, 1, &terms);
    if (!status)
        status = name_keys(client, name);
    if (status)
        return status;
    char *token = dueq__op_state(client, DUEQ__ID_SIZE);
    if (!token)
        return dueq__op_no_memory(client);
    dueq__id_next(&client->ids, token);
    client->op->wait.watches->wake_key = client->op->request.keys[DUEQ__KEY_LOCK_WAKE];
    return dueq__wait_start(client);
}

/* The verbs of the owner */

/* ttl_ms 0: gives the lock up. */
static dueq_status relock(dueq_queue *queue, dueq_bytes name, dueq_bytes token, int64_t ttl_ms) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = check_name(queue, name);
    if (!status && (token.size == 0 || token.size > DUEQ_MAX_ID))
        status =
            dueq__fail(&queue->client->error, DUEQ_INVALID, "not a token: it comes with the lock");
    if (!status)
        status = dueq__verb_begin_outcomes(queue, &dueq__script_relock, 1, &words);
    if (status)
        return status;
    dueq__arg_put(&words, &token, 1);
    dueq__resp_number(&words, ttl_ms);
    status = name_keys(queue->client, name);
    if (!status)
        return dueq__op_submit(queue->client, &words);
    dueq__resp_free(&words);
    return status;
}

dueq_status dueq_relock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                               int64_t ttl_ms) {
    dueq_status status = check_ttl(queue, ttl_ms);
    return status ? status : relock(queue, name, token, ttl_ms);
}

dueq_status dueq_unlock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token) {
    return relock(queue, name, token, 0);
}
