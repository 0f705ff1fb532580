/* Who is there: consumers register with their queues, and go offline. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "consumer/consumer.h"
#include "fixture.h"

static struct jobs other;

static int set_up(void **state) {
    set_up_jobs(state);
    other = jobs_open(server.url);
    return 0;
}

static int tear_down(void **state) {
    jobs_close(other);
    return tear_down_jobs(state);
}

/* One that registers so much earlier than others do. */
static dueq_consumer *open_early(dueq_queue *const *queues, size_t count,
                                 dueq_consumer_options options, int64_t early_ms) {
    dueq_consumer *consumer;
    assert_status(queues[0]->client, OK, dueq_consumer_open(queues, count, &options, &consumer));
    consumer->presence.opened_ms -= early_ms;
    return consumer;
}

static dueq_consumer *open_at_once(dueq_queue *queue) {
    return open_early(&queue, 1, (dueq_consumer_options)DUEQ_CONSUMER, 2000);
}

static void wait_in_vain(dueq_consumer *consumer, int64_t timeout_ms) {
    const dueq_message *message;
    assert_status(consumer->client, EMPTY,
                  dueq_consumer_next(consumer, timeout_ms, &message, NULL));
}

/* All that one page has. Free the result. */
static size_t workers(dueq_queue *queue, dueq_result **result) {
    assert_status(queue->client, OK, dueq_workers(queue, (dueq_bytes){0}, DUEQ_MAX_BATCH, result));
    return dueq_result_count(*result);
}

static size_t count_workers(dueq_queue *queue) {
    dueq_result *result;
    size_t count = workers(queue, &result);
    dueq_result_free(result);
    return count;
}

static void await_workers(dueq_queue *queue, size_t count) {
    int64_t until = now_ms() + 20000;
    while (count_workers(queue) != count) {
        assert_true(now_ms() < until);
        usleep(10000);
    }
}

static void assert_text(dueq_bytes text, const char *expected) {
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

static void test_workers_of_a_queue_are_none_at_first(void **state) {
    (void)state;
    dueq_result *result;
    assert_int_equal(workers(jobs.queue, &result), 0);
    assert_int_equal(dueq_result_cursor(result).size, 0);
    assert_null(dueq_result_worker(result, 0));
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
}

static void test_workers_that_wait_are_registered_until_they_are_closed(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.program = "a program\nof \xff two";
    options.concurrency = 7;
    dueq_consumer *consumer = open_early(&jobs.queue, 1, options, 2000);
    char host[256] = "";
    dueq_result *result;
    gethostname(host, sizeof host - 1);
    wait_in_vain(consumer, 100);
    await_workers(other.queue, 1);
    workers(other.queue, &result);
    const dueq_worker *worker = dueq_result_worker(result, 0);
    assert_text(worker->session, jobs.client->session);
    assert_text(worker->host, host);
    assert_text(worker->program, "a program\\x0aof \\xff two");
    assert_text(worker->version, dueq_version());
    assert_int_equal(worker->pid, getpid());
    assert_int_equal(worker->slots, 7);
    assert_int_equal(worker->leased + worker->running, 0);
    assert_int_equal(worker->lease_count, 0);
    assert_in_range(worker->now_ms - worker->since_ms, 2000, 20000);
    assert_in_range(worker->now_ms - worker->seen_ms, 0, 20000);
    assert_int_equal(worker->until_ms - worker->seen_ms, 55000);
    dueq_result_free(result);
    assert_true(command_number(&server, "PTTL dueq:{jobs}:consumers") > 3600000);
    assert_true(command_number(&server, "PTTL dueq:{jobs}:described") > 3600000);
    dueq_consumer_close(consumer);
    assert_int_equal(count_workers(other.queue), 0);
}

static void test_workers_that_live_shortly_say_nothing(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer = open_early(&jobs.queue, 1, options, 0);
    wait_in_vain(consumer, 300);
    dueq_consumer_close(consumer);
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:described"), 0);
}

/* A queue of a consumer is listed by queues, also where nothing was pushed to it. */
static void test_workers_make_a_queue(void **state) {
    (void)state;
    dueq_result *result;
    dueq_consumer *consumer = open_at_once(jobs.queue);
    wait_in_vain(consumer, 0);
    await_workers(other.queue, 1);
    assert_status(other.client, OK, dueq_queues(other.client, (dueq_bytes){0}, &result));
    assert_int_equal(dueq_result_count(result), 1);
    dueq_result_free(result);
    dueq_consumer_close(consumer);
    round_trip(other, 10);
}

static void test_workers_say_what_they_hold_since_when(void **state) {
    (void)state;
    dueq_consumer_options options = DUEQ_CONSUMER;
    const dueq_message *message;
    dueq_result *result, *found;
    char first[DUEQ__ID_SIZE + 1];
    options.prefetch = 3;
    push_body(other.queue, "a", 0, first);
    for (int i = 0; i < 3; i++)
        push_body(other.queue, "b", 0, NULL);
    dueq_consumer *consumer = open_early(&jobs.queue, 1, options, 700);
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 0, &message, NULL));
    await_workers(other.queue, 1);
    workers(other.queue, &result);
    const dueq_worker *worker = dueq_result_worker(result, 0);
    assert_int_equal(worker->leased, 3);
    assert_int_equal(worker->running, 1);
    assert_int_equal(worker->lease_count, 3);
    assert_text(dueq_worker_lease(worker, 0)->id, first);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(dueq_worker_lease(worker, i)->running, i == 0);
        assert_int_equal(dueq_worker_lease(worker, i)->partition, -1);
        assert_in_range(worker->seen_ms - dueq_worker_lease(worker, i)->since_ms, 1000, 20000);
    }
    assert_status(other.client, OK, dueq_find(other.queue, BYTES(first), &found));
    assert_true(dueq__bytes_equal(dueq_result_message(found, 0)->ticket,
                                  dueq_worker_lease(worker, 0)->ticket));
    dueq_result_free(found);
    dueq_result_free(result);
    assert_status(jobs.client, OK, dueq_consumer_ack(consumer, message->ticket));
    assert_status(jobs.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

static void test_workers_of_several_queues_are_with_each_once(void **state) {
    (void)state;
    dueq_queue *mails = open_queue(jobs.client, "mails"), *again = open_queue(jobs.client, "jobs"),
               *seen = open_queue(other.client, "mails");
    dueq_queue *queues[] = {jobs.queue, mails, again};
    dueq_consumer_options options = DUEQ_CONSUMER;
    const dueq_message *message;
    dueq_result *result;
    options.order = DUEQ_ROUND_ROBIN;
    push_body(mails, "x", 0, NULL);
    dueq_consumer *consumer = open_early(queues, 3, options, 700);
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 0, &message, NULL));
    await_workers(seen, 1);
    await_workers(other.queue, 1);
    workers(seen, &result);
    assert_int_equal(dueq_result_worker(result, 0)->leased, 1);
    dueq_result_free(result);
    workers(other.queue, &result);
    assert_int_equal(dueq_result_worker(result, 0)->leased, 0);
    dueq_result_free(result);
    dueq_consumer_close(consumer);
    assert_int_equal(count_workers(seen) + count_workers(other.queue), 0);
    dueq_queue_close(seen);
    dueq_queue_close(again);
    dueq_queue_close(mails);
}

static void test_workers_of_partitions_are_with_the_name(void **state) {
    (void)state;
    dueq_queue *whole, *seen;
    const dueq_message *message;
    dueq_result *result;
    assert_status(jobs.client, OK,
                  dueq_partitions_open(jobs.client, "orders", 6, 4, BYTES(""), &whole));
    assert_status(other.client, OK,
                  dueq_partitions_open(other.client, "orders", 6, 4, BYTES(""), &seen));
    dueq_draft draft = DUEQ_DRAFT;
    draft.key = BYTES("customer-17");
    assert_status(other.client, OK, dueq_push(seen, &draft, 1, NULL));
    dueq_consumer *consumer = open_early(&whole, 1, (dueq_consumer_options)DUEQ_CONSUMER, 700);
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    await_workers(seen, 1);
    workers(seen, &result);
    const dueq_worker *worker = dueq_result_worker(result, 0);
    assert_int_equal(worker->lease_count, 1);
    assert_int_equal(dueq_worker_lease(worker, 0)->partition, dueq_partition_for(draft.key, 4));
    dueq_result_free(result);
    assert_int_equal(command_number(&server, "EXISTS dueq:{orders}:meta"), 0);
    dueq_consumer_close(consumer);
    assert_int_equal(count_workers(seen), 0);
    dueq_queue_close(seen);
    dueq_queue_close(whole);
}

/* Consumers that go offline, and the bound */

static pid_t start_worker(void) {
    pid_t pid = fork();
    if (pid)
        return pid;
    struct jobs own = jobs_open(server.url);
    dueq_consumer *consumer = open_at_once(own.queue);
    wait_in_vain(consumer, DUEQ_FOREVER);
    _exit(0);
}

static int stopping(void) {
    dueq_result *result;
    assert_int_equal(workers(other.queue, &result), 1);
    int stopping = dueq_result_worker(result, 0)->stopping;
    dueq_result_free(result);
    return stopping;
}

static void test_worker_that_winds_down_says_so(void **state) {
    (void)state;
    const dueq_message *message;
    push_body(other.queue, "a", 0, NULL);
    dueq_consumer *consumer = open_at_once(jobs.queue);
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 0, &message, NULL));
    await_workers(other.queue, 1);
    assert_int_equal(stopping(), 0);
    dueq_consumer_wind_down(consumer);
    int64_t until = now_ms() + 20000;
    while (!stopping()) {
        assert_true(now_ms() < until);
        usleep(10000);
    }
    dueq_consumer_close(consumer);
    assert_int_equal(count_workers(other.queue), 0);
}

/* Brings the end of all registrations so much nearer. */
static void pass(long long ms) {
    redisReply *names = command(&server, "ZRANGE dueq:{jobs}:consumers 0 -1");
    for (size_t i = 0; i < names->elements; i++)
        run_command(&server, "ZINCRBY dueq:{jobs}:consumers %lld %s", -ms, names->element[i]->str);
    freeReplyObject(names);
}

static bool is_offline(void) {
    dueq_result *result;
    assert_int_equal(workers(other.queue, &result), 1);
    const dueq_worker *worker = dueq_result_worker(result, 0);
    bool offline = worker->until_ms <= worker->now_ms;
    dueq_result_free(result);
    return offline;
}

static void test_worker_that_is_killed_is_offline_and_goes(void **state) {
    (void)state;
    pid_t worker = start_worker();
    await_workers(other.queue, 1);
    kill(worker, SIGKILL);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    assert_false(is_offline());
    pass(60000);
    assert_true(is_offline());
    dueq_consumer *consumer = open_at_once(jobs.queue);
    wait_in_vain(consumer, 0);
    await_workers(other.queue, 2);
    dueq_consumer_close(consumer);
    assert_true(is_offline());
    pass(3600000);
    consumer = open_at_once(jobs.queue);
    wait_in_vain(consumer, 0);
    int64_t until = now_ms() + 20000;
    while (!command_number(&server, "HEXISTS dueq:{jobs}:described %s", jobs.client->session))
        assert_true(now_ms() < until);
    assert_int_equal(count_workers(other.queue), 1);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:described"), 1);
    dueq_consumer_close(consumer);
}

static dueq_status say(const char *session, bool leaves, const char *says) {
    dueq_status status =
        dueq__register_submit(other.queue, false, session, leaves ? 0 : DUEQ__OFFLINE_MS,
                              (dueq_bytes){says, strlen(says)});
    return dueq__verb_run(other.client, status, NULL);
}

#define SAYS "1 1 0 0 0\nhost\nc\n0.1.0\n"

static void test_workers_are_a_thousand_at_most(void **state) {
    (void)state;
    char session[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(session, sizeof session, "session-%d", i);
        assert_status(other.client, OK, say(session, false, SAYS));
    }
    assert_status(other.client, EMPTY, say("one more", false, SAYS));
    assert_status(other.client, OK, say("session-7", false, SAYS));
    run_command(&server, "ZADD dueq:{jobs}:consumers 1700000000000 session-3");
    assert_status(other.client, OK, say("one more", false, SAYS));
    assert_status(other.client, EMPTY, say("session-3", false, SAYS));
    assert_status(other.client, OK, say("session-4", true, ""));
    assert_status(other.client, OK, say("session-3", false, SAYS));
    assert_int_equal(command_number(&server, "ZCARD dueq:{jobs}:consumers"), 1000);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:described"), 1000);
    size_t count = 0;
    dueq_result *page = NULL;
    do {
        dueq_result *next;
        assert_status(other.client, OK,
                      dueq_workers(other.queue, dueq_result_cursor(page), 70, &next));
        dueq_result_free(page);
        page = next;
        count += dueq_result_count(page);
    } while (dueq_result_cursor(page).size);
    dueq_result_free(page);
    assert_int_equal(count, 1000);
}

/* One that holds nothing says so by a member's score alone. */
static void test_worker_that_says_the_same_stays(void **state) {
    (void)state;
    assert_status(other.client, NOT_FOUND, say("session", false, ""));
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
    assert_status(other.client, OK, say("session", false, SAYS));
    pass(60000);
    assert_true(is_offline());
    assert_status(other.client, OK, say("session", false, ""));
    assert_false(is_offline());
    run_command(&server, "DEL dueq:{jobs}:consumers");
    assert_status(other.client, NOT_FOUND, say("session", false, ""));
    assert_int_equal(count_workers(other.queue), 0);
}

/* The server is full, which is what somebody may want to look into. */
static void test_workers_register_on_a_full_server(void **state) {
    (void)state;
    run_command(&server, "CONFIG SET maxmemory 1");
    assert_status(other.client, FULL, push_text(other.queue, "x"));
    assert_status(other.client, OK, say("session", false, SAYS));
    run_command(&server, "CONFIG SET maxmemory 0");
    assert_int_equal(count_workers(other.queue), 1);
}

/* What others wrote */

static void test_workers_that_cannot_be_read_are_left_out(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "1 ",
        "1 1 1 1 0 0 0\n",
        "1 1 1 1 0 0 0\nhost\nc\n0.1.0",
        "1 1 -1 1 0 0 0\nhost\nc\n0.1.0\n",
        "1 999999999999999 1 1 0 0 0\nhost\nc\n0.1.0\n",
        "9999999999999999 1 1 1 0 0 0\nhost\nc\n0.1.0\n",
        "999999999999999 1 1 1 0 0 0\nhost\nc\n0.1.0\n",
        "1 1 1 1 0 0 0\n\nc\n0.1.0\n",
        "1 1 1 1 0 0 0\nho\x1bst\nc\n0.1.0\n",
        "1 1 1 1 0 0 0\nho\xffst\nc\n0.1.0\n",
        "1 1 1 1 0 0 0\nhost\nc\n0.1.0\n1 1 0 no ticket\n",
        "1 1 1 1 0 0 0\nhost\nc\n0.1.0\n1 2 0 0:x\n",
        "1 1 1 1 0 0 0\nhost\nc\n0.1.0\n1 1 9999 0:x\n",
        "1 1 1 1 0 0 0\nhost\nc\n0.1.0\n1 1 0 0:x",
        "1 1 1 1 0 0 0\nhost\nc\n0.1.0\n1 1 0 0:\xff\n",
    };
    size_t count = sizeof bad / sizeof *bad;
    for (size_t i = 0; i < count; i++) {
        run_command(&server, "ZADD dueq:{jobs}:consumers %d s%d", (int)i, (int)i);
        run_command(&server, "HSET dueq:{jobs}:described s%d %b", (int)i, bad[i], strlen(bad[i]));
    }
    run_command(&server, "ZADD dueq:{jobs}:consumers 1 undescribed inf for-ever 5 %b", "\xff\n", 2);
    run_command(&server, "HSET dueq:{jobs}:described for-ever %s", "5 60000 " SAYS);
    run_command(&server, "HSET dueq:{jobs}:described %b %s", "\xff\n", (size_t)2, "5 60000 " SAYS);
    assert_int_equal(count_workers(other.queue), 0);
    run_command(&server, "ZADD dueq:{jobs}:consumers 100000 good");
    run_command(&server, "HSET dueq:{jobs}:described good %s",
                "5 60000 " SAYS "9 1 0 0:x\n7 0 3 0:y\n");
    dueq_result *result;
    assert_int_equal(workers(other.queue, &result), 1);
    const dueq_worker *worker = dueq_result_worker(result, 0);
    assert_text(worker->session, "good");
    assert_int_equal(worker->lease_count, 2);
    assert_int_equal(dueq_worker_lease(worker, 0)->since_ms, 0);
    assert_int_equal(dueq_worker_lease(worker, 1)->partition, 2);
    dueq_result_free(result);
}

static void test_worker_names_a_hundred_messages_at_most(void **state) {
    (void)state;
    char text[4096] = SAYS;
    for (int i = 0; i < 150; i++)
        strcat(text, "9 1 0 0:x\n");
    assert_status(other.client, OK, say("session", false, text));
    dueq_result *result;
    assert_int_equal(workers(other.queue, &result), 1);
    assert_int_equal(dueq_result_worker(result, 0)->lease_count, DUEQ_MAX_WORKER_LEASES);
    dueq_result_free(result);
}

static void assert_tasks(const char *expected) {
    dueq_result *result;
    assert_int_equal(workers(other.queue, &result), 1);
    assert_text(dueq_result_worker(result, 0)->tasks, expected);
    dueq_result_free(result);
}

static void test_worker_says_which_tasks_its_program_knows(void **state) {
    (void)state;
    char names[DUEQ_MAX_WORKER_TASKS + 1];
    for (size_t i = 0; i < sizeof names; i++)
        names[i] = i % 100 == 99 ? '\n' : 'a';
    const struct {
        dueq_bytes given;
        const char *expected;
    } cases[] = {{{"charge\nship a parcel", 20}, "charge\nship a parcel"},
                 {{"charge", 6}, "charge"},
                 {{"charge\n", 7}, ""},
                 {{"a\x01", 2}, ""},
                 {{names, sizeof names}, ""},
                 {{NULL, 0}, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dueq_consumer_options options = DUEQ_CONSUMER;
        options.tasks = cases[i].given;
        dueq_consumer *consumer = open_early(&jobs.queue, 1, options, 2000);
        wait_in_vain(consumer, 0);
        await_workers(other.queue, 1);
        assert_tasks(cases[i].expected);
        dueq_consumer_close(consumer);
    }
    /* Behind as many messages as the text lists. */
    char text[8192] = SAYS;
    for (int i = 0; i < 100; i++)
        strcat(text, "9 1 0 0:x\n");
    assert_status(other.client, OK, say("session", false, strcat(text, "\npay\n")));
    assert_tasks("pay");
    assert_status(other.client, OK, say("session", false, SAYS "9 1 0 0:x\n\npay\nship\n"));
    assert_tasks("pay\nship");
    assert_status(other.client, OK, say("session", false, SAYS "\npay\nship"));
    assert_tasks("");
}

static void test_worker_without_the_permission_works_and_asks_once(void **state) {
    (void)state;
    run_command(&server, "ACL SETUSER old on >secret ~dueq:{jobs}:m* ~dueq:{jobs}:[^cdm]* "
                         "~dueq:{jobs}:dea* ~dueq:{jobs}:del* +@all");
    run_command(&server, "ACL LOG RESET");
    struct jobs old = jobs_open(url_with("old:secret@", ""));
    dueq_consumer *consumer = open_at_once(old.queue);
    const dueq_message *message;
    for (int i = 0; i < 2; i++) {
        push_body(other.queue, "x", 0, NULL);
        assert_status(old.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
        assert_status(old.client, OK, dueq_consumer_ack(consumer, message->ticket));
        redisReply *log = NULL;
        int64_t until = now_ms() + 20000;
        do {
            assert_true(now_ms() < until);
            freeReplyObject(log);
            log = command(&server, "ACL LOG");
        } while (log->elements == 0);
        assert_int_equal(log->elements, 1);
        freeReplyObject(log);
    }
    assert_status(old.client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
    assert_int_equal(count_workers(other.queue), 0);
    jobs_close(old);
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(test_workers_of_a_queue_are_none_at_first),
        WITH(test_workers_that_wait_are_registered_until_they_are_closed),
        WITH(test_workers_that_live_shortly_say_nothing),
        WITH(test_workers_make_a_queue),
        WITH(test_workers_say_what_they_hold_since_when),
        WITH(test_workers_of_several_queues_are_with_each_once),
        WITH(test_workers_of_partitions_are_with_the_name),
        WITH(test_worker_that_winds_down_says_so),
        WITH(test_worker_that_is_killed_is_offline_and_goes),
        WITH(test_workers_are_a_thousand_at_most),
        WITH(test_worker_that_says_the_same_stays),
        WITH(test_workers_register_on_a_full_server),
        WITH(test_workers_that_cannot_be_read_are_left_out),
        WITH(test_worker_names_a_hundred_messages_at_most),
        WITH(test_worker_says_which_tasks_its_program_knows),
        WITH(test_worker_without_the_permission_works_and_asks_once),
    };
    return run_on_server(tests, NULL);
}
