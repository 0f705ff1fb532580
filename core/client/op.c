#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"

#define MINUTE_MS 60000
/*
 * An answer is kept for a call's deadline, after which nobody asks for it any more, and for so long
 * more.
 */
#define KEEP_SLACK_MS 5000

bool dueq__op_under_way(const dueq_client *client) {
    return client->op->phase != DUEQ__PHASE_NONE && client->op->phase != DUEQ__PHASE_FINAL;
}

bool dueq__op_reserves(const struct dueq__op *op) {
    return op->request.script == &dueq__script_reserve ||
           op->request.script == &dueq__script_reserve_timed ||
           op->request.script == &dueq__script_reserve_full;
}

bool dueq__op_uses_queue(const dueq_queue *queue) {
    const struct dueq__op *op = queue->client->op;
    for (const struct dueq__suspended *s = queue->client->suspended; s; s = s->outer)
        op = &s->op;
    bool used = op->queue == queue;
    for (size_t i = 0; i < op->wait.watch_count; i++)
        used = used || op->wait.watches[i].queue == queue;
    return used;
}

/*
 * A connection that still sends them is of no use: the server has answered before it had read them.
 */
static void free_words(dueq_client *client, struct dueq__resp *words) {
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        if (dueq__conn_borrows(&node->conn, words))
            dueq__node_drop(client, node);
    dueq__resp_free(words);
}

static void reset(dueq_client *client) {
    struct dueq__op *op = client->op;
    free_words(client, &op->request.head);
    free_words(client, &op->request.arguments);
    free_words(client, &op->settling.words);
    free(op->lock_keys);
    free(op->ids);
    free(op->wait.watches);
    dueq__durable_drop_reply(op);
    dueq_result_free(op->result);
    *op = (struct dueq__op){0};
}

dueq_status dueq__op_begin_plain(dueq_client *client, const struct dueq__script *script) {
    struct dueq__op *op = client->op;
    if (dueq__op_under_way(client))
        return dueq__fail(&client->error, DUEQ_IN_USE, NULL);
    reset(client);
    client->error = (struct dueq__error){0};
    op->request.script = script;
    return DUEQ_OK;
}

dueq_status dueq__op_begin(dueq_queue *queue, const struct dueq__script *script, bool changes) {
    struct dueq__op *op = queue->client->op;
    dueq_status status = dueq__op_begin_plain(queue->client, script);
    if (status)
        return status;
    op->queue = queue;
    op->request.changes = changes;
    memcpy(op->request.keys, queue->keys, sizeof op->request.keys);
    return DUEQ_OK;
}

int64_t dueq__op_minute(void) { return dueq__monotonic_ms() / MINUTE_MS + 1; }

static bool keeps_history(const struct dueq__script *script) {
    bool keeps = false;
    for (size_t i = 0; i < script->key_count; i++)
        keeps = keeps || script->keys[i] == DUEQ__KEY_RATES;
    return keeps;
}

void dueq__op_arguments(dueq_client *client, struct dueq__resp *words) {
    dueq__op_arguments_for_session(client, words, client->session,
                                   client->url.timeout_ms + KEEP_SLACK_MS + MINUTE_MS);
}

void dueq__op_arguments_for_session(dueq_client *client, struct dueq__resp *words,
                                    const char *session, int64_t keep_ms) {
    struct dueq__op *op = client->op;
    op->request.minute = dueq__op_minute();
    op->request.keys[DUEQ__KEY_REPLY] = dueq__reply_key(op->queue, session, op->request.reply_key);
    dueq__resp_init(words);
    if (!op->request.changes)
        return;
    op->request.number = ++client->last_request_number;
    dueq__resp_number(words, (int64_t)op->request.number);
    op->request.reply_ttl_ms = keep_ms + op->queue->max_durable_ms;
    dueq__resp_number(words, op->request.reply_ttl_ms);
    bool history =
        keeps_history(op->request.script) && op->queue->history_minute != op->request.minute;
    dueq__resp_number(words, history || op->queue->reply_expiry_minute != op->request.minute);
}

dueq_bytes dueq__reply_key(const dueq_queue *queue, const char *session,
                           char buffer[DUEQ__REPLY_KEY_SIZE]) {
    dueq_bytes key = queue->keys[DUEQ__KEY_REPLY];
    int size = snprintf(buffer, DUEQ__REPLY_KEY_SIZE, "%.*s:%s", (int)key.size,
                        (const char *)key.data, session);
    return (dueq_bytes){buffer, (size_t)size};
}

void dueq__op_note_kept_reply(dueq_client *client) {
    client->op->queue->reply_expiry_minute = client->op->request.minute;
}

void dueq__op_on_answer(dueq_client *client) {
    struct dueq__op *op = client->op;
    /* Of a wait that found nothing nothing is kept. */
    if (op->request.changes && !op->wait.watches)
        dueq__op_note_kept_reply(client);
    if (op->request.changes && keeps_history(op->request.script))
        op->queue->history_minute = op->request.minute;
}

dueq_status dueq__op_no_memory(dueq_client *client) {
    dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    return dueq__op_finish(client, DUEQ_NO_MEMORY);
}

/* Takes the words over; false: they are not complete. */
static bool take_words(dueq_client *client, struct dueq__resp *kept, struct dueq__resp *words) {
    free_words(client, kept);
    *kept = *words;
    dueq__resp_init(words);
    return !kept->failed;
}

static bool format_head(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__resp words;
    dueq__resp_init(&words);
    if (op->request.script->sha1)
        dueq__script_write(&words, op->request.script, op->request.keys);
    return take_words(client, &op->request.head, &words);
}

dueq_status dueq__op_settle(dueq_client *client, struct dueq__resp *words, size_t outcomes) {
    struct dueq__settling *settling = &client->op->settling;
    settling->count = outcomes;
    return take_words(client, &settling->words, words) ? DUEQ_OK : dueq__op_no_memory(client);
}

const struct dueq__resp *dueq__op_settlement(const struct dueq__op *op) {
    bool due = op->settling.count && !op->settling.done;
    return due ? &op->settling.words : NULL;
}

dueq_status dueq__op_submit(dueq_client *client, struct dueq__resp *words) {
    struct dueq__op *op = client->op;
    if (!take_words(client, &op->request.arguments, words) || !format_head(client))
        return dueq__op_no_memory(client);
    op->request.used_next_script = op->request.sent = op->recall.may_run_late = op->request.asking =
        false;
    op->recall.unanswered = 0;
    op->recall.lost_conns = op->request.script_loads = op->recall.cut_off = op->request.redirects =
        0;
    op->recall.was_lost = op->recall.is_large = false;
    op->retry.next_ms = 0;
    /* A wait that ends in an outage ends with what it has met. */
    if (!client->failures)
        client->error = (struct dueq__error){0};
    op->retry.deadline_ms =
        dueq__monotonic_ms() + client->url.timeout_ms + op->durable.wanted.timeout_ms;
    if (op->wait.watches && op->retry.deadline_ms > op->wait.end_ms)
        op->retry.deadline_ms = op->wait.end_ms;
    /* A relay's request may have the keys of another queue than its call. */
    if (client->cluster && op->queue)
        op->request.slot = dueq__slot(op->request.keys[DUEQ__KEY_FIRST]);
    op->phase = DUEQ__PHASE_RUNNING;
    return DUEQ_PENDING;
}

void dueq__op_use_next_script(dueq_client *client) {
    client->op->request.script = client->op->request.script->next;
    client->op->request.used_next_script = true;
    if (!format_head(client))
        dueq__op_no_memory(client);
}

dueq_status dueq__op_finish(dueq_client *client, dueq_status status) {
    struct dueq__op *op = client->op;
    op->phase = DUEQ__PHASE_FINAL;
    op->status = status;
    if (status < 0)
        dueq__wait_abandon(client);
    dueq__wait_conn_release_all(client);
    if (status < 0) {
        if (status != DUEQ_NOT_DURABLE) {
            dueq_result_free(op->result);
            op->result = NULL;
        }
        op->wait.found = false;
        if (client->error.status != status || !client->error.text[0])
            dueq__fail(&client->error, status, NULL);
        if (dueq_status_retriable(status))
            dueq__backoff_on_call_failed(client);
    } else {
        client->error = (struct dueq__error){0};
    }
    if (op->on_final)
        op->on_final(client);
    return status;
}

bool dueq__op_suspend(dueq_client *client, void (*resume)(dueq_client *client), void *owner) {
    struct dueq__suspended *suspended = malloc(sizeof *suspended);
    if (!suspended)
        return false;
    *suspended = (struct dueq__suspended){*client->op, resume, owner, client->suspended};
    client->suspended = suspended;
    *client->op = (struct dueq__op){0};
    return true;
}

static void restore_suspended(dueq_client *client) {
    struct dueq__suspended *suspended = client->suspended;
    reset(client);
    *client->op = suspended->op;
    client->suspended = suspended->outer;
    client->error = (struct dueq__error){0};
    free(suspended->owner);
    free(suspended);
}

void dueq__op_resume(dueq_client *client) {
    void (*resume)(dueq_client *) = client->suspended->resume;
    restore_suspended(client);
    resume(client);
}

void dueq__op_finish_suspended(dueq_client *client, dueq_result *result, dueq_status status) {
    struct dueq__error error = client->error;
    restore_suspended(client);
    client->error = error;
    client->op->result = result;
    dueq__op_finish(client, status);
}

void dueq__op_drop_suspended(dueq_client *client) {
    if (!client->suspended)
        return;
    dueq__wait_abandon(client);
    if (dueq__node_expects_call(client->node))
        dueq__node_drop(client, client->node);
    while (client->suspended)
        restore_suspended(client);
}

void dueq__op_finish_result(dueq_client *client, dueq_result *result, dueq_status status) {
    client->op->result = result;
    dueq__op_finish(client, result ? status : client->error.status);
}

static dueq_status no_call(dueq_client *client) {
    return dueq__fail(&client->error, DUEQ_INVALID, "no call is in progress");
}

dueq_status dueq_pump(dueq_client *client) {
    dueq__client_check_fork(client);
    if (client->op->phase == DUEQ__PHASE_NONE)
        return no_call(client);
    if (client->url.topology == DUEQ__SENTINEL)
        dueq__sentinels_pump(&client->sentinels);
    do {
        dueq__command_pump(client);
        if (client->op->wait.until_ms && dueq__op_under_way(client))
            dueq__wait_pump(client);
    } while (dueq__command_ready(client));
    dueq__descriptor_sync(client);
    return dueq__op_under_way(client) ? DUEQ_PENDING : client->op->status;
}

dueq_status dueq_wait(dueq_client *client, int64_t at_most_ms) {
    int64_t at_most_us = (at_most_ms < DUEQ_MAX_TIME_MS ? at_most_ms : DUEQ_MAX_TIME_MS) * 1000;
    int64_t start = dueq__monotonic_us();
    for (;;) {
        dueq_status status = dueq_pump(client);
        if (status != DUEQ_PENDING)
            return status;
        struct pollfd set[DUEQ_MAX_SOCKETS];
        int64_t timeout;
        size_t count = dueq__op_poll_set(client, set, &timeout);
        if (at_most_us >= 0) {
            int64_t left = start + at_most_us - dueq__monotonic_us();
            if (left <= 0)
                return DUEQ_PENDING;
            if (timeout < 0 || left < timeout)
                timeout = left;
        }
        const struct timespec pause = {timeout / 1000000, timeout % 1000000 * 1000};
        if (ppoll(set, count, timeout < 0 ? NULL : &pause, NULL) < 0 && errno == EINTR)
            return DUEQ_INTERRUPTED;
    }
}

void dueq__op_stop_wait(dueq_client *client, bool keep_retrying) {
    struct dueq__op *op = client->op;
    dueq__client_check_fork(client);
    for (struct dueq__suspended *s = client->suspended; s && !op->wait.until_ms; s = s->outer)
        op = &s->op;
    int64_t now = dueq__monotonic_ms();
    bool waits = op->wait.until_ms > now;
    /* In an outage a call may go on for longer than it waits. */
    bool retries = !keep_retrying && op->wait.until_ms && op->retry.until_ms > now;
    if (!dueq__op_under_way(client) || !(waits || retries))
        return;
    if (waits) {
        op->wait.until_ms = now;
        op->wait.end_ms = now + client->url.timeout_ms;
    }
    if (retries)
        op->retry.until_ms = now;
    if (client->node->conn.state != DUEQ__CONN_READY)
        dueq__backoff_on_connecting(client);
    dueq__descriptor_sync(client);
}

void dueq_stop_wait(dueq_client *client) { dueq__op_stop_wait(client, false); }

dueq_status dueq_take(dueq_client *client, dueq_result **result) {
    if (result)
        *result = NULL;
    if (client->op->phase == DUEQ__PHASE_NONE)
        return no_call(client);
    if (dueq__op_under_way(client))
        return DUEQ_PENDING;
    dueq_status status = client->op->status;
    if (result) {
        *result = client->op->result;
        client->op->result = NULL;
    }
    reset(client);
    return status;
}

/*
 * What a call took of another system's list has gone back by a request behind the call's own, which
 * the server reads as long as the connection stays. The answers are nobody's then.
 */
static void ignore_call_reply(dueq_client *client) {
    if (!client->op->wait.foreign || !dueq__node_expects(client->node, DUEQ__EXPECT_IGNORED))
        return;
    for (size_t i = 0; i < client->node->expected_count; i++)
        if (client->node->expected[i] == DUEQ__EXPECT_CALL)
            client->node->expected[i] = DUEQ__EXPECT_IGNORED;
}

void dueq_abandon(dueq_client *client) {
    const struct dueq__op *op = client->op;
    dueq__client_check_fork(client);
    dueq__op_drop_suspended(client);
    /* Also where the answer has come, and nobody has read it. */
    bool unread = op->wait.foreign && op->wait.found;
    if (dueq__op_under_way(client) || unread) {
        dueq__wait_abandon(client);
        ignore_call_reply(client);
        if (dueq__node_expects_call(client->node))
            dueq__node_drop(client, client->node);
    }
    reset(client);
}
