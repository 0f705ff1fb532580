#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"

/*
 * The steps of a delayed message's life, each by itself, by dueq and by bare commands, in calls of
 * `batch`. What a step needs is made first; then the driver says that it is ready, and waits for a
 * line on stdin while run.py reads the server's counters; and once more when the step is over,
 * before it disconnects.
 */

#define NAME "life"
#define PREPARED 100 /* messages of one call of the preparation */
#define GROUPS 1000
#define HOUR_MS 3600000
#define SOON_MS 300
/* From the preparation until the first falls due: for who reads the counters. */
#define LEAD_MS 2000

struct life {
    size_t batch, count;
    struct link link;
    dueq_consumer *consumer;
    dueq_draft drafts[PREPARED];
    char groups[GROUPS][8];
    size_t group; /* of the next message */
    bool has_groups;
    bool are_new; /* each message is the first of its group */
    char (*ids)[32];
    struct bare bare;
    char limit[24], stop[24];
    int64_t base_ms; /* when the first falls due */
    int64_t gap_us;  /* between two that fall due */
    size_t behind;   /* messages that came to the consumer when the next one was due already */
};

struct step {
    const char *name;
    void (*prepare)(struct life *life);
    void (*run)(struct life *life);
    int64_t gap_us;
};

static int64_t wall_ms(void) { return (int64_t)(now_us(CLOCK_REALTIME) / 1000); }

static void sleep_until(int64_t ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL))
        ;
}

static size_t at_most(size_t most, size_t done, size_t count) {
    return count - done < most ? count - done : most;
}

/* When a message falls due that falls due after `number` others. */
static int64_t due_ms(const struct life *life, size_t number) {
    return life->base_ms + (int64_t)number * life->gap_us / 1000;
}

/* By dueq */

static void name_groups(struct life *life, size_t count) {
    for (size_t i = 0; life->has_groups && i < count; i++) {
        char *name = life->groups[life->group % GROUPS];
        if (life->are_new)
            snprintf(name, sizeof *life->groups, "g%u", (unsigned)life->group % 1000000);
        life->group++;
        life->drafts[i].group = (dueq_bytes){name, strlen(name)};
    }
}

static void push_all(struct life *life, size_t batch, int64_t delay_ms) {
    for (size_t i = 0; i < PREPARED; i++)
        life->drafts[i].delay_ms = delay_ms;
    for (size_t done = 0; done < life->count; done += batch) {
        name_groups(life, batch);
        must(life->link.client,
             dueq_push(life->link.queue, life->drafts, at_most(batch, done, life->count), NULL));
    }
}

static void push_delayed(struct life *life) { push_all(life, life->batch, HOUR_MS); }
static void push_ready(struct life *life) { push_all(life, life->batch, 0); }

static void work_off(struct life *life, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const dueq_message *message;
        must(life->link.client, dueq_consumer_next(life->consumer, 60000, &message, NULL));
        must(life->link.client, dueq_consumer_ack(life->consumer, message->ticket));
    }
    must(life->link.client, dueq_consumer_stop(life->consumer));
}

static void consume(struct life *life) { work_off(life, life->count); }

/*
 * As they fall due. A consumer that takes one message at a time and keeps up gets each message
 * before the next one falls due.
 */
static void consume_falling(struct life *life) {
    for (size_t i = 0; i < life->count; i++) {
        const dueq_message *message;
        must(life->link.client, dueq_consumer_next(life->consumer, 60000, &message, NULL));
        life->behind += i + 1 < life->count && wall_ms() >= due_ms(life, i + 1);
        must(life->link.client, dueq_consumer_ack(life->consumer, message->ticket));
    }
    must(life->link.client, dueq_consumer_stop(life->consumer));
}

/* Without a consumer: a call for each batch, and one that settles each message. */
static void reserve_and_settle(struct life *life, bool retries) {
    for (size_t done = 0; done < life->count;) {
        dueq_result *result;
        must(life->link.client,
             dueq_reserve(life->link.queue, life->batch, 10000, LEASE_MS, &result));
        size_t some = dueq_result_count(result);
        for (size_t i = 0; i < some; i++) {
            const dueq_bytes ticket = dueq_result_message(result, i)->ticket;
            must(life->link.client,
                 retries ? dueq_retry(life->link.queue, ticket, HOUR_MS, (dueq_bytes){"error", 5})
                         : dueq_ack(life->link.queue, &ticket, 1, NULL));
        }
        dueq_result_free(result);
        done += some;
    }
}

static void reserve_and_ack(struct life *life) { reserve_and_settle(life, false); }
static void reserve_and_retry(struct life *life) { reserve_and_settle(life, true); }

/*
 * A consumer, with its heartbeat, that has worked already: the first calls of a session are not
 * counted.
 */
static void open_consumer(struct life *life) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.prefetch = life->batch;
    must(life->link.client, dueq_consumer_open(&life->link.queue, 1, &options, &life->consumer));
    must(life->link.client, dueq_push(life->link.queue, life->drafts, life->batch, NULL));
    work_off(life, life->batch);
}

/* The same of the calls by themselves. */
static void warm_up_calls(struct life *life) {
    size_t count = life->count;
    life->count = life->batch;
    push_all(life, life->batch, 0);
    reserve_and_ack(life);
    life->count = count;
}

static void push_due(struct life *life) {
    push_all(life, PREPARED, SOON_MS);
    sleep_until(wall_ms() + SOON_MS + 50);
}

static void prepare_due(struct life *life) {
    open_consumer(life);
    push_due(life);
}

static void prepare_due_calls(struct life *life) {
    warm_up_calls(life);
    push_due(life);
}

static void prepare_ready(struct life *life) {
    open_consumer(life);
    push_all(life, PREPARED, 0);
}

static void prepare_ready_calls(struct life *life) {
    warm_up_calls(life);
    push_all(life, PREPARED, 0);
}

static void prepare_falling(struct life *life) {
    open_consumer(life);
    life->base_ms = wall_ms() + LEAD_MS;
    for (size_t done = 0; done < life->count; done += PREPARED) {
        size_t some = at_most(PREPARED, done, life->count);
        for (size_t i = 0; i < some; i++)
            life->drafts[i].at_ms = due_ms(life, done + i);
        name_groups(life, some);
        must(life->link.client, dueq_push(life->link.queue, life->drafts, some, NULL));
    }
}

/* One message at a time, each with an id of its own, and else as `draft`. */
static void push_own(struct life *life, dueq_draft draft) {
    for (size_t i = 0; i < life->count; i++) {
        draft.id = (dueq_bytes){life->ids[i], strlen(life->ids[i])};
        must(life->link.client, dueq_push(life->link.queue, &draft, 1, NULL));
    }
}

static void make_ids(struct life *life) {
    life->ids = must_allocate(life->count, sizeof *life->ids);
    for (size_t i = 0; i < life->count; i++)
        snprintf(life->ids[i], sizeof life->ids[i], "order-%zu", i);
}

static dueq_draft draft_for(const struct life *life, int64_t delay_ms) {
    dueq_draft draft = life->drafts[0];
    draft.delay_ms = delay_ms;
    return draft;
}

static void push_own_delayed(struct life *life) { push_own(life, draft_for(life, HOUR_MS)); }
static void push_own_ready(struct life *life) { push_own(life, draft_for(life, 0)); }

static void push_unique(struct life *life) {
    dueq_draft draft = draft_for(life, HOUR_MS);
    draft.unique_ms = HOUR_MS;
    push_own(life, draft);
}

static void push_replacing(struct life *life) {
    dueq_draft draft = draft_for(life, HOUR_MS);
    draft.replace = DUEQ_REPLACE;
    push_own(life, draft);
}

static void prepare_own(struct life *life) {
    make_ids(life);
    push_own_delayed(life);
}

static void cancel(struct life *life) {
    for (size_t i = 0; i < life->count; i++) {
        const dueq_bytes id = {life->ids[i], strlen(life->ids[i])};
        must(life->link.client, dueq_cancel(life->link.queue, &id, 1, NULL));
    }
}

static void reschedule(struct life *life) {
    for (size_t i = 0; i < life->count; i++) {
        const dueq_bytes id = {life->ids[i], strlen(life->ids[i])};
        must(life->link.client, dueq_reschedule(life->link.queue, id, 2 * HOUR_MS, 0));
    }
}

/* The script is loaded, and the first calls of a session are made, before anything is counted. */
static void prepare_push(struct life *life) {
    size_t count = life->count;
    life->count = 2 * life->batch;
    push_delayed(life);
    push_ready(life);
    life->count = count;
}

static void make_groups(struct life *life) {
    for (size_t i = 0; i < GROUPS; i++)
        snprintf(life->groups[i], sizeof life->groups[i], "g%zu", i);
    life->has_groups = true;
    name_groups(life, PREPARED);
}

/* A push puts its ticket into an empty line. */
static void prepare_push_new_groups(struct life *life) {
    size_t count = life->count;
    life->has_groups = life->are_new = true;
    life->count = PREPARED;
    push_all(life, life->batch, 0);
    life->count = count;
}

/* In each line a message waits already. */
static void prepare_push_groups(struct life *life) {
    make_groups(life);
    push_all(life, PREPARED, 0);
}

static void prepare_groups(struct life *life) {
    make_groups(life);
    prepare_ready(life);
}

static void prepare_groups_due(struct life *life) {
    make_groups(life);
    prepare_due(life);
}

static void prepare_groups_falling(struct life *life) {
    make_groups(life);
    prepare_falling(life);
}

static void prepare_groups_calls(struct life *life) {
    make_groups(life);
    prepare_ready_calls(life);
}

/* One message of a group at a time. */
static void limit_groups(struct life *life, const char *order) {
    dueq_limit_options options = DUEQ_LIMIT;
    options.order = (dueq_bytes){order, strlen(order)};
    must(life->link.client, dueq_limit(life->link.queue, &options));
}

static void prepare_fifo(struct life *life) {
    limit_groups(life, "fifo");
    prepare_groups(life);
}

static void prepare_fifo_calls(struct life *life) {
    limit_groups(life, "fifo");
    prepare_groups_calls(life);
}

static void prepare_strict(struct life *life) {
    limit_groups(life, "strict");
    prepare_groups(life);
}

static void prepare_strict_calls(struct life *life) {
    limit_groups(life, "strict");
    prepare_groups_calls(life);
}

/* As prepare_push, of one push with an id of its own. */
static void prepare_push_own(struct life *life) {
    size_t count = life->count;
    make_ids(life);
    prepare_push(life);
    life->count = 1;
    push_own_delayed(life);
    cancel(life);
    push_own_ready(life);
    cancel(life);
    life->count = count;
}

static void prepare_cancel(struct life *life) {
    prepare_own(life);
    const dueq_bytes id = {"order-0", strlen("order-0")};
    dueq_draft draft = life->drafts[0];
    must(life->link.client, dueq_cancel(life->link.queue, &id, 1, NULL));
    draft.id = id;
    draft.delay_ms = HOUR_MS;
    must(life->link.client, dueq_push(life->link.queue, &draft, 1, NULL));
}

static void prepare_reschedule(struct life *life) {
    prepare_own(life);
    const dueq_bytes id = {"order-0", strlen("order-0")};
    must(life->link.client, dueq_reschedule(life->link.queue, id, HOUR_MS, 0));
}

/* Bare */

static void bare_delay(struct life *life, size_t first, size_t count, bool update) {
    bare_verb(&life->bare, "ZADD", BARE_DELAYED);
    if (update) {
        bare_text(&life->bare, "XX");
        bare_text(&life->bare, "CH");
    }
    for (size_t i = 0; i < count; i++) {
        bare_text(&life->bare, update ? life->stop : life->limit);
        bare_word(&life->bare, bare_ticket(&life->bare, first + i, '0'), TICKET_SIZE);
    }
    bare_append(&life->bare);
}

static void bare_push_all(struct life *life, size_t batch, bool delayed) {
    for (size_t done = 0; done < life->count; done += batch) {
        size_t some = at_most(batch, done, life->count);
        bare_envelopes(&life->bare, done, some);
        if (delayed) {
            bare_delay(life, done, some, false);
        } else {
            bare_verb(&life->bare, "RPUSH", BARE_READY);
            bare_tickets(&life->bare, done, some, '0');
            bare_append(&life->bare);
        }
        bare_number(&life->bare);
        bare_number(&life->bare);
    }
}

static void bare_push_delayed(struct life *life) { bare_push_all(life, life->batch, true); }
static void bare_push_ready(struct life *life) { bare_push_all(life, life->batch, false); }
static void bare_prepare_due(struct life *life) { bare_push_all(life, PREPARED, true); }
static void bare_prepare_ready(struct life *life) { bare_push_all(life, PREPARED, false); }
static void bare_prepare_nothing(struct life *life) { (void)life; }

/* What is due moves to the leases, and is read; then it is acknowledged. */
static void bare_deliver(struct life *life, size_t first, size_t count) {
    char most[24];
    snprintf(most, sizeof most, "%zu", count);
    bare_verb(&life->bare, "ZRANGEBYSCORE", BARE_DELAYED);
    bare_text(&life->bare, "0");
    bare_text(&life->bare, life->limit);
    bare_text(&life->bare, "LIMIT");
    bare_text(&life->bare, "0");
    bare_text(&life->bare, most);
    bare_append(&life->bare);
    bare_verb(&life->bare, "ZREM", BARE_DELAYED);
    bare_tickets(&life->bare, first, count, '0');
    bare_append(&life->bare);
    bare_lease(&life->bare, first, count, life->stop);
    bare_list(&life->bare, count);
    bare_number(&life->bare);
    bare_number(&life->bare);
    bare_list(&life->bare, count);
    bare_ack(&life->bare, first, count);
}

static void bare_due(struct life *life) {
    for (size_t done = 0; done < life->count; done += life->batch)
        bare_deliver(life, done, at_most(life->batch, done, life->count));
}

static void bare_falling(struct life *life) {
    life->base_ms = wall_ms();
    for (size_t done = 0; done < life->count; done += life->batch) {
        size_t some = at_most(life->batch, done, life->count);
        sleep_until(due_ms(life, done + some - 1));
        bare_deliver(life, done, some);
    }
}

static void bare_consume(struct life *life) {
    for (size_t done = 0; done < life->count; done += life->batch) {
        size_t some = at_most(life->batch, done, life->count);
        char most[24];
        snprintf(most, sizeof most, "%zu", some);
        bare_verb(&life->bare, "LPOP", BARE_READY);
        bare_text(&life->bare, most);
        bare_append(&life->bare);
        bare_lease(&life->bare, done, some, life->stop);
        bare_list(&life->bare, some);
        bare_number(&life->bare);
        bare_list(&life->bare, some);
        bare_ack(&life->bare, done, some);
    }
}

static void bare_cancel(struct life *life) {
    for (size_t i = 0; i < life->count; i++) {
        bare_verb(&life->bare, "ZREM", BARE_DELAYED);
        bare_tickets(&life->bare, i, 1, '0');
        bare_append(&life->bare);
        bare_verb(&life->bare, "HDEL", BARE_MESSAGES);
        bare_ids(&life->bare, i, 1);
        bare_append(&life->bare);
        bare_number(&life->bare);
        bare_number(&life->bare);
    }
}

static void bare_reschedule(struct life *life) {
    for (size_t i = 0; i < life->count; i++) {
        bare_delay(life, i, 1, true);
        bare_number(&life->bare);
    }
}

/* All */

static const struct step by_dueq[] = {
    {"push", prepare_push, push_delayed, 0},
    {"due", prepare_due, consume, 0},
    {"due-calls", prepare_due_calls, reserve_and_ack, 0},
    {"falling-50", prepare_falling, consume_falling, 20000},
    {"falling-500", prepare_falling, consume_falling, 2000},
    {"falling-2000", prepare_falling, consume_falling, 500},
    {"cancel", prepare_cancel, cancel, 0},
    {"reschedule", prepare_reschedule, reschedule, 0},
    {"push-ready", prepare_push, push_ready, 0},
    {"push-own", prepare_push_own, push_own_delayed, 0},
    {"push-own-ready", prepare_push_own, push_own_ready, 0},
    {"push-unique", prepare_push_own, push_unique, 0},
    {"push-replace", prepare_own, push_replacing, 0},
    {"ready", prepare_ready, consume, 0},
    {"ready-calls", prepare_ready_calls, reserve_and_ack, 0},
    {"ready-retry", prepare_ready_calls, reserve_and_retry, 0},
    {"push-groups", prepare_push_groups, push_ready, 0},
    {"push-new-groups", prepare_push_new_groups, push_ready, 0},
    {"push-groups-delayed", prepare_push_groups, push_delayed, 0},
    {"groups", prepare_groups, consume, 0},
    {"groups-due", prepare_groups_due, consume, 0},
    {"groups-falling-50", prepare_groups_falling, consume_falling, 20000},
    {"groups-calls", prepare_groups_calls, reserve_and_ack, 0},
    {"fifo", prepare_fifo, consume, 0},
    {"fifo-calls", prepare_fifo_calls, reserve_and_ack, 0},
    {"strict", prepare_strict, consume, 0},
    {"strict-calls", prepare_strict_calls, reserve_and_ack, 0},
};
static const struct step by_hand[] = {
    {"push", bare_prepare_nothing, bare_push_delayed, 0},
    {"due", bare_prepare_due, bare_due, 0},
    {"falling-50", bare_prepare_due, bare_falling, 20000},
    {"falling-500", bare_prepare_due, bare_falling, 2000},
    {"cancel", bare_prepare_due, bare_cancel, 0},
    {"reschedule", bare_prepare_due, bare_reschedule, 0},
    {"push-ready", bare_prepare_nothing, bare_push_ready, 0},
    {"ready", bare_prepare_ready, bare_consume, 0},
};

static const struct step *find_step(bool bare, const char *name) {
    const struct step *steps = bare ? by_hand : by_dueq;
    size_t count = bare ? sizeof by_hand / sizeof *by_hand : sizeof by_dueq / sizeof *by_dueq;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(steps[i].name, name))
            return &steps[i];
    die("there is no step '%s' %s", name, bare ? "of bare commands" : "of dueq");
}

void measure_life(const char *socket, bool bare, const char *name, size_t batch, size_t count) {
    static const char body[BODY_SIZE];
    const struct step *step = find_step(bare, name);
    if (batch > PREPARED)
        die("a call has at most %d messages", PREPARED);
    struct life *life = must_allocate(1, sizeof *life);
    life->batch = batch;
    life->count = count;
    life->gap_us = step->gap_us;
    redisContext *control = bare_open(socket);
    freeReplyObject(bare_command(control, "FLUSHALL SYNC"));
    redisFree(control);
    if (bare) {
        life->bare = bare_begin(socket, count, PREPARED);
        snprintf(life->limit, sizeof life->limit, "%lld", (long long)wall_ms());
        snprintf(life->stop, sizeof life->stop, "%lld", (long long)wall_ms() + LEASE_MS);
    } else {
        life->link = link_open(socket, NAME);
        for (size_t i = 0; i < PREPARED; i++) {
            life->drafts[i] = (dueq_draft)DUEQ_DRAFT;
            life->drafts[i].body = (dueq_bytes){body, sizeof body};
        }
    }
    step->prepare(life);
    printf("{\"ready\": true}\n");
    fflush(stdout);
    if (getchar() == EOF)
        die("nobody counts");
    if (life->base_ms && wall_ms() > life->base_ms)
        die("the first message was due before the count began");
    double begin = now_us(CLOCK_MONOTONIC);
    step->run(life);
    printf("{\"count\": %zu, \"behind\": %zu, \"seconds\": %.6f}\n", count, life->behind,
           (now_us(CLOCK_MONOTONIC) - begin) / 1e6);
    fflush(stdout);
    getchar();
}
