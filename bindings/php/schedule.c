#include "php_dueq.h"

/* Schedules: Dueq\Queue's schedule() and nextTime(). A message's fire() is in settle.c. */

ZEND_METHOD(Dueq_Queue, schedule) {
    dueq_status status = DUEQ_INVALID;
    zend_string *name, *expression, *zone = NULL, *app = NULL, *release = NULL;
    zend_object *catch_up = NULL;
    dueq_plan schedule = DUEQ_PLAN;
    zend_string *body;
    HashTable *fields;
    zval list;

    ZEND_PARSE_PARAMETERS_START(3, 7)
        Z_PARAM_STR(name)
        Z_PARAM_STR(expression)
        Z_PARAM_ARRAY_HT_OR_STR(fields, body)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(zone)
        Z_PARAM_OBJ_OF_CLASS(catch_up, dueq_php_catch_up.ce)
        Z_PARAM_STR(app)
        Z_PARAM_STR(release)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    zend_arena *arena = zend_arena_create(1024);
    dueq_php_draft_list(&list, fields, body);
    schedule.job = dueq_php_drafts_read("job", Z_ARRVAL(list), &arena);
    if (schedule.job) {
        schedule.name = dueq_php_bytes(name);
        schedule.expression = dueq_php_bytes(expression);
        schedule.zone = dueq_php_bytes(zone);
        schedule.app = dueq_php_bytes(app);
        schedule.release = dueq_php_bytes(release);
        if (catch_up) {
            schedule.catchup = (dueq_catchup)dueq_php_case_value(&dueq_php_catch_up, catch_up);
        }
        status = dueq_php_finish(queue->client, dueq_schedule_submit(queue->queue, &schedule));
    }
    zend_arena_destroy(arena);
    zval_ptr_dtor(&list);
    if (EG(exception)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(status == DUEQ_OK);
}

ZEND_METHOD(Dueq_Queue, nextTime) {
    const dueq_php_place place = {3, -1, "after"};
    zend_string *expression, *zone = NULL;
    int64_t after_ms = 0, next_ms = 0;
    char problem[512];
    zval *after = NULL;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_STR(expression)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR(zone)
        Z_PARAM_ZVAL(after)
    ZEND_PARSE_PARAMETERS_END();

    if (!dueq_php_given(after)) {
        after_ms = (int64_t)time(NULL) * 1000;
    } else if (!dueq_php_time(&place, after, &after_ms)) {
        RETURN_THROWS();
    }
    dueq_status status = dueq_schedule_next(dueq_php_bytes(expression), dueq_php_bytes(zone),
                                            after_ms, &next_ms, problem, sizeof problem);
    if (status < 0) {
        dueq_php_throw(status, problem);
        RETURN_THROWS();
    }
    if (next_ms >= DUEQ_MAX_TIME_MS) {
        RETURN_NULL();
    }
    RETURN_DOUBLE(dueq_php_seconds(next_ms));
}
