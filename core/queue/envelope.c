#include "queue.h"

size_t dueq__envelope_size(const dueq_draft *draft, const char *stamp) {
    size_t policy = dueq__policy_size(draft);
    return (size_t)DUEQ__ENVELOPE_FIXED + (stamp ? (size_t)DUEQ__INCARNATION_SIZE : 0) +
           (draft->ttl_ms ? 8U : 0U) + (draft->lease_ms ? 4U : 0U) +
           (draft->header_count ? 2 + dueq__headers_size(draft) : 0) + (policy ? 2 + policy : 0) +
           draft->body.size;
}

static unsigned char flags_of(const dueq_draft *draft, bool stamped) {
    int flags = stamped ? DUEQ__FLAG_INCARNATION : 0;
    flags |= draft->ttl_ms ? DUEQ__FLAG_EXPIRES : 0;
    flags |= draft->lease_ms ? DUEQ__FLAG_LEASE : 0;
    flags |= draft->header_count ? DUEQ__FLAG_HEADERS : 0;
    flags |= dueq__policy_size(draft) ? DUEQ__FLAG_POLICY : 0;
    flags |= draft->priority == DUEQ_HIGH ? DUEQ__FLAG_HIGH : 0;
    flags |= draft->priority == DUEQ_LOW ? DUEQ__FLAG_LOW : 0;
    return (unsigned char)flags;
}

void dueq__envelope_write(const dueq_draft *draft, const char *stamp, unsigned char *out) {
    out[0] = DUEQ__ENVELOPE_VERSION;
    out[1] = flags_of(draft, stamp != NULL);
    dueq__put16(out + 2, draft->max_attempts);
    out += DUEQ__ENVELOPE_FIXED;
    if (stamp)
        out = dueq__put(out, (dueq_bytes){stamp, DUEQ__INCARNATION_SIZE});
    if (draft->ttl_ms) {
        memset(out, 0, 8);
        out += 8;
    }
    if (draft->lease_ms) {
        dueq__put32(out, draft->lease_ms);
        out += 4;
    }
    if (draft->header_count) {
        dueq__put16(out, dueq__headers_size(draft));
        out += 2;
    }
    for (size_t i = 0; i < draft->header_count; i++) {
        *out++ = (unsigned char)draft->headers[i].name.size;
        out = dueq__put(out, draft->headers[i].name);
        dueq__put16(out, draft->headers[i].value.size);
        out = dueq__put(out + 2, draft->headers[i].value);
    }
    size_t policy = dueq__policy_size(draft);
    if (policy) {
        dueq__put16(out, policy);
        dueq__policy_write(draft, out + 2);
        out += 2 + policy;
    }
    dueq__put(out, draft->body);
}

/* Takes the next `size` bytes; NULL: there are fewer. */
static const unsigned char *take(dueq_bytes *rest, size_t size) {
    const unsigned char *at = rest->data;
    if (rest->size < size)
        return NULL;
    *rest = (dueq_bytes){at + size, rest->size - size};
    return at;
}

/* Takes the next bytes, whose number stands before them. */
static bool take_block(dueq_bytes *rest, dueq_bytes *block) {
    const unsigned char *size = take(rest, 2), *at = size ? take(rest, dueq__get16(size)) : NULL;
    if (!at)
        return false;
    *block = (dueq_bytes){at, dueq__get16(size)};
    return true;
}

static bool read_headers(dueq_bytes rest, dueq_message *message, dueq_header *headers,
                         size_t room) {
    while (rest.size) {
        const unsigned char *size = take(&rest, 1), *name = take(&rest, *size);
        dueq_bytes value;
        if (!name || !take_block(&rest, &value) || !dueq__is_text((dueq_bytes){name, *size}) ||
            !dueq__utf8(value.data, value.size, true))
            return false;
        if (message->header_count < room)
            headers[message->header_count] = (dueq_header){{name, *size}, value};
        message->header_count++;
    }
    return true;
}

/* The fields of a fixed size, in their order. */
static bool read_fixed(int flags, dueq_bytes *rest, dueq_message *message) {
    const unsigned char *at;
    message->created_ms = dueq__id_time(message->id.data, message->id.size);
    if (flags & DUEQ__FLAG_INCARNATION) {
        if (!(at = take(rest, DUEQ__INCARNATION_SIZE)))
            return false;
        message->created_ms = dueq__id_time((const char *)at, DUEQ__INCARNATION_SIZE);
    }
    if (message->created_ms < 0)
        message->created_ms = 0;
    message->expires_ms = 0;
    if (flags & DUEQ__FLAG_EXPIRES) {
        uint64_t expires = 0;
        if ((at = take(rest, 8)))
            expires = (uint64_t)dueq__get32(at) << 32 | dueq__get32(at + 4);
        if (expires == 0 || expires > 2 * DUEQ_MAX_TIME_MS)
            return false;
        message->expires_ms = (int64_t)expires;
    }
    message->lease_ms = 0;
    if (flags & DUEQ__FLAG_LEASE) {
        if (!(at = take(rest, 4)) || dueq__get32(at) == 0)
            return false;
        message->lease_ms = dueq__get32(at);
    }
    return true;
}

bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room) {
    dueq_bytes rest = envelope, block = {0};
    const unsigned char *at = take(&rest, DUEQ__ENVELOPE_FIXED);
    if (!at || at[0] != DUEQ__ENVELOPE_VERSION)
        return false;
    int flags = at[1], priorities = DUEQ__FLAG_HIGH | DUEQ__FLAG_LOW;
    if (flags & 128 || (flags & priorities) == priorities)
        return false;
    message->max_attempts = (uint32_t)dueq__get16(at + 2);
    message->priority = flags & DUEQ__FLAG_HIGH  ? DUEQ_HIGH
                        : flags & DUEQ__FLAG_LOW ? DUEQ_LOW
                                                 : DUEQ_NORMAL;
    if (!read_fixed(flags, &rest, message))
        return false;
    message->header_count = 0;
    if (flags & DUEQ__FLAG_HEADERS &&
        !(take_block(&rest, &block) && read_headers(block, message, headers, room)))
        return false;
    block = (dueq_bytes){rest.data, 0};
    if (flags & DUEQ__FLAG_POLICY && !(take_block(&rest, &block) && block.size))
        return false;
    message->body = rest;
    return dueq__policy_read(block, message);
}
