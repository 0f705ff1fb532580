#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

/* stats; and queues, which shows the counts of all queues */

enum { COUNTERS = 14 };

struct counter {
    const char *name;
    int64_t value;
};

static void list_counters(const dueq_counts *counts, struct counter counters[COUNTERS]) {
    const struct counter all[COUNTERS] = {
        {"ready", counts->ready},       {"delayed", counts->delayed},
        {"leased", counts->leased},     {"dead", counts->dead},
        {"outbox", counts->outbox},     {"pushed", counts->pushed},
        {"reserved", counts->reserved}, {"acked", counts->acked},
        {"retried", counts->retried},   {"expired", counts->expired},
        {"died", counts->died},         {"cancelled", counts->cancelled},
        {"purged", counts->purged},     {"quarantined", counts->quarantined}};
    memcpy(counters, all, sizeof all);
}

json_object *json_of_counts(const char *queue, const dueq_counts *counts) {
    struct counter counters[COUNTERS];
    json_object *object = json_object_new_object();
    list_counters(counts, counters);
    json_object_object_add(object, "queue", json_text((dueq_bytes){queue, strlen(queue)}));
    for (size_t i = 0; i < COUNTERS; i++)
        json_object_object_add(object, counters[i].name, json_object_new_int64(counters[i].value));
    json_object_object_add(object, "outbox_error", json_object_new_string(counts->outbox_error));
    json_object_object_add(object, "oldest_ms", json_time(counts->oldest_ms));
    json_object_object_add(object, "next_event_ms", json_time(counts->next_event_ms));
    json_object_object_add(object, "now_ms", json_object_new_int64(counts->now_ms));
    json_object_object_add(object, "paused", json_object_new_boolean(counts->paused != 0));
    json_object_object_add(object, "evicting", json_object_new_boolean(counts->evicting != 0));
    return object;
}

static void json_counts(const struct cli *cli, const dueq_counts *counts) {
    json_line(json_of_counts(cli->queue_name, counts));
}

static void print_counts(const struct cli *cli, const dueq_counts *counts) {
    struct counter counters[COUNTERS];
    list_counters(counts, counters);
    cli_label("queue");
    cli_put_text(cli->queue_name);
    putchar('\n');
    cli_label("server");
    cli_put_text(dueq_client_url(cli->client));
    putchar('\n');
    for (size_t i = 0; i < COUNTERS; i++) {
        cli_label(counters[i].name);
        printf("%lld\n", (long long)counters[i].value);
    }
    if (counts->outbox_error[0]) {
        cli_label("outbox-error");
        cli_put_text(counts->outbox_error);
        putchar('\n');
    }
    if (counts->paused) {
        cli_label("paused");
        puts("it delivers nothing until it is resumed");
    }
    if (counts->evicting) {
        cli_label("evicting");
        puts("the server may delete messages when its memory is full");
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
    printf("%9lld %9lld %9lld %9lld %9s  ", (long long)counts->ready, (long long)counts->delayed,
           (long long)counts->leased, (long long)counts->dead, age);
    cli_put_text(cli->queue_name);
    printf("%s%s\n", counts->paused ? " (paused)" : "",
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
        printf("%9s %9s %9s %9s %9s  %s\n", "READY", "DELAYED", "LEASED", "DEAD", "OLDEST",
               "QUEUE");
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

enum { RATES = 7, TIMES = 4 };

/* The counts, and then the times in milliseconds; -1: no time was measured. */
static void read_rate(const dueq_rate *rate, struct counter counters[RATES + TIMES]) {
    const struct counter all[RATES + TIMES] = {{"pushed", rate->pushed},
                                               {"reserved", rate->reserved},
                                               {"acked", rate->acked},
                                               {"retried", rate->retried},
                                               {"expired", rate->expired},
                                               {"died", rate->died},
                                               {"cancelled", rate->cancelled},
                                               {"late_p50_ms", rate->late_p50_ms},
                                               {"late_p99_ms", rate->late_p99_ms},
                                               {"run_p50_ms", rate->run_p50_ms},
                                               {"run_p99_ms", rate->run_p99_ms}};
    memcpy(counters, all, sizeof all);
}

json_object *json_of_rate(const dueq_rate *rate) {
    struct counter counters[RATES + TIMES];
    json_object *object = json_object_new_object();
    read_rate(rate, counters);
    json_object_object_add(object, "start_ms", json_object_new_int64(rate->start_ms));
    json_object_object_add(object, "span_ms", json_object_new_int64(rate->span_ms));
    for (size_t i = 0; i < RATES + TIMES; i++)
        json_object_object_add(
            object, counters[i].name,
            i >= RATES && counters[i].value < 0 ? NULL : json_object_new_int64(counters[i].value));
    return object;
}

static void print_rate(const struct cli *cli, const dueq_rate *rate) {
    struct counter counters[RATES + TIMES];
    if (cli->json) {
        json_line(json_of_rate(rate));
        return;
    }
    read_rate(rate, counters);
    char start[TIME_ROOM], span[TIME_ROOM];
    printf("%s %8s", time_format(rate->start_ms, start), time_format_span(rate->span_ms, span));
    for (size_t i = 0; i < RATES; i++)
        printf(" %9lld", (long long)counters[i].value);
    for (size_t i = RATES; i < RATES + TIMES; i++) {
        char time[TIME_ROOM];
        printf(" %8s", time_format_span(counters[i].value, time));
    }
    putchar('\n');
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
        printf("%-24s %8s %9s %9s %9s %9s %9s %9s %9s %8s %8s %8s %8s\n", "START", "SPAN", "PUSHED",
               "RESERVED", "ACKED", "RETRIED", "EXPIRED", "DIED", "CANCELLED", "LATE-P50",
               "LATE-P99", "RUN-P50", "RUN-P99");
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
