/* Runs the situations of this folder (README.md has their format) on the C API. */
#include "../core/support.h"

#include <dirent.h>
#include <inttypes.h>
#include <json-c/json.h>

struct situation {
    char *test;        /* the name of its test, and of its queue */
    json_object *each; /* the value that ${each} stands for, or NULL */
    json_object *steps;
    bool damaged;
};

/* A message or id that a step gave a name. */
struct capture {
    struct capture *next; /* the ones named before */
    const char *name;
    size_t step;
    dueq_bytes id, ticket;
};

/* Memory of a run, freed at its end. */
struct kept {
    struct kept *next;
    max_align_t data[];
};

struct run {
    const struct situation *situation;
    dueq_client *client;
    redisContext *redis;
    dueq_queue *queue;
    dueq_bytes name; /* the queue's */
    struct capture *captures;
    struct kept *kept;
    size_t step;
    const char *verb;
};

static const char *folder;
static struct server server;

/* ---- Memory, failures, fields ---- */

static __attribute__((noreturn, format(printf, 2, 3))) void wrong(struct run *run,
                                                                  const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_object *each = run->situation->each;
    print_error("%s%s%s: step %zu, %s: %s\n", run->situation->test, each ? ", each " : "",
                each ? json_object_to_json_string(each) : "", run->step, run->verb, text);
    fail();
    abort();
}

static void *keep(struct run *run, size_t size) {
    struct kept *kept = calloc(1, sizeof *kept + size + 1);
    assert_non_null(kept);
    kept->next = run->kept;
    run->kept = kept;
    return kept->data;
}

static dueq_bytes copy(struct run *run, dueq_bytes bytes) {
    char *data = keep(run, bytes.size);
    if (bytes.size)
        memcpy(data, bytes.data, bytes.size);
    return (dueq_bytes){data, bytes.size};
}

static dueq_bytes join(struct run *run, dueq_bytes left, dueq_bytes right) {
    char *data = keep(run, left.size + right.size);
    if (left.size)
        memcpy(data, left.data, left.size);
    if (right.size)
        memcpy(data + left.size, right.data, right.size);
    return (dueq_bytes){data, left.size + right.size};
}

static bool same(dueq_bytes left, dueq_bytes right) {
    return left.size == right.size && (left.size == 0 || !memcmp(left.data, right.data, left.size));
}

/* Bytes as text for a failure's message. */
static const char *shown(struct run *run, dueq_bytes bytes) {
    static const char digits[] = "0123456789abcdef";
    size_t size = bytes.size < 60 ? bytes.size : 60;
    char *text = keep(run, size * 4 + 40), *at = text;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = ((const unsigned char *)bytes.data)[i];
        if (byte >= 0x20 && byte != '\\') {
            *at++ = (char)byte;
        } else {
            *at++ = '\\';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        }
    }
    snprintf(at, 40, " (%zu bytes)", bytes.size);
    return text;
}

static json_object *field(json_object *object, const char *name) {
    return object ? json_object_object_get(object, name) : NULL;
}

static int64_t number(json_object *object, const char *name, int64_t without) {
    json_object *found = field(object, name);
    return found ? json_object_get_int64(found) : without;
}

static const char *word(json_object *object, const char *name) {
    json_object *found = field(object, name);
    return found ? json_object_get_string(found) : NULL;
}

/* The last one of a name. */
static struct capture *capture(struct run *run, const char *name) {
    struct capture *found = run->captures;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    return found;
}

static void remember(struct run *run, const char *name, dueq_bytes id, dueq_bytes ticket) {
    if (!name)
        return;
    struct capture *added = keep(run, sizeof *added);
    *added = (struct capture){run->captures, name, run->step, copy(run, id), copy(run, ticket)};
    run->captures = added;
}

/* ---- Values: strings with ${...} in them, numbers, hex, repeat, join ---- */

static dueq_bytes variable(struct run *run, const char *name, size_t size) {
    char *text = keep(run, size), *dot;
    memcpy(text, name, size);
    if (!strcmp(text, "each") && run->situation->each)
        return (dueq_bytes){json_object_get_string(run->situation->each),
                            (size_t)json_object_get_string_len(run->situation->each)};
    if (!strcmp(text, "queue"))
        return BYTES(run->situation->test);
    if (!strncmp(text, "key.", 4)) {
        dueq_bytes key = join(run, BYTES("dueq:{"), run->name);
        return join(run, join(run, key, BYTES("}:")), BYTES(text + 4));
    }
    if ((dot = strchr(text, '.'))) {
        *dot++ = '\0';
        struct capture *found = capture(run, text);
        if (found && !strcmp(dot, "id"))
            return found->id;
        if (found && !strcmp(dot, "ticket"))
            return found->ticket;
    }
    wrong(run, "there is no ${%.*s}", (int)size, name);
}

static dueq_bytes expand(struct run *run, const char *text, size_t size) {
    const char *end = text + size, *start = memmem(text, size, "${", 2);
    const char *stop = start ? memchr(start, '}', (size_t)(end - start)) : NULL;
    if (!stop)
        return (dueq_bytes){text, size};
    dueq_bytes before = {text, (size_t)(start - text)};
    /* The name of a key is a variable itself in "${key.${each}}". */
    if (memmem(start + 2, (size_t)(stop - start - 2), "${", 2)) {
        size_t inner = before.size + 2;
        dueq_bytes rest = expand(run, text + inner, size - inner);
        dueq_bytes whole = join(run, (dueq_bytes){text, inner}, rest);
        return expand(run, whole.data, whole.size);
    }
    dueq_bytes middle = variable(run, start + 2, (size_t)(stop - start - 2));
    return join(run, join(run, before, middle), expand(run, stop + 1, (size_t)(end - stop - 1)));
}

static dueq_bytes value(struct run *run, json_object *json);

static dueq_bytes composed(struct run *run, json_object *json) {
    json_object *part;
    dueq_bytes whole = {"", 0};
    if ((part = field(json, "hex"))) {
        dueq_bytes hex =
            expand(run, json_object_get_string(part), (size_t)json_object_get_string_len(part));
        char *data = keep(run, hex.size / 2), digits[3] = "";
        for (size_t i = 0; i < hex.size / 2; i++) {
            memcpy(digits, (const char *)hex.data + 2 * i, 2);
            data[i] = (char)strtoul(digits, NULL, 16);
        }
        return (dueq_bytes){data, hex.size / 2};
    }
    if ((part = field(json, "repeat"))) {
        dueq_bytes unit = value(run, json_object_array_get_idx(part, 0));
        size_t times = (size_t)json_object_get_int64(json_object_array_get_idx(part, 1));
        char *data = keep(run, unit.size * times);
        for (size_t i = 0; i < times; i++)
            memcpy(data + i * unit.size, unit.data, unit.size);
        return (dueq_bytes){data, unit.size * times};
    }
    if (!(part = field(json, "join")))
        wrong(run, "not a value: %s", json_object_to_json_string(json));
    for (size_t i = 0; i < json_object_array_length(part); i++)
        whole = join(run, whole, value(run, json_object_array_get_idx(part, i)));
    return whole;
}

static dueq_bytes value(struct run *run, json_object *json) {
    if (json_object_is_type(json, json_type_string))
        return expand(run, json_object_get_string(json), (size_t)json_object_get_string_len(json));
    if (json_object_is_type(json, json_type_object))
        return composed(run, json);
    if (!json_object_is_type(json, json_type_int))
        wrong(run, "not a value: %s", json_object_to_json_string(json));
    return BYTES(json_object_get_string(json));
}

/* The value of a field; no bytes where there is none. */
static dueq_bytes bytes(struct run *run, json_object *object, const char *name) {
    json_object *found = field(object, name);
    return found ? value(run, found) : (dueq_bytes){"", 0};
}

/* A list of values, as often as the step's "times" says. */
static dueq_bytes *list(struct run *run, json_object *step, const char *name, size_t *count) {
    json_object *values = field(step, name);
    size_t length = values ? json_object_array_length(values) : 0;
    *count = length * (size_t)number(step, "times", 1);
    dueq_bytes *all = keep(run, *count * sizeof *all);
    for (size_t i = 0; i < *count; i++)
        all[i] = value(run, json_object_array_get_idx(values, i % length));
    return all;
}

/* ---- The server beside the core ---- */

static redisReply *raw(struct run *run, const dueq_bytes *words, size_t count) {
    const char **data = keep(run, count * sizeof *data);
    size_t *sizes = keep(run, count * sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        data[i] = words[i].data;
        sizes[i] = words[i].size;
    }
    redisReply *reply = redisCommandArgv(run->redis, (int)count, data, sizes);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        wrong(run, "%s", reply->str);
    return reply;
}

static int64_t server_ms(struct run *run) {
    redisReply *reply = raw(run, &BYTES("TIME"), 1);
    int64_t seconds = strtoll(reply->element[0]->str, NULL, 10);
    int64_t micros = strtoll(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return seconds * 1000 + micros / 1000;
}

/* EVAL of NAME.lua in the folder, on the current queue. */
static redisReply *script(struct run *run, const char *name, const dueq_bytes *words,
                          size_t count) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.lua", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        wrong(run, "neither a verb nor a script of the folder");
    char *source = keep(run, 65536);
    size_t size = fread(source, 1, 65536, file);
    fclose(file);
    dueq_bytes *all = keep(run, (count + 4) * sizeof *all);
    all[0] = BYTES("EVAL");
    all[1] = (dueq_bytes){source, size};
    all[2] = BYTES("1");
    all[3] = variable(run, "key.", 4);
    memcpy(all + 4, words, count * sizeof *words);
    return raw(run, all, count + 4);
}

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

static const char *reply_text(struct run *run, const redisReply *reply) {
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

static void compare_reply(struct run *run, json_object *expect, redisReply *reply) {
    json_object *expected;
    if (expect && json_object_object_get_ex(expect, "reply", &expected) &&
        !reply_is(run, expected, reply))
        wrong(run, "the reply is %s instead of %s", reply_text(run, reply),
              json_object_to_json_string(expected));
    freeReplyObject(reply);
}

/* ---- Expectations ---- */

static void compare_number(struct run *run, const char *what, json_object *expected, int64_t got) {
    if (json_object_get_int64(expected) != got)
        wrong(run, "%s is %" PRId64 " instead of %" PRId64, what, got,
              json_object_get_int64(expected));
}

static void compare_bytes(struct run *run, const char *what, json_object *expected,
                          dueq_bytes got) {
    dueq_bytes wanted = value(run, expected);
    if (!same(wanted, got))
        wrong(run, "%s is %s instead of %s", what, shown(run, got), shown(run, wanted));
}

/* A point of time that is [least, most] ms from now. */
static void compare_distance(struct run *run, const char *what, json_object *expected,
                             int64_t time_ms) {
    int64_t least = json_object_get_int64(json_object_array_get_idx(expected, 0));
    int64_t most = json_object_get_int64(json_object_array_get_idx(expected, 1));
    int64_t distance = time_ms - server_ms(run);
    if (distance < least || distance > most)
        wrong(run, "%s is %" PRId64 " instead of %" PRId64 " to %" PRId64, what, distance, least,
              most);
}

static void compare_status(struct run *run, json_object *expect, dueq_status got) {
    const char *wanted = word(expect, "status");
    if (strcmp(wanted ? wanted : "OK", dueq_status_name(got)) != 0)
        wrong(run, "%s instead of %s: %s", dueq_status_name(got), wanted ? wanted : "OK",
              dueq_error_text(run->client));
    if (got < 0 && !dueq_error_text(run->client)[0])
        wrong(run, "%s without a text", dueq_status_name(got));
}

/* "statuses": a list, or how many there are of each. */
static void compare_statuses(struct run *run, json_object *expect, const dueq_result *result) {
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

static void compare_message(struct run *run, json_object *expected, const dueq_message *message) {
    json_object_object_foreach(expected, name, wanted) {
        if (!strcmp(name, "id"))
            compare_bytes(run, name, wanted, message->id);
        else if (!strcmp(name, "ticket"))
            compare_bytes(run, name, wanted, message->ticket);
        else if (!strcmp(name, "body"))
            compare_bytes(run, name, wanted, message->body);
        else if (!strcmp(name, "error"))
            compare_bytes(run, name, wanted, message->error);
        else if (!strcmp(name, "state"))
            compare_bytes(run, name, wanted, BYTES(dueq_state_name(message->state)));
        else if (!strcmp(name, "attempt"))
            compare_number(run, name, wanted, message->attempt);
        else if (!strcmp(name, "max_attempts"))
            compare_number(run, name, wanted, message->max_attempts);
        else if (!strcmp(name, "time_ms"))
            compare_number(run, name, wanted, message->time_ms);
        else if (!strcmp(name, "time_in_ms"))
            compare_distance(run, name, wanted, message->time_ms);
        else if (!strcmp(name, "created_in_ms"))
            compare_distance(run, name, wanted, message->created_ms);
        else if (!strcmp(name, "headers"))
            compare_headers(run, wanted, message);
        else if (strcmp(name, "as") != 0)
            wrong(run, "no field of a message: %s", name);
    }
    remember(run, word(expected, "as"), message->id, message->ticket);
}

/* ---- Steps ---- */

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

static void do_cancel(struct run *run, json_object *step) {
    dueq_result *result;
    size_t count = 1;
    dueq_bytes one = bytes(run, step, "id"), *ids = &one;
    if (field(step, "ids"))
        ids = list(run, step, "ids", &count);
    compare_status(run, field(step, "expect"), dueq_cancel(run->queue, ids, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    dueq_result_free(result);
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
    } fields[] = {{"ready", &counts.ready},     {"delayed", &counts.delayed},
                  {"leased", &counts.leased},   {"dead", &counts.dead},
                  {"acked", &counts.acked},     {"damaged", &counts.damaged},
                  {"next_ms", &counts.next_ms}, {"next_in_ms", &counts.next_ms}};
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

static void do_step(struct run *run, json_object *step) {
    static const struct {
        const char *name;
        void (*run)(struct run *run, json_object *step);
    } verbs[] = {{"open", do_open},  {"push", do_push},     {"reserve", do_reserve},
                 {"ack", do_ack},    {"retry", do_retry},   {"extend", do_extend},
                 {"bury", do_bury},  {"cancel", do_cancel}, {"find", do_find},
                 {"stats", do_stats}};
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

/* ---- Situations ---- */

static int begin(void **state) {
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->situation = *state;
    run->client = open_client(server.url);
    run->redis = redisConnectUnix(server.socket);
    assert_true(run->redis && !run->redis->err);
    run->name = BYTES(run->situation->test);
    run->queue = open_queue(run->client, run->situation->test);
    *state = run;
    return 0;
}

static int end(void **state) {
    struct run *run = *state;
    dueq_queue_close(run->queue);
    dueq_close(run->client);
    redisFree(run->redis);
    while (run->kept) {
        struct kept *next = run->kept->next;
        free(run->kept);
        run->kept = next;
    }
    free(run);
    return 0;
}

static void run_situation(void **state) {
    struct run *run = *state;
    json_object *steps = run->situation->steps;
    for (run->step = 1; run->step <= json_object_array_length(steps); run->step++)
        do_step(run, json_object_array_get_idx(steps, run->step - 1));
    run->verb = "check";
    dueq_bytes damaged = BYTES(run->situation->damaged ? "1" : "0");
    redisReply *complaints = script(run, "check", &damaged, 1);
    if (complaints->elements)
        wrong(run, "%s", reply_text(run, complaints));
    freeReplyObject(complaints);
}

static size_t add(struct situation *situations, size_t count, json_object *json) {
    json_object *each = field(json, "each");
    const char *name = word(json, "name");
    size_t times = each ? json_object_array_length(each) : 1;
    for (size_t i = 0; i < times; i++) {
        struct situation *next = &situations[count++];
        next->steps = field(json, "steps");
        next->damaged = json_object_get_boolean(field(json, "damaged"));
        next->each = each ? json_object_array_get_idx(each, i) : NULL;
        size_t size = strlen(name) + 32;
        next->test = malloc(size);
        assert_non_null(next->test);
        if (each)
            snprintf(next->test, size, "test_%s_%zu", name, i + 1);
        else
            snprintf(next->test, size, "test_%s", name);
    }
    return count;
}

enum { MOST_FILES = 32, MOST_SITUATIONS = 1000 };

int main(int argc, char **argv) {
    static struct situation situations[MOST_SITUATIONS];
    static struct CMUnitTest tests[MOST_SITUATIONS];
    json_object *files[MOST_FILES];
    struct dirent **names;
    size_t file_count = 0, count = 0;
    folder = argc > 1 ? argv[1] : ".";
    int found = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        const char *dot = strrchr(names[i]->d_name, '.');
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (dot && !strcmp(dot, ".json") && file_count < MOST_FILES) {
            json_object *file = files[file_count++] = json_object_from_file(path);
            if (!file) {
                print_error("%s\n", json_util_get_last_err());
                return 2;
            }
            for (size_t k = 0; k < json_object_array_length(file); k++)
                count = add(situations, count, json_object_array_get_idx(file, k));
        }
        free(names[i]);
    }
    if (found >= 0)
        free(names);
    if (count == 0) {
        print_error("no situations in %s\n", folder);
        return 2;
    }
    for (size_t i = 0; i < count; i++)
        tests[i] =
            (struct CMUnitTest){situations[i].test, run_situation, begin, end, &situations[i]};
    server_start(&server);
    int failed = _cmocka_run_group_tests("contract", tests, count, NULL, NULL);
    server_stop(&server);
    for (size_t i = 0; i < file_count; i++)
        json_object_put(files[i]);
    for (size_t i = 0; i < count; i++)
        free(situations[i].test);
    return failed;
}
