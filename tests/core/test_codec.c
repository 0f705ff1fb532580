/*
 * Redisson's codecs: the bytes that a running Redisson wrote, both ways, and bytes that nobody
 * wrote.
 */
#include <float.h>
#include <math.h>

#include "dueq_redisson.h"
#include "json.h"
#include "redisson/codec.h"
#include "support.h"

static const char *const codec_names[] = {"kryo5",       "bytearray", "string",       "long",
                                          "jsonjackson", "typedjson", "jsonjackson3", "typedjson3"};

static bool same(dueq_bytes a, dueq_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static dueq_bytes content(const struct dueq__strbuf *text) {
    return (dueq_bytes){text->data, text->size};
}

static dueq_value string_of(const char *text) {
    return (dueq_value){.kind = DUEQ_STRING, .bytes = BYTES(text)};
}

static dueq_value json_of(const char *text) {
    return (dueq_value){.kind = DUEQ_JSON, .bytes = BYTES(text)};
}

/* Against what Redisson wrote */

static char *read_file(const char *name, size_t *size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/golden/%s", DUEQ_TESTS, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s", path);
    char *data = NULL;
    *size = 0;
    for (size_t got = 1; got > 0; *size += got) {
        data = realloc(data, *size + 65536);
        assert_non_null(data);
        got = fread(data + *size, 1, 65536, file);
    }
    fclose(file);
    return data;
}

/* A line of the golden file. */
struct golden_case {
    dueq_codec codec;
    char type[16], shown[64];
    dueq_value value;
    struct dueq__strbuf room, bytes;
};

static dueq_bytes member(dueq_bytes object, const char *name) {
    dueq_bytes value;
    if (!dueq__json_member(object, name, &value))
        fail_msg("%.*s has no %s", (int)object.size, (const char *)object.data, name);
    return value;
}

static void unhex(dueq_bytes json, struct dueq__strbuf *out) {
    const char *at = (const char *)json.data + 1;
    for (size_t i = 0; i + 2 < json.size; i += 2) {
        unsigned byte;
        assert_int_equal(sscanf(at + i, "%2x", &byte), 1);
        dueq__strbuf_byte(out, (int)byte);
    }
}

static bool is(const struct golden_case *one, const char *type) {
    return strcmp(one->type, type) == 0;
}

static void read_value(struct golden_case *one, dueq_bytes json) {
    dueq_value *value = &one->value;
    *value = (dueq_value){.kind = DUEQ_JSON, .bytes = json};
    if (is(one, "null")) {
        *value = (dueq_value){.kind = DUEQ_NULL};
    } else if (is(one, "bool")) {
        *value =
            (dueq_value){.kind = DUEQ_BOOLEAN, .integer = dueq__json_kind(json) == DUEQ__JSON_TRUE};
    } else if (is(one, "int") || is(one, "long")) {
        *value = (dueq_value){.kind = is(one, "int") ? DUEQ_INTEGER : DUEQ_LONG};
        assert_true(dueq__json_integer(json, &value->integer));
    } else if (is(one, "bytes")) {
        unhex(json, &one->room);
        *value = (dueq_value){.kind = DUEQ_BINARY, .bytes = content(&one->room)};
    } else if (is(one, "string") || is(one, "double")) {
        char *string = dueq__strbuf_space(&one->room, json.size + 1);
        size_t size = dueq__json_string(json, string);
        string[size] = '\0';
        *value = (dueq_value){.kind = DUEQ_STRING, .bytes = {string, size}};
        if (is(one, "double"))
            *value = (dueq_value){.kind = DUEQ_DOUBLE, .number = strtod(string, NULL)};
    }
}

static void read_case(struct golden_case *one, dueq_bytes json) {
    *one = (struct golden_case){0};
    dueq_bytes codec = member(json, "codec"), type = member(json, "type");
    while (!dueq__json_equals(codec, codec_names[one->codec]))
        assert_in_range(++one->codec, 0, DUEQ_CODEC_TYPED_JSON3);
    assert_in_range(type.size, 3, sizeof one->type);
    dueq__json_string(type, one->type);
    snprintf(one->shown, sizeof one->shown, "%s %.*s", codec_names[one->codec], 40,
             (const char *)type.data);
    read_value(one, member(json, "value"));
    unhex(member(json, "hex"), &one->bytes);
}

/* Has the codec no form of its own for it? */
static bool refused(const struct golden_case *one) {
    bool json = one->codec >= DUEQ_CODEC_JACKSON;
    return one->value.kind == (json ? DUEQ_BINARY : DUEQ_JSON) ||
           (json && one->value.kind == DUEQ_DOUBLE && !isfinite(one->value.number));
}

static void check_written(const struct golden_case *one) {
    struct dueq__error error = {0};
    struct dueq__strbuf out = {0};
    dueq__strbuf_string(&out, "before");
    dueq_status status =
        dueq__codec_write(one->codec, &one->value, DUEQ__NULLS_AS_JAVA, &out, &error);
    if (refused(one)) {
        assert_int_equal(status, DUEQ_INVALID);
        assert_true(error.text[0] && same(content(&out), BYTES("before")));
    } else if (!is(one, "object")) {
        dueq_bytes written = {out.data + 6, out.size - 6};
        if (status || !same(written, content(&one->bytes)))
            fail_msg("%s: %.*s is written as %.*s %s", one->shown, (int)one->value.bytes.size,
                     (const char *)one->value.bytes.data, (int)written.size,
                     (const char *)written.data, error.text);
    }
    dueq__strbuf_free(&out);
}

/* What Java's other forms are when they come back. */
static dueq_value expected(const struct golden_case *one, struct dueq__strbuf *plain) {
    dueq_value value = one->value;
    struct dueq__error error;
    bool json = one->codec >= DUEQ_CODEC_JACKSON, typed = dueq__jackson_typed(one->codec);
    bool narrow = value.integer >= INT32_MIN && value.integer <= INT32_MAX;
    if (refused(one) && json) {
        dueq_bytes text = content(&one->bytes);
        return (dueq_value){.kind = DUEQ_STRING,
                            .bytes = {(const char *)text.data + 1, text.size - 2}};
    }
    if (value.kind == DUEQ_LONG && json && one->codec != DUEQ_CODEC_JACKSON && narrow)
        value.kind = DUEQ_INTEGER;
    if (value.kind == DUEQ_JSON && typed) {
        /*
         * Without null members, and as the codec of the same Jackson writes it that names no
         * classes.
         */
        const enum dueq__nulls nulls = DUEQ__NULLS_AS_JAVA;
        struct dueq__strbuf lean = {0};
        assert_int_equal(dueq__codec_write(DUEQ_CODEC_TYPED_JSON, &value, nulls, &lean, &error),
                         DUEQ_OK);
        value.bytes = content(&lean);
        assert_int_equal(dueq__codec_write(one->codec + 1, &value, nulls, plain, &error), DUEQ_OK);
        dueq__strbuf_free(&lean);
        value.bytes = content(plain);
    }
    if (value.kind == DUEQ_JSON && ((json && !typed) || is(one, "object")))
        value.bytes = content(&one->bytes);
    return value;
}

static void assert_value(const char *what, dueq_value wanted, dueq_value got) {
    bool numbers = memcmp(&wanted.number, &got.number, sizeof got.number) == 0 ||
                   (isnan(wanted.number) && isnan(got.number));
    if (wanted.kind != got.kind || wanted.integer != got.integer || !numbers ||
        !same(wanted.bytes, got.bytes))
        fail_msg("%s: kind %d, %lld, %.17g, %.*s instead of %d, %lld, %.17g, %.*s", what, got.kind,
                 (long long)got.integer, got.number, (int)got.bytes.size,
                 (const char *)got.bytes.data, wanted.kind, (long long)wanted.integer,
                 wanted.number, (int)wanted.bytes.size, (const char *)wanted.bytes.data);
}

static void check_read(const struct golden_case *one) {
    struct dueq__error error = {0};
    struct dueq__strbuf room = {0}, again = {0}, plain = {0};
    dueq_value value;
    dueq_status status = dueq__codec_read(one->codec, content(&one->bytes), &value, &room, &error);
    if (one->codec == DUEQ_CODEC_KRYO5 && one->value.kind == DUEQ_JSON) {
        assert_int_equal(status, DUEQ_CORRUPT);
        assert_non_null(strstr(error.text, is(one, "list")  ? "'java.util.ArrayList'"
                                           : is(one, "map") ? "'java.util.LinkedHashMap'"
                                                            : "'Peer$Order'"));
    } else {
        if (status)
            fail_msg("%s: %s", one->shown, error.text);
        assert_value(one->shown, expected(one, &plain), value);
        bool changed = one->codec == DUEQ_CODEC_TYPED_JSON && one->value.kind == DUEQ_LONG;
        assert_int_equal(dueq__codec_write(one->codec, &value, DUEQ__NULLS_STAY, &again, &error),
                         DUEQ_OK);
        assert_true(changed || same(content(&again), content(&one->bytes)));
    }
    dueq__strbuf_free(&room);
    dueq__strbuf_free(&again);
    dueq__strbuf_free(&plain);
}

static void test_codec_golden(void **state) {
    (void)state;
    size_t size, count = 0;
    char *file = read_file("redisson_codecs.json", &size);
    assert_true(dueq__json_check((dueq_bytes){file, size}, 16));
    struct dueq__json_walk walk = dueq__json_walk(member((dueq_bytes){file, size}, "cases"));
    for (dueq_bytes json; dueq__json_next(&walk, NULL, &json); count++) {
        struct golden_case one;
        read_case(&one, json);
        check_written(&one);
        check_read(&one);
        dueq__strbuf_free(&one.room);
        dueq__strbuf_free(&one.bytes);
    }
    assert_true(count > 700);
    free(file);
}

/* Further values, as Redisson 4.7.0 was seen to write and read them */

struct row {
    dueq_codec codec;
    const char *bytes;
    size_t size;
    dueq_value value;
};

#define KRYO(bytes, ...)                                                                           \
    {                                                                                              \
        DUEQ_CODEC_KRYO5, bytes, sizeof(bytes) - 1, { __VA_ARGS__ }                                \
    }
#define JACKSON(text, ...)                                                                         \
    {                                                                                              \
        DUEQ_CODEC_JACKSON, text, sizeof(text) - 1, { __VA_ARGS__ }                                \
    }
#define TYPED(text, ...)                                                                           \
    {                                                                                              \
        DUEQ_CODEC_TYPED_JSON, text, sizeof(text) - 1, { __VA_ARGS__ }                             \
    }
#define JACKSON3(text, ...)                                                                        \
    {                                                                                              \
        DUEQ_CODEC_JACKSON3, text, sizeof(text) - 1, { __VA_ARGS__ }                               \
    }
#define TYPED3(text, ...)                                                                          \
    {                                                                                              \
        DUEQ_CODEC_TYPED_JSON3, text, sizeof(text) - 1, { __VA_ARGS__ }                            \
    }
#define LONG(text, ...)                                                                            \
    {                                                                                              \
        DUEQ_CODEC_LONG, text, sizeof(text) - 1, { __VA_ARGS__ }                                   \
    }
#define TEXT(text) .kind = DUEQ_JSON, .bytes = {text, sizeof(text) - 1}

static void check_rows_read(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct dueq__error error = {0};
        struct dueq__strbuf room = {0};
        dueq_value value;
        dueq_bytes bytes = {rows[i].bytes, rows[i].size};
        if (dueq__codec_read(rows[i].codec, bytes, &value, &room, &error))
            fail_msg("%s: %s", rows[i].bytes, error.text);
        assert_value(rows[i].bytes, rows[i].value, value);
        dueq__strbuf_free(&room);
    }
}

static void check_rows_written(const struct row *rows, size_t count, enum dueq__nulls nulls) {
    for (size_t i = 0; i < count; i++) {
        struct dueq__error error = {0};
        struct dueq__strbuf out = {0};
        if (dueq__codec_write(rows[i].codec, &rows[i].value, nulls, &out, &error))
            fail_msg("%s: %s", rows[i].bytes, error.text);
        if (!same(content(&out), (dueq_bytes){rows[i].bytes, rows[i].size}))
            fail_msg("%s is written as %.*s", rows[i].bytes, (int)out.size, out.data);
        dueq__strbuf_free(&out);
    }
}

static void test_codec_both_ways(void **state) {
    (void)state;
    static const struct row rows[] = {
        KRYO("\x03\x83\xED\xA0\xBD\xED\xB8\x80", .kind = DUEQ_STRING,
             .bytes = {"\xF0\x9F\x98\x80", 4}),
        KRYO("\x03"
             "a\0\xE2",
             .kind = DUEQ_STRING, .bytes = {"a\0b", 3}),
        KRYO("\x01\0[\xC2\x04\x01\x02\x03", .kind = DUEQ_BINARY, .bytes = {"\1\2\3", 3}),
        KRYO("\x0A\0\0\0\0\0\0\xF0\x7F", .kind = DUEQ_DOUBLE, .number = INFINITY),
        KRYO("\x0A\0\0\0\0\0\0\xF8\x7F", .kind = DUEQ_DOUBLE, .number = -(double)NAN),
        JACKSON("[\"java.math.BigInteger\",123456789012345678901234567890]",
                TEXT("123456789012345678901234567890")),
        JACKSON("[\"java.math.BigDecimal\",1.10]", TEXT("1.10")),
        JACKSON("{\"@class\":\"P$Order\",\"n\":5,\"o\":[\"java.lang.Long\",5]}",
                TEXT("{\"@class\":\"P$Order\",\"n\":5,\"o\":[\"java.lang.Long\",5]}")),
        JACKSON("[\"java.util.ArrayList\",[{\"@class\":\"com.shop.Order\",\"tags\":[]},"
                "{\"@class\":\"java.util.LinkedHashMap\",\"a\":{\"@class\":\"X\"},\"b\":0}]]",
                TEXT("[{\"@class\":\"com.shop.Order\",\"tags\":[]},"
                     "{\"a\":{\"@class\":\"X\"},\"b\":0}]")),
        JACKSON("\"\\u0000\\u001F\x7F\xE2\x80\xA8/\"", .kind = DUEQ_STRING,
                .bytes = {"\0\x1F\x7F\xE2\x80\xA8/", 7}),
        TYPED("123456789012345678901234567890", TEXT("123456789012345678901234567890")),
        TYPED("1E+400", TEXT("1E+400")),
        TYPED("{\"@class\":[1,{}]}", TEXT("{\"@class\":[1,{}]}")),
        JACKSON("{\"@class\":\"java.util.LinkedHashMap\",\"n\":null,\"o\":{\"@class\":"
                "\"java.util.LinkedHashMap\",\"p\":null}}",
                TEXT("{\"n\":null,\"o\":{\"p\":null}}")),
        TYPED("{\"n\":null,\"o\":{\"p\":null},\"q\":[null]}",
              TEXT("{\"n\":null,\"o\":{\"p\":null},\"q\":[null]}")),
        JACKSON3("5000000000", .kind = DUEQ_LONG, .integer = 5000000000),
        JACKSON3("{\"@class\":\"java.util.LinkedHashMap\",\"n\":null,\"o\":"
                 "[\"java.util.ArrayList\",[[\"java.lang.Long\",5000000000]]]}",
                 TEXT("{\"n\":null,\"o\":[5000000000]}")),
        JACKSON3("\"\xF0\x9F\x98\x80\"", .kind = DUEQ_STRING, .bytes = {"\xF0\x9F\x98\x80", 4}),
        TYPED3("{\"\xF0\x9F\x98\x80\":null}", TEXT("{\"\xF0\x9F\x98\x80\":null}")),
        {DUEQ_CODEC_STRING, "", 0, {.kind = DUEQ_STRING}},
        {DUEQ_CODEC_BYTES, "\xFF", 1, {.kind = DUEQ_BINARY, .bytes = {"\xFF", 1}}},
    };
    check_rows_read(rows, sizeof rows / sizeof *rows);
    check_rows_written(rows, sizeof rows / sizeof *rows, DUEQ__NULLS_STAY);
}

static void test_codec_reads(void **state) {
    (void)state;
    static const struct row rows[] = {
        KRYO("\x08\x05\0", .kind = DUEQ_INTEGER, .integer = 5),
        KRYO("\x08\xFE\xFF", .kind = DUEQ_INTEGER, .integer = -2),
        KRYO("\x06\x85", .kind = DUEQ_INTEGER, .integer = -123),
        KRYO("\x04\0\0\xC0\x3F", .kind = DUEQ_DOUBLE, .number = 1.5),
        KRYO("\x03\x80", .kind = DUEQ_NULL),
        JACKSON(" 5000000000\n", .kind = DUEQ_LONG, .integer = 5000000000),
        JACKSON("12345678901234567890123", TEXT("12345678901234567890123")),
        JACKSON("[\"java.lang.Double\",1]", .kind = DUEQ_DOUBLE, .number = 1),
        JACKSON("[\"java.util.concurrent.atomic.AtomicLong\",5]", .kind = DUEQ_LONG, .integer = 5),
        JACKSON("[\"java.util.Arrays$ArrayList\",[1,2]]", TEXT("[1,2]")),
        JACKSON("[\"java.util.Collections$UnmodifiableRandomAccessList\",[1]]", TEXT("[1]")),
        JACKSON("[\"java.util.HashSet\",[]]", TEXT("[]")),
        JACKSON("[\"[Ljava.lang.Long;\",[[\"java.lang.Long\",1]]]", TEXT("[1]")),
        JACKSON("[\"[Ljava.lang.Object;\",[1,[\"java.lang.Long\",2],\"x\"]]", TEXT("[1,2,\"x\"]")),
        JACKSON("{\"@class\":\"java.util.TreeMap\",\"a\":1}", TEXT("{\"a\":1}")),
        JACKSON("{\"@class\":\"java.util.Collections$UnmodifiableMap\",\"a\":1,\"b\":null}",
                TEXT("{\"a\":1,\"b\":null}")),
        JACKSON("{\"@class\":\"java.util.concurrent.ConcurrentHashMap\"}", TEXT("{}")),
        JACKSON("{\"@class\":\"java.util.Hashtable\",\"\":\"\\uD83D\\uDE00\"}",
                TEXT("{\"\":\"\\uD83D\\uDE00\"}")),
        JACKSON("{\"a\":1}", TEXT("{\"a\":1}")),
        JACKSON("{\"@class\":\"java.util.LinkedHashMap\",\"l\":[\"[J\",[1]],\"s\":"
                "[\"[Ljava.lang.String;\",[\"a\"]],\"f\":[\"java.lang.Float\",1.5],\"bi\":"
                "[\"java.math.BigInteger\",5],\"ol\":[\"java.util.ImmutableCollections$ListN\",[]],"
                "\"m\":{\"@class\":\"java.util.ImmutableCollections$Map1\",\"a\":1}}",
                TEXT("{\"l\":[1],\"s\":[\"a\"],\"f\":1.5,\"bi\":5,\"ol\":[],\"m\":{\"a\":1}}")),
        TYPED("1.50", .kind = DUEQ_DOUBLE, .number = 1.5),
        TYPED(" {\"b\": null } ", TEXT("{\"b\": null }")),
        LONG("+5", .kind = DUEQ_LONG, .integer = 5),
        LONG("-0", .kind = DUEQ_LONG, .integer = 0),
        LONG("05", .kind = DUEQ_LONG, .integer = 5),
        LONG("-9223372036854775808", .kind = DUEQ_LONG, .integer = INT64_MIN),
    };
    check_rows_read(rows, sizeof rows / sizeof *rows);
}

static void test_codec_writes_json(void **state) {
    (void)state;
    static const struct row rows[] = {
        JACKSON("[\"java.util.ArrayList\",[2147483647,-2147483648,[\"java.lang.Long\",2147483648],"
                "[\"java.lang.Long\",-2147483649],[\"java.math.BigInteger\",9223372036854775808],"
                "0,1.5,100000.0,[\"java.math.BigDecimal\",1e400],0.0,true,null]]",
                TEXT(" [ 2147483647, -2147483648, 2147483648, -2147483649, 9223372036854775808,"
                     " -0, 1.50, 1e5, 1e400, 1e-400, true, null ] ")),
        JACKSON("{\"@class\":\"java.util.LinkedHashMap\",\"b\":[\"java.util.ArrayList\",[]],"
                "\"a\":{\"@class\":\"java.util.LinkedHashMap\"},\"c/\":\"\\uD83D\\uDE00\"}",
                TEXT("{\"n\":null,\"b\":[],\"\\u0061\":{\"n\":null},\"c\\/\":"
                     "\"\xF0\x9F\x98\x80\",\"o\":null}")),
        JACKSON("\"x\"", TEXT(" \"x\" ")),
        JACKSON("[\"java.math.BigInteger\",5]", TEXT(" 5")),
        TYPED("{\"b\":[2147483648,1.0E10,null],\"a\":{}}",
              TEXT("{ \"b\":[2147483648,1e10,null], \"x\":null, \"a\":{} }")),
        JACKSON3("5", .kind = DUEQ_LONG, .integer = 5),
        JACKSON3("{\"@class\":\"java.util.LinkedHashMap\",\"a\":[\"java.lang.Long\",2147483648]}",
                 TEXT("{\"a\":2147483648,\"n\":null}")),
        TYPED3("{\"a\":\"\xF0\x9F\x98\x80\",\"n\":null}",
               TEXT("{\"a\":\"\\ud83d\\ude00\",\"n\":null}")),
    };
    check_rows_written(rows, sizeof rows / sizeof *rows, DUEQ__NULLS_AS_JAVA);
}

/* What is refused */

static void refuse(dueq_codec codec, dueq_value value, const char *text) {
    struct dueq__error error = {0};
    struct dueq__strbuf out = {0};
    assert_int_equal(dueq__codec_write(codec, &value, DUEQ__NULLS_STAY, &out, &error),
                     DUEQ_INVALID);
    if (!strstr(error.text, text))
        fail_msg("'%s' does not say '%s'", error.text, text);
    assert_int_equal(out.size, 0);
    dueq__strbuf_free(&out);
}

static void test_codec_refuses_to_write(void **state) {
    (void)state;
    refuse(DUEQ_CODEC_KRYO5, json_of("[]"), "JSON codec on both sides");
    refuse(DUEQ_CODEC_KRYO5, (dueq_value){.kind = DUEQ_BOOLEAN, .integer = 2}, "boolean");
    refuse(DUEQ_CODEC_KRYO5, (dueq_value){.kind = DUEQ_INTEGER, .integer = INT64_C(1) << 31},
           "32 bits");
    refuse(DUEQ_CODEC_KRYO5, (dueq_value){.kind = (dueq_kind)8}, "unknown kind");
    refuse((dueq_codec)8, string_of("a"), "no codec 8");
    refuse(DUEQ_CODEC_LONG, string_of("5"), "integers");
    refuse(DUEQ_CODEC_STRING, (dueq_value){.kind = DUEQ_NULL}, "strings");
    refuse(DUEQ_CODEC_BYTES, (dueq_value){.kind = DUEQ_LONG}, "bytes");
    for (dueq_codec codec = DUEQ_CODEC_KRYO5; codec <= DUEQ_CODEC_TYPED_JSON3; codec++) {
        refuse(codec, string_of("\xFF"), codec == DUEQ_CODEC_KRYO5 ? "UTF-8" : "");
        if (codec >= DUEQ_CODEC_JACKSON) {
            refuse(codec, (dueq_value){.kind = DUEQ_DOUBLE, .number = INFINITY}, "infinities");
            refuse(codec, json_of("[1,]"), "not JSON");
            refuse(codec, json_of(""), "not JSON");
            refuse(codec, json_of("[\"\\uD800\"]"), "half of a surrogate pair");
            refuse(codec, json_of("{\"\\uDC00\\uD800\":1}"), "half of a surrogate pair");
        }
    }
    refuse(DUEQ_CODEC_JACKSON, json_of("{\"a\":1,\"@class\":\"X\"}"), "@class");
    refuse(DUEQ_CODEC_JACKSON, json_of("{\"@class\":\"java.util.HashMap\",\"a\":[1]}"),
           "as JsonJackson writes it");
    refuse(DUEQ_CODEC_JACKSON, json_of("[{\"a\":{},\"\\u0040class\":5}]"), "@class");
}

static void test_codec_depth(void **state) {
    (void)state;
    for (dueq_codec typed = DUEQ_CODEC_JACKSON; typed <= DUEQ_CODEC_TYPED_JSON3; typed += 2) {
        enum { MOST = 1000, MANY = MOST + 1 };
        const dueq_codec plain = typed + 1;
        const size_t most = dueq__jackson_depth(typed), many = most + 1;
        char deep[2 * MANY];
        assert_int_equal(most, typed == DUEQ_CODEC_JACKSON ? MOST : MOST / 2);
        memset(deep, '[', many);
        memset(deep + many, ']', many);
        struct dueq__error error = {0};
        struct dueq__strbuf out = {0}, room = {0};
        dueq_value whole = {.kind = DUEQ_JSON, .bytes = {deep + 1, 2 * most}}, back;
        dueq_value half = {.kind = DUEQ_JSON, .bytes = {deep + many - most / 2, most}};
        refuse(plain, (dueq_value){.kind = DUEQ_JSON, .bytes = {deep, 2 * many}}, "deeper than");
        refuse(typed, whole, "too deep");
        assert_int_equal(dueq__codec_write(plain, &whole, DUEQ__NULLS_STAY, &out, &error), DUEQ_OK);
        out.size = 0;
        assert_int_equal(dueq__codec_write(typed, &half, DUEQ__NULLS_STAY, &out, &error), DUEQ_OK);
        assert_int_equal(dueq__codec_read(typed, content(&out), &back, &room, &error), DUEQ_OK);
        assert_value("half", half, back);
        assert_int_equal(
            dueq__codec_read(plain, (dueq_bytes){deep, 2 * many}, &back, &room, &error),
            DUEQ_CORRUPT);
        assert_non_null(strstr(error.text, "deeper than"));
        dueq__strbuf_free(&out);
        dueq__strbuf_free(&room);
    }
}

static const struct row corrupt[] = {
    KRYO("", TEXT("no bytes")),
    KRYO("\x02", TEXT("0x02")),
    KRYO("\x02\x80", TEXT("0x02")),
    KRYO("\x02\xFF\xFF\xFF\xFF\x1F", TEXT("0x02")),
    KRYO("\x02\x80\x80\x80\x80\x80\x01", TEXT("0x02")),
    KRYO("\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", TEXT("0x09")),
    KRYO("\x05", TEXT("0x05")),
    KRYO("\x05\x02", TEXT("0x05")),
    KRYO("\x05\xFF", TEXT("0x05")),
    KRYO("\x0A\0\0\0\0\0\0\0", TEXT("0x0A")),
    KRYO("\x07"
         "c\0",
         TEXT("0x07")),
    KRYO("\x0B", TEXT("0x0B")),
    KRYO("hello", TEXT("0x68")),
    KRYO("{\"a\":1}", TEXT("another codec")),
    KRYO("\0\0", TEXT("1 bytes follow")),
    KRYO("\x03", TEXT("0x03")),
    KRYO("\x03"
         "ab",
         TEXT("0x03")),
    KRYO("\x03\x83"
         "a",
         TEXT("0x03")),
    KRYO("\x03\xFF\xFF\xFF\xFF\x0F"
         "a",
         TEXT("0x03")),
    KRYO("\x03\xC0\x80\x80\x80\x80\x80\x01", TEXT("0x03")),
    KRYO("\x03\x82\x80", TEXT("0x03")),
    KRYO("\x03\x82\xC3", TEXT("0x03")),
    KRYO("\x03\x82\xC3\x41", TEXT("0x03")),
    KRYO("\x03\x82\xC0\x80", TEXT("0x03")),
    KRYO("\x03\x82\xE0\x81\x81", TEXT("0x03")),
    KRYO("\x03\x82\xF0\x9F\x98\x80", TEXT("0x03")),
    KRYO("\x03\x82\xED\xA0\xBD", TEXT("half of a surrogate pair")),
    KRYO("\x03\x83\xED\xA0\xBD"
         "a",
         TEXT("half of a surrogate pair")),
    KRYO("\x03\x83\xED\xB8\x80\xED\xA0\xBD", TEXT("half of a surrogate pair")),
    KRYO("\x03\x84\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80", TEXT("half of a surrogate pair")),
    KRYO("\x03\x83\xED\xA0\xBD", TEXT("another codec")),
    KRYO("\x01\0", TEXT("no name")),
    KRYO("\x01\x01[\xC2\x01", TEXT("no name")),
    KRYO("\x01\0[\xC2", TEXT("cut off")),
    KRYO("\x01\0[\xC2\0", TEXT("cut off")),
    KRYO("\x01\0[\xC2\x03\0", TEXT("cut off")),
    KRYO("\x01\0[\xC2\x02\0\0", TEXT("follow")),
    KRYO("\x01\0java.util.Dat\xE5\x05", TEXT("'java.util.Date'")),
    {DUEQ_CODEC_STRING, "\xC3", 1, {TEXT("UTF-8")}},
    LONG("", TEXT("64 bits")),
    LONG("-", TEXT("64 bits")),
    LONG(" 5", TEXT("64 bits")),
    LONG("5\n", TEXT("64 bits")),
    LONG("9223372036854775808", TEXT("64 bits")),
    LONG("-9223372036854775809", TEXT("64 bits")),
    JACKSON("", TEXT("not JSON")),
    JACKSON("5 6", TEXT("not JSON")),
    JACKSON("\"\\uD800\"", TEXT("half of a surrogate pair")),
    JACKSON("[\"java.util.ArrayList\",[\"\\uDE00\\uD83D\"]]", TEXT("half of a surrogate pair")),
    TYPED("{\"\\uD83D \":1}", TEXT("half of a surrogate pair")),
    TYPED3("[\"\\uD83D\\u0041\"]", TEXT("half of a surrogate pair")),
    JACKSON3("\"\\uD83Z\"", TEXT("another codec")),
    JACKSON3("\"\\uD83D", TEXT("another codec")),
    JACKSON("NaN", TEXT("not JSON")),
    JACKSON("\x03hell\xEF", TEXT("not JSON")),
    JACKSON("[]", TEXT("name of its class")),
    JACKSON("[1,2]", TEXT("name of its class")),
    JACKSON("[[1],[2]]", TEXT("name of its class")),
    JACKSON("[\"a\"]", TEXT("name of its class")),
    JACKSON("[\"a\",\"b\"]", TEXT("'a'")),
    JACKSON("[\"java.util.Date\",5]", TEXT("'java.util.Date'")),
    JACKSON("[\"java.lang.Double\",\"NaN\"]", TEXT("'java.lang.Double'")),
    JACKSON("[\"java.lang.Long\",5,6]", TEXT("'java.lang.Long'")),
    JACKSON("[\"com.shop.Color\",\"RED\"]", TEXT("'com.shop.Color'")),
    JACKSON("[\"[[I\",[[1]]]", TEXT("'[[I'")),
    JACKSON("[\"java.util.ArrayList\",[1],2]", TEXT("more than")),
    JACKSON("[\"java.util.ArrayList\",[[1]]]", TEXT("name of its class")),
    JACKSON("{\"@class\":\"java.util.HashMap\",\"a\":[]}", TEXT("name of its class")),
    JACKSON("{\"a\":1,\"@class\":\"java.util.HashMap\"}", TEXT("@class")),
    JACKSON("{\"@class\":\"java.util.HashMap\",\"@class\":5}", TEXT("@class")),
    TYPED("nul", TEXT("not JSON")),
};

static void test_codec_refuses_to_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof corrupt / sizeof *corrupt; i++) {
        const struct row *row = &corrupt[i];
        struct dueq__error error = {0};
        struct dueq__strbuf room = {0};
        dueq_value value;
        char *copy = malloc(row->size ? row->size : 1);
        memcpy(copy, row->bytes, row->size);
        dueq_bytes bytes = {copy, row->size};
        if (dueq__codec_read(row->codec, bytes, &value, &room, &error) != DUEQ_CORRUPT)
            fail_msg("row %zu is read: %s", i, row->bytes);
        if (!strstr(error.text, row->value.bytes.data))
            fail_msg("row %zu: '%s' does not say '%s'", i, error.text,
                     (const char *)row->value.bytes.data);
        assert_value(row->bytes, (dueq_value){.kind = DUEQ_BINARY, .bytes = bytes}, value);
        dueq__strbuf_free(&room);
        free(copy);
    }
}

/* Real numbers */

static void test_double_is_java(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.001, "0.001"},
        {9.999e-4, "9.999E-4"},
        {0.0012345, "0.0012345"},
        {9999999, "9999999.0"},
        {1e7, "1.0E7"},
        {12345678.9, "1.23456789E7"},
        {1e300, "1.0E300"},
        {1e21, "1.0E21"},
        {100, "100.0"},
        {2e23, "2.0E23"},
        {1.0 / 3, "0.3333333333333333"},
        {0x1p-44, "5.684341886080802E-14"},
        {0x1p-1022, "2.2250738585072014E-308"},
        {4.9e-324, "4.9E-324"},
        {DBL_MAX, "1.7976931348623157E308"},
        {5e-324 * 4, "2.0E-323"},
        {123456.789, "123456.789"},
        {9007199254740993.0, "9.007199254740992E15"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dueq__strbuf text = {0};
        dueq__strbuf_double(&text, rows[i].number);
        if (!same(content(&text), BYTES(rows[i].text)))
            fail_msg("%.*s instead of %s", (int)text.size, text.data, rows[i].text);
        dueq__strbuf_free(&text);
    }
}

static void test_double_comes_back(void **state) {
    (void)state;
    uint64_t bits = 1;
    struct dueq__strbuf text = {0};
    for (int i = 0; i < 20000; i++) {
        double number, back;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t mixed = i % 4 ? bits : bits & UINT64_C(0x7FF0000000000000);
        memcpy(&number, &mixed, sizeof number);
        if (!isfinite(number))
            continue;
        text.size = 0;
        dueq__strbuf_double(&text, number);
        assert_true(dueq__json_double(content(&text), &back));
        if (memcmp(&number, &back, sizeof back) != 0)
            fail_msg("%.17g is %.*s", number, (int)text.size, text.data);
    }
    dueq__strbuf_free(&text);
}

/* The public two */

static void test_codec_public(void **state) {
    (void)state;
    dueq_client *client = open_client("unix:///nowhere");
    dueq_result *encoded, *decoded;
    dueq_value hello = string_of("hello"), number = {.kind = DUEQ_LONG, .integer = 5};
    assert_int_equal(dueq_codec_encode(client, DUEQ_CODEC_KRYO5, &hello, &encoded), DUEQ_OK);
    const dueq_value *value = dueq_result_value(encoded, 0);
    assert_value("encoded", (dueq_value){.kind = DUEQ_BINARY, .bytes = BYTES("\x03hell\xEF")},
                 *value);
    assert_int_equal(dueq_codec_decode(client, DUEQ_CODEC_KRYO5, value->bytes, &decoded), DUEQ_OK);
    dueq_result_free(encoded);
    assert_int_equal(dueq_result_count(decoded), 1);
    assert_value("decoded", hello, *dueq_result_value(decoded, 0));
    assert_null(dueq_result_value(decoded, 1));
    dueq_result_free(decoded);
    assert_int_equal(dueq_codec_encode(client, DUEQ_CODEC_STRING, &number, &encoded), DUEQ_INVALID);
    assert_null(encoded);
    assert_string_not_equal(dueq_error_text(client), "");
    assert_int_equal(dueq_codec_decode(client, DUEQ_CODEC_LONG, BYTES("x"), &decoded),
                     DUEQ_CORRUPT);
    assert_null(decoded);
    assert_string_not_equal(dueq_error_text(client), "");
    dueq_close(client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codec_golden),
        cmocka_unit_test(test_codec_both_ways),
        cmocka_unit_test(test_codec_reads),
        cmocka_unit_test(test_codec_writes_json),
        cmocka_unit_test(test_codec_refuses_to_write),
        cmocka_unit_test(test_codec_depth),
        cmocka_unit_test(test_codec_refuses_to_read),
        cmocka_unit_test(test_double_is_java),
        cmocka_unit_test(test_double_comes_back),
        cmocka_unit_test(test_codec_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
