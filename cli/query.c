#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"

enum { PAGE = 100, MADE_ID = 22, ERROR_SHOWN = 80 };

static int run_find(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 1, &code))
        return code;
    const char *id = argv[optind];
    dueq_result *result;
    dueq_status status =
        cli_wait(cli, dueq_find_submit(cli->queue, (dueq_bytes){id, strlen(id)}), &result);
    if (status == DUEQ_OK) {
        cli_source(cli, dueq_result_queue(result));
        cli_print_message(cli, dueq_result_message(result, 0));
    }
    dueq_result_free(result);
    return status == DUEQ_OK ? CLI_DONE
                             : cli_outcome(cli, "id", (dueq_bytes){id, strlen(id)}, status);
}

/* Prints an id, padded to the width of its column. */
static void put_id(dueq_bytes id) {
    cli_put(id);
    if (id.size < MADE_ID)
        fprintf(cli_out, "%*s", MADE_ID - (int)id.size, "");
}

static void print_head(dueq_state state) {
    static const char *const time[] = {"", "AGE", "DUE IN", "ENDS IN", "DEAD FOR"};
    fprintf(cli_out, "%9s %9s %9s  %-*s  %s\n", time[state], "ATTEMPT", "SIZE", MADE_ID, "ID",
            "ERROR");
}

json_object *json_of_damaged(const char *queue, dueq_bytes id, dueq_state state) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(queue));
    json_object_object_add(object, "id", json_text(id));
    json_object_object_add(object, "state", json_name(dueq_state_name(state)));
    json_object_object_add(object, "status", json_name(dueq_status_name(DUEQ_CORRUPT)));
    return object;
}

static void print_damaged(const struct cli *cli, dueq_bytes id, dueq_state state) {
    if (cli->json) {
        json_line(json_of_damaged(cli->queue_name, id, state));
        return;
    }
    fprintf(cli_out, "%9s %9s %9s  ", "-", "-", "-");
    put_id(id);
    fputs("  damaged: it cannot be read\n", cli_out);
}

static void print_row(const dueq_message *message) {
    char span[TIME_ROOM], attempt[TIME_ROOM];
    bool ahead = message->state == DUEQ_DELAYED || message->state == DUEQ_LEASED;
    int64_t from_ms = message->state == DUEQ_READY ? message->created_ms : message->time_ms;
    int64_t away_ms = ahead ? from_ms - message->now_ms : message->now_ms - from_ms;
    if (message->max_attempts > 0)
        snprintf(attempt, sizeof attempt, "%u of %u", message->attempt, message->max_attempts);
    else
        snprintf(attempt, sizeof attempt, "%u", message->attempt);
    fprintf(cli_out, "%9s %9s %9zu  ", time_format_span(away_ms > 0 ? away_ms : 0, span), attempt,
            message->body_size);
    if (message->error.size > 0) {
        put_id(message->id);
        fputs("  ", cli_out);
        cli_put_brief(message->error, ERROR_SHOWN);
    } else {
        cli_put(message->id);
    }
    fputc('\n', cli_out);
}

/* Prints up to `count` messages, page by page. */
static int peek(struct cli *cli, dueq_state state, size_t count, bool preview) {
    dueq_result *page = NULL;
    size_t shown = 0, damaged = 0;
    dueq_status status;
    dueq_queue_preview(cli->queue, preview || !cli->json ? CLI_PREVIEW : 0);
    do {
        dueq_result *next;
        size_t most = count - shown < PAGE ? count - shown : PAGE;
        status = cli_wait(cli, dueq_peek_submit(cli->queue, state, dueq_result_cursor(page), most),
                          &next);
        dueq_result_free(page);
        page = next;
        if (shown == 0 && dueq_result_count(page) > 0 && !cli->json)
            print_head(state);
        cli_source(cli, dueq_result_queue(page));
        for (size_t i = 0; i < dueq_result_count(page); i++, shown++) {
            const dueq_message *message = dueq_result_message(page, i);
            if (!message) {
                print_damaged(cli, dueq_result_id(page, i), state);
                damaged++;
            } else if (cli->json && preview) {
                json_line(json_of_preview(cli->queue_name, message));
            } else if (cli->json) {
                cli_json_message(cli, message);
            } else {
                print_row(message);
            }
        }
    } while (status == DUEQ_OK && shown < count && dueq_result_cursor(page).size > 0 &&
             cli_flush());
    if (dueq_result_cursor(page).size > 0 && isatty(STDERR_FILENO))
        cli_log(CLI_INFO, NULL, NULL, "there are more messages: show them with --count N");
    dueq_result_free(page);
    if (damaged > 0) {
        cli_log(CLI_ERROR, dueq_status_name(DUEQ_CORRUPT), "cancel them by their ids",
                "%zu of %zu messages are damaged", damaged, shown);
    }
    return cli_worse(damaged > 0 ? CLI_FAILED : CLI_DONE, cli_report(cli, status, NULL));
}

static int run_peek(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"count", required_argument, NULL, 'c'}, {"preview", no_argument, NULL, 'p'}, CLI_OPTIONS};
    size_t count = PAGE;
    bool preview = false;
    int option, code;
    while ((option = cli_option(cli, argc, argv, options)) != -1)
        if (option == 'p')
            preview = true;
        else
            count = (size_t)cli_number(cli, "count", optarg, 1, INT32_MAX);
    cli_words(cli, argc, 1, 1);
    dueq_state state = cli_state(cli, argv[optind + 1]);
    return cli_open(cli, argv, &code) ? peek(cli, state, count, preview) : code;
}

const struct command find_command = {"find", "QUEUE ID",
                                     "Shows a message in any state, without changing it",
                                     "Example:\n"
                                     "  dueq find orders invoice-7 --json\n",
                                     run_find};

const struct command peek_command = {
    "peek", "QUEUE STATE", "Shows the messages of a state, without changing them",
    "STATE is ready (in the order of delivery), delayed, leased, dead or outbox (by their time).\n"
    "A line has the age or the time left, the attempts, the size of the body in bytes, the id,\n"
    "and the start of the last error, escaped. Of a damaged message the line has only the id\n"
    "(with --json the status CORRUPT too), and dueq ends with 4.\n"
    "\n"
    "Options:\n"
    "  --count N  up to N messages (100)\n"
    "  --json     whole messages, one object a line\n"
    "  --preview  with --json: `preview`, the first 256 bytes of the body, and `size`, its size\n"
    "             in bytes, instead of `body`\n"
    "\n"
    "Examples:\n"
    "  dueq peek orders dead\n"
    "  dueq peek orders dead --count 100000 --json > dead.jsonl\n",
    run_peek};
