#include <signal.h>
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

/* When the library is loaded: later, another thread could fork before the handlers are there. */
__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(dueq__process_lock, dueq__process_unlock, dueq__process_unlock);
}

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
