#include "php_dueq.h"

/* TEXT and LIMIT may be null. The caller checks the type of a VALUE. */
static const char *const type_names[] = {"string", "?string", "?int", "int", "bool", "array", ""};

void dueq_php_type_error(const dueq_php_place *place, const char *type, const zval *value) {
    if (EG(exception)) {
        return;
    }
    if (place->item < 0) {
        zend_argument_type_error(place->argument, "must be of type %s, %s given", type,
                                 zend_zval_type_name(value));
    } else {
        zend_argument_type_error(place->argument,
                                 "item " ZEND_LONG_FMT ": %s must be of type %s, %s given",
                                 place->item, place->name, type, zend_zval_type_name(value));
    }
}

bool dueq_php_invalid(const dueq_php_place *place, const char *text) {
    if (place->item < 0) {
        dueq_php_throw_format(DUEQ_INVALID, "%s must %s", place->name, text);
    } else {
        dueq_php_throw_format(DUEQ_INVALID, "item " ZEND_LONG_FMT ": %s must %s", place->item,
                              place->name, text);
    }
    return false;
}

bool dueq_php_list_check(const char *name, HashTable *table) {
    zend_string *key;

    ZEND_HASH_FOREACH_STR_KEY(table, key) {
        if (key) {
            dueq_php_throw_format(DUEQ_INVALID, "%s must be a list, and has the key \"%s\"", name,
                                  ZSTR_VAL(key));
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

bool dueq_php_within(const dueq_php_place *place, zend_long value, zend_long least, zend_long most,
                     const char *text) {
    return (value >= least && value <= most) || dueq_php_invalid(place, text);
}

bool dueq_php_any_count(const dueq_php_place *place, dueq_php_bound value, size_t *out) {
    *out = value.is_null ? 0 : (size_t)value.number;
    return value.is_null || value.number > 0 || dueq_php_invalid(place, "be 1 or more, or null");
}

bool dueq_php_text(const dueq_php_place *place, const zend_string *value, dueq_bytes *out) {
    *out = dueq_php_bytes(value);
    return !value || out->size || dueq_php_invalid(place, "not be empty");
}

/* Reads a value into its member. False: it has the wrong type. */
static bool read_value(dueq_php_type type, void *member, zval *value) {
    uint8_t found = Z_TYPE_P(value);

    switch (type) {
    case DUEQ_PHP_STRING:
    case DUEQ_PHP_TEXT:
        *(zend_string **)member = found == IS_STRING ? Z_STR_P(value) : NULL;
        return found == IS_STRING || (found == IS_NULL && type == DUEQ_PHP_TEXT);
    case DUEQ_PHP_LIMIT:
        *(dueq_php_bound *)member =
            (dueq_php_bound){found == IS_LONG ? Z_LVAL_P(value) : 0, found == IS_NULL};
        return found == IS_LONG || found == IS_NULL;
    case DUEQ_PHP_NUMBER:
        *(zend_long *)member = found == IS_LONG ? Z_LVAL_P(value) : 0;
        return found == IS_LONG;
    case DUEQ_PHP_TRUTH:
        *(bool *)member = found == IS_TRUE;
        return found == IS_TRUE || found == IS_FALSE;
    case DUEQ_PHP_TABLE:
        *(HashTable **)member = found == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
        return found == IS_ARRAY;
    case DUEQ_PHP_VALUE:
        *(zval **)member = value;
    }
    return true;
}

static const dueq_php_key *find(const dueq_php_key *keys, size_t count, const zend_string *name) {
    for (size_t i = 0; i < count; i++) {
        if (zend_string_equals_cstr(name, keys[i].name, strlen(keys[i].name))) {
            return &keys[i];
        }
    }
    return NULL;
}

bool dueq_php_keys_read(const dueq_php_key *keys, size_t count, HashTable *table, zend_long item,
                        void *fields) {
    zend_ulong number;
    zend_string *name;
    zval *value;

    ZEND_HASH_FOREACH_KEY_VAL(table, number, name, value) {
        const dueq_php_key *key = name ? find(keys, count, name) : NULL;

        ZVAL_DEREF(value);
        if (!name) {
            dueq_php_throw_format(DUEQ_INVALID,
                                  "item " ZEND_LONG_FMT ": there is no key " ZEND_LONG_FMT, item,
                                  (zend_long)number);
            return false;
        }
        if (!key) {
            dueq_php_throw_format(DUEQ_INVALID, "item " ZEND_LONG_FMT ": there is no key \"%s\"",
                                  item, ZSTR_VAL(name));
            return false;
        }
        if (!read_value(key->type, (char *)fields + key->offset, value)) {
            const dueq_php_place place = {1, item, key->name};

            dueq_php_type_error(&place, type_names[key->type], value);
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

/* Made from core/options.toml by core/verbs.py: the options of reserve. */
bool dueq_php_reserve_read(zend_execute_data *execute_data, bool many,
                           dueq_reserve_options *options) {
    zend_long count = 1;
    zval *timeout = NULL;
    zval *lease = NULL;

    ZEND_PARSE_PARAMETERS_START(many, many + 2)
        if (many) {
            Z_PARAM_LONG(count)
        }
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(timeout)
        Z_PARAM_ZVAL(lease)
    ZEND_PARSE_PARAMETERS_END_EX(return false);

    if (!dueq_php_within(DUEQ_PHP_PLACE(many, -1, "count"), count, 1, DUEQ_MAX_BATCH,
                         "be from 1 to 200")) {
        return false;
    }
    options->count = (size_t)count;
    if (!dueq_php_timeout(DUEQ_PHP_PLACE(many + 1, -1, "timeout"), timeout, &options->timeout_ms)) {
        return false;
    }
    if (!dueq_php_limit(DUEQ_PHP_PLACE(many + 2, -1, "lease"), lease, &options->lease_ms)) {
        return false;
    }
    return true;
}
/* The end of what was made. */
