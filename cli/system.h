/* What systems do in their own ways: macOS lacks some calls of Linux. */
#ifndef DUEQ_CLI_SYSTEM_H
#define DUEQ_CLI_SYSTEM_H

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* ppoll */
#endif

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#ifdef __APPLE__
#undef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* system_socket() and system_accept() have set SO_NOSIGPIPE */
#define POLLRDHUP POLLHUP
#endif

/* These are closed by exec(). -1: errno says why. */
int system_pipe(int ends[2]);
int system_socket(int family, int type);
/* The socket does not block. */
int system_accept(int listener, struct sockaddr *from, socklen_t *size);
/* A file without a name, in memory where the system has such files. */
int system_unnamed_file(void);

/* A file whose bytes put() takes. put() returns how many it took; 0: it failed. */
FILE *system_writer(void *cookie, ssize_t (*put)(void *cookie, const char *data, size_t size));

int system_do_not_block(int file);
/* As ppoll(2), with a timeout in ms; INT64_MAX: none. */
int system_poll(struct pollfd *set, nfds_t count, int64_t timeout_ms, const sigset_t *mask);
/* A child gets SIGTERM when its parent ends. Nothing on macOS, which cannot do that. */
int system_end_with_parent(void);
/* A condition for system_wait(), which waits at most until time_monotonic_ms() is until_ms. */
void system_cond_init(pthread_cond_t *cond);
void system_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms);

#endif
