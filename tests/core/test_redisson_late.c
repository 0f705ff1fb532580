/* Redisson's delayed queues: how late a value is in the destination. Shows the figures. */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "redisson_fixture.h"

static int64_t wall_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void sleep_until(int64_t us) {
    int64_t left = us - wall_us();
    if (left > 0)
        nanosleep(&(struct timespec){left / 1000000, left % 1000000 * 1000}, NULL);
}

/* A client of a process of its own; it ends with the process. */
static dueq_redisson *own_queue(void) {
    dueq_client *client;
    dueq_redisson *queue;
    if (dueq_open(server.url, &client) ||
        dueq_redisson_open(client, "orders", 6, DUEQ_CODEC_STRING, DUEQ_LAYOUT_FOUND, &queue))
        _exit(1);
    return queue;
}

/* Transfers until nothing was due for long. */
static pid_t transfer_start(void) {
    pid_t agent = fork();
    assert_true(agent >= 0);
    if (agent)
        return agent;
    dueq_redisson *queue = own_queue();
    dueq_status status;
    do
        status = dueq_redisson_transfer(queue, 100, 3000, NULL);
    while (!status);
    _exit(status == DUEQ_EMPTY ? 0 : 1);
}

/* Offers `count` values, one each gap_us, whose text is when they are due: within spread_ms. */
static pid_t offer_start(int count, int64_t gap_us, int spread_ms) {
    pid_t producer = fork();
    assert_true(producer >= 0);
    if (producer)
        return producer;
    dueq_redisson *queue = own_queue();
    int64_t start = wall_us();
    for (int i = 0; i < count; i++) {
        char text[32];
        sleep_until(start + i * gap_us);
        dueq_offer offer = string_offer(text, 0);
        offer.at_ms = wall_us() / 1000 + 20 + (i * 7919) % spread_ms;
        snprintf(text, sizeof text, "%" PRId64, offer.at_ms);
        offer.value.bytes = BYTES(text);
        if (dueq_redisson_offer(queue, &offer, 1))
            _exit(1);
    }
    _exit(0);
}

static int64_t due_ms(const dueq_value *value) {
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)value->bytes.size, (const char *)value->bytes.data);
    return atoll(text);
}

static int ascending(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

static void measure(const char *name, int count, int64_t gap_us, int spread_ms) {
    static int64_t late_us[10000];
    pid_t agent = transfer_start();
    await_subscribed(1);
    pid_t producer = offer_start(count, gap_us, spread_ms);
    for (int got = 0; got < count;) {
        dueq_result *result;
        assert_status(jobs.client, OK, dueq_redisson_take(orders, 200, 20000, &result));
        int64_t now = wall_us();
        for (size_t i = 0; i < dueq_result_count(result); i++)
            late_us[got++] = now - due_ms(dueq_result_value(result, i)) * 1000;
        dueq_result_free(result);
    }
    assert_int_equal(child_end(producer), 0);
    assert_int_equal(child_end(agent), 0);
    qsort(late_us, (size_t)count, sizeof *late_us, ascending);
    print_message("late, %s: p50 %.2f ms, p99 %.2f ms, most %.2f ms of %d\n", name,
                  (double)late_us[count / 2] / 1000, (double)late_us[count * 99 / 100] / 1000,
                  (double)late_us[count - 1] / 1000, count);
    assert_true(late_us[0] >= 0);
    assert_true(late_us[count / 2] < 1000000);
}

static void test_transfer_is_hardly_late_when_little_is_due(void **state) {
    (void)state;
    measure("30 a second", 200, 33333, 200);
}

static void test_transfer_is_hardly_late_under_500_offers_a_second(void **state) {
    (void)state;
    measure("500 a second", 3000, 2000, 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DELAYED_TEST(test_transfer_is_hardly_late_when_little_is_due),
        DELAYED_TEST(test_transfer_is_hardly_late_under_500_offers_a_second),
    };
    return run_on_server(tests, NULL);
}
