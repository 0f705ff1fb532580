#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "json.h"

#define PREFIX "schedule:"
#define PAGE DUEQ_MAX_BATCH

static dueq_bytes text(const char *word) { return (dueq_bytes){word, strlen(word)}; }

/* A command's action on a schedule. name: as the user wrote it. */
typedef int action(struct cli *cli, const dueq_message *schedule, const char *name);

static int no_schedule(const char *name) {
    cli_log(CLI_ERROR, dueq_status_name(DUEQ_NOT_FOUND), NULL,
            "%s: the queue has no schedule of this name", name);
    return cli_exit_code(DUEQ_NOT_FOUND);
}

dueq_status schedule_find(struct cli *cli, const char *name, dueq_result **found) {
    char id[DUEQ_MAX_SCHEDULE + sizeof PREFIX]; /* fits each name that the core accepts */
    int size = snprintf(id, sizeof id, PREFIX "%s", name);
    *found = NULL;
    if (!*name || (size_t)size >= sizeof id)
        return DUEQ_INVALID;
    dueq_status status = cli_wait(cli, dueq_find_submit(cli->queue, text(id)), found);
    if (status != DUEQ_OK || dueq_is_schedule(dueq_result_message(*found, 0)))
        return status;
    dueq_result_free(*found);
    *found = NULL;
    return DUEQ_NOT_FOUND;
}

/*
 * Opens the queue, finds the schedule that the next words name, and calls `act` with it. Returns
 * the exit code.
 */
static int on_schedule(struct cli *cli, int argc, char *argv[], action *act) {
    static const struct option options[] = {CLI_OPTIONS};
    dueq_result *found;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_words(cli, argc, 1, 1);
    const char *name = argv[optind + 1];
    if (!*name || strlen(name) > DUEQ_MAX_SCHEDULE)
        cli_usage(cli, "a schedule's name has 1 to %d bytes", DUEQ_MAX_SCHEDULE);
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_status status = schedule_find(cli, name, &found);
    if (status == DUEQ_OK)
        code = act(cli, dueq_result_message(found, 0), name);
    else
        code = status >= 0 ? no_schedule(name) : cli_report(cli, status, name);
    dueq_result_free(found);
    return code;
}

/* add */

static dueq_catchup read_catchup(const struct cli *cli, const char *word) {
    static const char *const names[] = {"once", "skip", "all"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0)
            return (dueq_catchup)i;
    cli_usage(cli, "--catchup %s is not once, skip or all", word);
}

static int add(struct cli *cli, dueq_plan *schedule, dueq_draft *job, const char *body) {
    void *store;
    if (!input_word(cli, body, &job->body, &store))
        return CLI_FAILED;
    schedule->job = job;
    dueq_status status = cli_wait(cli, dueq_schedule_submit(cli->queue, schedule), NULL);
    free(store);
    /* DUPLICATE: the same schedule exists already. */
    return cli_report(cli, status == DUEQ_DUPLICATE ? DUEQ_OK : status, NULL);
}

static int run_add(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"zone", required_argument, NULL, 'z'},
                                            {"catchup", required_argument, NULL, 'c'},
                                            {"app", required_argument, NULL, 'a'},
                                            {"release", required_argument, NULL, 'r'},
                                            DRAFT_OPTIONS,
                                            CLI_OPTIONS};
    struct draft job = DRAFT_NONE;
    dueq_plan schedule = DUEQ_PLAN;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'z')
            schedule.zone = text(optarg);
        else if (option == 'c')
            schedule.catchup = read_catchup(cli, optarg);
        else if (option == 'a')
            schedule.app = text(optarg);
        else if (option == 'r')
            schedule.release = text(optarg);
        else
            draft_option(cli, &job, option, optarg);
    }
    draft_ready(cli, &job);
    cli_words(cli, argc, 2, 3);
    schedule.name = text(argv[optind + 1]);
    schedule.expression = text(argv[optind + 2]);
    const char *body = optind + 3 < argc ? argv[optind + 3] : NULL;
    if (cli_open(cli, argv, &code))
        code = add(cli, &schedule, &job.draft, body);
    draft_end(&job);
    return code;
}

/* list */

static int64_t ms_of(const dueq_message *message, const char *name) {
    char digits[24] = "";
    dueq_bytes time = cli_header(message, name, "0");
    memcpy(digits, time.data, time.size < sizeof digits ? time.size : 0);
    return strtoll(digits, NULL, 10);
}

static int64_t next_ms(const dueq_message *message) { return ms_of(message, "time"); }

int64_t schedule_last_ms(const dueq_message *message) { return ms_of(message, "last"); }

dueq_bytes schedule_release(const dueq_message *message) {
    dueq_bytes all = cli_header(message, "release", "");
    const char *end = all.size ? memchr(all.data, '@', all.size) : NULL;
    return end ? (dueq_bytes){all.data, (size_t)(end - (const char *)all.data)} : all;
}

static bool is_paused(const dueq_message *message) {
    return message->state == DUEQ_DELAYED && message->time_ms >= DUEQ_MAX_TIME_MS;
}

dueq_bytes schedule_name(const dueq_message *message) {
    const char *id = message->id.data;
    return (dueq_bytes){id + strlen(PREFIX), message->id.size - strlen(PREFIX)};
}

json_object *json_of_schedule(const char *queue, const dueq_message *message) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(queue));
    json_object_object_add(object, "name", json_text(schedule_name(message)));
    json_object_object_add(object, "schedule", json_text(cli_header(message, "schedule", "")));
    json_object_object_add(object, "zone", json_text(cli_header(message, "zone", "UTC")));
    json_object_object_add(object, "catchup", json_text(cli_header(message, "catchup", "once")));
    json_object_object_add(object, "next_ms", json_time(next_ms(message)));
    json_object_object_add(object, "last_ms", json_time(schedule_last_ms(message)));
    json_object_object_add(object, "app", JSON_NAME(cli_header(message, "app", "")));
    json_object_object_add(object, "release", JSON_NAME(schedule_release(message)));
    json_object_object_add(object, "paused", json_object_new_boolean(is_paused(message)));
    json_object_object_add(object, "state", json_name(dueq_state_name(message->state)));
    return object;
}

void schedule_put_next(const dueq_message *message) {
    if (is_paused(message))
        fputs("paused", cli_out);
    else if (message->state == DUEQ_DEAD)
        fputs("dead", cli_out);
    else
        cli_put_time(next_ms(message), message->now_ms);
}

static void print(const struct cli *cli, const dueq_message *message) {
    if (cli->json) {
        json_line(json_of_schedule(cli->queue_name, message));
        return;
    }
    cli_put(schedule_name(message));
    fputc('\t', cli_out);
    cli_put(cli_header(message, "schedule", ""));
    fputc('\t', cli_out);
    cli_put(cli_header(message, "zone", "UTC"));
    fputc('\t', cli_out);
    schedule_put_next(message);
    fputc('\n', cli_out);
}

/* Prints the schedules among the messages of one state. */
static dueq_status list(struct cli *cli, dueq_state state) {
    dueq_result *page = NULL;
    dueq_status status;
    do {
        dueq_result *next;
        status = cli_wait(cli, dueq_peek_submit(cli->queue, state, dueq_result_cursor(page), PAGE),
                          &next);
        dueq_result_free(page);
        page = next;
        for (size_t i = 0; i < dueq_result_count(page); i++) {
            const dueq_message *message = dueq_result_message(page, i);
            if (message && dueq_is_schedule(message))
                print(cli, message);
        }
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0 && cli_flush());
    dueq_result_free(page);
    return status;
}

static int run_list(struct cli *cli, int argc, char *argv[]) {
    dueq_status status = DUEQ_OK;
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    dueq_queue_preview(cli->queue, CLI_PREVIEW);
    for (dueq_state state = DUEQ_READY; status == DUEQ_OK && state <= DUEQ_DEAD; state++)
        status = list(cli, state);
    return cli_report(cli, status, NULL);
}

/* pause, resume, run, remove */

/* Gives a delayed schedule another due time. */
static dueq_status put_off(struct cli *cli, const dueq_message *schedule, int64_t at_ms) {
    return cli_wait(cli, dueq_reschedule_submit(cli->queue, schedule->id, 0, at_ms), NULL);
}

dueq_status schedule_pause(struct cli *cli, const dueq_message *schedule) {
    return put_off(cli, schedule, DUEQ_MAX_TIME_MS);
}

dueq_status schedule_resume(struct cli *cli, const dueq_message *schedule) {
    return is_paused(schedule) ? put_off(cli, schedule, next_ms(schedule)) : DUEQ_OK;
}

dueq_status schedule_run(struct cli *cli, const dueq_message *schedule, dueq_result **pushed) {
    return cli_wait(cli, dueq_schedule_run_submit(cli->queue, schedule), pushed);
}

dueq_status schedule_remove(struct cli *cli, const dueq_message *schedule) {
    return cli_wait(cli, dueq_cancel_submit(cli->queue, &schedule->id, 1), NULL);
}

static int code_of(const struct cli *cli, dueq_status status) {
    if (status == DUEQ_NOT_FOUND)
        cli_log(CLI_ERROR, dueq_status_name(status), "try again",
                "the schedule is due, and a consumer pushes its messages now");
    return status == DUEQ_NOT_FOUND ? CLI_OUTCOME : cli_report(cli, status, NULL);
}

static int pause_it(struct cli *cli, const dueq_message *schedule, const char *name) {
    (void)name;
    return code_of(cli, schedule_pause(cli, schedule));
}

static int resume_it(struct cli *cli, const dueq_message *schedule, const char *name) {
    (void)name;
    return code_of(cli, schedule_resume(cli, schedule));
}

static int run_it(struct cli *cli, const dueq_message *schedule, const char *name) {
    dueq_result *pushed;
    (void)name;
    dueq_status status = schedule_run(cli, schedule, &pushed);
    int code = status < 0 ? cli_report(cli, status, NULL)
                          : cli_made(cli, "id", dueq_result_id(pushed, 0), status);
    dueq_result_free(pushed);
    return code;
}

static int remove_it(struct cli *cli, const dueq_message *schedule, const char *name) {
    return cli_report(cli, schedule_remove(cli, schedule), name);
}

static int run_pause(struct cli *cli, int argc, char *argv[]) {
    return on_schedule(cli, argc, argv, pause_it);
}

static int run_resume(struct cli *cli, int argc, char *argv[]) {
    return on_schedule(cli, argc, argv, resume_it);
}

static int run_run(struct cli *cli, int argc, char *argv[]) {
    return on_schedule(cli, argc, argv, run_it);
}

static int run_remove(struct cli *cli, int argc, char *argv[]) {
    return on_schedule(cli, argc, argv, remove_it);
}

/* The verbs */

static const struct command
    add_verb =
        {"schedule add", "QUEUE NAME EXPRESSION [BODY]", "Declares a schedule, or replaces it",
         "EXPRESSION is five fields of cron (minute, hour, day of the month, month, day of the\n"
         "week), @hourly, @daily, @weekly, @monthly or @yearly, or an interval: every 90s, every\n"
         "1h30m. At each of its times the queue gets a message NAME:TIME (ms since 1970) with\n"
         "this BODY; without BODY, or with -, the body is standard input. If the same schedule\n"
         "exists, the command changes nothing. A paused schedule stays paused. A change that\n"
         "keeps EXPRESSION and --zone keeps the next time, too.\n"
         "\n"
         "Options:\n"
         "  --zone ZONE     the time zone of the fields, as Europe/Berlin (UTC)\n"
         "  --catchup WORD  which messages are pushed for times that passed while no worker ran.\n"
         "                  once: one message for all of them; skip: none if the last time passed\n"
         "                  more than a minute ago; all: one for each (once)\n"
         "  --app NAME      which program declares the schedule: for dueq schedules\n"
         "  --release TEXT  the releases of that program, the latest first, as LABEL@MS/COUNT\n"
         "                  with a blank between: for dueq schedule prune; dueq-worker sets both\n"
         "and the options of dueq push, except --delay, --at, --id, --unique and --replace.\n"
         "\n"
         "Examples:\n"
         "  dueq schedule add reports nightly '0 2 * * *' 'all shops' --zone Europe/Berlin\n"
         "  dueq schedule add mail digest 'every 15m' --catchup skip digest\n",
         run_add},
    list_verb =
        {"schedule list", "QUEUE", "Lists the schedules of a queue",
         "A line has the name, the expression, the zone, and the next time, with tabs between.\n"
         "The command reads all messages of the queue, a page at a time. dueq schedules lists\n"
         "those of all queues, with their last times and their apps.\n"
         "\n"
         "Example:\n"
         "  dueq schedule list reports --json\n",
         run_list},
    pause_verb = {"schedule pause", "QUEUE NAME", "Stops a schedule until it is resumed",
                  "Example:\n"
                  "  dueq schedule pause reports nightly\n",
                  run_pause},
    resume_verb = {"schedule resume", "QUEUE NAME", "Ends a pause",
                   "Times that passed during the pause are caught up as --catchup says.\n"
                   "\n"
                   "Example:\n"
                   "  dueq schedule resume reports nightly\n",
                   run_resume},
    run_verb = {"schedule run", "QUEUE NAME", "Pushes a schedule's message now, and prints the id",
                "The times of the schedule do not change.\n"
                "\n"
                "Example:\n"
                "  dueq schedule run reports nightly\n",
                run_run},
    remove_verb = {"schedule remove", "QUEUE NAME", "Removes a schedule",
                   "Messages that the schedule has pushed stay in the queue.\n"
                   "\n"
                   "Example:\n"
                   "  dueq schedule remove reports nightly\n",
                   run_remove};

const struct command *const schedule_verbs[] = {&add_verb, &list_verb,   &pause_verb, &resume_verb,
                                                &run_verb, &remove_verb, &prune_verb, NULL};

const struct command schedule_command = {"schedule", "VERB QUEUE ...",
                                         "Pushes messages at times of the calendar or in intervals",
                                         "A schedule is a message of its queue. The workers of the "
                                         "queue push its messages:\n"
                                         "each time has one message, however many workers run.\n",
                                         NULL};
