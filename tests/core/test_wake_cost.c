/*
 * What waking costs: the commands that clients send to the server, with one and with many consumers
 * waiting; and that nobody waits while there is work.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"

#define MOST 200
/* What a person would notice, and far below the first probe of a consumer that was forgotten. */
#define SOON_MS 4000

/* Many consumers in one process */

struct consumer {
    struct jobs jobs;
    bool waits, again; /* again: after a message it waits for the next */
    size_t taken;
};

static struct consumer fleet[MOST];
static size_t fleet_size, fleet_taken;
static int64_t fleet_got_ms; /* when one of them took the last message */

static void wait_for_one(struct consumer *consumer, int64_t patience_ms) {
    assert_status(consumer->jobs.client, PENDING,
                  dueq_reserve_submit(consumer->jobs.queue, 1, patience_ms, 0));
    consumer->waits = true;
}

static void finish(struct consumer *consumer) {
    struct jobs at = consumer->jobs;
    dueq_result *result;
    dueq_status status = dueq_take(at.client, &result);
    consumer->waits = false;
    if (status == DUEQ_EMPTY) {
        dueq_result_free(result);
        return;
    }
    assert_status(at.client, OK, status);
    fleet_got_ms = now_ms();
    fleet_taken++;
    consumer->taken++;
    const dueq_bytes ticket = dueq_result_message(result, 0)->ticket;
    assert_status(at.client, OK, dueq_ack(at.queue, &ticket, 1, NULL));
    dueq_result_free(result);
    if (consumer->again)
        wait_for_one(consumer, DUEQ_FOREVER);
}

/*
 * Lets all that wait move on, for so long or until so many messages were taken in all (0: never).
 */
static void drive(int64_t at_most_ms, size_t taken) {
    static struct pollfd set[DUEQ_MAX_SOCKETS * MOST];
    for (int64_t end = now_ms() + at_most_ms; now_ms() < end && (!taken || fleet_taken < taken);) {
        int64_t left = end - now_ms();
        nfds_t count = 0;
        for (size_t i = 0; i < fleet_size; i++) {
            int timeout = -1;
            while (fleet[i].waits && dueq_pump(fleet[i].jobs.client) != DUEQ_PENDING)
                finish(&fleet[i]);
            if (fleet[i].waits)
                count += dueq_poll_set(fleet[i].jobs.client, set + count, &timeout);
            left = timeout >= 0 && timeout < left ? timeout : left;
        }
        poll(set, count, taken && fleet_taken >= taken ? 0 : (int)left);
    }
}

static void drive_until_blocked(long long consumers) {
    for (int64_t end = now_ms() + 20000; now_ms() < end;) {
        drive(5, 0);
        if (info_number(&server, "clients", "blocked_clients") == consumers)
            return;
    }
    fail_msg("%lld consumers should wait by now", consumers);
}

static void fleet_start(size_t count, int64_t patience_ms, bool again) {
    fleet_taken = 0;
    for (fleet_size = 0; fleet_size < count; fleet_size++) {
        fleet[fleet_size] = (struct consumer){.jobs = jobs_open(server.url), .again = again};
        wait_for_one(&fleet[fleet_size], patience_ms);
    }
    drive_until_blocked((long long)count);
}

static void fleet_end(void) {
    for (size_t i = 0; i < fleet_size; i++) {
        dueq_abandon(fleet[i].jobs.client);
        jobs_close(fleet[i].jobs);
    }
    fleet_size = 0;
}

static void assert_each_took_one(void) {
    for (size_t i = 0; i < fleet_size; i++)
        assert_int_equal(fleet[i].taken, 1);
}

/* What clients send */

/*
 * MONITOR shows each command, and tells those that scripts call ("lua]") from those that clients
 * send. It leaves CLIENT UNBLOCK out, which INFO counts and no script may call.
 */
static redisContext *monitor;
static long long unblocks;

static long long count_unblocks(void) { return calls_of(&server, "client|unblock"); }

/* The commands that were sent since the call before, but for those of this file's own. */
static size_t sent(void) {
    size_t count = 0;
    run_command(&server, "ECHO here");
    for (bool end = false; !end;) {
        redisReply *line;
        assert_int_equal(redisGetReply(monitor, (void **)&line), REDIS_OK);
        end = strstr(line->str, "\"ECHO\" \"here\"");
        count += !end && !strstr(line->str, " lua] ") && !strstr(line->str, "] \"INFO\"");
        freeReplyObject(line);
    }
    long long before = unblocks;
    unblocks = count_unblocks();
    return count + (size_t)(unblocks - before);
}

static void sent_start(void) {
    monitor = redisConnectUnix(server.socket);
    freeReplyObject(redisCommand(monitor, "MONITOR"));
    sent();
}

static void sent_end(void) { redisFree(monitor); }

/* Messages one by one */

#define MESSAGES 3

static size_t sent_for_one(int64_t delay_ms) {
    size_t before = fleet_taken;
    push_body(jobs.queue, "one", delay_ms, NULL);
    drive(SOON_MS, before + 1);
    assert_int_equal(fleet_taken, before + 1);
    /* Whoever else was woken, or looks in case the first one died, has done so by then. */
    drive(150, 0);
    return sent();
}

/*
 * The commands of all that a message costs: push, what wakes whom, reserve, ack, and waiting again.
 */
static size_t sent_for_each(size_t consumers, int64_t delay_ms) {
    fleet_start(consumers, DUEQ_FOREVER, true);
    /* The first calls of a client load the scripts. */
    push_body(jobs.queue, "first", 0, NULL);
    drive(SOON_MS, 1);
    drive(150, 0);
    sent_start();
    size_t most = 0;
    for (int i = 0; i < MESSAGES; i++) {
        size_t count = sent_for_one(delay_ms);
        most = count > most ? count : most;
    }
    sent_end();
    fleet_end();
    return most;
}

static void test_waking_for_a_ready_message_does_not_grow_with_the_waiting(void **state) {
    (void)state;
    size_t one = sent_for_each(1, 0);
    assert_in_range(one, 4, 7);
    assert_in_range(sent_for_each(20, 0), 4, 7);
    assert_in_range(sent_for_each(MOST, 0), 4, 7);
}

static void test_waking_for_a_delayed_message_does_not_grow_with_the_waiting(void **state) {
    (void)state;
    assert_in_range(sent_for_each(1, 250), 5, 10);
    assert_in_range(sent_for_each(20, 250), 5, 10);
    assert_in_range(sent_for_each(MOST, 250), 5, 10);
}

static void test_waking_for_messages_due_one_by_one(void **state) {
    (void)state;
    enum { COUNT = 10, APART_MS = 120 };
    const size_t sizes[] = {1, 20, MOST};
    for (size_t i = 0; i < 3; i++) {
        fleet_start(sizes[i], DUEQ_FOREVER, true);
        push_body(jobs.queue, "first", 0, NULL);
        drive(SOON_MS, 1);
        drive(150, 0);
        sent_start();
        for (int k = 0; k < COUNT; k++)
            push_body(jobs.queue, "due", 300 + k * APART_MS, NULL);
        drive(SOON_MS + COUNT * APART_MS, 1 + COUNT);
        drive(150, 0);
        assert_int_equal(fleet_taken, 1 + COUNT);
        assert_in_range(sent(), COUNT * 5, COUNT * 10);
        sent_end();
        fleet_end();
    }
}

/* Idle */

static void test_waking_idle_consumers_send_a_probe_each_in_twelve_seconds(void **state) {
    (void)state;
    fleet_start(MOST, DUEQ_FOREVER, true);
    sent_start();
    drive(8000, 0);
    assert_int_equal(sent(), 0);
    drive(7500, 0);
    assert_in_range(sent(), MOST / 2, MOST);
    sent_end();
    fleet_end();
}

/* What it acknowledged is done as soon as the server says so, and not when its wait ends. */
static void test_waking_leaves_the_heartbeat_of_who_waits_at_rest(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    const dueq_message *message;
    options.lease_ms = 300;
    assert_status(jobs.client, OK, dueq_consumer_open(&jobs.queue, 1, &options, &consumer));
    struct jobs other = jobs_open(server.url);
    push_body(other.queue, "one", 0, NULL);
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, SOON_MS, &message, NULL));
    sent_start();
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
    assert_status(jobs.client, EMPTY, dueq_consumer_next(consumer, 1000, &message, NULL));
    /*
     * Settle and reserve; a login of two and the block; unblock, reserve and block at the end of
     * the lease; unblock. To extend, the heartbeat would log in too.
     */
    assert_in_range(sent(), 4, 8);
    sent_end();
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    dueq_consumer_close(consumer);
    jobs_close(other);
}

/* Bursts */

/* Each takes one and does not come back, as if its work took long: so none may be left out. */
static void burst_reaches_all(size_t consumers, int64_t delay_ms) {
    enum { BURST = 1000 };
    dueq_draft drafts[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < DUEQ_MAX_BATCH; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = BYTES("burst");
        drafts[i].delay_ms = delay_ms;
    }
    fleet_start(consumers, DUEQ_FOREVER, false);
    for (size_t i = 0; i < BURST / DUEQ_MAX_BATCH; i++)
        assert_status(jobs.client, OK, dueq_push(jobs.queue, drafts, DUEQ_MAX_BATCH, NULL));
    drive(delay_ms + SOON_MS, consumers);
    assert_each_took_one();
    fleet_end();
}

static void test_waking_of_a_burst_leaves_nobody_waiting(void **state) {
    (void)state;
    burst_reaches_all(20, 0);
    run_command(&server, "FLUSHALL");
    burst_reaches_all(MOST, 0);
}

static void test_waking_of_many_due_at_once_leaves_nobody_waiting(void **state) {
    (void)state;
    burst_reaches_all(MOST, 400);
}

/* As many as there is work for are woken, not all. */
static void test_waking_of_a_small_burst_leaves_the_others_alone(void **state) {
    (void)state;
    enum { COUNT = 5 };
    dueq_draft drafts[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = BYTES("few");
    }
    fleet_start(MOST, DUEQ_FOREVER, true);
    push_body(jobs.queue, "first", 0, NULL);
    drive(SOON_MS, 1);
    drive(150, 0);
    sent_start();
    assert_status(jobs.client, OK, dueq_push(jobs.queue, drafts, COUNT, NULL));
    drive(SOON_MS, 1 + COUNT);
    assert_int_equal(fleet_taken, 1 + COUNT);
    drive(150, 0);
    assert_in_range(sent(), COUNT * 2, COUNT * 10);
    sent_end();
    fleet_end();
}

/* Times */

static void test_waking_for_an_earlier_message_pushed_in_front(void **state) {
    (void)state;
    fleet_start(20, DUEQ_FOREVER, true);
    push_body(jobs.queue, "last", 60000, NULL);
    drive(100, 0);
    int64_t begin_ms = now_ms();
    push_body(jobs.queue, "second", 1000, NULL);
    drive(100, 0);
    int64_t first_ms = now_ms() + 300;
    push_body(jobs.queue, "first", 300, NULL);
    drive(SOON_MS, 1);
    assert_int_equal(fleet_taken, 1);
    assert_in_range(fleet_got_ms, first_ms, begin_ms + 999);
    drive(SOON_MS, 2);
    assert_int_equal(fleet_taken, 2);
    assert_in_range(fleet_got_ms, begin_ms + 999, begin_ms + 1000 + SOON_MS);
    fleet_end();
}

static void test_waking_at_the_end_of_a_lease(void **state) {
    (void)state;
    enum { LEASE_MS = 400 };
    dueq_result *result;
    fleet_start(20, DUEQ_FOREVER, true);
    /* The fleet does not run between these two, so that the message goes to this one. */
    push_body(jobs.queue, "held", 0, NULL);
    int64_t end_ms = now_ms() + LEASE_MS;
    reserve_one(jobs.queue, 0, LEASE_MS, &result);
    drive(SOON_MS, 1);
    assert_int_equal(fleet_taken, 1);
    assert_in_range(fleet_got_ms, end_ms, end_ms + SOON_MS);
    assert_status(jobs.client, LEASE_LOST,
                  dueq_ack(jobs.queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
    dueq_result_free(result);
    fleet_end();
}

/* Leaving */

static void test_waking_many_that_leave_at_once_lose_no_marker(void **state) {
    (void)state;
    enum { STAYS = MOST - 1, COUNT = 50 };
    fleet_start(MOST, 1500, false);
    /* One of them stays, and takes what the others leave. */
    dueq_abandon(fleet[STAYS].jobs.client);
    fleet[STAYS].again = true;
    wait_for_one(&fleet[STAYS], DUEQ_FOREVER);
    drive_until_blocked(MOST);
    /*
     * When they move again the patience of all is over, and one has a marker that it did not read.
     */
    struct pollfd set[DUEQ_MAX_SOCKETS];
    int left;
    do {
        dueq_poll_set(fleet[STAYS - 1].jobs.client, set, &left);
        poll(NULL, 0, left);
    } while (left > 0);
    for (size_t i = 0; i < COUNT; i++)
        push_body(jobs.queue, "meanwhile", 0, NULL);
    assert_int_equal(command_number(&server, "ZCARD dueq:{jobs}:wake"), 0);
    drive(SOON_MS, COUNT);
    assert_int_equal(fleet_taken, COUNT);
    drive_until_blocked(1);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(fleet[i].waits, i == STAYS);
    push_body(jobs.queue, "the last", 0, NULL);
    drive(SOON_MS, COUNT + 1);
    assert_int_equal(fleet_taken, COUNT + 1);
    fleet_end();
}

static void test_waking_many_that_leave_at_once_send_little(void **state) {
    (void)state;
    fleet_start(MOST, 1500, false);
    sent_start();
    for (int64_t end = now_ms() + SOON_MS; fleet[MOST - 1].waits && now_ms() < end;)
        drive(100, 0);
    drive(200, 0);
    for (size_t i = 0; i < MOST; i++)
        assert_false(fleet[i].waits);
    /* An UNBLOCK each. */
    assert_in_range(sent(), MOST, MOST + MOST / 10);
    sent_end();
    fleet_end();
}

/* Consumers that are killed */

static void end_by_kill(pid_t consumer) {
    kill(consumer, SIGKILL);
    assert_int_equal(waitpid(consumer, NULL, 0), consumer);
}

/* Stops a consumer that waits, so that it leaves what is sent to it unread. */
static void stop(pid_t consumer) {
    int status;
    kill(consumer, SIGSTOP);
    assert_int_equal(waitpid(consumer, &status, WUNTRACED), consumer);
    assert_true(WIFSTOPPED(status));
}

/*
 * One consumer is killed with the marker of a ready message in its hands, one with the only claim
 * on a due time. The probes of those who wait find both: half of them begin with the lines, half
 * with the times.
 */
static void test_waking_duties_of_killed_consumers_are_taken_over(void **state) {
    (void)state;
    enum { OTHERS = 40, PROBES_MS = 16000 };
    struct jobs later = {.client = open_client(server.url)};
    later.queue = open_queue(later.client, "later");
    pid_t woken = consumer_start(server.url, "jobs", 60000);
    pid_t timekeeper = consumer_start(server.url, "later", 60000);
    await_blocked(&server, 2);
    fleet_taken = 0;
    for (fleet_size = 0; fleet_size < OTHERS; fleet_size++) {
        fleet[fleet_size] = (struct consumer){.again = true};
        fleet[fleet_size].jobs.client = open_client(server.url);
        fleet[fleet_size].jobs.queue =
            open_queue(fleet[fleet_size].jobs.client, fleet_size % 2 ? "jobs" : "later");
        wait_for_one(&fleet[fleet_size], DUEQ_FOREVER);
    }
    drive_until_blocked(2 + OTHERS);

    stop(woken);
    push_body(jobs.queue, "its marker is lost", 0, NULL);
    assert_int_equal(command_number(&server, "ZCARD dueq:{jobs}:wake"), 0);
    end_by_kill(woken);
    push_body(later.queue, "its claim is lost", 2000, NULL);
    for (int64_t end = now_ms() + 1500; now_ms() < end;)
        if (command_number(&server, "HSTRLEN dueq:{later}:meta timekeepers"))
            break;
    assert_true(command_number(&server, "HSTRLEN dueq:{later}:meta timekeepers") > 0);
    end_by_kill(timekeeper);

    drive(PROBES_MS + SOON_MS, 2);
    assert_int_equal(fleet_taken, 2);
    fleet_end();
    jobs_close(later);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_waking_for_a_ready_message_does_not_grow_with_the_waiting),
        TEST(test_waking_for_a_delayed_message_does_not_grow_with_the_waiting),
        TEST(test_waking_for_messages_due_one_by_one),
        TEST(test_waking_idle_consumers_send_a_probe_each_in_twelve_seconds),
        TEST(test_waking_leaves_the_heartbeat_of_who_waits_at_rest),
        TEST(test_waking_of_a_burst_leaves_nobody_waiting),
        TEST(test_waking_of_many_due_at_once_leaves_nobody_waiting),
        TEST(test_waking_of_a_small_burst_leaves_the_others_alone),
        TEST(test_waking_for_an_earlier_message_pushed_in_front),
        TEST(test_waking_at_the_end_of_a_lease),
        TEST(test_waking_many_that_leave_at_once_lose_no_marker),
        TEST(test_waking_many_that_leave_at_once_send_little),
        TEST(test_waking_duties_of_killed_consumers_are_taken_over),
    };
    return run_on_server(tests, NULL);
}
