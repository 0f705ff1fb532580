#include <stdio.h>
#include <stdlib.h>

#include "partition.h"

/* The handle of a queue with partitions; the name of a partition; the partition of a key. */

/* Between the queue's name and the partition's number: few programs use it in a name. */
#define MARK '#'
#define MARKED_SIZE 5 /* "#1023" */

/* Bit by bit, as keys are short. */
static uint32_t crc32_of(dueq_bytes key) {
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < key.size; i++) {
        crc ^= ((const unsigned char *)key.data)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

size_t dueq_partition_for(dueq_bytes key, size_t count) { return crc32_of(key) % count; }

size_t dueq_partition_name(dueq_bytes queue, size_t partition, char name[DUEQ_MAX_NAME + 1]) {
    int size = snprintf(name, DUEQ_MAX_NAME + 1, "%.*s%c%zu", (int)queue.size,
                        (const char *)queue.data, MARK, partition);
    return size > DUEQ_MAX_NAME ? DUEQ_MAX_NAME : (size_t)size;
}

struct dueq__partitions *dueq__partitions_of(const dueq_queue *queue) {
    return (struct dueq__partitions *)(void *)queue->partitioned;
}

bool dueq__partitions_stale(const struct dueq__partitions *partitions) {
    return !partitions->known || partitions->learned_ms + DUEQ__FRESH_MS <= dueq__monotonic_ms();
}

size_t dueq__partitions_range(const struct dueq__partitions *partitions, size_t *first) {
    *first = partitions->key_size
                 ? dueq_partition_for((dueq_bytes){partitions->key, partitions->key_size},
                                      partitions->count)
                 : 0;
    return partitions->key_size ? 1 : partitions->count;
}

size_t dueq__partitions_home(dueq_bytes id, size_t *among) {
    size_t home = dueq_partition_for(id, *among);
    do
        *among = *among % 2 ? 0 : *among / 2;
    while (*among && dueq_partition_for(id, *among) == home);
    return home;
}

dueq_queue *dueq__partitions_handle(struct dueq__partitions *partitions, size_t partition) {
    char name[DUEQ_MAX_NAME + 1];
    if (partitions->handles[partition])
        return partitions->handles[partition];
    size_t size = dueq_partition_name(dueq__keys_name(partitions->base->keys), partition, name);
    dueq_queue *opened;
    if (dueq_queue_open(partitions->client, name, size, &opened))
        return NULL;
    opened->is_partition = true;
    return partitions->handles[partition] = opened;
}

/* Makes room for `count` handles. */
static dueq_status widen(struct dueq__partitions *partitions, size_t count) {
    dueq_queue **wider = realloc(partitions->handles, count * sizeof *wider);
    if (!wider)
        return dueq__fail(&partitions->client->error, DUEQ_NO_MEMORY, NULL);
    memset(wider + partitions->count, 0, (count - partitions->count) * sizeof *wider);
    partitions->handles = wider;
    partitions->count = count;
    return DUEQ_OK;
}

dueq_status dueq__partitions_learn(struct dueq__partitions *partitions, size_t count) {
    dueq_bytes name = dueq__keys_name(partitions->base->keys);
    size_t grown = partitions->named_count;
    while (grown < count)
        grown *= 2;
    if (grown != count || count > DUEQ_MAX_PARTITIONS)
        return dueq__fail(
            &partitions->client->error, DUEQ_INVALID,
            count ? "the queue '%.*s' has %zu partitions, not %zu"
                  : "the queue '%.*s' has messages of its own, so it cannot have partitions",
            (int)name.size, (const char *)name.data, count, partitions->named_count);
    partitions->known = true;
    partitions->learned_ms = dueq__monotonic_ms();
    return count > partitions->count ? widen(partitions, count) : DUEQ_OK;
}

dueq_status dueq__partitions_check_chooser(const struct dueq__partitions *partitions,
                                           enum dueq__chooser wanted) {
    dueq_bytes name = dueq__keys_name(partitions->base->keys);
    bool groups = partitions->chooser == DUEQ__CHOOSER_GROUP;
    if (!wanted || !partitions->chooser || wanted == partitions->chooser)
        return DUEQ_OK;
    return dueq__fail(&partitions->client->error, DUEQ_INVALID,
                      groups ? "the messages of '%.*s' have groups: give this message a group in "
                               "the place of its key, or push it to another queue"
                             : "the messages of '%.*s' have keys: give this message a key in the "
                               "place of its group, or push it to another queue",
                      (int)name.size, (const char *)name.data);
}

static void close_partitions(dueq_queue *queue) {
    struct dueq__partitions *partitions = dueq__partitions_of(queue);
    for (size_t i = 0; i < partitions->count; i++)
        dueq_queue_close(partitions->handles[i]);
    dueq_queue_close(partitions->base);
    free(partitions->handles);
    free(partitions);
}

static dueq_status check(dueq_client *client, size_t name_size, size_t count, dueq_bytes key) {
    const struct dueq__range ranges[] = {
        {"the number of partitions", NULL, (int64_t)count, 1, DUEQ_MAX_PARTITIONS},
        {"the name of a queue of partitions", " bytes", (int64_t)name_size, 1,
         DUEQ_MAX_NAME - MARKED_SIZE}};
    dueq_status status = dueq__ranges_check(ranges, 2, &client->error);
    if (!status && key.size)
        status = dueq__text_check("a message's key", key, DUEQ_MAX_KEY, &client->error);
    return status;
}

dueq_status dueq_partitions_open(dueq_client *client, const void *name, size_t name_size,
                                 size_t count, dueq_bytes key, dueq_queue **queue) {
    *queue = NULL;
    dueq_status status = check(client, name_size, count, key);
    if (status)
        return status;
    dueq_queue *opened = NULL;
    struct dueq__partitions *partitions = calloc(1, sizeof *partitions);
    if (!partitions)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    *partitions = (struct dueq__partitions){.whole = {dueq__partition_fanout, dueq__partition_push,
                                                      dueq__partition_batch,
                                                      dueq__partition_reserve, close_partitions},
                                            .client = client,
                                            .named_count = count,
                                            .key_size = key.size};
    dueq__id_random(&partitions->push_turn, sizeof partitions->push_turn);
    memcpy(partitions->key, key.size ? key.data : "", key.size);
    status = dueq_queue_open(client, name, name_size, &partitions->base);
    if (!status)
        status = dueq_queue_open(client, name, name_size, &opened);
    if (status) {
        dueq_queue_close(partitions->base);
        free(partitions);
        return status;
    }
    opened->partitioned = &partitions->whole;
    status = widen(partitions, count);
    if (status)
        dueq_queue_close(opened);
    else
        *queue = opened;
    return status;
}
