/*
 * dueq: the servers behind a client's URL, one by one, for programs that look at them: the nodes of a cluster, the
 * sentinels of a primary. What dueq itself needs of them is in dueq.h. Conventions as there.
 */
#ifndef DUEQ_SERVER_H
#define DUEQ_SERVER_H

#include "dueq.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One server, by a connection of its own. */
typedef struct dueq_server dueq_server;
/* What a server answered: a text, a number, or a list of such. It belongs to that handle. */
typedef struct dueq__reply dueq_answer;

/* The primary that the URL's sentinels watch, by its name there; NULL: the URL names no sentinels. */
DUEQ_API const char *dueq_client_primary(const dueq_client *client);

/* Whether the URL accepts that servers evict (evicting=accept): 1 or 0. */
DUEQ_API int dueq_client_accepts_evicting(const dueq_client *client);

/* A call's deadline by the URL, in ms. */
DUEQ_API int64_t dueq_client_timeout_ms(const dueq_client *client);

/*
 * Opens one of the servers that the URL names, from 0 on: of sentinels these, with their login, of a cluster the nodes.
 * Nothing is connected before the first question; an embedded server must run, as it does after a call of the client.
 * *server belongs to the caller (dueq_server_close) and must not outlive the client.
 * Errors: EMPTY (the URL names no so many), NO_MEMORY; *server is NULL then.
 */
DUEQ_API dueq_status dueq_server_open(dueq_client *client, size_t index, dueq_server **server);

/*
 * The same of a server that another one announces at this address, by the login of the URL's servers; its `map` counts.
 * host: up to 255 bytes, else NAME; copied.
 */
DUEQ_API dueq_status dueq_server_open_at(dueq_client *client, const char *host, int port,
                                         dueq_server **server);

/*
 * The same of one of the servers that have queues, from 0 on: the only one, the one that sentinels name when it is asked,
 * or of a cluster the primaries as the client's calls found them, none before its first call.
 */
DUEQ_API dueq_status dueq_server_open_primary(dueq_client *client, size_t index,
                                              dueq_server **server);
DUEQ_API void dueq_server_close(dueq_server *server); /* NULL is safe */

/* Where it is, for people: "host:port", or the client's URL without its password. */
DUEQ_API const char *dueq_server_address(const dueq_server *server);
/* What the last question met, in words; "" if none failed. */
DUEQ_API const char *dueq_server_error_text(const dueq_server *server);

/*
 * Sends one command and waits for its answer, for the URL's timeout at most. *answer lives until the next question.
 * Errors: those of a call; INTERRUPTED: a signal came, and the question is given up. The command may have been done.
 */
DUEQ_API dueq_status dueq_server_ask(dueq_server *server, const dueq_bytes *words, size_t count,
                                     const dueq_answer **answer);

/* Of a list how many it has, else 0; and one of them, from 0 on: what is not there is neither text nor number. */
DUEQ_API size_t dueq_answer_count(const dueq_answer *answer);
DUEQ_API const dueq_answer *dueq_answer_item(const dueq_answer *answer, size_t index);
/* Its text, with a NUL behind it that is not counted; size 0 also where it is none. */
DUEQ_API dueq_bytes dueq_answer_text(const dueq_answer *answer);
/* Its number, or that which is its text; 0 also where it is none. */
DUEQ_API int64_t dueq_answer_number(const dueq_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
