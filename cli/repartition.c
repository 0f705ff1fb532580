#include "cli.h"

#include <unistd.h>

static int run_repartition(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"to", required_argument, NULL, 't'}, CLI_OPTIONS};
    size_t to = 0, closed;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        to = (size_t)cli_number(cli, "to", optarg, 2, DUEQ_MAX_PARTITIONS);
    cli_words(cli, argc, 0, 0);
    if (!to)
        cli_usage(cli, "--to is missing: twice the number of partitions that the queue has");
    if (cli->partitions || cli->key)
        cli_usage(cli, "repartition takes --to, and neither --partitions nor --key");
    cli->partitions = to / 2;
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_status status;
    while ((status = dueq_repartition(cli->queue, to, &closed)) == DUEQ_OK && closed > 0) {
        cli_warn(cli);
        cli_progress(to / 2 - closed, "opened");
        sleep(1);
        cli_check_signal(cli);
    }
    if (status == DUEQ_OK)
        cli_sum(cli, to, "partitions");
    return status == DUEQ_OK ? CLI_DONE : cli_report(cli, status, NULL);
}

const struct command repartition_command = {
    "repartition", "QUEUE", "Doubles the number of a queue's partitions",
    "Producers and consumers go on meanwhile, also those that name the old number. The messages\n"
    "of a key or a group that moves to a new partition are delivered in their order: the new\n"
    "partition opens when all messages are done that were pushed to the old partition before;\n"
    "with groups, when those of the groups that move are done. So consumers must run. The command\n"
    "ends when all new partitions are open. If the command was stopped, run it\n"
    "again: it continues. The timeout in the URLs of producers must not be longer than in this\n"
    "command's URL.\n"
    "\n"
    "Options:\n"
    "  --to N  the new number of partitions: twice the present number\n"
    "\n"
    "Example:\n"
    "  dueq repartition orders --to 128\n",
    run_repartition};
