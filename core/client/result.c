#include <stdlib.h>

#include "result.h"

size_t dueq_result_count(const dueq_result *result) { return result ? result->count : 0; }

static const struct dueq__item *item_of(const dueq_result *result, size_t index) {
    static const struct dueq__item none = {.status = DUEQ_INVALID};
    return result && index < result->count ? &result->items[index] : &none;
}

dueq_status dueq_result_status(const dueq_result *result, size_t index) {
    return item_of(result, index)->status;
}

dueq_state dueq_result_state(const dueq_result *result, size_t index) {
    return item_of(result, index)->state;
}

dueq_bytes dueq_result_id(const dueq_result *result, size_t index) {
    return item_of(result, index)->id;
}

const void *dueq__result_item_value(const dueq_result *result, const struct dueq__item_type *type,
                                    size_t index) {
    return result && result->type == type ? item_of(result, index)->value : NULL;
}

const dueq_timings *dueq_result_timings(const dueq_result *result) {
    return result ? result->timings : NULL;
}

size_t dueq_result_quarantined(const dueq_result *result) {
    return result ? result->quarantined : 0;
}

size_t dueq_result_purged(const dueq_result *result) { return result ? result->purged : 0; }

size_t dueq_result_kicked(const dueq_result *result) { return result ? result->kicked : 0; }

size_t dueq_result_queue(const dueq_result *result) { return result ? result->queue : 0; }

size_t dueq_result_first(const dueq_result *result) { return result ? result->first_pushed : 0; }

int dueq_result_replicas(const dueq_result *result) { return result ? result->replicas : 0; }

int dueq_result_disk(const dueq_result *result) { return result ? result->disk : 0; }

dueq_bytes dueq_result_cursor(const dueq_result *result) {
    return result ? result->cursor : (dueq_bytes){0};
}

void dueq_result_free(dueq_result *result) {
    if (!result)
        return;
    dueq__reply_free(result->reply);
    free(result->headers);
    free(result->leases);
    free(result->limits);
    free(result->timings);
    free(result->cursor_text);
    free(result);
}

enum { BACKLOG_DIGIT = '9' };

char dueq__digit_of(dueq_status status) {
    return status == DUEQ_BACKLOG ? BACKLOG_DIGIT : (char)('0' + (int)status);
}

dueq_status dueq__status_of(char digit) {
    return digit == BACKLOG_DIGIT ? DUEQ_BACKLOG : (dueq_status)(digit - '0');
}

dueq_status dueq__result_summary(const dueq_result *result) {
    dueq_status first = DUEQ_OK;
    for (size_t i = 0; i < result->count && first >= 0; i++)
        if (!first || result->items[i].status < 0)
            first = result->items[i].status;
    return first;
}

dueq_result *dueq__result_new(const struct dueq__item_type *type, size_t count, size_t bytes,
                              struct dueq__error *error) {
    size_t each = type ? type->size : 0;
    size_t size = sizeof(dueq_result) + count * (sizeof(struct dueq__item) + each) + bytes;
    dueq_result *result = calloc(1, size);
    if (!result) {
        dueq__fail(error, DUEQ_NO_MEMORY, "out of memory: a result of %zu bytes", size);
        return NULL;
    }
    result->count = count;
    result->type = type;
    result->items = (struct dueq__item *)(void *)(result + 1);
    result->next_copy = (char *)(result->items + count);
    for (size_t i = 0; each && i < count; i++, result->next_copy += each)
        result->items[i].value = result->next_copy;
    return result;
}

dueq_result *dueq__result_single(const struct dueq__item_type *type, const void *value,
                                 struct dueq__error *error) {
    dueq_result *result = dueq__result_new(type, 1, 0, error);
    if (result)
        memcpy(result->items->value, value, type->size);
    return result;
}

void dueq__result_take_reply(dueq_result *result, struct dueq__reply **reply) {
    if (!result)
        return;
    result->reply = *reply;
    *reply = NULL;
}

dueq_bytes dueq__result_copy(dueq_result *result, dueq_bytes bytes) {
    dueq_bytes kept = {result->next_copy, bytes.size};
    if (bytes.size)
        memcpy(result->next_copy, bytes.data, bytes.size);
    result->next_copy += bytes.size;
    return kept;
}

dueq_result *dueq__result_no_memory(dueq_result *result, struct dueq__error *error) {
    dueq_result_free(result);
    dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    return NULL;
}

dueq_result *dueq__result_malformed(dueq_result *result, struct dueq__error *error,
                                    const char *script) {
    dueq_result_free(result);
    dueq__fail(error, DUEQ_PROTOCOL, "the server's answer to %s is not what the script returns",
               script);
    return NULL;
}

dueq_result *dueq__result_page(const dueq_bytes *names, size_t count, dueq_bytes cursor,
                               struct dueq__error *error) {
    size_t bytes = cursor.size;
    for (size_t i = 0; names && i < count; i++)
        bytes += names[i].size;
    dueq_result *result = dueq__result_new(NULL, count, bytes, error);
    if (!result)
        return NULL;
    for (size_t i = 0; names && i < count; i++)
        result->items[i].id = dueq__result_copy(result, names[i]);
    result->cursor = dueq__result_copy(result, cursor);
    return result;
}

dueq_result *dueq__result_purged(size_t purged, struct dueq__error *error) {
    dueq_result *result = dueq__result_new(NULL, 0, 0, error);
    if (result)
        result->purged = purged;
    return result;
}

dueq_result *dueq__result_outcomes(dueq_bytes digits, const dueq_bytes *ids,
                                   struct dueq__error *error) {
    dueq_result *result = dueq__result_page(ids, digits.size, (dueq_bytes){0}, error);
    for (size_t i = 0; result && i < digits.size; i++)
        result->items[i].status = dueq__status_of(((const char *)digits.data)[i]);
    return result;
}

dueq_result *dueq__result_states(dueq_bytes states, struct dueq__error *error) {
    dueq_result *result = dueq__result_new(NULL, states.size, 0, error);
    for (size_t i = 0; result && i < states.size; i++) {
        struct dueq__item *made = &result->items[i];
        made->state = (dueq_state)(((const char *)states.data)[i] - '0');
        made->status = made->state ? DUEQ_OK : DUEQ_NOT_FOUND;
    }
    return result;
}
