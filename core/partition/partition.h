/*
 * Queues of partitions: a handle of N ordinary queues, whose verbs fan out to them, and the leases
 * by which consumers get them assigned. All stands on the verbs of ordinary queues.
 */
#ifndef DUEQ_PARTITION_H
#define DUEQ_PARTITION_H

#include "../verbs/verbs.h"

/* The number of partitions is asked for again by a call that knows it for so long. */
#define DUEQ__FRESH_MS 1000
/* A member renews its leases so often, and loses them when it has not for so long. */
#define DUEQ__RENEW_MS 1000
#define DUEQ__MEMBER_MS 3000

/* handle.c */

struct dueq__assignment;

struct dueq__partitions {
    struct dueq__partitioned whole; /* first: what the queue points to */
    dueq_client *client;
    dueq_queue *base;     /* an ordinary handle of the queue's own name */
    size_t named_count;   /* how many the caller named */
    size_t count;         /* how many there are, as far as is known */
    dueq_queue **handles; /* so many; NULL: not opened yet */
    int64_t learned_ms;   /* when the server said so */
    bool known;
    unsigned push_turn; /* of pushes that may go to any partition */
    size_t key_size;    /* 0: the handle is for all partitions */
    char key[DUEQ_MAX_KEY];
};

struct dueq__partitions *dueq__partitions_of(const dueq_queue *queue);
/* The handle of a partition; NULL: out of memory, and the error is set. */
dueq_queue *dueq__partitions_handle(struct dueq__partitions *partitions, size_t partition);
/* Is the number of partitions to be asked for first? */
bool dueq__partitions_stale(const struct dueq__partitions *partitions);
/* The server's number of them; INVALID: it does not go with the one that the caller named. */
dueq_status dueq__partitions_learn(struct dueq__partitions *partitions, size_t count);
/* The partitions that this handle is for: from *first on so many. */
size_t dueq__partitions_range(const struct dueq__partitions *partitions, size_t *first);

/* steps.c: an operation on partitions, whose steps are its children */

/*
 * Begins such an operation; state: its verb's, one allocation, which it owns (NULL: out of memory).
 * begin() makes the first step, when the number of partitions is known: it is the on_final of the
 * step that asks for the number. Each on_final makes the next step, or ends the operation.
 */
dueq_status dueq__partition_begin(dueq_queue *queue, void *state, dueq__on_final *begin);

/* fanout.c, partition_push.c, partition_reserve.c: the verbs */

dueq_status dueq__partition_fanout(dueq_queue *queue, const struct dueq__fanout_request *asked);
dueq_status dueq__partition_reserve(dueq_queue *queue, const struct dueq__reserve *asked);
dueq_status dueq__partition_push(dueq_queue *queue, const struct dueq__push_request *request);

/* assignment.c: the leases of a consumer */

/* What one member of a queue's consumers has. */
struct dueq__assignment {
    dueq_queue *queue;
    char member[DUEQ__ID_SIZE + 1];
    char epoch[24];   /* of the table that it knows; "": none */
    int64_t renew_ms; /* when to renew */
    int64_t end_ms;   /* when its leases end */
    size_t surplus;   /* so many of its own are to be given up */
    bool changed;     /* somebody may have had some of its own in between */
    size_t own_count;
    uint16_t own[DUEQ_MAX_PARTITIONS];
};

dueq_status dueq__assignment_new(dueq_queue *queue, struct dueq__assignment **assignment);
/* For a child after fork(): another member. */
void dueq__assignment_reset(struct dueq__assignment *assignment);
/*
 * Renews the leases, and gives up what is too many and not held (`held`: for each partition).
 * leaves: gives up all, and is no member any more.
 */
dueq_status dueq__assignment_submit(struct dueq__assignment *assignment, const bool *held,
                                    bool leaves);
/* Asks for the number of partitions alone. */
dueq_status dueq__assignment_ask_count(dueq_queue *queue);

#endif
