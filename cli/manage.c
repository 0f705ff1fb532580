#include "cli.h"

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

static int run_purge(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 1, &code))
        return code;
    dueq_state state = cli_state(cli, argv[optind]);
    size_t all = 0;
    dueq_status status;
    do {
        dueq_result *result;
        status = cli_wait(cli, dueq_purge_submit(cli->queue, state, DUEQ_MAX_BATCH), &result);
        all += dueq_result_purged(result);
        dueq_result_free(result);
        if (status == DUEQ_OK)
            cli_progress(all, "purged");
    } while (status == DUEQ_OK);
    cli_sum(cli, all, "purged");
    return status == DUEQ_EMPTY ? CLI_DONE : cli_report(cli, status, NULL);
}

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
