#include <stdlib.h>
#include <string.h>

#include "web.h"

struct route {
    const char *method, *verb;
    /* the arguments that it takes, each with a blank behind; "draft": those of a push */
    const char *arguments;
    void (*act)(struct call *call);
};

static void tell(struct call *call);
static void follow(struct call *call);

/* Routes about all queues: /api/VERB */
static const struct route tops[] = {
    {"GET", "", "", tell},
    {"GET", "queues", "", get_queues},
    {"GET", "workers", "", get_workers},
    {"GET", "running", "count ", get_running},
    {"GET", "why", "", get_why},
    {"GET", "events", "", follow},
    {0},
};

/* Routes about one queue: /api/queues/NAME/VERB */
static const struct route routes[] = {
    {"GET", "", "", get_stats},
    {"GET", "rates", "minutes hours ", get_rates},
    {"GET", "workers", "", get_workers},
    {"GET", "running", "count ", get_running},
    {"GET", "why", "", get_why},
    {"GET", "messages", "state after count text ", get_messages},
    {"GET", "errors", "after ", get_errors},
    {"GET", "schedules", "after ", get_schedules},
    {"GET", "groups", "count after ", get_groups},
    {"GET", "limits", "", get_limits},
    {"GET", "batches", "count after ", get_batches},
    {"POST", "messages", "draft", post_push},
    {"POST", "reserve", "count wait lease ", post_reserve},
    {"POST", "ack", "", post_ack},
    {"POST", "retry", "delay error ", post_retry},
    {"POST", "release", "delay ", post_release},
    {"POST", "extend", "lease ", post_extend},
    {"POST", "bury", "reason ", post_bury},
    {"POST", "kick", "", post_kick},
    {"POST", "kill", "", post_kill},
    {"POST", "cancel", "", post_cancel},
    {"POST", "reschedule", "delay at ", post_reschedule},
    {"POST", "kick_all", "error since until after ", post_kick_all},
    {"POST", "kick_group", "error after ", post_kick_group},
    {"POST", "purge_group", "group after ", post_purge_group},
    {"POST", "hold", "group duration ", post_hold},
    {"POST", "hold_group", "duration ", post_hold_group},
    {"POST", "pause", "", post_pause},
    {"POST", "resume", "", post_resume},
    {"POST", "schedule_pause", "", post_schedule_pause},
    {"POST", "schedule_resume", "", post_schedule_resume},
    {"POST", "schedule_run", "", post_schedule_run},
    {"POST", "schedule_remove", "", post_schedule_remove},
    {0},
};

/* Routes about one message or batch: /api/queues/NAME/VERB/ID */
static const struct route items[] = {
    {"GET", "messages", "preview ", get_message},
    {"GET", "inspect", "", get_inspect},
    {"GET", "result", "wait ", get_result},
    {"GET", "batches", "", get_batch},
    {0},
};

/* Answers */

const char *api_word(const struct call *call, const char *name) {
    return http_argument(call->request, name);
}

size_t api_count(const struct call *call, size_t otherwise) {
    const char *word = api_word(call, "count");
    return word ? (size_t)cli_number(&call->cli, "count", word, 1, DUEQ_MAX_BATCH) : otherwise;
}

void api_line(const struct call *call, json_object *object) {
    call->answer->type = "application/x-ndjson";
    api_put_line(call->answer->out, "", object);
}

void api_sum(const struct call *call, size_t count, const char *done) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, done, json_object_new_int64((int64_t)count));
    api_line(call, object);
}

void api_next(const struct call *call, dueq_bytes cursor) {
    if (cursor.size > 0)
        call->answer->next = http_encode(cursor);
}

static unsigned int code_of(dueq_status status) {
    switch ((int)status) {
    case DUEQ_OK:
    case DUEQ_EXHAUSTED:
        return 200;
    case DUEQ_EMPTY:
        return 204;
    case DUEQ_DUPLICATE:
    case DUEQ_LEASE_LOST:
        return 409;
    case DUEQ_NOT_FOUND:
        return 404;
    case DUEQ_INVALID:
    case DUEQ_NAME:
        return 400;
    case DUEQ_TOO_LARGE:
        return 413;
    case DUEQ_BACKLOG:
        return 429;
    case DUEQ_NO_MEMORY:
        return 500;
    default:
        return dueq_status_retriable(status) ? 503 : 502;
    }
}

static void say(const struct call *call, const char *status, const char *text) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "status", json_name(status));
    json_object_object_add(object, "text", json_text((dueq_bytes){text, strlen(text)}));
    api_line(call, object);
}

void api_end(const struct call *call, dueq_status status) {
    const char *text = status < 0 ? dueq_error_text(call->cli.client) : "";
    call->answer->status = code_of(status);
    if (status < 0)
        say(call, dueq_status_name(status), *text ? text : dueq_status_text(status));
}

void api_item(const struct call *call, const char *key, dueq_bytes subject, dueq_status status) {
    api_end(call, status);
    if (status >= 0)
        api_line(call, json_of_item(key, subject, status, 0));
}

void api_refuse(const struct call *call, unsigned int code, const char *status, const char *text) {
    call->answer->status = code;
    say(call, status, text);
}

static void refuse(const struct call *call, unsigned int code, const char *text) {
    api_refuse(call, code, dueq_status_name(code == 404 ? DUEQ_NOT_FOUND : DUEQ_INVALID), text);
}

/* Waiting */

int64_t api_wait_ms(const struct call *call) {
    const char *wait = api_word(call, "wait");
    const int64_t wait_ms = wait ? cli_duration(&call->cli, "wait", wait) : 0;
    if (wait_ms > WEB_WAIT_MS)
        cli_usage(&call->cli, "wait is %d s at most; then send the request again",
                  WEB_WAIT_MS / 1000);
    return wait_ms;
}

dueq_status api_finish(const struct call *call, dueq_status status, dueq_result **result) {
    *result = NULL;
    if (status != DUEQ_PENDING)
        return status;
    while ((status = dueq_wait(call->cli.client, 250)) == DUEQ_PENDING)
        if (!http_wait(call->request, 0))
            dueq_stop_wait(call->cli.client);
    return dueq_take(call->cli.client, result);
}

/* Paths */

/* Whether the list has the word. Each word of the list has a blank behind. */
static bool lists(const char *list, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = list; *at; at = strchr(at, ' ') + 1)
        if (strncmp(at, word, size) == 0 && at[size] == ' ')
            return true;
    return false;
}

/*
 * Whether the route takes all arguments of the request. An unknown one is refused, and not ignored.
 */
static bool takes(const struct call *call, const char *arguments) {
    const struct http_request *request = call->request;
    for (size_t i = 0; i < request->argument_count; i++) {
        const char *name = request->arguments[i].name;
        const bool again = http_argument(request, name) != request->arguments[i].value;
        if (strcmp(arguments, "draft") != 0 && (again || !lists(arguments, name))) {
            refuse(call, 400, again ? "an argument is given twice" : "there is no such argument");
            return false;
        }
    }
    return true;
}

/*
 * The route of a verb, for the method and arguments of the request. NULL: the request is refused.
 */
static const struct route *find(const struct call *call, const struct route *list,
                                const char *verb) {
    const char *method = strcmp(call->request->method, "HEAD") == 0 ? "GET" : call->request->method;
    bool known = false;
    for (; list->act; list++) {
        if (strcmp(list->verb, verb) != 0)
            continue;
        known = true;
        if (strcmp(list->method, method) == 0)
            return takes(call, list->arguments) ? list : NULL;
    }
    refuse(call, known ? 405 : 404, "there is nothing at this path for this method");
    return NULL;
}

static void run_or_refuse(struct call *call, const struct route *route) {
    struct refusal refusal = {.text = NULL};
    call->cli.refusal = &refusal;
    if (setjmp(refusal.back) == 0) {
        route->act(call);
    } else {
        refuse(call, 400, refusal.text);
        free(refusal.text);
    }
}

static void on_queue(struct call *call, const char *name, const char *verb) {
    const struct route *route = find(call, call->item ? items : routes, verb);
    if (!route)
        return;
    dueq_status status = dueq_queue_open(call->cli.client, name, strlen(name), &call->cli.queue);
    if (status != DUEQ_OK) {
        api_end(call, status);
        return;
    }
    call->cli.queue_name = name;
    call->queue = (dueq_bytes){name, strlen(name)};
    run_or_refuse(call, route);
}

/* Describes the API: version, server, and whether it may change anything. */
static void tell(struct call *call) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "version", json_name(dueq_version()));
    json_object_object_add(object, "server", json_name(dueq_client_url(call->cli.client)));
    json_object_object_add(object, "writable", json_object_new_boolean(call->web->token != NULL));
    api_line(call, object);
}

static void follow(struct call *call) {
    call->answer->type = "text/event-stream";
    call->answer->stream = events_stream;
    call->answer->streamed = call->web;
}

static size_t split(const char *path, char *parts[API_PARTS], bool *good) {
    size_t count = 0;
    *good = true;
    while (*path == '/' && *good) {
        const size_t size = strcspn(++path, "/");
        *good = count < API_PARTS && (parts[count] = http_decode(path, size)) != NULL;
        count += *good;
        path += size;
    }
    return count;
}

static void route(struct call *call, char *const *parts, size_t count) {
    if (count > 1 && strcmp(parts[0], "queues") == 0) {
        call->item = count > 3 ? parts[3] : NULL;
        on_queue(call, parts[1], count > 2 ? parts[2] : "");
    } else if (count < 2) {
        const struct route *route = find(call, tops, count > 0 ? parts[0] : "");
        if (route)
            run_or_refuse(call, route);
    } else {
        refuse(call, 404, "there is nothing at this path");
    }
}

static void act(void *context) {
    struct call *call = context;
    bool good;
    call->cli.client = web_client(call->web);
    const size_t count = split(call->request->path + strlen("/api"), call->parts, &good);
    if (good)
        route(call, call->parts, count);
    else
        refuse(call, 404, "there is nothing at this path");
}

void api_handle(struct web *web, const struct http_request *request, struct http_answer *answer) {
    struct call call = {.web = web, .request = request, .answer = answer, .draft = DRAFT_NONE};
    call.cli.json = call.cli.finishing = true; /* the serving thread handles signals */
    answer->no_memory = !cli_try(act, &call);
    dueq_result_free(call.page);
    draft_end(&call.draft);
    dueq_queue_close(call.cli.queue);
    if (call.cli.client)
        web_client_back(web, call.cli.client);
    for (size_t i = 0; i < API_PARTS; i++)
        free(call.parts[i]);
}
