/*
 * Pushes that are to be on a replica or on disk: what they answer where they are not, and what a
 * lost connection does.
 */
#include <signal.h>
#include <unistd.h>

#include "fixture.h"
#include "proxy.h"

static struct server replica;
static char port[8];

static const dueq_durability on_replica = {.replicas = 1, .timeout_ms = 300};

static int set_up_replica(void **state) {
    kill(replica.pid, SIGCONT);
    set_up_jobs(state);
    assert_int_equal(command_number(&server, "WAIT 1 20000"), 1);
    return 0;
}

#define DURABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_replica, tear_down_jobs)

static long long existing(const struct server *of) {
    return command_number(of, "HLEN dueq:{jobs}:msg");
}

static dueq_draft durable_draft(const char *id) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES("x");
    draft.id = BYTES(id);
    draft.durability = on_replica;
    return draft;
}

static dueq_status push_durable(dueq_queue *queue, const char *id, dueq_result **result) {
    const dueq_draft draft = durable_draft(id);
    return dueq_push(queue, &draft, 1, result);
}

/* How often the server was asked to wait for replicas. */
static long long waits(void) { return calls_of(&server, "wait"); }

static void assert_says(const char *part) {
    if (!strstr(dueq_error_text(jobs.client), part))
        fail_msg("\"%s\" is not in: %s", part, dueq_error_text(jobs.client));
}

static void test_push_by_draft_queue_or_url_waits_for_the_replica(void **state) {
    (void)state;
    struct jobs by_url = jobs_open(url_with("", "?replicas=1&durable_timeout=20s"));
    const dueq_durability patient = {.replicas = 1, .timeout_ms = 20000};
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *result;
    assert_status(by_url.client, OK, dueq_push(by_url.queue, &draft, 1, &result));
    assert_int_equal(dueq_result_replicas(result), 1);
    dueq_result_free(result);
    jobs_close(by_url);

    draft.durability = patient;
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, &result));
    assert_int_equal(dueq_result_replicas(result), 1);
    dueq_result_free(result);

    draft.durability = (dueq_durability){0};
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, &result));
    assert_int_equal(dueq_result_replicas(result), 0);
    dueq_result_free(result);

    assert_status(jobs.client, OK, dueq_queue_durability(jobs.queue, &patient));
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, &result));
    assert_int_equal(dueq_result_replicas(result), 1);
    dueq_result_free(result);
    assert_int_equal(existing(&replica), 4);
}

static void test_durability_of_a_handle_ends_with_it(void **state) {
    (void)state;
    kill(replica.pid, SIGSTOP);
    assert_status(jobs.client, OK, dueq_queue_durability(jobs.queue, &on_replica));
    assert_status(jobs.client, NOT_DURABLE, push_text(jobs.queue, "x"));
    dueq_queue_close(jobs.queue);
    jobs.queue = open_queue(jobs.client, "jobs");
    assert_status(jobs.client, OK, push_text(jobs.queue, "x"));
}

static void test_push_without_the_replica_tells_the_id_and_is_repeated(void **state) {
    (void)state;
    dueq_result *result;
    kill(replica.pid, SIGSTOP);
    assert_status(jobs.client, NOT_DURABLE, push_durable(jobs.queue, "bill-7", &result));
    assert_string_equal(dueq_error_text(jobs.client),
                        "stored as bill-7; on 0 of 1 replicas within 300 ms");
    assert_int_equal(dueq_result_count(result), 1);
    assert_int_equal(dueq_result_status(result, 0), DUEQ_OK);
    assert_int_equal(dueq_result_id(result, 0).size, 6);
    assert_int_equal(dueq_result_replicas(result), 0);
    dueq_result_free(result);
    assert_int_equal(existing(&server), 1);

    /* Also on a connection on which nothing was written before. */
    struct jobs other = jobs_open(server.url);
    assert_status(jobs.client, NOT_DURABLE, push_durable(jobs.queue, "bill-7", NULL));
    assert_status(other.client, NOT_DURABLE, push_durable(other.queue, "bill-7", NULL));
    kill(replica.pid, SIGCONT);
    assert_int_equal(command_number(&server, "WAIT 1 20000"), 1);
    /* On a busy machine the replica may need longer than a push waits for it. */
    dueq_status status;
    for (int i = 0; (status = push_durable(other.queue, "bill-7", &result)) < 0 && i < 50; i++)
        dueq_result_free(result);
    assert_status(other.client, DUPLICATE, status);
    assert_int_equal(dueq_result_replicas(result), 1);
    dueq_result_free(result);
    jobs_close(other);
    assert_int_equal(existing(&replica), 1);
}

static void test_push_of_many_waits_once(void **state) {
    (void)state;
    dueq_draft drafts[DUEQ_MAX_BATCH];
    dueq_result *result;
    for (size_t i = 0; i < DUEQ_MAX_BATCH; i++)
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
    /* One that asks for it is enough. */
    drafts[7].durability = on_replica;
    kill(replica.pid, SIGSTOP);
    assert_status(jobs.client, NOT_DURABLE, dueq_push(jobs.queue, drafts, DUEQ_MAX_BATCH, &result));
    assert_says(" and 199 more; on 0 of 1 replicas");
    assert_int_equal(dueq_result_count(result), DUEQ_MAX_BATCH);
    for (size_t i = 0; i < DUEQ_MAX_BATCH; i++)
        assert_int_equal(dueq_result_id(result, i).size, 22);
    dueq_result_free(result);
    kill(replica.pid, SIGCONT);
    long long before = waits();
    drafts[7].durability.timeout_ms = 20000;
    assert_status(jobs.client, OK, dueq_push(jobs.queue, drafts, DUEQ_MAX_BATCH, NULL));
    assert_int_equal(waits() - before, 1);
}

static void test_push_to_partitions_waits_in_each(void **state) {
    (void)state;
    enum { COUNT = 40, PARTITIONS = 4 };
    dueq_draft drafts[COUNT];
    dueq_queue *whole;
    dueq_result *result;
    for (size_t i = 0; i < COUNT; i++)
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
    for (size_t i = 0; i < COUNT; i++)
        drafts[i].key = (dueq_bytes){&"0123456789"[i % 10], 1};
    assert_status(
        jobs.client, OK,
        dueq_partitions_open(jobs.client, "parts", 5, PARTITIONS, (dueq_bytes){0}, &whole));
    kill(replica.pid, SIGSTOP);
    /* By the handle: one partition, and all. */
    assert_status(jobs.client, OK, dueq_queue_durability(whole, &on_replica));
    assert_status(jobs.client, NOT_DURABLE, dueq_push(whole, drafts, 1, NULL));
    assert_says("; on 0 of 1 replicas within 300 ms");
    assert_status(jobs.client, NOT_DURABLE, dueq_push(whole, drafts, COUNT, &result));
    assert_says("; on 0 of 1 replicas within 300 ms");
    assert_int_equal(dueq_result_count(result), COUNT);
    assert_int_equal(dueq_result_replicas(result), 0);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(dueq_result_status(result, i), DUEQ_OK);
        assert_int_equal(dueq_result_id(result, i).size, 22);
    }
    dueq_result_free(result);
    /* By the drafts. */
    const dueq_durability none = {0};
    assert_status(jobs.client, OK, dueq_queue_durability(whole, &none));
    assert_status(jobs.client, OK, dueq_push(whole, drafts, COUNT, NULL));
    drafts[0].durability = on_replica;
    assert_status(jobs.client, NOT_DURABLE, dueq_push(whole, drafts, COUNT, NULL));
    kill(replica.pid, SIGCONT);
    const dueq_durability patient = {.replicas = 1, .timeout_ms = 20000};
    drafts[0].durability = none;
    assert_status(jobs.client, OK, dueq_queue_durability(whole, &patient));
    long long before = waits();
    assert_status(jobs.client, OK, dueq_push(whole, drafts, COUNT, &result));
    assert_int_equal(dueq_result_replicas(result), 1);
    dueq_result_free(result);
    assert_int_equal(waits() - before, PARTITIONS);
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(whole, &counts));
    assert_int_equal(counts.pushed, 4 * COUNT + 1);
    dueq_queue_close(whole);
}

static void test_ack_push_tells_the_successors(void **state) {
    (void)state;
    dueq_queue *parcels = open_queue(jobs.client, "parcels");
    dueq_queue *targets[] = {NULL, parcels};
    for (int i = 0; i < 2; i++) {
        dueq_result *result, *pushed;
        kill(replica.pid, SIGCONT);
        push_body(jobs.queue, "order", 0, NULL);
        const dueq_message *message = reserve_one(jobs.queue, 0, 0, &result);
        const dueq_draft draft = durable_draft(i ? "parcel" : "next");
        kill(replica.pid, SIGSTOP);
        assert_status(jobs.client, NOT_DURABLE,
                      dueq_ack_push(jobs.queue, message->ticket, targets[i], &draft, 1, &pushed));
        assert_says(i ? "stored as parcel; on 0" : "stored as next; on 0");
        assert_int_equal(dueq_result_first(pushed), 1);
        assert_int_equal(dueq_result_count(pushed), 2);
        dueq_result_free(pushed);
        /* Nothing is stored where the lease was lost. */
        assert_status(jobs.client, LEASE_LOST,
                      dueq_ack_push(jobs.queue, message->ticket, targets[i], &draft, 1, NULL));
        dueq_result_free(result);
    }
    /*
     * It stays in the outbox until that is durable, and then until it is durable in the other
     * queue, too.
     */
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(parcels, &counts));
    assert_int_equal(counts.ready, 0);
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.outbox, 1);
    kill(replica.pid, SIGCONT);
    dueq_queue_close(parcels);
}

static void test_schedule_waits_too(void **state) {
    (void)state;
    dueq_draft job = DUEQ_DRAFT;
    job.durability = on_replica;
    const dueq_plan plan = {.struct_size = sizeof(dueq_plan),
                            .name = BYTES("hourly"),
                            .expression = BYTES("@hourly"),
                            .job = &job};
    kill(replica.pid, SIGSTOP);
    assert_status(jobs.client, NOT_DURABLE, dueq_schedule(jobs.queue, &plan));
    assert_says("stored as schedule:hourly;");
}

/* Lost connections */

static const char *const patient_url = "?replicas=1&durable_timeout=1s&timeout=20s";

static void wait_until_blocked(struct jobs by) {
    while (info_number(&server, "clients", "blocked_clients") < 1)
        assert_status(by.client, PENDING, dueq_wait(by.client, 5));
}

/* Submits a push whose script the server has run, and which waits for the replica. */
static void push_until_waiting(struct jobs by) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES("HELLO-WORLD");
    assert_int_equal(dueq_push_submit(by.queue, &draft, 1), DUEQ_PENDING);
    wait_until_blocked(by);
    /* The script's answer, which was sent before, is read. */
    assert_status(by.client, PENDING, dueq_wait(by.client, 50));
}

static void test_connection_lost_while_it_waits_is_no_success(void **state) {
    (void)state;
    struct jobs by = jobs_open(url_with("", patient_url));
    dueq_result *result;
    kill(replica.pid, SIGSTOP);
    push_until_waiting(by);
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_status(by.client, NOT_DURABLE, dueq_wait(by.client, -1));
    assert_status(by.client, NOT_DURABLE, dueq_take(by.client, &result));
    assert_non_null(strstr(dueq_error_text(by.client), "; on 0 of 1 replicas within 1000 ms"));
    assert_int_equal(dueq_result_id(result, 0).size, 22);
    dueq_result_free(result);
    jobs_close(by);
    assert_int_equal(existing(&server), 1);
}

static void test_connection_lost_while_it_waits_goes_on(void **state) {
    (void)state;
    struct jobs by = jobs_open(url_with("", "?replicas=1&durable_timeout=20s"));
    kill(replica.pid, SIGSTOP);
    push_until_waiting(by);
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    assert_status(by.client, PENDING, dueq_wait(by.client, 100));
    kill(replica.pid, SIGCONT);
    assert_status(by.client, OK, dueq_wait(by.client, -1));
    assert_status(by.client, OK, dueq_take(by.client, NULL));
    jobs_close(by);
    assert_int_equal(existing(&replica), 1);
}

static void test_connection_cut_before_the_answers_stores_once(void **state) {
    (void)state;
    static struct proxy proxy;
    proxy_start(&proxy, &server);
    struct jobs by = jobs_open(proxy.url);
    const dueq_durability patient = {.replicas = 1, .timeout_ms = 20000};
    assert_status(by.client, OK, dueq_queue_durability(by.queue, &patient));
    assert_status(by.client, OK, push_text(by.queue, "first"));
    for (enum cut cut = CUT_REQUEST; cut <= CUT_BEFORE; cut++) {
        proxy_cut(&proxy, cut, "HELLO-WORLD", 2);
        assert_status(by.client, OK, push_text(by.queue, "HELLO-WORLD"));
        assert_true(proxy_cuts(&proxy) > 0);
        proxy_cut(&proxy, CUT_NOTHING, "", 0);
    }
    jobs_close(by);
    proxy_stop(&proxy);
    assert_int_equal(existing(&replica), 3);
}

static void test_server_lost_while_it_waits_tells_the_id(void **state) {
    (void)state;
    struct jobs by = jobs_open(url_with("", "?replicas=1&durable_timeout=1s&timeout=1s"));
    dueq_result *result;
    kill(replica.pid, SIGSTOP);
    push_until_waiting(by);
    server_kill(&server);
    assert_status(by.client, NOT_DURABLE, dueq_wait(by.client, -1));
    assert_status(by.client, NOT_DURABLE, dueq_take(by.client, &result));
    assert_non_null(strstr(dueq_error_text(by.client),
                           "; whether replicas or disks have it is not known: unix://"));
    assert_int_equal(dueq_result_id(result, 0).size, 22);
    dueq_result_free(result);
    jobs_close(by);
    server_restart(&server);
}

static void test_server_demoted_while_it_waits_is_no_success(void **state) {
    (void)state;
    struct jobs by = jobs_open(url_with("", "?replicas=1&durable_timeout=1s&timeout=1s"));
    kill(replica.pid, SIGSTOP);
    push_until_waiting(by);
    /* Of nobody: it is no primary, and has what it had. */
    run_command(&server, "REPLICAOF 127.0.0.1 1");
    assert_status(by.client, NOT_DURABLE, dueq_wait(by.client, -1));
    run_command(&server, "REPLICAOF NO ONE");
    jobs_close(by);
}

/* As where another server takes over that has neither what was done nor the script. */
static void test_relay_to_another_server_is_done_there(void **state) {
    (void)state;
    struct jobs by = jobs_open(url_with("", "?replicas=1&durable_timeout=20s"));
    dueq_draft mortal = DUEQ_DRAFT;
    mortal.body = BYTES("x");
    mortal.dead_letter = BYTES("graves");
    dueq_result *result;
    /* The first time the server gets the scripts. */
    for (int i = 0; i < 2; i++) {
        assert_status(by.client, OK, dueq_push(by.queue, &mortal, 1, NULL));
        const dueq_message *message = reserve_one(by.queue, 0, 0, &result);
        if (i == 1)
            kill(replica.pid, SIGSTOP);
        assert_int_equal(dueq_bury_submit(by.queue, message->ticket, BYTES("why")), DUEQ_PENDING);
        dueq_result_free(result);
        if (i == 0)
            assert_status(by.client, OK, dueq_wait(by.client, -1));
    }
    /*
     * The replica gets the first step of the relay. The client sends the second step when it reads
     * on.
     */
    wait_until_blocked(by);
    kill(replica.pid, SIGCONT);
    await_blocked(&server, 0);
    kill(replica.pid, SIGSTOP);
    wait_until_blocked(by);
    assert_status(by.client, PENDING, dueq_wait(by.client, 50));
    run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    run_command(&server, "SCRIPT FLUSH");
    run_command(&server, "DEL dueq:{graves}:msg dueq:{graves}:ready dueq:{graves}:received");
    kill(replica.pid, SIGCONT);
    assert_status(by.client, OK, dueq_wait(by.client, -1));
    assert_status(by.client, OK, dueq_take(by.client, NULL));
    assert_int_equal(command_number(&replica, "HLEN dueq:{graves}:msg"), 1);
    assert_int_equal(existing(&replica), 0);
    jobs_close(by);
}

/* Pushers */

static size_t finish(dueq_pusher *pusher, dueq_status expected) {
    size_t items = 0;
    while (dueq_pusher_left(pusher)) {
        dueq_status status;
        dueq_result *result;
        if (!dueq_pusher_done(pusher, &status, &result)) {
            dueq_wait(jobs.client, -1);
            continue;
        }
        assert_status(jobs.client, OK, expected == status ? DUEQ_OK : status);
        for (size_t i = 0; i < dueq_result_count(result); i++)
            items += dueq_result_id(result, i).size == 22;
        dueq_result_free(result);
    }
    return items;
}

static void push_thousand(dueq_pusher *pusher) {
    const dueq_draft draft = DUEQ_DRAFT;
    for (int i = 0; i < 1000; i++)
        assert_status(jobs.client, OK, dueq_pusher_push(pusher, &draft));
}

static void test_pusher_waits_once_for_many(void **state) {
    (void)state;
    const dueq_durability patient = {.replicas = 1, .timeout_ms = 20000};
    dueq_pusher *pusher;
    assert_status(jobs.client, OK, dueq_queue_durability(jobs.queue, &patient));
    assert_status(jobs.client, OK, dueq_pusher_open(jobs.queue, 0, &pusher));
    long long before = waits();
    push_thousand(pusher);
    assert_int_equal(finish(pusher, DUEQ_OK), 1000);
    assert_true(waits() - before <= 40);
    assert_int_equal(existing(&replica), 1000);

    /* Each push that was not durable has its id. */
    kill(replica.pid, SIGSTOP);
    assert_status(jobs.client, OK, dueq_queue_durability(jobs.queue, &on_replica));
    push_thousand(pusher);
    assert_int_equal(finish(pusher, DUEQ_NOT_DURABLE), 1000);
    dueq_pusher_close(pusher);
    assert_int_equal(existing(&server), 2000);
}

/* What the server does not do */

static bool knows_waitaof(void) {
    redisReply *reply = command(&server, "COMMAND INFO WAITAOF");
    bool known = reply->elements == 1 && reply->element[0]->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    return known;
}

static void test_disk_is_on_disk_or_refused_before_it_is_stored(void **state) {
    (void)state;
    const dueq_durability disk = {.disk = 1, .timeout_ms = 20000}, both = {1, 1, 20000};
    dueq_draft draft = DUEQ_DRAFT;
    dueq_result *result;
    bool known = knows_waitaof();
    draft.durability = disk;
    if (known) {
        assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, &result));
        assert_int_equal(dueq_result_disk(result), 1);
        dueq_result_free(result);
        draft.durability = both;
        assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, &result));
        assert_int_equal(dueq_result_disk(result), 1);
        assert_int_equal(dueq_result_replicas(result), 1);
        dueq_result_free(result);
        kill(replica.pid, SIGSTOP);
        draft.durability.timeout_ms = 3000;
        assert_status(jobs.client, NOT_DURABLE, dueq_push(jobs.queue, &draft, 1, NULL));
        assert_says(
            "; on disk at the server: yes, and on those of 0 of 1 replicas, within 3000 ms");
        draft.durability.replicas = 0;
        run_command(&server, "CONFIG SET appendonly no");
        run_command(&server, "CLIENT KILL TYPE normal SKIPME yes");
    }
    long long before = existing(&server);
    assert_status(jobs.client, UNSUPPORTED, dueq_push(jobs.queue, &draft, 1, NULL));
    assert_says(
        "disk needs Redis 7.2 or later, or Valkey, with appendonly yes; nothing was stored");
    assert_says(known ? "ERR WAITAOF cannot be used when" : "ERR unknown command");
    assert_int_equal(existing(&server), before);
    if (known)
        run_command(&server, "CONFIG SET appendonly yes");
    draft.durability.disk = 0;
    assert_status(jobs.client, OK, dueq_push(jobs.queue, &draft, 1, NULL));
}

static void test_user_without_wait_stores_nothing(void **state) {
    (void)state;
    run_command(&server, "ACL SETUSER shop on >secret ~* +@all -wait");
    struct jobs by = jobs_open(url_with("shop:secret@", ""));
    assert_status(by.client, DENIED, push_durable(by.queue, "x", NULL));
    assert_int_equal(existing(&server), 0);
    assert_status(by.client, OK, push_text(by.queue, "x"));
    jobs_close(by);
}

static void test_what_is_out_of_range_is_invalid(void **state) {
    (void)state;
    const dueq_durability wrong[] = {{.replicas = -1},
                                     {.replicas = DUEQ_MAX_REPLICAS + 1},
                                     {.disk = 2},
                                     {.timeout_ms = -1},
                                     {.timeout_ms = DUEQ_MAX_DURABLE_MS + 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dueq_draft draft = DUEQ_DRAFT;
        draft.durability = wrong[i];
        assert_status(jobs.client, INVALID, dueq_push(jobs.queue, &draft, 1, NULL));
        assert_status(jobs.client, INVALID, dueq_queue_durability(jobs.queue, &wrong[i]));
    }
}

/* Failover */

/*
 * Kills the primary in the middle of pushes; each that was acknowledged is on the replica, which
 * takes over.
 */
static void test_acknowledged_pushes_survive_a_failover(void **state) {
    (void)state;
    enum { MOST = 100000 };
    char (*ids)[23] = calloc(MOST, sizeof *ids);
    struct jobs by = jobs_open(url_with("", "?replicas=1&durable_timeout=1s&timeout=1s"));
    pid_t killer = fork();
    if (killer == 0) {
        usleep(700000);
        kill(server.pid, SIGKILL);
        _exit(0);
    }
    size_t count = 0;
    dueq_status status = DUEQ_OK;
    while (!status && count < MOST) {
        dueq_draft draft = DUEQ_DRAFT;
        dueq_result *result;
        status = dueq_push(by.queue, &draft, 1, &result);
        if (!status)
            memcpy(ids[count++], dueq_result_id(result, 0).data, 22);
        dueq_result_free(result);
    }
    assert_true(status < 0);
    child_end(killer);
    server_kill(&server);
    jobs_close(by);
    run_command(&replica, "REPLICAOF NO ONE");
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(command_number(&replica, "HEXISTS dueq:{jobs}:msg %s", ids[i]), 1);
    free(ids);
    server_restart(&server);
    run_command(&replica, "REPLICAOF 127.0.0.1 %s", port);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DURABLE_TEST(test_push_by_draft_queue_or_url_waits_for_the_replica),
        DURABLE_TEST(test_durability_of_a_handle_ends_with_it),
        DURABLE_TEST(test_push_without_the_replica_tells_the_id_and_is_repeated),
        DURABLE_TEST(test_push_of_many_waits_once),
        DURABLE_TEST(test_push_to_partitions_waits_in_each),
        DURABLE_TEST(test_ack_push_tells_the_successors),
        DURABLE_TEST(test_schedule_waits_too),
        DURABLE_TEST(test_connection_lost_while_it_waits_is_no_success),
        DURABLE_TEST(test_connection_lost_while_it_waits_goes_on),
        DURABLE_TEST(test_connection_cut_before_the_answers_stores_once),
        DURABLE_TEST(test_server_lost_while_it_waits_tells_the_id),
        DURABLE_TEST(test_server_demoted_while_it_waits_is_no_success),
        DURABLE_TEST(test_relay_to_another_server_is_done_there),
        DURABLE_TEST(test_pusher_waits_once_for_many),
        DURABLE_TEST(test_disk_is_on_disk_or_refused_before_it_is_stored),
        DURABLE_TEST(test_user_without_wait_stores_nothing),
        DURABLE_TEST(test_what_is_out_of_range_is_invalid),
        DURABLE_TEST(test_acknowledged_pushes_survive_a_failover)};
    snprintf(port, sizeof port, "%d", free_port());
    server_start_with(
        &server, (const char *const[]){"--port", port, "--repl-diskless-sync-delay", "0", NULL});
    server_start_with(&replica, (const char *const[]){"--replicaof", "127.0.0.1", port, NULL});
    int failed = run_selected(tests);
    kill(replica.pid, SIGCONT);
    server_stop(&replica);
    server_stop(&server);
    return failed;
}
