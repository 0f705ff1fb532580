/*
 * Who holds a message is told: of a server that is away while the program works, and of a lease
 * that was lost.
 */
#include <poll.h>
#include <signal.h>

#include "fixture.h"

#define PATIENCE_MS 30000

static struct jobs own, other; /* the consumer's, and what the program calls beside it */
static dueq_consumer *consumer;
static _Atomic int woken;

static void wake(void *context) {
    (void)context;
    woken++;
}

static void open_consumer(int64_t lease_ms) {
    dueq_consumer_options options = {.struct_size = sizeof(dueq_consumer_options),
                                     .prefetch = 1,
                                     .lease_ms = lease_ms,
                                     .max_run_ms = 600000};
    assert_status(own.client, OK, dueq_consumer_open(&own.queue, 1, &options, &consumer));
    dueq_consumer_on_warning(consumer, wake, NULL);
}

static int set_up(void **state) {
    set_up_jobs(state);
    own = jobs_open(url_with("", "?timeout=1s"));
    other = jobs_open(url_with("", "?timeout=1s"));
    open_consumer(1500);
    woken = 0;
    return 0;
}

static int tear_down(void **state) {
    dueq_consumer_close(consumer);
    jobs_close(own);
    jobs_close(other);
    return tear_down_jobs(state);
}

/* Takes a message, whose lease the heartbeat has extended when this returns: it is connected. */
static dueq_bytes hold(void) {
    const dueq_message *message;
    push_body(jobs.queue, "long work", 0, NULL);
    assert_status(own.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    int64_t end = now_ms() + PATIENCE_MS;
    while (command_number(&server, "ZCOUNT dueq:{jobs}:leased (%lld +inf", message->time_ms) == 0)
        assert_true(now_ms() < end);
    return message->ticket;
}

static void await_warning(const char *expected) {
    char text[DUEQ_MAX_WARNING] = "";
    int64_t end = now_ms() + PATIENCE_MS;
    while (!dueq_consumer_warning(consumer, text)) {
        assert_true(now_ms() < end);
        poll(NULL, 0, 10);
    }
    if (!strstr(text, expected)) {
        kill(server.pid, SIGCONT); /* else the end waits for it */
        fail_msg("%s", text);
    }
    assert_true(woken > 0);
    woken = 0;
}

static int64_t stored(void) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    return counts.ready + counts.leased + counts.delayed + counts.dead;
}

static void finish(dueq_bytes ticket, size_t lost) {
    assert_status(own.client, OK, dueq_consumer_ack(consumer, ticket));
    assert_status(own.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(dueq_consumer_lost(consumer), lost);
}

static void await_registration(void) {
    size_t count = 0;
    for (int64_t end = now_ms() + PATIENCE_MS; count == 0; poll(NULL, 0, 10)) {
        dueq_result *result;
        assert_true(now_ms() < end);
        assert_status(jobs.client, OK,
                      dueq_workers(jobs.queue, (dueq_bytes){0}, DUEQ_MAX_BATCH, &result));
        count = dueq_result_count(result);
        dueq_result_free(result);
    }
}

/* The first extension of this lease would be too late. */
static void test_server_that_goes_while_the_program_works_is_told_and_its_return(void **state) {
    (void)state;
    const dueq_message *message;
    dueq_consumer_close(consumer);
    open_consumer(60000);
    push_body(jobs.queue, "long work", 0, NULL);
    assert_status(own.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    const dueq_bytes ticket = message->ticket;
    await_registration();
    const int64_t killed_ms = now_ms();
    server_kill(&server);
    await_warning("it is tried again: ");
    assert_true(now_ms() - killed_ms < 10000);
    server_restart(&server);
    await_warning("it answers again, after ");
    assert_false(dueq_consumer_has_lost(consumer, ticket));
    finish(ticket, 0);
}

static void test_server_that_hangs_while_the_program_works_is_told(void **state) {
    (void)state;
    dueq_bytes ticket = hold();
    kill(server.pid, SIGSTOP);
    await_warning("it is tried again: ");
    kill(server.pid, SIGCONT);
    await_warning("it answers again, after ");
    finish(ticket, 0);
}

static void test_lost_message_is_told_while_the_program_works(void **state) {
    (void)state;
    char expected[128];
    dueq_bytes ticket = hold();
    assert_false(dueq_consumer_has_lost(consumer, ticket));
    assert_status(other.client, OK, dueq_cancel(other.queue, &ticket, 1, NULL));
    snprintf(expected, sizeof expected, "lost: message %.*s: ", (int)ticket.size,
             (const char *)ticket.data);
    await_warning(expected);
    assert_true(dueq_consumer_has_lost(consumer, ticket));
    assert_status(other.client, LEASE_LOST, dueq_checkpoint(other.queue, ticket, BYTES("half")));
    finish(ticket, 1);
    /* It is said once. */
    char text[DUEQ_MAX_WARNING];
    assert_false(dueq_consumer_warning(consumer, text));
}

/* Of a client that was not connected when the server went. */
static void assert_ack_fails_in_an_outage(dueq_bytes ticket, dueq_status expected) {
    int64_t start = now_ms();
    dueq_reached(other.client);
    dueq_status status = dueq_ack(other.queue, &ticket, 1, NULL);
    assert_int_equal(status, expected);
    assert_true(now_ms() - start > 900);
    assert_true(dueq_consumer_keep_ack(consumer, ticket, status));
}

static void assert_ack_was_kept(void) {
    int64_t end = now_ms() + PATIENCE_MS;
    while (stored() > 0) {
        assert_true(now_ms() < end);
        poll(NULL, 0, 10);
    }
    assert_status(own.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(dueq_consumer_lost(consumer), 0);
}

static void test_ack_that_failed_in_an_outage_is_sent_when_the_server_is_back(void **state) {
    (void)state;
    dueq_bytes ticket = hold();
    server_kill(&server);
    assert_ack_fails_in_an_outage(ticket, DUEQ_CLOSED);
    server_restart(&server);
    assert_ack_was_kept();
}

static void test_ack_at_a_server_that_hangs_is_sent_when_it_answers(void **state) {
    (void)state;
    dueq_bytes ticket = hold();
    assert_status(other.client, OK, dueq_extend(other.queue, &ticket, 1, 20000, NULL));
    kill(server.pid, SIGSTOP);
    assert_ack_fails_in_an_outage(ticket, DUEQ_TIMEOUT);
    kill(server.pid, SIGCONT);
    assert_ack_was_kept();
}

/* Its answer was lost in the outage. */
static void test_ack_that_took_effect_and_failed_is_no_lost_message(void **state) {
    (void)state;
    dueq_bytes ticket = hold();
    assert_status(other.client, OK, dueq_ack(other.queue, &ticket, 1, NULL));
    assert_true(dueq_consumer_keep_ack(consumer, ticket, DUEQ_CLOSED));
    await_warning("sent an ack again: message");
    assert_status(own.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(dueq_consumer_lost(consumer), 0);
}

static void test_ack_that_was_refused_for_good_is_not_kept(void **state) {
    (void)state;
    dueq_bytes ticket = hold();
    assert_false(dueq_consumer_keep_ack(consumer, ticket, DUEQ_DENIED));
    assert_false(dueq_consumer_keep_ack(consumer, BYTES("0:other"), DUEQ_CLOSED));
    finish(ticket, 0);
}

static void test_acks_that_the_end_cannot_send_are_told(void **state) {
    (void)state;
    dueq_bytes ticket = hold();
    server_kill(&server);
    assert_status(own.client, OK, dueq_consumer_ack(consumer, ticket));
    assert_true(dueq_consumer_stop(consumer) < 0);
    char text[DUEQ_MAX_WARNING] = "", expected[64];
    snprintf(expected, sizeof expected, "acks not sent: %.*s", (int)ticket.size,
             (const char *)ticket.data);
    while (dueq_consumer_warning(consumer, text) && !strstr(text, expected))
        ;
    assert_non_null(strstr(text, expected));
    server_restart(&server);
}

#define TOLD(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TOLD(test_server_that_goes_while_the_program_works_is_told_and_its_return),
        TOLD(test_server_that_hangs_while_the_program_works_is_told),
        TOLD(test_lost_message_is_told_while_the_program_works),
        TOLD(test_ack_that_failed_in_an_outage_is_sent_when_the_server_is_back),
        TOLD(test_ack_at_a_server_that_hangs_is_sent_when_it_answers),
        TOLD(test_ack_that_took_effect_and_failed_is_no_lost_message),
        TOLD(test_ack_that_was_refused_for_good_is_not_kept),
        TOLD(test_acks_that_the_end_cannot_send_are_told),
    };
    return run_on_server(tests, NULL);
}
