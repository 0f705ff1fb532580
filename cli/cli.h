/* The dueq command: what its files share. It stands on dueq.h alone. */
#ifndef DUEQ_CLI_H
#define DUEQ_CLI_H

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strptime, timegm */
#endif

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dueq.h"

/* Exit codes; a signal ends the program with 128 + its number. */
enum {
    CLI_DONE = 0,
    CLI_OUTCOME = 1, /* an outcome that is not OK */
    CLI_USAGE = 2,
    CLI_AGAIN = 3, /* a failure that may pass: the same command may succeed later */
    CLI_FAILED = 4
};

/* One run of the program. */
struct cli {
    const char *command; /* NULL before it is known */
    const char *url;     /* NULL: dueq_open()'s default */
    bool json;
    bool finishing; /* signals wait: messages were printed and are to be acknowledged */
    dueq_client *client;
    dueq_queue *queue;
    const char *queue_name;
};

struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *help;                                    /* options and examples */
    int (*run)(struct cli *cli, int argc, char *argv[]); /* argv[0] is the program; the exit code */
};

extern const struct command push_command;                              /* push.c */
extern const struct command reserve_command;                           /* reserve.c */
extern const struct command ack_command, cancel_command, kick_command; /* settle.c */
extern const struct command retry_command, extend_command, bury_command;
extern const struct command find_command, stats_command;       /* look.c */
extern const struct command reschedule_command, pause_command; /* manage.c */
extern const struct command resume_command, purge_command;

/* ---- main.c: options and help ------------------------------------------------------------------ */

enum { CLI_OPTION_URL = 0x100, CLI_OPTION_JSON, CLI_OPTION_HELP, CLI_OPTION_VERSION };

/* Ends the list of a command's options. */
#define CLI_OPTIONS                                                                                \
    {"url", required_argument, NULL, CLI_OPTION_URL},                                              \
        {"json", no_argument, NULL, CLI_OPTION_JSON},                                              \
        {"help", no_argument, NULL, CLI_OPTION_HELP},                                              \
        {"version", no_argument, NULL, CLI_OPTION_VERSION}, {NULL, 0, NULL, 0}

/* The next option of the command's own, or -1 after the last. The common ones are dealt with. */
int cli_option(struct cli *cli, int argc, char *argv[], const struct option *options);
/* Says what is wrong with the arguments and exits with CLI_USAGE. */
_Noreturn void cli_usage(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Checks the number of words that are left: between `least` and `most` after the queue's name. */
void cli_words(const struct cli *cli, int argc, int least, int most);

/* A duration or a point of time that an option gives, or cli_usage(). */
int64_t cli_duration(const struct cli *cli, const char *option, const char *text);
int64_t cli_point(const struct cli *cli, const char *option, const char *text);
/* A whole number from `least` to `most`, or cli_usage(). */
long cli_number(const struct cli *cli, const char *option, const char *text, long least, long most);

/* ---- session.c: the client, calls and signals --------------------------------------------------- */

/* Opens the queue named by the next word. False: said why; *code is the exit code. */
bool cli_open(struct cli *cli, char *argv[], int *code);
/* For a command without options of its own: reads the common ones, wants `words` words after the queue's
 * name, and opens the queue, as cli_open(). */
bool cli_begin(struct cli *cli, int argc, char *argv[], int words, int *code);
void cli_close(struct cli *cli);
/* Lets SIGINT and SIGTERM end the program in good order, and writes fail rather than kill. */
void cli_signals(void);
/* Exits with 128 + the signal's number if one has come; what is under way is abandoned. */
void cli_check_signal(struct cli *cli);
/* Completes a call that a dueq_VERB_submit() has begun with `status`. `result` may be NULL. */
dueq_status cli_wait(struct cli *cli, dueq_status status, dueq_result **result);

/* ---- output.c ---------------------------------------------------------------------------------- */

/* Says on stderr what came of a call, `about` what (may be NULL), and returns the exit code. */
int cli_report(const struct cli *cli, dueq_status status, const char *about);
/* The worse of two exit codes. */
int cli_worse(int one, int other);
/* A failure of reading or writing. Returns CLI_FAILED. */
int cli_system_error(const char *what);
/* One line a result item: JSON to stdout, or text for a bad outcome to stderr. Returns the exit code. */
int cli_item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status);
void cli_print_message(const struct cli *cli, const dueq_message *message); /* find: everything */
void cli_json_message(const dueq_message *message);                         /* one line of JSON */
void cli_print_counts(const struct cli *cli, const dueq_counts *counts);
/* Writes bytes to stdout. */
void cli_put(dueq_bytes bytes);

/* ---- text.c: what is valid, and what JSON can carry ---------------------------------------------- */

bool text_is_utf8(dueq_bytes bytes);
/* Base 64 with padding; NULL: out of memory. Free with free(). */
char *text_base64(dueq_bytes bytes);
/* The bytes with each one that is not UTF-8 replaced by U+FFFD; NULL: out of memory. */
char *text_repair(dueq_bytes bytes, size_t *size);

/* ---- time.c ------------------------------------------------------------------------------------ */

/* "250ms", "1.5s", "30m", "2h", "7d", "1h30m"; a bare number is seconds. */
bool time_parse_duration(const char *text, int64_t *ms);
/* "2026-12-01T10:00:00Z", also with a fraction and an offset, or seconds since 1970. */
bool time_parse_point(const char *text, int64_t *ms);
#define TIME_ROOM 32
/* "2026-12-01T10:00:00.000Z" */
const char *time_format(int64_t ms, char out[TIME_ROOM]);

/* ---- input.c ----------------------------------------------------------------------------------- */

/* All of standard input; false: said why. Free with free(). */
bool input_all(struct cli *cli, dueq_bytes *bytes);

/* Lines of standard input as they come. Start from {0}; end with input_end(). */
struct input {
    char *data;
    size_t start, end, room;
    size_t scanned; /* no newline in so many bytes from start */
    bool done, failed;
};

/*
 * The next line without its newline; it stays valid until the next call. False: the end, or a failure
 * (failed is set and said).
 */
bool input_line(struct cli *cli, struct input *input, dueq_bytes *line);
/* Whether input_line() would answer without waiting. */
bool input_ready(struct input *input);
void input_end(struct input *input);

#endif
