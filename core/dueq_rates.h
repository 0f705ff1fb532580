/* A part of dueq.h: what a queue did by the minute and by the hour, as rates answers it. */
#ifndef DUEQ_RATES_H
#define DUEQ_RATES_H

#include "dueq.h"

/*
 * What a queue did from start_ms on, for span_ms: usually a minute or an hour of the server's clock. late: the p50
 * and the p99 of how long after they were due, or ready, messages were delivered; run: the same of how long the program
 * took to settle them. They are known within 5 %, up to a day. Consumers with a heartbeat measure them; -1: nothing was
 * measured.
 */
typedef struct dueq_rate {
    int64_t start_ms, span_ms;
    int64_t pushed, reserved, acked, retried, expired, died, cancelled;
    int64_t late_p50_ms, late_p99_ms, run_p50_ms, run_p99_ms;
} dueq_rate;

/* Times by their size: counts[i] are those over the bound before and not over dueq_timing_bound_ms(i). */
typedef struct dueq_timing {
    int64_t counts[DUEQ_TIMING_BUCKETS], sum_ms;
} dueq_timing;

/* Since the queue exists. A consumer measures the run of each message, the lateness of ten in one reserve of a second. */
typedef struct dueq_timings {
    dueq_timing late, run;
} dueq_timings;

/*
 * 0, 1, 2 ... 20 ms, then bounds between which the longest time is at most a tenth longer than the shortest, with 50, 100,
 * 200, 500 ms and so on among them, up to 100,000 s. The last bucket has no bound: 0, too.
 */
DUEQ_API int64_t dueq_timing_bound_ms(size_t bucket);

#endif
