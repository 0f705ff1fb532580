/* Values of Java's, and what a step on a queue of another system expects against what came. */
#include "run.h"

#include <inttypes.h>
#include <math.h>

static dueq_bytes nested_list(struct run *run, size_t depth) {
    char *text = keep(run, 2 * depth);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return (dueq_bytes){text, 2 * depth};
}

static dueq_value typed(struct run *run, json_object *json) {
    json_object *part;
    int64_t whole = json_object_get_int64(json);
    switch (json_object_get_type(json)) {
    case json_type_null:
        return (dueq_value){.kind = DUEQ_NULL};
    case json_type_boolean:
        return (dueq_value){.kind = DUEQ_BOOLEAN, .integer = json_object_get_boolean(json)};
    case json_type_int:
        return (dueq_value){.kind = whole == (int32_t)whole ? DUEQ_INTEGER : DUEQ_LONG,
                            .integer = whole};
    case json_type_double:
        return (dueq_value){.kind = DUEQ_DOUBLE, .number = json_object_get_double(json)};
    case json_type_string:
        return (dueq_value){.kind = DUEQ_STRING, .bytes = value(run, json)};
    default:
        break;
    }
    if ((part = field(json, "long")))
        return (dueq_value){.kind = DUEQ_LONG, .integer = json_object_get_int64(part)};
    if ((part = field(json, "double")))
        return (dueq_value){.kind = DUEQ_DOUBLE,
                            .number = strtod(json_object_get_string(part), NULL)};
    if ((part = field(json, "text")))
        return (dueq_value){.kind = DUEQ_STRING, .bytes = value(run, part)};
    if ((part = field(json, "binary")))
        return (dueq_value){.kind = DUEQ_BINARY, .bytes = value(run, part)};
    if ((part = field(json, "json")))
        return (dueq_value){.kind = DUEQ_JSON, .bytes = value(run, part)};
    if ((part = field(json, "nested")))
        return (dueq_value){.kind = DUEQ_JSON,
                            .bytes = nested_list(run, (size_t)json_object_get_int64(part))};
    wrong(run, "not a value of Java's: %s", json_object_to_json_string(json));
}

dueq_value *typed_values(struct run *run, json_object *step, size_t *count) {
    json_object *values = field(step, "values");
    size_t length = values ? json_object_array_length(values) : 1;
    *count = length * (size_t)number(step, "times", 1);
    dueq_value *all = keep(run, *count * sizeof *all);
    for (size_t i = 0; i < *count; i++)
        all[i] = typed(run, values ? json_object_array_get_idx(values, i % length)
                                   : field(step, "value"));
    return all;
}

static json_object *parsed(struct run *run, dueq_bytes text) {
    json_tokener *tokener = json_tokener_new_ex(2000);
    json_object *json = json_tokener_parse_ex(tokener, copy(run, text).data, (int)text.size + 1);
    if (json_tokener_get_error(tokener) != json_tokener_success)
        wrong(run, "not JSON: %s", shown(run, text));
    json_tokener_free(tokener);
    return json;
}

void compare_json(struct run *run, const char *what, dueq_bytes expected, dueq_bytes got) {
    if (same(expected, got))
        return;
    json_object *one = parsed(run, expected), *other = parsed(run, got);
    if (!json_object_equal(one, other))
        wrong(run, "%s is %s instead of %s", what, shown(run, got), shown(run, expected));
    json_object_put(one);
    json_object_put(other);
}

/* An integer of a small Long is expected as {"long": N}: other languages read both alike. */
static bool same_number(const dueq_value *expected, const dueq_value *got) {
    if (expected->kind == DUEQ_DOUBLE)
        return (isnan(expected->number) && isnan(got->number)) ||
               !memcmp(&expected->number, &got->number, sizeof got->number);
    return expected->integer == got->integer;
}

static void compare_value(struct run *run, json_object *expected, dueq_status status,
                          const dueq_value *got) {
    json_object *unreadable =
        json_object_is_type(expected, json_type_object) ? field(expected, "unreadable") : NULL;
    if (!unreadable != (status == DUEQ_OK))
        wrong(run, "%s (%s) instead of %s", dueq_status_name(status), shown(run, got->bytes),
              json_object_to_json_string(expected));
    if (unreadable) {
        compare_bytes(run, "the unreadable", unreadable, got->bytes);
        return;
    }
    dueq_value wanted = typed(run, expected);
    if (wanted.kind != got->kind || !same_number(&wanted, got))
        wrong(run, "kind %d, %" PRId64 ", %.17g, %s instead of %s", (int)got->kind, got->integer,
              got->number, shown(run, got->bytes), json_object_to_json_string(expected));
    if (wanted.kind == DUEQ_JSON)
        compare_json(run, "the JSON", wanted.bytes, got->bytes);
    else if (!same(wanted.bytes, got->bytes))
        wrong(run, "%s instead of %s", shown(run, got->bytes), shown(run, wanted.bytes));
}

void compare_values(struct run *run, json_object *expect, const dueq_result *result) {
    json_object *expected = field(expect, "values");
    size_t count = dueq_result_count(result);
    if (field(expect, "count"))
        compare_number(run, "the number of values", field(expect, "count"), (int64_t)count);
    if (expected && json_object_array_length(expected) != count)
        wrong(run, "%zu values instead of %zu", count, json_object_array_length(expected));
    for (size_t i = 0; expected && i < count; i++)
        compare_value(run, json_object_array_get_idx(expected, i), dueq_result_status(result, i),
                      dueq_result_value(result, i));
}

struct figure {
    const char *name;
    int64_t number;
};

static void compare_figures(struct run *run, json_object *expect, const struct figure *figures,
                            size_t count) {
    for (size_t i = 0; i < count; i++)
        if (field(expect, figures[i].name))
            compare_time(run, figures[i].name, field(expect, figures[i].name), figures[i].number);
}

void compare_moved(struct run *run, json_object *expect, const dueq_moved *moved) {
    const struct figure figures[] = {{"moved", (int64_t)moved->moved},
                                     {"quarantined", (int64_t)moved->quarantined},
                                     {"next_ms", moved->next_ms},
                                     {"next_in_ms", moved->next_ms}};
    compare_figures(run, expect, figures, sizeof figures / sizeof *figures);
}

void compare_sizes(struct run *run, json_object *expect, const dueq_sizes *sizes) {
    const struct figure figures[] = {
        {"ready", sizes->ready},       {"delayed", sizes->delayed},
        {"reserved", sizes->reserved}, {"quarantined", sizes->quarantined},
        {"next_ms", sizes->next_ms},   {"next_in_ms", sizes->next_ms},
        {"now_in_ms", sizes->now_ms}};
    compare_figures(run, expect, figures, sizeof figures / sizeof *figures);
}
