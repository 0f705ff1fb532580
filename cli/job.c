#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "system.h"
#include "work.h"

/* Reads of one command's standard error, before the worker serves the next command. */
#define MOST_READS 16

void job_take(struct job *job, const dueq_message *message, dueq_queue *queue,
              const char *queue_name) {
    char *own = malloc(message->id.size + message->ticket.size);
    if (!own)
        cli_out_of_memory();
    memcpy(own, message->id.data, message->id.size);
    memcpy(own + message->id.size, message->ticket.data, message->ticket.size);
    *job = (struct job){.state = JOB_ENDED,
                        .verdict = VERDICT_RELEASE,
                        .queue = queue,
                        .queue_name = queue_name,
                        .own = own,
                        .id = {own, message->id.size},
                        .ticket = {own + message->id.size, message->ticket.size},
                        .attempt = message->attempt,
                        .end_ms = time_monotonic_ms(),
                        .kill_ms = INT64_MAX,
                        .errors = -1};
}

void job_fail(struct job *job, const char *why) {
    job->verdict = VERDICT_RETRY;
    job->line_size = (size_t)snprintf(job->line, sizeof job->line, "%s", why);
}

/* The fields of each JSON line about a job. */
static json_object *job_fields(const struct job *job) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue",
                           json_text((dueq_bytes){job->queue_name, strlen(job->queue_name)}));
    json_object_object_add(object, "id", json_text(job->id));
    json_object_object_add(object, "attempt", json_object_new_int64(job->attempt));
    return object;
}

static json_object *json_seconds(int64_t ms) {
    char text[TIME_ROOM];
    snprintf(text, sizeof text, "%.3f", (double)ms / 1000);
    return json_object_new_double_s((double)ms / 1000, text);
}

/* The command */

/*
 * Puts the body into a file without a name: a pipe would block the worker while the command does
 * not read. -1: the failure was logged.
 */
static int body_file(dueq_bytes body) {
    int file = system_unnamed_file();
    if (file >= 0 && cli_write(file, body) && lseek(file, 0, SEEK_SET) == 0)
        return file;
    cli_system_error("a file for the body");
    if (file >= 0)
        close(file);
    return -1;
}

/* Starts the command with these files, and closes this program's copies. */
static bool start(struct job *job, const struct cli *cli, const struct work *work,
                  const dueq_message *message, int input, int errors) {
    struct environment environment = environment_of(cli, message, job->queue_name);
    struct child_place place = {.environment = environment.list,
                                .input = input,
                                .output = cli->json ? STDERR_FILENO : -1,
                                .errors = errors,
                                .apart = true};
    bool runs = child_start(&job->child, work->command, &place);
    environment_end(&environment);
    close(input);
    close(errors);
    return runs;
}

/* Keeps the start of the last line that is not empty. */
static void keep_line(struct job *job, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n' || text[i] == '\r') {
            job->line_ended = true;
        } else {
            if (job->line_ended)
                job->line_size = 0;
            job->line_ended = false;
            if (job->line_size < sizeof job->line)
                job->line[job->line_size++] = text[i];
        }
    }
}

static void pass_errors(struct job *job) {
    char text[16384];
    ssize_t size = 1;
    for (int i = 0; job->errors >= 0 && size > 0 && i < MOST_READS; i++) {
        size = read(job->errors, text, sizeof text);
        if (size > 0) {
            keep_line(job, text, (size_t)size);
            cli_write(STDERR_FILENO, (dueq_bytes){text, (size_t)size});
        }
    }
    if (size == 0) {
        close(job->errors);
        job->errors = -1;
    }
}

static enum verdict judge(const struct job *job, const struct work *work) {
    if (job->kill_signal)
        return job->stops ? VERDICT_RELEASE : VERDICT_RETRY;
    if (job->child.code == 0)
        return VERDICT_ACK;
    return !job->child.signal && work->bury_on[job->child.code] ? VERDICT_BURY : VERDICT_RETRY;
}

/*
 * Ends the job. A process that the command left behind may hold standard error open; the job does
 * not wait for it.
 */
static void end(struct job *job, const struct work *work) {
    pass_errors(job);
    if (job->errors >= 0)
        close(job->errors);
    job->errors = -1;
    job->stops = job->stops && job->kill_signal;
    job->verdict = judge(job, work);
    job->end_ms = time_monotonic_ms();
    job->state = JOB_ENDED;
}

bool job_start(struct job *job, const struct cli *cli, const struct work *work,
               const dueq_message *message) {
    int ends[2], input = body_file(message->body);
    job->child.code = CLI_FAILED;
    if (input < 0)
        return false;
    if (system_pipe(ends) < 0 || system_do_not_block(ends[0]) < 0) {
        cli_system_error("a pipe for errors");
        close(input);
        return false;
    }
    job->errors = ends[0];
    job->start_ms = time_monotonic_ms();
    if (!start(job, cli, work, message, input, ends[1])) {
        if (job->child.why == E2BIG) {
            /*
             * This program runs with the same variables and more arguments, so those of the message
             * are too large.
             */
            static const char why[] = "its variables are too large for a command";
            keep_line(job, why, sizeof why - 1);
            end(job, work);
            return true;
        }
        close(job->errors);
        return false;
    }
    if (work->timeout_ms)
        job->kill_ms = job->start_ms + work->timeout_ms;
    job->state = JOB_RUNS;
    return true;
}

void job_look(struct job *job, const struct work *work) {
    if (job->state != JOB_RUNS)
        return;
    pass_errors(job);
    child_look(&job->child);
    if (job->child.ended) {
        end(job, work);
    } else if (time_monotonic_ms() >= job->kill_ms) {
        job->kill_ms = job->kill_signal ? INT64_MAX : time_monotonic_ms() + WORK_KILL_MS;
        job->kill_signal = job->kill_signal ? SIGKILL : SIGTERM;
        job_kill(job, job->kill_signal);
    }
}

void job_kill(const struct job *job, int number) {
    if (job->state == JOB_RUNS)
        kill(-job->child.pid, number);
}

void job_stop(struct job *job, int64_t at_ms) {
    if (job->state != JOB_RUNS || job->kill_signal || job->kill_ms < at_ms)
        return;
    job->kill_ms = at_ms;
    job->stops = true;
}

void job_abort(struct job *job) {
    if (job->state != JOB_RUNS)
        return;
    job->stops = job->stops || !job->kill_signal;
    job->kill_signal = SIGKILL;
    job->kill_ms = INT64_MAX;
    job_kill(job, SIGKILL);
}

void job_tell(const struct job *job) {
    if (job->state != JOB_RUNS)
        return;
    char since[TIME_ROOM], span[TIME_ROOM];
    int64_t run_ms = time_monotonic_ms() - job->start_ms;
    json_object *fields = job_fields(job);
    json_object_object_add(fields, "process", json_object_new_int(job->child.pid));
    json_object_object_add(fields, "since", json_name(time_format(time_now_ms() - run_ms, since)));
    json_object_object_add(fields, "seconds", json_seconds(run_ms));
    json_say(CLI_INFO, fields, "%s: %.*s: attempt %u: process %d runs since %s (%s)",
             job->queue_name, (int)job->id.size, (const char *)job->id.data, job->attempt,
             job->child.pid, since, time_format_span(run_ms, span));
}

/* How the message ends */

#define REASON_ROOM (DUEQ_MAX_ERROR + 64)

/* Why the command failed, as text for the message's error. */
static dueq_bytes reason(const struct job *job, char out[REASON_ROOM]) {
    char span[TIME_ROOM];
    dueq_bytes last = {job->line, job->line_size};
    if (job->kill_signal)
        snprintf(out, REASON_ROOM, "%s after %s%s%.*s", job->stops ? "stopped" : "timed out",
                 time_format_span(job->end_ms - job->start_ms, span), last.size ? ": " : "",
                 (int)last.size, job->line);
    else if (last.size)
        return last;
    else if (job->child.signal)
        snprintf(out, REASON_ROOM, "signal %d", job->child.signal);
    else
        snprintf(out, REASON_ROOM, "exit %d", job->child.code);
    return (dueq_bytes){out, strlen(out)};
}

dueq_status job_settle_submit(const struct job *job, const struct work *work) {
    char room[REASON_ROOM];
    switch (job->verdict) {
    case VERDICT_ACK:
        return dueq_ack_submit(job->queue, &job->ticket, 1);
    case VERDICT_RETRY:
        return dueq_retry_submit(job->queue, job->ticket, work->retry_ms, reason(job, room));
    case VERDICT_BURY:
        return dueq_bury_submit(job->queue, job->ticket, reason(job, room));
    case VERDICT_RELEASE:
        break;
    }
    return dueq_release_submit(job->queue, &job->ticket, 1, 0);
}

static const char *outcome(const struct job *job, dueq_status status) {
    static const char *const names[] = {"released", "acked", "retried", "buried"};
    if (status < 0 || (status == DUEQ_LEASE_LOST && job->in_doubt))
        return "unknown";
    if (status == DUEQ_LEASE_LOST)
        return "lost";
    return status == DUEQ_EXHAUSTED ? "exhausted" : names[job->verdict];
}

/* The fields of the line of --json, and of the log line of a failure. */
static json_object *ended_fields(const struct job *job, dueq_status status) {
    char room[REASON_ROOM];
    json_object *object = job_fields(job);
    json_object_object_add(object, "code", json_object_new_int(job->child.code));
    json_object_object_add(object, "seconds", json_seconds(job->end_ms - job->start_ms));
    json_object_object_add(object, "outcome", json_name(outcome(job, status)));
    if (job->verdict != VERDICT_ACK)
        json_object_object_add(object, "error", json_text(reason(job, room)));
    return object;
}

int job_settled(struct job *job, const struct cli *cli, dueq_status status) {
    char name[DUEQ_MAX_ID + 1], room[REASON_ROOM];
    snprintf(name, sizeof name, "%.*s", (int)job->id.size, (const char *)job->id.data);
    int code = CLI_DONE;
    if (status < 0)
        code = cli_report(cli, status, name);
    else if (status == DUEQ_LEASE_LOST && !job->in_doubt)
        cli_report(cli, status, name);
    bool ran = job->verdict != VERDICT_RELEASE || job->stops;
    if (cli->json && ran) {
        json_line(ended_fields(job, status));
    } else if (ran && job->verdict != VERDICT_ACK) {
        dueq_bytes why = reason(job, room);
        json_say(job->stops ? CLI_INFO : CLI_ERROR, ended_fields(job, status),
                 "%s: %s: attempt %u: %.*s", name, outcome(job, status), job->attempt,
                 (int)why.size, (const char *)why.data);
    }
    free(job->own);
    *job = (struct job){.errors = -1};
    return cli_flush() ? code : cli_worse(code, cli_output_failed(false));
}
