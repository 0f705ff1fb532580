/* What a connection is made of: between conn.c and login.c, nobody else includes it. */
#ifndef DUEQ_CONN_PARTS_H
#define DUEQ_CONN_PARTS_H

#include "net.h"

enum dueq__login {
    DUEQ__LOGIN_AUTH,
    DUEQ__LOGIN_SELECT,
    DUEQ__LOGIN_NAME,
    DUEQ__LOGIN_ID,
    DUEQ__LOGIN_VERSION,
    DUEQ__LOGIN_MEMORY,
    DUEQ__LOGIN_STEPS
};

struct dueq__conn {
    const struct dueq__url *url;
    const char *name;            /* shown by the server's CLIENT LIST */
    struct dueq__server *server; /* to be filled in; NULL: not by this one */
    enum dueq__conn_state state;
    struct dueq__socket socket;
    int epoll;        /* which the socket leaves when it is closed; -1: none */
    bool input_ended; /* all of it is with the reader, and the error says why */
    struct dueq__tls *tls;
    struct dueq__reader *reader;
    struct dueq__resolution *resolution; /* of the host, until one of its addresses is connected */
    const struct addrinfo *address;      /* the one under way */
    char *out;
    size_t out_at, out_size, out_room;
    enum dueq__login login[DUEQ__LOGIN_STEPS]; /* the replies to come while logging in */
    size_t login_at, login_count;
    int64_t id;
    bool named; /* the server knows it by our name */
    struct dueq__error error;
};

/* Sends what logs in; where that cannot be, the connection is closed and its error set. */
void dueq__login_begin(struct dueq__conn *conn);
/* Takes the answers in. After the last the connection is ready, or closed with the error of one. */
void dueq__login_pump(struct dueq__conn *conn);

#endif
