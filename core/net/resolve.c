#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "net.h"

/*
 * getaddrinfo() may wait for name servers as long as resolv.conf(5) says, and cannot be cancelled.
 * So it runs in a thread, which runs to its end also when no connection waits for it any more.
 * Connections that resolve the same host and port at the same time share a thread. So a process has
 * at most one such thread for each server.
 */

/*
 * A fork() waits for these threads for this long. A thread that finds the name in a file ends
 * sooner, also on a busy machine. A name server may never answer.
 */
#define FORK_WAIT_MS 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `threads`, `next` and `refs` */
static struct dueq__resolution *threads;                 /* not joined yet */

static void release(struct dueq__resolution *resolution) {
    if (--resolution->refs)
        return;
    if (resolution->addresses)
        freeaddrinfo(resolution->addresses);
    if (resolution->done_event >= 0)
        close(resolution->done_event);
    free(resolution);
}

/* Joins the threads that have ended, or end before `until` (CLOCK_REALTIME). */
static void join_finished(struct timespec until) {
    for (struct dueq__resolution **at = &threads, *first; (first = *at);) {
        if (pthread_timedjoin_np(first->thread, NULL, &until) == 0) {
            *at = first->next;
            release(first);
        } else {
            at = &first->next;
        }
    }
}

/*
 * fork(). The C library's resolver has locks. A thread has them at times within getaddrinfo(), and
 * once more as it ends, but not while it waits for a name server. A child that was forked while a
 * thread had a lock could never resolve a name. So fork() waits until the threads have ended, for
 * FORK_WAIT_MS at most.
 */
static void before_fork(void) {
    struct timespec until;
    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += FORK_WAIT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    join_finished(until);
}

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
    while (threads) {
        struct dueq__resolution *first = threads;
        threads = first->next;
        release(first);
    }
    pthread_mutex_unlock(&lock);
}

/* When the library is loaded: later, another thread could fork before the handlers are there. */
__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

/* Resolving */

static void resolve(struct dueq__resolution *resolution, int flags) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    int problem = getaddrinfo(resolution->host, resolution->port, &hints, &addresses);
    resolution->saved_errno = errno;
    resolution->addresses = problem ? NULL : addresses;
    resolution->problem = problem;
    resolution->done = true;
}

static void *run(void *opaque) {
    struct dueq__resolution *resolution = opaque;
    resolve(resolution, AI_ADDRCONFIG);
    eventfd_write(resolution->done_event, 1);
    return NULL;
}

static struct dueq__resolution *find(const struct dueq__resolution *wanted) {
    struct dueq__resolution *at = threads;
    while (at &&
           (at->done || strcmp(at->host, wanted->host) != 0 || strcmp(at->port, wanted->port) != 0))
        at = at->next;
    return at;
}

/* 0, or an errno. */
static int start(struct dueq__resolution *resolution) {
    resolution->done_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (resolution->done_event < 0)
        return errno;
    int problem = dueq__thread_start(&resolution->thread, run, resolution);
    if (problem)
        return problem;
    resolution->refs++;
    resolution->next = threads;
    threads = resolution;
    return 0;
}

/*
 * Shares a resolution that goes on for the same host and port, and frees `made`. Else starts
 * `made`. NULL: it could not be started, errno says why.
 */
static struct dueq__resolution *share_or_start(struct dueq__resolution *made) {
    pthread_mutex_lock(&lock);
    struct dueq__resolution *shared = find(made);
    int problem = shared ? 0 : start(made);
    if (shared)
        shared->refs++;
    if (shared || problem)
        release(made);
    pthread_mutex_unlock(&lock);
    errno = problem;
    return shared ? shared : problem ? NULL : made;
}

struct dueq__resolution *dueq__resolve(const char *host, int port) {
    struct dueq__resolution *made = calloc(1, sizeof *made + strlen(host) + 1);
    if (!made)
        return NULL;
    made->refs = 1;
    made->done_event = -1;
    strcpy(made->host, host);
    snprintf(made->port, sizeof made->port, "%d", port);
    resolve(made, AI_NUMERICHOST);
    if (made->problem != EAI_NONAME)
        return made;
    made->done = false;
    return share_or_start(made);
}

const char *dueq__resolution_problem(const struct dueq__resolution *resolution) {
    return resolution->problem == EAI_SYSTEM ? strerror(resolution->saved_errno)
                                             : gai_strerror(resolution->problem);
}

void dueq__resolution_drop(struct dueq__resolution *resolution) {
    if (!resolution)
        return;
    pthread_mutex_lock(&lock);
    release(resolution);
    join_finished((struct timespec){0});
    pthread_mutex_unlock(&lock);
}
