/* Redisson's delayed queues: taking from the destination, and what is done to values that wait. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"
#include "redisson/redisson.h"
#include "redisson_fixture.h"

static struct proxy proxy;

static void put(const char *value) { run_command(&server, "RPUSH orders %s", value); }

/* Waits for the end of a submitted take; asserts that it brought this alone. */
static void finish(dueq_client *client, const char *value) {
    dueq_result *result;
    assert_status(client, OK, dueq_wait(client, 20000));
    assert_status(client, OK, dueq_take(client, &result));
    assert_strings(result, value);
}

static void submit_waiting(long long consumers) {
    assert_status(jobs.client, PENDING, dueq_redisson_take_submit(orders, 10, 120000));
    pump_until_blocked(jobs.client, consumers);
}

static void assert_nothing_left(void) {
    assert_int_equal(command_number(&server, "EXISTS orders dueq:{orders}:parked"), 0);
}

/* take */

static void test_take_takes_as_many_as_asked(void **state) {
    (void)state;
    dueq_result *result;
    for (const char *const *value = (const char *const[]){"a", "b", "c", NULL}; *value; value++)
        put(*value);
    assert_status(jobs.client, OK, dueq_redisson_take(orders, 2, 0, &result));
    assert_strings(result, "a", "b");
    assert_status(jobs.client, OK, dueq_redisson_take(orders, 2, 60000, &result));
    assert_strings(result, "c");
    assert_status(jobs.client, EMPTY, dueq_redisson_take(orders, 2, 0, &result));
    int64_t start = now_ms();
    assert_status(jobs.client, EMPTY, dueq_redisson_take(orders, 2, 200, &result));
    assert_null(result);
    assert_in_range(now_ms() - start, 199, 5000);
    assert_status(jobs.client, INVALID, dueq_redisson_take(orders, 0, 0, &result));
    assert_status(jobs.client, INVALID, dueq_redisson_take(orders, 201, 0, &result));
    assert_status(jobs.client, INVALID, dueq_redisson_take(orders, 1, -2, &result));
}

static void test_take_is_woken_by_any_producer(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        submit_waiting(1);
        put("x");
        int64_t start = now_ms();
        finish(jobs.client, "x");
        assert_true(now_ms() - start < 3000);
        assert_nothing_left();
    }
}

static void test_take_is_woken_by_a_transfer(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    dueq_redisson *theirs = open_delayed(other.client, "orders", DUEQ_LAYOUT_FOUND);
    submit_waiting(1);
    offer_text(theirs, "soon", 200);
    assert_status(other.client, OK, dueq_redisson_transfer(theirs, 100, 20000, NULL));
    finish(jobs.client, "soon");
    assert_nothing_left();
    dueq_redisson_close(theirs);
    jobs_close(other);
}

static void test_take_of_what_the_codec_cannot_read(void **state) {
    (void)state;
    dueq_result *result;
    run_command(&server, "RPUSH orders good %b %b", "\xff\x00\xfe", (size_t)3, "", (size_t)0);
    assert_status(jobs.client, OK, dueq_redisson_take(orders, 10, 0, &result));
    assert_int_equal(dueq_result_count(result), 3);
    assert_int_equal(dueq_result_status(result, 0), DUEQ_OK);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_CORRUPT);
    const dueq_value *value = dueq_result_value(result, 1);
    assert_int_equal(value->kind, DUEQ_BINARY);
    assert_int_equal(value->bytes.size, 3);
    assert_memory_equal(value->bytes.data, "\xff\x00\xfe", 3);
    assert_int_equal(dueq_result_value(result, 2)->kind, DUEQ_STRING);
    assert_int_equal(dueq_result_value(result, 2)->bytes.size, 0);
    dueq_result_free(result);
}

static void test_take_of_every_kind_by_kryo(void **state) {
    (void)state;
    dueq_redisson *kryo;
    dueq_result *result;
    enum { SIZE = sizeof(dueq_offer) };
    const dueq_offer offers[] = {
        {SIZE, .value = {.kind = DUEQ_NULL}},
        {SIZE, .value = {.kind = DUEQ_BOOLEAN, .integer = 1}},
        {SIZE, .value = {.kind = DUEQ_INTEGER, .integer = -7}},
        {SIZE, .value = {.kind = DUEQ_LONG, .integer = INT64_MIN}},
        {SIZE, .value = {.kind = DUEQ_DOUBLE, .number = 1.5}},
        {SIZE,
         .value = {.kind = DUEQ_STRING, .bytes = BYTES("\xf0\x9f\x90\x98 gr\xc3\xbc\xc3\x9f")}},
        {SIZE, .value = {.kind = DUEQ_BINARY, .bytes = {"a\0b", 3}}},
    };
    const size_t count = sizeof offers / sizeof *offers;
    assert_status(
        jobs.client, OK,
        dueq_redisson_open(jobs.client, "orders", 6, DUEQ_CODEC_KRYO5, DUEQ_LAYOUT_FOUND, &kryo));
    /* In turn, for what is due in the same ms has no order. */
    for (size_t i = 0; i < count; i++) {
        assert_status(jobs.client, OK, dueq_redisson_offer(kryo, &offers[i], 1));
        assert_status(jobs.client, OK, dueq_redisson_contains(kryo, &offers[i].value));
        assert_status(jobs.client, OK, dueq_redisson_transfer(kryo, 1, 1000, NULL));
    }
    assert_status(jobs.client, OK, dueq_redisson_take(kryo, 100, 0, &result));
    assert_int_equal(dueq_result_count(result), count);
    for (size_t i = 0; i < count; i++) {
        const dueq_value *value = dueq_result_value(result, i), *offered = &offers[i].value;
        assert_int_equal(dueq_result_status(result, i), DUEQ_OK);
        assert_int_equal(value->kind, offered->kind);
        assert_true(value->integer == offered->integer);
        assert_true(value->number == offered->number);
        assert_int_equal(value->bytes.size, offered->bytes.size);
        assert_true(value->bytes.size == 0 ||
                    memcmp(value->bytes.data, offered->bytes.data, value->bytes.size) == 0);
    }
    dueq_result_free(result);
    dueq_redisson_close(kryo);
}

static void test_take_of_a_large_value(void **state) {
    (void)state;
    enum { SIZE = 3 << 20 };
    char *large = memset(malloc(SIZE + 1), 'v', SIZE);
    large[SIZE] = '\0';
    /* It comes as the answer to a block. */
    submit_waiting(1);
    run_command(&server, "RPUSH orders %s", large);
    finish(jobs.client, large);
    /* The answer to what gives it back comes behind another call. */
    submit_waiting(1);
    run_command(&server, "RPUSH orders %s", large);
    await_blocked(&server, 0);
    dueq_abandon(jobs.client);
    assert_status(jobs.client, OK, push_text(jobs.queue, "small"));
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_redisson_take(orders, 1, 5000, &result));
    assert_strings(result, large);
    assert_nothing_left();
    free(large);
}

/* Takes one value in a process of its own, and dies with it where it is asked to. */
static pid_t taker_start(int64_t timeout_ms) {
    pid_t taker = fork();
    assert_true(taker >= 0);
    if (taker)
        return taker;
    dueq_client *client;
    dueq_redisson *queue;
    dueq_result *result;
    dueq_status status = dueq_open(server.url, &client);
    if (!status)
        status =
            dueq_redisson_open(client, "orders", 6, DUEQ_CODEC_STRING, DUEQ_LAYOUT_FOUND, &queue);
    if (!status)
        status = dueq_redisson_take(queue, 1, timeout_ms, &result);
    _exit(status < 0 ? 100 - (int)status : (int)status);
}

static void test_take_by_a_process_that_is_killed_while_it_waits(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 10; i++) {
        pid_t taker = taker_start(60000);
        await_blocked(&server, 1);
        /* The server gives it the value, and it never asks for more. */
        kill(taker, SIGSTOP);
        put("kept");
        await_blocked(&server, 0);
        dueq_sizes sizes = DUEQ_SIZES;
        assert_status(jobs.client, OK, dueq_redisson_size(orders, &sizes));
        assert_int_equal(sizes.ready, 1);
        kill(taker, SIGKILL);
        assert_int_equal(waitpid(taker, NULL, 0), taker);
        put("next");
        assert_status(jobs.client, OK, dueq_redisson_take(orders, 10, 0, &result));
        assert_strings(result, "kept", "next");
        assert_nothing_left();
    }
}

static void test_take_that_waits_finds_what_a_killed_one_left(void **state) {
    (void)state;
    pid_t taker = taker_start(60000);
    await_blocked(&server, 1);
    kill(taker, SIGSTOP);
    put("kept");
    await_blocked(&server, 0);
    submit_waiting(0);
    finish(jobs.client, "kept");
    /* Nobody else is told of a value that is parked; whoever waits looks by itself. */
    submit_waiting(1);
    run_command(&server, "RPUSH dueq:{orders}:parked left");
    finish(jobs.client, "left");
    kill(taker, SIGKILL);
    assert_int_equal(waitpid(taker, NULL, 0), taker);
}

static void test_take_abandoned_gives_back_what_it_was_given(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 60; i++) {
        submit_waiting(1);
        put("a");
        put("b");
        /* Anywhere between the parked value and the answer with both. */
        int steps = i % 6;
        while (steps-- && dueq_pump(jobs.client) == DUEQ_PENDING)
            usleep((useconds_t)(i % 7 * 50));
        if (dueq_pump(jobs.client) == DUEQ_OK)
            assert_status(jobs.client, OK, dueq_take(jobs.client, &result));
        else
            result = NULL;
        dueq_abandon(jobs.client);
        size_t got = dueq_result_count(result);
        dueq_result_free(result);
        while (got < 2) {
            assert_status(jobs.client, OK, dueq_redisson_take(orders, 10, 5000, &result));
            got += dueq_result_count(result);
            dueq_result_free(result);
        }
        assert_int_equal(got, 2);
        assert_nothing_left();
    }
}

static void test_take_abandoned_gives_back_what_nobody_has_read(void **state) {
    (void)state;
    dueq_result *result;
    for (int64_t timeout_ms = 0; timeout_ms < 1001; timeout_ms += 1000) {
        put("a");
        put("b");
        assert_status(jobs.client, PENDING, dueq_redisson_take_submit(orders, 2, timeout_ms));
        assert_status(jobs.client, OK, dueq_wait(jobs.client, 10000));
        dueq_abandon(jobs.client);
        assert_status(jobs.client, OK, dueq_redisson_take(orders, 2, 0, &result));
        assert_int_equal(dueq_result_count(result), 2);
        assert_memory_equal(dueq_result_value(result, 0)->bytes.data, "a", 1);
        dueq_result_free(result);
        assert_nothing_left();
    }
}

static void test_take_at_the_end_of_its_patience_loses_nothing(void **state) {
    (void)state;
    /* Values come when waits end: each is taken by one of them, or stays. */
    enum { ALL = 400 };
    int taken = 0;
    pid_t producer = fork();
    assert_true(producer >= 0);
    if (producer == 0) {
        redisContext *context = redisConnectUnix(server.socket);
        for (int i = 0; i < ALL; i++) {
            freeReplyObject(redisCommand(context, "RPUSH orders x"));
            usleep((useconds_t)(i * 37 % 9000));
        }
        _exit(0);
    }
    for (int64_t end = now_ms() + 60000; taken < ALL && now_ms() < end;) {
        dueq_result *result;
        dueq_status status = dueq_redisson_take(orders, 10, 3, &result);
        assert_true(status == DUEQ_OK || status == DUEQ_EMPTY);
        taken += (int)dueq_result_count(result);
        dueq_result_free(result);
    }
    assert_int_equal(child_end(producer), 0);
    assert_int_equal(taken, ALL);
    assert_nothing_left();
}

/* Connections that are lost */

static void test_take_and_the_others_cut_are_run_once(void **state) {
    (void)state;
    dueq_client *client = open_client(proxy.url);
    dueq_redisson *cut = open_delayed(client, "orders", DUEQ_LAYOUT_FOUND);
    dueq_offer offer = string_offer("HELLO-WORLD", 0);
    dueq_result *result;
    dueq_moved moved = DUEQ_MOVED;
    size_t cleared;
    /* All scripts are loaded, so that the next request is the one that is cut. */
    offer_text(cut, "first", 0);
    dueq_redisson_transfer(cut, 1, 0, NULL);
    dueq_redisson_take(cut, 1, 0, NULL);
    dueq_redisson_poll(cut, 1, NULL);
    dueq_redisson_remove(cut, &offer.value);
    dueq_redisson_clear(cut, NULL);
    for (int times = 1; times <= 2; times++) {
        proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", times);
        assert_status(client, OK, dueq_redisson_offer(cut, &offer, 1));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(command_number(&server, "LLEN " OFFERED), 1);
        assert_int_equal(command_number(&server, "ZCARD " TIMEOUT_SET), 1);
        proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
        assert_status(client, OK, dueq_redisson_transfer(cut, 10, 0, &moved));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(moved.moved, 1);
        assert_values("orders", "HELLO-WORLD");
        put("two");
        proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
        assert_status(client, OK, dueq_redisson_take(cut, 1, times == 1 ? 0 : 10000, &result));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_strings(result, "HELLO-WORLD");
        assert_values("orders", "two");
        run_command(&server, "DEL orders");
        offer_text(orders, "poll me", 60000);
        proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
        assert_status(client, OK, dueq_redisson_poll(cut, 1, &result));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_strings(result, "poll me");
        offer_text(orders, "HELLO-WORLD", 60000);
        offer_text(orders, "HELLO-WORLD", 60000);
        proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 1);
        assert_status(client, OK, dueq_redisson_remove(cut, &offer.value));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(command_number(&server, "LLEN " OFFERED), 1);
        proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
        assert_status(client, OK, dueq_redisson_clear(cut, &cleared));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(cleared, 1);
    }
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    dueq_redisson_close(cut);
    dueq_close(client);
}

static void test_take_cut_while_it_waits_loses_nothing(void **state) {
    (void)state;
    dueq_client *client = open_client(proxy.url);
    dueq_redisson *cut = open_delayed(client, "orders", DUEQ_LAYOUT_FOUND);
    for (int i = 0; i < 10; i++) {
        assert_status(client, PENDING, dueq_redisson_take_submit(cut, 1, 60000));
        pump_until_blocked(client, 1);
        /* The value is parked, and its answer meets a connection that is gone. */
        run_command(&server, "CLIENT PAUSE 50 WRITE");
        run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
        put("x");
        finish(client, "x");
        assert_nothing_left();
    }
    dueq_redisson_close(cut);
    dueq_close(client);
}

/* A queue whose calls give up soon. It is connected, and has its script loaded. */
static dueq_redisson *open_hasty(void) {
    dueq_client *client = open_client(url_with("", "?timeout=300ms"));
    dueq_redisson *hasty = open_delayed(client, "orders", DUEQ_LAYOUT_FOUND);
    put("warm");
    assert_status(client, OK, dueq_redisson_take(hasty, 9, 0, NULL));
    return hasty;
}

static void test_take_whose_answer_never_came_is_taken_back(void **state) {
    (void)state;
    dueq_redisson *hasty = open_hasty();
    dueq_client *client = hasty->queue.client;
    dueq_result *result;
    put("a");
    put("b");
    /* The server stops, and runs the take when its client has given it up. */
    kill(server.pid, SIGSTOP);
    assert_status(client, TIMEOUT, dueq_redisson_take(hasty, 9, 0, NULL));
    kill(server.pid, SIGCONT);
    assert_status(client, OK, dueq_redisson_take(hasty, 1, 5000, &result));
    assert_strings(result, "a");
    assert_status(client, OK, dueq_redisson_take(hasty, 9, 5000, &result));
    assert_strings(result, "b");
    assert_nothing_left();
    dueq_redisson_close(hasty);
    dueq_close(client);
}

static void test_take_whose_answer_never_came_is_taken_back_after_other_calls(void **state) {
    (void)state;
    dueq_redisson *hasty = open_hasty();
    dueq_client *client = hasty->queue.client;
    dueq_result *result;
    put("a");
    put("b");
    for (int times = 0; times < 3; times++) {
        kill(server.pid, SIGSTOP);
        assert_status(client, TIMEOUT, dueq_redisson_take(hasty, 9, 0, NULL));
        /* This one does not come to the server, so the one before is still to be taken back. */
        assert_status(client, TIMEOUT, dueq_redisson_take(hasty, 9, 0, NULL));
        kill(server.pid, SIGCONT);
        /* Another call is noted; and it connects, so that the next take comes to the server. */
        offer_text(hasty, "later", 60000);
    }
    assert_status(client, OK, dueq_redisson_take(hasty, 9, 5000, &result));
    assert_strings(result, "a", "b");
    /* What was read is not taken back. */
    assert_status(client, EMPTY, dueq_redisson_take(hasty, 9, 0, NULL));
    assert_nothing_left();
    dueq_redisson_close(hasty);
    dueq_close(client);
}

static void test_take_waits_through_a_restart(void **state) {
    (void)state;
    submit_waiting(1);
    server_kill(&server);
    server_restart(&server);
    put("after");
    finish(jobs.client, "after");
}

static void test_take_waits_while_the_server_is_full(void **state) {
    (void)state;
    put("before");
    run_command(&server, "CONFIG SET maxmemory 1");
    assert_status(jobs.client, PENDING, dueq_redisson_take_submit(orders, 10, 120000));
    finish(jobs.client, "before");
    assert_status(jobs.client, PENDING, dueq_redisson_take_submit(orders, 10, 120000));
    long long before = info_number(&server, "stats", "total_commands_processed");
    assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 1500));
    /* It does not knock all the time. */
    assert_in_range(info_number(&server, "stats", "total_commands_processed") - before, 1, 100);
    run_command(&server, "CONFIG SET maxmemory 0");
    put("after");
    int64_t start = now_ms();
    finish(jobs.client, "after");
    assert_true(now_ms() - start < 3000);
    assert_nothing_left();
}

static void test_take_in_the_parent_is_not_disturbed_by_a_fork(void **state) {
    (void)state;
    submit_waiting(1);
    pid_t child = fork();
    if (child == 0) {
        dueq_status taken = dueq_pump(jobs.client);
        dueq_take(jobs.client, NULL);
        dueq_offer offer = string_offer("from the child", 0);
        dueq_status status = dueq_redisson_offer(orders, &offer, 1);
        status = status ? status : dueq_redisson_transfer(orders, 1, 1000, NULL);
        _exit(taken == DUEQ_CLOSED && status == DUEQ_OK ? 0 : 1);
    }
    finish(jobs.client, "from the child");
    assert_int_equal(child_end(child), 0);
}

/* Values that wait */

static void test_poll_and_peek_have_the_longest_offered_first(void **state) {
    (void)state;
    dueq_result *result;
    assert_status(jobs.client, EMPTY, dueq_redisson_poll(orders, 5, &result));
    assert_status(jobs.client, EMPTY, dueq_redisson_peek(orders, 5, &result));
    assert_null(result);
    offer_text(orders, "a", 90000);
    offer_text(orders, "b", 60000);
    offer_text(orders, "c", 0);
    assert_status(jobs.client, OK, dueq_redisson_peek(orders, 2, &result));
    assert_strings(result, "a", "b");
    assert_status(jobs.client, OK, dueq_redisson_poll(orders, 1, &result));
    assert_strings(result, "a");
    assert_status(jobs.client, OK, dueq_redisson_poll(orders, 200, &result));
    assert_strings(result, "b", "c");
    assert_int_equal(command_number(&server, "EXISTS orders " OFFERED " " TIMEOUT_SET), 0);
    assert_status(jobs.client, INVALID, dueq_redisson_poll(orders, 0, &result));
    assert_status(jobs.client, INVALID, dueq_redisson_peek(orders, 201, &result));
}

static void test_poll_gives_what_is_no_element_as_it_is(void **state) {
    (void)state;
    dueq_result *result;
    place(DUEQ_LAYOUT_OLD, "a", "10");
    place_bytes(BYTES("garbage"), "20");
    for (int i = 0; i < 2; i++) {
        assert_status(jobs.client, OK,
                      i ? dueq_redisson_poll(orders, 9, &result)
                        : dueq_redisson_peek(orders, 9, &result));
        assert_int_equal(dueq_result_count(result), 2);
        assert_int_equal(dueq_result_status(result, 0), DUEQ_OK);
        assert_int_equal(dueq_result_status(result, 1), DUEQ_CORRUPT);
        assert_int_equal(dueq_result_value(result, 1)->kind, DUEQ_BINARY);
        assert_memory_equal(dueq_result_value(result, 1)->bytes.data, "garbage", 7);
        dueq_result_free(result);
    }
    assert_int_equal(command_number(&server, "EXISTS " OFFERED " " TIMEOUT_SET), 0);
}

static void test_remove_takes_the_longest_offered_alone(void **state) {
    (void)state;
    for (int layout = DUEQ_LAYOUT_NEW; layout <= DUEQ_LAYOUT_OLD; layout++) {
        dueq_redisson *queue = open_delayed(jobs.client, "orders", (dueq_layout)layout);
        const dueq_value twin = string_offer("twin", 0).value, other = string_offer("win", 0).value,
                         none = string_offer("", 0).value;
        dueq_result *result;
        assert_status(jobs.client, NOT_FOUND, dueq_redisson_remove(queue, &twin));
        assert_status(jobs.client, NOT_FOUND, dueq_redisson_contains(queue, &twin));
        for (int i = 0; i < 3000; i += 200) {
            dueq_offer offers[200];
            for (int k = 0; k < 200; k++)
                offers[k] = string_offer("filling", 60000);
            assert_status(jobs.client, OK, dueq_redisson_offer(queue, offers, 200));
        }
        offer_text(queue, "twin", 60000);
        offer_text(queue, "last", 60000);
        offer_text(queue, "twin", 30000);
        assert_status(jobs.client, NOT_FOUND, dueq_redisson_contains(queue, &other));
        assert_status(jobs.client, NOT_FOUND, dueq_redisson_remove(queue, &none));
        assert_status(jobs.client, OK, dueq_redisson_contains(queue, &twin));
        assert_status(jobs.client, OK, dueq_redisson_remove(queue, &twin));
        assert_int_equal(command_number(&server, "LLEN " OFFERED), 3002);
        assert_int_equal(command_number(&server, "ZCARD " TIMEOUT_SET), 3002);
        for (int i = 0; i < 3000; i += 200)
            assert_status(jobs.client, OK, dueq_redisson_poll(queue, 200, NULL));
        assert_status(jobs.client, OK, dueq_redisson_peek(queue, 9, &result));
        assert_strings(result, "last", "twin");
        assert_status(jobs.client, OK, dueq_redisson_remove(queue, &twin));
        assert_status(jobs.client, NOT_FOUND, dueq_redisson_remove(queue, &twin));
        assert_status(jobs.client, OK, dueq_redisson_clear(queue, NULL));
        dueq_redisson_close(queue);
    }
}

static void test_clear_and_size(void **state) {
    (void)state;
    dueq_sizes sizes = DUEQ_SIZES;
    size_t cleared;
    assert_status(jobs.client, OK, dueq_redisson_size(orders, &sizes));
    assert_int_equal(
        sizes.ready + sizes.delayed + sizes.reserved + sizes.quarantined + sizes.next_ms, 0);
    assert_status(jobs.client, OK, dueq_redisson_clear(orders, &cleared));
    assert_int_equal(cleared, 0);
    dueq_offer at = string_offer("at", 0);
    at.at_ms = server_ms() + 600000;
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, &at, 1));
    offer_text(orders, "later", 900000);
    put("ready");
    int64_t before = server_ms();
    assert_status(jobs.client, OK, dueq_redisson_size(orders, &sizes));
    assert_int_equal(sizes.ready, 1);
    assert_int_equal(sizes.delayed, 2);
    assert_int_equal(sizes.quarantined, 0);
    assert_int_equal(sizes.next_ms, at.at_ms);
    assert_in_range(sizes.now_ms, before, server_ms());
    assert_status(jobs.client, OK, dueq_redisson_clear(orders, &cleared));
    assert_int_equal(cleared, 2);
    assert_values("orders", "ready");
    assert_int_equal(command_number(&server, "EXISTS " OFFERED " " TIMEOUT_SET), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DELAYED_TEST(test_take_takes_as_many_as_asked),
        DELAYED_TEST(test_take_is_woken_by_any_producer),
        DELAYED_TEST(test_take_is_woken_by_a_transfer),
        DELAYED_TEST(test_take_of_what_the_codec_cannot_read),
        DELAYED_TEST(test_take_of_every_kind_by_kryo),
        DELAYED_TEST(test_take_of_a_large_value),
        DELAYED_TEST(test_take_by_a_process_that_is_killed_while_it_waits),
        DELAYED_TEST(test_take_that_waits_finds_what_a_killed_one_left),
        DELAYED_TEST(test_take_abandoned_gives_back_what_it_was_given),
        DELAYED_TEST(test_take_abandoned_gives_back_what_nobody_has_read),
        DELAYED_TEST(test_take_at_the_end_of_its_patience_loses_nothing),
        DELAYED_TEST(test_take_and_the_others_cut_are_run_once),
        DELAYED_TEST(test_take_cut_while_it_waits_loses_nothing),
        DELAYED_TEST(test_take_whose_answer_never_came_is_taken_back),
        DELAYED_TEST(test_take_whose_answer_never_came_is_taken_back_after_other_calls),
        DELAYED_TEST(test_take_waits_through_a_restart),
        DELAYED_TEST(test_take_waits_while_the_server_is_full),
        DELAYED_TEST(test_take_in_the_parent_is_not_disturbed_by_a_fork),
        DELAYED_TEST(test_poll_and_peek_have_the_longest_offered_first),
        DELAYED_TEST(test_poll_gives_what_is_no_element_as_it_is),
        DELAYED_TEST(test_remove_takes_the_longest_offered_alone),
        DELAYED_TEST(test_clear_and_size),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = run_selected(tests);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
