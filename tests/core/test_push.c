/* What a push asks of the script beyond storing, and a push with an ack in one step. */
#include "fixture.h"

static dueq_status push_one(dueq_draft draft) {
    dueq_result *result;
    dueq_status status = dueq_push(jobs.queue, &draft, 1, &result);
    if (result) {
        assert_int_equal(dueq_result_count(result), 1);
        assert_int_equal(dueq_result_status(result, 0), status);
        assert_int_equal(dueq_result_id(result, 0).size, draft.id.size);
    }
    dueq_result_free(result);
    return status;
}

static dueq_draft draft_of(const char *id, const char *body) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES(id);
    draft.body = BYTES(body);
    return draft;
}

static void assert_text(const char *expected, dueq_bytes got) {
    assert_int_equal(got.size, strlen(expected));
    assert_memory_equal(got.data, expected, got.size);
}

/* Takes the next message away and asserts its body. */
static void take(dueq_queue *queue, const char *body) {
    dueq_result *result;
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    assert_text(body, message->body);
    assert_status(jobs.client, OK, dueq_ack(queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
}

static void test_push_by_priority(void **state) {
    (void)state;
    static const char *const bodies[] = {"low", "normal", "high"};
    for (int i = 0; i < 3; i++) {
        dueq_draft draft = DUEQ_DRAFT;
        draft.body = BYTES(bodies[i]);
        draft.priority = (dueq_priority)(i - 1);
        assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
    }
    take(jobs.queue, "high");
    take(jobs.queue, "normal");
    take(jobs.queue, "low");
}

static void test_push_unique_after_its_end(void **state) {
    (void)state;
    dueq_draft draft = draft_of("bill-7", "first");
    draft.unique_ms = 3600000;
    assert_status(jobs.client, OK, push_one(draft));
    take(jobs.queue, "first");
    assert_status(jobs.client, DUPLICATE, push_one(draft));
    assert_status(jobs.client, DUPLICATE, push_one(draft_of("bill-7", "second")));
    draft.replace = DUEQ_REPLACE;
    assert_status(jobs.client, DUPLICATE, push_one(draft));
    assert_status(jobs.client, OK, push_one(draft_of("bill-8", "other")));
}

static void test_push_replace(void **state) {
    (void)state;
    assert_status(jobs.client, OK, push_one(draft_of("a", "old")));
    assert_status(jobs.client, OK, push_one(draft_of("b", "other")));
    dueq_draft draft = draft_of("a", "new");
    assert_status(jobs.client, DUPLICATE, push_one(draft));
    draft.replace = DUEQ_REPLACE_BODY;
    assert_status(jobs.client, OK, push_one(draft));
    dueq_result *result;
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_text("new", message->body);
    draft.body = BYTES("newer");
    draft.replace = DUEQ_REPLACE;
    assert_status(jobs.client, OK, push_one(draft));
    assert_status(jobs.client, LEASE_LOST, dueq_ack(jobs.queue, &message->ticket, 1, NULL));
    dueq_result_free(result);
    take(jobs.queue, "other");
    take(jobs.queue, "newer");
}

static void test_push_time_to_live(void **state) {
    (void)state;
    dueq_result *result;
    dueq_draft draft = draft_of("a", "in time");
    draft.ttl_ms = 3600000;
    assert_status(jobs.client, OK, push_one(draft));
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    assert_in_range(message->expires_ms - message->now_ms, 3500000, 3600000);
    dueq_result_free(result);
    draft = draft_of("b", "too late");
    draft.ttl_ms = 1;
    assert_status(jobs.client, OK, push_one(draft));
    int64_t end = now_ms() + 2;
    while (now_ms() < end)
        ;
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 0, 0, NULL));
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.expired, 1);
}

/* ack_push */

static void test_ack_push_to_its_own_queue(void **state) {
    (void)state;
    dueq_result *taken, *result;
    assert_status(jobs.client, OK, push_one(draft_of("step", "1")));
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &taken);
    dueq_draft drafts[] = {draft_of("step", "2"), DUEQ_DRAFT, draft_of("step", "3")};
    drafts[1].body = BYTES("made");
    drafts[1].priority = DUEQ_HIGH;
    assert_status(jobs.client, DUPLICATE,
                  dueq_ack_push(jobs.queue, message->ticket, NULL, drafts, 3, &result));
    assert_int_equal(dueq_result_count(result), 4);
    static const dueq_status outcomes[] = {DUEQ_OK, DUEQ_OK, DUEQ_OK, DUEQ_DUPLICATE};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dueq_result_status(result, i), outcomes[i]);
    assert_text("step", dueq_result_id(result, 0));
    assert_text("step", dueq_result_id(result, 1));
    assert_int_equal(dueq_result_id(result, 2).size, 22);
    dueq_result_free(result);
    dueq_result_free(taken);
    take(jobs.queue, "made");
    take(jobs.queue, "2");
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 0, 0, NULL));
}

static void test_ack_push_to_another_queue(void **state) {
    (void)state;
    dueq_queue *mails = open_queue(jobs.client, "mails");
    dueq_result *taken, *result;
    push_body(jobs.queue, "order", 0, NULL);
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &taken);
    dueq_draft draft = draft_of("bill-7", "bill");
    assert_status(jobs.client, OK,
                  dueq_ack_push(jobs.queue, message->ticket, mails, &draft, 1, NULL));
    assert_status(jobs.client, LEASE_LOST,
                  dueq_ack_push(jobs.queue, message->ticket, mails, &draft, 1, &result));
    assert_int_equal(dueq_result_count(result), 2);
    assert_int_equal(dueq_result_status(result, 1), DUEQ_LEASE_LOST);
    dueq_result_free(result);
    dueq_result_free(taken);
    take(mails, "bill");
    assert_status(jobs.client, EMPTY, dueq_reserve(mails, 1, 0, 0, NULL));
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 0, 0, NULL));
    dueq_queue_close(mails);
}

static void test_ack_push_refuses(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    dueq_bytes ticket = BYTES("1:x");
    dueq_draft draft = DUEQ_DRAFT;
    assert_status(jobs.client, INVALID,
                  dueq_ack_push(jobs.queue, BYTES("no ticket"), NULL, &draft, 1, NULL));
    assert_status(jobs.client, INVALID, dueq_ack_push(jobs.queue, ticket, NULL, &draft, 0, NULL));
    assert_status(jobs.client, INVALID,
                  dueq_ack_push(jobs.queue, ticket, other.queue, &draft, 1, NULL));
    jobs_close(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_by_priority),
        TEST(test_push_unique_after_its_end),
        TEST(test_push_replace),
        TEST(test_push_time_to_live),
        TEST(test_ack_push_to_its_own_queue),
        TEST(test_ack_push_to_another_queue),
        TEST(test_ack_push_refuses),
    };
    return run_on_server(tests, NULL);
}
