/* dueq web: a page for people and an API for programs. */
#ifndef DUEQ_CLI_WEB_H
#define DUEQ_CLI_WEB_H

#include <pthread.h>

#include "../buffer.h"
#include "../draft.h"
#include "../http.h"
#include "../json.h"
#include "../queue_row.h"

enum {
    WEB_LOOKED = 2000,   /* messages that a request looks at, at most, */
    WEB_STEP = 64,       /* and in one call: others wait for that */
    WEB_WAIT_MS = 60000, /* the longest wait of a reserve */
    WEB_BUSY_MS = 3000,  /* a request that changes many messages goes on this long */
    WEB_PIECE = 49152    /* bytes of a body that are written at a time; in base64 without a rest */
};

struct web {
    const char *url; /* as of struct cli */
    char *token;     /* NULL: nothing can be changed */
    struct http_listener listener;
    pthread_mutex_t lock;
    dueq_client *idle[HTTP_MAX_CONNECTIONS]; /* between requests */
    size_t idle_count;
    struct events *events;
};

/* One request to the API: a run of the program, almost. */
/* Parts of the path behind /api, decoded. */
enum { API_PARTS = 4 };

struct call {
    struct web *web;
    const struct http_request *request;
    struct http_answer *answer;
    struct cli cli; /* its client, and its queue if the path names one */
    struct draft draft;
    dueq_bytes queue;  /* its name */
    dueq_result *page; /* that is looked at; freed with the call */
    char *item;        /* what the path names in it, or NULL */
    char *parts[API_PARTS];
};

/* web.c */

/* A client of nobody else, until it is given back; or it is cli_out_of_memory(). */
dueq_client *web_client(struct web *web);
void web_client_back(struct web *web, dueq_client *client);

/* api.c */

/* Answers a request to /api. */
void api_handle(struct web *web, const struct http_request *request, struct http_answer *answer);
/* The value of an argument, or NULL. */
const char *api_word(const struct call *call, const char *name);
size_t api_count(const struct call *call, size_t otherwise);
/* Writes an object as the shell prints it, and frees it. */
void api_line(const struct call *call, json_object *object);
/*
 * The status of HTTP for what came of a call; of a failure, and of an outcome without items, the
 * answer says what.
 */
void api_end(const struct call *call, dueq_status status);
/* The same of one thing that has an object of its own. */
void api_item(const struct call *call, const char *key, dueq_bytes subject, dueq_status status);
/* Where the next request goes on. */
void api_next(const struct call *call, dueq_bytes cursor);
/* That many {"done": N}, as the shell's sums. */
void api_sum(const struct call *call, size_t count, const char *done);

/* get.c: what changes nothing */

void get_queues(struct call *call);
void get_stats(struct call *call);
void get_rates(struct call *call);
void get_workers(struct call *call);
void get_running(struct call *call);
void get_why(struct call *call);
/* Writes an object behind this text as a line, and frees it. */
void api_put_line(FILE *out, const char *before, json_object *object);
/*
 * Writes a line of JSON, with this before it, for the server and for each queue where something is
 * wrong.
 */
void put_diagnoses(const struct queue_rows *rows, const char *before, FILE *out);
/* The same: what is wrong cannot be read. */
void put_unreadable(const struct cli *cli, dueq_status status, const char *before, FILE *out);
void get_inspect(struct call *call);
void get_messages(struct call *call);
void get_message(struct call *call);
/* Answers with all messages of a result, whole. The result belongs to the answer then. */
void answer_messages(struct call *call, dueq_result *result);
void get_errors(struct call *call);
void get_schedules(struct call *call);

/* Sees a page. Returns how many messages more it wants to see. */
typedef size_t scan_page(struct call *call, const dueq_result *page, void *context);
/*
 * Reads the messages of a state, page by page: `wanted` are wanted at first, and WEB_LOOKED are the
 * most.
 */
dueq_status scan_state(struct call *call, dueq_state state, dueq_bytes *cursor, size_t wanted,
                       scan_page *see, void *context);
/* The cursor that the request goes on from, and where the next one does. */
dueq_bytes cursor_begin(const struct call *call);
void cursor_end(const struct call *call, dueq_bytes *cursor);
/* The class of a dead message (error_class()), as JSON has it. */
json_object *error_class_json(const dueq_message *message);

/* post.c: what changes something */

void post_push(struct call *call);
void post_reserve(struct call *call);
void post_ack(struct call *call);
void post_retry(struct call *call);
void post_release(struct call *call);
void post_extend(struct call *call);
void post_bury(struct call *call);
void post_kick(struct call *call);
void post_kill(struct call *call);
void post_cancel(struct call *call);
void post_reschedule(struct call *call);
void post_kick_all(struct call *call);
void post_kick_group(struct call *call);
void post_pause(struct call *call);
void post_resume(struct call *call);
void post_schedule_pause(struct call *call);
void post_schedule_resume(struct call *call);
void post_schedule_run(struct call *call);
void post_schedule_remove(struct call *call);

/* events.c: what all who look at the page see */

struct events *events_new(struct web *web);
void events_end(struct events *events);
enum { EVENTS_MS = 1000, DIAGNOSES_MS = 4000, PULSE_MS = 500 };
/*
 * A stream of server-sent events: all queues, every EVENTS_MS, what is wrong with them, every
 * DIAGNOSES_MS, and whether the server answers, every PULSE_MS.
 */
http_stream events_stream;

/* pages.c */

/* The file of that path, or size 0. */
dueq_bytes page_of(const char *path, const char **type);

#endif
