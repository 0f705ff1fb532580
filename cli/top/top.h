/*
 * dueq top: declarations for its files. data.c reads, changes.c changes, view.c, queue.c, groups.c
 * and message.c write lines, screen.c shows them, keys.c handles keys.
 */
#ifndef DUEQ_CLI_TOP_H
#define DUEQ_CLI_TOP_H

#include "../queue_row.h"

enum {
    TOP_PAGE = 100,       /* messages or groups of a list */
    TOP_EMPTY_PAGES = 10, /* so many empty pages are read for one that has something */
    TOP_NEXT_GROUPS = 4,  /* groups that the view of a queue shows */
    /* The limits are read this often: they may take the server 10 ms, and change seldom. */
    TOP_LIMITS_MS = 10000,
    /* Partitions of the queues that were named are looked for this often, among all keys. */
    TOP_PARTITIONS_MS = 60000
};

enum top_view {
    TOP_QUEUES,
    TOP_WORKERS,
    TOP_ERRORS,
    TOP_QUEUE,
    TOP_MESSAGE,
    TOP_GROUPS,
    TOP_HELP,
    TOP_VIEWS
};

/* A change that a key asks for. */
enum top_verb {
    TOP_NOTHING,
    TOP_PAUSE,
    TOP_RESUME,
    TOP_KICK,
    TOP_KICK_ALL,
    TOP_CANCEL,
    TOP_HOLD,
    TOP_END_HOLD,
    TOP_PURGE
};

struct top_order {
    enum top_verb verb;
    char queue[DUEQ_MAX_NAME + 1];
    char id[DUEQ_MAX_ID + 1];     /* of a message; from TOP_HOLD on the name of a group */
    char error[ERROR_CLASS_SIZE]; /* of TOP_KICK_ALL: the class of the error */
    int64_t hold_ms;              /* of TOP_HOLD: for how long */
};

struct top_cursor {
    char data[512];
    size_t size; /* 0: the first page */
};

enum top_body { TOP_AUTO, TOP_TEXT, TOP_JSON, TOP_HEX, TOP_BODIES };

struct top {
    struct cli *cli;
    /* The queues of the command line, and their partitions; none: all queues. */
    struct cli_names names;
    int64_t partitions_ms; /* when to look for partitions, by time_monotonic_ms() */
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
    /* For TOP_QUEUE the first groups, for TOP_GROUPS a page of groups; NULL: not read yet. */
    dueq_result *groups;
    dueq_result *limits;      /* of the queue, for its groups; NULL: not read, or unreadable */
    int64_t limits_ms;        /* when they were read, by time_monotonic_ms(); 0: not yet */
    char limits_problem[300]; /* why the limits could not be read; "": they were read */
    struct top_cursor at, groups_at; /* where the page, and the page of groups, begins */
    struct history history;          /* the history of the message */
    dueq_status page_status, message_status, groups_status;
    bool hurry; /* the view must be read at once */
    bool again; /* everything must be read at once */

    struct top_order asked; /* waits for the user's answer */
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
/* Reads the data of the view of a queue, of its groups or of a message. */
void top_read_view(struct top *top);
void top_end(struct top *top);

/* changes.c */

/* Performs top->order, and writes the outcome to top->said. */
void top_perform(struct top *top);

/* text.c: columns */

/* Writes escaped text in exactly `width` columns; below 0: aligned to the right. */
void top_cell(FILE *out, dueq_bytes text, int width);
void top_cell_text(FILE *out, const char *text, int width);
/* Writes escaped text, cut at `width` columns. Returns the columns that it takes. */
size_t top_clip(FILE *out, const char *text, size_t width);
/* Escapes text, and writes it as top_clip() does. page_put() may escape it once more. */
size_t top_brief(FILE *out, dueq_bytes text, size_t width);
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
/* Draws the groups that have been read, with a title; items: they can be selected. groups.c */
void draw_group_rows(const struct top *top, struct top_page *page, const char *title, bool items);
void draw_groups(const struct top *top, struct top_page *page);
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
/* How long the answers '1', '2' and so on hold a group, in ms. */
enum { TOP_SPANS = 4 };
extern const int64_t top_spans[TOP_SPANS];

/* screen.c and terminal.c, which use ncurses if it was found */

/* Whether the terminal can be drawn on, by its type in $TERM. */
bool top_terminal(void);
/* Shows the screen until the user quits. Returns the exit code. */
int top_screen(struct top *top);

#endif
