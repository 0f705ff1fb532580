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
        cli_say("  it is tried again every second");
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
                cli_say("dueq: signal %d: no further message is taken; another signal goes on to "
                        "the commands that run",
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
        cli_usage(cli, "which command? for example: dueq work %s -- ./handle", argv[optind]);
    char **names = argv + optind;
    int code, count = argc - optind;
    bool good = cli_open(cli, argv, &code);
    for (int i = 1; good && i < count; i++)
        good = cli_open_queue(cli, names[i], &code);
    return good ? work_on(cli, &work, names) : code;
}

const struct command work_command = {
    "work", "QUEUE... -- COMMAND...", "Runs a command for each message",
    "The command has the body on its standard input. When it ends with 0, the message is done\n"
    "(acknowledged). Anything else is a failure: the message is tried again by the --backoff that\n"
    "it was pushed with, up to its --attempts, and keeps as its error the last line that the\n"
    "command wrote to its standard error, else \"exit 3\" or \"signal 9\". Its message is kept "
    "from\n"
    "others while it runs. When dueq is killed, the command is sent SIGTERM, and others have the\n"
    "message soon.\n"
    "\n"
    "Options:\n"
    "  --jobs N                N commands at once (1)\n"
    "  --timeout DURATION      end a command that runs so long, as a failure: by SIGTERM to it "
    "and\n"
    "                          all it has started, after 5 more seconds by SIGKILL (none)\n"
    "  --retry-delay DURATION  a failed message is tried again after so long (by its backoff)\n"
    "  --bury-on CODE          an exit code that sets the message aside as dead at once; may be\n"
    "                          given several times\n"
    "  --limit N               end after N messages\n"
    "  --wait DURATION         end when nothing ran or came for so long; 0: when nothing is ready\n"
    "                          (forever)\n"
    "  --lease DURATION        after a crash of dueq or its machine the message comes back within\n"
    "                          so long (the message's own, or 8s)\n"
    "  --max-run DURATION      a message is kept from others no longer than this (1h, or longer "
    "if\n"
    "                          --timeout is); 0: for one lease\n"
    "  --slack DURATION        what falls due while it waits may be taken so much later, up to "
    "100ms,\n"
    "                          so that there are fewer requests; never early (0)\n"
    "  --round-robin           of several queues: each in turn, else the first that has any\n"
    "  --pass-url              the commands get the server's URL with its user and password\n"
    "  --json                  one line for each message, with queue, id, attempt, code, seconds,\n"
    "                          outcome (acked, retried, exhausted, buried, released; lost: the\n"
    "                          lease had ended;\n"
    "                          unknown: the server did not say) and error;\n"
    "                          what the commands print goes to standard error then\n"
    "\n"
    "The command's environment:\n"
    "  DUEQ_QUEUE, DUEQ_ID, DUEQ_TICKET\n"
    "  DUEQ_ATTEMPT     1 the first time, and one more after each failure\n"
    "  DUEQ_DELIVERIES  how often it was delivered\n"
    "  DUEQ_HEADER_...  each header whose name has letters of ASCII, digits, - and _ only: in\n"
    "                   capitals, - as _ (content-type: DUEQ_HEADER_CONTENT_TYPE); the first of\n"
    "                   those that become the same\n"
    "  DUEQ_URL         the server, if it was named; without the user and the password, unless\n"
    "                   there is --pass-url\n"
    "What is in them was written by whoever may push, the id too: check it before it becomes a\n"
    "file's name (../x) or a word of a command (--x). A value with a NUL byte is left out. A\n"
    "message fails when the system does not take its variables: on Linux each may have 128 KiB,\n"
    "and all, with those of dueq itself, a quarter of the stack's limit (2 MiB as a rule).\n"
    "\n"
    "SIGTERM, SIGINT (Ctrl-C), SIGHUP and SIGQUIT: no further message is taken, the commands that\n"
    "run are let finish, and dueq ends with 128 + N; another one goes on to the commands. SIGUSR1\n"
    "and SIGUSR2 go on to them at once.\n"
    "\n"
    "A command that cannot be run ends dueq with 126, or 127 if there is none of this name; the\n"
    "message is given back as if it had not been taken. While the server cannot be reached it is\n"
    "tried again every second, up to --wait.\n"
    "\n"
    "Examples:\n"
    "  dueq work orders -- ./handle\n"
    "  dueq work mails --jobs 4 --timeout 1m --bury-on 65 -- sendmail -t\n"
    "  dueq work images --wait 0 -- sh -c 'convert - \"$(mktemp out/XXXXXXXX.webp)\"'\n"
    "  dueq work urgent orders --limit 1000 --json -- php worker.php >> work.log\n"
    "  dueq work pages -- sh -c 'text=$(./fetch) && dueq push texts \"$text\"'\n",
    run};
