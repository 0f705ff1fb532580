#include <stdio.h>
#include <string.h>

#include "partition.h"

/*
 * Doubling the number of partitions. A key of partition p then goes to p or to p + count: each new
 * partition takes over keys of one old partition. The new one stays closed until all messages that
 * were pushed to the old one before the doubling are settled.
 *
 * Two fences show that. A fence is a message whose time to live is over, which a reserve drops when
 * it comes to it. When the first fence is gone, all messages before it were delivered. The second
 * fence is pushed then. A consumer reserves from a partition only when it has settled all that it
 * had of that partition. So when the second fence is gone, those messages are settled.
 *
 * Of a queue whose messages have groups, a fence takes turns with the groups. When it is gone, all
 * that was pushed before it is in the lines of the groups. Then the groups that move are looked at:
 * the new partition opens when the old one has no ready and no leased message of them.
 */

#define OPEN '\0'
#define CLOSED '-'
#define FIRST_FENCE '1'
#define SECOND_FENCE '2'

struct growth {
    size_t count;   /* the number of partitions; 0: the queue has no partitions */
    int64_t age_ms; /* the time since the doubling; -1: never doubled */
    char states[DUEQ_MAX_PARTITIONS / 2]; /* of the upper half of the partitions */
};

static const struct dueq__item_type growth_type = {sizeof(struct growth)};

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    struct growth growth = {.age_ms = -1};
    size_t items = dueq__reply_count(reply);
    int64_t count = -1;
    dueq_bytes state;
    bool good = dueq__reply_number(dueq__reply_item(reply, 0), &count) && count >= 0 &&
                count <= DUEQ_MAX_PARTITIONS;
    growth.count = good ? (size_t)count : 0;
    if (good && count)
        good = dueq__reply_number(dueq__reply_item(reply, 1), &growth.age_ms) &&
               items - 2 == growth.count - growth.count / 2;
    /* Of an odd number, which no doubling made, the answer has one state too many. */
    for (size_t i = 0; good && i < growth.count / 2; i++) {
        good = dueq__reply_bytes(dueq__reply_item(reply, items - growth.count / 2 + i), &state) &&
               state.size <= 1;
        growth.states[i] = good && state.size ? *(const char *)state.data : OPEN;
    }
    if (good)
        dueq__op_finish_result(client, dueq__result_single(&growth_type, &growth, &client->error),
                               DUEQ_OK);
    else
        dueq__answer_unexpected(client);
}

/*
 * Asks the server to double the number if it is `from` (0: not to double), and to note a state of a
 * partition (state NULL: none). Fills in *growth. Blocks.
 */
static dueq_status ask(dueq_queue *queue, struct growth *growth, size_t from, size_t partition,
                       const char *state) {
    struct dueq__resp words;
    dueq_result *result;
    dueq_status status =
        dueq__verb_begin(queue, &dueq__script_repartition, false, 1, decode, &words);
    if (status)
        return status;
    dueq__resp_number(&words, (int64_t)from);
    if (state) {
        dueq__resp_number(&words, (int64_t)partition);
        dueq__resp_text(&words, state);
    }
    status = dueq__verb_run(queue->client, dueq__op_submit(queue->client, &words), &result);
    if (!status)
        *growth = *(const struct growth *)dueq__result_item_value(result, &growth_type, 0);
    dueq_result_free(result);
    return status;
}

static dueq_bytes fence_id(char room[64], size_t count, char number) {
    return (dueq_bytes){room, (size_t)snprintf(room, 64, "dueq:grow:%zu:%c", count, number)};
}

/* Pushes a fence, unless the partition has it already. */
static dueq_status push_fence(dueq_queue *old, dueq_bytes id) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = id;
    draft.ttl_ms = DUEQ__TTL_EXPIRED;
    draft.drop = 1;
    dueq_status status = dueq_push(old, &draft, 1, NULL);
    return status == DUEQ_DUPLICATE ? DUEQ_OK : status;
}

/* OK: messages may be before the fence. NOT_FOUND: it is gone, or was alone, and is cancelled. */
static dueq_status find_fence(dueq_queue *old, dueq_bytes id) {
    dueq_counts counts = DUEQ_COUNTS;
    dueq_status status = dueq_find(old, id, NULL);
    if (status == DUEQ_OK)
        status = dueq_stats(old, &counts);
    if (status || counts.ready > 1 || counts.leased)
        return status;
    status = dueq_cancel(old, &id, 1, NULL);
    return status < 0 ? status : DUEQ_NOT_FOUND;
}

/*
 * Whether the old partition has ready or leased messages of groups that the new one takes over.
 * OK: it has, or more leased messages than dueq_groups() counts. NOT_FOUND: it has none.
 */
static dueq_status find_moving(dueq_queue *old, size_t count, size_t place) {
    dueq_status status = DUEQ_OK;
    dueq_bytes cursor = {0};
    dueq_result *page = NULL, *next;
    bool moves = false;
    do {
        status = dueq_groups(old, cursor, DUEQ_MAX_BATCH, &next);
        dueq_result_free(page);
        page = next;
        cursor = dueq_result_cursor(page);
        for (size_t i = 0; !status && !moves && i < dueq_result_count(page); i++) {
            const dueq_group *group = dueq_result_group(page, i);
            moves = group->leased < 0 ||
                    (group->name.size && dueq_partition_for(group->name, count) == place);
        }
    } while (!status && !moves && cursor.size);
    dueq_result_free(page);
    return status || moves ? status : DUEQ_NOT_FOUND;
}

/* Gives the new partition the old one's list of allowed dead-letter queues. */
static dueq_status take_over_targets(dueq_queue *old, dueq_queue *opened) {
    dueq_bytes names[DUEQ_MAX_BATCH];
    dueq_result *result;
    dueq_status status = dueq_allow(old, NULL, 0, 0, &result);
    size_t count = dueq_result_count(result);
    for (size_t i = 0; i < count && i < DUEQ_MAX_BATCH; i++)
        names[i] = dueq_result_id(result, i);
    if (!status)
        status = dueq_allow(opened, count ? names : NULL, count, count == 0, NULL);
    dueq_result_free(result);
    return status;
}

/* What dueq_limit() takes to set a rate that was read: none, if there is none. */
static dueq_bytes rate_of(dueq_bytes rate) { return rate.size ? rate : (dueq_bytes){"none", 4}; }

static dueq_bytes rate_in(const char *rate) { return rate_of((dueq_bytes){rate, strlen(rate)}); }

/* Gives the new partition the limits of each group, and those of single groups. */
static dueq_status take_over_group_limits(dueq_queue *opened, const dueq_bounds *limits) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; !status && i < limits->group_count; i++) {
        const dueq_group_limits *group = dueq_bounds_group(limits, i);
        dueq_limit_options options = DUEQ_LIMIT;
        options.group = group->name;
        options.concurrency = group->concurrency;
        options.rate = rate_of(group->rate);
        options.burst = group->burst;
        options.backlog = group->backlog;
        options.weight = group->weight;
        options.order = group->order;
        status = dueq_limit(opened, &options);
    }
    return status;
}

/*
 * Gives the new partition the old one's limits. Of those of the queue both get their part by the
 * number of now.
 */
static dueq_status take_over_limits(dueq_queue *old, dueq_queue *opened, size_t count) {
    dueq_result *result;
    dueq_status status = dueq_limits(old, &result);
    const dueq_bounds *limits = dueq_result_limits(result);
    if (limits && (limits->concurrency || *limits->rate || limits->each_group_concurrency ||
                   *limits->each_group_rate || limits->each_group_backlog || *limits->order ||
                   limits->group_count)) {
        dueq_limit_options options = DUEQ_LIMIT;
        options.concurrency = limits->concurrency;
        options.rate = rate_in(limits->rate);
        options.burst = limits->burst;
        options.each_group_concurrency = limits->each_group_concurrency;
        options.each_group_rate = rate_in(limits->each_group_rate);
        options.each_group_burst = limits->each_group_burst;
        options.each_group_backlog = limits->each_group_backlog;
        options.order = (dueq_bytes){limits->order, strlen(limits->order)};
        old->partition_count = opened->partition_count = count;
        status = dueq_limit(opened, &options);
        if (!status)
            status = dueq_limit(old, &options);
        if (!status)
            status = take_over_group_limits(opened, limits);
    }
    dueq_result_free(result);
    return status;
}

/* Moves one new partition on by one state, if the fence of its state is gone. */
static dueq_status move_on(dueq_queue *queue, struct growth *growth, size_t place) {
    size_t half = growth->count / 2;
    dueq_queue *old = dueq__partitions_handle(dueq__partitions_of(queue), place);
    const char state = growth->states[place];
    char room[64];
    dueq_status status = old ? DUEQ_NOT_FOUND : DUEQ_NO_MEMORY;
    if (old && state != CLOSED)
        status = find_fence(old, fence_id(room, growth->count, state));
    if (old && state != CLOSED && status == DUEQ_NOT_FOUND)
        status = find_moving(old, growth->count, half + place);
    if (status != DUEQ_NOT_FOUND)
        return status;
    const char next[] = {state == CLOSED        ? FIRST_FENCE
                         : state == FIRST_FENCE ? SECOND_FENCE
                                                : OPEN,
                         '\0'};
    if (*next) {
        status = push_fence(old, fence_id(room, growth->count, *next));
    } else {
        dueq_queue *opened = dueq__partitions_handle(dueq__partitions_of(queue), half + place);
        status = opened ? take_over_targets(old, opened) : DUEQ_NO_MEMORY;
        if (!status)
            status = take_over_limits(old, opened, growth->count);
    }
    return status < 0 ? status : ask(queue, growth, 0, half + place, next);
}

dueq_status dueq_repartition(dueq_queue *queue, size_t to, size_t *closed) {
    struct dueq__error *error = &queue->client->error;
    struct growth growth = {0};
    const size_t half = to / 2;
    *closed = 0;
    if (!queue->partitioned)
        return dueq__fail(error, DUEQ_INVALID, "this queue has no partitions");
    if (to < 2 || to % 2 || to > DUEQ_MAX_PARTITIONS)
        return dueq__fail(error, DUEQ_INVALID,
                          "a queue gets an even number of partitions from 2 to %d, not %zu",
                          DUEQ_MAX_PARTITIONS, to);
    struct dueq__partitions *partitions = dueq__partitions_of(queue);
    dueq_status status = ask(queue, &growth, half, 0, NULL);
    if (!status && growth.count != to)
        return dueq__fail(error, DUEQ_INVALID,
                          "the number of partitions can be doubled, and %zu is not twice %zu", to,
                          growth.count);
    if (!status)
        status = dueq__partitions_learn(partitions, growth.count);
    bool waits = growth.age_ms < DUEQ__FRESH_MS + queue->client->url.timeout_ms;
    for (size_t i = 0; !status && i < half; i++) {
        if (!waits && growth.states[i])
            status = move_on(queue, &growth, i);
        if (!status)
            *closed += growth.states[i] != OPEN;
    }
    return status;
}
