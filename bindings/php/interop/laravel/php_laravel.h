/* Laravel's queues: Dueq\Laravel\Queue is queue.c, with job_draft.c and job.c. */
#ifndef DUEQ_PHP_LARAVEL_H
#define DUEQ_PHP_LARAVEL_H

#include "../php_interop.h"

#include "dueq_laravel.h"

/* The classes of Dueq\Laravel; dueq.c registers them. */
extern zend_class_entry *dueq_php_laravel_queue_ce;
extern zend_class_entry *dueq_php_laravel_job_ce;

/* queue.c: Queue */

typedef struct dueq_php_laravel {
    dueq_php_client *client;
    dueq_laravel *queue; /* NULL until it is open */
    int64_t retry_after_ms;
    zend_object std;
} dueq_php_laravel;

static inline dueq_php_laravel *dueq_php_laravel_of(zend_object *object) {
    return (dueq_php_laravel *)((char *)object - offsetof(dueq_php_laravel, std));
}

void dueq_php_laravel_startup(void);
/* The queue as a source. */
dueq_php_source dueq_php_laravel_source(dueq_php_laravel *laravel);
/* The queue of $this; NULL, with an Error thrown, before its constructor has run. */
dueq_php_laravel *dueq_php_this_laravel(const zval *this);

#define THIS_LARAVEL(laravel)                                                                      \
    dueq_php_laravel *laravel = dueq_php_this_laravel(ZEND_THIS);                                  \
    if (!laravel) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

/* job_draft.c: the jobs given to push, later, pushRaw, pushObject and pushMany */

/* One job as PHP values; NULL: not given. */
typedef struct dueq_php_job_fields {
    zend_string *job, *payload, *command_name, *command, *display_name;
    zval *data, *delay, *at, *max_tries, *max_exceptions, *timeout, *backoff, *retry_until;
    bool fail_on_timeout;
    uint32_t delay_number, options_number; /* of the parameters delay and displayName */
} dueq_php_job_fields;

/*
 * Fills a draft. `held` keeps what the draft borrows. item: as in dueq_php_place. False: it threw.
 */
bool dueq_php_job_draft_fill(dueq_laravel_draft *draft, const dueq_php_job_fields *fields,
                             zend_long item, HashTable *held);
/* Reads argument 1, an array of jobs, into as many drafts. False: it threw. */
bool dueq_php_job_drafts_read(dueq_laravel_draft *drafts, HashTable *jobs, HashTable *held);

/* job.c: Job, and the methods that take and finish jobs */

void dueq_php_job_startup(void);

#endif
