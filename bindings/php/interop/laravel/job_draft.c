#include "php_laravel.h"

#include "zend_smart_str.h"

/* The keys of an item of pushMany(). */
static const dueq_php_key keys[] = {
#define KEY(name, type, member) {name, DUEQ_PHP_##type, offsetof(dueq_php_job_fields, member)}
    KEY("job", TEXT, job),
    KEY("data", VALUE, data),
    KEY("payload", TEXT, payload),
    KEY("commandName", TEXT, command_name),
    KEY("command", TEXT, command),
    KEY("delay", VALUE, delay),
    KEY("at", VALUE, at),
    KEY("displayName", TEXT, display_name),
    KEY("maxTries", VALUE, max_tries),
    KEY("maxExceptions", VALUE, max_exceptions),
    KEY("timeout", VALUE, timeout),
    KEY("backoff", VALUE, backoff),
    KEY("retryUntil", VALUE, retry_until),
    KEY("failOnTimeout", TRUTH, fail_on_timeout),
#undef KEY
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])

/* The options that an error may name, in the order of the parameters. */
enum option { DISPLAY_NAME, MAX_TRIES, MAX_EXCEPTIONS, TIMEOUT, BACKOFF, RETRY_UNTIL };

static dueq_php_place place_of(const dueq_php_job_fields *fields, zend_long item,
                               enum option option) {
    static const char *const names[] = {"displayName", "maxTries", "maxExceptions",
                                        "timeout",     "backoff",  "retryUntil"};

    return (dueq_php_place){item < 0 ? fields->options_number + option : 1, item, names[option]};
}

static int64_t whole_seconds(int64_t ms) { return ms / 1000 + (ms % 1000 != 0); }

static dueq_bytes hold(zend_string *text, HashTable *held) {
    return text ? dueq_php_hold(held, text) : (dueq_bytes){NULL, 0};
}

/* An argument is coerced as PHP coerces an int parameter, as in times.c. */
static bool read_count(zval *given, const dueq_php_place *place, zend_long *count) {
    if (Z_TYPE_P(given) == IS_LONG) {
        *count = Z_LVAL_P(given);
        return true;
    }
    return place->item < 0 && zend_parse_arg_long_slow(given, count, place->argument);
}

/* 0 means "not given" to the core, but "no limit" to Laravel: so 0 is refused. */
static bool fill_limit(uint32_t *out, zval *given, dueq_php_place place) {
    zend_long count;

    if (!dueq_php_given(given)) {
        return true;
    }
    if (!read_count(given, &place, &count)) {
        dueq_php_type_error(&place, "?int", given);
        return false;
    }
    *out = (uint32_t)count;
    return (count >= 1 && (int64_t)count <= UINT32_MAX) ||
           dueq_php_invalid(&place, "be from 1 to 4294967295, or null");
}

static bool add_seconds(smart_str *text, zval *value, const dueq_php_place *place) {
    int64_t ms;

    ZVAL_DEREF(value);
    if (!dueq_php_duration(place, value, &ms)) {
        return false;
    }
    if (text->s) {
        smart_str_appendc(text, ',');
    }
    smart_str_append_long(text, (zend_long)whole_seconds(ms));
    return true;
}

/* As Laravel writes it: "10" or "10,60". */
static bool fill_backoff(dueq_laravel_draft *draft, zval *backoff, dueq_php_place place,
                         HashTable *held) {
    smart_str text = {0};
    zend_string *whole;
    bool good = true;
    zval *value;

    if (Z_TYPE_P(backoff) == IS_ARRAY) {
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(backoff), value) {
            good = good && add_seconds(&text, value, &place);
        }
        ZEND_HASH_FOREACH_END();
    } else {
        good = add_seconds(&text, backoff, &place);
    }
    if (good && !text.s) {
        return dueq_php_invalid(&place, "not be empty: null is none");
    }
    if (good) {
        whole = smart_str_extract(&text);
        draft->backoff = dueq_php_hold(held, whole);
        zend_string_release(whole);
    }
    smart_str_free(&text);
    return good;
}

static bool fill_times(dueq_laravel_draft *draft, const dueq_php_job_fields *fields,
                       zend_long item) {
    const dueq_php_place due = {item < 0 ? fields->delay_number : 1, item, "delay"},
                         timeout = place_of(fields, item, TIMEOUT),
                         retry_until = place_of(fields, item, RETRY_UNTIL);
    int64_t timeout_ms, retry_until_ms = 0;

    if (!dueq_php_due(fields->delay, fields->at, &due, &draft->delay_ms, &draft->at_ms) ||
        !dueq_php_limit(&timeout, fields->timeout, &timeout_ms) ||
        (dueq_php_given(fields->retry_until) &&
         !dueq_php_time(&retry_until, fields->retry_until, &retry_until_ms))) {
        return false;
    }
    draft->timeout_s = (uint32_t)whole_seconds(timeout_ms);
    draft->retry_until_s = whole_seconds(retry_until_ms);
    /* dueq_php_time() converts the begin of 1970 to 1 ms. */
    return !dueq_php_given(fields->retry_until) || retry_until_ms > 1 ||
           dueq_php_invalid(&retry_until, "be later than 1970, or null");
}

/* Runs last, as it may run code of the program. */
static bool fill_data(dueq_laravel_draft *draft, zval *data, zend_long item, HashTable *held) {
    const dueq_php_place place = {1, item, "data"};
    zend_string *text;

    if (!dueq_php_given(data)) {
        return true;
    }
    if (!dueq_php_json_write(&place, data, &text)) {
        return false;
    }
    draft->data = dueq_php_hold(held, text);
    zend_string_release(text);
    return true;
}

bool dueq_php_job_draft_fill(dueq_laravel_draft *draft, const dueq_php_job_fields *fields,
                             zend_long item, HashTable *held) {
    *draft = (dueq_laravel_draft)DUEQ_LARAVEL_DRAFT;
    draft->payload = hold(fields->payload, held);
    draft->job = hold(fields->job, held);
    draft->command_name = hold(fields->command_name, held);
    draft->command = hold(fields->command, held);
    draft->display_name = hold(fields->display_name, held);
    draft->fail_on_timeout = fields->fail_on_timeout;
    return fill_limit(&draft->max_tries, fields->max_tries, place_of(fields, item, MAX_TRIES)) &&
           fill_limit(&draft->max_exceptions, fields->max_exceptions,
                      place_of(fields, item, MAX_EXCEPTIONS)) &&
           fill_times(draft, fields, item) &&
           (!dueq_php_given(fields->backoff) ||
            fill_backoff(draft, fields->backoff, place_of(fields, item, BACKOFF), held)) &&
           fill_data(draft, fields->data, item, held);
}

static bool read_item(dueq_laravel_draft *draft, zval *value, zend_long item, HashTable *held) {
    const dueq_php_place place = {1, item, "job"};
    dueq_php_job_fields fields = {0};

    if (Z_TYPE_P(value) == IS_STRING) {
        fields.job = Z_STR_P(value);
    } else if (Z_TYPE_P(value) != IS_ARRAY) {
        dueq_php_type_error(&place, "array|string", value);
        return false;
    } else if (!dueq_php_keys_read(keys, KEY_COUNT, Z_ARRVAL_P(value), item, &fields)) {
        return false;
    }
    return dueq_php_job_draft_fill(draft, &fields, item, held);
}

bool dueq_php_job_drafts_read(dueq_laravel_draft *drafts, HashTable *jobs, HashTable *held) {
    zend_long item = 0;
    bool good = dueq_php_list_check("jobs", jobs);
    zval *value;

    ZEND_HASH_FOREACH_VAL(jobs, value) {
        zval copy;

        if (!good) {
            break;
        }
        /* A copy: through a reference the program's code could drop the value meanwhile. */
        ZVAL_COPY_DEREF(&copy, value);
        good = read_item(&drafts[item], &copy, item, held);
        zval_ptr_dtor(&copy);
        item++;
    }
    ZEND_HASH_FOREACH_END();
    return good;
}
