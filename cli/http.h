/* A small HTTP server for the commands that have one, on libmicrohttpd. */
#ifndef DUEQ_CLI_HTTP_H
#define DUEQ_CLI_HTTP_H

#include "cli.h"

enum {
    HTTP_MAX_BODY = 8 * 1024 * 1024, /* bytes of the body of one request */
    HTTP_MAX_CONNECTIONS = 128,      /* at the same time; each has a thread */
    HTTP_IDLE_S = 30,   /* seconds without a byte, after which a connection is closed */
    HTTP_ARGUMENTS = 64 /* arguments of one request */
};

struct http_argument {
    char *name, *value; /* decoded, without a NUL inside */
};

/* All parts live until the answer is sent. */
struct http_request {
    const char *method; /* "GET" */
    const char *path;   /* as it was sent: decode its parts by http_decode() */
    struct http_argument arguments[HTTP_ARGUMENTS];
    size_t argument_count;
    dueq_bytes body;
};

/*
 * Writes the next piece of an answer to `out`. A piece should be small, because it is kept in
 * memory. False: this piece was the last. *seen is 0 at first; the function may keep its position
 * there from call to call.
 */
typedef bool http_stream(const struct http_request *request, void *context, uint64_t *seen,
                         FILE *out);

/* A handler gets this as an empty text with status 200, and sets what differs. */
struct http_answer {
    unsigned int status;
    const char *type; /* the Content-Type; static memory */
    FILE *out;        /* the handler writes the body here, */
    dueq_bytes fixed; /* or names a body in static memory here, */
    char *next;       /* the header Dueq-Next, or NULL; freed by the server */
    /* or a function that writes the body piece by piece, and waits itself between two pieces */
    http_stream *stream;
    void *streamed;                  /* the context of `stream` */
    void (*release)(void *streamed); /* frees that context at the end; NULL: nothing is freed */
    bool no_memory; /* memory ran out: the answer is 500, and what was written is dropped */
};

/* The body of the 500 when memory ran out. */
#define HTTP_NO_MEMORY "{\"status\":\"NO_MEMORY\",\"text\":\"dueq web is out of memory\"}\n"

/* Many threads call these functions at the same time. */
struct http_service {
    /* Called before the body is read. False: the body is not read, and the answer says why. */
    bool (*admit)(const struct http_request *request, struct http_answer *answer, void *context);
    void (*handle)(const struct http_request *request, struct http_answer *answer, void *context);
    /*
     * Whether the header Authorization has the token: some connections are reserved for such
     * requests. NULL: there is no token.
     */
    bool (*trusts)(const char *authorization, void *context);
    void *context;
};

struct http_listener {
    int socket;
    bool loopback;     /* only programs of this machine can connect */
    char host[80];     /* "127.0.0.1" or "[::1]" */
    unsigned int port; /* the real port; the system chooses one for port 0 */
    /* further names of this server, from --host, separated by commas; NULL: none */
    const char *names;
};

/* The hint with the refusal of a request for another host. */
#define HTTP_HOST_HINT                                                                             \
    "the Host of the request is no name of this server: if it is one, as behind a proxy, start "   \
    "dueq with --host NAME"

/*
 * Listens at "PORT" (of 127.0.0.1), "HOST:PORT", "[::1]:PORT" or ":PORT" (all addresses). False:
 * logged why; *code is the exit code.
 */
bool http_listen(const struct cli *cli, const char *address, struct http_listener *listener,
                 int *code);
/* Logs the address, serves until a signal comes, and closes the listener. Returns the exit code. */
int http_serve(const struct http_listener *listener, const struct http_service *service);

/* A header of the request, or NULL. */
const char *http_header(const struct http_request *request, const char *name);
/*
 * Whether "HOST" or "HOST:PORT" names this server: by an address, localhost, the machine's name, or
 * a name of --host. Other names are refused: an attacker's site can give its own name our address
 * (DNS rebinding), and the browser would then let a page of that site read our answers.
 */
bool http_is_ours(const struct http_listener *listener, const char *host);
/* Whether the host is a name of --host. */
bool http_is_named(const struct http_listener *listener, const char *host);
/* The value of an argument, or NULL. */
const char *http_argument(const struct http_request *request, const char *name);
/* Waits `ms` milliseconds. False: the client closed the connection, or the server ends. */
bool http_wait(const struct http_request *request, int64_t ms);
/*
 * Decodes percent-encoding. NULL: the encoding is wrong, or the result would contain a NUL. Free
 * with free().
 */
char *http_decode(const char *text, size_t size);
/* Percent-encodes every byte but letters, digits and -._~. Free with free(). */
char *http_encode(dueq_bytes bytes);

#endif
