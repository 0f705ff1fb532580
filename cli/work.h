/* dueq work: what its files share. */
#ifndef DUEQ_CLI_WORK_H
#define DUEQ_CLI_WORK_H

#include "cli.h"

/* A command that got SIGTERM has this long until it gets SIGKILL. */
#define WORK_GRACE_MS 5000

/* What the options say. */
struct work {
    char **command;
    size_t jobs;        /* commands at once */
    int64_t timeout_ms; /* of a command; 0: none */
    int64_t wait_ms;    /* for a message; or DUEQ_FOREVER */
    int64_t retry_ms;   /* or DUEQ_BY_POLICY */
    long limit;         /* messages; 0: none */
    bool bury_on[256];  /* exit codes */
    dueq_consumer_options consumer;
};

/* ---- job.c: a message and its command ------------------------------------------------------------ */

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
    int errors;                /* what it writes to its standard error; -1: no more */
    char line[DUEQ_MAX_ERROR]; /* the start of the last line of that */
    size_t line_size;
    bool line_ended;
    bool in_doubt; /* a call to settle it failed, and may have taken effect */
};

/* Takes a message over, to be given back unless its command is started. */
void job_take(struct job *job, const dueq_message *message, dueq_queue *queue,
              const char *queue_name);
/* Starts the command. False: it does not run, said why; job->child.code is the exit code. */
bool job_start(struct job *job, const struct cli *cli, const struct work *work,
               const dueq_message *message);
/* Does what there is to do, without waiting: passes errors on, ends what takes too long. */
void job_look(struct job *job, const struct work *work);
/* Sends the command, and what it has started, a signal. */
void job_kill(const struct job *job, int number);
/* Begins the call that settles the message by the verdict. */
dueq_status job_settle_submit(const struct job *job, const struct work *work);
/* Says what came of it, and is free for the next. Returns the exit code, which a lost lease does not change. */
int job_settled(struct job *job, const struct cli *cli, dueq_status status);

#endif
