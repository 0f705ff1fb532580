#include "cli.h"

#include <string.h>

#include "json.h"

json_object *json_of_end(const char *queue, const dueq_end *from) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(queue));
#define JSON_BYTES(bytes) NULL /* below: with its own name if it is no text */
    DUEQ_END_FIELDS(JSON_FIELD)
#undef JSON_BYTES
    json_object_object_del(object, "result");
    if (from->has_result)
        json_add_bytes(object, "result", from->result);
    return object;
}

static void print_ms(const char *label, int64_t ms) {
    if (ms < 0)
        return;
    cli_label(label);
    fprintf(cli_out, "%lld.%03lld s\n", (long long)(ms / 1000), (long long)(ms % 1000));
}

void cli_print_end(const struct cli *cli, const dueq_end *end) {
    const int64_t now_ms = time_now_ms();
    if (cli->json) {
        json_line(json_of_end(cli->queue_name, end));
        return;
    }
    cli_label("queue");
    cli_put_text(cli->queue_name);
    fputc('\n', cli_out);
    cli_label("id");
    cli_put(end->id);
    fputc('\n', cli_out);
    cli_label(end->outcome);
    cli_print_time(end->time_ms, now_ms);
    cli_label("pushed");
    cli_print_time(end->created_ms, now_ms);
    print_ms("waited", end->waited_ms);
    print_ms("ran", end->ran_ms);
    cli_label("delivered");
    fprintf(cli_out, "%u\n", end->deliveries);
    if (end->host.size) {
        cli_label("ended by");
        cli_put(end->host);
        fprintf(cli_out, " process %lld\n", (long long)end->pid);
    }
    if (end->has_result || end->error.size) {
        cli_label(end->has_result ? "result" : "error");
        cli_put(end->has_result ? end->result : end->error);
        fputc('\n', cli_out);
    }
}

/* Prints the result alone, or why there is none. */
static int print_result(struct cli *cli, dueq_bytes id, const dueq_end *end) {
    bool acked = strcmp(end->outcome, "acked") == 0;
    if (cli->json) {
        cli_print_end(cli, end);
    } else if (acked && end->has_result) {
        cli_put_lines(end->result);
        fputc('\n', cli_out);
    } else if (!acked) {
        cli_log(CLI_ERROR, NULL, NULL, "%.*s: %s%s%.*s", (int)id.size, (const char *)id.data,
                end->outcome, end->error.size ? ": " : "", (int)end->error.size,
                (const char *)end->error.data);
    }
    return acked ? CLI_DONE : CLI_OUTCOME;
}

static int run_result(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"wait", required_argument, NULL, 'w'}, CLI_OPTIONS};
    int64_t wait_ms = 0;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        wait_ms = cli_patience(cli, optarg);
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const char *word = argv[optind];
    dueq_bytes id = {word, strlen(word)};
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_outcome_submit(cli->queue, id, wait_ms), &result);
    const dueq_end *end = dueq_result_end(result, 0);
    if (end) {
        code = print_result(cli, id, end);
    } else if (status == DUEQ_EMPTY && !cli->json) {
        cli_log(CLI_ERROR, dueq_status_name(status), NULL, "%s: the message has not ended", word);
        code = CLI_OUTCOME;
    } else if (status == DUEQ_NOT_FOUND && !cli->json) {
        cli_log(CLI_ERROR, dueq_status_name(status), "push it with --keep",
                "%s: the queue does not know how it ended, or not any more", word);
        code = CLI_OUTCOME;
    } else if (status >= 0) {
        json_line(json_of_item("id", id, status, 0));
        code = CLI_OUTCOME;
    } else {
        code = cli_report(cli, status, NULL);
    }
    dueq_result_free(result);
    return code;
}

const struct command result_command = {
    "result", "QUEUE ID", "Shows the result of a message that was pushed with --keep",
    "Prints the result that the message was acknowledged with, and nothing if it has none. A\n"
    "message that has not ended, that ended otherwise (dead, cancelled, expired, purged), or that\n"
    "the queue does not know any more, is told on standard error, and dueq ends with 1. With\n"
    "--json all is told in one line: when it ended, by whom, how long it waited and ran.\n"
    "\n"
    "Options:\n"
    "  --wait TIME  wait until it ends, at most so long: 10s, 5m; forever (0)\n"
    "\n"
    "Examples:\n"
    "  id=$(dueq push orders 'pack it' --keep 1h)\n"
    "  dueq result orders \"$id\" --wait 10s\n",
    run_result};
