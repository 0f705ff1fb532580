#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "net.h"

/*
 * The most bytes that are read at once. hiredis moves the rest of its buffer each time that it
 * takes a reply out. So larger portions cost more.
 */
#define PORTION (64 * 1024)
#define PORTIONS_A_PUMP 64
/* A part of a command with more bytes is sent from the caller's memory, and not copied. */
#define LARGE (256 * 1024)

void dueq__conn_init(struct dueq__conn *conn, const struct dueq__url *url, const char *name,
                     struct dueq__server_info *server) {
    *conn = (struct dueq__conn){.url = url,
                                .name = name,
                                .server_info = server,
                                .socket.fd = -1,
                                .entry = &conn->own_entry};
}

const char *dueq__conn_shown(const struct dueq__conn *conn) {
    return conn->shown[0] ? conn->shown : conn->url->shown;
}

void dueq__conn_close_socket(struct dueq__conn *conn) {
    if (conn->entry->events && conn->entry->loop)
        dueq__loop_watch(conn->entry->loop, dueq__conn_fd(conn), 0);
    conn->entry->events = 0;
    dueq__race_drop(conn->race);
    conn->race = NULL;
    if (conn->socket.fd >= 0)
        close(conn->socket.fd);
    conn->socket = (struct dueq__socket){.fd = -1};
    dueq__tls_free(conn->tls);
    conn->tls = NULL;
    dueq__reader_free(conn->reader);
    conn->reader = NULL;
    conn->out_at = conn->out_size = 0;
    conn->borrowed = (dueq_bytes){0};
    conn->login_due = 0;
    conn->replies_due = 0;
    conn->silent_until_ms = 0;
    conn->accepts_wait[false] = conn->accepts_wait[true] = false;
    conn->stored = NULL;
}

void dueq__conn_fail(struct dueq__conn *conn) {
    dueq__conn_close_socket(conn);
    dueq__resolution_drop(conn->resolution);
    conn->resolution = NULL;
    dueq__query_any_drop(conn->query);
    conn->query = NULL;
    free(conn->out);
    conn->out = NULL;
    conn->out_room = 0;
    conn->state = DUEQ__CONN_CLOSED;
}

void dueq__conn_close(struct dueq__conn *conn) {
    dueq__conn_fail(conn);
    conn->opened = false;
}

int dueq__conn_fd(const struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_DISCOVERING)
        return dueq__conn_fd(&conn->query->conn);
    if (conn->race)
        return dueq__loop_fd(conn->race->loop);
    return conn->state == DUEQ__CONN_RESOLVING ? conn->resolution->done_pipe[0] : conn->socket.fd;
}

static bool has_output(const struct dueq__conn *conn) {
    return conn->borrowed.size || conn->out_at < conn->out_size;
}

short dueq__conn_events(const struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_DISCOVERING)
        return dueq__conn_events(&conn->query->conn);
    if (conn->race)
        return POLLIN;
    bool writes =
        conn->state == DUEQ__CONN_TLS ? dueq__tls_wants_to_write(conn->tls) : has_output(conn);
    return (short)(POLLIN | (writes && !conn->socket.output_ended ? POLLOUT : 0));
}

/* Whether the connection is lost if the server sends nothing for silence_timeout_ms. */
static bool expects_bytes(const struct dueq__conn *conn) {
    return conn->silence_timeout_ms && conn->state >= DUEQ__CONN_CONNECTING &&
           (conn->state < DUEQ__CONN_READY || (conn->replies_due && !conn->blocking));
}

/* When the connection is lost, unless bytes come before. */
static int64_t silence_deadline_ms(const struct dueq__conn *conn) {
    if (!expects_bytes(conn))
        return DUEQ__NEVER;
    int64_t since =
        conn->last_read_ms > conn->silent_until_ms ? conn->last_read_ms : conn->silent_until_ms;
    return since + conn->silence_timeout_ms;
}

int64_t dueq__conn_until_ms(const struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_DISCOVERING)
        return conn->query->try_deadline_ms;
    int64_t next_ms = conn->race ? conn->race->next_ms : DUEQ__NEVER;
    int64_t end_ms = silence_deadline_ms(conn);
    return next_ms < end_ms ? next_ms : end_ms;
}

void dueq__conn_allow_silence(struct dueq__conn *conn, int64_t for_ms) {
    if (conn->silence_timeout_ms)
        conn->silent_until_ms = dueq__monotonic_ms() + for_ms;
}

static void fail_if_silent(struct dueq__conn *conn) {
    if (dueq__monotonic_ms() < silence_deadline_ms(conn))
        return;
    dueq__fail(&conn->error, DUEQ_CLOSED, "%s did not answer within %lld ms",
               dueq__conn_shown(conn), (long long)conn->silence_timeout_ms);
    dueq__conn_fail(conn);
}

/* Commands out */

static void append(struct dueq__conn *conn, const void *data, size_t size) {
    if (size)
        memcpy(conn->out + conn->out_size, data, size);
    conn->out_size += size;
}

bool dueq__conn_send(struct dueq__conn *conn, const struct dueq__resp *const parts[],
                     size_t count) {
    char head[DUEQ__DIGITS + 3] = "*";
    size_t words = 0, size = sizeof head, lent = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->failed)
            return false;
        words += parts[i]->count;
        if (!conn->borrowed.size && lent == SIZE_MAX && parts[i]->size > LARGE)
            lent = i;
        else
            size += parts[i]->size;
    }
    if (!has_output(conn))
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
    append(conn, head, digits + 3);
    for (size_t i = 0; i < count; i++)
        if (i != lent) {
            append(conn, parts[i]->bytes, parts[i]->size);
        } else {
            conn->borrowed = (dueq_bytes){parts[i]->bytes, parts[i]->size};
            conn->borrowed_at = conn->out_size;
        }
    if (conn->replies_due++ == 0 && conn->silence_timeout_ms)
        conn->last_read_ms = dueq__monotonic_ms();
    return true;
}

bool dueq__conn_send_words(struct dueq__conn *conn, struct dueq__resp *words) {
    bool sent = dueq__conn_send(conn, &(const struct dueq__resp *){words}, 1);
    dueq__resp_free(words);
    return sent;
}

bool dueq__conn_borrows(const struct dueq__conn *conn, const struct dueq__resp *part) {
    return conn->borrowed.size &&
           (const char *)conn->borrowed.data + conn->borrowed.size == part->bytes + part->size;
}

/* Bytes out and in */

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
        socket->read_errno = got < 0 ? errno : 0;
    }
    return got < 0 ? 0 : (size_t)got;
}

/* Sends the next bytes, without blocking. False: the socket takes none now. */
static bool write_some(struct dueq__conn *conn) {
    const bool borrows = conn->borrowed.size, lent = borrows && conn->out_at == conn->borrowed_at;
    const size_t end = borrows ? conn->borrowed_at : conn->out_size;
    dueq_bytes next = {conn->out + conn->out_at, end - conn->out_at};
    if (lent)
        next = conn->borrowed;
    size_t sent = conn->tls ? dueq__tls_write(conn->tls, next.data, next.size)
                            : dueq__socket_write(&conn->socket, next.data, next.size);
    if (lent)
        conn->borrowed = (dueq_bytes){(const char *)next.data + sent, next.size - sent};
    else
        conn->out_at += sent;
    return sent > 0;
}

void dueq__conn_flush(struct dueq__conn *conn) {
    if (conn->state < DUEQ__CONN_LOGIN)
        return;
    while (has_output(conn) && write_some(conn))
        ;
    if (!has_output(conn) && conn->out_room > 4 * PORTION) {
        free(conn->out);
        conn->out = NULL;
        conn->out_at = conn->out_size = conn->out_room = 0;
    }
}

/*
 * Reads the bytes that have come, up to a limit: else a server that never stops would hold the
 * caller.
 */
static void read_some(struct dueq__conn *conn) {
    char portion[PORTION];
    bool more = !conn->error.status;
    for (int i = 0; more && i < PORTIONS_A_PUMP; i++) {
        size_t got = conn->tls ? dueq__tls_read(conn->tls, portion, sizeof portion, &conn->error)
                               : dueq__socket_read(&conn->socket, portion, sizeof portion);
        dueq__reader_feed(conn->reader, portion, got);
        if (got && conn->silence_timeout_ms)
            conn->last_read_ms = dueq__monotonic_ms();
        /* A TLS record may be shorter than a portion, and more records may follow it. */
        more = conn->tls ? got > 0 : got == sizeof portion;
    }
    if (conn->socket.input_ended && !conn->error.status)
        dueq__fail(&conn->error, DUEQ_CLOSED, "%s closed the connection%s%s",
                   dueq__conn_shown(conn), conn->socket.read_errno ? ": " : "",
                   conn->socket.read_errno ? strerror(conn->socket.read_errno) : "");
}

static void pump_tls(struct dueq__conn *conn) {
    int done = dueq__tls_handshake(conn->tls, &conn->error);
    if (done > 0) {
        dueq__login_begin(conn);
        return;
    }
    if (done == 0 && !conn->socket.input_ended && !conn->socket.output_ended)
        return;
    /* The server may refuse the session that the client resumed, and accept a new session. */
    if (dueq__tls_forget_session(conn->tls)) {
        dueq__connect_retry(conn);
        return;
    }
    if (done == 0)
        dueq__fail(&conn->error, DUEQ_TLS, "%s ended the TLS handshake; does it speak TLS there?",
                   dueq__conn_shown(conn));
    dueq__conn_fail(conn);
}

/* Replies */

struct dueq__reply *dueq__conn_reply(struct dueq__conn *conn, uint64_t most) {
    struct dueq__reply *reply;
    if (!conn->reader)
        return NULL;
    const char *problem = dueq__reader_take(conn->reader, most, &reply);
    if (problem) {
        if (dueq__reader_no_memory(conn->reader))
            dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
        else
            dueq__fail(&conn->error, DUEQ_PROTOCOL,
                       "what answers at %s does not speak the Redis protocol: %s",
                       dueq__conn_shown(conn), problem);
        dueq__conn_fail(conn);
        return NULL;
    }
    if (!reply && conn->error.status)
        dueq__conn_fail(conn);
    conn->replies_due -= reply && conn->replies_due;
    return reply;
}

/*
 * Ends the connection if another server is the primary now: another connection of the client found
 * that server, or a sentinel announced it. The old primary may never answer. Or it accepts writes,
 * which are lost when it becomes a replica.
 */
static bool fail_if_outdated(struct dueq__conn *conn) {
    const struct dueq__sentinels *sentinels = conn->sentinels;
    if (conn->url->topology != DUEQ__SENTINEL || conn->state < DUEQ__CONN_CONNECTING ||
        (conn->state < DUEQ__CONN_READY && conn->switches_seen == sentinels->switches) ||
        strcmp(conn->shown, sentinels->primary) == 0)
        return false;
    dueq__fail(&conn->error, DUEQ_CLOSED, "%s is not the primary any more: %s is", conn->shown,
               sentinels->primary);
    dueq__conn_fail(conn);
    return true;
}

void dueq__conn_pump(struct dueq__conn *conn) {
    if (fail_if_outdated(conn))
        return;
    dueq__connect_pump(conn);
    if (conn->state == DUEQ__CONN_TLS)
        pump_tls(conn);
    if (conn->state >= DUEQ__CONN_LOGIN) {
        dueq__conn_flush(conn);
        read_some(conn);
    }
    if (conn->state == DUEQ__CONN_LOGIN)
        dueq__login_pump(conn);
    fail_if_silent(conn);
}
