#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

static void new_session(dueq_client *client) {
    client->pid = getpid();
    client->ids = (struct dueq__id_source){0};
    dueq__id_next(&client->ids, client->session);
    snprintf(client->name, sizeof client->name, "dueq-%s", client->session);
}

/* Reads the URL, or the default one, and makes what the URL needs. */
static dueq_status take_url(dueq_client *client, const char *url) {
    struct dueq__error *error = &client->error;
    bool named = true;
    dueq_status status = DUEQ_OK;
    if (!url)
        status = dueq__default_url(&client->address, &named, error);
    else if (!(client->address = strdup(url)))
        status = dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (!status)
        status = dueq__url_parse(&client->url, client->address, error);
    if (status)
        return status;
    client->warn_default_url = !named;
    dueq__sentinels_init(&client->sentinels, &client->url, client->name);
    if (client->url.topology == DUEQ__SENTINEL)
        dueq__client_add_conn(client, &client->sentinels.subscription);
    bool embeds = client->url.transport == DUEQ__EMBEDDED;
    if (embeds)
        client->embedded = dueq__embedded_new(client->url.path);
    return (client->embedded || !embeds) && dueq__route_open(client)
               ? DUEQ_OK
               : dueq__fail(error, DUEQ_NO_MEMORY, NULL);
}

dueq_status dueq_open(const char *url, dueq_client **client) {
    dueq_client *opened = *client = calloc(1, sizeof *opened);
    if (!opened || !(opened->op = calloc(1, sizeof *opened->op))) {
        free(opened);
        *client = NULL;
        return DUEQ_NO_MEMORY;
    }
    new_session(opened);
    struct dueq__conn *subscription = &opened->subscription.conn;
    dueq__conn_init(subscription, &opened->url, opened->name, NULL);
    subscription->blocking = true;
    dueq__client_add_conn(opened, subscription);
    opened->node = dueq__node_at(opened, NULL);
    return opened->node ? take_url(opened, url) : dueq__fail(&opened->error, DUEQ_NO_MEMORY, NULL);
}

dueq_status dueq__client_twin(const dueq_client *client, int64_t max_backoff_ms,
                              dueq_client **twin) {
    dueq_status status = dueq_open(client->address, twin);
    if (*twin)
        (*twin)->max_backoff_ms = max_backoff_ms;
    return status;
}

bool dueq__client_lost_conn(const dueq_client *client) {
    for (const struct dueq__node *node = client->nodes; node; node = node->next) {
        struct pollfd end = {.fd = node->conn.socket.fd, .events = POLLRDHUP};
        if (node->conn.state == DUEQ__CONN_READY && poll(&end, 1, 0) > 0)
            return true;
    }
    return false;
}

void dueq_reached(dueq_client *client) { client->ever_connected = true; }

void dueq__client_unsubscribe(dueq_client *client) {
    struct dueq__subscription *subscription = &client->subscription;
    free((void *)(uintptr_t)subscription->channel.data);
    dueq__conn_close(&subscription->conn);
    subscription->confirmed = false;
    subscription->channel = (dueq_bytes){0};
    subscription->tracked_id = 0;
}

static void cache_queue(dueq_client *client, dueq_queue *queue) {
    if (client->cached_queue)
        free((void *)(uintptr_t)client->cached_queue->keys[0].data);
    free(client->cached_queue);
    client->cached_queue = queue;
}

/* The handle that was closed last, if it has this name; else NULL. */
static dueq_queue *take_cached_queue(dueq_client *client, const void *name, size_t size) {
    dueq_queue *queue = client->cached_queue;
    dueq_bytes known = queue ? dueq__keys_name(queue->keys) : (dueq_bytes){0};
    if (!queue || known.size != size || memcmp(known.data, name, size) != 0)
        return NULL;
    client->cached_queue = NULL;
    return queue;
}

/* Closes all connections except those of nodes, and the descriptor. */
static void close_but_nodes(dueq_client *client) {
    while (client->wait_conns) {
        struct dueq__wait_conn *first = client->wait_conns;
        client->wait_conns = first->next;
        dueq__client_remove_conn(client, &first->conn);
        free(first);
    }
    dueq__client_unsubscribe(client);
    dueq__route_close(client);
    for (struct dueq__conn *conn = client->conns; conn; conn = conn->next)
        *conn->entry = (struct dueq__loop_entry){0};
    dueq__loop_free(client->descriptor);
    client->descriptor = NULL;
}

/* Closes all connections, and forgets the replies that are due. */
static void close_all(dueq_client *client) {
    close_but_nodes(client);
    dueq__sentinels_close(&client->sentinels);
    for (struct dueq__node *node = client->nodes; node; node = node->next) {
        dueq__conn_close(&node->conn);
        node->expected_count = 0;
        node->stale_id = 0;
    }
}

void dueq_close(dueq_client *client) {
    if (!client)
        return;
    dueq_abandon(client);
    close_all(client);
    while (client->nodes)
        dueq__node_free(client, client->nodes);
    free(client->cluster);
    dueq__outage_log_leave(client, false);
    cache_queue(client, NULL);
    dueq__embedded_free(client->embedded);
    dueq__url_clear(&client->url);
    free(client->address);
    free(client->op);
    free(client);
}

/* True: nothing is known against the use of a node's connection by another owner. */
static bool is_reusable(struct dueq__node *node) {
    struct dueq__conn *conn = &node->conn;
    if (conn->state != DUEQ__CONN_READY)
        return false;
    dueq__conn_pump(conn);
    /* A reply to no request would fail the next call. */
    struct dueq__reply *unasked =
        node->expected_count ? NULL : dueq__conn_reply(conn, DUEQ__MAX_SMALL_REPLY);
    dueq__reply_free(unasked);
    return !unasked && conn->state == DUEQ__CONN_READY && !conn->error.status;
}

int dueq_reset(dueq_client *client) {
    dueq_abandon(client);
    /* For a foreign wait the server tracks the keys that this connection reads. */
    if (client->subscription.tracked_id)
        dueq__node_drop(client, client->node);
    close_but_nodes(client);
    client->error = (struct dueq__error){0};
    dueq__outage_log_leave(client, false);
    client->ever_connected = client->ever_answered = client->has_warning = false;
    client->failures = 0;
    client->reconnect_ms = 0;
    bool up = false;
    for (struct dueq__node *node = client->nodes; node; node = node->next) {
        if (is_reusable(node))
            up = true;
        else
            dueq__node_drop(client, node);
    }
    return up;
}

void dueq__client_check_fork(dueq_client *client) {
    if (client->pid == getpid())
        return;
    /* The parent uses the same sockets and epoll instance: nothing may be sent or removed there. */
    for (struct dueq__conn *conn = client->conns; conn; conn = conn->next)
        conn->entry->loop = NULL;
    close_all(client);
    if (client->embedded) {
        struct dueq__embedded *own = dueq__embedded_new(client->url.path);
        if (own) {
            dueq__embedded_free(client->embedded);
            client->embedded = own;
        }
    }
    dueq__op_drop_children(client);
    if (dueq__op_under_way(client))
        dueq__op_finish(
            client, dueq__fail(&client->error, DUEQ_CLOSED,
                               "the call was in progress when the process forked: it belongs to "
                               "the parent"));
    cache_queue(client, NULL);
    new_session(client);
}

const char *dueq_error_text(const dueq_client *client) { return client ? client->error.text : ""; }

/* The first server that may evict; NULL: none is known. */
static const struct dueq__server_info *evicting_server(const dueq_client *client) {
    const struct dueq__node *node = client->nodes;
    while (node && !node->server_info.evicts)
        node = node->next;
    return node ? &node->server_info : NULL;
}

void dueq__client_warn(dueq_client *client, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(client->warning, sizeof client->warning, format, values);
    va_end(values);
    client->has_warning = true;
}

const char *dueq_warning(dueq_client *client) {
    static atomic_flag default_url_told = ATOMIC_FLAG_INIT;
    const struct dueq__server_info *server = evicting_server(client);
    if (!client->has_warning && client->warn_default_url) {
        client->warn_default_url = false;
        if (!atomic_flag_test_and_set(&default_url_told))
            dueq__client_warn(client,
                              "no DUEQ_URL: this is the private server embedded:%.400s, which only "
                              "this user's programs on this machine share. Set DUEQ_URL to the URL "
                              "of your server, or to that of this one",
                              client->url.path);
    }
    if (!client->has_warning && server && !client->eviction_warned) {
        bool all = strncmp(server->policy, "allkeys", 7) == 0;
        client->eviction_warned = true;
        if (dueq__outage_log_eviction(client))
            dueq__client_warn(
                client,
                "%s: the server evicts %s when its memory is full (maxmemory-policy %s), without "
                "an error. Set it to noeviction, or accept this by evicting=accept in the URL",
                client->url.shown, all ? "messages" : "what expires, such as locks",
                server->policy);
    }
    bool has_warning = client->has_warning;
    client->has_warning = false;
    return has_warning ? client->warning : NULL;
}

const char *dueq_client_url(const dueq_client *client) {
    return client->url.shown ? client->url.shown : "";
}

const char *dueq_embedded_socket(const dueq_client *client) {
    return client->embedded ? dueq__embedded_path(client->embedded) : NULL;
}

void dueq_new_id(dueq_client *client, char *buffer) {
    dueq__client_check_fork(client);
    dueq__id_next(&client->ids, buffer);
    buffer[DUEQ__ID_SIZE] = '\0';
}

dueq_status dueq_queue_open(dueq_client *client, const void *name, size_t name_size,
                            dueq_queue **queue) {
    *queue = NULL;
    dueq_status status = dueq__name_check(name, name_size, &client->error);
    if (status)
        return status;
    if ((*queue = take_cached_queue(client, name, name_size))) {
        (*queue)->durability = (dueq_durability){0};
        (*queue)->keep_ms = 0;
        (*queue)->preview_bytes = 0;
        (*queue)->looks_only = false;
        (*queue)->is_partition = false;
        return DUEQ_OK;
    }
    dueq_queue *opened = calloc(1, sizeof *opened);
    if (!opened || !dueq__keys_make(opened->keys, name, name_size)) {
        free(opened);
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    }
    opened->client = client;
    opened->slot = client->cluster ? dueq__slot(opened->keys[DUEQ__KEY_FIRST]) : 0;
    opened->recall = &dueq__script_recall;
    *queue = opened;
    return DUEQ_OK;
}

void dueq_queue_preview(dueq_queue *queue, size_t bytes) { queue->preview_bytes = bytes; }

void dueq_queue_look_only(dueq_queue *queue) { queue->looks_only = true; }

void dueq_queue_close(dueq_queue *queue) {
    if (!queue)
        return;
    if (dueq__op_uses_queue(queue))
        dueq_abandon(queue->client);
    dueq__wait_conn_close_kept(queue->client, queue);
    if (queue->partitioned)
        queue->partitioned->close(queue);
    queue->partitioned = NULL;
    cache_queue(queue->client, queue);
}
