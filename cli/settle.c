#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* ---- Many at once: ack, cancel, kick ----------------------------------------------------------------- */

typedef dueq_status (*submit_many)(dueq_queue *queue, const dueq_bytes *items, size_t count);

/* A list of tickets or ids: the words of the command line, or with `-` the lines of standard input. */
struct list {
    dueq_bytes *items;
    size_t count;
    dueq_bytes store;
};

static bool add(struct list *list, const char *data, size_t size) {
    if ((list->count & (list->count - 1)) == 0) {
        dueq_bytes *items =
            realloc(list->items, (list->count ? 2 * list->count : 1) * sizeof *items);
        if (!items) {
            cli_system_error("arguments");
            return false;
        }
        list->items = items;
    }
    list->items[list->count++] = (dueq_bytes){data, size};
    return true;
}

static bool read_list(struct cli *cli, int argc, char *argv[], struct list *list) {
    bool good = true;
    if (argc - optind != 1 || strcmp(argv[optind], "-") != 0) {
        for (int i = optind; good && i < argc; i++)
            good = add(list, argv[i], strlen(argv[i]));
        return good;
    }
    if (!input_all(cli, &list->store))
        return false;
    const char *at = list->store.data, *end = at ? at + list->store.size : at;
    while (good && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((line_end ? line_end : end) - at);
        if (size > 0)
            good = add(list, at, size);
        at += size + 1;
    }
    return good;
}

static int settle_many(struct cli *cli, int argc, char *argv[], const char *key,
                       submit_many submit) {
    static const struct option options[] = {CLI_OPTIONS};
    struct list list = {0};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_words(cli, argc, 1, argc);
    if (!cli_open(cli, argv, &code))
        return code;
    code = read_list(cli, argc, argv, &list) ? CLI_DONE : CLI_FAILED;
    for (size_t at = 0, size; code < CLI_USAGE && at < list.count; at += size) {
        size = list.count - at < DUEQ_MAX_BATCH ? list.count - at : DUEQ_MAX_BATCH;
        dueq_result *result;
        dueq_status status = cli_wait(cli, submit(cli->queue, list.items + at, size), &result);
        if (status < 0) {
            code = cli_report(cli, status, NULL);
            if (at > 0)
                fprintf(stderr, "  the first %zu were done; go on after them\n", at);
        }
        for (size_t i = 0; i < dueq_result_count(result); i++)
            code = cli_worse(code,
                             cli_item(cli, key, list.items[at + i], dueq_result_status(result, i)));
        dueq_result_free(result);
    }
    free(list.items);
    free((void *)(uintptr_t)list.store.data);
    return code;
}

static int run_ack(struct cli *cli, int argc, char *argv[]) {
    return settle_many(cli, argc, argv, "ticket", dueq_ack_submit);
}

static int run_cancel(struct cli *cli, int argc, char *argv[]) {
    return settle_many(cli, argc, argv, "id", dueq_cancel_submit);
}

static int run_kick(struct cli *cli, int argc, char *argv[]) {
    return settle_many(cli, argc, argv, "id", dueq_kick_submit);
}

/* ---- One delivery: retry, extend, bury ---------------------------------------------------------- */

/* What the three have in common: one option for a duration, one for a text, and a ticket. */
struct settling {
    int64_t ms;
    dueq_bytes text, ticket;
};

/* Reads the arguments and opens the queue. False: *code is the exit code. */
static bool begin(struct cli *cli, int argc, char *argv[], const char *duration, const char *text,
                  struct settling *settling, int *code) {
    const struct option common[] = {CLI_OPTIONS};
    struct option options[2 + sizeof common / sizeof *common];
    size_t count = 0;
    if (duration)
        options[count++] = (struct option){duration, required_argument, NULL, 'd'};
    if (text)
        options[count++] = (struct option){text, required_argument, NULL, 't'};
    memcpy(options + count, common, sizeof common);
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'd')
            settling->ms = cli_duration(cli, duration, optarg);
        else
            settling->text = (dueq_bytes){optarg, strlen(optarg)};
    }
    cli_words(cli, argc, 1, 1);
    const char *ticket = argv[optind + 1];
    settling->ticket = (dueq_bytes){ticket, strlen(ticket)};
    return cli_open(cli, argv, code);
}

static int end(struct cli *cli, dueq_bytes ticket, dueq_status status) {
    status = cli_wait(cli, status, NULL);
    return status < 0 ? cli_report(cli, status, NULL) : cli_item(cli, "ticket", ticket, status);
}

static int run_retry(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {0};
    int code;
    if (!begin(cli, argc, argv, "delay", "error", &now, &code))
        return code;
    return end(cli, now.ticket, dueq_retry_submit(cli->queue, now.ticket, now.ms, now.text));
}

static int run_extend(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {.ms = DUEQ_DEFAULT_LEASE_MS};
    int code;
    if (!begin(cli, argc, argv, "lease", NULL, &now, &code))
        return code;
    return end(cli, now.ticket, dueq_extend_submit(cli->queue, now.ticket, now.ms));
}

static int run_bury(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {0};
    int code;
    if (!begin(cli, argc, argv, NULL, "reason", &now, &code))
        return code;
    return end(cli, now.ticket, dueq_bury_submit(cli->queue, now.ticket, now.text));
}

const struct command ack_command = {
    "ack", "QUEUE TICKET...", "Finishes messages that were reserved: they are gone",
    "TICKET is what reserve printed; a single - reads tickets from standard input, one a line.\n"
    "\n"
    "Examples:\n"
    "  dueq ack orders \"$ticket\"\n"
    "  dueq reserve orders --count 100 --json | jq -r .ticket | dueq ack orders -\n",
    run_ack};

const struct command cancel_command = {
    "cancel", "QUEUE ID...", "Takes messages back from whatever state they are in",
    "ID is what push printed or was given; a single - reads ids from standard input, one a line.\n"
    "A consumer that holds the message learns it by LEASE_LOST.\n"
    "\n"
    "Examples:\n"
    "  dueq cancel orders invoice-7\n"
    "  dueq cancel orders - < ids.txt\n",
    run_cancel};

const struct command kick_command = {
    "kick", "QUEUE ID...", "Gives dead messages back, with as many attempts again",
    "ID is what push printed or was given; a single - reads ids from standard input, one a line.\n"
    "\n"
    "Examples:\n"
    "  dueq kick orders invoice-7\n"
    "  dueq kick orders - < ids.txt\n",
    run_kick};

const struct command retry_command = {
    "retry", "QUEUE TICKET", "Gives a message back to be delivered again",
    "Options:\n"
    "  --delay DURATION  not before so long from now: 250ms, 5s, 1h (0)\n"
    "  --error TEXT      why; find shows it\n"
    "\n"
    "Ends with 1 (BURIED) when its attempts are used up and it is dead now.\n"
    "\n"
    "Example:\n"
    "  dueq retry orders \"$ticket\" --delay 5s --error 'the shop did not answer'\n",
    run_retry};

const struct command extend_command = {"extend", "QUEUE TICKET", "Keeps a message for longer",
                                       "Options:\n"
                                       "  --lease DURATION  until so long from now (30s)\n"
                                       "\n"
                                       "Example:\n"
                                       "  dueq extend orders \"$ticket\" --lease 60s\n",
                                       run_extend};

const struct command bury_command = {"bury", "QUEUE TICKET", "Sets a message aside as dead",
                                     "Options:\n"
                                     "  --reason TEXT  why; find shows it\n"
                                     "\n"
                                     "Example:\n"
                                     "  dueq bury orders \"$ticket\" --reason 'no such customer'\n",
                                     run_bury};
