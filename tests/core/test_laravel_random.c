/*
 * Random payloads, most of them odd: attempts are what Laravel's own arithmetic makes of them, no
 * other byte changes, and what its script would fail on is set aside. $SEED repeats a run.
 */
#include <time.h>

#include "laravel_fixture.h"

enum { PAYLOADS = 1500, ROOM = 4096 };

static uint64_t seed;

/* One of 0 to below - 1 (xorshift64, Marsaglia 2003). */
static unsigned chance(unsigned below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed >> 20) % below);
}

struct draft {
    char text[ROOM];
    size_t size;
};

static void add(struct draft *draft, const char *text) {
    size_t size = strlen(text);
    if (draft->size + size < ROOM) {
        memcpy(draft->text + draft->size, text, size);
        draft->size += size;
    }
}

#define ADD_ONE_OF(draft, list) add((draft), (list)[chance(sizeof(list) / sizeof *(list))])

static void add_string(struct draft *draft) {
    static const char *const parts[] = {"a", "\\\"", "\\\\",    "attempts", "\\\":", "{", "}",
                                        "[", "]",    "\\u0061", "\xc3\xa9", "0",     " ", ","};
    add(draft, "\"");
    for (unsigned i = chance(7); i > 0; i--)
        ADD_ONE_OF(draft, parts);
    add(draft, "\"");
}

static void add_name(struct draft *draft) {
    static const char *const names[] = {
        "attempts",     "attempts",      "\\\"attempts", "a", "\\u0061ttempt\\u0073",
        "attempts\\\\", "x\\\"attempts", "{attempts}"};
    add(draft, "\"");
    ADD_ONE_OF(draft, names);
    add(draft, "\"");
}

static void add_value(struct draft *draft, unsigned depth);

static void add_object(struct draft *draft, unsigned depth, unsigned members) {
    static const char *const blanks[] = {"", "", "", " ", "\n", "\t "};
    add(draft, "{");
    for (unsigned i = 0; i < members; i++) {
        add(draft, i ? "," : "");
        ADD_ONE_OF(draft, blanks);
        add_name(draft);
        ADD_ONE_OF(draft, blanks);
        add(draft, ":");
        ADD_ONE_OF(draft, blanks);
        add_value(draft, depth);
        ADD_ONE_OF(draft, blanks);
    }
    add(draft, "}");
}

static void add_value(struct draft *draft, unsigned depth) {
    static const char *const plain[] = {
        "0",  "1",     "-1",    "9",    "1.0", "1e0", "99",   "{}",
        "[]", "\"1\"", "\"x\"", "null", "7",   "3",   "-0.5", "12345678901234567"};
    unsigned kind = depth ? chance(8) : 0;
    if (kind < 4) {
        ADD_ONE_OF(draft, plain);
    } else if (kind < 5) {
        add_string(draft);
    } else if (kind < 6) {
        add(draft, "[");
        add_value(draft, depth - 1);
        add(draft, ",");
        add_string(draft);
        add(draft, "]");
    } else {
        add_object(draft, depth - 1, chance(4));
    }
}

static void test_random_payloads(void **state) {
    (void)state;
    static const char counts[] =
        "local ok, n = pcall(function() local j = cjson.decode(ARGV[1]) "
        "j.attempts = j.attempts + 1 cjson.encode(j) return j.attempts end) "
        "return ok and string.format('%.14g', n) or 'lost'";
    static const char reads[] = "return string.format('%.14g', cjson.decode(ARGV[1]).attempts)";
    unsigned good = 0;
    for (int i = 0; i < PAYLOADS; i++) {
        struct draft draft = {.size = 0};
        dueq_result *result;
        add_object(&draft, 3, 1 + chance(4));
        redisReply *counted = command(&server, "EVAL %s 0 %b", counts, draft.text, draft.size);
        run_command(&server, "RPUSH queues:jobs %b", draft.text, draft.size);
        dueq_status status = dueq_laravel_pop(laravel.queue, 1, 0, 0, &result);
        if (strcmp(counted->str, "lost") == 0) {
            assert_status(laravel.client, EMPTY, status);
            assert_int_equal(dueq_result_quarantined(result), 1);
        } else {
            assert_status(laravel.client, OK, status);
            const dueq_job *job = dueq_result_job(result, 0);
            assert_bytes(job->payload, draft.text);
            redisReply *raised =
                command(&server, "EVAL %s 0 %b", reads, job->reserved.data, job->reserved.size);
            assert_string_equal(raised->str, counted->str);
            freeReplyObject(raised);
            good++;
        }
        freeReplyObject(counted);
        dueq_result_free(result);
        if (i % 100 == 99)
            run_command(&server, "FLUSHALL");
    }
    assert_in_range(good, PAYLOADS / 10, PAYLOADS - PAYLOADS / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {LARAVEL_TEST(test_random_payloads)};
    const char *given = getenv("SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 2654435761u;
    printf("SEED=%llu\n", (unsigned long long)seed);
    return run_on_server(tests, NULL);
}
