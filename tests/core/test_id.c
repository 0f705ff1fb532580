#include "golden.h"
#include "verbs/verbs.h"

static void assert_digits(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        assert_non_null(
            memchr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", text[i], 62));
}

static void test_id_has_its_time(void **state) {
    (void)state;
    struct golden golden = golden_open("ids");
    while (golden_next(&golden)) {
        const char *text = golden.field[0];
        int64_t expected = golden_text(&golden, 1) ? golden_number(&golden, 1) : -1;
        if (dueq__id_time(text, strlen(text)) != expected)
            fail_msg("%s has %lld", text, (long long)dueq__id_time(text, strlen(text)));
    }
    assert_int_equal(dueq__id_time("", 0), -1);
    assert_int_equal(dueq__id_time("000000000\0", 10), -1);
}

static void test_id_is_of_now(void **state) {
    (void)state;
    struct dueq__id_source source = {0};
    char id[DUEQ__ID_SIZE], stamp[DUEQ__INCARNATION_SIZE];
    int64_t before = dueq__wall_ms();
    dueq__id_next(&source, id);
    dueq__incarnation_next(&source, stamp);
    int64_t after = dueq__wall_ms();
    assert_digits(id, sizeof id);
    assert_digits(stamp, sizeof stamp);
    assert_in_range(dueq__id_time(id, sizeof id), before, after);
    assert_in_range(dueq__id_time(stamp, sizeof stamp), before, after);
}

static void test_id_rises_within_a_millisecond(void **state) {
    (void)state;
    /* A clock that stands still: the source has seen a later time than there is. */
    int64_t later = dueq__wall_ms() + 3600000;
    struct dueq__id_source source = {
        .last_ms = later, .high = (uint64_t)later << 16 | 0x7FFF, .low = UINT64_MAX - 500000};
    char last[DUEQ__ID_SIZE], next[DUEQ__ID_SIZE];
    dueq__id_next(&source, last);
    for (int i = 1; i < 1000000; i++) {
        dueq__id_next(&source, next);
        if (memcmp(last, next, sizeof next) >= 0)
            fail_msg("%.22s comes after %.22s", next, last);
        memcpy(last, next, sizeof last);
    }
    assert_int_equal(dueq__id_time(last, sizeof last), later);
}

static void test_id_rises_with_time_and_when_the_clock_goes_back(void **state) {
    (void)state;
    struct dueq__id_source source = {0};
    char last[DUEQ__ID_SIZE] = "", next[DUEQ__ID_SIZE];
    for (int i = 0; i < 200000; i++) {
        if (i == 100000)
            source = (struct dueq__id_source){.last_ms = source.last_ms + 60000,
                                              .high = (uint64_t)(source.last_ms + 60000) << 16};
        dueq__id_next(&source, next);
        assert_true(memcmp(last, next, sizeof next) < 0);
        memcpy(last, next, sizeof last);
    }
}

static void test_id_of_two_sources_in_a_millisecond_differ(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static char ids[COUNT][DUEQ__ID_SIZE];
    for (int i = 0; i < COUNT; i++) {
        struct dueq__id_source source = {0};
        dueq__id_next(&source, ids[i]);
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(ids[i], ids[k], DUEQ__ID_SIZE);
    }
}

static void test_stamp_rises(void **state) {
    (void)state;
    struct dueq__id_source source = {0};
    char last[DUEQ__INCARNATION_SIZE] = "", next[DUEQ__INCARNATION_SIZE];
    for (int i = 0; i < 200000; i++) {
        dueq__incarnation_next(&source, next);
        assert_true(memcmp(last, next, sizeof next) < 0);
        memcpy(last, next, sizeof last);
    }
}

static void test_new_id_ends_with_nul(void **state) {
    (void)state;
    char id[DUEQ__ID_SIZE + 2], other[DUEQ__ID_SIZE + 1];
    dueq_client *client = open_client("redis://");
    memset(id, '#', sizeof id);
    dueq_new_id(client, id);
    dueq_new_id(client, other);
    assert_int_equal(strlen(id), DUEQ__ID_SIZE);
    assert_int_equal(id[DUEQ__ID_SIZE + 1], '#');
    assert_true(strcmp(id, other) < 0);
    dueq_close(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id_has_its_time),
        cmocka_unit_test(test_id_is_of_now),
        cmocka_unit_test(test_id_rises_within_a_millisecond),
        cmocka_unit_test(test_id_rises_with_time_and_when_the_clock_goes_back),
        cmocka_unit_test(test_id_of_two_sources_in_a_millisecond_differ),
        cmocka_unit_test(test_stamp_rises),
        cmocka_unit_test(test_new_id_ends_with_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
