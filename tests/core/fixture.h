/* One server for a whole program, and a client and queue of it that are new for each test. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "support.h"

extern struct server server;
extern struct jobs jobs;

int set_up_jobs(void **state);
int tear_down_jobs(void **state);

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_jobs, tear_down_jobs)

/* Runs an array of tests on a server with these further options, NULL-terminated or NULL. */
#define run_on_server(tests, ...)                                                                  \
    run_on_server_((tests), sizeof(tests) / sizeof *(tests), __VA_ARGS__)
int run_on_server_(const struct CMUnitTest tests[], size_t count, const char *const options[]);

/*
 * The server's URL with a user ("name:password@") and parameters ("?timeout=1s"); good until the
 * next call.
 */
const char *url_with(const char *user, const char *parameters);

/* The ticket of the consumer's next message, which must come within 20 s. */
dueq_bytes next_ticket(dueq_consumer *consumer);

/*
 * Drives a client with a submitted reserve until that many consumers sit in a blocking command;
 * asserts that its reserve goes on waiting.
 */
void pump_until_blocked(dueq_client *waiting, long long consumers);

/* True: no consumer keeps the queue's time. One may be awaited, by a token with the time. */
bool no_timekeeper(const char *name);

/* Waits for that. */
void await_no_timekeeper(const char *name);

/* Waits until the wake marker under a key lies there for whoever comes; the format has one %s. */
void await_marker(const char *format, const char *name);

/* Asserts the status of one push by a new client of that URL. */
#define assert_push(expected, url) assert_push_((url), DUEQ_##expected, __FILE__, __LINE__)
void assert_push_(const char *url, dueq_status expected, const char *file, int line);

#endif
