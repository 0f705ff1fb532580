/*
 * dueq: the servers behind a client's URL, one by one, for programs that watch them: the nodes of a
 * cluster, the sentinels of a primary. A program that only uses queues needs nothing of this
 * header. The conventions are those of dueq.h.
 */
#ifndef DUEQ_SERVER_H
#define DUEQ_SERVER_H

#include "dueq.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The handle of one server, with a connection of its own. */
typedef struct dueq_server dueq_server;
/* The answer of a server: a text, a number, or a list of answers. It belongs to the handle. */
typedef struct dueq__reply dueq_answer;

/* The name of the primary that the URL's sentinels watch; NULL: the URL names no sentinels. */
DUEQ_API const char *dueq_client_primary(const dueq_client *client);

/* Returns 1 if the URL accepts that servers evict (evicting=accept), else 0. */
DUEQ_API int dueq_client_accepts_evicting(const dueq_client *client);

/* Returns the timeout of calls that the URL sets, in ms. */
DUEQ_API int64_t dueq_client_timeout_ms(const dueq_client *client);

/*
 * Opens a handle for one of the servers that the URL names. If it names sentinels, these are the
 * servers, with their own login. The handle connects when it asks first. An embedded server must
 * already run, as it does after a call of the client.
 * index:   0 for the first server.
 * *server: belongs to the caller, who closes it by dueq_server_close() before the client.
 * Returns OK; EMPTY: the URL names fewer servers; or NO_MEMORY. *server is then NULL.
 */
DUEQ_API dueq_status dueq_server_open(dueq_client *client, size_t index, dueq_server **server);

/*
 * Opens a handle for a server at an address that another server has announced, with the login of
 * the URL's servers. The parameter `map` of the URL may replace the address.
 * host:    up to 255 bytes; copied.
 * *server: as of dueq_server_open().
 * Errors: NAME (the host is too long), NO_MEMORY.
 */
DUEQ_API dueq_status dueq_server_open_at(dueq_client *client, const char *host, int port,
                                         dueq_server **server);

/*
 * Opens a handle for a server that has queues: the only server; the primary that the sentinels name
 * when the handle connects; or a primary of the cluster, of which the client knows none before its
 * first call.
 * index:   0 for the first such server.
 * *server: as of dueq_server_open().
 * Returns OK; EMPTY: there are fewer; or a failure.
 */
DUEQ_API dueq_status dueq_server_open_primary(dueq_client *client, size_t index,
                                              dueq_server **server);
/* Closes the connection and frees the handle. NULL is safe. */
DUEQ_API void dueq_server_close(dueq_server *server);

/* The address for people: "host:port", or the client's URL without its password. */
DUEQ_API const char *dueq_server_address(const dueq_server *server);
/* Says in words why the last command failed; "" if it did not. */
DUEQ_API const char *dueq_server_error_text(const dueq_server *server);

/*
 * Sends a command, and waits for its answer up to the client's timeout.
 * words:   the command and its arguments, `count` of them.
 * *answer: valid until the next command of the handle.
 * Errors: the common errors of a call; INTERRUPTED: a signal came, and the command was given up.
 * After an error the server may have run the command.
 */
DUEQ_API dueq_status dueq_server_ask(dueq_server *server, const dueq_bytes *words, size_t count,
                                     const dueq_answer **answer);

/* The number of items of a list; 0 for any other answer. */
DUEQ_API size_t dueq_answer_count(const dueq_answer *answer);
/* An item of a list, from 0 on. Beyond the end: an item that is neither text nor number. */
DUEQ_API const dueq_answer *dueq_answer_item(const dueq_answer *answer, size_t index);
/* The text of an answer, with a NUL that `size` does not count; size 0 if the answer is no text. */
DUEQ_API dueq_bytes dueq_answer_text(const dueq_answer *answer);
/* The number of an answer, or the number that its text is; else 0. */
DUEQ_API int64_t dueq_answer_number(const dueq_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
