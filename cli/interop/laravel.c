#include <stdlib.h>
#include <string.h>

#include "laravel.h"

static dueq_bytes text(const char *option) { return (dueq_bytes){option, strlen(option)}; }

/* Laravel's times are whole seconds. */
static uint32_t seconds(const struct cli *cli, const char *option, const char *given) {
    int64_t s = (cli_duration(cli, option, given) + 999) / 1000;
    return s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

/* Turns "10s,1m" into "10,60". Free with free(). */
static char *read_backoff(const struct cli *cli, const char *given) {
    char *copy = strdup(given), *made = NULL, *rest = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&made, &size);
    if (!copy || !out)
        cli_out_of_memory();
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        fprintf(out, "%s%u", word == copy ? "" : ",", seconds(cli, "backoff", word));
    free(copy);
    if (fclose(out) != 0)
        cli_out_of_memory();
    if (size == 0)
        cli_usage(cli, "--backoff is empty");
    return made;
}

static void push_option(const struct cli *cli, struct laravel_wish *wish, int option) {
    dueq_laravel_draft *draft = &wish->draft;
    switch (option) {
    case DATA:
        wish->data = optarg;
        break;
    case PAYLOAD:
        wish->payload = optarg;
        break;
    case OBJECT:
        wish->object = optarg;
        break;
    case LINES:
        wish->lines = true;
        break;
    case AT:
        draft->at_ms = cli_point(cli, "at", optarg);
        break;
    case TRIES:
        draft->max_tries = (uint32_t)cli_number(cli, "tries", optarg, 1, INT32_MAX);
        break;
    case MAX_EXCEPTIONS:
        draft->max_exceptions = (uint32_t)cli_number(cli, "max-exceptions", optarg, 1, INT32_MAX);
        break;
    case TIMEOUT:
        draft->timeout_s = seconds(cli, "timeout", optarg);
        break;
    case BACKOFF:
        free(wish->backoff);
        wish->backoff = read_backoff(cli, optarg);
        draft->backoff = text(wish->backoff);
        break;
    case RETRY_UNTIL:
        draft->retry_until_s = (cli_point(cli, "retry-until", optarg) + 999) / 1000;
        break;
    case FAIL_ON_TIMEOUT:
        draft->fail_on_timeout = 1;
        break;
    case DISPLAY_NAME:
        draft->display_name = text(optarg);
        break;
    }
}

static void take_option(const struct cli *cli, struct laravel_wish *wish, int option) {
    switch (option) {
    case PREFIX:
        wish->prefix = text(optarg);
        break;
    case DELAY:
        wish->draft.delay_ms = cli_duration(cli, "delay", optarg);
        wish->delayed = true;
        break;
    case COUNT:
        wish->count = (size_t)cli_number(cli, "count", optarg, 1, DUEQ_MAX_BATCH);
        break;
    case WAIT:
        wish->wait_ms = cli_patience(cli, optarg);
        break;
    case RETRY_AFTER:
        wish->retry_after_ms = cli_duration(cli, "retry-after", optarg);
        break;
    case DELETE:
        wish->finish = true;
        break;
    case RESERVED:
        wish->reserved = optarg;
        break;
    case ONCE:
        wish->once = true;
        break;
    default:
        push_option(cli, wish, option);
    }
}

void laravel_options(struct cli *cli, int argc, char *argv[], const struct option *options,
                     int least, int most, struct laravel_wish *wish) {
    *wish = (struct laravel_wish){.count = 1, .draft = DUEQ_LARAVEL_DRAFT};
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;)
        take_option(cli, wish, option);
    cli_words(cli, argc, least - (wish->reserved != NULL), most);
}

bool laravel_open(struct cli *cli, char *argv[], const struct laravel_wish *wish, int *code) {
    cli_no_partitions(cli);
    if (!cli_connect(cli, code))
        return false;
    cli->queue_name = argv[optind++];
    dueq_status status = dueq_laravel_open(cli->client, cli->queue_name, strlen(cli->queue_name),
                                           wish->prefix, &cli->laravel);
    if (status != DUEQ_OK)
        *code = cli_report(cli, status, NULL);
    return status == DUEQ_OK;
}

/* push */

static int push(struct cli *cli, const dueq_laravel_draft *drafts, size_t count, bool *failed) {
    dueq_result *result;
    dueq_status status =
        cli_wait(cli, dueq_laravel_push_submit(cli->laravel, drafts, count), &result);
    *failed = status < 0;
    int code = *failed ? cli_report(cli, status, NULL) : CLI_DONE;
    for (size_t i = 0; i < dueq_result_count(result); i++)
        code = cli_worse(
            code, cli_made(cli, "id", dueq_result_id(result, i), dueq_result_status(result, i)));
    dueq_result_free(result);
    return code;
}

/* A cli_batch: each line is a complete payload. */
static int push_batch(struct cli *cli, const dueq_bytes *lines, size_t count, const void *context,
                      bool *failed) {
    const struct laravel_wish *wish = context;
    dueq_laravel_draft drafts[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < count; i++) {
        drafts[i] = wish->draft;
        drafts[i].payload = lines[i];
    }
    return push(cli, drafts, count, failed);
}

static int push_one(struct cli *cli, const char *job, struct laravel_wish *wish) {
    dueq_laravel_draft *draft = &wish->draft;
    dueq_bytes file = {0};
    void *store = NULL;
    bool failed;
    const char *path = wish->payload ? wish->payload : wish->object;
    if ((path && !input_file(cli, path, &file)) ||
        (wish->data && !input_word(cli, wish->data, &draft->data, &store)))
        return CLI_FAILED;
    if (wish->payload) {
        draft->payload = file;
    } else if (wish->object) {
        draft->command_name = text(job);
        draft->command = file;
    } else {
        draft->job = text(job);
    }
    if (path && file.size == 0)
        cli_usage(cli, "%s is empty", path);
    int code = push(cli, draft, 1, &failed);
    free((void *)(uintptr_t)file.data);
    free(store);
    return code;
}

static int run_push(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {
        {"data", required_argument, NULL, DATA},
        {"delay", required_argument, NULL, DELAY},
        {"at", required_argument, NULL, AT},
        {"tries", required_argument, NULL, TRIES},
        {"timeout", required_argument, NULL, TIMEOUT},
        {"backoff", required_argument, NULL, BACKOFF},
        {"max-exceptions", required_argument, NULL, MAX_EXCEPTIONS},
        {"retry-until", required_argument, NULL, RETRY_UNTIL},
        {"fail-on-timeout", no_argument, NULL, FAIL_ON_TIMEOUT},
        {"display-name", required_argument, NULL, DISPLAY_NAME},
        {"payload", required_argument, NULL, PAYLOAD},
        {"object", required_argument, NULL, OBJECT},
        {"lines", no_argument, NULL, LINES},
        LARAVEL_OPTIONS};
    struct laravel_wish wish;
    int code;
    laravel_options(cli, argc, argv, options, 0, 1, &wish);
    const char *job = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (wish.delayed && wish.draft.at_ms)
        cli_usage(cli, "--delay and --at exclude each other");
    if (!job != (wish.payload || wish.lines) || (wish.payload && wish.lines))
        cli_usage(cli, "the job is missing, or named twice: give one word, as "
                       "'App\\Jobs\\Cancel@handle', or --payload, or --lines");
    if (laravel_open(cli, argv, &wish, &code))
        code = wish.lines ? cli_each_line(cli, "pushed", push_batch, &wish)
                          : push_one(cli, job, &wish);
    free(wish.backoff);
    return code;
}

/* migrate, size and clear */

static int run_migrate(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"once", no_argument, NULL, ONCE}, LARAVEL_OPTIONS};
    struct laravel_wish wish;
    int code;
    laravel_options(cli, argc, argv, options, 0, 0, &wish);
    return laravel_open(cli, argv, &wish, &code) ? foreign_move(cli, wish.once) : code;
}

/* Runs a verb that has only the common options. */
static int plain(struct cli *cli, int argc, char *argv[], int (*act)(struct cli *cli)) {
    static const struct option options[] = {LARAVEL_OPTIONS};
    struct laravel_wish wish;
    int code;
    laravel_options(cli, argc, argv, options, 0, 0, &wish);
    return laravel_open(cli, argv, &wish, &code) ? act(cli) : code;
}

static int run_size(struct cli *cli, int argc, char *argv[]) {
    return plain(cli, argc, argv, foreign_size);
}

static int run_clear(struct cli *cli, int argc, char *argv[]) {
    return plain(cli, argc, argv, foreign_clear);
}

/* Help */

static const struct command laravel_push = {
    "laravel push", "QUEUE [JOB]", "Pushes a job, now or for later, and prints its uuid",
    "JOB is what a Laravel worker calls: 'App\\Jobs\\Cancel@handle' with the job and the data,\n"
    "or 'App\\Jobs\\Cancel' for its method fire(). The payload that pop prints contains it.\n"
    "\n"
    "Options:\n"
    "  --data JSON         the data of the job; -: standard input (\"\")\n"
    "  --delay DURATION    due after this time from now, in whole seconds: 10s, 30m, 2h (0)\n"
    "  --at TIME           due at this time: 2026-12-01T10:00:00Z, or seconds since 1970\n"
    "  --tries N           attempts until it fails (the worker's setting)\n"
    "  --timeout DURATION  how long an attempt may take (the worker's setting)\n"
    "  --backoff LIST      the delay of each further attempt: 10, or 10,60,5m (the worker's)\n"
    "  --max-exceptions N, --retry-until TIME, --fail-on-timeout, --display-name TEXT\n"
    "                      set the job's properties of these names in Laravel\n" PREFIX_HELP "\n"
    "Instead of a job and its data:\n"
    "  --payload FILE      a complete payload, stored byte for byte; -: standard input\n"
    "  --lines             a payload in each line of standard input, in large batches\n"
    "  --object FILE       JOB is a class, and FILE (or -) an object of it from serialize() of\n"
    "                      PHP\n"
    "\n"
    "A payload that a Laravel worker would lose is refused. When the same payload is delayed\n"
    "already, it stores nothing and ends with 1 (DUPLICATE).\n"
    "\n"
    "Examples:\n"
    "  dueq laravel push default 'App\\Jobs\\Cancel@handle' --data '{\"id\":17}' --delay 30m\n"
    "  dueq laravel push mails 'App\\Jobs\\Send' --tries 3 --backoff 10,60 --prefix "
    "shop_database_\n"
    "  dueq laravel push default --payload job.json\n",
    run_push};

static const struct command migrate_command = {
    "laravel migrate", "QUEUE", "Moves due jobs to the list that workers pop from",
    "Moves delayed jobs that are due and reserved jobs whose time is over, and wakes waiting\n"
    "workers, Laravel's too, on time. On SIGTERM or SIGINT (Ctrl-C) it prints how many jobs it\n"
    "moved and ends with 0. While the server is away, dueq waits for it and warns. If dueq never\n"
    "reached the server, it ends with 3.\n"
    "\n"
    "Options:\n"
    "  --once              move what is due now, and end\n"
    "  --json              {\"moved\":12,\"quarantined\":0} at the end\n" PREFIX_HELP "\n"
    "Example:\n"
    "  dueq laravel migrate default --prefix shop_database_\n",
    run_migrate};

static const struct command size_command = {
    "laravel size", "QUEUE", "Counts the jobs",
    "Prints the jobs that are ready, delayed, reserved (popped and not deleted or released) and\n"
    "quarantined (damaged, moved to a list of their own).\n"
    "\n"
    "Options:\n" PREFIX_HELP "\n"
    "Example:\n"
    "  dueq laravel size default --json\n",
    run_size};

static const struct command clear_command = {"laravel clear", "QUEUE", "Deletes all jobs",
                                             "Deletes reserved jobs too. Prints the number.\n"
                                             "\n"
                                             "Options:\n" PREFIX_HELP "\n"
                                             "Example:\n"
                                             "  dueq laravel clear default\n",
                                             run_clear};

const struct command *const laravel_verbs[] = {
    &laravel_push,    &laravel_pop,  &laravel_delete, &laravel_release,
    &migrate_command, &size_command, &clear_command,  NULL};

const struct command laravel_command = {
    "laravel", "VERB QUEUE [ARGUMENT...] [OPTION...]", "Shares a queue with Laravel",
    "QUEUE is its name in Laravel, such as default. Laravel's own workers and dispatchers use the\n"
    "queue at the same time, without changes.\n"
    "\n"
    "Options of all verbs:\n" PREFIX_HELP "\n"
    "Example: a job in 10 seconds, for php artisan queue:work or the last command here:\n"
    "  dueq laravel push default 'App\\Jobs\\Cancel@handle' --data '{\"id\":17}' --delay 10s\n"
    "  dueq laravel size default\n"
    "  dueq laravel pop default --wait forever --delete --json\n",
    NULL};
