/*
 * A proxy between client and server that cuts connections, or lets them hang, at a chosen moment.
 */
#ifndef PROXY_H
#define PROXY_H

#include "support.h"

enum cut {
    CUT_NOTHING,
    CUT_REQUEST, /* the request reaches the server, its answer is lost with the connection */
    CUT_BEFORE,  /* the request is lost with the connection */
    /* the request reaches the server; from then on the connection is open and silent */
    HANG_REQUEST,
    HANG_BEFORE /* the same, and the request does not reach it */
};

struct proxy {
    char url[160];
    char socket[128];
    pid_t pid;
    struct proxy_rules *rules; /* shared with the proxy's process */
};

void proxy_start(struct proxy *proxy, const struct server *server);
void proxy_stop(struct proxy *proxy);
/* Cuts the next `times` connections on which `word` is sent, or lets them hang. */
void proxy_cut(struct proxy *proxy, enum cut cut, const char *word, int times);
/* How many it has cut, or let hang, since the last proxy_cut(). */
int proxy_cuts(const struct proxy *proxy);

#endif
