/*
 * Calls that wait live through outages of any length; what loses its connection again and again is
 * tried until its deadline.
 */
#include <signal.h>
#include <unistd.h>

#include "dueq_laravel.h"
#include "proxy.h"
#include "redisson_fixture.h"

/* A call has far less time than an outage lasts. */
#define CALL "?timeout=150ms"
#define OUTAGE_MS 700

/* Each way to wait, at once */

struct waits {
    dueq_client *client;
    dueq_queue *queue, *second;
    dueq_redisson *delayed;
    dueq_laravel *mails;
    dueq_consumer *consumer;
    dueq_status status;
    int64_t end_ms;
};

static dueq_status reserve(struct waits *by, int64_t timeout_ms) {
    return dueq_reserve_submit(by->queue, 1, timeout_ms, 0);
}

static dueq_status reserve_any(struct waits *by, int64_t timeout_ms) {
    dueq_queue *const queues[] = {by->second, by->queue};
    return dueq_reserve_any_submit(queues, 2, RESERVE(DUEQ_ROUND_ROBIN, 1, timeout_ms));
}

static dueq_status lock(struct waits *by, int64_t timeout_ms) {
    return dueq_lock_submit(by->queue, BYTES("taken"), 1000, timeout_ms);
}

static dueq_status take(struct waits *by, int64_t timeout_ms) {
    return dueq_redisson_take_submit(by->delayed, 1, timeout_ms);
}

static dueq_status transfer(struct waits *by, int64_t timeout_ms) {
    return dueq_redisson_transfer_submit(by->delayed, 1, timeout_ms);
}

static dueq_status pop(struct waits *by, int64_t timeout_ms) {
    return dueq_laravel_pop_submit(by->mails, 1, timeout_ms, 0);
}

static dueq_status migrate(struct waits *by, int64_t timeout_ms) {
    return dueq_laravel_migrate_submit(by->mails, 1, timeout_ms);
}

static dueq_status consume(struct waits *by, int64_t timeout_ms) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    if (!by->consumer)
        assert_status(by->client, OK, dueq_consumer_open(&by->queue, 1, &options, &by->consumer));
    return dueq_consumer_submit(by->consumer, timeout_ms);
}

static void give_message(struct waits *by) { push_body(by->queue, "x", 0, NULL); }

static void give_lock(struct waits *by) {
    (void)by;
    run_command(&server, "DEL dueq:{lock}:lock:taken");
    run_command(&server, "ZADD dueq:{lock}:lock_wake:taken 0 w");
}

static void give_value(struct waits *by) {
    (void)by;
    run_command(&server, "RPUSH take x");
}

static void give_offer(struct waits *by) { offer_text(by->delayed, "x", 0); }

static void give_job(struct waits *by) {
    dueq_laravel_draft draft = {.struct_size = sizeof(dueq_laravel_draft),
                                .payload = BYTES("{\"job\":\"A\",\"attempts\":0}")};
    assert_status(by->client, OK, dueq_laravel_push(by->mails, &draft, 1, NULL));
}

static void give_delayed_job(struct waits *by) {
    (void)by;
    run_command(&server, "ZADD queues:migrate:delayed 1 {\"job\":\"A\",\"attempts\":0}");
}

static const struct way {
    const char *name; /* and its queue's */
    dueq_status (*submit)(struct waits *by, int64_t timeout_ms);
    void (*give)(struct waits *by); /* what it waits for */
    size_t partitions;
    bool polls;   /* it has no blocking command */
    bool repeats; /* no harm is done if a lost request of it is run after its repeat */
} ways[] = {
    {"reserve", reserve, give_message, 0, false, true},
    {"reserve_any", reserve_any, give_message, 0, false, true},
    {"lock", lock, give_lock, 0, false, false},
    {"take", take, give_value, 0, false, false},
    {"transfer", transfer, give_offer, 0, true, true},
    {"pop", pop, give_job, 0, false, false},
    {"migrate", migrate, give_delayed_job, 0, true, true},
    {"consume", consume, give_message, 0, false, true},
    {"partitions", consume, give_message, 2, false, true},
};
#define WAYS (sizeof ways / sizeof *ways)

static struct waits open_waits(const struct way *way, const char *url) {
    struct waits by = {.client = open_client(url), .status = DUEQ_PENDING};
    dueq_bytes name = BYTES(way->name);
    if (way->partitions)
        assert_status(by.client, OK,
                      dueq_partitions_open(by.client, name.data, name.size, way->partitions,
                                           (dueq_bytes){0}, &by.queue));
    else
        by.queue = open_queue(by.client, way->name);
    by.second = open_queue(by.client, "second");
    by.delayed = open_delayed(by.client, way->name, DUEQ_LAYOUT_NEW);
    assert_status(by.client, OK,
                  dueq_laravel_open(by.client, name.data, name.size, (dueq_bytes){0}, &by.mails));
    return by;
}

static void close_waits(struct waits *by) {
    dueq_consumer_close(by->consumer);
    dueq_laravel_close(by->mails);
    dueq_redisson_close(by->delayed);
    dueq_queue_close(by->second);
    dueq_queue_close(by->queue);
    dueq_close(by->client);
}

static struct waits all[WAYS];

static void open_all(const char *url) {
    for (size_t i = 0; i < WAYS; i++) {
        all[i] = open_waits(&ways[i], url);
        /* It has reached the server, which has the scripts. */
        assert_int_equal(ways[i].submit(&all[i], 0), DUEQ_PENDING);
    }
}

static void close_all(void) {
    for (size_t i = 0; i < WAYS; i++)
        close_waits(&all[i]);
}

static dueq_status go_on(struct waits *by) {
    const dueq_message *message;
    dueq_status status = dueq_wait(by->client, 1);
    if (status != DUEQ_PENDING && !by->consumer)
        return dueq_take(by->client, NULL);
    return by->consumer ? dueq_consumer_take(by->consumer, &message, NULL) : status;
}

/* Moves all on, for so long or until they have all ended. */
static void go_on_all(int64_t for_ms) {
    size_t pending = WAYS;
    for (int64_t end = now_ms() + for_ms; pending && now_ms() < end;) {
        pending = 0;
        for (size_t i = 0; i < WAYS; i++) {
            if (all[i].status != DUEQ_PENDING)
                continue;
            all[i].status = go_on(&all[i]);
            all[i].end_ms = now_ms();
            pending += all[i].status == DUEQ_PENDING;
        }
    }
}

static void submit_all(int64_t timeout_ms) {
    for (size_t i = 0; i < WAYS; i++) {
        all[i].status = ways[i].submit(&all[i], timeout_ms);
        assert_int_equal(all[i].status, DUEQ_PENDING);
    }
}

static void assert_all(dueq_status expected) {
    bool good = true;
    for (size_t i = 0; i < WAYS; i++) {
        if (all[i].status == expected)
            continue;
        print_error("%s: %s: %s\n", ways[i].name, dueq_status_name(all[i].status),
                    dueq_error_text(all[i].client));
        good = false;
    }
    assert_true(good);
}

/* All wait, those that block in their blocks. */
static void settle_all(void) {
    size_t blocks = 0;
    for (size_t i = 0; i < WAYS; i++)
        blocks += !ways[i].polls;
    for (int64_t end = now_ms() + 20000;
         info_number(&server, "clients", "blocked_clients") < (long long)blocks;) {
        go_on_all(5);
        assert_true(now_ms() < end);
    }
    assert_all(DUEQ_PENDING);
}

static int set_up_waits(void **state) {
    set_up_jobs(state);
    run_command(&server, "SET dueq:{lock}:lock:taken another");
    open_all(url_with("", CALL));
    go_on_all(20000);
    return 0;
}

static int tear_down_waits(void **state) {
    close_all();
    return tear_down_jobs(state);
}

static void assert_all_get_theirs(void) {
    for (size_t i = 0; i < WAYS; i++) {
        struct waits other = open_waits(&ways[i], server.url);
        ways[i].give(&other);
        close_waits(&other);
    }
    go_on_all(20000);
    assert_all(DUEQ_OK);
}

static void test_waits_without_a_timeout_outlive_a_killed_server(void **state) {
    (void)state;
    submit_all(DUEQ_FOREVER);
    settle_all();
    server_kill(&server);
    go_on_all(OUTAGE_MS);
    assert_all(DUEQ_PENDING);
    server_restart(&server);
    assert_all_get_theirs();
}

static void test_waits_without_a_timeout_outlive_a_stopped_server(void **state) {
    (void)state;
    kill(server.pid, SIGSTOP);
    submit_all(DUEQ_FOREVER);
    go_on_all(OUTAGE_MS);
    kill(server.pid, SIGCONT);
    assert_all(DUEQ_PENDING);
    assert_all_get_theirs();
}

/* ... and never as if there were nothing. */
static void assert_all_failed(int64_t start, int64_t timeout_ms) {
    for (size_t i = 0; i < WAYS; i++) {
        if (!dueq_status_retriable(all[i].status))
            fail_msg("%s: %s", ways[i].name, dueq_status_name(all[i].status));
        assert_in_range(all[i].end_ms - start, timeout_ms - 1, timeout_ms + 5000);
    }
}

static void test_waits_end_at_their_timeout_with_the_error_of_the_outage(void **state) {
    (void)state;
    int64_t start = now_ms();
    submit_all(1500);
    settle_all();
    server_kill(&server);
    go_on_all(20000);
    assert_all_failed(start, 1500);
    /* Also those that begin when the server has been away for long. */
    start = now_ms();
    submit_all(300);
    go_on_all(20000);
    assert_all_failed(start, 300);
    server_restart(&server);
    kill(server.pid, SIGSTOP);
    start = now_ms();
    submit_all(400);
    go_on_all(20000);
    kill(server.pid, SIGCONT);
    assert_all_failed(start, 400);
}

static void test_waits_end_at_once_where_the_server_was_never_there(void **state) {
    (void)state;
    char url[64];
    int64_t start = now_ms();
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", free_port());
    for (size_t i = 0; i < WAYS; i++) {
        all[i] = open_waits(&ways[i], url);
        all[i].status = ways[i].submit(&all[i], DUEQ_FOREVER);
    }
    go_on_all(20000);
    assert_all(DUEQ_CONNECT);
    assert_true(now_ms() - start < 5000);
    close_all();
}

/* What a server refuses for good ends a wait also in the middle of an outage. */
static void test_waits_end_when_the_server_comes_back_with_another_password(void **state) {
    (void)state;
    submit_all(DUEQ_FOREVER);
    settle_all();
    server_kill(&server);
    size_t last = 0;
    while (server.options[last])
        last++;
    server.options[last] = "--requirepass";
    server.options[last + 1] = "secret";
    server_restart(&server);
    go_on_all(20000);
    assert_all(DUEQ_AUTH);
    server.options[last] = NULL;
    server_kill(&server);
    server_restart(&server);
}

/* It has nothing to settle, and nothing to say. */
static void test_consumers_stop_amid_an_outage_without_an_error(void **state) {
    (void)state;
    submit_all(DUEQ_FOREVER);
    settle_all();
    server_kill(&server);
    go_on_all(OUTAGE_MS);
    assert_all(DUEQ_PENDING);
    for (size_t i = 0; i < WAYS; i++)
        if (all[i].consumer)
            assert_status(all[i].client, OK, dueq_consumer_stop(all[i].consumer));
    server_restart(&server);
}

/* Connections that are closed */

static struct proxy proxy;

/* Its script is loaded by that. */
static struct jobs open_cut(const char *parameters) {
    char url[200];
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    snprintf(url, sizeof url, "unix://%s%s", proxy.socket, parameters);
    struct jobs cut = jobs_open(url);
    dueq_result *result;
    push_body(cut.queue, "first", 0, NULL);
    const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
    assert_status(cut.client, OK, dueq_ack(cut.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    return cut;
}

#define MANY_CUTS 6

static void test_push_and_reserve_go_on_however_often_their_connection_is_closed(void **state) {
    (void)state;
    dueq_result *result;
    proxy_start(&proxy, &server);
    struct jobs cut = open_cut("?timeout=20s");
    proxy_cut(&proxy, CUT_BEFORE, "EVALSHA", MANY_CUTS);
    push_body(cut.queue, "x", 0, NULL);
    assert_int_equal(proxy_cuts(&proxy), MANY_CUTS);
    /* Nor is an answer too large because it is large. */
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){calloc(1, 2 << 20), 2 << 20};
    draft.priority = DUEQ_HIGH;
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    free((void *)(uintptr_t)draft.body.data);
    proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", MANY_CUTS);
    const dueq_message *message = reserve_one(cut.queue, 30000, 0, &result);
    assert_int_equal(proxy_cuts(&proxy), MANY_CUTS);
    assert_int_equal(message->deliveries, 1);
    assert_int_equal(message->body.size, 2 << 20);
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:msg"), 2);
    jobs_close(cut);
    proxy_stop(&proxy);
}

/* A server whose connections are all closed is one that is away. */
static void test_calls_end_when_their_time_is_over_as_closed(void **state) {
    (void)state;
    proxy_start(&proxy, &server);
    struct jobs cut = open_cut("?timeout=2s");
    push_body(jobs.queue, "x", 0, NULL);
    proxy_cut(&proxy, CUT_REQUEST, "EVALSHA", 1000);
    int64_t start = now_ms();
    assert_status(cut.client, CLOSED, push_text(cut.queue, "x"));
    assert_in_range(now_ms() - start, 1999, 10000);
    start = now_ms();
    assert_status(cut.client, CLOSED, dueq_reserve(cut.queue, 1, 2000, 0, NULL));
    assert_in_range(now_ms() - start, 1999, 10000);
    jobs_close(cut);
    proxy_stop(&proxy);
}

/* Nobody can tell there whether the server reads a lost request yet. */
static void test_waits_go_on_where_client_commands_are_not_permitted(void **state) {
    (void)state;
    char url[200];
    run_command(&server, "ACL SETUSER plain on >secret ~* &* +@all -client");
    proxy_start(&proxy, &server);
    snprintf(url, sizeof url, "unix://plain:secret@%s", proxy.socket);
    for (size_t i = 0; i < WAYS; i++) {
        if (!ways[i].repeats)
            continue;
        struct waits by = open_waits(&ways[i], url), other = open_waits(&ways[i], server.url);
        proxy_cut(&proxy, CUT_NOTHING, "", 0);
        by.status = ways[i].submit(&by, 0);
        while (by.status == DUEQ_PENDING)
            by.status = go_on(&by);
        assert_int_equal(by.status, DUEQ_EMPTY);
        proxy_cut(&proxy, CUT_BEFORE, "EVALSHA", 1);
        ways[i].give(&other);
        by.status = ways[i].submit(&by, 20000);
        while (by.status == DUEQ_PENDING)
            by.status = go_on(&by);
        assert_int_equal(proxy_cuts(&proxy), 1);
        if (by.status != DUEQ_OK)
            fail_msg("%s: %s", ways[i].name, dueq_error_text(by.client));
        close_waits(&by);
        close_waits(&other);
    }
    proxy_stop(&proxy);
    run_command(&server, "ACL DELUSER plain");
}

/*
 * The pauses of a long outage are not those of the next call, which tries at once, and then seldom.
 */
static void test_calls_in_a_loop_try_at_once_and_seldom(void **state) {
    (void)state;
    proxy_start(&proxy, &server);
    struct jobs cut = open_cut("?timeout=600ms");
    proxy_cut(&proxy, CUT_BEFORE, "EVALSHA", 1000);
    /* The first calls take the pause between two tries to its longest. */
    for (int i = 0; i < 4; i++) {
        int before = proxy_cuts(&proxy);
        dueq_status status = push_text(cut.queue, "x");
        /* On a busy machine the end may come before the proxy has cut the last try. */
        assert_true(status == DUEQ_CLOSED || status == DUEQ_TIMEOUT);
        if (i >= 2)
            assert_in_range(proxy_cuts(&proxy) - before, 1, 3);
    }
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    assert_status(cut.client, OK, push_text(cut.queue, "x"));
    jobs_close(cut);
    proxy_stop(&proxy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define WAITS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_waits, tear_down_waits)
        WAITS_TEST(test_waits_without_a_timeout_outlive_a_killed_server),
        WAITS_TEST(test_waits_without_a_timeout_outlive_a_stopped_server),
        WAITS_TEST(test_waits_end_at_their_timeout_with_the_error_of_the_outage),
        TEST(test_waits_end_at_once_where_the_server_was_never_there),
        WAITS_TEST(test_waits_end_when_the_server_comes_back_with_another_password),
        WAITS_TEST(test_consumers_stop_amid_an_outage_without_an_error),
        TEST(test_push_and_reserve_go_on_however_often_their_connection_is_closed),
        TEST(test_calls_end_when_their_time_is_over_as_closed),
        TEST(test_waits_go_on_where_client_commands_are_not_permitted),
        TEST(test_calls_in_a_loop_try_at_once_and_seldom),
    };
    return run_on_server(tests, NULL);
}
