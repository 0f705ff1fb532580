#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct item {
    dueq_status status;
    dueq_bytes id;
    dueq_message *message;
};

struct dueq_result {
    size_t count;
    size_t damaged, purged;
    struct item *items;
    dueq_message *messages;
    dueq_header *headers;
    dueq_counts *counts;
    char *bytes; /* where the next copied bytes go */
};

size_t dueq_result_count(const dueq_result *result) { return result ? result->count : 0; }

dueq_status dueq_result_status(const dueq_result *result, size_t index) {
    return result && index < result->count ? result->items[index].status : DUEQ_INVALID;
}

dueq_bytes dueq_result_id(const dueq_result *result, size_t index) {
    return result && index < result->count ? result->items[index].id : (dueq_bytes){0};
}

const dueq_message *dueq_result_message(const dueq_result *result, size_t index) {
    return result && index < result->count ? result->items[index].message : NULL;
}

const dueq_counts *dueq_result_counts(const dueq_result *result) {
    return result ? result->counts : NULL;
}

size_t dueq_result_damaged(const dueq_result *result) { return result ? result->damaged : 0; }

size_t dueq_result_purged(const dueq_result *result) { return result ? result->purged : 0; }

void dueq_result_free(dueq_result *result) { free(result); }

void dueq__result_add_damaged(dueq_result *result, size_t damaged) { result->damaged += damaged; }

dueq_status dueq__result_summary(const dueq_result *result) {
    for (size_t i = 0; i < result->count; i++)
        if (result->items[i].status)
            return result->items[i].status;
    return DUEQ_OK;
}

static dueq_result *allocate(size_t count, size_t messages, size_t headers, size_t bytes,
                             struct dueq__error *error) {
    size_t size = sizeof(dueq_result) + sizeof(dueq_counts) + count * sizeof(struct item) +
                  messages * sizeof(dueq_message) + headers * sizeof(dueq_header) + bytes;
    char *at = calloc(1, size);
    if (!at) {
        dueq__fail(error, DUEQ_NO_MEMORY, "out of memory: a result of %zu bytes", size);
        return NULL;
    }
    dueq_result *result = (dueq_result *)(void *)at;
    result->count = count;
    at += sizeof *result + sizeof(dueq_counts);
    result->items = (struct item *)(void *)at;
    at += count * sizeof(struct item);
    result->messages = (dueq_message *)(void *)at;
    at += messages * sizeof(dueq_message);
    result->headers = (dueq_header *)(void *)at;
    result->bytes = at + headers * sizeof(dueq_header);
    return result;
}

static dueq_bytes keep(dueq_result *result, dueq_bytes bytes) {
    dueq_bytes kept = {result->bytes, bytes.size};
    if (bytes.size)
        memcpy(result->bytes, bytes.data, bytes.size);
    result->bytes += bytes.size;
    return kept;
}

static dueq_result *malformed(struct dueq__error *error, const char *what) {
    dueq__fail(error, DUEQ_PROTOCOL, "the server's answer to %s is not what the script returns",
               what);
    return NULL;
}

dueq_result *dueq__result_outcomes(dueq_bytes digits, const dueq_bytes *ids,
                                   struct dueq__error *error) {
    size_t bytes = 0;
    for (size_t i = 0; ids && i < digits.size; i++)
        bytes += ids[i].size;
    dueq_result *result = allocate(digits.size, 0, 0, bytes, error);
    for (size_t i = 0; result && i < digits.size; i++) {
        result->items[i].status = (dueq_status)(((const char *)digits.data)[i] - '0');
        if (ids)
            result->items[i].id = keep(result, ids[i]);
    }
    return result;
}

/*
 * Adds a message to the result: the envelope is copied and read in place, so that body and headers
 * point into the copy. False: the envelope or the ticket is damaged.
 */
static bool add_message(dueq_result *result, size_t index, dueq_bytes ticket, dueq_bytes envelope,
                        size_t *headers_used) {
    dueq_message *message = &result->messages[index];
    struct dueq__ticket parts;
    message->ticket = keep(result, ticket);
    if (!dueq__ticket_read(message->ticket, &parts))
        return false;
    message->id = parts.id;
    message->attempt = parts.before + (message->state == DUEQ_LEASED ? 1 : 0);
    dueq_header *headers = result->headers + *headers_used;
    if (!dueq__envelope_read(keep(result, envelope), message, headers, SIZE_MAX))
        return false;
    message->headers = message->header_count ? headers : NULL;
    *headers_used += message->header_count;
    result->items[index].message = message;
    result->items[index].id = message->id;
    return true;
}

/* How many headers an envelope has; false: it is damaged. */
static bool count_headers(dueq_bytes ticket, dueq_bytes envelope, size_t *count) {
    struct dueq__ticket parts;
    dueq_message message = {0};
    if (!dueq__ticket_read(ticket, &parts) || !dueq__envelope_read(envelope, &message, NULL, 0))
        return false;
    *count += message.header_count;
    return true;
}

#define RESERVED_FIXED 4
#define RESERVED_EACH 2

static bool read_entry(const struct dueq__reply *reply, size_t index, dueq_bytes *ticket,
                       dueq_bytes *envelope) {
    size_t at = RESERVED_FIXED + index * RESERVED_EACH;
    return dueq__reply_bytes(dueq__reply_item(reply, at), ticket) &&
           dueq__reply_bytes(dueq__reply_item(reply, at + 1), envelope);
}

dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    int64_t now, damaged;
    if (words < RESERVED_FIXED || (words - RESERVED_FIXED) % RESERVED_EACH ||
        !dueq__reply_number(dueq__reply_item(reply, 0), &now) || now < 0 ||
        now > DUEQ_MAX_TIME_MS || !dueq__reply_number(dueq__reply_item(reply, 3), &damaged) ||
        damaged < 0)
        return malformed(error, "reserve");

    size_t entries = (words - RESERVED_FIXED) / RESERVED_EACH, count = 0, headers = 0, bytes = 0;
    for (size_t i = 0; i < entries; i++) {
        dueq_bytes ticket, envelope;
        if (!read_entry(reply, i, &ticket, &envelope))
            return malformed(error, "reserve");
        /* What the script took for a message and is none stays held, and is set aside afterwards. */
        if (!count_headers(ticket, envelope, &headers))
            continue;
        count++;
        bytes += ticket.size + envelope.size;
    }
    dueq_result *result = allocate(count, count, headers, bytes, error);
    if (!result)
        return NULL;
    result->damaged = (size_t)damaged + entries - count;
    size_t used = 0, at = 0;
    for (size_t i = 0; i < entries; i++) {
        dueq_bytes ticket, envelope;
        size_t unused = 0;
        read_entry(reply, i, &ticket, &envelope);
        if (!count_headers(ticket, envelope, &unused))
            continue;
        dueq_message *message = &result->messages[at];
        message->state = DUEQ_LEASED;
        message->now_ms = now;
        add_message(result, at++, ticket, envelope, &used);
        int64_t own_ms = message->lease_ms ? message->lease_ms : DUEQ_DEFAULT_LEASE_MS;
        message->time_ms = now + (lease_ms ? lease_ms : own_ms);
    }
    return result;
}

dueq_result *dueq__result_found(const struct dueq__reply *reply, dueq_bytes id,
                                struct dueq__error *error) {
    int64_t now, state, time;
    dueq_bytes ticket, envelope, text;
    if (dueq__reply_count(reply) != 6 || !dueq__reply_number(dueq__reply_item(reply, 0), &now) ||
        !dueq__reply_number(dueq__reply_item(reply, 1), &state) ||
        !dueq__reply_number(dueq__reply_item(reply, 2), &time) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 3), &ticket) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 4), &envelope) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 5), &text))
        return malformed(error, "find");
    size_t headers = 0, used = 0;
    if (!count_headers(ticket, envelope, &headers)) {
        dueq__fail(
            error, DUEQ_CORRUPT,
            "the message '%.*s' is damaged: its envelope cannot be read; cancel it by its id",
            (int)id.size, (const char *)id.data);
        return NULL;
    }
    dueq_result *result = allocate(1, 1, headers, ticket.size + envelope.size + text.size, error);
    if (!result)
        return NULL;
    dueq_message *message = result->messages;
    message->state = (dueq_state)state;
    message->time_ms = time;
    message->now_ms = now;
    add_message(result, 0, ticket, envelope, &used);
    if (message->state != DUEQ_LEASED)
        message->ticket = (dueq_bytes){0};
    message->error = keep(result, text);
    return result;
}

dueq_result *dueq__result_purged(size_t purged, struct dueq__error *error) {
    dueq_result *result = allocate(0, 0, 0, 0, error);
    if (result)
        result->purged = purged;
    return result;
}

dueq_result *dueq__result_counted(const struct dueq__reply *reply, struct dueq__error *error) {
    dueq_counts counts;
    int64_t *const fields[] = {&counts.now_ms,  &counts.ready,   &counts.delayed,   &counts.leased,
                               &counts.dead,    &counts.acked,   &counts.cancelled, &counts.purged,
                               &counts.damaged, &counts.next_ms, &counts.paused};
    size_t count = sizeof fields / sizeof *fields;
    if (dueq__reply_count(reply) != count)
        return malformed(error, "stats");
    for (size_t i = 0; i < count; i++)
        if (!dueq__reply_number(dueq__reply_item(reply, i), fields[i]))
            return malformed(error, "stats");
    dueq_result *result = allocate(0, 0, 0, 0, error);
    if (!result)
        return NULL;
    result->counts = (dueq_counts *)(void *)(result + 1);
    *result->counts = counts;
    return result;
}
