#include "child.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

/* A failed relock is repeated this many times within a lock's time to live. */
#define TRIES 10

/* A lock that this program holds while a command runs. Times are of the monotonic clock. */
struct hold {
    const char *name;
    dueq_bytes lock, token;
    int64_t ttl_ms;
    int64_t next_ms;  /* when the next relock is due */
    int64_t asked_ms; /* when the current relock began */
    int64_t sure_ms;  /* the lock is held at least until then */
    bool asking, lost, warned;
};

static dueq_bytes text(const char *word) { return (dueq_bytes){word, strlen(word)}; }

/* cli_report() with texts about a lock. */
static int report(const struct cli *cli, dueq_status status, const char *name) {
    if (status != DUEQ_LEASE_LOST)
        return cli_report(cli, status, name);
    cli_log(CLI_ERROR, dueq_status_name(status), NULL,
            "%s: the lock has ended; another process may hold it", name);
    return CLI_OUTCOME;
}

/* cli_outcome() with texts about a lock. */
static int outcome(const struct cli *cli, const char *name, const char *key, dueq_bytes subject,
                   dueq_status status) {
    return status >= 0 && cli->json ? cli_item(cli, key, subject, status)
                                    : report(cli, status, name);
}

/* lock -- COMMAND */

static void lose(struct hold *hold) {
    cli_log(CLI_ERROR, dueq_status_name(DUEQ_LEASE_LOST),
            "another process may hold it now; a longer --ttl keeps it through longer outages",
            "%s: the lock was lost while the command ran", hold->name);
    hold->lost = true;
}

static void relocked(const struct cli *cli, struct hold *hold, dueq_status status) {
    hold->asking = false;
    if (status == DUEQ_OK) {
        hold->sure_ms = hold->asked_ms + hold->ttl_ms;
        hold->next_ms = hold->asked_ms + hold->ttl_ms / 3 + 1;
        hold->warned = false;
    } else if (status == DUEQ_LEASE_LOST) {
        lose(hold);
    } else {
        hold->next_ms = time_monotonic_ms() + hold->ttl_ms / TRIES + 1;
        if (!hold->warned) {
            cli_report(cli, status, hold->name);
            cli_log(CLI_INFO, NULL, NULL, "the lock could not be extended; this is tried again");
        }
        hold->warned = true;
        if (time_monotonic_ms() > hold->sure_ms)
            lose(hold);
    }
}

/* Begins a relock when one is due, and completes the current one. */
static void keep(struct cli *cli, struct hold *hold) {
    if (!hold->asking && !hold->lost && time_monotonic_ms() >= hold->next_ms) {
        hold->asking = true;
        hold->asked_ms = time_monotonic_ms();
        dueq_status status = dueq_relock_submit(cli->queue, hold->lock, hold->token, hold->ttl_ms);
        if (status != DUEQ_PENDING)
            relocked(cli, hold, status);
    }
    if (hold->asking && dueq_pump(cli->client) != DUEQ_PENDING)
        relocked(cli, hold, dueq_take(cli->client, NULL));
    cli_warn(cli);
}

/* Forwards signals to the command. Signals from the terminal have reached the command already. */
static void pass_signals(const struct child *child) {
    bool reached;
    for (int number; (number = child_signal(&reached)) != 0;)
        if (!reached && !child->ended)
            kill(child->pid, number);
}

/* Waits until a relock is due, its answer comes, or a signal comes. */
static void idle(struct cli *cli, const struct hold *hold, int events) {
    struct pollfd set[DUEQ_MAX_SOCKETS + 1];
    size_t count = 0;
    int timeout_ms = -1;
    if (hold->asking) {
        count = dueq_poll_set(cli->client, set, &timeout_ms);
    } else if (!hold->lost) {
        int64_t left_ms = hold->next_ms - time_monotonic_ms();
        timeout_ms = left_ms < 0 ? 0 : left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
    }
    set[count++] = (struct pollfd){events, POLLIN, 0};
    poll(set, (nfds_t)count, timeout_ms);
}

/* Runs the command, extends the lock meanwhile, and releases it. Returns the exit code. */
static int run_under(struct cli *cli, struct hold *hold, char *argv[]) {
    static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, 0};
    struct environment environment = environment_of(cli, NULL, NULL);
    struct child_place here = CHILD_HERE;
    here.environment = environment.list;
    struct child child = {.code = CLI_FAILED};
    cli->finishing = true;
    int events = child_listen(passed);
    bool runs = events >= 0 && !cli_signal() && child_start(&child, argv, &here);
    environment_end(&environment);
    while (runs) {
        pass_signals(&child);
        child_look(&child);
        if (child.ended)
            break;
        keep(cli, hold);
        idle(cli, hold, events);
    }
    if (hold->asking)
        dueq_abandon(cli->client);
    if (hold->lost)
        return CLI_LOST;
    dueq_status status =
        cli_wait(cli, dueq_unlock_submit(cli->queue, hold->lock, hold->token), NULL);
    if (status == DUEQ_LEASE_LOST) {
        lose(hold);
    } else if (status != DUEQ_OK) {
        cli_report(cli, status, hold->name);
        cli_log(CLI_INFO, NULL, NULL, "the lock could not be released; it ends after its --ttl");
        if (time_monotonic_ms() > hold->sure_ms)
            lose(hold);
    }
    return hold->lost ? CLI_LOST : cli_signal() ? 128 + cli_signal() : child.code;
}

static int run_lock(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"ttl", required_argument, NULL, 't'},
                                            {"wait", required_argument, NULL, 'w'},
                                            CHILD_OPTIONS,
                                            CLI_OPTIONS};
    struct hold hold = {.ttl_ms = DUEQ_DEFAULT_LEASE_MS};
    int64_t wait_ms = 0;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 't')
            hold.ttl_ms = cli_duration(cli, "ttl", optarg);
        else
            wait_ms = cli_patience(cli, optarg);
    }
    cli_words(cli, argc, 1, argc);
    if (!cli_open(cli, argv, &code))
        return code;
    char **command = argv + optind + 1;
    hold.name = argv[optind];
    hold.lock = text(hold.name);
    dueq_result *result;
    dueq_status status =
        cli_wait(cli, dueq_lock_submit(cli->queue, hold.lock, hold.ttl_ms, wait_ms), &result);
    if (status != DUEQ_OK && *command) {
        code = report(cli, status, hold.name);
        code = status == DUEQ_TAKEN ? CLI_TAKEN : code;
    } else if (status != DUEQ_OK) {
        code = outcome(cli, hold.name, "name", hold.lock, status);
    } else if (*command) {
        int64_t now_ms = time_monotonic_ms();
        hold.token = dueq_result_id(result, 0);
        hold.next_ms = now_ms + hold.ttl_ms / 3;
        hold.sure_ms = now_ms + hold.ttl_ms;
        code = run_under(cli, &hold, command);
    } else {
        code = cli_made(cli, "token", dueq_result_id(result, 0), status);
    }
    dueq_result_free(result);
    return code;
}

/* relock and unlock */

/* Completes relock or unlock. Returns the exit code. */
static int settle(struct cli *cli, const char *name, dueq_bytes token, dueq_status status) {
    return outcome(cli, name, "token", token, cli_wait(cli, status, NULL));
}

static int run_relock(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"ttl", required_argument, NULL, 't'}, CLI_OPTIONS};
    int64_t ttl_ms = DUEQ_DEFAULT_LEASE_MS;
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ttl_ms = cli_duration(cli, "ttl", optarg);
    cli_words(cli, argc, 2, 2);
    if (!cli_open(cli, argv, &code))
        return code;
    const char *name = argv[optind];
    dueq_bytes token = text(argv[optind + 1]);
    return settle(cli, name, token, dueq_relock_submit(cli->queue, text(name), token, ttl_ms));
}

static int run_unlock(struct cli *cli, int argc, char *argv[]) {
    int code;
    if (!cli_begin(cli, argc, argv, 2, &code))
        return code;
    const char *name = argv[optind];
    dueq_bytes token = text(argv[optind + 1]);
    return settle(cli, name, token, dueq_unlock_submit(cli->queue, text(name), token));
}

const struct command lock_command = {
    "lock", "QUEUE NAME [-- COMMAND...]", "Acquires a lock, and runs a command while it holds it",
    "Only one process at a time holds a lock of this name of this queue. dueq extends the lock\n"
    "while the command runs, and releases it when the command ends. If dueq is killed, the lock\n"
    "ends after --ttl. dueq forwards signals to the command, and ends with its exit code.\n"
    "Without a command dueq prints a token for relock and unlock, and the lock ends after --ttl.\n"
    "\n"
    "Options:\n"
    "  --ttl DURATION   the lock ends when it was not extended for this long (30s)\n"
    "  --wait DURATION  if another process holds it, wait up to this long: 10s, 5m, forever (0)\n"
    "  --pass-url       put the user and the password into the command's DUEQ_URL too\n"
    "\n"
    "Exit codes with a command, apart from its own: 124 another process holds the lock, and the\n"
    "command was not run; 125 the lock was lost while the command ran; 126 the command cannot be\n"
    "run; 127 there is no such command. Without a command: 1 another process holds the lock.\n"
    "\n"
    "Examples:\n"
    "  dueq lock orders report -- ./make-report --all\n"
    "  dueq lock orders report --wait 10m --ttl 1m -- sh -c 'make report && make send'\n"
    "  token=$(dueq lock orders report --ttl 1h) && ./report && dueq unlock orders report $token\n",
    run_lock};

const struct command relock_command = {
    "relock", "QUEUE NAME TOKEN", "Extends a lock",
    "TOKEN is what lock printed. Ends with 1 (LEASE_LOST) when the lock has ended.\n"
    "\n"
    "Options:\n"
    "  --ttl DURATION  the lock ends after this time from now (30s)\n"
    "\n"
    "Example:\n"
    "  dueq relock orders report \"$token\" --ttl 1h\n",
    run_relock};

const struct command unlock_command = {
    "unlock", "QUEUE NAME TOKEN", "Releases a lock",
    "TOKEN is what lock printed. Ends with 1 (LEASE_LOST) when the lock has ended already.\n"
    "\n"
    "Example:\n"
    "  dueq unlock orders report \"$token\"\n",
    run_unlock};
