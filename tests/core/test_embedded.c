/* The embedded server starts, and is shared. */
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_start_in_a_new_directory(void **state) {
    (void)state;
    char deep[PATH_MAX];
    struct stat what;
    snprintf(deep, sizeof deep, "%s/a/b", directory);
    struct dueq__embedded *embedded = dueq__embedded_new(deep);
    assert_non_null(embedded);
    assert_null(dueq__embedded_path(embedded));
    assert_int_equal(stat(directory, &what), -1);

    assert_int_equal(ensure(embedded), DUEQ_OK);
    assert_string_equal(ask(embedded, "PING"), "+PONG\r\n");
    assert_int_equal(stat(deep, &what), 0);
    assert_int_equal(what.st_mode & 0777, 0700);
    assert_int_equal(stat(dueq__embedded_path(embedded), &what), 0);
    assert_true(S_ISSOCK(what.st_mode));
    assert_int_equal(what.st_mode & 0777, 0700);
    dueq__embedded_free(embedded);
    await_end(deep);
}

static void test_start_sets_the_server_up(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    assert_non_null(strstr(ask(embedded, "CONFIG GET appendonly"), "yes"));
    assert_non_null(strstr(ask(embedded, "CONFIG GET appendfsync"), "everysec"));
    assert_non_null(strstr(ask(embedded, "CONFIG GET maxmemory-policy"), "noeviction"));
    assert_non_null(strstr(ask(embedded, "CONFIG GET save"), "$0\r\n"));
    assert_non_null(strstr(ask(embedded, "CONFIG GET port"), "$1\r\n0\r\n"));
    assert_non_null(strstr(ask(embedded, "CONFIG GET dir"), directory));
    assert_int_equal(getsid(server_pid(embedded)) == getsid(0), 0);
    dueq__embedded_free(embedded);
}

static void test_start_leaves_nothing_behind(void **state) {
    (void)state;
    int before = count_open(), inherited[2];
    assert_int_equal(pipe(inherited), 0);
    struct dueq__embedded *embedded = open_server(directory);
    /* The server does not hold the pipe: its end is seen while the server runs. */
    close(inherited[1]);
    char byte;
    assert_int_equal(read(inherited[0], &byte, 1), 0);
    close(inherited[0]);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_open(), before + 1); /* the share */
    dueq__embedded_free(embedded);
    assert_int_equal(count_open(), before);
}

static void test_start_in_a_long_directory(void **state) {
    (void)state;
    char deep[PATH_MAX], link[PATH_MAX + 8], runtime[PATH_MAX], target[PATH_MAX] = {0};
    snprintf(deep, sizeof deep, "%s/%0120d", directory, 7);
    snprintf(runtime, sizeof runtime, "%s/run", root);
    assert_int_equal(mkdir(runtime, 0700), 0);
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    struct dueq__embedded *embedded = open_server(deep);
    assert_string_equal(ask(embedded, "PING"), "+PONG\r\n");
    strcat(runtime, "/dueq/");
    assert_memory_equal(dueq__embedded_path(embedded), runtime, strlen(runtime));
    snprintf(link, sizeof link, "%s/socket", deep);
    assert_true(readlink(link, target, sizeof target - 1) > 0);
    assert_string_equal(target, dueq__embedded_path(embedded));

    /* A process of another session finds the same server. */
    unsetenv("XDG_RUNTIME_DIR");
    struct dueq__embedded *other = open_server(deep);
    assert_string_equal(dueq__embedded_path(other), target);
    dueq__embedded_free(other);
    dueq__embedded_free(embedded);
    await_end(deep);
}

static void test_start_by_eight_at_once(void **state) {
    (void)state;
    int gate[2];
    struct user users[8];
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    for (int i = 0; i < 8; i++)
        users[i] = fork_user(gate[0]);
    assert_int_equal(write(gate[1], "12345678", 8), 8);
    close(gate[0]);
    close(gate[1]);
    pid_t server = hear(&users[0]);
    assert_true(server > 0);
    for (int i = 1; i < 8; i++)
        assert_int_equal(hear(&users[i]), server);
    for (int i = 0; i < 8; i++)
        assert_int_equal(end_user(&users[i]), 0);
}

static void test_start_of_a_named_program(void **state) {
    (void)state;
    char program[PATH_MAX] = "";
    FILE *found = popen("command -v redis-server || command -v valkey-server", "re");
    assert_non_null(fgets(program, sizeof program, found));
    pclose(found);
    program[strcspn(program, "\n")] = '\0';
    setenv("DUEQ_SERVER", program, 1);
    dueq__embedded_free(open_server(directory));
}

static void test_start_from_a_relative_directory(void **state) {
    (void)state;
    char here[PATH_MAX], expected[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(root), 0);
    struct dueq__embedded *embedded = dueq__embedded_new("data");
    assert_int_equal(chdir(here), 0);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    snprintf(expected, sizeof expected, "%s/socket", directory);
    assert_string_equal(dueq__embedded_path(embedded), expected);
    dueq__embedded_free(embedded);
}

static void test_share_between_processes(void **state) {
    (void)state;
    struct user user = fork_user(-1);
    pid_t server = hear(&user);
    struct dueq__embedded *embedded = open_server(directory);
    assert_int_equal(server_pid(embedded), server);
    assert_int_equal(end_user(&user), 0);
    assert_int_equal(server_pid(embedded), server);
    dueq__embedded_free(embedded);
}

static void test_share_outlives_the_starter(void **state) {
    (void)state;
    struct user user = fork_user(-1);
    pid_t server = hear(&user);
    struct dueq__embedded *embedded = open_server(directory);
    kill(user.pid, SIGKILL);
    end_user(&user);
    sleep_ms(2500); /* longer than the server lingers without users */
    assert_int_equal(server_pid(embedded), server);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    dueq__embedded_free(embedded);
}

static void test_share_survives_a_forked_child(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded), child = fork();
    if (child == 0) {
        dueq__embedded_free(embedded);
        _exit(0);
    }
    child_end(child);
    sleep_ms(2500);
    assert_int_equal(server_pid(embedded), server);
    dueq__embedded_free(embedded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_start_in_a_new_directory),        TEST(test_start_sets_the_server_up),
        TEST(test_start_leaves_nothing_behind),     TEST(test_start_in_a_long_directory),
        TEST(test_start_by_eight_at_once),          TEST(test_start_of_a_named_program),
        TEST(test_start_from_a_relative_directory), TEST(test_share_between_processes),
        TEST(test_share_outlives_the_starter),      TEST(test_share_survives_a_forked_child),
    };
    return run_embedded_tests(tests);
}
