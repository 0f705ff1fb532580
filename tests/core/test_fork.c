/* A client on both sides of a fork. */
#include <unistd.h>

#include "fixture.h"

static void test_push_in_a_child_after_fork(void **state) {
    (void)state;
    push_body(jobs.queue, "parent", 0, NULL);
    pid_t child = fork();
    if (child == 0) {
        dueq_result *result;
        int failed = push_text(jobs.queue, "child") != DUEQ_OK;
        failed +=
            dueq_reserve(jobs.queue, 2, 0, 0, &result) != DUEQ_OK || dueq_result_count(result) != 2;
        for (size_t i = 0; !failed && i < 2; i++)
            failed +=
                dueq_ack(jobs.queue, &dueq_result_message(result, i)->ticket, 1, NULL) != DUEQ_OK;
        dueq_result_free(result);
        jobs_close(jobs);
        _exit(failed);
    }
    assert_int_equal(child_end(child), 0);
    push_body(jobs.queue, "parent again", 0, NULL);
    dueq_result *result;
    reserve_one(jobs.queue, 0, 0, &result);
    dueq_result_free(result);
}

static void test_reserve_in_the_parent_is_not_disturbed_by_a_fork(void **state) {
    (void)state;
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 20000, 0));
    pump_until_blocked(jobs.client, 1);
    pid_t child = fork();
    if (child == 0) {
        /* The wait is the parent's: the child's client lets go of it and works. */
        dueq_status taken = dueq_pump(jobs.client);
        dueq_take(jobs.client, NULL);
        dueq_status pushed = push_text(jobs.queue, "from the child");
        _exit(taken == DUEQ_CLOSED && pushed == DUEQ_OK ? 0 : 1);
    }
    take_body(jobs.client, 15000, "from the child");
    assert_int_equal(child_end(child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_in_a_child_after_fork),
        TEST(test_reserve_in_the_parent_is_not_disturbed_by_a_fork),
    };
    return run_on_server(tests, NULL);
}
