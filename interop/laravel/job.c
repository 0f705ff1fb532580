#include "laravel.h"

#include "verbs/verbs.h"

/* How jobs are read from the payloads of Laravel 5.5 to 13. */

/* Items of pop.lua's answer: before the jobs, and for each job. */
#define FIXED 4
#define EACH 4
#define NUMBER_SIZE 24
#define SECONDS (DUEQ_MAX_TIME_MS / 1000) /* the largest time, in seconds */

/*
 * The JSON texts of the members that a worker reads. Size 0: the payload has no such member, or the
 * member (except `data`) is null.
 */
struct members {
    dueq_bytes job, data, display_name, id, uuid;
    dueq_bytes max_tries, timeout, backoff, delay, retry_until, timeout_at;
};

/* One job of the answer. */
struct popped {
    dueq_bytes reserved, was; /* was: the text of the attempts before they were raised */
    size_t place, digits;     /* where the raised attempts are in `reserved`, and their size */
    size_t blanks;            /* at the end of `reserved`; the payload does not have them */
    struct members members;
};

static void find_members(dueq_bytes payload, struct members *members) {
    const struct {
        const char *name;
        dueq_bytes *value;
    } table[] = {
        {"job", &members->job},
        {"data", &members->data},
        {"displayName", &members->display_name},
        {"id", &members->id},
        {"uuid", &members->uuid},
        {"maxTries", &members->max_tries},
        {"timeout", &members->timeout},
        {"backoff", &members->backoff},
        {"delay", &members->delay},
        {"retryUntil", &members->retry_until},
        {"timeoutAt", &members->timeout_at},
    };
    *members = (struct members){0};
    /* A payload that PHP cannot decode has no members. Laravel's worker fails such a job. */
    if (!dueq__json_check(payload, DUEQ__LARAVEL_DEPTH))
        return;
    struct dueq__json_walk walk = dueq__json_walk(payload);
    dueq_bytes name, value;
    while (dueq__json_next(&walk, &name, &value))
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            if (dueq__json_equals(name, table[i].name))
                *table[i].value =
                    dueq__json_kind(value) == DUEQ__JSON_NULL && table[i].value != &members->data
                        ? (dueq_bytes){0}
                        : value;
}

/* The number in a JSON number or string, without its fraction, from 0 to `most`; 0: no number. */
static int64_t number_of(dueq_bytes value, int64_t most) {
    char text[NUMBER_SIZE];
    int64_t number = 0;
    double wide;
    if (!value.size)
        return 0;
    if (dueq__json_kind(value) == DUEQ__JSON_STRING && dueq__json_string(value, NULL) < NUMBER_SIZE)
        value = (dueq_bytes){text, dueq__json_string(value, text)};
    if (!dueq__json_integer(value, &number) && dueq__json_double(value, &wide))
        number = wide >= (double)most ? most : wide > 0 ? (int64_t)wide : 0;
    return number < 0 ? 0 : number > most ? most : number;
}

/* The backoff: a number, a string such as "10,60", or a list of numbers */

/* No number of a list gets longer than it is in the payload; any other number fits NUMBER_SIZE. */
static size_t backoff_room(dueq_bytes value) { return value.size ? value.size + NUMBER_SIZE : 0; }

static size_t put_number(char *out, int64_t number) {
    return dueq__resp_digits(out, (uint64_t)(number < 0 ? 0 : number > SECONDS ? SECONDS : number));
}

static dueq_bytes keep_backoff(dueq_result *result, dueq_bytes value) {
    char *out = result->next_copy;
    size_t size = 0;
    if (value.size && dueq__json_kind(value) == DUEQ__JSON_STRING) {
        size = dueq__json_string(value, out);
        size = dueq__laravel_is_backoff((dueq_bytes){out, size}) ? size : 0;
    } else if (value.size && dueq__json_kind(value) == DUEQ__JSON_NUMBER) {
        size = put_number(out, number_of(value, SECONDS));
    } else if (value.size && dueq__json_kind(value) == DUEQ__JSON_ARRAY) {
        struct dueq__json_walk walk = dueq__json_walk(value);
        dueq_bytes item;
        while (dueq__json_next(&walk, NULL, &item)) {
            char text[NUMBER_SIZE];
            int64_t number = 0;
            if (dueq__json_kind(item) == DUEQ__JSON_STRING &&
                dueq__json_string(item, NULL) < NUMBER_SIZE)
                item = (dueq_bytes){text, dueq__json_string(item, text)};
            dueq__json_integer(item, &number);
            if (size)
                out[size++] = ',';
            size += put_number(out + size, number);
        }
    }
    result->next_copy += size;
    return (dueq_bytes){out, size};
}

/* The answer of pop.lua */

static bool is_of_number(char byte) { return (byte >= '0' && byte <= '9') || strchr("+-.e", byte); }

/* Reads one job of the answer. False: pop.lua returns no such items. */
static bool take(const struct dueq__reply *reply, size_t at, struct popped *popped) {
    int64_t place, blanks;
    if (!dueq__reply_bytes(dueq__reply_item(reply, at), &popped->reserved) ||
        !dueq__reply_number(dueq__reply_item(reply, at + 1), &place) || place < 0 ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + 2), &popped->was) ||
        !dueq__reply_number(dueq__reply_item(reply, at + 3), &blanks) || blanks < 0 ||
        (uint64_t)place >= popped->reserved.size)
        return false;
    const char *text = popped->reserved.data;
    popped->place = (size_t)place;
    popped->blanks = (size_t)blanks;
    popped->digits = 0;
    while (popped->place + popped->digits < popped->reserved.size &&
           text[popped->place + popped->digits] &&
           is_of_number(text[popped->place + popped->digits]))
        popped->digits++;
    find_members(popped->reserved, &popped->members);
    return popped->digits > 0 &&
           popped->blanks <= popped->reserved.size - popped->place - popped->digits;
}

static size_t payload_size(const struct popped *popped) {
    return popped->reserved.size - popped->blanks - popped->digits + popped->was.size;
}

static size_t room_for(const struct popped *popped) {
    const struct members *members = &popped->members;
    return popped->reserved.size + payload_size(popped) + members->job.size +
           members->display_name.size + members->id.size + members->uuid.size +
           backoff_room(members->backoff.size ? members->backoff : members->delay);
}

static dueq_bytes keep_string(dueq_result *result, dueq_bytes value) {
    char *out = result->next_copy;
    size_t size = value.size ? dueq__json_string(value, out) : 0;
    result->next_copy += size;
    return (dueq_bytes){out, size};
}

/* Keeps the payload as it was before the script raised its attempts. */
static dueq_bytes keep_payload(dueq_result *result, const struct popped *popped) {
    const char *text = popped->reserved.data;
    size_t rest = popped->place + popped->digits;
    char *start = result->next_copy;
    dueq__result_copy(result, (dueq_bytes){text, popped->place});
    dueq__result_copy(result, popped->was);
    dueq__result_copy(result,
                      (dueq_bytes){text + rest, popped->reserved.size - popped->blanks - rest});
    return (dueq_bytes){start, payload_size(popped)};
}

static dueq_job keep_job(dueq_result *result, const struct popped *popped, int64_t until_ms) {
    const struct members *members = &popped->members;
    const char *text = popped->reserved.data;
    dueq_job job = {.until_ms = until_ms};
    job.reserved = dueq__result_copy(result, popped->reserved);
    job.payload = keep_payload(result, popped);
    if (members->data.size) {
        size_t at = (size_t)((const char *)members->data.data - text);
        at = at < popped->place ? at : at - popped->digits + popped->was.size;
        job.data = (dueq_bytes){(const char *)job.payload.data + at, members->data.size};
    }
    job.id = keep_string(result, members->id);
    job.uuid = keep_string(result, members->uuid);
    job.job = keep_string(result, members->job);
    job.display_name = keep_string(result, members->display_name);
    job.backoff = keep_backoff(result, members->backoff.size ? members->backoff : members->delay);
    job.attempts =
        (uint32_t)number_of((dueq_bytes){text + popped->place, popped->digits}, UINT32_MAX);
    job.max_tries = (uint32_t)number_of(members->max_tries, UINT32_MAX);
    job.timeout_s = (uint32_t)number_of(members->timeout, UINT32_MAX);
    job.retry_until_s =
        number_of(members->retry_until.size ? members->retry_until : members->timeout_at, SECONDS);
    return job;
}

static const struct dueq__item_type job_type = {sizeof(dueq_job)};

const dueq_job *dueq_result_job(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &job_type, index);
}

dueq_result *dueq__laravel_popped(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t words = dueq__reply_count(reply), count = words < FIXED ? 0 : (words - FIXED) / EACH;
    struct popped popped[DUEQ_MAX_BATCH];
    size_t bytes = 0;
    int64_t until_ms;
    if (words != FIXED + EACH * count || count > DUEQ_MAX_BATCH ||
        !dueq__reply_number(dueq__reply_item(reply, 3), &until_ms))
        return dueq__result_malformed(NULL, error, "laravel_pop");
    for (size_t i = 0; i < count; i++) {
        if (!take(reply, FIXED + EACH * i, &popped[i]))
            return dueq__result_malformed(NULL, error, "laravel_pop");
        bytes += room_for(&popped[i]);
    }
    dueq_result *result = dueq__result_new(&job_type, count, bytes, error);
    for (size_t i = 0; result && i < count; i++) {
        dueq_job *job = result->items[i].value;
        *job = keep_job(result, &popped[i], until_ms);
    }
    return result;
}
