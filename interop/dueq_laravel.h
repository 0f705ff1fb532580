/*
 * The Redis queues of Laravel 5.5 to 13, in Laravel's own format. The conventions are those of
 * dueq.h.
 *
 * A job is a JSON payload in a list. A delayed or reserved job is in a sorted set whose scores are
 * whole seconds. Laravel's own workers and producers may use the same queue at the same time.
 * docs/interop.md says what is guaranteed.
 */
#ifndef DUEQ_LARAVEL_H
#define DUEQ_LARAVEL_H

#include "dueq.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dueq_laravel dueq_laravel;

enum { DUEQ_LARAVEL_RETRY_AFTER_MS = 90000 }; /* `retry_after` of Laravel's own configuration */

/*
 * Opens a queue. Nothing is sent.
 * name:   the queue's name in Laravel ("default"), without "queues:". In a cluster it needs a hash
 *         tag, in braces ("{default}"), so that all keys of the queue are in one slot.
 * prefix: what Laravel's Redis client puts in front of its keys ("shop_database_"); size 0:
 *         nothing.
 * Both are UTF-8 without control characters. The name has at least 1 byte; both together have at
 * most DUEQ_MAX_NAME bytes.
 * *queue belongs to the caller, who closes it by dueq_laravel_close() before the client.
 * Errors: NAME, NO_MEMORY; *queue is then NULL.
 */
DUEQ_API dueq_status dueq_laravel_open(dueq_client *client, const void *name, size_t size,
                                       dueq_bytes prefix, dueq_laravel **queue);

/* Frees the handle. The jobs stay in the server. NULL is safe. */
DUEQ_API void dueq_laravel_close(dueq_laravel *queue);

/*
 * A job to push. Start from DUEQ_LARAVEL_DRAFT and set one of three: `payload`; or `job`, and
 * `data` if the job has an argument; or `command_name` and `command`.
 */
typedef struct dueq_laravel_draft {
    size_t struct_size;
    /*
     * A whole payload, as Laravel writes it. It is stored unchanged, with the options that it has:
     * all other members but delay_ms and at_ms must be empty or 0.
     */
    dueq_bytes payload;
    dueq_bytes job;  /* what the worker calls: "Class@method", or "Class" for its method fire() */
    dueq_bytes data; /* the job's argument, one JSON text; size 0: "", as Laravel's push() has it */
    dueq_bytes command_name; /* the class of a job object */
    dueq_bytes command;      /* the job object, as PHP's serialize() wrote it: UTF-8 */
    dueq_bytes display_name; /* what people see, in UTF-8; size 0: the class */
    /* The due time is rounded up to a whole second. */
    int64_t delay_ms;        /* due this long after the push, 0 to DUEQ_MAX_TIME_MS; 0: now */
    int64_t at_ms;           /* due at this time of the server's clock; 0: delay_ms counts */
    uint32_t max_tries;      /* 0: the worker's own setting counts */
    uint32_t max_exceptions; /* 0: no limit */
    uint32_t timeout_s;      /* the longest run of an attempt; 0: the worker's own setting counts */
    int fail_on_timeout;     /* 1: the job fails for good when it exceeds timeout_s; else 0 */
    dueq_bytes backoff;      /* seconds before each further try: "10" or "10,60"; size 0: none */
    int64_t retry_until_s;   /* no try after this Unix time, in seconds; 0: none */
} dueq_laravel_draft;

#define DUEQ_LARAVEL_DRAFT {.struct_size = sizeof(dueq_laravel_draft)}

/* A job that pop delivered. All pointers live as long as the result. */
typedef struct dueq_job {
    dueq_bytes payload; /* as pushed, or as the last attempt left it */
    /* The payload with its attempts raised. It names this delivery, for delete and release. */
    dueq_bytes reserved;
    dueq_bytes id, uuid; /* size 0: the payload has none */
    dueq_bytes job;      /* as in the draft */
    dueq_bytes data;     /* JSON text, a part of `payload`; size 0: the payload has none */
    dueq_bytes display_name;
    uint32_t attempts;     /* with this one: 1 at the first delivery */
    uint32_t max_tries;    /* 0: the payload names none */
    uint32_t timeout_s;    /* 0: the payload names none */
    dueq_bytes backoff;    /* seconds, "10" or "10,60"; size 0: the payload names none */
    int64_t retry_until_s; /* Unix time in seconds; 0: the payload names none */
    int64_t until_ms;      /* when the reservation ends, by the server's clock */
} dueq_job;

/* The job of an item of pop's result; NULL if the result has no such item. */
DUEQ_API const dueq_job *dueq_result_job(const dueq_result *result, size_t index);

/*
 * For all functions below:
 * - They return as the verbs in dueq.h, and have their common errors. *result belongs to the
 *   caller.
 * - A batch is 1 to DUEQ_MAX_BATCH drafts or jobs; any other count is INVALID.
 */

/*
 * Pushes jobs, all in one step: stores them in the list, or delayed, and wakes waiting workers.
 * Items: OK, or DUPLICATE: the same bytes are already stored as a delayed payload. dueq_result_id()
 * of an item is the payload's uuid, or without one its id.
 * Errors: INVALID: a draft is not valid, or a Laravel worker would lose the payload, because it is
 * no JSON object, has no job or no attempts, or is nested too deep. TOO_LARGE: all payloads
 * together have more than DUEQ_MAX_BODY bytes.
 */
DUEQ_API dueq_status dueq_laravel_push(dueq_laravel *queue, const dueq_laravel_draft *drafts,
                                       size_t count, dueq_result **result);

/*
 * Delivers jobs. Moves a bounded number of due delayed jobs, and of jobs whose reservation has
 * ended, to the list. Then takes up to `count` jobs from the list and reserves them.
 * count:          1 to DUEQ_MAX_BATCH.
 * timeout_ms:     0 to DUEQ_MAX_TIME_MS, or DUEQ_FOREVER: how long the call waits for the first
 *                 job. It waits in a blocking command, and the server tells it when other programs
 *                 delay or reserve a job (docs/interop.md).
 * retry_after_ms: 0 to DUEQ_MAX_TIME_MS: how long each job is reserved; the end is rounded up to a
 *                 whole second. Then the next pop delivers the job again, unless it was deleted or
 *                 released. 0: DUEQ_LARAVEL_RETRY_AFTER_MS.
 *
 * The attempts are raised in the payload's text; all other bytes stay. A payload that a Laravel
 * worker would lose is quarantined (docs/interop.md); dueq_result_quarantined() counts such
 * payloads. If the caller abandons the call (dueq_abandon), the jobs that it took go back,
 * unchanged, to the front of the list.
 * Returns OK, or EMPTY: no job came in time. Each item has its dueq_result_job().
 */
DUEQ_API dueq_status dueq_laravel_pop(dueq_laravel *queue, size_t count, int64_t timeout_ms,
                                      int64_t retry_after_ms, dueq_result **result);

/*
 * Deletes jobs that are done. reserved: that of each dueq_job.
 * Items: OK, or LEASE_LOST: the job is no longer reserved under this delivery; nothing was changed.
 * Errors: INVALID, TOO_LARGE.
 */
DUEQ_API dueq_status dueq_laravel_delete(dueq_laravel *queue, const dueq_bytes *reserved,
                                         size_t count, dueq_result **result);

/*
 * Gives jobs back, so that they are delivered again. reserved: that of each dueq_job.
 * delay_ms: due so long from now, up to DUEQ_MAX_TIME_MS; the due time is rounded up to a whole
 *           second. 0 or less: now.
 * Items: OK, or LEASE_LOST: the job is no longer reserved under this delivery; nothing was changed.
 * Errors: INVALID, TOO_LARGE.
 */
DUEQ_API dueq_status dueq_laravel_release(dueq_laravel *queue, const dueq_bytes *reserved,
                                          size_t count, int64_t delay_ms, dueq_result **result);

/* Counts the jobs, in O(1). *sizes is written on OK only, and may be NULL. Returns OK. */
DUEQ_API dueq_status dueq_laravel_size(dueq_laravel *queue, dueq_sizes *sizes);

/*
 * Deletes all jobs: ready, delayed and reserved ones. Quarantined payloads stay.
 * *cleared: how many jobs; may be NULL.
 * Returns OK.
 */
DUEQ_API dueq_status dueq_laravel_clear(dueq_laravel *queue, size_t *cleared);

/*
 * Moves up to `most` due delayed jobs, and up to `most` jobs whose reservation has ended, to the
 * list, and wakes waiting workers. A program that calls it in a loop wakes Laravel's idle workers
 * when delayed jobs fall due.
 * most:       1 to DUEQ_MAX_BATCH.
 * timeout_ms: 0 to DUEQ_MAX_TIME_MS, or DUEQ_FOREVER: how long the call waits until a job is due.
 * *moved:     what was moved and quarantined; all zero on EMPTY and on failure; may be NULL.
 * Returns OK if anything was moved or quarantined, else EMPTY.
 */
DUEQ_API dueq_status dueq_laravel_migrate(dueq_laravel *queue, size_t most, int64_t timeout_ms,
                                          dueq_moved *moved);

/*
 * The same calls without blocking: see "submit, pump, take" in dueq.h. Where the blocking form
 * fills in a struct or a number, the comment names the function that reads it from the result.
 */
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
