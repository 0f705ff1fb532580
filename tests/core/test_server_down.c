/*
 * Servers that are not there, not ready, or silent: a class and a text for each, and nothing is
 * lost.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static void test_push_without_a_server_fails_at_once(void **state) {
    (void)state;
    char url[64];
    int64_t start = now_ms();
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", free_port());
    assert_push(CONNECT, url);
    assert_push(CONNECT, "unix:///nonexistent/socket");
    assert_push(CONNECT, "redis://no-such-host.invalid");
    assert_true(now_ms() - start < 8000);
}

/* The program tries again, and is told of it as of a call that does. */
static void test_server_that_calls_find_away_is_said_once_and_when_it_is_back(void **state) {
    (void)state;
    char said[4][640] = {""};
    size_t count = 0;
    server_kill(&server);
    struct jobs early = jobs_open(server.url);
    for (int64_t back = now_ms() + 2500; count < 2;) {
        dueq_status status = push_text(early.queue, "x");
        const char *warning = dueq_warning(early.client);
        if (warning)
            snprintf(said[count++], sizeof said[0], "%s", warning);
        if (back && now_ms() > back) {
            back = 0;
            assert_int_equal(count, 1);
            server_restart(&server);
        } else if (back) {
            assert_status(early.client, CONNECT, status);
        }
        usleep(20000);
    }
    assert_non_null(strstr(said[0], "it is tried again: cannot reach"));
    assert_non_null(strstr(said[1], "it answers again, after "));
    jobs_close(early);
}

static void test_push_to_something_else_is_a_protocol_error(void **state) {
    (void)state;
    char url[64];
    int port = free_port();
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?timeout=3s", port);
    pid_t other = fork();
    if (other == 0) {
        char line[160];
        snprintf(line, sizeof line,
                 "import socket,time\ns=socket.create_server(('127.0.0.1',%d))\nwhile 1:\n"
                 " c=s.accept()[0]; c.recv(100); c.sendall(b'HTTP/1.1 400 Bad\\r\\n\\r\\n')",
                 port);
        execlp("python3", "python3", "-c", line, NULL);
        _exit(127);
    }
    dueq_status status = DUEQ_CONNECT;
    for (int64_t end = now_ms() + 10000; status == DUEQ_CONNECT && now_ms() < end;) {
        struct jobs strange = jobs_open(url);
        status = push_text(strange.queue, "x");
        jobs_close(strange);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    assert_int_equal(status, DUEQ_PROTOCOL);
}

static void test_push_to_a_paused_server_ends_at_the_deadline(void **state) {
    (void)state;
    struct jobs hasty = jobs_open(url_with("", "?timeout=300ms"));
    push_body(hasty.queue, "before", 0, NULL);
    run_command(&server, "CLIENT PAUSE 2000 ALL");
    int64_t start = now_ms();
    dueq_status status = push_text(hasty.queue, "paused");
    int64_t took = now_ms() - start;
    assert_status(hasty.client, TIMEOUT, status);
    assert_in_range(took, 299, 1999);
    assert_status(jobs.client, OK, push_text(jobs.queue, "by one with more patience"));
    assert_status(hasty.client, OK, push_text(hasty.queue, "after"));
    jobs_close(hasty);
}

static void test_reserve_that_ends_while_the_server_is_stopped_is_empty(void **state) {
    (void)state;
    struct jobs patient = jobs_open(url_with("", "?timeout=8s"));
    assert_status(patient.client, PENDING, dueq_reserve_submit(patient.queue, 1, 2000, 0));
    pump_until_blocked(patient.client, 1);
    kill(server.pid, SIGSTOP);
    assert_status(patient.client, PENDING, dueq_wait(patient.client, 3000));
    int64_t start = now_ms();
    kill(server.pid, SIGCONT);
    assert_status(patient.client, EMPTY, dueq_wait(patient.client, -1));
    assert_true(now_ms() - start < 4000);
    dueq_take(patient.client, NULL);
    jobs_close(patient);
}

/* Submits a push right after another one. False: its second request goes out with the next pump. */
static bool push_is_there(struct jobs hasty, long long *count) {
    dueq_draft draft = DUEQ_DRAFT;
    push_body(hasty.queue, "before", 0, NULL);
    draft.body = BYTES("answered");
    assert_status(hasty.client, PENDING, dueq_push_submit(hasty.queue, &draft, 1));
    dueq_pump(hasty.client);
    *count += 2;
    for (int64_t end = now_ms() + 1000; now_ms() < end;)
        if (command_number(&server, "LLEN dueq:{jobs}:ready") == *count)
            return true;
    return false;
}

static void test_push_answered_while_the_client_was_stopped_is_ok(void **state) {
    (void)state;
    struct jobs hasty = jobs_open(url_with("", "?timeout=4s"));
    long long count = 0;
    int tries = 0;
    while (!push_is_there(hasty, &count)) {
        assert_true(++tries < 10);
        assert_status(hasty.client, OK, dueq_wait(hasty.client, -1));
        dueq_take(hasty.client, NULL);
    }
    /* As when the process is stopped: nobody pumps until the deadline is over. */
    poll(NULL, 0, 4100);
    assert_status(hasty.client, OK, dueq_wait(hasty.client, -1));
    dueq_take(hasty.client, NULL);
    jobs_close(hasty);
}

static void test_reserve_at_a_stopped_server_ends_at_the_deadline(void **state) {
    (void)state;
    struct jobs hasty = jobs_open(url_with("", "?timeout=400ms"));
    assert_status(hasty.client, PENDING, dueq_reserve_submit(hasty.queue, 1, 500, 0));
    pump_until_blocked(hasty.client, 1);
    kill(server.pid, SIGSTOP);
    int64_t start = now_ms();
    dueq_status status = dueq_wait(hasty.client, -1);
    int64_t took = now_ms() - start;
    kill(server.pid, SIGCONT);
    assert_status(hasty.client, TIMEOUT, status);
    assert_true(took < 6000);
    dueq_take(hasty.client, NULL);
    push_body(jobs.queue, "after", 0, NULL);
    dueq_result *result;
    reserve_one(hasty.queue, 5000, 0, &result);
    dueq_result_free(result);
    jobs_close(hasty);
}

static void test_reserve_goes_on_when_the_server_was_killed_and_is_back(void **state) {
    (void)state;
    /*
     * With everysec a server whose disk is busy holds writes back: a kill would lose the message.
     */
    run_command(&server, "CONFIG SET appendfsync always");
    push_body(jobs.queue, "kept", 60000, NULL);
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 30000, 0));
    pump_until_blocked(jobs.client, 1);
    server_kill(&server);
    assert_status(jobs.client, PENDING, dueq_wait(jobs.client, 300));
    server_restart(&server);
    struct jobs other = jobs_open(server.url);
    push_body(other.queue, "after", 0, NULL);
    take_body(jobs.client, 10000, "after");
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(other.client, OK, dueq_stats(other.queue, &counts));
    assert_int_equal(counts.delayed, 1);
    jobs_close(other);
}

static void test_reserve_says_when_the_server_does_not_come_back(void **state) {
    (void)state;
    struct jobs hasty = jobs_open(url_with("", "?timeout=500ms"));
    push_body(jobs.queue, "kept", 0, NULL);
    dueq_result *result;
    const dueq_message *message = reserve_one(hasty.queue, 0, 0, &result);
    int64_t start = now_ms();
    assert_status(hasty.client, PENDING, dueq_reserve_submit(hasty.queue, 1, 1500, 0));
    pump_until_blocked(hasty.client, 1);
    server_kill(&server);
    dueq_status status = dueq_wait(hasty.client, 20000);
    assert_in_range(now_ms() - start, 1499, 10000);
    assert_status(hasty.client, CONNECT, status);
    dueq_take(hasty.client, NULL);
    server_restart(&server);
    assert_status(hasty.client, OK, dueq_ack(hasty.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    jobs_close(hasty);
}

static void test_push_waits_while_the_server_loads(void **state) {
    (void)state;
    if (server_is_old()) {
        print_message("skipped: Redis 6.2 answers too seldom while it loads\n");
        skip();
    }
    /* Loading takes a moment a key, and the server answers meanwhile. */
    struct jobs hasty = jobs_open(url_with("", "?timeout=300ms"));
    push_body(hasty.queue, "before", 0, NULL);
    run_command(&server, "EVAL %s 0", "for i = 1, 20000 do redis.call('SET', 'k' .. i, i) end");
    run_command(&server, "CONFIG SET key-load-delay 200");
    run_command(&server, "CONFIG SET loading-process-events-interval-bytes 1024");
    pid_t reload = command_start(&server, "DEBUG RELOAD");
    dueq_status status = DUEQ_OK;
    for (int64_t end = now_ms() + 10000; status != DUEQ_LOADING && now_ms() < end;)
        status = push_text(hasty.queue, "x");
    assert_status(hasty.client, LOADING, status);
    /* A client with more patience is served when it is over. */
    struct jobs patient = jobs_open(url_with("", "?timeout=60s"));
    assert_status(patient.client, OK, push_text(patient.queue, "patient"));
    jobs_close(patient);
    child_end(reload);
    run_command(&server, "CONFIG SET key-load-delay 0");
    jobs_close(hasty);
}

static void test_push_after_script_flush_loads_again(void **state) {
    (void)state;
    push_body(jobs.queue, "one", 0, NULL);
    run_command(&server, "SCRIPT FLUSH");
    push_body(jobs.queue, "two", 0, NULL);
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 10000, 0));
    run_command(&server, "SCRIPT FLUSH");
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_wait(jobs.client, -1));
    assert_status(jobs.client, OK, dueq_take(jobs.client, &result));
    run_command(&server, "SCRIPT FLUSH");
    assert_status(jobs.client, OK,
                  dueq_ack(jobs.queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
    dueq_result_free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_without_a_server_fails_at_once),
        TEST(test_server_that_calls_find_away_is_said_once_and_when_it_is_back),
        TEST(test_push_to_something_else_is_a_protocol_error),
        TEST(test_push_to_a_paused_server_ends_at_the_deadline),
        TEST(test_reserve_that_ends_while_the_server_is_stopped_is_empty),
        TEST(test_push_answered_while_the_client_was_stopped_is_ok),
        TEST(test_reserve_at_a_stopped_server_ends_at_the_deadline),
        TEST(test_reserve_goes_on_when_the_server_was_killed_and_is_back),
        TEST(test_reserve_says_when_the_server_does_not_come_back),
        TEST(test_push_waits_while_the_server_loads),
        TEST(test_push_after_script_flush_loads_again),
    };
    return run_on_server(tests, (const char *const[]){"--enable-debug-command", "yes", NULL});
}
