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

#endif
