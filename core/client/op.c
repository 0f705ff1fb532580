#include <stdlib.h>
#include <string.h>

#include "client.h"

#define MINUTE_MS 60000
/* The server keeps an answer for this much longer than the call, which may ask for it again. */
#define KEEP_SLACK_MS 5000

bool dueq__op_under_way(const dueq_client *client) {
    return client->op->phase != DUEQ__PHASE_NONE && client->op->phase != DUEQ__PHASE_FINAL;
}

bool dueq__op_reserves(const struct dueq__op *op) {
    return op->request.script == &dueq__script_reserve ||
           op->request.script == &dueq__script_reserve_timed ||
           op->request.script == &dueq__script_reserve_noted ||
           op->request.script == &dueq__script_reserve_full ||
           op->request.script == &dueq__script_reserve_groups ||
           op->request.script == &dueq__script_reserve_groups_full;
}

bool dueq__op_was_recalled(const struct dueq__op *op) { return op->request.minute == 0; }

bool dueq__op_found(const struct dueq__op *op) {
    return op->wait.watches && dueq_result_count(op->result) > 0;
}

bool dueq__op_uses_queue(const dueq_queue *queue) {
    const struct dueq__op *op = queue->client->op;
    while (op->parent)
        op = op->parent;
    bool used = op->queue == queue;
    for (size_t i = 0; i < op->wait.watch_count; i++)
        used = used || op->wait.watches[i].queue == queue;
    return used;
}

/*
 * Frees words. A connection that still sends them is closed: the server has answered before it had
 * read them.
 */
static void free_words(dueq_client *client, struct dueq__resp *words) {
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        if (dueq__conn_borrows(&node->conn, words))
            dueq__node_drop(client, node);
    dueq__resp_free(words);
}

void dueq__op_reset(dueq_client *client) {
    struct dueq__op *op = client->op, *parent = op->parent;
    dueq__on_final *on_final = op->on_final;
    free_words(client, &op->request.head);
    free_words(client, &op->request.arguments);
    free_words(client, &op->settling.words);
    free(op->request.named_keys);
    free(op->verb);
    free(op->wait.watches);
    dueq__durable_drop_reply(op);
    dueq_result_free(op->result);
    memset(op, 0, sizeof *op);
    op->parent = parent;
    op->on_final = on_final;
}

dueq_status dueq__op_begin_plain(dueq_client *client, const struct dueq__script *script) {
    struct dueq__op *op = client->op;
    if (dueq__op_under_way(client))
        return dueq__fail(&client->error, DUEQ_IN_USE, NULL);
    dueq__op_reset(client);
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

dueq_status dueq__op_begin_steps(dueq_queue *queue, const struct dueq__script *script,
                                 void *state) {
    dueq_client *client = queue->client;
    if (!state)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    dueq_status status = dueq__op_begin(queue, script, false);
    if (status) {
        free(state);
        return status;
    }
    client->op->verb = state;
    client->op->phase = DUEQ__PHASE_RUNNING;
    client->op->retry.deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
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
    *words = (struct dueq__resp){0};
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
    char *end = buffer + key.size;
    memcpy(buffer, key.data, key.size);
    *end++ = ':';
    end = stpcpy(end, session);
    return (dueq_bytes){buffer, (size_t)(end - buffer)};
}

void dueq__op_note_kept_reply(dueq_client *client) {
    client->op->queue->reply_expiry_minute = client->op->request.minute;
}

void dueq__op_on_answer(dueq_client *client) {
    struct dueq__op *op = client->op;
    /* The server keeps no reply to a request of a wait that found nothing. */
    if (op->request.changes && !op->wait.watches)
        dueq__op_note_kept_reply(client);
    if (op->request.changes && keeps_history(op->request.script))
        op->queue->history_minute = op->request.minute;
}

dueq_status dueq__op_no_memory(dueq_client *client) {
    return dueq__op_finish(client, dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL));
}

/* Takes the words over; false: they are not complete. */
static bool take_words(dueq_client *client, struct dueq__resp *kept, struct dueq__resp *words) {
    free_words(client, kept);
    *kept = *words;
    *words = (struct dueq__resp){0};
    return !kept->failed;
}

static bool format_head(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__resp words = {0};
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
    due = due && op->settling.watch == op->wait.current;
    return due ? &op->settling.words : NULL;
}

dueq_status dueq__op_submit(dueq_client *client, struct dueq__resp *words) {
    struct dueq__op *op = client->op;
    if (!take_words(client, &op->request.arguments, words) || !format_head(client))
        return dueq__op_no_memory(client);
    op->recall = (struct dueq__recall){0};
    op->request.used_next_script = op->request.sent = op->request.asking = false;
    op->request.script_loads = op->request.redirects = 0;
    op->retry.next_ms = 0;
    /* A wait that ends in an outage ends with the error of the outage. */
    if (!client->failures)
        client->error = (struct dueq__error){0};
    op->retry.deadline_ms =
        dueq__monotonic_ms() + client->url.timeout_ms + op->durable.wanted.timeout_ms;
    if (op->wait.watches && op->retry.deadline_ms > op->wait.end_ms)
        op->retry.deadline_ms = op->wait.end_ms;
    /* A relay's request may be about another queue than its call. */
    if (client->cluster && op->queue)
        op->request.slot = dueq__slot(op->request.keys[DUEQ__KEY_FIRST]);
    op->phase = DUEQ__PHASE_RUNNING;
    return DUEQ_PENDING;
}

void dueq__op_set_terms(dueq_client *client, const struct dueq__terms *terms) {
    struct dueq__op *op = client->op;
    int64_t limit = dueq__monotonic_ms() + terms->at_most_ms;
    op->retry.until_ms = terms->retry_until_ms;
    op->retry.skip_down_node = terms->skip_down_node && client->cluster;
    op->wait.slack_us = 1000 * terms->slack_ms;
    if (terms->at_most_ms && limit < op->retry.deadline_ms)
        op->retry.deadline_ms = limit;
}

void dueq__op_mark_unanswered(struct dueq__op *op) {
    if (op->request.sent)
        op->recall.unanswered = op->request.number;
    op->request.sent = false;
}

void dueq__op_use_next_script(dueq_client *client) {
    client->op->request.script = client->op->request.script->next;
    client->op->request.used_next_script = true;
    client->op->request.script_loads = 0;
    if (!format_head(client))
        dueq__op_no_memory(client);
}

dueq_status dueq__op_finish(dueq_client *client, dueq_status status) {
    struct dueq__op *op = client->op;
    op->phase = DUEQ__PHASE_FINAL;
    op->status = status;
    if (status < 0)
        dueq__wait_abandon(client);
    if (op->wait.watches)
        dueq__wait_conn_release_all(client);
    if (status < 0) {
        if (status != DUEQ_NOT_DURABLE && status != DUEQ_BACKLOG) {
            dueq_result_free(op->result);
            op->result = NULL;
        }
        if (client->error.status != status || !client->error.text[0])
            dueq__fail(&client->error, status, NULL);
        /* After BACKLOG nothing is wrong with the server. */
        if (dueq_status_retriable(status) && status != DUEQ_BACKLOG)
            dueq__backoff_on_call_failed(client);
    } else {
        client->error = (struct dueq__error){0};
    }
    return status;
}

void dueq__op_finish_result(dueq_client *client, dueq_result *result, dueq_status status) {
    dueq__op_end(client, result, result ? status : client->error.status);
}

void dueq__op_end(dueq_client *client, dueq_result *result, dueq_status status) {
    client->op->result = result;
    dueq__op_finish(client, status);
}

void *dueq__op_state(dueq_client *client, size_t size) {
    return client->op->verb = calloc(1, size);
}

/* Children */

struct dueq__op *dueq__op_child(dueq_client *client, dueq__on_final *on_final) {
    struct dueq__op *child = calloc(1, sizeof *child);
    if (!child)
        return NULL;
    child->parent = client->op;
    child->on_final = on_final;
    return client->op = child;
}

static void drop_child(dueq_client *client) {
    struct dueq__op *child = client->op;
    dueq__op_reset(client);
    client->op = child->parent;
    free(child);
}

void dueq__op_child_submitted(dueq_client *client, struct dueq__op *child, dueq_status status) {
    if (status != DUEQ_PENDING) {
        if (child)
            drop_child(client);
        dueq__op_finish(client, status);
        return;
    }
    struct dueq__op *parent = child->parent;
    parent->retry.deadline_ms += child->durable.wanted.timeout_ms;
    if (!child->wait.watches && parent->retry.deadline_ms < child->retry.deadline_ms)
        child->retry.deadline_ms = parent->retry.deadline_ms;
}

bool dueq__op_child_failed(dueq_client *client, dueq_status status, const dueq_result *result) {
    bool failed = status < 0 && !result;
    if (failed)
        dueq__op_finish(client, status);
    return failed;
}

bool dueq__op_pass_on(dueq_client *client) {
    struct dueq__op *child = client->op;
    if (!child->parent || child->phase != DUEQ__PHASE_FINAL)
        return false;
    dueq__on_final *on_final = child->on_final;
    dueq_status status = child->status;
    dueq_result *result = child->result;
    child->result = NULL;
    drop_child(client);
    on_final(client, status, result);
    return true;
}

void dueq__op_drop_children(dueq_client *client) {
    if (!client->op->parent)
        return;
    dueq__wait_abandon(client);
    if (dueq__node_expects_call(client->node))
        dueq__node_drop(client, client->node);
    while (client->op->parent)
        drop_child(client);
    client->error = (struct dueq__error){0};
}
