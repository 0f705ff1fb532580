#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/*
 * A waiting reserve sits in one BZPOPMIN on the queue's wake marker, on a connection of its own, and
 * keeps the next due time by its own clock: the server ends blocking commands on its hz tick, up to
 * 100 ms late. Which consumers keep that time is the script's decision (claim).
 */

/*
 * How often a consumer that nobody wakes probes whether it was forgotten (a marker went to a consumer
 * that died): one plain command, in turn about ready messages and about the next time. Spread, so that
 * consumers do not probe at once.
 */
#define PROBE_MS 12000
#define PROBE_SPREAD_MS 3000
/* How long a time may be over before a probe takes it for forgotten by those who claimed it. */
#define OVERDUE_MS 500
/* BZPOPMIN's own end, so that a vanished consumer does not stay in the server's list for ever. */
#define LONGEST_BLOCK_MS 300000
#define UNBLOCK_AGAIN_MS 5

dueq_status dueq__wait_request(dueq_client *client, bool stay) {
    struct dueq__wait *wait = &client->call.wait;
    struct dueq__words words;
    dueq__call_words(client, &words);
    dueq__words_number(&words, (int64_t)wait->count);
    dueq__words_number(&words, wait->lease_ms);
    dueq__words_number(&words, DUEQ_DEFAULT_LEASE_MS);
    dueq__words_text(&words, stay ? "1" : "0");
    dueq__words_text(&words, wait->torch || wait->claim ? "1" : "0");
    wait->torch = wait->claim = false;
    bool leaving = client->call.phase == DUEQ__PHASE_LEAVING;
    int64_t deadline_ms = client->call.deadline_ms;
    dueq_status status = dueq__call_submit(client, &words);
    if (leaving)
        client->call.deadline_ms = deadline_ms;
    return status;
}

/* ---- Leaving ---- */

static bool send_unblock(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, dueq__conn_id(client->waiter));
    const dueq_bytes words[] = {dueq__text("CLIENT"), dueq__text("UNBLOCK"), dueq__text(id)};
    wait->unblocking = dueq__command_send(client, DUEQ__ANSWER_UNBLOCK, words, 3);
    wait->unblock_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
    return wait->unblocking;
}

/* The block is ended the hard way; it may have swallowed a marker, which then counts as taken. */
static void close_waiter(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    if (wait->blocked)
        wait->torch = true;
    wait->blocked = wait->unblocking = false;
    client->waiter_up = false;
    dueq__conn_close(client->waiter);
}

void dueq__wait_forget(dueq_client *client) { close_waiter(client); }

/* Gives a marker back that was meant for somebody who has time for it. */
static void rewake(dueq_client *client) {
    dueq_bytes wake = client->call.queue->keys[DUEQ__KEY_WAKE];
    const dueq_bytes words[] = {dueq__text("ZADD"), wake, dueq__text("0"), dueq__text("w")};
    if (dueq__command_send(client, DUEQ__ANSWER_REWAKE, words, 4))
        dueq__conn_pump(client->command);
    client->call.wait.torch = false;
}

/* The answer is there (call->result), or there is none: ends the block, and what is owed to others. */
static void leave(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    bool found = dueq_result_count(call->result) > 0;
    if (call->phase != DUEQ__PHASE_LEAVING) {
        call->phase = DUEQ__PHASE_LEAVING;
        call->deadline_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    }
    if (wait->blocked) {
        if (client->no_unblock || (!wait->unblocking && !send_unblock(client)))
            close_waiter(client);
        else if (found || !wait->claim)
            return;
    }
    if (!found && (wait->torch || wait->claim)) {
        dueq__wait_request(client, false);
        return;
    }
    if (wait->torch)
        rewake(client);
    if (call->result)
        dueq__result_add_damaged(call->result, wait->damaged);
    dueq__call_finish(client, found ? DUEQ_OK : DUEQ_EMPTY);
}

static int64_t next_probe_ms(void) {
    uint16_t chance;
    dueq__id_random(&chance, sizeof chance);
    return dueq__monotonic_ms() + PROBE_MS + PROBE_SPREAD_MS * chance / 65536;
}

static bool patient(const struct dueq__wait *wait) { return dueq__monotonic_ms() < wait->until_ms; }

void dueq__wait_decode(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    int64_t now, pause, claim;
    dueq_result *result = dueq__result_reserved(reply, wait->lease_ms, &client->error);
    if (!result || !dueq__reply_number(dueq__reply_item(reply, 0), &now) ||
        !dueq__reply_number(dueq__reply_item(reply, 1), &pause) || pause < -1 ||
        pause > DUEQ_MAX_TIME_MS || !dueq__reply_number(dueq__reply_item(reply, 2), &claim)) {
        dueq_result_free(result);
        dueq__call_finish(client, DUEQ_PROTOCOL);
        return;
    }
    dueq_result_free(call->result);
    call->result = result;
    if (dueq_result_count(result) > 0) {
        call->queue->hour = call->hour;
        leave(client);
        return;
    }
    wait->damaged += dueq_result_damaged(result);
    wait->claim = claim != 0;
    if (pause == 0 && !wait->claim) {
        dueq__wait_request(client, patient(wait));
    } else if (!patient(wait)) {
        leave(client);
    } else if (wait->torch) {
        dueq__wait_request(client, true);
    } else {
        call->phase = DUEQ__PHASE_WAITING;
        wait->probing = false;
        wait->ahead_ms = now - dueq__monotonic_ms();
        wait->look_ms = wait->claim ? dueq__monotonic_ms() + pause : DUEQ__NEVER;
        wait->probe_ms = next_probe_ms();
    }
}

/* ---- The waiting connection ---- */

static void block(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    int64_t now = dueq__monotonic_ms(), left = wait->until_ms - now + 1000;
    if (client->no_unblock)
        left = (wait->look_ms < wait->until_ms ? wait->look_ms : wait->until_ms) - now;
    if (client->no_unblock && wait->probe_ms - now < left)
        left = wait->probe_ms - now;
    left = left < 1 ? 1 : left > LONGEST_BLOCK_MS ? LONGEST_BLOCK_MS : left;
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, left / 1000, left % 1000);
    dueq_bytes wake = client->call.queue->keys[DUEQ__KEY_WAKE];
    struct dueq__words words;
    dueq__words_init(&words);
    dueq__words_text(&words, "BZPOPMIN");
    dueq__words_bytes(&words, wake.data, wake.size);
    dueq__words_text(&words, seconds);
    wait->blocked = dueq__conn_send(client->waiter, &words);
    dueq__words_free(&words);
    if (!wait->blocked)
        close_waiter(client);
    else
        dueq__conn_pump(client->waiter);
}

/* A wait that ended with neither a marker nor a nil: an error of its own, or a passing one. */
static void refused(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__error error = {0};
    dueq_status status = dueq__reply_error(reply, &error);
    if (status == DUEQ_LOADING || status == DUEQ_BUSY) {
        dueq__command_back_off(client);
        return;
    }
    if (client->call.phase == DUEQ__PHASE_LEAVING)
        return;
    client->error = error;
    dueq__call_finish(client, status);
}

/* The waiting connection was lost while the call goes on. */
static void waiter_lost(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__error reason = *dueq__conn_error(client->waiter);
    bool was_blocked = call->wait.blocked;
    close_waiter(client);
    if (dueq__command_hopeless(client, reason.status) && call->phase == DUEQ__PHASE_WAITING) {
        client->error = reason;
        dueq__call_finish(client, reason.status);
        return;
    }
    dueq__command_back_off(client);
    if (call->phase == DUEQ__PHASE_LEAVING)
        leave(client);
    else if (call->phase == DUEQ__PHASE_WAITING && was_blocked)
        /* The marker may be lost with it. The request also finds out whether the server is there. */
        dueq__wait_request(client, patient(&call->wait));
}

static void pump_waiter(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    if (dueq__conn_state(client->waiter) == DUEQ__CONN_CLOSED && !client->waiter_up) {
        if (call->phase != DUEQ__PHASE_WAITING || dueq__monotonic_ms() < call->retry_ms ||
            !dueq__command_connect(client, client->waiter))
            return;
        client->waiter_up = true;
    }
    dueq__conn_pump(client->waiter);
    if (dueq__conn_state(client->waiter) == DUEQ__CONN_READY) {
        if (dueq__conn_id(client->waiter) == 0)
            client->no_unblock = true;
        if (!wait->blocked && call->phase == DUEQ__PHASE_WAITING &&
            dueq__monotonic_ms() >= call->retry_ms)
            block(client);
        struct dueq__reply *reply = dueq__conn_reply(client->waiter);
        if (reply) {
            wait->blocked = wait->unblocking = false;
            if (dueq__reply_is_error(reply))
                refused(client, reply);
            else if (dueq__reply_count(reply) > 0)
                wait->torch = true;
            dueq__reply_free(reply);
            if (call->phase == DUEQ__PHASE_LEAVING)
                leave(client);
            else if (call->phase == DUEQ__PHASE_WAITING && !wait->torch)
                pump_waiter(client);
        }
    }
    if (client->waiter_up && dueq__conn_state(client->waiter) == DUEQ__CONN_CLOSED)
        waiter_lost(client);
}

void dueq__wait_unblocked(dueq_client *client, const struct dueq__reply *reply) {
    if (!dueq__reply_is_error(reply)) {
        client->call.wait.unblock_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
        return;
    }
    client->no_unblock = true;
    close_waiter(client);
    if (client->call.phase == DUEQ__PHASE_LEAVING)
        leave(client);
}

/* ---- The timer ---- */

static bool send_probe(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    const dueq_bytes *keys = client->call.queue->keys;
    const dueq_bytes length[] = {dueq__text("LLEN"), keys[DUEQ__KEY_READY]};
    const dueq_bytes next[] = {dueq__text("HGET"), keys[DUEQ__KEY_INFO], dueq__text("next")};
    bool times = wait->probes % 2 == 1;
    if (wait->probing ||
        !dueq__command_send(client, DUEQ__ANSWER_PROBE, times ? next : length, times ? 3 : 2))
        return false;
    wait->probing = true;
    wait->probe_ms = dueq__monotonic_ms() + client->url.timeout_ms;
    dueq__conn_pump(client->command);
    return true;
}

void dueq__wait_probed(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->call.wait;
    bool times = wait->probes++ % 2 == 1;
    int64_t number = 0;
    if (!wait->probing || client->call.phase != DUEQ__PHASE_WAITING)
        return;
    wait->probing = false;
    wait->probe_ms = next_probe_ms();
    bool known = dueq__reply_number(reply, &number) && number >= 0 && number <= DUEQ_MAX_TIME_MS;
    bool overdue = times ? number + OVERDUE_MS < dueq__monotonic_ms() + wait->ahead_ms : number > 0;
    /* Whoever was to see to it did not: this consumer takes the duty over. */
    if (dueq__reply_is_error(reply) || (known && overdue)) {
        wait->torch = true;
        dueq__wait_request(client, patient(wait));
    }
}

/* It is time to look: by a claim, or because a probe was not answered. */
static void look(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    if (wait->probing)
        dueq__command_drop(client);
    wait->probing = false;
    /* With a claim there is likely something: the block ends first, so that it cannot take the marker
     * which this very request may set for another consumer. */
    if (wait->claim && wait->blocked && !client->no_unblock)
        send_unblock(client);
    dueq__wait_request(client, patient(wait));
}

void dueq__wait_pump(dueq_client *client) {
    struct dueq__call *call = &client->call;
    struct dueq__wait *wait = &call->wait;
    pump_waiter(client);
    int64_t now = dueq__monotonic_ms();
    /* An UNBLOCK that the server ran before the block itself has no effect: once more. */
    if (wait->blocked && wait->unblocking && now >= wait->unblock_ms &&
        !dueq__command_awaits(client, DUEQ__ANSWER_UNBLOCK) && !send_unblock(client)) {
        close_waiter(client);
        if (call->phase == DUEQ__PHASE_LEAVING)
            leave(client);
    }
    if (call->phase == DUEQ__PHASE_WAITING) {
        if (wait->torch)
            dueq__wait_request(client, patient(wait));
        else if (!patient(wait))
            leave(client);
        else if (now >= wait->look_ms ||
                 (now >= wait->probe_ms && (client->no_unblock || !send_probe(client))))
            look(client);
    } else if (call->phase == DUEQ__PHASE_LEAVING && now >= call->deadline_ms) {
        close_waiter(client);
        dueq__command_drop(client);
        if (dueq_result_count(call->result) > 0) {
            dueq__call_finish(client, DUEQ_OK);
        } else {
            dueq__fail(&client->error, DUEQ_TIMEOUT, "%s does not answer any more",
                       client->url.shown);
            dueq__call_finish(client, DUEQ_TIMEOUT);
        }
    }
}

int64_t dueq__wait_next_ms(const dueq_client *client) {
    const struct dueq__call *call = &client->call;
    const struct dueq__wait *wait = &call->wait;
    int64_t next = DUEQ__NEVER;
    if (call->phase == DUEQ__PHASE_WAITING) {
        next = wait->look_ms < wait->until_ms ? wait->look_ms : wait->until_ms;
        next = wait->probe_ms < next ? wait->probe_ms : next;
        if (!wait->blocked && !client->waiter_up && call->retry_ms < next)
            next = call->retry_ms;
    }
    if (call->phase == DUEQ__PHASE_LEAVING)
        next = call->deadline_ms;
    if (wait->blocked && wait->unblocking && wait->unblock_ms < next &&
        !dueq__command_awaits(client, DUEQ__ANSWER_UNBLOCK))
        next = wait->unblock_ms;
    return next;
}

void dueq__wait_abandon(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    bool owes = wait->blocked || wait->torch || wait->claim;
    if (wait->blocked && !client->no_unblock && !wait->unblocking)
        send_unblock(client);
    close_waiter(client);
    if (owes)
        rewake(client);
}
