/* Runs the verbs for the model by libdueq: a request is a line of JSON, and so is its answer. */
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_ends.h"
#include "driver_json.h"
#include "dueq.h"

/* Pages are small, so that there are several. */
#define PAGE 2

static const char *names[MOST + 1]; /* the last is NULL */
static dueq_queue *queues[MOST];
/*
 * Handles for a reserve of two queues, by their place in it: a handle remembers what the next
 * reserve by it needs.
 */
static dueq_queue *apart[2][MOST];
static size_t queue_count;

static dueq_queue *queue_of(json_object *name) { return queues[place(names, text_of(name))]; }

/* Of the items from `first` on. */
static json_object *ids_of(const dueq_result *result, size_t first) {
    json_object *ids = json_object_new_array();
    for (size_t i = first; i < dueq_result_count(result); i++)
        json_object_array_add(ids, string(dueq_result_id(result, i)));
    return ids;
}

/* The statuses of the answer tell of a backlog: it is no failure. */
static dueq_status told(dueq_status status) { return status == DUEQ_BACKLOG ? DUEQ_OK : status; }

static dueq_status push(dueq_queue *queue, json_object *request, json_object *answer) {
    struct batch *batch = batch_of(json_object_object_get(request, "drafts"));
    dueq_result *result;
    dueq_status status = dueq_push(queue, batch->drafts, batch->count, &result);
    json_object_object_add(answer, "ids", ids_of(result, 0));
    json_object_object_add(answer, "statuses", statuses_of(result));
    dueq_result_free(result);
    batch_free(batch);
    return told(status);
}

static dueq_status ack_push(dueq_queue *queue, json_object *request, json_object *answer) {
    struct batch *batch = batch_of(json_object_object_get(request, "drafts"));
    dueq_queue *target = queue_of(json_object_object_get(request, "target"));
    dueq_result *result;
    dueq_status status =
        dueq_ack_push(queue, text(request, "ticket"), target == queue ? NULL : target,
                      batch->drafts, batch->count, &result);
    json_object_object_add(answer, "ids", ids_of(result, 1));
    json_object_object_add(answer, "statuses", statuses_of(result));
    dueq_result_free(result);
    batch_free(batch);
    return told(status);
}

static dueq_status reserve(json_object *request, json_object *answer) {
    json_object *list = json_object_object_get(request, "queues");
    size_t count = (size_t)number(request, "count"), several = json_object_array_length(list);
    int64_t lease_ms = number(request, "lease_ms");
    dueq_queue *sources[MOST];
    dueq_result *result;
    dueq_status status;
    for (size_t i = 0; i < several; i++)
        sources[i] = apart[i % 2][place(names, text_of(json_object_array_get_idx(list, i)))];
    if (several == 1)
        status =
            dueq_reserve(queue_of(json_object_array_get_idx(list, 0)), count, 0, lease_ms, &result);
    else
        status = dueq_reserve_any(
            sources, several,
            &(dueq_reserve_options){
                .struct_size = sizeof(dueq_reserve_options), .count = count, .lease_ms = lease_ms},
            &result);
    json_object *messages = json_object_new_array();
    add_messages(messages, result);
    size_t from = dueq_result_count(result) ? dueq_result_queue(result) : several;
    json_object_object_add(answer, "messages", messages);
    json_object_object_add(answer, "queue",
                           from < several ? json_object_get(json_object_array_get_idx(list, from))
                                          : json_object_new_string(""));
    dueq_result_free(result);
    return status;
}

typedef dueq_status each_verb(dueq_queue *queue, const dueq_bytes *items, size_t count,
                              dueq_result **result);

/* Those that messages were in when they were cancelled; null: there was none. */
static json_object *states_of(const dueq_result *result) {
    json_object *states = json_object_new_array();
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        dueq_state state = dueq_result_state(result, i);
        json_object_array_add(states,
                              state ? json_object_new_string(dueq_state_name(state)) : NULL);
    }
    return states;
}

static dueq_status each(dueq_queue *queue, each_verb *verb, json_object *items,
                        json_object *answer) {
    dueq_bytes texts[MOST];
    size_t count = json_object_array_length(items);
    for (size_t i = 0; i < count; i++)
        texts[i] = text_of(json_object_array_get_idx(items, i));
    dueq_result *result;
    dueq_status status = verb(queue, texts, count, &result);
    json_object_object_add(answer, "statuses", statuses_of(result));
    if (verb == dueq_cancel)
        json_object_object_add(answer, "states", states_of(result));
    dueq_result_free(result);
    return status;
}

static dueq_state state_of(json_object *request) {
    static const char *const states[] = {"", "ready", "delayed", "leased", "dead", "outbox", NULL};
    return (dueq_state)place(states, text(request, "state"));
}

static dueq_bytes copy(dueq_bytes bytes, char room[512]) {
    if (bytes.size)
        memcpy(room, bytes.data, bytes.size);
    return (dueq_bytes){room, bytes.size};
}

static dueq_status kick_all(dueq_queue *queue, json_object *request, json_object *answer) {
    dueq_filter filter = {sizeof(dueq_filter), text(request, "error"), number(request, "since_ms"),
                          number(request, "until_ms")};
    char room[512];
    dueq_bytes cursor = {NULL, 0};
    size_t kicked = 0;
    dueq_status status;
    do {
        dueq_result *result;
        status = dueq_kick_all(queue, &filter, cursor, PAGE, &result);
        kicked += dueq_result_kicked(result);
        cursor = copy(dueq_result_cursor(result), room);
        dueq_result_free(result);
    } while (!status && cursor.size);
    json_object_object_add(answer, "kicked", json_object_new_int64((int64_t)kicked));
    return status;
}

static dueq_status purge(dueq_queue *queue, json_object *request, json_object *answer) {
    size_t purged = 0, taken;
    dueq_status status;
    do {
        status = dueq_purge(queue, state_of(request), (size_t)number(request, "page"), &taken);
        purged += taken;
    } while (status == DUEQ_OK);
    json_object_object_add(answer, "purged", json_object_new_int64((int64_t)purged));
    return status;
}

static dueq_status peek(dueq_queue *queue, json_object *request, json_object *answer) {
    json_object *messages = json_object_new_array();
    char room[512];
    dueq_bytes cursor = {NULL, 0};
    dueq_status status;
    json_object_object_add(answer, "messages", messages);
    do {
        dueq_result *result;
        status = dueq_peek(queue, state_of(request), cursor, PAGE, &result);
        add_messages(messages, result);
        cursor = copy(dueq_result_cursor(result), room);
        dueq_result_free(result);
    } while (!status && cursor.size);
    return status;
}

static dueq_status find(dueq_queue *queue, json_object *ids, json_object *found) {
    for (size_t i = 0; i < json_object_array_length(ids); i++) {
        dueq_result *result;
        dueq_status status = dueq_find(queue, text_of(json_object_array_get_idx(ids, i)), &result);
        if (status < 0)
            return status;
        const dueq_message *message = dueq_result_message(result, 0);
        json_object_array_add(found, message ? shown(message) : NULL);
        dueq_result_free(result);
    }
    return DUEQ_OK;
}

static dueq_status count_all(dueq_queue *queue, json_object *numbers) {
    dueq_counts counts = DUEQ_COUNTS;
    dueq_status status = dueq_stats(queue, &counts);
    const struct {
        const char *name;
        int64_t number;
    } all[] = {{"ready", counts.ready},
               {"delayed", counts.delayed},
               {"leased", counts.leased},
               {"dead", counts.dead},
               {"pushed", counts.pushed},
               {"reserved", counts.reserved},
               {"acked", counts.acked},
               {"retried", counts.retried},
               {"expired", counts.expired},
               {"died", counts.died},
               {"cancelled", counts.cancelled},
               {"purged", counts.purged},
               {"quarantined", counts.quarantined},
               {"paused", counts.paused},
               {"next_event_ms", counts.next_event_ms}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_object_add(numbers, all[i].name, json_object_new_int64(all[i].number));
    return status;
}

static dueq_status look(json_object *ids, json_object *answer) {
    json_object *found = json_object_new_object(), *counts = json_object_new_object();
    dueq_status status = DUEQ_OK;
    json_object_object_add(answer, "found", found);
    json_object_object_add(answer, "counts", counts);
    for (size_t i = 0; i < queue_count && !status; i++) {
        json_object *messages = json_object_new_array(), *numbers = json_object_new_object();
        json_object_object_add(found, names[i], messages);
        json_object_object_add(counts, names[i], numbers);
        status = find(queues[i], json_object_object_get(ids, names[i]), messages);
        if (!status)
            status = count_all(queues[i], numbers);
    }
    return status;
}

static dueq_status lock(dueq_queue *queue, json_object *request, json_object *answer) {
    dueq_result *result;
    dueq_status status =
        dueq_lock(queue, text(request, "name"), number(request, "ttl_ms"), 0, &result);
    json_object_object_add(answer, "statuses", one_status(status));
    json_object_object_add(answer, "token",
                           string(status ? (dueq_bytes){NULL, 0} : dueq_result_id(result, 0)));
    dueq_result_free(result);
    return status;
}

static dueq_status limit(dueq_queue *queue, json_object *request) {
    dueq_limit_options options = DUEQ_LIMIT;
    dueq_bytes group = text(request, "group");
    int64_t rate = number(request, "rate"), concurrency = number(request, "concurrency"),
            burst = number(request, "burst"), backlog = number(request, "backlog");
    char written[32];
    dueq_bytes in_an_hour = {"none", 4};
    if (rate > 0)
        in_an_hour = (dueq_bytes){written, (size_t)sprintf(written, "%d/h", (int)rate)};
    else if (rate < 0)
        in_an_hour.size = 0;
    options.clear = json_object_get_boolean(json_object_object_get(request, "clear"));
    if (group.size) {
        options.group = group;
        options.concurrency = concurrency;
        options.rate = in_an_hour;
        options.burst = burst;
        options.backlog = backlog;
        options.weight = number(request, "weight");
    } else {
        options.each_group_concurrency = concurrency;
        options.each_group_rate = in_an_hour;
        options.each_group_burst = burst;
        options.each_group_backlog = backlog;
    }
    options.order = text(request, "order");
    return dueq_limit(queue, &options);
}

static dueq_status push_to(dueq_queue *queue, json_object *request, json_object *answer) {
    struct batch *batch = batch_of(json_object_object_get(request, "drafts"));
    dueq_queue *target = queue_of(json_object_object_get(request, "target"));
    dueq_result *result;
    dueq_status status = dueq_push_to(queue, target, batch->drafts, batch->count, &result);
    json_object_object_add(answer, "ids", ids_of(result, 0));
    json_object_object_add(answer, "statuses", statuses_of(result));
    dueq_result_free(result);
    batch_free(batch);
    return status;
}

/* The verbs that answer with a status alone. */
static dueq_status settle(dueq_queue *queue, const char *verb, json_object *request,
                          json_object *answer) {
    dueq_bytes ticket = text(request, "ticket"), name = text(request, "name"),
               token = text(request, "token");
    dueq_status status = DUEQ_INVALID;
    if (!strcmp(verb, "retry"))
        status = dueq_retry(queue, ticket, number(request, "delay_ms"), text(request, "error"));
    else if (!strcmp(verb, "release"))
        status = dueq_release(queue, &ticket, 1, number(request, "delay_ms"), NULL);
    else if (!strcmp(verb, "extend"))
        status = dueq_extend(queue, &ticket, 1, number(request, "lease_ms"), NULL);
    else if (!strcmp(verb, "checkpoint"))
        status = dueq_checkpoint(queue, ticket, text(request, "cursor"));
    else if (!strcmp(verb, "bury"))
        status = dueq_bury(queue, ticket, text(request, "error"));
    else if (!strcmp(verb, "reschedule"))
        status = dueq_reschedule(queue, text(request, "id"), number(request, "delay_ms"),
                                 number(request, "at_ms"));
    else if (!strcmp(verb, "limit"))
        status = limit(queue, request);
    else if (!strcmp(verb, "hold"))
        status = dueq_hold(queue, text(request, "group"), number(request, "ms"));
    else if (!strcmp(verb, "hold_group"))
        status = dueq_hold_group(queue, ticket, number(request, "ms"));
    else if (!strcmp(verb, "pause"))
        status = dueq_pause(queue);
    else if (!strcmp(verb, "resume"))
        status = dueq_resume(queue);
    else if (!strcmp(verb, "relock"))
        status = dueq_relock(queue, name, token, number(request, "ttl_ms"));
    else if (!strcmp(verb, "unlock"))
        status = dueq_unlock(queue, name, token);
    else if (!strcmp(verb, "ack_result"))
        status = dueq_ack_result(queue, ticket, text(request, "result"));
    else if (!strcmp(verb, "open_batch"))
        status = open_batch(queue, request);
    else if (!strcmp(verb, "close_batch"))
        status = dueq_close_batch(queue, text(request, "id"));
    json_object_object_add(answer, "statuses", one_status(status));
    return status;
}

static dueq_status run(json_object *request, json_object *answer) {
    const char *verb = json_object_get_string(json_object_object_get(request, "do"));
    if (!strcmp(verb, "forget"))
        return DUEQ_OK;
    if (!strcmp(verb, "look"))
        return look(json_object_object_get(request, "ids"), answer);
    if (!strcmp(verb, "reserve"))
        return reserve(request, answer);
    dueq_queue *queue = queue_of(json_object_object_get(request, "queue"));
    json_object *ids = json_object_object_get(request, "ids");
    if (!strcmp(verb, "push"))
        return push(queue, request, answer);
    if (!strcmp(verb, "ack_push"))
        return ack_push(queue, request, answer);
    if (!strcmp(verb, "ack"))
        return each(queue, dueq_ack, json_object_object_get(request, "tickets"), answer);
    if (!strcmp(verb, "cancel"))
        return each(queue, dueq_cancel, ids, answer);
    if (!strcmp(verb, "kick"))
        return each(queue, dueq_kick, ids, answer);
    if (!strcmp(verb, "kill"))
        return each(queue, dueq_kill, ids, answer);
    if (!strcmp(verb, "kick_all"))
        return kick_all(queue, request, answer);
    if (!strcmp(verb, "purge"))
        return purge(queue, request, answer);
    if (!strcmp(verb, "peek"))
        return peek(queue, request, answer);
    if (!strcmp(verb, "lock"))
        return lock(queue, request, answer);
    if (!strcmp(verb, "push_to"))
        return push_to(queue, request, answer);
    if (!strcmp(verb, "outcome"))
        return outcome(queue, request, answer);
    if (!strcmp(verb, "find_batch"))
        return find_batch(queue, request, answer);
    if (!strcmp(verb, "cancel_batch"))
        return cancel_batch(queue, request, answer, PAGE);
    return settle(queue, verb, request, answer);
}

static void open_queue(dueq_client *client, const char *name) {
    size_t size = strlen(name);
    if (dueq_queue_open(client, name, size, &queues[queue_count]) ||
        dueq_queue_open(client, name, size, &apart[0][queue_count]) ||
        dueq_queue_open(client, name, size, &apart[1][queue_count]))
        abort();
    names[queue_count++] = name;
}

int main(int count, char **words) {
    dueq_client *client;
    if (count < 3 || count - 2 > MOST || dueq_open(words[1], &client)) {
        fprintf(stderr, "usage: model_driver URL QUEUE...\n");
        return 2;
    }
    for (int i = 2; i < count; i++)
        open_queue(client, words[i]);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_object *request = json_tokener_parse(line), *answer = json_object_new_object();
        dueq_status status = run(request, answer);
        if (status < 0)
            json_object_object_add(answer, "failure",
                                   json_object_new_string(dueq_error_text(client)));
        puts(json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN));
        fflush(stdout);
        json_object_put(answer);
        json_object_put(request);
    }
    free(line);
    for (size_t i = 0; i < queue_count; i++) {
        dueq_queue_close(queues[i]);
        dueq_queue_close(apart[0][i]);
        dueq_queue_close(apart[1][i]);
    }
    dueq_close(client);
    return 0;
}
