#include <signal.h>

#include "base.h"

int dueq__thread_start(pthread_t *thread, void *(*run)(void *), void *data) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(thread, NULL, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}
