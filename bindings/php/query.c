#include "fields.h"

_Static_assert(DUEQ_MAX_RATES == 360 && DUEQ_MAX_HOURS == 336,
               "the stub names these limits of Queue::rates()");

void dueq_php_time_make(zval *out, int64_t ms) {
    if (ms) {
        ZVAL_DOUBLE(out, dueq_php_seconds(ms));
    } else {
        ZVAL_NULL(out);
    }
}

ZEND_METHOD(Dueq_Queue, find) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    const dueq_php_source source = dueq_php_queue_source(queue);
    dueq_php_first(
        return_value, &source,
        dueq_php_finish(queue->client, dueq_find_submit(queue->queue, dueq_php_bytes(id))),
        dueq_php_message_item);
}

ZEND_METHOD(Dueq_Queue, peek) {
    const dueq_php_place place = {2, -1, "page"};
    zend_long page = 100;
    zend_object *state;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_OBJ_OF_CLASS(state, dueq_php_state.ce)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(page)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (page < 1 || page > DUEQ_MAX_BATCH) {
        dueq_php_invalid(&place, "be from 1 to 200");
        RETURN_THROWS();
    }
    dueq_php_messages_make(return_value, queue,
                           (dueq_state)dueq_php_case_value(&dueq_php_state, state), page);
}

static int compare_names(Bucket *one, Bucket *other) {
    return zend_binary_strcmp(Z_STRVAL(one->val), Z_STRLEN(one->val), Z_STRVAL(other->val),
                              Z_STRLEN(other->val));
}

void dueq_php_names_make(zval *out, dueq_php_client *client) {
    dueq_bytes cursor = {NULL, 0};
    HashTable *names;

    array_init(out);
    names = Z_ARRVAL_P(out);
    do {
        if (dueq_php_finish(client, dueq_queues_submit(client->client, cursor)) < 0) {
            return;
        }
        for (size_t i = 0; i < dueq_result_count(client->result); i++) {
            dueq_bytes name = dueq_result_id(client->result, i);

            if (!zend_hash_str_exists(names, name.data, name.size)) {
                zval value;

                dueq_php_string(&value, name);
                zend_hash_add_new(names, Z_STR(value), &value);
            }
        }
        cursor = dueq_result_cursor(client->result);
    } while (cursor.size);
    zend_hash_sort(names, compare_names, true);
}

ZEND_METHOD(Dueq_Queue, names) {
    zend_string *url = NULL;
    dueq_php_client *client;
    zval holder;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(url)
    ZEND_PARSE_PARAMETERS_END();

    client = dueq_php_client_open(url, DUEQ_G(persistent));
    if (!client) {
        RETURN_THROWS();
    }
    /* An object holds the client, so that PHP frees it also after a bailout. */
    object_init_ex(&holder, dueq_php_queue_ce);
    dueq_php_queue_of(Z_OBJ(holder))->client = client;
    dueq_php_names_make(return_value, client);
    zval_ptr_dtor(&holder);
}

static void make_stats(zval *out, const dueq_counts *from) {
    MAKE_OBJECT(out, dueq_php_stats_ce, DUEQ_COUNTS_FIELDS);
}

static void make_group_limits(zval *out, const dueq_group_limits *from) {
    MAKE_OBJECT(out, dueq_php_group_limits_ce, DUEQ_GROUP_LIMITS_FIELDS);
}

static void make_limits(zval *out, const dueq_bounds *from) {
    zval groups;

    array_init_size(&groups, (uint32_t)from->group_count);
    for (size_t i = 0; i < from->group_count; i++) {
        zval group;

        make_group_limits(&group, dueq_bounds_group(from, i));
        zend_hash_next_index_insert_new(Z_ARRVAL(groups), &group);
    }
#define MAKE_GROUP_LIMITS(out, ignored) ZVAL_COPY_VALUE(out, &groups)
    MAKE_OBJECT(out, dueq_php_limits_ce, DUEQ_BOUNDS_FIELDS);
}

static void make_rate(zval *out, const dueq_rate *from) {
    MAKE_OBJECT(out, dueq_php_rate_ce, DUEQ_RATE_FIELDS);
}

ZEND_METHOD(Dueq_Queue, stats) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    if (dueq_php_finish(queue->client, dueq_stats_submit(queue->queue)) == DUEQ_OK) {
        make_stats(return_value, dueq_result_counts(queue->client->result));
    }
}

ZEND_METHOD(Dueq_Queue, limits) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    if (dueq_php_finish(queue->client, dueq_limits_submit(queue->queue)) == DUEQ_OK) {
        make_limits(return_value, dueq_result_limits(queue->client->result));
    }
}

ZEND_METHOD(Dueq_Queue, rates) {
    zend_long minutes = 60, hours = 0;
    bool no_minutes = true, no_hours = true;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG_OR_NULL(minutes, no_minutes)
        Z_PARAM_LONG_OR_NULL(hours, no_hours)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (no_minutes)
        minutes = no_hours ? 60 : 0;
    if (dueq_php_finish(queue->client, dueq_rates_submit(queue->queue, (size_t)MAX(minutes, 0),
                                                         (size_t)MAX(hours, 0))) < 0) {
        RETURN_THROWS();
    }
    array_init_size(return_value, (uint32_t)dueq_result_count(queue->client->result));
    for (size_t i = 0; i < dueq_result_count(queue->client->result); i++) {
        zval rate;

        make_rate(&rate, dueq_result_rate(queue->client->result, i));
        zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &rate);
    }
}

ZEND_METHOD(Dueq_Stats, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Limits, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }
ZEND_METHOD(Dueq_GroupLimits, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Rate, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }
