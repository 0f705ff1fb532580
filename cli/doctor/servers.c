#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define MOST_WORDS 16

/* Asks the server no more: each further question might wait for as long again. */
static void give_up(struct doctor *doctor, struct server *server, const char *why) {
    server->silent = true;
    if (server->info)
        doctor_say(doctor, CHECK_REACH, LEVEL_PROBLEM, dueq_server_address(server->conn), NULL,
                   "run dueq doctor again when it answers: the rest of its checks was not made",
                   "it stopped answering: %s", why);
}

static bool is_silence(dueq_status status) {
    return status == DUEQ_TIMEOUT || status == DUEQ_CONNECT || status == DUEQ_CLOSED;
}

const dueq_answer *server_ask(struct doctor *doctor, struct server *server, const char *word, ...) {
    dueq_bytes words[MOST_WORDS];
    size_t count = 0;
    va_list more;
    const dueq_answer *value;
    va_start(more, word);
    for (; word && count < MOST_WORDS; word = va_arg(more, const char *))
        words[count++] = (dueq_bytes){word, strlen(word)};
    va_end(more);
    if (server->silent)
        return NULL;
    cli_check_signal(doctor->cli);
    const int64_t start_ms = time_monotonic_ms(),
                  most_ms = PATIENCE * dueq_client_timeout_ms(doctor->cli->client);
    dueq_status status = dueq_server_ask(server->conn, words, count, &value);
    cli_check_signal(doctor->cli);
    server->used_ms += time_monotonic_ms() - start_ms;
    if (is_silence(status))
        give_up(doctor, server, dueq_server_error_text(server->conn));
    else if (server->used_ms > most_ms)
        give_up(doctor, server, "its answers together took more than five timeouts of the URL");
    return value;
}

/* INFO and settings */

bool info_text(const struct server *server, const char *name, char *out, size_t room) {
    size_t size = strlen(name);
    for (const char *line = server->info; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, size) == 0 && line[size] == ':') {
            line += size + 1;
            snprintf(out, room, "%.*s", (int)strcspn(line, "\r\n"), line);
            return true;
        }
    }
    return false;
}

bool info_number(const struct server *server, const char *name, double *number) {
    char text[32];
    bool there = info_text(server, name, text, sizeof text);
    *number = there ? strtod(text, NULL) : 0;
    return there;
}

bool info_needed(struct doctor *doctor, const struct server *server, enum check check,
                 const char *name, double *number) {
    bool there = info_number(server, name, number);
    if (!there)
        doctor_say(doctor, check, LEVEL_UNKNOWN, dueq_server_address(server->conn), NULL,
                   "check it yourself, or --ignore this check", "INFO does not tell %s", name);
    return there;
}

const char *server_config(struct doctor *doctor, struct server *server, const char *name) {
    const dueq_answer *pair = server_ask(doctor, server, "CONFIG", "GET", name, NULL);
    if (!pair || dueq_answer_count(pair) < 2)
        return NULL;
    const char *text = dueq_answer_text(dueq_answer_item(pair, 1)).data;
    snprintf(server->config, sizeof server->config, "%s", text);
    return server->config;
}

const char *server_needs(struct doctor *doctor, struct server *server, enum check check,
                         const char *name) {
    const char *value = server_config(doctor, server, name);
    const char *why = dueq_server_error_text(server->conn);
    if (!value && !server->silent)
        doctor_say(doctor, check, LEVEL_UNKNOWN, dueq_server_address(server->conn), NULL,
                   "permit this user +config|get, check it yourself, or --ignore this check",
                   "the setting %s cannot be read: %s", name,
                   *why ? why : "the server does not have it");
    return value;
}

const dueq_answer *value_of(const dueq_answer *pairs, const char *name) {
    for (size_t i = 0; i + 1 < dueq_answer_count(pairs); i += 2)
        if (strcmp(dueq_answer_text(dueq_answer_item(pairs, i)).data, name) == 0)
            return dueq_answer_item(pairs, i + 1);
    return NULL;
}

/* Finding servers */

bool is_cluster(const struct doctor *doctor) {
    const char *url = dueq_client_url(doctor->cli->client);
    return strncmp(url + strcspn(url, "+"), "+cluster:", 9) == 0;
}

/* Adds a server and asks it for INFO. NULL, or a server that was added before, is left out. */
static struct server *add(struct doctor *doctor, dueq_server *conn, enum role role) {
    if (!conn)
        return NULL;
    for (size_t i = 0; i < doctor->count; i++)
        if (strcmp(dueq_server_address(doctor->servers[i].conn), dueq_server_address(conn)) == 0) {
            dueq_server_close(conn);
            return NULL;
        }
    doctor->servers = realloc(doctor->servers, (doctor->count + 1) * sizeof *doctor->servers);
    if (!doctor->servers)
        cli_out_of_memory();
    struct server *server = &doctor->servers[doctor->count++];
    *server = (struct server){.conn = conn, .role = role};
    const dueq_answer *info = server_ask(doctor, server, "INFO", NULL);
    const char *why = dueq_server_error_text(conn);
    if (info && !(server->info = strdup(dueq_answer_text(info).data)))
        cli_out_of_memory();
    server->answers = info || strstr(why, "NOPERM");
    if (info)
        say_of(doctor, server, REACH, OK, NULL, "it answers");
    else if (server->answers)
        say_of(doctor, server, REACH, UNKNOWN, "permit this user +info",
               "it answers, but refuses INFO: %s", why);
    else
        doctor_say(doctor, CHECK_REACH, LEVEL_PROBLEM, dueq_server_address(conn), NULL,
                   "start it, or take it out of the cluster, the sentinels or the URL",
                   "it does not answer as it should: %s", why);
    return server;
}

static struct server *add_at(struct doctor *doctor, const char *host, int port, enum role role) {
    dueq_server *conn;
    dueq_server_open_at(doctor->cli->client, host, port, &conn);
    return add(doctor, conn, role);
}

static void take_slots(struct server *server, const char *text) {
    for (; *text; text += strcspn(text, " "), text += *text == ' ') {
        int first, last, got = sscanf(text, "%d-%d", &first, &last);
        if (*text == '[' || got < 1)
            continue;
        for (int slot = first; slot <= (got > 1 ? last : first) && slot < 16384; slot++)
            server->slots[slot / 8] = (char)(server->slots[slot / 8] | 1 << slot % 8);
    }
}

/*
 * Adds a node from a line of CLUSTER NODES: "ID HOST:PORT@BUS[,NAME] FLAGS PRIMARY PING PONG EPOCH
 * LINK SLOTS..."
 */
static void add_node(struct doctor *doctor, const char *line) {
    char endpoint[300], flags[100];
    int rest = 0;
    if (sscanf(line, "%*s %299s %99s %*s %*s %*s %*s %*s%n", endpoint, flags, &rest) != 2 || !rest)
        return;
    char *at = strchr(endpoint, '@'), *colon;
    if (strstr(flags, "noaddr") || strstr(flags, "handshake"))
        return;
    if (at)
        *at = '\0';
    if (!(colon = strrchr(endpoint, ':')) || colon == endpoint)
        return;
    *colon = '\0';
    struct server *server = add_at(doctor, endpoint, atoi(colon + 1),
                                   strstr(flags, "slave") ? ROLE_REPLICA : ROLE_PRIMARY);
    if (server)
        take_slots(server, line + rest);
}

/* The answer of the first node that permits CLUSTER NODES; NULL: none does. Free with free(). */
static char *ask_for_nodes(struct doctor *doctor) {
    struct server first = {0};
    char *nodes = NULL;
    for (size_t i = 0; !nodes && !dueq_server_open(doctor->cli->client, i, &first.conn); i++) {
        const dueq_answer *answer = server_ask(doctor, &first, "CLUSTER", "NODES", NULL);
        if (answer && !(nodes = strdup(dueq_answer_text(answer).data)))
            cli_out_of_memory();
        dueq_server_close(first.conn);
    }
    return nodes;
}

static void find_nodes(struct doctor *doctor) {
    char *nodes = ask_for_nodes(doctor), *left = NULL;
    dueq_server *conn;
    for (char *line = nodes ? strtok_r(nodes, "\n", &left) : NULL; line;
         line = strtok_r(NULL, "\n", &left))
        add_node(doctor, line);
    for (size_t i = 0; !nodes && !dueq_server_open(doctor->cli->client, i, &conn); i++) {
        struct server *server = add(doctor, conn, ROLE_PRIMARY);
        if (server && server->answers)
            say_of(doctor, server, REACH, UNKNOWN, "permit this user +cluster|nodes",
                   "it does not tell which other nodes the cluster has");
    }
    free(nodes);
}

/* Adds a server that a sentinel names, by "ip" and "port" in the sentinel's answer. */
static void add_named(struct doctor *doctor, const dueq_answer *of, enum role role) {
    char host[256];
    const dueq_answer *ip = of ? value_of(of, "ip") : NULL,
                      *port = of ? value_of(of, "port") : NULL;
    if (!ip || !port)
        return;
    snprintf(host, sizeof host, "%s", (const char *)dueq_answer_text(ip).data);
    add_at(doctor, host, (int)dueq_answer_number(port), role);
}

static void find_watched(struct doctor *doctor) {
    const char *name = dueq_client_primary(doctor->cli->client);
    dueq_server *conn;
    for (size_t i = 0; !dueq_server_open(doctor->cli->client, i, &conn); i++)
        add(doctor, conn, ROLE_SENTINEL);
    for (size_t i = 0, sentinels = doctor->count; i < sentinels; i++) {
        struct server sentinel = doctor->servers[i];
        if (!sentinel.info)
            continue;
        add_named(doctor, server_ask(doctor, &sentinel, "SENTINEL", "MASTER", name, NULL),
                  ROLE_PRIMARY);
        const dueq_answer *all = server_ask(doctor, &sentinel, "SENTINEL", "REPLICAS", name, NULL);
        for (size_t one = 0; all && one < dueq_answer_count(all); one++)
            add_named(doctor, dueq_answer_item(all, one), ROLE_REPLICA);
        doctor->servers[i] = sentinel;
    }
}

void servers_find(struct doctor *doctor) {
    dueq_server *conn;
    char role[16];
    if (is_cluster(doctor)) {
        find_nodes(doctor);
    } else if (dueq_client_primary(doctor->cli->client)) {
        find_watched(doctor);
    } else {
        dueq_server_open(doctor->cli->client, 0, &conn);
        struct server *server = add(doctor, conn, ROLE_PRIMARY);
        if (server && info_text(server, "role", role, sizeof role) && strcmp(role, "slave") == 0)
            server->role = ROLE_REPLICA;
    }
}

struct server *server_of(struct doctor *doctor, const char *queue) {
    char key[DUEQ_MAX_NAME + 16];
    if (!is_cluster(doctor)) {
        for (size_t i = 0; i < doctor->count; i++)
            if (doctor->servers[i].role != ROLE_SENTINEL && doctor->servers[i].answers)
                return &doctor->servers[i];
        return NULL;
    }
    snprintf(key, sizeof key, "dueq:{%s}:msg", queue);
    const dueq_answer *value = NULL;
    for (size_t i = 0; i < doctor->count && !value; i++)
        if (doctor->servers[i].info)
            value = server_ask(doctor, &doctor->servers[i], "CLUSTER", "KEYSLOT", key, NULL);
    size_t slot = value ? (size_t)dueq_answer_number(value) : 0;
    for (size_t i = 0; value && i < doctor->count; i++)
        if (doctor->servers[i].slots[slot / 8] >> slot % 8 & 1)
            return &doctor->servers[i];
    return NULL;
}

void servers_close(struct doctor *doctor) {
    for (size_t i = 0; i < doctor->count; i++) {
        dueq_server_close(doctor->servers[i].conn);
        free(doctor->servers[i].info);
    }
    free(doctor->servers);
}
