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
    struct dueq__assignment *
        asking; /* whose leases the call under way asks for; NULL: it asks for their number alone */
    struct dueq__growth *growth; /* of the step under way; NULL: none is */
    size_t key_size;             /* 0: the handle is for all partitions */
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

/* steps.c: a call that is made of several */

/* What one call answered is taken in before the next is made. */
struct dueq__steps {
    dueq_queue *queue;
    int64_t deadline_ms;
    bool waits; /* the last step is a wait, with a deadline of its own */
    /* Submits the next step, by dueq__steps_submitted(), or ends all. */
    void (*next)(dueq_client *client, struct dueq__steps *steps);
    /* Takes the answer of one, and its result over; no failure. Then it does as next does. */
    void (*answered)(dueq_client *client, struct dueq__steps *steps, dueq_status status,
                     dueq_result *result);
};

/*
 * Begins such a call; steps: in one allocation, which is the call's from now on. It asks for the
 * number first.
 */
dueq_status dueq__steps_begin(dueq_queue *queue, struct dueq__steps *steps);
void dueq__steps_submitted(dueq_client *client, struct dueq__steps *steps, dueq_status status);
/* Ends it with a result, or a status alone. Frees the steps. */
void dueq__steps_end(dueq_client *client, dueq_result *result, dueq_status status);

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
