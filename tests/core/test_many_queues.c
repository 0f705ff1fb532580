/*
 * A consumer of many queues: it asks only the queue that woke, and it neither misses a message of
 * another queue, nor keeps it from the other consumers.
 */
#include <poll.h>
#include <unistd.h>

#include "fixture.h"

enum { MANY = 40 };

static struct jobs other;        /* a client beside the consumer's */
static dueq_queue *queues[MANY]; /* "q-0", "q-1" ... of the consumer's client */
static dueq_queue *beside[MANY]; /* the same of the other */

static long long scripts_run(void) { return calls_of(&server, "evalsha"); }

static void name_of(size_t queue, char name[16]) { snprintf(name, 16, "q-%zu", queue); }

static int set_up_many(void **state) {
    char name[16];
    set_up_jobs(state);
    other = jobs_open(server.url);
    for (size_t i = 0; i < MANY; i++) {
        name_of(i, name);
        queues[i] = open_queue(jobs.client, name);
        beside[i] = open_queue(other.client, name);
    }
    return 0;
}

static int tear_down_many(void **state) {
    for (size_t i = 0; i < MANY; i++) {
        dueq_queue_close(queues[i]);
        dueq_queue_close(beside[i]);
    }
    jobs_close(other);
    return tear_down_jobs(state);
}

static dueq_consumer *open_many(size_t count, dueq_order order) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    options.order = order;
    assert_status(jobs.client, OK, dueq_consumer_open(queues, count, &options, &consumer));
    return consumer;
}

static const dueq_message *take(dueq_consumer *consumer, size_t from, const char *body) {
    const dueq_message *message;
    size_t place;
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 15000, &message, &place));
    assert_int_equal(place, from);
    assert_int_equal(message->body.size, strlen(body));
    assert_memory_equal(message->body.data, body, strlen(body));
    return message;
}

static void work(dueq_consumer *consumer, size_t from, const char *body) {
    const dueq_message *message = take(consumer, from, body);
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
}

static void stop(dueq_consumer *consumer) {
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

static void assert_nothing_left(size_t count) {
    for (size_t i = 0; i < count; i++) {
        dueq_counts counts = DUEQ_COUNTS;
        assert_status(other.client, OK, dueq_stats(beside[i], &counts));
        assert_int_equal(counts.ready + counts.delayed + counts.leased, 0);
        assert_int_equal(counts.retried + counts.acked, counts.pushed);
    }
}

/* Waits until the consumer blocks, and asserts that no message came meanwhile. */
static void await_block(dueq_consumer *consumer) {
    const dueq_message *message;
    assert_status(jobs.client, PENDING, dueq_consumer_submit(consumer, 60000));
    while (info_number(&server, "clients", "blocked_clients") < 1) {
        dueq_wait(jobs.client, 5);
        assert_status(jobs.client, PENDING, dueq_consumer_take(consumer, &message, NULL));
    }
}

static void expect(dueq_consumer *consumer, size_t from, const char *body) {
    const dueq_message *message;
    size_t place;
    dueq_status status;
    while ((status = dueq_consumer_take(consumer, &message, &place)) == DUEQ_PENDING)
        dueq_wait(jobs.client, 15000);
    assert_status(jobs.client, OK, status);
    assert_int_equal(place, from);
    assert_int_equal(message->body.size, strlen(body));
    assert_memory_equal(message->body.data, body, strlen(body));
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
}

/* Adds a message as a consumer leaves it that took the wake token and died. */
static void plant(size_t queue, const char *id, const char *body) {
    char name[16];
    name_of(queue, name);
    run_command(&server, "HSET dueq:{%s}:msg %s %b", name, id, body, (size_t)5);
    run_command(&server, "RPUSH dueq:{%s}:ready %s", name, id);
}

static const char planted[] = "\xd1\0\0\5x";

static void test_only_the_queue_that_woke_is_asked(void **state) {
    (void)state;
    enum { WARM = 2, MESSAGES = 30 };
    dueq_consumer *consumer = open_many(MANY, DUEQ_PREFERENCE);
    long long before = 0;
    await_block(consumer);
    for (size_t i = 0; i < WARM + MESSAGES; i++) {
        size_t queue = (7 * i + 3) % MANY;
        if (i == WARM)
            before = scripts_run();
        push_body(beside[queue], "now", i % 2 ? 60 : 0, NULL);
        expect(consumer, queue, "now");
        await_block(consumer);
    }
    /*
     * For each message the push, the reserve, and the reserve that takes the ack along and waits.
     * In a new queue one reserve is passed on; one more is told of the delay; and some ask a queue
     * in its turn. Where all queues were asked, there would be one more for each of them.
     */
    assert_in_range(scripts_run() - before, 3 * MESSAGES, MANY * MESSAGES / 4);
    dueq_abandon(jobs.client);
    dueq_consumer_close(consumer);
    assert_nothing_left(MANY);
}

static void test_one_process_has_a_thousand_queues(void **state) {
    (void)state;
    enum { ALL = 1000 };
    dueq_queue *all[ALL];
    char name[16];
    for (size_t i = 0; i < ALL; i++) {
        snprintf(name, sizeof name, "all-%zu", i);
        all[i] = open_queue(jobs.client, name);
    }
    dueq_queue *last = open_queue(other.client, name);
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    assert_status(jobs.client, OK, dueq_consumer_open(all, ALL, &options, &consumer));
    await_block(consumer);
    push_body(last, "at the end", 100, NULL);
    expect(consumer, ALL - 1, "at the end");
    stop(consumer);
    for (size_t i = 0; i < ALL; i++)
        dueq_queue_close(all[i]);
    dueq_queue_close(last);
}

static void test_a_push_while_the_consumer_works_is_not_missed(void **state) {
    (void)state;
    dueq_consumer *consumer = open_many(MANY, DUEQ_ROUND_ROBIN);
    await_block(consumer);
    push_body(beside[5], "first", 0, NULL);
    expect(consumer, 5, "first");
    for (size_t queue = 0; queue < MANY; queue += 3) {
        push_body(beside[queue], "next", 0, NULL);
        int64_t start = now_ms();
        work(consumer, queue, "next");
        assert_true(now_ms() - start < 5000);
    }
    /* Between the request about one queue and the block for all. */
    for (int i = 0; i < 30; i++) {
        size_t queue = (size_t)(11 * i) % MANY;
        assert_status(jobs.client, PENDING, dueq_consumer_submit(consumer, 15000));
        for (int k = 0; k < i % 6; k++)
            dueq_wait(jobs.client, 0);
        push_body(beside[queue], "late", 0, NULL);
        expect(consumer, queue, "late");
    }
    stop(consumer);
    assert_nothing_left(MANY);
}

/* A program that waits by the descriptor pumps only when it is readable, and no answer comes. */
static void test_a_wait_that_asks_nothing_blocks_at_once(void **state) {
    (void)state;
    const dueq_message *message;
    dueq_consumer *consumer = open_many(2, DUEQ_PREFERENCE);
    await_block(consumer);
    dueq_stop_wait(jobs.client);
    while (dueq_wait(jobs.client, -1) == DUEQ_PENDING)
        ;
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_EMPTY);
    long long scripts = scripts_run();
    assert_status(jobs.client, PENDING, dueq_consumer_submit(consumer, 60000));
    await_blocked(&server, 1);
    assert_int_equal(scripts_run(), scripts);
    push_body(beside[1], "b", 0, NULL);
    struct pollfd set = {.fd = dueq_descriptor(jobs.client), .events = POLLIN};
    while (poll(&set, 1, 4000) == 1 && dueq_pump(jobs.client) == DUEQ_PENDING)
        ;
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_OK);
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
    stop(consumer);
    assert_nothing_left(2);
}

static void test_the_first_queue_of_the_list_is_preferred(void **state) {
    (void)state;
    dueq_consumer *consumer = open_many(MANY, DUEQ_PREFERENCE);
    await_block(consumer);
    for (int i = 0; i < 4; i++)
        push_body(beside[30], "30", 0, NULL);
    expect(consumer, 30, "30");
    push_body(beside[31], "31", 0, NULL);
    push_body(beside[2], "2", 0, NULL);
    push_body(beside[17], "17", 0, NULL);
    push_body(beside[17], "17", 0, NULL);
    work(consumer, 2, "2");
    work(consumer, 17, "17");
    push_body(beside[0], "0", 0, NULL);
    work(consumer, 0, "0");
    work(consumer, 17, "17");
    for (int i = 0; i < 3; i++)
        work(consumer, 30, "30");
    work(consumer, 31, "31");
    stop(consumer);
    assert_nothing_left(MANY);
}

static void test_all_have_their_turns(void **state) {
    (void)state;
    size_t seen[4] = {0};
    dueq_consumer *consumer = open_many(4, DUEQ_ROUND_ROBIN);
    await_block(consumer);
    push_body(beside[0], "x", 0, NULL);
    expect(consumer, 0, "x");
    for (int i = 0; i < 6; i++)
        for (size_t queue = 0; queue < 4; queue++)
            push_body(beside[queue], "x", 0, NULL);
    for (int i = 0; i < 12; i++) {
        const dueq_message *message;
        size_t place;
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 15000, &message, &place));
        assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
        seen[place]++;
    }
    for (size_t queue = 0; queue < 4; queue++)
        assert_int_equal(seen[queue], 3);
    stop(consumer);
}

static void test_queues_have_weights(void **state) {
    (void)state;
    dueq_queue *listed[] = {queues[0], queues[0], queues[1], queues[0]};
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    size_t seen[2] = {0};
    options.order = DUEQ_ROUND_ROBIN;
    assert_status(jobs.client, OK, dueq_consumer_open(listed, 4, &options, &consumer));
    await_block(consumer);
    for (int i = 0; i < 12; i++)
        for (size_t queue = 0; queue < 2; queue++)
            push_body(beside[queue], "x", 0, NULL);
    for (int i = 0; i < 12; i++) {
        const dueq_message *message;
        size_t place;
        dueq_status status;
        while ((status = dueq_consumer_take(consumer, &message, &place)) == DUEQ_PENDING)
            dueq_wait(jobs.client, 15000);
        assert_status(jobs.client, OK, status);
        assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
        seen[place == 2]++;
        assert_status(jobs.client, PENDING, dueq_consumer_submit(consumer, 15000));
    }
    assert_in_range(seen[0], 8, 10);
    stop(consumer);
}

/*
 * Two consumers keep the time of a queue, and then work for long on messages of another queue. A
 * third one waits for that time, and is told.
 */
static void test_the_time_of_a_queue_is_passed_on_by_a_busy_consumer(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *first = open_many(2, DUEQ_PREFERENCE), *second;
    assert_status(other.client, OK, dueq_consumer_open(beside, 2, &options, &second));
    struct jobs third = jobs_open(server.url);
    dueq_queue *to[] = {open_queue(third.client, "q-0"), open_queue(third.client, "q-1")};
    int64_t start = now_ms();
    push_body(to[1], "due", 1500, NULL);
    await_block(first);
    assert_status(other.client, PENDING, dueq_consumer_submit(second, 15000));
    pump_until_blocked(other.client, 2);
    pid_t waiting = consumer_start(server.url, "q-1", 20000);
    await_blocked(&server, 3);
    push_body(to[0], "long", 0, NULL);
    push_body(to[0], "long", 0, NULL);
    expect(first, 0, "long");
    const dueq_message *message;
    dueq_status status;
    while ((status = dueq_consumer_take(second, &message, NULL)) == DUEQ_PENDING)
        dueq_wait(other.client, 15000);
    assert_status(other.client, OK, status);
    assert_true(now_ms() - start < 1500);
    assert_int_equal(child_end(waiting), DUEQ_OK);
    assert_in_range(now_ms() - start, 1500, 2000);
    assert_status(other.client, OK, dueq_consumer_ack(second, message->ticket));
    assert_status(other.client, OK, dueq_consumer_stop(second));
    dueq_consumer_close(second);
    stop(first);
    dueq_queue_close(to[0]);
    dueq_queue_close(to[1]);
    jobs_close(third);
    assert_nothing_left(2);
}

/* A consumer that keeps the times of nine queues ends. True: their times are given back. */
static bool end_gives_back(void) {
    dueq_consumer *consumer = open_many(10, DUEQ_PREFERENCE);
    for (size_t i = 1; i < 10; i++)
        push_body(beside[i], "in a minute", 60000, NULL);
    await_block(consumer);
    push_body(beside[0], "now", 0, NULL);
    expect(consumer, 0, "now");
    stop(consumer);
    size_t kept = 1;
    for (int64_t end = now_ms() + 1000; kept < 10 && now_ms() < end;) {
        char name[16];
        name_of(kept, name);
        kept += no_timekeeper(name);
    }
    return kept == 10;
}

static void test_the_end_of_a_consumer_gives_all_times_back(void **state) {
    (void)state;
    /* The consumer takes at most half a second for it, which a busy machine may need for less. */
    int tries = 0;
    while (!end_gives_back()) {
        assert_true(++tries < 5);
        run_command(&server, "FLUSHALL");
    }
    for (size_t i = 1; i < 10; i++) {
        char name[16];
        name_of(i, name);
        await_marker("dueq:{%s}:wake", name);
    }
}

static void test_a_busy_consumer_finds_what_a_lost_token_left(void **state) {
    (void)state;
    dueq_consumer *consumer = open_many(2, DUEQ_ROUND_ROBIN);
    await_block(consumer);
    push_body(beside[1], "1", 0, NULL);
    expect(consumer, 1, "1");
    plant(0, "0351BUFuq8W6mvUdJRzysN", planted);
    work(consumer, 0, "x");
    stop(consumer);
}

static void test_after_a_lost_connection_all_are_asked(void **state) {
    (void)state;
    dueq_consumer *consumer = open_many(MANY, DUEQ_PREFERENCE);
    await_block(consumer);
    for (size_t i = 0; i < 2; i++) {
        push_body(beside[1], "1", 0, NULL);
        expect(consumer, 1, "1");
        await_block(consumer);
    }
    push_body(beside[1], "1", 0, NULL);
    expect(consumer, 1, "1");
    plant(30, "0351BUFuq8W6mvUdJRzysN", planted);
    run_command(&server, "CLIENT KILL TYPE normal");
    work(consumer, 30, "x");
    stop(consumer);
}

static void test_a_consumer_without_a_heartbeat_keeps_no_time(void **state) {
    (void)state;
    dueq_consumer_options options = {.struct_size = sizeof options, .prefetch = 1};
    dueq_consumer *consumer;
    assert_status(jobs.client, OK, dueq_consumer_open(queues, MANY, &options, &consumer));
    push_body(beside[9], "in a minute", 60000, NULL);
    await_block(consumer);
    for (int i = 0; i < 10; i++) {
        push_body(beside[3], "3", 0, NULL);
        expect(consumer, 3, "3");
        await_marker("dueq:{%s}:wake", "q-9");
        long long before = scripts_run();
        await_block(consumer);
        /* The ack, a reserve of each of the two, and what slow ones ask again; not all queues. */
        assert_in_range(scripts_run() - before, 3, MANY / 4);
    }
    dueq_abandon(jobs.client);
    dueq_consumer_close(consumer);
}

static long long registered(void) {
    long long count = 0;
    char name[16];
    for (size_t i = 0; i < MANY; i++) {
        name_of(i, name);
        count += command_number(&server, "ZCARD dueq:{%s}:consumers", name);
    }
    return count;
}

/* After how many ms without a registration the consumer of "q-QUEUE" is offline. */
static long long offline_after(size_t queue) {
    char name[16];
    long long at, left = 0;
    name_of(queue, name);
    redisReply *reply = command(&server, "HVALS dueq:{%s}:described", name);
    assert_int_equal(reply->elements, 1);
    assert_int_equal(sscanf(reply->element[0]->str, "%lld %lld ", &at, &left), 2);
    freeReplyObject(reply);
    return left;
}

static void test_an_idle_consumer_sends_less_than_a_command_a_second(void **state) {
    (void)state;
    enum { SECONDS = 26 };
    dueq_consumer *consumer = open_many(MANY, DUEQ_PREFERENCE);
    await_block(consumer);
    for (int64_t end = now_ms() + 20000; registered() < MANY && now_ms() < end;)
        dueq_wait(jobs.client, 100);
    assert_int_equal(registered(), MANY);
    assert_true(offline_after(3) > 55000);
    dueq_wait(jobs.client, 200);
    long long sent = SECONDS;
    /* Where the machine is busy, two rounds of registrations may fall into one span of time. */
    for (int tries = 0; tries < 3 && sent >= SECONDS; tries++) {
        long long before = scripts_run();
        assert_status(jobs.client, PENDING, dueq_wait(jobs.client, SECONDS * 1000));
        sent = scripts_run() - before;
    }
    assert_in_range(sent, 16, SECONDS - 1);
    push_body(beside[3], "long", 0, NULL);
    expect(consumer, 3, "long");
    stop(consumer);
    assert_int_equal(registered(), 0);
}

static void test_a_leased_message_is_listed_by_its_queue(void **state) {
    (void)state;
    dueq_consumer *consumer = open_many(MANY, DUEQ_PREFERENCE);
    await_block(consumer);
    push_body(beside[3], "long", 0, NULL);
    dueq_wait(jobs.client, 15000);
    const dueq_message *message = NULL;
    while (dueq_consumer_take(consumer, &message, NULL) == DUEQ_PENDING)
        dueq_wait(jobs.client, 15000);
    assert_non_null(message);
    for (int64_t end = now_ms() + 20000; registered() < MANY && now_ms() < end;)
        usleep(50000);
    assert_true(offline_after(2) > 55000);
    assert_int_equal(offline_after(3), 55000);
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
    stop(consumer);
}

/* The keys of "q-0" but for replies, which the server drops after 75 s. */
static void assert_keys_left(const char *expected) {
    redisReply *reply = command(&server, "EVAL %s 0",
                                "local found = {} "
                                "for _, key in ipairs(redis.call('KEYS', 'dueq:{q-0}:*')) do "
                                "  if not string.find(key, ':reply:') then "
                                "    found[#found + 1] = string.match(key, '([^:]*)$') "
                                "  end "
                                "end "
                                "table.sort(found) return table.concat(found, ' ')");
    assert_string_equal(reply->str, expected);
    freeReplyObject(reply);
}

static void test_an_emptied_queue_keeps_its_counters_and_its_history(void **state) {
    (void)state;
    size_t purged;
    push_body(beside[0], "ready", 0, NULL);
    push_body(beside[0], "ready", 0, NULL);
    push_body(beside[0], "later", 60000, NULL);
    assert_status(other.client, EMPTY, dueq_purge(beside[0], DUEQ_READY, 200, &purged));
    assert_keys_left("delayed meta msg rates wake");
    assert_status(other.client, EMPTY, dueq_purge(beside[0], DUEQ_DELAYED, 200, &purged));
    assert_keys_left("meta rates");
    dueq_consumer *consumer = open_many(2, DUEQ_PREFERENCE);
    await_block(consumer);
    push_body(beside[0], "x", 20, NULL);
    expect(consumer, 0, "x");
    await_block(consumer);
    stop(consumer);
    assert_keys_left("meta rates");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define MANY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_many, tear_down_many)
        MANY_TEST(test_only_the_queue_that_woke_is_asked),
        MANY_TEST(test_one_process_has_a_thousand_queues),
        MANY_TEST(test_a_push_while_the_consumer_works_is_not_missed),
        MANY_TEST(test_a_wait_that_asks_nothing_blocks_at_once),
        MANY_TEST(test_the_first_queue_of_the_list_is_preferred),
        MANY_TEST(test_all_have_their_turns),
        MANY_TEST(test_queues_have_weights),
        MANY_TEST(test_the_time_of_a_queue_is_passed_on_by_a_busy_consumer),
        MANY_TEST(test_the_end_of_a_consumer_gives_all_times_back),
        MANY_TEST(test_a_busy_consumer_finds_what_a_lost_token_left),
        MANY_TEST(test_after_a_lost_connection_all_are_asked),
        MANY_TEST(test_a_consumer_without_a_heartbeat_keeps_no_time),
        MANY_TEST(test_an_idle_consumer_sends_less_than_a_command_a_second),
        MANY_TEST(test_a_leased_message_is_listed_by_its_queue),
        MANY_TEST(test_an_emptied_queue_keeps_its_counters_and_its_history),
    };
    return run_on_server(tests, NULL);
}
