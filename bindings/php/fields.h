/*
 * The properties of objects that stand for results of the core. The lists of fields in dueq_verbs.h
 * have the order of the properties in the stub; their kinds are those of core/results.py.
 */
#ifndef DUEQ_PHP_FIELDS_H
#define DUEQ_PHP_FIELDS_H

#include "php_dueq.h"

/* Makes an object of the class, whose properties are the fields of the struct `from`. */
#define MAKE_OBJECT(out, ce, FIELDS)                                                               \
    do {                                                                                           \
        object_init_ex(out, ce);                                                                   \
        MAKE_PROPERTIES(Z_OBJ_P(out), 0, FIELDS);                                                  \
    } while (0)
/* The properties from number `first` on. */
#define MAKE_PROPERTIES(object, first, FIELDS)                                                     \
    do {                                                                                           \
        zval *property = OBJ_PROP_NUM(object, first);                                              \
        FIELDS(MAKE_PROPERTY)                                                                      \
    } while (0)
#define MAKE_PROPERTY(kind, member)                                                                \
    MAKE_##kind(property, from->member);                                                           \
    property++;

#define MAKE_COUNT(out, number) ZVAL_LONG(out, (zend_long)(number))
#define MAKE_FLAG(out, flag) ZVAL_BOOL(out, flag)
#define MAKE_TEXT(out, bytes) dueq_php_string(out, bytes)
#define MAKE_WORD(out, text) ZVAL_STRING(out, text)
#define MAKE_TIME(out, ms) ZVAL_DOUBLE(out, dueq_php_seconds(ms))
#define MAKE_MAYBE_TIME(out, ms) dueq_php_time_make(out, ms)
#define MAKE_SPAN(out, ms) MAKE_TIME(out, ms)
/* These may be null. */
#define MAKE_OR_NULL(out, given, make)                                                             \
    do {                                                                                           \
        if (given) {                                                                               \
            make;                                                                                  \
        } else {                                                                                   \
            ZVAL_NULL(out);                                                                        \
        }                                                                                          \
    } while (0)
#define MAKE_OPTIONAL(out, number) MAKE_OR_NULL(out, number, MAKE_COUNT(out, number))
#define MAKE_INDEX(out, number) MAKE_OR_NULL(out, (number) >= 0, MAKE_COUNT(out, number))
#define MAKE_MEASURED(out, ms) MAKE_OR_NULL(out, (ms) >= 0, MAKE_TIME(out, ms))
#define MAKE_SHARE(out, share) MAKE_OR_NULL(out, (share) >= 0, ZVAL_DOUBLE(out, share))
#define MAKE_NAME(out, bytes) MAKE_OR_NULL(out, (bytes).size, MAKE_TEXT(out, bytes))

#endif
