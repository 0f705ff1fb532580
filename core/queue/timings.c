#include <stdio.h>
#include <string.h>

#include "queue.h"

/* How late messages are delivered, and how long they run: counts by size, which consumers add up (measure.lua). */

int64_t dueq_timing_bound_ms(size_t bucket) {
    static const int64_t steps[] = {1, 2, 5};
    int64_t bound = bucket < DUEQ_TIMING_BUCKETS - 1 ? steps[bucket % 3] : 0;
    for (size_t i = 3; bound && i <= bucket; i += 3)
        bound *= 10;
    return bound;
}

void dueq__timing_add(dueq_timing *timing, int64_t ms) {
    size_t bucket = 0;
    ms = ms > 0 ? ms : 0;
    while (bucket < DUEQ_TIMING_BUCKETS - 1 && ms > dueq_timing_bound_ms(bucket))
        bucket++;
    timing->counts[bucket]++;
    timing->sum_ms += ms;
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

int64_t dueq__timing_quantile(const dueq_timing *timing, double part) {
    int64_t all = 0, below = 0, under = 0;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++)
        all += timing->counts[i];
    if (!all)
        return -1;
    /* Those of a bucket are taken to lie evenly in it; those of the last at its start. */
    double wanted = part * (double)all;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS - 1; i++) {
        int64_t bound = dueq_timing_bound_ms(i), count = timing->counts[i];
        if (count && (double)(below + count) >= wanted)
            return under +
                   (int64_t)((double)(bound - under) * (wanted - (double)below) / (double)count +
                             0.5);
        below += count;
        under = bound;
    }
    return under;
}

/* ---- As text: "NAME:NUMBER NAME:NUMBER ...", where NAME is l or r, and the number of a bucket or s ---- */

#define MOST INT64_C(9007199254740991)
enum { TEXT_ROOM = 2 * (DUEQ_TIMING_BUCKETS + 1) * 32 };

void dueq__timings_read(dueq_timings *timings, dueq_bytes text) {
    const char *at = text.data, *end = at + text.size;
    while (at < end) {
        const char *next = memchr(at, ' ', (size_t)(end - at));
        char word[32] = "", which, rest;
        int64_t *counter = NULL;
        unsigned bucket;
        long long number;
        size_t size = (size_t)((next ? next : end) - at);
        if (size < sizeof word)
            memcpy(word, at, size);
        dueq_timing *timing = *word == 'l' ? &timings->late : *word == 'r' ? &timings->run : NULL;
        if (timing && sscanf(word, "%cs:%16lld%c", &which, &number, &rest) == 2)
            counter = &timing->sum_ms;
        else if (timing && sscanf(word, "%c%2u:%16lld%c", &which, &bucket, &number, &rest) == 3 &&
                 bucket < DUEQ_TIMING_BUCKETS)
            counter = &timing->counts[bucket];
        if (counter && number >= 0 && *counter + number <= MOST)
            *counter += number;
        at += size + 1;
    }
}

static int put_timing(char *out, char name, const dueq_timing *timing) {
    char *at = out;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++)
        if (timing->counts[i])
            at += sprintf(at, "%c%zu:%lld ", name, i, (long long)timing->counts[i]);
    if (at != out)
        at += sprintf(at, "%cs:%lld ", name, (long long)timing->sum_ms);
    return (int)(at - out);
}

static void decode_measured(dueq_client *client, const struct dueq__reply *reply) {
    int64_t number;
    if (!dueq__reply_number(reply, &number))
        dueq__ops_unexpected(client);
    else
        dueq__call_finish(client, number ? DUEQ_OK : DUEQ_EMPTY);
}

dueq_status dueq__measure_submit(dueq_queue *queue, const dueq_timings *timings) {
    struct dueq__resp words;
    char text[TEXT_ROOM];
    dueq__client_check_fork(queue->client);
    dueq_status status =
        dueq__ops_ask(queue, &dueq__script_measure, false, 1, decode_measured, &words);
    if (status)
        return status;
    int size = put_timing(text, 'l', &timings->late);
    size += put_timing(text + size, 'r', &timings->run);
    dueq__resp_bytes(&words, text, (size_t)size);
    return dueq__call_submit(queue->client, &words);
}
