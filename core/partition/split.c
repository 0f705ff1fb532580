#include <stdlib.h>

#include "partition.h"

/* A push, which is split by partition, and a reserve from all of them. */

struct split {
    struct dueq__steps steps; /* first */
    size_t count, done;
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

static dueq_status push_to(dueq_queue *queue, size_t partition, const dueq_draft *drafts,
                           size_t count) {
    dueq_queue *part = dueq__parts_get(dueq__parts_of(queue), partition);
    if (!part)
        return DUEQ_NO_MEMORY;
    part->durability = queue->durability;
    return dueq_push_submit(part, drafts, count);
}

/* Pushes all that go where the first that is left goes. */
static void next(dueq_client *client, struct dueq__steps *steps) {
    struct split *split = (struct split *)(void *)steps;
    struct dueq__parts *parts = dueq__parts_of(steps->queue);
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
    dueq__steps_submitted(client, steps,
                          push_to(steps->queue, partition, split->now, split->at_count));
}

static void took(dueq_client *client, struct dueq__steps *steps, dueq_status status,
                 dueq_result *result) {
    struct split *split = (struct split *)(void *)steps;
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
    if (split->done < split->count) {
        next(client, steps);
        return;
    }
    result = dueq__result_outcomes((dueq_bytes){split->digits, split->count}, split->ids,
                                   &client->error);
    if (!result) {
        dueq__steps_end(client, NULL, client->error.status);
        return;
    }
    result->replicas = split->replicas;
    result->disk = split->disk;
    status = dueq__result_summary(result);
    if (split->not_durable.status) {
        client->error = split->not_durable;
        status = split->not_durable.status;
    }
    dueq__steps_end(client, result, status);
}

static size_t room_of(const dueq_draft *draft) {
    size_t align = sizeof(dueq_header);
    return (dueq__draft_size(draft) + align - 1) / align * align;
}

static struct split *copy(const dueq_draft *drafts, size_t count) {
    size_t size = count * sizeof *drafts;
    for (size_t i = 0; i < count; i++)
        size += room_of(&drafts[i]);
    struct split *split = malloc(sizeof *split + size);
    if (!split)
        return NULL;
    split->steps = (struct dueq__steps){.next = next, .took = took};
    split->count = count;
    split->done = 0;
    split->not_durable = (struct dueq__error){0};
    split->replicas = DUEQ_MAX_REPLICAS;
    split->disk = true;
    memset(split->is_done, 0, sizeof split->is_done);
    char *at = (char *)(split->drafts + count);
    for (size_t i = 0; i < count; at += room_of(&drafts[i++]))
        dueq__draft_copy(&split->drafts[i], &drafts[i], at);
    return split;
}

dueq_status dueq__parts_push(dueq_queue *queue, const dueq_draft *drafts, size_t count) {
    struct dueq__parts *parts = dueq__parts_of(queue);
    struct dueq__error *error = &queue->client->error;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__ops_check_count(queue, drafts, count);
    for (size_t i = 0; !status && i < count; i++) {
        status = dueq__draft_check(&drafts[i], error);
        if (!status && drafts[i].key.size && parts->key_size)
            status = dueq__fail(error, DUEQ_INVALID, "this handle is of one key already");
    }
    if (status)
        return status;
    parts->turn++;
    size_t i = 0;
    if (!dueq__parts_stale(parts))
        while (i < count && partition_of(parts, &drafts[i]) == partition_of(parts, drafts))
            i++;
    if (i == count)
        return push_to(queue, partition_of(parts, drafts), drafts, count);
    return dueq__steps_begin(queue, (struct dueq__steps *)(void *)copy(drafts, count));
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
