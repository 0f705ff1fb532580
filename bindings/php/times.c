#include "php_dueq.h"

#include <math.h>

#include "ext/date/php_date.h"

/*
 * Converts seconds to milliseconds, rounded up, so that nothing is due early. Up to a thousandth of
 * a millisecond counts as an error of the binary fraction (0.07 s is 70 ms, not 71). False: not a
 * number from 0 to DUEQ_MAX_TIME_MS.
 */
static bool seconds_to_ms(double seconds, int64_t *ms) {
    double exact = ceil(seconds * 1000.0 - 0.001);

    if (!(seconds >= 0.0 && exact <= (double)DUEQ_MAX_TIME_MS)) {
        return false;
    }
    *ms = exact > 0.0 ? (int64_t)exact : 0;
    return true;
}

/*
 * Reads a number of seconds. Arguments are coerced as PHP coerces a float parameter; items of an
 * array are not, as that may call the program's error handler while their strings are borrowed.
 */
static bool read_number(const dueq_php_place *place, zval *value, double *seconds) {
    if (Z_TYPE_P(value) == IS_LONG) {
        *seconds = (double)Z_LVAL_P(value);
        return true;
    }
    if (Z_TYPE_P(value) == IS_DOUBLE) {
        *seconds = Z_DVAL_P(value);
        return true;
    }
    return place->item < 0 && Z_TYPE_P(value) != IS_NULL &&
           zend_parse_arg_double_slow(value, seconds, place->argument);
}

/*
 * A date in microseconds since 1970, by the format() of the date extension itself: a program's
 * class that overrides it is not called. False: it threw, or the date does not fit into 64 bits.
 */
static bool read_date(zend_object *date, int64_t *us) {
    zend_class_entry *ce = instanceof_function(date->ce, php_date_get_immutable_ce())
                               ? php_date_get_immutable_ce()
                               : php_date_get_date_ce();
    zend_function *format = zend_hash_str_find_ptr(&ce->function_table, ZEND_STRL("format"));
    zval argument, text;
    char *end = NULL;

    ZVAL_UNDEF(&text);
    ZVAL_STRINGL(&argument, "Uu", 2);
    zend_call_known_function(format, date, ce, &text, 1, &argument, NULL);
    zval_ptr_dtor_str(&argument);
    if (EG(exception) || Z_TYPE(text) != IS_STRING) {
        zval_ptr_dtor(&text);
        return false;
    }
    errno = 0;
    *us = strtoll(Z_STRVAL(text), &end, 10);
    bool whole = !errno && end == Z_STRVAL(text) + Z_STRLEN(text);
    zval_ptr_dtor_str(&text);
    return whole;
}

/* The length of an interval that begins now, in microseconds. */
static bool read_interval(zend_object *interval, int64_t *us) {
    zend_class_entry *ce = php_date_get_immutable_ce();
    zval start, end, argument;
    int64_t from = 0, to = 0;
    bool done;

    if (object_init_ex(&start, ce) == FAILURE) {
        return false;
    }
    zend_call_known_instance_method_with_0_params(ce->constructor, Z_OBJ(start), NULL);
    ZVAL_UNDEF(&end);
    ZVAL_OBJ(&argument, interval);
    zend_call_known_function(zend_hash_str_find_ptr(&ce->function_table, ZEND_STRL("add")),
                             Z_OBJ(start), ce, &end, 1, &argument, NULL);
    done = !EG(exception) && Z_TYPE(end) == IS_OBJECT && read_date(Z_OBJ(start), &from) &&
           read_date(Z_OBJ(end), &to);
    zval_ptr_dtor(&start);
    zval_ptr_dtor(&end);
    *us = to - from;
    return done;
}

static bool microseconds_to_ms(int64_t us, int64_t *ms) {
    if (us < 0 || us / 1000 > DUEQ_MAX_TIME_MS) {
        return false;
    }
    *ms = us / 1000 + (us % 1000 != 0);
    return true;
}

/*
 * How a parameter takes durations: a part of the error's text, the types, and whether a negative
 * value becomes 0.
 */
typedef struct manner {
    const char *range, *type;
    bool past;
} manner;

static bool read_duration(const dueq_php_place *place, zval *value, const manner *manner,
                          int64_t *ms) {
    double seconds;
    int64_t us;

    if (Z_TYPE_P(value) == IS_OBJECT &&
        instanceof_function(Z_OBJCE_P(value), php_date_get_interval_ce())) {
        if (read_interval(Z_OBJ_P(value), &us) &&
            microseconds_to_ms(manner->past ? MAX(us, 0) : us, ms)) {
            return true;
        }
    } else if (!read_number(place, value, &seconds)) {
        dueq_php_type_error(place, manner->type, value);
        return false;
    } else if (seconds_to_ms(manner->past && seconds < 0.0 ? 0.0 : seconds, ms)) {
        return true;
    }
    return EG(exception) ? false : dueq_php_invalid(place, manner->range);
}

#define DURATION "be from 0 seconds to 130 years"

bool dueq_php_duration(const dueq_php_place *place, zval *value, int64_t *ms) {
    static const manner manner = {DURATION, "DateInterval|float", false};

    return !value || read_duration(place, value, &manner, ms);
}

bool dueq_php_optional_duration(const dueq_php_place *place, zval *value, int64_t *ms) {
    if (value && Z_TYPE_P(value) == IS_NULL) {
        *ms = 0;
        return true;
    }
    return dueq_php_duration(place, value, ms);
}

bool dueq_php_from_now(const dueq_php_place *place, zval *value, int64_t *ms) {
    static const manner manner = {"be at most 130 years", "DateInterval|float", true};

    return read_duration(place, value, &manner, ms);
}

bool dueq_php_timeout(const dueq_php_place *place, zval *value, int64_t *ms) {
    static const manner manner = {DURATION ", or INF", "DateInterval|float", false};

    if (value && Z_TYPE_P(value) == IS_DOUBLE && zend_isinf(Z_DVAL_P(value)) &&
        Z_DVAL_P(value) > 0) {
        *ms = DUEQ_FOREVER;
        return true;
    }
    return !value || read_duration(place, value, &manner, ms);
}

bool dueq_php_limit(const dueq_php_place *place, zval *value, int64_t *ms) {
    static const manner manner = {"be more than 0 seconds and at most 130 years",
                                  "DateInterval|float|null", false};

    *ms = 0;
    if (!value || Z_TYPE_P(value) == IS_NULL) {
        return true;
    }
    if (!read_duration(place, value, &manner, ms)) {
        return false;
    }
    return *ms > 0 ? true : dueq_php_invalid(place, manner.range);
}

bool dueq_php_time(const dueq_php_place *place, zval *value, int64_t *ms) {
    double seconds;
    int64_t us;

    if (Z_TYPE_P(value) == IS_OBJECT &&
        instanceof_function(Z_OBJCE_P(value), php_date_get_interface_ce())) {
        if (read_date(Z_OBJ_P(value), &us) && microseconds_to_ms(us, ms)) {
            *ms = MAX(*ms, 1);
            return true;
        }
    } else if (!read_number(place, value, &seconds)) {
        dueq_php_type_error(place, "DateTimeInterface|int|float|null", value);
        return false;
    } else if (seconds_to_ms(seconds, ms)) {
        *ms = MAX(*ms, 1);
        return true;
    }
    return EG(exception) ? false : dueq_php_invalid(place, "be a time from 1970 to 2100");
}
