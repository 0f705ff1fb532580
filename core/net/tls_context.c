#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tls.h"

/* A context keeps the sessions of this many servers. */
#define MAX_SESSIONS 256

/*
 * A file that a URL names. name: NULL: the URL names none, so it is the system's for CA, and else
 * none. The other members, of stat(2), show whether the file has changed.
 */
struct file {
    char *name;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime;
};

/* A session, which spares the certificates of a handshake with the same peer. */
struct session {
    struct session *next;
    SSL_SESSION *ssl;
    time_t certificate_end;
    char peer[];
};

enum { CA, CERT, KEY, FILES };

/* Connections with the same files share a context: reading CA files is slower than a handshake. */
struct dueq__tls_context {
    struct dueq__tls_context *next;
    unsigned refs; /* by `contexts` and by connections */
    struct file files[FILES];
    SSL_CTX *ssl;
    struct session *sessions; /* the newest first */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `contexts` and their members */
static struct dueq__tls_context *contexts;

/* fork() */

/*
 * A child would wait for ever for a lock of OpenSSL, or of this file, that another thread had at
 * the fork. So fork() takes `calls` for writing, which waits until calls of OpenSSL have ended.
 * These do not block. glibc's lock prefers readers by default: then calls that overlap could keep a
 * fork waiting for ever.
 */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define CALLS_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define CALLS_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif

static pthread_rwlock_t calls = CALLS_INITIALIZER; /* read: a call of OpenSSL; write: a fork */

void dueq__tls_call_begin(void) { pthread_rwlock_rdlock(&calls); }

void dueq__tls_call_end(void) { pthread_rwlock_unlock(&calls); }

static void before_fork(void) { pthread_rwlock_wrlock(&calls); }

static void after_fork(void) { pthread_rwlock_unlock(&calls); }

/* The lock has its holder's thread id, which is another one in the child: it makes a new lock. */
static void in_child(void) { calls = (pthread_rwlock_t)CALLS_INITIALIZER; }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

/* Contexts: each of these functions needs the lock */

static void free_session(struct session *session) {
    SSL_SESSION_free(session->ssl);
    free(session);
}

static void release(struct dueq__tls_context *context) {
    if (!context || --context->refs)
        return;
    for (struct session *first; (first = context->sessions);) {
        context->sessions = first->next;
        free_session(first);
    }
    SSL_CTX_free(context->ssl);
    for (int i = 0; i < FILES; i++)
        free(context->files[i].name);
    free(context);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void stat_file(struct file *file, const char *name) {
    struct stat seen = {0};
    if (name && stat(name, &seen) != 0)
        seen = (struct stat){0};
    file->device = seen.st_dev;
    file->inode = seen.st_ino;
    file->size = seen.st_size;
    file->mtime = seen.st_mtim;
}

/* The URL's files as they are now. The names point into the URL. */
static void stat_files(const struct dueq__url *url, struct file files[FILES]) {
    const char *names[FILES] = {[CA] = url->ca, [CERT] = url->cert, [KEY] = url->key};
    const char *system = getenv(X509_get_default_cert_file_env());
    for (int i = 0; i < FILES; i++) {
        files[i].name = (char *)(uintptr_t)names[i];
        stat_file(&files[i], names[i]);
    }
    if (!url->ca)
        stat_file(&files[CA], system ? system : X509_get_default_cert_file());
}

static bool same_file(const struct file *a, const struct file *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

/* The context of these files; NULL: none. Drops a context whose files have changed since. */
static struct dueq__tls_context *find(const struct file files[FILES]) {
    for (struct dueq__tls_context **at = &contexts, *found; (found = *at); at = &found->next) {
        bool named = true, same = true;
        for (int i = 0; i < FILES; i++) {
            named = named && same_text(found->files[i].name, files[i].name);
            same = same && same_file(&found->files[i], &files[i]);
        }
        if (named && same)
            return found;
        if (named) {
            *at = found->next;
            release(found);
            return NULL;
        }
    }
    return NULL;
}

/* False: a file cannot be used; error is set. */
static bool load_files(SSL_CTX *context, const struct dueq__url *url, struct dueq__error *error) {
    const char *what = NULL, *file = url->ca ? url->ca : "system";
    char text[400];
    if (url->ca ? SSL_CTX_load_verify_locations(context, url->ca, NULL) != 1
                : SSL_CTX_set_default_verify_paths(context) != 1)
        what = "CA certificates";
    else if ((file = url->cert) && SSL_CTX_use_certificate_chain_file(context, file) != 1)
        what = "client's certificate";
    else if ((file = url->key) && SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM) != 1)
        what = "client's key";
    if (!what)
        return true;
    snprintf(text, sizeof text, "cannot read the %s (%s)", what, file);
    dueq__tls_fail(error, text);
    return false;
}

static int keep_session(SSL *ssl, SSL_SESSION *kept);

static bool load_context(struct dueq__tls_context *made, const struct dueq__url *url,
                         const struct file files[FILES], struct dueq__error *error) {
    for (int i = 0; i < FILES; i++) {
        made->files[i] = files[i];
        made->files[i].name = files[i].name ? strdup(files[i].name) : NULL;
        if (files[i].name && !made->files[i].name) {
            dueq__fail(error, DUEQ_NO_MEMORY, NULL);
            return false;
        }
    }
    made->ssl = SSL_CTX_new(TLS_client_method());
    if (!made->ssl || SSL_CTX_set_min_proto_version(made->ssl, TLS1_2_VERSION) != 1) {
        dueq__tls_fail(error, "cannot set TLS up");
        return false;
    }
    SSL_CTX_set_session_cache_mode(made->ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(made->ssl, keep_session);
    return load_files(made->ssl, url, error);
}

static struct dueq__tls_context *new_context(const struct dueq__url *url,
                                             const struct file files[FILES],
                                             struct dueq__error *error) {
    struct dueq__tls_context *made = calloc(1, sizeof *made);
    if (!made) {
        dueq__fail(error, DUEQ_NO_MEMORY, NULL);
        return NULL;
    }
    made->refs = 1;
    if (!load_context(made, url, files, error)) {
        release(made);
        return NULL;
    }
    made->next = contexts;
    contexts = made;
    return made;
}

struct dueq__tls_context *dueq__tls_context_acquire(const struct dueq__url *url,
                                                    struct dueq__error *error) {
    struct file files[FILES];
    stat_files(url, files);
    pthread_mutex_lock(&lock);
    struct dueq__tls_context *found = find(files);
    if (!found)
        found = new_context(url, files, error);
    if (found)
        found->refs++;
    pthread_mutex_unlock(&lock);
    return found;
}

void dueq__tls_context_release(struct dueq__tls_context *context) {
    pthread_mutex_lock(&lock);
    release(context);
    pthread_mutex_unlock(&lock);
}

SSL *dueq__tls_context_new_ssl(struct dueq__tls_context *context) { return SSL_new(context->ssl); }

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

/* The link to the peer's session; at the end of the list: there is none. */
static struct session **session_of(const struct dueq__tls *tls) {
    struct session **at = &tls->context->sessions;
    while (*at && strcmp((*at)->peer, tls->peer) != 0)
        at = &(*at)->next;
    return at;
}

static void forget_session(const struct dueq__tls *tls) {
    struct session **at = session_of(tls), *old = *at;
    if (!old)
        return;
    *at = old->next;
    free_session(old);
}

static void limit_sessions(struct dueq__tls_context *context) {
    struct session **at = &context->sessions;
    for (int i = 0; *at && i < MAX_SESSIONS; i++)
        at = &(*at)->next;
    if (*at) {
        free_session(*at);
        *at = NULL;
    }
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
    forget_session(tls);
    made->next = tls->context->sessions;
    tls->context->sessions = made;
    limit_sessions(tls->context);
    pthread_mutex_unlock(&lock);
    return 1;
}

/* A resumed session does not check the certificate again, so it ends with the certificate. */
void dueq__tls_session_resume(struct dueq__tls *tls) {
    pthread_mutex_lock(&lock);
    const struct session *known = *session_of(tls);
    if (known && time(NULL) < known->certificate_end && SSL_set_session(tls->ssl, known->ssl) == 1)
        tls->certificate_end = known->certificate_end;
    pthread_mutex_unlock(&lock);
}

void dueq__tls_session_forget(const struct dueq__tls *tls) {
    pthread_mutex_lock(&lock);
    forget_session(tls);
    pthread_mutex_unlock(&lock);
}
