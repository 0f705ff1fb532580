#include <string.h>

#include "client.h"

/* The command connection: sends the call's requests, also after losses, and reads the answers. */

/* A large answer that was cut off so often in a row is larger than the server sends. */
#define MAX_RECALLS_CUT_OFF 3
/*
 * After a request has lost so many connections, the error says that the size of the request, or of
 * its answer, may be the cause.
 */
#define SUSPICIOUS_LOST_CONNS 3

/* The answer to the call's request, or to its recall, may be as large as all that was asked for. */
static void limit_reply(dueq_client *client) {
    client->node->max_reply_bytes =
        DUEQ__MAX_SMALL_REPLY + client->op->request.max_messages * DUEQ__MAX_MESSAGE_REPLY;
}

/*
 * Sends recall, which answers what the lost request answered. If a recall of a reserve was lost,
 * asks for the size of that answer first.
 */
static bool send_recall(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__resp words = {0};
    bool reserves = dueq__op_reserves(op), sizes = reserves && op->recall.was_lost;
    dueq__script_write(&words, op->queue->recall, op->request.keys);
    dueq__resp_number(&words, (int64_t)op->recall.unanswered);
    dueq__resp_text(&words, sizes ? "2" : reserves ? "1" : "0");
    if (dueq__durable_asked(op))
        dueq__resp_number(&words, op->request.reply_ttl_ms);
    bool sent = dueq__node_send_resp(
        client->node, sizes ? DUEQ__EXPECT_RECALL_SIZE : DUEQ__EXPECT_RECALL, &words);
    limit_reply(client);
    if (dueq__op_reserves(op))
        op->request.sent_ms = dueq__monotonic_ms();
    return sent;
}

static bool send_request(dueq_client *client) {
    const struct dueq__op *op = client->op;
    const struct dueq__resp *settlement = dueq__op_settlement(op);
    const struct dueq__resp *parts[] = {&op->request.head, &op->request.arguments, settlement};
    const struct dueq__foreign_wait *foreign = op->wait.terms.foreign;
    /* An earlier answer no longer counts: a server may have taken over without those writes. */
    dueq__durable_drop_reply(client->op);
    if (foreign && foreign->before_request)
        foreign->before_request(client);
    if (!dueq__conn_send(&client->node->conn, parts, settlement ? 3 : 2))
        return false;
    client->node->expected[client->node->expected_count++] = DUEQ__EXPECT_CALL;
    limit_reply(client);
    client->op->request.sent = true;
    client->op->request.sent_ms = dueq__monotonic_ms();
    return dueq__durable_send_wait_early(client);
}

static bool can_send(const dueq_client *client) {
    const struct dueq__op *op = client->op;
    if (dueq__node_expects_call(client->node))
        return false;
    return op->phase == DUEQ__PHASE_RUNNING && !op->request.sent &&
           client->node->expected_count < DUEQ__MAX_EXPECTED &&
           client->node->conn.state == DUEQ__CONN_READY &&
           dueq__monotonic_ms() >= op->retry.next_ms;
}

/*
 * Sends what the call needs next. After a loss the client first makes sure that the server reads no
 * more from the old connection. Then it asks whether the server has run the request. Only then it
 * repeats the request.
 */
static void send_next(dueq_client *client) {
    struct dueq__op *op = client->op;
    if (!can_send(client))
        return;
    const dueq_bytes asking = dueq__text("ASKING");
    if (op->request.at_most_once && op->recall.may_run_late && !client->node->stale_id)
        dueq__op_finish(client, DUEQ_CLOSED);
    else if ((op->request.asking && !client->node->stale_id &&
              !dueq__node_send(client->node, DUEQ__EXPECT_IGNORED, &asking, 1)) ||
             !(client->node->stale_id
                   ? dueq__node_send_about_stale(client->node, DUEQ__EXPECT_CLIENT_LIST, "LIST")
               : op->recall.unanswered                 ? send_recall(client)
               : dueq__durable_support_unknown(client) ? dueq__durable_check_support(client)
                                                       : send_request(client)))
        dueq__op_no_memory(client);
}

/*
 * The node cannot be reached: the call goes on with the other queues of its wait, or ends if its
 * caller wants that (skip_down_node). False: neither.
 */
static bool skip_node(dueq_client *client) {
    if (!client->op->retry.skip_down_node)
        return dueq__wait_skip_down_node(client);
    dueq__durable_fail(client, client->error.status);
    return true;
}

/*
 * If the server announced a large answer and then closed the connection, the answer probably
 * exceeds its output buffer limit. A recall that is lost before that says nothing of the size.
 */
static void note_lost_recall(dueq_client *client) {
    struct dueq__op *op = client->op;
    bool recalled = dueq__node_expects(client->node, DUEQ__EXPECT_RECALL);
    op->recall.cut_off = recalled && op->recall.is_large ? op->recall.cut_off + 1 : 0;
    op->recall.was_lost = recalled || op->recall.was_lost;
    op->recall.is_large = false;
}

static void on_conn_lost(dueq_client *client) {
    struct dueq__op *op = client->op;
    const struct dueq__error *reason = &client->node->conn.error;
    bool was_ready = !client->node->down_since_ms;
    note_lost_recall(client);
    client->lost_conns++;
    dueq__node_drop(client, client->node);
    dueq__route_want_refresh(client);
    op->request.asking = false;
    op->request.script_loads = 0;
    if (op->phase != DUEQ__PHASE_RUNNING)
        return;
    if (reason->status)
        client->error = *reason;
    if (was_ready)
        dueq__node_note_try(client->node,
                            op->request.sent ? op->request.sent_ms : dueq__monotonic_ms());
    op->recall.lost_conns += op->request.sent;
    dueq__op_mark_unanswered(op);
    if (dueq__backoff_is_fatal(client, &client->error)) {
        dueq__durable_fail(client, client->error.status);
    } else if (op->recall.cut_off >= MAX_RECALLS_CUT_OFF) {
        dueq__durable_fail(
            client, dueq__fail(&client->error, DUEQ_TOO_LARGE,
                               "%s closes the connection instead of sending the messages that it "
                               "has delivered: they are larger than its client-output-buffer-limit "
                               "for normal clients. They come again when their leases end",
                               client->url.shown));
    } else if ((was_ready || !skip_node(client)) &&
               !dueq__backoff_retry_refused(client, &client->error)) {
        dueq__backoff_retry_later(client, client->error.text);
    }
}

/* True: the call needs a node that is down, or that just failed, and has gone on without it. */
static bool skip_if_down(dueq_client *client) {
    const struct dueq__conn *conn = &client->node->conn;
    if (client->op->phase != DUEQ__PHASE_RUNNING || conn->state == DUEQ__CONN_READY ||
        !(dueq__node_is_down(client->node) || dueq__node_backs_off(client->node)))
        return false;
    struct dueq__error before = client->error;
    if (!before.status)
        dueq__fail(&client->error, DUEQ_CONNECT, "%s does not answer", dueq__conn_shown(conn));
    client->skips_untried = true;
    bool without = skip_node(client);
    client->skips_untried = false;
    if (!without)
        client->error = before;
    return without;
}

/* Sets the error of a request whose deadline has come. */
static dueq_status set_timeout_error(dueq_client *client, enum dueq__conn_state state) {
    const struct dueq__op *op = client->op;
    struct dueq__error *error = &client->error;
    bool up = state == DUEQ__CONN_READY;
    const char *server = client->url.shown, *script = op->request.script->name;
    long long limit = (long long)(client->url.timeout_ms + op->durable.wanted.timeout_ms);
    size_t size = op->request.head.size + op->request.arguments.size;
    if (op->recall.lost_conns >= SUSPICIOUS_LOST_CONNS &&
        (!op->request.changes || size >= DUEQ__LARGE))
        return dueq__fail(
            error, DUEQ_CLOSED,
            "%s closed the connection %u times on a request of %zu bytes; the outcome is not "
            "known. Is it larger than the server's proto-max-bulk-len, or the answer than its "
            "client-output-buffer-limit for normal clients?",
            server, op->recall.lost_conns, size);
    if (op->request.sent || op->recall.unanswered)
        return dueq__fail(error, up ? DUEQ_TIMEOUT : DUEQ_CLOSED,
                          "%s %s; whether the %s took effect is not known", server,
                          up ? "did not answer in time" : "was lost and did not come back in time",
                          script);
    /* A client with a message has reached its server before: an ack is CLOSED, sent or not. */
    if (error->status == DUEQ_CONNECT && strncmp(script, "ack", 3) == 0)
        return dueq__fail(
            error, DUEQ_CLOSED,
            "%s was lost and did not come back in time; the message is not acknowledged", server);
    if (state == DUEQ__CONN_RESOLVING)
        return dueq__fail(error, DUEQ_CONNECT,
                          "cannot reach the server at %s: the name resolution did not answer "
                          "within %lld ms; do the name servers in /etc/resolv.conf answer?",
                          server, limit);
    if (state == DUEQ__CONN_TLS)
        return dueq__fail(
            error, DUEQ_TLS,
            "%s did not end the TLS handshake within %lld ms; does it speak TLS there?", server,
            limit);
    if (error->status == DUEQ_OK)
        return dueq__fail(error, DUEQ_TIMEOUT,
                          "%s did not answer within %lld ms; nothing was changed", server, limit);
    return error->status;
}

/*
 * The deadline of the call's request has come. A call that waits closes its connections, which may
 * hang for ever, and goes on with new ones.
 */
static void on_deadline(dueq_client *client) {
    struct dueq__op *op = client->op;
    enum dueq__conn_state state = client->node->conn.state;
    bool lasts = dueq__backoff_outlasts_request(client);
    dueq_status status = set_timeout_error(client, state);
    dueq__node_drop(client, client->node);
    if (state == DUEQ__CONN_READY && op->request.sent)
        dueq__node_note_try(client->node, op->request.sent_ms);
    if (!lasts) {
        dueq__durable_fail(client, status);
        return;
    }
    dueq__op_mark_unanswered(op);
    dueq__wait_conn_drop_node(client, client->node);
    dueq__route_want_refresh(client);
    dueq__backoff_retry_later(client, client->error.text);
}

void dueq__command_unexpected_reply(dueq_client *client) {
    dueq__fail(&client->error, DUEQ_PROTOCOL, "%s sent a reply without a request",
               client->url.shown);
    dueq__node_drop(client, client->node);
    dueq__op_finish(client, DUEQ_PROTOCOL);
}

/* How many bytes the node's next reply may have. */
static uint64_t max_reply_bytes(const struct dueq__node *node) {
    enum dueq__expect expect = node->expected_count ? node->expected[0] : DUEQ__EXPECT_LOAD;
    if (expect == DUEQ__EXPECT_CALL || expect == DUEQ__EXPECT_RECALL)
        return node->max_reply_bytes;
    /* An ignored reply may have the messages of an abandoned call. */
    return expect == DUEQ__EXPECT_IGNORED ? DUEQ_MAX_BATCH * DUEQ__MAX_MESSAGE_REPLY
                                          : DUEQ__MAX_SMALL_REPLY;
}

/* Reads the node's next reply, and acts on it; false: there is none. */
static bool take_reply(dueq_client *client, struct dueq__node *node) {
    struct dueq__reply *reply = dueq__conn_reply(&node->conn, max_reply_bytes(node));
    if (!reply)
        return false;
    if (node->expected_count == 0) {
        dueq__reply_free(reply);
        client->node = node;
        dueq__command_unexpected_reply(client);
        return false;
    }
    enum dueq__expect expect = node->expected[0];
    memmove(node->expected, node->expected + 1, --node->expected_count * sizeof expect);
    client->reply = reply;
    /* If the call has gone on to another node, nobody needs its replies from this one. */
    if (node == client->node || expect >= DUEQ__EXPECT_UNBLOCK)
        dueq__dispatch(client, node, expect, reply);
    dueq__reply_free(client->reply);
    client->reply = NULL;
    return true;
}

/* A connection could not be made to a node without which the call has gone on. */
static void on_connect_failed(dueq_client *client, const struct dueq__error *error) {
    if (!dueq__backoff_is_fatal(client, error)) {
        dueq__outage_log_failure(client, error->text);
    } else if (dueq__op_under_way(client)) {
        client->error = *error;
        dueq__op_finish(client, error->status);
    }
}

/*
 * Pumps nodes that are not the call's: those that have not answered a command which ends or probes
 * a wait, and those to which a connection is being made.
 */
static void pump_other_nodes(dueq_client *client) {
    for (struct dueq__node *node = client->nodes; node; node = node->next) {
        if (node == client->node || (!node->expected_count && !dueq__node_is_connecting(node)))
            continue;
        dueq__node_pump(client, node);
        while (dueq__op_under_way(client) && take_reply(client, node))
            ;
        if (node->conn.state != DUEQ__CONN_CLOSED)
            continue;
        if (node->down_since_ms)
            on_connect_failed(client, &node->conn.error);
        dueq__node_drop(client, node);
    }
}

void dueq__command_pump(dueq_client *client) {
    pump_other_nodes(client);
    while (dueq__op_under_way(client)) {
        /* Read anew each time: a reply may have made a child. */
        const struct dueq__op *op = client->op;
        int64_t now = dueq__monotonic_ms();
        /* If the process was stopped, it reads an answer late that came in time: that counts. */
        bool late = op->phase == DUEQ__PHASE_RUNNING && now >= op->retry.deadline_ms;
        if (!dueq__route_pump(client)) {
            if (late && dueq__op_under_way(client))
                on_deadline(client);
            return;
        }
        if (client->node->conn.state == DUEQ__CONN_CLOSED) {
            if (client->node->conn.opened) {
                on_conn_lost(client);
                continue;
            }
            if (late)
                on_deadline(client);
            if (!late && dueq__node_backs_off(client->node) && skip_if_down(client))
                continue;
            if (late || op->phase != DUEQ__PHASE_RUNNING || now < op->retry.next_ms ||
                !dueq__node_connect(client, &client->node->conn, client->node))
                return;
        }
        dueq__node_pump(client, client->node);
        if (client->node->conn.state == DUEQ__CONN_READY) {
            client->ever_connected = true;
            if (!late)
                send_next(client);
            dueq__conn_flush(&client->node->conn);
            if (take_reply(client, client->node))
                continue;
        }
        if (client->node->conn.state == DUEQ__CONN_CLOSED || skip_if_down(client))
            continue;
        if (late)
            on_deadline(client);
        return;
    }
}

bool dueq__command_ready(const dueq_client *client) {
    const struct dueq__op *op = client->op;
    bool running = op->phase == DUEQ__PHASE_RUNNING;
    if (running && !op->request.sent && dueq__route_target(client) != client->node)
        return dueq__route_target(client) && dueq__monotonic_ms() >= op->retry.next_ms;
    bool connects = running && client->node->conn.state == DUEQ__CONN_CLOSED &&
                    dueq__monotonic_ms() >= op->retry.next_ms;
    return connects || can_send(client);
}
