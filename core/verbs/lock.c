#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* Locks: taken like messages are, by a call that may wait. The owner's token is a made id. */

static dueq_status check_name(dueq_queue *queue, dueq_bytes name) {
    return dueq__text_check("a lock's name", name, DUEQ_MAX_LOCK_NAME, &queue->client->error);
}

static dueq_status check_ttl(dueq_queue *queue, int64_t ttl_ms) {
    return dueq__arg_check_ms(queue, "the lock's time", ttl_ms, 1, DUEQ_MAX_TIME_MS);
}

/* Gives the call the keys of the lock. NO_MEMORY ends it. */
static dueq_status name_keys(dueq_client *client, dueq_bytes name) {
    struct dueq__op *op = client->op;
    static const enum dueq__key named[] = {DUEQ__KEY_LOCK, DUEQ__KEY_LOCK_WAKE};
    size_t room = 0;
    for (size_t i = 0; i < 2; i++)
        room += op->request.keys[named[i]].size + 1 + name.size;
    char *at = op->request.named_keys = malloc(room + 1);
    if (!at)
        return dueq__op_no_memory(client);
    for (size_t i = 0; i < 2; i++) {
        dueq_bytes key = op->request.keys[named[i]];
        int size = sprintf(at, "%.*s:%.*s", (int)key.size, (const char *)key.data, (int)name.size,
                           (const char *)name.data);
        op->request.keys[named[i]] = (dueq_bytes){at, (size_t)size};
        at += size;
    }
    return DUEQ_OK;
}

/* lock */

static const dueq_bytes *token_of(const struct dueq__op *op) {
    const struct dueq__item_ids *items = op->verb;
    return items->ids;
}

static dueq_status request(dueq_client *client, bool keep_waiting, bool had_duties) {
    struct dueq__op *op = client->op;
    struct dueq__resp words;
    (void)keep_waiting;
    (void)had_duties;
    dueq__op_arguments(client, &words);
    dueq__arg_put(&words, token_of(op), 1);
    dueq__resp_number(&words, op->wait.terms.lease_ms);
    return dueq__op_submit(client, &words);
}

/* Gives up the lock that nobody will know of. */
static void build_release(dueq_client *client, const struct dueq__watch *watch,
                          struct dueq__resp *words) {
    struct dueq__op *op = client->op;
    (void)watch;
    dueq__script_write(words, &dueq__script_relock, op->request.keys);
    dueq__resp_number(words, (int64_t)++client->last_request_number);
    dueq__resp_number(words, client->url.timeout_ms);
    dueq__resp_text(words, "0");
    dueq__arg_put(words, token_of(op), 1);
    dueq__resp_text(words, "0");
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    int64_t now, pause;
    dueq_bytes token;
    size_t items = dueq__reply_count(reply);
    /* The answer that is recalled is the token alone. */
    bool got = dueq__reply_bytes(items == 5 ? dueq__reply_item(reply, 4) : reply, &token);
    if (got && dueq__bytes_equal(token, *token_of(op))) {
        dueq__op_note_kept_reply(client);
        dueq__wait_finish_found(
            client, dueq__result_outcomes((dueq_bytes){"0", 1}, token_of(op), &client->error));
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
    struct dueq__item_ids *items =
        dueq__op_state(client, sizeof *items + sizeof *items->ids + DUEQ__ID_SIZE);
    if (!items)
        return dueq__op_no_memory(client);
    dueq__id_next(&client->ids, (char *)(items->ids + 1));
    *items->ids = (dueq_bytes){items->ids + 1, DUEQ__ID_SIZE};
    client->op->wait.watches->wake_key = client->op->request.keys[DUEQ__KEY_LOCK_WAKE];
    return dueq__wait_start(client);
}

/* The owner's */

static dueq_status begin(dueq_queue *queue, const struct dueq__script *script, dueq_bytes name,
                         dueq_bytes token, struct dueq__resp *words) {
    dueq__client_check_fork(queue->client);
    dueq_status status = check_name(queue, name);
    if (!status && (token.size == 0 || token.size > DUEQ_MAX_ID))
        status =
            dueq__fail(&queue->client->error, DUEQ_INVALID, "not a token: it comes with the lock");
    if (!status)
        status = dueq__verb_begin_outcomes(queue, script, 1, words);
    if (status)
        return status;
    status = name_keys(queue->client, name);
    if (status)
        dueq__resp_free(words);
    else
        dueq__resp_bytes(words, token.data, token.size);
    return status;
}

dueq_status dueq_relock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token,
                               int64_t ttl_ms) {
    struct dueq__resp words;
    dueq_status status = check_ttl(queue, ttl_ms);
    if (!status)
        status = begin(queue, &dueq__script_relock, name, token, &words);
    if (status)
        return status;
    dueq__resp_number(&words, ttl_ms);
    return dueq__op_submit(queue->client, &words);
}

dueq_status dueq_unlock_submit(dueq_queue *queue, dueq_bytes name, dueq_bytes token) {
    struct dueq__resp words;
    dueq_status status = begin(queue, &dueq__script_relock, name, token, &words);
    if (status)
        return status;
    dueq__resp_text(&words, "0");
    return dueq__op_submit(queue->client, &words);
}
