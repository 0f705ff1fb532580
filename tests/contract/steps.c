/* The steps, and what producers and consumers do. */
#include "run.h"

static void do_open(struct run *run, json_object *step) {
    dueq_bytes name = copy(run, bytes(run, step, "name"));
    dueq_queue *queue;
    dueq_status status = open_named(run, name, (size_t)number(step, "partitions", 0), &queue);
    compare_status(run, field(step, "expect"), status);
    if (status)
        return;
    run->queue = queue;
    run->name = name;
}

/* The ids that NOT_DURABLE and BACKLOG tell; null: that message is not stored. */
static void compare_stored(struct run *run, json_object *expect, const dueq_result *result) {
    json_object *expected = field(expect, "stored");
    size_t first = dueq_result_first(result), count = dueq_result_count(result) - first;
    if (!expected)
        return;
    if (count != json_object_array_length(expected))
        wrong(run, "%zu are stored instead of %zu", count, json_object_array_length(expected));
    for (size_t i = 0; i < count; i++) {
        dueq_bytes id = dueq_result_id(result, first + i);
        json_object *wanted = json_object_array_get_idx(expected, i);
        bool is_refused = dueq_result_status(result, first + i) == DUEQ_BACKLOG;
        if (wanted ? is_refused || !same(id, value(run, wanted)) : !is_refused)
            wrong(run, "%s is stored", shown(run, id));
    }
}

static void do_push(struct run *run, json_object *step) {
    size_t count;
    dueq_draft *all = drafts(run, step, &count);
    dueq_result *result;
    compare_status(run, field(step, "expect"), dueq_push(run->queue, all, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    compare_stored(run, field(step, "expect"), result);
    if (result)
        remember_drafts(run, step, run->queue, all, result, 0);
    dueq_result_free(result);
}

static void do_ack_push(struct run *run, json_object *step) {
    const struct capture *message = captured(run, step, "message");
    dueq_bytes to = bytes(run, step, "to");
    dueq_queue *target = to.size ? queue_named(run, to) : NULL;
    size_t count;
    dueq_draft *all = drafts(run, step, &count);
    dueq_result *result;
    dueq_bytes kept = bytes(run, step, "result");
    compare_status(run, field(step, "expect"),
                   field(step, "result") ? dueq_ack_push_result(message->queue, message->ticket,
                                                                kept, target, all, count, &result)
                                         : dueq_ack_push(message->queue, message->ticket, target,
                                                         all, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    compare_stored(run, field(step, "expect"), result);
    if (result && !dueq_result_status(result, 0))
        remember_drafts(run, step, target ? target : message->queue, all, result, 1);
    dueq_result_free(result);
}

static void do_schedule(struct run *run, json_object *step) {
    static const char *const catchups[] = {"once", "skip", "all", NULL};
    size_t count;
    dueq_plan schedule = {sizeof(dueq_plan),
                          bytes(run, step, "name"),
                          bytes(run, step, "expression"),
                          bytes(run, step, "zone"),
                          field(step, "catchup")
                              ? (dueq_catchup)choice(run, step, "catchup", catchups)
                              : DUEQ_CATCHUP_ONCE,
                          drafts(run, field(step, "job"), &count),
                          bytes(run, step, "app"),
                          bytes(run, step, "release")};
    compare_status(run, field(step, "expect"), dueq_schedule(run->queue, &schedule));
}

/* With what the message says now, and the ticket of the one that was reserved. */
static void do_fire(struct run *run, json_object *step) {
    const struct capture *held = captured(run, step, "message");
    dueq_result *found;
    dueq_status status = dueq_find(held->queue, held->id, &found);
    if (status == DUEQ_OK) {
        dueq_message message = *dueq_result_message(found, 0);
        message.ticket = held->ticket;
        status = dueq_fire(held->queue, &message, NULL);
    }
    compare_status(run, field(step, "expect"), status);
    dueq_result_free(found);
}

/* The queues of a reserve of several; NULL: it is of the current one. */
static dueq_queue **queues_of(struct run *run, json_object *step, size_t *count) {
    if (!field(step, "queues"))
        return NULL;
    dueq_bytes *names = list(run, step, "queues", count);
    dueq_queue **queues = keep(run, *count * sizeof *queues);
    for (size_t i = 0; i < *count; i++)
        queues[i] = queue_named(run, names[i]);
    return queues;
}

static const char *const orders[] = {"preference", "round robin", NULL};

/* Made from core/options.toml by core/verbs.py: the options of reserve. */
static void fill_reserve(struct run *run, json_object *from, dueq_reserve_options *options) {
    options->count = (size_t)number(from, "count", 1);
    options->order = (dueq_order)choice(run, from, "order", orders);
    options->timeout_ms = number(from, "timeout_ms", 0);
    options->lease_ms = number(from, "lease_ms", 0);
}
/* The end of what was made. */

static void do_reserve(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    size_t queue_count = 1;
    dueq_queue **queues = queues_of(run, step, &queue_count), *queue = run->queue;
    dueq_reserve_options options = DUEQ_RESERVE;
    dueq_result *result;
    fill_reserve(run, step, &options);
    compare_status(run, expect,
                   dueq_reserve_any(queues ? queues : &queue, queue_count, &options, &result));
    size_t count = dueq_result_count(result);
    if (queues && count) {
        size_t place = dueq_result_queue(result);
        queue = queues[place];
        if (field(expect, "queue"))
            compare_bytes(run, "the queue", field(expect, "queue"),
                          list(run, step, "queues", &queue_count)[place]);
    }
    if (!queues && count && field(expect, "queue")) {
        char *part = keep(run, DUEQ_MAX_NAME + 1);
        size_t size = dueq_partition_name(run->name, dueq_result_queue(result), part);
        compare_bytes(run, "the queue", field(expect, "queue"), (dueq_bytes){part, size});
    }
    const dueq_message **messages = keep(run, count * sizeof *messages);
    dueq_queue *before = run->queue;
    run->queue = queue; /* what is named from here on is of this queue */
    for (size_t i = 0; i < count; i++) {
        messages[i] = dueq_result_message(result, i);
        remember(run, word(step, "as"), queue, messages[i]->id, messages[i]->ticket);
    }
    compare_messages(run, expect, messages, count);
    run->queue = before;
    dueq_result_free(result);
}

/* The tickets of all that one step gave this name, the last first. */
static dueq_bytes *tickets_of(struct run *run, const struct capture *last, size_t *count) {
    const struct capture *one = last;
    for (*count = 0; one && one->step == last->step && !strcmp(one->name, last->name); ++*count)
        one = one->next;
    dueq_bytes *tickets = keep(run, *count * sizeof *tickets);
    one = last;
    for (size_t i = 0; i < *count; i++, one = one->next)
        tickets[i] = one->ticket;
    return tickets;
}

static void do_ack(struct run *run, json_object *step) {
    dueq_queue *queue = run->queue;
    dueq_bytes *tickets;
    dueq_result *result;
    size_t count;
    if (field(step, "tickets")) {
        tickets = list(run, step, "tickets", &count);
    } else {
        const struct capture *last = captured(run, step, "message");
        queue = last->queue;
        tickets = tickets_of(run, last, &count);
    }
    if (field(step, "result")) {
        compare_status(run, field(step, "expect"),
                       dueq_ack_result(queue, *tickets, bytes(run, step, "result")));
        return;
    }
    compare_status(run, field(step, "expect"), dueq_ack(queue, tickets, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    dueq_result_free(result);
}

static void do_checkpoint(struct run *run, json_object *step) {
    const struct capture *message = captured(run, step, "message");
    compare_status(run, field(step, "expect"),
                   dueq_checkpoint(message->queue, message->ticket, bytes(run, step, "cursor")));
}

const struct verb work_verbs[] = {{"schedule", do_schedule},
                                  {"fire", do_fire},
                                  {"open", do_open},
                                  {"push", do_push},
                                  {"ack_push", do_ack_push},
                                  {"reserve", do_reserve},
                                  {"ack", do_ack},
                                  {"checkpoint", do_checkpoint},
                                  {NULL, NULL}};

static const struct verb *verb_named(const char *name) {
    const struct verb *const tables[] = {work_verbs, manage_verbs,   made_verbs,   batch_verbs,
                                         lock_verbs, redisson_verbs, laravel_verbs};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct verb *verb = tables[i]; verb->name; verb++)
            if (!strcmp(name, verb->name))
                return verb;
    return NULL;
}

void do_step(struct run *run, json_object *step) {
    run->verb = word(step, "do");
    const struct verb *verb = verb_named(run->verb);
    size_t count;
    if (verb) {
        verb->run(run, step);
    } else if (!strcmp(run->verb, "redis")) {
        dueq_bytes *words = list(run, step, "command", &count);
        compare_reply(run, field(step, "expect"), raw(run, words, count));
    } else {
        dueq_bytes *words = list(run, step, "args", &count);
        compare_reply(run, field(step, "expect"), script(run, run->verb, words, count));
    }
}
