/* http.c: an HTTP server in the program's own thread, for the commands that listen. */
#ifndef DUEQ_CLI_HTTP_H
#define DUEQ_CLI_HTTP_H

#include "cli.h"

struct http_answer {
    unsigned status;  /* 200 ... */
    const char *type; /* of the body; not owned */
    char *body;       /* by malloc(); it is freed for the handler */
    size_t size;
};

/* Answers a request; the path is without what follows `?`. The body of a request is not read. */
typedef void http_handler(void *owner, const char *method, const char *path,
                          struct http_answer *answer);

/* An answer of plain text. */
void http_text(struct http_answer *answer, unsigned status, const char *text);
/*
 * Listens on "PORT" (of 127.0.0.1), "HOST:PORT" or ":PORT", says where, and answers requests, one at a time, until a signal
 * ends the program. Else, it said why it does not; returns the exit code.
 */
int http_serve(struct cli *cli, const char *address, http_handler *handler, void *owner);

#endif
