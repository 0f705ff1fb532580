/* Where a cluster keeps its keys: the hash, the map, redirections. */
#include <stdio.h>

#include "../../core/net/net.h"
#include "support.h"

static int slot(const char *key) { return dueq__slot((dueq_bytes){key, strlen(key)}); }

static void test_slot_is_the_one_of_the_specification(void **state) {
    (void)state;
    /* CRC-16 of "123456789" is 0x31C3 (redis.io: cluster specification, appendix A). */
    assert_int_equal(slot("123456789"), 0x31C3);
    /* Of a running server: CLUSTER KEYSLOT. */
    assert_int_equal(slot("foo"), 12182);
    assert_int_equal(slot("{foo}bar"), 12182);
    assert_int_equal(slot("x{foo}{bar}"), 12182);
    assert_int_equal(slot("{}foo"), 9500);
    assert_int_equal(slot("{foo"), slot("{foo"));
    assert_int_not_equal(slot("{foo"), slot("foo"));
    assert_int_equal(slot(""), 0);
}

static struct dueq__reply *reply_of(const char *bytes) {
    struct dueq__reader *reader = dueq__reader_new();
    struct dueq__reply *reply = NULL;
    dueq__reader_feed(reader, bytes, strlen(bytes));
    assert_null(dueq__reader_take(reader, DUEQ__MAX_MESSAGE_REPLY, &reply));
    assert_non_null(reply);
    dueq__reader_free(reader);
    return reply;
}

static void note(void *owner, int first, int last, const struct dueq__address *primary) {
    char *told = owner;
    sprintf(told + strlen(told), "%d-%d %s:%d;", first, last, primary->host, primary->port);
}

static void assert_map(const char *bytes, const char *expected) {
    char told[512] = "";
    struct dueq__reply *reply = reply_of(bytes);
    dueq__slots_read(reply, "asked", note, told);
    assert_string_equal(told, expected);
    dueq__reply_free(reply);
}

static void test_map(void **state) {
    (void)state;
    assert_map("*2\r\n"
               "*4\r\n:0\r\n:5460\r\n"
               "*4\r\n$2\r\nh1\r\n:7001\r\n$2\r\nid\r\n*0\r\n"
               "*4\r\n$2\r\nh9\r\n:7009\r\n$2\r\nid\r\n*0\r\n"
               "*3\r\n:5461\r\n:16383\r\n*3\r\n$3\r\n::1\r\n:7002\r\n$2\r\nid\r\n",
               "0-5460 h1:7001;5461-16383 ::1:7002;");
}

static void test_map_of_a_node_without_an_address_means_the_one_that_was_asked(void **state) {
    (void)state;
    assert_map("*2\r\n*3\r\n:0\r\n:1\r\n*2\r\n$-1\r\n:7001\r\n"
               "*3\r\n:2\r\n:3\r\n*2\r\n$0\r\n\r\n:7002\r\n",
               "0-1 asked:7001;2-3 asked:7002;");
}

static void test_map_of_an_endpoint_that_is_not_known_has_the_address_beside_it(void **state) {
    (void)state;
    assert_map("*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$1\r\n?\r\n:7001\r\n$2\r\nid\r\n"
               "*4\r\n$1\r\nx\r\n$1\r\ny\r\n$2\r\nip\r\n$4\r\n10.1\r\n",
               "0-1 10.1:7001;");
}

static void test_map_leaves_out_what_is_none(void **state) {
    (void)state;
    assert_map("*0\r\n", "");
    assert_map("+OK\r\n", "");
    assert_map("*6\r\n"
               "*3\r\n:0\r\n:1\r\n*2\r\n$1\r\n?\r\n:7001\r\n"
               "*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:7001\r\n"
               "*3\r\n:-1\r\n:5\r\n*2\r\n$1\r\na\r\n:7001\r\n"
               "*3\r\n:0\r\n:5\r\n*2\r\n$1\r\na\r\n:70000\r\n"
               "*2\r\n:0\r\n:5\r\n"
               "*3\r\n:7\r\n:7\r\n*2\r\n$1\r\nb\r\n:7001\r\n",
               "7-7 b:7001;");
}

static void assert_redirect(const char *error, const char *expected) {
    struct dueq__redirect to;
    char told[300] = "none";
    char bytes[600];
    snprintf(bytes, sizeof bytes, "-%s\r\n", error);
    struct dueq__reply *reply = reply_of(bytes);
    if (dueq__redirect_read(reply, "asked", &to))
        snprintf(told, sizeof told, "%s %d %s %d", to.ask ? "ask" : "moved", to.slot, to.host,
                 to.port);
    assert_string_equal(told, expected);
    dueq__reply_free(reply);
}

static void test_redirections(void **state) {
    (void)state;
    assert_redirect("MOVED 3999 127.0.0.1:6381", "moved 3999 127.0.0.1 6381");
    assert_redirect("ASK 3999 host.example:6381", "ask 3999 host.example 6381");
    assert_redirect("MOVED 1 ::1:6381", "moved 1 ::1 6381");
    assert_redirect("MOVED 1 :6381", "moved 1 asked 6381");
    assert_redirect("MOVED 1 ?:6381", "none");
    assert_redirect("MOVED 16384 a:1", "none");
    assert_redirect("MOVED -1 a:1", "none");
    assert_redirect("MOVED 1 a:0", "none");
    assert_redirect("MOVED 1 a", "none");
    assert_redirect("MOVED 1 a:65536", "none");
    assert_redirect("MOVED 1 a:+1", "none");
    assert_redirect("MOVED 1 a:1x", "none");
    assert_redirect("MOVED 1 a:1 b:2", "none");
    assert_redirect("MOVED 1x a:1", "none");
    assert_redirect("MOVED 99999999999999999999 a:1", "none");
    assert_redirect("MOVED", "none");
    assert_redirect("MOVING 1 a:1", "none");
    assert_redirect("ERR no", "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot_is_the_one_of_the_specification),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_of_a_node_without_an_address_means_the_one_that_was_asked),
        cmocka_unit_test(test_map_of_an_endpoint_that_is_not_known_has_the_address_beside_it),
        cmocka_unit_test(test_map_leaves_out_what_is_none),
        cmocka_unit_test(test_redirections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
