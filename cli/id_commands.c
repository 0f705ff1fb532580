#include "cli.h"

#include <string.h>

/* The call for a batch of ids. */
typedef dueq_status (*submit_ids)(dueq_queue *queue, const dueq_bytes *ids, size_t count);

static dueq_status submit(struct cli *cli, const dueq_bytes *ids, size_t count,
                          const void *context) {
    return (*(const submit_ids *)context)(cli->queue, ids, count);
}

static int each(struct cli *cli, int argc, char *argv[], submit_ids verb) {
    return cli_each_item(cli, argc, argv, "id", submit, &verb);
}

static int run_ids(struct cli *cli, int argc, char *argv[], submit_ids verb) {
    static const struct option options[] = {CLI_OPTIONS};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_words(cli, argc, 1, argc);
    return cli_open(cli, argv, &code) ? each(cli, argc, argv, verb) : code;
}

#define IDS                                                                                        \
    "ID is the id that push printed. A single - reads ids from standard input, one a line.\n"
#define ID_EXAMPLES(verb) "  dueq " verb " orders invoice-7\n  dueq " verb " orders - < ids.txt\n"

#define ID_COMMAND(verb, summary, more)                                                            \
    static int run_##verb(struct cli *cli, int argc, char *argv[]) {                               \
        return run_ids(cli, argc, argv, dueq_##verb##_submit);                                     \
    }                                                                                              \
    const struct command verb##_command = {#verb, "QUEUE ID...", summary,                          \
                                           IDS "\n" more "\n\nExamples:\n" ID_EXAMPLES(#verb),     \
                                           run_##verb};
DUEQ_ID_COMMANDS(ID_COMMAND)

#define NO_ARGS_COMMAND(verb, summary, more)                                                       \
    static int run_##verb(struct cli *cli, int argc, char *argv[]) {                               \
        int code;                                                                                  \
        if (!cli_begin(cli, argc, argv, 0, &code))                                                 \
            return code;                                                                           \
        return cli_outcome(cli, "queue", (dueq_bytes){cli->queue_name, strlen(cli->queue_name)},   \
                           cli_wait(cli, dueq_##verb##_submit(cli->queue), NULL));                 \
    }                                                                                              \
    const struct command verb##_command = {                                                        \
        #verb, "QUEUE", summary, more "\n\nExample:\n  dueq " #verb " orders\n", run_##verb};
DUEQ_NO_ARGS_COMMANDS(NO_ARGS_COMMAND)

static int run_cancel(struct cli *cli, int argc, char *argv[]) {
    return run_ids(cli, argc, argv, dueq_cancel_submit);
}

static int kick_all(struct cli *cli, const dueq_filter *filter) {
    dueq_result *page = NULL;
    size_t all = 0;
    dueq_status status;
    do {
        dueq_result *next;
        status = cli_wait(
            cli, dueq_kick_all_submit(cli->queue, filter, dueq_result_cursor(page), DUEQ_MAX_BATCH),
            &next);
        dueq_result_free(page);
        page = next;
        all += dueq_result_kicked(page);
        if (status == DUEQ_OK)
            cli_progress(all, "kicked");
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    cli_sum(cli, all, "kicked");
    return cli_report(cli, status, NULL);
}

static int run_kick(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"all", no_argument, NULL, 'a'},
                                            {"error", required_argument, NULL, 'e'},
                                            {"since", required_argument, NULL, 's'},
                                            {"until", required_argument, NULL, 'u'},
                                            CLI_OPTIONS};
    dueq_filter filter = DUEQ_FILTER;
    bool all = false, filtered = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 'a':
            all = true;
            break;
        case 'e':
            filter.error = (dueq_bytes){optarg, strlen(optarg)};
            filtered = true;
            break;
        case 's':
            filter.since_ms = cli_point(cli, "since", optarg);
            filtered = true;
            break;
        case 'u':
            filter.until_ms = cli_point(cli, "until", optarg);
            filtered = true;
            break;
        }
    }
    if (filtered && !all)
        cli_usage(cli, "--error, --since and --until go with --all");
    if (all && optind + 1 < argc)
        cli_usage(cli, "give either ids or --all, not both");
    cli_words(cli, argc, all ? 0 : 1, argc);
    if (!cli_open(cli, argv, &code))
        return code;
    return all ? kick_all(cli, &filter) : each(cli, argc, argv, dueq_kick_submit);
}

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
    return cli_id_outcome(cli, id, status);
}

const struct command cancel_command = {
    "cancel", "QUEUE ID...", "Deletes messages by their ids, in any state",
    IDS
    "\n"
    "Ends with 0 when all were found and none was leased. A leased message is cancelled too, but\n"
    "its work may have begun or be done: dueq prints a line on standard error (with --json: the\n"
    "state \"leased\") and ends with 1. The consumer gets LEASE_LOST on its next call.\n"
    "\n"
    "Examples:\n" ID_EXAMPLES("cancel"),
    run_cancel};

const struct command kick_command = {
    "kick", "QUEUE ID... | QUEUE --all", "Makes dead messages ready again, with all their attempts",
    IDS
    "\n"
    "Options:\n"
    "  --all         all dead messages, or those that the options below select; prints their\n"
    "                number\n"
    "  --error TEXT  only those whose error contains this text\n"
    "  --since TIME  only those that died at this time or later: 2026-12-01T10:00:00Z, or seconds\n"
    "                since 1970\n"
    "  --until TIME  only those that died before this time\n"
    "\n"
    "Examples:\n" ID_EXAMPLES(
        "kick") "  dueq kick orders --all --error 'did not answer' --since 2026-12-01T10:00:00Z\n",
    run_kick};

const struct command reschedule_command = {
    "reschedule", "QUEUE ID", "Changes the due time of a delayed message",
    "Options:\n"
    "  --delay DURATION  due after this time from now: 250ms, 5s, 1h (0: now)\n"
    "  --at TIME         due at this time: 2026-12-01T10:00:00Z, or seconds since 1970\n"
    "\n"
    "Example:\n"
    "  dueq reschedule orders invoice-7 --delay 1h\n",
    run_reschedule};
