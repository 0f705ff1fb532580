/* What a server refuses: each has its own class and a text, and nothing is lost. */
#include "fixture.h"

static void test_push_with_wrong_passwords_is_auth(void **state) {
    (void)state;
    run_command(&server, "CONFIG SET requirepass secret");
    assert_push(AUTH, server.url);
    assert_push(AUTH, url_with(":wrong@", ""));
    assert_push(OK, url_with(":secret@", ""));
    dueq_client *secret = open_client(url_with(":secret@", ""));
    assert_null(strstr(dueq_client_url(secret), "secret"));
    dueq_close(secret);
    redisContext *context = redisConnectUnix(server.socket);
    freeReplyObject(redisCommand(context, "AUTH secret"));
    freeReplyObject(redisCommand(context, "CONFIG SET requirepass %s", ""));
    redisFree(context);
    assert_push(AUTH, url_with(":needless@", ""));
}

static void test_push_without_permission_is_denied(void **state) {
    (void)state;
    run_command(&server, "ACL SETUSER reader on >secret ~* +@read +@connection");
    assert_push(DENIED, url_with("reader:secret@", ""));
}

static void test_push_to_a_wrong_database(void **state) {
    (void)state;
    assert_push(DATABASE, url_with("", "?db=99"));
    assert_push(OK, url_with("", "?db=3"));
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:msg"), 0);
}

static void test_push_to_a_full_server_is_full_and_consuming_goes_on(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 3; i++)
        push_body(jobs.queue, "before", 0, NULL);
    push_body(jobs.queue, "later", 2000, NULL);
    run_command(&server, "CONFIG SET maxmemory 1");
    assert_status(jobs.client, FULL, push_text(jobs.queue, "too much"));
    /* Every way out of the queue works on a full server. */
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_extend(jobs.queue, &message->ticket, 1, 60000, NULL));
    assert_status(jobs.client, OK, dueq_retry(jobs.queue, message->ticket, 0, BYTES("full")));
    dueq_result_free(result);
    message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES("full")));
    dueq_result_free(result);
    message = reserve_one(jobs.queue, 0, 0, &result);
    assert_int_equal(message->attempt, 2);
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    reserve_one(jobs.queue, 5000, 0, &result);
    dueq_result_free(result);
    run_command(&server, "CONFIG SET maxmemory 0");
    assert_status(jobs.client, OK, push_text(jobs.queue, "again"));
}

static void test_push_to_a_replica_is_readonly(void **state) {
    (void)state;
    struct jobs hasty = jobs_open(url_with("", "?timeout=1s"));
    push_body(hasty.queue, "kept", 0, NULL);
    run_command(&server, "REPLICAOF 127.0.0.1 1");
    int64_t start = now_ms();
    assert_push(READONLY, server.url); /* by one that it has never served: at once */
    assert_true(now_ms() - start < 5000);
    dueq_status push = push_text(hasty.queue, "x"),
                reserve = dueq_reserve(hasty.queue, 1, 0, 0, NULL),
                waiting = dueq_reserve(hasty.queue, 1, 500, 0, NULL);
    run_command(&server, "REPLICAOF NO ONE");
    assert_int_equal(push, DUEQ_READONLY);
    assert_int_equal(reserve, DUEQ_READONLY);
    assert_int_equal(waiting, DUEQ_READONLY);
    jobs_close(hasty);
    dueq_result *result;
    reserve_one(jobs.queue, 0, 0, &result);
    dueq_result_free(result);
}

static void test_push_to_a_busy_server_waits_and_then_is_busy(void **state) {
    (void)state;
    struct jobs hasty = jobs_open(url_with("", "?timeout=2s"));
    push_body(hasty.queue, "before", 0, NULL);
    run_command(&server, "CONFIG SET lua-time-limit 50");
    pid_t script = command_start(&server, "EVAL %s 0", "while true do end");
    dueq_status status = DUEQ_OK;
    for (int64_t end = now_ms() + 10000; status == DUEQ_OK && now_ms() < end;)
        status = push_text(hasty.queue, "x");
    run_command(&server, "SCRIPT KILL");
    child_end(script);
    run_command(&server, "CONFIG SET lua-time-limit 5000");
    assert_status(hasty.client, BUSY, status);
    assert_status(hasty.client, OK, push_text(hasty.queue, "after"));
    jobs_close(hasty);
}

static void test_reserve_of_more_than_the_server_sends_says_so(void **state) {
    (void)state;
    size_t size = 2 << 20;
    dueq_result *result;
    dueq_draft draft = DUEQ_DRAFT;
    char *body = calloc(1, size);
    assert_non_null(body);
    draft.body = (dueq_bytes){body, size};
    draft.id = BYTES("the large one");
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    run_command(&server, "CONFIG SET client-output-buffer-limit %s", "normal 1mb 0 0");
    int64_t start = now_ms();
    assert_status(jobs.client, TOO_LARGE, dueq_reserve(jobs.queue, 1, 0, 1000, NULL));
    assert_true(now_ms() - start < 5000);
    assert_non_null(strstr(dueq_error_text(jobs.client), "client-output-buffer-limit"));
    /* It was delivered once, however often the answer was lost. */
    run_command(&server, "CONFIG SET client-output-buffer-limit %s", "normal 0 0 0");
    const dueq_message *message = reserve_one(jobs.queue, 10000, 0, &result);
    assert_int_equal(message->body.size, size);
    assert_int_equal(message->deliveries, 2);
    dueq_result_free(result);
    /* One that is only looked at is not noted. */
    run_command(&server, "CONFIG SET client-output-buffer-limit %s", "normal 1mb 0 0");
    struct jobs hasty = jobs_open(url_with("", "?timeout=500ms"));
    assert_status(hasty.client, CLOSED, dueq_find(hasty.queue, draft.id, &result));
    assert_non_null(strstr(dueq_error_text(hasty.client), "client-output-buffer-limit"));
    run_command(&server, "CONFIG SET client-output-buffer-limit %s", "normal 0 0 0");
    jobs_close(hasty);
    free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_with_wrong_passwords_is_auth),
        TEST(test_push_without_permission_is_denied),
        TEST(test_push_to_a_wrong_database),
        TEST(test_push_to_a_full_server_is_full_and_consuming_goes_on),
        TEST(test_push_to_a_replica_is_readonly),
        TEST(test_push_to_a_busy_server_waits_and_then_is_busy),
        TEST(test_reserve_of_more_than_the_server_sends_says_so),
    };
    return run_on_server(tests, NULL);
}
