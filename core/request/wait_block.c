#include <inttypes.h>
#include <stdio.h>

#include "request.h"

/* What a call that waits blocks on, on the waiting connection. */

/* A lock's wake token that nobody takes: whoever comes tries the lock first. */
#define LOCK_TOKEN_SECONDS "60"

static bool send_words(dueq_client *client, struct dueq__resp *words) {
    const struct dueq__resp *all = words;
    bool sent = dueq__conn_send(client->waiter, &all, 1);
    dueq__resp_free(words);
    return sent;
}

bool dueq__wait_block_send(dueq_client *client, int64_t left_ms) {
    struct dueq__wait *wait = &client->call.wait;
    static const char *const verbs[] = {[DUEQ__BLOCK_WAKE_TOKENS] = "BZPOPMIN",
                                        [DUEQ__BLOCK_TOKENS] = "BLPOP",
                                        [DUEQ__BLOCK_LIST] = "BLMOVE"};
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%" PRId64 ".%03" PRId64, left_ms / 1000, left_ms % 1000);
    struct dueq__resp words;
    dueq__resp_init(&words);
    dueq__resp_text(&words, verbs[wait->block]);
    for (size_t i = 0; i < wait->watch_count; i++)
        dueq__resp_bytes(&words, wait->watches[i].wake.data, wait->watches[i].wake.size);
    if (wait->block == DUEQ__BLOCK_LIST) {
        dueq__resp_bytes(&words, wait->parked.data, wait->parked.size);
        dueq__resp_text(&words, "LEFT");
        dueq__resp_text(&words, "RIGHT");
    }
    dueq__resp_text(&words, seconds);
    return wait->blocked = send_words(client, &words);
}

void dueq__wait_block_answer(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__wait *wait = &client->call.wait;
    dueq_bytes key = {0};
    bool list = wait->block == DUEQ__BLOCK_LIST;
    /* The key comes first; an item that was parked comes alone. */
    if (list
            ? !dueq__reply_bytes(reply, &key)
            : dueq__reply_count(reply) == 0 || !dueq__reply_bytes(dueq__reply_item(reply, 0), &key))
        return;
    for (size_t i = 0; i < wait->watch_count; i++)
        if (list || dueq__same(key, wait->watches[i].wake))
            wait->watches[i].token = wait->watches[i].ask = true;
}

static void give_wake_token(dueq_client *client, const struct dueq__watch *watch) {
    const dueq_bytes words[] = {dueq__text("ZADD"), watch->wake, dueq__text("0"), dueq__text("w")};
    dueq__command_send(client, DUEQ__ANSWER_REWAKE, words, 4);
    const dueq_bytes end[] = {dueq__text("EXPIRE"), watch->wake, dueq__text(LOCK_TOKEN_SECONDS)};
    if (client->call.wait.locks)
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, end, 3);
}

void dueq__wait_block_give_back(dueq_client *client, const struct dueq__watch *watch) {
    const dueq_bytes token[] = {dueq__text("RPUSH"), watch->wake, dueq__text("1")};
    const dueq_bytes item[] = {dueq__text("LMOVE"), client->call.wait.parked, watch->wake,
                               dueq__text("LEFT"), dueq__text("LEFT")};
    switch (client->call.wait.block) {
    case DUEQ__BLOCK_WAKE_TOKENS:
        give_wake_token(client, watch);
        break;
    case DUEQ__BLOCK_TOKENS:
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, token, 3);
        break;
    case DUEQ__BLOCK_LIST:
        dueq__command_send(client, DUEQ__ANSWER_REWAKE, item, 5);
        break;
    case DUEQ__BLOCK_NONE:
        break;
    }
}
