#include "golden.h"
#include "verbs/verbs.h"

#define MOST_HEADERS 16

/* A row of envelopes.tsv as a draft; the fields live as long as the row and `body`. */
struct row {
    const char *name, *stamp;
    dueq_draft draft;
    dueq_header headers[MOST_HEADERS];
    dueq_bytes body, envelope;
};

static void read_row(const struct golden *golden, struct row *row) {
    *row = (struct row){.name = golden->field[0], .stamp = golden_text(golden, 1)};
    row->body = golden_bytes(golden, 5);
    row->envelope = golden_bytes(golden, 6);
    row->draft = (dueq_draft){.struct_size = sizeof(dueq_draft),
                              .body = row->body,
                              .lease_ms = golden_number(golden, 2),
                              .max_attempts = (uint32_t)golden_number(golden, 3),
                              .max_crashes = DUEQ_DEFAULT_CRASHES,
                              .headers = row->headers};
    const char *at = golden_text(golden, 4);
    while (at && *at) {
        size_t name = strcspn(at, "="), value = strcspn(at + name + 1, "&");
        row->headers[row->draft.header_count++] = (dueq_header){{at, name}, {at + name + 1, value}};
        at += name + 1 + value;
        at += *at == '&';
    }
}

static void free_row(struct row *row) {
    free((void *)(uintptr_t)row->body.data);
    free((void *)(uintptr_t)row->envelope.data);
}

static void assert_bytes(dueq_bytes expected, dueq_bytes got) {
    assert_int_equal(got.size, expected.size);
    if (got.size)
        assert_memory_equal(got.data, expected.data, got.size);
}

static void assert_headers(const dueq_draft *draft, const dueq_message *message,
                           const dueq_header *headers) {
    assert_int_equal(message->header_count, draft->header_count);
    for (size_t i = 0; i < draft->header_count; i++) {
        assert_bytes(draft->headers[i].name, headers[i].name);
        assert_bytes(draft->headers[i].value, headers[i].value);
    }
}

static void test_envelope_write_golden(void **state) {
    (void)state;
    struct golden golden = golden_open("envelopes");
    while (golden_next(&golden)) {
        struct row row;
        struct dueq__error error = {0};
        read_row(&golden, &row);
        assert_int_equal(dueq__draft_check(&row.draft, false, &error), DUEQ_OK);
        size_t size = dueq__envelope_write(&row.draft, row.stamp, (dueq_bytes){0}, NULL);
        unsigned char *written = malloc(size);
        dueq__envelope_write(&row.draft, row.stamp, (dueq_bytes){0}, written);
        if (size != row.envelope.size || memcmp(written, row.envelope.data, size) != 0)
            fail_msg("'%s' is written otherwise", row.name);
        free(written);
        free_row(&row);
    }
}

static void test_envelope_read_golden(void **state) {
    (void)state;
    struct golden golden = golden_open("envelopes");
    while (golden_next(&golden)) {
        struct row row;
        dueq_header headers[MOST_HEADERS];
        dueq_message message = {.id = BYTES("bill-7")};
        read_row(&golden, &row);
        if (!dueq__envelope_read(row.envelope, &message, headers, MOST_HEADERS))
            fail_msg("'%s' cannot be read", row.name);
        assert_bytes(row.body, message.body);
        assert_int_equal(message.max_attempts, row.draft.max_attempts);
        assert_int_equal(message.lease_ms, row.draft.lease_ms);
        assert_int_equal(message.created_ms,
                         row.stamp ? dueq__id_time(row.stamp, DUEQ__INCARNATION_SIZE) : 0);
        assert_headers(&row.draft, &message, headers);

        /* Counting them needs no room. */
        message = (dueq_message){0};
        assert_true(dueq__envelope_read(row.envelope, &message, NULL, 0));
        assert_int_equal(message.header_count, row.draft.header_count);
        free_row(&row);
    }
}

static void test_envelope_created_is_the_id_s(void **state) {
    (void)state;
    struct dueq__id_source source = {0};
    char id[DUEQ__ID_SIZE];
    dueq__id_next(&source, id);
    static const unsigned char envelope[] = {0xD1, 0, 0, 5};
    dueq_message message = {.id = {id, sizeof id}};
    assert_true(dueq__envelope_read((dueq_bytes){envelope, sizeof envelope}, &message, NULL, 0));
    assert_int_equal(message.created_ms, dueq__id_time(id, sizeof id));
}

/* A copy of its own, so that the sanitizer sees a read behind it. */
static bool read_copy(dueq_bytes envelope) {
    dueq_header headers[MOST_HEADERS];
    dueq_message message = {.id = BYTES("x")};
    void *copy = malloc(envelope.size ? envelope.size : 1);
    if (envelope.size)
        memcpy(copy, envelope.data, envelope.size);
    bool good =
        dueq__envelope_read((dueq_bytes){copy, envelope.size}, &message, headers, MOST_HEADERS);
    if (good) {
        assert_true((const char *)message.body.data >= (char *)copy);
        assert_ptr_equal((const char *)message.body.data + message.body.size,
                         (char *)copy + envelope.size);
    }
    free(copy);
    return good;
}

static void test_envelope_read_cut_anywhere(void **state) {
    (void)state;
    struct golden golden = golden_open("envelopes");
    while (golden_next(&golden)) {
        struct row row;
        read_row(&golden, &row);
        size_t header = row.envelope.size - row.body.size;
        for (size_t size = 0; size <= row.envelope.size; size++)
            if (read_copy((dueq_bytes){row.envelope.data, size}) != (size >= header))
                fail_msg("'%s' cut to %zu bytes", row.name, size);
        free_row(&row);
    }
}

static void test_envelope_read_damaged(void **state) {
    (void)state;
    struct golden golden = golden_open("damaged");
    while (golden_next(&golden)) {
        dueq_bytes envelope = golden_bytes(&golden, 1);
        if (read_copy(envelope))
            fail_msg("'%s' is taken for an envelope", golden.field[0]);
        free((void *)(uintptr_t)envelope.data);
    }
}

static void test_envelope_read_random_bytes(void **state) {
    (void)state;
    int good = 0;
    for (int i = 0; i < 200000; i++) {
        unsigned char bytes[40];
        dueq__id_random(bytes, sizeof bytes);
        if (i % 2) {
            bytes[0] = DUEQ__ENVELOPE_VERSION;
            bytes[1] &= i % 4 == 1 ? 7 : 127;
            bytes[4] = bytes[8] = 0; /* sizes that the bytes can hold */
        }
        good += read_copy((dueq_bytes){bytes, bytes[39] % sizeof bytes});
    }
    assert_in_range(good, 1, 199999);
}

static dueq_status check(const dueq_draft *draft) {
    struct dueq__error error = {0};
    dueq_status status = dueq__draft_check(draft, false, &error);
    assert_true(status == DUEQ_OK || error.text[0]);
    return status;
}

static void test_draft_limits(void **state) {
    (void)state;
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){"", DUEQ_MAX_BODY};
    assert_int_equal(check(&draft), DUEQ_OK);
    draft.body.size++;
    assert_int_equal(check(&draft), DUEQ_TOO_LARGE);
    draft.body.size = 0;

    draft.max_attempts = DUEQ_MAX_MAX_ATTEMPTS;
    assert_int_equal(check(&draft), DUEQ_OK);
    draft.max_attempts++;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.max_attempts = 0;

    draft.id = (dueq_bytes){"\n", 1};
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.id = (dueq_bytes){NULL, 0};

    draft.lease_ms = UINT32_MAX;
    assert_int_equal(check(&draft), DUEQ_OK);
    draft.lease_ms++;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.lease_ms = -1;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.lease_ms = 0;

    draft.delay_ms = DUEQ_MAX_TIME_MS;
    assert_int_equal(check(&draft), DUEQ_OK);
    draft.delay_ms++;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.delay_ms = -1;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.delay_ms = 1;
    draft.at_ms = 1;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.delay_ms = 0;
    assert_int_equal(check(&draft), DUEQ_OK);
    draft.at_ms = DUEQ_MAX_TIME_MS + 1;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    draft.at_ms = -1;
    assert_int_equal(check(&draft), DUEQ_INVALID);
}

static void test_draft_header_limits(void **state) {
    (void)state;
    static char text[DUEQ_MAX_HEADERS + 1];
    memset(text, 'v', sizeof text);
    dueq_header headers[2] = {{BYTES("n"), {text, DUEQ_MAX_HEADERS - 4}}, {BYTES("m"), {"", 0}}};
    dueq_draft draft = DUEQ_DRAFT;
    draft.headers = headers;
    draft.header_count = 1;
    assert_int_equal(check(&draft), DUEQ_OK);
    headers[0].value.size++;
    assert_int_equal(check(&draft), DUEQ_TOO_LARGE);
    headers[0].value.size = DUEQ_MAX_HEADERS + 1;
    assert_int_equal(check(&draft), DUEQ_TOO_LARGE);
    headers[0].value.size = DUEQ_MAX_HEADERS - 4;
    draft.header_count = 2;
    assert_int_equal(check(&draft), DUEQ_TOO_LARGE);
    draft.header_count = 1;

    headers[0] = (dueq_header){{text, DUEQ_MAX_HEADER_NAME}, BYTES("")};
    assert_int_equal(check(&draft), DUEQ_OK);
    headers[0].name.size++;
    assert_int_equal(check(&draft), DUEQ_TOO_LARGE);
    headers[0].name.size = 0;
    assert_int_equal(check(&draft), DUEQ_INVALID);
    headers[0].name = BYTES("a\n");
    assert_int_equal(check(&draft), DUEQ_INVALID);
    headers[0].name = BYTES("\xFF");
    assert_int_equal(check(&draft), DUEQ_INVALID);
    headers[0] = (dueq_header){BYTES("n"), BYTES("two\nlines\t")};
    assert_int_equal(check(&draft), DUEQ_OK);
    headers[0].value = BYTES("\xC3");
    assert_int_equal(check(&draft), DUEQ_INVALID);
}

static void test_ticket_golden(void **state) {
    (void)state;
    struct golden golden = golden_open("tickets");
    while (golden_next(&golden)) {
        struct dueq__ticket ticket = {0};
        size_t size = strlen(golden.field[0]);
        char *text = malloc(size); /* no NUL behind it */
        memcpy(text, golden.field[0], size);
        bool good = dueq__ticket_read((dueq_bytes){text, size}, &ticket);
        if (good != (strcmp(golden.field[1], "no ticket") != 0))
            fail_msg("%s", golden.field[0]);
        if (good) {
            const char *tag = golden_text(&golden, 2);
            assert_int_equal(ticket.deliveries, golden_number(&golden, 1));
            assert_bytes(tag ? BYTES(tag) : (dueq_bytes){0}, ticket.suffix);
            assert_bytes(BYTES(golden.field[3]), ticket.id);
        }
        free(text);
    }
    struct dueq__ticket ticket;
    assert_false(dueq__ticket_read((dueq_bytes){"", 0}, &ticket));
}

static void assert_cut(const char *whole, size_t least) {
    for (size_t size = 0; size < strlen(whole); size++) {
        struct dueq__ticket ticket;
        char *text = malloc(size ? size : 1);
        memcpy(text, whole, size);
        assert_int_equal(dueq__ticket_read((dueq_bytes){text, size}, &ticket), size > least);
        free(text);
    }
}

static void test_ticket_cut_anywhere(void **state) {
    (void)state;
    assert_cut("12.2Ai8sG1Tfb:bill-7", 14);
    assert_cut("12.2Ai8sG1Tfbl:bill-7", 15);
    assert_cut("0.h:bill-7", 4);
}

static int64_t time_of(const char *text) {
    struct dueq__ticket ticket;
    assert_true(dueq__ticket_read(BYTES(text), &ticket));
    return dueq__ticket_time(&ticket);
}

static void test_ticket_time(void **state) {
    (void)state;
    assert_int_equal(time_of("034q4HWvPr75LHPWlJby2F"), 1793541600000);
    assert_int_equal(time_of("3.l:034q4HWvPr75LHPWlJby2F"), 1793541600000);
    assert_int_equal(time_of("1.2AaIBtOKzz:bill-7"), 1793541600000);
    assert_int_equal(time_of("1.2AaIBtOKzzh:034q4HWvPr75LHPWlJby2G"), 1793541600000);
    assert_int_equal(time_of("1.h:bill-7"), -1);
    assert_int_equal(time_of("1:bill-7"), -1);
    assert_int_equal(time_of("1:2AaIBtOKzz"), -1); /* an id that looks like a stamp */
}

static bool read_attempts(const char *text, struct dueq__attempts *attempts) {
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1); /* no NUL behind it */
    memcpy(copy, text, size);
    bool good = dueq__attempts_read((dueq_bytes){copy, size}, attempts);
    if (good) {
        assert_true((const char *)attempts->error.data >= copy);
        assert_ptr_equal((const char *)attempts->error.data + attempts->error.size, copy + size);
    }
    free(copy);
    return good;
}

static void test_attempts_read(void **state) {
    (void)state;
    struct dueq__attempts attempts;
    assert_true(dueq__attempts_read(BYTES("7 2 3 2AaIBtOKzzh out of cheese "), &attempts));
    assert_int_equal(attempts.deliveries, 7);
    assert_int_equal(attempts.forgiven, 2);
    assert_int_equal(attempts.crashes, 3);
    assert_bytes(BYTES("out of cheese "), attempts.error);
    assert_true(read_attempts("0 0 0 - ", &attempts));
    assert_true(read_attempts("999999999 0 999999999 - x", &attempts));
}

static void test_attempts_read_damaged(void **state) {
    (void)state;
    static const char *const damaged[] = {
        "",          "1",          "1 0",          "1 0 0",           "1 0 0 ",
        "1 0 0 -",   "1 0 0  x",   " 1 0 0 - x",   "1  0 0 - x",      "x 0 0 - x",
        "1 2 0 - x", "3 2 2 - x",  "-1 0 0 - x",   "1 0 0\t- x",      "1000000000 0 0 - x",
        "1 0.0 - x", "1 0 -1 - x", "1 0 0x - why", "4294967297 0 0 -"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct dueq__attempts attempts;
        if (read_attempts(damaged[i], &attempts))
            fail_msg("'%s' is taken for attempts", damaged[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_envelope_write_golden),
        cmocka_unit_test(test_envelope_read_golden),
        cmocka_unit_test(test_envelope_created_is_the_id_s),
        cmocka_unit_test(test_envelope_read_cut_anywhere),
        cmocka_unit_test(test_envelope_read_damaged),
        cmocka_unit_test(test_envelope_read_random_bytes),
        cmocka_unit_test(test_draft_limits),
        cmocka_unit_test(test_draft_header_limits),
        cmocka_unit_test(test_ticket_golden),
        cmocka_unit_test(test_ticket_cut_anywhere),
        cmocka_unit_test(test_ticket_time),
        cmocka_unit_test(test_attempts_read),
        cmocka_unit_test(test_attempts_read_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
