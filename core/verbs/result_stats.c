#include <stdlib.h>

#include "verbs.h"

/* Reads the answers of stats.lua and rates.lua: what a queue holds, and what it has counted. */

/* stats */

const struct dueq__item_type dueq__type_counts = {sizeof(dueq_counts)};

const dueq_counts *dueq_result_counts(const dueq_result *result) {
    return dueq__result_item_value(result, &dueq__type_counts, 0);
}

#define MOST_GROUPS 10 /* of which the script tells the first ticket */

/* When the message with this ticket, the first of a lane, was made; 0: no message, or not known. */
static int64_t made_ms(dueq_bytes text) {
    struct dueq__ticket ticket;
    int64_t time = dueq__ticket_read(text, &ticket) ? dueq__ticket_time(&ticket) : 0;
    return time > 0 ? time : 0;
}

/*
 * Since when the oldest ready message is ready, by the first tickets of the normal, high and low
 * lane, and those of lines of groups; 0: no message is ready. The first ticket came to the normal
 * lane after the mark, also if its message was made before the mark, as a delayed one was.
 */
static int64_t oldest_ms(const dueq_counts *counts, int64_t mark_ms, const dueq_bytes *heads,
                         size_t count) {
    int64_t oldest = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t time = made_ms(heads[i]);
        if (i == 0 && heads[i].size && time < mark_ms)
            time = mark_ms;
        if (time && (!oldest || time < oldest))
            oldest = time;
    }
    return oldest < counts->now_ms ? oldest : counts->now_ms;
}

dueq_result *dueq__result_counted(const struct dueq__reply *reply,
                                  const struct dueq__server_info *server,
                                  struct dueq__error *error) {
    dueq_counts counts = {.struct_size = sizeof counts, .evicting = server->evicts};
    int64_t paused, mark_ms;
#define POINTER(member) , &counts.member
    int64_t *const fields[] = {&counts.now_ms DUEQ_COUNTS_SUMS(POINTER), &counts.next_event_ms,
                               &paused, &mark_ms};
#undef POINTER
    size_t numbers = sizeof fields / sizeof *fields;
    /* The first tickets of the lanes, and behind them those of groups. */
    dueq_bytes heads[3 + MOST_GROUPS], problem, limit;
    size_t found = dueq__reply_count(reply) - numbers - 2;
    if (found < 3 || found > sizeof heads / sizeof *heads ||
        !dueq__reply_bytes(dueq__reply_item(reply, numbers + 3), &problem) ||
        !dueq__reply_bytes(dueq__reply_item(reply, numbers + 4), &limit) ||
        limit.size >= sizeof counts.at_limit)
        return dueq__result_malformed(NULL, error, "stats");
    for (size_t i = 0; i < numbers; i++)
        if (!dueq__reply_number(dueq__reply_item(reply, i), fields[i]))
            return dueq__result_malformed(NULL, error, "stats");
    for (size_t i = 0; i < found; i++)
        if (!dueq__reply_bytes(dueq__reply_item(reply, numbers + i + (i >= 3 ? 2 : 0)), &heads[i]))
            return dueq__result_malformed(NULL, error, "stats");
    size_t most = sizeof counts.outbox_error - 1;
    memcpy(counts.outbox_error, problem.data, problem.size < most ? problem.size : most);
    memcpy(counts.at_limit, limit.data, limit.size);
    counts.paused = paused != 0;
    counts.oldest_ms = oldest_ms(&counts, mark_ms, heads, found);
    return dueq__result_single(&dueq__type_counts, &counts, error);
}

/* limits */

static const struct dueq__item_type limits_type = {sizeof(dueq_bounds)};

const dueq_bounds *dueq_result_limits(const dueq_result *result) {
    return dueq__result_item_value(result, &limits_type, 0);
}

const dueq_group_limits *dueq_bounds_group(const dueq_bounds *limits, size_t index) {
    const dueq_group_limits *groups = limits->groups;
    return index < limits->group_count ? &groups[index] : NULL;
}

/* Reads a limit. An empty text: there is none. */
static bool read_limit(const struct dueq__reply *reply, size_t at, int64_t *number) {
    dueq_bytes text;
    return dueq__reply_bytes(dueq__reply_item(reply, at), &text) &&
           (!text.size || dueq__read_number(text, 1, DUEQ_MAX_LIMIT, number));
}

enum { BOUNDS_WORDS = 8, BOUNDS_EACH = 7 };

static bool read_line(const struct dueq__reply *reply, size_t at, char line[256]) {
    dueq_bytes text;
    if (!dueq__reply_bytes(dueq__reply_item(reply, at), &text) || text.size > 255)
        return false;
    memcpy(line, text.size ? text.data : "", text.size);
    return true;
}

/* Reads the limits of a group, whose name loses its escapes where it stands, in the reply. */
static bool read_group_limits(const struct dueq__reply *reply, size_t at,
                              dueq_group_limits *group) {
    if (!dueq__reply_bytes(dueq__reply_item(reply, at), &group->name) ||
        !read_limit(reply, at + 1, &group->concurrency) ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + 2), &group->rate) ||
        !read_limit(reply, at + 3, &group->burst) || !read_limit(reply, at + 4, &group->backlog) ||
        !read_limit(reply, at + 5, &group->weight) ||
        !dueq__reply_bytes(dueq__reply_item(reply, at + 6), &group->order))
        return false;
    group->name.size = dueq__group_unescape(group->name, (char *)(uintptr_t)group->name.data);
    return true;
}

dueq_result *dueq__result_limits(const struct dueq__reply *reply, struct dueq__error *error) {
    dueq_bounds limits = {0};
    size_t words = dueq__reply_count(reply);
    if (words < BOUNDS_WORDS || (words - BOUNDS_WORDS) % BOUNDS_EACH ||
        !read_limit(reply, 0, &limits.concurrency) || !read_line(reply, 1, limits.rate) ||
        !read_limit(reply, 2, &limits.burst) ||
        !read_limit(reply, 3, &limits.each_group_concurrency) ||
        !read_line(reply, 4, limits.each_group_rate) ||
        !read_limit(reply, 5, &limits.each_group_burst) ||
        !read_limit(reply, 6, &limits.each_group_backlog) || !read_line(reply, 7, limits.order))
        return dueq__result_malformed(NULL, error, "limits");
    dueq_result *result = dueq__result_new(&limits_type, 1, 0, error);
    if (!result)
        return NULL;
    limits.group_count = (words - BOUNDS_WORDS) / BOUNDS_EACH;
    result->limits = calloc(limits.group_count + 1, sizeof *result->limits);
    if (!result->limits)
        return dueq__result_no_memory(result, error);
    limits.groups = result->limits;
    for (size_t i = 0; i < limits.group_count; i++)
        if (!read_group_limits(reply, BOUNDS_WORDS + i * BOUNDS_EACH, &result->limits[i]))
            return dueq__result_malformed(result, error, "limits");
    memcpy(result->items->value, &limits, sizeof limits);
    return result;
}

/*
 * rates: pairs of a snapshot and timings; first the totals of now, then earlier ones, latest first
 */

const struct dueq__item_type dueq__type_rate = {sizeof(struct dueq__rate_item)};

const dueq_rate *dueq_result_rate(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &dueq__type_rate, index);
}

/*
 * A snapshot (core/scripts/lib/totals.lua): its time, a number that is not used here, and the
 * counters of a dueq_rate in their order.
 */
#define ONE(member) +1
enum { NUMBERS = 2 DUEQ_RATE_SUMS(ONE), RATED_EACH = 2 };
#undef ONE
#define MOST INT64_C(1000000000000000000)

static bool read_snapshot(const struct dueq__reply *reply, int64_t numbers[NUMBERS]) {
    dueq_bytes text, word;
    bool good = dueq__reply_bytes(reply, &text);
    for (size_t i = 0; good && i < NUMBERS; i++) {
        bool more = dueq__take_word(&text, ' ', &word);
        good = more == (i + 1 < NUMBERS) && dueq__read_number(word, -MOST, MOST, &numbers[i]);
    }
    return good && numbers[0] >= 0 && numbers[0] <= DUEQ_MAX_TIME_MS;
}

static bool read_timings(const struct dueq__reply *reply, dueq_timings *timings) {
    dueq_bytes text;
    if (!dueq__reply_bytes(reply, &text))
        return false;
    dueq__timings_read(timings, text);
    return true;
}

/* What happened between two snapshots. A counter that shrank was deleted in between: it gives 0. */
static dueq_rate difference(const int64_t later[NUMBERS], const int64_t earlier[NUMBERS]) {
    int64_t more[NUMBERS], *next = &more[2];
    for (size_t i = 0; i < NUMBERS; i++)
        more[i] = later[i] > earlier[i] ? later[i] - earlier[i] : 0;
    dueq_rate rate = {.start_ms = earlier[0], .span_ms = more[0]};
#define TAKE(member) rate.member = *next++;
    DUEQ_RATE_SUMS(TAKE)
#undef TAKE
    return rate;
}

void dueq__rate_item_times(struct dueq__rate_item *rated) {
    dueq_rate *rate = &rated->rate;
    rate->late_p50_ms = dueq__timing_quantile(&rated->timings.late, 0.5);
    rate->late_p99_ms = dueq__timing_quantile(&rated->timings.late, 0.99);
    rate->run_p50_ms = dueq__timing_quantile(&rated->timings.run, 0.5);
    rate->run_p99_ms = dueq__timing_quantile(&rated->timings.run, 0.99);
}

dueq_result *dueq__result_rated(const struct dueq__reply *reply, struct dueq__error *error) {
    size_t texts = dueq__reply_count(reply);
    int64_t later[NUMBERS], earlier[NUMBERS];
    if (texts < RATED_EACH || texts % RATED_EACH ||
        !read_snapshot(dueq__reply_item(reply, 0), later))
        return dueq__result_malformed(NULL, error, "rates");
    dueq_result *result = dueq__result_new(&dueq__type_rate, texts / RATED_EACH - 1, 0, error);
    if (!result)
        return NULL;
    result->timings = calloc(1, sizeof *result->timings);
    if (!result->timings)
        return dueq__result_no_memory(result, error);
    bool good = read_timings(dueq__reply_item(reply, 1), result->timings);
    for (size_t i = 0; good && i < result->count; i++) {
        struct dueq__rate_item *rated = result->items[i].value;
        size_t at = (i + 1) * RATED_EACH;
        good = read_snapshot(dueq__reply_item(reply, at), earlier) &&
               read_timings(dueq__reply_item(reply, at + 1), &rated->timings);
        if (good)
            rated->rate = difference(later, earlier);
        dueq__rate_item_times(rated);
        memcpy(later, earlier, sizeof later);
    }
    return good ? result : dueq__result_malformed(result, error, "rates");
}
