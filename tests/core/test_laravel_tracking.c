/*
 * Who waits for a queue of Laravel's is told of what its producers and workers tell nobody: without
 * that, it would look after 12 seconds.
 */
#include <time.h>

#include "laravel_fixture.h"

#define ONE "{\"job\":\"A\",\"attempts\":0,\"n\":1}"

static void submit_pop(struct laravel from) {
    assert_status(from.client, PENDING, dueq_laravel_pop_submit(from.queue, 1, 20000, 0));
}

static void submit_migrate(struct laravel from) {
    assert_status(from.client, PENDING, dueq_laravel_migrate_submit(from.queue, 10, 20000));
}

/* Until the server tells those who wait of changes of so many keys. */
static void pump_until_told(dueq_client *waiting, long long keys) {
    while (info_number(&server, "stats", "tracking_total_keys") < keys)
        assert_status(waiting, PENDING, dueq_wait(waiting, 5));
}

static void end_call(struct laravel from, const char *payload) {
    dueq_result *result;
    assert_status(from.client, OK, dueq_wait(from.client, 15000));
    assert_status(from.client, OK, dueq_take(from.client, &result));
    if (payload)
        assert_bytes(dueq_result_job(result, 0)->payload, payload);
    else
        assert_int_equal(dueq_result_moved(result)->moved, 1);
    dueq_result_free(result);
}

static long long looks(void) { return calls_of(&server, "evalsha"); }

static void test_who_waits_is_quiet(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        (i ? submit_pop : submit_migrate)(laravel);
        pump_until_told(laravel.client, i ? 3 : 2);
        /* The answer of the look may still be on its way. */
        assert_status(laravel.client, PENDING, dueq_wait(laravel.client, 100));
        run_command(&server, "CONFIG RESETSTAT");
        clock_t used = clock();
        assert_status(laravel.client, PENDING, dueq_wait(laravel.client, 2500));
        assert_true(clock() - used < CLOCKS_PER_SEC / 2);
        assert_int_equal(looks(), 0);
        dueq_abandon(laravel.client);
        laravel_close(laravel);
        laravel = laravel_open(server.url);
    }
}

static void test_who_waits_is_told_of_a_job_that_a_stock_producer_delays(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        (i ? submit_pop : submit_migrate)(laravel);
        pump_until_told(laravel.client, i ? 3 : 2);
        int64_t due = server_ms() / 1000 + 3;
        run_command(&server, "ZADD queues:jobs:delayed %d %s", (int)due, ONE);
        end_call(laravel, i ? ONE : NULL);
        assert_in_range(server_ms() - due * 1000, 0, 5000);
        run_command(&server, "DEL queues:jobs queues:jobs:notify");
    }
}

static void test_a_nearer_time_is_told_too(void **state) {
    (void)state;
    submit_pop(laravel);
    for (int left = 9; left > 2; left--) {
        pump_until_told(laravel.client, 3);
        run_command(&server, "ZADD queues:jobs:delayed %d {\"attempts\":0,\"n\":%d}",
                    (int)(server_ms() / 1000) + 3600 * left, left);
    }
    pump_until_told(laravel.client, 3);
    int64_t due = server_ms() / 1000 + 2;
    run_command(&server, "ZADD queues:jobs:reserved %d %s", (int)due, ONE);
    end_call(laravel, ONE);
    assert_in_range(server_ms() - due * 1000, 0, 5000);
}

static void test_many_changes_make_few_looks(void **state) {
    (void)state;
    submit_migrate(laravel);
    pump_until_told(laravel.client, 2);
    run_command(&server, "CONFIG RESETSTAT");
    int64_t start = now_ms(), time = server_ms() / 1000 + 3600;
    for (int i = 0; now_ms() - start < 1000; i++) {
        run_command(&server, "ZADD queues:jobs:delayed %d {\"attempts\":0,\"n\":%d}", (int)time, i);
        assert_status(laravel.client, PENDING, dueq_wait(laravel.client, 1));
    }
    assert_in_range(looks(), 2, (now_ms() - start) / 200 + 2);
    dueq_abandon(laravel.client);
}

static void test_a_token_that_another_takes_wakes_nobody_else(void **state) {
    (void)state;
    submit_pop(laravel);
    pump_until_told(laravel.client, 3);
    struct laravel other = laravel_open(server.url);
    run_command(&server, "CONFIG RESETSTAT");
    for (int i = 0; i < 20; i++) {
        /* Pushed and taken in one step, as by a worker that was faster. */
        run_command(&server, "EVAL %s 1 queues:jobs",
                    "redis.call('RPUSH', KEYS[1], 'x') redis.call('LPOP', KEYS[1])");
        assert_status(laravel.client, PENDING, dueq_wait(laravel.client, 20));
    }
    assert_int_equal(looks(), 0);
    assert_status(other.client, OK, push_payload(other, ONE, 0));
    end_call(laravel, ONE);
    laravel_close(other);
}

static void test_who_waits_is_told_again_after_lost_connections(void **state) {
    (void)state;
    static const char *const kinds[] = {"CLIENT KILL TYPE pubsub", "CLIENT KILL TYPE normal"};
    for (int i = 0; i < 4; i++) {
        bool pops = i / 2;
        (pops ? submit_pop : submit_migrate)(laravel);
        pump_until_told(laravel.client, pops ? 3 : 2);
        run_command(&server, kinds[i % 2]);
        /* What was tracked for a lost connection is forgotten, sooner or later. */
        run_command(&server, "ZADD queues:jobs:delayed 1900000000 {\"attempts\":0}");
        run_command(&server, "DEL queues:jobs:delayed");
        int64_t due = server_ms() / 1000 + 2;
        run_command(&server, "ZADD queues:jobs:delayed %d %s", (int)due, ONE);
        end_call(laravel, pops ? ONE : NULL);
        assert_in_range(server_ms() - due * 1000, 0, 5000);
        run_command(&server, "DEL queues:jobs queues:jobs:notify queues:jobs:reserved");
    }
}

static void test_a_lost_connection_between_waits_holds_nobody_up(void **state) {
    (void)state;
    dueq_result *result;
    submit_pop(laravel);
    pump_until_told(laravel.client, 3);
    run_command(&server, "RPUSH queues:jobs %s", ONE);
    run_command(&server, "RPUSH queues:jobs:notify 1");
    end_call(laravel, ONE);
    run_command(&server, "CLIENT KILL TYPE normal");
    run_command(&server, "CLIENT KILL TYPE pubsub");
    clock_t used = clock();
    assert_status(laravel.client, EMPTY, dueq_laravel_migrate(laravel.queue, 1, 1500, NULL));
    assert_status(laravel.client, EMPTY, dueq_laravel_pop(laravel.queue, 1, 1500, 0, &result));
    assert_true(clock() - used < CLOCKS_PER_SEC);
    dueq_result_free(result);
}

static void test_one_client_waits_for_queues_of_all_kinds(void **state) {
    (void)state;
    dueq_result *result;
    dueq_queue *own;
    assert_status(laravel.client, OK, dueq_queue_open(laravel.client, "own", 3, &own));
    for (int i = 0; i < 3; i++) {
        submit_pop(laravel);
        pump_until_told(laravel.client, 3);
        run_command(&server, "ZADD queues:jobs:delayed 1 %s", ONE);
        end_call(laravel, ONE);
        clock_t used = clock();
        assert_status(laravel.client, EMPTY, dueq_reserve(own, 1, 700, 0, &result));
        assert_true(clock() - used < CLOCKS_PER_SEC / 2);
        dueq_result_free(result);
        run_command(&server, "DEL queues:jobs:reserved");
    }
    dueq_queue_close(own);
}

/* Looks of a client with these permissions, who may not ask to be told. */
#define mute_with(permissions)                                                                     \
    (run_command(&server, "ACL SETUSER mute on >x resetkeys allkeys resetchannels allchannels "    \
                          "+@all " permissions),                                                   \
     mute_looks())
static void mute_looks(void) {
    struct laravel mute = laravel_open(url_with("mute:x@", ""));
    submit_pop(mute);
    pump_until_blocked(mute.client, 1);
    run_command(&server, "CONFIG RESETSTAT");
    int64_t begin = now_ms();
    assert_status(mute.client, PENDING, dueq_wait(mute.client, 1600));
    /* The first looks may still be on their way. */
    assert_in_range(looks(), 1, 4 + (now_ms() - begin) / 1000);
    int64_t due = server_ms() / 1000 + 1;
    run_command(&server, "ZADD queues:jobs:delayed %d %s", (int)due, ONE);
    end_call(mute, ONE);
    assert_in_range(server_ms() - due * 1000, 0, 3000);
    laravel_close(mute);
    run_command(&server, "FLUSHALL");
}

static void test_who_may_not_be_told_looks_once_a_second(void **state) {
    (void)state;
    mute_with("-client +client|id +client|caching +client|unblock");
    mute_with("-client +client|id +client|tracking +client|unblock");
    mute_with("-exists");
    mute_with("-subscribe");
    mute_with("resetchannels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LARAVEL_TEST(test_who_waits_is_quiet),
        LARAVEL_TEST(test_who_waits_is_told_of_a_job_that_a_stock_producer_delays),
        LARAVEL_TEST(test_a_nearer_time_is_told_too),
        LARAVEL_TEST(test_many_changes_make_few_looks),
        LARAVEL_TEST(test_a_token_that_another_takes_wakes_nobody_else),
        LARAVEL_TEST(test_who_waits_is_told_again_after_lost_connections),
        LARAVEL_TEST(test_a_lost_connection_between_waits_holds_nobody_up),
        LARAVEL_TEST(test_one_client_waits_for_queues_of_all_kinds),
        LARAVEL_TEST(test_who_may_not_be_told_looks_once_a_second),
    };
    return run_on_server(tests, NULL);
}
