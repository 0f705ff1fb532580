#include "work.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MAX_JOBS 500
/* A call that failed is made again after this. */
#define PAUSE_MS 1000
/* Where it is to end, a message whose command has ended is given up when nothing settles it for so long. */
#define GIVE_UP_MS 30000

/* One client for all: it waits for a message, or settles one. */
struct worker {
    struct cli *cli;
    const struct work *work;
    char **names; /* of the queues */
    dueq_consumer *consumer;
    struct job *jobs;
    struct pollfd *set;
    size_t busy; /* jobs with a message */
    long taken;
    enum { IDLE, TAKES, SETTLES } call;
    struct job *settling;
    int64_t heard_ms; /* when a message came or was settled last */
    int64_t pause_ms; /* until then no call is made */
    int events, signal, code;
    bool ending; /* no further message is taken */
    bool warned;
};

static struct job *job_in(const struct worker *worker, enum job_state state) {
    for (size_t i = 0; i < worker->work->jobs; i++)
        if (worker->jobs[i].state == state)
            return &worker->jobs[i];
    return NULL;
}

static void end(struct worker *worker, int code) {
    worker->ending = true;
    worker->code = cli_worse(worker->code, code);
}

/* How long a reserve may wait: while commands run, their ends hasten it. */
static int64_t patience(const struct worker *worker) {
    if (worker->busy || worker->work->wait_ms == DUEQ_FOREVER)
        return DUEQ_FOREVER;
    int64_t left_ms = worker->heard_ms + worker->work->wait_ms - time_monotonic_ms();
    return left_ms > 0 ? left_ms : 0;
}

/* Makes the call again in a while. */
static void put_off(struct worker *worker, dueq_status status) {
    if (!worker->warned) {
        cli_report(worker->cli, status, NULL);
        cli_say("  dueq tries again every second");
    }
    worker->warned = true;
    worker->pause_ms = time_monotonic_ms() + PAUSE_MS;
}

/* ---- What calls bring ------------------------------------------------------------------------------ */

static void begin_job(struct worker *worker, const dueq_message *message, size_t queue) {
    struct job *job = job_in(worker, JOB_NONE);
    const struct work *work = worker->work;
    job_take(job, message, worker->cli->queues[queue], worker->names[queue]);
    worker->busy++;
    worker->heard_ms = time_monotonic_ms();
    if (worker->ending)
        return; /* it is given back */
    if (!job_start(job, worker->cli, work, message))
        end(worker, job->child.code);
    worker->taken++;
    if (work->limit && worker->taken == work->limit)
        worker->ending = true;
}

static void taken(struct worker *worker, dueq_status status, const dueq_message *message,
                  size_t queue) {
    worker->warned = worker->warned && status < 0;
    if (status == DUEQ_OK)
        begin_job(worker, message, queue);
    else if (worker->ending)
        return;
    else if (status == DUEQ_EMPTY)
        worker->ending = patience(worker) == 0;
    else if (dueq_status_retriable(status) && patience(worker) != 0)
        put_off(worker, status);
    else
        end(worker, cli_report(worker->cli, status, NULL));
}

static void settled(struct worker *worker, dueq_status status) {
    struct job *job = worker->settling;
    worker->warned = worker->warned && status < 0;
    bool ends = worker->ending || worker->work->wait_ms != DUEQ_FOREVER;
    if (status < 0 && dueq_status_retriable(status) &&
        (!ends || time_monotonic_ms() < job->end_ms + GIVE_UP_MS)) {
        job->in_doubt = true;
        put_off(worker, status);
        return;
    }
    dueq_consumer_forget(worker->consumer, job->ticket);
    worker->code = cli_worse(worker->code, job_settled(job, worker->cli, status));
    worker->ending = worker->ending || ferror(stdout);
    worker->busy--;
    worker->heard_ms = time_monotonic_ms();
}

/* ---- Calls ---------------------------------------------------------------------------------------- */

/* Ends a call that is final, and so has done something; false: it goes on. */
static bool finish(struct worker *worker, dueq_status submitted) {
    const dueq_message *message = NULL;
    size_t queue = 0;
    dueq_status status = submitted;
    if (worker->call == TAKES && submitted >= 0)
        status = dueq_consumer_take(worker->consumer, &message, &queue);
    else if (worker->call == SETTLES && submitted == DUEQ_PENDING)
        status = dueq_take(worker->cli->client, NULL);
    if (status == DUEQ_PENDING)
        return false;
    bool takes = worker->call == TAKES;
    worker->call = IDLE;
    if (takes)
        taken(worker, status, message, queue);
    else
        settled(worker, status);
    return true;
}

/* Begins the next call. True: it was final at once. */
static bool begin(struct worker *worker) {
    struct job *ended = job_in(worker, JOB_ENDED);
    dueq_status status;
    if (worker->call != IDLE || time_monotonic_ms() < worker->pause_ms)
        return false;
    if (ended) {
        worker->call = SETTLES;
        worker->settling = ended;
        status = job_settle_submit(ended, worker->work);
    } else if (!worker->ending && job_in(worker, JOB_NONE)) {
        worker->call = TAKES;
        status = dueq_consumer_submit(worker->consumer, patience(worker));
    } else {
        return false;
    }
    return status != DUEQ_PENDING && finish(worker, status);
}

static void go_on(struct worker *worker) {
    dueq_client *client = worker->cli->client;
    if (worker->call == TAKES && (worker->ending || job_in(worker, JOB_ENDED)))
        dueq_hasten(client);
    if (worker->call != IDLE && dueq_pump(client) != DUEQ_PENDING)
        finish(worker, DUEQ_PENDING);
    cli_warn(worker->cli);
    while (begin(worker))
        ;
}

/* ---- Signals, and the loop ------------------------------------------------------------------------- */

static void hear_signals(struct worker *worker) {
    bool by_terminal; /* the commands are not of its group */
    for (int number; (number = child_signal(&by_terminal)) != 0;) {
        if (worker->signal || number == SIGUSR1 || number == SIGUSR2) {
            for (size_t i = 0; i < worker->work->jobs; i++)
                job_kill(&worker->jobs[i], number);
        } else {
            worker->signal = number;
            worker->ending = true;
            if (worker->busy)
                cli_say("dueq: signal %d: no further message is reserved; another signal goes to "
                        "the running commands",
                        number);
        }
    }
}

/* Waits until something is to be done. */
static void idle(struct worker *worker) {
    struct pollfd *set = worker->set;
    int timeout_ms = -1;
    int64_t until_ms = INT64_MAX, now_ms = time_monotonic_ms();
    size_t count = 0;
    if (worker->call != IDLE)
        count = dueq_poll_set(worker->cli->client, set, &timeout_ms);
    else if (worker->pause_ms > now_ms)
        until_ms = worker->pause_ms;
    set[count++] = (struct pollfd){worker->events, POLLIN, 0};
    for (size_t i = 0; i < worker->work->jobs; i++) {
        const struct job *job = &worker->jobs[i];
        if (job->state != JOB_RUNS)
            continue;
        set[count++] = (struct pollfd){job->errors, POLLIN, 0};
        if (job->kill_ms < until_ms)
            until_ms = job->kill_ms;
    }
    int64_t left_ms = until_ms > now_ms ? until_ms - now_ms : 0;
    if (until_ms < INT64_MAX && (timeout_ms < 0 || left_ms < timeout_ms))
        timeout_ms = left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
    poll(set, (nfds_t)count, timeout_ms);
}

static int loop(struct worker *worker) {
    for (;;) {
        hear_signals(worker); /* before looking: whose end is read here is seen there */
        for (size_t i = 0; i < worker->work->jobs; i++)
            job_look(&worker->jobs[i], worker->work);
        go_on(worker);
        if (worker->ending && worker->call == IDLE && !worker->busy)
            break;
        idle(worker);
    }
    while (dueq_consumer_stop(worker->consumer) == DUEQ_INTERRUPTED)
        ;
    if (worker->code)
        return worker->code;
    return worker->signal ? 128 + worker->signal : CLI_DONE;
}

static int work_on(struct cli *cli, const struct work *work, char *names[]) {
    struct worker worker = {.cli = cli, .work = work, .names = names};
    dueq_status status =
        dueq_consumer_open(cli->queues, cli->queue_count, &work->consumer, &worker.consumer);
    if (status != DUEQ_OK)
        return cli_report(cli, status, NULL);
    worker.jobs = calloc(work->jobs, sizeof *worker.jobs);
    worker.set = calloc(work->jobs + DUEQ_MAX_SOCKETS + 1, sizeof *worker.set);
    if (!worker.jobs || !worker.set)
        cli_out_of_memory();
    worker.heard_ms = time_monotonic_ms();
    worker.events = child_listen();
    int code = worker.events < 0 ? CLI_FAILED : cli_signal() ? 128 + cli_signal() : loop(&worker);
    dueq_consumer_close(worker.consumer);
    free(worker.jobs);
    free(worker.set);
    return code;
}

/* ---- Arguments ------------------------------------------------------------------------------------ */

enum { JOBS, LEASE, MAX_RUN, TIMEOUT, WAIT, LIMIT, SLACK, RETRY_DELAY, BURY_ON, ROUND_ROBIN };

static void take_option(const struct cli *cli, struct work *work, int option) {
    switch (option) {
    case JOBS:
        work->jobs = (size_t)cli_number(cli, "jobs", optarg, 1, MAX_JOBS);
        break;
    case LEASE:
        work->consumer.lease_ms = cli_duration(cli, "lease", optarg);
        break;
    case MAX_RUN:
        work->consumer.max_run_ms = cli_duration(cli, "max-run", optarg);
        break;
    case TIMEOUT:
        work->timeout_ms = cli_duration(cli, "timeout", optarg);
        break;
    case WAIT:
        work->wait_ms = cli_patience(cli, optarg);
        break;
    case LIMIT:
        work->limit = cli_number(cli, "limit", optarg, 1, INT32_MAX);
        break;
    case SLACK:
        work->consumer.slack_ms = cli_duration(cli, "slack", optarg);
        break;
    case RETRY_DELAY:
        work->retry_ms = cli_duration(cli, "retry-delay", optarg);
        break;
    case BURY_ON:
        work->bury_on[cli_number(cli, "bury-on", optarg, 1, 255)] = true;
        break;
    case ROUND_ROBIN:
        work->consumer.order = DUEQ_ROUND_ROBIN;
        break;
    }
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"jobs", required_argument, NULL, JOBS},
                                            {"lease", required_argument, NULL, LEASE},
                                            {"max-run", required_argument, NULL, MAX_RUN},
                                            {"timeout", required_argument, NULL, TIMEOUT},
                                            {"wait", required_argument, NULL, WAIT},
                                            {"limit", required_argument, NULL, LIMIT},
                                            {"slack", required_argument, NULL, SLACK},
                                            {"retry-delay", required_argument, NULL, RETRY_DELAY},
                                            {"bury-on", required_argument, NULL, BURY_ON},
                                            {"round-robin", no_argument, NULL, ROUND_ROBIN},
                                            CHILD_OPTIONS,
                                            CLI_OPTIONS};
    struct work work = {
        .jobs = 1, .wait_ms = DUEQ_FOREVER, .retry_ms = DUEQ_BY_POLICY, .consumer = DUEQ_CONSUMER};
    work.consumer.concurrency = 0; /* each ends by its own command */
    work.consumer.max_run_ms = -1; /* by --timeout */
    /* getopt would move the words in front of the -- to those behind. */
    int words = 1;
    while (words < argc && strcmp(argv[words], "--") != 0)
        words++;
    work.command = words < argc ? argv + words + 1 : NULL;
    argv[words] = NULL;
    argc = words;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;)
        take_option(cli, &work, option);
    if (work.consumer.max_run_ms < 0)
        work.consumer.max_run_ms = work.timeout_ms + WORK_GRACE_MS > DUEQ_MAX_RUN_MS
                                       ? work.timeout_ms + WORK_GRACE_MS
                                       : DUEQ_MAX_RUN_MS;
    cli_words(cli, argc, 0, DUEQ_MAX_QUEUES - 1);
    if (!work.command || !work.command[0])
        cli_usage(cli, "the command is missing; for example: dueq work %s -- ./handle",
                  argv[optind]);
    char **names = argv + optind;
    int code, count = argc - optind;
    bool good = cli_open(cli, argv, &code);
    for (int i = 1; good && i < count; i++)
        good = cli_open_queue(cli, names[i], &code);
    return good ? work_on(cli, &work, names) : code;
}

const struct command work_command = {
    "work", "QUEUE... -- COMMAND...", "Runs a command for each message",
    "The command reads the body from its standard input. When it ends with 0, dueq acknowledges\n"
    "the message. Any other end is a failure: the message is delivered again by its --backoff, up\n"
    "to its --attempts, and its error is the last line that the command wrote to standard error,\n"
    "or else \"exit 3\" or \"signal 9\". dueq extends the lease while the command runs. When dueq\n"
    "is killed, the command gets SIGTERM, and the message is delivered again after --lease.\n"
    "\n"
    "Options:\n"
    "  --jobs N                run up to N commands at once (1)\n"
    "  --timeout DURATION      end a command that runs for this long, as a failure: SIGTERM to it\n"
    "                          and all that it started, and SIGKILL 5 seconds later (none)\n"
    "  --retry-delay DURATION  the delay after a failure (by the message's backoff)\n"
    "  --bury-on CODE          an exit code that makes the message dead at once; may be repeated\n"
    "  --limit N               end after N messages\n"
    "  --wait DURATION         end when no command ran and no message came for this long; 0: when\n"
    "                          nothing is ready (forever)\n"
    "  --lease DURATION        if dueq or its machine crashes, the message is delivered again\n"
    "                          within this time (the message's own, or 8s)\n"
    "  --max-run DURATION      extend a lease for no longer than this (1h, or longer if --timeout\n"
    "                          is longer); 0: do not extend it\n"
    "  --slack DURATION        deliver a message up to this much after its due time, up to 100ms,\n"
    "                          to save requests; never before it (0)\n"
    "  --round-robin           with several queues: each in turn, else the first that has any\n"
    "  --pass-url              put the user and the password into the commands' DUEQ_URL\n"
    "  --json                  print a line for each message, with queue, id, attempt, code,\n"
    "                          seconds, error, and outcome (acked, retried, exhausted, buried,\n"
    "                          released; lost: the lease had ended; unknown: the server did not\n"
    "                          answer); what the commands print goes to standard error\n"
    "\n"
    "The command's environment:\n"
    "  DUEQ_QUEUE, DUEQ_ID, DUEQ_TICKET\n"
    "  DUEQ_ATTEMPT     1 the first time, and one more after each failure\n"
    "  DUEQ_DELIVERIES  how often it was delivered\n"
    "  DUEQ_HEADER_...  each header whose name has only ASCII letters, digits, - and _: the name\n"
    "                   in capitals, with _ for - (content-type: DUEQ_HEADER_CONTENT_TYPE). If "
    "two\n"
    "                   names become the same, it is the first\n"
    "  DUEQ_URL         the URL of --url or DUEQ_URL, without the user and the password unless\n"
    "                   --pass-url is given\n"
    "Their values, the id too, come from whoever may push: check them before you use them as a\n"
    "file name (../x) or as an argument of a command (--x). A value with a NUL byte is left out. "
    "A\n"
    "message fails if its variables are too large for the system: on Linux one may have 128 KiB,\n"
    "and all, with those of dueq itself, a quarter of the stack limit (usually 2 MiB).\n"
    "\n"
    "On SIGTERM, SIGINT (Ctrl-C), SIGHUP and SIGQUIT dueq reserves no further message, waits for\n"
    "the running commands, and ends with 128 + N. It forwards a second one of these signals, and\n"
    "each SIGUSR1 and SIGUSR2, to the commands.\n"
    "\n"
    "If the command cannot be run, dueq releases the message and ends with 126, or with 127 if\n"
    "there is no such command. While the server cannot be reached, dueq tries again every second,\n"
    "up to --wait.\n"
    "\n"
    "Examples:\n"
    "  dueq work orders -- ./handle\n"
    "  dueq work mails --jobs 4 --timeout 1m --bury-on 65 -- sendmail -t\n"
    "  dueq work images --wait 0 -- sh -c 'convert - \"$(mktemp out/XXXXXXXX.webp)\"'\n"
    "  dueq work urgent orders --limit 1000 --json -- php worker.php >> work.log\n"
    "  dueq work pages -- sh -c 'text=$(./fetch) && dueq push texts \"$text\"'\n",
    run};
