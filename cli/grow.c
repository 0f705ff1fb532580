#include "cli.h"

#include <unistd.h>

static int run_grow(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_words(cli, argc, 0, 0);
    if (!cli->partitions || cli->key)
        cli_usage(cli, "--partitions is the number that is to be doubled, and --key is not for it");
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_status status;
    size_t closed;
    while ((status = dueq_partitions_grow(cli->queue, &closed)) == DUEQ_OK && closed > 0) {
        cli_warn(cli);
        cli_progress(cli->partitions - closed, "opened");
        sleep(1);
        cli_check_signal(cli);
    }
    if (status == DUEQ_OK)
        cli_sum(cli, 2 * cli->partitions, "partitions");
    return status == DUEQ_OK ? CLI_DONE : cli_report(cli, status, NULL);
}

const struct command grow_command = {
    "grow", "QUEUE", "Doubles the number of a queue's partitions",
    "--partitions is the number that it has. Producers and consumers go on meanwhile, also those\n"
    "that name the old number. The messages of a key that moves to a new partition are delivered\n"
    "in their order: the new one is opened when all that was pushed to the old one before is "
    "done.\n"
    "So consumers have to run. The command ends when all are open. When it is stopped, run it\n"
    "again: it goes on. Producers must not have a longer timeout in their URLs than this command.\n"
    "\n"
    "Example:\n"
    "  dueq grow orders --partitions 64\n",
    run_grow};
