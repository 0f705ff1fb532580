#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

#define HEADER "DUEQ_HEADER_"

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Is it one of those that we set? A worker's command may be a worker itself. */
static bool is_ours(const struct cli *cli, const char *variable) {
    return begins(variable, "DUEQ_QUEUE=") || begins(variable, "DUEQ_ID=") ||
           begins(variable, "DUEQ_TICKET=") || begins(variable, "DUEQ_ATTEMPT=") ||
           begins(variable, "DUEQ_DELIVERIES=") || begins(variable, HEADER) ||
           (cli->url && begins(variable, "DUEQ_URL="));
}

static void put_bytes(FILE *out, const char *name, dueq_bytes value) {
    fputs(name, out);
    fwrite(value.data, 1, value.size, out);
    fputc('\0', out);
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

static size_t put_headers(FILE *out, const dueq_message *message) {
    char name[DUEQ_MAX_HEADER_NAME + 1];
    size_t count = 0;
    for (size_t i = 0; i < message->header_count; i++) {
        dueq_bytes value = message->headers[i].value;
        if ((value.size && memchr(value.data, '\0', value.size)) ||
            !header_name(message->headers[i].name, name) || !is_first(message, i, name))
            continue;
        fprintf(out, HEADER "%s", name);
        put_bytes(out, "=", value);
        count++;
    }
    return count;
}

/* Writes the variables, each with its NUL, and returns how many. */
static size_t put_all(FILE *out, const struct cli *cli, const dueq_message *message,
                      const char *queue) {
    size_t count = 5;
    put_bytes(out, "DUEQ_QUEUE=", (dueq_bytes){queue, strlen(queue)});
    put_bytes(out, "DUEQ_ID=", message->id);
    put_bytes(out, "DUEQ_TICKET=", message->ticket);
    fprintf(out, "DUEQ_ATTEMPT=%u%c", message->attempt, '\0');
    fprintf(out, "DUEQ_DELIVERIES=%u%c", message->deliveries, '\0');
    if (cli->url) {
        put_bytes(out, "DUEQ_URL=", (dueq_bytes){cli->url, strlen(cli->url)});
        count++;
    }
    return count + put_headers(out, message);
}

struct environment environment_of(const struct cli *cli, const dueq_message *message,
                                  const char *queue) {
    struct environment made = {0};
    size_t size = 0, inherited = 0, own, count = 0;
    FILE *out = open_memstream(&made.text, &size);
    if (!out)
        return made;
    own = put_all(out, cli, message, queue);
    if (fclose(out) != 0)
        return made;
    while (environ[inherited])
        inherited++;
    made.list = calloc(inherited + own + 1, sizeof *made.list);
    if (!made.list)
        return made;
    for (size_t i = 0; i < inherited; i++)
        if (!is_ours(cli, environ[i]))
            made.list[count++] = environ[i];
    for (char *at = made.text; at < made.text + size; at += strlen(at) + 1)
        made.list[count++] = at;
    return made;
}

void environment_end(struct environment *environment) {
    free(environment->list);
    free(environment->text);
}
