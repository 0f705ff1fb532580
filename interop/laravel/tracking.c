#include <inttypes.h>
#include <stdio.h>

#include "laravel.h"

/*
 * How a waiting call learns that other clients have changed the queue's keys. The server tracks
 * keys that the command connection reads, and tells their changes to a second connection, the
 * subscriber of __redis__:invalidate (redis.io: client-side caching, "two connections mode"). It
 * tells one change for each read. So the call reads the keys again before each request that may
 * find nothing.
 */

/*
 * Changes may come by the thousand. After one, a call looks so long after its last look, or later.
 */
#define SPACE_US 200000
/*
 * How often a call looks while the server tells no changes. Also how long it waits after a change
 * of the list alone: a job that comes with a token wakes a worker, which takes that job in this
 * time. Only a job without a token is then still in the list.
 */
#define LOOK_US 1000000

/*
 * The keys with due times, and the list, to which jobs may come without a token. A producer that
 * delays a job, and a worker that reserves one, add no token; up to Laravel 5.7 a push added none
 * either.
 */
static const int tracked[] = {DUEQ__LARAVEL_LATER, DUEQ__LARAVEL_RESERVED, DUEQ__LARAVEL_JOBS};

static bool can_track(const dueq_client *client) {
    return client->subscription.confirmed && client->subscription.refusals < DUEQ__MAX_REFUSALS;
}

/* True: the server tells of changes since the last request. */
static bool gets_changes(const dueq_client *client) {
    return dueq__laravel_of(client)->tracking && client->node->conn.state == DUEQ__CONN_READY &&
           client->subscription.tracked_id == client->node->conn.id;
}

static bool send_tracking(dueq_client *client) {
    struct dueq__subscription *subscription = &client->subscription;
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, subscription->conn.id);
    /* OPTIN: only keys read behind CLIENT CACHING YES. NOLOOP: only changes by other clients. */
    const dueq_bytes words[] = {dueq__text("CLIENT"),   dueq__text("TRACKING"), dueq__text("ON"),
                                dueq__text("REDIRECT"), dueq__text(id),         dueq__text("OPTIN"),
                                dueq__text("NOLOOP")};
    if (subscription->tracked_id != client->node->conn.id &&
        !dueq__node_send(client->node, DUEQ__EXPECT_TRACK, words, sizeof words / sizeof *words))
        return false;
    subscription->tracked_id = client->node->conn.id;
    return true;
}

void dueq__laravel_track(dueq_client *client) {
    dueq_laravel *queue = dueq__laravel_of(client);
    queue->tracking = false;
    queue->changed_us = DUEQ__NEVER;
    /* A call that finds a job by its first request needs no tracking. */
    if (!queue->found_nothing || !can_track(client) || !send_tracking(client))
        return;
    const dueq_bytes next[] = {dueq__text("CLIENT"), dueq__text("CACHING"), dueq__text("YES")};
    dueq_bytes read[1 + sizeof tracked / sizeof *tracked] = {dueq__text("EXISTS")};
    for (size_t i = 0; i < queue->tracked_count; i++)
        read[1 + i] = queue->queue.keys[tracked[i]];
    queue->tracking =
        dueq__node_send(client->node, DUEQ__EXPECT_TRACK, next, 3) &&
        dueq__node_send(client->node, DUEQ__EXPECT_TRACK, read, 1 + queue->tracked_count);
}

void dueq__laravel_tracked(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__error error = {0};
    int64_t known;
    if (dueq__reply_is_error(reply)) {
        dueq__reply_error(reply, &error);
        if (client->subscription.confirmed && !dueq__backoff_retry_refused(client, &error))
            client->subscription.refusals++;
        dueq__laravel_of(client)->tracking = false;
        dueq__client_unsubscribe(client);
        dueq__backoff_retry_later(client, error.text);
    } else if (client->subscription.confirmed && dueq__reply_number(reply, &known)) {
        /* Only EXISTS, the last of the three commands, answers a number: none was refused. */
        client->subscription.refusals = 0;
    }
}

void dueq__laravel_nothing(dueq_client *client, int64_t now, int64_t pause_ms) {
    dueq_laravel *queue = dueq__laravel_of(client);
    int64_t limit = DUEQ__NEVER;
    queue->found_nothing = true;
    if (!gets_changes(client)) {
        if (can_track(client))
            dueq__wait_ask_again(client);
        limit = LOOK_US;
    } else if (queue->changed_us != DUEQ__NEVER) {
        int64_t left = queue->changed_us - dueq__monotonic_us();
        limit = left > 0 ? left : 0;
    }
    int64_t pause = pause_ms < 0 ? DUEQ__NEVER : 1000 * pause_ms;
    pause = pause < limit ? pause : limit;
    dueq__wait_found_nothing(client, now, pause == DUEQ__NEVER ? -1 : pause);
}

/* names: the changed keys; no list: the server has deleted all keys (FLUSHALL). */
static void key_changed(dueq_client *client, const struct dueq__reply *names) {
    dueq_laravel *queue = dueq__laravel_of(client);
    bool list = dueq__reply_count(names) > 0;
    for (size_t i = 0; list && i < dueq__reply_count(names); i++) {
        dueq_bytes name = {0};
        list = dueq__reply_bytes(dueq__reply_item(names, i), &name) &&
               dueq__bytes_equal(name, queue->queue.keys[DUEQ__LARAVEL_JOBS]);
    }
    int64_t at =
        list ? dueq__monotonic_us() + LOOK_US : 1000 * client->op->request.sent_ms + SPACE_US;
    if (at < queue->changed_us)
        queue->changed_us = at;
    if (dueq__wait_is_idle(client->op))
        dueq__wait_check_by(client, at);
}

void dueq__laravel_listen(dueq_client *client) {
    const struct dueq__channel channel = {dueq__text("__redis__:invalidate"), false, key_changed};
    dueq_laravel *queue = dueq__laravel_of(client);
    if (queue->tracking && !gets_changes(client) && dueq__wait_is_idle(client->op)) {
        queue->tracking = false;
        dueq__wait_ask_again(client);
    }
    if (client->subscription.refusals < DUEQ__MAX_REFUSALS)
        dueq__subscription_pump(client, &channel);
    else if (client->subscription.conn.opened)
        dueq__client_unsubscribe(client);
}

int64_t dueq__laravel_listen_ms(const dueq_client *client) {
    return client->subscription.refusals < DUEQ__MAX_REFUSALS ? dueq__subscription_next_ms(client)
                                                              : DUEQ__NEVER / 1000;
}
