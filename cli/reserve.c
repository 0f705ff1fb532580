#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum form { QUEUE_TICKET_AND_BODY, TICKET_AND_BODY, BODY_LINE, RAW_BODY };

/* Prints one message and flushes the output. False: the write failed. */
static bool print(const struct cli *cli, const dueq_message *message, enum form form) {
    if (cli->json) {
        cli_json_message(cli, message);
    } else {
        if (form == QUEUE_TICKET_AND_BODY) {
            cli_put_text(cli->queue_name);
            fputc('\t', cli_out);
        }
        if (form <= TICKET_AND_BODY) {
            cli_put(message->ticket);
            fputc('\t', cli_out);
        }
        (form == RAW_BODY ? cli_put_lines : cli_put)(message->body);
        if (form != RAW_BODY)
            fputc('\n', cli_out);
    }
    return cli_flush();
}

/*
 * Prints the messages. Then releases those that could not be written, and acknowledges the others
 * if `ack` is set.
 */
static int print_all(struct cli *cli, const dueq_result *taken, enum form form, bool ack) {
    size_t count = dueq_result_count(taken), printed = 0;
    int code = CLI_DONE;
    dueq_bytes *tickets = malloc(count * sizeof *tickets);
    if (!tickets)
        cli_out_of_memory();
    cli->finishing = true;
    for (size_t i = 0; i < count; i++)
        tickets[i] = dueq_result_message(taken, i)->ticket;
    while (printed < count && print(cli, dueq_result_message(taken, printed), form))
        printed++;
    if (printed < count) {
        cli_wait(cli, dueq_release_submit(cli->queue, tickets + printed, count - printed, 0), NULL);
        code = cli_output_failed(true);
        cli_log(CLI_INFO, NULL, NULL, "%zu of %zu messages were released", count - printed, count);
    }
    if (ack && printed > 0) {
        dueq_result *acked;
        dueq_status status = cli_wait(cli, dueq_ack_submit(cli->queue, tickets, printed), &acked);
        if (status != DUEQ_OK)
            code = cli_worse(code, cli_report(cli, status, "printed, but not acknowledged"));
        dueq_result_free(acked);
    }
    cli->finishing = false;
    free(tickets);
    return code;
}

/* Made from core/options.toml by core/verbs.py: the options of reserve. */
/* clang-format off */
enum {
    RESERVE_COUNT = 0x300,
    RESERVE_ORDER,
    RESERVE_TIMEOUT,
    RESERVE_LEASE
};

/* These go into the list of a command's options. */
#define RESERVE_OPTIONS                                                                            \
    {"count", required_argument, NULL, RESERVE_COUNT},                                             \
    {"round-robin", no_argument, NULL, RESERVE_ORDER},                                             \
    {"wait", required_argument, NULL, RESERVE_TIMEOUT},                                            \
    {"lease", required_argument, NULL, RESERVE_LEASE}

/* The texts of --help. */
#define RESERVE_HELP                                                                               \
    "  --count N         up to N messages (1)\n"                                                   \
    "  --round-robin     begin with another queue each time\n"                                     \
    "  --wait DURATION   if none is ready, wait up to this long: 10s, 5m, forever (0)\n"           \
    "  --lease DURATION  how long no other consumer gets the message (the message's own, or\n"     \
    "                    30s)\n"
/* clang-format on */

static void reserve_option(const struct cli *cli, dueq_reserve_options *options, int option,
                           const char *given) {
    switch (option) {
    case RESERVE_COUNT:
        options->count = (size_t)cli_number(cli, "count", given, 1, DUEQ_MAX_BATCH);
        break;
    case RESERVE_ORDER:
        options->order = DUEQ_ROUND_ROBIN;
        break;
    case RESERVE_TIMEOUT:
        options->timeout_ms = cli_patience(cli, given);
        break;
    case RESERVE_LEASE:
        options->lease_ms = cli_duration(cli, "lease", given);
        break;
    }
}
/* The end of what was made. */

struct wish {
    dueq_reserve_options options;
    bool ack;
    enum form form;
};

/*
 * Starts at a random queue: each run of the program reserves once, so chance gives every queue its
 * share.
 */
static void rotate(char *names[], size_t count) {
    size_t by;
    if (getentropy(&by, sizeof by) != 0)
        return;
    for (by %= count; by > 0; by--) {
        char *first = names[0];
        memmove(names, names + 1, (count - 1) * sizeof *names);
        names[count - 1] = first;
    }
}

static int reserve(struct cli *cli, const struct wish *wish) {
    dueq_result *result;
    dueq_status status = cli_wait(
        cli, dueq_reserve_any_submit(cli->queues, cli->queue_count, &wish->options), &result);
    cli_quarantined(dueq_result_quarantined(result));
    if (status == DUEQ_OK)
        cli->queue = cli_source(cli, dueq_result_queue(result));
    int code = status == DUEQ_OK ? print_all(cli, result, wish->form, wish->ack)
                                 : cli_report(cli, status, NULL);
    dueq_result_free(result);
    cli_check_signal(cli);
    return code;
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"ack", no_argument, NULL, 'a'},
                                            {"body", no_argument, NULL, 'b'},
                                            RESERVE_OPTIONS,
                                            CLI_OPTIONS};
    struct wish wish = {.options = DUEQ_RESERVE};
    bool raw = false;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 'a':
            wish.ack = true;
            break;
        case 'b':
            raw = true;
            break;
        default:
            reserve_option(cli, &wish.options, option, optarg);
        }
    }
    cli_words(cli, argc, 0, DUEQ_MAX_QUEUES - 1);
    if (raw && cli->json)
        cli_usage(cli, "--body and --json exclude each other");
    char **names = argv + optind;
    size_t count = (size_t)(argc - optind);
    wish.form = raw         ? RAW_BODY
                : wish.ack  ? BODY_LINE
                : count > 1 ? QUEUE_TICKET_AND_BODY
                            : TICKET_AND_BODY;
    if (wish.options.order == DUEQ_ROUND_ROBIN)
        rotate(names, count);
    wish.options.order = DUEQ_PREFERENCE;
    int code;
    return cli_open_queues(cli, names, count, &code) ? reserve(cli, &wish) : code;
}

const struct command reserve_command = {
    "reserve", "QUEUE...", "Reserves ready messages, and prints them",
    "Prints a line with the ticket, a tab and the body. Settle the message by its ticket (ack,\n"
    "retry, release, bury; or extend) before the lease ends, or it is delivered again.\n"
    "\n"
    "With several queues it reserves from the first that has a ready message, and the line begins\n"
    "with the queue's name and a tab.\n"
    "\n"
    "Options:\n" RESERVE_HELP
    "  --ack             acknowledge each message after its body is written to standard output;\n"
    "                    the line has no ticket\n"
    "  --body            print only the body, byte for byte\n"
    "  --json            print one object a line, with all that is known of the message\n"
    "\n"
    "If a message cannot be written to standard output, dueq releases it. If nothing is ready, it\n"
    "prints nothing and ends with 1.\n"
    "\n"
    "Examples:\n"
    "  dueq reserve orders --ack\n"
    "  dueq reserve images --ack --body --wait 1m > picture.png\n"
    "  while line=$(dueq reserve orders --wait forever); do\n"
    "      ticket=${line%%\"$(printf '\\t')\"*}\n"
    "      handle \"${line#*\"$(printf '\\t')\"}\" && dueq ack orders \"$ticket\" ||\n"
    "          dueq retry orders \"$ticket\" --delay 5s\n"
    "  done\n"
    "  dueq reserve urgent orders --wait forever --json\n",
    run};
