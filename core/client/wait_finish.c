#include <inttypes.h>
#include <stdio.h>

#include "client.h"

/* The end of a wait: it ends its blocks, and gives tokens and timekeeping back. */

/*
 * Each client tries a lock, and looks whether a message has ended, before it waits. So a wake token
 * that no client takes may expire.
 */
#define TOKEN_SECONDS "60"

/* Gives back a token or an item that this client does not need: it wakes another consumer. */
static void give_back_token(dueq_client *client, struct dueq__node *node,
                            const struct dueq__watch *watch) {
    const struct dueq__wait *wait = &client->op->wait;
    const dueq_bytes words[] = {dueq__text("ZADD"), watch->wake_key, dueq__text("0"),
                                dueq__text("w")};
    const dueq_bytes end[] = {dueq__text("EXPIRE"), watch->wake_key, dueq__text(TOKEN_SECONDS)};
    if (wait->terms.foreign) {
        client->node = node;
        wait->terms.foreign->give_back(client, watch);
        return;
    }
    dueq__node_send(node, DUEQ__EXPECT_IGNORED, words, 4);
    if (wait->terms.kind == DUEQ__WAIT_LOCK || wait->terms.kind == DUEQ__WAIT_END)
        dueq__node_send(node, DUEQ__EXPECT_IGNORED, end, 3);
}

/*
 * The server expects this client to keep a queue's time, or to use a wake token. Gives both back,
 * but for the duties in `kept`, without blocking.
 */
static void give_back_duties(dueq_client *client, unsigned kept) {
    struct dueq__wait *wait = &client->op->wait;
    for (size_t i = 0; i < wait->watch_count; i++) {
        struct dueq__watch *watch = &wait->watches[i];
        unsigned returned = watch->duties & ~kept;
        struct dueq__node *node = returned ? dueq__route_node(watch->queue) : NULL;
        if (node && (returned >= DUEQ__DUTY_TIMEKEEPER || (returned && watch->place_ms > 0))) {
            struct dueq__resp words = {0};
            wait->terms.build_release(client, watch, &words);
            dueq__node_send_resp(node, DUEQ__EXPECT_IGNORED, &words);
        } else if (node) {
            give_back_token(client, node, watch);
        }
        if (node && dueq__node_expects(node, DUEQ__EXPECT_IGNORED))
            dueq__conn_flush(&node->conn);
        watch->duties &= kept;
        watch->place_ms = watch->duties ? watch->place_ms : 0;
    }
}

/* The duties that the end of the call does not give back: the caller has them from then on. */
static unsigned kept_duties(const struct dueq__wait *wait) {
    return wait->terms.keeps_time || wait->took_time ? DUEQ__DUTY_TIMEKEEPER : 0;
}

/* The first queue with a duty of at least this value to give back; watch_count: none. */
static size_t first_duty(const struct dueq__wait *wait, unsigned least) {
    size_t i = 0;
    unsigned kept = kept_duties(wait);
    while (i < wait->watch_count && (wait->watches[i].duties & ~kept) < least)
        i++;
    return i;
}

void dueq__wait_keep_result(dueq_client *client, dueq_result *result) {
    struct dueq__op *op = client->op;
    dueq_result_free(op->result);
    op->result = result;
    op->wait.quarantined += result->quarantined;
    result->quarantined = op->wait.quarantined;
}

void dueq__wait_finish_found(dueq_client *client, dueq_result *result) {
    if (!result) {
        dueq__op_finish(client, client->error.status);
        return;
    }
    dueq__wait_keep_result(client, result);
    dueq__wait_finish(client);
}

void dueq__wait_finish(dueq_client *client) {
    struct dueq__op *op = client->op;
    struct dueq__wait *wait = &op->wait;
    bool found = dueq__op_found(op);
    if (op->phase != DUEQ__PHASE_ENDING) {
        op->phase = DUEQ__PHASE_ENDING;
        int64_t limit = dueq__monotonic_ms() + client->url.timeout_ms;
        wait->end_ms = limit < wait->end_ms ? limit : wait->end_ms;
        op->retry.deadline_ms = wait->end_ms;
    }
    if (found)
        dueq__wait_conn_keep(client);
    if (dueq__wait_conn_unblock_all(client) &&
        (found || first_duty(wait, DUEQ__DUTY_TIMEKEEPER) == wait->watch_count))
        return;
    if (!found && first_duty(wait, DUEQ__DUTY_TOKEN) < wait->watch_count) {
        /* A last request tells the server of the token or the timekeeping, and so gives it back. */
        dueq__wait_request(client, first_duty(wait, DUEQ__DUTY_TOKEN));
        return;
    }
    bool several = client->cluster && wait->watch_count > 1;
    if (!found && (several ? dueq__wait_all_nodes_down(wait) : client->failures > 0)) {
        /* After failures the call does not know that there is nothing: it asks until its end. */
        dueq__wait_request(client, wait->current);
        return;
    }
    give_back_duties(client, kept_duties(wait));
    dueq__op_finish(client, found                                 ? DUEQ_OK
                            : wait->terms.kind == DUEQ__WAIT_LOCK ? DUEQ_TAKEN
                                                                  : DUEQ_EMPTY);
}

void dueq__wait_finish_pump(dueq_client *client) {
    struct dueq__op *op = client->op;
    dueq__wait_conn_unblock_again(client);
    if (op->phase != DUEQ__PHASE_ENDING || dueq__monotonic_ms() < op->retry.deadline_ms)
        return;
    dueq__wait_conn_close_blocked(client);
    dueq__node_drop(client, client->node);
    if (dueq__op_found(op)) {
        dueq__op_finish(client, DUEQ_OK);
    } else {
        dueq__fail(&client->error, DUEQ_TIMEOUT, "%s does not answer any more", client->url.shown);
        dueq__op_finish(client, DUEQ_TIMEOUT);
    }
}

bool dueq__wait_has_duties(const struct dueq__wait *wait) {
    size_t i = 0;
    while (i < wait->watch_count && !wait->watches[i].duties)
        i++;
    return i < wait->watch_count;
}

void dueq__wait_abandon(dueq_client *client) {
    struct dueq__wait *wait = &client->op->wait;
    if (!wait->watches)
        return;
    struct dueq__watch *asked = &wait->watches[wait->current];
    if (!asked->place_ms)
        asked->place_ms = wait->told_place_ms;
    /*
     * The server may have made this client the timekeeper in a reply that the client never reads.
     */
    if (wait->terms.build_release &&
        (dueq__node_expects(client->node, DUEQ__EXPECT_CALL) || dueq__op_found(client->op)))
        asked->duties |= DUEQ__DUTY_TIMEKEEPER;
    else if (wait->told_duties && !wait->terms.foreign)
        dueq__wait_take_token(asked); /* the server has refused the request */
    if (dueq__wait_conn_unblock_all(client))
        dueq__wait_conn_close_blocked(client);
    give_back_duties(client, 0);
}
