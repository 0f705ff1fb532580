/* A client on both sides of a fork. */
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "queue/queue.h"

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

static void test_ids_of_a_child_are_none_of_the_parent(void **state) {
    (void)state;
    enum { IDS = 2000 }; /* as many as come within a millisecond go on from one another */
    typedef char ids[IDS][DUEQ__ID_SIZE + 1];
    ids *shared =
        mmap(NULL, 2 * sizeof(ids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    char id[DUEQ__ID_SIZE + 1];
    dueq_new_id(jobs.client, id);
    /* The parent's clock is ahead, so that each goes on from the last. */
    jobs.client->ids.last_ms += 3600000;
    pid_t child = fork();
    for (size_t i = 0; i < IDS; i++)
        dueq_new_id(jobs.client, shared[child ? 0 : 1][i]);
    if (child == 0)
        _exit(0);
    assert_int_equal(child_end(child), 0);
    for (size_t i = 0; i < IDS; i++)
        assert_string_not_equal(shared[0][i], shared[1][i]);
    munmap(shared, 2 * sizeof(ids));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_in_a_child_after_fork),
        TEST(test_reserve_in_the_parent_is_not_disturbed_by_a_fork),
        TEST(test_ids_of_a_child_are_none_of_the_parent),
    };
    return run_on_server(tests, NULL);
}
