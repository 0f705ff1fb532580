/* A call driven by one descriptor, as event loops do; and a wait that is ended early. */
#include <poll.h>
#include <unistd.h>

#include "fixture.h"

/* Pumps whenever the descriptor is readable, until the call is final; tells how often. */
static size_t drive(dueq_client *client, int descriptor, dueq_status expected) {
    dueq_status status = DUEQ_PENDING;
    size_t pumps = 0;
    while (status == DUEQ_PENDING) {
        struct pollfd slot = {.fd = descriptor, .events = POLLIN};
        assert_int_equal(poll(&slot, 1, 20000), 1);
        status = dueq_pump(client);
        pumps++;
    }
    assert_int_equal(status, expected);
    return pumps;
}

static void submit_reserve(int64_t timeout_ms) {
    assert_int_equal(dueq_reserve_submit(jobs.queue, 1, timeout_ms, 0), DUEQ_PENDING);
}

static void take_message(const char *body) {
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_take(jobs.client, &result));
    assert_memory_equal(dueq_result_message(result, 0)->body.data, body, strlen(body));
    dueq_result_free(result);
}

static void test_descriptor_drives_a_call(void **state) {
    (void)state;
    push_body(jobs.queue, "ready", 0, NULL);
    submit_reserve(0);
    drive(jobs.client, dueq_descriptor(jobs.client), DUEQ_OK);
    take_message("ready");
}

static void test_descriptor_is_the_same_and_quiet_between_calls(void **state) {
    (void)state;
    int first = dueq_descriptor(jobs.client);
    struct pollfd slot = {.fd = first, .events = POLLIN};
    assert_true(first >= 0);
    assert_int_equal(poll(&slot, 1, 0), 0);
    submit_reserve(0);
    assert_int_equal(dueq_descriptor(jobs.client), first);
    drive(jobs.client, first, DUEQ_EMPTY);
    assert_int_equal(poll(&slot, 1, 0), 0);
    assert_status(jobs.client, EMPTY, dueq_take(jobs.client, NULL));
}

static void test_descriptor_wakes_at_the_due_time_and_not_before(void **state) {
    (void)state;
    push_body(jobs.queue, "due", 700, NULL);
    submit_reserve(DUEQ_FOREVER);
    size_t pumps = drive(jobs.client, dueq_descriptor(jobs.client), DUEQ_OK);
    take_message("due");
    assert_in_range(pumps, 2, 30); /* a busy loop would be thousands */
}

static void test_descriptor_wakes_for_a_push(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    submit_reserve(DUEQ_FOREVER);
    pump_until_blocked(jobs.client, 1);
    int descriptor = dueq_descriptor(jobs.client);
    push_body(other.queue, "now", 0, NULL);
    drive(jobs.client, descriptor, DUEQ_OK);
    take_message("now");
    jobs_close(other);
}

static void test_descriptor_after_a_lost_connection(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    submit_reserve(DUEQ_FOREVER);
    pump_until_blocked(jobs.client, 1);
    int descriptor = dueq_descriptor(jobs.client);
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    push_body(other.queue, "still", 0, NULL);
    drive(jobs.client, descriptor, DUEQ_OK);
    take_message("still");
    jobs_close(other);
}

static void test_descriptor_after_fork_is_the_childs_own(void **state) {
    (void)state;
    push_body(jobs.queue, "one", 0, NULL);
    push_body(jobs.queue, "two", 0, NULL);
    submit_reserve(0);
    int descriptor = dueq_descriptor(jobs.client);
    pid_t child = fork();
    if (child == 0) {
        dueq_status status = dueq_pump(jobs.client); /* the call is the parent's */
        dueq_take(jobs.client, NULL);
        bool own =
            status == DUEQ_CLOSED && dueq_reserve_submit(jobs.queue, 1, 0, 0) == DUEQ_PENDING;
        struct pollfd slot = {.fd = dueq_descriptor(jobs.client), .events = POLLIN};
        while (own && (status = dueq_pump(jobs.client)) == DUEQ_PENDING)
            own = poll(&slot, 1, 20000) == 1;
        _exit(own && status == DUEQ_OK ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
    drive(jobs.client, descriptor, DUEQ_OK);
    assert_status(jobs.client, OK, dueq_take(jobs.client, NULL));
}

static void test_stop_wait_ends_it_with_nothing(void **state) {
    (void)state;
    submit_reserve(DUEQ_FOREVER);
    pump_until_blocked(jobs.client, 1);
    dueq_stop_wait(jobs.client);
    assert_status(jobs.client, EMPTY, dueq_wait(jobs.client, 20000));
    assert_status(jobs.client, EMPTY, dueq_take(jobs.client, NULL));
    await_blocked(&server, 0);
}

static void test_stop_wait_before_the_first_answer(void **state) {
    (void)state;
    submit_reserve(DUEQ_FOREVER);
    dueq_stop_wait(jobs.client);
    assert_status(jobs.client, EMPTY, dueq_wait(jobs.client, 20000));
    assert_status(jobs.client, EMPTY, dueq_take(jobs.client, NULL));
}

static void test_stop_wait_loses_no_message_that_comes_meanwhile(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    for (int i = 0; i < 50; i++) {
        dueq_result *result;
        submit_reserve(DUEQ_FOREVER);
        pump_until_blocked(jobs.client, 1);
        push_body(other.queue, "at that moment", 0, NULL);
        if (i % 2)
            dueq_pump(jobs.client);
        dueq_stop_wait(jobs.client);
        dueq_status status = dueq_wait(jobs.client, 20000);
        assert_int_equal(dueq_take(jobs.client, &result), status);
        if (status == DUEQ_EMPTY)
            reserve_one(other.queue, 0, 0, &result); /* it lies ready, held by nobody */
        else
            assert_status(jobs.client, OK, status);
        dueq_bytes ticket = dueq_result_message(result, 0)->ticket;
        assert_status(other.client, OK, dueq_ack(other.queue, &ticket, 1, NULL));
        dueq_result_free(result);
    }
    jobs_close(other);
}

static void test_stop_wait_does_nothing_where_none_waits(void **state) {
    (void)state;
    dueq_stop_wait(jobs.client);
    assert_int_equal(dueq_stats_submit(jobs.queue), DUEQ_PENDING);
    dueq_stop_wait(jobs.client);
    assert_status(jobs.client, OK, dueq_wait(jobs.client, 20000));
    assert_status(jobs.client, OK, dueq_take(jobs.client, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_descriptor_drives_a_call),
        TEST(test_descriptor_is_the_same_and_quiet_between_calls),
        TEST(test_descriptor_wakes_at_the_due_time_and_not_before),
        TEST(test_descriptor_wakes_for_a_push),
        TEST(test_descriptor_after_a_lost_connection),
        TEST(test_descriptor_after_fork_is_the_childs_own),
        TEST(test_stop_wait_ends_it_with_nothing),
        TEST(test_stop_wait_before_the_first_answer),
        TEST(test_stop_wait_loses_no_message_that_comes_meanwhile),
        TEST(test_stop_wait_does_nothing_where_none_waits),
    };
    return run_on_server(tests, NULL);
}
