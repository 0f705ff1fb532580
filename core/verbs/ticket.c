#include "verbs.h"

/* False: the text is not one to nine digits. */
static bool read_count(dueq_bytes text, uint32_t *count) {
    int64_t found;
    bool good = text.size <= 9 && dueq__read_number(text, 0, 999999999, &found);
    if (good)
        *count = (uint32_t)found;
    return good;
}

/* Takes the mark of a message whose end is noted off a suffix. */
static bool take_noted(dueq_bytes *suffix) {
    bool noted = suffix->size && *(const char *)suffix->data == '!';
    *suffix = (dueq_bytes){(const char *)suffix->data + noted, suffix->size - noted};
    return noted;
}

/*
 * A suffix is an incarnation, or h or l, or an incarnation and h or l; or = and a group, with or
 * without an incarnation before it. In front of that, or alone, may be a !.
 */
static bool good_suffix(dueq_bytes suffix) {
    if (take_noted(&suffix) && !suffix.size)
        return true;
    dueq_bytes group = suffix, own;
    if (dueq__take_word(&group, '=', &own))
        return dueq__is_utf8(group.data, group.size, false) && group.size &&
               !memchr(group.data, ' ', group.size) &&
               (!own.size ||
                (own.size == DUEQ__INCARNATION_SIZE && dueq__id_time(own.data, own.size) >= 0));
    const char *text = suffix.data;
    bool marked = suffix.size == 1 || suffix.size == DUEQ__INCARNATION_SIZE + 1;
    if (marked && text[suffix.size - 1] != 'h' && text[suffix.size - 1] != 'l')
        return false;
    return suffix.size == 1 || dueq__id_time(text, suffix.size - (marked ? 1 : 0)) >= 0;
}

bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket) {
    dueq_bytes head, count;
    *ticket = (struct dueq__ticket){.id = text};
    if (text.size == DUEQ__ID_SIZE && dueq__id_time(text.data, text.size) >= 0)
        return true;
    /* "COUNT:ID", or "COUNT.SUFFIX:ID". */
    if (!dueq__take_word(&ticket->id, ':', &head))
        return false;
    bool has_suffix = dueq__take_word(&head, '.', &count);
    ticket->suffix = head;
    return read_count(count, &ticket->deliveries) && (!has_suffix || good_suffix(head)) &&
           dueq__is_name(ticket->id);
}

bool dueq__ticket_has_group(dueq_bytes text) {
    dueq_bytes id = text, head;
    return dueq__take_word(&id, ':', &head) && head.size && memchr(head.data, '=', head.size);
}

bool dueq__ticket_is_noted(dueq_bytes text) {
    dueq_bytes id = text, head, count;
    return dueq__take_word(&id, ':', &head) && dueq__take_word(&head, '.', &count) &&
           take_noted(&head);
}

int64_t dueq__ticket_time(const struct dueq__ticket *ticket) {
    dueq_bytes suffix = ticket->suffix;
    take_noted(&suffix);
    if (suffix.size >= DUEQ__INCARNATION_SIZE && *(const char *)suffix.data != '=')
        return dueq__id_time(suffix.data, DUEQ__INCARNATION_SIZE);
    return ticket->id.size == DUEQ__ID_SIZE ? dueq__id_time(ticket->id.data, DUEQ__ID_SIZE) : -1;
}

bool dueq__attempts_read(dueq_bytes text, struct dueq__attempts *attempts) {
    uint32_t *const numbers[] = {&attempts->deliveries, &attempts->forgiven, &attempts->crashes};
    dueq_bytes word;
    *attempts = (struct dueq__attempts){0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!dueq__take_word(&text, ' ', &word) || !read_count(word, numbers[i]))
            return false;
    /* Then the incarnation, and the error. */
    bool good = dueq__take_word(&text, ' ', &word) && word.size > 0 &&
                attempts->forgiven + attempts->crashes <= attempts->deliveries;
    if (good)
        attempts->error = text;
    return good;
}
