/* dueq work: declarations for its files. */
#ifndef DUEQ_CLI_WORK_H
#define DUEQ_CLI_WORK_H

#include "child.h"

/* A command that got SIGTERM gets SIGKILL this much later. */
#define WORK_KILL_MS 3000
/*
 * How long commands may continue after dueq was told to end. With WORK_KILL_MS this is less than 30
 * s, after which Kubernetes kills a program by default.
 */
#define WORK_GRACE_MS 25000

/* The values of the options. */
struct work {
    char **command;
    size_t concurrency; /* commands that run at the same time */
    int64_t timeout_ms; /* limit for one command; 0: none */
    int64_t wait_ms;    /* how long to wait for a message; or DUEQ_FOREVER */
    int64_t retry_ms;   /* delay of a failed message; or DUEQ_BY_POLICY */
    int64_t grace_ms;
    int64_t max_time_ms; /* limit for the worker; 0: none */
    long max_jobs;       /* messages, after which the worker ends; 0: no limit */
    bool bury_on[256];   /* the exit codes after which a message is buried */
    dueq_consumer_options consumer;
};

/* worker.c: the loop */

/*
 * Works on the open queues until the worker is told to end, or no work is left. Returns the exit
 * code.
 */
int worker_run(struct cli *cli, const struct work *work);

/* notify.c: the service manager */

/* Reads and unsets NOTIFY_SOCKET, so that commands do not inherit it. */
void notify_begin(void);
/* Sends a state to the service manager, as sd_notify(3) does: "READY=1", "STOPPING=1". */
void notify(const char *state);

/* job.c: a message and its command */

enum job_state { JOB_NONE, JOB_RUNS, JOB_ENDED };

/* How the message is settled. */
enum verdict { VERDICT_RELEASE, VERDICT_ACK, VERDICT_RETRY, VERDICT_BURY };

struct job {
    enum job_state state;
    enum verdict verdict; /* valid once the command has ended */
    struct child child;
    dueq_queue *queue;
    const char *queue_name;
    char *own; /* memory of `id` and `ticket` */
    dueq_bytes id, ticket;
    uint32_t attempt;
    int64_t start_ms, end_ms; /* when the command started and ended */
    int64_t kill_ms;          /* when the command gets the next signal; INT64_MAX: never */
    int kill_signal;          /* the last signal sent to it; 0: none */
    bool stops; /* the command is ended because the worker ends: no failure of the message */
    int errors; /* the command's standard error; -1: closed */
    char line[DUEQ_MAX_ERROR]; /* the start of the last line on standard error */
    size_t line_size;
    bool line_ended;
    bool in_doubt; /* a call to settle the message failed, but the server may have run it */
};

/* Takes a message over. Its verdict is "release" until its command is started. */
void job_take(struct job *job, const dueq_message *message, dueq_queue *queue,
              const char *queue_name);
/* Sets the verdict to "retry", with this error. */
void job_fail(struct job *job, const char *why);
/*
 * Starts the command. False: the command does not run, and the reason was logged; job->child.code
 * is the exit code.
 */
bool job_start(struct job *job, const struct cli *cli, const struct work *work,
               const dueq_message *message);
/*
 * Copies standard error, sends a signal whose time has come, and notes the end of the command. Does
 * not wait.
 */
void job_look(struct job *job, const struct work *work);
/* Sends a signal to the command and the processes that it has started. */
void job_kill(const struct job *job, int number);
/* Ends the command at `at_ms`, by SIGTERM and later SIGKILL. Its message is released. */
void job_stop(struct job *job, int64_t at_ms);
/* Ends the command now, by SIGKILL. Its message is released. */
void job_abort(struct job *job);
/* Logs which message the command works on, and since when. */
void job_tell(const struct job *job);
/* Begins the call that settles the message as the verdict says. */
dueq_status job_settle_submit(const struct job *job, const struct work *work);
/*
 * Logs how the message was settled, and frees the job for the next message. Returns the exit code.
 * A lost lease does not change the exit code.
 */
int job_settled(struct job *job, const struct cli *cli, dueq_status status);

#endif
