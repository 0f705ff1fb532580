#include "php_dueq.h"

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

/* The properties of Dueq\Stats and Dueq\Rate in the order of the stub. */
enum {
    STATS_READY,
    STATS_DELAYED,
    STATS_LEASED,
    STATS_DEAD,
    STATS_OUTBOX,
    STATS_OUTBOX_ERROR,
    STATS_PUSHED,
    STATS_RESERVED,
    STATS_ACKED,
    STATS_RETRIED,
    STATS_EXPIRED,
    STATS_DIED,
    STATS_CANCELLED,
    STATS_PURGED,
    STATS_QUARANTINED,
    STATS_NEXT_EVENT,
    STATS_OLDEST,
    STATS_NOW,
    STATS_PAUSED,
    STATS_EVICTING
};

enum {
    RATE_START,
    RATE_SPAN,
    RATE_PUSHED,
    RATE_RESERVED,
    RATE_ACKED,
    RATE_RETRIED,
    RATE_EXPIRED,
    RATE_DIED,
    RATE_CANCELLED,
    RATE_LATE_P50,
    RATE_LATE_P99,
    RATE_RUN_P50,
    RATE_RUN_P99
};

static void set_count(const zval *object, uint32_t property, int64_t count) {
    ZVAL_LONG(OBJ_PROP_NUM(Z_OBJ_P(object), property), (zend_long)count);
}

static void make_stats(zval *out, const dueq_counts *counts) {
    object_init_ex(out, dueq_php_stats_ce);
    set_count(out, STATS_READY, counts->ready);
    set_count(out, STATS_DELAYED, counts->delayed);
    set_count(out, STATS_LEASED, counts->leased);
    set_count(out, STATS_DEAD, counts->dead);
    set_count(out, STATS_OUTBOX, counts->outbox);
    ZVAL_STRING(OBJ_PROP_NUM(Z_OBJ_P(out), STATS_OUTBOX_ERROR), counts->outbox_error);
    set_count(out, STATS_PUSHED, counts->pushed);
    set_count(out, STATS_RESERVED, counts->reserved);
    set_count(out, STATS_ACKED, counts->acked);
    set_count(out, STATS_RETRIED, counts->retried);
    set_count(out, STATS_EXPIRED, counts->expired);
    set_count(out, STATS_DIED, counts->died);
    set_count(out, STATS_CANCELLED, counts->cancelled);
    set_count(out, STATS_PURGED, counts->purged);
    set_count(out, STATS_QUARANTINED, counts->quarantined);
    dueq_php_time_make(OBJ_PROP_NUM(Z_OBJ_P(out), STATS_NEXT_EVENT), counts->next_event_ms);
    dueq_php_time_make(OBJ_PROP_NUM(Z_OBJ_P(out), STATS_OLDEST), counts->oldest_ms);
    ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(out), STATS_NOW), dueq_php_seconds(counts->now_ms));
    ZVAL_BOOL(OBJ_PROP_NUM(Z_OBJ_P(out), STATS_PAUSED), counts->paused);
    ZVAL_BOOL(OBJ_PROP_NUM(Z_OBJ_P(out), STATS_EVICTING), counts->evicting);
}

/* Sets seconds, or null if nothing was measured. */
static void set_seconds(const zval *object, uint32_t property, int64_t ms) {
    if (ms < 0)
        ZVAL_NULL(OBJ_PROP_NUM(Z_OBJ_P(object), property));
    else
        ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(object), property), dueq_php_seconds(ms));
}

static void make_rate(zval *out, const dueq_rate *rate) {
    object_init_ex(out, dueq_php_rate_ce);
    ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(out), RATE_START), dueq_php_seconds(rate->start_ms));
    ZVAL_DOUBLE(OBJ_PROP_NUM(Z_OBJ_P(out), RATE_SPAN), dueq_php_seconds(rate->span_ms));
    set_count(out, RATE_PUSHED, rate->pushed);
    set_count(out, RATE_RESERVED, rate->reserved);
    set_count(out, RATE_ACKED, rate->acked);
    set_count(out, RATE_RETRIED, rate->retried);
    set_count(out, RATE_EXPIRED, rate->expired);
    set_count(out, RATE_DIED, rate->died);
    set_count(out, RATE_CANCELLED, rate->cancelled);
    set_seconds(out, RATE_LATE_P50, rate->late_p50_ms);
    set_seconds(out, RATE_LATE_P99, rate->late_p99_ms);
    set_seconds(out, RATE_RUN_P50, rate->run_p50_ms);
    set_seconds(out, RATE_RUN_P99, rate->run_p99_ms);
}

ZEND_METHOD(Dueq_Queue, stats) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    if (dueq_php_finish(queue->client, dueq_stats_submit(queue->queue)) == DUEQ_OK) {
        make_stats(return_value, dueq_result_counts(queue->client->result));
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

ZEND_METHOD(Dueq_Rate, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }
