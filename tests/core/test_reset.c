/* dueq_reset(): a client that is kept for its next owner. */
#include <unistd.h>

#include "fixture.h"

static long long connected(void) {
    return info_number(&server, "stats", "total_connections_received");
}

static void test_reset_keeps_the_connection(void **state) {
    (void)state;
    assert_int_equal(dueq_reset(jobs.client), 0); /* none was made yet */
    push_body(jobs.queue, "a", 0, NULL);
    long long before = connected();
    assert_int_equal(dueq_reset(jobs.client), 1);
    push_body(jobs.queue, "b", 0, NULL);
    assert_int_equal(connected() - before, 1); /* that of the question itself */
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.ready, 2);
}

static void test_reset_sees_that_the_server_has_closed_it(void **state) {
    (void)state;
    push_body(jobs.queue, "a", 0, NULL);
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_int_equal(dueq_reset(jobs.client), 0);
    push_body(jobs.queue, "b", 0, NULL);
    assert_int_equal(dueq_reset(jobs.client), 1);
}

static void test_reset_ends_a_wait(void **state) {
    (void)state;
    push_body(jobs.queue, "a", 60000, NULL);
    assert_true(dueq_descriptor(jobs.client) >= 0);
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 20000, 0));
    pump_until_blocked(jobs.client, 1);
    assert_int_equal(dueq_reset(jobs.client), 1);
    await_blocked(&server, 0);
    push_body(jobs.queue, "b", 0, NULL);
    dueq_result *result;
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_memory_equal(message->body.data, "b", 1);
    dueq_result_free(result);
    /* And the descriptor is a new one, of the new calls. */
    assert_true(dueq_descriptor(jobs.client) >= 0);
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 50, 0));
    assert_status(jobs.client, EMPTY, dueq_wait(jobs.client, -1));
    assert_status(jobs.client, EMPTY, dueq_take(jobs.client, NULL));
}

static void test_reset_in_the_middle_of_a_call_drops_the_connection(void **state) {
    (void)state;
    push_body(jobs.queue, "a", 0, NULL);
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 0, 0));
    run_command(&server, "CLIENT PAUSE 200 ALL");
    assert_status(jobs.client, PENDING, dueq_pump(jobs.client));
    assert_int_equal(dueq_reset(jobs.client), 0);
    push_body(jobs.queue, "b", 0, NULL);
}

static void test_reset_forgets_errors_and_that_the_server_was_there(void **state) {
    (void)state;
    assert_true(push_text(jobs.queue, "a") == DUEQ_OK);
    dueq_queue *none;
    assert_status(jobs.client, NAME, dueq_queue_open(jobs.client, "\n", 1, &none));
    assert_string_not_equal(dueq_error_text(jobs.client), "");
    dueq_reset(jobs.client);
    assert_string_equal(dueq_error_text(jobs.client), "");
    server_kill(&server);
    assert_int_equal(dueq_reset(jobs.client), 0);
    /* A lost server is waited for, an absent one is not. */
    int64_t begin = now_ms();
    assert_status(jobs.client, CONNECT, push_text(jobs.queue, "b"));
    assert_true(now_ms() - begin < 5000);
    server_restart(&server);
}

static long long commands_of_a_push(void) {
    long long before = info_number(&server, "stats", "total_commands_processed");
    push_body(jobs.queue, "x", 0, NULL);
    return info_number(&server, "stats", "total_commands_processed") - before;
}

static void test_queue_that_is_opened_again_knows_what_it_has_told(void **state) {
    (void)state;
    push_body(jobs.queue, "x", 0, NULL);
    push_body(jobs.queue, "x", 0, NULL); /* now the server has both scripts */
    long long further = commands_of_a_push();
    dueq_queue_close(jobs.queue);
    jobs.queue = open_queue(jobs.client, "jobs");
    assert_int_equal(commands_of_a_push(), further);
    /* The expiry of its answers, and the history, once a minute. */
    dueq_queue_close(jobs.queue);
    jobs.queue = open_queue(jobs.client, "other");
    assert_true(commands_of_a_push() > further);
    pid_t child = fork();
    if (child == 0) {
        dueq_queue *queue = NULL;
        bool fine = dueq_queue_open(jobs.client, "jobs", 4, &queue) == DUEQ_OK &&
                    push_text(queue, "x") == DUEQ_OK;
        dueq_queue_close(queue);
        jobs_close(jobs);
        _exit(fine ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_reset_keeps_the_connection),
        TEST(test_reset_sees_that_the_server_has_closed_it),
        TEST(test_reset_ends_a_wait),
        TEST(test_reset_in_the_middle_of_a_call_drops_the_connection),
        TEST(test_reset_forgets_errors_and_that_the_server_was_there),
        TEST(test_queue_that_is_opened_again_knows_what_it_has_told),
    };
    return run_on_server(tests, NULL);
}
