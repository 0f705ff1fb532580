#include "cli.h"

#include <string.h>

#include "json.h"
#include "workers_view.h"

static json_object *json_leases(const dueq_worker *worker) {
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < worker->lease_count; i++) {
        const dueq_lease *from = dueq_worker_lease(worker, i);
        json_object *object = json_object_new_object();
        DUEQ_LEASE_FIELDS(JSON_FIELD)
        json_object_array_add(list, object);
    }
    return list;
}

void cli_json_worker(json_object *object, const dueq_worker *from) {
#define JSON_LEASES(ignored) NULL
    DUEQ_WORKER_FIELDS(JSON_FIELD)
#undef JSON_LEASES
    /* These are of one queue. */
    json_object_object_del(object, "leased");
    json_object_object_del(object, "running");
    json_object_object_del(object, "leases");
}

json_object *json_of_worker(const struct consumer *list, size_t count) {
    json_object *whole = json_object_new_object(), *queues = json_object_new_array();
    cli_json_worker(whole, list->worker);
    for (size_t i = 0; i < count; i++) {
        const dueq_worker *worker = list[i].worker;
        json_object *object = json_object_new_object();
        json_object_object_add(object, "queue", json_name(list[i].queue));
        json_object_object_add(object, "leased", json_object_new_int64(worker->leased));
        json_object_object_add(object, "running", json_object_new_int64(worker->running));
        json_object_object_add(object, "leases", json_leases(worker));
        json_object_array_add(queues, object);
    }
    json_object_object_add(whole, "queues", queues);
    return whole;
}

static void json_worker(const struct consumer *list, size_t count) {
    json_line(json_of_worker(list, count));
}

static void print_worker(const struct consumer *list, size_t count) {
    const dueq_worker *worker = list->worker;
    char up[TIME_ROOM], seen[TIME_ROOM], slots[TIME_ROOM] = "-";
    int64_t leased = 0, running = 0;
    for (size_t i = 0; i < count; i++) {
        leased += list[i].worker->leased;
        running += list[i].worker->running;
    }
    if (worker->slots)
        snprintf(slots, sizeof slots, "%lld", (long long)worker->slots);
    fprintf(cli_out, "%-7s %8lld %5s %7lld %6lld %8s %8s  ", worker_state(worker, running > 0),
            (long long)worker->pid, slots, (long long)running, (long long)leased,
            time_format_span(worker->now_ms - worker->since_ms, up),
            time_format_span(worker->now_ms - worker->seen_ms, seen));
    cli_put_brief(worker->host, 60);
    fputs("  ", cli_out);
    cli_put_brief(worker->program, 60);
    fputs("  ", cli_out);
    cli_put_brief(worker->version, 20);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "  ", cli_out);
        cli_put_text(list[i].queue);
    }
    fputc('\n', cli_out);
}

static int run_workers(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    struct workers_view workers = {0};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_no_partitions(cli);
    if (!cli_connect(cli, &code))
        return code;
    code = workers_report(cli, argv + optind, (size_t)(argc - optind), &workers);
    if (workers.count > 0 && !cli->json)
        fprintf(cli_out, "%-7s %8s %5s %7s %6s %8s %8s  %s\n", "STATE", "PID", "SLOTS", "RUNNING",
                "LEASED", "UP", "SEEN", "HOST  PROGRAM  VERSION  QUEUES");
    for (size_t i = 0, count; i < workers.count; i += count) {
        count = workers_queue_count(&workers, i);
        (cli->json ? json_worker : print_worker)(&workers.list[i], count);
    }
    workers_end(&workers);
    return code;
}

const struct command workers_command = {
    "workers", "[QUEUE...]", "Lists the consumers of queues, and what each holds",
    "A consumer with a heartbeat registers with its queues when it has run for two seconds, then\n"
    "every ten, or every 25 while it holds nothing; it leaves when it ends. Without a QUEUE the\n"
    "command lists those of all queues, for which it scans the names of all keys of the server. A\n"
    "line has\n"
    "  STATE    works, waits, or stops: it takes no further message, and ends when it has settled\n"
    "           those that it holds. offline: it was not seen for a minute, so it was killed\n"
    "           or is cut off; stopped: the same after it began to stop, as at a deploy that did\n"
    "           not wait for it. Both are shown for an hour\n"
    "  SLOTS    how many messages it works on at a time\n"
    "  RUNNING  how many of its messages had begun when it was seen\n"
    "  LEASED   the same with those that it has prefetched\n"
    "  UP       since when it runs\n"
    "  SEEN     when it registered last\n"
    "With --json also the messages that it had leased for more than a second. A QUEUE that cannot\n"
    "be read, as one on a node of a cluster that is away, is named in an error, and the others\n"
    "are listed.\n"
    "\n"
    "Examples:\n"
    "  dueq workers\n"
    "  dueq workers orders mails --json | jq -r 'select(.offline) | \"\\(.host) \\(.pid)\"'\n",
    run_workers};
