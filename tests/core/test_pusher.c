/*
 * Many pushes in flight: their order, their own outcomes, and what a lost connection does to them.
 */
#include <unistd.h>

#include "fixture.h"
#include "proxy.h"

#define MANY 1000

static struct proxy proxy;

struct tally {
    size_t stored, duplicates, failed;
};

static dueq_draft numbered(uint32_t *number, uint32_t value) {
    dueq_draft draft = DUEQ_DRAFT;
    *number = value;
    draft.body = (dueq_bytes){number, sizeof *number};
    return draft;
}

/* Takes what is done in; returns whether anything was. */
static bool take_done(dueq_pusher *pusher, struct tally *tally) {
    dueq_status status;
    dueq_result *result;
    size_t count = dueq_pusher_done(pusher, &status, &result);
    if (status < 0)
        tally->failed += count;
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        tally->stored += dueq_result_status(result, i) == DUEQ_OK;
        tally->duplicates += dueq_result_status(result, i) == DUEQ_DUPLICATE;
    }
    dueq_result_free(result);
    return count > 0;
}

static void finish(dueq_client *client, dueq_pusher *pusher, struct tally *tally) {
    while (dueq_pusher_left(pusher))
        if (!take_done(pusher, tally))
            dueq_wait(client, -1);
}

/* Pushes numbers from `from` on, waiting where it must; tells how often it had to. */
static size_t push_numbers(dueq_client *client, dueq_pusher *pusher, uint32_t from, uint32_t count,
                           struct tally *tally) {
    size_t waits = 0;
    for (uint32_t i = from; i < from + count; i++) {
        uint32_t number;
        dueq_draft draft = numbered(&number, i);
        dueq_status status;
        while ((status = dueq_pusher_push(pusher, &draft)) == DUEQ_PENDING) {
            waits++;
            dueq_wait(client, -1);
            take_done(pusher, tally);
        }
        assert_status(client, OK, status);
    }
    return waits;
}

/* Asserts that these numbers lie ready, each once and in order. */
static void assert_numbers(uint32_t from, uint32_t count) {
    uint32_t next = from;
    while (next < from + count) {
        dueq_result *result;
        assert_status(jobs.client, OK, dueq_reserve(jobs.queue, DUEQ_MAX_BATCH, 0, 0, &result));
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            uint32_t number;
            dueq_bytes body = dueq_result_message(result, i)->body;
            assert_int_equal(body.size, sizeof number);
            memcpy(&number, body.data, sizeof number);
            assert_int_equal(number, next++);
        }
        dueq_result_free(result);
    }
    assert_int_equal(next, from + count);
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 0, 0, NULL));
}

static dueq_pusher *open_pusher(dueq_queue *queue, size_t most) {
    dueq_pusher *pusher;
    assert_int_equal(dueq_pusher_open(queue, most, &pusher), DUEQ_OK);
    return pusher;
}

static void test_pusher_keeps_the_order(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    push_numbers(jobs.client, pusher, 0, MANY, &tally);
    assert_true(dueq_pusher_left(pusher) > 0);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.stored, MANY);
    dueq_pusher_close(pusher);
    assert_numbers(0, MANY);
}

static void test_pusher_batches_what_gathers(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    push_numbers(jobs.client, pusher, 0, 1, &tally);
    finish(jobs.client, pusher, &tally);
    long long before = info_number(&server, "stats", "total_commands_processed");
    push_numbers(jobs.client, pusher, 1, MANY, &tally);
    finish(jobs.client, pusher, &tally);
    long long sent = info_number(&server, "stats", "total_commands_processed") - before;
    /* What asks for the number is counted too. */
    assert_in_range(sent, MANY / DUEQ_MAX_BATCH, MANY / 10);
    assert_int_equal(tally.stored, MANY + 1);
    dueq_pusher_close(pusher);
}

static void test_pusher_is_bounded(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_pusher *pusher = open_pusher(jobs.queue, 10);
    assert_true(push_numbers(jobs.client, pusher, 0, MANY, &tally) > 0);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.stored, MANY);
    dueq_pusher_close(pusher);
    assert_numbers(0, MANY);
}

static void test_pusher_tells_each_push_its_outcome(void **state) {
    (void)state;
    static const char *const ids[] = {"a", "b", "a", "c", "b"};
    static const dueq_status expected[] = {DUEQ_OK, DUEQ_OK, DUEQ_DUPLICATE, DUEQ_OK,
                                           DUEQ_DUPLICATE};
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    for (size_t i = 0; i < 5; i++) {
        char id[2];
        dueq_draft draft = DUEQ_DRAFT;
        memcpy(id, ids[i], 2);
        draft.id = BYTES(id);
        assert_status(jobs.client, OK, dueq_pusher_push(pusher, &draft));
        id[0] = '?'; /* it was copied */
    }
    for (size_t at = 0; at < 5;) {
        dueq_status status;
        dueq_result *result;
        size_t count = dueq_pusher_done(pusher, &status, &result);
        for (size_t i = 0; i < count; i++, at++) {
            assert_int_equal(dueq_result_status(result, i), expected[at]);
            assert_memory_equal(dueq_result_id(result, i).data, ids[at], 1);
        }
        dueq_result_free(result);
        if (!count)
            dueq_wait(jobs.client, -1);
    }
    assert_int_equal(dueq_pusher_left(pusher), 0);
    dueq_pusher_close(pusher);
}

static void test_pusher_copies_all_of_a_draft(void **state) {
    (void)state;
    char body[] = "body", name[] = "name", value[] = "value";
    int64_t list[] = {1000, 2000};
    dueq_header header = {BYTES(name), BYTES(value)};
    dueq_draft draft = DUEQ_DRAFT;
    struct tally tally = {0};
    dueq_result *result;
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    push_numbers(jobs.client, pusher, 0, 1, &tally); /* under way, so that the next gathers */
    draft.body = BYTES(body);
    draft.headers = &header;
    draft.header_count = 1;
    draft.backoff = (dueq_backoff){.kind = DUEQ_BACKOFF_LIST, .list_ms = list, .list_count = 2};
    assert_status(jobs.client, OK, dueq_pusher_push(pusher, &draft));
    memset(body, '?', 4);
    memset(name, '?', 4);
    memset(value, '?', 5);
    memset(list, 0xFF, sizeof list);
    memset(&header, 0, sizeof header);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.stored, 2);
    dueq_pusher_close(pusher);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 2, 0, 0, &result));
    const dueq_message *message = dueq_result_message(result, 1);
    assert_memory_equal(message->body.data, "body", 4);
    assert_int_equal(message->header_count, 1);
    assert_memory_equal(message->headers[0].name.data, "name", 4);
    assert_memory_equal(message->headers[0].value.data, "value", 5);
    dueq_result_free(result);
}

static void test_pusher_refuses_a_bad_draft_alone(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_draft bad = DUEQ_DRAFT;
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    bad.delay_ms = -5;
    push_numbers(jobs.client, pusher, 0, 10, &tally);
    assert_status(jobs.client, INVALID, dueq_pusher_push(pusher, &bad));
    assert_true(strlen(dueq_error_text(jobs.client)) > 0);
    push_numbers(jobs.client, pusher, 10, 10, &tally);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.stored, 20);
    dueq_pusher_close(pusher);
    assert_numbers(0, 20);
}

static void test_pusher_on_a_foreign_key_fails_each(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_status status;
    dueq_result *result;
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    run_command(&server, "SET dueq:{jobs}:ready foreign");
    push_numbers(jobs.client, pusher, 0, 1, &tally);
    dueq_wait(jobs.client, -1);
    assert_int_equal(dueq_pusher_done(pusher, &status, &result), 1);
    assert_int_equal(status, DUEQ_WRONG_TYPE);
    assert_null(result);
    assert_true(strlen(dueq_error_text(jobs.client)) > 0);
    push_numbers(jobs.client, pusher, 1, 99, &tally);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.failed, 99);
    run_command(&server, "DEL dueq:{jobs}:ready");
    push_numbers(jobs.client, pusher, 100, 100, &tally);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.stored, 100);
    dueq_pusher_close(pusher);
    assert_numbers(100, 100);
}

static void test_pusher_cut_stores_each_once_in_order(void **state) {
    (void)state;
    static const enum cut cuts[] = {CUT_REQUEST, CUT_BEFORE};
    proxy_start(&proxy, &server);
    for (size_t i = 0; i < 2; i++) {
        struct tally tally = {0};
        struct jobs cut = jobs_open(proxy.url);
        dueq_pusher *pusher = open_pusher(cut.queue, 0);
        proxy_cut(&proxy, CUT_NOTHING, "", 0);
        push_numbers(cut.client, pusher, 0, 1, &tally);
        finish(cut.client, pusher, &tally);
        proxy_cut(&proxy, cuts[i], "EVALSHA", 3);
        push_numbers(cut.client, pusher, 1, MANY - 1, &tally);
        finish(cut.client, pusher, &tally);
        assert_int_equal(proxy_cuts(&proxy), 3);
        assert_int_equal(tally.stored, MANY);
        dueq_pusher_close(pusher);
        jobs_close(cut);
        assert_numbers(0, MANY);
    }
    proxy_stop(&proxy);
}

static void test_pusher_after_fork_is_the_childs_own(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    push_numbers(jobs.client, pusher, 0, 50, &tally);
    pid_t child = fork();
    if (child == 0) {
        uint32_t number;
        dueq_draft draft = numbered(&number, 1000);
        size_t inherited = dueq_pusher_left(pusher);
        dueq_status status = dueq_pusher_push(pusher, &draft), pushed = DUEQ_PENDING;
        dueq_result *result = NULL;
        while (!status && !dueq_pusher_done(pusher, &pushed, &result))
            dueq_wait(jobs.client, -1);
        _exit(inherited == 0 && status == DUEQ_OK && pushed == DUEQ_OK ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
    finish(jobs.client, pusher, &tally);
    assert_int_equal(tally.stored, 50);
    dueq_pusher_close(pusher);
    assert_int_equal(command_number(&server, "LLEN dueq:{jobs}:ready"), 51);
}

static void test_pusher_closed_frees_what_gathers(void **state) {
    (void)state;
    struct tally tally = {0};
    dueq_pusher *pusher = open_pusher(jobs.queue, 0);
    push_numbers(jobs.client, pusher, 0, 50, &tally);
    dueq_pusher_close(pusher);
    push_body(jobs.queue, "the client is free again", 0, NULL);
    dueq_pusher_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_pusher_keeps_the_order),
        TEST(test_pusher_batches_what_gathers),
        TEST(test_pusher_is_bounded),
        TEST(test_pusher_tells_each_push_its_outcome),
        TEST(test_pusher_copies_all_of_a_draft),
        TEST(test_pusher_refuses_a_bad_draft_alone),
        TEST(test_pusher_on_a_foreign_key_fails_each),
        TEST(test_pusher_cut_stores_each_once_in_order),
        TEST(test_pusher_after_fork_is_the_childs_own),
        TEST(test_pusher_closed_frees_what_gathers),
    };
    return run_on_server(tests, NULL);
}
