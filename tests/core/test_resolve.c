/*
 * Names that resolve late. The name server is this file's getaddrinfo(), which really waits: until
 * a test lets it answer, or LONGEST_MS have passed. Numeric addresses go to the C library's.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fixture.h"

#define LONGEST_MS 6000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool silent;
static int asked;
static bool gets_signals;

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **found) {
    int (*usual)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    *(void **)&usual = dlsym(RTLD_NEXT, "getaddrinfo");
    if (strcmp(host, "queues.example.com") != 0 || (hints->ai_flags & AI_NUMERICHOST))
        return usual(host, port, hints, found);
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LONGEST_MS / 1000;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    pthread_mutex_lock(&lock);
    gets_signals = !sigismember(&mask, SIGTERM) || !sigismember(&mask, SIGINT);
    asked++;
    pthread_cond_broadcast(&changed);
    while (silent && pthread_cond_timedwait(&changed, &lock, &end) == 0)
        ;
    pthread_mutex_unlock(&lock);
    return usual("127.0.0.1", port, hints, found);
}

static void keep_silent(void) {
    pthread_mutex_lock(&lock);
    silent = true;
    pthread_mutex_unlock(&lock);
}

static void answer(void) {
    pthread_mutex_lock(&lock);
    silent = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await_asked(int times) {
    pthread_mutex_lock(&lock);
    while (asked < times)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static int times_asked(void) {
    pthread_mutex_lock(&lock);
    int times = asked;
    pthread_mutex_unlock(&lock);
    return times;
}

static int port;

static const char *named(const char *parameters) {
    static char url[128];
    snprintf(url, sizeof url, "redis://queues.example.com:%d%s", port, parameters);
    return url;
}

static int set_up(void **state) {
    asked = 0;
    gets_signals = false;
    keep_silent();
    return set_up_jobs(state);
}

static size_t threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/*
 * Waits until the threads of all who asked have ended. One that has its answer, and has not ended
 * yet, would be shared by the next test, which counts who asks.
 */
static int tear_down(void **state) {
    const struct timespec pause = {.tv_nsec = 1000000};
    answer();
    for (int64_t end = now_ms() + 20000; threads() > 1 && now_ms() < end;)
        nanosleep(&pause, NULL);
    return tear_down_jobs(state);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void assert_says_so(const dueq_client *client) {
    assert_non_null(strstr(dueq_error_text(client), "queues.example.com"));
    assert_non_null(strstr(dueq_error_text(client), "the name resolution did not answer"));
}

static void test_push_keeps_its_deadline(void **state) {
    (void)state;
    struct jobs late = jobs_open(named("?timeout=500ms"));
    int64_t start = now_ms();
    dueq_status status = push_text(late.queue, "a");
    assert_in_range(now_ms() - start, 499, 2500);
    assert_status(late.client, CONNECT, status);
    assert_says_so(late.client);
    answer();
    assert_status(late.client, OK, push_text(late.queue, "a"));
    assert_false(gets_signals);
    jobs_close(late);
}

static void test_calls_that_time_out_share_one_resolution(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct jobs late = jobs_open(named("?timeout=100ms"));
        for (int k = 0; k < 2; k++) {
            assert_status(late.client, CONNECT, push_text(late.queue, "a"));
            assert_says_so(late.client);
        }
        jobs_close(late);
    }
    assert_int_equal(times_asked(), 1);
}

static void test_pump_never_waits_and_the_descriptor_tells(void **state) {
    (void)state;
    struct jobs one = jobs_open(named("?timeout=30s")), other = jobs_open(named("?timeout=30s"));
    dueq_draft draft = DUEQ_DRAFT;
    dueq_client *clients[] = {one.client, other.client};
    int64_t start = now_ms();
    assert_status(one.client, PENDING, dueq_push_submit(one.queue, &draft, 1));
    assert_status(other.client, PENDING, dueq_push_submit(other.queue, &draft, 1));
    struct pollfd slots[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dueq_pump(clients[i]), DUEQ_PENDING);
        slots[i] = (struct pollfd){.fd = dueq_descriptor(clients[i]), .events = POLLIN};
    }
    await_asked(1);
    assert_int_equal(poll(slots, 2, 0), 0);
    struct pollfd set[DUEQ_MAX_SOCKETS];
    int timeout_ms;
    assert_int_equal(dueq_poll_set(one.client, set, &timeout_ms), 1);
    assert_in_range(timeout_ms, 20000, 30000);
    assert_true(now_ms() - start < 3000);
    answer();
    /* One answer serves both. */
    for (int i = 0; i < 2; i++) {
        dueq_status status = DUEQ_PENDING;
        size_t pumps = 0;
        while (status == DUEQ_PENDING && pumps++ < 30) {
            assert_int_equal(poll(&slots[i], 1, 20000), 1);
            status = dueq_pump(clients[i]);
        }
        assert_status(clients[i], OK, status);
        dueq_take(clients[i], NULL);
    }
    assert_int_equal(times_asked(), 1);
    jobs_close(one);
    jobs_close(other);
}

static void test_abandoned_and_closed_while_it_resolves(void **state) {
    (void)state;
    struct jobs one = jobs_open(named("?timeout=30s"));
    dueq_draft draft = DUEQ_DRAFT;
    int64_t start = now_ms();
    assert_status(one.client, PENDING, dueq_push_submit(one.queue, &draft, 1));
    assert_int_equal(dueq_pump(one.client), DUEQ_PENDING);
    await_asked(1);
    dueq_abandon(one.client);
    jobs_close(one);
    assert_true(now_ms() - start < 2000);
}

static void test_wait_whose_second_connection_resolves_ends_in_time(void **state) {
    (void)state;
    answer();
    struct jobs one = jobs_open(named("?timeout=30s"));
    assert_status(one.client, OK, push_text(one.queue, "a"));
    assert_status(one.client, OK, dueq_reserve(one.queue, 1, 0, 60000, NULL));
    keep_silent();
    int64_t start = now_ms();
    assert_status(one.client, EMPTY, dueq_reserve(one.queue, 1, 2500, 0, NULL));
    assert_in_range(now_ms() - start, 2499, 5500);
    assert_int_equal(times_asked(), 2);
    jobs_close(one);
}

static void test_heartbeat_that_resolves_ends_at_once(void **state) {
    (void)state;
    answer();
    struct jobs one = jobs_open(named("?timeout=30s"));
    assert_status(one.client, OK, push_text(one.queue, "a"));
    dueq_consumer_options options = {.struct_size = sizeof(dueq_consumer_options),
                                     .prefetch = 1,
                                     .lease_ms = 300,
                                     .max_run_ms = 60000};
    dueq_consumer *consumer;
    const dueq_message *message;
    assert_status(one.client, OK, dueq_consumer_open(&one.queue, 1, &options, &consumer));
    keep_silent();
    assert_status(one.client, OK, dueq_consumer_next(consumer, 0, &message, NULL));
    await_asked(2);
    int64_t start = now_ms();
    dueq_consumer_close(consumer);
    assert_true(now_ms() - start < 2000);
    jobs_close(one);
}

static void test_child_resolves_for_itself(void **state) {
    (void)state;
    struct jobs one = jobs_open(named("?timeout=30s"));
    dueq_draft draft = DUEQ_DRAFT;
    assert_status(one.client, PENDING, dueq_push_submit(one.queue, &draft, 1));
    assert_int_equal(dueq_pump(one.client), DUEQ_PENDING);
    await_asked(1);
    pid_t child = fork();
    if (child == 0) {
        /* The parent's thread is not here. */
        silent = false;
        bool lost = dueq_pump(one.client) == DUEQ_CLOSED;
        dueq_take(one.client, NULL);
        _exit(lost && push_text(one.queue, "child") == DUEQ_OK && asked == 2 ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
    answer();
    assert_status(one.client, OK, dueq_wait(one.client, -1));
    dueq_take(one.client, NULL);
    jobs_close(one);
}

static void test_push_without_a_thread_says_so(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        /* Root may have as many as it likes. */
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        setrlimit(RLIMIT_NPROC, &(struct rlimit){0});
        struct jobs one = jobs_open(named("?timeout=3s"));
        bool refused = push_text(one.queue, "a") == DUEQ_CONNECT &&
                       strstr(dueq_error_text(one.client), "could not be started");
        jobs_close(one);
        char url[64];
        snprintf(url, sizeof url, "redis://127.0.0.1:%d?timeout=3s", port);
        one = jobs_open(url);
        dueq_status status = push_text(one.queue, "a");
        jobs_close(one);
#ifdef DUEQ_LOOP_POLL
        bool expected = status == DUEQ_CONNECT; /* where poll(2) waits, a thread connects */
#else
        bool expected = status == DUEQ_OK; /* a numeric address needs none */
#endif
        _exit(refused && expected && asked == 0 ? 0 : 1);
    }
    assert_int_equal(child_end(child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_push_keeps_its_deadline),
        TEST(test_calls_that_time_out_share_one_resolution),
        TEST(test_pump_never_waits_and_the_descriptor_tells),
        TEST(test_abandoned_and_closed_while_it_resolves),
        TEST(test_wait_whose_second_connection_resolves_ends_in_time),
        TEST(test_heartbeat_that_resolves_ends_at_once),
        TEST(test_child_resolves_for_itself),
        TEST(test_push_without_a_thread_says_so),
    };
    char number[12];
    port = free_port();
    snprintf(number, sizeof number, "%d", port);
    alarm(200);
    return run_on_server(tests, (const char *const[]){"--port", number, NULL});
}
