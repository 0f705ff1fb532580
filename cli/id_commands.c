#include "cli.h"

#include <string.h>

static dueq_status submit(struct cli *cli, const dueq_bytes *ids, size_t count,
                          const void *context) {
    return (*(const cli_submit_ids *)context)(cli->queue, ids, count);
}

static int each(struct cli *cli, int argc, char *argv[], cli_submit_ids verb) {
    return cli_each_item(cli, argc, argv, "id", submit, &verb);
}

int cli_ids(struct cli *cli, int argc, char *argv[], cli_submit_ids verb) {
    static const struct option options[] = {CLI_OPTIONS};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_words(cli, argc, 1, argc);
    return cli_open(cli, argv, &code) ? each(cli, argc, argv, verb) : code;
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

const struct command kick_command = {
    "kick", "QUEUE ID... | QUEUE --all", "Makes dead messages ready again, with all their attempts",
    CLI_IDS
    "\n"
    "Options:\n"
    "  --all         all dead messages, or those that the options below select; prints their\n"
    "                number\n"
    "  --error TEXT  only those whose error contains this text\n"
    "  --since TIME  only those that died at this time or later: 2026-12-01T10:00:00Z, or seconds\n"
    "                since 1970\n"
    "  --until TIME  only those that died before this time\n"
    "\n"
    "Examples:\n" CLI_ID_EXAMPLES(
        "kick") "  dueq kick orders --all --error 'did not answer' --since 2026-12-01T10:00:00Z\n",
    run_kick};
