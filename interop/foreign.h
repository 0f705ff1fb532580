/* The queues of other systems: each is a dueq_queue with keys of its own. foreign.c. */
#ifndef DUEQ_FOREIGN_H
#define DUEQ_FOREIGN_H

#include "verbs/verbs.h"

/* How a key is made: `before`, the key of the queue's list, `after`. */
struct dueq__foreign_key {
    int key; /* its index in dueq_queue.keys */
    const char *before, *after;
    /*
     * The list's key goes in braces, unless it has a brace: both keys then have one cluster slot.
     */
    bool tagged;
};

/*
 * Fills in a queue that has the keys of the table, and a key for replies.
 * list: the key of the queue's list, 1 to DUEQ__MAX_LIST bytes of UTF-8 without control characters.
 * Errors: NAME (also where the keys are in several slots of a cluster), NO_MEMORY.
 */
#define DUEQ__MAX_LIST (DUEQ_MAX_NAME + 16)
dueq_status dueq__foreign_open(dueq_queue *queue, dueq_client *client, dueq_bytes list,
                               const struct dueq__foreign_key table[], size_t count);
/* Abandons the queue's call if one is under way, and frees the keys. */
void dueq__foreign_close(dueq_queue *queue);

extern const struct dueq__script dueq__script_recall_foreign;

/* Submit size or clear, by the script of the queue's system. */
dueq_status dueq__foreign_size_submit(dueq_queue *queue, const struct dueq__script *script);
dueq_status dueq__foreign_clear_submit(dueq_queue *queue, const struct dueq__script *script);
/* Ends a migrate or transfer that has moved or quarantined something, with these numbers. */
void dueq__foreign_step(dueq_client *client, const dueq_moved *moved);
/* The blocking forms: each waits for the submitted call. The last argument may be NULL. */
/* On failure *sizes stays as it was. */
dueq_status dueq__foreign_sized(dueq_queue *queue, dueq_status submitted, dueq_sizes *sizes);
dueq_status dueq__foreign_cleared(dueq_queue *queue, dueq_status submitted, size_t *cleared);
/* Checks the program's struct, before the call is submitted. moved: may be NULL. */
dueq_status dueq__foreign_check_moved(dueq_queue *queue, const dueq_moved *moved);
/* If nothing was moved, and on failure, *moved is all zero. */
dueq_status dueq__foreign_moved(dueq_queue *queue, dueq_status submitted, dueq_moved *moved);

#endif
