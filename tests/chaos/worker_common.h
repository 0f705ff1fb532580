/* What every worker of a chaos run in C has: its ledger, its chance, its clock. */
#ifndef CHAOS_WORKER_COMMON_H
#define CHAOS_WORKER_COMMON_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dueq.h"

static struct {
    const char *number, *stop;
    int ledger;
    char lines[DUEQ_MAX_BATCH * 256];
    size_t length;
    int64_t clock_ns;
    uint64_t random;
} worker;

static inline _Noreturn void die(const char *what) {
    perror(what);
    exit(1);
}

/*
 * clock: the run's time minus the monotonic one, in ns, from the environment; it feels no jump of
 * the clock.
 */
static inline void begin_worker(const char *ledger, const char *number, const char *seed,
                                const char *stop) {
    const char *clock = getenv("CHAOS_CLOCK");
    worker.ledger = open(ledger, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (worker.ledger < 0 || !clock)
        die(ledger);
    worker.clock_ns = strtoll(clock, NULL, 10);
    worker.number = number;
    worker.random = strtoull(seed, NULL, 10) * 2654435761U + 1;
    worker.stop = stop;
}

static inline int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t now_ms(void) { return (monotonic_ns() + worker.clock_ns) / 1000000; }

static inline void sleep_ms(int64_t ms) {
    if (ms > 0)
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* A number from 0 to below `end`, the same sequence for the same seed. */
static inline unsigned below(unsigned end) {
    worker.random ^= worker.random << 13;
    worker.random ^= worker.random >> 7;
    worker.random ^= worker.random << 17;
    return (unsigned)((worker.random >> 32) % end);
}

static inline bool rare(unsigned of_thousand) { return below(1000) < of_thousand; }

static inline bool stopped(void) { return access(worker.stop, F_OK) == 0; }

static inline void flush(void) {
    if (worker.length &&
        write(worker.ledger, worker.lines, worker.length) != (ssize_t)worker.length)
        die("ledger");
    worker.length = 0;
}

/* Adds a line; flush() writes all that were added at once. */
__attribute__((format(printf, 1, 2))) static inline void note(const char *format, ...) {
    size_t room = sizeof worker.lines - worker.length;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(worker.lines + worker.length, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size + 1 >= room)
        die("too much for the ledger");
    worker.length += (size_t)size;
    worker.lines[worker.length++] = '\n';
}

static inline int mark_size(const dueq_message *message) {
    const char *space = memchr(message->body.data, ' ', message->body.size);
    return (int)(space ? space - (const char *)message->body.data : (ptrdiff_t)message->body.size);
}

#define KEY "%.*s %" PRIu32
#define KEY_OF(message)                                                                            \
    mark_size(message), (const char *)(message)->body.data, (message)->deliveries

#endif
