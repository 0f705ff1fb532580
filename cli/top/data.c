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

dueq_status top_read(struct top *top) {
    dueq_status status =
        note(top, queue_rows_read(top->cli, top->names, top->name_count, &top->rows, serve));
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

/*
 * Reads a page of messages. The first page of ready messages is empty if all of them wait in the
 * lines of groups: then the next page is read, as long as the view stays.
 */
static dueq_status read_page(struct top *top, dueq_queue *queue, dueq_result **page) {
    dueq_bytes cursor = {top->cursor, top->cursor_size};
    dueq_status status;
    int pages = 0;
    do {
        dueq_result *next;
        status = cli_wait(top->cli, dueq_peek_submit(queue, top->state, cursor, TOP_PAGE), &next);
        dueq_result_free(*page);
        *page = next;
        cursor = dueq_result_cursor(next);
    } while (status == DUEQ_OK && !dueq_result_count(*page) && cursor.size && !top->hurry &&
             ++pages < TOP_EMPTY_PAGES);
    return status;
}

void top_read_view(struct top *top) {
    dueq_queue *queue;
    dueq_result *result = NULL, *groups = NULL;
    struct history history = {0};
    enum top_view view = top->view;
    char name[DUEQ_MAX_NAME + 1];
    top->hurry = false;
    if (view != TOP_QUEUE && view != TOP_MESSAGE)
        return;
    strcpy(name, top->queue);
    dueq_status status = dueq_queue_open(top->cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK && view == TOP_MESSAGE) {
        status = cli_wait(top->cli, dueq_find_submit(queue, bytes_of(top->id)), &result);
    } else if (status == DUEQ_OK) {
        dueq_queue_preview(queue, CLI_PREVIEW);
        status = read_page(top, queue, &result);
    }
    if (status == DUEQ_OK && view == TOP_MESSAGE)
        status = history_of(top->cli, queue, dueq_result_message(result, 0), &history);
    else if (status == DUEQ_OK)
        status =
            cli_wait(top->cli, dueq_groups_submit(queue, (dueq_bytes){0}, TOP_GROUPS), &groups);
    dueq_queue_close(queue);
    /* If a key has changed the view meanwhile, drop the result: the new view is read next. */
    bool stays = view == top->view && strcmp(name, top->queue) == 0 && !top->hurry;
    if (!stays || status == DUEQ_INTERRUPTED) {
        history_end(&history);
        dueq_result_free(result);
        dueq_result_free(groups);
        return;
    }
    if (view == TOP_MESSAGE) {
        history_end(&top->history);
        top->history = history;
    } else {
        dueq_result_free(top->groups);
        top->groups = groups;
    }
    dueq_result **into = view == TOP_QUEUE ? &top->page : &top->message;
    dueq_result_free(*into);
    *into = result;
    *(view == TOP_QUEUE ? &top->page_status : &top->message_status) = status;
}

/* Changes by keys */

/* Kicks the messages of the page whose error is of the class. */
static dueq_status kick_those(struct top *top, dueq_queue *queue, const dueq_result *page,
                              const char *class, size_t *all) {
    dueq_bytes ids[ROW_ERRORS_READ];
    dueq_result *kicked;
    size_t count = 0;
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        char text[ERROR_CLASS_SIZE];
        if (message && error_class(message, text) && strcmp(text, class) == 0)
            ids[count++] = message->id;
    }
    if (!count)
        return DUEQ_OK;
    dueq_status status = cli_wait(top->cli, dueq_kick_submit(queue, ids, count), &kicked);
    for (size_t i = 0; i < dueq_result_count(kicked); i++)
        *all += dueq_result_status(kicked, i) == DUEQ_OK;
    dueq_result_free(kicked);
    /* A message that was kicked or cancelled meanwhile is no failure. */
    return status < 0 ? status : DUEQ_OK;
}

static dueq_status kick_all(struct top *top, dueq_queue *queue, const char *class, size_t *all) {
    dueq_result *page = NULL, *next;
    dueq_status status;
    dueq_queue_preview(queue, CLI_PREVIEW);
    do {
        status = cli_wait(
            top->cli, dueq_peek_submit(queue, DUEQ_DEAD, dueq_result_cursor(page), ROW_ERRORS_READ),
            &next);
        dueq_result_free(page);
        page = next;
        if (status == DUEQ_OK)
            status = kick_those(top, queue, page, class, all);
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    return status;
}

static dueq_status perform(struct top *top, const char *name, const struct top_order *order,
                           dueq_result **result, size_t *all) {
    const dueq_bytes id = bytes_of(order->id);
    dueq_queue *queue;
    dueq_status status = dueq_queue_open(top->cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = order->verb == TOP_PAUSE    ? cli_wait(top->cli, dueq_pause_submit(queue), NULL)
                 : order->verb == TOP_RESUME ? cli_wait(top->cli, dueq_resume_submit(queue), NULL)
                 : order->verb == TOP_KICK
                     ? cli_wait(top->cli, dueq_kick_submit(queue, &id, 1), NULL)
                 : order->verb == TOP_CANCEL
                     ? cli_wait(top->cli, dueq_cancel_submit(queue, &id, 1), result)
                     : kick_all(top, queue, order->error, all);
    dueq_queue_close(queue);
    return status;
}

void top_perform(struct top *top) {
    static const char *const done[] = {"", "paused", "resumed", "kicked", "kicked", "cancelled"};
    const struct top_order order = top->order;
    const struct queue_row *row = queue_rows_find(&top->rows, order.queue);
    const size_t parts = row ? row->parts : 0;
    dueq_result *result = NULL;
    dueq_status status = DUEQ_OK;
    char problem[300];
    size_t all = 0;
    top->order.verb = TOP_NOTHING;
    if (!parts)
        status = perform(top, order.queue, &order, &result, &all);
    for (size_t i = 1; status == DUEQ_OK && i <= parts; i++)
        status = perform(top, row[i].queue, &order, &result, &all);
    describe_failure(top->cli, status, problem, sizeof problem);
    const char *what = order.id[0] ? order.id : order.queue;
    if (status != DUEQ_OK)
        snprintf(top->said, sizeof top->said, "%s: not %s: %s: %s", what, done[order.verb],
                 dueq_status_name(status), problem);
    else if (order.verb == TOP_KICK_ALL)
        snprintf(top->said, sizeof top->said, "%s: %zu kicked", what, all);
    else
        snprintf(top->said, sizeof top->said, "%s: %s%s", what, done[order.verb],
                 dueq_result_state(result, 0) == DUEQ_LEASED ? ", but a consumer had it" : "");
    dueq_result_free(result);
    top->hurry = true;
}

void top_end(struct top *top) {
    queue_rows_end(&top->rows);
    dueq_result_free(top->page);
    dueq_result_free(top->message);
    dueq_result_free(top->groups);
    history_end(&top->history);
}
