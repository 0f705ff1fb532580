/* Figures out of the scripts' answers: what a queue holds, did, and did by the minute. */
#include "result_parts.h"

/* ---- stats ---- */

/* When the message of a ready line's head was made; 0: there is none, or it does not say. */
static int64_t made_ms(dueq_bytes text) {
    struct dueq__ticket ticket;
    int64_t time = dueq__ticket_read(text, &ticket) ? dueq__ticket_time(&ticket) : 0;
    return time > 0 ? time : 0;
}

/*
 * The oldest head of the lines. The messages of the usual line came to it after the mark, also those
 * that were made before.
 */
static int64_t oldest_ms(const dueq_counts *counts, int64_t mark_ms, const dueq_bytes heads[3]) {
    int64_t oldest = 0;
    for (size_t i = 0; i < 3; i++) {
        int64_t time = made_ms(heads[i]);
        if (i == 0 && heads[i].size && time < mark_ms)
            time = mark_ms;
        if (time && (!oldest || time < oldest))
            oldest = time;
    }
    return oldest < counts->now_ms ? oldest : counts->now_ms;
}

dueq_result *dueq__result_counted(const struct dueq__reply *reply, bool evicting,
                                  struct dueq__error *error) {
    dueq_counts counts = {.evicting = evicting};
    int64_t mark_ms;
    int64_t *const fields[] = {
        &counts.now_ms,  &counts.ready,  &counts.delayed,   &counts.leased, &counts.dead,
        &counts.outbox,  &counts.pushed, &counts.reserved,  &counts.acked,  &counts.retried,
        &counts.expired, &counts.died,   &counts.cancelled, &counts.purged, &counts.quarantined,
        &counts.next_ms, &counts.paused, &mark_ms};
    size_t numbers = sizeof fields / sizeof *fields;
    dueq_bytes heads[3], problem;
    if (dueq__reply_count(reply) != numbers + 4 ||
        !dueq__reply_bytes(dueq__reply_item(reply, numbers + 3), &problem))
        return dueq__result_malformed(error, "stats");
    for (size_t i = 0; i < numbers; i++)
        if (!dueq__reply_number(dueq__reply_item(reply, i), fields[i]))
            return dueq__result_malformed(error, "stats");
    for (size_t i = 0; i < 3; i++)
        if (!dueq__reply_bytes(dueq__reply_item(reply, numbers + i), &heads[i]))
            return dueq__result_malformed(error, "stats");
    dueq_result *result = dueq__result_new((struct dueq__room){0}, error);
    if (!result)
        return NULL;
    size_t most = sizeof counts.outbox_error - 1;
    memcpy(counts.outbox_error, problem.data, problem.size < most ? problem.size : most);
    counts.oldest_ms = oldest_ms(&counts, mark_ms, heads);
    result->counts = (dueq_counts *)(void *)(result + 1);
    *result->counts = counts;
    return result;
}

/* ---- rates: a text for now and one for each snapshot before, the latest first ---- */

enum { TIME, IN, PUSHED, RESERVED, ACKED, RETRIED, EXPIRED, DIED, CANCELLED, NUMBERS };

#define MOST_DIGITS 18

static bool take_number(const char **at, const char *end, int64_t *number) {
    bool negative = *at < end && **at == '-';
    const char *start = *at += negative ? 1 : 0;
    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - start < MOST_DIGITS; ++*at)
        *number = *number * 10 + (**at - '0');
    if (negative)
        *number = -*number;
    return *at > start;
}

static bool read_snapshot(const struct dueq__reply *reply, int64_t numbers[NUMBERS]) {
    dueq_bytes text;
    if (!dueq__reply_bytes(reply, &text))
        return false;
    const char *at = text.data, *end = at + text.size;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (i > 0 && (at == end || *at++ != ' '))
            return false;
        if (!take_number(&at, end, &numbers[i]))
            return false;
    }
    return at == end && numbers[TIME] >= 0 && numbers[TIME] <= DUEQ_MAX_TIME_MS;
}

/* A counter that was taken away begins anew. */
static int64_t rise(const int64_t later[NUMBERS], const int64_t earlier[NUMBERS], int counter) {
    return later[counter] > earlier[counter] ? later[counter] - earlier[counter] : 0;
}

static dueq_rate rate_between(const int64_t later[NUMBERS], const int64_t earlier[NUMBERS]) {
    return (dueq_rate){.start_ms = earlier[TIME],
                       .span_ms = rise(later, earlier, TIME),
                       .pushed = rise(later, earlier, PUSHED),
                       .reserved = rise(later, earlier, RESERVED),
                       .acked = rise(later, earlier, ACKED),
                       .retried = rise(later, earlier, RETRIED),
                       .expired = rise(later, earlier, EXPIRED),
                       .died = rise(later, earlier, DIED),
                       .cancelled = rise(later, earlier, CANCELLED)};
}

dueq_result *dueq__result_rated(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t texts = dueq__reply_count(reply);
    int64_t later[NUMBERS], earlier[NUMBERS];
    if (texts < 1 || !read_snapshot(dueq__reply_item(reply, 0), later))
        return dueq__result_malformed(error, "rates");
    struct dueq__room room = {.items = texts - 1, .rates = texts - 1};
    dueq_result *result = dueq__result_new(room, error);
    for (size_t i = 0; result && i < room.items; i++) {
        if (!read_snapshot(dueq__reply_item(reply, i + 1), earlier)) {
            dueq_result_free(result);
            return dueq__result_malformed(error, "rates");
        }
        result->rates[i] = rate_between(later, earlier);
        result->items[i].rate = &result->rates[i];
        memcpy(later, earlier, sizeof later);
    }
    return result;
}
