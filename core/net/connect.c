#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include "net.h"

/* Steps of a connection before its login: find the server, resolve its host, connect a socket. */

/*
 * The addresses of a host race, and the first that answers wins (RFC 8305, "Happy Eyeballs"). A
 * connect to an address that drops packets fails after minutes only. So after a short delay the
 * next address is tried at the same time. The process remembers which address answered, and tries
 * that address first the next time.
 */

/* RFC 8305, section 5: the Connection Attempt Delay. */
#define DELAY_MS 250
/* The process remembers the addresses of at most this many servers. */
#define MAX_REMEMBERED 64

/* The address that answered last */

/*
 * Under dueq__process_lock(). Servers have places by a hash of their addresses. Of two servers with
 * the same place, the one that was used last is remembered.
 */
static struct remembered {
    char server[DUEQ__SHOWN_ADDRESS];
    struct sockaddr_storage address; /* zero: none has answered */
} table[MAX_REMEMBERED];

static struct sockaddr_storage *remembered(const struct dueq__address *server) {
    char shown[DUEQ__SHOWN_ADDRESS];
    dueq__address_show(*server, shown);
    struct remembered *place = &table[dueq__slot(dueq__text(shown)) % MAX_REMEMBERED];
    if (strcmp(place->server, shown) != 0) {
        *place = (struct remembered){0};
        strcpy(place->server, shown);
    }
    return &place->address;
}

/* address: it answered; NULL: no address did, so the process forgets the remembered address. */
static void remember(const struct dueq__race *race, const struct sockaddr_storage *address) {
    if (!race->server)
        return;
    dueq__process_lock();
    *remembered(race->server) = address ? *address : (struct sockaddr_storage){0};
    dueq__process_unlock();
}

static void put_remembered_first(struct dueq__race *race) {
    if (!race->server)
        return;
    dueq__process_lock();
    const struct sockaddr_storage known = *remembered(race->server);
    dueq__process_unlock();
    for (size_t i = 1; i < race->count; i++) {
        const struct dueq__attempt found = race->attempts[i];
        if (memcmp(&found.address, &known, sizeof known) != 0)
            continue;
        memmove(race->attempts + 1, race->attempts, i * sizeof found);
        race->attempts[0] = found;
    }
}

/* Attempts */

static int open_socket(int family) {
    int low = dueq__socket(family);
    if (low < 0 || low > STDERR_FILENO)
        return low;
    /*
     * The process has closed a standard file, and the socket got its number. What the process
     * prints would go to the server as commands.
     */
    int fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
    return fd;
}

static void set_tcp_options(int fd) {
    /* A dead server ends the connection: after 15 s of silence, and 3 probes 5 s apart. */
    int on = 1, idle = 15, between = 5, questions = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions);
}

static void end_attempt(struct dueq__race *race, struct dueq__attempt *attempt, int problem) {
    attempt->connect_errno = problem;
    if (attempt->fd < 0)
        return;
    dueq__loop_watch(race->loop, attempt->fd, 0);
    close(attempt->fd);
    attempt->fd = -1;
}

static void start_attempt(struct dueq__race *race, struct dueq__attempt *attempt) {
    attempt->fd = open_socket(attempt->address.ss_family);
    if (attempt->fd >= 0 && attempt->address.ss_family != AF_UNIX)
        set_tcp_options(attempt->fd);
    if (attempt->fd < 0 ||
        (connect(attempt->fd, (const struct sockaddr *)&attempt->address, attempt->size) != 0 &&
         errno != EINPROGRESS) ||
        !dueq__loop_watch(race->loop, attempt->fd, POLLOUT))
        end_attempt(race, attempt, errno);
}

static bool start_next(struct dueq__race *race) {
    if (race->started == race->count)
        return false;
    start_attempt(race, &race->attempts[race->started++]);
    race->next_ms = race->started < race->count ? dueq__monotonic_ms() + DELAY_MS : DUEQ__NEVER;
    return true;
}

/* Whether the attempt has connected. Ends an attempt that failed. */
static bool is_connected(struct dueq__race *race, struct dueq__attempt *attempt) {
    struct pollfd ready = {.fd = attempt->fd, .events = POLLOUT};
    int problem = 0;
    socklen_t size = sizeof problem;
    if (attempt->fd < 0 || poll(&ready, 1, 0) <= 0)
        return false;
    getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem)
        end_attempt(race, attempt, problem);
    return !problem;
}

/* RFC 8305, section 4: IPv6 and IPv4 addresses alternate. The first address stays the first. */
static void list_attempts(struct dueq__race *race, const struct addrinfo *addresses) {
    const struct addrinfo *next[2] = {addresses, addresses}; /* of the first family; of others */
    for (int turn = 0; (next[0] || next[1]) && race->count < DUEQ__MAX_ADDRESSES; turn = !turn) {
        const struct addrinfo *at = next[turn];
        while (at && (at->ai_family == addresses->ai_family) == turn)
            at = at->ai_next;
        next[turn] = at ? at->ai_next : NULL;
        if (!at)
            continue;
        struct dueq__attempt *attempt = &race->attempts[race->count++];
        *attempt = (struct dueq__attempt){.size = at->ai_addrlen, .fd = -1};
        memcpy(&attempt->address, at->ai_addr, at->ai_addrlen);
    }
}

/* Writes why each address failed: one reason if all failed for the same. */
static void write_reasons(const struct dueq__race *race, char *out, size_t room) {
    const struct dueq__attempt *attempts = race->attempts;
    size_t same = 1, used = 0;
    while (same < race->count && attempts[same].connect_errno == attempts->connect_errno)
        same++;
    if (same == race->count)
        snprintf(out, room, "%s", strerror(attempts->connect_errno));
    for (size_t i = 0; same < race->count && i < race->count && used < room; i++) {
        char host[INET6_ADDRSTRLEN] = "?";
        getnameinfo((const struct sockaddr *)&attempts[i].address, attempts[i].size, host,
                    sizeof host, NULL, 0, NI_NUMERICHOST);
        used += (size_t)snprintf(out + used, room - used, "%s%s: %s", i ? "; " : "", host,
                                 strerror(attempts[i].connect_errno));
    }
}

void dueq__race_drop(struct dueq__race *race) {
    if (!race)
        return;
    for (size_t i = 0; i < race->started; i++)
        if (race->attempts[i].fd >= 0)
            close(race->attempts[i].fd);
    dueq__loop_free(race->loop);
    free(race);
}

/* Steps */

/* Ends the connection, as its server cannot be reached. */
static void fail(struct dueq__conn *conn, const char *what, const char *reason) {
    dueq__fail(&conn->error, DUEQ_CONNECT, "cannot reach the server at %s: %s%s",
               dueq__conn_shown(conn), what, reason);
    dueq__sentinels_reject(conn->sentinels, conn->query);
    dueq__conn_fail(conn);
}

/* An attempt has connected. Gives the other attempts up. */
static void win(struct dueq__conn *conn, struct dueq__attempt *attempt) {
    const int fd = attempt->fd;
    dueq__loop_watch(conn->race->loop, fd, 0);
    attempt->fd = -1;
    dueq__conn_close_socket(conn);
    conn->socket.fd = fd;
    dueq__resolution_drop(conn->resolution);
    conn->resolution = NULL;
    conn->error = (struct dueq__error){0};
    if (conn->url->transport != DUEQ__TLS)
        dueq__login_begin(conn);
    else if ((conn->tls = dueq__tls_new(conn->url, conn->address, &conn->socket, &conn->error)))
        conn->state = DUEQ__CONN_TLS;
    else
        dueq__conn_fail(conn);
}

/* The connection fails only when all addresses of the host have failed. */
static void pump_connecting(struct dueq__conn *conn) {
    struct dueq__race *race = conn->race;
    char reasons[400];
    bool under_way;
    do {
        under_way = false;
        for (size_t i = 0; i < race->started; i++) {
            struct dueq__attempt *attempt = &race->attempts[i];
            if (is_connected(race, attempt)) {
                remember(race, &attempt->address);
                win(conn, attempt);
                return;
            }
            under_way = under_way || attempt->fd >= 0;
        }
    } while ((!under_way || dueq__monotonic_ms() >= race->next_ms) && start_next(race));
    if (under_way)
        return;
    remember(race, NULL);
    write_reasons(race, reasons, sizeof reasons);
    fail(conn, "", reasons);
}

/*
 * server: the process remembers for this server which address answers, and tries that address first
 * the next time; NULL: the process remembers nothing.
 */
static void start_race(struct dueq__conn *conn, const struct addrinfo *addresses,
                       const struct dueq__address *server) {
    dueq__conn_close_socket(conn);
    struct dueq__race *race = conn->race = calloc(1, sizeof *race);
    if (!race || !(race->loop = dueq__loop_new(false))) {
        fail(conn, "", strerror(errno));
        return;
    }
    race->server = addresses->ai_next ? server : NULL;
    list_attempts(race, addresses);
    put_remembered_first(race);
    start_next(race);
    conn->state = DUEQ__CONN_CONNECTING;
    conn->last_read_ms = dueq__monotonic_ms();
    pump_connecting(conn);
}

static void pump_resolving(struct dueq__conn *conn) {
    const struct dueq__resolution *resolution = conn->resolution;
    if (resolution->done && resolution->addresses)
        start_race(conn, resolution->addresses, &conn->address);
    else if (resolution->done)
        fail(conn, "", dueq__resolution_problem(resolution));
}

static void connect_host(struct dueq__conn *conn) {
    conn->resolution = dueq__resolve(conn->address.host, conn->address.port);
    if (conn->resolution) {
        conn->state = DUEQ__CONN_RESOLVING;
        pump_resolving(conn);
    } else {
        fail(conn, "its name resolution could not be started: ", strerror(errno));
    }
}

static void connect_path(struct dueq__conn *conn, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct addrinfo info = {
        .ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)&address, .ai_addrlen = sizeof address};
    if (strlen(path) >= sizeof address.sun_path) {
        fail(conn, "the socket's path is longer than 107 bytes", "");
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
    struct dueq__address found;
    int done = dueq__sentinels_answer(conn->sentinels, conn->query, &found, &conn->error);
    if (done > 0)
        connect_at(conn, found);
    else if (done < 0)
        dueq__conn_fail(conn);
}

static void discover(struct dueq__conn *conn) {
    conn->query = dueq__sentinels_ask(conn->sentinels, conn->name);
    conn->switches_seen = conn->sentinels->switches;
    if (conn->query) {
        conn->query->conn.entry = conn->entry;
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
}

void dueq__connect_pump(struct dueq__conn *conn) {
    if (conn->state == DUEQ__CONN_DISCOVERING)
        pump_discovering(conn);
    if (conn->state == DUEQ__CONN_RESOLVING)
        pump_resolving(conn);
    if (conn->state == DUEQ__CONN_CONNECTING)
        pump_connecting(conn);
}
