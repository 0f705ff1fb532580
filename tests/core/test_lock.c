/*
 * Locks: one owner at a time, who waits gets it as soon as it is free, and nobody else can give it
 * up.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define NAME BYTES("printer")

static struct jobs other; /* a client beside the one that waits */

static int set_up_lock(void **state) {
    set_up_jobs(state);
    other = jobs_open(server.url);
    return 0;
}

static int tear_down_lock(void **state) {
    jobs_close(other);
    return tear_down_jobs(state);
}

/* Takes the lock without waiting; `token` keeps its owner's token. */
static dueq_bytes take(struct jobs by, int64_t ttl_ms, char token[64]) {
    dueq_result *result;
    assert_status(by.client, OK, dueq_lock(by.queue, NAME, ttl_ms, 0, &result));
    assert_int_equal(dueq_result_count(result), 1);
    dueq_bytes id = dueq_result_id(result, 0);
    assert_in_range(id.size, 1, 63);
    memcpy(token, id.data, id.size);
    token[id.size] = '\0';
    dueq_result_free(result);
    return BYTES(token);
}

static void test_lock_has_one_owner(void **state) {
    (void)state;
    char first[64], second[64];
    dueq_result *result;
    dueq_bytes token = take(jobs, 60000, first);
    assert_status(other.client, TAKEN, dueq_lock(other.queue, NAME, 1000, 0, &result));
    assert_int_equal(dueq_result_count(result), 0);
    dueq_result_free(result);
    assert_status(jobs.client, TAKEN, dueq_lock(jobs.queue, NAME, 1000, 0, NULL));
    assert_status(jobs.client, OK, dueq_unlock(jobs.queue, NAME, token));
    assert_status(jobs.client, LEASE_LOST, dueq_unlock(jobs.queue, NAME, token));
    take(other, 60000, second);
    assert_string_not_equal(first, second);
}

static void test_lock_is_by_queue_and_name(void **state) {
    (void)state;
    char token[64];
    take(jobs, 60000, token);
    dueq_queue *elsewhere = open_queue(jobs.client, "elsewhere");
    assert_status(jobs.client, OK, dueq_lock(jobs.queue, BYTES("printer:2"), 60000, 0, NULL));
    assert_status(jobs.client, OK, dueq_lock(elsewhere, NAME, 60000, 0, NULL));
    dueq_queue_close(elsewhere);
}

static void test_lock_ends_by_itself(void **state) {
    (void)state;
    char token[64];
    dueq_bytes first = take(jobs, 300, token);
    int64_t start = now_ms();
    assert_status(other.client, OK, dueq_lock(other.queue, NAME, 60000, 20000, NULL));
    assert_in_range(now_ms() - start, 250, 2500);
    assert_status(jobs.client, LEASE_LOST, dueq_relock(jobs.queue, NAME, first, 60000));
    assert_status(jobs.client, LEASE_LOST, dueq_unlock(jobs.queue, NAME, first));
    assert_status(jobs.client, TAKEN, dueq_lock(jobs.queue, NAME, 1000, 0, NULL));
}

static void test_lock_waits_as_long_as_asked(void **state) {
    (void)state;
    char token[64];
    take(jobs, 60000, token);
    int64_t start = now_ms();
    assert_status(other.client, TAKEN, dueq_lock(other.queue, NAME, 1000, 400, NULL));
    assert_in_range(now_ms() - start, 399, 2500);
}

static void test_lock_is_got_at_the_unlock(void **state) {
    (void)state;
    char token[64];
    dueq_bytes owner = take(jobs, 60000, token);
    for (int i = 0; i < 20; i++) {
        dueq_result *result;
        assert_status(other.client, PENDING,
                      dueq_lock_submit(other.queue, NAME, 60000, DUEQ_FOREVER));
        pump_until_blocked(other.client, 1);
        int64_t start = now_ms();
        assert_status(jobs.client, OK, dueq_unlock(jobs.queue, NAME, owner));
        assert_status(other.client, OK, dueq_wait(other.client, 15000));
        assert_true(now_ms() - start < 2000);
        assert_status(other.client, OK, dueq_take(other.client, &result));
        assert_status(other.client, OK, dueq_unlock(other.queue, NAME, dueq_result_id(result, 0)));
        dueq_result_free(result);
        owner = take(jobs, 60000, token);
    }
}

static void test_relock_keeps_the_lock(void **state) {
    (void)state;
    char token[64];
    dueq_bytes owner = take(jobs, 300, token);
    assert_status(other.client, PENDING, dueq_lock_submit(other.queue, NAME, 60000, 1500));
    pump_until_blocked(other.client, 1);
    assert_status(jobs.client, OK, dueq_relock(jobs.queue, NAME, owner, 60000));
    assert_status(other.client, TAKEN, dueq_wait(other.client, 15000));
    assert_status(other.client, TAKEN, dueq_take(other.client, NULL));
    assert_status(jobs.client, LEASE_LOST, dueq_relock(jobs.queue, NAME, BYTES("somebody"), 60000));
    assert_status(jobs.client, LEASE_LOST, dueq_unlock(jobs.queue, NAME, BYTES("somebody")));
    assert_status(jobs.client, OK, dueq_unlock(jobs.queue, NAME, owner));
}

/*
 * Adds 1 to a number under the lock, in two steps that another could come between, `times` times.
 */
static void count_up(int times) {
    struct jobs own = jobs_open(server.url);
    for (int i = 0; i < times; i++) {
        dueq_result *result;
        assert_status(own.client, OK, dueq_lock(own.queue, NAME, 60000, 60000, &result));
        long long number = 0;
        redisReply *reply = command(&server, "GET number");
        if (reply->type == REDIS_REPLY_STRING)
            number = atoll(reply->str);
        freeReplyObject(reply);
        run_command(&server, "SET number %lld", number + 1);
        assert_status(own.client, OK, dueq_unlock(own.queue, NAME, dueq_result_id(result, 0)));
        dueq_result_free(result);
    }
    jobs_close(own);
}

static void test_lock_excludes_all_others(void **state) {
    (void)state;
    enum { PROCESSES = 4, TIMES = 100 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            count_up(TIMES);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(child_end(children[i]), 0);
    redisReply *reply = command(&server, "GET number");
    assert_int_equal(atoi(reply->str), PROCESSES * TIMES);
    freeReplyObject(reply);
}

static void test_lock_of_a_killed_owner_is_got_at_its_end(void **state) {
    (void)state;
    pid_t owner = fork();
    if (owner == 0) {
        struct jobs own = jobs_open(server.url);
        char token[64];
        take(own, 1000, token);
        run_command(&server, "SET owned 1");
        for (;;)
            pause();
    }
    while (command_number(&server, "EXISTS owned") == 0)
        ;
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    int64_t start = now_ms();
    assert_status(jobs.client, OK, dueq_lock(jobs.queue, NAME, 1000, 20000, NULL));
    assert_true(now_ms() - start < 4000);
}

static void test_lock_abandoned_while_waiting_leaves_the_turn_to_others(void **state) {
    (void)state;
    char token[64];
    dueq_bytes owner = take(other, 60000, token);
    assert_status(jobs.client, PENDING, dueq_lock_submit(jobs.queue, NAME, 60000, 60000));
    pump_until_blocked(jobs.client, 1);
    struct jobs third = jobs_open(server.url);
    assert_status(third.client, PENDING, dueq_lock_submit(third.queue, NAME, 60000, 60000));
    pump_until_blocked(third.client, 2);
    dueq_abandon(jobs.client);
    int64_t start = now_ms();
    assert_status(other.client, OK, dueq_unlock(other.queue, NAME, owner));
    assert_status(third.client, OK, dueq_wait(third.client, 20000));
    assert_true(now_ms() - start < 3000);
    jobs_close(third);
}

static void test_lock_abandoned_gives_back_what_its_block_may_hold(void **state) {
    (void)state;
    char token[64];
    take(other, 60000, token);
    assert_status(jobs.client, PENDING, dueq_lock_submit(jobs.queue, NAME, 60000, 60000));
    pump_until_blocked(jobs.client, 1);
    dueq_abandon(jobs.client);
    await_marker("dueq:{jobs}:lock_wake:%s", "printer");
    /* And nobody needs it for long. The two commands follow each other. */
    while (command_number(&server, "TTL dueq:{jobs}:lock_wake:printer") == -1)
        ;
    assert_in_range(command_number(&server, "TTL dueq:{jobs}:lock_wake:printer"), 1, 3600);
}

static void test_lock_abandoned_when_asked_for_is_nobodys(void **state) {
    (void)state;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, NULL));
    for (int i = 0; i < 50; i++) {
        assert_status(jobs.client, PENDING, dueq_lock_submit(jobs.queue, NAME, 600000, 60000));
        dueq_status status = dueq_pump(jobs.client);
        if (status == DUEQ_OK) {
            dueq_result *result;
            dueq_take(jobs.client, &result);
            assert_status(jobs.client, OK,
                          dueq_unlock(jobs.queue, NAME, dueq_result_id(result, 0)));
            dueq_result_free(result);
        }
        dueq_abandon(jobs.client);
    }
    int64_t start = now_ms();
    assert_status(other.client, OK, dueq_lock(other.queue, NAME, 1000, 20000, NULL));
    assert_true(now_ms() - start < 3000);
}

static void test_lock_that_is_free_and_told_nobody_is_found(void **state) {
    (void)state;
    char token[64];
    take(jobs, 600000, token);
    assert_status(other.client, PENDING, dueq_lock_submit(other.queue, NAME, 60000, 60000));
    pump_until_blocked(other.client, 1);
    /* As when whoever took the marker died before it tried. */
    run_command(&server, "DEL dueq:{jobs}:lock:printer");
    assert_status(other.client, OK, dueq_wait(other.client, 30000));
}

static void test_lock_leaves_nothing_in_the_server_for_long(void **state) {
    (void)state;
    char token[64];
    assert_status(jobs.client, OK, dueq_unlock(jobs.queue, NAME, take(jobs, 60000, token)));
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:lock:printer"), 0);
    assert_in_range(command_number(&server, "TTL dueq:{jobs}:lock_wake:printer") + 2, 0, 3600);
    redisReply *reply = command(&server, "KEYS dueq:{jobs}:reply:*");
    assert_int_equal(reply->elements, 1);
    assert_in_range(command_number(&server, "TTL %s", reply->element[0]->str), 1, 3600);
    freeReplyObject(reply);
}

static void test_lock_of_wrong_arguments_is_invalid(void **state) {
    (void)state;
    char name[DUEQ_MAX_LOCK_NAME + 1];
    memset(name, 'n', sizeof name);
    dueq_bytes token = BYTES("token");
#define LOCK(name, ttl, timeout) dueq_lock(jobs.queue, name, ttl, timeout, NULL)
    assert_status(jobs.client, INVALID, LOCK(BYTES(""), 1000, 0));
    assert_status(jobs.client, INVALID, LOCK(BYTES("a\nb"), 1000, 0));
    assert_status(jobs.client, INVALID, LOCK(BYTES("\xff"), 1000, 0));
    assert_status(jobs.client, TOO_LARGE, LOCK(((dueq_bytes){name, sizeof name}), 1000, 0));
    assert_status(jobs.client, OK, LOCK(((dueq_bytes){name, sizeof name - 1}), 1000, 0));
    assert_status(jobs.client, INVALID, LOCK(NAME, 0, 0));
    assert_status(jobs.client, INVALID, LOCK(NAME, DUEQ_MAX_TIME_MS + 1, 0));
    assert_status(jobs.client, INVALID, LOCK(NAME, 1000, -2));
    assert_status(jobs.client, INVALID, dueq_relock(jobs.queue, NAME, token, 0));
    assert_status(jobs.client, INVALID, dueq_relock(jobs.queue, BYTES(""), token, 1));
    assert_status(jobs.client, INVALID, dueq_unlock(jobs.queue, BYTES(""), token));
    assert_status(jobs.client, INVALID, dueq_unlock(jobs.queue, NAME, BYTES("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define LOCK_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_lock, tear_down_lock)
        LOCK_TEST(test_lock_has_one_owner),
        LOCK_TEST(test_lock_is_by_queue_and_name),
        LOCK_TEST(test_lock_ends_by_itself),
        LOCK_TEST(test_lock_waits_as_long_as_asked),
        LOCK_TEST(test_lock_is_got_at_the_unlock),
        LOCK_TEST(test_relock_keeps_the_lock),
        LOCK_TEST(test_lock_excludes_all_others),
        LOCK_TEST(test_lock_of_a_killed_owner_is_got_at_its_end),
        LOCK_TEST(test_lock_abandoned_while_waiting_leaves_the_turn_to_others),
        LOCK_TEST(test_lock_abandoned_gives_back_what_its_block_may_hold),
        LOCK_TEST(test_lock_abandoned_when_asked_for_is_nobodys),
        LOCK_TEST(test_lock_that_is_free_and_told_nobody_is_found),
        LOCK_TEST(test_lock_leaves_nothing_in_the_server_for_long),
        LOCK_TEST(test_lock_of_wrong_arguments_is_invalid),
    };
    return run_on_server(tests, NULL);
}
