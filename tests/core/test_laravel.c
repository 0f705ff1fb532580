/* Jobs of Laravel's queues: popped, finished, given back, counted, cleared. */
#include "laravel_fixture.h"

#define PLAIN "{\"job\":\"A@b\",\"attempts\":0,\"data\":1}"
#define RAISED "{\"job\":\"A@b\",\"attempts\":1,\"data\":1}"
#define TWICE "{\"job\":\"A@b\",\"attempts\":2,\"data\":1}"

/* Names */

static void test_open_takes_prefix_and_braces(void **state) {
    (void)state;
    static const struct {
        const char *name, *prefix, *list, *quarantine;
    } rows[] = {
        {"default", "", "queues:default", "dueq:{queues:default}:quarantine"},
        {"default", "shop_database_", "shop_database_queues:default",
         "dueq:{shop_database_queues:default}:quarantine"},
        {"{default}", "", "queues:{default}", "dueq:queues:{default}:quarantine"},
        {"{default}", "p:", "p:queues:{default}", "dueq:p:queues:{default}:quarantine"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laravel other = {.client = laravel.client};
        run_command(&server, "FLUSHALL");
        assert_status(laravel.client, OK,
                      dueq_laravel_open(laravel.client, rows[i].name, strlen(rows[i].name),
                                        BYTES(rows[i].prefix), &other.queue));
        assert_status(laravel.client, OK, push_payload(other, PLAIN, 0));
        assert_int_equal(command_number(&server, "LLEN %s", rows[i].list), 1);
        assert_int_equal(command_number(&server, "LLEN %s:notify", rows[i].list), 1);
        run_command(&server, "LPUSH %s x", rows[i].list);
        dueq_result *result;
        assert_status(laravel.client, OK, dueq_laravel_pop(other.queue, 1, 0, 0, &result));
        assert_int_equal(dueq_result_quarantined(result), 1);
        dueq_result_free(result);
        assert_int_equal(command_number(&server, "LLEN %s", rows[i].quarantine), 1);
        assert_int_equal(command_number(&server, "ZCARD %s:reserved", rows[i].list), 1);
        dueq_laravel_close(other.queue);
    }
}

static void test_open_refuses_bad_names(void **state) {
    (void)state;
    char longest[300];
    dueq_laravel *queue = (dueq_laravel *)&server;
    memset(longest, 'x', sizeof longest);
    assert_status(laravel.client, NAME,
                  dueq_laravel_open(laravel.client, "", 0, (dueq_bytes){0}, &queue));
    assert_null(queue);
    assert_status(laravel.client, NAME,
                  dueq_laravel_open(laravel.client, longest, 256, (dueq_bytes){0}, &queue));
    assert_status(
        laravel.client, NAME,
        dueq_laravel_open(laravel.client, longest, 200, (dueq_bytes){longest, 56}, &queue));
    assert_status(laravel.client, NAME,
                  dueq_laravel_open(laravel.client, "a\n", 2, (dueq_bytes){0}, &queue));
    assert_status(laravel.client, NAME,
                  dueq_laravel_open(laravel.client, "a", 1, BYTES("\xff"), &queue));
    assert_null(queue);
    assert_status(
        laravel.client, OK,
        dueq_laravel_open(laravel.client, longest, 200, (dueq_bytes){longest, 55}, &queue));
    dueq_laravel_close(queue);
}

/* pop */

static void test_pop_reads_the_payloads_of_all_versions(void **state) {
    (void)state;
    static const struct {
        const char *payload;
        const char *job, *data, *display_name, *id, *uuid, *backoff;
        uint32_t attempts, max_tries, timeout_s;
        int64_t retry_until_s;
    } rows[] = {
        /* 5.5 */
        {"{\"displayName\":\"App\\\\A\",\"job\":\"Illuminate\\\\Queue\\\\CallQueuedHandler@call\","
         "\"maxTries\":3,\"timeout\":60,\"timeoutAt\":1700000000,\"data\":{\"commandName\":"
         "\"App\\\\A\",\"command\":\"O:0\"},\"id\":\"i\",\"attempts\":0}",
         "Illuminate\\Queue\\CallQueuedHandler@call",
         "{\"commandName\":\"App\\\\A\",\"command\":\"O:0\"}", "App\\A", "i", "", "", 1, 3, 60,
         1700000000},
        /* 5.8.14: delay is the backoff. */
        {"{\"displayName\":\"A\",\"job\":\"A\",\"maxTries\":null,\"delay\":30,\"timeout\":null,"
         "\"data\":\"\",\"id\":\"i\",\"attempts\":4}",
         "A", "\"\"", "A", "i", "", "30", 5, 0, 0, 0},
        /* 8 */
        {"{\"uuid\":\"u\",\"displayName\":\"A\",\"job\":\"A\",\"maxTries\":1,\"maxExceptions\":"
         "null,"
         "\"failOnTimeout\":false,\"backoff\":\"10,60\",\"timeout\":5,\"retryUntil\":1800000000,"
         "\"data\":[],\"id\":\"i\",\"attempts\":1}",
         "A", "[]", "A", "i", "u", "10,60", 2, 1, 5, 1800000000},
        /* 12.11: delay is what it was delayed by, and only where there is no backoff is it read. */
        {"{\"uuid\":\"u\",\"displayName\":\"A\",\"job\":\"A\",\"maxTries\":1,\"backoff\":7,"
         "\"retryUntil\":null,\"timeoutAt\":1800000001,\"data\":null,\"createdAt\":1,\"id\":\"i\","
         "\"attempts\":0,\"delay\":99}",
         "A", "null", "A", "i", "u", "7", 1, 1, 0, 1800000001},
        /* Horizon, and what no version writes. */
        {"{\"job\":\"A\",\"type\":\"job\",\"tags\":[],\"maxTries\":\"4\",\"timeout\":1.9,"
         "\"backoff\":"
         "[1, 22,\"x\",\"333\"],\"data\":{\"attempts\":8},\"attempts\":0,\"pushedAt\":\"1.5\","
         "\"retryUntil\":1e9}",
         "A", "{\"attempts\":8}", "", "", "", "1,22,0,333", 1, 4, 1, 1000000000},
        {"{\"job\":7,\"maxTries\":-1,\"timeout\":1e300,\"backoff\":\"soon\",\"attempts\":-5,"
         "\"retryUntil\":{},\"id\":[],\"uuid\":false}",
         "", "", "", "", "", "", 0, 0, UINT32_MAX, 0},
        {"{\"attempts\":99999999999}", "", "", "", "", "", "", UINT32_MAX, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dueq_result *result;
        run_command(&server, "RPUSH queues:jobs %s", rows[i].payload);
        const dueq_job *job = pop_one(laravel, 0, &result);
        assert_bytes(job->payload, rows[i].payload);
        assert_bytes(job->job, rows[i].job);
        assert_bytes(job->data, rows[i].data);
        assert_bytes(job->display_name, rows[i].display_name);
        assert_bytes(job->id, rows[i].id);
        assert_bytes(job->uuid, rows[i].uuid);
        assert_bytes(job->backoff, rows[i].backoff);
        assert_int_equal(job->attempts, rows[i].attempts);
        assert_int_equal(job->max_tries, rows[i].max_tries);
        assert_int_equal(job->timeout_s, rows[i].timeout_s);
        assert_int_equal(job->retry_until_s, rows[i].retry_until_s);
        dueq_result_free(result);
    }
}

static void test_pop_takes_up_to_count_and_a_token_for_each(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 3; i++)
        stock_push(PLAIN);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 2, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), 2);
    dueq_result_free(result);
    assert_sizes(1, 0, 2, 0);
    assert_int_equal(tokens(), 1);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 2, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), 1);
    dueq_result_free(result);
    assert_int_equal(tokens(), 0);
    assert_status(laravel.client, EMPTY, dueq_laravel_pop(laravel.queue, 2, 0, 0, NULL));
    assert_status(laravel.client, INVALID, dueq_laravel_pop(laravel.queue, 0, 0, 0, NULL));
    assert_status(laravel.client, INVALID,
                  dueq_laravel_pop(laravel.queue, DUEQ_MAX_BATCH + 1, 0, 0, NULL));
    assert_status(laravel.client, INVALID, dueq_laravel_pop(laravel.queue, 1, -2, 0, NULL));
    assert_status(laravel.client, INVALID, dueq_laravel_pop(laravel.queue, 1, 0, -1, NULL));
}

static void test_pop_reserves_for_retry_after_rounded_up(void **state) {
    (void)state;
    dueq_result *result;
    stock_push(PLAIN);
    int64_t before = server_ms();
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 0, 1200, &result));
    int64_t until = dueq_result_job(result, 0)->until_ms;
    assert_in_range(until, before + 1200, server_ms() + 1200 + 999);
    dueq_result_free(result);
    char *score = command_text("ZSCORE queues:jobs:reserved %s", RAISED);
    assert_int_equal(atoll(score) * 1000, until);
    free(score);
    /* It comes back when that is over, and not before. */
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 10000, 0, &result));
    assert_true(server_ms() >= until);
    const dueq_job *job = dueq_result_job(result, 0);
    assert_bytes(job->payload, RAISED);
    assert_bytes(job->reserved, TWICE);
    assert_int_equal(job->attempts, 2);
    dueq_result_free(result);
}

static void test_pop_keeps_jobs_of_the_same_bytes_apart(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 3; i++)
        stock_push(PLAIN);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 3, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), 3);
    assert_sizes(0, 0, 3, 0);
    for (size_t i = 0; i < 3; i++) {
        const dueq_job *job = dueq_result_job(result, i);
        assert_int_equal(job->attempts, 1);
        assert_bytes(job->payload, PLAIN);
        assert_memory_equal(job->reserved.data, RAISED, strlen(RAISED));
        assert_status(laravel.client, OK,
                      dueq_laravel_delete(laravel.queue, &job->reserved, 1, NULL));
        assert_int_equal(sizes_of(laravel).reserved, 2 - (int)i);
    }
    dueq_result_free(result);
}

/* delete, release */

static void test_delete_finishes_a_job_once(void **state) {
    (void)state;
    dueq_result *result, *outcome;
    stock_push(PLAIN);
    stock_push("{\"attempts\":0}");
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 2, 0, 0, &result));
    dueq_bytes reserved[2] = {dueq_result_job(result, 0)->reserved,
                              dueq_result_job(result, 1)->reserved};
    assert_status(laravel.client, OK, dueq_laravel_delete(laravel.queue, reserved, 1, NULL));
    assert_status(laravel.client, LEASE_LOST,
                  dueq_laravel_delete(laravel.queue, reserved, 2, &outcome));
    assert_int_equal(dueq_result_status(outcome, 0), DUEQ_LEASE_LOST);
    assert_int_equal(dueq_result_status(outcome, 1), DUEQ_OK);
    dueq_result_free(outcome);
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "EXISTS queues:jobs queues:jobs:reserved "
                                             "queues:jobs:delayed queues:jobs:notify"),
                     0);
    assert_status(laravel.client, INVALID, dueq_laravel_delete(laravel.queue, reserved, 0, NULL));
    const dueq_bytes none = {0};
    assert_status(laravel.client, INVALID, dueq_laravel_delete(laravel.queue, &none, 1, NULL));
}

static void test_release_gives_back_at_once(void **state) {
    (void)state;
    dueq_result *result;
    stock_push(PLAIN);
    dueq_bytes reserved = pop_one(laravel, 0, &result)->reserved;
    assert_status(laravel.client, OK, dueq_laravel_release(laravel.queue, &reserved, 1, 0, NULL));
    assert_sizes(1, 0, 0, 0);
    assert_int_equal(tokens(), 1);
    assert_command("LINDEX queues:jobs %s", "0", RAISED);
    assert_status(laravel.client, LEASE_LOST,
                  dueq_laravel_release(laravel.queue, &reserved, 1, 0, NULL));
    assert_sizes(1, 0, 0, 0);
    dueq_result_free(result);
    reserved = pop_one(laravel, 0, &result)->reserved;
    assert_int_equal(dueq_result_job(result, 0)->attempts, 2);
    assert_status(laravel.client, OK,
                  dueq_laravel_release(laravel.queue, &reserved, 1, -5000, NULL));
    assert_sizes(1, 0, 0, 0);
    dueq_result_free(result);
}

static void test_release_delays_to_a_whole_second(void **state) {
    (void)state;
    dueq_result *result;
    stock_push(PLAIN);
    stock_push(PLAIN);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 2, 0, 0, &result));
    int64_t before = server_ms();
    for (size_t i = 0; i < 2; i++)
        assert_status(laravel.client, OK,
                      dueq_laravel_release(laravel.queue, &dueq_result_job(result, i)->reserved, 1,
                                           1100, NULL));
    int64_t next = sizes_of(laravel).next_ms;
    assert_in_range(next, before + 1100, server_ms() + 1100 + 999);
    assert_int_equal(next % 1000, 0);
    assert_sizes(0, 2, 0, 0);
    assert_int_equal(tokens(), 0);
    dueq_result_free(result);
}

static void test_what_is_stale_changes_nothing(void **state) {
    (void)state;
    dueq_result *late, *result;
    stock_push(PLAIN);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 0, 1, &late));
    dueq_bytes reserved = dueq_result_job(late, 0)->reserved;
    dueq_bytes taken = pop_one(laravel, 5000, &result)->reserved;
    assert_status(laravel.client, LEASE_LOST,
                  dueq_laravel_delete(laravel.queue, &reserved, 1, NULL));
    assert_status(laravel.client, LEASE_LOST,
                  dueq_laravel_release(laravel.queue, &reserved, 1, 0, NULL));
    assert_status(laravel.client, LEASE_LOST,
                  dueq_laravel_release(laravel.queue, &reserved, 1, 9000, NULL));
    assert_sizes(0, 0, 1, 0);
    assert_int_equal(tokens(), 0);
    assert_status(laravel.client, OK, dueq_laravel_delete(laravel.queue, &taken, 1, NULL));
    dueq_result_free(late);
    dueq_result_free(result);
}

/* size, clear */

static void test_size_and_clear_count_all(void **state) {
    (void)state;
    dueq_result *result;
    size_t cleared = 9;
    dueq_sizes sizes = sizes_of(laravel);
    assert_sizes(0, 0, 0, 0);
    assert_int_equal(sizes.next_ms, 0);
    assert_true(sizes.now_ms <= server_ms());
    assert_status(laravel.client, OK, dueq_laravel_clear(laravel.queue, &cleared));
    assert_int_equal(cleared, 0);
    run_command(&server, "RPUSH queues:jobs not-json");
    stock_push(PLAIN);
    pop_one(laravel, 0, &result);
    dueq_result_free(result);
    stock_push(PLAIN);
    stock_push(PLAIN);
    assert_status(laravel.client, OK, push_payload(laravel, PLAIN, 60000));
    assert_sizes(2, 1, 1, 1);
    assert_status(laravel.client, OK, dueq_laravel_clear(laravel.queue, &cleared));
    assert_int_equal(cleared, 4);
    /* What was set aside is for a person to look at. */
    assert_sizes(0, 0, 0, 1);
    assert_int_equal(tokens(), 0);
    assert_command("LINDEX dueq:{queues:jobs}:quarantine %s", "0", "not-json");
    assert_status(laravel.client, OK, dueq_laravel_clear(laravel.queue, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LARAVEL_TEST(test_open_takes_prefix_and_braces),
        LARAVEL_TEST(test_open_refuses_bad_names),
        LARAVEL_TEST(test_pop_reads_the_payloads_of_all_versions),
        LARAVEL_TEST(test_pop_takes_up_to_count_and_a_token_for_each),
        LARAVEL_TEST(test_pop_reserves_for_retry_after_rounded_up),
        LARAVEL_TEST(test_pop_keeps_jobs_of_the_same_bytes_apart),
        LARAVEL_TEST(test_delete_finishes_a_job_once),
        LARAVEL_TEST(test_release_gives_back_at_once),
        LARAVEL_TEST(test_release_delays_to_a_whole_second),
        LARAVEL_TEST(test_what_is_stale_changes_nothing),
        LARAVEL_TEST(test_size_and_clear_count_all),
    };
    return run_on_server(tests, NULL);
}
