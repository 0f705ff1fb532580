/* The first byte as a lease, the others as what a server answers: through the reader to results. */
#include "fuzz.h"
#include "laravel/laravel.h"

static void check_result(dueq_result *result, const struct dueq__error *error) {
    if (result)
        fuzz_touch_result(result);
    else
        CHECK(error->status < 0 && error->text[0]);
    dueq_result_free(result);
}

static void decode(const struct dueq__reply *reply, int64_t lease_ms) {
    struct dueq__error error = {0};
    dueq_bytes bytes;
    int64_t number;
    if (dueq__reply_is_error(reply)) {
        dueq__reply_begins(reply, "NOSCRIPT");
        CHECK(dueq__reply_error(reply, &error) < 0 && error.text[0]);
    }
    if (dueq__reply_bytes(reply, &bytes)) {
        fuzz_touch(bytes);
        check_result(dueq__result_outcomes(bytes, NULL, &error), &error);
    }
    dueq__reply_number(reply, &number);
    check_result(dueq__result_reserved(reply, lease_ms, DUEQ_DEFAULT_LEASE_MS, &error), &error);
    check_result(dueq__result_found(reply, &error), &error);
    check_result(dueq__result_peeked(reply, DUEQ_LEASED, &error), &error);
    const struct dueq__server_info server = {0};
    check_result(dueq__result_counted(reply, &server, &error), &error);
    check_result(dueq__result_rated(reply, &error), &error);
    check_result(dueq__laravel_popped(reply, &error), &error);
    for (size_t i = 0; i < dueq__reply_count(reply); i++)
        decode(dueq__reply_item(reply, i), lease_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    int64_t lease_ms = data[0] == 255 ? DUEQ_MAX_TIME_MS : (int64_t)data[0] * 1000;
    struct dueq__reader *reader = dueq__reader_new();
    CHECK(reader);
    struct dueq__reply *reply;
    dueq__reader_feed(reader, (const char *)data + 1, size - 1);
    while (!dueq__reader_take(reader, DUEQ__MAX_MESSAGE_REPLY, &reply) && reply) {
        decode(reply, lease_ms);
        dueq__reply_free(reply);
    }
    dueq__reader_free(reader);
    return 0;
}
