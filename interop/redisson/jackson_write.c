/*
 * Writes values as Redisson's Jackson codecs do. JsonJacksonCodec names the class of each value
 * whose type JSON does not show: longs, lists, maps. JsonJackson3Codec does the same, but not for a
 * long by itself. All but TypedJsonJackson3Codec leave out the null members of a map.
 */
#include <math.h>

#include "../json.h"
#include "codec.h"

struct writer {
    struct dueq__json_walk walk; /* through a checked text */
    struct dueq__strbuf *out;
    struct dueq__strbuf string;                  /* room for one string */
    unsigned char objects[DUEQ__JSON_DEPTH / 8]; /* one bit for each level, set for an object */
    unsigned depth;
    bool typed; /* Java's classes are named */
    bool pairs; /* characters beyond U+FFFF are escaped */
    bool nulls; /* null members are written */
    bool java;  /* the text has objects that name their class */
};

static void add_typed(struct dueq__strbuf *out, const char *name, dueq_bytes number) {
    dueq__strbuf_string(out, "[\"");
    dueq__strbuf_string(out, name);
    dueq__strbuf_string(out, "\",");
    dueq__strbuf_bytes(out, number);
    dueq__strbuf_byte(out, ']');
}

static void add_long(struct dueq__strbuf *out, bool typed, int64_t number) {
    dueq__strbuf_string(out, typed ? "[\"java.lang.Long\"," : "");
    dueq__strbuf_number(out, number);
    dueq__strbuf_string(out, typed ? "]" : "");
}

static bool is_real(dueq_bytes number) {
    return memchr(number.data, '.', number.size) || memchr(number.data, 'e', number.size) ||
           memchr(number.data, 'E', number.size);
}

/* Adds a number as a BigDecimal or a BigInteger. */
static void add_big(struct dueq__strbuf *out, bool typed, dueq_bytes number) {
    if (typed)
        add_typed(out, is_real(number) ? "java.math.BigDecimal" : "java.math.BigInteger", number);
    else
        dueq__strbuf_bytes(out, number);
}

/*
 * Writes a number of a list or a map as the narrowest of Integer, Long and BigInteger, or as a
 * Double, or, beyond the range of a double, as a BigDecimal.
 */
static void write_number(struct writer *writer, dueq_bytes number) {
    int64_t integer;
    double real;
    if (dueq__json_integer(number, &integer)) {
        bool narrow = integer >= INT32_MIN && integer <= INT32_MAX;
        add_long(writer->out, writer->typed && !narrow, integer);
    } else if (!is_real(number)) {
        add_big(writer->out, writer->typed, number);
    } else if (!dueq__json_double(number, &real)) {
        writer->out->failed = true;
    } else if (isinf(real)) {
        add_big(writer->out, writer->typed, number);
    } else {
        dueq__strbuf_double(writer->out, real);
    }
}

static void write_string(struct writer *writer, dueq_bytes string) {
    writer->string.size = 0;
    char *room = dueq__strbuf_space(&writer->string, string.size);
    if (room)
        dueq__strbuf_json(writer->out, (dueq_bytes){room, dueq__json_string(string, room)},
                          writer->pairs);
    else
        writer->out->failed = true;
}

static void enter(struct writer *writer, bool object) {
    unsigned char bit = (unsigned char)(1U << writer->depth % 8);
    unsigned char *bits = &writer->objects[writer->depth++ / 8];
    *bits = (unsigned char)(object ? *bits | bit : *bits & ~bit);
}

static bool in_object(const struct writer *writer) {
    unsigned level = writer->depth - 1;
    return writer->depth > 0 && writer->objects[level / 8] >> level % 8 & 1;
}

/* Copies an object that names its class, unchanged. False: the object names none. */
static bool write_java(struct writer *writer, dueq_bytes brace) {
    struct dueq__json_walk ahead = writer->walk;
    dueq_bytes name;
    if (!writer->typed || dueq__json_token(&ahead, &name) != '"' ||
        !dueq__json_equals(name, "@class"))
        return false;
    writer->java = true;
    const unsigned char *begin = brace.data;
    for (unsigned depth = 1; depth > 0;) {
        int token = dueq__json_token(&writer->walk, &name);
        depth += token == '{' || token == '[' ? 1U : 0U;
        depth -= token == '}' || token == ']' ? 1U : 0U;
    }
    dueq__strbuf_bytes(writer->out, (dueq_bytes){begin, (size_t)(writer->walk.at - begin)});
    return true;
}

/* Writes a value, or the beginning of a list or an object. */
static void write_value(struct writer *writer, int kind, dueq_bytes token) {
    switch (kind) {
    case '[':
        enter(writer, false);
        dueq__strbuf_string(writer->out, writer->typed ? "[\"java.util.ArrayList\",[" : "[");
        break;
    case '{':
        if (write_java(writer, token))
            break;
        enter(writer, true);
        dueq__strbuf_string(writer->out,
                            writer->typed ? "{\"@class\":\"java.util.LinkedHashMap\"" : "{");
        break;
    case '"':
        write_string(writer, token);
        break;
    case '0':
        write_number(writer, token);
        break;
    default:
        dueq__strbuf_bytes(writer->out, token);
    }
}

/* Writes a member, from its name on. False: the name is "@class", which names a class to Java. */
static bool write_member(struct writer *writer, dueq_bytes name) {
    dueq_bytes token;
    dueq__json_token(&writer->walk, &token);
    int kind = dueq__json_token(&writer->walk, &token);
    if (kind == 'n' && !writer->nulls)
        return true;
    if (writer->typed && dueq__json_equals(name, "@class"))
        return false;
    if (!writer->out->failed && writer->out->data[writer->out->size - 1] != '{')
        dueq__strbuf_byte(writer->out, ',');
    write_string(writer, name);
    dueq__strbuf_byte(writer->out, ':');
    write_value(writer, kind, token);
    return true;
}

/*
 * Reads a checked text token by token, so that a deep text takes no more time or stack than others.
 */
static bool write_all(struct writer *writer) {
    dueq_bytes token;
    for (int kind; (kind = dueq__json_token(&writer->walk, &token)) > 0;) {
        if (kind == ']' || kind == '}') {
            dueq__strbuf_string(writer->out, kind == '}' ? "}" : writer->typed ? "]]" : "]");
            writer->depth--;
        } else if (!in_object(writer)) {
            write_value(writer, kind, token);
        } else if (kind == '"' && !write_member(writer, token)) {
            return false;
        }
    }
    return true;
}

static dueq_status check_given(dueq_codec codec, dueq_bytes text, struct dueq__error *error) {
    unsigned depth = dueq__jackson_depth(codec);
    switch (dueq__json_fault(text, depth)) {
    case DUEQ__JSON_GOOD:
        return DUEQ_OK;
    case DUEQ__JSON_DEEP:
        return dueq__fail(error, DUEQ_INVALID,
                          "the value is nested deeper than the %u levels that Jackson reads",
                          depth);
    case DUEQ__JSON_HALF:
        return dueq__fail(error, DUEQ_INVALID, "the value is JSON, but " DUEQ__JSON_HALF_PAIR);
    default:
        return dueq__fail(error, DUEQ_INVALID, "the value is not JSON in UTF-8");
    }
}

/*
 * Checks that Jackson can read the written text. java: objects that name their class were copied
 * unchanged, so their form is checked too; what a class needs that dueq does not know is not
 * checked.
 */
static dueq_status check_written(dueq_codec codec, dueq_bytes written, bool java,
                                 struct dueq__error *error) {
    struct dueq__strbuf room = {0};
    struct dueq__error reason;
    dueq_value value;
    unsigned depth = dueq__jackson_depth(codec);
    if (!dueq__json_check(written, depth))
        return dueq__fail(
            error, DUEQ_INVALID,
            "the value is nested too deep for JsonJackson, which writes a list as two: "
            "Jackson reads %u levels",
            depth);
    if (!java)
        return DUEQ_OK;
    dueq_status status = dueq__jackson_read(codec, written, &value, &room, &reason);
    if (!status && room.failed)
        status = DUEQ_NO_MEMORY;
    dueq__strbuf_free(&room);
    if (status == DUEQ_CORRUPT)
        return dueq__fail(
            error, DUEQ_INVALID,
            "an object with an \"@class\" must be as JsonJackson writes it; this is %.300s",
            reason.text);
    return status ? dueq__fail(error, status, NULL) : DUEQ_OK;
}

static dueq_status write_json(dueq_codec codec, dueq_bytes text, enum dueq__nulls nulls,
                              struct dueq__strbuf *out, struct dueq__error *error) {
    bool typed = dueq__jackson_typed(codec);
    struct writer writer = {.walk = dueq__json_tokens(text),
                            .out = out,
                            .typed = typed,
                            .pairs = !dueq__jackson_is_3(codec),
                            .nulls = nulls == DUEQ__NULLS_STAY || codec == DUEQ_CODEC_TYPED_JSON3};
    size_t begin = out->size;
    dueq_bytes number;
    if (check_given(codec, text, error))
        return error->status;
    if (dueq__json_kind(text) == DUEQ__JSON_NUMBER) {
        dueq__json_token(&writer.walk, &number);
        add_big(out, typed, number);
        return DUEQ_OK;
    }
    bool good = write_all(&writer);
    dueq__strbuf_free(&writer.string);
    if (!good)
        return dueq__fail(error, DUEQ_INVALID,
                          "the value has a member \"@class\" that is not the first of its object: "
                          "JsonJackson takes it for the name of a Java class");
    if (!typed || out->failed)
        return DUEQ_OK; /* dueq__codec_write() reports a failure of `out` */
    dueq_bytes written = {out->data + begin, out->size - begin};
    return check_written(codec, written, writer.java, error);
}

dueq_status dueq__jackson_write(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                                struct dueq__strbuf *out, struct dueq__error *error) {
    switch (value->kind) {
    case DUEQ_NULL:
        dueq__strbuf_string(out, "null");
        return DUEQ_OK;
    case DUEQ_BOOLEAN:
        dueq__strbuf_string(out, value->integer ? "true" : "false");
        return DUEQ_OK;
    case DUEQ_INTEGER:
    case DUEQ_LONG:
        add_long(out, codec == DUEQ_CODEC_JACKSON && value->kind == DUEQ_LONG, value->integer);
        return DUEQ_OK;
    case DUEQ_DOUBLE:
        if (!isfinite(value->number))
            return dueq__fail(error, DUEQ_INVALID,
                              "JSON has no form for infinities and for what is not a number");
        dueq__strbuf_double(out, value->number);
        return DUEQ_OK;
    case DUEQ_STRING:
        dueq__strbuf_json(out, value->bytes, !dueq__jackson_is_3(codec));
        return DUEQ_OK;
    case DUEQ_JSON:
        return write_json(codec, value->bytes, nulls, out, error);
    default:
        return dueq__fail(error, DUEQ_INVALID,
                          "the JSON codecs have no form for bytes: offer a string");
    }
}
