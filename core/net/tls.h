/*
 * The TLS of a connection (tls.c), and what the connections of a process share (tls_context.c).
 */
#ifndef DUEQ_TLS_H
#define DUEQ_TLS_H

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <time.h>

#include "net.h"

struct dueq__tls_context;

struct dueq__tls {
    const struct dueq__url *url;
    struct dueq__tls_context *context;
    BIO_METHOD *method;
    SSL *ssl;
    char *peer;             /* the name that is verified, the host and the port */
    time_t certificate_end; /* of the server's chain, the earliest; 0: not known */
};

/* Notes what OpenSSL says, behind `what`. */
dueq_status dueq__tls_fail(struct dueq__error *error, const char *what);

/*
 * Around calls of OpenSSL, which do not block: another thread's fork() waits until they have ended.
 * They do not nest, and all below is called between them.
 */
void dueq__tls_call_begin(void);
void dueq__tls_call_end(void);

/* The context of the URL's files as they are now, with one more holder; NULL: error is set. */
struct dueq__tls_context *dueq__tls_context_acquire(const struct dueq__url *url,
                                                    struct dueq__error *error);
/* NULL is safe. */
void dueq__tls_context_release(struct dueq__tls_context *context);
/* A connection of it, to be freed before it is released; NULL: OpenSSL cannot. */
SSL *dueq__tls_context_new_ssl(struct dueq__tls_context *context);

/* Has the handshake resume the last session with that peer, if there is one. */
void dueq__tls_session_resume(struct dueq__tls *tls);
void dueq__tls_session_forget(const struct dueq__tls *tls);

#endif
