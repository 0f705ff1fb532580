#include "verbs.h"

/* Reads the answer of failures.lua, whose entries lib/note_failure.lua has written. */

const struct dueq__item_type dueq__type_failure = {sizeof(dueq_failure)};

const dueq_failure *dueq_result_failure(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_failure, index);
}

const char *dueq_failure_name(dueq_failure_kind kind) {
    switch (kind) {
    case DUEQ_FAILED:
        return "failed";
    case DUEQ_CRASHED:
        return "crashed";
    case DUEQ_BURIED:
        return "buried";
    case DUEQ_DIED:
        return "died";
    }
    return "unknown";
}

static bool read_kind(dueq_bytes name, dueq_failure_kind *kind) {
    for (*kind = DUEQ_FAILED; *kind <= DUEQ_DIED; ++*kind)
        if (dueq__bytes_equal(name, dueq__text(dueq_failure_name(*kind))))
            return true;
    return false;
}

#define MOST_PID INT64_C(999999999999999)

/* "HOST PID"; empty: no process settled the message. */
static bool read_process(dueq_bytes text, dueq_failure *failure) {
    if (!text.size)
        return true;
    dueq_bytes pid;
    if (!dueq__take_last_word(&text, ' ', &pid))
        return false;
    failure->host = text;
    return dueq__read_number(pid, 0, MOST_PID, &failure->pid) && dueq__is_name(failure->host);
}

enum { CURSOR = 0, FIXED = 1, TIME = 0, KIND = 1, TICKET = 2, PROCESS = 3, ERROR = 4, EACH = 5 };

/* False: the words are not those of a failure. */
static bool read_failure(const dueq_bytes words[EACH], int64_t time_ms, dueq_failure *failure) {
    struct dueq__ticket ticket;
    *failure = (dueq_failure){.ticket = words[TICKET], .time_ms = time_ms, .error = words[ERROR]};
    if (time_ms < 0 || time_ms > DUEQ_MAX_TIME_MS || !read_kind(words[KIND], &failure->kind) ||
        !dueq__ticket_read(words[TICKET], &ticket) || !read_process(words[PROCESS], failure))
        return false;
    int64_t created_ms = dueq__ticket_time(&ticket);
    failure->id = ticket.id;
    failure->delivery = ticket.deliveries + 1;
    failure->created_ms = created_ms > 0 ? created_ms : 0;
    return true;
}

dueq_result *dueq__result_failures(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t words = dueq__reply_count(reply);
    dueq_bytes cursor;
    if (words < FIXED || (words - FIXED) % EACH ||
        !dueq__reply_bytes(dueq__reply_item(reply, CURSOR), &cursor))
        return dueq__result_malformed(NULL, error, "failures");
    dueq_result *result = dueq__result_new(&dueq__type_failure, (words - FIXED) / EACH, 0, error);
    if (!result)
        return NULL;
    result->cursor = cursor;
    result->count = 0;
    for (size_t at = FIXED; at < words; at += EACH) {
        dueq_bytes each[EACH];
        dueq_failure failure;
        int64_t time_ms;
        for (size_t i = 0; i < EACH; i++)
            if (!dueq__reply_bytes(dueq__reply_item(reply, at + i), &each[i]))
                return dueq__result_malformed(result, error, "failures");
        if (!dueq__reply_number(dueq__reply_item(reply, at + TIME), &time_ms))
            return dueq__result_malformed(result, error, "failures");
        if (!read_failure(each, time_ms, &failure))
            continue;
        memcpy(result->items[result->count].value, &failure, sizeof failure);
        result->items[result->count++].id = failure.id;
    }
    return result;
}
