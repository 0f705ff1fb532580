#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system.h"

extern char **environ;

static int events = -1, event_input = -1;

/* Signals as events */

/* The pipe carries one byte for each signal: its number, plus this bit if the terminal sent it. */
#define BY_TERMINAL 0x80

static void on_event(int number, siginfo_t *info, void *context) {
    (void)context;
    unsigned char event = (unsigned char)number;
    int kept = errno;
    if (info->si_code > 0)
        event |= BY_TERMINAL;
    if (write(event_input, &event, 1) < 0)
        event = 0; /* the pipe is full, so the reader will wake anyway */
    errno = kept;
}

static void listen_for(int number) {
    struct sigaction action, old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN && number != SIGCHLD)
        return;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_event;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

int child_listen(const int numbers[]) {
    int ends[2];
    if (system_pipe(ends) < 0 || system_do_not_block(ends[0]) < 0 ||
        system_do_not_block(ends[1]) < 0) {
        cli_system_error("a pipe for signals");
        return -1;
    }
    events = ends[0];
    event_input = ends[1];
    listen_for(SIGCHLD);
    while (*numbers)
        listen_for(*numbers++);
    return events;
}

void child_wake(void *context) {
    (void)context;
    unsigned char event = SIGCHLD;
    if (write(event_input, &event, 1) < 0)
        return; /* the pipe is full, so the reader will wake anyway */
}

int child_signal(bool *by_terminal) {
    unsigned char event;
    while (read(events, &event, 1) == 1)
        if ((event & ~BY_TERMINAL) != SIGCHLD) {
            *by_terminal = event & BY_TERMINAL;
            return event & ~BY_TERMINAL;
        }
    return 0;
}

/* Commands */

static bool put_in_place(const struct child_place *place, pid_t parent) {
    if (place->apart) {
        if (setpgid(0, 0) < 0 || system_end_with_parent() < 0)
            return false;
        if (getppid() != parent)
            raise(SIGTERM); /* the parent died before that */
    }
    return (place->input < 0 || dup2(place->input, STDIN_FILENO) >= 0) &&
           (place->output < 0 || dup2(place->output, STDOUT_FILENO) >= 0) &&
           (place->errors < 0 || dup2(place->errors, STDERR_FILENO) >= 0);
}

/*
 * Runs in the child process. exec closes its end of the pipe, which tells the parent of success.
 * After a failure the errno goes into the pipe.
 */
static _Noreturn void run(char *argv[], const struct child_place *place, const sigset_t *mask,
                          pid_t parent, int report) {
    cli_signals_undo(); /* exec resets handlers, but not ignored signals */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (put_in_place(place, parent)) {
        environ = place->environment;
        execvp(argv[0], argv);
    }
    int why = errno;
    _exit(write(report, &why, sizeof why) < 0 ? CLI_FAILED : CLI_NOT_RUN);
}

/* Waits until the child process runs the command. Returns 0, or the errno of the failure. */
static int failure(int report) {
    int why = 0;
    ssize_t size;
    do
        size = read(report, &why, sizeof why);
    while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof why ? why : 0;
}

bool child_start(struct child *child, char *argv[], const struct child_place *place) {
    int report[2], why;
    sigset_t all, mask;
    pid_t parent = getpid();
    *child = (struct child){.code = CLI_FAILED};
    if (system_pipe(report) < 0) {
        cli_system_error("pipe");
        return false;
    }
    /*
     * No signal may reach the handlers in the child before exec: they would write into this
     * program's pipe.
     */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    cli_flush();
    child->pid = fork();
    why = child->pid < 0 ? errno : 0;
    if (child->pid == 0)
        run(argv, place, &mask, parent, report[1]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    if (child->pid > 0 && (why = failure(report[0])) != 0) {
        waitpid(child->pid, NULL, 0);
        child->code = why == ENOENT ? CLI_NO_COMMAND : CLI_NOT_RUN;
    }
    close(report[0]);
    errno = child->why = why;
    if (why)
        cli_system_error(argv[0]);
    return !why;
}

void child_look(struct child *child) {
    int how;
    if (child->ended || waitpid(child->pid, &how, WNOHANG) != child->pid)
        return;
    child->ended = true;
    child->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    child->code = child->signal ? 128 + child->signal : WEXITSTATUS(how);
}
