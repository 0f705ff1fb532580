#include <stdlib.h>

#include "client.h"

/*
 * If a call asks for replicas or the disk, WAIT or WAITAOF follows the request on the same
 * connection, in one write if the same script has run there before. Else it follows the script's
 * answer: behind a script that the server does not have, it would wait in vain for earlier writes
 * of a replica that is away. The script's answer is held until that command is answered. The
 * command waits for the last write of its own connection. So on a new connection a write must come
 * first: recall makes one (recall.lua).
 */

bool dueq__durable_asked(const struct dueq__op *op) {
    return op->durable.wanted.replicas || op->durable.wanted.disk;
}

bool dueq__durable_is_met(const struct dueq__op *op) {
    const struct dueq__durable *durable = &op->durable;
    return !dueq__durable_asked(op) ||
           (durable->known && durable->replicas >= durable->wanted.replicas &&
            durable->disks >= durable->wanted.disk);
}

static bool send_wait(dueq_client *client, enum dueq__expect expect, int replicas,
                      int64_t timeout_ms) {
    struct dueq__resp words = {0};
    dueq__resp_text(&words, client->op->durable.wanted.disk ? "WAITAOF" : "WAIT");
    if (client->op->durable.wanted.disk)
        dueq__resp_text(&words, "1");
    dueq__resp_number(&words, replicas);
    dueq__resp_number(&words, timeout_ms);
    bool sent = dueq__node_send_resp(client->node, expect, &words);
    dueq__conn_allow_silence(&client->node->conn, timeout_ms);
    return sent;
}

bool dueq__durable_support_unknown(const dueq_client *client) {
    return dueq__durable_asked(client->op) &&
           !client->node->conn.accepts_wait[client->op->durable.wanted.disk];
}

/* A server without WAIT or WAITAOF must say so before it stores a message. */
bool dueq__durable_check_support(dueq_client *client) {
    return send_wait(client, DUEQ__EXPECT_WAIT_SUPPORT, 0, 1);
}

void dueq__durable_explain_refusal(dueq_client *client) {
    const struct dueq__error reason = client->error;
    const char *said = strstr(reason.text, "the server says:");
    if (reason.status == DUEQ_UNSUPPORTED && client->op->durable.wanted.disk)
        dueq__fail(&client->error, DUEQ_UNSUPPORTED,
                   "disk needs Redis 7.2 or later, or Valkey, with appendonly yes; nothing was "
                   "stored by %s: %.300s",
                   client->url.shown, said ? said : reason.text);
}

static bool send_durable_wait(dueq_client *client) {
    const struct dueq__op *op = client->op;
    const dueq_durability *asked = &op->durable.wanted;
    int64_t left = op->retry.deadline_ms - dueq__monotonic_ms();
    /* With 0 the server would wait without end. */
    int64_t timeout_ms = left < 1 ? 1 : left < asked->timeout_ms ? left : asked->timeout_ms;
    return send_wait(client, DUEQ__EXPECT_WAIT, asked->replicas, timeout_ms);
}

bool dueq__durable_send_wait_early(dueq_client *client) {
    const struct dueq__op *op = client->op;
    return !dueq__durable_asked(op) || client->node->conn.stored != op->request.script ||
           send_durable_wait(client);
}

void dueq__durable_hold_reply(dueq_client *client) {
    struct dueq__op *op = client->op;
    client->node->conn.stored = op->request.script;
    dueq__durable_drop_reply(op);
    op->durable.held_reply = client->reply;
    client->reply = NULL;
    op->request.sent = true;
    if (!dueq__node_expects(client->node, DUEQ__EXPECT_WAIT) && !send_durable_wait(client))
        dueq__op_no_memory(client);
}

void dueq__durable_drop_reply(struct dueq__op *op) {
    dueq__reply_free(op->durable.held_reply);
    op->durable.held_reply = NULL;
}

/* Reads the script's answer, which was held. */
static void decode_held_reply(dueq_client *client) {
    struct dueq__op *op = client->op;
    dueq__reply_free(client->reply);
    client->reply = op->durable.held_reply;
    op->durable.held_reply = NULL;
    op->request.sent = false;
    op->recall.unanswered = 0;
    op->decode(client, client->reply);
}

void dueq__durable_on_wait_reply(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    struct dueq__durable *durable = &op->durable;
    /*
     * No answer is held: the script was refused, the server does not have it yet, or the call has
     * gone on to another node.
     */
    if (!durable->held_reply || !op->request.sent)
        return;
    if (dueq__reply_is_error(reply)) {
        dueq__reply_error(reply, &client->error);
        if (dueq__backoff_retry_refused(client, &client->error)) {
            dueq__node_drop(client, client->node);
            dueq__route_want_refresh(client);
            dueq__op_mark_unanswered(op);
            return;
        }
    } else if (durable->wanted.disk) {
        durable->known = dueq__reply_number(dueq__reply_item(reply, 0), &durable->disks) &&
                         dueq__reply_number(dueq__reply_item(reply, 1), &durable->replicas);
    } else {
        durable->known = dueq__reply_number(reply, &durable->replicas);
    }
    decode_held_reply(client);
}

void dueq__durable_fail(dueq_client *client, dueq_status status) {
    if (!client->op->durable.held_reply) {
        dueq__op_finish(client, status);
        return;
    }
    if (status == DUEQ_TIMEOUT || status == DUEQ_CLOSED)
        dueq__fail(&client->error, status, "%s was lost, or did not answer in time",
                   client->url.shown);
    decode_held_reply(client);
    dueq__reply_free(client->reply);
    client->reply = NULL;
}
