#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dueq_server.h"
#include "verbs/verbs.h"

/*
 * A handle of one server, with a connection of its own beside those of the client. Its calls block:
 * they are for programs that watch servers.
 */

struct dueq_server {
    dueq_client *client;
    struct dueq__url url; /* the client's URL, with one server as its topology */
    char host[DUEQ__HOST_ROOM];
    struct dueq__address address;    /* without a host: the server that the URL names */
    char shown[DUEQ__SHOWN_ADDRESS]; /* "": the URL is shown */
    struct dueq__conn conn;
    struct dueq__reply *reply; /* the last answer */
    struct dueq__error error;
};

const char *dueq_client_primary(const dueq_client *client) { return client->url.primary; }

int dueq_client_accepts_evicting(const dueq_client *client) { return client->url.accepts_evicting; }

int64_t dueq_client_timeout_ms(const dueq_client *client) { return client->url.timeout_ms; }

static dueq_status open_server(dueq_client *client, const struct dueq__url *url, const char *host,
                               int port, dueq_server **opened) {
    dueq_server *server = *opened = calloc(1, sizeof *server);
    if (!server)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    server->client = client;
    server->url = *url;
    server->url.topology = DUEQ__SINGLE;
    dueq__conn_init(&server->conn, &server->url, client->name, NULL);
    if (host) {
        strcpy(server->host, host);
        server->address = (struct dueq__address){server->host, port};
        dueq__address_show(server->address, server->shown);
    }
    return DUEQ_OK;
}

dueq_status dueq_server_open(dueq_client *client, size_t index, dueq_server **server) {
    const struct dueq__url *url = &client->url;
    *server = NULL;
    if (index >= (url->host_count ? url->host_count : 1))
        return DUEQ_EMPTY;
    if (!url->host_count)
        return open_server(client, url, NULL, 0, server);
    const struct dueq__url *as = url->topology == DUEQ__SENTINEL ? &client->sentinels.url : url;
    return open_server(client, as, url->hosts[index].host, url->hosts[index].port, server);
}

dueq_status dueq_server_open_at(dueq_client *client, const char *host, int port,
                                dueq_server **server) {
    *server = NULL;
    if (strlen(host) >= DUEQ__HOST_ROOM)
        return dueq__fail(&client->error, DUEQ_NAME, "not the name of a host: longer than 255");
    struct dueq__address at = dueq__url_reach(&client->url, (struct dueq__address){host, port});
    return open_server(client, &client->url, at.host, at.port, server);
}

dueq_status dueq_server_open_primary(dueq_client *client, size_t index, dueq_server **server) {
    *server = NULL;
    if (client->cluster) {
        const struct dueq__node *node = dueq__route_primary(client, index);
        return node ? dueq_server_open_at(client, node->host, node->address.port, server)
                    : DUEQ_EMPTY;
    }
    if (client->url.topology != DUEQ__SENTINEL)
        return dueq_server_open(client, index, server);
    dueq_status status = index ? DUEQ_EMPTY : open_server(client, &client->url, NULL, 0, server);
    if (status == DUEQ_OK) {
        (*server)->url.topology = DUEQ__SENTINEL;
        (*server)->conn.sentinels = &client->sentinels;
    }
    return status;
}

void dueq_server_close(dueq_server *server) {
    if (!server)
        return;
    dueq__conn_close(&server->conn);
    dueq__reply_free(server->reply);
    free(server);
}

const char *dueq_server_address(const dueq_server *server) {
    return server->shown[0] ? server->shown : dueq_client_url(server->client);
}

const char *dueq_server_error_text(const dueq_server *server) { return server->error.text; }

/* A command and its answer */

static void start_request(dueq_server *server) {
    dueq__reply_free(server->reply);
    server->reply = NULL;
    server->error = (struct dueq__error){0};
    if (server->conn.state != DUEQ__CONN_CLOSED)
        return;
    if (server->address.host)
        dueq__conn_start_at(&server->conn, server->address);
    else
        dueq__conn_start(&server->conn, dueq_embedded_socket(server->client));
}

/* Waits until the connection has something to do. TIMEOUT: the deadline has come. */
static dueq_status wait_for_io(dueq_server *server, int64_t deadline_ms) {
    int64_t until = dueq__conn_until_ms(&server->conn), now = dueq__monotonic_ms();
    if (now >= deadline_ms)
        return dueq__fail(&server->error, DUEQ_TIMEOUT, "%s did not answer within %lld ms",
                          dueq_server_address(server), (long long)server->url.timeout_ms);
    until = until < deadline_ms ? until : deadline_ms;
    struct pollfd one = {dueq__conn_fd(&server->conn), dueq__conn_events(&server->conn), 0};
    int64_t left = until > now ? until - now : 0;
    if (poll(&one, 1, left < 1000 ? (int)left : 1000) < 0 && errno == EINTR)
        return dueq__fail(&server->error, DUEQ_INTERRUPTED, NULL);
    return DUEQ_OK;
}

/* Sends the words when the connection is made, and returns when the answer has come. */
static dueq_status await_reply(dueq_server *server, const struct dueq__resp *words) {
    const int64_t deadline_ms = dueq__monotonic_ms() + server->url.timeout_ms;
    struct dueq__conn *conn = &server->conn;
    dueq_status status = DUEQ_OK;
    bool sent = false;
    while (status == DUEQ_OK) {
        dueq__conn_pump(conn);
        if (conn->state == DUEQ__CONN_READY && !sent) {
            if (!dueq__conn_send(conn, &words, 1))
                return dueq__fail(&server->error, DUEQ_NO_MEMORY, NULL);
            sent = true;
            dueq__conn_flush(conn);
        }
        if (sent && (server->reply = dueq__conn_reply(conn, DUEQ__MAX_MESSAGE_REPLY)))
            return DUEQ_OK;
        if (conn->state == DUEQ__CONN_CLOSED) {
            server->error = conn->error;
            return conn->error.status;
        }
        status = wait_for_io(server, deadline_ms);
    }
    return status;
}

dueq_status dueq_server_ask(dueq_server *server, const dueq_bytes *words, size_t count,
                            const dueq_answer **answer) {
    struct dueq__resp all = {0};
    *answer = NULL;
    for (size_t i = 0; i < count; i++)
        dueq__resp_bytes(&all, words[i].data, words[i].size);
    start_request(server);
    dueq_status status = await_reply(server, &all);
    dueq__resp_free(&all);
    if (status) {
        dueq__conn_close(&server->conn);
        return status;
    }
    if (dueq__reply_is_error(server->reply))
        return dueq__reply_error(server->reply, &server->error);
    *answer = server->reply;
    return DUEQ_OK;
}

size_t dueq_answer_count(const dueq_answer *answer) { return dueq__reply_count(answer); }

const dueq_answer *dueq_answer_item(const dueq_answer *answer, size_t index) {
    return dueq__reply_item(answer, index);
}

dueq_bytes dueq_answer_text(const dueq_answer *answer) {
    dueq_bytes text = {"", 0};
    dueq__reply_bytes(answer, &text);
    return text;
}

int64_t dueq_answer_number(const dueq_answer *answer) {
    int64_t number = 0;
    return dueq__reply_number(answer, &number) ? number : 0;
}
