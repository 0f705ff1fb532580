/*
 * How late messages are and how long they run: what consumers measure, and what the queue keeps of
 * it.
 */
#include <time.h>
#include <unistd.h>

#include "consumer/consumer.h"
#include "fixture.h"

/* One that registers at once, and so tells what it measured when it is closed. */
static dueq_consumer *open_consumer(dueq_consumer_options options) {
    dueq_consumer *consumer;
    assert_status(jobs.client, OK, dueq_consumer_open(&jobs.queue, 1, &options, &consumer));
    consumer->presence.opened_ms -= 2000;
    return consumer;
}

static dueq_consumer_options prefetching(size_t count) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.prefetch = count;
    return options;
}

static void work(dueq_consumer *consumer, size_t count, int64_t run_ms) {
    for (size_t i = 0; i < count; i++) {
        const dueq_message *message;
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
        usleep((useconds_t)run_ms * 1000);
        assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
    }
}

static void stop(dueq_consumer *consumer) {
    int64_t until = now_ms() + 20000;
    while (command_number(&server, "HLEN dueq:{jobs}:described") == 0) {
        assert_true(now_ms() < until);
        usleep(10000);
    }
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

static dueq_timings timings(void) {
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 60, 0, &result));
    dueq_timings found = *dueq_result_timings(result);
    assert_null(dueq_result_counts(result));
    dueq_result_free(result);
    return found;
}

static int64_t count_of(const dueq_timing *timing) {
    int64_t count = 0;
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS; i++)
        count += timing->counts[i];
    return count;
}

static const int64_t day_ms = 86400000;

static void test_bounds_rise_by_a_tenth(void **state) {
    (void)state;
    for (size_t i = 0; i <= 20; i++)
        assert_int_equal(dueq_timing_bound_ms(i), i);
    for (size_t i = 21; i < DUEQ_TIMING_BUCKETS - 1; i++) {
        int64_t before = dueq_timing_bound_ms(i - 1), bound = dueq_timing_bound_ms(i);
        assert_true(bound > before);
        assert_in_range(bound, 0, (before + 1) * 11 / 10 + 1);
    }
    assert_int_equal(dueq_timing_bound_ms(DUEQ_TIMING_BUCKETS - 2), 100000000);
    assert_int_equal(dueq_timing_bound_ms(DUEQ_TIMING_BUCKETS - 1), 0);
    assert_int_equal(dueq_timing_bound_ms(SIZE_MAX), 0);
    /* Those of the histograms in `dueq metrics`. */
    static const int64_t leads[] = {1, 2, 5};
    for (int64_t unit = 1; unit <= 10000000; unit *= 10)
        for (size_t lead = 0; lead < 3; lead++) {
            size_t bucket = 1;
            while (bucket < DUEQ_TIMING_BUCKETS - 1 &&
                   dueq_timing_bound_ms(bucket) != leads[lead] * unit)
                bucket++;
            assert_true(bucket < DUEQ_TIMING_BUCKETS - 1);
        }
}

static void test_times_are_counted_up_to_their_bound(void **state) {
    (void)state;
    dueq_timing timing = {0};
    size_t bucket = 0;
    for (int64_t ms = 0; ms <= 110000000; ms += ms < 300000 ? 1 : 977) {
        while (bucket < DUEQ_TIMING_BUCKETS - 1 && ms > dueq_timing_bound_ms(bucket))
            bucket++;
        int64_t before = timing.counts[bucket], sum = timing.sum_ms;
        dueq__timing_add(&timing, ms);
        assert_int_equal(timing.counts[bucket], before + 1);
        assert_int_equal(timing.sum_ms, sum + ms);
    }
    int64_t before = timing.counts[0], sum = timing.sum_ms;
    dueq__timing_add(&timing, -5);
    assert_int_equal(timing.counts[0], before + 1);
    assert_int_equal(timing.sum_ms, sum);
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS - 1; i++) {
        before = timing.counts[i];
        dueq__timing_add(&timing, dueq_timing_bound_ms(i));
        assert_int_equal(timing.counts[i], before + 1);
    }
    before = timing.counts[DUEQ_TIMING_BUCKETS - 1];
    dueq__timing_add(&timing, DUEQ_MAX_TIME_MS);
    assert_int_equal(timing.counts[DUEQ_TIMING_BUCKETS - 1], before + 1);
}

static void assert_within_5_percent(int64_t found, int64_t truth) {
    if (llabs(found - truth) * 100 > 5 * truth)
        fail_msg("%lld is not %lld", (long long)found, (long long)truth);
}

static void test_quantiles_are_within_5_percent_up_to_a_day(void **state) {
    (void)state;
    dueq_timing timing = {0};
    assert_int_equal(dueq__timing_quantile(&timing, 0.5), -1);
    for (int64_t ms = 0; ms <= day_ms; ms += ms < 300000 ? 1 : 977) {
        dueq_timing one = {0};
        dueq__timing_add(&one, ms);
        assert_within_5_percent(dueq__timing_quantile(&one, 0.5), ms);
    }
    for (size_t i = 0; i < 98; i++)
        dueq__timing_add(&timing, 15);
    for (size_t i = 0; i < 2; i++)
        dueq__timing_add(&timing, 700);
    assert_int_equal(dueq__timing_quantile(&timing, 0.5), 15);
    assert_int_equal(dueq__timing_quantile(&timing, 0.98), 15);
    assert_within_5_percent(dueq__timing_quantile(&timing, 0.99), 700);
    dueq_timing long_ones = {.counts = {[DUEQ_TIMING_BUCKETS - 1] = 3}};
    assert_int_equal(dueq__timing_quantile(&long_ones, 0.5), 100000000);
}

static void measure(dueq_queue *queue, const dueq_timings *measured) {
    dueq_status status = dueq__measure_submit(queue, measured);
    if (status == DUEQ_PENDING)
        status = dueq_wait(jobs.client, -1);
    assert_status(jobs.client, OK, status);
    dueq_take(jobs.client, NULL);
}

/* What many consumers say, in every minute and since ever. */
static void test_rates_are_within_5_percent_of_what_was_measured(void **state) {
    (void)state;
    static const int64_t truths[] = {0, 1, 78, 600000, 23 * 3600000};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const char name[] = {'q', (char)('0' + i), '\0'};
        dueq_queue *queue;
        assert_status(jobs.client, OK, dueq_queue_open(jobs.client, name, 2, &queue));
        push_body(queue, "x", 0, NULL);
        for (int k = 0; k < 200; k++) {
            dueq_timings measured = {0};
            dueq__timing_add(&measured.run, truths[i]);
            dueq__timing_add(&measured.late, truths[i] / 2);
            measure(queue, &measured);
        }
        dueq_result *result;
        assert_status(jobs.client, OK, dueq_rates(queue, 60, 0, &result));
        const dueq_timings *all = dueq_result_timings(result);
        assert_int_equal(count_of(&all->run), 200);
        assert_int_equal(all->run.sum_ms, 200 * truths[i]);
        assert_int_equal(all->late.sum_ms, 200 * (truths[i] / 2));
        bool found = false;
        for (size_t k = 0; k < dueq_result_count(result); k++) {
            const dueq_rate *rate = dueq_result_rate(result, k);
            if (rate->run_p50_ms < 0)
                continue;
            found = true;
            assert_within_5_percent(rate->run_p50_ms, truths[i]);
            assert_within_5_percent(rate->run_p99_ms, truths[i]);
            assert_within_5_percent(rate->late_p50_ms, truths[i] / 2);
            assert_within_5_percent(rate->late_p99_ms, truths[i] / 2);
        }
        assert_true(found);
        dueq_result_free(result);
        assert_in_range(command_number(&server, "HSTRLEN dueq:{%s}:timings total", name), 1, 620);
        dueq_queue_close(queue);
    }
}

/*
 * Many sizes at once: a text of many words is added up now and then, not each time, and nothing is
 * lost.
 */
static void test_times_of_all_sizes_add_up(void **state) {
    (void)state;
    dueq_timings all = {0};
    int64_t summed = 0, before = 0;
    push_body(jobs.queue, "x", 0, NULL);
    for (int i = 0; i < 400; i++) {
        dueq_timings measured = {0};
        for (int k = 0; k < 3; k++) {
            int64_t ms = (int64_t)(i * 37 + k * 11) * (i * 37 + k * 11) % day_ms;
            dueq__timing_add(&measured.run, ms);
            dueq__timing_add(&measured.late, ms / 3);
        }
        dueq__timings_add(&all, &measured);
        measure(jobs.queue, &measured);
        int64_t size = command_number(&server, "HSTRLEN dueq:{jobs}:timings total");
        summed += size < before;
        before = size;
    }
    dueq_timings found = timings();
    assert_memory_equal(&found, &all, sizeof all);
    assert_in_range(summed, 1, 100);
    assert_in_range(before, 600, 4000);
}

static void test_what_is_no_timing_is_left_out(void **state) {
    (void)state;
    const char *const texts[] = {"",       " ",    "l",    "l1",    "l1:",  "l1:-1",
                                 "l196:1", "x1:1", "l1:x", "l1:1x", "l:1x", "l1:12345678901234567",
                                 "l-1:1",  "1:1",  "ll:1", "ls:1",  "l:-1"};
    dueq_timings found = {0}, none = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dueq__timings_read(&found, (dueq_bytes){texts[i], strlen(texts[i])});
        assert_memory_equal(&found, &none, sizeof none);
    }
    const char *good = "l1:2 x r195:3 r:9 l1:5";
    dueq__timings_read(&found, (dueq_bytes){good, strlen(good)});
    assert_int_equal(found.late.counts[1], 7);
    assert_int_equal(found.run.counts[195], 3);
    assert_int_equal(found.run.sum_ms, 9);
}

static void test_run_times_are_of_every_message(void **state) {
    (void)state;
    const dueq_message *message;
    for (int i = 0; i < 5; i++)
        push_body(jobs.queue, "x", 0, NULL);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    work(consumer, 3, 30);
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    usleep(300000);
    assert_status(jobs.client, OK,
                  dueq_consumer_retry(consumer, message->ticket, 60000, (dueq_bytes){"", 0}));
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    assert_status(jobs.client, OK, dueq_release(jobs.queue, &message->ticket, 1, 60000, NULL));
    dueq_consumer_forget(consumer, message->ticket);
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.run), 5);
    assert_true(found.run.sum_ms >= 3 * 30 + 300);
    int64_t brief = 0;
    for (size_t i = 0; dueq_timing_bound_ms(i) <= 20; i++)
        brief += found.run.counts[i];
    assert_in_range(brief, 0, 1); /* the one that was released at once */
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 60, 0, &result));
    int64_t slowest = -1;
    for (size_t i = 0; i < dueq_result_count(result); i++)
        if (dueq_result_rate(result, i)->run_p99_ms > slowest)
            slowest = dueq_result_rate(result, i)->run_p99_ms;
    assert_true(slowest > 200);
    dueq_result_free(result);
}

static void test_lateness_is_since_a_message_was_due(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        push_body(jobs.queue, "x", 300, NULL);
    usleep(1000000);
    dueq_consumer *consumer = open_consumer(prefetching(3));
    work(consumer, 3, 0);
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.late), 3);
    assert_in_range(found.late.sum_ms, 3 * 650, 3 * 20000);
}

static void test_lateness_of_what_was_pushed_ready_is_since_its_push(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        push_body(jobs.queue, "x", 0, NULL);
    usleep(500000);
    dueq_consumer *consumer = open_consumer(prefetching(3));
    work(consumer, 3, 0);
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.late), 3);
    assert_in_range(found.late.sum_ms, 3 * 450, 3 * 20000);
}

static void test_lateness_grows_while_a_message_is_prefetched(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        push_body(jobs.queue, "x", 0, NULL);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    work(consumer, 2, 500);
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.late), 2);
    assert_in_range(found.late.sum_ms, 450, 20000);
}

static void test_lateness_is_asked_for_of_ten_of_a_batch(void **state) {
    (void)state;
    for (int i = 0; i < 50; i++)
        push_body(jobs.queue, "x", i % 2, NULL);
    usleep(50000);
    dueq_consumer *consumer = open_consumer(prefetching(50));
    work(consumer, 50, 0);
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.late), 10);
}

static void test_lateness_needs_no_rare_reserve(void **state) {
    (void)state;
    const dueq_message *message;
    long long counted;
    time_t minute;
    do { /* the first reserve of a minute is full */
        minute = time(NULL) / 60;
        for (int i = 0; i < 4; i++)
            push_body(jobs.queue, "x", 0, NULL);
        dueq_consumer *consumer = open_consumer(prefetching(1));
        work(consumer, 3, 0); /* and so are two of a new queue */
        stop(consumer);
        counted = calls_of(&server, "ltrim"); /* the full one alone runs this for one message */
        assert_true(counted > 0);
        consumer = open_consumer(prefetching(1));
        assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
        counted = calls_of(&server, "ltrim") - counted;
        dueq_consumer_ack(consumer, message->ticket);
        stop(consumer);
    } while (time(NULL) / 60 != minute);
    dueq_timings found = timings();
    assert_int_equal(counted, 0);
    assert_in_range(count_of(&found.late), 2, 20);
}

/*
 * What was delayed, and moved to the line by somebody else's reserve: late since the minute that is
 * known, no earlier.
 */
static void test_lateness_in_the_line_is_not_said_too_high(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        push_body(jobs.queue, "x", 200, NULL);
    usleep(250000);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 0, 0, &result));
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "LLEN dueq:{jobs}:ready"), 2);
    dueq_consumer *consumer = open_consumer(prefetching(2));
    work(consumer, 2, 0);
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.late), 2);
    assert_in_range(found.late.sum_ms, 0, 2 * 20000);
}

static void test_lateness_is_asked_for_once_a_second(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++)
        push_body(jobs.queue, "x", 0, NULL);
    dueq_consumer *consumer = open_consumer(prefetching(1));
    int64_t began = now_ms();
    work(consumer, 20, 1);
    int64_t seconds = (now_ms() - began) / 1000 + 1;
    stop(consumer);
    dueq_timings found = timings();
    assert_int_equal(count_of(&found.run), 20);
    assert_in_range(count_of(&found.late), 1, seconds);
}

static void test_what_is_of_a_round_before_is_over(void **state) {
    (void)state;
    push_body(jobs.queue, "x", 0, NULL);
    int64_t minute = time(NULL) / 60, hour = minute / 60;
    for (int64_t i = 0; i < 2; i++) {
        run_command(&server, "HSET dueq:{jobs}:timings m%lld %s", (long long)((minute + i) % 360),
                    "1 r3:1000 r:9");
        run_command(&server, "HSET dueq:{jobs}:timings h%lld %s", (long long)((hour + i) % 336),
                    "1 r3:1000 r:9");
    }
    dueq_timings measured = {0};
    dueq__timing_add(&measured.run, 3);
    for (int i = 0; i < 2; i++)
        assert_status(jobs.client, OK,
                      dueq__measure_submit(jobs.queue, &measured) == DUEQ_PENDING
                          ? dueq_wait(jobs.client, -1)
                          : DUEQ_INVALID);
    assert_status(jobs.client, OK, dueq_take(jobs.client, NULL));
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 0, 24, &result));
    int64_t slowest = -1;
    for (size_t i = 0; i < dueq_result_count(result); i++)
        if (dueq_result_rate(result, i)->run_p99_ms > slowest)
            slowest = dueq_result_rate(result, i)->run_p99_ms;
    assert_int_equal(slowest, 3);
    assert_int_equal(dueq_result_timings(result)->run.counts[3], 2);
    dueq_result_free(result);
    assert_true(command_number(&server, "HLEN dueq:{jobs}:timings") <= 5);
}

static void test_nothing_is_measured_of_a_queue_that_is_none(void **state) {
    (void)state;
    dueq_timings measured = {0};
    dueq__timing_add(&measured.run, 3);
    assert_int_equal(dueq__measure_submit(jobs.queue, &measured), DUEQ_PENDING);
    assert_int_equal(dueq_wait(jobs.client, -1), DUEQ_EMPTY);
    dueq_take(jobs.client, NULL);
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
}

static void test_timings_of_another_shape_are_none(void **state) {
    (void)state;
    dueq_result *result;
    push_body(jobs.queue, "x", 0, NULL);
    run_command(&server, "HSET dueq:{jobs}:timings total %s m1 %s", "what else", "\xff");
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 60, 0, &result));
    assert_int_equal(count_of(&dueq_result_timings(result)->run), 0);
    assert_int_equal(dueq_result_rate(result, 0)->run_p50_ms, -1);
    dueq_result_free(result);
    run_command(&server, "DEL dueq:{jobs}:timings");
    run_command(&server, "SET dueq:{jobs}:timings x");
    assert_status(jobs.client, WRONG_TYPE, dueq_rates(jobs.queue, 60, 0, &result));
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up_jobs, tear_down_jobs)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(test_bounds_rise_by_a_tenth),
        WITH(test_times_are_counted_up_to_their_bound),
        WITH(test_quantiles_are_within_5_percent_up_to_a_day),
        WITH(test_rates_are_within_5_percent_of_what_was_measured),
        WITH(test_times_of_all_sizes_add_up),
        WITH(test_what_is_no_timing_is_left_out),
        WITH(test_run_times_are_of_every_message),
        WITH(test_lateness_is_since_a_message_was_due),
        WITH(test_lateness_of_what_was_pushed_ready_is_since_its_push),
        WITH(test_lateness_grows_while_a_message_is_prefetched),
        WITH(test_lateness_in_the_line_is_not_said_too_high),
        WITH(test_lateness_is_asked_for_once_a_second),
        WITH(test_lateness_is_asked_for_of_ten_of_a_batch),
        WITH(test_lateness_needs_no_rare_reserve),
        WITH(test_what_is_of_a_round_before_is_over),
        WITH(test_nothing_is_measured_of_a_queue_that_is_none),
        WITH(test_timings_of_another_shape_are_none),
    };
    return run_on_server(tests, NULL);
}
