#include <string.h>

#include "top.h"

/* The head of all views */

/* What is wrong with the server, or with the connection. */
static bool why_head(const struct top *top, struct diagnosis *why) {
    int64_t under_way = top->call_ms ? time_monotonic_ms() - top->call_ms : 0;
    char waited[TIME_ROOM];
    if (under_way >= 1000)
        return snprintf(why->text, DIAGNOSIS_SIZE, "the server has not answered for %s%s%s",
                        time_format_span(under_way / 1000 * 1000, waited),
                        top->problem[0] ? ": " : "", top->problem);
    if (top->status)
        return snprintf(why->text, DIAGNOSIS_SIZE, "%s: %s", dueq_status_name(top->status),
                        top->problem);
    return diagnose_servers(&top->rows, why);
}

bool top_why(const struct top *top, const struct queue_row *row, struct diagnosis *why) {
    const bool wrong = diagnose_queue(&top->rows, row, why);
    const bool paused = row->parts ? row->counts.paused == (int64_t)row->parts : row->counts.paused;
    if (wrong && why->cause == CAUSE_PAUSED && paused)
        strcat(why->text, " (key r)");
    return wrong;
}

enum top_style top_style(enum severity level) {
    static const enum top_style styles[] = {TOP_DIM, TOP_WARN, TOP_BAD};
    return styles[level];
}

static void draw_title(const struct top *top, struct top_page *page) {
    static const char *const names[] = {"queues",  "workers", "errors", "queue",
                                        "message", "groups",  "help"};
    char time[TIME_ROOM], every[TIME_ROOM];
    FILE *out = page_line(page);
    fprintf(out, "dueq top  %s  %.8s  every %s%s  ", names[top->view],
            time_format(time_now_ms(), time) + 11, time_format_span(top->every_ms, every),
            top->read_only ? "  read only" : "");
    fputs(top->cli->client ? dueq_client_url(top->cli->client) : "", out);
    page_put(page, TOP_TITLE, false);
}

static void draw_sums(const struct top *top, struct top_page *page) {
    char number[TIME_ROOM];
    int64_t sums[5] = {0}, workers = 0, offline = 0;
    static const char *const names[] = {"ready", "delayed", "leased", "dead", "outbox"};
    for (size_t i = 0; i < top->rows.count; i++) {
        const dueq_counts *counts = &top->rows.list[i].counts;
        const int64_t numbers[] = {counts->ready, counts->delayed, counts->leased, counts->dead,
                                   counts->outbox};
        for (size_t k = 0; !top->rows.list[i].parts && k < 5; k++)
            sums[k] += numbers[k];
    }
    for (size_t i = 0; i < top->rows.workers.count; i++) {
        const struct consumer *one = &top->rows.workers.list[i];
        bool again = i && one[-1].worker->session.size == one->worker->session.size &&
                     memcmp(one[-1].worker->session.data, one->worker->session.data,
                            one->worker->session.size) == 0;
        offline += !again && worker_crashed(one->worker);
        workers += !again && !one->worker->offline;
    }
    FILE *out = page_line(page);
    for (size_t k = 0; k < 5; k++)
        fprintf(out, "%s %s  ", names[k], text_number(sums[k], number));
    fprintf(out, "workers %lld", (long long)workers);
    if (offline)
        fprintf(out, "  offline %lld", (long long)offline);
    page_put(page, TOP_PLAIN, false);
}

static void draw_head(const struct top *top, struct top_page *page) {
    struct diagnosis why = {.level = SEVERITY_ACT};
    draw_title(top, page);
    draw_sums(top, page);
    bool wrong = why_head(top, &why);
    page_say(page, wrong ? top_style(why.level) : TOP_DIM, "%s", wrong ? why.text : top->said);
}

/* Queues */

/* The latest p99 of the lateness in the last five minutes; -1: not measured. */
static int64_t late_ms(const struct queue_row *row) {
    for (size_t i = ROW_MINUTES; i-- > ROW_MINUTES - 5;)
        if (row->minutes[i].late_p99_ms >= 0)
            return row->minutes[i].late_p99_ms;
    return -1;
}

static void put_rate(FILE *out, double rate) {
    char text[TIME_ROOM] = "-";
    if (rate >= 9.95)
        text_number((int64_t)(rate + 0.5), text);
    else if (rate >= 0)
        snprintf(text, sizeof text, "%.1f", rate);
    fprintf(out, " %6s", text);
}

/* The widths of the table's columns. A wide screen also has rates. */
struct columns {
    int name, spark;
    bool rates;
};

static struct columns columns_of(const struct top_page *page) {
    enum { LEAST = 24 };
    struct columns columns = {.rates = page->width >= 110};
    int rest = page->width - 48 - (columns.rates ? 14 : 0);
    /* A screen narrower than that cuts the lines. */
    rest = rest > LEAST ? rest : LEAST;
    columns.spark = rest >= ROW_MINUTES + 30 ? ROW_MINUTES : rest / 2 < 15 ? rest / 2 : 15;
    columns.name = rest - columns.spark;
    if (columns.name > 60)
        columns.name = 60;
    return columns;
}

static void draw_row(const struct queue_row *row, const struct columns *columns, FILE *out) {
    const dueq_counts *counts = &row->counts;
    const int64_t numbers[] = {counts->ready, counts->delayed, counts->leased, counts->dead};
    int64_t acked[ROW_MINUTES];
    char text[TIME_ROOM];
    char name[DUEQ_MAX_NAME + 32];
    snprintf(name, sizeof name, "%s (%zu)", row->queue, row->parts);
    top_cell_text(out, row->parts ? name : row->queue, columns->name);
    for (size_t i = 0; i < 4; i++)
        fprintf(out, " %6s", text_number(numbers[i], text));
    fprintf(out, " %6s",
            time_format_span(counts->oldest_ms ? counts->now_ms - counts->oldest_ms : -1, text));
    fprintf(out, " %6s", time_format_span(late_ms(row), text));
    fprintf(out, " %3s ", text_number(row->workers, text));
    if (columns->rates) {
        put_rate(out, row->in);
        put_rate(out, row->out);
        fputc(' ', out);
    }
    for (size_t i = 0; i < ROW_MINUTES; i++)
        acked[i] = row->minutes[i].acked;
    top_spark(out, acked + ROW_MINUTES - columns->spark, (size_t)columns->spark);
}

static void draw_queues(const struct top *top, struct top_page *page) {
    const struct columns columns = columns_of(page);
    FILE *out = page_line(page);
    fprintf(out, "%-*s %6s %6s %6s %6s %6s %6s %3s %s%s", columns.name, "QUEUE", "READY", "DELAY",
            "LEASED", "DEAD", "OLDEST", "LATE99", "WRK", columns.rates ? "   IN/S  OUT/S " : "",
            columns.spark >= 13 ? "DONE A MINUTE" : "DONE");
    page_put(page, TOP_TITLE, false);
    page->fixed = page->count;
    for (size_t i = 0; i < top->rows.count; i = top_next(top, i)) {
        const struct queue_row *row = &top->rows.list[i];
        struct diagnosis why;
        bool wrong = top_why(top, row, &why);
        draw_row(row, &columns, page_line(page));
        page_put(page, wrong ? top_style(why.level) : TOP_PLAIN, true);
        if (wrong)
            page_why(page, &why);
    }
    if (!top->rows.count)
        page_say(page, TOP_DIM, "%s", top->rows.read_ms ? "There is no queue." : "Reading...");
}

/* Workers */

static void draw_worker(const struct consumer *consumer, int width, FILE *out) {
    const dueq_worker *worker = consumer->worker;
    const dueq_lease *oldest = NULL;
    char up[TIME_ROOM], seen[TIME_ROOM], held[TIME_ROOM];
    for (size_t i = 0; i < worker->lease_count; i++)
        if (!oldest || dueq_worker_lease(worker, i)->since_ms < oldest->since_ms)
            oldest = dueq_worker_lease(worker, i);
    top_cell(out, worker->host, width);
    fprintf(out, " %8lld %-7s %4lld/%-4lld %7s %7s  ", (long long)worker->pid,
            worker_state(worker, worker->running > 0), (long long)worker->leased,
            (long long)worker->slots, time_format_span(worker->now_ms - worker->since_ms, up),
            time_format_span(worker->now_ms - worker->seen_ms, seen));
    top_cell_text(out, consumer->queue, width);
    if (oldest) {
        fprintf(out, " %s ", time_format_span(worker->now_ms - oldest->since_ms, held));
        top_cell(out, oldest->id, 22);
    }
    fputs("  ", out);
    fwrite(worker->program.data, 1, worker->program.size, out);
}

static void draw_workers(const struct top *top, struct top_page *page) {
    const int width = page->width >= 120 ? 30 : 12;
    FILE *out = page_line(page);
    fprintf(out, "%-*s %8s %-7s %9s %7s %7s  %-*s LEASED LONGEST, PROGRAM", width, "HOST",
            "PROCESS", "STATE", "LEASED/OF", "SINCE", "SEEN", width, "QUEUE");
    page_put(page, TOP_TITLE, false);
    page->fixed = page->count;
    for (size_t i = 0; i < top->rows.workers.count; i++) {
        draw_worker(&top->rows.workers.list[i], width, page_line(page));
        page_put(page, worker_crashed(top->rows.workers.list[i].worker) ? TOP_WARN : TOP_PLAIN,
                 true);
    }
    if (!top->rows.workers.count)
        page_say(page, TOP_DIM, "No worker is registered. Consumers with a heartbeat register.");
}

/* Errors */

static void draw_errors(const struct top *top, struct top_page *page) {
    const int width = page->width >= 120 ? 30 : 16;
    FILE *out = page_line(page);
    fprintf(out, "%-*s %6s %-8s %8s  ERROR, of the first %d of each state", width, "QUEUE", "COUNT",
            "STATE", "LAST", ROW_ERRORS_READ);
    page_put(page, TOP_TITLE, false);
    page->fixed = page->count;
    for (size_t i = 0; i < top->rows.count; i++) {
        const struct queue_row *row = &top->rows.list[i];
        for (size_t k = 0; k < row->group_count; k++) {
            const struct error_group *group = &row->groups[k];
            char ago[TIME_ROOM];
            out = page_line(page);
            top_cell_text(out, row->queue, width);
            fprintf(
                out, " %6lld %-8s %8s  %s", (long long)group->count, dueq_state_name(group->state),
                time_format_span(group->last_ms ? row->counts.now_ms - group->last_ms : -1, ago),
                group->text);
            page_put(page, group->state == DUEQ_DEAD ? TOP_BAD : TOP_WARN, true);
        }
    }
    if (!page->items)
        page_say(page, TOP_DIM, "No message has an error.");
}

/* The page */

void top_draw(const struct top *top, struct top_page *page) {
    static void (*const views[])(const struct top *, struct top_page *) = {
        draw_queues, draw_workers, draw_errors, draw_queue, draw_message, draw_groups, draw_help};
    page_end(page);
    draw_head(top, page);
    page->fixed = page->count;
    views[top->view](top, page);
}

/* A question. Long names are cut, so that the answers stay on the screen. */
static void draw_question(const struct top_order *asked, struct top_page *page) {
    static const char *const deeds[] = {"",
                                        "Pause",
                                        "Resume",
                                        "Kick (deliver again, with all attempts)",
                                        "Kick all dead with",
                                        "Cancel (delete, in any state)",
                                        "Hold",
                                        "End the hold of",
                                        "Purge (delete waiting and delayed)"};
    const char *name = asked->verb == TOP_KICK_ALL ? asked->error : asked->id;
    const char *answers = asked->verb == TOP_HOLD ? "1: 1m, 2: 10m, 3: 1h, 4: 1d, other keys: no"
                                                  : "y: yes, other keys: no";
    const size_t taken = strlen(deeds[asked->verb]) + strlen(answers) + strlen("  of ? ");
    size_t room = (size_t)page->width > taken ? (size_t)page->width - taken : 0;
    FILE *out = page_line(page);
    fprintf(out, "%s ", deeds[asked->verb]);
    room -= top_brief(out, (dueq_bytes){name, strlen(name)}, room * 2 / 3);
    fputs(" of ", out);
    top_brief(out, (dueq_bytes){asked->queue, strlen(asked->queue)}, room);
    fprintf(out, "? %s", answers);
    page_put(page, TOP_WARN, false);
}

void top_foot(const struct top *top, struct top_page *page) {
    static const char *const keys[] = {
        "Enter look  Tab workers, errors  p pause  r resume  +/- refresh  ? help  q quit",
        "Enter queue  Tab errors, queues  ? help  q quit",
        "Enter queue  K kick all of the error  Tab queues, workers  ? help  q quit",
        "Enter look  <-/-> state  n next  p pause  r resume  k kick  c cancel  Esc back",
        "b body as text, JSON, hex  k kick  c cancel  Esc back  ? help  q quit",
        "h hold  e end the hold  P purge  n next page  Esc back  ? help  q quit",
        "Esc back  q quit",
    };
    if (top->asked.verb)
        draw_question(&top->asked, page);
    else
        page_say(page, TOP_DIM, "%s", keys[top->view]);
}
