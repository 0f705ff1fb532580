/* A small HTTP server for the commands that have one, on libmicrohttpd. */
#ifndef DUEQ_CLI_HTTP_H
#define DUEQ_CLI_HTTP_H

#include "cli.h"

enum {
    HTTP_MAX_BODY = 8 * 1024 * 1024, /* of a request */
    HTTP_MAX_CONNECTIONS = 128,      /* at a time; each has a thread */
    HTTP_IDLE_S = 30,                /* a connection without a byte for so long is closed */
    HTTP_ARGUMENTS = 64              /* of a request */
};

struct http_argument {
    char *name, *value; /* decoded, without a NUL inside */
};

/* All of it lives until the answer is sent. */
struct http_request {
    const char *method; /* "GET" */
    const char *path;   /* as it was sent: http_decode() its parts */
    struct http_argument arguments[HTTP_ARGUMENTS];
    size_t argument_count;
    dueq_bytes body;
};

/*
 * Writes the next piece of an answer to `out`, which is small. False: it was the last. *seen is 0
 * at first, and then what the last call has left there.
 */
typedef bool http_stream(const struct http_request *request, void *context, uint64_t *seen,
                         FILE *out);

/* Begins as 200 of text; a handler sets what differs. */
struct http_answer {
    unsigned int status;
    const char *type; /* its Content-Type. Static */
    FILE *out;        /* takes the body */
    dueq_bytes fixed; /* or this is it, and static */
    char *next;       /* the header Dueq-Next, or NULL; it is freed */
    /* Or it is what this writes piece by piece, which waits itself between two pieces. */
    http_stream *stream;
    void *streamed;                  /* its context, */
    void (*release)(void *streamed); /* which this frees in the end; NULL: it stays */
    bool no_memory; /* there is none for the answer: it is 500, whatever was written */
};

/* The answer where memory ran out: 500. */
#define HTTP_NO_MEMORY "{\"status\":\"NO_MEMORY\",\"text\":\"dueq web is out of memory\"}\n"

/* Both are called by many threads at a time. */
struct http_service {
    /* Before a body is read. False: the answer says why it is not. */
    bool (*admit)(const struct http_request *request, struct http_answer *answer, void *context);
    void (*handle)(const struct http_request *request, struct http_answer *answer, void *context);
    /*
     * Whether a header Authorization has the token: a share of the connections is kept for those.
     * NULL: there is none.
     */
    bool (*trusts)(const char *authorization, void *context);
    void *context;
};

struct http_listener {
    int socket;
    bool loopback;     /* nobody from elsewhere gets here */
    char host[80];     /* "127.0.0.1" or "[::1]" */
    unsigned int port; /* which the system chose for port 0 */
    const char *names; /* of --host: more names of this server, a comma between two; NULL: none */
};

/* What a refusal says of its cure. */
#define HTTP_HOST_HINT                                                                             \
    "the Host of the request is no name of this server: if it is one, as behind a proxy, start "   \
    "dueq with --host NAME"

/*
 * Listens at "PORT" (of 127.0.0.1), "HOST:PORT", "[::1]:PORT" or ":PORT" (everywhere). False: said
 * why; *code is the exit code.
 */
bool http_listen(const struct cli *cli, const char *address, struct http_listener *listener,
                 int *code);
/*
 * Says where it listens, serves until a signal comes, and closes the listener. Returns the exit
 * code.
 */
int http_serve(const struct http_listener *listener, const struct http_service *service);

/* A header of the request, or NULL. */
const char *http_header(const struct http_request *request, const char *name);
/*
 * Whether "HOST" or "HOST:PORT" is a name of this server: an address, localhost, the machine's
 * name, or one of --host. A page of another site can give its own name our address, and the browser
 * then lets the page read our answers.
 */
bool http_is_ours(const struct http_listener *listener, const char *host);
/* Whether it is one of --host. */
bool http_is_named(const struct http_listener *listener, const char *host);
/* The value of an argument, or NULL. */
const char *http_argument(const struct http_request *request, const char *name);
/* Waits so long. False: whoever asked is gone, or the server ends. */
bool http_wait(const struct http_request *request, int64_t ms);
/* Undoes percent-encoding. NULL: it is none, or has a NUL; free() it. */
char *http_decode(const char *text, size_t size);
/* The opposite: what is no letter, digit or one of -._~ is encoded. free() it. */
char *http_encode(dueq_bytes bytes);

#endif
