#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/* What a call that waits blocks on, on the waiting connection. */

/* A lock's marker that nobody takes: whoever comes tries the lock first. */
#define LOCK_MARKER_SECONDS "60"

static bool subscribed(const dueq_client *client) {
    const struct dueq__wait *wait = &client->call.wait;
    return wait->block == DUEQ__BLOCK_CHANNEL && dueq__same(client->channel, wait->watches->wake);
}

bool dueq__block_due(const dueq_client *client) {
    const struct dueq__wait *wait = &client->call.wait;
    return wait->block == DUEQ__BLOCK_CHANNEL ? !subscribed(client) : !wait->blocked;
}

bool dueq__block_strange(const dueq_client *client) {
    return client->channel.size && !subscribed(client);
}

static bool send_words(dueq_client *client, struct dueq__words *words) {
    const struct dueq__words *all = words;
    bool sent = dueq__conn_send(client->waiter, &all, 1);
    dueq__words_free(words);
    return sent;
}

/* It stays subscribed when the call ends: the next of this queue has no need to. */
static bool subscribe(dueq_client *client, dueq_bytes channel) {
    char *kept = malloc(channel.size);
    if (!kept)
        return false;
    memcpy(kept, channel.data, channel.size);
    client->channel = (dueq_bytes){kept, channel.size};
    struct dueq__words words;
    dueq__words_init(&words);
    dueq__words_text(&words, "SUBSCRIBE");
    dueq__words_bytes(&words, channel.data, channel.size);
    return send_words(client, &words);
}

bool dueq__block_send(dueq_client *client, int64_t left_ms) {
    struct dueq__wait *wait = &client->call.wait;
    static const char *const verbs[] = {[DUEQ__BLOCK_MARKERS] = "BZPOPMIN",
                                        [DUEQ__BLOCK_TOKENS] = "BLPOP",
                                        [DUEQ__BLOCK_LIST] = "BLMOVE"};
    if (wait->block == DUEQ__BLOCK_CHANNEL)
        return subscribe(client, wait->watches->wake);
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, left_ms / 1000, left_ms % 1000);
    struct dueq__words words;
    dueq__words_init(&words);
    dueq__words_text(&words, verbs[wait->block]);
    for (size_t i = 0; i < wait->watch_count; i++)
        dueq__words_bytes(&words, wait->watches[i].wake.data, wait->watches[i].wake.size);
    if (wait->block == DUEQ__BLOCK_LIST) {
        dueq_bytes parked = client->call.keys[DUEQ__KEY_PARKED];
        dueq__words_bytes(&words, parked.data, parked.size);
        dueq__words_text(&words, "LEFT");
        dueq__words_text(&words, "RIGHT");
    }
    dueq__words_text(&words, seconds);
    return wait->blocked = send_words(client, &words);
}

/* A message tells the next time, in ms of the server's clock; being subscribed, that one may be missed. */
static void told(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__watch *watch = client->call.wait.watches;
    dueq_bytes kind = {0};
    int64_t due;
    dueq__reply_bytes(dueq__reply_item(reply, 0), &kind);
    bool known = dueq__same(kind, dueq__text("message")) && dueq__reply_count(reply) == 3 &&
                 dueq__reply_number(dueq__reply_item(reply, 2), &due) && due >= 0 &&
                 due <= DUEQ_MAX_TIME_MS;
    if (!known || client->call.phase != DUEQ__PHASE_WAITING) {
        watch->ask = true;
        return;
    }
    int64_t left = due - client->call.wait.ahead_ms - dueq__monotonic_ms();
    int64_t look_us = dueq__monotonic_us() + (left > 0 ? left : 0) * 1000;
    if (look_us < watch->look_us)
        watch->look_us = look_us;
}

void dueq__block_answer(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->call.wait;
    dueq_bytes key = {0};
    if (wait->block == DUEQ__BLOCK_CHANNEL) {
        if (dueq__reply_count(reply) > 0)
            told(client, reply);
        return;
    }
    bool list = wait->block == DUEQ__BLOCK_LIST;
    /* The key comes first; an item that was parked comes alone. */
    if (list
            ? !dueq__reply_bytes(reply, &key)
            : dueq__reply_count(reply) == 0 || !dueq__reply_bytes(dueq__reply_item(reply, 0), &key))
        return;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (list || dueq__same(key, wait->watches[i].wake))
            wait->watches[i].torch = wait->watches[i].ask = true;
}

static void give_marker(dueq_client *client, const struct dueq__watch *watch) {
    const dueq_bytes words[] = {dueq__text("ZADD"), watch->wake, dueq__text("0"), dueq__text("w")};
    dueq__command_send(client, DUEQ__ANSWER_REWAKE, words, 4);
    const dueq_bytes end[] = {dueq__text("EXPIRE"), watch->wake, dueq__text(LOCK_MARKER_SECONDS)};
    if (client->call.wait.locks)
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, end, 3);
}

void dueq__block_give_back(dueq_client *client, const struct dueq__watch *watch) {
    const dueq_bytes token[] = {dueq__text("RPUSH"), watch->wake, dueq__text("1")};
    const dueq_bytes item[] = {dueq__text("LMOVE"), client->call.keys[DUEQ__KEY_PARKED],
                               watch->wake, dueq__text("LEFT"), dueq__text("LEFT")};
    switch (client->call.wait.block) {
    case DUEQ__BLOCK_MARKERS:
        give_marker(client, watch);
        break;
    case DUEQ__BLOCK_TOKENS:
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, token, 3);
        break;
    case DUEQ__BLOCK_LIST:
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, item, 5);
        break;
    case DUEQ__BLOCK_CHANNEL:
    case DUEQ__BLOCK_TIMER:
        break;
    }
}
