/* JSON texts: what is one, what is in it, and how strings are written. */
#include <math.h>

#include "json.h"
#include "strbuf.h"
#include "support.h"

#define DEPTH 8

/* Checks a copy of its own size, so that AddressSanitizer sees a read beyond it. */
static bool check_sized(const char *text, size_t size, unsigned depth) {
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    bool good = dueq__json_check((dueq_bytes){copy, size}, depth);
    free(copy);
    return good;
}

static bool check(const char *text) { return check_sized(text, strlen(text), DEPTH); }

static const char *const good[] = {
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1.5e+10",
    "12345678901234567890123",
    "1E400",
    "\"\"",
    "\" \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000 \\uD83d\\ude00 \x7F \xC3\xA9 \xF0\x9F\x98\x80\"",
    "[]",
    "{}",
    " [ 1 , [ ] , { } ]\r\n\t",
    "{\"\":1,\"a\":{\"a\":[null]},\"a\":2}",
    "[[[[[[[[]]]]]]]]",
};

static const char *const bad[] = {
    "",
    " ",
    "nul",
    "nulll",
    "True",
    "NaN",
    "Infinity",
    "-",
    "+1",
    "01",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x10",
    "1 2",
    "\"",
    "\"\\\"",
    "'a'",
    "\"\t\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12G4\"",
    "\"\\uD83D\"",
    "\"\\uDE00\"",
    "\"\\uD83D\\u0041\"",
    "\"\\uD83Dx\"",
    "\"\xC3\"",
    "\"\xED\xA0\xBD\"",
    "\"\xC0\x80\"",
    "\xEF\xBB\xBF[]",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{\"a\":1]",
    "{",
    "{\"a\"",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "{1:1}",
    "{\"a\":1,\"b\"}",
    "{,}",
    "[:]",
    "[\"a\":1]",
    "1,",
    "[] []",
    "[[[[[[[[[]]]]]]]]]",
    "[[[[[[[{\"a\":{}}]]]]]]]",
};

static void test_json_check(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!check(good[i]))
            fail_msg("%s is JSON", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (check(bad[i]))
            fail_msg("%s is not JSON", bad[i]);
    assert_false(check_sized("\"a\0b\"", 5, DEPTH));
    assert_false(check_sized("1\0", 2, DEPTH));
    assert_false(dueq__json_check((dueq_bytes){0}, DEPTH));
}

static void test_json_cut_anywhere(void **state) {
    (void)state;
    const char *text = "{\"a\\n\\uD83D\\uDE00\":[true,-1.5e3,{\"b\":null}]}";
    for (size_t size = 0; size <= strlen(text); size++)
        assert_int_equal(check_sized(text, size, DEPTH), size == strlen(text));
}

static void test_json_depth(void **state) {
    (void)state;
    assert_true(check_sized("1", 1, 0));
    assert_false(check_sized("[]", 2, 0));
    assert_true(check_sized("[]", 2, 1));
    assert_false(check_sized("[[]]", 4, 1));
    enum { MANY = 100000 };
    char *deep = malloc(2 * MANY);
    memset(deep, '[', MANY);
    memset(deep + MANY, ']', MANY);
    assert_false(check_sized(deep, 2 * MANY, DUEQ__JSON_DEPTH));
    assert_false(check_sized(deep, 2 * MANY, 2 * MANY));
    size_t left = MANY - DUEQ__JSON_DEPTH;
    assert_true(check_sized(deep + left, 2 * DUEQ__JSON_DEPTH, DUEQ__JSON_DEPTH));
    assert_false(check_sized(deep + left, 2 * DUEQ__JSON_DEPTH, DUEQ__JSON_DEPTH - 1));
    free(deep);
}

static void test_json_kind(void **state) {
    (void)state;
    static const char *const texts[] = {"null", "false", " true", "-1", "\"\"", "[]", "\n{}", ""};
    for (unsigned i = 0; i <= DUEQ__JSON_BAD; i++)
        assert_int_equal(dueq__json_kind(BYTES(texts[i])), i);
}

static void assert_text(const char *expected, dueq_bytes got) {
    if (got.size != strlen(expected) || memcmp(got.data, expected, got.size) != 0)
        fail_msg("%.*s instead of %s", (int)got.size, (const char *)got.data, expected);
}

static void test_json_member(void **state) {
    (void)state;
    dueq_bytes object =
        BYTES(" { \"a\" : 1 , \"b\":{\"c\":[2]}, \"\\u0061\": \"x:,}\" , \"\":null}");
    dueq_bytes value;
    assert_true(dueq__json_member(object, "a", &value));
    assert_text("\"x:,}\"", value);
    assert_true(dueq__json_member(object, "b", &value));
    assert_text("{\"c\":[2]}", value);
    assert_true(dueq__json_member(object, "", &value));
    assert_text("null", value);
    assert_false(dueq__json_member(object, "c", &value));
    assert_false(dueq__json_member(object, "aa", &value));
    assert_false(dueq__json_member(BYTES("[\"a\",1]"), "a", &value));
    assert_false(dueq__json_member(BYTES("{}"), "a", &value));
    assert_false(dueq__json_member(BYTES("1"), "a", &value));
}

static void test_json_walk(void **state) {
    (void)state;
    struct dueq__json_walk walk = dueq__json_walk(BYTES(" [ 1, [2,[3]] ,\"]\",{\"a\":4} ] "));
    static const char *const items[] = {"1", "[2,[3]]", "\"]\"", "{\"a\":4}"};
    dueq_bytes name, value;
    for (size_t i = 0; i < 4; i++) {
        assert_true(dueq__json_next(&walk, &name, &value));
        assert_int_equal(name.size, 0);
        assert_text(items[i], value);
    }
    assert_false(dueq__json_next(&walk, &name, &value));
    assert_false(dueq__json_next(&walk, &name, &value));
    walk = dueq__json_walk(BYTES("{\"a\":\"b\" , \"\\\"\":{}}"));
    assert_true(dueq__json_next(&walk, &name, &value));
    assert_text("\"a\"", name);
    assert_text("\"b\"", value);
    assert_true(dueq__json_next(&walk, &name, &value));
    assert_text("\"\\\"\"", name);
    assert_text("{}", value);
    assert_false(dueq__json_next(&walk, NULL, &value));
}

static void test_json_integer(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {" 17 ", 17},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    int64_t number = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(dueq__json_integer(BYTES(rows[i].text), &number));
        assert_true(number == rows[i].number);
    }
    static const char *const none[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "1.0",
                                       "1e3",
                                       "\"1\"",
                                       "null",
                                       "123456789012345678901",
                                       "[]"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(dueq__json_integer(BYTES(none[i]), &number));
}

static void test_json_double(void **state) {
    (void)state;
    double number;
    assert_true(dueq__json_double(BYTES(" -1.5e3 "), &number));
    assert_true(number == -1500);
    assert_true(dueq__json_double(BYTES("1e400"), &number) && isinf(number));
    assert_true(dueq__json_double(BYTES("-0"), &number) && signbit(number));
    assert_false(dueq__json_double(BYTES("\"1\""), &number));
}

static void assert_string(const char *json, const char *expected, size_t size) {
    char *out = malloc(strlen(json));
    assert_int_equal(dueq__json_string(BYTES(json), NULL), size);
    assert_int_equal(dueq__json_string(BYTES(json), out), size);
    assert_memory_equal(out, expected, size);
    free(out);
}

static void test_json_string(void **state) {
    (void)state;
    assert_string("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t", 9);
    assert_string("\"\\u0000\\u00e9\\u20AC\\uD83D\\uDE00\"",
                  "\0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10);
    assert_string("\"\xE2\x82\xAC\"", "\xE2\x82\xAC", 3);
    assert_int_equal(dueq__json_string(BYTES("12"), NULL), 0);
    assert_true(dueq__json_equals(BYTES("\"\\u0061b\""), "ab"));
    assert_true(dueq__json_equals(BYTES("\"\""), ""));
    assert_false(dueq__json_equals(BYTES("\"ab\""), "abc"));
    assert_false(dueq__json_equals(BYTES("\"ab\""), "a"));
    assert_false(dueq__json_equals(BYTES("\"a\\u0000\""), "a"));
    assert_false(dueq__json_equals(BYTES("ab"), "ab"));
}

static void test_text_grows(void **state) {
    (void)state;
    struct dueq__strbuf text = {0};
    dueq__strbuf_string(&text, "a");
    dueq__strbuf_byte(&text, ',');
    dueq__strbuf_number(&text, INT64_MIN);
    dueq__strbuf_number(&text, 0);
    dueq__strbuf_bytes(&text, (dueq_bytes){0});
    assert_text("a,-92233720368547758080", (dueq_bytes){text.data, text.size});
    for (int i = 0; i < 10000; i++)
        dueq__strbuf_byte(&text, i & 0xFF);
    assert_false(text.failed);
    assert_int_equal(text.size, 10023);
    assert_int_equal((unsigned char)text.data[10022], 9999 & 0xFF);
    assert_null(dueq__strbuf_space(&text, SIZE_MAX));
    assert_true(text.failed);
    assert_null(dueq__strbuf_space(&text, 1));
    dueq__strbuf_free(&text);
    assert_int_equal(text.size, 0);
}

static void test_text_writes_json(void **state) {
    (void)state;
    struct dueq__strbuf text = {0};
    dueq_bytes all = {"a\"\\/\b\f\n\r\t\0\x1F\x7F\xE2\x82\xAC\xF0\x9F\x98\x80", 19};
    dueq__strbuf_json(&text, all, true);
    dueq_bytes written = {text.data, text.size};
    assert_text("\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\x7F\xE2\x82\xAC\\uD83D\\uDE00\"",
                written);
    assert_true(dueq__json_check(written, 0));
    char *back = malloc(text.size);
    assert_int_equal(dueq__json_string(written, back), all.size);
    assert_memory_equal(back, all.data, all.size);
    free(back);
    text.size = 0;
    dueq__strbuf_json(&text, (dueq_bytes){"a\"\xF0\x9F\x98\x80", 6}, false);
    assert_text("\"a\\\"\xF0\x9F\x98\x80\"", (dueq_bytes){text.data, text.size});
    text.size = 0;
    dueq__strbuf_json(&text, (dueq_bytes){0}, true);
    assert_text("\"\"", (dueq_bytes){text.data, text.size});
    dueq__strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_check),       cmocka_unit_test(test_json_cut_anywhere),
        cmocka_unit_test(test_json_depth),       cmocka_unit_test(test_json_kind),
        cmocka_unit_test(test_json_member),      cmocka_unit_test(test_json_walk),
        cmocka_unit_test(test_json_integer),     cmocka_unit_test(test_json_double),
        cmocka_unit_test(test_json_string),      cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_text_writes_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
