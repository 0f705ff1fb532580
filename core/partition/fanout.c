#include <stdio.h>
#include <stdlib.h>

#include "partition.h"

/*
 * Verbs over all partitions: a call asks one partition after the other, and puts their answers
 * together.
 */

struct fanout {
    struct dueq__fanout_request asked; /* points behind this struct, in the same allocation */
    dueq_filter filter;
    dueq_limit_options limits;
    size_t partition, end;                /* the partition that is asked, and one past the last */
    size_t among;                         /* HOME: as of dueq__partitions_home() */
    bool looks;                           /* TWICE: the first round */
    dueq_bytes remaining[DUEQ_MAX_BATCH]; /* the items that no partition has had so far, */
    size_t places[DUEQ_MAX_BATCH];        /* and the index of each among the caller's items */
    size_t remaining_count;
    char digits[DUEQ_MAX_BATCH]; /* of each item its outcome, or its state if `states` */
    bool states;
    size_t purged;
    dueq_counts counts;
    struct dueq__rate_item *rates; /* behind this struct; the latest first */
    size_t rate_count;
    dueq_timings timings;
};

static void on_answer(dueq_client *client, dueq_status status, dueq_result *result);

static void ask_next(dueq_client *client) {
    struct fanout *fanout = client->op->verb;
    dueq_queue *queue = client->op->queue;
    struct dueq__fanout_request asked = fanout->asked;
    dueq_queue *handle = dueq__partitions_handle(dueq__partitions_of(queue), fanout->partition);
    struct dueq__op *step = handle ? dueq__op_child(client, on_answer) : NULL;
    if (asked.fanout == DUEQ__FANOUT_ITEMS) {
        asked.items = fanout->remaining;
        asked.count = fanout->remaining_count;
    }
    if (handle) {
        dueq_queue_preview(handle, queue->preview_bytes);
        handle->looks_only = queue->looks_only;
        handle->partition_count = dueq__partitions_of(queue)->count;
    }
    if (fanout->looks)
        asked.any = DUEQ__REMOVE_LOOKS;
    else if (asked.fanout == DUEQ__FANOUT_TWICE && asked.any)
        asked.any = dueq__partitions_of(queue)->key_size ? 1 : DUEQ__REMOVE_WHOLE;
    dueq__op_child_submitted(client, step, step ? asked.submit(handle, &asked) : DUEQ_NO_MEMORY);
}

/* Items: ids and tickets */

static bool is_there(dueq_status status) {
    return status != DUEQ_NOT_FOUND && status != DUEQ_LEASE_LOST;
}

/* Keeps the outcomes of the items that this partition has. The others remain for the next one. */
static void take_items(struct fanout *fanout, const dueq_result *result) {
    size_t left = 0;
    for (size_t i = 0; i < fanout->remaining_count; i++) {
        dueq_status status = dueq_result_status(result, i);
        dueq_state state = dueq_result_state(result, i);
        size_t place = fanout->places[i];
        fanout->states = fanout->states || state;
        fanout->digits[place] = (char)('0' + (state ? (int)state : (int)status));
        if (is_there(status))
            continue;
        fanout->remaining[left] = fanout->remaining[i];
        fanout->places[left++] = place;
    }
    fanout->remaining_count = left;
}

/* Ends the operation. An answer with states has 0 for an item that no partition had. */
static void answer_items(dueq_client *client, struct fanout *fanout) {
    size_t count = fanout->asked.count;
    for (size_t i = 0; fanout->states && i < fanout->remaining_count; i++)
        fanout->digits[fanout->places[i]] = '0';
    dueq_bytes digits = {fanout->digits, count};
    dueq_result *result = fanout->states ? dueq__result_states(digits, &client->error)
                                         : dueq__result_outcomes(digits, NULL, &client->error);
    dueq__op_end(client, result, result ? dueq__result_summary(result) : client->error.status);
}

/* Counts */

static int64_t sooner(int64_t a, int64_t b) { return !a || (b && b < a) ? b : a; }

static void add_counts(dueq_counts *sum, const dueq_counts *counts) {
#define ADD(member) sum->member += counts->member;
    DUEQ_COUNTS_SUMS(ADD)
#undef ADD
    sum->next_event_ms = sooner(sum->next_event_ms, counts->next_event_ms);
    sum->oldest_ms = sooner(sum->oldest_ms, counts->oldest_ms);
    sum->now_ms = counts->now_ms;
    sum->paused = sum->paused || counts->paused;
    sum->evicting = sum->evicting || counts->evicting;
    if (!*sum->outbox_error)
        memcpy(sum->outbox_error, counts->outbox_error, sizeof sum->outbox_error);
    if (!*sum->at_limit)
        memcpy(sum->at_limit, counts->at_limit, sizeof sum->at_limit);
}

/* Rates */

/* The number of the minute, or of the hour, since 1970. */
static int64_t span_of(const struct fanout *fanout, const struct dueq__rate_item *rated) {
    return rated->rate.start_ms / (fanout->asked.hours ? 3600000 : 60000);
}

static void add_rate(struct dueq__rate_item *total, const struct dueq__rate_item *rated) {
    dueq_rate *sum = &total->rate;
    const dueq_rate *rate = &rated->rate;
    int64_t end = sum->start_ms + sum->span_ms, other = rate->start_ms + rate->span_ms;
    sum->start_ms = rate->start_ms < sum->start_ms ? rate->start_ms : sum->start_ms;
    sum->span_ms = (other > end ? other : end) - sum->start_ms;
#define ADD(member) sum->member += rate->member;
    DUEQ_RATE_SUMS(ADD)
#undef ADD
    dueq__timings_add(&total->timings, &rated->timings);
}

/* The latest minutes of each partition are enough to find the latest of all. */
static void take_rates(struct fanout *fanout, const dueq_result *result) {
    size_t most = fanout->asked.page + fanout->asked.hours, at = 0;
    dueq__timings_add(&fanout->timings, dueq_result_timings(result));
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const struct dueq__rate_item *rated = dueq__result_item_value(result, &dueq__type_rate, i);
        while (at < fanout->rate_count &&
               span_of(fanout, &fanout->rates[at]) > span_of(fanout, rated))
            at++;
        struct dueq__rate_item *place = &fanout->rates[at];
        if (at == most)
            return;
        if (at < fanout->rate_count && span_of(fanout, place) == span_of(fanout, rated)) {
            add_rate(place, rated);
            continue;
        }
        fanout->rate_count += fanout->rate_count < most;
        memmove(place + 1, place, (fanout->rate_count - at - 1) * sizeof *place);
        *place = *rated;
    }
}

static dueq_result *rated(struct fanout *fanout, struct dueq__error *error) {
    dueq_result *result = dueq__result_new(&dueq__type_rate, fanout->rate_count, 0, error);
    if (!result)
        return NULL;
    result->timings = malloc(sizeof *result->timings);
    if (!result->timings)
        return dueq__result_no_memory(result, error);
    *result->timings = fanout->timings;
    for (size_t i = 0; i < fanout->rate_count; i++) {
        dueq__rate_item_times(&fanout->rates[i]);
        memcpy(result->items[i].value, &fanout->rates[i], sizeof *fanout->rates);
    }
    return result;
}

/* Pages: a cursor is the number of a partition, a colon, and the cursor of that partition */

static bool read_cursor(struct fanout *fanout) {
    dueq_bytes *cursor = &fanout->asked.cursor;
    const char *at = cursor->data, *end = at + cursor->size;
    size_t first = fanout->partition, partition = 0;
    if (!cursor->size)
        return true;
    while (at < end && *at >= '0' && *at <= '9' && partition < DUEQ_MAX_PARTITIONS)
        partition = 10 * partition + (size_t)(*at++ - '0');
    if (at == end || *at++ != ':' || partition < first || partition >= fanout->end)
        return false;
    fanout->partition = partition;
    *cursor = (dueq_bytes){at, (size_t)(end - at)};
    return true;
}

/* Ends the operation with this page. Its cursor goes on in this partition, or in the next one. */
static void answer_page(dueq_client *client, struct fanout *fanout, dueq_result *page) {
    dueq_bytes own = dueq_result_cursor(page);
    size_t partition = own.size && !page->queue_done ? fanout->partition : fanout->partition + 1;
    page->queue = fanout->partition;
    page->cursor = (dueq_bytes){0};
    if (partition < fanout->end) {
        page->cursor_text = malloc(own.size + 16);
        if (!page->cursor_text) {
            dueq_result_free(page);
            dueq__op_finish(client, dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL));
            return;
        }
        int size = sprintf(page->cursor_text, "%zu:", partition);
        memcpy(page->cursor_text + size, own.size ? own.data : "", own.size);
        page->cursor = (dueq_bytes){page->cursor_text, (size_t)size + own.size};
    }
    dueq__op_finish_result(client, page, DUEQ_OK);
}

/* The answer of a partition */

/* Ends the operation with the sum: all partitions have answered. */
static void answer_sum(dueq_client *client, struct fanout *fanout, dueq_status status) {
    dueq_result *sum =
        fanout->asked.fanout == DUEQ__FANOUT_SUM
            ? dueq__result_single(&dueq__type_counts, &fanout->counts, &client->error)
        : fanout->asked.fanout == DUEQ__FANOUT_RATES
            ? rated(fanout, &client->error)
            : dueq__result_purged(fanout->purged, &client->error);
    dueq__op_finish_result(client, sum, status);
}

/* True: the answer of the last partition that was asked is the answer of the call. */
static bool answers_as_last(const struct fanout *fanout) {
    enum dueq__fanout how = fanout->asked.fanout;
    return how == DUEQ__FANOUT_FIRST || how == DUEQ__FANOUT_HOME || how == DUEQ__FANOUT_LAST;
}

/* Asks the first partition of all. */
static void begin_round(dueq_client *client, bool looks) {
    struct fanout *fanout = client->op->verb;
    const struct dueq__partitions *partitions = dueq__partitions_of(client->op->queue);
    fanout->end = dueq__partitions_range(partitions, &fanout->partition);
    fanout->end += fanout->partition;
    fanout->looks = looks;
    fanout->purged = 0;
    fanout->among = partitions->count;
    if (fanout->asked.fanout == DUEQ__FANOUT_HOME)
        fanout->partition = dueq__partitions_home(fanout->asked.items[0], &fanout->among);
    if (fanout->asked.fanout == DUEQ__FANOUT_PAGES && !read_cursor(fanout))
        dueq__op_finish(client, dueq__fail(&client->error, DUEQ_INVALID,
                                           "not a cursor: they come with the pages of a verb"));
    else
        ask_next(client);
}

/* Asks the next partition. */
static void go_on(dueq_client *client) {
    struct fanout *fanout = client->op->verb;
    if (fanout->asked.fanout == DUEQ__FANOUT_HOME)
        fanout->partition = dueq__partitions_home(fanout->asked.items[0], &fanout->among);
    else
        fanout->partition++;
    ask_next(client);
}

static void on_answer(dueq_client *client, dueq_status status, dueq_result *result) {
    struct fanout *fanout = client->op->verb;
    if (dueq__op_child_failed(client, status, result))
        return;
    const dueq_counts *counts = dueq_result_counts(result);
    bool last = fanout->partition + 1 == fanout->end;
    size_t purged = dueq_result_purged(result);
    fanout->purged += purged;
    switch (fanout->asked.fanout) {
    case DUEQ__FANOUT_ITEMS:
        take_items(fanout, result);
        last = last || fanout->remaining_count == 0;
        break;
    case DUEQ__FANOUT_FIRST:
        last = last || is_there(status);
        break;
    case DUEQ__FANOUT_HOME:
        last = is_there(status) || !fanout->among;
        break;
    case DUEQ__FANOUT_SOME:
        /* OK says that there may be more, in the next partitions. */
        status = last ? status : DUEQ_OK;
        last = last || purged;
        break;
    case DUEQ__FANOUT_PAGES:
        fanout->asked.cursor = (dueq_bytes){0};
        if (dueq_result_count(result) || dueq_result_kicked(result) || purged ||
            dueq_result_cursor(result).size || last) {
            answer_page(client, fanout, result);
            return;
        }
        break;
    case DUEQ__FANOUT_SUM:
        if (counts)
            add_counts(&fanout->counts, counts);
        break;
    case DUEQ__FANOUT_RATES:
        take_rates(fanout, result);
        break;
    case DUEQ__FANOUT_LAST:
    case DUEQ__FANOUT_ALL:
    case DUEQ__FANOUT_TWICE:
        break;
    }
    if (last && answers_as_last(fanout)) {
        if (result)
            result->queue = fanout->partition;
        dueq__op_end(client, result, status);
        return;
    }
    dueq_result_free(result);
    if (last && fanout->looks)
        begin_round(client, false);
    else if (!last)
        go_on(client);
    else if (fanout->asked.fanout == DUEQ__FANOUT_ITEMS)
        answer_items(client, fanout);
    else
        answer_sum(client, fanout, status);
}

/* Called when the number of partitions is known. */
static void begin(dueq_client *client, dueq_status status, dueq_result *result) {
    struct fanout *fanout = client->op->verb;
    if (dueq__op_child_failed(client, status, result))
        return;
    begin_round(client, fanout->asked.fanout == DUEQ__FANOUT_TWICE && !fanout->asked.any);
}

/* Beginning */

void dueq__partition_keep(char **at, dueq_bytes *bytes) {
    if (bytes->size)
        bytes->data = memcpy(*at, bytes->data, bytes->size);
    *at += bytes->size;
}

static struct fanout *copy(const struct dueq__fanout_request *asked) {
    size_t rates = asked->fanout == DUEQ__FANOUT_RATES ? asked->page + asked->hours : 0;
    dueq_limit_options limits = {0};
    size_t size = asked->text.size + asked->cursor.size + rates * sizeof(struct dueq__rate_item);
    for (size_t i = 0; i < asked->count; i++)
        size += asked->items[i].size;
    if (asked->filter)
        size += asked->filter->error.size;
    if (asked->limits)
        dueq__struct_copy(&limits, asked->limits, &dueq__layout_limit_options);
    size += limits.rate.size + limits.group.size + limits.order.size + limits.each_group_rate.size;
    struct fanout *fanout = calloc(1, sizeof *fanout + size);
    if (!fanout)
        return NULL;
    fanout->rates = (struct dueq__rate_item *)(void *)(fanout + 1);
    char *at = (char *)(fanout->rates + rates);
    fanout->asked = *asked;
    fanout->counts.struct_size = sizeof fanout->counts;
    fanout->remaining_count = asked->count;
    for (size_t i = 0; i < asked->count; i++) {
        fanout->remaining[i] = asked->items[i];
        fanout->places[i] = i;
        dueq__partition_keep(&at, &fanout->remaining[i]);
    }
    fanout->asked.items = asked->items ? fanout->remaining : NULL;
    dueq__partition_keep(&at, &fanout->asked.text);
    dueq__partition_keep(&at, &fanout->asked.cursor);
    if (asked->filter) {
        dueq__struct_copy(&fanout->filter, asked->filter, &dueq__layout_filter);
        dueq__partition_keep(&at, &fanout->filter.error);
        fanout->asked.filter = &fanout->filter;
    }
    if (asked->limits) {
        fanout->limits = limits;
        dueq__partition_keep(&at, &fanout->limits.rate);
        dueq__partition_keep(&at, &fanout->limits.group);
        dueq__partition_keep(&at, &fanout->limits.order);
        dueq__partition_keep(&at, &fanout->limits.each_group_rate);
        fanout->asked.limits = &fanout->limits;
    }
    return fanout;
}

dueq_status dueq__partition_fanout(dueq_queue *queue, const struct dueq__fanout_request *asked) {
    struct fanout *fanout = NULL;
    dueq_status status = DUEQ_OK;
    if (asked->fanout == DUEQ__FANOUT_ITEMS || asked->count)
        status = dueq__arg_check_count(queue, asked->items, asked->count);
    if (asked->fanout == DUEQ__FANOUT_RATES)
        status = dueq__arg_check_rates(queue, asked->page, asked->hours);
    if (!status)
        status = dueq__arg_check_filter(queue, asked->filter);
    if (!status && asked->limits)
        status = dueq__arg_check_limits(queue, asked->limits);
    if (!status)
        fanout = copy(asked);
    return status ? status : dueq__partition_begin(queue, fanout, DUEQ__CHOOSER_NONE, begin);
}
