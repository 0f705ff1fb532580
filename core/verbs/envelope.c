#include "verbs.h"

/* The fields of a policy in this order, each with its tag and the size of its value before it. */
enum { TAG_BACKOFF = 1, TAG_MAX_CRASHES = 2, TAG_DROP = 3, TAG_DEAD_LETTER = 4 };

/* Writing */

/* Where the next byte goes (NULL: nowhere), and how many there are so far. */
struct writer {
    unsigned char *at;
    size_t size;
};

static void put(struct writer *out, const void *data, size_t size) {
    if (out->at && size) {
        memcpy(out->at, data, size);
        out->at += size;
    }
    out->size += size;
}

/* The most significant byte first. */
static void put_number(struct writer *out, size_t size, uint64_t number) {
    unsigned char bytes[8];
    for (size_t i = size; i-- > 0; number >>= 8)
        bytes[i] = (unsigned char)number;
    put(out, bytes, size);
}

static size_t backoff_size(const dueq_backoff *backoff) {
    static const size_t delays[] = {
        [DUEQ_BACKOFF_FIXED] = 1, [DUEQ_BACKOFF_LINEAR] = 2, [DUEQ_BACKOFF_EXPONENTIAL] = 2};
    return 2 +
           4 * (backoff->kind == DUEQ_BACKOFF_LIST ? backoff->list_count : delays[backoff->kind]);
}

static void put_backoff(struct writer *out, const dueq_backoff *backoff) {
    size_t size = backoff_size(backoff);
    put_number(out, 1, TAG_BACKOFF);
    put_number(out, 1, size);
    put_number(out, 1, backoff->kind);
    put_number(out, 1, backoff->jitter);
    if (backoff->kind != DUEQ_BACKOFF_LIST)
        put_number(out, 4, (uint64_t)backoff->base_ms);
    if (backoff->kind != DUEQ_BACKOFF_LIST && backoff->kind != DUEQ_BACKOFF_FIXED)
        put_number(out, 4, (uint64_t)backoff->cap_ms);
    for (size_t i = 0; i < backoff->list_count; i++)
        put_number(out, 4, (uint64_t)backoff->list_ms[i]);
}

/* What is as usual is left out. */
static void put_policy(struct writer *out, const dueq_draft *draft) {
    if (draft->backoff.kind)
        put_backoff(out, &draft->backoff);
    if (draft->max_crashes != DUEQ_DEFAULT_CRASHES) {
        put_number(out, 1, TAG_MAX_CRASHES);
        put_number(out, 1, 2);
        put_number(out, 2, draft->max_crashes);
    }
    if (draft->drop) {
        put_number(out, 1, TAG_DROP);
        put_number(out, 1, 0);
    }
    if (draft->dead_letter.size) {
        put_number(out, 1, TAG_DEAD_LETTER);
        put_number(out, 1, draft->dead_letter.size);
        put(out, draft->dead_letter.data, draft->dead_letter.size);
    }
}

static int flags_of(const dueq_draft *draft, bool incarnation, bool policy) {
    return (incarnation ? DUEQ__FLAG_INCARNATION : 0) | (draft->ttl_ms ? DUEQ__FLAG_EXPIRES : 0) |
           (draft->lease_ms ? DUEQ__FLAG_LEASE : 0) |
           (draft->header_count ? DUEQ__FLAG_HEADERS : 0) | (policy ? DUEQ__FLAG_POLICY : 0) |
           (draft->priority == DUEQ_HIGH ? DUEQ__FLAG_HIGH : 0) |
           (draft->priority == DUEQ_LOW ? DUEQ__FLAG_LOW : 0);
}

size_t dueq__envelope_write(const dueq_draft *draft, const char *incarnation, unsigned char *out) {
    struct writer writer = {.at = out}, policy = {0};
    put_policy(&policy, draft);
    put_number(&writer, 1, DUEQ__ENVELOPE_VERSION);
    put_number(&writer, 1, (uint64_t)flags_of(draft, incarnation != NULL, policy.size > 0));
    put_number(&writer, 2, draft->max_attempts);
    if (incarnation)
        put(&writer, incarnation, DUEQ__INCARNATION_SIZE);
    if (draft->ttl_ms)
        put_number(&writer, 8, 0);
    if (draft->lease_ms)
        put_number(&writer, 4, (uint64_t)draft->lease_ms);
    if (draft->header_count)
        put_number(&writer, 2, dueq__headers_size(draft));
    for (size_t i = 0; i < draft->header_count; i++) {
        const dueq_header *header = &draft->headers[i];
        put_number(&writer, 1, header->name.size);
        put(&writer, header->name.data, header->name.size);
        put_number(&writer, 2, header->value.size);
        put(&writer, header->value.data, header->value.size);
    }
    if (policy.size) {
        put_number(&writer, 2, policy.size);
        put_policy(&writer, draft);
    }
    put(&writer, draft->body.data, draft->body.size);
    return writer.size;
}

/* Reading */

/* Takes the next `size` bytes; false: there are fewer. */
static bool take(dueq_bytes *rest, size_t size, dueq_bytes *taken) {
    if (rest->size < size)
        return false;
    *taken = (dueq_bytes){rest->data, size};
    *rest = (dueq_bytes){(const unsigned char *)rest->data + size, rest->size - size};
    return true;
}

static bool take_number(dueq_bytes *rest, size_t size, uint64_t *number) {
    dueq_bytes taken;
    *number = 0;
    if (!take(rest, size, &taken))
        return false;
    for (size_t i = 0; i < size; i++)
        *number = *number << 8 | ((const unsigned char *)taken.data)[i];
    return true;
}

/* Takes the next bytes, whose number stands before them in so many. */
static bool take_block(dueq_bytes *rest, size_t digits, dueq_bytes *block) {
    uint64_t size;
    return take_number(rest, digits, &size) && take(rest, size, block);
}

static bool read_headers(dueq_bytes rest, dueq_message *message, dueq_header *headers,
                         size_t room) {
    while (rest.size) {
        dueq_header header;
        if (!take_block(&rest, 1, &header.name) || !take_block(&rest, 2, &header.value) ||
            !dueq__is_name(header.name) ||
            !dueq__is_utf8(header.value.data, header.value.size, true))
            return false;
        if (message->header_count < room)
            headers[message->header_count] = header;
        message->header_count++;
    }
    return true;
}

/* The scripts count by it; here it only must be one. */
static bool good_backoff(dueq_bytes value) {
    const unsigned char *bytes = value.data;
    if (value.size < 2 || bytes[0] < DUEQ_BACKOFF_FIXED || bytes[0] > DUEQ_BACKOFF_LIST ||
        bytes[1] > DUEQ_JITTER_EQUAL)
        return false;
    dueq_backoff backoff = {.kind = (dueq_backoff_kind)bytes[0],
                            .list_count = (value.size - 2) / 4};
    return value.size == backoff_size(&backoff) &&
           (bytes[0] != DUEQ_BACKOFF_LIST ||
            (backoff.list_count >= 1 && backoff.list_count <= DUEQ_MAX_BACKOFF_LIST));
}

static bool read_field(uint64_t tag, dueq_bytes value, dueq_message *message) {
    struct dueq__error unused = {0};
    uint64_t number;
    switch (tag) {
    case TAG_BACKOFF:
        return good_backoff(value);
    case TAG_MAX_CRASHES:
        if (value.size != 2 || !take_number(&value, 2, &number))
            return false;
        message->max_crashes = (uint32_t)number;
        return true;
    case TAG_DROP:
        message->drop = 1;
        return value.size == 0;
    case TAG_DEAD_LETTER:
        message->dead_letter = value;
        /* By the same rule as the scripts (core/scripts/lib/is_name.lua). */
        return !dueq__name_check(value.data, value.size, &unused);
    default:
        return false;
    }
}

static bool read_policy(dueq_bytes rest, dueq_message *message) {
    uint64_t tag, last = 0;
    dueq_bytes value;
    for (; rest.size; last = tag)
        if (!take_number(&rest, 1, &tag) || !take_block(&rest, 1, &value) || tag <= last ||
            !read_field(tag, value, message))
            return false;
    return last > 0;
}

/* The fields of a fixed size, in their order. */
static bool read_fixed(uint64_t flags, dueq_bytes *rest, dueq_message *message) {
    dueq_bytes maker = message->id;
    uint64_t expires = 0, lease = 0;
    if (flags & DUEQ__FLAG_INCARNATION && !take(rest, DUEQ__INCARNATION_SIZE, &maker))
        return false;
    if (flags & DUEQ__FLAG_EXPIRES &&
        (!take_number(rest, 8, &expires) || expires == 0 || expires > 2 * DUEQ_MAX_TIME_MS))
        return false;
    if (flags & DUEQ__FLAG_LEASE && (!take_number(rest, 4, &lease) || lease == 0))
        return false;
    int64_t created = dueq__id_time(maker.data, maker.size);
    message->created_ms = created < 0 ? 0 : created;
    message->expires_ms = (int64_t)expires;
    message->lease_ms = (int64_t)lease;
    return true;
}

/* As dueq__envelope_read(); *policy: the bytes of the policy. */
static bool read_parts(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                       size_t room, dueq_bytes *policy) {
    dueq_bytes rest = envelope, block;
    uint64_t version, flags, attempts, priorities = DUEQ__FLAG_HIGH | DUEQ__FLAG_LOW;
    if (!take_number(&rest, 1, &version) || version != DUEQ__ENVELOPE_VERSION ||
        !take_number(&rest, 1, &flags) || !take_number(&rest, 2, &attempts) || flags & 128 ||
        (flags & priorities) == priorities || !read_fixed(flags, &rest, message))
        return false;
    message->max_attempts = (uint32_t)attempts;
    message->priority = flags & DUEQ__FLAG_HIGH  ? DUEQ_HIGH
                        : flags & DUEQ__FLAG_LOW ? DUEQ_LOW
                                                 : DUEQ_NORMAL;
    message->header_count = 0;
    message->max_crashes = DUEQ_DEFAULT_CRASHES;
    message->drop = 0;
    message->dead_letter = *policy = (dueq_bytes){0};
    if (flags & DUEQ__FLAG_HEADERS &&
        !(take_block(&rest, 2, &block) && read_headers(block, message, headers, room)))
        return false;
    if (flags & DUEQ__FLAG_POLICY &&
        !(take_block(&rest, 2, policy) && read_policy(*policy, message)))
        return false;
    message->body = rest;
    return true;
}

bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room) {
    dueq_bytes policy;
    return read_parts(envelope, message, headers, room, &policy);
}

/* The backoff is the first field of a policy that has one. */
static void read_backoff(dueq_bytes policy, dueq_backoff *backoff, int64_t *list) {
    uint64_t tag, kind, jitter, delay;
    dueq_bytes value;
    if (!take_number(&policy, 1, &tag) || tag != TAG_BACKOFF || !take_block(&policy, 1, &value) ||
        !take_number(&value, 1, &kind) || !take_number(&value, 1, &jitter))
        return;
    *backoff = (dueq_backoff){.kind = (dueq_backoff_kind)kind, .jitter = (dueq_jitter)jitter};
    for (size_t i = 0; i < DUEQ_MAX_BACKOFF_LIST && take_number(&value, 4, &delay); i++)
        list[backoff->list_count++] = (int64_t)delay;
    if (kind == DUEQ_BACKOFF_LIST) {
        backoff->list_ms = list;
        return;
    }
    backoff->base_ms = list[0];
    backoff->cap_ms = backoff->list_count > 1 ? list[1] : 0;
    backoff->list_count = 0;
}

bool dueq__envelope_draft(dueq_bytes envelope, dueq_draft *draft, dueq_header *headers, size_t room,
                          int64_t list[DUEQ_MAX_BACKOFF_LIST]) {
    dueq_message message = {0};
    dueq_bytes policy;
    if (!read_parts(envelope, &message, headers, room, &policy) || message.header_count > room)
        return false;
    *draft = (dueq_draft)DUEQ_DRAFT;
    draft->body = message.body;
    draft->max_attempts = message.max_attempts;
    draft->lease_ms = message.lease_ms;
    draft->headers = headers;
    draft->header_count = message.header_count;
    draft->priority = message.priority;
    draft->max_crashes = message.max_crashes;
    draft->ttl_ms = message.expires_ms;
    draft->drop = message.drop;
    draft->dead_letter = message.dead_letter;
    read_backoff(policy, &draft->backoff, list);
    return true;
}
