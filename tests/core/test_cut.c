/* Connections that are lost when a request was sent: nothing is run twice, nothing is told wrongly. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"

static struct server server;
static struct proxy proxy;
static dueq_client *client, *beside;
static dueq_queue *queue, *same;

static int set_up(void **state) {
    (void)state;
    run_command(&server, "FLUSHALL");
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    client = open_client(proxy.url);
    queue = open_queue(client, "jobs");
    beside = open_client(server.url);
    same = open_queue(beside, "jobs");
    /* Connected, with all scripts loaded, so that the next request is the one that is cut. */
    dueq_result *result;
    push_body(queue, "first", 0, NULL);
    reserve_one(queue, 0, 0, &result);
    assert_status(client, OK,
                  dueq_retry(queue, dueq_result_message(result, 0)->ticket, 0, BYTES("")));
    dueq_result_free(result);
    reserve_one(queue, 0, 0, &result);
    assert_status(client, OK, dueq_extend(queue, dueq_result_message(result, 0)->ticket, 9000));
    assert_status(client, OK, dueq_ack(queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
    dueq_result_free(result);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dueq_queue_close(queue);
    dueq_close(client);
    dueq_queue_close(same);
    dueq_close(beside);
    return 0;
}

static int64_t living(void) {
    dueq_counts counts;
    assert_status(beside, OK, dueq_stats(same, &counts));
    return counts.ready + counts.delayed + counts.leased + counts.dead;
}

static void test_push_cut_before_the_answer_is_stored_once(void **state) {
    (void)state;
    for (int times = 1; times <= 3; times++) {
        run_command(&server, "DEL dueq:{jobs}:msg dueq:{jobs}:ready");
        proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", times);
        push_body(queue, "HELLO-WORLD", 0, NULL);
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(living(), 1);
        assert_int_equal(command_number(&server, "LLEN dueq:{jobs}:ready"), 1);
    }
}

static void test_push_cut_before_the_request_is_stored_once(void **state) {
    (void)state;
    proxy_cut(&proxy, CUT_BEFORE, "HELLO-WORLD", 3);
    push_body(queue, "HELLO-WORLD", 0, NULL);
    assert_int_equal(proxy_cuts(&proxy), 3);
    assert_int_equal(living(), 1);
}

static void test_push_cut_and_consumed_meanwhile_is_not_pushed_again(void **state) {
    (void)state;
    /* The consumer waits, so the message is acknowledged before the producer is back. */
    for (int i = 0; i < 20; i++) {
        pid_t consumer = consumer_start(server.url, "jobs", 20000);
        await_blocked(&server, 1);
        proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 1);
        push_body(queue, "HELLO-WORLD", 0, NULL);
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(consumer_end(consumer), DUEQ_OK);
        assert_int_equal(living(), 0);
    }
}

static void test_push_cut_with_a_duplicate_answers_as_it_was(void **state) {
    (void)state;
    dueq_draft drafts[2] = {DUEQ_DRAFT, DUEQ_DRAFT};
    dueq_result *result;
    drafts[0].id = BYTES("one");
    drafts[1].id = BYTES("two");
    drafts[0].body = drafts[1].body = BYTES("HELLO-WORLD");
    assert_status(beside, OK, dueq_push(same, drafts, 1, NULL));
    proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 1);
    assert_status(client, DUPLICATE, dueq_push(queue, drafts, 2, &result));
    assert_int_equal(dueq_result_status(result, 0), DUEQ_DUPLICATE);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_OK);
    dueq_result_free(result);
    assert_int_equal(living(), 2);
}

static void test_ack_cut_after_it_was_applied_is_ok(void **state) {
    (void)state;
    dueq_result *result;
    push_body(queue, "x", 0, NULL);
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    char id[23];
    snprintf(id, sizeof id, "%.*s", (int)message->id.size, (const char *)message->id.data);
    proxy_cut(&proxy, CUT_REQUEST, id, 1);
    assert_status(client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_int_equal(living(), 0);
    assert_status(client, LEASE_LOST, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
}

static void test_retry_cut_after_it_was_applied_is_ok(void **state) {
    (void)state;
    dueq_result *result;
    push_body(queue, "x", 0, NULL);
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    proxy_cut(&proxy, CUT_REQUEST, "the reason", 1);
    assert_status(client, OK, dueq_retry(queue, message->ticket, 0, BYTES("the reason")));
    assert_int_equal(proxy_cuts(&proxy), 1);
    dueq_result_free(result);
    message = reserve_one(queue, 0, 0, &result);
    assert_int_equal(message->attempt, 2);
    dueq_result_free(result);
}

static void test_reserve_cut_before_the_answer_returns_the_same_messages(void **state) {
    (void)state;
    dueq_result *result;
    push_body(queue, "a", 0, NULL);
    push_body(queue, "b", 0, NULL);
    proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_memory_equal(message->body.data, "a", 1);
    assert_int_equal(message->attempt, 1);
    assert_status(client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "ZCARD dueq:{jobs}:leased"), 0);
    assert_int_equal(living(), 1);
}

static void test_reserve_cut_while_it_waits_goes_on(void **state) {
    (void)state;
    dueq_result *result;
    assert_status(client, PENDING, dueq_reserve_submit(queue, 1, 20000, 0));
    for (int i = 0; i < 3; i++) {
        while (info_number(&server, "clients", "blocked_clients") < 1)
            assert_status(client, PENDING, dueq_wait(client, 5));
        run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
        while (info_number(&server, "clients", "blocked_clients") > 0)
            assert_status(client, PENDING, dueq_wait(client, 1));
    }
    push_body(same, "through it all", 0, NULL);
    assert_status(client, OK, dueq_wait(client, 10000));
    assert_status(client, OK, dueq_take(client, &result));
    dueq_result_free(result);
}

static void test_push_late_at_a_stopped_server_is_not_run_after_the_next(void **state) {
    (void)state;
    /* The server stops, the push's deadline ends; what it had not read must not be run later, when
     * the caller has been told and has pushed again under the same id. */
    char url[200];
    snprintf(url, sizeof url, "unix://%s?timeout=300ms", server.socket);
    dueq_client *hasty = open_client(url);
    dueq_queue *jobs = open_queue(hasty, "jobs");
    push_body(jobs, "before", 0, NULL);
    kill(server.pid, SIGSTOP);
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES("mine");
    draft.body = BYTES("late");
    assert_status(hasty, TIMEOUT, dueq_push(jobs, &draft, 1, NULL));
    kill(server.pid, SIGCONT);
    draft.body = BYTES("again");
    dueq_status status = dueq_push(jobs, &draft, 1, NULL);
    assert_true(status == DUEQ_OK || status == DUEQ_DUPLICATE);
    assert_int_equal(living(), 2);
    dueq_queue_close(jobs);
    dueq_close(hasty);
}

int main(void) {
    cmocka_set_test_filter(getenv("ONLY") ? getenv("ONLY") : "*");
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_push_cut_before_the_answer_is_stored_once),
        TEST(test_push_cut_before_the_request_is_stored_once),
        TEST(test_push_cut_and_consumed_meanwhile_is_not_pushed_again),
        TEST(test_push_cut_with_a_duplicate_answers_as_it_was),
        TEST(test_ack_cut_after_it_was_applied_is_ok),
        TEST(test_retry_cut_after_it_was_applied_is_ok),
        TEST(test_reserve_cut_before_the_answer_returns_the_same_messages),
        TEST(test_reserve_cut_while_it_waits_goes_on),
        TEST(test_push_late_at_a_stopped_server_is_not_run_after_the_next),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
