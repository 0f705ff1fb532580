/* Results that have values. */
#include "codec.h"
#include "redisson.h"
#include "verbs/verbs.h"

#define FIXED 3

static const struct dueq__item_type value_type = {sizeof(dueq_value)};

const dueq_value *dueq_result_value(const dueq_result *result, size_t index) {
    return dueq__result_item_value(result, &value_type, index);
}

dueq_result *dueq__values_new(size_t count, size_t bytes, struct dueq__error *error) {
    return dueq__result_new(&value_type, count, bytes, error);
}

void dueq__values_put(dueq_result *result, size_t index, dueq_status status,
                      const dueq_value *value) {
    dueq_value *kept = result->items[index].value;
    *kept = *value;
    kept->bytes = dueq__result_copy(result, value->bytes);
    result->items[index].status = status;
}

/* The values of an answer, read one at a time. */
struct reading {
    const struct dueq__reply *reply;
    dueq_bytes digits;
    dueq_codec codec;
    struct dueq__strbuf room;
};

/* Reads a value. CORRUPT: the value has the stored bytes. NO_MEMORY: *error is set. */
static dueq_status read_value(struct reading *reading, size_t index, dueq_value *value,
                              struct dueq__error *error) {
    struct dueq__error unreadable = {0};
    dueq_bytes bytes = {0};
    dueq__reply_bytes(dueq__reply_item(reading->reply, FIXED + index), &bytes);
    *value = (dueq_value){.kind = DUEQ_BINARY, .bytes = bytes};
    if (((const char *)reading->digits.data)[index] != '0')
        return DUEQ_CORRUPT;
    dueq_status status =
        dueq__codec_read(reading->codec, bytes, value, &reading->room, &unreadable);
    if (status == DUEQ_NO_MEMORY)
        *error = unreadable;
    return status;
}

/* Reads each value twice: first for its size, then to keep it. */
static dueq_result *make(struct reading *reading, struct dueq__error *error) {
    size_t count = reading->digits.size;
    size_t bytes = 0;
    dueq_value value;
    for (size_t i = 0; i < count; i++) {
        if (read_value(reading, i, &value, error) == DUEQ_NO_MEMORY)
            return NULL;
        bytes += value.bytes.size;
    }
    dueq_result *result = dueq__values_new(count, bytes, error);
    for (size_t i = 0; result && i < count; i++) {
        dueq_status status = read_value(reading, i, &value, error);
        dueq__values_put(result, i, status, &value);
    }
    return result;
}

/* False: no script returns such an answer. */
static bool is_sound(const struct dueq__reply *reply, int64_t *now, int64_t *pause,
                     dueq_bytes *digits) {
    size_t items = dueq__reply_count(reply);
    *digits = (dueq_bytes){0};
    if (items < 2 || !dueq__reply_number(dueq__reply_item(reply, 0), now) ||
        !dueq__reply_number(dueq__reply_item(reply, 1), pause) || *pause < -1)
        return false;
    bool sound = items == 2 || (dueq__reply_bytes(dueq__reply_item(reply, 2), digits) &&
                                digits->size > 0 && items == FIXED + digits->size);
    for (size_t i = FIXED; sound && i < items; i++) {
        dueq_bytes bytes;
        sound = dueq__reply_bytes(dueq__reply_item(reply, i), &bytes);
    }
    return sound;
}

void dueq__redisson_values(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    struct reading reading = {.reply = reply, .codec = dueq__redisson_of(client)->codec};
    int64_t now, pause;
    if (!is_sound(reply, &now, &pause, &reading.digits)) {
        dueq__answer_unexpected(client);
    } else if (reading.digits.size == 0) {
        if (op->wait.watches)
            dueq__wait_found_nothing(client, now, pause);
        else
            dueq__op_finish(client, DUEQ_EMPTY);
    } else {
        dueq_result *result = make(&reading, &client->error);
        dueq__strbuf_free(&reading.room);
        if (op->wait.watches)
            dueq__wait_finish_found(client, result);
        else
            dueq__op_finish_result(client, result, DUEQ_OK);
    }
}
