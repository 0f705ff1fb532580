#include <stdlib.h>
#include <string.h>

#include "top.h"

static dueq_bytes bytes_of(const char *text) { return (dueq_bytes){text, strlen(text)}; }

/* Reading */

size_t top_next(const struct top *top, size_t place) {
    const struct queue_row *row = &top->rows.list[place];
    const bool open = top->all_opened || strcmp(row->queue, top->opened) == 0;
    return place + 1 + (open ? 0 : row->parts);
}

/* Between two queues: does first what the user asked for by a key. */
static void serve(struct cli *cli) {
    if (cli->top->order.verb)
        top_perform(cli->top);
    if (cli->top->hurry)
        top_read_view(cli->top);
}

static dueq_status note(struct top *top, dueq_status status) {
    describe_failure(top->cli, status, top->problem, sizeof top->problem);
    return top->status = status;
}

static dueq_status read_rows(struct top *top) {
    return queue_rows_read(top->cli, top->names.list, top->names.count, &top->rows, serve);
}

/* Whether a queue that was named has partitions, and it is time to look which. */
static bool wants_partitions(const struct top *top) {
    if (!top->names.count || time_monotonic_ms() < top->partitions_ms)
        return false;
    for (size_t i = 0; i < top->rows.count; i++)
        if (top->rows.list[i].parts || top->rows.list[i].status == DUEQ_LAYOUT)
            return true;
    return false;
}

/* Reads the rows. The row of a queue with partitions has the sums of its partitions' rows. */
static dueq_status read_all(struct top *top) {
    dueq_status status = read_rows(top);
    if (status != DUEQ_OK || !wants_partitions(top))
        return status;
    status = cli_add_partitions(top->cli, &top->names);
    top->partitions_ms = time_monotonic_ms() + TOP_PARTITIONS_MS;
    if (status == DUEQ_OK)
        return read_rows(top);
    /* A user who may not list the queues sees the others, and why this one cannot be read. */
    return is_server_status(status) ? status : DUEQ_OK;
}

dueq_status top_read(struct top *top) {
    dueq_status status = note(top, read_all(top));
    /* The order of the rows may have changed: keep the same queue selected. */
    size_t row = 0;
    for (size_t at = 0; at < top->rows.count; at = top_next(top, at), row++)
        if (strcmp(top->rows.list[at].queue, top->chosen) == 0)
            top->selected[TOP_QUEUES] = row;
    return status;
}

dueq_status top_read_counts(struct top *top) {
    return note(top, queue_rows_read_counts(top->cli, &top->rows, serve));
}

/* What a view shows, as it is read. */
struct reading {
    dueq_result *list; /* a page of messages, or one message */
    dueq_result *groups, *limits;
    bool has_limits; /* the limits were read, or cannot be read */
    dueq_status limits_status;
    struct history history;
};

static void reading_end(struct reading *reading) {
    dueq_result_free(reading->list);
    dueq_result_free(reading->groups);
    dueq_result_free(reading->limits);
    history_end(&reading->history);
}

/*
 * Reads a page of messages, or of up to `most` groups. A page is empty if its messages wait in the
 * lines of groups, or if nothing of its groups waits: then the next page is read, as long as the
 * view stays.
 */
static dueq_status read_page(struct top *top, dueq_queue *queue, const struct top_cursor *at,
                             size_t most, bool groups, dueq_result **page) {
    dueq_bytes cursor = {at->data, at->size};
    dueq_status status;
    int pages = 0;
    do {
        dueq_result *next;
        status = groups ? dueq_groups_submit(queue, cursor, most)
                        : dueq_peek_submit(queue, top->state, cursor, most);
        status = cli_wait(top->cli, status, &next);
        dueq_result_free(*page);
        *page = next;
        cursor = dueq_result_cursor(next);
    } while (status == DUEQ_OK && !dueq_result_count(*page) && cursor.size && !top->hurry &&
             ++pages < TOP_EMPTY_PAGES);
    return status;
}

static dueq_status read_message(struct top *top, dueq_queue *queue, struct reading *into) {
    dueq_status status =
        cli_wait(top->cli, dueq_find_submit(queue, bytes_of(top->id)), &into->list);
    return status != DUEQ_OK
               ? status
               : history_of(top->cli, queue, dueq_result_message(into->list, 0), &into->history);
}

/* Reads groups and, if it is time, the limits: those of a queue without groups only for `all`. */
static dueq_status read_groups(struct top *top, dueq_queue *queue, bool all, struct reading *into) {
    static const struct top_cursor first = {.size = 0};
    const bool old = !top->limits_ms || time_monotonic_ms() >= top->limits_ms + TOP_LIMITS_MS;
    dueq_status status = read_page(top, queue, all ? &top->groups_at : &first,
                                   all ? TOP_PAGE : TOP_NEXT_GROUPS, true, &into->groups);
    into->has_limits = old && status == DUEQ_OK && (all || dueq_result_count(into->groups));
    if (into->has_limits)
        into->limits_status = cli_wait(top->cli, dueq_limits_submit(queue), &into->limits);
    return into->limits_status == DUEQ_INTERRUPTED ? DUEQ_INTERRUPTED : status;
}

static dueq_status read_queue(struct top *top, dueq_queue *queue, struct reading *into) {
    dueq_queue_preview(queue, CLI_PREVIEW);
    dueq_status status = read_page(top, queue, &top->at, TOP_PAGE, false, &into->list);
    return status == DUEQ_OK ? read_groups(top, queue, false, into) : status;
}

/* The order of the groups may have changed: keeps the same group selected. */
static void follow_group(struct top *top, const dueq_result *now) {
    size_t *selected = &top->selected[TOP_GROUPS];
    const dueq_group *one = dueq_result_group(top->groups, *selected);
    for (size_t i = 0; one && i < dueq_result_count(now); i++) {
        const dueq_bytes name = dueq_result_group(now, i)->name;
        if (name.size == one->name.size && memcmp(name.data, one->name.data, name.size) == 0) {
            *selected = i;
            return;
        }
    }
}

static void keep(dueq_result **into, dueq_result **from) {
    dueq_result_free(*into);
    *into = *from;
    *from = NULL;
}

static void keep_groups(struct top *top, struct reading *reading) {
    keep(&top->groups, &reading->groups);
    if (!reading->has_limits)
        return;
    keep(&top->limits, &reading->limits);
    top->limits_ms = time_monotonic_ms();
    describe_failure(top->cli, reading->limits_status, top->limits_problem,
                     sizeof top->limits_problem);
}

void top_read_view(struct top *top) {
    dueq_queue *queue;
    struct reading reading = {0};
    enum top_view view = top->view;
    char name[DUEQ_MAX_NAME + 1];
    top->hurry = false;
    if (view != TOP_QUEUE && view != TOP_MESSAGE && view != TOP_GROUPS)
        return;
    strcpy(name, top->queue);
    dueq_status status = dueq_queue_open(top->cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = view == TOP_MESSAGE  ? read_message(top, queue, &reading)
                 : view == TOP_GROUPS ? read_groups(top, queue, true, &reading)
                                      : read_queue(top, queue, &reading);
    dueq_queue_close(queue);
    /* If a key has changed the view meanwhile, drop the result: the new view is read next. */
    const bool stays = view == top->view && strcmp(name, top->queue) == 0 && !top->hurry;
    const bool kept = stays && status != DUEQ_INTERRUPTED;
    if (kept && view == TOP_MESSAGE) {
        history_end(&top->history);
        top->history = reading.history;
        reading.history = (struct history){0};
        keep(&top->message, &reading.list);
        top->message_status = status;
    } else if (kept && view == TOP_GROUPS) {
        follow_group(top, reading.groups);
        keep_groups(top, &reading);
        top->groups_status = status;
    } else if (kept) {
        keep_groups(top, &reading);
        keep(&top->page, &reading.list);
        top->page_status = status;
    }
    reading_end(&reading);
}

void top_end(struct top *top) {
    cli_free_names(&top->names);
    queue_rows_end(&top->rows);
    dueq_result_free(top->page);
    dueq_result_free(top->message);
    dueq_result_free(top->groups);
    dueq_result_free(top->limits);
    history_end(&top->history);
}
