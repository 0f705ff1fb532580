#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

#define HOUR_MS 3600000

bool dueq__call_under_way(const dueq_client *client) {
    return client->call.phase != DUEQ__PHASE_NONE && client->call.phase != DUEQ__PHASE_FINAL;
}

static void clear(struct dueq__call *call) {
    free(call->request);
    free(call->calls);
    free(call->ids);
    dueq_result_free(call->result);
    *call = (struct dueq__call){0};
}

dueq_status dueq__call_begin(dueq_queue *queue, const struct dueq__script *script, bool changes) {
    dueq_client *client = queue->client;
    struct dueq__call *call = &client->call;
    if (dueq__call_under_way(client))
        return dueq__fail(&client->error, DUEQ_IN_USE, NULL);
    clear(call);
    client->error = (struct dueq__error){0};
    call->queue = queue;
    call->script = script;
    call->changes = changes;
    /* Room for the key of an hour; which one is decided for each request. */
    call->calls = malloc(queue->keys[DUEQ__KEY_CALLS].size + 24);
    if (!call->calls)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    return DUEQ_OK;
}

void dueq__call_words(dueq_client *client, struct dueq__words *words) {
    struct dueq__call *call = &client->call;
    dueq_bytes key = call->queue->keys[DUEQ__KEY_CALLS];
    call->hour = dueq__wall_ms() / HOUR_MS;
    call->calls_size = (size_t)sprintf(call->calls, "%.*s:%" PRId64, (int)key.size,
                                       (const char *)key.data, call->hour);
    dueq__words_init(words);
    dueq__script_words(words, call->script, call->queue->keys,
                       (dueq_bytes){call->calls, call->calls_size});
    if (!call->changes)
        return;
    call->number = ++client->number;
    dueq__words_text(words, client->session);
    dueq__words_number(words, (int64_t)call->number);
    dueq__words_text(words, call->queue->hour == call->hour ? "0" : "1");
}

dueq_status dueq__call_submit(dueq_client *client, struct dueq__words *words) {
    struct dueq__call *call = &client->call;
    free(call->request);
    call->request = dueq__conn_format(words, &call->request_size);
    dueq__words_free(words);
    if (!call->request) {
        dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
        return dueq__call_finish(client, DUEQ_NO_MEMORY);
    }
    call->sent = call->doubtful = call->unsure = false;
    call->losses = call->loads = 0;
    call->retry_ms = 0;
    client->error = (struct dueq__error){0};
    call->deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    call->phase = DUEQ__PHASE_RUNNING;
    return DUEQ_PENDING;
}

dueq_status dueq__call_finish(dueq_client *client, dueq_status status) {
    struct dueq__call *call = &client->call;
    call->phase = DUEQ__PHASE_FINAL;
    call->status = status;
    if (call->wait.blocked)
        dueq__wait_forget(client);
    if (status < 0) {
        dueq_result_free(call->result);
        call->result = NULL;
        if (client->error.status != status || !client->error.text[0])
            dueq__fail(&client->error, status, NULL);
    } else {
        client->error = (struct dueq__error){0};
    }
    return status;
}

static dueq_status no_call(dueq_client *client) {
    return dueq__fail(&client->error, DUEQ_INVALID, "no call is under way");
}

dueq_status dueq_pump(dueq_client *client) {
    dueq__client_check_fork(client);
    if (client->call.phase == DUEQ__PHASE_NONE)
        return no_call(client);
    do {
        dueq__command_pump(client);
        if (client->call.wait.until_ms && dueq__call_under_way(client))
            dueq__wait_pump(client);
    } while (dueq__command_ready(client));
    return dueq__call_under_way(client) ? DUEQ_PENDING : client->call.status;
}

static size_t watch(struct pollfd *slot, const struct dueq__conn *conn) {
    if (dueq__conn_fd(conn) < 0)
        return 0;
    *slot = (struct pollfd){.fd = dueq__conn_fd(conn), .events = dueq__conn_events(conn)};
    return 1;
}

size_t dueq_poll_set(dueq_client *client, struct pollfd set[2], int *timeout_ms) {
    struct dueq__call *call = &client->call;
    *timeout_ms = 0;
    if (!dueq__call_under_way(client))
        return 0;
    size_t count = watch(set, client->command);
    int64_t next = DUEQ__NEVER;
    if (call->phase == DUEQ__PHASE_RUNNING) {
        next = call->deadline_ms;
        if (!call->sent && call->retry_ms > dueq__monotonic_ms() && call->retry_ms < next)
            next = call->retry_ms;
    }
    if (call->wait.until_ms) {
        count += watch(set + count, client->waiter);
        int64_t wait_next = dueq__wait_next_ms(client);
        next = wait_next < next ? wait_next : next;
    }
    int64_t left = next - dueq__monotonic_ms();
    *timeout_ms = next == DUEQ__NEVER ? -1 : left <= 0 ? 0 : left > 60000 ? 60000 : (int)left;
    return count;
}

dueq_status dueq_wait(dueq_client *client, int64_t at_most_ms) {
    int64_t start = dueq__monotonic_ms();
    for (;;) {
        dueq_status status = dueq_pump(client);
        if (status != DUEQ_PENDING)
            return status;
        struct pollfd set[2];
        int timeout;
        size_t count = dueq_poll_set(client, set, &timeout);
        if (at_most_ms >= 0) {
            int64_t left = start + at_most_ms - dueq__monotonic_ms();
            if (left <= 0)
                return DUEQ_PENDING;
            if (timeout < 0 || left < timeout)
                timeout = (int)left;
        }
        if (poll(set, count, timeout) < 0 && errno == EINTR)
            return DUEQ_INTERRUPTED;
    }
}

dueq_status dueq_take(dueq_client *client, dueq_result **result) {
    if (result)
        *result = NULL;
    if (client->call.phase == DUEQ__PHASE_NONE)
        return no_call(client);
    if (dueq__call_under_way(client))
        return DUEQ_PENDING;
    dueq_status status = client->call.status;
    if (result) {
        *result = client->call.result;
        client->call.result = NULL;
    }
    clear(&client->call);
    return status;
}

void dueq_abandon(dueq_client *client) {
    if (dueq__call_under_way(client)) {
        if (client->call.wait.until_ms)
            dueq__wait_abandon(client);
        for (size_t i = 0; i < client->answer_count; i++)
            if (client->answers[i] < DUEQ__ANSWER_UNBLOCK) {
                dueq__command_drop(client);
                break;
            }
    }
    clear(&client->call);
}
