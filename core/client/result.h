/* The result of an operation: items with their outcomes, and what the verb adds. */
#ifndef DUEQ_CLIENT_RESULT_H
#define DUEQ_CLIENT_RESULT_H

#include "../net/net.h"

/* The type of the values that items have. Two types are the same if their addresses are. */
struct dueq__item_type {
    size_t size;
};

struct dueq__item {
    dueq_status status;
    dueq_state state;
    dueq_bytes id;
    void *value; /* of the result's type, or NULL */
};

struct dueq_result {
    size_t count;
    size_t quarantined, purged, kicked, queue;
    size_t first_pushed; /* the index of the first item that is a pushed message */
    int replicas, disk;
    bool queue_done; /* check: this queue is done; the cursor, if any, is for the next one */
    dueq_bytes cursor;
    const struct dueq__item_type *type; /* NULL: none */
    struct dueq__item *items;
    char *next_copy;           /* where the next copied bytes go */
    dueq_header *headers;      /* of messages */
    dueq_lease *leases;        /* of workers */
    dueq_group_limits *limits; /* of the groups of a queue */
    struct dueq__reply *reply; /* the reply into which it points; NULL: its bytes are copies */
    dueq_timings *timings;     /* of rates; owned */
    char *cursor_text;         /* the bytes of a cursor that was made later; owned */
};

/* Each makes a result, or NULL with error set. */

/* Items of a type, all of them zero, and room for so many copied bytes, in one allocation. */
dueq_result *dueq__result_new(const struct dueq__item_type *type, size_t count, size_t bytes,
                              struct dueq__error *error);
/* One item, with a copy of a value of the type. */
dueq_result *dueq__result_single(const struct dueq__item_type *type, const void *value,
                                 struct dueq__error *error);
/* One item for each digit, which is its outcome. ids: NULL, or the items' ids. */
dueq_result *dueq__result_outcomes(dueq_bytes digits, const dueq_bytes *ids,
                                   struct dueq__error *error);
/* One digit for each item: the state that it was in, 0: not found. */
dueq_result *dueq__result_states(dueq_bytes states, struct dueq__error *error);
dueq_result *dueq__result_purged(size_t purged, struct dueq__error *error);
/* Items with these ids (NULL: without), and the cursor of the next page. */
dueq_result *dueq__result_page(const dueq_bytes *names, size_t count, dueq_bytes cursor,
                               struct dueq__error *error);
/* Makes a result own the reply into which it points. result NULL: the caller still owns it. */
void dueq__result_take_reply(dueq_result *result, struct dueq__reply **reply);
/* The value of an item; NULL: the result has no such item, or another type. */
const void *dueq__result_item_value(const dueq_result *result, const struct dueq__item_type *type,
                                    size_t index);
/* Copies bytes into the result. */
dueq_bytes dueq__result_copy(dueq_result *result, dueq_bytes bytes);
/* Each frees a result and returns NULL: fails with NO_MEMORY, or with PROTOCOL. */
dueq_result *dueq__result_no_memory(dueq_result *result, struct dueq__error *error);
dueq_result *dueq__result_malformed(dueq_result *result, struct dueq__error *error,
                                    const char *script);
/* The digit by which scripts and results of partitions say the outcome of an item, and back. */
char dueq__digit_of(dueq_status status);
dueq_status dueq__status_of(char digit);
/* OK if every item is OK; else BACKLOG, if an item is; else the first other outcome. */
dueq_status dueq__result_summary(const dueq_result *result);

#endif
