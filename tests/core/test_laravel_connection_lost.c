/*
 * Connections that are lost on a call of Laravel's queues: nothing is run twice, nothing is lost.
 */
#include "laravel_fixture.h"
#include "proxy.h"

#define JOB "{\"job\":\"A\",\"attempts\":0,\"mark\":\"HELLO-WORLD\"}"
#define RAISED "{\"job\":\"A\",\"attempts\":1,\"mark\":\"HELLO-WORLD\"}"

static struct proxy proxy;
static struct laravel cut; /* by way of the proxy; the fixture's is beside it */

static int set_up_cut(void **state) {
    dueq_result *result;
    dueq_sizes sizes = DUEQ_SIZES;
    set_up_laravel(state);
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    cut = laravel_open(proxy.url);
    /* Connected, with all scripts loaded, so that the next request is the one that is cut. */
    for (int i = 0; i < 2; i++) {
        assert_status(cut.client, OK, push_payload(cut, "{\"job\":\"A\",\"attempts\":0}", 0));
        dueq_bytes reserved = pop_one(cut, 0, &result)->reserved;
        if (i)
            assert_status(cut.client, OK, dueq_laravel_delete(cut.queue, &reserved, 1, NULL));
        else
            assert_status(cut.client, OK, dueq_laravel_release(cut.queue, &reserved, 1, 0, NULL));
        dueq_result_free(result);
    }
    assert_status(cut.client, OK, dueq_laravel_size(cut.queue, &sizes));
    assert_status(cut.client, EMPTY, dueq_laravel_migrate(cut.queue, 1, 0, NULL));
    assert_status(cut.client, OK, dueq_laravel_clear(cut.queue, NULL));
    return 0;
}

static int tear_down_cut(void **state) {
    laravel_close(cut);
    return tear_down_laravel(state);
}

/* Both: the answer is lost after the request was run; and the request itself, before. */
static const enum cut cuts[] = {CUT_REQUEST, CUT_BEFORE};

static void test_push_cut_is_stored_once(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        proxy_cut(&proxy, cuts[i], "HELLO-WORLD", 1);
        assert_status(cut.client, OK, push_payload(cut, JOB, 0));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(sizes_of(laravel).ready, 1 + (int)i);
        assert_int_equal(tokens(), 1 + (int)i);
    }
    proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 1);
    assert_status(cut.client, OK, push_payload(cut, JOB, 60000));
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_sizes(2, 1, 0, 0);
}

static void test_pop_cut_returns_the_same_jobs(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dueq_result *result;
        stock_push(JOB);
        stock_push("{\"job\":\"A\",\"attempts\":4,\"data\":[1.0]}");
        proxy_cut(&proxy, cuts[i], "EVALSHA", 1);
        assert_status(cut.client, OK, dueq_laravel_pop(cut.queue, 2, 0, 0, &result));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(dueq_result_count(result), 2);
        const dueq_job *job = dueq_result_job(result, 0), *second = dueq_result_job(result, 1);
        assert_bytes(job->payload, JOB);
        assert_bytes(job->reserved, RAISED);
        assert_bytes(second->data, "[1.0]");
        assert_int_equal(second->attempts, 5);
        assert_true(job->until_ms > server_ms());
        assert_sizes(0, 0, 2, 0);
        const dueq_bytes both[2] = {job->reserved, second->reserved};
        assert_status(cut.client, OK, dueq_laravel_delete(cut.queue, both, 2, NULL));
        dueq_result_free(result);
    }
}

static void test_pop_cut_with_nothing_there_is_empty(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        proxy_cut(&proxy, cuts[i], "EVALSHA", 1);
        assert_status(cut.client, EMPTY, dueq_laravel_pop(cut.queue, 1, 0, 0, NULL));
        assert_int_equal(proxy_cuts(&proxy), 1);
    }
}

static void test_pop_cut_while_it_waits_goes_on(void **state) {
    (void)state;
    dueq_result *result;
    assert_status(cut.client, PENDING, dueq_laravel_pop_submit(cut.queue, 1, 20000, 0));
    for (int i = 0; i < 3; i++) {
        pump_until_blocked(cut.client, 1);
        run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
        await_blocked(&server, 0);
    }
    stock_push(JOB);
    assert_status(cut.client, OK, dueq_wait(cut.client, 10000));
    assert_status(cut.client, OK, dueq_take(cut.client, &result));
    assert_bytes(dueq_result_job(result, 0)->payload, JOB);
    dueq_result_free(result);
    assert_sizes(0, 0, 1, 0);
}

static void test_delete_and_release_cut_are_applied_once(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        dueq_result *result;
        stock_push(JOB);
        dueq_bytes reserved = pop_one(cut, 0, &result)->reserved;
        proxy_cut(&proxy, cuts[i % 2], "HELLO-WORLD", 1);
        if (i < 2)
            assert_status(cut.client, OK, dueq_laravel_delete(cut.queue, &reserved, 1, NULL));
        else
            assert_status(cut.client, OK, dueq_laravel_release(cut.queue, &reserved, 1, 0, NULL));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_sizes(i < 2 ? 0 : 1, 0, 0, 0);
        assert_int_equal(tokens(), i < 2 ? 0 : 1);
        dueq_result_free(result);
        assert_status(cut.client, OK, dueq_laravel_clear(cut.queue, NULL));
    }
}

static void test_clear_and_migrate_cut_count_what_they_did(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dueq_moved moved = DUEQ_MOVED;
        size_t cleared;
        run_command(&server, "ZADD queues:jobs:delayed 1 %s", JOB);
        proxy_cut(&proxy, cuts[i], "EVALSHA", 1);
        assert_status(cut.client, OK, dueq_laravel_migrate(cut.queue, 5, 0, &moved));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(moved.moved, 1);
        assert_sizes(1, 0, 0, 0);
        proxy_cut(&proxy, cuts[i], "EVALSHA", 1);
        assert_status(cut.client, OK, dueq_laravel_clear(cut.queue, &cleared));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(cleared, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CUT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_cut, tear_down_cut)
        CUT_TEST(test_push_cut_is_stored_once),
        CUT_TEST(test_pop_cut_returns_the_same_jobs),
        CUT_TEST(test_pop_cut_with_nothing_there_is_empty),
        CUT_TEST(test_pop_cut_while_it_waits_goes_on),
        CUT_TEST(test_delete_and_release_cut_are_applied_once),
        CUT_TEST(test_clear_and_migrate_cut_count_what_they_did),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = run_selected(tests);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
