#include "queue_row.h"

#include <stdlib.h>
#include <string.h>

void describe_failure(const struct cli *cli, dueq_status status, char *problem, size_t room) {
    const char *text = status < 0 && cli->client ? dueq_error_text(cli->client) : "";
    snprintf(problem, room, "%s", !status ? "" : text[0] ? text : dueq_status_text(status));
}

const struct queue_row *queue_rows_find(const struct queue_rows *rows, const char *queue) {
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->list[i].queue, queue) == 0)
            return &rows->list[i];
    return NULL;
}

/* One queue */

static dueq_status read_counts(struct cli *cli, dueq_queue *queue, struct queue_row *row,
                               const struct queue_row *before) {
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

static void clear_minutes(struct queue_row *row) {
    for (size_t i = 0; i < ROW_MINUTES; i++)
        row->minutes[i] =
            (dueq_rate){.late_p50_ms = -1, .late_p99_ms = -1, .run_p50_ms = -1, .run_p99_ms = -1};
}

static dueq_status read_minutes(struct cli *cli, dueq_queue *queue, struct queue_row *row) {
    dueq_result *result;
    dueq_status status = cli_wait(cli, dueq_rates_submit(queue, ROW_MINUTES, 0), &result);
    clear_minutes(row);
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_rate *rate = dueq_result_rate(result, i);
        int64_t ago = row->counts.now_ms / 60000 - rate->start_ms / 60000;
        if (ago >= 0 && ago < ROW_MINUTES)
            row->minutes[ROW_MINUTES - 1 - ago] = *rate;
    }
    dueq_result_free(result);
    return status;
}

int64_t state_count(const dueq_counts *counts, dueq_state state) {
    const int64_t numbers[] = {[DUEQ_READY] = counts->ready,
                               [DUEQ_DELAYED] = counts->delayed,
                               [DUEQ_LEASED] = counts->leased,
                               [DUEQ_DEAD] = counts->dead,
                               [DUEQ_OUTBOX] = counts->outbox};
    return numbers[state];
}

/* Reads the errors of the first messages of each state. */
static dueq_status read_errors(struct cli *cli, dueq_queue *queue, struct queue_row *row) {
    dueq_status status = DUEQ_OK;
    bool fails = row->counts.retried || row->counts.died || row->counts.leased;
    for (dueq_state state = DUEQ_READY; status == DUEQ_OK && state <= DUEQ_DEAD; state++) {
        dueq_result *page;
        if (!state_count(&row->counts, state) || !fails)
            continue;
        status =
            cli_wait(cli, dueq_peek_submit(queue, state, (dueq_bytes){0}, ROW_ERRORS_READ), &page);
        error_groups_add_page(row, page);
        dueq_result_free(page);
    }
    return status;
}

/*
 * Sets leased_now: whether a consumer that is not registered works on a message now. A lease that
 * has ended is left over from a consumer that died.
 */
static dueq_status read_leases(struct cli *cli, dueq_queue *queue, struct queue_row *row) {
    const dueq_counts *counts = &row->counts;
    dueq_result *page;
    if (row->workers || !counts->leased)
        return DUEQ_OK;
    row->leased_now = counts->next_event_ms >= counts->now_ms;
    if (row->leased_now)
        return DUEQ_OK;
    dueq_status status = cli_wait(
        cli, dueq_peek_submit(queue, DUEQ_LEASED, (dueq_bytes){0}, ROW_ERRORS_READ), &page);
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        row->leased_now = row->leased_now || (message && message->time_ms > message->now_ms);
    }
    dueq_result_free(page);
    return status;
}

/*
 * Sets at_group_limit, if the queue is stuck and no limit of the queue is the cause. Groups that
 * may be served come first. A user who may not read groups gets the other diagnoses.
 */
static dueq_status read_group_limits(struct cli *cli, dueq_queue *queue, struct queue_row *row) {
    dueq_result *page;
    row->at_group_limit[0] = '\0';
    if (row->counts.at_limit[0] || !is_stuck(&row->counts))
        return DUEQ_OK;
    dueq_status status =
        cli_wait(cli, dueq_groups_submit(queue, (dueq_bytes){0}, ROW_GROUPS_READ), &page);
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_group *group = dueq_result_group(page, i);
        if (group->waiting && !group->at_limit.size) {
            row->at_group_limit[0] = '\0';
            break;
        }
        if (group->waiting && !row->at_group_limit[0])
            snprintf(row->at_group_limit, sizeof row->at_group_limit, "%.*s (%.*s)",
                     group->name.size < DUEQ_MAX_GROUP ? (int)group->name.size : DUEQ_MAX_GROUP,
                     (const char *)group->name.data, (int)group->at_limit.size,
                     (const char *)group->at_limit.data);
    }
    dueq_result_free(page);
    return is_server_status(status) ? status : DUEQ_OK;
}

static void count_workers(const struct workers_view *workers, struct queue_row *row) {
    for (size_t i = 0; i < workers->count; i++) {
        const dueq_worker *worker = workers->list[i].worker;
        if (strcmp(workers->list[i].queue, row->whole) != 0)
            continue;
        bool offline = worker->offline;
        row->offline += worker_crashed(worker);
        row->workers += !offline;
        row->leased += offline ? 0 : worker->leased;
        row->running += offline ? 0 : worker->running;
        row->slots += offline ? 0 : worker->slots ? worker->slots : 1;
    }
}

/*
 * The queue of a partition, with the name that the workers' registrations point to. For a queue
 * that is no partition, the name itself.
 */
static const char *whole_of(const struct workers_view *workers, const char *name) {
    const char *part = cli_partition_mark(name);
    for (size_t i = 0; part && i < workers->queues.count; i++) {
        const char *whole = workers->queues.list[i];
        if (strlen(whole) == (size_t)(part - name) &&
            memcmp(whole, name, (size_t)(part - name)) == 0)
            return whole;
    }
    return name;
}

void queue_row_read(struct cli *cli, const struct queue_row *before, bool errors,
                    struct queue_row *row) {
    dueq_queue *queue;
    row->status = dueq_queue_open(cli->client, row->queue, strlen(row->queue), &queue);
    if (row->status == DUEQ_OK) {
        dueq_queue_preview(queue, CLI_PREVIEW);
        row->status = read_counts(cli, queue, row, before);
    }
    if (row->status == DUEQ_OK)
        row->status = read_minutes(cli, queue, row);
    if (row->status == DUEQ_OK)
        row->status = read_leases(cli, queue, row);
    if (row->status == DUEQ_OK)
        row->status = read_group_limits(cli, queue, row);
    if (row->status == DUEQ_OK && errors)
        row->status = read_errors(cli, queue, row);
    describe_failure(cli, row->status, row->problem, sizeof row->problem);
    dueq_queue_close(queue);
}

/* Sums of partitions */

/* Sorts by queue; within a queue the sums first, then the partitions by number. */
static int by_part(const void *first, const void *second) {
    const struct queue_row *one = first, *other = second;
    const int order = strcmp(one->whole, other->whole);
    const char *part = cli_partition_mark(one->queue), *next = cli_partition_mark(other->queue);
    if (order || one->whole == one->queue || other->whole == other->queue)
        return order ? order : (other->whole == other->queue) - (one->whole == one->queue);
    const size_t size = strlen(part), more = strlen(next);
    return size != more ? (size > more) - (size < more) : strcmp(part, next);
}

static int64_t earlier(int64_t one, int64_t other) {
    return !one || (other && other < one) ? other : one;
}

static int64_t greater(int64_t one, int64_t other) { return one > other ? one : other; }

static void add_counts(dueq_counts *sums, const dueq_counts *more) {
#define ADD(member) sums->member += more->member;
    DUEQ_COUNTS_SUMS(ADD)
    sums->paused += more->paused;
    sums->next_event_ms = earlier(sums->next_event_ms, more->next_event_ms);
    sums->oldest_ms = earlier(sums->oldest_ms, more->oldest_ms);
    sums->now_ms = greater(sums->now_ms, more->now_ms);
}

/* Adds the counts. p50 and p99 become those of the worst partition. */
static void add_rate(dueq_rate *sums, const dueq_rate *more) {
    DUEQ_RATE_SUMS(ADD)
#undef ADD
    sums->late_p50_ms = greater(sums->late_p50_ms, more->late_p50_ms);
    sums->late_p99_ms = greater(sums->late_p99_ms, more->late_p99_ms);
    sums->run_p50_ms = greater(sums->run_p50_ms, more->run_p50_ms);
    sums->run_p99_ms = greater(sums->run_p99_ms, more->run_p99_ms);
}

static void add_up(struct queue_row *sums) {
    sums->counts = (dueq_counts)DUEQ_COUNTS;
    sums->in = sums->out = 0;
    clear_minutes(sums);
    for (size_t i = 1; i <= sums->parts; i++) {
        const struct queue_row *part = &sums[i];
        if (part->status)
            continue;
        add_counts(&sums->counts, &part->counts);
        for (size_t k = 0; k < ROW_MINUTES; k++)
            add_rate(&sums->minutes[k], &part->minutes[k]);
        sums->in = part->in < 0 || sums->in < 0 ? -1 : sums->in + part->in;
        sums->out = part->out < 0 || sums->out < 0 ? -1 : sums->out + part->out;
    }
}

static int by_urgency(const void *first, const void *second) {
    const struct queue_row *one = first, *other = second;
    const int order = other->urgency - one->urgency;
    return order ? order : by_part(first, second);
}

static void put_urgent_first(struct queue_rows *rows) {
    struct diagnosis why;
    for (size_t i = 0; i < rows->count; i++) {
        struct queue_row *row = &rows->list[i];
        row->urgency = diagnose_queue(rows, row, &why) ? (int)why.level : -1;
        for (size_t k = row->parts; k > 0; k--)
            rows->list[i + k].urgency = row->urgency;
        i += row->parts;
    }
    if (rows->count)
        qsort(rows->list, rows->count, sizeof *rows->list, by_urgency);
}

static void add_all_up(struct queue_rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->list[i].parts)
            add_up(&rows->list[i]);
}

/* All queues */

void queue_rows_end(struct queue_rows *rows) {
    free(rows->list);
    health_end(&rows->healths);
    workers_end(&rows->workers);
    *rows = (struct queue_rows){0};
}

bool is_server_status(dueq_status status) {
    return status == DUEQ_INTERRUPTED || status == DUEQ_CONNECT || status == DUEQ_CLOSED ||
           status == DUEQ_TIMEOUT || status == DUEQ_AUTH || status == DUEQ_TLS ||
           status == DUEQ_LOADING;
}

static bool is_named(char *names[], size_t count, const char *name) {
    while (count && strcmp(names[count - 1], name) != 0)
        count--;
    return count > 0;
}

static void arrange(struct queue_rows *rows) {
    struct queue_row *sums = NULL;
    if (rows->count)
        qsort(rows->list, rows->count, sizeof *rows->list, by_part);
    for (size_t i = 0; i < rows->count; i++) {
        struct queue_row *row = &rows->list[i];
        if (row->whole == row->queue)
            sums = row;
        else if (sums && sums->queue == row->whole)
            sums->parts++;
    }
}

dueq_status queue_rows_begin(struct cli *cli, char *names[], size_t count,
                             struct queue_rows *rows) {
    *rows = (struct queue_rows){.read_ms = time_monotonic_ms()};
    dueq_status status = workers_read(cli, names, count, &rows->workers);
    const struct cli_names *all = &rows->workers.queues;
    rows->list = calloc(all->count + 1, sizeof *rows->list);
    if (!rows->list)
        cli_out_of_memory();
    for (size_t i = 0; status == DUEQ_OK && i < all->count; i++) {
        if (cli_is_partitioned(all, all->list[i]) && count && !is_named(names, count, all->list[i]))
            continue;
        struct queue_row *row = &rows->list[rows->count++];
        *row = (struct queue_row){.queue = all->list[i], .in = -1, .out = -1};
        row->whole = whole_of(&rows->workers, row->queue);
        count_workers(&rows->workers, row);
    }
    arrange(rows);
    return status;
}

dueq_status queue_rows_read(struct cli *cli, char *names[], size_t count, struct queue_rows *rows,
                            void (*between)(struct cli *cli)) {
    struct queue_rows read;
    dueq_status status = queue_rows_begin(cli, names, count, &read);
    for (size_t i = 0; status == DUEQ_OK && i < read.count; i++) {
        struct queue_row *row = &read.list[i];
        if (!row->parts)
            queue_row_read(cli, queue_rows_find(rows, row->queue), true, row);
        if (is_server_status(row->status))
            status = row->status;
        if (between)
            between(cli);
    }
    if (status == DUEQ_OK) {
        add_all_up(&read);
        health_read(cli, &read.healths);
        put_urgent_first(&read);
    }
    read.took_ms = time_monotonic_ms() - read.read_ms;
    queue_rows_end(status == DUEQ_OK ? rows : &read);
    if (status == DUEQ_OK)
        *rows = read;
    return status;
}

dueq_status queue_rows_read_counts(struct cli *cli, struct queue_rows *rows,
                                   void (*between)(struct cli *cli)) {
    dueq_status status = DUEQ_OK;
    for (size_t i = 0; status == DUEQ_OK && i < rows->count; i++) {
        struct queue_row *row = &rows->list[i];
        dueq_queue *queue;
        if (row->parts)
            continue;
        row->status = dueq_queue_open(cli->client, row->queue, strlen(row->queue), &queue);
        if (row->status == DUEQ_OK)
            row->status = read_counts(cli, queue, row, row);
        dueq_queue_close(queue);
        describe_failure(cli, row->status, row->problem, sizeof row->problem);
        if (is_server_status(row->status))
            status = row->status;
        between(cli);
    }
    add_all_up(rows);
    return status;
}
