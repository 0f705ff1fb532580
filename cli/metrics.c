#include "queue_row.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"

/*
 * This writes the text format of Prometheus:
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */

#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* One queue or partition. */
struct row {
    struct queue_row *seen;
    const char *part; /* of a partition: "#NUMBER" in its name; else NULL */
    dueq_timings timings;
    bool timed;
    /* How long a consumer has worked on one message, at most; 0: none works. */
    int64_t longest_ms;
};

struct table {
    struct queue_rows queues;
    struct row *rows;
    size_t count;
    bool up; /* the server answered */
};

/* Reading */

static dueq_status read_timings(struct cli *cli, struct row *row) {
    dueq_queue *queue;
    dueq_result *rates = NULL;
    const char *name = row->seen->queue;
    dueq_status status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = cli_wait(cli, dueq_rates_submit(queue, 1, 0), &rates);
    const dueq_timings *timings = dueq_result_timings(rates);
    row->timed = timings != NULL;
    if (timings)
        row->timings = *timings;
    dueq_result_free(rates);
    dueq_queue_close(queue);
    return status;
}

static dueq_status read_row(struct cli *cli, const struct workers_view *workers, struct row *row) {
    const dueq_lease *longest;
    const struct consumer *busy = workers_longest(workers, row->seen->queue, &longest);
    row->longest_ms = busy ? busy->worker->now_ms - longest->since_ms : 0;
    row->part = cli_partition_mark(row->seen->queue);
    if (row->seen->parts)
        return DUEQ_OK;
    queue_row_read(cli, NULL, false, row->seen);
    return row->seen->status ? row->seen->status : read_timings(cli, row);
}

static void end_table(struct table *table) {
    free(table->rows);
    queue_rows_end(&table->queues);
}

/*
 * Reads the queues of the names, or all queues. Logs each queue that fails, and leaves it out.
 * Returns the exit code. lacks_parts: NULL, or set to true if a queue of the names has partitions.
 * Then the reading stops there, and `names` needs the names of the partitions.
 */
static int read_rows(struct cli *cli, const struct cli_names *names, struct table *table,
                     bool *lacks_parts) {
    *table = (struct table){0};
    int code =
        cli_report(cli, queue_rows_begin(cli, names->list, names->count, &table->queues), NULL);
    table->up = code == CLI_DONE;
    if (!table->up)
        return code;
    table->rows = calloc(table->queues.count + 1, sizeof *table->rows);
    if (!table->rows)
        cli_out_of_memory();
    for (size_t i = 0; i < table->queues.count; i++) {
        struct row *row = &table->rows[table->count];
        row->seen = &table->queues.list[i];
        dueq_status status = read_row(cli, &table->queues.workers, row);
        if (lacks_parts && (row->seen->parts || status == DUEQ_LAYOUT)) {
            *lacks_parts = true;
            return code;
        }
        if (status == DUEQ_OK)
            table->count++;
        code = cli_worse(code, cli_report(cli, status, row->seen->queue));
        if (status != DUEQ_OK)
            *row = (struct row){0};
    }
    health_read(cli, &table->queues.healths);
    return code;
}

/* Reads all queues, or those that were named and their partitions. Returns as read_rows(). */
static int read_table(struct cli *cli, char *named[], size_t count, struct table *table) {
    struct cli_names names = {0};
    bool lacks_parts = false;
    for (size_t i = 0; i < count; i++)
        cli_add_name(&names, (dueq_bytes){named[i], strlen(named[i])});
    int code = read_rows(cli, &names, table, count ? &lacks_parts : NULL);
    if (lacks_parts) {
        end_table(table);
        /* A user who may not list the queues gets the others, and why this one cannot be read. */
        int listed = cli_report(cli, cli_add_partitions(cli, &names), NULL);
        code = cli_worse(listed, read_rows(cli, &names, table, NULL));
    }
    cli_free_names(&names);
    return code;
}

/* Writing */

static void put_head(FILE *out, const char *name, const char *type, const char *help) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes NAME{LABEL="VALUE". The value ends at its NUL, or at `end`. */
static void put_label(FILE *out, const char *name, const char *label, const char *value,
                      const char *end) {
    fprintf(out, "%s{%s=\"", name, label);
    for (const char *at = value; *at && at != end; at++) {
        if (*at == '\\' || *at == '"')
            fputc('\\', out);
        fputc(*at, out);
    }
    fputc('"', out);
}

/* Writes NAME{queue="...",partition="..."; more labels may follow. */
static void put_name(FILE *out, const char *name, const struct row *row) {
    put_label(out, name, "queue", row->seen->queue, row->part);
    if (row->part)
        fprintf(out, ",partition=\"%s\"", row->part + 1);
}

static void put_seconds(FILE *out, int64_t ms) {
    fprintf(out, "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
}

static void put_states(FILE *out, const struct table *table) {
    put_head(out, "dueq_messages", "gauge", "Messages of the queue, by state.");
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const int64_t numbers[] = {[DUEQ_READY] = row->seen->counts.ready,
                                   [DUEQ_DELAYED] = row->seen->counts.delayed,
                                   [DUEQ_LEASED] = row->seen->counts.leased,
                                   [DUEQ_DEAD] = row->seen->counts.dead,
                                   [DUEQ_OUTBOX] = row->seen->counts.outbox};
        for (int state = DUEQ_READY; !row->seen->parts && state <= DUEQ_OUTBOX; state++) {
            char name[32];
            const char *from = dueq_state_name((dueq_state)state);
            size_t size = 0;
            for (; from[size] && size + 1 < sizeof name; size++)
                name[size] = (char)(from[size] | 0x20);
            name[size] = '\0';
            put_name(out, "dueq_messages", row);
            fprintf(out, ",state=\"%s\"} %lld\n", name, (long long)numbers[state]);
        }
    }
}

/* A metric of each queue: a counter since the queue was created, or a gauge. */
struct number {
    const char *name, *type, *help;
    int64_t (*value)(const struct row *row);
    bool seconds; /* the value is in milliseconds, and is written in seconds */
    bool wholes;  /* the queue has this metric, not its partitions */
};

#define COUNTER(event)                                                                             \
    static int64_t event(const struct row *row) { return row->seen->counts.event; }
COUNTER(pushed)
COUNTER(reserved)
COUNTER(acked)
COUNTER(retried)
COUNTER(expired)
COUNTER(died)
COUNTER(cancelled)
COUNTER(purged)
COUNTER(quarantined)
COUNTER(paused)

static int64_t oldest(const struct row *row) {
    return row->seen->counts.oldest_ms ? row->seen->counts.now_ms - row->seen->counts.oldest_ms : 0;
}

static int64_t overdue(const struct row *row) {
    bool over = row->seen->counts.next_event_ms &&
                row->seen->counts.next_event_ms < row->seen->counts.now_ms;
    return over ? row->seen->counts.now_ms - row->seen->counts.next_event_ms : 0;
}

static int64_t refused(const struct row *row) {
    return row->seen->counts.outbox && row->seen->counts.outbox_error[0];
}

static int64_t workers(const struct row *row) { return row->seen->workers; }
static int64_t offline(const struct row *row) { return row->seen->offline; }
static int64_t longest(const struct row *row) { return row->longest_ms; }

static const struct number numbers[] = {
    {"dueq_pushed_total", "counter", "Messages stored.", pushed, false, false},
    {"dueq_reserved_total", "counter", "Deliveries to consumers.", reserved, false, false},
    {"dueq_acked_total", "counter", "Messages acknowledged.", acked, false, false},
    {"dueq_retried_total", "counter", "Deliveries that failed.", retried, false, false},
    {"dueq_expired_total", "counter", "Messages not delivered within their time to live.", expired,
     false, false},
    {"dueq_died_total", "counter",
     "Messages that became dead, moved to a dead-letter queue or were dropped.", died, false,
     false},
    {"dueq_cancelled_total", "counter", "Messages cancelled or replaced.", cancelled, false, false},
    {"dueq_purged_total", "counter", "Messages purged.", purged, false, false},
    {"dueq_quarantined_total", "counter", "Damaged entries quarantined.", quarantined, false,
     false},
    {"dueq_oldest_ready_age_seconds", "gauge",
     "How long the oldest ready message has been ready; 0: there is none.", oldest, true, false},
    {"dueq_overdue_seconds", "gauge",
     "How long the earliest due time or end of a lease is past, while no consumer has looked; 0: "
     "none is past.",
     overdue, true, false},
    {"dueq_paused", "gauge", "1: the queue is paused.", paused, false, false},
    {"dueq_outbox_refused", "gauge", "1: another queue refuses messages of the outbox.", refused,
     false, false},
    {"dueq_workers", "gauge", "Consumers registered with the queue.", workers, false, true},
    {"dueq_offline_workers", "gauge",
     "Consumers that ceased to register in the last hour, and were not stopping.", offline, false,
     true},
    {"dueq_longest_run_seconds", "gauge",
     "How long the message runs that registered consumers have worked on longest; 0: none runs.",
     longest, true, true},
};

static void put_number(FILE *out, const struct number *number, const struct table *table) {
    put_head(out, number->name, number->type, number->help);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (number->wholes ? row->part != NULL : row->seen->parts > 0)
            continue;
        int64_t value = number->value(row);
        put_name(out, number->name, row);
        fputs("} ", out);
        if (number->seconds)
            put_seconds(out, value > 0 ? value : 0);
        else
            fprintf(out, "%lld", (long long)value);
        fputc('\n', out);
    }
}

/*
 * Whether the bound is a bucket of the histogram. Prometheus stores a series for each bucket, so
 * the histogram has only three buckets a decade.
 */
static bool is_one_two_five(int64_t bound) {
    while (bound && bound % 10 == 0)
        bound /= 10;
    return bound == 1 || bound == 2 || bound == 5;
}

static void put_timing(FILE *out, const char *name, const struct row *row,
                       const dueq_timing *timing) {
    char part[64];
    int64_t sum = 0;
    snprintf(part, sizeof part, "%s_bucket", name);
    for (size_t i = 0; i < DUEQ_TIMING_BUCKETS - 1; i++) {
        const int64_t bound = dueq_timing_bound_ms(i);
        sum += timing->counts[i];
        if (!is_one_two_five(bound))
            continue;
        put_name(out, part, row);
        fprintf(out, ",le=\"%g\"} %lld\n", (double)bound / 1000, (long long)sum);
    }
    sum += timing->counts[DUEQ_TIMING_BUCKETS - 1];
    put_name(out, part, row);
    fprintf(out, ",le=\"+Inf\"} %lld\n", (long long)sum);
    snprintf(part, sizeof part, "%s_sum", name);
    put_name(out, part, row);
    fputs("} ", out);
    put_seconds(out, timing->sum_ms);
    snprintf(part, sizeof part, "%s_count", name);
    fputc('\n', out);
    put_name(out, part, row);
    fprintf(out, "} %lld\n", (long long)sum);
}

static void put_timings(FILE *out, const struct table *table, bool late) {
    const char *name = late ? "dueq_lateness_seconds" : "dueq_run_seconds";
    put_head(out, name, "histogram",
             late ? "From when a message was due, or became ready, until its delivery; only of "
                    "deliveries that consumers measured."
                  : "From the delivery of a message until its consumer settled it.");
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (row->timed)
            put_timing(out, name, row, late ? &row->timings.late : &row->timings.run);
    }
}

static int64_t used(const struct health *health) { return health->used; }
static int64_t limit(const struct health *health) { return health->limit; }
static int64_t evicting(const struct health *health) { return health->evicts; }
static int64_t evicted(const struct health *health) { return health->evicted; }
static int64_t writable(const struct health *health) { return health_writable(health); }

static void put_server(FILE *out, const struct table *table, const char *name, const char *type,
                       const char *help, int64_t (*value)(const struct health *health)) {
    put_head(out, name, type, help);
    for (size_t i = 0; i < table->queues.healths.count; i++) {
        const struct health *health = &table->queues.healths.list[i];
        put_label(out, name, "server", health->server, NULL);
        fprintf(out, "} %lld\n", (long long)value(health));
    }
}

/* Writes the diagnoses that dueq top and dueq web show. */
static void put_trouble(FILE *out, const struct table *table) {
    static const char name[] = "dueq_trouble";
    struct diagnosis why;
    put_head(out, name, "gauge",
             "1: the queue or the server has this trouble. Its level: act (a person must act now), "
             "look (look at it some time), meant (somebody wants this state).");
    for (size_t i = 0; i < table->queues.healths.count; i++) {
        const struct health *health = &table->queues.healths.list[i];
        if (!diagnose_server(health, false, &why))
            continue;
        put_label(out, name, "server", health->server, NULL);
        fprintf(out, ",cause=\"%s\",level=\"%s\"} 1\n", cause_code(why.cause),
                severity_name(why.level));
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (row->seen->parts || !diagnose_queue(&table->queues, row->seen, &why))
            continue;
        put_name(out, name, row);
        fprintf(out, ",cause=\"%s\",level=\"%s\"} 1\n", cause_code(why.cause),
                severity_name(why.level));
    }
}

static void put_table(FILE *out, const struct table *table) {
    put_head(out, "dueq_up", "gauge", "1: the server answered.");
    fprintf(out, "dueq_up %d\n", table->up);
    if (!table->up)
        return;
    put_server(out, table, "dueq_server_writable", "gauge",
               "1: the server takes writes; 0: it refuses them, or those that take memory.",
               writable);
    put_server(out, table, "dueq_memory_bytes", "gauge",
               "Memory that the server uses, as far as its limit counts it.", used);
    put_server(out, table, "dueq_memory_limit_bytes", "gauge",
               "The server's maxmemory; 0: it has none.", limit);
    put_server(out, table, "dueq_evicting", "gauge",
               "1: the server may evict keys when its memory is full.", evicting);
    put_server(out, table, "dueq_evicted_keys_total", "counter",
               "Keys that the server evicted since its start because its memory was full.",
               evicted);
    put_trouble(out, table);
    put_states(out, table);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(out, &numbers[i], table);
    put_timings(out, table, true);
    put_timings(out, table, false);
}

/* The command */

struct job {
    pthread_mutex_t lock; /* guards the client: requests come at the same time */
    struct cli *cli;
    char **names;
    size_t count;
    struct http_listener listener;
};

static bool admit(const struct http_request *request, struct http_answer *answer, void *context) {
    const struct job *job = context;
    const bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    const bool here = strcmp(request->path, "/metrics") == 0;
    if (!reads || !here) {
        answer->status = reads ? 404 : 405;
        fputs(reads ? "the metrics are at /metrics\n" : "only GET\n", answer->out);
    }
    if (!reads || !here)
        return false;
    const bool ours = http_is_ours(&job->listener, http_header(request, "Host"));
    if (!ours) {
        answer->status = 421;
        fputs(HTTP_HOST_HINT "\n", answer->out);
    }
    return ours;
}

static void handle(const struct http_request *request, struct http_answer *answer, void *context) {
    struct job *job = context;
    struct table table;
    (void)request;
    pthread_mutex_lock(&job->lock);
    read_table(job->cli, job->names, job->count, &table);
    put_table(answer->out, &table);
    end_table(&table);
    pthread_mutex_unlock(&job->lock);
    answer->type = TEXT_TYPE;
}

static int run_metrics(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"listen", required_argument, NULL, 'l'},
                                            {"host", required_argument, NULL, 'h'},
                                            CLI_OPTIONS};
    const char *listen = NULL, *names = NULL;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'l')
            listen = optarg;
        else
            names = optarg;
    }
    cli_no_partitions(cli);
    struct job job = {
        PTHREAD_MUTEX_INITIALIZER, cli, argv + optind, (size_t)(argc - optind), {.names = names}};
    if (!cli_connect(cli, &code))
        return code;
    if (listen) {
        const struct http_service service = {admit, handle, NULL, &job};
        cli->finishing = true; /* the serving thread handles signals */
        return http_listen(cli, listen, &job.listener, &code) ? http_serve(&job.listener, &service)
                                                              : code;
    }
    struct table table;
    code = read_table(cli, job.names, job.count, &table);
    if (table.up || code == CLI_AGAIN)
        put_table(cli_out, &table);
    end_table(&table);
    return code;
}

const struct command metrics_command = {
    "metrics", "[QUEUE...]", "Prints metrics of queues for Prometheus, or serves them",
    "Prints the metrics of the queues, or of all queues of the server, in the text format of\n"
    "Prometheus: messages by state, counters of events, ages, consumers, and histograms of how\n"
    "late messages are and how long they run. With --listen it serves them at /metrics, read\n"
    "anew for each request, until it is stopped; dueq_up is 0 while the server does not answer.\n"
    "Everybody who can reach the address can read the metrics: there is no password.\n"
    "\n"
    "Options:\n"
    "  --listen ADDRESS  9123 (of 127.0.0.1), 10.0.0.5:9123, [::1]:9123, or :9123 (all addresses)\n"
    "  --host NAME,NAME  further names of this server; requests to an address, localhost or the\n"
    "                    machine's name are answered anyway\n"
    "\n"
    "Examples:\n"
    "  dueq metrics --listen 9123\n"
    "  dueq metrics > dueq.prom.new && mv dueq.prom.new /var/lib/node_exporter/dueq.prom\n",
    run_metrics};
