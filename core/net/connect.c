#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net.h"

/* Steps of a connection before its login: find the server, resolve its host, connect a socket. */

static void drop_resolution(struct dueq__conn *conn) {
    dueq__resolution_drop(conn->resolution);
    conn->resolution = NULL;
}

/* The connection to a sentinel, while a discovery goes on; else NULL. */
static struct dueq__conn *sentinel_conn(const struct dueq__conn *conn) {
    return conn->state == DUEQ__CONN_DISCOVERING ? &dueq__discovery_query(conn->discovery)->conn
                                                 : NULL;
}

/* The sentinel's connection is watched in the epoll instance in place of this one. */
static void share_watch(struct dueq__conn *conn) {
    struct dueq__conn *other = sentinel_conn(conn);
    if (!other)
        return;
    other->epoll = conn->epoll;
    other->watched_events = conn->watched_events;
}

void dueq__connect_drop(struct dueq__conn *conn) {
    drop_resolution(conn);
    share_watch(conn);
    dueq__discovery_drop(conn->discovery);
    conn->discovery = NULL;
}

static void set_unreachable(struct dueq__conn *conn, const char *reason) {
    dueq__fail(&conn->error, DUEQ_CONNECT, "cannot reach the server at %s: %s",
               dueq__conn_shown(conn), reason);
}

/* The connection fails only when all addresses of the host have failed. */
static void pump_connecting(struct dueq__conn *conn) {
    char reasons[400];
    int fd;
    enum dueq__race_state state = dueq__race_pump(conn->race, &fd);
    if (state == DUEQ__RACE_RUNNING)
        return;
    if (state == DUEQ__RACE_LOST) {
        dueq__race_reasons(conn->race, reasons, sizeof reasons);
        set_unreachable(conn, reasons);
        if (conn->discovery)
            dueq__discovery_reject(conn->discovery);
        dueq__conn_fail(conn);
        return;
    }
    dueq__conn_close_socket(conn);
    conn->socket.fd = fd;
    drop_resolution(conn);
    conn->error = (struct dueq__error){0};
    if (conn->url->transport != DUEQ__TLS)
        dueq__login_begin(conn);
    else if ((conn->tls = dueq__tls_new(conn->url, conn->address, &conn->socket, &conn->error)))
        conn->state = DUEQ__CONN_TLS;
    else
        dueq__conn_fail(conn);
}

static void start_race(struct dueq__conn *conn, const struct addrinfo *addresses,
                       const struct dueq__address *server) {
    dueq__conn_close_socket(conn);
    conn->race = dueq__race_start(addresses, server);
    if (!conn->race) {
        set_unreachable(conn, strerror(errno));
        dueq__conn_fail(conn);
        return;
    }
    conn->state = DUEQ__CONN_CONNECTING;
    conn->last_read_ms = dueq__monotonic_ms();
    pump_connecting(conn);
}

static void pump_resolving(struct dueq__conn *conn) {
    if (!dueq__resolution_done(conn->resolution))
        return;
    const struct addrinfo *addresses = dueq__resolution_addresses(conn->resolution);
    if (addresses) {
        start_race(conn, addresses, &conn->address);
        return;
    }
    set_unreachable(conn, dueq__resolution_problem(conn->resolution));
    if (conn->discovery)
        dueq__discovery_reject(conn->discovery);
    dueq__conn_fail(conn);
}

static void connect_host(struct dueq__conn *conn) {
    conn->resolution = dueq__resolve(conn->address.host, conn->address.port);
    if (conn->resolution) {
        conn->state = DUEQ__CONN_RESOLVING;
        pump_resolving(conn);
    } else {
        dueq__fail(&conn->error, DUEQ_CONNECT,
                   "cannot reach the server at %s: its name resolution could not be started: %s",
                   dueq__conn_shown(conn), strerror(errno));
    }
}

static void connect_path(struct dueq__conn *conn, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct addrinfo info = {
        .ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)&address, .ai_addrlen = sizeof address};
    if (strlen(path) >= sizeof address.sun_path) {
        set_unreachable(conn, "the socket's path is longer than 107 bytes");
        return;
    }
    strcpy(address.sun_path, path);
    start_race(conn, &info, NULL);
}

static void connect_at(struct dueq__conn *conn, struct dueq__address address) {
    conn->address = address;
    dueq__address_show(address, conn->shown);
    connect_host(conn);
}

static void pump_discovering(struct dueq__conn *conn) {
    struct dueq__conn *asked = sentinel_conn(conn);
    struct dueq__address found;
    share_watch(conn);
    int done = dueq__discovery_pump(conn->discovery, &found, &conn->error);
    conn->watched_events = asked->watched_events;
    if (done > 0) {
        connect_at(conn, found);
    } else if (done < 0) {
        dueq__conn_fail(conn);
    }
}

static void discover(struct dueq__conn *conn) {
    conn->discovery = dueq__discovery_start(conn->sentinels, conn->name);
    conn->switches_seen = conn->sentinels->switches;
    if (conn->discovery) {
        conn->state = DUEQ__CONN_DISCOVERING;
        pump_discovering(conn);
    } else {
        dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
    }
}

static void reset(struct dueq__conn *conn) {
    dueq__conn_fail(conn);
    conn->error = (struct dueq__error){0};
    conn->id = 0;
    conn->named = false;
    conn->opened = true;
    conn->shown[0] = '\0';
    /*
     * With sentinels or in a cluster another server may take over. A third of the call's timeout
     * leaves time to try the call again there.
     */
    bool replaced = conn->url->topology != DUEQ__SINGLE;
    conn->silence_timeout_ms = replaced ? conn->url->timeout_ms / 3 + 1 : 0;
    if (replaced && conn->server_info)
        conn->server_info->known = false;
}

void dueq__conn_start(struct dueq__conn *conn, const char *path) {
    reset(conn);
    if (conn->url->topology == DUEQ__SENTINEL) {
        discover(conn);
    } else if (conn->url->transport == DUEQ__UNIX || conn->url->transport == DUEQ__EMBEDDED) {
        connect_path(conn, path ? path : conn->url->path);
    } else {
        conn->address = conn->url->hosts[0];
        connect_host(conn);
    }
}

void dueq__conn_start_at(struct dueq__conn *conn, struct dueq__address address) {
    reset(conn);
    connect_at(conn, address);
}

void dueq__connect_retry(struct dueq__conn *conn) {
    dueq__conn_close_socket(conn);
    conn->error = (struct dueq__error){0};
    connect_host(conn);
    if (conn->error.status)
        dueq__conn_fail(conn);
}

void dueq__connect_pump(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_DISCOVERING)
        pump_discovering(conn);
    if (conn->state == DUEQ__CONN_RESOLVING)
        pump_resolving(conn);
    if (conn->state == DUEQ__CONN_CONNECTING)
        pump_connecting(conn);
}
