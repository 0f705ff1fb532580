/*
 * The embedded server: a private redis-server or valkey-server for a directory. All processes that
 * name the directory share the server. start.c starts and ends it. The directory has:
 *   users       Each handle has LOCK_SH on this file, its share, by an open file description of its
 *               own. The watcher ends the server only under LOCK_EX: while no handle has a share.
 *   lock        The server inherits a descriptor with LOCK_EX on this file. So the lock is taken
 *               as long as the server runs, and a process that gets the lock may start a server.
 *               The watcher touches this file when no handle has a share. A handle that takes a
 *               share touches `users`. So the watcher sees whether one came in between.
 *   socket      The socket on which the server listens, or a link to that socket where the
 *               directory cannot have one.
 *   server.log  The server's log since its start; server.log.old has the log of the server before.
 *   The server's append-only file.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "embedded_internal.h"

struct dueq__embedded {
    char *requested_path;     /* absolute, so that a later chdir() does not matter */
    char directory[PATH_MAX]; /* the same, resolved by realpath(3) when a share was taken */
    int share_fd;             /* `users` under LOCK_SH; -1: none */
    bool started;             /* this handle started a server, which accepted no connection yet */
    char socket_path[DUEQ__SOCKET_ROOM]; /* "": no server has accepted a connection yet */
};

/* The directory */

struct dueq__embedded *dueq__embedded_new(const char *directory) {
    struct dueq__embedded *embedded = calloc(1, sizeof *embedded);
    char *here = directory[0] == '/' ? NULL : getcwd(NULL, 0);
    bool made = embedded && asprintf(&embedded->requested_path, "%s%s%s", here ? here : "",
                                     here ? "/" : "", directory) >= 0;
    free(here);
    if (made) {
        embedded->share_fd = -1;
        return embedded;
    }
    free(embedded);
    return NULL;
}

void dueq__embedded_free(struct dueq__embedded *embedded) {
    if (!embedded)
        return;
    /*
     * close() drops the share once no process has a copy of the descriptor. LOCK_UN would drop it
     * for the other process of a fork() as well.
     */
    if (embedded->share_fd >= 0)
        close(embedded->share_fd);
    free(embedded->requested_path);
    free(embedded);
}

const char *dueq__embedded_path(const struct dueq__embedded *embedded) {
    return embedded->socket_path[0] ? embedded->socket_path : NULL;
}

static dueq_status resolve(struct dueq__embedded *embedded, struct dueq__error *error) {
    dueq_status status = dueq__embedded_check_directory(embedded->requested_path, true, error);
    if (status)
        return status;
    if (!realpath(embedded->requested_path, embedded->directory))
        return dueq__fail(error, DUEQ_EMBEDDED, "cannot use the directory %s: %s",
                          embedded->requested_path, strerror(errno));
    return dueq__embedded_check_directory(embedded->directory, false, error);
}

/* The share */

/* False: there is no share, or the directory was made anew, with another file `users`. */
static bool share_is_current(const struct dueq__embedded *embedded) {
    char path[DUEQ__ENTRY_ROOM];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "%s/users", embedded->directory);
    return embedded->share_fd >= 0 && fstat(embedded->share_fd, &ours) == 0 &&
           lstat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

static dueq_status take_share(struct dueq__embedded *embedded, struct dueq__error *error) {
    if (share_is_current(embedded))
        return DUEQ_OK;
    if (embedded->share_fd >= 0)
        close(embedded->share_fd);
    embedded->share_fd = -1;
    dueq_status status = resolve(embedded, error);
    if (status != DUEQ_OK)
        return status;
    int fd = dueq__embedded_open(embedded->directory, "users", O_RDWR | O_CREAT, error);
    if (fd < 0)
        return error->status;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        int why = errno;
        close(fd);
        status = dueq__fail(error, DUEQ_EMBEDDED,
                            why == EWOULDBLOCK
                                ? "the server of %s was ending and did not end before the deadline"
                                : "cannot lock a file in %s: %s",
                            embedded->directory, strerror(why));
        return why == EWOULDBLOCK ? DUEQ_PENDING : status;
    }
    futimens(fd, NULL); /* tells the watcher that there was a share, however short */
    embedded->share_fd = fd;
    return DUEQ_OK;
}

/* The socket */

/*
 * The server's socket: the directory's `socket`, or the target of that link.
 * 0; ENOENT: there is no socket; EPERM: another user may have made it.
 */
static int find_socket(const struct dueq__embedded *embedded, struct sockaddr_un *address) {
    struct stat what;
    char runtime[DUEQ__SOCKET_ROOM], own[DUEQ__ENTRY_ROOM];
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(own, sizeof own, "%s/socket", embedded->directory);
    ssize_t size = readlink(own, address->sun_path, DUEQ__SOCKET_ROOM);
    bool linked = size > 0;
    if (!linked)
        size = snprintf(address->sun_path, DUEQ__SOCKET_ROOM, "%s", own);
    if ((size_t)size >= DUEQ__SOCKET_ROOM || address->sun_path[0] != '/' ||
        lstat(address->sun_path, &what) != 0)
        return ENOENT;
    if (what.st_uid != geteuid())
        return EPERM;
    strcpy(runtime, address->sun_path);
    char *leaf = strrchr(runtime, '/');
    leaf[leaf == runtime] = '\0';
    struct dueq__error unsafe;
    return linked && dueq__embedded_check_directory(runtime, false, &unsafe) ? EPERM : 0;
}

/* 0: the server accepts a connection; whether it will answer is not known. Else an errno. */
static int probe(struct dueq__embedded *embedded) {
    struct sockaddr_un address;
    int why = find_socket(embedded, &address);
    if (why)
        return why;
    int fd = dueq__socket(AF_UNIX);
    if (fd < 0)
        return errno;
    why = connect(fd, (const struct sockaddr *)&address, sizeof address) ? errno : 0;
    close(fd);
    if (!why)
        strcpy(embedded->socket_path, address.sun_path);
    return why;
}

/*
 * Starts a server, unless one runs. PENDING: one runs, or was started just now, and may accept a
 * connection soon.
 */
static dueq_status start(struct dueq__embedded *embedded, struct dueq__error *error) {
    int lock = dueq__embedded_open(embedded->directory, "lock", O_RDWR | O_CREAT, error);
    if (lock < 0)
        return error->status;
    dueq_status status = DUEQ_PENDING;
    bool free_to_start = flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (free_to_start && embedded->started) {
        char words[384];
        embedded->started = false;
        dueq__embedded_log_tail(embedded->directory, words, sizeof words);
        status = dueq__fail(
            error, DUEQ_EMBEDDED, "the server of %s ended at once: %s", embedded->directory,
            words[0] ? words : "its server.log is empty; is there space on the disk?");
    } else if (free_to_start && dueq__embedded_start(embedded->directory, lock, error)) {
        status = error->status;
    } else {
        embedded->started = embedded->started || free_to_start;
        dueq__fail(error, DUEQ_EMBEDDED,
                   embedded->started
                       ? "the server of %s did not come up before the deadline; see its server.log"
                       : "a server of %s runs, but its socket cannot be reached from here; end the "
                         "process that holds the file `lock` in it",
                   embedded->directory);
    }
    close(lock);
    return status;
}

dueq_status dueq__embedded_ensure(struct dueq__embedded *embedded, struct dueq__error *error) {
    dueq_status status = take_share(embedded, error);
    if (status != DUEQ_OK)
        return status;
    switch (probe(embedded)) {
    case 0:
        embedded->started = false;
        return DUEQ_OK;
    case EAGAIN: /* the listening socket's backlog is full */
        dueq__fail(error, DUEQ_TIMEOUT,
                   "the server of %s runs but does not answer: it is stopped or very busy",
                   embedded->directory);
        return DUEQ_PENDING;
    case EACCES:
    case EPERM:
        return dueq__fail(error, DUEQ_EMBEDDED, "the server of %s belongs to another user",
                          embedded->directory);
    default:
        return start(embedded, error);
    }
}
