#include "fixture.h"

struct server server;
struct jobs jobs;

int set_up_jobs(void **state) {
    (void)state;
    run_command(&server, "FLUSHALL");
    jobs = jobs_open(server.url);
    return 0;
}

int tear_down_jobs(void **state) {
    (void)state;
    jobs_close(jobs);
    return 0;
}

int run_on_server_(const struct CMUnitTest tests[], size_t count, const char *const options[]) {
    server_start_with(&server, options);
    int failed = run_selected_(tests, count);
    server_stop(&server);
    return failed;
}

const char *url_with(const char *user, const char *parameters) {
    static char url[256];
    snprintf(url, sizeof url, "unix://%s%s%s", user, server.socket, parameters);
    return url;
}

dueq_bytes next_ticket(dueq_consumer *consumer) {
    const dueq_message *message;
    assert_status(jobs.client, OK, dueq_consumer_next(consumer, 20000, &message, NULL));
    return message->ticket;
}

void pump_until_blocked(dueq_client *waiting, long long consumers) {
    while (info_number(&server, "clients", "blocked_clients") < consumers)
        assert_status(waiting, PENDING, dueq_wait(waiting, 5));
}

void await_marker(const char *format, const char *name) {
    char key[128];
    snprintf(key, sizeof key, format, name);
    for (int64_t end = now_ms() + 10000; now_ms() < end;)
        if (command_number(&server, "ZCARD %s", key) == 1)
            return;
    fail_msg("no wake marker under %s", key);
}

bool no_timekeeper(const char *name) {
    redisReply *reply = command(&server, "HGET dueq:{%s}:meta timekeepers", name);
    char text[128];
    snprintf(text, sizeof text, "%s", reply->type == REDIS_REPLY_STRING ? reply->str : "");
    freeReplyObject(reply);
    reply = command(&server, "ZSCORE dueq:{%s}:wake t", name);
    bool awaited = reply->type == REDIS_REPLY_STRING;
    size_t size = strcspn(text, ":");
    bool one = !strcmp(text + size, ":- +") && awaited && !strncmp(text, reply->str, size);
    freeReplyObject(reply);
    return one || !text[size];
}

void await_no_timekeeper(const char *name) {
    for (int64_t end = now_ms() + 10000; now_ms() < end;)
        if (no_timekeeper(name))
            return;
    fail_msg("a timekeeper of %s was left behind", name);
}

void assert_push_(const char *url, dueq_status expected, const char *file, int line) {
    struct jobs other = jobs_open(url);
    assert_status_(other.client, expected, push_text(other.queue, "x"), file, line);
    jobs_close(other);
}
