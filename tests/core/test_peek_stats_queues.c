/* What is asked and changes nothing, by pages and by minutes; and what else goes by pages. */
#include "fixture.h"

static void push_id(const char *id, int64_t delay_ms, dueq_priority priority) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = draft.id = BYTES(id);
    draft.delay_ms = delay_ms;
    draft.priority = priority;
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
}

static void bury_id(const char *id, const char *reason) {
    dueq_result *result;
    push_id(id, 0, DUEQ_HIGH);
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES(reason)));
    dueq_result_free(result);
}

/* The ids of all messages of a state, in pages of `most`, with a space behind each. */
static const char *peek_all(dueq_state state, size_t most) {
    static char all[4096];
    char cursor[512];
    size_t size = 0, pages = 0;
    all[0] = '\0';
    do {
        dueq_result *result;
        assert_status(jobs.client, OK,
                      dueq_peek(jobs.queue, state, (dueq_bytes){cursor, size}, most, &result));
        assert_in_range(dueq_result_count(result), 0, most);
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            const dueq_message *message = dueq_result_message(result, i);
            assert_int_equal(dueq_result_status(result, i), DUEQ_OK);
            assert_int_equal(message->state, state);
            assert_int_equal(message->ticket.size > 0, state == DUEQ_LEASED);
            snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s ", (int)message->id.size,
                     (const char *)message->id.data);
        }
        size = dueq_result_cursor(result).size;
        assert_in_range(size, 0, sizeof cursor);
        memcpy(cursor, dueq_result_cursor(result).data, size);
        dueq_result_free(result);
        assert_in_range(++pages, 1, 100);
    } while (size);
    return all;
}

static void test_peek_by_state_and_page(void **state) {
    (void)state;
    assert_string_equal(peek_all(DUEQ_READY, 10), "");
    push_id("low", 0, DUEQ_LOW);
    push_id("a", 0, DUEQ_NORMAL);
    push_id("b", 0, DUEQ_NORMAL);
    push_id("high", 0, DUEQ_HIGH);
    push_id("later", 60000, DUEQ_LOW);
    push_id("soon", 30000, DUEQ_NORMAL);
    for (size_t most = 1; most <= 5; most++) {
        assert_string_equal(peek_all(DUEQ_READY, most), "high a b low ");
        assert_string_equal(peek_all(DUEQ_DELAYED, most), "soon later ");
        assert_string_equal(peek_all(DUEQ_LEASED, most), "");
    }
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 2, 0, 0, &result));
    assert_string_equal(peek_all(DUEQ_READY, 1), "b low ");
    assert_string_equal(peek_all(DUEQ_LEASED, 1), "a high ");
    assert_string_equal(peek_all(DUEQ_DEAD, 1), "");
    assert_status(jobs.client, OK,
                  dueq_bury(jobs.queue, dueq_result_message(result, 1)->ticket, BYTES("no more")));
    assert_string_equal(peek_all(DUEQ_DEAD, 1), "a ");
    dueq_result_free(result);
}

static void test_peek_tells_all_of_a_message(void **state) {
    (void)state;
    dueq_header header = {BYTES("trace"), BYTES("00-ab")};
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES("bill-7");
    draft.body = BYTES("not paid");
    draft.headers = &header;
    draft.header_count = 1;
    draft.priority = DUEQ_LOW;
    draft.ttl_ms = 3600000;
    draft.max_attempts = 9;
    draft.max_crashes = 3;
    draft.lease_ms = 5000;
    draft.dead_letter = BYTES("failed");
    draft.backoff = (dueq_backoff){.kind = DUEQ_BACKOFF_FIXED, .base_ms = 60000};
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    dueq_result *taken, *result;
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &taken);
    assert_status(jobs.client, OK,
                  dueq_retry(jobs.queue, message->ticket, DUEQ_BY_POLICY, BYTES("try later")));
    dueq_result_free(taken);

    assert_status(jobs.client, OK,
                  dueq_peek(jobs.queue, DUEQ_DELAYED, (dueq_bytes){0}, 10, &result));
    assert_int_equal(dueq_result_count(result), 1);
    message = dueq_result_message(result, 0);
    assert_non_null(message);
    assert_memory_equal(message->body.data, "not paid", 8);
    assert_int_equal(message->header_count, 1);
    assert_memory_equal(message->headers[0].value.data, "00-ab", 5);
    assert_int_equal(message->attempt, 1);
    assert_int_equal(message->crashes, 0);
    assert_int_equal(message->deliveries, 1);
    assert_int_equal(message->max_attempts, 9);
    assert_int_equal(message->max_crashes, 3);
    assert_int_equal(message->priority, DUEQ_LOW);
    assert_int_equal(message->lease_ms, 5000);
    assert_in_range(message->time_ms - message->now_ms, 50000, 60000);
    assert_in_range(message->expires_ms - message->now_ms, 3500000, 3600000);
    assert_int_equal(message->error.size, 9);
    assert_memory_equal(message->error.data, "try later", 9);
    assert_int_equal(message->dead_letter.size, 6);
    dueq_result_free(result);
}

static void test_peek_names_the_damaged(void **state) {
    (void)state;
    char id[23];
    push_body(jobs.queue, "good", 0, NULL);
    push_body(jobs.queue, "bad", 0, id);
    run_command(&server, "HSET dueq:{jobs}:msg %s junk", id);
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_peek(jobs.queue, DUEQ_READY, (dueq_bytes){0}, 10, &result));
    assert_int_equal(dueq_result_count(result), 2);
    assert_int_equal(dueq_result_status(result, 0), DUEQ_OK);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_CORRUPT);
    assert_null(dueq_result_message(result, 1));
    assert_int_equal(dueq_result_id(result, 1).size, 22);
    assert_memory_equal(dueq_result_id(result, 1).data, id, 22);
    dueq_result_free(result);
}

static void test_peek_refuses(void **state) {
    (void)state;
    const dueq_bytes none = {0};
    assert_status(jobs.client, INVALID, dueq_peek(jobs.queue, (dueq_state)6, none, 1, NULL));
    assert_status(jobs.client, INVALID, dueq_peek(jobs.queue, DUEQ_READY, none, 0, NULL));
    assert_status(jobs.client, INVALID,
                  dueq_peek(jobs.queue, DUEQ_READY, none, DUEQ_MAX_BATCH + 1, NULL));
    static const char *const cursors[] = {"x", "\n\t", "9 9 9", "> x", "> 99999999999999999999"};
    for (dueq_state state_ = DUEQ_READY; state_ <= DUEQ_OUTBOX; state_++)
        for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++) {
            dueq_status status = dueq_peek(jobs.queue, state_, BYTES(cursors[i]), 10, NULL);
            if (status < 0 && status != DUEQ_SERVER)
                fail_msg("cursor '%s': %s", cursors[i], dueq_error_text(jobs.client));
        }
}

/* kick_all */

static size_t kick_all(const dueq_filter *filter, size_t most) {
    char cursor[512];
    size_t size = 0, kicked = 0, pages = 0;
    do {
        dueq_result *result;
        assert_status(jobs.client, OK,
                      dueq_kick_all(jobs.queue, filter, (dueq_bytes){cursor, size}, most, &result));
        assert_in_range(dueq_result_kicked(result), 0, most);
        kicked += dueq_result_kicked(result);
        size = dueq_result_cursor(result).size;
        memcpy(cursor, dueq_result_cursor(result).data, size);
        dueq_result_free(result);
        assert_in_range(++pages, 1, 100);
    } while (size);
    return kicked;
}

static void test_kick_all_by_filter(void **state) {
    (void)state;
    bury_id("a", "timeout of the shop");
    bury_id("b", "no such customer");
    bury_id("c", "timeout of the bank");
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.dead, 3);
    assert_int_equal(counts.died, 3);
    assert_int_equal(kick_all(&(dueq_filter){.struct_size = sizeof(dueq_filter),
                                             .since_ms = counts.now_ms + 60000},
                              10),
                     0);
    assert_int_equal(kick_all(&(dueq_filter){.struct_size = sizeof(dueq_filter),
                                             .until_ms = counts.now_ms - 60000},
                              10),
                     0);
    assert_int_equal(
        kick_all(&(dueq_filter){.struct_size = sizeof(dueq_filter), .error = BYTES("timeout")}, 1),
        2);
    assert_string_equal(peek_all(DUEQ_DEAD, 10), "b ");
    assert_string_equal(peek_all(DUEQ_READY, 10), "a c ");
    assert_int_equal(kick_all(NULL, 10), 1);
    assert_int_equal(kick_all(NULL, 10), 0);
}

static void test_kick_all_refuses(void **state) {
    (void)state;
    const dueq_bytes none = {0};
    assert_status(jobs.client, INVALID, dueq_kick_all(jobs.queue, NULL, none, 0, NULL));
    dueq_filter filter = {.struct_size = sizeof(dueq_filter), .since_ms = -1};
    assert_status(jobs.client, INVALID, dueq_kick_all(jobs.queue, &filter, none, 1, NULL));
    filter = (dueq_filter){.struct_size = sizeof(dueq_filter), .until_ms = DUEQ_MAX_TIME_MS + 1};
    assert_status(jobs.client, INVALID, dueq_kick_all(jobs.queue, &filter, none, 1, NULL));
}

/* stats and rates */

static void test_stats_oldest(void **state) {
    (void)state;
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.oldest_ms, 0);
    push_id("a", 0, DUEQ_NORMAL);
    push_id("b", 0, DUEQ_LOW);
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.pushed, 2);
    assert_in_range(counts.now_ms - counts.oldest_ms, 0, 50000);

    /* One that a producer made long ago. */
    run_command(&server, "HSET dueq:{jobs}:msg old %b",
                "\xD1\x41\x00\x05"
                "2AaIBtOKzz",
                (size_t)14);
    run_command(&server, "LPUSH dueq:{jobs}:low 0.2AaIBtOKzzl:old");
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.oldest_ms,
                     counts.now_ms < 1793541600000 ? counts.now_ms : 1793541600000);
}

static void test_rates(void **state) {
    (void)state;
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 60, 0, &result));
    assert_int_equal(dueq_result_count(result), 0);
    dueq_result_free(result);

    push_id("a", 0, DUEQ_NORMAL);
    bury_id("b", "why");
    assert_status(jobs.client, OK, dueq_cancel(jobs.queue, &BYTES("a"), 1, NULL));
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 60, 0, &result));
    assert_in_range(dueq_result_count(result), 1, 2); /* the minute may end within the test */
    dueq_rate sum = {0};
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_rate *rate = dueq_result_rate(result, i);
        assert_null(dueq_result_message(result, i));
        assert_in_range(rate->span_ms, 0, 60000);
        assert_true(rate->start_ms > 0);
        sum.pushed += rate->pushed;
        sum.reserved += rate->reserved;
        sum.died += rate->died;
        sum.cancelled += rate->cancelled;
    }
    assert_int_equal(sum.pushed, 2);
    assert_int_equal(sum.reserved, 1);
    assert_int_equal(sum.died, 1);
    assert_int_equal(sum.cancelled, 1);
    dueq_result_free(result);
}

static void test_rates_of_minutes_before(void **state) {
    (void)state;
    run_command(&server, "RPUSH dueq:{jobs}:rates %s %s %s", "1793541660000 9 8 7 6 5 4 3 2",
                "1793541600000 1 1 1 1 1 1 1 9", "1793541540000 0 0 0 0 0 0 0 0");
    run_command(&server, "HSET dueq:{jobs}:meta pushed 10");
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 2, 0, &result));
    assert_int_equal(dueq_result_count(result), 2);
    const dueq_rate *running = dueq_result_rate(result, 0), *rate = dueq_result_rate(result, 1);
    assert_int_equal(running->start_ms, 1793541660000);
    assert_int_equal(running->pushed, 2);
    assert_int_equal(running->acked, 0);
    assert_int_equal(rate->start_ms, 1793541600000);
    assert_int_equal(rate->span_ms, 60000);
    assert_int_equal(rate->pushed, 7);
    assert_int_equal(rate->died, 2);
    assert_int_equal(rate->cancelled, 0);
    assert_null(dueq_result_rate(result, 2));
    dueq_result_free(result);
    run_command(&server, "LPUSH dueq:{jobs}:rates damaged");
    assert_status(jobs.client, OK, dueq_rates(jobs.queue, 1, 0, &result));
    assert_int_equal(dueq_result_count(result), 0);
    dueq_result_free(result);
    assert_status(jobs.client, INVALID, dueq_rates(jobs.queue, 0, 0, NULL));
    assert_status(jobs.client, INVALID, dueq_rates(jobs.queue, DUEQ_MAX_RATES + 1, 0, NULL));
}

/* queues */

static void test_queues_by_page(void **state) {
    (void)state;
    run_command(&server, "EVAL %s 0",
                "for i = 1, 3000 do redis.call('HSET', 'dueq:{queue-' .. i .. '}:meta', 'a', 1) "
                "redis.call('SET', 'other-' .. i, 1) end "
                "redis.call('HSET', 'dueq:{}:meta', 'a', 1) "
                "redis.call('HSET', 'dueq:{a{b}:meta', 'a', 1) "
                "redis.call('SET', 'dueq:{text}:meta', 1)");
    static bool seen[3001];
    memset(seen, 0, sizeof seen);
    char cursor[64] = "";
    size_t pages = 0;
    do {
        dueq_result *result;
        assert_status(jobs.client, OK, dueq_queues(jobs.client, BYTES(cursor), &result));
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            dueq_bytes id = dueq_result_id(result, i);
            char name[32];
            unsigned number;
            snprintf(name, sizeof name, "%.*s", (int)id.size, (const char *)id.data);
            assert_int_equal(sscanf(name, "queue-%u", &number), 1);
            assert_in_range(number, 1, 3000);
            seen[number] = true;
        }
        dueq_bytes next = dueq_result_cursor(result);
        snprintf(cursor, sizeof cursor, "%.*s", (int)next.size, (const char *)next.data);
        dueq_result_free(result);
        assert_in_range(++pages, 1, 100);
    } while (cursor[0]);
    for (size_t i = 1; i <= 3000; i++)
        assert_true(seen[i]);
    assert_in_range(pages, 3, 20);
}

static void test_queues_among_others(void **state) {
    (void)state;
    push_body(jobs.queue, "x", 0, NULL);
    run_command(&server, "EVAL %s 0", "for i = 1, 5000 do redis.call('SET', 'k' .. i, 1) end");
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_queues(jobs.client, (dueq_bytes){0}, &result));
    assert_int_equal(dueq_result_count(result), 1);
    assert_int_equal(dueq_result_id(result, 0).size, 4);
    assert_memory_equal(dueq_result_id(result, 0).data, "jobs", 4);
    dueq_result_free(result);
    assert_status(jobs.client, INVALID, dueq_queues(jobs.client, BYTES("x"), NULL));
    assert_status(jobs.client, INVALID,
                  dueq_queues(jobs.client, BYTES("123456789012345678901"), NULL));
}

static void assert_body(const dueq_message *message, size_t size, size_t whole, char byte) {
    assert_non_null(message);
    assert_int_equal(message->body.size, size);
    assert_int_equal(message->body_size, whole);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(((const char *)message->body.data)[i], byte);
}

static void test_bodies_are_cut_where_a_preview_is_asked_for(void **state) {
    (void)state;
    enum { LARGE = 300000 };
    char *body = malloc(LARGE);
    assert_non_null(body);
    memset(body, 'x', LARGE);
    dueq_header header = {BYTES("trace"), BYTES("00-ab")};
    dueq_draft drafts[] = {DUEQ_DRAFT, DUEQ_DRAFT};
    drafts[0].id = BYTES("large");
    drafts[0].body = (dueq_bytes){body, LARGE};
    drafts[0].headers = &header;
    drafts[0].header_count = 1;
    drafts[0].dead_letter = BYTES("failed");
    drafts[1].id = BYTES("small");
    drafts[1].body = BYTES("y");
    assert_status(jobs.client, OK, dueq_push(jobs.queue, drafts, 2, NULL));
    free(body);
    static const size_t previews[][3] = {{256, 256, 1}, {1, 1, 1}, {0, LARGE, 1}};
    for (size_t i = 0; i < 3; i++) {
        dueq_result *page, *found;
        dueq_queue_preview(jobs.queue, previews[i][0]);
        assert_status(jobs.client, OK,
                      dueq_peek(jobs.queue, DUEQ_READY, (dueq_bytes){0}, 10, &page));
        const dueq_message *message = dueq_result_message(page, 0);
        assert_body(message, previews[i][1], LARGE, 'x');
        assert_int_equal(message->header_count, 1);
        assert_memory_equal(message->headers[0].value.data, "00-ab", 5);
        assert_int_equal(message->dead_letter.size, 6);
        assert_body(dueq_result_message(page, 1), previews[i][2], 1, 'y');
        assert_status(jobs.client, OK, dueq_find(jobs.queue, BYTES("large"), &found));
        assert_body(dueq_result_message(found, 0), previews[i][1], LARGE, 'x');
        dueq_result_free(page);
        dueq_result_free(found);
    }
    /* A handle that is opened again has none. */
    dueq_queue *other;
    dueq_result *found;
    assert_status(jobs.client, OK, dueq_queue_open(jobs.client, "other", 5, &other));
    dueq_queue_preview(other, 1);
    dueq_queue_close(other);
    assert_status(jobs.client, OK, dueq_queue_open(jobs.client, "other", 5, &other));
    push_body(other, "whole", 0, NULL);
    assert_status(jobs.client, OK, dueq_peek(other, DUEQ_READY, (dueq_bytes){0}, 1, &found));
    assert_int_equal(dueq_result_message(found, 0)->body.size, 5);
    dueq_result_free(found);
    dueq_queue_close(other);
    /* What is damaged is so whatever is asked for. */
    run_command(&server, "HSET dueq:{jobs}:msg small junk");
    dueq_queue_preview(jobs.queue, 256);
    assert_status(jobs.client, OK, dueq_peek(jobs.queue, DUEQ_READY, (dueq_bytes){0}, 10, &found));
    assert_int_equal(dueq_result_status(found, 1), DUEQ_CORRUPT);
    dueq_result_free(found);
    assert_status(jobs.client, CORRUPT, dueq_find(jobs.queue, BYTES("small"), NULL));
    dueq_queue_preview(jobs.queue, 0);
}

static void test_pages_of_large_messages_are_short(void **state) {
    (void)state;
    enum { LARGE = 7 * 1024 * 1024 };
    char *body = calloc(1, LARGE);
    assert_non_null(body);
    static const char *const ids[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 10; i++) {
        char id[3] = {ids[i / 2][0], i % 2 ? 'x' : '\0', '\0'};
        dueq_draft draft = DUEQ_DRAFT;
        draft.id = BYTES(id);
        draft.body = (dueq_bytes){body, LARGE};
        draft.delay_ms = i % 2 ? 60000 : 0;
        draft.priority = i == 4 ? DUEQ_HIGH : DUEQ_NORMAL;
        assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    }
    free(body);
    dueq_queue_preview(jobs.queue, 1);
    /* 16 MiB are reached by the third. */
    dueq_result *page;
    assert_status(jobs.client, OK, dueq_peek(jobs.queue, DUEQ_READY, (dueq_bytes){0}, 10, &page));
    assert_int_equal(dueq_result_count(page), 3);
    dueq_result_free(page);
    assert_string_equal(peek_all(DUEQ_READY, 10), "c a b d e ");
    assert_string_equal(peek_all(DUEQ_READY, 3), "c a b d e ");
    assert_string_equal(peek_all(DUEQ_DELAYED, 10), "ax bx cx dx ex ");
    assert_string_equal(peek_all(DUEQ_DELAYED, 3), "ax bx cx dx ex ");
    assert_string_equal(peek_all(DUEQ_DELAYED, 5), "ax bx cx dx ex ");
    dueq_queue_preview(jobs.queue, 0);
}

static void assert_expired(dueq_queue *queue, int64_t timeout_ms, bool stays) {
    dueq_counts counts = DUEQ_COUNTS;
    dueq_result *ended;
    assert_status(jobs.client, OK, dueq_outcome(queue, BYTES("one"), timeout_ms, &ended));
    assert_string_equal(dueq_result_end(ended, 0)->outcome, "expired");
    assert_int_equal(dueq_result_end(ended, 0)->until_ms == 0, stays);
    dueq_result_free(ended);
    assert_status(jobs.client, OK, dueq_stats(queue, &counts));
    assert_int_equal(counts.ready, stays);
    assert_int_equal(counts.expired, !stays);
}

static void test_outcome_that_only_looks_ends_no_message(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    dueq_queue *other;
    draft.id = draft.body = BYTES("one");
    draft.ttl_ms = 50;
    assert_status(jobs.client, OK, dueq_queue_open(jobs.client, "other", 5, &other));
    assert_status(jobs.client, OK, dueq_queue_keep(other, 60000));
    dueq_queue_look_only(other);
    assert_status(jobs.client, OK, dueq_push(other, &draft, 1, NULL));
    assert_expired(other, 20000, true);
    assert_expired(other, 0, true);
    /* A handle that is opened again ends it, and keeps no ends. */
    dueq_queue_close(other);
    assert_status(jobs.client, OK, dueq_queue_open(jobs.client, "other", 5, &other));
    assert_expired(other, 0, false);
    dueq_result *found;
    draft.id = BYTES("two");
    draft.ttl_ms = 0;
    assert_status(jobs.client, OK, dueq_push(other, &draft, 1, NULL));
    assert_status(jobs.client, OK, dueq_find(other, BYTES("two"), &found));
    assert_int_equal(dueq_result_message(found, 0)->keep_ms, 0);
    dueq_result_free(found);
    dueq_queue_close(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_peek_by_state_and_page),
        TEST(test_peek_tells_all_of_a_message),
        TEST(test_peek_names_the_damaged),
        TEST(test_peek_refuses),
        TEST(test_bodies_are_cut_where_a_preview_is_asked_for),
        TEST(test_pages_of_large_messages_are_short),
        TEST(test_kick_all_by_filter),
        TEST(test_kick_all_refuses),
        TEST(test_stats_oldest),
        TEST(test_rates),
        TEST(test_rates_of_minutes_before),
        TEST(test_queues_by_page),
        TEST(test_queues_among_others),
        TEST(test_outcome_that_only_looks_ends_no_message),
    };
    return run_on_server(tests, NULL);
}
