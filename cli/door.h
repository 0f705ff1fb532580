/*
 * The door of the HTTP server. libmicrohttpd has a thread for each connection, waits for headers as long as bytes come,
 * and overlooks what proxies read otherwise. So it gets a connection only when the headers of its request have come, in
 * time and well formed, and there is room for it; each connection has one request.
 */
#ifndef DUEQ_CLI_DOOR_H
#define DUEQ_CLI_DOOR_H

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>

#include "http.h"

enum {
    DOOR_WAITING = 256, /* connections whose headers are under way */
    DOOR_OF_ADDRESS =
        64, /* of one address: so many of these, and so many without the token within */
    DOOR_UNTRUSTED = 96,     /* of HTTP_MAX_CONNECTIONS; the rest is for who has the token */
    DOOR_HEAD_MS = 5000,     /* the headers must have come by then, */
    DOOR_REQUEST_MS = 60000, /* and all of the request by then */
    DOOR_MAX_HEAD = 16384
};

/* A connection. */
struct guest {
    int socket;
    uint64_t address; /* of IPv6 the network, which one host has alone */
    int64_t since_ms; /* it was accepted then */
    int64_t until_ms; /* within: it is ended then. INT64_MAX: its request has come */
    size_t seen;      /* bytes of its headers that have come */
    bool ready;       /* they are whole: it waits for room */
    bool trusted;     /* it has the token */
};

struct door {
    int listener, wake; /* wake: readable when a connection within has ended */
    const struct http_service *service;
    struct MHD_Daemon *daemon;
    struct guest waiting[DOOR_WAITING]; /* the oldest first */
    size_t waiting_count;
    int64_t rest_ms;      /* no connection is accepted before: there were no descriptors */
    pthread_mutex_t lock; /* of what follows: libmicrohttpd's threads end connections */
    struct guest within[HTTP_MAX_CONNECTIONS];
    size_t within_count;
};

/* False: errno says why. Set the daemon before the first turn. */
bool door_open(struct door *door, int listener, const struct http_service *service);
/* Waits for something to do and does it. With this mask of signals while it waits: any of them ends the wait. */
void door_turn(struct door *door, const sigset_t *mask);
/* The request of a connection within has come whole: now only its answer takes time. */
void door_received(struct door *door, int socket);
/* A connection within has ended; its descriptor is still open. */
void door_left(struct door *door, int socket);
/* Closes what waits. Before the daemon stops. */
void door_shut(struct door *door);
/* When the daemon has stopped. */
void door_end(struct door *door);

#endif
