/* What a message asks beyond the usual: in its envelope, and which drafts are refused. */
#include "golden.h"
#include "verbs/verbs.h"

static void assert_bytes(dueq_bytes expected, dueq_bytes got) {
    assert_int_equal(got.size, expected.size);
    if (got.size)
        assert_memory_equal(got.data, expected.data, got.size);
}

/* A row of policies.tsv as a draft; the fields live as long as the row, `body` and `envelope`. */
struct row {
    const char *name, *stamp;
    dueq_draft draft;
    dueq_header header;
    int64_t list[DUEQ_MAX_BACKOFF_LIST], expires_ms;
    dueq_bytes body, envelope;
    dueq_bytes home;    /* the queue of the batch, if it is not the message's own */
    bool batch_counted; /* the batch has counted the end: a script writes this, no producer */
};

static void read_backoff(struct row *row, const char *value) {
    dueq_backoff *backoff = &row->draft.backoff;
    int kind, jitter;
    long long base, cap;
    assert_int_equal(sscanf(value, "%d/%d/%lld/%lld", &kind, &jitter, &base, &cap), 4);
    *backoff = (dueq_backoff){.kind = (dueq_backoff_kind)kind,
                              .jitter = (dueq_jitter)jitter,
                              .base_ms = base,
                              .cap_ms = cap};
}

static void read_list(struct row *row, const char *value) {
    dueq_backoff *backoff = &row->draft.backoff;
    backoff->kind = DUEQ_BACKOFF_LIST;
    backoff->jitter = (dueq_jitter)atoi(value);
    backoff->list_ms = row->list;
    for (const char *at = strchr(value, '/'); at; at = strchr(at + 1, ','))
        row->list[backoff->list_count++] = strtoll(at + 1, NULL, 10);
}

static void read_asked(struct row *row, const char *name, const char *value) {
    dueq_draft *draft = &row->draft;
    if (strcmp(name, "priority") == 0) {
        draft->priority = (dueq_priority)atoi(value);
    } else if (strcmp(name, "expires") == 0) {
        draft->ttl_ms = 1;
        row->expires_ms = strtoll(value, NULL, 10);
    } else if (strcmp(name, "lease") == 0) {
        draft->lease_ms = strtoll(value, NULL, 10);
    } else if (strcmp(name, "header") == 0) {
        const char *colon = strchr(value, ':');
        row->header = (dueq_header){{value, (size_t)(colon - value)}, BYTES(colon + 1)};
        draft->headers = &row->header;
        draft->header_count = 1;
    } else if (strcmp(name, "backoff") == 0) {
        read_backoff(row, value);
    } else if (strcmp(name, "list") == 0) {
        read_list(row, value);
    } else if (strcmp(name, "max_crashes") == 0) {
        draft->max_crashes = (uint32_t)atoi(value);
    } else if (strcmp(name, "drop") == 0) {
        draft->drop = atoi(value);
    } else if (strcmp(name, "dead_letter") == 0) {
        draft->dead_letter = BYTES(value);
    } else if (strcmp(name, "group") == 0) {
        draft->group = BYTES(value);
    } else if (strcmp(name, "keep") == 0) {
        draft->keep_ms = strtoll(value, NULL, 10);
    } else if (strcmp(name, "batch") == 0) {
        draft->batch = BYTES(value);
    } else if (strcmp(name, "batch_queue") == 0) {
        row->home = BYTES(value);
    } else if (strcmp(name, "counted") == 0) {
        row->batch_counted = true;
    } else {
        fail_msg("'%s': what is %s?", row->name, name);
    }
}

static void read_row(const struct golden *golden, struct row *row) {
    *row = (struct row){.name = golden->field[0], .stamp = golden_text(golden, 1)};
    row->draft = (dueq_draft)DUEQ_DRAFT;
    row->body = row->draft.body = golden_bytes(golden, 3);
    row->envelope = golden_bytes(golden, 4);
    char *rest = golden->field[2];
    for (char *asked; (asked = strsep(&rest, "&"));) {
        char *value = strchr(asked, '=');
        assert_non_null(value);
        *value++ = '\0';
        read_asked(row, asked, value);
    }
}

static void free_row(struct row *row) {
    free((void *)(uintptr_t)row->body.data);
    free((void *)(uintptr_t)row->envelope.data);
}

/* Writes the end of the time to live as the push script does. */
static void set_expires(unsigned char *envelope, const struct row *row) {
    unsigned char *at = envelope + DUEQ__ENVELOPE_FIXED + (row->stamp ? DUEQ__INCARNATION_SIZE : 0);
    static const unsigned char none[8];
    assert_memory_equal(at, none, sizeof none);
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(row->expires_ms >> (56 - 8 * i));
}

static void test_policy_write_golden(void **state) {
    (void)state;
    struct golden golden = golden_open("policies");
    while (golden_next(&golden)) {
        struct row row;
        struct dueq__error error = {0};
        read_row(&golden, &row);
        if (row.batch_counted) {
            free_row(&row);
            continue;
        }
        if (dueq__draft_check(&row.draft, false, &error))
            fail_msg("'%s': %s", row.name, error.text);
        size_t size = dueq__envelope_write(&row.draft, row.stamp, row.home, NULL);
        unsigned char *written = malloc(size);
        dueq__envelope_write(&row.draft, row.stamp, row.home, written);
        if (row.expires_ms)
            set_expires(written, &row);
        if (size != row.envelope.size || memcmp(written, row.envelope.data, size) != 0)
            fail_msg("'%s' is written otherwise", row.name);
        free(written);
        free_row(&row);
    }
}

static void test_policy_read_golden(void **state) {
    (void)state;
    struct golden golden = golden_open("policies");
    while (golden_next(&golden)) {
        struct row row;
        dueq_header header;
        dueq_message message = {.id = BYTES("bill-7")};
        read_row(&golden, &row);
        if (!dueq__envelope_read(row.envelope, &message, &header, 1))
            fail_msg("'%s' cannot be read", row.name);
        assert_bytes(row.body, message.body);
        assert_int_equal(message.priority, row.draft.priority);
        assert_int_equal(message.expires_ms, row.expires_ms);
        assert_int_equal(message.lease_ms, row.draft.lease_ms);
        assert_int_equal(message.header_count, row.draft.header_count);
        assert_int_equal(message.max_crashes, row.draft.max_crashes);
        assert_int_equal(message.drop, row.draft.drop);
        assert_bytes(row.draft.dead_letter, message.dead_letter);
        assert_bytes(row.draft.group, message.group);
        assert_int_equal(message.keep_ms, row.draft.keep_ms);
        assert_bytes(row.draft.batch, message.batch);
        assert_bytes(row.home, message.batch_queue);
        free_row(&row);
    }
}

static void test_policy_read_cut_anywhere(void **state) {
    (void)state;
    struct golden golden = golden_open("policies");
    while (golden_next(&golden)) {
        struct row row;
        read_row(&golden, &row);
        size_t head = row.envelope.size - row.body.size;
        for (size_t size = 0; size <= row.envelope.size; size++) {
            dueq_message message = {0};
            char *copy = malloc(size ? size : 1);
            memcpy(copy, row.envelope.data, size);
            if (dueq__envelope_read((dueq_bytes){copy, size}, &message, NULL, 0) != (size >= head))
                fail_msg("'%s' cut to %zu bytes", row.name, size);
            free(copy);
        }
        free_row(&row);
    }
}

/* Drafts */

static dueq_status check(const dueq_draft *draft, const char *text) {
    struct dueq__error error = {0};
    dueq_status status = dueq__draft_check(draft, false, &error);
    assert_true(status == DUEQ_OK || error.text[0]);
    if (status && text && !strstr(error.text, text))
        fail_msg("'%s' does not say '%s'", error.text, text);
    return status;
}

static void test_draft_priority(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    for (int priority = -3; priority <= 3; priority++) {
        bool good = priority >= -1 && priority <= 1;
        draft.priority = (dueq_priority)priority;
        assert_int_equal(check(&draft, "priority"), good ? DUEQ_OK : DUEQ_INVALID);
    }
}

static void test_draft_time_to_live(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    draft.ttl_ms = DUEQ_MAX_TIME_MS;
    assert_int_equal(check(&draft, NULL), DUEQ_OK);
    draft.ttl_ms++;
    assert_int_equal(check(&draft, "time to live"), DUEQ_INVALID);
    draft.ttl_ms = -1;
    assert_int_equal(check(&draft, "time to live"), DUEQ_INVALID);
}

static void test_draft_unique_and_existing_need_an_id(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    draft.unique_ms = 1000;
    assert_int_equal(check(&draft, "unique"), DUEQ_INVALID);
    draft.id = BYTES("bill-7");
    assert_int_equal(check(&draft, NULL), DUEQ_OK);
    draft.unique_ms = DUEQ_MAX_TIME_MS + 1;
    assert_int_equal(check(&draft, "unique"), DUEQ_INVALID);
    draft.unique_ms = -1;
    assert_int_equal(check(&draft, "unique"), DUEQ_INVALID);
    draft.unique_ms = 0;
    for (int replace = -1; replace <= 3; replace++) {
        bool good = replace >= DUEQ_REFUSE && replace <= DUEQ_REPLACE_BODY;
        draft.replace = (dueq_replace)replace;
        assert_int_equal(check(&draft, "existing"), good ? DUEQ_OK : DUEQ_INVALID);
    }
    draft.id = (dueq_bytes){0};
    draft.replace = DUEQ_REPLACE_BODY;
    assert_int_equal(check(&draft, "replace"), DUEQ_INVALID);
}

static void test_draft_end_policy(void **state) {
    (void)state;
    static char name[DUEQ_MAX_NAME + 1];
    memset(name, 'n', sizeof name);
    dueq_draft draft = DUEQ_DRAFT;
    draft.max_crashes = DUEQ_MAX_MAX_ATTEMPTS;
    assert_int_equal(check(&draft, NULL), DUEQ_OK);
    draft.max_crashes++;
    assert_int_equal(check(&draft, "max_crashes"), DUEQ_INVALID);
    draft.max_crashes = 0;
    draft.drop = 1;
    assert_int_equal(check(&draft, NULL), DUEQ_OK);
    draft.dead_letter = BYTES("failed");
    assert_int_equal(check(&draft, "not both"), DUEQ_INVALID);
    draft.drop = 0;
    assert_int_equal(check(&draft, NULL), DUEQ_OK);

    const dueq_bytes wrong[] = {BYTES("a{b"), BYTES("a\n"), BYTES("\xFF"), {name, sizeof name}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        draft.dead_letter = wrong[i];
        assert_int_equal(check(&draft, "dead_letter: "), DUEQ_NAME);
    }
    draft.dead_letter.size--;
    assert_int_equal(check(&draft, NULL), DUEQ_OK);
}

static const int64_t minute[] = {60000};

static void test_draft_backoff(void **state) {
    (void)state;
    static const int64_t most = UINT32_MAX;
    static const int64_t many[DUEQ_MAX_BACKOFF_LIST + 1],
        past[] = {0, UINT32_MAX + INT64_C(1)}, negative[] = {-1}, longest[] = {0, UINT32_MAX};
    static const struct {
        dueq_backoff backoff;
        const char *text; /* NULL: it is good */
    } rows[] = {
        {{0}, NULL},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_NONE, 0, 0, NULL, 0}, NULL},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_EQUAL, 1, 0, NULL, 0}, NULL},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_NONE, most, 0, NULL, 0}, NULL},
        {{DUEQ_BACKOFF_LINEAR, DUEQ_JITTER_NONE, 1, 0, NULL, 0}, NULL},
        {{DUEQ_BACKOFF_LINEAR, DUEQ_JITTER_NONE, 100, 1, NULL, 0}, NULL},
        {{DUEQ_BACKOFF_EXPONENTIAL, DUEQ_JITTER_FULL, most, most, NULL, 0}, NULL},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_FULL, 0, 0, longest, 2}, NULL},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 0, many, DUEQ_MAX_BACKOFF_LIST}, NULL},

        {{DUEQ_BACKOFF_DEFAULT, DUEQ_JITTER_FULL, 0, 0, NULL, 0}, "jitter of this backoff is 1"},
        {{DUEQ_BACKOFF_DEFAULT, DUEQ_JITTER_NONE, 1, 0, NULL, 0}, "base of this backoff is 1 ms"},
        {{DUEQ_BACKOFF_DEFAULT, DUEQ_JITTER_NONE, 0, 1, NULL, 0}, "cap of this backoff is 1 ms"},
        {{DUEQ_BACKOFF_DEFAULT, DUEQ_JITTER_NONE, 0, 0, minute, 1},
         "list of this backoff is 1 delays"},
        {{(dueq_backoff_kind)5, DUEQ_JITTER_NONE, 1, 0, NULL, 0}, "kind of the backoff is 5"},
        {{(dueq_backoff_kind)-1, DUEQ_JITTER_NONE, 1, 0, NULL, 0}, "kind of the backoff is -1"},
        {{DUEQ_BACKOFF_FIXED, (dueq_jitter)3, 1, 0, NULL, 0}, "jitter of this backoff is 3"},
        {{DUEQ_BACKOFF_FIXED, (dueq_jitter)-1, 1, 0, NULL, 0}, "jitter of this backoff is -1"},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_NONE, -1, 0, NULL, 0}, "base of this backoff is -1 ms"},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_NONE, most + 1, 0, NULL, 0},
         "base of this backoff is 4294967296 ms"},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_NONE, 1, 1, NULL, 0}, "cap of this backoff is 1 ms"},
        {{DUEQ_BACKOFF_FIXED, DUEQ_JITTER_NONE, 1, 0, minute, 1},
         "list of this backoff is 1 delays"},
        {{DUEQ_BACKOFF_LINEAR, DUEQ_JITTER_NONE, 1, -1, NULL, 0}, "cap of this backoff is -1 ms"},
        {{DUEQ_BACKOFF_LINEAR, DUEQ_JITTER_NONE, 0, 1, NULL, 0}, "base of this backoff is 0 ms"},
        {{DUEQ_BACKOFF_EXPONENTIAL, DUEQ_JITTER_NONE, 1, most + 1, NULL, 0},
         "cap of this backoff is 4294967296"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 0, NULL, 0}, "0 delays"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 0, NULL, 1}, "is NULL"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 0, many, DUEQ_MAX_BACKOFF_LIST + 1}, "33 delays"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 0, past, 2}, "4294967296 ms"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 0, negative, 1}, "-1 ms"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 1, 0, minute, 1}, "base of this backoff is 1 ms"},
        {{DUEQ_BACKOFF_LIST, DUEQ_JITTER_NONE, 0, 1, minute, 1}, "cap of this backoff is 1 ms"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dueq_draft draft = DUEQ_DRAFT;
        draft.backoff = rows[i].backoff;
        dueq_status status = check(&draft, rows[i].text);
        if (status != (rows[i].text ? DUEQ_INVALID : DUEQ_OK))
            fail_msg("row %zu (%s): %s", i, rows[i].text ? rows[i].text : "good",
                     dueq_status_name(status));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_write_golden),
        cmocka_unit_test(test_policy_read_golden),
        cmocka_unit_test(test_policy_read_cut_anywhere),
        cmocka_unit_test(test_draft_priority),
        cmocka_unit_test(test_draft_time_to_live),
        cmocka_unit_test(test_draft_unique_and_existing_need_an_id),
        cmocka_unit_test(test_draft_end_policy),
        cmocka_unit_test(test_draft_backoff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
