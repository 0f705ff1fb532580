#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

/*
 * The connections on which a call waits: one for the queues of a slot, and so one for all queues of
 * a single server.
 */

/* The longest block. It ends, so that the server's list does not keep vanished consumers. */
#define MAX_BLOCK_MS 300000
/*
 * The same in a cluster: while a slot moves key by key, its blocked clients hear nothing until the
 * move is over (redis/redis#2379).
 */
#define MAX_CLUSTER_BLOCK_MS 10000
/* How often a call checks a foreign list while the server has no memory to park an item. */
#define FULL_CHECK_MS 500
#define UNBLOCK_AGAIN_MS 5
/* If a block has no answer this long after its end, the server is gone. */
#define BLOCK_GRACE_MS 1000

/* The choice of a connection */

static struct dueq__wait_conn *new_wait_conn(dueq_client *client) {
    struct dueq__wait_conn *wait_conn = calloc(1, sizeof *wait_conn);
    if (!wait_conn)
        return NULL;
    dueq__conn_init(&wait_conn->conn, &client->url, client->name, NULL);
    wait_conn->conn.blocking = true;
    dueq__client_add_conn(client, &wait_conn->conn);
    wait_conn->next = client->wait_conns;
    client->wait_conns = wait_conn;
    return wait_conn;
}

/*
 * A connection for a slot: that of another queue of the call with this slot, or of an earlier call;
 * else an unused one, if possible to this node; else a new one. NULL: out of memory.
 */
static struct dueq__wait_conn *wait_conn_of(dueq_client *client, struct dueq__node *node,
                                            int slot) {
    struct dueq__wait_conn *unused = NULL, **noted = dueq__route_wait_conn(client, slot);
    if (noted && *noted && (*noted)->slot == slot) {
        if ((*noted)->use == DUEQ__WAIT_CONN_FREE)
            (*noted)->use = (*noted)->kept ? (*noted)->kept : DUEQ__WAIT_CONN_IDLE;
        (*noted)->kept = DUEQ__WAIT_CONN_FREE;
        return *noted;
    }
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        if (it->use && it->slot == slot)
            return it;
        if (!it->use && !it->kept && (!unused || it->node == node))
            unused = it;
    }
    if (!unused)
        unused = new_wait_conn(client);
    if (unused) {
        unused->use = DUEQ__WAIT_CONN_IDLE;
        unused->slot = slot;
    }
    if (unused && noted)
        *noted = unused;
    return unused;
}

/*
 * Gives each queue of the call a connection to the node that has the queue, if that is known. A
 * block that an earlier call left is used if it is for this queue.
 */
static void assign_wait_conns(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        struct dueq__node *node = dueq__route_node(watch->queue);
        bool is_new = !watch->wait_conn && node;
        if (is_new)
            watch->wait_conn = wait_conn_of(client, node, watch->queue->slot);
        if (!node || !watch->wait_conn)
            continue;
        bool blocks_else = is_new && dueq__wait_conn_blocks(watch->wait_conn) &&
                           watch->wait_conn->only_queue != watch->queue;
        if (watch->wait_conn->node == node && !blocks_else)
            continue;
        dueq__wait_conn_close(client, watch->wait_conn);
        watch->wait_conn->node = node;
    }
}

bool dueq__wait_conn_blocks(const struct dueq__wait_conn *wait_conn) {
    return wait_conn->use >= DUEQ__WAIT_CONN_BLOCKS;
}

size_t dueq__wait_conn_count(const dueq_client *client) {
    size_t slots = 0;
    for (const struct dueq__wait_conn *it = client->wait_conns; it; it = it->next)
        slots += it->use != DUEQ__WAIT_CONN_FREE;
    return slots ? slots : 1;
}

void dueq__wait_conn_release_all(dueq_client *client) {
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        if (dueq__wait_conn_blocks(it))
            dueq__wait_conn_close(client, it);
        it->use = DUEQ__WAIT_CONN_FREE;
    }
}

/* The block */

static bool send_block(dueq_client *client, struct dueq__wait_conn *wait_conn, int64_t left_ms) {
    const struct dueq__wait *wait = &client->op->wait;
    struct dueq__resp words = {0};
    size_t count = 0;
    char seconds[32];
    if (wait->terms.foreign) {
        wait->terms.foreign->block(client, &words);
    } else {
        dueq__resp_text(&words, "BZPOPMIN");
        for (size_t i = 0; i < wait->watch_count; i++)
            if (wait->watches[i].wait_conn == wait_conn) {
                dueq__resp_bytes(&words, wait->watches[i].wake_key.data,
                                 wait->watches[i].wake_key.size);
                wait_conn->only_queue = count++ ? NULL : wait->watches[i].queue;
            }
    }
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, left_ms / 1000, left_ms % 1000);
    dueq__resp_text(&words, seconds);
    return dueq__conn_send_words(&wait_conn->conn, &words);
}

static void start_block(dueq_client *client, struct dueq__wait_conn *wait_conn) {
    struct dueq__wait *wait = &client->op->wait;
    int64_t now = dueq__monotonic_ms(), left = wait->until_ms - now + 1000;
    int64_t longest = client->cluster ? MAX_CLUSTER_BLOCK_MS : MAX_BLOCK_MS;
    int64_t check_ms = dueq__wait_next_check_us(wait) / 1000;
    if (client->no_unblock)
        left = (check_ms < wait->until_ms ? check_ms : wait->until_ms) - now;
    if (client->no_unblock && wait->probe_ms - now < left)
        left = wait->probe_ms - now;
    left = left < 1 ? 1 : left > longest ? longest : left;
    wait_conn->block_deadline_ms = now + left + BLOCK_GRACE_MS;
    if (!send_block(client, wait_conn, left)) {
        dueq__wait_conn_close(client, wait_conn);
        return;
    }
    wait_conn->use = DUEQ__WAIT_CONN_BLOCKS;
    dueq__conn_pump(&wait_conn->conn);
}

/* The block took the wake token of the key; NULL: it may have taken that of any of its queues. */
static void mark_tokens_taken(struct dueq__wait *wait, const struct dueq__wait_conn *wait_conn,
                              const dueq_bytes *key) {
    for (size_t i = 0; i < wait->watch_count; i++)
        if (wait->watches[i].wait_conn == wait_conn &&
            (!key || dueq__bytes_equal(*key, wait->watches[i].wake_key))) {
            dueq__wait_take_token(&wait->watches[i]);
            if (!key && wait->terms.kind < DUEQ__WAIT_LOCK && !wait->terms.foreign)
                wait->watches[i].place_ms = DUEQ__ANY_PLACE;
        }
}

/* The block took the token of the next event of that queue. */
static void take_time(dueq_client *client, const struct dueq__wait_conn *wait_conn, dueq_bytes key,
                      int64_t at_ms) {
    struct dueq__wait *wait = &client->op->wait;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (wait->watches[i].wait_conn == wait_conn &&
            dueq__bytes_equal(key, wait->watches[i].wake_key))
            dueq__wait_take_time(client, &wait->watches[i], at_ms);
}

/*
 * The answer to a block: nil, a list of the key, the token and its score, or the item that was
 * parked.
 */
static void on_block_reply(dueq_client *client, const struct dueq__wait_conn *wait_conn,
                           const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->op->wait;
    dueq_bytes key, token;
    int64_t at_ms;
    bool parked = dueq__reply_bytes(reply, &key);
    if (!parked && !wait->terms.foreign && dueq__reply_bytes(dueq__reply_item(reply, 0), &key) &&
        dueq__reply_bytes(dueq__reply_item(reply, 1), &token) &&
        dueq__bytes_equal(token, dueq__text("t")) &&
        dueq__reply_number(dueq__reply_item(reply, 2), &at_ms) && at_ms > 0 &&
        at_ms <= DUEQ_MAX_TIME_MS)
        take_time(client, wait_conn, key, at_ms);
    else if (parked || dueq__reply_bytes(dueq__reply_item(reply, 0), &key))
        mark_tokens_taken(wait, wait_conn, parked ? NULL : &key);
}

/* The block ended with an error. */
static void on_block_error(dueq_client *client, struct dueq__wait_conn *wait_conn,
                           const struct dueq__reply *reply) {
    struct dueq__watch *watch = client->op->wait.watches;
    struct dueq__error error = {0};
    dueq_status status = dueq__reply_error(reply, &error);
    if (client->op->phase == DUEQ__PHASE_ENDING)
        return;
    if (dueq__route_follow(client, wait_conn->node, reply, false))
        return;
    if (status == DUEQ_FULL) {
        /* The server cannot park an item, but a request can take one. */
        dueq__backoff_retry_later(client, error.text);
        if (watch->next_check_us == DUEQ__NEVER)
            watch->next_check_us = dueq__monotonic_us() + FULL_CHECK_MS * 1000;
    } else if (dueq__backoff_retry_refused(client, &error)) {
        /* Meanwhile requests find out whether it has passed, perhaps on another server. */
        dueq__wait_conn_close(client, wait_conn);
        dueq__wait_fall_back_to_checks(client);
    } else {
        client->error = error;
        dueq__op_finish(client, status);
    }
}

/* Reads the answers on the connection. False: there was none. */
static bool read_replies(dueq_client *client, struct dueq__wait_conn *wait_conn) {
    struct dueq__reply *reply;
    bool any = false;
    /* The answer to a block on another system's list may be a message. */
    const uint64_t most =
        client->op->wait.terms.foreign ? DUEQ__MAX_MESSAGE_REPLY : DUEQ__MAX_SMALL_REPLY;
    while (dueq__op_under_way(client) && (reply = dueq__conn_reply(&wait_conn->conn, most))) {
        any = true;
        if (!dueq__wait_conn_blocks(wait_conn)) {
            bool strays = wait_conn->late_reply;
            dueq__wait_conn_close(client, wait_conn);
            if (strays)
                on_block_reply(client, wait_conn, reply);
            else
                dueq__command_unexpected_reply(client);
        } else {
            wait_conn->use = DUEQ__WAIT_CONN_IDLE;
            if (dueq__reply_begins(reply, "UNBLOCKED client unblocked"))
                wait_conn->late_reply = true;
            else if (dueq__reply_is_error(reply))
                on_block_error(client, wait_conn, reply);
            else
                on_block_reply(client, wait_conn, reply);
            if (client->op->phase == DUEQ__PHASE_ENDING)
                dueq__wait_finish(client);
        }
        dueq__reply_free(reply);
    }
    return any;
}

/*
 * *may_block: what dueq__wait_may_block() said last. It looks at all queues, so it is called for
 * all connections together, and again after an answer.
 */
static void pump(dueq_client *client, struct dueq__wait_conn *wait_conn, bool *may_block) {
    struct dueq__op *op = client->op;
    if (wait_conn->conn.state == DUEQ__CONN_CLOSED && !wait_conn->conn.opened &&
        (!dueq__wait_is_idle(op) || dueq__monotonic_ms() < dueq__wait_conn_retry_ms(client) ||
         dueq__node_is_down(wait_conn->node) ||
         !dueq__node_connect(client, &wait_conn->conn, wait_conn->node)))
        return;
    if (!wait_conn->quiet)
        dueq__conn_pump(&wait_conn->conn);
    if (wait_conn->conn.state == DUEQ__CONN_READY) {
        if (wait_conn->conn.id == 0)
            client->no_unblock = true;
        if (!wait_conn->quiet && read_replies(client, wait_conn))
            *may_block = dueq__wait_may_block(client);
        while (!dueq__wait_conn_blocks(wait_conn) && wait_conn->conn.state == DUEQ__CONN_READY &&
               *may_block) {
            start_block(client, wait_conn);
            if (read_replies(client, wait_conn))
                *may_block = dueq__wait_may_block(client);
        }
    }
    bool silent = client->cluster && dueq__wait_conn_blocks(wait_conn) &&
                  dueq__monotonic_ms() >= wait_conn->block_deadline_ms;
    if (silent)
        dueq__fail(&wait_conn->conn.error, DUEQ_CLOSED, "%s has not ended a block in time",
                   client->url.shown);
    if (silent || (wait_conn->conn.opened && wait_conn->conn.state == DUEQ__CONN_CLOSED)) {
        /* The lost answer may have been a wake token. */
        bool blocked = dueq__wait_conn_blocks(wait_conn);
        dueq__wait_conn_close(client, wait_conn);
        dueq__route_want_refresh(client);
        dueq__wait_on_conn_lost(client, &wait_conn->conn, blocked);
    }
}

/*
 * In a cluster there may be hundreds of connections, one for each slot. The loop watches them all,
 * and says which have bytes. The others are quiet: the client does not read them. With TLS none is,
 * as OpenSSL may hold bytes that it has read already.
 */
static void find_quiet(dueq_client *client) {
    int ready[DUEQ__MOST_READY];
    size_t count = DUEQ__MOST_READY;
    if (client->cluster && client->descriptor && client->url.transport == DUEQ__TCP)
        count = dueq__loop_ready(client->descriptor, ready, DUEQ__MOST_READY);
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        it->quiet = it->use && count < DUEQ__MOST_READY && it->conn.state == DUEQ__CONN_READY &&
                    it->conn.entry->events == POLLIN && dueq__conn_events(&it->conn) == POLLIN;
        for (size_t i = 0; it->quiet && i < count; i++)
            it->quiet = ready[i] != dueq__conn_fd(&it->conn);
    }
}

void dueq__wait_conn_pump_all(dueq_client *client) {
    const struct dueq__wait *wait = &client->op->wait;
    if (wait->terms.foreign && !wait->terms.foreign->block)
        return;
    if (dueq__wait_is_idle(client->op))
        assign_wait_conns(client);
    find_quiet(client);
    bool may_block = dueq__wait_may_block(client);
    int64_t now = dueq__monotonic_ms();
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        bool rests = it->quiet && dueq__wait_conn_blocks(it) && now < it->block_deadline_ms;
        if (it->use && !rests && dueq__op_under_way(client))
            pump(client, it, &may_block);
    }
}

int64_t dueq__wait_conn_retry_ms(const dueq_client *client) {
    int64_t retry_ms = client->op->retry.next_ms;
    return retry_ms > client->reconnect_ms ? retry_ms : client->reconnect_ms;
}

int64_t dueq__wait_conn_next_ms(const dueq_client *client) {
    int64_t next = DUEQ__NEVER / 1000, retry_ms = dueq__wait_conn_retry_ms(client);
    bool waits = dueq__wait_is_idle(client->op), backs_off = dueq__monotonic_ms() < retry_ms;
    for (const struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        /* When the back-off is over, it connects, or blocks. */
        bool retries = it->conn.opened ? it->conn.state == DUEQ__CONN_READY && backs_off
                                       : !dueq__node_is_down(it->node);
        if (waits && it->use == DUEQ__WAIT_CONN_IDLE && retries && retry_ms < next)
            next = retry_ms;
        if (it->use == DUEQ__WAIT_CONN_ENDS && it->unblock_again_ms < next &&
            !dueq__node_expects(it->node, DUEQ__EXPECT_UNBLOCK))
            next = it->unblock_again_ms;
        if (client->cluster && dueq__wait_conn_blocks(it) && it->block_deadline_ms < next)
            next = it->block_deadline_ms;
    }
    return next;
}

/* Its end */

/* The block may have swallowed a wake token of any of its queues, which then counts as taken. */
void dueq__wait_conn_close(dueq_client *client, struct dueq__wait_conn *wait_conn) {
    if (dueq__wait_conn_blocks(wait_conn)) {
        mark_tokens_taken(&client->op->wait, wait_conn, NULL);
        wait_conn->use = DUEQ__WAIT_CONN_IDLE;
    }
    client->lost_conns += wait_conn->kept != DUEQ__WAIT_CONN_FREE;
    wait_conn->kept = DUEQ__WAIT_CONN_FREE;
    wait_conn->late_reply = false;
    dueq__conn_close(&wait_conn->conn);
}

void dueq__wait_conn_drop_node(dueq_client *client, const struct dueq__node *node) {
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next)
        if ((it->use || it->kept) && it->node == node)
            dueq__wait_conn_close(client, it);
    if (client->op->wait.terms.foreign)
        dueq__client_unsubscribe(client);
}

void dueq__wait_conn_close_blocked(dueq_client *client) {
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next)
        if (dueq__wait_conn_blocks(it))
            dueq__wait_conn_close(client, it);
}

void dueq__wait_conn_keep(dueq_client *client) {
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next)
        if (client->op->wait.terms.keeps_blocks && client->cluster && !client->no_unblock &&
            it->use == DUEQ__WAIT_CONN_BLOCKS && it->only_queue) {
            it->use = DUEQ__WAIT_CONN_FREE;
            it->kept = DUEQ__WAIT_CONN_BLOCKS;
        }
}

void dueq__wait_conn_end_kept(dueq_client *client) {
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        if (it->kept != DUEQ__WAIT_CONN_BLOCKS)
            continue;
        if (dueq__wait_conn_unblock(client, it))
            it->kept = DUEQ__WAIT_CONN_ENDS;
        else
            dueq__wait_conn_close(client, it);
        it->use = DUEQ__WAIT_CONN_FREE;
    }
    for (struct dueq__node *node = client->nodes; node; node = node->next)
        if (dueq__node_expects(node, DUEQ__EXPECT_UNBLOCK))
            dueq__conn_flush(&node->conn);
}

void dueq__wait_conn_close_kept(dueq_client *client, const dueq_queue *queue) {
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next)
        if (it->kept && (!queue || it->only_queue == queue))
            dueq__wait_conn_close(client, it);
}

/*
 * With ERROR, because the nil of a timeout crashes servers whose clients are paused, as in a
 * planned failover (redis/redis#14164, valkey-io/valkey#2117). Such a server may still run the
 * blocking command when the pause ends, and answer it a second time (late_reply).
 */
bool dueq__wait_conn_unblock(dueq_client *client, struct dueq__wait_conn *wait_conn) {
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, wait_conn->conn.id);
    const dueq_bytes words[] = {dueq__text("CLIENT"), dueq__text("UNBLOCK"), dueq__text(id),
                                dueq__text("ERROR")};
    bool sent =
        !client->no_unblock && dueq__node_send(wait_conn->node, DUEQ__EXPECT_UNBLOCK, words, 4);
    wait_conn->use = sent ? DUEQ__WAIT_CONN_ENDS : DUEQ__WAIT_CONN_BLOCKS;
    wait_conn->unblock_again_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
    return sent;
}

bool dueq__wait_conn_unblock_all(dueq_client *client) {
    bool blocked = false;
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        if (client->no_unblock
                ? dueq__wait_conn_blocks(it)
                : it->use == DUEQ__WAIT_CONN_BLOCKS && !dueq__wait_conn_unblock(client, it))
            dueq__wait_conn_close(client, it);
        blocked = blocked || dueq__wait_conn_blocks(it);
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
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next) {
        if (it->node != node || it->use != DUEQ__WAIT_CONN_ENDS)
            continue;
        it->unblock_again_ms = dueq__monotonic_ms() + UNBLOCK_AGAIN_MS;
        if (failed)
            dueq__wait_conn_close(client, it);
    }
    if (failed && client->op->phase == DUEQ__PHASE_ENDING)
        dueq__wait_finish(client);
}

/* An UNBLOCK has no effect if the server ran it before the block. So it is sent again. */
void dueq__wait_conn_unblock_again(dueq_client *client) {
    int64_t now = dueq__monotonic_ms();
    bool closed = false;
    for (struct dueq__wait_conn *it = client->wait_conns; it; it = it->next)
        if (it->use == DUEQ__WAIT_CONN_ENDS && now >= it->unblock_again_ms &&
            !dueq__node_expects(it->node, DUEQ__EXPECT_UNBLOCK) &&
            !dueq__wait_conn_unblock(client, it)) {
            dueq__wait_conn_close(client, it);
            closed = true;
        }
    if (closed && client->op->phase == DUEQ__PHASE_ENDING)
        dueq__wait_finish(client);
}
