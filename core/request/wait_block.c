#include <inttypes.h>
#include <stdio.h>

#include "internal.h"

/* What a call that waits blocks on, on the waiting connection. */

/* A lock's marker that nobody takes: whoever comes tries the lock first. */
#define LOCK_MARKER_SECONDS "60"

static bool send_words(dueq_client *client, struct dueq__words *words) {
    const struct dueq__words *all = words;
    bool sent = dueq__conn_send(client->waiter, &all, 1);
    dueq__words_free(words);
    return sent;
}

bool dueq__block_send(dueq_client *client, int64_t left_ms) {
    struct dueq__wait *wait = &client->call.wait;
    static const char *const verbs[] = {[DUEQ__BLOCK_MARKERS] = "BZPOPMIN",
                                        [DUEQ__BLOCK_TOKENS] = "BLPOP",
                                        [DUEQ__BLOCK_LIST] = "BLMOVE"};
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

void dueq__block_answer(dueq_client *client, const struct dueq__reply *reply) {
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
    case DUEQ__BLOCK_NONE:
        break;
    }
}
