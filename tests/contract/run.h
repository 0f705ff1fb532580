/* One run of a situation, and what its interpreter is made of. */
#ifndef RUN_H
#define RUN_H

#include "../core/support.h"

#include "dueq_laravel.h"
#include "dueq_redisson.h"

#include <json-c/json.h>

struct situation {
    char *test;        /* the name of its test, and of its queue */
    json_object *each; /* the value that ${each} stands for, or NULL */
    json_object *steps;
    bool damaged;
};

/* A queue that a step named. */
struct opened {
    struct opened *next; /* the ones named before */
    dueq_bytes name;
    dueq_queue *queue;
};

/*
 * A message, id, lock or job that a step gave a name. Of a lock: its name and token; of a job: its
 * uuid, or else its id, and what it is reserved as.
 */
struct capture {
    struct capture *next; /* the ones named before */
    const char *name;
    size_t step;
    dueq_queue *queue;
    dueq_bytes id, ticket;
};

/* How far a peek got. */
struct look {
    struct look *next;
    const char *name;
    dueq_state state;
    size_t page;
    dueq_bytes cursor;
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
    dueq_redisson *redisson;
    dueq_laravel *laravel;
    struct opened *opened;
    struct capture *captures;
    struct look *looks;
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
/* The field's place in a list of words, which ends with NULL; 0 where there is none. */
int choice(struct run *run, json_object *object, const char *name, const char *const *words);

/* The last one of a name; NULL: there is none. */
struct capture *capture(struct run *run, const char *name);
/* The one that the step's field names. */
struct capture *captured(struct run *run, json_object *step, const char *name);
void remember(struct run *run, const char *name, dueq_queue *queue, dueq_bytes id,
              dueq_bytes ticket);

/* What a queue's keys begin with. */
dueq_bytes key_begin(struct run *run, dueq_bytes queue);
/* What ${name} stands for. */
dueq_bytes variable(struct run *run, const char *name, size_t size);
dueq_bytes value(struct run *run, json_object *json);
/* The value of a field; no bytes where there is none. */
dueq_bytes bytes(struct run *run, json_object *object, const char *name);
/* A list of values, as often as the step's "times" says. */
dueq_bytes *list(struct run *run, json_object *step, const char *name, size_t *count);

/* Opens a queue anew. */
dueq_status open_named(struct run *run, dueq_bytes name, size_t partitions, dueq_queue **queue);
/* The queue as it was opened last, or opened now; NULL: this is no queue's name. */
dueq_queue *queue_named(struct run *run, dueq_bytes name);

/* A command to the server; an error fails the test. */
redisReply *raw(struct run *run, const dueq_bytes *words, size_t count);
int64_t server_ms(struct run *run);
/* EVAL of NAME.lua in the folder, on the current queue and then the others that steps named. */
redisReply *script(struct run *run, const char *name, const dueq_bytes *words, size_t count);

const char *reply_text(struct run *run, const redisReply *reply);
/* Compares with "reply", and frees the reply. */
void compare_reply(struct run *run, json_object *expect, redisReply *reply);
void compare_bytes(struct run *run, const char *what, json_object *expected, dueq_bytes got);
void compare_number(struct run *run, const char *what, json_object *expected, int64_t got);
/* Is this point of time [least, most] ms from now? */
bool is_distance(struct run *run, json_object *expected, int64_t time_ms);
/* A point of time or, where a list is expected, one that is [least, most] ms from now. */
void compare_time(struct run *run, const char *what, json_object *expected, int64_t time_ms);
void compare_status(struct run *run, json_object *expect, dueq_status got);
/* "statuses": a list, or how many there are of each. */
void compare_statuses(struct run *run, json_object *expect, const dueq_result *result);
/* Compares the field of this name, if it is expected. none: what is expected as null. */
void compare_integer(struct run *run, json_object *expected, const char *name, int64_t got,
                     int64_t none);
void compare_text(struct run *run, json_object *expected, const char *name, dueq_bytes got);
/*
 * Compares a field of the struct `from` with what is expected of it, if anything: for the lists of
 * fields in dueq_verbs.h, whose kinds are those of core/results.py.
 */
#define COMPARE_FIELD(kind, member) COMPARE_##kind(#member, from->member);
#define COMPARE_COUNT(name, number) compare_integer(run, expected, name, number, 0)
#define COMPARE_OPTIONAL COMPARE_COUNT
#define COMPARE_INDEX(name, number) compare_integer(run, expected, name, number, -1)
#define COMPARE_FLAG COMPARE_COUNT
#define COMPARE_TIME COMPARE_COUNT
#define COMPARE_MAYBE_TIME COMPARE_COUNT
#define COMPARE_TEXT(name, text) compare_text(run, expected, name, text)
#define COMPARE_NAME COMPARE_TEXT
#define COMPARE_FAILURE_KIND(name, kind) COMPARE_TEXT(name, BYTES(dueq_failure_name(kind)))

struct text_field {
    const char *name;
    const dueq_bytes *bytes;
};
struct number_field {
    const char *name;
    int64_t number;
};
/* Compares the field that has this name; false: none has it ("as" is known, and no field). */
bool compare_field(struct run *run, const char *name, json_object *wanted,
                   const struct text_field *texts, size_t text_count,
                   const struct number_field *numbers, size_t number_count);
/* Compares what `expected` names, and gives the message the name that it has there. */
void compare_message(struct run *run, json_object *expected, const dueq_message *message);
/* Compares with "count" and "messages". */
void compare_messages(struct run *run, json_object *expect, const dueq_message *const *messages,
                      size_t count);

/* A step's values, as often as "times" says, or its one. */
dueq_value *typed_values(struct run *run, json_object *step, size_t *count);
/* JSON of another program's: the same text, or the same meaning. */
void compare_json(struct run *run, const char *what, dueq_bytes expected, dueq_bytes got);
/* Compares with "count" and "values". */
void compare_values(struct run *run, json_object *expect, const dueq_result *result);
/* Compares with "moved", "damaged" and "next_ms". */
void compare_moved(struct run *run, json_object *expect, const dueq_moved *moved);
/* Compares with what it names. */
void compare_sizes(struct run *run, json_object *expect, const dueq_sizes *sizes);

/* A step's drafts: those of "drafts", or the one that the step is, as often as "times" says. */
dueq_draft *drafts(struct run *run, json_object *step, size_t *count);
/* Their ids, of the items of a result from `first` on. */
void remember_drafts(struct run *run, json_object *step, dueq_queue *queue,
                     const dueq_draft *drafts, const dueq_result *result, size_t first);

struct verb {
    const char *name;
    void (*run)(struct run *run, json_object *step);
};

/*
 * What producers and consumers do; what is done from outside; verbs whose functions are made;
 * locks; batches; the queues of other systems. Each ends with no name.
 */
extern const struct verb work_verbs[], manage_verbs[], made_verbs[], lock_verbs[], batch_verbs[],
    redisson_verbs[], laravel_verbs[];

typedef dueq_status (*on_ids)(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                              dueq_result **result);
/* Runs a verb on the ids of a step. */
void do_ids(struct run *run, json_object *step, on_ids verb);

void do_step(struct run *run, json_object *step);

#endif
