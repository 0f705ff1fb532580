/*
 * Decides which connections reach the HTTP server. libmicrohttpd starts a thread for each
 * connection, waits for headers as long as bytes come, and accepts headers that proxies read
 * differently. So libmicrohttpd gets a connection only when all headers of its request have come in
 * time and are well formed, and when there is room for the connection. Each connection carries one
 * request.
 */
#ifndef DUEQ_CLI_ADMISSION_H
#define DUEQ_CLI_ADMISSION_H

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>

#include "http.h"

enum {
    ADMISSION_WAITING = 256, /* connections that wait for their headers or for room */
    /* One address may have this many waiting connections, and this many admitted without token. */
    ADMISSION_PER_ADDRESS = 64,
    /* Connections without the token, of HTTP_MAX_CONNECTIONS. The others need the token. */
    ADMISSION_UNTRUSTED = 96,
    ADMISSION_HEAD_MS = 5000,     /* from accept() until all headers have come */
    ADMISSION_REQUEST_MS = 60000, /* from accept() until the whole request has come */
    ADMISSION_MAX_HEAD = 16384    /* bytes of the headers */
};

struct connection {
    int socket;
    uint64_t address; /* of IPv6 the first 64 bits: one host may have all addresses behind them */
    int64_t since_ms; /* accept() returned the connection then */
    /* Once admitted: the connection is shut down then. INT64_MAX: the request has come whole. */
    int64_t until_ms;
    size_t seen;  /* header bytes that have come */
    bool ready;   /* all headers have come: the connection waits for room */
    bool trusted; /* its request has the token */
};

struct admission {
    int listener;
    int wake[2]; /* a pipe; [0] is readable when an admitted connection has ended */
    const struct http_service *service;
    struct MHD_Daemon *daemon;
    struct connection waiting[ADMISSION_WAITING]; /* the longest wait first */
    size_t waiting_count;
    /* until then no connection is accepted: accept() failed, for lack of descriptors */
    int64_t rest_ms;
    pthread_mutex_t lock; /* guards the members below: libmicrohttpd's threads end connections */
    struct connection admitted[HTTP_MAX_CONNECTIONS];
    size_t admitted_count;
};

/* False: errno says why. The caller sets the daemon before the first admission_poll(). */
bool admission_open(struct admission *admission, int listener, const struct http_service *service);
/*
 * Waits for an event and handles it: a new connection, headers, an ended connection, a deadline.
 * The mask is the thread's signal mask during the wait: a signal that the mask lets through ends
 * the wait.
 */
void admission_poll(struct admission *admission, const sigset_t *mask);
/*
 * The request of an admitted connection has come whole. From now on the connection has no deadline.
 */
void admission_received(struct admission *admission, int socket);
/* An admitted connection has ended; its descriptor is still open. */
void admission_closed(struct admission *admission, int socket);
/* Closes the waiting connections and the listener. Call this before the daemon stops. */
void admission_close_waiting(struct admission *admission);
/* Frees the rest, after the daemon has stopped. */
void admission_end(struct admission *admission);

#endif
