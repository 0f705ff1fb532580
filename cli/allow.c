#include <string.h>

#include "json.h"

static void print_targets(const struct cli *cli, const dueq_result *result) {
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        cli_put(dueq_result_id(result, i));
        fputc('\n', cli_out);
    }
    if (!dueq_result_count(result))
        cli_log(CLI_INFO, NULL, NULL, "there is no list: messages of %s may go to any queue",
                cli->queue_name);
}

static void json_targets(const struct cli *cli, const dueq_result *result) {
    json_object *object = json_object_new_object(), *names = json_object_new_array();
    json_object_object_add(object, "queue", json_name(cli->queue_name));
    for (size_t i = 0; i < dueq_result_count(result); i++)
        json_object_array_add(names, json_text(dueq_result_id(result, i)));
    json_object_object_add(object, "dead_letter", names);
    json_line(object);
}

static int run_allow(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"dead-letter", required_argument, NULL, 'd'},
                                            {"any", no_argument, NULL, 'a'},
                                            CLI_OPTIONS};
    dueq_bytes targets[DUEQ_MAX_BATCH];
    size_t count = 0;
    int code, any = 0, option;
    while ((option = cli_option(cli, argc, argv, options)) != -1) {
        if (option == 'a')
            any = 1;
        else if (count == DUEQ_MAX_BATCH)
            cli_usage(cli, "--dead-letter: at most %d queues can be named", DUEQ_MAX_BATCH);
        else
            targets[count++] = (dueq_bytes){optarg, strlen(optarg)};
    }
    cli_words(cli, argc, 0, 0);
    if (any && count)
        cli_usage(cli, "either --dead-letter names queues, or --any allows all");
    if (!cli_open(cli, argv, &code))
        return code;
    dueq_result *result;
    dueq_status status =
        cli_wait(cli, dueq_allow_submit(cli->queue, count ? targets : NULL, count, any), &result);
    if (status == DUEQ_OK && cli->json)
        json_targets(cli, result);
    else if (status == DUEQ_OK)
        print_targets(cli, result);
    dueq_result_free(result);
    return cli_report(cli, status, NULL);
}

const struct command allow_command = {
    "allow", "QUEUE", "Sets to which queues the messages of a queue may go as dead letters",
    "A message may name a queue (dueq push --dead-letter) to which it goes when it fails for "
    "good.\n"
    "A worker moves the message there with its own permissions, which may reach more queues than\n"
    "those of the producer. With a list, messages go only to the queues in the list. A message "
    "for\n"
    "another queue stays in the outbox, with the reason, until the list has that queue (dueq peek\n"
    "QUEUE outbox). Successors, which a worker pushes with its ack, need no entry. allow prints "
    "the\n"
    "list; without options it changes nothing.\n"
    "\n"
    "Options:\n"
    "  --dead-letter QUEUE  the list has this queue; for several, give the option again\n"
    "  --any                there is no list any more: messages may go to any queue\n"
    "\n"
    "Examples:\n"
    "  dueq allow orders --dead-letter orders-failed\n"
    "  dueq allow orders\n"
    "  dueq allow orders --any\n",
    run_allow};
