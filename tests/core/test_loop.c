/* A loop: one descriptor for several descriptors and a timer, in the way of this build. */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "support.h"

enum { SOON_MS = 100, LONG_MS = 20000, MANY = 50 };

static bool is_ready(const struct dueq__loop *loop, int within_ms) {
    struct pollfd one = {.fd = dueq__loop_fd(loop), .events = POLLIN};
    return poll(&one, 1, within_ms) == 1;
}

static void open_pipe(int ends[2]) { assert_int_equal(dueq__pipe(ends), 0); }

static void put_byte(const int ends[2]) { assert_int_equal(write(ends[1], "x", 1), 1); }

static void take_byte(const int ends[2]) {
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
}

static void close_pipe(const int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

static struct dueq__loop *new_loop(void) {
    struct dueq__loop *loop = dueq__loop_new(true);
    assert_non_null(loop);
    return loop;
}

static void test_loop_is_ready_while_a_descriptor_is(void **state) {
    (void)state;
    int ends[2];
    struct dueq__loop *loop = new_loop();
    open_pipe(ends);
    assert_true(dueq__loop_watch(loop, ends[0], POLLIN));
    assert_false(is_ready(loop, SOON_MS));
    for (int turn = 0; turn < 3; turn++) {
        put_byte(ends);
        assert_true(is_ready(loop, LONG_MS));
        dueq__loop_wake_after(loop, -1);
        assert_true(is_ready(loop, LONG_MS)); /* nobody took the byte */
        take_byte(ends);
        dueq__loop_wake_after(loop, -1);
        assert_false(is_ready(loop, SOON_MS));
    }
    dueq__loop_free(loop);
    close_pipe(ends);
}

static void test_loop_is_ready_when_the_time_has_come(void **state) {
    (void)state;
    struct dueq__loop *loop = new_loop();
    assert_false(is_ready(loop, SOON_MS));
    const int64_t before_us = dueq__monotonic_us();
    dueq__loop_wake_after(loop, 150000);
    assert_true(is_ready(loop, LONG_MS));
    assert_true(dueq__monotonic_us() - before_us >= 150000);
    dueq__loop_wake_after(loop, -1);
    assert_false(is_ready(loop, SOON_MS));
    dueq__loop_wake_after(loop, 3600000000);
    assert_false(is_ready(loop, SOON_MS));
    dueq__loop_wake_after(loop, 0);
    assert_true(is_ready(loop, LONG_MS));
    dueq__loop_free(loop);
}

static void test_events_replace_the_events_before(void **state) {
    (void)state;
    int ends[2];
    struct dueq__loop *loop = new_loop();
    open_pipe(ends);
    assert_true(dueq__loop_watch(loop, ends[1], POLLIN));
    assert_false(is_ready(loop, SOON_MS));
    assert_true(dueq__loop_watch(loop, ends[1], POLLOUT));
    assert_true(is_ready(loop, LONG_MS));
    assert_true(dueq__loop_watch(loop, ends[1], 0));
    dueq__loop_wake_after(loop, -1);
    assert_false(is_ready(loop, SOON_MS));
    dueq__loop_free(loop);
    close_pipe(ends);
}

static void test_many_descriptors_come_and_go(void **state) {
    (void)state;
    int ends[MANY][2];
    struct dueq__loop *loop = new_loop();
    for (size_t i = 0; i < MANY; i++) {
        open_pipe(ends[i]);
        assert_true(dueq__loop_watch(loop, ends[i][0], POLLIN));
    }
    for (size_t i = 0; i < MANY; i += 2) {
        put_byte(ends[i]);
        assert_true(is_ready(loop, LONG_MS));
        assert_true(dueq__loop_watch(loop, ends[i][0], 0));
        close_pipe(ends[i]);
    }
    dueq__loop_wake_after(loop, -1);
    assert_false(is_ready(loop, SOON_MS));
    for (size_t i = 1; i < MANY; i += 2) {
        put_byte(ends[i]);
        assert_true(is_ready(loop, LONG_MS));
        take_byte(ends[i]);
        assert_true(dueq__loop_watch(loop, ends[i][0], 0));
        close_pipe(ends[i]);
    }
    dueq__loop_free(loop);
}

static void test_loop_watches_a_loop(void **state) {
    (void)state;
    int ends[2];
    struct dueq__loop *outer = new_loop(), *inner = new_loop();
    open_pipe(ends);
    assert_true(dueq__loop_watch(inner, ends[0], POLLIN));
    assert_true(dueq__loop_watch(outer, dueq__loop_fd(inner), POLLIN));
    assert_false(is_ready(outer, SOON_MS));
    put_byte(ends);
    assert_true(is_ready(outer, LONG_MS));
    assert_true(dueq__loop_watch(inner, ends[0], 0));
    dueq__loop_wake_after(outer, -1);
    assert_false(is_ready(outer, SOON_MS));
    assert_true(dueq__loop_watch(outer, dueq__loop_fd(inner), 0));
    dueq__loop_free(inner);
    dueq__loop_free(outer);
    close_pipe(ends);
}

static void test_forked_child_frees_its_copy_alone(void **state) {
    (void)state;
    int ends[2], status;
    struct dueq__loop *loop = new_loop();
    open_pipe(ends);
    assert_true(dueq__loop_watch(loop, ends[0], POLLIN));
    pid_t child = fork();
    if (child == 0) {
        dueq__loop_free(loop);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_ready(loop, SOON_MS));
    put_byte(ends);
    assert_true(is_ready(loop, LONG_MS));
    dueq__loop_free(loop);
    close_pipe(ends);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_is_ready_while_a_descriptor_is),
        cmocka_unit_test(test_loop_is_ready_when_the_time_has_come),
        cmocka_unit_test(test_events_replace_the_events_before),
        cmocka_unit_test(test_many_descriptors_come_and_go),
        cmocka_unit_test(test_loop_watches_a_loop),
        cmocka_unit_test(test_forked_child_frees_its_copy_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
