#include <stdlib.h>
#include <string.h>

#include "redisson.h"

static void take_option(const struct cli *cli, struct redisson_wish *wish, int option) {
    switch (option) {
    case CODEC:
        wish->codec = value_codec(cli, optarg);
        break;
    case LAYOUT:
        wish->layout = value_layout(cli, optarg);
        break;
    case TYPE:
        wish->type = optarg;
        break;
    case DELAY:
        wish->delay_ms = cli_duration(cli, "delay", optarg);
        wish->delayed = true;
        break;
    case AT:
        wish->at_ms = cli_point(cli, "at", optarg);
        break;
    case LINES:
        wish->lines = true;
        break;
    case COUNT:
        wish->count = (size_t)cli_number(cli, "count", optarg, 1, DUEQ_MAX_BATCH);
        break;
    case WAIT:
        wish->wait_ms = cli_patience(cli, optarg);
        break;
    case RAW:
        wish->raw = true;
        break;
    case ONCE:
        wish->once = true;
        break;
    }
}

bool redisson_begin(struct cli *cli, int argc, char *argv[], const struct option *options,
                    int least, int most, struct redisson_wish *wish, int *code) {
    *wish = (struct redisson_wish){.count = 1};
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;)
        take_option(cli, wish, option);
    cli_words(cli, argc, least, most);
    if (wish->delayed && wish->at_ms)
        cli_usage(cli, "--delay and --at exclude each other");
    if (wish->raw && cli->json)
        cli_usage(cli, "--raw and --json exclude each other");
    cli_no_partitions(cli);
    if (!cli_connect(cli, code))
        return false;
    cli->queue_name = argv[optind++];
    dueq_status status = dueq_redisson_open(cli->client, cli->queue_name, strlen(cli->queue_name),
                                            wish->codec, wish->layout, &cli->redisson);
    if (status != DUEQ_OK)
        *code = cli_report(cli, status, NULL);
    return status == DUEQ_OK;
}

bool redisson_value(struct cli *cli, char *argv[], const struct redisson_wish *wish,
                    dueq_value *value, void **store, int *code) {
    dueq_kind kind = value_kind(cli, wish->type, wish->codec);
    dueq_bytes text = {0};
    *store = NULL;
    if (kind == DUEQ_NULL && argv[optind])
        cli_usage(cli, "--type null has no value");
    *code = CLI_FAILED;
    if (kind != DUEQ_NULL && !input_word(cli, argv[optind], &text, store))
        return false;
    *code = CLI_USAGE;
    bool good = value_read(kind, text, value);
    if (!good)
        free(*store);
    return good;
}

/* offer */

static int offer(struct cli *cli, const dueq_offer *offers, size_t count, bool *failed) {
    dueq_status status =
        cli_wait(cli, dueq_redisson_offer_submit(cli->redisson, offers, count), NULL);
    *failed = status < 0;
    if (status == DUEQ_OK && cli->json)
        fprintf(cli_out, "{\"offered\":%zu}\n", count);
    return cli_report(cli, status, NULL);
}

/* A cli_batch: offers a value for each line. */
static int offer_batch(struct cli *cli, const dueq_bytes *lines, size_t count, const void *context,
                       bool *failed) {
    const struct redisson_wish *wish = context;
    dueq_kind kind = value_kind(cli, wish->type, wish->codec);
    dueq_offer offers[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < count; i++) {
        offers[i] = (dueq_offer){
            .struct_size = sizeof(dueq_offer), .delay_ms = wish->delay_ms, .at_ms = wish->at_ms};
        if (!value_read(kind, lines[i], &offers[i].value)) {
            *failed = true;
            return CLI_USAGE;
        }
    }
    return offer(cli, offers, count, failed);
}

static int run_offer(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"delay", required_argument, NULL, DELAY},
                                            {"at", required_argument, NULL, AT},
                                            {"type", required_argument, NULL, TYPE},
                                            {"lines", no_argument, NULL, LINES},
                                            REDISSON_OPTIONS};
    struct redisson_wish wish;
    int code;
    if (!redisson_begin(cli, argc, argv, options, 0, 1, &wish, &code))
        return code;
    if (wish.lines && argv[optind] && strcmp(argv[optind], "-") != 0)
        cli_usage(cli, "--lines reads the values from standard input");
    if (wish.lines)
        return cli_each_line(cli, "offered", offer_batch, &wish);
    dueq_offer one = {
        .struct_size = sizeof(dueq_offer), .delay_ms = wish.delay_ms, .at_ms = wish.at_ms};
    void *store;
    bool failed;
    if (!redisson_value(cli, argv, &wish, &one.value, &store, &code))
        return code;
    code = offer(cli, &one, 1, &failed);
    free(store);
    return code;
}

/* transfer, size and clear */

static int run_transfer(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"once", no_argument, NULL, ONCE}, REDISSON_OPTIONS};
    struct redisson_wish wish;
    int code;
    return redisson_begin(cli, argc, argv, options, 0, 0, &wish, &code)
               ? foreign_move(cli, wish.once)
               : code;
}

/* Runs a verb that has only the common options. */
static int plain(struct cli *cli, int argc, char *argv[], int (*act)(struct cli *cli)) {
    static const struct option options[] = {REDISSON_OPTIONS};
    struct redisson_wish wish;
    int code;
    return redisson_begin(cli, argc, argv, options, 0, 0, &wish, &code) ? act(cli) : code;
}

static int run_size(struct cli *cli, int argc, char *argv[]) {
    return plain(cli, argc, argv, foreign_size);
}

static int run_clear(struct cli *cli, int argc, char *argv[]) {
    return plain(cli, argc, argv, foreign_clear);
}

/* Help */

static const struct command offer_command = {
    "redisson offer", "DESTINATION [VALUE]", "Offers a value, now or for later",
    "Without VALUE, or with -, the value is standard input, byte for byte. When it is due, a\n"
    "transfer (of Redisson, or of dueq redisson transfer) moves it to the destination.\n"
    "\n"
    "Options:\n"
    "  --delay DURATION    due after this time from now: 250ms, 1.5s, 30m, 2h, 7d (0)\n"
    "  --at TIME           due at this time: 2026-12-01T10:00:00Z, or seconds since "
    "1970\n" TYPE_HELP
    "  --lines             offer each line of standard input, in batches\n" CODEC_HELP LAYOUT_HELP
    "\n"
    "Examples:\n"
    "  dueq redisson offer orders 'not paid in time' --delay 30m\n"
    "  dueq redisson offer numbers 17 --type long --delay 10s\n"
    "  dueq redisson offer orders '{\"id\":17}' --codec jackson --type json --delay 10s\n"
    "  dueq redisson offer images --codec bytes --delay 1h < picture.png\n",
    run_offer};

static const struct command transfer_command = {
    "redisson transfer", "DESTINATION", "Moves values to the destination when they are due",
    "transfer wakes at the due times, without polling. On SIGTERM or SIGINT (Ctrl-C) it prints\n"
    "how many values it moved and ends with 0. While the server is away, dueq waits and warns.\n"
    "If dueq never reached the server, it ends with 3. A damaged element is quarantined and\n"
    "reported.\n"
    "\n"
    "Options:\n"
    "  --once              move what is due now, and end\n"
    "  --json              {\"moved\":12,\"quarantined\":0} at the end\n" LAYOUT_HELP "\n"
    "Examples:\n"
    "  dueq redisson transfer orders\n"
    "  dueq redisson transfer orders --once\n",
    run_transfer};

static const struct command size_command = {
    "redisson size", "DESTINATION", "Counts the values that wait or are in the destination",
    "ready: in the destination; delayed: waiting, as size() of Redisson counts; quarantined:\n"
    "damaged, moved to a list of their own.\n"
    "\n"
    "Example:\n"
    "  dueq redisson size orders --json\n",
    run_size};

static const struct command clear_command = {"redisson clear", "DESTINATION",
                                             "Deletes all waiting values",
                                             "The destination stays. Prints the number.\n"
                                             "\n"
                                             "Example:\n"
                                             "  dueq redisson clear orders\n",
                                             run_clear};

const struct command *const redisson_verbs[] = {
    &offer_command,   &transfer_command,  &redisson_take, &redisson_poll, &redisson_peek,
    &redisson_remove, &redisson_contains, &size_command,  &clear_command, NULL};

const struct command redisson_command = {
    "redisson", "VERB DESTINATION [ARGUMENT...] [OPTION...]",
    "Shares a delayed queue with Redisson",
    "DESTINATION is the key of the list that due values are moved to: the name of the queue that\n"
    "Java passes to redisson.getDelayedQueue().\n"
    "\n"
    "Options of all verbs:\n" CODEC_HELP LAYOUT_HELP "\n"
    "Example, each line in a shell of its own; a program with Redisson may replace any of them:\n"
    "  dueq redisson transfer orders                     moves due values, until Ctrl-C\n"
    "  dueq redisson take orders --wait forever          prints the value in 10 seconds\n"
    "  dueq redisson offer orders 'not paid' --delay 10s\n",
    NULL};
