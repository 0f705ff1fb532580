/*
 * dueq top: declarations for its files. data.c reads, view.c, queue.c and message.c write lines,
 * screen.c shows them, keys.c handles keys.
 */
#ifndef DUEQ_CLI_TOP_H
#define DUEQ_CLI_TOP_H

#include "../queue_row.h"

enum {
    TOP_PAGE = 100,       /* messages of a list */
    TOP_EMPTY_PAGES = 10, /* so many pages without a message are read for one that has some */
    TOP_GROUPS = 4        /* groups of a queue */
};

enum top_view { TOP_QUEUES, TOP_WORKERS, TOP_ERRORS, TOP_QUEUE, TOP_MESSAGE, TOP_HELP, TOP_VIEWS };

/* A change that a key asks for. */
enum top_verb { TOP_NOTHING, TOP_PAUSE, TOP_RESUME, TOP_KICK, TOP_KICK_ALL, TOP_CANCEL };

struct top_order {
    enum top_verb verb;
    char queue[DUEQ_MAX_NAME + 1];
    char id[DUEQ_MAX_ID + 1];
    char error[ERROR_CLASS_SIZE]; /* of TOP_KICK_ALL: the class of the error */
};

enum top_body { TOP_AUTO, TOP_TEXT, TOP_JSON, TOP_HEX, TOP_BODIES };

struct top {
    struct cli *cli;
    char **names; /* from the command line; none: all queues */
    size_t name_count;
    int64_t every_ms;
    bool read_only, ended;
    struct queue_rows rows;

    dueq_status status; /* of the last reading; problem: why it failed */
    char problem[400];
    int64_t call_ms; /* when the current call began, by time_monotonic_ms(); 0: no call */

    enum top_view view, back; /* back: the view behind the help or the queue */
    char queue[DUEQ_MAX_NAME + 1], id[DUEQ_MAX_ID + 1];
    dueq_state state;
    char opened[DUEQ_MAX_NAME + 1]; /* the queue whose partitions are shown */
    bool all_opened;                /* the partitions of all queues are shown */
    size_t selected[TOP_VIEWS];
    char chosen[DUEQ_MAX_NAME + 1]; /* the selected queue; "": always the first row */
    size_t top[TOP_VIEWS];          /* the first line that is shown, of those that scroll */
    enum top_body body;
    dueq_result *page, *message; /* for TOP_QUEUE and TOP_MESSAGE; NULL: not read yet */
    dueq_result *groups;         /* for TOP_QUEUE: the first groups; NULL: not read yet */
    char cursor[512];            /* the cursor where the page begins */
    struct history history;      /* the history of the message */
    size_t cursor_size;
    dueq_status page_status, message_status;
    bool hurry; /* the view must be read at once */
    bool again; /* everything must be read at once */

    struct top_order asked; /* waits for the user's yes or no */
    struct top_order order; /* waits to be performed */
    char said[800];         /* the outcome of the last order */
};

/* data.c */

/*
 * The index of the row that is shown after this one. Skips the partitions of queues that are not
 * opened.
 */
size_t top_next(const struct top *top, size_t place);

/*
 * Reads all queues. Returns a failure of the server; a queue that fails has its failure in its row.
 */
dueq_status top_read(struct top *top);
/* Reads the counts of the known queues. */
dueq_status top_read_counts(struct top *top);
/* Reads the data of the view of a queue or of a message. */
void top_read_view(struct top *top);
/* Performs top->order, and writes the outcome to top->said. */
void top_perform(struct top *top);
void top_end(struct top *top);

/* text.c: columns */

/* Writes escaped text in exactly `width` columns; below 0: aligned to the right. */
void top_cell(FILE *out, dueq_bytes text, int width);
void top_cell_text(FILE *out, const char *text, int width);
/* Writes escaped text, cut at `width` columns. Returns the columns that it takes. */
size_t top_clip(FILE *out, const char *text, size_t width);
/* Draws a bar of one column for each value. */
void top_spark(FILE *out, const int64_t *values, size_t count);

/* Lines, for the screen and for --once */

enum top_style { TOP_PLAIN, TOP_TITLE, TOP_DIM, TOP_WARN, TOP_BAD };

struct top_line {
    char *text; /* escaped: the terminal obeys no byte of it */
    enum top_style style;
    bool item; /* the line can be selected */
};

struct top_page {
    struct top_line *lines;
    size_t count, fixed; /* fixed: how many first lines do not scroll */
    size_t items;
    int width;
    FILE *out; /* writes the current line */
    char *text;
    size_t size;
};

FILE *page_line(struct top_page *page);
void page_put(struct top_page *page, enum top_style style, bool item);
void page_say(struct top_page *page, enum top_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes a diagnosis, in up to three lines. */
void page_why(struct top_page *page, const struct diagnosis *why);
enum top_style top_style(enum severity level); /* view.c */
void page_end(struct top_page *page);

/* Fills the page with the lines of the view. */
void top_draw(const struct top *top, struct top_page *page); /* view.c */
/* diagnose_queue(), and names the key that helps. */
bool top_why(const struct top *top, const struct queue_row *row, struct diagnosis *why);
void draw_queue(const struct top *top, struct top_page *page);
void draw_message(const struct top *top, struct top_page *page);
void draw_help(const struct top *top, struct top_page *page);
/* The last line: the keys, or a question. */
void top_foot(const struct top *top, struct top_page *page);

/* keys.c */

enum top_key {
    TOP_UP = 0x1000,
    TOP_DOWN,
    TOP_PAGE_UP,
    TOP_PAGE_DOWN,
    TOP_HOME,
    TOP_END,
    TOP_LEFT,
    TOP_RIGHT,
    TOP_ENTER,
    TOP_ESCAPE,
    TOP_TAB
};

/* Handles a character, or one of the keys above. rows: of a page. */
void top_key(struct top *top, int key, size_t rows);
/* The selected row of a queue or partition; NULL: none. */
const struct queue_row *top_selected(const struct top *top);

/* screen.c and terminal.c, which use ncurses if it was found */

/* Whether the terminal can be drawn on, by its type in $TERM. */
bool top_terminal(void);
/* Shows the screen until the user quits. Returns the exit code. */
int top_screen(struct top *top);

#endif
