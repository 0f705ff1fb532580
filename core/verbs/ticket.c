#include "verbs.h"

/* Takes a number of one to nine digits; false: there is none. */
static bool take_number(const char **at, const char *end, uint32_t *number) {
    int64_t found;
    bool good = dueq__take_digits(at, end, 9, &found);
    *number = (uint32_t)found;
    return good;
}

/* An incarnation, h or l, or both. */
static bool good_suffix(dueq_bytes suffix) {
    const char *text = suffix.data;
    bool marked = suffix.size == 1 || suffix.size == DUEQ__INCARNATION_SIZE + 1;
    if (marked && text[suffix.size - 1] != 'h' && text[suffix.size - 1] != 'l')
        return false;
    return suffix.size == 1 || dueq__id_time(text, suffix.size - (marked ? 1 : 0)) >= 0;
}

bool dueq__ticket_read(dueq_bytes text, struct dueq__ticket *ticket) {
    *ticket = (struct dueq__ticket){.id = text};
    if (text.size == DUEQ__ID_SIZE && dueq__id_time(text.data, text.size) >= 0)
        return true;
    const char *at = text.data, *end = at + text.size;
    if (!take_number(&at, end, &ticket->deliveries))
        return false;
    if (at < end && *at == '.') {
        at++;
        const char *stop = memchr(at, ':', (size_t)(end - at));
        ticket->suffix = (dueq_bytes){at, stop ? (size_t)(stop - at) : 0};
        if (ticket->suffix.size > DUEQ__INCARNATION_SIZE + 1 || !good_suffix(ticket->suffix))
            return false;
        at = stop;
    }
    if (end - at < 2 || *at != ':')
        return false;
    ticket->id = (dueq_bytes){at + 1, (size_t)(end - at - 1)};
    return dueq__is_name(ticket->id);
}

int64_t dueq__ticket_time(const struct dueq__ticket *ticket) {
    if (ticket->suffix.size >= DUEQ__INCARNATION_SIZE)
        return dueq__id_time(ticket->suffix.data, DUEQ__INCARNATION_SIZE);
    return ticket->id.size == DUEQ__ID_SIZE ? dueq__id_time(ticket->id.data, DUEQ__ID_SIZE) : -1;
}

bool dueq__attempts_read(dueq_bytes text, struct dueq__attempts *attempts) {
    uint32_t *const numbers[] = {&attempts->deliveries, &attempts->forgiven, &attempts->crashes};
    const char *at = text.data, *end = at + text.size;
    *attempts = (struct dueq__attempts){0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!take_number(&at, end, numbers[i]) || at == end || *at++ != ' ')
            return false;
    const char *stop = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
    if (!stop || stop == at || attempts->forgiven + attempts->crashes > attempts->deliveries)
        return false;
    attempts->error = (dueq_bytes){stop + 1, (size_t)(end - stop - 1)};
    return true;
}
