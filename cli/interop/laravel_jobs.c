#include <stdlib.h>
#include <string.h>

#include "laravel.h"

/* pop */

static void add_text(json_object *object, const char *name, dueq_bytes value) {
    json_object_object_add(object, name, value.size > 0 ? json_text(value) : NULL);
}

static void add_number(json_object *object, const char *name, int64_t number) {
    json_object_object_add(object, name, number ? json_object_new_int64(number) : NULL);
}

/* Turns "10,60" into the JSON [10,60]. */
static json_object *backoff_of(dueq_bytes backoff) {
    char *list = NULL;
    if (asprintf(&list, "[%.*s]", (int)backoff.size, (const char *)backoff.data) < 0)
        cli_out_of_memory();
    json_object *made = json_raw((dueq_bytes){list, strlen(list)});
    free(list);
    return made;
}

static void json_job(const struct cli *cli, const dueq_job *job) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue", json_name(cli->queue_name));
    add_text(object, "id", job->id);
    add_text(object, "uuid", job->uuid);
    add_text(object, "job", job->job);
    add_text(object, "display_name", job->display_name);
    json_object_object_add(object, "attempts", json_object_new_int64(job->attempts));
    add_number(object, "max_tries", job->max_tries);
    add_number(object, "timeout_s", job->timeout_s);
    json_object_object_add(object, "backoff", backoff_of(job->backoff));
    add_number(object, "retry_until_s", job->retry_until_s);
    json_object_object_add(object, "until_ms", json_time(job->until_ms));
    json_object_object_add(object, "data", job->data.size > 0 ? json_raw(job->data) : NULL);
    json_add_bytes(object, "payload", job->payload);
    json_add_bytes(object, "reserved", job->reserved);
    json_line(object);
}

static bool print(const struct cli *cli, const dueq_job *job) {
    if (cli->json) {
        json_job(cli, job);
    } else {
        cli_put(job->reserved);
        fputc('\n', cli_out);
    }
    return cli_flush();
}

/* Prints the jobs. Releases those that could not be printed; with `finish` deletes the others. */
static int print_all(struct cli *cli, const dueq_result *popped, bool finish) {
    size_t count = dueq_result_count(popped), printed = 0;
    dueq_bytes reserved[DUEQ_MAX_BATCH];
    int code = CLI_DONE;
    cli->finishing = finish;
    for (size_t i = 0; i < count; i++)
        reserved[i] = dueq_result_job(popped, i)->reserved;
    while (printed < count && print(cli, dueq_result_job(popped, printed)))
        printed++;
    if (printed < count) {
        cli_wait(cli,
                 dueq_laravel_release_submit(cli->laravel, reserved + printed, count - printed, 0),
                 NULL);
        code = cli_output_failed(true);
        cli_log(CLI_INFO, NULL, NULL, "%zu of %zu jobs were released", count - printed, count);
    }
    if (finish && printed > 0) {
        dueq_status status =
            cli_wait(cli, dueq_laravel_delete_submit(cli->laravel, reserved, printed), NULL);
        if (status != DUEQ_OK)
            code = cli_worse(code, cli_report(cli, status, "printed, but not deleted"));
    }
    cli->finishing = false;
    return code;
}

static int run_pop(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"count", required_argument, NULL, COUNT},
                                            {"wait", required_argument, NULL, WAIT},
                                            {"retry-after", required_argument, NULL, RETRY_AFTER},
                                            {"delete", no_argument, NULL, DELETE},
                                            LARAVEL_OPTIONS};
    struct laravel_wish wish;
    dueq_result *result;
    int code;
    laravel_options(cli, argc, argv, options, 0, 0, &wish);
    if (!laravel_open(cli, argv, &wish, &code))
        return code;
    dueq_status status = cli_wait(
        cli, dueq_laravel_pop_submit(cli->laravel, wish.count, wish.wait_ms, wish.retry_after_ms),
        &result);
    cli_quarantined(dueq_result_quarantined(result));
    code = dueq_result_count(result) > 0 ? print_all(cli, result, wish.finish)
                                         : cli_report(cli, status, NULL);
    dueq_result_free(result);
    cli_check_signal(cli);
    return code;
}

/* delete and release */

static dueq_status delete_submit(struct cli *cli, const dueq_bytes *reserved, size_t count,
                                 const void *context) {
    (void)context;
    return dueq_laravel_delete_submit(cli->laravel, reserved, count);
}

static dueq_status release_submit(struct cli *cli, const dueq_bytes *reserved, size_t count,
                                  const void *wish) {
    return dueq_laravel_release_submit(cli->laravel, reserved, count,
                                       ((const struct laravel_wish *)wish)->draft.delay_ms);
}

static int settle(struct cli *cli, int argc, char *argv[], const struct option *options,
                  cli_submit submit) {
    struct laravel_wish wish;
    int code;
    laravel_options(cli, argc, argv, options, 1, argc, &wish);
    if (!laravel_open(cli, argv, &wish, &code))
        return code;
    /* Put the job of --reserved in front of the words, over the queue's name. */
    if (wish.reserved)
        argv[--optind] = (char *)(uintptr_t)wish.reserved;
    return cli_each_item(cli, argc, argv, "reserved", submit, &wish);
}

static int run_delete(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"reserved", required_argument, NULL, RESERVED},
                                            LARAVEL_OPTIONS};
    return settle(cli, argc, argv, options, delete_submit);
}

static int run_release(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"reserved", required_argument, NULL, RESERVED},
                                            {"delay", required_argument, NULL, DELAY},
                                            LARAVEL_OPTIONS};
    return settle(cli, argc, argv, options, release_submit);
}

/* Help */

const struct command laravel_pop = {
    "laravel pop", "QUEUE", "Reserves jobs, and prints them",
    "Prints a line with the payload, in which attempts is raised by one. Finish the job with this\n"
    "line (delete or release), or it is delivered again after --retry-after.\n"
    "\n"
    "Options:\n"
    "  --count N           up to N jobs (1)\n"
    "  --wait DURATION     if there is none, wait up to this long: 10s, 5m, forever (0)\n"
    "  --retry-after DURATION\n"
    "                      deliver it again after this time (90s, the default of Laravel)\n"
    "  --delete            delete each job after it is written to standard output; release those\n"
    "                      that cannot be written\n"
    "  --json              print one object a line; its `reserved` is for delete and "
    "release\n" PREFIX_HELP "\n"
    "If there is no job, it prints nothing and ends with 1. A payload that a Laravel worker would\n"
    "lose is quarantined and reported.\n"
    "\n"
    "Examples:\n"
    "  dueq laravel pop default --json --delete\n"
    "  while job=$(dueq laravel pop default --wait forever); do\n"
    "      handle \"$job\" && dueq laravel delete default \"$job\" ||\n"
    "          dueq laravel release default \"$job\" --delay 10s\n"
    "  done\n",
    run_pop};

const struct command laravel_delete = {
    "laravel delete", "QUEUE RESERVED...", "Deletes jobs that are done",
    "RESERVED is the line that pop printed, or `reserved` of its JSON. A single - reads them from\n"
    "standard input, one a line. Ends with 1 (LEASE_LOST) if a job's time was over.\n"
    "\n"
    "Options:\n"
    "  --reserved TEXT     one more RESERVED\n" PREFIX_HELP "\n"
    "Examples:\n"
    "  dueq laravel delete default \"$job\"\n"
    "  dueq laravel pop default --count 100 --json | jq -r .reserved | dueq laravel delete default "
    "-\n",
    run_delete};

const struct command laravel_release = {
    "laravel release", "QUEUE RESERVED...", "Gives jobs back to be delivered again",
    "RESERVED as for delete. Ends with 1 (LEASE_LOST) if a job's time was over, and does not\n"
    "change that job.\n"
    "\n"
    "Options:\n"
    "  --delay DURATION    due after this time from now, in whole seconds: 10s, 5m (0)\n"
    "  --reserved TEXT     one more RESERVED\n" PREFIX_HELP "\n"
    "Example:\n"
    "  dueq laravel release default \"$job\" --delay 10s\n",
    run_release};
