#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_BYTES                                                                                \
    ((size_t)1024 * 1024) /* of bodies, where lines are short enough for more than one */

/* Lines that go in one call. */
struct batch {
    char *data;
    size_t size, room;
    size_t sizes[DUEQ_MAX_BATCH];
    size_t count;
};

/* Pushes drafts and prints their ids. */
static int push(struct cli *cli, const dueq_draft *drafts, size_t count, bool *failed) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_push_submit(cli->queue, drafts, count), &result);
    *failed = status < 0;
    if (*failed)
        return cli_report(cli, status, NULL);
    int code = CLI_DONE;
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        status = dueq_result_status(result, i);
        code = cli_worse(code, cli_made(cli, "id", dueq_result_id(result, i), status));
    }
    dueq_result_free(result);
    return code;
}

/* Pushes the lines gathered so far. Adds to *pushed; sets *failed when it makes no sense to go on. */
static int push_batch(struct cli *cli, const dueq_draft *shape, struct batch *batch,
                      unsigned long long *pushed, bool *failed) {
    dueq_draft *drafts = malloc(batch->count * sizeof *drafts);
    if (!drafts) {
        *failed = true;
        return cli_system_error("--lines");
    }
    const char *at = batch->data;
    for (size_t i = 0; i < batch->count; i++) {
        drafts[i] = *shape;
        drafts[i].body = (dueq_bytes){at, batch->sizes[i]};
        at += batch->sizes[i];
    }
    int code = push(cli, drafts, batch->count, failed);
    free(drafts);
    if (!*failed) {
        *pushed += batch->count;
        /* Whoever reads the ids gets them as they come. */
        *failed = fflush(stdout) != 0;
        if (*failed)
            code = cli_system_error("standard output");
    }
    batch->size = batch->count = 0;
    return code;
}

static bool add_line(struct batch *batch, dueq_bytes line) {
    if (batch->room - batch->size < line.size) {
        size_t room = 2 * (batch->size + line.size);
        char *data = realloc(batch->data, room);
        if (!data) {
            cli_system_error("--lines");
            return false;
        }
        batch->data = data;
        batch->room = room;
    }
    if (line.size > 0)
        memcpy(batch->data + batch->size, line.data, line.size);
    batch->size += line.size;
    batch->sizes[batch->count++] = line.size;
    return true;
}

/* One message a line. A line that nothing follows for now is pushed at once. */
static int push_lines(struct cli *cli, const dueq_draft *shape) {
    /* Where the ids go to the terminal too, they are the progress. */
    const bool shown = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    static struct batch batch;
    struct input input = {0};
    unsigned long long pushed = 0;
    int code = CLI_DONE;
    bool failed = false;
    dueq_bytes line;
    while (!failed && input_line(cli, &input, &line)) {
        if (!add_line(&batch, line)) {
            code = CLI_FAILED;
            failed = true;
        } else if (batch.count == DUEQ_MAX_BATCH || batch.size >= BATCH_BYTES ||
                   !input_ready(&input)) {
            code = cli_worse(code, push_batch(cli, shape, &batch, &pushed, &failed));
            if (shown)
                fprintf(stderr, "\r%llu pushed", pushed);
        }
    }
    if (!failed && batch.count > 0)
        code = cli_worse(code, push_batch(cli, shape, &batch, &pushed, &failed));
    if (input.failed)
        code = cli_worse(code, CLI_FAILED);
    if (shown)
        fprintf(stderr, "\r%llu pushed\n", pushed);
    if (failed)
        fprintf(stderr, "  the first %llu lines were pushed; go on after them\n", pushed);
    input_end(&input);
    free(batch.data);
    return code;
}

static int push_one(struct cli *cli, dueq_draft *draft, const char *body) {
    bool failed;
    if (body && strcmp(body, "-") != 0) {
        draft->body = (dueq_bytes){body, strlen(body)};
        return push(cli, draft, 1, &failed);
    }
    if (isatty(STDIN_FILENO))
        fputs("dueq: reading the body from the terminal; end it with ctrl-D\n", stderr);
    if (!input_all(cli, &draft->body))
        return CLI_FAILED;
    int code = push(cli, draft, 1, &failed);
    free((void *)(uintptr_t)draft->body.data);
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
            draft_option(cli, &draft, option);
    }
    draft_ready(cli, &draft);
    cli_words(cli, argc, 0, 1);
    const char *body = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (lines && (draft.draft.id.size > 0 || (body && strcmp(body, "-") != 0)))
        cli_usage(cli, "--lines takes the bodies from standard input, and makes the ids");
    int code;
    if (cli_open(cli, argv, &code))
        code = lines ? push_lines(cli, &draft.draft) : push_one(cli, &draft.draft, body);
    draft_end(&draft);
    return code;
}

const struct command push_command = {
    "push", "QUEUE [BODY]", "Stores a message, now or for later, and prints its id",
    "BODY - or none: standard input, byte for byte.\n"
    "\n"
    "Options:\n"
    "  --delay DURATION     not before so long from now: 250ms, 1.5s, 30m, 2h, 7d, 1h30m;\n"
    "                       a bare number is seconds\n"
    "  --at TIME            not before this time: 2026-12-01T10:00:00Z, or seconds since 1970\n"
    "  --priority WORD      high before normal before low (normal)\n"
    "  --ttl DURATION       gone if it was not delivered so long after the push\n"
    "  --header NAME=VALUE  may be repeated\n"
    "  --lease DURATION     how long a consumer may work on it (30s)\n"
    "  --lines              a message for each line of standard input, in large batches\n"
    "\n"
    "A name of its own:\n"
    "  --id ID              to find or cancel it by; a second push with the name of a living\n"
    "                       message stores nothing and ends with 1\n"
    "  --unique DURATION    the same for so long after the push, also when it is gone\n"
    "  --replace            a living message of this name is gone, this one takes its place\n"
    "  --replace=body       the same, but one that is ready or delayed keeps its time and place\n"
    "\n"
    "When it fails:\n"
    "  --attempts N         failures (retry) before its end (5; 0: any number)\n"
    "  --max-crashes N      leases that ran out before its end (5; 0: any number)\n"
    "  --backoff HOW        the delay of a retry that names none (at once):\n"
    "                       5s                  always the same\n"
    "                       1s,5s,30s           the first, the second, and then always the last\n"
    "                       linear:10s:5m       10s, 20s, 30s ... at most 5m\n"
    "                       exponential:1s:60s  1s, 2s, 4s, 8s ... at most 60s\n"
    "                       with :full or :equal behind: a random part (or half) of that\n"
    "  --dead-letter QUEUE  at its end it moves there (it stays in this queue, dead)\n"
    "  --drop               at its end it is gone\n"
    "\n"
    "Elsewhere:\n"
    "  --to QUEUE           waits here, and moves there when it is due\n"
    "\n"
    "Examples:\n"
    "  dueq push orders 'hello'\n"
    "  dueq push orders --delay 30m --id invoice-7 'not paid in time'\n"
    "  dueq push images --header type=image/png < picture.png\n"
    "  dueq push orders 'call the shop' --backoff exponential:1s:60s:full --dead-letter failed\n"
    "  dueq push orders --lines < orders.txt > ids.txt\n",
    run};
