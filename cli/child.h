/* Child commands and their environment. */
#ifndef DUEQ_CLI_CHILD_H
#define DUEQ_CLI_CHILD_H

#include "cli.h"

/* environment.c */

/* The environment of a child command. */
struct environment {
    char **list;       /* ends with NULL */
    size_t count, own; /* count: all entries. The first `own` of them are allocated here */
};

/*
 * Returns this program's environment, DUEQ_URL, and the variables that describe the message.
 * message NULL: no variables for a message, and `queue` is not used.
 */
struct environment environment_of(const struct cli *cli, const dueq_message *message,
                                  const char *queue);
void environment_end(struct environment *environment);

/* child.c */

/*
 * Turns signals into events: SIGCHLD, and those in the list, which ends with 0. Returns a
 * descriptor that is readable while there are events, or -1 after it has logged the failure.
 */
int child_listen(const int numbers[]);
/*
 * Makes the descriptor of child_listen() readable, as the end of a command does. Any thread may
 * call this function.
 */
void child_wake(void *context);
/*
 * The next signal of the list that came; 0: none. *by_terminal: the terminal sent the signal, so
 * its whole process group has it.
 */
int child_signal(bool *by_terminal);

/* Where a command runs. Initialize with CHILD_HERE. */
struct child_place {
    char **environment;
    int input, output, errors; /* its standard files; -1: this program's */
    /*
     * In a process group of its own. The kernel sends the command SIGTERM when this program dies.
     */
    bool apart;
};
#define CHILD_HERE {.input = -1, .output = -1, .errors = -1}

struct child {
    int pid;
    bool ended;
    int signal; /* once ended: the signal that ended the command, or 0 */
    int code;   /* once ended: the exit code, or 128 + the signal */
    int why;    /* the errno of a command that did not start; 0: it started */
};

/*
 * Starts a command. False: the command does not run, and the reason was logged; child->code is the
 * exit code.
 */
bool child_start(struct child *child, char *argv[], const struct child_place *place);
/* Sets `ended` if the command has ended. Does not wait. */
void child_look(struct child *child);

#endif
