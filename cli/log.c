#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

static bool as_json;

void cli_log_json(bool json) { as_json = json; }

bool cli_logs_json(void) { return as_json; }

/* Writes the line by one write(): other processes may write to the same log. */
static void write_line(const char *text, size_t size, enum text_style style) {
    char *line = NULL;
    size_t line_size = 0;
    FILE *out = open_memstream(&line, &line_size);
    if (!out)
        cli_out_of_memory();
    text_show(out, (dueq_bytes){text, size}, style);
    fputc('\n', out);
    if (fclose(out) != 0)
        cli_out_of_memory();
    fwrite(line, 1, line_size, stderr);
    free(line);
}

static void write_json(enum cli_level level, const char *status, const char *hint, const char *text,
                       json_object *fields) {
    static const char *const levels[] = {"info", "warning", "error"};
    char time[TIME_ROOM];
    json_object *object = json_object_new_object();
    json_object_object_add(object, "time", json_name(time_format(time_now_ms(), time)));
    json_object_object_add(object, "level", json_name(levels[level]));
    if (status)
        json_object_object_add(object, "status", json_name(status));
    json_object_object_add(object, "text", json_text((dueq_bytes){text, strlen(text)}));
    if (hint)
        json_object_object_add(object, "hint", json_text((dueq_bytes){hint, strlen(hint)}));
    if (fields) {
        json_object_object_foreach(fields, name, value)
            json_object_object_add(object, name, json_object_get(value));
    }
    char *line = json_line_of(object);
    write_line(line, strlen(line), TEXT_JSON);
    free(line);
    json_object_put(object);
}

static void write_text(enum cli_level level, const char *status, const char *hint,
                       const char *text) {
    char *line = NULL;
    const char *what = status ? status : level == CLI_WARNING ? "warning" : NULL;
    int size = asprintf(&line, "dueq: %s%s%s", what ? what : "", what ? ": " : "", text);
    if (size < 0)
        cli_out_of_memory();
    write_line(line, (size_t)size, TEXT_LINE);
    free(line);
    if (hint && (size = asprintf(&line, "  %s", hint)) >= 0) {
        write_line(line, (size_t)size, TEXT_LINE);
        free(line);
    }
}

static void say(enum cli_level level, const char *status, const char *hint, json_object *fields,
                const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        cli_out_of_memory();
    fflush(cli_out);
    if (as_json)
        write_json(level, status, hint, text, fields);
    else
        write_text(level, status, hint, text);
    free(text);
}

void cli_log(enum cli_level level, const char *status, const char *hint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(level, status, hint, NULL, format, arguments);
    va_end(arguments);
}

void json_say(enum cli_level level, json_object *fields, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(level, NULL, NULL, fields, format, arguments);
    va_end(arguments);
    json_object_put(fields);
}

/* Outcomes and failures */

int cli_exit_code(dueq_status status) {
    if (status == DUEQ_OK)
        return CLI_DONE;
    if (status > 0)
        return CLI_OUTCOME;
    if (status == DUEQ_INVALID || status == DUEQ_NAME || status == DUEQ_URL)
        return CLI_USAGE;
    return dueq_status_retriable(status) ? CLI_AGAIN : CLI_FAILED;
}

/* The hint: what to do next, if the core's text does not say so. */
static const char *advice(const struct cli *cli, dueq_status status) {
    switch ((int)status) {
    case DUEQ_CONNECT:
        return "check that the server runs and the address is right (--url, DUEQ_URL)";
    case DUEQ_URL:
        return "for example redis://localhost:6379/0, unix:///run/redis.sock or embedded:DIR";
    case DUEQ_NAME:
        if (cli->command && strchr(cli->command->name, ' '))
            return NULL; /* other rules hold for the names of other systems' queues */
        return "a queue's name is 1 to 255 bytes of UTF-8 without braces and control characters";
    case DUEQ_CLOSED:
    case DUEQ_TIMEOUT:
        return "check whether it was done before you repeat it; a repeated push with --id and "
               "--unique is stored once";
    case DUEQ_NOT_DURABLE:
        return "push it again with its --id: DUPLICATE says that it is durable";
    case DUEQ_AUTH:
        return "put the user and the password into DUEQ_URL: redis://user:password@host (for a "
               "command that dueq runs, use --pass-url)";
    case DUEQ_LEASE_LOST:
        return "its lease ended and another consumer took the message, or it was cancelled, purged "
               "or finished; stop working on it";
    case DUEQ_LAYOUT:
        if (strncmp(cli->command->name, "redisson ", 9) != 0)
            return NULL;
        return "without --layout dueq uses the layout of the waiting values; here both wait: name "
               "one";
    case DUEQ_BACKLOG:
        return "dueq limits shows the backlog, and dueq groups how many messages wait";
    case DUEQ_TAKEN:
        return "--wait 10s waits until it is free";
    default:
        return NULL;
    }
}

int cli_report(const struct cli *cli, dueq_status status, const char *about) {
    /* EMPTY is no event for a log: the exit code says it. */
    if (status != DUEQ_OK && status != DUEQ_EMPTY) {
        const char *text = status < 0 && cli->client ? dueq_error_text(cli->client) : "";
        cli_log(CLI_ERROR, dueq_status_name(status), advice(cli, status), "%s%s%s",
                about ? about : "", about ? ": " : "", text[0] ? text : dueq_status_text(status));
    }
    return cli_exit_code(status);
}

void cli_quarantined(size_t count) {
    if (count > 0)
        cli_log(CLI_WARNING, dueq_status_name(DUEQ_CORRUPT), NULL,
                "%zu damaged entries were quarantined", count);
}

void cli_warn(const struct cli *cli) {
    const char *warning = dueq_warning(cli->client);
    if (warning)
        cli_log(CLI_WARNING, NULL, NULL, "%s", warning);
}

int cli_worse(int one, int other) { return one > other ? one : other; }

int cli_system_error(const char *what) {
    cli_log(CLI_ERROR, NULL, NULL, "%s: %s", what, strerror(errno));
    return CLI_FAILED;
}

static _Thread_local jmp_buf *memory_back;

void cli_out_of_memory(void) {
    if (memory_back)
        longjmp(*memory_back, 1);
    fputs("dueq: NO_MEMORY: out of memory\n", stderr);
    exit(CLI_AGAIN);
}

bool cli_try(void (*act)(void *context), void *context) {
    jmp_buf back, *const outer = memory_back;
    volatile bool done = false;
    memory_back = &back;
    if (setjmp(back) == 0) {
        act(context);
        done = true;
    }
    memory_back = outer;
    return done;
}
