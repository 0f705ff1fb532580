#include <stdlib.h>
#include <string.h>

#include "web.h"

void api_put_line(FILE *out, const char *before, json_object *object) {
    fputs(before, out);
    json_write(out, object);
    fputc('\n', out);
    json_object_put(object);
}

void get_queues(struct call *call) {
    struct cli_names names = {0};
    dueq_status status = cli_read_names(&call->cli, &names);
    for (size_t i = 0; status == DUEQ_OK && i < names.count; i++) {
        const char *name = names.list[i];
        dueq_counts counts = DUEQ_COUNTS;
        dueq_queue *queue;
        status = dueq_queue_open(call->cli.client, name, strlen(name), &queue);
        if (status == DUEQ_OK)
            status = dueq_stats(queue, &counts);
        if (status == DUEQ_OK)
            api_line(call, json_of_counts(name, &counts));
        dueq_queue_close(queue);
    }
    cli_free_names(&names);
    call->answer->type = "application/x-ndjson";
    api_end(call, status);
}

void get_stats(struct call *call) {
    dueq_counts counts = DUEQ_COUNTS;
    dueq_status status = dueq_stats(call->cli.queue, &counts);
    api_end(call, status);
    if (status == DUEQ_OK)
        api_line(call, json_of_counts(call->cli.queue_name, &counts));
}

void get_rates(struct call *call) {
    const char *word = api_word(call, "minutes"), *other = api_word(call, "hours");
    const size_t hours =
        other ? (size_t)cli_number(&call->cli, "hours", other, 1, DUEQ_MAX_HOURS) : 0;
    const size_t minutes = word ? (size_t)cli_number(&call->cli, "minutes", word, 1, DUEQ_MAX_RATES)
                           : hours ? 0
                                   : 60;
    dueq_result *result;
    call->answer->type = "application/x-ndjson";
    api_end(call, dueq_rates(call->cli.queue, minutes, hours, &result));
    for (size_t i = 0; i < dueq_result_count(result); i++)
        api_line(call, json_of_rate(dueq_result_rate(result, i)));
    dueq_result_free(result);
}

/* Consumers */

/* The consumers of the queue of the request, or of all queues. */
void get_workers(struct call *call) {
    struct workers_view workers = {0};
    char *name = (char *)(uintptr_t)call->cli.queue_name;
    dueq_status status = workers_read(&call->cli, &name, name != NULL, &workers);
    call->answer->type = "application/x-ndjson";
    for (size_t i = 0, count; status == DUEQ_OK && i < workers.count; i += count) {
        count = workers_queue_count(&workers, i);
        api_line(call, json_of_worker(&workers.list[i], count));
    }
    workers_end(&workers);
    api_end(call, status);
}

static bool show_running(void *context, const char *queue, const struct running *running,
                         const dueq_message *message, size_t shown) {
    (void)shown;
    api_line(context, json_of_running(queue, running, message));
    return true;
}

/* The messages that the consumers of the queue, or of all queues, have held longest. */
void get_running(struct call *call) {
    const size_t most = api_count(call, 20);
    struct workers_view workers = {0};
    char *name = (char *)(uintptr_t)call->cli.queue_name;
    dueq_status status = workers_read(&call->cli, &name, name != NULL, &workers);
    call->answer->type = "application/x-ndjson";
    if (status == DUEQ_OK)
        status = running_read(&call->cli, &workers, most, show_running, call);
    workers_end(&workers);
    api_end(call, status);
}

static void put_why(const char *queue, const struct diagnosis *why, const char *before, FILE *out) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "queue",
                           queue ? json_text((dueq_bytes){queue, strlen(queue)}) : NULL);
    json_object_object_add(object, "cause", json_name(cause_code(why->cause)));
    json_object_object_add(object, "level", json_name(severity_name(why->level)));
    json_object_object_add(object, "why", json_text((dueq_bytes){why->text, strlen(why->text)}));
    json_object_object_add(object, "fix", json_name(cause_fix(why->cause)));
    api_put_line(out, before, object);
}

void put_diagnoses(const struct queue_rows *rows, const char *before, FILE *out) {
    struct diagnosis why;
    if (diagnose_servers(rows, &why))
        put_why(NULL, &why, before, out);
    for (size_t i = 0; i < rows->count; i++)
        if (diagnose_queue(rows, &rows->list[i], &why))
            put_why(rows->list[i].queue, &why, before, out);
}

void put_unreadable(const struct cli *cli, dueq_status status, const char *before, FILE *out) {
    struct diagnosis why = {.cause = CAUSE_UNREADABLE, .level = SEVERITY_ACT};
    char problem[DIAGNOSIS_SIZE / 2];
    describe_failure(cli, status, problem, sizeof problem);
    snprintf(why.text, sizeof why.text, "the diagnosis cannot be read: %s", problem);
    put_why(NULL, &why, before, out);
}

/* The diagnoses of the server, and of the queue or of all queues. */
void get_why(struct call *call) {
    struct queue_rows rows = {0};
    char *name = (char *)(uintptr_t)call->cli.queue_name;
    dueq_status status = queue_rows_read(&call->cli, &name, name != NULL, &rows, NULL);
    call->answer->type = "application/x-ndjson";
    put_diagnoses(&rows, "", call->answer->out);
    queue_rows_end(&rows);
    api_end(call, status);
}

void get_inspect(struct call *call) {
    const dueq_bytes id = {call->item, strlen(call->item)};
    struct workers_view workers = {0};
    struct history history = {0};
    dueq_result *result;
    dueq_queue_preview(call->cli.queue, CLI_PREVIEW);
    dueq_status status = dueq_find(call->cli.queue, id, &result);
    const dueq_message *message = dueq_result_message(result, 0);
    if (message)
        status = inspect_read(&call->cli, message, &workers, &history);
    if (status == DUEQ_OK)
        api_line(call, json_of_inspected(call->cli.queue_name, message, &workers, &history));
    else
        api_item(call, "id", id, status);
    history_end(&history);
    workers_end(&workers);
    dueq_result_free(result);
}

/* Counts the request as one that waits for a result. False: WEB_WAITERS wait; refuses it. */
static bool begin_waiting(struct call *call) {
    struct web *web = call->web;
    char text[128];
    pthread_mutex_lock(&web->lock);
    const bool room = web->waiters < WEB_WAITERS;
    web->waiters += room;
    pthread_mutex_unlock(&web->lock);
    if (room)
        return true;
    snprintf(text, sizeof text,
             "%d requests wait for results, and no more may: send the request again in a second, "
             "or without wait",
             WEB_WAITERS);
    api_refuse(call, 503, "BUSY", text);
    return false;
}

static void end_waiting(struct web *web) {
    pthread_mutex_lock(&web->lock);
    web->waiters--;
    pthread_mutex_unlock(&web->lock);
}

/*
 * A message that has not ended when the wait is over has the status EMPTY. The request ends no
 * message, because a reader may send it, who may change nothing.
 */
void get_result(struct call *call) {
    const dueq_bytes id = {call->item, strlen(call->item)};
    const int64_t wait_ms = api_wait_ms(call);
    dueq_result *result;
    if (wait_ms > 0 && !begin_waiting(call))
        return;
    dueq_queue_look_only(call->cli.queue);
    dueq_status status =
        api_finish(call, dueq_outcome_submit(call->cli.queue, id, wait_ms), &result);
    if (wait_ms > 0)
        end_waiting(call->web);
    const dueq_end *end = dueq_result_end(result, 0);
    if (end)
        api_line(call, json_of_end(call->cli.queue_name, end));
    else if (status == DUEQ_EMPTY)
        api_line(call, json_of_item("id", id, status, 0));
    else
        api_item(call, "id", id, status);
    dueq_result_free(result);
}

/* Messages */

static void keep(dueq_bytes *cursor, dueq_bytes next) {
    free((void *)(uintptr_t)cursor->data);
    *cursor = (dueq_bytes){NULL, 0};
    if (next.size == 0)
        return;
    void *data = malloc(next.size);
    if (!data)
        cli_out_of_memory();
    memcpy(data, next.data, next.size);
    *cursor = (dueq_bytes){data, next.size};
}

static size_t lesser(size_t one, size_t other) { return one < other ? one : other; }

dueq_status scan_state(struct call *call, dueq_state state, dueq_bytes *cursor, size_t wanted,
                       scan_page *see, void *context) {
    dueq_status status;
    size_t looked = 0;
    dueq_queue_preview(call->cli.queue, CLI_PREVIEW);
    do {
        const size_t asked = lesser(WEB_STEP, wanted);
        status = dueq_peek(call->cli.queue, state, *cursor, asked, &call->page);
        if (status != DUEQ_OK)
            break;
        looked += asked;
        keep(cursor, dueq_result_cursor(call->page));
        wanted = see(call, call->page, context);
        dueq_result_free(call->page);
        call->page = NULL;
    } while (wanted > 0 && cursor->size > 0 && looked < WEB_LOOKED);
    return status;
}

struct search {
    dueq_state state;
    dueq_bytes text; /* size 0: any message */
    size_t wanted, found;
};

static bool has(dueq_bytes bytes, dueq_bytes text) {
    return bytes.size > 0 && memmem(bytes.data, bytes.size, text.data, text.size) != NULL;
}

static bool fits(const dueq_message *message, dueq_bytes text) {
    if (text.size == 0 || has(message->id, text) || has(message->error, text))
        return true;
    for (size_t i = 0; i < message->header_count; i++)
        if (has(message->headers[i].name, text) || has(message->headers[i].value, text))
            return true;
    return false;
}

static size_t show(struct call *call, const dueq_result *page, void *context) {
    struct search *search = context;
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        const dueq_bytes id = dueq_result_id(page, i);
        if (message ? !fits(message, search->text)
                    : search->text.size > 0 && !has(id, search->text))
            continue;
        const char *name = call->cli.queue_name;
        api_line(call, message ? json_of_preview(name, message)
                               : json_of_damaged(name, id, search->state));
        search->found++;
    }
    if (search->found >= search->wanted)
        return 0;
    return search->text.size > 0 ? WEB_STEP : search->wanted - search->found;
}

dueq_bytes cursor_begin(const struct call *call) {
    const char *after = api_word(call, "after");
    dueq_bytes cursor = {NULL, 0};
    keep(&cursor, (dueq_bytes){after, after ? strlen(after) : 0});
    return cursor;
}

void cursor_end(const struct call *call, dueq_bytes *cursor) {
    api_next(call, *cursor);
    keep(cursor, (dueq_bytes){NULL, 0});
}

void get_messages(struct call *call) {
    const char *state = api_word(call, "state"), *text = api_word(call, "text");
    struct search search = {.state = state ? cli_state(&call->cli, state) : DUEQ_READY,
                            .text = {text, text ? strlen(text) : 0},
                            .wanted = api_count(call, 100)};
    dueq_bytes cursor = cursor_begin(call);
    call->answer->type = "application/x-ndjson";
    const size_t wanted = search.text.size > 0 ? WEB_STEP : search.wanted;
    api_end(call, scan_state(call, search.state, &cursor, wanted, show, &search));
    cursor_end(call, &cursor);
}

/* Messages that are being sent, whole, to the client. */
struct whole {
    dueq_result *result;
    size_t index, at; /* index: the current message. at: how much of its body was written */
    bool begun, text; /* text: its body is UTF-8 */
    char queue[DUEQ_MAX_NAME + 1];
};

static void end_whole(void *context) {
    struct whole *whole = context;
    dueq_result_free(whole->result);
    free(whole);
}

/* Writes the message up to its body, which is the last member of json_of_message(). */
static void begin_message(struct whole *whole, const dueq_message *message, FILE *out) {
    json_object *object = json_of_head(whole->queue, message);
    char *line = json_line_of(object);
    whole->text = text_is_utf8(message->body);
    whole->begun = true;
    fwrite(line, 1, strlen(line) - 1, out);
    fputs(whole->text ? ",\"body\":\"" : ",\"body_base64\":\"", out);
    free(line);
    json_object_put(object);
}

static void write_part(const struct whole *whole, dueq_bytes part, FILE *out) {
    if (whole->text) {
        json_write_part(out, part);
        return;
    }
    char *encoded = text_base64(part);
    if (!encoded)
        cli_out_of_memory();
    fputs(encoded, out);
    free(encoded);
}

/*
 * Writes the next piece of a message. A body may have half a gigabyte, so it is escaped piece by
 * piece.
 */
static bool write_whole(const struct http_request *request, void *context, uint64_t *seen,
                        FILE *out) {
    struct whole *whole = context;
    const dueq_message *message = dueq_result_message(whole->result, whole->index);
    (void)request;
    (void)seen;
    if (!message)
        return false;
    if (!whole->begun)
        begin_message(whole, message, out);
    const char *data = message->body.data;
    const size_t size = lesser(WEB_PIECE, message->body.size - whole->at);
    write_part(whole, (dueq_bytes){data + whole->at, size}, out);
    whole->at += size;
    if (whole->at == message->body.size) {
        fputs("\"}\n", out);
        whole->index++;
        whole->at = 0;
        whole->begun = false;
    }
    return whole->index < dueq_result_count(whole->result);
}

void answer_messages(struct call *call, dueq_result *result) {
    struct whole *whole = calloc(1, sizeof *whole);
    if (!whole) {
        dueq_result_free(result);
        cli_out_of_memory();
    }
    whole->result = result;
    snprintf(whole->queue, sizeof whole->queue, "%s", call->cli.queue_name);
    call->answer->type = "application/x-ndjson";
    call->answer->stream = write_whole;
    call->answer->streamed = whole;
    call->answer->release = end_whole;
}

void get_message(struct call *call) {
    const dueq_bytes id = {call->item, strlen(call->item)};
    const char *preview = api_word(call, "preview");
    dueq_result *result;
    if (preview && strcmp(preview, "1") != 0)
        cli_usage(&call->cli, "preview is 1 or left out");
    if (preview)
        dueq_queue_preview(call->cli.queue, CLI_PREVIEW);
    dueq_status status = dueq_find(call->cli.queue, id, &result);
    if (status != DUEQ_OK) {
        api_item(call, "id", id, status);
        dueq_result_free(result);
    } else if (preview) {
        call->page = result;
        api_line(call, json_of_preview(call->cli.queue_name, dueq_result_message(result, 0)));
    } else {
        answer_messages(call, result);
    }
}

/* Dead messages by their errors */

json_object *error_class_json(const dueq_message *message) {
    char text[ERROR_CLASS_SIZE];
    const bool failed = error_class(message, text);
    return json_text((dueq_bytes){text, failed ? strlen(text) : 0});
}

static size_t group(struct call *call, const dueq_result *page, void *context) {
    json_object *groups = context, *found;
    (void)call;
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        if (!message)
            continue;
        json_object *error = error_class_json(message);
        const char *text = json_object_get_string(error);
        if (!json_object_object_get_ex(groups, text, &found)) {
            found = json_object_new_object();
            json_object_object_add(groups, text, found);
            json_object_object_add(found, "error", json_object_get(error));
            json_object_object_add(found, "count", json_object_new_int64(0));
            json_object_object_add(found, "first_ms", json_object_new_int64(message->time_ms));
            json_object_object_add(found, "last_ms", NULL);
            json_object_object_add(found, "id", json_text(message->id));
        }
        json_object_int_inc(json_object_object_get(found, "count"), 1);
        json_object_object_add(found, "last_ms", json_object_new_int64(message->time_ms));
        json_object_put(error);
    }
    return WEB_STEP;
}

void get_errors(struct call *call) {
    dueq_bytes cursor = cursor_begin(call);
    json_object *groups = json_object_new_object();
    call->answer->type = "application/x-ndjson";
    dueq_status status = scan_state(call, DUEQ_DEAD, &cursor, WEB_STEP, group, groups);
    json_object_object_foreach(groups, text, found) {
        (void)text;
        api_line(call, json_object_get(found));
    }
    json_object_put(groups);
    api_end(call, status);
    cursor_end(call, &cursor);
}

/* Groups and batches */

/* Answers a page of what `verb` lists, an item in each line. */
static void get_page(struct call *call,
                     dueq_status (*verb)(dueq_queue *queue, dueq_bytes cursor, size_t count,
                                         dueq_result **page),
                     json_object *(*json_of)(const dueq_result *page, size_t i)) {
    const size_t count = api_count(call, 100);
    dueq_bytes cursor = cursor_begin(call);
    dueq_result *page;
    call->answer->type = "application/x-ndjson";
    api_end(call, verb(call->cli.queue, cursor, count, &page));
    for (size_t i = 0; i < dueq_result_count(page); i++)
        api_line(call, json_of(page, i));
    keep(&cursor, dueq_result_cursor(page));
    cursor_end(call, &cursor);
    dueq_result_free(page);
}

static json_object *json_of_group_at(const dueq_result *page, size_t i) {
    return json_of_group(dueq_result_group(page, i));
}

static json_object *json_of_batch_at(const dueq_result *page, size_t i) {
    return json_of_batch(dueq_result_batch(page, i));
}

void get_groups(struct call *call) { get_page(call, dueq_groups, json_of_group_at); }

void get_batches(struct call *call) { get_page(call, dueq_batches, json_of_batch_at); }

void get_limits(struct call *call) {
    dueq_result *result;
    const dueq_status status = dueq_limits(call->cli.queue, &result);
    api_end(call, status);
    if (status == DUEQ_OK)
        api_line(call, json_of_limits(call->cli.queue_name, dueq_result_limits(result)));
    dueq_result_free(result);
}

void get_batch(struct call *call) {
    const dueq_bytes id = {call->item, strlen(call->item)};
    dueq_result *result;
    const dueq_status status = dueq_find_batch(call->cli.queue, id, &result);
    const dueq_batch *batch = dueq_result_batch(result, 0);
    if (batch)
        api_line(call, json_of_batch(batch));
    else
        api_item(call, "id", id, status);
    dueq_result_free(result);
}

/* Schedules */

static size_t show_schedules(struct call *call, const dueq_result *page, void *context) {
    (void)context;
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        if (message && dueq_is_schedule(message))
            api_line(call, json_of_schedule(call->cli.queue_name, message));
    }
    return WEB_STEP;
}

/*
 * Lists the schedules among ready, delayed, leased and dead messages. Its cursor is the digit of a
 * state, and the cursor in that state.
 */
void get_schedules(struct call *call) {
    const char *after = api_word(call, "after");
    dueq_state state = DUEQ_READY;
    dueq_bytes cursor = {NULL, 0};
    if (after && (*after < '0' + DUEQ_READY || *after > '0' + DUEQ_DEAD))
        cli_usage(&call->cli, "after is no cursor of schedules: take it from Dueq-Next");
    if (after) {
        state = (dueq_state)(*after - '0');
        keep(&cursor, (dueq_bytes){after + 1, strlen(after + 1)});
    }
    call->answer->type = "application/x-ndjson";
    dueq_status status;
    do
        status = scan_state(call, state, &cursor, WEB_STEP, show_schedules, NULL);
    while (status == DUEQ_OK && cursor.size == 0 && state++ < DUEQ_DEAD);
    api_end(call, status);
    if (cursor.size > 0) {
        char *next = http_encode(cursor);
        if (asprintf(&call->answer->next, "%d%s", (int)state, next) < 0)
            cli_out_of_memory();
        free(next);
    }
    keep(&cursor, (dueq_bytes){NULL, 0});
}
