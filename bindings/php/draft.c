#include "php_dueq.h"

/* Made from core/options.toml by core/verbs.py: the keys of a message. */
/* The keys of a message's array, in the order of push()'s parameters. */
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
    KEY("group", TEXT, group),
    KEY("keep", VALUE, keep),
    KEY("batch", TEXT, batch),
#undef KEY
};
/* The end of what was made. */

bool dueq_php_headers_fill(const dueq_php_place *place, HashTable *table, dueq_draft *draft,
                           zend_arena **arena) {
    size_t count = table ? zend_hash_num_elements(table) : 0;
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
            dueq_php_type_error(place, "array of strings", value);
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

/* Each fills members of a draft from a field. False: it threw. */

static bool fill_due(dueq_draft *draft, zval *delay, zval *at, const dueq_php_place *place) {
    return dueq_php_due(delay, at, place, &draft->delay_ms, &draft->at_ms);
}

static bool fill_backoff(const dueq_php_place *place, zval *value, dueq_backoff *out,
                         zend_arena **arena) {
    return !dueq_php_given(value) || dueq_php_backoff_read(place, value, out, arena);
}

/* zero: the text of the error for a limit of 0. */
static bool fill_limit(const dueq_php_place *place, dueq_php_bound limit, const char *zero,
                       uint32_t *out) {
    *out = limit.is_null ? DUEQ_NO_LIMIT : (uint32_t)limit.number;
    return limit.is_null || dueq_php_within(place, limit.number, 1, DUEQ_MAX_MAX_ATTEMPTS,
                                            limit.number ? "be from 1 to 65535, or null" : zero);
}

static bool fill_replace(const dueq_php_place *place, const zval *replace, dueq_replace *out) {
    if (!dueq_php_given(replace)) {
        return true;
    }
    if (Z_TYPE_P(replace) != IS_OBJECT || Z_OBJCE_P(replace) != dueq_php_replace.ce) {
        dueq_php_type_error(place, "?Dueq\\Replace", replace);
        return false;
    }
    *out = (dueq_replace)dueq_php_case_value(&dueq_php_replace, Z_OBJ_P(replace));
    return true;
}

/* Made from core/options.toml by core/verbs.py: the options of a push. */
bool dueq_php_fields_parse(zend_execute_data *execute_data, dueq_php_fields *fields) {
    ZEND_PARSE_PARAMETERS_START(1, 22)
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
        Z_PARAM_STR_OR_NULL(fields->group)
        Z_PARAM_ZVAL(fields->keep)
        Z_PARAM_STR_OR_NULL(fields->batch)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return true;
}

static bool fill_options(dueq_draft *draft, const dueq_php_fields *fields, zend_long item,
                         zend_arena **arena) {
    if (!fill_due(draft, fields->delay, fields->at, DUEQ_PHP_PLACE(2, item, "delay"))) {
        return false;
    }
    if (!dueq_php_text(DUEQ_PHP_PLACE(4, item, "id"), fields->id, &draft->id)) {
        return false;
    }
    if (!fill_limit(DUEQ_PHP_PLACE(5, item, "maxAttempts"), fields->max_attempts,
                    "not be 0: use null for no limit, 1 for no retry", &draft->max_attempts)) {
        return false;
    }
    if (!dueq_php_limit(DUEQ_PHP_PLACE(6, item, "lease"), fields->lease, &draft->lease_ms)) {
        return false;
    }
    if (!dueq_php_headers_fill(DUEQ_PHP_PLACE(7, item, "headers"), fields->headers, draft, arena)) {
        return false;
    }
    if (!dueq_php_within(DUEQ_PHP_PLACE(8, item, "priority"), fields->priority, DUEQ_LOW, DUEQ_HIGH,
                         "be 1 (high), 0 or -1 (low)")) {
        return false;
    }
    draft->priority = (dueq_priority)fields->priority;
    if (!dueq_php_limit(DUEQ_PHP_PLACE(9, item, "ttl"), fields->ttl, &draft->ttl_ms)) {
        return false;
    }
    if (!fill_backoff(DUEQ_PHP_PLACE(10, item, "backoff"), fields->backoff, &draft->backoff,
                      arena)) {
        return false;
    }
    if (!fill_limit(DUEQ_PHP_PLACE(11, item, "maxCrashes"), fields->max_crashes,
                    "not be 0: use null for no limit, 1 for no second delivery after one",
                    &draft->max_crashes)) {
        return false;
    }
    draft->drop = fields->drop;
    if (!dueq_php_text(DUEQ_PHP_PLACE(13, item, "deadLetter"), fields->dead_letter,
                       &draft->dead_letter)) {
        return false;
    }
    if (!dueq_php_optional_duration(DUEQ_PHP_PLACE(14, item, "unique"), fields->unique,
                                    &draft->unique_ms)) {
        return false;
    }
    if (!fill_replace(DUEQ_PHP_PLACE(15, item, "replace"), fields->replace, &draft->replace)) {
        return false;
    }
    if (!dueq_php_within(DUEQ_PHP_PLACE(16, item, "replicas"), fields->replicas, 0,
                         DUEQ_MAX_REPLICAS, "be from 0 to 100")) {
        return false;
    }
    draft->durability.replicas = (int)fields->replicas;
    draft->durability.disk = fields->disk;
    if (!dueq_php_limit(DUEQ_PHP_PLACE(18, item, "durableTimeout"), fields->durable_timeout,
                        &draft->durability.timeout_ms)) {
        return false;
    }
    if (!dueq_php_text(DUEQ_PHP_PLACE(19, item, "key"), fields->key, &draft->key)) {
        return false;
    }
    if (!dueq_php_text(DUEQ_PHP_PLACE(20, item, "group"), fields->group, &draft->group)) {
        return false;
    }
    if (!dueq_php_limit(DUEQ_PHP_PLACE(21, item, "keep"), fields->keep, &draft->keep_ms)) {
        return false;
    }
    if (!dueq_php_text(DUEQ_PHP_PLACE(22, item, "batch"), fields->batch, &draft->batch)) {
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
    } else if (!dueq_php_keys_read(keys, sizeof keys / sizeof *keys, Z_ARRVAL_P(value), item,
                                   &fields)) {
        return false;
    } else if (!fields.body) {
        return dueq_php_invalid(&body, "be given");
    }
    return dueq_php_draft_fill(draft, &fields, item, arena);
}

void dueq_php_draft_list(zval *list, HashTable *fields, zend_string *body) {
    zval job;

    if (!fields) {
        ZVAL_STR_COPY(&job, body);
    } else if (GC_FLAGS(fields) & GC_IMMUTABLE) {
        /* Nobody counts who has it, as with [] and the arrays that opcache shares. */
        Z_ARR(job) = fields;
        Z_TYPE_INFO(job) = IS_ARRAY;
    } else {
        GC_ADDREF(fields);
        ZVAL_ARR(&job, fields);
    }
    array_init_size(list, 1);
    zend_hash_next_index_insert_new(Z_ARRVAL_P(list), &job);
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
