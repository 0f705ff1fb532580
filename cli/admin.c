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

static void ask_purge_group(const struct cli *cli, const char *group) {
    fputs("Delete the ready and delayed messages of the group ", stderr);
    text_show(stderr, (dueq_bytes){group, strlen(group)}, TEXT_LINE);
    fputs(" of the queue ", stderr);
    put_queue(cli);
    fputs("? [y/N] ", stderr);
}

/* Reads the user's answer. False: the answer was not yes. done: what then was not done. */
static bool says_yes(struct cli *cli, const char *done) {
    struct input input = {0};
    dueq_bytes line;
    bool yes = input_line(cli, &input, &line) && line.size > 0 &&
               memchr("yY", *(const char *)line.data, 2) != NULL;
    input_end(&input);
    if (!yes)
        cli_log(CLI_INFO, NULL, NULL, "nothing was %s", done);
    return yes;
}

/* Asks the user on the terminal. False: the answer was not yes; *code is the exit code. */
static bool confirm(struct cli *cli, dueq_state state,
                    void (*ask)(const struct cli *, dueq_state, const dueq_counts *), int *code) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_stats_submit(cli->queue), &result);
    const dueq_counts *counts = dueq_result_counts(result);
    *code = cli_report(cli, status, NULL);
    if (counts)
        ask(cli, state, counts);
    dueq_result_free(result);
    if (status != DUEQ_OK)
        return false;
    bool yes = says_yes(cli, ask == ask_purge ? "purged" : "removed");
    if (!yes)
        *code = CLI_OUTCOME;
    return yes;
}

/* Without --yes and without a terminal to ask on, ends with CLI_USAGE. */
static void check_yes(struct cli *cli, const char *queue, bool yes) {
    if (!yes && (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)))
        cli_usage(cli, "no terminal to ask on: give --yes to %s the queue %s", cli->command->name,
                  queue);
}

static int purge_state(struct cli *cli, dueq_state state) {
    dueq_status status;
    size_t all = 0;
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

static int purge_group(struct cli *cli, dueq_bytes group) {
    dueq_result *page = NULL;
    dueq_status status;
    size_t all = 0;
    do {
        dueq_result *next;
        status = cli_wait(
            cli,
            dueq_purge_group_submit(cli->queue, group, dueq_result_cursor(page), DUEQ_MAX_BATCH),
            &next);
        dueq_result_free(page);
        page = next;
        all += dueq_result_purged(page);
        if (status == DUEQ_OK)
            cli_progress(all, "purged");
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    cli_sum(cli, all, "purged");
    return cli_report(cli, status, NULL);
}

static int run_purge(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"yes", no_argument, NULL, 'y'}, {"group", required_argument, NULL, 'g'}, CLI_OPTIONS};
    const char *group = NULL;
    bool yes = false;
    int option, code;
    while ((option = cli_option(cli, argc, argv, options)) != -1)
        if (option == 'g')
            group = optarg;
        else
            yes = true;
    cli_words(cli, argc, group ? 0 : 1, group ? 0 : 1);
    check_yes(cli, argv[optind], yes);
    dueq_state state = group ? DUEQ_READY : cli_state(cli, argv[optind + 1]);
    if (!cli_open(cli, argv, &code))
        return code;
    if (!group)
        return yes || confirm(cli, state, ask_purge, &code) ? purge_state(cli, state) : code;
    if (!yes)
        ask_purge_group(cli, group);
    return yes || says_yes(cli, "purged") ? purge_group(cli, (dueq_bytes){group, strlen(group)})
                                          : CLI_OUTCOME;
}

static int run_remove(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"yes", no_argument, NULL, 'y'}, {"force", no_argument, NULL, 'f'}, CLI_OPTIONS};
    bool yes = false, force = false;
    int code, option;
    while ((option = cli_option(cli, argc, argv, options)) != -1)
        *(option == 'f' ? &force : &yes) = true;
    cli_words(cli, argc, 0, 0);
    check_yes(cli, argv[optind], yes);
    if (!cli_open(cli, argv, &code) || (!yes && !confirm(cli, DUEQ_READY, ask_remove, &code)))
        return code;
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_remove_submit(cli->queue, force), &result);
    if (status == DUEQ_EMPTY)
        cli_sum(cli, dueq_result_purged(result), "removed");
    dueq_result_free(result);
    return status == DUEQ_EMPTY ? CLI_DONE : cli_report(cli, status, NULL);
}

const struct command purge_command = {
    "purge", "QUEUE STATE | QUEUE --group GROUP", "Deletes all messages of a state, or of a group",
    "STATE is ready, delayed, leased, dead or outbox. Of a GROUP the ready and the delayed "
    "messages\n"
    "are deleted: its leased and dead ones stay. purge asks before it deletes, and prints the\n"
    "number of deleted messages. Without a terminal, --yes is required.\n"
    "\n"
    "Options:\n"
    "  --group GROUP  the messages of this group; dueq groups lists the groups\n"
    "  --yes          do not ask\n"
    "\n"
    "Examples:\n"
    "  dueq purge orders dead\n"
    "  dueq purge orders dead --yes\n"
    "  dueq purge orders --group acme\n",
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
    "  --force  also remove a queue that has batches that have not ended, or members of other\n"
    "           queues' batches. Its batches end without callbacks. The other queues' batches\n"
    "           count the members as dead\n"
    "  --yes    do not ask\n"
    "\n"
    "Examples:\n"
    "  dueq remove orders\n"
    "  dueq remove orders --yes\n",
    run_remove};
