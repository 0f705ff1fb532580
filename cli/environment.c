#include <ctype.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

extern char **environ;

#define HEADER "DUEQ_HEADER_"

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Whether the variable describes a message. Those that this program inherited are dropped: its own
 * parent may be a worker.
 */
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

/* PREFIXNAME=VALUE, or NULL if the value has a NUL byte, which no variable can have. */
static char *variable_of(const char *prefix, const char *name, dueq_bytes value) {
    char *made = NULL;
    if (value.size && memchr(value.data, '\0', value.size))
        return NULL;
    if (asprintf(&made, "%s%s=%.*s", prefix, name, (int)value.size,
                 value.size ? (const char *)value.data : "") < 0)
        cli_out_of_memory();
    return made;
}

static void add(struct environment *made, const char *name, dueq_bytes value) {
    char *variable = variable_of("", name, value);
    if (variable)
        add_pointer(made, variable);
}

static void add_text(struct environment *made, const char *name, const char *value) {
    add(made, name, (dueq_bytes){value, strlen(value)});
}

static void add_number(struct environment *made, const char *name, uint32_t value) {
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    add_text(made, name, text);
}

/*
 * Whether a parameter of a URL is no secret. Commands do not get a parameter that is not in this
 * list.
 */
static bool is_known_safe(const char *name, size_t size) {
    static const char *const names[] = {"timeout",
                                        "db",
                                        "ca",
                                        "cert",
                                        "key",
                                        "tls_name",
                                        "evicting",
                                        "replicas",
                                        "disk",
                                        "durable_timeout",
                                        "map",
                                        "sentinel_ca",
                                        "sentinel_cert",
                                        "sentinel_key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return true;
    return false;
}

/*
 * The URL with only the scheme, the hosts, the path and the parameters that are known to be no
 * secrets. The core has accepted the URL before.
 */
static char *url_without_secrets(const char *url) {
    char *made = NULL;
    size_t made_size = 0;
    FILE *out = open_memstream(&made, &made_size);
    if (!out)
        cli_out_of_memory();
    const char *end = url + strcspn(url, "?"), *host = url;
    if (!begins(url, "embedded:")) {
        host += strcspn(url, "/") + strlen("//");
        fwrite(url, 1, (size_t)(host - url), out);
        for (const char *at = host; at < end && *at != '/'; at++)
            if (*at == '@')
                host = at + 1;
    }
    fwrite(host, 1, (size_t)(end - host), out);
    char before = '?';
    while (*end) {
        const char *at = end + 1;
        end = at + strcspn(at, "&");
        if (!is_known_safe(at, strcspn(at, "=")))
            continue;
        fprintf(out, "%c%.*s", before, (int)(end - at), at);
        before = '&';
    }
    if (fclose(out) != 0)
        cli_out_of_memory();
    return made;
}

/* Adds the URL of this program's server, without logins unless --pass-url was given. */
static void add_url(struct environment *made, const struct cli *cli) {
    const char *url = cli->url ? cli->url : getenv("DUEQ_URL");
    if (!url || !*url)
        /* so that commands do not warn again that no URL was given */
        url = dueq_client_url(cli->client);
    char *safe = cli->pass_url ? NULL : url_without_secrets(url);
    add_text(made, "DUEQ_URL", safe ? safe : url);
    free(safe);
}

/* Makes the name of a header's variable. False: the header cannot have one. */
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

/* Orders variables by their names. */
static int by_name(const void *one, const void *other) {
    size_t size = strcspn(one, "="), other_size = strcspn(other, "=");
    int order = memcmp(one, other, size < other_size ? size : other_size);
    return order ? order : (size > other_size) - (size < other_size);
}

static void add_headers(struct environment *made, const dueq_message *message) {
    char name[DUEQ_MAX_HEADER_NAME + 1];
    void *known = NULL;
    for (size_t i = 0; i < message->header_count; i++) {
        char *variable = header_name(message->headers[i].name, name)
                             ? variable_of(HEADER, name, message->headers[i].value)
                             : NULL;
        if (!variable)
            continue;
        char *const *first = tsearch(variable, &known, by_name);
        if (!first)
            cli_out_of_memory();
        if (*first == variable)
            add_pointer(made, variable);
        else
            free(variable);
    }
    while (known)
        tdelete(*(char *const *)known, &known, by_name);
}

static void add_message(struct environment *made, const dueq_message *message, const char *queue) {
    add_text(made, "DUEQ_QUEUE", queue);
    add(made, "DUEQ_ID", message->id);
    add(made, "DUEQ_TICKET", message->ticket);
    add_number(made, "DUEQ_ATTEMPT", message->attempt);
    add_number(made, "DUEQ_DELIVERIES", message->deliveries);
    add_headers(made, message);
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
