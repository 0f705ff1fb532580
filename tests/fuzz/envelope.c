/* The bytes as an envelope to read, and as the recipe of a draft to write. */
#include "fuzz.h"

#define MOST_HEADERS 64

static const char made_id[] = "034q4HWvPr75LHPWlJby2F";

static unsigned char *written(const dueq_draft *draft, const char *stamp, size_t *size) {
    struct dueq__error error = {0};
    if (dueq__draft_check(draft, false, &error)) {
        CHECK(error.status < 0 && error.text[0]);
        return NULL;
    }
    *size = dueq__envelope_write(draft, stamp, (dueq_bytes){0}, NULL);
    unsigned char *envelope = malloc(*size);
    CHECK(envelope);
    dueq__envelope_write(draft, stamp, (dueq_bytes){0}, envelope);
    return envelope;
}

/* The end of the time to live, which the push script writes. */
static void put_expires(unsigned char *envelope, const char *stamp, int64_t expires_ms) {
    unsigned char *at = envelope + DUEQ__ENVELOPE_FIXED + (stamp ? DUEQ__INCARNATION_SIZE : 0);
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(expires_ms >> (56 - 8 * i));
}

static void check_same(const dueq_message *a, const dueq_message *b) {
    CHECK(a->max_attempts == b->max_attempts && a->lease_ms == b->lease_ms);
    CHECK(a->max_crashes == b->max_crashes && a->drop == b->drop);
    CHECK(a->priority == b->priority && a->expires_ms == b->expires_ms);
    CHECK(a->header_count == b->header_count && fuzz_equal(a->body, b->body));
    CHECK(fuzz_equal(a->dead_letter, b->dead_letter));
}

/* Writes the envelope of what was read; a message does not tell its backoff. */
static void write_again(dueq_bytes envelope, const dueq_message *message,
                        const dueq_header *headers) {
    const char *begin = envelope.data;
    int flags = begin[1];
    dueq_draft draft = {.struct_size = sizeof(dueq_draft),
                        .body = message->body,
                        .max_attempts = message->max_attempts,
                        .lease_ms = message->lease_ms,
                        .headers = headers,
                        .header_count = message->header_count,
                        .priority = message->priority,
                        .max_crashes = message->max_crashes,
                        .ttl_ms = message->expires_ms ? 1 : 0,
                        .drop = message->drop,
                        .dead_letter = message->dead_letter};
    const char *stamp = flags & DUEQ__FLAG_INCARNATION ? begin + DUEQ__ENVELOPE_FIXED : NULL;
    size_t size;
    unsigned char *copy = written(&draft, stamp, &size);
    if (!copy)
        return;
    if (message->expires_ms)
        put_expires(copy, stamp, message->expires_ms);
    dueq_message again = {.id = message->id};
    CHECK(dueq__envelope_read((dueq_bytes){copy, size}, &again, NULL, 0));
    check_same(message, &again);
    bool headers_of_nothing = flags & DUEQ__FLAG_HEADERS && message->header_count == 0;
    if (!(flags & DUEQ__FLAG_POLICY) && !headers_of_nothing)
        CHECK(fuzz_equal((dueq_bytes){copy, size}, envelope));
    free(copy);
}

/* What an envelope reads as is written as the same envelope. */
static void read_and_write(dueq_bytes envelope) {
    dueq_message message = {.id = {made_id, strlen(made_id)}}, again = message;
    bool good = dueq__envelope_read(envelope, &message, NULL, 0);
    dueq_header *headers = calloc(message.header_count + 1, sizeof *headers);
    CHECK(headers);
    CHECK(dueq__envelope_read(envelope, &again, headers, SIZE_MAX) == good);
    if (good) {
        const char *begin = envelope.data, *end = begin + envelope.size;
        check_same(&message, &again);
        CHECK(message.created_ms >= 0 && message.lease_ms >= 0 && message.max_attempts <= 65535);
        CHECK(message.expires_ms >= 0 && message.max_crashes <= 65535);
        CHECK(message.priority >= DUEQ_LOW && message.priority <= DUEQ_HIGH);
        CHECK((const char *)message.body.data + message.body.size == end);
        fuzz_touch(message.body);
        fuzz_touch(message.dead_letter);
        for (size_t i = 0; i < message.header_count; i++) {
            fuzz_touch(headers[i].name);
            fuzz_touch(headers[i].value);
        }
        write_again(envelope, &message, headers);
    }
    free(headers);
}

/* Takes up to `most` bytes; their number stands before them. */
static dueq_bytes take(dueq_bytes *rest, size_t most) {
    const unsigned char *at = rest->data;
    if (rest->size == 0)
        return (dueq_bytes){at, 0};
    size_t size = at[0] < rest->size - 1 ? at[0] : rest->size - 1;
    size = size < most ? size : most;
    *rest = (dueq_bytes){at + 1 + size, rest->size - 1 - size};
    return (dueq_bytes){at + 1, size};
}

static int64_t take_number(dueq_bytes *rest) {
    dueq_bytes bytes = take(rest, 5);
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.size; i++)
        number = number << 8 | ((const unsigned char *)bytes.data)[i];
    return (int64_t)number;
}

static dueq_backoff take_backoff(dueq_bytes *rest, int64_t list[DUEQ_MAX_BACKOFF_LIST]) {
    dueq_backoff backoff = {.kind = (dueq_backoff_kind)(take_number(rest) % 5),
                            .jitter = (dueq_jitter)(take_number(rest) % 3)};
    if (backoff.kind == DUEQ_BACKOFF_LIST) {
        backoff.list_ms = list;
        backoff.list_count = (size_t)(take_number(rest) % (DUEQ_MAX_BACKOFF_LIST + 1));
        for (size_t i = 0; i < backoff.list_count; i++)
            list[i] = take_number(rest);
    } else {
        backoff.base_ms = take_number(rest);
        backoff.cap_ms = take_number(rest);
    }
    return backoff;
}

/* What a draft is written as reads as the same draft. */
static void write_and_read(dueq_bytes rest) {
    dueq_header headers[MOST_HEADERS], found[MOST_HEADERS];
    int64_t list[DUEQ_MAX_BACKOFF_LIST];
    dueq_draft draft = {.struct_size = sizeof(dueq_draft), .headers = headers};
    draft.max_attempts = (uint32_t)take_number(&rest);
    draft.lease_ms = take_number(&rest);
    dueq_bytes stamp = take(&rest, DUEQ__INCARNATION_SIZE), count = take(&rest, 1);
    draft.header_count = count.size ? *(const unsigned char *)count.data % MOST_HEADERS : 0;
    for (size_t i = 0; i < draft.header_count; i++) {
        headers[i].name = take(&rest, DUEQ_MAX_HEADER_NAME);
        headers[i].value = take(&rest, 255);
    }
    draft.priority = (dueq_priority)(take_number(&rest) % 3 - 1);
    draft.ttl_ms = take_number(&rest);
    draft.max_crashes = (uint32_t)take_number(&rest);
    draft.backoff = take_backoff(&rest, list);
    draft.drop = take_number(&rest) % 2 == 1;
    draft.dead_letter = take(&rest, DUEQ_MAX_NAME);
    draft.body = rest;
    size_t size;
    const char *stamped = stamp.size == DUEQ__INCARNATION_SIZE ? stamp.data : NULL;
    unsigned char *envelope = written(&draft, stamped, &size);
    if (!envelope)
        return;
    if (draft.ttl_ms)
        put_expires(envelope, stamped, draft.ttl_ms);
    dueq_message message = {.id = {made_id, strlen(made_id)}};
    CHECK(dueq__envelope_read((dueq_bytes){envelope, size}, &message, found, MOST_HEADERS));
    CHECK(message.max_attempts == draft.max_attempts);
    CHECK(message.lease_ms == draft.lease_ms);
    CHECK(message.priority == draft.priority);
    CHECK(message.expires_ms == draft.ttl_ms);
    CHECK(message.max_crashes == draft.max_crashes && message.drop == draft.drop);
    CHECK(fuzz_equal(message.dead_letter, draft.dead_letter));
    CHECK(message.header_count == draft.header_count);
    for (size_t i = 0; i < draft.header_count; i++) {
        CHECK(fuzz_equal(found[i].name, headers[i].name));
        CHECK(fuzz_equal(found[i].value, headers[i].value));
    }
    CHECK(fuzz_equal(message.body, draft.body));
    free(envelope);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dueq_bytes input = {fuzz_copy(data, size), size};
    read_and_write(input);
    write_and_read(input);
    free((void *)input.data);
    return 0;
}
