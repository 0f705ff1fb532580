#include "cli.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

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
static const char *advice(dueq_status status) {
    switch ((int)status) {
    case DUEQ_CONNECT:
        return "check that the server runs and the address is right (--url, DUEQ_URL)";
    case DUEQ_URL:
        return "for example redis://localhost:6379/0, unix:///run/redis.sock or embedded:DIR";
    case DUEQ_NAME:
        return "a queue's name is 1 to 255 bytes of UTF-8 without braces and control characters";
    case DUEQ_CLOSED:
    case DUEQ_TIMEOUT:
        return "look before you repeat it, or push with an --id of your own: that is safe to "
               "repeat";
    case DUEQ_AUTH:
        return "put the user and the password into DUEQ_URL: redis://user:password@host";
    case DUEQ_LEASE_LOST:
        return "somebody else has the message now, or it is done; do not finish it twice";
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
        if (advice(status))
            fprintf(stderr, "  %s\n", advice(status));
    }
    return exit_code(status);
}

int cli_worse(int one, int other) { return one > other ? one : other; }

int cli_system_error(const char *what) {
    fprintf(stderr, "dueq: %s: %s\n", what, strerror(errno));
    return CLI_FAILED;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static _Noreturn void out_of_memory(void) {
    fputs("dueq: NO_MEMORY: out of memory\n", stderr);
    exit(CLI_AGAIN);
}

/* A string for JSON, which must be UTF-8: what is not is shown as U+FFFD. */
static json_object *json_text(dueq_bytes bytes) {
    size_t size = 0;
    char *text = text_repair(bytes, &size);
    if (!text || size > INT32_MAX)
        out_of_memory();
    json_object *object = json_object_new_string_len(text, (int)size);
    free(text);
    return object;
}

static json_object *json_name(const char *text) { return json_object_new_string(text); }

/* Prints one object on a line, and frees it. */
static void json_line(json_object *object) {
    fputs(json_object_to_json_string_ext(object,
                                         JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
          stdout);
    putchar('\n');
    json_object_put(object);
}

static void json_add_body(json_object *object, dueq_bytes body) {
    if (text_is_utf8(body)) {
        json_object_object_add(object, "body", json_text(body));
        return;
    }
    char *encoded = text_base64(body);
    if (!encoded)
        out_of_memory();
    json_object_object_add(object, "body_base64", json_name(encoded));
    free(encoded);
}

void cli_json_message(const dueq_message *message) {
    json_object *object = json_object_new_object(), *headers = json_object_new_object();
    json_object_object_add(object, "id", json_text(message->id));
    if (message->ticket.size > 0)
        json_object_object_add(object, "ticket", json_text(message->ticket));
    json_object_object_add(object, "state", json_name(dueq_state_name(message->state)));
    json_object_object_add(object, "attempt", json_object_new_int64(message->attempt));
    json_object_object_add(object, "max_attempts", json_object_new_int64(message->max_attempts));
    json_object_object_add(object, "created_ms", json_object_new_int64(message->created_ms));
    json_object_object_add(object, "time_ms", json_object_new_int64(message->time_ms));
    json_object_object_add(object, "now_ms", json_object_new_int64(message->now_ms));
    for (size_t i = 0; i < message->header_count; i++) {
        json_object *name = json_text(message->headers[i].name);
        json_object_object_add(headers, json_object_get_string(name),
                               json_text(message->headers[i].value));
        json_object_put(name);
    }
    json_object_object_add(object, "headers", headers);
    if (message->error.size > 0)
        json_object_object_add(object, "error", json_text(message->error));
    json_add_body(object, message->body);
    json_line(object);
}

int cli_item(const struct cli *cli, const char *key, dueq_bytes subject, dueq_status status) {
    if (cli->json) {
        json_object *object = json_object_new_object();
        json_object_object_add(object, key, json_text(subject));
        json_object_object_add(object, "status", json_name(dueq_status_name(status)));
        json_line(object);
    } else if (status != DUEQ_OK) {
        char about[DUEQ_MAX_ID + 64];
        snprintf(about, sizeof about, "%.*s", (int)subject.size, (const char *)subject.data);
        return cli_report(cli, status, about);
    }
    return exit_code(status);
}

/* ---- Text -------------------------------------------------------------------------------------- */

void cli_put(dueq_bytes bytes) {
    if (bytes.size > 0)
        fwrite(bytes.data, 1, bytes.size, stdout);
}

static void row(const char *name, dueq_bytes value) {
    printf("%-9s ", name);
    cli_put(value);
    putchar('\n');
}

/* "2026-12-01T10:00:00.000Z (in 12.3 s)" */
static void print_time(int64_t ms, int64_t now_ms) {
    char text[TIME_ROOM];
    double away = (double)(ms - now_ms) / 1000;
    printf("%s (%s%.1f s%s)", time_format(ms, text), away >= 0 ? "in " : "",
           away >= 0 ? away : -away, away >= 0 ? "" : " ago");
}

void cli_print_message(const struct cli *cli, const dueq_message *message) {
    static const char *const meaning[] = {"", "", "due", "until", "since"};
    if (cli->json) {
        cli_json_message(message);
        return;
    }
    row("id", message->id);
    printf("%-9s %s", "state", dueq_state_name(message->state));
    if (message->state >= DUEQ_DELAYED && message->state <= DUEQ_DEAD) {
        printf(" %s ", meaning[message->state]);
        print_time(message->time_ms, message->now_ms);
    }
    printf("\n%-9s %u of ", "attempt", message->attempt);
    if (message->max_attempts > 0)
        printf("%u\n", message->max_attempts);
    else
        puts("any number");
    printf("%-9s ", "created");
    print_time(message->created_ms, message->now_ms);
    putchar('\n');
    if (message->ticket.size > 0)
        row("ticket", message->ticket);
    for (size_t i = 0; i < message->header_count; i++) {
        printf("%-9s ", "header");
        cli_put(message->headers[i].name);
        putchar('=');
        cli_put(message->headers[i].value);
        putchar('\n');
    }
    if (message->error.size > 0)
        row("error", message->error);
    row("body", message->body);
}

void cli_print_counts(const struct cli *cli, const dueq_counts *counts) {
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {{"ready", counts->ready},   {"delayed", counts->delayed},
                {"leased", counts->leased}, {"dead", counts->dead},
                {"acked", counts->acked},   {"cancelled", counts->cancelled},
                {"purged", counts->purged}, {"damaged", counts->damaged}};
    const size_t size = sizeof rows / sizeof *rows;
    dueq_bytes queue = {cli->queue_name, strlen(cli->queue_name)};
    if (cli->json) {
        json_object *object = json_object_new_object();
        json_object_object_add(object, "queue", json_text(queue));
        for (size_t i = 0; i < size; i++)
            json_object_object_add(object, rows[i].name, json_object_new_int64(rows[i].value));
        json_object_object_add(object, "next_ms",
                               counts->next_ms ? json_object_new_int64(counts->next_ms) : NULL);
        json_object_object_add(object, "now_ms", json_object_new_int64(counts->now_ms));
        json_object_object_add(object, "paused", json_object_new_boolean(counts->paused != 0));
        json_line(object);
        return;
    }
    row("queue", queue);
    printf("%-9s %s\n", "server", dueq_client_url(cli->client));
    for (size_t i = 0; i < size; i++)
        printf("%-9s %lld\n", rows[i].name, (long long)rows[i].value);
    if (counts->paused)
        puts("paused    it hands nothing out until it is resumed");
    if (counts->next_ms) {
        printf("%-9s ", "next");
        print_time(counts->next_ms, counts->now_ms);
        putchar('\n');
    }
}
