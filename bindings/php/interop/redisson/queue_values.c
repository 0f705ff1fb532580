#include "php_redisson.h"

/* The methods of Dueq\Redisson\DelayedQueue that take or return values. */

/* Offers */

/* The values that a call offers, and the strings that they borrow. */
struct batch {
    dueq_offer *offers;
    size_t count;
    HashTable *held;
};

static struct batch batch_new(size_t count) {
    return (struct batch){safe_emalloc(MAX(count, 1), sizeof(dueq_offer), 0), count,
                          zend_new_array(0)};
}

static void batch_free(struct batch *batch) {
    efree(batch->offers);
    zend_array_release(batch->held);
}

/* Offers all values, in batches of one call each. */
static void offer(zval *this, const struct batch *batch) {
    for (size_t done = 0; done < batch->count; done += DUEQ_MAX_BATCH) {
        size_t step = MIN(batch->count - done, DUEQ_MAX_BATCH);
        dueq_php_redisson *redisson = dueq_php_this_redisson(this);

        if (!redisson || dueq_php_finish(redisson->client,
                                         dueq_redisson_offer_submit(
                                             redisson->queue, batch->offers + done, step)) < 0) {
            return;
        }
    }
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, offer) {
    const dueq_php_place place = {1, -1, "value"}, due = {2, -1, "delay"};
    zval *value, *delay = NULL, *at = NULL;
    int64_t delay_ms, at_ms;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_ZVAL(value)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_ZVAL(at)
    ZEND_PARSE_PARAMETERS_END();

    if (!dueq_php_due(delay, at, &due, &delay_ms, &at_ms)) {
        RETURN_THROWS();
    }
    struct batch one = batch_new(1);
    one.offers[0] =
        (dueq_offer){.struct_size = sizeof(dueq_offer), .delay_ms = delay_ms, .at_ms = at_ms};
    if (dueq_php_value_read(&place, value, dueq_php_redisson_of(Z_OBJ_P(ZEND_THIS))->codec,
                            &one.offers[0].value, one.held)) {
        offer(ZEND_THIS, &one);
    }
    batch_free(&one);
}

/* False: it threw. */
static bool read_values(struct batch *batch, HashTable *values, dueq_codec codec, int64_t delay_ms,
                        int64_t at_ms) {
    zend_long item = 0;
    zval *value;

    if (!dueq_php_list_check("values", values)) {
        return false;
    }
    ZEND_HASH_FOREACH_VAL(values, value) {
        const dueq_php_place place = {1, item, "value"};

        batch->offers[item] =
            (dueq_offer){.struct_size = sizeof(dueq_offer), .delay_ms = delay_ms, .at_ms = at_ms};
        if (!dueq_php_value_read(&place, value, codec, &batch->offers[item].value, batch->held)) {
            return false;
        }
        item++;
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, offerMany) {
    const dueq_php_place due = {2, -1, "delay"};
    zval *delay = NULL, *at = NULL;
    int64_t delay_ms, at_ms;
    HashTable *values;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_ARRAY_HT(values)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_ZVAL(at)
    ZEND_PARSE_PARAMETERS_END();

    if (!dueq_php_due(delay, at, &due, &delay_ms, &at_ms)) {
        RETURN_THROWS();
    }
    struct batch all = batch_new(zend_hash_num_elements(values));
    if (read_values(&all, values, dueq_php_redisson_of(Z_OBJ_P(ZEND_THIS))->codec, delay_ms,
                    at_ms)) {
        offer(ZEND_THIS, &all);
    }
    batch_free(&all);
}

/* take, poll, peek */

static dueq_status take(dueq_php_redisson *redisson, zend_long count, int64_t timeout_ms) {
    return dueq_php_finish_soon(
        redisson->client,
        dueq_redisson_take_submit(redisson->queue, (size_t)MAX(count, 0), timeout_ms));
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, take) {
    const dueq_php_place place = {1, -1, "timeout"};
    int64_t timeout_ms = DUEQ_FOREVER;
    zval *timeout = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
    ZEND_PARSE_PARAMETERS_END();

    if (timeout && !dueq_php_timeout(&place, timeout, &timeout_ms)) {
        RETURN_THROWS();
    }
    THIS_REDISSON(redisson);
    const dueq_php_source source = dueq_php_redisson_source(redisson);
    dueq_php_first(return_value, &source, take(redisson, 1, timeout_ms), dueq_php_value_alone);
}

static void make_taken(zval *out, const dueq_php_source *source, const dueq_result *result) {
    ZVAL_NULL(out);
    if (dueq_result_count(result)) {
        dueq_php_value_alone(out, source, result, 0);
    }
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, takeStart) {
    static const dueq_php_call call = {make_taken, dueq_php_put_back};
    const dueq_php_place place = {1, -1, "timeout"};
    int64_t timeout_ms = DUEQ_FOREVER;
    zval *timeout = NULL;
    dueq_php_link *link;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
    ZEND_PARSE_PARAMETERS_END();

    if (timeout && !dueq_php_timeout(&place, timeout, &timeout_ms)) {
        RETURN_THROWS();
    }
    THIS_REDISSON(redisson);
    const dueq_php_source source = dueq_php_redisson_source(redisson);
    link = dueq_php_pending_open(return_value, &source, &call);
    if (link) {
        dueq_php_pending_start(return_value, dueq_redisson_take_submit(link->queue, 1, timeout_ms));
    }
}

/* Makes the list of the values of a call, unless it threw. */
static void make_list(zval *out, dueq_php_redisson *redisson, dueq_status status) {
    const dueq_php_source source = dueq_php_redisson_source(redisson);

    dueq_php_list(out, &source, status, dueq_php_value_item);
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, takeMany) {
    const dueq_php_place place = {2, -1, "timeout"};
    int64_t timeout_ms = DUEQ_FOREVER;
    zval *timeout = NULL;
    zend_long count;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_LONG(count)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
    ZEND_PARSE_PARAMETERS_END();

    if (timeout && !dueq_php_timeout(&place, timeout, &timeout_ms)) {
        RETURN_THROWS();
    }
    THIS_REDISSON(redisson);
    make_list(return_value, redisson, take(redisson, count, timeout_ms));
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, poll) {
    ZEND_PARSE_PARAMETERS_NONE();
    THIS_REDISSON(redisson);
    const dueq_php_source source = dueq_php_redisson_source(redisson);
    dueq_php_first(return_value, &source,
                   dueq_php_finish(redisson->client, dueq_redisson_poll_submit(redisson->queue, 1)),
                   dueq_php_value_alone);
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, pollMany) {
    zend_long count;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_LONG(count)
    ZEND_PARSE_PARAMETERS_END();

    THIS_REDISSON(redisson);
    make_list(return_value, redisson,
              dueq_php_finish(redisson->client,
                              dueq_redisson_poll_submit(redisson->queue, (size_t)MAX(count, 0))));
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, peek) {
    zend_long count = 1;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG(count)
    ZEND_PARSE_PARAMETERS_END();

    THIS_REDISSON(redisson);
    make_list(return_value, redisson,
              dueq_php_finish(redisson->client,
                              dueq_redisson_peek_submit(redisson->queue, (size_t)MAX(count, 0))));
}

/* Runs a verb on the value of argument 1; whether it was OK. */
static bool run_on_value(zval *this, zval *given,
                         dueq_status (*submit)(dueq_redisson *queue, const dueq_value *value)) {
    const dueq_php_place place = {1, -1, "value"};
    HashTable *held = zend_new_array(0);
    dueq_status status = DUEQ_NOT_FOUND;
    dueq_php_redisson *redisson;
    dueq_value value;

    if (dueq_php_value_read(&place, given, dueq_php_redisson_of(Z_OBJ_P(this))->codec, &value,
                            held) &&
        (redisson = dueq_php_this_redisson(this))) {
        status = dueq_php_finish(redisson->client, submit(redisson->queue, &value));
    }
    zend_array_release(held);
    return status == DUEQ_OK;
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, remove) {
    zval *value;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_BOOL(run_on_value(ZEND_THIS, value, dueq_redisson_remove_submit));
}

ZEND_METHOD(Dueq_Redisson_DelayedQueue, contains) {
    zval *value;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_BOOL(run_on_value(ZEND_THIS, value, dueq_redisson_contains_submit));
}
