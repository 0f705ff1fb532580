#include "verbs.h"

/*
 * The groups of a queue: their names in the words of scripts, and the answer of groups.lua. The
 * server has a group's name as tickets have it: the bytes ':', ' ' and '%' are escaped.
 */

enum { ESCAPED = 3 }; /* the size of an escaped byte */

dueq_status dueq__arg_check_group(dueq_queue *queue, dueq_bytes group) {
    return dueq__text_check("the group's name", group, DUEQ_MAX_GROUP, &queue->client->error);
}

size_t dueq__group_escape(dueq_bytes group, char *out) {
    size_t size = 0;
    for (size_t i = 0; i < group.size; i++) {
        char byte = ((const char *)group.data)[i];
        const char *escape = byte == '%' ? "%25" : byte == ' ' ? "%20" : byte == ':' ? "%3A" : NULL;
        if (!escape) {
            out[size++] = byte;
            continue;
        }
        memcpy(out + size, escape, ESCAPED);
        size += ESCAPED;
    }
    return size;
}

void dueq__arg_put_group(struct dueq__resp *words, dueq_bytes group) {
    char name[DUEQ__ESCAPED_GROUP];
    dueq__resp_bytes(words, name, dueq__group_escape(group, name));
}

size_t dueq__group_unescape(dueq_bytes name, char *out) {
    const char *text = name.data;
    size_t size = 0;
    for (size_t i = 0; i < name.size; i++) {
        const char *escape = i + ESCAPED <= name.size && text[i] == '%' ? text + i : "";
        char byte = !strncmp(escape, "%25", ESCAPED)   ? '%'
                    : !strncmp(escape, "%20", ESCAPED) ? ' '
                    : !strncmp(escape, "%3A", ESCAPED) ? ':'
                                                       : '\0';
        out[size++] = byte ? byte : text[i];
        i += byte ? ESCAPED - 1 : 0;
    }
    return size;
}

const struct dueq__item_type dueq__type_group = {sizeof(dueq_group)};

const dueq_group *dueq_result_group(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_group, index);
}

enum { NOW = 0, CURSOR = 1, FIXED = 2 };
enum { NAME, WAITING, FIRST, LEASED, SERVED, AT_LIMIT, HELD_UNTIL, HOLDER, EACH };

/* Of each group a page has its name twice, once in a ticket, two ids, and some numbers. */
_Static_assert(DUEQ_MAX_BATCH * (2 * DUEQ__ESCAPED_GROUP + 2 * DUEQ_MAX_ID + 128) <
                   DUEQ__MAX_SMALL_REPLY,
               "a page of groups is too large for a reply");

/* False: the text is none that groups.lua sends. */
static bool read_limit(dueq_bytes text, dueq_bytes *limit) {
    static const char *const limits[] = {"", "concurrency", "order", "rate", "hold"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        *limit = dueq__text(limits[i]);
        if (dueq__bytes_equal(text, *limit))
            return true;
    }
    return false;
}

/* False: the words at this place of the reply are not those of a group. */
static bool read_group(const struct dueq__reply *reply, size_t at, dueq_group *group) {
    struct dueq__ticket ticket;
    dueq_bytes first, limit;
    if (!dueq__reply_bytes(dueq__reply_item(reply, at + NAME), &group->name) ||
        !dueq__reply_number(dueq__reply_item(reply, at + WAITING), &group->waiting) ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + FIRST), &first) ||
        !dueq__reply_number(dueq__reply_item(reply, at + LEASED), &group->leased) ||
        !dueq__reply_number(dueq__reply_item(reply, at + SERVED), &group->served_per_minute) ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + AT_LIMIT), &limit) ||
        !read_limit(limit, &group->at_limit) ||
        !dueq__reply_number(dueq__reply_item(reply, at + HELD_UNTIL), &group->held_until_ms) ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + HOLDER), &group->holder))
        return false;
    int64_t oldest_ms = dueq__ticket_read(first, &ticket) ? dueq__ticket_time(&ticket) : 0;
    group->oldest_ms = oldest_ms > 0 ? oldest_ms : 0;
    return true;
}

dueq_result *dueq__result_groups(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t words = dueq__reply_count(reply), bytes = 0;
    int64_t now_ms;
    dueq_bytes cursor, text;
    if (words < FIXED || (words - FIXED) % EACH ||
        !dueq__reply_number(dueq__reply_item(reply, NOW), &now_ms) ||
        !dueq__reply_bytes(dueq__reply_item(reply, CURSOR), &cursor))
        return dueq__result_malformed(NULL, error, "groups");
    for (size_t at = FIXED; at < words; at += EACH) {
        bytes += dueq__reply_bytes(dueq__reply_item(reply, at + NAME), &text) ? text.size : 0;
        bytes += dueq__reply_bytes(dueq__reply_item(reply, at + HOLDER), &text) ? text.size : 0;
    }
    size_t count = (words - FIXED) / EACH;
    dueq_result *result = dueq__result_new(&dueq__type_group, count, bytes + cursor.size, error);
    if (!result)
        return NULL;
    result->cursor = dueq__result_copy(result, cursor);
    for (size_t i = 0; i < count; i++) {
        dueq_group group = {.now_ms = now_ms};
        if (!read_group(reply, FIXED + i * EACH, &group))
            return dueq__result_malformed(result, error, "groups");
        text = dueq__result_copy(result, group.name);
        size_t size = dueq__group_unescape(text, (char *)(uintptr_t)text.data);
        group.name = (dueq_bytes){text.data, size};
        group.holder = dueq__result_copy(result, group.holder);
        memcpy(result->items[i].value, &group, sizeof group);
        result->items[i].id = group.name;
    }
    return result;
}
