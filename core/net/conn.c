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

#include "conn_parts.h"

/* One pump reads this much at most, so that a flood of replies cannot hold the caller. */
#define PORTIONS_A_PUMP 64

struct dueq__conn *dueq__conn_new(const struct dueq__url *url, const char *name,
                                  struct dueq__server *server) {
    struct dueq__conn *conn = calloc(1, sizeof *conn);
    if (!conn)
        return NULL;
    conn->url = url;
    conn->name = name;
    conn->server = server;
    conn->fd = conn->epoll = -1;
    return conn;
}

static void leave_epoll(const struct dueq__conn *conn) {
    if (dueq__conn_fd(conn) >= 0 && conn->epoll >= 0)
        epoll_ctl(conn->epoll, EPOLL_CTL_DEL, dueq__conn_fd(conn), NULL);
}

static void drop_resolution(struct dueq__conn *conn) {
    dueq__resolution_drop(conn->resolution);
    conn->resolution = NULL;
    conn->address = NULL;
}

static void close_socket(struct dueq__conn *conn) {
    leave_epoll(conn);
    if (conn->fd >= 0)
        close(conn->fd);
    conn->fd = -1;
    dueq__tls_free(conn->tls);
    conn->tls = NULL;
    if (conn->reader)
        dueq__reader_free(conn->reader);
    conn->reader = NULL;
    conn->out_at = conn->out_size = conn->sealed_at = conn->sealed_size = 0;
    conn->login_at = conn->login_count = 0;
    conn->input_ended = conn->output_ended = false;
}

void dueq__conn_close(struct dueq__conn *conn) {
    close_socket(conn);
    drop_resolution(conn);
    free(conn->out);
    conn->out = NULL;
    conn->out_room = 0;
    conn->state = DUEQ__CONN_CLOSED;
}

void dueq__conn_leave(struct dueq__conn *conn, int epoll) { conn->epoll = epoll; }

void dueq__conn_free(struct dueq__conn *conn) {
    if (!conn)
        return;
    dueq__conn_close(conn);
    free(conn);
}

enum dueq__conn_state dueq__conn_state(const struct dueq__conn *conn) { return conn->state; }

const struct dueq__error *dueq__conn_error(const struct dueq__conn *conn) { return &conn->error; }

int64_t dueq__conn_id(const struct dueq__conn *conn) { return conn->id; }

bool dueq__conn_named(const struct dueq__conn *conn) { return conn->named && conn->id; }

int dueq__conn_fd(const struct dueq__conn *conn) {
    return conn->state == DUEQ__CONN_RESOLVING ? dueq__resolution_fd(conn->resolution) : conn->fd;
}

short dueq__conn_events(const struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_CONNECTING)
        return POLLOUT;
    bool writes = conn->sealed_at < conn->sealed_size ||
                  (conn->state >= DUEQ__CONN_LOGIN && conn->out_at < conn->out_size);
    return (short)(POLLIN | (writes && !conn->output_ended ? POLLOUT : 0));
}

/* Closes for a reason; conn->error holds it. */
static void lose(struct dueq__conn *conn) { dueq__conn_close(conn); }

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
    dueq__fail(&conn->error, DUEQ_CONNECT, "cannot reach the server at %s: %s", conn->url->shown,
               reason);
}

static bool open_socket(struct dueq__conn *conn, int family) {
    conn->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (conn->fd >= 0 && conn->fd <= STDERR_FILENO) {
        /* In a process whose standard files are closed: what it prints must not be commands to the server. */
        int low = conn->fd;
        conn->fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(low);
    }
    if (conn->fd < 0) {
        no_connection(conn, strerror(errno));
        return false;
    }
    return true;
}

static void set_tcp_options(int fd) {
    /* A dead peer is noticed while we wait for it: after 15 s of silence, 3 questions 5 s apart. */
    int on = 1, idle = 15, between = 5, questions = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions);
}

/* Tries the host's addresses from conn->address on. */
static void connect_next(struct dueq__conn *conn) {
    for (; conn->address; conn->address = conn->address->ai_next) {
        close_socket(conn);
        if (!open_socket(conn, conn->address->ai_family))
            continue;
        set_tcp_options(conn->fd);
        if (connect(conn->fd, conn->address->ai_addr, conn->address->ai_addrlen) == 0 ||
            errno == EINPROGRESS) {
            conn->state = DUEQ__CONN_CONNECTING;
            return;
        }
        no_connection(conn, strerror(errno));
    }
    lose(conn);
}

static void pump_resolving(struct dueq__conn *conn) {
    if (!dueq__resolution_done(conn->resolution))
        return;
    conn->address = dueq__resolution_addresses(conn->resolution);
    if (!conn->address)
        no_connection(conn, dueq__resolution_problem(conn->resolution));
    connect_next(conn);
}

static void connect_host(struct dueq__conn *conn) {
    conn->resolution = dueq__resolve(conn->url->host, conn->url->port);
    if (conn->resolution) {
        conn->state = DUEQ__CONN_RESOLVING;
        pump_resolving(conn);
    } else {
        dueq__fail(&conn->error, DUEQ_CONNECT,
                   "cannot reach the server at %s: its name resolution could not be started: %s",
                   conn->url->shown, strerror(errno));
        lose(conn);
    }
}

static void connect_path(struct dueq__conn *conn, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        no_connection(conn, "the socket's path is longer than 107 bytes");
        lose(conn);
        return;
    }
    strcpy(address.sun_path, path);
    if (!open_socket(conn, AF_UNIX)) {
        lose(conn);
    } else if (connect(conn->fd, (struct sockaddr *)&address, sizeof address) == 0 ||
               errno == EINPROGRESS) {
        conn->state = DUEQ__CONN_CONNECTING;
    } else {
        no_connection(conn, strerror(errno));
        lose(conn);
    }
}

void dueq__conn_start(struct dueq__conn *conn, const char *path) {
    dueq__conn_close(conn);
    conn->error = (struct dueq__error){0};
    conn->id = 0;
    conn->named = false;
    if (conn->url->transport == DUEQ__UNIX || conn->url->transport == DUEQ__EMBEDDED)
        connect_path(conn, path ? path : conn->url->path);
    else
        connect_host(conn);
}

static void begin_tls(struct dueq__conn *conn) {
    conn->tls = dueq__tls_new(conn->url, &conn->error);
    if (conn->tls)
        conn->state = DUEQ__CONN_TLS;
    else
        lose(conn);
}

static void pump_connecting(struct dueq__conn *conn) {
    struct pollfd ready = {.fd = conn->fd, .events = POLLOUT};
    if (poll(&ready, 1, 0) <= 0)
        return;
    int problem = 0;
    socklen_t size = sizeof problem;
    getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem) {
        no_connection(conn, strerror(problem));
        if (conn->address) {
            conn->address = conn->address->ai_next;
            connect_next(conn);
        } else {
            lose(conn);
        }
        return;
    }
    drop_resolution(conn);
    if (conn->url->transport == DUEQ__TLS)
        begin_tls(conn);
    else
        dueq__login_begin(conn);
}

/* ---- Bytes out and in ---- */

/* Sends what it can; the end of the output is noted, for the server may have said why. */
static size_t send_some(struct dueq__conn *conn, const char *data, size_t size) {
    size_t done = 0;
    while (done < size && !conn->output_ended) {
        ssize_t sent = send(conn->fd, data + done, size - done, MSG_NOSIGNAL);
        if (sent > 0)
            done += (size_t)sent;
        else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        else if (sent < 0 && errno != EINTR)
            conn->output_ended = true;
    }
    return done;
}

static void flush_sealed(struct dueq__conn *conn) {
    for (;;) {
        if (conn->sealed_at == conn->sealed_size) {
            conn->sealed_at = 0;
            conn->sealed_size =
                (size_t)dueq__tls_drain(conn->tls, conn->sealed, sizeof conn->sealed);
        }
        if (conn->sealed_size == 0) {
            size_t left = conn->out_size - conn->out_at;
            size_t portion = left < DUEQ__PORTION / 4 ? left : DUEQ__PORTION / 4;
            if (conn->state < DUEQ__CONN_LOGIN || portion == 0 || conn->output_ended)
                return;
            if (dueq__tls_write(conn->tls, conn->out + conn->out_at, portion))
                conn->out_at += portion;
            else
                conn->output_ended = true;
            continue;
        }
        conn->sealed_at +=
            send_some(conn, conn->sealed + conn->sealed_at, conn->sealed_size - conn->sealed_at);
        if (conn->sealed_at < conn->sealed_size)
            return;
    }
}

static void flush(struct dueq__conn *conn) {
    if (conn->tls)
        flush_sealed(conn);
    else if (conn->out_at < conn->out_size)
        conn->out_at += send_some(conn, conn->out + conn->out_at, conn->out_size - conn->out_at);
    if (conn->out_at == conn->out_size && conn->out_room > 4 * DUEQ__PORTION) {
        free(conn->out);
        conn->out = NULL;
        conn->out_at = conn->out_size = conn->out_room = 0;
    }
}

static void read_plain(struct dueq__conn *conn) {
    char portion[DUEQ__PORTION / 4];
    ssize_t got;
    struct dueq__error refusal = {0};
    while ((got = dueq__tls_read(conn->tls, portion, sizeof portion, &refusal)) > 0)
        dueq__reader_feed(conn->reader, portion, (size_t)got);
    if (got < 0) {
        conn->input_ended = true;
        conn->error = refusal;
        if (!refusal.status)
            dueq__fail(&conn->error, DUEQ_CLOSED, "%s ended the TLS session", conn->url->shown);
    }
}

/* Reads one portion; false: there is no more now. */
static bool read_some(struct dueq__conn *conn) {
    char portion[DUEQ__PORTION];
    ssize_t got = recv(conn->fd, portion, sizeof portion, 0);
    if (got > 0) {
        if (conn->tls)
            dueq__tls_feed(conn->tls, portion, (size_t)got);
        else
            dueq__reader_feed(conn->reader, portion, (size_t)got);
        if (conn->tls && conn->state >= DUEQ__CONN_LOGIN)
            read_plain(conn);
        return (size_t)got == sizeof portion;
    }
    if (got < 0 && errno == EINTR)
        return true;
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
        conn->input_ended = true;
        dueq__fail(&conn->error, DUEQ_CLOSED, "%s closed the connection%s%s", conn->url->shown,
                   got < 0 ? ": " : "", got < 0 ? strerror(errno) : "");
    }
    return false;
}

static void pump_tls(struct dueq__conn *conn) {
    int done = dueq__tls_handshake(conn->tls, &conn->error);
    flush(conn);
    if (done < 0) {
        lose(conn);
    } else if (done) {
        dueq__login_begin(conn);
    } else if (conn->input_ended) {
        dueq__fail(&conn->error, DUEQ_TLS, "%s ended the TLS handshake; does it speak TLS there?",
                   conn->url->shown);
        lose(conn);
    }
}

/* ---- Replies ---- */

struct dueq__reply *dueq__conn_reply(struct dueq__conn *conn) {
    struct dueq__reply *reply;
    if (!conn->reader)
        return NULL;
    const char *problem = dueq__reader_take(conn->reader, &reply);
    if (problem) {
        dueq__fail(&conn->error, DUEQ_PROTOCOL,
                   "what answers at %s does not speak the Redis protocol: %s", conn->url->shown,
                   problem);
        lose(conn);
        return NULL;
    }
    if (!reply && conn->input_ended)
        lose(conn);
    return reply;
}

/* Takes the answer of a step in; false: it is a failure of the connection, whose error is set. */
void dueq__conn_flush(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_READY)
        flush(conn);
}

void dueq__conn_pump(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_RESOLVING)
        pump_resolving(conn);
    if (conn->state == DUEQ__CONN_CONNECTING)
        pump_connecting(conn);
    if (conn->state < DUEQ__CONN_TLS)
        return;
    flush(conn);
    for (int i = 0; i < PORTIONS_A_PUMP && !conn->input_ended && read_some(conn); i++)
        ;
    if (conn->state == DUEQ__CONN_TLS)
        pump_tls(conn);
    if (conn->state == DUEQ__CONN_LOGIN) {
        if (conn->tls && !conn->input_ended)
            read_plain(conn);
        flush(conn);
        dueq__login_pump(conn);
    }
}
