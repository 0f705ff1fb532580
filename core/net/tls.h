/* TLS of a connection (tls.c), and what all connections of a process share (tls_context.c). */
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
    time_t certificate_end; /* when the first certificate of the server's chain ends; 0: unknown */
};

/* Sets error to `what` and OpenSSL's reason, and returns TLS. */
dueq_status dueq__tls_fail(struct dueq__error *error, const char *what);

/*
 * Before and after calls of OpenSSL, which do not block: a fork() by another thread waits until
 * they have ended. A thread does not begin again before it has ended. The functions below are
 * called between begin and end.
 */
void dueq__tls_call_begin(void);
void dueq__tls_call_end(void);

/* A reference to the context of the URL's files, as they are now; NULL: error is set. */
struct dueq__tls_context *dueq__tls_context_acquire(const struct dueq__url *url,
                                                    struct dueq__error *error);
/* NULL is safe. */
void dueq__tls_context_release(struct dueq__tls_context *context);
/* A new SSL of the context, which is freed before the context is released; NULL: OpenSSL failed. */
SSL *dueq__tls_context_new_ssl(struct dueq__tls_context *context);

/* Lets the handshake resume the last session with that peer, if there is one. */
void dueq__tls_session_resume(struct dueq__tls *tls);
void dueq__tls_session_forget(const struct dueq__tls *tls);

#endif
