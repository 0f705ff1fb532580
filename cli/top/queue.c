#include <string.h>

#include "top.h"

/* Events by the minute */

enum { SERIES = 6 };

static void draw_series(const struct queue_row *row, struct top_page *page) {
    static const char *const names[SERIES] = {"pushed", "done",   "failed",
                                              "died",   "late99", "run99"};
    int64_t values[SERIES][ROW_MINUTES], most[SERIES] = {0};
    for (size_t i = 0; i < ROW_MINUTES; i++) {
        const dueq_rate *rate = &row->minutes[i];
        const int64_t minute[SERIES] = {rate->pushed, rate->acked,       rate->retried,
                                        rate->died,   rate->late_p99_ms, rate->run_p99_ms};
        for (size_t k = 0; k < SERIES; k++) {
            values[k][i] = minute[k] > 0 ? minute[k] : 0;
            most[k] = values[k][i] > most[k] ? values[k][i] : most[k];
        }
    }
    /* Two charts in a line: 80 columns have room for that. */
    for (size_t k = 0; k < SERIES; k += 2) {
        FILE *out = page_line(page);
        for (size_t i = k; i < k + 2; i++) {
            char text[TIME_ROOM];
            fprintf(out, "%-6s %6s ", names[i],
                    i < 4 ? text_number(most[i], text)
                          : time_format_span(most[i] ? most[i] : -1, text));
            top_spark(out, values[i] + ROW_MINUTES - 24, 24);
            fputs("  ", out);
        }
        page_put(page, TOP_DIM, false);
    }
}

static void draw_counts(const struct queue_row *row, struct top_page *page) {
    const dueq_counts *counts = &row->counts;
    char text[TIME_ROOM];
    FILE *out = page_line(page);
    const struct {
        const char *name;
        int64_t number;
    } all[] = {{"pushed", counts->pushed},      {"delivered", counts->reserved},
               {"done", counts->acked},         {"failed", counts->retried},
               {"died", counts->died},          {"expired", counts->expired},
               {"cancelled", counts->cancelled}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fprintf(out, "%s %s  ", all[i].name, text_number(all[i].number, text));
    page_put(page, TOP_PLAIN, false);
}

/* Its messages */

static void draw_message_row(const struct top *top, const dueq_message *message,
                             struct top_page *page) {
    char span[TIME_ROOM], attempt[TIME_ROOM], size[TIME_ROOM];
    bool ahead = top->state == DUEQ_DELAYED || top->state == DUEQ_LEASED;
    int64_t from_ms = top->state == DUEQ_READY ? message->created_ms : message->time_ms;
    int64_t away_ms = ahead ? from_ms - message->now_ms : message->now_ms - from_ms;
    FILE *out = page_line(page);
    snprintf(attempt, sizeof attempt, message->max_attempts ? "%u/%u" : "%u", message->attempt,
             message->max_attempts);
    fprintf(out, "%8s %7s %7s  ", time_format_span(away_ms > 0 ? away_ms : 0, span), attempt,
            text_number((int64_t)message->body_size, size));
    top_cell(out, message->id, 24);
    fputs("  ", out);
    /* The error, or else the body, in the columns that are left. */
    const int rest = page->width - 52;
    top_cell(out, message->error.size ? message->error : message->body, rest > 0 ? rest : 0);
    page_put(page, message->error.size ? TOP_WARN : TOP_PLAIN, true);
}

static void draw_tabs(const struct top *top, const struct queue_row *row, struct top_page *page) {
    const int64_t counts[] = {[DUEQ_READY] = row ? row->counts.ready : 0,
                              [DUEQ_DELAYED] = row ? row->counts.delayed : 0,
                              [DUEQ_LEASED] = row ? row->counts.leased : 0,
                              [DUEQ_DEAD] = row ? row->counts.dead : 0,
                              [DUEQ_OUTBOX] = row ? row->counts.outbox : 0};
    static const char *const times[] = {"", "AGE", "DUE IN", "ENDS IN", "DEAD FOR", "ENDS IN"};
    char number[TIME_ROOM];
    FILE *out = page_line(page);
    for (dueq_state state = DUEQ_READY; state <= DUEQ_OUTBOX; state++)
        fprintf(out, "%s%s %s%s  ", state == top->state ? "[" : " ", dueq_state_name(state),
                text_number(counts[state], number), state == top->state ? "]" : " ");
    page_put(page, TOP_TITLE, false);
    out = page_line(page);
    fprintf(out, "%8s %7s %7s  %-24s  ERROR OR BODY", times[top->state], "ATTEMPT", "BYTES", "ID");
    page_put(page, TOP_TITLE, false);
}

void draw_queue(const struct top *top, struct top_page *page) {
    const struct queue_row *row = queue_rows_find(&top->rows, top->queue);
    struct diagnosis why;
    FILE *out = page_line(page);
    fputs(top->queue, out);
    page_put(page, TOP_TITLE, false);
    if (row && top_why(top, row, &why))
        page_why(page, &why);
    if (row) {
        draw_counts(row, page);
        draw_series(row, page);
    }
    if (dueq_result_count(top->groups))
        draw_group_rows(top, page, "GROUP (g: all)", false);
    draw_tabs(top, row, page);
    page->fixed = page->count;
    if (!top->page)
        page_say(page, TOP_DIM, "%s",
                 top->page_status ? dueq_status_text(top->page_status) : "Reading...");
    else if (!dueq_result_count(top->page) && !dueq_result_cursor(top->page).size)
        page_say(page, TOP_DIM, "There is none.");
    for (size_t i = 0; i < dueq_result_count(top->page); i++) {
        const dueq_message *message = dueq_result_message(top->page, i);
        if (message) {
            draw_message_row(top, message, page);
        } else {
            out = page_line(page);
            fprintf(out, "%8s %7s %7s  ", "-", "-", "-");
            top_cell(out, dueq_result_id(top->page, i), 24);
            fputs("  damaged: it cannot be read", out);
            page_put(page, TOP_BAD, true);
        }
    }
    if (dueq_result_cursor(top->page).size)
        page_say(page, TOP_DIM, "There are more: n shows them");
}
