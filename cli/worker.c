#include "work.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A call that failed is repeated after this time. */
#define PAUSE_MS 1000
/*
 * A worker that is ending gives a message up if no call has settled it this long after its command
 * ended.
 */
#define GIVE_UP_MS 30000

/* One client serves all jobs: it waits for a message, or settles one. */
struct worker {
    struct cli *cli;
    const struct work *work;
    dueq_consumer *consumer;
    struct job *jobs;
    struct pollfd *set;
    size_t busy; /* jobs with a message */
    long taken;
    /* The first `asked` queues were checked: a queue that was never pushed to gets a warning. */
    size_t asked;
    int64_t max_ms; /* end of --max-time */
    enum { IDLE, TAKES, FIRES, SETTLES, ASKS } call;
    struct job *settling; /* the job of the current call; FIRES: its schedule fires */
    int64_t heard_ms;     /* when the last message came or was settled */
    int64_t pause_ms;     /* no call is made before then */
    int events, code;
    bool ready; /* the server has answered. The first reserve does not wait, to find that out */
    int signal; /* the first signal to end; 0: none */
    int64_t stop_ms; /* when the grace after that signal ends */
    int aborted;     /* the second signal to end; 0: none */
    bool ending;     /* no further message is taken, and then the worker ends */
    bool quiet;      /* no further message is taken until SIGCONT */
};

static struct job *job_in(const struct worker *worker, enum job_state state) {
    for (size_t i = 0; i < worker->work->concurrency; i++)
        if (worker->jobs[i].state == state)
            return &worker->jobs[i];
    return NULL;
}

static void end(struct worker *worker, int code) {
    worker->ending = true;
    worker->code = cli_worse(worker->code, code);
}

/* Tells the service manager, after the first answer of the server. */
static void be_ready(struct worker *worker) {
    if (!worker->ready)
        notify("READY=1");
    worker->ready = true;
}

/*
 * How long a reserve may wait. While commands run, there is no limit: the end of a command stops
 * the wait.
 */
static int64_t patience(const struct worker *worker) {
    if (worker->busy || worker->work->wait_ms == DUEQ_FOREVER)
        return DUEQ_FOREVER;
    int64_t left_ms = worker->heard_ms + worker->work->wait_ms - time_monotonic_ms();
    return left_ms > 0 ? left_ms : 0;
}

/* Repeats the call after a pause. The library warns of the outage, and of its end. */
static void put_off(struct worker *worker) { worker->pause_ms = time_monotonic_ms() + PAUSE_MS; }

static bool finish(struct worker *worker, dueq_status submitted);

/* Results of calls */

static void begin_job(struct worker *worker, const dueq_message *message, size_t queue) {
    struct job *job = job_in(worker, JOB_NONE);
    const struct work *work = worker->work;
    dueq_queue *source = cli_source(worker->cli, queue);
    job_take(job, message, source, worker->cli->queue_name);
    worker->busy++;
    worker->heard_ms = time_monotonic_ms();
    if (worker->ending || worker->quiet)
        return; /* its verdict is "release" */
    if (!job_start(job, worker->cli, work, message))
        end(worker, job->child.code);
    worker->taken++;
    if (work->max_jobs && worker->taken == work->max_jobs)
        worker->ending = true;
}

/* Fires a schedule: one call acknowledges its message and pushes its jobs and its next message. */
static void fire(struct worker *worker, const dueq_message *message, size_t queue) {
    struct job *job = job_in(worker, JOB_NONE);
    dueq_queue *source = cli_source(worker->cli, queue);
    job_take(job, message, source, worker->cli->queue_name);
    worker->busy++;
    worker->call = FIRES;
    worker->settling = job;
    dueq_status status = dueq_fire_submit(job->queue, message);
    if (status != DUEQ_PENDING)
        finish(worker, status);
}

static void taken(struct worker *worker, dueq_status status, const dueq_message *message,
                  size_t queue) {
    if (status >= 0)
        be_ready(worker);
    if (status == DUEQ_OK && dueq_is_schedule(message))
        fire(worker, message, queue);
    else if (status == DUEQ_OK)
        begin_job(worker, message, queue);
    else if (worker->ending)
        return;
    else if (status == DUEQ_EMPTY)
        worker->ending = !worker->quiet && patience(worker) == 0;
    else if (dueq_status_retriable(status) && patience(worker) != 0)
        put_off(worker);
    else
        end(worker, cli_report(worker->cli, status, NULL));
}

/* Until when a failed call to settle the message is repeated. */
static int64_t give_up_ms(const struct worker *worker, const struct job *job) {
    if (worker->signal)
        return worker->aborted ? 0 : worker->stop_ms + WORK_KILL_MS;
    return worker->ending || worker->work->wait_ms != DUEQ_FOREVER ? job->end_ms + GIVE_UP_MS
                                                                   : INT64_MAX;
}

static void settled(struct worker *worker, dueq_status status) {
    struct job *job = worker->settling;
    if (status < 0 && dueq_status_retriable(status) &&
        time_monotonic_ms() < give_up_ms(worker, job)) {
        job->in_doubt = true;
        put_off(worker);
        return;
    }
    dueq_consumer_forget(worker->consumer, job->ticket);
    worker->code = cli_worse(worker->code, job_settled(job, worker->cli, status));
    worker->ending = worker->ending || ferror(cli_out);
    worker->busy--;
    worker->heard_ms = time_monotonic_ms();
}

/* A schedule that did not fire is released if the failure may pass, and otherwise retried. */
static void fired(struct worker *worker, dueq_status status) {
    if (status == DUEQ_NOT_DURABLE)
        cli_report(worker->cli, status, NULL);
    if (status >= 0 || status == DUEQ_NOT_DURABLE) {
        settled(worker, DUEQ_OK); /* LEASE_LOST too: another worker has fired it */
        return;
    }
    worker->settling->in_doubt = true;
    if (dueq_status_retriable(status))
        put_off(worker);
    else
        job_fail(worker->settling, dueq_error_text(worker->cli->client));
}

/*
 * The index of the next queue whose counts are to be read, each name once; queue_count: none is
 * left.
 */
static size_t next_to_ask(const struct worker *worker) {
    const struct cli *cli = worker->cli;
    for (size_t i = worker->asked; i < cli->queue_count; i++) {
        size_t first = 0;
        while (strcmp(cli->names[first], cli->names[i]) != 0)
            first++;
        if (first == i)
            return i;
    }
    return cli->queue_count;
}

/* Warns of a queue that was never pushed to: its name may be mistyped. */
static void counted(struct worker *worker, dueq_status status, dueq_result *result) {
    if (status == DUEQ_OK)
        cli_warn_of_unused(worker->cli->names[worker->asked], dueq_result_counts(result));
    dueq_result_free(result);
    worker->asked++;
}

/* Calls */

/* Handles the result of a complete call. False: the call is not complete. */
static bool finish(struct worker *worker, dueq_status submitted) {
    const dueq_message *message = NULL;
    dueq_result *result = NULL;
    size_t queue = 0;
    dueq_status status = submitted;
    if (worker->call == TAKES && submitted >= 0)
        status = dueq_consumer_take(worker->consumer, &message, &queue);
    else if (worker->call != TAKES && submitted == DUEQ_PENDING)
        status = dueq_take(worker->cli->client, worker->call == ASKS ? &result : NULL);
    if (status == DUEQ_PENDING)
        return false;
    int call = (int)worker->call;
    worker->call = IDLE;
    if (call == TAKES)
        taken(worker, status, message, queue);
    else if (call == FIRES)
        fired(worker, status);
    else if (call == ASKS)
        counted(worker, status, result);
    else
        settled(worker, status);
    return true;
}

/* Begins the next call. True: the call was complete at once. */
static bool begin(struct worker *worker) {
    struct job *ended = job_in(worker, JOB_ENDED);
    dueq_status status;
    if (worker->call != IDLE || time_monotonic_ms() < worker->pause_ms)
        return false;
    if (ended) {
        worker->call = SETTLES;
        worker->settling = ended;
        status = job_settle_submit(ended, worker->work);
    } else if (worker->ready && !worker->ending &&
               (worker->asked = next_to_ask(worker)) < worker->cli->queue_count) {
        worker->call = ASKS;
        status = dueq_stats_submit(worker->cli->queues[worker->asked]);
    } else if (!worker->ending && !worker->quiet && job_in(worker, JOB_NONE)) {
        worker->call = TAKES;
        status = dueq_consumer_submit(worker->consumer, worker->ready ? patience(worker) : 0);
    } else {
        return false;
    }
    return status != DUEQ_PENDING && finish(worker, status);
}

/* Logs warnings. Those of the heartbeat come also while all commands run and no call does. */
static void warn(const struct worker *worker) {
    char text[DUEQ_MAX_WARNING];
    cli_warn(worker->cli);
    while (dueq_consumer_warning(worker->consumer, text))
        cli_log(CLI_WARNING, NULL, NULL, "%s", text);
}

static void go_on(struct worker *worker) {
    dueq_client *client = worker->cli->client;
    if (worker->call == TAKES && (worker->ending || worker->quiet || job_in(worker, JOB_ENDED)))
        dueq_stop_wait(client);
    bool final = worker->call != IDLE && dueq_pump(client) != DUEQ_PENDING;
    warn(worker);
    if (final)
        finish(worker, DUEQ_PENDING);
    while (begin(worker))
        ;
    warn(worker);
}

/* Signals, and the loop */

static const int heard[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                            SIGUSR2, SIGTSTP, SIGCONT, 0};

/* The first signal to end: the commands may continue for the grace. */
static void stop(struct worker *worker, int number) {
    char span[TIME_ROOM];
    worker->signal = number;
    worker->ending = true;
    worker->stop_ms = time_monotonic_ms() + worker->work->grace_ms;
    dueq_consumer_wind_down(worker->consumer);
    notify("STOPPING=1");
    for (size_t i = 0; i < worker->work->concurrency; i++)
        job_stop(&worker->jobs[i], worker->stop_ms);
    if (worker->busy)
        cli_log(CLI_INFO, NULL, "a second signal ends them at once",
                "signal %d: no further message is reserved, and the running commands have %s",
                number, time_format_span(worker->work->grace_ms, span));
}

/* The second signal to end. */
static void abort_all(struct worker *worker, int number) {
    worker->aborted = number;
    for (size_t i = 0; i < worker->work->concurrency; i++)
        job_abort(&worker->jobs[i]);
}

static void set_quiet(struct worker *worker, bool quiet) {
    if (worker->quiet == quiet)
        return;
    cli_log(CLI_INFO, NULL, NULL, "%s",
            quiet ? "quiet: no further message is reserved until SIGCONT" : "quiet no more");
    worker->quiet = quiet;
    worker->heard_ms = time_monotonic_ms();
}

static void tell(const struct worker *worker) {
    size_t running = 0;
    for (size_t i = 0; i < worker->work->concurrency; i++)
        running += worker->jobs[i].state == JOB_RUNS;
    cli_log(CLI_INFO, NULL, NULL, "%zu of %zu commands run, %ld messages so far%s%s", running,
            worker->work->concurrency, worker->taken, worker->quiet ? ", quiet" : "",
            worker->ending ? ", ending" : "");
    for (size_t i = 0; i < worker->work->concurrency; i++)
        job_tell(&worker->jobs[i]);
}

static void hear_signals(struct worker *worker) {
    bool by_terminal; /* unused: each command has a process group of its own */
    for (int number; (number = child_signal(&by_terminal)) != 0;) {
        if (number == SIGUSR1)
            tell(worker);
        else if (number == SIGTSTP || number == SIGCONT)
            set_quiet(worker, number == SIGTSTP);
        else if (number == SIGUSR2)
            for (size_t i = 0; i < worker->work->concurrency; i++)
                job_kill(&worker->jobs[i], number);
        else if (!worker->signal)
            stop(worker, number);
        else
            abort_all(worker, number);
    }
}

/* Waits for an event: of the call, a signal, a command's standard error, or a deadline. */
static void idle(struct worker *worker) {
    struct pollfd *set = worker->set;
    int timeout_ms = -1;
    int64_t until_ms = worker->ending ? INT64_MAX : worker->max_ms, now_ms = time_monotonic_ms();
    size_t count = 0;
    if (worker->call != IDLE)
        count = dueq_poll_set(worker->cli->client, set, &timeout_ms);
    else if (worker->pause_ms > now_ms && worker->pause_ms < until_ms)
        until_ms = worker->pause_ms;
    set[count++] = (struct pollfd){worker->events, POLLIN, 0};
    for (size_t i = 0; i < worker->work->concurrency; i++) {
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
        /* before job_look(): a command whose SIGCHLD was read here is found ended there */
        hear_signals(worker);
        worker->ending = worker->ending || time_monotonic_ms() >= worker->max_ms;
        for (size_t i = 0; i < worker->work->concurrency; i++)
            job_look(&worker->jobs[i], worker->work);
        go_on(worker);
        if (worker->ending && worker->call == IDLE && !worker->busy)
            break;
        idle(worker);
    }
    while (dueq_consumer_stop(worker->consumer) == DUEQ_INTERRUPTED)
        ;
    warn(worker);
    return worker->aborted ? 128 + worker->aborted : worker->code;
}

int worker_run(struct cli *cli, const struct work *work) {
    struct worker worker = {.cli = cli, .work = work, .max_ms = INT64_MAX};
    dueq_status status =
        dueq_consumer_open(cli->queues, cli->queue_count, &work->consumer, &worker.consumer);
    if (status != DUEQ_OK)
        return cli_report(cli, status, NULL);
    worker.jobs = calloc(work->concurrency, sizeof *worker.jobs);
    worker.set = calloc(work->concurrency + DUEQ_MAX_SOCKETS + 1, sizeof *worker.set);
    if (!worker.jobs || !worker.set)
        cli_out_of_memory();
    notify_begin();
    worker.heard_ms = time_monotonic_ms();
    if (work->max_time_ms)
        worker.max_ms = worker.heard_ms + work->max_time_ms;
    worker.events = child_listen(heard);
    dueq_consumer_on_warning(worker.consumer, child_wake, NULL);
    int code = worker.events < 0 ? CLI_FAILED : cli_signal() ? CLI_DONE : loop(&worker);
    dueq_consumer_close(worker.consumer);
    free(worker.jobs);
    free(worker.set);
    return code;
}
