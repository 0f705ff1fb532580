/*
 * A program that uses each kind of public struct: tests/test_abi.py runs it on libraries that have
 * other structs than its header. Usage: program DIR [refuses | accepts]. The second word is for a
 * header with a member `added` in each struct: what the library says when the program sets it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dueq.h"
#include "dueq_laravel.h"
#include "dueq_redisson.h"

#define TEXT(text) ((dueq_bytes){(text), strlen(text)})
#define GUARD "what stands behind a struct of the program"

static dueq_client *client;
static dueq_queue *queue;

static void fail(int line, const char *what) {
    fprintf(stderr, "line %d: %s: %s\n", line, what, dueq_error_text(client));
    exit(1);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail(__LINE__, #condition);                                                            \
    } while (0)

/* A struct that the library fills in, and bytes that it must not touch. */
#define GUARDED(type, initializer, name)                                                           \
    struct {                                                                                       \
        type of;                                                                                   \
        char guard[sizeof GUARD];                                                                  \
    } name = {initializer, GUARD}

static int is(dueq_bytes bytes, const char *text) {
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static int64_t ready(void) {
    GUARDED(dueq_counts, DUEQ_COUNTS, counts);
    CHECK(dueq_stats(queue, &counts.of) == DUEQ_OK);
    CHECK(strcmp(counts.guard, GUARD) == 0 && counts.of.struct_size == sizeof counts.of);
    CHECK(counts.of.now_ms > 0 && counts.of.outbox_error[0] == '\0');
    return counts.of.ready;
}

static dueq_draft drafts[3] = {DUEQ_DRAFT, DUEQ_DRAFT, DUEQ_DRAFT};
static const dueq_header header = {{"colour", 6}, {"red", 3}};

static void push(void) {
    dueq_result *result;
    const char *const ids[] = {"first", "second", "third"};
    for (size_t i = 0; i < 3; i++) {
        drafts[i].id = drafts[i].body = TEXT(ids[i]);
        drafts[i].headers = &header;
        drafts[i].header_count = 1;
        drafts[i].max_attempts = (uint32_t)(i + 2);
        drafts[i].backoff = (dueq_backoff){.kind = DUEQ_BACKOFF_FIXED};
    }
    CHECK(dueq_push(queue, drafts, 3, &result) == DUEQ_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(is(dueq_result_id(result, i), ids[i]));
    dueq_result_free(result);
    CHECK(ready() == 3);
}

static void settle(void) {
    dueq_result *result, *pushed;
    dueq_draft next[2] = {DUEQ_DRAFT, DUEQ_DRAFT};
    dueq_reserve_options options = DUEQ_RESERVE;
    options.count = 2;
    next[0].body = TEXT("next");
    next[1].body = TEXT("last");
    CHECK(dueq_reserve_any(&queue, 1, &options, &result) == DUEQ_OK);
    CHECK(dueq_result_count(result) == 2);
    const dueq_message *first = dueq_result_message(result, 0),
                       *second = dueq_result_message(result, 1);
    CHECK(is(first->body, "first") && is(second->body, "second"));
    CHECK(is(second->headers[0].value, "red") && second->max_attempts == 3);
    CHECK(second->state == DUEQ_LEASED && second->now_ms > 0 && second->dead_letter.size == 0);
    CHECK(dueq_ack_push(queue, first->ticket, NULL, next, 2, &pushed) == DUEQ_OK);
    CHECK(dueq_result_count(pushed) == 3);
    CHECK(dueq_bury(queue, second->ticket, TEXT("broken")) == DUEQ_OK);
    dueq_result_free(pushed);
    dueq_result_free(result);
    CHECK(ready() == 3);
}

static void look(void) {
    dueq_filter filter = DUEQ_FILTER;
    dueq_bytes none = {NULL, 0};
    dueq_result *result;
    CHECK(dueq_failures(queue, none, none, 10, &result) == DUEQ_OK);
    CHECK(is(dueq_result_failure(result, 0)->error, "broken"));
    dueq_result_free(result);
    CHECK(dueq_rates(queue, 5, 0, &result) == DUEQ_OK && dueq_result_timings(result));
    CHECK(dueq_result_timings(result)->late.sum_ms >= 0);
    for (size_t i = 0; i < dueq_result_count(result); i++)
        CHECK(dueq_result_rate(result, i)->run_p99_ms >= -1);
    dueq_result_free(result);
    CHECK(dueq_peek(queue, DUEQ_DEAD, none, 10, &result) == DUEQ_OK);
    CHECK(is(dueq_result_message(result, 0)->error, "broken"));
    dueq_result_free(result);
    filter.error = TEXT("whole");
    CHECK(dueq_kick_all(queue, &filter, none, 10, &result) == DUEQ_OK);
    CHECK(dueq_result_kicked(result) == 0);
    dueq_result_free(result);
    filter.error = TEXT("roke");
    CHECK(dueq_kick_all(queue, &filter, none, 10, &result) == DUEQ_OK);
    CHECK(dueq_result_kicked(result) == 1);
    dueq_result_free(result);
    for (none.size = 0;; none = dueq_result_cursor(result)) {
        CHECK(dueq_check(queue, 0, none, &result) == DUEQ_OK);
        if (dueq_result_cursor(result).size == 0)
            break;
    }
    for (size_t i = 0; i < dueq_result_count(result); i++)
        CHECK(*dueq_result_finding(result, i)->text && dueq_result_finding(result, i)->wrong == 0);
    dueq_result_free(result);
    CHECK(ready() == 4);
}

static void consume(void) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    const dueq_message *message;
    dueq_client *other;
    dueq_queue *seen;
    dueq_result *result = NULL;
    options.prefetch = 2;
    options.program = "program";
    options.slots = 7;
    CHECK(dueq_consumer_open(&queue, 1, &options, &consumer) == DUEQ_OK);
    CHECK(dueq_consumer_next(consumer, 0, &message, NULL) == DUEQ_OK && is(message->body, "third"));
    CHECK(dueq_open(dueq_client_url(client), &other) == DUEQ_OK);
    CHECK(dueq_queue_open(other, "jobs", 4, &seen) == DUEQ_OK);
    for (int tries = 0; dueq_result_count(result) == 0 && tries < 600; tries++) {
        dueq_result_free(result);
        CHECK(dueq_workers(seen, (dueq_bytes){NULL, 0}, 10, &result) == DUEQ_OK);
        usleep(100000);
    }
    const dueq_worker *worker = dueq_result_worker(result, 0);
    CHECK(worker && is(worker->program, "program") && worker->slots == 7);
    CHECK(worker->lease_count == 2 && !dueq_worker_lease(worker, 2));
    CHECK(is(dueq_worker_lease(worker, 0)->id, "third"));
    CHECK(dueq_worker_lease(worker, 0)->running && !dueq_worker_lease(worker, 1)->running);
    dueq_result_free(result);
    dueq_queue_close(seen);
    dueq_close(other);
    CHECK(dueq_consumer_ack(consumer, message->ticket) == DUEQ_OK);
    CHECK(dueq_consumer_stop(consumer) == DUEQ_OK);
    dueq_consumer_close(consumer);
    CHECK(ready() == 3);
}

static void push_without_waiting(void) {
    dueq_pusher *pusher;
    dueq_status status;
    dueq_result *result;
    dueq_draft draft = DUEQ_DRAFT;
    size_t done = 0;
    draft.body = TEXT("pushed");
    CHECK(dueq_pusher_open(queue, 0, &pusher) == DUEQ_OK);
    CHECK(dueq_pusher_push(pusher, &draft) == DUEQ_OK);
    while (!done) {
        dueq_wait(client, 100);
        done = dueq_pusher_done(pusher, &status, &result);
        CHECK(status == DUEQ_OK);
        dueq_result_free(result);
    }
    dueq_pusher_close(pusher);
    CHECK(ready() == 4);
}

static void schedule(void) {
    dueq_plan plan = DUEQ_PLAN;
    dueq_draft job = DUEQ_DRAFT;
    plan.name = TEXT("hourly");
    plan.expression = TEXT("@hourly");
    plan.job = &job;
    CHECK(dueq_schedule(queue, &plan) == DUEQ_OK);
    CHECK(dueq_schedule(queue, &plan) == DUEQ_DUPLICATE);
}

static void others(void) {
    GUARDED(dueq_sizes, DUEQ_SIZES, sizes);
    GUARDED(dueq_moved, DUEQ_MOVED, moved);
    dueq_offer offers[2] = {DUEQ_OFFER, DUEQ_OFFER};
    dueq_laravel_draft jobs[2] = {DUEQ_LARAVEL_DRAFT, DUEQ_LARAVEL_DRAFT};
    dueq_redisson *redisson;
    dueq_laravel *laravel;
    dueq_result *result;
    offers[0].value = (dueq_value){.kind = DUEQ_STRING, .bytes = TEXT("value")};
    offers[1] = offers[0];
    offers[1].delay_ms = 60000;
    CHECK(dueq_redisson_open(client, "list", 4, DUEQ_CODEC_STRING, DUEQ_LAYOUT_NEW, &redisson) ==
          DUEQ_OK);
    CHECK(dueq_redisson_offer(redisson, offers, 2) == DUEQ_OK);
    CHECK(dueq_redisson_transfer(redisson, 10, 5000, &moved.of) == DUEQ_OK);
    CHECK(moved.of.moved == 1 && moved.of.next_ms > 0 && strcmp(moved.guard, GUARD) == 0);
    CHECK(dueq_redisson_size(redisson, &sizes.of) == DUEQ_OK);
    CHECK(sizes.of.ready == 1 && sizes.of.delayed == 1 && strcmp(sizes.guard, GUARD) == 0);
    CHECK(dueq_redisson_take(redisson, 1, 0, &result) == DUEQ_OK);
    CHECK(is(dueq_result_value(result, 0)->bytes, "value"));
    dueq_result_free(result);
    dueq_redisson_close(redisson);
    jobs[0].job = jobs[1].job = TEXT("Mail@send");
    jobs[1].max_tries = 3;
    CHECK(dueq_laravel_open(client, "default", 7, (dueq_bytes){NULL, 0}, &laravel) == DUEQ_OK);
    CHECK(dueq_laravel_push(laravel, jobs, 2, NULL) == DUEQ_OK);
    CHECK(dueq_laravel_pop(laravel, 2, 0, 0, &result) == DUEQ_OK);
    CHECK(dueq_result_job(result, 1)->max_tries == 3 && dueq_result_job(result, 1)->until_ms > 0);
    dueq_result_free(result);
    dueq_laravel_close(laravel);
}

#ifdef ADDED
/* The member that the library does not have, and one that it has not either, in each struct. */
static void added(dueq_status expected) {
    dueq_draft two[2] = {DUEQ_DRAFT, DUEQ_DRAFT};
    dueq_filter filter = DUEQ_FILTER;
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_counts counts = DUEQ_COUNTS;
    dueq_consumer *consumer;
    const char *text = expected ? "the program was built for a later one" : "";
    dueq_reserve_options asked = DUEQ_RESERVE;
    two[1].added = filter.added = options.added = counts.added = asked.added = 1;
    CHECK(dueq_push(queue, two, 2, NULL) == expected && strstr(dueq_error_text(client), text));
    CHECK(dueq_kick_all(queue, &filter, (dueq_bytes){NULL, 0}, 1, NULL) == expected);
    CHECK(dueq_stats(queue, &counts) == expected);
    CHECK(dueq_consumer_open(&queue, 1, &options, &consumer) == expected);
    dueq_consumer_close(consumer);
    CHECK(dueq_reserve_any(&queue, 1, &asked, NULL) == expected);
}
#endif

/* Without their initializers. */
static void refuse(void) {
    dueq_draft two[2] = {DUEQ_DRAFT, {.max_attempts = 1}}, none;
    dueq_consumer_options options = {.prefetch = 1};
    dueq_reserve_options asked = {.count = 1};
    dueq_consumer *consumer;
    dueq_counts counts;
    memset(&none, 0xA5, sizeof none);
    memset(&counts, 0, sizeof counts);
    int64_t before = ready();
    CHECK(dueq_push(queue, &two[1], 1, NULL) == DUEQ_INVALID);
    CHECK(strstr(dueq_error_text(client), "must begin with DUEQ_DRAFT"));
    CHECK(dueq_push(queue, two, 2, NULL) == DUEQ_INVALID);
    CHECK(dueq_push(queue, &none, 1, NULL) == DUEQ_INVALID);
    CHECK(dueq_consumer_open(&queue, 1, &options, &consumer) == DUEQ_INVALID && !consumer);
    CHECK(strstr(dueq_error_text(client), "must begin with DUEQ_CONSUMER"));
    CHECK(dueq_reserve_any(&queue, 1, &asked, NULL) == DUEQ_INVALID);
    CHECK(strstr(dueq_error_text(client), "must begin with DUEQ_RESERVE"));
    CHECK(dueq_stats(queue, &counts) == DUEQ_INVALID);
    CHECK(ready() == before);
}

int main(int argc, char *argv[]) {
    char url[4096];
    snprintf(url, sizeof url, "embedded:%s", argc > 1 ? argv[1] : "");
    CHECK(dueq_open(url, &client) == DUEQ_OK);
    CHECK(dueq_queue_open(client, "jobs", 4, &queue) == DUEQ_OK);
    push();
    settle();
    look();
    consume();
    push_without_waiting();
    schedule();
    others();
    refuse();
#ifdef ADDED
    if (argc > 2)
        added(strcmp(argv[2], "refuses") == 0 ? DUEQ_INVALID : DUEQ_OK);
#endif
    dueq_queue_close(queue);
    dueq_close(client);
    puts("done");
    return 0;
}
