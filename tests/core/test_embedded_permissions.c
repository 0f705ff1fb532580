/*
 * What other users did to an embedded server's directory changes nothing: it is refused, and said.
 */
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static char victim[96]; /* a file of ours elsewhere */
static const char precious[] = "precious";

static int set_up(void **state) {
    if (set_up_directory(state))
        return -1;
    snprintf(victim, sizeof victim, "%s/victim", root);
    int fd = open(victim, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ssize_t written = write(fd, precious, sizeof precious);
    close(fd);
    return written == sizeof precious ? 0 : -1;
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_directory)

static void assert_unharmed(void) {
    char text[64] = {0};
    struct stat what;
    int fd = open(victim, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, text, sizeof text), sizeof precious);
    assert_string_equal(text, precious);
    assert_int_equal(fstat(fd, &what), 0);
    assert_int_equal(what.st_mode & 0777, 0600);
    close(fd);
}

/* The directory is refused with a text that has this, and nobody has started a server there. */
static void assert_refused(const char *path, const char *said) {
    struct dueq__embedded *embedded = dueq__embedded_new(path);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    if (!strstr(embedded_error.text, said))
        fail_msg("'%s' is not in: %s", said, embedded_error.text);
    assert_null(dueq__embedded_path(embedded));
    assert_false(holds_lock(path));
    dueq__embedded_free(embedded);
    assert_unharmed();
}

static void need_root(const char *what) {
    if (geteuid() == 0)
        return;
    print_message("not tried without root: %s\n", what);
    skip();
}

/* Makes the directory with a link in it to the victim, of that user. */
static void plant(const char *name, uid_t owner) {
    char path[PATH_MAX];
    assert_true(mkdir(directory, 0700) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(lchown(path, owner, (gid_t)-1), 0);
}

static void test_directory_that_others_may_write_in(void **state) {
    (void)state;
    assert_int_equal(mkdir(directory, 0700), 0);
    static const mode_t modes[] = {0777, 01777, 0770, 0702};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod(directory, modes[i]);
        assert_refused(directory, directory);
        assert_non_null(strstr(embedded_error.text, "chmod"));
    }
    chmod(directory, 0755);
    dueq__embedded_free(open_server(directory));
}

static void test_directory_of_another_user(void **state) {
    (void)state;
    need_root("a directory of another user");
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(chown(directory, NOBODY, NOBODY), 0);
    assert_refused(directory, "belongs to another user (uid 65534)");
}

static void test_directory_below_one_that_others_may_write_in(void **state) {
    (void)state;
    char below[PATH_MAX], link[PATH_MAX];
    snprintf(below, sizeof below, "%s/a/b", directory);
    snprintf(link, sizeof link, "%s/link", directory);
    assert_int_equal(mkdir(directory, 0700), 0);
    chmod(directory, 0777);
    assert_refused(below, "every user can replace");
    /* Nor is the way there trusted. */
    assert_int_equal(symlink(root, link), 0);
    assert_refused(link, "every user can replace");
}

static void test_directory_that_another_user_made_where_everybody_can(void **state) {
    (void)state;
    need_root("a directory that another user made");
    char parent[128], below[PATH_MAX];
    snprintf(parent, sizeof parent, "%s/theirs", directory);
    snprintf(below, sizeof below, "%s/ours", parent);
    assert_int_equal(mkdir(directory, 0700), 0);
    chmod(directory, 01777);
    assert_int_equal(mkdir(parent, 0755), 0);
    assert_int_equal(chown(parent, NOBODY, NOBODY), 0);
    assert_refused(below, "was created by another user (uid 65534)");
}

static void test_links_in_the_directory(void **state) {
    (void)state;
    static const char *const names[] = {"users", "lock"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        plant(names[i], geteuid());
        assert_refused(directory, names[i]);
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(link(victim, path), 0);
        assert_refused(directory, names[i]);
        assert_int_equal(unlink(path), 0);
    }
}

static void test_entries_of_another_user(void **state) {
    (void)state;
    need_root("entries of another user");
    static const char *const names[] = {"appendonlydir", "server.log", "temp-1.rdb", "socket"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        plant(names[i], NOBODY);
        assert_refused(directory, names[i]);
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    dueq__embedded_free(open_server(directory));
}

static void test_log_that_somebody_races_for(void **state) {
    (void)state;
    char log[PATH_MAX];
    snprintf(log, sizeof log, "%s/server.log", directory);
    plant("server.log", geteuid());
    pid_t racer = fork();
    if (racer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            (void)!symlink(victim, log);
    }
    for (int i = 0; i < 5; i++) {
        struct dueq__embedded *embedded = dueq__embedded_new(directory);
        dueq_status status = ensure(embedded);
        assert_true(status == DUEQ_OK || strstr(embedded_error.text, "server.log"));
        if (status == DUEQ_OK)
            kill(server_pid(embedded), SIGKILL);
        dueq__embedded_free(embedded);
        await_end(directory);
        assert_unharmed();
    }
    kill(racer, SIGKILL);
    waitpid(racer, NULL, 0);
    /* Undisturbed, the log is a new file of ours alone. */
    unlink(log);
    dueq__embedded_free(open_server(directory));
    struct stat what;
    assert_int_equal(lstat(log, &what), 0);
    assert_true(S_ISREG(what.st_mode) && (what.st_mode & 0777) == 0600);
    assert_unharmed();
}

/* A link that no dueq has made is not followed, and a new one takes its place. */
static void test_socket_that_leads_elsewhere(void **state) {
    (void)state;
    static const char *const links[] = {"victim", "./victim", "/", "/usr"};
    char path[PATH_MAX], before[PATH_MAX];
    snprintf(path, sizeof path, "%s/socket", directory);
    dueq__embedded_free(open_server(directory));
    await_end(directory);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(root), 0);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        if (links[i][0] == '/' && geteuid() != 0)
            continue; /* refused: it is another user's */
        assert_int_equal(symlink(links[i], path), 0);
        dueq__embedded_free(open_server(directory));
        await_end(directory);
    }
    assert_int_equal(chdir(before), 0);
    assert_unharmed();
}

static void test_socket_elsewhere(void **state) {
    (void)state;
    char deep[PATH_MAX], runtime[PATH_MAX];
    snprintf(deep, sizeof deep, "%s/%0120d", directory, 7);
    snprintf(runtime, sizeof runtime, "%s/run", root);
    assert_int_equal(mkdir(runtime, 0700), 0);
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    struct dueq__embedded *embedded = open_server(deep);
    /* Since then others may have put a server of their own there. */
    chmod(runtime, 0777);
    assert_int_equal(ensure(embedded), DUEQ_EMBEDDED);
    assert_non_null(strstr(embedded_error.text, "belongs to another user"));
    chmod(runtime, 0700);
    assert_int_equal(ensure(embedded), DUEQ_OK);
    dueq__embedded_free(embedded);
    unsetenv("XDG_RUNTIME_DIR");
    await_end(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_directory_that_others_may_write_in),
        TEST(test_directory_of_another_user),
        TEST(test_directory_below_one_that_others_may_write_in),
        TEST(test_directory_that_another_user_made_where_everybody_can),
        TEST(test_links_in_the_directory),
        TEST(test_entries_of_another_user),
        TEST(test_log_that_somebody_races_for),
        TEST(test_socket_that_leads_elsewhere),
        TEST(test_socket_elsewhere),
    };
    return run_embedded_tests(tests);
}
