/*
 * The embedded server, with real servers in directories of their own under /tmp. Every wait is for
 * an event (a pipe, a lock) under the alarm of the whole program, but where a test shows that
 * nothing happens.
 */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include "support.h"

#include "verbs/verbs.h"

extern char root[64];      /* the test's own directory */
extern char directory[80]; /* the embedded server's, in it */
extern struct dueq__error embedded_error;

int set_up_directory(void **state);
int tear_down_directory(void **state);

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_directory, tear_down_directory)
#define run_embedded_tests(tests) (alarm(120), unsetenv("XDG_RUNTIME_DIR"), run_selected(tests))

/* With time enough; what it says is in embedded_error. */
dueq_status ensure(struct dueq__embedded *embedded);
/* A share of the directory's server; asserts that it answers. */
struct dueq__embedded *open_server(const char *path);
/*
 * Sends one inline command, again while the server loads, and returns the first bytes of its reply
 * in a static buffer.
 */
const char *ask(const struct dueq__embedded *embedded, const char *line);
pid_t server_pid(const struct dueq__embedded *embedded);

/* Waits until a process has ended. */
void await_exit(pid_t pid);
/* Waits until no server of the directory is left. */
void await_end(const char *path);
bool holds_lock(const char *path);
void sleep_ms(long ms);
/* How many file descriptors this process has open. */
int count_open(void);
int remove_tree(const char *path);

/* $DUEQ_TEST_SERVER, or whatever the core finds. */
void use_usual_server(void);
/* A shell script in place of the server program. */
void use_script(const char *name, const char *script);

/* A process that holds a share. It says its server's process id, and ends when `go` says so. */
struct user {
    pid_t pid;
    int said, go;
};

/* Where `gate` is a pipe's end, it starts when it can read a byte there. */
struct user fork_user(int gate);
/* The process id of its server. */
pid_t hear(const struct user *user);
/* Its wait status. */
int end_user(const struct user *user);

#endif
