#include "subscription.h"

#include <stdlib.h>

static bool subscribe(dueq_client *client, dueq_bytes channel) {
    struct dueq__subscription *subscription = &client->subscription;
    struct dueq__resp words = {0};
    char *kept = malloc(channel.size);
    if (!kept)
        return false;
    memcpy(kept, channel.data, channel.size);
    subscription->channel = (dueq_bytes){kept, channel.size};
    dueq__resp_text(&words, "SUBSCRIBE");
    dueq__resp_bytes(&words, channel.data, channel.size);
    return dueq__conn_send_words(&subscription->conn, &words);
}

/*
 * The server answered SUBSCRIBE with an error. If the error may pass, the client subscribes again
 * later. Any other error ends the call, or, if the call does not need the channel, the attempts to
 * subscribe.
 */
static void refused(dueq_client *client, bool needed, const struct dueq__reply *reply) {
    struct dueq__error error = {0};
    dueq_status status = dueq__reply_error(reply, &error);
    bool passes = dueq__backoff_retry_refused(client, &error);
    dueq__client_unsubscribe(client);
    if (passes)
        return;
    if (!needed) {
        client->subscription.refusals = DUEQ__MAX_REFUSALS;
    } else if (client->op->phase != DUEQ__PHASE_ENDING) {
        client->error = error;
        dueq__op_finish(client, status);
    }
}

static void take_in(dueq_client *client, const struct dueq__channel *channel,
                    const struct dueq__reply *reply) {
    dueq_bytes kind = {0};
    dueq__reply_bytes(dueq__reply_item(reply, 0), &kind);
    if (dueq__reply_is_error(reply)) {
        refused(client, channel->needed, reply);
    } else if (dueq__bytes_equal(kind, dueq__text("message"))) {
        channel->on_message(client, dueq__reply_item(reply, 2));
    } else {
        /* The server tells of changes from now on. The call asks for earlier ones itself. */
        client->subscription.confirmed = true;
        dueq__wait_ask_again(client);
    }
}

static bool rested(const dueq_client *client) {
    return dueq__wait_is_idle(client->op) &&
           dueq__monotonic_ms() >= dueq__wait_conn_retry_ms(client);
}

void dueq__subscription_pump(dueq_client *client, const struct dueq__channel *channel) {
    struct dueq__subscription *subscription = &client->subscription;
    if (subscription->channel.size && !dueq__bytes_equal(subscription->channel, channel->name))
        dueq__client_unsubscribe(client);
    if (subscription->conn.state == DUEQ__CONN_CLOSED && !subscription->conn.opened &&
        (!rested(client) || !dueq__node_connect(client, &subscription->conn, client->node)))
        return;
    dueq__conn_pump(&subscription->conn);
    if (subscription->conn.state == DUEQ__CONN_READY && !subscription->channel.size &&
        rested(client)) {
        if (subscribe(client, channel->name)) {
            dueq__conn_pump(&subscription->conn);
        } else {
            dueq__client_unsubscribe(client);
            dueq__backoff_retry_later(client, subscription->conn.error.text);
        }
    }
    struct dueq__reply *reply;
    while (dueq__op_under_way(client) &&
           (reply = dueq__conn_reply(&subscription->conn, DUEQ__MAX_SMALL_REPLY))) {
        take_in(client, channel, reply);
        dueq__reply_free(reply);
    }
    if (dueq__op_under_way(client) && subscription->conn.opened &&
        subscription->conn.state == DUEQ__CONN_CLOSED) {
        bool was_on = subscription->confirmed;
        dueq__client_unsubscribe(client);
        dueq__wait_on_conn_lost(client, &subscription->conn, was_on);
    }
}

int64_t dueq__subscription_next_ms(const dueq_client *client) {
    const struct dueq__subscription *subscription = &client->subscription;
    bool due = !subscription->conn.opened ||
               (subscription->conn.state == DUEQ__CONN_READY && !subscription->channel.size);
    return due ? dueq__wait_conn_retry_ms(client) : DUEQ__NEVER / 1000;
}
