#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "workers_view.h"

/* The failures that a queue keeps, and whose process they were. */

enum { SHOWN = 100, ERROR_SHOWN = 80 };

static void add_page(struct history *history, dueq_result *page, int64_t created_ms) {
    size_t more = dueq_result_count(page);
    history->pages = cli_grown(history->pages, history->page_count + 1, sizeof(dueq_result *));
    history->pages[history->page_count++] = page;
    history->list = cli_grown(history->list, history->count + more + 1, sizeof *history->list);
    for (size_t i = 0; i < more; i++) {
        const dueq_failure *failure = dueq_result_failure(page, i);
        if (created_ms >= 0 && failure->created_ms != created_ms)
            continue;
        history->list[history->count++] = failure;
        history->crashed = history->crashed || failure->kind == DUEQ_CRASHED;
    }
}

/* The latest first. With partitions each page is sorted, but the list is not. */
static int by_time(const void *first, const void *second) {
    const dueq_failure *one = *(const dueq_failure *const *)first;
    const dueq_failure *other = *(const dueq_failure *const *)second;
    if (one->time_ms != other->time_ms)
        return one->time_ms < other->time_ms ? 1 : -1;
    if (one->delivery != other->delivery)
        return one->delivery < other->delivery ? 1 : -1;
    return (one->kind < other->kind) - (one->kind > other->kind);
}

/*
 * Reads the failures of an id. created_ms: only those of the message that was pushed then; -1: of
 * all messages with the id.
 */
static dueq_status read_pages(struct cli *cli, dueq_queue *queue, dueq_bytes id, int64_t created_ms,
                              struct history *history) {
    dueq_bytes cursor = {0};
    dueq_status status;
    do {
        dueq_result *page;
        status = cli_wait(cli, dueq_failures_submit(queue, id, cursor, DUEQ_MAX_BATCH), &page);
        if (status != DUEQ_OK)
            return status;
        add_page(history, page, created_ms);
        cursor = dueq_result_cursor(page);
    } while (cursor.size);
    qsort(history->list, history->count, sizeof *history->list, by_time);
    return DUEQ_OK;
}

dueq_status history_of(struct cli *cli, dueq_queue *queue, const dueq_message *message,
                       struct history *history) {
    return read_pages(cli, queue, message->id, message->created_ms, history);
}

void history_end(struct history *history) {
    for (size_t i = 0; i < history->page_count; i++)
        dueq_result_free(history->pages[i]);
    free(history->pages);
    free(history->list);
    *history = (struct history){0};
}

bool history_by(const dueq_failure *failure, const struct workers_view *workers, dueq_bytes *host,
                int64_t *pid) {
    const dueq_lease *lease;
    const struct consumer *holder = NULL;
    *host = failure->host;
    *pid = failure->pid;
    if (!host->size)
        holder = workers_holder(workers, failure->ticket, &lease);
    if (holder) {
        *host = holder->worker->host;
        *pid = holder->worker->pid;
    }
    return host->size > 0;
}

json_object *json_of_failure(const dueq_failure *from, const struct workers_view *workers) {
    json_object *object = json_object_new_object();
    dueq_bytes host;
    int64_t pid;
#define JSON_FAILURE_KIND(kind) json_name(dueq_failure_name(kind))
    DUEQ_FAILURE_FIELDS(JSON_FIELD)
#undef JSON_FAILURE_KIND
    if (history_by(from, workers, &host, &pid)) {
        json_object_object_add(object, "host", json_text(host));
        json_object_object_add(object, "pid", json_object_new_int64(pid));
    }
    return object;
}

/* failures */

static void print_failure(const dueq_failure *failure, const struct workers_view *workers) {
    char time[TIME_ROOM];
    dueq_bytes host;
    int64_t pid;
    fprintf(cli_out, "%-24s  %-7s  %8u  ", time_format(failure->time_ms, time),
            dueq_failure_name(failure->kind), failure->delivery);
    if (history_by(failure, workers, &host, &pid)) {
        cli_put_brief(host, 60);
        fprintf(cli_out, " %lld", (long long)pid);
    } else {
        fputc('-', cli_out);
    }
    fputs("  ", cli_out);
    cli_put(failure->id);
    if (failure->error.size) {
        fputs("  ", cli_out);
        cli_put_brief(failure->error, ERROR_SHOWN);
    }
    fputc('\n', cli_out);
}

static int run_failures(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"id", required_argument, NULL, 'i'}, {"count", required_argument, NULL, 'c'}, CLI_OPTIONS};
    struct history history = {0};
    struct workers_view workers = {0};
    dueq_bytes id = {0};
    size_t most = SHOWN;
    int option, code;
    while ((option = cli_option(cli, argc, argv, options)) != -1)
        if (option == 'i')
            id = (dueq_bytes){optarg, strlen(optarg)};
        else
            most = (size_t)cli_number(cli, "count", optarg, 1, INT32_MAX);
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    char *name = (char *)(uintptr_t)cli->queue_name;
    dueq_status status = read_pages(cli, cli->queue, id, -1, &history);
    if (status == DUEQ_OK && history.crashed)
        status = workers_read(cli, &name, 1, &workers);
    if (status == DUEQ_OK && history.count && !cli->json)
        fprintf(cli_out, "%-24s  %-7s  %8s  %s\n", "TIME", "KIND", "DELIVERY",
                "HOST PID  ID  ERROR");
    for (size_t i = 0; status == DUEQ_OK && i < history.count && i < most && cli_flush(); i++)
        if (cli->json)
            json_line(json_of_failure(history.list[i], &workers));
        else
            print_failure(history.list[i], &workers);
    workers_end(&workers);
    history_end(&history);
    return cli_report(cli, status, NULL);
}

const struct command failures_command = {
    "failures", "QUEUE", "Lists failures: when, which message, whose process, and the error",
    "Lists the latest failure first. A queue, or each partition, keeps the last 1000. KIND says\n"
    "what happened. failed: the message was retried. crashed: its lease ended. buried: a worker\n"
    "buried it. died: its attempts or crashes were used up. Of a crash the process is known for\n"
    "an hour, if its consumer had registered the message: see dueq workers.\n"
    "\n"
    "Options:\n"
    "  --id ID    only failures of this message\n"
    "  --count N  up to N failures (100)\n"
    "\n"
    "Examples:\n"
    "  dueq failures orders\n"
    "  dueq failures orders --id invoice-7 --json | jq -r .error\n",
    run_failures};
