#include "cli.h"

#include <string.h>

#include "json.h"

/* Batches: open-batch, find-batch, batches and cancel-batch. */

static dueq_bytes text(const char *word) {
    return word ? (dueq_bytes){word, strlen(word)} : (dueq_bytes){0};
}

int cli_batch_outcome(const struct cli *cli, dueq_bytes id, dueq_status status) {
    const char *said = NULL;
    if (status == DUEQ_NOT_FOUND)
        said = "the queue has no such batch: it was never opened, or ended longer ago than its "
               "record is kept";
    else if (status == DUEQ_DUPLICATE)
        said = "the id is taken: the queue has a batch of this id, or its record";
    if (!said || cli->json)
        return cli_outcome(cli, "id", id, status);
    cli_log(CLI_ERROR, dueq_status_name(status), NULL, "%.*s: %s", (int)id.size,
            (const char *)id.data, said);
    return CLI_OUTCOME;
}

json_object *json_of_batch(const dueq_batch *from) {
    json_object *object = json_object_new_object();
    DUEQ_BATCH_FIELDS(JSON_FIELD)
    return object;
}

static void print_head(void) {
    fprintf(cli_out, "%-6s %9s %9s %9s %9s %9s %9s %9s %9s %9s  %s\n", "STATE", "PUSHED", "LEFT",
            "ACKED", "DEAD", "CANCELLED", "EXPIRED", "PURGED", "OPEN FOR", "CLOSES IN", "BATCH");
}

static void put_span(bool known, int64_t ms) {
    char span[TIME_ROOM];
    fprintf(cli_out, " %9s", known ? time_format_span(ms < 0 ? 0 : ms, span) : "-");
}

static bool is_open(const dueq_batch *batch) {
    return batch->state.size == strlen("open") && memcmp(batch->state.data, "open", 4) == 0;
}

static void print_batch(const dueq_batch *batch) {
    const int64_t numbers[] = {batch->pushed,    batch->left,    batch->acked, batch->dead,
                               batch->cancelled, batch->expired, batch->purged};
    fprintf(cli_out, "%-6.*s", (int)batch->state.size, (const char *)batch->state.data);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(cli_out, " %9lld", (long long)numbers[i]);
    put_span(true, (batch->ended_ms ? batch->ended_ms : batch->now_ms) - batch->opened_ms);
    put_span(is_open(batch), batch->closes_ms - batch->now_ms);
    fputs("  ", cli_out);
    cli_put_brief(batch->id, DUEQ_MAX_BATCH_ID);
    fputc('\n', cli_out);
}

static void print_callback(const char *name, dueq_bytes id, dueq_bytes queue) {
    if (!id.size)
        return;
    cli_label(name);
    cli_put(id);
    if (queue.size) {
        fputs(" in the queue ", cli_out);
        cli_put(queue);
    }
    fputc('\n', cli_out);
}

void cli_print_batch(const struct cli *cli, const dueq_batch *batch) {
    if (cli->json) {
        json_line(json_of_batch(batch));
        return;
    }
    cli_label("queue");
    cli_put_text(cli->queue_name);
    fputc('\n', cli_out);
    cli_label("batch");
    cli_put(batch->id);
    fputc('\n', cli_out);
    cli_label("state");
    cli_put(batch->state);
    fputc('\n', cli_out);
    cli_label("members");
    fprintf(cli_out, "%lld, of which %lld have not ended\n", (long long)batch->pushed,
            (long long)batch->left);
    cli_label("ended");
    fprintf(cli_out, "%lld acked, %lld dead, %lld cancelled, %lld expired, %lld purged\n",
            (long long)batch->acked, (long long)batch->dead, (long long)batch->cancelled,
            (long long)batch->expired, (long long)batch->purged);
    cli_label("opened");
    cli_print_time(batch->opened_ms, batch->now_ms);
    cli_label(is_open(batch) ? "closes" : "closed");
    cli_print_time(batch->closes_ms, batch->now_ms);
    if (batch->ended_ms) {
        cli_label("over");
        cli_print_time(batch->ended_ms, batch->now_ms);
    }
    print_callback("then", batch->then_id, batch->then_queue);
    print_callback("catch", batch->catch_id, batch->catch_queue);
    print_callback("finally", batch->finally_id, batch->finally_queue);
}

static int run_find_batch(struct cli *cli, int argc, char *argv[]) {
    dueq_result *found;
    int code;
    if (!cli_begin(cli, argc, argv, 1, &code))
        return code;
    const dueq_bytes id = text(argv[optind]);
    dueq_status status = cli_wait(cli, dueq_find_batch_submit(cli->queue, id), &found);
    const dueq_batch *batch = dueq_result_batch(found, 0);
    if (batch && cli->json) {
        json_line(json_of_batch(batch));
    } else if (batch) {
        print_head();
        print_batch(batch);
    }
    code = batch ? CLI_DONE : cli_batch_outcome(cli, id, status);
    dueq_result_free(found);
    return code;
}

static int run_batches(struct cli *cli, int argc, char *argv[]) {
    dueq_result *page = NULL;
    dueq_status status;
    size_t shown = 0;
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    do {
        dueq_result *next;
        status = cli_wait(
            cli, dueq_batches_submit(cli->queue, dueq_result_cursor(page), DUEQ_MAX_BATCH), &next);
        dueq_result_free(page);
        page = next;
        for (size_t i = 0; i < dueq_result_count(page); i++) {
            const dueq_batch *batch = dueq_result_batch(page, i);
            if (cli->json) {
                json_line(json_of_batch(batch));
                continue;
            }
            if (!shown++)
                print_head();
            print_batch(batch);
        }
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    return cli_report(cli, status, NULL);
}

enum { THEN = 't', CATCH = 'c', FINALLY = 'f', OPEN = 'o', KEEP = 'k', OF = 'q' };

static int run_open_batch(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"then", required_argument, NULL, THEN},       {"catch", required_argument, NULL, CATCH},
        {"finally", required_argument, NULL, FINALLY}, {"open", required_argument, NULL, OPEN},
        {"keep", required_argument, NULL, KEEP},       CLI_OPTIONS};
    dueq_batch_options batch = DUEQ_BATCH;
    dueq_draft then = DUEQ_DRAFT, catch = DUEQ_DRAFT, finally = DUEQ_DRAFT;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case THEN:
            then.body = text(optarg);
            batch.then_job = &then;
            break;
        case CATCH:
            catch.body = text(optarg);
            batch.catch_job = &catch;
            break;
        case FINALLY:
            finally.body = text(optarg);
            batch.finally_job = &finally;
            break;
        case OPEN:
            batch.open_ms = cli_duration(cli, "open", optarg);
            break;
        default:
            batch.keep_ms = cli_duration(cli, "keep", optarg);
            break;
        }
    }
    cli_words(cli, argc, 1, 1);
    batch.id = text(argv[optind + 1]);
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_status submitted = dueq_open_batch_submit(cli->queue, &batch);
    return cli_batch_outcome(cli, batch.id, cli_wait(cli, submitted, NULL));
}

static int run_cancel_batch(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"of", required_argument, NULL, OF}, CLI_OPTIONS};
    const char *home = NULL;
    dueq_result *page = NULL;
    dueq_status status;
    size_t cancelled = 0;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        home = optarg;
    cli_words(cli, argc, 1, 1);
    const char *id = argv[optind + 1];
    if (!cli_open(cli, argv, &code))
        return code;
    do {
        dueq_result *next;
        status = cli_wait(cli,
                          dueq_cancel_batch_submit(cli->queue, text(id), text(home),
                                                   dueq_result_cursor(page), DUEQ_MAX_BATCH),
                          &next);
        dueq_result_free(page);
        page = next;
        cancelled += dueq_result_purged(page);
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    cli_sum(cli, cancelled, "cancelled");
    return cli_report(cli, status, NULL);
}

const struct command find_batch_command = {
    "find-batch", "QUEUE ID", "Shows a batch: how many members it has, and how they ended",
    "STATE is open, closed (only its members add members) or ended. LEFT is how many members\n"
    "have not ended. CLOSES IN: a batch that is still open closes by itself then. dueq inspect\n"
    "also shows its callbacks.\n"
    "\n"
    "Example:\n"
    "  dueq find-batch orders invoices-2026-11\n",
    run_find_batch};

const struct command batches_command = {
    "batches", "QUEUE", "Lists the batches of a queue that have not ended",
    "A line has the columns of dueq find-batch. A batch that stays open has lost its opener: it\n"
    "closes by its time limit, or by dueq close-batch.\n"
    "\n"
    "Examples:\n"
    "  dueq batches orders\n"
    "  dueq batches orders --json | jq -r 'select(.left == 0) | .id'\n",
    run_batches};

const struct command open_batch_command = {
    "open-batch", "QUEUE ID", "Opens a batch, which counts how its members end",
    "dueq push --batch ID makes messages members. The batch ends when it is closed (dueq\n"
    "close-batch) and all members have ended: acknowledged, dead, cancelled, expired or purged.\n"
    "\n"
    "Options:\n"
    "  --then BODY      push this when it ends and all members were acknowledged\n"
    "  --catch BODY     push this when the first member dies\n"
    "  --finally BODY   push this when it ends\n"
    "  --open DURATION  it closes by itself after this time (1d)\n"
    "  --keep DURATION  dueq find-batch shows it for this time after its end (1d)\n"
    "\n"
    "Ends with 1 (DUPLICATE) when there is a batch of this id.\n"
    "\n"
    "Example:\n"
    "  dueq open-batch orders invoices-2026-11 --finally report\n",
    run_open_batch};

const struct command cancel_batch_command = {
    "cancel-batch", "QUEUE ID", "Cancels the members of a batch that wait",
    "Members that are ready or delayed in this queue are cancelled. Leased and dead ones stay.\n"
    "\n"
    "Options:\n"
    "  --of QUEUE  the batch is one of this queue\n"
    "\n"
    "Example:\n"
    "  dueq cancel-batch orders invoices-2026-11\n",
    run_cancel_batch};
