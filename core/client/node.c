#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* The servers that a client speaks to: their connections for requests, and expected replies. */

/* After this long without a try to connect, the time since when a node is away counts anew. */
#define FORGET_DOWN_MS 10000

void dueq__client_add_conn(dueq_client *client, struct dueq__conn *conn) {
    conn->next = client->conns;
    conn->entry->loop = client->descriptor;
    conn->sentinels = &client->sentinels;
    client->conns = conn;
}

void dueq__client_remove_conn(dueq_client *client, struct dueq__conn *conn) {
    struct dueq__conn **at = &client->conns;
    while (*at != conn)
        at = &(*at)->next;
    *at = conn->next;
    dueq__conn_close(conn);
}

static struct dueq__node *new_node(dueq_client *client, const struct dueq__address *address) {
    struct dueq__node *node = calloc(1, sizeof *node);
    if (!node)
        return NULL;
    dueq__conn_init(&node->conn, &client->url, client->name, &node->server_info);
    if (address) {
        snprintf(node->host, sizeof node->host, "%s", address->host);
        node->address = (struct dueq__address){node->host, address->port};
    }
    dueq__client_add_conn(client, &node->conn);
    node->next = client->nodes;
    client->nodes = node;
    return node;
}

struct dueq__node *dueq__node_at(dueq_client *client, const struct dueq__address *address) {
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        if (address ? node->address.host && node->address.port == address->port &&
                          strcmp(node->host, address->host) == 0
                    : !node->address.host)
            return node;
    return new_node(client, address);
}

void dueq__node_free(dueq_client *client, struct dueq__node *node) {
    struct dueq__node **at = &client->nodes;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    dueq__client_remove_conn(client, &node->conn);
    free(node);
}

void dueq__node_note_try(struct dueq__node *node, int64_t since_ms) {
    int64_t now = dueq__monotonic_ms();
    if (!node->down_since_ms || now >= node->last_try_ms + FORGET_DOWN_MS)
        node->down_since_ms = since_ms;
    node->last_try_ms = now;
}

bool dueq__node_connect(dueq_client *client, struct dueq__conn *conn, struct dueq__node *node) {
    const char *path = NULL;
    if (client->embedded) {
        dueq_status status = dueq__embedded_ensure(client->embedded, &client->error);
        if (status == DUEQ_PENDING) {
            client->op->retry.next_ms = dueq__monotonic_ms() + DUEQ__EMBEDDED_RETRY_MS;
            if (dueq__wait_is_idle(client->op))
                dueq__wait_fall_back_to_checks(client);
            return false;
        }
        if (status) {
            dueq__op_finish(client, status);
            return false;
        }
        path = dueq__embedded_path(client->embedded);
    }
    if (conn == &node->conn) {
        dueq__node_note_try(node, dueq__monotonic_ms());
        node->next_try_ms = node->last_try_ms + DUEQ__RECONNECT_PAUSE_MS;
        dueq__backoff_on_connecting(client);
    }
    if (node->address.host)
        dueq__conn_start_at(conn, dueq__url_reach(&client->url, node->address));
    else
        dueq__conn_start(conn, path);
    return true;
}

void dueq__node_pump(dueq_client *client, struct dueq__node *node) {
    dueq__conn_pump(&node->conn);
    if (node->conn.state != DUEQ__CONN_READY || !node->down_since_ms)
        return;
    node->down_since_ms = node->next_try_ms = 0;
    if (node == client->node)
        dueq__backoff_on_connected(client);
    dueq__wait_on_node_back(client, node);
}

bool dueq__node_is_connecting(const struct dueq__node *node) {
    return node->conn.opened && node->conn.state != DUEQ__CONN_READY;
}

bool dueq__node_is_down(const struct dueq__node *node) {
    return node->down_since_ms && dueq__monotonic_ms() >= node->down_since_ms + DUEQ__SLOW_MS;
}

bool dueq__node_backs_off(const struct dueq__node *node) {
    return !node->conn.opened && dueq__monotonic_ms() < node->next_try_ms;
}

bool dueq__node_any_down(const dueq_client *client) {
    bool any = false;
    for (const struct dueq__node *node = client->nodes; node; node = node->next)
        any = any || (node->has_slots && dueq__node_is_down(node));
    return any;
}

bool dueq__node_expects(const struct dueq__node *node, enum dueq__expect expect) {
    for (size_t i = 0; i < node->expected_count; i++)
        if (node->expected[i] == expect)
            return true;
    return false;
}

bool dueq__node_expects_call(const struct dueq__node *node) {
    for (size_t i = 0; i < node->expected_count; i++)
        if (node->expected[i] < DUEQ__EXPECT_UNBLOCK)
            return true;
    return false;
}

bool dueq__node_send_resp(struct dueq__node *node, enum dueq__expect expect,
                          struct dueq__resp *words) {
    bool sent = node->conn.state == DUEQ__CONN_READY && node->expected_count < DUEQ__MAX_EXPECTED &&
                dueq__conn_send_words(&node->conn, words);
    if (sent)
        node->expected[node->expected_count++] = expect;
    dueq__resp_free(words);
    return sent;
}

bool dueq__node_send(struct dueq__node *node, enum dueq__expect expect, const dueq_bytes *words,
                     size_t count) {
    struct dueq__resp list = {0};
    for (size_t i = 0; i < count; i++)
        dueq__resp_bytes(&list, words[i].data, words[i].size);
    return dueq__node_send_resp(node, expect, &list);
}

bool dueq__node_send_about_stale(struct dueq__node *node, enum dueq__expect expect,
                                 const char *verb) {
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, node->stale_id);
    const dueq_bytes words[] = {dueq__text("CLIENT"), dueq__text(verb), dueq__text("ID"),
                                dueq__text(id)};
    return dueq__node_send(node, expect, words, 4);
}

void dueq__node_drop(dueq_client *client, struct dueq__node *node) {
    /*
     * Only a call's request does harm if the server runs it late. Without one, an earlier stale
     * connection stays noted, until the client knows its end.
     */
    if (dueq__node_expects(node, DUEQ__EXPECT_CALL)) {
        if (node->conn.named && node->conn.id)
            node->stale_id = node->conn.id;
        else
            client->op->recall.may_run_late = true;
    }
    node->expected_count = 0;
    dueq__conn_close(&node->conn);
}
