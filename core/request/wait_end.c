#include <inttypes.h>
#include <stdio.h>

#include "request.h"

/* How a wait ends: its block, and what it owes to others who wait. */

#define UNBLOCK_AGAIN_MS 5

bool dueq__wait_unblock(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, client->waiter->id);
    const dueq_bytes words[] = {dueq__text("CLIENT"), dueq__text("UNBLOCK"), dueq__text(id)};
    wait->unblocking = dueq__command_send(client, DUEQ__ANSWER_UNBLOCK, words, 3);
    wait->unblock_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
    return wait->unblocking;
}

/* The block may have swallowed a wake token of any of its queues, which then counts as taken. */
void dueq__wait_close(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    for (size_t i = 0; wait->blocked && i < wait->watch_count; i++)
        wait->watches[i].token = wait->watches[i].ask = true;
    wait->blocked = wait->unblocking = false;
    dueq__conn_close(client->waiter);
}

/* A lock's wake token that nobody takes: whoever comes tries the lock first. */
#define LOCK_TOKEN_SECONDS "60"

/* Gives a token or item back that was meant for somebody who has time for it. */
static void give_back(dueq_client *client, const struct dueq__watch *watch) {
    const struct dueq__wait *wait = &client->call.wait;
    const dueq_bytes words[] = {dueq__text("ZADD"), watch->wake, dueq__text("0"), dueq__text("w")};
    const dueq_bytes end[] = {dueq__text("EXPIRE"), watch->wake, dueq__text(LOCK_TOKEN_SECONDS)};
    if (wait->foreign) {
        wait->foreign->give_back(client, watch);
        return;
    }
    dueq__command_send(client, DUEQ__ANSWER_REWAKE, words, 4);
    if (wait->locks)
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, end, 3);
}

/* Hands on what the server counts on this client for, as far as that goes without blocking. */
static void hand_on(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        if (watch->timekeeper) {
            struct dueq__resp words;
            dueq__resp_init(&words);
            wait->let_go(client, watch, &words);
            dueq__command_send_resp(client, DUEQ__ANSWER_REWAKE, &words);
            dueq__resp_free(&words);
        } else if (watch->token) {
            give_back(client, watch);
        }
        watch->timekeeper = watch->token = false;
    }
    if (dueq__command_awaits(client, DUEQ__ANSWER_REWAKE))
        dueq__conn_flush(client->command);
}

/* The first queue that is owed anything; the number of queues: none. */
static size_t first_owed(const struct dueq__wait *wait, bool timekeeper_only) {
    size_t i = 0;
    while (i < wait->watch_count && !wait->watches[i].timekeeper &&
           (timekeeper_only || !wait->watches[i].token))
        i++;
    return i;
}

void dueq__wait_found(dueq_client *client, dueq_result *result) {
    dueq_result_free(client->call.result);
    client->call.result = result;
    client->call.wait.found = result != NULL;
    if (result)
        dueq__wait_end(client);
    else
        dueq__call_finish(client, client->error.status);
}

void dueq__wait_end(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    bool found = wait->found;
    if (call->phase != DUEQ__PHASE_ENDING) {
        call->phase = DUEQ__PHASE_ENDING;
        int64_t limit = dueq__monotonic_ms() + client->url.timeout_ms;
        wait->end_ms = limit < wait->end_ms ? limit : wait->end_ms;
        call->deadline_ms = wait->end_ms;
    }
    if (wait->blocked) {
        if (client->no_unblock || (!wait->unblocking && !dueq__wait_unblock(client)))
            dueq__wait_close(client);
        else if (found || first_owed(wait, true) == wait->watch_count)
            return;
    }
    if (!found && first_owed(wait, false) < wait->watch_count) {
        /* A last request gives a wake token or the timekeeping on as well. */
        dueq__wait_ask(client, first_owed(wait, false));
        return;
    }
    hand_on(client);
    dueq__call_finish(client, found ? DUEQ_OK : wait->locks ? DUEQ_TAKEN : DUEQ_EMPTY);
}

void dueq__wait_unblocked(dueq_client *client, const struct dueq__reply *reply) {
    if (!dueq__reply_is_error(reply)) {
        client->call.wait.unblock_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
        return;
    }
    struct dueq__error error = {0};
    dueq__reply_error(reply, &error);
    client->no_unblock = !dueq__again_refused(client, &error);
    dueq__wait_close(client);
    if (client->call.phase == DUEQ__PHASE_ENDING)
        dueq__wait_end(client);
}

void dueq__wait_end_pump(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    int64_t now = dueq__monotonic_ms();
    /* An UNBLOCK that the server ran before the block itself has no effect: once more. */
    if (wait->blocked && wait->unblocking && now >= wait->unblock_ms &&
        !dueq__command_awaits(client, DUEQ__ANSWER_UNBLOCK) && !dueq__wait_unblock(client)) {
        dueq__wait_close(client);
        if (call->phase == DUEQ__PHASE_ENDING)
            dueq__wait_end(client);
    }
    if (call->phase != DUEQ__PHASE_ENDING || now < call->deadline_ms)
        return;
    dueq__wait_close(client);
    dueq__command_drop(client);
    if (wait->found) {
        dueq__call_finish(client, DUEQ_OK);
    } else {
        dueq__fail(&client->error, DUEQ_TIMEOUT, "%s does not answer any more", client->url.shown);
        dueq__call_finish(client, DUEQ_TIMEOUT);
    }
}

void dueq__wait_abandon(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    if (!wait->watches)
        return;
    /* The server may count on whoever asked, who will not read the answer or tell it. */
    if (wait->let_go && (dueq__command_awaits(client, DUEQ__ANSWER_CALL) || wait->found))
        wait->watches[wait->at].timekeeper = true;
    if (wait->blocked && !client->no_unblock && !wait->unblocking)
        dueq__wait_unblock(client);
    if (wait->blocked)
        dueq__wait_close(client);
    hand_on(client);
}
