/* Redisson's delayed queues: what an offer writes and says, and what it refuses. */
#include "redisson_fixture.h"

/* The elements that wait, as their list and their sorted set have them, which must be the same. */
static redisReply *waiting(const char *name, int count) {
    redisReply *list = command(&server, "LRANGE redisson_delay_queue:%s 0 -1", name);
    assert_int_equal(list->elements, count);
    assert_int_equal(command_number(&server, "ZCARD redisson_delay_queue_timeout:%s", name), count);
    for (size_t i = 0; i < list->elements; i++) {
        redisReply *score = command(&server, "ZSCORE redisson_delay_queue_timeout:%s %b", name,
                                    list->element[i]->str, list->element[i]->len);
        assert_int_equal(score->type, REDIS_REPLY_STRING);
        freeReplyObject(score);
    }
    return list;
}

/* Asserts that an element has a head of so many bytes, with the size of this value at its end. */
static void assert_packed(const redisReply *element, size_t head, const char *value) {
    uint64_t size;
    assert_int_equal(element->len, head + strlen(value));
    memcpy(&size, element->str + head - 8, 8);
    assert_int_equal(size, strlen(value));
    assert_memory_equal(element->str + head, value, strlen(value));
}

static void test_offer_packs_as_redisson_does_today(void **state) {
    (void)state;
    const dueq_offer offers[] = {string_offer("first", 90000), string_offer("", 60000)};
    int64_t before = server_ms();
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, offers, 2));
    int64_t after = server_ms();
    redisReply *list = waiting("{orders}", 2);
    assert_packed(list->element[0], 17, "first");
    assert_packed(list->element[1], 17, "");
    assert_int_equal(list->element[0]->str[0], 8);
    assert_int_equal(list->element[1]->str[0], 8);
    assert_memory_not_equal(list->element[0]->str + 1, list->element[1]->str + 1, 8);
    freeReplyObject(list);
    redisReply *scores = command(&server, "ZRANGE " TIMEOUT_SET " 0 -1 WITHSCORES");
    for (size_t i = 0; i < 2; i++) {
        const char *text = scores->element[2 * i + 1]->str;
        assert_int_equal(strspn(text, "0123456789"), strlen(text));
        assert_in_range(atoll(text) - (i ? 90000 : 60000), before, after);
    }
    freeReplyObject(scores);
    assert_int_equal(command_number(&server, "EXISTS orders"), 0);
}

static void test_offer_packs_as_redisson_did_when_asked_to(void **state) {
    (void)state;
    dueq_redisson *old = open_delayed(jobs.client, "orders", DUEQ_LAYOUT_OLD);
    double id;
    offer_text(old, "first", 60000);
    redisReply *list = waiting("{orders}", 1);
    assert_packed(list->element[0], 16, "first");
    memcpy(&id, list->element[0]->str, 8);
    /* A random whole number of 64 bits, as a double. */
    assert_true(id > -9.3e18 && id < 9.3e18 && (id < -1e9 || id > 1e9));
    freeReplyObject(list);
    dueq_redisson_close(old);
}

static void test_offer_finds_the_layout_of_what_waits(void **state) {
    (void)state;
    place(DUEQ_LAYOUT_OLD, "theirs", "99999999999999");
    offer_text(orders, "ours", 60000);
    redisReply *list = waiting("{orders}", 2);
    assert_packed(list->element[1], 16, "ours");
    freeReplyObject(list);
}

static void test_offer_to_names_with_and_without_braces(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"plain", "{plain}"},
        {"{a}:b", "{a}:b"},
        {"a:{b}", "a:{b}"},
        {"open{er", "open{er"},
        {"clos}er", "{clos}er}"},
        {"two}{words", "two}{words"},
        {"{}", "{}"},
        {"\xc3\xbc"
         "ber",
         "{\xc3\xbc"
         "ber}"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dueq_redisson *queue = open_delayed(jobs.client, names[i][0], DUEQ_LAYOUT_NEW);
        dueq_sizes sizes = DUEQ_SIZES;
        offer_text(queue, "x", 0);
        freeReplyObject(waiting(names[i][1], 1));
        assert_status(jobs.client, OK, dueq_redisson_transfer(queue, 10, 0, NULL));
        assert_int_equal(command_number(&server, "LLEN %s", names[i][0]), 1);
        assert_status(jobs.client, OK, dueq_redisson_size(queue, &sizes));
        assert_int_equal(sizes.ready, 1);
        dueq_redisson_close(queue);
    }
}

static void test_offer_tells_the_earliest_time_when_it_changes(void **state) {
    (void)state;
    redisContext *listener = subscribe();
    int64_t before = server_ms();
    offer_text(orders, "a", 60000);
    assert_in_range(next_message(listener, 5000), before + 60000, server_ms() + 60000);
    offer_text(orders, "later", 90000);
    before = server_ms();
    const dueq_offer offers[] = {string_offer("c", 50000), string_offer("b", 30000),
                                 string_offer("d", 99000)};
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, offers, 3));
    /* Of the later one nothing was told, of these three one time. */
    assert_in_range(next_message(listener, 5000), before + 30000, server_ms() + 30000);
    dueq_offer at = string_offer("at", 0);
    at.at_ms = 1234567890123;
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, &at, 1));
    assert_true(next_message(listener, 5000) == 1234567890123);
    offer_text(orders, "now", 0);
    assert_true(next_message(listener, 200) == 0);
    redisFree(listener);
    redisReply *head = command(&server, "ZRANGE " TIMEOUT_SET " 0 0 WITHSCORES");
    assert_string_equal(head->element[1]->str, "1234567890123");
    freeReplyObject(head);
}

static void test_offer_to_a_mixture_is_refused_and_so_is_the_rest(void **state) {
    (void)state;
    const dueq_offer offer = string_offer("x", 0);
    dueq_result *result;
    size_t cleared;
    place(DUEQ_LAYOUT_OLD, "old", "5");
    place(DUEQ_LAYOUT_NEW, "new", "6");
    for (int layout = DUEQ_LAYOUT_FOUND; layout <= DUEQ_LAYOUT_OLD; layout++) {
        dueq_redisson *queue = open_delayed(jobs.client, "orders", (dueq_layout)layout);
        assert_status(jobs.client, LAYOUT, dueq_redisson_offer(queue, &offer, 1));
        assert_status(jobs.client, LAYOUT, dueq_redisson_transfer(queue, 10, 0, NULL));
        assert_status(jobs.client, LAYOUT, dueq_redisson_transfer(queue, 10, 60000, NULL));
        assert_status(jobs.client, LAYOUT, dueq_redisson_poll(queue, 10, &result));
        assert_null(result);
        assert_status(jobs.client, LAYOUT, dueq_redisson_peek(queue, 10, NULL));
        assert_status(jobs.client, LAYOUT, dueq_redisson_remove(queue, &offer.value));
        assert_status(jobs.client, LAYOUT, dueq_redisson_contains(queue, &offer.value));
        dueq_redisson_close(queue);
    }
    freeReplyObject(waiting("{orders}", 2));
    assert_int_equal(command_number(&server, "EXISTS orders dueq:{orders}:quarantine"), 0);
    /* The way out. */
    assert_status(jobs.client, OK, dueq_redisson_clear(orders, &cleared));
    assert_int_equal(cleared, 2);
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, &offer, 1));
}

static void test_offer_to_another_layout_is_refused(void **state) {
    (void)state;
    const dueq_offer offer = string_offer("x", 0);
    dueq_redisson *old = open_delayed(jobs.client, "orders", DUEQ_LAYOUT_OLD);
    offer_text(orders, "new", 60000);
    assert_status(jobs.client, LAYOUT, dueq_redisson_offer(old, &offer, 1));
    assert_status(jobs.client, LAYOUT, dueq_redisson_transfer(old, 1, 0, NULL));
    freeReplyObject(waiting("{orders}", 1));
    dueq_redisson_close(old);
}

static void test_transfer_of_a_mixture_within_a_batch_moves_nothing(void **state) {
    (void)state;
    place(DUEQ_LAYOUT_NEW, "first", "1");
    place(DUEQ_LAYOUT_OLD, "between", "2");
    place(DUEQ_LAYOUT_NEW, "last", "3");
    dueq_redisson *current = open_delayed(jobs.client, "orders", DUEQ_LAYOUT_NEW);
    assert_status(jobs.client, LAYOUT, dueq_redisson_transfer(current, 10, 0, NULL));
    assert_status(jobs.client, LAYOUT, dueq_redisson_peek(orders, 10, NULL));
    assert_status(jobs.client, LAYOUT, dueq_redisson_poll(orders, 10, NULL));
    freeReplyObject(waiting("{orders}", 3));
    assert_int_equal(command_number(&server, "EXISTS orders"), 0);
    dueq_redisson_close(current);
}

static void test_offer_of_wrong_arguments_is_invalid(void **state) {
    (void)state;
    dueq_offer offer = string_offer("x", -1), many[DUEQ_MAX_BATCH + 1];
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, &offer, 1));
    offer.delay_ms = DUEQ_MAX_TIME_MS + 1;
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, &offer, 1));
    offer.delay_ms = 5;
    offer.at_ms = 5;
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, &offer, 1));
    offer.at_ms = -5;
    offer.delay_ms = 0;
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, &offer, 1));
    for (size_t i = 0; i <= DUEQ_MAX_BATCH; i++)
        many[i] = string_offer("x", 60000);
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, many, 0));
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, many, DUEQ_MAX_BATCH + 1));
    many[7].value.kind = DUEQ_LONG;
    assert_status(jobs.client, INVALID, dueq_redisson_offer(orders, many, 9));
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
    many[7].value.kind = DUEQ_STRING;
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, many, DUEQ_MAX_BATCH));
    freeReplyObject(waiting("{orders}", DUEQ_MAX_BATCH));
}

static void test_open_of_wrong_arguments(void **state) {
    (void)state;
    dueq_redisson *queue;
    char name[DUEQ_MAX_NAME + 1];
    memset(name, 'n', sizeof name);
#define OPEN(name, size, codec, layout)                                                            \
    dueq_redisson_open(jobs.client, (name), (size), (codec), (layout), &queue)
    assert_status(jobs.client, NAME, OPEN("", 0, DUEQ_CODEC_STRING, DUEQ_LAYOUT_NEW));
    assert_status(jobs.client, NAME, OPEN("a\nb", 3, DUEQ_CODEC_STRING, DUEQ_LAYOUT_NEW));
    assert_status(jobs.client, NAME, OPEN("\xff", 1, DUEQ_CODEC_STRING, DUEQ_LAYOUT_NEW));
    assert_status(jobs.client, NAME, OPEN(name, sizeof name, DUEQ_CODEC_STRING, DUEQ_LAYOUT_NEW));
    assert_null(queue);
    assert_status(jobs.client, INVALID, OPEN("a", 1, (dueq_codec)8, DUEQ_LAYOUT_NEW));
    assert_status(jobs.client, INVALID, OPEN("a", 1, DUEQ_CODEC_LONG, (dueq_layout)3));
    assert_null(queue);
    dueq_redisson_close(NULL);
    assert_status(jobs.client, OK, OPEN(name, DUEQ_MAX_NAME, DUEQ_CODEC_STRING, DUEQ_LAYOUT_NEW));
    offer_text(queue, "x", 0);
    assert_status(jobs.client, OK, dueq_redisson_transfer(queue, 1, 0, NULL));
    dueq_redisson_close(queue);
}

static void test_offer_of_too_much_is_refused(void **state) {
    (void)state;
    char *much = calloc(1, DUEQ_MAX_BODY);
    assert_non_null(much);
    dueq_offer offers[2] = {string_offer("x", 0), string_offer("x", 0)};
    offers[0].value.bytes = (dueq_bytes){much, DUEQ_MAX_BODY};
    assert_status(jobs.client, TOO_LARGE, dueq_redisson_offer(orders, offers, 2));
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
    free(much);
}

static void test_offer_of_a_large_value_comes_back_whole(void **state) {
    (void)state;
    const size_t size = 20 << 20;
    char *large = malloc(size);
    assert_non_null(large);
    for (size_t i = 0; i < size; i++)
        large[i] = (char)('a' + (i * 7 + i / 251) % 26);
    dueq_offer offer = string_offer("", 0);
    dueq_result *result;
    offer.value.bytes = (dueq_bytes){large, size};
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, &offer, 1));
    assert_status(jobs.client, OK, dueq_redisson_contains(orders, &offer.value));
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 1, 1000, NULL));
    assert_status(jobs.client, OK, dueq_redisson_take(orders, 1, 0, &result));
    assert_int_equal(dueq_result_value(result, 0)->bytes.size, size);
    assert_memory_equal(dueq_result_value(result, 0)->bytes.data, large, size);
    dueq_result_free(result);
    free(large);
}

static void test_offer_where_a_key_is_something_else_changes_nothing(void **state) {
    (void)state;
    static const char *const keys[] = {OFFERED, TIMEOUT_SET};
    const dueq_offer offer = string_offer("x", 0);
    dueq_result *result;
    for (size_t i = 0; i < 2; i++) {
        run_command(&server, "FLUSHALL");
        run_command(&server, "SET %s mine", keys[i]);
        assert_status(jobs.client, WRONG_TYPE, dueq_redisson_offer(orders, &offer, 1));
        assert_status(jobs.client, WRONG_TYPE, dueq_redisson_transfer(orders, 1, 0, NULL));
        assert_status(jobs.client, WRONG_TYPE, dueq_redisson_poll(orders, 1, &result));
        assert_status(jobs.client, WRONG_TYPE, dueq_redisson_clear(orders, NULL));
        assert_status(jobs.client, WRONG_TYPE, dueq_redisson_size(orders, NULL));
        assert_int_equal(command_number(&server, "DBSIZE"), 1);
    }
    run_command(&server, "FLUSHALL");
    offer_text(orders, "x", 0);
    run_command(&server, "SET orders mine");
    assert_status(jobs.client, WRONG_TYPE, dueq_redisson_transfer(orders, 1, 0, NULL));
    assert_status(jobs.client, WRONG_TYPE, dueq_redisson_take(orders, 1, 0, &result));
    assert_status(jobs.client, WRONG_TYPE, dueq_redisson_take(orders, 1, 60000, &result));
    run_command(&server, "DEL orders");
    run_command(&server, "SET dueq:{orders}:quarantine mine");
    assert_status(jobs.client, WRONG_TYPE, dueq_redisson_transfer(orders, 1, 0, NULL));
    freeReplyObject(waiting("{orders}", 1));
}

static void test_offer_to_a_full_server_changes_nothing(void **state) {
    (void)state;
    const dueq_offer offer = string_offer("x", 0);
    offer_text(orders, "before", 0);
    run_command(&server, "CONFIG SET maxmemory 1");
    assert_status(jobs.client, FULL, dueq_redisson_offer(orders, &offer, 1));
    assert_status(jobs.client, FULL, dueq_redisson_transfer(orders, 1, 0, NULL));
    run_command(&server, "CONFIG SET maxmemory 0");
    freeReplyObject(waiting("{orders}", 1));
    assert_int_equal(command_number(&server, "EXISTS orders"), 0);
    assert_status(jobs.client, OK, dueq_redisson_transfer(orders, 1, 0, NULL));
}

static void test_offer_to_a_replica_is_refused(void **state) {
    (void)state;
    const dueq_offer offer = string_offer("x", 0);
    dueq_sizes sizes = DUEQ_SIZES;
    offer_text(orders, "before", 60000);
    run_command(&server, "REPLICAOF 127.0.0.1 1");
    run_command(&server, "CONFIG SET replica-serve-stale-data yes");
    assert_status(jobs.client, READONLY, dueq_redisson_offer(orders, &offer, 1));
    assert_status(jobs.client, OK, dueq_redisson_size(orders, &sizes));
    assert_int_equal(sizes.delayed, 1);
    run_command(&server, "REPLICAOF NO ONE");
    assert_status(jobs.client, OK, dueq_redisson_offer(orders, &offer, 1));
}

static void test_offer_that_may_not_tell_changes_nothing(void **state) {
    (void)state;
    const dueq_offer offer = string_offer("x", 0);
    run_command(&server, "ACL SETUSER mute on >secret ~* +@all resetchannels");
    dueq_client *mute = open_client(url_with("mute:secret@", ""));
    dueq_redisson *queue = open_delayed(mute, "orders", DUEQ_LAYOUT_FOUND);
    assert_status(mute, DENIED, dueq_redisson_offer(queue, &offer, 1));
    assert_status(mute, DENIED, dueq_redisson_transfer(queue, 1, 60000, NULL));
    assert_int_equal(command_number(&server, "DBSIZE"), 0);
    dueq_redisson_close(queue);
    dueq_close(mute);
    run_command(&server, "ACL DELUSER mute");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DELAYED_TEST(test_offer_packs_as_redisson_does_today),
        DELAYED_TEST(test_offer_packs_as_redisson_did_when_asked_to),
        DELAYED_TEST(test_offer_finds_the_layout_of_what_waits),
        DELAYED_TEST(test_offer_to_names_with_and_without_braces),
        DELAYED_TEST(test_offer_tells_the_earliest_time_when_it_changes),
        DELAYED_TEST(test_offer_to_a_mixture_is_refused_and_so_is_the_rest),
        DELAYED_TEST(test_offer_to_another_layout_is_refused),
        DELAYED_TEST(test_transfer_of_a_mixture_within_a_batch_moves_nothing),
        DELAYED_TEST(test_offer_of_wrong_arguments_is_invalid),
        DELAYED_TEST(test_open_of_wrong_arguments),
        DELAYED_TEST(test_offer_of_too_much_is_refused),
        DELAYED_TEST(test_offer_of_a_large_value_comes_back_whole),
        DELAYED_TEST(test_offer_where_a_key_is_something_else_changes_nothing),
        DELAYED_TEST(test_offer_to_a_full_server_changes_nothing),
        DELAYED_TEST(test_offer_to_a_replica_is_refused),
        DELAYED_TEST(test_offer_that_may_not_tell_changes_nothing),
    };
    return run_on_server(tests, NULL);
}
