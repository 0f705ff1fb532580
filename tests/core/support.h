/* What the C tests share: a private server, a client of it, and Redis commands beside the core. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>
/* In cmocka 2 a macro, which no test uses. */
#undef stop
#include <hiredis/hiredis.h>

#include "dueq.h"

struct server {
    char dir[64];
    char socket[96];
    char url[128];
    int port; /* 0: on its Unix socket only */
    pid_t pid;
    const char *options[16]; /* further words of its command line */
};

/* Starts $DUEQ_TEST_SERVER, redis-server or valkey-server; asserts that it answers. */
void server_start(struct server *server);
/* With further options, NULL-terminated. */
void server_start_with(struct server *server, const char *const options[]);
/* Starts it again on the same data. */
void server_restart(struct server *server);
void server_kill(struct server *server);
/* Ends it and removes its directory. */
void server_stop(struct server *server);
int free_port(void);

/*
 * A command on a connection of its own; asserts that it is not an error. Free with
 * freeReplyObject().
 */
redisReply *command(const struct server *server, const char *format, ...);
/* The same for the side effect. */
void run_command(const struct server *server, const char *format, ...);
long long command_number(const struct server *server, const char *format, ...);
/* Whether the server is Redis 6.2, which has fewer options, and counts "client" as a whole. */
bool server_is_old(void);
/* Whether the server was built with TLS. */
bool server_has_tls(void);
/* Permissions with which CLIENT UNBLOCK is refused. Redis 6.2 cannot take one of CLIENT's away. */
#define WITHOUT_UNBLOCK "+@all -client +client|id +client|setname"
/*
 * How often the server has run a command ("client|unblock", on Redis 6.2 "client"); those that
 * scripts call count too.
 */
long long calls_of(const struct server *server, const char *name);

/* An opened client and queue; assert success. */
dueq_client *open_client(const char *url);
dueq_queue *open_queue(dueq_client *client, const char *name);

/* A client with its queue "jobs". */
struct jobs {
    dueq_client *client;
    dueq_queue *queue;
};

struct jobs jobs_open(const char *url);
void jobs_close(struct jobs jobs);

#define BYTES(text) ((dueq_bytes){(text), strlen(text)})

/* Pushes one body with defaults; asserts OK. `id` (23 bytes or NULL) receives its id. */
void push_body(dueq_queue *queue, const char *body, int64_t delay_ms, char *id);
/* The same without the assertion. */
dueq_status push_text(dueq_queue *queue, const char *body);
/* Reserves one message and asserts that it came; free the result. */
const dueq_message *reserve_one(dueq_queue *queue, int64_t timeout_ms, int64_t lease_ms,
                                dueq_result **result);
/* Takes what a submitted reserve got, waiting; asserts that it is one message of this body. */
void take_body(dueq_client *client, int64_t timeout_ms, const char *body);
/* A body of that size to the server and back, to an acknowledged end. */
void round_trip(struct jobs jobs, size_t size);
int64_t now_ms(void);

/* Waits until that many consumers sit in a blocking command; asserts that they come to it. */
void await_blocked(const struct server *server, long long consumers);
/* A number of INFO ("total_commands_processed"). */
long long info_number(const struct server *server, const char *section, const char *name);

/* Waits for the end of a process, asserts that no signal ended it, and returns its exit status. */
int child_end(pid_t child);
/*
 * A consumer in a process of its own: waits for one message, acknowledges it, and ends with 0, or
 * with the status that it met.
 */
pid_t consumer_start(const char *url, const char *queue, int64_t timeout_ms);
/* A command in a process of its own, which ends with 0 unless the reply is an error. */
pid_t command_start(const struct server *server, const char *format, ...);

/* Asserts a status and shows the client's error text where it differs. */
void assert_status_(dueq_client *client, dueq_status expected, dueq_status got, const char *file,
                    int line);
#define assert_status(client, expected, got)                                                       \
    assert_status_((client), DUEQ_##expected, (got), __FILE__, __LINE__)

/* The options of a dueq_reserve_any(), with the leases of the messages. */
#define RESERVE(which, most, how_long_ms)                                                          \
    (&(const dueq_reserve_options){.struct_size = sizeof(dueq_reserve_options),                    \
                                   .order = (which),                                               \
                                   .count = (most),                                                \
                                   .timeout_ms = (how_long_ms)})

/* Runs the tests of an array whose names match $ONLY; without it, all. */
#define run_selected(tests) run_selected_((tests), sizeof(tests) / sizeof *(tests))
int run_selected_(const struct CMUnitTest tests[], size_t count);

#endif
