/* Attempts are raised in the payload's text; what a worker of Laravel's would lose is set aside. */
#include "laravel_fixture.h"

/* What Laravel's own script makes of the attempts. */
static void assert_as_laravel_counts(const char *payload, const char *reserved) {
    assert_int_equal(command_number(&server, "EVAL %s 0 %s %s",
                                    "return cjson.decode(ARGV[1]).attempts + 1 == "
                                    "tonumber(cjson.decode(ARGV[2]).attempts) and 1 or 0",
                                    payload, reserved),
                     1);
}

static void test_attempts_are_raised_and_no_other_byte_changes(void **state) {
    (void)state;
    static const struct {
        const char *payload, *reserved;
    } rows[] = {
        {"{\"attempts\":0}", "{\"attempts\":1}"},
        {"{\"attempts\":9}", "{\"attempts\":10}"},
        {"{\"attempts\":99,\"x\":1}", "{\"attempts\":100,\"x\":1}"},
        {"\n{ \"attempts\"\t:\r\n0\n}\n", "\n{ \"attempts\"\t:\r\n1\n}\n"},
        {"{\"n\":1234567890123456789,\"f\":1.0,\"e\":1e2,\"a\":[],\"o\":{},\"s\":\"a\\/b\\u00e9\","
         "\"attempts\":0,\"z\":null}",
         "{\"n\":1234567890123456789,\"f\":1.0,\"e\":1e2,\"a\":[],\"o\":{},\"s\":\"a\\/b\\u00e9\","
         "\"attempts\":1,\"z\":null}"},
        /* Numbers in other forms. */
        {"{\"attempts\":1e0}", "{\"attempts\":2}"},
        {"{\"attempts\":1.0,\"x\":1}", "{\"attempts\":2,\"x\":1}"},
        {"{\"attempts\":1.5}", "{\"attempts\":2.5}"},
        {"{\"attempts\":-1}", "{\"attempts\":0}"},
        {"{\"attempts\":-0}", "{\"attempts\":1}"},
        {"{\"attempts\":\"1\"}", "{\"attempts\":2}"},
        {"{\"attempts\":\"\\u0031\" }", "{\"attempts\":2 }"},
        {"{\"attempts\":99999999999999}", "{\"attempts\":1e+14}"},
        /* The last of several. */
        {"{\"attempts\":5,\"attempts\":0}", "{\"attempts\":5,\"attempts\":1}"},
        {"{\"attempts\":[{}],\"attempts\":0}", "{\"attempts\":[{}],\"attempts\":1}"},
        /* Names with escapes. */
        {"{\"a\\u0074tempts\":3}", "{\"a\\u0074tempts\":4}"},
        {"{\"attempts\":0,\"\\u0061ttempts\":7}", "{\"attempts\":0,\"\\u0061ttempts\":8}"},
        {"{\"\\u0061ttempts\":7,\"attempts\":0}", "{\"\\u0061ttempts\":7,\"attempts\":1}"},
        {"{\"\\u0061ttempt\":7,\"attempts\":0}", "{\"\\u0061ttempt\":7,\"attempts\":1}"},
        {"{\"\\u0061\\\\ttempts\":7,\"attempts\":0,\"\\\\u0061ttempts\":3}",
         "{\"\\u0061\\\\ttempts\":7,\"attempts\":1,\"\\\\u0061ttempts\":3}"},
        /* Others of the same name, deeper. */
        {"{\"attempts\":0,\"data\":{\"attempts\":5}}",
         "{\"attempts\":1,\"data\":{\"attempts\":5}}"},
        {"{\"data\":{\"attempts\":5},\"attempts\":0,\"z\":[{\"attempts\":7},[{\"attempts\":1}]]}",
         "{\"data\":{\"attempts\":5},\"attempts\":1,\"z\":[{\"attempts\":7},[{\"attempts\":1}]]}"},
        {"{\"attempts\":0,\"data\":{\"\\u0061ttempts\":5}}",
         "{\"attempts\":1,\"data\":{\"\\u0061ttempts\":5}}"},
        /* Quotes, braces and names inside of strings. */
        {"{\"s\":\"\\\"attempts\\\":3\",\"attempts\":0,\"t\":\"x\\\\\",\"u\":\"}{]["
         "\\\"attempts\\\":9\"}",
         "{\"s\":\"\\\"attempts\\\":3\",\"attempts\":1,\"t\":\"x\\\\\",\"u\":\"}{]["
         "\\\"attempts\\\":9\"}"},
        {"{\"attempts\":0,\"say \\\"attempts\":3}", "{\"attempts\":1,\"say \\\"attempts\":3}"},
        {"{\"attempts\":0,\"\\u0061\":\"{\",\"\\\\\\\"attempts\":{\"b\":[\"]\"]}}",
         "{\"attempts\":1,\"\\u0061\":\"{\",\"\\\\\\\"attempts\":{\"b\":[\"]\"]}}"},
        {"{\"attempts\":0,\"v\":\"attempts\",\"w\":[\"attempts\"]}",
         "{\"attempts\":1,\"v\":\"attempts\",\"w\":[\"attempts\"]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dueq_result *result;
        stock_push(rows[i].payload);
        const dueq_job *job = pop_one(laravel, 0, &result);
        assert_bytes(job->payload, rows[i].payload);
        assert_bytes(job->reserved, rows[i].reserved);
        assert_as_laravel_counts(rows[i].payload, rows[i].reserved);
        assert_int_equal(command_number(&server, "ZREM queues:jobs:reserved %s", rows[i].reserved),
                         1);
        dueq_result_free(result);
    }
    assert_sizes(0, 0, 0, 0);
}

static void test_data_survives_many_attempts(void **state) {
    (void)state;
    char expected[256];
    static const char form[] =
        "{\"job\":\"A\",\"data\":{\"n\":1234567890123456789,\"f\":1.0,\"a\":[],"
        "\"o\":{},\"u\":\"\xf0\x9f\x98\x80\\ud83d\\ude00\",\"attempts\":3},"
        "\"attempts\":%d}";
    snprintf(expected, sizeof expected, form, 0);
    assert_status(laravel.client, OK, push_payload(laravel, expected, 0));
    for (int attempt = 1; attempt <= 12; attempt++) {
        dueq_result *result;
        const dueq_job *job = pop_one(laravel, 0, &result);
        assert_bytes(job->payload, expected);
        snprintf(expected, sizeof expected, form, attempt);
        assert_bytes(job->reserved, expected);
        assert_int_equal(job->attempts, attempt);
        assert_memory_equal(job->data.data, "{\"n\":1234567890123456789,\"f\":1.0", 32);
        assert_status(laravel.client, OK,
                      dueq_laravel_release(laravel.queue, &job->reserved, 1, 0, NULL));
        dueq_result_free(result);
    }
}

/* `before`, then so many of `part`, then `after`. */
static char *repeated(const char *before, const char *part, size_t times, const char *after) {
    char *text = malloc(strlen(before) + strlen(part) * times + strlen(after) + 1);
    assert_non_null(text);
    char *at = stpcpy(text, before);
    for (size_t i = 0; i < times; i++)
        at = stpcpy(at, part);
    strcpy(at, after);
    return text;
}

static void assert_raised(const char *payload) {
    dueq_result *result;
    size_t size = strlen(payload);
    run_command(&server, "RPUSH queues:jobs %b", payload, size);
    const dueq_job *job = pop_one(laravel, 0, &result);
    assert_int_equal(job->payload.size, size);
    assert_memory_equal(job->payload.data, payload, size);
    assert_int_equal(job->reserved.size, size);
    const char *at = strstr(payload, "\"attempts\":0") + strlen("\"attempts\":");
    size_t place = (size_t)(at - payload);
    assert_memory_equal(job->reserved.data, payload, place);
    assert_int_equal(((const char *)job->reserved.data)[place], '1');
    assert_memory_equal((const char *)job->reserved.data + place + 1, at + 1, size - place - 1);
    dueq_result_free(result);
}

static void test_large_payloads_are_raised(void **state) {
    (void)state;
    static const struct {
        const char *before, *part, *after;
    } rows[] = {
        {"{\"data\":\"", "0123456789", "\",\"attempts\":0}"},
        {"{\"attempts\":0,\"data\":\"", "s:1:\\\"x\\\";", "\"}"},
        {"{\"data\":[", "{\"attempts\":3,\"a\":[]},", "1],\"attempts\":0}"},
        {"{\"attempts\":0,\"data\":[", "{\"attempts\":3,\"a\":[]},", "1]}"},
        {"{\"attempts\":0,\"data\":[", "{\"\\u0061\":\"}\"},", "1]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *payload =
            repeated(rows[i].before, rows[i].part, 1000000 / strlen(rows[i].part), rows[i].after);
        assert_raised(payload);
        free(payload);
    }
}

static void assert_set_aside(const char *payload, size_t size) {
    dueq_result *result;
    run_command(&server, "RPUSH queues:jobs %b", payload, size);
    run_command(&server, "RPUSH queues:jobs:notify 1");
    assert_status(laravel.client, EMPTY, dueq_laravel_pop(laravel.queue, 1, 0, 0, &result));
    assert_int_equal(dueq_result_quarantined(result), 1);
    assert_int_equal(dueq_result_count(result), 0);
    dueq_result_free(result);
    assert_int_equal(tokens(), 0);
    assert_int_equal(
        command_number(&server, "LREM dueq:{queues:jobs}:quarantine 0 %b", payload, size), 1);
    assert_sizes(0, 0, 0, 0);
    /* The one who migrates sees it before a worker could lose it. */
    dueq_moved moved = DUEQ_MOVED;
    run_command(&server, "ZADD queues:jobs:delayed 1 %b", payload, size);
    assert_status(laravel.client, OK, dueq_laravel_migrate(laravel.queue, 5, 0, &moved));
    assert_int_equal(moved.moved, 0);
    assert_int_equal(moved.quarantined, 1);
    assert_int_equal(
        command_number(&server, "LREM dueq:{queues:jobs}:quarantine 0 %b", payload, size), 1);
    assert_sizes(0, 0, 0, 0);
    assert_int_equal(tokens(), 0);
}

static void test_what_a_worker_would_lose_is_set_aside(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "null",
        "3",
        "[]",
        "{}",
        "\"attempts\"",
        "[{\"attempts\":0}]",
        "{\"attempts\":null}",
        "{\"attempts\":\"x\"}",
        "{\"attempts\":\"\"}",
        "{\"attempts\":[]}",
        "{\"attempts\":{}}",
        "{\"attempts\":true}",
        "{\"attempts\":0,\"attempts\":null}",
        "{\"attempts\":1e999}",
        "{\"attempts\":0,\"x\":1e999}",
        "{\"attempts\":0,\"x\":[-1e999]}",
        "{\"attempts\":0,\"x\":nan}",
        "{\"attempts\":0}x",
        "{\"attempts\":0",
        "{\"attempts\":0,\"x\":\"",
        "{\"data\":{\"attempts\":5}}",
        "{\"Attempts\":0}",
        "\x80\x05\x95",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_set_aside(bad[i], strlen(bad[i]));
    static const char nul[] = "{\"attempts\":0}\0{\"attempts\":5}";
    assert_set_aside(nul, sizeof nul - 1);
    char *opened = repeated("{\"attempts\":0,\"x\":", "[", 1000, ""),
         *deep = repeated(opened, "]", 1000, "}");
    assert_set_aside(deep, strlen(deep));
    free(opened);
    free(deep);
}

static void test_what_is_good_comes_past_what_is_set_aside(void **state) {
    (void)state;
    dueq_result *result;
    /* More than one script looks at. */
    for (int i = 0; i < 250; i++)
        run_command(&server, "RPUSH queues:jobs broken-%d", i);
    stock_push("{\"attempts\":0}");
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 0, 0, &result));
    assert_int_equal(dueq_result_quarantined(result), 250);
    assert_bytes(dueq_result_job(result, 0)->reserved, "{\"attempts\":1}");
    dueq_result_free(result);
    assert_command("LINDEX dueq:{queues:jobs}:quarantine %s", "249", "broken-249");
}

static void test_what_php_alone_cannot_read_is_handed_out_without_members(void **state) {
    (void)state;
    static const char *const odd[] = {
        "{\"job\":\"A\",\"data\":\"\xff\",\"attempts\":0}",
        "{\"job\":\"A\",\"data\":\"\n\",\"attempts\":0}",
        "{\"job\":\"A\",\"data\":0x10,\"attempts\":0}",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        dueq_result *result;
        stock_push(odd[i]);
        const dueq_job *job = pop_one(laravel, 0, &result);
        assert_bytes(job->payload, odd[i]);
        assert_int_equal(job->attempts, 1);
        assert_int_equal(job->job.size + job->data.size, 0);
        assert_status(laravel.client, OK,
                      dueq_laravel_delete(laravel.queue, &job->reserved, 1, NULL));
        dueq_result_free(result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LARAVEL_TEST(test_attempts_are_raised_and_no_other_byte_changes),
        LARAVEL_TEST(test_data_survives_many_attempts),
        LARAVEL_TEST(test_large_payloads_are_raised),
        LARAVEL_TEST(test_what_a_worker_would_lose_is_set_aside),
        LARAVEL_TEST(test_what_is_good_comes_past_what_is_set_aside),
        LARAVEL_TEST(test_what_php_alone_cannot_read_is_handed_out_without_members),
    };
    return run_on_server(tests, NULL);
}
