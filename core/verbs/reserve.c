#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

/*
 * reserve takes messages under a lease, from the first of one or several queues that has any. The
 * same request may settle messages of one queue that the caller holds.
 */

/* The most reserves in a row that go to a full script without trying the fast one first. */
#define MOST_FULL 16

/* After so many answers in a row without a message whose end is noted, reserve is used again. */
#define MOST_NOTED 16

/*
 * A reserve may take ended leases at once. For this long after a failure it does not: during the
 * failure the holders may have been unable to extend their leases.
 */
#define DISTRUST_MS 10000

static void put_arguments(struct dueq__resp *words, const struct dueq__wait_terms *terms,
                          size_t count, bool keep_waiting, bool at_once, bool must_rewake,
                          int64_t place_ms) {
    /* core/scripts/reserve.lua says what they mean. */
    char flags[32] = {terms->kind == DUEQ__WAIT_ORDERED  ? 'o'
                      : terms->kind == DUEQ__WAIT_TOP_UP ? 'h'
                                                         : '-',
                      must_rewake ? 'r' : '-',
                      !keep_waiting       ? '-'
                      : terms->takes_time ? 'k'
                                          : 'w',
                      at_once ? 'e' : '-',
                      terms->lease_ms ? '-' : 'd',
                      terms->with_lateness ? 'l' : '-'};
    if (place_ms)
        snprintf(flags + 6, sizeof flags - 6, "%" PRId64,
                 place_ms == DUEQ__ANY_PLACE ? 0 : place_ms);
    dueq__resp_number(words, (int64_t)count);
    dueq__resp_number(words, terms->lease_ms ? terms->lease_ms : terms->default_lease_ms);
    dueq__resp_text(words, flags);
}

/* The fast script passes on what it cannot do, which costs a second request. */
static const struct dueq__script *choose_script(struct dueq__op *op) {
    dueq_queue *queue = op->queue;
    bool settles = dueq__op_settlement(op) != NULL;
    bool plain = !settles || op->settling.plain_acks, noted = settles && op->settling.noted_acks;
    bool history = queue->history_minute != dueq__op_minute();
    bool timed = op->wait.terms.with_lateness || history;
    if (queue->has_groups && queue->full_left == 0 && plain && !noted && !history &&
        !op->wait.only_settles)
        return &dueq__script_reserve_groups;
    /* Perhaps the queue is new, which the first call of a handle finds out. */
    if (!queue->has_groups && queue->full_left == 0 && plain && queue->history_minute) {
        if (!noted && !queue->noted_left)
            return timed ? &dueq__script_reserve_timed : &dueq__script_reserve;
        if (!timed)
            return &dueq__script_reserve_noted;
    }
    if (queue->full_left)
        queue->full_left--;
    return queue->has_groups ? &dueq__script_reserve_groups_full : &dueq__script_reserve_full;
}

static dueq_status request(dueq_client *client, bool keep_waiting, bool had_duties) {
    struct dueq__op *op = client->op;
    const struct dueq__wait_terms *terms = &op->wait.terms;
    struct dueq__resp words;
    op->request.script = choose_script(op);
    dueq__op_arguments(client, &words);
    bool failed =
        client->last_failure_ms && dueq__monotonic_ms() < client->last_failure_ms + DISTRUST_MS;
    size_t count = op->wait.only_settles ? 0 : terms->count;
    put_arguments(&words, terms, count, keep_waiting, terms->take_expired_now && !failed,
                  had_duties, op->wait.told_place_ms);
    if (!dueq__op_settlement(op))
        dueq__resp_text(&words, "0");
    return dueq__op_submit(client, &words);
}

/*
 * A reserve of no messages passes the wake token or the timekeeping on. The server does not keep
 * its answer, so its number does not matter.
 */
static void put_release(struct dueq__resp *words, int64_t place_ms) {
    dueq__resp_text(words, "0");
    dueq__resp_text(words, "1");
    dueq__resp_text(words, "0");
    put_arguments(words, &(struct dueq__wait_terms){0}, 0, false, false, true, place_ms);
    dueq__resp_text(words, "0");
}

static void build_release(dueq_client *client, const struct dueq__watch *watch,
                          struct dueq__resp *words) {
    dueq_bytes keys[DUEQ__KEY_COUNT];
    char reply_key[DUEQ__REPLY_KEY_SIZE];
    memcpy(keys, watch->queue->keys, sizeof keys);
    keys[DUEQ__KEY_REPLY] = dueq__reply_key(watch->queue, client->session, reply_key);
    dueq__script_write(words, &dueq__script_reserve_full, keys);
    put_release(words, watch->place_ms);
}

static void on_passed_on(dueq_client *client, const struct dueq__reply *reply) {
    (void)reply;
    dueq__op_finish(client, DUEQ_OK);
}

dueq_status dueq__reserve_pass_on(dueq_queue *queue, const char *session, int64_t place_ms) {
    struct dueq__resp words;
    dueq_status status = dueq__op_begin(queue, &dueq__script_reserve_full, false);
    if (status)
        return status;
    queue->client->op->decode = on_passed_on;
    dueq__op_arguments_for_session(queue->client, &words, session, 0);
    put_release(&words, place_ms);
    return dueq__op_submit(queue->client, &words);
}

/* Tells the owner the outcomes of the settlement, once. False: the script does not answer this. */
static bool take_settlement(struct dueq__op *op, const struct dueq__reply *reply) {
    struct dueq__settling *settling = &op->settling;
    size_t due = dueq__op_settlement(op) ? settling->count : 0;
    dueq_bytes digits;
    if (!dueq__reply_bytes(dueq__reply_item(reply, 6), &digits) ||
        !dueq__outcomes_are_valid(digits, due))
        return false;
    settling->done = due || settling->done;
    if (due)
        settling->on_settled(settling->owner, digits.data, due);
    return true;
}

/* The answer is read: ends the reserve, asks again, or waits. */
static void go_on(dueq_client *client) {
    const struct dueq__op *op = client->op;
    const struct dueq__wait *wait = &op->wait;
    if (wait->only_settles)
        dueq__wait_on_settled(client);
    else if (dueq__op_found(op) || op->item_count == 0 || wait->terms.kind == DUEQ__WAIT_TOP_UP)
        dueq__wait_finish(client);
    else if (wait->server_pause_us == 0 &&
             wait->watches[wait->current].duties < DUEQ__DUTY_TIMEKEEPER)
        dueq__wait_request(client, wait->current);
    else
        dueq__wait_found_nothing(client, wait->server_now_ms, wait->server_pause_us);
}

static void on_relayed(dueq_client *client, dueq_status status, dueq_result *result) {
    (void)status;
    (void)result;
    client->error = (struct dueq__error){0};
    go_on(client);
}

/*
 * The fast script has passed the request on. So the next reserves go to the full script at once:
 * one, then 2, 4 and so on, until the fast script answers again. Once a queue has had groups, all
 * reserves go to reserve_groups and reserve_groups_full, until these pass a request on.
 */
static void note_passed_on(struct dueq__op *op) {
    dueq_queue *queue = op->queue;
    const struct dueq__script *script = op->request.script;
    bool had_groups = queue->has_groups;
    queue->has_groups =
        script == &dueq__script_reserve_groups || script == &dueq__script_reserve_groups_full;
    if (script != &dueq__script_reserve_full && script != &dueq__script_reserve_groups_full)
        queue->full_streak = 0;
    if (queue->has_groups != had_groups) {
        queue->full_streak = queue->full_left = 0;
    } else if (op->request.used_next_script) {
        queue->full_streak = queue->full_streak ? 2 * queue->full_streak : 1;
        queue->full_streak = queue->full_streak < MOST_FULL ? queue->full_streak : MOST_FULL;
        queue->full_left = queue->full_streak;
    }
}

/*
 * An answer has a message whose end is noted: the next reserves use the script that can take such
 * messages.
 */
static void note_noted(const struct dueq__op *op, const dueq_result *result) {
    dueq_queue *queue = op->queue;
    bool noted = false;
    for (size_t i = 0; !noted && i < result->count; i++)
        noted = dueq__ticket_is_noted(dueq_result_message(result, i)->ticket);
    if (noted && !queue->noted_left && !queue->has_groups && op->request.used_next_script)
        queue->full_streak = queue->full_left = 0;
    queue->noted_left = noted ? MOST_NOTED : queue->noted_left - (queue->noted_left > 0);
}

/*
 * The microseconds of the server's clock within its millisecond. The server subtracts them from a
 * pause, and from -1. Other pauses are whole milliseconds.
 */
static int64_t clock_us(int64_t pause_us) {
    return pause_us < 0 ? -1 - pause_us : (1000 - pause_us % 1000) % 1000;
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    struct dueq__wait *wait = &op->wait;
    struct dueq__watch *watch = &wait->watches[wait->current];
    int64_t timekeeper;
    dueq_bytes relay;
    bool settles = dueq__op_settlement(op) != NULL;
    note_passed_on(op);
    if (!take_settlement(op, reply) ||
        !dueq__reply_number(dueq__reply_item(reply, 0), &wait->server_now_ms) ||
        !dueq__reply_number(dueq__reply_item(reply, 1), &wait->server_pause_us) ||
        wait->server_pause_us < -1000 || wait->server_pause_us > 1000 * DUEQ_MAX_TIME_MS ||
        !dueq__reply_number(dueq__reply_item(reply, 2), &timekeeper) ||
        !dueq__reply_bytes(dueq__reply_item(reply, 4), &relay)) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq_result *result = dueq__result_reserved(reply, wait->terms.lease_ms,
                                                wait->terms.default_lease_ms, &client->error);
    if (!result) {
        dueq__op_finish(client, client->error.status);
        return;
    }
    dueq__result_take_reply(result, &client->reply);
    note_noted(op, result);
    dueq__wait_keep_result(client, result);
    result->queue = watch->queue_index;
    dueq__wait_note_clock(client, 1000 * wait->server_now_ms + clock_us(wait->server_pause_us));
    /* The answer to a recall does not say whether the lost one made this client a timekeeper. */
    if (timekeeper == 1 || (wait->terms.takes_time && dueq__op_was_recalled(op)))
        watch->duties |= DUEQ__DUTY_TIMEKEEPER;
    wait->took_time = (timekeeper == 1 || timekeeper == 3) && result->count > 0;
    if (wait->took_time)
        watch->next_check_us = timekeeper == 1
                                   ? dueq__monotonic_us() + wait->server_pause_us + wait->slack_us
                                   : DUEQ__NEVER;
    watch->state = timekeeper == 0 && wait->server_pause_us > 0 ? DUEQ__WATCH_HELD_ELSEWHERE
                                                                : DUEQ__WATCH_ANSWERED;
    if (result->count > 0 || settles)
        dueq__op_note_kept_reply(client);
    op->queue->has_limits = relay.size && memchr(relay.data, 'l', relay.size);
    op->queue->limits_minute = dueq__op_minute();
    if (relay.size && *(const char *)relay.data == '1')
        dueq__relay(client, on_relayed);
    else
        go_on(client);
}

dueq_status dueq__reserve_check_queues(dueq_queue *const *queues, size_t count, dueq_order order) {
    struct dueq__error *error = &queues[0]->client->error;
    const struct dueq__range ranges[] = {
        {"the order", NULL, (int)order, DUEQ_PREFERENCE, DUEQ_ROUND_ROBIN},
        {"the number of queues", NULL, (int64_t)count, 1, DUEQ_MAX_QUEUES}};
    dueq_status status = dueq__ranges_check(ranges, 2, error);
    for (size_t i = 0; !status && i < count; i++) {
        if (!queues[i] || queues[i]->client != queues[0]->client)
            return dueq__fail(error, DUEQ_INVALID, "the queues are of different clients");
        status =
            count > 1 ? dueq__arg_check_unpartitioned(queues[i], "one of several queues") : DUEQ_OK;
        dueq_bytes name = dueq__keys_name(queues[i]->keys);
        for (size_t k = 0; !status && k < i && order != DUEQ_ROUND_ROBIN; k++)
            if (dueq__bytes_equal(name, dueq__keys_name(queues[k]->keys)))
                status = dueq__fail(error, DUEQ_INVALID, "the queue '%.*s' is named twice",
                                    (int)name.size, (const char *)name.data);
    }
    return status;
}

/* *plain: the settlement only acknowledges first deliveries, which the fast script can do. */
static dueq_status check_settlement(dueq_queue *queue, const struct dueq__settlement *settlement,
                                    bool *plain) {
    struct dueq__ticket parts;
    dueq_status status = DUEQ_OK;
    *plain = settlement->retry.size == 0;
    if (settlement->ack_count)
        status = dueq__arg_check_count(queue, settlement->acks, settlement->ack_count);
    for (size_t i = 0; !status && i < settlement->ack_count; i++) {
        status = dueq__arg_check_ticket(queue, settlement->acks[i], &parts);
        *plain = *plain && !status && parts.deliveries == 0;
    }
    if (status || !settlement->retry.size)
        return status;
    status = dueq__arg_check_ticket(queue, settlement->retry, &parts);
    return status ? status : dueq__arg_check_retry_delay(queue, settlement->retry_delay_ms);
}

/* Made from core/options.toml by core/verbs.py: the options of reserve. */
static dueq_status check_options(const dueq_reserve_options *options, struct dueq__error *error) {
    const struct dueq__range ranges[] = {
        {"the number of items", NULL, (int64_t)options->count, 1, DUEQ_MAX_BATCH},
        {"the lease", " ms", options->lease_ms, 0, UINT32_MAX}};
    return dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
}
/* The end of what was made. */

/* The lease is checked already: with the options of this reserve, or when a consumer was opened. */
static dueq_status check(const struct dueq__reserve *asked, bool settles, bool *plain) {
    dueq_queue *queue = asked->queues[0];
    dueq_status status = DUEQ_OK;
    if (!asked->are_partitions && !asked->first)
        status = dueq__reserve_check_queues(asked->queues, asked->queue_count, asked->order);
    if (!status && (asked->terms.count || !(settles || asked->known)))
        status = dueq__arg_check_count(queue, queue, asked->terms.count);
    if (!status)
        status = dueq__arg_check_wait(queue, asked->terms.timeout_ms);
    return status ? status : check_settlement(queue, &asked->settlement, plain);
}

static dueq_status put_settlement(dueq_client *client, const struct dueq__settlement *settlement) {
    struct dueq__resp words = {0};
    dueq__resp_number(&words, (int64_t)settlement->ack_count);
    dueq__arg_put(&words, settlement->acks, settlement->ack_count);
    if (settlement->retry.size) {
        dueq__arg_put(&words, &settlement->retry, 1);
        dueq__arg_put_retry_delay(&words, settlement->retry_delay_ms);
        dueq__arg_put_note(&words, settlement->retry_error);
        dueq__arg_put_process(&words);
    } else if (dueq__tickets_are_noted(settlement->acks, settlement->ack_count)) {
        for (int i = 0; i < 4; i++)
            dueq__resp_text(&words, "");
        dueq__arg_put_process(&words);
    }
    client->op->settling.on_settled = settlement->on_settled;
    client->op->settling.owner = settlement->owner;
    return dueq__op_settle(client, &words, settlement->ack_count + (settlement->retry.size > 0));
}

/*
 * True: the wait has a queue of this name already. With `known` a mark of this reserve says so,
 * because to compare each of 1,024 names with all others takes too long.
 */
static bool is_listed(const struct dueq__reserve *asked, const struct dueq__wait *wait,
                      size_t place, size_t count) {
    size_t k = asked->are_partitions || asked->order == DUEQ_PREFERENCE ? count : 0;
    dueq_bytes wake = asked->queues[place]->keys[DUEQ__KEY_WAKE];
    if (k < count && asked->first)
        return asked->known[asked->first[place]].listed == asked->queues[0]->client->round_robin;
    while (k < count && !dueq__bytes_equal(wait->watches[k].wake_key, wake))
        k++;
    return k < count;
}

/*
 * In round robin, each call begins with the next of the named queues. A queue that is named several
 * times begins several of the calls, but one call asks it once.
 */
static void put_watches(const struct dueq__reserve *asked, struct dueq__wait *wait) {
    dueq_client *client = asked->queues[0]->client;
    bool in_turn = asked->order == DUEQ_ROUND_ROBIN && asked->queue_count > 1;
    size_t turn = in_turn ? client->round_robin++ % asked->queue_count : 0, count = 0;
    int64_t now_us = dueq__monotonic_us();
    for (size_t i = 0; i < asked->queue_count; i++) {
        size_t place = (i + turn) % asked->queue_count;
        if (is_listed(asked, wait, place, count))
            continue;
        struct dueq__watch *watch = &wait->watches[count++];
        watch->queue_index = place;
        watch->queue = asked->queues[place];
        watch->wake_key = watch->queue->keys[DUEQ__KEY_WAKE];
        if (!asked->known)
            continue;
        struct dueq__known *known = &asked->known[asked->first ? asked->first[place] : place];
        watch->needs_request = !known->empty || known->next_check_us <= now_us;
        watch->next_check_us = known->empty || known->duties ? known->next_check_us : DUEQ__NEVER;
        watch->duties = known->duties;
        watch->place_ms = known->place_ms;
        *known = (struct dueq__known){.listed = client->round_robin};
    }
    wait->watch_count = count;
}

/* The index in the wait of the settlement's queue. */
static size_t settled_watch(const struct dueq__reserve *asked, const struct dueq__wait *wait) {
    size_t at = 0;
    while (asked->first && at < wait->watch_count &&
           asked->first[wait->watches[at].queue_index] != asked->first[asked->settled_queue])
        at++;
    return at;
}

void dueq__reserve_learn(const dueq_client *client, struct dueq__known *known,
                         const size_t *first) {
    const struct dueq__op *op = client->op;
    const struct dueq__wait *wait = &op->wait;
    for (size_t i = 0; op->status >= 0 && i < wait->watch_count; i++) {
        const struct dueq__watch *watch = &wait->watches[i];
        struct dueq__known *of = &known[first ? first[watch->queue_index] : watch->queue_index];
        /* The wait gave the timekeeping back, so the next reserve asks this queue again. */
        bool given_up = wait->terms.kind != DUEQ__WAIT_ORDERED && !wait->terms.keeps_time &&
                        !wait->took_time && watch->next_check_us != DUEQ__NEVER;
        of->empty = !watch->needs_request && watch->state == DUEQ__WATCH_ANSWERED && !given_up &&
                    (wait->took_time || !(dueq__op_found(op) && i == wait->current));
        of->next_check_us = watch->next_check_us;
        of->duties = watch->duties;
        of->place_ms = watch->place_ms;
    }
}

dueq_status dueq__reserve_submit(const struct dueq__reserve *asked) {
    if (asked->queue_count == 1 && asked->queues[0]->partitioned)
        return asked->queues[0]->partitioned->reserve(asked->queues[0], asked);
    dueq_client *client = asked->queues[0]->client;
    bool settles = asked->settlement.ack_count || asked->settlement.retry.size, plain;
    struct dueq__wait_terms terms = asked->terms;
    terms.request = request;
    terms.decode = decode;
    terms.build_release = build_release;
    terms.looks = asked->first != NULL;
    if (!terms.count)
        terms.timeout_ms = 0;
    dueq__client_check_fork(client);
    dueq_status status = check(asked, settles, &plain);
    if (!status)
        status =
            dueq__wait_begin(asked->queues[0], &dueq__script_reserve, asked->queue_count, &terms);
    if (!status && settles)
        status = put_settlement(client, &asked->settlement);
    if (status)
        return status;
    client->op->settling.plain_acks = plain;
    client->op->settling.noted_acks =
        dueq__tickets_are_noted(asked->settlement.acks, asked->settlement.ack_count);
    put_watches(asked, &client->op->wait);
    client->op->settling.watch = settled_watch(asked, &client->op->wait);
    return dueq__wait_start(client);
}

static dueq_status reserve(dueq_queue *const *queues, size_t queue_count,
                           const dueq_reserve_options *options) {
    dueq_status status = check_options(options, &queues[0]->client->error);
    if (status)
        return status;
    return dueq__reserve_submit(
        &(struct dueq__reserve){.queues = queues,
                                .queue_count = queue_count,
                                .order = options->order,
                                .terms.count = options->count,
                                .terms.timeout_ms = options->timeout_ms,
                                .terms.lease_ms = options->lease_ms,
                                .terms.default_lease_ms = DUEQ_DEFAULT_LEASE_MS,
                                .terms.take_expired_now = true});
}

dueq_status dueq_reserve_any_submit(dueq_queue *const *queues, size_t queue_count,
                                    const dueq_reserve_options *given) {
    dueq_reserve_options options;
    if (!queues || queue_count == 0 || !queues[0])
        return DUEQ_INVALID;
    dueq_status status =
        dueq__struct_check(given, &dueq__layout_reserve_options, &queues[0]->client->error);
    if (status)
        return status;
    dueq__struct_copy(&options, given, &dueq__layout_reserve_options);
    return reserve(queues, queue_count, &options);
}

dueq_status dueq_reserve_submit(dueq_queue *queue, size_t count, int64_t timeout_ms,
                                int64_t lease_ms) {
    dueq_reserve_options options = DUEQ_RESERVE;
    options.count = count;
    options.timeout_ms = timeout_ms;
    options.lease_ms = lease_ms;
    return queue ? reserve(&queue, 1, &options) : DUEQ_INVALID;
}
