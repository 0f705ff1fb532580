#include "base.h"

#ifdef DUEQ__LOOP_POLL

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * For systems with neither epoll nor kqueue: a thread calls poll(2), and the program waits for the
 * end of a pipe. When a descriptor is ready, or the time has come, the thread writes a byte into
 * the pipe, and rests. The next dueq__loop_watch() or dueq__loop_wake_after() takes the byte out,
 * and the thread polls again.
 */

struct dueq__loop {
    int out[2];  /* the pipe */
    int stir[2]; /* a byte in it ends the thread's poll() */
    pid_t owner; /* the process with the thread: a forked child does not have it */
    pthread_t thread;
    struct pollfd *polled; /* what the thread polls; the first is `stir` */
    pthread_mutex_t lock;  /* for the members below */
    struct pollfd *set;    /* the watched descriptors, behind `stir` */
    struct pollfd *next;   /* a copy of `set`, until the thread has taken it; NULL: taken */
    size_t count, room;    /* of `set` */
    int64_t at_us;         /* when the time comes; DUEQ__NEVER: it does not */
    unsigned changes;      /* how often a call has changed the loop */
    bool told;             /* since the last change the thread has written the byte */
    bool ended;
};

static void drain(int pipe_end) {
    char bytes[64];
    while (read(pipe_end, bytes, sizeof bytes) > 0)
        ;
}

/* If the pipe is full, the write fails. The pipe has a byte anyway. */
static void put_byte(int pipe_end) {
    ssize_t written = write(pipe_end, "", 1);
    (void)written;
}

/* The caller holds the lock. Forgets what the thread has seen, and makes it look again. */
static void change(struct dueq__loop *loop) {
    loop->changes++;
    loop->told = false;
    drain(loop->out[0]);
    put_byte(loop->stir[1]);
}

/* One poll of the thread. The caller holds the lock, which is free while the thread waits. */
static void look(struct dueq__loop *loop) {
    if (loop->next) {
        free(loop->polled);
        loop->polled = loop->next;
        loop->next = NULL;
    }
    const unsigned seen = loop->changes;
    const size_t count = loop->told ? 1 : loop->count;
    int64_t left_us = -1;
    if (!loop->told && loop->at_us != DUEQ__NEVER) {
        left_us = loop->at_us - dueq__monotonic_us();
        left_us = left_us < 0 ? 0 : left_us;
    }
    pthread_mutex_unlock(&loop->lock);
    const int ready = dueq__poll(loop->polled, count, left_us);
    const int why = errno;
    pthread_mutex_lock(&loop->lock);
    const bool stirred = ready > 0 && loop->polled[0].revents;
    if (stirred)
        drain(loop->stir[0]);
    if (stirred || seen != loop->changes || (ready < 0 && (why == EINTR || why == EAGAIN)))
        return;
    loop->told = true;
    put_byte(loop->out[1]);
}

static void *run(void *data) {
    struct dueq__loop *loop = data;
    pthread_mutex_lock(&loop->lock);
    while (!loop->ended)
        look(loop);
    pthread_mutex_unlock(&loop->lock);
    return NULL;
}

/*
 * Gives the thread a copy of `set`. The caller holds the lock, or the thread does not run yet.
 * False: no memory, and nothing has changed.
 */
static bool hand_over(struct dueq__loop *loop) {
    struct pollfd *copy = malloc(loop->count * sizeof *copy);
    if (!copy)
        return false;
    memcpy(copy, loop->set, loop->count * sizeof *copy);
    free(loop->next);
    loop->next = copy;
    return true;
}

/* Makes room in `set` for so many descriptors. False: no memory. */
static bool set_room(struct dueq__loop *loop, size_t room) {
    struct pollfd *set = room > loop->room ? realloc(loop->set, room * sizeof *set) : loop->set;
    if (!set)
        return false;
    loop->set = set;
    loop->room = room > loop->room ? room : loop->room;
    return true;
}

static void free_loop(struct dueq__loop *loop) {
    for (int i = 0; i < 2; i++) {
        if (loop->out[i] >= 0)
            close(loop->out[i]);
        if (loop->stir[i] >= 0)
            close(loop->stir[i]);
    }
    free(loop->polled);
    free(loop->set);
    free(loop->next);
    free(loop);
}

struct dueq__loop *dueq__loop_new(bool timed) {
    struct dueq__loop *loop = malloc(sizeof *loop);
    (void)timed;
    if (!loop)
        return NULL;
    *loop = (struct dueq__loop){
        .out = {-1, -1}, .stir = {-1, -1}, .owner = getpid(), .count = 1, .at_us = DUEQ__NEVER};
    pthread_mutex_init(&loop->lock, NULL);
    bool made = dueq__pipe(loop->out) == 0 && dueq__pipe(loop->stir) == 0 && set_room(loop, 1);
    if (made) {
        loop->set[0] = (struct pollfd){.fd = loop->stir[0], .events = POLLIN};
        made = hand_over(loop);
    }
    int why = made ? dueq__thread_start(&loop->thread, run, loop) : errno;
    if (!why)
        return loop;
    free_loop(loop);
    errno = why;
    return NULL;
}

void dueq__loop_free(struct dueq__loop *loop) {
    if (!loop)
        return;
    if (loop->owner == getpid()) {
        pthread_mutex_lock(&loop->lock);
        loop->ended = true;
        change(loop);
        pthread_mutex_unlock(&loop->lock);
        pthread_join(loop->thread, NULL);
        pthread_mutex_destroy(&loop->lock);
    }
    free_loop(loop);
}

int dueq__loop_fd(const struct dueq__loop *loop) { return loop->out[0]; }

/*
 * Watches fd for these events; 0: no longer. The caller holds the lock. False: no memory, and
 * nothing has changed.
 */
static bool watch(struct dueq__loop *loop, int fd, short events) {
    size_t at = 1;
    while (at < loop->count && loop->set[at].fd != fd)
        at++;
    if (at == loop->count && !events)
        return true;
    if (at == loop->count && !set_room(loop, at + 1))
        return false;
    const struct pollfd before = at < loop->count ? loop->set[at] : loop->set[0];
    const size_t count = loop->count;
    if (events)
        loop->set[at] = (struct pollfd){.fd = fd, .events = events};
    else
        loop->set[at] = loop->set[count - 1];
    loop->count = !events ? count - 1 : at == count ? count + 1 : count;
    if (hand_over(loop))
        return true;
    loop->count = count;
    if (at < count)
        loop->set[at] = before;
    return false;
}

bool dueq__loop_watch(struct dueq__loop *loop, int fd, short events) {
    pthread_mutex_lock(&loop->lock);
    bool watched = watch(loop, fd, events);
    int why = errno;
    change(loop);
    pthread_mutex_unlock(&loop->lock);
    errno = why;
    return watched;
}

void dueq__loop_wake_after(struct dueq__loop *loop, int64_t us) {
    pthread_mutex_lock(&loop->lock);
    loop->at_us = us < 0 ? DUEQ__NEVER : dueq__monotonic_us() + us;
    change(loop);
    pthread_mutex_unlock(&loop->lock);
}

size_t dueq__loop_ready(struct dueq__loop *loop, int *fds, size_t most) {
    size_t found = 0;
    pthread_mutex_lock(&loop->lock);
    int ready = poll(loop->set, (nfds_t)loop->count, 0);
    for (size_t i = 1; ready > 0 && i < loop->count && found < most; i++)
        if (loop->set[i].revents)
            fds[found++] = loop->set[i].fd;
    pthread_mutex_unlock(&loop->lock);
    return ready < 0 ? most : found;
}

#else
typedef int dueq__no_poll; /* ISO C has no empty file */
#endif
