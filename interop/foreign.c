#include "foreign.h"

#include <stdlib.h>

static const struct dueq__foreign_key reply_key = {DUEQ__KEY_REPLY, "dueq:", ":reply", true};

static char *put(char *at, const void *data, size_t size) {
    memcpy(at, data, size);
    return at + size;
}

static char *make(char *at, const struct dueq__foreign_key *form, dueq_bytes list,
                  dueq_bytes keys[DUEQ__KEY_COUNT]) {
    bool wrapped = form->tagged && !memchr(list.data, '{', list.size);
    char *start = at;
    at = put(at, form->before, strlen(form->before));
    at = put(at, "{", wrapped);
    at = put(at, list.data, list.size);
    at = put(at, "}", wrapped);
    at = put(at, form->after, strlen(form->after));
    keys[form->key] = (dueq_bytes){start, (size_t)(at - start)};
    return at;
}

static size_t room_for(const struct dueq__foreign_key *form, dueq_bytes list) {
    return strlen(form->before) + list.size + 2 + strlen(form->after);
}

dueq_status dueq__foreign_open(dueq_queue *queue, dueq_client *client, dueq_bytes list,
                               const struct dueq__foreign_key table[], size_t count) {
    size_t room = room_for(&reply_key, list);
    if (list.size == 0 || list.size > DUEQ__MAX_LIST)
        return dueq__fail(&client->error, DUEQ_NAME,
                          "the queue's name has %zu bytes; 1 to %d are allowed", list.size,
                          DUEQ_MAX_NAME);
    if (!dueq__is_utf8(list.data, list.size, false))
        return dueq__fail(&client->error, DUEQ_NAME,
                          "the queue's name is not UTF-8, or has a control character");
    for (size_t i = 0; i < count; i++)
        room += room_for(&table[i], list);
    char *at = malloc(room);
    if (!at)
        return dueq__fail(&client->error, DUEQ_NO_MEMORY, NULL);
    *queue = (dueq_queue){.client = client, .recall = &dueq__script_recall_foreign};
    /* The reply key comes first, as in dueq__keys_make(): its address is the allocation's. */
    at = make(at, &reply_key, list, queue->keys);
    for (size_t i = 0; i < count; i++)
        at = make(at, &table[i], list, queue->keys);
    queue->slot = client->cluster ? dueq__slot(queue->keys[DUEQ__KEY_FIRST]) : 0;
    for (size_t i = 0; client->cluster && i < count; i++)
        if (dueq__slot(queue->keys[table[i].key]) != queue->slot) {
            free((void *)(uintptr_t)queue->keys[DUEQ__KEY_REPLY].data);
            return dueq__fail(&client->error, DUEQ_NAME,
                              "'%.*s' and its other keys are in several slots of the cluster: the "
                              "queue's name needs a hash tag, such as {default}",
                              (int)list.size, (const char *)list.data);
        }
    return DUEQ_OK;
}

void dueq__foreign_close(dueq_queue *queue) {
    if (dueq__op_uses_queue(queue))
        dueq_abandon(queue->client);
    free((void *)(uintptr_t)queue->keys[DUEQ__KEY_REPLY].data);
}

/* size */

static const struct dueq__item_type sizes_type = {sizeof(dueq_sizes)};

const dueq_sizes *dueq_result_sizes(const dueq_result *result) {
    return dueq__result_item_value(result, &sizes_type, 0);
}

static void decode_size(dueq_client *client, const struct dueq__reply *reply) {
    dueq_sizes sizes = DUEQ_SIZES;
    int64_t *const fields[] = {&sizes.now_ms,  &sizes.next_ms,  &sizes.ready,
                               &sizes.delayed, &sizes.reserved, &sizes.quarantined};
    size_t count = sizeof fields / sizeof *fields;
    bool sound = dueq__reply_count(reply) == count;
    for (size_t i = 0; sound && i < count; i++)
        sound = dueq__reply_number(dueq__reply_item(reply, i), fields[i]);
    if (sound)
        dueq__op_finish_result(client, dueq__result_single(&sizes_type, &sizes, &client->error),
                               DUEQ_OK);
    else
        dueq__answer_unexpected(client);
}

dueq_status dueq__foreign_size_submit(dueq_queue *queue, const struct dueq__script *script) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__verb_begin(queue, script, false, 1, decode_size, &words);
    return status ? status : dueq__op_submit(queue->client, &words);
}

dueq_status dueq__foreign_sized(dueq_queue *queue, dueq_status submitted, dueq_sizes *sizes) {
    dueq_result *result;
    dueq_status status = dueq__verb_run(queue->client, submitted, &result);
    dueq_status given =
        sizes ? dueq__struct_check(sizes, &dueq__layout_sizes, &queue->client->error) : DUEQ_OK;
    if (sizes && !given && dueq_result_sizes(result))
        dueq__struct_give(sizes, dueq_result_sizes(result), &dueq__layout_sizes);
    dueq_result_free(result);
    return status < 0 ? status : given ? given : status;
}

/* clear */

static void decode_cleared(dueq_client *client, const struct dueq__reply *reply) {
    int64_t cleared;
    if (!dueq__reply_number(reply, &cleared) || cleared < 0) {
        dueq__answer_unexpected(client);
        return;
    }
    dueq__op_finish_result(client, dueq__result_purged((size_t)cleared, &client->error), DUEQ_OK);
}

dueq_status dueq__foreign_clear_submit(dueq_queue *queue, const struct dueq__script *script) {
    struct dueq__resp words;
    dueq__client_check_fork(queue->client);
    dueq_status status = dueq__verb_begin(queue, script, true, 1, decode_cleared, &words);
    return status ? status : dueq__op_submit(queue->client, &words);
}

dueq_status dueq__foreign_cleared(dueq_queue *queue, dueq_status submitted, size_t *cleared) {
    dueq_result *result;
    dueq_status status = dueq__verb_run(queue->client, submitted, &result);
    if (cleared)
        *cleared = dueq_result_purged(result);
    dueq_result_free(result);
    return status;
}

/* transfer, migrate */

static const struct dueq__item_type moved_type = {sizeof(dueq_moved)};

const dueq_moved *dueq_result_moved(const dueq_result *result) {
    return dueq__result_item_value(result, &moved_type, 0);
}

void dueq__foreign_step(dueq_client *client, const dueq_moved *moved) {
    dueq__wait_finish_found(client, dueq__result_single(&moved_type, moved, &client->error));
}

dueq_status dueq__foreign_check_moved(dueq_queue *queue, const dueq_moved *moved) {
    return moved ? dueq__struct_check(moved, &dueq__layout_moved, &queue->client->error) : DUEQ_OK;
}

dueq_status dueq__foreign_moved(dueq_queue *queue, dueq_status submitted, dueq_moved *moved) {
    static const dueq_moved nothing = DUEQ_MOVED;
    dueq_result *result;
    dueq_status status = dueq__verb_run(queue->client, submitted, &result);
    if (moved)
        dueq__struct_give(moved, dueq_result_moved(result) ? dueq_result_moved(result) : &nothing,
                          &dueq__layout_moved);
    dueq_result_free(result);
    return status;
}
