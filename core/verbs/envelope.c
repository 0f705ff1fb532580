#include "verbs.h"

/* The fields of a policy, in this order. Each is its tag, the size of its value, and the value. */
enum {
    TAG_BACKOFF = 1,
    TAG_MAX_CRASHES = 2,
    TAG_DROP = 3,
    TAG_DEAD_LETTER = 4,
    TAG_KEEP = 5,
    TAG_BATCH = 6,
    TAG_COUNTED = 7, /* in place of TAG_BATCH, when the batch has counted the end */
    TAG_BATCH_QUEUE = 8
};

/* How many delays a backoff of each kind has beside a list: its base, and its cap. */
static const size_t own_delays[] = {
    [DUEQ_BACKOFF_FIXED] = 1, [DUEQ_BACKOFF_LINEAR] = 2, [DUEQ_BACKOFF_EXPONENTIAL] = 2};

/* Writing */

/* at: where the next byte goes; NULL: the bytes are only counted. size: of the bytes so far. */
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

/* Puts the size of a block, as a number of so many `digits` (bytes), and then its bytes. */
static void put_block(struct writer *out, size_t digits, dueq_bytes block) {
    put_number(out, digits, block.size);
    put(out, block.data, block.size);
}

static void put_backoff(struct writer *out, const dueq_backoff *backoff) {
    const int64_t own[] = {backoff->base_ms, backoff->cap_ms};
    bool list = backoff->kind == DUEQ_BACKOFF_LIST;
    size_t count = list ? backoff->list_count : own_delays[backoff->kind];
    put_number(out, 1, TAG_BACKOFF);
    put_number(out, 1, 2 + 4 * count);
    put_number(out, 1, backoff->kind);
    put_number(out, 1, backoff->jitter);
    for (size_t i = 0; i < count; i++)
        put_number(out, 4, (uint64_t)(list ? backoff->list_ms : own)[i]);
}

/* Options that have their defaults take no bytes. */
static void put_policy(struct writer *out, const dueq_draft *draft, dueq_bytes home) {
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
        put_block(out, 1, draft->dead_letter);
    }
    if (draft->keep_ms) {
        put_number(out, 1, TAG_KEEP);
        put_number(out, 1, 4);
        put_number(out, 4, (uint64_t)draft->keep_ms);
    }
    if (draft->batch.size) {
        put_number(out, 1, TAG_BATCH);
        put_block(out, 1, draft->batch);
    }
    if (draft->batch.size && home.size) {
        put_number(out, 1, TAG_BATCH_QUEUE);
        put_block(out, 1, home);
    }
}

static int flags_of(const dueq_draft *draft, bool incarnation, bool policy) {
    return (incarnation ? DUEQ__FLAG_INCARNATION : 0) | (draft->ttl_ms ? DUEQ__FLAG_EXPIRES : 0) |
           (draft->lease_ms ? DUEQ__FLAG_LEASE : 0) |
           (draft->header_count ? DUEQ__FLAG_HEADERS : 0) | (policy ? DUEQ__FLAG_POLICY : 0) |
           (draft->priority == DUEQ_HIGH ? DUEQ__FLAG_HIGH : 0) |
           (draft->priority == DUEQ_LOW ? DUEQ__FLAG_LOW : 0) |
           (draft->group.size ? DUEQ__FLAG_GROUP : 0);
}

size_t dueq__envelope_write(const dueq_draft *draft, const char *incarnation, dueq_bytes home,
                            unsigned char *out) {
    struct writer writer = {.at = out}, policy = {0};
    bool is_noted = draft->keep_ms || draft->batch.size;
    put_policy(&policy, draft, home);
    put_number(&writer, 1, is_noted ? DUEQ__ENVELOPE_NOTED : DUEQ__ENVELOPE_VERSION);
    put_number(&writer, 1, (uint64_t)flags_of(draft, incarnation != NULL, policy.size > 0));
    put_number(&writer, 2, draft->max_attempts);
    if (incarnation)
        put(&writer, incarnation, DUEQ__INCARNATION_SIZE);
    if (draft->ttl_ms)
        put_number(&writer, 8, 0);
    if (draft->lease_ms)
        put_number(&writer, 4, (uint64_t)draft->lease_ms);
    if (draft->group.size)
        put_block(&writer, 1, draft->group);
    if (draft->header_count)
        put_number(&writer, 2, dueq__headers_size(draft));
    for (size_t i = 0; i < draft->header_count; i++) {
        const dueq_header *header = &draft->headers[i];
        put_block(&writer, 1, header->name);
        put_block(&writer, 2, header->value);
    }
    if (policy.size) {
        put_number(&writer, 2, policy.size);
        put_policy(&writer, draft, home);
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

/* Takes a block: its size, which has so many `digits` (bytes), and then its bytes. */
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

static bool read_backoff(dueq_bytes value, struct dueq__stored_backoff *out) {
    uint64_t kind, jitter, delay;
    size_t count = 0;
    if (!take_number(&value, 1, &kind) || !take_number(&value, 1, &jitter) ||
        kind < DUEQ_BACKOFF_FIXED || kind > DUEQ_BACKOFF_LIST || jitter > DUEQ_JITTER_EQUAL)
        return false;
    while (count < DUEQ_MAX_BACKOFF_LIST && take_number(&value, 4, &delay))
        out->list[count++] = (int64_t)delay;
    bool is_list = kind == DUEQ_BACKOFF_LIST;
    if (value.size || (is_list ? count == 0 : count != own_delays[kind]))
        return false;
    out->backoff = (dueq_backoff){.kind = (dueq_backoff_kind)kind, .jitter = (dueq_jitter)jitter};
    if (is_list) {
        out->backoff.list_ms = out->list;
        out->backoff.list_count = count;
    } else {
        out->backoff.base_ms = out->list[0];
        out->backoff.cap_ms = count > 1 ? out->list[1] : 0;
    }
    return true;
}

/* counted: the message was in a batch, which has counted its end. */
static bool read_field(uint64_t tag, dueq_bytes value, dueq_message *message,
                       struct dueq__stored_backoff *backoff, bool *counted) {
    struct dueq__error unused = {0};
    uint64_t number;
    switch (tag) {
    case TAG_BACKOFF:
        return read_backoff(value, backoff);
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
        /* The scripts have the same rule (core/scripts/lib/is_name.lua). */
        return !dueq__name_check(value.data, value.size, &unused);
    case TAG_KEEP:
        if (value.size != 4 || !take_number(&value, 4, &number))
            return false;
        message->keep_ms = (int64_t)number;
        return number > 0;
    case TAG_BATCH:
    case TAG_COUNTED:
        if (*counted || message->batch.size || !dueq__is_name(value))
            return false;
        *counted = tag == TAG_COUNTED;
        message->batch = *counted ? message->batch : value;
        return true;
    case TAG_BATCH_QUEUE:
        message->batch_queue = value;
        return (*counted || message->batch.size) &&
               !dueq__name_check(value.data, value.size, &unused);
    default:
        return false;
    }
}

static bool read_policy(dueq_bytes rest, dueq_message *message,
                        struct dueq__stored_backoff *backoff, bool *counted) {
    uint64_t tag, last = 0;
    dueq_bytes value;
    for (; rest.size; last = tag)
        if (!take_number(&rest, 1, &tag) || !take_block(&rest, 1, &value) || tag <= last ||
            !read_field(tag, value, message, backoff, counted))
            return false;
    return last > 0;
}

/* Reads the fields before the headers, in their order. */
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
    message->group = (dueq_bytes){0};
    if (flags & DUEQ__FLAG_GROUP &&
        (!take_block(rest, 1, &message->group) || message->group.size > DUEQ_MAX_GROUP ||
         !dueq__is_name(message->group)))
        return false;
    int64_t created = dueq__id_time(maker.data, maker.size);
    message->created_ms = created < 0 ? 0 : created;
    message->expires_ms = (int64_t)expires;
    message->lease_ms = (int64_t)lease;
    return true;
}

bool dueq__envelope_read_all(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                             size_t room, struct dueq__stored_backoff *backoff) {
    dueq_bytes rest = envelope, block;
    bool counted = false;
    uint64_t version, flags, attempts, lanes = DUEQ__FLAG_HIGH | DUEQ__FLAG_LOW | DUEQ__FLAG_GROUP;
    /* A message has a high priority, a low one, a group, or none of the three. */
    if (!take_number(&rest, 1, &version) ||
        (version != DUEQ__ENVELOPE_VERSION && version != DUEQ__ENVELOPE_NOTED) ||
        !take_number(&rest, 1, &flags) || !take_number(&rest, 2, &attempts) ||
        flags & lanes & ((flags & lanes) - 1) || !read_fixed(flags, &rest, message))
        return false;
    message->max_attempts = (uint32_t)attempts;
    message->priority = flags & DUEQ__FLAG_HIGH  ? DUEQ_HIGH
                        : flags & DUEQ__FLAG_LOW ? DUEQ_LOW
                                                 : DUEQ_NORMAL;
    message->header_count = 0;
    message->max_crashes = DUEQ_DEFAULT_CRASHES;
    message->drop = 0;
    message->dead_letter = (dueq_bytes){0};
    message->keep_ms = 0;
    message->batch = message->batch_queue = (dueq_bytes){0};
    backoff->backoff = (dueq_backoff){0};
    if (flags & DUEQ__FLAG_HEADERS &&
        !(take_block(&rest, 2, &block) && read_headers(block, message, headers, room)))
        return false;
    if (flags & DUEQ__FLAG_POLICY &&
        !(take_block(&rest, 2, &block) && read_policy(block, message, backoff, &counted)))
        return false;
    message->body = rest;
    return (version == DUEQ__ENVELOPE_NOTED) ==
           (message->keep_ms > 0 || message->batch.size > 0 || counted);
}

bool dueq__envelope_read(dueq_bytes envelope, dueq_message *message, dueq_header *headers,
                         size_t room) {
    struct dueq__stored_backoff unused;
    return dueq__envelope_read_all(envelope, message, headers, room, &unused);
}
