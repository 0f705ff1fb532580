#include "system.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

int system_do_not_block(int file) {
    int flags = fcntl(file, F_GETFL);
    return flags < 0 ? -1 : fcntl(file, F_SETFL, flags | O_NONBLOCK);
}

#ifdef __APPLE__

/* So long a signal may have to wait that comes just before poll(). */
#define SIGNAL_MS 200

/* Another thread's exec() may leave its program a copy: macOS has no call that does both. */
static int closed_by_exec(int file) {
    if (file >= 0)
        fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

static int without_sigpipe(int file) {
    const int on = 1;
    if (closed_by_exec(file) >= 0)
        setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    return file;
}

int system_pipe(int ends[2]) {
    if (pipe(ends) < 0)
        return -1;
    closed_by_exec(ends[0]);
    closed_by_exec(ends[1]);
    return 0;
}

int system_socket(int family, int type) { return without_sigpipe(socket(family, type, 0)); }

int system_accept(int listener, struct sockaddr *from, socklen_t *size) {
    int file = without_sigpipe(accept(listener, from, size));
    if (file >= 0)
        system_do_not_block(file);
    return file;
}

int system_unnamed_file(void) {
    char path[] = "/tmp/dueq-XXXXXX";
    int file = closed_by_exec(mkstemp(path));
    if (file >= 0)
        unlink(path);
    return file;
}

struct writer {
    void *cookie;
    ssize_t (*put)(void *cookie, const char *data, size_t size);
};

static int put_some(void *cookie, const char *data, int size) {
    const struct writer *writer = cookie;
    return (int)writer->put(writer->cookie, data, (size_t)size);
}

static int end_writer(void *writer) {
    free(writer);
    return 0;
}

FILE *system_writer(void *cookie, ssize_t (*put)(void *cookie, const char *data, size_t size)) {
    struct writer *writer = malloc(sizeof *writer);
    if (!writer)
        return NULL;
    *writer = (struct writer){cookie, put};
    FILE *file = funopen(writer, NULL, put_some, NULL, end_writer);
    if (!file)
        free(writer);
    return file;
}

int system_poll(struct pollfd *set, nfds_t count, int64_t timeout_ms, const sigset_t *mask) {
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, mask, &before);
    int ready = poll(set, count, timeout_ms < SIGNAL_MS ? (int)timeout_ms : SIGNAL_MS);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ready;
}

int system_end_with_parent(void) { return 0; }

void system_cond_init(pthread_cond_t *cond) { pthread_cond_init(cond, NULL); }

void system_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms) {
    const int64_t left = until_ms - time_monotonic_ms(), ms = left > 0 ? left : 0;
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    pthread_cond_timedwait_relative_np(cond, lock, &pause);
}

#else

#include <sys/mman.h>
#include <sys/prctl.h>

int system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int system_socket(int family, int type) { return socket(family, type | SOCK_CLOEXEC, 0); }

int system_accept(int listener, struct sockaddr *from, socklen_t *size) {
    return accept4(listener, from, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int system_unnamed_file(void) { return memfd_create("dueq", MFD_CLOEXEC); }

FILE *system_writer(void *cookie, ssize_t (*put)(void *cookie, const char *data, size_t size)) {
    return fopencookie(cookie, "w", (cookie_io_functions_t){.write = put});
}

int system_poll(struct pollfd *set, nfds_t count, int64_t timeout_ms, const sigset_t *mask) {
    const struct timespec left = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};
    return ppoll(set, count, timeout_ms < INT64_MAX ? &left : NULL, mask);
}

int system_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGTERM); }

void system_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void system_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms) {
    const struct timespec until = {until_ms / 1000, until_ms % 1000 * 1000000};
    pthread_cond_timedwait(cond, lock, &until);
}

#endif
