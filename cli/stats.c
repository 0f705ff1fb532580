#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

/* stats; and queues, which shows the counts of all queues */

json_object *json_of_counts(const char *queue, const dueq_counts *from) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_text((dueq_bytes){queue, strlen(queue)}));
    DUEQ_COUNTS_FIELDS(JSON_FIELD)
    return object;
}

static void json_counts(const struct cli *cli, const dueq_counts *counts) {
    json_line(json_of_counts(cli->queue_name, counts));
}

static void print_counts(const struct cli *cli, const dueq_counts *counts) {
    cli_label("queue");
    cli_put_text(cli->queue_name);
    fputc('\n', cli_out);
    cli_label("server");
    cli_put_text(dueq_client_url(cli->client));
    fputc('\n', cli_out);
#define PRINT(member)                                                                              \
    cli_label(#member);                                                                            \
    fprintf(cli_out, "%lld\n", (long long)counts->member);
    DUEQ_COUNTS_SUMS(PRINT)
#undef PRINT
    if (counts->outbox_error[0]) {
        cli_label("outbox-error");
        cli_put_text(counts->outbox_error);
        fputc('\n', cli_out);
    }
    if (counts->paused) {
        cli_label("paused");
        fputs("it delivers nothing until it is resumed\n", cli_out);
    }
    if (counts->at_limit[0]) {
        cli_label("at-limit");
        fprintf(cli_out, "%s\n", counts->at_limit);
    }
    if (counts->evicting) {
        cli_label("evicting");
        fputs("the server may delete messages when its memory is full\n", cli_out);
    }
    if (counts->oldest_ms) {
        cli_label("oldest");
        cli_print_time(counts->oldest_ms, counts->now_ms);
    }
    if (counts->next_event_ms) {
        cli_label("next-event");
        cli_print_time(counts->next_event_ms, counts->now_ms);
    }
}

/* Whether nobody ever pushed to the queue: its name may be mistyped. */
static bool is_unused(const dueq_counts *counts) {
    return !counts->pushed && !counts->ready && !counts->delayed && !counts->leased &&
           !counts->dead;
}

static void print_queue(const struct cli *cli, const dueq_counts *counts) {
    char age[TIME_ROOM] = "-";
    if (counts->oldest_ms)
        time_format_span(counts->now_ms - counts->oldest_ms, age);
    fprintf(cli_out, "%9lld %9lld %9lld %9lld %9s  ", (long long)counts->ready,
            (long long)counts->delayed, (long long)counts->leased, (long long)counts->dead, age);
    cli_put_text(cli->queue_name);
    fprintf(cli_out, "%s%s\n", counts->paused ? " (paused)" : "",
            is_unused(counts) ? " (never pushed to)" : "");
}

static int count(struct cli *cli, void (*print)(const struct cli *, const dueq_counts *)) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_stats_submit(cli->queue), &result);
    int code = cli_report(cli, status, NULL);
    if (status == DUEQ_OK)
        print(cli, dueq_result_counts(result));
    dueq_result_free(result);
    return code;
}

void cli_warn_of_unused(const char *queue, const dueq_counts *counts) {
    if (is_unused(counts))
        cli_log(CLI_WARNING, NULL, "dueq queues lists the queues of this server",
                "nothing was ever pushed to the queue %s", queue);
}

static void print_stats(const struct cli *cli, const dueq_counts *counts) {
    print_counts(cli, counts);
    cli_warn_of_unused(cli->queue_name, counts);
}

static void json_stats(const struct cli *cli, const dueq_counts *counts) {
    json_counts(cli, counts);
    cli_warn_of_unused(cli->queue_name, counts);
}

static int run_stats(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    return count(cli, cli->json ? json_stats : print_stats);
}

static int run_queues(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    struct cli_names names = {0};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    if (optind < argc)
        cli_usage(cli, "queues takes no arguments: it lists all queues of the server");
    cli_no_partitions(cli);
    if (!cli_connect(cli, &code))
        return code;
    code = cli_report(cli, cli_read_names(cli, &names), NULL);
    if (code == CLI_DONE && names.count > 0 && !cli->json)
        fprintf(cli_out, "%9s %9s %9s %9s %9s  %s\n", "READY", "DELAYED", "LEASED", "DEAD",
                "OLDEST", "QUEUE");
    for (size_t i = 0; i < names.count; i++) {
        if (code == CLI_DONE && cli_flush() && cli_open_queue(cli, names.list[i], &code)) {
            code = count(cli, cli->json ? json_counts : print_queue);
            cli_close_queue(cli);
        }
    }
    cli_free_names(&names);
    return code;
}

/* rates */

json_object *json_of_rate(const dueq_rate *from) {
    json_object *object = json_object_new_object();
    DUEQ_RATE_FIELDS(JSON_FIELD)
    return object;
}

static void print_rate(const struct cli *cli, const dueq_rate *rate) {
    if (cli->json) {
        json_line(json_of_rate(rate));
        return;
    }
    char text[TIME_ROOM];
    fprintf(cli_out, "%s ", time_format(rate->start_ms, text));
    fprintf(cli_out, "%8s", time_format_span(rate->span_ms, text));
#define PRINT(member) fprintf(cli_out, " %9lld", (long long)rate->member);
    DUEQ_RATE_SUMS(PRINT)
#undef PRINT
    const int64_t times[] = {rate->late_p50_ms, rate->late_p99_ms, rate->run_p50_ms,
                             rate->run_p99_ms};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        fprintf(cli_out, " %8s", time_format_span(times[i], text));
    fputc('\n', cli_out);
}

static int run_rates(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"minutes", required_argument, NULL, 'm'},
                                            {"hours", required_argument, NULL, 'h'},
                                            CLI_OPTIONS};
    size_t minutes = 0, hours = 0;
    int code, option;
    while ((option = cli_option(cli, argc, argv, options)) != -1)
        if (option == 'm')
            minutes = (size_t)cli_number(cli, "minutes", optarg, 1, DUEQ_MAX_RATES);
        else
            hours = (size_t)cli_number(cli, "hours", optarg, 1, DUEQ_MAX_HOURS);
    if (!minutes && !hours)
        minutes = 60;
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_result *result;
    code = cli_report(cli, cli_wait(cli, dueq_rates_submit(cli->queue, minutes, hours), &result),
                      NULL);
    size_t rows = dueq_result_count(result);
    if (rows > 0 && !cli->json)
        fprintf(cli_out, "%-24s %8s %9s %9s %9s %9s %9s %9s %9s %8s %8s %8s %8s\n", "START", "SPAN",
                "PUSHED", "RESERVED", "ACKED", "RETRIED", "EXPIRED", "DIED", "CANCELLED",
                "LATE-P50", "LATE-P99", "RUN-P50", "RUN-P99");
    for (size_t i = 0; i < rows; i++)
        print_rate(cli, dueq_result_rate(result, i));
    dueq_result_free(result);
    return code;
}

const struct command stats_command = {
    "stats", "QUEUE", "Counts the messages of a queue, by state and by event",
    "Messages in each state:\n"
    "  ready        can be delivered now\n"
    "  delayed      are due later\n"
    "  leased       a consumer works on them\n"
    "  dead         failed for good, and are kept\n"
    "  outbox       are on their way to another queue\n"
    "Since the queue was created:\n"
    "  pushed, reserved, acked, retried, cancelled, purged: by these commands\n"
    "  expired      not delivered within their time to live\n"
    "  died         became dead, moved to a dead-letter queue or were dropped\n"
    "  quarantined  damaged entries\n"
    "And:\n"
    "  oldest       since when the oldest ready message has been ready\n"
    "  next-event   the next due time or end of a lease\n"
    "\n"
    "Example:\n"
    "  dueq stats orders --json\n",
    run_stats};

const struct command queues_command = {
    "queues", "", "Lists the queues of the server and their messages by state",
    "Lists all queues that were ever used, sorted by name. OLDEST is how long the oldest ready\n"
    "message has been ready. A queue that only has workers, or is paused, is listed as never\n"
    "pushed to. The command scans the names of all keys of the server. With --json each line is\n"
    "as in stats.\n"
    "\n"
    "Examples:\n"
    "  dueq queues\n"
    "  dueq queues --json | jq -r 'select(.dead > 0) | .queue'\n",
    run_queues};

const struct command rates_command = {
    "rates", "QUEUE", "Counts the events of a queue in each of the last minutes or hours",
    "Prints a line for each minute with an event, the latest first. The latest minute may not be\n"
    "over yet. LATE-P50 and LATE-P99 are the p50 and the p99 of the time from when a message was\n"
    "due until its delivery; RUN-P50 and RUN-P99 are those of the time that consumers worked on a\n"
    "message (-: nothing was measured).\n"
    "\n"
    "Options:\n"
    "  --minutes N  the last N minutes, up to 360 (60)\n"
    "  --hours N    the last N hours, up to 336: a line for each hour\n"
    "\n"
    "Examples:\n"
    "  dueq rates orders --minutes 5\n"
    "  dueq rates orders --hours 24\n"
    "  dueq rates orders --json | jq -s 'map(.acked) | add'\n",
    run_rates};
