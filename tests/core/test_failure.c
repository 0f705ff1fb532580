/* What goes wrong with servers: each has its own class and a text, and nothing is lost. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static struct server server;
static dueq_client *client;
static dueq_queue *queue;

static int set_up(void **state) {
    (void)state;
    run_command(&server, "FLUSHALL");
    client = open_client(server.url);
    queue = open_queue(client, "jobs");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dueq_queue_close(queue);
    dueq_close(client);
    return 0;
}

static dueq_status push_text(dueq_queue *to, const char *body) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES(body);
    return dueq_push(to, &draft, 1, NULL);
}

/* One call on a URL; returns its status, having seen its text. */
static dueq_status try_url(const char *url, dueq_status expected) {
    dueq_client *other = open_client(url);
    dueq_queue *jobs = open_queue(other, "jobs");
    dueq_status status = push_text(jobs, "x");
    assert_status_(other, expected, status, __FILE__, __LINE__);
    dueq_queue_close(jobs);
    dueq_close(other);
    return status;
}

static void test_push_without_a_server_fails_at_once(void **state) {
    (void)state;
    char url[64];
    int64_t start = now_ms();
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", free_port());
    try_url(url, DUEQ_CONNECT);
    try_url("unix:///nonexistent/socket", DUEQ_CONNECT);
    try_url("redis://no-such-host.invalid", DUEQ_CONNECT);
    assert_true(now_ms() - start < 8000);
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
        dueq_client *strange = open_client(url);
        dueq_queue *jobs = open_queue(strange, "jobs");
        status = push_text(jobs, "x");
        dueq_queue_close(jobs);
        dueq_close(strange);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    assert_int_equal(status, DUEQ_PROTOCOL);
}

static void test_push_with_wrong_passwords_is_auth(void **state) {
    (void)state;
    char url[200];
    run_command(&server, "CONFIG SET requirepass secret");
    dueq_status without = try_url(server.url, DUEQ_AUTH);
    snprintf(url, sizeof url, "unix://:wrong@%s", server.socket);
    dueq_status wrong = try_url(url, DUEQ_AUTH);
    snprintf(url, sizeof url, "unix://:secret@%s", server.socket);
    dueq_status right = try_url(url, DUEQ_OK);
    dueq_client *secret = open_client(url);
    assert_null(strstr(dueq_client_url(secret), "secret"));
    dueq_close(secret);
    redisContext *context = redisConnectUnix(server.socket);
    freeReplyObject(redisCommand(context, "AUTH secret"));
    freeReplyObject(redisCommand(context, "CONFIG SET requirepass %s", ""));
    redisFree(context);
    assert_int_equal(without, DUEQ_AUTH);
    assert_int_equal(wrong, DUEQ_AUTH);
    assert_int_equal(right, DUEQ_OK);
    snprintf(url, sizeof url, "unix://:needless@%s", server.socket);
    try_url(url, DUEQ_AUTH);
}

static void test_push_without_permission_is_denied(void **state) {
    (void)state;
    char url[200];
    run_command(&server, "ACL SETUSER reader on >secret ~* +@read +@connection");
    snprintf(url, sizeof url, "unix://reader:secret@%s", server.socket);
    try_url(url, DUEQ_DENIED);
}

static void test_push_to_a_wrong_database(void **state) {
    (void)state;
    char url[200];
    snprintf(url, sizeof url, "unix://%s?db=99", server.socket);
    try_url(url, DUEQ_DATABASE);
    snprintf(url, sizeof url, "unix://%s?db=3", server.socket);
    try_url(url, DUEQ_OK);
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:msg"), 0);
}

static void test_push_to_a_full_server_is_full_and_consuming_goes_on(void **state) {
    (void)state;
    dueq_result *result;
    for (int i = 0; i < 3; i++)
        push_body(queue, "before", 0, NULL);
    push_body(queue, "later", 50, NULL);
    run_command(&server, "CONFIG SET maxmemory 1000000");
    assert_status(client, FULL, push_text(queue, "too much"));
    /* Every way out of the queue works on a full server. */
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    assert_status(client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    message = reserve_one(queue, 0, 0, &result);
    assert_status(client, OK, dueq_extend(queue, message->ticket, 60000));
    assert_status(client, OK, dueq_retry(queue, message->ticket, 0, BYTES("full")));
    dueq_result_free(result);
    message = reserve_one(queue, 0, 0, &result);
    assert_status(client, OK, dueq_bury(queue, message->ticket, BYTES("full")));
    dueq_result_free(result);
    message = reserve_one(queue, 0, 0, &result);
    assert_int_equal(message->attempt, 2);
    assert_status(client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    reserve_one(queue, 5000, 0, &result);
    dueq_result_free(result);
    run_command(&server, "CONFIG SET maxmemory 0");
    assert_status(client, OK, push_text(queue, "again"));
}

static void test_push_to_a_replica_is_readonly(void **state) {
    (void)state;
    push_body(queue, "kept", 0, NULL);
    run_command(&server, "REPLICAOF 127.0.0.1 1");
    dueq_status push = push_text(queue, "x"), reserve = dueq_reserve(queue, 1, 0, 0, NULL),
                waiting = dueq_reserve(queue, 1, 500, 0, NULL);
    run_command(&server, "REPLICAOF NO ONE");
    assert_int_equal(push, DUEQ_READONLY);
    assert_int_equal(reserve, DUEQ_READONLY);
    assert_int_equal(waiting, DUEQ_READONLY);
    dueq_result *result;
    reserve_one(queue, 0, 0, &result);
    dueq_result_free(result);
}

static void test_push_to_a_busy_server_waits_and_then_is_busy(void **state) {
    (void)state;
    char url[200];
    snprintf(url, sizeof url, "unix://%s?timeout=700ms", server.socket);
    dueq_client *hasty = open_client(url);
    dueq_queue *jobs = open_queue(hasty, "jobs");
    push_body(jobs, "before", 0, NULL);
    run_command(&server, "CONFIG SET busy-reply-threshold 50");
    pid_t script = fork();
    if (script == 0) {
        redisContext *context = redisConnectUnix(server.socket);
        redisCommand(context, "EVAL %s 0", "while true do end");
        _exit(0);
    }
    dueq_status status = DUEQ_OK;
    for (int64_t end = now_ms() + 10000; status == DUEQ_OK && now_ms() < end;)
        status = push_text(jobs, "x");
    run_command(&server, "SCRIPT KILL");
    waitpid(script, NULL, 0);
    run_command(&server, "CONFIG SET busy-reply-threshold 5000");
    assert_status(hasty, BUSY, status);
    assert_status(hasty, OK, push_text(jobs, "after"));
    dueq_queue_close(jobs);
    dueq_close(hasty);
}

static void test_push_to_a_paused_server_ends_at_the_deadline(void **state) {
    (void)state;
    char url[200];
    snprintf(url, sizeof url, "unix://%s?timeout=300ms", server.socket);
    dueq_client *hasty = open_client(url);
    dueq_queue *jobs = open_queue(hasty, "jobs");
    push_body(jobs, "before", 0, NULL);
    run_command(&server, "CLIENT PAUSE 2000 ALL");
    int64_t start = now_ms();
    dueq_status status = push_text(jobs, "paused");
    int64_t took = now_ms() - start;
    assert_status(hasty, TIMEOUT, status);
    assert_in_range(took, 299, 1999);
    assert_status(client, OK, push_text(queue, "by one with more patience"));
    assert_status(hasty, OK, push_text(jobs, "after"));
    dueq_queue_close(jobs);
    dueq_close(hasty);
}

static void test_reserve_at_a_stopped_server_ends_at_the_deadline(void **state) {
    (void)state;
    char url[200];
    snprintf(url, sizeof url, "unix://%s?timeout=400ms", server.socket);
    dueq_client *hasty = open_client(url);
    dueq_queue *jobs = open_queue(hasty, "jobs");
    assert_status(hasty, PENDING, dueq_reserve_submit(jobs, 1, 500, 0));
    while (info_number(&server, "clients", "blocked_clients") < 1)
        assert_status(hasty, PENDING, dueq_wait(hasty, 5));
    kill(server.pid, SIGSTOP);
    int64_t start = now_ms();
    dueq_status status = dueq_wait(hasty, -1);
    int64_t took = now_ms() - start;
    kill(server.pid, SIGCONT);
    assert_status(hasty, TIMEOUT, status);
    assert_true(took < 6000);
    dueq_take(hasty, NULL);
    push_body(queue, "after", 0, NULL);
    dueq_result *result;
    reserve_one(jobs, 5000, 0, &result);
    dueq_result_free(result);
    dueq_queue_close(jobs);
    dueq_close(hasty);
}

static void test_reserve_goes_on_when_the_server_was_killed_and_is_back(void **state) {
    (void)state;
    push_body(queue, "kept", 60000, NULL);
    assert_status(client, PENDING, dueq_reserve_submit(queue, 1, 30000, 0));
    while (info_number(&server, "clients", "blocked_clients") < 1)
        assert_status(client, PENDING, dueq_wait(client, 5));
    server_kill(&server);
    assert_status(client, PENDING, dueq_wait(client, 300));
    server_restart(&server);
    dueq_client *other = open_client(server.url);
    dueq_queue *same = open_queue(other, "jobs");
    push_body(same, "after", 0, NULL);
    dueq_result *result;
    assert_status(client, OK, dueq_wait(client, 10000));
    assert_status(client, OK, dueq_take(client, &result));
    assert_memory_equal(dueq_result_message(result, 0)->body.data, "after", 5);
    dueq_result_free(result);
    dueq_counts counts;
    assert_status(other, OK, dueq_stats(same, &counts));
    assert_int_equal(counts.delayed, 1);
    dueq_queue_close(same);
    dueq_close(other);
}

static void test_reserve_says_when_the_server_does_not_come_back(void **state) {
    (void)state;
    char url[200];
    snprintf(url, sizeof url, "unix://%s?timeout=500ms", server.socket);
    dueq_client *hasty = open_client(url);
    dueq_queue *jobs = open_queue(hasty, "jobs");
    push_body(queue, "kept", 0, NULL);
    dueq_result *result;
    const dueq_message *message = reserve_one(jobs, 0, 0, &result);
    assert_status(hasty, PENDING, dueq_reserve_submit(jobs, 1, 30000, 0));
    while (info_number(&server, "clients", "blocked_clients") < 1)
        assert_status(hasty, PENDING, dueq_wait(hasty, 5));
    server_kill(&server);
    int64_t start = now_ms();
    dueq_status status = dueq_wait(hasty, 20000);
    assert_true(now_ms() - start < 10000);
    assert_status(hasty, CONNECT, status);
    dueq_take(hasty, NULL);
    server_restart(&server);
    assert_status(hasty, OK, dueq_ack(jobs, &message->ticket, 1, NULL));
    dueq_result_free(result);
    dueq_queue_close(jobs);
    dueq_close(hasty);
}

static void test_push_waits_while_the_server_loads(void **state) {
    (void)state;
    /* Loading takes a moment a key, and the server answers meanwhile. */
    char url[200];
    snprintf(url, sizeof url, "unix://%s?timeout=300ms", server.socket);
    dueq_client *hasty = open_client(url);
    dueq_queue *jobs = open_queue(hasty, "jobs");
    push_body(jobs, "before", 0, NULL);
    run_command(&server, "EVAL %s 0", "for i = 1, 20000 do redis.call('SET', 'k' .. i, i) end");
    run_command(&server, "CONFIG SET key-load-delay 200");
    run_command(&server, "CONFIG SET loading-process-events-interval-bytes 1024");
    pid_t reload = fork();
    if (reload == 0) {
        redisContext *context = redisConnectUnix(server.socket);
        redisReply *reply = redisCommand(context, "DEBUG RELOAD");
        _exit(reply && reply->type == REDIS_REPLY_STATUS ? 0 : 1);
    }
    dueq_status status = DUEQ_OK;
    for (int64_t end = now_ms() + 10000; status != DUEQ_LOADING && now_ms() < end;)
        status = push_text(jobs, "x");
    assert_status(hasty, LOADING, status);
    /* A client with more patience is served when it is over. */
    assert_status(client, OK, push_text(queue, "patient"));
    assert_int_equal(waitpid(reload, &(int){0}, 0), reload);
    run_command(&server, "CONFIG SET key-load-delay 0");
    dueq_queue_close(jobs);
    dueq_close(hasty);
}

static void test_push_after_script_flush_loads_again(void **state) {
    (void)state;
    push_body(queue, "one", 0, NULL);
    run_command(&server, "SCRIPT FLUSH");
    push_body(queue, "two", 0, NULL);
    assert_status(client, PENDING, dueq_reserve_submit(queue, 1, 10000, 0));
    run_command(&server, "SCRIPT FLUSH");
    dueq_result *result;
    assert_status(client, OK, dueq_wait(client, -1));
    assert_status(client, OK, dueq_take(client, &result));
    run_command(&server, "SCRIPT FLUSH");
    assert_status(client, OK, dueq_ack(queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
    dueq_result_free(result);
}

static void test_push_in_a_child_after_fork(void **state) {
    (void)state;
    push_body(queue, "parent", 0, NULL);
    pid_t child = fork();
    if (child == 0) {
        dueq_result *result;
        dueq_draft draft = DUEQ_DRAFT;
        draft.body = BYTES("child");
        int failed = dueq_push(queue, &draft, 1, NULL) != DUEQ_OK;
        failed +=
            dueq_reserve(queue, 2, 0, 0, &result) != DUEQ_OK || dueq_result_count(result) != 2;
        for (size_t i = 0; !failed && i < 2; i++)
            failed += dueq_ack(queue, &dueq_result_message(result, i)->ticket, 1, NULL) != DUEQ_OK;
        dueq_result_free(result);
        dueq_queue_close(queue);
        dueq_close(client);
        _exit(failed);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    push_body(queue, "parent again", 0, NULL);
    dueq_result *result;
    reserve_one(queue, 0, 0, &result);
    dueq_result_free(result);
}

static void test_reserve_in_the_parent_is_not_disturbed_by_a_fork(void **state) {
    (void)state;
    assert_status(client, PENDING, dueq_reserve_submit(queue, 1, 20000, 0));
    while (info_number(&server, "clients", "blocked_clients") < 1)
        assert_status(client, PENDING, dueq_wait(client, 5));
    pid_t child = fork();
    if (child == 0) {
        /* The wait is the parent's: the child's client lets go of it and works. */
        dueq_status taken = dueq_pump(client);
        dueq_take(client, NULL);
        dueq_draft draft = DUEQ_DRAFT;
        draft.body = BYTES("from the child");
        dueq_status pushed = dueq_push(queue, &draft, 1, NULL);
        _exit(taken == DUEQ_CLOSED && pushed == DUEQ_OK ? 0 : 1);
    }
    int status;
    dueq_result *result;
    assert_status(client, OK, dueq_wait(client, 15000));
    assert_status(client, OK, dueq_take(client, &result));
    assert_memory_equal(dueq_result_message(result, 0)->body.data, "from the child", 14);
    dueq_result_free(result);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void round_trip(size_t size) {
    char *body = malloc(size + 1);
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 7 + i / 251);
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *result;
    draft.body = (dueq_bytes){body, size};
    assert_status(client, OK, dueq_push(queue, &draft, 1, NULL));
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    assert_int_equal(message->body.size, size);
    assert_memory_equal(message->body.data, body, size);
    assert_status(client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    free(body);
}

static void test_push_of_bodies_from_nothing_to_64_mib(void **state) {
    (void)state;
    round_trip(0);
    round_trip(1);
    round_trip(65536);
    round_trip((size_t)64 << 20);
}

static void test_push_over_the_servers_limit_is_too_large(void **state) {
    (void)state;
    size_t size = (size_t)3 << 20;
    char *body = calloc(1, size);
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){body, size};
    run_command(&server, "CONFIG SET proto-max-bulk-len 1048576");
    dueq_status status = dueq_push(queue, &draft, 1, NULL);
    run_command(&server, "CONFIG SET proto-max-bulk-len 536870912");
    assert_status(client, TOO_LARGE, status);
    draft.body.size = DUEQ_MAX_BODY + 1;
    assert_status(client, TOO_LARGE, dueq_push(queue, &draft, 1, NULL));
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:msg"), 0);
    free(body);
    round_trip(1000);
}

int main(void) {
    cmocka_set_test_filter(getenv("ONLY") ? getenv("ONLY") : "*");
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_push_without_a_server_fails_at_once),
        TEST(test_push_to_something_else_is_a_protocol_error),
        TEST(test_push_with_wrong_passwords_is_auth),
        TEST(test_push_without_permission_is_denied),
        TEST(test_push_to_a_wrong_database),
        TEST(test_push_to_a_full_server_is_full_and_consuming_goes_on),
        TEST(test_push_to_a_replica_is_readonly),
        TEST(test_push_to_a_busy_server_waits_and_then_is_busy),
        TEST(test_push_to_a_paused_server_ends_at_the_deadline),
        TEST(test_reserve_at_a_stopped_server_ends_at_the_deadline),
        TEST(test_reserve_goes_on_when_the_server_was_killed_and_is_back),
        TEST(test_reserve_says_when_the_server_does_not_come_back),
        TEST(test_push_waits_while_the_server_loads),
        TEST(test_push_after_script_flush_loads_again),
        TEST(test_push_in_a_child_after_fork),
        TEST(test_reserve_in_the_parent_is_not_disturbed_by_a_fork),
        TEST(test_push_of_bodies_from_nothing_to_64_mib),
        TEST(test_push_over_the_servers_limit_is_too_large),
    };
    server_start_with(&server, (const char *const[]){"--enable-debug-command", "yes", NULL});
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    server_stop(&server);
    return failed;
}
