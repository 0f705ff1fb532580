#include "top.h"

#ifdef DUEQ_NCURSES

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <curses.h>

enum {
    WHOLE = 5,      /* every fifth refresh reads everything; the others read counts only */
    REST = 20,      /* such a reading takes no more than a 20th of the time */
    SLICE_MS = 1000 /* while no answer comes, the screen is drawn this often */
};

/* Drawing */

static void use_style(enum top_style style) {
    static const attr_t attributes[] = {A_NORMAL, A_BOLD, A_DIM, A_NORMAL, A_BOLD};
    const short pair = style == TOP_WARN ? 1 : style == TOP_BAD ? 2 : 0;
    attr_set(attributes[style], has_colors() ? pair : 0, NULL);
}

static void put_line(const struct top_line *line, int row, bool selected) {
    use_style(line->style);
    if (selected)
        attr_on(A_REVERSE, NULL);
    mvaddstr(row, 0, line->text);
    for (int column = getcurx(stdscr); selected && getcury(stdscr) == row && column < COLS;
         column++)
        addch(' ');
}

/*
 * Moves the selection to an item that exists, and scrolls to it. Returns the selected line;
 * SIZE_MAX: none.
 */
static size_t settle(struct top *top, const struct top_page *page, size_t rows) {
    size_t *selected = &top->selected[top->view], *first = &top->top[top->view];
    const size_t moving = page->count - page->fixed;
    if (!page->items) {
        const size_t most = moving > rows ? moving - rows : 0;
        *selected = *first = *selected < most ? *selected : most;
        return SIZE_MAX;
    }
    if (*selected >= page->items)
        *selected = page->items - 1;
    size_t line = page->fixed, left = *selected;
    for (; !page->lines[line].item || left > 0; line++)
        left -= page->lines[line].item;
    size_t last = line; /* with the lines that explain the item */
    while (last + 1 < page->count && !page->lines[last + 1].item)
        last++;
    if (last - page->fixed >= *first + rows)
        *first = last - page->fixed + 1 - rows;
    if (line - page->fixed < *first)
        *first = line - page->fixed;
    return line;
}

static size_t rows_of(const struct top_page *page) {
    const size_t taken = page->fixed + 1;
    return (size_t)LINES > taken ? (size_t)LINES - taken : 1;
}

/*
 * Asks the terminal for its size: $COLUMNS and $LINES may be old, and ncurses misses some SIGWINCH.
 */
static void fit(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
        is_term_resized(size.ws_row, size.ws_col))
        resizeterm(size.ws_row, size.ws_col);
}

/* Draws everything; ncurses sends only what has changed. Returns the rows of a page. */
static size_t draw(struct top *top) {
    fit();
    struct top_page page = {.width = COLS}, foot = {.width = COLS};
    top_draw(top, &page);
    top_foot(top, &foot);
    size_t rows = rows_of(&page), selected = settle(top, &page, rows);
    const struct queue_row *row = top_selected(top);
    strcpy(top->chosen, row && top->selected[TOP_QUEUES] ? row->queue : "");
    erase();
    for (size_t i = 0; i < page.fixed && (int)i + 1 < LINES; i++)
        put_line(&page.lines[i], (int)i, false);
    const size_t first = page.fixed + top->top[top->view];
    for (size_t i = first; i < page.count && i < first + rows; i++)
        put_line(&page.lines[i], (int)(page.fixed + i - first), i == selected);
    put_line(&foot.lines[0], LINES - 1, false);
    move(LINES - 1, 0);
    refresh();
    page_end(&page);
    page_end(&foot);
    return rows;
}

/* Waiting */

static int translate(int key) {
    switch (key) {
    case KEY_UP:
        return TOP_UP;
    case KEY_DOWN:
        return TOP_DOWN;
    case KEY_PPAGE:
        return TOP_PAGE_UP;
    case KEY_NPAGE:
        return TOP_PAGE_DOWN;
    case KEY_HOME:
        return TOP_HOME;
    case KEY_END:
        return TOP_END;
    case KEY_LEFT:
        return TOP_LEFT;
    case KEY_RIGHT:
        return TOP_RIGHT;
    case KEY_ENTER:
    case '\r':
    case '\n':
        return TOP_ENTER;
    case KEY_BACKSPACE:
    case '\b':
    case 0x7F:
    case 0x1B:
        return TOP_ESCAPE;
    case '\t':
        return TOP_TAB;
    case '=':
        return '+';
    default:
        return key;
    }
}

/*
 * Handles the keys that were pressed. Returns whether there was one, or a new size of the screen.
 */
static bool take_keys(struct top *top) {
    bool any = false;
    for (int key; !top->ended && (key = getch()) != ERR; any = true)
        if (key != KEY_RESIZE)
            top_key(top, translate(key), draw(top));
    return any;
}

/*
 * Waits at most most_ms for a key, or for the sockets of the current call (client; NULL: no call).
 * Returns whether a key or a signal came.
 */
static bool wait_for(struct top *top, dueq_client *client, int64_t most_ms) {
    struct pollfd set[DUEQ_MAX_SOCKETS + 1];
    int timeout_ms = -1;
    size_t count = client ? dueq_poll_set(client, set, &timeout_ms) : 0;
    set[count] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
    if (timeout_ms < 0 || timeout_ms > most_ms)
        timeout_ms = (int)(most_ms > 0 ? most_ms : 0);
    int ready = poll(set, (nfds_t)count + 1, timeout_ms);
    bool any = take_keys(top);
    /* Readable, but no key: the terminal is gone. */
    if (ready > 0 && !any && set[count].revents)
        top->ended = true;
    if (cli_signal())
        top->ended = true;
    return any || ready < 0;
}

/* Completes a call for cli_wait(). Keys and the screen work meanwhile. */
static dueq_status wait_call(struct cli *cli) {
    struct top *top = cli->top;
    int64_t drawn_ms = top->call_ms = time_monotonic_ms();
    dueq_status status;
    while ((status = dueq_pump(cli->client)) == DUEQ_PENDING) {
        bool any = wait_for(top, cli->client, SLICE_MS);
        const char *warning = dueq_warning(cli->client);
        if (top->ended) {
            dueq_abandon(cli->client);
            status = DUEQ_INTERRUPTED;
            break;
        }
        if (warning)
            snprintf(top->problem, sizeof top->problem, "%s", warning);
        if (any || time_monotonic_ms() - drawn_ms >= SLICE_MS) {
            draw(top);
            drawn_ms = time_monotonic_ms();
        }
    }
    top->call_ms = 0;
    return status;
}

static void read_all(struct top *top) {
    const int64_t now_ms = time_monotonic_ms(), whole_ms = top->every_ms * WHOLE;
    const int64_t rest_ms = top->rows.took_ms * REST;
    const int64_t due_ms = top->rows.read_ms + (rest_ms > whole_ms ? rest_ms : whole_ms);
    bool whole = top->again || top->status || !top->rows.read_ms || now_ms >= due_ms;
    top->again = false;
    if ((whole ? top_read : top_read_counts)(top) == DUEQ_OK)
        top_read_view(top);
}

static void run(struct top *top) {
    int64_t next_ms = 0;
    while (!top->ended) {
        if (top->order.verb) {
            top_perform(top);
            top->again = true;
        }
        if (top->again || time_monotonic_ms() >= next_ms) {
            read_all(top);
            next_ms = time_monotonic_ms() + top->every_ms;
        }
        if (top->hurry && !top->ended)
            top_read_view(top);
        draw(top);
        int64_t rest_ms = next_ms - time_monotonic_ms();
        if (!top->ended && !top->hurry && !top->order.verb && !top->again && rest_ms > 0)
            wait_for(top, NULL, rest_ms);
    }
}

int top_screen(struct top *top) {
    /* ncurses needs a stream with a descriptor, and cli_out has none. */
    const char *no_color = getenv("NO_COLOR");
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    SCREEN *screen = out ? newterm(NULL, out, stdin) : NULL;
    if (!screen)
        return cli_system_error("the terminal");
    if (has_colors() && (!no_color || !*no_color) && start_color() == OK) {
        use_default_colors();
        init_pair(1, COLOR_YELLOW, -1);
        init_pair(2, COLOR_RED, -1);
    }
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    top->cli->wait = wait_call;
    top->cli->finishing = true; /* the loop ends after a signal, and restores the terminal */
    draw(top);
    run(top);
    top->cli->wait = NULL;
    endwin();
    delscreen(screen);
    fclose(out);
    return cli_signal() ? 128 + cli_signal() : CLI_DONE;
}

#else

int top_screen(struct top *top) {
    cli_log(CLI_ERROR, NULL, "dueq top --once, dueq stats --json and dueq metrics work without",
            "the screen was not built in: ncurses was not found (libncurses-dev) when dueq was "
            "built");
    (void)top;
    return CLI_USAGE;
}

#endif
