/*
 * One descriptor that stands for several, and for a time: an event loop of the program waits for
 * it. Each system has its own way: loop_linux.c, loop_kqueue.c.
 */
#ifndef DUEQ_LOOP_H
#define DUEQ_LOOP_H

#include "base.h"

struct dueq__loop;

/* timed: dueq__loop_wake_after() will be called. NULL: errno says why. */
struct dueq__loop *dueq__loop_new(bool timed);
/*
 * Closes the descriptor. The watched ones stay open. NULL is safe. A forked child frees its copy,
 * and does nothing else with the parent's loop, which the two may share.
 */
void dueq__loop_free(struct dueq__loop *loop);
/* The descriptor, which poll() finds readable when a watched one is ready, and when the time comes. */
int dueq__loop_fd(const struct dueq__loop *loop);
/*
 * Watches a descriptor for these events of poll(2), and no longer for those before; 0: for none.
 * Call it with 0 before the descriptor is closed: a forked child may have a copy, with which the
 * descriptor would stay in the loop (epoll(7)). False: errno says why.
 */
bool dueq__loop_watch(struct dueq__loop *loop, int fd, short events);
/* Sets the time, in place of the one before. us: from now on; less than 0: never. */
void dueq__loop_wake_after(struct dueq__loop *loop, int64_t us);

#endif
