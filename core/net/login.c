#include <stdio.h>

#include "conn_parts.h"

/* What is said first on each new connection: who we are, and on a client's first one who the server is. */

static bool send_texts(struct dueq__conn *conn, size_t count, const char *const texts[]) {
    struct dueq__resp words;
    dueq__resp_init(&words);
    for (size_t i = 0; i < count; i++)
        dueq__resp_text(&words, texts[i]);
    const struct dueq__resp *all = &words;
    bool sent = dueq__conn_send(conn, &all, 1);
    dueq__resp_free(&words);
    return sent;
}

static bool send_step(struct dueq__conn *conn, enum dueq__login step, size_t count,
                      const char *const texts[]) {
    conn->login[conn->login_count++] = step;
    return send_texts(conn, count, texts);
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
    sent = sent &&
           send_step(conn, DUEQ__LOGIN_NAME, 3,
                     (const char *const[]){"CLIENT", "SETNAME", conn->name}) &&
           send_step(conn, DUEQ__LOGIN_ID, 2, (const char *const[]){"CLIENT", "ID"});
    /* Two sections cost the server less than all, and Redis 6 takes one at a time. */
    if (conn->server && !conn->server->known)
        sent = sent &&
               send_step(conn, DUEQ__LOGIN_VERSION, 2, (const char *const[]){"INFO", "server"}) &&
               send_step(conn, DUEQ__LOGIN_MEMORY, 2, (const char *const[]){"INFO", "memory"});
    conn->reader = dueq__reader_new();
    if (!sent || !conn->reader) {
        dueq__fail(&conn->error, DUEQ_NO_MEMORY, NULL);
        dueq__conn_close(conn);
    }
}

static bool take_step(struct dueq__conn *conn, enum dueq__login step,
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
    /* A name, a number and facts are a help, not a need: some servers do not permit them. */
    if (problem.status && (step <= DUEQ__LOGIN_SELECT || problem.status == DUEQ_AUTH ||
                           problem.status == DUEQ_CONNECT || problem.passing == DUEQ__PASSES)) {
        conn->error = problem;
        if (step == DUEQ__LOGIN_SELECT && problem.status == DUEQ_SERVER)
            conn->error.status = DUEQ_DATABASE;
        return false;
    }
    if (step == DUEQ__LOGIN_MEMORY)
        dueq__server_info_memory(conn->server, conn->url, info);
    return step != DUEQ__LOGIN_VERSION || dueq__server_info_version(conn->url, info, &conn->error);
}

void dueq__login_pump(struct dueq__conn *conn) {
    struct dueq__reply *reply;
    bool good = true;
    while (good && conn->login_at < conn->login_count && (reply = dueq__conn_reply(conn))) {
        good = take_step(conn, conn->login[conn->login_at++], reply);
        dueq__reply_free(reply);
    }
    if (!good)
        dueq__conn_close(conn);
    else if (conn->state == DUEQ__CONN_LOGIN && conn->login_at == conn->login_count)
        conn->state = DUEQ__CONN_READY;
}
