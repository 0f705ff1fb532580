#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

static int64_t read_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t dueq__monotonic_us(void) { return read_us(CLOCK_MONOTONIC); }

int64_t dueq__monotonic_ms(void) { return dueq__monotonic_us() / 1000; }

int64_t dueq__wall_ms(void) { return read_us(CLOCK_REALTIME) / 1000; }

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

void dueq__process_lock(void) { pthread_mutex_lock(&process_lock); }

void dueq__process_unlock(void) { pthread_mutex_unlock(&process_lock); }

/* Runs when the library is loaded. Later another thread could fork before the handlers are set. */
__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(dueq__process_lock, dueq__process_unlock, dueq__process_unlock);
}

bool dueq__cond_init(pthread_cond_t *cond) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
#ifndef __APPLE__
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
#endif
    bool made = pthread_cond_init(cond, &clock) == 0;
    pthread_condattr_destroy(&clock);
    return made;
}

bool dueq__cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms) {
    if (until_ms == DUEQ__NEVER)
        return pthread_cond_wait(cond, lock) == 0;
#ifdef __APPLE__
    int64_t left = until_ms - dueq__monotonic_ms();
    const int64_t ms = left > 0 ? left : 0;
#else
    const int64_t ms = until_ms;
#endif
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
#ifdef __APPLE__
    return pthread_cond_timedwait_relative_np(cond, lock, &time) == 0;
#else
    return pthread_cond_timedwait(cond, lock, &time) == 0;
#endif
}

#ifdef __APPLE__
/*
 * macOS cannot create a descriptor with these flags. If another thread calls fork() and exec()
 * before they are set, the new program has a copy of the descriptor.
 */
static void set_flags(int fd) {
    int on = 1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
}

int dueq__socket(int family) {
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd >= 0)
        set_flags(fd);
    return fd;
}

int dueq__poll(struct pollfd *set, size_t count, int64_t timeout_us) {
    const int64_t ms = (timeout_us + 999) / 1000;
    return poll(set, (nfds_t)count, timeout_us < 0 ? -1 : ms > INT_MAX ? INT_MAX : (int)ms);
}

int dueq__pipe(int ends[2]) {
    int failed = pipe(ends);
    for (int i = 0; !failed && i < 2; i++)
        set_flags(ends[i]);
    return failed;
}
#else
int dueq__socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int dueq__poll(struct pollfd *set, size_t count, int64_t timeout_us) {
    const struct timespec pause = {timeout_us / 1000000, timeout_us % 1000000 * 1000};
    return ppoll(set, count, timeout_us < 0 ? NULL : &pause, NULL);
}

int dueq__pipe(int ends[2]) { return pipe2(ends, O_NONBLOCK | O_CLOEXEC); }
#endif

void dueq__host_name(char *out, size_t room) {
    char name[256] = "";
    if (gethostname(name, sizeof name - 1))
        *name = '\0';
    dueq_escape(out, room, *name ? name : "?");
}

int dueq__thread_start(pthread_t *thread, void *(*run)(void *), void *data) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(thread, NULL, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}
