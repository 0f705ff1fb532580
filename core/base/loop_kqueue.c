#include "base.h"

#ifdef DUEQ__LOOP_KQUEUE

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/event.h>
#include <sys/time.h>
#include <unistd.h>

/* A kqueue(2), which is itself a descriptor for poll(2), and a timer in it: macOS and the BSDs. */

#define TIMER 1 /* the timer's name in the queue */

struct dueq__loop {
    int queue;
    pid_t owner; /* a forked child has no copy of the queue: its `queue` may be another file */
};

struct dueq__loop *dueq__loop_new(bool timed) {
    struct dueq__loop *loop = malloc(sizeof *loop);
    (void)timed;
    if (!loop)
        return NULL;
    *loop = (struct dueq__loop){.queue = kqueue(), .owner = getpid()};
    if (loop->queue < 0) {
        free(loop);
        return NULL;
    }
    fcntl(loop->queue, F_SETFD, FD_CLOEXEC);
    return loop;
}

void dueq__loop_free(struct dueq__loop *loop) {
    if (loop && loop->owner == getpid())
        close(loop->queue);
    free(loop);
}

int dueq__loop_fd(const struct dueq__loop *loop) { return loop->queue; }

static bool change(const struct dueq__loop *loop, int fd, int16_t filter, bool add) {
    struct kevent event;
    EV_SET(&event, fd, filter, add ? EV_ADD : EV_DELETE, 0, 0, NULL);
    return kevent(loop->queue, &event, 1, NULL, 0, NULL) == 0 || !add;
}

bool dueq__loop_watch(struct dueq__loop *loop, int fd, short events) {
    return change(loop, fd, EVFILT_READ, events & POLLIN) &&
           change(loop, fd, EVFILT_WRITE, events & POLLOUT);
}

void dueq__loop_wake_after(struct dueq__loop *loop, int64_t us) {
    const struct timespec at_once = {0};
    struct kevent events[16];
    /*
     * Takes off the events that have happened. Else the queue would stay readable for a descriptor
     * whose bytes have been read, or for a time that has come.
     */
    kevent(loop->queue, NULL, 0, events, sizeof events / sizeof *events, &at_once);
    EV_SET(&events[0], TIMER, EVFILT_TIMER, EV_DELETE, 0, 0, NULL);
    kevent(loop->queue, events, 1, NULL, 0, NULL);
    EV_SET(&events[0], TIMER, EVFILT_TIMER, EV_ADD | EV_ONESHOT, NOTE_USECONDS, us, NULL);
    if (us >= 0)
        kevent(loop->queue, events, 1, NULL, 0, NULL);
}

size_t dueq__loop_ready(struct dueq__loop *loop, int *fds, size_t most) {
    const struct timespec at_once = {0};
    struct kevent events[DUEQ__MOST_READY];
    most = most < DUEQ__MOST_READY ? most : DUEQ__MOST_READY;
    int count = kevent(loop->queue, NULL, 0, events, (int)most, &at_once);
    for (int i = 0; i < count; i++)
        fds[i] = (int)events[i].ident;
    return count < 0 ? most : (size_t)count;
}

#else
typedef int dueq__no_kqueue; /* ISO C has no empty file */
#endif
