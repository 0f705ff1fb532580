/* The verbs of the steps. */
#include "run.h"

static void do_open(struct run *run, json_object *step) {
    dueq_bytes name = copy(run, bytes(run, step, "name"));
    dueq_queue *queue;
    dueq_status status = dueq_queue_open(run->client, name.data, name.size, &queue);
    compare_status(run, field(step, "expect"), status);
    if (status)
        return;
    dueq_queue_close(run->queue);
    run->queue = queue;
    run->name = name;
}

static void fill_draft(struct run *run, json_object *from, dueq_draft *draft) {
    json_object *headers = field(from, "headers");
    *draft = (dueq_draft)DUEQ_DRAFT;
    draft->body = bytes(run, from, "body");
    draft->id = bytes(run, from, "id");
    draft->delay_ms = number(from, "delay_ms", 0);
    draft->at_ms = number(from, "at_ms", 0);
    draft->max_attempts = (uint32_t)number(from, "max_attempts", DUEQ_DEFAULT_ATTEMPTS);
    draft->lease_ms = number(from, "lease_ms", 0);
    draft->header_count = headers ? json_object_array_length(headers) : 0;
    dueq_header *all = keep(run, draft->header_count * sizeof *all);
    for (size_t i = 0; i < draft->header_count; i++) {
        json_object *pair = json_object_array_get_idx(headers, i);
        all[i].name = value(run, json_object_array_get_idx(pair, 0));
        all[i].value = value(run, json_object_array_get_idx(pair, 1));
    }
    draft->headers = all;
}

static void do_push(struct run *run, json_object *step) {
    json_object *list_of = field(step, "drafts");
    size_t length = list_of ? json_object_array_length(list_of) : 1;
    size_t count = length * (size_t)number(step, "times", 1);
    dueq_draft *drafts = keep(run, count * sizeof *drafts);
    dueq_result *result;
    for (size_t i = 0; i < count; i++)
        fill_draft(run, list_of ? json_object_array_get_idx(list_of, i % length) : step,
                   &drafts[i]);
    compare_status(run, field(step, "expect"), dueq_push(run->queue, drafts, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        json_object *from = list_of ? json_object_array_get_idx(list_of, i % length) : step;
        dueq_bytes id = dueq_result_id(result, i);
        if (drafts[i].id.size ? !same(id, drafts[i].id) : id.size != 22)
            wrong(run, "the id is %s", shown(run, id));
        remember(run, word(from, "as"), id, (dueq_bytes){"", 0});
    }
    dueq_result_free(result);
}

static void do_reserve(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *messages = field(expect, "messages");
    dueq_result *result;
    dueq_status status =
        dueq_reserve(run->queue, (size_t)number(step, "count", 1), number(step, "timeout_ms", 0),
                     number(step, "lease_ms", 0), &result);
    compare_status(run, expect, status);
    size_t count = dueq_result_count(result);
    if (field(expect, "count"))
        compare_number(run, "the number of messages", field(expect, "count"), (int64_t)count);
    if (messages && json_object_array_length(messages) != count)
        wrong(run, "%zu messages instead of %zu", count, json_object_array_length(messages));
    for (size_t i = 0; i < count; i++) {
        const dueq_message *message = dueq_result_message(result, i);
        remember(run, word(step, "as"), message->id, message->ticket);
        if (messages)
            compare_message(run, json_object_array_get_idx(messages, i), message);
    }
    dueq_result_free(result);
}

static struct capture *message_of(struct run *run, json_object *step) {
    struct capture *found = capture(run, word(step, "message"));
    if (!found)
        wrong(run, "no message has this name");
    return found;
}

static dueq_bytes ticket_of(struct run *run, json_object *step) {
    return message_of(run, step)->ticket;
}

/* The tickets of all that one step gave this name, the last first. */
static dueq_bytes *tickets_of(struct run *run, json_object *step, size_t *count) {
    struct capture *last = message_of(run, step), *one = last;
    for (*count = 0; one && one->step == last->step && !strcmp(one->name, last->name); ++*count)
        one = one->next;
    dueq_bytes *tickets = keep(run, *count * sizeof *tickets);
    one = last;
    for (size_t i = 0; i < *count; i++, one = one->next)
        tickets[i] = one->ticket;
    return tickets;
}

static void do_ack(struct run *run, json_object *step) {
    dueq_result *result;
    size_t count;
    dueq_bytes *tickets =
        field(step, "tickets") ? list(run, step, "tickets", &count) : tickets_of(run, step, &count);
    compare_status(run, field(step, "expect"), dueq_ack(run->queue, tickets, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    dueq_result_free(result);
}

typedef dueq_status (*on_ids)(dueq_queue *queue, const dueq_bytes *ids, size_t count,
                              dueq_result **result);

static void do_ids(struct run *run, json_object *step, on_ids verb) {
    dueq_result *result;
    size_t count = 1;
    dueq_bytes one = bytes(run, step, "id"), *ids = &one;
    if (field(step, "ids"))
        ids = list(run, step, "ids", &count);
    compare_status(run, field(step, "expect"), verb(run->queue, ids, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    dueq_result_free(result);
}

static void do_cancel(struct run *run, json_object *step) { do_ids(run, step, dueq_cancel); }

static void do_kick(struct run *run, json_object *step) { do_ids(run, step, dueq_kick); }

static void do_reschedule(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"),
                   dueq_reschedule(run->queue, bytes(run, step, "id"), number(step, "delay_ms", 0),
                                   number(step, "at_ms", 0)));
}

static void do_pause(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"), dueq_pause(run->queue));
}

static void do_resume(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"), dueq_resume(run->queue));
}

static dueq_state state_named(struct run *run, const char *name) {
    for (dueq_state state = DUEQ_READY; state <= DUEQ_DEAD; state++)
        if (!strcmp(name, dueq_state_name(state)))
            return state;
    wrong(run, "no state: %s", name);
    return DUEQ_READY;
}

/* Until there are none left: the whole of the state. */
static void do_purge(struct run *run, json_object *step) {
    dueq_state state = state_named(run, word(step, "state"));
    size_t purged, all = 0;
    dueq_status status;
    do {
        status = dueq_purge(run->queue, state, DUEQ_MAX_BATCH, &purged);
        all += purged;
    } while (status == DUEQ_OK);
    json_object *expect = field(step, "expect");
    compare_status(run, expect, status == DUEQ_EMPTY ? DUEQ_OK : status);
    if (field(expect, "purged"))
        compare_number(run, "the number of purged", field(expect, "purged"), (int64_t)all);
}

static void do_retry(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"),
                   dueq_retry(run->queue, ticket_of(run, step), number(step, "delay_ms", 0),
                              bytes(run, step, "error")));
}

static void do_extend(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"),
                   dueq_extend(run->queue, ticket_of(run, step), number(step, "lease_ms", 0)));
}

static void do_bury(struct run *run, json_object *step) {
    compare_status(run, field(step, "expect"),
                   dueq_bury(run->queue, ticket_of(run, step), bytes(run, step, "reason")));
}

static void do_find(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    dueq_result *result;
    compare_status(run, expect, dueq_find(run->queue, bytes(run, step, "id"), &result));
    if (field(expect, "message"))
        compare_message(run, field(expect, "message"), dueq_result_message(result, 0));
    dueq_result_free(result);
}

static void do_stats(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    dueq_counts counts = {0};
    const struct {
        const char *name;
        const int64_t *number;
    } fields[] = {{"ready", &counts.ready},       {"delayed", &counts.delayed},
                  {"leased", &counts.leased},     {"dead", &counts.dead},
                  {"acked", &counts.acked},       {"cancelled", &counts.cancelled},
                  {"purged", &counts.purged},     {"damaged", &counts.damaged},
                  {"paused", &counts.paused},     {"next_ms", &counts.next_ms},
                  {"next_in_ms", &counts.next_ms}};
    compare_status(run, expect, dueq_stats(run->queue, &counts));
    if (!expect)
        return;
    json_object_object_foreach(expect, name, wanted) {
        size_t i = 0, count = sizeof fields / sizeof *fields;
        while (i < count && strcmp(name, fields[i].name) != 0)
            i++;
        if (i == count && strcmp(name, "status") != 0)
            wrong(run, "no field of stats: %s", name);
        if (i < count && json_object_is_type(wanted, json_type_array))
            compare_distance(run, name, wanted, *fields[i].number);
        else if (i < count)
            compare_number(run, name, wanted, *fields[i].number);
    }
}

void do_step(struct run *run, json_object *step) {
    static const struct {
        const char *name;
        void (*run)(struct run *run, json_object *step);
    } verbs[] = {{"open", do_open},   {"push", do_push},     {"reserve", do_reserve},
                 {"ack", do_ack},     {"retry", do_retry},   {"extend", do_extend},
                 {"bury", do_bury},   {"cancel", do_cancel}, {"find", do_find},
                 {"stats", do_stats}, {"kick", do_kick},     {"reschedule", do_reschedule},
                 {"pause", do_pause}, {"resume", do_resume}, {"purge", do_purge}};
    run->verb = word(step, "do");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(run->verb, verbs[i].name)) {
            verbs[i].run(run, step);
            return;
        }
    size_t count;
    if (!strcmp(run->verb, "redis")) {
        dueq_bytes *words = list(run, step, "command", &count);
        compare_reply(run, field(step, "expect"), raw(run, words, count));
    } else {
        dueq_bytes *words = list(run, step, "args", &count);
        compare_reply(run, field(step, "expect"), script(run, run->verb, words, count));
    }
}
