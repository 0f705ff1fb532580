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

static struct dueq__inquiry *ask(const struct dueq__url *url, size_t first, const char *word,
                                 const char *other) {
    struct dueq__resp words;
    dueq__resp_init(&words);
    dueq__resp_text(&words, word);
    if (other)
        dueq__resp_text(&words, other);
    struct dueq__inquiry *inquiry =
        dueq__inquiry_start(url, "test", url->hosts, url->host_count, first, &words);
    assert_non_null(inquiry);
    return inquiry;
}

static void await(struct dueq__inquiry *inquiry) {
    while (!dueq__inquiry_pump(inquiry)) {
        struct pollfd ready = {.fd = dueq__conn_fd(&inquiry->conn),
                               .events = dueq__conn_events(&inquiry->conn)};
        int64_t left = inquiry->until_ms - dueq__monotonic_ms();
        poll(&ready, 1, left > 0 ? (int)left : 0);
    }
}

static void assert_answer(const struct dueq__inquiry *inquiry, size_t at, const char *expected) {
    dueq_bytes bytes;
    if (!inquiry->reply)
        fail_msg("no answer: %s", inquiry->error.text);
    assert_true(dueq__reply_bytes(inquiry->reply, &bytes));
    assert_true(dueq__same(bytes, BYTES(expected)));
    assert_int_equal(inquiry->at, at);
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

static void test_inquiry_asks_the_next_where_one_is_gone(void **state) {
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             free_port(), port, free_port());
    struct dueq__url url = url_of(text);
    for (size_t first = 0; first < 4; first++) {
        struct dueq__inquiry *inquiry = ask(&url, first, "ECHO", "here");
        await(inquiry);
        assert_answer(inquiry, 1, "here");
        dueq__inquiry_drop(inquiry);
    }
    dueq__url_clear(&url);
}

static void test_inquiry_gives_each_its_share_of_the_time(void **state) {
    (void)state;
    char text[128];
    int silent, fd = listen_silently(&silent);
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,127.0.0.1:%d?timeout=3s", silent,
             port);
    struct dueq__url url = url_of(text);
    int64_t start = now_ms();
    struct dueq__inquiry *inquiry = ask(&url, 0, "ECHO", "here");
    await(inquiry);
    assert_answer(inquiry, 1, "here");
    assert_in_range(now_ms() - start, 1000, 3000);
    dueq__inquiry_drop(inquiry);
    dueq__url_clear(&url);
    close(fd);
}

static void assert_says(const struct dueq__inquiry *inquiry, const char *says) {
    if (!strstr(inquiry->error.text, says))
        fail_msg("not said: %s: %s", says, inquiry->error.text);
}

static void test_inquiry_says_why_none_answered(void **state) {
    (void)state;
    char text[160], says[64];
    int gone = free_port(), silent, fd = listen_silently(&silent);
    snprintf(text, sizeof text, "redis+cluster://:secret@127.0.0.1:%d,127.0.0.1:%d?timeout=300ms",
             gone, silent);
    struct dueq__url url = url_of(text);
    struct dueq__inquiry *inquiry = ask(&url, 0, "PING", NULL);
    await(inquiry);
    assert_null(inquiry->reply);
    assert_int_equal(inquiry->error.status, DUEQ_CONNECT);
    snprintf(says, sizeof says, "127.0.0.1:%d: Connection refused", gone);
    assert_says(inquiry, says);
    snprintf(says, sizeof says, "127.0.0.1:%d did not answer within 100 ms", silent);
    assert_says(inquiry, says);
    assert_null(strstr(inquiry->error.text, "secret"));
    dueq__inquiry_drop(inquiry);
    dueq__url_clear(&url);
    close(fd);
}

/* What a server says is the reason, rather than that another one cannot be reached. */
static void test_inquiry_refused_by_one_has_its_status(void **state) {
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,127.0.0.1:%d", port, free_port());
    struct dueq__url url = url_of(text);
    run_command(&server, "CONFIG SET requirepass secret");
    struct dueq__inquiry *inquiry = ask(&url, 0, "PING", NULL);
    await(inquiry);
    assert_int_equal(inquiry->error.status, DUEQ_AUTH);
    assert_says(inquiry, "NOAUTH");
    assert_says(inquiry, "Connection refused");
    dueq__inquiry_drop(inquiry);
    redisContext *context = redisConnectUnix(server.socket);
    freeReplyObject(redisCommand(context, "AUTH secret"));
    freeReplyObject(redisCommand(context, "CONFIG SET requirepass %s", ""));
    redisFree(context);
    dueq__url_clear(&url);
}

static void test_inquiry_goes_on_from_an_answer_of_no_use(void **state) {
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "redis+cluster://127.0.0.1:%d,localhost:%d", port, port);
    struct dueq__url url = url_of(text);
    struct dueq__inquiry *inquiry = ask(&url, 1, "ECHO", "x");
    await(inquiry);
    assert_answer(inquiry, 1, "x");
    dueq__inquiry_pass(inquiry, DUEQ_CONNECT, "knows nothing");
    await(inquiry);
    assert_answer(inquiry, 0, "x");
    dueq__inquiry_pass(inquiry, DUEQ_CONNECT, "knows nothing either");
    assert_true(dueq__inquiry_pump(inquiry));
    assert_int_equal(inquiry->error.status, DUEQ_CONNECT);
    assert_says(inquiry, "knows nothing; 127.0.0.1");
    assert_says(inquiry, "knows nothing either");
    dueq__inquiry_drop(inquiry);
    dueq__url_clear(&url);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_inquiry_asks_the_next_where_one_is_gone),
        TEST(test_inquiry_gives_each_its_share_of_the_time),
        TEST(test_inquiry_says_why_none_answered),
        TEST(test_inquiry_refused_by_one_has_its_status),
        TEST(test_inquiry_goes_on_from_an_answer_of_no_use),
    };
    char number[12];
    port = free_port();
    snprintf(number, sizeof number, "%d", port);
    return run_on_server(tests, (const char *const[]){"--port", number, NULL});
}
