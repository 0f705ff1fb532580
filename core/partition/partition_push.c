#include <stdlib.h>

#include "partition.h"

/* A push, which is split by partition; and an ack with successors. */

struct partition_push {
    struct dueq__push_request request;
    dueq_bytes result; /* of the message that an ack ends, if request.result points to it */
    size_t count, done;
    size_t without_message; /* an ack: how many partitions did not have its message */
    size_t cleared;         /* a schedule: the next partition that must not have it any longer */
    enum dueq__chooser chooser;
    size_t places[DUEQ_MAX_BATCH]; /* of each draft in `sent`: its index in `drafts` */
    size_t sent_count;
    bool is_sent[DUEQ_MAX_BATCH];
    struct dueq__error not_durable; /* of the first partition that failed so; else status 0 */
    int replicas;                   /* the fewest that a partition has told */
    bool disk;
    char digits[DUEQ_MAX_BATCH], made_ids[DUEQ_MAX_BATCH][DUEQ__ID_SIZE];
    dueq_bytes ids[DUEQ_MAX_BATCH];
    dueq_draft sent[DUEQ_MAX_BATCH]; /* the drafts that are under way */
    dueq_draft drafts[];             /* copies, which point behind them, in the same allocation */
};

dueq_bytes dueq__partition_chosen_by(const dueq_draft *draft) {
    return draft->key.size ? draft->key : draft->group.size ? draft->group : draft->id;
}

/* Drafts that nothing chooses go to one partition: in each call to the next one in turn. */
static size_t partition_of(const struct dueq__partitions *partitions, const dueq_draft *draft) {
    size_t first, count = dueq__partitions_range(partitions, &first);
    dueq_bytes decides = dueq__partition_chosen_by(draft);
    if (count == 1)
        return first;
    return decides.size ? dueq_partition_for(decides, count) : partitions->push_turn % count;
}

static dueq_status push_to(dueq_queue *queue, const struct dueq__push_request *request,
                           size_t partition, const dueq_draft *drafts, size_t count) {
    dueq_queue *handle = dueq__partitions_handle(dueq__partitions_of(queue), partition);
    if (!handle)
        return DUEQ_NO_MEMORY;
    dueq_queue_durability(handle, &queue->durability);
    dueq_queue_keep(handle, queue->keep_ms);
    return request->home ? dueq_push_to_submit(request->home, handle, drafts, count)
                         : dueq__push_submit(handle, request->script, drafts, count);
}

/* The number of the partition whose handle this is; SIZE_MAX: it is no partition's. */
static size_t partition_named(const struct dueq__partitions *partitions, const dueq_queue *queue) {
    char name[DUEQ_MAX_NAME + 1];
    dueq_bytes whole = dueq__keys_name(partitions->base->keys), own = dueq__keys_name(queue->keys);
    for (size_t i = 0; i < partitions->count; i++)
        if (dueq__bytes_equal(own, (dueq_bytes){name, dueq_partition_name(whole, i, name)}))
            return i;
    return SIZE_MAX;
}

/*
 * Acknowledges the message, and pushes all successors to one partition. Those that nothing chooses
 * stay in the message's partition. asked: how many partitions did not have the message.
 */
static dueq_status follow(dueq_queue *queue, const struct dueq__push_request *request,
                          size_t asked) {
    struct dueq__partitions *partitions = dueq__partitions_of(queue);
    dueq_queue *source = request->source, *target = request->target;
    size_t first, own, partition = SIZE_MAX;
    dueq__partitions_range(partitions, &first);
    if (source->partitioned)
        source = dueq__partitions_handle(partitions, first + asked);
    own = source ? partition_named(partitions, source) : SIZE_MAX;
    for (size_t i = 0; !target && i < request->count; i++) {
        const dueq_draft *draft = &request->drafts[i];
        bool stays = own != SIZE_MAX && !dueq__partition_chosen_by(draft).size;
        size_t wanted = stays ? own : partition_of(partitions, draft);
        if (i && wanted != partition)
            return dueq__fail(&queue->client->error, DUEQ_INVALID,
                              "an ack pushes successors to one partition: give them all one key, "
                              "or one group");
        partition = wanted;
    }
    if (source && !target && (target = dueq__partitions_handle(partitions, partition))) {
        dueq_queue_durability(source, &queue->durability);
        dueq_queue_keep(source, queue->keep_ms);
    }
    if (!source || !target)
        return DUEQ_NO_MEMORY;
    return request->result ? dueq_ack_push_result_submit(source, request->ticket, *request->result,
                                                         target, request->drafts, request->count)
                           : dueq_ack_push_submit(source, request->ticket, target, request->drafts,
                                                  request->count);
}

static void on_answer(dueq_client *client, dueq_status status, dueq_result *result);

/* Pushes all drafts that are left and go to the same partition as the first of them. */
static void push_next(dueq_client *client) {
    struct partition_push *push = client->op->verb;
    dueq_queue *queue = client->op->queue;
    struct dueq__partitions *partitions = dueq__partitions_of(queue);
    struct dueq__op *step = dueq__op_child(client, on_answer);
    dueq_status status = DUEQ_NO_MEMORY;
    size_t partition = SIZE_MAX;
    push->sent_count = 0;
    for (size_t i = 0; !push->request.source && i < push->count; i++) {
        size_t other = push->is_sent[i] ? SIZE_MAX : partition_of(partitions, &push->drafts[i]);
        if (partition == SIZE_MAX)
            partition = other;
        if (push->is_sent[i] || other != partition)
            continue;
        push->sent[push->sent_count] = push->drafts[i];
        push->places[push->sent_count++] = i;
        push->is_sent[i] = true;
    }
    if (step && push->request.source)
        status = follow(queue, &push->request, push->without_message);
    else if (step)
        status = push_to(queue, &push->request, partition, push->sent, push->sent_count);
    dueq__op_child_submitted(client, step, status);
}

/* Ends the ack; or asks the next partition, if this one does not have the message. */
static void on_followed(dueq_client *client, dueq_status status, dueq_result *result) {
    struct partition_push *push = client->op->verb;
    size_t first, count = dueq__partitions_range(dueq__partitions_of(client->op->queue), &first);
    bool lost = dueq_result_status(result, 0) == DUEQ_LEASE_LOST;
    if (push->request.source->partitioned && lost && ++push->without_message < count) {
        dueq_result_free(result);
        push_next(client);
    } else {
        dueq__op_end(client, result, status);
    }
}

/*
 * A schedule is in one partition. An earlier one of its name may be in another, if the job had
 * another key, or if the number of partitions has been doubled. So this cancels it in each other
 * partition, one in each call. False: no partition is left.
 */
static bool clear(dueq_client *client) {
    struct partition_push *push = client->op->verb;
    struct dueq__partitions *partitions = dueq__partitions_of(client->op->queue);
    push->cleared += push->cleared == partition_of(partitions, push->drafts);
    if (push->cleared >= partitions->count)
        return false;
    dueq_queue *handle = dueq__partitions_handle(partitions, push->cleared++);
    struct dueq__op *step = handle ? dueq__op_child(client, on_answer) : NULL;
    dueq__op_child_submitted(
        client, step, step ? dueq_cancel_submit(handle, &push->drafts->id, 1) : DUEQ_NO_MEMORY);
    return true;
}

static void answer(dueq_client *client) {
    const struct partition_push *push = client->op->verb;
    dueq_result *result =
        dueq__result_outcomes((dueq_bytes){push->digits, push->count}, push->ids, &client->error);
    if (!result) {
        dueq__op_finish(client, client->error.status);
        return;
    }
    result->replicas = push->replicas;
    result->disk = push->disk;
    dueq_status status = dueq__result_summary(result);
    if (status == DUEQ_BACKLOG)
        dueq__refused_tell(client, result);
    if (push->not_durable.status) {
        client->error = push->not_durable;
        status = push->not_durable.status;
    }
    dueq__op_end(client, result, status);
}

/* Keeps a partition's outcomes of the drafts that were sent. */
static void take_outcomes(dueq_client *client, dueq_status status, const dueq_result *result) {
    struct partition_push *push = client->op->verb;
    if (status == DUEQ_NOT_DURABLE && !push->not_durable.status)
        push->not_durable = client->error;
    if (result->replicas < push->replicas)
        push->replicas = result->replicas;
    push->disk = push->disk && result->disk;
    for (size_t i = 0; i < push->sent_count; i++) {
        size_t place = push->places[i];
        dueq_bytes id = dueq_result_id(result, i);
        push->digits[place] = dueq__digit_of(dueq_result_status(result, i));
        push->ids[place] = push->drafts[place].id;
        if (!push->ids[place].size)
            push->ids[place] =
                (dueq_bytes){memcpy(push->made_ids[place], id.data, DUEQ__ID_SIZE), DUEQ__ID_SIZE};
    }
    push->done += push->sent_count;
}

static void on_answer(dueq_client *client, dueq_status status, dueq_result *result) {
    struct partition_push *push = client->op->verb;
    if (dueq__op_child_failed(client, status, result))
        return;
    if (push->request.source) {
        on_followed(client, status, result);
        return;
    }
    bool clears = push->done == push->count;
    if (!clears)
        take_outcomes(client, status, result);
    dueq_result_free(result);
    if (push->done < push->count)
        push_next(client);
    else if (!(clears || push->request.script) || !clear(client))
        answer(client);
}

static void begin(dueq_client *client, dueq_status status, dueq_result *result) {
    const struct partition_push *push = client->op->verb;
    if (dueq__op_child_failed(client, status, result))
        return;
    status = dueq__partitions_check_chooser(dueq__partitions_of(client->op->queue), push->chooser);
    if (status)
        dueq__op_finish(client, status);
    else
        push_next(client);
}

size_t dueq__partition_room(const dueq_draft *draft) {
    size_t align = sizeof(dueq_header);
    return (dueq__draft_size(draft) + align - 1) / align * align;
}

static struct partition_push *copy(const struct dueq__push_request *request,
                                   enum dueq__chooser chooser) {
    const dueq_draft *drafts = request->drafts;
    size_t count = request->count;
    size_t size = count * sizeof *drafts + request->ticket.size;
    if (request->result)
        size += request->result->size;
    for (size_t i = 0; i < count; i++)
        size += dueq__partition_room(&drafts[i]);
    struct partition_push *push = malloc(sizeof *push + size);
    if (!push)
        return NULL;
    push->request = *request;
    push->request.drafts = push->drafts;
    push->count = count;
    push->chooser = chooser;
    push->done = push->without_message = push->cleared = 0;
    push->not_durable = (struct dueq__error){0};
    push->replicas = DUEQ_MAX_REPLICAS;
    push->disk = true;
    memset(push->is_sent, 0, sizeof push->is_sent);
    char *at = (char *)(push->drafts + count);
    for (size_t i = 0; i < count; at += dueq__partition_room(&drafts[i++]))
        dueq__draft_copy(&push->drafts[i], &drafts[i], at);
    dueq__partition_keep(&at, &push->request.ticket);
    if (request->result) {
        push->result = *request->result;
        push->request.result = &push->result;
        dueq__partition_keep(&at, &push->result);
    }
    return push;
}

/*
 * Checks the drafts. *chooser: what chooses their partitions; NONE if they are successors that
 * another queue gets.
 */
static dueq_status check(dueq_queue *queue, const struct dueq__push_request *request,
                         enum dueq__chooser *chooser) {
    const struct dueq__partitions *partitions = dueq__partitions_of(queue);
    struct dueq__error *error = &queue->client->error;
    dueq_status status = dueq__arg_check_count(queue, request->drafts, request->count);
    const dueq_draft *drafts = request->drafts;
    bool keys = false, groups = false;
    for (size_t i = 0; !status && i < request->count; i++) {
        const dueq_draft *draft = &drafts[i];
        status = dueq__draft_check(draft, request->script != NULL, error);
        if (!status && !request->source && (draft->batch.size || drafts->batch.size))
            status = dueq__arg_check_member(queue, draft, drafts->batch);
        if (!status && draft->key.size && partitions->key_size)
            status = dueq__fail(error, DUEQ_INVALID, "this handle is of one key already");
        if (!status && draft->group.size && partitions->key_size)
            status = dueq__fail(error, DUEQ_INVALID,
                                "this handle is of one key: push messages with groups by a handle "
                                "of all partitions");
        keys = keys || draft->key.size || (partitions->key_size && !request->source);
        groups = groups || draft->group.size;
    }
    if (!status && keys && groups && !request->target)
        status = dueq__fail(error, DUEQ_INVALID,
                            "some of these messages have keys, and some have groups: a queue "
                            "with partitions takes keys or groups");
    *chooser = request->target                      ? DUEQ__CHOOSER_NONE
               : groups || request->keys_are_groups ? DUEQ__CHOOSER_GROUP
               : keys                               ? DUEQ__CHOOSER_KEY
                                                    : DUEQ__CHOOSER_NONE;
    return status ? status : dueq__partitions_check_chooser(partitions, *chooser);
}

dueq_status dueq__partition_push(dueq_queue *queue, const struct dueq__push_request *request) {
    const dueq_draft *drafts = request->drafts;
    size_t count = request->count, i = 0;
    struct dueq__partitions *partitions = dueq__partitions_of(queue);
    enum dueq__chooser chooser;
    dueq__client_check_fork(queue->client);
    dueq_status status = check(queue, request, &chooser);
    if (status)
        return status;
    if (drafts->batch.size && !request->source && !request->home)
        return dueq__partition_batch(queue, &(struct dueq__batch_request){
                                                .target = queue, .drafts = drafts, .count = count});
    partitions->push_turn++;
    bool asks = dueq__partitions_stale(partitions) || (chooser && !partitions->chooser);
    if (request->source && !request->source->partitioned && !asks)
        return follow(queue, request, 0);
    if (!request->source && !request->script && !request->home && !asks)
        while (i < count &&
               partition_of(partitions, &drafts[i]) == partition_of(partitions, drafts))
            i++;
    if (i == count)
        return push_to(queue, request, partition_of(partitions, drafts), drafts, count);
    return dueq__partition_begin(queue, copy(request, chooser), chooser, begin);
}
