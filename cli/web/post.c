#include <string.h>

#include "web.h"

/* Push */

/* Pushes a message. The arguments are the options of `dueq push`. */
void post_push(struct call *call) {
    static const struct option options[] = {DRAFT_OPTIONS, {NULL, 0, NULL, 0}};
    for (size_t i = 0; i < call->request->argument_count; i++) {
        const struct http_argument *given = &call->request->arguments[i];
        const struct option *option = options;
        while (option->name && strcmp(option->name, given->name) != 0)
            option++;
        if (!option->name)
            cli_usage(&call->cli, "a push has no argument %s", given->name);
        const bool plain = option->has_arg == no_argument ||
                           (option->has_arg == optional_argument && !*given->value);
        if (option->has_arg == no_argument && *given->value && strcmp(given->value, "1") != 0)
            cli_usage(&call->cli, "%s is 1 or left out", given->name);
        draft_option(&call->cli, &call->draft, option->val, plain ? NULL : given->value);
    }
    draft_ready(&call->cli, &call->draft);
    call->draft.draft.body = call->request->body;
    dueq_result *result;
    dueq_status status = dueq_push(call->cli.queue, &call->draft.draft, 1, &result);
    if (status >= 0)
        api_item(call, "id", dueq_result_id(result, 0), status);
    else
        api_end(call, status);
    dueq_result_free(result);
}

/* Reserve */

static void give_back(struct call *call, const dueq_result *result) {
    dueq_bytes tickets[DUEQ_MAX_BATCH];
    const size_t count = dueq_result_count(result);
    for (size_t i = 0; i < count; i++)
        tickets[i] = dueq_result_message(result, i)->ticket;
    dueq_release(call->cli.queue, tickets, count, 0, NULL);
}

void post_reserve(struct call *call) {
    const char *lease = api_word(call, "lease");
    const size_t count = api_count(call, 1);
    const int64_t wait_ms = api_wait_ms(call);
    const int64_t lease_ms = lease ? cli_duration(&call->cli, "lease", lease) : 0;
    dueq_result *result;
    dueq_status status =
        api_finish(call, dueq_reserve_submit(call->cli.queue, count, wait_ms, lease_ms), &result);
    if (status == DUEQ_OK && !http_wait(call->request, 0)) {
        give_back(call, result);
        status = DUEQ_EMPTY; /* the client is gone */
    }
    api_end(call, status);
    if (status == DUEQ_OK)
        answer_messages(call, result);
    else
        dueq_result_free(result);
}

/* Verbs about tickets or ids, which are the lines of the body */

/* Cuts the next line that is not empty off the body. False: there is none. */
static bool cut(dueq_bytes *rest, dueq_bytes *line) {
    do {
        if (rest->size == 0)
            return false;
        const char *data = rest->data, *end = memchr(data, '\n', rest->size);
        const size_t size = end ? (size_t)(end - data) : rest->size, used = size + (end != NULL);
        *line = (dueq_bytes){data, size};
        *rest = (dueq_bytes){data + used, rest->size - used};
    } while (line->size == 0);
    return true;
}

typedef dueq_status submit(dueq_queue *queue, const dueq_bytes *items, size_t count);
typedef dueq_status timed(dueq_queue *queue, const dueq_bytes *items, size_t count, int64_t ms);

/*
 * Calls a verb for all lines of the body, as the shell does for `-`. Either `plain` or `begin` is
 * NULL; ms is for `begin`.
 */
static void each(struct call *call, const char *key, submit *plain, timed *begin, int64_t ms) {
    dueq_bytes rest = call->request->body, items[DUEQ_MAX_BATCH];
    dueq_status worst = DUEQ_OK;
    size_t count, all = 0;
    do {
        for (count = 0; count < DUEQ_MAX_BATCH && cut(&rest, &items[count]);)
            count++;
        if (count == 0)
            break;
        dueq_result *result;
        dueq_status status =
            plain ? plain(call->cli.queue, items, count) : begin(call->cli.queue, items, count, ms);
        status = api_finish(call, status, &result);
        for (size_t i = 0; i < dueq_result_count(result); i++)
            api_line(call, json_of_item(key, items[i], dueq_result_status(result, i),
                                        dueq_result_state(result, i)));
        dueq_result_free(result);
        worst = status < 0 || worst == DUEQ_OK ? status : worst;
        all += count;
    } while (worst >= 0);
    if (all == 0)
        cli_usage(&call->cli, "the body is empty; write one %s on each line", key);
    api_end(call, worst);
}

/* The only line of the body. Refuses more lines, and none. */
static dueq_bytes one(const struct call *call, const char *key) {
    dueq_bytes rest = call->request->body, line, other;
    if (!cut(&rest, &line) || cut(&rest, &other))
        cli_usage(&call->cli, "the body must be one line with one %s", key);
    return line;
}

static int64_t duration(const struct call *call, const char *name, int64_t otherwise) {
    const char *word = api_word(call, name);
    return word ? cli_duration(&call->cli, name, word) : otherwise;
}

static dueq_bytes text(const struct call *call, const char *name) {
    const char *word = api_word(call, name);
    return (dueq_bytes){word, word ? strlen(word) : 0};
}

void post_ack(struct call *call) { each(call, "ticket", dueq_ack_submit, NULL, 0); }

void post_release(struct call *call) {
    each(call, "ticket", NULL, dueq_release_submit, duration(call, "delay", 0));
}

void post_extend(struct call *call) {
    each(call, "ticket", NULL, dueq_extend_submit, duration(call, "lease", DUEQ_DEFAULT_LEASE_MS));
}

void post_kick(struct call *call) { each(call, "id", dueq_kick_submit, NULL, 0); }

void post_kill(struct call *call) { each(call, "id", dueq_kill_submit, NULL, 0); }

void post_cancel(struct call *call) { each(call, "id", dueq_cancel_submit, NULL, 0); }

void post_retry(struct call *call) {
    const dueq_bytes ticket = one(call, "ticket");
    const int64_t delay_ms = duration(call, "delay", DUEQ_BY_POLICY);
    api_item(call, "ticket", ticket,
             dueq_retry(call->cli.queue, ticket, delay_ms, text(call, "error")));
}

void post_bury(struct call *call) {
    const dueq_bytes ticket = one(call, "ticket");
    api_item(call, "ticket", ticket, dueq_bury(call->cli.queue, ticket, text(call, "reason")));
}

void post_reschedule(struct call *call) {
    const dueq_bytes id = one(call, "id");
    const char *at = api_word(call, "at");
    const int64_t delay_ms = duration(call, "delay", 0);
    const int64_t at_ms = at ? cli_point(&call->cli, "at", at) : 0;
    if (at && api_word(call, "delay"))
        cli_usage(&call->cli, "give either delay or at, not both");
    api_item(call, "id", id, dueq_reschedule(call->cli.queue, id, delay_ms, at_ms));
}

/* Verbs about all dead messages */

void post_kick_all(struct call *call) {
    const char *since = api_word(call, "since"), *until = api_word(call, "until");
    const dueq_filter filter = {sizeof(dueq_filter), text(call, "error"),
                                since ? cli_point(&call->cli, "since", since) : 0,
                                until ? cli_point(&call->cli, "until", until) : 0};
    const int64_t end_ms = time_monotonic_ms() + WEB_BUSY_MS;
    dueq_bytes cursor = text(call, "after");
    dueq_result *page = NULL;
    dueq_status status;
    size_t kicked = 0;
    do {
        dueq_result *next;
        status = dueq_kick_all(call->cli.queue, &filter, cursor, WEB_STEP, &next);
        dueq_result_free(page);
        page = next;
        cursor = dueq_result_cursor(page);
        kicked += dueq_result_kicked(page);
    } while (status == DUEQ_OK && cursor.size > 0 && time_monotonic_ms() < end_ms);
    api_next(call, cursor);
    dueq_result_free(page);
    api_sum(call, kicked, "kicked");
    api_end(call, status);
}

/* Verbs about a group */

static dueq_bytes group_of(const struct call *call) {
    const dueq_bytes group = text(call, "group");
    if (!group.data)
        cli_usage(&call->cli, "the argument group is missing");
    return group;
}

static int64_t hold_of(const struct call *call) {
    const char *word = api_word(call, "duration");
    if (!word)
        cli_usage(&call->cli, "the argument duration is missing: 30s, 10m; 0 ends the hold");
    return cli_duration(&call->cli, "duration", word);
}

void post_hold(struct call *call) {
    const dueq_bytes group = group_of(call);
    const int64_t ms = hold_of(call);
    api_item(call, "queue", call->queue, dueq_hold(call->cli.queue, group, ms));
}

void post_hold_group(struct call *call) {
    const dueq_bytes ticket = one(call, "ticket");
    const int64_t ms = hold_of(call);
    api_item(call, "ticket", ticket, dueq_hold_group(call->cli.queue, ticket, ms));
}

void post_purge_group(struct call *call) {
    const dueq_bytes group = group_of(call);
    const int64_t end_ms = time_monotonic_ms() + WEB_BUSY_MS;
    dueq_bytes cursor = text(call, "after");
    dueq_result *page = NULL;
    dueq_status status;
    size_t purged = 0;
    do {
        dueq_result *next;
        status = dueq_purge_group(call->cli.queue, group, cursor, WEB_STEP, &next);
        dueq_result_free(page);
        page = next;
        cursor = dueq_result_cursor(page);
        purged += dueq_result_purged(page);
    } while (status == DUEQ_OK && cursor.size > 0 && time_monotonic_ms() < end_ms);
    api_next(call, cursor);
    dueq_result_free(page);
    api_sum(call, purged, "purged");
    api_end(call, status);
}

struct kicks {
    const char *group;
    dueq_status status;
    size_t kicked;
    int64_t end_ms;
};

static size_t kick_those(struct call *call, const dueq_result *page, void *context) {
    struct kicks *kicks = context;
    dueq_bytes ids[DUEQ_MAX_BATCH];
    size_t count = 0;
    for (size_t i = 0; i < dueq_result_count(page); i++) {
        const dueq_message *message = dueq_result_message(page, i);
        json_object *group = message ? error_class_json(message) : NULL;
        if (group && strcmp(json_object_get_string(group), kicks->group) == 0)
            ids[count++] = message->id;
        json_object_put(group);
    }
    dueq_result *result = NULL;
    if (count > 0)
        kicks->status = dueq_kick(call->cli.queue, ids, count, &result);
    for (size_t i = 0; i < dueq_result_count(result); i++)
        kicks->kicked += dueq_result_status(result, i) == DUEQ_OK;
    dueq_result_free(result);
    return kicks->status < 0 || time_monotonic_ms() >= kicks->end_ms ? 0 : WEB_STEP;
}

/* Kicks the dead messages of one group of get_errors(). */
void post_kick_group(struct call *call) {
    const char *error = api_word(call, "error");
    if (!error)
        cli_usage(&call->cli, "error is missing: give the error of a group");
    struct kicks kicks = {.group = error, .end_ms = time_monotonic_ms() + WEB_BUSY_MS};
    dueq_bytes cursor = cursor_begin(call);
    dueq_status status = scan_state(call, DUEQ_DEAD, &cursor, WEB_STEP, kick_those, &kicks);
    cursor_end(call, &cursor);
    api_sum(call, kicks.kicked, "kicked");
    api_end(call, kicks.status < 0 ? kicks.status : status);
}

/* Verbs about the queue */

void post_pause(struct call *call) {
    api_item(call, "queue", call->queue, dueq_pause(call->cli.queue));
}

void post_resume(struct call *call) {
    api_item(call, "queue", call->queue, dueq_resume(call->cli.queue));
}

/* Verbs about a schedule, whose name is the body */

static void on_schedule(struct call *call, schedule_do *act) {
    const dueq_bytes line = one(call, "name");
    char name[DUEQ_MAX_SCHEDULE + 2]; /* a longer name is refused: it does not fit a schedule */
    dueq_result *found, *pushed = NULL;
    snprintf(name, sizeof name, "%.*s", (int)line.size, (const char *)line.data);
    dueq_status status = schedule_find(&call->cli, name, &found);
    const dueq_message *schedule = dueq_result_message(found, 0);
    if (status == DUEQ_OK)
        status = act ? act(&call->cli, schedule) : schedule_run(&call->cli, schedule, &pushed);
    if (status >= 0 && pushed)
        api_item(call, "id", dueq_result_id(pushed, 0), status);
    else
        api_item(call, "name", line, status);
    dueq_result_free(pushed);
    dueq_result_free(found);
}

void post_schedule_pause(struct call *call) { on_schedule(call, schedule_pause); }

void post_schedule_resume(struct call *call) { on_schedule(call, schedule_resume); }

void post_schedule_remove(struct call *call) { on_schedule(call, schedule_remove); }

void post_schedule_run(struct call *call) { on_schedule(call, NULL); }
