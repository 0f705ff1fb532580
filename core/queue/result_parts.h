/* What a result is made of, for the files that make one: result.c, result_messages.c, result_stats.c. */
#ifndef DUEQ_RESULT_PARTS_H
#define DUEQ_RESULT_PARTS_H

#include "dueq_laravel.h"
#include "dueq_redisson.h"
#include "internal.h"

struct dueq__item {
    dueq_status status;
    dueq_state state;
    dueq_bytes id;
    dueq_message *message;
    dueq_rate *rate;
    dueq_value *value;
    dueq_job *job;
};

/* How much a result has room for. */
struct dueq__room {
    size_t items, messages, headers, rates, values, jobs, bytes;
};

struct dueq_result {
    size_t count;
    size_t damaged, purged, kicked, queue;
    dueq_bytes cursor;
    dueq_bytes settled; /* digits */
    struct dueq__item *items;
    dueq_message *messages;
    dueq_header *headers; /* where the next message's go */
    dueq_rate *rates;
    dueq_value *values;
    dueq_job *jobs;
    dueq_counts *counts;
    dueq_sizes *sizes;
    dueq_moved *moved;
    char *bytes; /* where the next copied bytes go */
};

/* One allocation, all of it zero; NULL: out of memory, and error is set. */
dueq_result *dueq__result_new(struct dueq__room room, struct dueq__error *error);
/* Copies bytes into the result. */
dueq_bytes dueq__result_keep(dueq_result *result, dueq_bytes bytes);
/* Fails with PROTOCOL; returns NULL. */
dueq_result *dueq__result_malformed(struct dueq__error *error, const char *script);

#endif
