/* What is done from outside: by id, by state, and to look at queues. */
#include "run.h"

/* The states that messages were in when they were cancelled; null: there was none. */
static void compare_states(struct run *run, json_object *expect, const dueq_result *result) {
    json_object *states = field(expect, "states");
    if (!states)
        return;
    if (json_object_array_length(states) != dueq_result_count(result))
        wrong(run, "%zu states", dueq_result_count(result));
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const char *wanted = json_object_get_string(json_object_array_get_idx(states, i));
        dueq_state state = dueq_result_state(result, i);
        if (strcmp(wanted ? wanted : "unknown", dueq_state_name(state)) != 0)
            wrong(run, "state %zu is %s", i, dueq_state_name(state));
    }
}

void do_ids(struct run *run, json_object *step, on_ids verb) {
    dueq_result *result;
    size_t count = 1;
    dueq_bytes one = bytes(run, step, "id"), *ids = &one;
    if (field(step, "ids"))
        ids = list(run, step, "ids", &count);
    compare_status(run, field(step, "expect"), verb(run->queue, ids, count, &result));
    compare_statuses(run, field(step, "expect"), result);
    compare_states(run, field(step, "expect"), result);
    dueq_result_free(result);
}

/* A field of a point of time, or one of how long that is from now. */
static int64_t time_of(struct run *run, json_object *step, const char *at, const char *in) {
    return field(step, in) ? server_ms(run) + number(step, in, 0) : number(step, at, 0);
}

/* Until there are none left, a few at a time. */
static void do_kick_all(struct run *run, json_object *step) {
    enum { PAGE = 3 };
    json_object *expect = field(step, "expect");
    const dueq_filter filter = {sizeof(dueq_filter), bytes(run, step, "error"),
                                time_of(run, step, "since_ms", "since_in_ms"),
                                time_of(run, step, "until_ms", "until_in_ms")};
    dueq_bytes cursor = {0};
    dueq_result *result;
    int64_t kicked = 0;
    dueq_status status;
    do {
        status = dueq_kick_all(run->queue, &filter, cursor, PAGE, &result);
        kicked += (int64_t)dueq_result_kicked(result);
        cursor = copy(run, dueq_result_cursor(result));
        dueq_result_free(result);
    } while (cursor.size);
    compare_status(run, expect, status);
    if (field(expect, "kicked"))
        compare_number(run, "the number of kicked", field(expect, "kicked"), kicked);
}

static dueq_state state_of(struct run *run, json_object *step) {
    static const char *const states[] = {"ready", "delayed", "leased", "dead", "outbox", NULL};
    return (dueq_state)(DUEQ_READY + choice(run, step, "state", states));
}

/* Until there are none left: the whole of the state. */
static void do_purge(struct run *run, json_object *step) {
    dueq_state state = state_of(run, step);
    size_t purged, all = 0;
    dueq_status status;
    do {
        status = dueq_purge(run->queue, state, DUEQ_MAX_BATCH, &purged);
        all += purged;
    } while (status == DUEQ_OK);
    json_object *expect = field(step, "expect");
    compare_status(run, expect, status == DUEQ_EMPTY ? DUEQ_OK : status);
    if (field(expect, "purged"))
        compare_number(run, "the number of purged", field(expect, "purged"), (int64_t)all);
}

static void do_remove(struct run *run, json_object *step) {
    size_t removed, all = 0;
    dueq_status status;
    do {
        status = dueq_remove(run->queue, field(step, "force") != NULL, &removed);
        all += removed;
    } while (status == DUEQ_OK);
    json_object *expect = field(step, "expect");
    compare_status(run, expect, status == DUEQ_EMPTY ? DUEQ_OK : status);
    if (field(expect, "removed"))
        compare_number(run, "the number of removed", field(expect, "removed"), (int64_t)all);
}

static void compare_finding(struct run *run, json_object *expected, const dueq_finding *finding) {
    const dueq_bytes kind = BYTES(finding->kind);
    const struct text_field texts[] = {{"kind", &kind}};
    const struct number_field numbers[] = {
        {"wrong", finding->wrong}, {"count", finding->count}, {"repaired", finding->repaired}};
    json_object_object_foreach(expected, name, wanted) {
        if (strcmp(name, "examples") != 0) {
            if (!compare_field(run, name, wanted, texts, 1, numbers, 3))
                wrong(run, "no field of a finding: %s", name);
            continue;
        }
        if (json_object_array_length(wanted) != finding->example_count)
            wrong(run, "%zu examples", finding->example_count);
        for (size_t i = 0; i < finding->example_count; i++)
            compare_bytes(run, "an example", json_object_array_get_idx(wanted, i),
                          finding->examples[i]);
    }
}

/* Step by step to the end. */
static void do_check(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *findings = field(expect, "findings");
    dueq_result *found = NULL;
    dueq_status status;
    do {
        dueq_bytes cursor = copy(run, dueq_result_cursor(found));
        dueq_result_free(found);
        status =
            dueq_check(run->queue, json_object_get_boolean(field(step, "repair")), cursor, &found);
    } while (dueq_result_cursor(found).size);
    compare_status(run, expect, status);
    if (findings && json_object_array_length(findings) != dueq_result_count(found))
        wrong(run, "%zu findings", dueq_result_count(found));
    for (size_t i = 0; findings && i < dueq_result_count(found); i++)
        compare_finding(run, json_object_array_get_idx(findings, i), dueq_result_finding(found, i));
    dueq_result_free(found);
}

static void do_find(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    dueq_result *result;
    compare_status(run, expect, dueq_find(run->queue, bytes(run, step, "id"), &result));
    if (field(expect, "message"))
        compare_message(run, field(expect, "message"), dueq_result_message(result, 0));
    dueq_result_free(result);
}

static struct look *look_named(struct run *run, const char *name) {
    struct look *look = run->looks;
    while (look && strcmp(look->name, name) != 0)
        look = look->next;
    if (!look)
        wrong(run, "no peek has this name");
    return look;
}

static struct look *look_begun(struct run *run, json_object *step) {
    struct look *look = keep(run, sizeof *look);
    *look = (struct look){.next = run->looks,
                          .name = word(step, "as") ? word(step, "as") : "",
                          .state = state_of(run, step),
                          .page = (size_t)number(step, "page", DUEQ_MAX_BATCH)};
    return run->looks = look;
}

/* Page by page until there is no more, or it has as many messages as were asked for. */
static void do_peek(struct run *run, json_object *step) {
    enum { MOST_PAGES = 2000 };
    json_object *expect = field(step, "expect");
    struct look *look =
        field(step, "more") ? look_named(run, word(step, "more")) : look_begun(run, step);
    size_t most = (size_t)number(step, "count", INT32_MAX), count = 0, pages = 0;
    dueq_result **results = keep(run, MOST_PAGES * sizeof *results);
    const dueq_message **messages = keep(run, MOST_PAGES * sizeof *messages);
    dueq_status status;
    do {
        dueq_result *page;
        status = dueq_peek(run->queue, look->state, look->cursor, look->page, &page);
        if (dueq_result_count(page) > look->page)
            wrong(run, "%zu messages in a page of %zu", dueq_result_count(page), look->page);
        for (size_t i = 0; i < dueq_result_count(page); i++)
            if (dueq_result_message(page, i) && count < MOST_PAGES)
                messages[count++] = dueq_result_message(page, i);
        look->cursor = copy(run, dueq_result_cursor(page));
        results[pages++] = page;
    } while (look->cursor.size && count < most && pages < MOST_PAGES);
    compare_status(run, expect, status);
    compare_messages(run, expect, messages, count);
    while (pages > 0)
        dueq_result_free(results[--pages]);
}

static void do_stats(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    dueq_counts counts = DUEQ_COUNTS;
    compare_status(run, expect, dueq_stats(run->queue, &counts));
    if (!expect)
        return;
#define NUMBER(member)                                                                             \
    , { #member, counts.member }
    const struct {
        const char *name;
        int64_t number;
    } fields[] = {{"paused", counts.paused},
                  {"next_event_ms", counts.next_event_ms},
                  {"next_event_in_ms", counts.next_event_ms},
                  {"oldest_ms", counts.oldest_ms},
                  {"oldest_in_ms", counts.oldest_ms} DUEQ_COUNTS_SUMS(NUMBER)};
#undef NUMBER
    json_object_object_foreach(expect, name, wanted) {
        size_t i = 0, count = sizeof fields / sizeof *fields;
        while (i < count && strcmp(name, fields[i].name) != 0)
            i++;
        if (!strcmp(name, "outbox_error"))
            compare_bytes(run, name, wanted, BYTES(counts.outbox_error));
        else if (!strcmp(name, "at_limit"))
            compare_bytes(run, name, wanted, BYTES(counts.at_limit));
        else if (i == count && strcmp(name, "status") != 0)
            wrong(run, "no field of stats: %s", name);
        if (i < count)
            compare_time(run, name, wanted, fields[i].number);
    }
}

static void compare_group_limits(struct run *run, json_object *expected,
                                 const dueq_group_limits *from) {
    DUEQ_GROUP_LIMITS_FIELDS(COMPARE_FIELD)
}

static void do_limits(struct run *run, json_object *step) {
    json_object *expected = field(step, "expect"), *groups = field(expected, "groups");
    dueq_result *result;
    compare_status(run, expected, dueq_limits(run->queue, &result));
    const dueq_bounds *from = dueq_result_limits(result);
#define COMPARE_WORD(name, text) COMPARE_TEXT(name, BYTES(text))
#define COMPARE_GROUP_LIMITS(name, groups) (void)(groups)
    if (from) {
        DUEQ_BOUNDS_FIELDS(COMPARE_FIELD)
    }
    if (groups && (!from || json_object_array_length(groups) != from->group_count))
        wrong(run, "%zu groups", from ? from->group_count : 0);
    for (size_t i = 0; from && groups && i < from->group_count; i++)
        compare_group_limits(run, json_object_array_get_idx(groups, i), dueq_bounds_group(from, i));
    dueq_result_free(result);
}

/* The sum of those that began in the time expected; returns how many they were. */
static size_t compare_rate(struct run *run, json_object *expected, const dueq_result *result) {
    dueq_rate sum = {0};
    size_t count = 0;
    for (size_t i = 0; i < dueq_result_count(result); i++) {
        const dueq_rate *rate = dueq_result_rate(result, i);
        if (!is_distance(run, field(expected, "start_in_ms"), rate->start_ms))
            continue;
        count++;
#define ADD(member) sum.member += rate->member;
        DUEQ_RATE_SUMS(ADD)
#undef ADD
    }
#define COMPARE(member) COMPARE_COUNT(#member, sum.member);
    DUEQ_RATE_SUMS(COMPARE)
#undef COMPARE
    return count;
}

static void compare_lease(struct run *run, json_object *expected, const dueq_lease *from) {
    DUEQ_LEASE_FIELDS(COMPARE_FIELD)
}

static void compare_worker(struct run *run, json_object *expected, const dueq_worker *from) {
    json_object *leases = field(expected, "leases");
#define COMPARE_LEASES(name, leases) (void)(leases)
    DUEQ_WORKER_FIELDS(COMPARE_FIELD)
    if (leases && json_object_array_length(leases) != from->lease_count)
        wrong(run, "%zu leases", from->lease_count);
    for (size_t i = 0; leases && i < from->lease_count; i++)
        compare_lease(run, json_object_array_get_idx(leases, i), dueq_worker_lease(from, i));
}

static void do_workers(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *workers = field(expect, "workers");
    dueq_result *result;
    compare_status(run, expect, dueq_workers(run->queue, (dueq_bytes){0}, DUEQ_MAX_BATCH, &result));
    if (workers && json_object_array_length(workers) != dueq_result_count(result))
        wrong(run, "%zu workers", dueq_result_count(result));
    for (size_t i = 0; workers && i < dueq_result_count(result); i++)
        compare_worker(run, json_object_array_get_idx(workers, i), dueq_result_worker(result, i));
    dueq_result_free(result);
}

static void compare_failure(struct run *run, json_object *expected, const dueq_failure *from) {
    DUEQ_FAILURE_FIELDS(COMPARE_FIELD)
}

static void do_failures(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *failures = field(expect, "failures");
    dueq_bytes id = bytes(run, step, "id");
    dueq_result *result;
    compare_status(run, expect,
                   dueq_failures(run->queue, id, (dueq_bytes){0}, DUEQ_MAX_BATCH, &result));
    if (failures && json_object_array_length(failures) != dueq_result_count(result))
        wrong(run, "%zu failures", dueq_result_count(result));
    for (size_t i = 0; failures && i < dueq_result_count(result); i++)
        compare_failure(run, json_object_array_get_idx(failures, i),
                        dueq_result_failure(result, i));
    dueq_result_free(result);
}

static void compare_group(struct run *run, json_object *expected, const dueq_group *from) {
    DUEQ_GROUP_FIELDS(COMPARE_FIELD)
    if (field(expected, "oldest_in_ms") &&
        !is_distance(run, field(expected, "oldest_in_ms"), from->oldest_ms))
        wrong(run, "the oldest is of %lld", (long long)from->oldest_ms);
    if (field(expected, "held_in_ms") &&
        !is_distance(run, field(expected, "held_in_ms"), from->held_until_ms))
        wrong(run, "it is held until %lld", (long long)from->held_until_ms);
}

static void do_outcome(struct run *run, json_object *step) {
    json_object *expected = field(field(step, "expect"), "end");
    dueq_result *result;
    compare_status(
        run, field(step, "expect"),
        dueq_outcome(run->queue, bytes(run, step, "id"), number(step, "timeout_ms", 0), &result));
    const dueq_end *from = dueq_result_end(result, 0);
#define COMPARE_MEASURED(name, ms) compare_integer(run, expected, name, ms, -1)
#define COMPARE_BYTES COMPARE_TEXT
    if (expected && from) {
        DUEQ_END_FIELDS(COMPARE_FIELD)
        json_object_object_foreach(expected, name, distance) {
            const struct {
                const char *name;
                int64_t ms;
            } times[] = {{"time_in_ms", from->time_ms},
                         {"created_in_ms", from->created_ms},
                         {"until_in_ms", from->until_ms}};
            for (size_t i = 0; i < sizeof times / sizeof *times; i++)
                if (!strcmp(name, times[i].name) && !is_distance(run, distance, times[i].ms))
                    wrong(run, "%s is of %lld", name, (long long)times[i].ms);
        }
    } else if (expected) {
        wrong(run, "there is no end");
    }
    dueq_result_free(result);
}

/* A few at a time, `most` at most. */
static void do_groups(struct run *run, json_object *step) {
    enum { PAGE = 3 };
    json_object *expect = field(step, "expect"), *groups = field(expect, "groups");
    int64_t left = number(step, "most", 100);
    size_t found = 0;
    dueq_bytes cursor = {0};
    dueq_status status;
    do {
        dueq_result *page;
        status = dueq_groups(run->queue, cursor, left < PAGE ? (size_t)left : PAGE, &page);
        for (size_t i = 0; i < dueq_result_count(page); i++, found++, left--)
            if (groups && found < json_object_array_length(groups))
                compare_group(run, json_object_array_get_idx(groups, found),
                              dueq_result_group(page, i));
        cursor = copy(run, dueq_result_cursor(page));
        dueq_result_free(page);
    } while (cursor.size && left > 0);
    compare_status(run, expect, status);
    if (groups && json_object_array_length(groups) != found)
        wrong(run, "%zu groups", found);
}

/* Until there are none left, a few at a time. */
static void do_purge_group(struct run *run, json_object *step) {
    enum { PAGE = 3 };
    json_object *expect = field(step, "expect");
    dueq_bytes group = bytes(run, step, "group"), cursor = {0};
    int64_t purged = 0;
    dueq_status status;
    do {
        dueq_result *page;
        status = dueq_purge_group(run->queue, group, cursor, PAGE, &page);
        purged += (int64_t)dueq_result_purged(page);
        cursor = copy(run, dueq_result_cursor(page));
        dueq_result_free(page);
    } while (cursor.size);
    compare_status(run, expect, status);
    if (field(expect, "purged"))
        compare_number(run, "the number of purged", field(expect, "purged"), purged);
}

static void do_allow(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    size_t count, wanted_count;
    dueq_bytes *targets = list(run, step, "dead_letter", &count);
    dueq_bytes *wanted = list(run, expect, "names", &wanted_count);
    dueq_result *result;
    compare_status(run, expect,
                   dueq_allow(run->queue, field(step, "dead_letter") ? targets : NULL, count,
                              (int)number(step, "any", 0), &result));
    if (field(expect, "names") && dueq_result_count(result) != wanted_count)
        wrong(run, "%zu names", dueq_result_count(result));
    for (size_t i = 0; i < wanted_count && i < dueq_result_count(result); i++)
        if (!same(wanted[i], dueq_result_id(result, i)))
            wrong(run, "name %zu is not %s", i, shown(run, wanted[i]));
    dueq_result_free(result);
}

static void do_rates(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect"), *rates = field(expect, "rates");
    dueq_result *result;
    size_t hours = (size_t)number(step, "hours", 0);
    size_t minutes = (size_t)number(step, "minutes", hours ? 0 : 60);
    compare_status(run, expect, dueq_rates(run->queue, minutes, hours, &result));
    size_t found = 0;
    for (size_t i = 0; rates && i < json_object_array_length(rates); i++)
        found += compare_rate(run, json_object_array_get_idx(rates, i), result);
    if (rates && found != dueq_result_count(result))
        wrong(run, "%zu of %zu rates were expected", found, dueq_result_count(result));
    dueq_result_free(result);
}

/* All pages; the queues that are looked for come once each at least. */
static void do_queues(struct run *run, json_object *step) {
    json_object *expect = field(step, "expect");
    size_t wanted_count, without_count;
    dueq_bytes *wanted = list(run, expect, "names", &wanted_count), cursor = {0};
    dueq_bytes *without = list(run, expect, "without", &without_count);
    bool *found = keep(run, wanted_count * sizeof *found);
    dueq_status status;
    do {
        dueq_result *page;
        status = dueq_queues(run->client, cursor, &page);
        for (size_t i = 0; i < dueq_result_count(page); i++) {
            for (size_t k = 0; k < wanted_count; k++)
                found[k] = found[k] || same(wanted[k], dueq_result_id(page, i));
            for (size_t k = 0; k < without_count; k++)
                if (same(without[k], dueq_result_id(page, i)))
                    wrong(run, "there is %s", shown(run, without[k]));
        }
        cursor = copy(run, dueq_result_cursor(page));
        dueq_result_free(page);
    } while (cursor.size);
    compare_status(run, expect, status);
    for (size_t k = 0; k < wanted_count; k++)
        if (!found[k])
            wrong(run, "there is no %s", shown(run, wanted[k]));
}

const struct verb manage_verbs[] = {
    {"kick_all", do_kick_all}, {"purge", do_purge},   {"remove", do_remove},
    {"check", do_check},       {"find", do_find},     {"peek", do_peek},
    {"stats", do_stats},       {"rates", do_rates},   {"workers", do_workers},
    {"failures", do_failures}, {"groups", do_groups}, {"purge_group", do_purge_group},
    {"queues", do_queues},     {"allow", do_allow},   {"limits", do_limits},
    {"outcome", do_outcome},   {NULL, NULL}};
