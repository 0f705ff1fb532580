#include "cli.h"

#include "json.h"

/* The groups of a queue. */

enum { SHOWN = 100, NAME_SHOWN = 128 };

json_object *json_of_group(const dueq_group *from) {
    json_object *object = json_object_new_object();
    DUEQ_GROUP_FIELDS(JSON_FIELD)
    return object;
}

static void print_group(const dueq_group *group) {
    char age[TIME_ROOM] = "-", leased[NUMBER_ROOM] = "-";
    if (group->oldest_ms)
        time_format_span(group->now_ms - group->oldest_ms, age);
    if (group->leased >= 0)
        snprintf(leased, sizeof leased, "%lld", (long long)group->leased);
    fprintf(cli_out, "%9lld %9s %9s %11s  ", (long long)group->waiting, leased, age,
            group->at_limit.size ? (const char *)group->at_limit.data : "-");
    if (group->name.size)
        cli_put_brief(group->name, NAME_SHOWN);
    else
        fputs("(no group)", cli_out);
    if (group->holder.size) {
        fputs("  waits for ", cli_out);
        cli_put_brief(group->holder, DUEQ_MAX_ID);
    }
    fputc('\n', cli_out);
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
    const struct cli *cli;
    size_t count;
};

static void show(const dueq_group *group, void *context) {
    struct shown *shown = context;
    if (shown->cli->json) {
        json_line(json_of_group(group));
        return;
    }
    if (!shown->count++)
        fprintf(cli_out, "%9s %9s %9s %11s  %s\n", "WAITING", "LEASED", "OLDEST", "LIMIT", "GROUP");
    print_group(group);
}

static int run_groups(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"count", required_argument, NULL, 'c'}, CLI_OPTIONS};
    struct shown shown = {cli, 0};
    size_t most = SHOWN;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        most = (size_t)cli_number(cli, "count", optarg, 1, INT32_MAX);
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    return cli_report(cli, groups_read(cli, most, show, &shown), NULL);
}

const struct command groups_command = {
    "groups", "QUEUE", "Lists groups: how many messages wait, since when, how many are leased",
    "Lists the groups of which messages wait or are leased: first the one that has the next turn,\n"
    "then the others in the order of their turns. A line has\n"
    "  WAITING  how many of its messages wait. A cancelled one counts until its turn comes, a\n"
    "           delayed one when it is due\n"
    "  LEASED   how many are leased; -: not known, as more than 1000 of the queue are\n"
    "  OLDEST   how long ago the group's next message was pushed\n"
    "  LIMIT    what keeps its messages waiting: its concurrency, its rate, its order, or a hold\n"
    "  GROUP    its name; (no group): all messages without a group. If it waits because of its\n"
    "           order, the message that must end before comes behind it: waits for ID\n"
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
