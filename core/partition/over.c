#include <stdio.h>
#include <stdlib.h>

#include "partition.h"

/* The verbs over all partitions: each partition is asked by a call of its own, and what they answer is put together. */

struct over {
    struct dueq__steps steps; /* first */
    struct dueq__asked asked; /* what it points to is behind, in the same allocation */
    dueq_filter filter;
    size_t at, end;                  /* the partition that is asked, and the last's next */
    dueq_bytes left[DUEQ_MAX_BATCH]; /* the items that it is asked for, */
    size_t place[DUEQ_MAX_BATCH];    /* and where the caller has them */
    size_t left_count;
    char digits[DUEQ_MAX_BATCH]; /* the outcomes, or states */
    bool states;
    size_t taken;
    dueq_counts counts;
    struct dueq__rated *rates; /* behind; the latest first */
    size_t rate_count;
    dueq_timings timings;
};

static void next(dueq_client *client, struct dueq__steps *steps) {
    struct over *over = (struct over *)(void *)steps;
    struct dueq__asked asked = over->asked;
    dueq_queue *part = dueq__parts_get(dueq__parts_of(steps->queue), over->at);
    if (asked.over == DUEQ__OVER_ITEMS) {
        asked.items = over->left;
        asked.count = over->left_count;
    }
    if (part)
        part->preview = steps->queue->preview;
    dueq__steps_submitted(client, steps, part ? asked.submit(part, &asked) : DUEQ_NO_MEMORY);
}

/* ---- Items: ids and tickets ---- */

static bool is_there(dueq_status status) {
    return status != DUEQ_NOT_FOUND && status != DUEQ_LEASE_LOST;
}

/* Keeps what this partition has, and leaves the others for the next. */
static void take_items(struct over *over, const dueq_result *result) {
    size_t left = 0;
    for (size_t i = 0; i < over->left_count; i++) {
        dueq_status status = dueq_result_status(result, i);
        dueq_state state = dueq_result_state(result, i);
        size_t place = over->place[i];
        over->states = over->states || state;
        over->digits[place] = (char)('0' + (state ? (int)state : (int)status));
        if (is_there(status))
            continue;
        over->left[left] = over->left[i];
        over->place[left++] = place;
    }
    over->left_count = left;
}

/* What was cancelled has a state; what has none was not found. */
static void answer_items(dueq_client *client, struct over *over) {
    size_t count = over->asked.count;
    for (size_t i = 0; over->states && i < over->left_count; i++)
        over->digits[over->place[i]] = '0';
    dueq_bytes digits = {over->digits, count};
    dueq_result *result = over->states ? dueq__result_states(digits, &client->error)
                                       : dueq__result_outcomes(digits, NULL, &client->error);
    dueq__steps_end(client, result, result ? dueq__result_summary(result) : client->error.status);
}

/* ---- Counts ---- */

static int64_t sooner(int64_t a, int64_t b) { return !a || (b && b < a) ? b : a; }

static void add_counts(dueq_counts *sum, const dueq_counts *counts) {
    int64_t *const fields[] = {&sum->ready,   &sum->delayed,    &sum->leased,   &sum->dead,
                               &sum->outbox,  &sum->pushed,     &sum->reserved, &sum->acked,
                               &sum->retried, &sum->expired,    &sum->died,     &sum->cancelled,
                               &sum->purged,  &sum->quarantined};
    const int64_t more[] = {
        counts->ready,  counts->delayed,   counts->leased, counts->dead,       counts->outbox,
        counts->pushed, counts->reserved,  counts->acked,  counts->retried,    counts->expired,
        counts->died,   counts->cancelled, counts->purged, counts->quarantined};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        *fields[i] += more[i];
    sum->next_ms = sooner(sum->next_ms, counts->next_ms);
    sum->oldest_ms = sooner(sum->oldest_ms, counts->oldest_ms);
    sum->now_ms = counts->now_ms;
    sum->paused = sum->paused || counts->paused;
    sum->evicting = sum->evicting || counts->evicting;
    if (!*sum->outbox_error)
        memcpy(sum->outbox_error, counts->outbox_error, sizeof sum->outbox_error);
}

/* ---- Rates ---- */

/* The minute or hour, since 1970. */
static int64_t span_of(const struct over *over, const struct dueq__rated *rated) {
    return rated->rate.start_ms / (over->asked.hours ? 3600000 : 60000);
}

static void add_rate(struct dueq__rated *total, const struct dueq__rated *rated) {
    dueq_rate *sum = &total->rate;
    const dueq_rate *rate = &rated->rate;
    /* What is not added up, should there be any, is to be thought of. */
    _Static_assert(sizeof *sum == 13 * sizeof(int64_t),
                   "a rate is a time, a span, 7 counters, and what comes of its timings");
    int64_t end = sum->start_ms + sum->span_ms, other = rate->start_ms + rate->span_ms;
    sum->start_ms = rate->start_ms < sum->start_ms ? rate->start_ms : sum->start_ms;
    sum->span_ms = (other > end ? other : end) - sum->start_ms;
    sum->pushed += rate->pushed;
    sum->reserved += rate->reserved;
    sum->acked += rate->acked;
    sum->retried += rate->retried;
    sum->expired += rate->expired;
    sum->died += rate->died;
    sum->cancelled += rate->cancelled;
    dueq__timings_add(&total->timings, &rated->timings);
}

/* The latest minutes of each are enough for the latest of all. */
static void take_rates(struct over *over, const dueq_result *result) {
    size_t most = over->asked.page + over->asked.hours, at = 0;
    dueq__timings_add(&over->timings, dueq_result_timings(result));
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const struct dueq__rated *rated = dueq__result_more(result, &dueq__kind_rate, i);
        while (at < over->rate_count && span_of(over, &over->rates[at]) > span_of(over, rated))
            at++;
        struct dueq__rated *place = &over->rates[at];
        if (at == most)
            return;
        if (at < over->rate_count && span_of(over, place) == span_of(over, rated)) {
            add_rate(place, rated);
            continue;
        }
        over->rate_count += over->rate_count < most;
        memmove(place + 1, place, (over->rate_count - at - 1) * sizeof *place);
        *place = *rated;
    }
}

static dueq_result *rated(struct over *over, struct dueq__error *error) {
    dueq_result *result = dueq__result_new(&dueq__kind_rate, over->rate_count, 0, error);
    if (!result)
        return NULL;
    result->timings = malloc(sizeof *result->timings);
    if (!result->timings) {
        dueq_result_free(result);
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return NULL;
    }
    *result->timings = over->timings;
    for (size_t i = 0; i < over->rate_count; i++) {
        dueq__rated_times(&over->rates[i]);
        memcpy(result->items[i].more, &over->rates[i], sizeof *over->rates);
    }
    return result;
}

/* ---- Pages: a cursor is the partition's number, a colon, and its own cursor ---- */

static bool read_cursor(struct over *over) {
    dueq_bytes *cursor = &over->asked.cursor;
    const char *at = cursor->data, *end = at + cursor->size;
    size_t first = over->at, partition = 0;
    if (!cursor->size)
        return true;
    while (at < end && *at >= '0' && *at <= '9' && partition < DUEQ_MAX_PARTITIONS)
        partition = 10 * partition + (size_t)(*at++ - '0');
    if (at == end || *at++ != ':' || partition < first || partition >= over->end)
        return false;
    over->at = partition;
    *cursor = (dueq_bytes){at, (size_t)(end - at)};
    return true;
}

/* Ends with this page, whose cursor goes on here, or with the next partition. */
static void answer_page(dueq_client *client, struct over *over, dueq_result *page) {
    dueq_bytes own = dueq_result_cursor(page);
    size_t partition = own.size && !page->done ? over->at : over->at + 1;
    page->queue = over->at;
    page->cursor = (dueq_bytes){0};
    if (partition < over->end) {
        page->text = malloc(own.size + 16);
        if (!page->text) {
            dueq_result_free(page);
            dueq__steps_end(client, NULL, dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL));
            return;
        }
        int size = sprintf(page->text, "%zu:", partition);
        memcpy(page->text + size, own.size ? own.data : "", own.size);
        page->cursor = (dueq_bytes){page->text, (size_t)size + own.size};
    }
    dueq__steps_end(client, page, DUEQ_OK);
}

/* ---- What a partition answered ---- */

/* All are asked: their sum. */
static void answer_sum(dueq_client *client, struct over *over, dueq_status status) {
    dueq_result *sum = over->asked.over == DUEQ__OVER_SUM
                           ? dueq__result_whole(&dueq__kind_counts, &over->counts, &client->error)
                       : over->asked.over == DUEQ__OVER_RATES
                           ? rated(over, &client->error)
                           : dueq__result_purged(over->taken, &client->error);
    dueq__steps_end(client, sum, sum ? status : client->error.status);
}

static void took(dueq_client *client, struct dueq__steps *steps, dueq_status status,
                 dueq_result *result) {
    struct over *over = (struct over *)(void *)steps;
    const dueq_counts *counts = dueq_result_counts(result);
    bool last = over->at + 1 == over->end;
    size_t taken = dueq_result_purged(result);
    over->taken += taken;
    switch (over->asked.over) {
    case DUEQ__OVER_ITEMS:
        take_items(over, result);
        last = last || over->left_count == 0;
        break;
    case DUEQ__OVER_FIRST:
        last = last || is_there(status);
        break;
    case DUEQ__OVER_SOME:
        /* There may be more in those behind. */
        status = last ? status : DUEQ_OK;
        last = last || taken;
        break;
    case DUEQ__OVER_PAGES:
        over->asked.cursor = (dueq_bytes){0};
        if (dueq_result_count(result) || dueq_result_kicked(result) ||
            dueq_result_cursor(result).size || last) {
            answer_page(client, over, result);
            return;
        }
        break;
    case DUEQ__OVER_SUM:
        if (counts)
            add_counts(&over->counts, counts);
        break;
    case DUEQ__OVER_RATES:
        take_rates(over, result);
        break;
    case DUEQ__OVER_LAST:
    case DUEQ__OVER_ALL:
        break;
    }
    if (last && (over->asked.over == DUEQ__OVER_FIRST || over->asked.over == DUEQ__OVER_LAST)) {
        if (result)
            result->queue = over->at;
        dueq__steps_end(client, result, status);
        return;
    }
    dueq_result_free(result);
    over->at++;
    if (!last)
        next(client, steps);
    else if (over->asked.over == DUEQ__OVER_ITEMS)
        answer_items(client, over);
    else
        answer_sum(client, over, status);
}

/* The number of partitions is known. */
static void first(dueq_client *client, struct dueq__steps *steps) {
    struct over *over = (struct over *)(void *)steps;
    over->end = dueq__parts_range(dueq__parts_of(steps->queue), &over->at);
    over->end += over->at;
    if (over->asked.over == DUEQ__OVER_PAGES && !read_cursor(over))
        dueq__steps_end(client, NULL,
                        dueq__fail(&client->error, DUEQ_INVALID,
                                   "not a cursor: they come with the pages of a verb"));
    else
        next(client, steps);
}

/* ---- Beginning ---- */

static void keep(char **at, dueq_bytes *bytes) {
    if (bytes->size)
        bytes->data = memcpy(*at, bytes->data, bytes->size);
    *at += bytes->size;
}

static struct over *copy(const struct dueq__asked *asked) {
    size_t rates = asked->over == DUEQ__OVER_RATES ? asked->page + asked->hours : 0;
    size_t size = asked->text.size + asked->cursor.size + rates * sizeof(struct dueq__rated);
    for (size_t i = 0; i < asked->count; i++)
        size += asked->items[i].size;
    if (asked->filter)
        size += asked->filter->error.size;
    struct over *over = calloc(1, sizeof *over + size);
    if (!over)
        return NULL;
    over->rates = (struct dueq__rated *)(void *)(over + 1);
    char *at = (char *)(over->rates + rates);
    over->asked = *asked;
    over->left_count = asked->count;
    for (size_t i = 0; i < asked->count; i++) {
        over->left[i] = asked->items[i];
        over->place[i] = i;
        keep(&at, &over->left[i]);
    }
    over->asked.items = asked->items ? over->left : NULL;
    keep(&at, &over->asked.text);
    keep(&at, &over->asked.cursor);
    if (asked->filter) {
        over->filter = *asked->filter;
        keep(&at, &over->filter.error);
        over->asked.filter = &over->filter;
    }
    return over;
}

dueq_status dueq__parts_ask(dueq_queue *queue, const struct dueq__asked *asked) {
    struct over *over = NULL;
    dueq_status status = DUEQ_OK;
    if (asked->over == DUEQ__OVER_ITEMS || asked->count)
        status = dueq__ops_check_count(queue, asked->items, asked->count);
    if (asked->over == DUEQ__OVER_RATES)
        status = dueq__ops_check_rates(queue, asked->page, asked->hours);
    if (!status)
        over = copy(asked);
    if (over)
        over->steps = (struct dueq__steps){.next = first, .took = took};
    return status ? status : dueq__steps_begin(queue, (struct dueq__steps *)(void *)over);
}
