/* A question to the first of several servers that answers it. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"
#include "net/net.h"

static int port;

static struct dueq__url url_of(const char *text) {
    struct dueq__url url;
    struct dueq__error error = {0};
    if (dueq__url_parse(&url, text, &error))
        fail_msg("%s", error.text);
    return url;
}

static struct dueq__query_any *ask(const struct dueq__url *url, size_t first, const char *word,
                                   const char *other) {
    struct dueq__resp words = {0};
    dueq__resp_text(&words, word);
    if (other)
        dueq__resp_text(&words, other);
    struct dueq__query_any *query =
        dueq__query_any_start(url, "test", url->hosts, url->host_count, first, &words);
    assert_non_null(query);
    return query;
}

static void await(struct dueq__query_any *query) {
    while (!dueq__query_any_pump(query)) {
        struct pollfd ready = {.fd = dueq__conn_fd(&query->conn),
                               .events = dueq__conn_events(&query->conn)};
        int64_t left = query->try_deadline_ms - dueq__monotonic_ms();
        poll(&ready, 1, left > 0 ? (int)left : 0);
    }
}

static void assert_answer(const struct dueq__query_any *query, size_t at, const char *expected) {
    dueq_bytes bytes;
    if (!query->reply)
        fail_msg("no answer: %s", query->error.text);
    assert_true(dueq__reply_bytes(query->reply, &bytes));
    assert_true(dueq__bytes_equal(bytes, BYTES(expected)));
    assert_int_equal(query->current, at);
}

/* A port that takes connections and never answers. */
static int listen_silently(int *silent) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *silent = ntohs(address.sin_port);
    return fd;
}

static void test_query_any_asks_the_next_where_one_is_gone(void **state) {
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             free_port(), port, free_port());
    struct dueq__url url = url_of(text);
    for (size_t first = 0; first < 4; first++) {
        struct dueq__query_any *query = ask(&url, first, "ECHO", "here");
        await(query);
        assert_answer(query, 1, "here");
        dueq__query_any_drop(query);
    }
    dueq__url_clear(&url);
}

static void test_query_any_gives_each_its_share_of_the_time(void **state) {
    (void)state;
    char text[128];
    int silent, fd = listen_silently(&silent);
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,127.0.0.1:%d?timeout=3s", silent,
             port);
    struct dueq__url url = url_of(text);
    int64_t start = now_ms();
    struct dueq__query_any *query = ask(&url, 0, "ECHO", "here");
    await(query);
    assert_answer(query, 1, "here");
    assert_in_range(now_ms() - start, 1000, 3000);
    dueq__query_any_drop(query);
    dueq__url_clear(&url);
    close(fd);
}

static void assert_says(const struct dueq__query_any *query, const char *says) {
    if (!strstr(query->error.text, says))
        fail_msg("not said: %s: %s", says, query->error.text);
}

static void test_query_any_says_why_none_answered(void **state) {
    (void)state;
    char text[160], says[64];
    int gone = free_port(), silent, fd = listen_silently(&silent);
    snprintf(text, sizeof text, "redis+cluster://:secret@127.0.0.1:%d,127.0.0.1:%d?timeout=300ms",
             gone, silent);
    struct dueq__url url = url_of(text);
    struct dueq__query_any *query = ask(&url, 0, "PING", NULL);
    await(query);
    assert_null(query->reply);
    assert_int_equal(query->error.status, DUEQ_CONNECT);
    snprintf(says, sizeof says, "127.0.0.1:%d: Connection refused", gone);
    assert_says(query, says);
    snprintf(says, sizeof says, "127.0.0.1:%d did not answer within 100 ms", silent);
    assert_says(query, says);
    assert_null(strstr(query->error.text, "secret"));
    dueq__query_any_drop(query);
    dueq__url_clear(&url);
    close(fd);
}

/* What a server says is the reason, rather than that another one cannot be reached. */
static void test_query_any_refused_by_one_has_its_status(void **state) {
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,127.0.0.1:%d", port, free_port());
    struct dueq__url url = url_of(text);
    run_command(&server, "CONFIG SET requirepass secret");
    struct dueq__query_any *query = ask(&url, 0, "PING", NULL);
    await(query);
    assert_int_equal(query->error.status, DUEQ_AUTH);
    assert_says(query, "NOAUTH");
    assert_says(query, "Connection refused");
    dueq__query_any_drop(query);
    redisContext *context = redisConnectUnix(server.socket);
    freeReplyObject(redisCommand(context, "AUTH secret"));
    freeReplyObject(redisCommand(context, "CONFIG SET requirepass %s", ""));
    redisFree(context);
    dueq__url_clear(&url);
}

static void test_query_any_goes_on_from_an_answer_of_no_use(void **state) {
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,localhost:%d", port, port);
    struct dueq__url url = url_of(text);
    struct dueq__query_any *query = ask(&url, 1, "ECHO", "x");
    await(query);
    assert_answer(query, 1, "x");
    dueq__query_any_reject(query, DUEQ_CONNECT, "knows nothing");
    await(query);
    assert_answer(query, 0, "x");
    dueq__query_any_reject(query, DUEQ_CONNECT, "knows nothing either");
    assert_true(dueq__query_any_pump(query));
    assert_int_equal(query->error.status, DUEQ_CONNECT);
    assert_says(query, "knows nothing; 127.0.0.1");
    assert_says(query, "knows nothing either");
    dueq__query_any_drop(query);
    dueq__url_clear(&url);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_query_any_asks_the_next_where_one_is_gone),
        TEST(test_query_any_gives_each_its_share_of_the_time),
        TEST(test_query_any_says_why_none_answered),
        TEST(test_query_any_refused_by_one_has_its_status),
        TEST(test_query_any_goes_on_from_an_answer_of_no_use),
    };
    char number[12];
    port = free_port();
    snprintf(number, sizeof number, "%d", port);
    return run_on_server(tests, (const char *const[]){"--port", number, NULL});
}
