#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_BYTES ((size_t)1024 * 1024) /* a batch of this many bytes is sent */

/* The lines of one call. */
struct batch {
    char *data;
    size_t size, room;
    size_t sizes[DUEQ_MAX_BATCH];
    size_t count;
};

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

struct lines {
    struct cli *cli;
    cli_batch act;
    const void *context;
    struct batch batch;
    unsigned long long done;
    bool failed;
};

/* Handles the lines of the batch, and empties it. */
static int send_batch(struct lines *lines) {
    struct batch *batch = &lines->batch;
    dueq_bytes items[DUEQ_MAX_BATCH];
    const char *at = batch->data;
    for (size_t i = 0; i < batch->count; i++) {
        items[i] = (dueq_bytes){at, batch->sizes[i]};
        at += batch->sizes[i];
    }
    int code = lines->act(lines->cli, items, batch->count, lines->context, &lines->failed);
    if (!lines->failed) {
        lines->done += batch->count;
        /* A program that reads the output gets each batch at once. */
        lines->failed = !cli_flush();
        if (lines->failed)
            code = cli_worse(code, cli_output_failed(true));
    }
    batch->size = batch->count = 0;
    return code;
}

int cli_each_line(struct cli *cli, const char *done, cli_batch act, const void *context) {
    /* On a terminal the printed ids already show the progress. */
    const bool shown = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    static struct lines lines;
    struct input input = {0};
    int code = CLI_DONE;
    dueq_bytes line;
    lines = (struct lines){.cli = cli, .act = act, .context = context};
    while (!lines.failed && input_line(cli, &input, &line)) {
        if (!add_line(&lines.batch, line)) {
            code = CLI_FAILED;
            lines.failed = true;
        } else if (lines.batch.count == DUEQ_MAX_BATCH || lines.batch.size >= BATCH_BYTES ||
                   !input_ready(&input)) {
            code = cli_worse(code, send_batch(&lines));
            if (shown)
                fprintf(stderr, "\r%llu %s", lines.done, done);
        }
    }
    if (!lines.failed && lines.batch.count > 0)
        code = cli_worse(code, send_batch(&lines));
    if (input.failed)
        code = cli_worse(code, CLI_FAILED);
    if (shown)
        fprintf(stderr, "\r%llu %s\n", lines.done, done);
    if (lines.failed)
        cli_log(CLI_INFO, NULL, NULL, "the first %llu lines were %s; continue after them",
                lines.done, done);
    input_end(&input);
    free(lines.batch.data);
    return code;
}
