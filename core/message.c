#include <string.h>

#include "internal.h"

static void put16(unsigned char *out, size_t number) {
    out[0] = (unsigned char)(number >> 8);
    out[1] = (unsigned char)number;
}

static size_t get16(const unsigned char *in) { return (size_t)in[0] << 8 | in[1]; }

static size_t headers_size(const dueq_draft *draft) {
    size_t size = 0;
    for (size_t i = 0; i < draft->header_count; i++)
        size += 1 + draft->headers[i].name.size + 2 + draft->headers[i].value.size;
    return size;
}

static dueq_status check_headers(const dueq_draft *draft, struct dueq__error *error) {
    for (size_t i = 0; i < draft->header_count; i++) {
        const dueq_header *header = &draft->headers[i];
        if (header->name.size == 0 || header->name.size > DUEQ_MAX_HEADER_NAME)
            return dueq__fail(error, header->name.size ? DUEQ_TOO_LARGE : DUEQ_INVALID,
                              "a header's name has %zu bytes; 1 to %d are allowed",
                              header->name.size, DUEQ_MAX_HEADER_NAME);
        if (!dueq__utf8(header->name.data, header->name.size, false))
            return dueq__fail(error, DUEQ_INVALID,
                              "a header's name is not UTF-8, or has a control character");
        if (!dueq__utf8(header->value.data, header->value.size, true))
            return dueq__fail(error, DUEQ_INVALID, "a header's value is not UTF-8");
        if (header->value.size > DUEQ_MAX_HEADERS)
            return dueq__fail(error, DUEQ_TOO_LARGE,
                              "a header's value has %zu bytes; %d are allowed", header->value.size,
                              DUEQ_MAX_HEADERS);
    }
    if (headers_size(draft) > DUEQ_MAX_HEADERS)
        return dueq__fail(error, DUEQ_TOO_LARGE, "the headers take %zu bytes; %d are allowed",
                          headers_size(draft), DUEQ_MAX_HEADERS);
    return DUEQ_OK;
}

dueq_status dueq__due_check(int64_t delay_ms, int64_t at_ms, struct dueq__error *error) {
    if (delay_ms < 0 || delay_ms > DUEQ_MAX_TIME_MS)
        return dueq__fail(error, DUEQ_INVALID, "the delay is %lld ms; 0 to %lld are allowed",
                          (long long)delay_ms, (long long)DUEQ_MAX_TIME_MS);
    if (at_ms < 0 || at_ms > DUEQ_MAX_TIME_MS)
        return dueq__fail(error, DUEQ_INVALID, "the due time is %lld ms; 0 to %lld are allowed",
                          (long long)at_ms, (long long)DUEQ_MAX_TIME_MS);
    if (at_ms && delay_ms)
        return dueq__fail(error, DUEQ_INVALID, "give either a delay or a due time, not both");
    return DUEQ_OK;
}

dueq_status dueq__envelope_size(const dueq_draft *draft, const char *stamp, size_t *size,
                                struct dueq__error *error) {
    if (draft->body.size > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE, "the body has %zu bytes; at most %zu are allowed",
                          draft->body.size, DUEQ_MAX_BODY);
    if (draft->max_attempts > DUEQ_MAX_MAX_ATTEMPTS)
        return dueq__fail(error, DUEQ_INVALID, "max_attempts is %u; 0 to %d are allowed",
                          draft->max_attempts, DUEQ_MAX_MAX_ATTEMPTS);
    if (draft->lease_ms < 0 || draft->lease_ms > UINT32_MAX)
        return dueq__fail(error, DUEQ_INVALID, "the lease is %lld ms; 0 to %lu are allowed",
                          (long long)draft->lease_ms, (unsigned long)UINT32_MAX);
    dueq_status due = dueq__due_check(draft->delay_ms, draft->at_ms, error);
    if (due)
        return due;
    dueq_status status = check_headers(draft, error);
    if (status)
        return status;
    *size = (size_t)DUEQ__ENVELOPE_FIXED + (stamp ? (size_t)DUEQ__STAMP_SIZE : 0) +
            (draft->lease_ms ? 4U : 0U) + (draft->header_count ? 2 + headers_size(draft) : 0) +
            draft->body.size;
    return DUEQ_OK;
}

static unsigned char *put(unsigned char *out, dueq_bytes bytes) {
    if (bytes.size)
        memcpy(out, bytes.data, bytes.size);
    return out + bytes.size;
}

void dueq__envelope_write(const dueq_draft *draft, const char *stamp, unsigned char *out) {
    out[0] = DUEQ__ENVELOPE_VERSION;
    out[1] =
        (unsigned char)((stamp ? DUEQ__FLAG_STAMP : 0) | (draft->lease_ms ? DUEQ__FLAG_LEASE : 0) |
                        (draft->header_count ? DUEQ__FLAG_HEADERS : 0));
    put16(out + 2, draft->max_attempts);
    out += DUEQ__ENVELOPE_FIXED;
    if (stamp)
        out = put(out, (dueq_bytes){stamp, DUEQ__STAMP_SIZE});
    if (draft->lease_ms) {
        put16(out, (size_t)draft->lease_ms >> 16);
        put16(out + 2, (size_t)draft->lease_ms & 0xFFFF);
        out += 4;
    }
    if (draft->header_count) {
        put16(out, headers_size(draft));
        out += 2;
    }
    for (size_t i = 0; i < draft->header_count; i++) {
        *out++ = (unsigned char)draft->headers[i].name.size;
        out = put(out, draft->headers[i].name);
        put16(out, draft->headers[i].value.size);
        out = put(out + 2, draft->headers[i].value);
    }
    put(out, draft->body);
}

/* Reads the headers between `at` and `end`; false: their lengths do not add up. */
static bool read_headers(const unsigned char *at, const unsigned char *end, dueq_message *message,
                         dueq_header *headers, size_t room) {
    message->header_count = 0;
    while (at < end) {
        size_t name = *at++;
        if ((size_t)(end - at) < name + 2)
            return false;
        size_t value = get16(at + name);
        if ((size_t)(end - at) < name + 2 + value)
            return false;
        if (message->header_count < room)
            headers[message->header_count] = (dueq_header){{at, name}, {at + name + 2, value}};
        message->header_count++;
        at += name + 2 + value;
    }
    return true;
}

bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room) {
    const unsigned char *at = envelope.data, *end = at + envelope.size;
    if (envelope.size < DUEQ__ENVELOPE_FIXED || at[0] != DUEQ__ENVELOPE_VERSION)
        return false;
    int flags = at[1];
    if (flags & ~(DUEQ__FLAG_STAMP | DUEQ__FLAG_LEASE | DUEQ__FLAG_HEADERS))
        return false;
    message->max_attempts = (uint32_t)get16(at + 2);
    message->header_count = 0;
    message->lease_ms = 0;
    message->created_ms = dueq__id_time(message->id.data, message->id.size);
    at += DUEQ__ENVELOPE_FIXED;
    if (flags & DUEQ__FLAG_STAMP) {
        if (end - at < DUEQ__STAMP_SIZE)
            return false;
        message->created_ms = dueq__id_time((const char *)at, DUEQ__STAMP_SIZE);
        at += DUEQ__STAMP_SIZE;
    }
    if (flags & DUEQ__FLAG_LEASE) {
        if (end - at < 4)
            return false;
        message->lease_ms = (int64_t)(get16(at) << 16 | get16(at + 2));
        if (message->lease_ms == 0)
            return false;
        at += 4;
    }
    if (flags & DUEQ__FLAG_HEADERS) {
        if (end - at < 2 || (size_t)(end - at - 2) < get16(at))
            return false;
        const unsigned char *stop = at + 2 + get16(at);
        if (!read_headers(at + 2, stop, message, headers, room))
            return false;
        at = stop;
    }
    if (message->created_ms < 0)
        message->created_ms = 0;
    message->body = (dueq_bytes){at, (size_t)(end - at)};
    return true;
}

bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket) {
    if (text.size == DUEQ__ID_SIZE && dueq__id_time(text.data, text.size) >= 0) {
        *ticket = (struct dueq__ticket){.id = text};
        return true;
    }
    const char *at = text.data, *end = at + text.size;
    uint32_t before = 0;
    const char *start = at;
    for (; at < end && *at >= '0' && *at <= '9' && at - start < 9; at++)
        before = before * 10 + (uint32_t)(*at - '0');
    if (at == start || at == end)
        return false;
    *ticket = (struct dueq__ticket){.before = before};
    if (*at == '.') {
        if (end - at <= DUEQ__STAMP_SIZE || dueq__id_time(at + 1, DUEQ__STAMP_SIZE) < 0)
            return false;
        ticket->stamp = (dueq_bytes){at + 1, DUEQ__STAMP_SIZE};
        at += 1 + DUEQ__STAMP_SIZE;
    }
    if (at == end || *at != ':' || at + 1 == end)
        return false;
    ticket->id = (dueq_bytes){at + 1, (size_t)(end - at - 1)};
    return true;
}
