#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"

/*
 * getaddrinfo() may wait for name servers as long as resolv.conf(5) says, and cannot be ended. So it runs
 * in a thread, which goes on alone when nobody waits for it any more. All who ask for the same host and port
 * meanwhile share it: a process has at most one such thread for each server that it names.
 */

struct dueq__resolution {
    struct dueq__resolution *next; /* of those under way */
    unsigned holders;              /* who asked, and the thread until it is done */
    bool done;
    int event;           /* an eventfd(2), readable once it is done; -1: it was done at once */
    int problem, reason; /* what getaddrinfo() returned, and errno then */
    struct addrinfo *addresses;
    char port[12];
    char host[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all of a resolution but its name */
static struct dueq__resolution *under_way;

static void release(struct dueq__resolution *resolution) {
    if (--resolution->holders)
        return;
    if (resolution->addresses)
        freeaddrinfo(resolution->addresses);
    if (resolution->event >= 0)
        close(resolution->event);
    free(resolution);
}

/* ---- fork(): the child has none of the threads ---- */

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
    while (under_way) {
        struct dueq__resolution *first = under_way;
        under_way = first->next;
        release(first);
    }
    pthread_mutex_unlock(&lock);
}

static void prepare(void) { pthread_atfork(before_fork, after_fork, in_child); }

/* ---- Resolving ---- */

static void resolve(struct dueq__resolution *resolution, int flags) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    int problem = getaddrinfo(resolution->host, resolution->port, &hints, &addresses);
    int reason = errno;
    pthread_mutex_lock(&lock);
    resolution->addresses = problem ? NULL : addresses;
    resolution->problem = problem;
    resolution->reason = reason;
    resolution->done = true;
    pthread_mutex_unlock(&lock);
}

static void *run(void *opaque) {
    struct dueq__resolution *resolution = opaque, **at = &under_way;
    resolve(resolution, AI_ADDRCONFIG);
    pthread_mutex_lock(&lock);
    while (*at != resolution)
        at = &(*at)->next;
    *at = resolution->next;
    eventfd_write(resolution->event, 1);
    release(resolution);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct dueq__resolution *find(const struct dueq__resolution *wanted) {
    struct dueq__resolution *at = under_way;
    while (at && (strcmp(at->host, wanted->host) != 0 || strcmp(at->port, wanted->port) != 0))
        at = at->next;
    return at;
}

/* 0 or an errno. */
static int start(struct dueq__resolution *resolution) {
    pthread_t thread;
    resolution->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (resolution->event < 0)
        return errno;
    int problem = dueq__thread_start(&thread, run, resolution);
    if (problem)
        return problem;
    pthread_detach(thread);
    resolution->holders++;
    resolution->next = under_way;
    under_way = resolution;
    return 0;
}

/* Shares the one that is under way for the same name, or starts this one; NULL and errno: it cannot. */
static struct dueq__resolution *share_or_start(struct dueq__resolution *made) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    struct dueq__resolution *shared = find(made);
    int problem = shared ? 0 : start(made);
    if (shared)
        shared->holders++;
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
    made->holders = 1;
    made->event = -1;
    strcpy(made->host, host);
    snprintf(made->port, sizeof made->port, "%d", port);
    resolve(made, AI_NUMERICHOST);
    if (made->problem != EAI_NONAME)
        return made;
    made->done = false;
    return share_or_start(made);
}

int dueq__resolution_fd(const struct dueq__resolution *resolution) { return resolution->event; }

bool dueq__resolution_done(const struct dueq__resolution *resolution) {
    pthread_mutex_lock(&lock);
    bool done = resolution->done;
    pthread_mutex_unlock(&lock);
    return done;
}

const struct addrinfo *dueq__resolution_addresses(const struct dueq__resolution *resolution) {
    return resolution->addresses;
}

const char *dueq__resolution_problem(const struct dueq__resolution *resolution) {
    return resolution->problem == EAI_SYSTEM ? strerror(resolution->reason)
                                             : gai_strerror(resolution->problem);
}

void dueq__resolution_drop(struct dueq__resolution *resolution) {
    if (!resolution)
        return;
    pthread_mutex_lock(&lock);
    release(resolution);
    pthread_mutex_unlock(&lock);
}
