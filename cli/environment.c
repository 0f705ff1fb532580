#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define HEADER "DUEQ_HEADER_"

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Does it tell of a message? A worker's command may be a worker itself. */
static bool is_of_message(const char *variable) {
    return begins(variable, "DUEQ_QUEUE=") || begins(variable, "DUEQ_ID=") ||
           begins(variable, "DUEQ_TICKET=") || begins(variable, "DUEQ_ATTEMPT=") ||
           begins(variable, "DUEQ_DELIVERIES=") || begins(variable, HEADER);
}

static void add_pointer(struct environment *made, char *variable) {
    made->list = realloc(made->list, (made->count + 2) * sizeof *made->list);
    if (!made->list)
        cli_out_of_memory();
    made->list[made->count++] = variable;
    made->list[made->count] = NULL;
}

/* Adds PREFIXNAME=VALUE. A value with a NUL byte cannot be one, and is left out. */
static void add(struct environment *made, const char *prefix, const char *name, dueq_bytes value) {
    size_t front = strlen(prefix) + strlen(name) + 1;
    if (value.size && memchr(value.data, '\0', value.size))
        return;
    char *variable = malloc(front + value.size + 1);
    if (!variable)
        cli_out_of_memory();
    sprintf(variable, "%s%s=", prefix, name);
    if (value.size)
        memcpy(variable + front, value.data, value.size);
    variable[front + value.size] = '\0';
    add_pointer(made, variable);
}

static void add_text(struct environment *made, const char *name, const char *value) {
    add(made, "", name, (dueq_bytes){value, strlen(value)});
}

static void add_number(struct environment *made, const char *name, uint32_t value) {
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    add_text(made, name, text);
}

/* The server that we use, if it was named: without a login, unless that is asked for. */
static void add_url(struct environment *made, const struct cli *cli) {
    const char *url = cli->url ? cli->url : getenv("DUEQ_URL");
    if (!url || !*url)
        return;
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url, *login_end = NULL;
    for (const char *at = host; !cli->pass_url && *at && *at != '/' && *at != '?'; at++)
        if (*at == '@')
            login_end = at + 1;
    char *shown = NULL;
    if (asprintf(&shown, "%.*s%s", (int)(host - url), url, login_end ? login_end : host) < 0)
        cli_out_of_memory();
    add_text(made, "DUEQ_URL", shown);
    free(shown);
}

/* The name of a header's variable, or false: it cannot have one. */
static bool header_name(dueq_bytes name, char out[DUEQ_MAX_HEADER_NAME + 1]) {
    const unsigned char *data = name.data;
    for (size_t i = 0; i < name.size; i++) {
        if (data[i] != '-' && data[i] != '_' && (data[i] > 0x7F || !isalnum(data[i])))
            return false;
        out[i] = (char)(data[i] == '-' ? '_' : toupper(data[i]));
    }
    out[name.size] = '\0';
    return true;
}

static bool is_first(const dueq_message *message, size_t index, const char *name) {
    char other[DUEQ_MAX_HEADER_NAME + 1];
    for (size_t i = 0; i < index; i++)
        if (header_name(message->headers[i].name, other) && strcmp(other, name) == 0)
            return false;
    return true;
}

static void add_message(struct environment *made, const dueq_message *message, const char *queue) {
    char name[DUEQ_MAX_HEADER_NAME + 1];
    add_text(made, "DUEQ_QUEUE", queue);
    add(made, "", "DUEQ_ID", message->id);
    add(made, "", "DUEQ_TICKET", message->ticket);
    add_number(made, "DUEQ_ATTEMPT", message->attempt);
    add_number(made, "DUEQ_DELIVERIES", message->deliveries);
    for (size_t i = 0; i < message->header_count; i++)
        if (header_name(message->headers[i].name, name) && is_first(message, i, name))
            add(made, HEADER, name, message->headers[i].value);
}

struct environment environment_of(const struct cli *cli, const dueq_message *message,
                                  const char *queue) {
    struct environment made = {.list = calloc(1, sizeof *made.list)};
    add_url(&made, cli);
    if (message)
        add_message(&made, message, queue);
    made.own = made.count;
    for (char **variable = environ; *variable; variable++)
        if (!begins(*variable, "DUEQ_URL=") && !(message && is_of_message(*variable)))
            add_pointer(&made, *variable);
    return made;
}

void environment_end(struct environment *environment) {
    for (size_t i = 0; i < environment->own; i++)
        free(environment->list[i]);
    free(environment->list);
}
