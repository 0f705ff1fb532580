#include <stdlib.h>
#include <string.h>

#include "queue_row.h"
#include "servers/dueq_server.h"

/* With this share of maxmemory used, the server counts as full. */
enum { FULL_PERCENT = 98 };

/* The text of a field of INFO, up to the end of its line; "": there is no such field. */
static void read_field(const char *info, const char *name, char *out, size_t room) {
    const char *at = strstr(info, name);
    while (at && at != info && at[-1] != '\n')
        at = strstr(at + 1, name);
    at += at ? strlen(name) : 0;
    snprintf(out, room, "%.*s", at ? (int)strcspn(at, "\r\n") : 0, at ? at : "");
}

static int64_t read_number(const char *info, const char *name) {
    char text[24];
    read_field(info, name, text, sizeof text);
    return strtoll(text, NULL, 10);
}

static bool field_is(const char *info, const char *name, const char *value) {
    char text[32];
    read_field(info, name, text, sizeof text);
    return strcmp(text, value) == 0;
}

/*
 * A setting of the server; "": the server has no such setting, or this user may not read settings.
 */
static void read_setting(dueq_server *conn, const char *name, char *out, size_t room) {
    const dueq_bytes question[] = {{"CONFIG", 6}, {"GET", 3}, {name, strlen(name)}};
    const dueq_answer *answer, *value;
    bool known = dueq_server_ask(conn, question, 3, &answer) == DUEQ_OK;
    value = known && dueq_answer_count(answer) > 1 ? dueq_answer_item(answer, 1) : NULL;
    snprintf(out, room, "%.*s", value ? (int)dueq_answer_text(value).size : 0,
             value ? (const char *)dueq_answer_text(value).data : "");
}

/*
 * Whether the server refuses writes after a failed snapshot: by default it does, if it makes
 * snapshots.
 */
static bool stops_without_snapshot(dueq_server *conn) {
    char stops[8], save[8];
    read_setting(conn, "stop-writes-on-bgsave-error", stops, sizeof stops);
    read_setting(conn, "save", save, sizeof save);
    return strcmp(stops, "no") != 0 && (save[0] || !stops[0]);
}

static void read_writes(dueq_server *conn, const char *info, struct health *health) {
    char wanted[16];
    health->disk = field_is(info, "aof_last_write_status:", "err")
                       ? "it cannot write its append-only file"
                   : field_is(info, "rdb_last_bgsave_status:", "err") ? "it cannot save a snapshot"
                   : field_is(info, "aof_last_bgrewrite_status:", "err")
                       ? "it cannot rewrite its append-only file"
                       : NULL;
    health->disk_refuses =
        field_is(info, "aof_last_write_status:", "err") ||
        (field_is(info, "rdb_last_bgsave_status:", "err") && stops_without_snapshot(conn));
    health->replica = field_is(info, "role:", "slave");
    health->replicas = read_number(info, "min_slaves_good_slaves:");
    if (strstr(info, "min_slaves_good_slaves:")) {
        read_setting(conn, "min-replicas-to-write", wanted, sizeof wanted);
        health->replicas_wanted = strtoll(wanted, NULL, 10);
    }
}

/*
 * How far the server's clock is ahead of this machine's, in milliseconds. Half of the round trip is
 * taken off.
 */
static int64_t read_ahead(dueq_server *conn) {
    static const dueq_bytes question[] = {{"TIME", 4}};
    const int64_t wall_ms = time_now_ms(), start_ms = time_monotonic_ms();
    const dueq_answer *time;
    if (dueq_server_ask(conn, question, 1, &time) != DUEQ_OK)
        return 0;
    return dueq_answer_number(dueq_answer_item(time, 0)) * 1000 +
           dueq_answer_number(dueq_answer_item(time, 1)) / 1000 - wall_ms -
           (time_monotonic_ms() - start_ms) / 2;
}

bool health_of(const struct cli *cli, dueq_server *conn, struct health *health) {
    static const dueq_bytes question[] = {{"INFO", 4}};
    const dueq_answer *answer;
    char policy[32];
    *health = (struct health){0};
    snprintf(health->server, sizeof health->server, "%s", dueq_server_address(conn));
    if (dueq_server_ask(conn, question, 1, &answer) != DUEQ_OK)
        return false;
    char *info = strdup(dueq_answer_text(answer).data);
    if (!info)
        cli_out_of_memory();
    /* The server compares this difference with maxmemory (evict.c of Redis). */
    health->used =
        read_number(info, "used_memory:") - read_number(info, "mem_not_counted_for_evict:");
    health->limit = read_number(info, "maxmemory:");
    health->evicted = read_number(info, "evicted_keys:");
    read_field(info, "maxmemory_policy:", policy, sizeof policy);
    health->evicts = health->limit > 0 && policy[0] && strcmp(policy, "noeviction") != 0 &&
                     !dueq_client_accepts_evicting(cli->client);
    read_writes(conn, info, health);
    free(info);
    health->ahead_ms = read_ahead(conn);
    return true;
}

void health_read(struct cli *cli, struct healths *healths) {
    dueq_server *conn;
    *healths = (struct healths){0};
    for (size_t i = 0; !dueq_server_open_primary(cli->client, i, &conn); i++) {
        healths->list = realloc(healths->list, (i + 1) * sizeof *healths->list);
        if (!healths->list)
            cli_out_of_memory();
        healths->count += health_of(cli, conn, &healths->list[healths->count]);
        dueq_server_close(conn);
    }
}

void health_end(struct healths *healths) {
    free(healths->list);
    *healths = (struct healths){0};
}

bool health_full(const struct health *health) {
    return health->limit > 0 && !health->evicts &&
           health->used >= health->limit / 100 * FULL_PERCENT;
}

bool health_writable(const struct health *health) {
    return !health->disk_refuses && !health->replica &&
           health->replicas >= health->replicas_wanted && !health_full(health);
}
