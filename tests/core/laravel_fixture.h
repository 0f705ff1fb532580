/*
 * Laravel's queue "jobs" on the fixture's server, new for each test, and what a stock worker would
 * do to it.
 */
#ifndef LARAVEL_FIXTURE_H
#define LARAVEL_FIXTURE_H

#include "dueq_laravel.h"
#include "fixture.h"

struct laravel {
    dueq_client *client;
    dueq_laravel *queue;
};

static struct laravel laravel;

static inline struct laravel laravel_open(const char *url) {
    struct laravel opened = {.client = open_client(url)};
    assert_status(opened.client, OK,
                  dueq_laravel_open(opened.client, "jobs", 4, (dueq_bytes){0}, &opened.queue));
    return opened;
}

static inline void laravel_close(struct laravel opened) {
    dueq_laravel_close(opened.queue);
    dueq_close(opened.client);
}

static inline int set_up_laravel(void **state) {
    (void)state;
    run_command(&server, "FLUSHALL");
    laravel = laravel_open(server.url);
    return 0;
}

static inline int tear_down_laravel(void **state) {
    (void)state;
    laravel_close(laravel);
    return 0;
}

#define LARAVEL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_laravel, tear_down_laravel)

static inline void assert_bytes_(dueq_bytes bytes, const char *text, const char *file, int line) {
    if (bytes.size == strlen(text) && (bytes.size == 0 || !memcmp(bytes.data, text, bytes.size)))
        return;
    print_error("'%.*s' is not '%s'\n", (int)bytes.size, (const char *)bytes.data, text);
    _fail(file, line);
}
#define assert_bytes(bytes, text) assert_bytes_((bytes), (text), __FILE__, __LINE__)

/* What a command answers as one text; free it. */
static inline char *command_text(const char *format, const char *word) {
    redisReply *reply = command(&server, format, word);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    char *text = malloc(reply->len + 1);
    assert_non_null(text);
    memcpy(text, reply->str, reply->len + 1);
    freeReplyObject(reply);
    return text;
}

static inline void assert_command(const char *format, const char *word, const char *expected) {
    char *text = command_text(format, word);
    assert_string_equal(text, expected);
    free(text);
}

/* As the push of a stock producer. */
static inline void stock_push(const char *payload) {
    run_command(&server, "RPUSH queues:jobs %s", payload);
    run_command(&server, "RPUSH queues:jobs:notify 1");
}

/* A ready-made payload by dueq; returns the status. */
static inline dueq_status push_payload(struct laravel to, const char *payload, int64_t delay_ms) {
    dueq_laravel_draft draft = {
        .struct_size = sizeof(dueq_laravel_draft), .payload = BYTES(payload), .delay_ms = delay_ms};
    return dueq_laravel_push(to.queue, &draft, 1, NULL);
}

/* Pops one job and asserts that it came; free the result. */
static inline const dueq_job *pop_one(struct laravel from, int64_t timeout_ms,
                                      dueq_result **result) {
    assert_status(from.client, OK, dueq_laravel_pop(from.queue, 1, timeout_ms, 0, result));
    assert_int_equal(dueq_result_count(*result), 1);
    return dueq_result_job(*result, 0);
}

static inline dueq_sizes sizes_of(struct laravel of) {
    dueq_sizes sizes = DUEQ_SIZES;
    assert_status(of.client, OK, dueq_laravel_size(of.queue, &sizes));
    return sizes;
}

#define assert_sizes(expected_ready, expected_delayed, expected_reserved, expected_aside)          \
    do {                                                                                           \
        dueq_sizes sizes_ = sizes_of(laravel);                                                     \
        assert_int_equal(sizes_.ready, expected_ready);                                            \
        assert_int_equal(sizes_.delayed, expected_delayed);                                        \
        assert_int_equal(sizes_.reserved, expected_reserved);                                      \
        assert_int_equal(sizes_.quarantined, expected_aside);                                      \
    } while (0)

static inline long long tokens(void) { return command_number(&server, "LLEN queues:jobs:notify"); }

/* The server's clock in ms. */
static inline int64_t server_ms(void) {
    redisReply *reply = command(&server, "TIME");
    int64_t ms = atoll(reply->element[0]->str) * 1000 + atoll(reply->element[1]->str) / 1000;
    freeReplyObject(reply);
    return ms;
}

#endif
