#include "cli.h"

#include <string.h>

/* The arguments of these commands: a ticket, at most one duration and one text. */
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
    return cli_outcome(cli, "ticket", ticket, cli_wait(cli, status, NULL));
}

static int run_retry(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {.ms = DUEQ_BY_POLICY};
    int code;
    if (!begin(cli, argc, argv, "delay", "error", &now, &code))
        return code;
    return end(cli, now.ticket, dueq_retry_submit(cli->queue, now.ticket, now.ms, now.text));
}

static int run_release(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {0};
    int code;
    if (!begin(cli, argc, argv, "delay", NULL, &now, &code))
        return code;
    return end(cli, now.ticket, dueq_release_submit(cli->queue, &now.ticket, 1, now.ms));
}

static int run_extend(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {.ms = DUEQ_DEFAULT_LEASE_MS};
    int code;
    if (!begin(cli, argc, argv, "lease", NULL, &now, &code))
        return code;
    return end(cli, now.ticket, dueq_extend_submit(cli->queue, &now.ticket, 1, now.ms));
}

static int run_bury(struct cli *cli, int argc, char *argv[]) {
    struct settling now = {0};
    int code;
    if (!begin(cli, argc, argv, NULL, "reason", &now, &code))
        return code;
    return end(cli, now.ticket, dueq_bury_submit(cli->queue, now.ticket, now.text));
}

const struct command retry_command = {
    "retry", "QUEUE TICKET", "Ends a delivery as a failure: the message is delivered again",
    "Options:\n"
    "  --delay DURATION  due after this time from now: 250ms, 5s, 1h; 0: at once\n"
    "                    (the message's --backoff of push)\n"
    "  --error TEXT      the error, which find shows\n"
    "\n"
    "Ends with 1 (EXHAUSTED) when the message has no attempts left. Then the message is dead;\n"
    "with --dead-letter of push it moves to that queue, with --drop it is deleted.\n"
    "\n"
    "Example:\n"
    "  dueq retry orders \"$ticket\" --error 'the shop did not answer'\n",
    run_retry};

const struct command release_command = {
    "release", "QUEUE TICKET", "Gives a message back: the delivery does not count",
    "The delivery counts as no attempt. Without --delay the message goes to\n"
    "the front of the queue.\n"
    "\n"
    "Options:\n"
    "  --delay DURATION  due after this time from now: 250ms, 5s, 1h (0)\n"
    "\n"
    "Example:\n"
    "  dueq release orders \"$ticket\"\n",
    run_release};

const struct command extend_command = {
    "extend", "QUEUE TICKET", "Extends the lease of a message",
    "Options:\n"
    "  --lease DURATION  the lease ends after this time from now (30s)\n"
    "\n"
    "Example:\n"
    "  dueq extend orders \"$ticket\" --lease 60s\n",
    run_extend};

const struct command bury_command = {
    "bury", "QUEUE TICKET", "Makes a message dead, whatever attempts it has left",
    "With --dead-letter of push the message moves to that queue, with --drop it is deleted.\n"
    "\n"
    "Options:\n"
    "  --reason TEXT  the error, which find shows\n"
    "\n"
    "Example:\n"
    "  dueq bury orders \"$ticket\" --reason 'no such customer'\n",
    run_bury};
