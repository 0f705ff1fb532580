#include <string.h>

#include "top.h"

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

static dueq_status purge_group(struct top *top, dueq_queue *queue, dueq_bytes group, size_t *all) {
    dueq_result *page = NULL, *next;
    dueq_status status;
    do {
        status = cli_wait(
            top->cli,
            dueq_purge_group_submit(queue, group, dueq_result_cursor(page), DUEQ_MAX_BATCH), &next);
        dueq_result_free(page);
        page = next;
        *all += dueq_result_purged(page);
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    return status;
}

static dueq_status act(struct top *top, dueq_queue *queue, const struct top_order *order,
                       dueq_result **result, size_t *all) {
    const dueq_bytes id = {order->id, strlen(order->id)};
    switch (order->verb) {
    case TOP_PAUSE:
        return cli_wait(top->cli, dueq_pause_submit(queue), NULL);
    case TOP_RESUME:
        return cli_wait(top->cli, dueq_resume_submit(queue), NULL);
    case TOP_KICK:
        return cli_wait(top->cli, dueq_kick_submit(queue, &id, 1), NULL);
    case TOP_CANCEL:
        return cli_wait(top->cli, dueq_cancel_submit(queue, &id, 1), result);
    case TOP_HOLD:
    case TOP_END_HOLD:
        return cli_wait(top->cli, dueq_hold_submit(queue, id, order->hold_ms), NULL);
    case TOP_PURGE:
        return purge_group(top, queue, id, all);
    default:
        return kick_all(top, queue, order->error, all);
    }
}

static dueq_status perform(struct top *top, const char *name, const struct top_order *order,
                           dueq_result **result, size_t *all) {
    dueq_queue *queue;
    dueq_status status = dueq_queue_open(top->cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK)
        status = act(top, queue, order, result, all);
    dueq_queue_close(queue);
    return status;
}

/* What was changed, cut so that the outcome behind it stays on the screen. */
static const char *brief(const char *name, char out[48]) {
    enum { MOST = 40 };
    const size_t size = strlen(name);
    if (size <= MOST)
        return name;
    snprintf(out, 48, "%.*s~", (int)text_whole((dueq_bytes){name, MOST}).size, name);
    return out;
}

void top_perform(struct top *top) {
    static const char *const done[] = {"",          "paused", "resumed",      "kicked", "kicked",
                                       "cancelled", "held",   "held no more", "purged"};
    const struct top_order order = top->order;
    const struct queue_row *row = queue_rows_find(&top->rows, order.queue);
    const size_t parts = row ? row->parts : 0;
    dueq_result *result = NULL;
    dueq_status status = DUEQ_OK;
    char problem[300], room[48], span[TIME_ROOM];
    size_t all = 0;
    top->order.verb = TOP_NOTHING;
    if (!parts)
        status = perform(top, order.queue, &order, &result, &all);
    for (size_t i = 1; status == DUEQ_OK && i <= parts; i++)
        status = perform(top, row[i].queue, &order, &result, &all);
    describe_failure(top->cli, status, problem, sizeof problem);
    const char *what = brief(order.id[0] ? order.id : order.queue, room);
    if (status != DUEQ_OK)
        snprintf(top->said, sizeof top->said, "%s: not %s: %s: %s", what, done[order.verb],
                 dueq_status_name(status), problem);
    else if (order.verb == TOP_KICK_ALL || order.verb == TOP_PURGE)
        snprintf(top->said, sizeof top->said, "%s: %zu %s", what, all, done[order.verb]);
    else if (order.verb == TOP_HOLD)
        snprintf(top->said, sizeof top->said, "%s: held for %s", what,
                 time_format_span(order.hold_ms, span));
    else
        snprintf(top->said, sizeof top->said, "%s: %s%s", what, done[order.verb],
                 dueq_result_state(result, 0) == DUEQ_LEASED ? ", but a consumer had it" : "");
    dueq_result_free(result);
    top->hurry = true;
}
