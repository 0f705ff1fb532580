#include <stdlib.h>

#include "partition.h"

/*
 * The leases of a consumer on partitions. assignment.lua gives them, in the slot of the queue's own
 * name.
 */

enum { ANSWER_COUNT = 0, ANSWER_EPOCH = 1, ANSWER_CHOOSER = 2, ANSWER_SURPLUS = 3, ANSWER_OWN = 4 };

/* By enum dueq__chooser. */
static const char *const choosers[] = {"", "key", "group"};

static enum dueq__chooser read_chooser(const struct dueq__reply *reply) {
    dueq_bytes text = {0};
    enum dueq__chooser chooser = DUEQ__CHOOSER_GROUP;
    dueq__reply_bytes(dueq__reply_item(reply, ANSWER_CHOOSER), &text);
    while (chooser && !dueq__bytes_equal(text, dueq__text(choosers[chooser])))
        chooser--;
    return chooser;
}

/* Reads the member's partitions from an answer. False: the script gives no such answer. */
static bool read_own(struct dueq__assignment *assignment, const struct dueq__reply *reply,
                     size_t count) {
    int64_t surplus, partition;
    dueq_bytes epoch;
    size_t own = dueq__reply_count(reply) - ANSWER_OWN;
    if (!dueq__reply_number(dueq__reply_item(reply, ANSWER_SURPLUS), &surplus) || surplus < 0 ||
        own > count || !dueq__reply_bytes(dueq__reply_item(reply, ANSWER_EPOCH), &epoch) ||
        epoch.size >= sizeof assignment->epoch)
        return false;
    memcpy(assignment->epoch, epoch.data, epoch.size);
    assignment->epoch[epoch.size] = '\0';
    assignment->surplus = (size_t)surplus;
    assignment->own_count = own;
    assignment->changed = true;
    for (size_t i = 0; i < own; i++) {
        if (!dueq__reply_number(dueq__reply_item(reply, ANSWER_OWN + i), &partition) ||
            partition < 0 || partition >= (int64_t)count)
            return false;
        assignment->own[i] = (uint16_t)partition;
    }
    return true;
}

static void decode(dueq_client *client, const struct dueq__reply *reply) {
    struct dueq__op *op = client->op;
    struct dueq__partitions *partitions = dueq__partitions_of(op->queue);
    /* NULL: the request asks for the number alone. */
    struct dueq__assignment *assignment = *(struct dueq__assignment **)op->verb;
    int64_t count;
    if (!dueq__reply_number(dueq__reply_item(reply, ANSWER_COUNT), &count) || count < 0 ||
        count > DUEQ_MAX_PARTITIONS) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq_status status = dueq__partitions_learn(partitions, (size_t)count);
    partitions->chooser = read_chooser(reply);
    if (!status && assignment) {
        if (dueq__reply_count(reply) >= ANSWER_OWN && !read_own(assignment, reply, (size_t)count)) {
            dueq__answer_unexpected(client);
            return;
        }
        assignment->end_ms = op->request.sent_ms + DUEQ__MEMBER_MS;
    }
    dueq__op_finish(client, status);
}

static dueq_status begin(dueq_queue *queue, struct dueq__assignment *assignment,
                         struct dueq__resp *words) {
    dueq_status status = dueq__verb_begin(queue, &dueq__script_assignment, false, 1, decode, words);
    if (status)
        return status;
    struct dueq__assignment **asking = dueq__op_state(queue->client, sizeof(*asking));
    if (asking)
        *asking = assignment;
    words->failed = words->failed || !asking;
    dueq__resp_number(words, (int64_t)dueq__partitions_of(queue)->named_count);
    return DUEQ_OK;
}

dueq_status dueq__assignment_ask_count(dueq_queue *queue, enum dueq__chooser chooser) {
    struct dueq__resp words;
    dueq_status status = begin(queue, NULL, &words);
    if (status)
        return status;
    dueq__resp_text(&words, "");
    dueq__resp_text(&words, choosers[chooser]);
    return dueq__op_submit(queue->client, &words);
}

dueq_status dueq__assignment_submit(struct dueq__assignment *assignment, const bool *held,
                                    bool leaves) {
    struct dueq__resp words;
    bool gives = false;
    dueq_status status = begin(assignment->queue, assignment, &words);
    if (status)
        return status;
    dueq__resp_text(&words, assignment->member);
    dueq__resp_number(&words, leaves ? 0 : DUEQ__MEMBER_MS);
    dueq__resp_text(&words, assignment->epoch);
    for (size_t i = assignment->own_count; i-- > 0 && assignment->surplus;) {
        if (held[assignment->own[i]])
            continue;
        dueq__resp_number(&words, assignment->own[i]);
        assignment->own[i] = assignment->own[--assignment->own_count];
        assignment->surplus--;
        gives = true;
    }
    /* The answer to this may be lost. Without an epoch, the next answer has all partitions. */
    if (gives)
        *assignment->epoch = '\0';
    assignment->renew_ms =
        dueq__monotonic_ms() + (assignment->surplus ? DUEQ__RENEW_MS / 4 : DUEQ__RENEW_MS);
    if (leaves)
        dueq__assignment_reset(assignment);
    status = dueq__op_submit(assignment->queue->client, &words);
    /*
     * A member with partitions can go on without an answer. It waits for one at most until the
     * other members no longer count it.
     */
    if (status == DUEQ_PENDING && assignment->own_count)
        dueq__op_set_terms(assignment->queue->client,
                           &(struct dueq__terms){.at_most_ms = DUEQ__MEMBER_MS});
    return status;
}

void dueq__assignment_reset(struct dueq__assignment *assignment) {
    dueq__id_next(&assignment->queue->client->ids, assignment->member);
    *assignment->epoch = '\0';
    assignment->own_count = assignment->surplus = 0;
    assignment->renew_ms = assignment->end_ms = 0;
}

dueq_status dueq__assignment_new(dueq_queue *queue, struct dueq__assignment **assignment) {
    if (dueq__partitions_of(queue)->key_size)
        return dueq__fail(&queue->client->error, DUEQ_INVALID,
                          "a consumer is of all partitions, not of those of a key");
    *assignment = calloc(1, sizeof **assignment);
    if (!*assignment)
        return dueq__fail(&queue->client->error, DUEQ_NO_MEMORY, NULL);
    (*assignment)->queue = queue;
    dueq__assignment_reset(*assignment);
    return DUEQ_OK;
}
