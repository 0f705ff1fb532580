#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_BYTES                                                                                \
    ((size_t)1024 * 1024) /* of bodies, where lines are short enough for more than one */

struct headers {
    dueq_header *list;
    size_t count;
};

/* Lines that go in one call. */
struct batch {
    char *data;
    size_t size, room;
    size_t sizes[DUEQ_MAX_BATCH];
    size_t count;
};

static void add_header(const struct cli *cli, struct headers *headers, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        cli_usage(cli, "--header %s is not NAME=VALUE", text);
    dueq_header *list = realloc(headers->list, (headers->count + 1) * sizeof *list);
    if (!list)
        exit(cli_system_error("--header"));
    headers->list = list;
    list[headers->count++] =
        (dueq_header){{text, (size_t)(equals - text)}, {equals + 1, strlen(equals + 1)}};
}

/* Pushes drafts and prints their ids. */
static int push(struct cli *cli, const dueq_draft *drafts, size_t count, bool *failed) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_push_submit(cli->queue, drafts, count), &result);
    *failed = status < 0;
    if (*failed)
        return cli_report(cli, status, NULL);
    int code = CLI_DONE;
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        dueq_bytes id = dueq_result_id(result, i);
        status = dueq_result_status(result, i);
        code = cli_worse(code, cli_item(cli, "id", id, status));
        if (!cli->json && status == DUEQ_OK) {
            cli_put(id);
            putchar('\n');
        }
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
        {"delay", required_argument, NULL, 'd'}, {"at", required_argument, NULL, 't'},
        {"id", required_argument, NULL, 'i'},    {"attempts", required_argument, NULL, 'a'},
        {"lease", required_argument, NULL, 'l'}, {"header", required_argument, NULL, 'h'},
        {"lines", no_argument, NULL, 'n'},       CLI_OPTIONS};
    dueq_draft draft = DUEQ_DRAFT;
    struct headers headers = {0};
    bool lines = false, delayed = false;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 'd':
            draft.delay_ms = cli_duration(cli, "delay", optarg);
            delayed = true;
            break;
        case 't':
            draft.at_ms = cli_point(cli, "at", optarg);
            break;
        case 'i':
            if (!optarg[0])
                cli_usage(cli, "--id is empty");
            draft.id = (dueq_bytes){optarg, strlen(optarg)};
            break;
        case 'a':
            draft.max_attempts =
                (uint32_t)cli_number(cli, "attempts", optarg, 0, DUEQ_MAX_MAX_ATTEMPTS);
            break;
        case 'l':
            draft.lease_ms = cli_duration(cli, "lease", optarg);
            break;
        case 'h':
            add_header(cli, &headers, optarg);
            break;
        case 'n':
            lines = true;
            break;
        }
    }
    draft.headers = headers.list;
    draft.header_count = headers.count;
    cli_words(cli, argc, 0, 1);
    if (delayed && draft.at_ms)
        cli_usage(cli, "--delay and --at exclude each other");
    const char *body = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (lines && (draft.id.size > 0 || (body && strcmp(body, "-") != 0)))
        cli_usage(cli, "--lines takes the bodies from standard input, and makes the ids");
    int code;
    if (cli_open(cli, argv, &code))
        code = lines ? push_lines(cli, &draft) : push_one(cli, &draft, body);
    free(headers.list);
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
    "  --id ID              the message's name, to find or cancel it by; a second push with the\n"
    "                       name of a living message stores nothing and ends with 1\n"
    "  --attempts N         deliveries before the message is set aside as dead (5; 0: any number)\n"
    "  --lease DURATION     how long a consumer may work on it (30s)\n"
    "  --header NAME=VALUE  may be repeated\n"
    "  --lines              a message for each line of standard input, in large batches\n"
    "\n"
    "Examples:\n"
    "  dueq push orders 'hello'\n"
    "  dueq push orders --delay 30m --id invoice-7 'not paid in time'\n"
    "  dueq push images --header type=image/png < picture.png\n"
    "  dueq push orders --lines < orders.txt > ids.txt\n",
    run};
