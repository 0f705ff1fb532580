#include "cli.h"

#include <string.h>
#include <unistd.h>

static void put_queue(const struct cli *cli) {
    text_show(stderr, (dueq_bytes){cli->queue_name, strlen(cli->queue_name)}, TEXT_LINE);
}

static void ask_purge(const struct cli *cli, dueq_state state, const dueq_counts *counts) {
    const int64_t numbers[] = {[DUEQ_READY] = counts->ready,
                               [DUEQ_DELAYED] = counts->delayed,
                               [DUEQ_LEASED] = counts->leased,
                               [DUEQ_DEAD] = counts->dead,
                               [DUEQ_OUTBOX] = counts->outbox};
    static const char *const names[] = {[DUEQ_READY] = "ready",
                                        [DUEQ_DELAYED] = "delayed",
                                        [DUEQ_LEASED] = "leased",
                                        [DUEQ_DEAD] = "dead",
                                        [DUEQ_OUTBOX] = "outgoing"};
    fprintf(stderr, "Delete %lld %s messages of the queue ", (long long)numbers[state],
            names[state]);
    put_queue(cli);
    fputs("? [y/N] ", stderr);
}

static void ask_remove(const struct cli *cli, dueq_state state, const dueq_counts *counts) {
    (void)state;
    fputs("Remove the queue ", stderr);
    put_queue(cli);
    fprintf(stderr,
            "? It has %lld ready, %lld delayed, %lld leased and %lld dead messages, and %lld in "
            "its outbox. [y/N] ",
            (long long)counts->ready, (long long)counts->delayed, (long long)counts->leased,
            (long long)counts->dead, (long long)counts->outbox);
}

/* Asks the user on the terminal. False: the answer was not yes; *code is the exit code. */
static bool confirm(struct cli *cli, dueq_state state,
                    void (*ask)(const struct cli *, dueq_state, const dueq_counts *), int *code) {
    struct input input = {0};
    dueq_bytes line;
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_stats_submit(cli->queue), &result);
    const dueq_counts *counts = dueq_result_counts(result);
    *code = cli_report(cli, status, NULL);
    if (counts)
        ask(cli, state, counts);
    dueq_result_free(result);
    if (status != DUEQ_OK)
        return false;
    bool yes = input_line(cli, &input, &line) && line.size > 0 &&
               memchr("yY", *(const char *)line.data, 2) != NULL;
    input_end(&input);
    if (!yes) {
        cli_log(CLI_INFO, NULL, NULL, "nothing was %s", ask == ask_purge ? "purged" : "removed");
        *code = CLI_OUTCOME;
    }
    return yes;
}

/*
 * Reads the options. Returns whether --yes was given. Without --yes and without a terminal to ask
 * on, ends with CLI_USAGE.
 */
static bool read_yes(struct cli *cli, int argc, char *argv[], int words) {
    static const struct option options[] = {{"yes", no_argument, NULL, 'y'}, CLI_OPTIONS};
    bool yes = false;
    while (cli_option(cli, argc, argv, options) != -1)
        yes = true;
    cli_words(cli, argc, words, words);
    if (!yes && (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)))
        cli_usage(cli, "no terminal to ask on: give --yes to %s the queue %s", cli->command->name,
                  argv[optind]);
    return yes;
}

static int run_purge(struct cli *cli, int argc, char *argv[]) {
    const bool yes = read_yes(cli, argc, argv, 1);
    int code;
    dueq_state state = cli_state(cli, argv[optind + 1]);
    dueq_status status;
    size_t all = 0;
    if (!cli_open(cli, argv, &code) || (!yes && !confirm(cli, state, ask_purge, &code)))
        return code;
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

static int run_remove(struct cli *cli, int argc, char *argv[]) {
    const bool yes = read_yes(cli, argc, argv, 0);
    int code;
    if (!cli_open(cli, argv, &code) || (!yes && !confirm(cli, DUEQ_READY, ask_remove, &code)))
        return code;
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_remove_submit(cli->queue), &result);
    if (status == DUEQ_EMPTY)
        cli_sum(cli, dueq_result_purged(result), "removed");
    dueq_result_free(result);
    return status == DUEQ_EMPTY ? CLI_DONE : cli_report(cli, status, NULL);
}

const struct command purge_command = {
    "purge", "QUEUE STATE", "Deletes all messages of a state",
    "STATE is ready, delayed, leased, dead or outbox. purge asks before it deletes, and prints "
    "the\n"
    "number of deleted messages. Without a terminal, --yes is required.\n"
    "\n"
    "Options:\n"
    "  --yes  do not ask\n"
    "\n"
    "Examples:\n"
    "  dueq purge orders dead\n"
    "  dueq purge orders dead --yes\n",
    run_purge};

const struct command remove_command = {
    "remove", "QUEUE", "Deletes a queue and everything in it",
    "Deletes its messages in all states, its counters, its history and its list of targets (dueq\n"
    "allow), and prints the number of messages. A consumer that has leased a message gets\n"
    "LEASE_LOST on its next call. remove asks before it deletes; without a terminal, --yes is\n"
    "required.\n"
    "\n"
    "Stop the producers and consumers first: a message that is pushed afterwards creates the\n"
    "queue again, and so does a waiting consumer. Locks stay until they end.\n"
    "\n"
    "Options:\n"
    "  --yes  do not ask\n"
    "\n"
    "Examples:\n"
    "  dueq remove orders\n"
    "  dueq remove orders --yes\n",
    run_remove};
