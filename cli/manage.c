#include "cli.h"

#include <string.h>
#include <unistd.h>

static int run_reschedule(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"delay", required_argument, NULL, 'd'}, {"at", required_argument, NULL, 'a'}, CLI_OPTIONS};
    int64_t delay_ms = 0, at_ms = 0;
    bool delays = false, dates = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'd')
            delay_ms = cli_duration(cli, "delay", optarg), delays = true;
        else
            at_ms = cli_point(cli, "at", optarg), dates = true;
    }
    if (delays && dates)
        cli_usage(cli, "give either --delay or --at, not both");
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_bytes id = {argv[optind], strlen(argv[optind])};
    dueq_status status =
        cli_wait(cli, dueq_reschedule_submit(cli->queue, id, delay_ms, at_ms), NULL);
    return status < 0 ? cli_report(cli, status, NULL) : cli_item(cli, "id", id, status);
}

static int run_pause(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    return cli_report(cli, cli_wait(cli, dueq_pause_submit(cli->queue), NULL), NULL);
}

static int run_resume(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    return cli_report(cli, cli_wait(cli, dueq_resume_submit(cli->queue), NULL), NULL);
}

static dueq_state state_named(const struct cli *cli, const char *name) {
    for (dueq_state state = DUEQ_READY; state <= DUEQ_DEAD; state++)
        if (strcmp(name, dueq_state_name(state)) == 0)
            return state;
    cli_usage(cli, "%s is no state: ready, delayed, leased or dead", name);
}

static int run_purge(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 1, &code))
        return code;
    dueq_state state = state_named(cli, argv[optind]);
    bool shows = isatty(STDERR_FILENO);
    size_t all = 0;
    dueq_status status;
    do {
        dueq_result *result;
        status = cli_wait(cli, dueq_purge_submit(cli->queue, state, DUEQ_MAX_BATCH), &result);
        all += dueq_result_purged(result);
        dueq_result_free(result);
        if (shows && status == DUEQ_OK)
            fprintf(stderr, "\r%zu purged", all);
    } while (status == DUEQ_OK);
    if (shows)
        fputs("\r\033[K", stderr);
    printf(cli->json ? "{\"purged\":%zu}\n" : "%zu\n", all);
    return status == DUEQ_EMPTY ? CLI_DONE : cli_report(cli, status, NULL);
}

const struct command reschedule_command = {
    "reschedule", "QUEUE ID", "Gives a delayed message another due time",
    "Options:\n"
    "  --delay DURATION  so long from now: 250ms, 5s, 1h (0: now)\n"
    "  --at TIME         at this time: 2026-12-01T10:00:00Z, or seconds since 1970\n"
    "\n"
    "Example:\n"
    "  dueq reschedule orders invoice-7 --delay 1h\n",
    run_reschedule};

const struct command pause_command = {
    "pause", "QUEUE", "Hands nothing out until the queue is resumed",
    "A paused queue takes pushes, and acks of what is held, as ever.\n"
    "\n"
    "Example:\n"
    "  dueq pause orders\n",
    run_pause};

const struct command resume_command = {"resume", "QUEUE", "Ends a pause",
                                       "Waiting consumers wake.\n"
                                       "\n"
                                       "Example:\n"
                                       "  dueq resume orders\n",
                                       run_resume};

const struct command purge_command = {
    "purge", "QUEUE STATE", "Takes all messages of a state away for good",
    "STATE is ready, delayed, leased or dead. Prints how many there were.\n"
    "\n"
    "Example:\n"
    "  dueq purge orders dead\n",
    run_purge};
