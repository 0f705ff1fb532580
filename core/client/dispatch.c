#include <stdlib.h>
#include <string.h>

#include "client.h"

/* From reply to result: what a server's answer means for the call. */

/* A script that the server forgets this often is not loaded again. */
#define MAX_LOADS 3

/*
 * The server answered a request with an error. If the error may pass, the request is tried again
 * until the deadline, and the call then ends with this error.
 */
static void on_error(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    op->request.sent = op->request.asking = false;
    if (dueq__route_follow(client, client->node, reply, op->phase == DUEQ__PHASE_RUNNING)) {
        op->request.script_loads = 0;
        return;
    }
    dueq_status status = dueq__reply_error(reply, &client->error);
    struct dueq__redirect to;
    if (!client->cluster && dueq__redirect_read(reply, "", &to)) {
        struct dueq__error moved = client->error;
        dueq__fail(&client->error, status,
                   "%s is a node of a cluster, whose URL begins with redis+cluster:// or "
                   "rediss+cluster:// (%.200s)",
                   client->url.shown, moved.text);
        client->error.recovery = moved.recovery;
    }
    /* After a failover the address may lead to the new primary. */
    if (client->error.recovery == DUEQ__FAILOVER) {
        dueq__node_drop(client, client->node);
        dueq__route_want_refresh(client);
    }
    if (client->error.recovery != DUEQ__PERMANENT && dueq__wait_skip_down_node(client))
        return;
    if (!dueq__backoff_retry_refused(client, &client->error))
        dueq__op_finish(client, status);
}

/* The server forgot, or never had, a script: loads it. Then the request is repeated. */
static void load_script(dueq_client *client, const struct dueq__script *script) {
    char *source = dueq__script_source(script);
    client->op->request.sent = false;
    if (!source) {
        dueq__op_no_memory(client);
        return;
    }
    const dueq_bytes words[] = {dueq__text("SCRIPT"), dueq__text("LOAD"), dueq__text(source)};
    bool sent = ++client->op->request.script_loads <= MAX_LOADS &&
                dueq__node_send(client->node, DUEQ__EXPECT_LOAD, words, 3);
    free(source);
    if (!sent)
        dueq__op_finish(client, dueq__fail(&client->error, DUEQ_UNSUPPORTED,
                                           "%s does not keep the script '%s' after SCRIPT LOAD",
                                           client->url.shown, script->name));
}

static void on_answer(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    op->request.sent = op->request.asking = false;
    op->recall.unanswered = 0;
    op->request.redirects = 0;
    client->ever_answered = true;
    if (client->failures)
        dueq__backoff_reset(client);
    if (!dueq__node_any_down(client))
        dueq__outage_log_leave(client, true);
    if (op->request.script->next && dueq__reply_is_nil(reply)) {
        dueq__op_use_next_script(client);
    } else {
        dueq__op_on_answer(client);
        if (dueq__durable_asked(op))
            dueq__durable_hold_reply(client);
        else
            op->decode(client, reply);
    }
}

/* The server refuses to say whether it ran the request. */
static void fail_outcome_unknown(dueq_client *client) {
    struct dueq__error reason = client->error;
    dueq__fail(&client->error, DUEQ_CLOSED,
               "the connection to %s was lost during the %s, and whether that took effect is not "
               "known: %.240s",
               client->url.shown, client->op->request.script->name, reason.text);
    client->op->status = DUEQ_CLOSED;
}

/* True: the server refused a command about a lost connection, and it is sent again later. */
static bool retry_stale_check(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__error error = {0};
    if (!dueq__reply_is_error(reply))
        return false;
    dueq__reply_error(reply, &error);
    if (!dueq__backoff_retry_refused(client, &error))
        return false;
    client->error = error;
    return true;
}

/* The server ran the recalled request earlier, in a minute that is not known. */
static void set_recalled_time(struct dueq__op *op, const struct dueq__reply *reply) {
    int64_t ago_us;
    if (dueq__op_reserves(op) && dueq__reply_number(dueq__reply_item(reply, 1), &ago_us))
        op->request.sent_ms -= (ago_us + 999) / 1000;
    op->request.minute = 0;
}

/*
 * True: the request may be repeated although the server may run the lost one later. The messages
 * that a lost reserve takes come back when their leases end. A migrate or a transfer moves each due
 * item only once.
 */
static bool may_repeat(const struct dueq__op *op) {
    const struct dueq__foreign_wait *foreign = op->wait.terms.foreign;
    return op->retry.until_ms && (dueq__op_reserves(op) || (foreign && !foreign->block));
}

static void on_recall(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    if (dueq__reply_is_nil(reply))
        dueq__durable_drop_reply(op);
    if (!dueq__reply_is_error(reply))
        op->queue->unanswered.number = 0;
    if (dueq__reply_begins(reply, "NOSCRIPT")) {
        load_script(client, op->queue->recall);
    } else if (dueq__reply_is_error(reply)) {
        on_error(client, reply);
        if (op->phase == DUEQ__PHASE_FINAL)
            fail_outcome_unknown(client);
    } else if (!dueq__reply_is_nil(reply)) {
        set_recalled_time(op, reply);
        on_answer(client, reply);
    } else if (op->recall.may_run_late && !may_repeat(op)) {
        dueq__op_finish(
            client, dueq__fail(&client->error, DUEQ_CLOSED,
                               "the connection to %s was lost during the %s, and the server does "
                               "not permit CLIENT ID, LIST and KILL, so whether it takes effect is "
                               "not known",
                               client->url.shown, op->request.script->name));
    } else {
        op->recall.unanswered = 0;
    }
}

/* The server told the size of the answer, whose recall was lost before. */
static void on_recall_size(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    int64_t size = 0;
    if (dueq__reply_is_error(reply)) {
        on_recall(client, reply);
        return;
    }
    op->recall.is_large = dueq__reply_number(reply, &size) && size >= DUEQ__LARGE;
    op->recall.was_lost = false;
}

void dueq__dispatch(dueq_client *client, struct dueq__node *node, enum dueq__expect expect,
                    const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    dueq_bytes bytes = {0};
    switch (expect) {
    case DUEQ__EXPECT_CALL:
        if (dueq__reply_begins(reply, "NOSCRIPT") && op->request.script->sha1)
            load_script(client, op->request.script);
        else if (dueq__reply_is_error(reply))
            on_error(client, reply);
        else
            on_answer(client, reply);
        break;
    case DUEQ__EXPECT_LOAD:
        if (dueq__reply_is_error(reply))
            on_error(client, reply);
        break;
    case DUEQ__EXPECT_RECALL:
        on_recall(client, reply);
        break;
    case DUEQ__EXPECT_RECALL_SIZE:
        on_recall_size(client, reply);
        break;
    case DUEQ__EXPECT_CLIENT_LIST:
        if (retry_stale_check(client, reply))
            break;
        /* A restarted server gives the same ids again. So the name must be this client's, too. */
        if (dueq__reply_is_error(reply))
            op->recall.may_run_late = true;
        else if (dueq__reply_bytes(reply, &bytes) &&
                 memmem(bytes.data, bytes.size, client->name, strlen(client->name)) &&
                 dueq__node_send_about_stale(client->node, DUEQ__EXPECT_CLIENT_KILL, "KILL"))
            break;
        client->node->stale_id = 0;
        break;
    case DUEQ__EXPECT_CLIENT_KILL:
        if (retry_stale_check(client, reply))
            break;
        op->recall.may_run_late = op->recall.may_run_late || dueq__reply_is_error(reply);
        client->node->stale_id = 0;
        break;
    case DUEQ__EXPECT_WAIT_SUPPORT:
        if (!dueq__reply_is_error(reply)) {
            client->node->conn.accepts_wait[op->durable.wanted.disk] = true;
            break;
        }
        on_error(client, reply);
        if (op->phase == DUEQ__PHASE_FINAL)
            dueq__durable_explain_refusal(client);
        break;
    case DUEQ__EXPECT_WAIT:
        dueq__durable_on_wait_reply(client, reply);
        break;
    case DUEQ__EXPECT_UNBLOCK:
        dueq__wait_conn_on_unblock_reply(client, node, reply);
        break;
    case DUEQ__EXPECT_PROBE:
        dueq__wait_on_probe(client, reply);
        break;
    case DUEQ__EXPECT_LOOK:
        dueq__wait_on_look(client, node, reply);
        break;
    case DUEQ__EXPECT_TRACK:
        if (op->wait.terms.foreign && op->wait.terms.foreign->on_track_reply)
            op->wait.terms.foreign->on_track_reply(client, reply);
        break;
    case DUEQ__EXPECT_IGNORED:
        break;
    }
}
