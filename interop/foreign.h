/* The queues of other systems, as queues with other keys: foreign.c. */
#ifndef DUEQ_FOREIGN_H
#define DUEQ_FOREIGN_H

#include "verbs/verbs.h"

/* A key, made from the key of the queue's list: what is in front of it and behind it. */
struct dueq__foreign_key {
    int key; /* its place */
    const char *before, *after;
    bool tagged; /* in braces, unless it has some: its cluster slot is the list's */
};

/*
 * Makes a queue of the keys in the table and that of the replies. list: the key of the
 * queue's list, at most DUEQ__MAX_LIST bytes. Errors: NAME, NO_MEMORY.
 */
#define DUEQ__MAX_LIST (DUEQ_MAX_NAME + 16)
dueq_status dueq__foreign_open(dueq_queue *queue, dueq_client *client, dueq_bytes list,
                               const struct dueq__foreign_key table[], size_t count);
/* Gives a call of it up and frees what was made. */
void dueq__foreign_close(dueq_queue *queue);

extern const struct dueq__script dueq__script_recall_foreign;

/* size and clear of such a queue, by its own script, and the end of a step that has moved something. */
dueq_status dueq__foreign_size_submit(dueq_queue *queue, const struct dueq__script *script);
dueq_status dueq__foreign_clear_submit(dueq_queue *queue, const struct dueq__script *script);
void dueq__foreign_step(dueq_client *client, const dueq_moved *moved);
/* Blocking: each waits for what was submitted. What they fill may be NULL. */
dueq_status dueq__foreign_sized(dueq_queue *queue, dueq_status submitted, dueq_sizes *sizes);
dueq_status dueq__foreign_cleared(dueq_queue *queue, dueq_status submitted, size_t *cleared);
/* Nothing moved: all zero. */
dueq_status dueq__foreign_moved(dueq_queue *queue, dueq_status submitted, dueq_moved *moved);

#endif
