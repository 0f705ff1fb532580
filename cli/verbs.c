/* Made from core/verbs.toml by core/verbs.py. */
/* clang-format off */
#include "cli.h"

#include <string.h>

static int run_retry(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"delay", required_argument, NULL, 1}, {"error", required_argument, NULL, 2}, CLI_OPTIONS};
    int64_t delay_ms = DUEQ_BY_POLICY;
    dueq_bytes error = {0};
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            delay_ms = cli_duration(cli, "delay", optarg);
            break;
        case 2:
            error = (dueq_bytes){optarg, strlen(optarg)};
            break;
        }
    }
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_retry_submit(cli->queue, subject, delay_ms, error);
    return cli_outcome(cli, "ticket", subject, cli_wait(cli, status, NULL));
}

const struct command retry_command = {
    "retry", "QUEUE TICKET", "Ends a delivery as a failure: the message is delivered again",
    "Options:\n"
    "  --delay DURATION  due after this time from now: 250ms, 5s, 1h; 0: at once\n"
    "                    (the message's --backoff of push)\n"
    "  --error TEXT      the error, which find shows\n"
    "\n"
    "Ends with 1 (EXHAUSTED) when the message has no attempts left. Then the message is dead;\n"
    "with --dead-letter of push it moves to that queue, with --drop it is deleted.\n"
    "\n"
    "Example:\n"
    "  dueq retry orders \"$ticket\" --error 'the shop did not answer'\n",
    run_retry};

static int run_release(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"delay", required_argument, NULL, 1}, CLI_OPTIONS};
    int64_t delay_ms = 0;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            delay_ms = cli_duration(cli, "delay", optarg);
            break;
        }
    }
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_release_submit(cli->queue, &subject, 1, delay_ms);
    return cli_outcome(cli, "ticket", subject, cli_wait(cli, status, NULL));
}

const struct command release_command = {
    "release", "QUEUE TICKET", "Gives a message back: the delivery does not count",
    "The delivery counts as no attempt. Without --delay the message goes to\n"
    "the front of the queue.\n"
    "\n"
    "Options:\n"
    "  --delay DURATION  due after this time from now: 250ms, 5s, 1h (0)\n"
    "\n"
    "Example:\n"
    "  dueq release orders \"$ticket\"\n",
    run_release};

static int run_hold_group(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"duration", required_argument, NULL, 1}, CLI_OPTIONS};
    int64_t duration_ms = 0;
    bool has_duration = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            duration_ms = cli_duration(cli, "duration", optarg);
            has_duration = true;
            break;
        }
    }
    if (!has_duration)
        cli_usage(cli, "give --duration DURATION");
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_hold_group_submit(cli->queue, subject, duration_ms);
    return cli_outcome(cli, "ticket", subject, cli_wait(cli, status, NULL));
}

const struct command hold_group_command = {
    "hold-group", "QUEUE TICKET", "Gives a message back, and holds its group",
    "For so long no message of the group is delivered. The message comes first\n"
    "after that. The delivery counts as no attempt.\n"
    "\n"
    "Options:\n"
    "  --duration DURATION  for how long the group is held: 250ms, 5s, 1h; 0: no more\n"
    "\n"
    "Example:\n"
    "  dueq hold-group orders \"$ticket\" --duration 30s\n",
    run_hold_group};

static int run_extend(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"lease", required_argument, NULL, 1}, CLI_OPTIONS};
    int64_t lease_ms = DUEQ_DEFAULT_LEASE_MS;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            lease_ms = cli_duration(cli, "lease", optarg);
            break;
        }
    }
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_extend_submit(cli->queue, &subject, 1, lease_ms);
    return cli_outcome(cli, "ticket", subject, cli_wait(cli, status, NULL));
}

const struct command extend_command = {
    "extend", "QUEUE TICKET", "Extends the lease of a message",
    "Options:\n"
    "  --lease DURATION  the lease ends after this time from now (30s)\n"
    "\n"
    "Example:\n"
    "  dueq extend orders \"$ticket\" --lease 60s\n",
    run_extend};

static int run_bury(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"reason", required_argument, NULL, 1}, CLI_OPTIONS};
    dueq_bytes reason = {0};
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            reason = (dueq_bytes){optarg, strlen(optarg)};
            break;
        }
    }
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_bury_submit(cli->queue, subject, reason);
    return cli_outcome(cli, "ticket", subject, cli_wait(cli, status, NULL));
}

const struct command bury_command = {
    "bury", "QUEUE TICKET", "Makes a message dead, whatever attempts it has left",
    "With --dead-letter of push the message moves to that queue, with --drop it is deleted.\n"
    "\n"
    "Options:\n"
    "  --reason TEXT  the error, which find shows\n"
    "\n"
    "Example:\n"
    "  dueq bury orders \"$ticket\" --reason 'no such customer'\n",
    run_bury};

static int run_kill(struct cli *cli, int argc, char *argv[]) {
    return cli_ids(cli, argc, argv, dueq_kill_submit);
}

const struct command kill_command = {
    "kill", "QUEUE ID...", "Makes delayed messages dead, until they are kicked",
    CLI_IDS
    "\n"
    "They stay in this queue, also those with --dead-letter or --drop.\n"
    "\n"
    "Examples:\n" CLI_ID_EXAMPLES("kill"), run_kill};

static int run_cancel(struct cli *cli, int argc, char *argv[]) {
    return cli_ids(cli, argc, argv, dueq_cancel_submit);
}

const struct command cancel_command = {
    "cancel", "QUEUE ID...", "Deletes messages by their ids, in any state",
    CLI_IDS
    "\n"
    "Ends with 0 when all were found and none was leased. A leased message is cancelled too, but\n"
    "its work may have begun or be done: dueq prints a line on standard error (with --json: the\n"
    "state \"leased\") and ends with 1. The consumer gets LEASE_LOST on its next call.\n"
    "\n"
    "Examples:\n" CLI_ID_EXAMPLES("cancel"), run_cancel};

static int run_reschedule(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"delay", required_argument, NULL, 1}, {"at", required_argument, NULL, 2}, CLI_OPTIONS};
    int64_t delay_ms = 0;
    bool has_delay = false;
    int64_t at_ms = 0;
    bool has_at = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            delay_ms = cli_duration(cli, "delay", optarg);
            has_delay = true;
            break;
        case 2:
            at_ms = cli_point(cli, "at", optarg);
            has_at = true;
            break;
        }
    }
    if (has_delay && has_at)
        cli_usage(cli, "give either --delay or --at, not both");
    cli_words(cli, argc, 1, 1);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_reschedule_submit(cli->queue, subject, delay_ms, at_ms);
    return cli_id_outcome(cli, subject, cli_wait(cli, status, NULL));
}

const struct command reschedule_command = {
    "reschedule", "QUEUE ID", "Changes the due time of a delayed message",
    "Options:\n"
    "  --delay DURATION  due after this time from now: 250ms, 5s, 1h (0: now)\n"
    "  --at TIME         due at this time: 2026-12-01T10:00:00Z, or seconds since 1970\n"
    "\n"
    "Example:\n"
    "  dueq reschedule orders invoice-7 --delay 1h\n",
    run_reschedule};

static int run_pause(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    const dueq_bytes subject = {cli->queue_name, strlen(cli->queue_name)};
    dueq_status status = dueq_pause_submit(cli->queue);
    return cli_outcome(cli, "queue", subject, cli_wait(cli, status, NULL));
}

const struct command pause_command = {
    "pause", "QUEUE", "Stops deliveries until the queue is resumed",
    "A paused queue still accepts pushes and acknowledgements.\n"
    "\n"
    "Example:\n"
    "  dueq pause orders\n",
    run_pause};

static int run_resume(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 0, &code))
        return code;
    const dueq_bytes subject = {cli->queue_name, strlen(cli->queue_name)};
    dueq_status status = dueq_resume_submit(cli->queue);
    return cli_outcome(cli, "queue", subject, cli_wait(cli, status, NULL));
}

const struct command resume_command = {
    "resume", "QUEUE", "Resumes deliveries",
    "Waiting consumers wake.\n"
    "\n"
    "Example:\n"
    "  dueq resume orders\n",
    run_resume};

static int run_hold(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"group", required_argument, NULL, 1},
        {"duration", required_argument, NULL, 2},
        CLI_OPTIONS};
    dueq_bytes group = {0};
    bool has_group = false;
    int64_t duration_ms = 0;
    bool has_duration = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            group = (dueq_bytes){optarg, strlen(optarg)};
            has_group = true;
            break;
        case 2:
            duration_ms = cli_duration(cli, "duration", optarg);
            has_duration = true;
            break;
        }
    }
    if (!has_group)
        cli_usage(cli, "give --group GROUP");
    if (!has_duration)
        cli_usage(cli, "give --duration DURATION");
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {cli->queue_name, strlen(cli->queue_name)};
    dueq_status status = dueq_hold_submit(cli->queue, group, duration_ms);
    return cli_outcome(cli, "queue", subject, cli_wait(cli, status, NULL));
}

const struct command hold_command = {
    "hold", "QUEUE", "Delivers no message of a group for some time",
    "Messages of the group that are leased stay so.\n"
    "\n"
    "Options:\n"
    "  --group GROUP        the name of the group\n"
    "  --duration DURATION  for how long: 250ms, 5s, 1h; 0: no more\n"
    "\n"
    "Example:\n"
    "  dueq hold orders --group acme --duration 30s\n",
    run_hold};

static int run_limit(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"concurrency", required_argument, NULL, 1},
        {"rate", required_argument, NULL, 2},
        {"burst", required_argument, NULL, 3},
        {"group", required_argument, NULL, 4},
        {"backlog", required_argument, NULL, 5},
        {"weight", required_argument, NULL, 6},
        {"order", required_argument, NULL, 7},
        {"each-group-concurrency", required_argument, NULL, 8},
        {"each-group-rate", required_argument, NULL, 9},
        {"each-group-burst", required_argument, NULL, 10},
        {"each-group-backlog", required_argument, NULL, 11},
        {"clear", no_argument, NULL, 12},
        CLI_OPTIONS};
    int64_t concurrency = DUEQ_UNCHANGED;
    dueq_bytes rate = {0};
    int64_t burst = DUEQ_UNCHANGED;
    dueq_bytes group = {0};
    int64_t backlog = DUEQ_UNCHANGED;
    int64_t weight = DUEQ_UNCHANGED;
    dueq_bytes order = {0};
    int64_t each_group_concurrency = DUEQ_UNCHANGED;
    dueq_bytes each_group_rate = {0};
    int64_t each_group_burst = DUEQ_UNCHANGED;
    int64_t each_group_backlog = DUEQ_UNCHANGED;
    int clear = 0;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        switch (option) {
        case 1:
            concurrency = cli_limit(cli, "concurrency", optarg, DUEQ_MAX_LIMIT);
            break;
        case 2:
            rate = (dueq_bytes){optarg, strlen(optarg)};
            break;
        case 3:
            burst = cli_limit(cli, "burst", optarg, DUEQ_MAX_LIMIT);
            break;
        case 4:
            group = (dueq_bytes){optarg, strlen(optarg)};
            break;
        case 5:
            backlog = cli_limit(cli, "backlog", optarg, DUEQ_MAX_LIMIT);
            break;
        case 6:
            weight = cli_limit(cli, "weight", optarg, DUEQ_MAX_LIMIT);
            break;
        case 7:
            order = (dueq_bytes){optarg, strlen(optarg)};
            break;
        case 8:
            each_group_concurrency = cli_limit(cli, "each-group-concurrency", optarg,
                                               DUEQ_MAX_LIMIT);
            break;
        case 9:
            each_group_rate = (dueq_bytes){optarg, strlen(optarg)};
            break;
        case 10:
            each_group_burst = cli_limit(cli, "each-group-burst", optarg, DUEQ_MAX_LIMIT);
            break;
        case 11:
            each_group_backlog = cli_limit(cli, "each-group-backlog", optarg, DUEQ_MAX_LIMIT);
            break;
        case 12:
            clear = 1;
            break;
        }
    }
    cli_words(cli, argc, 0, 0);
    if (!cli_open(cli, argv, &code))
        return code;
    const dueq_bytes subject = {cli->queue_name, strlen(cli->queue_name)};
    dueq_status status = dueq_limit_submit(cli->queue,
      &(dueq_limit_options){.struct_size = sizeof(dueq_limit_options), .concurrency = concurrency,
      .rate = rate, .burst = burst, .group = group, .backlog = backlog, .weight = weight,
      .order = order, .each_group_concurrency = each_group_concurrency,
      .each_group_rate = each_group_rate, .each_group_burst = each_group_burst,
      .each_group_backlog = each_group_backlog, .clear = clear});
    return cli_outcome(cli, "queue", subject, cli_wait(cli, status, NULL));
}

const struct command limit_command = {
    "limit", "QUEUE", "Sets how many messages of a queue or a group run at once, start, or wait",
    "Sets limits of the queue, of each of its groups, or with --group of one group. What is not\n"
    "given stays as it is. A limit of one group counts instead of that of each group.\n"
    "\n"
    "Options:\n"
    "  --concurrency N             how many messages may be leased at once; none: no limit\n"
    "  --rate RATE                 how many are delivered in a second, minute or hour:\n"
    "                              1000/s, 100/m, 20/h; none: no limit\n"
    "  --burst N                   how many the rate allows at once after a pause; none:\n"
    "                              what it allows in 100 ms, at least 1\n"
    "  --group GROUP               the limits are those of this group, not of the queue\n"
    "  --backlog N                 how many messages of the --group may wait before a push\n"
    "                              is refused; none: no limit\n"
    "  --weight N                  how many turns the --group gets for one of others, 1 to\n"
    "                              1000; none: one\n"
    "  --order ORDER               fair: several messages of a group at once; fifo: one at a\n"
    "                              time; strict: the next when the one before has ended for\n"
    "                              good; none with --group: the order of the queue\n"
    "  --each-group-concurrency N  how many messages of each group may be leased at once;\n"
    "                              none: no limit\n"
    "  --each-group-rate RATE      how many of each group are delivered in a time\n"
    "  --each-group-burst N        how many of each group its rate allows at once\n"
    "  --each-group-backlog N      how many messages of each group may wait before a push is\n"
    "                              refused; none: no limit\n"
    "  --clear                     first removes all limits, with --group those of the group\n"
    "\n"
    "In a queue with partitions each partition gets its part of a limit of the queue, rounded up,\n"
    "and has the limits of groups whole. dueq limits shows the limits.\n"
    "\n"
    "Example:\n"
    "  dueq limit orders --concurrency 50 --rate 1000/s\n",
    run_limit};

static int run_close_batch(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 1, &code))
        return code;
    const dueq_bytes subject = {argv[optind], strlen(argv[optind])};
    dueq_status status = dueq_close_batch_submit(cli->queue, subject);
    return cli_batch_outcome(cli, subject, cli_wait(cli, status, NULL));
}

const struct command close_batch_command = {
    "close-batch", "QUEUE ID", "Closes a batch: it ends when its members have ended",
    "From then on only its members add members. A batch that has ended stays as it is.\n"
    "\n"
    "Example:\n"
    "  dueq close-batch orders invoices-2026-11\n",
    run_close_batch};
