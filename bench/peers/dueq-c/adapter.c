/* dueq from C. */
#include <stdio.h>
#include <string.h>

#include "dueq.h"
#include "harness.h"

#define PREFETCH 100

static dueq_client *client;
static dueq_queue *queue;

static void must(dueq_status status) {
    if (status)
        die("%s: %s", dueq_status_name(status), dueq_error_text(client));
}

static void connect(void) {
    char url[256];
    snprintf(url, sizeof url, "unix://%s", environment("PEER_REDIS_SOCKET"));
    must(dueq_open(url, &client));
    must(dueq_queue_open(client, "bench", strlen("bench"), &queue));
}

static void push_many(const char *body, size_t count) {
    dueq_draft drafts[DUEQ_MAX_BATCH];
    for (size_t i = 0; i < count; i++) {
        drafts[i] = (dueq_draft)DUEQ_DRAFT;
        drafts[i].body = (dueq_bytes){body, BODY_SIZE};
    }
    must(dueq_push(queue, drafts, count, NULL));
}

static void push(const char *body) { push_many(body, 1); }

static void delay(const char *body, int64_t due_ms) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){body, BODY_SIZE};
    draft.at_ms = due_ms;
    must(dueq_push(queue, &draft, 1, NULL));
}

static void work(const char *setting, handle_job *handle) {
    size_t most = strcmp(setting, "best") ? 1 : PREFETCH;
    for (bool more = true; more;) {
        dueq_bytes tickets[PREFETCH];
        dueq_result *result;
        must(dueq_reserve(queue, most, DUEQ_FOREVER, 0, &result));
        size_t count = dueq_result_count(result);
        for (size_t i = 0; i < count; i++) {
            const dueq_message *message = dueq_result_message(result, i);
            tickets[i] = message->ticket;
            more &= handle(message->body.data);
        }
        must(dueq_ack(queue, tickets, count, NULL));
        dueq_result_free(result);
    }
}

int main(int count, char **words) {
    static const struct peer peer = {
        .connect = connect, .push = push, .push_many = push_many, .delay = delay, .work = work};
    return run_peer(&peer, count, words);
}
