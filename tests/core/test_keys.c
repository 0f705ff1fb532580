#include "golden.h"
#include "verbs/verbs.h"

static dueq_status check_name(const char *name, size_t size) {
    struct dueq__error error = {0};
    dueq_status status = dueq__name_check(name, size, &error);
    assert_true(status == DUEQ_OK || (status == DUEQ_NAME && error.text[0]));
    return status;
}

static dueq_status check_id(const char *id, size_t size) {
    struct dueq__error error = {0};
    dueq_status status =
        dueq__text_check("a message's id", (dueq_bytes){id, size}, DUEQ_MAX_ID, &error);
    assert_true(status == DUEQ_OK || error.text[0]);
    return status;
}

static void test_keys_of_a_queue(void **state) {
    (void)state;
    struct golden golden = golden_open("keys");
    while (golden_next(&golden)) {
        dueq_bytes keys[DUEQ__KEY_COUNT];
        const char *name = golden.field[0], *expected = golden.field[2];
        size_t which = 0;
        while (which < DUEQ__KEY_COUNT && strcmp(dueq__key_suffix[which], golden.field[1]) != 0)
            which++;
        assert_in_range(which, 0, DUEQ__KEY_COUNT - 1);
        assert_true(dueq__keys_make(keys, name, strlen(name)));
        assert_int_equal(keys[which].size, strlen(expected));
        assert_memory_equal(keys[which].data, expected, keys[which].size);
        free((void *)(uintptr_t)keys[0].data);
    }
}

static void test_name_good(void **state) {
    (void)state;
    static const char *const good[] = {
        "a",     "orders",           "two words",        " ",        "a:b/c.d",
        "größe", "\xF0\x9F\xA7\x80", "\xF4\x8F\xBF\xBF", "\xC2\x80", "\xEF\xBF\xBF",
        "~",     "dueq:x:msg"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (check_name(good[i], strlen(good[i])) != DUEQ_OK)
            fail_msg("'%s' should be a name", good[i]);
}

static void test_name_bad(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "a{b",
                                      "a}b",
                                      "{a}",
                                      "a\nb",
                                      "\t",
                                      "\x1F",
                                      "\x7F",
                                      "\x80",
                                      "\xC3",
                                      "\xC0\xAF",
                                      "\xC1\x81",
                                      "\xE0\x80\xAF",
                                      "\xE2\x82",
                                      "\xED\xA0\x80",
                                      "\xF0\x80\x80\xAF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "a\xE2\x28\xA1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (check_name(bad[i], strlen(bad[i])) != DUEQ_NAME)
            fail_msg("'%s' should not be a name", bad[i]);
    assert_int_equal(check_name("a\0b", 3), DUEQ_NAME);
    assert_int_equal(check_name("\0", 1), DUEQ_NAME);
}

static void test_name_sizes(void **state) {
    (void)state;
    char name[DUEQ_MAX_NAME + 1];
    memset(name, 'q', sizeof name);
    assert_int_equal(check_name(name, DUEQ_MAX_NAME), DUEQ_OK);
    assert_int_equal(check_name(name, DUEQ_MAX_NAME + 1), DUEQ_NAME);
    /* A character that the end cuts through. */
    memcpy(name + DUEQ_MAX_NAME - 2, "\xE2\x82\xAC", 3);
    assert_int_equal(check_name(name, DUEQ_MAX_NAME), DUEQ_NAME);
}

static void test_id_good_and_bad(void **state) {
    (void)state;
    char id[DUEQ_MAX_ID + 1];
    memset(id, 'i', sizeof id);
    assert_int_equal(check_id(id, 1), DUEQ_OK);
    assert_int_equal(check_id(id, DUEQ_MAX_ID), DUEQ_OK);
    assert_int_equal(check_id(id, DUEQ_MAX_ID + 1), DUEQ_TOO_LARGE);
    assert_int_equal(check_id(id, 0), DUEQ_INVALID);
    assert_int_equal(check_id("{bill:7}", 8), DUEQ_OK);
    assert_int_equal(check_id("größe", strlen("größe")), DUEQ_OK);
    assert_int_equal(check_id("a\nb", 3), DUEQ_INVALID);
    assert_int_equal(check_id("a\0b", 3), DUEQ_INVALID);
    assert_int_equal(check_id("\xFF", 1), DUEQ_INVALID);
}

static void test_utf8_control_characters_where_allowed(void **state) {
    (void)state;
    assert_true(dueq__is_utf8("a\r\n\t\0\x7F", 6, true));
    assert_false(dueq__is_utf8("a\n", 2, false));
    assert_true(dueq__is_utf8("", 0, false));
    assert_false(dueq__is_utf8("\xE2\x82", 2, true));
}

static void test_queue_open_with_a_bad_name(void **state) {
    (void)state;
    dueq_client *client = open_client("redis://");
    dueq_queue *queue = (dueq_queue *)&client;
    assert_status(client, NAME, dueq_queue_open(client, "a{b", 3, &queue));
    assert_null(queue);
    dueq_close(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_a_queue),
        cmocka_unit_test(test_name_good),
        cmocka_unit_test(test_name_bad),
        cmocka_unit_test(test_name_sizes),
        cmocka_unit_test(test_id_good_and_bad),
        cmocka_unit_test(test_utf8_control_characters_where_allowed),
        cmocka_unit_test(test_queue_open_with_a_bad_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
