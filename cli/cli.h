/* The dueq command: what its files share. It stands on the public headers alone. */
#ifndef DUEQ_CLI_H
#define DUEQ_CLI_H

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* strptime, timegm */
#endif

#include <getopt.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dueq.h"
#include "dueq_laravel.h"
#include "dueq_redisson.h"

/* Exit codes; a signal ends the program with 128 + its number. */
enum {
    CLI_DONE = 0,
    CLI_OUTCOME = 1, /* an outcome that is not OK */
    CLI_USAGE = 2,
    CLI_AGAIN = 3, /* a failure that may pass: the same command may succeed later */
    CLI_FAILED = 4,
    /* lock and work, apart from the codes that commands use; 126 and 127 as a shell has them */
    CLI_TAKEN = 124, /* the lock was not got, and the command not run */
    CLI_LOST = 125,  /* the lock was lost while the command ran */
    CLI_NOT_RUN = 126,
    CLI_NO_COMMAND = 127
};

enum { CLI_PREVIEW = 256 }; /* bytes of a body in a list */

/* A partition of the queue. */
struct part {
    dueq_queue *queue;
    char name[DUEQ_MAX_NAME + 1];
};

/* Arguments that came from elsewhere than the command line. */
struct refusal {
    jmp_buf back;
    char *text; /* what is wrong with them; free() it */
};

/* One run of the program. */
struct cli {
    const struct command *command; /* NULL before it is known */
    char *url;                     /* NULL: dueq_open()'s default */
    bool pass_url;                 /* the command that is run gets the password too */
    bool json;
    bool finishing;          /* signals wait: messages were printed and are to be acknowledged */
    struct refusal *refusal; /* where cli_usage() goes; NULL: it ends the program */
    /*
     * Completes the call under way in the place of cli_wait(); INTERRUPTED: it was given up. NULL:
     * cli_wait() does.
     */
    dueq_status (*wait)(struct cli *cli);
    struct top *top; /* of that */
    dueq_client *client;
    size_t partitions;                   /* of the queue; 0: it has none */
    const char *key;                     /* the one that has this key's messages; NULL: all */
    dueq_queue *queues[DUEQ_MAX_QUEUES]; /* all that are open, but for single partitions */
    const char *names[DUEQ_MAX_QUEUES];
    size_t queue_count;
    struct part *parts[DUEQ_MAX_PARTITIONS]; /* those that messages came from, by their numbers */
    dueq_queue *queue;                       /* the one that calls are about */
    const char *queue_name;
    dueq_redisson *redisson; /* that one, of another system */
    dueq_laravel *laravel;
};

struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *help;                                    /* options and examples */
    int (*run)(struct cli *cli, int argc, char *argv[]); /* argv[0] is the program; the exit code */
};

extern const struct command push_command;    /* push.c */
extern const struct command reserve_command; /* reserve.c */
extern const struct command ack_command;     /* ack.c */
extern const struct command retry_command, release_command, extend_command,
    bury_command; /* ticket_commands.c */
extern const struct command kick_command, cancel_command, reschedule_command; /* id_commands.c */
#define COMMAND(verb, ...) extern const struct command verb##_command;
DUEQ_NO_ARGS_COMMANDS(COMMAND)
DUEQ_ID_COMMANDS(COMMAND)
#undef COMMAND
extern const struct command purge_command, remove_command, repartition_command; /* admin.c */
extern const struct command allow_command;                                      /* allow.c */
extern const struct command check_command;                                      /* check.c */
extern const struct command doctor_command;                               /* doctor/doctor.c */
extern const struct command find_command, peek_command;                   /* query.c */
extern const struct command stats_command, queues_command, rates_command; /* stats.c */
extern const struct command metrics_command;                              /* metrics.c */
extern const struct command workers_command, inspect_command,
    running_command;                                                      /* workers.c, inspect.c */
extern const struct command failures_command;                             /* history.c */
extern const struct command top_command;                                  /* top/top.c */
extern const struct command lock_command, relock_command, unlock_command; /* lock.c */
extern const struct command web_command;                                  /* web/web.c */
extern const struct command work_command;                                 /* work.c */
extern const struct command completion_command;                           /* completion.c */
extern const struct command man_command;                                  /* man.c */

/*
 * Commands that have verbs: run is NULL, and the verbs' names are "redisson offer"; the last is
 * NULL.
 */
extern const struct command redisson_command, *const redisson_verbs[]; /* redisson.c */
extern const struct command laravel_command, *const laravel_verbs[];   /* laravel.c */
extern const struct command schedule_command, *const schedule_verbs[]; /* schedule.c */

/* main.c: options and help */

/*
 * What the next word chooses from: all commands (NULL), or the verbs of one; NULL: it is no further
 * part of it.
 */
const struct command *const *cli_choice(const struct command *command);
/* The one of them that a word names, or NULL. */
const struct command *cli_find_command(const struct command *const *list, const char *word);
/* The one that a mistyped word is likely to mean, or NULL: suggest.c. */
const struct command *cli_suggest(const struct command *const *list, const char *word);
/* "offer" of "redisson offer" */
const char *cli_last_word(const struct command *command);
/* What the help of all commands ends with: their options, the output, the exit codes. */
extern const char cli_common_help[];

enum {
    CLI_OPTION_URL = 0x100,
    CLI_OPTION_URL_FILE,
    CLI_OPTION_PASS_URL, /* of commands that run one */
    CLI_OPTION_JSON,
    CLI_OPTION_PARTITIONS,
    CLI_OPTION_KEY,
    CLI_OPTION_HELP,
    CLI_OPTION_VERSION
};

/* An option of commands that run one. */
#define CHILD_OPTIONS {"pass-url", no_argument, NULL, CLI_OPTION_PASS_URL}
/* Ends the list of a command's options. */
#define CLI_OPTIONS                                                                                \
    {"url", required_argument, NULL, CLI_OPTION_URL},                                              \
        {"url-file", required_argument, NULL, CLI_OPTION_URL_FILE},                                \
        {"partitions", required_argument, NULL, CLI_OPTION_PARTITIONS},                            \
        {"key", required_argument, NULL, CLI_OPTION_KEY},                                          \
        {"json", no_argument, NULL, CLI_OPTION_JSON},                                              \
        {"help", no_argument, NULL, CLI_OPTION_HELP},                                              \
        {"version", no_argument, NULL, CLI_OPTION_VERSION}, {NULL, 0, NULL, 0}

/*
 * Takes the server's URL from the command line, where everybody can read it by ps: one with a login
 * is there no longer then.
 */
void cli_take_url(struct cli *cli, char *given);
/* The next option of the command's own, or -1 after the last. The common ones are dealt with. */
int cli_option(struct cli *cli, int argc, char *argv[], const struct option *options);
/*
 * Says what is wrong with the arguments and exits with CLI_USAGE; or refuses them, where `refusal`
 * is set.
 */
_Noreturn void cli_usage(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Checks the number of words that are left: between `least` and `most` after the queue's name. */
void cli_words(const struct cli *cli, int argc, int least, int most);

/* A duration or a point of time that an option gives, or cli_usage(). */
int64_t cli_duration(const struct cli *cli, const char *option, const char *text);
int64_t cli_point(const struct cli *cli, const char *option, const char *text);
/* What --wait gives: a duration, or "forever". */
int64_t cli_patience(const struct cli *cli, const char *text);
/* A whole number from `least` to `most`, or cli_usage(). */
long cli_number(const struct cli *cli, const char *option, const char *text, long least, long most);

/* session.c: the client, calls and signals */

/* Opens the client. False: said why; *code is the exit code. Also of the next three. */
bool cli_connect(struct cli *cli, int *code);
/* Refuses --partitions and --key, of a command that is not about such a queue. */
void cli_no_partitions(const struct cli *cli);
/* Opens one more queue, with its partitions; the calls that follow are about it. */
bool cli_open_queue(struct cli *cli, const char *name, int *code);
/* Opens the client and the queue named by the next word. */
bool cli_open(struct cli *cli, char *argv[], int *code);
/* Opens the client and these queues. */
bool cli_open_queues(struct cli *cli, char *names[], size_t count, int *code);
/*
 * For a command without options of its own: reads the common ones, wants `words` words after the
 * queue's name, and opens the queue, as cli_open().
 */
bool cli_begin(struct cli *cli, int argc, char *argv[], int words, int *code);
/*
 * The queue that messages are of, by its place in `queues`, or by its partition; queue_name is its
 * name from now on.
 */
dueq_queue *cli_source(struct cli *cli, size_t place);
/* Closes the queue that was opened last. */
void cli_close_queue(struct cli *cli);
void cli_close(struct cli *cli);
/* Lets SIGINT and SIGTERM end the program in good order, and writes fail rather than kill. */
void cli_signals(void);
/* Undoes cli_signals(), for a command that is run. */
void cli_signals_undo(void);
/* The number of the signal that has come, or 0. */
int cli_signal(void);
/* Exits with 128 + the signal's number if one has come; what is under way is abandoned. */
void cli_check_signal(struct cli *cli);
/* Completes a call that a dueq_VERB_submit() has begun with `status`. `result` may be NULL. */
dueq_status cli_wait(struct cli *cli, dueq_status status, dueq_result **result);

/* stats.c */

/* Says so where nothing was ever pushed to a queue: its name may be mistyped. */
void cli_warn_of_unused(const char *queue, const dueq_counts *counts);

/* log.c: what is said on stderr */

enum cli_level { CLI_INFO, CLI_WARNING, CLI_ERROR };

/* From now on what is said is JSON: one object a line. */
void cli_log_json(bool json);
bool cli_logs_json(void);
/*
 * Says something: "dueq: STATUS: text", and "  hint" on a line of its own; as JSON time, level,
 * status, text and hint. status and hint may be NULL. What a terminal would obey is escaped,
 * wherever it goes: what others wrote can forge no line of a log.
 */
void cli_log(enum cli_level level, const char *status, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Says what came of a call, `about` what (may be NULL), and returns the exit code. */
int cli_report(const struct cli *cli, dueq_status status, const char *about);
/* The exit code of a status. */
int cli_exit_code(dueq_status status);
/* Says how many entries were quarantined, if any. */
void cli_quarantined(size_t count);
/* Says what the library warns of, if there is anything new. */
void cli_warn(const struct cli *cli);
/* The worse of two exit codes. */
int cli_worse(int one, int other);
/* A failure of reading or writing. Returns CLI_FAILED. */
int cli_system_error(const char *what);
/* Ends the act of the innermost cli_try() of this thread; without one, the program (CLI_AGAIN). */
_Noreturn void cli_out_of_memory(void);
/*
 * Runs act(context) for a program that goes on serving. False: memory ran out, and the act was left
 * where it was; the caller frees what the context owns.
 */
bool cli_try(void (*act)(void *context), void *context);

/* output.c */

/*
 * What came of one thing that a command is about: JSON to stdout, or text for a bad outcome to
 * stderr. Returns the exit code.
 */
int cli_item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status);
/* The same of what a call that is about one thing answered; a failure is said. */
int cli_outcome(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status);
/*
 * The same of a call's result; a message that was leased when it was cancelled is another outcome.
 * Of an id that was not found, it says in which state its message is, if there is one: the verb is
 * for another.
 */
int cli_result_item(struct cli *cli, const char *key, dueq_bytes subject, const dueq_result *result,
                    size_t index);
/* cli_outcome() for an id, which may be the id of a message in another state. */
int cli_id_outcome(struct cli *cli, dueq_bytes id, dueq_status status);
/* cli_item(), and a good item without JSON is a line of its own: an id or a token. */
int cli_made(const struct cli *cli, const char *key, dueq_bytes made, dueq_status status);
/* Shows on a terminal how far a long command is; `done` as in "1000 purged". */
void cli_progress(size_t count, const char *done);
/* Takes the progress away; cli_sum(): and prints the sum. */
void cli_progress_end(void);
void cli_sum(const struct cli *cli, size_t count, const char *done);

/*
 * Stdout. A terminal gets what a terminal would obey in an escaped form, a pipe or a file the bytes
 * as they are. All that others wrote goes this way, or is JSON.
 */
void cli_put(dueq_bytes bytes);
void cli_put_text(const char *text);
/* What stands alone: a terminal gets its line ends and tabs as they are. */
void cli_put_lines(dueq_bytes bytes);
/* The start of it for a table, at most so many bytes, escaped wherever it goes. */
void cli_put_brief(dueq_bytes bytes, size_t most);

/*
 * Before anything is opened or printed: gives the standard files their numbers, and keeps why a
 * write fails.
 */
void cli_output_begin(void);
/* Whether all that was printed is written. */
bool cli_flush(void);
/*
 * When it is not: says why, once; not when the reader is gone, unless something is to be added
 * (`says`). Returns the exit code.
 */
int cli_output_failed(bool says);
/*
 * Writes to a file to the end, also where it is not ready at once. False: errno says why; EINTR: a
 * signal came.
 */
bool cli_write(int file, dueq_bytes bytes);

/* print_message.c: messages, and words for their parts */

void cli_print_message(const struct cli *cli, const dueq_message *message); /* find: everything */
void cli_json_message(const struct cli *cli, const dueq_message *message);  /* one line of JSON */
/* "NAME   ", as long as for all names of find and stats */
void cli_label(const char *name);
/* "2026-12-01T10:00:00.000Z (in 12.3s)"; cli_print_time(): and the end of the line */
void cli_put_time(int64_t ms, int64_t now_ms);
void cli_print_time(int64_t ms, int64_t now_ms);
/* Its state, since or until when, and the end of the line. */
void cli_print_state(const dueq_message *message);
/* "high", "normal", "low" */
const char *cli_priority_name(dueq_priority priority);
/* The state that a word names, or cli_usage(). */
dueq_state cli_state(const struct cli *cli, const char *name);

/* queue_names.c: of queues */

/* Owned; start from {0}, end with cli_free_names(). */
struct cli_names {
    char **list;
    size_t count, room;
};

void cli_add_name(struct cli_names *names, dueq_bytes name);
/* Sorts them, and leaves each there once. */
void cli_sort_names(struct cli_names *names);
/* Adds those of all queues of the server, sorted, each once. */
dueq_status cli_read_names(struct cli *cli, struct cli_names *names);
void cli_free_names(struct cli_names *names);
/* Also the queues that these are partitions of: workers_view.c. */
void cli_add_partitioned(struct cli_names *names);
/* The "#NUMBER" of a partition's name; NULL: it is none. */
const char *cli_partition_mark(const char *name);
/* Whether there are partitions of this queue. */
bool cli_is_partitioned(const struct cli_names *names, const char *name);

/* schedule.c */

/*
 * Finds the schedule of this name in cli->queue: the only message of *found. INVALID: no schedule
 * has such a name.
 */
dueq_status schedule_find(struct cli *cli, const char *name, dueq_result **found);
/*
 * What is done with it. NOT_FOUND of the first two: it is due, and its messages are being pushed:
 * try again.
 */
typedef dueq_status schedule_do(struct cli *cli, const dueq_message *schedule);
schedule_do schedule_pause, schedule_resume, schedule_remove;
/* Pushes its message now; *pushed has the id. */
dueq_status schedule_run(struct cli *cli, const dueq_message *schedule, dueq_result **pushed);

/* each_item.c: many tickets or ids */

typedef dueq_status (*cli_submit)(struct cli *cli, const dueq_bytes *items, size_t count,
                                  const void *context);
/*
 * Does it for each word that is left, or with a single `-` for each line of standard input; `key`
 * is what JSON calls them.
 */
int cli_each_item(struct cli *cli, int argc, char *argv[], const char *key, cli_submit submit,
                  const void *context);

/* each_line.c: an item for each line of standard input */

/*
 * Does it for up to DUEQ_MAX_BATCH lines. Returns the exit code; *failed: it makes no sense to go
 * on.
 */
typedef int (*cli_batch)(struct cli *cli, const dueq_bytes *lines, size_t count,
                         const void *context, bool *failed);
/*
 * Does it for all lines, in large batches; a line that nothing follows for now is not held back.
 * `done` is as in "1000 pushed". Returns the exit code.
 */
int cli_each_line(struct cli *cli, const char *done, cli_batch act, const void *context);

/* text.c: what is valid, what JSON can carry, and what a terminal may see */

/* What is left as it is: nothing; line ends and tabs; or it is JSON, and stays so. */
enum text_style { TEXT_LINE, TEXT_LINES, TEXT_JSON };

/* Writes text as dueq_escape() shows it; as JSON: of UTF-8. */
void text_show(FILE *out, dueq_bytes bytes, enum text_style style);
bool text_is_utf8(dueq_bytes bytes);
/* The start of a text, without the character that it was cut in. */
dueq_bytes text_whole(dueq_bytes bytes);
/* Base 64 with padding; NULL: out of memory. Free with free(). */
char *text_base64(dueq_bytes bytes);
/* The bytes with each one that is not UTF-8 replaced by U+FFFD; NULL: out of memory. */
char *text_repair(dueq_bytes bytes, size_t *size);
#define NUMBER_ROOM 32
/* "99999", "123k", "4.5M" */
const char *text_number(int64_t number, char out[NUMBER_ROOM]);

/* time.c */

/* Since some time in the past; no change of the clock moves it. */
int64_t time_monotonic_ms(void);
int64_t time_monotonic_us(void);
/* Since 1970. */
int64_t time_now_ms(void);

/* "2026-12-01T10:00:00Z", also with a fraction and an offset, or seconds since 1970. */
bool time_parse_point(const char *text, int64_t *ms);
#define TIME_ROOM 32
/* "2026-12-01T10:00:00.000Z" */
const char *time_format(int64_t ms, char out[TIME_ROOM]);
/* "78ms", "1.2s", "1m30s", "2h5m", "3d4h"; below 0: "-" */
const char *time_format_span(int64_t ms, char out[TIME_ROOM]);

/* input.c */

/* All of standard input; false: said why. Free with free(). */
bool input_all(struct cli *cli, dueq_bytes *bytes);

/* A word of the command line; "-" or NULL: all of standard input. Free *store with free(). */
bool input_word(struct cli *cli, const char *word, dueq_bytes *bytes, void **store);
/* input_all() of a file; "-": standard input. */
bool input_file(struct cli *cli, const char *path, dueq_bytes *bytes);

/* Lines of standard input as they come. Start from {0}; end with input_end(). */
struct input {
    char *data;
    size_t start, end, room;
    size_t scanned; /* no newline in so many bytes from start */
    bool done, failed;
};

/*
 * The next line without its newline; it stays valid until the next call. False: the end, or a
 * failure (failed is set and said).
 */
bool input_line(struct cli *cli, struct input *input, dueq_bytes *line);
/* Whether input_line() would answer without waiting. */
bool input_ready(struct input *input);
void input_end(struct input *input);

#endif
