#include "cli.h"

#include <string.h>

#include "json.h"

/* The groups of a queue. */

enum { SHOWN = 100 };

json_object *json_of_group(const dueq_group *from) {
    json_object *object = json_object_new_object();
    DUEQ_GROUP_FIELDS(JSON_FIELD)
    return object;
}

/* The limits of its own that the group has; NULL: it has none. */
static const dueq_group_limits *own_limits(const dueq_bounds *limits, dueq_bytes name) {
    for (size_t i = 0; limits && name.size && i < limits->group_count; i++) {
        const dueq_group_limits *own = dueq_bounds_group(limits, i);
        if (own->name.size == name.size && memcmp(own->name.data, name.data, name.size) == 0)
            return own;
    }
    return NULL;
}

/*
 * The limits that count for one group: its own, or else those of each group. A number of 0 or an
 * empty rate: it has no such limit.
 */
struct group_limits {
    int64_t concurrency, backlog, weight;
    dueq_bytes rate;
};

/* limits NULL: not known, so none. */
static struct group_limits group_limits_of(const dueq_bounds *limits, dueq_bytes name) {
    const dueq_group_limits *own = own_limits(limits, name);
    struct group_limits found = {.weight = own ? own->weight : 0};
    /* Messages without a group have no limits of groups. */
    if (!limits || !name.size)
        return found;
    found.concurrency = own && own->concurrency ? own->concurrency : limits->each_group_concurrency;
    const char *order = own && own->order.size ? own->order.data : limits->order;
    if (*order && strncmp(order, "fair", strlen("fair")) != 0)
        found.concurrency = 1;
    found.backlog = own && own->backlog ? own->backlog : limits->each_group_backlog;
    found.rate = own && own->rate.size
                     ? own->rate
                     : (dueq_bytes){limits->each_group_rate, strlen(limits->each_group_rate)};
    return found;
}

/* "12/100", "12" without a limit, "-/100" if the number is not known (below 0). */
static void put_part(FILE *out, int64_t number, int64_t limit, int width) {
    char text[NUMBER_ROOM], most[NUMBER_ROOM], both[2 * NUMBER_ROOM];
    snprintf(both, sizeof both, "%s%s%s", number < 0 ? "-" : text_number(number, text),
             limit ? "/" : "", limit ? text_number(limit, most) : "");
    fprintf(out, "%*s ", width, both);
}

const char group_titles[] = "WAITING/OF LEASED/OF  OLDEST SERVED      RATE WEIGHT    AT LIMIT  ";

void group_put(FILE *out, const dueq_group *group, const dueq_bounds *limits) {
    const struct group_limits limit = group_limits_of(limits, group->name);
    char age[TIME_ROOM], left[TIME_ROOM], weight[NUMBER_ROOM] = "-", kept[TIME_ROOM + 16] = "-";
    if (limit.weight)
        text_number(limit.weight, weight);
    if (group->at_limit.size)
        snprintf(kept, sizeof kept, "%.*s%s%s", (int)group->at_limit.size,
                 (const char *)group->at_limit.data, group->held_until_ms ? " " : "",
                 group->held_until_ms ? time_format_span(group->held_until_ms - group->now_ms, left)
                                      : "");
    put_part(out, group->waiting, limit.backlog, 10);
    put_part(out, group->leased, limit.concurrency, 9);
    fprintf(out, "%7s ",
            time_format_span(group->oldest_ms ? group->now_ms - group->oldest_ms : -1, age));
    put_part(out, group->served_per_minute, 0, 6);
    fprintf(out, "%9.*s %6s %11s  ", limit.rate.size ? (int)limit.rate.size : 1,
            limit.rate.size ? (const char *)limit.rate.data : "-", weight, kept);
}

dueq_status groups_read(struct cli *cli, size_t most, void (*show)(const dueq_group *, void *),
                        void *context) {
    dueq_result *page = NULL;
    size_t shown = 0;
    dueq_status status;
    do {
        dueq_result *next;
        size_t size = most - shown < DUEQ_MAX_BATCH ? most - shown : DUEQ_MAX_BATCH;
        status =
            cli_wait(cli, dueq_groups_submit(cli->queue, dueq_result_cursor(page), size), &next);
        dueq_result_free(page);
        page = next;
        for (size_t i = 0; i < dueq_result_count(page); i++, shown++)
            show(dueq_result_group(page, i), context);
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0 && shown < most);
    dueq_result_free(page);
    return status;
}

struct shown {
    struct cli *cli;
    size_t count;
    dueq_result *limits; /* of the queue; NULL: they could not be read */
    int code;            /* the exit code of their reading */
};

static void show(const dueq_group *group, void *context) {
    struct shown *shown = context;
    if (shown->cli->json) {
        json_line(json_of_group(group));
        return;
    }
    if (!shown->count++) {
        struct cli *cli = shown->cli;
        dueq_status status = cli_wait(cli, dueq_limits_submit(cli->queue), &shown->limits);
        shown->code = cli_report(cli, status, "limits");
        fprintf(cli_out, "%sGROUP\n", group_titles);
    }
    group_put(cli_out, group, dueq_result_limits(shown->limits));
    if (group->name.size)
        cli_put_brief(group->name, DUEQ_MAX_GROUP);
    else
        fputs("(no group)", cli_out);
    if (group->holder.size) {
        fputs("  waits for ", cli_out);
        cli_put_brief(group->holder, DUEQ_MAX_ID);
    }
    fputc('\n', cli_out);
}

static int run_groups(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"count", required_argument, NULL, 'c'}, CLI_OPTIONS};
    struct shown shown = {.cli = cli};
    size_t most = SHOWN;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        most = (size_t)cli_number(cli, "count", optarg, 1, INT32_MAX);
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    code = cli_report(cli, groups_read(cli, most, show, &shown), NULL);
    dueq_result_free(shown.limits);
    return cli_worse(code, shown.code);
}

const struct command groups_command = {
    "groups", "QUEUE", "Lists groups: how many messages wait, since when, how many are leased",
    "Lists the groups of which messages wait or are leased: first the one that has the next turn,\n"
    "then the others in the order of their turns. A line has\n"
    "  WAITING/OF  how many of its messages wait, and how many its backlog allows. A cancelled\n"
    "              one counts until its turn comes, a delayed one when it is due\n"
    "  LEASED/OF   how many are leased (-: not known, as more than 1000 of the queue are), and\n"
    "              how many its concurrency allows\n"
    "  OLDEST      how long ago the group's next message was pushed\n"
    "  SERVED      about how many of its messages were delivered in the last minute. Only queues\n"
    "              with limits of groups count this, for 10,000 groups a minute, and show it from\n"
    "              a minute after the first limit on (-: not known)\n"
    "  RATE        how many of its messages are delivered in a time\n"
    "  WEIGHT      how many turns it gets for one turn of a group without a weight\n"
    "  AT LIMIT    what keeps its messages waiting: its concurrency, its rate, its order, or a\n"
    "              hold, and how long that lasts\n"
    "  GROUP       its name; (no group): all messages without a group. Behind it, if it waits\n"
    "              because of its order, the message that must end before: waits for ID\n"
    "Where the group has no such limit, there is no /OF, or a - stands in the column.\n"
    "A group whose turn changes meanwhile may come twice, or not at all. A queue that never had a\n"
    "message with a group has no lines.\n"
    "\n"
    "Options:\n"
    "  --count N  up to N groups (100)\n"
    "\n"
    "Examples:\n"
    "  dueq groups orders\n"
    "  dueq groups orders --count 1000000 --json | jq -r 'select(.waiting > 1000) | .name'\n",
    run_groups};
