#include "result_parts.h"

#include <stdlib.h>

size_t dueq_result_count(const dueq_result *result) { return result ? result->count : 0; }

const struct dueq__item *dueq__result_item(const dueq_result *result, size_t index) {
    static const struct dueq__item none = {.status = DUEQ_INVALID};
    return result && index < result->count ? &result->items[index] : &none;
}

dueq_status dueq_result_status(const dueq_result *result, size_t index) {
    return dueq__result_item(result, index)->status;
}

dueq_state dueq_result_state(const dueq_result *result, size_t index) {
    return dueq__result_item(result, index)->state;
}

dueq_bytes dueq_result_id(const dueq_result *result, size_t index) {
    return dueq__result_item(result, index)->id;
}

const dueq_message *dueq_result_message(const dueq_result *result, size_t index) {
    return dueq__result_item(result, index)->message;
}

const dueq_rate *dueq_result_rate(const dueq_result *result, size_t index) {
    return dueq__result_item(result, index)->rate;
}

const dueq_sizes *dueq_result_sizes(const dueq_result *result) {
    return result ? result->sizes : NULL;
}

const dueq_moved *dueq_result_moved(const dueq_result *result) {
    return result ? result->moved : NULL;
}

const dueq_counts *dueq_result_counts(const dueq_result *result) {
    return result ? result->counts : NULL;
}

size_t dueq_result_quarantined(const dueq_result *result) {
    return result ? result->quarantined : 0;
}

size_t dueq_result_purged(const dueq_result *result) { return result ? result->purged : 0; }

size_t dueq_result_kicked(const dueq_result *result) { return result ? result->kicked : 0; }

size_t dueq_result_queue(const dueq_result *result) { return result ? result->queue : 0; }

dueq_bytes dueq_result_cursor(const dueq_result *result) {
    return result ? result->cursor : (dueq_bytes){0};
}

size_t dueq__result_settled_count(const dueq_result *result) {
    return result ? result->settled.size : 0;
}

dueq_status dueq__result_settled(const dueq_result *result, size_t index) {
    if (index >= dueq__result_settled_count(result))
        return DUEQ_INVALID;
    return (dueq_status)(((const char *)result->settled.data)[index] - '0');
}

void dueq_result_free(dueq_result *result) { free(result); }

void dueq__result_set_quarantined(dueq_result *result, size_t quarantined) {
    result->quarantined = quarantined;
}

void dueq__result_set_queue(dueq_result *result, size_t index) { result->queue = index; }

dueq_status dueq__result_summary(const dueq_result *result) {
    for (size_t i = 0; i < result->count; i++)
        if (result->items[i].status)
            return result->items[i].status;
    return DUEQ_OK;
}

/* Takes the next part of an allocation; all that is put before the bytes is aligned as pointers are. */
static void *part(char **at, size_t size) {
    void *start = *at;
    *at += size;
    return start;
}

dueq_result *dueq__result_new(struct dueq__room room, struct dueq__error *error) {
    size_t size = sizeof(dueq_result) + sizeof(dueq_counts) +
                  room.items * sizeof(struct dueq__item) + room.messages * sizeof(dueq_message) +
                  room.headers * sizeof(dueq_header) + room.rates * sizeof(dueq_rate) + room.other +
                  room.bytes;
    char *at = calloc(1, size);
    if (!at) {
        dueq__fail(error, DUEQ_NO_MEMORY, "out of memory: a result of %zu bytes", size);
        return NULL;
    }
    dueq_result *result = part(&at, sizeof *result);
    result->count = room.items;
    /* Room for the counts, which are there when result->counts is set. */
    part(&at, sizeof(dueq_counts));
    result->items = part(&at, room.items * sizeof *result->items);
    result->messages = part(&at, room.messages * sizeof *result->messages);
    result->headers = part(&at, room.headers * sizeof *result->headers);
    result->rates = part(&at, room.rates * sizeof *result->rates);
    result->other = part(&at, room.other);
    result->bytes = at;
    return result;
}

dueq_bytes dueq__result_keep(dueq_result *result, dueq_bytes bytes) {
    dueq_bytes kept = {result->bytes, bytes.size};
    if (bytes.size)
        memcpy(result->bytes, bytes.data, bytes.size);
    result->bytes += bytes.size;
    return kept;
}

dueq_result *dueq__result_malformed(struct dueq__error *error, const char *script) {
    dueq__fail(error, DUEQ_PROTOCOL, "the server's answer to %s is not what the script returns",
               script);
    return NULL;
}

dueq_result *dueq__result_outcomes(dueq_bytes digits, const dueq_bytes *ids,
                                   struct dueq__error *error) {
    struct dueq__room room = {.items = digits.size};
    for (size_t i = 0; ids && i < digits.size; i++)
        room.bytes += ids[i].size;
    dueq_result *result = dueq__result_new(room, error);
    for (size_t i = 0; result && i < digits.size; i++) {
        result->items[i].status = (dueq_status)(((const char *)digits.data)[i] - '0');
        if (ids)
            result->items[i].id = dueq__result_keep(result, ids[i]);
    }
    return result;
}

dueq_result *dueq__result_cancelled(dueq_bytes states, struct dueq__error *error) {
    dueq_result *result = dueq__result_new((struct dueq__room){.items = states.size}, error);
    for (size_t i = 0; result && i < states.size; i++) {
        struct dueq__item *made = &result->items[i];
        made->state = (dueq_state)(((const char *)states.data)[i] - '0');
        made->status = made->state ? DUEQ_OK : DUEQ_NOT_FOUND;
    }
    return result;
}

dueq_result *dueq__result_named(const dueq_bytes *names, size_t count, dueq_bytes cursor,
                                struct dueq__error *error) {
    struct dueq__room room = {.items = count, .bytes = cursor.size};
    for (size_t i = 0; i < count; i++)
        room.bytes += names[i].size;
    dueq_result *result = dueq__result_new(room, error);
    if (!result)
        return NULL;
    for (size_t i = 0; i < count; i++)
        result->items[i].id = dueq__result_keep(result, names[i]);
    result->cursor = dueq__result_keep(result, cursor);
    return result;
}

dueq_result *dueq__result_purged(size_t purged, struct dueq__error *error) {
    dueq_result *result = dueq__result_new((struct dueq__room){0}, error);
    if (result)
        result->purged = purged;
    return result;
}

dueq_result *dueq__result_kicked(size_t kicked, dueq_bytes cursor, struct dueq__error *error) {
    dueq_result *result = dueq__result_new((struct dueq__room){.bytes = cursor.size}, error);
    if (!result)
        return NULL;
    result->kicked = kicked;
    result->cursor = dueq__result_keep(result, cursor);
    return result;
}

dueq_result *dueq__result_sized(const dueq_sizes *sizes, struct dueq__error *error) {
    dueq_result *result = dueq__result_new((struct dueq__room){.bytes = sizeof *sizes}, error);
    if (result)
        result->sizes = memcpy(result->bytes, sizes, sizeof *sizes);
    return result;
}

dueq_result *dueq__result_moved_on(const dueq_moved *moved, struct dueq__error *error) {
    dueq_result *result = dueq__result_new((struct dueq__room){.bytes = sizeof *moved}, error);
    if (result)
        result->moved = memcpy(result->bytes, moved, sizeof *moved);
    return result;
}
