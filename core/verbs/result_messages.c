#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* Reads messages from the answers of reserve, find and peek. */

/* A cursor gives the progress with so many parts of the whole at most: four decimal places. */
#define PROGRESS_PARTS 10000

/* A message, the envelope with its headers, and how late it is (-1: not known). */
struct message {
    dueq_message message;
    dueq_bytes envelope;
    int64_t late_ms;
};
const struct dueq__item_type dueq__type_message = {sizeof(struct message)};

const dueq_message *dueq_result_message(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_message, index);
}

static bool read_time(const struct dueq__reply *reply, int64_t *time) {
    return dueq__reply_number(reply, time) && *time >= 0 && *time <= DUEQ_MAX_TIME_MS;
}

/*
 * Sets attempt, crashes, deliveries and error. deliveries: those before this one. text: the
 * attempts as the server stores them; if they cannot be read, each earlier delivery counts as a
 * failure.
 */
static void set_attempts(dueq_message *message, uint32_t deliveries, dueq_bytes text) {
    struct dueq__attempts attempts;
    if (!dueq__attempts_read(text, &attempts) || attempts.deliveries != deliveries)
        attempts = (struct dueq__attempts){.deliveries = deliveries};
    uint32_t now = message->state == DUEQ_LEASED ? 1 : 0;
    message->attempt = deliveries - attempts.forgiven - attempts.crashes + now;
    message->crashes = attempts.crashes;
    message->deliveries = deliveries + now;
    message->error = attempts.error;
}

/*
 * Reads the item's message, without its headers, from the items of the answer from `at` on: ticket,
 * envelope and, if `attempts`, attempts. The caller has set the message's state. If the message
 * cannot be read, the item has the status CORRUPT and no message, and the id if the ticket has one.
 * False: the answer is malformed.
 */
static bool read_entry(const struct dueq__reply *reply, size_t at, bool attempts,
                       struct dueq__item *item) {
    struct message *made = item->value;
    dueq_message *message = &made->message;
    struct dueq__ticket parts;
    dueq_bytes ticket, text = {"", 0};
    if (!dueq__reply_bytes(dueq__reply_item(reply, at), &ticket) ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + 1), &made->envelope) ||
        (attempts && !dueq__reply_bytes(dueq__reply_item(reply, at + 2), &text)))
        return false;
    if (dueq__ticket_read(ticket, &parts))
        item->id = message->id = parts.id;
    if (!item->id.size || !dueq__envelope_read(made->envelope, message, NULL, 0)) {
        item->status = DUEQ_CORRUPT;
        item->value = NULL;
        return true;
    }
    message->body_size = message->body.size;
    message->progress = -1;
    message->progress_note = (dueq_bytes){"", 0};
    if (message->state == DUEQ_LEASED)
        message->ticket = ticket;
    set_attempts(message, parts.deliveries, text);
    return true;
}

/*
 * Sets how far the message's job has come, if the first line of its cursor says so: "dueq", the
 * share, and what the job said with it.
 */
static void set_progress(dueq_message *message) {
    dueq_bytes cursor = {"", 0};
    for (size_t i = 0; i < message->header_count; i++) {
        const dueq_header *header = &message->headers[i];
        if (dueq__bytes_equal(header->name, dueq__text("cursor")))
            cursor = header->value;
    }
    const char *at = cursor.data, *stop = cursor.size ? memchr(at, '\n', cursor.size) : NULL;
    if (!stop || stop - at < 6 || memcmp(at, "dueq ", 5) != 0 || (at[5] != '0' && at[5] != '1'))
        return;
    int32_t parts = (at[5] - '0') * PROGRESS_PARTS, worth = PROGRESS_PARTS / 10;
    at += 6;
    if (at < stop && *at == '.')
        for (at++; at < stop && *at >= '0' && *at <= '9' && worth > 0; at++, worth /= 10)
            parts += (*at - '0') * worth;
    if ((at < stop && *at != ' ') || parts > PROGRESS_PARTS)
        return;
    message->progress = (double)parts / PROGRESS_PARTS;
    if (at < stop)
        message->progress_note = (dueq_bytes){at + 1, (size_t)(stop - at - 1)};
}

/* Reads the headers of all messages. Without memory: frees the result and returns NULL. */
static dueq_result *add_headers(dueq_result *result, struct dueq__error *error) {
    size_t count = 0;
    for (size_t i = 0; i < result->count; i++) {
        const dueq_message *message = result->items[i].value;
        count += message ? message->header_count : 0;
    }
    dueq_header *at = result->headers = count ? malloc(count * sizeof *at) : NULL;
    if (count && !at)
        return dueq__result_no_memory(result, error);
    for (size_t i = 0; at && i < result->count; i++) {
        struct message *made = result->items[i].value;
        if (!made || !made->message.header_count)
            continue;
        dueq__envelope_read(made->envelope, &made->message, at, SIZE_MAX);
        made->message.headers = at;
        at += made->message.header_count;
        set_progress(&made->message);
    }
    return result;
}

/*
 * reserve: now, wait, timekeeper, quarantined, relay, attempts, outcomes, ticket and envelope of
 * each message, and, if the reserve asked for it, how late they are. Attempts are pairs: the number
 * of a message, from 1 on, and its attempts.
 */
enum { RESERVED_NOW = 0, RESERVED_QUARANTINED = 3, RESERVED_ATTEMPTS = 5, RESERVED_FIXED = 7 };
#define RESERVED_EACH 2

static bool read_all_attempts(const struct dueq__reply *pairs, const dueq_result *result) {
    size_t words = dueq__reply_count(pairs);
    for (size_t i = 0; i < words; i += 2) {
        int64_t number;
        dueq_bytes text;
        if (!dueq__reply_number(dueq__reply_item(pairs, i), &number) || number < 1 ||
            (size_t)number > result->count ||
            !dueq__reply_bytes(dueq__reply_item(pairs, i + 1), &text))
            return false;
        dueq_message *message = result->items[number - 1].value;
        if (message)
            set_attempts(message, message->deliveries - 1, text);
    }
    return true;
}

/*
 * Takes off a decimal number, or a mark of one byte, and the space behind it. False: neither is
 * there.
 */
static bool take_late(dueq_bytes *text, int64_t *number, char *mark) {
    const char *at = text->data, *end = at + text->size, *stop = memchr(at, ' ', text->size);
    size_t size = (size_t)((stop ? stop : end) - at);
    *number = 0;
    *mark = size == 1 && (*at < '0' || *at > '9') ? *at : '\0';
    for (size_t i = 0; !*mark && i < size; i++) {
        if (at[i] < '0' || at[i] > '9' || size > 16)
            return false;
        *number = 10 * *number + (at[i] - '0');
    }
    text->data = at + size + (stop != NULL);
    text->size -= size + (stop != NULL);
    return size > 0;
}

/*
 * The first call of a minute sets the mark. If that call is a push, its message was made before the
 * mark, as the producer makes the id before the push reaches the server. So a message that was made
 * up to this much before the mark counts as pushed after it.
 */
#define ON_ITS_WAY_MS 20

/*
 * Sets how late each message is. reply: "MARK UNTIL" and a word for each message, from
 * lib/lateness.lua; NULL: the reserve did not ask. The word is the lateness in ms; ? if it is not
 * known; or - for a message that came to the normal lane between MARK and UNTIL. If that message
 * was made after MARK, its push put it there, and it is late since it was made. Else it came to the
 * lane later than it was made, and is late since UNTIL at least.
 */
static bool read_late(const struct dueq__reply *reply, dueq_result *result) {
    dueq_bytes text = {"", 0};
    int64_t mark, until;
    char sign = '\0';
    bool timed = reply && result->count;
    if (timed && (!dueq__reply_bytes(reply, &text) || !take_late(&text, &mark, &sign) || sign ||
                  !take_late(&text, &until, &sign) || sign))
        return false;
    for (size_t i = 0; i < result->count; i++) {
        struct message *made = result->items[i].value;
        int64_t late = -1;
        sign = '?';
        if (timed && !take_late(&text, &late, &sign))
            return false;
        if (!made)
            continue;
        int64_t now = made->message.now_ms, created = made->message.created_ms;
        if (sign == '-')
            late = now - (created >= mark - ON_ITS_WAY_MS ? created : until);
        made->late_ms = sign == '?' ? -1 : late > 0 ? late : 0;
    }
    return true;
}

int64_t dueq__result_late_ms(const dueq_result *result, size_t index) {
    const struct message *made = dueq__result_item_value(result, &dueq__type_message, index);
    return made ? made->late_ms : -1;
}

/* Leaves out messages that cannot be read. They stay leased, and are quarantined later. */
static void leave_out(dueq_result *result) {
    size_t count = 0;
    for (size_t i = 0; i < result->count; i++)
        if (result->items[i].value)
            result->items[count++] = result->items[i];
    result->quarantined += result->count - count;
    result->count = count;
}

dueq_result *dueq__result_reserved(const struct dueq__reply *reply, int64_t lease_ms,
                                   int64_t default_lease_ms, struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    int64_t now, quarantined;
    if (words < RESERVED_FIXED || !read_time(dueq__reply_item(reply, RESERVED_NOW), &now) ||
        !dueq__reply_number(dueq__reply_item(reply, RESERVED_QUARANTINED), &quarantined) ||
        quarantined < 0)
        return dueq__result_malformed(NULL, error, "reserve");
    size_t count = (words - RESERVED_FIXED) / RESERVED_EACH;
    dueq_result *result = dueq__result_new(&dueq__type_message, count, 0, error);
    if (!result)
        return NULL;
    result->quarantined = (size_t)quarantined;
    for (size_t i = 0; i < count; i++) {
        dueq_message *message = result->items[i].value;
        message->state = DUEQ_LEASED;
        message->now_ms = now;
        if (!read_entry(reply, RESERVED_FIXED + i * RESERVED_EACH, false, &result->items[i]))
            return dueq__result_malformed(result, error, "reserve");
        int64_t own_ms = message->lease_ms ? message->lease_ms : default_lease_ms;
        message->time_ms = now + (lease_ms ? lease_ms : own_ms);
    }
    if (!read_all_attempts(dueq__reply_item(reply, RESERVED_ATTEMPTS), result))
        return dueq__result_malformed(result, error, "reserve");
    bool timed = (words - RESERVED_FIXED) % RESERVED_EACH;
    if (!read_late(timed ? dueq__reply_item(reply, words - 1) : NULL, result))
        return dueq__result_malformed(result, error, "reserve");
    leave_out(result);
    return add_headers(result, error);
}

/* find and peek: for each message time, ticket, envelope, attempts, size of the whole envelope */
#define LOOKED_EACH 5

/*
 * Sets the size of the whole body, which the envelope may have in part only. reply: the envelope's
 * size.
 */
static bool read_size(const struct dueq__reply *reply, struct message *made) {
    int64_t size;
    if (!dueq__reply_number(reply, &size) || size < 0 || (size_t)size < made->envelope.size)
        return false;
    made->message.body_size = made->message.body.size + ((size_t)size - made->envelope.size);
    return true;
}

/*
 * Reads the result's messages, which have this state, from the items of the answer from `at` on.
 * NULL: the answer is malformed, or memory is out; the result is freed.
 */
static dueq_result *read_looked(dueq_result *result, const struct dueq__reply *reply, size_t at,
                                dueq_state state, const char *script, struct dueq__error *error) {
    int64_t now;
    bool good = read_time(dueq__reply_item(reply, 0), &now);
    for (size_t i = 0; good && i < result->count; i++, at += LOOKED_EACH) {
        dueq_message *message = result->items[i].value;
        message->state = state;
        message->now_ms = now;
        good = dueq__reply_number(dueq__reply_item(reply, at), &message->time_ms) &&
               read_entry(reply, at + 1, true, &result->items[i]) &&
               (!result->items[i].value ||
                read_size(dueq__reply_item(reply, at + 4), result->items[i].value));
    }
    return good ? add_headers(result, error) : dueq__result_malformed(result, error, script);
}

/* now, state, and the message */
dueq_result *dueq__result_found(const struct dueq__reply *reply, struct dueq__error *error) {
    int64_t state;
    if (dueq__reply_count(reply) != 2 + LOOKED_EACH ||
        !dueq__reply_number(dueq__reply_item(reply, 1), &state) || state < DUEQ_READY ||
        state > DUEQ_OUTBOX)
        return dueq__result_malformed(NULL, error, "find");
    dueq_result *result = dueq__result_new(&dueq__type_message, 1, 0, error);
    if (result)
        result = read_looked(result, reply, 2, (dueq_state)state, "find", error);
    if (!result || !result->items->status)
        return result;
    dueq_bytes id = result->items->id;
    if (!id.size)
        dueq__reply_bytes(dueq__reply_item(reply, 3), &id);
    dueq_result_free(result);
    dueq__fail(error, DUEQ_CORRUPT,
               "the message '%.*s' is damaged: its envelope cannot be read; cancel it by its id",
               (int)id.size, (const char *)id.data);
    return NULL;
}

/* now, cursor, and the messages */
dueq_result *dueq__result_peeked(const struct dueq__reply *reply, dueq_state state,
                                 struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    dueq_bytes cursor;
    if (words < 2 || (words - 2) % LOOKED_EACH ||
        !dueq__reply_bytes(dueq__reply_item(reply, 1), &cursor))
        return dueq__result_malformed(NULL, error, "peek");
    dueq_result *result =
        dueq__result_new(&dueq__type_message, (words - 2) / LOOKED_EACH, 0, error);
    if (!result)
        return NULL;
    result->cursor = cursor;
    return read_looked(result, reply, 2, state, "peek", error);
}
