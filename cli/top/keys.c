#include <string.h>

#include "top.h"

/* Bounds of the time between two readings. */
enum { FASTEST_MS = 500, SLOWEST_MS = 60000 };

const int64_t top_spans[TOP_SPANS] = {60000, 600000, 3600000, 86400000};

static void go(struct top *top, enum top_view view) {
    top->view = view;
    top->hurry = true;
}

/* These views show a page of messages, or of groups. */
static bool shows_page(const struct top *top) {
    return top->view == TOP_QUEUE || top->view == TOP_GROUPS;
}

static struct top_cursor *cursor_of(struct top *top, enum top_view view) {
    return view == TOP_GROUPS ? &top->groups_at : &top->at;
}

static void forget_page(struct top *top, enum top_view view) {
    dueq_result **page = view == TOP_GROUPS ? &top->groups : &top->page;
    dueq_result_free(*page);
    *page = NULL;
    *(view == TOP_GROUPS ? &top->groups_status : &top->page_status) = DUEQ_OK;
    top->selected[view] = 0;
    top->hurry = true;
}

static void begin_page(struct top *top, enum top_view view) {
    cursor_of(top, view)->size = 0;
    forget_page(top, view);
}

static void open_queue(struct top *top, const char *name, dueq_state state) {
    if (!name)
        return;
    snprintf(top->queue, sizeof top->queue, "%s", name);
    top->state = state;
    top->back = top->view;
    dueq_result_free(top->limits);
    top->limits = NULL;
    top->limits_ms = 0;
    top->limits_problem[0] = '\0';
    begin_page(top, TOP_GROUPS);
    begin_page(top, TOP_QUEUE);
    go(top, TOP_QUEUE);
}

/* The selected group of errors, and its queue. */
static const struct error_group *selected_group(const struct top *top,
                                                const struct queue_row **of) {
    size_t place = top->selected[TOP_ERRORS];
    for (size_t i = 0; i < top->rows.count; i++) {
        const struct queue_row *row = &top->rows.list[i];
        *of = row;
        if (place < row->group_count)
            return &row->groups[place];
        place -= row->group_count;
    }
    return NULL;
}

const struct queue_row *top_selected(const struct top *top) {
    size_t at = 0;
    for (size_t i = top->selected[TOP_QUEUES]; i && at < top->rows.count; i--)
        at = top_next(top, at);
    return at < top->rows.count ? &top->rows.list[at] : NULL;
}

/* The queue that a key acts on; NULL: none. */
static const char *subject(const struct top *top) {
    const struct queue_row *row = top->view == TOP_QUEUES ? top_selected(top) : NULL;
    if (top->view == TOP_QUEUE || top->view == TOP_MESSAGE || top->view == TOP_GROUPS)
        return top->queue;
    return row ? row->queue : NULL;
}

/* Shows the partitions of a queue, or hides them if they are shown. Selects the queue. */
static void open_parts(struct top *top, const struct queue_row *sums) {
    const bool open = strcmp(top->opened, sums->queue) == 0;
    strcpy(top->opened, open ? "" : sums->queue);
    top->selected[TOP_QUEUES] = 0;
    for (size_t at = 0; &top->rows.list[at] != sums; at = top_next(top, at))
        top->selected[TOP_QUEUES]++;
}

/* The message that a key acts on; size 0: none. */
static dueq_bytes subject_id(const struct top *top) {
    size_t place = top->selected[TOP_QUEUE];
    if (top->view == TOP_MESSAGE)
        return (dueq_bytes){top->id, strlen(top->id)};
    if (top->view != TOP_QUEUE || place >= dueq_result_count(top->page))
        return (dueq_bytes){0};
    const dueq_message *message = dueq_result_message(top->page, place);
    return message ? message->id : dueq_result_id(top->page, place);
}

static void enter(struct top *top) {
    size_t place = top->selected[top->view];
    const struct workers_view *workers = &top->rows.workers;
    const struct queue_row *row = NULL;
    const struct error_group *group;
    dueq_bytes id;
    switch (top->view) {
    case TOP_QUEUES:
        row = top_selected(top);
        if (row && row->parts)
            open_parts(top, row);
        else
            open_queue(top, subject(top), DUEQ_READY);
        break;
    case TOP_WORKERS:
        row =
            place < workers->count ? queue_rows_find(&top->rows, workers->list[place].queue) : NULL;
        if (row && row->parts) {
            top->opened[0] = '\0';
            open_parts(top, row);
            go(top, TOP_QUEUES);
        } else if (row) {
            open_queue(top, row->queue, DUEQ_LEASED);
        }
        break;
    case TOP_ERRORS:
        if ((group = selected_group(top, &row)))
            open_queue(top, row->queue, group->state);
        break;
    case TOP_QUEUE:
        id = subject_id(top);
        if (!id.size || id.size >= sizeof top->id)
            break;
        memcpy(top->id, id.data, id.size);
        top->id[id.size] = '\0';
        dueq_result_free(top->message);
        top->message = NULL;
        top->message_status = DUEQ_OK;
        top->selected[TOP_MESSAGE] = 0;
        go(top, TOP_MESSAGE);
        break;
    default:
        break;
    }
}

static void leave(struct top *top) {
    if (top->view == TOP_GROUPS)
        begin_page(top, TOP_GROUPS);
    if (top->view == TOP_MESSAGE || top->view == TOP_GROUPS)
        go(top, TOP_QUEUE);
    else if (top->view == TOP_QUEUE || top->view == TOP_HELP)
        go(top, top->back);
    else if (top->view == TOP_QUEUES && top->opened[0] && queue_rows_find(&top->rows, top->opened))
        open_parts(top, queue_rows_find(&top->rows, top->opened));
}

static void help(struct top *top) {
    static const enum top_view backs[] = {TOP_QUEUES, TOP_WORKERS, TOP_ERRORS};
    if (top->view > TOP_ERRORS)
        leave(top);
    top->back = top->view <= TOP_ERRORS ? backs[top->view] : TOP_QUEUES;
    top->view = TOP_HELP;
}

static void ask(struct top *top, enum top_verb verb) {
    const char *queue = subject(top);
    const struct queue_row *row = NULL;
    const struct error_group *group = NULL;
    dueq_bytes id = subject_id(top);
    struct top_order order = {.verb = verb};
    if (verb == TOP_KICK_ALL && top->view == TOP_ERRORS && (group = selected_group(top, &row))) {
        queue = row->queue;
        strcpy(order.error, group->text);
    }
    if (top->read_only) {
        snprintf(top->said, sizeof top->said, "read only: nothing is changed");
        return;
    }
    bool whole = verb == TOP_PAUSE || verb == TOP_RESUME;
    if (!queue || (verb == TOP_KICK_ALL ? !group || group->state != DUEQ_DEAD || !order.error[0]
                                        : !whole && (!id.size || id.size >= sizeof order.id)))
        return;
    snprintf(order.queue, sizeof order.queue, "%s", queue);
    if (!whole && verb != TOP_KICK_ALL)
        memcpy(order.id, id.data, id.size);
    *(whole ? &top->order : &top->asked) = order;
}

/* Asks about the selected group, or ends its hold. */
static void ask_group(struct top *top, enum top_verb verb) {
    const dueq_group *group = dueq_result_group(top->groups, top->selected[TOP_GROUPS]);
    struct top_order order = {.verb = verb};
    /* No group of dueq's own has such a name. */
    if (top->view != TOP_GROUPS || !group || group->name.size >= sizeof order.id ||
        (group->name.size && memchr(group->name.data, '\0', group->name.size)))
        return;
    const char *refusal = top->read_only      ? "read only: nothing is changed"
                          : !group->name.size ? "messages without a group cannot be held or purged"
                          : verb == TOP_END_HOLD && !group->held_until_ms ? "the group is not held"
                                                                          : NULL;
    if (refusal) {
        snprintf(top->said, sizeof top->said, "%s", refusal);
        return;
    }
    strcpy(order.queue, top->queue);
    memcpy(order.id, group->name.data, group->name.size);
    *(verb == TOP_END_HOLD ? &top->order : &top->asked) = order;
}

/* Performs what was asked about, if the key agrees. */
static void answer(struct top *top, int key) {
    const bool holds = top->asked.verb == TOP_HOLD;
    if (holds ? key >= '1' && key < '1' + TOP_SPANS : key == 'y' || key == 'Y') {
        top->order = top->asked;
        top->order.hold_ms = holds ? top_spans[key - '1'] : 0;
    }
    top->asked.verb = TOP_NOTHING;
}

static void turn(struct top *top, int by) {
    if (top->view != TOP_QUEUE)
        return;
    top->state = (dueq_state)(((int)top->state - 1 + by + 5) % 5 + 1);
    begin_page(top, TOP_QUEUE);
}

static void next_page(struct top *top) {
    dueq_bytes cursor = dueq_result_cursor(top->view == TOP_GROUPS ? top->groups : top->page);
    struct top_cursor *at = cursor_of(top, top->view);
    if (!shows_page(top) || !cursor.size || cursor.size > sizeof at->data)
        return;
    memcpy(at->data, cursor.data, cursor.size);
    at->size = cursor.size;
    forget_page(top, top->view);
}

static void move(struct top *top, int key, size_t rows) {
    size_t *at = &top->selected[top->view];
    size_t by = key == TOP_UP || key == TOP_DOWN ? 1 : rows ? rows : 1;
    if (key == TOP_HOME)
        *at = 0;
    else if (key == TOP_END)
        *at = SIZE_MAX / 2;
    else if (key == TOP_DOWN || key == TOP_PAGE_DOWN)
        *at += by;
    else
        *at = *at > by ? *at - by : 0;
}

void top_key(struct top *top, int key, size_t rows) {
    if (top->asked.verb) {
        answer(top, key);
        return;
    }
    switch (key) {
    case TOP_UP:
    case TOP_DOWN:
    case TOP_PAGE_UP:
    case TOP_PAGE_DOWN:
    case TOP_HOME:
    case TOP_END:
        move(top, key, rows);
        break;
    case TOP_LEFT:
    case TOP_RIGHT:
        turn(top, key == TOP_LEFT ? -1 : 1);
        break;
    case TOP_ENTER:
        enter(top);
        break;
    case TOP_ESCAPE:
        leave(top);
        break;
    case TOP_TAB:
        go(top, top->view <= TOP_ERRORS ? (top->view + 1) % 3 : TOP_QUEUES);
        break;
    case '1':
    case '2':
    case '3':
        go(top, (enum top_view)(key - '1'));
        break;
    case 'n':
        next_page(top);
        break;
    case 'N':
        if (shows_page(top))
            begin_page(top, top->view);
        break;
    case 'g':
        if (top->view == TOP_QUEUE) {
            begin_page(top, TOP_GROUPS);
            go(top, TOP_GROUPS);
        }
        break;
    case 'h':
        ask_group(top, TOP_HOLD);
        break;
    case 'e':
        ask_group(top, TOP_END_HOLD);
        break;
    case 'P':
        ask_group(top, TOP_PURGE);
        break;
    case 'b':
        top->body = (top->body + 1) % TOP_BODIES;
        break;
    case 'p':
        ask(top, TOP_PAUSE);
        break;
    case 'r':
        ask(top, TOP_RESUME);
        break;
    case 'k':
        ask(top, TOP_KICK);
        break;
    case 'K':
        ask(top, TOP_KICK_ALL);
        break;
    case 'c':
        ask(top, TOP_CANCEL);
        break;
    case '+':
        top->every_ms = top->every_ms * 2 < SLOWEST_MS ? top->every_ms * 2 : SLOWEST_MS;
        break;
    case '-':
        top->every_ms = top->every_ms / 2 > FASTEST_MS ? top->every_ms / 2 : FASTEST_MS;
        break;
    case ' ':
        top->again = true;
        top->limits_ms = 0;
        break;
    case '?':
        help(top);
        break;
    case 'q':
        top->ended = true;
        break;
    default:
        break;
    }
}
