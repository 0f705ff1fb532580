#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* client.py counts the instructions of this process, and its other programs do the same work. */

static void push(struct link *link, const dueq_draft *draft) {
    dueq_result *result;
    must(link->client, dueq_push(link->queue, draft, 1, &result));
    dueq_result_free(result);
}

static void push_all(struct link *link, const char *way, size_t count) {
    char body[BODY_SIZE], id[24];
    memset(body, 'x', sizeof body);
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){body, sizeof body};
    if (strcmp(way, "push"))
        draft.delay_ms = 60000;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(way, "own")) {
            draft.id = (dueq_bytes){id, (size_t)snprintf(id, sizeof id, "job-%zu", i)};
            draft.max_attempts = 5;
        }
        push(link, &draft);
    }
}

static void work(struct link *link, size_t count) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    must(link->client, dueq_consumer_open(&link->queue, 1, &options, &consumer));
    for (size_t i = 0; i < count; i++) {
        const dueq_message *message;
        must(link->client, dueq_consumer_next(consumer, DUEQ_FOREVER, &message, NULL));
        must(link->client, dueq_consumer_ack(consumer, message->ticket));
    }
    must(link->client, dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

void run_client(const char *socket, const char *way, size_t count) {
    struct link link = link_open(socket, "client");
    if (strcmp(way, "work"))
        push_all(&link, way, count);
    else
        work(&link, count);
    link_close(&link);
}
