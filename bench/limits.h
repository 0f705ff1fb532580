/* What the measures of one server's limits share: limits.py compares them with what is promised. */
#ifndef DUEQ_BENCH_LIMITS_H
#define DUEQ_BENCH_LIMITS_H

#include "driver.h"

#define LIMITS_BODY 64

/* Says on stderr how far a long step is. */
void show_progress(const char *step, size_t done, size_t all);
/* Returns at a time of CLOCK_REALTIME. */
void sleep_until_ms(int64_t at_ms);
int64_t clock_ms(void);

/*
 * How long scripts hold the server: by SLOWLOG, which counts also the time in which the system ran
 * other processes in its place, but never more than the CPU time that the server used for the call.
 */
struct watch {
    redisContext *control;
    clockid_t clock;
    double begun_us;
    double longest_ms, longest_slowlog_ms;
    size_t scripts;
};

void watch_open(struct watch *watch, redisContext *control);
void watch_begin(struct watch *watch);
/* The longest script since watch_begin(), in ms. */
double watch_end(struct watch *watch);
/* Prints "name": {...} with what LATENCY says. */
void watch_print(const struct watch *watch, const char *name);

/* limits_scripts.c: the longest script of each verb with the largest call, in a queue as it is. */
void measure_scripts(struct watch *watch, struct link *link);

#endif
