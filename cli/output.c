#include "cli.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "system.h"

json_object *json_of_item(const char *key, dueq_bytes subject, dueq_status status,
                          dueq_state state) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, key, json_text(subject));
    json_object_object_add(object, "status", json_name(dueq_status_name(status)));
    if (state)
        json_object_object_add(object, "state", json_name(dueq_state_name(state)));
    return object;
}

static int item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status,
                dueq_state state) {
    char about[DUEQ_MAX_ID + 64];
    snprintf(about, sizeof about, "%.*s", (int)subject.size, (const char *)subject.data);
    if (cli->json) {
        json_line(json_of_item(key, subject, status, state));
    } else if (status == DUEQ_NOT_FOUND && state) {
        cli_log(CLI_ERROR, dueq_status_name(status), NULL,
                "%s: it is %s; dueq %s is for messages in other states", about,
                dueq_state_name(state), cli->command->name);
    } else if (status != DUEQ_OK) {
        return cli_report(cli, status, about);
    } else if (state == DUEQ_LEASED) {
        cli_log(CLI_ERROR, "LEASED", "its work may have begun or be done",
                "%s: cancelled, but a consumer had it", about);
    }
    return status == DUEQ_OK && state == DUEQ_LEASED ? CLI_OUTCOME : cli_exit_code(status);
}

int cli_item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status) {
    return item(cli, key, subject, status, 0);
}

int cli_outcome(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status) {
    return status < 0 ? cli_report(cli, status, NULL) : cli_item(cli, key, subject, status);
}

/*
 * The state of the message that a command did not find in the state that it works on; 0: there is
 * no such message, or no answer.
 */
static dueq_state state_of(struct cli *cli, dueq_bytes id) {
    dueq_result *found;
    dueq_state state = 0;
    dueq_queue_preview(cli->queue, CLI_PREVIEW);
    if (cli_wait(cli, dueq_find_submit(cli->queue, id), &found) == DUEQ_OK)
        state = dueq_result_message(found, 0)->state;
    dueq_result_free(found);
    return state;
}

int cli_id_outcome(struct cli *cli, dueq_bytes id, dueq_status status) {
    if (status != DUEQ_NOT_FOUND)
        return cli_outcome(cli, "id", id, status);
    return item(cli, "id", id, status, state_of(cli, id));
}

int cli_result_item(struct cli *cli, const char *key, dueq_bytes subject, const dueq_result *result,
                    size_t index) {
    const dueq_status status = dueq_result_status(result, index);
    /* cancel works on messages in all states, so there is no other state to look for. */
    if (status == DUEQ_NOT_FOUND && cli->command != &cancel_command)
        return cli_id_outcome(cli, subject, status);
    return item(cli, key, subject, status, dueq_result_state(result, index));
}

int cli_made(const struct cli *cli, const char *key, dueq_bytes made, dueq_status status) {
    int code = cli_item(cli, key, made, status);
    if (!cli->json && status == DUEQ_OK) {
        cli_put(made);
        fputc('\n', cli_out);
    }
    return code;
}

/* Progress and sums */

void cli_progress(size_t count, const char *done) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%zu %s", count, done);
}

void cli_progress_end(void) {
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

void cli_sum(const struct cli *cli, size_t count, const char *done) {
    cli_progress_end();
    if (cli->json)
        fprintf(cli_out, "{\"%s\":%zu}\n", done, count);
    else
        fprintf(cli_out, "%zu\n", count);
}

/* Standard output */

FILE *cli_out;
static bool terminal;   /* standard output is a terminal */
static int write_error; /* the errno of the first write that failed */

/*
 * Replaces a closed standard file by one that can be neither read nor written. Otherwise the
 * connection to the server could get the file's number, and the server would run printed text as
 * commands.
 */
static void fill_standard_files(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 &&
            open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) != file)
            exit(CLI_FAILED);
}

bool cli_write(int file, dueq_bytes bytes) {
    const char *data = bytes.data;
    const int before = cli_signal();
    while (bytes.size > 0) {
        ssize_t size = write(file, data, bytes.size);
        if (size < 0 && errno == EAGAIN) {
            struct pollfd one = {file, POLLOUT, 0};
            poll(&one, 1, -1);
        } else if (size < 0 && errno != EINTR) {
            return false;
        } else if (size > 0) {
            data += size;
            bytes.size -= (size_t)size;
        }
        if (bytes.size > 0 && cli_signal() != before) {
            errno = EINTR;
            return false;
        }
    }
    return true;
}

/*
 * Writes for cli_out, and keeps the errno: a later fflush() says that a write failed, but not why.
 */
static ssize_t write_output(void *cookie, const char *data, size_t size) {
    (void)cookie;
    if (!write_error && !cli_write(STDOUT_FILENO, (dueq_bytes){data, size}))
        write_error = errno;
    return write_error ? 0 : (ssize_t)size;
}

void cli_output_begin(void) {
    fill_standard_files();
    terminal = isatty(STDOUT_FILENO);
    cli_out = system_writer(NULL, write_output);
    if (!cli_out || (terminal && setvbuf(cli_out, NULL, _IOLBF, BUFSIZ) != 0))
        cli_out_of_memory();
}

bool cli_flush(void) { return fflush(cli_out) == 0 && !ferror(cli_out); }

int cli_output_failed(bool says) {
    static bool said;
    if (!said && (says || (write_error != EPIPE && write_error != EINTR))) {
        errno = write_error;
        cli_system_error("standard output");
        said = true;
    }
    if (write_error == EPIPE)
        return 128 + SIGPIPE;
    return write_error == EINTR ? 128 + cli_signal() : CLI_FAILED;
}

static void put(dueq_bytes bytes, enum text_style style) {
    if (terminal)
        text_show(cli_out, bytes, style);
    else if (bytes.size > 0)
        fwrite(bytes.data, 1, bytes.size, cli_out);
}

void cli_put(dueq_bytes bytes) { put(bytes, TEXT_LINE); }

void cli_put_text(const char *text) { cli_put((dueq_bytes){text, strlen(text)}); }

void cli_put_lines(dueq_bytes bytes) { put(bytes, TEXT_LINES); }

void cli_put_json(json_object *json) {
    if (terminal) {
        char *line = json_line_of(json);
        put((dueq_bytes){line, strlen(line)}, TEXT_JSON);
        free(line);
    } else {
        json_write(cli_out, json);
    }
    fputc('\n', cli_out);
}

void cli_put_brief(dueq_bytes bytes, size_t most) {
    const bool cut = bytes.size > most;
    text_show(cli_out, cut ? text_whole((dueq_bytes){bytes.data, most}) : bytes, TEXT_LINE);
    if (cut)
        fputs("...", cli_out);
}
