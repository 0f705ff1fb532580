/*
 * The first byte chooses a codec, and the rest is what somebody else wrote, and a string, bytes and
 * JSON to write. What is read can be written, and reads the same again.
 */
#include "redisson/codec.h"
#include "fuzz.h"
#include "json.h"

static void touch_value(const dueq_value *value) {
    fuzz_touch(value->bytes);
    CHECK(value->kind != DUEQ_BOOLEAN || value->integer == 0 || value->integer == 1);
    CHECK(value->kind != DUEQ_INTEGER ||
          (value->integer >= INT32_MIN && value->integer <= INT32_MAX));
    CHECK(value->kind != DUEQ_STRING || dueq__is_utf8(value->bytes.data, value->bytes.size, true));
    CHECK(value->kind != DUEQ_JSON || dueq__json_check(value->bytes, DUEQ__JSON_DEPTH));
}

/*
 * Writes a value and reads it, again and again. The second time the bytes may be others, where
 * Java's own text was given: a HashMap comes back as JSON, 0.50 as 0.5. From then on they are the
 * same.
 */
static void write_and_read(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls) {
    struct dueq__error error = {0};
    struct dueq__strbuf written[3] = {{0}}, room[3] = {{0}};
    dueq_value read = *value;
    for (int i = 0; i < 3; i++) {
        dueq_status status = dueq__codec_write(codec, &read, nulls, &written[i], &error);
        if (status) {
            CHECK(status == DUEQ_INVALID && error.text[0] && written[i].size == 0 && i < 2);
            break;
        }
        dueq_bytes bytes = {written[i].data, written[i].size};
        CHECK(i < 2 || fuzz_equal(bytes, (dueq_bytes){written[1].data, written[1].size}));
        CHECK(dueq__codec_read(codec, bytes, &read, &room[i], &error) == DUEQ_OK);
        touch_value(&read);
    }
    for (int i = 0; i < 3; i++) {
        dueq__strbuf_free(&written[i]);
        dueq__strbuf_free(&room[i]);
    }
}

static void read_and_write(dueq_codec codec, dueq_bytes bytes) {
    struct dueq__error error = {0};
    struct dueq__strbuf room = {0};
    dueq_value value;
    dueq_status status = dueq__codec_read(codec, bytes, &value, &room, &error);
    touch_value(&value);
    if (status) {
        CHECK(status == DUEQ_CORRUPT && error.text[0]);
        CHECK(dueq__is_utf8(error.text, strlen(error.text), false));
        CHECK(value.kind == DUEQ_BINARY && fuzz_equal(value.bytes, bytes));
    } else {
        write_and_read(codec, &value, DUEQ__NULLS_STAY);
    }
    dueq__strbuf_free(&room);
}

/*
 * Looks into bytes that were not checked: what is said of them is nothing, but nothing else is
 * read.
 */
static void look_into(dueq_bytes bytes) {
    struct dueq__json_walk walk = dueq__json_walk(bytes);
    dueq_bytes name, value;
    int64_t integer;
    double real;
    char *room = malloc(bytes.size + 1);
    CHECK(room);
    while (dueq__json_next(&walk, &name, &value)) {
        fuzz_touch(name);
        fuzz_touch(value);
        dueq__json_integer(value, &integer);
        dueq__json_double(value, &real);
        CHECK(dueq__json_string(value, room) <= value.size);
        CHECK(dueq__json_string(name, room) <= name.size);
    }
    if (dueq__json_member(bytes, "a", &value))
        fuzz_touch(value);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    dueq_codec codec = (dueq_codec)(data[0] % (DUEQ_CODEC_TYPED_JSON3 + 1));
    dueq_bytes bytes = {fuzz_copy(data + 1, size - 1), size - 1};
    read_and_write(codec, bytes);
    look_into(bytes);
    for (dueq_kind kind = DUEQ_STRING; kind <= DUEQ_JSON; kind++)
        for (int nulls = DUEQ__NULLS_STAY; nulls <= DUEQ__NULLS_AS_JAVA; nulls++)
            write_and_read(codec, &(dueq_value){.kind = kind, .bytes = bytes},
                           (enum dueq__nulls)nulls);
    free((void *)bytes.data);
    return 0;
}
