/* Messages out of the scripts' answers. */
#include "result_parts.h"

/* A message as scripts answer it. */
struct entry {
    dueq_bytes ticket, envelope, past;
};

/* Adds what an entry takes; false: it is damaged. */
static bool measure(const struct entry *entry, struct dueq__room *room) {
    struct dueq__ticket ticket;
    dueq_message message = {0};
    if (!dueq__ticket_read(entry->ticket, &ticket) ||
        !dueq__envelope_read(entry->envelope, &message, NULL, 0))
        return false;
    room->headers += message.header_count;
    room->bytes += entry->ticket.size + entry->envelope.size + entry->past.size;
    return true;
}

/* What became of it so far. A damaged past is as none: each delivery before counts as a failure. */
static void set_past(dueq_message *message, uint32_t before, dueq_bytes text) {
    struct dueq__past past;
    if (!dueq__past_read(text, &past) || past.before != before)
        past = (struct dueq__past){.before = before};
    uint32_t now = message->state == DUEQ_LEASED ? 1 : 0;
    message->attempt = before - past.forgiven - past.crashes + now;
    message->crashes = past.crashes;
    message->deliveries = before + now;
    message->error = past.error;
}

/*
 * Fills in a message whose state, times and room are given from an entry that was measured: all is
 * copied first, so that what is read points into the copy.
 */
static void fill(dueq_result *result, size_t index, const struct entry *entry,
                 dueq_message *message) {
    struct dueq__ticket ticket;
    dueq_bytes kept = dueq__result_keep(result, entry->ticket);
    dueq__ticket_read(kept, &ticket);
    message->id = ticket.id;
    message->ticket = message->state == DUEQ_LEASED ? kept : (dueq_bytes){0};
    dueq__envelope_read(dueq__result_keep(result, entry->envelope), message, result->headers,
                        SIZE_MAX);
    message->headers = message->header_count ? result->headers : NULL;
    result->headers += message->header_count;
    set_past(message, ticket.before, dueq__result_keep(result, entry->past));
    result->items[index].message = message;
    result->items[index].id = message->id;
}

static bool read_time(const struct dueq__reply *reply, int64_t *time) {
    return dueq__reply_number(reply, time) && *time >= 0 && *time <= DUEQ_MAX_TIME_MS;
}

/* - reserve: now, wait, claim, quarantined, needs, pasts, outcomes, for each message ticket, envelope - */

enum { RESERVED_NOW = 0, RESERVED_QUARANTINED = 3, RESERVED_PASTS = 5 };

/* Pasts come as pairs of an entry's number and its past, in the order of the entries. */
struct pasts {
    const struct dueq__reply *reply;
    size_t next;
};

/* The past of the entry with this number, if it has one; false: the answer is malformed. */
static bool take_past(struct pasts *pasts, size_t number, dueq_bytes *text) {
    int64_t of;
    *text = (dueq_bytes){0};
    if (pasts->next >= dueq__reply_count(pasts->reply))
        return true;
    if (!dueq__reply_number(dueq__reply_item(pasts->reply, pasts->next), &of) ||
        pasts->next + 1 == dueq__reply_count(pasts->reply))
        return false;
    if (of != (int64_t)number)
        return true;
    pasts->next += 2;
    return dueq__reply_bytes(dueq__reply_item(pasts->reply, pasts->next - 1), text);
}

static bool take_reserved(const struct dueq__reply *reply, size_t index, struct pasts *pasts,
                          struct entry *entry) {
    size_t at = DUEQ__RESERVED_FIXED + index * DUEQ__RESERVED_EACH;
    return dueq__reply_bytes(dueq__reply_item(reply, at), &entry->ticket) &&
           dueq__reply_bytes(dueq__reply_item(reply, at + 1), &entry->envelope) &&
           take_past(pasts, index + 1, &entry->past);
}

/* Measures all entries; false: the answer is malformed. */
static bool measure_reserved(const struct dueq__reply *reply, size_t entries,
                             struct dueq__room *room) {
    struct pasts pasts = {dueq__reply_item(reply, RESERVED_PASTS), 0};
    for (size_t i = 0; i < entries; i++) {
        struct entry entry;
        if (!take_reserved(reply, i, &pasts, &entry))
            return false;
        /* What the script took for a message and is none stays held, and is set aside afterwards. */
        if (measure(&entry, room))
            room->messages++;
    }
    room->items = room->messages;
    return pasts.next == dueq__reply_count(pasts.reply);
}

dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   int64_t default_lease_ms, dueq_bytes settled,
                                   struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    struct dueq__room room = {.bytes = settled.size}, unused = {0};
    int64_t now, quarantined;
    if (words < DUEQ__RESERVED_FIXED || (words - DUEQ__RESERVED_FIXED) % DUEQ__RESERVED_EACH ||
        !read_time(dueq__reply_item(reply, RESERVED_NOW), &now) ||
        !dueq__reply_number(dueq__reply_item(reply, RESERVED_QUARANTINED), &quarantined) ||
        quarantined < 0)
        return dueq__result_malformed(error, "reserve");
    size_t entries = (words - DUEQ__RESERVED_FIXED) / DUEQ__RESERVED_EACH, at = 0;
    if (!measure_reserved(reply, entries, &room))
        return dueq__result_malformed(error, "reserve");
    dueq_result *result = dueq__result_new(room, error);
    if (!result)
        return NULL;
    result->settled = dueq__result_keep(result, settled);
    result->quarantined = (size_t)quarantined + entries - room.messages;
    struct pasts pasts = {dueq__reply_item(reply, RESERVED_PASTS), 0};
    for (size_t i = 0; i < entries; i++) {
        struct entry entry;
        if (!take_reserved(reply, i, &pasts, &entry) || !measure(&entry, &unused))
            continue;
        dueq_message *message = &result->messages[at];
        message->state = DUEQ_LEASED;
        message->now_ms = now;
        fill(result, at++, &entry, message);
        int64_t own_ms = message->lease_ms ? message->lease_ms : default_lease_ms;
        message->time_ms = now + (lease_ms ? lease_ms : own_ms);
    }
    return result;
}

/* ---- find: now, state, time, ticket, envelope, past ---- */

#define FOUND_WORDS 6

dueq_result *dueq__result_found(const struct dueq__reply *reply, struct dueq__error *error) {
    struct entry entry;
    struct dueq__ticket ticket;
    struct dueq__room room = {.items = 1, .messages = 1};
    int64_t now, state, time;
    if (dueq__reply_count(reply) != FOUND_WORDS || !read_time(dueq__reply_item(reply, 0), &now) ||
        !dueq__reply_number(dueq__reply_item(reply, 1), &state) || state < DUEQ_READY ||
        state > DUEQ_OUTBOX || !dueq__reply_number(dueq__reply_item(reply, 2), &time) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 3), &entry.ticket) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 4), &entry.envelope) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 5), &entry.past))
        return dueq__result_malformed(error, "find");
    if (!measure(&entry, &room)) {
        bool named = dueq__ticket_read(entry.ticket, &ticket);
        dueq_bytes id = named ? ticket.id : entry.ticket;
        dueq__fail(
            error, DUEQ_CORRUPT,
            "the message '%.*s' is damaged: its envelope cannot be read; cancel it by its id",
            (int)id.size, (const char *)id.data);
        return NULL;
    }
    dueq_result *result = dueq__result_new(room, error);
    if (!result)
        return NULL;
    dueq_message *message = result->messages;
    message->state = (dueq_state)state;
    message->time_ms = time;
    message->now_ms = now;
    fill(result, 0, &entry, message);
    return result;
}

/* ---- peek: now, cursor, and for each message time, ticket, envelope, past ---- */

#define PEEKED_FIXED 2
#define PEEKED_EACH 4

static bool take_peeked(const struct dueq__reply *reply, size_t index, int64_t *time,
                        struct entry *entry) {
    size_t at = PEEKED_FIXED + index * PEEKED_EACH;
    return dueq__reply_number(dueq__reply_item(reply, at), time) &&
           dueq__reply_bytes(dueq__reply_item(reply, at + 1), &entry->ticket) &&
           dueq__reply_bytes(dueq__reply_item(reply, at + 2), &entry->envelope) &&
           dueq__reply_bytes(dueq__reply_item(reply, at + 3), &entry->past);
}

/* A message that cannot be read is named as far as its ticket says. */
static void add_damaged(dueq_result *result, size_t index, const struct entry *entry) {
    struct dueq__ticket ticket;
    result->items[index].status = DUEQ_CORRUPT;
    if (dueq__ticket_read(entry->ticket, &ticket))
        result->items[index].id = dueq__result_keep(result, ticket.id);
}

dueq_result *dueq__result_peeked(const struct dueq__reply *reply, dueq_state state,
                                 struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    struct dueq__room room = {0}, unused = {0};
    struct entry entry;
    int64_t now, time;
    dueq_bytes cursor;
    if (words < PEEKED_FIXED || (words - PEEKED_FIXED) % PEEKED_EACH ||
        !read_time(dueq__reply_item(reply, 0), &now) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 1), &cursor))
        return dueq__result_malformed(error, "peek");
    room.items = (words - PEEKED_FIXED) / PEEKED_EACH;
    room.bytes = cursor.size;
    for (size_t i = 0; i < room.items; i++) {
        if (!take_peeked(reply, i, &time, &entry))
            return dueq__result_malformed(error, "peek");
        if (measure(&entry, &room))
            room.messages++;
        else
            room.bytes += entry.ticket.size;
    }
    dueq_result *result = dueq__result_new(room, error);
    if (!result)
        return NULL;
    result->cursor = dueq__result_keep(result, cursor);
    dueq_message *message = result->messages;
    for (size_t i = 0; i < room.items; i++) {
        take_peeked(reply, i, &time, &entry);
        if (!measure(&entry, &unused)) {
            add_damaged(result, i, &entry);
            continue;
        }
        message->state = state;
        message->time_ms = time;
        message->now_ms = now;
        fill(result, i, &entry, message++);
    }
    return result;
}
