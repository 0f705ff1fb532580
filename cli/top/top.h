/* dueq top: what its files share. data.c reads, why.c and views draw lines, screen.c shows them, keys.c takes keys. */
#ifndef DUEQ_CLI_TOP_H
#define DUEQ_CLI_TOP_H

#include "../cli.h"

enum {
    TOP_MINUTES = 30,    /* of history */
    TOP_GROUPS = 8,      /* errors that a queue shows */
    TOP_LOOKED = 50,     /* messages that these are read from */
    TOP_ERROR = 160,     /* bytes of such an error */
    TOP_PAGE = 100,      /* messages of a list */
    TOP_STUCK_MS = 10000 /* what waits for longer is stuck */
};

/* Messages whose errors are the same, but for their numbers. */
struct top_group {
    char text[TOP_ERROR];
    dueq_state state; /* dead, or of those that are tried again */
    int64_t count, last_ms;
};

/* A queue, or a partition of one. */
struct top_row {
    const char *queue;
    const char *whole; /* that its consumers are registered with: the same, but of a partition */
    dueq_status status;
    char problem[200]; /* why it could not be read */
    dueq_counts counts;
    double in, out;                 /* pushed and delivered in a second; below 0: not known yet */
    dueq_rate minutes[TOP_MINUTES]; /* the latest last, also those without an event */
    struct top_group groups[TOP_GROUPS];
    size_t group_count;
    int64_t workers, lapsed, held, working, slots;
};

struct top_model {
    struct roster roster;
    struct top_row *rows;
    size_t count;
    int64_t read_ms; /* when all of it was read, by time_monotonic_ms(); 0: never */
    int64_t took_ms;
};

enum top_view { TOP_QUEUES, TOP_WORKERS, TOP_ERRORS, TOP_QUEUE, TOP_MESSAGE, TOP_HELP, TOP_VIEWS };

/* What a key asks of the server. */
enum top_verb { TOP_NOTHING, TOP_PAUSE, TOP_RESUME, TOP_KICK, TOP_KICK_ALL, TOP_CANCEL };

struct top_order {
    enum top_verb verb;
    char queue[DUEQ_MAX_NAME + 1];
    char id[DUEQ_MAX_ID + 1];
    char error[TOP_ERROR]; /* of TOP_KICK_ALL */
};

enum top_body { TOP_AUTO, TOP_TEXT, TOP_JSON, TOP_HEX, TOP_BODIES };

struct top {
    struct cli *cli;
    char **names; /* the queues that are shown; none: all */
    size_t name_count;
    int64_t every_ms;
    bool read_only, ended;
    struct top_model model;

    dueq_status status; /* of the last reading, and why it failed */
    char problem[400];
    int64_t call_ms; /* when the call under way began, by time_monotonic_ms(); 0: none */

    enum top_view view, back; /* back: of the help */
    char queue[DUEQ_MAX_NAME + 1], id[DUEQ_MAX_ID + 1];
    dueq_state state;
    size_t selected[TOP_VIEWS];
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
    char said[400];         /* what came of the last one */
};

/* ---- data.c ---- */

/* Reads all queues. Returns the status; of a queue that fails, its row has it. */
dueq_status top_read(struct top *top);
/* Reads the numbers of the queues that are known. */
dueq_status top_read_counts(struct top *top);
/* Reads what the views of a queue and of a message show. */
void top_read_view(struct top *top);
/* Does what was ordered, and says what came of it. */
void top_perform(struct top *top);
void top_end(struct top *top);
const struct top_row *top_find(const struct top_model *model, const char *queue);

/* ---- errors.c ---- */

/* The text of those without an error whose leases ended. */
extern const char top_crashed[];
/* Adds the errors of a page of messages. */
void top_group_page(struct top_row *row, const dueq_result *page);
/* The text of an error that stands for its group. */
void top_group_text(dueq_bytes error, char text[TOP_ERROR]);

/* ---- why.c ---- */

/* Why messages of the queue wait or fail, in words, which may hold what others wrote. False: nothing is wrong. */
bool top_why(const struct top *top, const struct top_row *row, char *why, size_t room);
/* What is wrong with the server. */
bool top_why_server(const struct top *top, char *why, size_t room);

/* ---- text.c: columns ---- */

/* Writes text as it may be shown, in exactly so many columns; below 0: at the right. */
void top_cell(FILE *out, dueq_bytes text, int width);
void top_cell_text(FILE *out, const char *text, int width);
/* Cuts text that may be shown at so many columns; returns how many it has. */
size_t top_clip(FILE *out, const char *text, size_t width);
/* "99999", "123k", "4.5M" */
const char *top_number(int64_t number, char out[TIME_ROOM]);
/* "5s"; below 0: "-" */
const char *top_span(int64_t ms, char out[TIME_ROOM]);
/* A column for each value, as high as it is. */
void top_spark(FILE *out, const int64_t *values, size_t count);

/* ---- Lines: what is shown, on the screen and by --once ---- */

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
void page_why(struct top_page *page, const char *why);
void page_end(struct top_page *page);

/* Fills in what the view shows. */
void top_draw(const struct top *top, struct top_page *page); /* view.c */
void draw_queue(const struct top *top, struct top_page *page);
void draw_message(const struct top *top, struct top_page *page);
void draw_help(const struct top *top, struct top_page *page);
/* The last line: keys, or what is asked. */
void top_foot(const struct top *top, struct top_page *page);

/* ---- keys.c ---- */

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

/* ---- screen.c, terminal.c: where ncurses was found ---- */

/* Whether the terminal can be drawn on, by its type in $TERM. */
bool top_terminal(void);
/* Shows the screen until it is left. Returns the exit code. */
int top_screen(struct top *top);

#endif
