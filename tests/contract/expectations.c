/* What a step expects against what came. */
#include "run.h"

#include <inttypes.h>

static bool reply_is(struct run *run, json_object *expected, const redisReply *reply) {
    if (!expected)
        return reply->type == REDIS_REPLY_NIL;
    if (json_object_is_type(expected, json_type_array)) {
        size_t count = json_object_array_length(expected);
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != count)
            return false;
        for (size_t i = 0; i < count; i++)
            if (!reply_is(run, json_object_array_get_idx(expected, i), reply->element[i]))
                return false;
        return true;
    }
    if (reply->type == REDIS_REPLY_INTEGER)
        return json_object_is_type(expected, json_type_int) &&
               json_object_get_int64(expected) == reply->integer;
    return (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS) &&
           same(value(run, expected), (dueq_bytes){reply->str, (size_t)reply->len});
}

const char *reply_text(struct run *run, const redisReply *reply) {
    dueq_bytes text = {"", 0};
    if (reply->type == REDIS_REPLY_INTEGER) {
        char *digits = keep(run, 24);
        snprintf(digits, 24, "%lld", reply->integer);
        return digits;
    }
    if (reply->type != REDIS_REPLY_ARRAY)
        return reply->str ? shown(run, (dueq_bytes){reply->str, (size_t)reply->len}) : "nil";
    for (size_t i = 0; i < reply->elements; i++) {
        text = join(run, text, BYTES("\n    "));
        text = join(run, text, BYTES(reply_text(run, reply->element[i])));
    }
    return text.data;
}

void compare_reply(struct run *run, json_object *expect, redisReply *reply) {
    json_object *expected;
    if (expect && json_object_object_get_ex(expect, "reply", &expected) &&
        !reply_is(run, expected, reply))
        wrong(run, "the reply is %s instead of %s", reply_text(run, reply),
              json_object_to_json_string(expected));
    freeReplyObject(reply);
}

void compare_number(struct run *run, const char *what, json_object *expected, int64_t got) {
    if (json_object_get_int64(expected) != got)
        wrong(run, "%s is %" PRId64 " instead of %" PRId64, what, got,
              json_object_get_int64(expected));
}

void compare_bytes(struct run *run, const char *what, json_object *expected, dueq_bytes got) {
    dueq_bytes wanted = value(run, expected);
    if (!same(wanted, got))
        wrong(run, "%s is %s instead of %s", what, shown(run, got), shown(run, wanted));
}

bool is_distance(struct run *run, json_object *expected, int64_t time_ms) {
    int64_t least = json_object_get_int64(json_object_array_get_idx(expected, 0));
    int64_t most = json_object_get_int64(json_object_array_get_idx(expected, 1));
    int64_t distance = time_ms - server_ms(run);
    return distance >= least && distance <= most;
}

void compare_time(struct run *run, const char *what, json_object *expected, int64_t time_ms) {
    if (!json_object_is_type(expected, json_type_array))
        compare_number(run, what, expected, time_ms);
    else if (!is_distance(run, expected, time_ms))
        wrong(run, "%s is about %" PRId64 " instead of %s", what, time_ms - server_ms(run),
              json_object_to_json_string(expected));
}

void compare_status(struct run *run, json_object *expect, dueq_status got) {
    json_object *wanted = field(expect, "status");
    bool several = json_object_is_type(wanted, json_type_array), is_one = false;
    for (size_t i = 0; i < (several ? json_object_array_length(wanted) : 1); i++) {
        json_object *one = several ? json_object_array_get_idx(wanted, i) : wanted;
        is_one = is_one || !strcmp(one ? json_object_get_string(one) : "OK", dueq_status_name(got));
    }
    if (!is_one)
        wrong(run, "%s instead of %s: %s", dueq_status_name(got),
              wanted ? json_object_get_string(wanted) : "OK", dueq_error_text(run->client));
    if (got < 0 && !dueq_error_text(run->client)[0])
        wrong(run, "%s without a text", dueq_status_name(got));
}

void compare_statuses(struct run *run, json_object *expect, const dueq_result *result) {
    json_object *expected = field(expect, "statuses");
    size_t count = dueq_result_count(result);
    if (!expected)
        return;
    if (json_object_is_type(expected, json_type_array)) {
        if (count != json_object_array_length(expected))
            wrong(run, "%zu outcomes instead of %zu", count, json_object_array_length(expected));
        for (size_t i = 0; i < count; i++) {
            const char *wanted = json_object_get_string(json_object_array_get_idx(expected, i));
            const char *got = dueq_status_name(dueq_result_status(result, i));
            if (strcmp(wanted, got) != 0)
                wrong(run, "outcome %zu is %s instead of %s", i, got, wanted);
        }
        return;
    }
    size_t total = 0;
    json_object_object_foreach(expected, name, wanted) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += !strcmp(name, dueq_status_name(dueq_result_status(result, i)));
        compare_number(run, name, wanted, (int64_t)found);
        total += found;
    }
    if (total != count)
        wrong(run, "%zu outcomes instead of %zu", count, total);
}

static void compare_headers(struct run *run, json_object *expected, const dueq_message *message) {
    if (json_object_array_length(expected) != message->header_count)
        wrong(run, "%zu headers instead of %zu", message->header_count,
              json_object_array_length(expected));
    for (size_t i = 0; i < message->header_count; i++) {
        json_object *pair = json_object_array_get_idx(expected, i);
        compare_bytes(run, "a header's name", json_object_array_get_idx(pair, 0),
                      message->headers[i].name);
        compare_bytes(run, "a header's value", json_object_array_get_idx(pair, 1),
                      message->headers[i].value);
    }
}

void compare_integer(struct run *run, json_object *expected, const char *name, int64_t got,
                     int64_t none) {
    json_object *wanted;
    if (!json_object_object_get_ex(expected, name, &wanted))
        return;
    if (wanted)
        compare_number(run, name, wanted, got);
    else if (got != none)
        wrong(run, "there is a %s: %lld", name, (long long)got);
}

void compare_text(struct run *run, json_object *expected, const char *name, dueq_bytes got) {
    json_object *wanted;
    if (!json_object_object_get_ex(expected, name, &wanted))
        return;
    if (wanted)
        compare_bytes(run, name, wanted, got);
    else if (got.size)
        wrong(run, "there is a %s: %s", name, shown(run, got));
}

bool compare_field(struct run *run, const char *name, json_object *wanted,
                   const struct text_field *texts, size_t text_count,
                   const struct number_field *numbers, size_t number_count) {
    bool known = !strcmp(name, "as");
    for (size_t i = 0; i < text_count; i++)
        if (!strcmp(name, texts[i].name)) {
            compare_bytes(run, name, wanted, *texts[i].bytes);
            known = true;
        }
    for (size_t i = 0; i < number_count; i++)
        if (!strcmp(name, numbers[i].name)) {
            compare_time(run, name, wanted, numbers[i].number);
            known = true;
        }
    return known;
}

void compare_message(struct run *run, json_object *expected, const dueq_message *message) {
    const dueq_bytes state = BYTES(dueq_state_name(message->state));
    const struct text_field texts[] = {
        {"id", &message->id},       {"ticket", &message->ticket},
        {"body", &message->body},   {"error", &message->error},
        {"state", &state},          {"dead_letter", &message->dead_letter},
        {"group", &message->group}, {"progress_note", &message->progress_note},
        {"batch", &message->batch}, {"batch_queue", &message->batch_queue}};
    const struct number_field numbers[] = {{"attempt", message->attempt},
                                           {"max_attempts", message->max_attempts},
                                           {"crashes", message->crashes},
                                           {"max_crashes", message->max_crashes},
                                           {"deliveries", message->deliveries},
                                           {"priority", message->priority},
                                           {"drop", message->drop},
                                           {"time_ms", message->time_ms},
                                           {"time_in_ms", message->time_ms},
                                           {"created_in_ms", message->created_ms},
                                           {"expires_ms", message->expires_ms},
                                           {"expires_in_ms", message->expires_ms}};
    json_object_object_foreach(expected, name, wanted) {
        bool known = compare_field(run, name, wanted, texts, sizeof texts / sizeof *texts, numbers,
                                   sizeof numbers / sizeof *numbers);
        if (!strcmp(name, "headers"))
            compare_headers(run, wanted, message);
        else if (!known)
            wrong(run, "no field of a message: %s", name);
    }
    remember(run, word(expected, "as"), run->queue, message->id, message->ticket);
}

void compare_messages(struct run *run, json_object *expect, const dueq_message *const *messages,
                      size_t count) {
    json_object *expected = field(expect, "messages");
    if (field(expect, "count"))
        compare_number(run, "the number of messages", field(expect, "count"), (int64_t)count);
    if (expected && json_object_array_length(expected) != count)
        wrong(run, "%zu messages instead of %zu", count, json_object_array_length(expected));
    for (size_t i = 0; expected && i < count; i++)
        compare_message(run, json_object_array_get_idx(expected, i), messages[i]);
    json_object *ids = field(expect, "ids");
    size_t id_count = ids ? json_object_array_length(ids) : count;
    dueq_bytes got = {"", 0};
    for (size_t i = 0; i < count; i++)
        got = join(run, got, join(run, BYTES(" "), messages[i]->id));
    for (size_t i = 0; ids && i < id_count; i++) {
        dueq_bytes id = value(run, json_object_array_get_idx(ids, i));
        size_t found = 0;
        for (size_t k = 0; k < count; k++)
            found += same(id, messages[k]->id);
        if (found != 1)
            wrong(run, "%s came %zu times of%s", shown(run, id), found, shown(run, got));
    }
    if (id_count != count)
        wrong(run, "these came:%s", shown(run, got));
}
