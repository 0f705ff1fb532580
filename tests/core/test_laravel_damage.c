/* Laravel's queues with foreign values, odd scores, on servers that are full or permit little. */
#include "laravel_fixture.h"

#define JOB "{\"job\":\"A\",\"attempts\":0}"
#define RAISED "{\"job\":\"A\",\"attempts\":1}"

enum { PUSH, LATER, POP, RELEASE, DELETE, MIGRATE, SIZE, CLEAR, VERBS };

static dueq_status call(struct laravel of, int verb) {
    const dueq_bytes reserved = BYTES(RAISED);
    dueq_sizes sizes = DUEQ_SIZES;
    switch (verb) {
    case PUSH:
        return push_payload(of, JOB, 0);
    case LATER:
        return push_payload(of, JOB, 60000);
    case POP:
        return dueq_laravel_pop(of.queue, 5, 0, 0, NULL);
    case RELEASE:
        return dueq_laravel_release(of.queue, &reserved, 1, 0, NULL);
    case DELETE:
        return dueq_laravel_delete(of.queue, &reserved, 1, NULL);
    case MIGRATE:
        return dueq_laravel_migrate(of.queue, 5, 0, NULL);
    case SIZE:
        return dueq_laravel_size(of.queue, &sizes);
    default:
        return dueq_laravel_clear(of.queue, NULL);
    }
}

/* All that the queue's keys hold, as one digest. */
static char *digest(void) {
    return command_text("EVAL %s 5 queues:jobs queues:jobs:delayed queues:jobs:reserved "
                        "queues:jobs:notify dueq:{queues:jobs}:quarantine",
                        "local all = '' for _, key in ipairs(KEYS) do "
                        "all = all .. (redis.call('DUMP', key) or '-') end "
                        "return redis.sha1hex(all)");
}

/* Something to move, to take and to set aside. */
static void fill(void) {
    run_command(&server, "FLUSHALL");
    stock_push(JOB);
    run_command(&server, "RPUSH queues:jobs broken");
    run_command(&server, "ZADD queues:jobs:delayed 1 %s", JOB);
    run_command(&server, "ZADD queues:jobs:reserved 1900000000 %s", RAISED);
}

static void test_a_wrong_type_is_told_before_anything_is_changed(void **state) {
    (void)state;
    static const struct {
        const char *key;
        const char *told; /* W: by that verb */
    } rows[] = {
        {"queues:jobs", "WWWW.WWW"},
        {"queues:jobs:delayed", "WWWW.WWW"},
        {"queues:jobs:reserved", "..WWWWWW"},
        {"queues:jobs:notify", "WWWW.W.W"},
        {"dueq:{queues:jobs}:quarantine", "..W..WW."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fill();
        run_command(&server, "SET %s foreign", rows[i].key);
        char *before = digest();
        for (int verb = 0; verb < VERBS; verb++) {
            if (rows[i].told[verb] != 'W')
                continue;
            assert_status(laravel.client, WRONG_TYPE, call(laravel, verb));
            char *after = digest();
            assert_string_equal(after, before);
            free(after);
        }
        free(before);
    }
}

static void test_a_wait_on_a_foreign_value_ends_with_its_type(void **state) {
    (void)state;
    run_command(&server, "SET queues:jobs:notify foreign");
    assert_status(laravel.client, WRONG_TYPE, dueq_laravel_pop(laravel.queue, 1, 20000, 0, NULL));
    run_command(&server, "DEL queues:jobs:notify");
    assert_status(laravel.client, PENDING, dueq_laravel_pop_submit(laravel.queue, 1, 20000, 0));
    pump_until_blocked(laravel.client, 1);
    run_command(&server, "SET queues:jobs:delayed foreign");
    assert_status(laravel.client, WRONG_TYPE, dueq_wait(laravel.client, 10000));
    assert_status(laravel.client, WRONG_TYPE, dueq_take(laravel.client, NULL));
}

static void test_a_full_server_refuses_pushes_alone(void **state) {
    (void)state;
    dueq_result *result;
    fill();
    run_command(&server, "ZADD queues:jobs:reserved 1900000000 %s", "{\"attempts\":3}");
    /* The scripts are there already. */
    for (int verb = 0; verb < VERBS; verb++)
        assert_true(call(laravel, verb) >= 0);
    fill();
    run_command(&server, "CONFIG SET maxmemory 1");
    char *before = digest();
    assert_status(laravel.client, FULL, call(laravel, PUSH));
    assert_status(laravel.client, FULL, call(laravel, LATER));
    char *after = digest();
    assert_string_equal(after, before);
    free(before);
    free(after);
    assert_status(laravel.client, OK, call(laravel, MIGRATE));
    assert_status(laravel.client, OK, call(laravel, RELEASE));
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 0, 0, &result));
    dueq_bytes reserved = dueq_result_job(result, 0)->reserved;
    assert_status(laravel.client, OK,
                  dueq_laravel_release(laravel.queue, &reserved, 1, 5000, NULL));
    dueq_result_free(result);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 0, 0, &result));
    reserved = dueq_result_job(result, 0)->reserved;
    assert_int_equal(dueq_result_quarantined(result), 1);
    assert_status(laravel.client, OK, dueq_laravel_delete(laravel.queue, &reserved, 1, NULL));
    dueq_result_free(result);
    assert_sizes(1, 1, 0, 1);
    assert_status(laravel.client, OK, call(laravel, CLEAR));
    run_command(&server, "CONFIG SET maxmemory 0");
    assert_status(laravel.client, OK, call(laravel, PUSH));
}

static void test_odd_scores_neither_stop_nor_hasten_a_queue(void **state) {
    (void)state;
    dueq_result *result;
    int64_t second = server_ms() / 1000 + 2;
    char score[32];
    run_command(&server, "ZADD queues:jobs:delayed -inf %s", "{\"attempts\":0,\"n\":1}");
    run_command(&server, "ZADD queues:jobs:delayed 1.5 %s", "{\"attempts\":0,\"n\":2}");
    run_command(&server, "ZADD queues:jobs:delayed -7 %s", "{\"attempts\":0,\"n\":3}");
    run_command(&server, "ZADD queues:jobs:delayed inf %s", "{\"attempts\":0,\"n\":4}");
    run_command(&server, "ZADD queues:jobs:reserved 1e300 %s", "{\"attempts\":0,\"n\":5}");
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 9, 0, 0, &result));
    assert_int_equal(dueq_result_count(result), 3);
    dueq_result_free(result);
    assert_status(laravel.client, EMPTY, dueq_laravel_pop(laravel.queue, 9, 0, 0, NULL));
    run_command(&server, "DEL queues:jobs:reserved");
    assert_int_equal(sizes_of(laravel).next_ms, 0);
    /* Half a second is not over before the next whole one. */
    snprintf(score, sizeof score, "%lld.5", (long long)second);
    run_command(&server, "ZADD queues:jobs:delayed %s %s", score, "{\"attempts\":0,\"n\":6}");
    assert_int_equal(sizes_of(laravel).next_ms, (second + 1) * 1000);
    assert_status(laravel.client, OK, dueq_laravel_pop(laravel.queue, 1, 9000, 0, &result));
    assert_true(server_ms() >= (second + 1) * 1000);
    dueq_result_free(result);
}

static void test_release_keeps_a_delayed_job_of_the_same_bytes(void **state) {
    (void)state;
    dueq_result *result;
    stock_push(JOB);
    dueq_bytes reserved = pop_one(laravel, 0, &result)->reserved;
    /* As the late release of a stock worker leaves it. */
    run_command(&server, "ZADD queues:jobs:delayed 1900000000 %s", RAISED);
    assert_status(laravel.client, OK,
                  dueq_laravel_release(laravel.queue, &reserved, 1, 5000, NULL));
    assert_sizes(0, 2, 0, 0);
    assert_command("ZSCORE queues:jobs:delayed %s", RAISED, "1900000000");
    dueq_result_free(result);
}

static void test_every_verb_works_for_a_user_of_this_queue_alone(void **state) {
    (void)state;
    dueq_result *result;
    run_command(&server,
                "ACL SETUSER laravel on >secret resetkeys ~queues:jobs* ~dueq:{queues:jobs}:* "
                "resetchannels -@all +evalsha +script|load +select +blpop +client|setname "
                "+client|id +client|list +client|kill +client|unblock +time +expire +hset +hget "
                "+del +rpush +lpop +llen +zadd +zrem +zcard +zrange +zrangebyscore "
                "+zremrangebyrank");
    struct laravel user = laravel_open(url_with("laravel:secret@", ""));
    for (int verb = 0; verb < VERBS; verb++)
        assert_true(call(user, verb) >= 0);
    fill();
    for (int verb = 0; verb < VERBS; verb++)
        assert_true(call(user, verb) >= 0);
    fill();
    assert_status(user.client, OK, dueq_laravel_pop(user.queue, 9, 0, 0, &result));
    for (size_t i = 0; i < dueq_result_count(result); i++)
        assert_status(user.client, OK,
                      dueq_laravel_release(user.queue, &dueq_result_job(result, i)->reserved, 1,
                                           i ? 1 : 0, NULL));
    dueq_result_free(result);
    for (int i = 0; i < 2; i++) {
        pop_one(user, 5000, &result);
        dueq_result_free(result);
    }
    assert_status(user.client, EMPTY, dueq_laravel_pop(user.queue, 1, 300, 0, NULL));
    laravel_close(user);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LARAVEL_TEST(test_a_wrong_type_is_told_before_anything_is_changed),
        LARAVEL_TEST(test_a_wait_on_a_foreign_value_ends_with_its_type),
        LARAVEL_TEST(test_a_full_server_refuses_pushes_alone),
        LARAVEL_TEST(test_odd_scores_neither_stop_nor_hasten_a_queue),
        LARAVEL_TEST(test_release_keeps_a_delayed_job_of_the_same_bytes),
        LARAVEL_TEST(test_every_verb_works_for_a_user_of_this_queue_alone),
    };
    return run_on_server(tests, NULL);
}
