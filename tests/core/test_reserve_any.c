/* One wait for several queues: which is asked first, what wakes it, and what it leaves behind. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static struct jobs other;    /* a client beside the one that waits, and its queue "jobs" */
static dueq_queue *queue[3]; /* "a", "b", "c" of the fixture's client */
static dueq_queue *beside[3];

static const char *const names[] = {"a", "b", "c"};

static int set_up_any(void **state) {
    set_up_jobs(state);
    other = jobs_open(server.url);
    for (int i = 0; i < 3; i++) {
        queue[i] = open_queue(jobs.client, names[i]);
        beside[i] = open_queue(other.client, names[i]);
    }
    return 0;
}

static int tear_down_any(void **state) {
    for (int i = 0; i < 3; i++) {
        dueq_queue_close(queue[i]);
        dueq_queue_close(beside[i]);
    }
    jobs_close(other);
    return tear_down_jobs(state);
}

static dueq_status submit(int64_t timeout_ms) {
    return dueq_reserve_any_submit(queue, 3, RESERVE(DUEQ_PREFERENCE, 1, timeout_ms));
}

/* Takes one message, asserts that it is this one of this queue, and acknowledges it. */
static void take_from(size_t which, const char *body, dueq_status status, dueq_result *result) {
    assert_status(jobs.client, OK, status);
    assert_int_equal(dueq_result_queue(result), which);
    const dueq_message *message = dueq_result_message(result, 0);
    assert_non_null(message);
    assert_int_equal(message->body.size, strlen(body));
    assert_memory_equal(message->body.data, body, strlen(body));
    assert_status(jobs.client, OK, dueq_ack(queue[which], &message->ticket, 1, NULL));
    dueq_result_free(result);
}

static void expect_now(dueq_order order, size_t which, const char *body) {
    dueq_result *result;
    dueq_status status = dueq_reserve_any(queue, 3, RESERVE(order, 1, 0), &result);
    take_from(which, body, status, result);
}

static void expect_waiting(size_t which, const char *body) {
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_wait(jobs.client, 15000));
    dueq_status status = dueq_take(jobs.client, &result);
    take_from(which, body, status, result);
}

/* A process that waits for the queues "a" and "b"; ends as consumer_start()'s. */
static pid_t consumer_of_both(void) {
    pid_t consumer = fork();
    assert_true(consumer >= 0);
    if (consumer > 0)
        return consumer;
    struct jobs own = jobs_open(server.url);
    dueq_queue *both[] = {open_queue(own.client, "a"), open_queue(own.client, "b")};
    dueq_result *result;
    dueq_status status = dueq_reserve_any(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 20000), &result);
    if (!status)
        status = dueq_ack(both[dueq_result_queue(result)], &dueq_result_message(result, 0)->ticket,
                          1, NULL);
    _exit(status < 0 ? 100 - (int)status : (int)status);
}

static void test_reserve_any_prefers_the_first_queue(void **state) {
    (void)state;
    push_body(beside[2], "c1", 0, NULL);
    push_body(beside[1], "b1", 0, NULL);
    push_body(beside[1], "b2", 0, NULL);
    expect_now(DUEQ_PREFERENCE, 1, "b1");
    push_body(beside[0], "a1", 0, NULL);
    expect_now(DUEQ_PREFERENCE, 0, "a1");
    expect_now(DUEQ_PREFERENCE, 1, "b2");
    expect_now(DUEQ_PREFERENCE, 2, "c1");
}

static void test_reserve_any_takes_turns(void **state) {
    (void)state;
    size_t seen[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            push_body(beside[i], names[i], 0, NULL);
    for (int i = 0; i < 6; i++) {
        dueq_result *result;
        dueq_status status = dueq_reserve_any(queue, 3, RESERVE(DUEQ_ROUND_ROBIN, 1, 0), &result);
        size_t which = dueq_result_queue(result);
        assert_in_range(which, 0, 2);
        seen[which]++;
        take_from(which, names[which], status, result);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen[i], 2);
}

static void test_reserve_any_takes_turns_by_weight(void **state) {
    (void)state;
    dueq_queue *turns[] = {queue[0], queue[0], queue[1], queue[0]};
    dueq_result *result;
    for (int i = 0; i < 8; i++) {
        push_body(beside[0], "a", 0, NULL);
        push_body(beside[1], "b", 0, NULL);
    }
    for (size_t i = 0; i < 8; i++) {
        dueq_status status = dueq_reserve_any(turns, 4, RESERVE(DUEQ_ROUND_ROBIN, 1, 0), &result);
        assert_status(jobs.client, OK, status);
        assert_int_equal(dueq_result_queue(result), i % 4);
        const dueq_message *message = dueq_result_message(result, 0);
        assert_memory_equal(message->body.data, i % 4 == 2 ? "b" : "a", 1);
        assert_status(jobs.client, OK, dueq_ack(turns[i % 4], &message->ticket, 1, NULL));
        dueq_result_free(result);
    }
    run_command(&server, "DEL dueq:{a}:ready dueq:{b}:ready");
    assert_status(jobs.client, PENDING,
                  dueq_reserve_any_submit(turns, 4, RESERVE(DUEQ_ROUND_ROBIN, 1, 15000)));
    pump_until_blocked(jobs.client, 1);
    push_body(beside[1], "late", 0, NULL);
    take_body(jobs.client, 15000, "late");
}

static void test_reserve_any_of_empty_queues_is_empty(void **state) {
    (void)state;
    dueq_result *result;
    assert_status(jobs.client, EMPTY,
                  dueq_reserve_any(queue, 3, RESERVE(DUEQ_PREFERENCE, 1, 0), &result));
    dueq_result_free(result);
    int64_t start = now_ms();
    assert_status(jobs.client, EMPTY,
                  dueq_reserve_any(queue, 3, RESERVE(DUEQ_ROUND_ROBIN, 5, 400), NULL));
    assert_in_range(now_ms() - start, 399, 3000);
}

static void test_reserve_any_takes_one_queues_messages_only(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 3; i++) {
        push_body(beside[i], "x", 0, NULL);
        push_body(beside[i], "y", 0, NULL);
    }
    assert_status(jobs.client, OK,
                  dueq_reserve_any(queue + 1, 2, RESERVE(DUEQ_PREFERENCE, 5, 1000), &result));
    assert_int_equal(dueq_result_count(result), 2);
    assert_int_equal(dueq_result_queue(result), 0);
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "ZCARD dueq:{b}:leased"), 2);
    assert_int_equal(command_number(&server, "EXISTS dueq:{a}:leased dueq:{c}:leased"), 0);
}

static void test_reserve_any_is_woken_by_a_push_to_each(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_status(jobs.client, PENDING, submit(20000));
        pump_until_blocked(jobs.client, 1);
        int64_t start = now_ms();
        push_body(beside[i], "now", 0, NULL);
        expect_waiting(i, "now");
        assert_true(now_ms() - start < 2000);
    }
}

static void test_reserve_any_wakes_at_the_due_time_in_another_queue(void **state) {
    (void)state;
    push_body(beside[0], "never", 600000, NULL);
    int64_t start = now_ms();
    push_body(beside[1], "soon", 500, NULL);
    assert_status(jobs.client, PENDING, submit(20000));
    expect_waiting(1, "soon");
    assert_in_range(now_ms() - start, 499, 2500);
}

static void test_reserve_any_wakes_for_what_is_delayed_while_it_waits(void **state) {
    (void)state;
    assert_status(jobs.client, PENDING, submit(20000));
    pump_until_blocked(jobs.client, 1);
    int64_t start = now_ms();
    push_body(beside[2], "later", 700, NULL);
    push_body(beside[1], "sooner", 400, NULL);
    expect_waiting(1, "sooner");
    assert_in_range(now_ms() - start, 399, 2400);
    assert_status(jobs.client, PENDING, submit(20000));
    expect_waiting(2, "later");
    assert_in_range(now_ms() - start, 699, 2700);
}

static void test_reserve_any_wakes_at_the_end_of_a_lease(void **state) {
    (void)state;
    dueq_result *result;
    push_body(beside[1], "held", 0, NULL);
    int64_t start = now_ms();
    reserve_one(beside[1], 0, 400, &result);
    dueq_result_free(result);
    assert_status(jobs.client, PENDING, submit(20000));
    expect_waiting(1, "held");
    assert_in_range(now_ms() - start, 399, 3000);
}

static void test_reserve_any_hands_the_others_on_when_it_leaves(void **state) {
    (void)state;
    push_body(beside[1], "due in a minute", 60000, NULL);
    push_body(beside[2], "due in a minute", 60000, NULL);
    assert_status(jobs.client, PENDING, submit(20000));
    pump_until_blocked(jobs.client, 1);
    push_body(beside[0], "first", 0, NULL);
    expect_waiting(0, "first");
    /* Whoever comes now looks after the others' times: a marker says that nobody does. */
    await_no_timekeeper("b");
    await_no_timekeeper("c");
    await_marker("dueq:{%s}:wake", "b");
    await_marker("dueq:{%s}:wake", "c");
}

static void test_reserve_any_abandoned_hands_all_on(void **state) {
    (void)state;
    push_body(beside[1], "soon", 3000, NULL);
    assert_status(jobs.client, PENDING, submit(20000));
    pump_until_blocked(jobs.client, 1);
    pid_t consumer = consumer_start(server.url, "b", 20000);
    await_blocked(&server, 2);
    dueq_abandon(jobs.client);
    int64_t start = now_ms();
    assert_int_equal(child_end(consumer), DUEQ_OK);
    assert_true(now_ms() - start < 6000);
    await_no_timekeeper("b");
}

static void test_reserve_any_abandoned_gives_back_what_its_block_may_hold(void **state) {
    (void)state;
    assert_status(jobs.client, PENDING, submit(20000));
    pump_until_blocked(jobs.client, 1);
    dueq_abandon(jobs.client);
    for (int i = 0; i < 3; i++)
        await_marker("dueq:{%s}:wake", names[i]);
}

static void test_reserve_any_that_is_killed_leaves_the_queues_to_others(void **state) {
    (void)state;
    push_body(beside[0], "due for a", 700, NULL);
    pid_t doomed = consumer_of_both();
    await_blocked(&server, 1);
    pid_t of_a = consumer_start(server.url, "a", 20000);
    pid_t of_b = consumer_start(server.url, "b", 20000);
    await_blocked(&server, 3);
    kill(doomed, SIGKILL);
    waitpid(doomed, NULL, 0);
    await_blocked(&server, 2);
    int64_t start = now_ms();
    push_body(beside[1], "for b", 0, NULL);
    assert_int_equal(child_end(of_b), DUEQ_OK);
    assert_int_equal(child_end(of_a), DUEQ_OK);
    assert_true(now_ms() - start < 4000);
}

static void test_reserve_any_that_gives_up_leaves_markers_to_others(void **state) {
    (void)state;
    dueq_result *result;
    pid_t consumer = consumer_start(server.url, "b", 20000);
    await_blocked(&server, 1);
    /*
     * Patience that ends about when the push comes: whoever gets the marker, the message is taken.
     */
    for (int i = 0; i < 30; i++) {
        assert_status(jobs.client, PENDING,
                      dueq_reserve_any_submit(queue, 2, RESERVE(DUEQ_ROUND_ROBIN, 1, 20)));
        dueq_status status = dueq_wait(jobs.client, 10 + i / 2);
        push_body(beside[1], "x", 0, NULL);
        if (status == DUEQ_PENDING)
            dueq_wait(jobs.client, -1);
        if (dueq_take(jobs.client, &result) == DUEQ_OK) {
            take_from(1, "x", DUEQ_OK, result);
        } else {
            dueq_result_free(result);
            assert_int_equal(child_end(consumer), DUEQ_OK);
            consumer = consumer_start(server.url, "b", 20000);
            await_blocked(&server, 1);
        }
    }
    push_body(beside[1], "the last", 0, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
}

static void test_reserve_any_of_overlapping_sets_takes_all(void **state) {
    (void)state;
    enum { EACH = 4 };
    pid_t consumers[3 * EACH];
    for (int i = 0; i < EACH; i++) {
        consumers[3 * i] = consumer_of_both();
        consumers[3 * i + 1] = consumer_of_both();
        consumers[3 * i + 2] = consumer_start(server.url, "b", 20000);
    }
    await_blocked(&server, 3 * EACH);
    int64_t start = now_ms();
    for (int i = 0; i < EACH; i++) {
        push_body(beside[0], "x", 0, NULL);
        push_body(beside[1], "y", i % 2 ? 300 : 0, NULL);
        push_body(beside[1], "z", 200, NULL);
    }
    for (int i = 0; i < 3 * EACH; i++)
        assert_int_equal(child_end(consumers[i]), DUEQ_OK);
    assert_true(now_ms() - start < 8000);
}

static void test_reserve_any_finds_what_lost_markers_left(void **state) {
    (void)state;
    assert_status(jobs.client, PENDING, submit(40000));
    pump_until_blocked(jobs.client, 1);
    /* As when the consumer that took the marker died before it looked. */
    run_command(&server, "HSET dueq:{b}:msg 0351BUFuq8W6mvUdJRzysN %b", "\xd1\0\0\5x", (size_t)5);
    run_command(&server, "RPUSH dueq:{b}:ready 0351BUFuq8W6mvUdJRzysN");
    assert_status(jobs.client, OK, dueq_wait(jobs.client, 35000));
    expect_waiting(1, "x");
}

static void test_reserve_any_idle_sends_a_handful_of_commands(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        push_body(beside[i], "due in a minute", 60000, NULL);
    assert_status(jobs.client, PENDING, submit(20000));
    pump_until_blocked(jobs.client, 1);
    long long before = info_number(&server, "stats", "total_commands_processed");
    assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 2000));
    long long sent = info_number(&server, "stats", "total_commands_processed") - before;
    dueq_abandon(jobs.client);
    assert_in_range(sent, 1, 3);
}

static void test_reserve_any_where_unblock_is_not_permitted(void **state) {
    (void)state;
    run_command(&server, "ACL SETUSER plain on >secret ~* " WITHOUT_UNBLOCK);
    struct jobs plain = jobs_open(url_with("plain:secret@", ""));
    dueq_queue *both[] = {open_queue(plain.client, "a"), open_queue(plain.client, "b")};
    dueq_result *result;
    push_body(beside[1], "due", 400, NULL);
    int64_t start = now_ms();
    assert_status(plain.client, OK,
                  dueq_reserve_any(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 10000), &result));
    assert_in_range(now_ms() - start, 300, 3000);
    assert_int_equal(dueq_result_queue(result), 1);
    dueq_result_free(result);
    assert_status(plain.client, EMPTY,
                  dueq_reserve_any(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 300), NULL));
    dueq_queue_close(both[0]);
    dueq_queue_close(both[1]);
    jobs_close(plain);
}

static void test_reserve_any_ends_with_a_queue_that_is_closed(void **state) {
    (void)state;
    dueq_queue *both[] = {queue[0], open_queue(jobs.client, "d")};
    assert_status(jobs.client, PENDING,
                  dueq_reserve_any_submit(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 20000)));
    pump_until_blocked(jobs.client, 1);
    dueq_queue_close(both[1]);
    assert_int_equal(dueq_take(jobs.client, NULL), DUEQ_INVALID);
    await_blocked(&server, 0);
    assert_status(jobs.client, OK, dueq_stats(queue[0], NULL));
}

static void test_reserve_any_of_wrong_arguments_is_invalid(void **state) {
    (void)state;
    dueq_queue *wrong[DUEQ_MAX_QUEUES + 1];
    for (size_t i = 0; i < DUEQ_MAX_QUEUES + 1; i++)
        wrong[i] = queue[0];
#define REFUSED(count, order)                                                                      \
    assert_status(jobs.client, INVALID, dueq_reserve_any(wrong, count, RESERVE(order, 1, 0), NULL))
    assert_int_equal(dueq_reserve_any(wrong, 0, RESERVE(DUEQ_PREFERENCE, 1, 0), NULL),
                     DUEQ_INVALID);
    assert_int_equal(dueq_reserve_any(NULL, 1, RESERVE(DUEQ_PREFERENCE, 1, 0), NULL), DUEQ_INVALID);
    REFUSED(DUEQ_MAX_QUEUES + 1, DUEQ_PREFERENCE);
    REFUSED(2, DUEQ_PREFERENCE);
    dueq_queue *twin = open_queue(jobs.client, "a");
    wrong[1] = twin;
    REFUSED(2, DUEQ_PREFERENCE);
    wrong[1] = beside[1];
    REFUSED(2, DUEQ_PREFERENCE);
    wrong[1] = queue[1];
    REFUSED(2, (dueq_order)7);
    assert_status(jobs.client, INVALID,
                  dueq_reserve_any(wrong, 2, RESERVE(DUEQ_PREFERENCE, 0, 0), NULL));
    assert_status(jobs.client, INVALID,
                  dueq_reserve_any(wrong, 2, RESERVE(DUEQ_PREFERENCE, 1, -2), NULL));
    dueq_queue_close(twin);
}

static void test_reserve_any_of_as_many_queues_as_allowed(void **state) {
    (void)state;
    dueq_queue *many[DUEQ_MAX_QUEUES];
    char name[16];
    for (size_t i = 0; i < DUEQ_MAX_QUEUES; i++) {
        snprintf(name, sizeof name, "many-%zu", i);
        many[i] = open_queue(jobs.client, name);
    }
    dueq_queue *last = open_queue(other.client, name);
    assert_status(
        jobs.client, PENDING,
        dueq_reserve_any_submit(many, DUEQ_MAX_QUEUES, RESERVE(DUEQ_ROUND_ROBIN, 1, 20000)));
    pump_until_blocked(jobs.client, 1);
    push_body(last, "at the end", 100, NULL);
    take_body(jobs.client, 15000, "at the end");
    for (size_t i = 0; i < DUEQ_MAX_QUEUES; i++)
        dueq_queue_close(many[i]);
    dueq_queue_close(last);
}

static void test_reserve_any_tells_the_error_of_one_queue(void **state) {
    (void)state;
    push_body(beside[0], "due in a minute", 60000, NULL);
    assert_status(jobs.client, PENDING, submit(20000));
    pump_until_blocked(jobs.client, 1);
    run_command(&server, "SET dueq:{b}:ready foreign");
    run_command(&server, "ZADD dueq:{b}:wake 0 w");
    assert_status(jobs.client, WRONG_TYPE, dueq_wait(jobs.client, 15000));
    assert_status(jobs.client, WRONG_TYPE, dueq_take(jobs.client, NULL));
    await_no_timekeeper("a");
    await_marker("dueq:{%s}:wake", "a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ANY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_any, tear_down_any)
        ANY_TEST(test_reserve_any_prefers_the_first_queue),
        ANY_TEST(test_reserve_any_takes_turns),
        ANY_TEST(test_reserve_any_takes_turns_by_weight),
        ANY_TEST(test_reserve_any_of_empty_queues_is_empty),
        ANY_TEST(test_reserve_any_takes_one_queues_messages_only),
        ANY_TEST(test_reserve_any_is_woken_by_a_push_to_each),
        ANY_TEST(test_reserve_any_wakes_at_the_due_time_in_another_queue),
        ANY_TEST(test_reserve_any_wakes_for_what_is_delayed_while_it_waits),
        ANY_TEST(test_reserve_any_wakes_at_the_end_of_a_lease),
        ANY_TEST(test_reserve_any_hands_the_others_on_when_it_leaves),
        ANY_TEST(test_reserve_any_abandoned_hands_all_on),
        ANY_TEST(test_reserve_any_abandoned_gives_back_what_its_block_may_hold),
        ANY_TEST(test_reserve_any_that_is_killed_leaves_the_queues_to_others),
        ANY_TEST(test_reserve_any_that_gives_up_leaves_markers_to_others),
        ANY_TEST(test_reserve_any_of_overlapping_sets_takes_all),
        ANY_TEST(test_reserve_any_finds_what_lost_markers_left),
        ANY_TEST(test_reserve_any_idle_sends_a_handful_of_commands),
        ANY_TEST(test_reserve_any_where_unblock_is_not_permitted),
        ANY_TEST(test_reserve_any_ends_with_a_queue_that_is_closed),
        ANY_TEST(test_reserve_any_of_wrong_arguments_is_invalid),
        ANY_TEST(test_reserve_any_of_as_many_queues_as_allowed),
        ANY_TEST(test_reserve_any_tells_the_error_of_one_queue),
    };
    return run_on_server(tests, NULL);
}
