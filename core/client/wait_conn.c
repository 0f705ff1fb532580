#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

/* The connections on which a call waits: one for the queues of a slot, and so one for all of a single server. */

/* A block's own end, so that a vanished consumer does not stay in the server's list for ever. */
#define LONGEST_BLOCK_MS 300000
/* A slot that moves key by key leaves those who block where they are until it has moved (redis/redis#2379). */
#define LONGEST_CLUSTER_BLOCK_MS 10000
/* How often a call that waits for a list looks while the server has no memory to park anything. */
#define FULL_PAUSE_MS 500
#define UNBLOCK_AGAIN_MS 5
/* A block that is over for so long without an answer is one of a server that is gone. */
#define SILENT_MS 1000

/* ---- Which connection a queue's wake token is waited for on ---- */

static struct dueq__wait_conn *new_waiter(dueq_client *client) {
    struct dueq__wait_conn *waiter = calloc(1, sizeof *waiter);
    if (!waiter)
        return NULL;
    dueq__conn_init(&waiter->conn, &client->url, client->name, NULL);
    waiter->conn.blocks = true;
    dueq__client_add_conn(client, &waiter->conn);
    waiter->next = client->waiters;
    client->waiters = waiter;
    return waiter;
}

/* One for the slot: that of another queue of the call, or one that is connected to the node, or any. */
static struct dueq__wait_conn *waiter_of(dueq_client *client, struct dueq__node *node, int slot) {
    struct dueq__wait_conn *unused = NULL;
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next) {
        if (waiter->used && waiter->slot == slot)
            return waiter;
        if (!waiter->used && (!unused || waiter->node == node))
            unused = waiter;
    }
    if (!unused)
        unused = new_waiter(client);
    if (unused) {
        unused->used = true;
        unused->slot = slot;
    }
    return unused;
}

/* Gives each queue of the call a waiter at the node that has it now, as far as that is known. */
static void place(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        struct dueq__node *node = dueq__route_node(watch->queue);
        if (!watch->waiter && node)
            watch->waiter = waiter_of(client, node, watch->queue->slot);
        if (!node || !watch->waiter || watch->waiter->node == node)
            continue;
        dueq__wait_conn_close(client, watch->waiter);
        watch->waiter->node = node;
    }
}

size_t dueq__wait_conn_count(const dueq_client *client) {
    size_t slots = 0;
    for (const struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next)
        slots += waiter->used;
    return slots ? slots : 1;
}

void dueq__wait_conn_release_all(dueq_client *client) {
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next)
        waiter->used = false;
}

/* ---- The block ---- */

static bool send_block(dueq_client *client, struct dueq__wait_conn *waiter, int64_t left_ms) {
    const struct dueq__wait *wait = &client->call.wait;
    struct dueq__resp words;
    const struct dueq__resp *all = &words;
    char seconds[32];
    dueq__resp_init(&words);
    if (wait->foreign) {
        wait->foreign->block(client, &words);
    } else {
        dueq__resp_text(&words, "BZPOPMIN");
        for (size_t i = 0; i < wait->watch_count; i++)
            if (wait->watches[i].waiter == waiter)
                dueq__resp_bytes(&words, wait->watches[i].wake.data, wait->watches[i].wake.size);
    }
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, left_ms / 1000, left_ms % 1000);
    dueq__resp_text(&words, seconds);
    bool sent = dueq__conn_send(&waiter->conn, &all, 1);
    dueq__resp_free(&words);
    return sent;
}

static void block(dueq_client *client, struct dueq__wait_conn *waiter) {
    struct dueq__wait *wait = &client->call.wait;
    int64_t now = dueq__monotonic_ms(), left = wait->until_ms - now + 1000;
    int64_t longest = client->cluster ? LONGEST_CLUSTER_BLOCK_MS : LONGEST_BLOCK_MS;
    int64_t look_ms = dueq__wait_next_check_us(wait) / 1000;
    if (client->no_unblock)
        left = (look_ms < wait->until_ms ? look_ms : wait->until_ms) - now;
    if (client->no_unblock && wait->probe_ms - now < left)
        left = wait->probe_ms - now;
    left = left < 1 ? 1 : left > longest ? longest : left;
    waiter->blocked = send_block(client, waiter, left);
    waiter->until_ms = now + left + SILENT_MS;
    if (waiter->blocked)
        dueq__conn_pump(&waiter->conn);
    else
        dueq__wait_conn_close(client, waiter);
}

/* Its queues' wake tokens may have been taken by it. */
static void mark(struct dueq__wait *wait, const struct dueq__wait_conn *waiter,
                 const dueq_bytes *key) {
    for (size_t i = 0; i < wait->watch_count; i++)
        if (wait->watches[i].waiter == waiter &&
            (!key || dueq__bytes_equal(*key, wait->watches[i].wake)))
            wait->watches[i].token = wait->watches[i].ask = true;
}

/* The block's answer: nil, a list that begins with the key, or an item that was parked, alone. */
static void unblocked(struct dueq__wait *wait, const struct dueq__wait_conn *waiter,
                      const struct dueq__reply *reply) {
    dueq_bytes key;
    bool parked = dueq__reply_bytes(reply, &key);
    if (parked || dueq__reply_bytes(dueq__reply_item(reply, 0), &key))
        mark(wait, waiter, parked ? NULL : &key);
}

/* A wait that ended with neither a wake token nor a nil: an error of its own, or a passing one. */
static void refused(dueq_client *client, struct dueq__wait_conn *waiter,
                    const struct dueq__reply *reply) {
    struct dueq__watch *watch = client->call.wait.watches;
    struct dueq__error error = {0};
    dueq_status status = dueq__reply_error(reply, &error);
    if (client->call.phase == DUEQ__PHASE_ENDING)
        return;
    if (dueq__route_follow(client, waiter->node, reply) == DUEQ__REDIRECT_MOVED)
        return;
    if (status == DUEQ_FULL) {
        /* Nothing can be parked, but taken. */
        dueq__backoff_retry_later(client, error.text);
        if (watch->look_us == DUEQ__NEVER)
            watch->look_us = dueq__monotonic_us() + FULL_PAUSE_MS * 1000;
    } else if (dueq__backoff_retry_refused(client, &error)) {
        /* Meanwhile requests find out whether it has passed, perhaps on another server. */
        dueq__wait_conn_close(client, waiter);
        dueq__wait_fall_back_to_checks(client);
    } else {
        client->error = error;
        dueq__call_finish(client, status);
    }
}

/* Takes in what the server says of the block. */
static void take_in(dueq_client *client, struct dueq__wait_conn *waiter) {
    struct dueq__reply *reply;
    /* A block on another system's list may answer a message. */
    const uint64_t most =
        client->call.wait.foreign ? DUEQ__MAX_MESSAGE_REPLY : DUEQ__MAX_SMALL_REPLY;
    while (dueq__call_under_way(client) && (reply = dueq__conn_reply(&waiter->conn, most))) {
        if (!waiter->blocked) {
            bool strays = waiter->strays;
            dueq__wait_conn_close(client, waiter);
            if (strays)
                unblocked(&client->call.wait, waiter, reply);
            else
                dueq__command_unexpected_reply(client);
        } else {
            waiter->blocked = waiter->unblocking = false;
            if (dueq__reply_is_unblocked(reply))
                waiter->strays = true;
            else if (dueq__reply_is_error(reply))
                refused(client, waiter, reply);
            else
                unblocked(&client->call.wait, waiter, reply);
            if (client->call.phase == DUEQ__PHASE_ENDING)
                dueq__wait_finish(client);
        }
        dueq__reply_free(reply);
    }
}

static void pump(dueq_client *client, struct dueq__wait_conn *waiter) {
    struct dueq__call *call = &client->call;
    if (waiter->conn.state == DUEQ__CONN_CLOSED && !waiter->conn.up &&
        (call->phase != DUEQ__PHASE_WAITING ||
         dueq__monotonic_ms() < dueq__wait_conn_retry_ms(client) ||
         dueq__node_is_down(waiter->node) ||
         !dueq__node_connect(client, &waiter->conn, waiter->node)))
        return;
    dueq__conn_pump(&waiter->conn);
    if (waiter->conn.state == DUEQ__CONN_READY) {
        if (waiter->conn.id == 0)
            client->no_unblock = true;
        take_in(client, waiter);
        while (!waiter->blocked && waiter->conn.state == DUEQ__CONN_READY &&
               dueq__wait_may_block(client)) {
            block(client, waiter);
            take_in(client, waiter);
        }
    }
    bool silent = client->cluster && waiter->blocked && dueq__monotonic_ms() >= waiter->until_ms;
    if (silent)
        dueq__fail(&waiter->conn.error, DUEQ_CLOSED, "%s has not ended a block in time",
                   client->url.shown);
    if (silent || (waiter->conn.up && waiter->conn.state == DUEQ__CONN_CLOSED)) {
        /* A wake token may be lost with it. */
        bool blocked = waiter->blocked;
        dueq__wait_conn_close(client, waiter);
        dueq__route_want_refresh(client);
        dueq__wait_on_conn_lost(client, &waiter->conn, blocked);
    }
}

void dueq__wait_conn_pump_all(dueq_client *client) {
    const struct dueq__wait *wait = &client->call.wait;
    if (wait->foreign && !wait->foreign->block)
        return;
    if (client->call.phase == DUEQ__PHASE_WAITING)
        place(client);
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next)
        if (waiter->used && dueq__call_under_way(client))
            pump(client, waiter);
}

int64_t dueq__wait_conn_retry_ms(const dueq_client *client) {
    int64_t retry_ms = client->call.retry_ms;
    return retry_ms > client->reconnect_ms ? retry_ms : client->reconnect_ms;
}

bool dueq__wait_conn_due(const dueq_client *client) {
    const struct dueq__wait *wait = &client->call.wait;
    bool due = false, soon = dueq__wait_checks_soon(wait);
    for (size_t i = 0; i < wait->watch_count; i++) {
        const struct dueq__wait_conn *waiter = wait->watches[i].waiter;
        due = due || (!waiter && dueq__route_node(wait->watches[i].queue)) ||
              (waiter && !waiter->conn.up && !dueq__node_is_down(waiter->node)) ||
              (waiter && waiter->conn.state == DUEQ__CONN_READY && !waiter->blocked && !soon);
    }
    return due && !(wait->foreign && !wait->foreign->block);
}

int64_t dueq__wait_conn_next_ms(const dueq_client *client) {
    int64_t next = DUEQ__NEVER / 1000;
    for (const struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next) {
        if (!waiter->used || !waiter->blocked)
            continue;
        if (waiter->unblocking && waiter->unblock_ms < next &&
            !dueq__node_expects(waiter->node, DUEQ__EXPECT_UNBLOCK))
            next = waiter->unblock_ms;
        if (client->cluster && waiter->until_ms < next)
            next = waiter->until_ms;
    }
    return next;
}

/* ---- Its end ---- */

/* The block may have swallowed a wake token of any of its queues, which then counts as taken. */
void dueq__wait_conn_close(dueq_client *client, struct dueq__wait_conn *waiter) {
    if (waiter->blocked)
        mark(&client->call.wait, waiter, NULL);
    waiter->blocked = waiter->unblocking = waiter->strays = false;
    dueq__conn_close(&waiter->conn);
}

void dueq__wait_conn_drop_node(dueq_client *client, const struct dueq__node *node) {
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next)
        if (waiter->used && waiter->node == node)
            dueq__wait_conn_close(client, waiter);
    if (client->call.wait.foreign)
        dueq__client_unsubscribe(client);
}

void dueq__wait_conn_close_blocked(dueq_client *client) {
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next)
        if (waiter->used && waiter->blocked)
            dueq__wait_conn_close(client, waiter);
}

/*
 * With ERROR, as the nil of a timeout crashes servers whose clients are paused, as in a planned failover (redis/redis#14164,
 * valkey-io/valkey#2117). Where these run the command all the same when the pause ends, its answer is one too many.
 */
bool dueq__wait_conn_unblock(dueq_client *client, struct dueq__wait_conn *waiter) {
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, waiter->conn.id);
    const dueq_bytes words[] = {dueq__text("CLIENT"), dueq__text("UNBLOCK"), dueq__text(id),
                                dueq__text("ERROR")};
    waiter->unblocking =
        !client->no_unblock && dueq__node_send(waiter->node, DUEQ__EXPECT_UNBLOCK, words, 4);
    waiter->unblock_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
    return waiter->unblocking;
}

bool dueq__wait_conn_unblock_all(dueq_client *client) {
    bool blocked = false;
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next) {
        if (!waiter->used || !waiter->blocked)
            continue;
        if (client->no_unblock || (!waiter->unblocking && !dueq__wait_conn_unblock(client, waiter)))
            dueq__wait_conn_close(client, waiter);
        blocked = blocked || waiter->blocked;
    }
    return blocked;
}

void dueq__wait_conn_on_unblock_reply(dueq_client *client, const struct dueq__node *node,
                                      const struct dueq__reply *reply) {
    bool failed = dueq__reply_is_error(reply);
    if (failed) {
        struct dueq__error error = {0};
        dueq__reply_error(reply, &error);
        client->no_unblock = !dueq__backoff_retry_refused(client, &error);
    }
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next) {
        if (!waiter->used || waiter->node != node || !waiter->unblocking)
            continue;
        waiter->unblock_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
        if (failed)
            dueq__wait_conn_close(client, waiter);
    }
    if (failed && client->call.phase == DUEQ__PHASE_ENDING)
        dueq__wait_finish(client);
}

/* An UNBLOCK that the server ran before the block itself has no effect: once more. */
void dueq__wait_conn_unblock_again(dueq_client *client) {
    int64_t now = dueq__monotonic_ms();
    bool closed = false;
    for (struct dueq__wait_conn *waiter = client->waiters; waiter; waiter = waiter->next)
        if (waiter->used && waiter->blocked && waiter->unblocking && now >= waiter->unblock_ms &&
            !dueq__node_expects(waiter->node, DUEQ__EXPECT_UNBLOCK) &&
            !dueq__wait_conn_unblock(client, waiter)) {
            dueq__wait_conn_close(client, waiter);
            closed = true;
        }
    if (closed && client->call.phase == DUEQ__PHASE_ENDING)
        dueq__wait_finish(client);
}
