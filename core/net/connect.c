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

/* How a connection comes about: which server it is, its addresses, a socket to the first of them that can be reached. */

static void drop_resolution(struct dueq__conn *conn) {
    dueq__resolution_drop(conn->resolution);
    conn->resolution = NULL;
    conn->candidate = NULL;
}

/* The connection to a sentinel that is made in place of this one; NULL: none. */
static struct dueq__conn *stand_in(const struct dueq__conn *conn) {
    return conn->state == DUEQ__CONN_DISCOVERING ? &dueq__discovery_inquiry(conn->discovery)->conn
                                                 : NULL;
}

/* It is watched in this one's place, or is not. */
static void lend_watch(struct dueq__conn *conn) {
    struct dueq__conn *other = stand_in(conn);
    if (!other)
        return;
    other->epoll = conn->epoll;
    other->watched = conn->watched;
}

void dueq__connect_drop(struct dueq__conn *conn) {
    drop_resolution(conn);
    lend_watch(conn);
    dueq__discovery_drop(conn->discovery);
    conn->discovery = NULL;
}

static void no_connection(struct dueq__conn *conn, const char *reason) {
    dueq__fail(&conn->error, DUEQ_CONNECT, "cannot reach the server at %s: %s",
               dueq__conn_shown(conn), reason);
}

static int open_socket(int family) {
    int low = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (low < 0 || low > STDERR_FILENO)
        return low;
    /* In a process whose standard files are closed: what it prints must not be commands to the server. */
    int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
    return fd;
}

/* Of a Unix socket they are refused, which is all right. */
static void set_tcp_options(int fd) {
    /* A dead peer is noticed while we wait for it: after 15 s of silence, 3 questions 5 s apart. */
    int on = 1, idle = 15, between = 5, questions = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions);
}

/* Tries the addresses from conn->candidate on; after the last the connection is closed, with its error. */
static void connect_next(struct dueq__conn *conn) {
    for (; conn->candidate; conn->candidate = conn->candidate->ai_next) {
        dueq__conn_close_socket(conn);
        conn->socket.fd = open_socket(conn->candidate->ai_family);
        if (conn->socket.fd >= 0 && conn->candidate->ai_family != AF_UNIX)
            set_tcp_options(conn->socket.fd);
        if (conn->socket.fd >= 0 &&
            (connect(conn->socket.fd, conn->candidate->ai_addr, conn->candidate->ai_addrlen) == 0 ||
             errno == EINPROGRESS)) {
            conn->state = DUEQ__CONN_CONNECTING;
            conn->heard_ms = dueq__monotonic_ms();
            return;
        }
        no_connection(conn, strerror(errno));
    }
    if (conn->discovery)
        dueq__discovery_doubt(conn->discovery);
    dueq__conn_lose(conn);
}

static void pump_resolving(struct dueq__conn *conn) {
    if (!dueq__resolution_done(conn->resolution))
        return;
    conn->candidate = dueq__resolution_addresses(conn->resolution);
    if (!conn->candidate)
        no_connection(conn, dueq__resolution_problem(conn->resolution));
    connect_next(conn);
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
        no_connection(conn, "the socket's path is longer than 107 bytes");
        return;
    }
    strcpy(address.sun_path, path);
    conn->candidate = &info;
    connect_next(conn);
    conn->candidate = NULL;
}

static void connect_at(struct dueq__conn *conn, struct dueq__address address) {
    conn->address = address;
    dueq__address_show(address, conn->at);
    connect_host(conn);
}

static void pump_discovering(struct dueq__conn *conn) {
    struct dueq__conn *asked = stand_in(conn);
    struct dueq__address found;
    lend_watch(conn);
    int done = dueq__discovery_pump(conn->discovery, &found, &conn->error);
    conn->watched = asked->watched;
    if (done > 0) {
        connect_at(conn, found);
    } else if (done < 0) {
        dueq__conn_lose(conn);
    }
}

static void discover(struct dueq__conn *conn) {
    conn->discovery = dueq__discovery_start(conn->sentinels, conn->name);
    conn->turn = conn->sentinels->turn;
    if (conn->discovery) {
        conn->state = DUEQ__CONN_DISCOVERING;
        pump_discovering(conn);
    } else {
        dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
    }
}

static void start(struct dueq__conn *conn) {
    dueq__conn_lose(conn);
    conn->error = (struct dueq__error){0};
    conn->id = 0;
    conn->named = false;
    conn->up = true;
    conn->at[0] = '\0';
    /* Another server may take over, or has other queues: early enough for the call to be tried again there. */
    bool replaced = conn->url->topology != DUEQ__SINGLE;
    conn->silence_ms = replaced ? conn->url->timeout_ms / 3 + 1 : 0;
    if (replaced && conn->server)
        conn->server->known = false;
}

void dueq__conn_start(struct dueq__conn *conn, const char *path) {
    start(conn);
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
    start(conn);
    connect_at(conn, address);
}

static void pump_connecting(struct dueq__conn *conn) {
    struct pollfd ready = {.fd = conn->socket.fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) <= 0)
        return;
    int problem = 0;
    socklen_t size = sizeof problem;
    getsockopt(conn->socket.fd, SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem) {
        no_connection(conn, strerror(problem));
        if (conn->candidate)
            conn->candidate = conn->candidate->ai_next;
        connect_next(conn);
        return;
    }
    drop_resolution(conn);
    conn->error = (struct dueq__error){0};
    if (conn->url->transport != DUEQ__TLS)
        dueq__login_begin(conn);
    else if ((conn->tls = dueq__tls_new(conn->url, conn->address, &conn->socket, &conn->error)))
        conn->state = DUEQ__CONN_TLS;
    else
        dueq__conn_lose(conn);
}

void dueq__connect_again(struct dueq__conn *conn) {
    dueq__conn_close_socket(conn);
    conn->error = (struct dueq__error){0};
    connect_host(conn);
    if (conn->error.status)
        dueq__conn_lose(conn);
}

void dueq__connect_pump(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_DISCOVERING)
        pump_discovering(conn);
    if (conn->state == DUEQ__CONN_RESOLVING)
        pump_resolving(conn);
    if (conn->state == DUEQ__CONN_CONNECTING)
        pump_connecting(conn);
}
