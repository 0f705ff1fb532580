/* dueq from C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dueq.h"
#include "harness.h"

#define PREFETCH 100

static dueq_client *client;
static dueq_queue *queue;
static dueq_pusher *pusher;

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

static dueq_draft draft_of(const struct job *job) {
    dueq_draft draft = DUEQ_DRAFT;
    draft.body = (dueq_bytes){job->body, BODY_SIZE};
    draft.at_ms = job->due_ms;
    return draft;
}

static void push(const struct job *job, char *id) {
    dueq_draft draft = draft_of(job);
    dueq_result *result = NULL;
    must(dueq_push(queue, &draft, 1, id ? &result : NULL));
    if (id)
        snprintf(id, ID_SIZE, "%.*s", (int)dueq_result_id(result, 0).size,
                 (const char *)dueq_result_id(result, 0).data);
    dueq_result_free(result);
}

static void cancel(const char *id) {
    const dueq_bytes bytes = {id, strlen(id)};
    must(dueq_cancel(queue, &bytes, 1, NULL));
}

/* Waits for what is under way, and looks at its outcomes. */
static void await_pushes(void) {
    dueq_status status;
    dueq_result *result;
    dueq_wait(client, -1);
    while (dueq_pusher_done(pusher, &status, &result) > 0) {
        must(status);
        dueq_result_free(result);
    }
}

static void push_many(const struct job *jobs, size_t count) {
    if (!pusher)
        must(dueq_pusher_open(queue, 0, &pusher));
    for (size_t i = 0; i < count; i++) {
        dueq_draft draft = draft_of(&jobs[i]);
        dueq_status status;
        while ((status = dueq_pusher_push(pusher, &draft)) == DUEQ_PENDING)
            await_pushes();
        must(status);
    }
}

static void flush(void) {
    while (pusher && dueq_pusher_left(pusher) > 0)
        await_pushes();
}

/* "slack-50" may deliver 50 ms late. */
static int64_t slack_of(const char *setting) {
    static const char prefix[] = "slack-";
    if (!strncmp(setting, prefix, strlen(prefix)))
        return atoll(setting + strlen(prefix));
    if (strcmp(setting, "one") && strcmp(setting, "best"))
        die("there is no setting '%s'", setting);
    return 0;
}

static void work(const char *setting, handle_job *handle) {
    dueq_consumer_options options = DUEQ_CONSUMER;
    dueq_consumer *consumer;
    options.prefetch = strcmp(setting, "one") ? PREFETCH : 1;
    options.slack_ms = slack_of(setting);
    tell_ready("{\"prefetch\": %zu, \"slack_ms\": %lld}", options.prefetch,
               (long long)options.slack_ms);
    must(dueq_consumer_open(&queue, 1, &options, &consumer));
    for (bool more = true; more;) {
        const dueq_message *message;
        must(dueq_consumer_next(consumer, DUEQ_FOREVER, &message, NULL));
        more = handle(message->body.data);
        must(dueq_consumer_ack(consumer, message->ticket));
    }
    must(dueq_consumer_stop(consumer));
    dueq_consumer_close(consumer);
}

int main(int count, char **words) {
    static const struct peer peer = {.connect = connect,
                                     .push = push,
                                     .push_many = push_many,
                                     .flush = flush,
                                     .cancel = cancel,
                                     .work = work};
    return run_peer(&peer, count, words);
}
