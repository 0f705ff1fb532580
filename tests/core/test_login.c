/*
 * What a client learns when it connects: why it is not let in, and what the operator should know.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

/* Far less than a call's deadline, which is 10 s. */
#define AT_ONCE_MS 5000

/* One push to a URL; asserts that it fails at once, with a text that has this in it. */
static void assert_refused(const char *url, dueq_status expected, const char *says) {
    struct jobs other = jobs_open(url);
    int64_t start = now_ms();
    dueq_status status = push_text(other.queue, "x");
    int64_t took = now_ms() - start;
    assert_status_(other.client, expected, status, __FILE__, __LINE__);
    if (!strstr(dueq_error_text(other.client), says))
        fail_msg("not said: %s: %s", says, dueq_error_text(other.client));
    assert_true(took < AT_ONCE_MS);
    jobs_close(other);
}

static void test_push_to_a_protected_server_says_so(void **state) {
    (void)state;
    /* It trusts its own machine: it must be asked by another address of that. */
    struct server guarded;
    char port[12], inside[64], outside[64];
    FILE *addresses = popen("hostname -I", "r");
    char first[40] = "";
    assert_non_null(addresses);
    assert_int_equal(fscanf(addresses, "%39s", first), 1);
    pclose(addresses);
    int number = free_port();
    snprintf(port, sizeof port, "%d", number);
    server_start_with(&guarded, (const char *const[]){"--port", port, NULL});
    snprintf(outside, sizeof outside, "redis://%s:%d", first, number);
    assert_refused(outside, DUEQ_CONNECT, "protected mode");
    snprintf(inside, sizeof inside, "redis://127.0.0.1:%d", number);
    assert_push(OK, inside);
    server_stop(&guarded);
}

static void test_push_to_a_server_with_too_many_clients_says_so(void **state) {
    (void)state;
    redisContext *held[2] = {redisConnectUnix(server.socket), redisConnectUnix(server.socket)};
    freeReplyObject(redisCommand(held[0], "CONFIG SET maxclients 2"));
    freeReplyObject(redisCommand(held[1], "PING"));
    assert_refused(server.url, DUEQ_CONNECT, "max number of clients");
    freeReplyObject(redisCommand(held[0], "CONFIG SET maxclients 1000"));
    redisFree(held[0]);
    redisFree(held[1]);
    assert_push(OK, server.url);
}

/* Versions */

/* Answers every command by +OK, but INFO by this; a true server of that age is hard to come by. */
static pid_t pretend(const char *info) {
    pid_t other = fork();
    assert_true(other >= 0);
    if (other > 0)
        return other;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char script[1024];
    snprintf(script, sizeof script,
             "import socket\ns=socket.socket(socket.AF_UNIX)\ns.bind('%s/old')\ns.listen()\n"
             "while 1:\n c=s.accept()[0]\n f=c.makefile('rb')\n while 1:\n"
             "  head=f.readline()\n  if not head: break\n"
             "  words=[f.read(int(f.readline()[1:])+2)[:-2] for _ in range(int(head[1:]))]\n"
             "  info=b'%s'\n"
             "  c.sendall(b'$%%d\\r\\n%%s\\r\\n'%%(len(info),info) if words[0]==b'INFO' "
             "else b'+OK\\r\\n')\n",
             server.dir, info);
    execlp("python3", "python3", "-c", script, NULL);
    _exit(127);
}

static void await_pretender(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/old", server.dir);
    for (int64_t end = now_ms() + 20000; now_ms() < end;) {
        redisContext *context = redisConnectUnix(path);
        bool up = context && !context->err;
        redisFree(context);
        if (up)
            return;
        poll(NULL, 0, 5);
    }
    fail_msg("the pretended server does not answer");
}

static void expect_version(const char *info, dueq_status expected, const char *says) {
    char url[160];
    pid_t other = pretend(info);
    await_pretender();
    snprintf(url, sizeof url, "unix://%s/old?timeout=8s", server.dir);
    assert_refused(url, expected, says);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    snprintf(url, sizeof url, "%s/old", server.dir);
    unlink(url);
}

static void test_push_to_an_old_server_says_so(void **state) {
    (void)state;
    expect_version("# Server\\r\\nredis_version:6.0.16\\r\\n", DUEQ_UNSUPPORTED, "Redis 6.0.16");
    expect_version("# Server\\r\\nredis_version:5.0.7\\r\\n", DUEQ_UNSUPPORTED, "Redis 5.0.7");
    /* Those get on to the push, to which +OK is no answer. */
    expect_version("# Server\\r\\nredis_version:6.2.0\\r\\n", DUEQ_PROTOCOL, "push");
    expect_version("# Server\\r\\nredis_version:7.2.4\\r\\nvalkey_version:9.0.0\\r\\n",
                   DUEQ_PROTOCOL, "push");
    expect_version("nothing that is known", DUEQ_PROTOCOL, "push");
}

/* Servers that evict */

/* What a new client is warned of by its first push; "": nothing. */
static const char *warning_at(const char *url) {
    static char kept[700];
    struct jobs other = jobs_open(url);
    assert_null(dueq_warning(other.client));
    assert_status(other.client, OK, push_text(other.queue, "x"));
    const char *warning = dueq_warning(other.client);
    snprintf(kept, sizeof kept, "%s", warning ? warning : "");
    assert_null(dueq_warning(other.client));
    jobs_close(other);
    return kept;
}

static void set_memory(const char *limit, const char *policy) {
    run_command(&server, "CONFIG SET maxmemory %s", limit);
    run_command(&server, "CONFIG SET maxmemory-policy %s", policy);
}

static void test_client_warns_of_a_server_that_evicts_once(void **state) {
    (void)state;
    set_memory("500mb", "allkeys-lru");
    const char *warning = warning_at(server.url);
    assert_non_null(strstr(warning, "allkeys-lru"));
    assert_non_null(strstr(warning, "messages"));
    assert_string_equal(warning_at(server.url), ""); /* said in this process */
    assert_string_equal(warning_at(url_with("", "?evicting=accept")), "");
    set_memory("500mb", "volatile-ttl");
    assert_non_null(strstr(warning_at(url_with("", "?timeout=9s")), "volatile-ttl"));
    /* Without a limit nothing is evicted. */
    set_memory("0", "allkeys-lru");
    assert_string_equal(warning_at(url_with("", "?timeout=8s")), "");
    set_memory("500mb", "noeviction");
    assert_string_equal(warning_at(url_with("", "?timeout=7s")), "");
    set_memory("500mb", "allkeys-random");
    run_command(&server,
                "ACL SETUSER eve on >pw ~* &* +@all -info"); /* it is not permitted to know */
    assert_string_equal(warning_at(url_with("eve:pw@", "")), "");
    set_memory("0", "noeviction");
}

static void test_stats_say_that_the_server_evicts(void **state) {
    (void)state;
    dueq_counts counts = DUEQ_COUNTS;
    assert_status(jobs.client, OK, dueq_stats(jobs.queue, &counts));
    assert_int_equal(counts.evicting, 0);
    set_memory("500mb", "allkeys-lru");
    struct jobs other = jobs_open(server.url), calm = jobs_open(url_with("", "?evicting=accept"));
    assert_status(other.client, OK, dueq_stats(other.queue, &counts));
    assert_int_equal(counts.evicting, 1);
    assert_status(calm.client, OK, dueq_stats(calm.queue, &counts));
    assert_int_equal(counts.evicting, 0);
    jobs_close(calm);
    jobs_close(other);
    set_memory("0", "noeviction");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_to_a_protected_server_says_so),
        TEST(test_push_to_a_server_with_too_many_clients_says_so),
        TEST(test_push_to_an_old_server_says_so),
        TEST(test_client_warns_of_a_server_that_evicts_once),
        TEST(test_stats_say_that_the_server_evicts),
    };
    return run_on_server(tests, NULL);
}
