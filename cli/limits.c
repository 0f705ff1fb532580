#include <string.h>

#include "json.h"

static void print_limits(const struct cli *cli, const dueq_bounds *limits) {
    if (!limits->concurrency && !*limits->rate)
        cli_log(CLI_INFO, NULL, NULL, "the queue %s has no limits", cli->queue_name);
    if (limits->concurrency)
        fprintf(cli_out, "concurrency  %lld\n", (long long)limits->concurrency);
    if (*limits->rate)
        fprintf(cli_out, "rate         %s\n", limits->rate);
    if (limits->burst)
        fprintf(cli_out, "burst        %lld\n", (long long)limits->burst);
}

static void json_limits(const struct cli *cli, const dueq_bounds *from) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(cli->queue_name));
    DUEQ_BOUNDS_FIELDS(JSON_FIELD)
    json_line(object);
}

static int run_limits(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_limits_submit(cli->queue), &result);
    if (status == DUEQ_OK)
        (cli->json ? json_limits : print_limits)(cli, dueq_result_limits(result));
    dueq_result_free(result);
    return cli_report(cli, status, NULL);
}

const struct command limits_command = {
    "limits", "QUEUE", "Shows how many messages of a queue may run at once, and start in a time",
    "dueq limit sets these limits.\n"
    "\n"
    "Example:\n"
    "  dueq limits orders\n",
    run_limits};
