#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tls.h"

/*
 * OpenSSL reads and writes by dueq__socket_read() and _write(), as its own functions would raise
 * SIGPIPE. These say "not ready" for a socket that has ended. The connection itself looks for the
 * end.
 */
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

/* OpenSSL needs a flush, which has nothing to do. Other requests are refused. */
static long bio_control(BIO *bio, int command, long number, void *data) {
    (void)bio;
    (void)number;
    (void)data;
    return command == BIO_CTRL_FLUSH;
}

dueq_status dueq__tls_fail(struct dueq__error *error, const char *what) {
    char reason[256] = "unknown reason";
    unsigned long code = ERR_get_error();
    if (code)
        ERR_error_string_n(code, reason, sizeof reason);
    ERR_clear_error();
    return dueq__fail(error, DUEQ_TLS, "%s: %s", what, reason);
}

/*
 * The certificate must have the host, or the IP address, as a subjectAltName. Its common name does
 * not count: the name constraints of an authority do not limit it (RFC 6125, 6.4.4).
 */
static bool expect_peer(SSL *ssl, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* False: OpenSSL failed, as without memory. */
static bool set_up(struct dueq__tls *tls, struct dueq__socket *socket) {
    BIO *bio = NULL;
    tls->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "dueq");
    if (!tls->method || BIO_meth_set_write(tls->method, bio_write) != 1 ||
        BIO_meth_set_read(tls->method, bio_read) != 1 ||
        BIO_meth_set_ctrl(tls->method, bio_control) != 1 ||
        !(tls->ssl = dueq__tls_context_new_ssl(tls->context)) ||
        SSL_set_app_data(tls->ssl, tls) != 1 || !(bio = BIO_new(tls->method)))
        return false;
    BIO_set_data(bio, socket);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_mode(tls->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, NULL);
    SSL_set_connect_state(tls->ssl);
    return true;
}

static bool name_peer(struct dueq__tls *tls, const char *name, struct dueq__address address) {
    size_t room = strlen(name) + strlen(address.host) + sizeof "  -2147483648";
    tls->peer = malloc(room);
    if (tls->peer)
        snprintf(tls->peer, room, "%s %s %d", name, address.host, address.port);
    return tls->peer;
}

static void begin(struct dueq__tls *tls, const char *name, struct dueq__socket *socket,
                  struct dueq__error *error) {
    ERR_clear_error();
    tls->context = dueq__tls_context_acquire(tls->url, error);
    if (!tls->context)
        return;
    if (!set_up(tls, socket))
        dueq__tls_fail(error, "cannot set TLS up");
    else if (!expect_peer(tls->ssl, name))
        dueq__tls_fail(error, "cannot set the expected name of the server");
    else
        dueq__tls_session_resume(tls);
}

struct dueq__tls *dueq__tls_new(const struct dueq__url *url, struct dueq__address address,
                                struct dueq__socket *socket, struct dueq__error *error) {
    const char *name = url->tls_name ? url->tls_name : address.host;
    struct dueq__tls *tls = calloc(1, sizeof *tls);
    if (!tls || !name_peer(tls, name, address)) {
        free(tls);
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return NULL;
    }
    tls->url = url;
    dueq__tls_call_begin();
    begin(tls, name, socket, error);
    dueq__tls_call_end();
    if (error->status) {
        dueq__tls_free(tls);
        return NULL;
    }
    return tls;
}

void dueq__tls_free(struct dueq__tls *tls) {
    if (!tls)
        return;
    dueq__tls_call_begin();
    /* Without this OpenSSL would not let a later connection resume the session. */
    if (tls->ssl)
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    dueq__tls_context_release(tls->context);
    dueq__tls_call_end();
    BIO_meth_free(tls->method);
    free(tls->peer);
    free(tls);
}

/* Whether OpenSSL waits for the socket. Otherwise it has failed. */
static bool would_block(const struct dueq__tls *tls, int result) {
    int reason = SSL_get_error(tls->ssl, result);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
}

/* 1: done; 0: not yet; -1: failed, error is set. */
static int shake_hands(struct dueq__tls *tls, struct dueq__error *error) {
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1 || would_block(tls, result))
        return result == 1;
    long verified = SSL_get_verify_result(tls->ssl);
    if (verified == X509_V_OK)
        dueq__tls_fail(error, "the TLS handshake failed");
    else
        dueq__fail(error, DUEQ_TLS, "the server's certificate is refused: %s",
                   X509_verify_cert_error_string(verified));
    return -1;
}

int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error) {
    dueq__tls_call_begin();
    int done = shake_hands(tls, error);
    dueq__tls_call_end();
    return done;
}

bool dueq__tls_forget_session(struct dueq__tls *tls) {
    bool offered = tls->certificate_end;
    dueq__tls_call_begin();
    if (offered)
        dueq__tls_session_forget(tls);
    dueq__tls_call_end();
    return offered;
}

bool dueq__tls_wants_to_write(const struct dueq__tls *tls) { return SSL_want_write(tls->ssl); }

size_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size, struct dueq__error *error) {
    dueq__tls_call_begin();
    ERR_clear_error();
    int got = SSL_read(tls->ssl, data, (int)size);
    /*
     * With TLS 1.3 a server checks the client's certificate after the client has finished the
     * handshake. So a missing certificate shows here.
     */
    if (got <= 0 && SSL_get_error(tls->ssl, got) == SSL_ERROR_SSL)
        dueq__tls_fail(error, tls->url->cert
                                  ? "the server ended the TLS session"
                                  : "the server ended the TLS session (the URL names no client "
                                    "certificate: cert and key)");
    else if (got <= 0 && !would_block(tls, got))
        dueq__fail(error, DUEQ_CLOSED, "%s ended the TLS session", tls->url->shown);
    dueq__tls_call_end();
    return got > 0 ? (size_t)got : 0;
}

size_t dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size) {
    dueq__tls_call_begin();
    ERR_clear_error();
    int done = SSL_write(tls->ssl, data, size < INT_MAX ? (int)size : INT_MAX);
    dueq__tls_call_end();
    return done > 0 ? (size_t)done : 0;
}
