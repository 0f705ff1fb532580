#include <errno.h>

#include "client.h"

/* The calls of a program: it pumps an operation or waits for it, and takes or abandons it. */

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
    } while (dueq__op_pass_on(client) || dueq__command_ready(client));
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
        int64_t timeout = -1;
        size_t count = 1;
        /* dueq_pump() has told the descriptor what the call waits for, and until when. */
        if (client->descriptor)
            *set = (struct pollfd){.fd = dueq__loop_fd(client->descriptor), .events = POLLIN};
        else
            count = dueq__op_poll_set(client, set, &timeout);
        if (at_most_us >= 0) {
            int64_t left = start + at_most_us - dueq__monotonic_us();
            if (left <= 0)
                return DUEQ_PENDING;
            if (timeout < 0 || left < timeout)
                timeout = left;
        }
        if (dueq__poll(set, count, timeout) < 0 && errno == EINTR)
            return DUEQ_INTERRUPTED;
    }
}

void dueq__op_stop_wait(dueq_client *client, bool keep_retrying) {
    dueq__client_check_fork(client);
    struct dueq__op *op = client->op;
    while (op->parent && !op->wait.until_ms)
        op = op->parent;
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
    dueq__op_reset(client);
    return status;
}

/*
 * A request behind the call's own gives back what the call took from another system's list. The
 * server reads it only if the connection stays open. So the call's replies are read, and ignored.
 */
static void ignore_call_reply(dueq_client *client) {
    if (!client->op->wait.terms.foreign || !dueq__node_expects(client->node, DUEQ__EXPECT_IGNORED))
        return;
    for (size_t i = 0; i < client->node->expected_count; i++)
        if (client->node->expected[i] == DUEQ__EXPECT_CALL)
            client->node->expected[i] = DUEQ__EXPECT_IGNORED;
}

void dueq_abandon(dueq_client *client) {
    dueq__client_check_fork(client);
    dueq__op_drop_children(client);
    const struct dueq__op *op = client->op;
    /* Also if the answer has come, and the program has not taken it. */
    bool unread = (op->wait.terms.foreign && dueq__op_found(op)) ||
                  (op->status >= 0 && dueq__wait_has_duties(&op->wait));
    if (dueq__op_under_way(client) || unread) {
        dueq__wait_abandon(client);
        ignore_call_reply(client);
        if (dueq__node_expects_call(client->node))
            dueq__node_drop(client, client->node);
    }
    dueq__wait_conn_release_all(client);
    dueq__wait_conn_close_kept(client, NULL);
    dueq__op_reset(client);
}
