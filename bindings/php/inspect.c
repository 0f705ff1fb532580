#include "php_dueq.h"

/* Places of the properties, in the order of the stub. */
enum {
    WORKER_SESSION,
    WORKER_HOST,
    WORKER_PID,
    WORKER_PROGRAM,
    WORKER_VERSION,
    WORKER_SLOTS,
    WORKER_SINCE,
    WORKER_SEEN,
    WORKER_UNTIL,
    WORKER_NOW,
    WORKER_OFFLINE,
    WORKER_LEASED,
    WORKER_RUNNING,
    WORKER_STOPPING,
    WORKER_LEASES
};
enum { LEASE_ID, LEASE_TICKET, LEASE_PARTITION, LEASE_SINCE, LEASE_RUNNING };
enum {
    FAILURE_TIME,
    FAILURE_KIND,
    FAILURE_ID,
    FAILURE_TICKET,
    FAILURE_DELIVERY,
    FAILURE_CREATED,
    FAILURE_HOST,
    FAILURE_PID,
    FAILURE_ERROR
};

static void make_lease(zval *out, const dueq_lease *lease) {
    zend_object *object;

    object_init_ex(out, dueq_php_lease_ce);
    object = Z_OBJ_P(out);
    dueq_php_string(OBJ_PROP_NUM(object, LEASE_ID), lease->id);
    dueq_php_string(OBJ_PROP_NUM(object, LEASE_TICKET), lease->ticket);
    if (lease->partition < 0) {
        ZVAL_NULL(OBJ_PROP_NUM(object, LEASE_PARTITION));
    } else {
        ZVAL_LONG(OBJ_PROP_NUM(object, LEASE_PARTITION), (zend_long)lease->partition);
    }
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, LEASE_SINCE), dueq_php_seconds(lease->since_ms));
    ZVAL_BOOL(OBJ_PROP_NUM(object, LEASE_RUNNING), lease->running);
}

static void make_worker(zval *out, const dueq_worker *worker) {
    zend_object *object;
    zval *leases;

    object_init_ex(out, dueq_php_worker_ce);
    object = Z_OBJ_P(out);
    dueq_php_string(OBJ_PROP_NUM(object, WORKER_SESSION), worker->session);
    dueq_php_string(OBJ_PROP_NUM(object, WORKER_HOST), worker->host);
    ZVAL_LONG(OBJ_PROP_NUM(object, WORKER_PID), (zend_long)worker->pid);
    dueq_php_string(OBJ_PROP_NUM(object, WORKER_PROGRAM), worker->program);
    dueq_php_string(OBJ_PROP_NUM(object, WORKER_VERSION), worker->version);
    ZVAL_LONG(OBJ_PROP_NUM(object, WORKER_SLOTS), (zend_long)worker->slots);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, WORKER_SINCE), dueq_php_seconds(worker->since_ms));
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, WORKER_SEEN), dueq_php_seconds(worker->seen_ms));
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, WORKER_UNTIL), dueq_php_seconds(worker->until_ms));
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, WORKER_NOW), dueq_php_seconds(worker->now_ms));
    ZVAL_BOOL(OBJ_PROP_NUM(object, WORKER_OFFLINE), worker->until_ms <= worker->now_ms);
    ZVAL_LONG(OBJ_PROP_NUM(object, WORKER_LEASED), (zend_long)worker->leased);
    ZVAL_LONG(OBJ_PROP_NUM(object, WORKER_RUNNING), (zend_long)worker->running);
    ZVAL_BOOL(OBJ_PROP_NUM(object, WORKER_STOPPING), worker->stopping);
    leases = OBJ_PROP_NUM(object, WORKER_LEASES);
    array_init_size(leases, (uint32_t)worker->lease_count);
    for (size_t i = 0; i < worker->lease_count; i++) {
        zval lease;

        make_lease(&lease, dueq_worker_lease(worker, i));
        zend_hash_next_index_insert_new(Z_ARRVAL_P(leases), &lease);
    }
}

/* A worker that registers between two pages is on both: its last registration counts. */
static void add_worker(HashTable *workers, const dueq_worker *worker) {
    zval made;

    make_worker(&made, worker);
    zend_hash_str_update(workers, worker->session.data, worker->session.size, &made);
}

ZEND_METHOD(Dueq_Queue, workers) {
    dueq_bytes cursor = {NULL, 0};
    zval workers, *worker;

    ZEND_PARSE_PARAMETERS_NONE();
    THIS_QUEUE(queue);
    array_init(&workers);
    do {
        dueq_result *result;

        if (dueq_php_finish(queue->client,
                            dueq_workers_submit(queue->queue, cursor, DUEQ_MAX_BATCH)) < 0) {
            zval_ptr_dtor(&workers);
            RETURN_THROWS();
        }
        result = queue->client->result;
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            add_worker(Z_ARRVAL(workers), dueq_result_worker(result, i));
        }
        cursor = dueq_result_cursor(result);
    } while (cursor.size);
    array_init_size(return_value, zend_hash_num_elements(Z_ARRVAL(workers)));
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL(workers), worker) {
        Z_ADDREF_P(worker);
        zend_hash_next_index_insert_new(Z_ARRVAL_P(return_value), worker);
    }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&workers);
}

static void make_failure(zval *out, const dueq_failure *failure) {
    zend_object *object;

    object_init_ex(out, dueq_php_failure_ce);
    object = Z_OBJ_P(out);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, FAILURE_TIME), dueq_php_seconds(failure->time_ms));
    dueq_php_case_make(OBJ_PROP_NUM(object, FAILURE_KIND), &dueq_php_failure_kind,
                       (int)failure->kind);
    dueq_php_string(OBJ_PROP_NUM(object, FAILURE_ID), failure->id);
    dueq_php_string(OBJ_PROP_NUM(object, FAILURE_TICKET), failure->ticket);
    ZVAL_LONG(OBJ_PROP_NUM(object, FAILURE_DELIVERY), (zend_long)failure->delivery);
    ZVAL_DOUBLE(OBJ_PROP_NUM(object, FAILURE_CREATED), dueq_php_seconds(failure->created_ms));
    if (failure->host.size) {
        dueq_php_string(OBJ_PROP_NUM(object, FAILURE_HOST), failure->host);
        ZVAL_LONG(OBJ_PROP_NUM(object, FAILURE_PID), (zend_long)failure->pid);
    } else {
        ZVAL_NULL(OBJ_PROP_NUM(object, FAILURE_HOST));
        ZVAL_NULL(OBJ_PROP_NUM(object, FAILURE_PID));
    }
    dueq_php_string(OBJ_PROP_NUM(object, FAILURE_ERROR), failure->error);
}

/*
 * The failures of several partitions come one partition after the other. Failures of one time keep
 * their order.
 */
static int compare_failures(Bucket *one, Bucket *other) {
    double earlier = Z_DVAL_P(OBJ_PROP_NUM(Z_OBJ(one->val), FAILURE_TIME));
    double later = Z_DVAL_P(OBJ_PROP_NUM(Z_OBJ(other->val), FAILURE_TIME));

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

ZEND_METHOD(Dueq_WorkerInfo, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Lease, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Failure, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }
