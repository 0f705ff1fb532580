/*
 * The relay from a queue's outbox to another queue: what dies between its steps, and what the other
 * queue refuses.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "proxy.h"
#include "verbs/verbs.h"

enum { SUCCESSORS = 150 }; /* more than a relay takes at once */

static struct proxy proxy;
static dueq_queue *graves; /* the other queue, by the fixture's client */

static const struct dueq__script *const steps[] = {
    &dueq__script_relay_take, &dueq__script_relay_put, &dueq__script_relay_done,
    &dueq__script_relay_forget};

static void push_mortal(dueq_queue *queue, const char *id) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.id = BYTES(id);
    draft.body = BYTES("mortal");
    draft.max_attempts = draft.max_crashes = 1;
    draft.dead_letter = BYTES("graves");
    assert_int_equal(dueq_push(queue, &draft, 1, NULL), DUEQ_OK);
}

static void bury_one(dueq_queue *queue) {
    dueq_result *result;
    const dueq_message *message = reserve_one(queue, 0, 0, &result);
    assert_int_equal(dueq_bury(queue, message->ticket, BYTES("why")), DUEQ_OK);
    dueq_result_free(result);
}

static int set_up_relay(void **state) {
    set_up_jobs(state);
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    graves = open_queue(jobs.client, "graves");
    /* So that the server has all scripts, and each step is one request. */
    push_mortal(jobs.queue, "first");
    bury_one(jobs.queue);
    run_command(&server, "FLUSHALL");
    return 0;
}

static int tear_down_relay(void **state) {
    dueq_queue_close(graves);
    return tear_down_jobs(state);
}

static dueq_counts counts_of(dueq_queue *queue) {
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(queue, &counts));
    return counts;
}

static void await_hang(void) {
    for (int64_t end = now_ms() + 20000; proxy_cuts(&proxy) == 0 && now_ms() < end;)
        run_command(&server, "PING");
    assert_int_equal(proxy_cuts(&proxy), 1);
}

/* As if so much time had passed that the lease of a relay is over, and its next try is due. */
static void pass_lease(void) {
    run_command(&server, "EVAL %s 2 dueq:{jobs}:outbox dueq:{jobs}:meta",
                "for _, entry in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do "
                "redis.call('ZINCRBY', KEYS[1], -600000, entry) end "
                "redis.call('HSET', KEYS[2], 'next_event', 0, 'outbox_event', 1)");
}

/* Another client's reserve, which finds nothing to deliver. */
static void relay_by_reserve(dueq_queue *queue) {
    assert_int_equal(dueq_reserve(queue, 1, 0, 0, NULL), DUEQ_EMPTY);
}

/* Takes all that the other queue has, and acknowledges it; returns how many. */
static size_t bring_home(void) {
    size_t count = 0;
    dueq_result *result;
    while (dueq_reserve(graves, DUEQ_MAX_BATCH, 0, 0, &result) == DUEQ_OK) {
        for (size_t i = 0; i < dueq_result_count(result); i++, count++)
            assert_status(jobs.client, OK,
                          dueq_ack(graves, &dueq_result_message(result, i)->ticket, 1, NULL));
        dueq_result_free(result);
    }
    dueq_result_free(result);
    return count;
}

static void finish(struct jobs own, dueq_bytes ticket, bool dies) {
    dueq_queue *target = open_queue(own.client, "graves");
    dueq_draft drafts[SUCCESSORS];
    for (size_t i = 0; i < SUCCESSORS; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = BYTES("successor");
    }
    if (dies)
        dueq_bury(own.queue, ticket, BYTES("why"));
    else
        dueq_ack_push(own.queue, ticket, target, drafts, SUCCESSORS, NULL);
}

/*
 * A process that ends a message, as a dead letter or with successors, by way of the proxy, and is
 * killed as it hangs.
 */
static void kill_at(enum cut cut, const struct dueq__script *step, bool dies) {
    push_mortal(jobs.queue, "m");
    dueq_result *result;
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    proxy_cut(&proxy, cut, step->sha1, 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        finish(jobs_open(proxy.url), message->ticket, dies);
        _exit(1);
    }
    await_hang();
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    proxy_cut(&proxy, CUT_NOTHING, "", 0);
    dueq_result_free(result);
}

static void test_relay_killed_between_its_steps_is_finished_by_another_once(void **state) {
    (void)state;
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++)
        for (int cut = HANG_REQUEST; cut <= HANG_BEFORE; cut++)
            for (int dies = 0; dies < 2; dies++)
                for (int consumed = 0; consumed < 2; consumed++) {
                    size_t wanted = dies ? 1 : SUCCESSORS, came = 0;
                    run_command(&server, "FLUSHALL");
                    kill_at((enum cut)cut, steps[step], dies);
                    if (consumed)
                        came = bring_home();
                    for (int again = 0; again < 2; again++) {
                        pass_lease();
                        relay_by_reserve(jobs.queue);
                    }
                    came += bring_home();
                    dueq_counts counts = counts_of(jobs.queue);
                    if (came != wanted || counts.outbox || counts.dead || counts.leased)
                        fail_msg("%s, %s, consumed %d: %zu of %zu came, %d in the outbox",
                                 steps[step]->name, cut == HANG_BEFORE ? "before" : "after",
                                 consumed, came, wanted, (int)counts.outbox);
                    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:msg"), 0);
                    assert_int_equal(command_number(&server, "EXISTS dueq:{jobs}:handover"), 0);
                    assert_int_equal(counts_of(graves).pushed, wanted);
                }
}

static void test_relays_of_two_clients_at_once_bring_each_entry_once(void **state) {
    (void)state;
    struct jobs second = jobs_open(server.url);
    for (int i = 0; i < 10; i++) {
        run_command(&server, "FLUSHALL");
        kill_at(HANG_BEFORE, &dueq__script_relay_take, false);
        pass_lease();
        assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 0, 0));
        assert_status(second.client, PENDING, dueq_reserve_submit(second.queue, 1, 0, 0));
        dueq_status one = DUEQ_PENDING, two = DUEQ_PENDING;
        for (int64_t end = now_ms() + 20000;
             (one == DUEQ_PENDING || two == DUEQ_PENDING) && now_ms() < end;) {
            one = dueq_pump(jobs.client);
            two = dueq_pump(second.client);
        }
        assert_int_equal(dueq_take(jobs.client, NULL), DUEQ_EMPTY);
        assert_int_equal(dueq_take(second.client, NULL), DUEQ_EMPTY);
        pass_lease();
        relay_by_reserve(jobs.queue);
        assert_int_equal(counts_of(jobs.queue).outbox, 0);
        assert_int_equal(bring_home(), SUCCESSORS);
    }
    jobs_close(second);
}

/*
 * Good messages behind those that cannot be relayed come one after the other, and none of the calls
 * fails.
 */
static void work_through(dueq_queue *queue, dueq_client *client, int count) {
    const dueq_message *message;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    assert_status(client, OK, dueq_consumer_open(&queue, 1, &options, &consumer));
    for (int i = 0; i < count; i++) {
        assert_status(client, OK, dueq_consumer_next(consumer, 10000, &message, NULL));
        assert_memory_equal(message->body.data, "good", 4);
        assert_status(client, OK, dueq_consumer_ack(consumer, message->ticket));
    }
    assert_status(client, EMPTY, dueq_consumer_next(consumer, 0, &message, NULL));
    assert_status(client, OK, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

static void assert_stuck(const char *why, size_t count) {
    dueq_counts counts = counts_of(jobs.queue);
    assert_int_equal(counts.outbox, count);
    assert_int_equal(counts.dead, 0);
    assert_non_null(strstr(counts.outbox_error, "graves: "));
    assert_non_null(strstr(counts.outbox_error, why));
    dueq_result *result;
    assert_status(jobs.client, OK,
                  dueq_peek(jobs.queue, DUEQ_OUTBOX, (dueq_bytes){0}, 10, &result));
    assert_int_equal(dueq_result_count(result), count);
    for (size_t i = 0; i < count; i++)
        assert_non_null(memmem(dueq_result_message(result, i)->error.data,
                               dueq_result_message(result, i)->error.size, why, strlen(why)));
    dueq_result_free(result);
    assert_int_equal(counts_of(graves).pushed, 0);
}

static void hand_over(size_t count) {
    pass_lease();
    relay_by_reserve(jobs.queue);
    dueq_counts counts = counts_of(jobs.queue);
    assert_int_equal(counts.outbox, 0);
    assert_string_equal(counts.outbox_error, "");
    assert_int_equal(bring_home(), count);
}

/* The number of the connection on which a reserve blocks; 0: none does. */
static long long blocked_connection(void) {
    redisReply *list = command(&server, "CLIENT LIST");
    const char *at = strstr(list->str, "cmd=bzpopmin");
    while (at && at > list->str && at[-1] != '\n')
        at--;
    long long id = at ? atoll(at + strlen("id=")) : 0;
    freeReplyObject(list);
    return id;
}

/*
 * A message crashes for the last time. The reserve that waits finds that, relays the message, and
 * goes on waiting on the connection that it has.
 */
static void test_relay_by_a_reserve_that_waits_keeps_its_connections(void **state) {
    (void)state;
    dueq_result *result;
    struct jobs waiting = jobs_open(server.url);
    push_mortal(jobs.queue, "m");
    reserve_one(jobs.queue, 0, 1500, &result);
    dueq_result_free(result);
    assert_status(waiting.client, PENDING, dueq_reserve_submit(waiting.queue, 1, 60000, 0));
    pump_until_blocked(waiting.client, 1);
    long long before = blocked_connection();
    assert_true(before > 0);
    for (int64_t end = now_ms() + 20000; counts_of(graves).pushed == 0 && now_ms() < end;)
        assert_status(waiting.client, PENDING, dueq_wait(waiting.client, 10));
    assert_int_equal(counts_of(graves).pushed, 1);
    pump_until_blocked(waiting.client, 1);
    assert_int_equal(blocked_connection(), before);
    int64_t start = now_ms();
    assert_int_equal(push_text(jobs.queue, "good"), DUEQ_OK);
    assert_status(waiting.client, OK, dueq_wait(waiting.client, 20000));
    /* A wake token that no connection waits for is found by a probe, after 12 s or more. */
    assert_true(now_ms() - start < 5000);
    assert_status(waiting.client, OK, dueq_take(waiting.client, &result));
    assert_memory_equal(dueq_result_message(result, 0)->body.data, "good", 4);
    dueq_result_free(result);
    jobs_close(waiting);
    assert_int_equal(counts_of(jobs.queue).outbox, 0);
    assert_int_equal(bring_home(), 1);
}

static void test_relay_to_a_queue_that_may_not_be_written_leaves_the_others_alone(void **state) {
    (void)state;
    enum { GOOD = 200 };
    dueq_result *result;
    run_command(&server, "ACL SETUSER limited on >secret +@all ~dueq:{jobs}*");
    struct jobs limited = jobs_open(url_with("limited:secret@", ""));
    push_mortal(limited.queue, "crashed");
    reserve_one(limited.queue, 0, 1, &result);
    dueq_result_free(result);
    push_mortal(limited.queue, "buried");
    const dueq_message *message = reserve_one(limited.queue, 0, 0, &result);
    for (int i = 0; i < GOOD; i++)
        push_body(limited.queue, "good", 0, NULL);
    assert_status(limited.client, OK,
                  dueq_bury(limited.queue, message->ticket, BYTES("the reason")));
    dueq_result_free(result);
    for (int i = 0; i < 5; i++) {
        pass_lease();
        assert_status(limited.client, OK, dueq_reserve(limited.queue, 1, 0, 0, &result));
        assert_memory_equal(dueq_result_message(result, 0)->body.data, "good", 4);
        assert_status(limited.client, OK,
                      dueq_ack(limited.queue, &dueq_result_message(result, 0)->ticket, 1, NULL));
        dueq_result_free(result);
    }
    work_through(limited.queue, limited.client, GOOD - 5);
    assert_stuck("permi", 2);
    jobs_close(limited);
    hand_over(2);
}

static void test_relay_on_a_full_server_goes_on_when_it_has_room(void **state) {
    (void)state;
    dueq_result *result;
    push_mortal(jobs.queue, "m");
    const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
    for (int i = 0; i < 10; i++)
        push_body(jobs.queue, "good", 0, NULL);
    run_command(&server, "CONFIG SET maxmemory 1");
    assert_status(jobs.client, OK, dueq_bury(jobs.queue, message->ticket, BYTES("the reason")));
    work_through(jobs.queue, jobs.client, 10);
    assert_stuck("memory", 1);
    run_command(&server, "CONFIG SET maxmemory 0");
    dueq_result_free(result);
    hand_over(1);
}

/* A bury by way of the proxy, whose relay hangs before its push. */
static struct jobs hang_in_relay(void) {
    struct jobs cut = jobs_open(proxy.url);
    dueq_result *result;
    push_mortal(cut.queue, "m");
    const dueq_message *message = reserve_one(cut.queue, 0, 0, &result);
    proxy_cut(&proxy, HANG_BEFORE, dueq__script_relay_put.sha1, 1);
    assert_status(cut.client, PENDING, dueq_bury_submit(cut.queue, message->ticket, BYTES("why")));
    for (int64_t end = now_ms() + 10000; proxy_cuts(&proxy) == 0 && now_ms() < end;)
        assert_status(cut.client, PENDING, dueq_pump(cut.client));
    assert_int_equal(proxy_cuts(&proxy), 1);
    dueq_result_free(result);
    return cut;
}

static void test_relay_that_hangs_keeps_the_call_only_a_while(void **state) {
    (void)state;
    struct jobs cut = hang_in_relay();
    int64_t start = now_ms();
    assert_status(cut.client, OK, dueq_wait(cut.client, 20000));
    assert_status(cut.client, OK, dueq_take(cut.client, NULL));
    assert_true(now_ms() - start < 10000);
    assert_int_equal(counts_of(jobs.queue).outbox, 1);
    push_body(cut.queue, "next", 0, NULL);
    jobs_close(cut);
    dueq_result *result;
    reserve_one(jobs.queue, 0, 0, &result);
    dueq_result_free(result);
    hand_over(1);
}

static void test_relay_abandoned_is_finished_by_another(void **state) {
    (void)state;
    struct jobs cut = hang_in_relay();
    dueq_abandon(cut.client);
    assert_status(cut.client, EMPTY, dueq_reserve(cut.queue, 1, 0, 0, NULL));
    hand_over(1);
    jobs_close(cut);
}

static void test_relay_closed_is_finished_by_another(void **state) {
    (void)state;
    jobs_close(hang_in_relay());
    hand_over(1);
}

static void test_relay_is_the_parent_s_after_a_fork(void **state) {
    (void)state;
    struct jobs cut = hang_in_relay();
    pid_t child = fork();
    if (child == 0) {
        dueq_status taken = dueq_pump(cut.client);
        dueq_take(cut.client, NULL);
        dueq_status pushed = push_text(cut.queue, "good");
        _exit(taken == DUEQ_CLOSED && pushed == DUEQ_OK ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
    assert_status(cut.client, OK, dueq_wait(cut.client, 20000));
    assert_status(cut.client, OK, dueq_take(cut.client, NULL));
    work_through(cut.queue, cut.client, 1);
    hand_over(1);
    jobs_close(cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define RELAY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_relay, tear_down_relay)
        RELAY_TEST(test_relay_killed_between_its_steps_is_finished_by_another_once),
        RELAY_TEST(test_relays_of_two_clients_at_once_bring_each_entry_once),
        RELAY_TEST(test_relay_by_a_reserve_that_waits_keeps_its_connections),
        RELAY_TEST(test_relay_to_a_queue_that_may_not_be_written_leaves_the_others_alone),
        RELAY_TEST(test_relay_on_a_full_server_goes_on_when_it_has_room),
        RELAY_TEST(test_relay_that_hangs_keeps_the_call_only_a_while),
        RELAY_TEST(test_relay_abandoned_is_finished_by_another),
        RELAY_TEST(test_relay_closed_is_finished_by_another),
        RELAY_TEST(test_relay_is_the_parent_s_after_a_fork),
    };
    server_start(&server);
    proxy_start(&proxy, &server);
    int failed = run_selected(tests);
    proxy_stop(&proxy);
    server_stop(&server);
    return failed;
}
