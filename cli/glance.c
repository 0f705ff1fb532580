#include "glance.h"

#include <stdlib.h>
#include <string.h>

void glance_problem(const struct cli *cli, dueq_status status, char *problem, size_t room) {
    const char *text = status < 0 && cli->client ? dueq_error_text(cli->client) : "";
    snprintf(problem, room, "%s", !status ? "" : text[0] ? text : dueq_status_text(status));
}

const struct glance *glance_find(const struct glances *glances, const char *queue) {
    for (size_t i = 0; i < glances->count; i++)
        if (strcmp(glances->rows[i].queue, queue) == 0)
            return &glances->rows[i];
    return NULL;
}

/* ---- One queue ---- */

static dueq_status read_counts(struct cli *cli, dueq_queue *queue, struct glance *row,
                               const struct glance *before) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_stats_submit(queue), &result);
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

static dueq_status read_minutes(struct cli *cli, dueq_queue *queue, struct glance *row) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_rates_submit(queue, GLANCE_MINUTES, 0), &result);
    for (size_t i = 0; i < GLANCE_MINUTES; i++)
        row->minutes[i] =
            (dueq_rate){.late_p50_ms = -1, .late_p99_ms = -1, .run_p50_ms = -1, .run_p99_ms = -1};
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_rate *rate = dueq_result_rate(result, i);
        int64_t ago = row->counts.now_ms / 60000 - rate->start_ms / 60000;
        if (ago >= 0 && ago < GLANCE_MINUTES)
            row->minutes[GLANCE_MINUTES - 1 - ago] = *rate;
    }
    dueq_result_free(result);
    return status;
}

/* Of dead messages, and of those that are tried again: the first ones of each. */
static dueq_status read_errors(struct cli *cli, dueq_queue *queue, struct glance *row) {
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
            cli_wait(cli, dueq_peek_submit(queue, state, (dueq_bytes){0}, GLANCE_LOOKED), &page);
        glance_group_page(row, page);
        dueq_result_free(page);
    }
    return status;
}

static void count_workers(const struct roster *roster, struct glance *row) {
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

/* before: what it was the last time; NULL: it was not there. */
static void read_row(struct cli *cli, const struct roster *roster, const struct glance *before,
                     struct glance *row) {
    dueq_queue *queue;
    row->whole = whole_of(roster, row->queue);
    count_workers(roster, row);
    row->status = dueq_queue_open(cli->client, row->queue, strlen(row->queue), &queue);
    if (row->status == DUEQ_OK)
        row->status = read_counts(cli, queue, row, before);
    if (row->status == DUEQ_OK)
        row->status = read_minutes(cli, queue, row);
    if (row->status == DUEQ_OK)
        row->status = read_errors(cli, queue, row);
    glance_problem(cli, row->status, row->problem, sizeof row->problem);
    dueq_queue_close(queue);
}

/* ---- All ---- */

void glance_end(struct glances *glances) {
    free(glances->rows);
    memory_end(&glances->memories);
    roster_end(&glances->roster);
    *glances = (struct glances){0};
}

bool glance_general(dueq_status status) {
    return status == DUEQ_INTERRUPTED || status == DUEQ_CONNECT || status == DUEQ_CLOSED ||
           status == DUEQ_TIMEOUT || status == DUEQ_AUTH || status == DUEQ_TLS ||
           status == DUEQ_LOADING;
}

dueq_status glance_read(struct cli *cli, char *names[], size_t count, struct glances *glances,
                        void (*between)(struct cli *cli)) {
    struct glances read = {.read_ms = time_monotonic_ms()};
    dueq_status status = roster_read(cli, names, count, &read.roster);
    const struct cli_names *all = &read.roster.queues;
    read.rows = calloc(all->count + 1, sizeof *read.rows);
    if (!read.rows)
        cli_out_of_memory();
    for (size_t i = 0; status == DUEQ_OK && i < all->count; i++) {
        struct glance *row = &read.rows[read.count];
        if (cli_is_whole(all, all->list[i]))
            continue;
        *row = (struct glance){.queue = all->list[i], .in = -1, .out = -1};
        read_row(cli, &read.roster, glance_find(glances, row->queue), row);
        if (glance_general(row->status))
            status = row->status;
        read.count++;
        if (between)
            between(cli);
    }
    if (status == DUEQ_OK)
        memory_read(cli, &read.memories);
    read.took_ms = time_monotonic_ms() - read.read_ms;
    glance_end(status == DUEQ_OK ? glances : &read);
    if (status == DUEQ_OK)
        *glances = read;
    return status;
}

dueq_status glance_read_counts(struct cli *cli, struct glances *glances,
                               void (*between)(struct cli *cli)) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; status == DUEQ_OK && i < glances->count; i++) {
        struct glance *row = &glances->rows[i];
        dueq_queue *queue;
        row->status = dueq_queue_open(cli->client, row->queue, strlen(row->queue), &queue);
        if (row->status == DUEQ_OK)
            row->status = read_counts(cli, queue, row, row);
        dueq_queue_close(queue);
        glance_problem(cli, row->status, row->problem, sizeof row->problem);
        if (glance_general(row->status))
            status = row->status;
        between(cli);
    }
    return status;
}
