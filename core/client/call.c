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

bool dueq__call_under_way(const dueq_client *client) {
    return client->call.phase != DUEQ__PHASE_NONE && client->call.phase != DUEQ__PHASE_FINAL;
}

bool dueq__call_reserves(const struct dueq__call *call) {
    return call->script == &dueq__script_reserve || call->script == &dueq__script_reserve_timed ||
           call->script == &dueq__script_reserve_full;
}

bool dueq__call_uses_queue(const dueq_queue *queue) {
    const struct dueq__call *call = &queue->client->call;
    for (const struct dueq__suspended *s = queue->client->suspended; s; s = s->outer)
        call = &s->call;
    bool used = call->queue == queue;
    for (size_t i = 0; i < call->wait.watch_count; i++)
        used = used || call->wait.watches[i].queue == queue;
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

static void reset_call(dueq_client *client) {
    struct dueq__call *call = &client->call;
    free_words(client, &call->head);
    free_words(client, &call->arguments);
    free_words(client, &call->settling.words);
    free(call->lock_keys);
    free(call->ids);
    free(call->wait.watches);
    dueq__durable_drop_reply(call);
    dueq_result_free(call->result);
    *call = (struct dueq__call){0};
}

dueq_status dueq__call_begin_plain(dueq_client *client, const struct dueq__script *script) {
    struct dueq__call *call = &client->call;
    if (dueq__call_under_way(client))
        return dueq__fail(&client->error, DUEQ_IN_USE, NULL);
    reset_call(client);
    client->error = (struct dueq__error){0};
    call->script = script;
    return DUEQ_OK;
}

dueq_status dueq__call_begin(dueq_queue *queue, const struct dueq__script *script, bool changes) {
    struct dueq__call *call = &queue->client->call;
    dueq_status status = dueq__call_begin_plain(queue->client, script);
    if (status)
        return status;
    call->queue = queue;
    call->changes = changes;
    memcpy(call->keys, queue->keys, sizeof call->keys);
    return DUEQ_OK;
}

int64_t dueq__call_minute(void) { return dueq__monotonic_ms() / MINUTE_MS + 1; }

static bool keeps_history(const struct dueq__script *script) {
    bool keeps = false;
    for (size_t i = 0; i < script->key_count; i++)
        keeps = keeps || script->keys[i] == DUEQ__KEY_RATES;
    return keeps;
}

void dueq__call_arguments(dueq_client *client, struct dueq__resp *words) {
    dueq__call_arguments_for_session(client, words, client->session,
                                     client->url.timeout_ms + KEEP_SLACK_MS + MINUTE_MS);
}

void dueq__call_arguments_for_session(dueq_client *client, struct dueq__resp *words,
                                      const char *session, int64_t keep_ms) {
    struct dueq__call *call = &client->call;
    call->minute = dueq__call_minute();
    call->keys[DUEQ__KEY_REPLY] = dueq__reply_key(call->queue, session, call->reply_key);
    dueq__resp_init(words);
    if (!call->changes)
        return;
    call->request_number = ++client->last_request_number;
    dueq__resp_number(words, (int64_t)call->request_number);
    call->reply_ttl_ms = keep_ms + call->queue->max_durable_ms;
    dueq__resp_number(words, call->reply_ttl_ms);
    bool history = keeps_history(call->script) && call->queue->history_minute != call->minute;
    dueq__resp_number(words, history || call->queue->reply_expiry_minute != call->minute);
}

dueq_bytes dueq__reply_key(const dueq_queue *queue, const char *session,
                           char buffer[DUEQ__REPLY_KEY_SIZE]) {
    dueq_bytes key = queue->keys[DUEQ__KEY_REPLY];
    int size = snprintf(buffer, DUEQ__REPLY_KEY_SIZE, "%.*s:%s", (int)key.size,
                        (const char *)key.data, session);
    return (dueq_bytes){buffer, (size_t)size};
}

void dueq__call_note_kept_reply(dueq_client *client) {
    client->call.queue->reply_expiry_minute = client->call.minute;
}

void dueq__call_on_answer(dueq_client *client) {
    struct dueq__call *call = &client->call;
    /* Of a wait that found nothing nothing is kept. */
    if (call->changes && !call->wait.watches)
        dueq__call_note_kept_reply(client);
    if (call->changes && keeps_history(call->script))
        call->queue->history_minute = call->minute;
}

dueq_status dueq__call_no_memory(dueq_client *client) {
    dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    return dueq__call_finish(client, DUEQ_NO_MEMORY);
}

/* Takes the words over; false: they are not complete. */
static bool take_words(dueq_client *client, struct dueq__resp *kept, struct dueq__resp *words) {
    free_words(client, kept);
    *kept = *words;
    dueq__resp_init(words);
    return !kept->failed;
}

static bool format_head(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__resp words;
    dueq__resp_init(&words);
    if (call->script->sha1)
        dueq__script_write(&words, call->script, call->keys);
    return take_words(client, &call->head, &words);
}

dueq_status dueq__call_settle(dueq_client *client, struct dueq__resp *words, size_t outcomes) {
    struct dueq__settling *settling = &client->call.settling;
    settling->count = outcomes;
    return take_words(client, &settling->words, words) ? DUEQ_OK : dueq__call_no_memory(client);
}

const struct dueq__resp *dueq__call_settlement(const struct dueq__call *call) {
    bool due = call->settling.count && !call->settling.done;
    return due ? &call->settling.words : NULL;
}

dueq_status dueq__call_submit(dueq_client *client, struct dueq__resp *words) {
    struct dueq__call *call = &client->call;
    if (!take_words(client, &call->arguments, words) || !format_head(client))
        return dueq__call_no_memory(client);
    call->used_next_script = call->sent = call->may_run_late = call->asking = false;
    call->unanswered = 0;
    call->lost_conns = call->script_loads = call->recalls_cut_off = call->redirects = 0;
    call->recall_lost = call->recall_is_large = false;
    call->retry_ms = 0;
    /* A wait that ends in an outage ends with what it has met. */
    if (!client->failures)
        client->error = (struct dueq__error){0};
    call->deadline_ms =
        dueq__monotonic_ms() + client->url.timeout_ms + call->durable.wanted.timeout_ms;
    if (call->wait.watches && call->deadline_ms > call->wait.end_ms)
        call->deadline_ms = call->wait.end_ms;
    /* A relay's request may have the keys of another queue than its call. */
    if (client->cluster && call->queue)
        call->slot = dueq__slot(call->keys[DUEQ__KEY_FIRST]);
    call->phase = DUEQ__PHASE_RUNNING;
    return DUEQ_PENDING;
}

void dueq__call_use_next_script(dueq_client *client) {
    client->call.script = client->call.script->next;
    client->call.used_next_script = true;
    if (!format_head(client))
        dueq__call_no_memory(client);
}

dueq_status dueq__call_finish(dueq_client *client, dueq_status status) {
    struct dueq__call *call = &client->call;
    call->phase = DUEQ__PHASE_FINAL;
    call->status = status;
    if (status < 0)
        dueq__wait_abandon(client);
    dueq__wait_conn_release_all(client);
    if (status < 0) {
        if (status != DUEQ_NOT_DURABLE) {
            dueq_result_free(call->result);
            call->result = NULL;
        }
        call->wait.found = false;
        if (client->error.status != status || !client->error.text[0])
            dueq__fail(&client->error, status, NULL);
        if (dueq_status_retriable(status))
            dueq__backoff_on_call_failed(client);
    } else {
        client->error = (struct dueq__error){0};
    }
    if (call->on_final)
        call->on_final(client);
    return status;
}

bool dueq__call_suspend(dueq_client *client, void (*resume)(dueq_client *client), void *owner) {
    struct dueq__suspended *suspended = malloc(sizeof *suspended);
    if (!suspended)
        return false;
    *suspended = (struct dueq__suspended){client->call, resume, owner, client->suspended};
    client->suspended = suspended;
    client->call = (struct dueq__call){0};
    return true;
}

static void restore_suspended(dueq_client *client) {
    struct dueq__suspended *suspended = client->suspended;
    reset_call(client);
    client->call = suspended->call;
    client->suspended = suspended->outer;
    client->error = (struct dueq__error){0};
    free(suspended->owner);
    free(suspended);
}

void dueq__call_resume(dueq_client *client) {
    void (*resume)(dueq_client *) = client->suspended->resume;
    restore_suspended(client);
    resume(client);
}

void dueq__call_finish_suspended(dueq_client *client, dueq_result *result, dueq_status status) {
    struct dueq__error error = client->error;
    restore_suspended(client);
    client->error = error;
    client->call.result = result;
    dueq__call_finish(client, status);
}

void dueq__call_drop_suspended(dueq_client *client) {
    if (!client->suspended)
        return;
    dueq__wait_abandon(client);
    if (dueq__node_expects_call(client->node))
        dueq__node_drop(client, client->node);
    while (client->suspended)
        restore_suspended(client);
}

void dueq__call_finish_result(dueq_client *client, dueq_result *result, dueq_status status) {
    client->call.result = result;
    dueq__call_finish(client, result ? status : client->error.status);
}

static dueq_status no_call(dueq_client *client) {
    return dueq__fail(&client->error, DUEQ_INVALID, "no call is in progress");
}

dueq_status dueq_pump(dueq_client *client) {
    dueq__client_check_fork(client);
    if (client->call.phase == DUEQ__PHASE_NONE)
        return no_call(client);
    if (client->url.topology == DUEQ__SENTINEL)
        dueq__sentinels_pump(&client->sentinels);
    do {
        dueq__command_pump(client);
        if (client->call.wait.until_ms && dueq__call_under_way(client))
            dueq__wait_pump(client);
    } while (dueq__command_ready(client));
    dueq__descriptor_sync(client);
    return dueq__call_under_way(client) ? DUEQ_PENDING : client->call.status;
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
        size_t count = dueq__call_poll_set(client, set, &timeout);
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

void dueq__call_stop_wait(dueq_client *client, bool keep_retrying) {
    struct dueq__call *call = &client->call;
    dueq__client_check_fork(client);
    for (struct dueq__suspended *s = client->suspended; s && !call->wait.until_ms; s = s->outer)
        call = &s->call;
    int64_t now = dueq__monotonic_ms();
    bool waits = call->wait.until_ms > now;
    /* In an outage a call may go on for longer than it waits. */
    bool retries = !keep_retrying && call->wait.until_ms && call->retry_until_ms > now;
    if (!dueq__call_under_way(client) || !(waits || retries))
        return;
    if (waits) {
        call->wait.until_ms = now;
        call->wait.end_ms = now + client->url.timeout_ms;
    }
    if (retries)
        call->retry_until_ms = now;
    if (client->node->conn.state != DUEQ__CONN_READY)
        dueq__backoff_on_connecting(client);
    dueq__descriptor_sync(client);
}

void dueq_stop_wait(dueq_client *client) { dueq__call_stop_wait(client, false); }

dueq_status dueq_take(dueq_client *client, dueq_result **result) {
    if (result)
        *result = NULL;
    if (client->call.phase == DUEQ__PHASE_NONE)
        return no_call(client);
    if (dueq__call_under_way(client))
        return DUEQ_PENDING;
    dueq_status status = client->call.status;
    if (result) {
        *result = client->call.result;
        client->call.result = NULL;
    }
    reset_call(client);
    return status;
}

/*
 * What a call took of another system's list has gone back by a request behind the call's own, which
 * the server reads as long as the connection stays. The answers are nobody's then.
 */
static void ignore_call_reply(dueq_client *client) {
    if (!client->call.wait.foreign || !dueq__node_expects(client->node, DUEQ__EXPECT_IGNORED))
        return;
    for (size_t i = 0; i < client->node->expected_count; i++)
        if (client->node->expected[i] == DUEQ__EXPECT_CALL)
            client->node->expected[i] = DUEQ__EXPECT_IGNORED;
}

void dueq_abandon(dueq_client *client) {
    const struct dueq__call *call = &client->call;
    dueq__client_check_fork(client);
    dueq__call_drop_suspended(client);
    /* Also where the answer has come, and nobody has read it. */
    bool unread = call->wait.foreign && call->wait.found;
    if (dueq__call_under_way(client) || unread) {
        dueq__wait_abandon(client);
        ignore_call_reply(client);
        if (dueq__node_expects_call(client->node))
            dueq__node_drop(client, client->node);
    }
    reset_call(client);
}
