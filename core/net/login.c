#include <stdio.h>
#include <string.h>

#include "net.h"

/*
 * The first commands on a new connection: authenticate, select the database, name the connection.
 * With sentinels ROLE checks that the server is the primary. The client's first connection also
 * asks for the server's version and memory policy.
 */

static bool send_step(struct dueq__conn *conn, enum dueq__login step, size_t count,
                      const char *const texts[]) {
    struct dueq__resp words;
    const struct dueq__resp *all = &words;
    dueq__resp_init(&words);
    for (size_t i = 0; i < count; i++)
        dueq__resp_text(&words, texts[i]);
    bool sent = dueq__conn_send(conn, &all, 1);
    dueq__resp_free(&words);
    conn->login[conn->login_count++] = step;
    return sent;
}

void dueq__login_begin(struct dueq__conn *conn) {
    const struct dueq__url *url = conn->url;
    const char *const auth[] = {"AUTH", url->user ? url->user : url->password, url->password};
    char db[12];
    snprintf(db, sizeof db, "%d", url->db);
    conn->state = DUEQ__CONN_LOGIN;
    bool sent = !url->password || send_step(conn, DUEQ__LOGIN_AUTH, url->user ? 3 : 2, auth);
    if (url->db)
        sent = sent && send_step(conn, DUEQ__LOGIN_SELECT, 2, (const char *const[]){"SELECT", db});
    if (url->topology == DUEQ__SENTINEL)
        sent = sent && send_step(conn, DUEQ__LOGIN_ROLE, 1, (const char *const[]){"ROLE"});
    sent = sent &&
           send_step(conn, DUEQ__LOGIN_NAME, 3,
                     (const char *const[]){"CLIENT", "SETNAME", conn->name}) &&
           send_step(conn, DUEQ__LOGIN_ID, 2, (const char *const[]){"CLIENT", "ID"});
    /* Two sections cost the server less than all. Redis 6 takes one section in a command. */
    if (conn->server_info && !conn->server_info->known)
        sent = sent &&
               send_step(conn, DUEQ__LOGIN_VERSION, 2, (const char *const[]){"INFO", "server"}) &&
               send_step(conn, DUEQ__LOGIN_MEMORY, 2, (const char *const[]){"INFO", "memory"});
    conn->reader = dueq__reader_new();
    if (!sent || !conn->reader) {
        dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
        dueq__conn_fail(conn);
    }
}

/* The reply to INFO. A field that is missing, or an error, does not end the login. */

/* Copies the value of a field, cut to the room; empty: there is no such field. */
static void read_field(dueq_bytes info, const char *name, char *out, size_t room) {
    const char *at = memmem(info.data, info.size, name, strlen(name));
    size_t size = 0;
    if (at && (at == info.data || at[-1] == '\n')) {
        const char *end = (const char *)info.data + info.size;
        for (at += strlen(name); at + size < end && at[size] != '\r' && size + 1 < room;)
            size++;
        memcpy(out, at, size);
    }
    out[size] = '\0';
}

static bool is_new_enough(const struct dueq__url *url, dueq_bytes info, struct dueq__error *error) {
    char version[24];
    const char *at = version;
    int64_t major, minor;
    read_field(info, "redis_version:", version, sizeof version);
    if (!dueq__take_digits(&at, NULL, 9, &major) || *at++ != '.' ||
        !dueq__take_digits(&at, NULL, 9, &minor) || major > 6 || (major == 6 && minor >= 2))
        return true;
    dueq__fail(error, DUEQ_UNSUPPORTED,
               "the server at %s is Redis %s; dueq needs Redis 6.2 or later, or Valkey", url->shown,
               version);
    return false;
}

static void note_memory(struct dueq__server_info *server, const struct dueq__url *url,
                        dueq_bytes info) {
    char limit[24];
    int64_t most;
    read_field(info, "maxmemory:", limit, sizeof limit);
    read_field(info, "maxmemory_policy:", server->policy, sizeof server->policy);
    server->known = true;
    /* The warning shows the policy to the user: text that cannot be a policy's name is dropped. */
    if (server->policy[strspn(server->policy, "abcdefghijklmnopqrstuvwxyz-")])
        server->policy[0] = '\0';
    server->evicts = dueq__read_number(dueq__text(limit), 1, INT64_MAX, &most) &&
                     server->policy[0] && strcmp(server->policy, "noeviction") != 0 &&
                     !url->accepts_evicting;
}

/* A sentinel may name a server shortly before it is the primary, or after another one became it. */
static bool is_primary(struct dueq__conn *conn, const struct dueq__reply *reply) {
    dueq_bytes role = {"nothing", 7};
    dueq__reply_bytes(dueq__reply_item(reply, 0), &role);
    if (dueq__bytes_equal(role, dueq__text("master"))) {
        strcpy(conn->sentinels->primary, conn->shown);
        return true;
    }
    dueq__discovery_reject(conn->discovery);
    dueq__fail(&conn->error, DUEQ_READONLY,
               "the server at %s, which a sentinel names as the primary '%s', says by ROLE that "
               "it is: %.*s",
               conn->shown, conn->url->primary, (int)role.size, (const char *)role.data);
    return false;
}

/* Reads the reply to a step. False: the login fails, and conn->error is set. */
static bool read_step(struct dueq__conn *conn, enum dueq__login step,
                      const struct dueq__reply *reply) {
    struct dueq__error problem = {0};
    dueq_bytes info = {"", 0};
    if (dueq__reply_is_error(reply))
        dueq__reply_error(reply, &problem);
    else if (step == DUEQ__LOGIN_NAME)
        conn->named = true;
    else if (step == DUEQ__LOGIN_ID)
        dueq__reply_number(reply, &conn->id);
    else
        dueq__reply_bytes(reply, &info);
    /* CLIENT and INFO may be forbidden to this user: the connection works without them. */
    if (problem.status && (step <= DUEQ__LOGIN_ROLE || problem.status == DUEQ_AUTH ||
                           problem.status == DUEQ_CONNECT || problem.recovery == DUEQ__TRANSIENT)) {
        conn->error = problem;
        if (step == DUEQ__LOGIN_SELECT && problem.status == DUEQ_SERVER)
            conn->error.status = DUEQ_DATABASE;
        return false;
    }
    if (step == DUEQ__LOGIN_ROLE)
        return is_primary(conn, reply);
    if (step == DUEQ__LOGIN_MEMORY)
        note_memory(conn->server_info, conn->url, info);
    return step != DUEQ__LOGIN_VERSION || is_new_enough(conn->url, info, &conn->error);
}

void dueq__login_pump(struct dueq__conn *conn) {
    struct dueq__reply *reply;
    bool good = true;
    while (good && conn->login_at < conn->login_count &&
           (reply = dueq__conn_reply(conn, DUEQ__MAX_SMALL_REPLY))) {
        good = read_step(conn, conn->login[conn->login_at++], reply);
        dueq__reply_free(reply);
    }
    if (!good)
        dueq__conn_fail(conn);
    else if (conn->state == DUEQ__CONN_LOGIN && conn->login_at == conn->login_count)
        conn->state = DUEQ__CONN_READY;
}
