#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"

/* ---- Outcomes and failures --------------------------------------------------------------------- */

static int exit_code(dueq_status status) {
    if (status == DUEQ_OK)
        return CLI_DONE;
    if (status > 0)
        return CLI_OUTCOME;
    if (status == DUEQ_INVALID || status == DUEQ_NAME || status == DUEQ_URL)
        return CLI_USAGE;
    return dueq_status_retriable(status) ? CLI_AGAIN : CLI_FAILED;
}

/* What to do next, where the core's text does not say it. */
static const char *advice(const struct cli *cli, dueq_status status) {
    switch ((int)status) {
    case DUEQ_CONNECT:
        return "check that the server runs and the address is right (--url, DUEQ_URL)";
    case DUEQ_URL:
        return "for example redis://localhost:6379/0, unix:///run/redis.sock or embedded:DIR";
    case DUEQ_NAME:
        if (cli->command && strchr(cli->command->name, ' '))
            return NULL; /* the queues of other systems have other names */
        return "a queue's name is 1 to 255 bytes of UTF-8 without braces and control characters";
    case DUEQ_CLOSED:
    case DUEQ_TIMEOUT:
        return "look before you repeat it; a push with --id and --unique is refused if it was "
               "stored";
    case DUEQ_AUTH:
        return "put the user and the password into DUEQ_URL: redis://user:password@host";
    case DUEQ_LEASE_LOST:
        return "somebody else has the message now, or it is done; do not finish it twice";
    case DUEQ_LAYOUT:
        return "without --layout it goes by what waits; where both wait, one must be gone first";
    case DUEQ_TAKEN:
        return "--wait 10s waits for its turn";
    default:
        return NULL;
    }
}

int cli_report(const struct cli *cli, dueq_status status, const char *about) {
    /* That nothing is ready is for the exit code to say, not for a log. */
    if (status != DUEQ_OK && status != DUEQ_EMPTY) {
        const char *text = status < 0 && cli->client ? dueq_error_text(cli->client) : "";
        fflush(stdout);
        fprintf(stderr, "dueq: %s: %s%s%s\n", dueq_status_name(status), about ? about : "",
                about ? ": " : "", text[0] ? text : dueq_status_text(status));
        if (advice(cli, status))
            fprintf(stderr, "  %s\n", advice(cli, status));
    }
    return exit_code(status);
}

int cli_worse(int one, int other) { return one > other ? one : other; }

int cli_system_error(const char *what) {
    fprintf(stderr, "dueq: %s: %s\n", what, strerror(errno));
    return CLI_FAILED;
}

void cli_out_of_memory(void) {
    fputs("dueq: NO_MEMORY: out of memory\n", stderr);
    exit(CLI_AGAIN);
}

/* state: that a cancelled message was in; 0: none. */
static int item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status,
                dueq_state state) {
    char about[DUEQ_MAX_ID + 64];
    snprintf(about, sizeof about, "%.*s", (int)subject.size, (const char *)subject.data);
    if (cli->json) {
        json_object *object = json_object_new_object();
        json_object_object_add(object, key, json_text(subject));
        json_object_object_add(object, "status", json_name(dueq_status_name(status)));
        if (state)
            json_object_object_add(object, "state", json_name(dueq_state_name(state)));
        json_line(object);
    } else if (status != DUEQ_OK) {
        return cli_report(cli, status, about);
    } else if (state == DUEQ_LEASED) {
        fflush(stdout);
        fprintf(stderr,
                "dueq: LEASED: %s: cancelled, but a consumer holds it\n"
                "  its work may have begun, or be done\n",
                about);
    }
    return state == DUEQ_LEASED ? CLI_OUTCOME : exit_code(status);
}

int cli_item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status) {
    return item(cli, key, subject, status, 0);
}

int cli_result_item(const struct cli *cli, const char *key, dueq_bytes subject,
                    const dueq_result *result, size_t index) {
    return item(cli, key, subject, dueq_result_status(result, index),
                dueq_result_state(result, index));
}

int cli_made(const struct cli *cli, const char *key, dueq_bytes made, dueq_status status) {
    int code = cli_item(cli, key, made, status);
    if (!cli->json && status == DUEQ_OK) {
        cli_put(made);
        putchar('\n');
    }
    return code;
}

/* ---- What is under way, and text ---------------------------------------------------------------- */

void cli_progress(size_t count, const char *done) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%zu %s", count, done);
}

void cli_sum(const struct cli *cli, size_t count, const char *done) {
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (cli->json)
        printf("{\"%s\":%zu}\n", done, count);
    else
        printf("%zu\n", count);
}

void cli_put(dueq_bytes bytes) {
    if (bytes.size > 0)
        fwrite(bytes.data, 1, bytes.size, stdout);
}

void cli_put_brief(dueq_bytes bytes, size_t most) {
    const unsigned char *data = bytes.data;
    size_t size = bytes.size;
    if (size > most)
        for (size = most; size > 0 && (data[size] & 0xC0) == 0x80;)
            size--; /* not in the middle of a character */
    for (size_t i = 0; i < size; i++)
        putchar(data[i] < 0x20 || data[i] == 0x7F ? ' ' : data[i]);
    if (size < bytes.size)
        fputs("...", stdout);
}
