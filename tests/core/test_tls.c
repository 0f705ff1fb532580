/* rediss://: the peer's name is verified, client certificates work, and nothing else changes. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "net/tls.h"
#include "support.h"

static struct server server;
static char dir[64];
static int port;

static const char *const make_certificates =
    "cd %s && exec 2>/dev/null && "
    "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out "
    "ca.pem && "
    "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other-ca -keyout x.key -out x.pem "
    "&& "
    "for name in localhost elsewhere; do "
    "openssl req -newkey rsa:2048 -nodes -subj /CN=$name -keyout $name.key -out $name.csr && "
    "printf 'subjectAltName=DNS:%%s,IP:127.0.0.%%s' $name $(test $name = localhost && echo 1 || "
    "echo 9) "
    "> $name.ext && openssl x509 -req -days 2 -in $name.csr -CA ca.pem -CAkey ca.key "
    "-CAcreateserial "
    "-extfile $name.ext -out $name.pem || exit 1; done && "
    "cp localhost.key expired.key && openssl x509 -req -days 0 -in localhost.csr -CA ca.pem "
    "-CAkey ca.key -CAcreateserial -extfile localhost.ext -out expired.pem && "
    "cp localhost.key self.key && openssl x509 -req -days 2 -in localhost.csr -signkey self.key "
    "-extfile localhost.ext -out self.pem && "
    "cp localhost.key nameless.key && openssl x509 -req -days 2 -in localhost.csr -CA ca.pem "
    "-CAkey ca.key -CAcreateserial -out nameless.pem";

static void file(char out[128], const char *name) { snprintf(out, 128, "%s/%s", dir, name); }

static void start_server(const char *certificate, const char *verifies) {
    static char words[4][128], number[12];
    char name[64];
    port = free_port();
    snprintf(number, sizeof number, "%d", port);
    snprintf(name, sizeof name, "%s.pem", certificate);
    file(words[0], name);
    snprintf(name, sizeof name, "%s.key", certificate);
    file(words[1], name);
    file(words[2], "ca.pem");
    server_start_with(&server,
                      (const char *const[]){"--tls-port", number, "--tls-cert-file", words[0],
                                            "--tls-key-file", words[1], "--tls-ca-cert-file",
                                            words[2], "--tls-auth-clients", verifies, NULL});
}

/* One push and a waited-for reserve on the URL's parameters. */
static void expect(const char *host, const char *parameters, dueq_status expected) {
    char url[600];
    snprintf(url, sizeof url, "rediss://%s:%d?timeout=3s%s", host, port, parameters);
    struct jobs jobs = jobs_open(url);
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = BYTES("sealed");
    draft.delay_ms = 50;
    dueq_status status = dueq_push(jobs.queue, &draft, 1, NULL);
    assert_status_(jobs.client, expected, status, __FILE__, __LINE__);
    if (status == DUEQ_OK) {
        dueq_result *result;
        const dueq_message *message = reserve_one(jobs.queue, 5000, 0, &result);
        assert_memory_equal(message->body.data, "sealed", 6);
        dueq_result_free(result);
    }
    jobs_close(jobs);
}

static void test_push_over_tls_verifies_the_server(void **state) {
    (void)state;
    char good[200], other[200], missing[200];
    start_server("localhost", "no");
    snprintf(good, sizeof good, "&ca=%s/ca.pem", dir);
    snprintf(other, sizeof other, "&ca=%s/x.pem", dir);
    snprintf(missing, sizeof missing, "&ca=%s/missing.pem", dir);
    expect("localhost", good, DUEQ_OK);
    expect("127.0.0.1", good, DUEQ_OK);
    expect("localhost", other, DUEQ_TLS);
    expect("localhost", "", DUEQ_TLS);
    expect("localhost", missing, DUEQ_TLS);
    server_stop(&server);
}

static void test_push_over_tls_refuses_another_name(void **state) {
    (void)state;
    char good[200];
    start_server("elsewhere", "no");
    snprintf(good, sizeof good, "&ca=%s/ca.pem", dir);
    expect("localhost", good, DUEQ_TLS);
    expect("127.0.0.1", good, DUEQ_TLS);
    server_stop(&server);
}

static void test_push_over_tls_refuses_what_is_expired_or_signed_by_itself(void **state) {
    const char *const names[] = {"expired", "self"};
    char good[200];
    (void)state;
    snprintf(good, sizeof good, "&ca=%s/ca.pem", dir);
    for (int i = 0; i < 2; i++) {
        start_server(names[i], "no");
        expect("localhost", good, DUEQ_TLS);
        expect("127.0.0.1", good, DUEQ_TLS);
        server_stop(&server);
    }
}

/* Its common name is localhost, and it has no subjectAltName. */
static void test_push_over_tls_refuses_a_certificate_without_names(void **state) {
    char good[200];
    (void)state;
    snprintf(good, sizeof good, "&ca=%s/ca.pem", dir);
    start_server("nameless", "no");
    expect("localhost", good, DUEQ_TLS);
    expect("127.0.0.1", good, DUEQ_TLS);
    server_stop(&server);
}

static void test_push_over_tls_refuses_an_old_version(void **state) {
    (void)state;
    char good[200];
    start_server("localhost", "no");
    snprintf(good, sizeof good, "&ca=%s/ca.pem", dir);
    expect("localhost", good, DUEQ_OK);
    run_command(&server, "CONFIG SET tls-protocols %s", "TLSv1 TLSv1.1");
    expect("localhost", good, DUEQ_TLS);
    server_stop(&server);
}

static void test_push_over_tls_with_a_client_certificate(void **state) {
    (void)state;
    char without[200], with[400];
    start_server("localhost", "yes");
    snprintf(without, sizeof without, "&ca=%s/ca.pem", dir);
    snprintf(with, sizeof with, "&ca=%s/ca.pem&cert=%s/elsewhere.pem&key=%s/elsewhere.key", dir,
             dir, dir);
    expect("localhost", with, DUEQ_OK);
    char url[600];
    snprintf(url, sizeof url, "rediss://localhost:%d?timeout=20s%s", port, without);
    struct jobs jobs = jobs_open(url);
    /*
     * With TLS 1.3 the refusal comes when the handshake is over: it is told at once all the same.
     */
    int64_t start = now_ms();
    dueq_status status = dueq_stats(jobs.queue, NULL);
    assert_true(now_ms() - start < 8000);
    assert_status(jobs.client, TLS, status);
    assert_non_null(strstr(dueq_error_text(jobs.client), "certificate"));
    jobs_close(jobs);
    server_stop(&server);
}

static void test_push_over_tls_to_a_plain_port(void **state) {
    (void)state;
    char number[12];
    port = free_port();
    snprintf(number, sizeof number, "%d", port);
    server_start_with(&server, (const char *const[]){"--port", number, NULL});
    expect("127.0.0.1", "", DUEQ_TLS);
    server_stop(&server);
}

static void test_push_of_a_large_body_over_tls(void **state) {
    (void)state;
    char url[300];
    start_server("localhost", "no");
    snprintf(url, sizeof url, "rediss://localhost:%d?ca=%s/ca.pem", port, dir);
    struct jobs jobs = jobs_open(url);
    round_trip(jobs, (size_t)8 << 20);
    jobs_close(jobs);
    server_stop(&server);
}

/* Did the client's connection resume a session? */
static bool resumes(const char *url) {
    struct jobs jobs = jobs_open(url);
    assert_status(jobs.client, OK, push_text(jobs.queue, "sealed"));
    bool resumed = SSL_session_reused(jobs.client->node->conn.tls->ssl);
    jobs_close(jobs);
    return resumed;
}

static void copy(const char *from, const char *to) {
    char line[300];
    snprintf(line, sizeof line, "cp %s/%s %s/new && mv %s/new %s/%s", dir, from, dir, dir, dir, to);
    assert_int_equal(system(line), 0);
}

static void test_connections_over_tls_resume_the_session_with_their_server(void **state) {
    (void)state;
    const char *const versions[] = {"TLSv1.2", "TLSv1.3"};
    for (int i = 0; i < 2; i++) {
        char url[300], by_address[300];
        start_server("localhost", "no");
        run_command(&server, "CONFIG SET tls-protocols %s", versions[i]);
        snprintf(url, sizeof url, "rediss://localhost:%d?ca=%s/ca.pem", port, dir);
        snprintf(by_address, sizeof by_address, "rediss://127.0.0.1:%d?ca=%s/ca.pem", port, dir);
        assert_false(resumes(url));
        assert_true(resumes(url));
        assert_true(resumes(url));
        /* Under another name its certificate counts anew. */
        assert_false(resumes(by_address));
        server_stop(&server);
    }
}

static void test_connections_over_tls_read_files_that_have_changed(void **state) {
    (void)state;
    char url[300], other[300];
    start_server("localhost", "no");
    copy("ca.pem", "used.pem");
    snprintf(url, sizeof url, "rediss://localhost:%d?ca=%s/used.pem", port, dir);
    snprintf(other, sizeof other, "&ca=%s/used.pem", dir);
    assert_false(resumes(url));
    copy("x.pem", "used.pem");
    expect("localhost", other, DUEQ_TLS);
    copy("ca.pem", "used.pem");
    assert_false(resumes(url));
    assert_true(resumes(url));
    server_stop(&server);
}

/* Another server may be there after a restart, which knows no session. */
static void test_connections_over_tls_begin_anew_where_the_session_is_unknown(void **state) {
    (void)state;
    char url[300], parameters[200];
    start_server("localhost", "no");
    snprintf(url, sizeof url, "rediss://localhost:%d?ca=%s/ca.pem", port, dir);
    snprintf(parameters, sizeof parameters, "&ca=%s/ca.pem", dir);
    assert_false(resumes(url));
    assert_true(resumes(url));
    char name[128], key[128];
    file(name, "self.pem");
    file(key, "self.key");
    run_command(&server, "CONFIG SET tls-cert-file %s tls-key-file %s", name, key);
    expect("localhost", parameters, DUEQ_TLS);
    server_stop(&server);
}

/* Threads whose connections begin and end while the process forks */

#define THREADS 3
#define FORKS 300
/* No child needs so long, but one that waits for a lock for ever. */
#define HUNG_S 60

static atomic_bool over;

static void *connect_often(void *url) {
    while (!over)
        resumes(url);
    return NULL;
}

/* As after a handshake that failed. */
static void *forget_often(void *url) {
    struct jobs jobs = jobs_open(url);
    assert_status(jobs.client, OK, push_text(jobs.queue, "sealed"));
    while (!over)
        assert_true(dueq__tls_forget_session(jobs.client->node->conn.tls));
    jobs_close(jobs);
    return NULL;
}

static void test_children_forked_beside_tls_do_not_hang(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    char url[300];
    start_server("localhost", "no");
    snprintf(url, sizeof url, "rediss://localhost:%d?ca=%s/ca.pem&timeout=30s", port, dir);
    over = false;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i ? connect_often : forget_often, url),
                         0);
    for (int i = 0; i < FORKS; i++) {
        int end = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(HUNG_S);
            resumes(url);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &end, 0), child);
        assert_int_equal(end, 0);
    }
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    server_stop(&server);
}

static void test_ca_file_is_the_systems_before_the_fallback(void **state) {
    (void)state;
    char ca[128], other[128];
    file(ca, "ca.pem");
    file(other, "x.pem");
    const char *const with_bundle[] = {"/nowhere/a.pem", ca, NULL};
    const char *const without[] = {"/nowhere/a.pem", "/nowhere/b.pem", NULL};
    const char *before = getenv("SSL_CERT_FILE");
    char *kept = before ? strdup(before) : NULL;
    unsetenv("SSL_CERT_FILE");
    assert_string_equal(dueq__tls_ca_file(without), "/nowhere/a.pem");
    dueq_set_fallbacks(other, NULL);
    assert_string_equal(dueq__tls_ca_file(with_bundle), ca);
    assert_string_equal(dueq__tls_ca_file(without), other);
    setenv("SSL_CERT_FILE", "/named.pem", 1);
    assert_string_equal(dueq__tls_ca_file(with_bundle), "/named.pem");
    unsetenv("SSL_CERT_FILE");
    dueq_set_fallbacks("/nowhere/c.pem", NULL);
    assert_string_equal(dueq__tls_ca_file(without), "/nowhere/a.pem");
    dueq_set_fallbacks(NULL, NULL);
    if (kept)
        setenv("SSL_CERT_FILE", kept, 1);
    free(kept);
}

static int set_up(void **state) {
    (void)state;
    char line[2000];
    snprintf(dir, sizeof dir, "/tmp/dueq-tls-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(line, sizeof line, make_certificates, dir);
    assert_int_equal(system(line), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char line[100];
    snprintf(line, sizeof line, "rm -rf %s", dir);
    return system(line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_over_tls_verifies_the_server),
        cmocka_unit_test(test_push_over_tls_refuses_another_name),
        cmocka_unit_test(test_push_over_tls_refuses_what_is_expired_or_signed_by_itself),
        cmocka_unit_test(test_push_over_tls_refuses_a_certificate_without_names),
        cmocka_unit_test(test_push_over_tls_refuses_an_old_version),
        cmocka_unit_test(test_push_over_tls_with_a_client_certificate),
        cmocka_unit_test(test_push_over_tls_to_a_plain_port),
        cmocka_unit_test(test_push_of_a_large_body_over_tls),
        cmocka_unit_test(test_ca_file_is_the_systems_before_the_fallback),
        cmocka_unit_test(test_connections_over_tls_resume_the_session_with_their_server),
        cmocka_unit_test(test_connections_over_tls_read_files_that_have_changed),
        cmocka_unit_test(test_connections_over_tls_begin_anew_where_the_session_is_unknown),
        cmocka_unit_test(test_children_forked_beside_tls_do_not_hang),
    };
    if (!server_has_tls()) {
        puts("skipped: this server was built without TLS");
        return 0;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
