#include "php_laravel.h"

/* Dueq\Laravel\Job, and the methods of Dueq\Laravel\Queue that take and finish jobs. */

typedef struct job_object {
    dueq_php_laravel *queue; /* counted, as in message.c */
    zend_object std;
} job_object;

static zend_object_handlers handlers;

static job_object *job_of(zend_object *object) {
    return (job_object *)((char *)object - offsetof(job_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    job_object *job = zend_object_alloc(sizeof *job, ce);

    zend_object_std_init(&job->std, ce);
    object_properties_init(&job->std, ce);
    job->std.handlers = &handlers;
    return &job->std;
}

static void release(zend_object *object) {
    job_object *job = job_of(object);

    if (job->queue) {
        OBJ_RELEASE(&job->queue->std);
    }
    zend_object_std_dtor(object);
}

void dueq_php_job_startup(void) {
    dueq_php_laravel_job_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(job_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum {
    JOB_PAYLOAD,
    JOB_RESERVED,
    JOB_ID,
    JOB_UUID,
    JOB_NAME,
    JOB_DATA,
    JOB_DISPLAY_NAME,
    JOB_ATTEMPTS,
    JOB_MAX_TRIES,
    JOB_TIMEOUT,
    JOB_BACKOFF,
    JOB_RETRY_UNTIL,
    JOB_UNTIL
};

static void make_text(zval *out, dueq_bytes text) {
    if (text.size) {
        dueq_php_string(out, text);
    } else {
        ZVAL_NULL(out);
    }
}

/* 0 becomes null: none. */
static void make_number(zval *out, int64_t number) {
    if (number) {
        ZVAL_LONG(out, (zend_long)number);
    } else {
        ZVAL_NULL(out);
    }
}

static void make_data(zval *out, dueq_bytes data) {
    if (!data.size || !dueq_php_json_read(out, data)) {
        ZVAL_NULL(out);
    }
}

/* A list of the seconds in "10,60". */
static void make_backoff(zval *out, dueq_bytes backoff) {
    const char *at = backoff.data, *end = at + backoff.size;

    if (!backoff.size) {
        ZVAL_EMPTY_ARRAY(out);
        return;
    }
    array_init(out);
    while (at < end) {
        zend_long seconds = 0;

        for (; at < end && *at != ','; at++) {
            seconds = seconds * 10 + (*at - '0');
        }
        add_next_index_long(out, seconds);
        at++;
    }
}

static void make_job(zval *out, const dueq_php_source *source, const dueq_result *result,
                     size_t index) {
    const dueq_job *job = dueq_result_job(result, index);
    zend_object *object;

    object_init_ex(out, dueq_php_laravel_job_ce);
    object = Z_OBJ_P(out);
    GC_ADDREF(source->object);
    job_of(object)->queue = dueq_php_laravel_of(source->object);

    dueq_php_string(OBJ_PROP_NUM(object, JOB_PAYLOAD), job->payload);
    dueq_php_string(OBJ_PROP_NUM(object, JOB_RESERVED), job->reserved);
    make_text(OBJ_PROP_NUM(object, JOB_ID), job->id);
    make_text(OBJ_PROP_NUM(object, JOB_UUID), job->uuid);
    dueq_php_string(OBJ_PROP_NUM(object, JOB_NAME), job->job);
    make_data(OBJ_PROP_NUM(object, JOB_DATA), job->data);
    make_text(OBJ_PROP_NUM(object, JOB_DISPLAY_NAME), job->display_name);
    ZVAL_LONG(OBJ_PROP_NUM(object, JOB_ATTEMPTS), (zend_long)job->attempts);
    make_number(OBJ_PROP_NUM(object, JOB_MAX_TRIES), job->max_tries);
    make_number(OBJ_PROP_NUM(object, JOB_TIMEOUT), job->timeout_s);
    make_backoff(OBJ_PROP_NUM(object, JOB_BACKOFF), job->backoff);
    make_number(OBJ_PROP_NUM(object, JOB_RETRY_UNTIL), job->retry_until_s);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, JOB_UNTIL), dueq_php_seconds(job->until_ms));
}

/* pop, popStart, popMany */

typedef struct pop_options {
    int64_t timeout_ms, lease_ms;
} pop_options;

/*
 * Reads how a pop waits: timeout and retry_after are the parameters from number `first` on, and
 * NULL where they were not given. False: it threw.
 */
static bool read_options(const dueq_php_laravel *laravel, zval *timeout, zval *retry_after,
                         uint32_t first, pop_options *options) {
    const dueq_php_place timeout_place = {first, -1, "timeout"},
                         retry_after_place = {first + 1, -1, "retryAfter"};

    if ((timeout && !dueq_php_timeout(&timeout_place, timeout, &options->timeout_ms)) ||
        !dueq_php_limit(&retry_after_place, retry_after, &options->lease_ms)) {
        return false;
    }
    if (!options->lease_ms) {
        options->lease_ms = laravel->retry_after_ms;
    }
    return true;
}

static dueq_status pop(const dueq_php_source *source, dueq_laravel *queue, zend_long count,
                       const pop_options *options) {
    dueq_status status = dueq_php_finish_soon(
        source->client, dueq_laravel_pop_submit(queue, (size_t)MAX(count, 0), options->timeout_ms,
                                                options->lease_ms));

    if (status >= 0) {
        dueq_php_quarantined(source, dueq_result_quarantined(source->client->result));
    }
    return status;
}

ZEND_METHOD(Dueq_Laravel_Queue, pop) {
    zval *timeout = NULL, *retry_after = NULL;
    pop_options options = {0};

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(retry_after)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    if (!read_options(laravel, timeout, retry_after, 1, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = dueq_php_laravel_source(laravel);
    dueq_php_first(return_value, &source, pop(&source, laravel->queue, 1, &options), make_job);
}

static void make_popped(zval *out, const dueq_php_source *source, const dueq_result *result) {
    dueq_php_quarantined(source, dueq_result_quarantined(result));
    ZVAL_NULL(out);
    if (dueq_result_count(result)) {
        make_job(out, source, result, 0);
    }
}

ZEND_METHOD(Dueq_Laravel_Queue, popStart) {
    static const dueq_php_call call = {make_popped, dueq_php_put_back};
    pop_options options = {DUEQ_FOREVER, 0};
    zval *timeout = NULL, *retry_after = NULL;
    dueq_php_link *link;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(retry_after)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    if (!read_options(laravel, timeout, retry_after, 1, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = dueq_php_laravel_source(laravel);
    link = dueq_php_pending_open(return_value, &source, &call);
    if (link) {
        dueq_php_pending_start(
            return_value,
            dueq_laravel_pop_submit(link->queue, 1, options.timeout_ms, options.lease_ms));
    }
}

ZEND_METHOD(Dueq_Laravel_Queue, popMany) {
    zval *timeout = NULL, *retry_after = NULL;
    pop_options options = {0};
    zend_long count;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_LONG(count)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(retry_after)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    if (!read_options(laravel, timeout, retry_after, 2, &options)) {
        RETURN_THROWS();
    }
    const dueq_php_source source = dueq_php_laravel_source(laravel);
    dueq_php_list(return_value, &source, pop(&source, laravel->queue, count, &options), make_job);
}

/* deleteMany */

/* Whether the job belongs to a queue with the same keys. */
static bool is_of(const job_object *job, const dueq_php_laravel *queue) {
    return zend_string_equals(Z_STR_P(OBJ_PROP_NUM(&job->queue->std, 0)),
                              Z_STR_P(OBJ_PROP_NUM(&queue->std, 0))) &&
           zend_string_equals(Z_STR_P(OBJ_PROP_NUM(&job->queue->std, 1)),
                              Z_STR_P(OBJ_PROP_NUM(&queue->std, 1)));
}

static bool read_job(const void *verb, zval *value, zend_long number, dueq_bytes *item) {
    const dueq_php_place place = {1, number, "job"};

    if (Z_TYPE_P(value) != IS_OBJECT || Z_OBJCE_P(value) != dueq_php_laravel_job_ce) {
        dueq_php_type_error(&place, "Dueq\\Laravel\\Job|string", value);
        return false;
    }
    if (!job_of(Z_OBJ_P(value))->queue || !is_of(job_of(Z_OBJ_P(value)), verb)) {
        return dueq_php_invalid(&place, "be of this queue");
    }
    *item = dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(Z_OBJ_P(value), JOB_RESERVED)));
    return true;
}

static dueq_status submit_delete(const void *verb, const dueq_bytes *items, size_t count) {
    return dueq_laravel_delete_submit(((const dueq_php_laravel *)verb)->queue, items, count);
}

ZEND_METHOD(Dueq_Laravel_Queue, deleteMany) {
    HashTable *jobs;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(jobs)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    const dueq_php_many many = {laravel->client, read_job, submit_delete, laravel,
                                dueq_php_outcome_done};
    dueq_php_many_run(&many, jobs, return_value);
}

/* Dueq\Laravel\Job */

/* Job's constructor is private, so that each has its queue; other extensions may bypass it. */
static job_object *this_job(const zval *this) {
    job_object *job = job_of(Z_OBJ_P(this));

    if (!job->queue) {
        zend_throw_error(NULL, "This Dueq\\Laravel\\Job does not come from a queue");
        return NULL;
    }
    return job;
}

#define THIS_JOB(job)                                                                              \
    job_object *job = this_job(ZEND_THIS);                                                         \
    if (!job) {                                                                                    \
        RETURN_THROWS();                                                                           \
    }

#define LOST "the job is not ours any more: its time was over, or it was deleted or released"

static dueq_bytes reserved_of(const job_object *job) {
    return dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(&job->std, JOB_RESERVED)));
}

ZEND_METHOD(Dueq_Laravel_Job, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Laravel_Job, delete) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_JOB(job);
    const dueq_bytes reserved = reserved_of(job);
    dueq_php_finish_held(job->queue->client,
                         dueq_laravel_delete_submit(job->queue->queue, &reserved, 1), LOST);
}

ZEND_METHOD(Dueq_Laravel_Job, release) {
    const dueq_php_place place = {1, -1, "delay"};
    int64_t delay_ms = 0;
    zval *delay = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
    ZEND_PARSE_PARAMETERS_END();

    THIS_JOB(job);
    if (delay && !dueq_php_from_now(&place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    const dueq_bytes reserved = reserved_of(job);
    dueq_php_finish_held(job->queue->client,
                         dueq_laravel_release_submit(job->queue->queue, &reserved, 1, delay_ms),
                         LOST);
}
