/*
 * Admits connections to the HTTP server. libmicrohttpd has a thread for each connection, waits for
 * headers as long as bytes come, and overlooks what proxies read otherwise. So it gets a connection
 * only when the headers of its request have come, in time and well formed, and there is room for
 * it; each connection has one request.
 */
#ifndef DUEQ_CLI_ADMISSION_H
#define DUEQ_CLI_ADMISSION_H

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>

#include "http.h"

enum {
    ADMISSION_WAITING = 256, /* connections whose headers are under way */
    ADMISSION_PER_ADDRESS =
        64, /* of one address: so many of these, and so many without the token within */
    ADMISSION_UNTRUSTED = 96,     /* of HTTP_MAX_CONNECTIONS; the rest is for who has the token */
    ADMISSION_HEAD_MS = 5000,     /* the headers must have come by then, */
    ADMISSION_REQUEST_MS = 60000, /* and all of the request by then */
    ADMISSION_MAX_HEAD = 16384
};

/* A connection. */
struct connection {
    int socket;
    uint64_t address; /* of IPv6 the network, which one host has alone */
    int64_t since_ms; /* it was accepted then */
    int64_t until_ms; /* within: it is ended then. INT64_MAX: its request has come */
    size_t seen;      /* bytes of its headers that have come */
    bool ready;       /* they are whole: it waits for room */
    bool trusted;     /* it has the token */
};

struct admission {
    int listener, wake; /* wake: readable when a connection within has ended */
    const struct http_service *service;
    struct MHD_Daemon *daemon;
    struct connection waiting[ADMISSION_WAITING]; /* the oldest first */
    size_t waiting_count;
    int64_t rest_ms;      /* no connection is accepted before: there were no descriptors */
    pthread_mutex_t lock; /* of what follows: libmicrohttpd's threads end connections */
    struct connection admitted[HTTP_MAX_CONNECTIONS];
    size_t admitted_count;
};

/* False: errno says why. Set the daemon before the first turn. */
bool admission_open(struct admission *admission, int listener, const struct http_service *service);
/*
 * Waits for something to do and does it. With this mask of signals while it waits: any of them ends
 * the wait.
 */
void admission_poll(struct admission *admission, const sigset_t *mask);
/* The request of a connection within has come whole: now only its answer takes time. */
void admission_received(struct admission *admission, int socket);
/* A connection within has ended; its descriptor is still open. */
void admission_closed(struct admission *admission, int socket);
/* Closes what waits. Before the daemon stops. */
void admission_close_waiting(struct admission *admission);
/* When the daemon has stopped. */
void admission_end(struct admission *admission);

#endif
