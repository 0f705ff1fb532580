#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
static int event_input;

/* A signal that the terminal sent has reached the command by itself, as one of the same group. */
static void on_event(int number, siginfo_t *info, void *context) {
    (void)context;
    char event = (char)(number == SIGCHLD || info->si_code > 0 ? 0 : number);
    int kept = errno;
    if (write(event_input, &event, 1) < 0)
        event = 0; /* it is full: child_look() has something to do anyway */
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

static _Noreturn void run(char *argv[], const sigset_t *mask) {
    cli_signals_undo(); /* exec does so with handlers, but not with what is ignored */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    int code = errno == ENOENT ? CLI_NO_COMMAND : CLI_NOT_RUN;
    cli_system_error(argv[0]);
    _exit(code);
}

bool child_start(struct child *child, char *argv[]) {
    int ends[2];
    sigset_t all, mask;
    *child = (struct child){.code = CLI_FAILED};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
        cli_system_error("pipe");
        return false;
    }
    child->events = ends[0];
    event_input = ends[1];
    /* None may reach the child's copy of the handlers, which writes into this pipe. */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    listen_for(SIGCHLD);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        listen_for(passed[i]);
    fflush(stdout);
    child->pid = fork();
    if (child->pid == 0)
        run(argv, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (child->pid < 0)
        cli_system_error(argv[0]);
    return child->pid > 0;
}

void child_look(struct child *child) {
    char events[64];
    ssize_t count;
    while ((count = read(child->events, events, sizeof events)) > 0)
        for (ssize_t i = 0; i < count; i++)
            if (events[i] && !child->ended)
                kill(child->pid, events[i]);
    int how;
    if (!child->ended && waitpid(child->pid, &how, WNOHANG) == child->pid) {
        child->ended = true;
        child->code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    }
}
