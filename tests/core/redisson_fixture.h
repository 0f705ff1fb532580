/*
 * Delayed queues of Redisson's for the tests: the fixture's client has that of "orders", of
 * strings.
 */
#ifndef REDISSON_FIXTURE_H
#define REDISSON_FIXTURE_H

#include "dueq_redisson.h"
#include "fixture.h"

#define OFFERED "redisson_delay_queue:{orders}"
#define TIMEOUT_SET "redisson_delay_queue_timeout:{orders}"
#define CHANNEL "redisson_delay_queue_channel:{orders}"

extern dueq_redisson *orders;

int set_up_orders(void **state);
int tear_down_orders(void **state);

#define DELAYED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_orders, tear_down_orders)

dueq_redisson *open_delayed(dueq_client *client, const char *name, dueq_layout layout);
/* A string's offer. */
dueq_offer string_offer(const char *text, int64_t delay_ms);
/* Offers one string; asserts OK. */
void offer_text(dueq_redisson *queue, const char *text, int64_t delay_ms);
/* Puts an element there as another producer does, without telling anybody. */
void place(dueq_layout layout, const char *value, const char *score);
void place_bytes(dueq_bytes element, const char *score);
/* Asserts what a list holds, from its head; NULL-terminated. */
void assert_list(const char *key, const char *const values[]);
#define assert_values(key, ...) assert_list((key), (const char *const[]){__VA_ARGS__, NULL})
/* Asserts that a result has these strings, and frees it. */
void assert_strings_(dueq_result *result, const char *const values[]);
#define assert_strings(result, ...)                                                                \
    assert_strings_((result), (const char *const[]){__VA_ARGS__, NULL})
/* The server's clock. */
int64_t server_ms(void);
/* A connection subscribed to the channel of "orders". */
redisContext *subscribe(void);
/* The next message's number; 0: none came within that time. */
long long next_message(redisContext *context, int64_t within_ms);
/* Waits until that many are subscribed to the channel. */
void await_subscribed(long long count);

#endif
