/*
 * Queues of partitions: names and hash, the verbs over all of them, and how consumers share them.
 */
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "fixture.h"
#include "golden.h"

#define PARTITIONS 8

static dueq_queue *orders; /* of the fixture's client */

static dueq_queue *open_partitions(dueq_client *client, size_t count, const char *key) {
    dueq_queue *queue;
    assert_status(client, OK, dueq_partitions_open(client, "orders", 6, count, BYTES(key), &queue));
    return queue;
}

static int set_up_orders(void **state) {
    set_up_jobs(state);
    orders = open_partitions(jobs.client, PARTITIONS, "");
    return 0;
}

static int tear_down_orders(void **state) {
    dueq_queue_close(orders);
    return tear_down_jobs(state);
}

#define ORDERS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_orders, tear_down_orders)

static dueq_status push_draft(dueq_queue *queue, const char *key, const char *id,
                              const char *body) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.key = BYTES(key);
    draft.id = BYTES(id);
    draft.body = BYTES(body);
    return dueq_push(queue, &draft, 1, NULL);
}

static void push_group(const char *group, const char *body) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.group = BYTES(group);
    draft.body = BYTES(body);
    assert_status(jobs.client, OK, dueq_push(orders, &draft, 1, NULL));
}

static void push_key(const char *key, const char *id, const char *body) {
    assert_status(jobs.client, OK, push_draft(orders, key, id, body));
}

static dueq_counts counts_of(dueq_queue *queue) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_int_equal(dueq_stats(queue, &counts), DUEQ_OK);
    return counts;
}

static dueq_queue *open_one(size_t partition) {
    char name[DUEQ_MAX_NAME + 1];
    dueq_partition_name(BYTES("orders"), partition, name);
    return open_queue(jobs.client, name);
}

static int64_t ready_in(size_t partition) {
    dueq_queue *queue = open_one(partition);
    int64_t ready = counts_of(queue).ready;
    dueq_queue_close(queue);
    return ready;
}

/* Names and hash */

static void test_hash(void **state) {
    (void)state;
    struct golden golden = golden_open("partitions");
    while (golden_next(&golden)) {
        const char *key = golden_text(&golden, 0);
        size_t count = (size_t)golden_number(&golden, 1);
        assert_int_equal(dueq_partition_for(BYTES(key), count), golden_number(&golden, 2));
    }
}

static void test_names(void **state) {
    (void)state;
    char name[DUEQ_MAX_NAME + 1];
    assert_int_equal(dueq_partition_name(BYTES("orders"), 1023, name), 11);
    assert_string_equal(name, "orders#1023");
}

static void test_what_is_refused(void **state) {
    (void)state;
    dueq_queue *queue;
    dueq_client *client = jobs.client;
    char longest[DUEQ_MAX_NAME];
    memset(longest, 'n', sizeof longest);
    assert_status(client, INVALID, dueq_partitions_open(client, "q", 1, 0, BYTES(""), &queue));
    assert_status(client, INVALID, dueq_partitions_open(client, "q", 1, 1025, BYTES(""), &queue));
    assert_status(client, INVALID,
                  dueq_partitions_open(client, longest, sizeof longest, 1, BYTES(""), &queue));
    assert_status(client, INVALID, dueq_partitions_open(client, "q", 1, 1, BYTES("\n"), &queue));
    assert_null(queue);
    assert_status(client, INVALID, push_draft(jobs.queue, "key", "", "x"));
    assert_non_null(strstr(dueq_error_text(client), "a key chooses a partition"));
    dueq_result *result;
    assert_status(client, INVALID, dueq_rates(orders, 0, 0, &result));
    dueq_draft job = {.struct_size = sizeof(dueq_draft), .body = BYTES("x")};
    dueq_plan plan = {.struct_size = sizeof(dueq_plan),
                      .name = BYTES("n"),
                      .expression = BYTES("every 1s"),
                      .job = &job};
    assert_status(client, OK, dueq_schedule(orders, &plan));
    assert_status(client, OK, dueq_reserve(orders, 1, 10000, 0, &result));
    dueq_result *fired;
    assert_status(client, INVALID, dueq_fire(orders, dueq_result_message(result, 0), &fired));
    assert_string_equal(dueq_error_text(client),
                        "fire is for one partition: name 'orders#0', 'orders#1' ...");
    dueq_result_free(result);
    dueq_queue *both[] = {orders, jobs.queue};
    assert_status(client, INVALID,
                  dueq_reserve_any(both, 2, RESERVE(DUEQ_PREFERENCE, 1, 0), &result));
}

static void test_number_is_the_servers(void **state) {
    (void)state;
    push_key("a", "", "x");
    dueq_queue *other = open_partitions(jobs.client, 12, "");
    assert_status(jobs.client, INVALID, push_draft(other, "a", "", "x"));
    assert_string_equal(dueq_error_text(jobs.client),
                        "the queue 'orders' has 8 partitions, not 12");
    dueq_queue_close(other);
    /* A client with the number of before it grew goes on with the new one. */
    other = open_partitions(jobs.client, 2, "");
    assert_int_equal(counts_of(other).ready, 1);
    assert_status(jobs.client, OK, push_draft(other, "a", "", "y"));
    assert_int_equal(ready_in(dueq_partition_for(BYTES("a"), 8)), 2);
    dueq_queue_close(other);
}

static void test_a_queue_with_messages_gets_no_partitions(void **state) {
    (void)state;
    dueq_queue *plain = open_queue(jobs.client, "orders");
    push_body(plain, "x", 0, NULL);
    assert_status(jobs.client, INVALID, push_draft(orders, "a", "", "x"));
    assert_non_null(strstr(dueq_error_text(jobs.client), "messages of its own"));
    dueq_queue_close(plain);
}

/* The verbs */

static void test_push_goes_by_key_then_id_then_in_turn(void **state) {
    (void)state;
    push_key("customer-17", "", "by its key");
    push_key("customer-17", "invoice-9", "by its key");
    assert_int_equal(ready_in(dueq_partition_for(BYTES("customer-17"), PARTITIONS)), 2);
    int64_t before = ready_in(dueq_partition_for(BYTES("invoice-9"), PARTITIONS));
    push_key("", "invoice-9", "by its id");
    assert_int_equal(ready_in(dueq_partition_for(BYTES("invoice-9"), PARTITIONS)), before + 1);
    assert_status(jobs.client, DUPLICATE, push_draft(orders, "", "invoice-9", "again"));
    size_t purged;
    while (dueq_purge(orders, DUEQ_READY, 200, &purged) == DUEQ_OK)
        ;
    for (int i = 0; i < 3 * PARTITIONS; i++)
        push_key("", "", "anywhere");
    for (size_t i = 0; i < PARTITIONS; i++)
        assert_int_equal(ready_in(i), 3);
}

static void test_push_of_many_is_split(void **state) {
    (void)state;
    dueq_draft drafts[40];
    char keys[40][8];
    for (int i = 0; i < 40; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        snprintf(keys[i], sizeof keys[i], "k%d", i % 10);
        drafts[i].key = drafts[i].body = BYTES(keys[i]);
        if (i == 7 || i == 17)
            drafts[i].id = BYTES("once");
    }
    dueq_result *result;
    assert_status(jobs.client, DUPLICATE, dueq_push(orders, drafts, 40, &result));
    assert_int_equal(dueq_result_count(result), 40);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(dueq_result_status(result, i), i == 17 ? DUEQ_DUPLICATE : DUEQ_OK);
        assert_int_equal(dueq_result_id(result, i).size, i == 7 || i == 17 ? 4 : 22);
        if (i == 17)
            continue;
        /* Each is where its key is, under the id that the result has. */
        dueq_queue *part = open_one(dueq_partition_for(BYTES(keys[i]), PARTITIONS));
        dueq_result *found;
        assert_status(jobs.client, OK, dueq_find(part, dueq_result_id(result, i), &found));
        const dueq_message *message = dueq_result_message(found, 0);
        assert_memory_equal(message->body.data, keys[i], message->body.size);
        dueq_result_free(found);
        dueq_queue_close(part);
    }
    dueq_result_free(result);
    assert_int_equal(counts_of(orders).pushed, 39);
}

static void test_verbs_on_ids_ask_all(void **state) {
    (void)state;
    push_key("a", "one", "1");
    push_key("b", "two", "2");
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_find(orders, BYTES("two"), &result));
    assert_int_equal(dueq_result_queue(result), dueq_partition_for(BYTES("b"), PARTITIONS));
    dueq_result_free(result);
    assert_status(jobs.client, NOT_FOUND, dueq_find(orders, BYTES("three"), &result));
    const dueq_bytes ids[] = {BYTES("three"), BYTES("two"), BYTES("one")};
    assert_status(jobs.client, NOT_FOUND, dueq_cancel(orders, ids, 3, &result));
    assert_int_equal(dueq_result_status(result, 0), DUEQ_NOT_FOUND);
    assert_int_equal(dueq_result_state(result, 1), DUEQ_READY);
    assert_int_equal(dueq_result_status(result, 2), DUEQ_OK);
    dueq_result_free(result);
    assert_status(jobs.client, NOT_FOUND, dueq_reschedule(orders, BYTES("one"), 0, 0));
}

static void test_key_asks_one(void **state) {
    (void)state;
    push_key("a", "one", "1");
    dueq_queue *a = open_partitions(jobs.client, PARTITIONS, "a");
    dueq_queue *b = open_partitions(jobs.client, PARTITIONS, "b");
    const dueq_bytes one = BYTES("one");
    assert_status(jobs.client, NOT_FOUND, dueq_cancel(b, &one, 1, NULL));
    assert_status(jobs.client, OK, push_draft(a, "", "two", "2"));
    assert_int_equal(counts_of(a).ready, 2);
    assert_status(jobs.client, OK, dueq_cancel(a, &one, 1, NULL));
    assert_int_equal(counts_of(orders).ready, 1);
    dueq_queue_close(a);
    dueq_queue_close(b);
}

static void test_tickets_are_settled(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++)
        push_key("", "", "x");
    dueq_result *taken[6];
    const dueq_message *held[6];
    for (int i = 0; i < 6; i++) {
        assert_status(jobs.client, OK, dueq_reserve(orders, 1, 1000, 60000, &taken[i]));
        held[i] = dueq_result_message(taken[i], 0);
    }
    assert_status(jobs.client, EMPTY, dueq_reserve(orders, 1, 50, 0, NULL));
    const dueq_bytes two[] = {held[0]->ticket, held[1]->ticket};
    assert_status(jobs.client, OK, dueq_ack(orders, two, 2, NULL));
    assert_status(jobs.client, LEASE_LOST, dueq_ack(orders, two, 2, NULL));
    assert_status(jobs.client, OK, dueq_extend(orders, &held[2]->ticket, 1, 1000, NULL));
    assert_status(jobs.client, OK, dueq_checkpoint(orders, held[2]->ticket, BYTES("half")));
    assert_status(jobs.client, OK, dueq_release(orders, &held[2]->ticket, 1, 0, NULL));
    assert_status(jobs.client, OK, dueq_retry(orders, held[3]->ticket, 60000, BYTES("no")));
    assert_status(jobs.client, OK, dueq_bury(orders, held[4]->ticket, BYTES("never")));
    dueq_counts counts = counts_of(orders);
    assert_int_equal(counts.ready, 1);
    assert_int_equal(counts.delayed, 1);
    assert_int_equal(counts.leased, 1);
    assert_int_equal(counts.dead, 1);
    assert_int_equal(counts.acked, 2);
    assert_true(counts.next_event_ms > counts.now_ms);
    dueq_result *page;
    size_t kicked = 0;
    assert_status(jobs.client, OK, dueq_kick_all(orders, NULL, (dueq_bytes){0}, 200, &page));
    for (kicked = dueq_result_kicked(page); dueq_result_cursor(page).size;) {
        dueq_result *more;
        assert_status(jobs.client, OK,
                      dueq_kick_all(orders, NULL, dueq_result_cursor(page), 200, &more));
        dueq_result_free(page);
        page = more;
        kicked += dueq_result_kicked(page);
    }
    dueq_result_free(page);
    assert_int_equal(kicked, 1);
    for (int i = 0; i < 6; i++)
        dueq_result_free(taken[i]);
}

/* Of bodies of two bytes, of which `preview` are read; 0: all. */
static size_t count_pages(size_t page, size_t preview) {
    dueq_result *result = NULL;
    size_t count = 0;
    dueq_queue_preview(orders, preview);
    do {
        dueq_result *more;
        dueq_bytes cursor = dueq_result_cursor(result);
        assert_status(jobs.client, OK, dueq_peek(orders, DUEQ_READY, cursor, page, &more));
        dueq_result_free(result);
        result = more;
        count += dueq_result_count(result);
        for (size_t i = 0; i < dueq_result_count(result); i++) {
            const dueq_message *message = dueq_result_message(result, i);
            assert_int_equal(message->body.size, preview ? preview : 2);
            assert_int_equal(message->body_size, 2);
        }
    } while (dueq_result_cursor(result).size);
    dueq_result_free(result);
    return count;
}

static void test_outcome_that_only_looks_ends_no_message_of_a_partition(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *ended;
    draft.id = draft.body = draft.key = BYTES("one");
    draft.ttl_ms = 50;
    draft.keep_ms = 60000;
    assert_status(jobs.client, OK, dueq_push(orders, &draft, 1, NULL));
    dueq_queue_look_only(orders);
    assert_status(jobs.client, OK, dueq_outcome(orders, BYTES("one"), 20000, &ended));
    assert_string_equal(dueq_result_end(ended, 0)->outcome, "expired");
    dueq_result_free(ended);
    assert_int_equal(counts_of(orders).ready, 1);
    assert_int_equal(counts_of(orders).expired, 0);
}

/* Successors come to partitions from a queue that has none, by way of its outbox. */
static void test_successors_from_another_queue_go_by_their_group(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *taken;
    push_body(jobs.queue, "first", 0, NULL);
    assert_status(jobs.client, OK, dueq_reserve(jobs.queue, 1, 1000, 60000, &taken));
    dueq_bytes ticket = dueq_result_message(taken, 0)->ticket;
    draft.key = BYTES("a");
    draft.group = BYTES("a");
    assert_status(jobs.client, INVALID, dueq_ack_push(jobs.queue, ticket, orders, &draft, 1, NULL));
    draft.key = BYTES("");
    assert_status(jobs.client, OK, dueq_ack_push(jobs.queue, ticket, orders, &draft, 1, NULL));
    dueq_result_free(taken);
    dueq_queue *one = open_one(dueq_partition_for(BYTES("a"), PARTITIONS));
    assert_status(jobs.client, EMPTY, dueq_reserve(jobs.queue, 1, 0, 0, NULL));
    assert_status(jobs.client, OK, dueq_reserve(one, 1, 10000, 60000, &taken));
    assert_memory_equal(dueq_result_message(taken, 0)->group.data, "a", 1);
    assert_status(jobs.client, INVALID, push_draft(orders, "a", "", "x"));
    dueq_result_free(taken);
    dueq_queue_close(one);
}

static void test_pages_and_what_takes_away(void **state) {
    (void)state;
    assert_int_equal(count_pages(10, 0), 0);
    for (int i = 0; i < 50; i++)
        push_key("", "", "xy");
    assert_int_equal(count_pages(3, 1), 50);
    assert_int_equal(count_pages(3, 0), 50);
    dueq_result *result;
    assert_status(jobs.client, INVALID, dueq_peek(orders, DUEQ_READY, BYTES("9:"), 3, &result));
    assert_status(jobs.client, OK, dueq_pause(orders));
    assert_status(jobs.client, EMPTY, dueq_reserve(orders, 1, 0, 0, NULL));
    assert_int_equal(counts_of(orders).paused, 1);
    assert_status(jobs.client, OK, dueq_resume(orders));
    size_t purged = 0, step;
    dueq_status status;
    do {
        status = dueq_purge(orders, DUEQ_READY, 4, &step);
        purged += step;
    } while (status == DUEQ_OK);
    assert_status(jobs.client, EMPTY, status);
    assert_int_equal(purged, 50);
    for (int i = 0; i < 5; i++)
        push_key("", "", "x");
    assert_status(jobs.client, EMPTY, dueq_remove(orders, 0, &purged));
    assert_int_equal(purged, 5);
}

static void test_pusher(void **state) {
    (void)state;
    dueq_pusher *pusher;
    assert_status(jobs.client, OK, dueq_pusher_open(orders, 0, &pusher));
    dueq_draft draft = DUEQ_DRAFT;
    char key[8];
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "k%d", i);
        draft.key = draft.body = BYTES(key);
        assert_status(jobs.client, OK, dueq_pusher_push(pusher, &draft));
    }
    while (dueq_pusher_left(pusher)) {
        dueq_status status;
        dueq_result *result;
        if (!dueq_pusher_done(pusher, &status, &result))
            dueq_wait(jobs.client, 100);
        assert_status(jobs.client, OK, status);
        dueq_result_free(result);
    }
    dueq_pusher_close(pusher);
    assert_int_equal(counts_of(orders).ready, 500);
}

/* Consumers */

struct member {
    struct jobs jobs;
    dueq_queue *queue;
    dueq_consumer *consumer;
};

static struct member join(void) {
    struct member member = {.jobs = jobs_open(server.url)};
    member.queue = open_partitions(member.jobs.client, PARTITIONS, "");
    dueq_consumer_options options = DUEQ_CONSUMER;
    options.lease_ms = 1000;
    assert_status(member.jobs.client, OK,
                  dueq_consumer_open(&member.queue, 1, &options, &member.consumer));
    return member;
}

static void leave(struct member *member) {
    assert_status(member->jobs.client, OK, dueq_consumer_stop(member->consumer));
    dueq_consumer_close(member->consumer);
    dueq_queue_close(member->queue);
    jobs_close(member->jobs);
}

/* How many partitions have an owner, and how many owners there are. */
static void count_owners(size_t *owned, size_t *owners) {
    char seen[PARTITIONS][64];
    *owned = *owners = 0;
    for (int i = 0; i < PARTITIONS; i++) {
        redisReply *reply = command(&server, "HGET dueq:{orders}:partitions %d", i);
        size_t k = 0;
        if (reply->type == REDIS_REPLY_STRING) {
            (*owned)++;
            while (k < *owners && strcmp(seen[k], reply->str) != 0)
                k++;
            if (k == *owners)
                snprintf(seen[(*owners)++], sizeof seen[0], "%s", reply->str);
        }
        freeReplyObject(reply);
    }
}

/* Runs these consumers in turn until they own all partitions between them. */
static void await_shared(struct member *members, size_t count) {
    size_t owned = 0, owners = 0;
    for (int64_t end = now_ms() + 5000; owned < PARTITIONS || owners != count;) {
        assert_true(now_ms() < end);
        for (size_t i = 0; i < count; i++) {
            const dueq_message *message;
            assert_status(members[i].jobs.client, EMPTY,
                          dueq_consumer_next(members[i].consumer, 20, &message, NULL));
        }
        count_owners(&owned, &owners);
    }
}

static void test_one_consumer_has_all(void **state) {
    (void)state;
    struct member member = join();
    push_key("a", "", "1");
    push_key("a", "", "2");
    push_key("b", "", "3");
    const dueq_message *message;
    size_t partition;
    for (int i = 0; i < 3; i++) {
        assert_status(member.jobs.client, OK,
                      dueq_consumer_next(member.consumer, 5000, &message, &partition));
        bool a = *(const char *)message->body.data != '3';
        assert_int_equal(partition, dueq_partition_for(BYTES(a ? "a" : "b"), PARTITIONS));
        assert_status(member.jobs.client, OK, dueq_consumer_ack(member.consumer, message->ticket));
    }
    leave(&member);
    assert_int_equal(counts_of(orders).acked, 3);
    size_t owned, owners;
    count_owners(&owned, &owners);
    assert_int_equal(owned, 0);
}

static void test_consumers_share_evenly(void **state) {
    (void)state;
    struct member members[3] = {join()};
    await_shared(members, 1);
    members[1] = join();
    await_shared(members, 2);
    members[2] = join();
    await_shared(members, 3);
    leave(&members[2]);
    await_shared(members, 2);
    /* This one is gone without a word. */
    dueq_consumer_close(members[1].consumer);
    await_shared(members, 1);
    dueq_queue_close(members[1].queue);
    jobs_close(members[1].jobs);
    leave(&members[0]);
}

static void test_next_of_a_partition_waits_for_the_one_before(void **state) {
    (void)state;
    struct member first = join(), second = join();
    const dueq_message *message;
    push_key("a", "", "1");
    push_key("a", "", "2");
    assert_status(first.jobs.client, OK, dueq_consumer_next(first.consumer, 5000, &message, NULL));
    /*
     * The first one works for so long that it is no member any more: the other has all, but not
     * this.
     */
    const dueq_message *other;
    size_t owned = 0, owners = 2;
    for (int64_t end = now_ms() + 6000; owned < PARTITIONS || owners != 1;) {
        assert_true(now_ms() < end);
        assert_status(second.jobs.client, EMPTY,
                      dueq_consumer_next(second.consumer, 500, &other, NULL));
        count_owners(&owned, &owners);
    }
    push_key("b", "", "3");
    assert_status(second.jobs.client, OK, dueq_consumer_next(second.consumer, 5000, &other, NULL));
    assert_memory_equal(other->body.data, "3", 1);
    assert_status(second.jobs.client, OK, dueq_consumer_ack(second.consumer, other->ticket));
    assert_status(first.jobs.client, OK, dueq_consumer_ack(first.consumer, message->ticket));
    assert_status(second.jobs.client, OK, dueq_consumer_next(second.consumer, 5000, &other, NULL));
    assert_memory_equal(other->body.data, "2", 1);
    leave(&first);
    leave(&second);
}

static void test_what_a_dead_owner_held_comes_first(void **state) {
    (void)state;
    char body[2] = "1";
    for (; *body < '7'; ++*body)
        push_key("a", "", body);
    struct member first = join(), second = join();
    const dueq_message *message;
    assert_status(first.jobs.client, OK, dueq_consumer_next(first.consumer, 5000, &message, NULL));
    dueq_consumer_close(first.consumer);
    for (*body = '1'; *body < '7'; ++*body) {
        assert_status(second.jobs.client, OK,
                      dueq_consumer_next(second.consumer, 20000, &message, NULL));
        assert_memory_equal(message->body.data, body, 1);
        assert_status(second.jobs.client, OK, dueq_consumer_ack(second.consumer, message->ticket));
    }
    dueq_queue_close(first.queue);
    jobs_close(first.jobs);
    leave(&second);
}

static const dueq_message *next_of(struct member *member, const char *body) {
    const dueq_message *message;
    assert_status(member->jobs.client, OK,
                  dueq_consumer_next(member->consumer, 20000, &message, NULL));
    assert_int_equal(message->body.size, strlen(body));
    assert_memory_equal(message->body.data, body, message->body.size);
    return message;
}

static void ack(struct member *member, const dueq_message *message) {
    assert_status(member->jobs.client, OK, dueq_consumer_ack(member->consumer, message->ticket));
}

/* Runs these consumers until the second has all partitions: the first is no member any more. */
static void await_all(struct member *member) {
    size_t owned = 0, owners = 2;
    const dueq_message *message;
    for (int64_t end = now_ms() + 6000; owned < PARTITIONS || owners != 1;) {
        assert_true(now_ms() < end);
        assert_status(member->jobs.client, EMPTY,
                      dueq_consumer_next(member->consumer, 200, &message, NULL));
        count_owners(&owned, &owners);
    }
}

static void test_groups_of_a_partition_do_not_wait_for_each_other(void **state) {
    (void)state;
    push_group("a", "a1");
    struct member first = join(), second = join();
    const dueq_message *long_one = next_of(&first, "a1");
    await_all(&second);
    push_group("a", "a2");
    push_group("a", "a3");
    push_group("x", "x1");
    ack(&second, next_of(&second, "x1"));
    ack(&second, next_of(&second, "a2"));
    ack(&second, next_of(&second, "a3"));
    ack(&first, long_one);
    leave(&first);
    leave(&second);
    assert_int_equal(counts_of(orders).acked, 4);
}

static void test_a_dead_owner_keeps_no_group_waiting(void **state) {
    (void)state;
    for (char body[] = "1"; *body < '5'; ++*body)
        push_group("a", body);
    struct member first = join(), second = join();
    next_of(&first, "1");
    dueq_consumer_close(first.consumer);
    ack(&second, next_of(&second, "2"));
    const dueq_message *message = NULL;
    /* The lease of 1 s ends in between: the message comes once more, and once only. */
    char rest[4] = "";
    for (size_t i = 0; i < 3; i++) {
        assert_status(second.jobs.client, OK,
                      dueq_consumer_next(second.consumer, 20000, &message, NULL));
        rest[i] = *(const char *)message->body.data;
        ack(&second, message);
    }
    assert_true(strcmp(rest, "341") == 0 || strcmp(rest, "314") == 0 || strcmp(rest, "134") == 0);
    dueq_queue_close(first.queue);
    jobs_close(first.jobs);
    leave(&second);
    assert_int_equal(counts_of(orders).acked, 4);
}

/* A consumer that has not settled a message of a partition gets the next ones, too. */
static void test_several_of_a_group_are_at_work(void **state) {
    (void)state;
    push_group("a", "1");
    push_group("a", "2");
    push_group("x", "3");
    struct member member = join();
    const char *const bodies[] = {"1", "3", "2"};
    char tickets[3][64];
    size_t sizes[3];
    for (size_t i = 0; i < 3; i++) {
        dueq_bytes ticket = next_of(&member, bodies[i])->ticket;
        memcpy(tickets[i], ticket.data, sizes[i] = ticket.size);
    }
    assert_int_equal(counts_of(orders).leased, 3);
    for (size_t i = 0; i < 3; i++)
        assert_status(member.jobs.client, OK,
                      dueq_consumer_ack(member.consumer, (dueq_bytes){tickets[i], sizes[i]}));
    leave(&member);
    assert_int_equal(counts_of(orders).acked, 3);
}

/* Who gives up a partition with groups does so at once, whatever it has leased. */
static void test_partitions_with_groups_are_shared_at_once(void **state) {
    (void)state;
    struct member members[2] = {join()};
    await_shared(members, 1);
    char group[8];
    for (int i = 0; i < 8 * PARTITIONS; i++) {
        snprintf(group, sizeof group, "g%d", i);
        push_group(group, "x");
    }
    for (int i = 0; i < PARTITIONS; i++)
        next_of(&members[0], "x");
    members[1] = join();
    size_t owned, owners;
    const dueq_message *message;
    for (int64_t end = now_ms() + 10000; count_owners(&owned, &owners), owners != 2;) {
        assert_true(now_ms() < end);
        for (int i = 0; i < 2; i++)
            assert_true(dueq_consumer_next(members[i].consumer, 20, &message, NULL) >= 0);
    }
    leave(&members[0]);
    leave(&members[1]);
}

static long long scripts_run(void) { return calls_of(&server, "evalsha"); }

/* Whether it waits or works, a consumer asks only those partitions that may have something. */
static void test_asks_no_more_where_there_are_many_partitions(void **state) {
    (void)state;
    enum { MANY = 64, MESSAGES = 20 };
    struct member member = {.jobs = jobs_open(server.url)};
    member.queue = open_partitions(member.jobs.client, MANY, "");
    dueq_consumer_options options = DUEQ_CONSUMER;
    assert_status(member.jobs.client, OK,
                  dueq_consumer_open(&member.queue, 1, &options, &member.consumer));
    for (size_t i = 0; i < MANY; i++) {
        dueq_queue *one = open_one(i);
        push_body(one, "later", 3600000, NULL);
        dueq_queue_close(one);
    }
    const dueq_message *message;
    assert_status(member.jobs.client, EMPTY,
                  dueq_consumer_next(member.consumer, 1000, &message, NULL));
    long long before = scripts_run();
    assert_status(member.jobs.client, EMPTY,
                  dueq_consumer_next(member.consumer, 3000, &message, NULL));
    assert_in_range(scripts_run() - before, 1, 10);
    before = scripts_run();
    for (size_t i = 0; i < MESSAGES; i++) {
        dueq_queue *one = open_one(7 * i % MANY);
        push_body(one, "now", i % 2 ? 20 : 0, NULL);
        dueq_queue_close(one);
        assert_status(member.jobs.client, OK,
                      dueq_consumer_next(member.consumer, 5000, &message, NULL));
        assert_memory_equal(message->body.data, "now", 3);
        assert_status(member.jobs.client, OK, dueq_consumer_ack(member.consumer, message->ticket));
    }
    assert_in_range(scripts_run() - before, MESSAGES, 10 * MESSAGES);
    leave(&member);
}

/* One that never runs dry keeps no other waiting. */
static void test_busy_partition_leaves_the_others_their_turn(void **state) {
    (void)state;
    struct member member = join();
    dueq_queue *busy = open_one(0);
    const dueq_message *message;
    size_t partition;
    assert_status(member.jobs.client, EMPTY,
                  dueq_consumer_next(member.consumer, 50, &message, NULL));
    for (int i = 0; i < 10 * PARTITIONS; i++)
        push_body(busy, "x", 0, NULL);
    for (int i = 0; i < PARTITIONS; i++) {
        assert_status(member.jobs.client, OK,
                      dueq_consumer_next(member.consumer, 5000, &message, &partition));
        assert_int_equal(partition, 0);
        assert_status(member.jobs.client, OK, dueq_consumer_ack(member.consumer, message->ticket));
    }
    dueq_queue *other = open_one(5);
    push_body(other, "y", 0, NULL);
    int before = 0;
    for (partition = 0; partition == 0; before++) {
        assert_status(member.jobs.client, OK,
                      dueq_consumer_next(member.consumer, 5000, &message, &partition));
        assert_status(member.jobs.client, OK, dueq_consumer_ack(member.consumer, message->ticket));
    }
    assert_int_equal(partition, 5);
    assert_in_range(before, 1, 2 * PARTITIONS);
    dueq_queue_close(busy);
    dueq_queue_close(other);
    leave(&member);
}

/* Batches */

static dueq_status open_batch(dueq_queue *queue, const char *id) {
    dueq_batch_options options = DUEQ_BATCH;
    options.id = BYTES(id);
    return dueq_open_batch(queue, &options);
}

static dueq_status push_member(dueq_queue *queue, const char *key, const char *batch) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.key = BYTES(key);
    draft.batch = BYTES(batch);
    return dueq_push(queue, &draft, 1, NULL);
}

/* Pushes 20 members, which go to all partitions, to `target`. */
static void push_members(dueq_queue *home, dueq_queue *target, const char *batch) {
    dueq_draft drafts[20];
    char keys[20][8];
    dueq_result *result;
    for (int i = 0; i < 20; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        drafts[i].key = drafts[i].body = BYTES(keys[i]);
        drafts[i].batch = BYTES(batch);
    }
    assert_status(jobs.client, OK, dueq_push_to(home, target, drafts, 20, &result));
    assert_int_equal(dueq_result_count(result), 20);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(dueq_result_id(result, i).size, 22);
    dueq_result_free(result);
}

static size_t cancel_members(dueq_queue *queue, const char *batch, const char *home) {
    dueq_result *page = NULL;
    size_t cancelled = 0;
    do {
        dueq_result *next;
        assert_status(jobs.client, OK,
                      dueq_cancel_batch(queue, BYTES(batch), BYTES(home), dueq_result_cursor(page),
                                        5, &next));
        dueq_result_free(page);
        page = next;
        cancelled += dueq_result_purged(page);
    } while (dueq_result_cursor(page).size);
    dueq_result_free(page);
    return cancelled;
}

static dueq_batch found_batch(dueq_queue *queue, const char *id) {
    dueq_result *result;
    assert_status(jobs.client, OK, dueq_find_batch(queue, BYTES(id), &result));
    dueq_batch batch = *dueq_result_batch(result, 0);
    dueq_result_free(result);
    return batch;
}

static void test_members_of_a_batch_of_another_queue(void **state) {
    (void)state;
    assert_status(jobs.client, OK, open_batch(jobs.queue, "b"));
    push_members(jobs.queue, orders, "b");
    assert_int_equal(counts_of(orders).ready, 20);
    assert_int_equal(found_batch(jobs.queue, "b").pushed, 20);
    assert_int_equal(cancel_members(orders, "b", "orders"), 0);
    assert_int_equal(cancel_members(orders, "b", "jobs"), 20);
    assert_status(jobs.client, EMPTY, dueq_reserve(orders, 1, 0, 0, NULL));
    assert_int_equal(found_batch(jobs.queue, "b").cancelled, 20);
}

static void test_members_of_a_batch_of_another_queue_with_partitions(void **state) {
    (void)state;
    dueq_queue *letters;
    assert_status(jobs.client, OK,
                  dueq_partitions_open(jobs.client, "letters", 7, 3, BYTES(""), &letters));
    assert_status(jobs.client, OK, open_batch(orders, "b"));
    push_members(orders, letters, "b");
    assert_int_equal(counts_of(letters).ready, 20);
    assert_int_equal(found_batch(orders, "b").pushed, 20);
    dueq_result *taken;
    assert_status(jobs.client, OK, dueq_reserve(letters, 1, 0, 60000, &taken));
    const dueq_message *message = dueq_result_message(taken, 0);
    assert_int_equal(message->batch_queue.size, 8);
    assert_memory_equal(message->batch_queue.data, "orders#", 7);
    assert_status(jobs.client, OK, dueq_ack(letters, &message->ticket, 1, NULL));
    dueq_result_free(taken);
    assert_int_equal(found_batch(orders, "b").acked, 1);
    assert_int_equal(cancel_members(letters, "b", "orders"), 19);
    dueq_queue_close(letters);
}

/* Growing */

/* A key that goes to another partition when there are twice as many. */
static const char *moving_key(void) {
    static char key[16];
    for (int i = 0;; i++) {
        snprintf(key, sizeof key, "k%d", i);
        if (dueq_partition_for(BYTES(key), PARTITIONS) !=
            dueq_partition_for(BYTES(key), 2 * PARTITIONS))
            return key;
    }
}

static size_t repartition(dueq_queue *queue) {
    size_t closed;
    assert_int_equal(dueq_repartition(queue, 2 * PARTITIONS, &closed), DUEQ_OK);
    return closed;
}

/* Its id chooses another partition from then on. */
static void test_repartition_leaves_a_batch_in_its_home(void **state) {
    (void)state;
    const char *batch = moving_key();
    assert_status(jobs.client, OK, open_batch(orders, batch));
    push_members(orders, orders, batch);
    assert_int_equal(repartition(orders), PARTITIONS);
    dueq_queue *grown = open_partitions(jobs.client, 2 * PARTITIONS, "");
    assert_status(jobs.client, DUPLICATE, open_batch(grown, batch));
    assert_status(jobs.client, INVALID, push_member(grown, "a", "another"));
    assert_non_null(strstr(dueq_error_text(jobs.client), "has no such batch"));
    for (int i = 0; i < 20; i++) {
        char key[8];
        snprintf(key, sizeof key, "n%d", i);
        assert_status(jobs.client, OK, push_member(grown, key, batch));
    }
    assert_status(jobs.client, OK, dueq_close_batch(grown, BYTES(batch)));
    dueq_batch found = found_batch(grown, batch);
    assert_int_equal(found.pushed, 40);
    assert_int_equal(found.left, 40);
    assert_int_equal(cancel_members(grown, batch, ""), 40);
    assert_status(jobs.client, EMPTY, dueq_reserve(grown, 1, 0, 0, NULL));
    assert_int_equal(found_batch(grown, batch).cancelled, 40);
    dueq_queue_close(grown);
}

static void test_repartition_keeps_the_order_of_a_key(void **state) {
    (void)state;
    char url[160], body[16];
    snprintf(url, sizeof url, "%s?timeout=500ms", server.url);
    struct jobs grower = jobs_open(url);
    dueq_queue *grown = open_partitions(grower.client, PARTITIONS, "");
    const char *key = moving_key();
    struct member member = join();
    const dueq_message *message;
    int pushed = 0, taken = 0;
    size_t closed = PARTITIONS, partition = 0, old = dueq_partition_for(BYTES(key), PARTITIONS);
    assert_status(grower.client, OK, dueq_allow(grown, &BYTES("failed"), 1, 0, NULL));
    for (; pushed < 20; pushed++) {
        snprintf(body, sizeof body, "%d", pushed);
        push_key(key, "", body);
    }
    assert_int_equal(repartition(grown), PARTITIONS);
    bool moved = false;
    for (int64_t end = now_ms() + 30000; closed || taken < pushed;) {
        assert_true(now_ms() < end);
        closed = closed ? repartition(grown) : 0;
        if (pushed < 60) {
            snprintf(body, sizeof body, "%d", pushed++);
            push_key(key, "", body);
        }
        for (;;) {
            dueq_status status = dueq_consumer_next(member.consumer, 100, &message, &partition);
            if (status == DUEQ_EMPTY)
                break;
            assert_status(member.jobs.client, OK, status);
            snprintf(body, sizeof body, "%d", taken++);
            assert_int_equal(message->body.size, strlen(body));
            assert_memory_equal(message->body.data, body, message->body.size);
            moved = moved || partition != old;
            assert_true(moved == (partition != old));
            assert_status(member.jobs.client, OK,
                          dueq_consumer_ack(member.consumer, message->ticket));
        }
    }
    assert_true(moved);
    assert_int_equal(repartition(grown), 0);
    for (int i = 0; i < 2 * PARTITIONS; i++)
        assert_int_equal(command_number(&server, "SISMEMBER dueq:{orders#%d}:targets failed", i),
                         1);
    leave(&member);
    dueq_queue *other = open_partitions(grower.client, 2 * PARTITIONS + 1, "");
    assert_status(grower.client, INVALID,
                  dueq_repartition(other, 2 * (2 * PARTITIONS + 1), &closed));
    assert_status(grower.client, INVALID, dueq_repartition(grown, 2 * PARTITIONS + 1, &closed));
    assert_status(grower.client, INVALID, dueq_repartition(grown, 2048, &closed));
    assert_status(grower.client, INVALID, dueq_repartition(grown, 0, &closed));
    dueq_queue_close(other);
    dueq_queue_close(grown);
    jobs_close(grower);
}

/*
 * Doubles the queue while messages of 40 groups come, half of which move. Of each group none comes
 * before an earlier one, and from the old partition none after one from the new.
 */
static void test_repartition_keeps_the_order_of_groups(void **state) {
    (void)state;
    enum { GROUPS = 40, BEFORE = 5, EACH = 40 };
    char url[160], group[16], body[16];
    snprintf(url, sizeof url, "%s?timeout=500ms", server.url);
    struct jobs grower = jobs_open(url);
    dueq_queue *grown = open_partitions(grower.client, PARTITIONS, "");
    struct member member = join();
    const dueq_message *message;
    int pushed = 0, taken = 0, taken_of[GROUPS] = {0};
    size_t closed = PARTITIONS, partition, moved = 0;
    for (int64_t end = now_ms() + 30000; closed || taken < GROUPS * EACH;) {
        assert_true(now_ms() < end);
        for (int i = 0; (i < 40 || pushed < GROUPS * BEFORE) && pushed < GROUPS * EACH; i++) {
            snprintf(group, sizeof group, "g%d", pushed % GROUPS);
            snprintf(body, sizeof body, "%d %d", pushed % GROUPS, pushed / GROUPS);
            dueq_draft draft = DUEQ_DRAFT;
            draft.group = BYTES(group);
            draft.body = BYTES(body);
            assert_status(grower.client, OK, dueq_push(grown, &draft, 1, NULL));
            pushed++;
        }
        closed = closed ? repartition(grown) : 0;
        for (int i = 0; i < 20 && taken < pushed; i++) {
            dueq_status status = dueq_consumer_next(member.consumer, 100, &message, &partition);
            if (status == DUEQ_EMPTY)
                break;
            assert_status(member.jobs.client, OK, status);
            int of = (int)strtol(message->body.data, NULL, 10);
            snprintf(body, sizeof body, "%d %d", of, taken_of[of]++);
            assert_int_equal(message->body.size, strlen(body));
            assert_memory_equal(message->body.data, body, message->body.size);
            bool is_old = partition == dueq_partition_for(message->group, PARTITIONS);
            assert_true(is_old || taken_of[of] > BEFORE);
            moved += !is_old;
            taken++;
            ack(&member, message);
        }
    }
    assert_true(moved > 0);
    leave(&member);
    dueq_queue_close(grown);
    jobs_close(grower);
}

/* A partition is closed while the old one has a message, ready or leased, of a group that moves. */
static void test_repartition_waits_for_the_groups_that_move(void **state) {
    (void)state;
    enum { OLD = 60 };
    char url[160], body[16];
    snprintf(url, sizeof url, "%s?timeout=500ms", server.url);
    struct jobs grower = jobs_open(url);
    dueq_queue *grown = open_partitions(grower.client, PARTITIONS, "");
    dueq_draft draft = DUEQ_DRAFT;
    draft.group = BYTES(moving_key());
    size_t opens = dueq_partition_for(draft.group, 2 * PARTITIONS);
    dueq_queue *old = open_one(dueq_partition_for(draft.group, PARTITIONS));
    for (int i = 0; i <= OLD; i++) {
        if (i == OLD)
            assert_int_equal(repartition(grown), PARTITIONS);
        snprintf(body, sizeof body, "%d", i);
        draft.body = BYTES(body);
        assert_status(grower.client, OK, dueq_push(grown, &draft, 1, NULL));
    }
    assert_int_equal(ready_in(opens), 1);
    dueq_result *last = NULL;
    for (int i = 0; i < OLD; i++) {
        /* Those that get nothing open meanwhile: so much time has passed that this one could. */
        for (int64_t end = now_ms() + 30000; i == 0 && repartition(grown) > 1;)
            assert_true(now_ms() < end);
        assert_int_equal(repartition(grown), 1);
        if (last)
            assert_status(jobs.client, OK,
                          dueq_ack(old, &dueq_result_message(last, 0)->ticket, 1, NULL));
        dueq_result_free(last);
        assert_status(jobs.client, OK, dueq_reserve(old, 1, 0, 60000, &last));
        assert_int_equal(strtol(dueq_result_message(last, 0)->body.data, NULL, 10), i);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(repartition(grown), 1);
    assert_status(jobs.client, OK, dueq_ack(old, &dueq_result_message(last, 0)->ticket, 1, NULL));
    dueq_result_free(last);
    for (int64_t end = now_ms() + 30000; repartition(grown);)
        assert_true(now_ms() < end);
    dueq_queue_close(old);
    dueq_queue_close(grown);
    jobs_close(grower);
}

/*
 * Doubles a queue with these limits. Each partition, old or new, then has them, and gets its part
 * by the new number. Returns how many of 10 messages the new partition of a key delivers at once.
 */
static size_t delivered_when_doubled(int64_t concurrency, const char *rate, int64_t burst) {
    char url[160];
    snprintf(url, sizeof url, "%s?timeout=200ms", server.url);
    struct jobs grower = jobs_open(url);
    dueq_queue *grown = open_partitions(grower.client, PARTITIONS, "");
    const char *key = moving_key();
    push_key(key, "x", "");
    dueq_limit_options options = DUEQ_LIMIT;
    options.concurrency = concurrency;
    options.rate = BYTES(rate);
    options.burst = burst;
    options.each_group_backlog = 70;
    assert_status(grower.client, OK, dueq_limit(grown, &options));
    dueq_limit_options of_group = DUEQ_LIMIT;
    of_group.group = BYTES("a: 100%");
    of_group.weight = 4;
    assert_status(grower.client, OK, dueq_limit(grown, &of_group));
    dueq_result *taken;
    assert_status(grower.client, OK, dueq_cancel(grown, &BYTES("x"), 1, NULL));
    for (int64_t end = now_ms() + 30000; repartition(grown);)
        assert_true(now_ms() < end);
    for (size_t i = 0; i < 2 * PARTITIONS; i++) {
        dueq_queue *one = open_one(i);
        assert_status(jobs.client, OK, dueq_limits(one, &taken));
        const dueq_bounds *limits = dueq_result_limits(taken);
        assert_int_equal(limits->concurrency, concurrency);
        assert_string_equal(limits->rate, rate);
        assert_int_equal(limits->burst, burst);
        assert_int_equal(limits->each_group_backlog, 70);
        assert_int_equal(limits->group_count, 1);
        dueq_bytes name = dueq_bounds_group(limits, 0)->name;
        assert_int_equal(name.size, strlen("a: 100%"));
        assert_memory_equal(name.data, "a: 100%", name.size);
        assert_int_equal(dueq_bounds_group(limits, 0)->weight, 4);
        assert_null(dueq_bounds_group(limits, 1));
        dueq_result_free(taken);
        redisReply *count = command(&server, "HGET dueq:{orders#%d}:limits partitions", (int)i);
        assert_int_equal(count->type, REDIS_REPLY_STRING);
        assert_int_equal(atoi(count->str), 2 * PARTITIONS);
        freeReplyObject(count);
        dueq_queue_close(one);
    }
    for (int i = 0; i < 10; i++)
        assert_status(grower.client, OK, push_draft(grown, key, "", ""));
    dueq_queue *moved = open_one(dueq_partition_for(BYTES(key), 2 * PARTITIONS));
    assert_status(jobs.client, OK, dueq_reserve(moved, 10, 0, 0, &taken));
    size_t count = dueq_result_count(taken);
    dueq_result_free(taken);
    dueq_queue_close(moved);
    dueq_queue_close(grown);
    jobs_close(grower);
    return count;
}

static void test_repartition_keeps_the_concurrency(void **state) {
    (void)state;
    assert_int_equal(delivered_when_doubled(4 * 2 * PARTITIONS, "", 0), 4);
}

static void test_repartition_keeps_the_rate(void **state) {
    (void)state;
    assert_int_equal(delivered_when_doubled(0, "1600/h", 3 * 2 * PARTITIONS), 3);
}

/* The sum of the ids of this process's threads but for its first: others add up to another one. */
static long threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    long sum = 0;
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        sum += atol(task->d_name) == getpid() ? 0 : atol(task->d_name);
    closedir(tasks);
    return sum;
}

static double lease_end(size_t partition, dueq_bytes ticket) {
    redisReply *reply = command(&server, "ZSCORE dueq:{orders#%d}:leased %b", (int)partition,
                                ticket.data, ticket.size);
    double end = reply->type == REDIS_REPLY_NIL ? 0 : strtod(reply->str, NULL);
    freeReplyObject(reply);
    return end;
}

/*
 * To end a heartbeat is to wait for it, which consumer_take() must not. The one that runs serves
 * the new partitions.
 */
static void test_repartition_keeps_the_heartbeat(void **state) {
    (void)state;
    struct jobs grower = jobs_open(server.url);
    dueq_queue *grown = open_partitions(grower.client, PARTITIONS, "");
    const char *key = moving_key();
    struct member member = join();
    const dueq_message *message;
    size_t partition = 0;
    assert_status(member.jobs.client, EMPTY,
                  dueq_consumer_next(member.consumer, 20, &message, NULL));
    long before = threads();
    assert_true(before);
    for (int64_t end = now_ms() + 30000; repartition(grown);) {
        assert_true(now_ms() < end);
        assert_status(member.jobs.client, EMPTY,
                      dueq_consumer_next(member.consumer, 20, &message, NULL));
    }
    assert_status(grower.client, OK, push_draft(grown, key, "", "1"));
    assert_status(member.jobs.client, OK,
                  dueq_consumer_next(member.consumer, 30000, &message, &partition));
    assert_int_equal(partition, dueq_partition_for(BYTES(key), 2 * PARTITIONS));
    assert_int_equal(threads(), before);
    double first = lease_end(partition, message->ticket);
    for (int64_t end = now_ms() + 30000; lease_end(partition, message->ticket) <= first;)
        assert_true(now_ms() < end);
    assert_status(member.jobs.client, OK, dueq_consumer_ack(member.consumer, message->ticket));
    leave(&member);
    dueq_queue_close(grown);
    jobs_close(grower);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ORDERS_TEST(test_hash),
        ORDERS_TEST(test_names),
        ORDERS_TEST(test_what_is_refused),
        ORDERS_TEST(test_number_is_the_servers),
        ORDERS_TEST(test_a_queue_with_messages_gets_no_partitions),
        ORDERS_TEST(test_push_goes_by_key_then_id_then_in_turn),
        ORDERS_TEST(test_push_of_many_is_split),
        ORDERS_TEST(test_verbs_on_ids_ask_all),
        ORDERS_TEST(test_key_asks_one),
        ORDERS_TEST(test_tickets_are_settled),
        ORDERS_TEST(test_successors_from_another_queue_go_by_their_group),
        ORDERS_TEST(test_pages_and_what_takes_away),
        ORDERS_TEST(test_outcome_that_only_looks_ends_no_message_of_a_partition),
        ORDERS_TEST(test_pusher),
        ORDERS_TEST(test_one_consumer_has_all),
        ORDERS_TEST(test_consumers_share_evenly),
        ORDERS_TEST(test_next_of_a_partition_waits_for_the_one_before),
        ORDERS_TEST(test_what_a_dead_owner_held_comes_first),
        ORDERS_TEST(test_groups_of_a_partition_do_not_wait_for_each_other),
        ORDERS_TEST(test_a_dead_owner_keeps_no_group_waiting),
        ORDERS_TEST(test_several_of_a_group_are_at_work),
        ORDERS_TEST(test_partitions_with_groups_are_shared_at_once),
        ORDERS_TEST(test_asks_no_more_where_there_are_many_partitions),
        ORDERS_TEST(test_busy_partition_leaves_the_others_their_turn),
        ORDERS_TEST(test_members_of_a_batch_of_another_queue),
        ORDERS_TEST(test_members_of_a_batch_of_another_queue_with_partitions),
        ORDERS_TEST(test_repartition_leaves_a_batch_in_its_home),
        ORDERS_TEST(test_repartition_keeps_the_order_of_a_key),
        ORDERS_TEST(test_repartition_keeps_the_order_of_groups),
        ORDERS_TEST(test_repartition_waits_for_the_groups_that_move),
        ORDERS_TEST(test_repartition_keeps_the_concurrency),
        ORDERS_TEST(test_repartition_keeps_the_rate),
        ORDERS_TEST(test_repartition_keeps_the_heartbeat),
    };
    return run_on_server(tests, NULL);
}
