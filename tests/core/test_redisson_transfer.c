/*
 * Redisson's delayed queues: what is due reaches the destination, once and in time, whatever
 * happens.
 */
#include <signal.h>
#include <unistd.h>

#include "redisson_fixture.h"

#define FAR "99999999999999"

/* Waits for the end of a submitted transfer; asserts that it moved so many. */
static void finish(dueq_client *client, int64_t within_ms, size_t moved) {
    dueq_result *result;
    assert_status(client, OK, dueq_wait(client, within_ms));
    assert_status(client, OK, dueq_take(client, &result));
    assert_int_equal(dueq_result_moved(result)->moved, moved);
    dueq_result_free(result);
}

/* Submits a transfer that waits, and drives it until it is subscribed. */
static void submit_waiting(void) {
    assert_status(jobs.client, PENDING, dueq_redisson_transfer_submit(orders, 100, 120000));
    while (dueq_wait(jobs.client, 5) == DUEQ_PENDING) {
        redisReply *reply = command(&server, "PUBSUB NUMSUB " CHANNEL);
        long long count = reply->element[1]->integer;
        freeReplyObject(reply);
        if (count == 1)
            return;
    }
    fail_msg("the transfer should wait");
}

static void test_transfer_moves_what_is_due_by_its_time(void **state) {
    (void)state;
    dueq_moved moved = DUEQ_MOVED;
    place(DUEQ_LAYOUT_NEW, "c", "30");
    place(DUEQ_LAYOUT_NEW, "later", FAR);
    place(DUEQ_LAYOUT_NEW, "a", "10");
    place(DUEQ_LAYOUT_NEW, "b", "20");
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 2, 0, &moved));
    assert_int_equal(moved.moved, 2);
    assert_int_equal(moved.quarantined, 0);
    assert_int_equal(moved.next_ms, 30);
    assert_values("orders", "a", "b");
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 2, 0, &moved));
    assert_int_equal(moved.moved, 1);
    assert_true(moved.next_ms == atoll(FAR));
    assert_values("orders", "a", "b", "c");
    assert_status(jobs.client, EMPTY, dueq_redisson_transfer(orders, 2, 0, &moved));
    assert_int_equal(moved.moved, 0);
    assert_int_equal(command_number(&server, "LLEN " OFFERED), 1);
    assert_int_equal(command_number(&server, "ZCARD " TIMEOUT_SET), 1);
}

static void test_transfer_moves_the_old_layout(void **state) {
    (void)state;
    place(DUEQ_LAYOUT_OLD, "a", "10");
    place(DUEQ_LAYOUT_OLD, "", "20");
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 10, 0, NULL));
    assert_values("orders", "a", "");
    assert_int_equal(command_number(&server, "EXISTS " OFFERED " " TIMEOUT_SET), 0);
}

static void test_transfer_of_wrong_arguments_is_invalid(void **state) {
    (void)state;
    assert_status(jobs.client, INVALID, dueq_redisson_transfer(orders, 0, 0, NULL));
    assert_status(jobs.client, INVALID,
                  dueq_redisson_transfer(orders, DUEQ_MAX_BATCH + 1, 0, NULL));
    assert_status(jobs.client, INVALID, dueq_redisson_transfer(orders, 1, -2, NULL));
}

static void test_transfer_of_many_from_anywhere_in_the_list(void **state) {
    (void)state;
    /* 6000 in another order than their times', so that each batch is spread over the list. */
    enum { ALL = 6000, STEP = 1009 };
    char value[16], score[16];
    redisContext *context = redisConnectUnix(server.socket);
    for (int i = 0; i < ALL; i++) {
        int turn = i * STEP % ALL;
        char element[64] = {8, (char)i, (char)(i >> 8), 1, 1, 1, 1, 1, 1, 6};
        snprintf(element + 17, 16, "%06d", turn);
        snprintf(score, sizeof score, "%d", turn + 1);
        redisAppendCommand(context, "RPUSH " OFFERED " %b", element, (size_t)23);
        redisAppendCommand(context, "ZADD " TIMEOUT_SET " %s %b", score, element, (size_t)23);
    }
    for (int i = 0; i < 2 * ALL; i++) {
        redisReply *reply;
        assert_int_equal(redisGetReply(context, (void **)&reply), REDIS_OK);
        freeReplyObject(reply);
    }
    redisFree(context);
    size_t moved = 0;
    for (size_t most = 1; moved < ALL; most = most % DUEQ_MAX_BATCH + 1) {
        dueq_moved step = DUEQ_MOVED;
        assert_status(jobs.client, OK, dueq_redisson_transfer(orders, most, 0, &step));
        moved += step.moved;
        assert_int_equal(command_number(&server, "LLEN " OFFERED), ALL - moved);
        assert_int_equal(command_number(&server, "ZCARD " TIMEOUT_SET), ALL - moved);
    }
    redisReply *list = command(&server, "LRANGE orders 0 -1");
    assert_int_equal(list->elements, ALL);
    for (int i = 0; i < ALL; i++) {
        snprintf(value, sizeof value, "%06d", i);
        assert_string_equal(list->element[i]->str, value);
    }
    freeReplyObject(list);
}

static void test_transfer_sets_aside_what_is_no_element(void **state) {
    (void)state;
    static const char short_size[] = "\x08"
                                     "ABCDEFGH\x04\0\0\0\0\0\0\0hello";
    static const char huge_size[] = "\x08"
                                    "ABCDEFGH\xff\xff\xff\xff\xff\xff\xff\xffhello";
    dueq_moved moved = DUEQ_MOVED;
    place(DUEQ_LAYOUT_NEW, "m1", "10");
    place_bytes(BYTES(""), "20");
    place_bytes(BYTES("garbage"), "21");
    place_bytes((dueq_bytes){short_size, sizeof short_size - 1}, "22");
    place_bytes((dueq_bytes){huge_size, sizeof huge_size - 1}, "23");
    place(DUEQ_LAYOUT_NEW, "m2", "30");
    place_bytes(BYTES("not due yet"), FAR);
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 100, 0, &moved));
    assert_int_equal(moved.moved, 2);
    assert_int_equal(moved.quarantined, 4);
    assert_status(jobs.client, EMPTY, dueq_redisson_transfer(orders, 100, 0, &moved));
    assert_values("orders", "m1", "m2");
    redisReply *quarantined = command(&server, "LRANGE dueq:{orders}:quarantine 0 -1");
    assert_int_equal(quarantined->elements, 4);
    assert_int_equal(quarantined->element[0]->len, 0);
    assert_string_equal(quarantined->element[1]->str, "garbage");
    assert_int_equal(quarantined->element[2]->len, sizeof short_size - 1);
    assert_memory_equal(quarantined->element[3]->str, huge_size, sizeof huge_size - 1);
    freeReplyObject(quarantined);
    assert_values(OFFERED, "not due yet");
    /* Nothing but such: that is something done, too. */
    run_command(&server, "DEL " OFFERED " " TIMEOUT_SET);
    place_bytes(BYTES("garbage"), "21");
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 100, 60000, &moved));
    assert_int_equal(moved.moved, 0);
    assert_int_equal(moved.quarantined, 1);
    dueq_sizes sizes = DUEQ_SIZES;
    assert_status(jobs.client, OK, dueq_redisson_size(orders, &sizes));
    assert_int_equal(sizes.quarantined, 5);
}

static void test_transfer_of_elements_that_are_in_one_of_both_only(void **state) {
    (void)state;
    dueq_moved moved = DUEQ_MOVED;
    dueq_result *result;
    place(DUEQ_LAYOUT_NEW, "no time", "10");
    run_command(&server, "DEL " TIMEOUT_SET);
    place(DUEQ_LAYOUT_NEW, "both", "20");
    place(DUEQ_LAYOUT_NEW, "no place", "30");
    run_command(&server, "RPOP " OFFERED);
    /* As Redisson does: by the sorted set. */
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 100, 0, &moved));
    assert_int_equal(moved.moved, 2);
    assert_values("orders", "both", "no place");
    assert_status(jobs.client, EMPTY, dueq_redisson_transfer(orders, 100, 0, &moved));
    assert_status(jobs.client, OK, dueq_redisson_poll(orders, 10, &result));
    assert_strings(result, "no time");
}

static void test_transfer_of_strange_times(void **state) {
    (void)state;
    dueq_moved moved = DUEQ_MOVED;
    char fraction[40];
    place(DUEQ_LAYOUT_NEW, "before all", "-5");
    place(DUEQ_LAYOUT_NEW, "minus", "-inf");
    place(DUEQ_LAYOUT_NEW, "never", "inf");
    place(DUEQ_LAYOUT_NEW, "half", "1234567.5");
    int64_t due = server_ms() + 300;
    snprintf(fraction, sizeof fraction, "%lld.25", (long long)due);
    place(DUEQ_LAYOUT_NEW, "soon", fraction);
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 100, 0, &moved));
    assert_int_equal(moved.moved, 3);
    assert_int_equal(moved.next_ms, due + 1);
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 100, 60000, &moved));
    assert_true(server_ms() > due);
    assert_int_equal(moved.next_ms, 0);
    assert_values("orders", "minus", "before all", "half", "soon");
    dueq_sizes sizes = DUEQ_SIZES;
    assert_status(jobs.client, OK, dueq_redisson_size(orders, &sizes));
    assert_int_equal(sizes.delayed, 1);
    assert_int_equal(sizes.next_ms, 0);
    int64_t start = now_ms();
    assert_status(jobs.client, EMPTY, dueq_redisson_transfer(orders, 100, 300, &moved));
    assert_in_range(now_ms() - start, 299, 5000);
}

static void test_transfer_waits_for_the_due_time(void **state) {
    (void)state;
    int64_t start = now_ms();
    offer_text(orders, "x", 400);
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 100, 60000, NULL));
    assert_in_range(now_ms() - start + 2, 400, 3400);
    assert_values("orders", "x");
}

static void test_transfer_is_woken_by_another_clients_offer(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    dueq_redisson *theirs = open_delayed(other.client, "orders", DUEQ_LAYOUT_FOUND);
    place(DUEQ_LAYOUT_NEW, "far", FAR);
    for (int i = 0; i < 3; i++) {
        submit_waiting();
        int64_t start = now_ms();
        offer_text(theirs, "x", i * 100);
        finish(jobs.client, 10000, 1);
        assert_in_range(now_ms() - start + 2, i * 100, 3000);
    }
    assert_values("orders", "x", "x", "x");
    dueq_redisson_close(theirs);
    jobs_close(other);
}

static void test_transfer_is_woken_by_what_redisson_publishes(void **state) {
    (void)state;
    char text[32];
    submit_waiting();
    snprintf(text, sizeof text, "%lld", (long long)server_ms() + 200);
    place(DUEQ_LAYOUT_NEW, "x", text);
    run_command(&server, "PUBLISH " CHANNEL " %s", text);
    finish(jobs.client, 5000, 1);
}

static void test_transfer_is_not_confused_by_other_messages(void **state) {
    (void)state;
    static const char *const texts[] = {"",    "x",   "-1", "1e3", "1.5", "99999999999999999999",
                                        "nan", "0x5", FAR,  "0",   " 7",  "9223372036854775807"};
    submit_waiting();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        run_command(&server, "PUBLISH " CHANNEL " %s", texts[i]);
    assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 300));
    place(DUEQ_LAYOUT_NEW, "x", "5");
    run_command(&server, "PUBLISH " CHANNEL " 5");
    finish(jobs.client, 5000, 1);
}

static void test_transfer_finds_what_nobody_told(void **state) {
    (void)state;
    submit_waiting();
    place(DUEQ_LAYOUT_NEW, "x", "5");
    int64_t start = now_ms();
    finish(jobs.client, 30000, 1);
    assert_true(now_ms() - start < 25000);
}

static void test_transfer_goes_on_when_its_subscription_is_killed(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    dueq_redisson *theirs = open_delayed(other.client, "orders", DUEQ_LAYOUT_FOUND);
    submit_waiting();
    /* What came while nobody listened is found by the look that follows. */
    place(DUEQ_LAYOUT_NEW, "unheard", "5");
    assert_int_equal(command_number(&server, "CLIENT KILL TYPE pubsub"), 1);
    finish(jobs.client, 5000, 1);
    submit_waiting();
    assert_int_equal(command_number(&server, "CLIENT KILL TYPE pubsub"), 1);
    assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 200));
    await_subscribed(1);
    offer_text(theirs, "heard", 0);
    finish(jobs.client, 5000, 1);
    assert_values("orders", "unheard", "heard");
    dueq_redisson_close(theirs);
    jobs_close(other);
}

static void test_transfer_goes_on_after_a_restart(void **state) {
    (void)state;
    offer_text(orders, "before", 1500);
    submit_waiting();
    server_kill(&server);
    server_restart(&server);
    finish(jobs.client, 20000, 1);
    assert_values("orders", "before");
    submit_waiting();
    server_kill(&server);
    assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 300));
    server_restart(&server);
    while (command_number(&server, "PUBLISH " CHANNEL " 0") == 0)
        assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 20));
    struct jobs other = jobs_open(server.url);
    dueq_redisson *theirs = open_delayed(other.client, "orders", DUEQ_LAYOUT_FOUND);
    offer_text(theirs, "after", 100);
    finish(jobs.client, 20000, 1);
    assert_values("orders", "before", "after");
    dueq_redisson_close(theirs);
    jobs_close(other);
}

static void test_transfer_stays_subscribed_from_call_to_call(void **state) {
    (void)state;
    submit_waiting();
    redisReply *before = command(&server, "CLIENT LIST TYPE pubsub");
    for (int i = 0; i < 5; i++) {
        struct jobs other = jobs_open(server.url);
        dueq_redisson *theirs = open_delayed(other.client, "orders", DUEQ_LAYOUT_FOUND);
        offer_text(theirs, "x", 0);
        finish(jobs.client, 5000, 1);
        dueq_redisson_close(theirs);
        jobs_close(other);
        submit_waiting();
    }
    redisReply *after = command(&server, "CLIENT LIST TYPE pubsub");
    assert_int_equal(atoll(strstr(before->str, "id=") + 3), atoll(strstr(after->str, "id=") + 3));
    freeReplyObject(before);
    freeReplyObject(after);
    dueq_abandon(jobs.client);
}

static void test_transfer_and_other_calls_of_one_client(void **state) {
    (void)state;
    dueq_redisson *second = open_delayed(jobs.client, "second", DUEQ_LAYOUT_FOUND);
    for (int i = 0; i < 3; i++) {
        offer_text(orders, "a", 50);
        assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 1, 5000, NULL));
        offer_text(second, "b", 50);
        assert_status(jobs.client, OK, dueq_redisson_transfer(second, 1, 5000, NULL));
        assert_status(jobs.client, OK, dueq_redisson_take(second, 1, 5000, NULL));
        assert_status(jobs.client, EMPTY, dueq_redisson_take(second, 1, 50, NULL));
        push_body(jobs.queue, "c", 50, NULL);
        dueq_result *result;
        reserve_one(jobs.queue, 5000, 0, &result);
        dueq_result_free(result);
    }
    assert_values("orders", "a", "a", "a");
    dueq_redisson_close(second);
}

static void test_transfer_abandoned_and_its_wait_stopped(void **state) {
    (void)state;
    submit_waiting();
    dueq_abandon(jobs.client);
    submit_waiting();
    dueq_stop_wait(jobs.client);
    assert_status(jobs.client, EMPTY, dueq_wait(jobs.client, 5000));
    submit_waiting();
    dueq_redisson_close(orders);
    orders = open_delayed(jobs.client, "orders", DUEQ_LAYOUT_FOUND);
    offer_text(orders, "x", 0);
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 1, 0, NULL));
}

static void test_transfer_by_several_at_once_moves_each_once(void **state) {
    (void)state;
    enum { ALL = 2000, WORKERS = 4 };
    pid_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        assert_true(workers[i] >= 0);
        if (workers[i])
            continue;
        dueq_client *client;
        dueq_redisson *queue;
        dueq_status status = dueq_open(server.url, &client);
        status = status ? status
                        : dueq_redisson_open(client, "orders", 6, DUEQ_CODEC_STRING,
                                             DUEQ_LAYOUT_FOUND, &queue);
        while (!status)
            status = dueq_redisson_transfer(queue, 7, 2000, NULL);
        _exit(status == DUEQ_EMPTY ? 0 : 1);
    }
    await_subscribed(WORKERS);
    for (int i = 0; i < ALL; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        offer_text(orders, text, i * 7 % 300);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(child_end(workers[i]), 0);
    redisReply *list = command(&server, "LRANGE orders 0 -1");
    static bool seen[ALL];
    assert_int_equal(list->elements, ALL);
    for (size_t i = 0; i < ALL; i++) {
        assert_false(seen[atoi(list->element[i]->str)]);
        seen[atoi(list->element[i]->str)] = true;
    }
    freeReplyObject(list);
    assert_int_equal(command_number(&server, "EXISTS " OFFERED " " TIMEOUT_SET), 0);
}

static void test_transfer_in_the_parent_is_not_disturbed_by_a_fork(void **state) {
    (void)state;
    submit_waiting();
    pid_t child = fork();
    if (child == 0) {
        dueq_status taken = dueq_pump(jobs.client);
        dueq_take(jobs.client, NULL);
        dueq_offer offer = string_offer("from the child", 0);
        dueq_status offered = dueq_redisson_offer(orders, &offer, 1);
        _exit(taken == DUEQ_CLOSED && offered == DUEQ_OK ? 0 : 1);
    }
    finish(jobs.client, 10000, 1);
    assert_int_equal(child_end(child), 0);
    assert_values("orders", "from the child");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DELAYED_TEST(test_transfer_moves_what_is_due_by_its_time),
        DELAYED_TEST(test_transfer_moves_the_old_layout),
        DELAYED_TEST(test_transfer_of_wrong_arguments_is_invalid),
        DELAYED_TEST(test_transfer_of_many_from_anywhere_in_the_list),
        DELAYED_TEST(test_transfer_sets_aside_what_is_no_element),
        DELAYED_TEST(test_transfer_of_elements_that_are_in_one_of_both_only),
        DELAYED_TEST(test_transfer_of_strange_times),
        DELAYED_TEST(test_transfer_waits_for_the_due_time),
        DELAYED_TEST(test_transfer_is_woken_by_another_clients_offer),
        DELAYED_TEST(test_transfer_is_woken_by_what_redisson_publishes),
        DELAYED_TEST(test_transfer_is_not_confused_by_other_messages),
        DELAYED_TEST(test_transfer_finds_what_nobody_told),
        DELAYED_TEST(test_transfer_goes_on_when_its_subscription_is_killed),
        DELAYED_TEST(test_transfer_goes_on_after_a_restart),
        DELAYED_TEST(test_transfer_stays_subscribed_from_call_to_call),
        DELAYED_TEST(test_transfer_and_other_calls_of_one_client),
        DELAYED_TEST(test_transfer_abandoned_and_its_wait_stopped),
        DELAYED_TEST(test_transfer_by_several_at_once_moves_each_once),
        DELAYED_TEST(test_transfer_in_the_parent_is_not_disturbed_by_a_fork),
    };
    return run_on_server(tests, NULL);
}
