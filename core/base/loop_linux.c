#include "base.h"

#ifdef DUEQ__LOOP_LINUX

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* An epoll instance, which is itself a descriptor for poll(2), and a timer in it. */

struct dueq__loop {
    int epoll, timer; /* timer: -1: none */
};

struct dueq__loop *dueq__loop_new(bool timed) {
    struct dueq__loop *loop = malloc(sizeof *loop);
    if (!loop)
        return NULL;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->timer = timed ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) : -1;
    if (loop->epoll >= 0 &&
        (!timed || (loop->timer >= 0 && dueq__loop_watch(loop, loop->timer, POLLIN))))
        return loop;
    int why = errno;
    dueq__loop_free(loop);
    errno = why;
    return NULL;
}

void dueq__loop_free(struct dueq__loop *loop) {
    if (loop && loop->epoll >= 0)
        close(loop->epoll);
    if (loop && loop->timer >= 0)
        close(loop->timer);
    free(loop);
}

int dueq__loop_fd(const struct dueq__loop *loop) { return loop->epoll; }

bool dueq__loop_watch(struct dueq__loop *loop, int fd, short events) {
    /* The bits of epoll(7) are those of poll(2). */
    struct epoll_event event = {.events = (uint32_t)events, .data.fd = fd};
    if (!events)
        return epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL) == 0;
    return epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event) == 0 ||
           epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void dueq__loop_wake_after(struct dueq__loop *loop, int64_t us) {
    /* A time of zero disarms the timer. So a time at once is a nanosecond from now. */
    struct itimerspec when = {0};
    if (us >= 0) {
        when.it_value.tv_sec = us / 1000000;
        when.it_value.tv_nsec = (long)(us % 1000000) * 1000 + 1;
    }
    timerfd_settime(loop->timer, 0, &when, NULL);
}

size_t dueq__loop_ready(struct dueq__loop *loop, int *fds, size_t most) {
    struct epoll_event events[DUEQ__MOST_READY];
    most = most < DUEQ__MOST_READY ? most : DUEQ__MOST_READY;
    int count = epoll_wait(loop->epoll, events, (int)most, 0);
    for (int i = 0; i < count; i++)
        fds[i] = events[i].data.fd;
    return count < 0 ? most : (size_t)count;
}

#else
typedef int dueq__no_linux; /* ISO C has no empty file */
#endif
