#include "php_dueq.h"

static zend_object_handlers handlers;

static zend_object *create(zend_class_entry *ce) {
    dueq_php_queue *queue = zend_object_alloc(sizeof *queue, ce);

    zend_object_std_init(&queue->std, ce);
    object_properties_init(&queue->std, ce);
    queue->std.handlers = &handlers;
    return &queue->std;
}

static void release(zend_object *object) {
    dueq_php_queue *queue = dueq_php_queue_of(object);

    dueq_result_free(queue->result);
    dueq_queue_close(queue->queue);
    dueq_close(queue->client);
    zend_object_std_dtor(object);
}

void dueq_php_queue_startup(void) {
    dueq_php_queue_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(dueq_php_queue, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The queue of $this; NULL, with an Error thrown, before its constructor has run. */
static dueq_php_queue *this_queue(const zval *this) {
    dueq_php_queue *queue = dueq_php_queue_of(Z_OBJ_P(this));

    if (!queue->queue) {
        zend_throw_error(NULL, "This Dueq\\Queue has not been constructed");
        return NULL;
    }
    return queue;
}

#define THIS_QUEUE(queue)                                                                          \
    dueq_php_queue *queue = this_queue(ZEND_THIS);                                                 \
    if (!queue) {                                                                                  \
        RETURN_THROWS();                                                                           \
    }

ZEND_METHOD(Dueq_Queue, __construct) {
    dueq_php_queue *queue = dueq_php_queue_of(Z_OBJ_P(ZEND_THIS));
    zend_string *name, *url = NULL;
    dueq_status status;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(name)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
    ZEND_PARSE_PARAMETERS_END();

    if (queue->client) {
        zend_throw_error(NULL, "This Dueq\\Queue has been constructed already");
        RETURN_THROWS();
    }
    if (url && zend_str_has_nul_byte(url)) {
        dueq_php_throw(DUEQ_URL, "the URL has a NUL byte in it");
        RETURN_THROWS();
    }
    status = dueq_open(url ? ZSTR_VAL(url) : NULL, &queue->client);
    if (status == DUEQ_OK) {
        status = dueq_queue_open(queue->client, ZSTR_VAL(name), ZSTR_LEN(name), &queue->queue);
    }
    if (status != DUEQ_OK) {
        dueq_php_throw(status, queue->client ? dueq_error_text(queue->client) : NULL);
        RETURN_THROWS();
    }
    ZVAL_STR_COPY(OBJ_PROP_NUM(&queue->std, 0), name);
}

ZEND_METHOD(Dueq_Queue, url) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    RETURN_STRING(dueq_client_url(queue->client));
}

ZEND_METHOD(Dueq_Queue, newId) {
    char id[DUEQ_MAX_ID + 1];

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    dueq_new_id(queue->client, id);
    RETURN_STRING(id);
}

ZEND_METHOD(Dueq_Queue, push) {
    dueq_php_fields fields = {.max_attempts = DUEQ_DEFAULT_ATTEMPTS};
    bool unlimited = false;
    dueq_draft draft;
    dueq_status status = DUEQ_INVALID;

    ZEND_PARSE_PARAMETERS_START(1, 7)
        Z_PARAM_STR(fields.body)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields.delay)
        Z_PARAM_ZVAL(fields.at)
        Z_PARAM_STR_OR_NULL(fields.id)
        Z_PARAM_LONG_OR_NULL(fields.max_attempts, unlimited)
        Z_PARAM_ZVAL(fields.lease)
        Z_PARAM_ARRAY_HT(fields.headers)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    zend_arena *arena = zend_arena_create(1024);
    if (dueq_php_draft_fill(&draft, &fields, -1, &arena)) {
        status = dueq_php_finish(queue, dueq_push_submit(queue->queue, &draft, 1));
    }
    zend_arena_destroy(arena);
    if (status == DUEQ_DUPLICATE) {
        dueq_php_throw(status, NULL);
    }
    if (EG(exception)) {
        RETURN_THROWS();
    }
    dueq_php_string(return_value, dueq_result_id(queue->result, 0));
}

/* Pushes drafts in steps of one call each; `out` becomes the list of their ids. */
static void push_drafts(dueq_php_queue *queue, const dueq_draft *drafts, size_t count, zval *out) {
    array_init_size(out, (uint32_t)count);
    for (size_t done = 0; done < count; done += DUEQ_MAX_BATCH) {
        size_t step = MIN(count - done, DUEQ_MAX_BATCH);

        if (dueq_php_finish(queue, dueq_push_submit(queue->queue, drafts + done, step)) < 0) {
            return;
        }
        for (size_t i = 0; i < step; i++) {
            zval id;

            ZVAL_NULL(&id);
            if (dueq_result_status(queue->result, i) == DUEQ_OK) {
                dueq_php_string(&id, dueq_result_id(queue->result, i));
            }
            zend_hash_next_index_insert_new(Z_ARRVAL_P(out), &id);
        }
    }
}

ZEND_METHOD(Dueq_Queue, pushMany) {
    HashTable *messages;
    dueq_draft *drafts;
    size_t count = 0;
    bool good = true;
    zval *value;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(messages)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    zend_arena *arena = zend_arena_create(16 * 1024);
    drafts = safe_emalloc(zend_hash_num_elements(messages), sizeof *drafts, 0);
    ZEND_HASH_FOREACH_VAL(messages, value) {
        good = dueq_php_draft_read(&drafts[count], value, (zend_long)count, &arena);
        if (!good) {
            break;
        }
        count++;
    }
    ZEND_HASH_FOREACH_END();
    if (good) {
        push_drafts(queue, drafts, count, return_value);
    }
    efree(drafts);
    zend_arena_destroy(arena);
}

/* A result with bodies, which PHP has a copy of now, is not kept until the next call. */
static void drop_result(dueq_php_queue *queue) {
    dueq_result_free(queue->result);
    queue->result = NULL;
}

/* The common part of reserve and reserveMany; the arguments from number `first` on are given. */
static dueq_status reserve(dueq_php_queue *queue, zend_long count, zval *timeout, zval *lease,
                           uint32_t first) {
    const dueq_php_place timeout_place = {first, -1, "timeout"},
                         lease_place = {first + 1, -1, "lease"};
    int64_t timeout_ms = 0, lease_ms = 0;

    if ((timeout && !dueq_php_timeout(&timeout_place, timeout, &timeout_ms)) ||
        !dueq_php_lease(&lease_place, lease, &lease_ms)) {
        return DUEQ_INVALID;
    }
    return dueq_php_finish_wait(
        queue, dueq_reserve_submit(queue->queue, (size_t)MAX(count, 0), timeout_ms, lease_ms));
}

ZEND_METHOD(Dueq_Queue, reserve) {
    zval *timeout = NULL, *lease = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (reserve(queue, 1, timeout, lease, 1) == DUEQ_OK) {
        dueq_php_message_make(return_value, queue, dueq_result_message(queue->result, 0));
        drop_result(queue);
    }
}

ZEND_METHOD(Dueq_Queue, reserveMany) {
    zval *timeout = NULL, *lease = NULL;
    zend_long count;
    dueq_status status;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_LONG(count)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    status = reserve(queue, count, timeout, lease, 2);
    if (status < 0 && EG(exception)) {
        RETURN_THROWS();
    }
    if (status != DUEQ_OK) {
        RETURN_EMPTY_ARRAY();
    }
    array_init_size(return_value, (uint32_t)dueq_result_count(queue->result));
    for (size_t i = 0; i < dueq_result_count(queue->result); i++) {
        zval message;

        dueq_php_message_make(&message, queue, dueq_result_message(queue->result, i));
        zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &message);
    }
    drop_result(queue);
}

/* The bytes of each ticket or id; `items` is a list to free, NULL after an exception. */
static dueq_bytes *read_items(dueq_php_queue *queue, HashTable *table, bool tickets) {
    dueq_bytes *items = safe_emalloc(zend_hash_num_elements(table), sizeof *items, 0);
    size_t count = 0;
    zval *value;

    ZEND_HASH_FOREACH_VAL(table, value) {
        dueq_php_place place = {1, (zend_long)count, tickets ? "message" : "id"};
        dueq_bytes item = {NULL, 0};

        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) == IS_STRING) {
            item = dueq_php_bytes(Z_STR_P(value));
        } else if (tickets && Z_TYPE_P(value) == IS_OBJECT &&
                   Z_OBJCE_P(value) == dueq_php_message_ce) {
            item = dueq_php_message_ticket(Z_OBJ_P(value), queue);
            if (!item.data) {
                dueq_php_throw_format(DUEQ_INVALID, "message %zu is of another Dueq\\Queue object",
                                      count);
            }
        } else {
            dueq_php_type_error(&place, tickets ? "Dueq\\Message|string" : "string", value);
        }
        if (EG(exception)) {
            efree(items);
            return NULL;
        }
        items[count++] = item;
    }
    ZEND_HASH_FOREACH_END();
    return items;
}

static void each(dueq_php_queue *queue, dueq_php_submit submit, HashTable *table, bool tickets,
                 zval *return_value) {
    dueq_bytes *items = read_items(queue, table, tickets);

    if (items) {
        dueq_php_each(queue, submit, items, zend_hash_num_elements(table), return_value);
        efree(items);
    }
}

ZEND_METHOD(Dueq_Queue, ackMany) {
    HashTable *messages;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(messages)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    each(queue, dueq_ack_submit, messages, true, return_value);
}

ZEND_METHOD(Dueq_Queue, cancel) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    const dueq_bytes item = dueq_php_bytes(id);
    RETURN_BOOL(dueq_php_finish(queue, dueq_cancel_submit(queue->queue, &item, 1)) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Queue, cancelMany) {
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    each(queue, dueq_cancel_submit, ids, false, return_value);
}

ZEND_METHOD(Dueq_Queue, find) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (dueq_php_finish(queue, dueq_find_submit(queue->queue, dueq_php_bytes(id))) == DUEQ_OK) {
        dueq_php_message_make(return_value, queue, dueq_result_message(queue->result, 0));
        drop_result(queue);
    }
}

ZEND_METHOD(Dueq_Queue, kick) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    const dueq_bytes item = dueq_php_bytes(id);
    RETURN_BOOL(dueq_php_finish(queue, dueq_kick_submit(queue->queue, &item, 1)) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Queue, kickMany) {
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    each(queue, dueq_kick_submit, ids, false, return_value);
}

ZEND_METHOD(Dueq_Queue, reschedule) {
    zend_string *id;
    zval *delay = NULL, *at = NULL;
    int64_t delay_ms, at_ms;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_ZVAL(at)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (!dueq_php_due(delay, at, -1, &delay_ms, &at_ms)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(dueq_php_finish(queue, dueq_reschedule_submit(queue->queue, dueq_php_bytes(id),
                                                              delay_ms, at_ms)) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Queue, pause) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    dueq_php_finish(queue, dueq_pause_submit(queue->queue));
}

ZEND_METHOD(Dueq_Queue, resume) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    dueq_php_finish(queue, dueq_resume_submit(queue->queue));
}

/* False: it threw, as there is no state of this name. */
static bool read_state(const zend_string *name, dueq_state *state) {
    for (*state = DUEQ_READY; *state <= DUEQ_DEAD; (*state)++) {
        if (zend_string_equals_cstr(name, dueq_state_name(*state),
                                    strlen(dueq_state_name(*state)))) {
            return true;
        }
    }
    dueq_php_throw(DUEQ_INVALID, "state must be ready, delayed, leased or dead");
    return false;
}

/* Calls what purge was given to report its progress to. */
static void report(zend_fcall_info *call, zend_fcall_info_cache *cache, zend_long total) {
    zval argument, returned;

    ZVAL_LONG(&argument, total);
    ZVAL_UNDEF(&returned);
    call->params = &argument;
    call->param_count = 1;
    call->retval = &returned;
    zend_call_function(call, cache);
    zval_ptr_dtor(&returned);
}

ZEND_METHOD(Dueq_Queue, purge) {
    zend_string *name;
    zend_fcall_info progress = empty_fcall_info;
    zend_fcall_info_cache cache = empty_fcall_info_cache;
    zend_long total = 0;
    dueq_state state;
    dueq_status status;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(name)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(progress, cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (!read_state(name, &state)) {
        RETURN_THROWS();
    }
    do {
        status = dueq_php_finish(queue, dueq_purge_submit(queue->queue, state, DUEQ_MAX_BATCH));
        if (status >= 0) {
            total += (zend_long)dueq_result_purged(queue->result);
            if (ZEND_FCI_INITIALIZED(progress)) {
                report(&progress, &cache, total);
            }
        }
        if (EG(exception)) {
            RETURN_THROWS();
        }
    } while (status == DUEQ_OK);
    RETURN_LONG(total);
}

ZEND_METHOD(Dueq_Queue, stats) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    if (dueq_php_finish(queue, dueq_stats_submit(queue->queue)) == DUEQ_OK) {
        dueq_php_stats_make(return_value, dueq_result_counts(queue->result));
    }
}
