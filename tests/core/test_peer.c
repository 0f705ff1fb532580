/* One server behind a client's URL, asked by commands of its own. */
#include "dueq_peer.h"
#include "fixture.h"

static const dueq_bytes ping[] = {{"PING", 4}};

static dueq_status ask(dueq_peer *peer, const char *words, const dueq_answer **answer) {
    dueq_bytes list[8];
    size_t count = 0;
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        list[count++] = (dueq_bytes){words, strcspn(words, " ")};
    return dueq_peer_ask(peer, list, count, answer);
}

static dueq_peer *open_peer(dueq_client *client) {
    dueq_peer *peer;
    assert_status(client, OK, dueq_peer_open(client, 0, &peer));
    return peer;
}

static void assert_text(const char *expected, const dueq_answer *answer) {
    assert_string_equal(dueq_answer_text(answer).data, expected);
    assert_int_equal(dueq_answer_text(answer).size, strlen(expected));
}

static void test_peer_answers(void **state) {
    (void)state;
    dueq_peer *peer = open_peer(jobs.client), *second;
    const dueq_answer *answer;
    assert_string_equal(dueq_peer_address(peer), server.url);
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_OK);
    assert_text("PONG", answer);
    assert_int_equal(dueq_answer_number(answer), 0);
    assert_int_equal(dueq_answer_count(answer), 0);
    assert_int_equal(ask(peer, "RPUSH list one 2", &answer), DUEQ_OK);
    assert_int_equal(dueq_answer_number(answer), 2);
    assert_text("", answer);
    assert_int_equal(ask(peer, "LRANGE list 0 -1", &answer), DUEQ_OK);
    assert_int_equal(dueq_answer_count(answer), 2);
    assert_text("one", dueq_answer_item(answer, 0));
    assert_int_equal(dueq_answer_number(dueq_answer_item(answer, 1)), 2);
    assert_text("", dueq_answer_item(answer, 2));
    assert_int_equal(dueq_peer_open(jobs.client, 1, &second), DUEQ_EMPTY);
    assert_null(second);
    assert_int_equal(dueq_peer_open_primary(jobs.client, 1, &second), DUEQ_EMPTY);
    assert_null(second);
    assert_status(jobs.client, OK, dueq_peer_open_primary(jobs.client, 0, &second));
    assert_int_equal(ask(second, "LLEN list", &answer), DUEQ_OK);
    assert_int_equal(dueq_answer_number(answer), 2);
    dueq_peer_close(second);
    assert_int_equal(dueq_client_accepts_evicting(jobs.client), 0);
    assert_null(dueq_client_primary(jobs.client));
    assert_int_equal(dueq_client_timeout_ms(jobs.client), DUEQ_DEFAULT_TIMEOUT_MS);
    dueq_peer_close(peer);
    dueq_peer_close(NULL);
}

static void test_peer_says_what_it_refuses(void **state) {
    (void)state;
    dueq_peer *peer = open_peer(jobs.client);
    const dueq_answer *answer;
    assert_int_equal(ask(peer, "FLY", &answer), DUEQ_UNSUPPORTED);
    assert_null(answer);
    assert_non_null(strstr(dueq_peer_error_text(peer), "unknown command"));
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_OK);
    assert_string_equal(dueq_peer_error_text(peer), "");
    dueq_peer_close(peer);
}

static void test_peer_is_connected_again(void **state) {
    (void)state;
    dueq_peer *peer = open_peer(jobs.client);
    const dueq_answer *answer;
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_OK);
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_CLOSED);
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_OK);
    dueq_peer_close(peer);
}

static void test_peer_that_is_none(void **state) {
    (void)state;
    dueq_client *client = open_client("redis://127.0.0.1:1?timeout=2s");
    dueq_peer *peer = open_peer(client), *other;
    const dueq_answer *answer;
    char host[300] = "";
    assert_string_equal(dueq_peer_address(peer), "127.0.0.1:1");
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_CONNECT);
    assert_non_null(strstr(dueq_peer_error_text(peer), "127.0.0.1:1"));
    memset(host, 'x', sizeof host - 1);
    assert_int_equal(dueq_peer_open_at(client, host, 1, &other), DUEQ_NAME);
    dueq_peer_close(peer);
    dueq_close(client);
}

static void test_peer_that_is_silent(void **state) {
    (void)state;
    dueq_client *client = open_client(url_with("", "?timeout=300ms"));
    dueq_peer *peer = open_peer(client);
    const dueq_answer *answer;
    run_command(&server, "DEL none");
    assert_int_equal(ask(peer, "BLPOP none 0", &answer), DUEQ_TIMEOUT);
    assert_non_null(strstr(dueq_peer_error_text(peer), "did not answer within 300 ms"));
    assert_int_equal(dueq_peer_ask(peer, ping, 1, &answer), DUEQ_OK);
    dueq_peer_close(peer);
    dueq_close(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_peer_answers),
        TEST(test_peer_says_what_it_refuses),
        TEST(test_peer_is_connected_again),
        TEST(test_peer_that_is_none),
        TEST(test_peer_that_is_silent),
    };
    return run_on_server(tests, NULL);
}
