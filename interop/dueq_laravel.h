/*
 * Laravel's Redis queues (5.5 to 13), spoken as Laravel does: see dueq.h for the conventions.
 *
 * A job is a JSON payload in a list; one that is delayed or reserved is in a sorted set whose scores are
 * whole seconds. Stock workers and producers share the queue. docs/interop.md says what is guaranteed.
 */
#ifndef DUEQ_LARAVEL_H
#define DUEQ_LARAVEL_H

#include "dueq.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dueq_laravel dueq_laravel;

enum { DUEQ_LARAVEL_RETRY_AFTER_MS = 90000 }; /* as Laravel's configuration has it */

/*
 * Opens a queue. Nothing is sent.
 * name:   as Laravel names it ("default"), without "queues:"; braces mark a cluster slot ("{default}").
 * prefix: what Laravel's Redis client puts in front of its keys ("shop_database_"); size 0: nothing.
 *         Both are UTF-8 without control characters, and have DUEQ_MAX_NAME bytes together at most.
 * *queue belongs to the caller (dueq_laravel_close) and must not outlive the client.
 * Errors: NAME, NO_MEMORY; *queue is NULL then.
 */
DUEQ_API dueq_status dueq_laravel_open(dueq_client *client, const void *name, size_t size,
                                       dueq_bytes prefix, dueq_laravel **queue);

/* Frees the handle; what is in the server stays. NULL is safe. */
DUEQ_API void dueq_laravel_close(dueq_laravel *queue);

/*
 * A job to push: a ready-made payload, or what a payload is made of. Start from {0}, and set `payload`;
 * or `job` with `data`; or `command_name` with `command`.
 */
typedef struct dueq_laravel_draft {
    dueq_bytes payload; /* a whole payload, as Laravel writes it: it is stored as it is */
    dueq_bytes job;  /* "Class@method", or "Class" for its method fire(): what the worker calls */
    dueq_bytes data; /* its argument: one JSON text; size 0: "" as Laravel's own push() has it */
    dueq_bytes command_name; /* the class of a job object, and */
    dueq_bytes command;      /* that object as PHP's serialize() wrote it: UTF-8 */
    dueq_bytes display_name; /* for people; size 0: the job's class */
    int64_t delay_ms;        /* not before this long after the push, rounded up to a second */
    int64_t at_ms;           /* not before this time of the server's clock; 0: use delay_ms */
    uint32_t max_tries;      /* 0: the worker's own */
    uint32_t max_exceptions; /* 0: not limited */
    uint32_t timeout_s;      /* 0: the worker's own */
    dueq_bytes backoff;      /* seconds before each further try: "10" or "10,60"; size 0: none */
    int64_t retry_until_s;   /* Unix time in seconds; 0: none */
    int fail_on_timeout;     /* 0 or 1 */
} dueq_laravel_draft;

/* A job that was popped. All pointers live as long as the result. */
typedef struct dueq_job {
    dueq_bytes payload; /* as it was pushed, or as the last attempt left it */
    dueq_bytes
        reserved; /* this delivery, for delete and release: the payload with its attempts raised */
    dueq_bytes id, uuid; /* size 0: none */
    dueq_bytes job;      /* as in the draft */
    dueq_bytes data;     /* JSON text, a part of the payload */
    dueq_bytes display_name;
    uint32_t attempts;  /* this one included: 1 on the first */
    uint32_t max_tries; /* 0: the payload names none */
    uint32_t timeout_s;
    dueq_bytes backoff;    /* seconds, "10" or "10,60"; size 0: none */
    int64_t retry_until_s; /* 0: none */
    int64_t until_ms;      /* when it comes back unless it is deleted, by the server's clock */
} dueq_job;

/* pop: that item's job; NULL where there is none. */
DUEQ_API const dueq_job *dueq_result_job(const dueq_result *result, size_t index);

/*
 * Pushes jobs, all of a call in one step: to the list, or delayed, and tells workers that wait. count: 1
 * to DUEQ_MAX_BATCH. Items: OK, or DUPLICATE where a delayed payload of exactly these bytes is there;
 * dueq_result_id() is the payload's uuid, else its id.
 * Errors: INVALID where a stock worker would lose the payload: it is not JSON, has no job, no attempts
 * or is nested too deep; TOO_LARGE.
 */
DUEQ_API dueq_status dueq_laravel_push(dueq_laravel *queue, const dueq_laravel_draft *drafts,
                                       size_t count, dueq_result **result);

/*
 * Moves a bounded number of delayed jobs that are due, and of reserved ones whose time is over, to the
 * list, and takes up to `count` (1 to DUEQ_MAX_BATCH) from it, each reserved for retry_after_ms (rounded
 * up to seconds; 0: DUEQ_LARAVEL_RETRY_AFTER_MS). With none there it waits up to timeout_ms (0: not at
 * all, DUEQ_FOREVER: without end) for the first, in one blocking command, and told by the server of jobs
 * that others delay (docs/protocol.md, "Being told"). attempts are raised in the payload's text, which
 * stays as it is otherwise. A payload that a stock worker would lose is quarantined
 * (docs/interop.md) and counted by dueq_result_quarantined(). dueq_abandon() sends jobs that were taken and
 * nobody has read back to the front of the list, as they were. Returns OK or EMPTY.
 */
DUEQ_API dueq_status dueq_laravel_pop(dueq_laravel *queue, size_t count, int64_t timeout_ms,
                                      int64_t retry_after_ms, dueq_result **result);

/* Finishes jobs, by their `reserved`. Items: OK or LEASE_LOST. */
DUEQ_API dueq_status dueq_laravel_delete(dueq_laravel *queue, const dueq_bytes *reserved,
                                         size_t count, dueq_result **result);

/*
 * Gives jobs back, by their `reserved`, to be tried again in delay_ms (rounded up to seconds; 0 or less: now).
 * Items: OK or LEASE_LOST, where nothing is changed.
 */
DUEQ_API dueq_status dueq_laravel_release(dueq_laravel *queue, const dueq_bytes *reserved,
                                          size_t count, int64_t delay_ms, dueq_result **result);

/* Counts, in O(1). Returns OK. */
DUEQ_API dueq_status dueq_laravel_size(dueq_laravel *queue, dueq_sizes *sizes);

/* Takes all jobs away, reserved ones too. *cleared (may be NULL) counts them. Returns OK. */
DUEQ_API dueq_status dueq_laravel_clear(dueq_laravel *queue, size_t *cleared);

/*
 * Moves up to `most` (1 to DUEQ_MAX_BATCH) delayed jobs that are due, and as many reserved ones whose
 * time is over, to the list, and tells workers that wait: call it in a loop, and idle stock workers wake
 * on time. With none due it waits up to timeout_ms (as pop) for the first.
 * Returns OK when anything was moved, else EMPTY. moved: may be NULL.
 */
DUEQ_API dueq_status dueq_laravel_migrate(dueq_laravel *queue, size_t most, int64_t timeout_ms,
                                          dueq_moved *moved);

/* The same without blocking: see dueq.h. Results have the accessors that are named here. */
DUEQ_API dueq_status dueq_laravel_push_submit(dueq_laravel *queue, const dueq_laravel_draft *drafts,
                                              size_t count);
DUEQ_API dueq_status dueq_laravel_pop_submit(dueq_laravel *queue, size_t count, int64_t timeout_ms,
                                             int64_t retry_after_ms);
DUEQ_API dueq_status dueq_laravel_delete_submit(dueq_laravel *queue, const dueq_bytes *reserved,
                                                size_t count);
DUEQ_API dueq_status dueq_laravel_release_submit(dueq_laravel *queue, const dueq_bytes *reserved,
                                                 size_t count, int64_t delay_ms);
DUEQ_API dueq_status dueq_laravel_size_submit(dueq_laravel *queue);  /* dueq_result_sizes() */
DUEQ_API dueq_status dueq_laravel_clear_submit(dueq_laravel *queue); /* dueq_result_purged() */
DUEQ_API dueq_status dueq_laravel_migrate_submit(dueq_laravel *queue, size_t most,
                                                 int64_t timeout_ms); /* dueq_result_moved() */

#ifdef __cplusplus
}
#endif

#endif
