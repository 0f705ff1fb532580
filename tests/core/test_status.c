#include "support.h"
#include "verbs/verbs.h"

static const struct {
    dueq_status status;
    const char *name;
    int retriable;
} rows[] = {
#define ROW(code, name, retriable, text) {(dueq_status)(code), #name, retriable},
    DUEQ_STATUS_TABLE(ROW)
#undef ROW
};
#define COUNT (sizeof rows / sizeof *rows)

static void test_status_has_name_and_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_string_equal(dueq_status_name(rows[i].status), rows[i].name);
        assert_true(dueq_status_text(rows[i].status)[0]);
        assert_int_equal(dueq_status_retriable(rows[i].status), rows[i].retriable);
    }
}

static void test_status_texts_and_codes_are_their_own(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(rows[i].status, rows[k].status);
            assert_string_not_equal(rows[i].name, rows[k].name);
            assert_string_not_equal(dueq_status_text(rows[i].status),
                                    dueq_status_text(rows[k].status));
        }
}

static void test_status_taken(void **state) {
    (void)state;
    assert_int_equal(DUEQ_TAKEN, 8);
    assert_string_equal(dueq_status_name(DUEQ_TAKEN), "TAKEN");
    assert_int_equal(dueq_status_retriable(DUEQ_TAKEN), 1);
}

static void test_status_unknown(void **state) {
    (void)state;
    static const int unknown[] = {9, 100, -7, -9, -19, -36, -1000};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        dueq_status status = (dueq_status)unknown[i];
        assert_string_equal(dueq_status_name(status), "UNKNOWN");
        assert_true(dueq_status_text(status)[0]);
        assert_int_equal(dueq_status_retriable(status), 0);
    }
}

static void test_failure_shows_what_a_terminal_would_obey(void **state) {
    (void)state;
    static const struct {
        const char *met, *shown;
    } texts[] = {
        {"plain, Gr\xC3\xB6\xC3\x9F"
         "e \xF0\x9F\xA7\x80",
         "plain, Gr\xC3\xB6\xC3\x9F"
         "e \xF0\x9F\xA7\x80"},
        {"\x1b]0;x\x07 a\r\nb\x7f", "\\x1b]0;x\\x07 a\\x0d\\x0a"
                                    "b\\x7f"},
        {"\xC2\x9B"
         "2J \x9B",
         "\\u009b"
         "2J \\x9b"},
        {"a\xE2\x80\xAE"
         "b\xE2\x81\xA6\xD8\x9C",
         "a\\u202e"
         "b\\u2066\\u061c"},
        {"\xC0\xAF \xE2\x82", "\\xc0\\xaf \\xe2\\x82"},
    };
    struct dueq__error error;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dueq__fail(&error, DUEQ_SERVER, "%s", texts[i].met);
        assert_string_equal(error.text, texts[i].shown);
    }
    char many[2000];
    memset(many, 0x1b, sizeof many - 1);
    many[sizeof many - 1] = '\0';
    dueq__fail(&error, DUEQ_SERVER, "%s", many);
    assert_in_range(strlen(error.text), 400, sizeof error.text - 1);
}

static void test_state_names(void **state) {
    (void)state;
    assert_string_equal(dueq_state_name(DUEQ_READY), "ready");
    assert_string_equal(dueq_state_name(DUEQ_DELAYED), "delayed");
    assert_string_equal(dueq_state_name(DUEQ_LEASED), "leased");
    assert_string_equal(dueq_state_name(DUEQ_DEAD), "dead");
    assert_string_equal(dueq_state_name((dueq_state)0), "unknown");
    assert_string_equal(dueq_state_name(DUEQ_OUTBOX), "outbox");
    assert_string_equal(dueq_state_name((dueq_state)6), "unknown");
}

static void test_version_is_the_header_s(void **state) {
    (void)state;
    assert_string_equal(dueq_version(), DUEQ_VERSION);
}

static void test_fail_keeps_a_text(void **state) {
    (void)state;
    struct dueq__error error = {0};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(dueq__fail(&error, rows[i].status, NULL), rows[i].status);
        assert_int_equal(error.status, rows[i].status);
        assert_string_equal(error.text, dueq_status_text(rows[i].status));
    }
    assert_int_equal(dueq__fail(&error, DUEQ_SERVER, "%s: %d", "why", 7), DUEQ_SERVER);
    assert_string_equal(error.text, "why: 7");
}

static void test_fail_cuts_a_long_text(void **state) {
    (void)state;
    struct dueq__error error = {0};
    char text[2 * sizeof error.text];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    dueq__fail(&error, DUEQ_SERVER, "%s", text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void test_error_text_without_a_client(void **state) {
    (void)state;
    assert_string_equal(dueq_error_text(NULL), "");
    dueq_client *client = open_client("redis://");
    assert_string_equal(dueq_error_text(client), "");
    assert_status(client, INVALID, dueq_pump(client));
    assert_status(client, INVALID, dueq_take(client, NULL));
    dueq_close(client);
    dueq_close(NULL);
    dueq_queue_close(NULL);
    dueq_result_free(NULL);
}

static void test_result_none(void **state) {
    (void)state;
    assert_int_equal(dueq_result_count(NULL), 0);
    assert_int_equal(dueq_result_quarantined(NULL), 0);
    assert_int_equal(dueq_result_status(NULL, 0), DUEQ_INVALID);
    assert_int_equal(dueq_result_id(NULL, 0).size, 0);
    assert_null(dueq_result_message(NULL, 0));
    assert_null(dueq_result_counts(NULL));
    assert_null(dueq_result_rate(NULL, 0));
    assert_int_equal(dueq_result_purged(NULL), 0);
    assert_int_equal(dueq_result_kicked(NULL), 0);
    assert_int_equal(dueq_result_queue(NULL), 0);
    assert_int_equal(dueq_result_cursor(NULL).size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_has_name_and_text),
        cmocka_unit_test(test_status_texts_and_codes_are_their_own),
        cmocka_unit_test(test_status_taken),
        cmocka_unit_test(test_status_unknown),
        cmocka_unit_test(test_failure_shows_what_a_terminal_would_obey),
        cmocka_unit_test(test_state_names),
        cmocka_unit_test(test_version_is_the_header_s),
        cmocka_unit_test(test_fail_keeps_a_text),
        cmocka_unit_test(test_fail_cuts_a_long_text),
        cmocka_unit_test(test_error_text_without_a_client),
        cmocka_unit_test(test_result_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
