/* The bytes as an envelope to read, and as the recipe of a draft to write. */
#include "fuzz.h"

#define MOST_HEADERS 64

static const char made_id[] = "034q4HWvPr75LHPWlJby2F";

static unsigned char *written(const dueq_draft *draft, const char *stamp, size_t *size) {
    struct dueq__error error = {0};
    if (dueq__envelope_size(draft, stamp, size, &error)) {
        CHECK(error.status < 0 && error.text[0]);
        return NULL;
    }
    unsigned char *envelope = malloc(*size);
    CHECK(envelope);
    dueq__envelope_write(draft, stamp, envelope);
    return envelope;
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
        CHECK(again.header_count == message.header_count);
        CHECK(fuzz_equal(again.body, message.body));
        CHECK(message.created_ms >= 0 && message.lease_ms >= 0 && message.max_attempts <= 65535);
        CHECK((const char *)message.body.data + message.body.size == end);
        fuzz_touch(message.body);
        for (size_t i = 0; i < message.header_count; i++) {
            fuzz_touch(headers[i].name);
            fuzz_touch(headers[i].value);
        }
        dueq_draft draft = {.body = message.body,
                            .max_attempts = message.max_attempts,
                            .lease_ms = message.lease_ms,
                            .headers = headers,
                            .header_count = message.header_count};
        const char *stamp = begin[1] & DUEQ__FLAG_STAMP ? begin + DUEQ__ENVELOPE_FIXED : NULL;
        bool headers_of_nothing = begin[1] & DUEQ__FLAG_HEADERS && message.header_count == 0;
        size_t size;
        unsigned char *copy = written(&draft, stamp, &size);
        CHECK(!copy || headers_of_nothing || fuzz_equal((dueq_bytes){copy, size}, envelope));
        free(copy);
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

/* What a draft is written as reads as the same draft. */
static void write_and_read(dueq_bytes rest) {
    dueq_header headers[MOST_HEADERS], found[MOST_HEADERS];
    dueq_draft draft = {.headers = headers};
    draft.max_attempts = (uint32_t)take_number(&rest);
    draft.lease_ms = take_number(&rest);
    dueq_bytes stamp = take(&rest, DUEQ__STAMP_SIZE), count = take(&rest, 1);
    draft.header_count = count.size ? *(const unsigned char *)count.data % MOST_HEADERS : 0;
    for (size_t i = 0; i < draft.header_count; i++) {
        headers[i].name = take(&rest, DUEQ_MAX_HEADER_NAME);
        headers[i].value = take(&rest, 255);
    }
    draft.body = rest;
    size_t size;
    unsigned char *envelope =
        written(&draft, stamp.size == DUEQ__STAMP_SIZE ? stamp.data : NULL, &size);
    if (!envelope)
        return;
    dueq_message message = {.id = {made_id, strlen(made_id)}};
    CHECK(dueq__envelope_read((dueq_bytes){envelope, size}, &message, found, MOST_HEADERS));
    CHECK(message.max_attempts == draft.max_attempts);
    CHECK(message.lease_ms == draft.lease_ms);
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
