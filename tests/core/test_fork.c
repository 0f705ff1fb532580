/* A client on both sides of a fork. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "verbs/verbs.h"

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

/* Threads whose calls fail while the process forks */

#define THREADS 3
/* CI has so many; FORKS=5000 by hand. */
#define FORKS 1000
/* No child and no call of one needs so long, but those that wait for a lock for ever. */
#define HUNG_S 60
#define TIMEOUT_S 20

static char away[2][160]; /* URLs of a server that is not there */
static atomic_bool over;

static void *fail_calls(void *url) {
    while (!over) {
        struct jobs failing = jobs_open(url);
        for (int i = 0; i < 100 && !over; i++) {
            push_text(failing.queue, "a");
            /* It has failed for long enough to be a warning, in no time. */
            failing.client->outage_since_ms = 1;
        }
        jobs_close(failing);
    }
    return NULL;
}

static bool fails(dueq_client *client, dueq_queue *queue) {
    client->outage_since_ms = 1;
    int64_t start = now_ms();
    dueq_status status = push_text(queue, "child");
    int64_t took = now_ms() - start;
    if (status == DUEQ_CONNECT && took < TIMEOUT_S * 1000)
        return true;
    fprintf(stderr, "after %lld ms: %s: %s\n", (long long)took, dueq_status_text(status),
            dueq_error_text(client));
    return false;
}

static void fork_while_calls_fail(const char *url) {
    const char *wanted = getenv("FORKS");
    pthread_t threads[THREADS];
    struct jobs failing = jobs_open(url);
    over = false;
    assert_true(fails(failing.client, failing.queue));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fail_calls, (void *)(uintptr_t)url), 0);
    for (long left = wanted ? atol(wanted) : FORKS; left; left--) {
        pid_t child = fork();
        if (child == 0) {
            alarm(HUNG_S);
            bool good = fails(failing.client, failing.queue);
            struct jobs own = jobs_open(url);
            good = good && fails(own.client, own.queue);
            jobs_close(own);
            jobs_close(failing);
            _exit(!good);
        }
        assert_int_equal(child_end(child), 0);
    }
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    jobs_close(failing);
}

static void test_children_of_an_outage_do_not_hang(void **state) {
    (void)state;
    snprintf(away[0], sizeof away[0], "unix://%s/away?timeout=%ds", server.dir, TIMEOUT_S);
    fork_while_calls_fail(away[0]);
}

static void test_children_of_an_outage_that_resolve_do_not_hang(void **state) {
    (void)state;
    snprintf(away[1], sizeof away[1], "redis://localhost:%d?timeout=%ds", free_port(), TIMEOUT_S);
    fork_while_calls_fail(away[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_in_a_child_after_fork),
        TEST(test_reserve_in_the_parent_is_not_disturbed_by_a_fork),
        TEST(test_ids_of_a_child_are_none_of_the_parent),
        TEST(test_children_of_an_outage_do_not_hang),
        TEST(test_children_of_an_outage_that_resolve_do_not_hang),
    };
    return run_on_server(tests, NULL);
}
