/*
 * Reads values that Redisson's Jackson codecs wrote. JsonJacksonCodec and JsonJackson3Codec name
 * the classes of Java's own lists, maps and numbers. Without these names the text is plain JSON.
 */
#include <math.h>

#include "../json.h"
#include "codec.h"

/* Classes that are written as ["NAME",NUMBER], and the kind of such a value by itself. */
static const struct {
    const char *name;
    dueq_kind kind;
} numbers[] = {
    {"java.lang.Long", DUEQ_LONG},
    {"java.lang.Integer", DUEQ_INTEGER},
    {"java.lang.Short", DUEQ_INTEGER},
    {"java.lang.Byte", DUEQ_INTEGER},
    {"java.lang.Double", DUEQ_DOUBLE},
    {"java.lang.Float", DUEQ_DOUBLE},
    {"java.math.BigInteger", DUEQ_JSON},
    {"java.math.BigDecimal", DUEQ_JSON},
    {"java.util.concurrent.atomic.AtomicInteger", DUEQ_INTEGER},
    {"java.util.concurrent.atomic.AtomicLong", DUEQ_LONG},
};

/* False: `numbers` does not have the class. */
static bool number_class(dueq_bytes name, dueq_kind *kind) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (dueq__json_equals(name, numbers[i].name)) {
            *kind = numbers[i].kind;
            return true;
        }
    return false;
}

/*
 * True if a class's name begins with `begin` and contains `part`. Java writes these names without
 * escapes, so their JSON text can be compared.
 */
static bool named(dueq_bytes name, const char *begin, const char *part) {
    size_t size = strlen(begin);
    return name.size > size + 1 && memcmp((const char *)name.data + 1, begin, size) == 0 &&
           memmem(name.data, name.size, part, strlen(part));
}

/* Collections of java.util, and arrays, except arrays of arrays. */
static bool list_class(dueq_bytes name) {
    return named(name, "java.util.", "") || (named(name, "[", "") && !named(name, "[[", ""));
}

static bool map_class(dueq_bytes name) {
    return named(name, "java.util.", "Map") || dueq__json_equals(name, "java.util.Hashtable") ||
           dueq__json_equals(name, "java.util.Properties");
}

/* The inside of a string, for an error's text. */
static struct dueq__shown shown(dueq_bytes string) {
    const char *begin = string.data;
    return dueq__strbuf_shown((dueq_bytes){begin + 1, string.size - 2});
}

struct reader {
    struct dueq__json_walk walk; /* through a checked text */
    struct dueq__strbuf *out;
    struct dueq__error *error;
    unsigned char objects[DUEQ__JSON_DEPTH / 8]; /* one bit for each level, set for an object */
    unsigned depth;
};

static void enter(struct reader *reader, bool object) {
    unsigned char bit = (unsigned char)(1U << reader->depth % 8);
    unsigned char *bits = &reader->objects[reader->depth++ / 8];
    *bits = (unsigned char)(object ? *bits | bit : *bits & ~bit);
    dueq__strbuf_byte(reader->out, object ? '{' : '[');
}

static bool in_object(const struct reader *reader) {
    unsigned level = reader->depth - 1;
    return reader->depth > 0 && reader->objects[level / 8] >> level % 8 & 1;
}

/* Takes the rest of ["CLASS",NUMBER], or of ["CLASS",[, behind the first bracket. */
static bool read_wrapped(struct reader *reader) {
    dueq_bytes name, token;
    dueq_kind kind;
    if (dueq__json_token(&reader->walk, &name) != '"' ||
        dueq__json_token(&reader->walk, &token) != ',') {
        dueq__fail(
            reader->error, DUEQ_CORRUPT,
            "no value of JsonJackson: an array without the name of its class, which Redisson "
            "cannot read either");
        return false;
    }
    int next = dueq__json_token(&reader->walk, &token);
    if (next == '[' && list_class(name)) {
        enter(reader, false);
        return true;
    }
    if (next == '0' && number_class(name, &kind)) {
        dueq__strbuf_bytes(reader->out, token);
        if (dueq__json_token(&reader->walk, &token) == ']')
            return true;
    }
    dueq__fail(reader->error, DUEQ_CORRUPT,
               "a value of Java's class '%s' that has no form in plain JSON: use TypedJson on both "
               "sides, or plain values",
               shown(name).text);
    return false;
}

/*
 * Takes the beginning of an object behind its brace. An object whose class is no map is copied
 * whole, and unchanged.
 */
static void read_object(struct reader *reader, dueq_bytes brace) {
    struct dueq__json_walk ahead = reader->walk;
    dueq_bytes name, token;
    enter(reader, true);
    if (dueq__json_token(&ahead, &name) != '"' || !dueq__json_equals(name, "@class"))
        return;
    dueq__json_token(&ahead, &token);
    if (dueq__json_token(&ahead, &name) == '"' && map_class(name)) {
        reader->walk = ahead;
        return;
    }
    for (unsigned depth = 1; depth > 0;) {
        int kind = dueq__json_token(&reader->walk, &token);
        depth += kind == '{' || kind == '[' ? 1U : 0U;
        depth -= kind == '}' || kind == ']' ? 1U : 0U;
    }
    const unsigned char *begin = (const unsigned char *)brace.data + 1;
    dueq__strbuf_bytes(reader->out, (dueq_bytes){begin, (size_t)(reader->walk.at - begin)});
    reader->depth--;
}

/* Takes a value, or the beginning of a list or an object. False: the value has no plain form. */
static bool read_value(struct reader *reader, int kind, dueq_bytes token) {
    if (kind == '[')
        return read_wrapped(reader);
    if (kind == '{')
        read_object(reader, token);
    else
        dueq__strbuf_bytes(reader->out, token);
    return true;
}

static bool read_member(struct reader *reader, dueq_bytes name) {
    dueq_bytes token;
    if (dueq__json_equals(name, "@class")) {
        dueq__fail(reader->error, DUEQ_CORRUPT,
                   "a map of Java's with a member \"@class\", which plain JSON cannot show");
        return false;
    }
    if (!reader->out->failed && reader->out->data[reader->out->size - 1] != '{')
        dueq__strbuf_byte(reader->out, ',');
    dueq__strbuf_bytes(reader->out, name);
    dueq__json_token(&reader->walk, &token);
    dueq__strbuf_byte(reader->out, ':');
    int kind = dueq__json_token(&reader->walk, &token);
    return read_value(reader, kind, token);
}

/* Leaves a list or an object. A list ends with two brackets: ["CLASS",[...]]. */
static bool leave(struct reader *reader, int kind) {
    dueq_bytes token;
    dueq__strbuf_byte(reader->out, kind);
    reader->depth--;
    if (kind == '}' || dueq__json_token(&reader->walk, &token) == ']')
        return true;
    dueq__fail(reader->error, DUEQ_CORRUPT,
               "no value of JsonJackson: an array with more than a class and its value");
    return false;
}

static bool read_all(struct reader *reader) {
    dueq_bytes token;
    for (int kind; (kind = dueq__json_token(&reader->walk, &token)) > 0;) {
        bool good = true;
        if (kind == ']' || kind == '}')
            good = leave(reader, kind);
        else if (!in_object(reader))
            good = read_value(reader, kind, token);
        else if (kind == '"')
            good = read_member(reader, token);
        if (!good)
            return false;
    }
    return true;
}

/* The value itself */

/*
 * Makes a number a value of the narrowest kind that holds it. kind: that of its class, if it has
 * one.
 */
static dueq_status read_number(dueq_bytes number, dueq_kind kind, dueq_value *value,
                               struct dueq__error *error) {
    value->kind = DUEQ_JSON;
    value->bytes = number;
    if (kind == DUEQ_JSON)
        return DUEQ_OK;
    int64_t integer;
    if (kind != DUEQ_DOUBLE && dueq__json_integer(number, &integer)) {
        bool narrow = kind != DUEQ_LONG && integer >= INT32_MIN && integer <= INT32_MAX;
        *value = (dueq_value){.kind = narrow ? DUEQ_INTEGER : DUEQ_LONG, .integer = integer};
        return DUEQ_OK;
    }
    if (kind != DUEQ_DOUBLE && !memchr(number.data, '.', number.size) &&
        !memchr(number.data, 'e', number.size) && !memchr(number.data, 'E', number.size))
        return DUEQ_OK;
    double real;
    if (!dueq__json_double(number, &real))
        return dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (!isinf(real))
        *value = (dueq_value){.kind = DUEQ_DOUBLE, .number = real};
    return DUEQ_OK;
}

/* True if the text is ["CLASS",NUMBER], of a class in `numbers`. */
static bool wrapped_number(dueq_bytes text, dueq_bytes *number, dueq_kind *kind) {
    struct dueq__json_walk walk = dueq__json_walk(text);
    dueq_bytes name, more;
    return dueq__json_next(&walk, NULL, &name) && number_class(name, kind) &&
           dueq__json_next(&walk, NULL, number) && dueq__json_kind(*number) == DUEQ__JSON_NUMBER &&
           !dueq__json_next(&walk, NULL, &more);
}

static dueq_bytes trim(dueq_bytes text) {
    const char *at = text.data, *end = at + text.size;
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    while (at < end && strchr(" \t\r\n", end[-1]))
        end--;
    return (dueq_bytes){at, (size_t)(end - at)};
}

static dueq_status read_container(bool typed, dueq_bytes text, dueq_value *value,
                                  struct dueq__strbuf *room, struct dueq__error *error) {
    struct reader reader = {.walk = dueq__json_tokens(text), .out = room, .error = error};
    dueq_kind kind = DUEQ_JSON;
    dueq_bytes number;
    value->kind = DUEQ_JSON;
    value->bytes = text;
    if (!typed)
        return DUEQ_OK;
    if (wrapped_number(text, &number, &kind))
        return read_number(number, kind, value, error);
    if (!read_all(&reader))
        return error->status;
    value->bytes = (dueq_bytes){room->data, room->size};
    return DUEQ_OK;
}

static dueq_status check(dueq_codec codec, dueq_bytes bytes, struct dueq__error *error) {
    unsigned depth = dueq__jackson_depth(codec);
    switch (dueq__json_fault(bytes, depth)) {
    case DUEQ__JSON_GOOD:
        return DUEQ_OK;
    case DUEQ__JSON_DEEP:
        return dueq__fail(error, DUEQ_CORRUPT,
                          "JSON that is nested deeper than the %u levels that Jackson reads",
                          depth);
    case DUEQ__JSON_HALF:
        return dueq__fail(error, DUEQ_CORRUPT, "JSON, but " DUEQ__JSON_HALF_PAIR);
    default:
        return dueq__fail(error, DUEQ_CORRUPT,
                          "not JSON in UTF-8: was it written by another codec?");
    }
}

dueq_status dueq__jackson_read(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                               struct dueq__strbuf *room, struct dueq__error *error) {
    if (check(codec, bytes, error))
        return error->status;
    dueq_bytes text = trim(bytes);
    enum dueq__json kind = dueq__json_kind(text);
    char *string;
    switch (kind) {
    case DUEQ__JSON_NULL:
        return DUEQ_OK;
    case DUEQ__JSON_FALSE:
    case DUEQ__JSON_TRUE:
        value->kind = DUEQ_BOOLEAN;
        value->integer = kind == DUEQ__JSON_TRUE;
        return DUEQ_OK;
    case DUEQ__JSON_NUMBER:
        return read_number(text, DUEQ_INTEGER, value, error);
    case DUEQ__JSON_STRING:
        string = dueq__strbuf_space(room, text.size);
        value->kind = DUEQ_STRING;
        if (string)
            value->bytes = (dueq_bytes){string, dueq__json_string(text, string)};
        return DUEQ_OK;
    default:
        return read_container(dueq__jackson_typed(codec), text, value, room, error);
    }
}
