#include "support.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

/* Whether the server prints a text if it is started with these options. */
static bool server_says(const char *options, const char *text) {
    const char *program = getenv("DUEQ_TEST_SERVER");
    char command[300], line[300];
    bool said = false;
    if (program)
        snprintf(command, sizeof command, "%s %s 2>&1", program, options);
    else
        snprintf(command, sizeof command,
                 "$(command -v redis-server valkey-server | head -n 1) %s 2>&1", options);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    while (fgets(line, sizeof line, output))
        said = said || strstr(line, text);
    pclose(output);
    return said;
}

bool server_is_old(void) {
    static int old = -1;
    if (old < 0)
        old = server_says("--version", "v=6.");
    return old;
}

bool server_has_tls(void) { return !server_says("--port 0 --tls-port 0", "FATAL CONFIG"); }

static void execute(const struct server *server) {
    const char *program = getenv("DUEQ_TEST_SERVER");
    const char *fixed[] = {
        NULL,         "--port",      "0", "--unixsocket", server->socket, "--dir",
        server->dir,  "--save",      "",  "--appendonly", "yes",          "--logfile",
        "server.log", "--daemonize", "no"};
    const char *words[48];
    size_t count = sizeof fixed / sizeof *fixed;
    memcpy(words, fixed, sizeof fixed);
    for (size_t i = 0; i < 16 && server->options[i]; i++)
        if (server_is_old() && strncmp(server->options[i], "--enable-", 9) == 0)
            i++; /* Redis 6.2 needs no permission for what these permit. */
        else
            words[count++] = server->options[i];
    words[count] = NULL;
    const char *const programs[] = {program, "redis-server", "valkey-server"};
    for (size_t i = 0; i < 3; i++) {
        words[0] = programs[i];
        if (programs[i])
            execvp(programs[i], (char *const *)(uintptr_t)words);
    }
    _exit(127);
}

static redisContext *connect_to(const struct server *server) {
    redisContext *context = redisConnectUnix(server->socket);
    if (context && context->err) {
        redisFree(context);
        return NULL;
    }
    return context;
}

/* Waits for PONG, through LOADING and the time before the socket exists. */
static void await_answer(const struct server *server) {
    for (int64_t end = now_ms() + 20000; now_ms() < end;) {
        redisContext *context = connect_to(server);
        redisReply *reply = context ? redisCommand(context, "PING") : NULL;
        bool up =
            reply && (reply->type == REDIS_REPLY_STATUS || strncmp(reply->str, "NOAUTH", 6) == 0);
        if (reply)
            freeReplyObject(reply);
        if (context)
            redisFree(context);
        if (up)
            return;
        int status;
        if (waitpid(server->pid, &status, WNOHANG) == server->pid)
            fail_msg("the test server ended at once; see %s/server.log", server->dir);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    fail_msg("the test server does not answer");
}

void server_restart(struct server *server) {
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execute(server);
    }
    await_answer(server);
}

void server_start_with(struct server *server, const char *const options[]) {
    server_is_old(); /* execute() asks it in the child process */
    memset(server, 0, sizeof *server);
    snprintf(server->dir, sizeof server->dir, "/tmp/dueq-test-XXXXXX");
    assert_non_null(mkdtemp(server->dir));
    snprintf(server->socket, sizeof server->socket, "%s/s", server->dir);
    snprintf(server->url, sizeof server->url, "unix://%s", server->socket);
    for (size_t i = 0; options && options[i]; i++)
        server->options[i] = options[i];
    server_restart(server);
}

void server_start(struct server *server) { server_start_with(server, NULL); }

void server_kill(struct server *server) {
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    unlink(server->socket);
}

void server_stop(struct server *server) {
    char line[128];
    server_kill(server);
    snprintf(line, sizeof line, "rm -rf '%s'", server->dir);
    assert_int_equal(system(line), 0);
}

static redisReply *command_list(const struct server *server, const char *format,
                                va_list arguments) {
    redisContext *context = connect_to(server);
    assert_non_null(context);
    redisReply *reply = redisvCommand(context, format, arguments);
    redisFree(context);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, reply->str);
    return reply;
}

redisReply *command(const struct server *server, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = command_list(server, format, arguments);
    va_end(arguments);
    return reply;
}

long long calls_of(const struct server *server, const char *name) {
    redisReply *reply = command(server, "INFO commandstats");
    char text[64];
    int size = (int)(server_is_old() ? strcspn(name, "|") : strlen(name));
    snprintf(text, sizeof text, "cmdstat_%.*s:calls=", size, name);
    const char *found = strstr(reply->str, text);
    long long calls = found ? atoll(found + strlen(text)) : 0;
    freeReplyObject(reply);
    return calls;
}

void run_command(const struct server *server, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    freeReplyObject(command_list(server, format, arguments));
    va_end(arguments);
}

long long command_number(const struct server *server, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = command_list(server, format, arguments);
    va_end(arguments);
    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    long long number = reply->integer;
    freeReplyObject(reply);
    return number;
}

void assert_status_(dueq_client *client, dueq_status expected, dueq_status got, const char *file,
                    int line) {
    if (expected != got)
        print_error("%s instead of %s: %s\n", dueq_status_name(got), dueq_status_name(expected),
                    dueq_error_text(client));
    else if (got < 0 && !dueq_error_text(client)[0])
        print_error("%s without a text\n", dueq_status_name(got));
    _assert_true(expected == got && (got >= 0 || dueq_error_text(client)[0]), "status as expected",
                 file, line);
}

dueq_client *open_client(const char *url) {
    dueq_client *client;
    dueq_status status = dueq_open(url, &client);
    assert_status(client, OK, status);
    return client;
}

dueq_queue *open_queue(dueq_client *client, const char *name) {
    dueq_queue *queue;
    assert_status(client, OK, dueq_queue_open(client, name, strlen(name), &queue));
    return queue;
}

struct jobs jobs_open(const char *url) {
    dueq_client *client = open_client(url);
    return (struct jobs){client, open_queue(client, "jobs")};
}

void jobs_close(struct jobs jobs) {
    dueq_queue_close(jobs.queue);
    dueq_close(jobs.client);
}

void push_body(dueq_queue *queue, const char *body, int64_t delay_ms, char *id) {
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *result;
    draft.body = BYTES(body);
    draft.delay_ms = delay_ms;
    assert_int_equal(dueq_push(queue, &draft, 1, &result), DUEQ_OK);
    if (id)
        snprintf(id, 23, "%.*s", (int)dueq_result_id(result, 0).size,
                 (const char *)dueq_result_id(result, 0).data);
    dueq_result_free(result);
}

dueq_status push_text(dueq_queue *queue, const char *body) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES(body);
    return dueq_push(queue, &draft, 1, NULL);
}

const dueq_message *reserve_one(dueq_queue *queue, int64_t timeout_ms, int64_t lease_ms,
                                dueq_result **result) {
    assert_int_equal(dueq_reserve(queue, 1, timeout_ms, lease_ms, result), DUEQ_OK);
    assert_int_equal(dueq_result_count(*result), 1);
    return dueq_result_message(*result, 0);
}

void take_body(dueq_client *client, int64_t timeout_ms, const char *body) {
    dueq_result *result;
    assert_status(client, OK, dueq_wait(client, timeout_ms));
    assert_status(client, OK, dueq_take(client, &result));
    assert_int_equal(dueq_result_count(result), 1);
    assert_memory_equal(dueq_result_message(result, 0)->body.data, body, strlen(body));
    dueq_result_free(result);
}

void round_trip(struct jobs jobs, size_t size) {
    char *body = malloc(size + 1);
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 7 + i / 251);
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *result;
    draft.body = (dueq_bytes){body, size};
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_int_equal(message->body.size, size);
    assert_memory_equal(message->body.data, body, size);
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    free(body);
}

long long info_number(const struct server *server, const char *section, const char *name) {
    redisReply *reply = command(server, "INFO %s", section);
    char start[80];
    snprintf(start, sizeof start, "\n%s:", name);
    const char *found = strstr(reply->str, start);
    assert_non_null(found);
    long long number = atoll(found + strlen(start));
    freeReplyObject(reply);
    return number;
}

void await_blocked(const struct server *server, long long consumers) {
    for (int64_t end = now_ms() + 20000; now_ms() < end;) {
        if (info_number(server, "clients", "blocked_clients") == consumers)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    fail_msg("%lld consumers should wait by now", consumers);
}

pid_t consumer_start(const char *url, const char *name, int64_t timeout_ms) {
    pid_t consumer = fork();
    assert_true(consumer >= 0);
    if (consumer > 0)
        return consumer;
    dueq_client *client;
    dueq_queue *queue;
    dueq_result *result;
    if (dueq_open(url, &client) || dueq_queue_open(client, name, strlen(name), &queue))
        _exit(100);
    dueq_status status = dueq_reserve(queue, 1, timeout_ms, 0, &result);
    if (!status)
        status = dueq_ack(queue, &dueq_result_message(result, 0)->ticket, 1, NULL);
    if (status < 0)
        fprintf(stderr, "consumer: %s\n", dueq_error_text(client));
    _exit(status < 0 ? 100 - (int)status : (int)status);
}

pid_t command_start(const struct server *server, const char *format, ...) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(redisConnectUnix(server->socket), format, arguments);
    va_end(arguments);
    _exit(reply && reply->type != REDIS_REPLY_ERROR ? 0 : 1);
}

int child_end(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int run_selected_(const struct CMUnitTest tests[], size_t count) {
    cmocka_set_test_filter(getenv("ONLY") ? getenv("ONLY") : "*");
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
