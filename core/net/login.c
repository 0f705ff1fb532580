#include <stdio.h>
#include <strings.h>

#include "net.h"

/*
 * The first commands on a new connection: authenticate, select the database, name the connection.
 * With sentinels ROLE checks that the server is the primary. The client's first connection also
 * asks for the server's version and memory policy.
 */

/*
 * texts: the words of the command, then NULL. Without memory dueq__login_begin() fails at its end.
 */
static void send_step(struct dueq__conn *conn, enum dueq__login step, const char *const texts[]) {
    struct dueq__resp words;
    dueq__resp_texts(&words, texts);
    if (!dueq__conn_send_words(conn, &words))
        dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
    conn->login_due |= 1U << step;
}

#define SEND(step, ...)                                                                            \
    send_step(conn, DUEQ__LOGIN_##step, (const char *const[]){__VA_ARGS__, NULL})

void dueq__login_begin(struct dueq__conn *conn) {
    const struct dueq__url *url = conn->url;
    char db[12];
    snprintf(db, sizeof db, "%d", url->db);
    conn->state = DUEQ__CONN_LOGIN;
    if (url->password && url->user)
        SEND(AUTH, "AUTH", url->user, url->password);
    else if (url->password)
        SEND(AUTH, "AUTH", url->password);
    if (url->db)
        SEND(SELECT, "SELECT", db);
    if (url->topology == DUEQ__SENTINEL)
        SEND(ROLE, "ROLE");
    SEND(NAME, "CLIENT", "SETNAME", conn->name);
    SEND(ID, "CLIENT", "ID");
    /* Two sections cost the server less than all. Redis 6 takes one section in a command. */
    if (conn->server_info && !conn->server_info->known) {
        SEND(VERSION, "INFO", "server");
        SEND(MEMORY, "INFO", "memory");
    }
    if (!(conn->reader = dueq__reader_new()))
        dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
    if (conn->error.status)
        dueq__conn_fail(conn);
}

/* The reply to INFO. Neither a missing field nor an error ends the login. */

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

/*
 * A sentinel may name a server shortly before the server becomes the primary, or after another did.
 */
static bool is_primary(struct dueq__conn *conn, const struct dueq__reply *reply) {
    dueq_bytes role = {"nothing", 7};
    dueq__reply_bytes(dueq__reply_item(reply, 0), &role);
    if (dueq__bytes_equal(role, dueq__text("master"))) {
        strcpy(conn->sentinels->primary, conn->shown);
        return true;
    }
    dueq__sentinels_reject(conn->sentinels, conn->query);
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
    while (good && conn->login_due && (reply = dueq__conn_reply(conn, DUEQ__MAX_SMALL_REPLY))) {
        const enum dueq__login step = (enum dueq__login)(ffs((int)conn->login_due) - 1);
        conn->login_due &= conn->login_due - 1;
        good = read_step(conn, step, reply);
        dueq__reply_free(reply);
    }
    if (!good)
        dueq__conn_fail(conn);
    else if (conn->state == DUEQ__CONN_LOGIN && !conn->login_due)
        conn->state = DUEQ__CONN_READY;
}
