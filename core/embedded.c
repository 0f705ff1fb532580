/*
 * The embedded server: a private redis-server or valkey-server for a directory, shared by every
 * process that names the directory.
 *
 * In the directory:
 *   users       every handle holds LOCK_SH on an open file description of its own. LOCK_EX on it is the
 *               right to end the server, so that it cannot end while anybody has a share.
 *   lock        LOCK_EX, by a descriptor that the server inherits: held exactly as long as it lives.
 *               Who gets it may start a server. Its time of change says when the server was last idle.
 *   socket      where the server listens, or a link to it where the directory cannot hold a socket
 *   server.log  what the server said since its start (server.log.old: the one before)
 *   and the server's append-only file.
 * embedded_start.c starts and ends the server.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "embedded.h"
#include "internal.h"

#define NAP_MS 5

struct dueq__embedded {
    char *given; /* the directory, made absolute when the handle was: a later chdir() is harmless */
    char *directory;              /* the same without links and dots; NULL until it exists */
    int share;                    /* `users` under LOCK_SH; -1: none */
    char path[DUEQ__SOCKET_ROOM]; /* the socket; "" before the first success */
};

enum answer { ABSENT, FORBIDDEN, SILENT, LOADING, ANSWERS };

/* ---- The directory ----------------------------------------------------------------------------- */

struct dueq__embedded *dueq__embedded_new(const char *directory) {
    struct dueq__embedded *embedded = calloc(1, sizeof *embedded);
    if (!embedded)
        return NULL;
    embedded->share = -1;
    char *here = directory[0] == '/' ? NULL : getcwd(NULL, 0);
    size_t size = (here ? strlen(here) + 1 : 0) + strlen(directory) + 1;
    embedded->given = malloc(size);
    if (embedded->given)
        snprintf(embedded->given, size, "%s%s%s", here ? here : "", here ? "/" : "", directory);
    free(here);
    if (!embedded->given) {
        free(embedded);
        return NULL;
    }
    return embedded;
}

void dueq__embedded_free(struct dueq__embedded *embedded) {
    if (!embedded)
        return;
    /* Closing drops the share with the last copy of the descriptor; LOCK_UN would drop it for the
     * other side of a fork() too. */
    if (embedded->share >= 0)
        close(embedded->share);
    free(embedded->given);
    free(embedded->directory);
    free(embedded);
}

const char *dueq__embedded_path(const struct dueq__embedded *embedded) {
    return embedded->path[0] ? embedded->path : NULL;
}

char *dueq__embedded_entry(const char *directory, const char *name) {
    size_t size = strlen(directory) + 1 + strlen(name) + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* Opens an entry for reading and writing, above the numbers that the server is given. */
static int open_entry(const struct dueq__embedded *embedded, const char *name) {
    char *path = dueq__embedded_entry(embedded->directory, name);
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    int low = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    free(path);
    if (low < 0)
        return -1;
    int fd = fcntl(low, F_DUPFD_CLOEXEC, 10);
    int why = errno;
    close(low);
    errno = why;
    return fd;
}

/* mkdir -p, for this user alone. */
static bool make_directories(const char *path) {
    char *copy = strdup(path);
    if (!copy)
        return false;
    bool good = true;
    for (char *at = copy + 1; good; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char end = *at;
        *at = '\0';
        good = mkdir(copy, 0700) == 0 || errno == EEXIST;
        if (end == '\0')
            break;
        *at = '/';
    }
    int why = errno;
    free(copy);
    errno = why;
    return good;
}

static dueq_status resolve(struct dueq__embedded *embedded, struct dueq__error *error) {
    if (!make_directories(embedded->given))
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot make the directory %s: %s", embedded->given,
                          strerror(errno));
    free(embedded->directory);
    embedded->directory = realpath(embedded->given, NULL);
    if (!embedded->directory)
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot use the directory %s: %s", embedded->given,
                          strerror(errno));
    return DUEQ_OK;
}

/* ---- Time and the share ------------------------------------------------------------------------ */

/* Sleeps for a moment; false: the deadline has passed. */
static bool nap(int64_t deadline_ms) {
    if (dueq__monotonic_ms() >= deadline_ms)
        return false;
    const struct timespec moment = {0, NAP_MS * 1000000L};
    nanosleep(&moment, NULL);
    return true;
}

/* Whether the share is on the file that others see now: the directory may have been made anew. */
static bool share_is_current(const struct dueq__embedded *embedded) {
    if (embedded->share < 0)
        return false;
    char *path = dueq__embedded_entry(embedded->directory, "users");
    struct stat ours, theirs;
    bool same = path && fstat(embedded->share, &ours) == 0 && stat(path, &theirs) == 0 &&
                ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
    free(path);
    return same;
}

static dueq_status take_share(struct dueq__embedded *embedded, int64_t deadline_ms,
                              struct dueq__error *error) {
    if (share_is_current(embedded))
        return DUEQ_OK;
    if (embedded->share >= 0)
        close(embedded->share);
    embedded->share = -1;
    dueq_status status = resolve(embedded, error);
    if (status != DUEQ_OK)
        return status;
    int fd = open_entry(embedded, "users");
    if (fd < 0)
        return dueq__fail(
            error, DUEQ_EMBEDDED,
            "cannot write in the directory %s: %s; name one that this user may write in",
            embedded->directory, strerror(errno));
    while (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        int why = errno;
        if (why == EINTR || (why == EWOULDBLOCK && nap(deadline_ms)))
            continue;
        close(fd);
        if (why == EWOULDBLOCK)
            return dueq__fail(error, DUEQ_EMBEDDED,
                              "the server of %s was ending and did not end before the deadline",
                              embedded->directory);
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot lock a file in %s: %s", embedded->directory,
                          strerror(why));
    }
    futimens(fd, NULL); /* tells the watcher that there was a user, however short its stay */
    embedded->share = fd;
    return DUEQ_OK;
}

/* ---- Asking the server ------------------------------------------------------------------------- */

/* Where the server listens, by the directory's `socket`; false: nothing to connect to. */
static bool find_socket(const struct dueq__embedded *embedded, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    char *own = dueq__embedded_entry(embedded->directory, "socket");
    if (!own)
        return false;
    ssize_t size = readlink(own, address->sun_path, DUEQ__SOCKET_ROOM);
    if (size < 0 && strlen(own) < DUEQ__SOCKET_ROOM) {
        strcpy(address->sun_path, own);
        size = (ssize_t)strlen(own);
    }
    free(own);
    return size > 0 && (size_t)size < DUEQ__SOCKET_ROOM;
}

/* Waits for an event; false: the deadline has passed. */
static bool await(int fd, short events, int64_t deadline_ms) {
    for (;;) {
        int64_t left = deadline_ms - dueq__monotonic_ms();
        if (left <= 0)
            return false;
        struct pollfd one = {fd, events, 0};
        if (poll(&one, 1, left > 1000 ? 1000 : (int)left) > 0)
            return true;
    }
}

static enum answer ask(int fd, const struct sockaddr_un *address, int64_t deadline_ms) {
    static const char ping[] = "PING\r\n", loading[] = "-LOADING";
    while (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        if (errno == EISCONN)
            break;
        if (errno == EACCES || errno == EPERM)
            return FORBIDDEN;
        if (errno != EAGAIN && errno != EINTR)
            return ABSENT;
        if (errno == EAGAIN && !nap(deadline_ms)) /* its queue of connections is full */
            return SILENT;
    }
    if (send(fd, ping, sizeof ping - 1, MSG_NOSIGNAL) != (ssize_t)sizeof ping - 1)
        return ABSENT;
    char reply[sizeof loading - 1];
    size_t size = 0;
    while (size < sizeof reply && !memchr(reply, '\n', size)) {
        if (!await(fd, POLLIN, deadline_ms))
            return SILENT;
        ssize_t got = recv(fd, reply + size, sizeof reply - size, 0);
        if (got > 0)
            size += (size_t)got;
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return ABSENT;
    }
    return size == sizeof reply && memcmp(reply, loading, size) == 0 ? LOADING : ANSWERS;
}

/* Whether the server answers. Any answer will do: what is wrong with it is for the connection to say. */
static enum answer probe(struct dueq__embedded *embedded, int64_t deadline_ms) {
    struct sockaddr_un address;
    if (!find_socket(embedded, &address))
        return ABSENT;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return ABSENT;
    enum answer answer = ask(fd, &address, deadline_ms);
    close(fd);
    if (answer == ANSWERS)
        strcpy(embedded->path, address.sun_path);
    return answer;
}

/* ---- Ensure ------------------------------------------------------------------------------------ */

static dueq_status give_up(const struct dueq__embedded *embedded, enum answer answer, bool started,
                           struct dueq__error *error) {
    const char *directory = embedded->directory;
    switch (answer) {
    case LOADING:
        return dueq__fail(error, DUEQ_LOADING, "the server of %s is still loading its data",
                          directory);
    case SILENT:
        return dueq__fail(error, DUEQ_TIMEOUT,
                          "the server of %s runs but does not answer: it is stopped or very busy",
                          directory);
    case FORBIDDEN:
        return dueq__fail(error, DUEQ_EMBEDDED, "the server of %s belongs to another user",
                          directory);
    default:
        return dueq__fail(error, DUEQ_EMBEDDED,
                          started
                              ? "the server of %s did not come up before the deadline; see its "
                                "server.log"
                              : "a server of %s runs, but its socket cannot be reached from here; "
                                "end the process that holds the file `lock` in it",
                          directory);
    }
}

dueq_status dueq__embedded_ensure(struct dueq__embedded *embedded, int64_t deadline_ms,
                                  struct dueq__error *error) {
    dueq_status status = take_share(embedded, deadline_ms, error);
    if (status != DUEQ_OK)
        return status;
    bool started = false;
    for (;;) {
        enum answer answer = probe(embedded, deadline_ms);
        if (answer == ANSWERS)
            return DUEQ_OK;
        if (answer == ABSENT) {
            int lock = open_entry(embedded, "lock");
            if (lock < 0)
                return dueq__fail(error, DUEQ_EMBEDDED, "cannot write in the directory %s: %s",
                                  embedded->directory, strerror(errno));
            bool free_to_start = flock(lock, LOCK_EX | LOCK_NB) == 0;
            if (free_to_start && started) {
                char words[384];
                dueq__embedded_last_words(embedded->directory, words, sizeof words);
                status = dueq__fail(error, DUEQ_EMBEDDED, "the server of %s ended at once: %s",
                                    embedded->directory, words);
            } else if (free_to_start) {
                status = dueq__embedded_start(embedded->directory, lock, error);
                started = true;
            }
            close(lock);
            if (status != DUEQ_OK)
                return status;
        }
        if (answer == FORBIDDEN || !nap(deadline_ms))
            return give_up(embedded, answer, started, error);
    }
}
