#include "embedded.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL_MS 20000

char root[64], directory[80];
struct dueq__error embedded_error;

dueq_status ensure(struct dueq__embedded *embedded) {
    int64_t end = dueq__monotonic_ms() + CALL_MS;
    embedded_error = (struct dueq__error){0};
    for (;;) {
        dueq_status status = dueq__embedded_ensure(embedded, &embedded_error);
        if (status != DUEQ_PENDING || dueq__monotonic_ms() >= end)
            return status;
        sleep_ms(DUEQ__EMBEDDED_RETRY_MS);
    }
}

struct dueq__embedded *open_server(const char *path) {
    struct dueq__embedded *embedded = dueq__embedded_new(path);
    assert_non_null(embedded);
    dueq_status status = ensure(embedded);
    if (status != DUEQ_OK)
        print_message("ensure: %s\n", embedded_error.text);
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

const char *ask(const struct dueq__embedded *embedded, const char *command) {
    const char *reply;
    do
        reply = ask_at(dueq__embedded_path(embedded), command);
    while (strncmp(reply, "-LOADING", strlen("-LOADING")) == 0);
    return reply;
}

static pid_t pid_at(const char *path) {
    const char *line = strstr(ask_at(path, "INFO server"), "process_id:");
    return line ? (pid_t)atol(line + strlen("process_id:")) : -1;
}

pid_t server_pid(const struct dueq__embedded *embedded) {
    return pid_at(dueq__embedded_path(embedded));
}

void await_exit(pid_t pid) {
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        assert_int_equal(errno, ESRCH);
        return;
    }
    struct pollfd one = {fd, POLLIN, 0};
    assert_int_equal(poll(&one, 1, CALL_MS), 1);
    close(fd);
}

void await_end(const char *path) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/lock", path);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    while (flock(fd, LOCK_EX) != 0)
        assert_int_equal(errno, EINTR);
    close(fd);
}

bool holds_lock(const char *path) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/lock", path);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return held;
}

void sleep_ms(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

int count_open(void) {
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

int remove_tree(const char *path) { return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

void use_script(const char *name, const char *script) {
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/%s", root, name);
    FILE *file = fopen(program, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(program, 0755);
    setenv("DUEQ_SERVER", program, 1);
}

void use_usual_server(void) {
    const char *wanted = getenv("DUEQ_TEST_SERVER");
    if (wanted)
        setenv("DUEQ_SERVER", wanted, 1);
    else
        unsetenv("DUEQ_SERVER");
}

int set_up_directory(void **state) {
    (void)state;
    strcpy(root, "/tmp/dueq-test-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    chmod(root, 0755);
    snprintf(directory, sizeof directory, "%s/data", root);
    use_usual_server();
    return 0;
}

int tear_down_directory(void **state) {
    (void)state;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/socket", directory);
    pid_t server = pid_at(path); /* sooner than by itself */
    if (server > 0)
        kill(server, SIGKILL);
    await_end(directory);
    return remove_tree(root);
}

struct user fork_user(int gate) {
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
            dprintf(2, "user: %s\n", embedded_error.text);
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

pid_t hear(const struct user *user) {
    pid_t server = -1;
    assert_int_equal(read(user->said, &server, sizeof server), sizeof server);
    return server;
}

int end_user(const struct user *user) {
    int status = -1;
    signal(SIGPIPE, SIG_IGN); /* it may have been killed */
    ssize_t size = write(user->go, "x", 1);
    assert_true(size == 1 || errno == EPIPE);
    close(user->go);
    close(user->said);
    assert_int_equal(waitpid(user->pid, &status, 0), user->pid);
    return status;
}
