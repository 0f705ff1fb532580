#include "support.h"

#include "base/base.h"

static void test_digits_are_taken_off(void **state) {
    (void)state;
    const struct {
        const char *text;
        size_t most;
        int64_t number;
        const char *rest;
    } rows[] = {
        {"12:a", 9, 12, ":a"},
        {"007", 9, 7, ""},
        {"1234", 3, 123, "4"},
        {"0", 1, 0, ""},
        {"9223372036854775807 ", 30, INT64_MAX, " "},
        {"9223372036854775808 ", 30, INT64_MAX, " "},
        {"99999999999999999999999", 22, INT64_MAX, "9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].text;
        int64_t number;
        assert_true(dueq__take_digits(&at, NULL, rows[i].most, &number));
        assert_int_equal(number, rows[i].number);
        assert_string_equal(at, rows[i].rest);
    }
}

static void test_digits_end_where_the_text_ends(void **state) {
    (void)state;
    static const char text[] = "1234";
    const char *at = text;
    int64_t number;
    assert_true(dueq__take_digits(&at, text + 2, 9, &number));
    assert_int_equal(number, 12);
    assert_ptr_equal(at, text + 2);
    assert_false(dueq__take_digits(&at, at, 9, &number));
    at = NULL;
    assert_false(dueq__take_digits(&at, NULL, 9, &number));
}

static void test_where_no_digit_is_nothing_is_taken(void **state) {
    (void)state;
    const char *const texts[] = {"", "-1", "+1", " 1", ":", "x1", "\xd9\xa1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at = texts[i];
        int64_t number = 7;
        assert_false(dueq__take_digits(&at, NULL, 9, &number));
        assert_ptr_equal(at, texts[i]);
        assert_int_equal(number, 0);
    }
}

static void test_number_is_the_whole_text(void **state) {
    (void)state;
    const struct {
        const char *text;
        int64_t number;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {"0042", 42},
                {"-17", -17},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t number = 1;
        assert_true(dueq__read_number(dueq__text(rows[i].text), INT64_MIN, INT64_MAX, &number));
        assert_int_equal(number, rows[i].number);
    }
}

static void test_other_texts_are_no_numbers(void **state) {
    (void)state;
    const dueq_bytes texts[] = {
        {NULL, 0},
        {"", 0},
        {"-", 1},
        {"+1", 2},
        {" 1", 2},
        {"1 ", 2},
        {"1.0", 3},
        {"1e3", 3},
        {"0x1", 3},
        {"--1", 3},
        {"1-", 2},
        {"1\0", 2},
        {"nan", 3},
        {"\xd9\xa1", 2},
        {"9223372036854775808", 19},
        {"-9223372036854775809", 20},
        {"99999999999999999999", 20},
        {"18446744073709551617", 20},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t number = 7;
        assert_false(dueq__read_number(texts[i], INT64_MIN, INT64_MAX, &number));
        assert_int_equal(number, 7);
    }
}

static void test_number_has_bounds(void **state) {
    (void)state;
    int64_t number = 7;
    assert_true(dueq__read_number(dueq__text("1"), 1, 3, &number) && number == 1);
    assert_true(dueq__read_number(dueq__text("3"), 1, 3, &number) && number == 3);
    assert_false(dueq__read_number(dueq__text("0"), 1, 3, &number));
    assert_false(dueq__read_number(dueq__text("4"), 1, 3, &number));
    assert_int_equal(number, 3);
    /* Where no number is negative, a '-' is no part of one. */
    assert_false(dueq__read_number(dueq__text("-0"), 0, 3, &number));
    assert_true(dueq__read_number(dueq__text("-2"), -2, 3, &number) && number == -2);
    assert_false(dueq__read_number(dueq__text("-3"), -2, 3, &number));
}

static void test_words_are_taken_off(void **state) {
    (void)state;
    dueq_bytes text = dueq__text("one  two"), word;
    assert_true(dueq__take_word(&text, ' ', &word));
    assert_true(dueq__bytes_equal(word, dueq__text("one")));
    assert_true(dueq__take_word(&text, ' ', &word));
    assert_int_equal(word.size, 0);
    assert_false(dueq__take_word(&text, ' ', &word));
    assert_true(dueq__bytes_equal(word, dueq__text("two")));
    assert_int_equal(text.size, 0);
    assert_false(dueq__take_word(&text, ' ', &word));
    assert_int_equal(word.size, 0);
}

static void test_last_words_are_taken_off(void **state) {
    (void)state;
    dueq_bytes text = dueq__text("::1:6379"), word = {0};
    assert_true(dueq__take_last_word(&text, ':', &word));
    assert_true(dueq__bytes_equal(word, dueq__text("6379")));
    assert_true(dueq__bytes_equal(text, dueq__text("::1")));
    text = dueq__text(":");
    assert_true(dueq__take_last_word(&text, ':', &word));
    assert_int_equal(word.size, 0);
    assert_int_equal(text.size, 0);
    assert_false(dueq__take_last_word(&text, ':', &word));
    text = dueq__text("none");
    assert_false(dueq__take_last_word(&text, ':', &word));
    assert_true(dueq__bytes_equal(text, dueq__text("none")));
}

static void test_durations(void **state) {
    (void)state;
    const struct {
        const char *text;
        int64_t ms;
    } rows[] = {{"90", 90000},
                {"1.5s", 1500},
                {".5s", 500},
                {"5.s", 5000},
                {"0.0005s", 1},
                {"0.0004s", 0},
                {"1h30m", 5400000},
                {"1.25h500ms", 4500500},
                {"0", 0},
                {"4102444800000ms", DUEQ_MAX_TIME_MS},
                {"4102444800001ms", -1},
                {"000000000000001s", 1000},
                {"0000000000000001s", -1},
                {"0.000000000000001s", -1},
                {"99999999999999d", -1},
                {"", -1},
                {".", -1},
                {".s", -1},
                {"s", -1},
                {"1.2.3s", -1},
                {"-1s", -1},
                {"+1s", -1},
                {" 1s", -1},
                {"1s ", -1},
                {"1x", -1},
                {"1h30", -1},
                {"1e3", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dueq_duration_ms(rows[i].text) != rows[i].ms)
            fail_msg("%s: %lld", rows[i].text, (long long)dueq_duration_ms(rows[i].text));
}

static void test_cursors_of_queues(void **state) {
    (void)state;
    const char *const good[] = {"", "0", "18446744073709551615", "3-17", "12345678-0", "3-"};
    const char *const bad[] = {
        "x", "-1", "+1", " 1", "1 ", "1-2-3", "123456789-0", "1-x", "184467440737095516150"};
    dueq_client *client;
    assert_int_equal(dueq_open("unix:///nonexistent/socket", &client), DUEQ_OK);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(dueq_queues_submit(client, dueq__text(good[i])), DUEQ_PENDING);
        dueq_abandon(client);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(dueq_queues_submit(client, dueq__text(bad[i])), DUEQ_INVALID);
    dueq_close(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits_are_taken_off),
        cmocka_unit_test(test_digits_end_where_the_text_ends),
        cmocka_unit_test(test_where_no_digit_is_nothing_is_taken),
        cmocka_unit_test(test_number_is_the_whole_text),
        cmocka_unit_test(test_other_texts_are_no_numbers),
        cmocka_unit_test(test_number_has_bounds),
        cmocka_unit_test(test_words_are_taken_off),
        cmocka_unit_test(test_last_words_are_taken_off),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_cursors_of_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
