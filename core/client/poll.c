#include "client.h"

/* What a call waits for: a set for poll(2), or one descriptor for event loops. */

/* How often a call polls if a set has no room for all sockets, and no descriptor is left. */
#define NO_DESCRIPTOR_POLL_US 100000

static void want_events(struct dueq__conn *conn) {
    conn->wanted_events = dueq__conn_fd(conn) >= 0 ? dueq__conn_events(conn) : 0;
}

int64_t dueq__op_want_events(dueq_client *client) {
    struct dueq__op *op = client->op;
    for (struct dueq__conn *conn = client->conns; conn; conn = conn->next)
        conn->wanted_events = 0;
    /* A request that was submitted and not pumped yet waits for nothing. */
    if (!dueq__op_under_way(client) || dueq__command_ready(client))
        return 0;
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        if (node == client->node || node->expected_count || dueq__node_is_connecting(node))
            want_events(&node->conn);
    if (dueq__route_conn(client))
        want_events(dueq__route_conn(client));
    if (client->url.topology == DUEQ__SENTINEL)
        want_events(&client->sentinels.subscription);
    int64_t next_ms = dueq__route_next_ms(client);
    if (op->phase == DUEQ__PHASE_RUNNING) {
        next_ms = op->retry.deadline_ms < next_ms ? op->retry.deadline_ms : next_ms;
        if (!op->request.sent && op->retry.next_ms > dueq__monotonic_ms() &&
            op->retry.next_ms < next_ms)
            next_ms = op->retry.next_ms;
    }
    int64_t next = next_ms < DUEQ__NEVER / 1000 ? next_ms * 1000 : DUEQ__NEVER;
    if (op->wait.until_ms) {
        /* A connection that this call does not read would stay readable. */
        for (struct dueq__wait_conn *wait_conn = client->wait_conns; wait_conn;
             wait_conn = wait_conn->next)
            if (wait_conn->use)
                want_events(&wait_conn->conn);
        if (op->wait.terms.foreign && op->wait.terms.foreign->pump)
            want_events(&client->subscription.conn);
        int64_t wait_next = dueq__wait_next_us(client);
        next = wait_next < next ? wait_next : next;
    }
    for (const struct dueq__conn *conn = client->conns; conn; conn = conn->next)
        if (conn->wanted_events && dueq__conn_until_ms(conn) < next / 1000)
            next = dueq__conn_until_ms(conn) * 1000;
    int64_t left = next - dueq__monotonic_us();
    return next == DUEQ__NEVER ? -1 : left < 0 ? 0 : left;
}

/* The descriptor: a loop with the sockets of a call under way, and the time of its next step. */

bool dueq__descriptor_make(dueq_client *client) {
    if (client->descriptor)
        return true;
    client->descriptor = dueq__loop_new(true);
    for (struct dueq__conn *conn = client->conns; conn; conn = conn->next)
        conn->entry->loop = client->descriptor;
    return client->descriptor;
}

/* Stops watching the connections that have bytes which this call does not read. */
static void unwatch_ready(dueq_client *client) {
    int ready[DUEQ__MOST_READY];
    size_t count = dueq__loop_ready(client->descriptor, ready, DUEQ__MOST_READY);
    for (struct dueq__conn *conn = client->conns; conn && count; conn = conn->next) {
        bool unwatched = count == DUEQ__MOST_READY;
        for (size_t i = 0; i < count && !unwatched; i++)
            unwatched = ready[i] == dueq__conn_fd(conn);
        if (!unwatched || conn->wanted_events || !conn->entry->events)
            continue;
        dueq__loop_watch(client->descriptor, dueq__conn_fd(conn), 0);
        conn->entry->events = 0;
    }
}

void dueq__descriptor_sync(dueq_client *client) {
    if (!client->descriptor)
        return;
    int64_t left_us = dueq__op_want_events(client);
    bool rests = false;
    for (struct dueq__conn *conn = client->conns; conn; conn = conn->next) {
        /*
         * Two connections that resolve the same name share a descriptor. The first one that closes
         * removes it from the epoll instance, so it is added again.
         */
        if (conn->wanted_events == conn->entry->events && conn->state != DUEQ__CONN_RESOLVING)
            continue;
        /*
         * A wait in a cluster may have a thousand connections, which the calls between two waits do
         * not read. They stay watched as long as no bytes come.
         */
        if (!conn->wanted_events && conn->entry->events == POLLIN &&
            conn->state == DUEQ__CONN_READY) {
            rests = true;
            continue;
        }
        if (conn->wanted_events || conn->entry->events)
            dueq__loop_watch(client->descriptor, dueq__conn_fd(conn), conn->wanted_events);
        conn->entry->events = conn->wanted_events;
    }
    if (rests)
        unwatch_ready(client);
    dueq__loop_wake_after(client->descriptor, dueq__op_under_way(client) ? left_us : -1);
}

int dueq_descriptor(dueq_client *client) {
    dueq__client_check_fork(client);
    if (!dueq__descriptor_make(client))
        return -1;
    dueq__descriptor_sync(client);
    return dueq__loop_fd(client->descriptor);
}

/* If a set has no room for all sockets, it has the descriptor that reports them. */
static size_t as_one_descriptor(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                                int64_t *left_us) {
    if (dueq__descriptor_make(client)) {
        dueq__descriptor_sync(client);
        *set = (struct pollfd){.fd = dueq__loop_fd(client->descriptor), .events = POLLIN};
        return 1;
    }
    /* The process has no descriptor left. */
    *left_us = *left_us < 0 || *left_us > NO_DESCRIPTOR_POLL_US ? NO_DESCRIPTOR_POLL_US : *left_us;
    return DUEQ_MAX_SOCKETS;
}

size_t dueq__op_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS],
                         int64_t *left_us) {
    size_t count = 0;
    *left_us = dueq__op_want_events(client);
    for (const struct dueq__conn *conn = client->conns; conn; conn = conn->next) {
        if (!conn->wanted_events)
            continue;
        if (count == DUEQ_MAX_SOCKETS)
            return as_one_descriptor(client, set, left_us);
        set[count++] = (struct pollfd){.fd = dueq__conn_fd(conn), .events = conn->wanted_events};
    }
    return count;
}

size_t dueq_poll_set(dueq_client *client, struct pollfd set[DUEQ_MAX_SOCKETS], int *timeout_ms) {
    int64_t left_us;
    size_t count = dueq__op_poll_set(client, set, &left_us);
    *timeout_ms = left_us < 0 ? -1 : left_us > 60000000 ? 60000 : (int)((left_us + 999) / 1000);
    return count;
}
