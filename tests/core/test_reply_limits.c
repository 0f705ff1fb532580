/*
 * How large an answer may be: it is refused at the length that it announces, before its bytes come.
 */
#include <stdio.h>

#include "../../core/net/net.h"
#include "support.h"

#define MIB ((uint64_t)1 << 20)

/* Feeds what is left of the bytes one by one, until an answer is there or refused. */
static const char *take(struct dueq__reader *reader, const char **bytes, uint64_t most,
                        struct dueq__reply **reply) {
    const char *problem = NULL;
    for (*reply = NULL; !*reply && !problem && **bytes; (*bytes)++) {
        dueq__reader_feed(reader, *bytes, 1);
        problem = dueq__reader_take(reader, most, reply);
    }
    return problem;
}

/* One that is whole, and comes byte by byte or at once. */
static void assert_taken(struct dueq__reader *reader, const char *bytes, uint64_t most) {
    struct dueq__reply *reply;
    const char *at = bytes;
    assert_null(take(reader, &at, most, &reply));
    assert_non_null(reply);
    assert_string_equal(at, "");
    dueq__reply_free(reply);
    dueq__reader_feed(reader, bytes, strlen(bytes));
    assert_null(dueq__reader_take(reader, most, &reply));
    assert_non_null(reply);
    dueq__reply_free(reply);
}

/* One that is refused when `left` of its bytes are still to come. */
static void assert_refused(const char *bytes, uint64_t most, const char *left, const char *says) {
    struct dueq__reader *reader = dueq__reader_new();
    struct dueq__reply *reply;
    const char *at = bytes, *problem = take(reader, &at, most, &reply);
    assert_non_null(problem);
    assert_non_null(strstr(problem, says));
    assert_string_equal(at, left);
    assert_null(reply);
    dueq__reader_free(reader);
}

/* Its strings have 72 bytes. A line counts with its end until that has come whole. */
static const char nested[] = "*4\r\n$30\r\n012345678901234567890123456789\r\n:1793541600000000\r\n"
                             "*2\r\n$40\r\n0123456789012345678901234567890123456789\r\n+OK\r\n"
                             "$-1\r\n";

static void test_answers_of_just_as_many_bytes_are_taken(void **state) {
    (void)state;
    struct dueq__reader *reader = dueq__reader_new();
    assert_taken(reader, nested, 76);
    /* What came before does not count, and a number is no length. */
    assert_taken(reader, ":1793541600000000\r\n", 20);
    assert_taken(reader, "$0\r\n\r\n", 4);
    assert_taken(reader, "*-1\r\n", 4);
    assert_taken(reader, "-ERR 9999999\r\n", 16);
    assert_taken(reader, "+99999999999\r\n", 15);
    dueq__reader_free(reader);
}

static void test_answers_of_more_bytes_are_refused(void **state) {
    (void)state;
    assert_refused(nested, 71, "\r\n$-1\r\n", "72 bytes");
    assert_refused("$2147483647\r\n", MIB, "\n", "2147483647 bytes");
    assert_refused("*2\r\n$600000\r\n", 600000 - 1, "\n", "600000 bytes");
    assert_refused("*2\r\n$1\r\na\r\n$1048576\r\n", MIB, "\n", "1048577 bytes");
    /* A line without an end. */
    assert_refused("-aaaaaaaaaaaaaaaaaaaa", 10, "aaaaaaaaa", "11 bytes");
    assert_refused("$11111111111111111111111111", 10, "111111111111111", "11 bytes");
}

static void test_a_string_that_no_server_has_is_refused_in_an_answer_of_any_size(void **state) {
    (void)state;
    assert_refused("*200\r\n$2147483647\r\n", 200 * DUEQ__MAX_MESSAGE_REPLY, "\n",
                   "2147483647 bytes");
    struct dueq__reader *reader = dueq__reader_new();
    struct dueq__reply *reply;
    const char *at = "*2\r\n$22\r\n0123456789012345678901\r\n$536870912\r\nx";
    assert_null(take(reader, &at, DUEQ__MAX_MESSAGE_REPLY, &reply));
    assert_null(reply);
    dueq__reader_free(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_of_just_as_many_bytes_are_taken),
        cmocka_unit_test(test_answers_of_more_bytes_are_refused),
        cmocka_unit_test(test_a_string_that_no_server_has_is_refused_in_an_answer_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
