/* The heartbeat: leases live as long as their holder's process runs, and no longer. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define LEASE_MS 300

static struct jobs other; /* whoever else waits for messages */

static int set_up(void **state) {
    set_up_jobs(state);
    other = jobs_open(server.url);
    return 0;
}

static int tear_down(void **state) {
    jobs_close(other);
    return tear_down_jobs(state);
}

static dueq_consumer *open_consumer(size_t prefetch, int64_t max_run_ms) {
    dueq_consumer_options options = {.struct_size = sizeof(dueq_consumer_options),
                                     .prefetch = prefetch,
                                     .lease_ms = LEASE_MS,
                                     .max_run_ms = max_run_ms};
    dueq_consumer *consumer;
    assert_status(jobs.client, OK, dueq_consumer_open(&jobs.queue, 1, &options, &consumer));
    return consumer;
}

static void finish(dueq_consumer *consumer, dueq_bytes ticket) {
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, ticket));
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    dueq_consumer_close(consumer);
}

/* Another consumer waits for that long in vain. */
static void assert_kept(int64_t for_ms) {
    assert_status(other.client, EMPTY, dueq_reserve(other.queue, 1, for_ms, 0, NULL));
}

static const dueq_message *taken_over(dueq_result **result) {
    return reserve_one(other.queue, 20000, 0, result);
}

static int64_t leased(void) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(other.client, OK, dueq_stats(other.queue, &counts));
    return counts.leased;
}

static void test_heartbeat_keeps_a_message_for_many_leases(void **state) {
    (void)state;
    push_body(jobs.queue, "long work", 0, NULL);
    dueq_consumer *consumer = open_consumer(1, 60000);
    dueq_bytes ticket = next_ticket(consumer);
    assert_kept(5 * LEASE_MS);
    finish(consumer, ticket);
    assert_int_equal(leased(), 0);
}

static void test_heartbeat_keeps_what_is_in_hand(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++)
        push_body(jobs.queue, "one of many", 0, NULL);
    dueq_consumer *consumer = open_consumer(200, 60000);
    dueq_bytes ticket = next_ticket(consumer);
    assert_kept(5 * LEASE_MS);
    finish(consumer, ticket);
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(other.client, OK, dueq_stats(other.queue, &counts));
    assert_int_equal(counts.ready, 199);
}

static void test_heartbeat_lets_go_after_the_maximum_running_time(void **state) {
    (void)state;
    dueq_result *result;
    push_body(jobs.queue, "stuck", 0, NULL);
    dueq_consumer *consumer = open_consumer(1, 3 * LEASE_MS);
    dueq_bytes ticket = next_ticket(consumer);
    assert_kept(2 * LEASE_MS);
    assert_int_equal(taken_over(&result)->crashes, 1);
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, ticket));
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(dueq_consumer_lost(consumer), 1);
    dueq_consumer_close(consumer);
    dueq_result_free(result);
}

static void test_heartbeat_sends_a_note_that_nobody_takes_along(void **state) {
    (void)state;
    push_body(jobs.queue, "short", 0, NULL);
    push_body(jobs.queue, "then a long one", 0, NULL);
    dueq_consumer *consumer = open_consumer(2, 60000);
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, next_ticket(consumer)));
    dueq_bytes ticket = next_ticket(consumer);
    int64_t end = now_ms() + 20000;
    while (leased() > 1)
        assert_true(now_ms() < end);
    finish(consumer, ticket);
}

static void test_heartbeat_survives_lost_connections(void **state) {
    (void)state;
    push_body(jobs.queue, "long work", 0, NULL);
    dueq_consumer *consumer = open_consumer(1, 60000);
    dueq_bytes ticket = next_ticket(consumer);
    for (int i = 0; i < 4; i++) {
        assert_kept(LEASE_MS);
        run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    }
    assert_kept(LEASE_MS);
    finish(consumer, ticket);
}

static void test_heartbeat_stops_for_what_another_call_settled(void **state) {
    (void)state;
    push_body(jobs.queue, "given back", 0, NULL);
    dueq_consumer *consumer = open_consumer(1, 60000);
    dueq_bytes ticket = next_ticket(consumer);
    assert_status(jobs.client, OK, dueq_retry(jobs.queue, ticket, 0, BYTES("by hand")));
    dueq_consumer_forget(consumer, ticket);
    dueq_result *result;
    taken_over(&result);
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    dueq_result_free(result);
    dueq_consumer_close(consumer);
}

static void test_heartbeat_needs_no_connection_for_short_work(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    assert_status(jobs.client, OK, dueq_consumer_open(&jobs.queue, 1, &options, &consumer));
    for (int i = 0; i < 20; i++)
        push_body(jobs.queue, "short", 0, NULL);
    assert_int_equal(leased(), 0); /* the other's connection is there */
    long long before = info_number(&server, "stats", "total_connections_received");
    for (int i = 0; i < 20; i++)
        assert_status(jobs.client, OK, dueq_consumer_ack(consumer, next_ticket(consumer)));
    /* But for the one that asks. */
    assert_int_equal(info_number(&server, "stats", "total_connections_received") - before, 1);
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

/*
 * A worker in a process of its own, which takes one message, tells so by a byte, and sits on it
 * until it is told to go on; it ends with how many messages it lost.
 */
static pid_t start_worker(int told[2], int go_on[2]) {
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(go_on), 0);
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    dueq_consumer *consumer = open_consumer(1, 60000);
    dueq_bytes ticket = next_ticket(consumer);
    if (write(told[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1)
        _exit(100);
    dueq_consumer_ack(consumer, ticket);
    dueq_status status = dueq_consumer_stop(consumer);
    _exit(status ? 101 : (int)dueq_consumer_lost(consumer));
}

static void await_byte(int told[2]) {
    char byte;
    assert_int_equal(read(told[0], &byte, 1), 1);
}

static void close_pipes(int told[2], int go_on[2]) {
    for (int i = 0; i < 2; i++) {
        close(told[i]);
        close(go_on[i]);
    }
}

static void test_heartbeat_of_a_killed_process_ends(void **state) {
    (void)state;
    int told[2], go_on[2];
    dueq_result *result;
    push_body(jobs.queue, "half done", 0, NULL);
    pid_t worker = start_worker(told, go_on);
    await_byte(told);
    assert_kept(3 * LEASE_MS);
    kill(worker, SIGKILL);
    assert_int_equal(taken_over(&result)->crashes, 1);
    dueq_result_free(result);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    close_pipes(told, go_on);
}

static void test_heartbeat_of_a_stopped_process_ends(void **state) {
    (void)state;
    int told[2], go_on[2];
    dueq_result *result;
    push_body(jobs.queue, "half done", 0, NULL);
    pid_t worker = start_worker(told, go_on);
    await_byte(told);
    kill(worker, SIGSTOP);
    dueq_bytes ticket = taken_over(&result)->ticket;
    kill(worker, SIGCONT);
    assert_int_equal(write(go_on[1], "", 1), 1);
    /* It learns that it lost the message, and the new holder has it. */
    assert_int_equal(child_end(worker), 1);
    assert_status(other.client, OK, dueq_ack(other.queue, &ticket, 1, NULL));
    dueq_result_free(result);
    close_pipes(told, go_on);
}

static void test_heartbeat_ends_soon_while_the_server_is_away(void **state) {
    (void)state;
    push_body(jobs.queue, "held", 0, NULL);
    dueq_consumer *consumer = open_consumer(1, 60000);
    next_ticket(consumer);
    assert_kept(2 * LEASE_MS);
    kill(server.pid, SIGSTOP);
    int64_t begin = now_ms();
    usleep(2 * LEASE_MS * 1000); /* the heartbeat is in a call that nobody answers */
    dueq_consumer_close(consumer);
    assert_true(now_ms() - begin < 5000);
    kill(server.pid, SIGCONT);
}

#define KEPT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        KEPT(test_heartbeat_keeps_a_message_for_many_leases),
        KEPT(test_heartbeat_keeps_what_is_in_hand),
        KEPT(test_heartbeat_lets_go_after_the_maximum_running_time),
        KEPT(test_heartbeat_sends_a_note_that_nobody_takes_along),
        KEPT(test_heartbeat_survives_lost_connections),
        KEPT(test_heartbeat_stops_for_what_another_call_settled),
        KEPT(test_heartbeat_needs_no_connection_for_short_work),
        KEPT(test_heartbeat_of_a_killed_process_ends),
        KEPT(test_heartbeat_of_a_stopped_process_ends),
        KEPT(test_heartbeat_ends_soon_while_the_server_is_away),
    };
    return run_on_server(tests, NULL);
}
