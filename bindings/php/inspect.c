#include "fields.h"

static void make_lease(zval *out, const dueq_lease *from) {
    MAKE_OBJECT(out, dueq_php_lease_ce, DUEQ_LEASE_FIELDS);
}

static void make_worker(zval *out, const dueq_worker *from) {
    zval leases;

    array_init_size(&leases, (uint32_t)from->lease_count);
    for (size_t i = 0; i < from->lease_count; i++) {
        zval lease;

        make_lease(&lease, dueq_worker_lease(from, i));
        zend_hash_next_index_insert_new(Z_ARRVAL(leases), &lease);
    }
#define MAKE_LEASES(out, ignored) ZVAL_COPY_VALUE(out, &leases)
    MAKE_OBJECT(out, dueq_php_worker_ce, DUEQ_WORKER_FIELDS);
}

bool dueq_php_pages_list(zval *list, const dueq_php_queue *queue, dueq_php_page_submit *submit,
                         dueq_php_page_make *make) {
    dueq_bytes cursor = {NULL, 0};
    zval items, *item;

    array_init(&items);
    do {
        dueq_result *result;

        if (dueq_php_finish(queue->client, submit(queue->queue, cursor, DUEQ_MAX_BATCH)) < 0) {
            zval_ptr_dtor(&items);
            return false;
        }
        result = queue->client->result;
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            zval made;
            dueq_bytes name = make(&made, result, i);

            zend_hash_str_update(Z_ARRVAL(items), name.data, name.size, &made);
        }
        cursor = dueq_result_cursor(result);
    } while (cursor.size);
    array_init_size(list, zend_hash_num_elements(Z_ARRVAL(items)));
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL(items), item) {
        Z_ADDREF_P(item);
        zend_hash_next_index_insert_new(Z_ARRVAL_P(list), item);
    }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&items);
    return true;
}

/* A worker that registers between two pages is on both: its last registration counts. */
static dueq_bytes make_worker_of(zval *out, const dueq_result *page, size_t index) {
    const dueq_worker *worker = dueq_result_worker(page, index);

    make_worker(out, worker);
    return worker->session;
}

ZEND_METHOD(Dueq_Queue, workers) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    if (!dueq_php_pages_list(return_value, queue, dueq_workers_submit, make_worker_of)) {
        RETURN_THROWS();
    }
}

static void make_failure(zval *out, const dueq_failure *from) {
#define MAKE_FAILURE_KIND(out, kind) dueq_php_case_make(out, &dueq_php_failure_kind, (int)(kind))
    MAKE_OBJECT(out, dueq_php_failure_ce, DUEQ_FAILURE_FIELDS);
}

/*
 * The failures of several partitions come one partition after the other. Failures of one time keep
 * their order.
 */
static int compare_failures(Bucket *one, Bucket *other) {
    /* The time is the first property. */
    double earlier = Z_DVAL_P(OBJ_PROP_NUM(Z_OBJ(one->val), 0));
    double later = Z_DVAL_P(OBJ_PROP_NUM(Z_OBJ(other->val), 0));

    return earlier == later  ? (Z_EXTRA(one->val) > Z_EXTRA(other->val) ? 1 : -1)
           : earlier < later ? 1
                             : -1;
}

ZEND_METHOD(Dueq_Queue, failures) {
    zend_string *id = NULL;
    dueq_bytes cursor = {NULL, 0};

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    array_init(return_value);
    do {
        dueq_result *result;

        if (dueq_php_finish(queue->client, dueq_failures_submit(queue->queue, dueq_php_bytes(id),
                                                                cursor, DUEQ_MAX_BATCH)) < 0) {
            RETURN_THROWS();
        }
        result = queue->client->result;
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            zval failure;

            make_failure(&failure, dueq_result_failure(result, i));
            zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &failure);
        }
        cursor = dueq_result_cursor(result);
    } while (cursor.size);
    zend_hash_sort(Z_ARRVAL_P(return_value), compare_failures, true);
}

static void make_end(zval *out, const dueq_end *from) {
#define MAKE_BYTES MAKE_TEXT
    MAKE_OBJECT(out, dueq_php_end_ce, DUEQ_END_FIELDS);
}

ZEND_METHOD(Dueq_Queue, outcome) {
    const dueq_php_place place = {2, -1, "timeout"};
    int64_t timeout_ms = 0;
    zval *timeout = NULL;
    zend_string *id;
    dueq_status status;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (timeout && !dueq_php_timeout(&place, timeout, &timeout_ms)) {
        RETURN_THROWS();
    }
    /* A signal must not make an end that is known look as if the message had not ended. */
    status = dueq_php_finish_soon(
        queue->client, dueq_outcome_submit(queue->queue, dueq_php_bytes(id), timeout_ms));
    if (status == DUEQ_OK) {
        make_end(return_value, dueq_result_end(queue->client->result, 0));
    } else if (status == DUEQ_NOT_FOUND) {
        dueq_php_throw(status, "the queue does not know this message, or not any more");
    }
}

static void make_group(zval *out, const dueq_group *from) {
    MAKE_OBJECT(out, dueq_php_group_ce, DUEQ_GROUP_FIELDS);
}

ZEND_METHOD(Dueq_Queue, groups) {
    const dueq_php_place place = {1, -1, "most"};
    zend_long most = 100;
    dueq_bytes cursor = {NULL, 0};

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(most)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (most < 1) {
        dueq_php_invalid(&place, "be 1 or more");
        RETURN_THROWS();
    }
    array_init(return_value);
    do {
        size_t left = (size_t)most - zend_hash_num_elements(Z_ARRVAL_P(return_value));
        dueq_result *result;

        if (dueq_php_finish(queue->client, dueq_groups_submit(queue->queue, cursor,
                                                              MIN(left, DUEQ_MAX_BATCH))) < 0) {
            RETURN_THROWS();
        }
        result = queue->client->result;
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            zval group;

            make_group(&group, dueq_result_group(result, i));
            zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), &group);
        }
        cursor = dueq_result_cursor(result);
    } while (cursor.size && zend_hash_num_elements(Z_ARRVAL_P(return_value)) < (size_t)most);
}

ZEND_METHOD(Dueq_WorkerInfo, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Lease, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Failure, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Group, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_End, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }
