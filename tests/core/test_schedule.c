#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
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

static bool knows(const char *zone) {
    int64_t next;
    char problem[512];
    return dueq_schedule_next(dueq__text("@daily"), dueq__text(zone), 0, &next, problem,
                              sizeof problem) == DUEQ_OK;
}

static void test_schedule_zones_are_in_the_fallback_last(void **state) {
    (void)state;
    assert_false(knows("Berlin"));
    dueq_set_fallbacks(NULL, "/usr/share/zoneinfo/Europe");
    assert_true(knows("Berlin"));
    assert_true(knows("Europe/Berlin"));
    setenv("TZDIR", "/usr/share/zoneinfo/America", 1);
    assert_true(knows("Chicago"));
    assert_true(knows("Berlin"));
    unsetenv("TZDIR");
    dueq_set_fallbacks(NULL, "/nonexistent");
    assert_false(knows("Berlin"));
    dueq_set_fallbacks(NULL, "");
    assert_false(knows("Berlin"));
}

/* With a clock of this machine that is wrong */

#define DAY_S 86400

static time_t ahead_s; /* of the true time */

/* For this whole program, in place of libc's. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    if (syscall(SYS_clock_gettime, clock, now))
        return -1;
    now->tv_sec += clock == CLOCK_REALTIME ? ahead_s : 0;
    return 0;
}

/* How far from the server's time the schedule's next one is, in ms. */
static int64_t distance(void) {
    dueq_result *found;
    dueq_bytes id = BYTES("schedule:tick");
    assert_status(jobs.client, OK, dueq_find(jobs.queue, id, &found));
    const dueq_message *message = dueq_result_message(found, 0);
    /* On a busy machine the schedule is due again by now: its message is ready, and has no time. */
    int64_t ms = message->state == DUEQ_READY ? 0 : message->time_ms - message->now_ms;
    dueq_result_free(found);
    return ms;
}

static void fire_in_time(time_t ahead) {
    dueq_draft job = DUEQ_DRAFT;
    job.body = BYTES("x");
    const dueq_plan plan = {.struct_size = sizeof(dueq_plan),
                            .name = BYTES("tick"),
                            .expression = BYTES("every 1s"),
                            .job = &job};
    dueq_result *result;
    ahead_s = ahead;
    assert_status(jobs.client, OK, dueq_schedule(jobs.queue, &plan));
    assert_in_range(distance() + 60000, 50000, 61000);
    for (int times = 0; times < 2;) {
        const dueq_message *message = reserve_one(jobs.queue, 30000, 60000, &result);
        if (dueq_is_schedule(message)) {
            dueq_result *fired;
            assert_status(jobs.client, OK, dueq_fire(jobs.queue, message, &fired));
            dueq_result_free(fired);
            assert_in_range(distance() + 60000, 50000, 61000);
            times++;
        } else {
            assert_status(jobs.client, OK, dueq_ack(jobs.queue, &message->ticket, 1, NULL));
        }
        dueq_result_free(result);
    }
}

static void test_schedule_a_day_ahead(void **state) {
    (void)state;
    fire_in_time(DAY_S);
}

static void test_schedule_a_day_behind(void **state) {
    (void)state;
    fire_in_time(-DAY_S);
}

static int right_the_clock(void **state) {
    ahead_s = 0;
    return tear_down_jobs(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule_is_due_as_golden),
        cmocka_unit_test(test_schedule_zones_are_in_tzdir_first),
        cmocka_unit_test(test_schedule_zones_are_in_the_fallback_last),
        cmocka_unit_test_setup_teardown(test_schedule_a_day_ahead, set_up_jobs, right_the_clock),
        cmocka_unit_test_setup_teardown(test_schedule_a_day_behind, set_up_jobs, right_the_clock),
    };
    return run_on_server(tests, NULL);
}
