#include "codec.h"

#define TOO_LARGE "a value of %zu bytes: a string in Redis has 512 MiB at most"

/* The codecs of plain text and plain bytes */

static dueq_status write_bytes(const dueq_value *value, struct dueq__strbuf *out,
                               struct dueq__error *error) {
    if (value->kind != DUEQ_BINARY && value->kind != DUEQ_STRING)
        return dueq__fail(error, DUEQ_INVALID, "the codec of bytes writes only bytes and strings");
    dueq__strbuf_bytes(out, value->bytes);
    return DUEQ_OK;
}

static dueq_status write_string(const dueq_value *value, struct dueq__strbuf *out,
                                struct dueq__error *error) {
    if (value->kind != DUEQ_STRING)
        return dueq__fail(error, DUEQ_INVALID, "the string codec writes only strings");
    dueq__strbuf_bytes(out, value->bytes);
    return DUEQ_OK;
}

static dueq_status read_string(dueq_bytes bytes, dueq_value *value, struct dueq__error *error) {
    if (!dueq__is_utf8(bytes.data, bytes.size, true))
        return dueq__fail(error, DUEQ_CORRUPT,
                          "not a string in UTF-8: was it written by another codec?");
    value->kind = DUEQ_STRING;
    value->bytes = bytes;
    return DUEQ_OK;
}

static dueq_status write_long(const dueq_value *value, struct dueq__strbuf *out,
                              struct dueq__error *error) {
    if (value->kind != DUEQ_INTEGER && value->kind != DUEQ_LONG)
        return dueq__fail(error, DUEQ_INVALID, "the codec of longs writes only integers");
    dueq__strbuf_number(out, value->integer);
    return DUEQ_OK;
}

/* Reads what Java's Long.parseLong() reads, in ASCII digits. */
static bool parse_long(dueq_bytes bytes, int64_t *number) {
    bool plus = bytes.size && *(const char *)bytes.data == '+';
    if (plus)
        bytes = (dueq_bytes){(const char *)bytes.data + 1, bytes.size - 1};
    return dueq__read_number(bytes, plus ? 0 : INT64_MIN, INT64_MAX, number);
}

static dueq_status read_long(dueq_bytes bytes, dueq_value *value, struct dueq__error *error) {
    value->kind = DUEQ_LONG;
    if (parse_long(bytes, &value->integer))
        return DUEQ_OK;
    return dueq__fail(error, DUEQ_CORRUPT,
                      "not an integer of 64 bits in decimal: was it written by another codec?");
}

/* All codecs */

static dueq_status check_value(const dueq_value *value, struct dueq__error *error) {
    int64_t integer = value->integer;
    bool good = true;
    switch (value->kind) {
    case DUEQ_BOOLEAN:
        good = integer == 0 || integer == 1;
        break;
    case DUEQ_INTEGER:
        good = integer >= INT32_MIN && integer <= INT32_MAX;
        break;
    case DUEQ_STRING:
        good = dueq__is_utf8(value->bytes.data, value->bytes.size, true);
        break;
    case DUEQ_NULL:
    case DUEQ_LONG:
    case DUEQ_DOUBLE:
    case DUEQ_BINARY:
    case DUEQ_JSON:
        break;
    default:
        return dueq__fail(error, DUEQ_INVALID, "the value is of an unknown kind");
    }
    if (!good)
        return dueq__fail(error, DUEQ_INVALID, "the value is not %s",
                          value->kind == DUEQ_BOOLEAN   ? "0 or 1, as a boolean is"
                          : value->kind == DUEQ_INTEGER ? "within 32 bits: give a long"
                                                        : "UTF-8, as a string is");
    if (value->bytes.size > DUEQ_MAX_BODY)
        return dueq__fail(error, DUEQ_TOO_LARGE, TOO_LARGE, value->bytes.size);
    return DUEQ_OK;
}

static dueq_status write_checked(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                                 struct dueq__strbuf *out, struct dueq__error *error) {
    switch (codec) {
    case DUEQ_CODEC_KRYO5:
        return dueq__kryo_write(value, out, error);
    case DUEQ_CODEC_BYTES:
        return write_bytes(value, out, error);
    case DUEQ_CODEC_STRING:
        return write_string(value, out, error);
    case DUEQ_CODEC_LONG:
        return write_long(value, out, error);
    case DUEQ_CODEC_JACKSON:
    case DUEQ_CODEC_TYPED_JSON:
    case DUEQ_CODEC_JACKSON3:
    case DUEQ_CODEC_TYPED_JSON3:
        return dueq__jackson_write(codec, value, nulls, out, error);
    }
    return dueq__fail(error, DUEQ_INVALID, "there is no codec %d", (int)codec);
}

dueq_status dueq__codec_write(dueq_codec codec, const dueq_value *value, enum dueq__nulls nulls,
                              struct dueq__strbuf *out, struct dueq__error *error) {
    size_t before = out->size;
    dueq_status status = check_value(value, error);
    if (!status)
        status = write_checked(codec, value, nulls, out, error);
    if (!status && out->failed)
        status = dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (!status && out->size - before > DUEQ_MAX_BODY)
        status = dueq__fail(error, DUEQ_TOO_LARGE, TOO_LARGE, out->size - before);
    if (status)
        out->size = before;
    return status;
}

static dueq_status read_any(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                            struct dueq__strbuf *room, struct dueq__error *error) {
    switch (codec) {
    case DUEQ_CODEC_KRYO5:
        return dueq__kryo_read(bytes, value, room, error);
    case DUEQ_CODEC_BYTES:
        *value = (dueq_value){.kind = DUEQ_BINARY, .bytes = bytes};
        return DUEQ_OK;
    case DUEQ_CODEC_STRING:
        return read_string(bytes, value, error);
    case DUEQ_CODEC_LONG:
        return read_long(bytes, value, error);
    case DUEQ_CODEC_JACKSON:
    case DUEQ_CODEC_TYPED_JSON:
    case DUEQ_CODEC_JACKSON3:
    case DUEQ_CODEC_TYPED_JSON3:
        return dueq__jackson_read(codec, bytes, value, room, error);
    }
    return dueq__fail(error, DUEQ_INVALID, "there is no codec %d", (int)codec);
}

dueq_status dueq__codec_read(dueq_codec codec, dueq_bytes bytes, dueq_value *value,
                             struct dueq__strbuf *room, struct dueq__error *error) {
    *value = (dueq_value){.kind = DUEQ_NULL};
    room->size = 0;
    dueq_status status = read_any(codec, bytes, value, room, error);
    if (!status && room->failed)
        status = dueq__fail(error, DUEQ_NO_MEMORY, NULL);
    if (status)
        *value = (dueq_value){.kind = DUEQ_BINARY, .bytes = bytes};
    return status;
}

/* dueq_codec_encode(), dueq_codec_decode() */

static dueq_status make_result(const dueq_value *value, dueq_result **made,
                               struct dueq__error *error) {
    dueq_result *result = dueq__values_new(1, value->bytes.size, error);
    if (!result)
        return error->status;
    dueq__values_put(result, 0, DUEQ_OK, value);
    *made = result;
    return DUEQ_OK;
}

dueq_status dueq_codec_encode(dueq_client *client, dueq_codec codec, const dueq_value *value,
                              dueq_result **encoded) {
    struct dueq__strbuf out = {0};
    *encoded = NULL;
    client->error = (struct dueq__error){0};
    dueq_status status = dueq__codec_write(codec, value, DUEQ__NULLS_STAY, &out, &client->error);
    dueq_value written = {.kind = DUEQ_BINARY, .bytes = {out.data, out.size}};
    if (!status)
        status = make_result(&written, encoded, &client->error);
    dueq__strbuf_free(&out);
    return status;
}

dueq_status dueq_codec_decode(dueq_client *client, dueq_codec codec, dueq_bytes bytes,
                              dueq_result **decoded) {
    struct dueq__strbuf room = {0};
    dueq_value value;
    *decoded = NULL;
    client->error = (struct dueq__error){0};
    dueq_status status = dueq__codec_read(codec, bytes, &value, &room, &client->error);
    if (!status)
        status = make_result(&value, decoded, &client->error);
    dueq__strbuf_free(&room);
    return status;
}
