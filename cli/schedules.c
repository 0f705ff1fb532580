#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "workers_view.h"

/*
 * Schedules of all queues: the list of them, and the removal of those that the latest release of an
 * app has not declared.
 */

enum { PAGE = DUEQ_MAX_BATCH };

struct row {
    const char *queue;
    const dueq_message *message;
};

/* The schedules that were found. They live in the pages. Start from {0}; end with end(). */
struct found {
    struct cli_names queues;
    dueq_result **pages;
    struct row *rows;
    size_t page_count, count;
};

static void end(struct found *found) {
    for (size_t i = 0; i < found->page_count; i++)
        dueq_result_free(found->pages[i]);
    free(found->pages);
    free(found->rows);
    cli_free_names(&found->queues);
}

static bool equal(dueq_bytes one, dueq_bytes other) {
    return one.size == other.size && (!one.size || memcmp(one.data, other.data, one.size) == 0);
}

/* A schedule that fires between two pages is in two states: the later page is right. */
static void add_row(struct found *found, const char *queue, const dueq_message *message) {
    for (size_t i = found->count; i-- > 0 && found->rows[i].queue == queue;)
        if (equal(found->rows[i].message->id, message->id)) {
            found->rows[i].message = message;
            return;
        }
    found->rows = cli_grown(found->rows, found->count + 1, sizeof *found->rows);
    found->rows[found->count++] = (struct row){queue, message};
}

/* Adds the schedules of a page. Returns whether the page has one, and so must stay. */
static bool add_page(struct found *found, const char *queue, const dueq_result *page) {
    bool has = false;
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        if (message && dueq_is_schedule(message)) {
            add_row(found, queue, message);
            has = true;
        }
    }
    return has;
}

static dueq_status read_state(struct cli *cli, dueq_queue *queue, const char *name,
                              dueq_state state, struct found *found) {
    char *cursor = NULL;
    size_t size = 0;
    dueq_status status;
    do {
        dueq_result *page;
        status =
            cli_wait(cli, dueq_peek_submit(queue, state, (dueq_bytes){cursor, size}, PAGE), &page);
        dueq_bytes next = dueq_result_cursor(page);
        size = status == DUEQ_OK ? next.size : 0;
        cursor = cli_grown(cursor, size + 1, 1);
        if (size)
            memcpy(cursor, next.data, size);
        if (add_page(found, name, page)) {
            found->pages = cli_grown(found->pages, found->page_count + 1, sizeof(dueq_result *));
            found->pages[found->page_count++] = page;
        } else {
            dueq_result_free(page);
        }
    } while (status == DUEQ_OK && size);
    free(cursor);
    return status;
}

static dueq_status read_queue(struct cli *cli, const char *name, struct found *found) {
    dueq_queue *queue;
    dueq_status status = dueq_queue_open(cli->client, name, strlen(name), &queue);
    if (status != DUEQ_OK)
        return status;
    dueq_queue_preview(queue, CLI_PREVIEW);
    for (dueq_state state = DUEQ_READY; status == DUEQ_OK && state <= DUEQ_DEAD; state++)
        status = read_state(cli, queue, name, state, found);
    dueq_queue_close(queue);
    return status;
}

static int by_name(const void *first, const void *second) {
    const struct row *one = first, *other = second;
    int order = strcmp(one->queue, other->queue);
    dueq_bytes left = one->message->id, right = other->message->id;
    if (!order)
        order = memcmp(left.data, right.data, left.size < right.size ? left.size : right.size);
    return order ? order : (left.size > right.size) - (left.size < right.size);
}

/*
 * Reads the schedules of these queues; count 0: of all queues. Logs each queue that cannot be read.
 * Returns the exit code.
 */
static int read_all(struct cli *cli, char *names[], size_t count, struct found *found) {
    for (size_t i = 0; i < count; i++)
        cli_add_name(&found->queues, (dueq_bytes){names[i], strlen(names[i])});
    cli_sort_names(&found->queues);
    int code = count ? CLI_DONE : cli_report(cli, cli_read_names(cli, &found->queues), NULL);
    bool whole = code == CLI_DONE;
    for (size_t i = 0; whole && i < found->queues.count; i++) {
        const char *name = found->queues.list[i];
        code = cli_worse(code, cli_report(cli, read_queue(cli, name, found), name));
    }
    if (found->count)
        qsort(found->rows, found->count, sizeof *found->rows, by_name);
    return code;
}

/* schedules */

static void put_cell(dueq_bytes text) {
    cli_put_brief(text.size ? text : (dueq_bytes){"-", 1}, 60);
    fputs("  ", cli_out);
}

static void print_row(const struct row *row) {
    const dueq_message *message = row->message;
    put_cell((dueq_bytes){row->queue, strlen(row->queue)});
    put_cell(schedule_name(message));
    put_cell(cli_header(message, "schedule", ""));
    put_cell(cli_header(message, "zone", "UTC"));
    schedule_put_next(message);
    fputs("  ", cli_out);
    int64_t last = schedule_last_ms(message);
    if (last)
        cli_put_time(last, message->now_ms);
    else
        fputc('-', cli_out);
    fputs("  ", cli_out);
    put_cell(cli_header(message, "app", ""));
    cli_put_brief(schedule_release(message), 60);
    fputc('\n', cli_out);
}

static int run_schedules(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {CLI_OPTIONS};
    struct found found = {0};
    int code;
    while (cli_option(cli, argc, argv, options) != -1)
        ;
    cli_no_partitions(cli);
    if (!cli_connect(cli, &code))
        return code;
    code = read_all(cli, argv + optind, (size_t)(argc - optind), &found);
    if (found.count && !cli->json)
        fputs("QUEUE  NAME  SCHEDULE  ZONE  NEXT  LAST  APP  RELEASE\n", cli_out);
    for (size_t i = 0; i < found.count; i++) {
        if (cli->json)
            json_line(json_of_schedule(found.rows[i].queue, found.rows[i].message));
        else
            print_row(&found.rows[i]);
    }
    end(&found);
    return code;
}

/* schedule prune */

/* A release that a schedule names first. */
struct release {
    dueq_bytes label;
    int64_t since_ms;  /* when the release first declared the schedule */
    int64_t schedules; /* how many schedules the release has */
};

/* "LABEL@MS/COUNT"; what is no number is 0. */
static struct release read_release(const dueq_message *message) {
    char numbers[48] = "", *rest;
    struct release made = {schedule_release(message), 0, 0};
    dueq_bytes all = cli_header(message, "release", "");
    size_t begin = made.label.size + 1;
    if (all.size > begin) {
        size_t size = all.size - begin;
        if (size >= sizeof numbers)
            size = sizeof numbers - 1;
        memcpy(numbers, (const char *)all.data + begin, size);
        made.since_ms = strtoll(numbers, &rest, 10);
        made.schedules = *rest == '/' ? strtoll(rest + 1, NULL, 10) : 0;
    }
    return made;
}

/* Keeps only the schedules of an app. */
static void keep_app(struct found *found, dueq_bytes app) {
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++)
        if (equal(cli_header(found->rows[i].message, "app", ""), app))
            found->rows[kept++] = found->rows[i];
    found->count = kept;
}

/*
 * The release that declared a schedule last. Logs why there is none whose schedules are all known.
 */
static bool latest(const struct found *found, const char *app, struct release *last) {
    int64_t known = 0;
    *last = (struct release){0};
    for (size_t i = 0; i < found->count; i++) {
        struct release one = read_release(found->rows[i].message);
        if (one.since_ms >= last->since_ms)
            *last = one;
    }
    for (size_t i = 0; i < found->count; i++)
        known += equal(schedule_release(found->rows[i].message), last->label);
    if (known >= last->schedules && last->schedules)
        return true;
    cli_log(CLI_ERROR, dueq_status_name(DUEQ_NOT_FOUND),
            "start a worker of that release, or name --all",
            "%s: the release %.*s has declared %" PRId64 " of its %" PRId64 " schedules: which "
            "schedules it lacks is not known",
            app, (int)last->label.size, (const char *)last->label.data, known, last->schedules);
    return false;
}

static dueq_status remove_row(struct cli *cli, const struct row *row) {
    dueq_status status = dueq_queue_open(cli->client, row->queue, strlen(row->queue), &cli->queue);
    if (status == DUEQ_OK) {
        status = schedule_remove(cli, row->message);
        dueq_queue_close(cli->queue);
        cli->queue = NULL;
    }
    return status;
}

static void print_removed(const struct cli *cli, const struct row *row) {
    if (cli->json) {
        json_line(json_of_schedule(row->queue, row->message));
        return;
    }
    cli_put_text(row->queue);
    fputc('\t', cli_out);
    cli_put(schedule_name(row->message));
    fputc('\n', cli_out);
}

static int prune(struct cli *cli, const char *app, bool all, bool dry, struct found *found) {
    struct release last = {0};
    keep_app(found, (dueq_bytes){app, strlen(app)});
    if (found->count == 0) {
        cli_log(CLI_ERROR, dueq_status_name(DUEQ_NOT_FOUND), "dueq schedules lists all of them",
                "%s: no schedule names this app", app);
        return CLI_OUTCOME;
    }
    if (!all && !latest(found, app, &last))
        return CLI_OUTCOME;
    int code = CLI_DONE;
    for (size_t i = 0; i < found->count; i++) {
        const struct row *row = &found->rows[i];
        if (!all && equal(schedule_release(row->message), last.label))
            continue;
        dueq_status status = dry ? DUEQ_OK : remove_row(cli, row);
        if (status == DUEQ_OK)
            print_removed(cli, row);
        else
            code = cli_worse(code, cli_report(cli, status, row->queue));
    }
    return code;
}

static int run_prune(struct cli *cli, int argc, char *argv[]) {
    static const struct option options[] = {{"app", required_argument, NULL, 'a'},
                                            {"all", no_argument, NULL, 'l'},
                                            {"dry-run", no_argument, NULL, 'd'},
                                            CLI_OPTIONS};
    struct found found = {0};
    const char *app = NULL;
    bool all = false, dry = false;
    int code;
    for (int option; (option = cli_option(cli, argc, argv, options)) != -1;) {
        if (option == 'a')
            app = optarg;
        else if (option == 'l')
            all = true;
        else
            dry = true;
    }
    cli_no_partitions(cli);
    if (!app || !*app)
        cli_usage(cli, "--app is missing: whose schedules are looked at");
    if (optind < argc)
        cli_usage(cli, "%s: the command looks at all queues, and takes no name of one",
                  argv[optind]);
    if (!cli_connect(cli, &code))
        return code;
    /* A queue that cannot be read may have the release that came last. */
    code = read_all(cli, NULL, 0, &found);
    if (code == CLI_DONE)
        code = prune(cli, app, all, dry, &found);
    end(&found);
    return code;
}

const struct command schedules_command = {
    "schedules", "[QUEUE...]", "Lists the schedules of all queues, with next and last times",
    "Without a QUEUE the command lists those of all queues, for which it scans the names of all\n"
    "keys of the server. It reads all messages of each queue, a page at a time. A line has\n"
    "  QUEUE     where the schedule and its messages are\n"
    "  NAME      as dueq schedule pause, resume, run and remove take it\n"
    "  SCHEDULE  the expression, and ZONE the time zone of its fields\n"
    "  NEXT      when it pushes its next message; paused; or dead\n"
    "  LAST      the time of its last message; - before the first\n"
    "  APP       the program whose code declares it, and RELEASE which version of the program\n"
    "            did so last; - where it was declared by hand\n"
    "\n"
    "Examples:\n"
    "  dueq schedules\n"
    "  dueq schedules --json | jq -r 'select(.app == \"shop\") | .name'\n",
    run_schedules};

const struct command prune_verb = {
    "schedule prune", "--app NAME", "Removes the schedules that an app's latest release lacks",
    "The workers of an app declare the schedules of its code when they start. A schedule whose\n"
    "code you have deleted stays in its queue until you remove it, as this command does. Run the\n"
    "command when a deploy is over. It keeps the schedules that the app's latest release has\n"
    "declared, in all queues. It removes and prints the app's other schedules. While the release\n"
    "has not declared all of its schedules, the command removes nothing, and ends with 1.\n"
    "Messages that the schedules have pushed stay.\n"
    "\n"
    "Options:\n"
    "  --app NAME  the name of the app, as in its code\n"
    "  --dry-run   only print what would be removed\n"
    "  --all       remove all schedules of the app, such as one whose code has none any more\n"
    "\n"
    "Examples:\n"
    "  dueq schedule prune --app shop --dry-run\n"
    "  dueq schedule prune --app shop\n",
    run_prune};
