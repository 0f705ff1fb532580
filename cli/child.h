/* Commands that are run, and their environment. */
#ifndef DUEQ_CLI_CHILD_H
#define DUEQ_CLI_CHILD_H

#include "cli.h"

/* environment.c */

/* The environment of a command that is run. */
struct environment {
    char **list;       /* ends with NULL */
    size_t count, own; /* of these so many are ours, and come first */
};

/*
 * What is inherited, DUEQ_URL, and what is said of the message, if there is one (NULL: none; then
 * without `queue`).
 */
struct environment environment_of(const struct cli *cli, const dueq_message *message,
                                  const char *queue);
void environment_end(struct environment *environment);

/* child.c: commands that are run */

/*
 * From now on signals come as events: the end of a command, and those of the list, which ends with
 * 0. Returns a descriptor that is readable when there are any; -1: said why.
 */
int child_listen(const int numbers[]);
/*
 * Has the descriptor of child_listen() readable, as after the end of a command. Any thread may call
 * it.
 */
void child_wake(void *context);
/* The next signal that has come, 0: none. *by_terminal: it went to all of the terminal's group. */
int child_signal(bool *by_terminal);

/* Where a command runs. Start from CHILD_HERE. */
struct child_place {
    char **environment;
    int input, output, errors; /* its standard files; -1: ours */
    bool apart; /* in a process group of its own, and SIGTERM comes to it when we are killed */
};
#define CHILD_HERE {.input = -1, .output = -1, .errors = -1}

struct child {
    int pid;
    bool ended;
    int signal; /* then: the signal that ended the command, or 0 */
    int code;   /* and its exit code, or 128 + that number */
    int why;    /* the errno of one that could not be started */
};

/* Starts a command. False: it does not run, said why; child->code is the exit code. */
bool child_start(struct child *child, char *argv[], const struct child_place *place);
/* Sees whether it has ended, without waiting. */
void child_look(struct child *child);

#endif
