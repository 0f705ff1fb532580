#include "php_laravel.h"

static zend_object_handlers handlers;

static zend_object *create(zend_class_entry *ce) {
    dueq_php_laravel *laravel = zend_object_alloc(sizeof *laravel, ce);

    zend_object_std_init(&laravel->std, ce);
    object_properties_init(&laravel->std, ce);
    laravel->std.handlers = &handlers;
    return &laravel->std;
}

static void release(zend_object *object) {
    dueq_php_laravel *laravel = dueq_php_laravel_of(object);

    dueq_laravel_close(laravel->queue);
    dueq_php_client_release(laravel->client);
    zend_object_std_dtor(object);
}

void dueq_php_laravel_startup(void) {
    dueq_php_laravel_queue_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(dueq_php_laravel, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum { LARAVEL_NAME, LARAVEL_PREFIX, LARAVEL_RETRY_AFTER };

static dueq_status open_on(dueq_client *client, const zend_string *name, const zend_string *prefix,
                           dueq_laravel **queue) {
    return dueq_laravel_open(client, ZSTR_VAL(name), ZSTR_LEN(name), dueq_php_bytes(prefix), queue);
}

/* Opens the queue with a client of its own. False: it threw. */
static bool open_queue(dueq_php_laravel *laravel, const zend_string *name,
                       const zend_string *prefix, const zend_string *url, bool persistent) {
    dueq_status status;

    laravel->client = dueq_php_client_open(url, persistent);
    if (!laravel->client) {
        return false;
    }
    status = open_on(laravel->client->client, name, prefix, &laravel->queue);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(laravel->client->client));
        dueq_php_client_release(laravel->client);
        laravel->client = NULL;
        return false;
    }
    return true;
}

ZEND_METHOD(Dueq_Laravel_Queue, __construct) {
    const dueq_php_place place = {4, -1, "retryAfter"};
    dueq_php_laravel *laravel = dueq_php_laravel_of(Z_OBJ_P(ZEND_THIS));
    zend_string *name = NULL, *url = NULL, *prefix = NULL;
    int64_t retry_after_ms = DUEQ_LARAVEL_RETRY_AFTER_MS;
    bool persistent = false, by_default = true;
    zval *retry_after = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 5)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(name)
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_STR(prefix)
        Z_PARAM_ZVAL(retry_after)
        Z_PARAM_BOOL_OR_NULL(persistent, by_default)
    ZEND_PARSE_PARAMETERS_END();

    if (laravel->queue) {
        zend_throw_error(NULL, "This Dueq\\Laravel\\Queue has been constructed already");
        RETURN_THROWS();
    }
    if (retry_after && !dueq_php_duration(&place, retry_after, &retry_after_ms)) {
        RETURN_THROWS();
    }
    if (retry_after_ms == 0) {
        dueq_php_invalid(&place, "be more than 0 seconds");
        RETURN_THROWS();
    }
    name = name ? zend_string_copy(name) : zend_string_init(ZEND_STRL("default"), false);
    prefix = prefix ? zend_string_copy(prefix) : ZSTR_EMPTY_ALLOC();
    if (open_queue(laravel, name, prefix, url, DUEQ_PHP_PERSISTENT(persistent, by_default))) {
        laravel->retry_after_ms = retry_after_ms;
        ZVAL_STR_COPY(OBJ_PROP_NUM(&laravel->std, LARAVEL_NAME), name);
        ZVAL_STR_COPY(OBJ_PROP_NUM(&laravel->std, LARAVEL_PREFIX), prefix);
        ZVAL_DOUBLE(OBJ_PROP_NUM(&laravel->std, LARAVEL_RETRY_AFTER),
                    dueq_php_seconds(retry_after_ms));
    }
    zend_string_release(name);
    zend_string_release(prefix);
}

dueq_php_laravel *dueq_php_this_laravel(const zval *this) {
    dueq_php_laravel *laravel = dueq_php_laravel_of(Z_OBJ_P(this));

    if (!laravel->queue) {
        zend_throw_error(NULL, "This Dueq\\Laravel\\Queue has not been constructed");
        return NULL;
    }
    return laravel;
}

/* On other clients */

static dueq_status open_again(zend_object *object, dueq_client *client, void **queue) {
    dueq_laravel *opened = NULL;
    dueq_status status = open_on(client, Z_STR_P(OBJ_PROP_NUM(object, LARAVEL_NAME)),
                                 Z_STR_P(OBJ_PROP_NUM(object, LARAVEL_PREFIX)), &opened);

    *queue = opened;
    return status;
}

static void close_again(void *queue) { dueq_laravel_close(queue); }

static dueq_status submit_size(void *queue) { return dueq_laravel_size_submit(queue); }

static dueq_status submit_migrate(void *queue, size_t most, int64_t timeout_ms) {
    return dueq_laravel_migrate_submit(queue, most, timeout_ms);
}

dueq_php_source dueq_php_laravel_source(dueq_php_laravel *laravel) {
    static const dueq_php_interop interop = {open_again, close_again, submit_size, submit_migrate,
                                             "Laravel's queue"};

    return (dueq_php_source){
        .object = &laravel->std, .client = laravel->client, .interop = &interop};
}

ZEND_METHOD(Dueq_Laravel_Queue, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LARAVEL(laravel);
    RETURN_STRING(dueq_client_url(laravel->client->client));
}

/* Pushes */

/* Pushes one job, and makes its id; or throws. */
static void push(zval *this, zval *out, const dueq_php_job_fields *fields) {
    dueq_php_laravel *laravel = dueq_php_this_laravel(this);
    HashTable *held;
    dueq_laravel_draft draft;
    dueq_status status = DUEQ_INVALID;

    if (!laravel) {
        return;
    }
    held = zend_new_array(0);
    if (dueq_php_job_draft_fill(&draft, fields, -1, held)) {
        status =
            dueq_php_finish(laravel->client, dueq_laravel_push_submit(laravel->queue, &draft, 1));
    }
    zend_array_release(held);
    if (status == DUEQ_DUPLICATE) {
        dueq_php_throw(status, "a delayed payload of exactly these bytes is there");
    }
    if (!EG(exception)) {
        dueq_php_string(out, dueq_result_id(laravel->client->result, 0));
    }
}

#define PARAM_OPTIONS(fields)                                                                      \
    Z_PARAM_STR_OR_NULL((fields).display_name)                                                     \
    Z_PARAM_ZVAL((fields).max_tries)                                                               \
    Z_PARAM_ZVAL((fields).max_exceptions)                                                          \
    Z_PARAM_ZVAL((fields).timeout)                                                                 \
    Z_PARAM_ZVAL((fields).backoff)                                                                 \
    Z_PARAM_ZVAL((fields).retry_until)                                                             \
    Z_PARAM_BOOL((fields).fail_on_timeout)

ZEND_METHOD(Dueq_Laravel_Queue, push) {
    dueq_php_job_fields fields = {.delay_number = 3, .options_number = 5};

    ZEND_PARSE_PARAMETERS_START(1, 11)
        Z_PARAM_STR(fields.job)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.data)
        Z_PARAM_ZVAL(fields.delay)
        Z_PARAM_ZVAL(fields.at)
        PARAM_OPTIONS(fields)
    ZEND_PARSE_PARAMETERS_END();

    push(ZEND_THIS, return_value, &fields);
}

ZEND_METHOD(Dueq_Laravel_Queue, later) {
    static const dueq_php_place place = {1, -1, "delay"};
    dueq_php_job_fields fields = {.delay_number = 1, .options_number = 4};
    int64_t delay_ms;
    zval *when, delay;

    ZEND_PARSE_PARAMETERS_START(2, 10)
        Z_PARAM_ZVAL(when)
        Z_PARAM_STR(fields.job)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.data)
        PARAM_OPTIONS(fields)
    ZEND_PARSE_PARAMETERS_END();

    if (!dueq_php_from_now(&place, when, &delay_ms)) {
        RETURN_THROWS();
    }
    ZVAL_DOUBLE(&delay, dueq_php_seconds(delay_ms));
    fields.delay = &delay;
    push(ZEND_THIS, return_value, &fields);
}

ZEND_METHOD(Dueq_Laravel_Queue, pushRaw) {
    dueq_php_job_fields fields = {.delay_number = 2};

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(fields.payload)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.delay)
        Z_PARAM_ZVAL(fields.at)
    ZEND_PARSE_PARAMETERS_END();

    push(ZEND_THIS, return_value, &fields);
}

ZEND_METHOD(Dueq_Laravel_Queue, pushObject) {
    dueq_php_job_fields fields = {.delay_number = 3, .options_number = 5};

    ZEND_PARSE_PARAMETERS_START(2, 11)
        Z_PARAM_STR(fields.command_name)
        Z_PARAM_STR(fields.command)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.delay)
        Z_PARAM_ZVAL(fields.at)
        PARAM_OPTIONS(fields)
    ZEND_PARSE_PARAMETERS_END();

    push(ZEND_THIS, return_value, &fields);
}

/* Pushes drafts in batches of one call each; `out` becomes the list of their ids. */
static void push_drafts(dueq_php_laravel *laravel, const dueq_laravel_draft *drafts, size_t count,
                        zval *out) {
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += DUEQ_MAX_BATCH) {
        size_t step = MIN(count - done, DUEQ_MAX_BATCH);

        if (dueq_php_finish(laravel->client,
                            dueq_laravel_push_submit(laravel->queue, drafts + done, step)) < 0) {
            return;
        }
        dueq_php_ids_append(Z_ARRVAL_P(out), laravel->client->result, 0);
    }
}

ZEND_METHOD(Dueq_Laravel_Queue, pushMany) {
    dueq_laravel_draft *drafts;
    HashTable *jobs, *held;
    size_t count;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(jobs)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    count = zend_hash_num_elements(jobs);
    drafts = safe_emalloc(MAX(count, 1), sizeof *drafts, 0);
    held = zend_new_array(0);
    if (dueq_php_job_drafts_read(drafts, jobs, held)) {
        push_drafts(laravel, drafts, count, return_value);
    }
    zend_array_release(held);
    efree(drafts);
}

/* The queue */

ZEND_METHOD(Dueq_Laravel_Queue, size) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LARAVEL(laravel);
    if (dueq_php_finish(laravel->client, dueq_laravel_size_submit(laravel->queue)) == DUEQ_OK) {
        dueq_php_sizes_make(return_value, dueq_result_sizes(laravel->client->result));
    }
}

ZEND_METHOD(Dueq_Laravel_Queue, clear) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LARAVEL(laravel);
    if (dueq_php_finish(laravel->client, dueq_laravel_clear_submit(laravel->queue)) >= 0) {
        RETURN_LONG((zend_long)dueq_result_purged(laravel->client->result));
    }
}

ZEND_METHOD(Dueq_Laravel_Queue, migrate) {
    THIS_LARAVEL(laravel);
    const dueq_php_source source = dueq_php_laravel_source(laravel);
    dueq_php_move(execute_data, return_value, &source, laravel->queue);
}

ZEND_METHOD(Dueq_Laravel_Queue, migrateStart) {
    THIS_LARAVEL(laravel);
    const dueq_php_source source = dueq_php_laravel_source(laravel);
    dueq_php_move_start(execute_data, return_value, &source);
}

ZEND_METHOD(Dueq_Laravel_Queue, runMigrate) {
    THIS_LARAVEL(laravel);
    const dueq_php_source source = dueq_php_laravel_source(laravel);
    dueq_php_move_run(execute_data, &source);
}
