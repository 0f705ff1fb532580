#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net.h"

/* The reader moves the rest of its buffer for each reply it takes out: larger portions cost more. */
#define PORTION (64 * 1024)
#define PORTIONS_A_PUMP 64

void dueq__conn_init(struct dueq__conn *conn, const struct dueq__url *url, const char *name,
                     struct dueq__server *server) {
    *conn = (struct dueq__conn){
        .url = url, .name = name, .server = server, .socket.fd = -1, .epoll = -1};
}

/* What its errors name. */
static const char *shown(const struct dueq__conn *conn) {
    return conn->at[0] ? conn->at : conn->url->shown;
}

static void drop_resolution(struct dueq__conn *conn) {
    dueq__resolution_drop(conn->resolution);
    conn->resolution = NULL;
    conn->candidate = NULL;
}

static void close_socket(struct dueq__conn *conn) {
    if (conn->watched && conn->epoll >= 0)
        epoll_ctl(conn->epoll, EPOLL_CTL_DEL, dueq__conn_fd(conn), NULL);
    conn->watched = 0;
    if (conn->socket.fd >= 0)
        close(conn->socket.fd);
    conn->socket = (struct dueq__socket){.fd = -1};
    dueq__tls_free(conn->tls);
    conn->tls = NULL;
    dueq__reader_free(conn->reader);
    conn->reader = NULL;
    conn->out_at = conn->out_size = 0;
    conn->login_at = conn->login_count = 0;
}

void dueq__conn_lose(struct dueq__conn *conn) {
    close_socket(conn);
    drop_resolution(conn);
    free(conn->out);
    conn->out = NULL;
    conn->out_room = 0;
    conn->state = DUEQ__CONN_CLOSED;
}

void dueq__conn_close(struct dueq__conn *conn) {
    dueq__conn_lose(conn);
    conn->up = false;
}

int dueq__conn_fd(const struct dueq__conn *conn) {
    return conn->state == DUEQ__CONN_RESOLVING ? dueq__resolution_fd(conn->resolution)
                                               : conn->socket.fd;
}

short dueq__conn_events(const struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_CONNECTING)
        return POLLOUT;
    bool writes = conn->state == DUEQ__CONN_TLS ? dueq__tls_wants_to_write(conn->tls)
                                                : conn->out_at < conn->out_size;
    return (short)(POLLIN | (writes && !conn->socket.output_ended ? POLLOUT : 0));
}

/* ---- Commands out ---- */

static void put(struct dueq__conn *conn, const void *data, size_t size) {
    if (size)
        memcpy(conn->out + conn->out_size, data, size);
    conn->out_size += size;
}

bool dueq__conn_send(struct dueq__conn *conn, const struct dueq__resp *const parts[],
                     size_t count) {
    char head[DUEQ__DIGITS + 3] = "*";
    size_t words = 0, size = sizeof head;
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->failed)
            return false;
        words += parts[i]->count;
        size += parts[i]->size;
    }
    if (conn->out_at == conn->out_size)
        conn->out_at = conn->out_size = 0;
    if (conn->out_size + size > conn->out_room) {
        size_t room = conn->out_size + size + 256;
        char *larger = realloc(conn->out, room);
        if (!larger)
            return false;
        conn->out = larger;
        conn->out_room = room;
    }
    size_t digits = dueq__resp_digits(head + 1, words);
    memcpy(head + 1 + digits, "\r\n", 2);
    put(conn, head, digits + 3);
    for (size_t i = 0; i < count; i++)
        put(conn, parts[i]->bytes, parts[i]->size);
    return true;
}

/* ---- Connecting ---- */

static void no_connection(struct dueq__conn *conn, const char *reason) {
    dueq__fail(&conn->error, DUEQ_CONNECT, "cannot reach the server at %s: %s", shown(conn),
               reason);
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
        close_socket(conn);
        conn->socket.fd = open_socket(conn->candidate->ai_family);
        if (conn->socket.fd >= 0 && conn->candidate->ai_family != AF_UNIX)
            set_tcp_options(conn->socket.fd);
        if (conn->socket.fd >= 0 &&
            (connect(conn->socket.fd, conn->candidate->ai_addr, conn->candidate->ai_addrlen) == 0 ||
             errno == EINPROGRESS)) {
            conn->state = DUEQ__CONN_CONNECTING;
            return;
        }
        no_connection(conn, strerror(errno));
    }
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
                   shown(conn), strerror(errno));
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

static void start(struct dueq__conn *conn) {
    dueq__conn_lose(conn);
    conn->error = (struct dueq__error){0};
    conn->id = 0;
    conn->named = false;
    conn->up = true;
    conn->at[0] = '\0';
}

void dueq__conn_start(struct dueq__conn *conn, const char *path) {
    start(conn);
    if (conn->url->transport == DUEQ__UNIX || conn->url->transport == DUEQ__EMBEDDED) {
        connect_path(conn, path ? path : conn->url->path);
    } else {
        conn->address = conn->url->hosts[0];
        connect_host(conn);
    }
}

void dueq__conn_start_at(struct dueq__conn *conn, struct dueq__address address) {
    start(conn);
    conn->address = address;
    snprintf(conn->at, sizeof conn->at, strchr(address.host, ':') ? "[%s]:%d" : "%s:%d",
             address.host, address.port);
    connect_host(conn);
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
    else if ((conn->tls =
                  dueq__tls_new(conn->url, conn->address.host, &conn->socket, &conn->error)))
        conn->state = DUEQ__CONN_TLS;
    else
        dueq__conn_lose(conn);
}

/* ---- Bytes out and in ---- */

size_t dueq__socket_write(struct dueq__socket *socket, const void *data, size_t size) {
    if (socket->output_ended)
        return 0;
    ssize_t sent = send(socket->fd, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        socket->output_ended = true;
    return sent < 0 ? 0 : (size_t)sent;
}

size_t dueq__socket_read(struct dueq__socket *socket, void *data, size_t size) {
    if (socket->input_ended)
        return 0;
    ssize_t got = recv(socket->fd, data, size, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        socket->input_ended = true;
        socket->problem = got < 0 ? errno : 0;
    }
    return got < 0 ? 0 : (size_t)got;
}

static void flush(struct dueq__conn *conn) {
    size_t sent = 1;
    while (conn->out_at < conn->out_size && sent) {
        const char *data = conn->out + conn->out_at;
        size_t left = conn->out_size - conn->out_at;
        sent = conn->tls ? dueq__tls_write(conn->tls, data, left)
                         : dueq__socket_write(&conn->socket, data, left);
        conn->out_at += sent;
    }
    if (conn->out_at == conn->out_size && conn->out_room > 4 * PORTION) {
        free(conn->out);
        conn->out = NULL;
        conn->out_at = conn->out_size = conn->out_room = 0;
    }
}

/* Reads what has come, up to a limit, so that a flood of replies cannot hold the caller. */
static void read_some(struct dueq__conn *conn) {
    char portion[PORTION];
    bool more = !conn->input_ended;
    for (int i = 0; more && i < PORTIONS_A_PUMP; i++) {
        size_t got = conn->tls ? dueq__tls_read(conn->tls, portion, sizeof portion, &conn->error)
                               : dueq__socket_read(&conn->socket, portion, sizeof portion);
        dueq__reader_feed(conn->reader, portion, got);
        /* TLS comes by records. */
        more = conn->tls ? got > 0 : got == sizeof portion;
    }
    if (conn->socket.input_ended && !conn->error.status)
        dueq__fail(&conn->error, DUEQ_CLOSED, "%s closed the connection%s%s", shown(conn),
                   conn->socket.problem ? ": " : "",
                   conn->socket.problem ? strerror(conn->socket.problem) : "");
    conn->input_ended = conn->error.status != DUEQ_OK;
}

static void pump_tls(struct dueq__conn *conn) {
    int done = dueq__tls_handshake(conn->tls, &conn->error);
    if (done > 0) {
        dueq__login_begin(conn);
        return;
    }
    if (done == 0 && !conn->socket.input_ended && !conn->socket.output_ended)
        return;
    if (done == 0)
        dueq__fail(&conn->error, DUEQ_TLS, "%s ended the TLS handshake; does it speak TLS there?",
                   shown(conn));
    dueq__conn_lose(conn);
}

/* ---- Replies ---- */

struct dueq__reply *dueq__conn_reply(struct dueq__conn *conn) {
    struct dueq__reply *reply;
    if (!conn->reader)
        return NULL;
    const char *problem = dueq__reader_take(conn->reader, &reply);
    if (problem) {
        dueq__fail(&conn->error, DUEQ_PROTOCOL,
                   "what answers at %s does not speak the Redis protocol: %s", shown(conn),
                   problem);
        dueq__conn_lose(conn);
        return NULL;
    }
    if (!reply && conn->input_ended)
        dueq__conn_lose(conn);
    return reply;
}

void dueq__conn_flush(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_READY)
        flush(conn);
}

void dueq__conn_pump(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_RESOLVING)
        pump_resolving(conn);
    if (conn->state == DUEQ__CONN_CONNECTING)
        pump_connecting(conn);
    if (conn->state == DUEQ__CONN_TLS)
        pump_tls(conn);
    if (conn->state < DUEQ__CONN_LOGIN)
        return;
    flush(conn);
    read_some(conn);
    if (conn->state == DUEQ__CONN_LOGIN)
        dueq__login_pump(conn);
}
