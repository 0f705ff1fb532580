#include <stdio.h>
#include <string.h>

#include "verbs.h"

/*
 * How late messages are delivered, and how long they run. Consumers count these times in buckets,
 * and measure.lua adds up the counts of all consumers.
 */

/*
 * The bounds of a decade, in hundredths of the decade's first bound. In a bucket the longest time
 * in whole ms is at most a tenth longer than the shortest. So a time is known within 5 %. 1, 2 and
 * 5 are among the bounds. Up to EXACT ms each whole number is a bound.
 */
enum { EXACT = 20, STEPS = 26, SHIFT = 14, DECADES = 8 };
static const int64_t steps[STEPS] = {100, 109, 119, 130, 141, 154, 168, 183, 200,
                                     219, 240, 263, 288, 316, 346, 379, 415, 455,
                                     500, 545, 595, 648, 707, 771, 841, 917};
_Static_assert(DUEQ_TIMING_BUCKETS == STEPS * DECADES - SHIFT + 2, "the last bucket has no bound");

int64_t dueq_timing_bound_ms(size_t bucket) {
    if (bucket <= EXACT || bucket >= DUEQ_TIMING_BUCKETS - 1)
        return bucket <= EXACT ? (int64_t)bucket : 0;
    int64_t unit = 1;
    for (size_t i = (bucket + SHIFT) / STEPS; i > 0; i--)
        unit *= 10;
    return steps[(bucket + SHIFT) % STEPS] * unit / 100;
}

static size_t bucket_of(int64_t ms) {
    size_t decade = 0, step = 0;
    int64_t unit = 1;
    if (ms <= EXACT)
        return ms > 0 ? (size_t)ms : 0;
    while (decade < DECADES && ms > 10 * unit) {
        unit *= 10;
        decade++;
    }
    if (decade == DECADES)
        return DUEQ_TIMING_BUCKETS - 1;
    while (step < STEPS && steps[step] * unit < 100 * ms)
        step++;
    return STEPS * decade + step - SHIFT;
}

void dueq__timing_add(dueq_timing *timing, int64_t ms) {
    timing->counts[bucket_of(ms)]++;
    timing->sum_ms += ms > 0 ? ms : 0;
}

static void add(dueq_timing *sum, const dueq_timing *more) {
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++)
        sum->counts[i] += more->counts[i];
    sum->sum_ms += more->sum_ms;
}

void dueq__timings_add(dueq_timings *sum, const dueq_timings *more) {
    add(&sum->late, &more->late);
    add(&sum->run, &more->run);
}

/*
 * The time that each time of a bucket counts as: the harmonic mean of the bucket's shortest and
 * longest time, which differs from both by the same part of them.
 */
static int64_t middle_ms(size_t bucket) {
    const int64_t most = dueq_timing_bound_ms(bucket);
    if (bucket <= EXACT || !most)
        return most ? most : bucket ? dueq_timing_bound_ms(bucket - 1) : 0;
    const int64_t least = dueq_timing_bound_ms(bucket - 1) + 1;
    return (2 * least * most + (least + most) / 2) / (least + most);
}

int64_t dueq__timing_quantile(const dueq_timing *timing, double part) {
    int64_t all = 0, below = 0;
    size_t bucket = 0;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++)
        all += timing->counts[i];
    if (!all)
        return -1;
    const double wanted = part * (double)all;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++) {
        below += timing->counts[i];
        bucket = i;
        if (timing->counts[i] && (double)below >= wanted)
            break;
    }
    return middle_ms(bucket);
}

/*
 * As text: "NAME:NUMBER NAME:NUMBER ...". NAME is l (late) or r (run) with the number of a bucket:
 * how many times it counts; or the letter alone: the sum of the times in ms.
 */

#define MOST INT64_C(9007199254740991)
enum { TEXT_ROOM = 2 * (DUEQ_TIMING_BUCKETS + 1) * 32 };

void dueq__timings_read(dueq_timings *timings, dueq_bytes text) {
    dueq_bytes number, name;
    while (text.size) {
        int64_t bucket, more;
        dueq__take_word(&text, ' ', &number);
        if (!dueq__take_word(&number, ':', &name) || !name.size ||
            !dueq__read_number(number, 0, MOST, &more))
            continue;
        const char which = *(const char *)name.data;
        dueq_timing *timing = which == 'l' ? &timings->late : which == 'r' ? &timings->run : NULL;
        name = (dueq_bytes){(const char *)name.data + 1, name.size - 1};
        int64_t *counter = NULL;
        if (timing && !name.size)
            counter = &timing->sum_ms;
        else if (timing && dueq__read_number(name, 0, DUEQ_TIMING_BUCKETS - 1, &bucket))
            counter = &timing->counts[bucket];
        if (counter && *counter + more <= MOST)
            *counter += more;
    }
}

static int put_timing(char *out, char name, const dueq_timing *timing) {
    char *at = out;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++)
        if (timing->counts[i])
            at += sprintf(at, "%c%zu:%lld ", name, i, (long long)timing->counts[i]);
    if (at != out)
        at += sprintf(at, "%c:%lld ", name, (long long)timing->sum_ms);
    return (int)(at - out);
}

static void decode_measured(dueq_client *client, const struct dueq__reply *reply) {
    int64_t number;
    if (!dueq__reply_number(reply, &number))
        dueq__answer_unexpected(client);
    else
        dueq__op_finish(client, number ? DUEQ_OK : DUEQ_EMPTY);
}

dueq_status dueq__measure_submit(dueq_queue *queue, const dueq_timings *timings) {
    struct dueq__resp words;
    char text[TEXT_ROOM];
    dueq__client_check_fork(queue->client);
    dueq_status status =
        dueq__verb_begin(queue, &dueq__script_measure, false, 1, decode_measured, &words);
    if (status)
        return status;
    int size = put_timing(text, 'l', &timings->late);
    size += put_timing(text + size, 'r', &timings->run);
    dueq__resp_bytes(&words, text, (size_t)size);
    return dueq__op_submit(queue->client, &words);
}
