#include "foreign.h"

#include <string.h>

/* Begins one step: moves up to DUEQ_MAX_BATCH values. */
static dueq_status move(struct cli *cli, int64_t timeout_ms) {
    return cli->laravel ? dueq_laravel_migrate_submit(cli->laravel, DUEQ_MAX_BATCH, timeout_ms)
                        : dueq_redisson_transfer_submit(cli->redisson, DUEQ_MAX_BATCH, timeout_ms);
}

/*
 * Completes a step. A signal ends the step's wait, but not the step: what it has moved is counted.
 */
static dueq_status complete(struct cli *cli, dueq_status status, dueq_result **result) {
    *result = NULL;
    if (status != DUEQ_PENDING)
        return status;
    do {
        if (cli_signal())
            dueq_stop_wait(cli->client);
        status = dueq_wait(cli->client, 500);
        cli_warn(cli);
    } while (status == DUEQ_PENDING || status == DUEQ_INTERRUPTED);
    return dueq_take(cli->client, result);
}

int foreign_move(struct cli *cli, bool once) {
    size_t moved = 0, quarantined = 0;
    bool goes = true;
    int code = CLI_DONE;
    while (goes && !cli_signal()) {
        dueq_result *result;
        dueq_status status = complete(cli, move(cli, once ? 0 : DUEQ_FOREVER), &result);
        const dueq_moved *step = dueq_result_moved(result);
        if (step) {
            moved += step->moved;
            quarantined += step->quarantined;
            cli_quarantined(step->quarantined);
            cli_progress(moved, "moved");
        }
        dueq_result_free(result);
        /*
         * A failure of a step that a signal ended is no error: the step may have waited for the
         * server.
         */
        if (status < 0 && !(cli_signal() && dueq_status_retriable(status)))
            code = cli_report(cli, status, NULL);
        goes = status == DUEQ_OK || (status == DUEQ_EMPTY && !once);
    }
    if (once && cli_signal())
        code = 128 + cli_signal();
    if (cli->json)
        fprintf(cli_out, "{\"moved\":%zu,\"quarantined\":%zu}\n", moved, quarantined);
    else
        cli_sum(cli, moved, "moved");
    return code;
}

/* What the other system calls its queue. */
static const char *kind(const struct cli *cli) { return cli->laravel ? "queue" : "destination"; }

static void json_sizes(const struct cli *cli, const dueq_sizes *from) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, kind(cli), json_name(cli->queue_name));
    DUEQ_SIZES_FIELDS(JSON_FIELD)
    json_line(object);
}

static void row(const char *name, int64_t count) {
    cli_label(name);
    fprintf(cli_out, "%lld\n", (long long)count);
}

static void print_sizes(const struct cli *cli, const dueq_sizes *sizes) {
    cli_label(kind(cli));
    cli_put_text(cli->queue_name);
    fputc('\n', cli_out);
    cli_label("server");
    cli_put_text(dueq_client_url(cli->client));
    fputc('\n', cli_out);
    row("ready", sizes->ready);
    row("delayed", sizes->delayed);
    if (cli->laravel)
        row("reserved", sizes->reserved);
    row("quarantined", sizes->quarantined);
    if (sizes->next_ms) {
        cli_label("next");
        cli_print_time(sizes->next_ms, sizes->now_ms);
    }
}

int foreign_size(struct cli *cli) {
    dueq_result *result;
    dueq_status status = cli_wait(cli,
                                  cli->laravel ? dueq_laravel_size_submit(cli->laravel)
                                               : dueq_redisson_size_submit(cli->redisson),
                                  &result);
    if (status == DUEQ_OK)
        (cli->json ? json_sizes : print_sizes)(cli, dueq_result_sizes(result));
    dueq_result_free(result);
    return cli_report(cli, status, NULL);
}

int foreign_clear(struct cli *cli) {
    dueq_result *result;
    dueq_status status = cli_wait(cli,
                                  cli->laravel ? dueq_laravel_clear_submit(cli->laravel)
                                               : dueq_redisson_clear_submit(cli->redisson),
                                  &result);
    if (status == DUEQ_OK)
        cli_sum(cli, dueq_result_purged(result), "cleared");
    dueq_result_free(result);
    return cli_report(cli, status, NULL);
}
