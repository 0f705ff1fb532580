/*
 * Waiting for jobs of Laravel's queues: woken by tokens and at due times, and tokens stay in step.
 * A change of the list alone makes a look in a second: what is faster was woken.
 */
#include <unistd.h>

#include "laravel_fixture.h"

#define ONE "{\"job\":\"A\",\"attempts\":0,\"n\":1}"
#define TWO "{\"job\":\"A\",\"attempts\":0,\"n\":2}"

static void submit_pop(struct laravel from) {
    assert_status(from.client, PENDING, dueq_laravel_pop_submit(from.queue, 1, 20000, 0));
}

/* Takes what a submitted pop got, and returns when that was. */
static int64_t take_job(struct laravel from, const char *payload) {
    dueq_result *result;
    assert_status(from.client, OK, dueq_wait(from.client, 15000));
    int64_t taken = now_ms();
    assert_status(from.client, OK, dueq_take(from.client, &result));
    assert_int_equal(dueq_result_count(result), 1);
    assert_bytes(dueq_result_job(result, 0)->payload, payload);
    dueq_result_free(result);
    return taken;
}

static void test_pop_is_woken_by_a_push_of_dueq(void **state) {
    (void)state;
    struct laravel other = laravel_open(server.url);
    for (int i = 0; i < 5; i++) {
        submit_pop(laravel);
        pump_until_blocked(laravel.client, 1);
        assert_status(other.client, OK, push_payload(other, ONE, 0));
        int64_t pushed = now_ms();
        assert_true(take_job(laravel, ONE) - pushed < 800);
        assert_int_equal(tokens(), 0);
    }
    laravel_close(other);
}

static void test_pop_is_woken_by_the_token_of_a_stock_producer(void **state) {
    (void)state;
    submit_pop(laravel);
    pump_until_blocked(laravel.client, 1);
    stock_push(ONE);
    int64_t pushed = now_ms();
    assert_true(take_job(laravel, ONE) - pushed < 800);
    assert_int_equal(tokens(), 0);
}

static void test_pop_finds_a_job_without_a_token(void **state) {
    (void)state;
    /* As producers up to 5.7 push. */
    submit_pop(laravel);
    pump_until_blocked(laravel.client, 1);
    run_command(&server, "RPUSH queues:jobs %s", ONE);
    int64_t pushed = now_ms();
    assert_true(take_job(laravel, ONE) - pushed < 3000);
}

static void test_pop_is_on_time_for_a_delayed_job_of_a_stock_producer(void **state) {
    (void)state;
    submit_pop(laravel);
    pump_until_blocked(laravel.client, 1);
    /* It tells nobody. */
    int64_t due = server_ms() / 1000 + 2;
    run_command(&server, "ZADD queues:jobs:delayed %d %s", (int)due, ONE);
    take_job(laravel, ONE);
    int64_t late = server_ms() - due * 1000;
    assert_in_range(late, 0, 5000);
    assert_int_equal(tokens(), 0);
}

static void test_pop_is_on_time_for_a_delayed_job(void **state) {
    (void)state;
    int64_t late = 500;
    /* A busy machine may be late now and then; looks once in a second alone would always be. */
    for (int tries = 0; tries < 3 && late >= 500; tries++) {
        while (server_ms() % 1000 < 500 || server_ms() % 1000 > 600)
            continue;
        assert_status(laravel.client, OK, push_payload(laravel, ONE, 100));
        int64_t due = sizes_of(laravel).next_ms;
        submit_pop(laravel);
        take_job(laravel, ONE);
        late = server_ms() - due;
        assert_in_range(late, 0, 5000);
        run_command(&server, "DEL queues:jobs:reserved");
    }
    assert_true(late < 500);
}

static void test_pop_gives_up_after_its_timeout(void **state) {
    (void)state;
    dueq_result *result;
    int64_t start = now_ms();
    assert_status(laravel.client, EMPTY, dueq_laravel_pop(laravel.queue, 1, 1300, 0, &result));
    assert_in_range(now_ms() - start, 1300, 5000);
    assert_int_equal(dueq_result_count(result), 0);
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
}

static void test_pop_that_waits_counts_what_it_set_aside(void **state) {
    (void)state;
    dueq_result *result;
    submit_pop(laravel);
    pump_until_blocked(laravel.client, 1);
    stock_push("broken");
    stock_push("broken too");
    stock_push(ONE);
    assert_status(laravel.client, OK, dueq_wait(laravel.client, 15000));
    assert_status(laravel.client, OK, dueq_take(laravel.client, &result));
    assert_int_equal(dueq_result_quarantined(result), 2);
    dueq_result_free(result);
    assert_sizes(0, 0, 1, 2);
    assert_int_equal(tokens(), 0);
}

static void test_each_of_two_who_wait_gets_one(void **state) {
    (void)state;
    struct laravel other = laravel_open(server.url), producer = laravel_open(server.url);
    submit_pop(laravel);
    pump_until_blocked(laravel.client, 1);
    submit_pop(other);
    pump_until_blocked(other.client, 2);
    const dueq_laravel_draft two[2] = {{sizeof *two, .payload = BYTES(ONE)},
                                       {sizeof *two, .payload = BYTES(TWO)}};
    assert_status(producer.client, OK, dueq_laravel_push(producer.queue, two, 2, NULL));
    int64_t pushed = now_ms();
    take_job(laravel, ONE);
    assert_true(take_job(other, TWO) - pushed < 800);
    assert_int_equal(tokens(), 0);
    laravel_close(other);
    laravel_close(producer);
}

static void test_a_token_of_a_pop_that_is_abandoned_is_given_back(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        dueq_result *result;
        submit_pop(laravel);
        pump_until_blocked(laravel.client, 1);
        stock_push(ONE);
        assert_int_equal(tokens(), 0);
        dueq_abandon(laravel.client);
        for (int64_t end = now_ms() + 10000; now_ms() < end && tokens() == 0;)
            continue;
        assert_int_equal(tokens(), 1);
        pop_one(laravel, 0, &result);
        dueq_result_free(result);
        run_command(&server, "DEL queues:jobs:reserved");
        assert_int_equal(tokens(), 0);
    }
}

static void test_jobs_of_a_pop_that_is_abandoned_go_back_as_they_were(void **state) {
    (void)state;
    dueq_result *result = NULL;
    for (int i = 0; i < 60; i++) {
        submit_pop(laravel);
        pump_until_blocked(laravel.client, 1);
        stock_push(ONE);
        /* Anywhere between the token and the answer, which nobody reads. */
        int steps = i % 12;
        while (steps-- && dueq_pump(laravel.client) == DUEQ_PENDING)
            usleep((useconds_t)(i % 7 * 50));
        dueq_abandon(laravel.client);
        const dueq_job *job = pop_one(laravel, 10000, &result);
        assert_bytes(job->payload, ONE);
        assert_int_equal(job->attempts, 1);
        assert_status(laravel.client, OK,
                      dueq_laravel_delete(laravel.queue, &job->reserved, 1, NULL));
        dueq_result_free(result);
        assert_int_equal(tokens(), 0);
    }
}

static void test_jobs_that_nobody_has_read_go_to_the_front_in_order(void **state) {
    (void)state;
    dueq_result *result;
    stock_push(ONE);
    stock_push(TWO);
    stock_push(ONE);
    assert_status(laravel.client, PENDING, dueq_laravel_pop_submit(laravel.queue, 2, 0, 0));
    assert_status(laravel.client, OK, dueq_wait(laravel.client, 10000));
    dueq_abandon(laravel.client);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 3, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), 3);
    const char *const order[] = {ONE, TWO, ONE};
    for (size_t i = 0; i < 3; i++) {
        assert_bytes(dueq_result_job(result, i)->payload, order[i]);
        assert_int_equal(dueq_result_job(result, i)->attempts, 1);
    }
    dueq_result_free(result);
    assert_int_equal(tokens(), 0);
}

static void test_pop_ends_soon_when_its_wait_is_stopped(void **state) {
    (void)state;
    dueq_result *result;
    submit_pop(laravel);
    pump_until_blocked(laravel.client, 1);
    dueq_stop_wait(laravel.client);
    int64_t start = now_ms();
    assert_status(laravel.client, EMPTY, dueq_wait(laravel.client, 10000));
    assert_true(now_ms() - start < 3000);
    assert_status(laravel.client, EMPTY, dueq_take(laravel.client, &result));
    dueq_result_free(result);
}

/* migrate */

static void test_migrate_moves_what_is_due_in_bounded_steps(void **state) {
    (void)state;
    dueq_moved moved = DUEQ_MOVED;
    assert_status(laravel.client, EMPTY, dueq_laravel_migrate(laravel.queue, 2, 0, &moved));
    assert_int_equal(moved.moved, 0);
    assert_status(laravel.client, EMPTY, dueq_laravel_migrate(laravel.queue, 2, 0, NULL));
    for (int i = 1; i <= 3; i++) {
        run_command(&server, "ZADD queues:jobs:delayed %d {\"attempts\":0,\"n\":%d}", i, i);
        run_command(&server, "ZADD queues:jobs:reserved %d {\"attempts\":1,\"n\":%d}", i, i);
    }
    run_command(&server, "ZADD queues:jobs:delayed 1900000000 %s", "{\"attempts\":0}");
    assert_status(laravel.client, OK, dueq_laravel_migrate(laravel.queue, 2, 0, &moved));
    assert_int_equal(moved.moved, 4);
    assert_int_equal(tokens(), 4);
    assert_status(laravel.client, OK, dueq_laravel_migrate(laravel.queue, 2, 0, &moved));
    assert_int_equal(moved.moved, 2);
    assert_int_equal(moved.quarantined, 0);
    assert_in_range(moved.next_ms, 1899999999000, 1900000000000);
    assert_status(laravel.client, EMPTY, dueq_laravel_migrate(laravel.queue, 2, 0, &moved));
    assert_int_equal(tokens(), 6);
    assert_sizes(6, 1, 0, 0);
    assert_command("LINDEX queues:jobs %s", "0", "{\"attempts\":0,\"n\":1}");
    assert_command("LINDEX queues:jobs %s", "2", "{\"attempts\":1,\"n\":1}");
    assert_status(laravel.client, INVALID, dueq_laravel_migrate(laravel.queue, 0, 0, NULL));
    assert_status(laravel.client, INVALID, dueq_laravel_migrate(laravel.queue, 1, -2, NULL));
}

static void test_migrate_waits_and_wakes_a_stock_worker_on_time(void **state) {
    (void)state;
    dueq_moved moved = DUEQ_MOVED;
    pid_t worker = command_start(&server, "BLPOP queues:jobs:notify 15");
    await_blocked(&server, 1);
    int64_t due = server_ms() / 1000 + 2;
    run_command(&server, "ZADD queues:jobs:delayed %d %s", (int)due, ONE);
    assert_status(laravel.client, OK, dueq_laravel_migrate(laravel.queue, 10, 10000, &moved));
    assert_in_range(server_ms() - due * 1000, 0, 5000);
    assert_int_equal(moved.moved, 1);
    assert_int_equal(moved.next_ms, 0);
    assert_int_equal(child_end(worker), 0);
    assert_sizes(1, 0, 0, 0);
    int64_t start = now_ms();
    assert_status(laravel.client, EMPTY, dueq_laravel_migrate(laravel.queue, 10, 400, NULL));
    assert_in_range(now_ms() - start, 400, 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LARAVEL_TEST(test_pop_is_woken_by_a_push_of_dueq),
        LARAVEL_TEST(test_pop_is_woken_by_the_token_of_a_stock_producer),
        LARAVEL_TEST(test_pop_finds_a_job_without_a_token),
        LARAVEL_TEST(test_pop_is_on_time_for_a_delayed_job_of_a_stock_producer),
        LARAVEL_TEST(test_pop_is_on_time_for_a_delayed_job),
        LARAVEL_TEST(test_pop_gives_up_after_its_timeout),
        LARAVEL_TEST(test_pop_that_waits_counts_what_it_set_aside),
        LARAVEL_TEST(test_each_of_two_who_wait_gets_one),
        LARAVEL_TEST(test_a_token_of_a_pop_that_is_abandoned_is_given_back),
        LARAVEL_TEST(test_jobs_of_a_pop_that_is_abandoned_go_back_as_they_were),
        LARAVEL_TEST(test_jobs_that_nobody_has_read_go_to_the_front_in_order),
        LARAVEL_TEST(test_pop_ends_soon_when_its_wait_is_stopped),
        LARAVEL_TEST(test_migrate_moves_what_is_due_in_bounded_steps),
        LARAVEL_TEST(test_migrate_waits_and_wakes_a_stock_worker_on_time),
    };
    return run_on_server(tests, NULL);
}
