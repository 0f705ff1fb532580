#include "redisson_fixture.h"

#include <sys/time.h>
#include <time.h>

dueq_redisson *orders;

dueq_redisson *open_delayed(dueq_client *client, const char *name, dueq_layout layout) {
    dueq_redisson *queue;
    dueq_status status =
        dueq_redisson_open(client, name, strlen(name), DUEQ_CODEC_STRING, layout, &queue);
    assert_status(client, OK, status);
    return queue;
}

int set_up_orders(void **state) {
    set_up_jobs(state);
    orders = open_delayed(jobs.client, "orders", DUEQ_LAYOUT_FOUND);
    return 0;
}

int tear_down_orders(void **state) {
    dueq_redisson_close(orders);
    return tear_down_jobs(state);
}

dueq_offer string_offer(const char *text, int64_t delay_ms) {
    return (dueq_offer){.struct_size = sizeof(dueq_offer),
                        .value = {.kind = DUEQ_STRING, .bytes = BYTES(text)},
                        .delay_ms = delay_ms};
}

void offer_text(dueq_redisson *queue, const char *text, int64_t delay_ms) {
    dueq_offer offer = string_offer(text, delay_ms);
    assert_int_equal(dueq_redisson_offer(queue, &offer, 1), DUEQ_OK);
}

void place_bytes(dueq_bytes element, const char *score) {
    run_command(&server, "RPUSH " OFFERED " %b", element.data, element.size);
    run_command(&server, "ZADD " TIMEOUT_SET " %s %b", score, element.data, element.size);
}

void place(dueq_layout layout, const char *value, const char *score) {
    static uint64_t made;
    char element[256];
    size_t at = 0;
    uint64_t id = ++made, size = strlen(value);
    double number = (double)id * 1e12;
    if (layout == DUEQ_LAYOUT_NEW)
        element[at++] = 8;
    memcpy(element + at, layout == DUEQ_LAYOUT_NEW ? (void *)&id : (void *)&number, 8);
    memcpy(element + at + 8, &size, 8);
    memcpy(element + at + 16, value, size);
    place_bytes((dueq_bytes){element, at + 16 + size}, score);
}

void assert_list(const char *key, const char *const values[]) {
    redisReply *reply = command(&server, "LRANGE %s 0 -1", key);
    size_t count = 0;
    for (; values[count]; count++)
        if (count < reply->elements)
            assert_string_equal(reply->element[count]->str, values[count]);
    assert_int_equal(reply->elements, count);
    freeReplyObject(reply);
}

void assert_strings_(dueq_result *result, const char *const values[]) {
    size_t count = 0;
    for (; values[count]; count++) {
        const dueq_value *value = dueq_result_value(result, count);
        assert_non_null(value);
        assert_int_equal(dueq_result_status(result, count), DUEQ_OK);
        assert_int_equal(value->kind, DUEQ_STRING);
        assert_int_equal(value->bytes.size, strlen(values[count]));
        assert_memory_equal(value->bytes.data, values[count], value->bytes.size);
    }
    assert_int_equal(dueq_result_count(result), count);
    assert_null(dueq_result_value(result, count));
    dueq_result_free(result);
}

int64_t server_ms(void) {
    redisReply *reply = command(&server, "TIME");
    int64_t ms = atoll(reply->element[0]->str) * 1000 + atoll(reply->element[1]->str) / 1000;
    freeReplyObject(reply);
    return ms;
}

redisContext *subscribe(void) {
    redisContext *context = redisConnectUnix(server.socket);
    assert_true(context && !context->err);
    redisReply *reply = redisCommand(context, "SUBSCRIBE " CHANNEL);
    assert_non_null(reply);
    freeReplyObject(reply);
    return context;
}

long long next_message(redisContext *context, int64_t within_ms) {
    redisReply *reply = NULL;
    redisSetTimeout(context, (struct timeval){within_ms / 1000, within_ms % 1000 * 1000});
    if (redisGetReply(context, (void **)&reply) != REDIS_OK)
        return 0;
    assert_string_equal(reply->element[0]->str, "message");
    const char *text = reply->element[2]->str;
    assert_int_equal(strspn(text, "0123456789"), strlen(text));
    long long number = atoll(text);
    freeReplyObject(reply);
    return number;
}

void await_subscribed(long long count) {
    for (int64_t end = now_ms() + 20000; now_ms() < end;) {
        redisReply *reply = command(&server, "PUBSUB NUMSUB " CHANNEL);
        long long found = reply->element[1]->integer;
        freeReplyObject(reply);
        if (found == count)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    fail_msg("%lld should be subscribed by now", count);
}
