#include "cli.h"

#include <string.h>

static int run_find(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 1, &code))
        return code;
    const char *id = argv[optind];
    dueq_result *result;
    dueq_status status =
        cli_wait(cli, dueq_find_submit(cli->queue, (dueq_bytes){id, strlen(id)}), &result);
    code = cli_report(cli, status, status > 0 ? id : NULL);
    if (status == DUEQ_OK)
        cli_print_message(cli, dueq_result_message(result, 0));
    dueq_result_free(result);
    return code;
}

static int run_stats(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_stats_submit(cli->queue), &result);
    code = cli_report(cli, status, NULL);
    if (status == DUEQ_OK)
        cli_print_counts(cli, dueq_result_counts(result));
    dueq_result_free(result);
    return code;
}

const struct command find_command = {"find", "QUEUE ID",
                                     "Shows a message, in any state, without touching it",
                                     "Example:\n"
                                     "  dueq find orders invoice-7 --json\n",
                                     run_find};

const struct command stats_command = {
    "stats", "QUEUE", "Counts what a queue holds",
    "  ready    wait for a consumer       delayed  wait for their time\n"
    "  leased   a consumer has them       dead     buried, or their attempts are used up\n"
    "  acked, cancelled, purged: left this way since the queue exists\n"
    "  damaged  entries set aside as unreadable since the queue exists\n"
    "  next     the next due time or end of a lease\n"
    "\n"
    "Example:\n"
    "  dueq stats orders --json\n",
    run_stats};
