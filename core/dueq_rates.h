/* A part of dueq.h: what dueq_rates() returns. */
#ifndef DUEQ_RATES_H
#define DUEQ_RATES_H

#include "dueq.h"

/*
 * What a queue did from start_ms on, for span_ms: usually a minute or an hour of the server's
 * clock.
 * late: the time from when a message was due, or ready, until its delivery. run: the time from its
 * delivery until its program settled it. p50: half of the messages took at most this time; p99: 99
 * of 100 did. Times up to a day are known within 5 %. Consumers with a heartbeat measure them. -1:
 * nothing was measured.
 */
typedef struct dueq_rate {
    /* Made from core/results.toml by core/verbs.py: the fields of dueq_rate. */
    int64_t start_ms;  /* the begin of the span */
    int64_t span_ms;   /* the length of the span */
    int64_t pushed;    /* messages stored */
    int64_t reserved;  /* deliveries */
    int64_t acked;     /* messages acknowledged */
    int64_t retried;   /* retries */
    int64_t expired;   /* messages whose ttl ended before their first delivery */
    int64_t died;      /* messages that became dead, moved to a dead-letter queue or were dropped */
    int64_t cancelled; /* messages cancelled */
    /*
     * The p50 of the times from when a message was ready, or due, until its delivery. -1: nothing
     * was measured.
     */
    int64_t late_p50_ms;
    int64_t late_p99_ms; /* the p99 of the same times; -1: nothing was measured */
    /*
     * The p50 of the times from a delivery until its message was acknowledged, retried or settled
     * otherwise. -1: nothing was measured.
     */
    int64_t run_p50_ms;
    int64_t run_p99_ms; /* the p99 of the same times; -1: nothing was measured */
    /* The end of what was made. */
} dueq_rate;

/*
 * Measured times. counts[i]: how many times are longer than dueq_timing_bound_ms(i - 1), but not
 * longer than dueq_timing_bound_ms(i). sum_ms: the sum of all times.
 */
typedef struct dueq_timing {
    int64_t counts[DUEQ_TIMING_BUCKETS], sum_ms;
} dueq_timing;

/*
 * All times since the queue exists. A consumer measures the run of each message, but the lateness
 * of only ten messages, in one reserve of each second.
 */
typedef struct dueq_timings {
    dueq_timing late, run;
} dueq_timings;

/*
 * Returns the longest time that a bucket counts, in ms: 0, 1, 2 ... 20, then bounds that are each
 * at most a tenth larger than the bound before, up to 100,000 s. 50, 100, 200, 500 and so on are
 * bounds.
 * bucket: 0 to DUEQ_TIMING_BUCKETS - 1. The last bucket has no bound: returns 0.
 */
DUEQ_API int64_t dueq_timing_bound_ms(size_t bucket);

#endif
