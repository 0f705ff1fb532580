/* Bodies of every size up to the limits. */
#include "fixture.h"

/* On a busy machine a call with such a body takes longer than a client waits as a rule. */
static int set_up_patient(void **state) {
    set_up_jobs(state);
    jobs_close(jobs);
    jobs = jobs_open(url_with("", "?timeout=60s"));
    return 0;
}

static void test_push_of_bodies_from_nothing_to_64_mib(void **state) {
    (void)state;
    round_trip(jobs, 0);
    round_trip(jobs, 1);
    round_trip(jobs, 65536);
    round_trip(jobs, (size_t)64 << 20);
}

static void test_push_over_the_servers_limit_is_too_large(void **state) {
    (void)state;
    size_t size = (size_t)3 << 20;
    char *body = calloc(1, size);
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){body, size};
    run_command(&server, "CONFIG SET proto-max-bulk-len 1048576");
    dueq_status status = dueq_push(jobs.queue, &draft, 1, NULL);
    run_command(&server, "CONFIG SET proto-max-bulk-len 536870912");
    assert_status(jobs.client, TOO_LARGE, status);
    draft.body.size = DUEQ_MAX_BODY + 1;
    assert_status(jobs.client, TOO_LARGE, dueq_push(jobs.queue, &draft, 1, NULL));
    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:msg"), 0);
    free(body);
    round_trip(jobs, 1000);
}

/* Bytes of a line of /proc/self/status. */
static size_t held(const char *name) {
    char line[200];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoul(line + strlen(name), NULL, 10);
    fclose(file);
    return kib * 1024;
}

static void test_push_needs_the_size_of_the_body_once_more(void **state) {
    (void)state;
    size_t size = (size_t)64 << 20;
    char *body = malloc(size);
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){memset(body, 'b', size), size};
    /* The peak counts from here: proc(5), clear_refs. */
    FILE *file = fopen("/proc/self/clear_refs", "w");
    assert_non_null(file);
    fputs("5", file);
    fclose(file);
    size_t before = held("VmRSS:");
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    assert_in_range(held("VmHWM:") - before, 0, size + size / 5);
    free(body);
    run_command(&server, "FLUSHALL");
}

static void push_sizes(const size_t *sizes, size_t count) {
    char *body = calloc(1, (size_t)16 << 20);
    for (size_t i = 0; i < count; i++) {
        dueq_draft draft = DUEQ_DRAFT;
        draft.body = (dueq_bytes){body, sizes[i]};
        assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    }
    free(body);
}

/* Messages of these sizes come in one answer, and are acknowledged. */
static void takes(const size_t *sizes, size_t count) {
    dueq_bytes tickets[10];
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 10, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(dueq_result_message(result, i)->body.size, sizes[i]);
        tickets[i] = dueq_result_message(result, i)->ticket;
    }
    assert_status(jobs.client, OK, dueq_ack(jobs.queue, tickets, count, NULL));
    dueq_result_free(result);
}

static void test_reserve_answers_with_8_mib_at_most(void **state) {
    (void)state;
    const size_t mib = 1 << 20;
    const size_t sizes[] = {5 * mib, 2 * mib, 2 * mib, 10, 16 * mib, 20, 30};
    push_sizes(sizes, 7);
    takes(sizes, 2);
    takes(sizes + 2, 2);
    takes(sizes + 4, 1);
    takes(sizes + 5, 2);
    /* Also of a queue that has had priorities, and no more. */
    run_command(&server, "HSET dueq:{jobs}:meta has_priorities 1");
    push_sizes(sizes, 3);
    takes(sizes, 2);
    takes(sizes + 2, 1);
    run_command(&server, "FLUSHALL");
}

static void test_reserve_counts_bytes_only_where_a_message_was_over_1_mib(void **state) {
    (void)state;
    const size_t sizes[] = {1000000, 1000000, 1000000, 1000000, 1000000,
                            1000000, 1000000, 1000000, 1000000, 1000000};
    push_sizes(sizes, 10);
    assert_int_equal(command_number(&server, "HEXISTS dueq:{jobs}:meta large"), 0);
    takes(sizes, 10);
    run_command(&server, "FLUSHALL");
}

#define PATIENT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_patient, tear_down_jobs)

int main(void) {
    const struct CMUnitTest tests[] = {
        PATIENT_TEST(test_push_of_bodies_from_nothing_to_64_mib),
        PATIENT_TEST(test_push_over_the_servers_limit_is_too_large),
        PATIENT_TEST(test_push_needs_the_size_of_the_body_once_more),
        PATIENT_TEST(test_reserve_answers_with_8_mib_at_most),
        PATIENT_TEST(test_reserve_counts_bytes_only_where_a_message_was_over_1_mib),
    };
    return run_on_server(tests, NULL);
}
