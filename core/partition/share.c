#include <stdlib.h>

#include "partition.h"

/* The leases of a consumer on partitions, which a script in the slot of the queue's own name gives. */

enum { ANSWER_COUNT = 0, ANSWER_EPOCH = 1, ANSWER_SURPLUS = 2, ANSWER_OWN = 3 };

/* Takes in what is new of the member's own; false: that is not what the script answers. */
static bool read_own(struct dueq__share *share, const struct dueq__reply *reply, size_t count) {
    int64_t surplus, partition;
    dueq_bytes epoch;
    size_t own = dueq__reply_count(reply) - ANSWER_OWN;
    if (!dueq__reply_number(dueq__reply_item(reply, ANSWER_SURPLUS), &surplus) || surplus < 0 ||
        own > count || !dueq__reply_bytes(dueq__reply_item(reply, ANSWER_EPOCH), &epoch) ||
        epoch.size >= sizeof share->epoch)
        return false;
    memcpy(share->epoch, epoch.data, epoch.size);
    share->epoch[epoch.size] = '\0';
    share->surplus = (size_t)surplus;
    share->count = own;
    share->changed = true;
    for (size_t i = 0; i < own; i++) {
        if (!dueq__reply_number(dueq__reply_item(reply, ANSWER_OWN + i), &partition) ||
            partition < 0 || partition >= (int64_t)count)
            return false;
        share->own[i] = (uint16_t)partition;
    }
    return true;
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__call *call = &client->call;
    struct dueq__parts *parts = dueq__parts_of(call->queue);
    struct dueq__share *share = parts->asks;
    int64_t count;
    if (!dueq__reply_number(dueq__reply_item(reply, ANSWER_COUNT), &count) || count < 0 ||
        count > DUEQ_MAX_PARTITIONS) {
        dueq__ops_unexpected(client);
        return;
    }
    dueq_status status = dueq__parts_learn(parts, (size_t)count);
    if (!status && share) {
        if (dueq__reply_count(reply) >= ANSWER_OWN && !read_own(share, reply, (size_t)count)) {
            dueq__ops_unexpected(client);
            return;
        }
        share->end_ms = call->asked_ms + DUEQ__MEMBER_MS;
    }
    dueq__call_finish(client, status);
}

static dueq_status begin(dueq_queue *queue, struct dueq__share *share, struct dueq__resp *words) {
    struct dueq__parts *parts = dueq__parts_of(queue);
    dueq_status status = dueq__ops_ask(queue, &dueq__script_share, false, 1, decode, words);
    if (status)
        return status;
    parts->asks = share;
    dueq__resp_number(words, (int64_t)parts->named);
    return DUEQ_OK;
}

dueq_status dueq__share_ask(dueq_queue *queue) {
    struct dueq__resp words;
    dueq_status status = begin(queue, NULL, &words);
    if (status)
        return status;
    dueq__resp_text(&words, "");
    return dueq__call_submit(queue->client, &words);
}

dueq_status dueq__share_submit(struct dueq__share *share, const bool *held, bool leaves) {
    struct dueq__resp words;
    bool gives = false;
    dueq_status status = begin(share->queue, share, &words);
    if (status)
        return status;
    dueq__resp_text(&words, share->member);
    dueq__resp_number(&words, leaves ? 0 : DUEQ__MEMBER_MS);
    dueq__resp_text(&words, share->epoch);
    for (size_t i = share->count; i-- > 0 && share->surplus;) {
        if (held[share->own[i]])
            continue;
        dueq__resp_number(&words, share->own[i]);
        share->own[i] = share->own[--share->count];
        share->surplus--;
        gives = true;
    }
    /* Where the answer is lost, the next one is to have all. */
    if (gives)
        *share->epoch = '\0';
    share->renew_ms = dueq__monotonic_ms() + (share->surplus ? DUEQ__RENEW_MS / 4 : DUEQ__RENEW_MS);
    if (leaves)
        dueq__share_reset(share);
    status = dueq__call_submit(share->queue->client, &words);
    /* Where it goes on without an answer it is not to wait for one longer than others take it for a member. */
    int64_t limit = dueq__monotonic_ms() + DUEQ__MEMBER_MS;
    if (status == DUEQ_PENDING && share->count && limit < share->queue->client->call.deadline_ms)
        share->queue->client->call.deadline_ms = limit;
    return status;
}

void dueq__share_reset(struct dueq__share *share) {
    dueq__id_next(&share->queue->client->ids, share->member);
    *share->epoch = '\0';
    share->count = share->surplus = 0;
    share->renew_ms = share->end_ms = 0;
}

dueq_status dueq__share_new(dueq_queue *queue, struct dueq__share **share) {
    if (dueq__parts_of(queue)->key_size)
        return dueq__fail(&queue->client->error, DUEQ_INVALID,
                          "a consumer is of all partitions, not of those of a key");
    *share = calloc(1, sizeof **share);
    if (!*share)
        return dueq__fail(&queue->client->error, DUEQ_NO_MEMORY, NULL);
    (*share)->queue = queue;
    dueq__share_reset(*share);
    return DUEQ_OK;
}
