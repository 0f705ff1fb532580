/* What failed: which process said so, and pages of it. */
#include <unistd.h>

#include "fixture.h"
#include "verbs/verbs.h"

static const dueq_bytes NONE = {0};

static void assert_own(dueq_queue *queue, size_t count, dueq_failure_kind kind, const char *error) {
    char host[256] = "";
    dueq_result *result;
    gethostname(host, sizeof host - 1);
    assert_status(queue->client, OK, dueq_failures(queue, NONE, NONE, DUEQ_MAX_BATCH, &result));
    assert_int_equal(dueq_result_count(result), count);
    const dueq_failure *failure = dueq_result_failure(result, 0);
    assert_int_equal(failure->kind, kind);
    assert_true(dueq__bytes_equal(failure->host, BYTES(host)));
    assert_int_equal(failure->pid, getpid());
    assert_true(dueq__bytes_equal(failure->error, BYTES(error)));
    assert_true(dueq__bytes_equal(dueq_result_id(result, 0), failure->id));
    assert_null(dueq_result_failure(result, count));
    assert_null(dueq_result_worker(result, 0));
    dueq_result_free(result);
}

static void test_who_fails_a_message_is_named(void **state) {
    (void)state;
    dueq_result *result;
    dueq_consumer *consumer;
    const dueq_consumer_options options = DUEQ_CONSUMER;
    const dueq_message *message;
    push_body(jobs.queue, "a", 0, NULL);
    message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_retry(jobs.queue, message->ticket, 0, BYTES("why")));
    dueq_result_free(result);
    assert_own(jobs.queue, 1, DUEQ_FAILED, "why");

    /* A consumer's goes along with the next reserve. */
    assert_status(jobs.client, OK, dueq_consumer_open(&jobs.queue, 1, &options, &consumer));
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    assert_status(jobs.client, OK,
                  dueq_consumer_retry(consumer, message->ticket, 0, BYTES("again")));
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    assert_own(jobs.queue, 2, DUEQ_FAILED, "again");
    assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES("so")));
    assert_own(jobs.queue, 3, DUEQ_BURIED, "so");
    dueq_consumer_close(consumer);
}

static void test_who_fails_a_message_after_a_fork_is_the_child(void **state) {
    (void)state;
    dueq_result *result;
    push_body(jobs.queue, "a", 0, NULL);
    const dueq_message *message = reserve_one(jobs.queue, 0, 60000, &result);
    pid_t child = fork();
    if (!child) {
        struct jobs own = jobs_open(server.url);
        _exit(dueq_bury(own.queue, message->ticket, BYTES("child")) != DUEQ_OK);
    }
    assert_int_equal(child_end(child), 0);
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_failures(jobs.queue, NONE, NONE, 1, &result));
    assert_int_equal(dueq_result_failure(result, 0)->pid, child);
    dueq_result_free(result);
}

/* Those of one millisecond, and others, each once. */
static void test_failures_are_pages(void **state) {
    (void)state;
    static const char *const fill = "for i = 1, 450 do redis.call('LPUSH', KEYS[1], (i < 100 and i "
                                    "or 100) .. ' failed\\n0:x\\n\\n' "
                                    ".. i) end";
    const size_t pages[] = {200, 7, 450};
    redisReply *reply = command(&server, "EVAL %s 1 dueq:{jobs}:failures", fill);
    freeReplyObject(reply);
    for (size_t i = 0; i < 2; i++) {
        dueq_result *page = NULL, *next;
        int64_t found = 0;
        do {
            assert_status(
                jobs.client, OK,
                dueq_failures(jobs.queue, BYTES("x"), dueq_result_cursor(page), pages[i], &next));
            dueq_result_free(page);
            page = next;
            for (size_t k = 0; k < dueq_result_count(page); k++, found++) {
                char number[24];
                snprintf(number, sizeof number, "%lld", (long long)(450 - found));
                assert_true(dueq__bytes_equal(dueq_result_failure(page, k)->error, BYTES(number)));
            }
        } while (dueq_result_cursor(page).size);
        dueq_result_free(page);
        assert_int_equal(found, 450);
    }
    assert_status(jobs.client, INVALID, dueq_failures(jobs.queue, NONE, NONE, pages[2], NULL));
    assert_status(jobs.client, INVALID, dueq_failures(jobs.queue, NONE, NONE, 0, NULL));
    assert_status(jobs.client, INVALID, dueq_failures(jobs.queue, BYTES("\n"), NONE, 1, NULL));
}

static void test_names_of_kinds(void **state) {
    (void)state;
    assert_string_equal(dueq_failure_name(DUEQ_FAILED), "failed");
    assert_string_equal(dueq_failure_name((dueq_failure_kind)9), "unknown");
    assert_null(dueq_result_failure(NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_who_fails_a_message_is_named),
        TEST(test_who_fails_a_message_after_a_fork_is_the_child),
        TEST(test_failures_are_pages),
        TEST(test_names_of_kinds),
    };
    return run_on_server(tests, NULL);
}
