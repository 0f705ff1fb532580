#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net.h"

/*
 * getaddrinfo() may wait for name servers as long as resolv.conf(5) says, and cannot be cancelled.
 * So it runs in a thread, which goes on even if no connection needs its result any more.
 * Connections that resolve the same host and port at the same time share a thread. So a process has
 * at most one resolving thread for each server.
 */

/*
 * A fork() waits for these threads for this long. A thread that finds the name in a file ends
 * sooner, also on a busy machine. A name server may never answer.
 */
#define FORK_WAIT_MS 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `threads`, `next` and `refs` */
static pthread_cond_t ended;                             /* a thread is done */
static struct dueq__resolution *threads;                 /* not joined yet */

static void release(struct dueq__resolution *resolution) {
    if (--resolution->refs)
        return;
    if (resolution->addresses)
        freeaddrinfo(resolution->addresses);
    for (int i = 0; i < 2; i++)
        if (resolution->done_pipe[i] >= 0)
            close(resolution->done_pipe[i]);
    free(resolution);
}

/* Joins the threads that are done: they end at once. */
static void join_finished(void) {
    for (struct dueq__resolution **at = &threads, *first; (first = *at);) {
        if (first->done) {
            *at = first->next;
            pthread_join(first->thread, NULL);
            release(first);
        } else {
            at = &first->next;
        }
    }
}

/*
 * fork(). The C library's resolver has locks. A thread holds them for moments in getaddrinfo() and
 * at its own end, but not while it waits for a name server. If the process forked while a thread
 * held a lock, the child could never resolve a name. So fork() waits until the threads have ended,
 * for FORK_WAIT_MS at most.
 */
static void before_fork(void) {
    int64_t until_ms = dueq__monotonic_ms() + FORK_WAIT_MS;
    pthread_mutex_lock(&lock);
    for (join_finished(); threads && dueq__cond_wait(&ended, &lock, until_ms); join_finished())
        ;
}

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
    dueq__cond_init(&ended); /* threads of the parent may wait for the condition */
    while (threads) {
        struct dueq__resolution *first = threads;
        threads = first->next;
        release(first);
    }
    pthread_mutex_unlock(&lock);
}

/* Runs when the library is loaded. Later another thread could fork before the handlers are set. */
__attribute__((constructor)) static void prepare(void) {
    dueq__cond_init(&ended);
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
}

static void *run(void *opaque) {
    struct dueq__resolution *resolution = opaque;
    resolve(resolution, AI_ADDRCONFIG);
    pthread_mutex_lock(&lock);
    resolution->done = true;
    (void)!write(resolution->done_pipe[1], "", 1);
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct dueq__resolution *find(const struct dueq__resolution *wanted) {
    struct dueq__resolution *at = threads;
    while (at &&
           (at->done || strcmp(at->host, wanted->host) != 0 || strcmp(at->port, wanted->port) != 0))
        at = at->next;
    return at;
}

/*
 * If a thread resolves the same host and port already, shares its resolution, and frees `made`.
 * Else starts a thread for `made`. NULL: no thread could be started, errno says why.
 */
static struct dueq__resolution *share_or_start(struct dueq__resolution *made) {
    int problem = 0;
    pthread_mutex_lock(&lock);
    struct dueq__resolution *found = find(made);
    if (!found && dueq__pipe(made->done_pipe) != 0)
        problem = errno;
    else if (!found && !(problem = dueq__thread_start(&made->thread, run, made))) {
        made->refs++;
        made->next = threads;
        found = threads = made;
    }
    if (found && found != made)
        found->refs++;
    if (found != made)
        release(made);
    pthread_mutex_unlock(&lock);
    errno = problem;
    return found;
}

struct dueq__resolution *dueq__resolve(const char *host, int port) {
    struct dueq__resolution *made = calloc(1, sizeof *made + strlen(host) + 1);
    if (!made)
        return NULL;
    made->refs = 1;
    made->done_pipe[0] = made->done_pipe[1] = -1;
    strcpy(made->host, host);
    snprintf(made->port, sizeof made->port, "%d", port);
    resolve(made, AI_NUMERICHOST);
    made->done = made->problem != EAI_NONAME;
    return made->done ? made : share_or_start(made);
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
    join_finished();
    pthread_mutex_unlock(&lock);
}
