/* Made from core/verbs.toml by core/verbs.py. */
/* clang-format off */
#include "message.h"

ZEND_METHOD(Dueq_Message, retry) {
    const dueq_php_place delay_place = {1, -1, "delay"};
    zval *delay = NULL;
    int64_t delay_ms = DUEQ_BY_POLICY;
    zend_string *error = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 2)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_STR(error)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (delay && Z_TYPE_P(delay) != IS_NULL && !dueq_php_duration(&delay_place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
    const dueq_status submitted = dueq_retry_submit(message->queue->queue, ticket, delay_ms,
                                                    dueq_php_bytes(error));
    RETURN_BOOL(dueq_php_message_settle(message, submitted) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Message, release) {
    const dueq_php_place delay_place = {1, -1, "delay"};
    zval *delay = NULL;
    int64_t delay_ms = 0;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (delay && !dueq_php_duration(&delay_place, delay, &delay_ms)) {
        RETURN_THROWS();
    }
    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
    const dueq_status submitted = dueq_release_submit(message->queue->queue, &ticket, 1, delay_ms);
    dueq_php_message_settle(message, submitted);
}

ZEND_METHOD(Dueq_Message, holdGroup) {
    const dueq_php_place duration_place = {1, -1, "duration"};
    zval *duration;
    int64_t duration_ms = 0;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(duration)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    if (!dueq_php_duration(&duration_place, duration, &duration_ms)) {
        RETURN_THROWS();
    }
    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
    const dueq_status submitted = dueq_hold_group_submit(message->queue->queue, ticket,
                                                         duration_ms);
    dueq_php_message_settle(message, submitted);
}

ZEND_METHOD(Dueq_Message, extend) {
    const dueq_php_place lease_place = {1, -1, "lease"};
    zval *lease;
    int64_t lease_ms = 0;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END();

    THIS_MESSAGE(message);
    if (!dueq_php_duration(&lease_place, lease, &lease_ms)) {
        RETURN_THROWS();
    }
    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
    const dueq_status submitted = dueq_extend_submit(message->queue->queue, &ticket, 1, lease_ms);
    dueq_php_finish_held(message->queue->client, submitted, NULL);
}

ZEND_METHOD(Dueq_Message, bury) {
    zend_string *reason = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(reason)
    ZEND_PARSE_PARAMETERS_END();

    SETTLE_MESSAGE(message);
    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);
    const dueq_status submitted = dueq_bury_submit(message->queue->queue, ticket,
                                                   dueq_php_bytes(reason));
    dueq_php_message_settle(message, submitted);
}

ZEND_METHOD(Dueq_Queue, kick) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_one(queue, dueq_kick_submit, id, dueq_php_outcome_done, return_value);
}

ZEND_METHOD(Dueq_Queue, kickMany) {
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_each(queue, dueq_kick_submit, ids, false, dueq_php_outcome_done, return_value);
}

ZEND_METHOD(Dueq_Queue, kill) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_one(queue, dueq_kill_submit, id, dueq_php_outcome_done, return_value);
}

ZEND_METHOD(Dueq_Queue, killMany) {
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_each(queue, dueq_kill_submit, ids, false, dueq_php_outcome_done, return_value);
}

ZEND_METHOD(Dueq_Queue, cancel) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_one(queue, dueq_cancel_submit, id, dueq_php_outcome_state, return_value);
}

ZEND_METHOD(Dueq_Queue, cancelMany) {
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_each(queue, dueq_cancel_submit, ids, false, dueq_php_outcome_state, return_value);
}

ZEND_METHOD(Dueq_Queue, reschedule) {
    const dueq_php_place delay_place = {2, -1, "delay"};
    zend_string *id;
    zval *delay = NULL;
    int64_t delay_ms = 0;
    zval *at = NULL;
    int64_t at_ms = 0;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(id)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(delay)
        Z_PARAM_ZVAL(at)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (!dueq_php_due(delay, at, &delay_place, &delay_ms, &at_ms)) {
        RETURN_THROWS();
    }
    const dueq_status submitted = dueq_reschedule_submit(queue->queue, dueq_php_bytes(id), delay_ms,
                                                         at_ms);
    RETURN_BOOL(dueq_php_finish(queue->client, submitted) == DUEQ_OK);
}

ZEND_METHOD(Dueq_Queue, pause) {
    ZEND_PARSE_PARAMETERS_NONE();

    THIS_QUEUE(queue);
    const dueq_status submitted = dueq_pause_submit(queue->queue);
    dueq_php_finish(queue->client, submitted);
}

ZEND_METHOD(Dueq_Queue, resume) {
    ZEND_PARSE_PARAMETERS_NONE();

    THIS_QUEUE(queue);
    const dueq_status submitted = dueq_resume_submit(queue->queue);
    dueq_php_finish(queue->client, submitted);
}

ZEND_METHOD(Dueq_Queue, hold) {
    const dueq_php_place duration_place = {2, -1, "duration"};
    zend_string *group;
    zval *duration;
    int64_t duration_ms = 0;

    ZEND_PARSE_PARAMETERS_START(2, 2)
        Z_PARAM_STR(group)
        Z_PARAM_ZVAL(duration)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    if (!dueq_php_duration(&duration_place, duration, &duration_ms)) {
        RETURN_THROWS();
    }
    const dueq_status submitted = dueq_hold_submit(queue->queue, dueq_php_bytes(group),
                                                   duration_ms);
    dueq_php_finish(queue->client, submitted);
}

ZEND_METHOD(Dueq_Queue, limit) {
    bool no_concurrency = true;
    zend_long concurrency = DUEQ_UNCHANGED;
    zend_string *rate = NULL;
    bool no_burst = true;
    zend_long burst = DUEQ_UNCHANGED;
    zend_string *group = NULL;
    bool no_backlog = true;
    zend_long backlog = DUEQ_UNCHANGED;
    bool no_weight = true;
    zend_long weight = DUEQ_UNCHANGED;
    zend_string *order = NULL;
    bool no_each_group_concurrency = true;
    zend_long each_group_concurrency = DUEQ_UNCHANGED;
    zend_string *each_group_rate = NULL;
    bool no_each_group_burst = true;
    zend_long each_group_burst = DUEQ_UNCHANGED;
    bool no_each_group_backlog = true;
    zend_long each_group_backlog = DUEQ_UNCHANGED;
    bool clear = 0;

    ZEND_PARSE_PARAMETERS_START(0, 12)
        Z_PARAM_OPTIONAL
        Z_PARAM_LONG_OR_NULL(concurrency, no_concurrency)
        Z_PARAM_STR_OR_NULL(rate)
        Z_PARAM_LONG_OR_NULL(burst, no_burst)
        Z_PARAM_STR_OR_NULL(group)
        Z_PARAM_LONG_OR_NULL(backlog, no_backlog)
        Z_PARAM_LONG_OR_NULL(weight, no_weight)
        Z_PARAM_STR_OR_NULL(order)
        Z_PARAM_LONG_OR_NULL(each_group_concurrency, no_each_group_concurrency)
        Z_PARAM_STR_OR_NULL(each_group_rate)
        Z_PARAM_LONG_OR_NULL(each_group_burst, no_each_group_burst)
        Z_PARAM_LONG_OR_NULL(each_group_backlog, no_each_group_backlog)
        Z_PARAM_BOOL(clear)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    const dueq_status submitted = dueq_limit_submit(queue->queue,
      &(dueq_limit_options){.struct_size = sizeof(dueq_limit_options),
      .concurrency = no_concurrency ? DUEQ_UNCHANGED : concurrency,
      .rate = rate ? dueq_php_bytes(rate) : (dueq_bytes){0},
      .burst = no_burst ? DUEQ_UNCHANGED : burst,
      .group = group ? dueq_php_bytes(group) : (dueq_bytes){0},
      .backlog = no_backlog ? DUEQ_UNCHANGED : backlog,
      .weight = no_weight ? DUEQ_UNCHANGED : weight,
      .order = order ? dueq_php_bytes(order) : (dueq_bytes){0},
      .each_group_concurrency = no_each_group_concurrency ? DUEQ_UNCHANGED : each_group_concurrency,
      .each_group_rate = each_group_rate ? dueq_php_bytes(each_group_rate) : (dueq_bytes){0},
      .each_group_burst = no_each_group_burst ? DUEQ_UNCHANGED : each_group_burst,
      .each_group_backlog = no_each_group_backlog ? DUEQ_UNCHANGED : each_group_backlog,
      .clear = clear});
    dueq_php_finish(queue->client, submitted);
}

ZEND_METHOD(Dueq_Queue, closeBatch) {
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    const dueq_status submitted = dueq_close_batch_submit(queue->queue, dueq_php_bytes(id));
    RETURN_BOOL(dueq_php_finish(queue->client, submitted) == DUEQ_OK);
}
