#include "foreign.h"

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

/* 0 stands for none. */
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

static void make(zval *out, dueq_php_laravel *queue, const dueq_job *job) {
    zend_object *object;

    object_init_ex(out, dueq_php_laravel_job_ce);
    object = Z_OBJ_P(out);
    GC_ADDREF(&queue->std);
    job_of(object)->queue = queue;

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

void dueq_php_job_first(zval *out, dueq_php_laravel *queue) {
    make(out, queue, dueq_result_job(queue->client->result, 0));
    dueq_php_client_forget(queue->client);
}

void dueq_php_job_list(zval *out, dueq_php_laravel *queue) {
    size_t count = dueq_result_count(queue->client->result);

    array_init_size(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        zval job;

        make(&job, queue, dueq_result_job(queue->client->result, i));
        zend_hash_next_index_insert_new(Z_ARRVAL_P(out), &job);
    }
    dueq_php_client_forget(queue->client);
}

/* ---- deleteMany ---- */

/* Is it of a queue with the keys of this one? */
static bool is_of(const job_object *job, const dueq_php_laravel *queue) {
    return zend_string_equals(Z_STR_P(OBJ_PROP_NUM(&job->queue->std, 0)),
                              Z_STR_P(OBJ_PROP_NUM(&queue->std, 0))) &&
           zend_string_equals(Z_STR_P(OBJ_PROP_NUM(&job->queue->std, 1)),
                              Z_STR_P(OBJ_PROP_NUM(&queue->std, 1)));
}

/* False: it threw. */
static bool read_item(const dueq_php_laravel *queue, zval *value, zend_long number,
                      dueq_bytes *item) {
    const dueq_php_place place = {1, number, "job"};

    ZVAL_DEREF(value);
    if (Z_TYPE_P(value) == IS_STRING) {
        *item = dueq_php_bytes(Z_STR_P(value));
        return true;
    }
    if (Z_TYPE_P(value) != IS_OBJECT || Z_OBJCE_P(value) != dueq_php_laravel_job_ce) {
        dueq_php_type_error(&place, "Dueq\\LaravelJob|string", value);
        return false;
    }
    if (!job_of(Z_OBJ_P(value))->queue || !is_of(job_of(Z_OBJ_P(value)), queue)) {
        return dueq_php_invalid(&place, "be of this queue");
    }
    *item = dueq_php_bytes(Z_STR_P(OBJ_PROP_NUM(Z_OBJ_P(value), JOB_RESERVED)));
    return true;
}

/* The bytes of each; a list to free, NULL after an exception. */
static dueq_bytes *read_items(const dueq_php_laravel *queue, HashTable *jobs) {
    dueq_bytes *items = safe_emalloc(MAX(zend_hash_num_elements(jobs), 1), sizeof *items, 0);
    zend_long count = 0;
    zval *value;

    ZEND_HASH_FOREACH_VAL(jobs, value) {
        if (!read_item(queue, value, count, &items[count])) {
            efree(items);
            return NULL;
        }
        count++;
    }
    ZEND_HASH_FOREACH_END();
    return items;
}

void dueq_php_job_delete_many(zval *out, dueq_php_laravel *queue, HashTable *jobs) {
    size_t count = zend_hash_num_elements(jobs), step;
    dueq_bytes *items = read_items(queue, jobs);

    if (!items) {
        return;
    }
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += step) {
        step = MIN(count - done, DUEQ_MAX_BATCH);
        if (dueq_php_finish(queue->client,
                            dueq_laravel_delete_submit(queue->queue, items + done, step)) < 0) {
            break;
        }
        for (size_t i = 0; i < step; i++) {
            add_next_index_bool(out, dueq_result_status(queue->client->result, i) == DUEQ_OK);
        }
    }
    efree(items);
}

/* ---- Methods ---- */

/* LaravelJob's constructor is private, so that each has its queue; other extensions may bypass it. */
static job_object *this_job(const zval *this) {
    job_object *job = job_of(Z_OBJ_P(this));

    if (!job->queue) {
        zend_throw_error(NULL, "This Dueq\\LaravelJob does not come from a queue");
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

ZEND_METHOD(Dueq_LaravelJob, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_LaravelJob, delete) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_JOB(job);
    const dueq_bytes reserved = reserved_of(job);
    dueq_php_finish_held(job->queue->client,
                         dueq_laravel_delete_submit(job->queue->queue, &reserved, 1), LOST);
}

ZEND_METHOD(Dueq_LaravelJob, release) {
    const dueq_php_place place = {1, -1, "delay"};
    int64_t delay_ms = 0;
    zval *delay = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
    ZEND_PARSE_PARAMETERS_END();

    THIS_JOB(job);
    if (delay && !dueq_php_duration(&place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    const dueq_bytes reserved = reserved_of(job);
    dueq_php_finish_held(job->queue->client,
                         dueq_laravel_release_submit(job->queue->queue, &reserved, 1, delay_ms),
                         LOST);
}
