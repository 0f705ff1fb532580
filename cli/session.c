#include "cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
/* The earlier actions: a shell may start the program with signals ignored. */
static const int numbers[] = {SIGINT, SIGTERM, SIGPIPE};
static struct sigaction before[sizeof numbers / sizeof *numbers];

static void on_signal(int number) {
    if (caught)
        _exit(128 + number); /* a second signal ends the program at once */
    caught = number;
}

void cli_signals(void) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_handler = numbers[i] == SIGPIPE ? SIG_IGN : on_signal};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, &before[i]);
    }
}

void cli_signals_undo(void) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &before[i], NULL);
}

int cli_signal(void) { return caught; }

void cli_check_signal(struct cli *cli) {
    if (!caught || cli->finishing)
        return;
    if (cli->client)
        dueq_abandon(cli->client);
    cli_close(cli);
    cli_flush();
    _exit(128 + caught);
}

bool cli_connect(struct cli *cli, int *code) {
    dueq_status status = dueq_open(cli->url, &cli->client);
    if (status != DUEQ_OK)
        *code = cli_report(cli, status, NULL);
    else
        cli_warn(cli);
    return status == DUEQ_OK;
}

void cli_no_partitions(const struct cli *cli) {
    if (cli->partitions || cli->key)
        cli_usage(cli, "--partitions and --key are for commands on one queue of dueq's own");
}

bool cli_open_queue(struct cli *cli, const char *name, int *code) {
    if (cli->key && !cli->partitions)
        cli_usage(cli, "--key needs --partitions");
    dueq_bytes key = {cli->key, cli->key ? strlen(cli->key) : 0};
    dueq_status status = cli->partitions
                             ? dueq_partitions_open(cli->client, name, strlen(name),
                                                    cli->partitions, key, &cli->queue)
                             : dueq_queue_open(cli->client, name, strlen(name), &cli->queue);
    if (status != DUEQ_OK) {
        *code = cli_report(cli, status, NULL);
        return false;
    }
    cli->queue_name = cli->names[cli->queue_count] = name;
    cli->queues[cli->queue_count++] = cli->queue;
    return true;
}

dueq_queue *cli_source(struct cli *cli, size_t place) {
    if (!cli->partitions) {
        cli->queue_name = cli->names[place];
        return cli->queues[place];
    }
    struct part *part = cli->parts[place];
    if (!part) {
        const char *whole = cli->names[0];
        part = cli->parts[place] = calloc(1, sizeof *part);
        if (!part)
            cli_out_of_memory();
        size_t size = dueq_partition_name((dueq_bytes){whole, strlen(whole)}, place, part->name);
        if (dueq_queue_open(cli->client, part->name, size, &part->queue) != DUEQ_OK)
            cli_out_of_memory();
    }
    cli->queue_name = part->name;
    return part->queue;
}

bool cli_open(struct cli *cli, char *argv[], int *code) {
    const char *name = argv[optind++];
    return cli_connect(cli, code) && cli_open_queue(cli, name, code);
}

bool cli_open_queues(struct cli *cli, char *names[], size_t count, int *code) {
    if (count > 1)
        cli_no_partitions(cli);
    bool good = cli_connect(cli, code);
    for (size_t i = 0; good && i < count; i++)
        good = cli_open_queue(cli, names[i], code);
    return good;
}

bool cli_begin(struct cli *cli, int argc, char *argv[], int words, int *code) {
    static const struct option options[] = {CLI_OPTIONS};
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_words(cli, argc, words, words);
    return cli_open(cli, argv, code);
}

void cli_close_queue(struct cli *cli) {
    dueq_queue_close(cli->queues[--cli->queue_count]);
    cli->queue = NULL;
}

void cli_close(struct cli *cli) {
    while (cli->queue_count > 0)
        cli_close_queue(cli);
    for (size_t i = 0; i < DUEQ_MAX_PARTITIONS; i++) {
        if (cli->parts[i])
            dueq_queue_close(cli->parts[i]->queue);
        free(cli->parts[i]);
        cli->parts[i] = NULL;
    }
    dueq_redisson_close(cli->redisson);
    dueq_laravel_close(cli->laravel);
    dueq_close(cli->client);
    cli->client = NULL;
    free(cli->url);
    cli->url = NULL;
}

dueq_status cli_wait(struct cli *cli, dueq_status status, dueq_result **result) {
    if (result)
        *result = NULL;
    if (status != DUEQ_PENDING)
        return status;
    if (cli->wait) {
        status = cli->wait(cli);
        return status == DUEQ_INTERRUPTED ? status : dueq_take(cli->client, result);
    }
    /* In slices: a signal that comes just before the wait begins would not end a longer wait. */
    do {
        cli_check_signal(cli);
        status = dueq_wait(cli->client, 500);
        cli_warn(cli);
    } while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED);
    return dueq_take(cli->client, result);
}
