#include "php_dueq.h"

/* Made from core/verbs.toml by core/verbs.py: the keys of a message. */
/* The parameters of push() in their order, which are the keys of an item. */
static const dueq_php_key keys[] = {
#define KEY(name, type, member) {name, DUEQ_PHP_##type, offsetof(dueq_php_fields, member)}
    KEY("body", STRING, body),
    KEY("delay", VALUE, delay),
    KEY("at", VALUE, at),
    KEY("id", TEXT, id),
    KEY("maxAttempts", LIMIT, max_attempts),
    KEY("lease", VALUE, lease),
    KEY("headers", TABLE, headers),
    KEY("priority", NUMBER, priority),
    KEY("ttl", VALUE, ttl),
    KEY("backoff", VALUE, backoff),
    KEY("maxCrashes", LIMIT, max_crashes),
    KEY("drop", TRUTH, drop),
    KEY("deadLetter", TEXT, dead_letter),
    KEY("unique", VALUE, unique),
    KEY("replace", VALUE, replace),
    KEY("replicas", NUMBER, replicas),
    KEY("disk", TRUTH, disk),
    KEY("durableTimeout", VALUE, durable_timeout),
    KEY("key", TEXT, key),
#undef KEY
};
/* The end of what was made. */

#define KEY_COUNT (sizeof keys / sizeof keys[0])

/* The place of the parameter of this name of push() or reschedule(), or in an item of the array. */
static dueq_php_place place_of(zend_long item, const char *name) {
    uint32_t number = 0;

    while (item < 0 && number < KEY_COUNT && strcmp(keys[number].name, name) != 0) {
        number++;
    }
    return (dueq_php_place){number + 1, item, name};
}

bool dueq_php_headers_fill(dueq_draft *draft, HashTable *table, zend_long item,
                           zend_arena **arena) {
    const dueq_php_place place = place_of(item, "headers");
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
            /* PHP has converted a key of digits to an integer. */
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

bool dueq_php_due(zval *delay, zval *at, const dueq_php_place *first, int64_t *delay_ms,
                  int64_t *at_ms) {
    const zend_long item = first->item;
    const dueq_php_place both = {0, item, "delay and at"},
                         delay_place = {first->argument, item, "delay"},
                         at_place = {first->argument + (item < 0), item, "at"};

    *delay_ms = *at_ms = 0;
    if (dueq_php_given(delay) && dueq_php_given(at)) {
        return dueq_php_invalid(&both, "not be given together");
    }
    return (!dueq_php_given(delay) || dueq_php_duration(&delay_place, delay, delay_ms)) &&
           (!dueq_php_given(at) || dueq_php_time(&at_place, at, at_ms));
}

bool dueq_php_durability_read(const dueq_php_place *replicas, zend_long count, bool disk,
                              zval *timeout, dueq_durability *out) {
    const dueq_php_place timeout_place = {replicas->argument + 2 * (replicas->item < 0),
                                          replicas->item, "durableTimeout"};

    *out = (dueq_durability){.replicas = (int)count, .disk = disk};
    if (count < 0 || count > DUEQ_MAX_REPLICAS) {
        return dueq_php_invalid(replicas, "be from 0 to 100");
    }
    return dueq_php_limit(&timeout_place, timeout, &out->timeout_ms);
}

/* Each fills one member of a draft from one field. False: it threw. */

static bool fill_due(dueq_draft *draft, zval *delay, zval *at, zend_long item) {
    const dueq_php_place place = place_of(item, "delay");

    return dueq_php_due(delay, at, &place, &draft->delay_ms, &draft->at_ms);
}

static bool fill_duration(int64_t *out, zval *value, const char *name, zend_long item) {
    const dueq_php_place place = place_of(item, name);

    return !dueq_php_given(value) || dueq_php_duration(&place, value, out);
}

/* A duration above 0. */
static bool fill_span(int64_t *out, zval *value, const char *name, zend_long item) {
    const dueq_php_place place = place_of(item, name);

    return dueq_php_limit(&place, value, out);
}

/* range: the text of the error for a number outside of it. */
static bool fill_number(int *out, zend_long value, zend_long least, zend_long most,
                        const char *name, const char *range, zend_long item) {
    const dueq_php_place place = place_of(item, name);

    *out = (int)value;
    return (value >= least && value <= most) || dueq_php_invalid(&place, range);
}

static bool fill_headers(dueq_draft *draft, HashTable *headers, zend_long item,
                         zend_arena **arena) {
    return !headers || dueq_php_headers_fill(draft, headers, item, arena);
}

static bool fill_backoff(dueq_backoff *out, zval *value, zend_long item, zend_arena **arena) {
    const dueq_php_place place = place_of(item, "backoff");

    return !dueq_php_given(value) || dueq_php_backoff_read(&place, value, out, arena);
}

/* A text that may be left out, but must not be empty. */
static bool fill_text(dueq_bytes *out, const zend_string *text, const char *name, zend_long item) {
    const dueq_php_place place = place_of(item, name);

    *out = dueq_php_bytes(text);
    return !text || out->size || dueq_php_invalid(&place, "not be empty");
}

/* zero: the text of the error for a limit of 0. */
static bool fill_limit(uint32_t *out, dueq_php_bound limit, const char *name, const char *zero,
                       zend_long item) {
    const dueq_php_place place = place_of(item, name);

    *out = limit.is_null ? DUEQ_NO_LIMIT : (uint32_t)limit.number;
    return limit.is_null || (limit.number > 0 && limit.number <= DUEQ_MAX_MAX_ATTEMPTS) ||
           dueq_php_invalid(&place, limit.number ? "be from 1 to 65535, or null" : zero);
}

static bool fill_priority(dueq_draft *draft, zend_long priority, zend_long item) {
    const dueq_php_place place = place_of(item, "priority");

    draft->priority = (dueq_priority)priority;
    return (priority >= DUEQ_LOW && priority <= DUEQ_HIGH) ||
           dueq_php_invalid(&place, "be 1 (high), 0 or -1 (low)");
}

static bool fill_replace(dueq_draft *draft, const zval *replace, zend_long item) {
    const dueq_php_place place = place_of(item, "replace");

    if (!dueq_php_given(replace)) {
        return true;
    }
    if (Z_TYPE_P(replace) != IS_OBJECT || Z_OBJCE_P(replace) != dueq_php_replace.ce) {
        dueq_php_type_error(&place, "?Dueq\\Replace", replace);
        return false;
    }
    draft->replace = (dueq_replace)dueq_php_case_value(&dueq_php_replace, Z_OBJ_P(replace));
    return true;
}

/* Made from core/verbs.toml by core/verbs.py: the options of a push. */
bool dueq_php_fields_parse(zend_execute_data *execute_data, dueq_php_fields *fields) {
    ZEND_PARSE_PARAMETERS_START(1, 19)
        Z_PARAM_STR(fields->body)
        Z_PARAM_OPTIONAL
        Z_PARAM_ZVAL(fields->delay)
        Z_PARAM_ZVAL(fields->at)
        Z_PARAM_STR_OR_NULL(fields->id)
        Z_PARAM_LONG_OR_NULL(fields->max_attempts.number, fields->max_attempts.is_null)
        Z_PARAM_ZVAL(fields->lease)
        Z_PARAM_ARRAY_HT(fields->headers)
        Z_PARAM_LONG(fields->priority)
        Z_PARAM_ZVAL(fields->ttl)
        Z_PARAM_ZVAL(fields->backoff)
        Z_PARAM_LONG_OR_NULL(fields->max_crashes.number, fields->max_crashes.is_null)
        Z_PARAM_BOOL(fields->drop)
        Z_PARAM_STR_OR_NULL(fields->dead_letter)
        Z_PARAM_ZVAL(fields->unique)
        Z_PARAM_ZVAL(fields->replace)
        Z_PARAM_LONG(fields->replicas)
        Z_PARAM_BOOL(fields->disk)
        Z_PARAM_ZVAL(fields->durable_timeout)
        Z_PARAM_STR_OR_NULL(fields->key)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return true;
}

static bool fill_options(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena) {
    if (!fill_due(draft, fields->delay, fields->at, item)) {
        return false;
    }
    if (!fill_text(&draft->id, fields->id, "id", item)) {
        return false;
    }
    if (!fill_limit(&draft->max_attempts, fields->max_attempts, "maxAttempts",
                    "not be 0: use null for no limit, 1 for no retry", item)) {
        return false;
    }
    if (!fill_span(&draft->lease_ms, fields->lease, "lease", item)) {
        return false;
    }
    if (!fill_headers(draft, fields->headers, item, arena)) {
        return false;
    }
    if (!fill_priority(draft, fields->priority, item)) {
        return false;
    }
    if (!fill_span(&draft->ttl_ms, fields->ttl, "ttl", item)) {
        return false;
    }
    if (!fill_backoff(&draft->backoff, fields->backoff, item, arena)) {
        return false;
    }
    if (!fill_limit(&draft->max_crashes, fields->max_crashes, "maxCrashes",
                    "not be 0: use null for no limit, 1 for no second delivery after one", item)) {
        return false;
    }
    draft->drop = fields->drop;
    if (!fill_text(&draft->dead_letter, fields->dead_letter, "deadLetter", item)) {
        return false;
    }
    if (!fill_duration(&draft->unique_ms, fields->unique, "unique", item)) {
        return false;
    }
    if (!fill_replace(draft, fields->replace, item)) {
        return false;
    }
    if (!fill_number(&draft->durability.replicas, fields->replicas, 0, DUEQ_MAX_REPLICAS,
                     "replicas", "be from 0 to 100", item)) {
        return false;
    }
    draft->durability.disk = fields->disk;
    if (!fill_span(&draft->durability.timeout_ms, fields->durable_timeout, "durableTimeout",
                   item)) {
        return false;
    }
    if (!fill_text(&draft->key, fields->key, "key", item)) {
        return false;
    }
    return true;
}
/* The end of what was made. */

bool dueq_php_draft_fill(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena) {
    *draft = (dueq_draft)DUEQ_DRAFT;
    draft->body = dueq_php_bytes(fields->body);
    return fill_options(draft, fields, item, arena);
}

static bool read_item(dueq_draft *draft, zval *value, zend_long item, zend_arena **arena) {
    const dueq_php_place place = {1, item, "message"}, body = {1, item, "body"};
    dueq_php_fields fields = DUEQ_PHP_FIELDS;

    ZVAL_DEREF(value);
    if (Z_TYPE_P(value) == IS_STRING) {
        fields.body = Z_STR_P(value);
    } else if (Z_TYPE_P(value) != IS_ARRAY) {
        dueq_php_type_error(&place, "array|string", value);
        return false;
    } else if (!dueq_php_keys_read(keys, KEY_COUNT, Z_ARRVAL_P(value), item, &fields)) {
        return false;
    } else if (!fields.body) {
        return dueq_php_invalid(&body, "be given");
    }
    return dueq_php_draft_fill(draft, &fields, item, arena);
}

dueq_draft *dueq_php_drafts_read(const char *name, HashTable *messages, zend_arena **arena) {
    dueq_draft *drafts =
        zend_arena_calloc(arena, MAX(zend_hash_num_elements(messages), 1), sizeof *drafts);
    zend_long item = 0;
    zval *value;

    if (!dueq_php_list_check(name, messages)) {
        return NULL;
    }
    ZEND_HASH_FOREACH_VAL(messages, value) {
        if (!read_item(&drafts[item], value, item, arena)) {
            return NULL;
        }
        item++;
    }
    ZEND_HASH_FOREACH_END();
    return drafts;
}
