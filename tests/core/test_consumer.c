/* The consumer's loop: one round trip for each batch, and what becomes of what it holds. */
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "consumer/consumer.h"
#include "fixture.h"
#include "proxy.h"

static struct proxy proxy;

static dueq_consumer *open_consumer_of(dueq_queue *const *queues, size_t count,
                                       dueq_consumer_options options) {
    dueq_consumer *consumer;
    assert_status(jobs.client, OK, dueq_consumer_open(queues, count, &options, &consumer));
    return consumer;
}

static dueq_consumer *open_consumer(dueq_consumer_options options) {
    return open_consumer_of(&jobs.queue, 1, options);
}

static dueq_consumer_options prefetching(size_t prefetch) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.prefetch = prefetch;
    return options;
}

/* Leases that nobody extends. */
static dueq_consumer_options unkept(size_t prefetch, int64_t lease_ms) {
    return (dueq_consumer_options){
        .struct_size = sizeof(dueq_consumer_options), .prefetch = prefetch, .lease_ms = lease_ms};
}

static void push_numbered(dueq_queue *queue, int from, int count) {
    for (int i = from; i < from + count; i++) {
        char body[16];
        snprintf(body, sizeof body, "%d", i);
        push_body(queue, body, 0, NULL);
    }
}

static const dueq_message *next(dueq_consumer *consumer, const char *body) {
    const dueq_message *message;
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    assert_int_equal(message->body.size, strlen(body));
    assert_memory_equal(message->body.data, body, strlen(body));
    return message;
}

static void ack(dueq_consumer *consumer, const dueq_message *message) {
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
}

static void assert_empty(dueq_consumer *consumer) {
    const dueq_message *message;
    assert_status(jobs.client, EMPTY, dueq_consumer_next(consumer, 0, &message, NULL));
    assert_null(message);
}

static void stop(dueq_consumer *consumer) {
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

static dueq_counts counts_of(dueq_queue *queue) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(queue, &counts));
    return counts;
}

static void assert_gone(int64_t acked) {
    dueq_counts counts = counts_of(jobs.queue);
    assert_int_equal(counts.acked, acked);
    assert_int_equal(counts.ready + counts.delayed + counts.leased + counts.dead, 0);
}

/* How many scripts: what they call is not counted. */
static long long scripts_run(void) { return calls_of(&server, "evalsha"); }

static void work(dueq_consumer *consumer, int from, int count) {
    for (int i = from; i < from + count; i++) {
        char body[16];
        snprintf(body, sizeof body, "%d", i);
        ack(consumer, next(consumer, body));
    }
}

static void test_consumer_makes_one_round_trip_for_each(void **state) {
    (void)state;
    push_numbered(jobs.queue, 0, 23);
    dueq_consumer *consumer = open_consumer(prefetching(1));
    work(consumer, 0,
         3); /* in a new queue the first two are full, and the third loads the fast script */
    long long before = scripts_run();
    work(consumer, 3, 20);
    assert_int_equal(scripts_run() - before, 20);
    assert_empty(consumer);
    assert_gone(23);
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    stop(consumer);
}

static void test_consumer_prefetch_makes_one_for_many(void **state) {
    (void)state;
    push_numbered(jobs.queue, 0, 220);
    dueq_consumer *consumer = open_consumer(prefetching(20));
    work(consumer, 0, 20);
    long long before = scripts_run();
    work(consumer, 20, 200);
    /* Ten, and where the machine stalls a few more, for a note must not wait long. */
    assert_in_range(scripts_run() - before, 10, 60);
    assert_empty(consumer);
    assert_gone(220);
    stop(consumer);
}

/*
 * Its acks go with a reserve of more while others are prefetched: one that crashed is not to wait
 * behind these.
 */
static void test_consumer_takes_what_crashed_when_it_holds_nothing_else(void **state) {
    (void)state;
    dueq_result *held;
    push_body(jobs.queue, "crashed", 0, NULL);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 0, 60000, &held));
    dueq_bytes ticket = dueq_result_message(held, 0)->ticket;
    push_numbered(jobs.queue, 0, 3);
    dueq_consumer *consumer = open_consumer(unkept(5, 60000));
    ack(consumer, next(consumer, "0"));
    assert_status(jobs.client, OK, dueq_extend(jobs.queue, &ticket, 1, 1, NULL));
    usleep(5000);
    push_numbered(jobs.queue, 3, 1);
    ack(consumer, next(consumer, "1"));
    ack(consumer, next(consumer, "2"));
    const dueq_message *message = next(consumer, "crashed");
    assert_int_equal(message->crashes, 1);
    assert_int_equal(counts_of(jobs.queue).leased, 1);
    ack(consumer, message);
    ack(consumer, next(consumer, "3"));
    dueq_result_free(held);
    stop(consumer);
}

static void test_consumer_waits_for_a_message(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(prefetching(5));
    push_body(jobs.queue, "soon", 300, NULL);
    ack(consumer, next(consumer, "soon"));
    assert_empty(consumer);
    assert_gone(1);
    stop(consumer);
}

/* What falls due at a rate */

#define APART_MS 4

/* Messages that fall due one after the other; the body of each is its time. */
static void push_at_a_rate(int count, int64_t apart_ms, int64_t lead_ms) {
    dueq_counts counts = counts_of(jobs.queue);
    for (int i = 0; i < count; i++) {
        char body[24];
        dueq_draft draft = DUEQ_DRAFT;
        draft.at_ms = counts.now_ms + lead_ms + i * apart_ms;
        snprintf(body, sizeof body, "%lld", (long long)draft.at_ms);
        draft.body = BYTES(body);
        assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    }
}

static void assert_not_early(const dueq_message *message) {
    char body[24];
    snprintf(body, sizeof body, "%.*s", (int)message->body.size, (const char *)message->body.data);
    assert_true(message->now_ms >= atoll(body));
}

/* The next message, by a loop over the client's one descriptor, and how often that was readable. */
static const dueq_message *next_by_descriptor(dueq_consumer *consumer, int *readable) {
    const dueq_message *message = NULL;
    dueq_status status = dueq_consumer_submit(consumer, 20000);
    struct pollfd set = {.fd = dueq_descriptor(jobs.client), .events = POLLIN};
    assert_true(set.fd >= 0);
    for (; status == DUEQ_PENDING && poll(&set, 1, 20000) == 1; (*readable)++)
        if (dueq_pump(jobs.client) != DUEQ_PENDING)
            break;
    assert_int_equal(dueq_consumer_take(consumer, &message, NULL), DUEQ_OK);
    return message;
}

/*
 * Who knows that the next falls due at once waits by the clock: no block, which would have to be
 * ended.
 */
static void test_consumer_does_not_block_in_between(void **state) {
    (void)state;
    enum { COUNT = 60 };
    dueq_consumer *consumer = open_consumer(prefetching(1));
    for (int by_descriptor = 0; by_descriptor < 2; by_descriptor++) {
        int readable = 0;
        push_at_a_rate(COUNT, APART_MS, 500);
        long long blocks = calls_of(&server, "bzpopmin"),
                  unblocks = calls_of(&server, "client|unblock");
        for (int i = 0; i < COUNT; i++) {
            const dueq_message *message;
            if (by_descriptor)
                message = next_by_descriptor(consumer, &readable);
            else
                assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
            assert_not_early(message);
            ack(consumer, message);
        }
        assert_empty(consumer);
        /* Until the first. */
        assert_in_range(calls_of(&server, "bzpopmin") - blocks, 1, COUNT / 10);
        assert_in_range(calls_of(&server, "client|unblock") - unblocks, 1, COUNT / 10);
        assert_true(readable < 8 * COUNT);
    }
    assert_gone(2 * COUNT);
    stop(consumer);
}

/* A message that is pushed meanwhile comes at the next look. */
static void test_consumer_finds_what_came_in_between(void **state) {
    (void)state;
    enum { COUNT = 30 };
    struct jobs other = jobs_open(server.url);
    dueq_consumer *consumer = open_consumer(prefetching(1));
    push_at_a_rate(COUNT, APART_MS, 300);
    for (int i = 0; i < 2 * COUNT; i++) {
        const dueq_message *message;
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 5000, &message, NULL));
        if (message->body.size)
            push_body(other.queue, "", 0, NULL);
        ack(consumer, message);
    }
    assert_empty(consumer);
    assert_gone(2 * COUNT);
    stop(consumer);
    jobs_close(other);
}

static void test_consumer_with_slack_takes_all_that_falls_due_in_it(void **state) {
    (void)state;
    enum { COUNT = 100 };
    dueq_consumer_options options = prefetching(COUNT);
    options.slack_ms = DUEQ_MAX_SLACK_MS;
    dueq_consumer *consumer = open_consumer(options);
    push_numbered(jobs.queue, 0, 1);
    ack(consumer, next(consumer, "0"));
    push_at_a_rate(COUNT / 2, 1, 600);
    push_at_a_rate(COUNT / 2, 1, 600);
    long long before = scripts_run();
    for (int i = 0; i < COUNT; i++) {
        const dueq_message *message;
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
        assert_not_early(message);
        ack(consumer, message);
    }
    /* The first finds none, the second all; more where the machine stalls. */
    assert_in_range(scripts_run() - before, 2, 10);
    assert_empty(consumer);
    assert_gone(1 + COUNT);
    stop(consumer);
}

/* Stopping */

static void test_consumer_stop_gives_back_what_is_in_hand_uncounted(void **state) {
    (void)state;
    push_numbered(jobs.queue, 0, 5);
    dueq_consumer *consumer = open_consumer(prefetching(5));
    work(consumer, 0, 2);
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    dueq_counts counts = counts_of(jobs.queue);
    assert_int_equal(counts.acked, 2);
    assert_int_equal(counts.ready, 3);
    assert_int_equal(counts.leased, 0);
    /* In their order, as if they had not been taken; and the consumer goes on. */
    for (int i = 2; i < 5; i++) {
        const char body[] = {(char)('0' + i), '\0'};
        const dueq_message *message = next(consumer, body);
        assert_int_equal(message->attempt, 1);
        assert_int_equal(message->crashes, 0);
        ack(consumer, message);
    }
    stop(consumer);
    assert_gone(5);
}

static void test_consumer_stop_ends_a_wait(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(prefetching(3));
    push_numbered(jobs.queue, 0, 1);
    work(consumer, 0, 1);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    pump_until_blocked(jobs.client, 1);
    stop(consumer);
    assert_gone(1);
}

static void test_consumer_stop_gives_back_what_was_on_its_way(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(prefetching(3));
    push_numbered(jobs.queue, 0, 3);
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    stop(consumer);
    dueq_counts counts = counts_of(jobs.queue);
    assert_int_equal(counts.ready, 3);
    assert_int_equal(counts.leased, 0);
}

static void test_consumer_retry_goes_along(void **state) {
    (void)state;
    push_numbered(jobs.queue, 0, 2);
    dueq_consumer *consumer = open_consumer(prefetching(1));
    const dueq_message *message = next(consumer, "0");
    assert_status(jobs.client, OK,
                  dueq_consumer_retry(consumer, message->ticket, 0, BYTES("not now")));
    assert_status(jobs.client, IN_USE,
                  dueq_consumer_retry(consumer, message->ticket, 0, BYTES("twice")));
    ack(consumer, next(consumer, "1"));
    message = next(consumer, "0");
    assert_int_equal(message->attempt, 2);
    assert_memory_equal(message->error.data, "not now", 7);
    ack(consumer, message);
    assert_empty(consumer);
    assert_gone(2);
    stop(consumer);
}

static void test_consumer_retry_to_its_end_in_another_queue(void **state) {
    (void)state;
    dueq_queue *failed = open_queue(jobs.client, "failed");
    dueq_draft draft = DUEQ_DRAFT;
    draft.max_attempts = 1;
    draft.dead_letter = BYTES("failed");
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    push_numbered(jobs.queue, 1, 1);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    const dueq_message *message = next(consumer, "");
    assert_status(jobs.client, OK,
                  dueq_consumer_retry(consumer, message->ticket, 0, BYTES("that was it")));
    ack(consumer, next(consumer, "1"));
    stop(consumer);
    assert_gone(1);
    assert_int_equal(counts_of(failed).ready, 1);
    dueq_queue_close(failed);
}

static void test_consumer_of_several_queues_settles_in_each(void **state) {
    (void)state;
    dueq_queue *queues[] = {jobs.queue, open_queue(jobs.client, "mails")};
    push_numbered(jobs.queue, 0, 3);
    push_numbered(queues[1], 3, 3);
    dueq_consumer_options options = prefetching(2);
    options.order = DUEQ_ROUND_ROBIN;
    dueq_consumer *consumer = open_consumer_of(queues, 2, options);
    size_t seen[2] = {0};
    for (int i = 0; i < 6; i++) {
        const dueq_message *message;
        size_t place = 9;
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, &place));
        assert_int_equal(place, *(const char *)message->body.data >= '3');
        seen[place]++;
        ack(consumer, message);
    }
    assert_int_equal(seen[0], 3);
    stop(consumer);
    assert_gone(3);
    assert_int_equal(counts_of(queues[1]).acked, 3);
    dueq_queue_close(queues[1]);
}

static void test_consumer_tells_of_a_lost_lease(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    push_numbered(jobs.queue, 0, 1);
    dueq_consumer *consumer = open_consumer(unkept(1, 100));
    const dueq_message *message = next(consumer, "0");
    dueq_result *result;
    /* It waits for the end of the lease. */
    const dueq_message *stolen = reserve_one(other.queue, 20000, 0, &result);
    ack(consumer, message);
    assert_empty(consumer);
    assert_int_equal(dueq_consumer_lost(consumer), 1);
    assert_status(other.client, OK, dueq_ack(other.queue, &stolen->ticket, 1, NULL));
    dueq_result_free(result);
    stop(consumer);
    jobs_close(other);
}

static void test_consumer_does_not_hand_out_what_it_lost(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    push_numbered(jobs.queue, 0, 3);
    dueq_consumer *consumer = open_consumer(unkept(3, 200));
    ack(consumer, next(consumer, "0"));
    for (int i = 0; i < 3; i++) {
        /* As if the process had been stopped: the leases of all three end, the ack was not sent. */
        dueq_result *result;
        dueq_bytes ticket = reserve_one(other.queue, 20000, 0, &result)->ticket;
        assert_status(other.client, OK, dueq_ack(other.queue, &ticket, 1, NULL));
        dueq_result_free(result);
    }
    push_numbered(jobs.queue, 3, 1);
    ack(consumer, next(consumer, "3"));
    assert_int_equal(dueq_consumer_lost(consumer), 3);
    stop(consumer);
    jobs_close(other);
}

static void test_consumer_sends_a_note_again_after_a_failure(void **state) {
    (void)state;
    const dueq_message *message;
    push_numbered(jobs.queue, 0, 2);
    dueq_consumer *consumer = open_consumer(prefetching(1));
    ack(consumer, next(consumer, "0"));
    run_command(&server, "RENAME dueq:{jobs}:msg kept");
    run_command(&server, "SET dueq:{jobs}:msg foreign");
    assert_status(jobs.client, WRONG_TYPE, dueq_consumer_next(consumer, 0, &message, NULL));
    run_command(&server, "RENAME kept dueq:{jobs}:msg");
    ack(consumer, next(consumer, "1"));
    stop(consumer);
    assert_gone(2);
}

static void test_consumer_cut_settles_and_reserves_once(void **state) {
    (void)state;
    static const enum cut cuts[] = {CUT_REQUEST, CUT_BEFORE};
    proxy_start(&proxy, &server);
    for (size_t i = 0; i < 2; i++) {
        struct jobs cut = jobs_open(proxy.url);
        dueq_consumer_options options = DUEQ_CONSUMER;
        dueq_consumer *consumer;
        const dueq_message *message;
        run_command(&server, "FLUSHALL");
        push_numbered(jobs.queue, 0, 4);
        proxy_cut(&proxy, CUT_NOTHING, "", 0);
        assert_int_equal(dueq_consumer_open(&cut.queue, 1, &options, &consumer), DUEQ_OK);
        for (int k = 0; k < 4; k++) {
            assert_status(cut.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
            assert_int_equal(*(const char *)message->body.data, '0' + k);
            if (k == 0)
                /* The script is loaded by now. */
                proxy_cut(&proxy, cuts[i], "EVALSHA", 2);
            assert_int_equal(dueq_consumer_ack(consumer, message->ticket), DUEQ_OK);
        }
        assert_status(cut.client, OK, dueq_consumer_stop(consumer));
        assert_int_equal(proxy_cuts(&proxy), 2);
        assert_int_equal(dueq_consumer_lost(consumer), 0);
        dueq_consumer_close(consumer);
        jobs_close(cut);
        assert_gone(4);
    }
    proxy_stop(&proxy);
}

/* What is cancelled after it was prefetched */

static void push_named(const char *name) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = draft.body = BYTES(name);
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
}

static void cancel_leased(const char *name) {
    const dueq_bytes id = BYTES(name);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_cancel(jobs.queue, &id, 1, &result));
    assert_int_equal(dueq_result_state(result, 0), DUEQ_LEASED);
    dueq_result_free(result);
}

/* So long that the consumer does not know any more that it holds what it has prefetched. */
static void pass(void) { usleep((DUEQ__VERIFY_MS + 50) * 1000); }

/* A heartbeat that has sent an ack through the proxy, and gets no answer to it. */
static dueq_consumer *open_consumer_with_an_ack_that_hangs(enum cut cut, const char *parameters) {
    char url[200];
    proxy_start(&proxy, &server);
    snprintf(url, sizeof url, "unix://%s%s", proxy.socket, parameters);
    jobs_close(jobs);
    jobs = jobs_open(url);
    push_numbered(jobs.queue, 0, 1);
    /* The script is loaded by that. The heartbeat's first ack of a minute is by the same one. */
    const dueq_bytes none[] = {BYTES("0000000000000000000000"), BYTES("0000000000000000000001")};
    assert_status(jobs.client, LEASE_LOST, dueq_ack(jobs.queue, none, 2, NULL));
    dueq_consumer *consumer = open_consumer(prefetching(1));
    proxy_cut(&proxy, cut, dueq__script_ack_wake.sha1, 1);
    ack(consumer, next(consumer, "0"));
    for (int64_t end = now_ms() + 20000; proxy_cuts(&proxy) == 0;)
        assert_true(now_ms() < end);
    return consumer;
}

static void close_all(dueq_consumer *consumer) {
    dueq_consumer_close(consumer);
    jobs_close(jobs);
    proxy_stop(&proxy);
    jobs = jobs_open(server.url);
}

static void test_consumer_stop_sends_what_the_heartbeat_is_sending(void **state) {
    (void)state;
    const enum cut cuts[] = {HANG_BEFORE, HANG_REQUEST};
    for (size_t i = 0; i < 2; i++) {
        run_command(&server, "FLUSHALL");
        dueq_consumer *consumer = open_consumer_with_an_ack_that_hangs(cuts[i], "?timeout=60s");
        assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
        assert_int_equal(dueq_consumer_lost(consumer), 0);
        close_all(consumer);
        assert_gone(1);
    }
}

static void test_consumer_stop_tells_that_an_ack_was_not_sent(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer_with_an_ack_that_hangs(HANG_BEFORE, "?timeout=1s");
    proxy_cut(&proxy, HANG_BEFORE, "EVALSHA", 1000);
    assert_status(jobs.client, TIMEOUT, dueq_consumer_stop(consumer));
    close_all(consumer);
    assert_int_equal(counts_of(jobs.queue).acked, 0);
}

static void test_consumer_does_not_deliver_what_was_cancelled(void **state) {
    (void)state;
    const dueq_consumer_options ways[] = {prefetching(5), unkept(5, 60000)};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        run_command(&server, "FLUSHALL");
        for (const char *const *name = (const char *const[]){"0", "1", "2", "3", "4", NULL}; *name;
             name++)
            push_named(*name);
        dueq_consumer *consumer = open_consumer(ways[i]);
        const dueq_message *message = next(consumer, "0");
        assert_status(jobs.client, OK,
                      dueq_extend(jobs.queue, &message->ticket, 1, 60000, NULL)); /* loads it */
        cancel_leased("1");
        cancel_leased("3");
        pass();
        long long before = scripts_run();
        message = next(consumer, "2");
        assert_int_equal(scripts_run() - before, 1); /* for all of them */
        assert_int_equal(message->attempt, 1);
        next(consumer, "4");
        assert_int_equal(scripts_run() - before, 1);
        assert_int_equal(dueq_consumer_lost(consumer), 2);
        stop(consumer);
    }
}

static void test_consumer_waits_where_all_in_hand_was_cancelled(void **state) {
    (void)state;
    push_named("0");
    push_named("1");
    dueq_consumer *consumer = open_consumer(prefetching(2));
    ack(consumer, next(consumer, "0"));
    cancel_leased("1");
    pass();
    push_body(jobs.queue, "2", 500, NULL);
    ack(consumer, next(consumer, "2"));
    assert_empty(consumer);
    stop(consumer);
    assert_gone(2);
}

static void test_consumer_tells_that_it_cannot_ask(void **state) {
    (void)state;
    const dueq_message *message;
    push_numbered(jobs.queue, 0, 2);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    next(consumer, "0");
    pass();
    run_command(&server, "RENAME dueq:{jobs}:leased kept");
    run_command(&server, "SET dueq:{jobs}:leased foreign");
    assert_status(jobs.client, WRONG_TYPE, dueq_consumer_next(consumer, 0, &message, NULL));
    run_command(&server, "RENAME kept dueq:{jobs}:leased");
    next(consumer, "1");
    stop(consumer);
}

/*
 * A thread that starts may hold the sanitizer's allocator, and a child of then would hold it for
 * ever.
 */
static void await_heartbeat(dueq_consumer *consumer) {
    for (bool waits = false; !waits; sched_yield()) {
        pthread_mutex_lock(&consumer->leases->lock);
        waits = consumer->leases->wake_ms > 0;
        pthread_mutex_unlock(&consumer->leases->lock);
    }
}

static void test_consumer_after_fork_is_the_childs_own(void **state) {
    (void)state;
    push_numbered(jobs.queue, 0, 3);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    const dueq_message *message = next(consumer, "0");
    await_heartbeat(consumer);
    pid_t child = fork();
    if (child == 0) {
        /* The second is the parent's, which has prefetched it. */
        const dueq_message *own;
        dueq_status status = dueq_consumer_next(consumer, 0, &own, NULL);
        bool right = status == DUEQ_OK && *(const char *)own->body.data == '2' &&
                     !dueq_consumer_ack(consumer, own->ticket) && !dueq_consumer_stop(consumer);
        dueq_consumer_close(consumer);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
    ack(consumer, message);
    ack(consumer, next(consumer, "1"));
    stop(consumer);
    assert_gone(3);
}

/* What is delivered and not settled */

static void assert_warns(bool warns) {
    const char *warning = dueq_warning(jobs.client);
    assert_int_equal(warning != NULL, warns);
    if (warns) {
        assert_non_null(strstr(warning, "jobs: "));
        assert_non_null(strstr(warning, "ack, retry or release"));
    }
}

static void test_consumer_warns_once_of_what_nobody_settles(void **state) {
    (void)state;
    push_numbered(jobs.queue, 0, 6);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    next(consumer, "0");
    assert_warns(false);
    next(consumer, "1");
    assert_warns(true);
    next(consumer, "2");
    assert_warns(false);
    stop(consumer);
}

static void test_consumer_does_not_warn_of_what_is_settled(void **state) {
    (void)state;
    dueq_message kept;
    push_numbered(jobs.queue, 0, 6);
    dueq_consumer *consumer = open_consumer(prefetching(3));
    ack(consumer, next(consumer, "0"));
    kept = *next(consumer, "1");
    assert_status(jobs.client, OK, dueq_consumer_retry(consumer, kept.ticket, 60000, BYTES("why")));
    kept = *next(consumer, "2");
    dueq_consumer_forget(consumer, kept.ticket);
    next(consumer, "3");
    assert_warns(false);
    stop(consumer);
}

static void test_consumer_does_not_warn_of_its_concurrency(void **state) {
    (void)state;
    dueq_consumer_options options = prefetching(2);
    options.concurrency = 2;
    push_numbered(jobs.queue, 0, 6);
    dueq_consumer *two = open_consumer(options);
    next(two, "0");
    next(two, "1");
    next(two, "2");
    assert_warns(false);
    next(two, "3");
    assert_warns(true);
    stop(two);
    options.concurrency = 0;
    dueq_consumer *any = open_consumer(options);
    next(any, "4");
    next(any, "5");
    assert_warns(false);
    stop(any);
}

static void test_consumer_disown_gives_back_what_nobody_settled(void **state) {
    (void)state;
    dueq_queue *other, *both[2] = {jobs.queue};
    const dueq_message *message;
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_queue_open(jobs.client, "other", 5, &other));
    both[1] = other;
    push_numbered(jobs.queue, 0, 4);
    push_numbered(other, 0, 2);
    dueq_consumer_options options = prefetching(2);
    options.concurrency = 0;
    dueq_consumer *consumer = open_consumer_of(both, 2, options);
    ack(consumer, next(consumer, "0"));
    for (int i = 0; i < 4; i++)
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    assert_int_equal(counts_of(jobs.queue).leased + counts_of(other).leased, 4);
    dueq_consumer_disown(consumer);
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    stop(consumer);
    assert_int_equal(counts_of(jobs.queue).leased + counts_of(other).leased, 0);
    assert_int_equal(counts_of(jobs.queue).ready, 3);
    assert_int_equal(counts_of(other).ready, 2);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 0, 0, &result));
    message = dueq_result_message(result, 0);
    assert_memory_equal(message->body.data, "1", 1);
    assert_int_equal(message->attempt, 1);
    assert_int_equal(message->crashes, 0);
    dueq_result_free(result);
    dueq_queue_close(other);
}

static void test_consumer_refuses_options(void **state) {
    (void)state;
    dueq_consumer *consumer;
    enum { SIZE = sizeof(dueq_consumer_options) };
    const dueq_consumer_options bad[] = {
        {SIZE, .prefetch = 0},
        {SIZE, .prefetch = DUEQ_MAX_BATCH + 1},
        {SIZE, .prefetch = 1, .lease_ms = -1},
        {SIZE, .prefetch = 1, .max_run_ms = -1},
        {SIZE, .prefetch = 1, .lease_ms = 10, .max_run_ms = 1000},
        {SIZE, .prefetch = 1, .order = (dueq_order)7},
        {SIZE, .prefetch = 1, .slack_ms = -1},
        {SIZE, .prefetch = 1, .slack_ms = DUEQ_MAX_SLACK_MS + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(jobs.client, INVALID, dueq_consumer_open(&jobs.queue, 1, &bad[i], &consumer));
        assert_null(consumer);
        assert_true(strlen(dueq_error_text(jobs.client)) > 0);
    }
    dueq_consumer_close(NULL);
}

static void test_consumer_refuses_what_is_no_ticket(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(prefetching(1));
    assert_status(jobs.client, INVALID, dueq_consumer_ack(consumer, BYTES("nonsense")));
    assert_status(jobs.client, INVALID,
                  dueq_consumer_retry(consumer, BYTES("nonsense"), 0, BYTES("")));
    stop(consumer);
}

static void test_consumer_closed_leaves_the_client_usable(void **state) {
    (void)state;
    dueq_consumer *consumer = open_consumer(prefetching(1));
    assert_int_equal(dueq_consumer_submit(consumer, DUEQ_FOREVER), DUEQ_PENDING);
    pump_until_blocked(jobs.client, 1);
    dueq_consumer_close(consumer);
    push_numbered(jobs.queue, 0, 1);
    assert_int_equal(counts_of(jobs.queue).ready, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_consumer_makes_one_round_trip_for_each),
        TEST(test_consumer_prefetch_makes_one_for_many),
        TEST(test_consumer_takes_what_crashed_when_it_holds_nothing_else),
        TEST(test_consumer_waits_for_a_message),
        TEST(test_consumer_does_not_block_in_between),
        TEST(test_consumer_finds_what_came_in_between),
        TEST(test_consumer_with_slack_takes_all_that_falls_due_in_it),
        TEST(test_consumer_stop_gives_back_what_is_in_hand_uncounted),
        TEST(test_consumer_stop_ends_a_wait),
        TEST(test_consumer_stop_gives_back_what_was_on_its_way),
        TEST(test_consumer_retry_goes_along),
        TEST(test_consumer_retry_to_its_end_in_another_queue),
        TEST(test_consumer_of_several_queues_settles_in_each),
        TEST(test_consumer_tells_of_a_lost_lease),
        TEST(test_consumer_does_not_hand_out_what_it_lost),
        TEST(test_consumer_sends_a_note_again_after_a_failure),
        TEST(test_consumer_cut_settles_and_reserves_once),
        TEST(test_consumer_stop_sends_what_the_heartbeat_is_sending),
        TEST(test_consumer_stop_tells_that_an_ack_was_not_sent),
        TEST(test_consumer_does_not_deliver_what_was_cancelled),
        TEST(test_consumer_waits_where_all_in_hand_was_cancelled),
        TEST(test_consumer_tells_that_it_cannot_ask),
        TEST(test_consumer_after_fork_is_the_childs_own),
        TEST(test_consumer_warns_once_of_what_nobody_settles),
        TEST(test_consumer_does_not_warn_of_what_is_settled),
        TEST(test_consumer_does_not_warn_of_its_concurrency),
        TEST(test_consumer_disown_gives_back_what_nobody_settled),
        TEST(test_consumer_refuses_options),
        TEST(test_consumer_refuses_what_is_no_ticket),
        TEST(test_consumer_closed_leaves_the_client_usable),
    };
    return run_on_server(tests, NULL);
}
