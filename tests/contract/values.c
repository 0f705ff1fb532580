/*
 * A run's memory and failures, the fields of the JSON, and values: texts with ${...} in them,
 * numbers, hex, repeat, join.
 */
#include "run.h"

void wrong(struct run *run, const char *format, ...) {
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

void *keep(struct run *run, size_t size) {
    struct kept *kept = calloc(1, sizeof *kept + size + 1);
    assert_non_null(kept);
    kept->next = run->kept;
    run->kept = kept;
    return kept->data;
}

dueq_bytes copy(struct run *run, dueq_bytes bytes) {
    char *data = keep(run, bytes.size);
    if (bytes.size)
        memcpy(data, bytes.data, bytes.size);
    return (dueq_bytes){data, bytes.size};
}

dueq_bytes join(struct run *run, dueq_bytes left, dueq_bytes right) {
    char *data = keep(run, left.size + right.size);
    if (left.size)
        memcpy(data, left.data, left.size);
    if (right.size)
        memcpy(data + left.size, right.data, right.size);
    return (dueq_bytes){data, left.size + right.size};
}

bool same(dueq_bytes left, dueq_bytes right) {
    return left.size == right.size && (left.size == 0 || !memcmp(left.data, right.data, left.size));
}

const char *shown(struct run *run, dueq_bytes bytes) {
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

json_object *field(json_object *object, const char *name) {
    return object ? json_object_object_get(object, name) : NULL;
}

int64_t number(json_object *object, const char *name, int64_t without) {
    json_object *found = field(object, name);
    return found ? json_object_get_int64(found) : without;
}

const char *word(json_object *object, const char *name) {
    json_object *found = field(object, name);
    return found ? json_object_get_string(found) : NULL;
}

int choice(struct run *run, json_object *object, const char *name, const char *const *words) {
    dueq_bytes found = bytes(run, object, name);
    for (int i = 0; words[i]; i++)
        if (same(found, BYTES(words[i])))
            return i;
    if (found.size)
        wrong(run, "%s: %s", name, shown(run, found));
    return 0;
}

struct capture *capture(struct run *run, const char *name) {
    struct capture *found = run->captures;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    return found;
}

struct capture *captured(struct run *run, json_object *step, const char *name) {
    struct capture *found = capture(run, word(step, name));
    if (!found)
        wrong(run, "nothing has this name");
    return found;
}

void remember(struct run *run, const char *name, dueq_queue *queue, dueq_bytes id,
              dueq_bytes ticket) {
    if (!name)
        return;
    struct capture *added = keep(run, sizeof *added);
    *added =
        (struct capture){run->captures, name, run->step, queue, copy(run, id), copy(run, ticket)};
    run->captures = added;
}

dueq_bytes key_begin(struct run *run, dueq_bytes queue) {
    return join(run, join(run, BYTES("dueq:{"), queue), BYTES("}:"));
}

dueq_bytes variable(struct run *run, const char *name, size_t size) {
    char *text = keep(run, size), *dot;
    memcpy(text, name, size);
    if (!strcmp(text, "each") && run->situation->each)
        return (dueq_bytes){json_object_get_string(run->situation->each),
                            (size_t)json_object_get_string_len(run->situation->each)};
    if (!strcmp(text, "queue"))
        return BYTES(run->situation->test);
    if (!strncmp(text, "key.", 4))
        return join(run, key_begin(run, run->name), BYTES(text + 4));
    if ((dot = strchr(text, '.'))) {
        *dot++ = '\0';
        struct capture *found = capture(run, text);
        if (found && !strcmp(dot, "id"))
            return found->id;
        if (found && (!strcmp(dot, "ticket") || !strcmp(dot, "reserved")))
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

dueq_bytes value(struct run *run, json_object *json) {
    if (json_object_is_type(json, json_type_string))
        return expand(run, json_object_get_string(json), (size_t)json_object_get_string_len(json));
    if (json_object_is_type(json, json_type_object))
        return composed(run, json);
    if (!json_object_is_type(json, json_type_int))
        wrong(run, "not a value: %s", json_object_to_json_string(json));
    return BYTES(json_object_get_string(json));
}

dueq_bytes bytes(struct run *run, json_object *object, const char *name) {
    json_object *found = field(object, name);
    return found ? value(run, found) : (dueq_bytes){"", 0};
}

dueq_bytes *list(struct run *run, json_object *step, const char *name, size_t *count) {
    json_object *values = field(step, name);
    size_t length = values ? json_object_array_length(values) : 0;
    *count = length * (size_t)number(step, "times", 1);
    dueq_bytes *all = keep(run, *count * sizeof *all);
    for (size_t i = 0; i < *count; i++)
        all[i] = value(run, json_object_array_get_idx(values, i % length));
    return all;
}
