#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "request.h"

/*
 * What a call that waits is told, on a connection that is subscribed: the next time, by who sets it; or that
 * keys have changed, by the server, which tracks for the command connection what that asks for and tells the
 * subscriber of a channel of its own (redis.io: client-side caching, "two connections mode"). A change is
 * told once and only after it was asked for, so each request that may find nothing asks again before.
 */

#define CHANGES "__redis__:invalidate"
/* Changes may come by the thousand: they make a call look so soon after its last look, at the earliest. */
#define SPACE_US 200000
/*
 * How often a call looks that no change can be told to. Also how soon it looks after a change of the list
 * itself: whoever was to have that item was woken for it, and only an item without a token is there still.
 */
#define LOOK_US 1000000
/* So many refusals in a row: the server, or what stands before it, does not do this. */
#define MAX_REFUSALS 3

static dueq_bytes channel_of(const struct dueq__wait *wait) {
    return wait->told_of == DUEQ__TOLD_TIMES ? wait->watches->wake : dueq__text(CHANGES);
}

static bool subscribed(const dueq_client *client) {
    const struct dueq__subscription *subscription = &client->subscription;
    return subscription->channel.size &&
           dueq__same(subscription->channel, channel_of(&client->call.wait));
}

bool dueq__invalidation_wanted(const dueq_client *client) {
    const struct dueq__wait *wait = &client->call.wait;
    return wait->told_of == DUEQ__TOLD_TIMES ||
           (wait->told_of == DUEQ__TOLD_CHANGES && client->subscription.refusals < MAX_REFUSALS);
}

void dueq__invalidation_hang_up(dueq_client *client) {
    struct dueq__subscription *subscription = &client->subscription;
    free((void *)(uintptr_t)subscription->channel.data);
    subscription->channel = (dueq_bytes){0};
    subscription->up = subscription->on = false;
    subscription->told = 0;
    client->call.wait.told = false;
    dueq__conn_close(subscription->conn);
}

/* ---- Asking to be told of changes ---- */

static bool can_track(const dueq_client *client) {
    return client->call.wait.told_of == DUEQ__TOLD_CHANGES && dueq__invalidation_wanted(client) &&
           client->subscription.on && subscribed(client);
}

static bool send_tracking(dueq_client *client) {
    struct dueq__subscription *subscription = &client->subscription;
    int64_t number = dueq__conn_id(subscription->conn);
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, number);
    /* Only what is asked for is tracked (OPTIN), and what others change (NOLOOP). */
    const dueq_bytes words[] = {dueq__text("CLIENT"),   dueq__text("TRACKING"), dueq__text("ON"),
                                dueq__text("REDIRECT"), {id, strlen(id)},       dueq__text("OPTIN"),
                                dueq__text("NOLOOP")};
    if (subscription->told != number &&
        !dueq__command_send(client, DUEQ__ANSWER_TRACK, words, sizeof words / sizeof *words))
        return false;
    subscription->told = number;
    return true;
}

void dueq__invalidation_track(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    wait->told = false;
    wait->changed_us = DUEQ__NEVER;
    /* A call that finds something at once has no use for it. */
    if (!wait->fruitless || !can_track(client) || !send_tracking(client))
        return;
    const dueq_bytes next[] = {dueq__text("CLIENT"), dueq__text("CACHING"), dueq__text("YES")};
    dueq_bytes read[1 + DUEQ__MAX_TRACKED] = {dueq__text("EXISTS")};
    for (size_t i = 0; i < wait->tracked_count; i++)
        read[1 + i] = wait->tracked[i];
    wait->told = dueq__command_send(client, DUEQ__ANSWER_TRACK, next, 3) &&
                 dueq__command_send(client, DUEQ__ANSWER_TRACK, read, 1 + wait->tracked_count);
}

static void refuse(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__error error = {0};
    dueq__reply_error(reply, &error);
    if (client->subscription.on && !dueq__again_refused(client, &error))
        client->subscription.refusals++;
    dueq__invalidation_hang_up(client);
    dueq__again_later(client);
}

void dueq__invalidation_tracked(dueq_client *client, const struct dueq__reply *reply) {
    int64_t known;
    if (dueq__reply_is_error(reply))
        refuse(client, reply);
    else if (client->subscription.on && dueq__reply_number(reply, &known))
        /* The last of the three is answered, and none before it was refused. */
        client->subscription.refusals = 0;
}

void dueq__invalidation_untold(dueq_client *client) {
    struct dueq__wait *wait = &client->call.wait;
    client->subscription.told = 0;
    if (wait->told && client->call.phase == DUEQ__PHASE_WAITING)
        wait->watches->ask = true;
    wait->told = false;
}

void dueq__invalidation_nothing(dueq_client *client, int64_t now, int64_t pause_ms) {
    struct dueq__wait *wait = &client->call.wait;
    int64_t limit = DUEQ__NEVER;
    wait->fruitless = true;
    if (!wait->told) {
        wait->watches->ask = can_track(client);
        limit = LOOK_US;
    } else if (wait->changed_us != DUEQ__NEVER) {
        int64_t left = wait->changed_us - dueq__monotonic_us();
        limit = left > 0 ? left : 0;
    }
    int64_t pause = pause_ms < 0 ? DUEQ__NEVER : 1000 * pause_ms;
    pause = pause < limit ? pause : limit;
    dueq__wait_nothing(client, now, pause == DUEQ__NEVER ? -1 : pause);
}

/* ---- Being told ---- */

/* The next time, in ms of the server's clock; while the call asks for it, this one may be the older. */
static void told_time(dueq_client *client, const struct dueq__reply *reply) {
    int64_t due;
    bool known = dueq__reply_count(reply) == 3 &&
                 dueq__reply_number(dueq__reply_item(reply, 2), &due) && due >= 0 &&
                 due <= DUEQ_MAX_TIME_MS;
    if (!known || client->call.phase != DUEQ__PHASE_WAITING) {
        client->call.wait.watches->ask = true;
        return;
    }
    int64_t left = due - client->call.wait.ahead_ms - dueq__monotonic_ms();
    dueq__wait_look_by(client, dueq__monotonic_us() + (left > 0 ? left : 0) * 1000);
}

/* The names of keys; none: all have changed. */
static void told_change(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__call *call = &client->call;
    const struct dueq__reply *names = dueq__reply_item(reply, 2);
    bool list = dueq__reply_count(names) > 0;
    for (size_t i = 0; list && i < dueq__reply_count(names); i++) {
        dueq_bytes name = {0};
        list = dueq__reply_bytes(dueq__reply_item(names, i), &name) &&
               dueq__same(name, call->wait.tokened);
    }
    int64_t at = list ? dueq__monotonic_us() + LOOK_US : 1000 * call->asked_ms + SPACE_US;
    if (at < call->wait.changed_us)
        call->wait.changed_us = at;
    if (call->phase == DUEQ__PHASE_WAITING)
        dueq__wait_look_by(client, at);
}

static void take_in(dueq_client *client, const struct dueq__reply *reply) {
    dueq_bytes kind = {0};
    dueq__reply_bytes(dueq__reply_item(reply, 0), &kind);
    if (!dueq__same(kind, dueq__text("message"))) {
        /* From here on nothing is missed, but before it was. */
        client->subscription.on = true;
        client->call.wait.watches->ask = true;
    } else if (client->call.wait.told_of == DUEQ__TOLD_TIMES) {
        told_time(client, reply);
    } else {
        told_change(client, reply);
    }
}

/* ---- The connection ---- */

static bool subscribe(dueq_client *client) {
    struct dueq__subscription *subscription = &client->subscription;
    dueq_bytes channel = channel_of(&client->call.wait);
    struct dueq__resp words;
    const struct dueq__resp *all = &words;
    char *kept = malloc(channel.size);
    if (!kept)
        return false;
    memcpy(kept, channel.data, channel.size);
    subscription->channel = (dueq_bytes){kept, channel.size};
    dueq__resp_init(&words);
    dueq__resp_text(&words, "SUBSCRIBE");
    dueq__resp_bytes(&words, channel.data, channel.size);
    bool sent = dueq__conn_send(subscription->conn, &all, 1);
    dueq__resp_free(&words);
    return sent;
}

/* SUBSCRIBE was answered by an error: its own, or a passing one. */
static void refused(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__error error = {0};
    dueq_status status = dueq__reply_error(reply, &error);
    bool passes = dueq__again_refused(client, &error);
    if (!passes && client->call.wait.told_of == DUEQ__TOLD_CHANGES)
        client->subscription.refusals = MAX_REFUSALS;
    dueq__invalidation_hang_up(client);
    if (!passes && client->call.wait.told_of == DUEQ__TOLD_TIMES &&
        client->call.phase != DUEQ__PHASE_ENDING) {
        client->error = error;
        dueq__call_finish(client, status);
    }
}

static void lost(dueq_client *client) {
    struct dueq__error reason = *dueq__conn_error(client->subscription.conn);
    bool was_on = client->subscription.on;
    bool waiting = client->call.phase == DUEQ__PHASE_WAITING;
    dueq__invalidation_hang_up(client);
    if (waiting && dueq__again_hopeless(client, reason.status)) {
        client->error = reason;
        dueq__call_finish(client, reason.status);
        return;
    }
    dueq__again_later(client);
    if (waiting && was_on)
        /* Something may not have been told. The request also finds out whether the server is there. */
        dueq__wait_ask(client, 0);
    else if (waiting)
        dueq__wait_blind(client);
}

static bool rested(const dueq_client *client) {
    return client->call.phase == DUEQ__PHASE_WAITING &&
           dueq__monotonic_ms() >= client->call.retry_ms;
}

void dueq__invalidation_pump(dueq_client *client) {
    struct dueq__subscription *subscription = &client->subscription;
    if (subscription->channel.size && !subscribed(client))
        dueq__invalidation_hang_up(client);
    if (dueq__conn_state(subscription->conn) == DUEQ__CONN_CLOSED && !subscription->up) {
        if (!rested(client) || !dueq__command_connect(client, subscription->conn))
            return;
        subscription->up = true;
    }
    dueq__conn_pump(subscription->conn);
    if (dueq__conn_state(subscription->conn) == DUEQ__CONN_READY && !subscription->channel.size &&
        rested(client)) {
        if (subscribe(client)) {
            dueq__conn_pump(subscription->conn);
        } else {
            dueq__invalidation_hang_up(client);
            dueq__again_later(client);
        }
    }
    for (;;) {
        struct dueq__reply *reply = dueq__conn_reply(subscription->conn);
        if (!reply)
            break;
        if (dueq__reply_is_error(reply))
            refused(client, reply);
        else
            take_in(client, reply);
        dueq__reply_free(reply);
        if (!dueq__call_under_way(client))
            return;
    }
    if (subscription->up && dueq__conn_state(subscription->conn) == DUEQ__CONN_CLOSED)
        lost(client);
}

int64_t dueq__invalidation_next_ms(const dueq_client *client) {
    const struct dueq__subscription *subscription = &client->subscription;
    bool due = !subscription->up || (dueq__conn_state(subscription->conn) == DUEQ__CONN_READY &&
                                     !subscription->channel.size);
    return due ? client->call.retry_ms : DUEQ__NEVER / 1000;
}
