/* The embedded server ends when its users are gone, and what a user sees when it fails. */
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_end_after_the_last_share(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    assert_true(holds_lock(directory));
    assert_non_null(strstr(ask(embedded, "SET kept 1"), "+OK"));
    dueq__embedded_free(embedded);
    assert_true(holds_lock(directory)); /* it lingers */
    await_exit(server);

    embedded = open_server(directory);
    assert_int_not_equal(server_pid(embedded), server);
    assert_string_equal(ask(embedded, "GET kept"), "$1\r\n1\r\n");
    dueq__embedded_free(embedded);
}

static void test_end_after_kill_of_the_last_user(void **state) {
    (void)state;
    struct user user = fork_user(-1);
    pid_t server = hear(&user);
    kill(user.pid, SIGKILL);
    end_user(&user);
    await_exit(server);
}

static void test_end_waits_for_short_users_in_a_row(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    for (int i = 0; i < 8; i++) {
        dueq__embedded_free(embedded);
        sleep_ms(500);
        embedded = open_server(directory);
        assert_int_equal(server_pid(embedded), server);
    }
    dueq__embedded_free(embedded);
}

static void test_end_and_start_in_turns(void **state) {
    (void)state;
    /* Comes when the server is about to end: either it still serves, or a new one does. */
    for (int i = 0; i < 6; i++) {
        struct dueq__embedded *embedded = open_server(directory);
        assert_string_equal(ask(embedded, "PING"), "+PONG\r\n");
        dueq__embedded_free(embedded);
        sleep_ms(1000 + 10 * i);
    }
}

static void test_end_of_a_stopped_server(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    kill(server, SIGSTOP);
    dueq__embedded_free(embedded);
    await_exit(server);
}

static void test_ensure_after_kill_of_the_server(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    assert_non_null(strstr(ask(embedded, "SET kept 1"), "+OK"));
    assert_non_null(strstr(ask(embedded, "SET kept 2"), "+OK"));
    /* While the disk is slow the server may write for up to two seconds later than it answers. */
    while (!strstr(ask(embedded, "INFO persistence"), "aof_buffer_length:0"))
        ;
    kill(server, SIGKILL);
    await_exit(server);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    assert_int_not_equal(server_pid(embedded), server);
    assert_string_equal(ask(embedded, "GET kept"), "$1\r\n2\r\n");
    /* The supervisor of the first server does not end the second one. */
    sleep_ms(2500);
    assert_string_equal(ask(embedded, "GET kept"), "$1\r\n2\r\n");
    dueq__embedded_free(embedded);
}

static struct jobs open_jobs(const char *parameters) {
    char url[PATH_MAX];
    snprintf(url, sizeof url, "embedded:%s%s", directory, parameters);
    return jobs_open(url);
}

static void test_push_with_a_stopped_server(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    struct jobs jobs = open_jobs("?timeout=1s");
    kill(server, SIGSTOP);
    assert_status(jobs.client, TIMEOUT, push_text(jobs.queue, "a"));
    assert_non_null(strstr(dueq_error_text(jobs.client), directory));
    kill(server, SIGCONT);
    assert_string_equal(ask(embedded, "PING"), "+PONG\r\n");
    assert_status(jobs.client, OK, push_text(jobs.queue, "a"));
    assert_int_equal(server_pid(embedded), server);
    jobs_close(jobs);
    dueq__embedded_free(embedded);
}

static void test_ensure_after_the_directory_was_removed(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    kill(server, SIGKILL);
    await_exit(server);
    assert_int_equal(remove_tree(directory), 0);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    sleep_ms(2500); /* the share is on the new file: the server stays */
    assert_string_equal(ask(embedded, "PING"), "+PONG\r\n");
    dueq__embedded_free(embedded);
}

static void test_ensure_with_a_server_that_ends_at_once(void **state) {
    (void)state;
    use_script("broken", "echo 'Fatal error: no way'\nexit 1");
    struct dueq__embedded *embedded = dueq__embedded_new(directory);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(embedded_error.text, "Fatal error: no way"));
    assert_null(dueq__embedded_path(embedded));
    use_usual_server();
    assert_int_equal(ensure(embedded), DUEQ_OK);
    dueq__embedded_free(embedded);
}

static void test_ensure_without_a_server_program(void **state) {
    (void)state;
    char *path = strdup(getenv("PATH"));
    unsetenv("DUEQ_SERVER");
    setenv("PATH", root, 1);
    struct dueq__embedded *embedded = dueq__embedded_new(directory);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(embedded_error.text, "redis-server"));
    assert_non_null(strstr(embedded_error.text, "valkey-server"));
    const char *package = dueq__embedded_package("/etc/os-release");
    assert_non_null(strstr(embedded_error.text, package ? package : "install one;"));
    setenv("PATH", path, 1);
    free(path);

    setenv("DUEQ_SERVER", "/nowhere/server", 1);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(embedded_error.text, "/nowhere/server"));
    dueq__embedded_free(embedded);
}

static const char *package_of(const char *os_release) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/os-release", root);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(os_release, file);
    fclose(file);
    return dueq__embedded_package(path);
}

static void test_package_of_a_system(void **state) {
    (void)state;
    static const struct {
        const char *os_release, *command;
    } systems[] = {
        {"VERSION_ID=\"13\"\nVERSION_CODENAME=trixie\nID=debian\n", "apt install redis-server"},
        {"ID=ubuntu\nID_LIKE=debian\n", "apt install redis-server"},
        {"NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"",
         "apt install redis-server"},
        {"NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.22.1\n", "apk add redis"},
        {"ID=fedora\nPLATFORM_ID=\"platform:f43\"\n", "dnf install valkey"},
        {"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install valkey"},
        {"ID='arch'\n", "pacman -S valkey"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        assert_string_equal(package_of(systems[i].os_release), systems[i].command);
    assert_null(package_of("ID=plan9\nID_LIKE=\n"));
    assert_null(package_of("VARIANT_ID=debian\n"));
    assert_null(package_of(""));
    assert_null(dueq__embedded_package("/nowhere/os-release"));
}

static void test_ensure_with_an_unwritable_directory(void **state) {
    (void)state;
    assert_int_equal(mkdir(directory, 0500), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(directory, 65534, 65534), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        /* For root every directory is writable. */
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(1);
        struct dueq__embedded *embedded = dueq__embedded_new(directory);
        bool right = ensure(embedded) == DUEQ_EMBEDDED && strstr(embedded_error.text, directory) &&
                     strstr(embedded_error.text, strerror(EACCES));
        dueq__embedded_free(embedded);
        char below[PATH_MAX];
        snprintf(below, sizeof below, "%s/below", directory);
        embedded = dueq__embedded_new(below);
        right = right && ensure(embedded) == DUEQ_EMBEDDED && strstr(embedded_error.text, below);
        dueq__embedded_free(embedded);
        _exit(right ? 0 : 2);
    }
    assert_int_equal(child_end(child), 0);
}

static void test_ensure_with_a_file_as_directory(void **state) {
    (void)state;
    close(open(directory, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    struct dueq__embedded *embedded = dueq__embedded_new(directory);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(embedded_error.text, strerror(ENOTDIR)));
    dueq__embedded_free(embedded);
}

static void test_push_past_the_deadline(void **state) {
    (void)state;
    use_script("mute", "exec sleep 3");
    struct jobs jobs = open_jobs("?timeout=300ms");
    int64_t before = now_ms();
    assert_status(jobs.client, EMBEDDED, push_text(jobs.queue, "a"));
    assert_in_range(now_ms() - before, 300, 2500);
    assert_non_null(strstr(dueq_error_text(jobs.client), "deadline"));
    jobs_close(jobs);
}

/*
 * No step of the call takes long while the server starts, and the descriptor says when it is there.
 */
static void test_push_pumps_while_the_server_starts(void **state) {
    (void)state;
    char script[2 * PATH_MAX];
    const char *program = getenv("DUEQ_TEST_SERVER");
    snprintf(script, sizeof script, "sleep 2\nexec %s \"$@\"", program ? program : "redis-server");
    use_script("slow", script);
    struct jobs jobs = open_jobs("?timeout=30s");
    dueq_draft draft = DUEQ_DRAFT;
    assert_status(jobs.client, PENDING, dueq_push_submit(jobs.queue, &draft, 1));
    struct pollfd slot = {.fd = dueq_descriptor(jobs.client), .events = POLLIN};
    dueq_status status = DUEQ_PENDING;
    while (status == DUEQ_PENDING) {
        assert_int_equal(poll(&slot, 1, 20000), 1);
        int64_t before = now_ms();
        status = dueq_pump(jobs.client);
        assert_true(now_ms() - before < 1000);
    }
    assert_status(jobs.client, OK, status);
    dueq_take(jobs.client, NULL);
    jobs_close(jobs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_end_after_the_last_share),
        TEST(test_end_after_kill_of_the_last_user),
        TEST(test_end_waits_for_short_users_in_a_row),
        TEST(test_end_and_start_in_turns),
        TEST(test_end_of_a_stopped_server),
        TEST(test_ensure_after_kill_of_the_server),
        TEST(test_push_with_a_stopped_server),
        TEST(test_ensure_after_the_directory_was_removed),
        TEST(test_ensure_with_a_server_that_ends_at_once),
        TEST(test_ensure_without_a_server_program),
        TEST(test_package_of_a_system),
        TEST(test_ensure_with_an_unwritable_directory),
        TEST(test_ensure_with_a_file_as_directory),
        TEST(test_push_past_the_deadline),
        TEST(test_push_pumps_while_the_server_starts),
    };
    return run_embedded_tests(tests);
}
