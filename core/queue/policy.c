#include <stdio.h>

#include "queue.h"

/* Fields in this order, each with its tag and the size of its value before it. */
enum { TAG_BACKOFF = 1, TAG_MAX_CRASHES = 2, TAG_DROP = 3, TAG_DEAD_LETTER = 4 };
#define FIELD_HEAD 2

/* ---- Checking ---- */

static dueq_status check_delay(const char *what, int64_t ms, int64_t least,
                               struct dueq__error *error) {
    if (ms >= least && ms <= UINT32_MAX)
        return DUEQ_OK;
    return dueq__fail(error, DUEQ_INVALID, "%s is %lld ms; %lld to %lu are allowed", what,
                      (long long)ms, (long long)least, (unsigned long)UINT32_MAX);
}

static dueq_status check_list(const dueq_backoff *backoff, struct dueq__error *error) {
    if (!backoff->list_ms || backoff->list_count < 1 || backoff->list_count > DUEQ_MAX_BACKOFF_LIST)
        return dueq__fail(error, DUEQ_INVALID,
                          "a backoff's list has %zu delays; 1 to %d are allowed",
                          backoff->list_count, DUEQ_MAX_BACKOFF_LIST);
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; !status && i < backoff->list_count; i++)
        status = check_delay("a delay of the backoff", backoff->list_ms[i], 0, error);
    return status;
}

static dueq_status check_backoff(const dueq_backoff *backoff, struct dueq__error *error) {
    if (backoff->kind > DUEQ_BACKOFF_LIST)
        return dueq__fail(error, DUEQ_INVALID, "%d is not a kind of backoff: 0 to %d",
                          (int)backoff->kind, DUEQ_BACKOFF_LIST);
    if (backoff->jitter > DUEQ_JITTER_EQUAL)
        return dueq__fail(error, DUEQ_INVALID, "%d is not a jitter: 0 to %d", (int)backoff->jitter,
                          DUEQ_JITTER_EQUAL);
    bool list = backoff->list_count > 0, times = backoff->base_ms || backoff->cap_ms;
    if (backoff->kind == DUEQ_BACKOFF_NONE && (list || times || backoff->jitter))
        return dueq__fail(error, DUEQ_INVALID, "a backoff has values, but no kind");
    if (backoff->kind == DUEQ_BACKOFF_NONE)
        return DUEQ_OK;
    if (backoff->kind == DUEQ_BACKOFF_LIST)
        return times ? dueq__fail(error, DUEQ_INVALID, "a backoff's list takes no base and no cap")
                     : check_list(backoff, error);
    if (list)
        return dueq__fail(error, DUEQ_INVALID, "a backoff has a list, but is not of the kind list");
    if (backoff->kind == DUEQ_BACKOFF_FIXED && backoff->cap_ms)
        return dueq__fail(error, DUEQ_INVALID, "a fixed backoff takes no cap");
    dueq_status status = check_delay("a backoff's base", backoff->base_ms, 1, error);
    return status ? status : check_delay("a backoff's cap", backoff->cap_ms, 0, error);
}

/* The queue's name may be left out. */
static dueq_status check_dead_letter(dueq_bytes name, struct dueq__error *error) {
    struct dueq__error met;
    if (!name.size || !dueq__name_check(name.data, name.size, &met))
        return DUEQ_OK;
    return dueq__fail(error, met.status, "dead_letter: %.480s", met.text);
}

dueq_status dueq__policy_check(const dueq_draft *draft, struct dueq__error *error) {
    if (draft->max_crashes > DUEQ_MAX_MAX_ATTEMPTS)
        return dueq__fail(error, DUEQ_INVALID, "max_crashes is %u; 0 to %d are allowed",
                          draft->max_crashes, DUEQ_MAX_MAX_ATTEMPTS);
    if (draft->drop && draft->dead_letter.size)
        return dueq__fail(error, DUEQ_INVALID, "give either drop or a dead-letter queue, not both");
    dueq_status status = check_backoff(&draft->backoff, error);
    return status ? status : check_dead_letter(draft->dead_letter, error);
}

/* ---- Writing ---- */

static size_t backoff_size(const dueq_backoff *backoff) {
    switch (backoff->kind) {
    case DUEQ_BACKOFF_NONE:
        break;
    case DUEQ_BACKOFF_FIXED:
        return 2 + 4;
    case DUEQ_BACKOFF_LINEAR:
    case DUEQ_BACKOFF_EXPONENTIAL:
        return 2 + 8;
    case DUEQ_BACKOFF_LIST:
        return 2 + 4 * backoff->list_count;
    }
    return 0;
}

static size_t field_size(size_t size) { return size ? FIELD_HEAD + size : 0; }

size_t dueq__policy_size(const dueq_draft *draft) {
    return field_size(backoff_size(&draft->backoff)) +
           field_size(draft->max_crashes == DUEQ_DEFAULT_CRASHES ? 0 : 2) +
           (draft->drop ? FIELD_HEAD : 0) + field_size(draft->dead_letter.size);
}

static unsigned char *put_head(unsigned char *out, int tag, size_t size) {
    out[0] = (unsigned char)tag;
    out[1] = (unsigned char)size;
    return out + FIELD_HEAD;
}

static unsigned char *put_delay(unsigned char *out, int64_t ms) {
    dueq__put32(out, ms);
    return out + 4;
}

static unsigned char *put_backoff(unsigned char *out, const dueq_backoff *backoff) {
    if (!backoff->kind)
        return out;
    out = put_head(out, TAG_BACKOFF, backoff_size(backoff));
    *out++ = (unsigned char)backoff->kind;
    *out++ = (unsigned char)backoff->jitter;
    if (backoff->kind != DUEQ_BACKOFF_LIST)
        out = put_delay(out, backoff->base_ms);
    if (backoff->kind == DUEQ_BACKOFF_LINEAR || backoff->kind == DUEQ_BACKOFF_EXPONENTIAL)
        out = put_delay(out, backoff->cap_ms);
    for (size_t i = 0; i < backoff->list_count; i++)
        out = put_delay(out, backoff->list_ms[i]);
    return out;
}

void dueq__policy_write(const dueq_draft *draft, unsigned char *out) {
    out = put_backoff(out, &draft->backoff);
    if (draft->max_crashes != DUEQ_DEFAULT_CRASHES) {
        out = put_head(out, TAG_MAX_CRASHES, 2);
        dueq__put16(out, draft->max_crashes);
        out += 2;
    }
    if (draft->drop)
        out = put_head(out, TAG_DROP, 0);
    if (draft->dead_letter.size)
        dueq__put(put_head(out, TAG_DEAD_LETTER, draft->dead_letter.size), draft->dead_letter);
}

/* ---- Reading ---- */

/* The scripts count by it; here it only must be one. */
static bool good_backoff(const unsigned char *value, size_t size) {
    if (size < 2 || value[1] > DUEQ_JITTER_EQUAL)
        return false;
    switch (value[0]) {
    case DUEQ_BACKOFF_FIXED:
        return size == 2 + 4;
    case DUEQ_BACKOFF_LINEAR:
    case DUEQ_BACKOFF_EXPONENTIAL:
        return size == 2 + 8;
    case DUEQ_BACKOFF_LIST:
        return size > 2 && (size - 2) % 4 == 0 && (size - 2) / 4 <= DUEQ_MAX_BACKOFF_LIST;
    default:
        return false;
    }
}

/* By the same rule as the scripts (core/scripts/lib/name.lua). */
static bool good_name(dueq_bytes name) {
    struct dueq__error unused = {0};
    return !dueq__name_check(name.data, name.size, &unused);
}

static bool read_field(int tag, dueq_bytes value, dueq_message *message) {
    switch (tag) {
    case TAG_BACKOFF:
        return good_backoff(value.data, value.size);
    case TAG_MAX_CRASHES:
        if (value.size != 2)
            return false;
        message->max_crashes = (uint32_t)dueq__get16(value.data);
        return true;
    case TAG_DROP:
        message->drop = 1;
        return value.size == 0;
    case TAG_DEAD_LETTER:
        message->dead_letter = value;
        return good_name(value);
    default:
        return false;
    }
}

bool dueq__policy_read(dueq_bytes fields, dueq_message *message) {
    const unsigned char *at = fields.data, *end = at + fields.size;
    int last = 0;
    message->max_crashes = DUEQ_DEFAULT_CRASHES;
    message->drop = 0;
    message->dead_letter = (dueq_bytes){0};
    while (at < end) {
        if (end - at < FIELD_HEAD || end - at - FIELD_HEAD < at[1] || at[0] <= last ||
            !read_field(at[0], (dueq_bytes){at + FIELD_HEAD, at[1]}, message))
            return false;
        last = at[0];
        at += FIELD_HEAD + at[1];
    }
    return true;
}
