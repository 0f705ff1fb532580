/* dueq work: what its files share. */
#ifndef DUEQ_CLI_WORK_H
#define DUEQ_CLI_WORK_H

#include "child.h"

/* A command that got SIGTERM has this long until it gets SIGKILL. */
#define WORK_KILL_MS 3000
/* How long the commands may go on when dueq is told to end. With the above it is less than 30 s. */
#define WORK_GRACE_MS 25000

/* What the options say. */
struct work {
    char **command;
    size_t concurrency; /* commands at a time */
    int64_t timeout_ms; /* of a command; 0: none */
    int64_t wait_ms;    /* for a message; or DUEQ_FOREVER */
    int64_t retry_ms;   /* or DUEQ_BY_POLICY */
    int64_t grace_ms;
    int64_t max_time_ms; /* of the worker; 0: none */
    long max_jobs;       /* messages; 0: none */
    bool bury_on[256];   /* exit codes */
    dueq_consumer_options consumer;
};

/* worker.c: the loop */

/*
 * Works on the queues that are open until it is told to end or nothing is left to do. Returns the
 * exit code.
 */
int worker_run(struct cli *cli, const struct work *work);

/* notify.c: the service manager */

/* Keeps its address, if there is one, from the commands that are run. */
void notify_begin(void);
/* Tells it, as sd_notify(3) does: "READY=1", "STOPPING=1". */
void notify(const char *state);

/* job.c: a message and its command */

enum job_state { JOB_NONE, JOB_RUNS, JOB_ENDED };

/* What is to become of the message. */
enum verdict { VERDICT_RELEASE, VERDICT_ACK, VERDICT_RETRY, VERDICT_BURY };

struct job {
    enum job_state state;
    enum verdict verdict; /* when the command has ended */
    struct child child;
    dueq_queue *queue;
    const char *queue_name;
    char *own; /* the bytes of the two */
    dueq_bytes id, ticket;
    uint32_t attempt;
    int64_t start_ms, end_ms;  /* of the command */
    int64_t kill_ms;           /* when it is to be sent the next signal; INT64_MAX: never */
    int kill_signal;           /* the last that was sent for it; 0: none */
    bool stops;                /* that is because the worker ends: no failure */
    int errors;                /* what it writes to its standard error; -1: no more */
    char line[DUEQ_MAX_ERROR]; /* the start of the last line of that */
    size_t line_size;
    bool line_ended;
    bool in_doubt; /* a call to settle it failed, and may have taken effect */
};

/* Takes a message over, to be given back unless its command is started. */
void job_take(struct job *job, const dueq_message *message, dueq_queue *queue,
              const char *queue_name);
/* It is to be retried, for this reason. */
void job_fail(struct job *job, const char *why);
/* Starts the command. False: it does not run, said why; job->child.code is the exit code. */
bool job_start(struct job *job, const struct cli *cli, const struct work *work,
               const dueq_message *message);
/* Does what there is to do, without waiting: passes errors on, ends what takes too long. */
void job_look(struct job *job, const struct work *work);
/* Sends the command, and what it has started, a signal. */
void job_kill(const struct job *job, int number);
/* Ends the command at that time, by SIGTERM and later SIGKILL: its message is released. */
void job_stop(struct job *job, int64_t at_ms);
/* The same at once, by SIGKILL. */
void job_abort(struct job *job);
/* Says what it runs, and since when. */
void job_tell(const struct job *job);
/* Begins the call that settles the message by the verdict. */
dueq_status job_settle_submit(const struct job *job, const struct work *work);
/*
 * Says what came of it, and is free for the next. Returns the exit code, which a lost lease does
 * not change.
 */
int job_settled(struct job *job, const struct cli *cli, dueq_status status);

#endif
