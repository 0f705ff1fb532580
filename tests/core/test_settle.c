/*
 * One round trip of a consumer: what is held is settled, and the next is reserved. And batches of
 * release and extend.
 */
#include "fixture.h"
#include "proxy.h"
#include "verbs/verbs.h"

static struct proxy proxy;

/* What the tests share */

/* The outcomes of the last settlement. */
static char settled[DUEQ_MAX_BATCH + 2];

static void note_settled(void *owner, const char *outcomes, size_t count) {
    assert_null(owner);
    assert_string_equal(settled, "");
    memcpy(settled, outcomes, count);
}

static dueq_status submit(dueq_queue *queue, const struct dueq__settlement *settlement,
                          size_t count, int64_t timeout_ms, int64_t default_lease_ms) {
    struct dueq__reserve asked = {.queues = &queue,
                                  .queue_count = 1,
                                  .terms.count = count,
                                  .terms.timeout_ms = timeout_ms,
                                  .terms.default_lease_ms = default_lease_ms};
    if (settlement)
        asked.settlement = *settlement;
    asked.settlement.on_settled = note_settled;
    memset(settled, 0, sizeof settled);
    return dueq__reserve_submit(&asked);
}

static dueq_status run(struct jobs at, const struct dueq__settlement *settlement, size_t count,
                       int64_t timeout_ms, dueq_result **result) {
    *result = NULL;
    dueq_status status = submit(at.queue, settlement, count, timeout_ms, DUEQ_DEFAULT_LEASE_MS);
    if (status != DUEQ_PENDING)
        return status;
    while (dueq_wait(at.client, -1) == DUEQ_INTERRUPTED)
        ;
    return dueq_take(at.client, result);
}

static void assert_settled(const char *digits) { assert_string_equal(settled, digits); }

static void assert_bodies(const dueq_result *result, const char *bodies) {
    assert_int_equal(dueq_result_count(result), strlen(bodies));
    for (size_t i = 0; i < strlen(bodies); i++) {
        dueq_bytes body = dueq_result_message(result, i)->body;
        assert_int_equal(body.size, 1);
        assert_memory_equal(body.data, bodies + i, 1);
    }
}

static void push_all(dueq_queue *queue, const char *bodies) {
    for (; *bodies; bodies++) {
        char body[2] = {*bodies};
        push_body(queue, body, 0, NULL);
    }
}

/* Messages of these bodies, and the tickets of those that are held. */
struct holding {
    dueq_result *result;
    dueq_bytes tickets[10];
};

static struct holding hold(struct jobs at, const char *bodies, int64_t lease_ms) {
    struct holding held;
    push_all(jobs.queue, bodies);
    assert_status(at.client, OK, dueq_reserve(at.queue, strlen(bodies), 0, lease_ms, &held.result));
    assert_bodies(held.result, bodies);
    for (size_t i = 0; i < strlen(bodies); i++)
        held.tickets[i] = dueq_result_message(held.result, i)->ticket;
    return held;
}

static struct dueq__settlement acks(const struct holding *held, size_t count) {
    return (struct dueq__settlement){.acks = held->tickets, .ack_count = count};
}

static dueq_counts counts_now(void) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    return counts;
}

static void push_draft(const char *id, const char *body, uint32_t attempts, const char *to) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES(id);
    draft.body = BYTES(body);
    draft.max_attempts = attempts;
    if (to)
        draft.dead_letter = BYTES(to);
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
}

static const dueq_message *find(dueq_queue *queue, const char *id, dueq_result **result) {
    assert_int_equal(dueq_find(queue, BYTES(id), result), DUEQ_OK);
    return dueq_result_message(*result, 0);
}

/* Outcomes */

static void test_settle_acks_and_reserves_the_next(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 0);
    dueq_result *result;
    push_all(jobs.queue, "cde");
    struct dueq__settlement settlement = acks(&held, 2);
    assert_status(jobs.client, OK, run(jobs, &settlement, 2, 0, &result));
    assert_settled("00");
    assert_bodies(result, "cd");
    dueq_counts counts = counts_now();
    assert_int_equal(counts.ready, 1);
    assert_int_equal(counts.leased, 2);
    assert_int_equal(counts.acked, 2);
    assert_int_equal(counts.reserved, 4);
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_without_a_settlement_is_a_reserve(void **state) {
    (void)state;
    struct dueq__settlement none = {0};
    dueq_result *result;
    push_all(jobs.queue, "ab");
    assert_status(jobs.client, OK, run(jobs, NULL, 1, 0, &result));
    assert_settled("");
    dueq_result_free(result);
    assert_status(jobs.client, OK, run(jobs, &none, 1, 0, &result));
    assert_bodies(result, "b");
    dueq_result_free(result);
    assert_status(jobs.client, INVALID, run(jobs, &none, 0, 0, &result));
    assert_null(result);
}

/*
 * The fast script passes on what it does not do; then the next requests go to the full one, for a
 * while.
 */
static void test_settle_in_a_busy_queue(void **state) {
    (void)state;
    struct holding held = hold(jobs, "a", 0);
    struct dueq__settlement settlement = acks(&held, 1);
    dueq_result *result = NULL, *before = held.result;
    const char *bodies = "bcdefghijklmn";
    push_all(jobs.queue, bodies);
    for (const char *at = bodies; *at; at++) {
        assert_status(jobs.client, OK, run(jobs, &settlement, 1, 0, &result));
        assert_settled("0");
        assert_int_equal(*(const char *)dueq_result_message(result, 0)->body.data, *at);
        settlement.acks = &dueq_result_message(result, 0)->ticket;
        dueq_result_free(before);
        before = result;
    }
    assert_int_equal(jobs.queue->full_left, 0);
    push_draft("mine", "o", 5, NULL);
    push_draft("other", "p", 5, "failed");
    /* One that is not plain, then nothing. */
    assert_status(jobs.client, OK, run(jobs, &settlement, 1, 0, &result));
    assert_settled("0");
    assert_bodies(result, "o");
    assert_int_equal(jobs.queue->full_left, 0);
    dueq_result_free(before);
    settlement.acks = &dueq_result_message(result, 0)->ticket;
    before = result;
    assert_status(jobs.client, OK, run(jobs, &settlement, 2, 0, &result));
    assert_settled("0");
    assert_bodies(result, "p");
    dueq_result_free(before);
    settlement.acks = &dueq_result_message(result, 0)->ticket;
    before = result;
    assert_true(jobs.queue->full_left > 0);
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 2, 0, &result));
    assert_settled("0");
    dueq_counts counts = counts_now();
    assert_int_equal(counts.acked, 16);
    assert_int_equal(counts.reserved, 16);
    assert_int_equal(counts.leased + counts.ready, 0);
    dueq_result_free(result);
    dueq_result_free(before);
}

static void test_settle_says_which_of_a_batch_were_lost(void **state) {
    (void)state;
    struct holding held = hold(jobs, "abcdefgh", 0);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, held.tickets + 2, 1, NULL));
    struct dueq__settlement settlement = acks(&held, 8);
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 1, 0, &result));
    assert_settled("00400000");
    dueq_result_free(result);
    dueq_result_free(held.result);
    /* One that is named twice, and another order. */
    held = hold(jobs, "abcd", 0);
    dueq_bytes tickets[] = {held.tickets[3], held.tickets[1], held.tickets[1], held.tickets[0],
                            held.tickets[2]};
    settlement = (struct dueq__settlement){.acks = tickets, .ack_count = 5};
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 1, 0, &result));
    assert_settled("00400");
    assert_int_equal(counts_now().acked, 12);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:msg"), 0);
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_keeps_the_outcomes_when_nothing_is_ready(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 0);
    dueq_result *result;
    struct dueq__settlement settlement = acks(&held, 1);
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 5, 0, &result));
    assert_settled("0");
    assert_bodies(result, "");
    dueq_result_free(result);
    /* Through a wait as well: its later requests settle nothing. */
    settlement.acks = held.tickets + 1;
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 5, 50, &result));
    assert_settled("0");
    assert_int_equal(counts_now().acked, 2);
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_waits_for_what_comes(void **state) {
    (void)state;
    struct holding held = hold(jobs, "a", 0);
    struct jobs other = jobs_open(server.url);
    dueq_result *result;
    struct dueq__settlement settlement = acks(&held, 1);
    assert_int_equal(submit(jobs.queue, &settlement, 1, 20000, 5000), DUEQ_PENDING);
    pump_until_blocked(jobs.client, 1);
    push_all(other.queue, "b");
    while (dueq_wait(jobs.client, -1) == DUEQ_INTERRUPTED)
        ;
    assert_status(jobs.client, OK, dueq_take(jobs.client, &result));
    assert_settled("0");
    assert_bodies(result, "b");
    /* The default lease is the call's. */
    const dueq_message *message = dueq_result_message(result, 0);
    assert_int_equal(message->time_ms - message->now_ms, 5000);
    dueq_result *found;
    char id[23];
    snprintf(id, sizeof id, "%.*s", (int)message->id.size, (const char *)message->id.data);
    assert_int_equal(find(other.queue, id, &found)->time_ms, message->time_ms);
    dueq_result_free(found);
    dueq_result_free(result);
    dueq_result_free(held.result);
    jobs_close(other);
}

static void test_settle_of_count_0_only_settles(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 0);
    dueq_result *result;
    push_all(jobs.queue, "c");
    struct dueq__settlement settlement = acks(&held, 1);
    settlement.retry = held.tickets[1];
    /* It does not wait either. */
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 0, DUEQ_FOREVER, &result));
    assert_settled("00");
    assert_bodies(result, "");
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 5, 0, 0, &result));
    assert_bodies(result, "cb");
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_says_which_leases_were_lost(void **state) {
    (void)state;
    struct holding held = hold(jobs, "abc", 0);
    dueq_result *result;
    push_all(jobs.queue, "d");
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, held.tickets + 1, 1, NULL));
    struct dueq__settlement settlement = acks(&held, 2);
    settlement.retry = held.tickets[1];
    assert_status(jobs.client, OK, run(jobs, &settlement, 1, 0, &result));
    assert_settled("044");
    assert_bodies(result, "d");
    dueq_result_free(result);
    /* One message both acknowledged and retried: the first holds. */
    settlement = acks(&held, 0);
    settlement.acks = held.tickets + 2;
    settlement.ack_count = 1;
    settlement.retry = held.tickets[2];
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 1, 0, &result));
    assert_settled("04");
    assert_int_equal(counts_now().retried, 0);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:attempts"), 0);
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_after_the_lease_counts(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 1);
    dueq_result *result;
    while (dueq__wall_ms() <= dueq_result_message(held.result, 0)->time_ms)
        run_command(&server, "PING");
    struct dueq__settlement settlement = acks(&held, 1);
    settlement.retry = held.tickets[1];
    settlement.retry_error = BYTES("late");
    assert_status(jobs.client, OK, run(jobs, &settlement, 5, 0, &result));
    assert_settled("00");
    assert_bodies(result, "b");
    assert_int_equal(dueq_result_message(result, 0)->crashes, 0);
    assert_int_equal(dueq_result_message(result, 0)->error.size, strlen("late"));
    dueq_result_free(result);
    dueq_result_free(held.result);
}

/* Without a retry it is for the fast script. */
static void test_settle_of_count_0_after_the_lease_counts(void **state) {
    (void)state;
    dueq_result *result;
    /* A queue's first are for the other one. */
    for (int i = 0; i < 20; i++) {
        struct holding one = hold(jobs, "x", 0);
        assert_status(jobs.client, OK, dueq_ack(jobs.queue, one.tickets, 1, NULL));
        dueq_result_free(one.result);
    }
    struct holding held = hold(jobs, "ab", 1);
    while (dueq__wall_ms() <= dueq_result_message(held.result, 0)->time_ms)
        run_command(&server, "PING");
    struct dueq__settlement settlement = acks(&held, 2);
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 0, 0, &result));
    assert_settled("00");
    dueq_result_free(result);
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 5, 0, 0, &result));
    dueq_result_free(result);
    dueq_result_free(held.result);
}

/* Retry */

static void test_settle_gives_a_retried_message_back_to_the_same_call(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 0);
    dueq_result *result;
    struct dueq__settlement settlement = acks(&held, 1);
    settlement.retry = held.tickets[1];
    settlement.retry_error = BYTES("it broke");
    assert_status(jobs.client, OK, run(jobs, &settlement, 5, 0, &result));
    assert_settled("00");
    assert_bodies(result, "b");
    const dueq_message *message = dueq_result_message(result, 0);
    assert_int_equal(message->attempt, 2);
    assert_int_equal(message->error.size, 8);
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_retries_with_a_delay(void **state) {
    (void)state;
    struct holding held = hold(jobs, "a", 0);
    dueq_result *result;
    struct dueq__settlement settlement = {.retry = held.tickets[0], .retry_delay_ms = 100};
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 5, 0, &result));
    assert_settled("0");
    assert_int_equal(counts_now().delayed, 1);
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 10000, 0, &result));
    assert_bodies(result, "a");
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_settle_retries_to_the_end(void **state) {
    (void)state;
    dueq_result *taken, *result, *found;
    push_draft("last", "l", 1, NULL);
    push_all(jobs.queue, "a");
    dueq_bytes ticket = reserve_one(jobs.queue, 0, 0, &taken)->ticket;
    struct dueq__settlement settlement = {
        .retry = ticket, .retry_delay_ms = DUEQ_BY_POLICY, .retry_error = BYTES("over")};
    assert_status(jobs.client, OK, run(jobs, &settlement, 5, 0, &result));
    assert_settled("5");
    assert_bodies(result, "a");
    assert_int_equal(find(jobs.queue, "last", &found)->state, DUEQ_DEAD);
    dueq_result_free(found);
    dueq_result_free(result);
    dueq_result_free(taken);
}

static void test_settle_moves_to_the_dead_letter_queue(void **state) {
    (void)state;
    struct holding held = hold(jobs, "x", 0);
    dueq_queue *failed = open_queue(jobs.client, "failed");
    dueq_result *taken, *result, *found;
    push_draft("last", "l", 1, "failed");
    push_all(jobs.queue, "a");
    dueq_bytes ticket = reserve_one(jobs.queue, 0, 0, &taken)->ticket;
    struct dueq__settlement settlement = acks(&held, 1);
    settlement.retry = ticket;
    settlement.retry_error = BYTES("over");
    assert_status(jobs.client, OK, run(jobs, &settlement, 1, 0, &result));
    assert_settled("05");
    assert_bodies(result, "a");
    assert_int_equal(find(failed, "last", &found)->state, DUEQ_READY);
    assert_int_equal(counts_now().acked, 1);
    dueq_result_free(found);
    dueq_result_free(result);
    dueq_result_free(taken);
    dueq_result_free(held.result);
    dueq_queue_close(failed);
}

static void test_settle_on_a_paused_queue(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 0);
    dueq_result *result;
    push_all(jobs.queue, "c");
    assert_status(jobs.client, OK, dueq_pause(jobs.queue));
    struct dueq__settlement settlement = acks(&held, 1);
    settlement.retry = held.tickets[1];
    assert_status(jobs.client, EMPTY, run(jobs, &settlement, 5, 0, &result));
    assert_settled("00");
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_resume(jobs.queue));
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 5, 0, 0, &result));
    assert_bodies(result, "cb");
    dueq_result_free(result);
    dueq_result_free(held.result);
}

/* Lost connections */

static void settle_cut(enum cut cut, const char *ready, const char *bodies, dueq_status expected) {
    struct jobs far = jobs_open(proxy.url);
    struct holding held = hold(far, "ab", 0);
    dueq_result *result;
    struct dueq__settlement settlement = acks(&held, 1);
    settlement.retry = held.tickets[1];
    settlement.retry_delay_ms = 60000;
    settlement.retry_error = BYTES("cut-here");
    push_all(jobs.queue, ready);
    /* Loads the scripts of both ways. */
    dueq_bytes none = BYTES("0000000000000000000000");
    struct dueq__settlement idle = {.acks = &none, .ack_count = 1};
    assert_status(far.client, EMPTY, run(far, &idle, 0, 0, &result));
    dueq_result_free(result);
    proxy_cut(&proxy, cut, "cut-here", 1);
    assert_int_equal(run(far, &settlement, 5, 0, &result), expected);
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_settled("00");
    assert_bodies(result, bodies);
    dueq_counts counts = counts_now();
    assert_int_equal(counts.acked, 1);
    assert_int_equal(counts.retried, 1);
    assert_int_equal(counts.delayed, 1);
    assert_int_equal(counts.leased, strlen(bodies));
    dueq_result_free(result);
    dueq_result_free(held.result);
    jobs_close(far);
}

static void test_settle_cut_before_the_answer_is_done_once(void **state) {
    (void)state;
    settle_cut(CUT_REQUEST, "cd", "cd", DUEQ_OK);
}

static void test_settle_cut_before_the_answer_with_nothing_ready(void **state) {
    (void)state;
    settle_cut(CUT_REQUEST, "", "", DUEQ_EMPTY);
}

static void test_settle_cut_before_the_request_is_done_once(void **state) {
    (void)state;
    settle_cut(CUT_BEFORE, "c", "c", DUEQ_OK);
}

/* Foreign keys */

static void test_settle_by_foreign_keys_does_all_or_nothing(void **state) {
    (void)state;
    static const struct {
        const char *key;
        bool retries, works;
    } rows[] = {
        {"msg", true, false},        {"leased", true, false},     {"attempts", true, false},
        {"meta", true, false},       {"delayed", true, false},    {"ready", true, false},
        {"high", true, false},       {"low", true, false},        {"dead", true, false},
        {"outbox", true, false},     {"quarantine", true, false}, {"wake", true, true},
        {"rates", true, true},       {"failures", true, true},    {"ready", false, false},
        {"high", false, false},      {"low", false, false},       {"dead", false, true},
        {"quarantine", false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_command(&server, "FLUSHALL");
        struct holding held = hold(jobs, "ab", 0);
        dueq_result *result;
        struct dueq__settlement settlement = acks(&held, 1);
        if (rows[i].retries) {
            settlement.retry = held.tickets[1];
            settlement.retry_delay_ms = 60000;
        }
        char key[64];
        snprintf(key, sizeof key, "dueq:{jobs}:%s", rows[i].key);
        /* So that the reserve looks at the lines of high and low. */
        run_command(&server, "HSET dueq:{jobs}:meta has_priorities 1");
        bool was = command_number(&server, "EXISTS %s", key) == 1;
        if (was)
            run_command(&server, "RENAME %s kept", key);
        run_command(&server, "SET %s foreign", key);
        dueq_status status = run(jobs, &settlement, 5, 0, &result);
        assert_int_equal(status, rows[i].works ? DUEQ_EMPTY : DUEQ_WRONG_TYPE);
        if (rows[i].works)
            assert_settled(rows[i].retries ? "00" : "0");
        else
            assert_null(result);
        dueq_result_free(result);
        run_command(&server, "DEL %s", key);
        if (was)
            run_command(&server, "RENAME kept %s", key);
        dueq_counts counts = counts_now();
        bool given_back = rows[i].works && rows[i].retries;
        assert_int_equal(counts.acked, rows[i].works);
        assert_int_equal(counts.leased, 2 - rows[i].works - given_back);
        assert_int_equal(counts.delayed, given_back);
        dueq_result_free(held.result);
    }
}

static void test_settle_refuses_what_is_no_settlement(void **state) {
    (void)state;
    struct holding held = hold(jobs, "a", 0);
    dueq_result *result;
    struct dueq__settlement settlement = acks(&held, DUEQ_MAX_BATCH + 1);
    assert_status(jobs.client, INVALID, run(jobs, &settlement, 1, 0, &result));
    settlement = acks(&held, 1);
    settlement.retry = BYTES("no ticket");
    assert_status(jobs.client, INVALID, run(jobs, &settlement, 1, 0, &result));
    settlement.retry = held.tickets[0];
    settlement.retry_delay_ms = -2;
    assert_status(jobs.client, INVALID, run(jobs, &settlement, 1, 0, &result));
    settlement.retry_delay_ms = 0;
    assert_status(jobs.client, INVALID, run(jobs, &settlement, DUEQ_MAX_BATCH + 1, 0, &result));
    assert_int_equal(counts_now().leased, 1);
    dueq_result_free(held.result);
}

/* Batches */

static void test_release_of_several_keeps_their_order_at_the_front(void **state) {
    (void)state;
    struct holding held = hold(jobs, "abc", 0);
    dueq_result *result;
    push_all(jobs.queue, "d");
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, held.tickets + 1, 1, NULL));
    dueq_bytes tickets[] = {held.tickets[0], held.tickets[1], held.tickets[2], held.tickets[0]};
    assert_status(jobs.client, LEASE_LOST, dueq_release(jobs.queue, tickets, 4, 0, &result));
    assert_int_equal(dueq_result_count(result), 4);
    assert_int_equal(dueq_result_status(result, 0), DUEQ_OK);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_LEASE_LOST);
    assert_int_equal(dueq_result_status(result, 2), DUEQ_OK);
    assert_int_equal(dueq_result_status(result, 3), DUEQ_LEASE_LOST);
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 5, 0, 0, &result));
    assert_bodies(result, "acd");
    assert_int_equal(dueq_result_message(result, 0)->attempt, 1);
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_release_of_several_with_a_delay(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 0);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_release(jobs.queue, held.tickets, 2, 50, NULL));
    assert_int_equal(counts_now().delayed, 2);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 5, 10000, 0, &result));
    assert_bodies(result, "ab");
    dueq_result_free(result);
    dueq_result_free(held.result);
}

static void test_extend_of_several(void **state) {
    (void)state;
    struct holding held = hold(jobs, "abc", 60000);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, held.tickets, 1, NULL));
    assert_status(jobs.client, LEASE_LOST,
                  dueq_extend(jobs.queue, held.tickets, 3, 600000, &result));
    assert_int_equal(dueq_result_status(result, 0), DUEQ_LEASE_LOST);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_OK);
    assert_int_equal(dueq_result_status(result, 2), DUEQ_OK);
    dueq_result_free(result);
    int64_t until = dueq__wall_ms() + 300000;
    assert_int_equal(
        command_number(&server, "ZCOUNT dueq:{jobs}:leased %lld +inf", (long long)until), 2);
    /* Shorter ones wake who waits for them. */
    assert_status(jobs.client, OK, dueq_extend(jobs.queue, held.tickets + 1, 2, 50, NULL));
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 5, 10000, 0, &result));
    assert_bodies(result, "b");
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 5, 10000, 0, &result));
    assert_bodies(result, "c");
    dueq_result_free(result);
    dueq_result_free(held.result);
}

/*
 * An answer is kept for the call's deadline and 5 s, whichever handle called before, and however
 * long ago.
 */
static void test_answers_are_kept_past_the_deadline(void **state) {
    (void)state;
    struct holding held = hold(jobs, "ab", 60000);
    char key[DUEQ__REPLY_KEY_SIZE];
    snprintf(key, sizeof key, "dueq:{jobs}:reply:%s", jobs.client->session);
    int64_t least = jobs.client->url.timeout_ms + 5000;
    assert_true(command_number(&server, "PTTL %s", key) > least);
    /*
     * As if most of a minute was over; a handle whose first call in this one has nothing to keep.
     */
    run_command(&server, "PEXPIRE %s 1000", key);
    dueq_queue *other = open_queue(jobs.client, "jobs");
    assert_status(jobs.client, EMPTY, dueq_reserve(other, 1, 0, 0, NULL));
    assert_status(jobs.client, OK, dueq_extend(other, held.tickets, 2, 60000, NULL));
    assert_true(command_number(&server, "PTTL %s", key) > least);
    run_command(&server, "PEXPIRE %s 1000", key);
    dueq_queue *third = open_queue(jobs.client, "jobs");
    assert_status(jobs.client, EMPTY, dueq_reserve(third, 1, 10, 0, NULL));
    assert_status(jobs.client, OK, dueq_ack(third, held.tickets, 1, NULL));
    assert_true(command_number(&server, "PTTL %s", key) > least);
    /* What the server forgot is kept anew. */
    run_command(&server, "FLUSHALL");
    assert_status(jobs.client, LEASE_LOST, dueq_ack(third, held.tickets, 1, NULL));
    assert_true(command_number(&server, "PTTL %s", key) > least);
    dueq_queue_close(other);
    dueq_queue_close(third);
    dueq_result_free(held.result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_settle_acks_and_reserves_the_next),
        TEST(test_settle_without_a_settlement_is_a_reserve),
        TEST(test_settle_in_a_busy_queue),
        TEST(test_settle_says_which_of_a_batch_were_lost),
        TEST(test_settle_keeps_the_outcomes_when_nothing_is_ready),
        TEST(test_settle_waits_for_what_comes),
        TEST(test_settle_of_count_0_only_settles),
        TEST(test_settle_says_which_leases_were_lost),
        TEST(test_settle_after_the_lease_counts),
        TEST(test_settle_of_count_0_after_the_lease_counts),
        TEST(test_settle_gives_a_retried_message_back_to_the_same_call),
        TEST(test_settle_retries_with_a_delay),
        TEST(test_settle_retries_to_the_end),
        TEST(test_settle_moves_to_the_dead_letter_queue),
        TEST(test_settle_on_a_paused_queue),
        TEST(test_settle_cut_before_the_answer_is_done_once),
        TEST(test_settle_cut_before_the_answer_with_nothing_ready),
        TEST(test_settle_cut_before_the_request_is_done_once),
        TEST(test_settle_by_foreign_keys_does_all_or_nothing),
        TEST(test_settle_refuses_what_is_no_settlement),
        TEST(test_release_of_several_keeps_their_order_at_the_front),
        TEST(test_release_of_several_with_a_delay),
        TEST(test_extend_of_several),
        TEST(test_answers_are_kept_past_the_deadline),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = run_selected(tests);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
