/* What is pushed to Laravel's queues: to the byte as Laravel 13 writes it, or not at all. */
#include "laravel_fixture.h"

/* Puts an X in the place of what is new in each payload: uuid, createdAt, id. */
static char *pushed(void) {
    static const struct {
        const char *name, *ends;
    } news[] = {{"\"uuid\":\"", "\""}, {"\"createdAt\":", ","}, {"\"id\":\"", "\""}};
    char *text = command_text("LINDEX queues:jobs -%s", "1");
    for (size_t i = 0; i < sizeof news / sizeof *news; i++) {
        char *at = strstr(text, news[i].name);
        assert_non_null(at);
        at += strlen(news[i].name);
        size_t size = strcspn(at, news[i].ends);
        assert_int_equal(size, i == 0 ? 36 : i == 1 ? 10 : 32);
        *at = 'X';
        memmove(at + 1, at + size, strlen(at + size) + 1);
    }
    return text;
}

enum { SIZE = sizeof(dueq_laravel_draft) };

static void assert_pushed(const dueq_laravel_draft *draft, const char *expected) {
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, draft, 1, NULL));
    char *text = pushed();
    assert_string_equal(text, expected);
    free(text);
}

static void test_push_of_a_string_job(void **state) {
    (void)state;
    const dueq_laravel_draft plain = {SIZE, .job = BYTES("App\\Jobs\\Mail@send")};
    assert_pushed(&plain,
                  "{\"uuid\":\"X\",\"displayName\":\"App\\\\Jobs\\\\Mail\","
                  "\"job\":\"App\\\\Jobs\\\\Mail@send\",\"maxTries\":null,"
                  "\"maxExceptions\":null,\"failOnTimeout\":false,\"backoff\":null,"
                  "\"timeout\":null,\"data\":\"\",\"createdAt\":X,\"id\":\"X\",\"attempts\":0}");
    const dueq_laravel_draft full = {SIZE,
                                     .job = BYTES("Mail"),
                                     .data =
                                         BYTES("{\"n\":1234567890123456789,\"f\":1.0,\"l\":[]}"),
                                     .display_name = BYTES("A mail"),
                                     .max_tries = 3,
                                     .max_exceptions = 2,
                                     .timeout_s = 60,
                                     .backoff = BYTES("10,60"),
                                     .retry_until_s = 1900000000,
                                     .fail_on_timeout = 1};
    assert_pushed(&full,
                  "{\"uuid\":\"X\",\"displayName\":\"A mail\",\"job\":\"Mail\",\"maxTries\":3,"
                  "\"maxExceptions\":2,\"failOnTimeout\":true,\"backoff\":\"10,60\","
                  "\"timeout\":60,\"retryUntil\":1900000000,"
                  "\"data\":{\"n\":1234567890123456789,\"f\":1.0,\"l\":[]},"
                  "\"createdAt\":X,\"id\":\"X\",\"attempts\":0}");
}

static void test_push_of_an_object_as_php_serialized_it(void **state) {
    (void)state;
    static const char command[] = "O:1:\"A\":1:{s:4:\"\0*\0x\";s:9:\"a/b\n\x1f\x7f\xc3\xa9\";}";
    const dueq_laravel_draft draft = {SIZE, .command_name = BYTES("App\\A"),
                                      .command = {command, sizeof command - 1}};
    assert_pushed(
        &draft,
        "{\"uuid\":\"X\",\"displayName\":\"App\\\\A\","
        "\"job\":\"Illuminate\\\\Queue\\\\CallQueuedHandler@call\",\"maxTries\":null,"
        "\"maxExceptions\":null,\"failOnTimeout\":false,\"backoff\":null,"
        "\"timeout\":null,\"retryUntil\":null,\"data\":{\"commandName\":\"App\\\\A\","
        "\"command\":\"O:1:\\\"A\\\":1:{s:4:\\\"\\u0000*\\u0000x\\\";s:9:\\\"a\\/b\\n\\u001f\x7f"
        "\xc3\xa9\\\";}\"},\"createdAt\":X,\"id\":\"X\",\"attempts\":0}");
}

static void test_push_escapes_line_separators_as_php_does(void **state) {
    (void)state;
    const dueq_laravel_draft draft = {
        SIZE, .job = BYTES("A"), .display_name = BYTES("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa")};
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, &draft, 1, NULL));
    char *text = pushed();
    assert_non_null(strstr(text, "\"displayName\":\"\\u2028\\u2029\xe2\x80\xaa\""));
    free(text);
}

static void test_push_makes_new_names_each_time(void **state) {
    (void)state;
    dueq_laravel_draft drafts[2] = {{SIZE, .job = BYTES("A")}, {SIZE, .job = BYTES("A")}};
    dueq_result *pushed_two, *popped;
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, drafts, 2, &pushed_two));
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 2, 0, 0, &popped));
    assert_int_equal(dueq_result_count(popped), 2);
    const dueq_job *first = dueq_result_job(popped, 0), *second = dueq_result_job(popped, 1);
    assert_memory_not_equal(first->uuid.data, second->uuid.data, 36);
    assert_memory_not_equal(first->id.data, second->id.data, 32);
    const char *uuid = first->uuid.data;
    assert_true(uuid[14] == '4' && strchr("89ab", uuid[19]));
    assert_memory_equal(dueq_result_id(pushed_two, 0).data, uuid, 36);
    assert_memory_equal(dueq_result_id(pushed_two, 1).data, second->uuid.data, 36);
    dueq_result_free(pushed_two);
    dueq_result_free(popped);
}

static void test_push_of_a_ready_made_payload_stores_its_bytes(void **state) {
    (void)state;
    static const char payload[] = " {\"job\" : \"A@b\",\"data\":{\"a\":[],\"o\":{},\"f\":1.0,\"n\":"
                                  "1234567890123456789,\"s\":\"\\/\\u00e9\"},\"attempts\": 7,"
                                  "\"id\":\"mi\\u006ee\"}\n";
    dueq_laravel_draft draft = {SIZE, .payload = BYTES(payload)};
    dueq_result *result;
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, &draft, 1, &result));
    assert_bytes(dueq_result_id(result, 0), "mine");
    dueq_result_free(result);
    assert_command("LINDEX queues:jobs %s", "0", payload);
    draft.payload = BYTES("{\"uuid\":\"u\",\"id\":\"i\",\"job\":\"A\",\"attempts\":0}");
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, &draft, 1, &result));
    assert_bytes(dueq_result_id(result, 0), "u");
    dueq_result_free(result);
    draft.payload = BYTES("{\"uuid\":null,\"id\":7,\"job\":\"A\",\"attempts\":0}");
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, &draft, 1, &result));
    assert_bytes(dueq_result_id(result, 0), "");
    dueq_result_free(result);
}

static char *nested(size_t depth) {
    char *text = malloc(depth * 2 + 64);
    assert_non_null(text);
    char *at = text + sprintf(text, "{\"job\":\"A\",\"attempts\":0,\"data\":");
    memset(at, '[', depth - 1);
    memset(at + depth - 1, ']', depth - 1);
    strcpy(at + 2 * (depth - 1), "}");
    return text;
}

static void test_push_refuses_what_a_worker_would_lose(void **state) {
    (void)state;
    static const char *const bad[] = {
        "x",
        "[]",
        "{}",
        "\"attempts\"",
        "{\"job\":\"A\"}",
        "{\"job\":\"A\",\"attempts\":null}",
        "{\"job\":\"A\",\"attempts\":\"0\"}",
        "{\"job\":\"A\",\"attempts\":0.5}",
        "{\"job\":\"A\",\"attempts\":-1}",
        "{\"job\":\"A\",\"attempts\":4294967295}",
        "{\"job\":\"A\",\"attempts\":0,\"attempts\":[]}",
        "{\"attempts\":0}",
        "{\"attempts\":0,\"job\":\"\"}",
        "{\"attempts\":0,\"job\":7}",
        "{\"job\":\"A\",\"attempts\":0}x",
        "{\"job\":\"A\",\"attempts\":0,}",
        "{\"job\":\"\xff\",\"attempts\":0}",
        "{\"job\":\"A\",\"attempts\":0,\"data\":\"\\ud800\"}",
        "{\"job\":\"A\",\"attempts\":0,\"data\":NaN}",
        "{\"job\":\"A\",\"attempts\":0,\"data\":-1e999}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(laravel.client, INVALID, push_payload(laravel, bad[i], 0));
        assert_true(strlen(dueq_error_text(laravel.client)) > 20);
    }
    assert_status(laravel.client, INVALID,
                  push_payload(laravel, "{\"job\":\"A\",\"attempts\":0,\"data\":\"\\ud800\"}", 0));
    assert_non_null(strstr(dueq_error_text(laravel.client), "half of a surrogate pair"));
    char *deep = nested(513), *allowed = nested(512);
    assert_status(laravel.client, INVALID, push_payload(laravel, deep, 0));
    assert_status(laravel.client, OK, push_payload(laravel, allowed, 0));
    free(deep);
    free(allowed);
    assert_sizes(1, 0, 0, 0);
}

static void test_push_refuses_drafts_that_make_no_job(void **state) {
    (void)state;
    const dueq_bytes a = BYTES("A"), payload = BYTES("{\"job\":\"A\",\"attempts\":0}");
    const dueq_laravel_draft bad[] = {
        {SIZE, .delay_ms = 0},
        {SIZE, .data = BYTES("1")},
        {SIZE, .job = a, .command = a},
        {SIZE, .job = a, .command_name = a, .command = a},
        {SIZE, .command_name = a},
        {SIZE, .command = a},
        {SIZE, .command_name = a, .command = a, .data = BYTES("1")},
        {SIZE, .command_name = a, .command = BYTES("\xff")},
        {SIZE, .job = BYTES("A\n")},
        {SIZE, .job = BYTES("\xff")},
        {SIZE, .job = a, .display_name = BYTES("\xff")},
        {SIZE, .job = a, .data = BYTES("x")},
        {SIZE, .job = a, .data = BYTES("1 2")},
        {SIZE, .job = a, .data = BYTES("[1e999]")},
        {SIZE, .job = a, .backoff = BYTES(",")},
        {SIZE, .job = a, .backoff = BYTES("1,")},
        {SIZE, .job = a, .backoff = BYTES("1,,2")},
        {SIZE, .job = a, .backoff = BYTES("1.5")},
        {SIZE, .job = a, .backoff = BYTES("-1")},
        {SIZE, .job = a, .backoff = BYTES("1234567890")},
        {SIZE, .job = a, .retry_until_s = -1},
        {SIZE, .job = a, .retry_until_s = DUEQ_MAX_TIME_MS},
        {SIZE, .job = a, .fail_on_timeout = 2},
        {SIZE, .job = a, .delay_ms = -1},
        {SIZE, .job = a, .at_ms = -1},
        {SIZE, .job = a, .delay_ms = 1, .at_ms = 1},
        {SIZE, .payload = payload, .job = a},
        {SIZE, .payload = payload, .max_tries = 1},
        {SIZE, .payload = payload, .timeout_s = 1},
        {SIZE, .payload = payload, .backoff = BYTES("1")},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(laravel.client, INVALID, dueq_laravel_push(laravel.queue, &bad[i], 1, NULL));
    const dueq_laravel_draft half = {SIZE, .job = a, .data = BYTES("[\"\\udc00\"]")};
    assert_status(laravel.client, INVALID, dueq_laravel_push(laravel.queue, &half, 1, NULL));
    assert_non_null(strstr(dueq_error_text(laravel.client), "half of a surrogate pair"));
    /* One that is wrong, and the call stores none. */
    const dueq_laravel_draft mixed[2] = {{SIZE, .job = a}, {SIZE, .delay_ms = 0}};
    assert_status(laravel.client, INVALID, dueq_laravel_push(laravel.queue, mixed, 2, NULL));
    assert_status(laravel.client, INVALID, dueq_laravel_push(laravel.queue, mixed, 0, NULL));
    assert_status(laravel.client, INVALID,
                  dueq_laravel_push(laravel.queue, mixed, DUEQ_MAX_BATCH + 1, NULL));
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
}

static void test_push_of_many_keeps_their_order_with_a_token_each(void **state) {
    (void)state;
    dueq_laravel_draft drafts[DUEQ_MAX_BATCH];
    char payloads[DUEQ_MAX_BATCH][64];
    dueq_result *result;
    for (int i = 0; i < DUEQ_MAX_BATCH; i++) {
        sprintf(payloads[i], "{\"job\":\"A\",\"attempts\":0,\"data\":%d}", i);
        drafts[i] = (dueq_laravel_draft){SIZE, .payload = BYTES(payloads[i])};
    }
    assert_status(laravel.client, OK,
                  dueq_laravel_push(laravel.queue, drafts, DUEQ_MAX_BATCH, NULL));
    assert_int_equal(tokens(), DUEQ_MAX_BATCH);
    assert_command("LINDEX queues:jobs:notify %s", "0", "1");
    assert_status(laravel.client, OK,
                  dueq_laravel_pop(laravel.queue, DUEQ_MAX_BATCH, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), DUEQ_MAX_BATCH);
    for (size_t i = 0; i < DUEQ_MAX_BATCH; i++)
        assert_bytes(dueq_result_job(result, i)->payload, payloads[i]);
    dueq_result_free(result);
    assert_int_equal(tokens(), 0);
}

static void test_push_delayed_is_due_at_a_whole_second_and_never_early(void **state) {
    (void)state;
    static const char payload[] = "{\"job\":\"A\",\"attempts\":0}";
    int64_t before = server_ms();
    assert_status(laravel.client, OK, push_payload(laravel, payload, 2500));
    int64_t after = server_ms();
    char *score = command_text("ZSCORE queues:jobs:delayed %s", payload);
    assert_int_equal(strspn(score, "0123456789"), strlen(score));
    assert_in_range(atoll(score) * 1000, before + 2500, after + 2500 + 999);
    dueq_sizes sizes = sizes_of(laravel);
    assert_int_equal(sizes.next_ms, atoll(score) * 1000);
    free(score);
    assert_int_equal(tokens(), 0);
    /* The same bytes would merge: the first stays as it is. */
    assert_status(laravel.client, DUPLICATE, push_payload(laravel, payload, 9000));
    assert_int_equal(sizes_of(laravel).next_ms, sizes.next_ms);
    const dueq_laravel_draft at[2] = {
        {SIZE, .payload = BYTES("{\"job\":\"B\",\"attempts\":0}"), .at_ms = 1900000000001},
        {SIZE, .payload = BYTES("{\"job\":\"C\",\"attempts\":0}"), .at_ms = 1}};
    assert_status(laravel.client, OK, dueq_laravel_push(laravel.queue, at, 2, NULL));
    assert_command("ZSCORE queues:jobs:delayed %s", at[0].payload.data, "1900000001");
    assert_command("LINDEX queues:jobs %s", "0", at[1].payload.data);
    assert_sizes(1, 2, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LARAVEL_TEST(test_push_of_a_string_job),
        LARAVEL_TEST(test_push_of_an_object_as_php_serialized_it),
        LARAVEL_TEST(test_push_escapes_line_separators_as_php_does),
        LARAVEL_TEST(test_push_makes_new_names_each_time),
        LARAVEL_TEST(test_push_of_a_ready_made_payload_stores_its_bytes),
        LARAVEL_TEST(test_push_refuses_what_a_worker_would_lose),
        LARAVEL_TEST(test_push_refuses_drafts_that_make_no_job),
        LARAVEL_TEST(test_push_of_many_keeps_their_order_with_a_token_each),
        LARAVEL_TEST(test_push_delayed_is_due_at_a_whole_second_and_never_early),
    };
    return run_on_server(tests, NULL);
}
