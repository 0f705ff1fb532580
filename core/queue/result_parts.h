/* What a result is made of, for the files that make one: result.c, result_messages.c, result_stats.c. */
#ifndef DUEQ_RESULT_PARTS_H
#define DUEQ_RESULT_PARTS_H

#include "message.h"
#include "result.h"

struct dueq__item {
    dueq_status status;
    dueq_state state;
    dueq_bytes id;
    dueq_message *message;
    dueq_rate *rate;
    const void *other; /* of the result's other kind */
};

/* How much a result has room for; other: bytes of what the core knows nothing of. */
struct dueq__room {
    size_t items, messages, headers, rates, other, bytes;
};

struct dueq_result {
    size_t count;
    size_t quarantined, purged, kicked, queue;
    dueq_bytes cursor;
    dueq_bytes settled; /* digits */
    struct dueq__item *items;
    dueq_message *messages;
    dueq_header *headers; /* where the next message's go */
    dueq_rate *rates;
    const void *other_kind; /* what the items' `other` are, as their maker knows it */
    char *other;            /* where they go; aligned as pointers are */
    dueq_counts *counts;
    dueq_sizes *sizes;
    dueq_moved *moved;
    char *bytes; /* where the next copied bytes go */
};

/* The item, or one whose status is INVALID. */
const struct dueq__item *dueq__result_item(const dueq_result *result, size_t index);
/* One allocation, all of it zero; NULL: out of memory, and error is set. */
dueq_result *dueq__result_new(struct dueq__room room, struct dueq__error *error);
/* Copies bytes into the result. */
dueq_bytes dueq__result_keep(dueq_result *result, dueq_bytes bytes);
/* Fails with PROTOCOL; returns NULL. */
dueq_result *dueq__result_malformed(struct dueq__error *error, const char *script);

#endif
