#include "work.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONCURRENCY 500

/*
 * From sysexits.h: the input is wrong, and will be wrong at the next attempt. After any other
 * failure the message is tried again, also after EX_TEMPFAIL (75).
 */
#define EX_DATAERR 65

enum { CONCURRENCY, QUEUES, TIMEOUT, GRACE, MAX_JOBS, MAX_TIME, RETRY_DELAY, BURY_ON, LOG };

/* Made from core/options.toml by core/verbs.py: the options of consume. */
/* clang-format off */
enum {
    CONSUME_LEASE = 0x300,
    CONSUME_MAX_RUN,
    CONSUME_TIMEOUT,
    CONSUME_SLACK,
    CONSUME_ORDER
};

/* These go into the list of a command's options. */
#define CONSUME_OPTIONS                                                                            \
    {"lease", required_argument, NULL, CONSUME_LEASE},                                             \
    {"max-run", required_argument, NULL, CONSUME_MAX_RUN},                                         \
    {"wait", required_argument, NULL, CONSUME_TIMEOUT},                                            \
    {"slack", required_argument, NULL, CONSUME_SLACK},                                             \
    {"round-robin", no_argument, NULL, CONSUME_ORDER}

/* The texts of --help. */
#define CONSUME_HELP                                                                               \
    "  --lease DURATION        if dueq or its machine crashes, the message is delivered again\n"   \
    "                          within this time (the message's own, or 8s)\n"                      \
    "  --max-run DURATION      extend a lease for no longer than this (1h, or longer if\n"         \
    "                          --timeout is longer); 0: do not extend it\n"                        \
    "  --wait DURATION         end when no command ran and no message came for this long; 0:\n"    \
    "                          when nothing is ready (forever)\n"                                  \
    "  --slack DURATION        deliver a message up to this much after its due time, up to\n"      \
    "                          100ms, to save requests; never before it (0)\n"                     \
    "  --round-robin           with several queues: begin with another queue each time\n"          \
    "                          (without: take from the first queue that has a message)\n"
/* clang-format on */

static void consume_option(const struct cli *cli, dueq_consumer_options *options,
                           int64_t *timeout_ms, int option, const char *given) {
    switch (option) {
    case CONSUME_LEASE:
        options->lease_ms = cli_duration(cli, "lease", given);
        break;
    case CONSUME_MAX_RUN:
        options->max_run_ms = cli_duration(cli, "max-run", given);
        break;
    case CONSUME_TIMEOUT:
        *timeout_ms = cli_patience(cli, given);
        break;
    case CONSUME_SLACK:
        options->slack_ms = cli_duration(cli, "slack", given);
        break;
    case CONSUME_ORDER:
        options->order = DUEQ_ROUND_ROBIN;
        break;
    }
}
/* The end of what was made. */

/* The queues, from --queues or from the words. */
struct sources {
    char *list; /* text of --queues, cut into names; owned */
    char *names[DUEQ_MAX_QUEUES];
    long weights[DUEQ_MAX_QUEUES];
    size_t count;
    bool weighted;
};

/* Cuts the weight off, behind the last colon; 0: there is none. */
static long cut_weight(const struct cli *cli, char *name) {
    char *colon = strrchr(name, ':');
    if (!colon)
        return 0;
    *colon = '\0';
    return cli_number(cli, "queues", colon + 1, 1, DUEQ_MAX_QUEUES);
}

/*
 * Repeats each name as often as its weight says, evenly spread: round robin then serves the queues
 * by weight.
 */
static void spread(const struct cli *cli, struct sources *sources) {
    char *names[DUEQ_MAX_QUEUES];
    long credit[DUEQ_MAX_QUEUES] = {0}, total = 0;
    for (size_t i = 0; i < sources->count; i++)
        total += sources->weights[i];
    if (total > DUEQ_MAX_QUEUES)
        cli_usage(cli, "--queues: the sum of the weights is %ld, more than %d", total,
                  DUEQ_MAX_QUEUES);
    for (long turn = 0; turn < total; turn++) {
        size_t most = 0;
        for (size_t i = 0; i < sources->count; i++) {
            credit[i] += sources->weights[i];
            most = credit[i] > credit[most] ? i : most;
        }
        credit[most] -= total;
        names[turn] = sources->names[most];
    }
    sources->count = (size_t)total;
    memcpy(sources->names, names, sources->count * sizeof *names);
}

/* "high:3,low:1", or "high,low". */
static void read_queues(const struct cli *cli, struct sources *sources, const char *given) {
    char *rest;
    free(sources->list);
    if (!(sources->list = strdup(given)))
        cli_out_of_memory();
    sources->count = 0;
    for (char *name = strtok_r(sources->list, ",", &rest); name;
         name = strtok_r(NULL, ",", &rest)) {
        if (sources->count == DUEQ_MAX_QUEUES)
            cli_usage(cli, "--queues names more than %d queues", DUEQ_MAX_QUEUES);
        long weight = cut_weight(cli, name);
        if (sources->count > 0 && sources->weighted != (weight > 0))
            cli_usage(cli, "--queues %s: give a weight to all queues or to none", given);
        sources->weighted = weight > 0;
        sources->weights[sources->count] = weight;
        sources->names[sources->count++] = name;
    }
    if (sources->count == 0)
        cli_usage(cli, "--queues is empty");
    if (sources->weighted)
        spread(cli, sources);
}

static void read_log(const struct cli *cli, const char *given) {
    if (strcmp(given, "json") != 0 && strcmp(given, "text") != 0)
        cli_usage(cli, "--log %s is not text or json", given);
    cli_log_json(given[0] == 'j');
}

static void take_option(const struct cli *cli, struct work *work, struct sources *sources,
                        int option) {
    switch (option) {
    case CONCURRENCY:
        work->concurrency = (size_t)cli_number(cli, "concurrency", optarg, 1, MAX_CONCURRENCY);
        break;
    case QUEUES:
        read_queues(cli, sources, optarg);
        break;
    case TIMEOUT:
        work->timeout_ms = cli_duration(cli, "timeout", optarg);
        break;
    case GRACE:
        work->grace_ms = cli_duration(cli, "grace", optarg);
        break;
    case MAX_JOBS:
        work->max_jobs = cli_number(cli, "max-jobs", optarg, 1, INT32_MAX);
        break;
    case MAX_TIME:
        work->max_time_ms = cli_duration(cli, "max-time", optarg);
        break;
    case RETRY_DELAY:
        work->retry_ms = cli_duration(cli, "retry-delay", optarg);
        break;
    case BURY_ON:
        work->bury_on[cli_number(cli, "bury-on", optarg, 1, 255)] = true;
        break;
    case LOG:
        read_log(cli, optarg);
        break;
    default:
        consume_option(cli, &work->consumer, &work->wait_ms, option, optarg);
    }
}

/* Takes the queues from the words, unless --queues was given. */
static void read_words(const struct cli *cli, struct sources *sources, int argc, char *argv[]) {
    if (sources->list && optind < argc)
        cli_usage(cli, "name the queues by --queues or as arguments, not both");
    if (sources->list)
        return;
    cli_words(cli, argc, 0, DUEQ_MAX_QUEUES - 1);
    for (; optind < argc; optind++)
        sources->names[sources->count++] = argv[optind];
}

static int run(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"concurrency", required_argument, NULL, CONCURRENCY},
                                            {"queues", required_argument, NULL, QUEUES},
                                            {"timeout", required_argument, NULL, TIMEOUT},
                                            {"grace", required_argument, NULL, GRACE},
                                            {"max-jobs", required_argument, NULL, MAX_JOBS},
                                            {"max-time", required_argument, NULL, MAX_TIME},
                                            {"retry-delay", required_argument, NULL, RETRY_DELAY},
                                            {"bury-on", required_argument, NULL, BURY_ON},
                                            {"log", required_argument, NULL, LOG},
                                            CONSUME_OPTIONS,
                                            CHILD_OPTIONS,
                                            CLI_OPTIONS};
    struct sources sources = {0};
    struct work work = {.concurrency = 1,
                        .wait_ms = DUEQ_FOREVER,
                        .retry_ms = DUEQ_BY_POLICY,
                        .grace_ms = WORK_GRACE_MS,
                        .bury_on[EX_DATAERR] = true,
                        .consumer = DUEQ_CONSUMER};
    /* no warning of forgotten messages: the worker settles each when its command ends */
    work.consumer.concurrency = 0;
    work.consumer.max_run_ms = -1; /* unless --max-run is given: at least --timeout, see below */
    /* Cut the arguments at --: getopt would mix the words before and behind it. */
    int words = 1;
    while (words < argc && strcmp(argv[words], "--") != 0)
        words++;
    work.command = words < argc ? argv + words + 1 : NULL;
    argv[words] = NULL;
    argc = words;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;)
        take_option(cli, &work, &sources, option);
    if (work.consumer.max_run_ms < 0)
        work.consumer.max_run_ms = work.timeout_ms + WORK_KILL_MS > DUEQ_MAX_RUN_MS
                                       ? work.timeout_ms + WORK_KILL_MS
                                       : DUEQ_MAX_RUN_MS;
    work.consumer.program = "dueq work";
    work.consumer.slots = work.concurrency;
    read_words(cli, &sources, argc, argv);
    if (sources.weighted && work.consumer.order == DUEQ_ROUND_ROBIN)
        cli_usage(cli, "--round-robin and weights exclude each other");
    if (!work.command || !work.command[0])
        cli_usage(cli, "the command is missing; for example: dueq work %s -- ./handle",
                  sources.names[0]);
    if (sources.weighted)
        work.consumer.order = DUEQ_ROUND_ROBIN;
    int code;
    if (cli_open_queues(cli, sources.names, sources.count, &code))
        code = worker_run(cli, &work);
    free(sources.list);
    return code;
}

const struct command work_command = {
    "work", "QUEUE... -- COMMAND...", "Runs a command for each message",
    "The command reads the body from its standard input. When it ends with 0, dueq acknowledges\n"
    "the message. When it ends with 65, the message is dead at once (EX_DATAERR of sysexits.h).\n"
    "Any other end, such as 75 (EX_TEMPFAIL), is a failure: the message is delivered again by its\n"
    "--backoff, up to its --max-attempts, and its error is the last line that the command wrote\n"
    "to standard error, or else \"exit 3\" or \"signal 9\". dueq logs the failure and goes on. It\n"
    "extends the lease while the command runs. When dueq is killed, the command gets SIGTERM, and\n"
    "the message is delivered again after --lease.\n"
    "\n"
    "Options:\n"
    "  --concurrency N         run up to N commands at a time (1)\n"
    "  --queues LIST           instead of QUEUE...: high,low takes from the first queue that has\n"
    "                          a message; high:3,low:1 tries high first three times out of four\n"
    "  --timeout DURATION      end a command that runs for this long, as a failure: SIGTERM to it\n"
    "                          and all that it started, and SIGKILL 3 seconds later (none)\n"
    "  --retry-delay DURATION  the delay after a failure (by the message's backoff)\n"
    "  --bury-on CODE          a further exit code that makes the message dead at once; may be\n"
    "                          repeated\n"
    "  --max-jobs N            end after N messages\n"
    "  --max-time DURATION     end after this time, when the running commands have ended\n"
    "  --grace DURATION        how long the running commands may go on after SIGTERM "
    "(25s)\n" CONSUME_HELP
    "  --pass-url              put the user and the password into the commands' DUEQ_URL\n"
    "  --json                  print a line for each message, with queue, id, attempt, code,\n"
    "                          seconds, error, and outcome (acked, retried, exhausted, buried,\n"
    "                          released; lost: another consumer took it; unknown: the server did\n"
    "                          not answer); what the commands print goes to standard error\n"
    "  --log text|json         what dueq itself writes to standard error: lines, or JSON objects\n"
    "                          (text; with --json: json)\n"
    "\n"
    "The command's environment:\n"
    "  DUEQ_QUEUE, DUEQ_ID, DUEQ_TICKET\n"
    "  DUEQ_ATTEMPT     1 the first time, and one more after each failure\n"
    "  DUEQ_DELIVERIES  how often it was delivered\n"
    "  DUEQ_HEADER_...  each header whose name has only ASCII letters, digits, - and _: the name\n"
    "                   in capitals, with _ for - (content-type: DUEQ_HEADER_CONTENT_TYPE). If\n"
    "                   two names become the same, the first header wins\n"
    "  DUEQ_URL         the URL of --url or DUEQ_URL, without users and passwords, also those of\n"
    "                   sentinels, unless --pass-url is given\n"
    "A producer chooses these values, the id too: check them before you use them as a file name\n"
    "(../x) or as an argument of a command (--x). A value with a NUL byte is left out. A message\n"
    "fails if its variables are too large for the system: on Linux one may have 128 KiB, and all,\n"
    "with those of dueq itself, a quarter of the stack limit (usually 2 MiB).\n"
    "\n"
    "Signals:\n"
    "  TERM, INT, HUP, QUIT  reserve no further message, wait for the running commands up to\n"
    "                        --grace, then end them by SIGTERM and 3 seconds later by SIGKILL and\n"
    "                        release their messages, which counts as no failure; dueq ends with\n"
    "                        0. A second signal ends the commands at once, by SIGKILL, and dueq\n"
    "                        with 128 + N\n"
    "  TSTP, CONT            TSTP: reserve no further message until CONT\n"
    "  USR1                  print to standard error what runs, and since when\n"
    "  USR2                  is forwarded to the commands\n"
    "A service manager with NOTIFY_SOCKET (systemd: Type=notify) gets READY=1 when the server has\n"
    "answered, and STOPPING=1.\n"
    "\n"
    "If the command cannot be run, dueq releases the message and ends with 126, or with 127 if\n"
    "there is no such command. While the server cannot be reached, dueq tries again every second,\n"
    "up to --wait. It logs this after a second, again 10 seconds later, then each time after\n"
    "twice as long, up to 10 minutes, with the time and the number of tries, and at last that\n"
    "the server answers again.\n"
    "\n"
    "Examples:\n"
    "  dueq work orders -- ./handle\n"
    "  dueq work mails --concurrency 4 --timeout 1m --bury-on 64 -- sendmail -t\n"
    "  dueq work images --wait 0 -- sh -c 'convert - \"$(mktemp out/XXXXXXXX.webp)\"'\n"
    "  dueq work --queues high:3,low:1 --max-jobs 1000 --log json -- php worker.php 2>> work.log\n"
    "  dueq work pages -- sh -c 'text=$(./fetch) && dueq push texts \"$text\"'\n",
    run};
