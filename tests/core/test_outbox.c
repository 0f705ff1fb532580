/* Messages that end in another queue: calls on two queues' keys. */
#include <unistd.h>

#include "fixture.h"
#include "proxy.h"

static struct proxy proxy;
static struct jobs cut;       /* by way of the proxy */
static dueq_queue *graves;    /* "graves" of the fixture's client */
static dueq_queue *elsewhere; /* and another queue of it */

static int set_up_other(void **state) {
    set_up_jobs(state);
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    cut = jobs_open(proxy.url);
    graves = open_queue(jobs.client, "graves");
    elsewhere = open_queue(jobs.client, "elsewhere");
    return 0;
}

static int tear_down_other(void **state) {
    dueq_queue_close(graves);
    dueq_queue_close(elsewhere);
    jobs_close(cut);
    return tear_down_jobs(state);
}

/* A draft of one attempt and one crash that ends in "graves". */
static dueq_draft mortal(const char *id) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES(id);
    draft.body = BYTES("mortal");
    draft.max_attempts = draft.max_crashes = 1;
    draft.dead_letter = BYTES("graves");
    return draft;
}

static void push(dueq_queue *queue, dueq_draft draft) {
    assert_int_equal(dueq_push(queue, &draft, 1, NULL), DUEQ_OK);
}

static int64_t existing(dueq_queue *queue) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(queue, &counts));
    return counts.ready + counts.delayed + counts.leased + counts.dead;
}

/*
 * Takes one message of the queue, asserts its id, state of attempts and error, and acknowledges it.
 */
static void expect(dueq_queue *queue, const char *id, const char *error, int64_t timeout_ms) {
    dueq_result *result;
    const dueq_message *message = reserve_one(queue, timeout_ms, 0, &result);
    assert_int_equal(message->id.size, strlen(id));
    assert_memory_equal(message->id.data, id, strlen(id));
    assert_int_equal(message->attempt, 1);
    assert_int_equal(message->crashes, 0);
    assert_int_equal(message->error.size, strlen(error));
    assert_memory_equal(message->error.data, error, strlen(error));
    assert_status(jobs.client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
}

static void test_retry_of_the_last_attempt_moves_to_the_dead_letter_queue(void **state) {
    (void)state;
    dueq_result *result;
    push(jobs.queue, mortal("m"));
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, EXHAUSTED,
                  dueq_retry(jobs.queue, message->ticket, 0, BYTES("the reason")));
    dueq_result_free(result);
    assert_int_equal(existing(jobs.queue), 0);
    expect(graves, "m", "the reason", 0);
}

static void test_bury_moves_to_the_dead_letter_queue_and_wakes_its_consumer(void **state) {
    (void)state;
    dueq_result *result;
    push(jobs.queue, mortal("m"));
    pid_t consumer = consumer_start(server.url, "graves", 20000);
    await_blocked(&server, 1);
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    int64_t start = now_ms();
    assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES("why")));
    assert_int_equal(child_end(consumer), DUEQ_OK);
    assert_true(now_ms() - start < 2000);
    assert_status(jobs.client, LEASE_LOST, dueq_bury(jobs.queue, message->ticket, BYTES("why")));
    dueq_result_free(result);
    assert_int_equal(existing(jobs.queue) + existing(graves), 0);
}

static void test_bury_of_several_dead_letter_queues_in_turn(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 4; i++) {
        dueq_draft draft = mortal(i % 2 ? "odd" : "even");
        if (i % 2)
            draft.dead_letter = BYTES("elsewhere");
        push(jobs.queue, draft);
        const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
        assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES("")));
        dueq_result_free(result);
        expect(i % 2 ? elsewhere : graves, i % 2 ? "odd" : "even", "", 0);
    }
}

static void test_bury_cut_after_it_was_applied_moves_once(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        dueq_result *result;
        push(cut.queue, mortal("m"));
        const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
        /* The words of the second request only: the first one knows of no other queue. */
        proxy_cut(&proxy, i ? CUT_BEFORE : CUT_REQUEST, "dueq:{graves}", 1);
        assert_status(cut.client, OK, dueq_bury(cut.queue, message->ticket, BYTES("cut")));
        assert_int_equal(proxy_cuts(&proxy), 1);
        dueq_result_free(result);
        assert_int_equal(existing(jobs.queue), 0);
        expect(graves, "m", "cut", 0);
        assert_int_equal(existing(graves), 0);
    }
}

/* Lets the lease of one message end. */
static void crash(void) {
    dueq_result *result;
    reserve_one(jobs.queue, 0, 1, &result);
    dueq_result_free(result);
}

static void test_reserve_moves_what_has_crashed_too_often(void **state) {
    (void)state;
    push(jobs.queue, mortal("m"));
    crash();
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 5, 500, 0, NULL));
    assert_int_equal(existing(jobs.queue), 0);
    dueq_result *result;
    const dueq_message *message = reserve_one(graves, 0, 0, &result);
    assert_memory_equal(message->id.data, "m", 1);
    assert_int_equal(message->crashes, 0);
    dueq_result_free(result);
}

static void test_reserve_moves_what_has_crashed_to_several_queues(void **state) {
    (void)state;
    static const char *const targets[] = {"graves", "elsewhere"};
    for (int i = 0; i < 6; i++) {
        char id[8];
        snprintf(id, sizeof id, "m%d", i);
        dueq_draft draft = mortal(id);
        draft.dead_letter = BYTES(targets[i % 2]);
        push(jobs.queue, draft);
    }
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 6, 0, 1, &result));
    assert_int_equal(dueq_result_count(result), 6);
    dueq_result_free(result);
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 6, 500, 0, NULL));
    assert_int_equal(existing(jobs.queue), 0);
    assert_int_equal(existing(graves), 3);
    assert_int_equal(existing(elsewhere), 3);
}

static void test_reserve_gives_messages_first_and_moves_the_crashed_at_the_next(void **state) {
    (void)state;
    dueq_result *result;
    push(jobs.queue, mortal("m"));
    crash();
    push_body(jobs.queue, "good", 0, NULL);
    push_body(jobs.queue, "better", 0, NULL);
    int found = 0;
    for (int i = 0; i < 4 && found < 2; i++) {
        if (dueq_reserve(jobs.queue, 1, 300, 0, &result) == DUEQ_OK)
            found++;
        dueq_result_free(result);
    }
    assert_int_equal(found, 2);
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 300, 0, NULL));
    assert_int_equal(existing(graves), 1);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:msg"), 2);
}

static void test_reserve_any_moves_what_has_crashed_too_often(void **state) {
    (void)state;
    dueq_queue *both[] = {jobs.queue, graves};
    dueq_result *result;
    push(jobs.queue, mortal("m"));
    crash();
    assert_status(jobs.client, OK,
                  dueq_reserve_any(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 10000), &result));
    assert_int_equal(dueq_result_queue(result), 1);
    dueq_result_free(result);
}

static void test_bury_to_a_queue_with_such_a_message_stays_dead_where_it_is(void **state) {
    (void)state;
    dueq_result *result;
    push(jobs.queue, mortal("m"));
    push(graves, mortal("m"));
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES("twice")));
    dueq_result_free(result);
    assert_int_equal(existing(graves), 1);
    assert_status(jobs.client, OK, dueq_find(jobs.queue, BYTES("m"), &result));
    assert_int_equal(dueq_result_message(result, 0)->state, DUEQ_DEAD);
    dueq_result_free(result);
}

static void test_retry_by_policy_and_release(void **state) {
    (void)state;
    dueq_result *result;
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES("m");
    draft.backoff = (dueq_backoff){.kind = DUEQ_BACKOFF_FIXED, .base_ms = 600000};
    push(jobs.queue, draft);
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_release(jobs.queue, &message->ticket, 1, 0, NULL));
    assert_status(jobs.client, LEASE_LOST, dueq_release(jobs.queue, &message->ticket, 1, 0, NULL));
    dueq_result_free(result);
    message = reserve_one(jobs.queue, 0, 0, &result);
    assert_int_equal(message->attempt, 1);
    assert_int_equal(message->deliveries, 2);
    assert_status(jobs.client, INVALID, dueq_retry(jobs.queue, message->ticket, -2, BYTES("")));
    assert_status(jobs.client, INVALID, dueq_release(jobs.queue, &message->ticket, 1, -1, NULL));
    assert_status(jobs.client, OK,
                  dueq_retry(jobs.queue, message->ticket, DUEQ_BY_POLICY, BYTES("")));
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_find(jobs.queue, BYTES("m"), &result));
    message = dueq_result_message(result, 0);
    assert_int_equal(message->state, DUEQ_DELAYED);
    assert_in_range(message->time_ms - message->now_ms, 540000, 600000);
    dueq_result_free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define OTHER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_other, tear_down_other)
        OTHER_TEST(test_retry_of_the_last_attempt_moves_to_the_dead_letter_queue),
        OTHER_TEST(test_bury_moves_to_the_dead_letter_queue_and_wakes_its_consumer),
        OTHER_TEST(test_bury_of_several_dead_letter_queues_in_turn),
        OTHER_TEST(test_bury_cut_after_it_was_applied_moves_once),
        OTHER_TEST(test_reserve_moves_what_has_crashed_too_often),
        OTHER_TEST(test_reserve_moves_what_has_crashed_to_several_queues),
        OTHER_TEST(test_reserve_gives_messages_first_and_moves_the_crashed_at_the_next),
        OTHER_TEST(test_reserve_any_moves_what_has_crashed_too_often),
        OTHER_TEST(test_bury_to_a_queue_with_such_a_message_stays_dead_where_it_is),
        OTHER_TEST(test_retry_by_policy_and_release),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = run_selected(tests);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
