/*
 * What a server refuses for a while: who waits, or is busy with finishing, goes on when it has
 * passed.
 */
#include "fixture.h"
#include "proxy.h"
#include "verbs/verbs.h"

/* A state of the server in which it refuses, and how it begins and ends. */
struct state {
    void (*begin)(void), (*end)(void);
    dueq_status refusal; /* of a push that comes meanwhile */
    const char *says;    /* a word of the server's error */
};

static void replica(void) { run_command(&server, "REPLICAOF 127.0.0.1 1"); }

static void primary(void) {
    run_command(&server, "CONFIG SET replica-serve-stale-data yes");
    run_command(&server, "REPLICAOF NO ONE");
}

static void stale_replica(void) {
    run_command(&server, "CONFIG SET replica-serve-stale-data no");
    replica();
}

static void too_few_replicas(void) { run_command(&server, "CONFIG SET min-replicas-to-write 1"); }

static void enough_replicas(void) { run_command(&server, "CONFIG SET min-replicas-to-write 0"); }

/* A snapshot into a directory that is gone; returns when the server has noted how it ended. */
static void snapshot(const char *outcome) {
    bool noted = false;
    run_command(&server, "BGSAVE");
    for (int64_t end = now_ms() + 20000; !noted && now_ms() < end;) {
        redisReply *reply = command(&server, "INFO persistence");
        noted = strstr(reply->str, outcome) && strstr(reply->str, "rdb_bgsave_in_progress:0");
        freeReplyObject(reply);
    }
    assert_true(noted);
}

static void broken_disk(void) {
    char line[256];
    snprintf(line, sizeof line, "mkdir -p '%s/gone'", server.dir);
    assert_int_equal(system(line), 0);
    run_command(&server, "CONFIG SET dir %s/gone", server.dir);
    run_command(&server, "CONFIG SET save %s", "3600 1000000");
    snprintf(line, sizeof line, "rmdir '%s/gone'", server.dir);
    assert_int_equal(system(line), 0);
    snapshot("rdb_last_bgsave_status:err");
}

static void mended_disk(void) {
    run_command(&server, "CONFIG SET dir %s", server.dir);
    snapshot("rdb_last_bgsave_status:ok");
    run_command(&server, "CONFIG SET save %s", "");
}

/* A test that fails in between leaves the server as it is then. */
static int set_up_healed(void **state) {
    primary();
    enough_replicas();
    run_command(&server, "CONFIG SET save %s", "");
    run_command(&server, "CONFIG SET dir %s", server.dir);
    return set_up_jobs(state);
}

static const struct state as_replica = {replica, primary, DUEQ_READONLY, "READONLY"},
                          as_stale_replica = {stale_replica, primary, DUEQ_UNAVAILABLE,
                                              "MASTERDOWN"},
                          without_replicas = {too_few_replicas, enough_replicas, DUEQ_UNAVAILABLE,
                                              "NOREPLICAS"},
                          with_broken_disk = {broken_disk, mended_disk, DUEQ_UNAVAILABLE,
                                              "MISCONF"};

static void assert_pending_for(dueq_client *client, int64_t ms) {
    for (int64_t end = now_ms() + ms; now_ms() < end;)
        assert_status(client, PENDING, dueq_wait(client, end - now_ms()));
}

/* What one of two clients has to say, once for both. */
static const char *news(dueq_client *one, dueq_client *other) {
    const char *first = dueq_warning(one), *second = dueq_warning(other);
    assert_true(!first != !second);
    assert_null(dueq_warning(one));
    assert_null(dueq_warning(other));
    return first ? first : second;
}

static void outlive_by_reserve(const struct state *state, const char *url) {
    struct jobs waiting = jobs_open(url), late = jobs_open(url);
    push_body(late.queue, "before", 60000, NULL);
    assert_status(waiting.client, PENDING, dueq_reserve_submit(waiting.queue, 1, 60000, 0));
    pump_until_blocked(waiting.client, 1);
    state->begin();
    assert_push_(url, state->refusal, __FILE__, __LINE__);
    assert_status(late.client, PENDING, dueq_reserve_submit(late.queue, 1, 60000, 0));
    /* Longer than the deadline of a single request. */
    for (int64_t end = now_ms() + 2500; now_ms() < end;) {
        assert_pending_for(waiting.client, 50);
        assert_pending_for(late.client, 50);
    }
    const char *warning = news(waiting.client, late.client);
    assert_non_null(strstr(warning, "it is tried again"));
    assert_non_null(strstr(warning, state->says));
    state->end();
    push_body(jobs.queue, "after", 0, NULL);
    /* Whoever asks first. */
    dueq_client *other = waiting.client;
    while (dueq_wait(waiting.client, 50) == DUEQ_PENDING &&
           dueq_wait(late.client, 50) == DUEQ_PENDING)
        ;
    if (dueq_pump(waiting.client) == DUEQ_OK) {
        take_body(waiting.client, 0, "after");
        other = late.client;
    } else {
        take_body(late.client, 0, "after");
    }
    push_body(jobs.queue, "later", 0, NULL);
    take_body(other, 10000, "later");
    assert_non_null(strstr(news(waiting.client, late.client), "it answers again, after "));
    jobs_close(late);
    jobs_close(waiting);
}

static void test_reserve_counts_how_long_it_outlives(void **state) {
    (void)state;
    struct jobs waiting = jobs_open(server.url);
    const char *warning = NULL;
    char counted[640] = "";
    push_body(waiting.queue, "before", 60000, NULL);
    replica();
    assert_status(waiting.client, PENDING, dueq_reserve_submit(waiting.queue, 1, 60000, 0));
    for (int64_t end = now_ms() + 30000; now_ms() < end && !strstr(counted, "for 1");) {
        dueq_wait(waiting.client, 50);
        if ((warning = dueq_warning(waiting.client)))
            snprintf(counted, sizeof counted, "%s", warning);
    }
    assert_non_null(strstr(counted, "it is tried again for 1"));
    assert_non_null(strstr(counted, " times: "));
    assert_non_null(strstr(counted, "READONLY"));
    primary();
    jobs_close(waiting);
}

static void test_reserve_outlives(void **state) {
    outlive_by_reserve(*state, url_with("", "?timeout=1s"));
}

static void outlive_by_consumer(const struct state *state) {
    struct jobs loop = jobs_open(url_with("", "?timeout=1s"));
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    const dueq_message *message;
    char ticket[300];
    assert_status(loop.client, OK, dueq_consumer_open(&loop.queue, 1, &options, &consumer));
    push_body(jobs.queue, "first", 0, NULL);
    assert_status(loop.client, OK, dueq_consumer_next(consumer, 5000, &message, NULL));
    memcpy(ticket, message->ticket.data, message->ticket.size);
    dueq_bytes held = {ticket, message->ticket.size};
    state->begin();
    /* It is finished while nobody can be told. */
    assert_status(loop.client, OK, dueq_consumer_ack(consumer, held));
    assert_status(loop.client, PENDING, dueq_consumer_submit(consumer, 60000));
    for (int64_t end = now_ms() + 2500; now_ms() < end;) {
        dueq_wait(loop.client, 100);
        assert_status(loop.client, PENDING, dueq_consumer_take(consumer, &message, NULL));
    }
    state->end();
    push_body(jobs.queue, "second", 0, NULL);
    dueq_status status;
    while ((status = dueq_consumer_take(consumer, &message, NULL)) == DUEQ_PENDING)
        dueq_wait(loop.client, 5000);
    assert_status(loop.client, OK, status);
    assert_memory_equal(message->body.data, "second", 6);
    assert_int_equal(dueq_consumer_lost(consumer), 0);
    assert_int_equal(command_number(&server, "HLEN dueq:{jobs}:msg"), 1);
    dueq_consumer_close(consumer);
    jobs_close(loop);
}

static void test_consumer_outlives(void **state) { outlive_by_consumer(*state); }

/* It has the wake token that the other one needs. */
static void test_reserve_that_is_refused_wakes_another(void **state) {
    (void)state;
    dueq_result *result;
    run_command(&server, "ACL SETUSER refused reset on >secret ~* &* +@all");
    struct jobs refused = jobs_open(url_with("refused:secret@", "")), other = jobs_open(server.url);
    assert_status(refused.client, PENDING, dueq_reserve_submit(refused.queue, 1, 60000, 0));
    pump_until_blocked(refused.client, 1);
    assert_status(other.client, PENDING, dueq_reserve_submit(other.queue, 1, 60000, 0));
    pump_until_blocked(other.client, 2);
    run_command(&server, "ACL SETUSER refused -hmget");
    push_body(jobs.queue, "x", 0, NULL);
    assert_status(refused.client, DENIED, dueq_wait(refused.client, 20000));
    assert_status(refused.client, DENIED, dueq_take(refused.client, &result));
    dueq_result_free(result);
    /* Its own probe would come 12 s after it began to wait. */
    take_body(other.client, 5000, "x");
    jobs_close(other);
    jobs_close(refused);
    run_command(&server, "ACL DELUSER refused");
}

static void test_push_waits_for_the_primary_to_be_back(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES("patient");
    push_body(jobs.queue, "before", 0, NULL);
    replica();
    assert_status(jobs.client, PENDING, dueq_push_submit(jobs.queue, &draft, 1));
    assert_pending_for(jobs.client, 300);
    primary();
    assert_status(jobs.client, OK, dueq_wait(jobs.client, 20000));
    dueq_take(jobs.client, NULL);
    assert_int_equal(command_number(&server, "LLEN dueq:{jobs}:ready"), 2);
}

static void test_lock_outlives_a_failover(void **state) {
    (void)state;
    struct jobs other = jobs_open(server.url);
    dueq_result *result, *got;
    assert_status(jobs.client, OK, dueq_lock(jobs.queue, BYTES("l"), 60000, 0, &result));
    assert_status(other.client, PENDING, dueq_lock_submit(other.queue, BYTES("l"), 60000, 30000));
    pump_until_blocked(other.client, 1);
    replica();
    assert_pending_for(other.client, 1500);
    primary();
    assert_status(jobs.client, OK, dueq_unlock(jobs.queue, BYTES("l"), dueq_result_id(result, 0)));
    assert_status(other.client, OK, dueq_wait(other.client, 20000));
    assert_status(other.client, OK, dueq_take(other.client, &got));
    dueq_result_free(got);
    dueq_result_free(result);
    jobs_close(other);
}

/* A busy server, and a connection that was lost */

static pid_t begin_busy(void) {
    run_command(&server, "CONFIG SET lua-time-limit 10");
    pid_t script = command_start(&server, "EVAL %s 0", "while true do end");
    for (int64_t end = now_ms() + 10000; now_ms() < end;) {
        redisContext *context = redisConnectUnix(server.socket);
        redisReply *reply = redisCommand(context, "PING");
        bool busy = reply && strncmp(reply->str, "BUSY", 4) == 0;
        freeReplyObject(reply);
        redisFree(context);
        if (busy)
            return script;
    }
    fail_msg("no script runs");
    return script;
}

static void end_busy(pid_t script) {
    run_command(&server, "SCRIPT KILL");
    child_end(script);
    run_command(&server, "CONFIG SET lua-time-limit 5000");
}

static void test_push_lost_before_a_busy_time_is_repeated(void **state) {
    (void)state;
    struct proxy proxy;
    proxy_start(&proxy, &server);
    struct jobs cut = jobs_open(proxy.url);
    dueq_draft draft = DUEQ_DRAFT;
    push_body(cut.queue, "before", 0, NULL);
    draft.body = BYTES("HELLO-WORLD");
    proxy_cut(&proxy, CUT_BEFORE, "HELLO-WORLD", 1);
    pid_t script = begin_busy();
    assert_status(cut.client, PENDING, dueq_push_submit(cut.queue, &draft, 1));
    assert_pending_for(cut.client, 300);
    assert_int_equal(proxy_cuts(&proxy), 1);
    end_busy(script);
    assert_status(cut.client, OK, dueq_wait(cut.client, 20000));
    dueq_take(cut.client, NULL);
    assert_int_equal(command_number(&server, "LLEN dueq:{jobs}:ready"), 2);
    jobs_close(cut);
    proxy_stop(&proxy);
}

static void test_unblock_of_a_busy_server_may_be_tried_again(void **state) {
    (void)state;
    assert_status(jobs.client, PENDING, dueq_reserve_submit(jobs.queue, 1, 60000, 0));
    pump_until_blocked(jobs.client, 1);
    pid_t script = begin_busy();
    dueq_stop_wait(jobs.client);
    dueq_wait(jobs.client, 300);
    end_busy(script);
    assert_status(jobs.client, EMPTY, dueq_wait(jobs.client, 20000));
    dueq_take(jobs.client, NULL);
    assert_false(jobs.client->no_unblock);
}

/* What a script met, as Redis 6.2 says it where the script catches it, and where it does not. */
static void test_refusals_of_a_script_in_redis_6_2(void **state) {
    (void)state;
    static const struct {
        const char *met;
        dueq_status status;
    } texts[] = {
        {"-OOM command not allowed when used memory > 'maxmemory'.", DUEQ_FULL},
        {"-READONLY You can't write against a read only replica.", DUEQ_READONLY},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", DUEQ_WRONG_TYPE},
        {"The user executing the script can't run this command or subcommand", DUEQ_DENIED},
        {"The user executing the script can't access at least one of the keys mentioned in the "
         "command arguments",
         DUEQ_DENIED},
        {"attempt to index a nil value", DUEQ_SERVER},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[300];
        struct dueq__error error;
        snprintf(text, sizeof text, "@user_script: 12: %s", texts[i].met);
        assert_int_equal(dueq__reply_error_text(text, &error), texts[i].status);
        snprintf(
            text, sizeof text,
            "ERR Error running script (call to f_c1f258): @user_script:42: @user_script: 42: %s",
            texts[i].met);
        assert_int_equal(dueq__reply_error_text(text, &error), texts[i].status);
    }
}

#define OUTLIVES(test, situation)                                                                  \
    {#test "_" #situation, test, set_up_healed, tear_down_jobs, (void *)(uintptr_t)&situation}

int main(void) {
    const struct CMUnitTest tests[] = {
        OUTLIVES(test_reserve_outlives, as_replica),
        OUTLIVES(test_reserve_outlives, as_stale_replica),
        OUTLIVES(test_reserve_outlives, without_replicas),
        OUTLIVES(test_reserve_outlives, with_broken_disk),
        OUTLIVES(test_consumer_outlives, as_replica),
        OUTLIVES(test_consumer_outlives, as_stale_replica),
        OUTLIVES(test_consumer_outlives, without_replicas),
        OUTLIVES(test_consumer_outlives, with_broken_disk),
        TEST(test_reserve_counts_how_long_it_outlives),
        TEST(test_reserve_that_is_refused_wakes_another),
        TEST(test_push_waits_for_the_primary_to_be_back),
        TEST(test_lock_outlives_a_failover),
        TEST(test_push_lost_before_a_busy_time_is_repeated),
        TEST(test_unblock_of_a_busy_server_may_be_tried_again),
        TEST(test_refusals_of_a_script_in_redis_6_2),
    };
    return run_on_server(tests, (const char *const[]){"--enable-protected-configs", "yes", NULL});
}
