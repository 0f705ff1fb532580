#include <pwd.h>
#include <unistd.h>

#include "golden.h"
#include "verbs/verbs.h"

static void assert_same(const char *url, const char *what, const char *expected, const char *got) {
    if ((!expected) != (!got) || (expected && strcmp(expected, got) != 0))
        fail_msg("%s: the %s is %s instead of %s", url, what, got ? got : "none",
                 expected ? expected : "none");
}

static void assert_number(const char *url, const char *what, int64_t expected, int64_t got) {
    if (expected != got)
        fail_msg("%s: the %s is %lld instead of %lld", url, what, (long long)got,
                 (long long)expected);
}

static void test_url_good(void **state) {
    (void)state;
    static const char *const transports[] = {"tcp", "tls", "unix", "embedded"};
    struct golden golden = golden_open("urls");
    while (golden_next(&golden)) {
        struct dueq__url url;
        struct dueq__error error = {0};
        const char *text = golden.field[0];
        if (dueq__url_parse(&url, text, &error) != DUEQ_OK)
            fail_msg("%s: %s", text, error.text);
        assert_same(text, "transport", golden_text(&golden, 1), transports[url.transport]);
        assert_same(text, "host", golden_text(&golden, 2), url.hosts ? url.hosts->host : NULL);
        assert_number(text, "port", golden_number(&golden, 3), url.hosts ? url.hosts->port : 0);
        assert_number(text, "topology", DUEQ__SINGLE, url.topology);
        assert_number(text, "db", golden_number(&golden, 4), url.db);
        assert_same(text, "user", golden_text(&golden, 5), url.user);
        assert_same(text, "password", golden_text(&golden, 6), url.password);
        assert_same(text, "path", golden_text(&golden, 7), url.path);
        assert_same(text, "ca", golden_text(&golden, 8), url.ca);
        assert_same(text, "cert", golden_text(&golden, 9), url.cert);
        assert_same(text, "key", golden_text(&golden, 10), url.key);
        assert_number(text, "timeout", golden_number(&golden, 11), url.timeout_ms);
        assert_same(text, "text to show", golden_text(&golden, 12), url.shown);
        dueq__url_clear(&url);
    }
}

static void add_address(char text[256], const char *between, struct dueq__address address) {
    size_t size = strlen(text);
    snprintf(text + size, 256 - size, "%s%s %d", size ? between : "", address.host, address.port);
}

static void test_url_of_several_servers(void **state) {
    (void)state;
    static const char *const topologies[] = {"single", "sentinel", "cluster"};
    struct golden golden = golden_open("server_urls");
    while (golden_next(&golden)) {
        struct dueq__url url;
        struct dueq__error error = {0};
        const char *text = golden.field[0];
        char hosts[256] = "", map[256] = "";
        if (dueq__url_parse(&url, text, &error) != DUEQ_OK)
            fail_msg("%s: %s", text, error.text);
        for (size_t i = 0; i < url.host_count; i++)
            add_address(hosts, ",", url.hosts[i]);
        for (size_t i = 0; i < url.map_count; i++) {
            add_address(map, ",", url.map[i].announced);
            add_address(map, " ", url.map[i].real);
        }
        const struct {
            const char *what, *is;
        } fields[] = {{"topology", topologies[url.topology]},
                      {"transport", url.transport == DUEQ__TLS ? "tls" : "tcp"},
                      {"hosts", hosts},
                      {"primary", url.primary},
                      {"db", NULL},
                      {"user", url.user},
                      {"password", url.password},
                      {"sentinels' user", url.sentinel.user},
                      {"sentinels' password", url.sentinel.password},
                      {"sentinels' ca", url.sentinel.ca},
                      {"sentinels' cert", url.sentinel.cert},
                      {"sentinels' key", url.sentinel.key},
                      {"TLS name", url.tls_name},
                      {"map", map[0] ? map : NULL},
                      {"text to show", url.shown}};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (strcmp(fields[i].what, "db") == 0)
                assert_number(text, "db", golden_number(&golden, i + 1), url.db);
            else
                assert_same(text, fields[i].what, golden_text(&golden, i + 1), fields[i].is);
        dueq__url_clear(&url);
    }
}

static void test_url_maps_what_servers_announce(void **state) {
    (void)state;
    struct dueq__url url;
    struct dueq__error error = {0};
    const char *text = "redis+cluster://h1?map=Inside:7000=out:1,inside:7001=[::1]:2";
    assert_int_equal(dueq__url_parse(&url, text, &error), DUEQ_OK);
    struct dueq__address first = dueq__url_reach(&url, (struct dueq__address){"inside", 7000});
    struct dueq__address second = dueq__url_reach(&url, (struct dueq__address){"INSIDE", 7001});
    struct dueq__address other = dueq__url_reach(&url, (struct dueq__address){"inside", 7002});
    assert_string_equal(first.host, "out");
    assert_int_equal(first.port, 1);
    assert_string_equal(second.host, "::1");
    assert_int_equal(second.port, 2);
    assert_string_equal(other.host, "inside");
    assert_int_equal(other.port, 7002);
    dueq__url_clear(&url);
}

static void test_url_bad(void **state) {
    (void)state;
    struct golden golden = golden_open("bad_urls");
    while (golden_next(&golden)) {
        struct dueq__url url;
        struct dueq__error error = {0};
        const char *text = golden_text(&golden, 0);
        if (dueq__url_parse(&url, text, &error) != DUEQ_URL)
            fail_msg("%s should be refused", text);
        assert_int_equal(error.status, DUEQ_URL);
        assert_true(error.text[0]);
        if (strstr(error.text, "secret"))
            fail_msg("%s: the text shows the password: %s", text, error.text);
        dueq__url_clear(&url);
    }
}

/* What can end where it should not: every beginning of good URLs parses or is refused. */
static void cut_anywhere(const char *name) {
    struct golden golden = golden_open(name);
    while (golden_next(&golden)) {
        size_t size = strlen(golden.field[0]);
        for (size_t length = 0; length < size; length++) {
            struct dueq__url url;
            struct dueq__error error = {0};
            char *text = strndup(golden.field[0], length); /* its own: reading past it is seen */
            dueq_status status = dueq__url_parse(&url, text, &error);
            assert_true(status == DUEQ_OK ? url.shown != NULL : error.text[0] != '\0');
            assert_true(status == DUEQ_OK || status == DUEQ_URL);
            dueq__url_clear(&url);
            free(text);
        }
    }
}

static void test_url_cut_anywhere(void **state) {
    (void)state;
    cut_anywhere("urls");
    cut_anywhere("server_urls");
}

static void test_open_with_a_bad_url(void **state) {
    (void)state;
    dueq_client *client;
    dueq_status status = dueq_open("http://localhost", &client);
    assert_non_null(client);
    assert_status(client, URL, status);
    assert_string_equal(dueq_client_url(client), "");
    assert_null(dueq_embedded_socket(client));
    dueq_close(client);
}

static void test_open_shows_no_password(void **state) {
    (void)state;
    dueq_client *client = open_client("redis://anna:secret@localhost:1/3");
    assert_string_equal(dueq_client_url(client), "redis://anna:***@localhost:1/3");
    dueq_close(client);
}

/* The default */

static const char *const names[] = {"DUEQ_URL", "DUEQ_REQUIRE_URL", "XDG_STATE_HOME", "HOME"};
#define NAMES (sizeof names / sizeof *names)
static char *kept[NAMES];

static int keep_environment(void **state) {
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        kept[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
        unsetenv(names[i]);
    }
    return 0;
}

static int restore_environment(void **state) {
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        if (kept[i])
            setenv(names[i], kept[i], 1);
        else
            unsetenv(names[i]);
        free(kept[i]);
    }
    return 0;
}

static char *default_url(void) {
    char *url = NULL;
    bool named;
    struct dueq__error error = {0};
    assert_int_equal(dueq__default_url(&url, &named, &error), DUEQ_OK);
    assert_int_equal(named, getenv("DUEQ_URL") && *getenv("DUEQ_URL"));
    return url;
}

static void assert_default(const char *expected) {
    char *url = default_url();
    assert_string_equal(url, expected);
    free(url);
}

static void test_default_is_dueq_url(void **state) {
    (void)state;
    setenv("HOME", "/home/anna", 1);
    setenv("XDG_STATE_HOME", "/home/anna/state", 1);
    setenv("DUEQ_URL", "redis://localhost/1", 1);
    assert_default("redis://localhost/1");
    dueq_client *client = open_client(NULL);
    assert_string_equal(dueq_client_url(client), "redis://localhost/1");
    dueq_close(client);
    setenv("DUEQ_URL", "", 1);
    assert_default("embedded:/home/anna/state/dueq");
}

static void test_default_is_the_state_directory(void **state) {
    (void)state;
    setenv("HOME", "/home/anna", 1);
    assert_default("embedded:/home/anna/.local/state/dueq");
    setenv("XDG_STATE_HOME", "/home/anna/state", 1);
    assert_default("embedded:/home/anna/state/dueq");
    setenv("XDG_STATE_HOME", "relative", 1);
    assert_default("embedded:/home/anna/.local/state/dueq");
}

static void test_default_without_a_home(void **state) {
    (void)state;
    const struct passwd *user = getpwuid(getuid());
    assert_non_null(user);
    char expected[4096];
    snprintf(expected, sizeof expected, "embedded:%s/.local/state/dueq", user->pw_dir);
    assert_default(expected);
    setenv("HOME", "relative", 1);
    assert_default(expected);
}

static void test_default_without_a_home_or_a_user_is_refused(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("not tried without root: a user that is in no passwd\n");
        skip();
    }
    pid_t child = fork();
    if (child == 0) {
        dueq_client *client;
        unsetenv("HOME");
        bool nobody = setuid(4000054321) == 0;
        bool refused = dueq_open(NULL, &client) == DUEQ_URL;
        const char *said = dueq_error_text(client);
        bool helpful = strstr(said, "DUEQ_URL") && strstr(said, "HOME") &&
                       strstr(said, "XDG_STATE_HOME") && strstr(said, "4000054321");
        _exit(!nobody + 2 * !refused + 4 * !helpful);
    }
    assert_int_equal(child_end(child), 0);
}

static void test_default_of_a_strange_home_comes_back(void **state) {
    (void)state;
    setenv("HOME", "/home/50% off?/größe@x", 1);
    char *text = default_url();
    struct dueq__url url;
    struct dueq__error error = {0};
    assert_int_equal(dueq__url_parse(&url, text, &error), DUEQ_OK);
    assert_int_equal(url.transport, DUEQ__EMBEDDED);
    assert_string_equal(url.path, "/home/50% off?/größe@x/.local/state/dueq");
    dueq__url_clear(&url);
    free(text);
}

/* In a child: what is said once a process was not said there yet. */
static void test_default_is_said_once_a_process(void **state) {
    (void)state;
    setenv("HOME", "/home/anna", 1);
    pid_t child = fork();
    if (child == 0) {
        dueq_client *named, *first, *second;
        bool opened = !dueq_open("embedded:/home/anna/.local/state/dueq", &named) &&
                      !dueq_open(NULL, &first) && !dueq_open(NULL, &second);
        bool silent = opened && !dueq_warning(named);
        const char *said = opened ? dueq_warning(first) : NULL;
        bool by_name =
            said && strncmp(said, "no DUEQ_URL: ", 13) == 0 &&
            strstr(said, "the private server embedded:/home/anna/.local/state/dueq, which");
        bool once = opened && !dueq_warning(first) && !dueq_warning(second);
        _exit(!opened + 2 * !silent + 4 * !by_name + 8 * !once);
    }
    assert_int_equal(child_end(child), 0);
}

static void test_default_is_refused_where_a_url_is_required(void **state) {
    (void)state;
    dueq_client *client;
    setenv("HOME", "/home/anna", 1);
    setenv("DUEQ_REQUIRE_URL", "1", 1);
    dueq_status status = dueq_open(NULL, &client);
    assert_status(client, URL, status);
    assert_non_null(strstr(dueq_error_text(client), "set DUEQ_URL"));
    dueq_close(client);
    dueq_close(open_client("embedded:/home/anna/shop"));
    setenv("DUEQ_URL", "redis://localhost/1", 1);
    assert_default("redis://localhost/1");
    unsetenv("DUEQ_URL");
    setenv("DUEQ_REQUIRE_URL", "0", 1);
    assert_default("embedded:/home/anna/.local/state/dueq");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url_good),
        cmocka_unit_test(test_url_of_several_servers),
        cmocka_unit_test(test_url_maps_what_servers_announce),
        cmocka_unit_test(test_url_bad),
        cmocka_unit_test(test_url_cut_anywhere),
        cmocka_unit_test(test_open_with_a_bad_url),
        cmocka_unit_test(test_open_shows_no_password),
        cmocka_unit_test_setup_teardown(test_default_is_dueq_url, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_default_is_the_state_directory, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_default_without_a_home, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_default_without_a_home_or_a_user_is_refused,
                                        keep_environment, restore_environment),
        cmocka_unit_test_setup_teardown(test_default_of_a_strange_home_comes_back, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_default_is_said_once_a_process, keep_environment,
                                        restore_environment),
        cmocka_unit_test_setup_teardown(test_default_is_refused_where_a_url_is_required,
                                        keep_environment, restore_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
