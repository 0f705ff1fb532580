#include "php_dueq.h"

#include "ext/date/php_date.h"

typedef struct backoff_object {
    dueq_backoff backoff; /* its list is this object's own */
    zend_object std;
} backoff_object;

static zend_object_handlers handlers;

static backoff_object *backoff_of(zend_object *object) {
    return (backoff_object *)((char *)object - offsetof(backoff_object, std));
}

static zend_object *create(zend_class_entry *ce) {
    backoff_object *backoff = zend_object_alloc(sizeof *backoff, ce);

    zend_object_std_init(&backoff->std, ce);
    object_properties_init(&backoff->std, ce);
    backoff->std.handlers = &handlers;
    return &backoff->std;
}

static void release(zend_object *object) {
    backoff_object *backoff = backoff_of(object);

    if (backoff->backoff.list_ms) {
        efree((void *)backoff->backoff.list_ms);
    }
    zend_object_std_dtor(object);
}

void dueq_php_backoff_startup(void) {
    dueq_php_backoff_ce->create_object = create;
    memcpy(&handlers, &std_object_handlers, sizeof handlers);
    handlers.offset = offsetof(backoff_object, std);
    handlers.free_obj = release;
    handlers.clone_obj = NULL;
}

/* The properties in the order of the stub. */
enum { BACKOFF_KIND, BACKOFF_BASE, BACKOFF_CAP, BACKOFF_DELAYS, BACKOFF_JITTER };

/* Makes a Dueq\Backoff. It takes over the backoff's list. */
static void make(zval *out, const dueq_backoff *backoff) {
    zend_object *object;
    zval *delays;

    object_init_ex(out, dueq_php_backoff_ce);
    object = Z_OBJ_P(out);
    backoff_of(object)->backoff = *backoff;
    dueq_php_case_make(OBJ_PROP_NUM(object, BACKOFF_KIND), &dueq_php_backoff_kind,
                       (int)backoff->kind);
    dueq_php_time_make(OBJ_PROP_NUM(object, BACKOFF_BASE), backoff->base_ms);
    dueq_php_time_make(OBJ_PROP_NUM(object, BACKOFF_CAP), backoff->cap_ms);
    dueq_php_case_make(OBJ_PROP_NUM(object, BACKOFF_JITTER), &dueq_php_jitter,
                       (int)backoff->jitter);
    delays = OBJ_PROP_NUM(object, BACKOFF_DELAYS);
    array_init_size(delays, (uint32_t)backoff->list_count);
    for (size_t i = 0; i < backoff->list_count; i++) {
        add_next_index_double(delays, dueq_php_seconds(backoff->list_ms[i]));
    }
}

/* NULL is none. */
static dueq_jitter jitter_of(zend_object *jitter) {
    return jitter ? (dueq_jitter)dueq_php_case_value(&dueq_php_jitter, jitter) : DUEQ_JITTER_NONE;
}

static bool is_duration(const zval *value) {
    return Z_TYPE_P(value) == IS_LONG || Z_TYPE_P(value) == IS_DOUBLE ||
           (Z_TYPE_P(value) == IS_OBJECT &&
            instanceof_function(Z_OBJCE_P(value), php_date_get_interval_ce()));
}

/* Reads each delay of an array. False: it threw. */
static bool read_delays(const dueq_php_place *place, HashTable *table, int64_t *ms) {
    zval *value;

    ZEND_HASH_FOREACH_VAL(table, value) {
        ZVAL_DEREF(value);
        if (!is_duration(value)) {
            dueq_php_type_error(place, "array of DateInterval|float", value);
            return false;
        }
        if (!dueq_php_duration(place, value, ms++)) {
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

bool dueq_php_backoff_read(const dueq_php_place *place, zval *value, dueq_backoff *backoff,
                           zend_arena **arena) {
    if (Z_TYPE_P(value) == IS_OBJECT && Z_OBJCE_P(value) == dueq_php_backoff_ce) {
        *backoff = backoff_of(Z_OBJ_P(value))->backoff;
        return true;
    }
    if (Z_TYPE_P(value) == IS_ARRAY) {
        size_t count = zend_hash_num_elements(Z_ARRVAL_P(value));
        int64_t *list = zend_arena_calloc(arena, MAX(count, 1), sizeof *list);

        backoff->kind = DUEQ_BACKOFF_LIST;
        backoff->list_ms = list;
        backoff->list_count = count;
        return read_delays(place, Z_ARRVAL_P(value), list);
    }
    if (!is_duration(value)) {
        dueq_php_type_error(place, "Dueq\\Backoff|DateInterval|array|float|null", value);
        return false;
    }
    backoff->kind = DUEQ_BACKOFF_FIXED;
    return dueq_php_duration(place, value, &backoff->base_ms);
}

ZEND_METHOD(Dueq_Backoff, __construct) { ZEND_PARSE_PARAMETERS_NONE(); }

ZEND_METHOD(Dueq_Backoff, fixed) {
    const dueq_php_place place = {1, -1, "delay"};
    dueq_backoff backoff = {.kind = DUEQ_BACKOFF_FIXED};
    zend_object *jitter = NULL;
    zval *delay;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ZVAL(delay)
        Z_PARAM_OPTIONAL
        Z_PARAM_OBJ_OF_CLASS(jitter, dueq_php_jitter.ce)
    ZEND_PARSE_PARAMETERS_END();

    backoff.jitter = jitter_of(jitter);
    if (dueq_php_duration(&place, delay, &backoff.base_ms)) {
        make(return_value, &backoff);
    }
}

/* The common part of linear() and exponential(). */
static void grow(INTERNAL_FUNCTION_PARAMETERS, dueq_backoff_kind kind) {
    const dueq_php_place base_place = {1, -1, "base"}, cap_place = {2, -1, "cap"};
    dueq_backoff backoff = {.kind = kind};
    zval *base, *cap = NULL;
    zend_object *jitter = NULL;

    ZEND_PARSE_PARAMETERS_START(1, 3)
        Z_PARAM_ZVAL(base)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(cap)
        Z_PARAM_OBJ_OF_CLASS(jitter, dueq_php_jitter.ce)
    ZEND_PARSE_PARAMETERS_END();

    backoff.jitter = jitter_of(jitter);
    if (dueq_php_duration(&base_place, base, &backoff.base_ms) &&
        dueq_php_limit(&cap_place, cap, &backoff.cap_ms)) {
        make(return_value, &backoff);
    }
}

ZEND_METHOD(Dueq_Backoff, linear) { grow(INTERNAL_FUNCTION_PARAM_PASSTHRU, DUEQ_BACKOFF_LINEAR); }

ZEND_METHOD(Dueq_Backoff, exponential) {
    grow(INTERNAL_FUNCTION_PARAM_PASSTHRU, DUEQ_BACKOFF_EXPONENTIAL);
}

ZEND_METHOD(Dueq_Backoff, list) {
    const dueq_php_place place = {1, -1, "delays"};
    dueq_backoff backoff = {.kind = DUEQ_BACKOFF_LIST};
    zend_object *jitter = NULL;
    HashTable *delays;
    int64_t *list;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ARRAY_HT(delays)
        Z_PARAM_OPTIONAL
        Z_PARAM_OBJ_OF_CLASS(jitter, dueq_php_jitter.ce)
    ZEND_PARSE_PARAMETERS_END();

    backoff.list_count = zend_hash_num_elements(delays);
    list = safe_emalloc(MAX(backoff.list_count, 1), sizeof *list, 0);
    backoff.list_ms = list;
    backoff.jitter = jitter_of(jitter);
    if (read_delays(&place, delays, list)) {
        make(return_value, &backoff);
    } else {
        efree(list);
    }
}
