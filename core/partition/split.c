#include <stdlib.h>

#include "partition.h"

/* A push, which is split by partition, an ack with successors, and a reserve from all partitions. */

struct split {
    struct dueq__steps steps; /* first */
    struct dueq__pushed pushed;
    size_t count, done;
    size_t asked;   /* so many partitions had not the message that is to be acknowledged */
    size_t cleared; /* and so many have no other message of this schedule */
    size_t at[DUEQ_MAX_BATCH]; /* the places of those that are under way */
    size_t at_count;
    bool is_done[DUEQ_MAX_BATCH];
    struct dueq__error not_durable; /* of the first partition that is not; else no status */
    int replicas;                   /* that have all, as far as is known */
    bool disk;
    char digits[DUEQ_MAX_BATCH], made[DUEQ_MAX_BATCH][DUEQ__ID_SIZE];
    dueq_bytes ids[DUEQ_MAX_BATCH];
    dueq_draft now[DUEQ_MAX_BATCH]; /* those under way */
    dueq_draft drafts[]; /* copies; what they point to is behind them, in the same allocation */
};

/* Those without a key and an id of a caller's go to one, each call to the next. */
static size_t partition_of(const struct dueq__parts *parts, const dueq_draft *draft) {
    size_t first, count = dueq__parts_range(parts, &first);
    dueq_bytes decides = draft->key.size ? draft->key : draft->id;
    if (count == 1)
        return first;
    return decides.size ? dueq_partition_of(decides, count) : parts->turn % count;
}

static dueq_status push_to(dueq_queue *queue, const struct dueq__script *script, size_t partition,
                           const dueq_draft *drafts, size_t count) {
    dueq_queue *part = dueq__parts_get(dueq__parts_of(queue), partition);
    if (!part)
        return DUEQ_NO_MEMORY;
    part->durability = queue->durability;
    return dueq__push_submit(part, script, drafts, count);
}

/* The partition that this is a handle of; SIZE_MAX: none. */
static size_t partition_named(const struct dueq__parts *parts, const dueq_queue *queue) {
    char name[DUEQ_MAX_NAME + 1];
    dueq_bytes whole = dueq__keys_name(parts->base->keys), own = dueq__keys_name(queue->keys);
    for (size_t i = 0; i < parts->count; i++)
        if (dueq__same(own, (dueq_bytes){name, dueq_partition_name(whole, i, name)}))
            return i;
    return SIZE_MAX;
}

/* Acknowledges, and pushes all to one partition: what has neither key nor id stays in that of the message. */
static dueq_status follow(dueq_queue *queue, const struct dueq__pushed *pushed, size_t asked) {
    struct dueq__parts *parts = dueq__parts_of(queue);
    dueq_queue *source = pushed->source, *target = pushed->target;
    size_t first, own, partition = SIZE_MAX;
    dueq__parts_range(parts, &first);
    if (source->whole)
        source = dueq__parts_get(parts, first + asked);
    own = source ? partition_named(parts, source) : SIZE_MAX;
    for (size_t i = 0; !target && i < pushed->count; i++) {
        const dueq_draft *draft = &pushed->drafts[i];
        bool stays = own != SIZE_MAX && !draft->key.size && !draft->id.size;
        size_t wanted = stays ? own : partition_of(parts, draft);
        if (i && wanted != partition)
            return dueq__fail(&queue->client->error, DUEQ_INVALID,
                              "an ack pushes successors to one partition: give them all one key");
        partition = wanted;
    }
    if (source && !target && (target = dueq__parts_get(parts, partition)))
        source->durability = queue->durability;
    return source && target
               ? dueq_ack_push_submit(source, pushed->ticket, target, pushed->drafts, pushed->count)
               : DUEQ_NO_MEMORY;
}

/* Pushes all that go where the first that is left goes. */
static void next(dueq_client *client, struct dueq__steps *steps) {
    struct split *split = (struct split *)(void *)steps;
    struct dueq__parts *parts = dueq__parts_of(steps->queue);
    if (split->pushed.source) {
        dueq__steps_submitted(client, steps, follow(steps->queue, &split->pushed, split->asked));
        return;
    }
    size_t partition = SIZE_MAX;
    split->at_count = 0;
    for (size_t i = 0; i < split->count; i++) {
        size_t other = split->is_done[i] ? SIZE_MAX : partition_of(parts, &split->drafts[i]);
        if (partition == SIZE_MAX)
            partition = other;
        if (split->is_done[i] || other != partition)
            continue;
        split->now[split->at_count] = split->drafts[i];
        split->at[split->at_count++] = i;
        split->is_done[i] = true;
    }
    dueq__steps_submitted(
        client, steps,
        push_to(steps->queue, split->pushed.script, partition, split->now, split->at_count));
}

/* Of several partitions one may have the message. */
static void followed(dueq_client *client, struct split *split, dueq_status status,
                     dueq_result *result) {
    size_t first, count = dueq__parts_range(dueq__parts_of(split->steps.queue), &first);
    bool lost = dueq_result_status(result, 0) == DUEQ_LEASE_LOST;
    if (split->pushed.source->whole && lost && ++split->asked < count) {
        dueq_result_free(result);
        next(client, &split->steps);
    } else {
        dueq__steps_end(client, result, status);
    }
}

/*
 * A schedule is in one partition: it is taken out of the others, where it was if its key was another, or if the number
 * has been doubled since. False: it is in none of them any more.
 */
static bool clear(dueq_client *client, struct split *split) {
    struct dueq__parts *parts = dueq__parts_of(split->steps.queue);
    split->cleared += split->cleared == partition_of(parts, split->drafts);
    if (split->cleared >= parts->count)
        return false;
    dueq_queue *part = dueq__parts_get(parts, split->cleared++);
    dueq__steps_submitted(client, &split->steps,
                          part ? dueq_cancel_submit(part, &split->drafts->id, 1) : DUEQ_NO_MEMORY);
    return true;
}

static void answer(dueq_client *client, struct split *split) {
    dueq_result *result = dueq__result_outcomes((dueq_bytes){split->digits, split->count},
                                                split->ids, &client->error);
    if (!result) {
        dueq__steps_end(client, NULL, client->error.status);
        return;
    }
    result->replicas = split->replicas;
    result->disk = split->disk;
    dueq_status status = dueq__result_summary(result);
    if (split->not_durable.status) {
        client->error = split->not_durable;
        status = split->not_durable.status;
    }
    dueq__steps_end(client, result, status);
}

static void took(dueq_client *client, struct dueq__steps *steps, dueq_status status,
                 dueq_result *result) {
    struct split *split = (struct split *)(void *)steps;
    if (split->pushed.source) {
        followed(client, split, status, result);
        return;
    }
    if (split->done == split->count) {
        dueq_result_free(result);
        if (!clear(client, split))
            answer(client, split);
        return;
    }
    if (status == DUEQ_NOT_DURABLE && !split->not_durable.status)
        split->not_durable = client->error;
    if (result->replicas < split->replicas)
        split->replicas = result->replicas;
    split->disk = split->disk && result->disk;
    for (size_t i = 0; i < split->at_count; i++) {
        size_t place = split->at[i];
        dueq_bytes id = dueq_result_id(result, i);
        split->digits[place] = (char)('0' + (int)dueq_result_status(result, i));
        split->ids[place] = split->drafts[place].id;
        if (!split->ids[place].size)
            split->ids[place] =
                (dueq_bytes){memcpy(split->made[place], id.data, DUEQ__ID_SIZE), DUEQ__ID_SIZE};
    }
    dueq_result_free(result);
    split->done += split->at_count;
    if (split->done < split->count)
        next(client, steps);
    else if (!split->pushed.script || !clear(client, split))
        answer(client, split);
}

static size_t room_of(const dueq_draft *draft) {
    size_t align = sizeof(dueq_header);
    return (dueq__draft_size(draft) + align - 1) / align * align;
}

static struct split *copy(const struct dueq__pushed *pushed) {
    const dueq_draft *drafts = pushed->drafts;
    size_t count = pushed->count;
    size_t size = count * sizeof *drafts + pushed->ticket.size;
    for (size_t i = 0; i < count; i++)
        size += room_of(&drafts[i]);
    struct split *split = malloc(sizeof *split + size);
    if (!split)
        return NULL;
    split->steps = (struct dueq__steps){.next = next, .took = took};
    split->pushed = *pushed;
    split->pushed.drafts = split->drafts;
    split->count = count;
    split->done = split->asked = split->cleared = 0;
    split->not_durable = (struct dueq__error){0};
    split->replicas = DUEQ_MAX_REPLICAS;
    split->disk = true;
    memset(split->is_done, 0, sizeof split->is_done);
    char *at = (char *)(split->drafts + count);
    for (size_t i = 0; i < count; at += room_of(&drafts[i++]))
        dueq__draft_copy(&split->drafts[i], &drafts[i], at);
    if (pushed->ticket.size)
        split->pushed.ticket.data = memcpy(at, pushed->ticket.data, pushed->ticket.size);
    return split;
}

dueq_status dueq__parts_push(dueq_queue *queue, const struct dueq__pushed *pushed) {
    const dueq_draft *drafts = pushed->drafts;
    size_t count = pushed->count, i = 0;
    struct dueq__parts *parts = dueq__parts_of(queue);
    struct dueq__error *error = &queue->client->error;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_count(queue, drafts, count);
    for (i = 0; !status && i < count; i++) {
        status = pushed->script ? dueq__draft_check_made(&drafts[i], error)
                                : dueq__draft_check(&drafts[i], error);
        if (!status && drafts[i].key.size && parts->key_size)
            status = dueq__fail(error, DUEQ_INVALID, "this handle is of one key already");
    }
    if (status)
        return status;
    i = 0;
    parts->turn++;
    if (pushed->source && !pushed->source->whole && !dueq__parts_stale(parts))
        return follow(queue, pushed, 0);
    if (!pushed->source && !pushed->script && !dueq__parts_stale(parts))
        while (i < count && partition_of(parts, &drafts[i]) == partition_of(parts, drafts))
            i++;
    if (i == count)
        return push_to(queue, NULL, partition_of(parts, drafts), drafts, count);
    return dueq__steps_begin(queue, (struct dueq__steps *)(void *)copy(pushed));
}

/* ---- Reserve ---- */

struct reserving {
    struct dueq__steps steps; /* first */
    struct dueq__reserve asked;
    size_t first;
};

static void reserve(dueq_client *client, struct dueq__steps *steps) {
    struct reserving *reserving = (struct reserving *)(void *)steps;
    struct dueq__reserve *asked = &reserving->asked;
    struct dueq__parts *parts = dueq__parts_of(steps->queue);
    asked->queue_count = dueq__parts_range(parts, &reserving->first);
    asked->queues = parts->part + reserving->first;
    steps->waits = true;
    bool open = true;
    for (size_t i = 0; open && i < asked->queue_count; i++)
        open = dueq__parts_get(parts, reserving->first + i);
    dueq__steps_submitted(client, steps, open ? dueq__reserve_submit(asked) : DUEQ_NO_MEMORY);
}

static void reserved(dueq_client *client, struct dueq__steps *steps, dueq_status status,
                     dueq_result *result) {
    const struct reserving *reserving = (struct reserving *)(void *)steps;
    if (result)
        result->queue += reserving->first;
    dueq__steps_end(client, result, status);
}

dueq_status dueq__parts_reserve(dueq_queue *queue, const struct dueq__reserve *asked) {
    struct reserving *reserving = malloc(sizeof *reserving);
    if (reserving) {
        *reserving =
            (struct reserving){.steps = {.next = reserve, .took = reserved}, .asked = *asked};
        reserving->asked.order = DUEQ_ROUND_ROBIN;
        reserving->asked.parts = true;
    }
    return dueq__steps_begin(queue, (struct dueq__steps *)(void *)reserving);
}
