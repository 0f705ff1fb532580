/* The dueq command: declarations for all its files. The command uses dueq's public headers only. */
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

/* Exit codes. A signal ends the program with 128 + its number. */
enum {
    CLI_DONE = 0,
    CLI_OUTCOME = 1, /* a message, lock or id had another outcome than OK */
    CLI_USAGE = 2,
    CLI_AGAIN = 3, /* a passing failure: the same command may succeed later */
    CLI_FAILED = 4,
    /*
     * Of lock and work, which run a command: codes that commands seldom use. 126 and 127 mean what
     * they mean in a shell.
     */
    CLI_TAKEN = 124, /* another owner has the lock; the command did not run */
    CLI_LOST = 125,  /* the lock was lost while the command ran */
    CLI_NOT_RUN = 126,
    CLI_NO_COMMAND = 127
};

enum { CLI_PREVIEW = 256 }; /* bytes of a body that a list shows */

/* A partition of the queue. */
struct part {
    dueq_queue *queue;
    char name[DUEQ_MAX_NAME + 1];
};

/* Catches the errors of arguments that did not come from the command line: of HTTP requests. */
struct refusal {
    jmp_buf back;
    char *text; /* the error; the catcher frees it */
};

/* One run of the program. */
struct cli {
    const struct command *command; /* NULL until the arguments have named it */
    char *url;                     /* NULL: dueq_open()'s default */
    bool pass_url;                 /* the child command's DUEQ_URL keeps the password */
    bool json;
    bool finishing; /* signals do not end the program: printed messages are not acknowledged yet */
    struct refusal *refusal; /* where cli_usage() jumps to; NULL: cli_usage() ends the program */
    /*
     * Completes the current call instead of cli_wait(). INTERRUPTED: the call was given up. NULL:
     * cli_wait() completes calls itself.
     */
    dueq_status (*wait)(struct cli *cli);
    struct top *top; /* for `wait` */
    dueq_client *client;
    size_t partitions; /* of the queue; 0: the queue has no partitions */
    const char *key;   /* calls concern the partition of this key; NULL: all partitions */
    dueq_queue *queues[DUEQ_MAX_QUEUES]; /* the open queues, without single partitions */
    const char *names[DUEQ_MAX_QUEUES];
    size_t queue_count;
    struct part *parts[DUEQ_MAX_PARTITIONS]; /* by number: the partitions that delivered messages */
    dueq_queue *queue;                       /* the queue of the next calls */
    const char *queue_name;
    dueq_redisson *redisson; /* that queue, where another system owns it */
    dueq_laravel *laravel;
};

struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *help; /* its options and examples */
    /* argv[0] is the program; returns the exit code */
    int (*run)(struct cli *cli, int argc, char *argv[]);
};

extern const struct command push_command;                                       /* push.c */
extern const struct command reserve_command;                                    /* reserve.c */
extern const struct command ack_command;                                        /* ack.c */
extern const struct command kick_command;                                       /* id_commands.c */
extern const struct command purge_command, remove_command, repartition_command; /* admin.c */
extern const struct command allow_command;                                      /* allow.c */
extern const struct command limits_command;                                     /* limits.c */
extern const struct command check_command;                                      /* check.c */
extern const struct command doctor_command;                               /* doctor/doctor.c */
extern const struct command find_command, peek_command;                   /* query.c */
extern const struct command result_command;                               /* result.c */
extern const struct command stats_command, queues_command, rates_command; /* stats.c */
extern const struct command metrics_command;                              /* metrics.c */
extern const struct command workers_command, inspect_command,
    running_command;                          /* workers.c, inspect.c */
extern const struct command failures_command; /* history.c */
extern const struct command groups_command;   /* groups.c */
extern const struct command open_batch_command, find_batch_command, batches_command,
    cancel_batch_command;                                                 /* batches.c */
extern const struct command top_command;                                  /* top/top.c */
extern const struct command lock_command, relock_command, unlock_command; /* lock.c */
extern const struct command web_command;                                  /* web/web.c */
extern const struct command work_command;                                 /* work.c */
extern const struct command completion_command;                           /* completion.c */
extern const struct command man_command;                                  /* man.c */

/*
 * Commands with verbs of their own: `run` is NULL, and the names of the verbs are like "redisson
 * offer". NULL ends the list.
 */
extern const struct command redisson_command, *const redisson_verbs[]; /* redisson.c */
extern const struct command laravel_command, *const laravel_verbs[];   /* laravel.c */
extern const struct command schedule_command, *const schedule_verbs[]; /* schedule.c */
extern const struct command schedules_command;                         /* schedules.c */

/* main.c: options and help */

/*
 * The choices for the next word: all commands (command is NULL), or the command's verbs. NULL: the
 * command has no verbs.
 */
const struct command *const *cli_choice(const struct command *command);
/* The command in the list that the word names, or NULL. */
const struct command *cli_find_command(const struct command *const *list, const char *word);
/* The command whose name resembles a mistyped word, or NULL: suggest.c. */
const struct command *cli_suggest(const struct command *const *list, const char *word);
/* "offer" of "redisson offer" */
const char *cli_last_word(const struct command *command);
/* The end of each command's help: common options, output, exit codes. */
extern const char cli_common_help[];

enum {
    CLI_OPTION_URL = 0x100,
    CLI_OPTION_URL_FILE,
    CLI_OPTION_PASS_URL, /* of commands that run a child command */
    CLI_OPTION_JSON,
    CLI_OPTION_PARTITIONS,
    CLI_OPTION_KEY,
    CLI_OPTION_HELP,
    CLI_OPTION_VERSION
};

/* An option of commands that run a child command. */
#define CHILD_OPTIONS {"pass-url", no_argument, NULL, CLI_OPTION_PASS_URL}
/* The common options. They end the list of a command's options. */
#define CLI_OPTIONS                                                                                \
    {"url", required_argument, NULL, CLI_OPTION_URL},                                              \
        {"url-file", required_argument, NULL, CLI_OPTION_URL_FILE},                                \
        {"partitions", required_argument, NULL, CLI_OPTION_PARTITIONS},                            \
        {"key", required_argument, NULL, CLI_OPTION_KEY},                                          \
        {"json", no_argument, NULL, CLI_OPTION_JSON},                                              \
        {"help", no_argument, NULL, CLI_OPTION_HELP},                                              \
        {"version", no_argument, NULL, CLI_OPTION_VERSION}, {NULL, 0, NULL, 0}

/*
 * Copies the URL from the command line. A URL with a login is then overwritten there, because every
 * user can read command lines by ps.
 */
void cli_take_url(struct cli *cli, char *given);
/* The next option of the command itself, or -1 after the last. Handles the common options. */
int cli_option(struct cli *cli, int argc, char *argv[], const struct option *options);
/*
 * Logs what is wrong with the arguments and exits with CLI_USAGE. Where `refusal` is set, jumps
 * there instead.
 */
_Noreturn void cli_usage(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Checks that `least` to `most` words follow the queue's name. */
void cli_words(const struct cli *cli, int argc, int least, int most);

/*
 * A duration or a point of time in milliseconds, from the text of an option. Calls cli_usage() if
 * the text is neither.
 */
int64_t cli_duration(const struct cli *cli, const char *option, const char *text);
int64_t cli_point(const struct cli *cli, const char *option, const char *text);
/* The value of --wait: a duration, or DUEQ_FOREVER for "forever". */
int64_t cli_patience(const struct cli *cli, const char *text);
/* A whole number from `least` to `most`. Calls cli_usage() for any other text. */
long cli_number(const struct cli *cli, const char *option, const char *text, long least, long most);
/* The same, from 1 on, or none. */
long cli_limit(const struct cli *cli, const char *option, const char *text, long most);

/* session.c: the client, calls and signals */

/* Opens the client. False, here and below: logged why; *code is the exit code. */
bool cli_connect(struct cli *cli, int *code);
/* Refuses --partitions and --key, for commands that do not work on one queue of dueq's own. */
void cli_no_partitions(const struct cli *cli);
/* Opens one more queue, with its partitions. The next calls concern that queue. */
bool cli_open_queue(struct cli *cli, const char *name, int *code);
/* Opens the client and the queue that the next word names. */
bool cli_open(struct cli *cli, char *argv[], int *code);
/* Opens the client and these queues. */
bool cli_open_queues(struct cli *cli, char *names[], size_t count, int *code);
/*
 * For a command without options of its own: reads the common options, checks that `words` words
 * follow the queue's name, and opens the queue like cli_open().
 */
bool cli_begin(struct cli *cli, int argc, char *argv[], int words, int *code);
/*
 * The queue of a delivered message: `place` counts in `queues`, or among the partitions of the
 * queue. Sets queue_name to its name.
 */
dueq_queue *cli_source(struct cli *cli, size_t place);
/* Closes the queue that was opened last. */
void cli_close_queue(struct cli *cli);
void cli_close(struct cli *cli);
/*
 * SIGINT and SIGTERM are noted from now on, for cli_check_signal(). SIGPIPE is ignored, so that a
 * write to a closed pipe fails and does not kill the program.
 */
void cli_signals(void);
/* Undoes cli_signals() in a child process, before exec. */
void cli_signals_undo(void);
/* The signal that has come, or 0. */
int cli_signal(void);
/* Exits with 128 + the signal's number if a signal has come, and abandons the current call. */
void cli_check_signal(struct cli *cli);
/*
 * Waits until the call is complete that a dueq_VERB_submit() began with `status`. `result` may be
 * NULL.
 */
dueq_status cli_wait(struct cli *cli, dueq_status status, dueq_result **result);

/* stats.c */

/* Warns if no message was ever pushed to the queue: its name may be mistyped. */
void cli_warn_of_unused(const char *queue, const dueq_counts *counts);

/* groups.c */

/* Calls show() for each of the first `most` groups of the queue, as dueq_groups() lists them. */
dueq_status groups_read(struct cli *cli, size_t most, void (*show)(const dueq_group *, void *),
                        void *context);
/* What dueq groups and dueq top show of a group before its name. limits NULL: not known. */
extern const char group_titles[];
void group_put(FILE *out, const dueq_group *group, const dueq_bounds *limits);

/* log.c: messages to the user, on stderr */

enum cli_level { CLI_INFO, CLI_WARNING, CLI_ERROR };

/* With true, each message is one line of JSON from now on. */
void cli_log_json(bool json);
bool cli_logs_json(void);
/*
 * Prints "dueq: STATUS: text", and "  hint" on a line of its own; as JSON the fields time, level,
 * status, text and hint. status and hint may be NULL. Control characters are escaped, on a terminal
 * and elsewhere: text that others wrote can neither steer a terminal nor forge a line of a log.
 */
void cli_log(enum cli_level level, const char *status, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/*
 * Logs the outcome of a call, unless it is OK or EMPTY. about: what the call concerned, or NULL.
 * Returns the exit code.
 */
int cli_report(const struct cli *cli, dueq_status status, const char *about);
/* The exit code of a status. */
int cli_exit_code(dueq_status status);
/* Warns of `count` quarantined entries; 0: no warning. */
void cli_quarantined(size_t count);
/* Logs a warning of the library, if there is a new one. */
void cli_warn(const struct cli *cli);
/* The worse of two exit codes. */
int cli_worse(int one, int other);
/* Logs errno for `what`. Returns CLI_FAILED. */
int cli_system_error(const char *what);
/*
 * Jumps out of the innermost cli_try() of this thread. Without one, ends the program with
 * CLI_AGAIN.
 */
_Noreturn void cli_out_of_memory(void);
/*
 * Runs act(context), in a program that must survive a lack of memory. False: memory ran out in the
 * middle of the act; the caller frees what the context owns.
 */
bool cli_try(void (*act)(void *context), void *context);

/* output.c */

/*
 * Shows the outcome for one id, ticket or name (`key` says which): as JSON on stdout, or as text on
 * stderr for an outcome other than OK. Returns the exit code.
 */
int cli_item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status);
/* The same for a call that concerns one id, ticket or name. A failure of the call is logged. */
int cli_outcome(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status);
/*
 * The same for one item of a call's result. A cancelled message that was leased is another outcome.
 * If an id was not found, the text names the state in which its message is, because the command
 * works on messages of another state.
 */
int cli_result_item(struct cli *cli, const char *key, dueq_bytes subject, const dueq_result *result,
                    size_t index);
/*
 * cli_outcome() for an id. If NOT_FOUND, the text names the state in which the message of the id
 * is.
 */
int cli_id_outcome(struct cli *cli, dueq_bytes id, dueq_status status);
/* cli_outcome() for the id of a batch, with texts about a batch. batches.c */
int cli_batch_outcome(const struct cli *cli, dueq_bytes id, dueq_status status);
/* cli_item(). If the outcome is OK and --json was not given, prints the id or token on a line. */
int cli_made(const struct cli *cli, const char *key, dueq_bytes made, dueq_status status);
/* Shows the progress of a long command on a terminal: "1000 purged". */
void cli_progress(size_t count, const char *done);
/* Erases the progress. cli_sum() also prints the sum. */
void cli_progress_end(void);
void cli_sum(const struct cli *cli, size_t count, const char *done);

/*
 * The stream of standard output, in place of stdout: it waits for a slow reader, and remembers why
 * a write failed. It has no descriptor.
 */
extern FILE *cli_out;

/*
 * Output to standard output. On a terminal control characters are escaped; a pipe or a file gets
 * the bytes unchanged. All text that others wrote is printed by these functions, or as JSON.
 */
void cli_put(dueq_bytes bytes);
void cli_put_text(const char *text);
/* For a text on lines of its own: a terminal gets its line ends and tabs unchanged. */
void cli_put_lines(dueq_bytes bytes);
/* The first `most` bytes, for a table. Escaped also without a terminal. */
void cli_put_brief(dueq_bytes bytes, size_t most);

/*
 * Call this before anything is opened or printed. Opens cli_out, and /dev/null for standard files
 * that are closed.
 */
void cli_output_begin(void);
/* Writes out what was printed. False: some of the output is lost. */
bool cli_flush(void);
/*
 * After cli_flush() returned false: logs why, once. If the reader closed the pipe, logs that only
 * with `says`. Returns the exit code.
 */
int cli_output_failed(bool says);
/*
 * Writes all bytes, and waits while the file is not ready. False: errno says why; EINTR: a signal
 * came.
 */
bool cli_write(int file, dueq_bytes bytes);

/* result.c */

/* How a message ended. */
void cli_print_end(const struct cli *cli, const dueq_end *end);
/* inspect: a batch of cli->queue, with what find_batch says of its callbacks. */
void cli_print_batch(const struct cli *cli, const dueq_batch *batch);

/* print_message.c: messages, and words for their parts */

void cli_print_message(const struct cli *cli, const dueq_message *message); /* find: everything */
void cli_json_message(const struct cli *cli, const dueq_message *message);  /* one line of JSON */
/* "NAME   ", padded to the width of the longest name in find and stats */
void cli_label(const char *name);
/* "2026-12-01T10:00:00.000Z (in 12.3s)"; cli_print_time() adds a line end */
void cli_put_time(int64_t ms, int64_t now_ms);
void cli_print_time(int64_t ms, int64_t now_ms);
/* The state, since or until when it lasts, and a line end. */
void cli_print_state(const dueq_message *message);
/* Prints how far the job of the message has come, if the job said so. */
void cli_print_progress(const dueq_message *message);
/* "high", "normal", "low" */
const char *cli_priority_name(dueq_priority priority);
/* A header of the message; `otherwise`: the message does not have it. */
dueq_bytes cli_header(const dueq_message *message, const char *name, const char *otherwise);
/* The state that a word names. Calls cli_usage() if there is none. */
dueq_state cli_state(const struct cli *cli, const char *name);

/* queue_names.c: names of queues */

/* The list owns the names. Start from {0}; end with cli_free_names(). */
struct cli_names {
    char **list;
    size_t count, room;
};

void cli_add_name(struct cli_names *names, dueq_bytes name);
/* Sorts the names and removes repeated ones. */
void cli_sort_names(struct cli_names *names);
/* Adds the names of all queues of the server. Sorted, without repeated ones. */
dueq_status cli_read_names(struct cli *cli, struct cli_names *names);
void cli_free_names(struct cli_names *names);
/* Adds, for each name of a partition, the name of its queue: workers_view.c. */
void cli_add_partitioned(struct cli_names *names);
/*
 * Adds the partitions of the queues in the list, which it looks for among the names of all keys.
 * Sorts the list and removes repeated names, also if the server does not answer.
 */
dueq_status cli_add_partitions(struct cli *cli, struct cli_names *names);
/* The "#NUMBER" in the name of a partition; NULL: the name is no partition's. */
const char *cli_partition_mark(const char *name);
/* Whether the names include partitions of this queue. */
bool cli_is_partitioned(const struct cli_names *names, const char *name);

/* schedule.c */

/*
 * Finds the message of the schedule in cli->queue: the only one in *found. INVALID: a schedule
 * cannot have this name.
 */
dueq_status schedule_find(struct cli *cli, const char *name, dueq_result **found);
/*
 * What a user does with a schedule. NOT_FOUND from the first two: the schedule is due and a
 * consumer pushes its messages just now; try again.
 */
typedef dueq_status schedule_do(struct cli *cli, const dueq_message *schedule);
schedule_do schedule_pause, schedule_resume, schedule_remove;
/* Pushes the schedule's job now. *pushed has the id of the new message. */
dueq_status schedule_run(struct cli *cli, const dueq_message *schedule, dueq_result **pushed);

dueq_bytes schedule_name(const dueq_message *message);
/* The label of the app's release that declared the schedule; size 0: none. */
dueq_bytes schedule_release(const dueq_message *message);
int64_t schedule_last_ms(const dueq_message *message); /* 0: the schedule has not run yet */
/* Prints when the schedule is due next, or that it is paused or dead. */
void schedule_put_next(const dueq_message *message);

/* schedules.c: those of all queues */

extern const struct command prune_verb;

/* id_commands.c: verbs on ids */

typedef dueq_status (*cli_submit_ids)(dueq_queue *queue, const dueq_bytes *ids, size_t count);
/* Runs the verb on the ids that the words behind the queue name. */
int cli_ids(struct cli *cli, int argc, char *argv[], cli_submit_ids verb);
/* Texts for the help of a command on ids. */
#define CLI_IDS                                                                                    \
    "ID is the id that push printed. A single - reads ids from standard input, one a line.\n"
#define CLI_ID_EXAMPLES(verb)                                                                      \
    "  dueq " verb " orders invoice-7\n  dueq " verb " orders - < ids.txt\n"

/* each_item.c: many tickets or ids */

typedef dueq_status (*cli_submit)(struct cli *cli, const dueq_bytes *items, size_t count,
                                  const void *context);
/*
 * Calls `submit` for the words that are left, or for each line of standard input if the only word
 * is `-`. key: the name of an item in JSON.
 */
int cli_each_item(struct cli *cli, int argc, char *argv[], const char *key, cli_submit submit,
                  const void *context);

/* each_line.c: one item for each line of standard input */

/*
 * Handles up to DUEQ_MAX_BATCH lines. Returns the exit code. *failed: the remaining lines would
 * fail too.
 */
typedef int (*cli_batch)(struct cli *cli, const dueq_bytes *lines, size_t count,
                         const void *context, bool *failed);
/*
 * Calls `act` for all lines, in large batches. A batch does not wait for lines that have not come
 * yet. done: as in "1000 pushed". Returns the exit code.
 */
int cli_each_line(struct cli *cli, const char *done, cli_batch act, const void *context);

/* text.c: valid text, text for JSON, text for a terminal */

/*
 * What is not escaped. TEXT_LINE: nothing. TEXT_LINES: line ends and tabs. TEXT_JSON: the text is
 * JSON, and its escapes keep its meaning.
 */
enum text_style { TEXT_LINE, TEXT_LINES, TEXT_JSON };

/* Writes text with the escapes of dueq_escape(). TEXT_JSON: the text must be UTF-8. */
void text_show(FILE *out, dueq_bytes bytes, enum text_style style);
bool text_is_utf8(dueq_bytes bytes);
/* The text without the incomplete character at its end, where the text was cut. */
dueq_bytes text_whole(dueq_bytes bytes);
/* Base 64 with padding; NULL: out of memory. Free with free(). */
char *text_base64(dueq_bytes bytes);
/* A copy, with U+FFFD for each byte that is not UTF-8. NULL: out of memory. */
char *text_repair(dueq_bytes bytes, size_t *size);
#define NUMBER_ROOM 32
/* "99999", "123k", "4.5M" */
const char *text_number(int64_t number, char out[NUMBER_ROOM]);

/* time.c */

/* The time since an arbitrary moment. Changes of the system's clock do not affect this time. */
int64_t time_monotonic_ms(void);
int64_t time_monotonic_us(void);
/* Since 1970. */
int64_t time_now_ms(void);

/* Reads "2026-12-01T10:00:00Z", with or without a fraction or an offset, or seconds since 1970. */
bool time_parse_point(const char *text, int64_t *ms);
#define TIME_ROOM 32
/* "2026-12-01T10:00:00.000Z" */
const char *time_format(int64_t ms, char out[TIME_ROOM]);
/* "78ms", "1.2s", "1m30s", "2h5m", "3d4h"; below 0: "-" */
const char *time_format_span(int64_t ms, char out[TIME_ROOM]);

/* input.c */

/* All of standard input. False: logged why. Free with free(). */
bool input_all(struct cli *cli, dueq_bytes *bytes);

/* A word of the command line; "-" or NULL means all of standard input. Free *store with free(). */
bool input_word(struct cli *cli, const char *word, dueq_bytes *bytes, void **store);
/* input_all() of a file; "-" is standard input. */
bool input_file(struct cli *cli, const char *path, dueq_bytes *bytes);

/* Standard input, read line by line. Start from {0}; end with input_end(). */
struct input {
    char *data;
    size_t start, end, room;
    size_t scanned; /* the first `scanned` bytes from `start` have no newline */
    bool done, failed;
};

/*
 * The next line, without its newline; valid until the next call. False: the input ended, or reading
 * failed (then `failed` is set and the reason logged).
 */
bool input_line(struct cli *cli, struct input *input, dueq_bytes *line);
/* Whether input_line() would return without waiting. */
bool input_ready(struct input *input);
void input_end(struct input *input);

#endif
