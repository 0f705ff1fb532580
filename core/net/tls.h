/* The inside of a TLS connection, for tls.c and its tests. */
#ifndef DUEQ_TLS_H
#define DUEQ_TLS_H

#include <openssl/ssl.h>

#include "net.h"

struct dueq__tls {
    const struct dueq__url *url;
    struct dueq__tls_context *context;
    BIO_METHOD *method;
    SSL *ssl;
    char *peer;             /* the name that is verified, the host and the port */
    time_t certificate_end; /* when the first certificate of the server's chain ends; 0: unknown */
};

/*
 * The file of the CA certificates that a URL without `ca` trusts: $SSL_CERT_FILE, else the first of
 * `bundles` that can be read, else the program's fallback, if that can be read, else bundles[0].
 * bundles: paths; NULL after the last one.
 */
const char *dueq__tls_ca_file(const char *const bundles[]);

#endif
