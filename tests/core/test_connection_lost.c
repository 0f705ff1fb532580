/*
 * Connections that are lost when a request was sent: nothing is run twice, nothing is told wrongly.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "proxy.h"
#include "verbs/verbs.h"

static struct proxy proxy;
static struct jobs cut; /* by way of the proxy; the fixture's are beside it */

static int set_up_cut(void **state) {
    set_up_jobs(state);
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    cut = jobs_open(proxy.url);
    /* Connected, with all scripts loaded, so that the next request is the one that is cut. */
    dueq_result *result;
    push_body(cut.queue, "first", 0, NULL);
    reserve_one(cut.queue, 0, 0, &result);
    assert_status(cut.client, OK,
                  dueq_retry(cut.queue, dueq_result_message(result, 0)->ticket, 0, BYTES("")));
    dueq_result_free(result);
    reserve_one(cut.queue, 0, 0, &result);
    assert_status(cut.client, OK,
                  dueq_extend(cut.queue, &dueq_result_message(result, 0)->ticket, 1, 9000, NULL));
    assert_status(cut.client, OK,
                  dueq_ack(cut.queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
    dueq_result_free(result);
    return 0;
}

static int tear_down_cut(void **state) {
    jobs_close(cut);
    return tear_down_jobs(state);
}

static int64_t existing(void) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    return counts.ready + counts.delayed + counts.leased + counts.dead;
}

static void test_push_cut_before_the_answer_is_stored_once(void **state) {
    (void)state;
    for (int times = 1; times <= 3; times++) {
        run_command(&server, "DEL dueq:{jobs}:msg dueq:{jobs}:ready");
        proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", times);
        push_body(cut.queue, "HELLO-WORLD", 0, NULL);
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(existing(), 1);
        assert_int_equal(command_number(&server, "LLEN dueq:{jobs}:ready"), 1);
    }
}

static void test_push_cut_before_the_request_is_stored_once(void **state) {
    (void)state;
    proxy_cut(&proxy, CUT_BEFORE, "HELLO-WORLD", 3);
    push_body(cut.queue, "HELLO-WORLD", 0, NULL);
    assert_int_equal(proxy_cuts(&proxy), 3);
    assert_int_equal(existing(), 1);
}

/* As when another server takes over each time, which has no scripts. */
static void test_push_cut_by_servers_without_scripts_is_stored_once(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES("HELLO-WORLD");
    proxy_cut(&proxy, CUT_BEFORE, "HELLO-WORLD", 4);
    dueq_status status = dueq_push_submit(cut.queue, &draft, 1);
    for (int cuts = 0; status == DUEQ_PENDING; status = dueq_wait(cut.client, 1)) {
        if (proxy_cuts(&proxy) > cuts)
            run_command(&server, "SCRIPT FLUSH");
        cuts = proxy_cuts(&proxy);
    }
    assert_status_(cut.client, DUEQ_OK, status, __FILE__, __LINE__);
    assert_int_equal(proxy_cuts(&proxy), 4);
    assert_int_equal(existing(), 1);
}

static void test_push_cut_and_consumed_meanwhile_is_not_pushed_again(void **state) {
    (void)state;
    /* The consumer waits, so the message is acknowledged before the producer is back. */
    for (int i = 0; i < 20; i++) {
        pid_t consumer = consumer_start(server.url, "jobs", 20000);
        await_blocked(&server, 1);
        proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 1);
        push_body(cut.queue, "HELLO-WORLD", 0, NULL);
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(child_end(consumer), DUEQ_OK);
        assert_int_equal(existing(), 0);
    }
}

static void test_push_cut_with_a_duplicate_answers_as_it_was(void **state) {
    (void)state;
    dueq_draft drafts[2] = {DUEQ_DRAFT, DUEQ_DRAFT};
    dueq_result *result;
    drafts[0].id = BYTES("one");
    drafts[1].id = BYTES("two");
    drafts[0].body = drafts[1].body = BYTES("HELLO-WORLD");
    assert_status(jobs.client, OK, dueq_push(jobs.queue, drafts, 1, NULL));
    proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 1);
    assert_status(cut.client, DUPLICATE, dueq_push(cut.queue, drafts, 2, &result));
    assert_int_equal(dueq_result_status(result, 0), DUEQ_DUPLICATE);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_OK);
    dueq_result_free(result);
    assert_int_equal(existing(), 2);
}

static void test_ack_cut_after_it_was_applied_is_ok(void **state) {
    (void)state;
    dueq_result *result;
    push_body(cut.queue, "x", 0, NULL);
    const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
    char id[23];
    snprintf(id, sizeof id, "%.*s", (int)message->id.size, (const char *)message->id.data);
    proxy_cut(&proxy, CUT_REQUEST, id, 1);
    assert_status(cut.client, OK, dueq_ack(cut.queue, &message->ticket, 1, NULL));
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_int_equal(existing(), 0);
    assert_status(cut.client, LEASE_LOST, dueq_ack(cut.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
}

/* Acknowledges a message with a result, while the proxy cuts `times` connections. */
static void ack_with_a_result(enum cut how, int times) {
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *result;
    draft.body = BYTES("x");
    draft.id = BYTES("one");
    draft.keep_ms = 60000;
    assert_status(cut.client, OK, dueq_push(cut.queue, &draft, 1, NULL));
    const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
    proxy_cut(&proxy, how, "HELLO-WORLD", times);
    assert_status(cut.client, OK,
                  dueq_ack_result(cut.queue, message->ticket, BYTES("HELLO-WORLD")));
    assert_int_equal(proxy_cuts(&proxy), times);
    dueq_result_free(result);
}

static void assert_result_is_kept(int64_t timeout_ms) {
    dueq_result *ended;
    assert_status(cut.client, OK, dueq_outcome(cut.queue, BYTES("one"), timeout_ms, &ended));
    assert_int_equal(dueq_result_end(ended, 0)->result.size, 11);
    assert_memory_equal(dueq_result_end(ended, 0)->result.data, "HELLO-WORLD", 11);
    dueq_result_free(ended);
}

static void test_ack_with_a_result_cut_after_it_was_applied_is_ok(void **state) {
    (void)state;
    ack_with_a_result(CUT_REQUEST, 1);
    assert_int_equal(existing(), 0);
    assert_result_is_kept(0);
}

static void test_ack_with_a_result_cut_before_the_request_is_ok(void **state) {
    (void)state;
    ack_with_a_result(CUT_BEFORE, 2);
    assert_result_is_kept(1000);
}

static void test_outcome_cut_while_it_asks_goes_on(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *ended;
    draft.body = BYTES("x");
    draft.id = BYTES("HELLO-WORLD");
    draft.keep_ms = 60000;
    draft.ttl_ms = 300;
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    proxy_cut(&proxy, CUT_REQUEST, "HELLO-WORLD", 2);
    assert_status(cut.client, OK, dueq_outcome(cut.queue, BYTES("HELLO-WORLD"), 20000, &ended));
    assert_int_equal(proxy_cuts(&proxy), 2);
    assert_string_equal(dueq_result_end(ended, 0)->outcome, "expired");
    dueq_result_free(ended);
}

static void test_retry_cut_after_it_was_applied_is_ok(void **state) {
    (void)state;
    dueq_result *result;
    push_body(cut.queue, "x", 0, NULL);
    const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
    proxy_cut(&proxy, CUT_REQUEST, "the reason", 1);
    assert_status(cut.client, OK, dueq_retry(cut.queue, message->ticket, 0, BYTES("the reason")));
    assert_int_equal(proxy_cuts(&proxy), 1);
    dueq_result_free(result);
    message = reserve_one(cut.queue, 0, 0, &result);
    assert_int_equal(message->attempt, 2);
    dueq_result_free(result);
}

static void test_reserve_cut_before_the_answer_returns_the_same_messages(void **state) {
    (void)state;
    dueq_result *result;
    push_body(cut.queue, "a", 0, NULL);
    push_body(cut.queue, "b", 0, NULL);
    proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
    const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_memory_equal(message->body.data, "a", 1);
    assert_int_equal(message->attempt, 1);
    assert_status(cut.client, OK, dueq_ack(cut.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "ZCARD dueq:{jobs}:leased"), 0);
    assert_int_equal(existing(), 1);
}

static void test_reserve_cut_before_the_answer_returns_the_same_groups(void **state) {
    (void)state;
    dueq_draft drafts[6];
    dueq_result *result;
    for (int i = 0; i < 6; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = BYTES("x");
        drafts[i].group = i % 2 ? BYTES("odd") : BYTES("even");
    }
    assert_status(cut.client, OK, dueq_push(cut.queue, drafts, 6, NULL));
    for (size_t count = 1; count <= 2; count++) {
        /* The first reserve finds out that the queue has groups, and loads the script. */
        assert_status(cut.client, OK, dueq_reserve(cut.queue, count, 0, 0, &result));
        dueq_result_free(result);
        proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1);
        assert_status(cut.client, OK, dueq_reserve(cut.queue, count, 0, 0, &result));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_int_equal(dueq_result_count(result), count);
        assert_int_equal(command_number(&server, "ZCARD dueq:{jobs}:leased"), 3 * count - 1);
        for (size_t i = 0; i < count; i++)
            assert_status(cut.client, OK,
                          dueq_ack(cut.queue, &dueq_result_message(result, i)->ticket, 1, NULL));
        dueq_result_free(result);
    }
}

static void test_reserve_any_cut_before_the_answer_returns_the_same_messages(void **state) {
    (void)state;
    dueq_queue *both[] = {cut.queue, open_queue(cut.client, "second")};
    dueq_result *result;
    push_body(both[1], "a", 0, NULL);
    push_body(both[1], "b", 0, NULL);
    proxy_cut(&proxy, CUT_REQUEST, "dueq:{second}", 1);
    assert_status(cut.client, OK,
                  dueq_reserve_any(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 1000), &result));
    assert_int_equal(proxy_cuts(&proxy), 1);
    assert_int_equal(dueq_result_queue(result), 1);
    assert_memory_equal(dueq_result_message(result, 0)->body.data, "a", 1);
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "ZCARD dueq:{second}:leased"), 1);
    dueq_queue_close(both[1]);
}

/*
 * The recalled answer is to an ack with a reserve that found nothing. It tells the server's clock
 * of the time when that request ran, long ago.
 */
static void test_reserve_cut_before_the_answer_does_not_tell_the_clock(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    const dueq_message *message;
    struct timespec now;
    char ticket[64];
    push_body(cut.queue, "a", 0, NULL);
    assert_status(cut.client, OK, dueq_consumer_open(&cut.queue, 1, &options, &consumer));
    assert_status(cut.client, OK, dueq_consumer_next(consumer, 1000, &message, NULL));
    snprintf(ticket, sizeof ticket, "%.*s", (int)message->ticket.size,
             (const char *)message->ticket.data);
    assert_status(cut.client, OK, dueq_consumer_ack(consumer, message->ticket));
    proxy_cut(&proxy, CUT_REQUEST, ticket, 1);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    assert_int_equal(dueq_pump(cut.client), DUEQ_PENDING);
    usleep(700000);
    assert_int_equal(proxy_cuts(&proxy), 1);
    /* As if no answer had told the clock for a minute. */
    for (cut.queue->clock_read_us = 0; cut.queue->clock_read_us == 0; usleep(1000))
        assert_int_equal(dueq_pump(cut.client), DUEQ_PENDING);
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_us = now.tv_sec * 1000000 + now.tv_nsec / 1000;
    assert_in_range(cut.queue->clock_offset_us + dueq__monotonic_us(), now_us - 300000,
                    now_us + 300000);
    pump_until_blocked(cut.client, 1);
    assert_status(cut.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

static void test_lock_cut_before_the_answer_is_owned_once(void **state) {
    (void)state;
    dueq_bytes name = BYTES("the-lock");
    for (int i = 0; i < 2; i++) {
        dueq_result *result;
        proxy_cut(&proxy, i ? CUT_BEFORE : CUT_REQUEST, "the-lock", 1);
        assert_status(cut.client, OK, dueq_lock(cut.queue, name, 60000, 5000, &result));
        assert_int_equal(proxy_cuts(&proxy), 1);
        assert_status(jobs.client, TAKEN, dueq_lock(jobs.queue, name, 60000, 0, NULL));
        proxy_cut(&proxy, CUT_REQUEST, "the-lock", 1);
        assert_status(cut.client, OK, dueq_unlock(cut.queue, name, dueq_result_id(result, 0)));
        assert_int_equal(proxy_cuts(&proxy), 1);
        dueq_result_free(result);
    }
    assert_status(jobs.client, OK, dueq_lock(jobs.queue, name, 60000, 0, NULL));
}

static void test_reserve_cut_while_it_waits_goes_on(void **state) {
    (void)state;
    assert_status(cut.client, PENDING, dueq_reserve_submit(cut.queue, 1, 20000, 0));
    for (int i = 0; i < 3; i++) {
        pump_until_blocked(cut.client, 1);
        run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
        await_blocked(&server, 0);
    }
    push_body(jobs.queue, "through it all", 0, NULL);
    take_body(cut.client, 10000, "through it all");
}

static void test_push_late_at_a_stopped_server_is_not_run_after_the_next(void **state) {
    (void)state;
    /* The server stops, the push's deadline ends; what it had not read must not be run later, when
     * the caller has been told and has pushed again under the same id. */
    struct jobs hasty = jobs_open(url_with("", "?timeout=300ms"));
    push_body(hasty.queue, "before", 0, NULL);
    kill(server.pid, SIGSTOP);
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES("mine");
    draft.body = BYTES("late");
    assert_status(hasty.client, TIMEOUT, dueq_push(hasty.queue, &draft, 1, NULL));
    kill(server.pid, SIGCONT);
    draft.body = BYTES("again");
    dueq_status status = dueq_push(hasty.queue, &draft, 1, NULL);
    assert_true(status == DUEQ_OK || status == DUEQ_DUPLICATE);
    assert_int_equal(existing(), 2);
    jobs_close(hasty);
}

static void test_old_connection_is_ended_also_by_the_call_after_next(void **state) {
    (void)state;
    struct jobs late = jobs_open(url_with("", "?timeout=300ms"));
    push_body(late.queue, "x", 0, NULL);
    /* A connection of the same name, from which the server would still read a request. */
    redisContext *old = redisConnectUnix(server.socket);
    freeReplyObject(redisCommand(old, "CLIENT SETNAME %s", late.client->name));
    redisReply *id = redisCommand(old, "CLIENT ID");
    const int64_t number = late.client->node->stale_id = id->integer;
    freeReplyObject(id);
    run_command(&server, "CLIENT PAUSE 1000 ALL");
    assert_status(late.client, TIMEOUT, push_text(late.queue, "y"));
    /* Answered when the pause is over. */
    run_command(&server, "PING");
    push_body(late.queue, "z", 0, NULL);
    /* There is nothing left to end. */
    assert_int_equal(command_number(&server, "CLIENT KILL ID %d", (int)number), 0);
    redisFree(old);
    jobs_close(late);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CUT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_cut, tear_down_cut)
        CUT_TEST(test_push_cut_before_the_answer_is_stored_once),
        CUT_TEST(test_push_cut_before_the_request_is_stored_once),
        CUT_TEST(test_push_cut_by_servers_without_scripts_is_stored_once),
        CUT_TEST(test_push_cut_and_consumed_meanwhile_is_not_pushed_again),
        CUT_TEST(test_push_cut_with_a_duplicate_answers_as_it_was),
        CUT_TEST(test_ack_cut_after_it_was_applied_is_ok),
        CUT_TEST(test_ack_with_a_result_cut_after_it_was_applied_is_ok),
        CUT_TEST(test_ack_with_a_result_cut_before_the_request_is_ok),
        CUT_TEST(test_outcome_cut_while_it_asks_goes_on),
        CUT_TEST(test_retry_cut_after_it_was_applied_is_ok),
        CUT_TEST(test_reserve_cut_before_the_answer_returns_the_same_messages),
        CUT_TEST(test_reserve_cut_before_the_answer_returns_the_same_groups),
        CUT_TEST(test_reserve_any_cut_before_the_answer_returns_the_same_messages),
        CUT_TEST(test_reserve_cut_before_the_answer_does_not_tell_the_clock),
        CUT_TEST(test_lock_cut_before_the_answer_is_owned_once),
        CUT_TEST(test_reserve_cut_while_it_waits_goes_on),
        CUT_TEST(test_push_late_at_a_stopped_server_is_not_run_after_the_next),
        CUT_TEST(test_old_connection_is_ended_also_by_the_call_after_next),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = run_selected(tests);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
