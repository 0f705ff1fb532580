#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

/*
 * The protocol engine works on two memory buffers, never on the socket: so the connection's one read
 * and write path (deadlines, MSG_NOSIGNAL) serves TLS too.
 */
struct dueq__tls {
    SSL_CTX *context;
    SSL *ssl;
    BIO *from_socket, *to_socket; /* owned by ssl */
    bool certified;               /* with a client certificate */
};

static dueq_status fail(struct dueq__error *error, const char *what) {
    char reason[256] = "unknown reason";
    unsigned long code = ERR_get_error();
    if (code)
        ERR_error_string_n(code, reason, sizeof reason);
    ERR_clear_error();
    return dueq__fail(error, DUEQ_TLS, "%s: %s", what, reason);
}

static bool load_files(SSL_CTX *context, const struct dueq__url *url, struct dueq__error *error) {
    char what[400];
    if (url->ca ? SSL_CTX_load_verify_locations(context, url->ca, NULL) != 1
                : SSL_CTX_set_default_verify_paths(context) != 1) {
        snprintf(what, sizeof what, "cannot read the CA certificates (%s)",
                 url->ca ? url->ca : "system");
        return fail(error, what) == DUEQ_OK;
    }
    if (url->cert && SSL_CTX_use_certificate_chain_file(context, url->cert) != 1) {
        snprintf(what, sizeof what, "cannot read the client's certificate (%s)", url->cert);
        return fail(error, what) == DUEQ_OK;
    }
    if (url->key && SSL_CTX_use_PrivateKey_file(context, url->key, SSL_FILETYPE_PEM) != 1) {
        snprintf(what, sizeof what, "cannot read the client's key (%s)", url->key);
        return fail(error, what) == DUEQ_OK;
    }
    return true;
}

/* The certificate must name the host, or the address where the URL has an address. */
static bool expect_peer(SSL *ssl, const char *host) {
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

struct dueq__tls *dueq__tls_new(const struct dueq__url *url, struct dueq__error *error) {
    struct dueq__tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return NULL;
    }
    ERR_clear_error();
    tls->context = SSL_CTX_new(TLS_client_method());
    if (!tls->context || SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1) {
        fail(error, "cannot set TLS up");
        goto failed;
    }
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
    if (!load_files(tls->context, url, error))
        goto failed;
    tls->ssl = SSL_new(tls->context);
    tls->from_socket = BIO_new(BIO_s_mem());
    tls->to_socket = BIO_new(BIO_s_mem());
    if (!tls->ssl || !tls->from_socket || !tls->to_socket) {
        BIO_free(tls->from_socket);
        BIO_free(tls->to_socket);
        fail(error, "cannot set TLS up");
        goto failed;
    }
    tls->certified = url->cert != NULL;
    SSL_set_bio(tls->ssl, tls->from_socket, tls->to_socket);
    SSL_set_connect_state(tls->ssl);
    if (!expect_peer(tls->ssl, url->host)) {
        fail(error, "cannot set the expected name of the server");
        goto failed;
    }
    return tls;

failed:
    dueq__tls_free(tls);
    return NULL;
}

void dueq__tls_free(struct dueq__tls *tls) {
    if (!tls)
        return;
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    free(tls);
}

int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error) {
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        return 1;
    int reason = SSL_get_error(tls->ssl, result);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE)
        return 0;
    long verified = SSL_get_verify_result(tls->ssl);
    if (verified != X509_V_OK) {
        ERR_clear_error();
        dueq__fail(error, DUEQ_TLS, "the server's certificate is refused: %s",
                   X509_verify_cert_error_string(verified));
    } else {
        fail(error, "the TLS handshake failed");
    }
    return -1;
}

bool dueq__tls_feed(struct dueq__tls *tls, const void *data, size_t size) {
    return BIO_write(tls->from_socket, data, (int)size) == (int)size;
}

ssize_t dueq__tls_drain(struct dueq__tls *tls, void *data, size_t size) {
    int got = BIO_read(tls->to_socket, data, (int)size);
    return got > 0 ? got : 0;
}

ssize_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size, struct dueq__error *error) {
    ERR_clear_error();
    int got = SSL_read(tls->ssl, data, (int)size);
    if (got > 0)
        return got;
    int reason = SSL_get_error(tls->ssl, got);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE)
        return 0;
    /* By TLS 1.3 a server looks at the client's certificate when the handshake is over for the client. */
    if (reason == SSL_ERROR_SSL)
        fail(error, tls->certified ? "the server ended the TLS session"
                                   : "the server ended the TLS session (the URL names no client "
                                     "certificate: cert and key)");
    return -1;
}

bool dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size) {
    ERR_clear_error();
    return SSL_write(tls->ssl, data, (int)size) == (int)size;
}
