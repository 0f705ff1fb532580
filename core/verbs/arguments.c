#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

/* How the arguments of verbs are checked, and written to a request. */

static dueq_status check(dueq_queue *queue, const char *what, const char *unit, int64_t value,
                         int64_t least, int64_t most) {
    return dueq__ranges_check(&(struct dueq__range){what, unit, value, least, most}, 1,
                              &queue->client->error);
}

dueq_status dueq__arg_check_count(dueq_queue *queue, const void *items, size_t count) {
    return check(queue, "the number of items", NULL, items ? (int64_t)count : 0, 1, DUEQ_MAX_BATCH);
}

dueq_status dueq__arg_check_rates(dueq_queue *queue, size_t minutes, size_t hours) {
    if (minutes && hours)
        return dueq__fail(&queue->client->error, DUEQ_INVALID,
                          "rates are of minutes or of hours, not of both");
    if (hours)
        return check(queue, "the number of hours", NULL, (int64_t)hours, 1, DUEQ_MAX_HOURS);
    return check(queue, "the number of minutes", NULL, (int64_t)minutes, 1, DUEQ_MAX_RATES);
}

dueq_status dueq__arg_check_state(dueq_queue *queue, dueq_state state) {
    return check(queue, "the state", NULL, (int)state, DUEQ_READY, DUEQ_OUTBOX);
}

dueq_status dueq__arg_check_ms(dueq_queue *queue, const char *what, int64_t ms, int64_t least,
                               int64_t most) {
    return check(queue, what, " ms", ms, least, most);
}

dueq_status dueq__arg_check_retry_delay(dueq_queue *queue, int64_t delay_ms) {
    if (delay_ms == DUEQ_BY_POLICY)
        return DUEQ_OK;
    return dueq__arg_check_ms(queue, "the delay", delay_ms, 0, DUEQ_MAX_TIME_MS);
}

dueq_status dueq__arg_check_wait(dueq_queue *queue, int64_t timeout_ms) {
    if (timeout_ms == DUEQ_FOREVER)
        return DUEQ_OK;
    return dueq__arg_check_ms(queue, "the wait", timeout_ms, 0, DUEQ_MAX_TIME_MS);
}

dueq_status dueq__arg_check_ticket(dueq_queue *queue, dueq_bytes ticket,
                                   struct dueq__ticket *parts) {
    if (ticket.data && dueq__ticket_read(ticket, parts))
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "not a ticket: tickets come with reserved messages");
}

dueq_status dueq__arg_check_tickets(dueq_queue *queue, const dueq_bytes *tickets, size_t count) {
    struct dueq__ticket parts;
    dueq_status status = dueq__arg_check_count(queue, tickets, count);
    for (size_t i = 0; !status && i < count; i++)
        status = dueq__arg_check_ticket(queue, tickets[i], &parts);
    return status;
}

dueq_status dueq__arg_check_ids(dueq_queue *queue, const dueq_bytes *ids, size_t count) {
    dueq_status status = dueq__arg_check_count(queue, ids, count);
    for (size_t i = 0; !status && i < count; i++)
        status = dueq__text_check("a message's id", ids[i], DUEQ_MAX_ID, &queue->client->error);
    return status;
}

dueq_status dueq__arg_check_targets(dueq_queue *queue, const dueq_bytes *targets, size_t count,
                                    int any) {
    struct dueq__error *error = &queue->client->error;
    if (any && targets)
        return dueq__fail(error, DUEQ_INVALID, "either the named queues are allowed, or any queue");
    dueq_status status = targets ? dueq__arg_check_count(queue, targets, count) : DUEQ_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = dueq__name_check(targets[i].data, targets[i].size, error);
    return status;
}

/* Reads "N/s", "N/m" or "N/h". */
static bool is_rate(dueq_bytes rate) {
    const char *text = rate.data;
    int64_t number;
    return rate.size > 2 && text[rate.size - 2] == '/' && memchr("smh", text[rate.size - 1], 3) &&
           *text != '0' &&
           dueq__read_number((dueq_bytes){text, rate.size - 2}, 1, DUEQ_MAX_LIMIT, &number);
}

static bool is_word(dueq_bytes text, const char *word) {
    return dueq__bytes_equal(text, dueq__text(word));
}

static bool is_order(dueq_bytes order) {
    return is_word(order, "fair") || is_word(order, "fifo") || is_word(order, "strict");
}

/* The limits that an option of dueq_limit() sets: the field in the key `limits`, and its value. */
struct limit {
    const char *what;  /* in errors */
    const char *field; /* behind a dot of each group, or before a colon of one */
    int64_t number, most;
    const dueq_bytes *text; /* a rate or an order; NULL: it is a number */
};

enum { ORDER = 5, OWN, EACH = 4, LIMITS = OWN + EACH };

/*
 * The first OWN are of the queue or of the group that `options` names, the others of each group. An
 * order of the queue is that of each group, too.
 */
static void list_limits(const dueq_limit_options *options, struct limit limits[LIMITS]) {
    const struct limit listed[LIMITS] = {
        {"the concurrency", "concurrency", options->concurrency, DUEQ_MAX_LIMIT, NULL},
        {"the rate", "rate", 0, 0, &options->rate},
        {"the burst", "burst", options->burst, DUEQ_MAX_LIMIT, NULL},
        {"the backlog", "backlog", options->backlog, DUEQ_MAX_LIMIT, NULL},
        {"the weight", "weight", options->weight, DUEQ_MAX_WEIGHT, NULL},
        {"the order", "order", 0, 0, &options->order},
        {"each group's concurrency", "concurrency", options->each_group_concurrency, DUEQ_MAX_LIMIT,
         NULL},
        {"each group's rate", "rate", 0, 0, &options->each_group_rate},
        {"each group's burst", "burst", options->each_group_burst, DUEQ_MAX_LIMIT, NULL},
        {"each group's backlog", "backlog", options->each_group_backlog, DUEQ_MAX_LIMIT, NULL},
    };
    memcpy(limits, listed, sizeof listed);
}

static bool is_set(const struct limit *limit) {
    return limit->text ? limit->text->size > 0 : limit->number != DUEQ_UNCHANGED;
}

static dueq_status check_limit(dueq_queue *queue, const struct limit *limit) {
    const bool orders = !strcmp(limit->field, "order");
    if (!limit->text)
        return check(queue, limit->what, NULL, limit->number, 0, limit->most);
    if (is_word(*limit->text, "none") || (orders ? is_order(*limit->text) : is_rate(*limit->text)))
        return DUEQ_OK;
    if (orders)
        return dueq__fail(&queue->client->error, DUEQ_INVALID,
                          "%s is not fair, fifo, strict or none", limit->what);
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "%s is not like 1000/s, 100/m or 20/h, with a number from 1 to %d, or none",
                      limit->what, DUEQ_MAX_LIMIT);
}

dueq_status dueq__arg_check_limits(dueq_queue *queue, const dueq_limit_options *given) {
    struct dueq__error *error = &queue->client->error;
    dueq_limit_options options;
    struct limit limits[LIMITS];
    size_t count = 0, of_each = 0;
    dueq_status status = dueq__struct_check(given, &dueq__layout_limit_options, error);
    if (status)
        return status;
    dueq__struct_copy(&options, given, &dueq__layout_limit_options);
    list_limits(&options, limits);
    for (size_t i = 0; !status && i < LIMITS; i++) {
        status = is_set(&limits[i]) ? check_limit(queue, &limits[i]) : DUEQ_OK;
        count += is_set(&limits[i]);
        of_each += i >= OWN && is_set(&limits[i]);
    }
    if (!status && options.group.data)
        status = dueq__arg_check_group(queue, options.group);
    if (status)
        return status;
    if (options.group.data && of_each)
        return dueq__fail(error, DUEQ_INVALID,
                          "limits of each group are not limits of one: name no group");
    if (!options.group.data && options.backlog != DUEQ_UNCHANGED)
        return dueq__fail(error, DUEQ_INVALID,
                          "a backlog is of groups: name the group, or set each group's backlog");
    if (!options.group.data && options.weight != DUEQ_UNCHANGED)
        return dueq__fail(error, DUEQ_INVALID, "a weight is of one group: name the group");
    if (!count && !options.clear)
        return dueq__fail(error, DUEQ_INVALID, "name a limit, such as the concurrency or the rate");
    return DUEQ_OK;
}

void dueq__arg_put_limits(struct dueq__resp *words, const dueq_limit_options *given) {
    dueq_limit_options options;
    struct limit limits[LIMITS];
    char group[DUEQ__ESCAPED_GROUP];
    dueq__struct_copy(&options, given, &dueq__layout_limit_options);
    list_limits(&options, limits);
    dueq__resp_number(words, options.clear != 0);
    dueq__resp_bytes(words, group, dueq__group_escape(options.group, group));
    for (size_t i = 0; i < LIMITS; i++) {
        if (!is_set(&limits[i]))
            continue;
        const bool of_group = options.group.data != NULL;
        const bool of_each = i >= OWN || (i == ORDER && !of_group);
        dueq__resp_text(words, of_each ? "each" : of_group ? "g" : "");
        dueq__resp_text(words, limits[i].field);
        /* Without an order groups are fair. */
        const bool is_none = limits[i].text && (is_word(*limits[i].text, "none") ||
                                                (of_each && is_word(*limits[i].text, "fair")));
        if (!limits[i].text)
            dueq__resp_number(words, limits[i].number);
        else
            dueq__resp_bytes(words, limits[i].text->data, is_none ? 0 : limits[i].text->size);
    }
}

size_t dueq__partition_count(const dueq_queue *queue) {
    return queue->partition_count ? queue->partition_count : 1;
}

dueq_status dueq__arg_check_any_id(dueq_queue *queue, dueq_bytes id) {
    return id.size ? dueq__arg_check_ids(queue, &id, 1) : DUEQ_OK;
}

dueq_status dueq__arg_check_unpartitioned(dueq_queue *queue, const char *verb) {
    dueq_bytes name = dueq__keys_name(queue->keys);
    if (!queue->partitioned)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_INVALID,
                      "%s is for one partition: name '%.*s#0', '%.*s#1' ...", verb, (int)name.size,
                      (const char *)name.data, (int)name.size, (const char *)name.data);
}

dueq_status dueq__arg_check_cursor(dueq_queue *queue, dueq_bytes cursor) {
    const dueq_header header = {{"cursor", 6}, cursor};
    const dueq_draft draft = {.headers = &header, .header_count = 1};
    return dueq__headers_check(&draft, &queue->client->error);
}

dueq_status dueq__arg_check_filter(dueq_queue *queue, const dueq_filter *filter) {
    if (!filter)
        return DUEQ_OK;
    struct dueq__error *error = &queue->client->error;
    dueq_status status = dueq__struct_check(filter, &dueq__layout_filter, error);
    if (status)
        return status;
    const struct dueq__range ranges[] = {
        {"the filter's first time", " ms", filter->since_ms, 0, DUEQ_MAX_TIME_MS},
        {"the filter's last time", " ms", filter->until_ms, 0, DUEQ_MAX_TIME_MS}};
    return dueq__ranges_check(ranges, 2, error);
}

void dueq__arg_put(struct dueq__resp *words, const dueq_bytes *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        dueq__resp_bytes(words, items[i].data, items[i].size);
}

void dueq__arg_put_targets(struct dueq__resp *words, const dueq_bytes *targets, size_t count,
                           int any) {
    dueq__resp_text(words, any ? "any" : targets ? "only" : "");
    dueq__arg_put(words, targets, count);
}

dueq_bytes dueq__arg_cut_error(dueq_bytes text) {
    const char *bytes = text.data;
    if (text.size <= DUEQ_MAX_ERROR)
        return text;
    text.size = DUEQ_MAX_ERROR;
    while (text.size > DUEQ_MAX_ERROR - 4 && ((unsigned char)bytes[text.size] & 0xC0) == 0x80)
        text.size--;
    return text;
}

void dueq__arg_put_note(struct dueq__resp *words, dueq_bytes text) {
    text = dueq__arg_cut_error(text);
    dueq__arg_put(words, &text, 1);
}

void dueq__arg_put_process(struct dueq__resp *words) {
    char host[128], process[160];
    dueq__host_name(host, sizeof host);
    snprintf(process, sizeof process, "%s %ld", host, (long)getpid());
    dueq__resp_text(words, process);
}

dueq_status dueq__arg_check_result(dueq_queue *queue, dueq_bytes result) {
    if (result.size <= DUEQ_MAX_RESULT)
        return DUEQ_OK;
    return dueq__fail(&queue->client->error, DUEQ_TOO_LARGE,
                      "the result has %zu bytes; at most %d are allowed: the message stays leased",
                      result.size, DUEQ_MAX_RESULT);
}

void dueq__arg_put_result(struct dueq__resp *words, dueq_bytes result) {
    char *at = dueq__resp_space(words, 1 + result.size);
    if (!at)
        return;
    *at = '=';
    if (result.size)
        memcpy(at + 1, result.data, result.size);
}

void dueq__arg_put_ender(struct dueq__resp *words, const dueq_bytes *tickets, size_t count) {
    if (!dueq__tickets_are_noted(tickets, count))
        return;
    dueq__arg_put_process(words);
    dueq__resp_text(words, "");
}

void dueq__arg_put_retry_delay(struct dueq__resp *words, int64_t delay_ms) {
    dueq__resp_number(words, delay_ms);
    dueq__resp_number(words, dueq__random_below(65536)); /* of a backoff's jitter */
}

void dueq__arg_put_state(dueq_client *client, struct dueq__resp *words, dueq_state state) {
    dueq_state *kept = dueq__op_state(client, sizeof *kept);
    if (kept)
        *kept = state;
    words->failed = words->failed || !kept;
    dueq__resp_number(words, (int64_t)state);
}

void dueq__arg_put_filter(struct dueq__resp *words, const dueq_filter *filter) {
    dueq_filter wanted = DUEQ_FILTER;
    if (filter)
        dueq__struct_copy(&wanted, filter, &dueq__layout_filter);
    dueq__arg_put(words, &wanted.error, 1);
    dueq__resp_number(words, wanted.since_ms);
    dueq__resp_number(words, wanted.until_ms);
}

void dueq__arg_put_due(struct dueq__resp *words, int64_t delay_ms, int64_t at_ms) {
    char due[24] = "0";
    if (at_ms)
        snprintf(due, sizeof due, "@%lld", (long long)at_ms);
    else if (delay_ms)
        snprintf(due, sizeof due, "+%lld", (long long)delay_ms);
    dueq__resp_text(words, due);
}
