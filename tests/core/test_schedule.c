#include "golden.h"
#include "schedule/schedule.h"

/* Each row of schedules.tsv, whose times follow each other. */
static void test_schedule_is_due_as_golden(void **state) {
    (void)state;
    struct golden golden = golden_open("schedules");
    char problem[512];
    while (golden_next(&golden)) {
        dueq_bytes expression = dueq__text(golden_text(&golden, 1)),
                   zone = dueq__text(golden_text(&golden, 2));
        int64_t at = golden_number(&golden, 3) * 1000, next = 0;
        const char *times = golden_text(&golden, 4);
        if (times && !strcmp(times, "invalid")) {
            if (dueq_schedule_next(expression, zone, at, &next, problem, sizeof problem) !=
                    DUEQ_INVALID ||
                !*problem)
                fail_msg("'%s' in '%s' is not refused", golden.field[1], golden.field[2]);
            continue;
        }
        do {
            char *end = NULL;
            double expected = times ? strtod(times, &end) * 1000 : (double)DUEQ_MAX_TIME_MS;
            dueq_status status =
                dueq_schedule_next(expression, zone, at, &next, problem, sizeof problem);
            if (status || *problem || (double)next != expected)
                fail_msg("%s: %lld is followed by %lld and not %.0f: %s", golden.field[0],
                         (long long)at, (long long)next, expected, problem);
            times = end && *end == ',' ? end + 1 : NULL;
            at = next;
        } while (times);
    }
}

static void test_schedule_zones_are_in_tzdir_first(void **state) {
    (void)state;
    int64_t next;
    char problem[512];
    setenv("TZDIR", "/nonexistent", 1);
    assert_int_equal(dueq_schedule_next(dueq__text("@daily"), dueq__text("Europe/Berlin"), 0, &next,
                                        problem, sizeof problem),
                     DUEQ_OK);
    setenv("TZDIR", "/usr/share/zoneinfo/Europe", 1);
    assert_int_equal(dueq_schedule_next(dueq__text("@daily"), dueq__text("Berlin"), 0, &next,
                                        problem, sizeof problem),
                     DUEQ_OK);
    unsetenv("TZDIR");
    assert_int_equal(dueq_schedule_next(dueq__text("@daily"), dueq__text("Berlin"), 0, &next,
                                        problem, sizeof problem),
                     DUEQ_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule_is_due_as_golden),
        cmocka_unit_test(test_schedule_zones_are_in_tzdir_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
