/*
 * A host with two addresses, of which the first drops packets. This file's getaddrinfo() knows the
 * name; the address is a listener's whose queue is full, where Linux drops what would connect.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

#define NAME "two.example.com"
#define FIRST "127.0.0.2"
#define SECOND "127.0.0.1"
/* More than a listener without a queue takes. */
#define CROWD 4

static int port, listener = -1, crowd[CROWD];

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    int (*usual)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    *(void **)&usual = dlsym(RTLD_NEXT, "getaddrinfo");
    if (strcmp(host, NAME) != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return usual(host, service, hints, found);
    int problem = usual(FIRST, service, hints, found);
    return problem ? problem : usual(SECOND, service, hints, &(*found)->ai_next);
}

static void open_first(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, FIRST, &address.sin_addr);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 0), 0);
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(crowd[i], (struct sockaddr *)&address, sizeof address);
    }
}

static void close_first(void) {
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
    close(listener);
}

static struct jobs open_named(void) {
    char url[128];
    snprintf(url, sizeof url, "redis://" NAME ":%d?timeout=20s", port);
    return jobs_open(url);
}

static void start(void) {
    static char number[12];
    port = free_port();
    snprintf(number, sizeof number, "%d", port);
    server_start_with(&server, (const char *const[]){"--port", number, "--bind", SECOND, NULL});
}

static void test_address_that_drops_packets_is_passed_over_and_not_tried_first_again(void **state) {
    (void)state;
    start();
    open_first();
    int64_t begin = now_ms();
    for (int i = 0; i < 40; i++) {
        struct jobs named = open_named();
        assert_status(named.client, OK, push_text(named.queue, "a"));
        jobs_close(named);
    }
    /* 250 ms each were 10 s. */
    assert_in_range(now_ms() - begin, 240, 8000);
    close_first();
    server_stop(&server);
}

static void test_descriptor_tells_when_the_next_address_is_to_be_tried(void **state) {
    (void)state;
    start();
    open_first();
    struct jobs named = open_named();
    dueq_draft draft = DUEQ_DRAFT;
    assert_status(named.client, PENDING, dueq_push_submit(named.queue, &draft, 1));
    struct pollfd slot = {.fd = dueq_descriptor(named.client), .events = POLLIN};
    dueq_status status = DUEQ_PENDING;
    for (int pumps = 0; (status = dueq_pump(named.client)) == DUEQ_PENDING; pumps++) {
        assert_true(pumps < 100);
        assert_int_equal(poll(&slot, 1, 20000), 1);
    }
    assert_status(named.client, OK, status);
    jobs_close(named);
    close_first();
    server_stop(&server);
}

static void test_address_that_answers_is_forgotten_when_it_does_not(void **state) {
    (void)state;
    start();
    struct jobs named = open_named();
    assert_status(named.client, OK, push_text(named.queue, "a"));
    jobs_close(named);
    server_stop(&server);
    named = open_named();
    assert_status(named.client, CONNECT, push_text(named.queue, "a"));
    assert_non_null(strstr(dueq_error_text(named.client), "Connection refused"));
    jobs_close(named);
    char number[12];
    snprintf(number, sizeof number, "%d", port);
    server_start_with(&server, (const char *const[]){"--port", number, "--bind", FIRST, NULL});
    named = open_named();
    assert_status(named.client, OK, push_text(named.queue, "a"));
    jobs_close(named);
    server_stop(&server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_that_drops_packets_is_passed_over_and_not_tried_first_again),
        cmocka_unit_test(test_descriptor_tells_when_the_next_address_is_to_be_tried),
        cmocka_unit_test(test_address_that_answers_is_forgotten_when_it_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
