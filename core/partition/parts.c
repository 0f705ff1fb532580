#include <stdio.h>
#include <stdlib.h>

#include "partition.h"

/* The handle of a queue of partitions, their names, and which one has a key. */

/* Behind the queue's name and before the number: few would write it in a name. */
#define MARK '#'
#define MARKED_SIZE 5 /* "#1023" */

/* A bit at a time: keys are short. */
static uint32_t crc32_of(dueq_bytes key) {
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < key.size; i++) {
        crc ^= ((const unsigned char *)key.data)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

size_t dueq_partition_of(dueq_bytes key, size_t count) { return crc32_of(key) % count; }

size_t dueq_partition_name(dueq_bytes queue, size_t partition, char name[DUEQ_MAX_NAME + 1]) {
    int size = snprintf(name, DUEQ_MAX_NAME + 1, "%.*s%c%zu", (int)queue.size,
                        (const char *)queue.data, MARK, partition);
    return size > DUEQ_MAX_NAME ? DUEQ_MAX_NAME : (size_t)size;
}

struct dueq__parts *dueq__parts_of(const dueq_queue *queue) {
    return (struct dueq__parts *)(void *)queue->whole;
}

bool dueq__parts_stale(const struct dueq__parts *parts) {
    return !parts->known || parts->known_ms + DUEQ__FRESH_MS <= dueq__monotonic_ms();
}

size_t dueq__parts_range(const struct dueq__parts *parts, size_t *first) {
    *first = parts->key_size
                 ? dueq_partition_of((dueq_bytes){parts->key, parts->key_size}, parts->count)
                 : 0;
    return parts->key_size ? 1 : parts->count;
}

dueq_queue *dueq__parts_get(struct dueq__parts *parts, size_t partition) {
    char name[DUEQ_MAX_NAME + 1];
    if (parts->part[partition])
        return parts->part[partition];
    size_t size = dueq_partition_name(dueq__keys_name(parts->base->keys), partition, name);
    dueq_queue *opened;
    if (dueq_queue_open(parts->client, name, size, &opened))
        return NULL;
    opened->is_part = true;
    return parts->part[partition] = opened;
}

/* Makes room for so many. */
static dueq_status widen(struct dueq__parts *parts, size_t count) {
    dueq_queue **wider = realloc(parts->part, count * sizeof *wider);
    if (!wider)
        return dueq__fail(&parts->client->error, DUEQ_NO_MEMORY, NULL);
    memset(wider + parts->count, 0, (count - parts->count) * sizeof *wider);
    parts->part = wider;
    parts->count = count;
    return DUEQ_OK;
}

dueq_status dueq__parts_learn(struct dueq__parts *parts, size_t count) {
    dueq_bytes name = dueq__keys_name(parts->base->keys);
    size_t grown = parts->named;
    while (grown < count)
        grown *= 2;
    if (grown != count || count > DUEQ_MAX_PARTITIONS)
        return dueq__fail(
            &parts->client->error, DUEQ_INVALID,
            count ? "the queue '%.*s' has %zu partitions, not %zu"
                  : "the queue '%.*s' has messages of its own, so it cannot have partitions",
            (int)name.size, (const char *)name.data, count, parts->named);
    parts->known = true;
    parts->known_ms = dueq__monotonic_ms();
    return count > parts->count ? widen(parts, count) : DUEQ_OK;
}

static void close_parts(dueq_queue *queue) {
    struct dueq__parts *parts = dueq__parts_of(queue);
    for (size_t i = 0; i < parts->count; i++)
        dueq_queue_close(parts->part[i]);
    dueq_queue_close(parts->base);
    free(parts->part);
    free(parts);
}

static dueq_status check(dueq_client *client, size_t name_size, size_t count, dueq_bytes key) {
    const struct dueq__range ranges[] = {
        {"the number of partitions", NULL, (int64_t)count, 1, DUEQ_MAX_PARTITIONS},
        {"the name of a queue of partitions", " bytes", (int64_t)name_size, 1,
         DUEQ_MAX_NAME - MARKED_SIZE}};
    dueq_status status = dueq__range_check(&ranges[0], &client->error);
    if (!status)
        status = dueq__range_check(&ranges[1], &client->error);
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
    struct dueq__parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    *parts = (struct dueq__parts){
        .whole = {dueq__parts_ask, dueq__parts_push, dueq__parts_reserve, close_parts},
        .client = client,
        .named = count,
        .key_size = key.size};
    dueq__id_random(&parts->turn, sizeof parts->turn);
    memcpy(parts->key, key.size ? key.data : "", key.size);
    status = dueq_queue_open(client, name, name_size, &parts->base);
    if (!status)
        status = dueq_queue_open(client, name, name_size, &opened);
    if (status) {
        dueq_queue_close(parts->base);
        free(parts);
        return status;
    }
    opened->whole = &parts->whole;
    status = widen(parts, count);
    if (status)
        dueq_queue_close(opened);
    else
        *queue = opened;
    return status;
}
