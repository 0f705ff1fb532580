#include <string.h>

#include "json.h"

/* A line of a limit that is set. */
static void print_number(const char *name, int64_t number) {
    if (number)
        fprintf(cli_out, "%-22s  %lld\n", name, (long long)number);
}

static void print_text(const char *name, dueq_bytes text) {
    if (text.size)
        fprintf(cli_out, "%-22s  %.*s\n", name, (int)text.size, (const char *)text.data);
}

static void print_group(const dueq_group_limits *group) {
    fputs("group ", cli_out);
    cli_put_brief(group->name, DUEQ_MAX_GROUP);
    fputc('\n', cli_out);
    print_number("  concurrency", group->concurrency);
    print_text("  rate", group->rate);
    print_number("  burst", group->burst);
    print_number("  backlog", group->backlog);
    print_number("  weight", group->weight);
    print_text("  order", group->order);
}

static void print_limits(const struct cli *cli, const dueq_bounds *limits) {
    const dueq_bytes each_rate = {limits->each_group_rate, strlen(limits->each_group_rate)};
    if (!limits->concurrency && !*limits->rate && !limits->each_group_concurrency &&
        !each_rate.size && !limits->each_group_backlog && !*limits->order && !limits->group_count)
        cli_log(CLI_INFO, NULL, NULL, "the queue %s has no limits", cli->queue_name);
    print_number("concurrency", limits->concurrency);
    print_text("rate", (dueq_bytes){limits->rate, strlen(limits->rate)});
    print_number("burst", limits->burst);
    print_number("each-group-concurrency", limits->each_group_concurrency);
    print_text("each-group-rate", each_rate);
    print_number("each-group-burst", limits->each_group_burst);
    print_number("each-group-backlog", limits->each_group_backlog);
    print_text("order", (dueq_bytes){limits->order, strlen(limits->order)});
    for (size_t i = 0; i < limits->group_count; i++)
        print_group(dueq_bounds_group(limits, i));
}

static json_object *json_groups(const dueq_bounds *limits) {
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < limits->group_count; i++) {
        const dueq_group_limits *from = dueq_bounds_group(limits, i);
        json_object *object = json_object_new_object();
        DUEQ_GROUP_LIMITS_FIELDS(JSON_FIELD)
        json_object_array_add(list, object);
    }
    return list;
}

json_object *json_of_limits(const char *queue, const dueq_bounds *from) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(queue));
#define JSON_GROUP_LIMITS(ignored) json_groups(from)
    DUEQ_BOUNDS_FIELDS(JSON_FIELD)
    return object;
}

static int run_limits(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_limits_submit(cli->queue), &result);
    if (status == DUEQ_OK && cli->json)
        json_line(json_of_limits(cli->queue_name, dueq_result_limits(result)));
    else if (status == DUEQ_OK)
        print_limits(cli, dueq_result_limits(result));
    dueq_result_free(result);
    return cli_report(cli, status, NULL);
}

const struct command limits_command = {
    "limits", "QUEUE", "Shows the limits of a queue and of its groups",
    "First those of the queue, then those of each group, then those of single groups. dueq limit\n"
    "sets these limits.\n"
    "\n"
    "Example:\n"
    "  dueq limits orders\n",
    run_limits};
