#include "draft.h"

#include <stdlib.h>
#include <string.h>

/* Pushes drafts and prints their ids. */
static int push(struct cli *cli, const dueq_draft *drafts, size_t count, bool *failed) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_push_submit(cli->queue, drafts, count), &result);
    *failed = status < 0;
    /* A result has the ids also after NOT_DURABLE and BACKLOG. */
    int code = *failed ? cli_report(cli, status, NULL) : CLI_DONE;
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        status = dueq_result_status(result, i);
        if (status == DUEQ_BACKLOG && !cli->json)
            continue; /* the report says how many are not stored */
        code = cli_worse(code, cli_made(cli, "id", dueq_result_id(result, i), status));
    }
    dueq_result_free(result);
    return code;
}

/* A cli_batch: pushes a message with the options of `shape` for each line. */
static int push_batch(struct cli *cli, const dueq_bytes *lines, size_t count, const void *shape,
                      bool *failed) {
    dueq_draft *drafts = malloc(count * sizeof *drafts);
    if (!drafts)
        cli_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        drafts[i] = *(const dueq_draft *)shape;
        drafts[i].body = lines[i];
    }
    int code = push(cli, drafts, count, failed);
    free(drafts);
    return code;
}

static int push_one(struct cli *cli, dueq_draft *draft, const char *body) {
    bool failed;
    void *store;
    if (!input_word(cli, body, &draft->body, &store))
        return CLI_FAILED;
    int code = push(cli, draft, 1, &failed);
    free(store);
    return code;
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"lines", no_argument, NULL, 'n'}, DRAFT_OPTIONS, CLI_OPTIONS};
    struct draft draft = DRAFT_NONE;
    bool lines = false;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'n')
            lines = true;
        else
            draft_option(cli, &draft, option, optarg);
    }
    draft_ready(cli, &draft);
    cli_words(cli, argc, 0, 1);
    const char *body = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (lines && (draft.draft.id.size > 0 || (body && strcmp(body, "-") != 0)))
        cli_usage(cli, "--lines reads the bodies from standard input, and creates the ids");
    int code;
    if (cli_open(cli, argv, &code))
        code = lines ? cli_each_line(cli, "pushed", push_batch, &draft.draft)
                     : push_one(cli, &draft.draft, body);
    draft_end(&draft);
    return code;
}

const struct command push_command = {
    "push", "QUEUE [BODY]", "Stores a message, now or for later, and prints its id",
    "Without BODY, or with -, the body is standard input, byte for byte.\n"
    "\n"
    "Options:\n" DRAFT_HELP_MESSAGE
    "  --lines              push a message for each line of standard input, in large batches\n"
    "\n"
    "An id of your own:\n" DRAFT_HELP_ID "\n"
    "To be sure that the message is safe before the command ends:\n" DRAFT_HELP_DURABILITY "\n"
    "When the message fails:\n" DRAFT_HELP_FAILURE "\n"
    "Examples:\n"
    "  dueq push orders 'hello'\n"
    "  dueq push orders --delay 30m --id invoice-7 'not paid in time'\n"
    "  dueq push images --header type=image/png < picture.png\n"
    "  dueq push orders 'call the shop' --backoff exponential:1s:60s:full --dead-letter failed\n"
    "  dueq push orders --lines < orders.txt > ids.txt\n",
    run};
