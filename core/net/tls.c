#include <dirent.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tls.h"

/* A context keeps the sessions of this many servers. */
#define MAX_SESSIONS 256

enum { CA, CERT, KEY, FILES };

/* The files that a URL names, and stamps, which differ once a file has changed. */
struct files {
    char *names[FILES];       /* NULL: the URL names none; for CA, the system's file is used */
    int64_t stamps[FILES][5]; /* from stat(2) */
};

/* A session. With it a later handshake with the same peer needs no certificates. */
struct session {
    struct session *next;
    SSL_SESSION *ssl;
    time_t certificate_end;
    char peer[];
};

/* Connections with the same files share a context: reading CA files is slower than a handshake. */
struct dueq__tls_context {
    struct dueq__tls_context *next;
    unsigned refs; /* of the list `contexts` and of connections */
    struct files files;
    SSL_CTX *ssl;
    struct session *sessions; /* the newest first */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `contexts` and their members */
static struct dueq__tls_context *contexts;

/* fork() */

/*
 * If another thread held a lock of OpenSSL, or `lock`, at a fork, the child would wait for that
 * lock for ever. So a thread holds `calls` for reading during each call of OpenSSL, and takes
 * `lock` only then. fork() takes `calls` for writing: it waits until the calls have ended, which do
 * not block. By default glibc's lock prefers readers: then calls that overlap could keep a fork
 * waiting for ever.
 */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define CALLS_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define CALLS_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif

static pthread_rwlock_t calls = CALLS_INITIALIZER; /* read: a call of OpenSSL; write: a fork */

static void begin_call(void) {
    pthread_rwlock_rdlock(&calls);
    ERR_clear_error();
}

static void end_call(void) { pthread_rwlock_unlock(&calls); }

static void before_fork(void) { pthread_rwlock_wrlock(&calls); }

/*
 * The lock records its holder's thread id. The child's thread has another id, so it makes a new
 * lock.
 */
static void in_child(void) { calls = (pthread_rwlock_t)CALLS_INITIALIZER; }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, end_call, in_child);
}

/* Sets error to `what` and OpenSSL's reason. */
static void fail(struct dueq__error *error, const char *what) {
    char reason[256] = "unknown reason";
    unsigned long code = ERR_get_error();
    if (code)
        ERR_error_string_n(code, reason, sizeof reason);
    ERR_clear_error();
    dueq__fail(error, DUEQ_TLS, "%s: %s", what, reason);
}

/* Contexts */

/* The caller holds the lock. */
static void release(struct dueq__tls_context *context) {
    if (!context || --context->refs)
        return;
    for (struct session *first; (first = context->sessions);) {
        context->sessions = first->next;
        SSL_SESSION_free(first->ssl);
        free(first);
    }
    SSL_CTX_free(context->ssl);
    for (int i = 0; i < FILES; i++)
        free(context->files.names[i]);
    free(context);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The system's CA certificates */

const char *dueq__tls_ca_file(const char *const bundles[]) {
    const char *named = getenv(X509_get_default_cert_file_env()), *fallback = dueq__fallback_ca();
    if (named)
        return named;
    for (const char *const *bundle = bundles; *bundle; bundle++)
        if (access(*bundle, R_OK) == 0)
            return *bundle;
    return fallback && access(fallback, R_OK) == 0 ? fallback : bundles[0];
}

/* An OpenSSL that is linked into a program may have been built for another system. */
static const char *system_file(void) {
    const char *const bundles[] = {
        X509_get_default_cert_file(),
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, Red Hat */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* the same, newer */
        "/etc/ssl/ca-bundle.pem",                            /* SUSE */
        NULL,
    };
    return dueq__tls_ca_file(bundles);
}

/* Whether OpenSSL finds certificates in its folder, by names such as 3513523f.0. */
static bool has_folder(void) {
    if (getenv(X509_get_default_cert_dir_env()))
        return true;
    DIR *folder = opendir(X509_get_default_cert_dir());
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found =
            strspn(entry->d_name, "0123456789abcdef") == 8 && strcmp(entry->d_name + 8, ".0") == 0;
    if (folder)
        closedir(folder);
    return found;
}

static bool load_system(SSL_CTX *ssl) {
    const char *file = system_file();
    if (getenv(X509_get_default_cert_file_env()) ||
        strcmp(file, X509_get_default_cert_file()) == 0 || has_folder())
        return SSL_CTX_set_default_verify_paths(ssl) == 1;
    return SSL_CTX_load_verify_locations(ssl, file, NULL) == 1;
}

/* The URL's files as they are now. The names point into the URL. */
static struct files files_of(const struct dueq__url *url) {
    struct files files = {0};
    const char *names[FILES] = {url->ca, url->cert, url->key};
    for (int i = 0; i < FILES; i++) {
        struct stat seen;
        const char *path = names[i];
        files.names[i] = (char *)(uintptr_t)path;
        if (i == CA && !path)
            path = system_file();
        if (!path || stat(path, &seen) != 0)
            continue;
        const int64_t stamp[] = {(int64_t)seen.st_dev, (int64_t)seen.st_ino, seen.st_size,
                                 seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec};
        memcpy(files.stamps[i], stamp, sizeof stamp);
    }
    return files;
}

/* The context made of `files`; NULL: none. Frees a context of which a file has changed. */
static struct dueq__tls_context *find(const struct files *files) {
    for (struct dueq__tls_context **at = &contexts, *found; (found = *at); at = &found->next) {
        bool named = true;
        for (int i = 0; i < FILES; i++)
            named = named && same_text(found->files.names[i], files->names[i]);
        if (!named)
            continue;
        if (memcmp(found->files.stamps, files->stamps, sizeof files->stamps) == 0)
            return found;
        *at = found->next;
        release(found);
        return NULL;
    }
    return NULL;
}

static int keep_session(SSL *ssl, SSL_SESSION *kept);

/* False: error is set. */
static bool load(struct dueq__tls_context *made, const struct dueq__url *url,
                 struct dueq__error *error) {
    SSL_CTX *ssl = made->ssl = SSL_CTX_new(TLS_client_method());
    const char *what = NULL, *file = url->ca ? url->ca : "system";
    char text[400];
    if (!ssl || SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) != 1) {
        fail(error, "cannot set TLS up");
        return false;
    }
    if (url->ca ? SSL_CTX_load_verify_locations(ssl, file, NULL) != 1 : !load_system(ssl))
        what = "cannot read the CA certificates";
    else if ((file = url->cert) && SSL_CTX_use_certificate_chain_file(ssl, file) != 1)
        what = "cannot read the client's certificate";
    else if ((file = url->key) && SSL_CTX_use_PrivateKey_file(ssl, file, SSL_FILETYPE_PEM) != 1)
        what = "cannot read the client's key";
    if (what) {
        snprintf(text, sizeof text, "%s (%s)", what, file);
        fail(error, text);
        return false;
    }
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ssl, keep_session);
    return true;
}

static struct dueq__tls_context *new_context(const struct dueq__url *url, const struct files *files,
                                             struct dueq__error *error) {
    struct dueq__tls_context *made = calloc(1, sizeof *made);
    bool copied = made;
    if (made)
        *made = (struct dueq__tls_context){.refs = 1, .files = *files};
    for (int i = 0; made && i < FILES; i++) {
        made->files.names[i] = files->names[i] ? strdup(files->names[i]) : NULL;
        copied = copied && !made->files.names[i] == !files->names[i];
    }
    if (!copied)
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (!copied || !load(made, url, error)) {
        release(made);
        return NULL;
    }
    made->next = contexts;
    return contexts = made;
}

/* A reference to the context of the URL's files, as they are now; NULL: error is set. */
static struct dueq__tls_context *acquire(const struct dueq__url *url, struct dueq__error *error) {
    const struct files files = files_of(url);
    pthread_mutex_lock(&lock);
    struct dueq__tls_context *found = find(&files);
    if (!found)
        found = new_context(url, &files, error);
    if (found)
        found->refs++;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Sessions */

/* When the first certificate of the verified chain ends; 0: unknown. */
static time_t chain_end(const SSL *ssl) {
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    time_t now = time(NULL), end = 0;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        int days, seconds;
        if (ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(sk_X509_value(chain, i))) != 1)
            return 0;
        time_t ends = now + (time_t)days * 86400 + seconds;
        end = i == 0 || ends < end ? ends : end;
    }
    return end;
}

/*
 * The link to the session of this peer. If the first `most` sessions are of other peers: the link
 * to session number `most`. If the list ends before: the link at its end.
 */
static struct session **session_of(const struct dueq__tls *tls, int most) {
    struct session **at = &tls->context->sessions;
    while (*at && strcmp((*at)->peer, tls->peer) != 0 && --most)
        at = &(*at)->next;
    return at;
}

static void drop_session(struct session **at) {
    struct session *old = *at;
    if (!old)
        return;
    *at = old->next;
    SSL_SESSION_free(old->ssl);
    free(old);
}

/*
 * OpenSSL calls this with a new session: in a handshake (TLS 1.2), or when the server sends a
 * ticket (TLS 1.3). 1: the session is kept, and freed here.
 */
static int keep_session(SSL *ssl, SSL_SESSION *kept) {
    struct dueq__tls *tls = SSL_get_app_data(ssl);
    size_t size = strlen(tls->peer) + 1;
    if (!SSL_session_reused(ssl))
        tls->certificate_end = chain_end(ssl);
    struct session *made = tls->certificate_end ? malloc(sizeof *made + size) : NULL;
    if (!made)
        return 0;
    made->ssl = kept;
    made->certificate_end = tls->certificate_end;
    memcpy(made->peer, tls->peer, size);
    pthread_mutex_lock(&lock);
    drop_session(session_of(tls, MAX_SESSIONS));
    made->next = tls->context->sessions;
    tls->context->sessions = made;
    pthread_mutex_unlock(&lock);
    return 1;
}

/* A resumed session does not check the certificate again, so it ends with the certificate. */
static void resume_session(struct dueq__tls *tls) {
    pthread_mutex_lock(&lock);
    const struct session *known = *session_of(tls, INT_MAX);
    if (known && time(NULL) < known->certificate_end && SSL_set_session(tls->ssl, known->ssl) == 1)
        tls->certificate_end = known->certificate_end;
    pthread_mutex_unlock(&lock);
}

bool dueq__tls_forget_session(struct dueq__tls *tls) {
    begin_call();
    pthread_mutex_lock(&lock);
    if (tls->certificate_end)
        drop_session(session_of(tls, INT_MAX));
    pthread_mutex_unlock(&lock);
    end_call();
    return tls->certificate_end;
}

/* Connections */

/*
 * OpenSSL reads and writes by dueq__socket_read() and _write(), as its own functions would raise
 * SIGPIPE. OpenSSL sees a socket that has ended as not ready: conn.c looks for the end itself.
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

/* OpenSSL asks for a flush, which has nothing to do here. Other requests are refused. */
static long bio_control(BIO *bio, int command, long number, void *data) {
    (void)bio;
    (void)number;
    (void)data;
    return command == BIO_CTRL_FLUSH;
}

/*
 * The certificate must have the host, or the IP address, as a subjectAltName. Its common name does
 * not count: the name constraints of an authority do not limit it (RFC 6125, 6.4.4).
 */
static bool expect_peer(SSL *ssl, const char *host) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1)
        return true;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* False: OpenSSL failed, for example without memory. */
static bool set_up(struct dueq__tls *tls, struct dueq__socket *socket) {
    BIO *bio = NULL;
    tls->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "dueq");
    if (!tls->method || BIO_meth_set_write(tls->method, bio_write) != 1 ||
        BIO_meth_set_read(tls->method, bio_read) != 1 ||
        BIO_meth_set_ctrl(tls->method, bio_control) != 1 ||
        !(tls->ssl = SSL_new(tls->context->ssl)) || SSL_set_app_data(tls->ssl, tls) != 1 ||
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

static void set_up_for(struct dueq__tls *tls, const char *name, struct dueq__socket *socket,
                       struct dueq__error *error) {
    tls->context = acquire(tls->url, error);
    if (!tls->context)
        return;
    if (!set_up(tls, socket))
        fail(error, "cannot set TLS up");
    else if (!expect_peer(tls->ssl, name))
        fail(error, "cannot set the expected name of the server");
    else
        resume_session(tls);
}

struct dueq__tls *dueq__tls_new(const struct dueq__url *url, struct dueq__address address,
                                struct dueq__socket *socket, struct dueq__error *error) {
    const char *name = url->tls_name ? url->tls_name : address.host;
    const size_t room = strlen(name) + strlen(address.host) + sizeof "  -2147483648";
    struct dueq__tls *tls = calloc(1, sizeof *tls);
    if (!tls || !(tls->peer = malloc(room))) {
        free(tls);
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return NULL;
    }
    snprintf(tls->peer, room, "%s %s %d", name, address.host, address.port);
    tls->url = url;
    begin_call();
    set_up_for(tls, name, socket, error);
    end_call();
    if (!error->status)
        return tls;
    dueq__tls_free(tls);
    return NULL;
}

void dueq__tls_free(struct dueq__tls *tls) {
    if (!tls)
        return;
    begin_call();
    /* Without this OpenSSL would not let a later connection resume the session. */
    if (tls->ssl)
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    pthread_mutex_lock(&lock);
    release(tls->context);
    pthread_mutex_unlock(&lock);
    end_call();
    BIO_meth_free(tls->method);
    free(tls->peer);
    free(tls);
}

/* Whether OpenSSL waits for the socket. If it does not, it has failed. */
static bool would_block(const struct dueq__tls *tls, int result) {
    int reason = SSL_get_error(tls->ssl, result);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
}

int dueq__tls_handshake(struct dueq__tls *tls, struct dueq__error *error) {
    begin_call();
    int result = SSL_do_handshake(tls->ssl);
    bool failed = result != 1 && !would_block(tls, result);
    long verified = SSL_get_verify_result(tls->ssl);
    if (failed && verified == X509_V_OK)
        fail(error, "the TLS handshake failed");
    else if (failed)
        dueq__fail(error, DUEQ_TLS, "the server's certificate is refused: %s",
                   X509_verify_cert_error_string(verified));
    end_call();
    return failed ? -1 : result == 1;
}

bool dueq__tls_wants_to_write(const struct dueq__tls *tls) { return SSL_want_write(tls->ssl); }

size_t dueq__tls_read(struct dueq__tls *tls, void *data, size_t size, struct dueq__error *error) {
    begin_call();
    int got = SSL_read(tls->ssl, data, (int)size);
    /*
     * With TLS 1.3 a server checks the client's certificate after the client has finished the
     * handshake. So a missing certificate shows here.
     */
    if (got <= 0 && SSL_get_error(tls->ssl, got) == SSL_ERROR_SSL)
        fail(error, tls->url->cert ? "the server ended the TLS session"
                                   : "the server ended the TLS session (the URL names no client "
                                     "certificate: cert and key)");
    else if (got <= 0 && !would_block(tls, got))
        dueq__fail(error, DUEQ_CLOSED, "%s ended the TLS session", tls->url->shown);
    end_call();
    return got > 0 ? (size_t)got : 0;
}

size_t dueq__tls_write(struct dueq__tls *tls, const void *data, size_t size) {
    begin_call();
    int done = SSL_write(tls->ssl, data, size < INT_MAX ? (int)size : INT_MAX);
    end_call();
    return done > 0 ? (size_t)done : 0;
}
