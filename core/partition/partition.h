/*
 * Queues with partitions. A handle stands for N ordinary queues, and its verbs fan out to them.
 * Consumers get partitions assigned by leases. This room uses the verbs of ordinary queues only.
 */
#ifndef DUEQ_PARTITION_H
#define DUEQ_PARTITION_H

#include "../verbs/verbs.h"

/* A call asks the server for the number of partitions again if it was told longer ago than this. */
#define DUEQ__FRESH_MS 1000
/* A member, which is a consumer of the queue, renews its leases on partitions this often, */
#define DUEQ__RENEW_MS 1000
/* and loses them if it has not renewed them for this long. */
#define DUEQ__MEMBER_MS 3000

/* handle.c */

struct dueq__assignment;

/* What chooses the partitions of a queue's messages. The first push with either decides it. */
enum dueq__chooser { DUEQ__CHOOSER_NONE, DUEQ__CHOOSER_KEY, DUEQ__CHOOSER_GROUP };

struct dueq__partitions {
    struct dueq__partitioned whole; /* the first member: dueq_queue.partitioned points to it */
    dueq_client *client;
    dueq_queue *base;           /* an ordinary handle of the queue's own name */
    size_t named_count;         /* the number of partitions that the caller named */
    size_t count;               /* the number that the server told last; before: named_count */
    dueq_queue **handles;       /* `count` of them; NULL: not opened yet */
    int64_t learned_ms;         /* when the server told the number last */
    bool known;                 /* the server has told the number */
    enum dueq__chooser chooser; /* NONE: the server has told none so far */
    unsigned push_turn;         /* grows with each push, and chooses the partition if any will do */
    size_t key_size;            /* 0: the handle is for all partitions */
    char key[DUEQ_MAX_KEY];
};

struct dueq__partitions *dueq__partitions_of(const dueq_queue *queue);
/* The handle of a partition; NULL: out of memory, and the error is set. */
dueq_queue *dueq__partitions_handle(struct dueq__partitions *partitions, size_t partition);
/* True: a call must ask the server for the number of partitions first. */
bool dueq__partitions_stale(const struct dueq__partitions *partitions);
/*
 * Notes the number of partitions that the server has told. INVALID: the caller has named another
 * number, which cannot be doubled to that one.
 */
dueq_status dueq__partitions_learn(struct dueq__partitions *partitions, size_t count);
/* INVALID: the messages of the queue have groups, and these have keys, or the other way round. */
dueq_status dueq__partitions_check_chooser(const struct dueq__partitions *partitions,
                                           enum dueq__chooser wanted);
/* How many partitions this handle is for, and the first of them. */
size_t dueq__partitions_range(const struct dueq__partitions *partitions, size_t *first);
/*
 * A batch's home is the partition that its id chooses of *among partitions. After a doubling the id
 * may choose another one. So this sets *among to the last number before a doubling by which the id
 * chooses another partition; 0: there is none.
 */
size_t dueq__partitions_home(dueq_bytes id, size_t *among);

/* steps.c: an operation on partitions, whose steps are its children */

/*
 * Begins such an operation. state: that of the verb, one allocation, which the operation owns;
 * NULL: the caller had no memory for it, and the operation fails. chooser: what chooses the
 * partitions of the messages that it pushes. begin() makes the first step when the number of
 * partitions is known: it is the on_final of the step that asks for the number. Each on_final makes
 * the next step, or ends the operation.
 */
dueq_status dueq__partition_begin(dueq_queue *queue, void *state, enum dueq__chooser chooser,
                                  dueq__on_final *begin);

/* fanout.c, partition_push.c, partition_reserve.c, partition_batch.c: the verbs */

dueq_status dueq__partition_fanout(dueq_queue *queue, const struct dueq__fanout_request *asked);
dueq_status dueq__partition_reserve(dueq_queue *queue, const struct dueq__reserve *asked);
dueq_status dueq__partition_push(dueq_queue *queue, const struct dueq__push_request *request);
dueq_status dueq__partition_batch(dueq_queue *queue, const struct dueq__batch_request *asked);
/* What chooses the draft's partition: its key, else its group, else its id; size 0: its turn. */
dueq_bytes dueq__partition_chosen_by(const dueq_draft *draft);
/* How many bytes dueq__draft_copy() needs for the draft, with those up to the next copy. */
size_t dueq__partition_room(const dueq_draft *draft);
/* Copies the bytes to *at, which then is behind the copy. */
void dueq__partition_keep(char **at, dueq_bytes *bytes);

/* assignment.c: the leases of a consumer */

/* The partitions that are assigned to one member. */
struct dueq__assignment {
    dueq_queue *queue;
    char member[DUEQ__ID_SIZE + 1];
    char epoch[24];   /* of the assignment that the member knows; "": it knows none */
    int64_t renew_ms; /* when to renew the leases */
    int64_t end_ms;   /* when the leases end */
    size_t surplus;   /* how many partitions the member must give up */
    bool changed;     /* a new assignment came, and the consumer has not asked its partitions yet */
    size_t own_count;
    uint16_t own[DUEQ_MAX_PARTITIONS]; /* the numbers of the partitions */
};

dueq_status dueq__assignment_new(dueq_queue *queue, struct dueq__assignment **assignment);
/* Makes the assignment that of a new member, without partitions: for a child after fork(). */
void dueq__assignment_reset(struct dueq__assignment *assignment);
/*
 * Renews the leases, and gives up surplus partitions. held: for each partition whether the consumer
 * has leased messages of it; it keeps such a partition. leaves: gives up all, and ends the
 * membership.
 */
dueq_status dueq__assignment_submit(struct dueq__assignment *assignment, const bool *held,
                                    bool leaves);
/* Asks for the number of partitions alone, and tells what chooses them. */
dueq_status dueq__assignment_ask_count(dueq_queue *queue, enum dueq__chooser chooser);

#endif
