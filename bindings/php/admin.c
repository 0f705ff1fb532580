#include "fields.h"

/* Reads a list of names of queues. False: it threw. */
static bool read_targets(HashTable *list, dueq_bytes *targets) {
    uint32_t count = 0;
    zval *value;

    ZEND_HASH_FOREACH_VAL(list, value) {
        const dueq_php_place place = {1, (int)count + 1, "name"};

        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) != IS_STRING) {
            dueq_php_type_error(&place, "string", value);
            return false;
        }
        targets[count++] = dueq_php_bytes(Z_STR_P(value));
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

ZEND_METHOD(Dueq_Queue, allow) {
    HashTable *list = NULL;
    zend_string *name = NULL;
    dueq_bytes one, *targets = NULL;
    uint32_t count = 0;
    bool any = false, good = true;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(list, name)
        Z_PARAM_BOOL(any)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (name) {
        one = dueq_php_bytes(name);
        targets = &one;
        count = 1;
    } else if (list) {
        count = zend_hash_num_elements(list);
        targets = safe_emalloc(count + 1, sizeof *targets, 0);
        good = read_targets(list, targets);
    }
    if (good) {
        dueq_php_finish(queue->client, dueq_allow_submit(queue->queue, targets, count, any));
    }
    if (list) {
        efree(targets);
    }
    if (EG(exception)) {
        RETURN_THROWS();
    }
    array_init_size(return_value, (uint32_t)dueq_result_count(queue->client->result));
    for (size_t i = 0; i < dueq_result_count(queue->client->result); i++) {
        zval found;

        dueq_php_string(&found, dueq_result_id(queue->client->result, i));
        zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &found);
    }
}

/*
 * The callback to which kickAll, purge, purgeGroup and check report their progress, and the count
 * so far.
 */
typedef struct progress {
    zend_fcall_info call;
    zend_fcall_info_cache cache;
    zend_long total;
} progress;

#define NO_PROGRESS {empty_fcall_info, empty_fcall_info_cache, 0}

/* Adds a step's count and reports. False: the callee threw. */
static bool report(progress *progress, size_t count) {
    zval argument, returned;

    progress->total += (zend_long)count;
    if (!ZEND_FCI_INITIALIZED(progress->call)) {
        return true;
    }
    ZVAL_LONG(&argument, progress->total);
    ZVAL_UNDEF(&returned);
    progress->call.params = &argument;
    progress->call.param_count = 1;
    progress->call.retval = &returned;
    zend_call_function(&progress->call, &progress->cache);
    zval_ptr_dtor(&returned);
    return !EG(exception);
}

/* Takes the cursor of the next page: a copy, as the callback may use the queue. */
static void take_cursor(const dueq_result *result, zend_string **cursor) {
    dueq_bytes next = dueq_result_cursor(result);

    if (*cursor) {
        zend_string_release(*cursor);
    }
    *cursor = next.size ? zend_string_init(next.data, next.size, false) : NULL;
}

/*
 * Runs one step from `cursor` on (NULL: the first), and sets the cursor of the next one. False: it
 * threw.
 */
static bool kick_step(dueq_php_queue *queue, const dueq_filter *filter, zend_string **cursor,
                      progress *progress) {
    if (dueq_php_finish(queue->client,
                        dueq_kick_all_submit(queue->queue, filter, dueq_php_bytes(*cursor),
                                             DUEQ_MAX_BATCH)) < 0) {
        return false;
    }
    take_cursor(queue->client->result, cursor);
    return report(progress, dueq_result_kicked(queue->client->result));
}

ZEND_METHOD(Dueq_Queue, kickAll) {
    const dueq_php_place since_place = {2, -1, "since"}, until_place = {3, -1, "until"};
    dueq_filter filter = DUEQ_FILTER;
    progress progress = NO_PROGRESS;
    zend_string *error = NULL, *cursor = NULL;
    zval *since = NULL, *until = NULL;
    bool good;

    ZEND_PARSE_PARAMETERS_START(0, 4)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(error)
        Z_PARAM_ZVAL(since)
        Z_PARAM_ZVAL(until)
        Z_PARAM_FUNC_OR_NULL(progress.call, progress.cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    filter.error = dueq_php_bytes(error);
    if ((since && Z_TYPE_P(since) != IS_NULL &&
         !dueq_php_time(&since_place, since, &filter.since_ms)) ||
        (until && Z_TYPE_P(until) != IS_NULL &&
         !dueq_php_time(&until_place, until, &filter.until_ms))) {
        RETURN_THROWS();
    }
    do {
        good = kick_step(queue, &filter, &cursor, &progress);
    } while (good && cursor);
    if (cursor) {
        zend_string_release(cursor);
    }
    RETURN_LONG(progress.total);
}

ZEND_METHOD(Dueq_Queue, purge) {
    progress progress = NO_PROGRESS;
    zend_object *object;
    dueq_status status;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_OBJ_OF_CLASS(object, dueq_php_state.ce)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(progress.call, progress.cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    const dueq_state state = (dueq_state)dueq_php_case_value(&dueq_php_state, object);
    do {
        status =
            dueq_php_finish(queue->client, dueq_purge_submit(queue->queue, state, DUEQ_MAX_BATCH));
    } while (status >= 0 && report(&progress, dueq_result_purged(queue->client->result)) &&
             status == DUEQ_OK);
    RETURN_LONG(progress.total);
}

ZEND_METHOD(Dueq_Queue, purgeGroup) {
    progress progress = NO_PROGRESS;
    zend_string *group, *cursor = NULL;
    bool good;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(group)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(progress.call, progress.cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    do {
        good =
            dueq_php_finish(queue->client,
                            dueq_purge_group_submit(queue->queue, dueq_php_bytes(group),
                                                    dueq_php_bytes(cursor), DUEQ_MAX_BATCH)) >= 0;
        if (good) {
            take_cursor(queue->client->result, &cursor);
            good = report(&progress, dueq_result_purged(queue->client->result));
        }
    } while (good && cursor);
    if (cursor) {
        zend_string_release(cursor);
    }
    RETURN_LONG(progress.total);
}

ZEND_METHOD(Dueq_Queue, remove) {
    bool force = false;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(force)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (dueq_php_finish(queue->client, dueq_remove_submit(queue->queue, force)) < 0) {
        RETURN_THROWS();
    }
    RETURN_LONG((zend_long)dueq_result_purged(queue->client->result));
}

static void make_finding(zval *out, const dueq_finding *from) {
    zval examples;

    array_init_size(&examples, (uint32_t)from->example_count);
    for (size_t i = 0; i < from->example_count; i++) {
        add_next_index_stringl(&examples, from->examples[i].data, from->examples[i].size);
    }
#define MAKE_EXAMPLES(out, ignored) ZVAL_COPY_VALUE(out, &examples)
    MAKE_OBJECT(out, dueq_php_finding_ce, DUEQ_FINDING_FIELDS);
}

ZEND_METHOD(Dueq_Finding, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Queue, check) {
    progress progress = NO_PROGRESS;
    bool repair = false, good;
    dueq_result *result;
    zend_string *cursor = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_BOOL(repair)
        Z_PARAM_FUNC_OR_NULL(progress.call, progress.cache)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    do {
        if (dueq_php_finish(queue->client,
                            dueq_check_submit(queue->queue, repair, dueq_php_bytes(cursor))) < 0) {
            if (cursor) {
                zend_string_release(cursor);
            }
            RETURN_THROWS();
        }
        result = queue->client->result;
        take_cursor(result, &cursor);
        if (!cursor) {
            array_init_size(return_value, (uint32_t)dueq_result_count(result));
            for (size_t i = 0; i < dueq_result_count(result); i++) {
                zval finding;

                make_finding(&finding, dueq_result_finding(result, i));
                zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &finding);
            }
        }
        /* The callback may have used the queue since. */
        progress.total = 0;
        good = report(&progress, dueq_result_purged(result));
    } while (good && cursor);
    if (cursor) {
        zend_string_release(cursor);
    }
}
