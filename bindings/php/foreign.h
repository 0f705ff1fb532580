/*
 * The map goes on: the queues of other systems. Dueq\DelayedQueue is delayed.c and delayed_values.c, with
 * value.c; Dueq\LaravelQueue is laravel.c, with job_draft.c and job.c; json.c and agent.c serve both.
 */
#ifndef DUEQ_PHP_FOREIGN_H
#define DUEQ_PHP_FOREIGN_H

#include "link.h"

#include "dueq_laravel.h"
#include "dueq_redisson.h"

/* ---- json.c: JSON by PHP's own functions -------------------------------------------------------- */

/*
 * Writes a value, whose classes may run code of the program's. *text belongs to the caller. False: it
 * threw, for the value at this place.
 */
bool dueq_php_json_write(const dueq_php_place *place, zval *value, zend_string **text);
/* Reads one: objects as arrays, integers beyond 64 bits as strings. False: it is no JSON to PHP. */
bool dueq_php_json_read(zval *out, dueq_bytes text);

/*
 * Keeps a string until the table is freed, and returns its bytes: code of the program's that runs
 * meanwhile may drop what it was read from.
 */
dueq_bytes dueq_php_hold(HashTable *held, zend_string *text);

/* ---- value.c: values of Redisson's and PHP's; Dueq\Long, Dueq\Binary, Dueq\Unreadable ---------------- */

/* Reads a value. What it borrows is in `held`, as above. False: it threw. */
bool dueq_php_value_read(const dueq_php_place *place, zval *given, dueq_codec codec,
                         dueq_value *value, HashTable *held);
/* Makes a value of a result: a dueq_php_item. It throws CorruptException where it cannot be read. */
void dueq_php_value_alone(zval *out, const dueq_php_source *source, const dueq_result *result,
                          size_t index);
/* The same of one among others: a Dueq\Unreadable stands for what cannot be read. */
void dueq_php_value_item(zval *out, const dueq_php_source *source, const dueq_result *result,
                         size_t index);

/* ---- delayed.c, delayed_values.c: Dueq\DelayedQueue ---------------------------------------------------------------- */

typedef struct dueq_php_delayed {
    dueq_php_client *client;
    dueq_redisson *queue; /* NULL until it is open, and when it is destroyed */
    dueq_codec codec;
    dueq_layout layout;
    bool constructed;
    zend_object std;
} dueq_php_delayed;

static inline dueq_php_delayed *dueq_php_delayed_of(zend_object *object) {
    return (dueq_php_delayed *)((char *)object - offsetof(dueq_php_delayed, std));
}

void dueq_php_delayed_startup(void);
/* The queue as what to take from. */
dueq_php_source dueq_php_delayed_source(dueq_php_delayed *delayed);
/* The queue of $this; NULL, with an Error thrown, before its constructor has run and after destroy(). */
dueq_php_delayed *dueq_php_this_delayed(const zval *this);

#define THIS_DELAYED(delayed)                                                                      \
    dueq_php_delayed *delayed = dueq_php_this_delayed(ZEND_THIS);                                  \
    if (!delayed) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

/* ---- laravel.c, job.c: Dueq\LaravelQueue ---------------------------------------------------------------- */

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
/* The queue as what to take from. */
dueq_php_source dueq_php_laravel_source(dueq_php_laravel *laravel);
/* The queue of $this; NULL, with an Error thrown, before its constructor has run. */
dueq_php_laravel *dueq_php_this_laravel(const zval *this);

#define THIS_LARAVEL(laravel)                                                                      \
    dueq_php_laravel *laravel = dueq_php_this_laravel(ZEND_THIS);                                  \
    if (!laravel) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

/* ---- job_draft.c: what push, later, pushRaw, pushObject and pushMany are given ---------------------- */

/* One job in PHP's terms; NULL stands for what was not given. */
typedef struct dueq_php_job_fields {
    zend_string *job, *payload, *command_name, *command, *display_name;
    zval *data, *delay, *at, *max_tries, *max_exceptions, *timeout, *backoff, *retry_until;
    bool fail_on_timeout;
    uint32_t delay_number, options_number; /* of the parameters delay and displayName */
} dueq_php_job_fields;

/* Fills a draft. What it borrows is in `held`. item: as in dueq_php_place. False: it threw. */
bool dueq_php_job_draft_fill(dueq_laravel_draft *draft, const dueq_php_job_fields *fields,
                             zend_long item, HashTable *held);
/* Reads argument 1, an array of jobs, into as many drafts. False: it threw. */
bool dueq_php_job_drafts_read(dueq_laravel_draft *drafts, HashTable *jobs, HashTable *held);

/* ---- job.c: Dueq\LaravelJob, and what takes and finishes jobs ------------------------------------- */

void dueq_php_job_startup(void);

/* ---- agent.c: Dueq\Moved, Dueq\Sizes, and what both queues do alike -------------------------------------- */

void dueq_php_sizes_make(zval *out, const dueq_sizes *sizes);
/* Says in PHP's log how many entries of the queue were set aside, if any. */
void dueq_php_damaged(const dueq_php_source *source, size_t damaged);
/* Has what an abandoned take or pop brought put back by the server: a dueq_php_call's give_back. */
dueq_status dueq_php_put_back(dueq_php_link *link);

/*
 * The methods that move what is due, transfer() and migrate(), transferStart() and migrateStart(),
 * runTransfer() and runMigrate(): each reads its parameters. queue: that of the source's own client.
 */
void dueq_php_move(zend_execute_data *execute_data, zval *return_value,
                   const dueq_php_source *source, void *queue);
void dueq_php_move_start(zend_execute_data *execute_data, zval *return_value,
                         const dueq_php_source *source);
void dueq_php_move_run(zend_execute_data *execute_data, const dueq_php_source *source);

#endif
