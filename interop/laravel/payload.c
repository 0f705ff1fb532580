#include "laravel.h"

#include <math.h>

/*
 * Payloads as Laravel 13 writes them: its members in its order (Illuminate\Queue\Queue), and the
 * bytes of PHP's json_encode() with JSON_UNESCAPED_UNICODE. Only `delay` is left out, because older
 * workers take it for the backoff.
 */

#define ID_SIZE 32 /* characters of the id, which Laravel makes by Str::random(32) */

/* Checking */

static dueq_status invalid(struct dueq__error *error, const char *what) {
    return dueq__fail(error, DUEQ_INVALID, "%s", what);
}

/*
 * False: a number is beyond the range of a double. Laravel's script decodes such a number, fails to
 * encode it again, and so loses the job.
 */
static bool all_finite(dueq_bytes json) {
    struct dueq__json_walk walk = dueq__json_tokens(json);
    dueq_bytes token;
    double number;
    for (int kind; (kind = dueq__json_token(&walk, &token)) > 0;) {
        bool long_one = token.size > 300 || memchr(token.data, 'e', token.size) ||
                        memchr(token.data, 'E', token.size);
        if (kind == '0' && long_one && !(dueq__json_double(token, &number) && isfinite(number)))
            return false;
    }
    return true;
}

static dueq_status check_ready_made(const dueq_laravel_draft *draft, struct dueq__error *error) {
    dueq_bytes job, attempts;
    int64_t number;
    if (draft->job.size || draft->data.size || draft->command_name.size || draft->command.size ||
        draft->display_name.size || draft->backoff.size || draft->max_tries ||
        draft->max_exceptions || draft->timeout_s || draft->retry_until_s || draft->fail_on_timeout)
        return invalid(error, "a whole payload is stored as it is: it has its own job, data and "
                              "options");
    if (draft->payload.size > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE, "a payload has %zu bytes; %zu are allowed",
                          draft->payload.size, DUEQ_MAX_BODY);
    enum dueq__json_fault fault = dueq__json_fault(draft->payload, DUEQ__LARAVEL_DEPTH);
    if (fault == DUEQ__JSON_HALF)
        return invalid(error, "the payload is JSON, but " DUEQ__JSON_HALF_PAIR
                              "; a Laravel worker would lose it");
    if (fault || dueq__json_kind(draft->payload) != DUEQ__JSON_OBJECT ||
        !all_finite(draft->payload))
        return dueq__fail(error, DUEQ_INVALID,
                          "a payload is one JSON object in UTF-8, at most %d levels deep, with "
                          "numbers that a double can hold; a Laravel worker would lose this",
                          DUEQ__LARAVEL_DEPTH);
    if (!dueq__json_member(draft->payload, "job", &job) ||
        dueq__json_kind(job) != DUEQ__JSON_STRING || dueq__json_string(job, NULL) == 0)
        return invalid(error, "the payload has no \"job\": the text \"Class@method\"");
    if (!dueq__json_member(draft->payload, "attempts", &attempts) ||
        !dueq__json_integer(attempts, &number) || number < 0 || number >= UINT32_MAX)
        return invalid(error, "the payload has no \"attempts\": a whole number, 0 for a new job; a "
                              "Laravel worker would lose it");
    return DUEQ_OK;
}

static dueq_status check_name(const char *what, dueq_bytes name, struct dueq__error *error) {
    if (dueq__is_utf8(name.data, name.size, false))
        return DUEQ_OK;
    return dueq__fail(error, DUEQ_INVALID, "%s is not UTF-8, or has a control character", what);
}

bool dueq__laravel_is_backoff(dueq_bytes text) {
    const char *at = text.data, *end = at + text.size;
    int64_t seconds;
    while (dueq__take_digits(&at, end, 9, &seconds)) {
        if (at == end)
            return true;
        if (*at++ != ',')
            return false;
    }
    return false;
}

static dueq_status check_options(const dueq_laravel_draft *draft, struct dueq__error *error) {
    if (draft->backoff.size && !dueq__laravel_is_backoff(draft->backoff))
        return invalid(error, "the backoff is not whole seconds: \"10\" or \"10,60\"");
    if (draft->retry_until_s < 0 || draft->retry_until_s > DUEQ_MAX_TIME_MS / 1000)
        return dueq__fail(error, DUEQ_INVALID, "retry_until is %lld s; 0 to %lld are allowed",
                          (long long)draft->retry_until_s, (long long)DUEQ_MAX_TIME_MS / 1000);
    if (draft->fail_on_timeout != 0 && draft->fail_on_timeout != 1)
        return invalid(error, "fail_on_timeout is neither 0 nor 1");
    return check_name("the display name", draft->display_name, error);
}

dueq_status dueq__laravel_check(const dueq_laravel_draft *draft, struct dueq__error *error) {
    dueq_status status = dueq__due_check(draft->delay_ms, draft->at_ms, error);
    if (status)
        return status;
    if (draft->payload.size)
        return check_ready_made(draft, error);
    bool object = draft->command_name.size && draft->command.size;
    bool any_of_object = draft->command_name.size || draft->command.size;
    if (draft->job.size ? any_of_object : !object || draft->data.size)
        return invalid(error, "a job is a payload; or a job with its data; or a command with the "
                              "name of its class");
    status = check_options(draft, error);
    if (!status)
        status = check_name("the job", draft->job, error);
    if (!status)
        status = check_name("the command's class", draft->command_name, error);
    if (!status && !dueq__is_utf8(draft->command.data, draft->command.size, true))
        status = invalid(error, "the command is not UTF-8, as a payload must be");
    enum dueq__json_fault fault =
        draft->data.size ? dueq__json_fault(draft->data, DUEQ__LARAVEL_DEPTH - 1) : DUEQ__JSON_GOOD;
    if (!status && fault == DUEQ__JSON_HALF)
        status = invalid(error, "the data is JSON, but " DUEQ__JSON_HALF_PAIR);
    else if (!status && (fault || !all_finite(draft->data)))
        status = dueq__fail(error, DUEQ_INVALID,
                            "the data is not one JSON text in UTF-8, at most %d levels deep, with "
                            "numbers that a double can hold",
                            DUEQ__LARAVEL_DEPTH - 1);
    return status;
}

/* Writing */

static void add_escape(struct dueq__strbuf *text, unsigned char byte) {
    static const char plain[] = "\"\\/\b\f\n\r\t", escaped[] = "\"\\/bfnrt",
                      digits[] = "0123456789abcdef";
    const char *found = byte ? strchr(plain, byte) : NULL;
    dueq__strbuf_byte(text, '\\');
    if (found) {
        dueq__strbuf_byte(text, escaped[found - plain]);
        return;
    }
    dueq__strbuf_string(text, "u00");
    dueq__strbuf_byte(text, digits[byte >> 4]);
    dueq__strbuf_byte(text, digits[byte & 15]);
}

/*
 * Adds UTF-8 as a JSON string, to the byte as PHP does: slashes, U+2028 and U+2029 are escaped too.
 */
static void add_string(struct dueq__strbuf *text, dueq_bytes utf8) {
    const unsigned char *at = utf8.data, *end = at + utf8.size, *begin = at;
    dueq__strbuf_byte(text, '"');
    while (at < end) {
        bool escape = *at < 0x20 || *at == '"' || *at == '\\' || *at == '/';
        bool separator = *at == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9);
        if (!escape && !separator) {
            at++;
            continue;
        }
        dueq__strbuf_bytes(text, (dueq_bytes){begin, (size_t)(at - begin)});
        if (escape)
            add_escape(text, *at);
        else
            dueq__strbuf_string(text, at[2] == 0xA8 ? "\\u2028" : "\\u2029");
        begin = at += escape ? 1 : 3;
    }
    dueq__strbuf_bytes(text, (dueq_bytes){begin, (size_t)(end - begin)});
    dueq__strbuf_byte(text, '"');
}

static void add_number(struct dueq__strbuf *text, const char *name, int64_t number) {
    dueq__strbuf_string(text, name);
    if (number)
        dueq__strbuf_number(text, number);
    else
        dueq__strbuf_string(text, "null");
}

/* Makes a random UUID (RFC 9562, version 4). */
static void make_uuid(char out[DUEQ__UUID_SIZE]) {
    static const char form[] = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx",
                      digits[] = "0123456789abcdef";
    unsigned char random[DUEQ__UUID_SIZE];
    dueq__id_random(random, sizeof random);
    for (size_t i = 0; i < DUEQ__UUID_SIZE; i++)
        out[i] = form[i] == 'x'   ? digits[random[i] & 15]
                 : form[i] == 'y' ? digits[8 | (random[i] & 3)]
                                  : form[i];
}

static void add_id(struct dueq__strbuf *text) {
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    unsigned char random[2 * ID_SIZE];
    for (size_t made = 0, left = 0; made < ID_SIZE;) {
        if (left == 0)
            dueq__id_random(random, left = sizeof random);
        unsigned char next = random[--left];
        if (next >= 4 * 62)
            continue;
        dueq__strbuf_byte(text, letters[next % 62]);
        made++;
    }
}

/* The display name of the payload: the draft's, or the class. */
static dueq_bytes shown(const dueq_laravel_draft *draft) {
    if (draft->display_name.size)
        return draft->display_name;
    if (!draft->job.size)
        return draft->command_name;
    const char *at = memchr(draft->job.data, '@', draft->job.size);
    size_t size = at ? (size_t)(at - (const char *)draft->job.data) : draft->job.size;
    return (dueq_bytes){draft->job.data, size};
}

static void add_data(const dueq_laravel_draft *draft, struct dueq__strbuf *text) {
    if (draft->command.size) {
        dueq__strbuf_string(text, "{\"commandName\":");
        add_string(text, draft->command_name);
        dueq__strbuf_string(text, ",\"command\":");
        add_string(text, draft->command);
        dueq__strbuf_byte(text, '}');
    } else if (draft->data.size) {
        dueq__strbuf_bytes(text, draft->data);
    } else {
        dueq__strbuf_string(text, "\"\"");
    }
}

void dueq__laravel_write(const dueq_laravel_draft *draft, struct dueq__strbuf *text,
                         char uuid[DUEQ__UUID_SIZE]) {
    static const char handler[] = "Illuminate\\Queue\\CallQueuedHandler@call";
    make_uuid(uuid);
    dueq__strbuf_string(text, "{\"uuid\":\"");
    dueq__strbuf_bytes(text, (dueq_bytes){uuid, DUEQ__UUID_SIZE});
    dueq__strbuf_string(text, "\",\"displayName\":");
    add_string(text, shown(draft));
    dueq__strbuf_string(text, ",\"job\":");
    add_string(text, draft->job.size ? draft->job : dueq__text(handler));
    add_number(text, ",\"maxTries\":", draft->max_tries);
    add_number(text, ",\"maxExceptions\":", draft->max_exceptions);
    dueq__strbuf_string(text, ",\"failOnTimeout\":");
    dueq__strbuf_string(text, draft->fail_on_timeout ? "true" : "false");
    dueq__strbuf_string(text, ",\"backoff\":");
    if (draft->backoff.size)
        add_string(text, draft->backoff);
    else
        dueq__strbuf_string(text, "null");
    add_number(text, ",\"timeout\":", draft->timeout_s);
    /* Laravel writes retryUntil for job objects only, but its worker obeys it in any job. */
    if (draft->retry_until_s || draft->command.size)
        add_number(text, ",\"retryUntil\":", draft->retry_until_s);
    dueq__strbuf_string(text, ",\"data\":");
    add_data(draft, text);
    dueq__strbuf_string(text, ",\"createdAt\":");
    dueq__strbuf_number(text, dueq__wall_ms() / 1000);
    dueq__strbuf_string(text, ",\"id\":\"");
    add_id(text);
    dueq__strbuf_string(text, "\",\"attempts\":0}");
}
