/*
 * dueq top: what its files share. data.c reads, views draw lines, screen.c shows them, keys.c takes
 * keys.
 */
#ifndef DUEQ_CLI_TOP_H
#define DUEQ_CLI_TOP_H

#include "../queue_row.h"

enum { TOP_PAGE = 100 /* messages of a list */ };

enum top_view { TOP_QUEUES, TOP_WORKERS, TOP_ERRORS, TOP_QUEUE, TOP_MESSAGE, TOP_HELP, TOP_VIEWS };

/* What a key asks of the server. */
enum top_verb { TOP_NOTHING, TOP_PAUSE, TOP_RESUME, TOP_KICK, TOP_KICK_ALL, TOP_CANCEL };

struct top_order {
    enum top_verb verb;
    char queue[DUEQ_MAX_NAME + 1];
    char id[DUEQ_MAX_ID + 1];
    char error[ERROR_CLASS_SIZE]; /* of TOP_KICK_ALL: the class */
};

enum top_body { TOP_AUTO, TOP_TEXT, TOP_JSON, TOP_HEX, TOP_BODIES };

struct top {
    struct cli *cli;
    char **names; /* the queues that are shown; none: all */
    size_t name_count;
    int64_t every_ms;
    bool read_only, ended;
    struct queue_rows rows;

    dueq_status status; /* of the last reading, and why it failed */
    char problem[400];
    int64_t call_ms; /* when the call under way began, by time_monotonic_ms(); 0: none */

    enum top_view view, back; /* back: of the help */
    char queue[DUEQ_MAX_NAME + 1], id[DUEQ_MAX_ID + 1];
    dueq_state state;
    char opened[DUEQ_MAX_NAME + 1]; /* the queue whose partitions are shown, too */
    bool all_opened;                /* those of all are */
    size_t selected[TOP_VIEWS];
    char chosen[DUEQ_MAX_NAME +
                1];        /* the queue that is selected; "": the first, whichever that is */
    size_t top[TOP_VIEWS]; /* the first line that is shown, of those that move */
    enum top_body body;
    dueq_result *page, *message; /* of the views of a queue and of a message; NULL: not read yet */
    char cursor[512];            /* where the page begins */
    struct history history;      /* of the message */
    size_t cursor_size;
    dueq_status page_status, message_status;
    bool hurry; /* the view is to be read at once */
    bool again; /* all is */

    struct top_order asked; /* waits for yes or no */
    struct top_order order; /* is to be done */
    char said[800];         /* what came of the last one */
};

/* data.c */

/*
 * The row that is shown after this one, by their places: the partitions of a queue that is not
 * opened are not.
 */
size_t top_next(const struct top *top, size_t place);

/* Reads all queues. Returns the status; of a queue that fails, its row has it. */
dueq_status top_read(struct top *top);
/* Reads the numbers of the queues that are known. */
dueq_status top_read_counts(struct top *top);
/* Reads what the views of a queue and of a message show. */
void top_read_view(struct top *top);
/* Does what was ordered, and says what came of it. */
void top_perform(struct top *top);
void top_end(struct top *top);

/* text.c: columns */

/* Writes text as it may be shown, in exactly so many columns; below 0: at the right. */
void top_cell(FILE *out, dueq_bytes text, int width);
void top_cell_text(FILE *out, const char *text, int width);
/* Cuts text that may be shown at so many columns; returns how many it has. */
size_t top_clip(FILE *out, const char *text, size_t width);
/* A column for each value, as high as it is. */
void top_spark(FILE *out, const int64_t *values, size_t count);

/* Lines: what is shown, on the screen and by --once */

enum top_style { TOP_PLAIN, TOP_TITLE, TOP_DIM, TOP_WARN, TOP_BAD };

struct top_line {
    char *text; /* no byte of it is obeyed */
    enum top_style style;
    bool item; /* it can be selected */
};

struct top_page {
    struct top_line *lines;
    size_t count, fixed; /* fixed: so many first lines do not move */
    size_t items;
    int width;
    FILE *out; /* of the line that is written */
    char *text;
    size_t size;
};

FILE *page_line(struct top_page *page);
void page_put(struct top_page *page, enum top_style style, bool item);
void page_say(struct top_page *page, enum top_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What is wrong, in as many lines as it takes, up to three. */
void page_why(struct top_page *page, const struct diagnosis *why);
enum top_style top_style(enum severity level); /* view.c */
void page_end(struct top_page *page);

/* Fills in what the view shows. */
void top_draw(const struct top *top, struct top_page *page); /* view.c */
/* diagnose_queue(), with the key that helps. */
bool top_why(const struct top *top, const struct queue_row *row, struct diagnosis *why);
void draw_queue(const struct top *top, struct top_page *page);
void draw_message(const struct top *top, struct top_page *page);
void draw_help(const struct top *top, struct top_page *page);
/* The last line: keys, or what is asked. */
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

/* Takes a character, or one of these; rows: that a page has. */
void top_key(struct top *top, int key, size_t rows);
/* The row of a queue, or of a partition, that is selected; NULL: none. */
const struct queue_row *top_selected(const struct top *top);

/* screen.c, terminal.c: where ncurses was found */

/* Whether the terminal can be drawn on, by its type in $TERM. */
bool top_terminal(void);
/* Shows the screen until it is left. Returns the exit code. */
int top_screen(struct top *top);

#endif
