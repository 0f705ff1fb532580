/* Bodies of every size up to the limits. */
#include "fixture.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_of_bodies_from_nothing_to_64_mib),
        TEST(test_push_over_the_servers_limit_is_too_large),
    };
    return run_on_server(tests, NULL);
}
