#include <stdio.h>
#include <string.h>

#include "driver.h"

#define STEP 100
#define PATIENCE_MS 20000

static dueq_draft draft(void) {
    static const char body[BODY_SIZE];
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){body, sizeof body};
    return draft;
}

static void push_calls(const struct link *link, size_t messages, size_t batch) {
    dueq_draft drafts[STEP];
    for (size_t i = 0; i < batch; i++)
        drafts[i] = draft();
    for (size_t done = 0; done < messages; done += batch)
        must(link->client, dueq_push(link->queue, drafts, batch, NULL));
}

static void take_done(dueq_pusher *pusher, const struct link *link) {
    dueq_status status;
    dueq_result *result;
    while (dueq_pusher_done(pusher, &status, &result)) {
        must(link->client, status);
        dueq_result_free(result);
    }
}

static void push_in_flight(const struct link *link, size_t messages) {
    const dueq_draft one = draft();
    dueq_pusher *pusher;
    must(link->client, dueq_pusher_open(link->queue, 0, &pusher));
    for (size_t i = 0; i < messages; i++) {
        dueq_status status;
        while ((status = dueq_pusher_push(pusher, &one)) == DUEQ_PENDING) {
            dueq_wait(link->client, -1);
            take_done(pusher, link);
        }
        must(link->client, status);
    }
    while (dueq_pusher_left(pusher)) {
        dueq_wait(link->client, -1);
        take_done(pusher, link);
    }
    dueq_pusher_close(pusher);
}

void measure_durable(const char *socket, const char *way, bool durable, size_t messages) {
    const dueq_durability replica = {.replicas = 1, .timeout_ms = PATIENCE_MS}, none = {0};
    struct link link = link_open(socket, "durable");
    redisContext *bare = bare_open(socket);
    clockid_t clock = server_clock(bare);
    /* The replica has all that there was before, and the server has the script. */
    must(link.client, dueq_queue_durability(link.queue, &replica));
    push_calls(&link, 1, 1);
    must(link.client, dueq_queue_durability(link.queue, durable ? &replica : &none));
    double server = now_us(clock), wall = now_us(CLOCK_MONOTONIC);
    if (!strcmp(way, "pusher"))
        push_in_flight(&link, messages);
    else
        push_calls(&link, messages, !strcmp(way, "one") ? 1 : STEP);
    printf("{\"wall_us\": %.4f, \"server_us\": %.4f}\n",
           (now_us(CLOCK_MONOTONIC) - wall) / (double)messages,
           (now_us(clock) - server) / (double)messages);
    freeReplyObject(bare_command(bare, "FLUSHALL"));
    redisFree(bare);
    link_close(&link);
}
