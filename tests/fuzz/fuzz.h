/*
 * A fuzz target: one function that takes any bytes and aborts where a promise does not hold.
 * libFuzzer calls it by ./dev fuzz; the C tests call it with the files of corpus/NAME (replay.c).
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dueq_laravel.h"
#include "verbs/verbs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(promise)                                                                             \
    do {                                                                                           \
        if (!(promise)) {                                                                          \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #promise);           \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A copy of its own size exactly, so that a read beyond it is seen. The caller frees it. */
static inline void *fuzz_copy(const void *data, size_t size) {
    void *copy = malloc(size ? size : 1);
    CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

static inline bool fuzz_equal(dueq_bytes a, dueq_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Reads every byte: for the sanitizers to see that it may be read. */
static inline void fuzz_touch(dueq_bytes bytes) {
    static volatile unsigned char sink;
    for (size_t i = 0; i < bytes.size; i++)
        sink = (unsigned char)(sink ^ ((const unsigned char *)bytes.data)[i]);
}

static inline void fuzz_touch_job(const dueq_job *job) {
    const dueq_bytes parts[] = {job->payload, job->reserved, job->id,           job->uuid,
                                job->job,     job->data,     job->display_name, job->backoff};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        fuzz_touch(parts[i]);
    const char *data = job->data.data, *payload = job->payload.data;
    CHECK(!data || (data >= payload && data + job->data.size <= payload + job->payload.size));
}

/* Reads all that a result gives out. */
static inline void fuzz_touch_result(const dueq_result *result) {
    fuzz_touch(dueq_result_cursor(result));
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_message *message = dueq_result_message(result, i);
        const dueq_rate *rate = dueq_result_rate(result, i);
        const dueq_job *job = dueq_result_job(result, i);
        fuzz_touch(dueq_result_id(result, i));
        if (rate)
            fuzz_touch((dueq_bytes){rate, sizeof *rate});
        if (job)
            fuzz_touch_job(job);
        if (!message)
            continue;
        fuzz_touch(message->id);
        fuzz_touch(message->ticket);
        fuzz_touch(message->body);
        fuzz_touch(message->error);
        fuzz_touch(message->dead_letter);
        CHECK(message->attempt <= message->deliveries && message->crashes <= message->deliveries);
        for (size_t k = 0; k < message->header_count; k++) {
            fuzz_touch(message->headers[k].name);
            fuzz_touch(message->headers[k].value);
        }
    }
}

#endif
