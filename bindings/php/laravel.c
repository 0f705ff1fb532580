#include "foreign.h"

static zend_object_handlers handlers;

static dueq_php_laravel *laravel_of(zend_object *object) {
    return (dueq_php_laravel *)((char *)object - offsetof(dueq_php_laravel, std));
}

static zend_object *create(zend_class_entry *ce) {
    dueq_php_laravel *laravel = zend_object_alloc(sizeof *laravel, ce);

    zend_object_std_init(&laravel->std, ce);
    object_properties_init(&laravel->std, ce);
    laravel->std.handlers = &handlers;
    return &laravel->std;
}

static void release(zend_object *object) {
    dueq_php_laravel *laravel = laravel_of(object);

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

/* Opens it with a client of its own. False: it threw. */
static bool open_queue(dueq_php_laravel *laravel, const zend_string *name,
                       const zend_string *prefix, const zend_string *url) {
    dueq_status status;

    laravel->client = dueq_php_client_open(url);
    if (!laravel->client) {
        return false;
    }
    status = dueq_laravel_open(laravel->client->client, ZSTR_VAL(name), ZSTR_LEN(name),
                               dueq_php_bytes(prefix), &laravel->queue);
    if (status != DUEQ_OK) {
        dueq_php_throw(status, dueq_error_text(laravel->client->client));
        dueq_php_client_release(laravel->client);
        laravel->client = NULL;
        return false;
    }
    return true;
}

ZEND_METHOD(Dueq_LaravelQueue, __construct) {
    const dueq_php_place place = {4, -1, "retryAfter"};
    dueq_php_laravel *laravel = laravel_of(Z_OBJ_P(ZEND_THIS));
    zend_string *name = NULL, *url = NULL, *prefix = NULL;
    int64_t retry_after_ms = DUEQ_LARAVEL_RETRY_AFTER_MS;
    zval *retry_after = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 4)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(name)
        Z_PARAM_STR_OR_NULL(url)
        Z_PARAM_STR(prefix)
        Z_PARAM_ZVAL(retry_after)
    ZEND_PARSE_PARAMETERS_END();

    if (laravel->queue) {
        zend_throw_error(NULL, "This Dueq\\LaravelQueue has been constructed already");
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
    if (open_queue(laravel, name, prefix, url)) {
        laravel->retry_after_ms = retry_after_ms;
        ZVAL_STR_COPY(OBJ_PROP_NUM(&laravel->std, LARAVEL_NAME), name);
        ZVAL_STR_COPY(OBJ_PROP_NUM(&laravel->std, LARAVEL_PREFIX), prefix);
        ZVAL_DOUBLE(OBJ_PROP_NUM(&laravel->std, LARAVEL_RETRY_AFTER),
                    dueq_php_seconds(retry_after_ms));
    }
    zend_string_release(name);
    zend_string_release(prefix);
}

/* NULL, with an Error thrown, before its constructor has run. */
static dueq_php_laravel *this_laravel(const zval *this) {
    dueq_php_laravel *laravel = laravel_of(Z_OBJ_P(this));

    if (!laravel->queue) {
        zend_throw_error(NULL, "This Dueq\\LaravelQueue has not been constructed");
        return NULL;
    }
    return laravel;
}

#define THIS_LARAVEL(laravel)                                                                      \
    dueq_php_laravel *laravel = this_laravel(ZEND_THIS);                                           \
    if (!laravel) {                                                                                \
        RETURN_THROWS();                                                                           \
    }

static const zend_string *text_of(const dueq_php_laravel *laravel, uint32_t property) {
    return Z_STR_P(OBJ_PROP_NUM(&laravel->std, property));
}

ZEND_METHOD(Dueq_LaravelQueue, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LARAVEL(laravel);
    RETURN_STRING(dueq_client_url(laravel->client->client));
}

/* ---- Pushes ---- */

/* Pushes one job, and makes its id; or throws. */
static void push(zval *this, zval *out, const dueq_php_job_fields *fields) {
    dueq_php_laravel *laravel = this_laravel(this);
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

ZEND_METHOD(Dueq_LaravelQueue, push) {
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

ZEND_METHOD(Dueq_LaravelQueue, later) {
    dueq_php_job_fields fields = {.delay_number = 1, .options_number = 4};

    ZEND_PARSE_PARAMETERS_START(2, 10)
        Z_PARAM_ZVAL(fields.delay)
        Z_PARAM_STR(fields.job)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.data)
        PARAM_OPTIONS(fields)
    ZEND_PARSE_PARAMETERS_END();

    push(ZEND_THIS, return_value, &fields);
}

ZEND_METHOD(Dueq_LaravelQueue, pushRaw) {
    dueq_php_job_fields fields = {.delay_number = 2};

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(fields.payload)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.delay)
        Z_PARAM_ZVAL(fields.at)
    ZEND_PARSE_PARAMETERS_END();

    push(ZEND_THIS, return_value, &fields);
}

ZEND_METHOD(Dueq_LaravelQueue, pushObject) {
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

/* Pushes drafts in steps of one call each; `out` becomes the list of their ids. */
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

ZEND_METHOD(Dueq_LaravelQueue, pushMany) {
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

/* ---- Pops ---- */

#define WHAT "Laravel's queue"

/*
 * Pops jobs. timeout and retry_after are the parameters from number `first` on, and NULL where they were
 * not given. Whether there are any; it may have thrown.
 */
static bool pop(dueq_php_laravel *laravel, zend_long count, zval *timeout, zval *retry_after,
                uint32_t first) {
    const dueq_php_place timeout_place = {first, -1, "timeout"},
                         retry_after_place = {first + 1, -1, "retryAfter"};
    int64_t timeout_ms = 0, retry_after_ms = 0;
    dueq_status status;

    if ((timeout && !dueq_php_timeout(&timeout_place, timeout, &timeout_ms)) ||
        !dueq_php_limit(&retry_after_place, retry_after, &retry_after_ms)) {
        return false;
    }
    status = dueq_php_finish_soon(
        laravel->client,
        dueq_laravel_pop_submit(laravel->queue, (size_t)MAX(count, 0), timeout_ms,
                                retry_after_ms ? retry_after_ms : laravel->retry_after_ms));
    if (status >= 0) {
        dueq_php_damaged(WHAT, text_of(laravel, LARAVEL_NAME),
                         dueq_result_damaged(laravel->client->result));
    }
    return status == DUEQ_OK;
}

ZEND_METHOD(Dueq_LaravelQueue, pop) {
    zval *timeout = NULL, *retry_after = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(retry_after)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    if (pop(laravel, 1, timeout, retry_after, 1)) {
        dueq_php_job_first(return_value, laravel);
    }
}

ZEND_METHOD(Dueq_LaravelQueue, popMany) {
    zval *timeout = NULL, *retry_after = NULL;
    zend_long count;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_LONG(count)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(retry_after)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    if (pop(laravel, count, timeout, retry_after, 2)) {
        dueq_php_job_list(return_value, laravel);
    } else if (!EG(exception)) {
        RETURN_EMPTY_ARRAY();
    }
}

ZEND_METHOD(Dueq_LaravelQueue, deleteMany) {
    HashTable *jobs;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(jobs)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    dueq_php_job_delete_many(return_value, laravel, jobs);
}

/* ---- The queue ---- */

ZEND_METHOD(Dueq_LaravelQueue, size) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LARAVEL(laravel);
    if (dueq_php_finish(laravel->client, dueq_laravel_size_submit(laravel->queue)) == DUEQ_OK) {
        dueq_php_sizes_make(return_value, dueq_result_sizes(laravel->client->result));
    }
}

ZEND_METHOD(Dueq_LaravelQueue, clear) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_LARAVEL(laravel);
    if (dueq_php_finish(laravel->client, dueq_laravel_clear_submit(laravel->queue)) >= 0) {
        RETURN_LONG((zend_long)dueq_result_purged(laravel->client->result));
    }
}

ZEND_METHOD(Dueq_LaravelQueue, migrate) {
    const dueq_php_place place = {1, -1, "timeout"};
    zend_long most = DUEQ_MAX_BATCH;
    int64_t timeout_ms = 0;
    zval *timeout = NULL;
    const dueq_moved *moved;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_LONG(most)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    if (timeout && !dueq_php_timeout(&place, timeout, &timeout_ms)) {
        RETURN_THROWS();
    }
    dueq_php_finish_soon(laravel->client, dueq_laravel_migrate_submit(
                                              laravel->queue, (size_t)MAX(most, 0), timeout_ms));
    if (EG(exception)) {
        RETURN_THROWS();
    }
    moved = dueq_result_moved(laravel->client->result);
    dueq_php_damaged(WHAT, text_of(laravel, LARAVEL_NAME), moved ? moved->damaged : 0);
    dueq_php_moved_make(return_value, moved);
}

static dueq_status submit_step(zend_object *object) {
    return dueq_laravel_migrate_submit(laravel_of(object)->queue, DUEQ_MAX_BATCH, DUEQ_FOREVER);
}

ZEND_METHOD(Dueq_LaravelQueue, runMigrate) {
    dueq_php_agent agent = {.submit = submit_step, .what = WHAT};
    dueq_php_laravel *twin;
    zval object;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(agent.until, agent.until_cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_LARAVEL(laravel);
    /* An object holds the agent's client: PHP frees it after a bailout too. */
    object_init_ex(&object, dueq_php_laravel_queue_ce);
    twin = laravel_of(Z_OBJ(object));
    agent.name = text_of(laravel, LARAVEL_NAME);
    if (open_queue(twin, agent.name, text_of(laravel, LARAVEL_PREFIX), laravel->client->url)) {
        agent.client = twin->client;
        agent.queue = &twin->std;
        dueq_php_agent_run(&agent);
    }
    zval_ptr_dtor(&object);
}
