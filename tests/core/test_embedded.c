/*
 * The embedded server, with real servers in directories of their own under /tmp. Every wait is for an
 * event (a pipe, a lock) under the alarm of the whole program, but where a test shows that nothing
 * happens.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "internal.h"

#define PROGRAM_LIMIT_S 120
#define CALL_MS 20000

static char root[64];      /* this test's own directory */
static char directory[80]; /* the embedded server's */
static struct dueq__error error;

/* ---- Tools ------------------------------------------------------------------------------------- */

static dueq_status ensure(struct dueq__embedded *embedded) {
    error.status = DUEQ_OK;
    error.text[0] = '\0';
    return dueq__embedded_ensure(embedded, dueq__monotonic_ms() + CALL_MS, &error);
}

static struct dueq__embedded *open_server(const char *path) {
    struct dueq__embedded *embedded = dueq__embedded_new(path);
    assert_non_null(embedded);
    dueq_status status = ensure(embedded);
    if (status != DUEQ_OK)
        print_message("ensure: %s\n", error.text);
    assert_int_equal(status, DUEQ_OK);
    assert_non_null(dueq__embedded_path(embedded));
    return embedded;
}

/* Sends one inline command, and returns the first bytes of its reply in a static buffer. */
static const char *ask_at(const char *path, const char *command) {
    static char reply[4096];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    reply[0] = '\0';
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        dprintf(fd, "%s\r\n", command);
        ssize_t size = read(fd, reply, sizeof reply - 1);
        reply[size > 0 ? size : 0] = '\0';
    }
    close(fd);
    return reply;
}

static const char *ask(const struct dueq__embedded *embedded, const char *command) {
    return ask_at(dueq__embedded_path(embedded), command);
}

static pid_t pid_at(const char *path) {
    const char *line = strstr(ask_at(path, "INFO server"), "process_id:");
    return line ? (pid_t)atol(line + strlen("process_id:")) : -1;
}

static pid_t server_pid(const struct dueq__embedded *embedded) {
    return pid_at(dueq__embedded_path(embedded));
}

/* Waits until a process has ended. */
static void await_exit(pid_t pid) {
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        assert_int_equal(errno, ESRCH);
        return;
    }
    struct pollfd one = {fd, POLLIN, 0};
    assert_int_equal(poll(&one, 1, CALL_MS), 1);
    close(fd);
}

/* Waits until no server of the directory is left. */
static void await_end(const char *path) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/lock", path);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    while (flock(fd, LOCK_EX) != 0)
        assert_int_equal(errno, EINTR);
    close(fd);
}

static bool holds_lock(const char *path) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/lock", path);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return held;
}

static void sleep_ms(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static int count_open(void) {
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where) {
    (void)what, (void)kind, (void)where;
    return remove(path);
}

/* $DUEQ_TEST_SERVER, or whatever the core finds. */
static void use_usual_server(void) {
    const char *wanted = getenv("DUEQ_TEST_SERVER");
    if (wanted)
        setenv("DUEQ_SERVER", wanted, 1);
    else
        unsetenv("DUEQ_SERVER");
}

static int set_up(void **state) {
    (void)state;
    strcpy(root, "/tmp/dueq-test-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    chmod(root, 0755);
    snprintf(directory, sizeof directory, "%s/data", root);
    use_usual_server();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/socket", directory);
    pid_t server = pid_at(path); /* sooner than by itself */
    if (server > 0)
        kill(server, SIGKILL);
    await_end(directory);
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A process that holds a share. It says its server's process id, and ends when `go` says so. */
struct user {
    pid_t pid;
    int said, go;
};

static struct user fork_user(int gate) {
    int said[2], go[2];
    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char byte;
        close(said[0]);
        close(go[1]);
        if (gate >= 0 && read(gate, &byte, 1) != 1)
            _exit(3);
        struct dueq__embedded *embedded = dueq__embedded_new(directory);
        if (ensure(embedded) != DUEQ_OK) {
            dprintf(2, "user: %s\n", error.text);
            _exit(1);
        }
        pid_t server = server_pid(embedded);
        if (write(said[1], &server, sizeof server) != sizeof server || read(go[0], &byte, 1) != 1)
            _exit(2);
        dueq__embedded_free(embedded);
        _exit(0);
    }
    close(said[1]);
    close(go[0]);
    return (struct user){pid, said[0], go[1]};
}

static pid_t hear(const struct user *user) {
    pid_t server = -1;
    assert_int_equal(read(user->said, &server, sizeof server), sizeof server);
    return server;
}

static int end_user(const struct user *user) {
    int status = -1;
    signal(SIGPIPE, SIG_IGN); /* it may have been killed */
    ssize_t size = write(user->go, "x", 1);
    assert_true(size == 1 || errno == EPIPE);
    close(user->go);
    close(user->said);
    assert_int_equal(waitpid(user->pid, &status, 0), user->pid);
    return status;
}

/* ---- Starting ---------------------------------------------------------------------------------- */

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

/* ---- Sharing and ending ------------------------------------------------------------------------ */

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
    assert_int_equal(waitpid(child, NULL, 0), child);
    sleep_ms(2500);
    assert_int_equal(server_pid(embedded), server);
    dueq__embedded_free(embedded);
}

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

/* ---- When the server fails --------------------------------------------------------------------- */

static void test_ensure_after_kill_of_the_server(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    assert_non_null(strstr(ask(embedded, "SET kept 1"), "+OK"));
    assert_non_null(strstr(ask(embedded, "SET kept 2"), "+OK"));
    kill(server, SIGKILL);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    assert_int_not_equal(server_pid(embedded), server);
    assert_string_equal(ask(embedded, "GET kept"), "$1\r\n2\r\n");
    /* The keeper of the first server does not end the second one. */
    sleep_ms(2500);
    assert_string_equal(ask(embedded, "GET kept"), "$1\r\n2\r\n");
    dueq__embedded_free(embedded);
}

static void test_ensure_with_a_stopped_server(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    kill(server, SIGSTOP);
    error.text[0] = '\0';
    assert_int_equal(dueq__embedded_ensure(embedded, dueq__monotonic_ms() + 300, &error),
                     DUEQ_TIMEOUT);
    assert_non_null(strstr(error.text, directory));
    kill(server, SIGCONT);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    assert_int_equal(server_pid(embedded), server);
    dueq__embedded_free(embedded);
}

static void test_end_of_a_stopped_server(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    kill(server, SIGSTOP);
    dueq__embedded_free(embedded);
    await_exit(server);
}

static void test_ensure_after_the_directory_was_removed(void **state) {
    (void)state;
    struct dueq__embedded *embedded = open_server(directory);
    pid_t server = server_pid(embedded);
    kill(server, SIGKILL);
    assert_int_equal(nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    sleep_ms(2500); /* the share is on the new file: the server stays */
    assert_string_equal(ask(embedded, "PING"), "+PONG\r\n");
    dueq__embedded_free(embedded);
}

static void test_ensure_with_a_server_that_ends_at_once(void **state) {
    (void)state;
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/broken", root);
    FILE *file = fopen(program, "we");
    fputs("#!/bin/sh\necho 'Fatal error: no way'\nexit 1\n", file);
    fclose(file);
    chmod(program, 0755);
    setenv("DUEQ_SERVER", program, 1);
    struct dueq__embedded *embedded = dueq__embedded_new(directory);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(error.text, "Fatal error: no way"));
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
    assert_non_null(strstr(error.text, "redis-server"));
    assert_non_null(strstr(error.text, "valkey-server"));
    setenv("PATH", path, 1);
    free(path);

    setenv("DUEQ_SERVER", "/nowhere/server", 1);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(error.text, "/nowhere/server"));
    dueq__embedded_free(embedded);
}

static void test_ensure_with_an_unwritable_directory(void **state) {
    (void)state;
    assert_int_equal(mkdir(directory, 0500), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        /* For root every directory is writable. */
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(1);
        struct dueq__embedded *embedded = dueq__embedded_new(directory);
        bool right = ensure(embedded) == DUEQ_EMBEDDED && strstr(error.text, directory) &&
                     strstr(error.text, strerror(EACCES));
        dueq__embedded_free(embedded);
        char below[PATH_MAX];
        snprintf(below, sizeof below, "%s/below", directory);
        embedded = dueq__embedded_new(below);
        right = right && ensure(embedded) == DUEQ_EMBEDDED && strstr(error.text, below);
        dueq__embedded_free(embedded);
        _exit(right ? 0 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_ensure_with_a_file_as_directory(void **state) {
    (void)state;
    close(open(directory, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    struct dueq__embedded *embedded = dueq__embedded_new(directory);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(error.text, strerror(ENOTDIR)));
    dueq__embedded_free(embedded);
}

static void test_ensure_past_the_deadline(void **state) {
    (void)state;
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/mute", root);
    FILE *file = fopen(program, "we");
    fputs("#!/bin/sh\nexec sleep 3\n", file);
    fclose(file);
    chmod(program, 0755);
    setenv("DUEQ_SERVER", program, 1);
    struct dueq__embedded *embedded = dueq__embedded_new(directory);
    int64_t before = dueq__monotonic_ms();
    assert_int_equal(dueq__embedded_ensure(embedded, before + 300, &error), DUEQ_EMBEDDED);
    assert_true(dueq__monotonic_ms() - before >= 300);
    assert_non_null(strstr(error.text, "deadline"));
    dueq__embedded_free(embedded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_start_in_a_new_directory),
        TEST(test_start_sets_the_server_up),
        TEST(test_start_leaves_nothing_behind),
        TEST(test_start_in_a_long_directory),
        TEST(test_start_by_eight_at_once),
        TEST(test_start_of_a_named_program),
        TEST(test_start_from_a_relative_directory),
        TEST(test_share_between_processes),
        TEST(test_share_outlives_the_starter),
        TEST(test_share_survives_a_forked_child),
        TEST(test_end_after_the_last_share),
        TEST(test_end_after_kill_of_the_last_user),
        TEST(test_end_waits_for_short_users_in_a_row),
        TEST(test_end_and_start_in_turns),
        TEST(test_ensure_after_kill_of_the_server),
        TEST(test_ensure_with_a_stopped_server),
        TEST(test_end_of_a_stopped_server),
        TEST(test_ensure_after_the_directory_was_removed),
        TEST(test_ensure_with_a_server_that_ends_at_once),
        TEST(test_ensure_without_a_server_program),
        TEST(test_ensure_with_an_unwritable_directory),
        TEST(test_ensure_with_a_file_as_directory),
        TEST(test_ensure_past_the_deadline),
    };
    alarm(PROGRAM_LIMIT_S);
    unsetenv("XDG_RUNTIME_DIR");
    return cmocka_run_group_tests_name("embedded", tests, NULL, NULL);
}
