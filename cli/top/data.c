#include <stdlib.h>
#include <string.h>

#include "top.h"

static dueq_bytes bytes_of(const char *text) { return (dueq_bytes){text, strlen(text)}; }

/* Keeps why a call failed, where it is shown. */
static void note(const struct top *top, dueq_status status, char *problem, size_t room) {
    const char *text = status < 0 && top->cli->client ? dueq_error_text(top->cli->client) : "";
    snprintf(problem, room, "%s", !status ? "" : text[0] ? text : dueq_status_text(status));
}

const struct top_row *top_find(const struct top_model *model, const char *queue) {
    for (size_t i = 0; i < model->count; i++)
        if (strcmp(model->rows[i].queue, queue) == 0)
            return &model->rows[i];
    return NULL;
}

/* ---- One queue ---- */

static dueq_status read_counts(struct top *top, dueq_queue *queue, struct top_row *row,
                               const struct top_row *before) {
    dueq_result *result;
    dueq_status status = cli_wait(top->cli, dueq_stats_submit(queue), &result);
    if (status == DUEQ_OK) {
        dueq_counts now = *dueq_result_counts(result);
        double seconds = before ? (double)(now.now_ms - before->counts.now_ms) / 1000 : 0;
        if (seconds >= 0.1) {
            row->in = (double)(now.pushed - before->counts.pushed) / seconds;
            row->out = (double)(now.reserved - before->counts.reserved) / seconds;
        }
        row->counts = now;
    }
    dueq_result_free(result);
    return status;
}

static dueq_status read_minutes(struct top *top, dueq_queue *queue, struct top_row *row) {
    dueq_result *result;
    dueq_status status = cli_wait(top->cli, dueq_rates_submit(queue, TOP_MINUTES, 0), &result);
    for (size_t i = 0; i < TOP_MINUTES; i++)
        row->minutes[i] =
            (dueq_rate){.late_p50_ms = -1, .late_p99_ms = -1, .run_p50_ms = -1, .run_p99_ms = -1};
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_rate *rate = dueq_result_rate(result, i);
        int64_t ago = row->counts.now_ms / 60000 - rate->start_ms / 60000;
        if (ago >= 0 && ago < TOP_MINUTES)
            row->minutes[TOP_MINUTES - 1 - ago] = *rate;
    }
    dueq_result_free(result);
    return status;
}

/* Of dead messages, and of those that are tried again: the first ones of each. */
static dueq_status read_errors(struct top *top, dueq_queue *queue, struct top_row *row) {
    const int64_t counts[] = {[DUEQ_READY] = row->counts.ready,
                              [DUEQ_DELAYED] = row->counts.delayed,
                              [DUEQ_LEASED] = row->counts.leased,
                              [DUEQ_DEAD] = row->counts.dead};
    dueq_status status = DUEQ_OK;
    bool fails = row->counts.retried || row->counts.died || row->counts.leased;
    for (dueq_state state = DUEQ_READY; status == DUEQ_OK && state <= DUEQ_DEAD; state++) {
        dueq_result *page;
        if (!counts[state] || !fails)
            continue;
        status =
            cli_wait(top->cli, dueq_peek_submit(queue, state, (dueq_bytes){0}, TOP_LOOKED), &page);
        top_group_page(row, page);
        dueq_result_free(page);
    }
    return status;
}

static void count_workers(const struct roster *roster, struct top_row *row) {
    for (size_t i = 0; i < roster->count; i++) {
        const dueq_worker *worker = roster->list[i].worker;
        if (strcmp(roster->list[i].queue, row->whole) != 0)
            continue;
        bool lapsed = roster_lapsed(worker);
        row->lapsed += lapsed;
        row->workers += !lapsed;
        row->held += lapsed ? 0 : worker->held;
        row->working += lapsed ? 0 : worker->working;
        row->slots += lapsed ? 0 : worker->slots ? worker->slots : 1;
    }
}

/* The name of the queue that a partition is of, which the roster has, too. */
static const char *whole_of(const struct roster *roster, const char *name) {
    const char *part = cli_part_of(name);
    for (size_t i = 0; part && i < roster->queues.count; i++) {
        const char *whole = roster->queues.list[i];
        if (strlen(whole) == (size_t)(part - name) &&
            memcmp(whole, name, (size_t)(part - name)) == 0)
            return whole;
    }
    return name;
}

static void read_row(struct top *top, const struct roster *roster, struct top_row *row) {
    dueq_queue *queue;
    row->whole = whole_of(roster, row->queue);
    count_workers(roster, row);
    row->status = dueq_queue_open(top->cli->client, row->queue, strlen(row->queue), &queue);
    if (row->status == DUEQ_OK)
        row->status = read_counts(top, queue, row, top_find(&top->model, row->queue));
    if (row->status == DUEQ_OK)
        row->status = read_minutes(top, queue, row);
    if (row->status == DUEQ_OK)
        row->status = read_errors(top, queue, row);
    note(top, row->status, row->problem, sizeof row->problem);
    dueq_queue_close(queue);
}

/* ---- All ---- */

static void end_model(struct top_model *model) {
    free(model->rows);
    roster_end(&model->roster);
    *model = (struct top_model){0};
}

/* What concerns the server, and so all queues. */
static bool is_general(dueq_status status) {
    return status == DUEQ_INTERRUPTED || status == DUEQ_CONNECT || status == DUEQ_CLOSED ||
           status == DUEQ_TIMEOUT || status == DUEQ_AUTH || status == DUEQ_TLS ||
           status == DUEQ_LOADING;
}

/* A client asks once what memory the server has left: so a new one. */
static dueq_status renew(struct top *top) {
    dueq_close(top->cli->client);
    top->cli->client = NULL;
    return dueq_open(top->cli->url, &top->cli->client);
}

/* Between two queues: what was asked for at a key comes first. */
static void serve(struct top *top) {
    if (top->order.verb)
        top_perform(top);
    if (top->hurry)
        top_read_view(top);
}

dueq_status top_read(struct top *top) {
    struct top_model model = {.read_ms = time_monotonic_ms()};
    dueq_status status = renew(top);
    if (status == DUEQ_OK)
        status = roster_read(top->cli, top->names, top->name_count, &model.roster);
    const struct cli_names *names = &model.roster.queues;
    model.rows = calloc(names->count + 1, sizeof *model.rows);
    if (!model.rows)
        cli_out_of_memory();
    for (size_t i = 0; status == DUEQ_OK && i < names->count; i++) {
        struct top_row *row = &model.rows[model.count];
        if (cli_is_whole(names, names->list[i]))
            continue;
        *row = (struct top_row){.queue = names->list[i], .in = -1, .out = -1};
        read_row(top, &model.roster, row);
        if (is_general(row->status))
            status = row->status;
        model.count++;
        serve(top);
    }
    note(top, status, top->problem, sizeof top->problem);
    if (status == DUEQ_OK) {
        model.took_ms = time_monotonic_ms() - model.read_ms;
        end_model(&top->model);
        top->model = model;
    } else {
        end_model(&model);
    }
    return top->status = status;
}

dueq_status top_read_counts(struct top *top) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; status == DUEQ_OK && i < top->model.count; i++) {
        struct top_row *row = &top->model.rows[i];
        dueq_queue *queue;
        row->status = dueq_queue_open(top->cli->client, row->queue, strlen(row->queue), &queue);
        if (row->status == DUEQ_OK)
            row->status = read_counts(top, queue, row, row);
        dueq_queue_close(queue);
        note(top, row->status, row->problem, sizeof row->problem);
        if (is_general(row->status))
            status = row->status;
        serve(top);
    }
    note(top, status, top->problem, sizeof top->problem);
    return top->status = status;
}

void top_read_view(struct top *top) {
    dueq_queue *queue;
    dueq_result *result = NULL;
    struct history history = {0};
    enum top_view view = top->view;
    char name[DUEQ_MAX_NAME + 1];
    top->hurry = false;
    if (view != TOP_QUEUE && view != TOP_MESSAGE)
        return;
    strcpy(name, top->queue);
    dueq_status status = dueq_queue_open(top->cli->client, name, strlen(name), &queue);
    if (status == DUEQ_OK && view == TOP_MESSAGE)
        status = cli_wait(top->cli, dueq_find_submit(queue, bytes_of(top->id)), &result);
    else if (status == DUEQ_OK)
        status = cli_wait(top->cli,
                          dueq_peek_submit(queue, top->state,
                                           (dueq_bytes){top->cursor, top->cursor_size}, TOP_PAGE),
                          &result);
    if (status == DUEQ_OK && view == TOP_MESSAGE)
        status = history_of(top->cli, queue, dueq_result_message(result, 0), &history);
    dueq_queue_close(queue);
    /* A key has changed what is to be shown: that is read next. */
    bool stays = view == top->view && strcmp(name, top->queue) == 0 && !top->hurry;
    if (!stays || status == DUEQ_INTERRUPTED) {
        history_end(&history);
        dueq_result_free(result);
        return;
    }
    if (view == TOP_MESSAGE) {
        history_end(&top->history);
        top->history = history;
    }
    dueq_result **into = view == TOP_QUEUE ? &top->page : &top->message;
    dueq_result_free(*into);
    *into = result;
    *(view == TOP_QUEUE ? &top->page_status : &top->message_status) = status;
}

/* ---- What keys change ---- */

static dueq_status kick_all(struct top *top, dueq_queue *queue, const char *error, size_t *all) {
    const dueq_filter filter = {.error = bytes_of(error)};
    dueq_result *page = NULL, *next;
    dueq_status status;
    do {
        status = cli_wait(
            top->cli,
            dueq_kick_all_submit(queue, &filter, dueq_result_cursor(page), DUEQ_MAX_BATCH), &next);
        dueq_result_free(page);
        page = next;
        *all += dueq_result_kicked(page);
    } while (status == DUEQ_OK && dueq_result_cursor(page).size > 0);
    dueq_result_free(page);
    return status;
}

void top_perform(struct top *top) {
    static const char *const done[] = {"", "paused", "resumed", "kicked", "kicked", "cancelled"};
    const struct top_order order = top->order;
    const dueq_bytes id = bytes_of(order.id);
    dueq_queue *queue;
    dueq_result *result = NULL;
    char problem[300];
    size_t all = 0;
    top->order.verb = TOP_NOTHING;
    dueq_status status =
        dueq_queue_open(top->cli->client, order.queue, strlen(order.queue), &queue);
    if (status == DUEQ_OK)
        status = order.verb == TOP_PAUSE    ? cli_wait(top->cli, dueq_pause_submit(queue), NULL)
                 : order.verb == TOP_RESUME ? cli_wait(top->cli, dueq_resume_submit(queue), NULL)
                 : order.verb == TOP_KICK
                     ? cli_wait(top->cli, dueq_kick_submit(queue, &id, 1), NULL)
                 : order.verb == TOP_CANCEL
                     ? cli_wait(top->cli, dueq_cancel_submit(queue, &id, 1), &result)
                     : kick_all(top, queue, order.error, &all);
    dueq_queue_close(queue);
    note(top, status, problem, sizeof problem);
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
    end_model(&top->model);
    dueq_result_free(top->page);
    dueq_result_free(top->message);
    history_end(&top->history);
}
