#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "workers_view.h"

static dueq_bytes bytes_of(const char *text) { return (dueq_bytes){text, strlen(text)}; }

/* inspect */

/* A consumer that says it holds a message, and what it says; NULL: none. */
struct holder {
    const struct consumer *consumer;
    const dueq_lease *lease;
};

static void put_process(const dueq_worker *worker) {
    cli_put(worker->host);
    fprintf(cli_out, " process %lld, ", (long long)worker->pid);
    cli_put(worker->program);
    fputs(" with dueq ", cli_out);
    cli_put(worker->version);
}

static void json_holder(json_object *object, const struct holder *holder) {
    json_object *made = NULL;
    if (holder->consumer) {
        made = json_object_new_object();
        cli_json_worker(made, holder->consumer->worker);
        json_object_object_add(made, "leased_since_ms",
                               json_object_new_int64(holder->lease->since_ms));
        json_object_object_add(made, "running", json_object_new_boolean(holder->lease->running));
    }
    json_object_object_add(object, "holder", made);
}

json_object *json_of_inspected(const char *queue, const dueq_message *message,
                               const struct workers_view *workers, const struct history *history) {
    struct holder holder = {0};
    holder.consumer = workers_holder(workers, message->ticket, &holder.lease);
    uint32_t now = message->state == DUEQ_LEASED;
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(queue));
    json_object_object_add(object, "id", json_text(message->id));
    json_object_object_add(object, "state", json_name(dueq_state_name(message->state)));
    json_object_object_add(object, "time_ms", json_object_new_int64(message->time_ms));
    json_object_object_add(object, "now_ms", json_object_new_int64(message->now_ms));
    json_object_object_add(object, "pushed_ms", json_object_new_int64(message->created_ms));
    json_object_object_add(object, "deliveries", json_object_new_int64(message->deliveries));
    json_object_object_add(object, "failures", json_object_new_int64(message->attempt - now));
    json_object_object_add(object, "crashes", json_object_new_int64(message->crashes));
    json_object_object_add(object, "error", json_text(message->error));
    json_add_progress(object, message);
    if (message->batch.size)
        json_object_object_add(object, "batch", json_text(message->batch));
    if (message->batch_queue.size)
        json_object_object_add(object, "batch_queue", json_text(message->batch_queue));
    json_holder(object, &holder);
    json_object *list = json_object_new_array();
    for (size_t i = history->count; i-- > 0;)
        json_object_array_add(list, json_of_failure(history->list[i], workers));
    json_object_object_add(object, "history", list);
    return object;
}

/* Prints the history from the oldest failure to the latest. */
static void print_history(const struct history *history, const struct workers_view *workers,
                          int64_t now_ms) {
    for (size_t i = history->count; i-- > 0;) {
        const dueq_failure *failure = history->list[i];
        dueq_bytes host;
        int64_t pid;
        cli_label(dueq_failure_name(failure->kind));
        cli_put_time(failure->time_ms, now_ms);
        fprintf(cli_out, ", delivery %u", failure->delivery);
        if (history_by(failure, workers, &host, &pid)) {
            fputs(", by ", cli_out);
            cli_put(host);
            fprintf(cli_out, " process %lld", (long long)pid);
        } else if (failure->kind != DUEQ_DIED) {
            fputs(", by a consumer that is not known", cli_out);
        }
        if (failure->error.size) {
            fputs(": ", cli_out);
            cli_put(failure->error);
        }
        fputc('\n', cli_out);
    }
}

static void print_inspected(const struct cli *cli, const dueq_message *message,
                            const struct workers_view *workers, const struct history *history) {
    struct holder held = {0}, *holder = &held;
    held.consumer = workers_holder(workers, message->ticket, &held.lease);
    if (cli->json) {
        json_line(json_of_inspected(cli->queue_name, message, workers, history));
        return;
    }
    uint32_t now = message->state == DUEQ_LEASED;
    cli_label("queue");
    cli_put_text(cli->queue_name);
    fputc('\n', cli_out);
    cli_print_state(message);
    if (holder->consumer) {
        const dueq_worker *worker = holder->consumer->worker;
        cli_label("leased by");
        put_process(worker);
        if (worker->offline)
            fputs(worker->stopping ? ", which was stopped" : ", which is offline", cli_out);
        fputs("\n", cli_out);
        cli_label(holder->lease->running ? "runs since" : "leased since");
        cli_print_time(holder->lease->since_ms, message->now_ms);
    } else if (message->state == DUEQ_LEASED) {
        cli_label("leased by");
        fputs(
            "none that says so: it came less than 12 seconds ago, or its holder has no heartbeat\n",
            cli_out);
    }
    cli_print_progress(message);
    cli_label("pushed");
    cli_print_time(message->created_ms, message->now_ms);
    if (message->batch.size) {
        cli_label("batch");
        cli_put(message->batch);
        if (message->batch_queue.size) {
            fputs(" of the queue ", cli_out);
            cli_put(message->batch_queue);
        }
        fputc('\n', cli_out);
    }
    print_history(history, workers, message->now_ms);
    cli_label("delivered");
    fprintf(cli_out, "%u (%u failed, %u crashed)\n", message->deliveries, message->attempt - now,
            message->crashes);
    if (message->error.size > 0) {
        cli_label("error");
        cli_put(message->error);
        fputc('\n', cli_out);
    }
}

dueq_status inspect_read(struct cli *cli, const dueq_message *message, struct workers_view *workers,
                         struct history *history) {
    char *name = (char *)(uintptr_t)cli->queue_name;
    dueq_status status = history_of(cli, cli->queue, message, history);
    if (status == DUEQ_OK && (message->state == DUEQ_LEASED || history->crashed))
        status = workers_read(cli, &name, 1, workers);
    return status;
}

/* A user that may find messages may not be allowed to ask for ends and batches. */
static dueq_status not_known(dueq_status status) {
    return status == DUEQ_EMPTY || status == DUEQ_DENIED ? DUEQ_NOT_FOUND : status;
}

/* Shows a message of cli->queue. *status is the result of find. */
static int show(struct cli *cli, dueq_bytes id, dueq_status *status) {
    dueq_result *result;
    int code = CLI_DONE;
    dueq_queue_preview(cli->queue, CLI_PREVIEW);
    *status = cli_wait(cli, dueq_find_submit(cli->queue, id), &result);
    if (*status == DUEQ_OK) {
        const dueq_message *message = dueq_result_message(result, 0);
        struct workers_view workers = {0};
        struct history history = {0};
        cli_source(cli, dueq_result_queue(result));
        code = cli_report(cli, inspect_read(cli, message, &workers, &history), NULL);
        if (code == CLI_DONE)
            print_inspected(cli, message, &workers, &history);
        history_end(&history);
        workers_end(&workers);
    } else if (*status == DUEQ_NOT_FOUND) {
        /* Perhaps its end is kept. */
        dueq_result_free(result);
        *status = cli_wait(cli, dueq_outcome_submit(cli->queue, id, 0), &result);
        if (*status == DUEQ_OK)
            cli_print_end(cli, dueq_result_end(result, 0));
        *status = not_known(*status);
    }
    if (*status == DUEQ_NOT_FOUND && id.size <= DUEQ_MAX_BATCH_ID) {
        dueq_result_free(result);
        *status = cli_wait(cli, dueq_find_batch_submit(cli->queue, id), &result);
        if (*status == DUEQ_OK)
            cli_print_batch(cli, dueq_result_batch(result, 0));
        *status = not_known(*status);
    }
    dueq_result_free(result);
    return code;
}

static int run_inspect(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    struct cli_names names = {0};
    dueq_status status = DUEQ_NOT_FOUND;
    int code = CLI_DONE;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    if (optind == argc)
        cli_usage(cli, "the message is missing: dueq inspect %s", cli->command->arguments);
    cli_words(cli, argc, 0, 1);
    dueq_bytes id = bytes_of(argv[argc - 1]);
    bool named = argc - optind == 2;
    if (!named)
        cli_no_partitions(cli);
    if (!cli_connect(cli, &code))
        return code;
    if (named)
        cli_add_name(&names, bytes_of(argv[optind]));
    else
        code = cli_report(cli, cli_read_names(cli, &names), NULL);
    for (size_t i = 0; code == CLI_DONE && status == DUEQ_NOT_FOUND && i < names.count; i++)
        if (cli_open_queue(cli, names.list[i], &code)) {
            code = show(cli, id, &status);
            cli_close_queue(cli);
        }
    if (code == CLI_DONE && status != DUEQ_OK)
        code = cli_outcome(cli, "id", id, status);
    cli_free_names(&names);
    return code;
}

/* running */

enum { SHOWN = 20 };

static int by_age(const void *first, const void *second) {
    const struct running *one = first, *other = second;
    int64_t a = one->lease->since_ms, b = other->lease->since_ms;
    return (a > b) - (a < b);
}

/* The message, if it still has this ticket; NULL: it has not. Free *result. */
static const dueq_message *still_leased(struct cli *cli, const struct running *running,
                                        char name[DUEQ_MAX_NAME + 1], dueq_result **result,
                                        dueq_status *status) {
    dueq_bytes whole = bytes_of(running->consumer->queue), ticket = running->lease->ticket;
    dueq_queue *queue;
    *result = NULL;
    snprintf(name, DUEQ_MAX_NAME + 1, "%s", running->consumer->queue);
    if (running->lease->partition >= 0)
        dueq_partition_name(whole, (size_t)running->lease->partition, name);
    *status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    if (*status == DUEQ_OK) {
        dueq_queue_preview(queue, CLI_PREVIEW);
        *status = cli_wait(cli, dueq_find_submit(queue, running->lease->id), result);
    }
    dueq_queue_close(queue);
    const dueq_message *message = dueq_result_message(*result, 0);
    bool same = message && message->ticket.size == ticket.size &&
                memcmp(message->ticket.data, ticket.data, ticket.size) == 0;
    return same ? message : NULL;
}

json_object *json_of_running(const char *queue, const struct running *running,
                             const dueq_message *message) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(queue));
    json_object_object_add(object, "id", json_text(message->id));
    json_object_object_add(object, "time_ms", json_object_new_int64(message->time_ms));
    json_object_object_add(object, "deliveries", json_object_new_int64(message->deliveries));
    json_holder(object, &(struct holder){running->consumer, running->lease});
    return object;
}

static void print_running(const char *queue, const struct running *running,
                          const dueq_message *message) {
    const dueq_worker *worker = running->consumer->worker;
    char span[TIME_ROOM];
    fprintf(cli_out, "%10s %9s %10u %8lld  ",
            time_format_span(message->now_ms - running->lease->since_ms, span),
            worker_state(worker, running->lease->running), message->deliveries,
            (long long)worker->pid);
    cli_put_brief(worker->host, 60);
    fputs("  ", cli_out);
    cli_put_text(queue);
    fputs("  ", cli_out);
    cli_put(message->id);
    fputc('\n', cli_out);
}

dueq_status running_read(struct cli *cli, const struct workers_view *workers, size_t most,
                         running_see *see, void *context) {
    dueq_status status = DUEQ_OK;
    size_t count = 0, shown = 0;
    bool goes_on = true;
    for (size_t i = 0; i < workers->count; i++)
        count += workers->list[i].worker->lease_count;
    struct running *list = malloc((count + 1) * sizeof *list), *at = list;
    if (!list)
        cli_out_of_memory();
    for (size_t i = 0; i < workers->count; i++)
        for (size_t k = 0; k < workers->list[i].worker->lease_count; k++)
            *at++ =
                (struct running){&workers->list[i], dueq_worker_lease(workers->list[i].worker, k)};
    qsort(list, count, sizeof *list, by_age);
    for (size_t i = 0; i < count && shown < most && status >= 0 && goes_on; i++) {
        char name[DUEQ_MAX_NAME + 1];
        dueq_result *result;
        const dueq_message *message = still_leased(cli, &list[i], name, &result, &status);
        if (message)
            goes_on = see(context, name, &list[i], message, shown++);
        dueq_result_free(result);
    }
    free(list);
    return status < 0 ? status : DUEQ_OK;
}

static bool show_running(void *context, const char *queue, const struct running *running,
                         const dueq_message *message, size_t shown) {
    const struct cli *cli = context;
    if (!shown && !cli->json)
        fprintf(cli_out, "%10s %9s %10s %8s  %s\n", "LEASED FOR", "STATE", "DELIVERIES", "PID",
                "HOST  QUEUE  ID");
    if (cli->json)
        json_line(json_of_running(queue, running, message));
    else
        print_running(queue, running, message);
    return cli_flush();
}

static int run_running(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"count", required_argument, NULL, 'c'}, CLI_OPTIONS};
    struct workers_view workers = {0};
    size_t most = SHOWN;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        most = (size_t)cli_number(cli, "count", optarg, 1, INT32_MAX);
    cli_no_partitions(cli);
    if (!cli_connect(cli, &code))
        return code;
    code = workers_report(cli, argv + optind, (size_t)(argc - optind), &workers);
    dueq_status status = running_read(cli, &workers, most, show_running, cli);
    workers_end(&workers);
    return cli_worse(code, cli_report(cli, status, NULL));
}

const struct command inspect_command = {
    "inspect", "[QUEUE] ID", "Shows which consumer holds a message, and what happened to it before",
    "Without QUEUE the command looks in all queues, for which it scans the names of all keys of "
    "the\n"
    "server. A consumer with a heartbeat says at most 12 seconds later that it holds a message; "
    "one\n"
    "without, as dueq reserve, never. See dueq workers. Failures are those among the last 1000 of "
    "the\n"
    "queue: see dueq failures.\n"
    "\n"
    "If ID is that of a batch, and of no message, the command shows how its members ended, and\n"
    "its callbacks.\n"
    "\n"
    "Examples:\n"
    "  dueq inspect invoice-7\n"
    "  dueq inspect orders invoice-7 --json | jq .holder.host\n"
    "  dueq inspect orders invoice-7 --json | jq -r '.history[] | \"\\(.kind) \\(.error)\"'\n",
    run_inspect};

const struct command running_command = {
    "running", "[QUEUE...]", "Lists leased messages, the longest leased first",
    "Those that are still leased, the longest first, as consumers with a heartbeat say it: see "
    "dueq\n"
    "workers. STATE is what the consumer does with it: it works on it, it waits (it is "
    "prefetched),\n"
    "or the consumer is offline, and the message comes back when its lease ends.\n"
    "\n"
    "Options:\n"
    "  --count N  up to N messages (20)\n"
    "\n"
    "Examples:\n"
    "  dueq running\n"
    "  dueq running orders --json | jq -r '\"\\(.id) \\(.holder.host)\"'\n",
    run_running};
