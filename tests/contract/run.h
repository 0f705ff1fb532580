/* One run of a situation, and what its interpreter is made of. */
#ifndef RUN_H
#define RUN_H

#include "../core/support.h"

#include <json-c/json.h>

struct situation {
    char *test;        /* the name of its test, and of its queue */
    json_object *each; /* the value that ${each} stands for, or NULL */
    json_object *steps;
    bool damaged;
};

/* A message or id that a step gave a name. */
struct capture {
    struct capture *next; /* the ones named before */
    const char *name;
    size_t step;
    dueq_bytes id, ticket;
};

/* Memory of a run, freed at its end. */
struct kept {
    struct kept *next;
    max_align_t data[];
};

struct run {
    const struct situation *situation;
    const char *folder; /* of the situations and their scripts */
    dueq_client *client;
    redisContext *redis;
    dueq_queue *queue;
    dueq_bytes name; /* the queue's */
    struct capture *captures;
    struct kept *kept;
    size_t step;
    const char *verb;
};

/* Fails the test, and says in which step. */
__attribute__((noreturn, format(printf, 2, 3))) void wrong(struct run *run, const char *format,
                                                           ...);

/* Zeroed memory that lives as long as the run. */
void *keep(struct run *run, size_t size);
dueq_bytes copy(struct run *run, dueq_bytes bytes);
dueq_bytes join(struct run *run, dueq_bytes left, dueq_bytes right);
bool same(dueq_bytes left, dueq_bytes right);
/* Bytes as text for a failure's message. */
const char *shown(struct run *run, dueq_bytes bytes);

/* Fields as they stand in the JSON; NULL or `without` where there is none. */
json_object *field(json_object *object, const char *name);
int64_t number(json_object *object, const char *name, int64_t without);
const char *word(json_object *object, const char *name);

/* The last one of a name; NULL: there is none. */
struct capture *capture(struct run *run, const char *name);
void remember(struct run *run, const char *name, dueq_bytes id, dueq_bytes ticket);

/* What ${name} stands for. */
dueq_bytes variable(struct run *run, const char *name, size_t size);
dueq_bytes value(struct run *run, json_object *json);
/* The value of a field; no bytes where there is none. */
dueq_bytes bytes(struct run *run, json_object *object, const char *name);
/* A list of values, as often as the step's "times" says. */
dueq_bytes *list(struct run *run, json_object *step, const char *name, size_t *count);

/* A command to the server; an error fails the test. */
redisReply *raw(struct run *run, const dueq_bytes *words, size_t count);
int64_t server_ms(struct run *run);
/* EVAL of NAME.lua in the folder, on the current queue. */
redisReply *script(struct run *run, const char *name, const dueq_bytes *words, size_t count);

const char *reply_text(struct run *run, const redisReply *reply);
/* Compares with "reply", and frees the reply. */
void compare_reply(struct run *run, json_object *expect, redisReply *reply);
void compare_number(struct run *run, const char *what, json_object *expected, int64_t got);
/* A point of time that is [least, most] ms from now. */
void compare_distance(struct run *run, const char *what, json_object *expected, int64_t time_ms);
void compare_status(struct run *run, json_object *expect, dueq_status got);
/* "statuses": a list, or how many there are of each. */
void compare_statuses(struct run *run, json_object *expect, const dueq_result *result);
/* Compares what `expected` names, and gives the message the name that it has there. */
void compare_message(struct run *run, json_object *expected, const dueq_message *message);

void do_step(struct run *run, json_object *step);

#endif
