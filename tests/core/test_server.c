/* One server behind a client's URL, asked by commands of its own. */
#include "../../servers/dueq_server.h"
#include "fixture.h"

static const dueq_bytes ping[] = {{"PING", 4}};

static dueq_status ask(dueq_server *remote, const char *words, const dueq_answer **answer) {
    dueq_bytes list[8];
    size_t count = 0;
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        list[count++] = (dueq_bytes){words, strcspn(words, " ")};
    return dueq_server_ask(remote, list, count, answer);
}

static dueq_server *open_remote(dueq_client *client) {
    dueq_server *remote;
    assert_status(client, OK, dueq_server_open(client, 0, &remote));
    return remote;
}

static void assert_text(const char *expected, const dueq_answer *answer) {
    assert_string_equal(dueq_answer_text(answer).data, expected);
    assert_int_equal(dueq_answer_text(answer).size, strlen(expected));
}

static void test_server_answers(void **state) {
    (void)state;
    dueq_server *remote = open_remote(jobs.client), *second;
    const dueq_answer *answer;
    assert_string_equal(dueq_server_address(remote), server.url);
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_OK);
    assert_text("PONG", answer);
    assert_int_equal(dueq_answer_number(answer), 0);
    assert_int_equal(dueq_answer_count(answer), 0);
    assert_int_equal(ask(remote, "RPUSH list one 2", &answer), DUEQ_OK);
    assert_int_equal(dueq_answer_number(answer), 2);
    assert_text("", answer);
    assert_int_equal(ask(remote, "LRANGE list 0 -1", &answer), DUEQ_OK);
    assert_int_equal(dueq_answer_count(answer), 2);
    assert_text("one", dueq_answer_item(answer, 0));
    assert_int_equal(dueq_answer_number(dueq_answer_item(answer, 1)), 2);
    assert_text("", dueq_answer_item(answer, 2));
    assert_int_equal(dueq_server_open(jobs.client, 1, &second), DUEQ_EMPTY);
    assert_null(second);
    assert_int_equal(dueq_server_open_primary(jobs.client, 1, &second), DUEQ_EMPTY);
    assert_null(second);
    assert_status(jobs.client, OK, dueq_server_open_primary(jobs.client, 0, &second));
    assert_int_equal(ask(second, "LLEN list", &answer), DUEQ_OK);
    assert_int_equal(dueq_answer_number(answer), 2);
    dueq_server_close(second);
    assert_int_equal(dueq_client_accepts_evicting(jobs.client), 0);
    assert_null(dueq_client_primary(jobs.client));
    assert_int_equal(dueq_client_timeout_ms(jobs.client), DUEQ_DEFAULT_TIMEOUT_MS);
    dueq_server_close(remote);
    dueq_server_close(NULL);
}

static void test_server_says_what_it_refuses(void **state) {
    (void)state;
    dueq_server *remote = open_remote(jobs.client);
    const dueq_answer *answer;
    assert_int_equal(ask(remote, "FLY", &answer), DUEQ_UNSUPPORTED);
    assert_null(answer);
    assert_non_null(strstr(dueq_server_error_text(remote), "unknown command"));
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_OK);
    assert_string_equal(dueq_server_error_text(remote), "");
    dueq_server_close(remote);
}

static void test_server_is_connected_again(void **state) {
    (void)state;
    dueq_server *remote = open_remote(jobs.client);
    const dueq_answer *answer;
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_OK);
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_CLOSED);
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_OK);
    dueq_server_close(remote);
}

static void test_server_that_is_none(void **state) {
    (void)state;
    dueq_client *client = open_client("redis://127.0.0.1:1?timeout=2s");
    dueq_server *remote = open_remote(client), *other;
    const dueq_answer *answer;
    char host[300] = "";
    assert_string_equal(dueq_server_address(remote), "127.0.0.1:1");
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_CONNECT);
    assert_non_null(strstr(dueq_server_error_text(remote), "127.0.0.1:1"));
    memset(host, 'x', sizeof host - 1);
    assert_int_equal(dueq_server_open_at(client, host, 1, &other), DUEQ_NAME);
    dueq_server_close(remote);
    dueq_close(client);
}

static void test_server_that_is_silent(void **state) {
    (void)state;
    dueq_client *client = open_client(url_with("", "?timeout=300ms"));
    dueq_server *remote = open_remote(client);
    const dueq_answer *answer;
    run_command(&server, "DEL none");
    assert_int_equal(ask(remote, "BLPOP none 0", &answer), DUEQ_TIMEOUT);
    assert_non_null(strstr(dueq_server_error_text(remote), "did not answer within 300 ms"));
    assert_int_equal(dueq_server_ask(remote, ping, 1, &answer), DUEQ_OK);
    dueq_server_close(remote);
    dueq_close(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_server_answers),
        TEST(test_server_says_what_it_refuses),
        TEST(test_server_is_connected_again),
        TEST(test_server_that_is_none),
        TEST(test_server_that_is_silent),
    };
    return run_on_server(tests, NULL);
}
