#include <arpa/inet.h>
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
#include <unistd.h>

#include "net.h"

/*
 * A socket to the first address of a host that answers (RFC 8305, "Happy Eyeballs"). A connect to
 * an address that drops packets fails after minutes only. So after a short delay the next address
 * is tried at the same time. The process remembers which address answered, and tries that first the
 * next time. An epoll instance has all sockets of a race, so that a caller waits for one
 * descriptor.
 */

/* RFC 8305, section 5: the Connection Attempt Delay. */
#define DELAY_MS 250
/* A host may have more addresses; the others are not tried. */
#define MAX_ADDRESSES 16
/* The process remembers the address of this many servers. */
#define MAX_REMEMBERED 16

struct attempt {
    struct sockaddr_storage address;
    socklen_t size;
    int family, fd;    /* fd: -1 before the attempt and after it failed */
    int connect_errno; /* why the attempt failed; 0: it has not failed */
};

struct dueq__race {
    int epoll;
    int64_t next_ms; /* when to try the next address; DUEQ__NEVER: all were tried */
    size_t count, started;
    const struct dueq__address *server; /* whose address to remember; NULL: none */
    struct attempt attempts[MAX_ADDRESSES];
};

/* The address that answered last */

struct remembered {
    char server[DUEQ__SHOWN_ADDRESS];
    struct sockaddr_storage address;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `table` and `oldest` */
static struct remembered table[MAX_REMEMBERED];
static size_t oldest;

/*
 * fork() takes the lock. Otherwise another thread could have it at that moment, and the child,
 * which has no such thread, would wait for it for ever.
 */
static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

static struct remembered *find(const char *server) {
    for (size_t i = 0; i < MAX_REMEMBERED; i++)
        if (strcmp(table[i].server, server) == 0)
            return &table[i];
    return NULL;
}

/* address: the one that answered; NULL: none did, and the remembered one is forgotten. */
static void remember(const struct dueq__race *race, const struct sockaddr_storage *address) {
    char server[DUEQ__SHOWN_ADDRESS];
    if (!race->server || race->count < 2)
        return;
    dueq__address_show(*race->server, server);
    pthread_mutex_lock(&lock);
    struct remembered *known = find(server);
    if (!known && address) {
        known = &table[oldest];
        oldest = (oldest + 1) % MAX_REMEMBERED;
        strcpy(known->server, server);
    }
    if (known && address)
        known->address = *address;
    else if (known)
        *known = (struct remembered){0};
    pthread_mutex_unlock(&lock);
}

static void put_remembered_first(struct dueq__race *race) {
    char server[DUEQ__SHOWN_ADDRESS];
    if (!race->server || race->count < 2)
        return;
    dueq__address_show(*race->server, server);
    pthread_mutex_lock(&lock);
    const struct remembered *known = find(server);
    for (size_t i = 1; known && i < race->count; i++) {
        struct attempt found = race->attempts[i];
        if (memcmp(&found.address, &known->address, sizeof found.address) != 0)
            continue;
        memmove(race->attempts + 1, race->attempts, i * sizeof found);
        race->attempts[0] = found;
    }
    pthread_mutex_unlock(&lock);
}

/* Attempts */

static int open_socket(int family) {
    int low = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
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

/*
 * Takes the socket out of the epoll instance before it closes the socket: a forked child may have a
 * copy, with which the socket would stay there (epoll(7)).
 */
static void end_attempt(struct dueq__race *race, struct attempt *attempt, int problem) {
    attempt->connect_errno = problem;
    if (attempt->fd < 0)
        return;
    epoll_ctl(race->epoll, EPOLL_CTL_DEL, attempt->fd, NULL);
    close(attempt->fd);
    attempt->fd = -1;
}

static void start_attempt(struct dueq__race *race, struct attempt *attempt) {
    attempt->fd = open_socket(attempt->family);
    if (attempt->fd < 0) {
        attempt->connect_errno = errno;
        return;
    }
    struct epoll_event event = {.events = EPOLLOUT, .data.fd = attempt->fd};
    if (attempt->family != AF_UNIX)
        set_tcp_options(attempt->fd);
    if ((connect(attempt->fd, (const struct sockaddr *)&attempt->address, attempt->size) != 0 &&
         errno != EINPROGRESS) ||
        epoll_ctl(race->epoll, EPOLL_CTL_ADD, attempt->fd, &event) != 0)
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
static bool is_connected(struct dueq__race *race, struct attempt *attempt) {
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

/* Races */

/* The first address from `at` on that is (is: true) or is not of the family; NULL: none. */
static const struct addrinfo *next_of(const struct addrinfo *at, int family, bool is) {
    while (at && (at->ai_family == family) != is)
        at = at->ai_next;
    return at;
}

/* RFC 8305, section 4: IPv6 and IPv4 addresses alternate. The first address stays the first. */
static void list_attempts(struct dueq__race *race, const struct addrinfo *addresses) {
    const int family = addresses->ai_family;
    const struct addrinfo *next[2] = {addresses, next_of(addresses, family, false)};
    for (int turn = 0; (next[0] || next[1]) && race->count < MAX_ADDRESSES; turn = !turn) {
        const struct addrinfo *at = next[turn];
        if (!at || at->ai_addrlen > sizeof(struct sockaddr_storage)) {
            next[turn] = at ? next_of(at->ai_next, family, turn == 0) : NULL;
            continue;
        }
        struct attempt *attempt = &race->attempts[race->count++];
        memcpy(&attempt->address, at->ai_addr, at->ai_addrlen);
        attempt->size = at->ai_addrlen;
        attempt->family = at->ai_family;
        attempt->fd = -1;
        next[turn] = next_of(at->ai_next, family, turn == 0);
    }
}

struct dueq__race *dueq__race_start(const struct addrinfo *addresses,
                                    const struct dueq__address *server) {
    struct dueq__race *race = calloc(1, sizeof *race);
    if (!race)
        return NULL;
    race->server = server;
    race->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (race->epoll < 0) {
        free(race);
        return NULL;
    }
    list_attempts(race, addresses);
    put_remembered_first(race);
    start_next(race);
    return race;
}

enum dueq__race_state dueq__race_pump(struct dueq__race *race, int *fd) {
    bool under_way;
    do {
        under_way = false;
        for (size_t i = 0; i < race->started; i++) {
            struct attempt *attempt = &race->attempts[i];
            if (is_connected(race, attempt)) {
                remember(race, &attempt->address);
                epoll_ctl(race->epoll, EPOLL_CTL_DEL, attempt->fd, NULL);
                *fd = attempt->fd;
                attempt->fd = -1;
                return DUEQ__RACE_WON;
            }
            under_way = under_way || attempt->fd >= 0;
        }
    } while ((!under_way || dueq__monotonic_ms() >= race->next_ms) && start_next(race));
    if (under_way)
        return DUEQ__RACE_RUNNING;
    remember(race, NULL);
    return DUEQ__RACE_LOST;
}

int dueq__race_fd(const struct dueq__race *race) { return race->epoll; }

int64_t dueq__race_until_ms(const struct dueq__race *race) { return race->next_ms; }

void dueq__race_reasons(const struct dueq__race *race, char *out, size_t room) {
    bool same = true;
    for (size_t i = 1; i < race->count; i++)
        same = same && race->attempts[i].connect_errno == race->attempts[0].connect_errno;
    if (same) {
        snprintf(out, room, "%s", strerror(race->attempts[0].connect_errno));
        return;
    }
    size_t used = 0;
    for (size_t i = 0; i < race->count && used < room; i++) {
        const struct attempt *attempt = &race->attempts[i];
        char host[INET6_ADDRSTRLEN] = "?";
        getnameinfo((const struct sockaddr *)&attempt->address, attempt->size, host, sizeof host,
                    NULL, 0, NI_NUMERICHOST);
        used += (size_t)snprintf(out + used, room - used, "%s%s: %s", i ? "; " : "", host,
                                 strerror(attempt->connect_errno));
    }
}

void dueq__race_drop(struct dueq__race *race) {
    if (!race)
        return;
    /*
     * A forked child that drops its copy must not take the sockets out of the epoll instance, which
     * it shares.
     */
    for (size_t i = 0; i < race->started; i++)
        if (race->attempts[i].fd >= 0)
            close(race->attempts[i].fd);
    close(race->epoll);
    free(race);
}
