/*
 * A consumer that takes what falls due keeps the time of the next event while it works: it waits
 * without asking, its acks go with the next reserve if that comes soon, and another consumer looks
 * in time if it works for too long, is closed, or dies.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

/* Between two messages: near enough that the ack of the first waits for the reserve of the next. */
#define GAP_MS 15
/* What a person would notice, and below the second after which a second timekeeper looks. */
#define SOON_MS 700

static int64_t due_ms; /* of the first message, by the server's clock */

static dueq_consumer *open_consumer(dueq_client *client, dueq_queue *queue) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    assert_status(client, OK, dueq_consumer_open(&queue, 1, &options, &consumer));
    return consumer;
}

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void push_at(struct jobs producer, int64_t at_ms) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES("job");
    draft.at_ms = at_ms;
    assert_status(producer.client, OK, dueq_push(producer.queue, &draft, 1, NULL));
}

/* Messages that fall due one after the other, the first at first_ms. */
static void push_from(int64_t first_ms, size_t count, int64_t gap_ms) {
    dueq_draft drafts[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < count; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = BYTES("job");
        drafts[i].at_ms = first_ms + (int64_t)i * gap_ms;
    }
    struct jobs producer = jobs_open(server.url);
    assert_status(producer.client, OK, dueq_push(producer.queue, drafts, count, NULL));
    jobs_close(producer);
}

static void push_row(size_t count, int64_t gap_ms) {
    due_ms = wall_ms() + 300;
    push_from(due_ms, count, gap_ms);
}

static void ack(dueq_consumer *consumer, dueq_bytes ticket) {
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, ticket));
}

static dueq_counts counts(void) {
    dueq_counts found = DUEQ_COUNTS;
    struct jobs other = jobs_open(server.url);
    assert_status(other.client, OK, dueq_stats(other.queue, &found));
    jobs_close(other);
    return found;
}

static void assert_gone(int64_t acked) {
    dueq_counts found = counts();
    assert_int_equal(found.acked, acked);
    assert_int_equal(found.ready + found.delayed + found.leased + found.dead, 0);
}

static void close_stopped(dueq_consumer *consumer) {
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    dueq_consumer_close(consumer);
}

static long long scripts_run(void) { return calls_of(&server, "evalsha"); }

static void keepers(char text[128]) {
    redisReply *reply = command(&server, "HGET dueq:{jobs}:meta timekeepers");
    snprintf(text, 128, "%s", reply->type == REDIS_REPLY_STRING ? reply->str : "");
    freeReplyObject(reply);
}

/* Drives a submitted consumer until the server has it in a blocking command. */
static void drive_until_blocked(dueq_consumer *consumer) {
    for (int64_t end = now_ms() + 20000; info_number(&server, "clients", "blocked_clients") < 1;) {
        const dueq_message *message;
        assert_true(now_ms() < end);
        dueq_wait(jobs.client, 5);
        assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_PENDING);
    }
}

static void test_timekeeper_takes_and_acks_by_one_script(void **state) {
    (void)state;
    enum { COUNT = 40 };
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    push_row(COUNT, GAP_MS);
    for (size_t i = 0; i < COUNT; i++) {
        dueq_bytes ticket = next_ticket(consumer);
        assert_true(wall_ms() >= due_ms + (int64_t)i * GAP_MS);
        ack(consumer, ticket);
    }
    close_stopped(consumer);
    assert_gone(COUNT);
    /* The first two need two each; and the pushes, the waits, the stop and the stats one. */
    assert_in_range(scripts_run(), COUNT / 2, COUNT + 15);
}

static void test_timekeeper_sends_an_ack_at_once_if_the_next_event_is_far(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    push_row(3, 400);
    ack(consumer, next_ticket(consumer));
    ack(consumer, next_ticket(consumer));
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    drive_until_blocked(consumer);
    dueq_counts found = counts();
    assert_int_equal(found.acked, 2);
    assert_int_equal(found.leased, 0);
    dueq_wait(jobs.client, -1);
    const dueq_message *message;
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_OK);
    ack(consumer, message->ticket);
    close_stopped(consumer);
    assert_gone(3);
}

/* Whatever ends the wait, the ack is sent, and no timekeeper stays that will not look. */
static void test_timekeeper_that_stops_sends_the_ack_and_hands_over(void **state) {
    (void)state;
    for (int by_timeout = 0; by_timeout < 2; by_timeout++) {
        char text[128];
        const dueq_message *message;
        dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
        push_row(3, GAP_MS);
        for (size_t i = 0; i < 3; i++) {
            ack(consumer, next_ticket(consumer));
            if (i == 0 && by_timeout &&
                dueq_consumer_next(consumer, 1, &message, NULL) == DUEQ_OK) {
                ack(consumer, message->ticket);
                i++;
            }
        }
        if (by_timeout)
            assert_status(jobs.client, EMPTY, dueq_consumer_next(consumer, 1, &message, NULL));
        close_stopped(consumer);
        assert_gone(3 + 3 * by_timeout);
        keepers(text);
        assert_null(strchr(text, ':'));
    }
}

static void test_timekeeper_hears_of_ready_messages(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    push_row(3, 5000);
    ack(consumer, next_ticket(consumer));
    struct jobs producer = jobs_open(server.url);
    push_body(producer.queue, "while it works", 0, NULL);
    int64_t start = now_ms();
    ack(consumer, next_ticket(consumer));
    assert_in_range(now_ms() - start, 0, SOON_MS);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    drive_until_blocked(consumer);
    push_body(producer.queue, "while it waits", 0, NULL);
    assert_int_equal(dueq_wait(jobs.client, 10000), DUEQ_OK);
    const dueq_message *message;
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_OK);
    ack(consumer, message->ticket);
    close_stopped(consumer);
    assert_int_equal(counts().acked, 3);
    jobs_close(producer);
}

/* The only delayed message is cancelled. Then no consumer needs to look, nor to be woken. */
static void cancel_delayed(void) {
    redisReply *reply = command(&server, "ZRANGE dueq:{jobs}:delayed 0 -1");
    assert_int_equal(reply->elements, 1);
    struct jobs producer = jobs_open(server.url);
    const dueq_bytes id = {reply->element[0]->str, reply->element[0]->len};
    assert_status(producer.client, OK, dueq_cancel(producer.queue, &id, 1, NULL));
    jobs_close(producer);
    freeReplyObject(reply);
}

static void assert_no_token(void) {
    char text[128];
    keepers(text);
    assert_null(strchr(text, ':'));
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:wake"), 0);
}

static void test_timekeeper_leaves_no_token_in_an_emptied_queue(void **state) {
    (void)state;
    const dueq_message *message;
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    push_row(2, 60000);
    ack(consumer, next_ticket(consumer));
    cancel_delayed();
    close_stopped(consumer);
    assert_no_token();
    consumer = open_consumer(jobs.client, jobs.queue);
    push_from(wall_ms() + 60000, 1, 0);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    drive_until_blocked(consumer);
    cancel_delayed();
    dueq_stop_wait(jobs.client);
    while (dueq_wait(jobs.client, -1) == DUEQ_PENDING)
        ;
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_EMPTY);
    close_stopped(consumer);
    assert_no_token();
}

/*
 * A push of the next event wakes the consumer, which then knows the time. On a busy machine it asks
 * nevertheless, until one of the server's answers came quickly enough to tell the server's clock.
 */
static void test_timekeeper_that_took_a_token_need_not_ask(void **state) {
    (void)state;
    enum { MOST = 40, STEP_MS = 100 };
    const dueq_message *message;
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    drive_until_blocked(consumer);
    struct jobs producer = jobs_open(server.url);
    int64_t first_ms = wall_ms() + 3600000;
    size_t rounds = 0;
    long long scripts = 0;
    for (; rounds < MOST && scripts != 1; rounds++) {
        first_ms -= STEP_MS;
        long long before = scripts_run();
        push_at(producer, first_ms);
        for (int i = 0; i < 4; i++)
            dueq_wait(jobs.client, 5);
        drive_until_blocked(consumer);
        scripts = scripts_run() - before;
    }
    assert_int_equal(scripts, 1);
    due_ms = wall_ms() + 300;
    push_at(producer, due_ms);
    assert_int_equal(dueq_wait(jobs.client, 10000), DUEQ_OK);
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_OK);
    assert_in_range(wall_ms(), due_ms, due_ms + SOON_MS);
    ack(consumer, message->ticket);
    close_stopped(consumer);
    dueq_counts found = counts();
    assert_int_equal(found.acked, 1);
    assert_int_equal(found.delayed, rounds);
    jobs_close(producer);
}

/* Others */

enum end { WORKS_ON, CLOSES, DIES };

/* Takes a message, and dies while it works. */
static pid_t start_to_die(void) {
    pid_t child = fork();
    if (child)
        return child;
    struct jobs own = jobs_open(server.url);
    dueq_consumer *consumer = open_consumer(own.client, own.queue);
    const dueq_message *message;
    dueq_consumer_next(consumer, 20000, &message, NULL);
    raise(SIGKILL);
    _exit(1);
}

/*
 * The first timekeeper takes the first message, and keeps the time of the second message, which was
 * pushed later. So the second timekeeper would look a second after the first message. But the
 * second message comes to it in time.
 */
static void assert_other_takes_in_time(enum end how, int64_t within_ms) {
    int64_t first_ms = wall_ms() + 1500;
    const dueq_message *message;
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    push_from(first_ms, 1, 0);
    pid_t holder = how == DIES ? start_to_die() : 0;
    if (how == DIES) {
        await_blocked(&server, 1);
    } else {
        assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
        drive_until_blocked(consumer);
    }
    pid_t other = consumer_start(server.url, "jobs", 20000);
    await_blocked(&server, 2);
    due_ms = first_ms + 100;
    push_from(due_ms, 1, 0);
    assert_in_range(wall_ms(), 0, first_ms);
    if (how == DIES) {
        assert_int_equal(waitpid(holder, NULL, 0), holder);
    } else {
        assert_int_equal(dueq_wait(jobs.client, 10000), DUEQ_OK);
        assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_OK);
    }
    if (how != WORKS_ON)
        dueq_consumer_close(consumer);
    assert_int_equal(child_end(other), DUEQ_OK);
    assert_in_range(wall_ms(), due_ms, due_ms + within_ms);
    if (how == WORKS_ON) {
        ack(consumer, message->ticket);
        close_stopped(consumer);
        assert_gone(2);
    }
}

static void test_timekeeper_that_works_for_long_makes_another_look(void **state) {
    (void)state;
    assert_other_takes_in_time(WORKS_ON, SOON_MS);
}

static void test_timekeeper_that_is_closed_makes_another_look(void **state) {
    (void)state;
    assert_other_takes_in_time(CLOSES, SOON_MS);
}

/* The second timekeeper looks a second after the first at the latest. */
static void test_timekeeper_that_dies_has_a_second_one(void **state) {
    (void)state;
    assert_other_takes_in_time(DIES, 1000 + SOON_MS);
}

/* Of two that wait, the first takes the token of the event, and is closed before its time. */
static void test_timekeeper_that_took_a_token_hands_over(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(jobs.client, jobs.queue);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    drive_until_blocked(consumer);
    pid_t other = consumer_start(server.url, "jobs", 20000);
    await_blocked(&server, 2);
    due_ms = wall_ms() + 1000;
    push_from(due_ms, 1, 0);
    for (int i = 0; i < 20; i++)
        dueq_wait(jobs.client, 5);
    dueq_consumer_close(consumer);
    assert_in_range(wall_ms(), 0, due_ms);
    assert_int_equal(child_end(other), DUEQ_OK);
    assert_in_range(wall_ms(), due_ms, due_ms + SOON_MS);
    assert_gone(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_timekeeper_takes_and_acks_by_one_script),
        TEST(test_timekeeper_sends_an_ack_at_once_if_the_next_event_is_far),
        TEST(test_timekeeper_that_stops_sends_the_ack_and_hands_over),
        TEST(test_timekeeper_hears_of_ready_messages),
        TEST(test_timekeeper_leaves_no_token_in_an_emptied_queue),
        TEST(test_timekeeper_that_took_a_token_need_not_ask),
        TEST(test_timekeeper_that_works_for_long_makes_another_look),
        TEST(test_timekeeper_that_is_closed_makes_another_look),
        TEST(test_timekeeper_that_dies_has_a_second_one),
        TEST(test_timekeeper_that_took_a_token_hands_over),
    };
    return run_on_server(tests, NULL);
}
