/* Consumers that wait: what wakes them, and what waiting costs. */
#include <signal.h>
#include <sys/time.h>

#include "fixture.h"

/* Consumers as processes of their own, all waiting. */
static void start_waiting(pid_t *consumers, int count) {
    for (int i = 0; i < count; i++)
        consumers[i] = consumer_start(server.url, "jobs", 20000);
    await_blocked(&server, count);
}

static void test_reserve_is_woken_by_a_push(void **state) {
    (void)state;
    pid_t consumer;
    start_waiting(&consumer, 1);
    int64_t start = now_ms();
    push_body(jobs.queue, "now", 0, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    assert_true(now_ms() - start < 2000);
}

static void test_reserve_wakes_at_the_due_time(void **state) {
    (void)state;
    pid_t consumer;
    start_waiting(&consumer, 1);
    int64_t start = now_ms();
    push_body(jobs.queue, "soon", 400, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    int64_t took = now_ms() - start;
    assert_in_range(took, 399, 2400);
}

static void test_reserve_wakes_for_an_earlier_message_pushed_in_front(void **state) {
    (void)state;
    push_body(jobs.queue, "late", 60000, NULL);
    pid_t consumer;
    start_waiting(&consumer, 1);
    int64_t start = now_ms();
    push_body(jobs.queue, "early", 300, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    assert_in_range(now_ms() - start, 299, 2300);
}

static void test_reserve_wakes_at_the_end_of_a_lease(void **state) {
    (void)state;
    dueq_result *result;
    push_body(jobs.queue, "held", 0, NULL);
    reserve_one(jobs.queue, 0, 500, &result);
    int64_t start = now_ms();
    pid_t consumer;
    start_waiting(&consumer, 1);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    assert_in_range(now_ms() - start, 450, 3000);
    assert_status(jobs.client, LEASE_LOST,
                  dueq_ack(jobs.queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
    dueq_result_free(result);
}

static void test_reserve_of_a_burst_reaches_all_waiting(void **state) {
    (void)state;
    enum { COUNT = 12 };
    pid_t consumers[COUNT];
    start_waiting(consumers, COUNT);
    dueq_draft drafts[COUNT];
    for (int i = 0; i < COUNT; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = BYTES("burst");
    }
    int64_t start = now_ms();
    assert_status(jobs.client, OK, dueq_push(jobs.queue, drafts, COUNT, NULL));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(child_end(consumers[i]), DUEQ_OK);
    assert_true(now_ms() - start < 5000);
}

static void test_reserve_of_messages_due_together_reaches_all_waiting(void **state) {
    (void)state;
    enum { COUNT = 8 };
    pid_t consumers[COUNT];
    start_waiting(consumers, COUNT);
    int64_t start = now_ms();
    for (int i = 0; i < COUNT; i++)
        push_body(jobs.queue, "due", 300, NULL);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(child_end(consumers[i]), DUEQ_OK);
    assert_true(now_ms() - start < 5000);
}

static void test_reserve_idle_sends_a_handful_of_commands(void **state) {
    (void)state;
    pid_t consumer;
    start_waiting(&consumer, 1);
    /* The server counts what scripts call inside, too. */
    long long before = info_number(&server, "stats", "total_commands_processed");
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 4000, 0, NULL));
    long long sent = info_number(&server, "stats", "total_commands_processed") - before;
    push_body(jobs.queue, "end", 0, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    /* Two logins of two commands, a look of some fifteen, a block, an unblock, and the two INFO. */
    assert_in_range(sent, 1, 30);
}

static void test_reserve_finds_what_a_lost_marker_left(void **state) {
    (void)state;
    /* Two probes, of which one is about ready messages. */
    pid_t consumer = consumer_start(server.url, "jobs", 40000);
    await_blocked(&server, 1);
    /* As when the consumer that took the marker died before it looked. */
    run_command(&server, "HSET dueq:{jobs}:msg 0351BUFuq8W6mvUdJRzysN %b", "\xd1\0\0\5x",
                (size_t)5);
    run_command(&server, "RPUSH dueq:{jobs}:ready 0351BUFuq8W6mvUdJRzysN");
    assert_int_equal(child_end(consumer), DUEQ_OK);
}

static void test_reserve_waits_as_long_as_asked(void **state) {
    (void)state;
    int64_t start = now_ms();
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 500, 0, NULL));
    assert_in_range(now_ms() - start, 499, 2500);
}

static void test_reserve_that_gives_up_leaves_the_marker_to_others(void **state) {
    (void)state;
    pid_t consumer;
    start_waiting(&consumer, 1);
    struct jobs other = jobs_open(server.url);
    /*
     * Patience that ends about when the push comes: whoever gets the marker, the message is taken.
     */
    for (int i = 0; i < 30; i++) {
        dueq_result *result;
        assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 20, 0));
        dueq_status status = dueq_wait(jobs.client, 10 + i / 2);
        push_body(other.queue, "x", 0, NULL);
        if (status == DUEQ_PENDING)
            dueq_wait(jobs.client, -1);
        if (dueq_take(jobs.client, &result) == DUEQ_OK) {
            dueq_ack(jobs.queue, &dueq_result_message(result, 0)->ticket, 1, NULL);
        } else {
            assert_int_equal(child_end(consumer), DUEQ_OK);
            start_waiting(&consumer, 1);
        }
        dueq_result_free(result);
    }
    push_body(other.queue, "the last", 0, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    jobs_close(other);
}

static void no_action(int number) { (void)number; }

static void alarm_in(int ms) {
    struct itimerval timer = {.it_value = {ms / 1000, (ms % 1000) * 1000}};
    struct sigaction action = {.sa_handler = no_action};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void test_reserve_is_interrupted_by_a_signal_and_goes_on(void **state) {
    (void)state;
    alarm_in(200);
    assert_status(jobs.client, INTERRUPTED, dueq_reserve(jobs.queue, 1, 20000, 0, NULL));
    struct jobs other = jobs_open(server.url);
    push_body(other.queue, "after the signal", 0, NULL);
    take_body(jobs.client, 10000, "after the signal");
    jobs_close(other);
}

static void test_reserve_refuses_a_second_call_meanwhile(void **state) {
    (void)state;
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 20000, 0));
    assert_status(jobs.client, IN_USE, dueq_stats(jobs.queue, NULL));
    dueq_abandon(jobs.client);
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, NULL));
}

static void test_reserve_abandoned_passes_its_duty_on(void **state) {
    (void)state;
    pid_t consumer;
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 60000, 0));
    pump_until_blocked(jobs.client, 1);
    consumer = consumer_start(server.url, "jobs", 20000);
    await_blocked(&server, 2);
    dueq_abandon(jobs.client);
    int64_t start = now_ms();
    push_body(jobs.queue, "for the other", 0, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    assert_true(now_ms() - start < 3000);
}

static void test_reserve_works_where_unblock_is_not_permitted(void **state) {
    (void)state;
    run_command(&server, "ACL SETUSER plain on >secret ~* " WITHOUT_UNBLOCK);
    const char *url = url_with("plain:secret@", "");
    struct jobs plain = jobs_open(url);
    dueq_result *result;
    push_body(jobs.queue, "due", 400, NULL);
    int64_t start = now_ms();
    assert_status(plain.client, OK, dueq_reserve(plain.queue, 1, 10000, 0, &result));
    assert_in_range(now_ms() - start, 300, 3000);
    dueq_result_free(result);
    assert_status(plain.client, EMPTY, dueq_reserve(plain.queue, 1, 300, 0, NULL));
    pid_t consumer = consumer_start(url, "jobs", 20000);
    await_blocked(&server, 1);
    push_body(jobs.queue, "now", 0, NULL);
    assert_int_equal(child_end(consumer), DUEQ_OK);
    jobs_close(plain);
}

static void test_reserve_without_blocking_by_poll_set_and_pump(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 20000, 0));
    bool pushed = false;
    dueq_status status;
    int rounds = 0;
    while ((status = dueq_pump(jobs.client)) == DUEQ_PENDING) {
        struct pollfd set[DUEQ_MAX_SOCKETS];
        int timeout;
        size_t count = dueq_poll_set(jobs.client, set, &timeout);
        assert_true(++rounds < 200);
        if (count == 2 && info_number(&server, "clients", "blocked_clients") == 1 && !pushed) {
            push_body(other.queue, "event", 200, NULL);
            pushed = true;
        }
        poll(set, count, timeout);
    }
    assert_status(jobs.client, OK, status);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_take(jobs.client, &result));
    assert_memory_equal(dueq_result_message(result, 0)->body.data, "event", 5);
    dueq_result_free(result);
    jobs_close(other);
}

static void
test_reserve_finds_messages_while_the_server_has_no_room_for_another_connection(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    push_body(other.queue, "first", 0, NULL);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 0, 0, &result));
    dueq_result_free(result);
    redisContext *control = redisConnectUnix(server.socket);
    /* Its own, the two clients' and no further one. */
    freeReplyObject(redisCommand(control, "CONFIG SET maxclients 3"));
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 20000, 0));
    for (bool refused = false; !refused;) {
        assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 5));
        redisReply *stats = redisCommand(control, "INFO stats");
        refused = !strstr(stats->str, "\nrejected_connections:0");
        freeReplyObject(stats);
    }
    int64_t start = now_ms();
    push_body(other.queue, "second", 0, NULL);
    assert_status(jobs.client, OK, dueq_wait(jobs.client, 20000));
    /* A probe would come in 12 seconds. */
    assert_true(now_ms() - start < 8000);
    assert_status(jobs.client, OK, dueq_take(jobs.client, &result));
    dueq_result_free(result);
    freeReplyObject(redisCommand(control, "CONFIG SET maxclients 1000"));
    redisFree(control);
    jobs_close(other);
}

/* As in a planned failover: what is sent then waits, also the block. */
static void test_reserve_that_gives_up_leaves_a_paused_server_alive(void **state) {
    (void)state;
    dueq_result *result;
    assert_int_equal(dueq_reserve_submit(jobs.queue, 1, 500, 0), DUEQ_PENDING);
    while (info_number(&server, "clients", "blocked_clients") == 0)
        assert_status(jobs.client, PENDING, dueq_pump(jobs.client));
    run_command(&server, "CLIENT PAUSE 60000 WRITE");
    assert_status(jobs.client, EMPTY, dueq_wait(jobs.client, -1));
    assert_status(jobs.client, EMPTY, dueq_take(jobs.client, NULL));
    run_command(&server, "CLIENT UNPAUSE");
    /* What the server answers too late is nobody's. */
    for (int i = 0; i < 3; i++) {
        assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 100, 0, NULL));
        push_body(jobs.queue, "x", 50, NULL);
        assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 20000, 0, &result));
        dueq_result_free(result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_reserve_is_woken_by_a_push),
        TEST(test_reserve_wakes_at_the_due_time),
        TEST(test_reserve_wakes_for_an_earlier_message_pushed_in_front),
        TEST(test_reserve_wakes_at_the_end_of_a_lease),
        TEST(test_reserve_of_a_burst_reaches_all_waiting),
        TEST(test_reserve_of_messages_due_together_reaches_all_waiting),
        TEST(test_reserve_idle_sends_a_handful_of_commands),
        TEST(test_reserve_finds_what_a_lost_marker_left),
        TEST(test_reserve_waits_as_long_as_asked),
        TEST(test_reserve_that_gives_up_leaves_the_marker_to_others),
        TEST(test_reserve_is_interrupted_by_a_signal_and_goes_on),
        TEST(test_reserve_refuses_a_second_call_meanwhile),
        TEST(test_reserve_abandoned_passes_its_duty_on),
        TEST(test_reserve_works_where_unblock_is_not_permitted),
        TEST(test_reserve_without_blocking_by_poll_set_and_pump),
        TEST(test_reserve_that_gives_up_leaves_a_paused_server_alive),
        TEST(test_reserve_finds_messages_while_the_server_has_no_room_for_another_connection),
    };
    return run_on_server(tests, NULL);
}
