#include "draft.h"

#include <stdlib.h>
#include <string.h>

struct bodies {
    dueq_bytes *list;
    size_t count;
    bool input; /* a body is standard input */
};

static void add_body(const struct cli *cli, struct bodies *bodies, const char *text) {
    if (strcmp(text, "-") == 0) {
        if (bodies->input)
            cli_usage(cli, "--push - was given twice: standard input is one body");
        bodies->input = true;
    }
    dueq_bytes *list = realloc(bodies->list, (bodies->count + 1) * sizeof *list);
    if (!list)
        cli_out_of_memory();
    bodies->list = list;
    list[bodies->count++] = (dueq_bytes){text, strlen(text)};
}

/* Acknowledges a message and pushes its successors. Prints the new ids. kept: NULL: no result. */
static int ack_push(struct cli *cli, dueq_bytes ticket, const dueq_bytes *kept, dueq_queue *target,
                    const dueq_draft *shape, const struct bodies *bodies) {
    dueq_draft *drafts = malloc(bodies->count * sizeof *drafts);
    if (!drafts)
        cli_out_of_memory();
    for (size_t i = 0; i < bodies->count; i++) {
        drafts[i] = *shape;
        drafts[i].body = bodies->list[i];
    }
    dueq_result *result;
    dueq_status status = cli_wait(
        cli,
        kept ? dueq_ack_push_result_submit(cli->queue, ticket, *kept, target, drafts, bodies->count)
             : dueq_ack_push_submit(cli->queue, ticket, target, drafts, bodies->count),
        &result);
    int code = status < 0 ? cli_report(cli, status, NULL) : CLI_DONE;
    bool lost = dueq_result_count(result) > 0 && dueq_result_status(result, 0) != DUEQ_OK;
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        status = dueq_result_status(result, i);
        if (status == DUEQ_BACKLOG && !cli->json)
            break; /* the report says so of all */
        if (i == 0)
            code = cli_worse(code, cli_item(cli, "ticket", ticket, status));
        else if (!lost || cli->json)
            code = cli_worse(code, cli_made(cli, "id", dueq_result_id(result, i), status));
    }
    dueq_result_free(result);
    free(drafts);
    return code;
}

/* Opens the queues, reads standard input if a text is "-", and calls ack_push(). */
static int run_push(struct cli *cli, char *argv[], const char *text, const dueq_draft *shape,
                    const char *to, struct bodies *bodies) {
    dueq_bytes input = {0}, kept = {text, text ? strlen(text) : 0};
    bool is_input = text && strcmp(text, "-") == 0;
    int code;
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_queue *queue = cli->queue, *target = NULL;
    if (to) {
        if (!cli_open_queue(cli, to, &code))
            return code;
        target = cli->queue;
        cli->queue = queue;
    }
    if ((bodies->input || is_input) && !input_all(cli, &input))
        return CLI_FAILED;
    if (is_input)
        kept = input;
    for (size_t i = 0; i < bodies->count; i++)
        if (bodies->list[i].size == 1 && *(const char *)bodies->list[i].data == '-')
            bodies->list[i] = input;
    const char *ticket = argv[optind];
    code = ack_push(cli, (dueq_bytes){ticket, strlen(ticket)}, text ? &kept : NULL, target, shape,
                    bodies);
    free((void *)(uintptr_t)input.data);
    return code;
}

static dueq_status submit_ack(struct cli *cli, const dueq_bytes *tickets, size_t count,
                              const void *context) {
    (void)context;
    return dueq_ack_submit(cli->queue, tickets, count);
}

/* "-": the result is standard input. */
static int ack_result(struct cli *cli, char *argv[], const char *text) {
    bool is_input = strcmp(text, "-") == 0;
    dueq_bytes result = {text, strlen(text)}, ticket;
    int code;
    if (!cli_open(cli, argv, &code))
        return code;
    if (is_input && !input_all(cli, &result))
        return CLI_FAILED;
    ticket = (dueq_bytes){argv[optind], strlen(argv[optind])};
    code = cli_outcome(cli, "ticket", ticket,
                       cli_wait(cli, dueq_ack_result_submit(cli->queue, ticket, result), NULL));
    if (is_input)
        free((void *)(uintptr_t)result.data);
    return code;
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"push", required_argument, NULL, 'p'},
                                            {"to", required_argument, NULL, 't'},
                                            {"result", required_argument, NULL, 'r'},
                                            DRAFT_OPTIONS,
                                            CLI_OPTIONS};
    struct draft draft = DRAFT_NONE;
    const char *to = NULL, *kept = NULL;
    struct bodies bodies = {0};
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'p')
            add_body(cli, &bodies, optarg);
        else if (option == 't')
            to = optarg;
        else if (option == 'r')
            kept = optarg;
        else
            draft_option(cli, &draft, option, optarg);
    }
    draft_ready(cli, &draft);
    cli_words(cli, argc, 1, bodies.count > 0 || kept ? 1 : argc);
    if (kept && strcmp(kept, "-") == 0 && bodies.input)
        cli_usage(cli, "--push - and --result -: standard input is one of both");
    if ((draft.given || to) && bodies.count == 0)
        cli_usage(cli, "no message to push: give --push BODY");
    if (draft.draft.id.size > 0 && bodies.count > 1)
        cli_usage(cli, "--id names one message; there is more than one --push");
    if (bodies.count > 0)
        code = run_push(cli, argv, kept, &draft.draft, to, &bodies);
    else if (kept)
        code = ack_result(cli, argv, kept);
    else if (cli_open(cli, argv, &code))
        code = cli_each_item(cli, argc, argv, "ticket", submit_ack, NULL);
    free(bodies.list);
    draft_end(&draft);
    return code;
}

const struct command ack_command = {
    "ack", "QUEUE TICKET...", "Acknowledges reserved messages, which deletes them",
    "TICKET is what reserve printed. A single - reads tickets from standard input, one a line.\n"
    "\n"
    "With --push, ack acknowledges one message and pushes its successors, in one step, and prints\n"
    "the ids of the successors. When the lease was lost, ack does neither and ends with 1.\n"
    "\n"
    "Options:\n"
    "  --push BODY  the body of a message to push; - is standard input. May be repeated\n"
    "  --to QUEUE   push to this queue (the same queue)\n"
    "  --result TEXT  keep this with the end of the one message, which was pushed with --keep; -\n"
    "                 is standard input. dueq result shows it\n"
    "  and the options of push, such as --delay and --header, for all new messages\n"
    "\n"
    "Examples:\n"
    "  dueq ack orders \"$ticket\"\n"
    "  dueq reserve orders --count 100 --json | jq -r .ticket | dueq ack orders -\n"
    "  dueq ack orders \"$ticket\" --push 'send it' --to parcels --delay 1h\n",
    run};
