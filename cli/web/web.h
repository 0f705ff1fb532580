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
    WEB_LOOKED = 2000, /* messages that one request reads, at most */
    WEB_STEP = 64, /* messages that one call reads: other clients of the server wait meanwhile */
    WEB_WAIT_MS = 60000, /* the longest wait of a reserve, and for a result */
    /* requests that wait for results; fewer than one address may send, so others come through */
    WEB_WAITERS = 48,
    WEB_BUSY_MS = 3000, /* how long a request may go on changing messages */
    /* bytes of a body in one piece; a multiple of 3, so that base64 needs no padding */
    WEB_PIECE = 49152
};

struct web {
    const char *url; /* the url of struct cli */
    char *token;     /* NULL: nothing can be changed */
    struct http_listener listener;
    pthread_mutex_t lock;
    dueq_client *idle[HTTP_MAX_CONNECTIONS]; /* clients that no request uses */
    size_t idle_count;
    size_t waiters; /* requests that wait for results */
    struct events *events;
};

enum { API_PARTS = 4 }; /* parts of a path behind /api */

/* One request to the API. */
struct call {
    struct web *web;
    const struct http_request *request;
    struct http_answer *answer;
    struct cli cli; /* has the request's client, and its queue if the path names one */
    struct draft draft;
    dueq_bytes queue;  /* the name of that queue */
    dueq_result *page; /* the page that is being read; freed with the call */
    char *item;        /* what the path names within the queue, or NULL */
    char *parts[API_PARTS];
};

/* web.c */

/*
 * A client that no other request uses until web_client_back(). Calls cli_out_of_memory() if there
 * is none.
 */
dueq_client *web_client(struct web *web);
void web_client_back(struct web *web, dueq_client *client);

/* api.c */

/* Answers a request to /api. */
void api_handle(struct web *web, const struct http_request *request, struct http_answer *answer);
/* The value of an argument, or NULL. */
const char *api_word(const struct call *call, const char *name);
size_t api_count(const struct call *call, size_t otherwise);
/* Writes an object as one line, as the shell does, and frees it. */
void api_line(const struct call *call, json_object *object);
/* Sets the status of HTTP for the outcome of a call. For a failure, also writes it. */
void api_end(const struct call *call, dueq_status status);
/* The same for one id, ticket, name or queue, whose outcome is written as an object. */
void api_item(const struct call *call, const char *key, dueq_bytes subject, dueq_status status);
/* Writes a failure of which the server knows nothing. `status` is its name. */
void api_refuse(const struct call *call, unsigned int code, const char *status, const char *text);
/* The argument `wait` in milliseconds; 0: it is not given. */
int64_t api_wait_ms(const struct call *call);
/* Completes a call, and ends its wait if the client closes the connection. */
dueq_status api_finish(const struct call *call, dueq_status status, dueq_result **result);
/* Sets the header Dueq-Next: the cursor of the next request. */
void api_next(const struct call *call, dueq_bytes cursor);
/* Writes {"done": N}, as the shell prints sums. */
void api_sum(const struct call *call, size_t count, const char *done);

/* get.c: requests that change nothing */

void get_queues(struct call *call);
void get_stats(struct call *call);
void get_rates(struct call *call);
void get_workers(struct call *call);
void get_running(struct call *call);
void get_why(struct call *call);
/* Writes the text and the object as one line, and frees the object. */
void api_put_line(FILE *out, const char *before, json_object *object);
/*
 * Writes the diagnoses of the server and of each queue that has one, each as a line of JSON behind
 * the text `before`.
 */
void put_diagnoses(const struct queue_rows *rows, const char *before, FILE *out);
/* Writes that the diagnoses cannot be read, and why. */
void put_unreadable(const struct cli *cli, dueq_status status, const char *before, FILE *out);
void get_inspect(struct call *call);
void get_result(struct call *call);
void get_messages(struct call *call);
void get_message(struct call *call);
/* Answers with all messages of a result, with their bodies. The answer owns the result then. */
void answer_messages(struct call *call, dueq_result *result);
void get_errors(struct call *call);
void get_schedules(struct call *call);
void get_groups(struct call *call);
void get_limits(struct call *call);
void get_batches(struct call *call);
void get_batch(struct call *call);

/* Gets a page. Returns how many more messages it wants. */
typedef size_t scan_page(struct call *call, const dueq_result *page, void *context);
/*
 * Reads the messages of a state from *cursor on, page by page, as many as `see` wants, at most
 * WEB_LOOKED. wanted: how many it wants at first.
 */
dueq_status scan_state(struct call *call, dueq_state state, dueq_bytes *cursor, size_t wanted,
                       scan_page *see, void *context);
/*
 * cursor_begin() is the cursor that the request continues from. cursor_end() passes the next one to
 * the client, and frees it.
 */
dueq_bytes cursor_begin(const struct call *call);
void cursor_end(const struct call *call, dueq_bytes *cursor);
/* The class of a dead message's error (error_class()), as JSON. */
json_object *error_class_json(const dueq_message *message);

/* post.c: requests that change something */

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
void post_purge_group(struct call *call);
void post_hold(struct call *call);
void post_hold_group(struct call *call);
void post_pause(struct call *call);
void post_resume(struct call *call);
void post_schedule_pause(struct call *call);
void post_schedule_resume(struct call *call);
void post_schedule_run(struct call *call);
void post_schedule_remove(struct call *call);

/* events.c: the events that all viewers of the page share */

struct events *events_new(struct web *web);
void events_end(struct events *events);
enum { EVENTS_MS = 1000, DIAGNOSES_MS = 4000, PULSE_MS = 500 };
/*
 * A stream of server-sent events: the counts of all queues every EVENTS_MS, the diagnoses every
 * DIAGNOSES_MS, and whether the server answers every PULSE_MS.
 */
http_stream events_stream;

/* pages.c */

/* The file of web/ for a path; size 0: there is none. */
dueq_bytes page_of(const char *path, const char **type);

#endif
