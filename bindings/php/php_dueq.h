/*
 * The map of the PHP extension. A method goes one way: parse the arguments (queue.c, message.c, with
 * draft.c and seconds.c), submit the verb and wait for it (call.c), make PHP values of the result
 * (message.c) or throw (exception.c). Nothing of the core but dueq.h is seen here.
 */
#ifndef PHP_DUEQ_H
#define PHP_DUEQ_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#include "zend_arena.h"

#include "dueq.h"

extern zend_module_entry dueq_module_entry;
#define phpext_dueq_ptr &dueq_module_entry

#if defined(ZTS) && defined(COMPILE_DL_DUEQ)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* ---- dueq.c: the module ------------------------------------------------------------------------ */

extern zend_class_entry *dueq_php_queue_ce;
extern zend_class_entry *dueq_php_message_ce;
extern zend_class_entry *dueq_php_stats_ce;

/* ---- queue.c: Dueq\Queue ----------------------------------------------------------------------- */

typedef struct dueq_php_queue {
    dueq_client *client;
    dueq_queue *queue;   /* NULL until the constructor has succeeded */
    dueq_result *result; /* of the last call. Kept here, so that a bailout in mid-conversion (PHP's
                            memory limit) does not leak it: it goes with the object or the next call */
    zend_object std;
} dueq_php_queue;

static inline dueq_php_queue *dueq_php_queue_of(zend_object *object) {
    return (dueq_php_queue *)((char *)object - offsetof(dueq_php_queue, std));
}

void dueq_php_queue_startup(void);

/* ---- message.c: Dueq\Message and Dueq\Stats ---------------------------------------------------- */

void dueq_php_message_startup(void);
/* Makes a Dueq\Message, which holds a reference to its queue. */
void dueq_php_message_make(zval *out, dueq_php_queue *queue, const dueq_message *message);
void dueq_php_stats_make(zval *out, const dueq_counts *counts);
/* The ticket of a Dueq\Message of this very queue; empty if it belongs to another. */
dueq_bytes dueq_php_message_ticket(zend_object *message, const dueq_php_queue *queue);

/* ---- draft.c: what push and pushMany are given -------------------------------------------------- */

/* One message in PHP's terms; NULL stands for what was not given. */
typedef struct dueq_php_fields {
    zend_string *body, *id;
    zval *delay, *at, *lease;
    zend_long max_attempts; /* 0: without limit */
    HashTable *headers;
} dueq_php_fields;

/*
 * Where a value was given, for the texts of errors: an argument's number, or the key of an item of
 * the array that is argument number `argument`.
 */
typedef struct dueq_php_place {
    uint32_t argument;
    zend_long item; /* from 0; -1: the argument itself */
    const char *name;
} dueq_php_place;

/*
 * Fills a draft. It borrows the strings of `fields`; what else it needs is taken from the arena.
 * item: as in dueq_php_place. False: an exception was thrown.
 */
bool dueq_php_draft_fill(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena);
/* Reads an item of pushMany's array into a draft. */
bool dueq_php_draft_read(dueq_draft *draft, zval *value, zend_long item, zend_arena **arena);
/*
 * Reads a due time, of which at most one may be given (not null); neither: both are 0. The two are the
 * parameters 2 and 3 of push and reschedule, or keys of an item. False: an exception was thrown.
 */
bool dueq_php_due(zval *delay, zval *at, zend_long item, int64_t *delay_ms, int64_t *at_ms);
/* Throws a TypeError: the value at this place "must be of type ...". */
void dueq_php_type_error(const dueq_php_place *place, const char *type, const zval *value);

/* ---- seconds.c: PHP's seconds and dates to whole milliseconds ------------------------------------- */

/* Parts of a millisecond are rounded up. Each returns false after it has thrown. */
bool dueq_php_duration(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration; INF is DUEQ_FOREVER. */
bool dueq_php_timeout(const dueq_php_place *place, zval *value, int64_t *ms);
/* As dueq_php_duration, but null (or no value) is 0, and 0 is not allowed. */
bool dueq_php_lease(const dueq_php_place *place, zval *value, int64_t *ms);
/* A point of time, never 0, which the core reads as none: 1970 itself becomes its first millisecond. */
bool dueq_php_time(const dueq_php_place *place, zval *value, int64_t *ms);

static inline double dueq_php_seconds(int64_t ms) { return (double)ms / 1000.0; }

/* ---- call.c: submit, wait, take ------------------------------------------------------------------- */

/*
 * Sees a submitted verb through: `submitted` is what dueq_VERB_submit() returned. The result is in
 * queue->result. Throws on failure, and returns the final status.
 */
dueq_status dueq_php_finish(dueq_php_queue *queue, dueq_status submitted);
/*
 * The same for reserve, which a signal ends: PHP runs the handlers when the method has returned, so
 * it returns INTERRUPTED with nothing taken and nothing thrown.
 */
dueq_status dueq_php_finish_wait(dueq_php_queue *queue, dueq_status submitted);

/* A verb on one message, for which lease lost is an exception. */
dueq_status dueq_php_finish_held(dueq_php_queue *queue, dueq_status submitted);

typedef dueq_status (*dueq_php_submit)(dueq_queue *queue, const dueq_bytes *items, size_t count);
/* Runs a verb on any number of tickets or ids: `out` becomes the list of whether each was OK. */
void dueq_php_each(dueq_php_queue *queue, dueq_php_submit submit, const dueq_bytes *items,
                   size_t count, zval *out);

/* ---- exception.c ------------------------------------------------------------------------------- */

/* Finds the class of each status. FAILURE: one is missing. */
zend_result dueq_php_exception_startup(void);
/* Throws the exception of a status. */
void dueq_php_throw(dueq_status status, const char *text);
void dueq_php_throw_format(dueq_status status, const char *format, ...)
    ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);

/* ---- strings --------------------------------------------------------------------------------- */

static inline dueq_bytes dueq_php_bytes(const zend_string *string) {
    return string ? (dueq_bytes){ZSTR_VAL(string), ZSTR_LEN(string)} : (dueq_bytes){NULL, 0};
}

static inline void dueq_php_string(zval *out, dueq_bytes bytes) {
    ZVAL_STRINGL_FAST(out, bytes.size ? (const char *)bytes.data : "", bytes.size);
}

#endif
