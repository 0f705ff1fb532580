#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

/*
 * OpenSSL reads and writes by the connection's own functions: its own would raise SIGPIPE. To it a socket that
 * has ended is one that is not ready; the connection sees the end.
 */
struct dueq__tls {
    const struct dueq__url *url;
    BIO_METHOD *method;
    SSL_CTX *context;
    SSL *ssl;
};

static int bio_write(BIO *bio, const char *data, int size) {
    size_t done = dueq__socket_write(BIO_get_data(bio), data, (size_t)size);
    BIO_clear_retry_flags(bio);
    if (done == 0)
        BIO_set_retry_write(bio);
    return done ? (int)done : -1;
}

static int bio_read(BIO *bio, char *data, int size) {
    size_t done = dueq__socket_read(BIO_get_data(bio), data, (size_t)size);
    BIO_clear_retry_flags(bio);
    if (done == 0)
        BIO_set_retry_read(bio);
    return done ? (int)done : -1;
}

/* OpenSSL asks for a flush, and what it does not know is refused. */
static long bio_control(BIO *bio, int command, long number, void *data) {
    (void)bio;
    (void)number;
    (void)data;
    return command == BIO_CTRL_FLUSH;
}

static dueq_status fail(struct dueq__error *error, const char *what) {
    char reason[256] = "unknown reason";
    unsigned long code = ERR_get_error();
    if (code)
        ERR_error_string_n(code, reason, sizeof reason);
    ERR_clear_error();
    return dueq__fail(error, DUEQ_TLS, "%s: %s", what, reason);
}

/* False: a file of the URL cannot be used, and error is set. */
static bool load_files(SSL *ssl, const struct dueq__url *url, struct dueq__error *error) {
    SSL_CTX *context = SSL_get_SSL_CTX(ssl);
    const char *what = NULL, *file = url->ca ? url->ca : "system";
    char text[400];
    if (url->ca ? SSL_CTX_load_verify_locations(context, url->ca, NULL) != 1
                : SSL_CTX_set_default_verify_paths(context) != 1)
        what = "CA certificates";
    else if ((file = url->cert) && SSL_use_certificate_chain_file(ssl, file) != 1)
        what = "client's certificate";
    else if ((file = url->key) && SSL_use_PrivateKey_file(ssl, file, SSL_FILETYPE_PEM) != 1)
        what = "client's key";
    if (!what)
        return true;
    snprintf(text, sizeof text, "cannot read the %s (%s)", what, file);
    fail(error, text);
    return false;
}

/* The certificate must name the host, or the address where that is one. */
static bool expect_peer(SSL *ssl, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* Sets up all but what the URL says; false: out of memory, or OpenSSL cannot. */
static bool set_up(struct dueq__tls *tls, struct dueq__socket *socket) {
    BIO *bio = NULL;
    tls->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "dueq");
    tls->context = SSL_CTX_new(TLS_client_method());
    if (!tls->method || !tls->context ||
        SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1 ||
        BIO_meth_set_write(tls->method, bio_write) != 1 ||
        BIO_meth_set_read(tls->method, bio_read) != 1 ||
        BIO_meth_set_ctrl(tls->method, bio_control) != 1 || !(tls->ssl = SSL_new(tls->context)) ||
        !(bio = BIO_new(tls->method)))
        return false;
    BIO_set_data(bio, socket);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_mode(tls->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, NULL);
    SSL_set_connect_state(tls->ssl);
    return true;
}

struct dueq__tls *dueq__tls_new(const struct dueq__url *url, const char *host,
                                struct dueq__socket *socket, struct dueq__error *error) {
    struct dueq__tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return NULL;
    }
    tls->url = url;
    ERR_clear_error();
    if (!set_up(tls, socket))
        fail(error, "cannot set TLS up");
    else if (load_files(tls->ssl, url, error) &&
             !expect_peer(tls->ssl, url->tls_name ? url->tls_name : host))
        fail(error, "cannot set the expected name of the server");
    if (error->status) {
        dueq__tls_free(tls);
        return NULL;
    }
    return tls;
}

void dueq__tls_free(struct dueq__tls *tls) {
    if (!tls)
        return;
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->method);
    free(tls);
}

/* Does it wait for the socket, rather than have failed? */
static bool waits(const struct dueq__tls *tls, int result) {
    int reason = SSL_get_error(tls->ssl, result);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
}

int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error) {
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1 || waits(tls, result))
        return result == 1;
    long verified = SSL_get_verify_result(tls->ssl);
    if (verified == X509_V_OK)
        fail(error, "the TLS handshake failed");
    else
        dueq__fail(error, DUEQ_TLS, "the server's certificate is refused: %s",
                   X509_verify_cert_error_string(verified));
    return -1;
}

bool dueq__tls_wants_to_write(const struct dueq__tls *tls) { return SSL_want_write(tls->ssl); }

size_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size, struct dueq__error *error) {
    ERR_clear_error();
    int got = SSL_read(tls->ssl, data, (int)size);
    if (got > 0)
        return (size_t)got;
    /* By TLS 1.3 a server looks at the client's certificate when the handshake is over for the client. */
    if (SSL_get_error(tls->ssl, got) == SSL_ERROR_SSL)
        fail(error, tls->url->cert ? "the server ended the TLS session"
                                   : "the server ended the TLS session (the URL names no client "
                                     "certificate: cert and key)");
    else if (!waits(tls, got))
        dueq__fail(error, DUEQ_CLOSED, "%s ended the TLS session", tls->url->shown);
    return 0;
}

size_t dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size) {
    ERR_clear_error();
    int done = SSL_write(tls->ssl, data, size < INT_MAX ? (int)size : INT_MAX);
    return done > 0 ? (size_t)done : 0;
}
