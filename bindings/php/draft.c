#include "php_dueq.h"

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

/* The number of push()'s (or reschedule()'s) parameter of this name, or of pushMany()'s array. */
static dueq_php_place place_of(zend_long item, uint32_t argument, const char *name) {
    return (dueq_php_place){item < 0 ? argument : 1, item, name};
}

static bool invalid(zend_long item, const char *text) {
    if (item < 0) {
        dueq_php_throw(DUEQ_INVALID, text);
    } else {
        dueq_php_throw_format(DUEQ_INVALID, "message " ZEND_LONG_FMT ": %s", item, text);
    }
    return false;
}

static bool fill_headers(dueq_draft *draft, HashTable *table, zend_long item, zend_arena **arena) {
    const dueq_php_place place = place_of(item, 7, "headers");
    size_t count = zend_hash_num_elements(table);
    dueq_header *headers;
    zend_ulong number;
    zend_string *name;
    zval *value;

    if (!count) {
        return true;
    }
    headers = zend_arena_calloc(arena, count, sizeof *headers);
    draft->headers = headers;
    draft->header_count = count;
    ZEND_HASH_FOREACH_KEY_VAL(table, number, name, value) {
        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) != IS_STRING) {
            dueq_php_type_error(&place, "array of strings", value);
            return false;
        }
        if (name) {
            headers->name = dueq_php_bytes(name);
        } else {
            /* PHP has made an integer of a name in digits. */
            char *digits = zend_arena_alloc(arena, MAX_LENGTH_OF_LONG);
            int size = snprintf(digits, MAX_LENGTH_OF_LONG, ZEND_LONG_FMT, (zend_long)number);
            headers->name = (dueq_bytes){digits, (size_t)size};
        }
        headers->value = dueq_php_bytes(Z_STR_P(value));
        headers++;
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

bool dueq_php_due(zval *delay, zval *at, zend_long item, int64_t *delay_ms, int64_t *at_ms) {
    const dueq_php_place delay_place = place_of(item, 2, "delay"),
                         at_place = place_of(item, 3, "at");
    bool has_delay = delay && Z_TYPE_P(delay) != IS_NULL;
    bool has_at = at && Z_TYPE_P(at) != IS_NULL;

    *delay_ms = *at_ms = 0;
    if (has_delay && has_at) {
        return invalid(item, "delay and at must not be given together");
    }
    return (!has_delay || dueq_php_duration(&delay_place, delay, delay_ms)) &&
           (!has_at || dueq_php_time(&at_place, at, at_ms));
}

bool dueq_php_draft_fill(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena) {
    const dueq_php_place lease = place_of(item, 6, "lease");

    *draft = (dueq_draft)DUEQ_DRAFT;
    draft->body = dueq_php_bytes(fields->body);
    draft->id = dueq_php_bytes(fields->id);
    if (fields->id && !draft->id.size) {
        return invalid(item, "id must not be empty");
    }
    if (fields->max_attempts < 0 || fields->max_attempts > DUEQ_MAX_MAX_ATTEMPTS) {
        return invalid(item, "maxAttempts must be from 0 to 65535");
    }
    draft->max_attempts = (uint32_t)fields->max_attempts;
    return dueq_php_due(fields->delay, fields->at, item, &draft->delay_ms, &draft->at_ms) &&
           dueq_php_lease(&lease, fields->lease, &draft->lease_ms) &&
           (!fields->headers || fill_headers(draft, fields->headers, item, arena));
}

/* Reads one key of an item; false: not of its type, or not known. */
static bool read_key(dueq_php_fields *fields, zend_string *key, zval *value, zend_long item) {
    const dueq_php_place place = {1, item, ZSTR_VAL(key)};
    const char *type = NULL;
    bool null = Z_TYPE_P(value) == IS_NULL;

    if (zend_string_equals_literal(key, "body")) {
        fields->body = Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
        type = fields->body ? NULL : "string";
    } else if (zend_string_equals_literal(key, "id")) {
        fields->id = Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
        type = fields->id || null ? NULL : "?string";
    } else if (zend_string_equals_literal(key, "delay")) {
        fields->delay = value;
    } else if (zend_string_equals_literal(key, "at")) {
        fields->at = value;
    } else if (zend_string_equals_literal(key, "lease")) {
        fields->lease = value;
    } else if (zend_string_equals_literal(key, "maxAttempts")) {
        fields->max_attempts = Z_TYPE_P(value) == IS_LONG ? Z_LVAL_P(value) : 0;
        type = Z_TYPE_P(value) == IS_LONG || null ? NULL : "?int";
    } else if (zend_string_equals_literal(key, "headers")) {
        fields->headers = Z_TYPE_P(value) == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
        type = fields->headers ? NULL : "array";
    } else {
        dueq_php_throw_format(DUEQ_INVALID, "message " ZEND_LONG_FMT ": there is no key \"%s\"",
                              item, ZSTR_VAL(key));
        return false;
    }
    if (type) {
        dueq_php_type_error(&place, type, value);
    }
    return !type;
}

bool dueq_php_draft_read(dueq_draft *draft, zval *value, zend_long item, zend_arena **arena) {
    dueq_php_fields fields = {.max_attempts = DUEQ_DEFAULT_ATTEMPTS};
    zend_ulong number;
    zend_string *key;
    zval *field;

    ZVAL_DEREF(value);
    if (Z_TYPE_P(value) == IS_STRING) {
        fields.body = Z_STR_P(value);
        return dueq_php_draft_fill(draft, &fields, item, arena);
    }
    if (Z_TYPE_P(value) != IS_ARRAY) {
        const dueq_php_place place = {1, item, "message"};
        dueq_php_type_error(&place, "array|string", value);
        return false;
    }
    ZEND_HASH_FOREACH_KEY_VAL(Z_ARRVAL_P(value), number, key, field) {
        ZVAL_DEREF(field);
        if (!key) {
            dueq_php_throw_format(DUEQ_INVALID,
                                  "message " ZEND_LONG_FMT ": there is no key " ZEND_LONG_FMT, item,
                                  (zend_long)number);
            return false;
        }
        if (!read_key(&fields, key, field, item)) {
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    if (!fields.body) {
        return invalid(item, "body is missing");
    }
    return dueq_php_draft_fill(draft, &fields, item, arena);
}
