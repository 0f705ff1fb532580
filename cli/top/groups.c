#include <string.h>

#include "top.h"

/* The groups of a queue, and its limits */

/* In front of the message that must end before the next of a group begins. */
static const char waits_for[] = "  waits for ";

void draw_group_rows(const struct top *top, struct top_page *page, const char *title, bool items) {
    const dueq_bytes none = {"(no group)", 10};
    const int room = page->width - (int)strlen(group_titles);
    page_say(page, TOP_TITLE, "%s%s", group_titles, title);
    if (items)
        page->fixed = page->count;
    for (size_t i = 0; i < dueq_result_count(top->groups); i++) {
        const dueq_group *group = dueq_result_group(top->groups, i);
        FILE *out = page_line(page);
        group_put(out, group, dueq_result_limits(top->limits));
        size_t rest = room > 0 ? (size_t)room : 0;
        rest -= top_brief(out, group->name.size ? group->name : none, rest);
        if (group->holder.size && rest > strlen(waits_for)) {
            fputs(waits_for, out);
            top_brief(out, group->holder, rest - strlen(waits_for));
        }
        page_put(page,
                 group->held_until_ms ? TOP_WARN
                 : group->name.size   ? TOP_PLAIN
                                      : TOP_DIM,
                 items);
    }
}

/*
 * Limits as they were set, in one line: "NAME: concurrency 50, rate 100/s". None: no line. order:
 * of groups; "": they are fair.
 */
static void draw_limits(struct top_page *page, const char *name, int64_t concurrency,
                        const char *rate, int64_t burst, int64_t backlog, const char *order) {
    char number[NUMBER_ROOM];
    const char *between = ": ";
    if (!concurrency && !*rate && !backlog && !*order)
        return;
    FILE *out = page_line(page);
    fputs(name, out);
    if (concurrency) {
        fprintf(out, "%sconcurrency %s", between, text_number(concurrency, number));
        between = ", ";
    }
    if (*rate) {
        fprintf(out, "%srate %s", between, rate);
        between = ", ";
    }
    if (burst)
        fprintf(out, "%sburst %s", between, text_number(burst, number));
    if (backlog) {
        fprintf(out, "%sbacklog %s", between, text_number(backlog, number));
        between = ", ";
    }
    if (*order)
        fprintf(out, "%sorder %s", between, order);
    page_put(page, TOP_PLAIN, false);
}

static void draw_all_limits(const struct top *top, struct top_page *page) {
    const dueq_bounds *limits = dueq_result_limits(top->limits);
    if (top->limits_problem[0])
        page_say(page, TOP_WARN, "The limits cannot be read: %s", top->limits_problem);
    if (!limits)
        return;
    draw_limits(page,
                cli_partition_mark(top->queue) ? "Limits of all partitions together"
                                               : "Limits of the queue",
                limits->concurrency, limits->rate, limits->burst, 0, "");
    draw_limits(page, "Limits of each group", limits->each_group_concurrency,
                limits->each_group_rate, limits->each_group_burst, limits->each_group_backlog,
                limits->order);
    if (limits->group_count)
        page_say(page, TOP_PLAIN, "Groups with limits of their own: %zu (dueq limits shows them)",
                 limits->group_count);
}

/*
 * The names of the queue and of the selected group, and for which message it waits. The row may
 * have no room for them.
 */
static void draw_names(const struct top *top, struct top_page *page) {
    enum { MOST = 30 };
    const size_t count = dueq_result_count(top->groups), at = top->selected[TOP_GROUPS];
    const dueq_group *group = dueq_result_group(top->groups, at < count ? at : count - 1);
    const bool named = count && group && group->name.size;
    FILE *out = page_line(page);
    top_brief(out, (dueq_bytes){top->queue, strlen(top->queue)},
              named ? MOST : (size_t)page->width);
    if (named) {
        fputs("  group ", out);
        fwrite(group->name.data, 1, group->name.size, out);
    }
    if (named && group->holder.size) {
        fputs(waits_for, out);
        fwrite(group->holder.data, 1, group->holder.size, out);
    }
    page_put(page, TOP_TITLE, false);
}

void draw_groups(const struct top *top, struct top_page *page) {
    const struct queue_row *row = queue_rows_find(&top->rows, top->queue);
    struct diagnosis why;
    draw_names(top, page);
    if (row && top_why(top, row, &why))
        page_why(page, &why);
    draw_all_limits(top, page);
    if (dueq_result_count(top->groups))
        draw_group_rows(top, page, "GROUP", true);
    else
        page_say(page, TOP_DIM, "%s",
                 top->groups_status ? dueq_status_text(top->groups_status)
                 : !top->groups     ? "Reading..."
                 : dueq_result_cursor(top->groups).size
                     ? "The groups of this page have no message that waits or is leased."
                     : "No message with a group waits or is leased.");
    if (dueq_result_cursor(top->groups).size)
        page_say(page, TOP_DIM, "There are more: n shows them");
}
